//! Classes of traffic: what each sends, and how they share ports.
//!
//! Each has virtual channels of its own, as many as the routing needs, so that none waits in the
//! buffers of another; and its own interface at endpoints.
//! Source: Goyal, Vin & Cheng, "Start-time fair queueing", IEEE/ACM Transactions on Networking
//! 5(5), 1997, for shares by weights.

use super::node::Node;
use super::runs::Runs;
use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most classes.
const MOST: usize = 8;
/// Most virtual channels of a port.
const MOST_LANES: usize = 128;

/// One of several classes of traffic; what it does not say is as of the keys of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClassOf {
    /// Its part of the load, in proportion to those of the others.
    pub share: f64,
    /// Who sends to whom: a pattern with its argument.
    pub traffic: Option<String>,
    /// Messages of an endpoint.
    pub messages: Option<u32>,
    /// Length of a message.
    pub message_bytes: Option<u32>,
    /// Packets of classes of larger numbers go first at every port.
    pub priority: u32,
    /// Of classes of one priority, how much of a port each gets in proportion to the others, where
    /// all have packets that wait; what one leaves, the others take.
    pub weight: f64,
}

impl Default for ClassOf {
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

impl ClassOf {
    /// Whether some classes can be, with so many virtual channels each; of processes they say
    /// nothing of what is sent.
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

/// How several classes share ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharing {
    of: Vec<Of>,
}

/// A class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Of {
    priority: u32,
    /// The first class of its priority.
    level: usize,
    /// What a byte costs: the less, the greater the weight.
    cost: u64,
}

/// The cost of a byte of the greatest weight.
const UNIT: f64 = 1024.0;
/// Tags of a class at a port: when what it has sent ends; of a level, when what was sent last
/// began; which of its virtual channels sent last.
const TAGS: usize = 3;

impl Sharing {
    /// Of some classes; none where there is only one.
    pub(super) fn of(all: &[ClassOf]) -> Option<Self> {
        let greatest = all.iter().map(|one| one.weight).fold(0.0, f64::max);
        let of = |one: &ClassOf| Of {
            priority: one.priority,
            level: all.iter().position(|other| other.priority == one.priority).unwrap_or(0),
            cost: (UNIT * greatest / one.weight).round() as u64,
        };
        (all.len() > 1).then(|| Self { of: all.iter().map(of).collect() })
    }

    /// What is kept for so many ports at the beginning.
    pub(super) fn tags(sharing: Option<&Self>, ports: usize) -> Vec<u64> {
        sharing.map_or_else(Vec::new, |all| vec![0; ports * all.of.len() * TAGS])
    }

    fn at(&self, port: u16, class: usize) -> usize {
        (usize::from(port) * self.of.len() + class) * TAGS
    }

    /// When a packet of a class would begin, in the time that shares are reckoned in.
    fn begins(&self, node: &Node, port: u16, class: usize) -> u64 {
        let level = self.at(port, self.of[class].level) + 1;
        node.tags[self.at(port, class)].max(node.tags[level])
    }

    /// The class that sends next at a port, of those that may: of the greatest priority that whose
    /// packet would begin first.
    pub(super) fn next(&self, node: &Node, port: u16, may: impl Fn(u8) -> bool) -> Option<u8> {
        let all = (0..self.of.len()).filter(|class| may(*class as u8));
        let urgency = |class: usize| std::cmp::Reverse(self.of[class].priority);
        let best = all.min_by_key(|&class| (urgency(class), self.begins(node, port, class)))?;
        Some(best as u8)
    }

    /// A class sends so many bytes.
    pub(super) fn serves(
        &self,
        node: &mut Node,
        port: u16,
        (class, bytes): (u8, u32),
        to: &mut impl Runs,
    ) {
        let class = usize::from(class);
        let Of { level, cost, .. } = self.of[class];
        let begins = self.begins(node, port, class);
        *node.tag(self.at(port, level) + 1, to) = begins;
        *node.tag(self.at(port, class), to) = begins + cost * u64::from(bytes);
    }

    /// The virtual channel that a class used last at a port.
    pub(super) fn last(&self, node: &Node, port: u16, class: u8) -> u8 {
        node.tags[self.at(port, class.into()) + 2] as u8
    }

    /// A class has used one of its virtual channels.
    pub(super) fn sent(
        &self,
        node: &mut Node,
        port: u16,
        (class, lane): (u8, u8),
        to: &mut impl Runs,
    ) {
        *node.tag(self.at(port, class.into()) + 2, to) = lane.into();
    }
}
