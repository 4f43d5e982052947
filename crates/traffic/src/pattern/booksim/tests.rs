//! Tests of BookSim's patterns against its rules, computed independently.

use super::*;
use crate::chances::fits;
use base::seed::FastRandomStream;

fn table(rule: &BookSimPattern, endpoints: u32) -> Vec<u32> {
    let all = rule.destinations(endpoints, 1).expect("a pattern");
    all.fixed().expect("one destination a source").to_vec()
}

/// A direct implementation of the rule, which scans the free sources, gives the same permutation.
#[test]
fn randperm_gives_the_free_source_that_the_number_counts_to() {
    for (n, seed) in [(64_u32, 7_i64), (200, 0), (1, 3), (2, 5), (100, 123_456)] {
        let mut knuth = KnuthRandomGenerator::new(seed);
        let mut to: Vec<Option<u32>> = vec![None; n as usize];
        for i in 0..n {
            let count = knuth.next() % (n - i);
            let free: Vec<usize> = (0..n as usize).filter(|&s| to[s].is_none()).collect();
            to[free[count as usize]] = Some(i);
        }
        let own: Vec<Option<u32>> = randperm(n, seed).into_iter().map(Some).collect();
        assert_eq!(own, to, "{n} {seed}");
    }
    assert_eq!(table(&BookSimPattern::RandomPermutation { seed: 7 }, 64), randperm(64, 7));
}

#[test]
fn digits_move_one_by_one() {
    // an 8 x 8 torus: x and y by ceil(8 / 2) - 1 = 3, or by 1
    let at = |x: u32, y: u32| y % 8 * 8 + x % 8;
    let moved = |by: u32| (0..64).map(|s| at(s % 8 + by, s / 8 + by)).collect::<Vec<_>>();
    assert_eq!(table(&BookSimPattern::Tornado { base: 8, digits: 2 }, 64), moved(3));
    assert_eq!(table(&BookSimPattern::Neighbor { base: 8, digits: 2 }, 64), moved(1));
    // one digit of base 200 is a shift by 99; of base 9, by 4
    let shift = |n: u32, by| (0..n).map(|s| (s + by) % n).collect::<Vec<u32>>();
    assert_eq!(table(&BookSimPattern::Tornado { base: 200, digits: 1 }, 200), shift(200, 99));
    assert_eq!(table(&BookSimPattern::Tornado { base: 9, digits: 1 }, 9), shift(9, 4));
    // `digits` is too small for all endpoints: higher digits are dropped
    let low: Vec<u32> = (0..64).map(|s| (s + 1) % 8).collect();
    assert_eq!(table(&BookSimPattern::Neighbor { base: 8, digits: 1 }, 64), low);
    assert!(BookSimPattern::Neighbor { base: 8, digits: 3 }.destinations(64, 1).is_err());
    assert!(
        BookSimPattern::Neighbor { base: 1 << 30, digits: 1 << 30 }.destinations(64, 1).is_err()
    );
    // digits of base 2 do not change, however many there are
    assert_eq!(table(&BookSimPattern::Tornado { base: 2, digits: 1000 }, 64), shift(64, 0));
}

/// The number of times that each destination of a source is drawn.
fn counts(rule: &BookSimPattern, source: u32, draws: u32) -> Vec<u32> {
    let all = rule.destinations(64, 1).expect("a pattern");
    assert_eq!(all.active(), 64);
    let mut random = FastRandomStream::new(3, "test", 0);
    let mut seen = vec![0; 64];
    for _ in 0..draws {
        seen[all.draw(source, &mut random) as usize] += 1;
    }
    seen
}

#[test]
fn destinations_have_the_chances_of_their_rules() {
    let of = |chance: &dyn Fn(u32) -> f64| (0..64).map(chance).collect::<Vec<_>>();
    let either = |is: bool, chance: f64| if is { chance } else { 0.0 };
    let hot = |at: &[u32], weights: &[u32]| BookSimPattern::Hotspot {
        at: at.iter().copied().map(Some).collect(),
        weights: weights.to_vec(),
    };
    let beside = |e: u32| {
        // source 62 is in row 7 and column 6; rows and columns wrap around modulo 64
        let rows = [-8_i32, 0, 8].into_iter().flat_map(|row| [row - 1, row, row + 1]);
        rows.map(|step| (64 + 62 + step) % 64).any(|near| near as u32 == e)
    };
    let cases: [(BookSimPattern, Vec<f64>); 8] = [
        (BookSimPattern::Uniform, of(&|_| 1.0 / 64.0)),
        (
            BookSimPattern::Background { without: vec![0, 5, 5] },
            of(&|e| either(e != 0 && e != 5, 1.0 / 62.0)),
        ),
        (
            BookSimPattern::Diagonal,
            of(&|e| either(e == 62, 2.0 / 3.0) + either(e == 63, 1.0 / 3.0)),
        ),
        (BookSimPattern::Asymmetric, of(&|e| either(e % 32 == 30, 0.5))),
        (
            hot(&[0, 9, 27, 63, 8], &[4, 2, 1, 1, 0]),
            of(&|e| either(e == 0, 0.5) + either(e == 9, 0.25) + either(e == 27 || e == 63, 0.125)),
        ),
        (hot(&[3, 4], &[1, 1]), of(&|e| either(e == 3 || e == 4, 0.5))),
        // endpoint 62 is in the last group
        (BookSimPattern::BadDragon { group: 8 }, of(&|e| either(e < 8, 0.125))),
        (BookSimPattern::Taper64, of(&|e| 0.5 / 64.0 + either(beside(e), 0.5 / 9.0))),
    ];
    for (rule, chances) in cases {
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{rule:?}");
        assert!(fits(&counts(&rule, 62, 100_000), &chances), "{rule:?}");
    }
    // a hot endpoint that is drawn is the same for all packets
    let drawn = counts(&BookSimPattern::Hotspot { at: vec![None], weights: vec![1] }, 5, 100);
    assert_eq!(drawn.iter().filter(|&&n| n > 0).count(), 1);
}

#[test]
fn bits_move_as_they_are_written() {
    for (rule, of) in [
        (BookSimPattern::BitComplement, [1, 0, 1, 0, 0, 1]),
        (BookSimPattern::BitReverse, [0, 1, 1, 0, 1, 0]),
        (BookSimPattern::Shuffle, [1, 0, 1, 1, 0, 0]),
        (BookSimPattern::Transpose, [1, 1, 0, 0, 1, 0]),
    ] {
        let number = of.iter().fold(0, |sum, bit| 2 * sum + bit);
        assert_eq!(table(&rule, 64)[0b01_0110], number, "{rule:?}");
        assert!(rule.destinations(200, 0).is_err(), "{rule:?}");
    }
}

#[test]
fn rules_that_do_not_fit_are_refused() {
    for (rule, n) in [
        (BookSimPattern::Uniform, 1),
        (BookSimPattern::Transpose, 32), // an odd power
        (BookSimPattern::Taper64, 32),
        (BookSimPattern::BadDragon { group: 50 }, 64),
        (BookSimPattern::BadDragon { group: 0 }, 64),
        (BookSimPattern::Background { without: vec![64] }, 64),
        (BookSimPattern::Background { without: vec![0, 1] }, 2),
        (BookSimPattern::Hotspot { at: vec![Some(64)], weights: vec![1] }, 64),
        (BookSimPattern::Hotspot { at: vec![Some(6)], weights: vec![0] }, 64),
        (BookSimPattern::Tornado { base: 0, digits: 1 }, 64),
    ] {
        let refused = rule.destinations(n, 0).expect_err("it does not fit");
        assert!(!refused.help.is_empty(), "{refused}");
    }
}
