//! The cable list: both ends of every cable, its length, kind, price and when it is laid.

use super::Device;
use super::floor::{Floor, FloorRules, Seat};
use crate::network::{Cable, Plug, Topology};
use base::{LinkId, SwitchId, TerminalId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// What a cable is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CableKind {
    /// Passive copper.
    Copper,
    /// Fibre with its transceivers.
    Optical,
}

impl fmt::Display for CableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Copper { "copper" } else { "optical" })
    }
}

/// Which cable of the network it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CableId {
    /// Between two switches.
    Link(LinkId),
    /// From an endpoint's rail to its switch.
    Terminal(TerminalId),
}

impl fmt::Display for CableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(l) => write!(f, "link-{l}"),
            Self::Terminal(t) => write!(f, "terminal-{t}"),
        }
    }
}

/// One end of a planned cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CableEnd {
    /// Where its device is.
    pub seat: Seat,
    /// What it is plugged into.
    pub device: Device,
    /// At which port, from 1.
    pub port: u16,
}

/// A cable to lay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedCable {
    /// Which cable it is.
    pub id: CableId,
    /// When it is laid: 1 inside a group (a Slim Fly column, a pod) of one rack, 2 between groups
    /// of one rack, 3 between racks; 0 for the cables of endpoints.
    pub step: u8,
    /// Copper or optical.
    pub kind: CableKind,
    /// Length, metres.
    pub length_m: f64,
    /// Data rate of one direction, Gbit/s.
    pub rate_gbps: f64,
    /// Price by the rules' linear model, US dollars.
    pub cost_usd: f64,
    /// The end in the lower rack, unit and port; an endpoint's own end.
    pub a: CableEnd,
    /// The other end.
    pub b: CableEnd,
}

/// Every cable of `t`, failed ones included, in the order of laying them.
///
/// Sorted by step, then by racks, so that the cables between two racks make one bundle, then by
/// unit and port. `floor` and `rules` must be those of `t`. O(cables * log cables).
///
/// # Panics
/// When `floor` was made for another network.
pub fn cables(t: &Topology, floor: &Floor, rules: &FloorRules) -> Vec<PlannedCable> {
    let end = |plug: Plug| CableEnd {
        seat: floor.switches[plug.switch.ix()],
        device: Device::Switch(plug.switch),
        port: plug.port,
    };
    let mut list = Vec::with_capacity(t.links().len() + t.terminals().len());
    for (i, link) in t.links().iter().enumerate() {
        let (a, b) = (end(link.a), end(link.b));
        let place = |s: SwitchId| {
            let s = &t.switches()[s.ix()];
            (s.plane, s.group)
        };
        let step = match () {
            () if a.seat.rack != b.seat.rack => 3,
            () if place(link.a.switch) != place(link.b.switch) => 2,
            () => 1,
        };
        let id = CableId::Link(LinkId::from(i));
        list.push(planned(id, step, [a.min(b), a.max(b)], &link.cable, floor, rules));
    }
    for (i, terminal) in t.terminals().iter().enumerate() {
        let e = terminal.endpoint;
        let seat = floor.endpoints[e.ix()].expect("an endpoint with a rail has a seat");
        let a =
            CableEnd { seat, device: Device::Endpoint(e), port: terminal.rail.saturating_add(1) };
        let id = CableId::Terminal(TerminalId::from(i));
        list.push(planned(id, 0, [a, end(terminal.plug)], &terminal.cable, floor, rules));
    }
    list.sort_by_key(|c| (c.step, c.a.seat.rack, c.b.seat.rack, c.a, c.b));
    list
}

fn planned(
    id: CableId,
    step: u8,
    [a, b]: [CableEnd; 2],
    cable: &Cable,
    floor: &Floor,
    rules: &FloorRules,
) -> PlannedCable {
    let length_m = floor.length_m(a.seat, b.seat, rules);
    let kind =
        if length_m <= rules.copper_limit_m { CableKind::Copper } else { CableKind::Optical };
    let price = if kind == CableKind::Copper { rules.copper } else { rules.optical };
    let rate_gbps = cable.rate_gbps();
    let cost_usd = rate_gbps * (price.per_gbps_m * length_m + price.per_gbps);
    PlannedCable { id, step, kind, length_m, rate_gbps, cost_usd, a, b }
}

/// The name of a device of `t`.
pub fn device_name(t: &Topology, device: Device) -> &str {
    match device {
        Device::Switch(s) => &t.switches()[s.ix()].name,
        Device::Endpoint(e) => &t.endpoints()[e.ix()].name,
    }
}

/// The first line of the file that [`write_csv`] writes.
pub const CSV_HEADER: &str = "cable,step,kind,length_m,rate_gbps,cost_usd,\
                              a_label,a_device,a_port,b_label,b_device,b_port";

/// Writes the cable list as comma-separated values with a header (RFC 4180, lines end in `\n`).
///
/// Labels are [`Floor::label`]'s; lengths have one decimal, prices two.
///
/// # Errors
/// When `out` fails.
pub fn write_csv(
    t: &Topology,
    floor: &Floor,
    cables: &[PlannedCable],
    out: &mut impl fmt::Write,
) -> fmt::Result {
    writeln!(out, "{CSV_HEADER}")?;
    for c in cables {
        let (id, step, kind) = (c.id, c.step, c.kind);
        let (length, rate, cost) = (c.length_m, c.rate_gbps, c.cost_usd);
        write!(out, "{id},{step},{kind},{length:.1},{rate},{cost:.2}")?;
        for end in [c.a, c.b] {
            let device = device_name(t, end.device);
            let label = floor.label(end.seat, device, end.port);
            write!(out, ",{},{},{}", quoted(&label), quoted(device), end.port)?;
        }
        out.write_char('\n')?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Cables of one kind and one stock length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LengthClass {
    /// Whether these are the cables of endpoints or those between switches.
    pub endpoint_cables: bool,
    /// Copper or optical.
    pub kind: CableKind,
    /// The stock length to buy: the shortest that reaches, metres.
    pub stock_m: f64,
    /// Number of cables.
    pub cables: u64,
    /// Sum of the lengths needed, metres.
    pub total_m: f64,
    /// Sum of the prices, for the lengths needed, US dollars.
    pub cost_usd: f64,
}

/// Counts, lengths and prices by use, kind and stock length, in this order. O(cables).
pub fn by_length(cables: &[PlannedCable], rules: &FloorRules) -> Vec<LengthClass> {
    let stock = |length: f64| {
        let last = rules.stock_m.last().copied().unwrap_or(1.0);
        let listed = rules.stock_m.iter().copied().find(|&s| length <= s);
        listed.unwrap_or_else(|| (length / last).ceil() * last)
    };
    let mut classes: BTreeMap<(bool, CableKind, u64), LengthClass> = BTreeMap::new();
    for c in cables {
        let (endpoint_cables, kind, stock_m) = (c.step == 0, c.kind, stock(c.length_m));
        // positive floats sort as their bits do
        let class =
            classes.entry((endpoint_cables, kind, stock_m.to_bits())).or_insert(LengthClass {
                endpoint_cables,
                kind,
                stock_m,
                cables: 0,
                total_m: 0.0,
                cost_usd: 0.0,
            });
        class.cables += 1;
        class.total_m += c.length_m;
        class.cost_usd += c.cost_usd;
    }
    classes.into_values().collect()
}
