//! Rounding of shares and congestions to the bins of histograms.

/// The index i of the bin `(i / 20, (i + 1) / 20]` that a share belongs to.
pub(super) fn twentieth(share: f64) -> usize {
    ((share * 20.0 - 1e-9) as u32).min(19) as usize
}

/// Rounds up to a whole number, with a tolerance because sums of shares can be slightly above one.
pub(super) fn rounded_up(value: f64) -> u64 {
    let (value, whole) = (value - 1e-9, (value - 1e-9) as u64);
    whole + u64::from((whole as f64) < value)
}
