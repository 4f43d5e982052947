//! Long Hop: hypercubes with extra links along the columns of a good binary code.
//!
//! Source: Tomic, "Optimal networks from error correcting codes", ANCS 2013, section 3. Generator
//! polynomials of the codes: Lin & Costello, "Error Control Coding", 2nd edition, 2004, table C.1
//! (BCH codes) and section 4.6 (Golay code).
//!
//! Every code is a cyclic code in systematic form, shortened to dimension n by leaving out
//! information bits; most also have a parity bit over the whole word. The generator matrix has the
//! n unit vectors (the hypercube) as columns, then one column for each check bit (the long hops).
//! The ports of a switch are in that order. A cut of the network along a word has 2^(n-1) links for
//! each one in the code word. So the least distance d of the code gives the bisection, d 2^(n-1)
//! links.

use super::algebra::{binary_cayley, endpoints, sized};
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, PromisedValue};
use base::Refusal;
use fabric::geometry::{GridRowLinks, NetworkGeometry, PlaneStructure};
use fabric::network::TopologyBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Long Hop: 2^n switches, linked when their difference is a column of an n x m generator matrix.
///
/// The network radix is the length m of the code, the bisection d 2^(n-1) links for least distance
/// d.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongHop {
    /// Dimension of the code, 3 to 16: there are 2^n switches.
    pub n: u32,
    /// The code: its length, dimension and least distance, as in 24-12-8; the default is the first
    /// that there is for n, of about 2 n ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Endpoints per switch; the default is network radix over diameter, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

/// A binary linear code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BinaryLinearCode {
    /// The length: the number of columns.
    m: u32,
    /// The dimension.
    n: u32,
    /// The least distance.
    d: u32,
    /// The generator polynomial of the cyclic code from which it is shortened; the lowest bit is
    /// x^0.
    generator: u64,
}

const fn code(m: u32, n: u32, d: u32, generator: u64) -> BinaryLinearCode {
    BinaryLinearCode { m, n, d, generator }
}

const HAMMING_7: u64 = 0o13;
const HAMMING_15: u64 = 0o23;
const HAMMING_31: u64 = 0o45;
const BCH_15_7: u64 = 0o721;
const BCH_15_5: u64 = 0o2467;
const GOLAY_23: u64 = 0o5343;
const BCH_31_16: u64 = 0o107_657;
const BCH_31_11: u64 = 0o5_423_325;
const BCH_31_6: u64 = 0o313_365_047;
const BCH_63_24: u64 = 0o17_323_260_404_441;
const BCH_63_18: u64 = 0o1_363_026_512_351_725;
const BCH_63_16: u64 = 0o6_331_141_367_235_453;
const BCH_63_10: u64 = 0o472_622_305_527_250_155;
const BCH_63_7: u64 = 0o5_231_045_543_503_271_737;

/// The codes, sorted by dimension; the first one of a dimension is its default.
const CODES: &[BinaryLinearCode] = &[
    code(7, 3, 4, HAMMING_7),
    code(8, 4, 4, HAMMING_7),
    code(15, 4, 8, BCH_15_5),
    code(16, 5, 8, BCH_15_5),
    code(15, 6, 6, BCH_15_7),
    code(18, 6, 8, GOLAY_23),
    code(32, 6, 16, BCH_31_6),
    code(16, 7, 6, BCH_15_7),
    code(15, 7, 5, BCH_15_7),
    code(19, 7, 8, GOLAY_23),
    code(28, 7, 12, BCH_31_11),
    code(64, 7, 32, BCH_63_7),
    code(20, 8, 8, GOLAY_23),
    code(29, 8, 12, BCH_31_11),
    code(21, 9, 8, GOLAY_23),
    code(30, 9, 12, BCH_31_11),
    code(55, 9, 22, BCH_63_18),
    code(14, 9, 4, HAMMING_15),
    code(22, 10, 8, GOLAY_23),
    code(31, 10, 12, BCH_31_11),
    code(58, 10, 24, BCH_63_16),
    code(64, 10, 28, BCH_63_10),
    code(15, 10, 4, HAMMING_15),
    code(23, 11, 8, GOLAY_23),
    code(31, 11, 11, BCH_31_11),
    code(32, 11, 12, BCH_31_11),
    code(59, 11, 24, BCH_63_16),
    code(16, 11, 4, HAMMING_15),
    code(24, 12, 8, GOLAY_23),
    code(23, 12, 7, GOLAY_23),
    code(52, 12, 16, BCH_63_24),
    code(60, 12, 24, BCH_63_16),
    code(18, 12, 4, HAMMING_31),
    code(29, 13, 8, BCH_31_16),
    code(53, 13, 16, BCH_63_24),
    code(61, 13, 24, BCH_63_16),
    code(19, 13, 4, HAMMING_31),
    code(30, 14, 8, BCH_31_16),
    code(54, 14, 16, BCH_63_24),
    code(62, 14, 24, BCH_63_16),
    code(31, 15, 8, BCH_31_16),
    code(55, 15, 16, BCH_63_24),
    code(63, 15, 24, BCH_63_16),
    code(32, 16, 8, BCH_31_16),
    code(56, 16, 16, BCH_63_24),
    code(64, 16, 24, BCH_63_16),
];

impl BinaryLinearCode {
    /// The name of the code: length, dimension and least distance.
    fn name(self) -> String {
        format!("{}-{}-{}", self.m, self.n, self.d)
    }

    /// The check bits of information bit `i`: x^(degree + i) modulo the generator, then the parity
    /// of the whole word if the code has one check bit more than the degree of the generator.
    fn checks(self, i: u32) -> u64 {
        let degree = self.generator.ilog2();
        let times_x =
            |r: u64| if r >> (degree - 1) & 1 == 1 { r << 1 ^ self.generator } else { r << 1 };
        let rest = (0..=i).fold(1 << (degree - 1), |r, _| times_x(r));
        if self.m - self.n == degree {
            return rest;
        }
        rest << 1 | u64::from(rest.count_ones() + 1) & 1
    }

    /// The columns of the generator matrix as n-bit words: unit vectors, highest bit first, then
    /// the check bits.
    fn columns(self) -> Vec<u32> {
        let rows: Vec<u64> = (0..self.n).map(|i| self.checks(i)).collect();
        let check =
            |j: u32| (0..self.n).map(|i| (rows[i as usize] >> j & 1) << i).sum::<u64>() as u32;
        let units = (0..self.n).rev().map(|i| 1 << i);
        units.chain((0..self.m - self.n).rev().map(check)).collect()
    }

    /// The longest distance and the sum of all distances; computed once, since sizing asks for
    /// every wish.
    fn distances(self) -> (u32, u64) {
        static KNOWN: [OnceLock<(u32, u64)>; CODES.len()] =
            [const { OnceLock::new() }; CODES.len()];
        let found = || distances(self.n, &self.columns());
        let row = CODES.iter().position(|&code| code == self);
        row.map_or_else(found, |row| *KNOWN[row].get_or_init(found))
    }
}

/// The longest distance from word 0, and the sum of all distances from it. The distance of a word
/// is the least number of columns whose sum it is; columns are considered one by one. O(2^n m).
fn distances(n: u32, columns: &[u32]) -> (u32, u64) {
    let mut least = vec![u32::MAX / 2; 1 << n];
    least[0] = 0;
    for &c in columns {
        let with = |x: u32| least[(x ^ c) as usize] + 1;
        least = (0..1 << n).map(|x: u32| least[x as usize].min(with(x))).collect();
    }
    let longest = least.iter().copied().max().unwrap_or(0);
    (longest, least.iter().map(|&d| u64::from(d)).sum())
}

impl LongHop {
    fn code(&self) -> Result<BinaryLinearCode, Refusal> {
        let dimensions = CODES.iter().map(|c| c.n);
        let most = dimensions.max().unwrap_or(0);
        super::in_range("n", self.n, CODES[0].n, most)?;
        let there: Vec<BinaryLinearCode> =
            CODES.iter().filter(|c| c.n == self.n).copied().collect();
        let Some(name) = &self.code else { return Ok(there[0]) };
        there.iter().find(|c| c.name() == *name).copied().ok_or_else(|| {
            let names: Vec<String> = there.iter().map(|c| c.name()).collect();
            let why = format!("there is no code '{name}' for n = {}", self.n);
            Refusal::new("code", why, format!("codes: {}", names.join(", ")))
        })
    }
}

impl Family for LongHop {
    const NAME: &'static str = "long_hop";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Grid(GridRowLinks::Other))
    }

    fn examples() -> Vec<Self> {
        let of = |n, code: Option<&str>, p| Self { n, code: code.map(str::to_owned), p };
        vec![
            of(3, None, Some(1)),
            of(4, Some("8-4-4"), None),
            of(4, Some("15-4-8"), Some(2)),
            of(5, None, Some(0)),
            of(6, Some("18-6-8"), Some(1)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let code = self.code()?;
        let (longest, sum) = code.distances();
        let p = endpoints(self.p, code.m, longest)?;
        let switches = 1 << code.n;
        let links = u64::from(code.m) * switches / 2;
        let mean = PromisedValue::Exact(ExactFraction { num: sum, den: switches - 1 });
        let promise =
            FamilyPromise::direct(switches, p, links, code.m, PromisedValue::Exact(longest), mean);
        Ok(promise.vertex_transitive())
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let code = self.code()?;
        let p = match self.p {
            Some(p) => endpoints(Some(p), code.m, 1)?,
            None => endpoints(None, code.m, code.distances().0)?,
        };
        Ok(binary_cayley("longhop", code.n, &code.columns(), p))
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let of = |c: &BinaryLinearCode, p| Self { n: c.n, code: Some(c.name()), p };
        let small = CODES.iter().filter(|c| c.m < wish.radix);
        small.filter_map(|c| sized(wish, |p| of(c, p))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::*;

    fn long_hop(code: BinaryLinearCode) -> LongHop {
        LongHop { n: code.n, code: Some(code.name()), p: Some(1) }
    }

    /// The least distance is found by going through all words. No column occurs twice, none is 0.
    #[test]
    fn every_code_has_its_length_dimension_and_least_distance() {
        for &c in CODES {
            let columns = c.columns();
            assert_eq!(columns.len() as u32, c.m, "{}", c.name());
            let weight = |x: u32| columns.iter().map(|v| (v & x).count_ones() & 1).sum::<u32>();
            let least = (1..1_u32 << c.n).map(weight).min();
            assert_eq!(least, Some(c.d), "{}", c.name());
            let mut sorted = columns;
            sorted.sort_unstable();
            sorted.dedup();
            assert!(sorted.len() as u32 == c.m && sorted[0] > 0, "{}: a column twice", c.name());
        }
        for n in 3..=16 {
            assert!(CODES.iter().any(|c| c.n == n), "no code for n = {n}");
        }
    }

    /// A generator polynomial of a cyclic code of length N divides x^N + 1.
    #[test]
    fn generators_divide_their_cyclic_length() {
        for c in CODES {
            let order = (1..=63_u32).find(|&i| {
                let degree = c.generator.ilog2();
                let rest = (0..i).fold(1_u64, |r, _| {
                    let next = u128::from(r) << 1;
                    let wrap = next >> degree & 1 == 1;
                    (if wrap { next ^ u128::from(c.generator) } else { next }) as u64
                });
                rest == 1
            });
            let parity = c.m - c.n - c.generator.ilog2();
            let order = order.expect("a cyclic code of length 63 or less");
            assert!(parity <= 1 && c.m <= order + parity, "{}: length {order}", c.name());
        }
    }

    #[test]
    fn networks_to_1024_switches_keep_their_promise() {
        for &c in CODES.iter().filter(|c| c.n <= 10) {
            assert_eq!(broken(&long_hop(c)), Vec::<String>::new(), "{}", c.name());
        }
    }

    /// Covering radii of the codes that have these matrices as parity checks: 2 for the extended
    /// Hamming code, 4 for the extended Golay code (`MacWilliams` & Sloane, 1977).
    #[test]
    fn diameters_are_covering_radii_of_the_textbook() {
        for (n, code, diameter) in [(4, "8-4-4", 2), (5, "16-5-8", 2), (12, "24-12-8", 4)] {
            let member = LongHop { n, code: Some(code.into()), p: None };
            let promise = member.promise().expect("a member");
            assert_eq!(promise.diameter, PromisedValue::Exact(diameter), "{code}");
        }
        // the Golay code corrects three errors: words of weight 1, 2 and 3 are leaders of their own
        // cosets, and the leaders of all other cosets have weight 4
        let golay = LongHop { n: 12, code: None, p: None }.promise().expect("Golay");
        let few = [24, 24 * 23 / 2, 24 * 23 * 22 / 6];
        let four = 4095 - few.iter().sum::<u64>();
        let sum = few[0] + 2 * few[1] + 3 * few[2] + 4 * four;
        assert_eq!(
            golay.mean_distance,
            PromisedValue::Exact(ExactFraction { num: sum, den: 4095 })
        );
    }

    #[test]
    fn the_first_ports_are_the_hypercube() {
        let t = built(&LongHop { n: 5, code: None, p: Some(2) });
        for s in 0..32_u32 {
            let neighbours = t.graph().neighbours(s as usize);
            let cube: Vec<u32> = (0..5).rev().map(|bit| s ^ 1 << bit).collect();
            assert_eq!(neighbours[..5], cube);
        }
    }

    #[test]
    fn unknown_codes_are_refused_with_those_that_there_are() {
        let of = |n, code: Option<&str>, p| LongHop { n, code: code.map(str::to_owned), p };
        for n in [0, 2, 17, u32::MAX] {
            assert_eq!(refused(&of(n, None, None)).help, "3 to 16");
        }
        let refusal = refused(&of(9, Some("24-12-8"), None));
        assert_eq!(refusal.param, "code");
        assert_eq!(refusal.help, "codes: 21-9-8, 30-9-12, 55-9-22, 14-9-4");
        assert_eq!(refused(&of(9, None, Some(u32::MAX))).param, "p");
    }
}
