//! BookSim's traffic patterns by BookSim's names and rules; endpoints may send to themselves.
//!
//! Source: Jiang, Becker, Michelogiannakis et al., "A detailed and flexible cycle-accurate
//! network-on-chip simulator", ISPASS 2013, and its program at revision 28f43299.

mod knuth;

use super::bits::{complement, reversed, rotated, transposed};
use crate::destinations::PacketDestinations;
use base::Refusal;
use base::seed::RandomStream;
use knuth::KnuthRandomGenerator;

/// A traffic pattern of BookSim. Endpoints are numbered from 0, and may send to themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookSimPattern {
    /// To any endpoint.
    Uniform,
    /// To any endpoint except some.
    Background {
        /// The endpoints that are not sent to.
        without: Vec<u32>,
    },
    /// To the complement of the source's bits.
    BitComplement,
    /// To the source's bits in reverse order.
    BitReverse,
    /// To the source's bits rotated left by one.
    Shuffle,
    /// To the source's number with the halves of its bits swapped.
    Transpose,
    /// To the source's number with ceil(base / 2) - 1 added to each of its lowest `digits` digits
    /// to the base `base`, modulo `base`; higher digits become 0.
    Tornado {
        /// xr * k, in terms of BookSim's parameters.
        base: u32,
        /// n, in terms of BookSim's parameters.
        digits: u32,
    },
    /// To the source's number with 1 added to each of its lowest `digits` digits to the base
    /// `base`, modulo `base`; higher digits become 0.
    Neighbor {
        /// xr * k, in terms of BookSim's parameters.
        base: u32,
        /// n, in terms of BookSim's parameters.
        digits: u32,
    },
    /// To the next endpoint with probability 1/3, else to itself.
    Diagonal,
    /// To s mod N/2, or that plus N/2, with probability 1/2 each; s is the source.
    Asymmetric,
    /// On 64 endpoints: with probability 1/2 to any endpoint, else to one in an adjacent row and
    /// column.
    Taper64,
    /// To any endpoint of the next group of `dragonflynew`.
    BadDragon {
        /// Number of endpoints of a group, 2 k k.
        group: u32,
    },
    /// To these endpoints, in proportion to their weights.
    Hotspot {
        /// The endpoints; `None` for one that is drawn once for the whole run.
        at: Vec<Option<u32>>,
        /// The weight of each of these endpoints.
        weights: Vec<u32>,
    },
    /// A permutation: for i = 0, 1, ... destination i goes to the free source with index (next mod
    /// (N - i)), where next is the next number of Knuth's generator.
    RandomPermutation {
        /// The seed of that generator, which is independent of the seed of the run.
        seed: i32,
    },
}

impl BookSimPattern {
    /// The destinations of this pattern for a number of endpoints. `seed` draws the hot endpoints
    /// that are not given. O(endpoints * log(endpoints)).
    ///
    /// # Errors
    /// When the number of endpoints does not fit the rule.
    pub fn destinations(&self, endpoints: u32, seed: u64) -> Result<PacketDestinations, Refusal> {
        let n = endpoints;
        if n < 2 {
            let why = format!("{n} endpoints");
            return Err(Refusal::new("endpoints", why, "traffic needs at least 2"));
        }
        let half = n / 2;
        Ok(match self {
            Self::Uniform => PacketDestinations::uniform(n),
            Self::Background { without } => background(n, without)?,
            Self::Hotspot { at, weights } => hotspot(n, at, weights, seed)?,
            Self::RandomPermutation { seed } => fixed(&randperm(n, (*seed).into())),
            Self::BitComplement => bits("bitcomp", n, complement)?,
            Self::BitReverse => bits("bitrev", n, reversed)?,
            Self::Shuffle => bits("shuffle", n, rotated)?,
            Self::Transpose if n.is_power_of_two() && !n.ilog2().is_multiple_of(2) => {
                return Err(unfit("transpose", n, "an even power of two"));
            }
            Self::Transpose => bits("transpose", n, transposed)?,
            Self::Tornado { base, digits } => {
                moved("tornado", n, *base, *digits, |b| (b + 1) / 2 - 1)?
            }
            Self::Neighbor { base, digits } => moved("neighbor", n, *base, *digits, |_| 1)?,
            Self::Diagonal => PacketDestinations::steps(n, &[1, 0, 0]),
            Self::Asymmetric => {
                let lower: Vec<u32> = (0..n).map(|source| source % half).collect();
                let upper: Vec<u32> = lower.iter().map(|low| low + half).collect();
                PacketDestinations::mixture(0.5, fixed(&lower), fixed(&upper))
            }
            Self::Taper64 if n == 64 => {
                let near = [-9, -8, -7, -1, 0, 1, 7, 8, 9].map(|step: i32| (64 + step) as u32 % 64);
                PacketDestinations::mixture(
                    0.5,
                    PacketDestinations::steps(n, &near),
                    PacketDestinations::uniform(n),
                )
            }
            Self::Taper64 => return Err(unfit("taper64", n, "64 endpoints")),
            Self::BadDragon { group } if *group > 0 && n.is_multiple_of(*group) => {
                PacketDestinations::next_block(n, *group)
            }
            Self::BadDragon { group } => {
                return Err(unfit("bad_dragon", n, &format!("groups of {group} endpoints")));
            }
        })
    }
}

/// The refusal of a number of endpoints that the pattern does not allow.
fn unfit(name: &str, endpoints: u32, help: &str) -> Refusal {
    Refusal::new("traffic", format!("{name} among {endpoints} endpoints"), help)
}

fn bits(name: &str, n: u32, of: fn(u32, u32) -> u32) -> Result<PacketDestinations, Refusal> {
    if !n.is_power_of_two() {
        let even = if name == "transpose" { "an even power of two" } else { "a power of two" };
        return Err(unfit(name, n, even));
    }
    Ok(fixed(&(0..n).map(|source| of(source, n.ilog2())).collect::<Vec<_>>()))
}

/// The destinations when `by(base)` is added to each digit, the lowest first, modulo `base`.
fn moved(
    name: &str,
    endpoints: u32,
    base: u32,
    digits: u32,
    by: fn(i64) -> i64,
) -> Result<PacketDestinations, Refusal> {
    if base == 0 || digits == 0 {
        return Err(unfit(name, endpoints, "a base and digits of 1 or more"));
    }
    let (base, digits) = (i64::from(base), if base == 1 { 1 } else { digits });
    let to = |source: u32| {
        let (mut offset, mut to) = (1_i128, 0_i128);
        // a digit above the number of endpoints is 0 and becomes `by`, so the first such digit
        // decides
        for _ in 0..digits {
            let digit = i128::from(source) / offset % i128::from(base);
            to += offset * ((digit + i128::from(by(base))) % i128::from(base));
            if offset > endpoints.into() {
                break;
            }
            offset *= i128::from(base);
        }
        to
    };
    let mut all = Vec::with_capacity(endpoints as usize);
    for source in 0..endpoints {
        let to = to(source);
        if to >= endpoints.into() {
            let why = format!("{name} among {endpoints} endpoints sends {source} to {to}");
            let help = format!("{digits} digits to the base {base} that number the endpoints");
            return Err(Refusal::new("traffic", why, help));
        }
        all.push(to as u32);
    }
    Ok(fixed(&all))
}

fn background(n: u32, without: &[u32]) -> Result<PacketDestinations, Refusal> {
    let mut among = vec![true; n as usize];
    for &e in without {
        let help = format!("background({{e,...}}), endpoints 0 to {}", n - 1);
        let slot = among.get_mut(e as usize);
        *slot.ok_or_else(|| unfit(&format!("background without {e}"), n, &help))? = false;
    }
    let set: Vec<u32> = (0..n).filter(|&e| among[e as usize]).collect();
    if set.is_empty() {
        return Err(unfit("background without all", n, "one endpoint at least that is left"));
    }
    Ok(PacketDestinations::among(n, &set))
}

fn hotspot(
    n: u32,
    at: &[Option<u32>],
    weights: &[u32],
    seed: u64,
) -> Result<PacketDestinations, Refusal> {
    let mut draw = RandomStream::new(seed, "hotspot", 0);
    let mut weighted = Vec::new();
    for (e, &weight) in at.iter().zip(weights) {
        let e = e.unwrap_or_else(|| draw.below(n.into()) as u32);
        if e >= n {
            let help = format!("endpoints 0 to {}", n - 1);
            return Err(unfit(&format!("hotspot {e}"), n, &help));
        }
        if weight > 0 {
            weighted.push((e, f64::from(weight)));
        }
    }
    if weighted.is_empty() {
        return Err(unfit("hotspot without weights", n, "a weight above 0"));
    }
    Ok(PacketDestinations::weighted(n, &weighted))
}

fn fixed(to: &[u32]) -> PacketDestinations {
    PacketDestinations::fixed_to(&to.iter().copied().map(Some).collect::<Vec<_>>())
}

/// The destination of every source of [`BookSimPattern::RandomPermutation`]. O(N log N).
fn randperm(endpoints: u32, seed: i64) -> Vec<u32> {
    let mut knuth = KnuthRandomGenerator::new(seed);
    let mut to = vec![0; endpoints as usize];
    // a binary indexed tree: the number of free sources among the 2^b that end at each index
    let mut free: Vec<u32> = (0..=endpoints).map(|i| i & i.wrapping_neg()).collect();
    for i in 0..endpoints {
        let mut left = knuth.next() % (endpoints - i);
        let mut at = 0;
        for step in (0..=endpoints.ilog2()).rev().map(|b| 1_u32 << b) {
            if at + step <= endpoints && free[(at + step) as usize] <= left {
                at += step;
                left -= free[at as usize];
            }
        }
        to[at as usize] = i; // place at + 1 of the tree, source at
        let mut place = at + 1;
        while place <= endpoints {
            free[place as usize] -= 1;
            place += place & place.wrapping_neg();
        }
    }
    to
}

#[cfg(test)]
mod tests;
