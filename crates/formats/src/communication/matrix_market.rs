//! Matrix Market: row = sender, column = receiver, value = bytes.
//!
//! Source: Boisvert, Pozo, Remington, "The Matrix Market exchange formats: initial design", NISTIR
//! 5935, 1996.

use super::kind::{
    BYTES, CommunicationFormat, CommunicationMatrixReader, MatrixEntries, one, processes,
};
use super::numbers::{refuse, value, vertex, whole};
use base::Refusal;
use base::part::PartDescription;
use std::fmt::{self, Write};
use traffic::communication::CommunicationGraph;

pub(super) const ENTRY: CommunicationFormat = CommunicationFormat {
    part: PartDescription::new("matrix-market", "%%MatrixMarket in the first line"),
    ends: &[".mtx"],
    rank: 0,
    is: |text| text.starts_with("%%MatrixMarket"),
    sure: true,
    looks: |_, _| false,
    read: CommunicationMatrixReader::One(read),
    example: ("a.mtx", EXAMPLE),
};

const EXAMPLE: &str = "\
    %%MatrixMarket matrix coordinate real general\n% made 2026-01-01 by 12 of 34\n\
    9 9 5\n1 2 512.125\n2 3 71234.5\n9 1 -3.25\n4 4 1e12\n5 6 0.001234\n";

/// The symmetry of a matrix: how an entry is mirrored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatrixSymmetry {
    General,
    Symmetric,
    /// The mirrored entry has the other sign, the diagonal is zero and not there.
    Skew,
    Hermitian,
}

/// The header of a Matrix Market file: what its entries are.
struct MatrixHeader {
    dense: bool,
    pattern: bool,
    complex: bool,
    symmetry: MatrixSymmetry,
}

const HEAD: &str = "%%MatrixMarket matrix coordinate|array real|integer|complex|pattern \
                    general|symmetric|skew-symmetric|hermitian";

fn head(text: &str) -> Result<MatrixHeader, Refusal> {
    let line = text.lines().next().unwrap_or_default();
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["%%matrixmarket", "matrix", layout, field, symmetry] = *words else {
        return Err(refuse(1, "no head of a matrix of Matrix Market", HEAD));
    };
    let mirrors = match symmetry {
        "general" => Some(MatrixSymmetry::General),
        "symmetric" => Some(MatrixSymmetry::Symmetric),
        "skew-symmetric" if field != "pattern" => Some(MatrixSymmetry::Skew),
        "hermitian" if field == "complex" => Some(MatrixSymmetry::Hermitian),
        _ => None,
    };
    let fields = ["real", "double", "integer", "unsigned-integer", "complex", "pattern"];
    let known = matches!(layout, "coordinate" | "array")
        && fields.contains(&field)
        && !(layout == "array" && field == "pattern");
    match mirrors {
        Some(symmetry) if known => Ok(MatrixHeader {
            dense: layout == "array",
            pattern: field == "pattern",
            complex: field == "complex",
            symmetry,
        }),
        _ => Err(refuse(1, &format!("there is no matrix {layout} {field} {symmetry}"), HEAD)),
    }
}

impl MatrixHeader {
    /// The value of an entry; 1 where the file is a pattern.
    fn value<'a>(
        &self,
        line: usize,
        mut next: impl FnMut() -> Option<&'a str>,
    ) -> Result<f64, Refusal> {
        if self.pattern {
            return Ok(1.0);
        }
        let real = value(line, next())?;
        if !self.complex {
            return Ok(real);
        }
        let imaginary = value(line, next())?;
        Ok(if imaginary == 0.0 { real } else { imaginary })
    }

    /// Adds an entry, and the mirrored one where the matrix is symmetric.
    fn add(&self, found: &mut MatrixEntries, line: usize, (row, column): (u32, u32), value: f64) {
        found.add(line, one(row, column, value));
        if self.symmetry != MatrixSymmetry::General && row != column {
            let sign = if self.symmetry == MatrixSymmetry::Skew { -1.0 } else { 1.0 };
            found.add(line, one(column, row, sign * value));
        }
    }
}

/// Reads a square matrix; of a pattern every entry is 1 byte.
pub(super) fn read(text: &str) -> Result<MatrixEntries, Refusal> {
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
    let mut found = MatrixEntries::new(processes(at, rows, text)?);
    if head.complex {
        found.unfit(|| refuse(1, "complex numbers are no numbers of bytes", BYTES));
    }
    if head.dense {
        array(&head, &mut found, lines)?;
        return Ok(found);
    }
    let entries = whole(at, "number of entries", words.next())?;
    let (mut last, mut seen) = (at, 0);
    for (line, text) in lines {
        last = line;
        seen += 1;
        if seen > entries {
            break;
        }
        let mut words = text.split_whitespace();
        let from = vertex(line, "row", words.next(), 1, found.processes)?;
        let to = vertex(line, "column", words.next(), 1, found.processes)?;
        let amount = head.value(line, || words.next())?;
        if let Some(more) = words.next() {
            return Err(refuse(line, &format!("'{more}' after the entry"), "the end of the line"));
        }
        if head.symmetry != MatrixSymmetry::General && to > from {
            return Err(refuse(line, "an entry above the diagonal", "the lower half alone"));
        }
        if head.symmetry == MatrixSymmetry::Skew && to == from {
            return Err(refuse(line, "an entry of the diagonal", "what is below it: it is zero"));
        }
        head.add(&mut found, line, (from, to), amount);
    }
    if seen != entries {
        let more = if seen > entries { "more" } else { "fewer" };
        let why = format!("{more} entries than the {entries} that were said");
        return Err(refuse(last, &why, "as many as the line of sizes says"));
    }
    Ok(found)
}

/// Reads a dense matrix, column after column; of a symmetric one the lower half.
fn array<'a>(
    head: &MatrixHeader,
    found: &mut MatrixEntries,
    lines: impl Iterator<Item = (usize, &'a str)>,
) -> Result<(), Refusal> {
    let count = found.processes;
    let first = |column: u32| match head.symmetry {
        MatrixSymmetry::General => 0,
        MatrixSymmetry::Symmetric | MatrixSymmetry::Hermitian => column,
        MatrixSymmetry::Skew => column + 1,
    };
    let places = (0..count).flat_map(|column| (first(column)..count).map(move |row| (row, column)));
    let mut values = lines.flat_map(|(at, text)| text.split_whitespace().map(move |w| (at, w)));
    let mut last = 1;
    for (row, column) in places {
        let Some((at, word)) = values.next() else {
            return Err(refuse(last, "values are missing", "one for every row and column"));
        };
        last = at;
        let mut word = Some(word);
        let mut next = || word.take().or_else(|| values.next().map(|(_, word)| word));
        let amount = head.value(at, &mut next)?;
        if amount != 0.0 {
            head.add(found, at, (row, column), amount);
        }
    }
    match values.next() {
        Some((at, _)) => Err(refuse(at, "more values than the matrix has", "rows times columns")),
        None => Ok(()),
    }
}

/// A graph as Matrix Market: coordinate, real, general.
///
/// # Errors
/// Those of `to`.
pub fn write(graph: &CommunicationGraph, to: &mut impl Write) -> fmt::Result {
    writeln!(to, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(to, "% bytes sent by process row-1 to process column-1")?;
    writeln!(to, "{0} {0} {1}", graph.processes(), graph.pairs())?;
    for one in graph.sent() {
        writeln!(to, "{} {} {}", one.from + 1, one.to + 1, one.bytes)?;
    }
    Ok(())
}
