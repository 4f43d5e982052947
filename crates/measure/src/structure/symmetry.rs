//! Networks whose switches are all alike, of which one source tells what all would.

use fabric::Topology;

/// The members of `edge` (the switches with endpoints) to search from, and how many each stands
/// for.
///
/// One stands for all when all switches carry endpoints and the network's family declared that an
/// automorphism takes any switch to any other. O(1) in that case.
pub(super) fn sources(t: &Topology, edge: &[u32]) -> (Vec<u32>, u64) {
    if edge.len() > 1 && edge.len() == t.switches().len() && t.is_vertex_transitive() {
        (edge[..1].to_vec(), edge.len() as u64)
    } else {
        (edge.to_vec(), 1)
    }
}
