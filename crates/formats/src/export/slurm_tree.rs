//! `topology.conf` for Slurm's topology/tree: a line for each switch, with its children.
//!
//! Source: Slurm, topology.conf(5), and its Topology Guide: a line names a switch and either its
//! nodes or the switches below it; a switch may be below several, as in fat trees. The guide says
//! that leaf switches and one switch above them suffice where more would only slow Slurm down.
//! Tried with slurmctld 22.05: it does not start where a line has both, nor without a warning where
//! a node is on no switch. So nodes on a switch above others have a leaf of their own below it.

use super::hostlist::{NodeNameForm, compressed};
use super::kind::{ExportFormatEntry, ExportInput, asked};
use super::levels::levels;
use super::switch_names::SwitchNameForm;
use super::working::{RailSupport, WorkingPlane};
use base::Refusal;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// Which switches have a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Which")]
#[serde(rename_all = "lowercase")]
enum ListedSwitches {
    /// All of a tree that have nodes below them.
    #[default]
    All,
    /// The first of the switches on one level that reach the same nodes.
    Distinct,
    /// Those with nodes, and one above them all that stands for the rest of the network.
    Leaves,
}

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new("slurm-tree", "topology.conf of Slurm's topology/tree")
        .takes::<SlurmTreeExportOptions>(),
    "trees; any network with switches=leaves",
    write,
);

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Options")]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct SlurmTreeExportOptions {
    /// all (default), distinct (one of those that reach the same nodes) or leaves (those with
    /// nodes, and one above those that are connected)
    switches: ListedSwitches,
    /// what of an endpoint's name is the node's: first-word (default), short (of that word what
    /// stands before the first dot) or whole
    names: NodeNameForm,
    /// short (default: what a managed switch was given, `leaf-1` of `MF0;leaf-1:MQM8700/U1`), whole
    /// or first-word
    #[serde(rename = "switch-names")]
    switch_names: SwitchNameForm,
    /// which plane to write, from 0; of a network of several
    plane: Option<u16>,
}

/// Names for a switch above all others; the first one that no switch has is used.
const TOP: [&str; 3] = ["top", "top-of-all", "switch-above-all"];

/// The subject of a line of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SlurmTreeLineSubject {
    Switch(usize),
    /// The nodes on a switch that is above others.
    NodesOn(usize),
    /// A top switch that stands for the rest of a connected piece, by the number of the piece.
    Top(usize),
}

/// A line of the file.
struct SlurmTreeLine<'a> {
    of: SlurmTreeLineSubject,
    nodes: Vec<&'a str>,
    below: Vec<SlurmTreeLineSubject>,
}

/// The text of the file. O(network + upper switches * leaves / 64).
///
/// # Errors
/// When the network is no tree (unless `switches=leaves`), no switch is above all nodes of a
/// connected piece, or Slurm cannot take a name.
pub(super) fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: SlurmTreeExportOptions = asked(options)?;
    let w = WorkingPlane::of(source.network, options.plane, RailSupport::Any)?;
    w.check_hosts()?;
    let hosts = options.names.nodes(&w)?;
    let mut nodes: Vec<Vec<&str>> = vec![Vec::new(); w.switches.len()];
    for node in &hosts.all {
        nodes[node.host.at].push(node.name);
    }
    let lines = match options.switches {
        ListedSwitches::Leaves => leaves(&w, nodes),
        which => tree(&w, nodes, which == ListedSwitches::Distinct)?,
    };
    let mut used = vec![false; w.switches.len()];
    for line in &lines {
        if let SlurmTreeLineSubject::Switch(s) = line.of {
            used[s] = true;
        }
    }
    let names = names(&lines, &options.switch_names.of(&w, &used)?, &used);
    let mut text = w.remarks("# ") + &hosts.remark();
    for line in lines.iter().filter(|line| matches!(line.of, SlurmTreeLineSubject::NodesOn(_))) {
        let own = &names[&line.of];
        let _ = writeln!(
            text,
            "# {own}: nodes on a switch above others; in Slurm a switch has nodes or switches"
        );
    }
    for line in &lines {
        let below: Vec<&str> = line.below.iter().map(|of| names[of].as_str()).collect();
        let name = &names[&line.of];
        let _ = match &line.nodes[..] {
            [] => writeln!(text, "SwitchName={name} Switches={}", compressed(&below)),
            nodes => writeln!(text, "SwitchName={name} Nodes={}", compressed(nodes)),
        };
    }
    Ok(text)
}

/// The names of all lines: those of switches, and others that no switch has.
fn names(
    lines: &[SlurmTreeLine],
    switches: &[String],
    used: &[bool],
) -> BTreeMap<SlurmTreeLineSubject, String> {
    let taken = |name: &String| switches.iter().zip(used).any(|(own, used)| *used && own == name);
    let tops = lines.iter().filter(|line| matches!(line.of, SlurmTreeLineSubject::Top(_))).count();
    let all_free = |of: &dyn Fn(usize) -> String| (0..tops.max(1)).map(of).all(|t| !taken(&t));
    let top = |stem: &str, i: usize| if tops > 1 { format!("{stem}-{i}") } else { stem.to_owned() };
    let longer = (1..).map(|n| format!("{}{}", TOP[2], "_".repeat(n)));
    let mut stems = TOP.into_iter().map(str::to_owned).chain(longer);
    let stem = stems.find(|stem| all_free(&|i| top(stem, i))).unwrap_or_default();
    let mut given = BTreeMap::new();
    for line in lines {
        let name = match line.of {
            SlurmTreeLineSubject::Switch(s) => switches[s].clone(),
            SlurmTreeLineSubject::Top(i) => top(&stem, i),
            SlurmTreeLineSubject::NodesOn(s) => {
                let mut name = format!("{}-nodes", switches[s]);
                while taken(&name) {
                    name.push('_');
                }
                name
            }
        };
        given.insert(line.of, name);
    }
    given
}

/// The lines of the switches with nodes, and of one switch above them for each connected piece of
/// the network that has several.
fn leaves<'a>(w: &WorkingPlane<'a>, nodes: Vec<Vec<&'a str>>) -> Vec<SlurmTreeLine<'a>> {
    let piece = w.pieces();
    let mut lines = Vec::new();
    let mut below: BTreeMap<usize, Vec<SlurmTreeLineSubject>> = BTreeMap::new();
    for (s, nodes) in nodes.into_iter().enumerate().filter(|(_, nodes)| !nodes.is_empty()) {
        below.entry(piece[s]).or_default().push(SlurmTreeLineSubject::Switch(s));
        lines.push(SlurmTreeLine { of: SlurmTreeLineSubject::Switch(s), nodes, below: Vec::new() });
    }
    let several = below.into_values().filter(|below| below.len() > 1);
    let tops = several.enumerate();
    lines.extend(tops.map(|(top, below)| SlurmTreeLine {
        of: SlurmTreeLineSubject::Top(top),
        nodes: Vec::new(),
        below,
    }));
    lines
}

/// A tree by levels, with the leaves that each switch reaches downwards, a bit for each.
struct SwitchTree {
    level: Vec<u32>,
    /// The switches, by level and number; then, for each switch, those one level below it.
    order: Vec<usize>,
    below: Vec<Vec<usize>>,
    reach: Vec<Vec<u64>>,
}

impl SwitchTree {
    fn new(w: &WorkingPlane, nodes: &[Vec<&str>], help: &str) -> Result<Self, Refusal> {
        let level = levels(w, help)?;
        let rows = w.neighbours();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|s| (level[*s], *s));
        let count = nodes.iter().filter(|nodes| !nodes.is_empty()).count();
        let mut reach: Vec<Vec<u64>> = vec![vec![0; count.div_ceil(64)]; rows.len()];
        let mut below = vec![Vec::new(); rows.len()];
        let mut leaf = 0;
        for &s in &order {
            below[s] = rows[s].iter().map(|(to, _)| *to).collect();
            below[s].retain(|to| level[*to] < level[s] && reach[*to].iter().any(|bits| *bits > 0));
            below[s].dedup();
            if !nodes[s].is_empty() && below[s].is_empty() {
                reach[s][leaf / 64] |= 1 << (leaf % 64);
                leaf += 1;
            }
            for &to in &below[s] {
                let (mine, theirs) = pair(&mut reach, s, to);
                for (bits, more) in mine.iter_mut().zip(theirs) {
                    *bits |= more;
                }
            }
        }
        Ok(Self { level, order, below, reach })
    }

    fn reaches_all_of(&self, s: usize, other: usize) -> bool {
        self.reach[s].iter().zip(&self.reach[other]).all(|(mine, theirs)| theirs & !mine == 0)
    }

    fn count(&self, s: usize) -> u32 {
        self.reach[s].iter().map(|bits| bits.count_ones()).sum()
    }

    /// The lowest switches above the nodes on `own`, itself included: those that reach all leaves
    /// that `own` reaches, and have no such switch below them.
    fn above_nodes_on(&self, own: usize) -> impl Iterator<Item = usize> + '_ {
        let does = move |s: usize| self.count(s) > 0 && self.reaches_all_of(s, own);
        let all = self.order.iter().copied();
        all.filter(move |&s| does(s) && !self.below[s].iter().any(|&to| does(to)))
    }
}

/// The switches of a tree that have nodes below them, level by level.
fn tree<'a>(
    w: &WorkingPlane<'a>,
    mut nodes: Vec<Vec<&'a str>>,
    distinct: bool,
) -> Result<Vec<SlurmTreeLine<'a>>, Refusal> {
    let advice = "switches=leaves writes any network, in two levels";
    let tree = SwitchTree::new(w, &nodes, advice)?;
    check_above_all(w, &tree, advice)?;
    let mut first: HashMap<(u32, &[u64]), usize> = HashMap::new();
    let mut stands_for: Vec<usize> = (0..nodes.len()).collect();
    let mut lines = Vec::new();
    let mut more: Vec<Vec<SlurmTreeLineSubject>> = vec![Vec::new(); nodes.len()];
    for s in 0..nodes.len() {
        if nodes[s].is_empty() || tree.below[s].is_empty() {
            continue;
        }
        let nodes = std::mem::take(&mut nodes[s]);
        tree.above_nodes_on(s).for_each(|above| more[above].push(SlurmTreeLineSubject::NodesOn(s)));
        lines.push(SlurmTreeLine {
            of: SlurmTreeLineSubject::NodesOn(s),
            nodes,
            below: Vec::new(),
        });
    }
    for &s in tree.order.iter().filter(|s| tree.count(**s) > 0) {
        if distinct {
            let alike = first.entry((tree.level[s], &tree.reach[s][..]));
            stands_for[s] = *alike.or_insert(s);
        }
        if stands_for[s] == s {
            let below =
                tree.below[s].iter().map(|to| SlurmTreeLineSubject::Switch(stands_for[*to]));
            let mut below: Vec<SlurmTreeLineSubject> =
                below.chain(std::mem::take(&mut more[s])).collect();
            below.sort_unstable();
            below.dedup();
            let nodes = std::mem::take(&mut nodes[s]);
            lines.push(SlurmTreeLine { of: SlurmTreeLineSubject::Switch(s), nodes, below });
        }
    }
    Ok(lines)
}

/// Refuses a tree with connected nodes that have no common switch above them.
fn check_above_all(w: &WorkingPlane, tree: &SwitchTree, help: &str) -> Result<(), Refusal> {
    let piece = w.pieces();
    let pieces = piece.iter().max().map_or(0, |last| last + 1);
    let mut due: Vec<Vec<u64>> = vec![Vec::new(); pieces];
    for (s, reach) in tree.reach.iter().enumerate() {
        due[piece[s]].resize(reach.len(), 0);
        due[piece[s]].iter_mut().zip(reach).for_each(|(all, bits)| *all |= bits);
    }
    let mut is_above = vec![false; pieces];
    for (s, reach) in tree.reach.iter().enumerate() {
        is_above[piece[s]] |= *reach == due[piece[s]];
    }
    if is_above.iter().all(|above| *above) {
        return Ok(());
    }
    let why = "no switch is above all nodes that it is connected to: Slurm would part them";
    Err(Refusal::new("network", why, help))
}

/// The row of `one` to be changed, and that of `other`, a different one, to be read.
fn pair(rows: &mut [Vec<u64>], one: usize, other: usize) -> (&mut Vec<u64>, &Vec<u64>) {
    let (low, high) = rows.split_at_mut(one.max(other));
    if one < other { (&mut low[one], &high[0]) } else { (&mut high[0], &low[other]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lines_have_one_name() {
        let switches = ["a", "a-nodes", "a-nodes_", "top", "top-of-all", "b"].map(str::to_owned);
        let ofs = (0..switches.len()).map(SlurmTreeLineSubject::Switch);
        let ofs = ofs.chain([
            SlurmTreeLineSubject::NodesOn(0),
            SlurmTreeLineSubject::NodesOn(5),
            SlurmTreeLineSubject::Top(0),
        ]);
        let lines: Vec<SlurmTreeLine<'_>> =
            ofs.map(|of| SlurmTreeLine { of, nodes: Vec::new(), below: Vec::new() }).collect();
        let given = names(&lines, &switches, &[true; 6]);
        assert_eq!(given[&SlurmTreeLineSubject::NodesOn(0)], "a-nodes__");
        assert_eq!(given[&SlurmTreeLineSubject::NodesOn(5)], "b-nodes");
        assert_eq!(given[&SlurmTreeLineSubject::Top(0)], "switch-above-all");
        let different: std::collections::BTreeSet<&String> = given.values().collect();
        assert_eq!(different.len(), lines.len());
    }
}
