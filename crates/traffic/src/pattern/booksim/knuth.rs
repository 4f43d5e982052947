//! Knuth's portable random generator of 2002, which BookSim uses.
//!
//! Source: Knuth, "The art of computer programming", volume 2, third edition, section 3.6, with the
//! initialization of its ninth printing (`ran_start`, `ran_arr_next`).

const LONG: usize = 100;
const SHORT: usize = 37;
const MODULUS: i64 = 1 << 30;
const SEPARATION: u32 = 70;
/// The number of values generated at once; only the first hundred are used, for quality.
const QUALITY: usize = 1009;

/// The generator: a lagged Fibonacci sequence with subtraction, modulo 2^30.
#[derive(Debug, Clone)]
pub(super) struct KnuthRandomGenerator {
    state: [i64; LONG],
    given: Vec<i64>,
    used: usize,
}

fn difference(x: i64, y: i64) -> i64 {
    (x - y) & (MODULUS - 1)
}

impl KnuthRandomGenerator {
    /// The generator after `ran_start(seed)`.
    pub(super) fn new(seed: i64) -> Self {
        let mut x = [0_i64; 2 * LONG - 1];
        let mut bits = seed.wrapping_add(2) & (MODULUS - 2);
        for slot in &mut x[..LONG] {
            *slot = bits;
            bits <<= 1;
            if bits >= MODULUS {
                bits -= MODULUS - 2;
            }
        }
        x[1] += 1;
        let mut bits = seed & (MODULUS - 1);
        let mut left = SEPARATION - 1;
        while left > 0 {
            for j in (1..LONG).rev() {
                x[2 * j] = x[j];
                x[2 * j - 1] = 0;
            }
            for j in (LONG..2 * LONG - 1).rev() {
                x[j - (LONG - SHORT)] = difference(x[j - (LONG - SHORT)], x[j]);
                x[j - LONG] = difference(x[j - LONG], x[j]);
            }
            if bits & 1 == 1 {
                x.copy_within(..LONG, 1);
                x[0] = x[LONG];
                x[SHORT] = difference(x[SHORT], x[LONG]);
            }
            if bits == 0 {
                left -= 1;
            } else {
                bits >>= 1;
            }
        }
        let mut state = [0; LONG];
        state[LONG - SHORT..].copy_from_slice(&x[..SHORT]);
        state[..LONG - SHORT].copy_from_slice(&x[SHORT..LONG]);
        let mut all = Self { state, given: Vec::new(), used: LONG };
        for _ in 0..10 {
            all.array(2 * LONG - 1);
        }
        all
    }

    /// The next `count` numbers, at least 100: `ran_array`.
    fn array(&mut self, count: usize) -> Vec<i64> {
        let mut all = self.state.to_vec();
        for j in LONG..count + LONG {
            all.push(difference(all[j - LONG], all[j - SHORT]));
        }
        self.state.copy_from_slice(&all[count..]);
        all.truncate(count);
        all
    }

    /// The next random number, of 30 bits: `ran_arr_next`.
    pub(super) fn next(&mut self) -> u32 {
        if self.used == LONG {
            self.given = self.array(QUALITY);
            self.used = 0;
        }
        self.used += 1;
        self.given[self.used - 1] as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_that_knuth_prints() {
        // the test of the published program: the first number of the 2010th array of 1009 numbers,
        // and of the 1010th array of 2009 numbers, is 995235265
        for (count, arrays) in [(1009, 2010), (2009, 1010)] {
            let mut knuth = KnuthRandomGenerator::new(310_952);
            let first = (0..arrays).map(|_| knuth.array(count)[0]).last();
            assert_eq!(first, Some(995_235_265));
        }
    }
}
