//! A router's state: arrays by input lane, output lane and port, and masks of who wants what.
//!
//! A *lane* is a virtual channel of a port; lane `port << stride | channel` of a router is a place
//! in arrays of a fixed length, a power of two, and a bit of masks: an index is masked, never
//! refused.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use super::full::Extra;
use super::source::Source;
use super::unpacked;
use crate::flit::guide::Want;
use base::seed::Fast;

/// Where the flits of an output port go.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ahead {
    /// The first place of the next buffer's first lane.
    pub(super) ring: u32,
    /// The calendar's word for that lane; for an endpoint's port, the word of its credits.
    pub(super) word: u32,
    /// The bit in it.
    pub(super) bit: u32,
    /// Cycles from leaving to arriving, for an endpoint's port to the credit's counting.
    pub(super) delay: u32,
    /// 1 where it is an endpoint's.
    pub(super) ends: u32,
    /// Cycles from leaving to arriving at an endpoint.
    pub(super) flight: u32,
}

/// Where the credits of an input port go.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Back {
    /// The calendar's word for the lane that sent.
    pub(super) word: u32,
    /// The bit in it.
    pub(super) bit: u32,
    /// Cycles from leaving to counting.
    pub(super) delay: u32,
}

/// Sizes that a network's routers have in arrays: lanes, words of masks, ports.
///
/// One router: `N` lanes, `W` = `N` / 64 words of masks, `M` ports, all powers of two.
#[derive(Debug)]
pub(super) struct Unit<const N: usize, const W: usize, const M: usize> {
    // by input lane
    /// Where in its ring the front flit is.
    pub(super) head: [u16; N],
    /// Flits that have arrived.
    pub(super) count: [u16; N],
    /// What the packet at the front wants: port << 32 | lanes.
    pub(super) want: [u64; N],
    /// The output lane that it has.
    pub(super) out: [u16; N],
    /// Where its turn among output lanes begins.
    pub(super) in_turn: [u16; N],
    /// Flits that an endpoint may still send.
    pub(super) room: [u16; N],
    /// Where in its ring an endpoint's next flit goes.
    pub(super) enter: [u16; N],
    // by output lane
    /// Where its turn among input lanes begins.
    pub(super) out_turn: [u16; N],
    /// Flits that may still be sent.
    pub(super) credits: [u16; N],
    /// Where in the next ring the next flit goes.
    pub(super) write: [u16; N],
    // by port
    /// Output lanes that no packet has, a bit each.
    pub(super) free: [u32; M],
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
    pub(super) ahead: [Ahead; M],
    pub(super) back: [Back; M],
    // masks of input lanes
    /// Whose front flit is to be routed.
    pub(super) routing: [u64; W],
    /// Whose packet wants an output lane.
    pub(super) asking: [u64; W],
    /// Whose front flit wants the crossbar.
    pub(super) moving: [u64; W],
    /// Whose packet has an output lane.
    pub(super) active: [u64; W],
    /// The router's random numbers.
    pub(super) random: Fast,
    /// Its number.
    pub(super) router: u32,
    /// Where its rings begin.
    pub(super) ring: u32,
    /// Where its words of a calendar begin: arrivals, credits, credits of endpoints.
    pub(super) word: u32,
    /// Words of masks in use.
    pub(super) words: u32,
    /// Ports.
    pub(super) ports: u32,
    /// What it has besides, where it is not of the usual kind.
    pub(super) extra: Extra,
    /// Endpoints that send into it.
    pub(super) sources: Vec<Source>,
}

impl<const N: usize, const W: usize, const M: usize> Unit<N, W, M> {
    /// An empty router.
    pub(super) fn new(router: u32, random: Fast) -> Self {
        Self {
            head: [0; N],
            count: [0; N],
            want: [0; N],
            out: [0; N],
            in_turn: [0; N],
            room: [0; N],
            enter: [0; N],
            out_turn: [0; N],
            credits: [0; N],
            write: [0; N],
            free: [0; M],
            left: [0; M],
            credit_left: [0; M],
            switch_in_turn: [0; M],
            switch_out_turn: [0; M],
            lane_turn: [0; M],
            sent: [0; M],
            ahead: [Ahead::default(); M],
            back: [Back::default(); M],
            routing: [0; W],
            asking: [0; W],
            moving: [0; W],
            active: [0; W],
            random,
            router,
            ring: 0,
            word: 0,
            words: 0,
            ports: 0,
            extra: Extra::default(),
            sources: Vec::new(),
        }
    }
}

impl<const N: usize, const W: usize, const M: usize> Unit<N, W, M> {
    /// Whether the packet of an input lane has an output lane.
    pub(super) fn has_lane(&self, i: usize) -> bool {
        (self.active[i / 64] | self.extra.is_pending(i / 64)) >> (i & 63) & 1 == 1
    }

    /// What the packet of an input lane that asks wants.
    pub(super) fn wants_of(&self, i: usize) -> Vec<Want> {
        self.extra.wants_of(i).unwrap_or_else(|| vec![unpacked(self.want[i])])
    }
}

/// Calls `visit` for every bit of a mask's word `w`, ascending.
#[inline(always)]
pub(super) fn each_of(w: usize, mut mask: u64, mut visit: impl FnMut(usize)) {
    while mask != 0 {
        visit(w * 64 + mask.trailing_zeros() as usize);
        mask &= mask - 1;
    }
}

/// Calls `visit` for every bit of `masks`, ascending.
#[inline(always)]
pub(super) fn each<const W: usize>(masks: [u64; W], mut visit: impl FnMut(usize)) {
    for (w, mask) in masks.into_iter().enumerate() {
        each_of(w, mask, &mut visit);
    }
}
