//! Grids of ranks with their neighbours, and halo exchanges on them.

use crate::workload::{RankScriptWriter, ScriptMessage};

/// A grid of ranks; the last coordinate varies fastest.
#[derive(Debug)]
pub(super) struct HaloRankGrid {
    pub(super) sides: Vec<u32>,
    /// Whether the last rank in a direction is a neighbour of the first.
    pub(super) periodic: bool,
    /// Whether ranks across edges and corners are neighbours, too.
    pub(super) diagonal: bool,
}

/// A step of -1, 0 or 1 in each direction.
type GridOffset = Vec<i32>;

impl HaloRankGrid {
    /// The steps to all neighbours. The i-th step from the start is the opposite of the i-th from
    /// the end.
    fn steps(&self) -> Vec<GridOffset> {
        let sides = self.sides.len() as u32;
        let numbered = |n: usize| -> GridOffset {
            (0..sides).rev().map(|i| (n as i32 / 3_i32.pow(i)) % 3 - 1).collect()
        };
        let turns = |step: &GridOffset| step.iter().filter(|&&along| along != 0).count();
        let all = (0..3_usize.pow(sides)).map(numbered);
        all.filter(|step| turns(step) == 1 || (self.diagonal && turns(step) > 1)).collect()
    }

    /// The rank that a step leads to; none beyond the border, or if it is the same rank.
    fn neighbour(&self, rank: u32, step: &GridOffset) -> Option<u32> {
        let (mut stride, mut found) = (1, 0);
        let mut left = rank;
        for (&side, &along) in self.sides.iter().zip(step).rev() {
            let at = i64::from(left % side) + i64::from(along);
            if !self.periodic && !(0..i64::from(side)).contains(&at) {
                return None;
            }
            found += at.rem_euclid(side.into()) as u32 * stride;
            stride *= side;
            left /= side;
        }
        (found != rank).then_some(found)
    }

    /// The messages of a rank to its neighbours and from them; `bytes` is the size of each by its
    /// step.
    pub(super) fn messages(
        &self,
        rank: u32,
        tag: u32,
        bytes: &dyn Fn(&[i32]) -> u64,
    ) -> (Vec<ScriptMessage>, Vec<ScriptMessage>) {
        let steps = self.steps();
        let (mut to, mut from) = (Vec::new(), Vec::new());
        for (i, step) in steps.iter().enumerate() {
            if let Some(other) = self.neighbour(rank, step) {
                to.push((other, bytes(step), tag + i as u32));
                // the message from there has the tag of the opposite step
                from.push((other, bytes(step), tag + (steps.len() - 1 - i) as u32));
            }
        }
        (to, from)
    }

    /// Exchanges messages with all neighbours at once.
    pub(super) fn exchange(
        &self,
        rank: u32,
        tag: u32,
        bytes: &dyn Fn(&[i32]) -> u64,
        to: &mut RankScriptWriter<'_>,
        after: &[u32],
    ) -> Vec<u32> {
        let (leaving, coming) = self.messages(rank, tag, bytes);
        to.exchange(&leaving, &coming, after)
    }
}
