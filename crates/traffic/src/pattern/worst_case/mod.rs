//! `worst_case`: the permutation that loads one channel most.
//!
//! Source: Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA
//! 2008, section 5 (dragonfly: to the next group); Towles, Dally, "Worst-case traffic for oblivious
//! routing functions", SPAA 2002 (any network: an assignment for each channel).

mod heaviest;
mod pairs;
mod path_loads;

use super::asked::PatternRequest;
use super::fixed::FixedDestinations;
use super::kind::{MessagePattern, PatternKindEntry};
use super::places::RankSwitchPlaces;
use crate::destinations::PacketDestinations;
use base::part::PartDescription;
use base::seed::RandomStream;
use base::{ComputationError, Refusal, SwitchId};
use fabric::geometry::PlaneStructure;
use fabric::network::{Topology, parse_inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("worst_case", "the permutation that loads one channel most")
        .takes::<WorstCasePatternParameters>(),
    orcs: "",
    make,
    placed: true,
};

/// The parameter of the worst case.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "WorstCaseParameters")]
struct WorstCasePatternParameters {
    /// What the permutation is the worst case of.
    #[serde(default)]
    by: WorstCaseRouteSource,
}

/// What a permutation is the worst case of.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "WorstCaseBasis")]
enum WorstCaseRouteSource {
    /// The network's family, where that is published; else of the routes that there are.
    #[default]
    Family,
    /// The routes of given tables.
    Tables,
}

/// The pattern: the receiver of every rank, and the load of the busiest channel if that was
/// computed.
#[derive(Debug)]
struct WorstCasePattern {
    to: FixedDestinations,
    load: Option<f64>,
}

impl MessagePattern for WorstCasePattern {
    fn messages(&self, level: u32, ranks: u32, draw: &mut RandomStream) -> Vec<super::RankMessage> {
        self.to.messages(level, ranks, draw)
    }

    fn destinations(&self, ranks: u32, seed: u64) -> Result<PacketDestinations, Refusal> {
        Ok(self.to.destinations(ranks, seed)?.with_largest_load(self.load))
    }
}

fn make(asked: &PatternRequest<'_>) -> Result<Box<dyn MessagePattern>, ComputationError> {
    let Some(t) = asked.network else {
        let why = "worst_case of ranks that are on no network";
        return Err(Refusal::new("pattern", why, "all endpoints of a network, in its order").into());
    };
    let places = RankSwitchPlaces::of(t);
    let own = match asked.read::<WorstCasePatternParameters>()?.by {
        WorstCaseRouteSource::Family => known(t, &places, asked.ranks),
        WorstCaseRouteSource::Tables if asked.tables.is_some() => None,
        WorstCaseRouteSource::Tables => {
            let help = "worst_case alone, or tables of routes to look at";
            return Err(asked.bad(help.to_owned()).into());
        }
    };
    if let Some(to) = own {
        return Ok(Box::new(WorstCasePattern { to, load: None }));
    }
    let (to, load) = heaviest::sought(t, asked.tables, asked.ranks, asked.watch)?;
    Ok(Box::new(WorstCasePattern { to: FixedDestinations::Table(to), load: Some(load) }))
}

/// The pattern of the permutation that is published for the family of `t`.
pub(super) fn published(t: &Topology, ranks: u32) -> Option<Box<dyn MessagePattern>> {
    let to = known(t, &RankSwitchPlaces::of(t), ranks)?;
    Some(Box::new(WorstCasePattern { to, load: None }))
}

/// The permutation that is known to be the worst case of the network's family under minimal routes;
/// none if none is known.
fn known(t: &Topology, places: &RankSwitchPlaces, ranks: u32) -> Option<FixedDestinations> {
    let groups = || by_key(places, |s| t.switches()[s.ix()].group);
    match t.geometry().form {
        PlaneStructure::Columns => {
            let to = pairs::paired(t, places);
            Some(places.sent(ranks, &to))
        }
        PlaneStructure::Levels => {
            let top = t.switches().iter().map(|s| s.level).max().unwrap_or(0);
            let pods = groups();
            let leaves = || places.ranks.clone();
            to_next(ranks, &if top > 1 && pods.len() > 1 { pods } else { leaves() })
        }
        _ if matches!(family(t).as_str(), "dragonfly" | "megafly") => to_next(ranks, &groups()),
        _ => None,
    }
}

/// The family of the network, or of the networks that are its planes.
fn family(t: &Topology) -> String {
    let recipe = t.recipe();
    let within = recipe.params.get("of").and_then(|of| of.as_str());
    let within = within.and_then(|of| parse_inline(of).ok()).map(|inner| inner.family);
    within.unwrap_or_else(|| recipe.family.clone())
}

/// The ranks in groups by a key of their switches, in the order of the keys.
fn by_key(places: &RankSwitchPlaces, key: impl Fn(SwitchId) -> u32) -> Vec<Vec<u32>> {
    let mut all: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&switch, ranks) in places.switches.iter().zip(&places.ranks) {
        all.entry(key(switch)).or_default().extend(ranks);
    }
    all.into_values().collect()
}

/// A pattern in which rank k of every block sends to rank k of the next block, the last to the
/// first; `None` if there is only one block.
fn to_next(ranks: u32, blocks: &[Vec<u32>]) -> Option<FixedDestinations> {
    let mut to = vec![None; ranks as usize];
    for (here, next) in blocks.iter().zip(blocks.iter().cycle().skip(1)) {
        for (&from, &there) in here.iter().zip(next) {
            to[from as usize] = Some(there);
        }
    }
    (blocks.len() > 1).then_some(FixedDestinations::Table(to))
}

#[cfg(test)]
mod tests;
