//! Means over several seeds, with their confidence intervals.
//!
//! Source: Student, "The probable error of a mean", Biometrika 6(1), 1908; the distribution for
//! whole degrees of freedom is 26.7.3 and 26.7.4 of Abramowitz & Stegun, "Handbook of Mathematical
//! Functions", 1964.

use base::Refusal;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The largest number of runs of one point.
const MOST_SEEDS: u32 = 1000;

/// Checks the number of runs of one point.
///
/// # Errors
/// When it is out of its range.
pub fn check_seeds(seeds: u32) -> Result<(), Refusal> {
    if (1..=MOST_SEEDS).contains(&seeds) {
        return Ok(());
    }
    Err(Refusal::new("seeds", format!("{seeds} is out of range"), format!("1 to {MOST_SEEDS}")))
}

/// How a figure varies over runs that differ by their seeds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Spread")]
pub struct SeedSpread {
    /// Standard deviation of a run.
    pub standard_deviation: f64,
    /// Where the mean is, by Student's t: low, high.
    pub confidence_interval_95: (f64, f64),
}

/// Several runs of one point that differ by their seeds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "OverSeeds")]
pub struct SeedStatistics {
    /// How many.
    pub seeds: u32,
    /// How each figure varies, by its name; null where a run had no such figure.
    #[serde(flatten)]
    pub figures: BTreeMap<String, Option<SeedSpread>>,
}

impl SeedSpread {
    /// The spread of these values; `None` where there are fewer than two.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        let standard_deviation = (squares / (n - 1.0)).sqrt();
        let half = student_95(values.len() as u32 - 1) * standard_deviation / n.sqrt();
        Some(Self { standard_deviation, confidence_interval_95: (mean - half, mean + half) })
    }
}

/// The t for which a variable of Student's distribution is between -t and t with a probability of
/// 95 %. O(degrees of freedom).
fn student_95(freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0, 13.0); // 12.706 with one degree of freedom, the most
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if within(middle, freedom) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The probability that a variable of Student's distribution is between -t and t.
fn within(t: f64, freedom: u32) -> f64 {
    let angle = (t / f64::from(freedom).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    // each term is the previous one times cos^2 k / (k + 1)
    let sum = |first: f64, from: u32| {
        let (mut term, mut all) = (first, 0.0);
        for k in (from..freedom).step_by(2) {
            all += term;
            term *= cosine * cosine * f64::from(k) / f64::from(k + 1);
        }
        all
    };
    if freedom % 2 == 1 {
        (angle + sine * sum(cosine, 2)) * std::f64::consts::FRAC_2_PI
    } else {
        sine * sum(1.0, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_those_of_the_tables() {
        // values of any table of Student's t, 5 % for both sides together
        for (freedom, t) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (10, 2.228),
            (29, 2.045),
            (30, 2.042),
            (120, 1.980),
        ] {
            let found = student_95(freedom);
            assert!((found - t).abs() < 6e-4, "{freedom}: {found}");
        }
    }

    #[test]
    fn the_interval_is_the_formula() {
        // n = 4, mean 5, squares 1 + 1 + 9 + 9 = 20: s^2 = 20 / 3; t = 3.1824463
        let found = SeedSpread::of(&[4.0, 6.0, 2.0, 8.0]).expect("four values");
        let deviation = (20.0_f64 / 3.0).sqrt();
        assert!((found.standard_deviation - deviation).abs() < 1e-12);
        let (low, high) = found.confidence_interval_95;
        let half = 3.182_446_3 * deviation / 2.0;
        assert!((low - (5.0 - half)).abs() < 1e-6 && (high - (5.0 + half)).abs() < 1e-6);
        assert!(SeedSpread::of(&[1.0]).is_none() && SeedSpread::of(&[]).is_none());
        let same = SeedSpread::of(&[0.5, 0.5, 0.5]).expect("three");
        assert_eq!(same.standard_deviation.to_bits(), 0.0_f64.to_bits());
    }
}
