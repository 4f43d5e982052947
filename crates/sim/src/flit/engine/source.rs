//! Endpoints as senders: queues without end, of which a packet at a time is made.

use super::Context;
use super::board::Calendar;
use super::tally::Tally;
use super::unit::{Unit, each};
use crate::flit::guide::{Guide, Here};
use crate::flit::router::Priority;
use crate::flit::word::{COUNTED, HEAD, Packet, TAIL};
use base::seed::Fast;
use traffic::process::Source as Clock;

/// Never.
pub(super) const NEVER: u32 = u32::MAX;
/// No lane.
const NONE: u8 = u8::MAX;

/// An endpoint that sends.
#[derive(Debug)]
pub(super) struct Source {
    /// The next cycle in which there may be something to do.
    wake: u32,
    /// Its number.
    endpoint: u32,
    /// The port that it sends into.
    port: u16,
    /// The class that sent last.
    last_class: u8,
    /// Cycles from leaving to arriving.
    delay: u32,
    /// Lanes that no packet of its own has, a bit each.
    free: u32,
    /// What it sends, by class.
    streams: Box<[Stream]>,
    /// Its random numbers: destinations, sizes, births, lanes.
    random: Fast,
}

/// What an endpoint sends of one class.
#[derive(Debug)]
struct Stream {
    /// The cycle of the next packet's birth.
    born: u32,
    /// Births; none where it sends nothing.
    clock: Option<Clock>,
    /// The staged packet's next flit, where `left` is not 0.
    flit: u64,
    /// Flits of it that have not left.
    left: u32,
    /// Its lane, once its head has one.
    lane: u8,
    /// The lane that the last packet took.
    last_lane: u8,
    /// With lookahead, what its head wants at the first router.
    want: u64,
}

impl Source {
    /// An endpoint whose packets of each class are born by these clocks, before the cycle `end`.
    pub(super) fn new(
        endpoint: u32,
        port: u16,
        delay: u32,
        clocks: Vec<Option<Clock>>,
        end: u32,
        mut random: Fast,
    ) -> Self {
        let stream = |mut clock: Option<Clock>| Stream {
            born: clock.as_mut().map_or(NEVER, |c| next(c, 0, end, &mut random)),
            clock,
            flit: 0,
            left: 0,
            lane: NONE,
            last_lane: NONE,
            want: 0,
        };
        let streams: Box<[Stream]> = clocks.into_iter().map(stream).collect();
        let wake = streams.iter().map(|s| s.born).min().unwrap_or(NEVER);
        Self { wake, endpoint, port, last_class: 0, delay, free: u32::MAX, streams, random }
    }

    /// No packet is born any more; what is staged goes on.
    pub(super) fn stop(&mut self) {
        for stream in &mut self.streams {
            (stream.born, stream.clock) = (NEVER, None);
        }
    }

    /// Whether all packets that are born before a cycle have been made.
    pub(super) fn is_past(&self, cycle: u32) -> bool {
        self.streams.iter().all(|s| s.born >= cycle)
    }

    /// Flits that are staged.
    pub(super) fn staged(&self) -> u64 {
        self.streams.iter().map(|s| u64::from(s.left)).sum()
    }

    /// Makes the next packet of every class that has none and is due.
    #[inline]
    fn stage<G: Guide + ?Sized>(&mut self, now: u32, on: &Context<'_, G>, tally: &mut Tally) {
        for (class, stream) in self.streams.iter_mut().enumerate() {
            if stream.left > 0 || stream.born > now {
                continue;
            }
            let (born, of) = (stream.born, &on.classes[class]);
            let target = of.destinations.draw(self.endpoint, &mut self.random);
            let late = on.counts_late && now >= on.counted.end && born < on.counted.end;
            let counts = late || on.counted.contains(&now);
            stream.left = of.sizes.draw(&mut self.random);
            stream.flit = on.layout.packet(target, class as u32, born.into()) | HEAD;
            stream.flit |= if counts { COUNTED } else { 0 };
            stream.lane = NONE;
            tally.classes[class].staged += u64::from(counts);
            stream.born = match &mut stream.clock {
                Some(clock) => next(clock, born + 1, on.end, &mut self.random),
                None => NEVER,
            };
        }
    }

    /// As [`Self::choose`] where there is one class and nothing that only long steps do.
    #[inline]
    fn choose_lane<G: Guide + ?Sized>(&mut self, room: &[u16], on: &Context<'_, G>) -> bool {
        let stream = &mut self.streams[0];
        if stream.left == 0 {
            return false;
        }
        if stream.lane == NONE {
            let mut packet = Packet::new(&mut stream.flit, &on.layout);
            let allowed = on.guide.inject(self.endpoint, &mut packet, &mut self.random);
            let open = (0..).zip(room).fold(0, |open, (v, n)| open | u32::from(*n > 0) << v);
            stream.lane = turn(stream.last_lane, allowed, open & allowed & self.free);
        }
        stream.lane != NONE && room[usize::from(stream.lane)] > 0
    }

    /// The class whose flit goes in this cycle, and its lane is chosen; `room` has the flits that
    /// lanes of the port may still take.
    #[inline]
    fn choose<G: Guide + ?Sized>(
        &mut self,
        now: u32,
        room: &[u16],
        on: &Context<'_, G>,
    ) -> Option<usize> {
        let classes = self.streams.len();
        let (mut found, mut first): (Option<(usize, u32)>, usize) = (None, 1);
        let last = usize::from(self.last_class);
        if on.router.hold_switch_for_packet {
            let held = &self.streams[last];
            if held.left > 0 && held.flit & HEAD == 0 && room[usize::from(held.lane)] > 0 {
                found = Some((last, on.urgency(held.flit, now)));
                first = 1;
            }
        }
        let most = classes - usize::from(found.is_some());
        for step in first..=most {
            let class = if classes == 1 { 0 } else { (last + step) % classes };
            let stream = &mut self.streams[class];
            let urgency = on.urgency(stream.flit, now);
            if stream.left == 0 || found.is_some_and(|(_, best)| best >= urgency) {
                continue;
            }
            if stream.lane == NONE {
                let mut packet = Packet::new(&mut stream.flit, &on.layout);
                let allowed = on.guide.inject(self.endpoint, &mut packet, &mut self.random);
                let mut open = 0;
                each([u64::from(allowed & self.free)], |v| open |= u32::from(room[v] > 0) << v);
                if on.router.routing_delay == 0 && allowed != 0 {
                    self.look_ahead(class, allowed.trailing_zeros() as u8, now, on);
                }
                let stream = &mut self.streams[class];
                stream.lane = turn(stream.last_lane, allowed, open);
            }
            let stream = &self.streams[class];
            if stream.lane != NONE && room[usize::from(stream.lane)] > 0 {
                found = Some((class, urgency));
            }
        }
        found.map(|(class, _)| class)
    }

    /// What a head will want at its first router.
    #[inline(never)]
    fn look_ahead<G: Guide + ?Sized>(
        &mut self,
        class: usize,
        lane: u8,
        now: u32,
        on: &Context<'_, G>,
    ) {
        let router = on.wiring.endpoints()[self.endpoint as usize].router;
        let sight = on.seen_from_afar(router, now);
        let random = &mut self.random;
        let mut here = Here { router, in_port: self.port, lane, sight: &sight, random };
        let stream = &mut self.streams[class];
        let mut packet = Packet::new(&mut stream.flit, &on.layout);
        stream.want = super::packed(on.guide.want(&mut here, &mut packet));
    }
}

/// The next birth, from a cycle on.
#[inline]
fn next(clock: &mut Clock, from: u32, end: u32, random: &mut Fast) -> u32 {
    clock.next_before(from.into(), end.into(), random).map_or(NEVER, |cycle| cycle as u32)
}

/// The first open lane after the last one, among those that are allowed, which follow one another;
/// where the last one is not among them, the lowest of these alone.
#[inline]
fn turn(last: u8, allowed: u32, open: u32) -> u8 {
    if open == 0 {
        return NONE;
    }
    if last == NONE || allowed >> last & 1 == 0 {
        let low = allowed & allowed.wrapping_neg();
        return if open & low == 0 { NONE } else { low.trailing_zeros() as u8 };
    }
    let above = open & (u32::MAX << last << 1);
    (if above == 0 { open } else { above }).trailing_zeros() as u8
}

/// What the endpoints of a router send in cycle `now`.
#[inline]
pub(super) fn inject<G: Guide + ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut Unit<N, W, M>,
    now: u32,
    on: &Context<'_, G>,
    tally: &mut Tally,
    calendar: &Calendar,
) {
    let stride = on.stride;
    for source in &mut unit.sources {
        if source.wake > now {
            continue;
        }
        source.stage(now, on, tally);
        let first = usize::from(source.port) << stride;
        let room = &unit.room[first..first + usize::from(on.router.virtual_channels)];
        let chosen = if on.is_plain && on.classes.len() == 1 {
            source.choose_lane(room, on).then_some(0)
        } else {
            source.choose(now, room, on)
        };
        if let Some(class) = chosen {
            let network_age = on.router.priority == Priority::NetworkAge;
            let stream = &mut source.streams[class];
            let lane = first + usize::from(stream.lane);
            let mut flit = stream.flit;
            stream.left -= 1;
            flit |= u64::from(stream.left == 0);
            debug_assert_eq!(TAIL, 1);
            if flit & HEAD != 0 {
                if network_age {
                    flit = on.layout.entered(flit, now);
                    stream.flit = flit & !TAIL;
                }
                let age = on.layout.age(flit, now.into());
                if flit & COUNTED != 0 {
                    tally.classes[class].wait += age;
                    tally.classes[class].entered += 1;
                }
                stream.last_lane = stream.lane;
                source.free &= !(1 << stream.lane);
                if on.router.routing_delay == 0 {
                    on.board.wants.set(place(unit.ring, lane, unit.enter[lane], on), stream.want);
                }
            }
            stream.flit &= !HEAD;
            if stream.left == 0 && !on.router.wait_for_tail_credit {
                source.free |= 1 << stream.lane;
            }
            source.last_class = class as u8;
            on.board.rings.set(place(unit.ring, lane, unit.enter[lane], on), flit);
            unit.enter[lane] = (unit.enter[lane] + 1) & on.ring_mask;
            unit.room[lane] -= 1;
            calendar.mark(now + source.delay, unit.word + (lane >> 6) as u32, lane as u32);
            tally.injected += 1;
        }
        let due = |s: &Stream| if s.left > 0 { now + 1 } else { s.born.max(now + 1) };
        source.wake = source.streams.iter().map(due).min().unwrap_or(NEVER);
    }
}

/// A credit has come back to an endpoint: its lane may be free again, which it is once its tail has
/// left and all credits are back.
pub(super) fn credited<G: ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &mut Unit<N, W, M>,
    lane: usize,
    on: &Context<'_, G>,
) {
    if u32::from(unit.room[lane]) != on.full {
        return;
    }
    let (port, channel) = ((lane >> on.stride) as u16, lane & ((1 << on.stride) - 1));
    if let Some(source) = unit.sources.iter_mut().find(|s| s.port == port) {
        let sends = |s: &Stream| s.left > 0 && s.flit & HEAD == 0;
        let is_busy = source.streams.iter().any(|s| sends(s) && usize::from(s.lane) == channel);
        if !is_busy {
            source.free |= 1 << channel;
        }
    }
}

#[inline]
fn place<G: Guide + ?Sized>(ring: u32, lane: usize, at: u16, on: &Context<'_, G>) -> usize {
    ring as usize + (lane << on.ring_bits) + usize::from(at)
}
