//! Star graphs: permutations, linked when they differ by swapping the first symbol with another.
//!
//! Source: Akers, Harel & Krishnamurthy, "The star graph: an attractive alternative to the n-cube",
//! ICPP 1987; mean distance: Akers & Krishnamurthy, "A group-theoretic model for symmetric
//! interconnection networks", IEEE Transactions on Computers 38(4), 1989.

use super::{ExactFraction, Family, FamilyPromise, MAX_P, PromisedValue, in_range};
use base::{Refusal, SwitchId};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Star graph: n! switches of network radix n - 1, of diameter 3 (n - 1) / 2, rounded down.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StarGraph {
    /// Number of symbols that are permuted, 2 to 10.
    pub n: u32,
    /// Endpoints per switch; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

impl StarGraph {
    /// Number of symbols and of endpoints per switch, of a member that exists.
    fn checked(&self) -> Result<(u32, u32), Refusal> {
        Ok((in_range("n", self.n, 2, 10)?, in_range("p", self.p.unwrap_or(1), 0, MAX_P)?))
    }
}

/// All permutations of 0 to n - 1, in lexicographic order.
fn permutations(n: u32) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new()];
    for _ in 0..n {
        let longer = |start: Vec<u32>| {
            let left = (0..n).filter(|x| !start.contains(x)).collect::<Vec<u32>>();
            left.into_iter().map(move |x| [&start[..], &[x]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

impl Family for StarGraph {
    const NAME: &'static str = "star_graph";

    fn examples() -> Vec<Self> {
        let mut members = [2, 3, 4].map(|n| Self { n, p: None }).to_vec();
        members.push(Self { n: 5, p: Some(0) });
        members
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let (n, p) = self.checked()?;
        let switches: u64 = (1..=u64::from(n)).product();
        let links = switches * u64::from(n - 1) / 2;
        let diameter = PromisedValue::Exact(3 * (n - 1) / 2);
        // the mean over all switches, the own one too, is n - 4 + 2 / n + 1 + 1/2 + ... + 1/n
        let harmonic: u64 = (1..=u64::from(n)).map(|i| switches / i).sum();
        let sum = switches * u64::from(n) + 2 * switches / u64::from(n) + harmonic - 4 * switches;
        let mean = PromisedValue::Exact(ExactFraction { num: sum, den: switches - 1 });
        // renaming the symbols takes any permutation to any other
        Ok(FamilyPromise::direct(switches, p, links, n - 1, diameter, mean).vertex_transitive())
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let (n, p) = self.checked()?;
        let all = permutations(n);
        let mut b = TopologyBuilder::new();
        for symbols in &all {
            let name = symbols.iter().fold("star".to_owned(), |name, x| format!("{name}-{x}"));
            b.switch(Switch::new(name).at(symbols[0], symbols.clone()));
        }
        b.endpoints_on((0..all.len()).map(SwitchId::from), p);
        for (here, symbols) in all.iter().enumerate() {
            for i in 1..n as usize {
                let mut swapped = symbols.clone();
                swapped.swap(0, i);
                let there = all.binary_search(&swapped).expect("it is a permutation, too");
                if here < there {
                    b.link(SwitchId::from(here), SwitchId::from(there));
                }
            }
        }
        Ok(b)
    }
}
