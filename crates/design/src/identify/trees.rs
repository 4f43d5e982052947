//! Members of families of trees with several roots.

use super::shape::{NetworkCounts, numbers_near};
use serde_json::{Value, json};

/// The most ports of a switch of a tree of three levels.
const PORTS: u64 = 256;

/// Offers parameters of fat trees. O(ports^2).
pub(super) fn offer_fat_trees(c: &NetworkCounts, offer: &mut dyn FnMut(Value)) {
    for leaves in numbers_near(c.leaves) {
        for spines in numbers_near(c.switches.saturating_sub(c.leaves)) {
            let parallel = (c.links + leaves * spines / 2) / (leaves * spines);
            offer(json!({"leaves": leaves, "spines": spines, "parallel": parallel.max(1),
                         "p": c.hosts}));
        }
    }
    for k in 2..=PORTS {
        for parallel in [1, 2, 3, 4] {
            let all = json!({"levels": 3, "k": k, "parallel": parallel});
            offer_pods(&all, c, offer);
        }
    }
}

/// Offers trees of three levels with these ports: all pods, some pods, some leaves.
fn offer_pods(all: &Value, c: &NetworkCounts, offer: &mut dyn FnMut(Value)) {
    let with = |more: &[(&str, u64)]| {
        let mut params = all.clone();
        for (key, value) in more {
            params[*key] = json!(value);
        }
        params
    };
    let k = all["k"].as_u64().unwrap_or(2);
    // a switch of the tree has k ports at most, and most of them have all
    if k < c.degree.max(c.radix.into()) || k > 2 * u64::from(c.radix).max(1) {
        return;
    }
    offer(with(&[("p", c.hosts)]));
    for more in 2..=8 {
        offer(with(&[("p", c.hosts), ("oversubscription", more)]));
    }
    for pods in 1..k {
        offer(with(&[("p", c.hosts), ("pods", pods)]));
    }
    for leaves in numbers_near(c.leaves) {
        offer(with(&[("p", c.hosts), ("leaves", leaves)]));
    }
}

/// Offers parameters of extended generalized fat trees of up to four levels. O(divisors^4).
pub(super) fn offer_xgft(c: &NetworkCounts, offer: &mut dyn FnMut(Value)) {
    for leaves in numbers_near(c.leaves) {
        if leaves == 1 && c.switches == 1 {
            offer(json!({"m": [c.hosts], "w": [1]}));
        }
        let uppers: Vec<(Vec<u64>, Vec<u64>)> = levels(leaves, c);
        for (m, w) in uppers {
            let m: Vec<u64> = [c.hosts].into_iter().chain(m).collect();
            let w: Vec<u64> = [1].into_iter().chain(w).collect();
            offer(json!({"m": m, "w": w}));
            for parallel in 2..=3 {
                for at in 1..m.len() {
                    let mut row = vec![1; m.len()];
                    row[at] = parallel;
                    offer(json!({"m": m, "w": w, "parallel": row}));
                }
            }
        }
    }
}

/// Children and parents by level above the leaves, up to three levels, of trees with these leaves
/// and about as many switches as there are.
fn levels(leaves: u64, c: &NetworkCounts) -> Vec<(Vec<u64>, Vec<u64>)> {
    let divisors = |n: u64| (1..=n).filter(move |d| n.is_multiple_of(*d));
    let mut all = Vec::new();
    let most = c.leaf_degree.max(1);
    for w2 in 1..=most {
        if c.is_near_switches(leaves + w2) {
            all.push((vec![leaves], vec![w2]));
        }
        for m2 in divisors(leaves) {
            let m3 = leaves / m2;
            for w3 in 1..=c.degree {
                if c.is_near_switches(leaves + w2 * m3 + w2 * w3) {
                    all.push((vec![m2, m3], vec![w2, w3]));
                }
            }
            for m3 in divisors(m3) {
                let m4 = leaves / m2 / m3;
                for w3 in 1..=c.degree {
                    for w4 in 1..=c.degree {
                        let upper = w2 * m3 * m4 + w2 * w3 * m4 + w2 * w3 * w4;
                        if c.is_near_switches(leaves + upper) {
                            all.push((vec![m2, m3, m4], vec![w2, w3, w4]));
                        }
                    }
                }
            }
        }
    }
    all
}
