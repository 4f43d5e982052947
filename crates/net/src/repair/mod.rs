//! Repair: tables after failures, with as few entries changed as possible and no new deadlock.
//!
//! Only routes that used what failed are looked at. Where a switch's entry for a destination is
//! dead, all that route over the switch are cut off together; the least number of entries to change
//! is that of a way out of that part ([`wound`]). Of the ways out of least changes the first is
//! taken on which every route keeps its service level and the channel dependencies of the old and
//! the new routes together have no cycle. Then the tables are free of deadlock before, while and
//! after they change: a packet under way takes turns of the old or of the new routes only.
//!
//! Source for the union of old and new dependencies: Duato, Lysne, Pang, Pinkston, "A theory for
//! deadlock-free dynamic network reconfiguration. Part I", IEEE Transactions on Parallel and
//! Distributed Systems 16(5), 2005.

use crate::dependencies::Dependencies;
use crate::lanes::order::{Held, Order};
use crate::network::Topology;
use crate::routing::{Lanes, NO_ROUTE, RouteError, Routing, ServiceLevels, check_connected};
use crate::verify::deadlock;
use base::{LinkId, Refusal, SwitchId, TerminalId, Watch};
use std::sync::Arc;
use wound::{Outlet, Part, Wound};

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
/// O(switches), and the turns asked for.
///
/// # Errors
/// When `on` is another network or disconnected, or when the lanes in use can take no way out.
pub fn repair(
    old: &Routing,
    on: &Arc<Topology>,
    watch: &dyn Watch,
) -> Result<Repaired, RouteError> {
    let before = old.topology().clone();
    let lost = failures(&before, on)?;
    check_connected(on)?;
    let dependencies = Dependencies::new(&before);
    let dead = |link: LinkId| !on.link_is_up(link);
    let order = deadlock::order_of(old, &dependencies, |c| dead(c.link()), watch)?;
    let mut surgeon = Surgeon::new(old, on, &lost, order);
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    let mut next = old.next().to_vec();
    for (i, (layer, t)) in old.destinations().enumerate() {
        if i.is_multiple_of(4096) {
            watch.tick("repair", i as u64, u64::from(old.layers()) * terminals as u64)?;
        }
        if !on.terminal_is_up(t) {
            continue;
        }
        let row = (layer as usize * terminals + t.ix()) * switches;
        surgeon.treat(&mut next[row..row + switches], (layer, t))?;
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

/// What one repair has done so far.
struct Surgeon<'a> {
    old: &'a Routing,
    on: &'a Topology,
    wound: Wound<'a>,
    /// The turns of old and new routes; `None` when the old ones had a cycle.
    order: Option<Order<'a>>,
    /// The levels that paths carry, each once.
    in_use: Vec<u8>,
    changes: Vec<Change>,
    least: u64,
    /// The levels of all paths, once one has changed.
    levels: Option<Vec<u8>>,
    relevelled: u64,
    in_order: bool,
}

impl<'a> Surgeon<'a> {
    fn new(
        old: &'a Routing,
        on: &'a Topology,
        lost: &[(SwitchId, Vec<u16>)],
        order: Option<Order<'a>>,
    ) -> Self {
        // only levels by switch can change for one path
        let in_use = match old.lanes().levels() {
            levels @ ServiceLevels::BySwitch(_) => levels.in_use(),
            ServiceLevels::Same(_) | ServiceLevels::ByTerminal(_) => Vec::new(),
        };
        let wound = Wound::new(on, lost);
        let (changes, levels) = (Vec::new(), None);
        Self {
            old,
            on,
            wound,
            order,
            in_use,
            changes,
            levels,
            least: 0,
            relevelled: 0,
            in_order: false,
        }
    }

    /// Mends the entries of one destination.
    fn treat(&mut self, entries: &mut [u16], to: (u32, TerminalId)) -> Result<(), RouteError> {
        let home = self.on.terminals()[to.1.ix()].plug.switch;
        let mut parts = self.wound.parts(entries, home);
        self.least += parts.iter().map(|p| u64::from(p.least)).sum::<u64>();
        while let Some((part, outlets)) = self.wound.next(&mut parts, entries) {
            let done = self.try_outlets(entries, to, &part, &outlets);
            let Some(changed) = done else {
                let (hurt, gone) = (part.root, to.1);
                let why = format!("no other way from {hurt} to {gone} fits the lanes in use");
                return Err(Refusal::new("lanes", why, "route the network anew").into());
            };
            self.in_order |= changed > 1;
            self.wound.attach(&part);
        }
        Ok(())
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
    /// cannot keep theirs find another; the number of entries changed.
    fn try_outlets(
        &mut self,
        entries: &mut [u16],
        to: (u32, TerminalId),
        part: &Part,
        outlets: &[Outlet],
    ) -> Option<usize> {
        for relevel in [false, true] {
            for outlet in outlets {
                let was = outlet.apply(entries);
                if self.admit(entries, to, part, relevel) {
                    self.wound.count(&was, entries);
                    self.changes.extend(was.iter().map(|&(switch, port)| Change {
                        to,
                        switch,
                        port: (port, entries[switch.ix()]),
                    }));
                    return Some(was.len());
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
        (layer, t): (u32, TerminalId),
        part: &Part,
        relevel: bool,
    ) -> bool {
        let Some(order) = &mut self.order else { return true };
        let row = (layer as usize * self.on.terminals().len() + t.ix()) * self.on.switches().len();
        let carries =
            |s: &&SwitchId| self.on.terminals_on(**s).iter().any(|&t| self.on.terminal_is_up(t));
        let mut moved: Vec<(usize, u8)> = Vec::new();
        for &source in part.members.iter().filter(carries) {
            let mut starts = self.old.starts(layer, t, source);
            if let Some(levels) = &self.levels {
                for start in &mut starts {
                    start.0 = levels[row + source.ix()];
                }
            }
            let path = |sl: u8, port: u16| path(self.old, self.on, entries, (source, port), sl);
            let fits = |order: &mut Order<'_>, start: &(u8, u16), sl: u8| {
                let held = path(sl, start.1);
                order.take(held.iter().copied().zip(held.iter().skip(1).copied()))
            };
            if starts.iter().all(|start| fits(order, start, start.0)) {
                continue;
            }
            let other = self.in_use.iter().filter(|_| relevel);
            let found = other.copied().find(|&sl| starts.iter().all(|s| fits(order, s, sl)));
            let Some(sl) = found else {
                order.undo();
                return false;
            };
            moved.push((row + source.ix(), sl));
        }
        order.settle();
        if !moved.is_empty() {
            let all = self.levels.get_or_insert_with(|| match self.old.lanes().levels() {
                ServiceLevels::BySwitch(levels) => levels.clone(),
                _ => Vec::new(),
            });
            self.relevelled += moved.len() as u64;
            for (at, sl) in moved {
                all[at] = sl;
            }
        }
        true
    }

    fn safety(&self) -> Safety {
        match (&self.order, self.relevelled, self.in_order) {
            (None, _, _) => Safety::Unknown,
            (Some(_), 0, false) => Safety::AnyOrder,
            (Some(_), 0, true) => Safety::InOrder,
            (Some(_), n, _) => {
                let why = "the old and new routes together would have a cycle on the old lanes";
                Safety::Draining(format!("{n} paths change their service level: {why}"))
            }
        }
    }
}

/// The (channel, lane) pairs that a path of level `sl` holds one after the other.
fn path(
    old: &Routing,
    on: &Topology,
    entries: &[u16],
    (source, port): (SwitchId, u16),
    sl: u8,
) -> Vec<Held> {
    let (mut at, mut in_port) = (source, port);
    let mut held = Vec::new();
    while let Some((channel, next)) = on.hop(at, entries[at.ix()]) {
        if held.len() > on.switches().len() || entries[at.ix()] == NO_ROUTE {
            break;
        }
        held.push((channel, old.lanes().sl2vl().lane(at, in_port, entries[at.ix()], sl)));
        (at, in_port) = (next, on.head(channel).port);
    }
    held
}
