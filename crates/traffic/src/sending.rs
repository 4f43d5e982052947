//! The traffic that endpoints send, by name or pair by pair, as all measures read it.

use crate::demand::{DemandEnd, MOST_FLOWS, TrafficDemand, longest_matching};
pub use crate::destinations::WeightedMessage;
use crate::pattern::CommunicationPattern;
pub use crate::working::working;
use base::seed::RandomStream;
use base::{ComputationError, EndpointId, ProgressWatch, Refusal};
use fabric::network::Topology;

/// The traffic that endpoints offer: who sends how much to whom.
#[derive(Debug, Clone, PartialEq)]
pub enum OfferedTraffic {
    /// Every endpoint sends its full rate, evenly to all others.
    Uniform,
    /// These pairs, each with its amount in units of an endpoint's full rate.
    Between(Vec<(DemandEnd, DemandEnd, f64)>),
}

/// Names of traffic that are not patterns.
pub const NAMES: [&str; 4] = ["uniform", "all_to_all", "longest_matching", "elephant"];

/// The default fraction of the flows of `elephant` that is large.
pub const ELEPHANTS: f64 = 0.1;

impl OfferedTraffic {
    /// The traffic of this name on a network; and whether its matching is known to be the longest,
    /// which is `None` for other traffic.
    ///
    /// The names are `uniform`, also called `all_to_all`; `longest_matching`; `elephant`, with the
    /// fraction `elephants` of large flows, or `elephant:FRACTION`; and those of each
    /// [`CommunicationPattern`]. The ranks of a pattern are the working endpoints in their order,
    /// all its levels are sent at once, and each message has the amount 1. Random choices are drawn
    /// from `seed`.
    ///
    /// # Errors
    /// When there is no such traffic, it is not possible on this network, or `watch` says stop.
    pub fn named(
        t: &Topology,
        name: &str,
        elephants: f64,
        seed: u64,
        watch: &dyn ProgressWatch,
    ) -> Result<(Self, Option<bool>), ComputationError> {
        let (word, argument) = match name.split_once(':') {
            Some((word, argument)) => (word, Some(argument)),
            None => (name, None),
        };
        if NAMES.contains(&word) && word != "elephant" && argument.is_some() {
            return Err(
                Refusal::new("traffic", format!("'{name}'"), format!("{word} alone")).into()
            );
        }
        let large = match word {
            "uniform" | "all_to_all" => return Ok((Self::Uniform, None)),
            "longest_matching" => None,
            "elephant" => {
                let said = argument.map_or(Some(elephants), |text| text.parse().ok());
                let within = said.filter(|x: &f64| (0.0..=1.0).contains(x));
                let why = || format!("'{}' is no fraction of the flows", argument.unwrap_or(""));
                Some(within.ok_or_else(|| Refusal::new("elephants", why(), "0 to 1"))?)
            }
            _ => return Ok((Self::Between(of_pattern(t, name, seed, watch)?), None)),
        };
        let matching = longest_matching(t, watch)?;
        let amounts = TrafficDemand::amounts(&matching, large.map(|fraction| (fraction, seed)));
        let pairs = matching.pairs.iter().zip(amounts);
        let all =
            pairs.map(|(&(a, b), x)| (DemandEnd::Endpoint(a), DemandEnd::Endpoint(b), x)).collect();
        Ok((Self::between(all), Some(matching.exact)))
    }

    /// The traffic of `pairs`. Traffic of an endpoint to itself is left out, as it never leaves the
    /// endpoint.
    pub fn between(mut pairs: Vec<(DemandEnd, DemandEnd, f64)>) -> Self {
        pairs.retain(|&(a, b, x)| x != 0.0 && !(a == b && matches!(a, DemandEnd::Endpoint(_))));
        Self::Between(pairs)
    }

    /// The traffic as a demand between switches and terminals.
    ///
    /// # Errors
    /// As [`TrafficDemand::uniform`] and [`TrafficDemand::between`].
    pub fn demand(&self, t: &Topology) -> Result<TrafficDemand, Refusal> {
        match self {
            Self::Uniform => TrafficDemand::uniform(t),
            Self::Between(pairs) => TrafficDemand::between(t, pairs),
        }
    }

    /// An upper bound of the number of messages among this number of endpoints.
    pub fn most_messages(&self, endpoints: u64) -> u64 {
        match self {
            Self::Uniform => endpoints.saturating_mul(endpoints),
            Self::Between(pairs) => pairs.len() as u64,
        }
    }

    /// The traffic as messages between endpoints. The amount of a switch is divided evenly over the
    /// pairs with its working endpoints. O(messages).
    ///
    /// # Errors
    /// When there are no messages, or more than [`MOST_FLOWS`].
    pub fn messages(&self, t: &Topology) -> Result<Vec<WeightedMessage>, Refusal> {
        let mut all = Vec::new();
        let pairs = match self {
            Self::Uniform => {
                let alive = working(t);
                let count = alive.len().saturating_mul(alive.len());
                few_enough(count)?;
                let each = 1.0 / (alive.len() as f64 - 1.0);
                for &a in &alive {
                    all.extend(alive.iter().filter(|&&b| b != a).map(|&b| (a, b, each)));
                }
                return Ok(all);
            }
            Self::Between(pairs) => pairs,
        };
        for &(from, to, amount) in pairs {
            let (from, to) = (endpoints(t, from), endpoints(t, to));
            let both = || from.iter().flat_map(|&a| to.iter().map(move |&b| (a, b)));
            let apart = both().filter(|(a, b)| a != b);
            let count = apart.clone().count();
            all.extend(apart.map(|(a, b)| (a, b, amount / count as f64)));
            few_enough(all.len())?;
        }
        if all.is_empty() {
            let help = "amounts above 0 between different endpoints";
            return Err(Refusal::new("traffic", "nothing is sent", help));
        }
        Ok(all)
    }
}

fn few_enough(count: usize) -> Result<(), Refusal> {
    if count <= MOST_FLOWS {
        return Ok(());
    }
    let why = format!("{count} messages at once");
    Err(Refusal::new("traffic", why, format!("at most {MOST_FLOWS}")))
}

/// The working endpoints of one end of a demand, in order.
fn endpoints(t: &Topology, party: DemandEnd) -> Vec<EndpointId> {
    match party {
        DemandEnd::Endpoint(e) => vec![e],
        DemandEnd::Switch(s) => {
            let on = t.terminals_on(s).iter().filter(|&&i| t.terminal_is_up(i));
            let mut own: Vec<EndpointId> = on.map(|i| t.terminals()[i.ix()].endpoint).collect();
            own.sort_unstable();
            own.dedup();
            own
        }
    }
}

/// Every message of a pattern, on the working endpoints in their order.
fn of_pattern(
    t: &Topology,
    name: &str,
    seed: u64,
    watch: &dyn ProgressWatch,
) -> Result<Vec<(DemandEnd, DemandEnd, f64)>, ComputationError> {
    let alive = working(t);
    let ranks = alive.len() as u32;
    let pattern = CommunicationPattern::on(t, None, name, ranks, watch)?;
    let at = |rank: u32| DemandEnd::Endpoint(alive[rank as usize]);
    if let Some(amounts) = pattern.amounts(ranks) {
        return Ok(amounts.into_iter().map(|(a, b, x)| (at(a), at(b), x)).collect());
    }
    let mut draw = RandomStream::new(seed, "pattern", 0);
    let mut all = Vec::new();
    for level in 0..pattern.levels(ranks) {
        let sent = pattern.messages(level, ranks, &mut draw);
        all.extend(sent.into_iter().map(|(a, b)| (at(a), at(b), 1.0)));
        few_enough(all.len())?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::QuietWatch;
    use serde_json::json;

    fn ring(p: u32) -> Topology {
        let given = json!({ "n": 4, "p": p });
        let params = given.as_object().expect("a table");
        families::family("ring").and_then(|f| f.build(params)).expect("a ring")
    }

    #[test]
    fn a_switch_sends_evenly_from_its_endpoints_and_nobody_to_himself() {
        let t = ring(3);
        let (s, e) =
            (|i| DemandEnd::Switch(base::SwitchId(i)), |i| DemandEnd::Endpoint(EndpointId(i)));
        let sent = |pairs| OfferedTraffic::between(pairs).messages(&t);
        let found = sent(vec![(s(0), s(1), 1.8), (e(0), e(0), 9.0)]).expect("messages");
        assert_eq!(found.len(), 9);
        assert!(
            found
                .iter()
                .all(|&(a, b, x)| a.0 < 3 && (3..6).contains(&b.0) && (x - 0.2).abs() < 1e-12)
        );
        let within = sent(vec![(s(0), s(0), 3.0)]).expect("messages");
        assert_eq!(within.len(), 6);
        assert!(within.iter().all(|&(a, b, x)| a != b && (x - 0.5).abs() < 1e-12));
        assert!(sent(vec![(e(0), e(0), 9.0), (e(0), e(1), 0.0)]).is_err());
    }

    #[test]
    fn every_name_is_traffic() {
        let t = ring(2);
        let tenths = |name: &str| -> u64 {
            let (sending, _) =
                OfferedTraffic::named(&t, name, 0.5, 1, &QuietWatch).expect("a name");
            let all = sending.messages(&t).expect("messages");
            (all.iter().map(|m| m.2).sum::<f64>() * 10.0).round() as u64
        };
        for name in ["uniform", "all_to_all", "longest_matching", "permutation", "ring"] {
            assert_eq!(tenths(name), 80, "{name}"); // everybody sends 1 in all
        }
        assert_eq!((tenths("elephant"), tenths("elephant:0.25")), (44, 26));
        assert_eq!((tenths("neighbours:1"), tenths("gather")), (80, 70));
        assert_eq!(tenths("bruck"), 240); // three levels, all at once
        for bad in ["uniform:2", "elephant:2", "elephant:x", "rings", "null"] {
            let found = OfferedTraffic::named(&t, bad, 0.5, 1, &QuietWatch);
            let found = found.and_then(|(s, _)| Ok(s.messages(&t)?));
            assert!(found.is_err(), "{bad}");
        }
    }
}
