//! Port counters of running fabrics, from the text of the tools that read them.
//!
//! A format is one file beside this one with its row, `ENTRY`; `cargo xtask gen` puts it into the
//! table.

mod csv;
mod kind;
mod time;

pub use kind::CounterFormat;

use base::Refusal;
use fabric::counters::CounterFile;
use kind::CounterReadings;

// gen:begin
mod ibdiagnet_csv;
mod ibdiagnet_pm;
mod ibqueryerrors;
mod net_dump;
mod perfquery;
mod prometheus;
mod ufm_csv;

/// All formats of port counters, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static FORMATS: &[CounterFormat] = &[
    ibdiagnet_csv::ENTRY,
    ibdiagnet_pm::ENTRY,
    ibqueryerrors::ENTRY,
    net_dump::ENTRY,
    perfquery::ENTRY,
    prometheus::ENTRY,
    ufm_csv::ENTRY,
];
// gen:end

/// The readings of a file, called `name`. The format is recognised by the text. O(text).
///
/// # Errors
/// When the text is of no known format, or has no port.
pub fn read(name: &str, text: &str) -> Result<CounterFile, Refusal> {
    let text = text.trim_start_matches('\u{feff}');
    let fits = FORMATS.iter().filter(|format| (format.looks)(text));
    let Some(format) = fits.min_by_key(|format| format.rank) else {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.part.name).collect();
        let help = format!("text of one of {}", names.join(", "));
        return Err(Refusal::new(name, "no port counters of a known format", help));
    };
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.split('.').next().unwrap_or(file).to_owned();
    let mut found = CounterReadings::of_file(stem);
    (format.read)(text, &mut found);
    if found.readings.is_empty() {
        let why = format!("no port of {} in it", format.part.name);
        return Err(Refusal::new(name, why, "a file with at least one port"));
    }
    Ok(found.file(name, format.part.name, format.listed))
}

#[cfg(test)]
mod tests;
