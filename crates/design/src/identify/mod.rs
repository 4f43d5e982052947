//! Which member of which family a network is, and what it lacks of it: by its cables alone, without
//! names, GUIDs and port numbers.
//!
//! Members whose counts are near are built, and each is laid over the network: the member is
//! refined into single vertices, and the network follows the same steps ([`script`]); vertices then
//! move to where their neighbours are ([`laying`]). A laying without differences proves that both
//! are the same.

mod differences;
mod graph;
mod grids;
mod grouped;
mod laying;
mod members;
mod script;
mod shape;
#[cfg(test)]
mod tests;
mod trees;

pub use differences::FabricDifferences;

use base::seed::RandomStream;
use base::{Interrupted, ProgressWatch};
use differences::{differences, vertex_name};
use fabric::network::{NetworkRecipe, Topology};
use graph::DeviceGraph;
use laying::{GraphLaying, GraphPair};
use members::{MemberWithCounts, near};
use script::RefinementScript;
use serde::Serialize;
use serde_json::{Map, Value, json};
use shape::NetworkCounts;
use std::collections::BTreeMap;

/// A member of a family that a network is, or nearly is.
#[derive(Debug, Clone, Serialize)]
pub struct IdentifiedMember {
    /// Its inline form.
    pub network: String,
    /// The name of its family.
    pub family: String,
    /// Its parameters.
    pub params: Map<String, Value>,
    /// The number of differences; 0 where the network is this member.
    pub differences: u64,
    /// What the network is, in words: the inline form, and what it lacks and has besides.
    pub words: String,
    /// What differs.
    #[serde(flatten)]
    pub found: FabricDifferences,
    /// The switches of the network, each with the member's that it is.
    pub switches: Vec<[String; 2]>,
    /// Other members that are the same network.
    pub also: Vec<String>,
}

/// Members with the counts of the network that are tried, at most.
const SAME_COUNTS: usize = 600;
/// Layings without differences that are tried for each of these.
const EXACT_TRIED: u64 = 1000;
/// The same for a member of a further family, where the network is known to be one of another.
const EXACT_ALSO: u64 = 30;
/// Members that are compared where the network has faults, at most.
const COMPARED: usize = 40;
/// Members of one family among these, at most, and members of it that are built to choose them.
const OF_FAMILY: usize = 8;
const BUILT_OF_FAMILY: usize = 40;
/// Layings that are tried for each of them at first.
const FIRST: u64 = 8;
/// Layings that are tried for the best of them.
const MOST: u64 = 400;
/// A laying is clear where at most one of this number of cables and endpoints differs; of a member
/// with a clear one no more are tried than these after the best one.
const CLEAR: u64 = 20;
const IDLE: u64 = 24;
/// Members for which that number is tried.
const BEST: usize = 6;
/// The cables that the layings of a member look at, about.
const CABLES_LOOKED_AT: u64 = 60_000_000;
/// A member is near where at most one of this number of cables and endpoints differs.
const NEAR: u64 = 5;
/// The most links of a network that is compared.
const MOST_LINKS: u64 = 1 << 18;
/// The most links of all members that are built.
const MOST_BUILT: u64 = 1 << 22;
/// Other names of one network that are listed, at most.
const ALSO: usize = 6;

/// A member beside the network, with the best laying so far.
struct ComparedMember {
    member: MemberWithCounts,
    built: Topology,
    graph: DeviceGraph,
    script: RefinementScript,
    best: Option<GraphLaying>,
    tried: u64,
}

impl ComparedMember {
    fn recipe(&self) -> NetworkRecipe {
        let (family, params) = (self.member.entry.part.name, &self.member.params);
        NetworkRecipe { family: family.to_owned(), params: params.clone() }
    }

    /// Whether so little differs that another member is hardly meant.
    fn is_clear(&self, graph: &DeviceGraph) -> bool {
        let agreeing = self.best.as_ref().map_or(0, |best| best.agreeing);
        let (planned, found) = (self.graph.size(), graph.size());
        let apart = planned.abs_diff(agreeing).max(found.abs_diff(agreeing));
        apart * CLEAR <= planned.max(found)
    }
}

/// The `top` members of families that are nearest to what works in a network, the nearest first:
/// with the fewest differences, then the one whose family is named first. Empty where none is near.
/// What the families have at random is found for the first seeds. Depends on nothing but the
/// network. O(parameters tried + members compared * layings * cables).
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn identify(
    on: &Topology,
    top: usize,
    watch: &dyn ProgressWatch,
) -> Result<Vec<IdentifiedMember>, Interrupted> {
    let graph = DeviceGraph::of(on);
    if graph.switches.is_empty() || graph.links > MOST_LINKS {
        return Ok(Vec::new());
    }
    let members = if graph.endpoints.is_empty() {
        near(&NetworkCounts::of(&graph))
    } else {
        of_planes(&graph, watch)?
    };
    let exact = same(&members, &graph, watch)?;
    if let Some((first, others)) = exact.split_first() {
        let mut found = reported(first, on, &graph);
        if let Some(found) = &mut found {
            found.also = others.iter().take(ALSO).map(|one| one.recipe().to_string()).collect();
        }
        return Ok(found.into_iter().take(top).collect());
    }
    let mut compared = laid(members, &graph, watch)?;
    let size = graph.size();
    compared.retain(|one| {
        let agreeing = one.best.as_ref().map_or(0, |best| best.agreeing);
        let apart = one.graph.size().abs_diff(agreeing).max(size.abs_diff(agreeing));
        apart * NEAR <= size.max(one.graph.size())
    });
    let mut found: Vec<((u64, usize), IdentifiedMember)> = compared
        .iter()
        .filter_map(|one| {
            let reported = reported(one, on, &graph)?;
            Some(((unlikelihood(one, &reported, &graph), one.member.rank), reported))
        })
        .collect();
    found.sort_by(|(a, one), (b, other)| {
        let key = |one: &IdentifiedMember| (one.network.len(), one.network.clone());
        a.cmp(b).then_with(|| key(one).cmp(&key(other)))
    });
    Ok(found.into_iter().map(|(_, one)| one).take(top).collect())
}

/// How unlikely the differences from a member are: a switch that is dead counts as three faults,
/// and one that the member does not have as all its cables, for nobody adds a switch by accident.
fn unlikelihood(one: &ComparedMember, reported: &IdentifiedMember, graph: &DeviceGraph) -> u64 {
    let planned = one.best.as_ref().map_or(&[][..], |best| best.planned.as_slice());
    let extra = (0..).zip(planned).filter(|(_, p)| p.is_none());
    let cables = extra.map(|(f, _)| u64::from(graph.degree(f) + graph.hosts[f as usize]));
    reported.differences + 2 * reported.found.missing_switches.len() as u64 + cables.sum::<u64>()
}

/// The members that are the network itself, one of each family, those that people name first
/// first.
fn same(
    members: &[MemberWithCounts],
    graph: &DeviceGraph,
    watch: &dyn ProgressWatch,
) -> Result<Vec<ComparedMember>, Interrupted> {
    let mut same: Vec<ComparedMember> = Vec::new();
    let mut built_links = 0;
    let counted = members.iter().filter(|member| member.apart == 0).take(SAME_COUNTS);
    for (i, member) in counted.enumerate() {
        watch.tick("members", i as u64, members.len() as u64)?;
        let name = member.entry.part.name;
        if same.iter().any(|one| one.member.entry.part.name == name) || built_links > MOST_BUILT {
            continue;
        }
        let Ok(built) = member.entry.build(&member.params) else { continue };
        let own = DeviceGraph::of(&built);
        built_links += own.links;
        if own.least_differences(graph) > 0 {
            continue;
        }
        let script = RefinementScript::of(&own);
        let pair = GraphPair { plan: &own, found: graph };
        let most = if same.is_empty() { EXACT_TRIED } else { EXACT_ALSO };
        let exact = (0..most).find_map(|i| {
            let mut draw = RandomStream::new(0, "identify", i);
            let laying = pair.laying(script.follow(graph, &mut draw, 0)?);
            pair.is_exact(&laying).then_some(laying)
        });
        if let Some(laying) = exact {
            let member = member.clone();
            let best = Some(laying);
            same.push(ComparedMember { member, built, graph: own, script, best, tried: most });
        }
    }
    Ok(same)
}

/// The members laid over the network: a few layings for each, then many for the best ones.
fn laid(
    members: Vec<MemberWithCounts>,
    graph: &DeviceGraph,
    watch: &dyn ProgressWatch,
) -> Result<Vec<ComparedMember>, Interrupted> {
    let mut compared: Vec<(u64, MemberWithCounts, Topology, DeviceGraph)> = Vec::new();
    let mut of_family: BTreeMap<&str, usize> = BTreeMap::new();
    for member in members {
        let count = of_family.entry(member.entry.part.name).or_insert(0);
        *count += 1;
        if *count > BUILT_OF_FAMILY {
            continue;
        }
        watch.tick("members", compared.len() as u64, 0)?;
        let Ok(built) = member.entry.build(&member.params) else { continue };
        let own = DeviceGraph::of(&built);
        let least = own.least_differences(graph).saturating_sub(own.gone(graph));
        compared.push((least, member, built, own));
    }
    compared.sort_by_key(|(least, member, ..)| (*least, member.apart, member.rank));
    let mut of_family: BTreeMap<&str, usize> = BTreeMap::new();
    compared.retain(|(_, member, ..)| {
        let count = of_family.entry(member.entry.part.name).or_insert(0);
        *count += 1;
        *count <= OF_FAMILY
    });
    compared.truncate(COMPARED);
    let mut all: Vec<ComparedMember> = Vec::new();
    for (_, member, built, own) in compared {
        let script = RefinementScript::of(&own);
        all.push(ComparedMember { member, built, graph: own, script, best: None, tried: 0 });
    }
    let each = graph.size() + graph.len() as u64;
    let most = (CABLES_LOOKED_AT / (60 * each.max(1))).clamp(FIRST, MOST);
    for one in &mut all {
        try_layings(one, graph, FIRST, watch)?;
    }
    all.sort_by_key(|one| {
        let agreeing = one.best.as_ref().map_or(0, |best| best.agreeing);
        (one.graph.size().abs_diff(agreeing) + graph.size().abs_diff(agreeing), one.member.rank)
    });
    for one in all.iter_mut().take(BEST) {
        try_layings(one, graph, most, watch)?;
        if one.is_clear(graph) {
            break;
        }
    }
    Ok(all)
}

/// Tries layings up to this number, until one has no differences.
fn try_layings(
    one: &mut ComparedMember,
    graph: &DeviceGraph,
    most: u64,
    watch: &dyn ProgressWatch,
) -> Result<(), Interrupted> {
    let pair = GraphPair { plan: &one.graph, found: graph };
    let mut idle = 0;
    while one.tried < most && !one.best.as_ref().is_some_and(|best| pair.is_exact(best)) {
        watch.tick("layings", one.tried, most)?;
        if idle > IDLE && one.is_clear(graph) {
            break;
        }
        idle += 1;
        let mut draw = RandomStream::new(0, "identify", one.tried);
        one.tried += 1;
        let Some(planned) = one.script.follow(graph, &mut draw, u64::MAX) else { continue };
        let mut laying = pair.laying(planned);
        // one that began among the faults is not worth its time
        let best = one.best.as_ref().map_or(0, |best| best.agreeing);
        if 2 * laying.agreeing >= best {
            pair.improve(&mut laying, &mut draw);
            if let Some(mut grown) = pair.grown(&laying) {
                pair.improve(&mut grown, &mut draw);
                if grown.agreeing > laying.agreeing {
                    laying = grown;
                }
            }
        }
        if one.best.as_ref().is_none_or(|best| best.agreeing < laying.agreeing) {
            one.best = Some(laying);
            idle = 0;
        }
    }
    Ok(())
}

fn reported(one: &ComparedMember, on: &Topology, graph: &DeviceGraph) -> Option<IdentifiedMember> {
    let laying = one.best.as_ref()?;
    let pair = GraphPair { plan: &one.graph, found: graph };
    let found = differences(&pair, laying, (&one.built, on));
    let recipe = one.recipe();
    let network = recipe.to_string();
    let switches = (0..graph.switches.len() as u32).filter_map(|f| {
        let p = laying.planned[f as usize]?;
        Some([vertex_name(graph, on, f), vertex_name(&one.graph, &one.built, p)])
    });
    Some(IdentifiedMember {
        words: format!("{network}{}", found.words()),
        network,
        family: recipe.family,
        params: recipe.params,
        differences: found.count(),
        switches: switches.collect(),
        also: Vec::new(),
        found,
    })
}

/// Members of several planes, where endpoints have several rails: copies of what the largest part
/// of the network is that no endpoint joins to others.
fn of_planes(
    graph: &DeviceGraph,
    watch: &dyn ProgressWatch,
) -> Result<Vec<MemberWithCounts>, Interrupted> {
    let parts = graph.planes();
    let Some(plane) = parts.iter().max_by_key(|part| (part.len(), std::cmp::Reverse(part[0])))
    else {
        return Ok(Vec::new());
    };
    let one = graph.plane(plane);
    let offered = near(&NetworkCounts::of(&one));
    let mut compared = same(&offered, &one, watch)?;
    if compared.is_empty() {
        compared = laid(offered, &one, watch)?;
    }
    let mut members = near(&NetworkCounts::of(graph));
    let mut offer = |family: &str, params: Value, apart: u64| {
        let entry = families::family(family).ok();
        if let (Some(entry), Value::Object(params)) = (entry, params) {
            members.push(MemberWithCounts { entry, params, apart, rank: 0 });
        }
    };
    for plane in compared.iter().take(BEST) {
        let recipe = plane.recipe();
        for map in ["equal", "mirrored"] {
            let count = parts.len();
            if recipe.family == "slim_fly" {
                let (q, p) = (&recipe.params["q"], &recipe.params["p"]);
                let params = json!({"q": q, "p": p, "planes": count, "map": map});
                offer("fit_fly", params, 0);
            }
            let params = json!({"planes": count, "map": map, "of": recipe.to_string()});
            offer("multi_plane", params, 0);
        }
    }
    members.sort_by_key(|m| m.apart);
    Ok(members)
}
