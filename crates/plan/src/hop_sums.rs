//! Sums of cables times hops from each vertex to the columns and rows of a floor, kept while
//! vertices move.
//!
//! A hop is the distance of two neighbouring columns, or rows. Where few moves are made of many
//! that are tried, sums that are kept say at once what a move would change.

use base::partition::WeightedGraph;

/// Row and column of a rack.
pub(super) type FloorSpot = (u32, u32);

/// Most sums for each end of a cable: memory beyond that of the cables is bounded.
const MOST_SUMS: usize = 8;

/// The columns and rows of a part of the floor.
#[derive(Clone, Copy)]
pub(super) struct FloorArea {
    columns: (u32, u32),
    rows: (u32, u32),
}

impl FloorArea {
    /// The least area that has all of `spots`.
    pub(super) fn around(spots: impl Iterator<Item = FloorSpot>) -> Self {
        let none = Self { columns: (u32::MAX, 0), rows: (u32::MAX, 0) };
        spots.fold(none, |area, (row, column)| Self {
            columns: (area.columns.0.min(column), area.columns.1.max(column)),
            rows: (area.rows.0.min(row), area.rows.1.max(row)),
        })
    }

    fn width(&self) -> usize {
        self.columns.1.saturating_sub(self.columns.0) as usize + 1
    }

    fn height(&self) -> usize {
        self.rows.1.saturating_sub(self.rows.0) as usize + 1
    }
}

/// For each vertex and each column of its area, the cables of the vertex times their hops along the
/// rows if it were in that column; likewise for each row of its area.
pub(super) struct CableHopSums<'a> {
    cables: &'a WeightedGraph,
    areas: Vec<FloorArea>,
    /// By vertex, its area, and where its sums begin.
    of: Vec<(u32, u32)>,
    /// The sums of each vertex: those of the columns, then those of the rows.
    sums: Vec<i16>,
    /// By how much a move makes the hops of one cable grow, for the columns and rows of an area.
    growth: Vec<i16>,
}

impl<'a> CableHopSums<'a> {
    /// The sums of vertices with `cables` on `spots`; vertex v is in area `area(v)` of `areas`.
    /// `None` where they would need too much memory or be too large.
    /// O(vertices + cables * columns).
    pub(super) fn new(
        cables: &'a WeightedGraph,
        spots: impl Fn(usize) -> FloorSpot,
        areas: Vec<FloorArea>,
        area: impl Fn(usize) -> u32,
    ) -> Option<Self> {
        let vertices = cables.size();
        let all = FloorArea::around((0..vertices).map(&spots));
        let longest = all.width().max(all.height()) as u64;
        let (mut of, mut end) = (Vec::with_capacity(vertices), 0);
        for v in 0..vertices {
            let weight: u64 = cables.edges(v).map(|(_, weight)| u64::from(weight)).sum();
            if weight.saturating_mul(longest) > i16::MAX as u64 {
                return None;
            }
            let own = &areas[area(v) as usize];
            of.push((area(v), end as u32));
            end += own.width() + own.height();
        }
        if end > MOST_SUMS * cables.targets.len() || end > u32::MAX as usize {
            return None;
        }
        let mut sums = Self { cables, areas, of, sums: vec![0; end], growth: Vec::new() };
        for v in 0..vertices {
            sums.change(v, None, spots(v));
        }
        Some(sums)
    }

    /// Takes into account that `vertex` has moved from one spot to another.
    pub(super) fn moved(&mut self, vertex: usize, from: FloorSpot, to: FloorSpot) {
        self.change(vertex, Some(from), to);
    }

    fn change(&mut self, vertex: usize, from: Option<FloorSpot>, to: FloorSpot) {
        let mut current = u32::MAX;
        for (next, weight) in self.cables.edges(vertex) {
            let (area, start) = self.of[next];
            if area != current {
                current = area;
                self.grow(area, from, to);
            }
            let weight = weight as i16;
            let sums = &mut self.sums[start as usize..][..self.growth.len()];
            for (sum, growth) in sums.iter_mut().zip(&self.growth) {
                *sum = sum.wrapping_add(weight.wrapping_mul(*growth));
            }
        }
    }

    /// Sets `growth` for an area.
    fn grow(&mut self, area: u32, from: Option<FloorSpot>, to: FloorSpot) {
        let FloorArea { columns, rows } = self.areas[area as usize];
        let growth = |at: u32, from: Option<u32>, to: u32| {
            to.abs_diff(at) as i16 - from.map_or(0, |from| from.abs_diff(at) as i16)
        };
        let column = |c| growth(c, from.map(|from| from.1), to.1);
        let row = |r| growth(r, from.map(|from| from.0), to.0);
        self.growth.clear();
        self.growth.extend((columns.0..=columns.1).map(column));
        self.growth.extend((rows.0..=rows.1).map(row));
    }

    /// The sums of `vertex` if it were at `spot`, which is in its area: along the rows, and across
    /// them.
    #[inline]
    pub(super) fn at(&self, vertex: usize, spot: FloorSpot) -> (i64, i64) {
        let (area, start) = self.of[vertex];
        let area = &self.areas[area as usize];
        let column = start as usize + (spot.1 - area.columns.0) as usize;
        let row = start as usize + area.width() + (spot.0 - area.rows.0) as usize;
        (i64::from(self.sums[column]), i64::from(self.sums[row]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::seed::RandomStream;

    /// A graph of `size` vertices with random cables, of 1 to 3 each.
    fn random(size: u32, cables: u64, draw: &mut RandomStream) -> WeightedGraph {
        let mut rows = vec![std::collections::BTreeMap::new(); size as usize];
        for _ in 0..cables {
            let (a, b) = (draw.below(size.into()) as u32, draw.below(size.into()) as u32);
            let weight = 1 + draw.below(3) as u32;
            if a != b {
                rows[a as usize].insert(b, weight);
                rows[b as usize].insert(a, weight);
            }
        }
        let mut graph = WeightedGraph {
            offsets: vec![0],
            targets: Vec::new(),
            weights: Vec::new(),
            masses: vec![1; size as usize],
            held: 0,
        };
        for row in rows {
            graph.targets.extend(row.keys());
            graph.weights.extend(row.values());
            graph.offsets.push(graph.targets.len() as u32);
        }
        graph
    }

    /// After random moves within areas each sum is that of the cables, added up one by one.
    #[test]
    fn sums_are_those_of_the_cables() {
        let mut draw = RandomStream::new(5, "sums", 0);
        let cables = random(40, 400, &mut draw);
        // two areas: the rows 0 to 3, and the rows 2 to 8
        let areas = [(0, 3), (2, 8)]
            .map(|(first, last)| FloorArea::around([(first, 1), (last, 9)].into_iter()));
        let area = |v: usize| u32::from(v.is_multiple_of(3));
        let mut place = |v: usize| {
            let column = 1 + draw.below(9) as u32;
            let row = draw.below(if area(v) == 0 { 4 } else { 7 }) as u32;
            (row + 2 * area(v), column)
        };
        let mut spots: Vec<FloorSpot> = (0..40).map(&mut place).collect();
        let mut sums =
            CableHopSums::new(&cables, |v| spots[v], areas.to_vec(), area).expect("small sums");
        for round in 0..100 {
            let vertex = round * 7 % 40;
            let to = place(vertex);
            sums.moved(vertex, spots[vertex], to);
            spots[vertex] = to;
            let asked = round * 11 % 40;
            let there = place(asked);
            let of = |far: fn(FloorSpot, FloorSpot) -> u32| -> i64 {
                let one = |(q, w): (usize, u32)| i64::from(w * far(spots[q], there));
                cables.edges(asked).map(one).sum()
            };
            let wanted = (of(|x, y| x.1.abs_diff(y.1)), of(|x, y| x.0.abs_diff(y.0)));
            assert_eq!(sums.at(asked, there), wanted, "round {round}");
        }
    }

    /// On each side of both limits: the largest sum, and the memory for each cable.
    #[test]
    fn what_is_too_large_has_no_sums() {
        let pair = |weight: u32| WeightedGraph {
            offsets: vec![0, 1, 2],
            targets: vec![1, 0],
            weights: vec![weight; 2],
            masses: vec![1; 2],
            held: 0,
        };
        let has = |weight: u32, columns: u32| {
            let cables = pair(weight);
            let spots = [(0, 0), (0, columns - 1)];
            let area = FloorArea::around(spots.into_iter());
            CableHopSums::new(&cables, |v| spots[v], vec![area], |_| 0).is_some()
        };
        assert!(has(4681, 7) && !has(4682, 7)); // 7 columns times 4682 are above 32,767
        assert!(has(1, 7) && !has(1, 8)); // two vertices of 9 sums, two ends of a cable
    }
}
