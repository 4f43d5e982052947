//! Cycles of files that need one another, whatever language they are in.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A cycle of files that need one another, each all others, by their numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileCycle {
    /// All of them, in ascending order.
    pub(super) members: Vec<usize>,
    /// A shortest cycle through the first of them, which it begins with.
    pub(super) path: Vec<usize>,
}

/// Every set of files that need one another, `needs` being what each file needs; also a file that
/// needs itself. O(files * needs).
pub(super) fn cycles(needs: &[BTreeSet<usize>]) -> Vec<FileCycle> {
    let reached: Vec<BTreeSet<usize>> = (0..needs.len()).map(|n| reach(needs, n)).collect();
    let mut found = Vec::new();
    for first in 0..needs.len() {
        let members: Vec<usize> =
            reached[first].iter().copied().filter(|&n| reached[n].contains(&first)).collect();
        if members.first() == Some(&first) {
            found.push(FileCycle { members, path: path_back(needs, first) });
        }
    }
    found
}

/// All that can be reached from `start` by one step or more.
fn reach(needs: &[BTreeSet<usize>], start: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<usize> = needs[start].iter().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(needs[next].iter().copied());
        }
    }
    reached
}

/// A shortest path from `start` back to it, which is without its end; there is one.
fn path_back(needs: &[BTreeSet<usize>], start: usize) -> Vec<usize> {
    let mut before = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for &next in &needs[at] {
            if next == start {
                let steps = std::iter::successors(Some(at), |at| before.get(at).copied());
                let mut path: Vec<usize> = steps.collect();
                path.reverse();
                return path;
            }
            before.entry(next).or_insert_with(|| {
                open.push_back(next);
                at
            });
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(needs: &[&[usize]]) -> Vec<(Vec<usize>, Vec<usize>)> {
        let needs: Vec<BTreeSet<usize>> =
            needs.iter().map(|row| row.iter().copied().collect()).collect();
        cycles(&needs).into_iter().map(|cycle| (cycle.members, cycle.path)).collect()
    }

    #[test]
    fn each_set_is_found_once_with_a_shortest_cycle() {
        assert_eq!(found(&[&[1], &[2], &[]]), []);
        // 0 needs the others, none needs it; 1 to 4 need one another, 1 goes over 2 and 3 alone
        let needs: &[&[usize]] = &[&[1, 4], &[2], &[3, 4], &[1], &[3]];
        assert_eq!(found(needs), [(vec![1, 2, 3, 4], vec![1, 2, 3])]);
        assert_eq!(
            found(&[&[1], &[0], &[3], &[2]]),
            [(vec![0, 1], vec![0, 1]), (vec![2, 3], vec![2, 3])]
        );
        assert_eq!(found(&[&[], &[1]]), [(vec![1], vec![1])], "a file that needs itself");
    }
}
