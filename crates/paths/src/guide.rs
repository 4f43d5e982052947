//! What tells a packet at a router where it may go next: port, and virtual channels.

use super::word::Packet;
use base::seed::Fast;
use std::any::Any;

/// An output that a packet wants: a port, and the virtual channels that it may take there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Want {
    /// The port.
    pub port: u16,
    /// The virtual channels, a bit each.
    pub lanes: u32,
    /// Wants of higher rank are asked for first, by allocators that know priorities.
    pub rank: u8,
}

impl Want {
    /// Lanes `low` to `high`, both included, of `port`.
    #[inline]
    pub fn new(port: u16, low: u8, high: u8) -> Self {
        Self { port, lanes: lanes(low, high), rank: 0 }
    }
}

/// Lanes `low` to `high`, both included, a bit each.
#[inline]
pub fn lanes(low: u8, high: u8) -> u32 {
    (u32::MAX >> (31 - u32::from(high))) & (u32::MAX << u32::from(low))
}

/// Flits sent and not yet known to have left the next buffer, of every port of every router.
pub trait Sight {
    /// Those of a port of the router that the packet is at, over all its virtual channels.
    fn used(&self, port: u16) -> u32;

    /// Those of any port of any router, as they were at the end of the last cycle; only where the
    /// guide [`Guide::sees_far`].
    fn used_at(&self, router: u32, port: u16) -> u32;
}

/// Where a packet is, and what can be seen from there.
pub struct Here<'a> {
    /// The router.
    pub router: u32,
    /// The port that it came in by.
    pub in_port: u16,
    /// The virtual channel that it came in on.
    pub lane: u8,
    /// What is on its way from here.
    pub sight: &'a dyn Sight,
    /// The router's random numbers.
    pub random: &'a mut Fast,
}

impl<'a> Here<'a> {
    /// A packet in an input lane of a router whose ports have `1 << stride` lanes each.
    #[inline]
    pub fn new(
        router: u32,
        (lane, stride): (usize, u32),
        sight: &'a dyn Sight,
        random: &'a mut Fast,
    ) -> Self {
        let channel = (lane & ((1 << stride) - 1)) as u8;
        Self { router, in_port: (lane >> stride) as u16, lane: channel, sight, random }
    }
}

/// Routing as routers use it: candidates and the choice among them, in one.
///
/// A guide is asked once a packet and router: when the packet comes to the front of its virtual
/// channel, or, with lookahead, when it leaves the router before.
pub trait Guide: Sync {
    /// Virtual channels that a router must have.
    fn lanes(&self) -> u8;

    /// Numbers that packets carry as `via` are below; 1 where none is carried.
    fn vias(&self) -> u32 {
        1
    }

    /// Whether it asks for [`Sight::used`]: with lookahead that is of the router ahead, as it was
    /// at the end of the last cycle.
    fn sees_queues(&self) -> bool {
        true
    }

    /// Whether it asks for [`Sight::used_at`].
    fn sees_far(&self) -> bool {
        false
    }

    /// Itself as the type that it is, where a simulator may compile its answers into the steps of
    /// routers: one that knows the type calls it directly. The result is the same without.
    fn itself(&self) -> Option<&dyn Any> {
        None
    }

    /// Whether [`Guide::wants`] gives more than one.
    fn has_choices(&self) -> bool {
        false
    }

    /// The virtual channels on which a packet may leave its source; all by default.
    fn inject(&self, source: u32, packet: &mut Packet<'_>, random: &mut Fast) -> u32 {
        let _ = (source, packet, random);
        lanes(0, self.lanes() - 1)
    }

    /// The output that a packet wants.
    fn want(&self, here: &mut Here<'_>, packet: &mut Packet<'_>) -> Want;

    /// Appends all outputs that a packet wants, where it may want more than one.
    fn wants(&self, here: &mut Here<'_>, packet: &mut Packet<'_>, found: &mut Vec<Want>) {
        found.push(self.want(here, packet));
    }
}
