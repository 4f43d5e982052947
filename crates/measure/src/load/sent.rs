//! Simulates given traffic over given tables when all of it is sent at once.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
//! routing in high-performance networks", Cluster 2008: a flow gets the inverse of the largest
//! congestion on its route. Here a flow counts with the amount that it wants to send.

use super::congestion::{CongestionResult, MAX_ROUTES, PatternRunResult, PatternRunSums};
use super::flows::{CompactRoutingTables, FlowCongestionCounter};
use base::{ComputationError, ProgressWatch, Refusal};
use fabric::size::RouteWorkKind;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::sending::{OfferedTraffic, WeightedMessage};

/// Traffic as the value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TrafficParameter {
    /// A name of traffic, or a file.
    Word(String),
    /// Rows of source, destination and amount.
    Rows(Vec<(EndpointReference, EndpointReference, f64)>),
}

/// An endpoint in the value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "EndpointName")]
pub enum EndpointReference {
    /// By number.
    Number(u32),
    /// By name.
    Name(String),
}

impl EndpointReference {
    /// The number or the name as text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(n) => n.to_string(),
            Self::Name(name) => name.clone(),
        }
    }
}

impl TrafficParameter {
    /// The name of the traffic.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Word(name) => name.clone(),
            Self::Rows(_) => "given".to_owned(),
        }
    }
}

/// Routing tables, and traffic over them if some is given.
#[derive(Clone, Copy)]
pub struct RoutingWithTraffic<'a> {
    /// The tables.
    pub routing: &'a Routing,
    /// Traffic between endpoints of their network.
    pub traffic: Option<&'a OfferedTraffic>,
}

impl RoutingWithTraffic<'_> {
    /// The kind of work for sending the traffic once, for estimates of time and memory.
    pub(super) fn work(&self) -> RouteWorkKind {
        let n = self.routing.topology().endpoints().len() as u64;
        RouteWorkKind::Patterns(1, self.traffic.map_or(0, |traffic| traffic.most_messages(n)))
    }

    /// The messages of the traffic; none if there is no traffic. `named` says that a parameter
    /// names traffic, which must then be given.
    ///
    /// # Errors
    /// When traffic is named but not given, and as [`OfferedTraffic::messages`].
    pub(super) fn messages(&self, named: bool) -> Result<Option<Vec<WeightedMessage>>, Refusal> {
        match self.traffic {
            Some(traffic) => traffic.messages(self.routing.topology()).map(Some),
            None if named => {
                let help = "traffic that was read for this network";
                Err(Refusal::new("traffic", "named and not given", help))
            }
            None => Ok(None),
        }
    }
}

/// Sends `messages`. A message of amount x loads the channels of its routes with x. Its share is
/// the fraction of x that it gets, and means are weighted by amounts. O(messages * layers * hops).
///
/// # Errors
/// When there are too many, two endpoints share no plane, a route does not arrive, or `watch` says
/// stop.
pub fn sent(
    routing: &Routing,
    messages: &[WeightedMessage],
    endpoint_cables: bool,
    watch: &dyn ProgressWatch,
) -> Result<CongestionResult, ComputationError> {
    watch.tick("messages", 0, messages.len() as u64)?;
    let routes = messages.len() as u64 * u64::from(routing.layers());
    if routes > MAX_ROUTES {
        let why = format!("{routes} routes at once for {} layers", routing.layers());
        let help = format!("at most {MAX_ROUTES}: fewer pairs or layers");
        return Err(Refusal::new("traffic", why, help).into());
    }
    let compact = CompactRoutingTables::new(routing, endpoint_cables);
    let mut flows = FlowCongestionCounter::new(&compact);
    let mut tally = PatternRunSums::new(0);
    let mut sum = 0.0;
    let most = tally.messages(flows.level(messages.iter().copied())?, &mut sum);
    let share = sum / messages.iter().map(|m| m.2).sum::<f64>();
    let run = PatternRunResult {
        share,
        job_shares: [share, 1.0],
        congestion: most,
        time: most,
        delay: most,
    };
    let mut parties: Vec<_> = messages.iter().flat_map(|m| [m.0, m.1]).collect();
    parties.sort_unstable();
    parties.dedup();
    watch.tick("messages", messages.len() as u64, messages.len() as u64)?;
    Ok(CongestionResult {
        endpoints: parties.len() as u32,
        first_job: None,
        levels: 1,
        congestions: tally.congestions(),
        runs: vec![run],
        shares: tally.shares,
        share_range: tally.share_range,
        channels: flows.carried,
    })
}
