//! DUMPI: what every process of a run of MPI called, a binary file a rank.
//!
//! A file has a magic number, then its sections, found by the index at its very end. Records of the
//! body have no length, so that the layout of every call must be known: `calls.csv`.
//! Source: the format as SST's sst-dumpi library writes it (github.com/sstsimulator/sst-dumpi).

mod bytes;
mod convert;
mod count;
mod groups;
mod joint;
mod layout;
mod numbers;
mod parse;
mod programs;
mod record;
mod rewritten;
#[cfg(test)]
mod tests;
mod types;
mod write;
#[cfg(test)]
mod write_tests;

use super::kind::{
    ExampleFiles, NamedFile, TraceFileNaming, TraceFormat, TraceFormatWriter, WorkloadFileContents,
    example_schedule,
};
use super::mpi::UnknownRequestParameter;
use base::part::PartDescription;
use base::{ComputationError, ProgressWatch, QuietWatch, Refusal};
use serde_json::{Value, json};
use traffic::workload::calls::CallReplayParameters;

pub(super) const ENTRY: TraceFormat = TraceFormat::new(
    PartDescription::new(
        "dumpi",
        "SST's DUMPI: NAME.meta, and beside it what each rank called, in binary",
    )
    .takes::<CallReplayParameters>()
    .takes::<UnknownRequestParameter>(),
    TraceFileNaming::Indexed { index: ".meta", before: "-", digits: 4, end: ".bin", ranks },
    convert::schedule,
    example,
)
.counts(counts)
.writes(
    TraceFormatWriter::folder(".dumpi", |schedule, prefix, watch| {
        Ok(written(programs::files(schedule, watch)?, prefix))
    })
    .keeps(
        |name, given, prefix, watch| Ok(written(programs::made(name, given, watch)?, prefix)),
        |files, prefix, watch| Ok(written(rewritten::rewritten(files, watch)?, prefix)),
    ),
);

/// Most processes of a run.
const MOST: u32 = 1 << 24;

/// How many processes `NAME.meta` says that there are.
fn ranks(meta: &str) -> Result<u32, Refusal> {
    let mut lines = meta.lines().rev().filter_map(|line| line.split_once('='));
    let count = lines.find(|(key, _)| *key == "numprocs").map_or("", |(_, n)| n.trim());
    let is_number = !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit());
    let number = count.parse().ok().filter(|n| is_number && (1..=MOST).contains(n));
    number.ok_or_else(|| {
        Refusal::new("numprocs", format!("'{count}'"), "the number of processes, 1 to 2^24")
    })
}

/// The files of a run under the name `prefix`.
fn written(files: programs::DumpiTraceFiles, prefix: &str) -> WorkloadFileContents {
    let count = files.contents.len() as u32;
    let bytes = files.contents.iter().map(|content| content.len() as u64).sum();
    let ranks = files.contents.into_iter().enumerate();
    let mut all: Vec<(String, Vec<u8>)> =
        ranks.map(|(rank, content)| (format!("{prefix}-{rank:04}.bin"), content)).collect();
    all.push((format!("{prefix}.meta"), write::meta(prefix, count).into_bytes()));
    let (operations, at_once) = (files.calls, Some(files.at_once));
    WorkloadFileContents { files: all, ranks: count, operations, bytes, at_once }
}

/// What the files of a run hold: calls by name, messages between two processes and their bytes.
fn counts(files: &[NamedFile<'_>], watch: &dyn ProgressWatch) -> Result<Value, ComputationError> {
    let each = files.iter().map(|(name, content)| (name.as_str(), *content));
    let found = count::run_counts(each, watch)?;
    Ok(json!({
        "version": found.version.map(|part| part.to_string()).join("."), "ranks": files.len(),
        "calls": found.counts.calls, "messages": found.counts.messages,
        "bytes": found.counts.bytes, "records": found.records, "left_out": found.left_out,
    }))
}

fn example() -> ExampleFiles {
    let files = programs::files(&example_schedule(), &QuietWatch).expect("it comes to its end");
    written(files, "run").files
}
