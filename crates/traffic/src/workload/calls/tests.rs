//! The algorithms that traces may be turned into are those that there are.

use super::keys::{ALGORITHMS, keys};
use crate::workload::collective;
use crate::workload::keys::Takes;

#[test]
fn every_algorithm_is_offered() {
    let mut offered: Vec<String> = Vec::new();
    for key in ALGORITHMS {
        let Takes::Word { words, .. } = key.takes else { panic!("{} takes words", key.name) };
        offered.extend(words.iter().map(|word| format!("{}_{word}", key.name)));
    }
    offered.sort_unstable();
    // exchanges with neighbours are no calls that are read
    let all = collective::ALGORITHMS.iter().map(|entry| entry.name);
    let mut all: Vec<&str> = all.filter(|name| !name.starts_with("neighbour")).collect();
    all.sort_unstable();
    assert_eq!(offered, all);
    assert!(keys().iter().any(|key| key.name == "copies"));
}
