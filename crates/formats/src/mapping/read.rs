//! Reads mappings in the formats of launchers and batch systems.

use super::names::{EndpointNameIndex, add, said_lines};
use super::{MappingFormat, NUMBERS};
use base::Refusal;
use fabric::Topology;
use serde_json::Value;

/// The endpoint of each process. Without a format the text says which it is: JSON, a rank file, a
/// rank order by its first line, or names and numbers of endpoints in the order of the ranks.
///
/// `slots` has the endpoint of each slot in the order in which they are filled without a mapping.
///
/// # Errors
/// When a line is not of the format, an endpoint is not in the network, or a rank is missing or
/// comes twice: with the line.
pub fn read(
    on: &Topology,
    text: &str,
    slots: &[u32],
    format: Option<MappingFormat>,
) -> Result<Vec<u32>, Refusal> {
    let text = text.trim_start_matches('\u{feff}');
    let begins = text.trim_start();
    let by_content = if begins.starts_with('{') {
        MappingFormat::Json
    } else if begins.lines().any(|line| line.starts_with("rank ")) {
        MappingFormat::Rankfile
    } else if begins.starts_with("# MPICH_RANK_ORDER") {
        MappingFormat::Cray
    } else {
        MappingFormat::List
    };
    let places = match format.unwrap_or(by_content) {
        MappingFormat::Json => json(on, text),
        MappingFormat::Rankfile => rankfile(on, text),
        MappingFormat::Cray => cray(text, slots),
        MappingFormat::List | MappingFormat::Hydra | MappingFormat::Slurm | MappingFormat::Pbs => {
            list(on, text)
        }
    }?;
    check_rails(on, &places)?;
    Ok(places)
}

/// Refuses endpoints without a working rail.
fn check_rails(on: &Topology, places: &[u32]) -> Result<(), Refusal> {
    let mut works = vec![false; on.endpoints().len()];
    for (i, terminal) in (0..).zip(on.terminals()) {
        works[terminal.endpoint.ix()] |= on.terminal_is_up(base::TerminalId(i));
    }
    let bad = (0..).zip(places).find(|(_, e)| !works[**e as usize]);
    bad.map_or(Ok(()), |(process, e): (u32, _)| {
        let name = &on.endpoints()[*e as usize].name;
        let why = format!("process {process} is on {name}, which has no rail that works");
        Err(Refusal::new("", why, "endpoints that are reached"))
    })
}

fn refuse(line: usize, why: impl Into<String>, help: &str) -> Refusal {
    Refusal::new(format!("line {line}"), why, help)
}

/// Names and numbers in the order of the ranks; `host:2` is two ranks.
fn list(on: &Topology, text: &str) -> Result<Vec<u32>, Refusal> {
    let mut names = EndpointNameIndex::new(on);
    let mut found = Vec::new();
    let are_numbers = text.trim_start().starts_with(NUMBERS);
    for (line, said) in said_lines(text) {
        if are_numbers {
            found.push(names.find_number(line, said)?);
            continue;
        }
        if names.is_whole(line, said)? {
            found.push(names.find(line, said)?);
            continue;
        }
        for word in said.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()) {
            let counted =
                word.rsplit_once(':').and_then(|(w, n)| Some((w, n.parse::<u32>().ok()?)));
            let (word, count) = counted.unwrap_or((word, 1));
            if !(1..=1 << 20).contains(&count) {
                return Err(refuse(line, format!("{count} ranks on one host"), "1 to 1048576"));
            }
            add(&mut found, line, count, || names.find(line, word))?;
        }
    }
    Ok(found)
}

/// Reads a rank file: lines `rank N=HOST slot=...`.
fn rankfile(on: &Topology, text: &str) -> Result<Vec<u32>, Refusal> {
    const FORM: &str = "lines 'rank N=HOST slot=CORES'";
    let mut names = EndpointNameIndex::new(on);
    let mut found: Vec<(u32, u32, usize)> = Vec::new();
    for (line, said) in said_lines(text) {
        let rest = said.strip_prefix("rank ").ok_or_else(|| refuse(line, "no rank", FORM))?;
        let (rank, host) = rest.split_once('=').ok_or_else(|| refuse(line, "no host", FORM))?;
        let rank: u32 =
            rank.trim().parse().map_err(|_| refuse(line, format!("{rank:?} is no rank"), FORM))?;
        let (host, slot) = host.split_once(" slot").unwrap_or((host, ""));
        let host = host.trim();
        names.is_whole(line, host)?;
        let slot = slot.trim_start_matches(|c: char| c != '=').trim_start_matches('=').trim();
        let e = match slot.parse::<usize>() {
            Ok(slot) => names.find_at(line, host, slot)?,
            Err(_) => names.find(line, host)?,
        };
        found.push((rank, e, line));
    }
    found.sort_unstable();
    for (expected, (rank, _, line)) in (0..).zip(&found) {
        if *rank != expected {
            let why = if *rank < expected {
                format!("rank {rank} comes twice")
            } else {
                format!("rank {expected} is missing")
            };
            return Err(refuse(*line, why, "every rank from 0 once"));
        }
    }
    Ok(found.into_iter().map(|(_, e, _)| e).collect())
}

/// Reads a rank order: ranks in the order of the slots.
fn cray(text: &str, slots: &[u32]) -> Result<Vec<u32>, Refusal> {
    let mut order: Vec<(u32, usize)> = Vec::new();
    for (line, said) in said_lines(text) {
        for word in said.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()) {
            let (from, to) = word.split_once('-').unwrap_or((word, word));
            let rank =
                |text: &str| text.parse::<u32>().ok().filter(|&n| (n as usize) < slots.len());
            let (Some(from), Some(to)) = (rank(from), rank(to)) else {
                let short: String = word.chars().take(40).collect();
                let help = "ranks below the number of slots, with commas between them";
                return Err(refuse(line, format!("{short:?} is no rank"), help));
            };
            order.extend((from..=to).map(|rank| (rank, line)));
            if order.len() > slots.len() {
                return Err(refuse(line, "more ranks than slots", "every rank once"));
            }
        }
    }
    let mut places = vec![u32::MAX; order.len()];
    for (&(rank, line), &e) in order.iter().zip(slots) {
        match places.get_mut(rank as usize) {
            Some(place) if *place == u32::MAX => *place = e,
            Some(_) => return Err(refuse(line, format!("rank {rank} comes twice"), "each once")),
            None => {
                let why = format!("rank {rank} of {} ranks", order.len());
                return Err(refuse(line, why, "every rank from 0 once"));
            }
        }
    }
    Ok(places)
}

/// Reads JSON: the numbers under `mapping`.
fn json(on: &Topology, text: &str) -> Result<Vec<u32>, Refusal> {
    let parsed: Value = serde_json::from_str(text).map_err(|e| {
        Refusal::new(format!("line {}", e.line()), "no JSON", "an object with `mapping`")
    })?;
    let none = || Refusal::new("mapping", "there is no list of it", "numbers of endpoints");
    let all = parsed.get("mapping").and_then(Value::as_array).ok_or_else(none)?;
    let count = on.endpoints().len();
    let mut found = Vec::with_capacity(all.len());
    for (rank, value) in all.iter().enumerate() {
        let e = value.as_u64().filter(|&e| e < count as u64).ok_or_else(|| {
            let why = format!("{value} of process {rank} is no endpoint");
            Refusal::new("mapping", why, format!("0 to {}", count.max(1) - 1))
        })?;
        found.push(e as u32);
    }
    Ok(found)
}
