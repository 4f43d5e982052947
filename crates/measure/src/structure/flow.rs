//! Counts link-disjoint paths between two switches: maximum flow with one unit per link.
//!
//! Source: Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
//! estimation", 1970; Gusfield, "Very simple methods for all pairs network flow analysis", SIAM J.
//! Comput. 1990.

use base::{Graph, Interrupted, ProgressWatch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// A tree over a set of switches. The least number on the path between two members is their number
/// of link-disjoint paths.
///
/// Entry i joins member i + 1 of the set to another member, given by its index in the set, with the
/// number of link-disjoint paths between these two.
pub(super) type FlowTree = Vec<(u32, u64)>;

/// The flow tree of the members of `set`, of which there are at least two.
///
/// If only the links of the switches limit the number of paths, flows from one switch with the most
/// links to all others suffice: |set| flows in parallel. Otherwise |set| flows are needed one after
/// the other. A flow takes O(links) for each length of path that it uses; in most networks these
/// are few.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub(super) fn flow_tree(
    graph: &Graph,
    set: &[u32],
    watch: &dyn ProgressWatch,
) -> Result<FlowTree, Interrupted> {
    let degree = |i: &usize| graph.degree(set[*i] as usize);
    let root = (0..set.len()).rev().max_by_key(degree).unwrap_or(0);
    let done = AtomicU64::new(0);
    let from_root: Vec<u64> = (0..set.len())
        .into_par_iter()
        .map_init(
            || MaxFlowSolver::new(graph),
            |flow, i| {
                let n = done.fetch_add(1, Ordering::Relaxed) + 1;
                watch.tick("disjoint paths", n, set.len() as u64)?;
                Ok(if i == root { 0 } else { flow.run(set[root], set[i]) })
            },
        )
        .collect::<Result<_, Interrupted>>()?;
    // a flow between two others is at least the smaller of their flows with the root, and at most
    // the smaller number of links: if these are equal, it is known
    if (0..set.len()).all(|i| i == root || from_root[i] == degree(&i) as u64) {
        // member 0 is the root of the tree that is returned, which may differ from this root
        let mut tree: FlowTree = from_root.iter().map(|&f| (root as u32, f)).collect();
        tree[root] = (0, from_root[0]);
        tree.remove(0);
        return Ok(tree);
    }
    gusfield(graph, set, watch)
}

fn gusfield(
    graph: &Graph,
    set: &[u32],
    watch: &dyn ProgressWatch,
) -> Result<FlowTree, Interrupted> {
    let mut flow = MaxFlowSolver::new(graph);
    let mut tree = vec![(0_u32, 0_u64); set.len()];
    for i in 1..set.len() {
        watch.tick("disjoint paths, pair by pair", i as u64, set.len() as u64)?;
        let parent = tree[i].0;
        tree[i].1 = flow.run(set[i], set[parent as usize]);
        for j in i + 1..set.len() {
            if tree[j].0 == parent && flow.on_source_side(set[j]) {
                tree[j].0 = i as u32;
            }
        }
    }
    tree.remove(0);
    Ok(tree)
}

/// A maximum flow, and memory for the next one.
struct MaxFlowSolver<'a> {
    graph: &'a Graph,
    /// The units from end a to end b of each link: -1, 0 or 1.
    on: Vec<i8>,
    level: Vec<u32>,
    next: Vec<u32>,
    queue: Vec<u32>,
    path: Vec<(u32, u32)>,
}

impl<'a> MaxFlowSolver<'a> {
    fn new(graph: &'a Graph) -> Self {
        let n = graph.switches();
        Self {
            graph,
            on: vec![0; graph.links()],
            level: vec![u32::MAX; n],
            next: vec![0; n],
            queue: Vec::new(),
            path: Vec::new(),
        }
    }

    /// The number of link-disjoint paths from `source` to another switch, `sink`.
    fn run(&mut self, source: u32, sink: u32) -> u64 {
        self.on.fill(0);
        let most = self.graph.degree(source as usize).min(self.graph.degree(sink as usize)) as u64;
        let mut flow = 0;
        while self.levels(source, sink) {
            while flow < most && self.augment(source, sink) {
                flow += 1;
            }
            if flow == most {
                // the cut is around one of the ends; the levels show on which side the other
                // switches are
                self.levels(source, sink);
                break;
            }
        }
        flow
    }

    /// For use after a flow: whether `v` can still be reached from the source. If not, the cut
    /// separates it from the source.
    fn on_source_side(&self, v: u32) -> bool {
        self.level[v as usize] < u32::MAX
    }

    fn has_room(&self, arc: usize, v: usize) -> bool {
        let channel = self.graph.channels(v)[arc];
        let on = self.on[channel.link().ix()];
        if channel.is_forth() { on < 1 } else { on > -1 }
    }

    /// Computes levels by hops from `source` over channels with room. Returns whether they reach
    /// `sink`.
    fn levels(&mut self, source: u32, sink: u32) -> bool {
        self.level.fill(u32::MAX);
        self.queue.clear();
        self.level[source as usize] = 0;
        self.queue.push(source);
        let mut head = 0;
        while let Some(&v) = self.queue.get(head) {
            head += 1;
            let v = v as usize;
            if self.level[sink as usize] <= self.level[v] {
                break;
            }
            for arc in 0..self.graph.degree(v) {
                let w = self.graph.neighbours(v)[arc] as usize;
                if self.level[w] == u32::MAX && self.has_room(arc, v) {
                    self.level[w] = self.level[v] + 1;
                    self.queue.push(w as u32);
                }
            }
        }
        self.next.fill(0);
        self.level[sink as usize] < u32::MAX
    }

    /// One more path along rising levels, if there is one.
    fn augment(&mut self, source: u32, sink: u32) -> bool {
        self.path.clear();
        let mut v = source as usize;
        while v != sink as usize {
            let row = self.graph.neighbours(v);
            let step = (self.next[v] as usize..row.len()).find(|&arc| {
                self.level[row[arc] as usize] == self.level[v] + 1 && self.has_room(arc, v)
            });
            self.next[v] = step.unwrap_or(row.len()) as u32;
            if let Some(arc) = step {
                self.path.push((v as u32, arc as u32));
                v = row[arc] as usize;
            } else if let Some((before, _)) = self.path.pop() {
                self.next[before as usize] += 1;
                v = before as usize;
            } else {
                return false;
            }
        }
        for &(v, arc) in &self.path {
            let channel = self.graph.channels(v as usize)[arc as usize];
            self.on[channel.link().ix()] += if channel.is_forth() { 1 } else { -1 };
        }
        true
    }
}
