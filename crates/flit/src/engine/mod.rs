//! The engine: all routers of a network, cycle by cycle, on any number of threads.

mod allocate;
mod audit;
mod batch;
mod board;
mod build;
mod choose;
mod deal;
mod full;
mod plain;
mod source;
mod tally;
mod unit;

pub use audit::Waiting;
pub use tally::{Histogram, OfClass, Tally};

use super::router::{Priority, Router};
use base::team::Meeting;
use board::Board;
use full::When;
use paths::guide::{Guide, Sight, Want};
use paths::wiring::Wiring;
use paths::word::{COUNTED, Layout, hops};
use std::ops::Range;
use traffic::process::Class;
use unit::{Unit, bits_of};

pub use build::{Engine, Setup};
pub use choose::engine;
pub use deal::Deal;

/// Steps are counted in millionths.
const WHOLE: u64 = 1_000_000;

/// In place of the lanes of a port, as a power of two: of any router, known when it runs.
const ANY: u32 = u32::MAX;

/// The place after a flit's, around the end of its ring of so many places less one.
#[inline]
fn next_place(at: u32, ring_mask: u32) -> u32 {
    at ^ (at ^ (at + 1)) & ring_mask
}

/// What a packet wants, as routers keep it.
#[inline]
fn packed(want: Want) -> u64 {
    u64::from(want.port) << 32 | u64::from(want.lanes)
}

/// The other way round.
#[inline]
fn unpacked(want: u64) -> Want {
    Want { port: (want >> 32) as u16, lanes: want as u32, rank: 0 }
}

/// What does not change while cycles go by.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
struct Context<'a, G: ?Sized> {
    pub(super) guide: &'a G,
    pub(super) wiring: &'a Wiring,
    pub(super) router: &'a Router,
    pub(super) classes: &'a [Class],
    /// How urgent each class is.
    pub(super) urgencies: &'a [u32],
    /// Nothing from this cycle on matters.
    pub(super) end: u32,
    pub(super) layout: Layout,
    pub(super) board: &'a Board,
    /// Virtual channels of a port have `1 << stride` places.
    pub(super) stride: u32,
    /// Flits of a lane have as many places, less one, beginning at a multiple of that.
    pub(super) ring_mask: u32,
    /// Flits of a buffer.
    pub(super) full: u32,
    /// How far apart the words of calendars are.
    pub(super) pitch: u32,
    /// Internal steps, millionths a cycle.
    pub(super) speed: u64,
    /// Cycles in which packets that are made, and flits that arrive, count.
    pub(super) counted: Range<u32>,
    /// Whether packets count that were born in these cycles and are made later.
    pub(super) counts_late: bool,
    /// Bits that flits have when they arrive, besides their own: [`COUNTED`] where all packets
    /// count, whenever they were made.
    pub(super) counts_as: u64,
    /// What arrives from this cycle on is not counted yet.
    pub(super) counts_before: u32,
    /// Whether packets are born when they are made, so that no wait before that counts.
    pub(super) born_when_made: bool,
    /// Whether some router looks at the queues of others.
    pub(super) sees_far: bool,
    /// How packets come to sources that have no births of their own.
    pub(super) deal: Option<Deal<'a>>,
    /// Whether the short step does.
    pub(super) is_plain: bool,
    /// Where each router's ports begin among all.
    pub(super) first_port: &'a [u32],
}

impl<G: ?Sized> Context<'_, G> {
    /// How urgent a packet is: allocators serve the most urgent first.
    #[inline]
    pub(super) fn urgency(&self, flit: u64, now: u32) -> u32 {
        match self.router.priority {
            Priority::RoundRobin => 0,
            Priority::Age => self.layout.age(flit, now.into()).min(1 << 24) as u32,
            Priority::NetworkAge => self.layout.time_inside(flit, now),
            Priority::Class => self.urgencies[self.layout.class(flit) as usize],
        }
    }

    /// Lanes of a port, as a power of two.
    #[inline]
    fn stride<const S: u32>(&self) -> u32 {
        if S < ANY { S } else { self.stride }
    }

    /// Steps of the routers in a cycle.
    #[inline]
    fn steps(&self, cycle: u32) -> u32 {
        if self.speed.is_multiple_of(WHOLE) {
            return (self.speed / WHOLE) as u32;
        }
        let until = |c: u64| c * self.speed / WHOLE;
        (until(u64::from(cycle) + 1) - until(cycle.into())) as u32
    }

    /// The place after a flit's, around the end of its ring.
    #[inline]
    fn next_place(&self, at: u32) -> u32 {
        next_place(at, self.ring_mask)
    }

    /// What a router with these credits sees in cycle `now`.
    #[inline]
    fn near<'b, const S: u32, const N: usize>(
        &'b self,
        credits: &'b [u16; N],
        now: u32,
    ) -> Near<'b, G, S, N> {
        let full = self.full * u32::from(self.router.virtual_channels);
        Near { credits, full, now, on: self }
    }

    /// What is seen of a router from elsewhere in cycle `now`.
    pub(super) fn seen_from_afar(&self, router: u32, now: u32) -> Far<'_> {
        let used = &self.board.used[(now as usize + 1) % 2];
        Far { used, first_port: self.first_port, router }
    }
}

/// What a router sees of itself, and of others as they were a cycle ago.
struct Near<'a, G: ?Sized, const S: u32, const N: usize> {
    credits: &'a [u16; N],
    /// Credits of a port whose next buffer is empty.
    full: u32,
    now: u32,
    on: &'a Context<'a, G>,
}

impl<G: ?Sized, const S: u32, const N: usize> Sight for Near<'_, G, S, N> {
    #[inline]
    fn used(&self, port: u16) -> u32 {
        if S == 2 {
            // four credits are a word, and a product adds them up: a buffer has 8192 at most
            let four: [u16; 4] = self.credits.as_chunks().0[usize::from(port) & (N / 4 - 1)];
            let word = four.into_iter().rev().fold(0, |word, c| word << 16 | u64::from(c));
            return self.full - (word.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32;
        }
        let first = usize::from(port) << self.on.stride;
        let credits = &self.credits[first..first + (1 << self.on.stride)];
        self.full - credits.iter().map(|&c| u32::from(c)).sum::<u32>()
    }

    fn used_at(&self, router: u32, port: u16) -> u32 {
        self.on.seen_from_afar(router, self.now).used_at(router, port)
    }
}

/// What is seen of a router from elsewhere: as it was at the end of the last cycle.
struct Far<'a> {
    used: &'a board::Words,
    first_port: &'a [u32],
    router: u32,
}

impl Sight for Far<'_> {
    fn used(&self, port: u16) -> u32 {
        self.used_at(self.router, port)
    }

    fn used_at(&self, router: u32, port: u16) -> u32 {
        self.used.get(self.first_port[router as usize] as usize + usize::from(port)) as u32
    }
}

/// What a step writes down between asking and giving.
#[derive(Debug)]
struct Scratch<const N: usize, const M: usize> {
    /// The input lane that each output lane chooses, by key.
    lanes: [u32; N],
    /// The input lane that each output chooses.
    outputs: [u32; M],
}

impl<const N: usize, const M: usize> Scratch<N, M> {
    fn new() -> Self {
        Self { lanes: [u32::MAX; N], outputs: [u32::MAX; M] }
    }
}

/// The routers of one thread.
#[derive(Debug)]
struct Part<const N: usize, const W: usize, const M: usize> {
    units: Vec<Unit<N, W, M>>,
    tally: Tally,
}

impl<const N: usize, const W: usize, const M: usize> Part<N, W, M> {
    /// Counts what was left for later and counts by now.
    fn count_late<G: ?Sized, const S: u32>(&mut self, on: &Context<'_, G>) {
        for (flit, arrives) in std::mem::take(&mut self.tally.late) {
            if arrives >= on.counts_before {
                self.tally.late.push((flit, arrives));
            } else {
                count_arrived::<G, S>(&mut self.tally, flit, arrives, on);
            }
        }
    }

    /// The cycles `cycles`, in windows of `window` cycles that need nothing of one another.
    fn run<G: Guide + ?Sized, const S: u32>(
        &mut self,
        cycles: Range<u32>,
        window: u32,
        on: &Context<'_, G>,
        me: usize,
        meet: &Meeting,
    ) {
        let mut scratch = Scratch::new();
        let mut now = cycles.start;
        while now < cycles.end {
            let next = cycles.end.min(now + window);
            for unit in &mut self.units {
                for cycle in now..next {
                    visit::<G, S, N, W, M>(unit, &mut scratch, &mut self.tally, cycle, on, me);
                }
            }
            now = next;
            if meet.wait().is_err() {
                return;
            }
        }
    }
}

/// One router, one cycle.
#[inline]
fn visit<G: Guide + ?Sized, const S: u32, const N: usize, const W: usize, const M: usize>(
    unit: &mut Unit<N, W, M>,
    scratch: &mut Scratch<N, M>,
    tally: &mut Tally,
    now: u32,
    on: &Context<'_, G>,
    me: usize,
) {
    let calendar = &on.board.calendars[me];
    take::<G, S, N, W, M>(unit, now, on);
    source::inject::<G, S, N, W, M>(unit, now, on, tally, calendar);
    let steps = on.steps(now);
    for step in 1..=steps {
        let through = now + u32::from(step == steps);
        if S < ANY || on.is_plain {
            plain::step::<G, S, N, W, M>(unit, scratch, tally, on, calendar, (now, through));
        } else {
            let number = u64::from(now) * on.speed / WHOLE + u64::from(step);
            full::step(unit, tally, on, calendar, When { now, through, step: number });
        }
    }
    if S == ANY && on.deal.is_some_and(|deal| deal.rail.compares()) {
        tell_waiting(unit, now, on);
    }
    if on.sees_far {
        let near = on.near::<S, N>(&unit.credits, now);
        let first = on.first_port[unit.router as usize] as usize;
        for port in 0..unit.ports {
            let used = near.used(port as u16).into();
            on.board.used[now as usize % 2].set(first + port as usize, used);
        }
    }
}

/// Tells the other rails of endpoints what waits at these.
fn tell_waiting<G: ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &Unit<N, W, M>,
    now: u32,
    on: &Context<'_, G>,
) {
    for source in &unit.sources {
        let first = source.port() << on.stride;
        let room = &unit.room[first..first + usize::from(on.router.virtual_channels)];
        let words = &on.board.waiting[now as usize % 2];
        words.set(source.endpoint() as usize, source.backlog(room, on.full));
    }
}

/// Takes what arrives at a router: flits, credits, and credits for its endpoints.
#[inline]
fn take<G: Guide + ?Sized, const S: u32, const N: usize, const W: usize, const M: usize>(
    unit: &mut Unit<N, W, M>,
    now: u32,
    on: &Context<'_, G>,
) {
    let words = (unit.words as usize).min(W);
    let stride = on.stride::<S>();
    let (first, apart) = (unit.place, words as u32 * on.pitch);
    for calendar in &on.board.calendars {
        for w in 0..words {
            let place = first + w as u32 * on.pitch;
            let [arrived, credits, rooms] =
                [0, 1, 2].map(|k| calendar.take(now, place + k * apart));
            for x in bits_of(w, credits) {
                unit.credits[x & (N - 1)] += 1;
            }
            for i in bits_of(w, rooms) {
                unit.room[i & (N - 1)] += 1;
                let (port, v) = (i >> stride, i & ((1 << stride) - 1));
                unit.open[port & (M - 1)] |= 1 << v;
            }
            for i in bits_of(w, arrived) {
                unit.count[i & (N - 1)] += 1;
            }
            let filled = unit.routing[w] | unit.asking[w] | unit.moving[w];
            let goes_on = arrived & unit.between[w];
            unit.moving[w] |= goes_on;
            unit.between[w] ^= goes_on;
            let fresh = arrived & !filled & !goes_on;
            if S < ANY || on.is_plain {
                unit.routing[w] |= fresh;
                continue;
            }
            let fresh = fresh & !unit.extra.with_lane(w);
            bits_of(w, fresh).for_each(|i| full::arrived(unit, i, now, on));
            bits_of(w, credits).for_each(|x| full::credited(unit, x, on));
            if on.router.wait_for_tail_credit {
                bits_of(w, rooms).for_each(|i| source::credited(unit, i, on));
            }
        }
    }
}

/// Counts a flit that arrives at its endpoint in cycle `arrives`.
#[inline]
fn count<G: ?Sized, const S: u32>(tally: &mut Tally, flit: u64, arrives: u32, on: &Context<'_, G>) {
    tally.ejected += 1;
    if arrives >= on.counts_before {
        tally.late.push((flit, arrives));
        return;
    }
    count_arrived::<G, S>(tally, flit, arrives, on);
}

/// Counts a flit whose arrival counts by now.
#[inline]
fn count_arrived<G: ?Sized, const S: u32>(
    tally: &mut Tally,
    flit: u64,
    arrives: u32,
    on: &Context<'_, G>,
) {
    let class = if S < ANY { 0 } else { on.layout.class(flit) as usize };
    let class = &mut tally.classes[class];
    class.accepted += u64::from(on.counted.contains(&arrives));
    if (flit | on.counts_as) & (COUNTED | 1) == COUNTED | 1 {
        let latency = on.layout.age(flit, arrives.into());
        let hops = hops(flit);
        class.arrived += 1;
        class.latency += latency;
        class.hops += u64::from(hops);
        class.latencies.add(latency);
        class.by_hops[hops as usize & 255] += 1;
    }
}
