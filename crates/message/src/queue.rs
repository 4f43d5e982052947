//! Events in the order of time, then of a key: a radix heap.
//!
//! Source: Ahuja, Mehlhorn, Orlin, Tarjan: Faster algorithms for the shortest path problem, J. ACM
//! 37 (1990), section 3. Every event moves to a lower bucket at most 64 times. Pushing an event for
//! the current time, and popping one, costs O(1) if keys arrive in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Most events that are prefetched together, and fewest.
pub(super) const AHEAD: usize = 32;
const FEW: usize = 4;
/// An empty bucket keeps at most the memory of this number of events.
const KEPT: usize = 1 << 12;

/// An event and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TimedScheduleEvent {
    pub(super) time: u64,
    /// The key: among events of the same time the one with the least key is first.
    pub(super) key: u64,
    pub(super) op: u32,
    pub(super) rank: u32,
}

/// The queue of pending events.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    /// The current time: that of the event taken most recently from the buckets.
    last: u64,
    /// Events at the time `last`, by key; those before index `first` have been taken.
    present: Vec<TimedScheduleEvent>,
    first: usize,
    /// The events to prefetch, and whether they are new; the index up to which present events were
    /// prefetched, and the time up to which all events were.
    soon: Vec<TimedScheduleEvent>,
    is_news: bool,
    seen: usize,
    until: u64,
    /// Events at the time `last` whose keys did not arrive in order.
    late: BinaryHeap<Reverse<TimedScheduleEvent>>,
    /// Events before `last`: with some parameters a processor is free before it was requested.
    past: BinaryHeap<Reverse<TimedScheduleEvent>>,
    /// Events after `last`: bucket `i` holds those whose highest bit that differs from `last` is
    /// bit `i`.
    buckets: Vec<Vec<TimedScheduleEvent>>,
    /// The buckets that are not empty, a bit each.
    filled: u64,
}

impl EventQueue {
    pub(super) fn new() -> Self {
        Self { buckets: vec![Vec::new(); 64], ..Self::default() }
    }

    #[inline]
    pub(super) fn push(&mut self, event: TimedScheduleEvent) {
        if event.time > self.last {
            let bucket = (event.time ^ self.last).ilog2();
            self.buckets[bucket as usize].push(event);
            self.filled |= 1 << bucket;
        } else if event.time < self.last {
            self.past.push(Reverse(event));
        } else if self.present.last().is_none_or(|e| e.key < event.key) {
            self.present.push(event);
        } else {
            self.late.push(Reverse(event));
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<TimedScheduleEvent> {
        if let Some(Reverse(event)) = self.past.pop() {
            return Some(event);
        }
        if self.first == self.present.len() && self.late.is_empty() && !self.advance() {
            return None;
        }
        let next = self.present.get(self.first);
        if let Some(Reverse(late)) = self.late.peek()
            && next.is_none_or(|event| late.key < event.key)
        {
            return self.late.pop().map(|Reverse(event)| event);
        }
        self.first += 1;
        next.copied()
    }

    /// Whether [`EventQueue::soon`] holds events that have not been prefetched.
    #[inline]
    pub(super) fn is_news(&mut self) -> bool {
        if self.first > self.seen && self.present.len() - self.first >= FEW {
            let next = &self.present[self.first - 1..];
            self.soon.clear();
            self.soon.extend_from_slice(&next[..next.len().min(AHEAD)]);
            self.seen = self.first - 1 + self.soon.len();
            return true;
        }
        std::mem::take(&mut self.is_news)
    }

    /// The events that come next, at most [`AHEAD`].
    pub(super) fn soon(&self) -> &[TimedScheduleEvent] {
        &self.soon
    }

    /// Advances to the next time that has events; returns whether there is one.
    fn advance(&mut self) -> bool {
        if self.filled == 0 {
            return false;
        }
        let bucket = self.filled.trailing_zeros();
        self.filled &= self.filled - 1;
        self.present.clear();
        (self.first, self.seen) = (0, 0);
        let mut events = std::mem::take(&mut self.buckets[bucket as usize]);
        self.last = events.iter().map(|e| e.time).min().unwrap_or(self.last);
        if self.last <= self.until {
            self.seen = usize::MAX;
        } else if (FEW..=AHEAD).contains(&events.len()) {
            self.soon.clone_from(&events);
            (self.is_news, self.seen) = (true, usize::MAX);
            self.until = events.iter().map(|e| e.time).max().unwrap_or(self.last);
        }
        let mut is_sorted = true;
        for event in events.drain(..) {
            if event.time == self.last {
                is_sorted &= self.present.last().is_none_or(|e| e.key < event.key);
                self.present.push(event);
            } else {
                let lower = (event.time ^ self.last).ilog2();
                self.buckets[lower as usize].push(event);
                self.filled |= 1 << lower;
            }
        }
        if events.capacity() <= KEPT {
            self.buckets[bucket as usize] = events;
        }
        if !is_sorted {
            self.present.sort_unstable_by_key(|e| e.key);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_as_from_a_heap(
            steps in proptest::collection::vec((0_u64..40, 0_u8..4), 1..300),
            wide in 0_u32..50,
        ) {
            let (mut queue, mut heap) = (EventQueue::new(), BinaryHeap::new());
            let (mut now, mut serial) = (0_u64, 0_u64);
            for (delay, pops) in steps {
                // every seventh event is before the current time, every third has an older key
                let time = match serial % 7 {
                    6 => now.saturating_sub(delay),
                    _ => now + (delay << (wide * u32::from(delay > 30))),
                };
                serial += 1;
                let key = if serial % 3 == 0 { (1 << 40) - serial } else { (1 << 40) + serial };
                let event = TimedScheduleEvent { time, key, op: serial as u32, rank: 0 };
                queue.push(event);
                heap.push(Reverse(event));
                for _ in 0..pops / 2 {
                    let found = queue.pop();
                    prop_assert_eq!(found, heap.pop().map(|Reverse(e)| e));
                    now = found.map_or(now, |e| e.time);
                }
            }
            while let Some(Reverse(event)) = heap.pop() {
                prop_assert_eq!(queue.pop(), Some(event));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
