//! The cable list: both ends of every cable, its length, kind, price and when it is laid.

use super::Device;
use super::catalog::{CableKind, CableUse, Catalog, CatalogOffer, millionths};
use super::floor::{DeviceRackPosition, RackFloor};
use super::rules::FloorRules;
use super::shop::PriceSource;
use base::{LinkId, Refusal, TerminalId};
use fabric::network::{CablePlug, Topology};
use serde::Serialize;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

/// The identity of a cable of the network.
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
    pub seat: DeviceRackPosition,
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
    /// Electric or optical.
    pub kind: CableKind,
    /// Length needed, metres: in whole millimetres.
    pub length_m: f64,
    /// The length to buy: the shortest of the rules' stock that reaches, metres.
    pub stock_m: f64,
    /// Data rate of one direction, Gbit/s.
    pub rate_gbps: f64,
    /// Typical price, US dollars: in whole millionths.
    pub cost_usd: f64,
    /// The end in the lower rack, unit and port; an endpoint's own end.
    pub a: CableEnd,
    /// The other end.
    pub b: CableEnd,
}

impl CableId {
    /// What the cable is for.
    pub fn for_use(self) -> CableUse {
        match self {
            Self::Link(_) => CableUse::Switch,
            Self::Terminal(_) => CableUse::Endpoint,
        }
    }
}

impl PlannedCable {
    /// The key by which a catalogue's offer is looked up: whether the cable is between switches,
    /// and the bits of its length and rate. Positive floats sort as their bits do.
    pub(super) fn kind_bought(&self) -> (bool, u64, u64) {
        let for_switch = self.id.for_use() == CableUse::Switch;
        (for_switch, self.length_m.to_bits(), self.rate_gbps.to_bits())
    }
}

impl PriceSource<'_> {
    /// The offer that `cable`, of a list made with this price source, is bought as.
    ///
    /// # Errors
    /// When the catalogue has nothing that reaches.
    pub fn buy(&self, cable: &PlannedCable) -> Result<CatalogOffer, Refusal> {
        Ok(self.catalog.cable(cable.id.for_use(), cable.length_m, cable.rate_gbps)?.1)
    }
}

/// The offers of a catalogue for cables, looked up once for each use, length and rate.
struct CatalogCableOffers<'a> {
    catalog: &'a Catalog,
    /// The index in `all` of the offer for each [`PlannedCable::kind_bought`].
    of: BTreeMap<(bool, u64, u64), usize>,
    /// The key of the last cable bought, and the index of its offer.
    last: Option<((bool, u64, u64), usize)>,
    all: Vec<(CableKind, CatalogOffer)>,
}

impl<'a> CatalogCableOffers<'a> {
    /// A cache of the offers of `catalog`, empty at first.
    fn new(catalog: &'a Catalog) -> Self {
        Self { catalog, of: BTreeMap::new(), last: None, all: Vec::new() }
    }

    /// The kind and the offer that `cable` is bought as.
    ///
    /// # Errors
    /// When the catalogue has nothing that reaches.
    fn buy(&mut self, cable: &PlannedCable) -> Result<&(CableKind, CatalogOffer), Refusal> {
        let key = cable.kind_bought();
        if let Some((_, number)) = self.last.filter(|last| last.0 == key) {
            return Ok(&self.all[number]);
        }
        let number = match self.of.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let (length_m, rate_gbps) = (cable.length_m, cable.rate_gbps);
                self.all.push(self.catalog.cable(cable.id.for_use(), length_m, rate_gbps)?);
                *place.insert(self.all.len() - 1)
            }
        };
        self.last = Some((key, number));
        Ok(&self.all[number])
    }
}

/// Every cable of `t`, failed ones included, in the order of laying them.
///
/// Sorted by step, then by racks, so that the cables between two racks make one bundle, then by
/// unit and port. `floor` and `rules` must be those of `t`. O(cables * log cables).
///
/// # Errors
/// As [`cables_unsorted`].
///
/// # Panics
/// When `floor` was made for another network.
pub fn cables(
    t: &Topology,
    floor: &RackFloor,
    rules: &FloorRules,
    shop: PriceSource<'_>,
) -> Result<Vec<PlannedCable>, Refusal> {
    let mut list = cables_unsorted(t, floor, rules, shop)?;
    list.sort_by_key(|c| (c.step, c.a.seat.rack, c.b.seat.rack, c.a, c.b));
    Ok(list)
}

/// The same cables in the order of links and terminals, which is all that a bill needs. O(cables).
///
/// # Errors
/// When the catalogue has no cable that reaches from rack to rack at the rate of the links: of all
/// such cables it names the longest. When the shop's rate contradicts that of the network.
///
/// # Panics
/// When `floor` was made for another network.
pub fn cables_unsorted(
    t: &Topology,
    floor: &RackFloor,
    rules: &FloorRules,
    shop: PriceSource<'_>,
) -> Result<Vec<PlannedCable>, Refusal> {
    shop.check_rate(t)?;
    let mut list = cables_needed(t, floor, rules, shop);
    let mut quotes = CatalogCableOffers::new(shop.catalog);
    for i in 0..list.len() {
        let (kind, offer) =
            quotes.buy(&list[i]).map_err(|refusal| out_of_reach(t, floor, &list, shop, refusal))?;
        (list[i].kind, list[i].cost_usd) = (*kind, offer.usd[0]);
    }
    Ok(list)
}

/// The same cables before they are bought: of unknown kind, without a price. O(cables).
///
/// # Panics
/// When `floor` was made for another network.
pub(super) fn cables_needed(
    t: &Topology,
    floor: &RackFloor,
    rules: &FloorRules,
    shop: PriceSource<'_>,
) -> Vec<PlannedCable> {
    let end = |plug: CablePlug| CableEnd {
        seat: floor.switches[plug.switch.ix()],
        device: Device::Switch(plug.switch),
        port: plug.port,
    };
    let rates = shop.rates(t);
    let mut list = Vec::with_capacity(t.links().len() + t.terminals().len());
    for (i, link) in t.links().iter().enumerate() {
        let (a, b) = (end(link.a), end(link.b));
        let step = step_of(t, floor, CableId::Link(LinkId::from(i)));
        let id = CableId::Link(LinkId::from(i));
        let rate_gbps = rates.gbps(&link.cable);
        list.push(run(id, step, [a.min(b), a.max(b)], rate_gbps, floor, rules));
    }
    for (i, terminal) in t.terminals().iter().enumerate() {
        let e = terminal.endpoint;
        let seat = floor.endpoints[e.ix()].expect("an endpoint with a rail has a seat");
        let a =
            CableEnd { seat, device: Device::Endpoint(e), port: terminal.rail.saturating_add(1) };
        let id = CableId::Terminal(TerminalId::from(i));
        let rate_gbps = rates.gbps(&terminal.cable);
        list.push(run(id, 0, [a, end(terminal.plug)], rate_gbps, floor, rules));
    }
    list
}

/// The step in which a cable is laid: 0 endpoints, 1 inside a group of one rack, 2 between groups
/// of one rack, 3 between racks.
///
/// # Panics
/// When `floor` was made for another network.
pub fn step_of(t: &Topology, floor: &RackFloor, id: CableId) -> u8 {
    let CableId::Link(link) = id else { return 0 };
    let ends = [t.links()[link.ix()].a.switch, t.links()[link.ix()].b.switch];
    let [a, b] = ends.map(|s| floor.switches[s.ix()].rack);
    let [c, d] = ends.map(|s| (t.switches()[s.ix()].plane, t.switches()[s.ix()].group));
    match () {
        () if a != b => 3,
        () if c != d => 2,
        () => 1,
    }
}

/// A cable with its length, before it is bought.
fn run(
    id: CableId,
    step: u8,
    [a, b]: [CableEnd; 2],
    rate_gbps: f64,
    floor: &RackFloor,
    rules: &FloorRules,
) -> PlannedCable {
    let length_m = whole_mm(floor.length_m(a.seat, b.seat, rules));
    let stock_m = stock(length_m, rules);
    let (kind, cost_usd) = (CableKind::Electric, 0.0);
    PlannedCable { id, step, kind, length_m, stock_m, rate_gbps, cost_usd, a, b }
}

/// The refusal for the longest cable that the catalogue does not sell, with the labels of both its
/// ends; `first` is the refusal of one such cable.
fn out_of_reach(
    t: &Topology,
    floor: &RackFloor,
    list: &[PlannedCable],
    shop: PriceSource<'_>,
    first: Refusal,
) -> Refusal {
    let refused = list.iter().filter_map(|c| {
        let refusal = shop.catalog.cable(c.id.for_use(), c.length_m, c.rate_gbps).err()?;
        Some((c, refusal))
    });
    let longest =
        refused.max_by(|(x, _), (y, _)| x.length_m.total_cmp(&y.length_m).then(y.id.cmp(&x.id)));
    let Some((cable, refusal)) = longest else { return first };
    let label = |end: CableEnd| floor.label(end.seat, device_name(t, end.device), end.port);
    refusal.within(&format!("{} from {} to {}", cable.id, label(cable.a), label(cable.b)))
}

/// `length_m` rounded up to whole millimetres, so that lengths add up as they are printed.
fn whole_mm(length_m: f64) -> f64 {
    // rounding can leave a sum of decimal fractions above its value in the last bits
    (length_m * 1000.0 - 1e-6).ceil().max(0.0) / 1000.0
}

/// A sum of whole millimetres, without the last bits that adding has left.
pub fn sum_m(lengths: impl Iterator<Item = f64>) -> f64 {
    lengths.map(|l| (l * 1000.0).round()).sum::<f64>() / 1000.0
}

/// The shortest length on sale that reaches `length_m`; beyond the last, its multiples.
fn stock(length_m: f64, rules: &FloorRules) -> f64 {
    let last = rules.stock_m.last().copied().unwrap_or(1.0);
    let listed = rules.stock_m.iter().copied().find(|&s| length_m <= s);
    listed.unwrap_or_else(|| (length_m / last).ceil() * last)
}

/// The name of a device of `t`.
pub fn device_name(t: &Topology, device: Device) -> &str {
    match device {
        Device::Switch(s) => &t.switches()[s.ix()].name,
        Device::Endpoint(e) => &t.endpoints()[e.ix()].name,
    }
}

/// The first line of the file that [`write_csv`] writes.
pub const CSV_HEADER: &str = "cable,step,kind,length_m,stock_m,rate_gbps,cost_usd,\
                              a_rack,a_unit,a_device,a_port,a_label,\
                              b_rack,b_unit,b_device,b_port,b_label";

/// Writes the cable list as comma-separated values with a header (RFC 4180, lines end in `\n`).
///
/// Labels are [`RackFloor::label`]'s. A device that stands beside its rack has an empty unit.
/// Lengths and prices have as many decimals as they need, lengths one at least, prices two, so that
/// each column adds up to what the plan says. A name that a spreadsheet would take for a formula
/// has `'` in front.
///
/// # Errors
/// When `out` fails.
pub fn write_csv(
    t: &Topology,
    floor: &RackFloor,
    cables: &[PlannedCable],
    out: &mut impl fmt::Write,
) -> fmt::Result {
    writeln!(out, "{CSV_HEADER}")?;
    for c in cables {
        let (id, step, kind) = (c.id, c.step, c.kind);
        let (length, stock, rate, cost) = (c.length_m, c.stock_m, c.rate_gbps, c.cost_usd);
        let (length, cost) = (decimals(length, 1), decimals(cost, 2));
        write!(out, "{id},{step},{kind},{length},{stock},{rate},{cost}")?;
        for end in [c.a, c.b] {
            let device = device_name(t, end.device);
            let label = floor.label(end.seat, device, end.port);
            let rack = quoted(&floor.racks[end.seat.rack as usize].name);
            let unit = end.seat.unit.map_or(String::new(), |u| u.to_string());
            write!(out, ",{rack},{unit},{},{},{}", quoted(device), end.port, quoted(&label))?;
        }
        out.write_char('\n')?;
    }
    Ok(())
}

/// `value` with all its decimals, and at least `least` of them.
fn decimals(value: f64, least: usize) -> String {
    let text = value.to_string();
    let has = text.split_once('.').map_or(0, |(_, part)| part.len());
    if has < least { format!("{value:.least$}") } else { text }
}

/// What a spreadsheet takes for the beginning of a formula, where it begins a cell.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// The text of a cell; `'` is put in front where a spreadsheet could take it for a formula.
fn quoted(text: &str) -> String {
    let guarded;
    let mut text = text;
    if text.trim_start_matches('\'').starts_with(FORMULA) {
        guarded = format!("'{text}");
        text = &guarded;
    }
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Cables of one kind and one stock length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CableLengthClass {
    /// Whether these are the cables of endpoints or those between switches.
    pub endpoint_cables: bool,
    /// Electric or optical.
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
pub fn by_length(cables: &[PlannedCable]) -> Vec<CableLengthClass> {
    let mut classes: BTreeMap<(bool, CableKind, u64), CableLengthClass> = BTreeMap::new();
    for c in cables {
        let (endpoint_cables, kind, stock_m) =
            (c.id.for_use() == CableUse::Endpoint, c.kind, c.stock_m);
        // positive floats sort as their bits do
        let class =
            classes.entry((endpoint_cables, kind, stock_m.to_bits())).or_insert(CableLengthClass {
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
    for class in classes.values_mut() {
        class.total_m = sum_m(std::iter::once(class.total_m));
        class.cost_usd = millionths(class.cost_usd);
    }
    classes.into_values().collect()
}
