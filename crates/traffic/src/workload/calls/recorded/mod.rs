//! Recordings of a program's MPI calls by `flyloom record`, and the schedule that is made from
//! them.
//!
//! A recording contains more than a trace: ranks are those of `MPI_COMM_WORLD`, a group lists its
//! members, each operation has a number that the call that completed it names, and a receive with
//! wildcards has the source and tag of its message.

mod action;
mod acts;
mod library;
mod matched;
mod program;
mod walker;

pub use program::{RecordingRemarks, replayed};

use super::CollectiveBytes;
use crate::workload::collective::CollectiveOperation;

/// The recording of all processes of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecording {
    /// The recorded calls of each process, by rank in `MPI_COMM_WORLD`.
    pub processes: Vec<RecordedProcess>,
}

/// The recorded calls of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedProcess {
    /// The name of the file for refusals.
    pub file: String,
    /// Its events, in the order in which the calls ended.
    pub events: Vec<RecordedEvent>,
}

/// A call, or a part of what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// The byte of the event in the file.
    pub byte: u64,
    /// The thread that called, by its number in the process.
    pub thread: u8,
    /// When the call began, ns.
    pub start_ns: u64,
    /// The time at which the call ended, ns.
    pub end_ns: u64,
    /// The event.
    pub what: CallEvent,
}

/// The number of an operation, unique in its process.
pub type OperationNumber = u64;

/// The event that a call caused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEvent {
    /// `MPI_Init` has ended.
    Begins,
    /// `MPI_Finalize` has begun.
    Ends,
    /// `MPI_Abort` was called with this code.
    Aborts(i64),
    /// A thread has ended.
    ThreadEnds,
    /// A communicator, a window or a runtime of libflyloom was created, with its number in this
    /// process and its members.
    Group(u64, GroupMembers),
    /// A message is sent; `true`: the call did not wait for its end.
    Send(RecordedMessage, bool),
    /// A message is received; `true`: the call did not wait for its end.
    Recv(RecordedMessage, bool),
    /// A collective operation with its root and sizes.
    Joint(OperationStart, CollectiveOperation, Option<u32>, CollectiveBytes),
    /// A neighbour exchange: all members of a communicator send to the ranks that they list, with
    /// bytes; ranks of `MPI_COMM_WORLD`.
    Exchange(OperationStart, Vec<(u32, u64)>),
    /// A one-sided call on a window: the target, bytes sent to it, bytes fetched from it.
    Transfer(OperationStart, u32, Option<u64>, Option<u64>),
    /// The call has completed these operations.
    Awaits(Vec<CompletedOperation>),
    /// A test that found no operation complete.
    Polls,
    /// A probe found a message: its group, source and tag.
    Probes(u64, u32, u32),
    /// The transfers of this process in a window to a target, or to all targets if none is given,
    /// are complete; `true`: by a fence, at which those of the other processes are, too.
    Syncs(u64, Option<u32>, bool),
    /// The call waits for something else.
    Waits,
    /// libflyloom did something.
    Library(LibflyloomEvent),
}

/// What libflyloom did in a call, as `runtime/mpi/record_hooks.h` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LibflyloomEvent {
    /// The number of the group of its runtime.
    pub runtime: u64,
    /// The kind of the event, which says what the other fields mean.
    pub kind: LibflyloomEventKind,
    /// Whether it begins together with the event before it.
    pub is_beside: bool,
    /// Whether what the sender of a received packet put before has arrived.
    pub brings: bool,
    /// Whether the answer says that what this rank put to the other one before has arrived.
    pub flushes: bool,
    /// The other side, a rank of `MPI_COMM_WORLD`; none for all ranks.
    pub peer: Option<u32>,
    /// The tag of the message.
    pub tag: u32,
    /// The window or the team.
    pub object: u32,
    /// The bytes that are sent, or the number of a request, a question or a collective operation.
    pub value: u64,
    /// The bytes that are sent back, or the number of the collective operation in its team.
    pub answer: u64,
}

/// The kinds of events of libflyloom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibflyloomEventKind {
    /// A packet is sent that the other side's program waits for.
    Send,
    /// A packet that this side's program waited for is received.
    Recv,
    /// A put, in which the other side's program takes no part.
    Put,
    /// A question to the other side's memory, which is answered.
    Ask,
    /// A wait for the answer to one question.
    Answer,
    /// A wait for the answers of one rank, or of all, in a window.
    Answers,
    /// A request took a notification.
    Took,
    /// A request is complete.
    Done,
    /// A collective operation begins; what it does follows, up to its end. The program goes on
    /// beside it.
    CollectiveBegins,
    /// Copies or folds of a collective operation.
    Local,
    /// A message of a collective operation is sent.
    Out,
    /// A message of a collective operation is received.
    In,
    /// The end of a collective operation.
    CollectiveEnds,
    /// A wait for the end of a collective operation.
    Joins,
}

/// The kinds of groups of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RankGroupKind {
    /// A communicator.
    Communicator,
    /// A window.
    Window,
    /// A runtime of libflyloom.
    Library,
}

/// The start of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationStart {
    /// The number of the operation.
    pub number: OperationNumber,
    /// The number of its communicator or window.
    pub group: u64,
    /// Whether the call did not wait for its end.
    pub later: bool,
}

/// The members of a communicator, a window or a runtime of libflyloom, as ranks of
/// `MPI_COMM_WORLD`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GroupMembers {
    /// The local group.
    pub own: Vec<u32>,
    /// The remote group of an intercommunicator; empty for other groups.
    pub other: Vec<u32>,
    /// What the group is of.
    pub kind: RankGroupKind,
}

/// A message as its sender or its receiver names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedMessage {
    /// The number of its operation.
    pub number: OperationNumber,
    /// The number of its communicator.
    pub group: u64,
    /// The other side, a rank of `MPI_COMM_WORLD`; none for a receive from any source.
    pub peer: Option<u32>,
    /// Its tag; none for a receive of any tag.
    pub tag: Option<u32>,
    /// The bytes sent; for a receive, the size of its buffer.
    pub bytes: u64,
}

/// A completed operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletedOperation {
    /// It is complete with the arguments with which it began.
    AsBegun(OperationNumber),
    /// A receive is complete; with the source and the tag of its message.
    From(OperationNumber, u32, u32),
    /// It was cancelled.
    Cancelled(OperationNumber),
}
