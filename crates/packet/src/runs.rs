//! The context of event handlers: what they may request from the engine, and the changes that the
//! engine may undo.

use super::event::Event;
use super::nic::Nic;
use super::port::{ChunkTransmission, Port, PortVirtualChannel, QueuedChunk};
use super::received::{EndpointReceivedTotals, PartialMessage};
use super::replay::ProcessChange;
use super::tally::ChunkArrival;
use base::seed::FastRandomStream;
use des::LpNumber;

/// The context of event handlers of routers and endpoints: [`des::HandlerContext`] for this model.
pub trait EventHandlerContext {
    /// The logical process that handles an event.
    fn me(&self) -> LpNumber;

    /// The time of the event, ps.
    fn now_ps(&self) -> u64;

    /// Sends an event to a logical process, which handles it `delay_ps` later.
    fn send(&mut self, to: LpNumber, delay_ps: u64, event: Event);

    /// Records a change as the value before it, if the engine may have to undo it.
    fn note(&mut self, change: impl FnOnce() -> NodeStateChange);

    /// Counts a chunk that has arrived.
    fn record(&mut self, arrival: ChunkArrival);
}

/// A change to the state of a router or an endpoint, as the value before it.
#[derive(Debug, Clone, Copy)]
pub enum NodeStateChange {
    /// The stream of random numbers.
    Dice(FastRandomStream),
    /// A port, by its number.
    Port(u16, Port),
    /// A lane, by its index.
    Lane(u32, PortVirtualChannel),
    /// A slot was added.
    Grown,
    /// A free slot was taken; its number and old content.
    Taken(u32, QueuedChunk),
    /// A slot got another successor; its number and old successor.
    Linked(u32, u32),
    /// A slot became free; its number and old content.
    Freed(u32, QueuedChunk),
    /// A number by which classes of traffic share a port.
    Tag(u32, u64),
    /// A transmission of a port was added to the recent ones.
    Kept(u16),
    /// A transmission of a port was dropped from the recent ones.
    Forgot(u16, ChunkTransmission),
    /// All jobs are done.
    Ended,
    /// The network interface of a class of traffic.
    Nic(u8, Nic),
    /// The totals of what an endpoint has received.
    Received(EndpointReceivedTotals),
    /// The latest scheduling time of packets of a sender, by the sender's index in the list; none
    /// if the entry was added.
    Youngest(u32, Option<u64>),
    /// A part of a message arrived: the index of the message, and what was missing before; none if
    /// it was the first part.
    PartCame(u32, Option<PartialMessage>),
    /// The last part of a message arrived: the index of the message, and what was missing before.
    AllCame(u32, PartialMessage),
    /// The processes of an endpoint.
    Process(ProcessChange),
}
