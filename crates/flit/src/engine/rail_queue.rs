//! The packets that are assigned to a rail of an endpoint: drawn for all its rails, or listed with
//! their times.
//!
//! The rails of an endpoint are at different routers, which may belong to different threads. So
//! each rail generates all packets of its endpoint from the same random numbers, decides for each
//! packet which rail takes it, and keeps only its own.

use super::assignment::RailAssignmentInputs;
use super::context::CycleContext;
use super::creation::{NEVER, next_creation};
use base::seed::FastRandomStream;
use paths::select::RailSelection;
use std::collections::VecDeque;
use traffic::process::{InjectedTrafficClass, SourceInjectionClock as Clock};

/// The packets that are assigned to one rail of an endpoint, of one class.
#[derive(Debug)]
pub(super) struct RailQueue {
    origin: PacketOrigin,
    /// The cycle in which the endpoint creates its next packet; [`NEVER`] if it creates no more.
    pub(super) next: u32,
    /// The number of packets that the endpoint has created so far.
    turn: u64,
    /// The endpoint's random numbers, the same at all its rails.
    random: FastRandomStream,
    /// The packets that wait at this rail.
    waiting: VecDeque<QueuedPacket>,
    /// The number of flits of the waiting packets, with the mean size for a packet whose size is
    /// drawn later.
    flits: f64,
}

/// A packet that was assigned to this rail and waits there.
#[derive(Debug, Clone, Copy)]
struct QueuedPacket {
    /// The cycle in which it was created.
    created: u32,
    /// The endpoint that it goes to and its size in flits, if these are known already.
    packet: Option<(u32, u32)>,
}

/// The origin of an endpoint's packets: drawn from a process, or from a list.
#[derive(Debug)]
enum PacketOrigin {
    /// A clock for each rail, and the cycle of its next packet.
    Drawn(Vec<(Option<Clock>, u32)>),
    /// The index in the list of the endpoint's next packet.
    Listed(u32),
}

impl RailQueue {
    /// The queue of a source, with the clocks of all rails of its endpoint; `clocks` is empty if
    /// packets come from a list.
    pub(super) fn new(
        clocks: Vec<Option<Clock>>,
        mut random: FastRandomStream,
        (assignment, source, end): (RailAssignmentInputs<'_>, u32, u32),
    ) -> Self {
        let mut with_first = |mut clock: Option<Clock>| {
            let first = next_creation(clock.as_mut(), 0, end, &mut random);
            (clock, first)
        };
        let origin = if assignment.times.is_some() {
            PacketOrigin::Listed(0)
        } else {
            PacketOrigin::Drawn(clocks.into_iter().map(&mut with_first).collect())
        };
        let waiting = VecDeque::new();
        let mut new = Self { origin, next: NEVER, turn: 0, random, waiting, flits: 0.0 };
        new.next = new.upcoming(assignment, source, end);
        new
    }

    /// The cycle in which the endpoint creates its next packet.
    fn upcoming(&self, assignment: RailAssignmentInputs<'_>, source: u32, end: u32) -> u32 {
        match (&self.origin, assignment.times) {
            (PacketOrigin::Listed(next), Some(times)) => {
                let packets = times.packets.of(source / assignment.rails);
                let cycle = packets.get(*next as usize).map(|packet| times.cycle(packet));
                cycle.filter(|at| *at < end.into()).map_or(NEVER, |at| at as u32)
            }
            (PacketOrigin::Drawn(all), _) => all.iter().map(|of| of.1).min().unwrap_or(NEVER),
            (PacketOrigin::Listed(_), None) => NEVER,
        }
    }

    /// Assigns the packets that are created up to cycle `now` to rails, and keeps those for
    /// `source`.
    pub(super) fn advance<G: ?Sized>(
        &mut self,
        source: u32,
        now: u32,
        of: &InjectedTrafficClass,
        on: &CycleContext<'_, G>,
    ) {
        let Some(assignment) = on.assignment.filter(|_| self.next <= now) else { return };
        let first = source - source % assignment.rails;
        // the queues of all rails at the end of the last cycle
        let seen = &on.board.waiting[(now as usize + 1) % 2];
        let mut used: Vec<f64> = match assignment.rail {
            rail if rail.compares() => (first..first + assignment.rails)
                .map(|rail| seen.get(rail as usize) as f64)
                .collect(),
            _ => Vec::new(),
        };
        while self.next <= now {
            let created = self.next;
            let packet = self.take(assignment, source, of, on.end);
            let flits = packet.map_or(of.sizes.mean(), |(_, flits)| flits.into());
            let turn = (self.turn % u64::from(assignment.rails)) as u32;
            self.turn += 1;
            let rail = match assignment.rail {
                RailSelection::Random => self.random.below(assignment.rails),
                RailSelection::Fixed => source / assignment.rails % assignment.rails,
                RailSelection::RoundRobin => turn,
                RailSelection::LeastUsed | RailSelection::Shortest => {
                    let to = packet.map(|(to, _)| to * assignment.rails);
                    let length = |rail: u32| match (assignment.lengths, to) {
                        (Some(lengths), Some(to)) => lengths.between(on.wiring, first, to, rail),
                        _ => 0,
                    };
                    let next = |step: u32| (turn + step) % assignment.rails;
                    let key = |rail: &u32| (length(*rail), used[*rail as usize]);
                    let less = |a: &u32, b: &u32| {
                        let (a, b) = (key(a), key(b));
                        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
                    };
                    let least = (0..assignment.rails).map(next).min_by(less).unwrap_or(0);
                    used[least as usize] += flits;
                    least
                }
            };
            if first + rail == source {
                self.waiting.push_back(QueuedPacket { created, packet });
                self.flits += flits;
            }
            self.next = self.upcoming(assignment, source, on.end);
        }
    }

    /// Takes the endpoint's next packet. Its receiver and flits are known if it comes from a list
    /// or if the selection of a rail needs them.
    fn take(
        &mut self,
        assignment: RailAssignmentInputs<'_>,
        source: u32,
        of: &InjectedTrafficClass,
        end: u32,
    ) -> Option<(u32, u32)> {
        match &mut self.origin {
            PacketOrigin::Listed(next) => {
                let number = *next as usize;
                *next += 1;
                let packet = assignment.times?.packets.of(source / assignment.rails)[number];
                Some((packet.destination, packet.size_flits))
            }
            PacketOrigin::Drawn(all) => {
                let next = self.next;
                if let Some((clock, at)) = all.iter_mut().find(|of| of.1 == next) {
                    *at = next_creation(clock.as_mut(), next + 1, end, &mut self.random);
                }
                let random = &mut self.random;
                let first = source - source % assignment.rails;
                assignment.lengths.map(|_| {
                    let to = of.destinations.draw(first, random) / assignment.rails;
                    (to, of.sizes.draw(random))
                })
            }
        }
    }

    /// The cycle in which the first waiting packet was created; [`NEVER`] if none waits.
    pub(super) fn front(&self) -> u32 {
        self.waiting.front().map_or(NEVER, |front| front.created)
    }

    /// Removes the first waiting packet: its receiver and size, if these are known.
    pub(super) fn pop<G: ?Sized>(
        &mut self,
        source: u32,
        of: &InjectedTrafficClass,
        on: &CycleContext<'_, G>,
    ) -> Option<(u32, u32)> {
        let QueuedPacket { packet, .. } = self.waiting.pop_front()?;
        let rails = on.assignment?.rails;
        let Some((to, flits)) = packet else {
            self.flits -= of.sizes.mean();
            return None;
        };
        self.flits -= f64::from(flits);
        Some((to * rails + source % rails, flits))
    }

    /// The number of flits that wait here, rounded.
    pub(super) fn flits(&self) -> u64 {
        self.flits.round() as u64
    }
}
