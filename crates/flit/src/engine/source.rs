//! Endpoints as senders: each has an unbounded queue for every class, and stages one packet of a
//! class at a time.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use super::context::{ANY, CycleContext, packed};
use super::creation::{NEVER, next_by_chance, next_creation};
use super::rail_queue::RailQueue;
use super::tally::{TrafficClassCounts, TrafficCounts};
use crate::router::PacketPriorityRule;
use base::seed::FastRandomStream;
use paths::guide::{PacketPosition, RoutingGuide};
use paths::word::{COUNTED, HEAD, PacketHeader, TAIL};
use traffic::process::{InjectedTrafficClass, SourceInjectionClock as Clock};

/// No lane.
const NONE: u8 = u8::MAX;

/// An endpoint that sends packets.
#[derive(Debug)]
pub(super) struct EndpointPacketSource {
    /// The next cycle in which it may have something to do.
    pub(super) wake: u32,
    /// The number of the endpoint.
    endpoint: u32,
    /// The port that it sends into.
    port: u16,
    /// The class whose flit was sent last.
    last_class: u8,
    /// Cycles from a flit's departure to its arrival at the router.
    pub(super) delay: u32,
    /// Lanes that are not occupied by a packet of this endpoint, a bit each.
    free: u32,
    /// The packets that it sends, by class.
    streams: Box<[ClassPacketStream]>,
    /// The random numbers for destinations, sizes, creation times and lanes.
    random: FastRandomStream,
}

/// The packets of one class that an endpoint sends.
#[derive(Debug)]
struct ClassPacketStream {
    /// The cycle in which the next packet is created.
    created: u32,
    /// The process that creates packets; none if the endpoint creates no packets of this class.
    clock: Option<Clock>,
    /// For plain routers and a constant probability of a packet in each cycle: a packet is created
    /// if the number drawn is at most this. Otherwise 0.
    most: u64,
    /// The next flit of the staged packet; valid if `left` is not 0.
    flit: u64,
    /// The number of flits of the staged packet that have not left.
    left: u32,
    /// The lane of the staged packet, once its head has one.
    lane: u8,
    /// The lane that the last packet took.
    last_lane: u8,
    /// The output that the staged packet's head requests at the first router, for lookahead.
    want: u64,
    /// The packets that are assigned to this rail, if the source creates none itself.
    queue: Option<Box<RailQueue>>,
}

/// The supply of packets of one class for a source: a clock of its own, or the queue of packets
/// that are assigned to it.
pub(super) type PacketSupply = (Option<Clock>, Option<Box<RailQueue>>);

impl EndpointPacketSource {
    /// A source whose packets of each class come from these supplies, before the cycle `end`.
    pub(super) fn new(
        endpoint: u32,
        port: u16,
        delay: u32,
        makers: Vec<PacketSupply>,
        end: u32,
        mut random: FastRandomStream,
    ) -> Self {
        let stream = |(mut clock, queue): PacketSupply| ClassPacketStream {
            created: next_creation(clock.as_mut(), 0, end, &mut random),
            most: clock.as_ref().and_then(Clock::most).unwrap_or(0),
            clock,
            flit: 0,
            left: 0,
            lane: NONE,
            last_lane: NONE,
            want: 0,
            queue,
        };
        let streams: Box<[ClassPacketStream]> = makers.into_iter().map(stream).collect();
        let wake = streams.iter().map(|s| s.created.min(s.next_assigned())).min().unwrap_or(NEVER);
        Self { wake, endpoint, port, last_class: 0, delay, free: u32::MAX, streams, random }
    }

    /// Stops the creation of packets; the staged ones are still sent.
    pub(super) fn stop(&mut self) {
        for stream in &mut self.streams {
            (stream.created, stream.clock, stream.queue) = (NEVER, None, None);
            stream.most = 0;
        }
    }

    /// Whether all packets that are created before a cycle have been staged.
    pub(super) fn is_past(&self, cycle: u32) -> bool {
        self.streams.iter().all(|s| s.created >= cycle && s.next_assigned() >= cycle)
    }

    /// For each staged packet, its next flit and the number of flits left.
    pub(super) fn packets(&self) -> impl Iterator<Item = (u64, u32)> {
        self.streams.iter().filter(|s| s.left > 0).map(|s| (s.flit, s.left))
    }

    /// The number of flits of staged packets that have not left.
    pub(super) fn staged(&self) -> u64 {
        self.streams.iter().map(|s| u64::from(s.left)).sum()
    }

    /// The number of flits that wait or are staged, plus those in the buffer lanes that it sends
    /// into: `room` is the free space of each lane, `full` its capacity.
    pub(super) fn backlog(&self, room: &[u16], full: u32) -> u64 {
        let waiting = self.streams.iter().filter_map(|s| s.queue.as_ref()).map(|q| q.flits());
        let inside = room.iter().map(|&room| u64::from(full) - u64::from(room));
        self.staged() + waiting.sum::<u64>() + inside.sum::<u64>()
    }

    /// The number of the endpoint.
    pub(super) fn endpoint(&self) -> u32 {
        self.endpoint
    }

    /// The port that it sends into.
    pub(super) fn port(&self) -> usize {
        self.port.into()
    }

    /// Frees a lane whose credits have all returned, unless a packet is partly sent into it.
    pub(super) fn release(&mut self, channel: usize) {
        let sends = |s: &ClassPacketStream| s.left > 0 && s.flit & HEAD == 0;
        if !self.streams.iter().any(|s| sends(s) && usize::from(s.lane) == channel) {
            self.free |= 1 << channel;
        }
    }

    /// Sends a flit of this cycle into one of the `open` lanes: the flit and its lane. Only for
    /// plain routers and one class.
    #[inline(always)]
    pub(super) fn only<G: RoutingGuide + ?Sized, const S: u32>(
        &mut self,
        when: PacketMeasurementRule,
        open: u32,
        on: &CycleContext<'_, G>,
        tally: &mut TrafficCounts,
    ) -> Option<(u8, u64)> {
        let Self { streams, random, endpoint, free, wake, .. } = self;
        let ([stream], [counts]) = (&mut **streams, &mut *tally.classes) else { return None };
        if stream.left == 0 {
            let of = &on.classes[0];
            if stream.created > when.now {
                *wake = stream.created;
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

    /// As [`EndpointPacketSource::only`], for any routers and classes; `enter` is, for each lane,
    /// the ring index for its next flit.
    pub(super) fn any<G: RoutingGuide + ?Sized>(
        &mut self,
        when: PacketMeasurementRule,
        open: u32,
        on: &CycleContext<'_, G>,
        tally: &mut TrafficCounts,
        enter: &[u32],
    ) -> Option<(u8, u64)> {
        for (class, stream) in (0..).zip(&mut self.streams) {
            let (of, tally) = (&on.classes[class as usize], &mut tally.classes[class as usize]);
            if let Some(queue) = &mut stream.queue {
                queue.advance(self.endpoint, when.now, of, on);
                stream.created = queue.front();
            }
            if stream.left == 0 && stream.created <= when.now {
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
        let due = |s: &ClassPacketStream| s.due(when.now).min(s.next_assigned());
        self.wake = self.streams.iter().map(due).min().unwrap_or(NEVER);
        sent
    }

    /// The class that sends a flit in this cycle into one of the `open` lanes.
    #[inline]
    fn choose<G: RoutingGuide + ?Sized>(
        &mut self,
        now: u32,
        open: u32,
        on: &CycleContext<'_, G>,
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
            // a packet of another class has meanwhile taken the lane that this one had chosen, and
            // still occupies it: BookSim would stop here
            stream.lane = NONE;
            return self.choose(now, open, on);
        }
        Some(class)
    }

    /// Whether the next flit of a class can enter one of the `open` lanes.
    fn can_go<G: RoutingGuide + ?Sized>(
        &mut self,
        class: usize,
        now: u32,
        open: u32,
        on: &CycleContext<'_, G>,
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

    /// The output that a head flit will request at its first router, for lookahead.
    #[inline(never)]
    fn look_ahead<G: RoutingGuide + ?Sized>(
        &mut self,
        class: usize,
        lane: u8,
        now: u32,
        on: &CycleContext<'_, G>,
    ) {
        let router = on.wiring.endpoints()[self.endpoint as usize].router;
        let sight = on.seen_from_afar(router, now);
        let i = usize::from(self.port) << on.stride | usize::from(lane);
        let mut here = PacketPosition::new(router, (i, on.stride), &sight, &mut self.random);
        let stream = &mut self.streams[class];
        stream.want = packed(on.guide.want(&mut here, &mut stream.packet(on)));
    }
}

impl ClassPacketStream {
    /// Stages the next packet of its class; no packet is staged and one is due.
    #[inline(always)]
    fn stage<G: ?Sized, const S: u32>(
        &mut self,
        (endpoint, class): (u32, u32),
        when: PacketMeasurementRule,
        random: &mut FastRandomStream,
        on: &CycleContext<'_, G>,
        of: &InjectedTrafficClass,
        tally: &mut TrafficClassCounts,
    ) {
        let created = if S == ANY && on.age_from_staging { when.now } else { self.created };
        let counts = when.counts || created < when.late_before;
        let listed = match &mut self.queue {
            Some(queue) if S == ANY => queue.pop(endpoint, of, on),
            _ => None,
        };
        let target;
        (target, self.left) = match listed {
            Some(packet) => packet,
            None => (of.destinations.draw(endpoint, random), of.sizes.draw(random)),
        };
        self.flit = on.layout.packet(target, class, created.into()) | HEAD;
        self.flit |= if counts { COUNTED } else { 0 };
        self.lane = NONE;
        tally.staged += u64::from(counts);
        self.created = match &self.queue {
            Some(queue) if S == ANY => queue.front(),
            _ if S < ANY && self.most > 0 => {
                let next;
                (next, *random) = next_by_chance(self.most, self.created + 1, on.end, *random);
                next
            }
            _ => next_creation(self.clock.as_mut(), self.created + 1, on.end, random),
        };
    }

    /// The cycle of the endpoint's next packet that has yet to be assigned to one of its rails.
    fn next_assigned(&self) -> u32 {
        self.queue.as_ref().map_or(NEVER, |queue| queue.next)
    }

    /// The next cycle in which the stream may have something to do.
    #[inline(always)]
    fn due(&self, now: u32) -> u32 {
        if self.left > 0 { now + 1 } else { self.created.max(now + 1) }
    }

    /// The header of the staged packet.
    #[inline(always)]
    fn packet<'a, G: ?Sized>(&'a mut self, on: &'a CycleContext<'_, G>) -> PacketHeader<'a> {
        PacketHeader::new(&mut self.flit, &on.layout)
    }

    /// Whether its next flit has a lane, and that lane is one of `open`.
    #[inline(always)]
    fn fits(&self, open: u32) -> bool {
        self.left > 0 && self.lane != NONE && open >> (self.lane & 31) & 1 == 1
    }

    /// Takes its next flit, which goes to index `at` of the ring. `free` holds the lanes that no
    /// packet of the endpoint occupies.
    #[inline(always)]
    fn send<G: ?Sized, const S: u32>(
        &mut self,
        (now, at): (u32, u32),
        free: &mut u32,
        on: &CycleContext<'_, G>,
        tally: &mut TrafficClassCounts,
    ) -> u64 {
        let mut flit = self.flit;
        let own = 1 << (self.lane & 31);
        self.left -= 1;
        let by_entry = S == ANY && on.router.priority == PacketPriorityRule::NetworkAge;
        if by_entry && (flit & HEAD != 0 || on.router.as_booksim) {
            flit = on.layout.entered(flit, now);
        }
        if flit & HEAD != 0 {
            if flit & COUNTED != 0 {
                tally.wait += on.layout.age(flit, now.into());
                tally.entered += 1;
            }
            // in BookSim each flit of a packet has its own time of entry
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

/// The first open lane after the lane `last` among the `allowed` ones, which are consecutive. If
/// `last` is not allowed, only the lowest allowed lane qualifies. [`NONE`] if there is none.
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

/// A cycle, and the rule by which packets staged in it are marked as measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketMeasurementRule {
    now: u32,
    /// Whether all packets staged in it are marked.
    counts: bool,
    /// Packets created before this cycle are marked; 0 if none is marked by this rule.
    late_before: u32,
}

impl PacketMeasurementRule {
    #[inline]
    pub(super) fn new<G: ?Sized>(now: u32, on: &CycleContext<'_, G>) -> Self {
        let is_late = on.counts_late && now >= on.counted.end;
        let late_before = if is_late { on.counted.end } else { 0 };
        let counts = on.counted.contains(&now) && on.counts_as == 0;
        Self { now, counts, late_before }
    }
}
