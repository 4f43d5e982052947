//! What the acts of a recorded process are: messages, transfers, collective operations and waits.

use std::collections::HashMap;

/// The action of a recorded act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecordedActionKind {
    Nothing,
    Message(ResolvedMessage),
    /// A collective operation: the index of the meeting, and the rank in it.
    Meets(u32, u32),
    /// A neighbour exchange, by its index.
    Exchanges(u32),
    /// A one-sided transfer of a window, by its index.
    Transfers(u32),
    /// Waits for the end of the acts with these indices.
    Awaits(Vec<u32>),
    /// Waits for the message that is received next: its group, source and tag.
    Probes(u32, u32, u32),
    /// A fence of a window that ends an epoch: all transfers of the epoch have arrived.
    Fences(u32, u32),
    /// The end of a thread.
    ThreadEnds,
    /// Messages of libflyloom that begin together, and waits for what others put.
    Library(LibflyloomStep),
    /// Acts up to [`RecordedActionKind::Returns`] are a collective operation of libflyloom, beside
    /// which the program goes on.
    Branches,
    /// Work of such an operation that stands for what it does in no time.
    Local,
    /// The end of such an operation.
    Returns,
}

impl RecordedActionKind {
    /// The messages of an act in which both programs take part.
    pub(super) fn messages(&mut self) -> &mut [ResolvedMessage] {
        match self {
            Self::Message(message) => std::slice::from_mut(message),
            Self::Library(step) => &mut step.messages,
            _ => &mut [],
        }
    }
}

/// The purpose of a one-sided transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OneSidedTransferPurpose {
    /// A call on a window of MPI.
    Window,
    /// A put or a question of libflyloom.
    Library,
    /// A question of libflyloom that is answered when what its origin put before has arrived.
    Flush,
}

/// A message whose group number is common to all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResolvedMessage {
    pub(super) is_send: bool,
    pub(super) group: u32,
    pub(super) peer: Option<u32>,
    pub(super) tag: Option<u32>,
    pub(super) bytes: u64,
}

/// An act of a process: one thing that it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordedAction {
    pub(super) thread: u8,
    /// Time of computation of the thread since its last act, ns.
    pub(super) gap_ns: u64,
    pub(super) does: RecordedActionKind,
    /// Whether the next act of the thread waits for the end of this one.
    pub(super) waits: bool,
}

/// A one-sided transfer: a call on a window that moves bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WindowTransfer {
    pub(super) origin: u32,
    pub(super) target: u32,
    pub(super) out: Option<u64>,
    pub(super) back: Option<u64>,
    /// The index of the window, and the number of its fences that the origin had passed before.
    pub(super) epoch: (u32, u32),
    pub(super) purpose: OneSidedTransferPurpose,
}

/// A neighbour exchange: for each member of the group, by its rank there, the members that it sends
/// to and the bytes.
#[derive(Debug)]
pub(super) struct NeighbourExchange {
    pub(super) group: u32,
    pub(super) rows: HashMap<u32, Vec<(u32, u64)>>,
}

/// Messages that begin together, all of which are waited for, or a wait for notifications.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LibflyloomStep {
    /// The messages; one without a tag is left out.
    pub(super) messages: Vec<ResolvedMessage>,
    /// For each message, the arrival that its receive requires; none for other messages.
    pub(super) brought: Vec<Option<LibflyloomArrival>>,
    /// The notifications that are waited for.
    pub(super) took: Vec<LibflyloomArrival>,
}

/// A wait for what another rank sent: the message of this number in a queue, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LibflyloomArrival {
    pub(super) origin: u32,
    pub(super) group: u32,
    pub(super) tag: u32,
    pub(super) number: u32,
}
