//! Writes mappings in the formats of launchers and batch systems.

use super::names::EndpointNameIndex;
use super::{MappingFormat, NUMBERS};
use crate::hosts::{self, host};
use base::Refusal;
use fabric::Topology;
use serde_json::json;
use std::collections::HashMap;
use std::fmt::Write;

/// The text of a mapping. `slots` has the endpoint of each slot in the order in which they are
/// filled without a mapping, which Cray's format refers to.
///
/// # Errors
/// When hosts have one name, or the format cannot hold the mapping.
pub fn write(
    on: &Topology,
    places: &[u32],
    slots: &[u32],
    format: MappingFormat,
) -> Result<String, Refusal> {
    let mut text = String::new();
    let names = EndpointNameIndex::new(on);
    if format == MappingFormat::List {
        if places.iter().any(|e| !names.is_number(*e)) {
            let _ = writeln!(text, "{NUMBERS}");
        }
        for e in places {
            let _ = writeln!(text, "{e}");
        }
        return Ok(text);
    }
    if format == MappingFormat::Cray {
        return cray(places, slots);
    }
    let name = |e: u32| host(&on.endpoints()[e as usize].name);
    let known = places_of(on, &names, places, format)?;
    match format {
        MappingFormat::Rankfile => {
            let mut taken = vec![0; on.endpoints().len()];
            for (rank, &e) in places.iter().enumerate() {
                // each adapter of a host has slots of its own, by which a launcher finds it
                let (own, all) = known[&e];
                let slot = own + all * taken[e as usize];
                let _ = writeln!(text, "rank {rank}={} slot={slot}", name(e));
                taken[e as usize] += 1;
            }
        }
        MappingFormat::Json => {
            let hosts: Vec<&str> = places.iter().map(|&e| name(e)).collect();
            let _ = writeln!(text, "{}", json!({ "mapping": places, "hosts": hosts }));
        }
        _ => {
            for &e in places {
                let _ = writeln!(text, "{}", name(e));
            }
        }
    }
    Ok(text)
}

/// Ranks in the order of the slots; a slot before a used one must be used.
fn cray(places: &[u32], slots: &[u32]) -> Result<String, Refusal> {
    let endpoints = slots.iter().max().map_or(0, |most| *most as usize + 1);
    let mut on_endpoint: Vec<Vec<usize>> = vec![Vec::new(); endpoints];
    for (rank, &e) in places.iter().enumerate().rev() {
        on_endpoint.get_mut(e as usize).map(|own| own.push(rank)).ok_or_else(no_order)?;
    }
    let mut order = Vec::new();
    for &e in slots.iter().take(places.len()) {
        order.push(on_endpoint[e as usize].pop().ok_or_else(no_order)?);
    }
    let lines: Vec<String> = order
        .chunks(16)
        .map(|row| row.iter().map(usize::to_string).collect::<Vec<_>>().join(","))
        .collect();
    Ok(format!("# MPICH_RANK_ORDER: ranks in the order of the slots\n{}\n", lines.join(",\n")))
}

fn no_order() -> Refusal {
    let help = "as many hosts as are needed, or another format";
    Refusal::new("format", "cray: slots that stay empty cannot be said as an order of ranks", help)
}

/// For every endpoint in use: which of its host's adapters it is, and how many the host has.
///
/// # Errors
/// When a launcher would not take a host's name, or it is the name of several endpoints that are no
/// adapters of one host: numbers say either.
fn places_of(
    on: &Topology,
    names: &EndpointNameIndex,
    places: &[u32],
    format: MappingFormat,
) -> Result<HashMap<u32, (usize, usize)>, Refusal> {
    let mut known = HashMap::new();
    let mut by_host: HashMap<&str, u32> = HashMap::new();
    for &e in places {
        if known.contains_key(&e) {
            continue;
        }
        let name = host(&on.endpoints()[e as usize].name);
        if let Some(why) = hosts::fault(name).filter(|_| format != MappingFormat::Json) {
            let why = format!("a launcher would not take {name:?} for the name of a host: {why}");
            let help = format!("{}; or list or json, which have numbers", hosts::NAMES);
            return Err(Refusal::new("format", why, help));
        }
        let place = names.place(e);
        let other = *by_host.entry(name).or_insert(e);
        if let (None, true) = (place, other != e || format != MappingFormat::Json) {
            let why = if other == e {
                format!("the name {name} of endpoint {e} is the name of another, too")
            } else {
                format!("endpoints {other} and {e} are both host {name}")
            };
            let help = "list, or a fabric read with --adapters joined or first: one endpoint a \
                        host";
            return Err(Refusal::new("format", why, help));
        }
        known.insert(e, place.unwrap_or((0, 1)));
    }
    Ok(known)
}
