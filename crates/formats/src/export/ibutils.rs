//! Networks as ibutils reads them: a topology file, and the definitions of its systems.
//!
//! Source: ibdm-topo-file(1) and ibdm-ibnl-file(1), and what ibutils 1.5.7 does: a switch or an
//! adapter is a system of one device; a name has neither blanks nor `/`; lanes have 2.5, 5 or 10
//! Gbit/s, widths are 1, 4, 8 and 12, and a line with another is ignored with its cable.

use super::kind::{ExportFormatEntry, ExportInput, asked};
use crate::graph_file::ibutils::nominal_gbps;
use base::part::PartDescription;
use base::{LinkId, Refusal, SwitchId, TerminalId};
use fabric::addresses::remark;
use fabric::network::{Cable, InfinibandLaneSpeed, Topology};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// Most ports of a device.
const MOST_PORTS: u16 = 254;

/// Which speeds are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Speeds")]
#[serde(rename_all = "lowercase")]
enum ExportedSpeedChoice {
    /// Those that ibutils 1.5 reads; of others the nearest.
    #[default]
    Known,
    /// All.
    All,
}

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new(
        "ibutils-topo",
        "topology file of ibutils, with the definitions of its systems (.ibnl) beside it",
    )
    .takes::<IbutilsExportOptions>(),
    "switches up to 254 ports",
    write,
)
.beside_it(definitions);

#[derive(Default, Deserialize, JsonSchema)]
#[schemars(rename = "Options")]
#[serde(deny_unknown_fields, default)]
struct IbutilsExportOptions {
    /// known (default): of cables that ibutils 1.5 has no word for the nearest, 10G a lane; or all:
    /// 14G, 25G, 50G, 100G, 200G
    speeds: ExportedSpeedChoice,
}

/// The names and numbers of ports that are written.
struct ExportedDeviceNames {
    switches: Vec<Option<String>>,
    endpoints: Vec<Option<String>>,
    ports: Vec<u16>,
    /// The port of the adapter that each rail is, by number of the terminal.
    port_of: Vec<u16>,
    rails: Vec<u16>,
    changed: usize,
}

/// The topology file: switches with the cables to those before them, then adapters with theirs.
/// O(network).
///
/// # Errors
/// When a switch has more than 254 ports, or two names are the same to ibutils.
pub(super) fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: IbutilsExportOptions = asked(options)?;
    let t = source.network;
    let of = ExportedDeviceNames::of(t)?;
    let mut text = format!("# {}\n", remark(&t.recipe().to_string()));
    if of.changed > 0 {
        let _ = writeln!(text, "# names with _ in place of blanks, / and #: {}", of.changed);
    }
    let slower = |cable: &Cable| options.speeds == ExportedSpeedChoice::Known && !is_known(cable);
    let links = (0..t.links().len()).map(LinkId::from).filter(|&l| t.link_is_up(l));
    let cables = links.clone().map(|l| &t.links()[l.ix()].cable);
    let terminals = (0..t.terminals().len()).map(TerminalId::from);
    let terminals = terminals.filter(|&x| t.terminal_is_up(x));
    let rails = terminals.clone().map(|x| &t.terminals()[x.ix()].cable);
    let count = cables.chain(rails).filter(|cable| slower(cable)).count();
    if count > 0 {
        let _ = writeln!(text, "# cables at the nearest rate that ibutils 1.5 reads: {count}");
    }
    let mut below = vec![Vec::new(); t.switches().len()];
    for l in links {
        let link = &t.links()[l.ix()];
        let (a, b) =
            if link.a.switch > link.b.switch { (link.a, link.b) } else { (link.b, link.a) };
        below[a.switch.ix()].push((a.port, b, &link.cable));
    }
    for (s, name) in of.switches.iter().enumerate() {
        let Some(name) = name else { continue };
        let _ = writeln!(text, "\n{} {name}", of.switch_type(s));
        below[s].sort_by_key(|(port, ..)| *port);
        for (port, to, cable) in &below[s] {
            let arrow = arrow(cable, options.speeds);
            of.line(&mut text, *port, &arrow, to.switch, to.port);
        }
    }
    let mut of_endpoint = vec![Vec::new(); t.endpoints().len()];
    terminals.for_each(|x| of_endpoint[t.terminals()[x.ix()].endpoint.ix()].push(x));
    for (e, name) in of.endpoints.iter().enumerate() {
        let Some(name) = name else { continue };
        let _ = writeln!(text, "\nFLYLOOM-CA{} {name}", of.rails[e]);
        for x in &of_endpoint[e] {
            let terminal = &t.terminals()[x.ix()];
            let arrow = arrow(&terminal.cable, options.speeds);
            let plug = terminal.plug;
            of.line(&mut text, of.port_of[x.ix()], &arrow, plug.switch, plug.port);
        }
    }
    Ok(text)
}

/// The definitions of the systems of [`write`], a file each: name and content.
///
/// # Errors
/// As [`write`].
pub(super) fn definitions(
    source: &ExportInput,
    options: &Map<String, Value>,
) -> Result<Vec<(String, String)>, Refusal> {
    let _: IbutilsExportOptions = asked(options)?;
    let of = ExportedDeviceNames::of(source.network)?;
    let switches = of.switches.iter().zip(&of.ports).filter(|(name, _)| name.is_some());
    let endpoints = of.endpoints.iter().zip(&of.rails).filter(|(name, _)| name.is_some());
    let kinds: BTreeSet<(&str, u16)> =
        switches.map(|(_, n)| ("SW", *n)).chain(endpoints.map(|(_, n)| ("CA", *n))).collect();
    let file = |(kind, ports): (&str, u16)| {
        let name = format!("FLYLOOM-{kind}{ports}");
        let mut text = format!("TOPSYSTEM {name}\n\nNODE {kind} {ports} {name} U1\n");
        for port in 1..=ports {
            let _ = writeln!(text, "   {port} -> P{port}");
        }
        (format!("{name}.ibnl"), text)
    };
    Ok(kinds.into_iter().map(file).collect())
}

fn is_known(cable: &Cable) -> bool {
    matches!(
        cable.speed,
        InfinibandLaneSpeed::SDR | InfinibandLaneSpeed::DDR | InfinibandLaneSpeed::QDR
    ) && cable.width != 2
}

fn arrow(cable: &Cable, speeds: ExportedSpeedChoice) -> String {
    let (speed, width) = match speeds {
        ExportedSpeedChoice::All if cable.speed == InfinibandLaneSpeed::FDR10 => {
            ("FDR10".to_owned(), cable.width)
        }
        ExportedSpeedChoice::All => (nominal_gbps(cable.speed).to_string(), cable.width),
        ExportedSpeedChoice::Known => {
            let width = if cable.width == 2 { 1 } else { cable.width };
            (nominal_gbps(cable.speed).min(10.0).to_string(), width)
        }
    };
    format!("-{width}x-{speed}G->")
}

impl ExportedDeviceNames {
    fn of(t: &Topology) -> Result<Self, Refusal> {
        let mut seen = HashMap::new();
        let mut changed = 0;
        let mut named = |name: &str, works: bool| -> Result<Option<String>, Refusal> {
            if !works {
                return Ok(None);
            }
            let good = |c: char| if c.is_whitespace() || "/#".contains(c) { '_' } else { c };
            let plain: String = name.chars().map(good).collect();
            let plain = if plain.is_empty() { "_".to_owned() } else { plain };
            changed += usize::from(plain != name);
            if let Some(other) = seen.insert(plain.clone(), name.to_owned()) {
                let why = format!("'{other}' and '{name}' are both {plain}");
                let help = "names that differ in more than blanks, / and #";
                return Err(Refusal::new("names", why, help));
            }
            Ok(Some(plain))
        };
        let switches = t.switches().iter().map(|s| named(&s.name, s.up));
        let switches: Vec<Option<String>> = switches.collect::<Result<_, _>>()?;
        let mut rails = vec![0; t.endpoints().len()];
        let mut works = vec![false; t.endpoints().len()];
        let mut port_of = Vec::with_capacity(t.terminals().len());
        for (i, x) in t.terminals().iter().enumerate() {
            works[x.endpoint.ix()] |= t.terminal_is_up(TerminalId::from(i));
            rails[x.endpoint.ix()] += 1;
            port_of.push(rails[x.endpoint.ix()]);
        }
        let endpoints = t.endpoints().iter().zip(works).map(|(e, works)| named(&e.name, works));
        let endpoints = endpoints.collect::<Result<_, _>>()?;
        let mut ports: Vec<u16> = t.switches().iter().map(|s| s.ports.max(1)).collect();
        let plugs = t.links().iter().flat_map(|l| [l.a, l.b]);
        for plug in plugs.chain(t.terminals().iter().map(|x| x.plug)) {
            ports[plug.switch.ix()] = ports[plug.switch.ix()].max(plug.port);
        }
        let many = (0..ports.len()).find(|&s| ports[s] > MOST_PORTS && switches[s].is_some());
        if let Some(s) = many {
            let why = format!("{} has {} ports", t.switches()[s].name, ports[s]);
            return Err(Refusal::new("switch", why, format!("at most {MOST_PORTS}")));
        }
        Ok(Self { switches, endpoints, ports, port_of, rails, changed })
    }

    fn switch_type(&self, s: usize) -> String {
        format!("FLYLOOM-SW{}", self.ports[s])
    }

    /// The line of a cable to a switch.
    fn line(&self, text: &mut String, port: u16, arrow: &str, to: SwitchId, theirs: u16) {
        let kind = self.switch_type(to.ix());
        let name = self.switches[to.ix()].as_deref().unwrap_or_default();
        let _ = writeln!(text, "   P{port} {arrow} {kind} {name} P{theirs}");
    }
}
