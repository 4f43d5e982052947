//! Can packets wait for one another in a circle? The channel dependency graph, lane by lane.
//!
//! Source: Dally & Seitz 1987. A vertex is a (channel, lane) pair between switches; a path that
//! takes one and then another makes the first depend on the second. Endpoints sink what they get,
//! so channels to and from them cannot be on a circle and are left out.

use super::Verdict;
use crate::dependencies::Dependencies;
use crate::lanes::order::{Held, Order};
use crate::lanes::paths::{Hops, Rows};
use crate::network::Topology;
use crate::routing::{Routing, ServiceLevels, Sl2Vl};
use base::{ChannelId, Interrupted, SwitchId, TerminalId, Watch};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

/// Witness: a number for every (channel, lane) pair that rises along every path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering {
    /// Lanes counted, `0..lanes`.
    pub lanes: u8,
    /// Entry `channel * lanes + lane`.
    pub number: Vec<u32>,
    /// Distinct dependencies between pairs.
    pub dependencies: u64,
}

/// One edge of a circle of waiting packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The channel held, and its lane.
    pub held: (ChannelId, u8),
    /// Switch it leaves and port, switch it enters, by name.
    pub channel: String,
    /// A route that holds it while it wants the next channel of the circle.
    pub route: String,
}

/// Counterexample: channels, each held by a route that waits for the next; the last for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// The circle.
    pub waits: Vec<Wait>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, wait) in self.waits.iter().enumerate() {
            let next = &self.waits[(i + 1) % self.waits.len()];
            if i > 0 {
                writeln!(f)?;
            }
            let (here, there) = (&wait.channel, &next.channel);
            write!(f, "{here} waits for {there} ({})", wait.route)?;
        }
        Ok(())
    }
}

/// Builds the dependency graph of all paths and numbers it, or finds a circle.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub(super) fn check(
    routing: &Routing,
    watch: &dyn Watch,
) -> Result<Verdict<Numbering, Cycle>, Interrupted> {
    let graph = LaneGraph::new(routing, routing.destinations(), watch)?;
    let dependencies = graph.bits.iter().map(|b| u64::from(b.count_ones())).sum();
    match graph.number() {
        Ok(number) => {
            let lanes = routing.lanes().count();
            Ok(Verdict::Holds(Numbering { lanes, number, dependencies }))
        }
        Err(left) => Ok(Verdict::Fails(explain(routing, &graph.circle(&left), watch)?)),
    }
}

/// Whether [`check`] would hold if all went on one lane, without the evidence; `rows` are those of
/// `routing`.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub(crate) fn is_free(
    routing: &Routing,
    rows: &Rows,
    watch: &dyn Watch,
) -> Result<bool, Interrupted> {
    let on: &Topology = routing.topology();
    let (sources, switches) = (routing.sources(), on.switches().len());
    let mut graph = LaneGraph::without_turns(on, 1);
    let (mut hops, mut walked) = (Hops::default(), vec![usize::MAX; switches]);
    for (i, &row) in rows.distinct.iter().enumerate() {
        if i.is_multiple_of(64) {
            watch.tick("deadlock", i as u64, rows.distinct.len() as u64)?;
        }
        hops.resolve(on, &routing.next()[row * switches..(row + 1) * switches]);
        let plane = on.plane_of(TerminalId::from(row % on.terminals().len()));
        for &(source, _) in sources.of_plane(plane) {
            let mut at = source.ix();
            while std::mem::replace(&mut walked[at], i) != i
                && let Some((from, to, next)) = hops.turn(at)
            {
                graph.insert((from, 0), (to, 0));
                at = next;
            }
        }
    }
    Ok(graph.number().is_ok())
}

/// The turns of all paths of `routing` to these of its destinations in an order that can take more
/// of them, those from or to a channel that `lost` names left out; `None` when they have a cycle.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub(crate) fn order_of<'a>(
    routing: &Routing,
    destinations: impl Iterator<Item = (u32, TerminalId)>,
    dependencies: &'a Dependencies,
    lost: impl Fn(ChannelId) -> bool,
    watch: &dyn Watch,
) -> Result<Option<Order<'a>>, Interrupted> {
    let graph = LaneGraph::new(routing, destinations, watch)?;
    let Ok(mut number) = graph.number() else { return Ok(None) };
    // pairs that no working channel has come last, so that no two have one place
    let mut place: Vec<u32> = (0..number.len() as u32).collect();
    let is_vertex = |v: usize| graph.on.link_is_up(ChannelId::from(v / graph.lanes).link());
    place.sort_by_key(|&v| (!is_vertex(v as usize), number[v as usize]));
    for (position, v) in (0..).zip(place) {
        number[v as usize] = position;
    }
    let mut order = Order::with_positions(dependencies, graph.lanes, &number);
    for from in graph.vertices().filter(|v| !lost(v.0)) {
        for to in graph.wanted(from).filter(|to| !lost(to.0)) {
            assert!(order.take_turn(from, to), "the numbers rise along every turn");
        }
        order.settle();
    }
    Ok(Some(order))
}

/// A path, named by where it starts and ends.
#[derive(Clone, Copy)]
struct PathName {
    source: SwitchId,
    layer: u32,
    to: TerminalId,
}

/// Calls `visit` for every turn of every path from endpoints to these destinations; what is left of
/// a path may be left out after its first visit.
fn each_turn(
    routing: &Routing,
    destinations: impl Iterator<Item = (u32, TerminalId)>,
    watch: &dyn Watch,
    mut visit: impl FnMut(Held, Held, PathName),
) -> Result<(), Interrupted> {
    let on: &Topology = routing.topology();
    let sources = routing.sources();
    let uniform = matches!(routing.lanes().sl2vl(), Sl2Vl::Uniform(_));
    let states = if uniform { on.switches().len() } else { on.links().len() * 2 };
    let mut stamp = vec![u32::MAX; states * 16];
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    for (i, (layer, to)) in destinations.enumerate() {
        if i.is_multiple_of(1024) {
            watch.tick("deadlock", i as u64, total)?;
        }
        let tree = routing.tree(layer, to);
        for &(source, _) in sources.of_plane(on.plane_of(to)) {
            for (sl, start_port) in routing.starts(layer, to, source) {
                let (mut at, mut in_port) = (source, start_port);
                let mut held: Option<Held> = None;
                while let Some((channel, next)) = routing.step(tree, at) {
                    let out_port = tree[at.ix()];
                    let wanted = (channel, routing.lanes().sl2vl().lane(at, in_port, out_port, sl));
                    if let Some(held) = held {
                        visit(held, wanted, PathName { source, layer, to });
                    }
                    // what the lanes of the rest of the path depend on
                    let by_port = || held.map(|(channel, _): Held| channel.0 as usize);
                    if let Some(state) = if uniform { Some(at.ix()) } else { by_port() } {
                        let seen = &mut stamp[state * 16 + usize::from(sl & 15)];
                        if std::mem::replace(seen, i as u32) == i as u32 {
                            break;
                        }
                    }
                    held = Some(wanted);
                    in_port = if uniform { 0 } else { on.head(channel).port };
                    at = next;
                }
            }
        }
    }
    Ok(())
}

/// By dependency, the lanes on which these destinations' paths take it (bit i: lane i) where lanes
/// depend on service levels alone.
///
/// All paths over a switch to one destination go on together, so its turn is taken on the lanes
/// of all that come through, and a path ends where others of its lane have been. O(paths).
fn lanes_through(
    routing: &Routing,
    table: &[u8; 16],
    numbering: &Dependencies,
    destinations: impl Iterator<Item = (u32, TerminalId)>,
    watch: &dyn Watch,
) -> Result<Vec<u16>, Interrupted> {
    let on: &Topology = routing.topology();
    let (sources, switches) = (routing.sources(), on.switches().len());
    let lane = |sl: u8| 1_u16 << table[usize::from(sl & 15)];
    let mut all = vec![0_u16; numbering.count()];
    let (mut hops, mut through) = (Hops::default(), vec![0_u16; switches]);
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    for (i, (layer, to)) in destinations.enumerate() {
        if i.is_multiple_of(1024) {
            watch.tick("deadlock", i as u64, total)?;
        }
        hops.resolve(on, routing.tree(layer, to));
        through.fill(0);
        let row = (layer as usize * on.terminals().len() + to.ix()) * switches;
        for &(source, _) in sources.of_plane(on.plane_of(to)) {
            let own = match routing.lanes().levels() {
                ServiceLevels::Same(sl) => lane(*sl),
                ServiceLevels::BySwitch(levels) => lane(levels[row + source.ix()]),
                ServiceLevels::ByTerminal(_) => {
                    let starts = routing.starts(layer, to, source);
                    starts.iter().fold(0, |lanes, (sl, _)| lanes | lane(*sl))
                }
            };
            let mut at = source.ix();
            while through[at] & own != own && hops.channel[at] != Hops::NONE {
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
    Ok(all)
}

struct LaneGraph<'a> {
    on: &'a Topology,
    lanes: usize,
    numbering: Dependencies,
    /// A bit for each pair and each that it can wait for; [`LaneGraph::row`] tells where.
    bits: Vec<u64>,
}

impl<'a> LaneGraph<'a> {
    fn new(
        routing: &'a Routing,
        destinations: impl Iterator<Item = (u32, TerminalId)>,
        watch: &dyn Watch,
    ) -> Result<Self, Interrupted> {
        let lanes = usize::from(routing.lanes().count());
        let mut graph = Self::without_turns(routing.topology(), lanes);
        match routing.lanes().sl2vl() {
            Sl2Vl::Uniform(table) if lanes <= 16 => {
                let through = lanes_through(routing, table, &graph.numbering, destinations, watch)?;
                graph.insert_alike(&through);
            }
            _ => each_turn(routing, destinations, watch, |from, to, _| graph.insert(from, to))?,
        }
        Ok(graph)
    }

    fn without_turns(on: &'a Topology, lanes: usize) -> Self {
        let numbering = Dependencies::new(on);
        let bits = vec![0_u64; (numbering.count() * lanes * lanes).div_ceil(64)];
        Self { on, lanes, numbering, bits }
    }

    /// Where the bits of a pair begin and end: by channel wanted, then its lane.
    fn row(&self, (channel, lane): Held) -> Range<usize> {
        let next = self.numbering.of_channel(channel);
        let begin = (next.start * self.lanes + usize::from(lane) * next.len()) * self.lanes;
        begin..begin + next.len() * self.lanes
    }

    fn insert(&mut self, from: Held, to: Held) {
        let place = self.numbering.of(from.0, to.0) - self.numbering.of_channel(from.0).start;
        self.set(self.row(from).start + place * self.lanes + usize::from(to.1));
    }

    /// Inserts dependencies from a lane to the same lane: of each number, on these lanes.
    fn insert_alike(&mut self, through: &[u16]) {
        for channel in (0..self.on.links().len() * 2).map(ChannelId::from) {
            for (place, number) in self.numbering.of_channel(channel).enumerate() {
                let mut left = through[number];
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    left &= left - 1;
                    self.set(self.row((channel, lane as u8)).start + place * self.lanes + lane);
                }
            }
        }
    }

    fn set(&mut self, bit: usize) {
        self.bits[bit / 64] |= 1 << (bit % 64);
    }

    /// The pairs that depend on nothing but what `from` waits for.
    fn wanted(&self, from: Held) -> impl Iterator<Item = Held> + '_ {
        let next = self.on.graph().channels(self.on.head(from.0).switch.ix());
        let (row, lanes) = (self.row(from), self.lanes as u32);
        let words = row.start / 64..row.end.div_ceil(64);
        words.flat_map(move |word| {
            let (begin, end) = (row.start.max(word * 64), row.end.min((word + 1) * 64));
            let mut left = self.bits[word] & u64::MAX << (begin % 64);
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

    fn vertices(&self) -> impl Iterator<Item = Held> + '_ {
        let switches = 0..self.on.graph().switches();
        let channels = switches.flat_map(|s| self.on.graph().channels(s).iter().copied());
        channels.flat_map(|c| (0..self.lanes as u8).map(move |l| (c, l)))
    }

    fn ix(&self, (channel, lane): Held) -> usize {
        channel.0 as usize * self.lanes + usize::from(lane)
    }

    /// A topological number for every pair (Kahn), or which pairs are on or behind a circle.
    fn number(&self) -> Result<Vec<u32>, Vec<bool>> {
        let size = self.on.graph().links() * 2 * self.lanes;
        let mut waiting_on = vec![0_u32; size];
        for from in self.vertices() {
            for to in self.wanted(from) {
                waiting_on[self.ix(to)] += 1;
            }
        }
        let mut ready: Vec<Held> =
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
        if head == unnumbered { Ok(number) } else { Err(left) }
    }

    /// A short circle among the pairs that could not be numbered.
    ///
    /// Every such pair has another before it, so walking backwards must close a circle; a search
    /// from each of its members then finds the shortest way back to that member.
    fn circle(&self, left: &[bool]) -> Vec<Held> {
        let mut before: HashMap<Held, Held> = HashMap::new();
        for from in self.vertices().filter(|&v| left[self.ix(v)]) {
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
        let on_circle = &walk[order[&at]..];
        on_circle
            .iter()
            .take(64)
            .filter_map(|&start| self.shortest_way_back(start, left))
            .min_by_key(Vec::len)
            .expect("every member of a circle can come back to itself")
    }

    fn shortest_way_back(&self, start: Held, left: &[bool]) -> Option<Vec<Held>> {
        let mut before: HashMap<Held, Held> = HashMap::new();
        let mut queue = vec![start];
        let mut head = 0;
        while let Some(&v) = queue.get(head) {
            head += 1;
            for to in self.wanted(v).filter(|&to| left[self.ix(to)]) {
                if to == start {
                    let mut circle = vec![v];
                    while circle[circle.len() - 1] != start {
                        circle.push(before[&circle[circle.len() - 1]]);
                    }
                    circle.reverse();
                    return Some(circle);
                }
                if to != start && !before.contains_key(&to) {
                    before.insert(to, v);
                    queue.push(to);
                }
            }
        }
        None
    }
}

/// Puts names to a circle, and finds a route for each of its waits.
fn explain(routing: &Routing, circle: &[Held], watch: &dyn Watch) -> Result<Cycle, Interrupted> {
    let on: &Topology = routing.topology();
    let wants: HashMap<Held, (usize, Held)> =
        (0..circle.len()).map(|i| (circle[i], (i, circle[(i + 1) % circle.len()]))).collect();
    let mut routes: Vec<Option<PathName>> = vec![None; circle.len()];
    each_turn(routing, routing.destinations(), watch, |from, to, path| {
        if let Some(&(i, wanted)) = wants.get(&from)
            && wanted == to
            && routes[i].is_none()
        {
            routes[i] = Some(path);
        }
    })?;
    let endpoint = |t: TerminalId| {
        let terminal = &on.terminals()[t.ix()];
        on.endpoints()[terminal.endpoint.ix()].name.as_str()
    };
    let describe = |path: PathName| {
        let from = on.terminals_on(path.source).iter().find(|&&t| on.terminal_is_up(t));
        let from = from.map_or("?", |&t| endpoint(t));
        let layer = if path.layer > 0 { format!(", layer {}", path.layer) } else { String::new() };
        format!("route {from} to {}{layer}", endpoint(path.to))
    };
    let waits = circle
        .iter()
        .zip(routes)
        .map(|(&(channel, lane), route)| {
            let (tail, head) = (on.tail(channel), on.head(channel));
            let (a, b) =
                (&on.switches()[tail.switch.ix()].name, &on.switches()[head.switch.ix()].name);
            Wait {
                held: (channel, lane),
                channel: format!("{a}[{}] > {b}, lane {lane}", tail.port),
                route: route.map_or_else(String::new, describe),
            }
        })
        .collect();
    Ok(Cycle { waits })
}
