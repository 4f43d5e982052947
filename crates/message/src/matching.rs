//! Which message a receive gets: the oldest of its source and tag, either of which may be any.
//!
//! A rank has a list of what waits, from the oldest on, as long as that is short. Once it is not,
//! it has lists by source and tag in a hash table. There a receive of any source or tag has a list
//! of its own; a message that finds no receive stands in every list that receives can look in.

use base::quick::QuickHashBuilder;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use traffic::workload::{ANY, OperationKind, Schedule};

/// No place.
const NONE: u32 = u32::MAX;
/// In place of the oldest receive of a rank: it has lists by source and tag.
const HASHED: u32 = u32::MAX - 1;
/// A list is short up to this number of places.
const SHORT: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct MatchingKey {
    rank: u32,
    source: u32,
    tag: u32,
}

/// The first and the last of a list.
#[derive(Debug, Clone, Copy)]
struct WaitingList {
    first: u32,
    last: u32,
}

/// A receive or a message that waits.
#[derive(Debug, Clone, Copy)]
struct WaitingEntry {
    /// Its operation.
    op: u32,
    /// The source and the tag of the message, or those that the receive takes.
    source: u32,
    tag: u32,
    /// Its place in the order of arrival: the least number that waits is the oldest.
    serial: u32,
    next: u32,
    /// Where it is noted that a message was taken, if it stands in several lists.
    slot: u32,
}

/// The oldest receive and the oldest message that wait at a rank, where it has short lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShortLists {
    posted: u32,
    unexpected: u32,
}

impl Default for ShortLists {
    fn default() -> Self {
        Self { posted: NONE, unexpected: NONE }
    }
}

impl ShortLists {
    /// The place of the oldest receive, if there is one.
    #[inline]
    pub(super) fn posted(self) -> u32 {
        self.posted
    }

    #[inline]
    fn is_hashed(self) -> bool {
        self.posted == HASHED
    }
}

/// Receives and messages that wait for one another.
#[derive(Debug, Default)]
pub(super) struct Matching {
    posted: MatchingSide,
    unexpected: MatchingSide,
    /// What receives of each rank can be: a bit of any source, any tag, any of both.
    wild: Vec<u8>,
    taken: Vec<bool>,
    serial: u32,
}

#[derive(Debug, Default)]
struct MatchingSide {
    lists: HashMap<MatchingKey, WaitingList, QuickHashBuilder>,
    places: Vec<WaitingEntry>,
    /// Places that are free again.
    free: Vec<u32>,
}

/// The keys, besides the exact one, of receives that take a message: their bit, source and tag.
fn wilder(key: MatchingKey) -> [(u8, MatchingKey); 3] {
    [
        (1, MatchingKey { source: ANY, ..key }),
        (2, MatchingKey { tag: ANY, ..key }),
        (4, MatchingKey { source: ANY, tag: ANY, ..key }),
    ]
}

impl Matching {
    pub(super) fn new(schedule: &Schedule) -> Self {
        let wild = (0..schedule.ranks()).map(|rank| {
            let ops = schedule.of_rank(rank);
            let ops = &schedule.ops()[ops.start as usize..ops.end as usize];
            let receives = ops.iter().filter(|op| op.kind == OperationKind::Recv);
            receives.fold(0, |bits, op| {
                bits | match (op.peer == ANY, op.tag == ANY) {
                    (false, false) => 0,
                    (true, false) => 1,
                    (false, true) => 2,
                    (true, true) => 4,
                }
            })
        });
        Self { wild: wild.collect(), ..Self::default() }
    }

    /// A message from `source` arrives at `rank`: the oldest receive that takes it, which is then
    /// no longer posted; without one it waits as `op`.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        heads: &mut ShortLists,
        rank: u32,
        (source, tag): (u32, u32),
        op: u32,
    ) -> Option<u32> {
        if !heads.is_hashed() {
            let fits = |p: &WaitingEntry| takes(p.source, source) && takes(p.tag, tag);
            if let Some(found) = self.posted.take_short(&mut heads.posted, fits) {
                return Some(found.op);
            }
            let place = WaitingEntry { op, source, tag, serial: 0, next: NONE, slot: NONE };
            if self.unexpected.push_short(&mut heads.unexpected, place) {
                self.hash(heads, rank);
            }
            return None;
        }
        self.arrive_hashed(rank, source, tag, op)
    }

    fn arrive_hashed(&mut self, rank: u32, source: u32, tag: u32, op: u32) -> Option<u32> {
        let key = MatchingKey { rank, source, tag };
        let wild = self.wild[rank as usize];
        let place = |slot| WaitingEntry { op, source, tag, serial: 0, next: NONE, slot };
        if wild == 0 {
            if let Some(found) = self.posted.pop(key) {
                return Some(found.op);
            }
            self.unexpected.push(key, place(NONE));
            return None;
        }
        let others = wilder(key).into_iter().filter(|(bit, _)| wild & bit != 0).map(|(_, key)| key);
        let keys = std::iter::once(key).chain(others);
        let oldest =
            keys.clone().filter_map(|k| Some((self.posted.first(k)?, k))).min_by_key(|f| f.0);
        if let Some((_, key)) = oldest {
            return self.posted.pop(key).map(|found| found.op);
        }
        let slot = self.taken.len() as u32;
        self.taken.push(false);
        for key in keys {
            self.unexpected.push(key, place(slot));
        }
        None
    }

    /// A receive is posted: the oldest message that it takes, and the rank that sent it; without
    /// one it waits.
    #[inline]
    pub(super) fn post(
        &mut self,
        heads: &mut ShortLists,
        rank: u32,
        (source, tag): (u32, u32),
        op: u32,
    ) -> Option<(u32, u32)> {
        if !heads.is_hashed() {
            let fits = |p: &WaitingEntry| takes(source, p.source) && takes(tag, p.tag);
            if let Some(found) = self.unexpected.take_short(&mut heads.unexpected, fits) {
                return Some((found.op, found.source));
            }
            let place = WaitingEntry { op, source, tag, serial: 0, next: NONE, slot: NONE };
            if self.posted.push_short(&mut heads.posted, place) {
                self.hash(heads, rank);
            }
            return None;
        }
        self.post_hashed(rank, source, tag, op)
    }

    fn post_hashed(&mut self, rank: u32, source: u32, tag: u32, op: u32) -> Option<(u32, u32)> {
        let key = MatchingKey { rank, source, tag };
        while let Some(found) = self.unexpected.pop(key) {
            let slot = found.slot as usize;
            if found.slot == NONE || !std::mem::replace(&mut self.taken[slot], true) {
                return Some((found.op, found.source));
            }
        }
        self.serial += 1;
        let serial = self.serial;
        let place = WaitingEntry { op, source, tag, serial, next: NONE, slot: NONE };
        self.posted.push(key, place);
        None
    }

    /// From now on the rank has lists by source and tag. What waits there is of one side alone, or
    /// does not fit the other: it is put into them as it came.
    fn hash(&mut self, heads: &mut ShortLists, rank: u32) {
        while let Some(p) = self.posted.take_short(&mut heads.posted, |_| true) {
            self.post_hashed(rank, p.source, p.tag, p.op);
        }
        while let Some(p) = self.unexpected.take_short(&mut heads.unexpected, |_| true) {
            self.arrive_hashed(rank, p.source, p.tag, p.op);
        }
        heads.posted = HASHED;
    }

    /// The receive at a place of receives, if there is such a place.
    #[inline]
    pub(super) fn posted_at(&self, place: u32) -> Option<u32> {
        self.posted.places.get(place as usize).map(|place| place.op)
    }

    /// All receives that wait, by operation.
    pub(super) fn receives(&self) -> Vec<u32> {
        self.posted.all(|_| true)
    }

    /// All messages that wait, by the operations that sent them.
    pub(super) fn messages(&self) -> Vec<u32> {
        let mut all = self.unexpected.all(|p| p.slot == NONE || !self.taken[p.slot as usize]);
        all.dedup();
        all
    }
}

/// Whether one that takes `wanted` takes `is`.
#[inline]
fn takes(wanted: u32, is: u32) -> bool {
    wanted == ANY || wanted == is
}

impl MatchingSide {
    /// Where a place is put.
    #[inline]
    fn put(&mut self, place: WaitingEntry) -> u32 {
        if let Some(at) = self.free.pop() {
            self.places[at as usize] = place;
            at
        } else {
            self.places.push(place);
            self.places.len() as u32 - 1
        }
    }

    /// Puts a place at the end of a short list; whether that has become too long.
    #[inline]
    fn push_short(&mut self, oldest: &mut u32, place: WaitingEntry) -> bool {
        let new = self.put(place);
        let mut at = *oldest;
        if at == NONE {
            *oldest = new;
            return false;
        }
        let mut length = 1;
        while self.places[at as usize].next != NONE {
            at = self.places[at as usize].next;
            length += 1;
        }
        self.places[at as usize].next = new;
        length >= SHORT
    }

    /// Takes the oldest place that `fits` out of a short list.
    #[inline]
    fn take_short(
        &mut self,
        oldest: &mut u32,
        fits: impl Fn(&WaitingEntry) -> bool,
    ) -> Option<WaitingEntry> {
        let (mut before, mut at) = (NONE, *oldest);
        while at != NONE {
            let place = self.places[at as usize];
            if fits(&place) {
                match before {
                    NONE => *oldest = place.next,
                    before => self.places[before as usize].next = place.next,
                }
                self.free.push(at);
                return Some(place);
            }
            (before, at) = (at, place.next);
        }
        None
    }

    #[inline]
    fn push(&mut self, key: MatchingKey, place: WaitingEntry) {
        let at = self.put(place);
        match self.lists.entry(key) {
            Entry::Occupied(mut list) => {
                let list = list.get_mut();
                self.places[list.last as usize].next = at;
                list.last = at;
            }
            Entry::Vacant(new) => {
                new.insert(WaitingList { first: at, last: at });
            }
        }
    }

    /// The number of the oldest of a list.
    fn first(&self, key: MatchingKey) -> Option<u32> {
        self.lists.get(&key).map(|list| self.places[list.first as usize].serial)
    }

    #[inline]
    fn pop(&mut self, key: MatchingKey) -> Option<WaitingEntry> {
        let Entry::Occupied(mut list) = self.lists.entry(key) else { return None };
        let first = list.get().first;
        let place = self.places[first as usize];
        if place.next == NONE {
            list.remove();
        } else {
            list.get_mut().first = place.next;
        }
        self.free.push(first);
        Some(place)
    }

    /// Those that wait and are `meant`, ascending.
    fn all(&self, meant: impl Fn(&WaitingEntry) -> bool) -> Vec<u32> {
        let mut waits = vec![true; self.places.len()];
        self.free.iter().for_each(|&at| waits[at as usize] = false);
        let waiting = self.places.iter().zip(waits).filter(|(p, waits)| *waits && meant(p));
        let mut all: Vec<u32> = waiting.map(|(p, _)| p.op).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use traffic::workload::{Op, ScheduleBuilder};

    /// Receives and messages as lists that are searched from the oldest.
    #[derive(Default)]
    struct SlowMatching {
        posted: Vec<(u32, u32, u32)>,
        unexpected: Vec<(u32, u32, u32)>,
    }

    fn fits(receive: (u32, u32), message: (u32, u32)) -> bool {
        let one = |wanted: u32, is: u32| wanted == ANY || wanted == is;
        one(receive.0, message.0) && one(receive.1, message.1)
    }

    proptest! {
        #[test]
        fn the_oldest_that_fits_is_found(
            steps in proptest::collection::vec((any::<bool>(), 0_u32..4, 0_u32..4), 1..120),
            wild in any::<[bool; 2]>(),
        ) {
            let some = |n: u32, wild| if n == 3 && wild { ANY } else { n % 3 };
            let mut all = ScheduleBuilder::new(3);
            let mut rank = all.rank();
            for &(is_message, source, tag) in &steps {
                if !is_message {
                    let (source, tag) = (some(source, wild[0]), some(tag, wild[1]));
                    rank.add(Op::recv(1, source, tag)).expect("room");
                }
            }
            drop(rank);
            drop(all.rank());
            drop(all.rank());
            let schedule = all.finish().expect("a schedule");
            let (mut quick, mut slow) = (Matching::new(&schedule), SlowMatching::default());
            let mut heads = ShortLists::default();
            for (op, &(is_message, source, tag)) in (0..).zip(&steps) {
                if is_message {
                    let (source, tag) = (source % 3, tag % 3);
                    let place = slow.posted.iter().position(|r| fits((r.1, r.2), (source, tag)));
                    let expected = place.map(|at| slow.posted.remove(at).0);
                    if expected.is_none() {
                        slow.unexpected.push((op, source, tag));
                    }
                    prop_assert_eq!(quick.arrive(&mut heads, 0, (source, tag), op), expected);
                } else {
                    let (source, tag) = (some(source, wild[0]), some(tag, wild[1]));
                    let taken = |m: &(u32, u32, u32)| fits((source, tag), (m.1, m.2));
                    let place = slow.unexpected.iter().position(taken);
                    let expected = place.map(|at| slow.unexpected.remove(at));
                    if expected.is_none() {
                        slow.posted.push((op, source, tag));
                    }
                    let found = quick.post(&mut heads, 0, (source, tag), op);
                    prop_assert_eq!(found, expected.map(|m| (m.0, m.1)));
                }
            }
            let ops = |side: &[(u32, u32, u32)]| side.iter().map(|w| w.0).collect::<Vec<_>>();
            prop_assert_eq!(quick.receives(), ops(&slow.posted));
            prop_assert_eq!(quick.messages(), ops(&slow.unexpected));
        }
    }
}
