//! Classes of traffic: what each class sends, and how classes share ports.
//!
//! Each class has its own virtual channels, in the number that the routing needs, so that no class
//! waits in the buffers of another. It also has its own network interface at every endpoint.
//!
//! Source: Goyal, Vin & Cheng, "Start-time fair queueing", IEEE/ACM Transactions on Networking
//! 5(5), 1997, for shares by weights.

use super::node::NodePorts;
use super::runs::EventHandlerContext;
use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest number of classes of traffic.
const MOST: usize = 8;
/// The largest number of virtual channels of a port.
const MOST_LANES: usize = 128;

/// The parameters of one of several classes of traffic; what it leaves out is as for all traffic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "TrafficClass")]
pub struct TrafficClassParameters {
    /// Share of the class in the load, in proportion to those of the others.
    pub share: f64,
    /// Who sends to whom: a pattern with its argument.
    pub traffic: Option<String>,
    /// Messages that each endpoint sends.
    pub messages: Option<u32>,
    /// Length of a message.
    pub message_bytes: Option<u32>,
    /// Packets of a class with a larger number go first at every port.
    pub priority: u32,
    /// Among classes of one priority, the share of a port that the class gets in proportion to the
    /// others, while all have packets waiting; what one class leaves, the others take.
    pub weight: f64,
}

impl Default for TrafficClassParameters {
    fn default() -> Self {
        Self {
            share: 1.0,
            traffic: None,
            messages: None,
            message_bytes: None,
            priority: 0,
            weight: 1.0,
        }
    }
}

impl TrafficClassParameters {
    /// Checks classes of traffic that have `lanes` virtual channels each. Classes of workloads may
    /// set their priority and weight alone, because the workload says what is sent.
    ///
    /// # Errors
    /// When there are too many, or a number is out of its range.
    pub(super) fn check(all: &[Self], lanes: u8, of_processes: bool) -> Result<(), Refusal> {
        if all.len() > MOST {
            let why = format!("{} classes", all.len());
            return Err(Refusal::new("traffic_class", why, format!("{MOST} at most")));
        }
        if all.len() * usize::from(lanes) > MOST_LANES {
            let why = format!("{} classes of {lanes} virtual channels", all.len());
            let help = format!("{MOST_LANES} virtual channels in all: fewer of each");
            return Err(Refusal::new("switch.virtual_channels", why, help));
        }
        let refuse = |at: usize, name: &str, why: String, help: &str| {
            Err(Refusal::new(format!("traffic_class {}: {name}", at + 1), why, help))
        };
        for (at, one) in all.iter().enumerate() {
            for (name, number) in [("share", one.share), ("weight", one.weight)] {
                if !(1e-3..=1e3).contains(&number) {
                    let why = format!("{number} is out of range");
                    return refuse(at, name, why, "0.001 to 1000");
                }
            }
            for (name, count) in [("messages", one.messages), ("message_bytes", one.message_bytes)]
            {
                if count.is_some_and(|count| !(1..=1 << 30).contains(&count)) {
                    let why = format!("{} is out of range", count.unwrap_or(0));
                    return refuse(at, name, why, "1 to 1073741824");
                }
            }
            let usual = Self { priority: one.priority, weight: one.weight, ..Self::default() };
            if of_processes && *one != usual {
                let why = "processes of workloads send what these say".to_owned();
                return refuse(at, "share", why, "priority and weight alone");
            }
        }
        Ok(())
    }
}

/// The rule by which several classes of traffic share the ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassPortSharingRule {
    of: Vec<ClassPortShare>,
}

/// The share of a class of traffic at every port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClassPortShare {
    priority: u32,
    /// The index of the first class with the same priority.
    level: usize,
    /// The virtual time that a byte of the class takes: the greater its weight, the less.
    cost: u64,
}

/// The cost of a byte of the class with the greatest weight.
const UNIT: f64 = 1024.0;
/// Numbers kept for each class at each port: the virtual time at which its last packet ended, the
/// virtual time at which the last packet of the same priority began, and the virtual channel of the
/// class that sent last.
const TAGS: usize = 3;

impl ClassPortSharingRule {
    /// The rule for these classes; none where there is only one class.
    pub(super) fn of(all: &[TrafficClassParameters]) -> Option<Self> {
        let greatest = all.iter().map(|one| one.weight).fold(0.0, f64::max);
        let of = |one: &TrafficClassParameters| ClassPortShare {
            priority: one.priority,
            level: all.iter().position(|other| other.priority == one.priority).unwrap_or(0),
            cost: (UNIT * greatest / one.weight).round() as u64,
        };
        (all.len() > 1).then(|| Self { of: all.iter().map(of).collect() })
    }

    /// The numbers that fair queueing keeps at a node with `ports` ports, all 0 at first.
    pub(super) fn tags(sharing: Option<&Self>, ports: usize) -> Vec<u64> {
        sharing.map_or_else(Vec::new, |all| vec![0; ports * all.of.len() * TAGS])
    }

    fn at(&self, port: u16, class: usize) -> usize {
        (usize::from(port) * self.of.len() + class) * TAGS
    }

    /// The virtual time at which the next packet of a class would begin to be sent.
    fn begins(&self, node: &NodePorts, port: u16, class: usize) -> u64 {
        let level = self.at(port, self.of[class].level) + 1;
        node.tags[self.at(port, class)].max(node.tags[level])
    }

    /// The class that sends next at a port, among the classes for which `may` holds: of those with
    /// the highest priority, the one whose packet would begin first.
    pub(super) fn next(&self, node: &NodePorts, port: u16, may: impl Fn(u8) -> bool) -> Option<u8> {
        let all = (0..self.of.len()).filter(|class| may(*class as u8));
        let urgency = |class: usize| std::cmp::Reverse(self.of[class].priority);
        let best = all.min_by_key(|&class| (urgency(class), self.begins(node, port, class)))?;
        Some(best as u8)
    }

    /// Charges a class for the bytes that it sends.
    pub(super) fn serves(
        &self,
        node: &mut NodePorts,
        port: u16,
        (class, bytes): (u8, u32),
        to: &mut impl EventHandlerContext,
    ) {
        let class = usize::from(class);
        let ClassPortShare { level, cost, .. } = self.of[class];
        let begins = self.begins(node, port, class);
        *node.tag(self.at(port, level) + 1, to) = begins;
        *node.tag(self.at(port, class), to) = begins + cost * u64::from(bytes);
    }

    /// The virtual channel that a class used last at a port.
    pub(super) fn last(&self, node: &NodePorts, port: u16, class: u8) -> u8 {
        node.tags[self.at(port, class.into()) + 2] as u8
    }

    /// Records the virtual channel of a class that sent.
    pub(super) fn sent(
        &self,
        node: &mut NodePorts,
        port: u16,
        (class, lane): (u8, u8),
        to: &mut impl EventHandlerContext,
    ) {
        *node.tag(self.at(port, class.into()) + 2, to) = lane.into();
    }
}
