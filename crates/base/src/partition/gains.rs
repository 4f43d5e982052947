//! Vertices of two sides in the order of their gains, the latest first among equal ones.
//!
//! Source: Fiduccia & Mattheyses, "A linear-time heuristic for improving network partitions", DAC
//! 1982, whose lists by gain these are.

use std::collections::BinaryHeap;

/// No vertex.
const NONE: u32 = u32::MAX;
/// Different gains for each vertex up to which a list for each gain takes less than a heap.
const SPREAD: u64 = 16;
/// Different gains up to which there are lists however few the vertices.
const FEW: u64 = 512;

/// Vertices that may move, each on the side it would leave.
pub(super) struct Gains {
    /// When each vertex was entered last.
    entered: Vec<u32>,
    entries: u32,
    order: Order,
}

/// How the first of a side is found.
enum Order {
    Lists(Lists),
    /// Where gains are too many for lists: gain, entry and vertex; outdated ones are skipped.
    Heaps([BinaryHeap<(i64, u32, u32)>; 2]),
}

/// A list for each side and gain.
struct Lists {
    /// The largest gain; the smallest is its negative.
    most: i64,
    /// Words of `filled` for each side.
    words: usize,
    /// The latest vertex of each list.
    heads: Vec<u32>,
    /// Which lists have vertices, a bit each.
    filled: Vec<u64>,
    /// The last word of each side that may have a bit.
    top: [usize; 2],
    /// Of each vertex: its list, and the vertices after and before it there.
    places: Vec<[u32; 3]>,
}

impl Gains {
    /// Nothing of `size` vertices, whose gains are at most `most` and at least its negative.
    pub(super) fn new(size: usize, most: u64) -> Self {
        let order = if most.saturating_mul(2) <= FEW.max(SPREAD * size as u64) {
            Order::Lists(Lists::new(size, most))
        } else {
            Order::Heaps([BinaryHeap::new(), BinaryHeap::new()])
        };
        Self { entered: vec![0; size], entries: 0, order }
    }

    /// Takes all vertices out.
    pub(super) fn clear(&mut self) {
        self.entered.fill(0);
        self.entries = 0;
        match &mut self.order {
            Order::Lists(lists) => (0..lists.places.len()).for_each(|v| lists.leave(v)),
            Order::Heaps(heaps) => heaps.iter_mut().for_each(BinaryHeap::clear),
        }
    }

    /// Enters `v`, as the latest; a vertex that is here already has this gain from now on.
    pub(super) fn enter(&mut self, v: usize, side: bool, gain: i64) {
        self.entries += 1;
        self.entered[v] = self.entries;
        match &mut self.order {
            Order::Lists(lists) => {
                lists.leave(v);
                lists.enter(v, side, gain);
            }
            Order::Heaps(heaps) => {
                heaps[usize::from(side)].push((gain, self.entries, v as u32));
            }
        }
    }

    /// Takes `v` out.
    pub(super) fn leave(&mut self, v: usize) {
        self.entered[v] = 0;
        if let Order::Lists(lists) = &mut self.order {
            lists.leave(v);
        }
    }

    /// The vertex of most gain on `side`, the latest of these: gain, entry, vertex.
    pub(super) fn first(&mut self, side: bool) -> Option<(i64, u32, usize)> {
        match &mut self.order {
            Order::Lists(lists) => {
                let (gain, v) = lists.first(side)?;
                Some((gain, self.entered[v], v))
            }
            Order::Heaps(heaps) => {
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

impl Lists {
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
    use super::Gains;
    use crate::seed::Stream;

    /// Both orders, beside a list that is searched from end to end.
    #[test]
    fn the_first_is_of_most_gain_and_the_latest() {
        for (seed, most) in [(1, 3), (2, 40), (3, 700), (4, 1 << 40)] {
            let size = 30;
            let mut gains = Gains::new(size, most);
            let mut draw = Stream::new(seed, "gains", 0);
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
