//! Whether the cables that were found are the planned ones; if not, what to do, fault by fault.

use super::devices::{Match, Node, Socket, match_devices};
use super::floor::Floor;
use super::mend::{Move, differences};
use crate::ib::names::Addresses;
use crate::network::{Cable, Topology};
use base::{EndpointId, LinkId, Refusal, SwitchId, TerminalId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// What kind of fault a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A planned switch does not answer; its cables are not listed apart.
    MissingSwitch,
    /// A planned endpoint does not answer.
    MissingEndpoint,
    /// Other hardware stands where a planned device should be.
    Replaced,
    /// A device that the plan does not know.
    Unknown,
    /// Two cables (or a ring of more) whose ends are exchanged.
    Swapped,
    /// A cable that is not planned.
    Extra,
    /// A cable with one end in a wrong port.
    Wrong,
    /// A planned cable is not there.
    Missing,
    /// A cable in its place that is slower or narrower than planned.
    Degraded,
}

/// One fault, and the way to mend it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its kind.
    pub fault: Fault,
    /// What is wrong, in a sentence that names devices and ports.
    pub what: String,
    /// What to do, in a sentence.
    pub mend: String,
    /// The planned cables concerned, the labels of both ends.
    pub planned: Vec<[String; 2]>,
    /// What was found instead, the labels of both ends.
    pub found: Vec<[String; 2]>,
    /// What to do with which plugs, in order; empty where no cable is to be moved.
    #[serde(skip)]
    pub moves: Vec<Move>,
}

/// The comparison of a fabric with its plan.
///
/// Every planned cable counts once: `planned = correct + degraded + misplaced + lost`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CableCheck {
    /// Cables of the plan, those of endpoints included.
    pub planned: u64,
    /// Cables in their place at their speed and width.
    pub correct: u64,
    /// Cables in their place that are slower or narrower than planned.
    pub degraded: u64,
    /// Planned cables whose devices answer but that are missing, wrong or swapped.
    pub misplaced: u64,
    /// Planned cables of devices that do not answer.
    pub lost: u64,
    /// The faults, devices first, then cables by kind, in an order in which they can be mended.
    pub findings: Vec<Finding>,
}

impl CableCheck {
    /// Whether the fabric is as planned.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Number of findings of each kind there is.
    pub fn counts(&self) -> BTreeMap<Fault, u64> {
        self.findings.iter().fold(BTreeMap::new(), |mut counts, f| {
            *counts.entry(f.fault).or_insert(0) += 1;
            counts
        })
    }
}

impl fmt::Display for CableCheck {
    /// One line of summary, and one line a finding.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (planned, correct) = (self.planned, self.correct);
        write!(f, "{correct} of {planned} cables as planned, {} findings", self.findings.len())?;
        for finding in &self.findings {
            write!(f, "\n{}; {}", finding.what, finding.mend)?;
        }
        Ok(())
    }
}

/// Compares `found` with `plan`.
///
/// Devices are matched by GUID (from `guids`, else what `plan` itself carries), the rest by name,
/// and what is left by its cables: unknown hardware most of whose cables sit where those of a
/// missing device should has replaced it. All of `plan` is planned, failed or not; cables and
/// switches that are down in `found` are not there. Faults that another one explains are not
/// listed: a dead switch takes its cables and the endpoints behind it along. With `floor`, labels
/// carry rack and unit. O(cables * log cables).
///
/// # Errors
/// When `guids` belong to another network, or no switch of `plan` is in `found`.
pub fn check_cables(
    plan: &Topology,
    guids: Option<&Addresses>,
    found: &Topology,
    floor: Option<&Floor>,
) -> Result<CableCheck, Refusal> {
    let sizes = (plan.switches().len(), plan.endpoints().len());
    if guids.is_some_and(|g| (g.switch_guid.len(), g.node_guid.len()) != sizes) {
        let why = "the addresses belong to another network";
        let help = format!("addresses of {} switches and {} endpoints", sizes.0, sizes.1);
        return Err(Refusal::new("addresses", why, help));
    }
    let (switches, endpoints) = match_devices(plan, guids, found);
    let mut check = Check { plan, found, floor, switches, endpoints };
    if sizes.0 > 0 && check.switches.found.iter().all(Option::is_none) {
        let why = format!("none of the plan's {} switches was found", sizes.0);
        let help = "compare with the plan of this fabric, or give its switches the plan's names";
        return Err(Refusal::new("found", why, help));
    }
    check.adopt();
    Ok(check.run())
}

/// Cables by either of their ends.
pub(super) type Cables = BTreeMap<Socket, (Socket, Cable)>;

pub(super) struct Check<'a> {
    pub(super) plan: &'a Topology,
    pub(super) found: &'a Topology,
    pub(super) floor: Option<&'a Floor>,
    pub(super) switches: Match,
    pub(super) endpoints: Match,
}

fn both_ways(ends: impl Iterator<Item = (Socket, Socket, Cable)>) -> Cables {
    ends.flat_map(|(a, b, cable)| [(a, (b, cable)), (b, (a, cable))]).collect()
}

impl Check<'_> {
    fn planned_cables(&self) -> Cables {
        let t = self.plan;
        let at = |p: crate::network::Plug| Socket { node: Node::Switch(p.switch), port: p.port };
        let links = t.links().iter().map(|l| (at(l.a), at(l.b), l.cable));
        both_ways(links.chain(t.terminals().iter().map(|r| {
            let own = Socket { node: Node::Endpoint(r.endpoint), port: r.rail.saturating_add(1) };
            (own, at(r.plug), r.cable)
        })))
    }

    /// The working cables that were found, in terms of the plan.
    fn found_cables(&self) -> Cables {
        let t = self.found;
        let switch = |s: SwitchId| match self.switches.planned[s.ix()] {
            Some(planned) => Node::Switch(SwitchId(planned)),
            None => Node::UnknownSwitch(s),
        };
        let endpoint = |e: EndpointId| match self.endpoints.planned[e.ix()] {
            Some(planned) => Node::Endpoint(EndpointId(planned)),
            None => Node::UnknownEndpoint(e),
        };
        let at = |p: crate::network::Plug| Socket { node: switch(p.switch), port: p.port };
        let links = t.links().iter().enumerate();
        let links = links.filter(|(i, _)| t.link_is_up(LinkId::from(*i)));
        let links = links.map(|(_, l)| (at(l.a), at(l.b), l.cable));
        let rails = t.terminals().iter().enumerate();
        let rails = rails.filter(|(i, _)| t.terminal_is_up(TerminalId::from(*i)));
        both_ways(links.chain(rails.map(|(_, r)| {
            let port = r.rail.saturating_add(1);
            (Socket { node: endpoint(r.endpoint), port }, at(r.plug), r.cable)
        })))
    }

    pub(super) fn is_there(&self, node: Node) -> bool {
        match node {
            Node::Switch(s) => self.switches.found[s.ix()].is_some(),
            Node::Endpoint(e) => self.endpoints.found[e.ix()].is_some(),
            Node::UnknownSwitch(_) | Node::UnknownEndpoint(_) => true,
        }
    }

    /// Matches unknown hardware with the missing device in whose place most of its cables are.
    fn adopt(&mut self) {
        let (planned, found) = (self.planned_cables(), self.found_cables());
        let mut votes: BTreeMap<Node, (u32, BTreeMap<Node, u32>)> = BTreeMap::new();
        for (own, (other, _)) in &found {
            let unknown = matches!(own.node, Node::UnknownSwitch(_) | Node::UnknownEndpoint(_));
            if !unknown || matches!(other.node, Node::UnknownSwitch(_) | Node::UnknownEndpoint(_)) {
                continue;
            }
            let (cables, places) = votes.entry(own.node).or_default();
            *cables += 1;
            let place = planned.get(other).map(|(place, _)| place);
            if let Some(place) = place.filter(|p| p.port == own.port && !self.is_there(p.node)) {
                *places.entry(place.node).or_insert(0) += 1;
            }
        }
        for (node, (cables, places)) in votes {
            let Some((place, _)) = places.into_iter().find(|(_, n)| n * 2 > cables) else {
                continue;
            };
            match (node, place) {
                _ if self.is_there(place) => {}
                (Node::UnknownSwitch(f), Node::Switch(p)) => {
                    self.switches.set(p.ix(), f.ix());
                    self.switches.replaced.push(p.0);
                }
                (Node::UnknownEndpoint(f), Node::Endpoint(p)) => {
                    self.endpoints.set(p.ix(), f.ix());
                    self.endpoints.replaced.push(p.0);
                }
                _ => {}
            }
        }
        self.switches.replaced.sort_unstable();
        self.endpoints.replaced.sort_unstable();
    }

    fn run(&self) -> CableCheck {
        let (planned, found) = (self.planned_cables(), self.found_cables());
        let mut result = CableCheck {
            planned: planned.len() as u64 / 2,
            correct: 0,
            degraded: 0,
            misplaced: 0,
            lost: 0,
            findings: Vec::new(),
        };
        self.report_devices(&planned, &mut result.findings);
        let (mut absent, mut slow) = (BTreeMap::new(), Vec::new());
        for (&a, &(b, cable)) in &planned {
            match found.get(&a) {
                _ if !self.is_there(a.node) || !self.is_there(b.node) => {
                    result.lost += u64::from(a < b);
                }
                Some(&(at, is)) if at == b => {
                    let as_planned = is.speed >= cable.speed && is.width >= cable.width;
                    result.correct += u64::from(a < b && as_planned);
                    if a < b && !as_planned {
                        slow.push((a, b, cable, is));
                    }
                }
                _ => {
                    result.misplaced += u64::from(a < b);
                    absent.insert(a, b);
                }
            }
        }
        let strange = found
            .iter()
            .filter(|(a, (b, _))| planned.get(a).is_none_or(|(p, _)| p != b))
            .map(|(&a, &(b, _))| (a, b))
            .collect();
        let mut cables: Vec<Finding> = differences(absent, strange, |a, b| self.apart(a, b))
            .into_iter()
            .map(|d| self.difference(d))
            .collect();
        cables.sort_by_key(|f| f.fault);
        result.findings.append(&mut cables);
        result.degraded = slow.len() as u64;
        result.findings.extend(slow.into_iter().map(|cable| self.slow(cable)));
        result
    }
}
