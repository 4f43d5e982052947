//! Mappings written.

use super::Format;
use super::names::host;
use base::Refusal;
use fabric::Topology;
use serde_json::json;
use std::fmt::Write;

/// The text of a mapping. `slots` has the endpoint of each slot in the order in which they are
/// filled without a mapping: Cray's format is about these.
///
/// # Errors
/// When hosts have one name, or the format cannot say the mapping.
pub fn write(
    on: &Topology,
    places: &[u32],
    slots: &[u32],
    format: Format,
) -> Result<String, Refusal> {
    let mut text = String::new();
    if format == Format::List {
        for e in places {
            let _ = writeln!(text, "{e}");
        }
        return Ok(text);
    }
    if format == Format::Cray {
        return cray(places, slots);
    }
    let name = |e: u32| host(&on.endpoints()[e as usize].name);
    check_names(on, places)?;
    if format != Format::Json {
        places.iter().try_for_each(|&e| check_host(name(e)))?;
    }
    match format {
        Format::Rankfile => {
            let mut taken = vec![0_u32; on.endpoints().len()];
            for (rank, &e) in places.iter().enumerate() {
                let slot = &mut taken[e as usize];
                let _ = writeln!(text, "rank {rank}={} slot={slot}", name(e));
                *slot += 1;
            }
        }
        Format::Json => {
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

/// One rule for all files of launchers: letters, digits, `_`, `.` and `-`, and neither `.` nor `-`
/// first. All else means something to one of them: slots, comments, ranges, options.
fn check_host(name: &str) -> Result<(), Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first = name.chars().next().is_some_and(plain);
    if first && name.chars().all(|c| plain(c) || c == '.' || c == '-') {
        return Ok(());
    }
    let why = format!("a launcher would not take {name:?} for the name of a host");
    let help = "letters, digits, _ . and -, a letter, digit or _ first; or list or json, which \
                have numbers";
    Err(Refusal::new("format", why, help))
}

fn check_names(on: &Topology, places: &[u32]) -> Result<(), Refusal> {
    let mut named: Vec<(&str, u32)> =
        places.iter().map(|&e| (host(&on.endpoints()[e as usize].name), e)).collect();
    named.sort_unstable();
    named.dedup();
    match named.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(()),
        Some(pair) => {
            let why =
                format!("endpoints {} and {} are both host {}", pair[0].1, pair[1].1, pair[0].0);
            Err(Refusal::new(
                "format",
                why,
                "list, or a fabric read with --adapters joined or first: one endpoint a host",
            ))
        }
    }
}
