//! The file of a rank, read line by line.

use super::call;
use super::constants::MpiConstants;
use super::named;
use super::parameters::{LiballprofParameters, MpiImplementation, MpiRequestSize};
use crate::trace::kind::{NamedFile, text};
use base::{ComputationError, ProgressWatch, Refusal};
use traffic::workload::calls::{CallTrace, ProcessCalls, TracedCall};

/// Lines between two looks at whether the user wants to stop.
const STRIDE: usize = 1 << 14;

/// Reads a trace: name and content of the file of every rank, in their order. O(length).
///
/// # Errors
/// With file and line, where the text is no such trace; or when the user stops it.
pub(super) fn parse(
    files: &[NamedFile<'_>],
    with: &LiballprofParameters,
    watch: &dyn ProgressWatch,
) -> Result<CallTrace, ComputationError> {
    let openmpi = with.mpi == MpiImplementation::OpenMpi;
    let constants = MpiConstants {
        null: if openmpi { -2 } else { -1 },
        any: if openmpi { -1 } else { -2 },
        request_bytes: if with.request_bytes == MpiRequestSize::Eight { 8 } else { 4 },
    };
    let mut processes = Vec::with_capacity(files.len());
    for (name, content) in files {
        let text = text(content).map_err(|refused| refused.within(name))?;
        processes.push(process(name, text, constants, watch)?);
    }
    Ok(CallTrace { processes })
}

fn process(
    name: &str,
    text: &str,
    constants: MpiConstants,
    watch: &dyn ProgressWatch,
) -> Result<ProcessCalls, ComputationError> {
    let mut calls: Vec<TracedCall> = Vec::new();
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
    Ok(ProcessCalls { file: name.to_owned(), counts: "line", calls })
}
