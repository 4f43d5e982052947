//! DLN-x-y: a ring with regular shortcuts and random ones.
//!
//! Source: Koibuchi, Matsutani, Amano, Hsu & Casanova, "A case for random shortcut topologies for
//! HPC interconnects", ISCA 2012, section 3.
//!
//! Every switch i of a ring of n gets links to i + n / 2^j, rounded down, for j = 1 .. x - 2
//! (DLN-x), and each of y random perfect matchings adds one link (DLN-x-y; DLN-2-y is the ring with
//! y random links per switch). By this rule a regular shortcut gives a switch two links, one ahead
//! and one back, unless it leads to the opposite switch: for even n the degree is 2 x - 3 + y from
//! x = 3 on. A matching is drawn as a random pairing; pairs that are linked already exchange
//! partners with random other pairs until no link is double. Ports: endpoints, then by the number
//! of the switch they lead to.

use super::random::{LinkEnds, concentration, distances, in_order, sizes};
use super::wish::NetworkWish;
use super::{Family, FamilyPromise, MAX_P, in_range};
use base::seed::RandomStream;
use base::{Refusal, SwitchId};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Distributed loop network with random shortcuts, DLN-x-y: a ring, x - 2 regular shortcuts and y
/// random links a switch.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dln {
    /// Switches; even when there are random links.
    pub n: u32,
    /// 2 for the ring alone, one more for each regular shortcut; default 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<u32>,
    /// Random links of a switch.
    pub y: u32,
    /// Number of the random network; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Endpoints per switch; default the network radix over the least diameter that n such switches
    /// can have, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

/// The most switches.
const MAX_N: u32 = 1 << 26;
/// The most random links of a switch.
const MAX_Y: u32 = 4096;

/// The checked parameters of a DLN network, with what follows from them.
struct CheckedDlnParameters {
    /// The steps of the regular links along the ring, the ring's own link first.
    steps: Vec<u32>,
    degree: u32,
    p: u32,
}

impl Dln {
    fn checked(&self) -> Result<CheckedDlnParameters, Refusal> {
        let n = in_range("n", self.n, 3, MAX_N)?;
        // a shortcut with a step of 1 would repeat the ring's link
        let x = in_range("x", self.x.unwrap_or(2), 2, n.ilog2() + 1)?;
        let steps: Vec<u32> = (0..=x - 2).map(|j| if j == 0 { 1 } else { n >> j }).collect();
        let regular: u32 = steps.iter().map(|step| if 2 * step == n { 1 } else { 2 }).sum();
        if self.y > 0 && n % 2 == 1 {
            let why = format!("{n} switches cannot all be matched in pairs");
            return Err(Refusal::new("n", why, format!("nearest: {}, {}", n - 1, n + 1)));
        }
        // with 2 (degree + 1) < n a pair always finds another pair to exchange partners with
        let most = (n / 2).saturating_sub(regular + 2).min(MAX_Y);
        let degree = regular + in_range("y", self.y, 0, most)?;
        let p = self.p.unwrap_or_else(|| concentration(n.into(), degree));
        Ok(CheckedDlnParameters { steps, degree, p: in_range("p", p, 0, MAX_P)? })
    }

    /// An upper bound of the diameter: that of the ring, about halved by every regular shortcut.
    fn farthest(&self, steps: &[u32]) -> u32 {
        let mut left = self.n / 2;
        let mut best = left;
        for (taken, &step) in (1..).zip(&steps[1..]) {
            // switches up to `left` ahead are reached with the shortcut or without it
            left = (step / 2).max(left.saturating_sub(step));
            best = best.min(taken + left);
        }
        best
    }

    fn links(&self, steps: &[u32]) -> LinkEnds {
        let n = self.n;
        let ahead = |&step: &u32| (0..n).map(move |i| [i, (i + step) % n]);
        let mut links: LinkEnds = steps.iter().flat_map(ahead).collect();
        links.retain(|&[a, b]| 2 * a.abs_diff(b) != n || a < b);
        let mut rows = vec![Vec::new(); n as usize];
        for &[a, b] in &links {
            rows[a as usize].push(b);
            rows[b as usize].push(a);
        }
        for matching in 0..self.y {
            let mut draw = RandomStream::new(self.seed.unwrap_or(0), "dln", matching.into());
            let mut order: Vec<u32> = (0..n).collect();
            draw.shuffle(&mut order);
            let bad = |rows: &[Vec<u32>], a: u32, b: u32| rows[a as usize].contains(&b);
            for i in (0..n as usize).step_by(2) {
                while bad(&rows, order[i], order[i + 1]) {
                    let j = draw.below(n.into()) as usize;
                    let (c, d) = (order[j], order[j ^ 1]);
                    let free = c != order[i] && c != order[i + 1];
                    if free && !bad(&rows, order[i], c) && !bad(&rows, order[i + 1], d) {
                        // a-b and c-d become a-c and b-d
                        order[j] = order[i + 1];
                        order[i + 1] = c;
                    }
                }
            }
            for pair in order.chunks_exact(2) {
                let [a, b] = [pair[0], pair[1]];
                rows[a as usize].push(b);
                rows[b as usize].push(a);
                links.push([a, b]);
            }
        }
        links
    }
}

impl Family for Dln {
    const NAME: &'static str = "dln";

    fn examples() -> Vec<Self> {
        let of = |n, x, y, seed, p| Self { n, x, y, seed, p };
        vec![
            of(24, None, 2, None, None),
            of(24, Some(2), 2, Some(5), Some(1)),
            of(32, Some(4), 1, Some(1), Some(1)),
            of(11, None, 0, None, None),
            of(15, Some(4), 0, None, Some(1)),
            of(16, Some(5), 0, None, Some(0)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let CheckedDlnParameters { steps, degree, p } = self.checked()?;
        let n = u64::from(self.n);
        let (diameter, mean) = distances(n, degree, self.farthest(&steps));
        let promise =
            FamilyPromise::direct(n, p, n * u64::from(degree) / 2, degree, diameter, mean);
        // without random links a rotation of the ring is an automorphism
        Ok(if self.y == 0 { promise.vertex_transitive() } else { promise })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let CheckedDlnParameters { steps, p, .. } = self.checked()?;
        let mut b = TopologyBuilder::new();
        for i in 0..self.n {
            b.switch(Switch::new(format!("dln-{i}")).at(0, vec![i]));
        }
        b.endpoints_on((0..self.n).map(SwitchId), p);
        for [a, c] in in_order(self.links(&steps)) {
            b.link(SwitchId(a), SwitchId(c));
        }
        Ok(b)
    }

    /// DLN-2-y: for every y the numbers of switches just below and above the wish, with the default
    /// number of endpoints; none where the wish names no number, because there is no largest
    /// member.
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let of = |y: u32| {
            sizes(wish, 2 + y).into_iter().filter_map(move |(n, p)| {
                let n = u32::try_from(n).ok()?;
                Some(Self { n, x: None, y, seed: None, p: Some(p) })
            })
        };
        (1..=wish.radix.min(MAX_Y)).flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe;
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn dln(n: u32, x: u32, y: u32, seed: u64) -> Dln {
        Dln { n, x: Some(x), y, seed: Some(seed), p: Some(1) }
    }

    fn built(member: &Dln) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn members_keep_their_promise_and_their_rule(
            n in 3_u32..70, x in 2_u32..7, y in 0_u32..6, seed in any::<u64>(),
        ) {
            let member = dln(n, x, y, seed);
            let Ok(promise) = member.promise() else {
                prop_assert!(member.build().is_err());
                return Ok(());
            };
            let t = built(&member);
            prop_assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
            let mut regular = BTreeSet::new();
            for i in 0..n {
                regular.insert([i, (i + 1) % n]);
                regular.extend((1..x - 1).map(|j| [i, (i + n / 2_u32.pow(j)) % n]));
            }
            for v in 0..n {
                let row = t.graph().neighbours(v as usize);
                prop_assert!(row.windows(2).all(|w| w[0] < w[1]), "ports by switch, none twice");
                let by_rule = |w: u32| regular.contains(&[v, w]) || regular.contains(&[w, v]);
                let random = row.iter().filter(|&&w| !by_rule(w)).count();
                prop_assert_eq!(random, y as usize);
                let expected = (0..n).filter(|&w| by_rule(w)).count();
                prop_assert_eq!(row.len() - random, expected);
            }
        }

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            n in prop_oneof![any::<u32>(), 0_u32..70],
            x in prop_oneof![any::<u32>(), 0_u32..10],
            y in prop_oneof![any::<u32>(), 0_u32..40],
            p in prop::option::of(any::<u32>()),
        ) {
            let member = Dln { n, x: Some(x), y, seed: None, p };
            if let Ok(promise) = member.promise() {
                prop_assert_eq!(promise.switches, u64::from(n));
                prop_assert!((2..=27).contains(&x) && n >> (x - 2) >= 2);
            }
        }
    }

    /// For powers of two: DLN-x has degree 2 x - 3 by the rule of the paper, and y random links add
    /// y.
    #[test]
    fn degrees_are_those_of_the_literal_rule() {
        for (x, y) in [(3, 0), (4, 0), (5, 0), (4, 3), (2, 4)] {
            let promise = dln(64, x, y, 1).promise().expect("a member");
            assert_eq!(promise.network_radix, if x == 2 { 2 } else { 2 * x - 3 } + y);
        }
    }

    #[test]
    fn a_seed_gives_one_network_and_another_seed_another() {
        let links = |seed| built(&dln(64, 2, 3, seed)).links().to_vec();
        assert_eq!(links(3), links(3));
        assert_ne!(links(3), links(4));
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        let cases = [
            (dln(2, 2, 0, 0), "n", "3 to 67108864"),
            (dln(9, 2, 1, 0), "n", "nearest: 8, 10"),
            (dln(16, 1, 0, 0), "x", "2 to 5"),
            (dln(16, 6, 0, 0), "x", "2 to 5"),
            (dln(16, 2, 5, 0), "y", "0 to 4"),
            (dln(16, 2, u32::MAX, 0), "y", "0 to 4"),
            (Dln { p: Some(4097), ..dln(16, 2, 1, 0) }, "p", "0 to 4096"),
        ];
        for (member, param, help) in cases {
            let refusal = member.promise().expect_err("no such member");
            assert_eq!((&refusal.param[..], &refusal.help[..]), (param, help));
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
        assert_eq!(dln(16, 2, 4, 0).promise().expect("the most links").network_radix, 6);
    }
}
