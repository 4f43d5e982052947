//! The exponential function and the logarithm, the same to the last bit on every machine.

/// The natural logarithm of a positive number, computed with the four basic operations alone, so
/// that it is the same on every machine. Its relative error is about 1e-15; near x = 1 that is its
/// absolute error.
///
/// # Panics
/// When x is not positive and finite.
pub fn ln(x: f64) -> f64 {
    assert!(x > 0.0 && x.is_finite(), "logarithms are of positive numbers");
    let (mut power, mut rest) = (0_i32, x);
    while rest > std::f64::consts::SQRT_2 {
        rest /= 2.0;
        power += 1;
    }
    while rest < std::f64::consts::FRAC_1_SQRT_2 {
        rest *= 2.0;
        power -= 1;
    }
    // ln(m) = 2 (z + z^3 / 3 + z^5 / 5 + ...) with z = (m - 1) / (m + 1), |z| < 0.18
    let z = (rest - 1.0) / (rest + 1.0);
    let square = z * z;
    let series = (0..12).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    f64::from(power) * std::f64::consts::LN_2 + 2.0 * z * series
}

/// e^-x for x >= 0, computed with additions and multiplications alone, so that it is the same on
/// every machine.
pub fn exp_minus(x: f64) -> f64 {
    if x > 600.0 {
        return 0.0;
    }
    let y = x / 65_536.0;
    let mut e = 1.0 - y * (1.0 - y / 2.0 * (1.0 - y / 3.0 * (1.0 - y / 4.0)));
    for _ in 0..16 {
        e *= e;
    }
    e
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn logarithms_are_those_of_the_library() {
        for x in [1.0, 2.0, 0.5, 1e-300, 1e300, 5e-324, 0.999_999, 1.000_001, 3.7, 1024.0] {
            let wanted = f64::ln(x);
            assert!((ln(x) - wanted).abs() <= 4e-15 * wanted.abs().max(1.0), "{x}");
        }
    }
}
