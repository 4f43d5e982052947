//! Matrix Market: row = sender, column = receiver, value = bytes.
//!
//! Source: Boisvert, Pozo, Remington, "The Matrix Market exchange formats: initial design", NISTIR
//! 5935, 1996.

use super::numbers::{amount, refuse, vertex, whole};
use super::{graph, one, processes};
use base::Refusal;
use std::fmt::{self, Write};
use traffic::communication::{Communication, Sent};

struct Head {
    dense: bool,
    pattern: bool,
    symmetric: bool,
}

const HEAD: &str = "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric";

fn head(text: &str) -> Result<Head, Refusal> {
    let line = text.lines().next().unwrap_or_default();
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["%%matrixmarket", "matrix", layout, field, symmetry] = *words else {
        return Err(refuse(1, "no head of a Matrix Market file", HEAD));
    };
    let known = matches!(layout, "coordinate" | "array")
        && matches!(field, "real" | "integer" | "pattern")
        && matches!(symmetry, "general" | "symmetric")
        && !(layout == "array" && field == "pattern");
    if !known {
        return Err(refuse(1, &format!("{layout} {field} {symmetry} is not read"), HEAD));
    }
    let (dense, pattern) = (layout == "array", field == "pattern");
    Ok(Head { dense, pattern, symmetric: symmetry == "symmetric" })
}

/// Reads a square matrix; of a pattern every entry is 1 byte.
pub(super) fn read(text: &str) -> Result<Communication, Refusal> {
    let head = head(text)?;
    let mut lines = super::numbers::lines(text, &['%']);
    let Some((at, sizes)) = lines.next() else {
        return Err(refuse(1, "nothing after the head", "rows, columns and entries"));
    };
    let mut words = sizes.split_whitespace();
    let rows = whole(at, "number of rows", words.next())?;
    let columns = whole(at, "number of columns", words.next())?;
    if rows != columns {
        let why = format!("{rows} rows and {columns} columns");
        return Err(refuse(at, &why, "a square matrix: a row and a column a process"));
    }
    let count = processes(at, rows)?;
    if head.dense {
        return array(&head, count, lines);
    }
    let entries = whole(at, "number of entries", words.next())?;
    let mut found: Vec<(usize, Sent)> = Vec::new();
    let mut last = at;
    for (line, text) in lines {
        last = line;
        let mut words = text.split_whitespace();
        let from = vertex(line, "row", words.next(), 1, count)?;
        let to = vertex(line, "column", words.next(), 1, count)?;
        let bytes = if head.pattern { 1.0 } else { amount(line, "value", words.next())? };
        if let Some(more) = words.next() {
            return Err(refuse(line, &format!("'{more}' after the entry"), "the end of the line"));
        }
        if head.symmetric && to > from {
            return Err(refuse(line, "an entry above the diagonal", "the lower half alone"));
        }
        found.push((line, one(from, to, bytes)));
        if head.symmetric && from != to {
            found.push((line, one(to, from, bytes)));
        }
        if found.len() as u64 > 2 * entries {
            break;
        }
    }
    let lines_of = |of: &[(usize, Sent)]| {
        if head.symmetric { of.iter().filter(|(_, s)| s.to <= s.from).count() } else { of.len() }
    };
    if lines_of(&found) as u64 != entries {
        let why = format!("{} entries where {entries} were said", lines_of(&found));
        return Err(refuse(last, &why, "as many as the line of sizes says"));
    }
    graph(count, found)
}

/// A dense matrix, column after column; of a symmetric one the lower half.
fn array<'a>(
    head: &Head,
    count: u32,
    lines: impl Iterator<Item = (usize, &'a str)>,
) -> Result<Communication, Refusal> {
    let places = (0..count).flat_map(|column| {
        let from = if head.symmetric { column } else { 0 };
        (from..count).map(move |row| (row, column))
    });
    let mut values = lines.flat_map(|(at, text)| text.split_whitespace().map(move |w| (at, w)));
    let (mut found, mut last) = (Vec::new(), 1);
    for (row, column) in places {
        let Some((at, word)) = values.next() else {
            return Err(refuse(last, "values are missing", "one for every row and column"));
        };
        last = at;
        let bytes = amount(at, "value", Some(word))?;
        if bytes > 0.0 {
            found.push((at, one(row, column, bytes)));
            if head.symmetric && row != column {
                found.push((at, one(column, row, bytes)));
            }
        }
    }
    match values.next() {
        Some((at, _)) => Err(refuse(at, "more values than the matrix has", "rows times columns")),
        None => graph(count, found),
    }
}

/// A graph as Matrix Market: coordinate, real, general.
///
/// # Errors
/// Those of `to`.
pub fn write(graph: &Communication, to: &mut impl Write) -> fmt::Result {
    writeln!(to, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(to, "% bytes sent by process row-1 to process column-1")?;
    writeln!(to, "{0} {0} {1}", graph.processes(), graph.pairs())?;
    for one in graph.sent() {
        writeln!(to, "{} {} {}", one.from + 1, one.to + 1, one.bytes)?;
    }
    Ok(())
}
