//! The ways that traffic takes: all shortest ones, split equally at every switch, or tables.

use crate::fractional::Fractional;
use base::{ChannelId, Refusal, SwitchId, TerminalId};
use fabric::Topology;
use fabric::tables::Routing;

/// How traffic goes through a network.
#[derive(Clone, Copy)]
pub enum Ways<'a> {
    /// Split equally at every switch over all links on shortest ways (ECMP).
    Shortest(&'a Topology),
    /// By tables, split equally over their layers.
    Tables(&'a Routing),
    /// Split over ways as a fractional routing has it.
    Split(&'a Fractional<'a>),
}

impl<'a> Ways<'a> {
    /// The network.
    pub fn topology(self) -> &'a Topology {
        match self {
            Self::Shortest(on) => on,
            Self::Tables(routing) => routing.topology(),
            Self::Split(shares) => shares.topology(),
        }
    }

    /// The ways that distances are those of: the shortest where traffic is split at will.
    pub(crate) fn of_distances(self) -> Self {
        match self {
            Self::Split(shares) => Self::Shortest(shares.topology()),
            other => other,
        }
    }

    /// The channels of a table's route.
    ///
    /// # Errors
    /// When it does not arrive.
    ///
    /// # Panics
    /// Where there are no tables.
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
