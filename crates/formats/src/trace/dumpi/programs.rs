//! Schedules as traces: the MPI calls of processes that do the same operations, one after another.

use super::layout::{ArgumentValue, Arguments, LAYOUTS};
use super::record::{DumpiCallRecord, DumpiTrace, SIZES};
use super::write::write;
use base::{ComputationError, ProgressWatch, Refusal};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;
use traffic::workload::UnexpandedCollective;
use traffic::workload::collective::CollectiveOperation;
use traffic::workload::parameters::MOST_BYTES;
use traffic::workload::sequence::{OperationSequence, RankProgramStep, sequence};
use traffic::workload::{ANY, OperationKind, Schedule, make, make_joined};

/// `MPI_COMM_WORLD`, `MPI_SUM`, `MPI_ANY_SOURCE` and `MPI_ANY_TAG`.
const WORLD: i64 = 2;
const SUM: i64 = 3;
const ANY_OF: i64 = -1;

/// Types of data: a byte, 8 of them, and the first that a process makes itself.
const BYTE: i64 = 5;
const DOUBLE: i64 = 14;
const FIRST_MADE: i64 = 28;

/// The lowest number of a request that is not null.
const FIRST_REQUEST: i64 = 2;

/// Most elements of a part of a type that stands for a long message.
const PART: u64 = 1 << 30;

/// The files of a trace that was made from a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DumpiTraceFiles {
    /// The file of each rank.
    pub contents: Vec<Vec<u8>>,
    /// How many calls are in them.
    pub calls: u64,
    /// Number of ranks that do several things at the same time in the schedule; in the trace these
    /// come one after another.
    pub at_once: u32,
}

/// The files of all ranks, whose processes do what a schedule says. O(n log n).
///
/// Messages that may begin do so at once, by `MPI_Isend` and `MPI_Irecv`, and are waited for where
/// an operation needs their ends; calculations are the time between two calls. What a rank does
/// at the same time on several processors comes one after another.
///
/// # Errors
/// When the schedule cannot come to its end, for messages of more than 2^40 bytes and runs of more
/// than 65,535 s; or when `watch` says stop.
pub(super) fn files(
    schedule: &Schedule,
    watch: &dyn ProgressWatch,
) -> Result<DumpiTraceFiles, ComputationError> {
    joined_files(schedule, &[], watch)
}

/// The files of the workload that generator `name` makes with these parameters. They are those of
/// its schedule, except that collective operations of all ranks are calls of MPI where MPI has one
/// with the same size for all.
///
/// # Errors
/// As [`make`] and [`files`].
pub(super) fn made(
    name: &str,
    given: &Map<String, Json>,
    watch: &dyn ProgressWatch,
) -> Result<DumpiTraceFiles, ComputationError> {
    let (schedule, joined) = make_joined(name, given, watch)?;
    match joined_files(&schedule, &joined, watch) {
        // a process that waits in one operation cannot do what another one waits for
        Err(ComputationError::Refused(_)) if !joined.is_empty() => {
            files(&make(name, given, watch)?, watch)
        }
        done => done,
    }
}

fn joined_files(
    schedule: &Schedule,
    joined: &[UnexpandedCollective],
    watch: &dyn ProgressWatch,
) -> Result<DumpiTraceFiles, ComputationError> {
    let sequence = sequence(schedule, joined, watch)?;
    let tags = MpiTags::new(schedule)?;
    let mut files = DumpiTraceFiles::default();
    for rank in 0..schedule.ranks() {
        watch.tick("files", rank.into(), schedule.ranks().into())?;
        let place = format!("rank {rank}");
        let trace = program(&sequence, rank, &tags).map_err(|refused| refused.within(&place))?;
        files.calls += trace.records.len() as u64;
        files.at_once += u32::from(sequence.is_narrower(rank));
        files.contents.push(write(&trace, watch).map_err(|stop| stop.within(&place))?);
    }
    Ok(files)
}

/// Tags as MPI has them: those of the schedule, or their places among all where one is too large.
struct MpiTags(Option<Vec<u32>>);

impl MpiTags {
    fn new(schedule: &Schedule) -> Result<Self, Refusal> {
        let of = |op: &&traffic::workload::ScheduleOperation| {
            op.kind != OperationKind::Calc && op.tag != ANY
        };
        let tags = schedule.ops().iter().filter(of).map(|op| op.tag);
        if tags.clone().all(|tag| i32::try_from(tag).is_ok()) {
            return Ok(Self(None));
        }
        let mut all: Vec<u32> = tags.collect();
        all.sort_unstable();
        all.dedup();
        if i32::try_from(all.len()).is_err() {
            return Err(Refusal::new("tag", "more than 2^31 tags", "fewer"));
        }
        Ok(Self(Some(all)))
    }

    fn of(&self, tag: u32) -> i64 {
        match &self.0 {
            _ if tag == ANY => ANY_OF,
            None => tag.into(),
            Some(all) => all.partition_point(|&other| other < tag) as i64,
        }
    }
}

/// A writer of the calls of one process.
struct ProcessCallWriter<'a> {
    of: &'a OperationSequence<'a>,
    tags: &'a MpiTags,
    rank: u32,
    now_ns: u64,
    records: Vec<DumpiCallRecord>,
    /// Requests in flight by their operations.
    requests: HashMap<u32, i64>,
    next: i64,
    /// Types of messages that are too long for a number of bytes.
    types: HashMap<u64, i64>,
}

/// The calls of one rank.
fn program(of: &OperationSequence<'_>, rank: u32, tags: &MpiTags) -> Result<DumpiTrace, Refusal> {
    let (requests, types) = (HashMap::new(), HashMap::new());
    let next = FIRST_REQUEST;
    let mut process =
        ProcessCallWriter { of, tags, rank, now_ns: 0, records: Vec::new(), requests, next, types };
    process.call(
        "Init",
        vec![("argc", ArgumentValue::Number(0)), ("argv", ArgumentValue::List(Vec::new()))],
    );
    let steps = of.steps(rank);
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        at += 1;
        match step {
            RankProgramStep::Compute(ns) => {
                process.now_ns = process.now_ns.checked_add(*ns).ok_or_else(|| {
                    Refusal::new("time", "more than 2^64 ns of computing", "less")
                })?;
            }
            // an operation that is waited for right away is a blocking call
            RankProgramStep::Begin(op)
                if steps.get(at) == Some(&RankProgramStep::Wait(vec![*op])) =>
            {
                process.message(*op, true)?;
                at += 1;
            }
            RankProgramStep::Begin(op) => process.message(*op, false)?,
            RankProgramStep::Wait(ops) => process.wait(ops),
            RankProgramStep::Join(joined) => process.join(joined)?,
        }
    }
    process.call("Finalize", Vec::new());
    let sizes = [0, 0].into_iter().chain(SIZES).collect();
    Ok(DumpiTrace { version: [1, 1, 0], records: process.records, left_out: Vec::new(), sizes })
}

/// The number of a call.
fn id(name: &str) -> u16 {
    let found = LAYOUTS.iter().position(|layout| layout.name == name);
    found.expect("calls that are written have a row") as u16
}

fn number(name: &'static str, n: impl Into<i64>) -> (&'static str, ArgumentValue) {
    (name, ArgumentValue::Number(n.into()))
}

impl ProcessCallWriter<'_> {
    fn call(&mut self, name: &str, arguments: Arguments) {
        let wall_ns = Some((self.now_ns, self.now_ns));
        self.records.push(DumpiCallRecord { id: id(name), at: 0, wall_ns, arguments });
    }

    /// A count of elements and their type that together have this number of bytes.
    fn elements(&mut self, bytes: u64) -> Result<(i64, i64), Refusal> {
        if let Ok(count) = i32::try_from(bytes) {
            return Ok((count.into(), BYTE));
        }
        if bytes > MOST_BYTES {
            let why = format!("a message of {bytes} bytes");
            return Err(Refusal::new("schedule", why, format!("{MOST_BYTES} at most")));
        }
        if let Some(&made) = self.types.get(&bytes) {
            return Ok((1, made));
        }
        let made = FIRST_MADE + self.types.len() as i64;
        self.types.insert(bytes, made);
        let parts = bytes.div_ceil(PART);
        let length = |part: u64| PART.min(bytes - part * PART) as i64;
        self.call(
            "Type_indexed",
            vec![
                number("count", parts as i64),
                ("lengths", ArgumentValue::Numbers((0..parts).map(length).collect())),
                // the displacements of the parts do not matter
                ("indices", ArgumentValue::Numbers(vec![0; parts as usize])),
                number("oldtype", BYTE),
                number("newtype", made),
            ],
        );
        Ok((1, made))
    }

    fn message(&mut self, op: u32, blocks: bool) -> Result<(), Refusal> {
        let it = self.of.schedule().ops()[op as usize];
        let (count, datatype) = self.elements(it.size)?;
        let is_send = it.kind == OperationKind::Send;
        let peer = if it.peer == ANY { ANY_OF } else { it.peer.into() };
        let mut arguments = vec![
            number("count", count),
            number("datatype", datatype),
            number(if is_send { "dest" } else { "source" }, peer),
            number("tag", self.tags.of(it.tag)),
            number("comm", WORLD),
        ];
        let name = match (is_send, blocks) {
            (true, true) => "Send",
            (false, true) => {
                arguments.push(("status", ArgumentValue::Statuses(Vec::new())));
                "Recv"
            }
            (_, false) => {
                arguments.push(number("request", self.next));
                self.requests.insert(op, self.next);
                self.next += 1;
                if is_send { "Isend" } else { "Irecv" }
            }
        };
        self.call(name, arguments);
        Ok(())
    }

    fn wait(&mut self, ops: &[u32]) {
        let requests: Vec<i64> = ops.iter().filter_map(|op| self.requests.remove(op)).collect();
        let statuses = ArgumentValue::Statuses(Vec::new());
        if let &[request] = requests.as_slice() {
            self.call("Wait", vec![number("request", request), ("status", statuses)]);
            return;
        }
        let count = number("count", requests.len() as i64);
        let requests = ("requests", ArgumentValue::Numbers(requests));
        self.call("Waitall", vec![count, requests, ("statuses", statuses)]);
    }

    fn join(&mut self, joined: &UnexpandedCollective) -> Result<(), Refusal> {
        use CollectiveOperation as Is;
        let (mut count, mut datatype) = self.elements(joined.bytes)?;
        if joined.operation.adds() && datatype == BYTE && count % 8 == 0 {
            (count, datatype) = (count / 8, DOUBLE);
        }
        let is_root = self.rank == joined.root;
        let of = |counted: &'static str, typed: &'static str| {
            [number(counted, count), number(typed, datatype)]
        };
        let one = of("count", "datatype");
        let [out, back] = [of("sendcount", "sendtype"), of("recvcount", "recvtype")];
        let root = [number("root", joined.root)];
        let add = [number("op", SUM)];
        let me = [number("commrank", self.rank)];
        let (name, mut arguments): (&str, Arguments) = match joined.operation {
            Is::Barrier => ("Barrier", Vec::new()),
            Is::Broadcast => ("Bcast", [&one[..], &root].concat()),
            Is::Reduce => ("Reduce", [&one[..], &add, &root].concat()),
            Is::Allreduce => ("Allreduce", [&one[..], &add].concat()),
            Is::Scan => ("Scan", [&one[..], &add].concat()),
            Is::Exscan => ("Exscan", [&one[..], &add].concat()),
            Is::Allgather => ("Allgather", [out, back].concat()),
            Is::Alltoall => ("Alltoall", [out, back].concat()),
            Is::Gather => ("Gather", [&me[..], &out, &root].concat()),
            Is::Scatter => ("Scatter", [&me[..], &back, &root].concat()),
            Is::ReduceScatter | Is::Alltoallv | Is::Neighbours => {
                let ranks = self.of.schedule().ranks();
                let counts = ("recvcounts", ArgumentValue::Numbers(vec![count; ranks as usize]));
                let listed = [number("commsize", ranks), counts, number("datatype", datatype)];
                ("Reduce_scatter", [&listed[..], &add].concat())
            }
        };
        arguments.push(number("comm", WORLD));
        match joined.operation {
            Is::Gather if is_root => arguments.extend(of("recvcount", "recvtype")),
            Is::Scatter if is_root => arguments.extend(of("sendcount", "sendtype")),
            _ => {}
        }
        self.call(name, arguments);
        Ok(())
    }
}
