//! The most link-disjoint paths of bounded length between two switches, by branch and bound.
//!
//! Walks of at most the bounded length are flows in a network with a copy of each link for every
//! step at which a walk may take it. The largest such flow is an upper bound, and exact if its
//! walks share no link. Otherwise some link is taken at two steps. It may then be taken at one of
//! these steps only, or not at that step, and both cases are searched in turn.
//!
//! Source: Itai, Perl, Shiloach, "The complexity of finding maximum disjoint paths with length
//! constraints", Networks 1982 (why it takes a search); Ford, Fulkerson, "Constructing maximal
//! dynamic flows from static flows", Operations Research 1958 (flows over copies for each step).

use super::bounded::PathCountRange;
use base::Graph;
use std::collections::BTreeMap;

const NONE: u32 = u32::MAX;

/// One arc of a [`BoundedWalkNetwork`]: a link taken in one direction at one step.
#[derive(Clone, Copy)]
struct WalkStepArc {
    from: u32,
    to: u32,
    link: u32,
}

/// The network of all walks between two switches within the bound; node 0 is the source, node 1 the
/// target.
struct BoundedWalkNetwork {
    arcs: Vec<WalkStepArc>,
    /// For each node, the arcs that leave it, and those that enter it, as indices in `arcs`.
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
    /// The switch of every node.
    at: Vec<u32>,
    /// The arcs of every link.
    copies: BTreeMap<u32, Vec<u32>>,
}

/// A flow of at most one unit per arc, and the arcs that may carry none.
#[derive(Clone)]
struct UnitFlowState {
    flow: Vec<bool>,
    barred: Vec<bool>,
    value: u64,
}

/// Narrows `range`, the number of link-disjoint paths of at most `hops` hops from `s` to `t`, until
/// it has visited `work` arcs; `near` has the distances to `t`. The result is deterministic.
pub(super) fn settle(
    graph: &Graph,
    (s, t): (u32, u32),
    hops: u32,
    near: &[u32],
    range: PathCountRange,
    work: u64,
) -> PathCountRange {
    let far = graph.distances_from(s as usize);
    let hops = hops.min(graph.switches() as u32 - 1);
    let useful = |b: &&u32| far[**b as usize] < hops;
    let arrive = graph.neighbours(t as usize).iter().filter(useful).count() as u64;
    let mut search = PathPackingSearchState { best: range.low, high: range.high.min(arrive), work };
    let between = SwitchPairDistances { graph, s, t, far: &far, near, hops };
    if search.open()
        && let Some(steps) = between.steps(1, search.work)
    {
        let state = search.largest(&steps, steps.idle());
        search.high = if search.work > 0 { search.high.min(state.value) } else { search.high };
    }
    if search.open()
        && let Some(steps) = between.steps(hops, search.work)
    {
        let first = search.largest(&steps, steps.idle());
        if search.work > 0 {
            search.high = search.high.min(first.value);
            search.branch(&steps, first);
        }
    }
    PathCountRange { low: search.best, high: search.high }
}

/// Two switches, and the distances of all switches from each of them.
struct SwitchPairDistances<'a> {
    graph: &'a Graph,
    s: u32,
    t: u32,
    far: &'a [u32],
    near: &'a [u32],
    hops: u32,
}

impl SwitchPairDistances<'_> {
    /// The network of `layers` steps, or of a single step for the bound that ignores the order of
    /// steps; `None` if it has more than `most` arcs.
    fn steps(&self, layers: u32, most: u64) -> Option<BoundedWalkNetwork> {
        let mut steps = BoundedWalkNetwork {
            arcs: Vec::new(),
            out: vec![Vec::new(); 2],
            into: vec![Vec::new(); 2],
            at: vec![self.s, self.t],
            copies: BTreeMap::new(),
        };
        let mut known: BTreeMap<(u32, u32), u32> = BTreeMap::from([((0, self.s), 0)]);
        let mut queue = vec![(0_u32, 0_u32)];
        let mut head = 0;
        while let Some(&(step, node)) = queue.get(head) {
            head += 1;
            let v = steps.at[node as usize] as usize;
            let row = self.graph.neighbours(v).iter().zip(self.graph.channels(v));
            for (&w, channel) in row {
                let walked = if layers == 1 { self.far[v] } else { step };
                let in_time = walked < self.hops && self.near[w as usize] < self.hops - walked;
                if w == self.s || !in_time {
                    continue;
                }
                let layer = if layers == 1 { 0 } else { step + 1 };
                let to = if w == self.t {
                    1
                } else {
                    *known.entry((layer, w)).or_insert_with(|| {
                        queue.push((layer, steps.at.len() as u32));
                        steps.at.push(w);
                        steps.out.push(Vec::new());
                        steps.into.push(Vec::new());
                        steps.at.len() as u32 - 1
                    })
                };
                let arc = steps.arcs.len() as u32;
                steps.arcs.push(WalkStepArc { from: node, to, link: channel.link().0 });
                steps.out[node as usize].push(arc);
                steps.into[to as usize].push(arc);
                steps.copies.entry(channel.link().0).or_default().push(arc);
            }
            if steps.arcs.len() as u64 > most {
                return None;
            }
        }
        Some(steps)
    }
}

impl BoundedWalkNetwork {
    fn idle(&self) -> UnitFlowState {
        UnitFlowState {
            flow: vec![false; self.arcs.len()],
            barred: vec![false; self.arcs.len()],
            value: 0,
        }
    }

    /// The walks of a flow as paths, each a list of arcs; loops are left out.
    fn paths(&self, state: &UnitFlowState) -> Vec<Vec<u32>> {
        let mut left = state.flow.clone();
        let mut found = Vec::new();
        for _ in 0..state.value {
            let (mut node, mut path) = (0_u32, Vec::<u32>::new());
            while node != 1 {
                let step = self.out[node as usize].iter().find(|&&arc| left[arc as usize]);
                let Some(&arc) = step else { break };
                left[arc as usize] = false;
                path.push(arc);
                node = self.arcs[arc as usize].to;
                let here = self.at[node as usize];
                let starts = |&arc: &u32| self.at[self.arcs[arc as usize].from as usize] == here;
                if let Some(before) = path.iter().position(starts) {
                    path.truncate(before);
                }
            }
            found.push(path);
        }
        found
    }

    /// Removes the unit of flow on `arc`, from source to target.
    fn cancel(&self, state: &mut UnitFlowState, arc: u32) {
        let mut node = self.arcs[arc as usize].to;
        state.flow[arc as usize] = false;
        while node != 1 {
            let next = self.out[node as usize].iter().find(|&&a| state.flow[a as usize]);
            let &next = next.expect("what comes to a node leaves it");
            state.flow[next as usize] = false;
            node = self.arcs[next as usize].to;
        }
        node = self.arcs[arc as usize].from;
        while node != 0 {
            let last = self.into[node as usize].iter().find(|&&a| state.flow[a as usize]);
            let &last = last.expect("what leaves a node has come to it");
            state.flow[last as usize] = false;
            node = self.arcs[last as usize].from;
        }
        state.value -= 1;
    }
}

/// The state of a search: the best number so far, and the number of arcs that it may still visit.
struct PathPackingSearchState {
    best: u64,
    high: u64,
    work: u64,
}

impl PathPackingSearchState {
    fn open(&self) -> bool {
        self.best < self.high && self.work > 0
    }

    /// Adds as much flow to `state` as possible, and returns it.
    fn largest(&mut self, steps: &BoundedWalkNetwork, mut state: UnitFlowState) -> UnitFlowState {
        let mut came = vec![NONE; steps.at.len()];
        while self.work > 0 && self.augment(steps, &mut state, &mut came) {
            state.value += 1;
        }
        state
    }

    /// Adds one unit of flow along a shortest path, rerouting other units if necessary. Returns
    /// whether that was possible.
    fn augment(
        &mut self,
        steps: &BoundedWalkNetwork,
        state: &mut UnitFlowState,
        came: &mut [u32],
    ) -> bool {
        came.fill(NONE);
        let mut queue = vec![0_u32];
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            let (out, into) = (&steps.out[node as usize], &steps.into[node as usize]);
            self.work = self.work.saturating_sub((out.len() + into.len()) as u64);
            for &arc in out.iter().chain(into) {
                let WalkStepArc { from, to, .. } = steps.arcs[arc as usize];
                let on = state.flow[arc as usize];
                let (room, next) = if from == node {
                    (!on && !state.barred[arc as usize], to)
                } else {
                    (on, from)
                };
                if !room || next == 0 || came[next as usize] != NONE {
                    continue;
                }
                came[next as usize] = arc;
                if next == 1 {
                    apply(steps, state, came);
                    return true;
                }
                queue.push(next);
            }
        }
        false
    }

    /// Searches all flows that satisfy the restrictions of `first` and may be larger than the best
    /// so far.
    fn branch(&mut self, steps: &BoundedWalkNetwork, first: UnitFlowState) {
        // each entry has an upper bound of the flow for its restrictions and all further ones
        let mut stack = vec![(first.value, first)];
        while let Some((most, state)) = stack.pop() {
            if most <= self.best {
                continue;
            }
            let paths = steps.paths(&state);
            self.best = self.best.max(apart(steps, &paths));
            if self.best >= self.high {
                return;
            }
            let Some((arc, link)) = taken_twice(steps, &paths) else { continue };
            let others = steps.copies[&link].iter().copied().filter(|&copy| copy != arc);
            for bar in [vec![arc], others.collect()] {
                let mut child = state.clone();
                self.work = self.work.saturating_sub(child.flow.len() as u64);
                for copy in bar {
                    child.barred[copy as usize] = true;
                    if child.flow[copy as usize] {
                        steps.cancel(&mut child, copy);
                    }
                }
                let child = self.largest(steps, child);
                stack.push((if self.work > 0 { child.value } else { most }, child));
            }
            if self.work == 0 {
                let open = stack.iter().map(|&(most, _)| most).max();
                self.high = self.high.min(open.unwrap_or(0)).max(self.best);
                return;
            }
        }
        self.high = self.best;
    }
}

fn apply(steps: &BoundedWalkNetwork, state: &mut UnitFlowState, came: &[u32]) {
    let mut node = 1;
    while node != 0 {
        let arc = came[node as usize] as usize;
        let forth = steps.arcs[arc].to == node;
        state.flow[arc] = forth;
        node = if forth { steps.arcs[arc].from } else { steps.arcs[arc].to };
    }
}

/// The number of `paths` that share no link with those before them, taken from the shortest on.
fn apart(steps: &BoundedWalkNetwork, paths: &[Vec<u32>]) -> u64 {
    let mut by_length: Vec<&Vec<u32>> = paths.iter().collect();
    by_length.sort_by_key(|path| path.len());
    let mut used = std::collections::BTreeSet::new();
    let mut found = 0;
    for path in by_length {
        let links = || path.iter().map(|&arc| steps.arcs[arc as usize].link);
        if links().all(|link| !used.contains(&link)) {
            used.extend(links());
            found += 1;
        }
    }
    found
}

/// An arc whose link two of `paths` take, and that link; none if no link is shared.
fn taken_twice(steps: &BoundedWalkNetwork, paths: &[Vec<u32>]) -> Option<(u32, u32)> {
    let mut seen = std::collections::BTreeSet::new();
    let mut all = paths.iter().flatten().map(|&arc| (arc, steps.arcs[arc as usize].link));
    all.find(|&(_, link)| !seen.insert(link))
}
