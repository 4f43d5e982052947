//! Slim Fly: the diameter-2 graphs of `McKay`, Miller and Siran over GF(q).
//!
//! Source: Besta & Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014,
//! section II; generator sets as in Hafner, "Geometric realisation of the graphs of
//! McKay-Miller-Siran", 2004. q = 5 is the Hoffman-Singleton graph.
//!
//! Ports follow the deployed cluster: endpoints, then the links inside the column, then one port
//! for each column of the other half, so that a port number leads to the same rack from every
//! switch.

use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, MAX_P, PromisedValue};
use base::field::{FiniteField, prime_power};
use base::{Refusal, SwitchId};
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::{Cable, CablePlug, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Slim Fly: diameter 2 with 2 q^2 switches of network radix (3 q - d) / 2, for q = 4 w + d.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlimFly {
    /// Order of the field: a prime power with q mod 4 = 0, 1 or 3.
    pub q: u32,
    /// Endpoints per switch; the published default is half the network radix, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_Q: u32 = 256;

impl SlimFly {
    /// The number d of q = 4 w + d: -1, 0 or 1.
    fn delta(&self) -> Result<i64, Refusal> {
        let good = |q: u32| q % 4 != 2 && q > 2 && prime_power(q).is_some();
        if self.q <= MAX_Q && good(self.q) {
            return Ok(match self.q % 4 {
                0 => 0,
                1 => 1,
                _ => -1,
            });
        }
        let below = (3..self.q.min(MAX_Q + 1)).rev().find(|&q| good(q));
        let above = (self.q..=MAX_Q).find(|&q| good(q));
        let near: Vec<String> = below.into_iter().chain(above).map(|q| q.to_string()).collect();
        Err(Refusal::new(
            "q",
            format!("{} must be a prime power 4w-1, 4w or 4w+1 from 3 to {MAX_Q}", self.q),
            format!("nearest: {}", near.join(", ")),
        ))
    }

    fn network_radix(&self) -> Result<u32, Refusal> {
        Ok(((3 * i64::from(self.q) - self.delta()?) / 2) as u32)
    }

    fn concentration(&self) -> Result<u32, Refusal> {
        let p = self.p.unwrap_or(self.network_radix()?.div_ceil(2));
        if p > MAX_P {
            return Err(Refusal::new(
                "p",
                format!("{p} endpoints a switch"),
                format!("at most {MAX_P}"),
            ));
        }
        Ok(p)
    }

    /// The generator sets X and X', each of (q - d) / 2 elements, closed under negation.
    pub(super) fn generators(&self, field: &FiniteField) -> Result<[Vec<u32>; 2], Refusal> {
        let q = self.q;
        let powers = |from: u32, to: u32| (from..=to).step_by(2).map(|i| field.power(i));
        let w = q.div_ceil(4);
        Ok(match self.delta()? {
            1 => [powers(0, q - 3).collect(), powers(1, q - 2).collect()],
            0 => [powers(0, q - 2).collect(), powers(1, q - 1).collect()],
            _ => [
                powers(0, 2 * w - 2).chain(powers(2 * w - 1, 4 * w - 3)).collect(),
                powers(1, 2 * w - 1).chain(powers(2 * w, 4 * w - 2)).collect(),
            ],
        })
    }
}

impl Family for SlimFly {
    const NAME: &'static str = "slim_fly";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Columns)
    }

    fn examples() -> Vec<Self> {
        let of = |q, p| Self { q, p };
        let mut members = vec![of(5, Some(4)), of(7, Some(0)), of(8, Some(1))];
        members.extend([3, 4, 5, 7, 9, 11, 13, 16].map(|q| of(q, None)));
        members
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let (q, k) = (u64::from(self.q), u64::from(self.network_radix()?));
        let n = 2 * q * q;
        // k switches are one hop away, all others two
        let mean = PromisedValue::Exact(ExactFraction { num: 2 * (n - 1) - k, den: n - 1 });
        let p = self.concentration()?;
        let promise =
            FamilyPromise::direct(n, p, q * q * k, k as u32, PromisedValue::Exact(2), mean);
        // multiplication by a primitive element exchanges X and X' if d = 1: then an automorphism
        // swaps the halves
        Ok(if self.delta()? == 1 { promise.vertex_transitive() } else { promise })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let q = self.q;
        let field = FiniteField::new(q)?;
        let sets = self.generators(&field)?;
        let p = self.concentration()?;
        let mut b = TopologyBuilder::new();
        for half in 0..2 {
            for column in 0..q {
                for row in 0..q {
                    let name = format!("sf-{half}-{column}-{row}");
                    b.switch(Switch::new(name).at(half * q + column, vec![half, column, row]));
                }
            }
        }
        let id = |half: u32, column: u32, row: u32| SwitchId(half * q * q + column * q + row);
        b.endpoints_on((0..2 * q * q).map(SwitchId), p);
        let plug = |switch, port: u32| CablePlug { switch, port: (p + port) as u16 };
        // inside a column: y - y' in X (half 0) or X' (half 1); port i+1 leads along generator i
        for (half, set) in sets.iter().enumerate() {
            let mut sorted = set.clone();
            sorted.sort_unstable();
            let back: Vec<usize> = sorted
                .iter()
                .map(|&x| sorted.iter().position(|&y| field.add(x, y) == 0))
                .collect::<Option<_>>()
                .expect("generator sets are closed under negation");
            for column in 0..q {
                for row in 0..q {
                    for (i, &x) in sorted.iter().enumerate() {
                        let other = field.add(row, x);
                        if row < other {
                            let half = half as u32;
                            let a = plug(id(half, column, row), i as u32 + 1);
                            let z = plug(id(half, column, other), back[i] as u32 + 1);
                            b.link_at(a, z, Cable::default());
                        }
                    }
                }
            }
        }
        // between the halves: (0, x, y) - (1, m, c) where y = m x + c
        let inside = sets[0].len() as u32;
        for x in 0..q {
            for m in 0..q {
                for c in 0..q {
                    let y = field.add(field.mul(m, x), c);
                    let a = plug(id(0, x, y), inside + m + 1);
                    b.link_at(a, plug(id(1, m, c), inside + x + 1), Cable::default());
                }
            }
        }
        Ok(b)
    }
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let all = (3..=MAX_Q).map(|q| Self { q, p: Some(0) });
        let sized = |bare: Self| {
            let p = wish.endpoints_of(&bare.promise().ok()?);
            p.map(|p| Self { p: Some(p), ..bare })
        };
        all.filter_map(sized).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_without_a_slim_fly_are_refused() {
        for q in [0, 1, 2, 6, 10, 12, 15, 20, 21, 28, 257] {
            let refusal = SlimFly { q, p: None }.promise().expect_err("no such graph");
            assert_eq!(refusal.param, "q", "q={q}");
        }
        let help = SlimFly { q: 6, p: None }.promise().expect_err("6").help;
        assert_eq!(help, "nearest: 5, 7");
    }

    /// Hafner's conditions, which are equivalent to diameter 2: X = -X, X' = -X'; the union of both
    /// is every non-zero element; and every non-zero element is in X or a sum of two elements of X.
    /// The same holds for X'.
    #[test]
    fn generator_sets_satisfy_the_diameter_conditions_for_every_q_to_128() {
        let mut checked = 0;
        for q in (3..=128).filter(|q| q % 4 != 2 && prime_power(*q).is_some()) {
            let field = FiniteField::new(q).expect("a prime power");
            let sets = SlimFly { q, p: None }.generators(&field).expect("a member");
            let mut union = vec![false; q as usize];
            for set in &sets {
                assert_eq!(
                    set.len() as u32,
                    SlimFly { q, p: None }.network_radix().expect("k") - q
                );
                let mut covered = vec![false; q as usize];
                for &a in set {
                    assert!(set.contains(&field.sub(0, a)), "q={q}: not closed under negation");
                    union[a as usize] = true;
                    covered[a as usize] = true;
                    for &b in set {
                        covered[field.add(a, b) as usize] = true;
                    }
                }
                assert!(covered[1..].iter().all(|&c| c), "q={q}: a difference needs three hops");
            }
            assert!(union[1..].iter().all(|&u| u), "q={q}: X and X' miss an element");
            checked += 1;
        }
        assert_eq!(checked, 43);
    }

    #[test]
    fn a_port_number_leads_to_the_same_column_from_every_switch() {
        let t = SlimFly { q: 5, p: Some(4) }
            .build()
            .expect("built")
            .finish(super::super::recipe(&SlimFly { q: 5, p: Some(4) }));
        let t = t.expect("a valid network");
        for s in 0..50 {
            for (column, port) in (7..12).enumerate() {
                let fabric::network::PortPeer::Switch(c) = t.peer(SwitchId(s), port) else {
                    panic!("port {port} of switch {s} is empty");
                };
                let other = &t.switches()[t.head(c).switch.ix()];
                assert_eq!(other.coordinates[1] as usize, column);
                assert_ne!(other.coordinates[0], t.switches()[s as usize].coordinates[0]);
            }
        }
    }
}
