//! Graphs of Scotch, `.grf`.
//!
//! Source: Pellegrini, "Scotch and libScotch 7.0 user's guide", section 5.1.

use super::numbers::{amount, lines, refuse, vertex, whole};
use super::{graph, one, processes};
use base::Refusal;
use traffic::communication::Communication;

/// Whether it begins with the line of the version.
pub(super) fn looks(text: &str) -> bool {
    let mut rows = lines(text, &['#']);
    let first = rows.next().is_some_and(|(_, line)| line == "0");
    first && rows.next().is_some_and(|(_, line)| line.split_whitespace().count() == 2)
}

/// Reads the graph: the weight of an arc is sent along it.
pub(super) fn read(text: &str) -> Result<Communication, Refusal> {
    let mut words =
        lines(text, &['#']).flat_map(|(at, line)| line.split_whitespace().map(move |w| (at, w)));
    let mut last = 1;
    let mut next = || {
        let word = words.next();
        last = word.map_or(last, |(at, _)| at);
        (last, word.map(|(_, word)| word))
    };
    let (at, version) = next();
    if version != Some("0") {
        return Err(refuse(at, "no version of Scotch's graphs that is known", "0"));
    }
    let (at, word) = next();
    let count = processes(at, whole(at, "number of vertices", word)?)?;
    let (at, word) = next();
    let arcs = whole(at, "number of arcs", word)?;
    let (at, word) = next();
    let base = whole(at, "first number", word)?;
    if base > 1 {
        return Err(refuse(at, &format!("vertices from {base} on"), "0 or 1"));
    }
    let (at, flags) = next();
    let flags = flags.unwrap_or_default();
    if flags.len() != 3 || !flags.bytes().all(|b| matches!(b, b'0' | b'1')) {
        return Err(refuse(
            at,
            &format!("'{}' are no flags", flags.chars().take(9).collect::<String>()),
            "000 to 111",
        ));
    }
    let flag = |place: usize| flags.as_bytes()[place] == b'1';
    let (labels, by_edge, by_vertex) = (flag(0), flag(1), flag(2));
    let mut found = Vec::new();
    for from in 0..count {
        for _ in 0..u32::from(labels) + u32::from(by_vertex) {
            let (at, word) = next();
            amount(at, "label or weight", word)?;
        }
        let (at, word) = next();
        let degree = whole(at, "degree", word)?;
        for _ in 0..degree {
            let (at, word) = next();
            let weight = if by_edge { amount(at, "weight", word)? } else { 1.0 };
            let (at, word) = if by_edge { next() } else { (at, word) };
            found.push((at, one(from, vertex(at, "vertex", word, base, count)?, weight)));
        }
    }
    let (at, more) = next();
    if more.is_some() || found.len() as u64 != arcs {
        let why = format!("{} arcs where {arcs} were said", found.len());
        let why =
            if more.is_some() { "more than the vertices that were said".to_owned() } else { why };
        return Err(refuse(at, &why, "as the second line says"));
    }
    graph(count, found)
}
