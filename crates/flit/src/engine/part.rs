//! The routers of one thread: their cycles, and what arrives at them.

use super::context::{ANY, CycleContext, WHOLE};
use super::full::{self, RouterStepTime};
use super::inject::{inject, lane_credited};
use super::plain::{self, RouterStepScratch};
use super::tally::{TrafficCounts, count_arrived};
use super::unit::{RouterState, bits_of};
use base::team::ThreadBarrier;
use paths::guide::{QueueView, RoutingGuide};
use std::ops::Range;

/// The routers of one thread.
#[derive(Debug)]
pub(super) struct ThreadRouters<const N: usize, const W: usize, const M: usize> {
    pub(super) units: Vec<RouterState<N, W, M>>,
    pub(super) tally: TrafficCounts,
}

impl<const N: usize, const W: usize, const M: usize> ThreadRouters<N, W, M> {
    /// Counts the deferred flits whose arrival is now due.
    pub(super) fn count_late<G: ?Sized, const S: u32>(&mut self, on: &CycleContext<'_, G>) {
        for (flit, arrives) in std::mem::take(&mut self.tally.late) {
            if arrives >= on.counts_before {
                self.tally.late.push((flit, arrives));
            } else {
                count_arrived::<G, S>(&mut self.tally, flit, arrives, on);
            }
        }
    }

    /// Simulates `cycles` in windows of `window` cycles, within which threads need no data from one
    /// another.
    pub(super) fn run<G: RoutingGuide + ?Sized, const S: u32>(
        &mut self,
        cycles: Range<u32>,
        window: u32,
        on: &CycleContext<'_, G>,
        me: usize,
        meet: &ThreadBarrier,
    ) {
        let mut scratch = RouterStepScratch::new();
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

/// Simulates one router for one cycle.
#[inline]
fn visit<G: RoutingGuide + ?Sized, const S: u32, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    scratch: &mut RouterStepScratch<N, M>,
    tally: &mut TrafficCounts,
    now: u32,
    on: &CycleContext<'_, G>,
    me: usize,
) {
    let calendar = &on.board.calendars[me];
    take::<G, S, N, W, M>(unit, now, on);
    inject::<G, S, N, W, M>(unit, now, on, tally, calendar);
    let steps = on.steps(now);
    for step in 1..=steps {
        let through = now + u32::from(step == steps);
        if S < ANY || on.is_plain {
            plain::step::<G, S, N, W, M>(unit, scratch, tally, on, calendar, (now, through));
        } else {
            let number = u64::from(now) * on.speed / WHOLE + u64::from(step);
            full::step(unit, tally, on, calendar, RouterStepTime { now, through, step: number });
        }
    }
    if S == ANY && on.assignment.is_some_and(|a| a.rail.compares()) {
        publish_backlogs(unit, now, on);
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

/// Publishes the queue lengths of the rails of these endpoints, so that their other rails can
/// compare.
fn publish_backlogs<G: ?Sized, const N: usize, const W: usize, const M: usize>(
    unit: &RouterState<N, W, M>,
    now: u32,
    on: &CycleContext<'_, G>,
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
fn take<G: RoutingGuide + ?Sized, const S: u32, const N: usize, const W: usize, const M: usize>(
    unit: &mut RouterState<N, W, M>,
    now: u32,
    on: &CycleContext<'_, G>,
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
                bits_of(w, rooms).for_each(|i| lane_credited(unit, i, on));
            }
        }
    }
}
