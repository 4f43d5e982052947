//! `topology.conf` for Slurm's topology/tree: a line for each switch, with its children.
//!
//! Source: Slurm, topology.conf(5), and its Topology Guide: a line names a switch and either its
//! nodes or the switches below it; a switch may be below several, as in fat trees. The guide says
//! that leaf switches and one switch above them suffice where more would only slow Slurm down.

use super::hostlist::{self, Names, compressed};
use super::levels::levels;
use super::working::{Rails, Working};
use super::{Source, asked};
use base::Refusal;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write;

/// Which switches have a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Which {
    /// All of a tree that have nodes below them.
    #[default]
    All,
    /// Of those on one level that reach the same nodes the first.
    Distinct,
    /// Those with nodes, and one above them all that stands for the rest of the network.
    Leaves,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Options {
    switches: Which,
    names: Names,
    plane: Option<u16>,
}

/// A line of the file.
struct Line<'a> {
    name: &'a str,
    nodes: Vec<&'a str>,
    below: Vec<&'a str>,
}

/// The file. O(network + upper switches * leaves / 64).
///
/// # Errors
/// When the network is no tree (but for `switches=leaves`), no switch is above all nodes, a name is
/// none for Slurm, or the rails of an endpoint lead to several switches.
pub(super) fn write(source: &Source, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: Options = asked(options)?;
    let w = Working::of(source.network, options.plane, Rails::OneSwitch)?;
    w.check_hosts()?;
    let hosts = options.names.of_hosts(&w)?;
    let mut nodes: Vec<Vec<&str>> = vec![Vec::new(); w.switches.len()];
    for (host, name) in w.hosts.iter().zip(hosts) {
        nodes[host.at].push(name);
    }
    let lines = match options.switches {
        Which::Leaves => leaves(&w, nodes),
        which => tree(&w, nodes, which == Which::Distinct)?,
    };
    let names: Vec<&str> = lines.iter().map(|line| line.name).collect();
    hostlist::check(&names, "switch", "")?;
    let mut text = w.remarks("# ");
    for line in &lines {
        let _ = match &line.nodes[..] {
            [] => writeln!(text, "SwitchName={} Switches={}", line.name, compressed(&line.below)),
            nodes => writeln!(text, "SwitchName={} Nodes={}", line.name, compressed(nodes)),
        };
    }
    Ok(text)
}

/// The switches with nodes, and where they are several one above them.
fn leaves<'a>(w: &Working<'a>, nodes: Vec<Vec<&'a str>>) -> Vec<Line<'a>> {
    const TOP: [&str; 3] = ["top", "top-of-all", "switch-above-all"];
    let all = nodes.into_iter().enumerate().filter(|(_, nodes)| !nodes.is_empty());
    let mut lines: Vec<Line> =
        all.map(|(s, nodes)| Line { name: w.switch_name(s), nodes, below: Vec::new() }).collect();
    if lines.len() > 1 {
        let below: Vec<&str> = lines.iter().map(|line| line.name).collect();
        let free = TOP.into_iter().find(|name| !below.contains(name)).unwrap_or(TOP[0]);
        lines.push(Line { name: free, nodes: Vec::new(), below });
    }
    lines
}

/// The switches of a tree that have nodes below them, level by level.
fn tree<'a>(
    w: &Working<'a>,
    mut nodes: Vec<Vec<&'a str>>,
    distinct: bool,
) -> Result<Vec<Line<'a>>, Refusal> {
    let way_out = "switches=leaves writes any network, in two levels";
    let level = levels(w, way_out)?;
    let rows = w.neighbours();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|s| (level[*s], *s));
    let count = nodes.iter().filter(|nodes| !nodes.is_empty()).count();
    // the leaves that each switch reaches downwards, a bit for each
    let mut reach: Vec<Vec<u64>> = vec![vec![0; count.div_ceil(64)]; rows.len()];
    let mut first: HashMap<(u32, Vec<u64>), usize> = HashMap::new();
    let mut stands_for: Vec<usize> = (0..rows.len()).collect();
    let (mut leaf, mut above_all) = (0, false);
    let mut lines = Vec::new();
    for s in order {
        let mut below: Vec<usize> =
            rows[s].iter().map(|(to, _)| *to).filter(|to| level[*to] < level[s]).collect();
        below.retain(|to| reach[*to].iter().any(|bits| *bits != 0));
        if !nodes[s].is_empty() {
            if let Some(child) = below.first() {
                let (name, child) = (w.switch_name(s), w.switch_name(*child));
                let why = format!("switch {name} has nodes, and the switch {child} below it");
                return Err(Refusal::new("network", why, way_out));
            }
            reach[s][leaf / 64] |= 1 << (leaf % 64);
            leaf += 1;
        }
        for to in &below {
            let (mine, theirs) = pair(&mut reach, s, *to);
            for (bits, more) in mine.iter_mut().zip(theirs) {
                *bits |= more;
            }
        }
        let reached: usize = reach[s].iter().map(|bits| bits.count_ones() as usize).sum();
        above_all |= reached == count;
        if reached == 0 {
            continue; // Slurm has no use for it
        }
        if distinct {
            stands_for[s] = *first.entry((level[s], reach[s].clone())).or_insert(s);
            for to in &mut below {
                *to = stands_for[*to];
            }
        }
        if stands_for[s] == s {
            below.sort_unstable();
            below.dedup();
            let below = below.iter().map(|to| w.switch_name(*to)).collect();
            let nodes = std::mem::take(&mut nodes[s]);
            lines.push(Line { name: w.switch_name(s), nodes, below });
        }
    }
    if above_all {
        return Ok(lines);
    }
    Err(Refusal::new(
        "network",
        "no switch is above all nodes, as Slurm demands of a tree",
        way_out,
    ))
}

/// Two different rows at once.
fn pair(rows: &mut [Vec<u64>], one: usize, other: usize) -> (&mut Vec<u64>, &Vec<u64>) {
    let (low, high) = rows.split_at_mut(one.max(other));
    if one < other { (&mut low[one], &high[0]) } else { (&mut high[0], &low[other]) }
}
