//! Packets that are dealt: births of an endpoint to its rails, or packets at given times.
//!
//! The rails of an endpoint are at different routers, and may belong to different threads. So each
//! of them goes through all births of its endpoint with the same random numbers, decides for each
//! whose it is, and keeps its own.

use super::Context;
use base::seed::Fast;
use paths::lengths::Lengths;
use paths::select::Rail;
use std::collections::VecDeque;
use traffic::process::{Class, Source as Clock};
use traffic::times::Timed;

/// How packets come to sources that have no births of their own.
#[derive(Debug, Clone, Copy)]
pub struct Deal<'a> {
    /// Sources of an endpoint: rail r of endpoint e is source e * rails + r.
    pub rails: u32,
    /// Which of them takes a packet.
    pub rail: Rail,
    /// Packets with their times; none where births are drawn, as the class says.
    pub times: Option<Timed<'a>>,
    /// How far routers are from one another, where [`Rail::Shortest`] asks.
    pub lengths: Option<&'a Lengths>,
}

/// Never.
const NEVER: u32 = u32::MAX;

/// What is dealt to a source, of one class.
#[derive(Debug)]
pub(super) struct Dealt {
    births: Births,
    /// The cycle of the next birth at the endpoint; [`NEVER`] where there is none.
    pub(super) next: u32,
    /// Births so far.
    turn: u64,
    /// The endpoint's random numbers, the same at all its rails.
    random: Fast,
    /// What waits here.
    waiting: VecDeque<Waits>,
    /// Flits of these, means where sizes are drawn later.
    flits: f64,
}

/// A packet that was dealt.
#[derive(Debug, Clone, Copy)]
struct Waits {
    /// The cycle of its birth.
    born: u32,
    /// The endpoint that it goes to and its flits, where these are known already.
    packet: Option<(u32, u32)>,
}

/// Where births come from.
#[derive(Debug)]
enum Births {
    /// A clock a rail, and its next birth.
    Drawn(Vec<(Option<Clock>, u32)>),
    /// The next packet of the list.
    Listed(u32),
}

impl Dealt {
    /// Of a source, with clocks of all rails of its endpoint, or none where packets are listed.
    pub(super) fn new(
        clocks: Vec<Option<Clock>>,
        mut random: Fast,
        (deal, source, end): (Deal<'_>, u32, u32),
    ) -> Self {
        let mut with_birth = |mut clock: Option<Clock>| {
            let born = super::source::birth(clock.as_mut(), 0, end, &mut random);
            (clock, born)
        };
        let births = if deal.times.is_some() {
            Births::Listed(0)
        } else {
            Births::Drawn(clocks.into_iter().map(&mut with_birth).collect())
        };
        let waiting = VecDeque::new();
        let mut new = Self { births, next: NEVER, turn: 0, random, waiting, flits: 0.0 };
        new.next = new.upcoming(deal, source, end);
        new
    }

    /// The cycle of the endpoint's next birth.
    fn upcoming(&self, deal: Deal<'_>, source: u32, end: u32) -> u32 {
        match (&self.births, deal.times) {
            (Births::Listed(next), Some(times)) => {
                let packets = times.packets.of(source / deal.rails);
                let born = packets.get(*next as usize).map(|packet| times.cycle(packet));
                born.filter(|born| *born < end.into()).map_or(NEVER, |born| born as u32)
            }
            (Births::Drawn(all), _) => all.iter().map(|of| of.1).min().unwrap_or(NEVER),
            (Births::Listed(_), None) => NEVER,
        }
    }

    /// Deals what is born until cycle `now`, and keeps what is for `source`.
    pub(super) fn deal<G: ?Sized>(
        &mut self,
        source: u32,
        now: u32,
        of: &Class,
        on: &Context<'_, G>,
    ) {
        let Some(deal) = on.deal.filter(|_| self.next <= now) else { return };
        let first = source - source % deal.rails;
        // what rails had at the end of the last cycle
        let seen = &on.board.waiting[(now as usize + 1) % 2];
        let mut used: Vec<f64> = match deal.rail {
            rail if rail.compares() => {
                (first..first + deal.rails).map(|rail| seen.get(rail as usize) as f64).collect()
            }
            _ => Vec::new(),
        };
        while self.next <= now {
            let born = self.next;
            let packet = self.take(deal, source, of, on.end);
            let flits = packet.map_or(of.sizes.mean(), |(_, flits)| flits.into());
            let turn = (self.turn % u64::from(deal.rails)) as u32;
            self.turn += 1;
            let rail = match deal.rail {
                Rail::Random => self.random.below(deal.rails),
                Rail::Fixed => source / deal.rails % deal.rails,
                Rail::RoundRobin => turn,
                Rail::LeastUsed | Rail::Shortest => {
                    let to = packet.map(|(to, _)| to * deal.rails);
                    let length = |rail: u32| match (deal.lengths, to) {
                        (Some(lengths), Some(to)) => lengths.between(on.wiring, first, to, rail),
                        _ => 0,
                    };
                    let next = |step: u32| (turn + step) % deal.rails;
                    let key = |rail: &u32| (length(*rail), used[*rail as usize]);
                    let less = |a: &u32, b: &u32| {
                        let (a, b) = (key(a), key(b));
                        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
                    };
                    let least = (0..deal.rails).map(next).min_by(less).unwrap_or(0);
                    used[least as usize] += flits;
                    least
                }
            };
            if first + rail == source {
                self.waiting.push_back(Waits { born, packet });
                self.flits += flits;
            }
            self.next = self.upcoming(deal, source, on.end);
        }
    }

    /// Takes the next birth: the receiver and the flits of its packet, where a list has them or the
    /// choice of a rail asks.
    fn take(&mut self, deal: Deal<'_>, source: u32, of: &Class, end: u32) -> Option<(u32, u32)> {
        match &mut self.births {
            Births::Listed(next) => {
                let number = *next as usize;
                *next += 1;
                let packet = deal.times?.packets.of(source / deal.rails)[number];
                Some((packet.destination, packet.size_flits))
            }
            Births::Drawn(all) => {
                let next = self.next;
                if let Some((clock, born)) = all.iter_mut().find(|of| of.1 == next) {
                    *born = super::source::birth(clock.as_mut(), next + 1, end, &mut self.random);
                }
                let random = &mut self.random;
                let first = source - source % deal.rails;
                deal.lengths.map(|_| {
                    let to = of.destinations.draw(first, random) / deal.rails;
                    (to, of.sizes.draw(random))
                })
            }
        }
    }

    /// The birth of the first packet that waits here; [`NEVER`] where none does.
    pub(super) fn front(&self) -> u32 {
        self.waiting.front().map_or(NEVER, |front| front.born)
    }

    /// Lets the first packet go that waits here: its receiver and size, where these are known.
    pub(super) fn pop<G: ?Sized>(
        &mut self,
        source: u32,
        of: &Class,
        on: &Context<'_, G>,
    ) -> Option<(u32, u32)> {
        let Waits { packet, .. } = self.waiting.pop_front()?;
        let rails = on.deal?.rails;
        let Some((to, flits)) = packet else {
            self.flits -= of.sizes.mean();
            return None;
        };
        self.flits -= f64::from(flits);
        Some((to * rails + source % rails, flits))
    }

    /// Flits that wait here, rounded.
    pub(super) fn flits(&self) -> u64 {
        self.flits.round() as u64
    }
}
