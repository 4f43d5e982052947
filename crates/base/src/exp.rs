//! The exponential function, the same to the last bit on every machine.

/// e^-x for x >= 0, of additions and multiplications alone: the same on every machine.
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
