//! When a point of a run under load counts as saturated: the rule that all simulators share.

/// A point whose accepted load is below this share of the offered one is saturated.
pub const SATURATED_BELOW: f64 = 0.97;
/// From this number of expected packets on, the number that is drawn is near its mean: at most
/// three standard deviations of it, `3 sqrt(n)`, are missing where all is well.
const MANY: f64 = 1e4;
/// Where fewer packets are expected, a point counts as saturated when more are missing than this
/// number of standard deviations.
const DEVIATIONS: f64 = 3.0;

/// Whether less arrives than is offered, where `expected` packets were to come; none where that may
/// be chance, because they are so few.
pub fn is_saturated(offered: f64, accepted: f64, expected: f64) -> Option<bool> {
    let share = accepted / offered / SATURATED_BELOW;
    if share.is_nan() || share >= 1.0 {
        return Some(false);
    }
    let counted = SATURATED_BELOW * expected;
    let is_known = expected >= MANY || (1.0 - share) * counted > DEVIATIONS * counted.sqrt();
    is_known.then_some(true)
}

#[cfg(test)]
mod tests {
    use super::is_saturated;

    #[test]
    fn a_few_packets_that_are_missing_may_be_chance() {
        assert_eq!(is_saturated(0.5, 0.49, 1e6), Some(false));
        assert_eq!(is_saturated(0.5, 0.48, 1e6), Some(true));
        // 10 packets of 97 are missing, which is one standard deviation, then 50 of them
        assert_eq!(is_saturated(1.0, 0.87, 100.0), None);
        assert_eq!(is_saturated(1.0, 0.47, 100.0), Some(true));
        assert_eq!(is_saturated(0.0, 0.0, 0.0), Some(false));
    }
}
