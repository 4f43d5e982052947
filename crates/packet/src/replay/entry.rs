//! The state of the processes of an endpoint, and the changes that an engine may undo.

/// An entry of a matching list: a receive or a message that waits, or a transfer agreed on by both
/// sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchingListEntry {
    /// The rank at the other end; for an agreed transfer, the operation that sends.
    pub(super) from: u32,
    /// The tag of the message.
    pub(super) tag: u32,
    /// The operation that receives; for a message, its number.
    pub(super) what: u32,
}

/// One of the matching lists of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchingListKind {
    /// Posted receives without a message.
    Posted,
    /// Messages, and requests to send, without a receive.
    Unexpected,
    /// Long messages that have been accepted and are to come, with their receives.
    Agreed,
}

/// The times of a process, and the number of its incomplete operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessClock {
    /// Number of operations that are not complete.
    pub(super) left: u32,
    /// The time at which the first operation began, ps; none before that.
    pub(super) first_ps: Option<u64>,
    /// The time at which the last operation was completed, ps.
    pub(super) last_ps: u64,
    /// Time that the process spent in calculations, ps.
    pub(super) calculated_ps: u64,
}

/// The state that the processes of an endpoint share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointSharedState {
    /// The time from which the network interface can accept the next message, ps.
    pub(super) takes_ps: u64,
    /// The time from which the next copy between processes may begin, ps.
    pub(super) copies_ps: u64,
    /// Messages that background jobs have sent from this endpoint.
    pub(super) sent: u32,
    /// Number of endpoints that have reported that their processes are done.
    pub(super) done: u32,
    /// Whether background jobs have to stop.
    pub(super) is_over: bool,
}

/// A change to the processes of an endpoint, as the value before it.
#[derive(Debug, Clone, Copy)]
pub enum ProcessChange {
    /// The state that the processes share.
    Host(EndpointSharedState),
    /// The clock of a process.
    Clock(u16, ProcessClock),
    /// The number of dependencies that an operation of a process waits for has decreased by one.
    Count(u16, u32),
    /// The time from which a processor of a process is free.
    Free(u16, u8, u64),
    /// An entry was appended to a list.
    Listed(u16, MatchingListKind),
    /// An entry was removed from a list, with its index and the entry.
    Delisted(u16, MatchingListKind, u32, MatchingListEntry),
}
