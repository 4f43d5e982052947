//! The members of each family whose counts are near to those of a network.

use super::shape::{NetworkCounts, numbers_near};
use families::{ConcentrationRounding, FAMILIES, FamilyEntry, FamilyPromise, NetworkWish};
use serde_json::{Map, Value, json};

/// A member of a family that a network may be.
#[derive(Clone)]
pub(super) struct MemberWithCounts {
    /// The family.
    pub(super) entry: &'static FamilyEntry,
    /// Its parameters.
    pub(super) params: Map<String, Value>,
    /// How far its numbers of switches, links and endpoints are from the network's.
    pub(super) apart: u64,
    /// The place of its family among those that people name first.
    pub(super) rank: usize,
}

/// Families in the order in which people name a network that is a member of several.
const KNOWN_FIRST: [&str; 34] = [
    "complete",
    "ring",
    "star",
    "fat_tree",
    "slim_fly",
    "hypercube",
    "hyperx",
    "torus",
    "mesh",
    "dragonfly",
    "megafly",
    "polar_fly",
    "tree",
    "k_ary_n_tree",
    "flattened_butterfly",
    "folded_hypercube",
    "fit_fly",
    "multi_plane",
    "de_bruijn",
    "kautz",
    "polarstar",
    "bundlefly",
    "delorme",
    "bdf",
    "galaxyfly",
    "long_hop",
    "benes",
    "k_ary_n_fly",
    "clos",
    "xgft",
    "bcube",
    "dln",
    "jellyfish",
    "xpander",
];
/// The most parameters of a family that are tried.
const MOST_TRIED: usize = 200_000;
/// The most switches along a dimension, and the like.
const MOST: u64 = 256;
/// Seeds of random networks that are tried.
const SEEDS: u64 = 10;

/// The members of all families whose numbers of switches, links and endpoints are near to these,
/// the nearest first. O(parameters tried).
pub(super) fn near(counts: &NetworkCounts) -> Vec<MemberWithCounts> {
    let mut members = Vec::new();
    for entry in FAMILIES {
        let mut tried: Vec<Map<String, Value>> = Vec::new();
        let mut offer = |params: Value| {
            if let (Value::Object(params), true) = (params, tried.len() < MOST_TRIED) {
                tried.push(params);
            }
        };
        offer_members(entry.part.name, counts, &mut offer);
        if tried.is_empty() || entry.part.name == "long_hop" {
            let wish = NetworkWish {
                endpoints: Some(counts.endpoints),
                radix: counts.radix.saturating_mul(2).max(4),
                concentration: ConcentrationRounding::Ceil,
                oversubscription: 1.0,
            };
            let offered = entry.near(&wish).into_iter().map(|member| {
                let mut params = member.recipe.params;
                if let Some(p) = params.get_mut("p") {
                    *p = json!(counts.hosts);
                }
                params
            });
            tried.extend(offered);
        }
        let rank = KNOWN_FIRST.iter().position(|name| *name == entry.part.name);
        for params in tried {
            let Ok(promise) = entry.promise(&params) else { continue };
            let apart = apart(counts, &promise);
            if counts.is_near(&promise) {
                let rank = rank.unwrap_or(KNOWN_FIRST.len());
                members.push(MemberWithCounts { entry, params, apart, rank });
            }
        }
    }
    members.sort_by_key(|m| (m.apart, m.rank));
    members.dedup_by(|a, b| a.rank == b.rank && a.params == b.params);
    members
}

fn apart(counts: &NetworkCounts, promise: &FamilyPromise) -> u64 {
    counts.switches.abs_diff(promise.switches)
        + counts.links.abs_diff(promise.links)
        + counts.endpoints.abs_diff(promise.endpoints)
}

/// Offers parameters of a family; those that name no member, or one of other counts, are dropped
/// later. A family that is not listed here is known by its members near a wish alone.
fn offer_members(family: &str, c: &NetworkCounts, offer: &mut dyn FnMut(Value)) {
    let n_near = c.near_switches();
    let p = c.hosts;
    match family {
        "bcube" => grid(2..=64, 0..=6, |n, k| offer(json!({"n": n, "k": k}))),
        "benes" => (2..=20).for_each(|n| offer(json!({"n": n}))),
        "bdf" | "polar_fly" | "slim_fly" | "delorme" => {
            let key = if family == "bdf" { "u" } else { "q" };
            (2..=MOST).for_each(|q| offer(json!({key: q, "p": p})));
        }
        "bundlefly" => grid(3..=64, 5..=MOST, |q, order| {
            if c.is_near_switches(2 * q * q * order) {
                offer(json!({"q": q, "paley": order, "p": p}));
            }
        }),
        "polarstar" => grid(2..=64, 3..=MOST, |q, order| {
            let points = q * q + q + 1;
            if c.is_near_switches(points * order) {
                offer(json!({"q": q, "paley": order, "p": p}));
            }
            if c.is_near_switches(points * (2 * order + 2)) {
                offer(json!({"q": q, "iq": order, "p": p}));
            }
        }),
        "clos" => {
            let outer = numbers_near(c.leaves);
            for r in outer {
                for m in numbers_near(c.switches.saturating_sub(r)) {
                    offer(json!({"n": p, "m": m, "r": r}));
                    if r % 2 == 0 {
                        offer(json!({"n": p, "m": m, "r": r / 2, "folded": false}));
                    }
                }
            }
        }
        "complete" | "ring" => n_near.for_each(|n| offer(json!({"n": n, "p": p}))),
        "star" => {
            numbers_near(c.switches.saturating_sub(1)).for_each(|n| offer(json!({"n": n, "p": p})));
        }
        "de_bruijn" | "kautz" | "long_hop" | "hypercube" | "folded_hypercube" => {
            offer_powers(family, p, offer);
        }
        "k_ary_n_fly" => grid(2..=MOST, 1..=12, |k, n| offer(json!({"k": k, "n": n}))),
        "k_ary_n_tree" | "flattened_butterfly" => {
            grid(1..=MOST, 1..=12, |k, n| offer(json!({"k": k, "n": n, "p": p})));
        }
        "tree" => grid(2..=MOST, 1..=12, |k, n| {
            offer(json!({"arity": k, "levels": n, "p": p}));
        }),
        "dln" => offer_dln(c, offer),
        "jellyfish" | "xpander" => offer_random(family, c, offer),
        "dragonfly" | "galaxyfly" | "megafly" => super::grouped::offer(family, c, offer),
        "fat_tree" => super::trees::offer_fat_trees(c, offer),
        "xgft" => super::trees::offer_xgft(c, offer),
        "hyperx" | "torus" | "mesh" => super::grids::offer(family, c, offer),
        _ => {}
    }
}

fn grid(
    one: std::ops::RangeInclusive<u64>,
    two: std::ops::RangeInclusive<u64>,
    mut each: impl FnMut(u64, u64),
) {
    for a in one {
        for b in two.clone() {
            each(a, b);
        }
    }
}

fn offer_powers(family: &str, p: u64, offer: &mut dyn FnMut(Value)) {
    match family {
        "de_bruijn" | "kautz" => grid(2..=MOST, 1..=20, |d, n| {
            offer(json!({"d": d, "n": n, "p": p}));
        }),
        "long_hop" => (3..=16).for_each(|n| offer(json!({"n": n, "p": p}))),
        _ => (1..=20).for_each(|n| offer(json!({"n": n, "p": p}))),
    }
}

fn offer_dln(c: &NetworkCounts, offer: &mut dyn FnMut(Value)) {
    let p = c.hosts;
    for n in c.near_switches() {
        for x in 2..=c.degree.clamp(2, 16) {
            offer(json!({"n": n, "x": x, "y": 0, "p": p}));
            for y in 1..=c.degree.saturating_sub(2) {
                for seed in 0..SEEDS {
                    offer(json!({"n": n, "x": x, "y": y, "seed": seed, "p": p}));
                }
            }
        }
    }
}

fn offer_random(family: &str, c: &NetworkCounts, offer: &mut dyn FnMut(Value)) {
    let (p, d) = (c.hosts, c.degree);
    for n in c.near_switches() {
        for seed in 0..SEEDS {
            if family == "jellyfish" {
                offer(json!({"n": n, "k": d, "seed": seed, "p": p}));
            } else if n % (d + 1) == 0 {
                let lift = n / (d + 1);
                offer(json!({"d": d, "lift": lift, "seed": seed, "derandomized": true, "p": p}));
                offer(json!({"d": d, "lift": lift, "seed": seed, "p": p}));
            }
        }
    }
}
