//! The messages of background jobs: when they are created, and when they end.

use super::super::endpoint::Endpoint;
use super::super::event::Event;
use super::super::model::PacketSimulationModel;
use super::super::runs::EventHandlerContext;
use super::super::timing::TELL_PS;
use super::{OF_BACKGROUND, ReplayedJobs};

impl ReplayedJobs {
    /// The number of the background job that sends from an endpoint, and the rank of its process
    /// there; none if there is no such job.
    pub(super) fn background_at(&self, endpoint: u32) -> Option<(u16, u32)> {
        let at = self.senders.binary_search_by_key(&endpoint, |sender| sender.0).ok()?;
        Some((self.senders[at].1, self.senders[at].2))
    }
}

impl PacketSimulationModel {
    /// Schedules the first message of the background job at this endpoint.
    pub(super) fn background_starts(
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        to: &mut impl EventHandlerContext,
    ) {
        let Some((job, _)) = it.plays.as_ref().and_then(|plays| plays.background) else { return };
        let of = &replay.background[usize::from(job)];
        let delay_ps = of.injection.first_ps(of.interval_ps, &mut it.node.dice);
        to.send(to.me(), delay_ps, Event::Creates(of.class));
    }

    /// A process of a background job creates a message.
    pub(crate) fn background_creates(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        to: &mut impl EventHandlerContext,
    ) {
        let Some(plays) = &mut it.plays else { return };
        let (Some((job, rank)), false) = (plays.background, plays.host.is_over) else { return };
        let of = &replay.background[usize::from(job)];
        let ranks = of.homes.len() as u32;
        let message = OF_BACKGROUND | plays.host.sent & (OF_BACKGROUND - 1);
        let host = plays.host(to);
        host.sent = host.sent.wrapping_add(1);
        let dice = it.node.dice(to);
        let drawn = dice.below(ranks);
        let other = if drawn == rank { (rank + 1) % ranks } else { drawn };
        let delay_ps = of.injection.next_ps(of.interval_ps, dice).max(1);
        to.send(to.me(), delay_ps, Event::Creates(of.class));
        let other = of.homes[other as usize];
        if other != to.me() - self.plant.routers {
            self.hands_over(it, (other, of.class), message, of.bytes, to);
        }
    }

    /// Counts an endpoint whose processes are done; once all endpoints are, background jobs are
    /// stopped.
    pub(crate) fn one_is_done(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        to: &mut impl EventHandlerContext,
    ) {
        let Some(plays) = &mut it.plays else { return };
        let host = plays.host(to);
        host.done += 1;
        if host.done < replay.hosts {
            return;
        }
        for &home in replay.background.iter().flat_map(|one| &one.homes) {
            to.send(self.plant.lp(home), TELL_PS, Event::Over);
        }
        // routers must be informed as well: they report how long each of their links was busy until
        // now
        for router in 0..self.plant.routers {
            to.send(router, TELL_PS, Event::Over);
        }
    }

    /// Stops the background job of an endpoint.
    pub(crate) fn is_over(it: &mut Endpoint, to: &mut impl EventHandlerContext) {
        if let Some(plays) = &mut it.plays {
            plays.host(to).is_over = true;
        }
    }
}
