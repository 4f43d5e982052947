//! Placing: where on the floor racks stand.
//!
//! Source of the search: Kirkpatrick, Gelatt & Vecchi, "Optimization by simulated annealing",
//! Science 1983, whose first example is the placement of connected parts.

use super::hop_sums::{CableHopSums, FloorArea, FloorSpot};
use super::rules::FloorRules;
use base::exp::exp_minus;
use base::partition::WeightedGraph;
use base::seed::RandomStream;
use base::{Interrupted, ProgressWatch};
use std::collections::{BTreeMap, BTreeSet};

/// A coordinate on the floor; coordinates are sorted by their first number, then by the second, ...
pub(super) type RankedCoordinate = Vec<u32>;

/// Number of racks in a row: the rule's, else the side of a near-square.
pub(super) fn across(racks: usize, rules: &FloorRules) -> u32 {
    let side = (racks as f64).sqrt().ceil().max(1.0) as u32;
    rules.racks_per_row.unwrap_or(side)
}

/// Spots row by row; `to_and_fro` reverses every other row, so that consecutive racks are adjacent.
pub(super) fn row_by_row(racks: usize, rules: &FloorRules, to_and_fro: bool) -> Vec<FloorSpot> {
    rows_of(across(racks, rules), racks, to_and_fro)
}

/// Spots row by row for blocks of racks side by side: rows end between blocks of one width, where
/// the rules do not say how long rows are.
pub(super) fn blocks_by_row(
    widths: &[usize],
    rules: &FloorRules,
    to_and_fro: bool,
) -> Vec<FloorSpot> {
    let racks = widths.iter().sum();
    let usual = across(racks, rules);
    let width = widths.first().map_or(1, |&w| w as u32);
    let alike = widths.iter().all(|&w| w as u32 == width) && width <= usual;
    let whole = alike && rules.racks_per_row.is_none();
    rows_of(if whole { usual.next_multiple_of(width) } else { usual }, racks, to_and_fro)
}

fn rows_of(across: u32, racks: usize, to_and_fro: bool) -> Vec<FloorSpot> {
    let spot = |i: u32| {
        let (row, column) = (i / across, i % across);
        let turned = to_and_fro && row % 2 == 1;
        (row, if turned { across - 1 - column } else { column })
    };
    (0..racks as u32).map(spot).collect()
}

/// Spots of racks whose cells have a coordinate across the rows and one along them, in the order of
/// `cells` and of the racks in them, which stand side by side.
///
/// One row or column alone is laid to and fro. Rows longer than the rule allows go on in the next.
pub(super) fn on_grid(
    cells: &BTreeMap<(RankedCoordinate, RankedCoordinate), usize>,
    rules: &FloorRules,
) -> Vec<FloorSpot> {
    let rows: BTreeSet<&RankedCoordinate> = cells.keys().map(|(row, _)| row).collect();
    let mut widths: BTreeMap<&RankedCoordinate, usize> = BTreeMap::new();
    for ((_, column), &racks) in cells {
        let width = widths.entry(column).or_default();
        *width = racks.max(*width);
    }
    if rows.len() == 1 || widths.len() == 1 {
        return row_by_row(cells.values().sum(), rules, true);
    }
    let rows: BTreeMap<&RankedCoordinate, u32> = rows.into_iter().zip(0..).collect();
    let mut starts = BTreeMap::new();
    let mut end = 0;
    for (column, width) in widths {
        starts.insert(column, end);
        end += width as u32;
    }
    let most = rules.racks_per_row.unwrap_or(end).min(end);
    let folds = end.div_ceil(most);
    if rows.len() as u64 * u64::from(folds) > u64::from(u32::MAX) {
        return row_by_row(cells.values().sum(), rules, true);
    }
    let spot = |((row, column), &racks): ((&RankedCoordinate, &RankedCoordinate), &usize)| {
        let (row, start) = (rows[row], starts[column]);
        (start..start + racks as u32).map(move |c| (row * folds + c / most, c % most))
    };
    cells.iter().flat_map(|((row, column), racks)| spot(((row, column), racks))).collect()
}

/// Over a search the temperature falls from the mean growth of a random exchange by e^-SPAN.
const SPAN: f64 = 5.3;
/// Number of random exchanges from which the first temperature is estimated.
const SAMPLES: u64 = 200;
/// Exchanges tried for each rack; then the least number of exchanges tried.
const STEPS: u64 = 400;
const LEAST: u64 = 20_000;
/// Most passes over all pairs afterwards; moves of switches find what is left to gain then.
const SETTLING: u64 = 1;
/// Most terms summed in one search.
const WORK: u64 = 100_000_000;

/// Sums are kept from where fewer than one exchange in this many is made; before, most of them
/// would be out of date when they are needed.
const KEEPING: u64 = 8;
/// Number of exchanges between two looks at how many were made.
const LOOK: u64 = 1024;

/// Racks on spots, being exchanged so that the cables between them get shorter.
struct RackExchangeOptimizer<'a> {
    cables: &'a WeightedGraph,
    /// Distances of neighbours along a row and of rows, millimetres.
    pitch: (i128, i128),
    spots: Vec<FloorSpot>,
    /// Cables times hops for each rack, while they are kept.
    sums: Option<CableHopSums<'a>>,
}

impl RackExchangeOptimizer<'_> {
    /// By how much the cables of `rack` but those to `other` get longer, along the rows and across
    /// them, when it stands at `there`: cables times their Manhattan distances.
    fn longer(&self, rack: usize, there: FloorSpot, other: usize) -> (i64, i64) {
        let here = self.spots[rack];
        let more = |to: u32, here: u32, there: u32| {
            i64::from(to.abs_diff(there)) - i64::from(to.abs_diff(here))
        };
        let (mut along, mut across) = (0_i64, 0_i64);
        for (to, cables) in self.cables.edges(rack) {
            let (row, column) = self.spots[to];
            let cables = if to == other { 0 } else { i64::from(cables) };
            // a floor has far fewer than 2^31 hops, and fewer than 2^32 cables
            along = along.wrapping_add(cables.wrapping_mul(more(column, here.1, there.1)));
            across = across.wrapping_add(cables.wrapping_mul(more(row, here.0, there.0)));
        }
        (along, across)
    }

    /// By how much the length grows when two racks exchange their spots.
    fn growth(&self, a: usize, b: usize) -> i128 {
        let (along, across) = if let Some(sums) = &self.sums {
            self.longer_by_sums(sums, a, b)
        } else {
            let of_a = self.longer(a, self.spots[b], b);
            let of_b = self.longer(b, self.spots[a], a);
            (of_a.0 + of_b.0, of_a.1 + of_b.1)
        };
        self.pitch.0 * i128::from(along) + self.pitch.1 * i128::from(across)
    }

    /// By how much cables get longer, along the rows and across them, when two racks exchange their
    /// spots.
    fn longer_by_sums(&self, sums: &CableHopSums<'_>, a: usize, b: usize) -> (i64, i64) {
        let (of_a, of_b) = (self.spots[a], self.spots[b]);
        let (before, after) =
            ([sums.at(a, of_a), sums.at(b, of_b)], [sums.at(a, of_b), sums.at(b, of_a)]);
        // the sums take each cable between the two for one that would have no length afterwards
        let own = 2 * i64::from(self.cables.weight(a, b));
        let apart = |x: u32, y: u32| own * i64::from(x.abs_diff(y));
        (
            after[0].0 + after[1].0 - before[0].0 - before[1].0 + apart(of_a.1, of_b.1),
            after[0].1 + after[1].1 - before[0].1 - before[1].1 + apart(of_a.0, of_b.0),
        )
    }

    /// Begins to keep sums, where that can be.
    fn keep_sums(&mut self) {
        let area = FloorArea::around(self.spots.iter().copied());
        self.sums = CableHopSums::new(self.cables, |rack| self.spots[rack], vec![area], |_| 0);
    }

    /// Two racks exchange their spots.
    fn exchange(&mut self, a: usize, b: usize) {
        if let Some(sums) = &mut self.sums {
            sums.moved(a, self.spots[a], self.spots[b]);
            sums.moved(b, self.spots[b], self.spots[a]);
        }
        self.spots.swap(a, b);
    }

    /// Makes every exchange that shortens cables until none does, in at most `passes` passes over
    /// all pairs.
    fn settle(&mut self, passes: u64) {
        for _ in 0..passes {
            let mut better = false;
            for a in 0..self.spots.len() {
                for b in 0..a {
                    if self.growth(a, b) < 0 {
                        self.exchange(a, b);
                        better = true;
                    }
                }
            }
            if !better {
                return;
            }
        }
    }
}

/// Whether `drawn` is above e^-x by a bound of that which is quick to compute: above
/// 1 / (1 + x + x^2 / 2), and a little more for the rounding of [`exp_minus`].
fn is_too_long(x: f64, drawn: f64) -> bool {
    drawn * (1.0 + x + x * x / 2.0) > 1.0 + 1e-9
}

/// The spots of racks with `cables` between them, which start on `spots` in order: exchanged so
/// that the sum of cables times distance gets smaller; it never gets larger.
///
/// At least 20,000 exchanges are tried, and 400 a rack where that sums at most 10^8 terms.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub(super) fn annealed(
    cables: &WeightedGraph,
    spots: Vec<FloorSpot>,
    rules: &FloorRules,
    watch: &dyn ProgressWatch,
) -> Result<Vec<FloorSpot>, Interrupted> {
    let n = spots.len() as u64;
    let millimetres = |metres: f64| (metres * 1000.0).round() as i128;
    let pitch = (millimetres(rules.pitch_m), millimetres(rules.row_pitch()));
    if n < 3 || cables.targets.is_empty() || pitch == (0, 0) {
        return Ok(spots);
    }
    let mut draw = RandomStream::new(rules.seed, "floor", 0);
    let pick = |draw: &mut RandomStream| {
        let (a, b) = (draw.below(n), draw.below(n - 1));
        (a as usize, (b + u64::from(b >= a)) as usize)
    };
    let mut racks = RackExchangeOptimizer { cables, pitch, spots, sums: None };
    let (mut worse, mut sum) = (0.0, 0.0);
    for _ in 0..SAMPLES {
        let (a, b) = pick(&mut draw);
        let growth = racks.growth(a, b) as f64;
        if growth > 0.0 {
            (worse, sum) = (worse + 1.0, sum + growth);
        }
    }
    let unit = if worse > 0.0 { sum / worse } else { 1.0 };
    let terms = 4 * (cables.targets.len() as u64 / n + 1);
    let steps = (STEPS * n).min(WORK / terms).max(LEAST);
    let (mut grown, start) = (0, racks.spots.clone());
    let (mut made, mut kept, mut warmest) = (0, false, unit);
    let heat = |step: u64| unit * exp_minus(SPAN * step as f64 / steps as f64);
    for step in 0..steps {
        if step % 4096 == 0 {
            watch.tick("floor", step, steps)?;
        }
        if step % LOOK == 0 {
            if step > 0 && !kept && made * KEEPING < LOOK {
                racks.keep_sums();
                kept = true;
            }
            (made, warmest) = (0, heat(step));
        }
        let (a, b) = pick(&mut draw);
        let growth = racks.growth(a, b);
        let drawn = (draw.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        if growth <= 0
            || !is_too_long(growth as f64 / warmest, drawn)
                && drawn < exp_minus(growth as f64 / heat(step))
        {
            racks.exchange(a, b);
            grown += growth;
            made += 1;
        }
    }
    if grown > 0 {
        racks.spots = start;
    }
    racks.keep_sums();
    racks.settle((WORK / terms / (n * n)).min(SETTLING));
    Ok(racks.spots)
}
