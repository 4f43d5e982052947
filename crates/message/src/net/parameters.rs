//! The parameters of a network under messages: latencies, rates, and the selection of paths.

use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of the routes between two terminals a message takes: the layers of tables, or the shortest
/// paths of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Selection")]
#[serde(rename_all = "snake_case")]
pub enum MessageRouteSelection {
    /// All, in even parts: of tables a part a layer; of a network the parts that come to a switch
    /// go on in even parts by all its nearer neighbours.
    #[default]
    Spread,
    /// One, at random.
    One,
    /// The one that has most room when the message begins: of tables the layer whose fullest
    /// channel is least full; of a network, from switch to switch, the nearer neighbour over the
    /// channel that is least full.
    Adaptive,
    /// Over switches that are drawn for each message (Valiant 1982). Not on tables.
    Valiant,
    /// The shortest path with most room when the message begins, or a detour over one of several
    /// drawn switches, by the loads of all channels on the path (UGAL-G). Not on tables.
    UgalG,
}

impl MessageRouteSelection {
    /// Whether messages may take paths that are not the shortest.
    pub(super) fn takes_detours(self) -> bool {
        matches!(self, Self::Valiant | Self::UgalG)
    }

    /// The name that selects it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Spread => "spread",
            Self::One => "one",
            Self::Adaptive => "adaptive",
            Self::Valiant => "valiant",
            Self::UgalG => "ugal_g",
        }
    }
}

/// The numbers of selections with detours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Choosing")]
#[serde(default, deny_unknown_fields)]
pub struct MessageChoosingParameters {
    /// Detours that `ugal_g` draws and compares for each part of a message; 1 to 64.
    pub candidates: u32,
    /// Parts of a message, which choose their paths one after the other, as its packets would; no
    /// more than it has packets of 4 KiB; 1 to 64.
    pub parts: u32,
}

impl Default for MessageChoosingParameters {
    fn default() -> Self {
        Self { candidates: 4, parts: 8 }
    }
}

/// Which rails of its endpoints a message takes, where these have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Rail")]
#[serde(rename_all = "snake_case")]
pub enum RailSelection {
    /// All, in even parts.
    #[default]
    Spread,
    /// That of the interface's number in the schedule, modulo the number of rails.
    ByInterface,
}

/// Cables: those of the network where nothing is given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Links")]
#[serde(default, deny_unknown_fields)]
pub struct LinkTimeParameters {
    /// Latency of every cable, ns; where it is not given, 5 ns a metre, 25 ns where no length is
    /// known.
    pub latency_ns: Option<f64>,
    /// Rate of every cable in each direction, Gbit/s; where it is not given, the cable's own.
    pub rate_gbps: Option<f64>,
}

/// Switches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Switches")]
#[serde(default, deny_unknown_fields)]
pub struct SwitchTimeParameters {
    /// Time through a switch, ns.
    pub delay_ns: f64,
}

impl Default for SwitchTimeParameters {
    fn default() -> Self {
        Self { delay_ns: paths::SWITCH_DELAY_NS }
    }
}

/// Adapters, processes that share an endpoint, and how closely rates are followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Network")]
#[serde(default, deny_unknown_fields)]
pub struct AdapterTimeParameters {
    /// Latency of an adapter, ns; a message passes two.
    pub nic_ns: f64,
    /// Messages that an interface sends at the same time; 0: all that there are.
    pub at_once: u32,
    /// Between processes of one endpoint: latency, ns.
    pub local_ns: f64,
    /// Between processes of one endpoint: rate of every message, Gbit/s.
    pub local_gbps: f64,
    /// Least time between two settlements of the rates, ns; 0: rates are settled whenever a message
    /// comes or goes, which is exact. Until then a message that comes has what its channels have
    /// left, and what one that goes leaves is for those that come.
    pub settle_ns: f64,
    /// Width of the spans of time that the use of channels is counted in, ns; 0: it is not.
    pub span_ns: f64,
}

impl Default for AdapterTimeParameters {
    fn default() -> Self {
        Self {
            nic_ns: 0.0,
            at_once: 0,
            local_ns: 300.0,
            local_gbps: 200.0,
            settle_ns: 0.0,
            span_ns: 0.0,
        }
    }
}

/// Largest latency in nanoseconds: a second.
const MOST_NS: f64 = 1e9;
/// Smallest and largest rate, in Gbit/s.
const RATES: (f64, f64) = (1e-3, 1e6);

/// The parameters of a network, which replace `L` and `G`.
///
/// Alone in the network a message of s bytes whose route visits h switches takes `o + 2 nic_ns + h
/// delay_ns + latencies of the cables + (s - 1) / rate + o`, where the rate is the least on the
/// route.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NetworkTimeParameters {
    /// Costs of cables.
    pub link: LinkTimeParameters,
    /// Costs of switches.
    pub switch: SwitchTimeParameters,
    /// The selection of routes for a message.
    pub selection: MessageRouteSelection,
    /// The numbers of selections with detours.
    pub choosing: MessageChoosingParameters,
    /// The selection of rails for a message.
    pub rail: RailSelection,
    /// Costs of network adapters, and settings of the simulation.
    pub network: AdapterTimeParameters,
}

impl NetworkTimeParameters {
    /// Checks that every number is in its range.
    ///
    /// # Errors
    /// The first number that is out of its range, by its name.
    pub fn check(&self) -> Result<(), Refusal> {
        let network = &self.network;
        let times = [
            ("link.latency_ns", self.link.latency_ns.unwrap_or(0.0)),
            ("switch.delay_ns", self.switch.delay_ns),
            ("network.nic_ns", network.nic_ns),
            ("network.local_ns", network.local_ns),
            ("network.settle_ns", network.settle_ns),
            ("network.span_ns", network.span_ns),
        ];
        for (name, ns) in times {
            if !(0.0..=MOST_NS).contains(&ns) {
                let why = format!("{ns} is out of range");
                let help = format!("0 to {MOST_NS} ns");
                return Err(Refusal::new(name, why, help));
            }
        }
        let MessageChoosingParameters { candidates, parts } = self.choosing;
        for (name, count) in [("choosing.candidates", candidates), ("choosing.parts", parts)] {
            if !(1..=64).contains(&count) {
                return Err(Refusal::new(name, format!("{count} is out of range"), "1 to 64"));
            }
        }
        if network.span_ns > 0.0 && network.span_ns < 1.0 {
            let why = format!("{} is out of range", network.span_ns);
            return Err(Refusal::new("network.span_ns", why, "0, or 1 ns and more"));
        }
        let own = self.link.rate_gbps.unwrap_or(RATES.0);
        for (name, gbps) in [("link.rate_gbps", own), ("network.local_gbps", network.local_gbps)] {
            if !(RATES.0..=RATES.1).contains(&gbps) {
                let why = format!("{gbps} is out of range");
                let help = format!("{} to {} Gbit/s", RATES.0, RATES.1);
                return Err(Refusal::new(name, why, help));
            }
        }
        Ok(())
    }
}
