//! Files that other programs take: the table of their writers, and what a writer is given.
//!
//! Only what works is written, except where a format tells the state of a cable. A network that a
//! format cannot say is refused with the reason. A writer is a file beside this one and a row of
//! [`FORMATS`].

mod anynet;
mod astra_sim;
mod hostlist;
mod ibutils;
mod levels;
mod opensm;
mod placed;
mod simgrid;
mod slurm_block;
mod slurm_tree;
mod switch_names;
mod working;

use base::words::did_you_mean;
use base::{Refusal, fields};
use fabric::network::Topology;
use fabric::tables::Routing;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What a writer is given.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The network; lengths of cables are known where it has them.
    pub network: &'a Topology,
    /// Its tables, where there are some.
    pub routing: Option<&'a Routing>,
    /// Where its devices stand, where that is known.
    pub places: Option<&'a Places>,
}

/// Where devices stand: racks on a floor, and a seat for every device.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Places {
    /// The racks.
    pub racks: Vec<Rack>,
    /// The seat of each switch, by switch id.
    pub switches: Vec<Seat>,
    /// The seat of each endpoint, by endpoint id.
    pub endpoints: Vec<Seat>,
}

/// A rack and where it stands.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Rack {
    /// Its name.
    pub name: String,
    /// Along the row, metres.
    pub x_m: f64,
    /// Across the rows, metres.
    pub y_m: f64,
}

/// A place in a rack.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Seat {
    /// Number of the rack.
    pub rack: usize,
    /// Height unit, from 1 at the bottom; `None` beside the rack.
    pub unit: Option<u32>,
}

/// One format: its name, what it is, and its options.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The word that asks for it.
    pub name: &'static str,
    /// What it is, and for which program.
    pub title: &'static str,
    /// Which networks it can say.
    pub networks: &'static str,
    /// Names of its options, and what they do.
    pub options: &'static [(&'static str, &'static str)],
    /// Whether the floor plan belongs in it also where nobody asks for one.
    pub placed: bool,
    write: Write,
    /// The files that belong beside it, by name.
    beside: Option<Beside>,
}

type Write = fn(&Source, &Map<String, Value>) -> Result<String, Refusal>;
type Beside = fn(&Source, &Map<String, Value>) -> Result<Vec<(String, String)>, Refusal>;

const SWITCH_NAMES: (&str, &str) = (
    "switch-names",
    "short (default: what a managed switch was given, `leaf-1` of `MF0;leaf-1:MQM8700/U1`), whole \
     or first-word",
);
const NODE_NAMES: (&str, &str) = (
    "names",
    "what of an endpoint's name is the node's: first-word (default), short (of that word what \
     stands before the first dot) or whole",
);
const PLANE: (&str, &str) = ("plane", "which plane to write, from 0; of a network of several");

/// All formats.
pub const FORMATS: [Format; 11] = [
    Format {
        name: "slurm-tree",
        title: "topology.conf of Slurm's topology/tree",
        networks: "trees; any network with switches=leaves",
        options: &[
            (
                "switches",
                "all (default), distinct (one of those that reach the same nodes) or leaves (those \
                 with nodes, and one above those that are connected)",
            ),
            NODE_NAMES,
            SWITCH_NAMES,
            PLANE,
        ],
        placed: false,
        write: slurm_tree::write,
        beside: None,
    },
    Format {
        name: "slurm-block",
        title: "topology.conf of Slurm's topology/block",
        networks: "any",
        options: &[
            ("blocks", "groups (default), switches or racks (of the floor plan): what a block is"),
            ("sizes", "BlockSizes, a list; default: the size of the smallest block"),
            NODE_NAMES,
            SWITCH_NAMES,
            PLANE,
        ],
        placed: false,
        write: slurm_block::write,
        beside: None,
    },
    Format {
        name: "booksim-anynet",
        title: "network_file of BookSim's topology anynet",
        networks: "connected, without parallel links; an endpoint has one rail",
        options: &[
            ("cycle_ns", "length of a cycle, ns: latencies of links are written; default: none"),
            PLANE,
        ],
        placed: false,
        write: anynet::write,
        beside: None,
    },
    Format {
        name: "simgrid",
        title: "platform of SimGrid (XML 4.1)",
        networks: "any with tables; without, those without parallel links",
        options: &[
            ("routes", "tables (default where there are some) or shortest: SimGrid's own choice"),
            ("layer", "which of the routes to a terminal, from 0 (default)"),
            ("switch_latency_ns", "time through a switch, ns; default 0"),
            ("host_gflops", "speed of a host, Gflop/s; default 1"),
            PLANE,
        ],
        placed: false,
        write: simgrid::write,
        beside: None,
    },
    Format {
        name: "ibsim",
        title: "netlist of ibsim, the fabric simulator",
        networks: "cables up to HDR, switches up to 254 ports",
        options: &[("lmc", "LID mask control, 0 (default) to 7"), PLANE],
        placed: false,
        write: opensm::write_netlist,
        beside: None,
    },
    Format {
        name: "ibutils-topo",
        title: "topology file of ibutils, with the definitions of its systems (.ibnl) beside it",
        networks: "switches up to 254 ports",
        options: &[(
            "speeds",
            "known (default): of cables that ibutils 1.5 has no word for the nearest, 10G a lane; \
             or all: 14G, 25G, 50G, 100G, 200G",
        )],
        placed: false,
        write: ibutils::write,
        beside: Some(ibutils::definitions),
    },
    Format {
        name: "opensm-roots",
        title: "root_guid_file of OpenSM: the top switches of a tree",
        networks: "trees",
        options: &[PLANE],
        placed: false,
        write: opensm::write_roots,
        beside: None,
    },
    Format {
        name: "opensm-guids",
        title: "cn_guid_file or guid_routing_order_file of OpenSM: port GUIDs of endpoints",
        networks: "any with endpoints",
        options: &[PLANE],
        placed: false,
        write: opensm::write_guids,
        beside: None,
    },
    Format {
        name: "opensm-names",
        title: "node_name_map of OpenSM and the diagnostics: names by node GUID",
        networks: "any",
        options: &[PLANE],
        placed: false,
        write: opensm::write_names,
        beside: None,
    },
    Format {
        name: "astra-sim",
        title: "network of ASTRA-sim's analytical back end (YAML)",
        networks: "rings, complete networks, grids of these with one endpoint a switch; one switch",
        options: &[("switch_latency_ns", "time through a switch, ns; default 0"), PLANE],
        placed: false,
        write: astra_sim::write,
        beside: None,
    },
    Format {
        name: "graphml",
        title: "GraphML with places, rates and lengths, for Gephi, yEd and networkx",
        networks: "any",
        options: &[],
        placed: true,
        write: placed::write,
        beside: None,
    },
];

/// The format of this name.
///
/// # Errors
/// When there is none.
pub fn format(name: &str) -> Result<&'static Format, Refusal> {
    FORMATS.iter().find(|f| f.name == name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
        let help = did_you_mean(name, known.iter().copied()) + &known.join(", ");
        Refusal::new("to", format!("there is no format '{name}'"), help)
    })
}

impl Format {
    /// `source` in this format, with these options.
    ///
    /// # Errors
    /// When an option is not one of the format's or has no such value, and when the format cannot
    /// say the network.
    pub fn write(&self, source: &Source, options: &Map<String, Value>) -> Result<String, Refusal> {
        let known = |key: &&String| !self.options.iter().any(|(name, _)| name == key);
        if let Some(key) = options.keys().find(known) {
            let names: Vec<&str> = self.options.iter().map(|(name, _)| *name).collect();
            let help = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
            return Err(Refusal::new(key, format!("not an option of {}", self.name), help));
        }
        (self.write)(source, options).map_err(|refusal| refusal.within(self.name))
    }

    /// The files that belong beside it, name and content.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn beside(
        &self,
        source: &Source,
        options: &Map<String, Value>,
    ) -> Result<Vec<(String, String)>, Refusal> {
        let Some(beside) = self.beside else { return Ok(Vec::new()) };
        beside(source, options).map_err(|refusal| refusal.within(self.name))
    }
}

/// A format's options as a `T`.
fn asked<T: DeserializeOwned>(options: &Map<String, Value>) -> Result<T, Refusal> {
    fields::typed(&Value::Object(options.clone()))
        .map_err(|(field, why)| Refusal::new(field, why, "see `flyloom export --list`"))
}

/// A quantity that cannot be negative: `value`, when it is finite.
fn quantity(name: &str, value: f64, least: f64) -> Result<f64, Refusal> {
    if value.is_finite() && value >= least {
        return Ok(value);
    }
    let help = if least > 0.0 { "a number above 0" } else { "a number from 0" };
    Err(Refusal::new(name, format!("{value} is out of range"), help))
}
