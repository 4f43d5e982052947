//! The MPI calls of a trace, and the schedule that is made from them.
//!
//! The time between two calls becomes a calculation. The time inside a call is dropped, because a
//! run of the schedule determines how long communication takes.

mod agree;
mod communicators;
mod expand;
mod meeting;
mod parameters;
mod placed;
pub mod recorded;
mod requests;
mod tags;
#[cfg(test)]
mod tests;

pub use expand::expand;
pub use parameters::{CallReplayParameters, CallSemantics, RecordingReplayParameters};

use super::collective::CollectiveOperation;

/// The calls of all processes of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTrace {
    /// The calls of each process, by rank in `MPI_COMM_WORLD`.
    pub processes: Vec<ProcessCalls>,
}

/// The calls of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessCalls {
    /// The name of the file for refusals.
    pub file: String,
    /// The unit of [`TracedCall::line`]: `line` or `byte`.
    pub counts: &'static str,
    /// All calls, in order.
    pub calls: Vec<TracedCall>,
}

/// An MPI call of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedCall {
    /// Its line in the file, from 1; or its byte, from 0, if [`ProcessCalls::counts`] is `byte`.
    pub line: u64,
    /// The time at which it began, ns.
    pub start_ns: u64,
    /// The time at which it ended, ns.
    pub end_ns: u64,
    /// The action of the call.
    pub what: CallAction,
}

/// The address of a request's variable in one process.
pub type RequestHandle = u64;

/// The requests that a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestList {
    /// The requests with these handles.
    Each(Vec<RequestHandle>),
    /// The requests in an array: its address, bytes between elements, and number of elements. A
    /// trace may name arrays of any length, so that elements are never listed.
    Row(RequestHandle, u64, u64),
}

/// A communicator, by its handle in one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedCommunicator {
    /// Its handle, or the address of its variable, in this process.
    pub handle: u64,
    /// Its members, as far as they are known.
    pub shape: CommunicatorMembership,
}

/// The members of a communicator, as far as the call determines them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommunicatorMembership {
    /// Some processes; this one has a rank among them: `Of(rank, size)`.
    Of(u32, u32),
    /// All processes: `MPI_COMM_WORLD`.
    All,
    /// The calling process alone: `MPI_COMM_SELF`.
    Alone,
    /// Unknown from the call; the handle determines which communicator it is.
    Unsaid,
}

/// The other side of a message, as a call names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPeer {
    /// A rank in the communicator.
    Rank(u32),
    /// Any source, for receives: `MPI_ANY_SOURCE`.
    Any,
    /// `MPI_PROC_NULL`: the message is not sent.
    Null,
}

/// A message as its sender or its receiver names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallMessage {
    /// The other side of the message.
    pub peer: CallPeer,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its tag; none for receives of any tag.
    pub tag: Option<u32>,
    /// The communicator of the message.
    pub comm: NamedCommunicator,
}

/// The mode of a send or receive, which determines when the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferMode {
    /// The call returns when the message is done.
    Blocking,
    /// The call returns at once, and completion is never asked for: `MPI_Bsend`.
    Buffered,
    /// The call returns at once, and the request says when the message is done.
    Nonblocking(RequestHandle),
    /// The call only prepares a persistent request, which is started later.
    Prepared(RequestHandle),
}

/// The requests that a call completes, among those that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletedRequests {
    /// All of them.
    All,
    /// All of the given ones: the trace lists those that the call found complete.
    Found,
    /// One, which the trace does not identify; the first one of the list that is in flight is
    /// taken.
    One,
    /// One or more, which the trace does not identify; those that no later call completes are
    /// taken.
    Some,
    /// Perhaps none; those that no later call completes are taken.
    Perhaps,
}

/// The action of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallAction {
    /// Communicates with no other process: its time counts as computation.
    Local,
    /// Communicates with no other process, and has a communicator as its argument.
    Asks(NamedCommunicator),
    /// Waits for something unknown: its time does not count as computation.
    Waits,
    /// Sends a message.
    Send(CallMessage, TransferMode),
    /// Receives a message.
    Recv(CallMessage, TransferMode),
    /// Sends and receives, and returns when both are done.
    Both(CallMessage, CallMessage),
    /// Starts persistent requests.
    Start(RequestList),
    /// Completes requests.
    Complete(RequestList, CompletedRequests),
    /// Frees a request; its message continues.
    Free(RequestHandle),
    /// A collective operation; with a request if it is nonblocking.
    Joint(Box<TracedCollectiveCall>, Option<RequestHandle>),
    /// Creates communicators, together with all ranks of one; the number is the handle of the new
    /// one or the address of its variable, which then has no meaning.
    Make(NamedCommunicator, CommunicatorCreation, u64),
    /// Frees a communicator.
    FreeComm(NamedCommunicator),
}

/// The rule by which communicators are created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommunicatorCreation {
    /// A copy: the same processes in the same order.
    Copy,
    /// One communicator for each colour, ordered by key, then by rank; without a colour the process
    /// is in none.
    Split(Option<u32>, i64),
    /// A communicator of these ranks; other ranks are in none.
    Group(Vec<u32>),
    /// A grid with these sides, of the first ranks; the last coordinate varies fastest.
    Grid(Vec<u32>),
    /// The slices of a grid; the flags say which of its coordinates are kept.
    Slice(Vec<bool>),
    /// A communicator of a group of which the trace gives only each member's rank in it; other
    /// ranks are in none.
    Placed(Option<RankInCommunicator>),
    /// The slices of a grid, of which the trace gives only each rank's rank in its slice.
    SlicePlaced(Option<RankInCommunicator>),
}

/// The rank of a process in a communicator, and the communicator's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankInCommunicator {
    /// The rank of the process in the communicator.
    pub me: u32,
    /// The number of ranks in the communicator.
    pub size: u32,
}

/// A collective operation as one process calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedCollectiveCall {
    /// Its communicator.
    pub comm: NamedCommunicator,
    /// The collective operation.
    pub operation: CollectiveOperation,
    /// The root; none for operations without a root.
    pub root: Option<u32>,
    /// The sizes of its blocks.
    pub sizes: CollectiveBytes,
}

/// The sizes of a collective operation, as far as one process knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollectiveBytes {
    /// Bytes of the vector, or of every block.
    Same(u64),
    /// Bytes of the block of each rank; for [`CollectiveOperation::Alltoallv`], of the block for
    /// each rank.
    Each(Vec<u64>),
    /// Bytes of the process's own block.
    Own(u64),
}
