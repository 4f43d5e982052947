//! The routing function of a switch: it names the port and the virtual channels by which a packet
//! may leave the switch.

use super::word::PacketHeader;
use base::seed::FastRandomStream;
use std::any::Any;

/// An output that a packet asks for: a port, and the virtual channels that it may take there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputRequest {
    /// The output port that the packet asks for.
    pub port: u16,
    /// The virtual channels of the port that the packet may take, as a bit mask.
    pub lanes: u32,
    /// Priority of this output: allocators that know priorities grant outputs of higher rank first.
    pub rank: u8,
}

impl OutputRequest {
    /// Asks for virtual channels `low` to `high` of `port`, both included.
    #[inline]
    pub fn new(port: u16, low: u8, high: u8) -> Self {
        Self { port, lanes: lanes(low, high), rank: 0 }
    }
}

/// The bit mask of virtual channels `low` to `high`, both included.
#[inline]
pub fn lanes(low: u8, high: u8) -> u32 {
    (u32::MAX >> (31 - u32::from(high))) & (u32::MAX << u32::from(low))
}

/// The queues that a router knows: for every port, the flits sent through it that the router does
/// not yet know to have left the buffer of the next router.
pub trait QueueView {
    /// The number of flits queued behind a port of the router that the packet is at, summed over
    /// the port's virtual channels.
    fn used(&self, port: u16) -> u32;

    /// The number of flits queued behind any port of any router at the end of the last cycle; valid
    /// only if [`RoutingGuide::sees_far`] is true.
    fn used_at(&self, router: u32, port: u16) -> u32;
}

/// The position of a packet at the input of a router, with the queues that the router knows.
pub struct PacketPosition<'a> {
    /// The router that the packet is at.
    pub router: u32,
    /// The port by which the packet came in, an input port of the router.
    pub in_port: u16,
    /// The virtual channel by which the packet came in.
    pub lane: u8,
    /// The queues that the router knows.
    pub sight: &'a dyn QueueView,
    /// The router's stream of random numbers.
    pub random: &'a mut FastRandomStream,
}

impl<'a> PacketPosition<'a> {
    /// The position of a packet in input lane `lane`, numbered through all ports of the router,
    /// each of which has `1 << stride` lanes.
    #[inline]
    pub fn new(
        router: u32,
        (lane, stride): (usize, u32),
        sight: &'a dyn QueueView,
        random: &'a mut FastRandomStream,
    ) -> Self {
        let channel = (lane & ((1 << stride) - 1)) as u8;
        Self { router, in_port: (lane >> stride) as u16, lane: channel, sight, random }
    }
}

/// The routing function of routers: it finds the candidates for a packet's next hop and chooses
/// among them.
///
/// A guide is asked once for each packet and router: when the packet is the first in its virtual
/// channel or, with lookahead, when it leaves the previous router.
pub trait RoutingGuide: Sync {
    /// Virtual channels that every router must have.
    fn lanes(&self) -> u8;

    /// Upper bound (exclusive) of the numbers that the guide writes into packets as `via`; 1 where
    /// it writes none.
    fn vias(&self) -> u32 {
        1
    }

    /// The number of decisions so far in which a score of the user's was not a number; none where
    /// the selection is a built-in one.
    fn undefined_decisions(&self) -> Option<u64> {
        None
    }

    /// Whether the guide reads [`QueueView::used`]. With lookahead these are the queues of the next
    /// router, as they were at the end of the last cycle.
    fn sees_queues(&self) -> bool {
        true
    }

    /// Whether the guide reads [`QueueView::used_at`].
    fn sees_far(&self) -> bool {
        false
    }

    /// The guide as its concrete type, or `None`. A simulator that knows the type calls it without
    /// dynamic dispatch, so that the compiler can inline it; results do not depend on that.
    fn itself(&self) -> Option<&dyn Any> {
        None
    }

    /// Whether [`RoutingGuide::wants`] may return more than one output.
    fn has_choices(&self) -> bool {
        false
    }

    /// The virtual channels on which a packet may leave its source, as a bit mask; all by default.
    fn inject(
        &self,
        source: u32,
        packet: &mut PacketHeader<'_>,
        random: &mut FastRandomStream,
    ) -> u32 {
        let _ = (source, packet, random);
        lanes(0, self.lanes() - 1)
    }

    /// Chooses the one output that a packet asks for.
    fn want(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>) -> OutputRequest;

    /// Appends all outputs that a packet may take, for guides that leave the choice to the
    /// allocator.
    fn wants(
        &self,
        here: &mut PacketPosition<'_>,
        packet: &mut PacketHeader<'_>,
        found: &mut Vec<OutputRequest>,
    ) {
        found.push(self.want(here, packet));
    }
}
