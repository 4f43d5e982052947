//! Slurm's `topology.conf` of topology/tree: switches with the nodes, or the switches, below them.
//!
//! Source: Slurm, topology.conf(5): a line has words `KEY=VALUE`, keys in any case; `#` begins a
//! remark, `\` at its end goes on in the next line. Names are host lists, `n[0-3,7]`. A node is an
//! endpoint, with a rail for each switch that names it; a switch has a link to each below it. How
//! many cables there are, and of what rate, the file does not say: `LinkSpeed` has no unit.

use super::attributed::line_of;
use super::given::with_endpoints;
use super::kind::{GraphFileFormat, recipe};
use crate::backed::FileReaderMemoryBudget;
use base::part::PartDescription;
use base::{EndpointId, Refusal, SwitchId};
use fabric::network::{Cable, NAMES, Switch, Topology, TopologyBuilder, name_fault};
use std::collections::HashMap;

pub(super) const ENTRY: GraphFileFormat = GraphFileFormat {
    part: PartDescription::new("slurm-tree", "topology.conf of Slurm"),
    rank: 60,
    looks: |seen| looks(seen.first),
    read: |text, name, p| with_endpoints(read(text, name)?, name, p, false),
    example: || EXAMPLE.to_owned(),
};

const EXAMPLE: &str = "# made 2026-01-01 10:11:12 by 1234\nSwitchName=s1 Nodes=n[01-12],m[100-117] \
    LinkSpeed=100000\nSwitchName=s2 Nodes=k[0200-0217] LinkSpeed=25000\nSwitchName=s3 \
    Switches=s[1-2] LinkSpeed=400000\n";

/// Most names that all lists of a file may stand for: Slurm has no more nodes.
const MOST_NAMES: usize = 1 << 17;

/// Whether a line is one of a topology.conf.
pub(super) fn looks(line: &str) -> bool {
    let key = line.split('=').next().unwrap_or_default();
    ["switchname", "blockname"].iter().any(|known| key.trim().eq_ignore_ascii_case(known))
        && line.contains('=')
}

/// The lines of the file, each with the byte where it begins. A line that goes on in the next one
/// is joined with it.
fn lines(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut at, mut open) = (Vec::new(), 0, false);
    for line in text.split_inclusive('\n') {
        let said = line.split('#').next().unwrap_or_default().trim_end();
        let (said, goes_on) = match said.strip_suffix('\\') {
            Some(said) => (said, true),
            None => (said, false),
        };
        match found.last_mut() {
            Some((_, before)) if open => *before = format!("{before} {said}"),
            _ => found.push((at, said.to_owned())),
        }
        open = goes_on;
        at += line.len();
    }
    found.retain(|(_, line)| !line.trim().is_empty());
    found
}

/// Adds the names that a host list stands for, commas between them. `None` where it is no host
/// list, or its names are too many, or too long for the file.
fn expand(list: &str, backed: &mut FileReaderMemoryBudget, names: &mut Vec<String>) -> Option<()> {
    let mut depth = 0;
    let ends = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    };
    for word in list.split(ends).filter(|word| !word.is_empty()) {
        names.extend(backed.names(word).ok()?);
        if names.len() > MOST_NAMES {
            return None;
        }
    }
    Some(())
}

/// A line: the switch, its nodes, the switches below it.
#[derive(Default)]
struct SlurmTopologyLine {
    at: usize,
    name: String,
    nodes: Vec<String>,
    below: Vec<String>,
}

/// A reader of the text of a Slurm topology.conf.
struct SlurmTreeReader<'a> {
    name: &'a str,
    text: &'a str,
    total: usize,
    backed: FileReaderMemoryBudget,
}

impl SlurmTreeReader<'_> {
    fn refuse(&self, at: usize, why: impl Into<String>, help: &str) -> Refusal {
        Refusal::new(format!("{}: line {}", self.name, line_of(self.text, at)), why, help)
    }

    fn line(&mut self, at: usize, said: &str) -> Result<SlurmTopologyLine, Refusal> {
        let mut line = SlurmTopologyLine { at, ..SlurmTopologyLine::default() };
        for word in said.split_whitespace() {
            let Some((key, value)) = word.split_once('=') else {
                let why =
                    format!("'{}' is no KEY=VALUE", word.chars().take(40).collect::<String>());
                return Err(self.refuse(at, why, "SwitchName=s0 Nodes=n[0-3], or Switches=s[1-2]"));
            };
            let value = value.trim_matches('"');
            let into = match key.to_ascii_lowercase().as_str() {
                "switchname" => {
                    value.clone_into(&mut line.name);
                    continue;
                }
                "nodes" => &mut line.nodes,
                "switches" => &mut line.below,
                "linkspeed" => continue,
                "blockname" | "blocksizes" => {
                    let why = "blocks say which nodes are near each other, not how they are cabled";
                    return Err(self.refuse(at, why, "a topology.conf of topology/tree"));
                }
                _ => {
                    let known = "SwitchName, Nodes, Switches, LinkSpeed";
                    return Err(self.refuse(at, format!("there is no key {key}"), known));
                }
            };
            if expand(value, &mut self.backed, into).is_none()
                || self.total + into.len() > MOST_NAMES
            {
                let why =
                    format!("'{}' is no host list", value.chars().take(40).collect::<String>());
                let help = "names as n[0-3,7], fewer than 2^17 in the file";
                return Err(self.refuse(at, why, help));
            }
            self.total += into.len();
        }
        let fault = [&line.name].into_iter().chain(&line.nodes).find_map(|name| name_fault(name));
        match fault {
            Some(why) => Err(self.refuse(at, why, NAMES)),
            None if line.name.is_empty() => {
                Err(self.refuse(at, "a line without SwitchName", "SwitchName=s0 Nodes=n[0-3]"))
            }
            None => Ok(line),
        }
    }
}

/// The first line whose switch is below itself, directly or over others; `None` in a tree.
/// O(names).
fn below_itself(lines: &[SlurmTopologyLine]) -> Option<&SlurmTopologyLine> {
    let numbers: HashMap<&str, usize> =
        lines.iter().enumerate().map(|(i, line)| (&*line.name, i)).collect();
    let below = |i: usize| lines[i].below.iter().filter_map(|name| numbers.get(&**name).copied());
    // first the switches that nothing is above, then those that are only below such
    let mut above = vec![0_usize; lines.len()];
    (0..lines.len()).flat_map(below).for_each(|child| above[child] += 1);
    let mut free: Vec<usize> = (0..lines.len()).filter(|i| above[*i] == 0).collect();
    while let Some(i) = free.pop() {
        for child in below(i) {
            above[child] -= 1;
            if above[child] == 0 {
                free.push(child);
            }
        }
    }
    // the others are on a cycle or below one: going up from any of them, the first switch that is
    // met twice is on a cycle
    let mut at = (0..lines.len()).find(|i| above[*i] > 0)?;
    let mut seen = vec![false; lines.len()];
    while !std::mem::replace(&mut seen[at], true) {
        at = (0..lines.len()).find(|i| above[*i] > 0 && below(*i).any(|child| child == at))?;
    }
    Some(&lines[at])
}

/// Reads a topology.conf; `name` stands for the file in the recipe and in refusals. O(names).
///
/// # Errors
/// With the line, when it is not one of topology/tree, a switch comes twice, a switch that is below
/// another has no line, or one is below itself.
pub fn read(text: &str, name: &str) -> Result<Topology, Refusal> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader =
        SlurmTreeReader { name, text, total: 0, backed: FileReaderMemoryBudget::of(text.len()) };
    let mut found = Vec::new();
    for (at, said) in lines(text) {
        found.push(reader.line(at, &said)?);
    }
    let mut b = TopologyBuilder::new();
    let mut switches: HashMap<&str, SwitchId> = HashMap::new();
    for line in &found {
        let id = b.switch(Switch::new(&line.name));
        if switches.insert(&line.name, id).is_some() {
            let why = format!("switch {} comes twice", line.name);
            return Err(reader.refuse(line.at, why, "a line for each switch"));
        }
    }
    if let Some(line) = below_itself(&found) {
        let why = format!("switch {} is below itself", line.name);
        return Err(reader.refuse(line.at, why, "a tree: none is above one that it is below"));
    }
    let mut nodes: HashMap<&str, EndpointId> = HashMap::new();
    for (line, at) in found.iter().zip((0..).map(SwitchId)) {
        for node in &line.nodes {
            let endpoint = *nodes.entry(node).or_insert_with(|| b.endpoint(node.clone(), None));
            b.attach(endpoint, at, 0, Cable::default());
        }
        for child in &line.below {
            let Some(&child) = switches.get(child.as_str()) else {
                let why = format!("there is no switch '{child}' to be below {}", line.name);
                return Err(reader.refuse(line.at, why, "a line SwitchName=... for each switch"));
            };
            b.link(at, child);
        }
    }
    b.finish(recipe(name, "slurm_tree")).map_err(|refused| refused.within(name))
}
