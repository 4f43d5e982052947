//! Destinations by the name of their traffic, on the working endpoints of a network.

use super::PacketDestinations;
use crate::pattern::Pattern;
use crate::sending::{self, OfferedTraffic, working};
use base::words::did_you_mean;
use base::{Refusal, Stop, Watch};
use fabric::network::Topology;
use fabric::tables::Routing;

impl PacketDestinations {
    /// What the traffic of a name is for a simulator of `t`: a [`Pattern`] with its argument, whose
    /// ranks are the working endpoints in their order; or one of the names of
    /// [`OfferedTraffic::named`]. `uniform` draws the source too, as BookSim does; `shift` without
    /// a number is by half the endpoints. What is left to chance once is drawn by `seed`.
    ///
    /// # Errors
    /// When there is no such traffic, or not on this network, or `watch` says stop.
    pub fn named(t: &Topology, text: &str, seed: u64, watch: &dyn Watch) -> Result<Self, Stop> {
        Self::asked(t, None, text, seed, watch)
    }

    /// The same on the network of these tables, which `worst_case` looks at where the family of the
    /// network does not say what is the worst, and `worst_case:tables` in any case.
    ///
    /// # Errors
    /// As [`PacketDestinations::named`].
    pub fn over(tables: &Routing, text: &str, seed: u64, watch: &dyn Watch) -> Result<Self, Stop> {
        Self::asked(tables.topology(), Some(tables), text, seed, watch)
    }

    fn asked(
        t: &Topology,
        tables: Option<&Routing>,
        text: &str,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        let alive = working(t);
        let ranks = alive.len() as u32;
        let word = Pattern::name_in(text);
        let patterns = Pattern::names();
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
        let all = Pattern::drawn(t, tables, text, ranks, watch)?.destinations(ranks, seed)?;
        Ok(all.placed(&alive, t.endpoints().len() as u32))
    }

    /// The same for a user's own traffic: everybody sends in proportion to its amounts. The sum of
    /// the busiest source is rate 1.
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
