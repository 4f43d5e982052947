//! The step of any router, with every allocator, delay and option. [`super::plain`] is a shorter
//! step with the same result for plain routers.
//!
//! Its stages in order: request virtual channels, keep the crossbar connections that are held,
//! request the crossbar, route; then the grants of the first three take effect. All requests see
//! the state before the step.

use super::allocate::AllocationRequest;
use super::batch::first_step;
use super::board::BitCalendar;
use super::context::{ANY, CycleContext, WHOLE, packed, unpacked};
use super::extra::NONE;
use super::tally::{TrafficCounts, count};
use super::unit::{RouterState, bits, bits_of};
use crate::router::RouterDesign;
use paths::guide::{PacketPosition, RoutingGuide};
use paths::wiring::CableEnd;
use paths::word::{HEAD, HOP, PacketHeader};

/// The time of a step: its cycle, the cycle of the next step, and its number since the start.
#[derive(Debug, Clone, Copy)]
pub(super) struct RouterStepTime {
    pub(super) now: u32,
    pub(super) through: u32,
    pub(super) step: u64,
}

/// Handles a packet that arrived from a channel and is at the front of an input lane in cycle
/// `now`.
pub(super) fn arrived<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    i: usize,
    now: u32,
    on: &CycleContext<'_, G>,
) {
    front(unit, i, (first_step(now, on), now), on);
}

/// Handles a packet that is now at the front of an input lane. `since` holds the first step that
/// may see it, and the cycle of that step.
fn front<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    i: usize,
    since: (u64, u32),
    on: &CycleContext<'_, G>,
) {
    let delay = on.router.routing_delay;
    if delay > 0 {
        unit.extra.ready[i] = if on.router.as_booksim && delay > 1 {
            unit.extra.routed.take(since, delay, on).1
        } else {
            since.1 + delay - 1
        };
        unit.routing[i / 64] |= 1 << (i & 63);
        return;
    }
    if on.guide.has_choices() {
        ask_guide(unit, i, since.1, on);
    } else {
        unit.set_want(i, unpacked(on.board.wants.get(unit.head[i] as usize)));
    }
    unit.asking[i / 64] |= 1 << (i & 63);
}

/// One step of a router.
pub(super) fn step<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    tally: &mut TrafficCounts,
    on: &CycleContext<'_, G>,
    calendar: &BitCalendar,
    when: RouterStepTime,
) {
    let lanes = ask_lanes(unit, on, when);
    let held = ask_held(unit, on, when);
    let moves = ask_crossbar(unit, on, when, &lanes);
    route(unit, on, when);
    give_lanes(unit, on, when, &lanes);
    for (i, goes) in held {
        let input = input_of(i, on);
        let output = unit.extra.held_in[input];
        let goes_on = goes && send(unit, tally, on, calendar, (i, output as usize, when));
        if !goes_on {
            unit.extra.holding[i / 64] &= !(1 << (i & 63));
            unit.extra.held_in[input] = NONE;
            unit.extra.held_out[output as usize] = NONE;
            if !goes {
                unit.moving[i / 64] |= 1 << (i & 63);
            }
        }
    }
    for (i, output) in moves {
        unit.moving[i / 64] &= !(1 << (i & 63));
        if send(unit, tally, on, calendar, (i, output, when)) {
            if on.router.hold_switch_for_packet {
                let input = input_of(i, on);
                unit.extra.held_in[input] = output as u32;
                unit.extra.held_out[output] = input as u32;
                unit.extra.holding[i / 64] |= 1 << (i & 63);
            } else {
                unit.moving[i / 64] |= 1 << (i & 63);
            }
        }
    }
    for w in 0..unit.extra.pending.len() {
        for i in bits_of(w, unit.extra.pending[w]) {
            if unit.extra.ready[i] <= when.now {
                unit.extra.pending[w] &= !(1 << (i & 63));
                unit.moving[w] |= 1 << (i & 63);
            }
        }
    }
}

/// The crossbar input of an input lane.
fn input_of<G: ?Sized>(i: usize, on: &CycleContext<'_, G>) -> usize {
    let speedup = usize::from(on.router.input_speedup);
    let v = i & ((1 << on.stride) - 1);
    (i >> on.stride) * speedup + v % speedup
}

/// The crossbar output towards a port, for an input lane.
fn output_of<G: ?Sized>(i: usize, port: usize, on: &CycleContext<'_, G>) -> usize {
    let speedup = usize::from(on.router.output_speedup);
    port * speedup + (i >> on.stride) % speedup
}

/// Whether the buffer behind the crossbar has room for a flit.
fn has_space<const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    port: usize,
    when: RouterStepTime,
    most: Option<u32>,
) -> bool {
    let Some(most) = most else { return true };
    let behind = &mut unit.extra.behind[port];
    while behind.front().is_some_and(|f| f.1 < when.now) {
        behind.pop_front();
    }
    behind.iter().filter(|f| f.0 < when.step).count() < most as usize
}

/// Allocates output lanes to packets of input lanes: pairs of input lane and output lane, each
/// output lane once at most.
fn ask_lanes<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    on: &CycleContext<'_, G>,
    when: RouterStepTime,
) -> Vec<(usize, usize)> {
    let mut asked = std::mem::take(&mut unit.extra.asked);
    asked.clear();
    let kind = on.router;
    let full = on.full as u16;
    for i in bits(unit.asking) {
        let urgency = i64::from(on.urgency(on.board.rings.get(unit.head[i] as usize), when.now));
        let one = [unit.want(i)];
        let wants = if on.guide.has_choices() { &unit.extra.wants[i][..] } else { &one };
        for want in wants {
            let port = usize::from(want.port);
            let free = unit.free_of(*want, on.stride);
            for v in bits([free.into()]) {
                let x = (port << on.stride) + v;
                if kind.vc_busy_when_full && unit.credits[x] == 0 {
                    continue;
                }
                let not_empty = kind.vc_prioritize_empty && unit.credits[x] < full;
                let rank = i64::from(want.rank) - if not_empty { 1 << 32 } else { 0 };
                let (from, to, lane) = (row(i, unit.ports, on), x as u32, i as u32);
                asked.push(AllocationRequest { from, to, rank, urgency, lane });
            }
        }
    }
    let turns = (&mut unit.in_turn[..], &mut unit.out_turn[..]);
    let given = unit.extra.desk.allocate(kind.vc_allocator, kind.vc_alloc_rounds, &asked, turns);
    let pairs = given.iter().map(|&k| asked[k as usize]).map(|r| (r.lane as usize, r.to as usize));
    let pairs = pairs.collect();
    unit.extra.asked = asked;
    pairs
}

/// The index of an input lane among the requesters of output lanes.
fn row<G: ?Sized>(i: usize, ports: u32, on: &CycleContext<'_, G>) -> u32 {
    if on.router.vc_shuffle_requests {
        (i & ((1 << on.stride) - 1)) as u32 * ports + (i >> on.stride) as u32
    } else {
        i as u32
    }
}

/// Determines which input lanes keep their connection through the crossbar and which lose it.
fn ask_held<G: ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    on: &CycleContext<'_, G>,
    when: RouterStepTime,
) -> Vec<(usize, bool)> {
    if !on.router.hold_switch_for_packet {
        return Vec::new();
    }
    let mut found = Vec::new();
    for w in 0..unit.extra.holding.len() {
        for i in bits_of(w, unit.extra.holding[w]) {
            let x = usize::from(unit.out[i]);
            let space = has_space(unit, x >> on.stride, when, on.router.output_buffer_flits);
            found.push((i, space && unit.credits[x] > 0));
        }
    }
    found
}

/// The flits that pass the crossbar in this step: pairs of input lane and crossbar output.
fn ask_crossbar<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    on: &CycleContext<'_, G>,
    when: RouterStepTime,
    lanes: &[(usize, usize)],
) -> Vec<(usize, usize)> {
    let kind = on.router;
    let mut asked = std::mem::take(&mut unit.extra.asked);
    asked.clear();
    let urgency = |unit: &RouterState<N, W, M>, i: usize| {
        i64::from(on.urgency(on.board.rings.get(unit.head[i] as usize), when.now))
    };
    let moving = unit.moving;
    for i in bits(moving) {
        let x = usize::from(unit.out[i]);
        let port = x >> on.stride;
        if unit.credits[x] > 0 && has_space(unit, port, when, kind.output_buffer_flits) {
            let pressing = urgency(unit, i);
            ask(&mut asked, unit, on, (i, port), pressing);
        }
    }
    if kind.speculative {
        let below = if kind.speculation_yields { 1 << 32 } else { 0 };
        for i in bits(unit.asking) {
            let pressing = urgency(unit, i) - below;
            for port in hoped(unit, on, i, when) {
                ask(&mut asked, unit, on, (i, port), pressing);
            }
        }
    }
    let extra = &mut unit.extra;
    let turns = (&mut extra.in_turn[..], &mut extra.out_turn[..]);
    let (allocator, rounds) = (kind.switch_allocator, kind.switch_alloc_rounds);
    let mut found = Vec::new();
    for &k in extra.desk.allocate(allocator, rounds, &asked, turns) {
        let AllocationRequest { from, to, lane, .. } = asked[k as usize];
        let i = lane as usize;
        let v = i & ((1 << on.stride) - 1);
        extra.lane_turn[from as usize] = next_turn(v, kind);
        if unit.asking[i / 64] >> (i & 63) & 1 == 1 {
            // a speculative request succeeds if the output lane was granted at that port and has a
            // credit
            let port = to as usize / usize::from(kind.output_speedup);
            let given = lanes.iter().find(|g| g.0 == i).map(|g| g.1);
            if !given.is_some_and(|x| x >> on.stride == port && unit.credits[x] > 0) {
                continue;
            }
        }
        found.push((i, to as usize));
    }
    extra.asked = asked;
    if kind.as_booksim {
        // the order in which BookSim serves the lanes of one output
        found.sort_unstable();
    }
    found
}

/// The lane at which the round-robin turn of a crossbar input starts after lane `v` was served.
fn next_turn(v: usize, kind: &RouterDesign) -> u8 {
    let next = v + usize::from(kind.input_speedup);
    // BookSim's turn covers all lanes of the port, also those of its other crossbar inputs
    (if kind.as_booksim { next % usize::from(kind.virtual_channels) } else { next }) as u8
}

/// The ports for which a packet without an output lane requests the crossbar speculatively.
fn hoped<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    on: &CycleContext<'_, G>,
    i: usize,
    when: RouterStepTime,
) -> Vec<usize> {
    let kind = on.router;
    let one = [unit.want(i)];
    let wants = if on.guide.has_choices() { unit.extra.wants[i].clone() } else { one.to_vec() };
    let mut ports = Vec::new();
    for want in wants {
        let port = usize::from(want.port);
        let free = unit.free_of(want, on.stride);
        let mut good = !kind.speculation_asks_free;
        if !good && has_space(unit, port, when, kind.output_buffer_flits) {
            for v in bits([free.into()]) {
                let credit = unit.credits[(port << on.stride) + v] > 0;
                good |= credit || !kind.speculation_asks_credit;
            }
        }
        if good {
            ports.push(port);
        }
    }
    ports
}

/// Adds a request for the crossbar. Among lanes of an input that want the same output, only one may
/// request it.
fn ask<G: ?Sized, const N: usize, const W: usize, const M: usize>(
    asked: &mut Vec<AllocationRequest>,
    unit: &RouterState<N, W, M>,
    on: &CycleContext<'_, G>,
    (i, port): (usize, usize),
    urgency: i64,
) {
    let (from, to) = (input_of(i, on), output_of(i, port, on));
    if unit.extra.held_in[from] != NONE || unit.extra.held_out[to] != NONE {
        return;
    }
    let v = |lane: usize| (lane & ((1 << on.stride) - 1)) as u8;
    let behind = |lane: u32| v(lane as usize).wrapping_sub(unit.extra.lane_turn[from]);
    let new = AllocationRequest {
        from: from as u32,
        to: to as u32,
        rank: urgency,
        urgency,
        lane: i as u32,
    };
    match asked.iter_mut().find(|r| (r.from, r.to) == (new.from, new.to)) {
        Some(old) => {
            let wins =
                (urgency, u8::MAX - behind(new.lane)) > (old.urgency, u8::MAX - behind(old.lane));
            if wins {
                *old = new;
            }
        }
        None => asked.push(new),
    }
}

/// Routes the packets that have waited for the routing delay: the guide names their outputs.
fn route<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    on: &CycleContext<'_, G>,
    when: RouterStepTime,
) {
    let waiting = unit.routing;
    for i in bits(waiting) {
        if unit.extra.ready[i] <= when.now {
            unit.routing[i / 64] &= !(1 << (i & 63));
            unit.asking[i / 64] |= 1 << (i & 63);
            ask_guide(unit, i, when.now, on);
        }
    }
}

/// The outputs that the guide names for the packet at the front of an input lane.
fn ask_guide<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    i: usize,
    now: u32,
    on: &CycleContext<'_, G>,
) {
    let at = unit.head[i] as usize;
    let mut flit = on.board.rings.get(at);
    let sight = on.near::<ANY, N>(&unit.credits, now);
    let mut here = PacketPosition::new(unit.router, (i, on.stride), &sight, &mut unit.random);
    let mut packet = PacketHeader::new(&mut flit, &on.layout);
    if on.guide.has_choices() {
        unit.extra.wants[i].clear();
        on.guide.wants(&mut here, &mut packet, &mut unit.extra.wants[i]);
    } else {
        let want = on.guide.want(&mut here, &mut packet);
        unit.set_want(i, want);
    }
    on.board.rings.set(at, flit);
}

/// Assigns the granted output lanes to the packets.
fn give_lanes<G: ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    on: &CycleContext<'_, G>,
    when: RouterStepTime,
    lanes: &[(usize, usize)],
) {
    for &(i, x) in lanes {
        let (w, bit) = (i / 64, 1 << (i & 63));
        unit.out[i] = x as u16;
        unit.free[x / 64] &= !(1 << (x & 63));
        unit.asking[w] &= !bit;
        if on.router.vc_alloc_delay > 1 {
            unit.extra.ready[i] = when.now + on.router.vc_alloc_delay - 1;
            unit.extra.pending[w] |= bit;
        } else {
            unit.moving[w] |= bit;
        }
    }
}

/// Sends the front flit of an input lane through the crossbar. Returns whether the next flit of its
/// packet has already arrived.
fn send<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    tally: &mut TrafficCounts,
    on: &CycleContext<'_, G>,
    calendar: &BitCalendar,
    (i, output, when): (usize, usize, RouterStepTime),
) -> bool {
    let kind = on.router;
    let (out, x) = (output / usize::from(kind.output_speedup), usize::from(unit.out[i]));
    let (port, v, lane) = (i >> on.stride, i & ((1 << on.stride) - 1), x & ((1 << on.stride) - 1));
    let mut flit = on.board.rings.get(unit.head[i] as usize) + HOP;
    unit.head[i] = on.next_place(unit.head[i]);
    unit.count[i] -= 1;
    unit.credits[x] -= 1;
    let (counts, through) = crossed(unit, when, on);
    let leaves = through.max(unit.left[out] + 1);
    unit.left[out] = leaves;
    unit.sent[out] += 1;
    if kind.output_buffer_flits.is_some() {
        unit.extra.behind[out].push_back((counts, leaves));
    }
    let ahead = unit.ahead[out];
    let place = unit.write[x] as usize;
    unit.write[x] = on.next_place(unit.write[x]);
    let ends = unit.ends[out / 64] >> (out & 63) & 1 == 1;
    if flit & HEAD != 0 && kind.routing_delay == 0 && !ends && !on.guide.has_choices() {
        on.board.wants.set(place, look_ahead(unit, (out, lane), &mut flit, when.now, on));
    }
    if ends {
        count::<G, ANY>(tally, flit, leaves + ahead.flight, on);
    } else {
        on.board.rings.set(place, flit);
    }
    calendar.mark(leaves + ahead.delay, ahead.place, u32::from(ahead.bit) + lane as u32);
    let shares = unit.extra.credit_step[port] == when.step;
    let next = unit.credit_left[port] + u32::from(!shares);
    let credit = (when.now + kind.switch_alloc_delay - 1).max(next);
    (unit.credit_left[port], unit.extra.credit_step[port]) = (credit, when.step);
    let back = unit.back[port];
    calendar.mark(credit + back.delay, back.place, u32::from(back.bit) + v as u32);
    if flit & 1 == 1 {
        if kind.wait_for_tail_credit {
            unit.extra.tail_sent[out] |= 1 << lane;
        } else {
            unit.free[x / 64] |= 1 << (x & 63);
        }
        if unit.count[i] > 0 {
            front(unit, i, (when.step + 1, when.through), on);
        }
        return false;
    }
    unit.between[i / 64] |= u64::from(unit.count[i] == 0) << (i & 63);
    unit.count[i] > 0
}

/// The time at which a flit that is granted the crossbar now has passed it: the step after which it
/// counts as behind the crossbar, and the cycle in which it may leave.
fn crossed<G: ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    when: RouterStepTime,
    on: &CycleContext<'_, G>,
) -> (u64, u32) {
    let kind = on.router;
    if kind.as_booksim {
        let next = (when.step + 1, when.through);
        let is_short = kind.crossbar_delay == 1;
        return if is_short {
            next
        } else {
            unit.extra.crossing.take(next, kind.crossbar_delay, on)
        };
    }
    let extra_cycles = kind.switch_alloc_delay + kind.crossbar_delay - 2;
    let counts = when.step + 2 + u64::from(extra_cycles) * on.speed / WHOLE;
    (counts, when.through + extra_cycles)
}

/// The output that a head flit will request at the next router, for lookahead.
fn look_ahead<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    (out, lane): (usize, usize),
    flit: &mut u64,
    now: u32,
    on: &CycleContext<'_, G>,
) -> u64 {
    let CableEnd::Router { router, port } = on.wiring.ports(unit.router)[out].end else { return 0 };
    let sight = on.seen_from_afar(router, now);
    let i = (usize::from(port) << on.stride) + lane;
    let mut here = PacketPosition::new(router, (i, on.stride), &sight, &mut unit.random);
    packed(on.guide.want(&mut here, &mut PacketHeader::new(flit, &on.layout)))
}

/// Handles credits that returned for an output lane, which may become free.
pub(super) fn credited<G: ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    x: usize,
    on: &CycleContext<'_, G>,
) {
    let (port, bit) = (x >> on.stride, 1 << (x & ((1 << on.stride) - 1)));
    if unit.extra.tail_sent[port] & bit != 0 && u32::from(unit.credits[x]) == on.full {
        unit.extra.tail_sent[port] &= !bit;
        unit.free[x / 64] |= 1 << (x & 63);
    }
}
