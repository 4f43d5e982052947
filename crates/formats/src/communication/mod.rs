//! Communication graphs from files: Matrix Market, Open MPI's monitoring, dense matrices, METIS,
//! Scotch.
//!
//! A format is one file beside this one with its row, `ENTRY`; `cargo xtask gen` puts it into the
//! table.

mod kind;
mod numbers;

pub use kind::{CommunicationFormat, CommunicationMatrix};
pub use matrix_market::write as write_market;

use base::Refusal;
use kind::{CommunicationMatrixReader, MatrixEntries};
use traffic::communication::CommunicationGraph;

// gen:begin
mod dense;
mod matrix_market;
mod metis;
mod monitoring;
mod scotch;

/// All formats of communication graphs, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static FORMATS: &[CommunicationFormat] = &[
    dense::ENTRY,
    matrix_market::ENTRY,
    metis::ENTRY,
    monitoring::ENTRY,
    scotch::ENTRY,
];
// gen:end

/// The communication graph of `files`, each by name and text: one file, or for Open MPI's
/// monitoring the files of all ranks.
///
/// # Errors
/// As [`matrix`], and when the values of a matrix are no bytes.
pub fn read(files: &[(String, &str)]) -> Result<CommunicationGraph, Refusal> {
    matrix(files)?.graph()
}

/// The communication matrix of `files`, each by name and text: one file, or for Open MPI's
/// monitoring the files of all ranks.
///
/// The format is recognised by the text, or by the end of the name where several fit. O(files).
///
/// # Errors
/// When a text is of no known format or damaged: with file and line.
pub fn matrix(files: &[(String, &str)]) -> Result<CommunicationMatrix, Refusal> {
    let [(name, text)] = files else {
        return monitoring::read(files).and_then(MatrixEntries::matrix);
    };
    let text = text.trim_start_matches('\u{feff}');
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let said = |format: &&CommunicationFormat| format.ends.iter().any(|end| plain.ends_with(end));
    let first = |fits: &dyn Fn(&&CommunicationFormat) -> bool| {
        FORMATS.iter().filter(fits).min_by_key(|format| format.rank)
    };
    let by_name = FORMATS.iter().find(said);
    let format = first(&|format| (format.is)(text))
        .or_else(|| by_name.filter(|format| format.sure))
        .or_else(|| first(&|format| (format.looks)(text, by_name.is_some())))
        .or(by_name);
    let found = match format.map(|format| format.read) {
        Some(CommunicationMatrixReader::One(read)) => read(text),
        Some(CommunicationMatrixReader::All(read)) => {
            return read(files).and_then(MatrixEntries::matrix);
        }
        None => {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.part.name).collect();
            let help = format!("one of {}; or GOAL, or a trace", names.join(", "));
            Err(Refusal::new("", "no communication graph of a known format", help))
        }
    };
    let found = found.map_err(|refused| refused.within(name))?;
    let CommunicationMatrix { pattern, unfit } =
        found.matrix().map_err(|refused| refused.within(name))?;
    Ok(CommunicationMatrix { pattern, unfit: unfit.map(|refused| refused.within(name)) })
}

#[cfg(test)]
mod tests;
