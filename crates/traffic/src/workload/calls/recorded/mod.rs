//! What `flyloom record` kept of the calls of a program, and the schedule that comes of it.
//!
//! The recorder knows more than a trace says: ranks are those among all, a group of processes has
//! its members, each operation has a number by which the call that completed it names it, and a
//! receive of any source or tag has those of its message.

mod acts;
mod matched;
mod program;

pub use program::{RecordingRemarks, replayed};

use super::CollectiveBytes;
use crate::workload::collective::CollectiveOperation;

/// The recording of all processes of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecording {
    /// By their ranks among all.
    pub processes: Vec<RecordedProcess>,
}

/// The recorded calls of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedProcess {
    /// The file, as refusals name it.
    pub file: String,
    /// What it did, in the order in which calls ended.
    pub events: Vec<RecordedEvent>,
}

/// A call, or a part of what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Its byte in the file.
    pub byte: u64,
    /// The thread that called, by a number of its process.
    pub thread: u8,
    /// When the call began, ns.
    pub start_ns: u64,
    /// When it was over, ns.
    pub end_ns: u64,
    /// What it did.
    pub what: CallEvent,
}

/// An operation of a process, by its number there.
pub type OperationNumber = u64;

/// The event that a call caused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEvent {
    /// `MPI_Init` was over.
    Begins,
    /// `MPI_Finalize` began.
    Ends,
    /// `MPI_Abort` with a code.
    Aborts(i64),
    /// A thread has ended.
    ThreadEnds,
    /// A communicator or a window is there, by its number in this process.
    Group(u64, GroupMembers),
    /// Sends; `true`: the call did not wait for the end.
    Send(RecordedMessage, bool),
    /// Receives; `true`: the call did not wait for the end.
    Recv(RecordedMessage, bool),
    /// A collective operation with its root and sizes.
    Joint(OperationStart, CollectiveOperation, Option<u32>, CollectiveBytes),
    /// All of a communicator send to those that they name: ranks among all, bytes.
    Exchange(OperationStart, Vec<(u32, u64)>),
    /// A call of a window: the target, bytes to it, bytes back.
    Transfer(OperationStart, u32, Option<u64>, Option<u64>),
    /// These operations are complete.
    Awaits(Vec<CompletedOperation>),
    /// A test found nothing.
    Polls,
    /// A message is there: its group, source and tag.
    Probes(u64, u32, u32),
    /// The transfers of this process in a window to a target, or to all, are complete; `true`: by a
    /// fence, at which also those of the others are.
    Syncs(u64, Option<u32>, bool),
    /// Something else that waits.
    Waits,
}

/// An operation that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationStart {
    /// Its number.
    pub number: OperationNumber,
    /// Its communicator or window.
    pub group: u64,
    /// Whether the call did not wait for its end.
    pub later: bool,
}

/// The members of a communicator or a window, by ranks among all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GroupMembers {
    /// The own group.
    pub own: Vec<u32>,
    /// The other one of a communicator between two groups; empty where there is none.
    pub other: Vec<u32>,
    /// Whether it is a window.
    pub is_window: bool,
}

/// A message as its sender or its receiver names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedMessage {
    /// The number of its operation.
    pub number: OperationNumber,
    /// Its communicator.
    pub group: u64,
    /// The other side, a rank among all; none: any.
    pub peer: Option<u32>,
    /// Its tag; none: any.
    pub tag: Option<u32>,
    /// Its bytes, of a receive its room.
    pub bytes: u64,
}

/// An operation that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletedOperation {
    /// As it was begun.
    AsBegun(OperationNumber),
    /// A receive, with the source and the tag of its message.
    From(OperationNumber, u32, u32),
    /// It was cancelled.
    Cancelled(OperationNumber),
}
