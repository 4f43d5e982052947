//! Confidence intervals of means.

/// Half the width of the 95 % confidence interval of a mean of `n` values with this variance (with
/// divisor n - 1), by the normal approximation.
pub fn half_width_95(variance: f64, n: f64) -> f64 {
    1.959_963_984_540_054 * (variance / n).sqrt()
}
