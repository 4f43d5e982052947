//! Events by their keys: a calendar of two wheels.
//!
//! The fine wheel has a bucket for each span of 2^shift ps of the block of time that is now, the
//! coarse one a bucket for each of the next blocks, and a heap has what is later. The bucket that
//! is now is sorted; all others are lists without order. So an event is moved twice and compared
//! with a few others, O(1) on average.
//! Source: Brown, "Calendar queues", CACM 31(10), 1988; Varghese and Lauck, "Hashed and
//! hierarchical timing wheels", SOSP 1987.

use crate::model::{Event, Key};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Buckets of a wheel, as a power of two.
const LOG: u32 = 12;
const BUCKETS: usize = 1 << LOG;
const MASK: u64 = BUCKETS as u64 - 1;

/// No entry.
const NONE: u32 = u32::MAX;

/// Events between two looks at whether buckets have the right width.
const TUNED: u32 = 1 << 16;

/// The width that a queue begins with: 2^10 ps.
const FIRST_SHIFT: u32 = 10;

struct Wheel {
    /// The first entry of each bucket.
    heads: Vec<u32>,
    /// Which buckets have any.
    full: [u64; BUCKETS / 64],
}

impl Wheel {
    fn new() -> Self {
        Self { heads: vec![NONE; BUCKETS], full: [0; BUCKETS / 64] }
    }

    /// The first bucket that is not empty, from `at` on, without going around.
    fn next(&self, at: usize) -> Option<usize> {
        if at >= BUCKETS {
            return None;
        }
        let (mut word, mut bits) = (at / 64, self.full[at / 64] & (u64::MAX << (at % 64)));
        while bits == 0 {
            word += 1;
            bits = *self.full.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    fn set(&mut self, bucket: usize, head: u32) {
        self.heads[bucket] = head;
        if head == NONE {
            self.full[bucket / 64] &= !(1 << (bucket % 64));
        } else {
            self.full[bucket / 64] |= 1 << (bucket % 64);
        }
    }
}

#[derive(Clone, Copy)]
struct Entry<E> {
    event: Event<E>,
    next: u32,
}

/// An event of the heap, the earliest on top.
struct Late<E>(Event<E>);

impl<E> PartialEq for Late<E> {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}

impl<E> Eq for Late<E> {}

impl<E> PartialOrd for Late<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Late<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.key.cmp(&self.0.key)
    }
}

/// Events in the order of their keys.
pub struct Queue<E> {
    /// A bucket of the fine wheel is 2^shift ps.
    shift: u32,
    /// The bucket that is now: the time of its beginning, in buckets.
    now: u64,
    /// Its events and all earlier ones, the latest first.
    open: Vec<Event<E>>,
    /// Keys and entries of the bucket that is opened.
    order: Vec<(Key, u32)>,
    fine: Wheel,
    coarse: Wheel,
    heap: BinaryHeap<Late<E>>,
    entries: Vec<Entry<E>>,
    free: u32,
    len: usize,
    /// Events taken, and buckets opened, since the width was looked at.
    taken: u32,
    opened: u32,
}

impl<E: Copy> Default for Queue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> Queue<E> {
    /// One without events.
    pub fn new() -> Self {
        Self {
            shift: FIRST_SHIFT,
            now: 0,
            open: Vec::new(),
            order: Vec::new(),
            fine: Wheel::new(),
            coarse: Wheel::new(),
            heap: BinaryHeap::new(),
            entries: Vec::new(),
            free: NONE,
            len: 0,
            taken: 0,
            opened: 0,
        }
    }

    /// How many events it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event, which may be earlier than those that were taken.
    #[inline]
    pub fn push(&mut self, event: Event<E>) {
        self.len += 1;
        self.place(event);
    }

    #[inline]
    fn place(&mut self, event: Event<E>) {
        let bucket = event.key.time_ps() >> self.shift;
        if bucket <= self.now {
            let at = self.open.partition_point(|other| other.key > event.key);
            self.open.insert(at, event);
            return;
        }
        let (block, here) = (bucket >> LOG, self.now >> LOG);
        let (wheel, slot) = if block == here {
            (&mut self.fine, (bucket & MASK) as usize)
        } else if block - here < BUCKETS as u64 {
            (&mut self.coarse, (block & MASK) as usize)
        } else {
            self.heap.push(Late(event));
            return;
        };
        let entry = Entry { event, next: wheel.heads[slot] };
        let at = self.free;
        if at == NONE {
            wheel.set(slot, self.entries.len() as u32);
            self.entries.push(entry);
        } else {
            wheel.set(slot, at);
            self.free = self.entries[at as usize].next;
            self.entries[at as usize] = entry;
        }
    }

    /// The earliest event, where it is earlier than `limit_ps`.
    #[inline]
    pub fn pop_before(&mut self, limit_ps: u64) -> Option<Event<E>> {
        loop {
            if let Some(event) = self.open.last() {
                if event.key.time_ps() >= limit_ps {
                    return None;
                }
                self.len -= 1;
                self.taken += 1;
                return self.open.pop();
            }
            if self.len == 0 || !self.open_next(limit_ps) {
                return None;
            }
        }
    }

    /// Goes on to the next bucket that begins before a time; false where there is none.
    fn open_next(&mut self, limit_ps: u64) -> bool {
        if self.taken >= TUNED {
            self.tune();
        }
        let here = self.now >> LOG;
        if let Some(slot) = self.fine.next((self.now & MASK) as usize + 1) {
            let bucket = here << LOG | slot as u64;
            if bucket << self.shift >= limit_ps {
                return false;
            }
            self.now = bucket;
            self.opened += 1;
            let mut at = self.fine.heads[slot];
            self.fine.set(slot, NONE);
            // keys are sorted, and each event is moved once
            while at != NONE {
                let Entry { event, next } = &self.entries[at as usize];
                self.order.push((event.key, at));
                at = *next;
            }
            self.order.sort_unstable_by_key(|entry| Reverse(entry.0));
            for (_, at) in self.order.drain(..) {
                let entry = &mut self.entries[at as usize];
                self.open.push(entry.event);
                entry.next = self.free;
                self.free = at;
            }
            return true;
        }
        let Some(block) = self.next_block() else { return false };
        if block << LOG << self.shift >= limit_ps {
            return false;
        }
        self.now = block << LOG;
        let slot = (block & MASK) as usize;
        let mut at = self.coarse.heads[slot];
        self.coarse.set(slot, NONE);
        while at != NONE {
            let Entry { event, next } = self.entries[at as usize];
            self.entries[at as usize].next = self.free;
            self.free = at;
            self.place(event);
            at = next;
        }
        while let Some(Late(event)) = self.heap.peek()
            && (event.key.time_ps() >> self.shift >> LOG) - block < BUCKETS as u64
        {
            let event = *event;
            self.heap.pop();
            self.place(event);
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
        let heap = self.heap.peek().map(|late| late.0.key.time_ps() >> self.shift >> LOG);
        wheel.into_iter().chain(heap).min()
    }

    /// The time of the earliest event, ps.
    pub fn first_ps(&self) -> Option<u64> {
        if let Some(event) = self.open.last() {
            return Some(event.key.time_ps());
        }
        if let Some(slot) = self.fine.next((self.now & MASK) as usize + 1) {
            return self.earliest(self.fine.heads[slot]);
        }
        let block = self.next_block()?;
        let wheel = self.earliest(self.coarse.heads[(block & MASK) as usize]);
        let heap = self.heap.peek().map(|late| late.0.key.time_ps());
        wheel.into_iter().chain(heap).min()
    }

    fn earliest(&self, head: u32) -> Option<u64> {
        let (mut at, mut found) = (head, None);
        while at != NONE {
            let entry = &self.entries[at as usize];
            let time = entry.event.key.time_ps();
            found = Some(found.map_or(time, |other: u64| other.min(time)));
            at = entry.next;
        }
        found
    }

    /// Takes an event out, where it is there. O(events of its bucket, and of the heap).
    pub fn remove(&mut self, key: Key) -> Option<Event<E>> {
        let bucket = key.time_ps() >> self.shift;
        let found = if bucket <= self.now {
            let at = self.open.partition_point(|other| other.key > key);
            let found = self.open.get(at).is_some_and(|event| event.key == key);
            found.then(|| self.open.remove(at))
        } else {
            let (block, here) = (bucket >> LOG, self.now >> LOG);
            if block - here < BUCKETS as u64 {
                let is_fine = block == here;
                let slot = (if is_fine { bucket } else { block } & MASK) as usize;
                self.unlink(is_fine, slot, key)
            } else {
                let found = self.heap.iter().find(|late| late.0.key == key).map(|late| late.0);
                if found.is_some() {
                    self.heap.retain(|late| late.0.key != key);
                }
                found
            }
        };
        self.len -= usize::from(found.is_some());
        found
    }

    fn unlink(&mut self, is_fine: bool, slot: usize, key: Key) -> Option<Event<E>> {
        let wheel = if is_fine { &mut self.fine } else { &mut self.coarse };
        let (mut before, mut at) = (NONE, wheel.heads[slot]);
        while at != NONE {
            let Entry { event, next } = self.entries[at as usize];
            if event.key == key {
                if before == NONE {
                    wheel.set(slot, next);
                } else {
                    self.entries[before as usize].next = next;
                }
                self.entries[at as usize].next = self.free;
                self.free = at;
                return Some(event);
            }
            (before, at) = (at, next);
        }
        None
    }

    /// Narrower buckets where they have many events, wider ones where most are empty.
    fn tune(&mut self) {
        let each = self.taken / self.opened.max(1);
        (self.taken, self.opened) = (0, 0);
        let shift = match each {
            0..2 => (self.shift + 2).min(40),
            2..32 => self.shift,
            _ => self.shift.saturating_sub(2),
        };
        if shift == self.shift {
            return;
        }
        let mut all: Vec<Event<E>> =
            std::mem::take(&mut self.heap).into_iter().map(|l| l.0).collect();
        all.append(&mut self.open);
        for wheel in [&mut self.fine, &mut self.coarse] {
            let mut from = 0;
            while let Some(slot) = wheel.next(from) {
                let mut at = wheel.heads[slot];
                while at != NONE {
                    all.push(self.entries[at as usize].event);
                    at = self.entries[at as usize].next;
                }
                wheel.set(slot, NONE);
                from = slot + 1;
            }
        }
        self.entries.clear();
        self.free = NONE;
        self.now = self.now << self.shift >> shift;
        self.shift = shift;
        for event in all {
            self.place(event);
        }
    }
}
