//! Classes of lanes that no packet distinguishes: in a proof one lane of each class stands for all.
//!
//! Candidates offer runs of consecutive lanes. Lanes between which no run begins or ends are
//! offered together or not at all. So they wait for the same lanes, and the same lanes wait for
//! them: a dependency cycle over lanes is a cycle over their classes, and a cycle over classes is a
//! cycle over any of their lanes.

use fabric::tables::candidates::CandidateHop;
use fabric::turns::LaneDependencyGraph;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The mark of a lane at which no class begins.
const INSIDE: u16 = u16::MAX;

/// The lanes at which runs begin or end, one bit per lane number. Several threads may add to it.
#[derive(Debug, Default)]
pub(super) struct LaneClassBoundaries([AtomicU64; 4]);

impl LaneClassBoundaries {
    /// Adds the begin and the end of the lanes of a candidate.
    pub(super) fn add(&self, candidate: &CandidateHop) {
        let Range { start, end } = candidate.lanes();
        for lane in [start, end] {
            let (word, mask) = (&self.0[usize::from(lane) / 64], 1 << (lane % 64));
            if word.load(Relaxed) & mask == 0 {
                word.fetch_or(mask, Relaxed);
            }
        }
    }

    /// Whether a run begins or ends at a lane.
    fn has(&self, lane: u8) -> bool {
        self.0[usize::from(lane) / 64].load(Relaxed) & 1 << (lane % 64) != 0
    }
}

/// A partition of the lanes into classes of consecutive lanes.
#[derive(Debug)]
pub(super) struct LanePartition {
    /// For each lane, and one more: the class that begins there, or [`INSIDE`].
    begins: Vec<u16>,
    /// The lanes of each class.
    classes: Vec<Range<u8>>,
}

impl LanePartition {
    /// The classes of `lanes` lanes between these cuts. There must be at least one lane.
    pub(super) fn of(lanes: u8, cuts: &LaneClassBoundaries) -> Self {
        let (mut begins, mut classes, mut first) = (vec![0], Vec::new(), 0);
        for lane in 1..=lanes {
            let is_cut = lane == lanes || cuts.has(lane);
            if is_cut {
                classes.push(first..lane);
                first = lane;
            }
            begins.push(if is_cut { classes.len() as u16 } else { INSIDE });
        }
        Self { begins, classes }
    }

    /// The number of classes.
    pub(super) fn count(&self) -> usize {
        self.classes.len()
    }

    /// The classes that a candidate offers; `None` where it offers a part of a class.
    pub(super) fn offered(&self, candidate: &CandidateHop) -> Option<Range<u8>> {
        let Range { start, end } = candidate.lanes();
        let at = |lane: u8| self.begins.get(usize::from(lane)).filter(|class| **class != INSIDE);
        Some(*at(start)? as u8..*at(end)? as u8)
    }

    /// The first lane of a class.
    pub(super) fn first(&self, class: u8) -> u8 {
        self.classes[usize::from(class)].start
    }

    /// Expands numbers by channel and class to numbers by channel and lane.
    pub(super) fn by_lane(&self, numbers: &[u32]) -> Vec<u32> {
        if self.count() + 1 == self.begins.len() {
            return numbers.to_vec();
        }
        let mut all = Vec::with_capacity(numbers.len() / self.count() * (self.begins.len() - 1));
        for channel in numbers.chunks_exact(self.count()) {
            for (number, lanes) in channel.iter().zip(&self.classes) {
                all.resize(all.len() + lanes.len(), *number);
            }
        }
        all
    }

    /// The number of dependencies between lanes that a graph over classes stands for.
    pub(super) fn dependencies(&self, graph: &LaneDependencyGraph<'_>) -> u64 {
        let lanes = |class: u8| self.classes[usize::from(class)].len() as u64;
        let each = lanes(0);
        if (0..self.count()).all(|class| lanes(class as u8) == each) {
            return graph.dependencies() * each * each;
        }
        let of =
            |held| graph.wanted(held).map(|wanted| lanes(wanted.1)).sum::<u64>() * lanes(held.1);
        graph.vertices().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{ChannelId, SwitchId};

    fn offers(lane: u8, width: u8) -> CandidateHop {
        CandidateHop { channel: ChannelId(0), to: SwitchId(0), state: 0, lane, width }
    }

    #[test]
    fn classes_end_where_some_run_does() {
        let cuts = LaneClassBoundaries::default();
        for (lane, width) in [(0, 2), (2, 3), (7, 93), (100, 155)] {
            cuts.add(&offers(lane, width));
        }
        let classes = LanePartition::of(255, &cuts);
        assert_eq!(classes.classes, [0..2, 2..5, 5..7, 7..100, 100..255]);
        assert_eq!(classes.offered(&offers(2, 5)), Some(1..3));
        assert_eq!(classes.offered(&offers(0, 255)), Some(0..5));
        for (lane, width) in [(1, 1), (2, 4), (3, 2)] {
            assert_eq!(classes.offered(&offers(lane, width)), None);
        }
        assert_eq!((0..5).map(|class| classes.first(class)).collect::<Vec<_>>(), [0, 2, 5, 7, 100]);
        let few = LanePartition::of(4, &cuts);
        assert_eq!(few.classes, [0..2, 2..4], "a run that ends beyond");
        assert_eq!(few.offered(&offers(2, 3)), None);
        assert_eq!(few.by_lane(&[7, 8, 9, 3]), [7, 7, 8, 8, 9, 9, 3, 3]);
    }
}
