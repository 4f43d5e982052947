//! Repair: tables after failures, with as few entries changed as possible and no new deadlock.
//!
//! Only routes that used what failed are looked at. Where a switch's entry for a destination is
//! dead, all that route over the switch are cut off together; the least number of entries to change
//! is that of a way out of that part ([`cut_off`]). New routes keep their service levels and must
//! fit beside others: their channel dependencies together have no cycle. They are looked for beside
//! more, so that the change disturbs less, and then beside less ([`Beside`]):
//!
//! 1. Beside all old routes, and those of packets that meet the entries while they change. Entries
//!    of a destination change from it on, so a packet goes by old entries up to the first new one
//!    and by new ones from there: it can come back to where it was, which neither an old nor a new
//!    route does. Traffic goes on meanwhile.
//! 2. Beside the old routes that still arrive, and packets that meet their entries. Those cut off
//!    carry nothing; they are stopped until the packets on them have left, then change their
//!    levels where they must, then their entries.
//! 3. Beside the routes to other destinations; those to the ones that are mended must be drained
//!    first. At last all destinations are mended, beside a spanning tree that can take whatever
//!    does not fit.
//!
//! Each time the ways out of least changes are tried first; where none fits, routes to that
//! destination are grown anew, hop by hop from the switches that keep theirs ([`growth`]): those
//! cut off first, then more and more of its tree. A destination that does not fit goes before the
//! others the next time.
//!
//! Source for the union of old and new dependencies: Duato, Lysne, Pang, Pinkston, "A theory for
//! deadlock-free dynamic network reconfiguration. Part I", IEEE Transactions on Parallel and
//! Distributed Systems 16(5), 2005.

use crate::check_connected;
use crate::lanes::acyclic;
use crate::lanes::order::{Held, Mark, Order};
use crate::sssp::endpoints_per_switch;
use base::{ChannelId, Interrupted, LinkId, Refusal, Stop, SwitchId, TerminalId, Watch};
use behind::Behind;
use cut_off::{CutOff, Outlet, Part};
use fabric::network::Topology;
use fabric::tables::{Lanes, NO_ROUTE, Routing, ServiceLevels, Walk};
use fabric::turns::Dependencies;
use lengths::Lengths;
use std::sync::Arc;

mod at_once;
mod behind;
mod cut_off;
mod growth;
pub mod lengths;
pub mod record;

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

/// The service level of one path to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelChange {
    /// The destination, and which of its layers.
    pub to: (u32, TerminalId),
    /// The switch whose endpoints send on it.
    pub source: SwitchId,
    /// The level it had, and the level it gets.
    pub level: (u8, u8),
}

/// Whether traffic can go on while the entries change.
///
/// All of it holds for packets that go by the tables that are repaired: where these come from a
/// repair, the packets whose service level was set before its last change must have left, also
/// those that wait at their senders, and nobody sends any more to what had died before. "Left"
/// means the same below: a packet that has its level from before a step and meets entries from
/// after it takes turns that nothing was proved of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Safety {
    /// Entries may change in any order.
    AnyOrder,
    /// Entries must change in the order of the list.
    InOrder,
    /// The entries of `stops` must drop packets first; when the packets sent before have left,
    /// the levels of `levels` change; when those sent before have left, entries change in the
    /// order of the list. Even where both are empty, the packets sent before the failures must have
    /// left. Only routes that the failures cut off stand still.
    InSteps,
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
    /// Where changes go in steps: the entries that drop packets until they change.
    pub stops: Vec<((u32, TerminalId), SwitchId)>,
    /// The paths whose service level changes.
    pub levels: Vec<LevelChange>,
    /// No repair can change fewer entries.
    pub least: u64,
    /// Entries towards switches that change, and the least number.
    pub management: (u64, u64),
    /// Whether traffic can go on meanwhile.
    pub safety: Safety,
    /// How long routes were and are.
    pub lengths: Lengths,
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
pub fn repair(old: &Routing, on: &Arc<Topology>, watch: &dyn Watch) -> Result<Repaired, Stop> {
    let before = old.topology().clone();
    let lost = failures(&before, on)?;
    check_connected(on)?;
    let dependencies = Dependencies::new(&before);
    let table = old.next();
    let mut mender = mend((old, &table), on, &lost, &dependencies, watch)?;
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    let mut to_switch = old.to_switch().to_vec();
    let mut management = (0, 0);
    for d in (0..switches).filter(|&d| on.switches()[d].up) {
        let entries = &mut to_switch[d * switches..(d + 1) * switches];
        let (changed, least) = mender.mend_switch(entries, SwitchId::from(d));
        management = (management.0 + changed, management.1 + least);
    }
    let safety = mender.safety();
    let Mender { changes, stops, levels, least, .. } = mender;
    let mut next = table;
    for change in &changes {
        let row = change.to.0 as usize * terminals + change.to.1.ix();
        next[row * switches + change.switch.ix()] = change.port.1;
    }
    let routing = Routing::new(on.clone(), old.layers(), next, to_switch)
        .with_lanes(with_levels(old, &levels))
        .named(old.engine(), old.options().clone());
    let lengths = Lengths::of(old, &routing, watch)?;
    Ok(Repaired { routing, changes, stops, levels, least, management, safety, lengths })
}

/// The entries towards a destination in the table of `old`.
fn row_of<'t>((old, table): (&Routing, &'t [u16]), (layer, t): To) -> &'t [u16] {
    let (switches, terminals) = (old.topology().switches().len(), old.topology().terminals().len());
    let row = layer as usize * terminals + t.ix();
    &table[row * switches..(row + 1) * switches]
}

/// The lanes of `old`, where these paths have other levels.
fn with_levels(old: &Routing, changed: &[LevelChange]) -> Lanes {
    let mut lanes = old.lanes().clone();
    if let (false, ServiceLevels::BySwitch(all)) = (changed.is_empty(), lanes.levels()) {
        let on = old.topology();
        let mut all = all.clone();
        for change in changed {
            let row = change.to.0 as usize * on.terminals().len() + change.to.1.ix();
            all[row * on.switches().len() + change.source.ix()] = change.level.1;
        }
        lanes = Lanes::new(ServiceLevels::BySwitch(all), lanes.sl2vl().clone());
    }
    lanes
}

/// Times that destinations which do not fit are mended again, before others.
const AGAIN: usize = 4;

/// Mends all destinations that lost entries beside as many routes as can be; else all
/// destinations, those that lost nothing first, beside a spanning tree.
fn mend<'a>(
    (old, table): (&'a Routing, &'a [u16]),
    on: &'a Topology,
    lost: &[(SwitchId, Vec<u16>)],
    dependencies: &'a Dependencies,
    watch: &dyn Watch,
) -> Result<Mender<'a>, Stop> {
    let dead = |c: ChannelId| !on.link_is_up(c.link());
    let is_broken = |&(layer, t): &To| {
        let home = on.terminals()[t.ix()].plug.switch;
        let mut roots = CutOff::roots(lost, row_of((old, table), (layer, t)), home);
        on.terminal_is_up(t) && roots.next().is_some()
    };
    let (mut broken, sound): (Vec<To>, Vec<To>) = old.destinations().partition(is_broken);
    for beside in [Beside::All, Beside::Whole, Beside::Others] {
        for _ in 0..AGAIN {
            let order = match beside {
                Beside::All => {
                    acyclic::order_of(old, old.destinations(), dependencies, dead, watch)?
                }
                Beside::Whole => {
                    let whole = without_cut_off((old, table), on, lost, &broken);
                    acyclic::order_of(&whole, whole.destinations(), dependencies, dead, watch)?
                }
                Beside::Others => {
                    acyclic::order_of(old, sound.iter().copied(), dependencies, dead, watch)?
                }
            };
            let mut mender = Mender::new((old, table), on, lost, order, beside);
            let Some(to) = mender.mend_all(&broken, watch)? else {
                mender.waits = beside == Beside::Whole && !mender.fits_at_once(&broken);
                return Ok(mender);
            };
            let place = broken.iter().position(|b| *b == to).unwrap_or(0);
            broken[..=place].rotate_right(1);
        }
    }
    let order = acyclic::order_of(old, std::iter::empty(), dependencies, dead, watch)?;
    let mut mender = Mender::new((old, table), on, lost, order, Beside::Others);
    mender.reserve_tree();
    let all: Vec<To> = sound.into_iter().filter(|(_, t)| on.terminal_is_up(*t)).collect();
    let Some((_, t)) = mender.mend_all(&[all, broken].concat(), watch)? else { return Ok(mender) };
    let why = format!("no routes to {t} fit the lanes in use");
    Err(Refusal::new("lanes", why, "route the network anew").into())
}

/// The tables `old` but for the entries of all switches that are cut off from these destinations.
fn without_cut_off(
    (old, table): (&Routing, &[u16]),
    on: &Topology,
    lost: &[(SwitchId, Vec<u16>)],
    broken: &[To],
) -> Routing {
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    let (mut cut_off, mut next) = (CutOff::new(on, lost), table.to_vec());
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
    let broken = ports.into_iter().enumerate().map(|(s, p)| (SwitchId::from(s), p));
    Ok(broken.filter(|(s, p)| !p.is_empty() && on.switches()[s.ix()].up).collect())
}

/// A destination, and which of its layers.
type To = (u32, TerminalId);

/// Which routes the new ones must fit beside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// All old ones, and those of packets that meet the entries while they change.
    All,
    /// The old ones that still arrive, and those of packets that meet the entries while they
    /// change: what is cut off is stopped first.
    Whole,
    /// Those of destinations that are not mended: all routes to the others are drained first.
    Others,
}

/// What one repair has done so far.
struct Mender<'a> {
    old: &'a Routing,
    /// All its entries, as [`Routing::next`] has them.
    table: &'a [u16],
    on: &'a Topology,
    cut_off: CutOff<'a>,
    /// The turns of the new routes and those beside; `None` when the old ones had a cycle.
    order: Option<Order<'a>>,
    beside: Beside,
    /// The links of a spanning tree whose turns are taken on all lanes, where it was asked for.
    tree: Option<Vec<bool>>,
    /// The terminals on each switch that worked before the failures.
    endpoints: Vec<u32>,
    /// Who comes over each switch to the destination at hand by the entries that were.
    behind: Behind,
    /// The levels that paths carry, each once.
    in_use: Vec<u8>,
    changes: Vec<Change>,
    stops: Vec<(To, SwitchId)>,
    levels: Vec<LevelChange>,
    /// Destinations whose entries or levels change.
    mended: u64,
    least: u64,
    in_order: bool,
    /// Packets sent before the failures must have left before entries change.
    waits: bool,
}

/// What is to be done for one destination: entries by switch in order, those of them that drop
/// packets before, and levels of paths.
#[derive(Default)]
struct Plan {
    entries: Vec<(SwitchId, u16)>,
    stops: Vec<SwitchId>,
    levels: Vec<(SwitchId, u8)>,
}

impl<'a> Mender<'a> {
    fn new(
        (old, table): (&'a Routing, &'a [u16]),
        on: &'a Topology,
        lost: &[(SwitchId, Vec<u16>)],
        order: Option<Order<'a>>,
        beside: Beside,
    ) -> Self {
        // only levels by switch can change for one path
        let in_use = match old.lanes().levels() {
            levels @ ServiceLevels::BySwitch(_) => levels.in_use(),
            ServiceLevels::Same(_) | ServiceLevels::ByTerminal(_) => Vec::new(),
        };
        Self {
            old,
            table,
            on,
            cut_off: CutOff::new(on, lost),
            order,
            beside,
            tree: None,
            mended: 0,
            endpoints: endpoints_per_switch(old.topology()),
            behind: Behind::default(),
            in_use,
            changes: Vec::new(),
            stops: Vec::new(),
            levels: Vec::new(),
            least: 0,
            in_order: false,
            waits: false,
        }
    }

    /// The old entries towards a destination.
    fn row(&self, to: To) -> &'a [u16] {
        row_of((self.old, self.table), to)
    }

    /// Mends the entries of these destinations, or tells the first for which that cannot be.
    fn mend_all(&mut self, broken: &[To], watch: &dyn Watch) -> Result<Option<To>, Interrupted> {
        for (i, &to) in broken.iter().enumerate() {
            if i.is_multiple_of(256) {
                watch.tick("repair", i as u64, broken.len() as u64)?;
            }
            let old = self.row(to);
            let home = self.on.terminals()[to.1.ix()].plug.switch;
            let parts = self.cut_off.parts(old, home);
            self.least += parts.iter().map(|p| u64::from(p.least)).sum::<u64>();
            let known = self.mark();
            let by_outlets = match self.beside {
                Beside::Others => None,
                Beside::All | Beside::Whole => self.by_outlets(to, parts),
            };
            if by_outlets.is_none() {
                self.undo_to(known);
            }
            let Some(plan) = by_outlets.or_else(|| self.by_growth(to, home)) else {
                return Ok(Some(to));
            };
            self.carry_out(to, plan);
        }
        Ok(None)
    }

    /// How many turns the order has taken.
    fn mark(&self) -> Option<Mark> {
        self.order.as_ref().map(Order::mark)
    }

    /// Gives back the turns taken since.
    fn undo_to(&mut self, mark: Option<Mark>) {
        if let (Some(order), Some(mark)) = (&mut self.order, mark) {
            order.undo_to(mark);
        }
    }

    /// Gives each part the first of its ways out that fits.
    fn by_outlets(&mut self, to: To, mut parts: Vec<Part>) -> Option<Plan> {
        let mut entries = self.row(to).to_vec();
        let mut plan = Plan::default();
        if !parts.is_empty() {
            self.behind.resolve(self.old.topology(), &entries);
        }
        while let Some((part, outlets)) = self.cut_off.next(&mut parts, &entries) {
            self.try_outlets(&mut entries, to, &part, &outlets, &mut plan)?;
            self.cut_off.attach(&part);
        }
        Some(plan)
    }

    /// The same for a destination switch, where lanes do not matter: entries changed, and the
    /// least.
    fn mend_switch(&mut self, entries: &mut [u16], home: SwitchId) -> (u64, u64) {
        let mut parts = self.cut_off.parts(entries, home);
        let least = parts.iter().map(|p| u64::from(p.least)).sum();
        let mut changed = 0;
        while let Some((part, outlets)) = self.cut_off.next(&mut parts, entries) {
            changed += outlets[0].apply(entries).len() as u64;
            self.cut_off.attach(&part);
        }
        (changed, least)
    }

    /// Takes the first outlet on which all levels can stay; where packets are stopped first, else
    /// the first on which the paths that cannot keep theirs find another.
    fn try_outlets(
        &mut self,
        entries: &mut [u16],
        to: To,
        part: &Part,
        outlets: &[Outlet],
        plan: &mut Plan,
    ) -> Option<()> {
        let stopped = self.beside == Beside::Whole;
        for relevel in [false, true].into_iter().take(1 + usize::from(stopped)) {
            for outlet in outlets {
                let was = outlet.apply(entries);
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

    /// Whether the paths of a part fit the lanes, those of packets that meet the entries while
    /// they change, too; takes their turns if so.
    fn admit(
        &mut self,
        new: &[u16],
        to: To,
        part: &Part,
        changed: &[(SwitchId, u16)],
        relevel: bool,
        plan: &mut Plan,
    ) -> bool {
        let (known, levels) = (self.mark(), plan.levels.len());
        let meets = self.beside == Beside::All;
        let fits = part.members.iter().all(|&m| self.takes(to, m, relevel, new, &mut plan.levels))
            && (!meets || changed.iter().all(|&(s, _)| self.takes_meeting(to, s, new)));
        if !fits {
            plan.levels.truncate(levels);
            self.undo_to(known);
        }
        fits
    }

    /// Takes the turns of packets that come to `s` by the entries that were and go on by those
    /// that will be: whoever meets one changed entry meets changed ones from there on, as entries
    /// change from the destination on. False when they do not fit.
    fn takes_meeting(&mut self, to: To, s: SwitchId, new: &[u16]) -> bool {
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
        // at most all switches: who never arrived may go round in a circle
        for _ in 0..old.len() {
            let Some(source) = sources.pop() else { break };
            self.add_turns(to, source, None, &port, &mut turns);
            sources.extend(self.behind.of(source));
        }
        self.take(&turns)
    }

    /// Takes the turns of the paths from one switch by the entries `new`; with another level where
    /// theirs does not fit and `relevel` allows it. False when they do not fit.
    fn takes(
        &mut self,
        to: To,
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
            if self.beside == Beside::Whole {
                // packets of the old level come as far as to where they are stopped
                self.add_turns(to, source, None, &stopped, &mut turns);
            }
            if self.take(&turns) {
                moved.push((source, sl));
                return true;
            }
        }
        false
    }

    /// Takes all these turns, or none.
    fn take(&mut self, turns: &[(Held, Held)]) -> bool {
        let known = self.mark();
        let taken = self.order.as_mut().is_none_or(|order| order.take(turns.iter().copied()));
        if !taken {
            self.undo_to(known);
        }
        taken
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
            let (port, sl) = (port(), level.unwrap_or(sl));
            each_turn(self.old, self.on, port, (source, start), sl, |a, b| turns.push((a, b)));
        }
    }

    /// Writes down what changes for a destination.
    fn carry_out(&mut self, to: To, plan: Plan) {
        if let Some(order) = &mut self.order {
            order.settle();
        }
        let was = self.row(to);
        self.mended += u64::from(!(plan.entries.is_empty() && plan.levels.is_empty()));
        self.in_order |= plan.entries.len() > 1;
        self.changes.extend(plan.entries.into_iter().map(|(switch, port)| {
            let port = (was[switch.ix()], port);
            Change { to, switch, port }
        }));
        self.stops.extend(plan.stops.into_iter().map(|s| (to, s)));
        self.levels.extend(plan.levels.into_iter().map(|(source, level)| {
            // levels change where they are by switch alone, and there one path has one
            let was = self.old.starts(to.0, to.1, source).first().map_or(0, |start| start.0);
            LevelChange { to, source, level: (was, level) }
        }));
    }

    fn safety(&self) -> Safety {
        if self.order.is_none() {
            return Safety::Unknown;
        }
        match self.beside {
            Beside::Others => {
                let n = self.mended;
                let name = if n == 1 { "destination has" } else { "destinations have" };
                Safety::Draining(format!(
                    "{n} {name} new routes: the old and new routes together would have a cycle on \
                     the old lanes"
                ))
            }
            _ if self.waits => Safety::InSteps,
            _ if self.in_order => Safety::InOrder,
            _ => Safety::AnyOrder,
        }
    }
}

/// Calls `visit` for the pairs of (channel, lane) that a packet of level `sl` holds one after the
/// other. Who came over a cable before it failed holds it no more for anybody.
fn each_turn(
    old: &Routing,
    on: &Topology,
    port: impl FnMut(SwitchId) -> u16,
    (source, start): (SwitchId, u16),
    sl: u8,
    mut visit: impl FnMut(Held, Held),
) {
    let hops = Walk::new(on, port, source).on_lanes(old.lanes().sl2vl(), sl, start);
    let mut held: Option<Held> = None;
    // it may come to a switch twice, by an old entry and by a new one
    for (hop, lane) in hops.take(2 * on.switches().len() + 1) {
        let wanted = on.link_is_up(hop.channel.link()).then_some((hop.channel, lane));
        if let (Some(held), Some(wanted)) = (held, wanted) {
            visit(held, wanted);
        }
        held = wanted;
    }
}
