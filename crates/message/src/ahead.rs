//! Prefetching of the data that the next events will read.
//!
//! With a million ranks little of the data is in the caches, and an event makes dependent reads:
//! its operation, the rank, the receive that waits there, the operations that depend on it. Memory
//! answers many independent reads in the time of a few. So each of these reads is made for several
//! events together, step by step. The values that are read have no effect on the results.

use super::machine::{NONE, ScheduleEventKind, ScheduleRunState};
use super::queue::{AHEAD, TimedScheduleEvent};
use std::hint::black_box;

/// Number of operations below which a schedule stays in the caches.
const MANY: usize = 1 << 18;
/// Ranks whose numbers differ by no more are close: the hardware prefetches their data by itself.
const CLOSE: u32 = 8;

impl ScheduleRunState<'_> {
    /// Whether prefetching is worth its time.
    pub(super) fn is_worth_looking_ahead(&self) -> bool {
        self.schedule.ops().len() >= MANY
    }

    /// Reads what the next events will read. O(1).
    pub(super) fn look_ahead(&self) {
        let events = self.queue.soon();
        let close = |pair: &&[TimedScheduleEvent]| pair[0].rank.abs_diff(pair[1].rank) <= CLOSE;
        if 2 * events.windows(2).filter(close).count() > events.len() {
            return;
        }
        let mut seen = 0_u64;
        let mut here = [0; AHEAD];
        for (here, event) in here.iter_mut().zip(events) {
            let op = self.op(event.op);
            *here =
                if ScheduleEventKind::of(event.key).is_arrival() { op.peer } else { event.rank };
        }
        // the operation that an event ends: its own, or the receive that waits for the message
        let mut ends = [NONE; AHEAD];
        for ((ends, event), here) in ends.iter_mut().zip(events).zip(here) {
            let waits = self.ranks.waits(here).posted();
            *ends = if ScheduleEventKind::of(event.key).is_arrival() { waits } else { NONE };
        }
        for (ends, event) in ends.iter_mut().zip(events) {
            *ends = self.matching.posted_at(*ends).unwrap_or(event.op);
        }
        for event in events
            .iter()
            .filter(|event| ScheduleEventKind::of(event.key) == ScheduleEventKind::Take)
        {
            seen ^= self.look_at(self.partner(event.op));
        }
        let ends = &mut ends[..events.len()];
        for op in &*ends {
            seen ^= self.look_at(*op) ^ self.schedule.require(*op).len() as u64;
        }
        // the first operation that depends on it
        for op in &mut *ends {
            *op = self.schedule.require(*op).first().copied().unwrap_or(*op);
        }
        for op in &*ends {
            seen ^= self.look_at(*op);
        }
        black_box(seen);
    }

    /// Reads the data of an operation; the result only keeps the reads from being optimised out.
    #[inline]
    fn look_at(&self, op: u32) -> u64 {
        self.op(op).size ^ u64::from(self.count(op))
    }
}
