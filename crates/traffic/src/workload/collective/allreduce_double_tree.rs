//! Allreduce along two binary trees at once, half of the vector along each.
//!
//! One tree has the ranks in in-order, with odd ones as its leaves; the other tree is mirrored or
//! shifted so that its leaves are the even ones. So every rank is an inner node of at most one
//! tree, except for one rank if their number is odd.
//!
//! Source: Sanders, Speck, Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and
//! scan, Parallel Computing 35 (2009), section 3.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
};
use super::trees::{RankTreePosition, down, up};
use base::fields::whole;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry =
    CollectiveAlgorithmEntry::with::<DoubleTreeAllreduce>(
        PartDescription::new(
            "allreduce_double_tree",
            "up and down two trees, half of the vector along each",
        ),
        CollectiveOperation::Allreduce,
        |request| Ok(Box::new(request.read::<DoubleTreeAllreduce>()?)),
    );

#[derive(Deserialize, JsonSchema)]
struct DoubleTreeAllreduce {
    /// Parts of each half of the vector that are passed on by themselves.
    #[serde(default = "whole::<4>")]
    #[schemars(range(min = 1, max = 1 << 20))]
    segments: u64,
}

impl CollectiveAlgorithm for DoubleTreeAllreduce {
    fn blocks(&self, _: u32) -> u64 {
        2 * self.segments
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        for tree in 0..2_u64 {
            let place = if tree == 0 { place(rank, ranks) } else { turned(rank, ranks) };
            for segment in 0..self.segments {
                let blocks = [tree * self.segments + segment];
                // each message has its own tag, so that none matches another's receive
                let tag = 2 * blocks[0] as u32;
                let last = up(&place, tag, &blocks, to);
                down(&place, tag + 1, &blocks, last, to);
            }
        }
    }
}

/// The position of a rank in the in-order tree: a rank `i` whose lowest set bit is `b` has the
/// children `i - b/2` and `i + b/2`, or the next lower power that exists.
fn place(rank: u32, ranks: u32) -> RankTreePosition {
    let lowest = if rank == 0 { ranks.next_power_of_two() } else { 1 << rank.trailing_zeros() };
    let above = |rank: u32| {
        let up = (rank ^ lowest) | (lowest << 1);
        if up < ranks { up } else { rank ^ lowest }
    };
    let mut below = Vec::new();
    if rank > 0 && lowest > 1 {
        below.push(rank - lowest / 2);
    }
    let mut apart = lowest / 2;
    while apart > 0 && rank + apart >= ranks {
        apart /= 2;
    }
    if apart > 0 {
        below.push(rank + apart);
    }
    RankTreePosition { above: (rank > 0).then(|| above(rank)), below }
}

/// The position of a rank in the other tree: mirrored if the number of ranks is even, else shifted
/// by one.
fn turned(rank: u32, ranks: u32) -> RankTreePosition {
    if ranks.is_multiple_of(2) {
        let other = |r: u32| ranks - 1 - r;
        let RankTreePosition { above, below } = place(other(rank), ranks);
        RankTreePosition { above: above.map(other), below: below.into_iter().map(other).collect() }
    } else {
        place((rank + ranks - 1) % ranks, ranks).turned(1, ranks)
    }
}
