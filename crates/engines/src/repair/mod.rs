//! Repair of routing tables after failures, with as few changed entries as possible and without
//! deadlock between old and new routes.
//!
//! Only routes over failed links or switches are considered. Where a switch's entry for a
//! destination is dead, all switches whose route passes through it are cut off together. The least
//! number of entries to change is the number of changes on an exit path from that part
//! ([`cut_off`]). New routes keep their service levels, and they must be compatible with the old
//! routes that still carry packets: the channel dependencies of both together must have no cycle.
//! The search first keeps many old routes alive, so that the repair disturbs little traffic, and
//! then fewer ([`OldRoutesSharingLanes`]):
//!
//! 1. All old routes stay alive, and so do the paths of packets on which they meet first old and
//!    then new entries. Entries of a destination change from the destination outwards, so a packet
//!    follows old entries up to the first new one and new entries from there. It can return to a
//!    switch that it has visited, which neither an old nor a new route does. Traffic goes on
//!    meanwhile.
//! 2. Only the old routes that still arrive stay alive, with the paths on which their packets meet
//!    new entries. Routes that are cut off carry nothing: they are stopped until the packets on
//!    them have left. Then their service levels change where needed, and then their entries.
//! 3. Only the routes to other destinations stay alive. Routes to the repaired destinations must be
//!    drained first. As a last resort all destinations are repaired together with a spanning tree
//!    that can carry every route that fits nowhere else.
//!
//! In each step the exit paths with the fewest changes are tried first. Where none fits, routes to
//! that destination are grown again, hop by hop from the switches that keep their route
//! ([`growth`]): first for the switches that are cut off, then for more and more of the
//! destination's tree. If the routes to a destination do not fit, the next attempt repairs that
//! destination before the others.
//!
//! Source for the union of old and new dependencies: Duato, Lysne, Pang, Pinkston, "A theory for
//! deadlock-free dynamic network reconfiguration. Part I", IEEE Transactions on Parallel and
//! Distributed Systems 16(5), 2005.

use crate::check_connected;
use crate::lanes::acyclic;
use crate::lanes::order::{AcyclicTurnSet, AcyclicTurnSetCheckpoint, VirtualChannel};
use crate::sssp::endpoints_per_switch;
use base::{
    ChannelId, ComputationError, Interrupted, LinkId, ProgressWatch, Refusal, SwitchId, TerminalId,
};
use cut_off::{CutOffExitPath, CutOffFinder, CutOffTreePart};
use fabric::network::Topology;
use fabric::tables::{LaneAssignment, NO_ROUTE, RouteWalk, Routing, ServiceLevels};
use fabric::turns::ChannelDependencyNumbering;
use lengths::RepairRouteLengths;
use predecessors::PredecessorSwitches;
use std::sync::Arc;

mod at_once;
mod cut_off;
mod growth;
pub mod lengths;
mod predecessors;
pub mod record;

/// A table entry that the repair changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableEntryChange {
    /// The layer and the destination terminal.
    pub to: (u32, TerminalId),
    /// The switch whose table has the entry.
    pub switch: SwitchId,
    /// The old port and the new port.
    pub port: (u16, u16),
}

/// A path whose service level the repair changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceLevelChange {
    /// The layer and the destination terminal.
    pub to: (u32, TerminalId),
    /// The switch whose endpoints send on the path.
    pub source: SwitchId,
    /// The old level and the new level.
    pub level: (u8, u8),
}

/// Whether traffic can go on while the entries change, and in which order they must change.
///
/// Every statement holds for packets that follow the tables under repair. Where these tables come
/// from an earlier repair, two things must be true first: packets whose service level was set
/// before the last change of that repair have left the network, also those that wait at their
/// senders; and nobody sends to what had failed before. In the variants below, "left" has the same
/// meaning. The reason: a packet that has its level from before a step and meets entries from after
/// it takes turns that no proof covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableChangeSafety {
    /// Entries may change in any order.
    AnyOrder,
    /// Entries must change in the order of the list.
    InOrder,
    /// The entries of `stops` must drop packets first. When the packets sent before have left, the
    /// levels of `levels` change; when the packets sent before that have left, entries change in
    /// the order of the list. Even where `stops` and `levels` are empty, the packets sent before
    /// the failures must have left. Traffic stops only on the routes that the failures cut off.
    InSteps,
    /// The changed routes must be drained first; the text says why.
    Draining(String),
    /// The tables could deadlock before anything failed, so nothing can be guaranteed.
    Unknown,
}

/// The result of a repair: the new tables, and the changes that lead to them.
#[derive(Debug, Clone)]
pub struct RepairedTables {
    /// The new tables, on the damaged network.
    pub routing: Routing,
    /// The entries towards endpoints that change, in an order in which no packet meets a forwarding
    /// loop.
    pub changes: Vec<TableEntryChange>,
    /// For a repair in steps: the entries that drop packets until they change.
    pub stops: Vec<((u32, TerminalId), SwitchId)>,
    /// The paths whose service level changes.
    pub levels: Vec<ServiceLevelChange>,
    /// The least number of entries that any repair must change.
    pub least: u64,
    /// The number of entries towards switches that change, and the least number that any repair
    /// must change.
    pub management: (u64, u64),
    /// Whether traffic can go on while the entries change.
    pub safety: TableChangeSafety,
    /// The lengths of routes before and after.
    pub lengths: RepairRouteLengths,
}

/// Repairs the tables `old` for `on`, the same network with more failures. Routes that did not
/// arrive before stay as they are.
///
/// O(hops of all old routes) for the dependencies. In addition, for each destination that lost an
/// entry, O(switches) and the turns tried; where no exit path fits, also O(switches * hops + arcs)
/// and the turns of the routes for every hop tried.
///
/// # Errors
/// When `on` is another network or disconnected, or when no new routes fit the lanes in use. The
/// latter can happen where SL2VL tables differ by port.
pub fn repair(
    old: &Routing,
    on: &Arc<Topology>,
    watch: &dyn ProgressWatch,
) -> Result<RepairedTables, ComputationError> {
    let before = old.topology().clone();
    let lost = failures(&before, on)?;
    check_connected(on)?;
    let dependencies = ChannelDependencyNumbering::new(&before);
    let table = old.next();
    let mut state = repair_destinations((old, &table), on, &lost, &dependencies, watch)?;
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    let mut to_switch = old.to_switch().to_vec();
    let mut management = (0, 0);
    for d in (0..switches).filter(|&d| on.switches()[d].up) {
        let entries = &mut to_switch[d * switches..(d + 1) * switches];
        let (changed, least) = state.repair_towards_switch(entries, SwitchId::from(d));
        management = (management.0 + changed, management.1 + least);
    }
    let safety = state.safety();
    let RepairState { changes, stops, levels, least, .. } = state;
    let mut next = table;
    for change in &changes {
        let row = change.to.0 as usize * terminals + change.to.1.ix();
        next[row * switches + change.switch.ix()] = change.port.1;
    }
    let routing = Routing::new(on.clone(), old.layers(), next, to_switch)
        .with_lanes(with_levels(old, &levels))
        .named(old.engine(), old.options().clone());
    let lengths = RepairRouteLengths::of(old, &routing, watch)?;
    Ok(RepairedTables { routing, changes, stops, levels, least, management, safety, lengths })
}

/// The entries towards a destination in the table of `old`.
fn row_of<'t>((old, table): (&Routing, &'t [u16]), (layer, t): Destination) -> &'t [u16] {
    let (switches, terminals) = (old.topology().switches().len(), old.topology().terminals().len());
    let row = layer as usize * terminals + t.ix();
    &table[row * switches..(row + 1) * switches]
}

/// The lanes of `old` with the changed service levels.
fn with_levels(old: &Routing, changed: &[ServiceLevelChange]) -> LaneAssignment {
    let mut lanes = old.lanes().clone();
    if let (false, ServiceLevels::BySwitch(all)) = (changed.is_empty(), lanes.levels()) {
        let on = old.topology();
        let mut all = all.clone();
        for change in changed {
            let row = change.to.0 as usize * on.terminals().len() + change.to.1.ix();
            all[row * on.switches().len() + change.source.ix()] = change.level.1;
        }
        lanes = LaneAssignment::new(ServiceLevels::BySwitch(all), lanes.sl2vl().clone());
    }
    lanes
}

/// The most restarts of the repair. Before each, the destination that did not fit moves before the
/// others.
const MOST_ATTEMPTS: usize = 4;

/// Repairs all destinations that lost entries, with as many old routes alive as possible. If
/// nothing fits, it reserves the turns of a spanning tree and gives all destinations new routes
/// beside them; destinations that lost nothing come first.
fn repair_destinations<'a>(
    (old, table): (&'a Routing, &'a [u16]),
    on: &'a Topology,
    lost: &[(SwitchId, Vec<u16>)],
    dependencies: &'a ChannelDependencyNumbering,
    watch: &dyn ProgressWatch,
) -> Result<RepairState<'a>, ComputationError> {
    let dead = |c: ChannelId| !on.link_is_up(c.link());
    let is_broken = |&(layer, t): &Destination| {
        let home = on.terminals()[t.ix()].plug.switch;
        let mut roots = CutOffFinder::roots(lost, row_of((old, table), (layer, t)), home);
        on.terminal_is_up(t) && roots.next().is_some()
    };
    let (mut broken, sound): (Vec<Destination>, Vec<Destination>) =
        old.destinations().partition(is_broken);
    for live in [
        OldRoutesSharingLanes::All,
        OldRoutesSharingLanes::Arriving,
        OldRoutesSharingLanes::OtherDestinations,
    ] {
        for _ in 0..MOST_ATTEMPTS {
            let order = match live {
                OldRoutesSharingLanes::All => {
                    acyclic::order_of(old, old.destinations(), dependencies, dead, watch)?
                }
                OldRoutesSharingLanes::Arriving => {
                    let whole = without_cut_off((old, table), on, lost, &broken);
                    acyclic::order_of(&whole, whole.destinations(), dependencies, dead, watch)?
                }
                OldRoutesSharingLanes::OtherDestinations => {
                    acyclic::order_of(old, sound.iter().copied(), dependencies, dead, watch)?
                }
            };
            let mut state = RepairState::new((old, table), on, lost, order, live);
            let Some(to) = state.repair_all(&broken, watch)? else {
                state.waits =
                    live == OldRoutesSharingLanes::Arriving && !state.fits_at_once(&broken);
                return Ok(state);
            };
            let place = broken.iter().position(|b| *b == to).unwrap_or(0);
            broken[..=place].rotate_right(1);
        }
    }
    let order = acyclic::order_of(old, std::iter::empty(), dependencies, dead, watch)?;
    let mut state =
        RepairState::new((old, table), on, lost, order, OldRoutesSharingLanes::OtherDestinations);
    state.reserve_tree();
    let all: Vec<Destination> = sound.into_iter().filter(|(_, t)| on.terminal_is_up(*t)).collect();
    let Some((_, t)) = state.repair_all(&[all, broken].concat(), watch)? else { return Ok(state) };
    let why = format!("no routes to {t} fit the lanes in use");
    Err(Refusal::new("lanes", why, "route the network anew").into())
}

/// The tables `old` without the entries of all switches that are cut off from these destinations.
fn without_cut_off(
    (old, table): (&Routing, &[u16]),
    on: &Topology,
    lost: &[(SwitchId, Vec<u16>)],
    broken: &[Destination],
) -> Routing {
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    let (mut cut_off, mut next) = (CutOffFinder::new(on, lost), table.to_vec());
    for &(layer, t) in broken {
        let row = layer as usize * terminals + t.ix();
        let home = on.terminals()[t.ix()].plug.switch;
        for part in cut_off.parts(row_of((old, table), (layer, t)), home) {
            for s in part.members {
                next[row * switches + s.ix()] = NO_ROUTE;
            }
        }
    }
    Routing::new(old.topology().clone(), old.layers(), next, old.to_switch().to_vec())
        .with_lanes(old.lanes().clone())
}

/// For each working switch, its ports whose links worked before and have failed now.
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
    let broken = ports.into_iter().enumerate().map(|(s, p)| (SwitchId::from(s), p));
    Ok(broken.filter(|(s, p)| !p.is_empty() && on.switches()[s.ix()].up).collect())
}

/// A layer, and a destination terminal in it.
type Destination = (u32, TerminalId);

/// The old routes that may still carry packets, with which new routes must share the lanes without
/// deadlock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OldRoutesSharingLanes {
    /// All old routes, and the paths on which packets meet new entries after old ones.
    All,
    /// The old routes that still arrive, and the paths on which their packets meet new entries.
    /// Routes that are cut off are stopped first.
    Arriving,
    /// The routes to destinations that are not repaired. All routes to repaired destinations are
    /// drained first.
    OtherDestinations,
}

/// The state of one repair: what it has changed so far, and the turns that are in use.
struct RepairState<'a> {
    old: &'a Routing,
    /// All entries of `old`, in the order of [`Routing::next`].
    table: &'a [u16],
    on: &'a Topology,
    cut_off: CutOffFinder<'a>,
    /// The turns of the new routes and of the old routes in use; `None` when the old routes had a
    /// cycle.
    order: Option<AcyclicTurnSet<'a>>,
    live: OldRoutesSharingLanes,
    /// The links of a spanning tree whose turns are reserved on all lanes; `None` where the repair
    /// needed no such tree.
    tree: Option<Vec<bool>>,
    /// The number of terminals on each switch that worked before the failures.
    endpoints: Vec<u32>,
    /// For each switch, the switches that forward to it by the old entries of the current
    /// destination.
    predecessors: PredecessorSwitches,
    /// The service levels in use, each once.
    in_use: Vec<u8>,
    changes: Vec<TableEntryChange>,
    stops: Vec<(Destination, SwitchId)>,
    levels: Vec<ServiceLevelChange>,
    /// The number of destinations whose entries or levels change.
    repaired_destinations: u64,
    least: u64,
    in_order: bool,
    /// Whether the entries may change only after packets sent before the failures have left.
    waits: bool,
}

/// The changes for one destination: its entries in order, those of its entries that must drop
/// packets first, and the service levels of paths.
#[derive(Default)]
struct DestinationTableChanges {
    entries: Vec<(SwitchId, u16)>,
    stops: Vec<SwitchId>,
    levels: Vec<(SwitchId, u8)>,
}

impl<'a> RepairState<'a> {
    fn new(
        (old, table): (&'a Routing, &'a [u16]),
        on: &'a Topology,
        lost: &[(SwitchId, Vec<u16>)],
        order: Option<AcyclicTurnSet<'a>>,
        live: OldRoutesSharingLanes,
    ) -> Self {
        // the level of a single path can change only where levels are stored by source switch
        let in_use = match old.lanes().levels() {
            levels @ ServiceLevels::BySwitch(_) => levels.in_use(),
            ServiceLevels::Same(_) | ServiceLevels::ByTerminal(_) => Vec::new(),
        };
        Self {
            old,
            table,
            on,
            cut_off: CutOffFinder::new(on, lost),
            order,
            live,
            tree: None,
            repaired_destinations: 0,
            endpoints: endpoints_per_switch(old.topology()),
            predecessors: PredecessorSwitches::default(),
            in_use,
            changes: Vec::new(),
            stops: Vec::new(),
            levels: Vec::new(),
            least: 0,
            in_order: false,
            waits: false,
        }
    }

    /// The old entries of all switches towards a destination.
    fn row(&self, to: Destination) -> &'a [u16] {
        row_of((self.old, self.table), to)
    }

    /// Repairs the entries of these destinations. Returns the first destination for which that
    /// fails.
    fn repair_all(
        &mut self,
        broken: &[Destination],
        watch: &dyn ProgressWatch,
    ) -> Result<Option<Destination>, Interrupted> {
        for (i, &to) in broken.iter().enumerate() {
            if i.is_multiple_of(256) {
                watch.tick("repair", i as u64, broken.len() as u64)?;
            }
            let old = self.row(to);
            let home = self.on.terminals()[to.1.ix()].plug.switch;
            let parts = self.cut_off.parts(old, home);
            self.least += parts.iter().map(|p| u64::from(p.least)).sum::<u64>();
            let known = self.checkpoint();
            let by_exits = match self.live {
                OldRoutesSharingLanes::OtherDestinations => None,
                OldRoutesSharingLanes::All | OldRoutesSharingLanes::Arriving => {
                    self.by_exits(to, parts)
                }
            };
            if by_exits.is_none() {
                self.undo_to(known);
            }
            let Some(plan) = by_exits.or_else(|| self.by_growth(to, home)) else {
                return Ok(Some(to));
            };
            self.carry_out(to, plan);
        }
        Ok(None)
    }

    /// The current state of the turn order, for [`Self::undo_to`]; `None` without an order.
    fn checkpoint(&self) -> Option<AcyclicTurnSetCheckpoint> {
        self.order.as_ref().map(AcyclicTurnSet::checkpoint)
    }

    /// Removes the turns taken since `checkpoint`.
    fn undo_to(&mut self, checkpoint: Option<AcyclicTurnSetCheckpoint>) {
        if let (Some(order), Some(checkpoint)) = (&mut self.order, checkpoint) {
            order.undo_to(checkpoint);
        }
    }

    /// Takes for each cut-off part the first exit path that fits the lanes.
    fn by_exits(
        &mut self,
        to: Destination,
        mut parts: Vec<CutOffTreePart>,
    ) -> Option<DestinationTableChanges> {
        let mut entries = self.row(to).to_vec();
        let mut plan = DestinationTableChanges::default();
        if !parts.is_empty() {
            self.predecessors.resolve(self.old.topology(), &entries);
        }
        while let Some((part, exits)) = self.cut_off.next(&mut parts, &entries) {
            self.try_exits(&mut entries, to, &part, &exits, &mut plan)?;
            self.cut_off.attach(&part);
        }
        Some(plan)
    }

    /// Repairs the entries towards a switch, where lanes do not matter. Returns the number of
    /// changed entries, and the least possible number.
    fn repair_towards_switch(&mut self, entries: &mut [u16], home: SwitchId) -> (u64, u64) {
        let mut parts = self.cut_off.parts(entries, home);
        let least = parts.iter().map(|p| u64::from(p.least)).sum();
        let mut changed = 0;
        while let Some((part, exits)) = self.cut_off.next(&mut parts, entries) {
            changed += exits[0].apply(entries).len() as u64;
            self.cut_off.attach(&part);
        }
        (changed, least)
    }

    /// Takes the first exit path on which all paths can keep their service level. If there is none
    /// and packets are stopped first, takes the first on which the other paths can get another
    /// level.
    fn try_exits(
        &mut self,
        entries: &mut [u16],
        to: Destination,
        part: &CutOffTreePart,
        exits: &[CutOffExitPath],
        plan: &mut DestinationTableChanges,
    ) -> Option<()> {
        let stopped = self.live == OldRoutesSharingLanes::Arriving;
        for relevel in [false, true].into_iter().take(1 + usize::from(stopped)) {
            for exit in exits {
                let was = exit.apply(entries);
                let changed: Vec<_> = was.iter().map(|&(s, _)| (s, entries[s.ix()])).collect();
                if self.admit(entries, to, part, &changed, relevel, plan) {
                    self.cut_off.count(&changed);
                    if stopped {
                        let inner = changed.iter().map(|c| c.0).filter(|s| *s != part.root);
                        plan.stops.extend(inner);
                    }
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

    /// Whether the paths of a cut-off part fit the lanes, and also the paths on which packets meet
    /// new entries after old ones. If they fit, their turns are taken.
    fn admit(
        &mut self,
        new: &[u16],
        to: Destination,
        part: &CutOffTreePart,
        changed: &[(SwitchId, u16)],
        relevel: bool,
        plan: &mut DestinationTableChanges,
    ) -> bool {
        let (known, levels) = (self.checkpoint(), plan.levels.len());
        let meets = self.live == OldRoutesSharingLanes::All;
        let fits = part.members.iter().all(|&m| self.takes(to, m, relevel, new, &mut plan.levels))
            && (!meets || changed.iter().all(|&(s, _)| self.takes_meeting(to, s, new)));
        if !fits {
            plan.levels.truncate(levels);
            self.undo_to(known);
        }
        fits
    }

    /// Takes the turns of packets that come to `s` by old entries and go on by new ones. Once a
    /// packet has met a changed entry, it meets all later entries in their new form, as entries
    /// change from the destination outwards. Returns false when the turns do not fit.
    fn takes_meeting(&mut self, to: Destination, s: SwitchId, new: &[u16]) -> bool {
        if self.order.is_none() {
            return true;
        }
        let old = self.row(to);
        let port = || {
            let mut met = false;
            move |at: SwitchId| {
                met |= at == s;
                if met { new[at.ix()] } else { old[at.ix()] }
            }
        };
        let (mut sources, mut turns) = (vec![s], Vec::new());
        // at most once for each switch: old routes that never arrived may form a cycle
        for _ in 0..old.len() {
            let Some(source) = sources.pop() else { break };
            self.add_turns(to, source, None, &port, &mut turns);
            sources.extend(self.predecessors.of(source));
        }
        self.take(&turns)
    }

    /// Takes the turns of the paths from switch `source` by the entries `new`. Paths whose level
    /// does not fit get another one if `relevel` is true. Returns false when they do not fit.
    fn takes(
        &mut self,
        to: Destination,
        source: SwitchId,
        relevel: bool,
        new: &[u16],
        moved: &mut Vec<(SwitchId, u8)>,
    ) -> bool {
        let port = || |s: SwitchId| new[s.ix()];
        let mut turns = Vec::new();
        self.add_turns(to, source, None, &port, &mut turns);
        if self.take(&turns) {
            return true;
        }
        let old = self.row(to);
        let stopped =
            || |s: SwitchId| if new[s.ix()] == old[s.ix()] { new[s.ix()] } else { NO_ROUTE };
        let levels = if relevel { self.in_use.clone() } else { Vec::new() };
        for sl in levels {
            turns.clear();
            self.add_turns(to, source, Some(sl), &port, &mut turns);
            if self.live == OldRoutesSharingLanes::Arriving {
                // packets of the old level still travel up to the switch that drops them
                self.add_turns(to, source, None, &stopped, &mut turns);
            }
            if self.take(&turns) {
                moved.push((source, sl));
                return true;
            }
        }
        false
    }

    /// Takes all these turns, or none of them.
    fn take(&mut self, turns: &[(VirtualChannel, VirtualChannel)]) -> bool {
        let known = self.checkpoint();
        let taken = self.order.as_mut().is_none_or(|order| order.take(turns.iter().copied()));
        if !taken {
            self.undo_to(known);
        }
        taken
    }

    /// Adds the turns of the paths from one switch, at `level` or else at their own service levels.
    fn add_turns<F: FnMut(SwitchId) -> u16>(
        &self,
        (layer, t): Destination,
        source: SwitchId,
        level: Option<u8>,
        port: &impl Fn() -> F,
        turns: &mut Vec<(VirtualChannel, VirtualChannel)>,
    ) {
        if self.order.is_none() || self.endpoints[source.ix()] == 0 {
            return;
        }
        for (sl, start) in self.old.starts(layer, t, source) {
            let (port, sl) = (port(), level.unwrap_or(sl));
            each_turn(self.old, self.on, port, (source, start), sl, |a, b| turns.push((a, b)));
        }
    }

    /// Records the changes for a destination.
    fn carry_out(&mut self, to: Destination, plan: DestinationTableChanges) {
        if let Some(order) = &mut self.order {
            order.settle();
        }
        let was = self.row(to);
        self.repaired_destinations +=
            u64::from(!(plan.entries.is_empty() && plan.levels.is_empty()));
        self.in_order |= plan.entries.len() > 1;
        self.changes.extend(plan.entries.into_iter().map(|(switch, port)| {
            let port = (was[switch.ix()], port);
            TableEntryChange { to, switch, port }
        }));
        self.stops.extend(plan.stops.into_iter().map(|s| (to, s)));
        self.levels.extend(plan.levels.into_iter().map(|(source, level)| {
            // levels change only where they are stored by source switch, so one path has one level
            let was = self.old.starts(to.0, to.1, source).first().map_or(0, |start| start.0);
            ServiceLevelChange { to, source, level: (was, level) }
        }));
    }

    fn safety(&self) -> TableChangeSafety {
        if self.order.is_none() {
            return TableChangeSafety::Unknown;
        }
        match self.live {
            OldRoutesSharingLanes::OtherDestinations => {
                let n = self.repaired_destinations;
                let name = if n == 1 { "destination has" } else { "destinations have" };
                TableChangeSafety::Draining(format!(
                    "{n} {name} new routes: the old and new routes together would have a cycle on \
                     the old lanes"
                ))
            }
            _ if self.waits => TableChangeSafety::InSteps,
            _ if self.in_order => TableChangeSafety::InOrder,
            _ => TableChangeSafety::AnyOrder,
        }
    }
}

/// Calls `visit` for each pair of virtual channels that a packet of level `sl` holds one after the
/// other. A packet that crossed a link before the link failed no longer holds that channel.
fn each_turn(
    old: &Routing,
    on: &Topology,
    port: impl FnMut(SwitchId) -> u16,
    (source, start): (SwitchId, u16),
    sl: u8,
    mut visit: impl FnMut(VirtualChannel, VirtualChannel),
) {
    let hops = RouteWalk::new(on, port, source).on_lanes(old.lanes().sl2vl(), sl, start);
    let mut held: Option<VirtualChannel> = None;
    // a packet may visit a switch twice, by an old entry and by a new one
    for (hop, lane) in hops.take(2 * on.switches().len() + 1) {
        let wanted = on.link_is_up(hop.channel.link()).then_some((hop.channel, lane));
        if let (Some(held), Some(wanted)) = (held, wanted) {
            visit(held, wanted);
        }
        held = wanted;
    }
}
