//! Repair: tables after failures, with as few entries changed as possible and no new deadlock.
//!
//! Only routes that used what failed are looked at. Where a switch's entry for a destination is
//! dead, all that route over the switch are cut off together; the least number of entries to change
//! is that of a way out of that part ([`wound`]). Of the ways out of least changes the first is
//! taken on which every route keeps its service level and the channel dependencies of the old and
//! the new routes together have no cycle. Then the tables are free of deadlock before, while and
//! after they change: a packet under way takes turns of the old or of the new routes only. Those
//! that crossed what failed before it did are taken to have arrived by then.
//!
//! Where no way out fits, routes to that destination are grown anew, hop by hop from the switches
//! that keep theirs ([`growth`]): those cut off first, then more and more of its tree. Where that
//! does not fit beside the old routes, all destinations that were hit give back their dependencies
//! and are treated again, those that did not fit first; where that fails, too, all destinations
//! are, beside a spanning tree that can take whatever does not fit. Their routes must then be
//! drained before the tables change.
//!
//! Source for the union of old and new dependencies: Duato, Lysne, Pang, Pinkston, "A theory for
//! deadlock-free dynamic network reconfiguration. Part I", IEEE Transactions on Parallel and
//! Distributed Systems 16(5), 2005.

use crate::dependencies::Dependencies;
use crate::lanes::order::{Held, Order};
use crate::network::Topology;
use crate::routing::sssp::endpoints_per_switch;
use crate::routing::{Lanes, RouteError, Routing, ServiceLevels, check_connected};
use crate::verify::deadlock;
use base::{ChannelId, Interrupted, LinkId, Refusal, SwitchId, TerminalId, Watch};
use std::sync::Arc;
use wound::{Outlet, Part, Wound};

mod growth;
mod wound;

/// One entry to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The destination, and which of its layers.
    pub to: (u32, TerminalId),
    /// The switch whose entry it is.
    pub switch: SwitchId,
    /// The port it had, and the port it gets.
    pub port: (u16, u16),
}

/// Whether traffic can go on while the entries change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Safety {
    /// Entries may change in any order.
    AnyOrder,
    /// Entries must change in the order of the list.
    InOrder,
    /// The changed routes must be drained first, and why.
    Draining(String),
    /// The tables could deadlock before anything failed: nothing is said.
    Unknown,
}

/// Repaired tables, and what it took.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// The new tables, on the damaged network.
    pub routing: Routing,
    /// The entries towards endpoints that change, in an order in which no packet meets a loop.
    pub changes: Vec<Change>,
    /// No repair can change fewer of them.
    pub least: u64,
    /// Entries towards switches that change, and the least number.
    pub management: (u64, u64),
    /// Paths (source switch, destination, layer) whose service level changes.
    pub relevelled: u64,
    /// Whether traffic can go on meanwhile.
    pub safety: Safety,
}

/// Repairs the tables `old` for `on`, the same network with more failures. Routes that did not
/// arrive before stay as they are.
///
/// O(hops of all old routes) for the dependencies, then for each destination that lost an entry
/// O(switches), and the turns asked for; where no way out fits, O(switches * hops + arcs), and the
/// turns of its routes for every hop tried.
///
/// # Errors
/// When `on` is another network or disconnected, or when no new routes fit the lanes in use, which
/// can be where SL2VL tables differ by port.
pub fn repair(
    old: &Routing,
    on: &Arc<Topology>,
    watch: &dyn Watch,
) -> Result<Repaired, RouteError> {
    let before = old.topology().clone();
    let lost = failures(&before, on)?;
    check_connected(on)?;
    let dependencies = Dependencies::new(&before);
    let mut surgeon = operate(old, on, &lost, &dependencies, watch)?;
    let mut next = old.next().to_vec();
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    for change in &surgeon.changes {
        let row = change.to.0 as usize * terminals + change.to.1.ix();
        next[row * switches + change.switch.ix()] = change.port.1;
    }
    let mut to_switch = old.to_switch().to_vec();
    let mut management = (0, 0);
    for d in (0..switches).filter(|&d| on.switches()[d].up) {
        let entries = &mut to_switch[d * switches..(d + 1) * switches];
        let (changed, least) = surgeon.treat_switch(entries, SwitchId::from(d));
        management = (management.0 + changed, management.1 + least);
    }
    let safety = surgeon.safety();
    let Surgeon { changes, least, levels, relevelled, .. } = surgeon;
    let lanes = match levels {
        Some(levels) => Lanes::new(ServiceLevels::BySwitch(levels), old.lanes().sl2vl().clone()),
        None => old.lanes().clone(),
    };
    let routing = Routing::new(on.clone(), old.layers(), next, to_switch).with_lanes(lanes);
    let routing = routing.named(old.engine(), old.options().clone());
    Ok(Repaired { routing, changes, least, management, relevelled, safety })
}

/// Times that destinations which do not fit are treated again, before others.
const AGAIN: usize = 4;

/// Mends all destinations that lost entries: beside their old routes; else beside those of the
/// others; else all destinations, those that lost nothing first, beside a spanning tree.
fn operate<'a>(
    old: &'a Routing,
    on: &'a Topology,
    lost: &[(SwitchId, Vec<u16>)],
    dependencies: &'a Dependencies,
    watch: &dyn Watch,
) -> Result<Surgeon<'a>, RouteError> {
    let dead = |c: ChannelId| !on.link_is_up(c.link());
    let is_hurt = |&(layer, t): &To| {
        let home = on.terminals()[t.ix()].plug.switch;
        let mut roots = Wound::roots(lost, old.tree(layer, t), home);
        on.terminal_is_up(t) && roots.next().is_some()
    };
    let (mut hurt, sound): (Vec<To>, Vec<To>) = old.destinations().partition(is_hurt);
    let order = deadlock::order_of(old, old.destinations(), dependencies, dead, watch)?;
    let mut surgeon = Surgeon::new(old, on, lost, order, false);
    for _ in 0..AGAIN {
        let Some(to) = surgeon.treat_all(&hurt, watch)? else { return Ok(surgeon) };
        let place = hurt.iter().position(|h| *h == to).unwrap_or(0);
        hurt[..=place].rotate_right(1);
        let beside = sound.iter().copied();
        let order = deadlock::order_of(old, beside, dependencies, dead, watch)?;
        surgeon = Surgeon::new(old, on, lost, order, true);
    }
    if surgeon.treat_all(&hurt, watch)?.is_none() {
        return Ok(surgeon);
    }
    let order = deadlock::order_of(old, std::iter::empty(), dependencies, dead, watch)?;
    surgeon = Surgeon::new(old, on, lost, order, true);
    surgeon.reserve_tree();
    let all: Vec<To> = sound.into_iter().filter(|(_, t)| on.terminal_is_up(*t)).collect();
    let Some((_, t)) = surgeon.treat_all(&[all, hurt].concat(), watch)? else { return Ok(surgeon) };
    let why = format!("no routes to {t} fit the lanes in use");
    Err(Refusal::new("lanes", why, "route the network anew").into())
}

/// The ports of each working switch that worked before and lead nowhere now.
fn failures(before: &Topology, on: &Topology) -> Result<Vec<(SwitchId, Vec<u16>)>, Refusal> {
    let help = "give the network of the tables with more links or switches failed";
    let other = |why: &str| Refusal::new("network", why.to_owned(), help);
    let ends = |t: &Topology| t.links().iter().map(|l| (l.a, l.b)).collect::<Vec<_>>();
    let plugs = |t: &Topology| t.terminals().iter().map(|t| t.plug).collect::<Vec<_>>();
    if before.switches().len() != on.switches().len()
        || ends(before) != ends(on)
        || plugs(before) != plugs(on)
    {
        return Err(other("it is not cabled as the network of the tables"));
    }
    let mut ports: Vec<Vec<u16>> = vec![Vec::new(); on.switches().len()];
    for (l, link) in on.links().iter().enumerate() {
        match (before.link_is_up(LinkId::from(l)), on.link_is_up(LinkId::from(l))) {
            (true, false) => {
                ports[link.a.switch.ix()].push(link.a.port);
                ports[link.b.switch.ix()].push(link.b.port);
            }
            (false, true) => return Err(other("cables work that did not before")),
            _ => {}
        }
    }
    let hurt = ports.into_iter().enumerate().map(|(s, p)| (SwitchId::from(s), p));
    Ok(hurt.filter(|(s, p)| !p.is_empty() && on.switches()[s.ix()].up).collect())
}

/// A destination, and which of its layers.
type To = (u32, TerminalId);

/// What one repair has done so far.
struct Surgeon<'a> {
    old: &'a Routing,
    on: &'a Topology,
    wound: Wound<'a>,
    /// The turns of old and new routes; `None` when the old ones had a cycle.
    order: Option<Order<'a>>,
    /// The order has no turns of the destinations at hand: their routes are drained first.
    drained: bool,
    /// The links of a spanning tree whose turns are taken on all lanes, where it was asked for.
    tree: Option<Vec<bool>>,
    /// The working terminals on each switch.
    endpoints: Vec<u32>,
    /// The levels that paths carry, each once.
    in_use: Vec<u8>,
    changes: Vec<Change>,
    /// Destinations whose entries or levels change.
    treated: u64,
    least: u64,
    /// The levels of all paths, once one has changed.
    levels: Option<Vec<u8>>,
    relevelled: u64,
    in_order: bool,
}

/// What is to be done for one destination: entries by switch in order, and levels of paths.
#[derive(Default)]
struct Plan {
    entries: Vec<(SwitchId, u16)>,
    levels: Vec<(usize, u8)>,
}

impl<'a> Surgeon<'a> {
    fn new(
        old: &'a Routing,
        on: &'a Topology,
        lost: &[(SwitchId, Vec<u16>)],
        order: Option<Order<'a>>,
        drained: bool,
    ) -> Self {
        // only levels by switch can change for one path
        let in_use = match old.lanes().levels() {
            levels @ ServiceLevels::BySwitch(_) => levels.in_use(),
            ServiceLevels::Same(_) | ServiceLevels::ByTerminal(_) => Vec::new(),
        };
        Self {
            old,
            on,
            wound: Wound::new(on, lost),
            order,
            drained,
            tree: None,
            treated: 0,
            endpoints: endpoints_per_switch(on),
            in_use,
            changes: Vec::new(),
            least: 0,
            levels: None,
            relevelled: 0,
            in_order: false,
        }
    }

    /// Mends the entries of these destinations, or tells the first for which that cannot be.
    fn treat_all(&mut self, hurt: &[To], watch: &dyn Watch) -> Result<Option<To>, Interrupted> {
        for (i, &to) in hurt.iter().enumerate() {
            if i.is_multiple_of(256) {
                watch.tick("repair", i as u64, hurt.len() as u64)?;
            }
            let old = self.old.tree(to.0, to.1);
            let home = self.on.terminals()[to.1.ix()].plug.switch;
            let parts = self.wound.parts(old, home);
            self.least += parts.iter().map(|p| u64::from(p.least)).sum::<u64>();
            let outlets = if self.drained { None } else { self.by_outlets(to, parts) };
            let Some(plan) = outlets.or_else(|| self.by_growth(to, home)) else {
                return Ok(Some(to));
            };
            self.carry_out(to, plan);
        }
        Ok(None)
    }

    /// Gives each part the first of its ways out that fits.
    fn by_outlets(&mut self, to: To, mut parts: Vec<Part>) -> Option<Plan> {
        let mut entries = self.old.tree(to.0, to.1).to_vec();
        let mut plan = Plan::default();
        while let Some((part, outlets)) = self.wound.next(&mut parts, &entries) {
            self.try_outlets(&mut entries, to, &part, &outlets, &mut plan)?;
            self.wound.attach(&part);
        }
        Some(plan)
    }

    /// The same for a destination switch, where lanes do not matter: entries changed, and the
    /// least.
    fn treat_switch(&mut self, entries: &mut [u16], home: SwitchId) -> (u64, u64) {
        let mut parts = self.wound.parts(entries, home);
        let least = parts.iter().map(|p| u64::from(p.least)).sum();
        let mut changed = 0;
        while let Some((part, outlets)) = self.wound.next(&mut parts, entries) {
            changed += outlets[0].apply(entries).len() as u64;
            self.wound.attach(&part);
        }
        (changed, least)
    }

    /// Takes the first outlet on which all levels can stay, else the first on which the paths that
    /// cannot keep theirs find another.
    fn try_outlets(
        &mut self,
        entries: &mut [u16],
        to: To,
        part: &Part,
        outlets: &[Outlet],
        plan: &mut Plan,
    ) -> Option<()> {
        for relevel in [false, true] {
            for outlet in outlets {
                let was = outlet.apply(entries);
                if self.admit(entries, to, part, relevel, plan) {
                    let now = |&(s, _): &(SwitchId, u16)| (s, entries[s.ix()]);
                    let changed: Vec<_> = was.iter().map(now).collect();
                    self.wound.count(&changed);
                    plan.entries.extend(changed);
                    return Some(());
                }
                for (switch, port) in was {
                    entries[switch.ix()] = port;
                }
            }
        }
        None
    }

    /// Whether the paths of a part fit the lanes; takes their turns if so.
    fn admit(
        &mut self,
        entries: &[u16],
        to: To,
        part: &Part,
        relevel: bool,
        plan: &mut Plan,
    ) -> bool {
        let known = plan.levels.len();
        for &source in &part.members {
            let port = || |s: SwitchId| entries[s.ix()];
            if !self.takes(to, source, relevel, port, &mut plan.levels) {
                plan.levels.truncate(known);
                if let Some(order) = &mut self.order {
                    order.undo();
                }
                return false;
            }
        }
        if let Some(order) = &mut self.order {
            order.settle();
        }
        true
    }

    /// Takes the turns of the paths from one switch, whose entries `port` tells; with another level
    /// where theirs does not fit and `relevel` allows it. False when they do not fit.
    fn takes<F: FnMut(SwitchId) -> u16>(
        &mut self,
        to: To,
        source: SwitchId,
        relevel: bool,
        port: impl Fn() -> F,
        moved: &mut Vec<(usize, u8)>,
    ) -> bool {
        let mut turns = Vec::new();
        self.add_turns(to, source, None, &port, &mut turns);
        if self.take(&turns) {
            return true;
        }
        let row = to.0 as usize * self.on.terminals().len() + to.1.ix();
        let levels = if relevel { self.in_use.clone() } else { Vec::new() };
        for sl in levels {
            turns.clear();
            self.add_turns(to, source, Some(sl), &port, &mut turns);
            if self.take(&turns) {
                moved.push((row * self.on.switches().len() + source.ix(), sl));
                return true;
            }
        }
        false
    }

    /// Takes all these turns, or none.
    fn take(&mut self, turns: &[(Held, Held)]) -> bool {
        self.order.as_mut().is_none_or(|order| order.take(turns.iter().copied()))
    }

    /// Adds the turns of the paths from one switch, at their own levels unless told.
    fn add_turns<F: FnMut(SwitchId) -> u16>(
        &self,
        (layer, t): To,
        source: SwitchId,
        level: Option<u8>,
        port: &impl Fn() -> F,
        turns: &mut Vec<(Held, Held)>,
    ) {
        if self.order.is_none() || self.endpoints[source.ix()] == 0 {
            return;
        }
        for (sl, start) in self.old.starts(layer, t, source) {
            let held = path(self.old, self.on, port(), (source, start), level.unwrap_or(sl));
            turns.extend(held.windows(2).map(|pair| (pair[0], pair[1])));
        }
    }

    /// Writes down what changes for a destination.
    fn carry_out(&mut self, to: To, plan: Plan) {
        let was = self.old.tree(to.0, to.1);
        self.treated += u64::from(!(plan.entries.is_empty() && plan.levels.is_empty()));
        self.in_order |= plan.entries.len() > 1;
        let change = |(switch, port): (SwitchId, u16)| {
            let port = (was[switch.ix()], port);
            Change { to, switch, port }
        };
        self.changes.extend(plan.entries.into_iter().map(change));
        if let (false, ServiceLevels::BySwitch(levels)) =
            (plan.levels.is_empty(), self.old.lanes().levels())
        {
            let all = self.levels.get_or_insert_with(|| levels.clone());
            self.relevelled += plan.levels.len() as u64;
            for (at, sl) in plan.levels {
                all[at] = sl;
            }
        }
    }

    fn safety(&self) -> Safety {
        let why = "the old and new routes together would have a cycle on the old lanes";
        match (&self.order, self.relevelled, self.in_order) {
            (None, _, _) => Safety::Unknown,
            _ if self.drained => {
                let n = self.treated;
                let name = if n == 1 { "destination has" } else { "destinations have" };
                Safety::Draining(format!("{n} {name} new routes: {why}"))
            }
            (Some(_), 0, false) => Safety::AnyOrder,
            (Some(_), 0, true) => Safety::InOrder,
            (Some(_), n, _) => {
                Safety::Draining(format!("{n} paths change their service level: {why}"))
            }
        }
    }
}

/// The (channel, lane) pairs that a path of level `sl` holds one after the other.
fn path(
    old: &Routing,
    on: &Topology,
    mut port: impl FnMut(SwitchId) -> u16,
    (source, start): (SwitchId, u16),
    sl: u8,
) -> Vec<Held> {
    let (mut at, mut in_port) = (source, start);
    let mut held = Vec::new();
    while held.len() <= on.switches().len() {
        let out = port(at);
        let Some((channel, next)) = on.hop(at, out) else { break };
        held.push((channel, old.lanes().sl2vl().lane(at, in_port, out, sl)));
        (at, in_port) = (next, on.head(channel).port);
    }
    held
}
