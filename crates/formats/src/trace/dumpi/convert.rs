//! Traces as schedules: every record becomes the call that it is.

use super::groups::DumpiGroups;
use super::joint::joint;
use super::layout::ArgumentValue;
use super::numbers::{NO_COMM, WORLD, comm, whole};
use super::parse::parse;
use super::record::{DumpiCallRecord, DumpiTrace};
use super::types::DataTypeSizes;
use crate::trace::kind::NamedFile;
use crate::trace::mpi::{UNDEFINED, UnknownRequestParameter, is_local};
use base::{ComputationError, Refusal};
use std::collections::HashSet;
use traffic::workload::calls::{
    self, CallAction, CallMessage, CallPeer, CallReplayParameters, CallSemantics,
    CommunicatorCreation, CompletedRequests, ProcessCalls, RequestList, TracedCall, TransferMode,
};
use traffic::workload::{Schedule, WorkloadRequest};

/// The number of `MPI_REQUEST_NULL`.
const NO_REQUEST: i64 = 1;

/// The number of `MPI_ANY_SOURCE` and of `MPI_ANY_TAG`.
const ANY: i64 = -1;

/// The schedule of a trace: name and content of the file of every rank, in their order.
///
/// The schedule repeats what happened in the traced run: which request `MPI_Waitany` completed,
/// which ones a test found complete. Reading and writing of files counts as computing.
/// O(operations).
///
/// # Errors
/// With file, call and byte, where it is no trace, where MPI would not run it, and for calls that
/// cannot be turned into messages; or when the user stops it.
pub(super) fn schedule(
    files: &[NamedFile<'_>],
    request: &WorkloadRequest<'_>,
) -> Result<Schedule, ComputationError> {
    let (unknown, replay): (UnknownRequestParameter, CallReplayParameters) =
        (request.read()?, request.read()?);
    let codes = replay.rules == CallSemantics::Codes;
    let mut processes = Vec::with_capacity(files.len());
    for (rank, (name, content)) in (0..).zip(files) {
        let trace = parse(content, request.watch).map_err(|stop| stop.within(name))?;
        let calls = called(&trace, files.len() as u32, codes).map_err(|why| why.within(name))?;
        if calls.is_empty() {
            let why = format!("rank {rank} called nothing");
            return Err(Refusal::new(name, why, "a trace of DUMPI with calls").into());
        }
        processes.push(ProcessCalls { file: name.clone(), counts: "byte", calls });
    }
    calls::expand(&calls::CallTrace { processes }, unknown.is_null(), &replay, request.watch)
}

/// What a process called, in a run of `ranks` processes.
fn called(trace: &DumpiTrace, ranks: u32, codes: bool) -> Result<Vec<TracedCall>, Refusal> {
    let mut reader = DumpiRecordReader {
        types: DataTypeSizes::new(&trace.sizes),
        groups: DumpiGroups::new(WORLD, ranks),
        files: HashSet::new(),
        codes,
    };
    let mut all = Vec::with_capacity(trace.records.len());
    for record in &trace.records {
        let place = || format!("MPI_{} at byte {}", record.name(), record.at);
        let what = reader.what(record).map_err(|refused| refused.within(&place()))?;
        let (start_ns, end_ns) = record.wall_ns.unwrap_or((0, 0));
        let start_ns = match record.name() {
            "Init" | "Init_thread" => end_ns,
            _ => start_ns,
        };
        let end_ns = if record.name() == "Finalize" { start_ns } else { end_ns };
        all.push(TracedCall { line: record.at, start_ns, end_ns, what });
    }
    Ok(all)
}

/// A reader of a process's records, with the types, groups and requests that its calls have made so
/// far.
struct DumpiRecordReader<'a> {
    types: DataTypeSizes<'a>,
    groups: DumpiGroups,
    /// Requests of operations that are no messages, such as those on files.
    files: HashSet<i64>,
    /// Whether communicators are ignored: the calls that make them then do nothing.
    codes: bool,
}

/// Calls that make communicators from others.
const MAKE: [&str; 8] = [
    "Comm_dup",
    "Comm_split",
    "Comm_create",
    "Cart_create",
    "Cart_sub",
    "Graph_create",
    "Intercomm_create",
    "Intercomm_merge",
];

impl DumpiRecordReader<'_> {
    fn what(&mut self, record: &DumpiCallRecord) -> Result<CallAction, Refusal> {
        self.types.learn(record);
        self.groups.learn(record);
        let name = record.name();
        if let Some(request) = record.number("request") {
            match name {
                _ if name.starts_with("File_") || name == "Grequest_start" => {
                    self.files.insert(request);
                }
                _ if name.starts_with(['I', 'R']) || name.ends_with("_init") => {
                    self.files.remove(&request);
                }
                _ => {}
            }
        }
        if is_local(name) || name.starts_with("File_") {
            return Ok(CallAction::Local);
        }
        if self.codes && MAKE.contains(&name) {
            return Ok(CallAction::Waits);
        }
        if let Some(joint) = joint(record, &self.types)? {
            return Ok(CallAction::Joint(Box::new(joint), None));
        }
        Ok(match name {
            "Send" | "Ssend" | "Rsend" => {
                CallAction::Send(self.sent(record)?, TransferMode::Blocking)
            }
            "Bsend" => CallAction::Send(self.sent(record)?, TransferMode::Buffered),
            "Isend" | "Issend" | "Irsend" | "Ibsend" => CallAction::Send(
                self.sent(record)?,
                TransferMode::Nonblocking(whole(record, "request")?),
            ),
            "Send_init" | "Ssend_init" | "Rsend_init" | "Bsend_init" => CallAction::Send(
                self.sent(record)?,
                TransferMode::Prepared(whole(record, "request")?),
            ),
            "Recv" => CallAction::Recv(self.received(record)?, TransferMode::Blocking),
            "Irecv" => CallAction::Recv(
                self.received(record)?,
                TransferMode::Nonblocking(whole(record, "request")?),
            ),
            "Recv_init" => CallAction::Recv(
                self.received(record)?,
                TransferMode::Prepared(whole(record, "request")?),
            ),
            "Sendrecv" | "Sendrecv_replace" => self.both(record)?,
            "Start" => CallAction::Start(RequestList::Each(vec![whole(record, "request")?])),
            "Startall" => CallAction::Start(RequestList::Each(requests(record)?)),
            "Request_free" if self.is_message(whole(record, "request")?) => {
                CallAction::Free(whole(record, "request")?)
            }
            "Request_free"
            | "Request_get_status"
            | "Grequest_start"
            | "Grequest_complete"
            | "Status_set_cancelled"
            | "Status_set_elements"
            | "Register_datarep" => CallAction::Local,
            "Probe" | "Init" | "Init_thread" | "Finalize" => CallAction::Waits,
            "Comm_rank" | "Comm_size" => CallAction::Asks(comm(record, "comm")?),
            "Comm_free" | "Comm_disconnect" => CallAction::FreeComm(comm(record, "comm")?),
            _ => match self.complete(record)? {
                Some(what) => what,
                None => self.make(record)?,
            },
        })
    }

    fn is_message(&self, request: u64) -> bool {
        request != NO_REQUEST as u64 && !self.files.contains(&(request as i64))
    }

    fn message(
        &self,
        record: &DumpiCallRecord,
        [count, datatype, peer, tag]: [&str; 4],
        to: Option<CallPeer>,
    ) -> Result<CallMessage, Refusal> {
        let number = |name: &str| {
            record.number(name).ok_or_else(|| Refusal::new(name, "it is not there", "a number"))
        };
        let rank = number(peer)?;
        let peer = match (u32::try_from(rank), to) {
            (Ok(rank), _) => CallPeer::Rank(rank),
            (Err(_), Some(peer)) => peer,
            (Err(_), None) if rank == ANY => CallPeer::Any,
            (Err(_), None) => CallPeer::Null,
        };
        let bytes = match peer {
            CallPeer::Null => 0,
            _ => self.types.bytes(number(count)?, number(datatype)?)?,
        };
        let tag = u32::try_from(number(tag)?).ok();
        Ok(CallMessage { peer, bytes, tag, comm: comm(record, "comm")? })
    }

    fn sent(&self, record: &DumpiCallRecord) -> Result<CallMessage, Refusal> {
        // a receiver below 0 is MPI_PROC_NULL
        self.message(record, ["count", "datatype", "dest", "tag"], Some(CallPeer::Null))
    }

    fn received(&self, record: &DumpiCallRecord) -> Result<CallMessage, Refusal> {
        self.message(record, ["count", "datatype", "source", "tag"], nobody(record))
    }

    fn both(&self, record: &DumpiCallRecord) -> Result<CallAction, Refusal> {
        let [out, back] = match record.name() {
            "Sendrecv" => [["sendcount", "sendtype"], ["recvcount", "recvtype"]],
            _ => [["count", "datatype"]; 2],
        };
        let [count, datatype] = out;
        let sent =
            self.message(record, [count, datatype, "dest", "sendtag"], Some(CallPeer::Null))?;
        let [count, datatype] = back;
        let names = [count, datatype, "source", "recvtag"];
        Ok(CallAction::Both(sent, self.message(record, names, nobody(record))?))
    }

    /// The completion of requests: of those that the trace reports as complete.
    fn complete(&self, record: &DumpiCallRecord) -> Result<Option<CallAction>, Refusal> {
        let name = record.name();
        let plain = name.strip_prefix("MPIO_").unwrap_or(name);
        let is_done = record.number("flag").is_none_or(|flag| flag != 0);
        let which = if matches!(plain, "Wait" | "Waitall") {
            CompletedRequests::All
        } else {
            CompletedRequests::Found
        };
        let done = match plain {
            "Wait" | "Test" => vec![whole(record, "request")?],
            "Waitall" | "Testall" => requests(record)?,
            "Waitany" | "Testany" => {
                let index = record.number("index").and_then(|index| usize::try_from(index).ok());
                let all = requests(record)?;
                index.and_then(|index| all.get(index)).copied().into_iter().collect()
            }
            "Waitsome" | "Testsome" => {
                let all = requests(record)?;
                let count = record.number("outcount").map_or(0, |count| count.max(0)) as usize;
                let indices = record.numbers("indices").unwrap_or_default();
                let at = |index: &i64| all.get(usize::try_from(*index).ok()?).copied();
                indices.iter().take(count).filter_map(at).collect()
            }
            _ => return Ok(None),
        };
        let done: Vec<u64> = done.into_iter().filter(|&request| self.is_message(request)).collect();
        // a test that found no request complete took time that is not computing
        Ok(Some(if is_done && !done.is_empty() {
            CallAction::Complete(RequestList::Each(done), which)
        } else {
            CallAction::Waits
        }))
    }

    fn make(&self, record: &DumpiCallRecord) -> Result<CallAction, Refusal> {
        let new = || whole(record, "newcomm");
        let sizes = |name| {
            let all = record.numbers(name).unwrap_or_default().iter();
            let size = |&n: &i64| u32::try_from(n).ok().filter(|&size| size > 0);
            all.map(size).collect::<Option<Vec<u32>>>().ok_or_else(|| {
                Refusal::new(name, format!("{:?}", record.numbers(name)), "numbers above 0")
            })
        };
        let make = match record.name() {
            "Comm_dup" => CommunicatorCreation::Copy,
            "Comm_split" => {
                let colour = record.number("color").unwrap_or(UNDEFINED);
                let colour = match colour {
                    UNDEFINED => None,
                    _ => Some(u32::try_from(colour).map_err(|_| {
                        let help = format!("0 or more, or {UNDEFINED}: none");
                        Refusal::new("color", format!("{colour}"), help)
                    })?),
                };
                CommunicatorCreation::Split(colour, record.number("key").unwrap_or(0))
            }
            "Comm_create" => {
                let of = record.number("oldcomm").unwrap_or(NO_COMM);
                CommunicatorCreation::Group(
                    self.groups.ranks(record.number("group").unwrap_or(0), of)?,
                )
            }
            "Cart_create" => CommunicatorCreation::Grid(sizes("dims")?),
            "Graph_create" => CommunicatorCreation::Grid(vec![whole(record, "nodes")? as u32]),
            "Cart_sub" => {
                let stays = record.numbers("remain_dims").unwrap_or_default();
                CommunicatorCreation::Slice(stays.iter().map(|&stays| stays != 0).collect())
            }
            _ => {
                let help = "messages between two, collective operations, requests, \
                            communicators that one is made of, and calls that talk to nobody";
                return Err(Refusal::new("", "it cannot be turned into messages", help));
            }
        };
        Ok(CallAction::Make(comm(record, "oldcomm")?, make, new()?))
    }
}

/// [`CallPeer::Null`] where the status of a blocking receive shows `MPI_PROC_NULL` as its source:
/// in MPICH that rank has the number that any source has here.
fn nobody(record: &DumpiCallRecord) -> Option<CallPeer> {
    record.arguments.iter().find_map(|(_, value)| match value {
        ArgumentValue::Statuses(all) if all.first()?.source < 0 => Some(CallPeer::Null),
        _ => None,
    })
}

fn requests(record: &DumpiCallRecord) -> Result<Vec<u64>, Refusal> {
    let all = record.numbers("requests").unwrap_or_default();
    let small = |&n: &i64| u64::try_from(n).ok();
    all.iter()
        .map(small)
        .collect::<Option<Vec<u64>>>()
        .ok_or_else(|| Refusal::new("requests", format!("{all:?}"), "numbers of 0 or more"))
}
