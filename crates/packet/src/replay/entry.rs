//! What is kept of the processes of an endpoint, and what of it an engine may take back.

/// A receive or a message that waits, or what two sides have agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The other rank; of an agreement the operation that sends.
    pub(super) from: u32,
    /// The tag.
    pub(super) tag: u32,
    /// The operation that receives; of a message its number.
    pub(super) what: u32,
}

/// Which list of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Receives without a message.
    Posted,
    /// Messages, and questions, without a receive.
    Unexpected,
    /// Long messages that are to come, with their receives.
    Agreed,
}

/// When things of a process happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Operations that are not done.
    pub(super) left: u32,
    /// When the first began, ps.
    pub(super) first_ps: Option<u64>,
    /// When the last one was done, ps.
    pub(super) last_ps: u64,
    /// Time of its calculations, ps.
    pub(super) calculated_ps: u64,
}

/// What an endpoint does for all of its processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Desk {
    /// When the interface takes the next message, ps.
    pub(super) takes_ps: u64,
    /// When the next copy between processes may begin, ps.
    pub(super) copies_ps: u64,
    /// Messages sent in the background.
    pub(super) sent: u32,
    /// Endpoints that said that they are done.
    pub(super) done: u32,
    /// Whether the background is over.
    pub(super) is_over: bool,
}

/// What was changed, as it was before.
#[derive(Debug, Clone, Copy)]
pub enum Played {
    /// The desk.
    Desk(Desk),
    /// The clock of a process.
    Clock(u16, Clock),
    /// An operation waits for one thing less.
    Count(u16, u32),
    /// A processor's time.
    Free(u16, u8, u64),
    /// A list got an entry.
    Listed(u16, List),
    /// A list lost the entry that was at this place.
    Delisted(u16, List, u32, Entry),
}
