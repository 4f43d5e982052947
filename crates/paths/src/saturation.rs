//! The rule by which a point of a run under load counts as saturated; all simulators share it.

/// A point is saturated when its accepted load is below this share of the offered load.
pub const SATURATED_BELOW: f64 = 0.97;
/// From this expected number of packets on, the number drawn is near its mean: in a network that is
/// not saturated at most three standard deviations, `3 sqrt(n)`, are missing.
const MANY: f64 = 1e4;
/// The number of standard deviations for smaller expected numbers: a point counts as saturated when
/// more packets than that are missing.
const DEVIATIONS: f64 = 3.0;

/// Whether the load that arrives is below the offered load; `expected` is the expected number of
/// packets to arrive. `None` where there are so few packets that the difference may be chance.
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
        // 10 packets of 97 are missing, which is about one standard deviation; then 50 are missing
        assert_eq!(is_saturated(1.0, 0.87, 100.0), None);
        assert_eq!(is_saturated(1.0, 0.47, 100.0), Some(true));
        assert_eq!(is_saturated(0.0, 0.0, 0.0), Some(false));
    }
}
