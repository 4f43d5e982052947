//! Noise: calculations that take longer, and ranks that are slower.
//!
//! Source: Hoefler, Schneider, Lumsdaine: Characterizing the influence of system noise on
//! large-scale applications by simulation, SC 2010, section 2 (detours of an operating system, of
//! one length in every period).

use super::merge::copy;
use super::parameters::{MOST_NS, RankListParameter};
use super::{OperationKind, Schedule, ScheduleBuilder, ScheduleOperation};
use base::exp::ln;
use base::fields::whole;
use base::part::PartDescription;
use base::seed::FastRandomStream;
use base::{ComputationError, ProgressWatch, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name and the parameters of noise.
pub const PART: PartDescription =
    PartDescription::new("noise", "what disturbs processes").takes::<NoiseParameters>();

#[derive(Deserialize, JsonSchema)]
struct NoiseParameters {
    /// What is added: a share of each calculation, drawn up to `percent`; times of an exponential
    /// or a normal distribution; or a detour in every period of calculation.
    #[serde(default)]
    kind: NoiseKind,
    /// Most that is added of a calculation, %.
    #[serde(default = "whole::<10>")]
    #[schemars(range(max = 10_000))]
    percent: u64,
    /// Mean of what is added, or length of a detour, ns.
    #[serde(default = "whole::<1000>")]
    #[schemars(range(max = MOST_NS))]
    mean_ns: u64,
    /// Standard deviation of the normal distribution, ns.
    #[serde(default = "whole::<300>")]
    #[schemars(range(max = MOST_NS))]
    deviation_ns: u64,
    /// Time from one detour to the next, ns.
    #[serde(default = "whole::<1_000_000>")]
    #[schemars(range(min = 1, max = MOST_NS))]
    period_ns: u64,
    /// What it is added to: calculations, or sends and receives too.
    #[serde(default)]
    on: NoiseTarget,
    /// Seed of what is drawn.
    #[serde(default)]
    seed: u64,
    /// Ranks that are slower.
    #[serde(default)]
    stragglers: Option<RankListParameter>,
    /// What calculations of these ranks take, %.
    #[serde(default = "whole::<200>")]
    #[schemars(range(max = 100_000))]
    slowdown_percent: u64,
}

/// What is added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NoiseKind {
    /// Nothing.
    #[default]
    None,
    /// A share of each calculation.
    Fraction,
    /// Times of an exponential distribution.
    Exponential,
    /// Times of a normal distribution.
    Normal,
    /// A detour in every period of calculation.
    Periodic,
}

/// Which operations noise is added to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NoiseTarget {
    /// Calculations.
    #[default]
    Calc,
    /// Sends and receives as well.
    All,
}

/// The random draws of one rank's noise.
struct RankNoiseDraws<'a> {
    of: &'a NoiseParameters,
    fast: FastRandomStream,
    /// Time of calculation since the beginning of the present period, ns.
    passed_ns: u64,
    /// The second of two normal draws, which are made in pairs; none if it has been used.
    spare: Option<f64>,
}

/// A schedule with noise; every rank has a random stream of its own.
///
/// First, calculations of `stragglers` take `slowdown_percent` of their time. Then noise is added
/// to each calculation. With `on=all`, exponential and normal noise is also added as a calculation
/// before each send and receive. Normal draws below 0 count as 0. Periods of detours are measured
/// in the time that a rank calculates, and begin at a random phase. O(operations + dependencies).
///
/// # Errors
/// When a parameter is invalid, there are too many operations, or `watch` says stop.
pub fn noisy(
    of: &Schedule,
    given: &Map<String, Value>,
    watch: &dyn ProgressWatch,
) -> Result<Schedule, ComputationError> {
    let (noise, slow) = asked(of, given).map_err(|refused| refused.within(PART.name))?;
    let mut all = ScheduleBuilder::new(of.ranks());
    for rank in 0..of.ranks() {
        if rank % 256 == 0 {
            watch.tick("ranks", rank.into(), of.ranks().into())?;
        }
        let mut draws = RankNoiseDraws::new(&noise, rank);
        let percent = if slow[rank as usize] { noise.slowdown_percent } else { 100 };
        copy(of, rank, &mut all.rank(), |op| draws.disturbed(op, percent))?;
    }
    Ok(all.finish()?)
}

/// The requested noise, and for each rank of the schedule whether it is a straggler.
fn asked(
    of: &Schedule,
    given: &Map<String, Value>,
) -> Result<(NoiseParameters, Vec<bool>), Refusal> {
    PART.check(given)?;
    let noise: NoiseParameters = PART.read(given)?;
    let mut slow = vec![false; of.ranks() as usize];
    if let Some(stragglers) = &noise.stragglers {
        for rank in stragglers.of("stragglers", of.ranks())? {
            slow[rank as usize] = true;
        }
    }
    Ok((noise, slow))
}

impl<'a> RankNoiseDraws<'a> {
    fn new(of: &'a NoiseParameters, rank: u32) -> Self {
        let mut fast = FastRandomStream::new(of.seed, "noise", rank.into());
        let passed_ns = ((u128::from(fast.next_u64()) * u128::from(of.period_ns)) >> 64) as u64;
        Self { of, fast, passed_ns, spare: None }
    }

    /// The changed operation, and the time in ns of a calculation before it.
    fn disturbed(&mut self, op: ScheduleOperation, percent: u64) -> (u64, ScheduleOperation) {
        if op.kind != OperationKind::Calc {
            let on_all = self.of.on == NoiseTarget::All;
            let before = if on_all { self.added_ns(0) } else { 0 };
            return (before, op);
        }
        let longer = u128::from(op.size) * u128::from(percent) / 100;
        let size = u64::try_from(longer).unwrap_or(u64::MAX);
        (0, ScheduleOperation { size: size.saturating_add(self.added_ns(size)), ..op })
    }

    /// The time that is added to a calculation of `ns` nanoseconds.
    fn added_ns(&mut self, ns: u64) -> u64 {
        match self.of.kind {
            NoiseKind::None => 0,
            NoiseKind::Fraction => {
                let most = u128::from(ns) * u128::from(self.of.percent) / 100;
                // rounded to nearest, so that short times have the right mean
                ((most as f64 * self.uniform()) + 0.5) as u64
            }
            NoiseKind::Exponential => (-ln(self.uniform()) * self.of.mean_ns as f64 + 0.5) as u64,
            NoiseKind::Normal => {
                let drawn = self.normal();
                (self.of.mean_ns as f64 + drawn * self.of.deviation_ns as f64 + 0.5) as u64
            }
            NoiseKind::Periodic => {
                let passed = u128::from(self.passed_ns) + u128::from(ns);
                let period = u128::from(self.of.period_ns);
                self.passed_ns = (passed % period) as u64;
                let detours = (passed / period) * u128::from(self.of.mean_ns);
                u64::try_from(detours).unwrap_or(u64::MAX)
            }
        }
    }

    /// A uniform draw above 0 and at most 1.
    fn uniform(&mut self) -> f64 {
        ((self.fast.next_u64() >> 11) + 1) as f64 / 2_f64.powi(53)
    }

    /// A normal draw of mean 0 and deviation 1, by the polar method (Marsaglia, Bray, SIAM Review
    /// 6, 1964).
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * ln(square) / square).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{make, merge};
    use base::QuietWatch;
    use serde_json::json;

    /// A schedule in which each rank has many calculations, one after another, and a message goes
    /// around a ring.
    fn ring(ranks: u32, calcs: u32, ns: u64) -> Schedule {
        let mut all = ScheduleBuilder::new(ranks);
        for rank in 0..ranks {
            let mut of = all.rank();
            let mut last = of.add(ScheduleOperation::send(8, (rank + 1) % ranks, 7)).expect("room");
            of.add(ScheduleOperation::recv(8, (rank + ranks - 1) % ranks, 7)).expect("room");
            for _ in 0..calcs {
                let next = of.add(ScheduleOperation::calc(ns).on(1)).expect("room");
                of.require(next, last).expect("room");
                last = next;
            }
        }
        all.finish().expect("all ranks")
    }

    fn noise(of: &Schedule, given: &Value) -> Schedule {
        noisy(of, given.as_object().expect("a table"), &QuietWatch).expect("noise")
    }

    fn calcs(of: &Schedule, rank: u32) -> Vec<f64> {
        let range = of.of_rank(rank);
        let ops = of.ops()[range.start as usize..range.end as usize].iter();
        ops.filter(|op| op.kind == OperationKind::Calc).map(|op| op.size as f64).collect()
    }

    fn moments(all: &[f64]) -> (f64, f64) {
        let n = all.len() as f64;
        let mean = all.iter().sum::<f64>() / n;
        (mean, all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n)
    }

    #[test]
    fn noise_has_the_mean_and_variance_of_its_kind() {
        let n = 40_000;
        let quiet = ring(2, n, 10_000);
        for (given, mean, deviation) in [
            (json!({ "kind": "fraction", "percent": 60 }), 3000.0, 6000.0 / 12_f64.sqrt()),
            (json!({ "kind": "exponential", "mean_ns": 500 }), 500.0, 500.0),
            (json!({ "kind": "normal", "mean_ns": 900, "deviation_ns": 150 }), 900.0, 150.0),
        ] {
            let found = noise(&quiet, &given);
            for rank in 0..2 {
                let (m, v) = moments(&calcs(&found, rank));
                let error = deviation / f64::from(n).sqrt();
                assert!((m - 10_000.0 - mean).abs() < 5.0 * error, "{given} {m}");
                assert!((v.sqrt() / deviation - 1.0).abs() < 0.05, "{given} {v}");
            }
            assert_ne!(calcs(&found, 0), calcs(&found, 1));
            assert_eq!(found, noise(&quiet, &given));
        }
    }

    #[test]
    fn detours_come_once_a_period() {
        let given = json!({ "kind": "periodic", "period_ns": 7000, "mean_ns": 13 });
        let found = noise(&ring(3, 1000, 1000), &given);
        for rank in 0..3 {
            let detours: f64 = calcs(&found, rank).iter().map(|ns| (ns - 1000.0) / 13.0).sum();
            // 1000 * 1000 ns are 142.9 periods
            assert!((142.0..=143.0).contains(&detours), "{detours}");
        }
    }

    #[test]
    fn stragglers_alone_are_slower() {
        let quiet = ring(4, 3, 100);
        let given = json!({ "stragglers": "1,3", "slowdown_percent": 250 });
        let found = noise(&quiet, &given);
        for (rank, ns) in [(0, 100.0), (1, 250.0), (2, 100.0), (3, 250.0)] {
            assert_eq!(calcs(&found, rank), [ns; 3]);
        }
        assert_eq!(noise(&quiet, &json!({ "stragglers": [1, 3], "slowdown_percent": 100 })), quiet);
        assert_eq!(noise(&quiet, &json!({})), quiet);
    }

    #[test]
    fn what_comes_before_messages_waits_in_their_place() {
        let quiet = make(
            "allgather_ring",
            json!({ "ranks": 5, "bytes": 9 }).as_object().expect("a table"),
            &QuietWatch,
        )
        .expect("a ring");
        let given = json!({ "kind": "exponential", "mean_ns": 1_000_000, "on": "all" });
        let found = noise(&quiet, &given);
        // each operation gets a calculation before it, and one more dependency
        assert_eq!(found.ops().len(), 2 * quiet.ops().len());
        assert_eq!(found.dependencies(), quiet.dependencies() + quiet.ops().len());
        let counts = found.counts();
        for (op, it) in (0..).zip(found.ops()) {
            if it.kind != OperationKind::Calc {
                assert_eq!(counts[op as usize], 1);
                assert!(found.require(op - 1).contains(&op));
            }
        }
    }

    #[test]
    fn jobs_stand_side_by_side() {
        let (one, other) = (ring(2, 1, 5), ring(3, 2, 6));
        let both = merge(&[&one, &other], &QuietWatch).expect("both");
        assert_eq!(both.ranks(), 5);
        for (job, first) in [(&one, 0), (&other, 2)] {
            for rank in 0..job.ranks() {
                let (of, mine) = (both.of_rank(first + rank), job.of_rank(rank));
                for (at, was) in of.zip(mine) {
                    let (now, then) = (both.ops()[at as usize], job.ops()[was as usize]);
                    let shift = if then.kind == OperationKind::Calc { 0 } else { first };
                    assert_eq!(now, ScheduleOperation { peer: then.peer + shift, ..then });
                    let moved = |n: &u32| n + at - was;
                    let wanted: Vec<u32> = job.require(was).iter().map(moved).collect();
                    assert_eq!(both.require(at), wanted);
                }
            }
        }
        assert!(merge(&[], &QuietWatch).is_err());
    }

    #[test]
    fn noise_that_cannot_be_is_refused() {
        for (given, expected) in [
            (json!({ "kind": "expo" }), "noise: kind: there is no 'expo'"),
            (json!({ "stragglers": "1,4" }), "stragglers: 4 is no rank; 0 to 3"),
            (
                json!({ "mean_ns": -1 }),
                "mean_ns: -1 is out of range; a whole number from 0 to 1099511627776",
            ),
            (json!({ "mean": 1 }), "there is no such parameter"),
        ] {
            let of = ring(4, 1, 1);
            let refused = noisy(&of, given.as_object().expect("a table"), &QuietWatch);
            let refused = refused.expect_err("refused").to_string();
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
