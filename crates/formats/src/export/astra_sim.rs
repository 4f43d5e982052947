//! Networks for ASTRA-sim's analytical back end: dimensions that are rings, complete or a switch.
//!
//! Source: ASTRA-sim 2.0, input files of the analytical network: `topology`, `npus_count`,
//! `bandwidth` (GB/s, of a link in a direction, of 2^30 bytes: `bw_GBps_to_Bpns`) and `latency`
//! (ns, of a link) have an entry for each dimension, and NPUs are numbered along the first
//! dimension first.

use super::kind::{ExportFormatEntry, ExportInput, asked, quantity};
use super::working::{RailSupport, WorkingPlane};
use base::part::PartDescription;
use base::{LinkId, Refusal};
use fabric::geometry::{GridRowLinks, PlaneStructure};
use fabric::network::Cable;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write;

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new("astra-sim", "network of ASTRA-sim's analytical back end (YAML)")
        .takes::<AstraSimExportOptions>(),
    "rings, complete networks, grids of these with one endpoint a switch; one switch",
    write,
);

#[derive(Default, Deserialize, JsonSchema)]
#[schemars(rename = "Options")]
#[serde(deny_unknown_fields, default)]
struct AstraSimExportOptions {
    /// time through a switch, ns; default 0
    switch_latency_ns: f64,
    /// which plane to write, from 0; of a network of several
    plane: Option<u16>,
}

struct AstraDimension {
    kind: &'static str,
    npus: usize,
    gbps: f64,
    ns: f64,
}

/// What ASTRA-sim takes a gigabyte for, in bits.
const BITS_OF_A_GB: f64 = 8.0 * (1_u64 << 30) as f64;

const NETWORKS: &str = "ASTRA-sim has rings, complete networks, grids of these with one endpoint a \
                        switch, and a switch";

/// The file: NPU `i` is the `i`-th endpoint. The latency of a dimension is that of its longest
/// cable. O(network).
///
/// # Errors
/// When the format cannot hold the network, its endpoints are not numbered along its dimensions, or
/// the cables of a dimension have different rates.
pub(super) fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: AstraSimExportOptions = asked(options)?;
    let through_ns = quantity("switch_latency_ns", options.switch_latency_ns, 0.0)?;
    let w = WorkingPlane::of(source.network, options.plane, RailSupport::One)?;
    w.check_hosts()?;
    if w.hosts.len() < 2 {
        return Err(Refusal::new("endpoints", "there is one", "a network has two or more"));
    }
    w.check_no_parallel(NETWORKS)?;
    let dimensions = if w.switches.len() == 1 {
        let cables = w.hosts.iter().map(|h| &w.t.terminals()[h.terminal.ix()].cable);
        // a message takes two of these links, and the switch once
        vec![dimension("Switch", w.hosts.len(), cables, through_ns / 2.0)?]
    } else {
        grid(&w, through_ns)?
    };
    let list = |entry: &dyn Fn(&AstraDimension) -> String| {
        let entries: Vec<String> = dimensions.iter().map(entry).collect();
        entries.join(", ")
    };
    let mut text = w.remarks("# ");
    let _ = writeln!(text, "topology: [ {} ]", list(&|d| d.kind.to_owned()));
    let _ = writeln!(text, "npus_count: [ {} ]", list(&|d| d.npus.to_string()));
    let rates = list(&|d| format!("{:?}", d.gbps * 1e9 / BITS_OF_A_GB));
    let _ = writeln!(text, "bandwidth: [ {rates} ]  # GB/s, of 2^30 bytes");
    let _ = writeln!(text, "latency: [ {} ]  # ns", list(&|d| format!("{:?}", d.ns)));
    Ok(text)
}

/// One dimension with these cables.
fn dimension<'a>(
    kind: &'static str,
    npus: usize,
    cables: impl Iterator<Item = &'a Cable>,
    through_ns: f64,
) -> Result<AstraDimension, Refusal> {
    let mut found: Option<(f64, f64)> = None;
    for cable in cables {
        let (gbps, ns) = (cable.rate_gbps(), cable.latency().ns());
        let (known, longest) = *found.get_or_insert((gbps, ns));
        if (known - gbps).abs() > 1e-9 {
            let why = format!("cables of {known} and {gbps} Gbit/s in one dimension");
            return Err(Refusal::new("rate", why, "they must have one rate"));
        }
        found = Some((known, longest.max(ns)));
    }
    let (gbps, ns) = found.unwrap_or((0.0, 0.0));
    Ok(AstraDimension { kind, npus, gbps, ns: ns + through_ns })
}

fn refused(why: impl Into<String>) -> Refusal {
    Refusal::new("network", why, NETWORKS)
}

/// The dimensions of a grid, first the one along which endpoints are numbered first.
fn grid(w: &WorkingPlane, through_ns: f64) -> Result<Vec<AstraDimension>, Refusal> {
    if w.hosts.len() != w.switches.len() || !w.hosts.iter().enumerate().all(|(n, h)| h.at == n) {
        let why = "not every switch has one endpoint, in the order of the switches";
        return Err(refused(why));
    }
    let places = coordinates(w)?;
    let sizes: Vec<usize> = (0..places[0].len())
        .map(|d| 1 + places.iter().map(|place| place[d]).max().unwrap_or(0) as usize)
        .collect();
    // the last coordinate runs fastest
    let number = |place: &[u32]| {
        place.iter().zip(&sizes).fold(0, |n: usize, (c, size)| n * size + *c as usize)
    };
    if !places.iter().enumerate().all(|(n, place)| number(place) == n) {
        return Err(refused("the endpoints are not numbered along a grid"));
    }
    let mut links: HashMap<usize, Vec<LinkId>> = HashMap::new();
    for &l in &w.links {
        let (a, b) = w.pair(l);
        let mut apart = (0..sizes.len()).filter(|d| places[a][*d] != places[b][*d]);
        let (Some(d), None) = (apart.next(), apart.next()) else {
            let (a, b) = (w.switch_name(a), w.switch_name(b));
            return Err(refused(format!("the link from {a} to {b} leads across the grid")));
        };
        links.entry(d).or_default().push(l);
    }
    let mut found = Vec::new();
    for d in (0..sizes.len()).rev().filter(|d| sizes[*d] > 1) {
        let mine = links.remove(&d).unwrap_or_default();
        let kind = kind(w, &places, d, sizes[d], &mine)?;
        let cables = mine.iter().map(|l| &w.t.links()[l.ix()].cable);
        found.push(dimension(kind, sizes[d], cables, through_ns)?);
    }
    Ok(found)
}

/// The place of every switch: its coordinates, or its number where it has none.
fn coordinates(w: &WorkingPlane) -> Result<Vec<Vec<u32>>, Refusal> {
    // coordinates before those of a plane's own number the plane
    let skip = w.t.geometry().planes;
    let own = |n: usize| &w.t.switches()[w.switches[n].ix()].coordinates[..];
    let places: Vec<Vec<u32>> = (0..w.switches.len())
        .map(|n| match own(n).get(skip..) {
            None | Some([]) => vec![n as u32],
            Some(place) => place.to_vec(),
        })
        .collect();
    if places.iter().any(|place| place.len() != places[0].len()) {
        return Err(refused("its switches have no common coordinates"));
    }
    Ok(places)
}

/// What the rows of one dimension are, which have `links` in all, none of them parallel.
fn kind(
    w: &WorkingPlane,
    places: &[Vec<u32>],
    d: usize,
    size: usize,
    links: &[LinkId],
) -> Result<&'static str, Refusal> {
    let rows = places.len() / size;
    let near = |l: &LinkId| {
        let (a, b) = w.pair(*l);
        let apart = places[a][d].abs_diff(places[b][d]) as usize;
        apart == 1 || apart == size - 1
    };
    let is_ring = size > 2 && links.len() == rows * size && links.iter().all(near);
    let is_complete = links.len() == rows * size * (size - 1) / 2;
    let prefers_ring = w.t.geometry().form == PlaneStructure::Grid(GridRowLinks::Ring);
    match (is_ring, is_complete) {
        (true, true) if prefers_ring => Ok("Ring"), // three in a ring are both
        (_, true) => Ok("FullyConnected"),
        (true, false) => Ok("Ring"),
        (false, false) => Err(refused(format!(
            "its rows of {size} switches are neither rings nor complete: {} links in {rows}",
            links.len()
        ))),
    }
}
