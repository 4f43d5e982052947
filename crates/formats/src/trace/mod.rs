//! Workloads as files: schedules in GOAL, and traces of what the ranks of a run did.
//!
//! A format is one file beside this one, or one folder, with its row, `ENTRY`; `cargo xtask gen`
//! puts it into the table. The names of files say which of them belong to a run. The format of a
//! file that has all ranks is recognised by its content first.

mod kind;
mod mpi;
// The example of docs/adding-a-trace-format.md; the name that the page gives it stays free for
// readers.
#[cfg(test)]
#[path = "../../../../docs/parts/htsim_flows.rs"]
mod page_htsim_flows;

pub use kind::{
    ExampleFiles, GivenParameters, NamedFile, TraceFileNaming, TraceFormat, TraceFormatWriter,
    WorkloadFileContents,
};

use base::Refusal;
use base::words::did_you_mean;

// gen:begin
pub mod chakra;
pub mod dumpi;
pub mod goal;
pub mod goal_binary;
pub mod liballprof;
pub mod recorded;

/// All formats of workloads, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static FORMATS: &[TraceFormat] = &[
    chakra::ENTRY,
    dumpi::ENTRY,
    goal::ENTRY,
    goal_binary::ENTRY,
    liballprof::ENTRY,
    recorded::ENTRY,
];
// gen:end

/// The format of this name.
///
/// # Errors
/// When there is none.
pub fn format(name: &str) -> Result<&'static TraceFormat, Refusal> {
    FORMATS.iter().find(|format| format.part.name == name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.part.name).collect();
        let help = did_you_mean(name, known.iter().copied()) + &known.join(", ");
        Refusal::new("format", format!("there is no format '{name}'"), help)
    })
}

/// The format of a file that has all ranks: that of its content, else that of the end of its name.
/// A text that no format knows is read as GOAL, which says what is missing.
///
/// # Errors
/// When no format knows the file, and it is no text.
pub fn of_file(name: &str, content: &[u8]) -> Result<&'static TraceFormat, Refusal> {
    if let Some(what) = matrix(name, content) {
        let why = format!("this is {what}, which says who sends how much to whom and not when");
        let help = "a schedule: flyloom record -o app.goal -- mpirun ... records that of a program \
                    of MPI, flyloom workload make NAME ... -o app.goal makes one; flyloom map \
                    --graph takes the matrix";
        return Err(Refusal::new("", why, help));
    }
    let first = |fits: &dyn Fn(&TraceFormat) -> bool| {
        let mut one =
            FORMATS.iter().filter(|format| matches!(format.naming, TraceFileNaming::One(_)));
        one.find(|format| fits(format))
    };
    let looks = |format: &TraceFormat| format.looks(content);
    let named = |format: &TraceFormat| format.is_named(name);
    let found = first(&|format| named(format) && looks(format))
        .or_else(|| first(&looks))
        .or_else(|| first(&named));
    let last = || kind::text(content).map(|_| &goal::ENTRY);
    found.map_or_else(last, Ok).map_err(|refused| {
        let all: Vec<&str> = FORMATS.iter().map(|format| format.part.doc).collect();
        Refusal { help: format!("one of: {}", all.join("; ")), ..refused }
    })
}

/// What a file with the communication of processes as a matrix is, by its content or its name;
/// `None` for other files.
fn matrix(name: &str, content: &[u8]) -> Option<&'static str> {
    let starts =
        |with: &[u8]| content.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
    if starts(b"%%MatrixMarket") {
        return Some("a matrix (Matrix Market)");
    }
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let is_named = |end: &str| plain.ends_with(end);
    let numpy = starts(b"\x93NUMPY") || (starts(b"PK\x03\x04") && is_named(".npz"));
    if numpy {
        return Some("a matrix of numpy or scipy");
    }
    is_named(".mtx").then_some("named as a matrix (.mtx)")
}

#[cfg(test)]
mod tests;
