//! Benes network: 2 n - 1 stages of 2 x 2 switches that can join 2^n inputs to 2^n outputs in any
//! order.
//!
//! Source: Benes, "Optimal rearrangeable multistage connecting networks", Bell System Technical
//! Journal 1964; drawn as two butterflies back to back as in Leighton, "Introduction to parallel
//! algorithms and architectures", 1992, section 3.2.
//!
//! A switch is a stage and n - 1 bits. Links from stage i to the next stage change bit i, the most
//! significant first, up to the middle stage, and the same bits in opposite order after it. Cables
//! carry both directions here, so both outer stages have endpoints: the first 2^n are the inputs,
//! the others the outputs. Groups are stages. Ports: endpoints, links to the previous stage, links
//! to the next stage.

use super::multistage::ButterflyStages;
use super::{ExactFraction, Family, FamilyPromise, PromisedValue, in_range};
use base::Refusal;
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::TopologyBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Benes network of N = 2^n inputs: 2 n - 1 stages of N / 2 switches, two links or endpoints on
/// either side of each.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Benes {
    /// Logarithm of the number of inputs: N = 2^n.
    pub n: u32,
}

const MAX_N: u32 = 24;

impl Family for Benes {
    const NAME: &'static str = "benes";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Free)
    }

    fn examples() -> Vec<Self> {
        [2, 3, 4].map(|n| Self { n }).to_vec()
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let n = in_range("n", self.n, 2, MAX_N)?;
        let width = 1_u64 << (n - 1);
        // To the other outer stage: 2 n - 2 links to every switch. To the same stage: towards the
        // middle and back as far as the last bit that differs, 2 i links to 2^(i-1) switches.
        let across = width * u64::from(2 * n - 2);
        let same: u64 = (1..n).map(|i| u64::from(i) << i).sum();
        Ok(FamilyPromise {
            switches: u64::from(2 * n - 1) * width,
            endpoints: 4 * width,
            links: u64::from(2 * n - 2) * 2 * width,
            network_radix: 4,
            diameter: PromisedValue::Exact(2 * n - 2),
            mean_distance: PromisedValue::Exact(ExactFraction {
                num: across + same,
                den: 2 * width - 1,
            }),
            edge_switches: 2 * width,
            radix: 4,
            planes: 1,
            vertex_transitive: false,
        })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let digits = in_range("n", self.n, 2, MAX_N)? - 1;
        let changes = (0..digits).chain((0..digits).rev()).collect();
        Ok(ButterflyStages { k: 2, digits, changes }.build("benes"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe;
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;
    use std::collections::BTreeSet;

    fn built(n: u32) -> Topology {
        let member = Benes { n };
        member.build().expect("a member").finish(recipe(&member)).expect("a valid network")
    }

    /// Links of the network of 2^n inputs by Benes's recursion: a first and a last stage of 2^(n-1)
    /// switches, and between them two networks of half the size, each with a link to every outer
    /// switch. A switch is its stage and number; the numbers of each stage start at `offset`.
    fn recursive(n: u32, stage: u32, last: u32, offset: u32) -> Vec<[(u32, u32); 2]> {
        if n == 1 {
            return Vec::new();
        }
        let half = 1 << (n - 2);
        let mut links = Vec::new();
        for network in 0..2 {
            for switch in 0..2 * half {
                let inner = offset + network * half + switch % half;
                links.push([(stage, offset + switch), (stage + 1, inner)]);
                links.push([(last - 1, inner), (last, offset + switch)]);
            }
            links.extend(recursive(n - 1, stage + 1, last - 1, offset + network * half));
        }
        links
    }

    #[test]
    fn the_network_is_that_of_the_recursion_and_keeps_its_promise() {
        for n in 2..=6 {
            let (promise, t) = (Benes { n }.promise().expect("a member"), built(n));
            assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
            // 2 log2 N - 1 stages of N / 2 switches
            assert_eq!(promise.switches, u64::from(2 * n - 1) << (n - 1));
            let width = 1 << (n - 1);
            let mut found: Vec<[(u32, u32); 2]> = (t.links().iter())
                .map(|l| [l.a.switch.0, l.b.switch.0].map(|s| (s / width, s % width)))
                .collect();
            let mut expected = recursive(n, 0, 2 * n - 2, 0);
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "n={n}");
        }
    }

    /// Whether the inputs from `input` on can be joined to the outputs `wanted` over links not in
    /// `used`.
    fn join(
        wanted: &[u32],
        input: usize,
        used: &BTreeSet<usize>,
        after: &dyn Fn(u32, u32) -> Vec<(usize, u32)>,
    ) -> bool {
        let Some(&output) = wanted.get(input) else { return true };
        after(0, input as u32 / 2).into_iter().any(|(first, middle)| {
            after(1, middle).into_iter().any(|(second, end)| {
                let free = !used.contains(&first) && !used.contains(&second);
                let used = used.iter().copied().chain([first, second]).collect();
                free && end == output / 2 && join(wanted, input + 1, &used, after)
            })
        })
    }

    /// For all 24 permutations, four inputs can be joined to the outputs by paths without a common
    /// link.
    #[test]
    fn four_inputs_can_be_rearranged_to_every_permutation() {
        let t = built(2);
        let after = |stage: u32, switch: u32| {
            let links = t.links().iter().enumerate();
            let here =
                move |&(_, l): &(usize, &fabric::network::Link)| l.a.switch.0 == stage * 2 + switch;
            links.filter(here).map(|(id, l)| (id, l.b.switch.0 % 2)).collect::<Vec<_>>()
        };
        let mut orders = 0;
        for code in 0..256_u32 {
            let wanted = [code % 4, code / 4 % 4, code / 16 % 4, code / 64];
            if wanted.iter().collect::<BTreeSet<_>>().len() == 4 {
                orders += 1;
                assert!(join(&wanted, 0, &BTreeSet::new(), &after), "{wanted:?}");
            }
        }
        assert_eq!(orders, 24);
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        for n in [0, 1, 25, u32::MAX] {
            let refusal = Benes { n }.promise().expect_err("no such member");
            assert_eq!((&refusal.param[..], &refusal.help[..]), ("n", "2 to 24"));
            assert_eq!(Benes { n }.build().expect_err("no such member"), refusal);
        }
        assert_eq!(Benes { n: 24 }.promise().expect("the largest").endpoints, 1 << 25);
    }
}
