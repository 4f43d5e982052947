//! Members of families of groups that are linked by global links.

use super::shape::{NetworkCounts, numbers_near};
use serde_json::{Value, json};

const ARRANGEMENTS: [&str; 4] = ["absolute", "relative", "palmtree", "circulant"];
/// Global ports without a link that the busiest switch may have.
const UNLINKED: u64 = 3;

/// Offers parameters of dragonflies, megaflies and galaxyflies. O(switches * switches of a group).
pub(super) fn offer(family: &str, c: &NetworkCounts, offer: &mut dyn FnMut(Value)) {
    let p = c.hosts;
    let groups = |size: u64| {
        numbers_near(c.switches / size.max(1)).filter(move |g| c.is_near_switches(g * size))
    };
    match family {
        "dragonfly" => {
            for a in 1..=(c.degree + 1).min(c.switches) {
                for h in (c.degree + 1 - a)..=(c.degree + 1 - a + UNLINKED) {
                    for g in groups(a) {
                        for how in ARRANGEMENTS {
                            offer(json!({"p": p, "a": a, "h": h, "g": g, "arrangement": how}));
                        }
                    }
                }
            }
        }
        "megafly" => {
            for leaves in 1..=c.degree {
                for spines in numbers_near(c.leaf_degree) {
                    let least = c.degree.saturating_sub(leaves);
                    for h in least.max(1)..=least + UNLINKED {
                        for g in groups(leaves + spines) {
                            for how in ARRANGEMENTS {
                                offer(json!({"leaves": leaves, "spines": spines, "p": p, "h": h,
                                             "g": g, "arrangement": how}));
                            }
                        }
                    }
                }
            }
        }
        _ => {
            for q in 1..=256 {
                for a in (1..=c.degree + 1).filter(|a| q * a <= c.switches + c.switches / 8) {
                    for n in groups(q * a) {
                        let least = (c.degree + 1).saturating_sub(a);
                        for h in least..=least + UNLINKED {
                            offer(json!({"n": n, "q": q, "a": a, "h": h, "p": p}));
                        }
                    }
                }
            }
        }
    }
}
