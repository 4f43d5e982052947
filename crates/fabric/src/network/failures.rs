//! The links and switches that fail, as users write them, and those that a network found has lost.

use super::{CablePlug, PortPeer, Topology, TopologyBuilder};
use base::{LinkId, Refusal, SwitchId};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// A link or a switch that fails, by its number or in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "FailedPart")]
pub enum FailedComponent {
    /// Its number.
    Number(u32),
    /// The name of a switch; for links `SWITCH:SWITCH` (all cables between) or `SWITCH:PORT`.
    Words(String),
}

impl<'de> Deserialize<'de> for FailedComponent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(from)?;
        let number = given.as_u64().and_then(|n| u32::try_from(n).ok());
        match (number, given) {
            (Some(number), _) => Ok(Self::Number(number)),
            (None, Value::String(words)) => Ok(Self::Words(words)),
            (None, other) => {
                let why = format!("invalid part {other}, expected a number or a name");
                Err(serde::de::Error::custom(why))
            }
        }
    }
}

/// What fails: named links and switches, and links drawn at random besides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Failures")]
pub struct FailureParameters {
    /// Links by number, `SWITCH:SWITCH` (all cables between) or `SWITCH:PORT`.
    pub links: Vec<FailedComponent>,
    /// Switches by number or name.
    pub switches: Vec<FailedComponent>,
    /// The number of working links that fail besides, drawn at random.
    pub random: u32,
    /// Seed of the random links.
    pub seed: u64,
}

impl FailureParameters {
    /// The links and the switches of `on` that fail, each once, in ascending order. Numbers are not
    /// checked. O(links) for each part in words.
    ///
    /// # Errors
    /// When `on` has no part of that name, or has fewer working links than are to be drawn.
    pub fn of(&self, on: &Topology) -> Result<(Vec<LinkId>, Vec<SwitchId>), Refusal> {
        let mut links: BTreeSet<LinkId> =
            on.random_links(self.random, self.seed)?.into_iter().collect();
        for part in &self.links {
            match part {
                FailedComponent::Number(n) => links.extend([LinkId(*n)]),
                FailedComponent::Words(words) => links.extend(named_links(on, words)?),
            }
        }
        let mut switches = BTreeSet::new();
        for part in &self.switches {
            switches.insert(match part {
                FailedComponent::Number(n) => SwitchId(*n),
                FailedComponent::Words(name) => named_switch(on, "switches", name)?,
            });
        }
        Ok((links.into_iter().collect(), switches.into_iter().collect()))
    }
}

impl Topology {
    /// The same network in which these links and switches have failed. O(network).
    ///
    /// # Errors
    /// When an id is out of range.
    pub fn with_failures(&self, links: &[LinkId], switches: &[SwitchId]) -> Result<Self, Refusal> {
        let none = |param: &str, what: &str, id: u32, known: usize| {
            let help = match known {
                0 => "there are none".to_owned(),
                known => format!("0 to {}", known - 1),
            };
            Refusal::new(param, format!("there is no {what} {id}"), help)
        };
        let mut failed = TopologyBuilder::from(self);
        for link in links {
            let known = self.links.len();
            let found = failed.links.get_mut(link.ix());
            found.ok_or_else(|| none("links", "link", link.0, known))?.cable.up = false;
        }
        for switch in switches {
            let known = self.switches.len();
            let found = failed.switches.get_mut(switch.ix());
            found.ok_or_else(|| none("switches", "switch", switch.0, known))?.up = false;
        }
        failed.finish(self.recipe.clone())
    }
}

/// The parts of the network `planned` that `found` lacks: switches, and links between switches that
/// `found` has. Switches are matched by name, links by name and port at both ends. O(links log
/// links).
pub fn lost_in(planned: &Topology, found: &Topology) -> (Vec<LinkId>, Vec<SwitchId>) {
    let there: BTreeSet<&str> = found.switches().iter().map(|s| s.name.as_str()).collect();
    let left: BTreeSet<[(&str, u16); 2]> = working(found).map(|l| ends(found, l)).collect();
    let switches = (0..planned.switches().len()).map(SwitchId::from);
    let name = |s: SwitchId| planned.switches()[s.ix()].name.as_str();
    let gone = |l: &LinkId| {
        let ends = ends(planned, *l);
        !left.contains(&ends) && ends.iter().all(|(name, _)| there.contains(name))
    };
    (
        working(planned).filter(gone).collect(),
        switches.filter(|&s| !there.contains(name(s))).collect(),
    )
}

fn named_switch(on: &Topology, param: &str, name: &str) -> Result<SwitchId, Refusal> {
    let found = on.switches().iter().position(|s| s.name == name);
    found.map(SwitchId::from).ok_or_else(|| {
        let help = match on.switches().first() {
            Some(first) => format!("a name such as {}", first.name),
            None => "there are none".to_owned(),
        };
        Refusal::new(param, format!("there is no switch {name}"), help)
    })
}

/// The working links that `SWITCH:SWITCH` or `SWITCH:PORT` names.
fn named_links(on: &Topology, words: &str) -> Result<Vec<LinkId>, Refusal> {
    let Some((one, other)) = words.split_once(':') else {
        let why = format!("{words} names no link");
        return Err(Refusal::new("links", why, "SWITCH:SWITCH or SWITCH:PORT"));
    };
    let a = named_switch(on, "links", one)?;
    let is_switch = on.switches().iter().any(|s| s.name == other);
    let found: Vec<LinkId> = match other.parse::<u16>() {
        Ok(port) if !is_switch => match on.peer(a, port) {
            PortPeer::Switch(channel) => vec![channel.link()],
            PortPeer::Empty | PortPeer::Terminal(_) => Vec::new(),
        },
        _ => {
            let b = named_switch(on, "links", other)?;
            let between = |l: &LinkId| {
                let link = &on.links()[l.ix()];
                let ends = [link.a.switch, link.b.switch];
                ends == [a, b] || ends == [b, a]
            };
            working(on).filter(between).collect()
        }
    };
    let up: Vec<LinkId> = found.into_iter().filter(|&l| on.link_is_up(l)).collect();
    if up.is_empty() {
        let why = format!("{words}: no working cable there");
        return Err(Refusal::new("links", why, "a cable between switches that works"));
    }
    Ok(up)
}

fn working(on: &Topology) -> impl Iterator<Item = LinkId> {
    (0..on.links().len()).map(LinkId::from).filter(|&l| on.link_is_up(l))
}

/// Name and port at both ends of a link, sorted, so that the order does not depend on which end is
/// a.
fn ends(on: &Topology, link: LinkId) -> [(&str, u16); 2] {
    let link = &on.links()[link.ix()];
    let mut ends = [link.a, link.b]
        .map(|CablePlug { switch, port }| (on.switches()[switch.ix()].name.as_str(), port));
    ends.sort_unstable();
    ends
}
