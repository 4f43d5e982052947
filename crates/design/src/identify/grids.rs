//! Members of families of grids.

use super::shape::NetworkCounts;
use serde_json::{Value, json};

/// The most dimensions of a grid.
const DIMENSIONS: usize = 8;
/// The most parallel links of a `HyperX`.
const PARALLEL: u64 = 4;

/// Offers parameters of tori, meshes and `HyperX`. O(shapes with this number of switches).
pub(super) fn offer(family: &str, c: &NetworkCounts, offer: &mut dyn FnMut(Value)) {
    for n in c.near_switches() {
        for shape in shapes(n, n) {
            if family != "hyperx" {
                offer(json!({"shape": shape, "p": c.hosts}));
                continue;
            }
            offer(json!({"shape": shape, "p": c.hosts}));
            for k in multiplicities(&shape, c) {
                offer(json!({"shape": shape, "k": k, "p": c.hosts}));
            }
        }
    }
}

/// The factorizations of a number: products of numbers from 2 to `most`, the largest first.
fn shapes(n: u64, most: u64) -> Vec<Vec<u64>> {
    if n == 1 {
        return vec![vec![1]];
    }
    let mut all = Vec::new();
    for first in (2..=most.min(n)).rev().filter(|first| n.is_multiple_of(*first)) {
        if n == first {
            all.push(vec![first]);
            continue;
        }
        for mut rest in shapes(n / first, first) {
            if rest.len() < DIMENSIONS && rest != [1] {
                rest.insert(0, first);
                all.push(rest);
            }
        }
    }
    all
}

/// Numbers of parallel links by dimension that give a switch the cables that it has.
fn multiplicities(shape: &[u64], c: &NetworkCounts) -> Vec<Vec<u64>> {
    if shape.len() > 4 {
        return (2..=PARALLEL).map(|k| vec![k]).collect();
    }
    let mut all = vec![Vec::new()];
    for _ in shape {
        let longer = all.iter().flat_map(|row: &Vec<u64>| {
            (1..=PARALLEL).map(move |k| row.iter().copied().chain([k]).collect())
        });
        all = longer.collect();
    }
    let fits = |k: &Vec<u64>| {
        let degree: u64 = shape.iter().zip(k).map(|(size, k)| (size - 1) * k).sum();
        degree == c.degree && k.iter().any(|k| *k > 1)
    };
    all.into_iter().filter(fits).collect()
}
