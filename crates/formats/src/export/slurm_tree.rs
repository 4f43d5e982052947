//! `topology.conf` for Slurm's topology/tree: a line for each switch, with its children.
//!
//! Source: Slurm, topology.conf(5), and its Topology Guide: a line names a switch and either its
//! nodes or the switches below it; a switch may be below several, as in fat trees. The guide says
//! that leaf switches and one switch above them suffice where more would only slow Slurm down.

use super::hostlist::{Names, compressed};
use super::levels::levels;
use super::switch_names::SwitchNames;
use super::working::{Rails, Working};
use super::{Source, asked};
use base::Refusal;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
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
    #[serde(rename = "switch-names")]
    switch_names: SwitchNames,
    plane: Option<u16>,
}

/// A line of the file: a switch, or the number of a top that stands for the rest of a piece.
struct Line<'a> {
    switch: Result<usize, usize>,
    nodes: Vec<&'a str>,
    below: Vec<usize>,
}

/// The file. O(network + upper switches * leaves / 64).
///
/// # Errors
/// When the network is no tree (but for `switches=leaves`), no switch is above all nodes that it is
/// connected to, a name is none for Slurm, or the rails of an endpoint lead to several switches.
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
    let mut used = vec![false; w.switches.len()];
    lines.iter().filter_map(|line| line.switch.ok()).for_each(|s| used[s] = true);
    let names = options.switch_names.of(&w, &used)?;
    let tops = tops(&lines, &names);
    let name = |switch: &Result<usize, usize>| match *switch {
        Ok(s) => &names[s],
        Err(top) => &tops[top],
    };
    let mut text = w.remarks("# ");
    for line in &lines {
        let below: Vec<&str> = line.below.iter().map(|s| names[*s].as_str()).collect();
        let _ = match &line.nodes[..] {
            [] => {
                writeln!(text, "SwitchName={} Switches={}", name(&line.switch), compressed(&below))
            }
            nodes => {
                writeln!(text, "SwitchName={} Nodes={}", name(&line.switch), compressed(nodes))
            }
        };
    }
    Ok(text)
}

/// Names of the tops that are no switches, which no switch has.
fn tops(lines: &[Line], names: &[String]) -> Vec<String> {
    const TOP: [&str; 3] = ["top", "top-of-all", "switch-above-all"];
    let count = lines.iter().filter(|line| line.switch.is_err()).count();
    let taken: HashSet<&str> = names.iter().map(String::as_str).collect();
    let of = |top: &str| -> Vec<String> {
        let number = |i: usize| if count > 1 { format!("{top}-{i}") } else { top.to_owned() };
        (0..count).map(number).collect()
    };
    let longer = (1..).map(|n| format!("{}{}", TOP[2], "_".repeat(n)));
    let mut all = TOP.into_iter().map(str::to_owned).chain(longer).map(|top| of(&top));
    let free = |tops: &Vec<String>| tops.iter().all(|top| !taken.contains(top.as_str()));
    all.find(free).unwrap_or_default()
}

/// The switches with nodes, and for each piece of the network with several one above them.
fn leaves<'a>(w: &Working<'a>, nodes: Vec<Vec<&'a str>>) -> Vec<Line<'a>> {
    let piece = w.pieces();
    let all = nodes.into_iter().enumerate().filter(|(_, nodes)| !nodes.is_empty());
    let mut lines: Vec<Line> =
        all.map(|(s, nodes)| Line { switch: Ok(s), nodes, below: Vec::new() }).collect();
    let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for line in &lines {
        let s = line.switch.unwrap_or_default();
        below.entry(piece[s]).or_default().push(s);
    }
    let several = below.into_values().filter(|below| below.len() > 1);
    lines.extend(several.enumerate().map(|(top, below)| Line {
        switch: Err(top),
        nodes: Vec::new(),
        below,
    }));
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
    let piece = w.pieces();
    // of each piece how many leaves it has, and whether a switch is above all of them
    let mut due = vec![0; piece.iter().max().map_or(0, |last| last + 1)];
    for s in (0..rows.len()).filter(|s| !nodes[*s].is_empty()) {
        due[piece[s]] += 1;
    }
    let mut above_all: Vec<bool> = due.iter().map(|due| *due == 0).collect();
    let mut leaf = 0;
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
        above_all[piece[s]] |= reached == due[piece[s]];
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
            let nodes = std::mem::take(&mut nodes[s]);
            lines.push(Line { switch: Ok(s), nodes, below });
        }
    }
    if above_all.iter().all(|above| *above) {
        return Ok(lines);
    }
    let why = "no switch is above all nodes that it is connected to: Slurm would part them";
    Err(Refusal::new("network", why, way_out))
}

/// Two different rows at once.
fn pair(rows: &mut [Vec<u64>], one: usize, other: usize) -> (&mut Vec<u64>, &Vec<u64>) {
    let (low, high) = rows.split_at_mut(one.max(other));
    if one < other { (&mut low[one], &high[0]) } else { (&mut high[0], &low[other]) }
}
