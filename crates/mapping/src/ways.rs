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

    pub(crate) fn unreachable(self, from: u32, to: u32) -> Refusal {
        let name = |s: u32| &self.topology().switches()[s as usize].name;
        let why = format!("there is no way from {} to {}", name(from), name(to));
        Refusal::new("network", why, "endpoints of one connected part, by their names in --hosts")
    }
}

/// Capacity of every channel by [`ChannelId`]: the rate of its link over that of the fastest link;
/// 0 where it is down.
pub fn capacities(on: &Topology) -> Vec<f64> {
    let up = |l: usize| on.link_is_up(base::LinkId::from(l));
    let rate = |l: usize| if up(l) { on.links()[l].cable.rate_gbps() } else { 0.0 };
    let rates: Vec<f64> = (0..on.links().len()).map(rate).collect();
    let fastest = rates.iter().copied().fold(0.0, f64::max);
    rates.iter().flat_map(|rate| [rate / fastest.max(f64::MIN_POSITIVE); 2]).collect()
}
