//! Shares and congestions as the bins of histograms.

/// Which of 20 classes `(i / 20, (i + 1) / 20]` a share is in.
pub(super) fn twentieth(share: f64) -> usize {
    ((share * 20.0 - 1e-9) as u32).min(19) as usize
}

/// The next whole number; sums of shares can be a little above one.
pub(super) fn rounded_up(value: f64) -> u64 {
    let (value, whole) = (value - 1e-9, (value - 1e-9) as u64);
    whole + u64::from((whole as f64) < value)
}
