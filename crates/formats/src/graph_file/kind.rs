//! What a format of networks is, and what its readers share.

use crate::backed::NetworkFileOptions;
use base::part::PartDescription;
use base::{Refusal, SwitchId};
use fabric::network::{NetworkRecipe, Switch, Topology, TopologyBuilder};
use serde_json::Map;

/// The start of a file, by which its reader is chosen.
pub(super) struct NetworkFileStart<'a> {
    /// The text from its first line that is neither blank nor a comment or message.
    pub(super) body: &'a str,
    /// The first line that is neither blank nor a comment or message.
    pub(super) first: &'a str,
}

/// A row of the table of formats.
#[derive(Debug)]
pub struct GraphFileFormat {
    /// Its name, and what is read.
    pub part: PartDescription,
    /// Formats of small numbers are asked first whether a text looks like theirs.
    pub(super) rank: u32,
    /// Whether a text looks like one of this format.
    pub(super) looks: fn(&NetworkFileStart<'_>) -> bool,
    /// Reads the network of a text: it gets the text, its name for refusals, and the user's
    /// options.
    pub(super) read: fn(&str, &str, NetworkFileOptions) -> Result<Topology, Refusal>,
    /// A small file that it reads: tests damage it.
    pub(super) example: fn() -> String,
}

impl GraphFileFormat {
    /// A small file that it reads.
    pub fn example(&self) -> String {
        (self.example)()
    }
}

/// A small network, for examples of formats: a ring of six switches with two endpoints each.
pub(crate) fn example_network() -> Topology {
    let mut b = TopologyBuilder::new();
    let all: Vec<SwitchId> =
        (0..6).map(|i| b.switch(Switch::new(format!("leaf-{}", 1201 + i)))).collect();
    for (i, &switch) in all.iter().enumerate() {
        b.link(switch, all[(i + 1) % all.len()]);
    }
    b.endpoints_on(all.into_iter(), 2);
    b.finish(recipe("example", "none")).expect("every port has room")
}

/// Most endpoints that a file may ask for on one switch, and in all.
pub(super) const MAX_ON_SWITCH: u32 = 65_534;
pub(super) const MAX_ENDPOINTS: u64 = 1 << 22;
/// Highest plane number that a file may name.
pub(super) const MAX_PLANE: u16 = 1023;

/// Refuses endpoints beside a file that has its own.
pub(super) fn own_endpoints(name: &str, p: Option<u32>) -> Result<(), Refusal> {
    match p {
        None => Ok(()),
        Some(_) => {
            Err(Refusal::new(format!("{name}: p"), "the file has its own endpoints", "leave p out"))
        }
    }
}

/// The recipe of a network from a file.
pub(super) fn recipe(name: &str, format: &str) -> NetworkRecipe {
    let mut params = Map::new();
    params.insert("path".into(), name.into());
    params.insert("format".into(), format.into());
    NetworkRecipe { family: "file".into(), params }
}

/// Adds `counts[s]` endpoints to each switch; `p` everywhere when the file has none of its own.
pub(super) fn add_endpoints(
    b: &mut TopologyBuilder,
    mut counts: Vec<u32>,
    has_own: bool,
    beside: NetworkFileOptions,
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

/// Number of working rails of endpoints on switch `s`.
pub(super) fn terminals_up(t: &Topology, s: SwitchId) -> usize {
    t.terminals_on(s).iter().filter(|&&x| t.terminal_is_up(x)).count()
}
