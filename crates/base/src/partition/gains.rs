//! A priority queue of the vertices of two sides by their gains, the latest first among equal
//! gains.
//!
//! Source: Fiduccia & Mattheyses, "A linear-time heuristic for improving network partitions", DAC
//! 1982, whose lists by gain these are.

use std::collections::BinaryHeap;

/// The index that means "no vertex".
const NONE: u32 = u32::MAX;
/// Up to this number of different gains per vertex, a list for each gain takes less memory than a
/// heap.
const SPREAD: u64 = 16;
/// Up to this number of different gains, lists are used, however few the vertices.
const FEW: u64 = 512;

/// A queue of the vertices that may move, each on the side that it would leave.
pub(super) struct GainQueue {
    /// The number of the entry by which each vertex is in the queue (see `entries`); 0 where it is
    /// not.
    entered: Vec<u32>,
    entries: u32,
    order: GainQueueStorage,
}

/// The data structure that finds the first vertex of a side.
enum GainQueueStorage {
    Buckets(GainBuckets),
    /// Heaps of gain, entry and vertex, used where there are too many different gains for lists.
    /// Outdated entries are skipped.
    Heaps([BinaryHeap<(i64, u32, u32)>; 2]),
}

/// Lists of vertices, one for each side and gain.
struct GainBuckets {
    /// The largest gain; the smallest is its negative.
    most: i64,
    /// The number of words of `filled` for each side.
    words: usize,
    /// The latest vertex of each list.
    heads: Vec<u32>,
    /// A bit for each list: whether the list has vertices.
    filled: Vec<u64>,
    /// The last word of each side that may have a bit set.
    top: [usize; 2],
    /// For each vertex: its list, and the vertices after and before it in that list.
    places: Vec<[u32; 3]>,
}

impl GainQueue {
    /// An empty queue for `size` vertices, whose gains are between -`most` and `most`.
    pub(super) fn new(size: usize, most: u64) -> Self {
        let order = if most.saturating_mul(2) <= FEW.max(SPREAD * size as u64) {
            GainQueueStorage::Buckets(GainBuckets::new(size, most))
        } else {
            GainQueueStorage::Heaps([BinaryHeap::new(), BinaryHeap::new()])
        };
        Self { entered: vec![0; size], entries: 0, order }
    }

    /// Removes all vertices.
    pub(super) fn clear(&mut self) {
        self.entered.fill(0);
        self.entries = 0;
        match &mut self.order {
            GainQueueStorage::Buckets(lists) => {
                (0..lists.places.len()).for_each(|v| lists.leave(v));
            }
            GainQueueStorage::Heaps(heaps) => heaps.iter_mut().for_each(BinaryHeap::clear),
        }
    }

    /// Enters `v` as the latest vertex; a vertex that is already in the queue gets this gain.
    pub(super) fn enter(&mut self, v: usize, side: bool, gain: i64) {
        self.entries += 1;
        self.entered[v] = self.entries;
        match &mut self.order {
            GainQueueStorage::Buckets(lists) => {
                lists.leave(v);
                lists.enter(v, side, gain);
            }
            GainQueueStorage::Heaps(heaps) => {
                heaps[usize::from(side)].push((gain, self.entries, v as u32));
            }
        }
    }

    /// Removes `v`.
    pub(super) fn leave(&mut self, v: usize) {
        self.entered[v] = 0;
        if let GainQueueStorage::Buckets(lists) = &mut self.order {
            lists.leave(v);
        }
    }

    /// The vertex with the largest gain on `side`, the latest among equals: gain, entry, vertex.
    pub(super) fn first(&mut self, side: bool) -> Option<(i64, u32, usize)> {
        match &mut self.order {
            GainQueueStorage::Buckets(lists) => {
                let (gain, v) = lists.first(side)?;
                Some((gain, self.entered[v], v))
            }
            GainQueueStorage::Heaps(heaps) => {
                let heap = &mut heaps[usize::from(side)];
                while let Some(&(gain, entry, v)) = heap.peek() {
                    if self.entered[v as usize] == entry {
                        return Some((gain, entry, v as usize));
                    }
                    heap.pop();
                }
                None
            }
        }
    }
}

impl GainBuckets {
    fn new(size: usize, most: u64) -> Self {
        let words = (2 * most as usize + 1).div_ceil(64);
        Self {
            most: most as i64,
            words,
            heads: vec![NONE; 2 * 64 * words],
            filled: vec![0; 2 * words],
            top: [0, words],
            places: vec![[NONE; 3]; size],
        }
    }

    #[inline]
    fn enter(&mut self, v: usize, side: bool, gain: i64) {
        let list = usize::from(side) * 64 * self.words + (gain + self.most) as usize;
        let next = self.heads[list];
        if next == NONE {
            self.filled[list / 64] |= 1 << (list % 64);
            let top = &mut self.top[usize::from(side)];
            *top = (list / 64).max(*top);
        } else {
            self.places[next as usize][2] = v as u32;
        }
        self.heads[list] = v as u32;
        self.places[v] = [list as u32, next, NONE];
    }

    #[inline]
    fn leave(&mut self, v: usize) {
        let [list, next, before] = self.places[v];
        if list == NONE {
            return;
        }
        self.places[v][0] = NONE;
        if next != NONE {
            self.places[next as usize][2] = before;
        }
        if before != NONE {
            self.places[before as usize][1] = next;
            return;
        }
        self.heads[list as usize] = next;
        if next == NONE {
            self.filled[list as usize / 64] &= !(1 << (list % 64));
        }
    }

    fn first(&mut self, side: bool) -> Option<(i64, usize)> {
        let start = usize::from(side) * self.words;
        let top = &mut self.top[usize::from(side)];
        while self.filled[*top] == 0 {
            if *top == start {
                return None;
            }
            *top -= 1;
        }
        let list = *top * 64 + self.filled[*top].ilog2() as usize;
        Some(((list - start * 64) as i64 - self.most, self.heads[list] as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::GainQueue;
    use crate::seed::RandomStream;

    /// Compares both data structures with a list that is searched from end to end.
    #[test]
    fn the_first_is_of_most_gain_and_the_latest() {
        for (seed, most) in [(1, 3), (2, 40), (3, 700), (4, 1 << 40)] {
            let size = 30;
            let mut gains = GainQueue::new(size, most);
            let mut draw = RandomStream::new(seed, "gains", 0);
            for _ in 0..3 {
                gains.clear();
                let mut all: Vec<(usize, bool, i64)> = Vec::new();
                for _ in 0..500 {
                    let v = draw.below(size as u64) as usize;
                    // a vertex stays on its side
                    let side = v.is_multiple_of(3);
                    let gain = draw.below(2 * most + 1) as i64 - most as i64;
                    all.retain(|&(w, ..)| w != v);
                    if draw.below(4) == 0 {
                        gains.leave(v);
                    } else {
                        gains.enter(v, side, gain);
                        all.push((v, side, gain));
                    }
                    for side in [false, true] {
                        let of = all.iter().filter(|&&(_, s, _)| s == side);
                        let first = of.max_by_key(|&&(.., gain)| gain).map(|&(v, _, g)| (g, v));
                        assert_eq!(gains.first(side).map(|(g, _, v)| (g, v)), first, "{most}");
                    }
                }
            }
        }
    }
}
