//! What a trace holds, counted: calls by name, messages and their bytes.

use super::parse::parse;
use super::record::{DumpiCallRecord, DumpiTrace};
use super::types::DataTypeSizes;
use base::{ComputationError, ProgressWatch, Refusal};
use std::collections::{BTreeMap, HashMap};

/// The counts of what the trace of one process holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DumpiTraceCounts {
    /// How often each call was made, by its name without `MPI_`.
    pub calls: BTreeMap<&'static str, u64>,
    /// Messages that it sends to another process, or to itself; none to `MPI_PROC_NULL`.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The counts of what the traces of all processes of a run hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DumpiRunCounts {
    /// The version of the format.
    pub version: [u8; 3],
    /// Sums over all processes.
    pub counts: DumpiTraceCounts,
    /// Calls that the files have.
    pub records: u64,
    /// Calls that the processes made and the files leave out.
    pub left_out: u64,
}

/// Counts a run: name and content of the file of every rank. One trace is in memory at a time.
///
/// # Errors
/// As [`parse`] and [`counts`], with the file; when two files have different versions.
pub(super) fn run_counts<'a>(
    files: impl Iterator<Item = (&'a str, &'a [u8])>,
    watch: &dyn ProgressWatch,
) -> Result<DumpiRunCounts, ComputationError> {
    let mut all: Option<DumpiRunCounts> = None;
    for (name, content) in files {
        let trace = parse(content, watch).map_err(|stop| stop.within(name))?;
        let one = counts(&trace).map_err(|refused| refused.within(name))?;
        let all = all.get_or_insert_with(|| DumpiRunCounts {
            version: trace.version,
            ..DumpiRunCounts::default()
        });
        if all.version != trace.version {
            let why = format!("version {:?}, and rank 0 has {:?}", trace.version, all.version);
            return Err(Refusal::new(name, why, "the files of one run").into());
        }
        for (call, times) in one.calls {
            *all.counts.calls.entry(call).or_default() += times;
        }
        all.counts.messages += one.messages;
        all.counts.bytes = all.counts.bytes.saturating_add(one.bytes);
        all.records += trace.records.len() as u64;
        all.left_out += trace.left_out.iter().map(|&(_, times)| u64::from(times)).sum::<u64>();
    }
    Ok(all.unwrap_or_default())
}

/// Counts a trace. Messages are those between two processes: the trace says nothing about messages
/// of collective operations. A prepared message counts every time that it is started. O(calls).
///
/// # Errors
/// With call and byte, where a message is of a type whose size the trace does not say, or its
/// count is below 0.
pub(super) fn counts(trace: &DumpiTrace) -> Result<DumpiTraceCounts, Refusal> {
    let mut found = DumpiTraceCounts::default();
    let mut types = DataTypeSizes::new(&trace.sizes);
    let mut prepared: HashMap<i64, u64> = HashMap::new();
    for record in &trace.records {
        *found.calls.entry(record.name()).or_default() += 1;
        let at = |refused: Refusal| {
            refused.within(&format!("MPI_{} at byte {}", record.name(), record.at))
        };
        types.learn(record);
        let name = record.name();
        let started: Vec<i64> = match name {
            "Start" => record.number("request").into_iter().collect(),
            "Startall" => record.numbers("requests").unwrap_or_default().to_vec(),
            _ => Vec::new(),
        };
        for bytes in started.iter().filter_map(|request| prepared.get(request)) {
            found.messages += 1;
            found.bytes = found.bytes.saturating_add(*bytes);
        }
        let Some((count, datatype)) = sent(record) else { continue };
        // a receiver below 0 is MPI_PROC_NULL
        if record.number("dest").is_none_or(|dest| dest < 0) {
            continue;
        }
        let bytes = types.bytes(count, datatype).map_err(at)?;
        if name.ends_with("_init") {
            prepared.extend(record.number("request").map(|request| (request, bytes)));
        } else {
            found.messages += 1;
            found.bytes = found.bytes.saturating_add(bytes);
        }
    }
    Ok(found)
}

/// Count and type of what a call sends to one process.
fn sent(record: &DumpiCallRecord) -> Option<(i64, i64)> {
    let (count, datatype) = match record.name() {
        "Send" | "Bsend" | "Ssend" | "Rsend" | "Isend" | "Ibsend" | "Issend" | "Irsend"
        | "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" | "Sendrecv_replace" => {
            ("count", "datatype")
        }
        "Sendrecv" => ("sendcount", "sendtype"),
        _ => return None,
    };
    Some((record.number(count)?, record.number(datatype)?))
}
