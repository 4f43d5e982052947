//! Dense matrices as text: a row a line, blanks or commas between the values.

use super::kind::{CommunicationFormat, CommunicationMatrixReader, MatrixEntries, one, processes};
use super::numbers::{lines, refuse, value};
use base::Refusal;
use base::part::PartDescription;

pub(super) const ENTRY: CommunicationFormat = CommunicationFormat {
    part: PartDescription::new("dense", "as many numbers a line as there are lines"),
    ends: &[".mat", ".txt", ".dat"],
    rank: 30,
    is: |_| false,
    sure: false,
    looks: |text, _| looks(text),
    read: CommunicationMatrixReader::One(read),
    example: ("a.mat", EXAMPLE),
};

const EXAMPLE: &str = "# made 2026-01-01\n0 5123.5 0\n0.25 0 7123\n81234 0 0\n";

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
}

/// Whether the first two lines have as many numbers each as the text has lines.
pub(super) fn looks(text: &str) -> bool {
    let mut rows = lines(text, &['#', '%']);
    let count = lines(text, &['#', '%']).count();
    let all = |row: Option<(usize, &str)>| {
        row.is_none_or(|(_, line)| {
            let numbers = words(line).filter(|word| word.parse::<f64>().is_ok()).count();
            numbers == count && words(line).count() == count
        })
    };
    count > 0 && all(rows.next()) && all(rows.next())
}

/// Reads the matrix: row = sender.
pub(super) fn read(text: &str) -> Result<MatrixEntries, Refusal> {
    let rows: Vec<(usize, &str)> = lines(text, &['#', '%']).collect();
    let count = processes(1, rows.len() as u64, text)?;
    let mut found = MatrixEntries::new(count);
    for (from, &(line, text)) in (0..).zip(&rows) {
        let mut columns = 0;
        for word in words(text) {
            let bytes = value(line, Some(word))?;
            if columns < count && bytes != 0.0 {
                found.add(line, one(from, columns, bytes));
            }
            columns += 1;
        }
        if columns != count {
            let why = format!("{columns} values in a row of {count} rows");
            return Err(refuse(line, &why, "as many values a line as there are lines"));
        }
    }
    Ok(found)
}
