//! The paths that traffic takes: all shortest paths with equal splits at every switch, or routes of
//! tables.

use crate::fractional::FractionalRouting;
use base::{ChannelId, Refusal, SwitchId, TerminalId};
use fabric::Topology;
use fabric::tables::Routing;

/// The rule by which traffic takes its paths through a network.
#[derive(Clone, Copy)]
pub enum TrafficPathRule<'a> {
    /// Traffic splits evenly over all minimal next hops at every switch (ECMP).
    Shortest(&'a Topology),
    /// Traffic follows tables and splits evenly over their layers.
    Tables(&'a Routing),
    /// Traffic splits over paths as a fractional routing prescribes.
    Split(&'a FractionalRouting<'a>),
}

impl<'a> TrafficPathRule<'a> {
    /// The network.
    pub fn topology(self) -> &'a Topology {
        match self {
            Self::Shortest(on) => on,
            Self::Tables(routing) => routing.topology(),
            Self::Split(shares) => shares.topology(),
        }
    }

    /// The paths that define distances: shortest ones where a fractional routing splits traffic.
    pub(crate) fn of_distances(self) -> Self {
        match self {
            Self::Split(shares) => Self::Shortest(shares.topology()),
            other => other,
        }
    }

    /// The channels of a route of the tables.
    ///
    /// # Errors
    /// When the route does not arrive.
    ///
    /// # Panics
    /// When there are no tables.
    pub(crate) fn route(
        self,
        layer: u32,
        source: SwitchId,
        to: TerminalId,
    ) -> Result<Vec<ChannelId>, Refusal> {
        let Self::Tables(routing) = self else { panic!("routes are those of tables") };
        let on = self.topology();
        let home = on.terminals()[to.ix()].plug.switch;
        let (mut walk, mut channels) = (routing.walk(layer, to, source), Vec::new());
        while walk.at() != home {
            match walk.next() {
                Some(hop) if channels.len() < on.switches().len() => channels.push(hop.channel),
                _ => {
                    let name = |s: SwitchId| &on.switches()[s.ix()].name;
                    let (from, to) = (name(source), name(home));
                    let why =
                        format!("the route from {from} to {to} in layer {layer} does not arrive");
                    return Err(Refusal::new("tables", why, "verify the tables first"));
                }
            }
        }
        Ok(channels)
    }
}
