//! k-ary n-fly: a butterfly of n stages of k x k switches.
//!
//! Source: Dally & Towles, "Principles and practices of interconnection networks", 2004, section
//! 4.1.
//!
//! A switch is a stage and n - 1 digits. Links from stage i to the next stage change digit i, the
//! most significant first. Cables carry both directions here, so both outer stages have endpoints:
//! the first k^n are the sources of the book, the others its destinations, and between a source and
//! a destination there is one path. Groups are stages. Ports: endpoints, links to the previous
//! stage, links to the next stage.

use super::multistage::ButterflyStages;
use super::{ExactFraction, Family, FamilyPromise, PromisedValue, in_range, power};
use base::Refusal;
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::TopologyBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// k-ary n-fly: n stages of k^(n-1) switches, k endpoints on each of the first and of the last.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KAryNFly {
    /// Inputs, and outputs, of a switch.
    pub k: u32,
    /// Stages.
    pub n: u32,
}

/// The most stages, and the most inputs of a switch.
const MAX_N: u32 = 30;
const MAX_K: u32 = 4096;
/// The most switches of a stage.
const MOST: u64 = 1 << 25;

impl KAryNFly {
    /// The number of switches of a stage, k^(n-1).
    fn width(&self) -> Result<u64, Refusal> {
        let k = in_range("k", self.k, 2, MAX_K)?;
        let n = in_range("n", self.n, 2, MAX_N)?;
        power(k, n, 2, MOST, "switches a stage")
    }
}

impl Family for KAryNFly {
    const NAME: &'static str = "k_ary_n_fly";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Free)
    }

    fn examples() -> Vec<Self> {
        [(2, 2), (2, 3), (3, 2), (3, 3), (2, 4)].map(|(k, n)| Self { k, n }).to_vec()
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let width = self.width()?;
        let (k, n) = (u64::from(self.k), self.n);
        // To the other outer stage: n - 1 links to every switch. To the same stage: towards the
        // other side and back as far as the last digit that differs, 2 i links to k^i - k^(i-1)
        // switches.
        let across = width * u64::from(n - 1);
        let same: u64 = (1..n).map(|i| 2 * u64::from(i) * (k.pow(i) - k.pow(i - 1))).sum();
        let ports = if n > 2 { 2 * self.k } else { self.k };
        Ok(FamilyPromise {
            switches: u64::from(n) * width,
            endpoints: 2 * width * k,
            links: u64::from(n - 1) * width * k,
            network_radix: ports,
            diameter: PromisedValue::Exact(2 * (n - 1)),
            mean_distance: PromisedValue::Exact(ExactFraction {
                num: across + same,
                den: 2 * width - 1,
            }),
            edge_switches: 2 * width,
            radix: 2 * self.k,
            planes: 1,
            vertex_transitive: false,
        })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        self.width()?;
        let digits = self.n - 1;
        Ok(ButterflyStages { k: self.k, digits, changes: (0..digits).collect() }.build("fly"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe;
    use super::*;
    use crate::kept::broken_promises;
    use base::SwitchId;
    use fabric::network::Topology;
    use proptest::prelude::*;

    fn built(member: &KAryNFly) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    /// Dally & Towles: terminals are n digits; each stage sets the last digit to any value, and
    /// channels into stage i exchange digit n - i with digit 0.
    #[test]
    fn links_are_the_permutations_of_the_book() {
        for (k, n) in [(2, 2), (2, 3), (3, 3), (4, 2), (2, 5)] {
            let t = built(&KAryNFly { k, n });
            let width = k.pow(n - 1);
            let mut expected = Vec::new();
            for stage in 1..n {
                let place = k.pow(n - stage);
                for channel in 0..width * k {
                    let (high, low) = (channel / place % k, channel % k);
                    let to = channel - high * place - low + low * place + high;
                    expected.push(((stage - 1) * width + channel / k, stage * width + to / k));
                }
            }
            let mut found: Vec<(u32, u32)> =
                t.links().iter().map(|l| (l.a.switch.0, l.b.switch.0)).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "k={k} n={n}");
        }
    }

    /// Going forward, every destination is reached over exactly one path.
    #[test]
    fn there_is_one_path_from_a_source_to_a_destination() {
        for (k, n) in [(2, 4), (3, 3)] {
            let t = built(&KAryNFly { k, n });
            let width = k.pow(n - 1) as usize;
            for source in 0..width {
                let mut paths = vec![0_u32; t.switches().len()];
                paths[source] = 1;
                for link in t.links() {
                    paths[link.b.switch.ix()] += paths[link.a.switch.ix()];
                }
                assert!(paths[(n as usize - 1) * width..].iter().all(|&count| count == 1));
            }
            assert_eq!(t.terminals_on(SwitchId(0)).len(), k as usize);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn members_keep_their_promise(k in 2_u32..5, n in 2_u32..5) {
            let member = KAryNFly { k, n };
            let promise = member.promise().expect("a member");
            prop_assert_eq!(promise.endpoints, 2 * u64::from(k.pow(n)));
            prop_assert_eq!(broken_promises(&promise, &built(&member)), Vec::<String>::new());
        }

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            k in prop_oneof![any::<u32>(), 0_u32..70],
            n in prop_oneof![any::<u32>(), 0_u32..40],
        ) {
            let there = (2..=MAX_K).contains(&k) && (2..=MAX_N).contains(&n)
                && f64::from(k).powi(n as i32 - 1) <= MOST as f64;
            prop_assert_eq!(KAryNFly { k, n }.promise().is_ok(), there);
        }
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        for (k, n, param, help) in [
            (1, 2, "k", "2 to 4096"),
            (4097, 2, "k", "2 to 4096"),
            (2, 1, "n", "2 to 30"),
            (2, u32::MAX, "n", "2 to 30"),
            (4, 14, "n", "with k = 4, 2 to 13"),
        ] {
            let member = KAryNFly { k, n };
            let refusal = member.promise().expect_err("no such member");
            assert_eq!((&refusal.param[..], &refusal.help[..]), (param, help));
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
