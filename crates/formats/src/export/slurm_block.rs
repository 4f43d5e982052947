//! `topology.conf` for Slurm's topology/block: blocks of nodes, and the sizes that jobs get.
//!
//! Source: Slurm, topology.conf(5), section topology/block: `BlockName=` with its `Nodes=`, and
//! `BlockSizes=`, of which the first is at most the size of the smallest block and every other one
//! a power of two times the one before.

use super::hostlist::{self, NodeNameForm, compressed};
use super::kind::{ExportFormatEntry, ExportInput, asked};
use super::switch_names::SwitchNameForm;
use super::working::{RailSupport, WorkingPlane};
use base::Refusal;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// What a block is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Blocks")]
#[serde(rename_all = "lowercase")]
enum SlurmBlockKind {
    /// The nodes of a group of switches: a pod, a dragonfly group, a Slim Fly column.
    #[default]
    Groups,
    /// The nodes of a switch.
    Switches,
    /// The nodes of a rack.
    Racks,
}

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new("slurm-block", "topology.conf of Slurm's topology/block")
        .takes::<SlurmBlockExportOptions>(),
    "any",
    write,
);

#[derive(Default, Deserialize, JsonSchema)]
#[schemars(rename = "Options")]
#[serde(deny_unknown_fields, default)]
struct SlurmBlockExportOptions {
    /// groups (default), switches or racks (of the floor plan): what a block is
    blocks: SlurmBlockKind,
    /// `BlockSizes`, a list; default: the size of the smallest block
    sizes: Option<Value>,
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

/// One size or several, as a list or as the file has them.
fn sizes_of(given: &Value) -> Result<Vec<u64>, Refusal> {
    let found = match given {
        Value::Array(sizes) => sizes.iter().map(Value::as_u64).collect(),
        Value::String(text) => text.split(',').map(|size| size.trim().parse().ok()).collect(),
        one => one.as_u64().map(|size| vec![size]),
    };
    let wrong = || Refusal::new("sizes", format!("{given} is no list of sizes"), "as in 4,8,16");
    found.ok_or_else(wrong)
}

/// The file: blocks by number of group, switch or rack. O(network).
///
/// # Errors
/// When blocks are groups and the network has a single one, blocks are racks and no floor plan is
/// given, the sizes break a rule of Slurm, or Slurm cannot take a name.
pub(super) fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: SlurmBlockExportOptions = asked(options)?;
    let w = WorkingPlane::of(source.network, options.plane, RailSupport::Any)?;
    w.check_hosts()?;
    let hosts = options.names.nodes(&w)?;
    let mut blocks: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    let places = source.places.filter(|_| options.blocks == SlurmBlockKind::Racks);
    if options.blocks == SlurmBlockKind::Racks && places.is_none() {
        return Err(Refusal::new("blocks", "no racks are known", "give a floor plan: --floor"));
    }
    for hostlist::SlurmNode { name, host } in &hosts.all {
        let switch = w.switches[host.at];
        let block = match (options.blocks, places) {
            (SlurmBlockKind::Racks, Some(places)) => places.endpoints[host.endpoint.ix()].rack,
            (SlurmBlockKind::Switches, _) => switch.ix(),
            _ => w.t.switches()[switch.ix()].group as usize,
        };
        blocks.entry(block).or_default().push(*name);
    }
    if options.blocks == SlurmBlockKind::Groups && blocks.len() == 1 && w.switches.len() > 1 {
        let why = "all nodes are in one group of switches";
        return Err(Refusal::new("blocks", why, "blocks=switches or blocks=racks"));
    }
    let mut of_switches = HashMap::new();
    if options.blocks == SlurmBlockKind::Switches {
        let used: Vec<bool> = w.switches.iter().map(|s| blocks.contains_key(&s.ix())).collect();
        let names = options.switch_names.of(&w, &used)?;
        of_switches.extend(w.switches.iter().map(|s| s.ix()).zip(names));
    }
    let names: Vec<String> = blocks
        .keys()
        .map(|block| match (options.blocks, places) {
            (SlurmBlockKind::Racks, Some(places)) => places.racks[*block].name.clone(),
            (SlurmBlockKind::Switches, _) => of_switches[block].clone(),
            _ => format!("group-{block}"),
        })
        .collect();
    if options.blocks != SlurmBlockKind::Switches {
        hostlist::check(&names.iter().map(String::as_str).collect::<Vec<_>>(), "block", "")?;
    }
    let smallest = blocks.values().map(Vec::len).min().unwrap_or(1) as u64;
    let sizes = options.sizes.as_ref().map_or(Ok(vec![smallest]), sizes_of)?;
    check_sizes(&sizes, smallest)?;
    let mut text = w.remarks("# ") + &hosts.remark();
    for (name, nodes) in names.iter().zip(blocks.values()) {
        let _ = writeln!(text, "BlockName={name} Nodes={}", compressed(nodes));
    }
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let _ = writeln!(text, "BlockSizes={}", sizes.join(","));
    Ok(text)
}

fn check_sizes(sizes: &[u64], smallest: u64) -> Result<(), Refusal> {
    match sizes.first() {
        None => return Err(Refusal::new("sizes", "there is none", "give one or more")),
        Some(&base) if base == 0 || base > smallest => {
            let help = format!("1 to {smallest}, the nodes of the smallest block");
            return Err(Refusal::new("sizes", format!("the first is {base}"), help));
        }
        Some(_) => {}
    }
    for pair in sizes.windows(2) {
        let (less, more) = (pair[0], pair[1]);
        let times = if more % less == 0 { more / less } else { 0 };
        if times < 2 || !times.is_power_of_two() {
            let why = format!("{more} after {less}");
            return Err(Refusal::new("sizes", why, "each is 2, 4, 8, ... times the one before"));
        }
    }
    Ok(())
}
