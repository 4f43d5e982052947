//! A router's state: arrays by input lane, output lane and port, and bit masks of lanes.
//!
//! A *lane* is a virtual channel of a port. Lane `port << stride | channel` of a router is an index
//! into arrays of a fixed length, a power of two, and a bit of masks. Indices are masked to that
//! length, so access needs no bounds check.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use super::extra::AdditionalRouterState;
use super::source::EndpointPacketSource;
use base::seed::FastRandomStream;
use paths::guide::OutputRequest;

/// The link that the flits of an output port leave by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OutputLink {
    /// The calendar index for the first lane of the next buffer; for a port to an endpoint, the
    /// index for its returning credits.
    pub(super) place: u32,
    /// Cycles from a flit's departure to its arrival; for a port to an endpoint, to the credit's
    /// effect.
    pub(super) delay: u32,
    /// Cycles from a flit's departure to its arrival at an endpoint.
    pub(super) flight: u32,
    /// The bit within the word at `place`.
    pub(super) bit: u8,
}

/// The link that the credits of an input port return by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CreditLink {
    /// The calendar index for the lane that sent the flit.
    pub(super) place: u32,
    /// Cycles from a credit's departure to its effect.
    pub(super) delay: u32,
    /// The bit within the word at `place`.
    pub(super) bit: u8,
}

/// A router. The array sizes are common to all routers of a network.
///
/// `N` lanes, `W` = `N` / 64 words of masks and `M` ports, all powers of two.
#[derive(Debug)]
pub(super) struct RouterState<const N: usize, const W: usize, const M: usize> {
    // by input lane
    /// Ring index of the front flit.
    pub(super) head: [u32; N],
    /// Number of flits in the buffer.
    pub(super) count: [u16; N],
    /// The port and the lanes there that the front packet requests.
    pub(super) want_port: [u16; N],
    pub(super) want_lanes: [u32; N],
    /// The output lane that the front packet has.
    pub(super) out: [u16; N],
    /// Where the round-robin turn among output lanes starts.
    pub(super) in_turn: [u16; N],
    /// For a port of an endpoint: the number of flits that the endpoint may still send.
    pub(super) room: [u16; N],
    /// For a port of an endpoint: the ring index for its next flit.
    pub(super) enter: [u32; N],
    // by output lane
    /// Where the round-robin turn among input lanes starts.
    pub(super) out_turn: [u16; N],
    /// Number of flits that may still be sent.
    pub(super) credits: [u16; N],
    /// Ring index for the next flit in the next router's buffer.
    pub(super) write: [u32; N],
    // by port
    /// Input lanes into which the endpoint at the port may still send, a bit each.
    pub(super) open: [u32; M],
    /// The cycle in which the last flit left, or leaves.
    pub(super) left: [u32; M],
    /// The cycle in which the last credit left, or leaves.
    pub(super) credit_left: [u32; M],
    /// For an input: where its round-robin turn among outputs starts.
    pub(super) switch_in_turn: [u16; M],
    /// For an output: where its round-robin turn among inputs starts.
    pub(super) switch_out_turn: [u16; M],
    /// For an input: where the round-robin turn among its lanes that request the same output
    /// starts.
    pub(super) lane_turn: [u8; M],
    /// Number of flits sent.
    pub(super) sent: [u32; M],
    pub(super) ahead: [OutputLink; M],
    pub(super) back: [CreditLink; M],
    // masks of input lanes; a lane with a flit is in one of the first three, or waits in `extra`
    /// Lanes whose front flit has yet to be routed.
    pub(super) routing: [u64; W],
    /// Lanes whose packet requests an output lane.
    pub(super) asking: [u64; W],
    /// Lanes whose front flit requests the crossbar.
    pub(super) moving: [u64; W],
    /// Lanes whose packet has an output lane but whose next flit has not arrived.
    pub(super) between: [u64; W],
    /// Output lanes that no packet holds.
    pub(super) free: [u64; W],
    /// Outputs that lead to endpoints.
    pub(super) ends: [u64; W],
    /// The router's random numbers.
    pub(super) random: FastRandomStream,
    /// The number of the router.
    pub(super) router: u32,
    /// The index of its first word in a calendar: its words of arrivals, of credits, of credits for
    /// endpoints.
    pub(super) word: u32,
    /// The slot index of that word.
    pub(super) place: u32,
    /// Number of mask words in use.
    pub(super) words: u32,
    /// Number of ports.
    pub(super) ports: u32,
    /// The additional state of a router that is not a plain one.
    pub(super) extra: AdditionalRouterState,
    /// The endpoints that send into it.
    pub(super) sources: Vec<EndpointPacketSource>,
}

impl<const N: usize, const W: usize, const M: usize> RouterState<N, W, M> {
    /// An empty router.
    pub(super) fn new(router: u32, random: FastRandomStream) -> Self {
        Self {
            head: [0; N],
            count: [0; N],
            want_port: [0; N],
            want_lanes: [0; N],
            out: [0; N],
            in_turn: [0; N],
            room: [0; N],
            enter: [0; N],
            out_turn: [0; N],
            credits: [0; N],
            write: [0; N],
            open: [0; M],
            left: [0; M],
            credit_left: [0; M],
            switch_in_turn: [0; M],
            switch_out_turn: [0; M],
            lane_turn: [0; M],
            sent: [0; M],
            ahead: [OutputLink::default(); M],
            back: [CreditLink::default(); M],
            routing: [0; W],
            asking: [0; W],
            moving: [0; W],
            between: [0; W],
            free: [0; W],
            ends: [0; W],
            random,
            router,
            word: 0,
            place: 0,
            words: 0,
            ports: 0,
            extra: AdditionalRouterState::default(),
            sources: Vec::new(),
        }
    }
}

impl<const N: usize, const W: usize, const M: usize> RouterState<N, W, M> {
    /// Whether the packet of an input lane has an output lane.
    pub(super) fn has_lane(&self, i: usize) -> bool {
        let has = self.moving[i / 64] | self.between[i / 64] | self.extra.with_lane(i / 64);
        has >> (i & 63) & 1 == 1
    }

    /// The output that the packet of an input lane requests, if it can request only one.
    #[inline(always)]
    pub(super) fn want(&self, i: usize) -> OutputRequest {
        OutputRequest {
            port: self.want_port[i & (N - 1)],
            lanes: self.want_lanes[i & (N - 1)],
            rank: 0,
        }
    }

    /// Stores the output that the packet of an input lane requests.
    #[inline(always)]
    pub(super) fn set_want(&mut self, i: usize, want: OutputRequest) {
        (self.want_port[i & (N - 1)], self.want_lanes[i & (N - 1)]) = (want.port, want.lanes);
    }

    /// The free output lanes among those of a request.
    #[inline(always)]
    pub(super) fn free_of(&self, want: OutputRequest, stride: u32) -> u32 {
        let first = usize::from(want.port) << stride;
        (self.free[(first >> 6) & (W - 1)] >> (first & 63)) as u32 & want.lanes
    }

    /// The outputs that the packet of an input lane requests.
    pub(super) fn wants_of(&self, i: usize) -> Vec<OutputRequest> {
        self.extra.wants_of(i).unwrap_or_else(|| vec![self.want(i)])
    }
}

/// Iterator over the set bits of several words, ascending.
pub(super) struct MaskBitIterator<const W: usize> {
    masks: [u64; W],
    word: usize,
    /// The bits of the current word that are still to come.
    rest: u64,
}

/// The set bits of `masks`, ascending.
#[inline(always)]
pub(super) fn bits<const W: usize>(masks: [u64; W]) -> MaskBitIterator<W> {
    MaskBitIterator { masks, word: 0, rest: masks[0] }
}

/// The set bits of a mask's word `w`, ascending, numbered within the whole mask.
#[inline(always)]
pub(super) fn bits_of(w: usize, mask: u64) -> WordBitIterator {
    WordBitIterator { first: w * 64, rest: mask }
}

/// Iterator over the set bits of one word of a mask, ascending.
pub(super) struct WordBitIterator {
    /// The number of the word's lowest bit within the mask.
    first: usize,
    rest: u64,
}

impl Iterator for WordBitIterator {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.rest == 0 {
            return None;
        }
        let bit = self.first | self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some(bit)
    }
}

impl<const W: usize> Iterator for MaskBitIterator<W> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.rest == 0 {
            self.word += 1;
            if self.word >= W {
                return None;
            }
            self.rest = self.masks[self.word];
        }
        let bit = self.word * 64 + self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some(bit)
    }
}
