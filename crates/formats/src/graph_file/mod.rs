//! Networks as files that are not a fabric's: edge lists, `GraphML`, GML, node-link JSON, DOT,
//! digraphs of ORCS, trees of Slurm and htsim, topologies of ibutils, dragonflies of CODES, and
//! flyloom's own JSON.

mod attributed;
pub mod codes;
pub mod dot;
pub mod edge_list;
mod given;
pub mod gml;
pub mod graphml;
pub mod htsim;
pub mod ibutils;
pub mod json;
pub mod node_link;
pub mod orcs;
pub mod slurm_tree;

use crate::backed::Beside;
use crate::ib::fabric_file::{self, Choice, is_link_info, is_message, is_talk};
use base::{Refusal, SwitchId};
use fabric::network::{Builder, Recipe, Topology};
use fabric::tree;
use serde_json::Map;

/// Most endpoints that a file may ask for on one switch, and in all.
const MAX_ON_SWITCH: u32 = 65_534;
const MAX_ENDPOINTS: u64 = 1 << 22;
/// Highest plane number that a file may name.
const MAX_PLANE: u16 = 1023;

/// Reads a network in whatever format `text` is: `ibnetdiscover` output (also of `-p`), that of
/// `iblinkinfo`, an `ibsim` netlist, `GraphML`, GML, JSON (flyloom's, or node-link), a digraph of
/// ORCS, Slurm's topology.conf, a `.topo` of htsim or of ibutils, or an edge list. The content
/// decides, not the name.
///
/// `name` stands for the file in the recipe and in refusals. `p` puts that many endpoints on every
/// switch of a file that has none. O(file log ports).
///
/// # Errors
/// When the text is empty or not well formed in its format, and when `p` is given for a file that
/// has its own endpoints; refusals name the file, and the line where there is one.
pub fn read_any(text: &str, name: &str, p: impl Into<Beside>) -> Result<Topology, Refusal> {
    read_any_chosen(text, name, p, &Choice::default())
}

/// As [`read_any`]; `choice` says which devices of a fabric are endpoints.
///
/// # Errors
/// As [`read_any`], and when there is a choice and the file is none of a fabric.
pub fn read_any_chosen(
    text: &str,
    name: &str,
    p: impl Into<Beside>,
    choice: &Choice,
) -> Result<Topology, Refusal> {
    let p = p.into();
    let body = text.trim_start_matches('\u{feff}').trim_start();
    let Some(first) =
        body.lines().map(str::trim_start).find(|l| !l.is_empty() && !l.starts_with('#'))
    else {
        return Err(Refusal::new(name, "there is no network in it: it is empty", FORMATS));
    };
    let first = body.lines().map(str::trim_start).find(|l| says(l)).unwrap_or(first);
    let is_fabric = is_fabric(first) || is_talk(first) && body.lines().any(is_node);
    if !is_fabric && !choice.is_default() {
        let why = "keep, only and adapters choose devices of discovered fabrics, which this is not";
        if !choice.is_of_all() {
            return Err(Refusal::new(name, why, "leave them out for this file"));
        }
        let found = read_any(text, name, p)?;
        return Ok(found.with_remarks([why.to_owned()]));
    }
    if edge_list::has_remark(body) {
        return edge_list::read(text, name, p);
    }
    if body.starts_with('{') {
        if node_link::looks(text) {
            return node_link::read(text, name, p);
        }
        return given::with_endpoints(json::read(text, name)?, name, p, false);
    }
    if body.starts_with('<') && !body.starts_with("< ") {
        return graphml::read(text, name, p);
    }
    if orcs::is_orcs(body) {
        return given::with_endpoints(orcs::read(text, name)?, name, p, false);
    }
    if gml::looks(body) {
        return gml::read(text, name, p);
    }
    if slurm_tree::looks(first) {
        return given::with_endpoints(slurm_tree::read(text, name)?, name, p, false);
    }
    if htsim::looks(first, body) {
        return given::with_endpoints(htsim::read(text, name, p)?, name, p, false);
    }
    if ibutils::looks(first, body) {
        return given::with_endpoints(ibutils::read(text, name)?, name, p, true);
    }
    if first.starts_with("Unicast lids") || first.contains(crate::ib::lft::FDB_SWITCH) {
        let why = "a forwarding table says how a network is routed, not how it is cabled";
        return Err(Refusal::new(name, why, FORMATS));
    }
    if is_fabric {
        let found = fabric_file::read_chosen(text, name, choice).map(with_hosts_apart)?;
        return given::with_endpoints(found, name, p, true);
    }
    edge_list::read(text, name, p)
}

/// The same network, remarked where it is a tree by most hosts only: some are on other switches
/// than its leaves.
fn with_hosts_apart(t: Topology) -> Topology {
    let Ok(levels) = tree::levels_of(&t) else { return t };
    let Some(first) = levels.apart.first().map(|s| SwitchId::from(*s)) else { return t };
    let on = |s: &usize| t.terminals_on(SwitchId::from(*s)).len();
    let hosts: usize = levels.apart.iter().map(on).sum();
    let name = &t.switches()[first.ix()].name;
    let more = match levels.apart[..] {
        [_] => String::new(),
        [_, second] => format!(" and {}", t.switches()[second].name),
        _ => format!(" and {} more", levels.apart.len() - 1),
    };
    let remark = format!(
        "{hosts} of {} endpoints on {name}{more}, no leaf: levels of the tree are by the others",
        t.terminals().len()
    );
    t.with_remarks([remark])
}

/// Whether a line is of a file, and no message of a program.
fn says(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#') && !is_message(line)
}

/// Whether a line is one that only fabrics have.
fn is_node(line: &str) -> bool {
    let ids = ["vendid=0x", "switchguid=0x", "caguid=0x", "rtguid=0x", "sysimgguid=0x"];
    ids.iter().any(|id| line.starts_with(id))
}

const FORMATS: &str = "networks are read from ibnetdiscover, iblinkinfo, ibsim, edge lists, \
     GraphML, GML, JSON, topology.conf of Slurm, .topo of htsim and of ibutils, CODES and digraphs \
     of ORCS";

fn own_endpoints(name: &str, p: Option<u32>) -> Result<(), Refusal> {
    match p {
        None => Ok(()),
        Some(_) => {
            Err(Refusal::new(format!("{name}: p"), "the file has its own endpoints", "leave p out"))
        }
    }
}

/// Whether the first line that says something is one of a fabric (or of a tool's like it).
fn is_fabric(line: &str) -> bool {
    let starts = |words: &[&str]| words.iter().any(|w| line.starts_with(w));
    let ids = ["vendid=", "devid=", "sysimgguid=", "switchguid", "caguid", "hcaguid", "rtguid"];
    let settings = ["module=", "include ", "do ", "width=", "speed=", "extspeed="];
    let headings = ["Non-Chassis Nodes", "Chassis ", "< ", "> ", "[", "@[", "Switch:", "CA:"];
    let node = starts(&["Switch", "Ca", "Hca", "Rt", "SW ", "CA ", "RT "]);
    is_link_info(line)
        || starts(&ids)
        || starts(&settings)
        || starts(&headings)
        || (node && line.contains(['"', '\'']))
}

/// The recipe of a network from a file.
fn recipe(name: &str, format: &str) -> Recipe {
    let mut params = Map::new();
    params.insert("path".into(), name.into());
    params.insert("format".into(), format.into());
    Recipe { family: "file".into(), params }
}

/// Adds `counts[s]` endpoints to each switch; `p` everywhere when the file has none of its own.
fn add_endpoints(
    b: &mut Builder,
    mut counts: Vec<u32>,
    has_own: bool,
    beside: Beside,
    name: &str,
) -> Result<(), Refusal> {
    if has_own {
        own_endpoints(name, beside.p)?;
    } else {
        counts.fill(beside.p.unwrap_or(0));
    }
    let total: u64 = counts.iter().map(|c| u64::from(*c)).sum();
    if let Some(most) = counts.iter().find(|c| **c > MAX_ON_SWITCH) {
        let why = format!("{most} endpoints on one switch");
        return Err(Refusal::new(name, why, format!("at most {MAX_ON_SWITCH}")));
    }
    if total > MAX_ENDPOINTS {
        let why = format!("{total} endpoints");
        return Err(Refusal::new(name, why, format!("at most {MAX_ENDPOINTS} from a file")));
    }
    beside.fits(name, (counts.len() as u64, 0, total))?;
    for (s, count) in counts.iter().enumerate() {
        b.endpoints_on(std::iter::once(SwitchId::from(s)), *count);
    }
    Ok(())
}

/// Working endpoints' rails on each switch.
fn terminals_up(t: &Topology, s: SwitchId) -> usize {
    t.terminals_on(s).iter().filter(|&&x| t.terminal_is_up(x)).count()
}
