//! What all routers read while they step: the network, its traffic, and their view of queues.

use super::assignment::RailAssignmentInputs;
use super::board::{SharedRouterState, SharedWords};
use crate::router::{PacketPriorityRule, RouterDesign};
use paths::guide::{OutputRequest, QueueView};
use paths::wiring::RouterWiring;
use paths::word::FlitLayout;
use std::ops::Range;
use traffic::process::InjectedTrafficClass;

/// Internal steps of routers are counted in millionths; this is one step.
pub(super) const WHOLE: u64 = 1_000_000;

/// Stands for the number of lanes of a port if that is known only at run time.
pub(super) const ANY: u32 = u32::MAX;

/// The index after `at` in a ring buffer whose size is a power of two, `ring_mask + 1`.
#[inline]
pub(super) fn next_place(at: u32, ring_mask: u32) -> u32 {
    at ^ (at ^ (at + 1)) & ring_mask
}

/// An output request in one word: the port in the upper bits, the lanes in the lower ones. See
/// [`unpacked`].
#[inline]
pub(super) fn packed(want: OutputRequest) -> u64 {
    u64::from(want.port) << 32 | u64::from(want.lanes)
}

/// The output request in a word from [`packed`].
#[inline]
pub(super) fn unpacked(want: u64) -> OutputRequest {
    OutputRequest { port: (want >> 32) as u16, lanes: want as u32, rank: 0 }
}

/// The data that does not change during a step of cycles: network, traffic, and what to count.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct CycleContext<'a, G: ?Sized> {
    pub(super) guide: &'a G,
    pub(super) wiring: &'a RouterWiring,
    pub(super) router: &'a RouterDesign,
    pub(super) classes: &'a [InjectedTrafficClass],
    /// The urgency of each class.
    pub(super) urgencies: &'a [u32],
    /// The simulation ends before this cycle.
    pub(super) end: u32,
    pub(super) layout: FlitLayout,
    pub(super) board: &'a SharedRouterState,
    /// The virtual channels of a port take `1 << stride` array elements.
    pub(super) stride: u32,
    /// Ring buffer size minus one. The size is a power of two, so `next_place` wraps with this
    /// mask.
    pub(super) ring_mask: u32,
    /// Capacity of a buffer in flits.
    pub(super) full: u32,
    /// The distance in slots between two words of a calendar.
    pub(super) pitch: u32,
    /// Internal steps per cycle, in millionths.
    pub(super) speed: u64,
    /// The measured cycles: packets staged and flits arriving in them count.
    pub(super) counted: Range<u32>,
    /// Whether packets count that were created in the measured cycles and are staged later.
    pub(super) counts_late: bool,
    /// Bits set in every flit on arrival, besides its own: [`COUNTED`](paths::word::COUNTED) if all
    /// packets count, whenever they were staged, else 0.
    pub(super) counts_as: u64,
    /// Flits that arrive in this cycle or later are not counted yet.
    pub(super) counts_before: u32,
    /// Whether the age of a packet starts when it is staged, so that its wait in the source queue
    /// does not count.
    pub(super) age_from_staging: bool,
    /// Whether some router reads the queues of other routers.
    pub(super) sees_far: bool,
    /// How packets are assigned to rails that create no packets themselves; none if all create
    /// their own.
    pub(super) assignment: Option<RailAssignmentInputs<'a>>,
    /// Whether routers take the plain step.
    pub(super) is_plain: bool,
    /// For each router, the index of its first port in a list of the ports of all routers.
    pub(super) first_port: &'a [u32],
}

impl<G: ?Sized> CycleContext<'_, G> {
    /// The urgency of a packet: allocators serve the most urgent first.
    #[inline]
    pub(super) fn urgency(&self, flit: u64, now: u32) -> u32 {
        match self.router.priority {
            PacketPriorityRule::RoundRobin => 0,
            PacketPriorityRule::Age => self.layout.age(flit, now.into()).min(1 << 24) as u32,
            PacketPriorityRule::NetworkAge => self.layout.time_inside(flit, now),
            PacketPriorityRule::Class => self.urgencies[self.layout.class(flit) as usize],
        }
    }

    /// The number of array elements for the lanes of a port, as a binary logarithm.
    #[inline]
    pub(super) fn stride<const S: u32>(&self) -> u32 {
        if S < ANY { S } else { self.stride }
    }

    /// The number of internal steps of routers in a cycle.
    #[inline]
    pub(super) fn steps(&self, cycle: u32) -> u32 {
        if self.speed.is_multiple_of(WHOLE) {
            return (self.speed / WHOLE) as u32;
        }
        let until = |c: u64| c * self.speed / WHOLE;
        (until(u64::from(cycle) + 1) - until(cycle.into())) as u32
    }

    /// The place after a flit's, around the end of its ring.
    #[inline]
    pub(super) fn next_place(&self, at: u32) -> u32 {
        next_place(at, self.ring_mask)
    }

    /// The view of its own queues in cycle `now`, for a router with these credits.
    #[inline]
    pub(super) fn near<'b, const S: u32, const N: usize>(
        &'b self,
        credits: &'b [u16; N],
        now: u32,
    ) -> LocalQueueView<'b, G, S, N> {
        let full = self.full * u32::from(self.router.virtual_channels);
        LocalQueueView { credits, full, now, on: self }
    }

    /// The view that other routers have of this router's queues in cycle `now`.
    pub(super) fn seen_from_afar(&self, router: u32, now: u32) -> RemoteQueueView<'_> {
        let used = &self.board.used[(now as usize + 1) % 2];
        RemoteQueueView { used, first_port: self.first_port, router }
    }
}

/// A router's view of its own queues, and of others as they were a cycle ago.
pub(super) struct LocalQueueView<'a, G: ?Sized, const S: u32, const N: usize> {
    credits: &'a [u16; N],
    /// The number of credits of a port if the buffer behind it is empty.
    full: u32,
    now: u32,
    on: &'a CycleContext<'a, G>,
}

impl<G: ?Sized, const S: u32, const N: usize> QueueView for LocalQueueView<'_, G, S, N> {
    #[inline]
    fn used(&self, port: u16) -> u32 {
        if S == 2 {
            // four credits of 16 bits are one word, and a product adds them up: a buffer has 8192
            // at most
            let four: [u16; 4] = self.credits.as_chunks().0[usize::from(port) & (N / 4 - 1)];
            let word = four.into_iter().rev().fold(0, |word, c| word << 16 | u64::from(c));
            return self.full - (word.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32;
        }
        let first = usize::from(port) << self.on.stride;
        let credits = &self.credits[first..first + (1 << self.on.stride)];
        self.full - credits.iter().map(|&c| u32::from(c)).sum::<u32>()
    }

    fn used_at(&self, router: u32, port: u16) -> u32 {
        self.on.seen_from_afar(router, self.now).used_at(router, port)
    }
}

/// The view that other routers have of a router's queues: their state at the end of the last cycle.
pub(super) struct RemoteQueueView<'a> {
    used: &'a SharedWords,
    first_port: &'a [u32],
    router: u32,
}

impl QueueView for RemoteQueueView<'_> {
    fn used(&self, port: u16) -> u32 {
        self.used_at(self.router, port)
    }

    fn used_at(&self, router: u32, port: u16) -> u32 {
        self.used.get(self.first_port[router as usize] as usize + usize::from(port)) as u32
    }
}
