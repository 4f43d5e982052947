//! Endpoints as senders: queues without end, of which a packet at a time is made.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use super::board::Calendar;
use super::deal::Dealt;
use super::tally::{OfClass, Tally};
use super::unit::Unit;
use super::{ANY, Context};
use crate::router::Priority;
use base::seed::Fast;
use paths::guide::{Guide, Here};
use paths::word::{COUNTED, HEAD, Packet, TAIL};
use traffic::process::{Class, Source as Clock};

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
    /// Where a packet is born in every cycle with the same chance and routers are the usual ones:
    /// when what is drawn is at most this. Else 0.
    most: u64,
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
    /// What is dealt to it, where it has no births of its own.
    dealt: Option<Box<Dealt>>,
}

/// What makes the packets of a source, of one class: births of its own, or what is dealt to it.
pub(super) type Maker = (Option<Clock>, Option<Box<Dealt>>);

impl Source {
    /// An endpoint whose packets of each class are made by these, before the cycle `end`.
    pub(super) fn new(
        endpoint: u32,
        port: u16,
        delay: u32,
        makers: Vec<Maker>,
        end: u32,
        mut random: Fast,
    ) -> Self {
        let stream = |(mut clock, dealt): Maker| Stream {
            born: birth(clock.as_mut(), 0, end, &mut random),
            most: clock.as_ref().and_then(Clock::most).unwrap_or(0),
            clock,
            flit: 0,
            left: 0,
            lane: NONE,
            last_lane: NONE,
            want: 0,
            dealt,
        };
        let streams: Box<[Stream]> = makers.into_iter().map(stream).collect();
        let wake = streams.iter().map(|s| s.born.min(s.next_dealt())).min().unwrap_or(NEVER);
        Self { wake, endpoint, port, last_class: 0, delay, free: u32::MAX, streams, random }
    }

    /// No packet is born any more; what is staged goes on.
    pub(super) fn stop(&mut self) {
        for stream in &mut self.streams {
            (stream.born, stream.clock, stream.dealt) = (NEVER, None, None);
            stream.most = 0;
        }
    }

    /// Whether all packets that are born before a cycle have been made.
    pub(super) fn is_past(&self, cycle: u32) -> bool {
        self.streams.iter().all(|s| s.born >= cycle && s.next_dealt() >= cycle)
    }

    /// The packets that are staged: of each a flit that is left, and how many.
    pub(super) fn packets(&self) -> impl Iterator<Item = (u64, u32)> {
        self.streams.iter().filter(|s| s.left > 0).map(|s| (s.flit, s.left))
    }

    /// Flits that are staged.
    pub(super) fn staged(&self) -> u64 {
        self.streams.iter().map(|s| u64::from(s.left)).sum()
    }

    /// Flits that wait or are staged, and those in these lanes of the buffer that it sends into,
    /// which have so much `room` of `full`.
    pub(super) fn backlog(&self, room: &[u16], full: u32) -> u64 {
        let waiting = self.streams.iter().filter_map(|s| s.dealt.as_ref()).map(|d| d.flits());
        let inside = room.iter().map(|&room| u64::from(full) - u64::from(room));
        self.staged() + waiting.sum::<u64>() + inside.sum::<u64>()
    }

    /// Its number.
    pub(super) fn endpoint(&self) -> u32 {
        self.endpoint
    }

    /// The port that it sends into.
    pub(super) fn port(&self) -> usize {
        self.port.into()
    }

    /// The flit that goes in this cycle into one of these `open` lanes, and its lane, where there
    /// is one class and routers are the usual ones.
    #[inline(always)]
    fn only<G: Guide + ?Sized, const S: u32>(
        &mut self,
        when: Cycle,
        open: u32,
        on: &Context<'_, G>,
        tally: &mut Tally,
    ) -> Option<(u8, u64)> {
        let Self { streams, random, endpoint, free, wake, .. } = self;
        let ([stream], [counts]) = (&mut **streams, &mut *tally.classes) else { return None };
        if stream.left == 0 {
            let of = &on.classes[0];
            if stream.born > when.now {
                *wake = stream.born;
                return None;
            }
            stream.stage::<G, S>((*endpoint, 0), when, random, on, of, counts);
        }
        if stream.lane == NONE {
            let allowed = on.guide.inject(*endpoint, &mut stream.packet(on), random);
            stream.lane = turn(stream.last_lane, allowed, open & allowed & *free);
        }
        let lane = stream.lane & 31;
        if stream.lane == NONE || open >> lane & 1 == 0 {
            *wake = when.now + 1;
            return None;
        }
        let flit = stream.send::<G, S>((when.now, 0), free, on, counts);
        *wake = stream.due(when.now);
        Some((lane, flit))
    }

    /// The same of any routers and classes; `enter` has the place of the next flit of each lane.
    fn any<G: Guide + ?Sized>(
        &mut self,
        when: Cycle,
        open: u32,
        on: &Context<'_, G>,
        tally: &mut Tally,
        enter: &[u32],
    ) -> Option<(u8, u64)> {
        for (class, stream) in (0..).zip(&mut self.streams) {
            let (of, tally) = (&on.classes[class as usize], &mut tally.classes[class as usize]);
            if let Some(dealt) = &mut stream.dealt {
                dealt.deal(self.endpoint, when.now, of, on);
                stream.born = dealt.front();
            }
            if stream.left == 0 && stream.born <= when.now {
                stream.stage::<G, ANY>(
                    (self.endpoint, class),
                    when,
                    &mut self.random,
                    on,
                    of,
                    tally,
                );
            }
        }
        let sent = self.choose(when.now, open, on).map(|class| {
            let stream = &mut self.streams[class];
            let lane = stream.lane & 31;
            let place = (usize::from(self.port) << on.stride) + usize::from(lane);
            let of = &mut tally.classes[class];
            self.last_class = class as u8;
            (lane, stream.send::<G, ANY>((when.now, enter[place]), &mut self.free, on, of))
        });
        let due = |s: &Stream| s.due(when.now).min(s.next_dealt());
        self.wake = self.streams.iter().map(due).min().unwrap_or(NEVER);
        sent
    }

    /// The class whose flit goes in this cycle into one of these `open` lanes.
    #[inline]
    fn choose<G: Guide + ?Sized>(
        &mut self,
        now: u32,
        open: u32,
        on: &Context<'_, G>,
    ) -> Option<usize> {
        let (classes, last) = (self.streams.len(), usize::from(self.last_class));
        let mut found: Option<(usize, u32)> = None;
        if on.router.hold_switch_for_packet {
            let held = &self.streams[last];
            if held.left > 0 && held.flit & HEAD == 0 && open >> held.lane & 1 == 1 {
                found = Some((last, on.urgency(held.flit, now)));
            }
        }
        let most = classes - usize::from(found.is_some());
        for step in 1..=most {
            let class = (last + step) % classes;
            let urgency = on.urgency(self.streams[class].flit, now);
            let is_less = found.is_some_and(|(_, best)| best >= urgency);
            if !is_less && self.can_go(class, now, open, on) {
                found = Some((class, urgency));
            }
        }
        let (class, _) = found?;
        let stream = &mut self.streams[class];
        if stream.flit & HEAD != 0 && self.free >> (stream.lane & 31) & 1 == 0 {
            // a packet of another class went first, into the lane that this one had chosen, and is
            // still in it: BookSim stops here
            stream.lane = NONE;
            return self.choose(now, open, on);
        }
        Some(class)
    }

    /// Whether the next flit of a class can go into one of these `open` lanes.
    fn can_go<G: Guide + ?Sized>(
        &mut self,
        class: usize,
        now: u32,
        open: u32,
        on: &Context<'_, G>,
    ) -> bool {
        let stream = &mut self.streams[class];
        if stream.lane == NONE && stream.left > 0 {
            let allowed = on.guide.inject(self.endpoint, &mut stream.packet(on), &mut self.random);
            stream.lane = turn(stream.last_lane, allowed, open & allowed & self.free);
            if on.router.routing_delay == 0 && allowed != 0 {
                self.look_ahead(class, allowed.trailing_zeros() as u8, now, on);
            }
        }
        self.streams[class].fits(open)
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
        let i = usize::from(self.port) << on.stride | usize::from(lane);
        let mut here = Here::new(router, (i, on.stride), &sight, &mut self.random);
        let stream = &mut self.streams[class];
        stream.want = super::packed(on.guide.want(&mut here, &mut stream.packet(on)));
    }
}

impl Stream {
    /// Makes the next packet of its class: there is none, and one is due.
    #[inline(always)]
    fn stage<G: ?Sized, const S: u32>(
        &mut self,
        (endpoint, class): (u32, u32),
        when: Cycle,
        random: &mut Fast,
        on: &Context<'_, G>,
        of: &Class,
        tally: &mut OfClass,
    ) {
        let born = if S == ANY && on.born_when_made { when.now } else { self.born };
        let counts = when.counts || born < when.late_before;
        let listed = match &mut self.dealt {
            Some(dealt) if S == ANY => dealt.pop(endpoint, of, on),
            _ => None,
        };
        let target;
        (target, self.left) = match listed {
            Some(packet) => packet,
            None => (of.destinations.draw(endpoint, random), of.sizes.draw(random)),
        };
        self.flit = on.layout.packet(target, class, born.into()) | HEAD;
        self.flit |= if counts { COUNTED } else { 0 };
        self.lane = NONE;
        tally.staged += u64::from(counts);
        self.born = match &self.dealt {
            Some(dealt) if S == ANY => dealt.front(),
            _ if S < ANY && self.most > 0 => {
                let born;
                (born, *random) = next_birth(self.most, self.born + 1, on.end, *random);
                born
            }
            _ => birth(self.clock.as_mut(), self.born + 1, on.end, random),
        };
    }

    /// The next birth that is dealt, to whomever.
    fn next_dealt(&self) -> u32 {
        self.dealt.as_ref().map_or(NEVER, |dealt| dealt.next)
    }

    /// The next cycle in which there may be something to do.
    #[inline(always)]
    fn due(&self, now: u32) -> u32 {
        if self.left > 0 { now + 1 } else { self.born.max(now + 1) }
    }

    /// The packet that is staged.
    #[inline(always)]
    fn packet<'a, G: ?Sized>(&'a mut self, on: &'a Context<'_, G>) -> Packet<'a> {
        Packet::new(&mut self.flit, &on.layout)
    }

    /// Whether its next flit has a lane, which is one of these.
    #[inline(always)]
    fn fits(&self, open: u32) -> bool {
        self.left > 0 && self.lane != NONE && open >> (self.lane & 31) & 1 == 1
    }

    /// Its next flit, which leaves for the ring's place `at`. `free`: the lanes that no packet of
    /// the endpoint has.
    #[inline(always)]
    fn send<G: ?Sized, const S: u32>(
        &mut self,
        (now, at): (u32, u32),
        free: &mut u32,
        on: &Context<'_, G>,
        tally: &mut OfClass,
    ) -> u64 {
        let mut flit = self.flit;
        let own = 1 << (self.lane & 31);
        self.left -= 1;
        let by_entry = S == ANY && on.router.priority == Priority::NetworkAge;
        if by_entry && (flit & HEAD != 0 || on.router.as_booksim) {
            flit = on.layout.entered(flit, now);
        }
        if flit & HEAD != 0 {
            if flit & COUNTED != 0 {
                tally.wait += on.layout.age(flit, now.into());
                tally.entered += 1;
            }
            // in BookSim each flit enters by itself
            self.flit = if S == ANY && on.router.as_booksim { self.flit } else { flit } & !HEAD;
            self.last_lane = self.lane;
            *free &= !own;
            if S == ANY && on.router.routing_delay == 0 {
                on.board.wants.set(at as usize, self.want);
            }
        }
        if self.left == 0 {
            flit |= TAIL;
            if S < ANY || !on.router.wait_for_tail_credit {
                *free |= own;
            }
        }
        flit
    }
}

/// The next birth, from a cycle on; [`NEVER`] where there is none.
#[inline]
pub(super) fn birth(clock: Option<&mut Clock>, from: u32, end: u32, random: &mut Fast) -> u32 {
    let born = clock.and_then(|clock| clock.next_before(from.into(), end.into(), random));
    born.map_or(NEVER, |cycle| cycle as u32)
}

/// The same where what is drawn in each cycle says it: at most `most`. As good as a call of
/// [`birth`] each time, as long as there is no other; random numbers come and go by value, so that
/// they stay in registers.
#[inline(never)]
fn next_birth(most: u64, from: u32, end: u32, mut random: Fast) -> (u32, Fast) {
    for cycle in from..end {
        if random.next_u64() <= most {
            return (cycle, random);
        }
    }
    (NEVER, random)
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

/// A cycle, and which packets that are made in it are marked as those that count.
#[derive(Debug, Clone, Copy)]
struct Cycle {
    now: u32,
    /// All of them.
    counts: bool,
    /// Those born before this cycle.
    late_before: u32,
}

impl Cycle {
    #[inline]
    fn new<G: ?Sized>(now: u32, on: &Context<'_, G>) -> Self {
        let is_late = on.counts_late && now >= on.counted.end;
        let late_before = if is_late { on.counted.end } else { 0 };
        let counts = on.counted.contains(&now) && on.counts_as == 0;
        Self { now, counts, late_before }
    }
}

/// What the endpoints of a router send in cycle `now`.
#[inline]
pub(super) fn inject<
    G: Guide + ?Sized,
    const S: u32,
    const N: usize,
    const W: usize,
    const M: usize,
>(
    unit: &mut Unit<N, W, M>,
    now: u32,
    on: &Context<'_, G>,
    tally: &mut Tally,
    calendar: &Calendar,
) {
    let when = Cycle::new(now, on);
    for source in &mut unit.sources {
        if source.wake > now {
            continue;
        }
        let port = usize::from(source.port) & (M - 1);
        let open = unit.open[port];
        let sent = if S < ANY {
            source.only::<G, S>(when, open, on, tally)
        } else {
            source.any(when, open, on, tally, &unit.enter)
        };
        let Some((v, flit)) = sent else { continue };
        let lane = (port << on.stride::<S>() | usize::from(v)) & (N - 1);
        let at = unit.enter[lane];
        on.board.rings.set(at as usize, flit);
        unit.enter[lane] = on.next_place(at);
        unit.room[lane] -= 1;
        unit.open[port] = open & !(u32::from(unit.room[lane] == 0) << v);
        let place = unit.place + (lane >> 6) as u32 * on.pitch;
        calendar.mark(now + source.delay, place, lane as u32);
        tally.injected += 1;
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
