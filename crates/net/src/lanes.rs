//! Virtual lanes for given routes: cycles of the channel dependency graph are broken by moving paths.
//!
//! Source: Dally & Seitz, "Deadlock-free message routing in multiprocessor interconnection
//! networks", 1987 (a lane is free of deadlock when its channel dependency graph has no cycle);
//! Domke, Hoefler, Nagel, IPDPS 2011 (paths are moved lane by lane, those on light dependencies
//! first); Eades, Lin, Smyth, "A fast and effective heuristic for the feedback arc set problem",
//! 1993 (which dependencies to give up).
//!
//! Each lane orders all channels; a path stays when every turn it makes goes forward in that order.
//! Because the second lane may also use the first one's order reversed, two lanes always suffice
//! when no path has more than two hops: its single turn is forward in one of the two.

use crate::network::Topology;
use crate::routing::{Lanes, RouteError, Routing, ServiceLevels, Sl2Vl};
use base::{ChannelId, Refusal, Watch};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Numbers the possible dependencies of a network: from a channel to each channel that leaves the
/// switch at its head.
pub struct Dependencies {
    first: Vec<u32>,
    slot: Vec<u32>,
}

impl Dependencies {
    /// The numbering for `on`. O(channels).
    ///
    /// # Panics
    /// When there are 2^32 possible dependencies or more.
    pub fn new(on: &Topology) -> Self {
        let graph = on.graph();
        let channels = graph.links() * 2;
        let mut slot = vec![u32::MAX; channels];
        for s in 0..graph.switches() {
            for (i, c) in graph.channels(s).iter().enumerate() {
                slot[c.0 as usize] = i as u32;
            }
        }
        let mut first = Vec::with_capacity(channels + 1);
        let mut total = 0_usize;
        first.push(0);
        for c in 0..channels {
            if slot[c] != u32::MAX {
                total += graph.degree(on.head(ChannelId::from(c)).switch.ix());
            }
            first.push(u32::try_from(total).expect("fewer than 2^32 dependencies"));
        }
        Self { first, slot }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.first[self.first.len() - 1] as usize
    }

    /// The number of the dependency of `from` on `to`; `to` must leave the head of `from`.
    #[inline]
    pub fn of(&self, from: ChannelId, to: ChannelId) -> usize {
        (self.first[from.0 as usize] + self.slot[to.0 as usize]) as usize
    }
}

/// Spreads the routes over as few lanes as the heuristic finds, service level = lane.
///
/// O(lanes * (hops of all routes + dependencies * log dependencies)).
///
/// # Errors
/// When `max_lanes` lanes are not enough, or `watch` says stop.
pub fn break_cycles(
    routing: Routing,
    max_lanes: u8,
    watch: &dyn Watch,
) -> Result<Routing, RouteError> {
    let on = routing.topology().clone();
    let dependencies = Dependencies::new(&on);
    let mut lane_of = vec![0_u8; routing.next().len()];
    let mut previous: Option<Vec<u32>> = None;
    for lane in 0..max_lanes {
        watch.tick("lanes", lane.into(), max_lanes.into())?;
        let mut uses = vec![0_u32; dependencies.count()];
        each_path(&routing, &lane_of, lane, |turns| {
            turns.for_each(|(from, to)| uses[dependencies.of(from, to)] += 1);
        });
        let mut position = feedback_order(&on, &dependencies, &uses);
        if let Some(last) = previous {
            let reversed: Vec<u32> = last.iter().map(|p| u32::MAX - p).collect();
            let left = |order: &[u32]| paths_against(&routing, &lane_of, lane, order);
            if left(&reversed) < left(&position) {
                position = reversed;
            }
        }
        let moved = move_paths(&routing, &mut lane_of, lane, &position);
        if moved == 0 {
            let levels = match lane {
                0 => ServiceLevels::Same(0),
                _ => ServiceLevels::BySwitch(lane_of),
            };
            return Ok(routing.with_lanes(Lanes::new(levels, Sl2Vl::modulo(lane + 1))));
        }
        previous = Some(position);
    }
    let why = format!("{max_lanes} lanes do not make these routes deadlock-free");
    Err(Refusal::new("max_lanes", why, "allow more lanes (up to 15), or use another engine").into())
}

/// The number of paths on `lane` that make a turn against `position`.
fn paths_against(routing: &Routing, lane_of: &[u8], lane: u8, position: &[u32]) -> u64 {
    let mut against = 0;
    each_path(routing, lane_of, lane, |mut turns| {
        against += u64::from(turns.any(|(a, b)| position[a.0 as usize] >= position[b.0 as usize]));
    });
    against
}

/// Moves the paths on `lane` that make a turn against `position` to the next lane; their number.
fn move_paths(routing: &Routing, lane_of: &mut [u8], lane: u8, position: &[u32]) -> u64 {
    let mut leaving = Vec::new();
    let mut index = 0_usize;
    let mut moved = 0;
    each_path(routing, lane_of, lane, |mut turns| {
        let leaves = turns.any(|(a, b)| position[a.0 as usize] >= position[b.0 as usize]);
        if index.is_multiple_of(64) {
            leaving.push(0_u64);
        }
        leaving[index / 64] |= u64::from(leaves) << (index % 64);
        index += 1;
        moved += u64::from(leaves);
    });
    index = 0;
    let sources = routing.sources();
    let switches = routing.topology().switches().len();
    for (layer, t) in routing.destinations() {
        let row = (layer as usize * routing.topology().terminals().len() + t.ix()) * switches;
        let home = routing.topology().terminals()[t.ix()].plug.switch;
        for &(s, _) in sources.of_plane(routing.topology().plane_of(t)) {
            if s == home || lane_of[row + s.ix()] != lane {
                continue;
            }
            if leaving[index / 64] >> (index % 64) & 1 == 1 {
                lane_of[row + s.ix()] = lane + 1;
            }
            index += 1;
        }
    }
    moved
}

/// Calls `visit` with the turns of every path on `lane`, in a fixed order.
fn each_path(routing: &Routing, lane_of: &[u8], lane: u8, mut visit: impl FnMut(Turns<'_>)) {
    let on = routing.topology();
    let sources = routing.sources();
    let switches = on.switches().len();
    for (layer, t) in routing.destinations() {
        let row = (layer as usize * on.terminals().len() + t.ix()) * switches;
        let tree = routing.tree(layer, t);
        let home = on.terminals()[t.ix()].plug.switch;
        for &(s, _) in sources.of_plane(on.plane_of(t)) {
            if s == home || lane_of[row + s.ix()] != lane {
                continue;
            }
            visit(Turns { routing, tree, held: routing.step(tree, s) });
        }
    }
}

/// The turns of one path: pairs of channels held one after the other.
struct Turns<'a> {
    routing: &'a Routing,
    tree: &'a [u16],
    held: Option<ChannelId>,
}

impl Iterator for Turns<'_> {
    type Item = (ChannelId, ChannelId);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let from = self.held?;
        let at = self.routing.topology().head(from).switch;
        self.held = self.routing.step(self.tree, at);
        self.held.map(|to| (from, to))
    }
}

/// A position for every channel such that the turns going backwards carry little weight.
///
/// Eades, Lin and Smyth's greedy order with weights: channels nothing depends on go first, those
/// that depend on nothing go last, else the one with the most weight going out over coming in.
fn feedback_order(on: &Topology, dependencies: &Dependencies, uses: &[u32]) -> Vec<u32> {
    let graph = on.graph();
    let channels = graph.links() * 2;
    let after = |c: ChannelId| graph.channels(on.head(c).switch.ix()).iter().copied();
    let before = |c: ChannelId| graph.channels(on.tail(c).switch.ix()).iter().map(|x| x.reverse());
    let weight = |a, b| i64::from(uses[dependencies.of(a, b)]);
    let live: Vec<ChannelId> =
        (0..graph.switches()).flat_map(|s| graph.channels(s).iter().copied()).collect();
    let (mut out, mut into) = (vec![0_i64; channels], vec![0_i64; channels]);
    for &c in &live {
        for d in after(c) {
            out[c.0 as usize] += weight(c, d);
            into[d.0 as usize] += weight(c, d);
        }
    }
    // sinks first in the heap's order, then sources, then the best difference
    let rank = |out: i64, into: i64| match (out, into) {
        (0, _) => (2, 0),
        (_, 0) => (1, 0),
        _ => (0, out - into),
    };
    let entry = |out: &[i64], into: &[i64], c: ChannelId| {
        (rank(out[c.0 as usize], into[c.0 as usize]), Reverse(c))
    };
    let mut heap: BinaryHeap<_> = live.iter().map(|&c| entry(&out, &into, c)).collect();
    let mut position = vec![u32::MAX; channels];
    let mut placed = vec![false; channels];
    let (mut front, mut back) = (0, live.len() as u32);
    while let Some((key, Reverse(c))) = heap.pop() {
        let ix = c.0 as usize;
        if placed[ix] || key != rank(out[ix], into[ix]) {
            continue;
        }
        placed[ix] = true;
        if key.0 == 2 {
            back -= 1;
            position[ix] = back;
        } else {
            position[ix] = front;
            front += 1;
        }
        for d in after(c).filter(|d| !placed[d.0 as usize]).collect::<Vec<_>>() {
            let w = weight(c, d);
            if w > 0 {
                into[d.0 as usize] -= w;
                heap.push(entry(&out, &into, d));
            }
        }
        for b in before(c).filter(|b| !placed[b.0 as usize]).collect::<Vec<_>>() {
            let w = weight(b, c);
            if w > 0 {
                out[b.0 as usize] -= w;
                heap.push(entry(&out, &into, b));
            }
        }
    }
    position
}
