//! Packets that are dealt: births of an endpoint to its rails, or packets at given times.
//!
//! The rails of an endpoint are at different routers, and may belong to different threads. So each
//! of them goes through all births of its endpoint with the same random numbers, decides for each
//! whose it is, and keeps its own.

use super::Context;
use crate::select::Rail;
use base::seed::Fast;
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
    /// What waits here: births, and numbers of packets in their list.
    waiting: VecDeque<(u32, u32)>,
    /// Flits of these, means where sizes are drawn later.
    flits: f64,
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
            Rail::LeastUsed => {
                (first..first + deal.rails).map(|rail| seen.get(rail as usize) as f64).collect()
            }
            _ => Vec::new(),
        };
        while self.next <= now {
            let born = self.next;
            let (number, flits) = self.take(deal, source, of, on.end);
            let turn = (self.turn % u64::from(deal.rails)) as u32;
            self.turn += 1;
            let rail = match deal.rail {
                Rail::Random => self.random.below(deal.rails),
                Rail::Fixed => source / deal.rails % deal.rails,
                Rail::RoundRobin => turn,
                Rail::LeastUsed => {
                    let next = |step: u32| (turn + step) % deal.rails;
                    let less = |a: &u32, b: &u32| used[*a as usize].total_cmp(&used[*b as usize]);
                    let least = (0..deal.rails).map(next).min_by(less).unwrap_or(0);
                    used[least as usize] += flits;
                    least
                }
            };
            if first + rail == source {
                self.waiting.push_back((born, number));
                self.flits += flits;
            }
            self.next = self.upcoming(deal, source, on.end);
        }
    }

    /// Takes the next birth: its number in the list, and its flits, or the mean of all.
    fn take(&mut self, deal: Deal<'_>, source: u32, of: &Class, end: u32) -> (u32, f64) {
        match &mut self.births {
            Births::Listed(next) => {
                let number = *next;
                *next += 1;
                let packets = deal.times.map(|times| times.packets.of(source / deal.rails));
                (number, packets.map_or(0.0, |all| all[number as usize].size_flits.into()))
            }
            Births::Drawn(all) => {
                let next = self.next;
                if let Some((clock, born)) = all.iter_mut().find(|of| of.1 == next) {
                    *born = super::source::birth(clock.as_mut(), next + 1, end, &mut self.random);
                }
                (0, of.sizes.mean())
            }
        }
    }

    /// The birth of the first packet that waits here; [`NEVER`] where none does.
    pub(super) fn front(&self) -> u32 {
        self.waiting.front().map_or(NEVER, |front| front.0)
    }

    /// Lets the first packet go that waits here: its receiver and size, where these are listed.
    pub(super) fn pop<G: ?Sized>(
        &mut self,
        source: u32,
        of: &Class,
        on: &Context<'_, G>,
    ) -> Option<(u32, u32)> {
        let (_, number) = self.waiting.pop_front()?;
        let deal = on.deal?;
        let Some(times) = deal.times else {
            self.flits -= of.sizes.mean();
            return None;
        };
        let packet = times.packets.of(source / deal.rails)[number as usize];
        self.flits -= f64::from(packet.size_flits);
        Some((packet.destination * deal.rails + source % deal.rails, packet.size_flits))
    }

    /// Flits that wait here, rounded.
    pub(super) fn flits(&self) -> u64 {
        self.flits.round() as u64
    }
}
