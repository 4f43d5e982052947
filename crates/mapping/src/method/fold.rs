//! Folding: a grid of processes is folded into a grid of switches.
//!
//! A grid of processes is recognised by its row-major numbers: the numbers of partners differ by
//! few values. Each of its sides is cut into factors, and some of the factors make up each side of
//! the network. Within a side the largest factor runs back and forth, so that neighbours at a fold
//! stay neighbours, and the others step from sheet to sheet.

use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::run::{MappingMethodInput, PreparedMappingProblem};
use crate::slots::switch_of;
use base::part::PartDescription;
use base::{ComputationError, Refusal};
use fabric::geometry::PlaneStructure;
use std::collections::BTreeMap;

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<FoldingMethod>();

/// The mapping method that folds a grid of processes into a grid of switches.
struct FoldingMethod;

impl MappingMethod for FoldingMethod {
    const PART: PartDescription =
        PartDescription::new("fold", "a grid of processes folded into a grid of switches");

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        _: u64,
    ) -> Result<(), ComputationError> {
        let help = "as many processes as slots, row-major, on a grid of switches";
        let none = || Refusal::new("method", "fold: these are no two grids", help);
        *at = fold(&run.input(), run.metric).ok_or_else(none)?;
        Ok(())
    }
}

/// The largest number of foldings that are tried.
const MOST_FOLDINGS: usize = 400;

/// The largest number of sides of a grid of processes.
const MOST_SIDES: usize = 6;

/// The approximate number of processes on which foldings are compared.
const SAMPLE: usize = 1024;

/// The best folding; `None` if processes or switches do not form complete grids of the same size.
/// O(foldings * pairs of the sampled processes).
pub(super) fn fold<M: SiteMetric>(
    input: &MappingMethodInput<'_>,
    metric: &M,
) -> Option<ProcessArrangement> {
    let problem = input.problem;
    let any_pinned = (0..problem.processes as u32).any(|p| problem.is_pinned(p));
    if problem.processes != problem.slots.count() || any_pinned {
        return None;
    }
    let (sides, per_switch) = network_sides(input)?;
    let grid = process_sides(input)?;
    let mut targets = sides.clone();
    if per_switch > 1 {
        targets.push(per_switch);
    }
    let mut foldings = Vec::new();
    assign(&grid, &targets, &mut vec![vec![1; targets.len()]; grid.len()], 0, 0, &mut foldings);
    let slots = slots_by_place(input, &targets, per_switch)?;
    let count = problem.processes as u32;
    let slot = |folding: &GridFolding<'_>, p: u32| slots[folding.place(p) as usize];
    // an odd step, so that the samples have different positions on a sheet
    let step = (problem.processes / SAMPLE) | 1;
    let estimate = |factors: &[Vec<u32>]| -> i64 {
        let folding = GridFolding::new(&grid, factors, &targets);
        let site = |p: u32| problem.slots.site(slot(&folding, p));
        let of = |p: u32| -> i64 {
            let here = site(p);
            let row = problem.row(p).iter();
            row.map(|&(x, w)| i64::from(w) * i64::from(metric.hops(here, site(x)))).sum()
        };
        (0..count).step_by(step).map(of).sum()
    };
    let best = foldings.iter().min_by_key(|factors| estimate(factors))?;
    let folding = GridFolding::new(&grid, best, &targets);
    Some(ProcessArrangement::of(problem, (0..count).map(|p| slot(&folding, p)).collect()))
}

/// The sides of the network's grid, and the number of slots on each of its switches.
fn network_sides(input: &MappingMethodInput<'_>) -> Option<(Vec<u32>, u32)> {
    let (on, slots) = (input.on, input.problem.slots);
    let PlaneStructure::Grid(_) = on.geometry().form else { return None };
    let per_switch = slots.of_site(0).len();
    let even = (0..slots.sites() as u32).all(|s| slots.of_site(s).len() == per_switch);
    if slots.sites() != on.switches().len() || !even {
        return None;
    }
    let dimensions = on.switches()[0].coordinates.len();
    let side = |d: usize| on.switches().iter().map(|s| s.coordinates[d] + 1).max().unwrap_or(1);
    let sides: Vec<u32> = (0..dimensions).map(side).collect();
    let all: u64 = sides.iter().map(|&n| u64::from(n)).product();
    (dimensions <= 6 && all == on.switches().len() as u64).then_some((sides, per_switch as u32))
}

/// The slot at each place of the grid; slots of one switch are consecutive.
fn slots_by_place(
    input: &MappingMethodInput<'_>,
    targets: &[u32],
    per_switch: u32,
) -> Option<Vec<u32>> {
    let (on, slots) = (input.on, input.problem.slots);
    let mut all = vec![u32::MAX; slots.count()];
    for site in 0..slots.sites() as u32 {
        let own = &on.switches()[switch_of(on, slots.rails(site)[0]) as usize].coordinates;
        let at = own.iter().zip(targets).fold(0, |sum, (&x, &side)| sum * side + x);
        for (i, &slot) in (0..).zip(slots.of_site(site)) {
            *all.get_mut((at * per_switch + i) as usize)? = slot;
        }
    }
    Some(all)
}

/// The sides of the grid that the processes form, found from the differences of partners' numbers.
fn process_sides(input: &MappingMethodInput<'_>) -> Option<Vec<u32>> {
    let problem = input.problem;
    let mut steps: BTreeMap<u32, i64> = BTreeMap::new();
    for p in 0..problem.processes as u32 {
        for &(x, w) in problem.row(p).iter().filter(|(x, _)| *x > p) {
            *steps.entry(x - p).or_insert(0) += i64::from(w);
        }
        if steps.len() > 512 {
            return None;
        }
    }
    let heaviest = *steps.values().max()?;
    let heavy = steps.iter().filter(|(_, w)| **w * 8 > heaviest).map(|(step, _)| *step);
    let count = problem.processes as u32;
    let mut strides: Vec<u32> = Vec::new();
    for step in heavy.filter(|step| count.is_multiple_of(*step)) {
        if strides.last().is_none_or(|last| step.is_multiple_of(*last)) {
            strides.push(step);
        }
    }
    if strides.first() != Some(&1) || strides.len() > MOST_SIDES {
        return None;
    }
    let mut sides: Vec<u32> = strides.windows(2).map(|pair| pair[1] / pair[0]).collect();
    sides.push(count / strides.last()?);
    sides.reverse();
    Some(sides)
}

/// Finds all distributions of the factors of each side over the targets that fill the targets
/// exactly: `shares[d][k]` is the factor of side d that goes to target k.
fn assign(
    grid: &[u32],
    targets: &[u32],
    shares: &mut Vec<Vec<u32>>,
    d: usize,
    k: usize,
    foldings: &mut Vec<Vec<Vec<u32>>>,
) {
    if foldings.len() >= MOST_FOLDINGS {
        return;
    }
    if d == grid.len() {
        let full = |k: usize| shares.iter().map(|row| row[k]).product::<u32>() == targets[k];
        if (0..targets.len()).all(full) {
            foldings.push(shares.clone());
        }
        return;
    }
    let left = grid[d] / shares[d][..k].iter().product::<u32>();
    let used: u32 = shares[..d].iter().map(|row| row[k]).product();
    let room = targets[k] / used.max(1);
    let last = k + 1 == targets.len();
    for share in (1..=left).rev() {
        let fits = left.is_multiple_of(share) && room.is_multiple_of(share);
        if fits && (!last || share == left) {
            shares[d][k] = share;
            let (next_d, next_k) = if last { (d + 1, 0) } else { (d, k + 1) };
            assign(grid, targets, shares, next_d, next_k, foldings);
        }
    }
    shares[d][k] = 1;
}

/// A folding, prepared for computing the place of a process.
///
/// The coordinate on a side is written in a mixed radix of the side's factors, with the largest
/// factor as the lowest digit; each digit runs backwards if the number formed by the higher digits
/// is odd. The digits that belong to a target are combined in the same manner, those of the largest
/// factors lowest.
struct GridFolding<'a> {
    grid: &'a [u32],
    factors: &'a [Vec<u32>],
    targets: &'a [u32],
    /// The digit for each side, coordinate and target.
    digits: Vec<Vec<u32>>,
    /// The sides of each target, the one with the smallest factor first.
    orders: Vec<Vec<usize>>,
}

impl<'a> GridFolding<'a> {
    fn new(grid: &'a [u32], factors: &'a [Vec<u32>], targets: &'a [u32]) -> Self {
        let digits = grid.iter().zip(factors).map(|(&side, shares)| {
            let mut order: Vec<usize> = (0..shares.len()).collect();
            order.sort_by_key(|&k| (std::cmp::Reverse(shares[k]), k));
            let mut all = vec![0; side as usize * shares.len()];
            for (x, own) in (0..side).zip(all.chunks_mut(shares.len())) {
                let mut rest = x;
                for &k in &order {
                    let (digit, above) = (rest % shares[k], rest / shares[k]);
                    own[k] = if above % 2 == 1 { shares[k] - 1 - digit } else { digit };
                    rest = above;
                }
            }
            all
        });
        let digits = digits.collect();
        let order = |k: usize| {
            let mut order: Vec<usize> = (0..grid.len()).collect();
            order.sort_by_key(|&d| (factors[d][k], d));
            order
        };
        Self { grid, factors, targets, digits, orders: (0..targets.len()).map(order).collect() }
    }

    /// The index of the place in the network's grid to which a process goes.
    fn place(&self, process: u32) -> u32 {
        let mut at = [0; MOST_SIDES];
        let mut rest = process;
        for (x, side) in at.iter_mut().zip(self.grid.iter()).take(self.grid.len()).rev() {
            *x = rest % side;
            rest /= side;
        }
        let mut number = 0;
        for (k, (&side, order)) in self.targets.iter().zip(&self.orders).enumerate() {
            let mut inside = 0;
            for &d in order {
                let digit = self.digits[d][at[d] as usize * self.targets.len() + k];
                let share = self.factors[d][k];
                let odd = inside % 2 == 1;
                inside = inside * share + if odd { share - 1 - digit } else { digit };
            }
            number = number * side + inside;
        }
        number
    }
}
