//! The text traces of liballprof: what every process of a run of MPI called.
//!
//! A file a rank, a line a call: `NAME:START:ARGUMENT:...:END`, times in microseconds. Arguments
//! are in MPI's order; a datatype is `number,size,extent`, a communicator `handle,rank,size`, an
//! array or the variable of a result its address. `#` begins a comment.
//! Source: liballprof of LogGOPSim (Hoefler, Schneider, Lumsdaine, LSAP 2010), what it writes.

mod call;
mod constants;
mod fields;
mod named;
mod parameters;
mod parse;
#[cfg(test)]
mod tests;

use super::kind::{ExampleFiles, NamedFile, TraceFileNaming, TraceFormat};
use super::mpi::UnknownRequestParameter;
use base::ComputationError;
use base::part::PartDescription;
use parameters::LiballprofParameters;
use traffic::workload::calls::{self, CallReplayParameters};
use traffic::workload::{Schedule, WorkloadRequest};

pub(super) const ENTRY: TraceFormat = TraceFormat::new(
    PartDescription::new(
        "liballprof",
        "liballprof of LogGOPSim: what each rank called, a line a call",
    )
    .takes::<CallReplayParameters>()
    .takes::<LiballprofParameters>()
    .takes::<UnknownRequestParameter>(),
    TraceFileNaming::PerRank { before: "-", ends: &[".txt"], shared: &[".dat"] },
    schedule,
    example,
)
.known_by(says_calls)
.text();

/// Whether the first line that is no comment is a call of MPI.
fn says_calls(content: &[u8]) -> bool {
    let mut lines = content.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"));
    first.is_some_and(|line| line.starts_with(b"MPI_"))
}

/// The schedule of a trace: name and content of the file of every rank, in their order.
///
/// # Errors
/// As [`parse::parse`] and [`calls::expand`].
fn schedule(
    files: &[NamedFile<'_>],
    request: &WorkloadRequest<'_>,
) -> Result<Schedule, ComputationError> {
    let trace = parse::parse(files, &request.read()?, request.watch)?;
    let (unknown, replay): (UnknownRequestParameter, CallReplayParameters) =
        (request.read()?, request.read()?);
    calls::expand(&trace, unknown.is_null(), &replay, request.watch)
}

const FIRST: &str = "# run on 4096 nodes of 17 racks, 2026-01-01 10:11:12\n\
    # liballprof 0.9 on 123456789 with 8 of 16 and 32 of 64\n\
    MPI_Init:139912345:1:140736123456:1000\n\
    MPI_Isend:5000:94309876:2:11,8,8:1:4:0,0,2:800:6000\n\
    MPI_Irecv:6500:94301234:2:11,8,8:1:5:0,0,2:808:6600\nMPI_Waitall:13000:2:800:94507777:14000\n\
    MPI_Barrier:15000:0,0,2:16000\n\
    MPI_Allreduce:17000:94301111:94302222:3:11,8,8:94303333:0,0,2:18000\nMPI_Finalize:20000:-\n";
const SECOND: &str = "MPI_Init:-:1:2:1000\n\
    MPI_Recv:5000:9:2:11,8,8:-1:-1:0,1,2:3:6000\nMPI_Send:6100:9:2:11,8,8:0:5:0,1,2:6200\n\
    MPI_Barrier:15000:0,1,2:16000\nMPI_Allreduce:17000:9:9:3:11,8,8:3:0,1,2:18000\n\
    MPI_Finalize:20000:-\n";

fn example() -> ExampleFiles {
    [("run-0.txt", FIRST), ("run-1.txt", SECOND)]
        .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
        .to_vec()
}
