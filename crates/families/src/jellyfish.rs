//! Jellyfish: a random regular graph of switches.
//!
//! Source: Singla, Hong, Popa & Godfrey, "Jellyfish: networking data centers randomly", NSDI 2012,
//! section 3; the distribution of the graphs as in `McKay` & Wormald, "Uniform generation of random
//! regular graphs of moderate degree", J. Algorithms 1990.
//!
//! The graph is drawn nearly uniformly from all connected simple graphs. The ends of links are
//! paired at random; loops and repeated links are removed by switchings, which turn a-b and c-d
//! into a-c and b-d. Then four random switchings per link follow, under which all graphs are
//! equally likely in the long run. A graph that is not connected is drawn again. With two links per
//! switch the network is a random ring. Ports: endpoints, then by the number of the switch they
//! lead to.

use super::complete::CompleteGraph;
use super::random::{LinkEnds, concentration, connected, distances, in_order, regular, sizes};
use super::wish::NetworkWish;
use super::{Family, FamilyPromise, MAX_P, in_range};
use base::seed::RandomStream;
use base::{Refusal, SwitchId};
use fabric::network::{NetworkRecipe, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Jellyfish: n switches with k random links each, connected and without parallel links.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jellyfish {
    /// Switches.
    pub n: u32,
    /// Links of a switch; n k must be even.
    pub k: u32,
    /// Number of the random graph; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Endpoints per switch; default k over the least diameter that n such switches can have,
    /// rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

/// The most switches, and the most links of one.
const MAX_N: u32 = 1 << 26;
const MAX_K: u32 = 4096;

impl Jellyfish {
    /// The number of endpoints per switch.
    fn checked(&self) -> Result<u32, Refusal> {
        let n = in_range("n", self.n, 1, MAX_N)?;
        // one switch has no links, each of two has one; in larger networks every switch needs two
        // to be connected
        let k = in_range("k", self.k, n.saturating_sub(1).min(2), (n - 1).min(MAX_K))?;
        if n % 2 == 1 && k % 2 == 1 {
            let why = format!("{n} switches with {k} links each would have half a link");
            let good = [k - 1, k + 1].into_iter().filter(|&k| k > 1 && k < n);
            let good: Vec<String> = good.map(|k| k.to_string()).collect();
            return Err(Refusal::new("k", why, format!("nearest: {}", good.join(", "))));
        }
        in_range("p", self.p.unwrap_or_else(|| concentration(n.into(), k)), 0, MAX_P)
    }

    fn links(&self) -> LinkEnds {
        let draw = |attempt| RandomStream::new(self.seed.unwrap_or(0), "jellyfish", attempt);
        if self.k == 2 {
            let mut round: Vec<u32> = (0..self.n).collect();
            draw(0).shuffle(&mut round);
            let next = round.iter().skip(1).chain(&round[..1]);
            return round.iter().zip(next).map(|(&a, &b)| [a, b]).collect();
        }
        let mut graphs = (0..u64::MAX).map(|attempt| regular(self.n, self.k, &mut draw(attempt)));
        graphs.find(|links| connected(self.n, links)).expect("most graphs are connected")
    }
}

impl Family for Jellyfish {
    const NAME: &'static str = "jellyfish";

    fn examples() -> Vec<Self> {
        let of = |n, k, seed, p| Self { n, k, seed, p };
        vec![
            of(20, 4, None, None),
            of(20, 4, Some(7), Some(1)),
            of(15, 2, Some(1), Some(1)),
            of(9, 6, None, Some(0)),
            of(7, 6, None, None),
            of(2, 1, None, None),
            of(1, 0, None, Some(2)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let p = self.checked()?;
        let n = u64::from(self.n);
        let (diameter, mean) = distances(n, self.k, u32::MAX);
        Ok(FamilyPromise::direct(n, p, n * u64::from(self.k) / 2, self.k, diameter, mean))
    }

    /// With as many links as there are other switches it is the complete network, whatever is
    /// drawn.
    fn general_form(&self) -> Option<NetworkRecipe> {
        let p = Some(self.checked().ok().filter(|_| self.k == self.n - 1)?);
        CompleteGraph { n: self.n, p }.general_form()
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let p = self.checked()?;
        let mut b = TopologyBuilder::new();
        for i in 0..self.n {
            b.switch(Switch::new(format!("jellyfish-{i}")).at(0, vec![i]));
        }
        b.endpoints_on((0..self.n).map(SwitchId), p);
        for [a, c] in in_order(self.links()) {
            b.link(SwitchId(a), SwitchId(c));
        }
        Ok(b)
    }

    /// For every k the numbers of switches just below and above the wish, with the default number
    /// of endpoints; none where the wish names no number, because there is no largest member.
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let of = |k: u32| {
            sizes(wish, k).into_iter().filter_map(move |(n, p)| {
                let n = u32::try_from(n).ok()?;
                Some(Self { n, k, seed: None, p: Some(p) })
            })
        };
        (3..=wish.radix.min(MAX_K)).flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PromisedValue, recipe};
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;
    use proptest::prelude::*;

    fn jellyfish(n: u32, k: u32, seed: u64) -> Jellyfish {
        Jellyfish { n, k, seed: Some(seed), p: None }
    }

    fn built(member: &Jellyfish) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn members_keep_their_promise_and_are_simple(
            n in 3_u32..40, part in 0_u32..1000, seed in any::<u64>(),
        ) {
            let k = 2 + part % (n - 2);
            prop_assume!(n * k % 2 == 0);
            let member = jellyfish(n, k, seed);
            let (promise, t) = (member.promise().expect("a member"), built(&member));
            prop_assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
            for v in 0..n as usize {
                let row = t.graph().neighbours(v);
                prop_assert!(row.windows(2).all(|w| w[0] < w[1]), "ports by switch, none twice");
                prop_assert_eq!(row.len(), k as usize);
            }
        }

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            n in prop_oneof![any::<u32>(), 0_u32..70],
            k in prop_oneof![any::<u32>(), 0_u32..70],
            p in prop::option::of(any::<u32>()),
        ) {
            let joins = match n {
                0 => false,
                1 => k == 0,
                2 => k == 1,
                _ => k >= 2 && k < n,
            };
            let there = joins && n <= MAX_N && k <= MAX_K && u64::from(n) * u64::from(k) % 2 == 0
                && p.is_none_or(|p| p <= MAX_P);
            let member = Jellyfish { n, k, seed: None, p };
            prop_assert_eq!(member.promise().is_ok(), there);
        }
    }

    #[test]
    fn a_seed_gives_one_graph_and_another_seed_another() {
        let links = |seed| built(&jellyfish(50, 5, seed)).links().to_vec();
        assert_eq!(links(3), links(3));
        assert_ne!(links(3), links(4));
        let plain = Jellyfish { n: 50, k: 5, seed: None, p: None };
        assert_eq!(built(&plain).links(), links(0));
    }

    /// Bollobas & de la Vega 1982: the diameter of almost every k-regular graph is within a few of
    /// log(n) / log(k - 1). The mean distance must also be near that of the Moore bound.
    #[test]
    fn large_graphs_are_drawn_at_once_and_are_as_close_as_theory_says() {
        let member = jellyfish(10_000, 32, 1);
        let links = member.links();
        assert_eq!(links.len(), 160_000);
        let ends = links.iter().map(|&[a, b]| Some((SwitchId(a), SwitchId(b))));
        let graph = base::Graph::new(10_000, ends);
        let farthest = *graph.distances_from(0).iter().max().expect("switches");
        assert!((3..=4).contains(&farthest), "{farthest}");
        let PromisedValue::Between(low, _) = member.promise().expect("a member").diameter else {
            panic!("no bounds")
        };
        assert_eq!(low, 3);
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        let cases = [
            (jellyfish(0, 0, 0), "n", "1 to 67108864"),
            (jellyfish(4, 1, 0), "k", "2 to 3"),
            (jellyfish(4, 4, 0), "k", "2 to 3"),
            (jellyfish(9, 5, 0), "k", "nearest: 4, 6"),
            (jellyfish(u32::MAX, 5, 0), "n", "1 to 67108864"),
            (Jellyfish { p: Some(4097), ..jellyfish(9, 4, 0) }, "p", "0 to 4096"),
        ];
        for (member, param, help) in cases {
            let refusal = member.promise().expect_err("no such member");
            assert_eq!((&refusal.param[..], &refusal.help[..]), (param, help));
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
