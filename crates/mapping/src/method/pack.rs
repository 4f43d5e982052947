//! Packing: the assignment of the processes of a site to its endpoints. It does not change
//! distances, but the loads of adapters.

use crate::arrangement::ProcessArrangement;
use crate::problem::MappingProblem;

/// The largest number of sweeps.
const SWEEPS: u32 = 8;

/// Swaps processes between endpoints of one site as long as that keeps more bytes inside endpoints.
/// O(sweeps * pairs of slots on a site * degree).
pub(crate) fn pack(problem: &MappingProblem<'_>, at: &mut ProcessArrangement) {
    let slots = problem.slots;
    for site in 0..slots.sites() as u32 {
        let own = slots.of_site(site);
        let several = own.iter().any(|&s| slots.endpoint(s) != slots.endpoint(own[0]));
        let shared = own.windows(2).any(|pair| slots.endpoint(pair[0]) == slots.endpoint(pair[1]));
        if !several || !shared {
            continue;
        }
        for _ in 0..SWEEPS {
            let mut better = false;
            for (i, &a) in own.iter().enumerate() {
                for &b in &own[i + 1..] {
                    let (u, v) = (at.process(a), at.process(b));
                    let (e, f) = (slots.endpoint(a), slots.endpoint(b));
                    let free = !problem.is_pinned(u) && !problem.is_pinned(v);
                    if e != f && free && saved(problem, at, [u, v], [e, f]) > 0 {
                        at.swap(u, v);
                        better = true;
                    }
                }
            }
            if !better {
                break;
            }
        }
    }
}

/// The increase of the traffic inside endpoints if two processes exchange their endpoints.
fn saved(
    problem: &MappingProblem<'_>,
    at: &ProcessArrangement,
    [u, v]: [u32; 2],
    [e, f]: [u32; 2],
) -> i64 {
    let with = |p: u32, but: u32, endpoint: u32| -> i64 {
        let row = problem.row(p).iter().filter(|(x, _)| *x != but);
        let inside = row.filter(|(x, _)| problem.slots.endpoint(at.slot(*x)) == endpoint);
        inside.map(|&(_, w)| i64::from(w)).sum()
    };
    with(u, v, f) + with(v, u, e) - with(u, v, e) - with(v, u, f)
}
