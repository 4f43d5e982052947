//! Platforms of `SimGrid`: hosts, cables as links, and routes.
//!
//! Source: `SimGrid`'s reference of platform files, DTD version 4.1. A cable is a link of policy
//! SPLITDUPLEX, whose directions are UP, from its first end to its second, and DOWN.

use super::kind::{ExportFormatEntry, ExportInput, asked, quantity};
use super::working::{RailSupport, WorkingHost, WorkingPlane};
use base::Refusal;
use base::part::PartDescription;
use fabric::network::Cable;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt::Write;

/// Most routes that are written one by one: some 250 MB.
const MAX_ROUTES: usize = 1 << 20;

/// Where routes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Routes")]
#[serde(rename_all = "lowercase")]
enum ExportedRouteOrigin {
    /// The tables: a route for each pair of hosts.
    Tables,
    /// `SimGrid`, which takes routes with the fewest links.
    Shortest,
}

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new("simgrid", "platform of SimGrid (XML 4.1)")
        .takes::<SimGridExportOptions>(),
    "any with tables; without, those without parallel links",
    write,
);

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Options")]
#[serde(deny_unknown_fields, default)]
struct SimGridExportOptions {
    /// tables (default where there are some) or shortest: `SimGrid`'s own choice
    routes: Option<ExportedRouteOrigin>,
    /// which of the routes to a terminal, from 0 (default)
    layer: u32,
    /// time through a switch, ns; default 0
    switch_latency_ns: f64,
    /// speed of a host, Gflop/s; default 1
    host_gflops: f64,
    /// which plane to write, from 0; of a network of several
    plane: Option<u16>,
}

impl Default for SimGridExportOptions {
    fn default() -> Self {
        Self { routes: None, layer: 0, switch_latency_ns: 0.0, host_gflops: 1.0, plane: None }
    }
}

/// The platform: hosts, and routers where `SimGrid` routes, have the names of the network; links
/// are `link-N` and `terminal-N`, as in cable lists. A link takes its cable's time of flight, and
/// half the time through a switch for each of its ends that is at one. O(network + routes).
///
/// # Errors
/// When tables are asked for and there are none, there are too many routes for a file or one does
/// not arrive, links are parallel and there are no tables, a name comes twice, or an endpoint has
/// several rails.
pub(super) fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: SimGridExportOptions = asked(options)?;
    quantity("switch_latency_ns", options.switch_latency_ns, 0.0)?;
    quantity("host_gflops", options.host_gflops, f64::MIN_POSITIVE)?;
    let w = WorkingPlane::of(source.network, options.plane, RailSupport::One)?;
    w.check_hosts()?;
    check_names(&w)?;
    let tables = match (options.routes, source.routing) {
        (Some(ExportedRouteOrigin::Shortest), _) | (None, None) => None,
        (_, Some(routing)) => Some(checked(&w, routing, options.layer)?),
        (Some(ExportedRouteOrigin::Tables), None) => {
            let help = "give a folder of `flyloom route -o` in place of a network";
            return Err(Refusal::new("routes", "there are no tables", help));
        }
    };
    let mut text = String::from(
        "<?xml version='1.0'?>\n\
         <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n",
    );
    for line in w.remarks("").lines() {
        // two hyphens would end the XML comment
        let _ = writeln!(text, "<!-- {} -->", escape(line).replace("--", "- -"));
    }
    text.push_str("<platform version=\"4.1\">\n");
    let how = if tables.is_some() { "Full" } else { "Dijkstra" };
    let _ = writeln!(text, "  <zone id=\"network\" routing=\"{how}\">");
    for host in &w.hosts {
        let (name, speed) = (escape(w.host_name(host)), options.host_gflops);
        let _ = writeln!(text, "    <host id=\"{name}\" speed=\"{speed}Gf\"/>");
    }
    if tables.is_none() {
        for s in 0..w.switches.len() {
            let _ = writeln!(text, "    <router id=\"{}\"/>", escape(w.switch_name(s)));
        }
    }
    let through_ns = options.switch_latency_ns;
    for host in &w.hosts {
        let cable = &w.t.terminals()[host.terminal.ix()].cable;
        link(&mut text, &format!("terminal-{}", host.terminal), cable, through_ns / 2.0);
    }
    for l in &w.links {
        link(&mut text, &format!("link-{l}"), &w.t.links()[l.ix()].cable, through_ns);
    }
    match tables {
        Some(routing) => all_routes(&mut text, &w, routing, options.layer)?,
        None => one_hop_routes(&mut text, &w)?,
    }
    text.push_str("  </zone>\n</platform>\n");
    Ok(text)
}

fn link(text: &mut String, id: &str, cable: &Cable, through_ns: f64) {
    let (gbps, ns) = (cable.rate_gbps(), cable.latency().ns() + through_ns);
    let _ = writeln!(
        text,
        "    <link id=\"{id}\" bandwidth=\"{gbps}Gbps\" latency=\"{ns}ns\" \
         sharing_policy=\"SPLITDUPLEX\"/>"
    );
}

/// Refuses a name that two hosts or routers have: they share one name space.
fn check_names(w: &WorkingPlane) -> Result<(), Refusal> {
    let hosts = w.hosts.iter().map(|h| w.host_name(h));
    let mut seen = HashSet::new();
    for name in hosts.chain((0..w.switches.len()).map(|s| w.switch_name(s))) {
        if name.is_empty() || !seen.insert(name) {
            let why = format!("'{name}' is empty or comes twice");
            return Err(Refusal::new("name", why, "hosts and switches need different names"));
        }
    }
    Ok(())
}

/// Checks that the routes of the tables can be written, and returns the tables.
fn checked<'a>(w: &WorkingPlane, routing: &'a Routing, layer: u32) -> Result<&'a Routing, Refusal> {
    if layer >= routing.layers() {
        let why = format!("there is no layer {layer}");
        return Err(Refusal::new("layer", why, format!("0 to {}", routing.layers() - 1)));
    }
    let routes = w.hosts.len() * (w.hosts.len() - 1);
    if routes > MAX_ROUTES {
        let why = format!("a file of {routes} routes");
        let help = format!("at most {MAX_ROUTES}; routes=shortest leaves them to SimGrid");
        return Err(Refusal::new("routes", why, help));
    }
    Ok(routing)
}

/// A route for every pair of hosts, by the tables.
fn all_routes(
    text: &mut String,
    w: &WorkingPlane,
    routing: &Routing,
    layer: u32,
) -> Result<(), Refusal> {
    let most = w.switches.len();
    for from in &w.hosts {
        for to in w.hosts.iter().filter(|to| to.terminal != from.terminal) {
            let plug = w.t.terminals()[to.terminal.ix()].plug;
            let mut walk = routing.walk(layer, to.terminal, w.switches[from.at]);
            begin(text, w.host_name(from), w.host_name(to));
            step(text, &format!("terminal-{}", from.terminal), true);
            for hop in walk.by_ref().take(most) {
                if !w.t.link_is_up(hop.channel.link()) {
                    break;
                }
                step(text, &format!("link-{}", hop.channel.link()), hop.channel.is_forth());
            }
            let last = routing.tree(layer, to.terminal).port(walk.at().ix());
            if walk.at() != plug.switch || last != plug.port {
                return Err(lost(w, from, to));
            }
            step(text, &format!("terminal-{}", to.terminal), false);
            text.push_str("</route>\n");
        }
    }
    Ok(())
}

fn lost(w: &WorkingPlane, from: &WorkingHost, to: &WorkingHost) -> Refusal {
    let why = format!("the tables do not lead from {} to {}", w.host_name(from), w.host_name(to));
    Refusal::new("routes", why, "`flyloom verify` says more; routes=shortest needs no tables")
}

/// A route for each direction of every cable; `SimGrid` joins them to the shortest ones.
fn one_hop_routes(text: &mut String, w: &WorkingPlane) -> Result<(), Refusal> {
    w.check_no_parallel("without tables a pair has one; give a folder of `flyloom route -o`")?;
    let reached = w.reached();
    if let Some(host) = w.hosts.iter().find(|host| !reached[host.at]) {
        let why = format!("no path leads to {}", w.host_name(host));
        return Err(Refusal::new("network", why, "SimGrid ends where it finds no route"));
    }
    let mut both = |a: &str, z: &str, id: &str| {
        for (from, to, up) in [(a, z, true), (z, a, false)] {
            begin(text, from, to);
            step(text, id, up);
            text.push_str("</route>\n");
        }
    };
    for host in &w.hosts {
        both(w.host_name(host), w.switch_name(host.at), &format!("terminal-{}", host.terminal));
    }
    for &l in &w.links {
        let (a, b) = w.pair(l);
        both(w.switch_name(a), w.switch_name(b), &format!("link-{l}"));
    }
    Ok(())
}

fn begin(text: &mut String, from: &str, to: &str) {
    let (from, to) = (escape(from), escape(to));
    let _ = write!(text, "    <route src=\"{from}\" dst=\"{to}\" symmetrical=\"NO\">");
}

fn step(text: &mut String, id: &str, up: bool) {
    let direction = if up { "UP" } else { "DOWN" };
    let _ = write!(text, "<link_ctn id=\"{id}\" direction=\"{direction}\"/>");
}

/// `text` with the characters escaped that may not stand in an attribute.
fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}
