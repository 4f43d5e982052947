//! Graphs of Scotch, `.grf`.
//!
//! Source: Pellegrini, "Scotch and libScotch 7.0 user's guide", section 5.1.

use super::kind::{CommunicationFormat, CommunicationMatrixReader, MatrixEntries, one, processes};
use super::numbers::{amount, lines, refuse, vertex, whole};
use base::Refusal;
use base::part::PartDescription;

pub(super) const ENTRY: CommunicationFormat = CommunicationFormat {
    part: PartDescription::new("scotch", "0 first, then vertices and arcs, then a line a vertex"),
    ends: &[".grf", ".src"],
    rank: 20,
    is: |_| false,
    sure: true,
    looks: |text, named| !named && looks(text),
    read: CommunicationMatrixReader::One(read),
    example: ("a.grf", EXAMPLE),
};

const EXAMPLE: &str = "0\n4 6\n0 010\n1 5123 1\n2 5123 0 7123 2\n2 7123 1 8123 3\n1 8123 2\n";

/// Whether the text begins with the line of the version.
pub(super) fn looks(text: &str) -> bool {
    let mut rows = lines(text, &['#']);
    let first = rows.next().is_some_and(|(_, line)| line == "0");
    first && rows.next().is_some_and(|(_, line)| line.split_whitespace().count() == 2)
}

/// Reads the graph: the weight of an arc is sent along it.
pub(super) fn read(text: &str) -> Result<MatrixEntries, Refusal> {
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
    let count = processes(at, whole(at, "number of vertices", word)?, text)?;
    let (at, word) = next();
    let arcs = whole(at, "number of arcs", word)?;
    let (at, word) = next();
    let base = whole(at, "first number", word)?;
    if base > 1 {
        return Err(refuse(at, &format!("vertices from {base} on"), "0 or 1"));
    }
    let (at, flags) = next();
    // a number for Scotch: each of its decimal digits is a flag where it is not 0
    let digits = whole(at, "flags of what is there", flags)?;
    if digits > 111 {
        return Err(refuse(at, &format!("{digits} are no flags"), "000 to 111"));
    }
    let flag = |place: u32| !(digits / 10_u64.pow(place)).is_multiple_of(10);
    let (labels, by_edge, by_vertex) = (flag(2), flag(1), flag(0));
    let mut found = MatrixEntries::new(count);
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
            let to = vertex(at, "vertex", word, base, count)?;
            found.add(at, one(from, to, weight));
        }
    }
    let (at, more) = next();
    if more.is_some() || found.entries.len() as u64 != arcs {
        let why = format!("{} arcs where {arcs} were said", found.entries.len());
        let why =
            if more.is_some() { "more than the vertices that were said".to_owned() } else { why };
        return Err(refuse(at, &why, "as the second line says"));
    }
    Ok(found)
}
