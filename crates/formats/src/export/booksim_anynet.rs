//! Networks as `BookSim`'s topology anynet reads them.
//!
//! A line for each router: `router 0 node 0 node 1 router 3 5 router 4 2`, with the latency of the
//! channel to a router after its number. Source: `BookSim` 2.0 User's Guide, section on anynet, and
//! what its reader does: routers and nodes count from 0 without gaps, a node is on one router, a
//! pair of routers has one link, a latency holds for the direction of its line, and one after a
//! node would be taken for a router.

use super::kind::{ExportFormatEntry, ExportInput, asked, quantity};
use super::working::{RailSupport, WorkingPlane};
use base::Refusal;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt::Write;

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new("booksim-anynet", "network_file of BookSim's topology anynet")
        .takes::<BookSimExportOptions>(),
    "connected, without parallel links; an endpoint has one rail",
    write,
);

#[derive(Default, Deserialize, JsonSchema)]
#[schemars(rename = "Options")]
#[serde(deny_unknown_fields, default)]
struct BookSimExportOptions {
    /// length of a cycle, ns: latencies of links are written; default: none
    cycle_ns: Option<f64>,
    /// which plane to write, from 0; of a network of several
    plane: Option<u16>,
}

/// The file: router `i` is the `i`-th working switch, node `j` the `j`-th working endpoint.
///
/// With `cycle_ns` every channel has the cycles that its cable takes, rounded, at least 1: cables
/// of unknown length count as 5 m. The format has no place for remarks. O(network).
///
/// # Errors
/// When there are no endpoints, an endpoint has several rails, two links join the same switches, or
/// a switch cannot be reached.
pub(super) fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: BookSimExportOptions = asked(options)?;
    let w = WorkingPlane::of(source.network, options.plane, RailSupport::One)?;
    w.check_hosts()?;
    w.check_no_parallel("anynet has one link for two routers")?;
    if let Some(s) = w.reached().iter().position(|reached| !reached) {
        let why = format!("no path leads to switch {}", w.switch_name(s));
        return Err(Refusal::new("network", why, "BookSim ends where a router is not reached"));
    }
    let cycle_ns = match options.cycle_ns {
        None => None,
        Some(given) => Some(quantity("cycle_ns", given, f64::MIN_POSITIVE)?),
    };
    let mut nodes = vec![Vec::new(); w.switches.len()];
    for (node, host) in w.hosts.iter().enumerate() {
        nodes[host.at].push(node);
    }
    let mut text = String::new();
    for (router, row) in w.neighbours().iter().enumerate() {
        let _ = write!(text, "router {router}");
        for node in &nodes[router] {
            let _ = write!(text, " node {node}");
        }
        for (to, link) in row {
            let _ = write!(text, " router {to}");
            if let Some(cycle_ns) = cycle_ns {
                let flight_ns = w.t.links()[link.ix()].cable.latency().ns();
                let cycles = (flight_ns / cycle_ns).round().max(1.0);
                if cycles > f64::from(i32::MAX) {
                    let why = format!("{cycle_ns} makes a latency of {cycles} cycles");
                    return Err(Refusal::new("cycle_ns", why, "a longer cycle"));
                }
                let _ = write!(text, " {cycles}");
            }
        }
        text.push('\n');
    }
    Ok(text)
}
