//! The channel dependency graph, lane by lane.
//!
//! Source: Dally & Seitz 1987. A vertex is a (channel, lane) pair between switches; a path that
//! takes one and then another makes the first depend on the second. Endpoints always accept
//! packets, so channels to and from them cannot be on a cycle and are left out.

use super::ChannelDependencyNumbering;
use crate::Topology;
use crate::tables::{
    DestinationBundles, RouteStartSwitches, RouteWalk, Routing, ServiceLevels, Sl2VlMapping,
    TerminalNextHops,
};
use base::{ChannelId, Interrupted, ProgressWatch, SwitchId, TerminalId};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// A channel that a packet holds, and the lane on it.
pub type HeldLane = (ChannelId, u8);

/// Calls `visit` for every turn of every path from endpoints to these destinations. A turn that
/// many paths share is visited less often. O(switches) for each bundle of destinations, and the
/// paths that differ within it.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn each_channel_turn(
    routing: &Routing,
    destinations: impl Iterator<Item = (u32, TerminalId)>,
    watch: &dyn ProgressWatch,
    mut visit: impl FnMut(ChannelId, ChannelId),
) -> Result<(), Interrupted> {
    let on: &Topology = routing.topology();
    let (mut hops, mut walked) =
        (TerminalNextHops::default(), vec![usize::MAX; on.switches().len()]);
    let (mut walk, mut done) = (0, 0);
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    let mut bundles = DestinationBundles::new(routing, destinations);
    while let Some(bundle) = bundles.next_bundle() {
        watch.tick("deadlock", done, total)?;
        done += bundle.terminals.len() as u64;
        for (i, &t) in bundle.terminals.iter().enumerate() {
            let tree = routing.tree(bundle.layer, t);
            let sources = if i == 0 {
                hops.resolve(on, tree);
                bundle.sources
            } else {
                hops.resolve_at(on, tree, bundle.open);
                bundle.differing
            };
            walk += 1;
            for &(source, _) in sources {
                let mut at = source.ix();
                while std::mem::replace(&mut walked[at], walk) != walk
                    && let Some((from, to, next)) = hops.turn(at)
                {
                    visit(from, to);
                    at = next;
                }
            }
        }
    }
    Ok(())
}

/// The ends of a path and its layer, which identify it.
#[derive(Debug, Clone, Copy)]
pub struct PathEnds {
    /// The switch at which the path starts.
    pub source: SwitchId,
    /// The layer of the path.
    pub layer: u32,
    /// The terminal to which the path leads.
    pub to: TerminalId,
}

/// Calls `visit` for every turn of every path from endpoints to these destinations. Where several
/// paths end with the same turns on the same lanes, only the first is visited to its end. O(turns
/// of all paths) at most.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn each_turn(
    routing: &Routing,
    destinations: impl Iterator<Item = (u32, TerminalId)>,
    watch: &dyn ProgressWatch,
    mut visit: impl FnMut(HeldLane, HeldLane, PathEnds),
) -> Result<(), Interrupted> {
    let on: &Topology = routing.topology();
    let uniform = matches!(routing.lanes().sl2vl(), Sl2VlMapping::Uniform(_));
    let states = if uniform { on.switches().len() } else { on.links().len() * 2 };
    let mut stamp = vec![u32::MAX; states * 16];
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    let mut starts = RouteStartSwitches::new(routing);
    let mut walk = 0;
    let mut bundles = DestinationBundles::new(routing, destinations);
    while let Some(bundle) = bundles.next_bundle() {
        let layer = bundle.layer;
        for (i, &to) in bundle.terminals.iter().enumerate() {
            watch.tick("deadlock", walk.into(), total)?;
            walk += 1;
            let tree = routing.tree(layer, to);
            let sl2vl = routing.lanes().sl2vl();
            // where all paths have the same level, an equal path takes the same lanes
            let known = i > 0 && starts.are_fixed();
            for &(source, _) in if known { bundle.differing } else { bundle.sources } {
                for &(sl, start_port) in starts.of(layer, to, source) {
                    let mut held: Option<HeldLane> = None;
                    let hops = RouteWalk::new(on, tree, source).on_lanes(sl2vl, sl, start_port);
                    for (hop, lane) in hops {
                        let wanted = (hop.channel, lane);
                        if let Some(held) = held {
                            visit(held, wanted, PathEnds { source, layer, to });
                        }
                        // the lanes of the rest of the path depend on this state
                        let by_port = || held.map(|(channel, _): HeldLane| channel.0 as usize);
                        if let Some(state) = if uniform { Some(hop.at.ix()) } else { by_port() } {
                            let seen = &mut stamp[state * 16 + usize::from(sl & 15)];
                            if std::mem::replace(seen, walk) == walk {
                                break;
                            }
                        }
                        held = Some(wanted);
                    }
                }
            }
        }
    }
    Ok(())
}

/// For each dependency, the lanes on which paths to these destinations use it (bit i: lane i).
/// Lanes must depend on service levels alone.
///
/// All paths through a switch to one destination continue alike. So a switch's turn is used on the
/// lanes of all paths through it, and a path need not be followed beyond a switch that another path
/// has reached on the same lane. O(paths).
fn lanes_through(
    routing: &Routing,
    table: &[u8; 16],
    numbering: &ChannelDependencyNumbering,
    destinations: impl Iterator<Item = (u32, TerminalId)>,
    watch: &dyn ProgressWatch,
) -> Result<Vec<u16>, Interrupted> {
    let on: &Topology = routing.topology();
    let switches = on.switches().len();
    let lane = |sl: u8| 1_u16 << table[usize::from(sl & 15)];
    let mut all = vec![0_u16; numbering.count()];
    if let ServiceLevels::Same(sl) = routing.lanes().levels() {
        let note = |from, to| all[numbering.of(from, to)] = lane(*sl);
        each_channel_turn(routing, destinations, watch, note)?;
        return Ok(all);
    }
    let (mut hops, mut through) = (TerminalNextHops::default(), vec![0_u16; switches]);
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    let mut bundles = DestinationBundles::new(routing, destinations);
    let mut done = 0;
    while let Some(bundle) = bundles.next_bundle() {
        for (i, &to) in bundle.terminals.iter().enumerate() {
            watch.tick("deadlock", done, total)?;
            done += 1;
            let tree = routing.tree(bundle.layer, to);
            if i == 0 {
                hops.resolve(on, tree);
            } else {
                hops.resolve_at(on, tree, bundle.open);
            }
            through.fill(0);
            let row = (bundle.layer as usize * on.terminals().len() + to.ix()) * switches;
            for &(source, _) in bundle.sources {
                let own = match routing.lanes().levels() {
                    ServiceLevels::Same(sl) => lane(*sl),
                    ServiceLevels::BySwitch(levels) => lane(levels[row + source.ix()]),
                    ServiceLevels::ByTerminal(_) => {
                        let starts = routing.starts(bundle.layer, to, source);
                        starts.iter().fold(0, |lanes, (sl, _)| lanes | lane(*sl))
                    }
                };
                let mut at = source.ix();
                while through[at] & own != own && hops.channel[at] != TerminalNextHops::NONE {
                    through[at] |= own;
                    at = hops.next[at] as usize;
                }
            }
            for (v, lanes) in through.iter().enumerate().filter(|(_, lanes)| **lanes != 0) {
                if let Some((from, to, _)) = hops.turn(v) {
                    all[numbering.of(from, to)] |= lanes;
                }
            }
        }
    }
    Ok(all)
}

/// The channel dependency graph, lane by lane: which (channel, lane) pairs wait for which others.
pub struct LaneDependencyGraph<'a> {
    on: &'a Topology,
    lanes: usize,
    numbering: ChannelDependencyNumbering,
    /// For each pair, a bit for each pair that it can wait for; [`LaneDependencyGraph::row`] says
    /// where they are.
    bits: Vec<AtomicU64>,
}

impl<'a> LaneDependencyGraph<'a> {
    /// The graph of all paths of `routing` to these of its destinations.
    ///
    /// O(hops of all switches to each destination) where lanes depend on service levels alone,
    /// otherwise O(turns of all paths).
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop.
    pub fn new(
        routing: &'a Routing,
        destinations: impl Iterator<Item = (u32, TerminalId)>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, Interrupted> {
        let lanes = usize::from(routing.lanes().count());
        let mut graph = Self::without_turns(routing.topology(), lanes);
        match routing.lanes().sl2vl() {
            Sl2VlMapping::Uniform(table) if lanes <= 16 => {
                let through = lanes_through(routing, table, &graph.numbering, destinations, watch)?;
                graph.insert_alike(&through);
            }
            _ => each_turn(routing, destinations, watch, |from, to, _| graph.insert(from, to))?,
        }
        Ok(graph)
    }

    /// The graph without dependencies.
    pub fn without_turns(on: &'a Topology, lanes: usize) -> Self {
        let numbering = ChannelDependencyNumbering::new(on);
        let words = (numbering.count() * lanes * lanes).div_ceil(64);
        let bits = (0..words).map(|_| AtomicU64::new(0)).collect();
        Self { on, lanes, numbering, bits }
    }

    /// The range of the bits of a pair, sorted by the channel waited for, then by its lane.
    fn row(&self, (channel, lane): HeldLane) -> Range<usize> {
        let next = self.numbering.of_channel(channel);
        let begin = (next.start * self.lanes + usize::from(lane) * next.len()) * self.lanes;
        begin..begin + next.len() * self.lanes
    }

    /// Adds the dependency of `from` on `to`, whose channel must leave the head of `from`'s.
    /// Several threads may call this at the same time.
    pub fn insert(&self, from: HeldLane, to: HeldLane) {
        let place = self.numbering.of(from.0, to.0) - self.numbering.of_channel(from.0).start;
        let bit = self.row(from).start + place * self.lanes + usize::from(to.1);
        let (word, mask) = (&self.bits[bit / 64], 1 << (bit % 64));
        if word.load(Ordering::Relaxed) & mask == 0 {
            word.fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Adds dependencies between channels on the same lane: bit i of `through[number]` is lane i
    /// for the dependency of that number.
    fn insert_alike(&mut self, through: &[u16]) {
        for channel in (0..self.on.links().len() * 2).map(ChannelId::from) {
            for (place, number) in self.numbering.of_channel(channel).enumerate() {
                let mut left = through[number];
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    left &= left - 1;
                    let bit = self.row((channel, lane as u8)).start + place * self.lanes + lane;
                    *self.bits[bit / 64].get_mut() |= 1 << (bit % 64);
                }
            }
        }
    }

    /// The number of distinct dependencies.
    pub fn dependencies(&self) -> u64 {
        self.bits.iter().map(|b| u64::from(b.load(Ordering::Relaxed).count_ones())).sum()
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The pairs that `from` waits for.
    pub fn wanted(&self, from: HeldLane) -> impl Iterator<Item = HeldLane> + '_ {
        let next = self.on.graph().channels(self.on.head(from.0).switch.ix());
        let (row, lanes) = (self.row(from), self.lanes as u32);
        let words = row.start / 64..row.end.div_ceil(64);
        words.flat_map(move |word| {
            let (begin, end) = (row.start.max(word * 64), row.end.min((word + 1) * 64));
            let mut left = self.bits[word].load(Ordering::Relaxed) & u64::MAX << (begin % 64);
            left &= u64::MAX >> ((64 - end % 64) % 64);
            let first = (word * 64) as i64 - row.start as i64;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                let at = (first + i64::from(bit)) as u32;
                Some((next[(at / lanes) as usize], (at % lanes) as u8))
            })
        })
    }

    /// All pairs of working channels, by switch and port, lane by lane.
    pub fn vertices(&self) -> impl Iterator<Item = HeldLane> + '_ {
        let switches = 0..self.on.graph().switches();
        let channels = switches.flat_map(|s| self.on.graph().channels(s).iter().copied());
        channels.flat_map(|c| (0..self.lanes as u8).map(move |l| (c, l)))
    }

    /// The index of a pair in the result of [`LaneDependencyGraph::number`]: `channel * lanes +
    /// lane`.
    pub fn ix(&self, (channel, lane): HeldLane) -> usize {
        channel.0 as usize * self.lanes + usize::from(lane)
    }

    /// A topological number for every pair (Kahn). If there is a cycle, the result is instead, for
    /// each pair, whether it is on a cycle or behind one. O(dependencies).
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop.
    pub fn number(
        &self,
        watch: &dyn ProgressWatch,
    ) -> Result<Result<Vec<u32>, Vec<bool>>, Interrupted> {
        let tick = |done: usize| match done % 1024 {
            0 => watch.tick("deadlock", done as u64, self.on.links().len() as u64 * 2),
            _ => Ok(()),
        };
        let size = self.on.graph().links() * 2 * self.lanes;
        let mut waiting_on = vec![0_u32; size];
        for (i, from) in self.vertices().enumerate() {
            tick(i)?;
            for to in self.wanted(from) {
                waiting_on[self.ix(to)] += 1;
            }
        }
        let mut ready: Vec<HeldLane> =
            self.vertices().filter(|&v| waiting_on[self.ix(v)] == 0).collect();
        let mut number = vec![0_u32; size];
        let mut left: Vec<bool> = vec![false; size];
        let mut unnumbered = 0_usize;
        for v in self.vertices() {
            left[self.ix(v)] = true;
            unnumbered += 1;
        }
        let mut counter = 0;
        let mut head = 0;
        while let Some(&v) = ready.get(head) {
            tick(head)?;
            head += 1;
            number[self.ix(v)] = counter;
            left[self.ix(v)] = false;
            counter += 1;
            for to in self.wanted(v) {
                let n = &mut waiting_on[self.ix(to)];
                *n -= 1;
                if *n == 0 {
                    ready.push(to);
                }
            }
        }
        Ok(if head == unnumbered { Ok(number) } else { Err(left) })
    }

    /// A short cycle among the pairs that could not be numbered.
    ///
    /// Every such pair has another before it, so walking backwards must close a cycle; a search
    /// from each of its members then finds the shortest path back to that member.
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop.
    pub fn cycle(
        &self,
        left: &[bool],
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<HeldLane>, Interrupted> {
        let mut before: HashMap<HeldLane, HeldLane> = HashMap::new();
        for (i, from) in self.vertices().filter(|&v| left[self.ix(v)]).enumerate() {
            if i.is_multiple_of(256) {
                watch.tick("deadlock", i as u64, left.len() as u64)?;
            }
            for to in self.wanted(from) {
                before.entry(to).or_insert(from);
            }
        }
        let mut at = self.vertices().find(|&v| left[self.ix(v)]).expect("a pair is left");
        let mut order = HashMap::new();
        let mut walk = Vec::new();
        while !order.contains_key(&at) {
            order.insert(at, walk.len());
            walk.push(at);
            at = before[&at];
        }
        let on_cycle = &walk[order[&at]..];
        let mut shortest: Option<Vec<HeldLane>> = None;
        for &start in on_cycle.iter().take(64) {
            let path = self.shortest_path_back(start, left, watch)?;
            let is_shorter =
                |path: &Vec<HeldLane>| shortest.as_ref().is_none_or(|s| path.len() < s.len());
            if let Some(path) = path.filter(is_shorter) {
                shortest = Some(path);
            }
        }
        Ok(shortest.expect("every member of a cycle can come back to itself"))
    }

    fn shortest_path_back(
        &self,
        start: HeldLane,
        left: &[bool],
        watch: &dyn ProgressWatch,
    ) -> Result<Option<Vec<HeldLane>>, Interrupted> {
        let mut before: HashMap<HeldLane, HeldLane> = HashMap::new();
        let mut queue = vec![start];
        let mut head = 0;
        while let Some(&v) = queue.get(head) {
            if head % 256 == 0 {
                watch.tick("deadlock", head as u64, left.len() as u64)?;
            }
            head += 1;
            for to in self.wanted(v).filter(|&to| left[self.ix(to)]) {
                if to == start {
                    let mut cycle = vec![v];
                    while cycle[cycle.len() - 1] != start {
                        cycle.push(before[&cycle[cycle.len() - 1]]);
                    }
                    cycle.reverse();
                    return Ok(Some(cycle));
                }
                if to != start && !before.contains_key(&to) {
                    before.insert(to, v);
                    queue.push(to);
                }
            }
        }
        Ok(None)
    }
}
