//! Which message a receive gets: the oldest of its source and tag, either of which may be any.
//!
//! Lists by (rank, source, tag) in a hash table. A receive of any source or tag has a list of its
//! own; a message that finds no receive stands in every list that receives of its rank can look in.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use traffic::workload::{ANY, Kind, Schedule};

/// No place.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    rank: u32,
    source: u32,
    tag: u32,
}

/// The first and the last of a list.
#[derive(Debug, Clone, Copy)]
struct List {
    first: u32,
    last: u32,
}

/// A receive or a message that waits.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Its operation.
    op: u32,
    /// The rank of that.
    rank: u32,
    /// Of those that wait, the one with the least number is oldest.
    serial: u64,
    next: u32,
    /// Where it is noted that a message was taken, if it stands in several lists.
    slot: u32,
}

/// Receives and messages that wait for one another.
#[derive(Debug, Default)]
pub(super) struct Matching {
    posted: Side,
    unexpected: Side,
    /// What receives of each rank can be: a bit of any source, any tag, any of both.
    wild: Vec<u8>,
    taken: Vec<bool>,
    serial: u64,
}

#[derive(Debug, Default)]
struct Side {
    lists: HashMap<Key, List, BuildHasherDefault<Quick>>,
    places: Vec<Place>,
    /// Places that are free again.
    free: Vec<u32>,
}

/// The keys, besides the exact one, of receives that take a message: their bit, source and tag.
fn wilder(key: Key) -> [(u8, Key); 3] {
    [
        (1, Key { source: ANY, ..key }),
        (2, Key { tag: ANY, ..key }),
        (4, Key { source: ANY, tag: ANY, ..key }),
    ]
}

impl Matching {
    pub(super) fn new(schedule: &Schedule) -> Self {
        let wild = (0..schedule.ranks()).map(|rank| {
            let ops = schedule.of_rank(rank);
            let ops = &schedule.ops()[ops.start as usize..ops.end as usize];
            let receives = ops.iter().filter(|op| op.kind == Kind::Recv);
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
    pub(super) fn arrive(&mut self, rank: u32, source: u32, tag: u32, op: u32) -> Option<u32> {
        let key = Key { rank, source, tag };
        let wild = self.wild[rank as usize];
        if wild == 0 {
            if let Some(found) = self.posted.pop(key) {
                return Some(found.op);
            }
            self.unexpected
                .push(key, Place { op, rank: source, serial: 0, next: NONE, slot: NONE });
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
            self.unexpected.push(key, Place { op, rank: source, serial: 0, next: NONE, slot });
        }
        None
    }

    /// A receive is posted: the oldest message that it takes, and the rank that sent it; without
    /// one it waits.
    #[inline]
    pub(super) fn post(&mut self, rank: u32, source: u32, tag: u32, op: u32) -> Option<(u32, u32)> {
        let key = Key { rank, source, tag };
        while let Some(found) = self.unexpected.pop(key) {
            let slot = found.slot as usize;
            if found.slot == NONE || !std::mem::replace(&mut self.taken[slot], true) {
                return Some((found.op, found.rank));
            }
        }
        self.serial += 1;
        let serial = self.serial;
        self.posted.push(key, Place { op, rank, serial, next: NONE, slot: NONE });
        None
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

impl Side {
    #[inline]
    fn push(&mut self, key: Key, place: Place) {
        let at = if let Some(at) = self.free.pop() {
            self.places[at as usize] = place;
            at
        } else {
            self.places.push(place);
            self.places.len() as u32 - 1
        };
        match self.lists.entry(key) {
            Entry::Occupied(mut list) => {
                let list = list.get_mut();
                self.places[list.last as usize].next = at;
                list.last = at;
            }
            Entry::Vacant(new) => {
                new.insert(List { first: at, last: at });
            }
        }
    }

    /// The number of the oldest of a list.
    fn first(&self, key: Key) -> Option<u64> {
        self.lists.get(&key).map(|list| self.places[list.first as usize].serial)
    }

    #[inline]
    fn pop(&mut self, key: Key) -> Option<Place> {
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
    fn all(&self, meant: impl Fn(&Place) -> bool) -> Vec<u32> {
        let mut waits = vec![true; self.places.len()];
        self.free.iter().for_each(|&at| waits[at as usize] = false);
        let waiting = self.places.iter().zip(waits).filter(|(p, waits)| *waits && meant(p));
        let mut all: Vec<u32> = waiting.map(|(p, _)| p.op).collect();
        all.sort_unstable();
        all
    }
}

/// A hash of a few words.
#[derive(Default)]
pub(super) struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u32(b.into());
        }
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use traffic::workload::{Builder, Op};

    /// Receives and messages as lists that are searched from the oldest.
    #[derive(Default)]
    struct Slow {
        posted: Vec<(u32, u32, u32)>,
        unexpected: Vec<(u32, u32, u32)>,
    }

    fn takes(receive: (u32, u32), message: (u32, u32)) -> bool {
        let fits = |wanted: u32, is: u32| wanted == ANY || wanted == is;
        fits(receive.0, message.0) && fits(receive.1, message.1)
    }

    proptest! {
        #[test]
        fn the_oldest_that_fits_is_found(
            steps in proptest::collection::vec((any::<bool>(), 0_u32..4, 0_u32..4), 1..120),
            wild in any::<[bool; 2]>(),
        ) {
            let some = |n: u32, wild| if n == 3 && wild { ANY } else { n % 3 };
            let mut all = Builder::new(3);
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
            let (mut quick, mut slow) = (Matching::new(&schedule), Slow::default());
            for (op, &(is_message, source, tag)) in (0..).zip(&steps) {
                if is_message {
                    let (source, tag) = (source % 3, tag % 3);
                    let place = slow.posted.iter().position(|r| takes((r.1, r.2), (source, tag)));
                    let expected = place.map(|at| slow.posted.remove(at).0);
                    if expected.is_none() {
                        slow.unexpected.push((op, source, tag));
                    }
                    prop_assert_eq!(quick.arrive(0, source, tag, op), expected);
                } else {
                    let (source, tag) = (some(source, wild[0]), some(tag, wild[1]));
                    let fits = |m: &(u32, u32, u32)| takes((source, tag), (m.1, m.2));
                    let place = slow.unexpected.iter().position(fits);
                    let expected = place.map(|at| slow.unexpected.remove(at));
                    if expected.is_none() {
                        slow.posted.push((op, source, tag));
                    }
                    let found = quick.post(0, source, tag, op);
                    prop_assert_eq!(found, expected.map(|m| (m.0, m.1)));
                }
            }
            let ops = |side: &[(u32, u32, u32)]| side.iter().map(|w| w.0).collect::<Vec<_>>();
            prop_assert_eq!(quick.receives(), ops(&slow.posted));
            prop_assert_eq!(quick.messages(), ops(&slow.unexpected));
        }
    }
}
