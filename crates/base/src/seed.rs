//! Named random streams: Philox4x64-10, bit-identical to `numpy.random.Philox`.
//!
//! Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

/// A random stream that depends on nothing but its seed, its purpose and its index.
///
/// `RandomStream::new(s, "purpose", i)` draws the words of
/// `numpy.random.Philox(key=[s, fnv1a64(purpose)], counter=[0, 0, i, 0])`.
#[derive(Debug, Clone)]
pub struct RandomStream {
    key: [u64; 2],
    counter: [u64; 4],
    block: [u64; 4],
    used: usize,
}

const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
const WEYL: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];

impl RandomStream {
    /// The stream with number `index` among those of `seed` for `purpose`.
    pub fn new(seed: u64, purpose: &str, index: u64) -> Self {
        Self {
            key: [seed, fnv1a64(purpose.as_bytes())],
            counter: [0, 0, index, 0],
            block: [0; 4],
            used: 4,
        }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let Some(&word) = self.block.get(self.used) else { return self.refill() };
        self.used += 1;
        word
    }

    /// Draws the next block, and returns its first word.
    #[inline(never)]
    fn refill(&mut self) -> u64 {
        for word in &mut self.counter {
            *word = word.wrapping_add(1);
            if *word != 0 {
                break;
            }
        }
        self.block = philox(self.counter, self.key);
        self.used = 1;
        self.block[0]
    }

    /// A uniform integer in `0..bound` without bias (Lemire, "Fast random integer generation in an
    /// interval", 2019).
    ///
    /// # Panics
    /// When `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "an empty range has no member to draw");
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            // the division is needed only here, once in 2^64 / bound draws
            let uneven = bound.wrapping_neg() % bound;
            while (product as u64) < uneven {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Puts `items` into a uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// A random stream for hot loops: 64 bits in a few instructions, seeded from a named
/// [`RandomStream`].
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014
/// (`SplitMix64`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FastRandomStream(u64);

impl FastRandomStream {
    /// The stream with number `index` among those of `seed` for `purpose`.
    pub fn new(seed: u64, purpose: &str, index: u64) -> Self {
        Self(RandomStream::new(seed, purpose, index).next_u64())
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(WEYL[0]);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ x >> 31
    }

    /// A random integer in `0..bound`, or 0 where `bound` is 0. The probabilities of two integers
    /// differ by less than a factor of 1 + 2^-32.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u32
    }

    /// True with a probability of `threshold` / 2^64, and always where it is [`Self::ALWAYS`].
    #[inline]
    pub fn chance(&mut self, threshold: u64) -> bool {
        self.next_u64() < threshold || threshold == Self::ALWAYS
    }

    /// The threshold of [`Self::chance`] that is always true.
    pub const ALWAYS: u64 = u64::MAX;

    /// The threshold of [`Self::chance`] for a probability: 2^64 times it, rounded down; 0 for a
    /// negative number or NaN, [`Self::ALWAYS`] for 1 and above.
    pub fn threshold(probability: f64) -> u64 {
        // the cast saturates at 0 and at the largest integer, and turns NaN into 0
        (probability * 2_f64.powi(64)) as u64
    }
}

/// A table of 4,096 quantiles of the exponential distribution with mean 1. Its entry number
/// `next_u64() >> 52` is a random value of that distribution.
pub fn exponentials() -> Vec<f32> {
    const COUNT: u32 = 1 << 12;
    (0..COUNT).map(|i| -((f64::from(i) + 0.5) / f64::from(COUNT)).ln() as f32).collect()
}

fn philox(mut x: [u64; 4], mut key: [u64; 2]) -> [u64; 4] {
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        let a = u128::from(MULTIPLIERS[0]) * u128::from(x[0]);
        let b = u128::from(MULTIPLIERS[1]) * u128::from(x[2]);
        x = [
            (b >> 64) as u64 ^ x[1] ^ key[0],
            b as u64,
            (a >> 64) as u64 ^ x[3] ^ key[1],
            a as u64,
        ];
    }
    x
}

/// The 64-bit FNV-1a hash of `bytes` (draft-eastlake-fnv). It names random streams and digests
/// points of experiments.
pub fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_numpy() {
        // numpy 2.4: Philox(key=[7, 0], counter=[0, 0, 3, 0]).random_raw(5)
        let mut s = RandomStream { key: [7, 0], counter: [0, 0, 3, 0], block: [0; 4], used: 4 };
        let words: Vec<u64> = (0..5).map(|_| s.next_u64()).collect();
        assert_eq!(words, NUMPY_WORDS);
    }

    const NUMPY_WORDS: [u64; 5] = [
        13_918_315_942_059_181_947,
        18_007_048_821_034_219_458,
        2_480_964_802_972_022_966,
        18_352_746_068_270_732_635,
        8_508_279_527_743_862_309,
    ];

    #[test]
    fn fast_words_are_those_of_the_paper() {
        // java.util.SplittableRandom(1234567).nextLong(), as published with the reference code
        let mut s = FastRandomStream(1_234_567);
        let words: Vec<u64> = (0..3).map(|_| s.next_u64()).collect();
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(words, published);
        let mut seen = [0_u32; 6];
        for _ in 0..60_000 {
            seen[s.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n.abs_diff(10_000) < 457), "{seen:?}");
        let hits = (0..60_000).filter(|_| s.chance(u64::MAX / 4)).count();
        assert!(hits.abs_diff(15_000) < 531, "{hits}");
    }

    #[test]
    fn chances_are_those_of_their_thresholds() {
        let mut f = FastRandomStream::new(2, "test", 0);
        for p in [0.0, 0.25, 0.5, 0.999, 1.0] {
            let threshold = FastRandomStream::threshold(p);
            let hits = (0..40_000).filter(|_| f.chance(threshold)).count() as f64;
            let spread = 5.0 * (40_000.0 * p * (1.0 - p)).sqrt();
            assert!((hits - 40_000.0 * p).abs() <= spread, "{p}: {hits}");
        }
        assert_eq!(
            [FastRandomStream::threshold(-1.0), FastRandomStream::threshold(f64::NAN)],
            [0, 0]
        );
        assert_eq!(
            [FastRandomStream::threshold(1.0), FastRandomStream::threshold(f64::INFINITY)],
            [FastRandomStream::ALWAYS; 2]
        );
    }

    #[test]
    fn below_is_uniform_and_in_range() {
        let mut s = RandomStream::new(1, "test", 0);
        let mut seen = [0_u32; 6];
        for _ in 0..60_000 {
            seen[s.below(6) as usize] += 1;
        }
        // five standard deviations of a binomial(60000, 1/6)
        assert!(seen.iter().all(|&n| n.abs_diff(10_000) < 457), "{seen:?}");
    }

    #[test]
    fn names_and_indices_keep_streams_apart() {
        let first = |name, i| RandomStream::new(3, name, i).next_u64();
        assert_ne!(first("a", 0), first("b", 0));
        assert_ne!(first("a", 0), first("a", 1));
        assert_eq!(first("a", 1), first("a", 1));
    }
}
