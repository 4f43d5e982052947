//! The network model of the message level: routes with latencies, and flows that share channels.

mod detours;
mod flows;
mod parameters;
mod routes;

pub use parameters::{
    AdapterTimeParameters, LinkTimeParameters, MessageChoosingParameters, MessageRouteSelection,
    NetworkTimeParameters, RailSelection, SwitchTimeParameters,
};

use base::{ComputationError, ProgressWatch, Refusal};
use flows::FlowSet;
use paths::PathSource;
pub(super) use routes::SentMessage;
use routes::{MessageRouteFinder, picoseconds};
use std::collections::VecDeque;

/// A network, its parameters, and the endpoints of the ranks.
#[derive(Clone)]
pub struct NetworkWithRanks<'a> {
    /// The network, or the tables that messages follow.
    pub on: PathSource,
    /// Latencies, rates, and the selection of routes.
    pub how: &'a NetworkTimeParameters,
    /// The endpoint of every rank.
    pub places: &'a [u32],
    /// The seed of random choices.
    pub seed: u64,
}

/// The use of a network's channels in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelUse {
    /// Bytes over each channel. The channels of links come first; then, for every terminal, the
    /// channel into the network and the one out of it.
    pub bytes: Vec<f64>,
    /// The rate of each channel, in bytes per nanosecond.
    pub rates: Vec<f64>,
    /// For each time span, the bytes over each channel; empty unless requested.
    pub spans: Vec<Vec<f64>>,
}

impl ChannelUse {
    /// For each channel, its mean use as a fraction of its rate over `ns` nanoseconds.
    pub fn uses(&self, ns: f64) -> Vec<f64> {
        let one = |(bytes, rate): (&f64, &f64)| if ns > 0.0 { bytes / (rate * ns) } else { 0.0 };
        self.bytes.iter().zip(&self.rates).map(one).collect()
    }
}

/// The state of the network in a run.
#[derive(Debug)]
pub(super) struct NetworkRunState {
    routes: MessageRouteFinder,
    flows: FlowSet,
    places: Vec<u32>,
    /// Latency, in picoseconds, and rate, in bytes per picosecond, between ranks of one endpoint.
    local: (u64, f64),
    /// The highest rate at which a processor sends, in bytes per picosecond.
    most: f64,
    at_once: u32,
    /// For each interface, its number of messages being sent and its waiting ones; empty if
    /// messages need not wait.
    interfaces: Vec<RankNetworkInterface>,
    nics: usize,
    /// For each operation, the latency of its message in picoseconds.
    latency: Vec<u64>,
    /// The time that the bytes of the latest message would take without other traffic, in
    /// picoseconds.
    alone: f64,
    /// The time of the next scheduled examination of flows.
    armed: u64,
}

/// The network interface of a rank.
#[derive(Debug, Clone, Default)]
struct RankNetworkInterface {
    sends: u32,
    waits: VecDeque<SentMessage>,
}

impl NetworkRunState {
    /// A network without messages, for a schedule of `ops` operations and `nics` interfaces for
    /// each rank. Processors send at most `most` bytes per picosecond.
    pub(super) fn new(
        under: &NetworkWithRanks<'_>,
        (ops, nics): (usize, u32),
        most: f64,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        under.how.check()?;
        let routes = MessageRouteFinder::new(&under.on, under.how, under.seed, watch)?;
        let local =
            (picoseconds(under.how.network.local_ns), under.how.network.local_gbps / 8000.0);
        let interfaces =
            if under.how.network.at_once > 0 { under.places.len() * nics as usize } else { 0 };
        Ok(Self {
            flows: FlowSet::new(
                routes.rates().into_iter(),
                picoseconds(under.how.network.settle_ns),
                picoseconds(under.how.network.span_ns),
            ),
            routes,
            places: under.places.to_vec(),
            local,
            most,
            at_once: under.how.network.at_once,
            interfaces: vec![RankNetworkInterface::default(); interfaces],
            nics: nics as usize,
            latency: vec![0; ops],
            alone: 0.0,
            armed: u64::MAX,
        })
    }

    /// Upper bounds: of a latency, in picoseconds, and of the time of a byte without other traffic,
    /// in femtoseconds.
    pub(super) fn largest(&self) -> (u64, u64) {
        let least = self.flows.channels().map(|c| c.0).fold(self.local.1, f64::min);
        (self.routes.longest(), (1000.0 / least).ceil() as u64)
    }

    /// The latency of a message of one byte, in picoseconds, such as a request or an answer.
    pub(super) fn latency(&mut self, sent: SentMessage) -> Result<u64, Refusal> {
        match self.ends(sent) {
            None => Ok(self.local.0),
            Some(ends) => Ok(self.routes.find(ends, sent, &self.flows)?.latency),
        }
    }

    /// The endpoints of the two ranks of a message; none if both are on the same endpoint.
    fn ends(&self, sent: SentMessage) -> Option<(u32, u32)> {
        let [from, to] = [sent.from, sent.to].map(|rank| self.places[rank as usize]);
        (from != to).then_some((from, to))
    }

    /// Sends the first byte of a message at `now`. Returns its latency in picoseconds, and whether
    /// the message has only that byte. `None` if the interface already sends as many messages as it
    /// may: the message then waits until [`NetworkRunState::turn`] returns it.
    pub(super) fn enter(
        &mut self,
        now: u64,
        sent: SentMessage,
    ) -> Result<Option<(u64, bool)>, Refusal> {
        let is_short = sent.bytes <= 1;
        if self.at_once > 0 && !is_short {
            let at = self.interface(sent.from, sent.nic);
            let interface = &mut self.interfaces[at];
            if interface.sends >= self.at_once {
                interface.waits.push_back(sent);
                return Ok(None);
            }
            interface.sends += 1;
        }
        let bytes = sent.bytes.saturating_sub(1) as f64;
        self.alone = 0.0;
        let latency = match self.ends(sent) {
            None => {
                if !is_short {
                    let most = self.local.1.min(self.most);
                    self.alone = bytes / most;
                    self.flows.begin(now, sent.op, bytes, &[], most);
                }
                self.local.0
            }
            Some(ends) => {
                let route = self.routes.find(ends, sent, &self.flows)?;
                if !is_short {
                    let most = self.flows.alone(&route.parts).min(self.most);
                    self.alone = bytes / most;
                    self.flows.begin(now, sent.op, bytes, &route.parts, most);
                }
                route.latency
            }
        };
        self.latency[sent.op as usize] = latency;
        Ok(Some((latency, is_short)))
    }

    /// The time that the bytes of the latest message would take without other traffic, in
    /// picoseconds.
    pub(super) fn alone_ps(&self) -> u64 {
        self.alone.round() as u64
    }

    fn interface(&self, rank: u32, nic: u8) -> usize {
        rank as usize * self.nics + usize::from(nic)
    }

    /// Removes a message whose last byte has left by `now`: its operation, and the latency of that
    /// byte in picoseconds.
    pub(super) fn ended(&mut self, now: u64) -> Option<(u32, u64)> {
        let op = self.flows.end(now)?;
        Some((op, self.latency[op as usize]))
    }

    /// Called when a message has left an interface: returns the next message that waits there, if
    /// any.
    pub(super) fn turn(&mut self, rank: u32, nic: u8) -> Option<SentMessage> {
        let at = self.interface(rank, nic);
        let interface = self.interfaces.get_mut(at)?;
        interface.sends -= 1;
        interface.waits.pop_front()
    }

    /// Whether `now` is the time that [`NetworkRunState::look`] returned last and has not been
    /// handled yet. Times that it returned earlier are obsolete.
    pub(super) fn is_asked(&self, now: u64) -> bool {
        self.armed == now
    }

    /// Marks the time from [`NetworkRunState::look`] as handled. If nothing else happens at `now`,
    /// as `is_all` says, rates are settled if that is due.
    pub(super) fn looked(&mut self, now: u64, is_all: bool) {
        self.armed = u64::MAX;
        if is_all && self.flows.is_due(now) == Some(now) {
            self.flows.settle(now);
        }
    }

    /// The time at which flows must be examined next, for a settlement or the end of a flow; none
    /// if an examination is already scheduled no later.
    pub(super) fn look(&mut self, now: u64) -> Option<u64> {
        let due = self.flows.is_due(now);
        let time = match due {
            Some(time) if time <= now => due,
            _ => due.into_iter().chain(self.flows.next_end()).min(),
        };
        let time = time.filter(|&time| time < self.armed)?;
        self.armed = time;
        Some(time)
    }

    /// The use of the channels.
    pub(super) fn used(self) -> ChannelUse {
        ChannelUse {
            bytes: self.flows.channels().map(|c| c.1).collect(),
            rates: self.flows.channels().map(|c| c.0 * 1000.0).collect(),
            spans: self.flows.used().to_vec(),
        }
    }
}
