//! A look at what the next events will ask for, before they happen.
//!
//! With a million ranks little is in the caches, and an event asks for one thing after another:
//! which operation, which rank, who waits there, what waits for that. Memory answers many questions
//! at once in the time of a few. So the questions of several events are asked together, step by
//! step; nothing depends on the answers.

use super::machine::{EventKind, Machine, NONE};
use super::queue::{AHEAD, TimedEvent};
use std::hint::black_box;

/// Schedules of fewer operations stay in the caches.
const MANY: usize = 1 << 18;
/// Ranks that differ by no more are close: what one after another asks for, memory sends by itself.
const CLOSE: u32 = 8;

impl Machine<'_> {
    /// Whether looking ahead is worth it.
    pub(super) fn is_worth_looking_ahead(&self) -> bool {
        self.schedule.ops().len() >= MANY
    }

    /// Looks at what the next events will ask for. O(1).
    pub(super) fn look_ahead(&self) {
        let events = self.queue.soon();
        let close = |pair: &&[TimedEvent]| pair[0].rank.abs_diff(pair[1].rank) <= CLOSE;
        if 2 * events.windows(2).filter(close).count() > events.len() {
            return;
        }
        let mut seen = 0_u64;
        let mut here = [0; AHEAD];
        for (here, event) in here.iter_mut().zip(events) {
            let op = self.op(event.op);
            *here = if EventKind::of(event.key).is_arrival() { op.peer } else { event.rank };
        }
        // what an event ends: its own operation, or the receive that waits for the message
        let mut ends = [NONE; AHEAD];
        for ((ends, event), here) in ends.iter_mut().zip(events).zip(here) {
            let waits = self.ranks.waits(here).posted();
            *ends = if EventKind::of(event.key).is_arrival() { waits } else { NONE };
        }
        for (ends, event) in ends.iter_mut().zip(events) {
            *ends = self.matching.posted_at(*ends).unwrap_or(event.op);
        }
        for event in events.iter().filter(|event| EventKind::of(event.key) == EventKind::Take) {
            seen ^= self.look_at(self.partner(event.op));
        }
        let ends = &mut ends[..events.len()];
        for op in &*ends {
            seen ^= self.look_at(*op) ^ self.schedule.require(*op).len() as u64;
        }
        // what waits for that
        for op in &mut *ends {
            *op = self.schedule.require(*op).first().copied().unwrap_or(*op);
        }
        for op in &*ends {
            seen ^= self.look_at(*op);
        }
        black_box(seen);
    }

    /// What there is to know of an operation.
    #[inline]
    fn look_at(&self, op: u32) -> u64 {
        self.op(op).size ^ u64::from(self.count(op))
    }
}
