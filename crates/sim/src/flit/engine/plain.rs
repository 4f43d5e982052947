//! A step of the usual router, as fast as we can make it: separable allocators, all delays of one.
//!
//! Everything that is asked for is asked of the state before the step: virtual channels, then the
//! crossbar; then packets are routed; then what was asked for is given. Of several that want the
//! same, the one least far behind the turn gets it: a distance in 16 bits, which below the turn
//! wraps around to the far end, beside a number, so that one comparison of words decides.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use super::board::Calendar;
use super::unit::Unit;
use super::{Context, Near, Scratch, packed};
use crate::flit::guide::{Guide, Here};
use crate::flit::word::{HOP, Packet};

/// Runs a block for every bit of masks, ascending.
macro_rules! bits {
    ($masks:expr, $bit:ident => $block:block) => {
        for (w, mask) in $masks.into_iter().enumerate() {
            let mut mask: u64 = mask;
            while mask != 0 {
                let $bit = w * 64 + mask.trailing_zeros() as usize;
                mask &= mask - 1;
                $block
            }
        }
    };
}

/// Nobody asks.
const NOBODY: u32 = u32::MAX;

/// One step of a router in cycle `now`; flits are through the crossbar in cycle `through`.
#[inline]
pub(super) fn step<G: Guide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut Unit<N, W, M>,
    scratch: &mut Scratch<N, W, M>,
    on: &Context<'_, G>,
    calendar: &Calendar,
    (now, through): (u32, u32),
) {
    ask_lanes(unit, scratch, on.stride);
    ask_crossbar(unit, scratch, on.stride);
    route(unit, on, now);
    give_lanes(unit, scratch, on.stride);
    give_crossbar(unit, scratch, on, calendar, (now, through));
}

/// Each packet that wants an output lane chooses one; each output lane, one of those.
#[inline(always)]
fn ask_lanes<const N: usize, const W: usize, const M: usize>(
    unit: &mut Unit<N, W, M>,
    scratch: &mut Scratch<N, W, M>,
    stride: u32,
) {
    let mut asked = [0; W];
    bits!(unit.asking, i => {
        let want = unit.want[i & (N - 1)];
        let port = (want >> 32) as usize;
        let free = unit.free[port & (M - 1)] & want as u32;
        if free == 0 {
            continue;
        }
        let first = (port << stride) as u16;
        let turn = unit.in_turn[i & (N - 1)].wrapping_sub(first);
        let turn = if turn < 32 { u32::from(turn) } else { 0 };
        let ahead = free >> turn << turn;
        let lane = if ahead == 0 { free } else { ahead }.trailing_zeros();
        let x = first as usize + lane as usize;
        let key = key(i, unit.out_turn[x & (N - 1)]);
        let best = &mut scratch.lanes[x & (N - 1)];
        *best = key.min(*best);
        asked[(x >> 6) & (W - 1)] |= 1 << (x & 63);
    });
    scratch.lanes_asked = asked;
}

/// Who is least far behind the turn has the least key.
#[inline(always)]
fn key(number: usize, turn: u16) -> u32 {
    u32::from((number as u16).wrapping_sub(turn)) << 16 | number as u32
}

/// Each input chooses one of its lanes that may move; each output, one of those inputs.
#[inline(always)]
fn ask_crossbar<const N: usize, const W: usize, const M: usize>(
    unit: &mut Unit<N, W, M>,
    scratch: &mut Scratch<N, W, M>,
    stride: u32,
) {
    let channel = (1 << stride) - 1;
    let mut inputs = [0; W];
    bits!(unit.moving, i => {
        let x = usize::from(unit.out[i & (N - 1)]);
        if unit.credits[x & (N - 1)] == 0 {
            continue;
        }
        let (port, v) = (i >> stride, i & channel);
        let out = (x >> stride) as u16;
        let behind = u32::from(out.wrapping_sub(unit.switch_in_turn[port & (M - 1)]));
        let lane = (v as u8).wrapping_sub(unit.lane_turn[port & (M - 1)]);
        let key = behind << 16 | u32::from(lane) << 8 | v as u32;
        let best = &mut scratch.inputs[port & (M - 1)];
        *best = key.min(*best);
        inputs[(port >> 6) & (W - 1)] |= 1 << (port & 63);
    });
    let mut asked = [0; W];
    bits!(inputs, port => {
        let best = std::mem::replace(&mut scratch.inputs[port & (M - 1)], NOBODY);
        let i = port << stride | (best & 0xff) as usize;
        let out = usize::from(unit.out[i & (N - 1)]) >> stride;
        let behind = (port as u16).wrapping_sub(unit.switch_out_turn[out & (M - 1)]);
        let key = u32::from(behind) << 16 | i as u32;
        let best = &mut scratch.outputs[out & (M - 1)];
        *best = key.min(*best);
        asked[(out >> 6) & (W - 1)] |= 1 << (out & 63);
    });
    scratch.outputs_asked = asked;
}

/// Packets that have come to the front learn what they want.
#[inline(always)]
fn route<G: Guide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut Unit<N, W, M>,
    on: &Context<'_, G>,
    now: u32,
) {
    let waiting = std::mem::replace(&mut unit.routing, [0; W]);
    let full = on.full * u32::from(on.router.virtual_channels);
    let far = on.seen_from_afar(unit.router, now);
    let sight = Near { credits: &unit.credits, stride: on.stride, full, far };
    bits!(waiting, i => {
        let head = usize::from(unit.head[i & (N - 1)]);
        let at = unit.ring as usize + (i << on.ring_bits) + head;
        let mut flit = on.board.rings.get(at);
        let before = flit;
        let mut here = Here {
            router: unit.router,
            in_port: (i >> on.stride) as u16,
            lane: (i & ((1 << on.stride) - 1)) as u8,
            sight: &sight,
            random: &mut unit.random,
        };
        let want = on.guide.want(&mut here, &mut Packet::new(&mut flit, &on.layout));
        unit.want[i & (N - 1)] = packed(want);
        if flit != before {
            on.board.rings.set(at, flit);
        }
    });
    for w in 0..W {
        unit.asking[w] |= waiting[w];
    }
}

/// Output lanes go to those chosen.
#[inline(always)]
fn give_lanes<const N: usize, const W: usize, const M: usize>(
    unit: &mut Unit<N, W, M>,
    scratch: &mut Scratch<N, W, M>,
    stride: u32,
) {
    let channel = (1 << stride) - 1;
    bits!(scratch.lanes_asked, x => {
        let best = std::mem::replace(&mut scratch.lanes[x & (N - 1)], NOBODY);
        let i = (best & 0xffff) as usize;
        unit.out[i & (N - 1)] = x as u16;
        unit.in_turn[i & (N - 1)] = x as u16 + 1;
        unit.out_turn[x & (N - 1)] = i as u16 + 1;
        unit.free[(x >> stride) & (M - 1)] &= !(1 << (x & channel));
        let (w, bit) = ((i >> 6) & (W - 1), 1 << (i & 63));
        unit.asking[w] &= !bit;
        unit.moving[w] |= bit;
        unit.active[w] |= bit;
    });
}

/// Flits go to those chosen; they are through in cycle `through`, and leave when their port can.
#[inline(always)]
fn give_crossbar<G: Guide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut Unit<N, W, M>,
    scratch: &mut Scratch<N, W, M>,
    on: &Context<'_, G>,
    calendar: &Calendar,
    (now, through): (u32, u32),
) {
    let (stride, channel) = (on.stride, (1 << on.stride) - 1);
    bits!(scratch.outputs_asked, out => {
        let best = std::mem::replace(&mut scratch.outputs[out & (M - 1)], NOBODY);
        let i = (best & 0xffff) as usize;
        let (port, v, x) = (i >> stride, i & channel, usize::from(unit.out[i & (N - 1)]));
        unit.switch_in_turn[port & (M - 1)] = out as u16 + 1;
        unit.switch_out_turn[out & (M - 1)] = port as u16 + 1;
        unit.lane_turn[port & (M - 1)] = v as u8 + 1;

        let head = unit.head[i & (N - 1)];
        let flit = on.board.rings.get(unit.ring as usize + (i << on.ring_bits) + usize::from(head));
        unit.head[i & (N - 1)] = (head + 1) & on.ring_mask;
        let left = unit.count[i & (N - 1)] - 1;
        unit.count[i & (N - 1)] = left;
        let (tail, more) = (flit & 1, u64::from(left != 0));
        let (w, at) = ((i >> 6) & (W - 1), i & 63);
        unit.moving[w] = unit.moving[w] & !(1 << at) | (more & !tail) << at;
        unit.active[w] &= !(tail << at);
        unit.routing[w] |= (more & tail) << at;
        unit.free[out & (M - 1)] |= (tail as u32) << (x & channel);
        unit.credits[x & (N - 1)] -= 1;

        let ahead = &unit.ahead[out & (M - 1)];
        let leaves = through.max(unit.left[out & (M - 1)] + 1);
        unit.left[out & (M - 1)] = leaves;
        unit.sent[out & (M - 1)] += 1;
        let write = unit.write[x & (N - 1)];
        unit.write[x & (N - 1)] = (write + 1) & on.ring_mask;
        let lane = x & channel;
        let flit = flit + HOP;
        on.board.rings.set(ahead.ring as usize + (lane << on.ring_bits) + usize::from(write), flit);
        calendar.mark(leaves + ahead.delay, ahead.word, ahead.bit + lane as u32);
        scratch.log[scratch.logged & (N - 1)] = (flit, leaves + ahead.flight);
        scratch.logged += ahead.ends as usize;

        let back = &unit.back[port & (M - 1)];
        let credit = now.max(unit.credit_left[port & (M - 1)] + 1);
        unit.credit_left[port & (M - 1)] = credit;
        calendar.mark(credit + back.delay, back.word, back.bit + v as u32);
    });
}
