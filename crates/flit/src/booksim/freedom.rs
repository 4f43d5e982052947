//! Whether packets that follow a routing function can wait for one another in a cycle.
//!
//! Source: Dally & Seitz, "Deadlock-free message routing in multiprocessor interconnection
//! networks", IEEE Transactions on Computers C-36(5), 1987.
//!
//! All steps that the function could take are followed, for all endpoints and intermediate routers,
//! whatever numbers are drawn and however full buffers are. A virtual channel of a link depends on
//! the channels that a packet in it may request next. If these dependencies have no cycle, the
//! channels can be ordered, and that order is the witness.

use super::routing::{EnumerableRouting, PossibleRoutingStep, RoutingSearchPosition};
use base::{Interrupted, ProgressWatch};
use paths::wiring::{CableEnd, RouterWiring};
use std::fmt;
use verify::Verdict;

/// A virtual channel of a link, named by the router and port that it leaves by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct VirtualChannel {
    /// The router that the link leaves.
    pub router: u32,
    /// The port of that router.
    pub port: u16,
    /// The number of the virtual channel at that port.
    pub lane: u8,
}

/// The witness of deadlock freedom: an order of channels in which packets only go forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlockFreeChannelOrder {
    /// All channels that packets can wait in; each stands after the channels that packets come
    /// from.
    pub channels: Vec<VirtualChannel>,
}

/// A cycle of channels that wait for each other, or the reason why there is no proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeadlockCounterexample {
    /// Packets in each of these channels may wait for the next, and in the last for the first.
    Waits(Vec<VirtualChannel>),
    /// The network has too many pairs of ports to examine, so nothing is proved.
    TooLarge {
        /// Pairs of ports of the same router, summed over all routers.
        pairs: usize,
    },
}

/// Most pairs of ports that are examined; the search takes 1 GiB of memory for them.
const MOST: usize = 1 << 28;

impl fmt::Display for DeadlockCounterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waits(channels) => {
                f.write_str("packets can wait in a cycle: ")?;
                for c in channels {
                    write!(f, "router {} port {} channel {} -> ", c.router, c.port, c.lane)?;
                }
                let first = channels.first().map_or(0, |c| c.router);
                write!(f, "router {first} again")
            }
            Self::TooLarge { pairs } => {
                write!(f, "{pairs} pairs of ports are too many to look for cycles: at most {MOST}")
            }
        }
    }
}

/// Follows all that `guide` could do on `wiring`, and looks for a cycle of dependencies.
///
/// O(goals * channels * requests), with the square of the number of routers as goals for functions
/// that use an intermediate router.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub fn prove(
    guide: &dyn EnumerableRouting,
    wiring: &RouterWiring,
    watch: &dyn ProgressWatch,
) -> Result<Verdict<DeadlockFreeChannelOrder, DeadlockCounterexample>, Interrupted> {
    let square = |r| wiring.ports(r).len().saturating_pow(2);
    let pairs = (0..wiring.routers()).map(square).fold(0, usize::saturating_add);
    if pairs > MOST {
        return Ok(Verdict::Fails(DeadlockCounterexample::TooLarge { pairs }));
    }
    let mut search = DependencySearch::new(guide, wiring);
    let goals = wiring.routers();
    for goal in 0..goals {
        watch.tick("deadlock", u64::from(goal), 2 * u64::from(goals))?;
        search.follow(goal, None);
    }
    // a packet at its intermediate router may continue to any router as its last one
    let mut ends = std::mem::take(&mut search.ends);
    ends.sort_unstable_by_key(|end| (end.router, end.in_port, end.note));
    ends.dedup_by(|next, kept| {
        let same = DependencySearchState { lanes: kept.lanes, ..*next } == *kept;
        kept.lanes |= if same { next.lanes } else { 0 };
        same
    });
    for goal in 0..goals {
        watch.tick("deadlock", u64::from(goals + goal), 2 * u64::from(goals))?;
        search.follow(goal, Some(&ends));
    }
    Ok(search.order())
}

/// A state of the search: a packet at a router, its port, its possible channels and its note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DependencySearchState {
    router: u32,
    in_port: Option<u16>,
    lanes: u32,
    note: u32,
}

/// A dependency: a set of channels of one link, and a set of channels of the next link.
type DependencyEdge = (u32, u32);

/// The search for the dependencies between the channels of a network.
struct DependencySearch<'a> {
    guide: &'a dyn EnumerableRouting,
    wiring: &'a RouterWiring,
    all: u32,
    /// For each router, the index of its first port in a list of the ports of all routers.
    first: Vec<u32>,
    /// For each router, the index of its first pair of ports in `edges`.
    pairs: Vec<usize>,
    /// For each pair of an in-port and an out-port, the index in `sets` of its dependencies.
    edges: Vec<u32>,
    sets: Vec<Vec<DependencyEdge>>,
    /// For each port, the channels and notes of packets already followed to the present goal.
    seen: Vec<Vec<(u32, u32)>>,
    touched: Vec<u32>,
    open: Vec<DependencySearchState>,
    /// The states of packets when they are at their intermediate router.
    ends: Vec<DependencySearchState>,
}

impl<'a> DependencySearch<'a> {
    fn new(guide: &'a dyn EnumerableRouting, wiring: &'a RouterWiring) -> Self {
        let (mut first, mut pairs) = (vec![0], vec![0]);
        for r in 0..wiring.routers() {
            let ports = wiring.ports(r).len();
            first.push(first[r as usize] + ports as u32);
            pairs.push(pairs[r as usize] + ports * ports);
        }
        let ports = first[first.len() - 1] as usize;
        Self {
            guide,
            wiring,
            all: u32::MAX >> (32 - u32::from(guide.lanes())),
            first,
            edges: vec![0; pairs[pairs.len() - 1]],
            pairs,
            sets: vec![Vec::new()],
            seen: vec![Vec::new(); ports],
            touched: Vec::new(),
            open: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Follows packets to one router, `goal`. Without `ends` it is their intermediate router; with
    /// `ends` it is their last router, and packets also start from these states.
    fn follow(&mut self, goal: u32, ends: Option<&[DependencySearchState]>) {
        let mut notes = Vec::new();
        for source in (0..self.wiring.routers()).filter(|r| *r != goal) {
            let is_home = |p: &paths::wiring::Port| matches!(p.end, CableEnd::Endpoint(_));
            if self.wiring.ports(source).iter().any(is_home) {
                notes.clear();
                self.guide.starts(source, goal, &mut notes);
                notes.retain(|note| self.guide.then(*note).is_none() == ends.is_some());
                let place = |note| DependencySearchState {
                    router: source,
                    in_port: None,
                    lanes: self.all,
                    note,
                };
                self.open.extend(notes.iter().map(|note| place(*note)));
            }
        }
        for end in ends.unwrap_or_default().iter().filter(|end| end.router != goal) {
            let note = self.guide.then(end.note).unwrap_or(end.note);
            self.open.push(DependencySearchState { note, ..*end });
        }
        let mut found = Vec::new();
        while let Some(place) = self.open.pop() {
            if place.router != goal {
                let DependencySearchState { router, in_port, lanes, note } = place;
                found.clear();
                self.guide.steps(
                    &RoutingSearchPosition { router, in_port, lanes, note, goal },
                    &mut found,
                );
                for step in &found {
                    self.take(&place, step);
                }
            } else if ends.is_none() {
                self.ends.push(place);
            }
        }
        for port in self.touched.drain(..) {
            self.seen[port as usize].clear();
        }
    }

    /// Records the dependency that a step causes, and follows the step if it was not seen before.
    fn take(&mut self, at: &DependencySearchState, step: &PossibleRoutingStep) {
        let held = at.lanes & step.on;
        let CableEnd::Router { router, port } =
            self.wiring.ports(at.router)[usize::from(step.want.port)].end
        else {
            return;
        };
        if held == 0 || step.want.lanes == 0 {
            return;
        }
        let out = self.first[at.router as usize] + u32::from(step.want.port);
        if let Some(in_port) = at.in_port {
            let edge = (held, step.want.lanes);
            let pair = self.pair(at.router, in_port) + usize::from(step.want.port);
            let set = self.edges[pair] as usize;
            if !self.sets[set].contains(&edge) {
                self.edges[pair] = self.with(set, edge);
            }
        }
        let seen = &mut self.seen[out as usize];
        let what = (step.want.lanes, step.note);
        if !seen.contains(&what) {
            if seen.is_empty() {
                self.touched.push(out);
            }
            seen.push(what);
            let (lanes, note) = what;
            self.open.push(DependencySearchState { router, in_port: Some(port), lanes, note });
        }
    }

    /// The index in `edges` of the first pair whose in-port is `in_port` of `router`.
    fn pair(&self, router: u32, in_port: u16) -> usize {
        let ports = self.wiring.ports(router).len();
        self.pairs[router as usize] + ports * usize::from(in_port)
    }

    /// The index of the set that has one edge more. There are few sets, as steps use few sets of
    /// lanes.
    fn with(&mut self, set: usize, edge: DependencyEdge) -> u32 {
        let mut edges = self.sets[set].clone();
        edges.push(edge);
        edges.sort_unstable();
        let known = self.sets.iter().position(|s| *s == edges);
        known.unwrap_or_else(|| {
            self.sets.push(edges);
            self.sets.len() - 1
        }) as u32
    }

    /// An order of all channels, or a cycle of them if there is no order.
    fn order(&self) -> Verdict<DeadlockFreeChannelOrder, DeadlockCounterexample> {
        let atoms = self.atoms();
        let width = atoms.len();
        let mut before = vec![0_u32; self.seen.len() * width];
        self.each(&atoms, |_, to| before[to] += 1);
        let mut open: Vec<usize> = (0..before.len()).filter(|i| before[*i] == 0).collect();
        let mut done = vec![false; before.len()];
        let mut channels = Vec::new();
        while let Some(at) = open.pop() {
            done[at] = true;
            channels.extend(self.channels(at / width, atoms[at % width]));
            self.each_of(at, &atoms, |to| {
                before[to] -= 1;
                if before[to] == 0 {
                    open.push(to);
                }
            });
        }
        let Some(mut at) = done.iter().position(|done| !done) else {
            return Verdict::Holds(DeadlockFreeChannelOrder { channels });
        };
        // every channel that is left has a predecessor that is left: go back until one repeats
        let mut last = vec![usize::MAX; done.len()];
        self.each(&atoms, |from, to| {
            if !done[from] {
                last[to] = from;
            }
        });
        let mut came = vec![usize::MAX; done.len()];
        let mut walk = Vec::new();
        while came[at] == usize::MAX {
            came[at] = walk.len();
            walk.push(at);
            at = last[at];
        }
        let cycle = walk[came[at]..].iter().rev();
        let one = |at: &usize| self.channels(at / width, atoms[at % width]).next();
        Verdict::Fails(DeadlockCounterexample::Waits(cycle.filter_map(one).collect()))
    }

    /// Sets of virtual channels such that every step uses all channels of a set or none of them.
    fn atoms(&self) -> Vec<u32> {
        let mut atoms = vec![self.all];
        let mut known = std::collections::BTreeSet::new();
        for (from, to) in self.sets.iter().flatten() {
            for &mask in [from, to] {
                if known.insert(mask) {
                    let parts = atoms.iter().flat_map(|atom| [atom & mask, atom & !mask]);
                    atoms = parts.filter(|part| *part != 0).collect();
                }
            }
        }
        atoms
    }

    fn each(&self, atoms: &[u32], mut visit: impl FnMut(usize, usize)) {
        for from in 0..self.seen.len() * atoms.len() {
            self.each_of(from, atoms, |to| visit(from, to));
        }
    }

    fn each_of(&self, from: usize, atoms: &[u32], mut visit: impl FnMut(usize)) {
        let (port, lanes) = (from / atoms.len(), atoms[from % atoms.len()]);
        let VirtualChannel { router, port: out, .. } = self.channel(port, 0);
        let end = self.wiring.ports(router)[usize::from(out)].end;
        let CableEnd::Router { router: head, port: in_port } = end else {
            return;
        };
        let (first, pairs) = (self.first[head as usize] as usize, self.pair(head, in_port));
        for (out, set) in self.edges[pairs..][..self.wiring.ports(head).len()].iter().enumerate() {
            let edges = &self.sets[*set as usize];
            for (_, to) in edges.iter().filter(|(from, _)| from & lanes != 0) {
                for (i, _) in atoms.iter().enumerate().filter(|(_, atom)| to & **atom != 0) {
                    visit((first + out) * atoms.len() + i);
                }
            }
        }
    }

    /// A channel of a port, by its number among all ports.
    fn channel(&self, port: usize, lane: u8) -> VirtualChannel {
        let router = self.first.partition_point(|first| *first as usize <= port) as u32 - 1;
        let port = (port - self.first[router as usize] as usize) as u16;
        VirtualChannel { router, port, lane }
    }

    /// The virtual channels `lanes` of a port; none if the port has no link.
    fn channels(&self, port: usize, lanes: u32) -> impl Iterator<Item = VirtualChannel> {
        let one = self.channel(port, 0);
        let end = self.wiring.ports(one.router)[usize::from(one.port)].end;
        let lanes = if matches!(end, CableEnd::Router { .. }) { lanes } else { 0 };
        let set = (0..32).filter(move |lane| lanes >> lane & 1 == 1);
        set.map(move |lane| VirtualChannel { lane, ..one })
    }
}
