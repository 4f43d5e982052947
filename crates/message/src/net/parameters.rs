//! What a network adds to a message: latencies, rates, and which ways messages take.

use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of the routes between two terminals a message takes: the layers of tables, or the shortest
/// ways of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Paths {
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
}

/// Which rails of its endpoints a message takes, where these have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rails {
    /// All, in even parts.
    #[default]
    Spread,
    /// That of the interface's number in the schedule, modulo the number of rails.
    Interface,
}

/// A network in place of `L` and `G`.
///
/// Alone in the network a message of s bytes whose route visits h switches takes
/// `o + 2 nic_ns + h switch_ns + latencies of the cables + (s - 1) / rate + o`, where the rate is
/// the least on the route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Latency of an adapter, ns; a message passes two.
    pub nic_ns: f64,
    /// Latency of a switch, ns.
    pub switch_ns: f64,
    /// Latency of every cable, ns; where it is not given, 5 ns a metre, 25 ns where no length is
    /// known.
    pub link_ns: Option<f64>,
    /// Rate of every cable in each direction, Gbit/s; where it is not given, the cable's own.
    pub link_gbps: Option<f64>,
    /// Which routes a message takes.
    pub paths: Paths,
    /// Which rails it takes.
    pub rails: Rails,
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

impl Default for Network {
    fn default() -> Self {
        Self {
            nic_ns: 0.0,
            switch_ns: 90.0,
            link_ns: None,
            link_gbps: None,
            paths: Paths::Spread,
            rails: Rails::Spread,
            at_once: 0,
            local_ns: 300.0,
            local_gbps: 200.0,
            settle_ns: 0.0,
            span_ns: 0.0,
        }
    }
}

/// Most nanoseconds of a latency: a second.
const MOST_NS: f64 = 1e9;
/// Rates, Gbit/s.
const RATES: (f64, f64) = (1e-3, 1e6);

impl Network {
    /// Whether every number is in its range.
    ///
    /// # Errors
    /// The first that is not, by its name.
    pub fn check(&self) -> Result<(), Refusal> {
        let times = [
            ("nic_ns", self.nic_ns),
            ("switch_ns", self.switch_ns),
            ("link_ns", self.link_ns.unwrap_or(0.0)),
            ("local_ns", self.local_ns),
            ("settle_ns", self.settle_ns),
            ("span_ns", self.span_ns),
        ];
        for (name, ns) in times {
            if !(0.0..=MOST_NS).contains(&ns) {
                let why = format!("{ns} is out of range");
                let help = format!("0 to {MOST_NS} ns");
                return Err(Refusal::new(format!("network.{name}"), why, help));
            }
        }
        if self.span_ns > 0.0 && self.span_ns < 1.0 {
            let why = format!("{} is out of range", self.span_ns);
            return Err(Refusal::new("network.span_ns", why, "0, or 1 ns and more"));
        }
        let own = self.link_gbps.unwrap_or(RATES.0);
        for (name, gbps) in [("link_gbps", own), ("local_gbps", self.local_gbps)] {
            if !(RATES.0..=RATES.1).contains(&gbps) {
                let why = format!("{gbps} is out of range");
                let help = format!("{} to {} Gbit/s", RATES.0, RATES.1);
                return Err(Refusal::new(format!("network.{name}"), why, help));
            }
        }
        Ok(())
    }
}
