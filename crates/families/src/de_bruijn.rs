//! De Bruijn and Kautz networks: words, linked when shifting one by a letter gives the other.
//!
//! Source: de Bruijn, "A combinatorial problem", Proceedings KNAW 49, 1946; Kautz, "Bounds on
//! directed (d, k) graphs", in "Theory of cellular logic networks and machines", 1968; as networks:
//! Bermond & Peyrat, "De Bruijn and Kautz networks: a competitor for the hypercube?", 1989.
//!
//! Links are those of the directed graphs without directions. Loops are left out, and two words
//! that are shifts of each other in both directions have a single link. Coordinates are the
//! letters. Ports are in the order of the switches they lead to.
//!
//! The diameter is n: each step adds one new letter, and there are words that share no letters, or
//! (for Kautz with three letters) only single letters too far apart to help. A walk that removes m
//! letters and ends shifted by c places takes 2 m - |c| steps or more; so the number of words that
//! can be reached in k steps is bounded, which bounds the mean distance from below. Walks that
//! shift in one direction only bound it from above.

use super::algebra::{endpoints, sized};
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, PromisedValue, in_range};
use base::{Refusal, SwitchId};
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// De Bruijn network, undirected: d^n switches of network radix 2 d or less, diameter n.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeBruijn {
    /// Number of letters, 2 or more.
    pub d: u32,
    /// Length of the words, 1 to 25; at most 2^26 words times letters in all.
    pub n: u32,
    /// Endpoints per switch; the default is network radix over diameter, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

/// Kautz network, undirected: d^n + d^(n-1) switches of network radix 2 d or less, diameter n.
///
/// Words are of d + 1 letters, neighbouring letters are different.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kautz {
    /// Number of letters less one, 2 or more.
    pub d: u32,
    /// Length of the words, 1 to 25; at most 2^26 words times d in all.
    pub n: u32,
    /// Endpoints per switch; the default is network radix over diameter, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_N: u32 = 25;
/// The largest number of words times d.
const MAX_ARCS: u64 = 1 << 26;

/// The words of a De Bruijn or Kautz network, checked: there are `letters` choices for the first
/// letter, and `d` for every other one.
///
/// Words are numbered in lexicographic order.
#[derive(Clone, Copy)]
struct WordGraph {
    letters: u32,
    d: u32,
    n: u32,
    /// The number of words.
    count: u64,
}

impl WordGraph {
    fn new(letters: u32, d: u32, n: u32) -> Result<Self, Refusal> {
        in_range("d", d, 2, 8191)?;
        in_range("n", n, 1, MAX_N)?;
        let fits = |n: u32| {
            let count = u64::from(d).checked_pow(n - 1)?.checked_mul(u64::from(letters))?;
            count.checked_mul(u64::from(d)).filter(|&arcs| arcs <= MAX_ARCS).map(|_| count)
        };
        fits(n).map(|count| Self { letters, d, n, count }).ok_or_else(|| {
            let most = (1..n).rev().find(|&n| fits(n).is_some()).unwrap_or(1);
            let why = format!("{n} is too long for d = {d}: over {MAX_ARCS} words times d");
            Refusal::new("n", why, format!("1 to {most}"))
        })
    }

    /// The largest number of links of a switch: to d words in each direction, minus a loop or a
    /// pair of shifts in both directions, which every word of one or two letters has.
    fn network_radix(self) -> u32 {
        match self.n {
            1 => self.letters - 1,
            2 => 2 * self.d - 1,
            _ => 2 * self.d,
        }
    }

    /// The promise; `loops` is the number of words that are their own shift, `p` that of endpoints
    /// per switch.
    fn promise(self, loops: u64, p: u32) -> FamilyPromise {
        let (letters, d) = (u64::from(self.letters), u64::from(self.d));
        // words of two alternating letters are shifts of each other in both directions
        let links = self.count * d - loops - letters * (letters - 1) / 2;
        let pairs = self.count * (self.count - 1);
        let of = |sum: u64| ExactFraction { num: sum, den: pairs };
        let (low, high) = self.sums();
        let mean = match self.n {
            1 => PromisedValue::Exact(of(pairs)),
            _ => PromisedValue::Between(of(low), of(high)),
        };
        FamilyPromise::direct(
            self.count,
            p,
            links,
            self.network_radix(),
            PromisedValue::Exact(self.n),
            mean,
        )
    }

    /// A lower and an upper bound of the sum of distances over ordered pairs.
    ///
    /// The sum of distances is the sum, over every k below the diameter n, of the number of pairs
    /// further apart than k.
    fn sums(self) -> (u64, u64) {
        let (count, d) = (self.count, u64::from(self.d));
        let all = count * count;
        let (mut low, mut high) = (0, 0);
        for k in 0..self.n {
            // words reached from one word by m removed letters and a shift of c >= 2 m - k places;
            // those for m below k / 2 are also reached with larger m
            let mut ball = 0_u64;
            for m in k / 2..=k {
                let off = (2 * m).saturating_sub(k)..=m;
                let windows = off.map(|c| if c == 0 { m + 1 } else { 2 * (m - c + 1) });
                let words = d.pow(m).saturating_mul(windows.map(u64::from).sum());
                ball = count.min(ball.saturating_add(words));
            }
            low += count * (count - ball);
            // d^k words in each direction. Two words reach each other in both directions when the
            // first has period 2 k; where words are shorter than 2 k, the first can be any word,
            // and the middle of the second is free
            let one_direction = d.pow(k);
            let both = if self.letters == self.d {
                one_direction * one_direction
            } else {
                u64::from(self.letters) * one_direction * one_direction / d
            };
            high += if k == 0 { all - count } else { all - (2 * count * one_direction - both) };
        }
        (low, high)
    }

    /// The letters of a word. For Kautz, a digit of the number counts the letters other than the
    /// previous one.
    fn spell(self, word: u32) -> Vec<u32> {
        let mut letters: Vec<u32> = Vec::with_capacity(self.n as usize);
        let mut place = self.count as u32 / self.letters;
        let mut rest = word;
        for _ in 0..self.n {
            let digit = rest / place;
            rest %= place;
            place = (place / self.d).max(1);
            let letter = match letters.last() {
                Some(&before) if self.letters > self.d => digit + u32::from(digit >= before),
                _ => digit,
            };
            letters.push(letter);
        }
        letters
    }

    /// The number of the word with these letters.
    fn number(self, letters: &[u32]) -> u32 {
        let digit = |pair: &[u32]| pair[1] - u32::from(self.letters > self.d && pair[1] > pair[0]);
        letters.windows(2).fold(letters[0], |number, pair| number * self.d + digit(pair))
    }

    fn build(self, prefix: &str, p: u32) -> TopologyBuilder {
        let mut b = TopologyBuilder::new();
        let mut links = Vec::new();
        for word in 0..self.count as u32 {
            let letters = self.spell(word);
            let mut shifted = letters.clone();
            shifted.rotate_left(1);
            for letter in 0..self.letters {
                shifted[self.n as usize - 1] = letter;
                let differs = self.n == 1 || shifted[self.n as usize - 2] != letter;
                if self.letters == self.d || differs {
                    let next = self.number(&shifted);
                    links.push((word.min(next), word.max(next)));
                }
            }
            let name = letters.iter().fold(prefix.to_owned(), |name, l| format!("{name}-{l}"));
            b.switch(Switch::new(name).at(letters[0], letters));
        }
        b.endpoints_on((0..self.count as u32).map(SwitchId), p);
        links.sort_unstable();
        links.dedup();
        for (a, z) in links.into_iter().filter(|(a, z)| a != z) {
            b.link(SwitchId(a), SwitchId(z));
        }
        b
    }

    fn endpoints(self, p: Option<u32>) -> Result<u32, Refusal> {
        endpoints(p, self.network_radix(), self.n)
    }
}

/// Pairs (d, n) whose networks fit the ports of a wish.
fn within(wish: &NetworkWish) -> impl Iterator<Item = (u32, u32)> {
    (2..=wish.radix.min(1024) / 2).flat_map(|d| (2..=MAX_N).map(move |n| (d, n)))
}

impl DeBruijn {
    fn words(&self) -> Result<WordGraph, Refusal> {
        WordGraph::new(self.d, self.d, self.n)
    }
}

impl Family for DeBruijn {
    const NAME: &'static str = "de_bruijn";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Free)
    }

    fn examples() -> Vec<Self> {
        let of = |d, n, p| Self { d, n, p };
        vec![
            of(4, 1, None),
            of(3, 2, None),
            of(2, 3, Some(2)),
            of(2, 5, Some(1)),
            of(3, 3, Some(0)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let words = self.words()?;
        Ok(words.promise(self.d.into(), words.endpoints(self.p)?))
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let words = self.words()?;
        Ok(words.build("debruijn", words.endpoints(self.p)?))
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        within(wish).filter_map(|(d, n)| sized(wish, |p| Self { d, n, p })).collect()
    }

    fn kind(&self) -> String {
        format!("diameter {}", self.n)
    }
}

impl Kautz {
    fn words(&self) -> Result<WordGraph, Refusal> {
        WordGraph::new(self.d.saturating_add(1), self.d, self.n)
    }
}

impl Family for Kautz {
    const NAME: &'static str = "kautz";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Free)
    }

    fn examples() -> Vec<Self> {
        let of = |d, n, p| Self { d, n, p };
        vec![
            of(3, 1, None),
            of(3, 2, None),
            of(2, 3, Some(2)),
            of(2, 4, Some(1)),
            of(3, 3, Some(0)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let words = self.words()?;
        Ok(words.promise(0, words.endpoints(self.p)?))
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let words = self.words()?;
        Ok(words.build("kautz", words.endpoints(self.p)?))
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        within(wish).filter_map(|(d, n)| sized(wish, |p| Self { d, n, p })).collect()
    }

    fn kind(&self) -> String {
        format!("diameter {}", self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::*;
    use proptest::prelude::*;

    /// Links by the arithmetic definition: u to (u d + c) mod d^n; for Kautz the Imase-Itoh form,
    /// u to -(u d + c) mod d^n + d^(n-1), which is isomorphic: degrees and distances are compared.
    #[test]
    fn distances_are_those_of_the_arithmetic_definitions() {
        for (d, n) in [(2_u32, 1_u32), (2, 2), (2, 3), (2, 6), (3, 1), (3, 3), (4, 3), (5, 2)] {
            for kautz in [false, true] {
                let t = if kautz {
                    built(&Kautz { d, n, p: Some(0) })
                } else {
                    built(&DeBruijn { d, n, p: Some(0) })
                };
                let count = d.pow(n) + if kautz { d.pow(n - 1) } else { 0 };
                let next = |u: u32, c: u32| {
                    if kautz {
                        // Imase & Itoh: -(u d) - c, for c from 1 to d
                        (2 * count * d - u * d - c - 1) % count
                    } else {
                        (u * d + c) % count
                    }
                };
                let mut near = vec![vec![false; count as usize]; count as usize];
                for (u, c) in (0..count).flat_map(|u| (0..d).map(move |c| (u, c))) {
                    let v = next(u, c);
                    near[u as usize][v as usize] = true;
                    near[v as usize][u as usize] = true;
                }
                let degrees = |row: &Vec<bool>, u: usize| {
                    row.iter().enumerate().filter(|&(v, &l)| l && v != u).count()
                };
                let mut expected: Vec<usize> =
                    near.iter().enumerate().map(|(u, row)| degrees(row, u)).collect();
                let mut found: Vec<usize> =
                    (0..count as usize).map(|u| t.graph().neighbours(u).len()).collect();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "kautz={kautz} d={d} n={n}");
                if !kautz {
                    for u in 0..count as usize {
                        for &v in t.graph().neighbours(u) {
                            assert!(near[u][v as usize], "{u} {v}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn small_members_keep_their_promise() {
        for (d, n) in
            [(2, 1), (2, 2), (2, 4), (2, 7), (2, 9), (3, 2), (3, 5), (4, 4), (6, 3), (9, 2)]
        {
            let member = DeBruijn { d, n, p: Some(0) };
            assert_eq!(broken(&member), Vec::<String>::new(), "de Bruijn d={d} n={n}");
            let member = Kautz { d, n, p: Some(0) };
            assert_eq!(broken(&member), Vec::<String>::new(), "Kautz d={d} n={n}");
        }
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            d in prop_oneof![any::<u32>(), 0_u32..70],
            n in prop_oneof![any::<u32>(), 0_u32..30],
            p in prop::option::of(any::<u32>()),
        ) {
            for promise in [DeBruijn { d, n, p }.promise(), Kautz { d, n, p }.promise()] {
                let Ok(promise) = promise else { continue };
                prop_assert!(promise.links <= MAX_ARCS);
                if let PromisedValue::Between(low, high) = promise.mean_distance {
                    prop_assert!(low.num <= high.num && low.num >= low.den);
                    prop_assert!(high.num <= high.den * u64::from(n));
                }
            }
        }
    }

    #[test]
    fn the_limits_hold() {
        let words = Kautz { d: 2, n: 4, p: None }.words().expect("words");
        for word in 0..words.count as u32 {
            assert_eq!(words.number(&words.spell(word)), word);
        }
        let of = |d, n, p| DeBruijn { d, n, p };
        assert!(of(2, 25, None).promise().is_ok());
        assert_eq!(refused(&of(2, 26, None)).help, "1 to 25");
        assert_eq!(refused(&of(3, 17, None)).help, "1 to 15");
        assert_eq!(refused(&of(1, 3, None)).param, "d");
        assert_eq!(refused(&of(u32::MAX, u32::MAX, None)).param, "d");
        assert_eq!(refused(&of(2, 3, Some(5000))).param, "p");
        assert_eq!(refused(&Kautz { d: u32::MAX, n: 1, p: None }).param, "d");
        assert_eq!(refused(&Kautz { d: 2, n: 25, p: None }).help, "1 to 24");
        assert!(Kautz { d: 8191, n: 1, p: None }.promise().is_ok());
    }
}
