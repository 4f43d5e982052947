//! Networks whose switches are all alike, of which one source tells what all would.

use crate::network::Topology;
use crate::topology::family;

/// The members of `edge` (the switches with endpoints) to search from, and how many each stands
/// for.
///
/// One stands for all when all switches carry endpoints, the family promises that an automorphism
/// takes any switch to any other, and `t` is the family's network: built anew it has the same
/// links. O(network) in that case.
pub(super) fn sources(t: &Topology, edge: &[u32]) -> (Vec<u32>, u64) {
    if edge.len() > 1 && edge.len() == t.switches().len() && is_as_promised(t) {
        (edge[..1].to_vec(), edge.len() as u64)
    } else {
        (edge.to_vec(), 1)
    }
}

fn is_as_promised(t: &Topology) -> bool {
    let recipe = t.recipe();
    let Ok(entry) = family(&recipe.family) else { return false };
    let alike = entry.promise(&recipe.params).is_ok_and(|p| p.vertex_transitive);
    // the recipe may come from a file that was changed since
    alike && entry.build(&recipe.params).is_ok_and(|new| new.links() == t.links())
}
