//! What handlers run in: an engine's context, and the changes that it may take back.

use super::event::Happens;
use super::nic::Nic;
use super::port::{Lane, Port, Spell, Waiting};
use super::received::{Partly, Seen};
use super::replay::Played;
use super::tally::Arrival;
use base::seed::Fast;
use des::Lp;

/// What handlers of routers and endpoints run in: [`des::Context`] of this model.
pub trait Runs {
    /// The logical process that handles an event.
    fn me(&self) -> Lp;

    /// The time of the event, ps.
    fn now_ps(&self) -> u64;

    /// Sends an event to a logical process, which handles it so much later, ps.
    fn send(&mut self, to: Lp, delay_ps: u64, event: Happens);

    /// Notes what is changed, as it was before, where it may be taken back.
    fn note(&mut self, change: impl FnOnce() -> Change);

    /// Counts a chunk that has arrived.
    fn record(&mut self, arrival: Arrival);
}

/// What was changed, as it was before.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    /// Random numbers.
    Dice(Fast),
    /// A port.
    Port(u16, Port),
    /// A lane.
    Lane(u32, Lane),
    /// There is one slot more.
    Grown,
    /// A free slot was taken; what it held.
    Taken(u32, Waiting),
    /// A slot got another successor; which it had.
    Linked(u32, u32),
    /// A slot became free; what it held.
    Freed(u32, Waiting),
    /// What is kept to share ports among classes.
    Tag(u32, u64),
    /// What a port has sent is kept.
    Kept(u16),
    /// What a port had sent is kept no longer.
    Forgot(u16, Spell),
    /// All jobs are done.
    Ended,
    /// The interface of an endpoint for a class.
    Nic(u8, Nic),
    /// What an endpoint had received.
    Seen(Seen),
    /// When the youngest packet of a sender began, by its place; none where there was no such
    /// place.
    Heard(u32, Option<u64>),
    /// A part of a message came; what was missing of it before, none where it is the first part.
    PartCame(u32, Option<Partly>),
    /// All of a message is there; what was missing before.
    AllCame(u32, Partly),
    /// The processes of an endpoint.
    Played(Played),
}
