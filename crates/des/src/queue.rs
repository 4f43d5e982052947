//! The event queue, ordered by keys: a calendar queue of two wheels.
//!
//! The fine wheel has a bucket for each span of 2^shift ps in the current block of time, the coarse
//! wheel has a bucket for each of the next blocks, and a heap holds later events. The current
//! bucket is sorted; all others are unordered lists. So an event is compared with a few others
//! only, O(1) on average. The content of an event is not moved; only keys are.
//!
//! Source: Brown, "Calendar queues", CACM 31(10), 1988; Varghese and Lauck, "Hashed and
//! hierarchical timing wheels", SOSP 1987.

use crate::fetch::fetch;
use crate::model::{Event, EventKey, LpNumber};
use crate::wheel::{BUCKETS, EventBucketWheel, LOG, MASK, NONE};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The largest number of events in a bucket that is sorted by counting.
const FEW: usize = 24;

/// Events between two checks of the width of buckets.
const TUNED: u32 = 1 << 16;

/// Base-2 logarithm of the initial width of a bucket, in ps.
const FIRST_SHIFT: u32 = 10;

/// The key and the recipient of an event; its content has the same index in
/// [`EventQueue::payloads`].
#[derive(Clone, Copy)]
struct EventQueueEntry {
    key: EventKey,
    to: LpNumber,
    /// The next entry of its bucket, or of the list of free entries.
    next: u32,
}

/// The content of an event, aligned to cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct EventPayload<E>(E);

/// An event of the current bucket: its key, and the index of its entry.
type OpenEntry = (EventKey, u32);

/// Sorts the latest event to the front. In a small bucket, the place of each event is the number of
/// later ones: this takes more comparisons than sorting, but has no branch that the processor would
/// mispredict.
fn sort(open: &mut Vec<OpenEntry>, room: &mut Vec<OpenEntry>) {
    if open.len() > FEW {
        open.sort_unstable_by_key(|opened| Reverse(opened.0));
        return;
    }
    let count = open.len();
    // padding to a multiple of four, for loops of exactly four; it is later than no event
    open.resize(count.next_multiple_of(4), (EventKey::FIRST, NONE));
    room.clear();
    room.resize(count, (EventKey::FIRST, NONE));
    let mut sum = 0;
    for opened in &open[..count] {
        let later: usize = open
            .chunks_exact(4)
            .map(|four| four.iter().map(|other| usize::from(other.0 > opened.0)).sum::<usize>())
            .sum();
        room[later] = *opened;
        sum += later;
    }
    if sum == count * count.saturating_sub(1) / 2 {
        std::mem::swap(open, room);
    } else {
        // events with equal keys were given the same place
        open.truncate(count);
        open.sort_unstable_by_key(|opened| Reverse(opened.0));
    }
}

/// The queue of events in the order of their keys.
pub struct EventQueue<E> {
    /// Base-2 logarithm of the width of a bucket of the fine wheel, in ps.
    shift: u32,
    /// The number of the current bucket: its start time in units of the bucket width.
    now: u64,
    /// The events of the current bucket and of all earlier ones, the latest event first.
    open: Vec<OpenEntry>,
    /// Working memory for sorting.
    sorted: Vec<OpenEntry>,
    fine: EventBucketWheel,
    coarse: EventBucketWheel,
    /// The events beyond both wheels, the earliest on top.
    heap: BinaryHeap<Reverse<(EventKey, u32)>>,
    entries: Vec<EventQueueEntry>,
    payloads: Vec<EventPayload<E>>,
    free: u32,
    /// The entry of the next bucket that is prefetched next: [`Self::fetch_next`].
    cursor: u32,
    len: usize,
    /// The numbers of events taken and of buckets opened since the last check of the width.
    taken: u32,
    opened: u32,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[expect(clippy::inline_always, reason = "else 3 % of the time of a run of packets are calls")]
impl<E: Copy> EventQueue<E> {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            shift: FIRST_SHIFT,
            now: 0,
            open: Vec::new(),
            sorted: Vec::new(),
            fine: EventBucketWheel::new(),
            coarse: EventBucketWheel::new(),
            heap: BinaryHeap::new(),
            entries: Vec::new(),
            payloads: Vec::new(),
            free: NONE,
            cursor: NONE,
            len: 0,
            taken: 0,
            opened: 0,
        }
    }

    /// The number of events in the queue.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event. It may be earlier than events that were taken before.
    #[inline(always)]
    pub fn push(&mut self, event: Event<E>) {
        let Event { key, to, what } = event;
        self.len += 1;
        let at = self.free;
        if let Some(entry) = self.entries.get_mut(at as usize) {
            self.free = entry.next;
            *entry = EventQueueEntry { key, to, next: NONE };
            self.payloads[at as usize] = EventPayload(what);
            self.place(key, at);
        } else {
            self.entries.push(EventQueueEntry { key, to, next: NONE });
            self.payloads.push(EventPayload(what));
            self.place(key, self.entries.len() as u32 - 1);
        }
    }

    /// Puts an entry into the bucket of its time.
    fn place(&mut self, key: EventKey, at: u32) {
        let bucket = key.time_ps() >> self.shift;
        if bucket <= self.now {
            return self.place_now(key, at);
        }
        let (block, here) = (bucket >> LOG, self.now >> LOG);
        let (wheel, slot) = if block == here {
            (&mut self.fine, (bucket & MASK) as usize)
        } else if block - here < BUCKETS as u64 {
            (&mut self.coarse, (block & MASK) as usize)
        } else {
            return self.place_late(key, at);
        };
        self.entries[at as usize].next = wheel.add(slot, at);
    }

    /// Puts an entry into the sorted current bucket.
    #[cold]
    fn place_now(&mut self, key: EventKey, at: u32) {
        let place = self.open.partition_point(|other| other.0 > key);
        self.open.insert(place, (key, at));
    }

    /// Puts an entry into the heap beyond all buckets.
    #[cold]
    fn place_late(&mut self, key: EventKey, at: u32) {
        self.heap.push(Reverse((key, at)));
    }

    /// Frees an entry and returns its event.
    #[inline(always)]
    fn take(&mut self, at: u32) -> Event<E> {
        let entry = &mut self.entries[at as usize];
        let EventQueueEntry { key, to, .. } = *entry;
        entry.next = self.free;
        self.free = at;
        self.len -= 1;
        Event { key, to, what: self.payloads[at as usize].0 }
    }

    /// Takes the earliest event, if it is earlier than `limit_ps`.
    #[inline(always)]
    pub fn pop_before(&mut self, limit_ps: u64) -> Option<Event<E>> {
        if self.open.is_empty() && !self.open_next(limit_ps) {
            return None;
        }
        let &(key, at) = self.open.last()?;
        if key.time_ps() >= limit_ps {
            return None;
        }
        self.open.pop();
        self.taken += 1;
        Some(self.take(at))
    }

    /// Prefetches one more event of the next bucket, and the state of its recipient, if that bucket
    /// is known. With one call for each event taken, both are in the cache when they are needed.
    #[inline(always)]
    pub(crate) fn fetch_next<'a, S: 'a>(&mut self, state: impl FnOnce(LpNumber) -> &'a S) {
        let at = self.cursor as usize;
        let Some(entry) = self.entries.get(at) else { return };
        fetch(&self.payloads[at]);
        fetch(state(entry.to));
        self.cursor = entry.next;
        if let Some(next) = self.entries.get(entry.next as usize) {
            fetch(next);
        }
    }

    /// Opens the next bucket that has events, if it starts before `limit_ps`; returns false where
    /// none does.
    #[inline(never)]
    fn open_next(&mut self, limit_ps: u64) -> bool {
        if self.len == 0 {
            return false;
        }
        if self.taken >= TUNED {
            self.tune();
        }
        while self.open.is_empty() {
            let here = self.now >> LOG;
            let Some(slot) = self.fine.next((self.now & MASK) as usize + 1) else {
                if !self.next_blocks(limit_ps) {
                    return false;
                }
                continue;
            };
            let bucket = here << LOG | slot as u64;
            if bucket << self.shift >= limit_ps {
                return false;
            }
            self.now = bucket;
            self.opened += 1;
            let mut at = self.fine.take(slot);
            while at != NONE {
                let EventQueueEntry { key, next, .. } = self.entries[at as usize];
                self.open.push((key, at));
                at = next;
            }
            sort(&mut self.open, &mut self.sorted);
            self.cursor = self.fine.next(slot + 1).map_or(NONE, |slot| self.fine.heads[slot]);
        }
        true
    }

    /// Moves on to the next block of time that has events, if it starts before `limit_ps`; returns
    /// false where none does.
    fn next_blocks(&mut self, limit_ps: u64) -> bool {
        let Some(block) = self.next_block() else { return false };
        if block << LOG << self.shift >= limit_ps {
            return false;
        }
        self.now = block << LOG;
        let mut at = self.coarse.take((block & MASK) as usize);
        while at != NONE {
            let EventQueueEntry { key, next, .. } = self.entries[at as usize];
            self.place(key, at);
            at = next;
        }
        while let Some(&Reverse((key, at))) = self.heap.peek()
            && (key.time_ps() >> self.shift >> LOG) - block < BUCKETS as u64
        {
            self.heap.pop();
            self.place(key, at);
        }
        true
    }

    /// The next block of time that has events.
    fn next_block(&self) -> Option<u64> {
        let here = self.now >> LOG;
        let after = ((here & MASK) as usize) + 1;
        let ahead = self.coarse.next(after).map(|slot| slot as u64 - (here & MASK));
        let around =
            || self.coarse.next(0).map(|slot| slot as u64 + BUCKETS as u64 - (here & MASK));
        let wheel = ahead.or_else(around).map(|blocks| here + blocks);
        let heap = self.heap.peek().map(|late| late.0.0.time_ps() >> self.shift >> LOG);
        wheel.into_iter().chain(heap).min()
    }

    /// The time of the earliest event, ps.
    pub fn first_ps(&self) -> Option<u64> {
        if let Some(opened) = self.open.last() {
            return Some(opened.0.time_ps());
        }
        if let Some(slot) = self.fine.next((self.now & MASK) as usize + 1) {
            return self.earliest(self.fine.heads[slot]);
        }
        let block = self.next_block()?;
        let wheel = self.earliest(self.coarse.heads[(block & MASK) as usize]);
        let heap = self.heap.peek().map(|late| late.0.0.time_ps());
        wheel.into_iter().chain(heap).min()
    }

    fn earliest(&self, head: u32) -> Option<u64> {
        let (mut at, mut found) = (head, None);
        while at != NONE {
            let entry = &self.entries[at as usize];
            let time = entry.key.time_ps();
            found = Some(found.map_or(time, |other: u64| other.min(time)));
            at = entry.next;
        }
        found
    }

    /// Removes an event, if it is in the queue. O(events of its bucket, and of the heap).
    pub fn remove(&mut self, key: EventKey) -> Option<Event<E>> {
        let bucket = key.time_ps() >> self.shift;
        let (block, here) = (bucket >> LOG, self.now >> LOG);
        let at = if bucket <= self.now {
            let place = self.open.partition_point(|other| other.0 > key);
            let found = self.open.get(place).is_some_and(|opened| opened.0 == key);
            found.then(|| self.open.remove(place).1)
        } else if block - here < BUCKETS as u64 {
            let is_fine = block == here;
            let slot = (if is_fine { bucket } else { block } & MASK) as usize;
            self.unlink(is_fine, slot, key)
        } else {
            let found = self.heap.iter().find(|late| late.0.0 == key).map(|late| late.0.1);
            if found.is_some() {
                self.heap.retain(|late| late.0.0 != key);
            }
            found
        };
        at.map(|at| self.take(at))
    }

    /// Unlinks the entry with this key from a bucket, if it is there.
    fn unlink(&mut self, is_fine: bool, slot: usize, key: EventKey) -> Option<u32> {
        let wheel = if is_fine { &mut self.fine } else { &mut self.coarse };
        let (mut before, mut at) = (NONE, wheel.heads[slot]);
        while at != NONE {
            let EventQueueEntry { key: other, next, .. } = self.entries[at as usize];
            if other == key {
                if before == NONE {
                    wheel.take(slot);
                    if next != NONE {
                        wheel.add(slot, next);
                    }
                } else {
                    self.entries[before as usize].next = next;
                }
                return Some(at);
            }
            (before, at) = (at, next);
        }
        None
    }

    /// Makes buckets narrower where they hold many events, and wider where most are empty.
    fn tune(&mut self) {
        let each = self.taken / self.opened.max(1);
        (self.taken, self.opened) = (0, 0);
        let shift = match each {
            0..4 => (self.shift + 1).min(40),
            4..12 => self.shift,
            _ => self.shift.saturating_sub(1),
        };
        if shift == self.shift {
            return;
        }
        let mut all: Vec<u32> = self.heap.drain().map(|late| late.0.1).collect();
        all.extend(self.open.drain(..).map(|opened| opened.1));
        for wheel in [&mut self.fine, &mut self.coarse] {
            while let Some(slot) = wheel.next(0) {
                let mut at = wheel.take(slot);
                while at != NONE {
                    all.push(at);
                    at = self.entries[at as usize].next;
                }
            }
        }
        self.now = self.now << self.shift >> shift;
        self.shift = shift;
        for at in all {
            self.place(self.entries[at as usize].key, at);
        }
    }
}
