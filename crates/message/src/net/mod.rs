//! A network under messages: routes with their latency, and flows that share channels.

mod flows;
mod parameters;
mod routes;

pub use parameters::{
    AdapterCosts, LinkCosts, NetworkCosts, RailSelection, RouteSelection, SwitchCosts,
};

use base::{Refusal, Stop, Watch};
use flows::Flows;
use paths::PathSource;
use routes::{RouteFinder, picoseconds};
use std::collections::VecDeque;

/// A network, its parameters, and where every rank is.
#[derive(Clone)]
pub struct NetworkSetup<'a> {
    /// The network, or its tables.
    pub on: PathSource,
    /// Latencies, rates and choices.
    pub how: &'a NetworkCosts,
    /// The endpoint of every rank.
    pub places: &'a [u32],
    /// The seed of choices at random.
    pub seed: u64,
}

/// The use of a network: what went over its channels.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelUse {
    /// Bytes over each channel: those of links, then of every terminal the one into the network and
    /// the one out of it.
    pub bytes: Vec<f64>,
    /// The rate of each, bytes a nanosecond.
    pub rates: Vec<f64>,
    /// Bytes over each in every span of time, where that was asked for.
    pub spans: Vec<Vec<f64>>,
}

impl ChannelUse {
    /// The part of its rate that each channel carried over so long.
    pub fn uses(&self, ns: f64) -> Vec<f64> {
        let one = |(bytes, rate): (&f64, &f64)| if ns > 0.0 { bytes / (rate * ns) } else { 0.0 };
        self.bytes.iter().zip(&self.rates).map(one).collect()
    }
}

/// A message of an operation, from an interface of a rank to a rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentMessage {
    pub(super) op: u32,
    pub(super) nic: u8,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bytes: u64,
}

/// The network in a run.
#[derive(Debug)]
pub(super) struct NetworkRun {
    routes: RouteFinder,
    flows: Flows,
    places: Vec<u32>,
    /// Latency and rate, bytes a picosecond, between ranks of one endpoint.
    local: (u64, f64),
    /// The most that a processor sends, bytes a picosecond.
    most: f64,
    at_once: u32,
    /// What each interface sends and what waits for it; empty where all messages go at once.
    interfaces: Vec<RankInterface>,
    nics: usize,
    /// The latency of every operation's message, picoseconds.
    latency: Vec<u64>,
    /// How long the bytes of the latest message would take alone, picoseconds.
    alone: f64,
    /// When the network is looked at next.
    armed: u64,
}

/// The network interface of a rank.
#[derive(Debug, Clone, Default)]
struct RankInterface {
    sends: u32,
    waits: VecDeque<SentMessage>,
}

impl NetworkRun {
    /// A network without messages, for a schedule of `ops` operations and `nics` interfaces a rank.
    /// Processors send no more than `most` bytes a picosecond.
    pub(super) fn new(
        under: &NetworkSetup<'_>,
        (ops, nics): (usize, u32),
        most: f64,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        under.how.check()?;
        let routes = RouteFinder::new(&under.on, under.how, under.seed, watch)?;
        let local =
            (picoseconds(under.how.network.local_ns), under.how.network.local_gbps / 8000.0);
        let interfaces =
            if under.how.network.at_once > 0 { under.places.len() * nics as usize } else { 0 };
        Ok(Self {
            flows: Flows::new(
                routes.rates().into_iter(),
                picoseconds(under.how.network.settle_ns),
                picoseconds(under.how.network.span_ns),
            ),
            routes,
            places: under.places.to_vec(),
            local,
            most,
            at_once: under.how.network.at_once,
            interfaces: vec![RankInterface::default(); interfaces],
            nics: nics as usize,
            latency: vec![0; ops],
            alone: 0.0,
            armed: u64::MAX,
        })
    }

    /// The most that a latency can be, picoseconds, and that a byte can take alone, femtoseconds.
    pub(super) fn largest(&self) -> (u64, u64) {
        let least = self.flows.channels().map(|c| c.0).fold(self.local.1, f64::min);
        (self.routes.longest(), (1000.0 / least).ceil() as u64)
    }

    /// How long a message with hardly any bytes takes to arrive, picoseconds.
    pub(super) fn latency(&mut self, sent: SentMessage) -> Result<u64, Refusal> {
        match self.ends(sent) {
            None => Ok(self.local.0),
            Some(ends) => Ok(self.routes.find(ends, (sent.op, sent.nic), &self.flows)?.latency),
        }
    }

    /// The endpoints that a message goes between, if these are two.
    fn ends(&self, sent: SentMessage) -> Option<(u32, u32)> {
        let [from, to] = [sent.from, sent.to].map(|rank| self.places[rank as usize]);
        (from != to).then_some((from, to))
    }

    /// The first byte of a message leaves at `now`: how long it takes to arrive, picoseconds, and
    /// whether it is all there with that byte. `None` where the interface sends as much as it may:
    /// it is the turn of the message after another, which [`NetworkRun::ended`] says.
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
                let route = self.routes.find(ends, (sent.op, sent.nic), &self.flows)?;
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

    /// How long the bytes of the message that entered last would take alone, picoseconds.
    pub(super) fn alone_ps(&self) -> u64 {
        self.alone.round() as u64
    }

    fn interface(&self, rank: u32, nic: u8) -> usize {
        rank as usize * self.nics + usize::from(nic)
    }

    /// A message whose last byte has left by `now`: its operation, and how long that byte
    /// takes to arrive, picoseconds.
    pub(super) fn ended(&mut self, now: u64) -> Option<(u32, u64)> {
        let op = self.flows.end(now)?;
        Some((op, self.latency[op as usize]))
    }

    /// The message whose turn it is at the interface after one that has ended.
    pub(super) fn turn(&mut self, rank: u32, nic: u8) -> Option<SentMessage> {
        let at = self.interface(rank, nic);
        let interface = self.interfaces.get_mut(at)?;
        interface.sends -= 1;
        interface.waits.pop_front()
    }

    /// Whether [`NetworkRun::look`] asked for a look at `now`, and it was not had yet. It asks anew
    /// as messages come and go: times that it asked for before are not looked at any more.
    pub(super) fn is_asked(&self, now: u64) -> bool {
        self.armed == now
    }

    /// It was looked at as [`NetworkRun::look`] asked. Where nothing more happens at `now`,
    /// messages get their rates from then on.
    pub(super) fn looked(&mut self, now: u64, is_all: bool) {
        self.armed = u64::MAX;
        if is_all && self.flows.is_due(now) == Some(now) {
            self.flows.settle(now);
        }
    }

    /// When the network is to be looked at, if that is before it would be anyway: when rates are to
    /// be settled since messages came or went, or when the next message ends.
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

    /// What went over it.
    pub(super) fn used(self) -> ChannelUse {
        ChannelUse {
            bytes: self.flows.channels().map(|c| c.1).collect(),
            rates: self.flows.channels().map(|c| c.0 * 1000.0).collect(),
            spans: self.flows.used().to_vec(),
        }
    }
}
