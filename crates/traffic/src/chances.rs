//! A test whether counts fit given probabilities.

/// Whether counts fit these probabilities: their chi-square is at most five standard deviations
/// above its mean.
pub(crate) fn fits(seen: &[u32], chances: &[f64]) -> bool {
    let draws: f64 = seen.iter().copied().map(f64::from).sum();
    let (mut squares, mut freedom) = (0.0, -1.0_f64);
    for (&n, &p) in seen.iter().zip(chances) {
        if p == 0.0 {
            if n > 0 {
                return false;
            }
            continue;
        }
        squares += (f64::from(n) - draws * p).powi(2) / (draws * p);
        freedom += 1.0;
    }
    squares < freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn other_chances_are_found_out() {
        let fair = [0.25; 4];
        assert!(fits(&[2500, 2550, 2450, 2500], &fair));
        assert!(!fits(&[2500, 2800, 2200, 2500], &fair));
        assert!(!fits(&[5000, 4999, 1], &[0.5, 0.5, 0.0]));
    }
}
