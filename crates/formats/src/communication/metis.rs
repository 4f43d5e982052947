//! Graphs of METIS and Chaco: undirected, a line a vertex.
//!
//! Source: Karypis, METIS 5.1 manual, section 4.1.1.

use super::kind::{CommunicationFormat, CommunicationMatrixReader, MatrixEntries, one, processes};
use super::numbers::{amount, refuse, vertex, whole};
use base::Refusal;
use base::part::PartDescription;

pub(super) const ENTRY: CommunicationFormat = CommunicationFormat {
    part: PartDescription::new("metis", "vertices and edges first, then a line a vertex"),
    ends: &[".graph", ".metis", ".chaco"],
    rank: 40,
    is: |_| false,
    sure: true,
    looks: |text, _| looks(text),
    read: CommunicationMatrixReader::One(read),
    example: ("a.graph", EXAMPLE),
};

const EXAMPLE: &str = "% made 2026-01-01 by 12 of 34\n4 3 001\n2 5123\n1 5123 3 7123\n\
    2 7123 4 8123\n3 8123\n";

/// Lines that are no remarks; blank ones are vertices without neighbours.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| !line.starts_with('%'))
}

/// Whether the first line can be a head, and as many lines follow as it says.
pub(super) fn looks(text: &str) -> bool {
    let Some((_, head)) = lines(text).find(|(_, line)| !line.is_empty()) else { return false };
    let words: Vec<&str> = head.split_whitespace().collect();
    let numbers = words.iter().all(|word| word.bytes().all(|b| b.is_ascii_digit()));
    let count: Option<usize> = words.first().and_then(|word| word.parse().ok());
    (2..=4).contains(&words.len()) && numbers && count == Some(lines(text).count() - 1)
}

/// Reads the graph: the weight of an edge is sent in both directions.
pub(super) fn read(text: &str) -> Result<MatrixEntries, Refusal> {
    let mut rows = lines(text).skip_while(|(_, line)| line.is_empty());
    let Some((at, head)) = rows.next() else {
        return Err(refuse(1, "there is nothing in it", "vertices and edges in the first line"));
    };
    let mut words = head.split_whitespace();
    let count = processes(at, whole(at, "number of vertices", words.next())?, text)?;
    let edges = whole(at, "number of edges", words.next())?;
    let format = words.next().unwrap_or("0");
    let flags = format.trim_start_matches('0');
    if format.len() > 3 || !matches!(flags, "" | "1" | "10" | "11" | "100" | "101" | "110" | "111")
    {
        let known = "000 to 111: sizes, weights of vertices, weights of edges";
        return Err(refuse(at, &format!("'{format}' is no format of weights"), known));
    }
    let flag =
        |place: usize| flags.len() > place && flags.as_bytes()[flags.len() - 1 - place] == b'1';
    let (by_edge, by_vertex, sizes) = (flag(0), flag(1), flag(2));
    let of_vertex = match words.next() {
        Some(word) => whole(at, "number of weights", Some(word))?.min(64),
        None => u64::from(by_vertex),
    };
    let skipped = if by_vertex { of_vertex.max(1) } else { 0 } + u64::from(sizes);
    let (mut found, mut from, mut last) = (MatrixEntries::new(count), 0, at);
    for (line, row) in rows {
        if from == count {
            if row.is_empty() {
                continue;
            }
            let why = format!("more lines than {count} vertices");
            return Err(refuse(line, &why, "a line a vertex"));
        }
        last = line;
        let mut words = row.split_whitespace();
        for _ in 0..skipped {
            amount(line, "weight of a vertex", words.next())?;
        }
        while let Some(word) = words.next() {
            let to = vertex(line, "vertex", Some(word), 1, count)?;
            let weight = if by_edge { amount(line, "weight", words.next())? } else { 1.0 };
            found.add(line, one(from, to, weight));
        }
        from += 1;
    }
    if from < count || found.entries.len() as u64 != edges.saturating_mul(2) {
        let why = format!("{from} vertices and {} ends of edges", found.entries.len());
        let help = format!("{count} lines and each of {edges} edges in two of them");
        return Err(refuse(last, &why, &help));
    }
    Ok(found)
}
