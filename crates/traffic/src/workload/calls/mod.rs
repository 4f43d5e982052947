//! What processes of MPI call, as a trace has it, and the schedule that comes of it.
//!
//! The time between two calls becomes a calculation; what a call itself took is left out, for the
//! schedule's run says how long communication takes.

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
pub use parameters::{CallRules, RecordedParameters, ReplayParameters};

use super::collective::CollectiveOperation;

/// The calls of all processes of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTrace {
    /// By their ranks in the communicator of all.
    pub processes: Vec<ProcessCalls>,
}

/// The calls of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessCalls {
    /// The file, as refusals name it.
    pub file: String,
    /// What [`TracedCall::line`] counts: `line` or `byte`.
    pub counts: &'static str,
    /// All calls, in order.
    pub calls: Vec<TracedCall>,
}

/// A call of MPI, as a trace has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedCall {
    /// Its line in the file, from 1; its byte, from 0, where [`ProcessCalls::counts`] says so.
    pub line: u64,
    /// When it began, ns.
    pub start_ns: u64,
    /// When it was over, ns.
    pub end_ns: u64,
    /// What it does.
    pub what: CallAction,
}

/// The variable of a request, as one process names it.
pub type RequestHandle = u64;

/// The requests that a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestList {
    /// These.
    Each(Vec<RequestHandle>),
    /// The variables of an array: where the first lies, bytes from one to the next, how many.
    /// A line of a trace says any number of them, so that they are never listed.
    Row(RequestHandle, u64, u64),
}

/// A communicator, as one process names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedCommunicator {
    /// Its handle in this process.
    pub handle: u64,
    /// Who is in it.
    pub shape: CommunicatorShape,
}

/// The members of a communicator, as far as a call says them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommunicatorShape {
    /// A number of processes, among which this one has a rank: `Of(rank, size)`.
    Of(u32, u32),
    /// Everybody: `MPI_COMM_WORLD`.
    All,
    /// The process alone: `MPI_COMM_SELF`.
    Alone,
    /// Those for whom it was made: its handle says which it is.
    Unsaid,
}

/// The other side of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPeer {
    /// A rank of the communicator.
    Rank(u32),
    /// Any: of receives.
    Any,
    /// `MPI_PROC_NULL`: nothing is done.
    Null,
}

/// A message as its sender or its receiver names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallMessage {
    /// The other side.
    pub peer: CallPeer,
    /// How long it is.
    pub bytes: u64,
    /// Its tag; none: any, of receives.
    pub tag: Option<u32>,
    /// Its communicator.
    pub comm: NamedCommunicator,
}

/// The mode of a call that sends or receives: when it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferMode {
    /// When the message is.
    Blocking,
    /// At once, and nobody asks again: `MPI_Bsend`.
    Buffered,
    /// At once: the request says when the message is.
    Nonblocking(RequestHandle),
    /// At once: the request is prepared, and to be started.
    Prepared(RequestHandle),
}

/// The requests among its own that a call completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletedRequests {
    /// All.
    All,
    /// All of these: of a longer list those that the trace says were found complete.
    Found,
    /// One, and the trace does not say which: the first in flight of the list is taken.
    One,
    /// One at least, and the trace does not say which: those that no later call completes.
    Some,
    /// The trace does not say whether any: those that no later call completes.
    Perhaps,
}

/// The action of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallAction {
    /// Talks to nobody: its time is computing.
    Local,
    /// The same with a communicator as its argument.
    Asks(NamedCommunicator),
    /// Waits for something that is not said: its time is not computing.
    Waits,
    /// Sends.
    Send(CallMessage, TransferMode),
    /// Receives.
    Recv(CallMessage, TransferMode),
    /// Sends and receives, and is over when both are.
    Both(CallMessage, CallMessage),
    /// Starts prepared requests.
    Start(RequestList),
    /// Completes requests.
    Complete(RequestList, CompletedRequests),
    /// Gives a request back; its message goes on.
    Free(RequestHandle),
    /// A collective operation; with a request when it is nonblocking.
    Joint(Box<JointCall>, Option<RequestHandle>),
    /// Makes communicators, together with all of one; the number is the new one's handle, or the
    /// place of its variable, which then says nothing.
    Make(NamedCommunicator, CommunicatorCreation, u64),
    /// Gives a communicator back.
    FreeComm(NamedCommunicator),
}

/// The creation of communicators: by which rule they are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommunicatorCreation {
    /// The same processes in the same order.
    Copy,
    /// One for each colour, in the order of the keys, then of the ranks; without a colour the
    /// process is in none.
    Split(Option<u32>, i64),
    /// One of these ranks; the others are in none.
    Group(Vec<u32>),
    /// A grid of these sizes, of the first ranks, the last coordinate the quickest.
    Grid(Vec<u32>),
    /// The slices of a grid: its coordinates that stay.
    Slice(Vec<bool>),
    /// One of a group that is known by where each of its ranks is in it; the others are in none.
    Placed(Option<CommunicatorPlace>),
    /// The slices of a grid, by where each rank is in its slice.
    SlicePlaced(Option<CommunicatorPlace>),
}

/// The place of a process in a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommunicatorPlace {
    /// Its rank there.
    pub me: u32,
    /// How many ranks there are.
    pub size: u32,
}

/// A collective operation as one process calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JointCall {
    /// Its communicator.
    pub comm: NamedCommunicator,
    /// What all do.
    pub operation: CollectiveOperation,
    /// The root, of those that have one.
    pub root: Option<u32>,
    /// How much.
    pub sizes: CollectiveBytes,
}

/// Bytes of a collective operation as one process knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollectiveBytes {
    /// Those of the vector, or of every block.
    Same(u64),
    /// Those of the block of each rank; of [`CollectiveOperation::Alltoallv`], of the block for
    /// each.
    Each(Vec<u64>),
    /// Those of its own block.
    Own(u64),
}
