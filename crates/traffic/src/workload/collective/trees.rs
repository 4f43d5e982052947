//! Trees of ranks, and the steps that several algorithms have along them.

use super::kind::{AlgorithmStepSink, ReceivedBlockEffect, StepNumber};

/// The number of a rank if ranks are counted from the root on, modulo `ranks`.
pub(super) fn seen_from(root: u32, rank: u32, ranks: u32) -> u32 {
    (rank + ranks - root) % ranks
}

/// The position of a rank in a tree: its parent, and its children in the order in which they are
/// sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RankTreePosition {
    pub(super) above: Option<u32>,
    pub(super) below: Vec<u32>,
}

impl RankTreePosition {
    /// The same position in a tree whose ranks are counted from `root` on.
    pub(super) fn turned(self, root: u32, ranks: u32) -> Self {
        let turn = |r: u32| (r + root) % ranks;
        Self { above: self.above.map(turn), below: self.below.into_iter().map(turn).collect() }
    }
}

/// A tree over ranks, whose root is rank 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RankTree {
    /// The children of `r` are `2 r + 1` and `2 r + 2`.
    Binary,
    /// The parent of a rank is its number without the lowest set bit; the largest subtrees come
    /// first.
    Binomial,
    /// The child of `r` is `r + 1`.
    Chain,
    /// All other ranks are children of the root.
    Star,
}

impl RankTree {
    /// The position of `rank` in the tree.
    pub(super) fn place(self, rank: u32, ranks: u32) -> RankTreePosition {
        let inner = rank.checked_sub(1);
        let wide = |all: &[u64]| -> Vec<u32> {
            all.iter().filter(|&&c| c < ranks.into()).map(|&c| c as u32).collect()
        };
        let next = u64::from(rank) + 1;
        match self {
            Self::Binary => RankTreePosition {
                above: inner.map(|r| r / 2),
                below: wide(&[2 * next - 1, 2 * next]),
            },
            Self::Binomial => {
                let all = ranks.next_power_of_two();
                let lowest = if rank == 0 { all } else { 1 << rank.trailing_zeros() };
                let bits = (0..lowest.ilog2()).rev().map(|bit| u64::from(rank) + (1 << bit));
                let below = wide(&bits.collect::<Vec<u64>>());
                RankTreePosition { above: inner.map(|less| rank & less), below }
            }
            Self::Chain => RankTreePosition { above: inner, below: wide(&[next]) },
            Self::Star => {
                let below = if rank == 0 { (1..ranks).collect() } else { Vec::new() };
                RankTreePosition { above: inner.map(|_| 0), below }
            }
        }
    }

    /// The position of `rank` in the tree whose root is `root`, from which ranks are counted on.
    pub(super) fn rooted(self, root: u32, rank: u32, ranks: u32) -> RankTreePosition {
        self.place(seen_from(root, rank, ranks), ranks).turned(root, ranks)
    }

    /// A rank and all ranks below it, in ascending order. O(their number).
    pub(super) fn under(self, rank: u32, ranks: u32) -> Vec<u32> {
        let mut found = vec![rank];
        let mut next = 0;
        while let Some(&at) = found.get(next) {
            found.extend(self.place(at, ranks).below);
            next += 1;
        }
        found.sort_unstable();
        found
    }
}

/// Adds the steps in which a rank receives blocks from its parent and passes them on; all wait for
/// `first`. Returns the receive; at the root, `first`.
pub(super) fn down(
    place: &RankTreePosition,
    tag: u32,
    blocks: &[u64],
    first: Option<StepNumber>,
    to: &mut dyn AlgorithmStepSink,
) -> Option<StepNumber> {
    let mut have = first;
    if let Some(above) = place.above {
        let step = to.recv(above, tag, &mut blocks.iter().copied(), ReceivedBlockEffect::Store);
        if let Some(first) = first {
            to.after(step, first);
        }
        have = Some(step);
    }
    for &child in &place.below {
        let step = to.send(child, tag, &mut blocks.iter().copied());
        if let Some(have) = have {
            to.after(step, have);
        }
    }
    have
}

/// Adds the steps in which a rank adds the blocks of its children to its own, the smallest subtree
/// first, and sends the sum to its parent. Returns the last step.
pub(super) fn up(
    place: &RankTreePosition,
    tag: u32,
    blocks: &[u64],
    to: &mut dyn AlgorithmStepSink,
) -> Option<StepNumber> {
    let mut last = None;
    for &child in place.below.iter().rev() {
        let step = to.recv(child, tag, &mut blocks.iter().copied(), ReceivedBlockEffect::Add);
        if let Some(last) = last {
            to.after(step, last);
        }
        last = Some(step);
    }
    if let Some(above) = place.above {
        let step = to.send(above, tag, &mut blocks.iter().copied());
        if let Some(last) = last {
            to.after(step, last);
        }
        last = Some(step);
    }
    last
}

/// A chain of steps, each of which waits for the one before.
pub(super) struct AlgorithmStepChain<'a> {
    pub(super) to: &'a mut dyn AlgorithmStepSink,
    pub(super) last: Vec<StepNumber>,
}

impl<'a> AlgorithmStepChain<'a> {
    pub(super) fn new(to: &'a mut dyn AlgorithmStepSink) -> Self {
        Self { to, last: Vec::new() }
    }

    /// Adds a send and a receive at the same time, either of which may be none; the next steps wait
    /// for both.
    pub(super) fn exchange(
        &mut self,
        send: Option<(u32, &mut dyn Iterator<Item = u64>)>,
        recv: Option<(u32, &mut dyn Iterator<Item = u64>, ReceivedBlockEffect)>,
    ) {
        let mut now = Vec::new();
        if let Some((to, blocks)) = send {
            now.push(self.to.send(to, 0, blocks));
        }
        if let Some((from, blocks, how)) = recv {
            let step = self.to.recv(from, 0, blocks, how);
            now.push(step);
        }
        for &step in &now {
            for &before in &self.last {
                self.to.after(step, before);
            }
        }
        if !now.is_empty() {
            self.last = now;
        }
    }
}
