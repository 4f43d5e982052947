//! The calls of a program of MPI as `flyloom record` keeps them: a file a rank.
//!
//! `runtime/mpi/record_calls.h` says what the numbers of a file mean.

mod parse;
#[cfg(test)]
mod tests;

use super::kind::{ExampleFiles, NamedFile, TraceFileNaming, TraceFormat};
use base::part::PartDescription;
use base::{ComputationError, Refusal};
use traffic::workload::calls::RecordingReplayParameters;
use traffic::workload::calls::recorded::{CallRecording, RecordingRemarks, replayed};
use traffic::workload::{Schedule, WorkloadRequest};

pub(super) const ENTRY: TraceFormat = TraceFormat::new(
    PartDescription::new(
        "recorded",
        "calls of MPI as flyloom record keeps them: a file a rank, in binary",
    )
    .takes::<RecordingReplayParameters>(),
    TraceFileNaming::PerRank { before: "-", ends: &[".calls"], shared: &[] },
    |files, request| Ok(schedule(files, request)?.0),
    example,
)
.known_by(|content| content.starts_with(&parse::MAGIC.to_le_bytes()));

/// The schedule of a recording, and remarks for the user: from the files of all ranks in their
/// order.
///
/// # Errors
/// With the file and the byte, where it is none; as [`replayed`].
pub fn schedule(
    files: &[NamedFile<'_>],
    request: &WorkloadRequest<'_>,
) -> Result<(Schedule, RecordingRemarks), ComputationError> {
    let mut processes = Vec::with_capacity(files.len());
    for (rank, (name, content)) in (0..).zip(files) {
        request.watch.tick("files", rank, files.len() as u64)?;
        let process = parse::process(name, content, rank, files.len() as u64);
        processes.push(process.map_err(|refused: Refusal| refused.within(name))?);
    }
    replayed(&CallRecording { processes }, request.read()?, request.watch)
}

/// As [`schedule`], with parameters that are checked.
///
/// # Errors
/// As [`schedule`], and for a parameter that there is not or that is out of range.
pub fn schedule_with(
    files: &[NamedFile<'_>],
    given: &super::GivenParameters,
    watch: &dyn base::ProgressWatch,
) -> Result<(Schedule, RecordingRemarks), ComputationError> {
    schedule(files, &WorkloadRequest::new(ENTRY.part, given, watch)?)
}

/// An event of the example: kind, flags, and its own words.
type EventWords = (u64, u64, &'static [u64]);

/// A rank sends 100 bytes, which the other receives from any; both add up 8 bytes.
const FIRST: [EventWords; 5] = [
    (1, 0, &[]),
    (4, 0, &[0, 2, 0, 0, 1]),
    (5, 4, &[0, 0, 1, 7, 100]),
    (7, 0, &[1, 0, 3, u64::MAX, 8]),
    (2, 0, &[]),
];
const SECOND: [EventWords; 6] = [
    (1, 0, &[]),
    (4, 0, &[0, 2, 0, 0, 1]),
    (6, 4, &[0, 0, u64::MAX, u64::MAX, 4096]),
    (10, 0, &[0, 0, 7]),
    (7, 0, &[1, 0, 3, u64::MAX, 8]),
    (2, 0, &[]),
];

fn file(rank: u64, events: &[EventWords]) -> Vec<u8> {
    let mut words = vec![parse::MAGIC, rank, 2];
    for (at, (kind, flags, own)) in (0..).zip(events) {
        words.push(kind | flags << 16 | (own.len() as u64) << 32);
        words.extend([1000 * at, 1000 * at + 400]);
        words.extend(*own);
    }
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

fn example() -> ExampleFiles {
    [("run-0.calls", file(0, &FIRST)), ("run-1.calls", file(1, &SECOND))]
        .map(|(name, content)| (name.to_owned(), content))
        .to_vec()
}
