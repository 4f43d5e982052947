//! Weighted random draws in constant time: alias tables, one for all sources or one for each.
//!
//! Source: Walker, "An efficient method for generating discrete random variables with general
//! distributions", TOMS 1977; Vose, "A linear algorithm for generating random numbers with a given
//! distribution", IEEE TSE 1991.

use base::seed::FastRandomStream;

/// A slot with two values; the first is drawn if a random number is below the threshold `cut`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AliasSlot {
    cut: u64,
    first: u32,
    other: u32,
}

/// A table from which values are drawn, each in proportion to its weight.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AliasTable {
    slots: Box<[AliasSlot]>,
}

impl AliasTable {
    /// The table for values with weights above 0; there is at least one.
    pub(crate) fn new(weighted: &[(u32, f64)]) -> Self {
        Self { slots: slots(weighted).into() }
    }

    /// Whether there is one value only.
    pub(crate) fn is_one(&self) -> bool {
        self.slots.len() == 1
    }

    #[inline]
    pub(crate) fn draw(&self, random: &mut FastRandomStream) -> u32 {
        drawn(&self.slots, random)
    }
}

/// An alias table for each source; it is empty for sources that send nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SourceAliasTables {
    starts: Box<[u32]>,
    slots: Box<[AliasSlot]>,
}

impl SourceAliasTables {
    /// The tables for sources 0, 1, ...
    pub(super) fn new<'a>(rows: impl IntoIterator<Item = &'a [(u32, f64)]>) -> Self {
        let (mut starts, mut all) = (vec![0], Vec::new());
        for row in rows {
            all.extend(slots(row));
            starts.push(all.len() as u32);
        }
        Self { starts: starts.into(), slots: all.into() }
    }

    /// A random destination of `source`; the source itself if its table is empty.
    #[inline]
    pub(super) fn draw(&self, source: u32, random: &mut FastRandomStream) -> u32 {
        let from = self.starts[source as usize] as usize;
        let row = &self.slots[from..self.starts[source as usize + 1] as usize];
        if row.is_empty() { source } else { drawn(row, random) }
    }
}

#[inline]
fn drawn(slots: &[AliasSlot], random: &mut FastRandomStream) -> u32 {
    let slot = slots[random.below(slots.len() as u32) as usize];
    // selects without a branch, as none could be predicted
    let first = random.next_u64() < slot.cut || slot.first == slot.other;
    [slot.other, slot.first][usize::from(first)]
}

/// As many slots of equal probability as there are values; each slot holds one or two values.
/// O(values).
fn slots(weighted: &[(u32, f64)]) -> Vec<AliasSlot> {
    let sum: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    let count = weighted.len() as f64;
    let mut left: Vec<f64> = weighted.iter().map(|(_, weight)| weight * count / sum).collect();
    let whole = |&(value, _): &(u32, f64)| AliasSlot {
        cut: FastRandomStream::ALWAYS,
        first: value,
        other: value,
    };
    let mut slots: Vec<AliasSlot> = weighted.iter().map(whole).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..weighted.len()).partition(|&i| left[i] < 1.0);
    while let (Some(&low), Some(&high)) = (small.last(), large.last()) {
        small.pop();
        slots[low].cut = FastRandomStream::threshold(left[low]);
        slots[low].other = slots[high].first;
        left[high] -= 1.0 - left[low];
        if left[high] < 1.0 {
            large.pop();
            small.push(high);
        }
    }
    slots // what is left over is 1 but for rounding
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of every value according to the slots.
    fn chances(slots: &[AliasSlot], values: u32) -> Vec<f64> {
        let mut of = vec![0.0; values as usize];
        for slot in slots {
            let cut = slot.cut as f64 / FastRandomStream::ALWAYS as f64;
            of[slot.first as usize] += cut / slots.len() as f64;
            of[slot.other as usize] += (1.0 - cut) / slots.len() as f64;
        }
        of
    }

    #[test]
    fn every_value_has_the_chance_of_its_weight() {
        for case in 0..200 {
            let mut stream = base::seed::RandomStream::new(case, "alias test", 0);
            let n = 1 + stream.below(9) as u32;
            let weighted: Vec<(u32, f64)> =
                (0..n).map(|i| (i, (1 + stream.below(1000)) as f64)).collect();
            let sum: f64 = weighted.iter().map(|w| w.1).sum();
            let found = chances(&slots(&weighted), n);
            for (&(value, weight), chance) in weighted.iter().zip(found) {
                assert!((weight / sum - chance).abs() < 1e-12, "{value} of {weighted:?}");
            }
        }
    }

    #[test]
    fn draws_are_of_the_row_of_their_source() {
        let rows: [&[(u32, f64)]; 3] = [&[(7, 2.0)], &[], &[(1, 1.0), (5, 3.0)]];
        let rows = SourceAliasTables::new(rows);
        let mut random = FastRandomStream::new(1, "alias test", 0);
        assert_eq!((rows.draw(0, &mut random), rows.draw(1, &mut random)), (7, 1));
        let fives = (0..4000).filter(|_| rows.draw(2, &mut random) == 5).count();
        assert!(fives.abs_diff(3000) < 137, "{fives}"); // five standard deviations
    }
}
