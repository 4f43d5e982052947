//! The length of the warm-up: a number of cycles, or until latency and accepted load are steady.
//!
//! Source: White, "An effective truncation heuristic for bias reduction in simulation output",
//! Simulation 69(6), 1997; White, Cobb & Spratt, "A comparison of five steady-state truncation
//! heuristics for simulation", WSC 2000 (MSER on means of batches); Hoad, Robinson & Davies,
//! "Automating warm-up length estimation", WSC 2008 (the warm-up has ended if the part to truncate
//! is in the first half of the values).

use super::engine::{FlitEngineInputs, TrafficClassCounts, engine};
use super::run::{flits_a_cycle, stride};
use base::{ComputationError, ProgressWatch};
use paths::saturation::SATURATED_BELOW;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The length of the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmupSetting {
    /// This number of cycles.
    Cycles(u32),
    /// Until latency and accepted load are steady.
    Auto,
}

impl WarmupSetting {
    /// The most cycles that it can take.
    pub(super) fn most(self) -> u32 {
        match self {
            Self::Cycles(cycles) => cycles,
            Self::Auto => MOST,
        }
    }
}

/// Cycles in a batch.
const BATCH: u32 = 50;
/// Batches between two tests for steadiness.
const LOOK: usize = 10;
/// Fewest batches before the first test.
const LEAST: usize = 20;
/// Most cycles of a warm-up whose end is detected.
const MOST: u32 = 20_000;

/// The number of cycles after which the batch means of accepted load are steady, and those of
/// latency too unless the network is saturated. At least 20 batches of 50 cycles, at most 20,000
/// cycles.
///
/// # Errors
/// When the setup is refused, or `watch` says stop.
pub(super) fn settled(
    setup: FlitEngineInputs<'_>,
    watch: &dyn ProgressWatch,
) -> Result<u32, ComputationError> {
    let offered: f64 = setup.classes.iter().map(flits_a_cycle).sum();
    let stride = stride(setup.wiring);
    let mut engine = engine(setup)?;
    engine.count_in(0..u32::MAX, false);
    let (mut accepted, mut latencies): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut before = [0; 3];
    while engine.now() < MOST {
        let end = engine.now() + BATCH;
        while engine.now() < end {
            watch.tick("cycles of warm-up", engine.now().into(), MOST.into())?;
            engine.advance(stride.min(end - engine.now()));
        }
        let classes = engine.tally().classes;
        let sum = |of: fn(&TrafficClassCounts) -> u64| classes.iter().map(of).sum::<u64>();
        let now = [sum(|c| c.accepted), sum(|c| c.latency), sum(|c| c.arrived)];
        let [flits, cycles, packets] = [0, 1, 2].map(|i| (now[i] - before[i]) as f64);
        before = now;
        accepted.push(flits / f64::from(BATCH));
        if packets > 0.0 {
            latencies.push(cycles / packets);
        }
        let batches = accepted.len();
        if batches >= LEAST && batches.is_multiple_of(LOOK) && is_settled(&accepted) {
            let last = &accepted[batches / 2..];
            let mean = last.iter().sum::<f64>() / last.len() as f64;
            if mean < SATURATED_BELOW * offered || is_settled(&latencies) {
                return Ok(engine.now());
            }
        }
    }
    Ok(MOST)
}

/// Batches at the end that are never truncated, as the variance of fewer would be chance.
const KEPT: usize = 5;

/// The number of values to truncate at the start by MSER: the number for which the sum of squared
/// deviations of the rest, divided by the square of its length, is least. O(values).
fn truncation(values: &[f64]) -> usize {
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    // sums are relative to the last value, so that equal values have no variance
    let origin = values.last().copied().unwrap_or(0.0);
    for (at, value) in values.iter().enumerate().rev() {
        let x = value - origin;
        (sum, squares, count) = (sum + x, squares + x * x, count + 1.0);
        let spread = (squares - sum * sum / count).max(0.0) / (count * count);
        // among equal results the longest rest counts
        if at + KEPT <= values.len() && spread <= best.0 {
            best = (spread, at);
        }
    }
    best.1
}

/// Whether the part to truncate is in the first half of the values.
fn is_settled(values: &[f64]) -> bool {
    truncation(values) * 2 <= values.len()
}

/// The forms in which a file may give the warm-up.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Said")]
#[serde(untagged)]
enum RawWarmupLength {
    /// A number of cycles.
    Cycles(u32),
    /// `auto`.
    Word(AutoWarmupKeyword),
}

/// The word for a warm-up that is found.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Word")]
#[serde(rename_all = "snake_case")]
enum AutoWarmupKeyword {
    /// Until latency and accepted load change no more.
    Auto,
}

impl<'de> Deserialize<'de> for WarmupSetting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let bad = |_| serde::de::Error::custom("invalid warm-up: a number of cycles, or auto");
        Ok(match RawWarmupLength::deserialize(from).map_err(bad)? {
            RawWarmupLength::Cycles(cycles) => Self::Cycles(cycles),
            RawWarmupLength::Word(AutoWarmupKeyword::Auto) => Self::Auto,
        })
    }
}

impl Serialize for WarmupSetting {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Cycles(cycles) => to.serialize_u32(*cycles),
            Self::Auto => to.serialize_str("auto"),
        }
    }
}

impl JsonSchema for WarmupSetting {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WarmupSetting".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RawWarmupLength::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// The definition of MSER, computed without running sums.
    fn slowly(values: &[f64]) -> usize {
        let spread = |cut: usize| {
            let rest = &values[cut..];
            let n = rest.len() as f64;
            let mean = rest.iter().sum::<f64>() / n;
            rest.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n * n)
        };
        let most = values.len().saturating_sub(KEPT);
        (0..=most).fold(0, |best, cut| if spread(cut) < spread(best) { cut } else { best })
    }

    #[test]
    fn a_start_that_is_off_is_cut_off() {
        let steady = |i: usize| if i.is_multiple_of(2) { 1.0 } else { 1.1 };
        let of = |start: &[f64]| -> Vec<f64> {
            start.iter().copied().chain((0..40).map(steady)).collect()
        };
        assert_eq!(truncation(&of(&[])), 0);
        assert_eq!(truncation(&of(&[9.0, 5.0, 3.0])), 3);
        assert!(is_settled(&of(&[9.0, 5.0, 3.0])));
        // values that grow without end are never steady
        let grows: Vec<f64> = (0..40).map(f64::from).collect();
        assert!(!is_settled(&grows));
        assert!(is_settled(&[2.0; 40]));
    }

    #[test]
    fn it_is_a_number_or_auto() {
        let of = |given| serde_json::from_value::<WarmupSetting>(given);
        for (given, warmup) in
            [(json!(7), WarmupSetting::Cycles(7)), (json!("auto"), WarmupSetting::Auto)]
        {
            assert_eq!(of(given.clone()).expect("a warm-up"), warmup);
            assert_eq!(json!(warmup), given);
        }
        assert!(of(json!("soon")).is_err() && of(json!(-1)).is_err());
    }

    proptest! {
        #[test]
        fn one_pass_finds_what_the_definition_says(
            values in prop::collection::vec((0..1000_u32).prop_map(f64::from), 5..40),
        ) {
            let (found, wanted) = (truncation(&values), slowly(&values));
            // rounding may make equal results differ
            let spread = |cut: usize| {
                let rest = &values[cut..];
                let n = rest.len() as f64;
                let mean = rest.iter().sum::<f64>() / n;
                rest.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n * n)
            };
            prop_assert!((spread(found) - spread(wanted)).abs() <= 1e-9 * spread(wanted).max(1.0));
        }
    }
}
