//! Destinations from the name of a traffic pattern, on the working endpoints of a network.

use super::PacketDestinations;
use crate::pattern::CommunicationPattern;
use crate::sending::{self, OfferedTraffic, working};
use base::words::did_you_mean;
use base::{ComputationError, ProgressWatch, Refusal};
use fabric::network::Topology;
use fabric::tables::Routing;

impl PacketDestinations {
    /// The destinations of named traffic for a simulator of `t`. The name is that of a
    /// [`CommunicationPattern`] with its argument, whose ranks are the working endpoints in their
    /// order, or one of the names of [`OfferedTraffic::named`]. As in BookSim, `uniform` can draw
    /// the source too; `shift` without a number shifts by half the endpoints. Choices that are made
    /// once for the whole run are drawn from `seed`.
    ///
    /// # Errors
    /// When there is no such traffic, it is not possible on this network, or `watch` says stop.
    pub fn named(
        t: &Topology,
        text: &str,
        seed: u64,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        Self::asked(t, None, text, seed, watch)
    }

    /// As [`PacketDestinations::named`], on the network of these tables. `worst_case` uses the
    /// tables if the family of the network does not determine the worst case; `worst_case:tables`
    /// always does.
    ///
    /// # Errors
    /// As [`PacketDestinations::named`].
    pub fn over(
        tables: &Routing,
        text: &str,
        seed: u64,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        Self::asked(tables.topology(), Some(tables), text, seed, watch)
    }

    fn asked(
        t: &Topology,
        tables: Option<&Routing>,
        text: &str,
        seed: u64,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let alive = working(t);
        let ranks = alive.len() as u32;
        let word = CommunicationPattern::name_in(text);
        let patterns = CommunicationPattern::names();
        if !patterns.contains(&word) {
            if !sending::NAMES.contains(&word) {
                let all: Vec<&str> = patterns.into_iter().chain(sending::NAMES).collect();
                let help = did_you_mean(word, all.iter().copied()) + &all.join(", ");
                return Err(Refusal::new("traffic", format!("there is no '{word}'"), help).into());
            }
            let (sending, _) = OfferedTraffic::named(t, text, sending::ELEPHANTS, seed, watch)?;
            return Ok(Self::of_sending(t, &sending)?);
        }
        let half = format!("shift:{}", ranks / 2);
        let text = if text == "shift" { &half } else { text };
        let all = CommunicationPattern::drawn(t, tables, text, ranks, watch)?
            .destinations(ranks, seed)?;
        Ok(all.placed(&alive, t.endpoints().len() as u32))
    }

    /// The destinations of a user's own traffic: every source sends in proportion to the amounts.
    /// The source with the largest sum has rate 1.
    ///
    /// # Errors
    /// As [`OfferedTraffic::messages`].
    pub fn of_sending(t: &Topology, sending: &OfferedTraffic) -> Result<Self, Refusal> {
        let endpoints = t.endpoints().len() as u32;
        if let OfferedTraffic::Uniform = sending {
            let alive = working(t);
            if alive.len() < 2 {
                let why = format!("{} working endpoints", alive.len());
                return Err(Refusal::new("endpoints", why, "traffic needs at least 2"));
            }
            return Ok(Self::others(alive.len() as u32).placed(&alive, endpoints));
        }
        Self::of_messages(endpoints, &sending.messages(t)?)
    }
}
