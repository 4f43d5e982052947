//! The text traces of liballprof: what every process of a run of MPI called.
//!
//! A file a rank, a line a call: `NAME:START:ARGUMENT:...:END`, times in microseconds. Arguments
//! are in MPI's order; a datatype is `number,size,extent`, a communicator `handle,rank,size`, an
//! array or the variable of a result its address. `#` begins a comment.
//! Source: liballprof of LogGOPSim (Hoefler, Schneider, Lumsdaine, LSAP 2010), what it writes.

mod call;
mod fields;
mod named;
#[cfg(test)]
mod tests;

use base::fields::word;
use base::part::Part;
use base::{Refusal, Stop, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use traffic::workload::Schedule;
use traffic::workload::calls::{self, Called, Process, ReplayParameters, Trace};

/// Lines between two looks at whether the user wants to stop.
const STRIDE: usize = 1 << 14;

/// These traces: their parameters, and those of every trace.
pub const PART: Part = Part::new("a trace", "calls of MPI, as liballprof writes them")
    .takes::<ReplayParameters>()
    .takes::<LiballprofParameters>()
    .takes::<UnknownRequests>();

/// What the numbers of a trace mean.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LiballprofParameters {
    /// Whose constants the ranks are: of Open MPI, of MPICH.
    mpi: Library,
    /// Size of a request in an array, bytes.
    #[serde(deserialize_with = "word")]
    request_bytes: RequestBytes,
}

/// Whose constants ranks and requests are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Library {
    /// Of Open MPI.
    #[default]
    OpenMpi,
    /// Of MPICH.
    Mpich,
}

/// Size of a request in an array, bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum RequestBytes {
    /// A pointer.
    #[default]
    #[serde(rename = "8")]
    Eight,
    /// A number.
    #[serde(rename = "4")]
    Four,
}

/// What is done with requests that nobody began, of all traces of MPI.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct UnknownRequests {
    /// What is done with requests that nobody began.
    pub(crate) unknown_requests: Unknown,
}

/// What is done with requests that nobody began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unknown {
    /// The trace is refused.
    #[default]
    Refuse,
    /// They are `MPI_REQUEST_NULL`.
    Null,
}

impl UnknownRequests {
    /// Whether they are `MPI_REQUEST_NULL`.
    pub(crate) fn is_null(&self) -> bool {
        self.unknown_requests == Unknown::Null
    }
}

/// What numbers mean in a trace.
#[derive(Debug, Clone, Copy)]
struct Constants {
    null: i64,
    any: i64,
    request_bytes: u64,
}

/// The schedule of a trace: name and content of the file of every rank, in their order.
///
/// # Errors
/// As [`parse`] and [`calls::expand`], and when a parameter cannot be.
pub fn schedule(
    files: &[(String, &str)],
    given: &Map<String, Value>,
    watch: &dyn Watch,
) -> Result<Schedule, Stop> {
    PART.check(given)?;
    let trace = parse(files, &PART.read(given)?, watch)?;
    let (unknown, replay): (UnknownRequests, ReplayParameters) =
        (PART.read(given)?, PART.read(given)?);
    calls::expand(&trace, unknown.is_null(), &replay, watch)
}

/// Reads a trace: name and content of the file of every rank, in their order. O(length).
///
/// # Errors
/// With file and line, where it is none; or when the user stops it.
pub fn parse(
    files: &[(String, &str)],
    with: &LiballprofParameters,
    watch: &dyn Watch,
) -> Result<Trace, Stop> {
    let openmpi = with.mpi == Library::OpenMpi;
    let constants = Constants {
        null: if openmpi { -2 } else { -1 },
        any: if openmpi { -1 } else { -2 },
        request_bytes: if with.request_bytes == RequestBytes::Eight { 8 } else { 4 },
    };
    let mut processes = Vec::with_capacity(files.len());
    for (name, text) in files {
        processes.push(process(name, text, constants, watch)?);
    }
    Ok(Trace { processes })
}

fn process(
    name: &str,
    text: &str,
    constants: Constants,
    watch: &dyn Watch,
) -> Result<Process, Stop> {
    let mut calls: Vec<Called> = Vec::new();
    let mut is_over = false;
    for (number, line) in (1_u64..).zip(text.lines()) {
        if (number as usize).is_multiple_of(STRIDE) {
            watch.tick("lines", number, 0)?;
        }
        let said = line.trim();
        if said.is_empty() || said.starts_with('#') {
            continue;
        }
        let at = |refused: Refusal| {
            let place = format!("{name}: line {number}");
            if refused.param.is_empty() {
                Refusal { param: place, ..refused }
            } else {
                refused.within(&place)
            }
        };
        if is_over {
            let why = "a call after MPI_Finalize";
            return Err(at(Refusal::new("", why, "the end of the trace")).into());
        }
        let call = call::called(said, number, constants).map_err(at)?;
        is_over = said.starts_with("MPI_Finalize:");
        calls.push(call);
    }
    if calls.is_empty() {
        return Err(Refusal::new(name, "there is no call in it", "a trace of liballprof").into());
    }
    named::place(&mut calls);
    Ok(Process { file: name.to_owned(), counts: "line", calls })
}
