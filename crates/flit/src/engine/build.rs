//! Construction of an engine: array sizes, cabling, and the sources at endpoints.

use super::assignment::RailAssignmentInputs;
use super::audit::{AuditedRouterStates, BlockedPacket};
use super::board::{BitCalendar, SharedRouterState, SharedWords};
use super::context::{ANY, CycleContext, WHOLE};
use super::extra::AdditionalRouterState;
use super::part::ThreadRouters;
use super::rail_queue::RailQueue;
use super::source::{EndpointPacketSource, PacketSupply};
use super::tally::TrafficCounts;
use super::unit::{CreditLink, OutputLink, RouterState};
use crate::router::{PacketPriorityRule, RouterDesign};
use base::Refusal;
use base::seed::FastRandomStream;
use base::team::{ThreadBarrier, together};
use paths::guide::RoutingGuide;
use paths::wiring::{CableEnd, RouterWiring};
use paths::word::{COUNTED, FlitLayout};
use std::ops::Range;
use traffic::process::InjectedTrafficClass;

/// The parts that an engine is built from.
#[derive(Clone, Copy)]
pub struct FlitEngineInputs<'a> {
    /// The network.
    pub wiring: &'a RouterWiring,
    /// Its routers.
    pub router: &'a RouterDesign,
    /// The routing.
    pub guide: &'a dyn RoutingGuide,
    /// The traffic.
    pub classes: &'a [InjectedTrafficClass],
    /// The urgency of each class, used if the router prioritises by class.
    pub urgencies: &'a [u32],
    /// The seed of all that is random.
    pub seed: u64,
    /// Threads: the result is the same with any number.
    pub threads: usize,
    /// Whether the full step runs even if the plain one would suffice; the result is the same.
    pub always_full: bool,
    /// How packets are assigned to rails that create no packets themselves; none if all create
    /// their own.
    pub assignment: Option<RailAssignmentInputs<'a>>,
    /// The simulation never gets beyond this number of cycles.
    pub cycles: u32,
    /// Whether the age of a packet starts when it is staged, so that its wait in the source queue
    /// does not count.
    pub age_from_staging: bool,
}

/// A simulation that advances cycle by cycle.
pub trait FlitSimulationEngine {
    /// The next cycle.
    fn now(&self) -> u32;

    /// Simulates this number of further cycles.
    fn advance(&mut self, cycles: u32);

    /// Sets the cycles to measure: packets staged and flits arriving in them count. With `late`,
    /// packets that are created in them and staged afterwards count, too.
    fn count_in(&mut self, cycles: Range<u32>, late: bool);

    /// Sets whether every packet that arrives counts, whenever it was staged.
    fn count_all(&mut self, all: bool);

    /// Defers flits that arrive in this cycle or later: they are counted after a call with a later
    /// cycle. Flits that have left their last router are known to arrive before they do. Without a
    /// call nothing is deferred.
    fn count_until(&mut self, cycle: u32);

    /// For each class, the number of flits that have not arrived, of packets that their source has
    /// begun to send or takes next, and the sum of their ages in cycles. The current cycle is the
    /// last one passed to [`Self::count_until`]. O(flits).
    fn not_arrived(&self) -> Vec<(u64, u64)>;

    /// Whether all packets that count have been created and have arrived.
    fn all_counted_arrived(&self) -> bool;

    /// Resets all counters.
    fn clear(&mut self);

    /// Stops the creation of packets.
    fn stop_sources(&mut self);

    /// The counts so far.
    fn tally(&self) -> TrafficCounts;

    /// The number of flits inside the network or staged at its sources.
    fn flits_inside(&self) -> u64;

    /// Checks that no flit or credit was lost or created: for every buffer, and for all flits
    /// inside.
    ///
    /// # Errors
    /// The invariant that is violated.
    fn audit(&self) -> Result<(), String>;

    /// Packets that wait for one another in a cycle; none if there are none. O(lanes).
    fn deadlock(&self) -> Option<Vec<BlockedPacket>>;

    /// Whether there are flits, but no flit or credit is in flight. O(calendars).
    fn is_still(&self) -> bool;

    /// Whether some packet has not moved since the last call.
    fn is_slow(&mut self) -> bool;

    /// For every port of every router, in order, the number of flits sent so far.
    fn sent(&self) -> Vec<u32>;

    /// As [`Self::sent`] without the flits that have crossed their router and whose turn on the
    /// channel is not before the current cycle: a crossbar may be faster than a channel.
    fn departed(&self) -> Vec<u32>;

    /// Adds, for every port of every router in order and each virtual channel, the flits that are
    /// in its buffer now.
    fn count_buffered(&self, sums: &mut [u32]);
}

/// Whether the plain step suffices for this setup.
pub(super) fn is_plain(setup: FlitEngineInputs<'_>) -> bool {
    setup.router.is_plain() && !setup.guide.has_choices() && !setup.always_full
}

/// Whether the rails of an endpoint compare their queues.
fn compares_rails(setup: FlitEngineInputs<'_>) -> bool {
    setup.assignment.is_some_and(|a| a.rail.compares())
}

/// Whether some router reads the queues of other routers.
fn sees_far(setup: FlitEngineInputs<'_>) -> bool {
    let ahead = setup.router.routing_delay == 0 && setup.guide.sees_queues();
    ahead || setup.guide.sees_far()
}

/// All routers: plain ones with `1 << S` lanes a port and one class of traffic, or any with
/// [`ANY`].
pub(super) struct RouterEngine<
    'a,
    G: ?Sized,
    const N: usize,
    const W: usize,
    const M: usize,
    const S: u32,
> {
    setup: FlitEngineInputs<'a>,
    guide: &'a G,
    layout: FlitLayout,
    board: SharedRouterState,
    parts: Vec<ThreadRouters<N, W, M>>,
    first_port: Vec<u32>,
    now: u32,
    counted: Range<u32>,
    counts_late: bool,
    counts_all: bool,
    counts_before: u32,
    window: u32,
    pitch: u32,
    /// For each input lane at the last call of `is_slow`: the ring index of its front flit, and
    /// whether it had one.
    fronts: Vec<(u32, bool)>,
}

impl<'a, G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize, const S: u32>
    RouterEngine<'a, G, N, W, M, S>
{
    pub(super) fn new(setup: FlitEngineInputs<'a>, guide: &'a G) -> Result<Self, Refusal> {
        let FlitEngineInputs { wiring, router, classes, .. } = setup;
        let (endpoints, kinds) = (wiring.endpoints().len() as u32, classes.len() as u32);
        let entry = if router.priority == PacketPriorityRule::NetworkAge { 20 } else { 0 };
        let layout = FlitLayout::new(endpoints, kinds, guide.vias(), entry, setup.cycles.into())?;
        let places = RouterOffsets::new(wiring, router);
        let threads = setup.threads.clamp(1, wiring.routers().max(1) as usize);
        let compared = if compares_rails(setup) { wiring.endpoints().len() } else { 0 };
        let far = if sees_far(setup) { places.ports } else { 0 };
        let board = SharedRouterState {
            layout,
            rings: SharedWords::zeros(places.flits),
            wants: SharedWords::zeros(if router.routing_delay == 0 { places.flits } else { 0 }),
            calendars: (0..threads).map(|_| BitCalendar::new(places.ahead, places.words)).collect(),
            used: [SharedWords::zeros(far), SharedWords::zeros(far)],
            waiting: [SharedWords::zeros(compared), SharedWords::zeros(compared)],
        };
        let parts = split(&places.first_port, threads)
            .map(|routers| {
                Ok(ThreadRouters {
                    units: routers.map(|r| unit(setup, &places, r)).collect::<Result<_, _>>()?,
                    tally: TrafficCounts::new(classes.len()),
                })
            })
            .collect::<Result<_, Refusal>>()?;
        let all = (0..wiring.routers()).flat_map(|r| wiring.ports(r));
        let nearest = all.map(|p| p.out_latency.min(p.in_latency) + 1).min().unwrap_or(1);
        let window = if sees_far(setup) || compares_rails(setup) { 1 } else { nearest };
        let (now, counted, fronts) = (0, 0..0, Vec::new());
        Ok(Self {
            setup,
            guide,
            layout,
            board,
            parts,
            first_port: places.first_port,
            now,
            counted,
            counts_late: false,
            counts_all: false,
            counts_before: u32::MAX,
            window,
            pitch: BitCalendar::pitch(places.ahead),
            fronts,
        })
    }
}

impl<G: ?Sized, const N: usize, const W: usize, const M: usize, const S: u32>
    RouterEngine<'_, G, N, W, M, S>
{
    fn audit_of(&self) -> AuditedRouterStates<'_, N, W, M> {
        let router = self.setup.router;
        AuditedRouterStates {
            units: self.parts.iter().flat_map(|p| &p.units).collect(),
            board: &self.board,
            wiring: self.setup.wiring,
            router,
            stride: router.stride_bits(),
            lanes: router.virtual_channels,
            full: router.buffer_flits,
        }
    }
}

impl<G: RoutingGuide + ?Sized, const N: usize, const W: usize, const M: usize, const S: u32>
    FlitSimulationEngine for RouterEngine<'_, G, N, W, M, S>
{
    fn now(&self) -> u32 {
        self.now
    }

    fn advance(&mut self, cycles: u32) {
        let Self { setup, guide, layout, board, parts, first_port, .. } = self;
        let FlitEngineInputs { wiring, router, classes, .. } = *setup;
        let on = CycleContext {
            guide: *guide,
            wiring,
            router,
            classes,
            urgencies: setup.urgencies,
            end: setup.cycles,
            layout: *layout,
            board,
            stride: router.stride_bits(),
            ring_mask: (1 << router.ring_bits()) - 1,
            full: router.buffer_flits,
            pitch: self.pitch,
            speed: (router.internal_speedup * WHOLE as f64).round() as u64,
            counted: self.counted.clone(),
            counts_late: self.counts_late,
            counts_as: if self.counts_all { COUNTED } else { 0 },
            counts_before: self.counts_before,
            age_from_staging: setup.age_from_staging,
            sees_far: sees_far(*setup),
            assignment: setup.assignment,
            is_plain: S < ANY || is_plain(*setup),
            first_port,
        };
        for part in &mut *parts {
            part.count_late::<G, S>(&on);
        }
        if cycles == 0 {
            return;
        }
        let (range, window) = (self.now..self.now + cycles, self.window);
        let meet = ThreadBarrier::new(parts.len());
        together(&meet, parts, |me, part: &mut ThreadRouters<N, W, M>| {
            part.run::<G, S>(range.clone(), window, &on, me, &meet);
        });
        self.now += cycles;
    }

    fn count_in(&mut self, cycles: Range<u32>, late: bool) {
        (self.counted, self.counts_late) = (cycles, late);
    }

    fn count_all(&mut self, all: bool) {
        self.counts_all = all;
    }

    fn count_until(&mut self, cycle: u32) {
        self.counts_before = cycle;
        self.advance(0);
    }

    fn not_arrived(&self) -> Vec<(u64, u64)> {
        let mut sums = vec![(0, 0); self.setup.classes.len()];
        let mut add = |flit: u64, flits: u32| {
            let age = self.layout.age(flit, self.now.into());
            let sum = &mut sums[self.layout.class(flit) as usize];
            *sum = (sum.0 + u64::from(flits), sum.1 + u64::from(flits) * age);
        };
        let ring_mask = (1 << self.setup.router.ring_bits()) - 1;
        self.audit_of().each_flit(ring_mask, |flit| add(flit, 1));
        for part in &self.parts {
            let sources = part.units.iter().flat_map(|unit| &unit.sources);
            sources
                .flat_map(EndpointPacketSource::packets)
                .for_each(|(flit, left)| add(flit, left));
            part.tally.late.iter().for_each(|&(flit, _)| add(flit, 1));
        }
        sums
    }

    fn all_counted_arrived(&self) -> bool {
        let mut sources = self.parts.iter().flat_map(|p| &p.units).flat_map(|u| &u.sources);
        let is_late = |s: &EndpointPacketSource| self.counts_late && !s.is_past(self.counted.end);
        !sources.any(is_late) && self.tally().classes.iter().all(|c| c.staged == c.arrived)
    }

    fn clear(&mut self) {
        let classes = self.setup.classes.len();
        for part in &mut self.parts {
            part.tally.classes = TrafficCounts::new(classes).classes;
        }
    }

    fn stop_sources(&mut self) {
        self.parts
            .iter_mut()
            .flat_map(|p| &mut p.units)
            .flat_map(|u| &mut u.sources)
            .for_each(EndpointPacketSource::stop);
    }

    fn tally(&self) -> TrafficCounts {
        let mut sum = TrafficCounts::new(self.setup.classes.len());
        self.parts.iter().for_each(|part| sum.merge(&part.tally));
        sum
    }

    fn flits_inside(&self) -> u64 {
        let tally = self.tally();
        let sources = self.parts.iter().flat_map(|p| &p.units).flat_map(|u| &u.sources);
        tally.injected - tally.ejected + sources.map(EndpointPacketSource::staged).sum::<u64>()
    }

    fn audit(&self) -> Result<(), String> {
        let audit = self.audit_of();
        audit.credits()?;
        let tally = self.tally();
        let (inside, counted) = (audit.flits(), tally.injected - tally.ejected);
        if inside != counted {
            return Err(format!("{inside} flits are inside, {counted} have not left"));
        }
        Ok(())
    }

    fn deadlock(&self) -> Option<Vec<BlockedPacket>> {
        self.audit_of().deadlock()
    }

    fn is_still(&self) -> bool {
        self.flits_inside() > 0 && self.audit_of().is_still()
    }

    fn is_slow(&mut self) -> bool {
        let units = self.parts.iter().flat_map(|p| &p.units);
        let fronts = units.flat_map(|u| u.head.iter().zip(&u.count).map(|(h, c)| (*h, *c > 0)));
        let fronts: Vec<(u32, bool)> = fronts.collect();
        let slow = self.fronts.iter().zip(&fronts).any(|(a, b)| a == b && a.1);
        self.fronts = fronts;
        slow
    }

    fn sent(&self) -> Vec<u32> {
        let units = self.parts.iter().flat_map(|p| &p.units);
        units.flat_map(|u| &u.sent[..u.ports as usize]).copied().collect()
    }

    fn departed(&self) -> Vec<u32> {
        let lanes = (1_u64 << self.setup.router.virtual_channels) - 1;
        let mut all = Vec::with_capacity(self.first_port.last().map_or(0, |&n| n as usize));
        for (part, calendar) in self.parts.iter().zip(&self.board.calendars) {
            for unit in &part.units {
                for (ahead, sent) in unit.ahead[..unit.ports as usize].iter().zip(&unit.sent) {
                    let (after, channel) = ((self.now, ahead.delay), lanes << ahead.bit);
                    // A port without a link has no place in the calendar, and sends nothing.
                    let waits = match sent {
                        0 => 0,
                        _ => calendar.count_from(after, ahead.place, channel),
                    };
                    all.push(sent - waits);
                }
            }
        }
        all
    }

    fn count_buffered(&self, sums: &mut [u32]) {
        let lanes = usize::from(self.setup.router.virtual_channels);
        let stride = self.setup.router.stride_bits();
        let add = |sums: &mut [u32], counts: &[u16]| {
            sums.iter_mut().zip(counts).for_each(|(sum, &count)| *sum += u32::from(count));
        };
        if lanes == 1 << stride {
            // lanes have no gaps between ports
            let mut rest = sums;
            for unit in self.parts.iter().flat_map(|p| &p.units) {
                let (mine, others) = rest.split_at_mut((unit.ports as usize) << stride);
                add(mine, &unit.count);
                rest = others;
            }
            return;
        }
        let units = self.parts.iter().flat_map(|p| &p.units);
        let ports = units.flat_map(|u| (0..u.ports as usize).map(move |port| (u, port << stride)));
        for (sums, (unit, first)) in sums.chunks_exact_mut(lanes).zip(ports) {
            add(sums, &unit.count[first..]);
        }
    }
}

/// The offsets of every router's ports, rings and words in the shared arrays.
struct RouterOffsets {
    first_port: Vec<u32>,
    /// For each router, the offset of its first ring.
    ring: Vec<u32>,
    /// For each router, the offset of its first calendar word.
    word: Vec<u32>,
    ports: usize,
    flits: usize,
    words: usize,
    /// The most cycles by which an entry of a calendar can be ahead.
    ahead: u32,
}

impl RouterOffsets {
    fn new(wiring: &RouterWiring, router: &RouterDesign) -> Self {
        let (stride, ring_bits) = (router.stride_bits(), router.ring_bits());
        let mut new = Self {
            first_port: vec![0],
            ring: vec![0],
            word: vec![0],
            ports: 0,
            flits: 0,
            words: 0,
            ahead: 0,
        };
        let mut latency = 1;
        for r in 0..wiring.routers() {
            let ports = wiring.ports(r);
            let lanes = ports.len() << stride;
            new.ports += ports.len();
            new.flits += lanes << ring_bits;
            new.words += 3 * lanes.div_ceil(64);
            new.first_port.push(new.ports as u32);
            new.ring.push(new.flits as u32);
            new.word.push(new.words as u32);
            let longest = ports.iter().map(|p| p.out_latency.max(p.in_latency)).max();
            latency = latency.max(longest.unwrap_or(1));
        }
        // the flits and credits of a full buffer queue up, then travel both directions of the link
        let queue = u32::from(router.virtual_channels) * router.buffer_flits;
        // in BookSim's mode a flit may first wait for the batch in the crossbar
        let waits = if router.as_booksim { router.crossbar_delay } else { 0 };
        let delays =
            router.credit_delay + router.switch_alloc_delay + router.crossbar_delay + waits;
        new.ahead = queue + 2 * (latency + 1) + delays + 8 + latency;
        new
    }

    /// The calendar index of a lane's word of this kind: arrivals (0), credits (1) or credits for
    /// endpoints (2).
    fn place(&self, router: u32, kind: u32, lane: usize) -> u32 {
        let word = self.word[router as usize] + kind * self.words_of(router) + lane as u32 / 64;
        word * BitCalendar::pitch(self.ahead)
    }

    fn words_of(&self, router: u32) -> u32 {
        (self.word[router as usize + 1] - self.word[router as usize]) / 3
    }
}

/// Splits the routers into consecutive ranges, one for each thread, with about equally many ports.
fn split(first_port: &[u32], threads: usize) -> impl Iterator<Item = Range<u32>> + '_ {
    let all = u64::from(*first_port.last().unwrap_or(&0));
    let cut = move |i: usize| {
        let wanted = (all * i as u64 / threads as u64) as u32;
        first_port.partition_point(|&p| p < wanted) as u32
    };
    let last = first_port.len() as u32 - 1;
    let end = move |i: usize| if i == threads { last } else { cut(i).min(last) };
    (0..threads).map(move |i| end(i)..end(i + 1))
}

/// An empty router.
fn unit<const N: usize, const W: usize, const M: usize>(
    setup: FlitEngineInputs<'_>,
    places: &RouterOffsets,
    router: u32,
) -> Result<RouterState<N, W, M>, Refusal> {
    let FlitEngineInputs { wiring, router: kind, .. } = setup;
    let (stride, ring_bits) = (kind.stride_bits(), kind.ring_bits());
    let words = places.words_of(router);
    let mut unit =
        RouterState::new(router, FastRandomStream::new(setup.seed, "router", router.into()));
    let ring =
        |router: u32, lane: usize| places.ring[router as usize] + ((lane as u32) << ring_bits);
    unit.word = places.word[router as usize];
    unit.place = places.place(router, 0, 0);
    (unit.words, unit.ports) = (words, wiring.ports(router).len() as u32);
    let lanes = u32::from(kind.virtual_channels);
    let all = (unit.ports << stride) as usize;
    if !is_plain(setup) {
        unit.extra =
            AdditionalRouterState::new(kind, all, unit.ports as usize, setup.guide.has_choices());
    }
    for (port, p) in wiring.ports(router).iter().enumerate() {
        let first = port << stride;
        let bit = (first % 64) as u8;
        let ours = first..first + kind.virtual_channels as usize;
        let back_latency = wiring.in_latency(router, port as u16);
        let forth = p.out_latency + 1;
        match p.end {
            CableEnd::Router { router: to, port: there } => {
                let far = usize::from(there) << stride;
                let far_bit = (far % 64) as u8;
                let place = places.place(to, 0, far);
                unit.ahead[port] = OutputLink { place, bit: far_bit, delay: forth, flight: forth };
                let delay = back_latency + 1 + kind.credit_delay;
                unit.back[port] =
                    CreditLink { place: places.place(to, 1, far), bit: far_bit, delay };
                for lane in ours.clone() {
                    unit.write[lane] = ring(to, far + lane - first);
                }
            }
            CableEnd::Endpoint(e) => {
                let place = places.place(router, 1, first);
                let delay = 2 * forth + kind.credit_delay;
                unit.ahead[port] = OutputLink { place, bit, delay, flight: forth };
                unit.ends[port / 64] |= 1 << (port & 63);
                let delay = back_latency + 1;
                unit.back[port] = CreditLink { place: places.place(router, 2, first), bit, delay };
                unit.open[port] = u32::MAX >> (32 - lanes);
                for lane in ours.clone() {
                    unit.room[lane] = kind.buffer_flits as u16;
                }
                unit.sources.push(source(setup, e, port as u16, delay)?);
            }
            CableEnd::Empty => continue,
        }
        for lane in ours {
            unit.free[lane / 64] |= 1 << (lane & 63);
            unit.credits[lane] = kind.buffer_flits as u16;
            (unit.head[lane], unit.enter[lane]) = (ring(router, lane), ring(router, lane));
        }
    }
    Ok(unit)
}

fn source(
    setup: FlitEngineInputs<'_>,
    endpoint: u32,
    port: u16,
    delay: u32,
) -> Result<EndpointPacketSource, Refusal> {
    let mut random = FastRandomStream::new(setup.seed, "endpoint", endpoint.into());
    let maker = |(number, class): (u64, &InjectedTrafficClass)| -> Result<PacketSupply, Refusal> {
        let Some(assignment) = setup.assignment else {
            return Ok((class.source(endpoint, &mut random)?, None));
        };
        let first = endpoint - endpoint % assignment.rails;
        // every rail of an endpoint draws the same random numbers
        let mut shared =
            FastRandomStream::new(setup.seed, "births", number << 32 | u64::from(first));
        let count = if assignment.times.is_some() { 0 } else { assignment.rails };
        let rails = first..first + count;
        let clocks = rails.map(|rail| class.source(rail, &mut shared)).collect::<Result<_, _>>()?;
        let queue = RailQueue::new(clocks, shared, (assignment, endpoint, setup.cycles));
        Ok((None, Some(Box::new(queue))))
    };
    let makers = (0..).zip(setup.classes).map(maker).collect::<Result<_, _>>()?;
    Ok(EndpointPacketSource::new(endpoint, port, delay, makers, setup.cycles, random))
}
