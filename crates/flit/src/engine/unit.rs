//! A router's state: arrays by input lane, output lane and port, and masks of who wants what.
//!
//! A *lane* is a virtual channel of a port; lane `port << stride | channel` of a router is a place
//! in arrays of a fixed length, a power of two, and a bit of masks: an index is masked, never
//! refused.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use super::extra::RouterExtras;
use super::source::EndpointSource;
use base::seed::FastStream;
use paths::guide::OutputRequest;

/// The link that the flits of an output port leave by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OutputLink {
    /// The calendar's place for the next buffer's first lane; for an endpoint's port, that of its
    /// credits.
    pub(super) place: u32,
    /// Cycles from leaving to arriving, for an endpoint's port to the credit's counting.
    pub(super) delay: u32,
    /// Cycles from leaving to arriving at an endpoint.
    pub(super) flight: u32,
    /// The bit at the place.
    pub(super) bit: u8,
}

/// The link that the credits of an input port return by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CreditLink {
    /// The calendar's place for the lane that sent.
    pub(super) place: u32,
    /// Cycles from leaving to counting.
    pub(super) delay: u32,
    /// The bit at the place.
    pub(super) bit: u8,
}

/// Sizes that a network's routers have in arrays: lanes, words of masks, ports.
///
/// One router: `N` lanes, `W` = `N` / 64 words of masks, `M` ports, all powers of two.
#[derive(Debug)]
pub(super) struct RouterUnit<const N: usize, const W: usize, const M: usize> {
    // by input lane
    /// Where its front flit is.
    pub(super) head: [u32; N],
    /// Flits that have arrived.
    pub(super) count: [u16; N],
    /// What the packet at the front wants: port, and lanes there.
    pub(super) want_port: [u16; N],
    pub(super) want_lanes: [u32; N],
    /// The output lane that it has.
    pub(super) out: [u16; N],
    /// Where its turn among output lanes begins.
    pub(super) in_turn: [u16; N],
    /// Flits that an endpoint may still send.
    pub(super) room: [u16; N],
    /// Where an endpoint's next flit goes.
    pub(super) enter: [u32; N],
    // by output lane
    /// Where its turn among input lanes begins.
    pub(super) out_turn: [u16; N],
    /// Flits that may still be sent.
    pub(super) credits: [u16; N],
    /// Where the next flit goes.
    pub(super) write: [u32; N],
    // by port
    /// Input lanes into which the endpoint there may still send, a bit each.
    pub(super) open: [u32; M],
    /// The cycle in which the last flit left, or leaves.
    pub(super) left: [u32; M],
    /// The cycle in which the last credit left, or leaves.
    pub(super) credit_left: [u32; M],
    /// Where the input's turn among outputs begins.
    pub(super) switch_in_turn: [u16; M],
    /// Where the output's turn among inputs begins.
    pub(super) switch_out_turn: [u16; M],
    /// Where the turn among the lanes of an input begins that want the same output.
    pub(super) lane_turn: [u8; M],
    /// Flits sent.
    pub(super) sent: [u32; M],
    pub(super) ahead: [OutputLink; M],
    pub(super) back: [CreditLink; M],
    // masks of input lanes; one with a flit is in one of the first three, or waits in `extra`
    /// Whose front flit is to be routed.
    pub(super) routing: [u64; W],
    /// Whose packet wants an output lane.
    pub(super) asking: [u64; W],
    /// Whose front flit wants the crossbar.
    pub(super) moving: [u64; W],
    /// Whose packet has an output lane and whose next flit has not come.
    pub(super) between: [u64; W],
    /// Output lanes that no packet has.
    pub(super) free: [u64; W],
    /// Outputs to endpoints.
    pub(super) ends: [u64; W],
    /// The router's random numbers.
    pub(super) random: FastStream,
    /// Its number.
    pub(super) router: u32,
    /// Its first word of a calendar: arrivals, credits, credits of endpoints.
    pub(super) word: u32,
    /// The place of that word.
    pub(super) place: u32,
    /// Words of masks in use.
    pub(super) words: u32,
    /// Ports.
    pub(super) ports: u32,
    /// What it has besides, where it is not of the usual kind.
    pub(super) extra: RouterExtras,
    /// Endpoints that send into it.
    pub(super) sources: Vec<EndpointSource>,
}

impl<const N: usize, const W: usize, const M: usize> RouterUnit<N, W, M> {
    /// An empty router.
    pub(super) fn new(router: u32, random: FastStream) -> Self {
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
            extra: RouterExtras::default(),
            sources: Vec::new(),
        }
    }
}

impl<const N: usize, const W: usize, const M: usize> RouterUnit<N, W, M> {
    /// Whether the packet of an input lane has an output lane.
    pub(super) fn has_lane(&self, i: usize) -> bool {
        let has = self.moving[i / 64] | self.between[i / 64] | self.extra.with_lane(i / 64);
        has >> (i & 63) & 1 == 1
    }

    /// What the packet of an input lane wants, where that is one output.
    #[inline(always)]
    pub(super) fn want(&self, i: usize) -> OutputRequest {
        OutputRequest {
            port: self.want_port[i & (N - 1)],
            lanes: self.want_lanes[i & (N - 1)],
            rank: 0,
        }
    }

    /// Writes down what it wants.
    #[inline(always)]
    pub(super) fn set_want(&mut self, i: usize, want: OutputRequest) {
        (self.want_port[i & (N - 1)], self.want_lanes[i & (N - 1)]) = (want.port, want.lanes);
    }

    /// The output lanes of a want that are free.
    #[inline(always)]
    pub(super) fn free_of(&self, want: OutputRequest, stride: u32) -> u32 {
        let first = usize::from(want.port) << stride;
        (self.free[(first >> 6) & (W - 1)] >> (first & 63)) as u32 & want.lanes
    }

    /// What the packet of an input lane that asks wants.
    pub(super) fn wants_of(&self, i: usize) -> Vec<OutputRequest> {
        self.extra.wants_of(i).unwrap_or_else(|| vec![self.want(i)])
    }
}

/// The bits of masks, ascending.
pub(super) struct MaskBits<const W: usize> {
    masks: [u64; W],
    word: usize,
    /// What is left of that word.
    rest: u64,
}

/// The bits of `masks`, ascending.
#[inline(always)]
pub(super) fn bits<const W: usize>(masks: [u64; W]) -> MaskBits<W> {
    MaskBits { masks, word: 0, rest: masks[0] }
}

/// The bits of a mask's word `w`, ascending.
#[inline(always)]
pub(super) fn bits_of(w: usize, mask: u64) -> WordBits {
    WordBits { first: w * 64, rest: mask }
}

/// The bits of a mask's word, ascending.
pub(super) struct WordBits {
    /// The number of the word's lowest bit.
    first: usize,
    rest: u64,
}

impl Iterator for WordBits {
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

impl<const W: usize> Iterator for MaskBits<W> {
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
