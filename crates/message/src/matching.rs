//! Message matching: a receive gets the oldest message of its source and tag, either of which may
//! be a wildcard.
//!
//! A rank keeps a list of waiting receives or messages, from the oldest on, as long as the list is
//! short. When it gets long, the rank uses lists by source and tag in a hash table. There a receive
//! with a wildcard is in the list of its wildcard, and a message without a receive is in every list
//! that a receive for it may search.

use base::quick::QuickHashBuilder;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use traffic::workload::{ANY, OperationKind, Schedule};

/// No entry.
const NONE: u32 = u32::MAX;
/// In place of a rank's oldest receive: the rank uses lists by source and tag.
const HASHED: u32 = u32::MAX - 1;
/// Length at which a list stops being short.
const SHORT: usize = 12;

/// The key by which receives and messages match: receiver, sender and tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct MessageMatchingKey {
    rank: u32,
    source: u32,
    tag: u32,
}

/// The indices of the first and the last entry of a list.
#[derive(Debug, Clone, Copy)]
struct WaitingListEnds {
    first: u32,
    last: u32,
}

/// A waiting receive or message.
#[derive(Debug, Clone, Copy)]
struct WaitingReceiveOrMessage {
    /// The operation that receives, or that sent the message.
    op: u32,
    /// The source and the tag of the message, or those that the receive accepts, which may be
    /// wildcards.
    source: u32,
    tag: u32,
    /// Its serial number in the order of arrival: the oldest has the lowest.
    serial: u32,
    next: u32,
    /// For a message in several lists, the index of its flag in `taken`; else [`NONE`].
    slot: u32,
}

/// The indices of the oldest receive and the oldest message that wait at a rank with short lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct OldestOfShortLists {
    posted: u32,
    unexpected: u32,
}

impl Default for OldestOfShortLists {
    fn default() -> Self {
        Self { posted: NONE, unexpected: NONE }
    }
}

impl OldestOfShortLists {
    /// The index of the oldest waiting receive; [`NONE`] if no receive waits.
    #[inline]
    pub(super) fn posted(self) -> u32 {
        self.posted
    }

    #[inline]
    fn is_hashed(self) -> bool {
        self.posted == HASHED
    }
}

/// All waiting receives and messages.
#[derive(Debug, Default)]
pub(super) struct MessageMatcher {
    posted: WaitingListsByKey,
    unexpected: WaitingListsByKey,
    /// For each rank, the kinds of wildcards that its receives have used, a bit each: any source,
    /// any tag, both.
    wild: Vec<u8>,
    taken: Vec<bool>,
    serial: u32,
}

/// The receives or messages that wait, in lists by their matching keys.
#[derive(Debug, Default)]
struct WaitingListsByKey {
    lists: HashMap<MessageMatchingKey, WaitingListEnds, QuickHashBuilder>,
    places: Vec<WaitingReceiveOrMessage>,
    /// Indices of unused entries in `places`.
    free: Vec<u32>,
}

/// The keys with wildcards whose receives also take a message: for each the bit of its kind.
fn wilder(key: MessageMatchingKey) -> [(u8, MessageMatchingKey); 3] {
    [
        (1, MessageMatchingKey { source: ANY, ..key }),
        (2, MessageMatchingKey { tag: ANY, ..key }),
        (4, MessageMatchingKey { source: ANY, tag: ANY, ..key }),
    ]
}

impl MessageMatcher {
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

    /// Handles a message from `source` that arrives at `rank`. Returns the oldest receive that
    /// takes it, which is then removed; if there is none, the message waits, as `op`.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        heads: &mut OldestOfShortLists,
        rank: u32,
        (source, tag): (u32, u32),
        op: u32,
    ) -> Option<u32> {
        if !heads.is_hashed() {
            let fits = |p: &WaitingReceiveOrMessage| takes(p.source, source) && takes(p.tag, tag);
            if let Some(found) = self.posted.take_short(&mut heads.posted, fits) {
                return Some(found.op);
            }
            let place =
                WaitingReceiveOrMessage { op, source, tag, serial: 0, next: NONE, slot: NONE };
            if self.unexpected.push_short(&mut heads.unexpected, place) {
                self.hash(heads, rank);
            }
            return None;
        }
        self.arrive_hashed(rank, source, tag, op)
    }

    fn arrive_hashed(&mut self, rank: u32, source: u32, tag: u32, op: u32) -> Option<u32> {
        let key = MessageMatchingKey { rank, source, tag };
        let wild = self.wild[rank as usize];
        let place = |slot| WaitingReceiveOrMessage { op, source, tag, serial: 0, next: NONE, slot };
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

    /// Posts a receive. Returns the oldest message that it takes and the rank that sent it; if
    /// there is none, the receive waits.
    #[inline]
    pub(super) fn post(
        &mut self,
        heads: &mut OldestOfShortLists,
        rank: u32,
        (source, tag): (u32, u32),
        op: u32,
    ) -> Option<(u32, u32)> {
        if !heads.is_hashed() {
            let fits = |p: &WaitingReceiveOrMessage| takes(source, p.source) && takes(tag, p.tag);
            if let Some(found) = self.unexpected.take_short(&mut heads.unexpected, fits) {
                return Some((found.op, found.source));
            }
            let place =
                WaitingReceiveOrMessage { op, source, tag, serial: 0, next: NONE, slot: NONE };
            if self.posted.push_short(&mut heads.posted, place) {
                self.hash(heads, rank);
            }
            return None;
        }
        self.post_hashed(rank, source, tag, op)
    }

    fn post_hashed(&mut self, rank: u32, source: u32, tag: u32, op: u32) -> Option<(u32, u32)> {
        let key = MessageMatchingKey { rank, source, tag };
        while let Some(found) = self.unexpected.pop(key) {
            let slot = found.slot as usize;
            if found.slot == NONE || !std::mem::replace(&mut self.taken[slot], true) {
                return Some((found.op, found.source));
            }
        }
        self.serial += 1;
        let serial = self.serial;
        let place = WaitingReceiveOrMessage { op, source, tag, serial, next: NONE, slot: NONE };
        self.posted.push(key, place);
        None
    }

    /// Moves the entries of a rank from its short lists into lists by source and tag, oldest first.
    /// No waiting receive takes a waiting message, so that none is matched by this.
    fn hash(&mut self, heads: &mut OldestOfShortLists, rank: u32) {
        while let Some(p) = self.posted.take_short(&mut heads.posted, |_| true) {
            self.post_hashed(rank, p.source, p.tag, p.op);
        }
        while let Some(p) = self.unexpected.take_short(&mut heads.unexpected, |_| true) {
            self.arrive_hashed(rank, p.source, p.tag, p.op);
        }
        heads.posted = HASHED;
    }

    /// The receive at an index of `places`; none if the index is not valid.
    #[inline]
    pub(super) fn posted_at(&self, place: u32) -> Option<u32> {
        self.posted.places.get(place as usize).map(|place| place.op)
    }

    /// The operations of all waiting receives.
    pub(super) fn receives(&self) -> Vec<u32> {
        self.posted.all(|_| true)
    }

    /// The sends of all waiting messages.
    pub(super) fn messages(&self) -> Vec<u32> {
        let mut all = self.unexpected.all(|p| p.slot == NONE || !self.taken[p.slot as usize]);
        all.dedup();
        all
    }
}

/// Whether a receive with source or tag `wanted` takes a message with source or tag `is`.
#[inline]
fn takes(wanted: u32, is: u32) -> bool {
    wanted == ANY || wanted == is
}

impl WaitingListsByKey {
    /// Stores an entry and returns its index.
    #[inline]
    fn put(&mut self, place: WaitingReceiveOrMessage) -> u32 {
        if let Some(at) = self.free.pop() {
            self.places[at as usize] = place;
            at
        } else {
            self.places.push(place);
            self.places.len() as u32 - 1
        }
    }

    /// Appends an entry to a short list; returns whether the list is now too long.
    #[inline]
    fn push_short(&mut self, oldest: &mut u32, place: WaitingReceiveOrMessage) -> bool {
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

    /// Removes and returns the oldest entry of a short list that `fits`.
    #[inline]
    fn take_short(
        &mut self,
        oldest: &mut u32,
        fits: impl Fn(&WaitingReceiveOrMessage) -> bool,
    ) -> Option<WaitingReceiveOrMessage> {
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
    fn push(&mut self, key: MessageMatchingKey, place: WaitingReceiveOrMessage) {
        let at = self.put(place);
        match self.lists.entry(key) {
            Entry::Occupied(mut list) => {
                let list = list.get_mut();
                self.places[list.last as usize].next = at;
                list.last = at;
            }
            Entry::Vacant(new) => {
                new.insert(WaitingListEnds { first: at, last: at });
            }
        }
    }

    /// The serial number of the oldest entry in a list; none if the list is empty.
    fn first(&self, key: MessageMatchingKey) -> Option<u32> {
        self.lists.get(&key).map(|list| self.places[list.first as usize].serial)
    }

    #[inline]
    fn pop(&mut self, key: MessageMatchingKey) -> Option<WaitingReceiveOrMessage> {
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

    /// The operations of all waiting entries for which `meant` holds, ascending.
    fn all(&self, meant: impl Fn(&WaitingReceiveOrMessage) -> bool) -> Vec<u32> {
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
    use traffic::workload::{ScheduleBuilder, ScheduleOperation};

    /// A slow reference: receives and messages in lists that are searched from the oldest on.
    #[derive(Default)]
    struct ReferenceMessageMatcher {
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
                    rank.add(ScheduleOperation::recv(1, source, tag)).expect("room");
                }
            }
            drop(rank);
            drop(all.rank());
            drop(all.rank());
            let schedule = all.finish().expect("a schedule");
            let mut quick = MessageMatcher::new(&schedule);
            let mut slow = ReferenceMessageMatcher::default();
            let mut heads = OldestOfShortLists::default();
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
