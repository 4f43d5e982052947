//! What a fabric lacks of a member of a family, and what it has besides.

use super::graph::DeviceGraph;
use super::laying::{GraphLaying, GraphPair};
use fabric::network::Topology;
use serde::Serialize;

/// The most cables among which exchanged ones are looked for.
const MOST_PAIRED: usize = 400;

/// The differences of a fabric from a member of a family. Devices have the names of the fabric;
/// those that it lacks have the member's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FabricDifferences {
    /// Switches that the fabric lacks; their cables and endpoints are not listed apart.
    pub missing_switches: Vec<String>,
    /// Switches that the member does not have; neither are theirs.
    pub extra_switches: Vec<String>,
    /// Cables between switches that the fabric lacks, by the names of both switches.
    pub missing_cables: Vec<[String; 2]>,
    /// Cables between switches that the member does not have.
    pub extra_cables: Vec<[String; 2]>,
    /// Cables whose plugs are exchanged: the two cables as they are.
    pub swapped_cables: Vec<[[String; 2]; 2]>,
    /// Cables with one plug in a wrong switch: the cable as it is, and as it should be.
    pub moved_cables: Vec<[[String; 2]; 2]>,
    /// Switches with fewer endpoints than the member has there, and how many are missing.
    pub missing_endpoints: Vec<(String, u32)>,
    /// Switches with more endpoints, and how many more.
    pub extra_endpoints: Vec<(String, u32)>,
}

impl FabricDifferences {
    /// How many differences there are: a switch, a cable, a pair of exchanged cables, a moved cable
    /// and an endpoint each are one.
    pub fn count(&self) -> u64 {
        let lists = [
            self.missing_switches.len(),
            self.extra_switches.len(),
            self.missing_cables.len(),
            self.extra_cables.len(),
            self.swapped_cables.len(),
            self.moved_cables.len(),
        ];
        lists.iter().sum::<usize>() as u64
            + of_endpoints(&self.missing_endpoints)
            + of_endpoints(&self.extra_endpoints)
    }

    /// The differences in words that follow the name of the member, such as ` less one cable and
    /// with two cables swapped`; empty where there are none.
    pub fn words(&self) -> String {
        let n = |list: usize| list as u64;
        let less = [
            counted(n(self.missing_switches.len()), "switch", "switches"),
            counted(n(self.missing_cables.len()), "cable", "cables"),
            counted(of_endpoints(&self.missing_endpoints), "endpoint", "endpoints"),
        ];
        let more = [
            counted(n(self.extra_switches.len()), "switch more", "switches more"),
            counted(n(self.extra_cables.len()), "cable more", "cables more"),
            counted(of_endpoints(&self.extra_endpoints), "endpoint more", "endpoints more"),
            counted(2 * n(self.swapped_cables.len()), "", "cables swapped"),
            counted(
                n(self.moved_cables.len()),
                "cable in a wrong switch",
                "cables in wrong switches",
            ),
        ];
        let join = |word: &str, parts: &[Option<String>]| {
            let parts: Vec<&str> = parts.iter().flatten().map(String::as_str).collect();
            let (last, first) = parts.split_last()?;
            let list = first.join(", ");
            Some(if first.is_empty() {
                format!("{word} {last}")
            } else {
                format!("{word} {list} and {last}")
            })
        };
        let both = [join("less", &less), join("with", &more)];
        let both: Vec<String> = both.into_iter().flatten().collect();
        if both.is_empty() { String::new() } else { format!(" {}", both.join(" and ")) }
    }
}

fn of_endpoints(list: &[(String, u32)]) -> u64 {
    list.iter().map(|(_, n)| u64::from(*n)).sum()
}

/// A number with its noun, in words up to twelve; `None` for 0.
fn counted(n: u64, one: &str, many: &str) -> Option<String> {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let number = WORDS.get(n as usize).map_or_else(|| n.to_string(), |word| (*word).to_owned());
    (n > 0).then(|| format!("{number} {}", if n == 1 { one } else { many }))
}

/// Two vertices of the found graph, the lower one first.
type FoundPair = (u32, u32);

/// The differences of a laying. O(cables, and the square of the number of different cables).
pub(super) fn differences(
    pair: &GraphPair<'_>,
    laying: &GraphLaying,
    (plan, found): (&Topology, &Topology),
) -> FabricDifferences {
    let name = |v: u32| vertex_name(pair.found, found, v);
    let mut all = FabricDifferences::default();
    for p in (0..pair.plan.len() as u32).filter(|p| laying.found[*p as usize].is_none()) {
        if pair.plan.is_switch(p) {
            all.missing_switches.push(vertex_name(pair.plan, plan, p));
        } else {
            all.missing_endpoints.push((vertex_name(pair.plan, plan, p), 1));
        }
    }
    for f in 0..pair.found.len() as u32 {
        let Some(p) = laying.planned[f as usize] else {
            if pair.found.is_switch(f) {
                all.extra_switches.push(name(f));
            } else {
                all.extra_endpoints.push((name(f), 1));
            }
            continue;
        };
        let (is, should) = (pair.found.hosts[f as usize], pair.plan.hosts[p as usize]);
        if is < should {
            all.missing_endpoints.push((name(f), should - is));
        } else if is > should {
            all.extra_endpoints.push((name(f), is - should));
        }
    }
    let (mut missing, mut extra) = different_cables(pair, laying);
    let both = |c: FoundPair| [name(c.0), name(c.1)];
    if missing.len() + extra.len() <= MOST_PAIRED {
        while let Some(two) = take_swapped(&mut missing, &mut extra) {
            all.swapped_cables.push(two.map(both));
        }
        while let Some((is, should)) = take_moved(&mut missing, &mut extra) {
            all.moved_cables.push([both(is), both(should)]);
        }
    }
    all.missing_cables = missing.into_iter().map(both).collect();
    all.extra_cables = extra.into_iter().map(both).collect();
    all
}

/// The cables that are missing, and those that are not planned, each between found vertices that
/// stand in planned places.
fn different_cables(
    pair: &GraphPair<'_>,
    laying: &GraphLaying,
) -> (Vec<FoundPair>, Vec<FoundPair>) {
    let (mut missing, mut extra) = (Vec::new(), Vec::new());
    for p in 0..pair.plan.len() as u32 {
        for &(q, cables) in pair.plan.rows[p as usize].iter().filter(|(q, _)| *q > p) {
            let (Some(f), Some(g)) = (laying.found[p as usize], laying.found[q as usize]) else {
                continue;
            };
            let there = pair.found.cables(f, g);
            for _ in there..cables {
                missing.push((f.min(g), f.max(g)));
            }
        }
    }
    for f in 0..pair.found.len() as u32 {
        for &(g, cables) in pair.found.rows[f as usize].iter().filter(|(g, _)| *g > f) {
            let (Some(p), Some(q)) = (laying.planned[f as usize], laying.planned[g as usize])
            else {
                continue;
            };
            for _ in pair.plan.cables(p, q)..cables {
                extra.push((f, g));
            }
        }
    }
    missing.sort_unstable();
    (missing, extra)
}

fn ends(pair: FoundPair, of: u32) -> Option<u32> {
    match pair {
        (a, b) if a == of => Some(b),
        (a, b) if b == of => Some(a),
        _ => None,
    }
}

/// Two cables that exist in place of two missing ones because their plugs are exchanged; all four
/// are removed from the lists.
fn take_swapped(
    missing: &mut Vec<FoundPair>,
    extra: &mut Vec<FoundPair>,
) -> Option<[FoundPair; 2]> {
    for i in 0..missing.len() {
        for (a, b) in [missing[i], (missing[i].1, missing[i].0)] {
            for e in 0..extra.len() {
                let Some(x) = ends(extra[e], a) else { continue };
                for j in (0..missing.len()).filter(|j| *j != i) {
                    let Some(y) = ends(missing[j], x) else { continue };
                    let second = (b.min(y), b.max(y));
                    let Some(d) = (0..extra.len()).find(|d| *d != e && extra[*d] == second) else {
                        continue;
                    };
                    let two = [extra[e], extra[d]];
                    missing.remove(i.max(j));
                    missing.remove(i.min(j));
                    extra.remove(e.max(d));
                    extra.remove(e.min(d));
                    return Some(two);
                }
            }
        }
    }
    None
}

/// A cable that exists and the missing one with which it has an end in common; both are removed
/// from the lists.
fn take_moved(
    missing: &mut Vec<FoundPair>,
    extra: &mut Vec<FoundPair>,
) -> Option<(FoundPair, FoundPair)> {
    for e in 0..extra.len() {
        let (a, b) = extra[e];
        let joins = |m: &FoundPair| ends(*m, a).or(ends(*m, b)).is_some();
        if let Some(m) = missing.iter().position(joins) {
            return Some((extra.remove(e), missing.remove(m)));
        }
    }
    None
}

/// The name of a vertex's device.
pub(super) fn vertex_name(graph: &DeviceGraph, t: &Topology, v: u32) -> String {
    match graph.switches.get(v as usize) {
        Some(s) => t.switches()[*s as usize].name.clone(),
        None => {
            t.endpoints()[graph.endpoints[v as usize - graph.switches.len()] as usize].name.clone()
        }
    }
}
