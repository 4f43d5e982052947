//! The step of a plain router, optimised for speed: separable allocators, and all delays are one
//! cycle.
//!
//! All requests see the state before the step: first those for virtual channels, then those for the
//! crossbar. Then packets are routed, and then the requests are granted. The requester least far
//! behind the round-robin turn wins. Its distance is a 16-bit number that wraps around for
//! requesters below the turn, and it is stored beside the requester's number, so that comparing two
//! words decides.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use super::board::BitCalendar;
use super::context::CycleContext;
use super::tally::{TrafficCounts, count};
use super::unit::{RouterState, bits_of};
use paths::guide::{PacketPosition, RoutingGuide};
use paths::word::{HOP, PacketHeader, TAIL};

/// The key if there is no requester.
const NOBODY: u32 = u32::MAX;

/// Scratch memory of a step, from requests to grants.
#[derive(Debug)]
pub(super) struct RouterStepScratch<const N: usize, const M: usize> {
    /// The input lane that each output lane chooses, as a key.
    lanes: [u32; N],
    /// The input lane that each output chooses.
    outputs: [u32; M],
}

impl<const N: usize, const M: usize> RouterStepScratch<N, M> {
    pub(super) fn new() -> Self {
        Self { lanes: [u32::MAX; N], outputs: [u32::MAX; M] }
    }
}

/// One step of a router in cycle `now`; flits have passed the crossbar in cycle `through`.
#[inline(always)]
pub(super) fn step<
    G: RoutingGuide + ?Sized,
    const S: u32,
    const N: usize,
    const W: usize,
    const M: usize,
>(
    unit: &mut RouterState<N, W, M>,
    scratch: &mut RouterStepScratch<N, M>,
    tally: &mut TrafficCounts,
    on: &CycleContext<'_, G>,
    calendar: &BitCalendar,
    (now, through): (u32, u32),
) {
    let stride = on.stride::<S>();
    let lanes = ask_lanes(unit, scratch, stride);
    let outputs = ask_crossbar(unit, scratch, stride);
    route::<G, S, N, W, M>(unit, on, now);
    give_lanes(unit, scratch, lanes);
    let when = (now, through);
    for w in 0..W {
        for out in bits_of(w, outputs[w] & !unit.ends[w]) {
            give::<G, S, false, N, W, M>(unit, scratch, out, on, calendar, when);
        }
        for out in bits_of(w, outputs[w] & unit.ends[w]) {
            let (flit, arrives) =
                give::<G, S, true, N, W, M>(unit, scratch, out, on, calendar, when);
            count::<G, S>(tally, flit, arrives, on);
        }
    }
}

/// Lets each packet that needs an output lane choose one, and each output lane choose one of these
/// packets. Returns the output lanes that are requested.
#[inline(always)]
fn ask_lanes<const N: usize, const W: usize, const M: usize>(
    unit: &RouterState<N, W, M>,
    scratch: &mut RouterStepScratch<N, M>,
    stride: u32,
) -> [u64; W] {
    let mut asked = [0; W];
    for w in 0..W {
        for i in bits_of(w, unit.asking[w]) {
            let want = unit.want(i);
            let free = unit.free_of(want, stride);
            if free == 0 {
                continue;
            }
            let first = want.port << stride;
            let turn = unit.in_turn[i & (N - 1)].wrapping_sub(first);
            let turn = if turn < 32 { u32::from(turn) } else { 0 };
            let ahead = free >> turn << turn;
            let lane = if ahead == 0 { free } else { ahead }.trailing_zeros();
            let x = first as usize + lane as usize;
            let key = key(i, unit.out_turn[x & (N - 1)]);
            let best = &mut scratch.lanes[x & (N - 1)];
            *best = key.min(*best);
            asked[(x >> 6) & (W - 1)] |= 1 << (x & 63);
        }
    }
    asked
}

/// The key of a requester: the least far behind the round-robin turn has the lowest key.
#[inline(always)]
fn key(number: usize, turn: u16) -> u32 {
    u32::from((number as u16).wrapping_sub(turn)) << 16 | number as u32
}

/// Lets each input choose one of its lanes that may move, and each output choose one of these
/// inputs. Returns the outputs that are requested.
#[inline(always)]
fn ask_crossbar<const N: usize, const W: usize, const M: usize>(
    unit: &RouterState<N, W, M>,
    scratch: &mut RouterStepScratch<N, M>,
    stride: u32,
) -> [u64; W] {
    let mut asked = [0; W];
    for (w, mut moving) in unit.moving.into_iter().enumerate() {
        while moving != 0 {
            let low = moving.trailing_zeros();
            let mine = moving & (ALL[stride as usize & 7] << (low >> stride << stride));
            moving ^= mine;
            let low = w * 64 + low as usize;
            let port = low >> stride;
            let others = mine & (mine - 1);
            let i = if others == 0 { low } else { lane_of(unit, port, w, mine, stride) };
            let x = usize::from(unit.out[i & (N - 1)]);
            if unit.credits[x & (N - 1)] == 0 {
                continue;
            }
            let out = (x >> stride) & (M - 1);
            let behind = (port as u16).wrapping_sub(unit.switch_out_turn[out]);
            let best = &mut scratch.outputs[out];
            *best = (u32::from(behind) << 16 | i as u32).min(*best);
            // if there are at most 64 ports, the first word holds all of them and the others are 0
            asked[out >> 6] |= 1 << (out & 63);
        }
    }
    asked
}

/// By `stride`, a mask of all `1 << stride` lanes of a port.
const ALL: [u64; 8] = [1, 3, 0xf, 0xff, 0xffff, 0xffff_ffff, u64::MAX, u64::MAX];

/// Chooses one of several lanes of an input, the bits `mine` of word `w`: among those whose next
/// flit has a credit, the first in turn by its output, then by itself. If none has a credit, the
/// lowest lane.
#[inline(always)]
fn lane_of<const N: usize, const W: usize, const M: usize>(
    unit: &RouterState<N, W, M>,
    port: usize,
    w: usize,
    mine: u64,
    stride: u32,
) -> usize {
    let mut best = NOBODY;
    for i in bits_of(w, mine) {
        let x = usize::from(unit.out[i & (N - 1)]);
        if unit.credits[x & (N - 1)] != 0 {
            let v = (i & ((1 << stride) - 1)) as u8;
            let lane = u32::from(v.wrapping_sub(unit.lane_turn[port & (M - 1)]));
            let key = key(x >> stride, unit.switch_in_turn[port & (M - 1)]) & !0xffff;
            best = best.min(key | lane << 8 | u32::from(v));
        }
    }
    if best == NOBODY {
        return w * 64 + mine.trailing_zeros() as usize;
    }
    port << stride | (best & 0xff) as usize
}

/// Routes the packets that have come to the front of their input lanes.
#[inline(always)]
fn route<G: RoutingGuide + ?Sized, const S: u32, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    on: &CycleContext<'_, G>,
    now: u32,
) {
    let stride = on.stride::<S>();
    let waiting = std::mem::replace(&mut unit.routing, [0; W]);
    let sight = on.near::<S, N>(&unit.credits, now);
    for w in 0..W {
        for i in bits_of(w, waiting[w]) {
            let at = unit.head[i & (N - 1)] as usize;
            let mut flit = on.board.rings.get(at);
            let before = flit;
            let mut here = PacketPosition::new(unit.router, (i, stride), &sight, &mut unit.random);
            let want = on.guide.want(&mut here, &mut PacketHeader::new(&mut flit, &on.layout));
            (unit.want_port[i & (N - 1)], unit.want_lanes[i & (N - 1)]) = (want.port, want.lanes);
            if flit != before {
                on.board.rings.set(at, flit);
            }
        }
    }
    for w in 0..W {
        unit.asking[w] |= waiting[w];
    }
}

/// Assigns the granted output lanes to the packets.
#[inline(always)]
fn give_lanes<const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    scratch: &mut RouterStepScratch<N, M>,
    asked: [u64; W],
) {
    for w in 0..W {
        unit.free[w] &= !asked[w];
    }
    for w in 0..W {
        for x in bits_of(w, asked[w]) {
            let best = std::mem::replace(&mut scratch.lanes[x & (N - 1)], NOBODY);
            let i = (best & 0xffff) as usize;
            unit.out[i & (N - 1)] = x as u16;
            unit.in_turn[i & (N - 1)] = x as u16 + 1;
            unit.out_turn[x & (N - 1)] = i as u16 + 1;
            let (w, bit) = ((i >> 6) & (W - 1), 1 << (i & 63));
            unit.asking[w] &= !bit;
            unit.moving[w] |= bit;
        }
    }
}

/// Sends a flit of the input that an output has chosen: through the crossbar in cycle `through`,
/// then on as soon as the port is free. Returns the flit and, with `ENDS` (the output leads to an
/// endpoint), the cycle of its arrival there.
#[inline(always)]
fn give<
    G: RoutingGuide + ?Sized,
    const S: u32,
    const ENDS: bool,
    const N: usize,
    const W: usize,
    const M: usize,
>(
    unit: &mut RouterState<N, W, M>,
    scratch: &mut RouterStepScratch<N, M>,
    out: usize,
    on: &CycleContext<'_, G>,
    calendar: &BitCalendar,
    (now, through): (u32, u32),
) -> (u64, u32) {
    let stride = on.stride::<S>();
    let channel = (1 << stride) - 1;
    let best = std::mem::replace(&mut scratch.outputs[out & (M - 1)], NOBODY);
    let i = (best & 0xffff) as usize;
    let (port, v, x) = (i >> stride, i & channel, usize::from(unit.out[i & (N - 1)]));
    unit.switch_in_turn[port & (M - 1)] = out as u16 + 1;
    unit.switch_out_turn[out & (M - 1)] = port as u16 + 1;
    unit.lane_turn[port & (M - 1)] = v as u8 + 1;

    let head = unit.head[i & (N - 1)];
    let flit = on.board.rings.get(head as usize) + HOP;
    unit.head[i & (N - 1)] = on.next_place(head);
    let left = unit.count[i & (N - 1)] - 1;
    unit.count[i & (N - 1)] = left;
    let (w, own) = ((i >> 6) & (W - 1), 1_u64 << (i & 63));
    if flit & TAIL != 0 {
        unit.moving[w] ^= own;
        unit.routing[w] |= u64::from(left != 0) << (i & 63);
        unit.free[(x >> 6) & (W - 1)] |= 1 << (x & 63);
    } else if left == 0 {
        unit.moving[w] ^= own;
        unit.between[w] |= own;
    }
    unit.credits[x & (N - 1)] -= 1;

    let ahead = &unit.ahead[out & (M - 1)];
    let leaves = through.max(unit.left[out & (M - 1)] + 1);
    unit.left[out & (M - 1)] = leaves;
    unit.sent[out & (M - 1)] += 1;
    if !ENDS {
        let write = unit.write[x & (N - 1)];
        unit.write[x & (N - 1)] = on.next_place(write);
        on.board.rings.set(write as usize, flit);
    }
    calendar.mark(leaves + ahead.delay, ahead.place, u32::from(ahead.bit) + (x & channel) as u32);

    let back = &unit.back[port & (M - 1)];
    let credit = now.max(unit.credit_left[port & (M - 1)] + 1);
    unit.credit_left[port & (M - 1)] = credit;
    calendar.mark(credit + back.delay, back.place, u32::from(back.bit) + v as u32);
    (flit, leaves + ahead.flight)
}
