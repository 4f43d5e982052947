//! A comparison of promises with the networks that were built, for tests.

use crate::{ExactFraction, FamilyPromise, PromisedValue};
use fabric::Topology;

/// Whether the numbers of switches and of links at every distance are the same from every switch.
/// An automorphism between any two switches implies that, but is not implied by it.
fn every_switch_looks_alike(t: &Topology) -> bool {
    let profile = |v: usize| {
        let distances = t.graph().distances_from(v);
        let mut counted = std::collections::BTreeMap::new();
        for (w, &d) in distances.iter().enumerate() {
            let mut steps = [0_u32; 3];
            for &x in t.graph().neighbours(w) {
                steps[distances[x as usize].wrapping_sub(d).wrapping_add(1) as usize] += 1;
            }
            *counted.entry((d, steps)).or_insert(0_u32) += 1;
        }
        counted
    };
    let first = profile(0);
    (1..t.switches().len()).all(|v| profile(v) == first)
}

/// Compares a promise with the network that was built. Returns one sentence for each property that
/// differs.
///
/// O(all-pairs distances).
pub(crate) fn broken_promises(promise: &FamilyPromise, built: &Topology) -> Vec<String> {
    let edge = built.edge_switches();
    let distances = measure::structure::by_plane(built, &edge, &base::QuietWatch)
        .expect("a quiet watch never interrupts");
    let (sum, pairs) = distances.sum_and_pairs();
    let mut broken = Vec::new();
    let mut compare = |what: &str, promised: u64, found: u64| {
        if promised != found {
            broken.push(format!("{what}: promised {promised}, built {found}"));
        }
    };
    compare("switches", promise.switches, built.switches().len() as u64);
    compare("endpoints", promise.endpoints, built.endpoints().len() as u64);
    compare("links", promise.links, built.links().len() as u64);
    compare("network_radix", promise.network_radix.into(), built.network_radix().into());
    compare("edge_switches", promise.edge_switches, edge.len() as u64);
    compare("radix", promise.radix.into(), built.radix().into());
    compare("planes", promise.planes.into(), built.planes().into());
    compare("unreachable pairs", 0, distances.unreachable);
    if promise.vertex_transitive && !every_switch_looks_alike(built) {
        broken.push("vertex_transitive: switches differ in their distances to others".into());
    }
    let diameter = distances.diameter();
    let kept = match promise.diameter {
        PromisedValue::Exact(d) => d == diameter,
        PromisedValue::Between(low, high) => (low..=high).contains(&diameter),
    };
    if !kept {
        broken.push(format!("diameter: promised {:?}, built {diameter}", promise.diameter));
    }
    let order = |r: ExactFraction| {
        (u128::from(sum) * u128::from(r.den)).cmp(&(u128::from(r.num) * u128::from(pairs)))
    };
    let kept = pairs == 0
        || match promise.mean_distance {
            PromisedValue::Exact(r) => order(r).is_eq(),
            PromisedValue::Between(low, high) => order(low).is_ge() && order(high).is_le(),
        };
    if !kept {
        broken.push(format!(
            "mean_distance: promised {:?}, built {sum}/{pairs}",
            promise.mean_distance
        ));
    }
    broken
}
