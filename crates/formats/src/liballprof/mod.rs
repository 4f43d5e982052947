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

use base::{Refusal, Stop, Watch};
use serde_json::{Map, Value};
use traffic::workload::Schedule;
use traffic::workload::calls::{self, Called, Process, Trace};
use traffic::workload::keys::{Asked, Key};

/// Lines between two looks at whether the user wants to stop.
const STRIDE: usize = 1 << 14;

/// The parameters of these traces.
const KEYS: [Key; 2] = [
    Key::word("mpi", "whose constants the ranks are: of Open MPI, of MPICH", &["openmpi", "mpich"]),
    Key::word("request_bytes", "a request in an array, bytes", &["8", "4"]),
];

/// What is done with requests that nobody began, of all traces of MPI.
pub(crate) const UNKNOWN_REQUESTS: Key =
    Key::word("unknown_requests", "of requests that nobody began", &["refuse", "null"]);

/// What numbers mean in a trace.
#[derive(Debug, Clone, Copy)]
struct Constants {
    null: i64,
    any: i64,
    request_bytes: u64,
}

/// All parameters: of these traces, and of every one.
pub fn keys() -> Vec<Key> {
    let mut all = calls::keys::keys();
    all.extend(KEYS);
    all.push(UNKNOWN_REQUESTS);
    all
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
    let asked = Asked::new(given, keys(), watch)?;
    let trace = parse(files, &asked)?;
    calls::expand(&trace, asked.word("unknown_requests")? == "null", &asked)
}

/// Reads a trace: name and content of the file of every rank, in their order. O(length).
///
/// # Errors
/// With file and line, where it is none; or when the user stops it.
pub fn parse(files: &[(String, &str)], asked: &Asked<'_>) -> Result<Trace, Stop> {
    let openmpi = asked.word("mpi")? == "openmpi";
    let constants = Constants {
        null: if openmpi { -2 } else { -1 },
        any: if openmpi { -1 } else { -2 },
        request_bytes: if asked.word("request_bytes")? == "8" { 8 } else { 4 },
    };
    let mut processes = Vec::with_capacity(files.len());
    for (name, text) in files {
        processes.push(process(name, text, constants, asked.watch)?);
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
