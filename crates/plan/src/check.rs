//! Whether the cables that were found are the planned ones; if not, what to do, fault by fault.

use super::cable::CableId;
use super::devices::{Identify, Match, Node, Pairing, Socket};
use super::due::Wanted;
use super::floor::Floor;
use super::mend::{Difference, Instruction, Move, differences};
use super::places::{Round, in_plan};
use super::ports::{Renumbered, renumbered};
use base::{EndpointId, LinkId, Refusal, SwitchId, TerminalId};
use fabric::addresses::Addresses;
use fabric::network::{Cable, Topology};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What kind of fault a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A planned switch does not answer; its cables are not listed apart.
    MissingSwitch,
    /// A planned endpoint does not answer.
    MissingEndpoint,
    /// Devices that no cable laid so far joins to those that answer.
    OutOfReach,
    /// Other hardware stands where a planned device should be.
    Replaced,
    /// A device that the plan does not know.
    Unknown,
    /// Switches that stand in one another's places; their cables are compared where they stand.
    MovedSwitch,
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
    /// The devices or ports concerned, by their labels.
    #[serde(rename = "where")]
    pub place: String,
    /// What is wrong, in a sentence that names devices and ports.
    pub what: String,
    /// What to do, in a sentence.
    pub mend: String,
    /// Where and what to do in one short line.
    pub line: String,
    /// Where there is more than one move: the ports or devices of each, in order.
    pub table: Vec<[String; 2]>,
    /// The planned cables concerned, the labels of both ends.
    pub planned: Vec<[String; 2]>,
    /// What was found instead, the labels of both ends.
    pub found: Vec<[String; 2]>,
    /// What to do with which plugs, in order; empty where no cable is to be moved.
    #[serde(skip)]
    pub moves: Vec<Move>,
    /// The same for a program.
    #[serde(rename = "moves")]
    pub instructions: Vec<Instruction>,
}

/// How a planned cable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CableState {
    /// In its place at its speed and width.
    Correct,
    /// In its place, but slower or narrower than planned.
    Degraded,
    /// Not there, and another cable is in one of its ports.
    Wrong,
    /// Not there, its ports are empty.
    Missing,
    /// Not there, and a device at one of its ends does not answer.
    Lost,
    /// Not there, and not due: it need not be laid yet.
    Unlaid,
}

/// How a planned switch is, by the worst that is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SwitchState {
    /// All its cables are as planned.
    Correct,
    /// Some of its cables, or all, are not laid yet; the others are as planned.
    Unlaid,
    /// One of its cables is slower or narrower than planned.
    Degraded,
    /// One of its cables is missing or wrong, or one is not planned.
    Wrong,
    /// Hardware that the plan does not know stands in its place.
    Replaced,
    /// Another switch of the plan stands in its place.
    Moved,
    /// It does not answer.
    Missing,
}

/// What told which device is which, and of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Identified {
    /// GUIDs (with names for the rest), names, or the structure.
    pub by: Identify,
    /// Planned switches that were found.
    pub switches: u64,
    /// Planned endpoints that were found.
    pub endpoints: u64,
    /// By structure: how many ways to lay the plan over the fabric are as good, as far as was
    /// looked; else 1.
    pub equally_good: u64,
}

/// How a fabric is compared with its plan.
#[derive(Debug, Clone, Default)]
pub struct How {
    /// What tells which device is which.
    pub identify: Identify,
    /// Whether a cable between the right two devices is right whatever ports it is in.
    pub ignore_ports: bool,
    /// The cables that must be laid by now; `None`: all. One that is not among them and not there
    /// is [`CableState::Unlaid`], and a device is missed only where such a cable leads to it.
    pub due: Option<BTreeSet<CableId>>,
}

/// The comparison of a fabric with its plan.
///
/// Every planned cable counts once: `planned = correct + degraded + misplaced + lost + unlaid`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CableCheck {
    /// Cables of the plan, those of endpoints included.
    pub planned: u64,
    /// Cables in their place at their speed and width.
    pub correct: u64,
    /// Cables in their place that are slower or narrower than planned.
    pub degraded: u64,
    /// Planned cables that are not there while another cable is in one of their ports.
    pub misplaced: u64,
    /// Planned cables that are due and not there: the missing ones, and those of devices that do
    /// not answer.
    pub lost: u64,
    /// Of the lost ones those whose devices answer: unplugged or broken.
    pub missing: u64,
    /// Planned cables that are not there and not due.
    pub unlaid: u64,
    /// Cables between the right two devices that are in other ports than planned: among the
    /// correct and degraded ones where ports are ignored, else among the misplaced.
    pub on_other_ports: u64,
    /// The faults, devices first, then cables by kind, in an order in which they can be mended.
    pub findings: Vec<Finding>,
    /// What told the devices.
    pub identified: Identified,
    /// How every planned cable is.
    #[serde(skip)]
    pub cables: BTreeMap<CableId, CableState>,
    /// How every planned switch is, by switch id.
    #[serde(rename = "switch_states")]
    pub switches: Vec<SwitchState>,
    /// Planned name and found GUID of every device that was identified and has one, switches first.
    #[serde(skip)]
    pub guids: Vec<(String, u64)>,
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

/// Compares `found` with `plan`, as [`check_cables_by`] where all is due and ports count.
///
/// # Errors
/// As [`check_cables_by`].
pub fn check_cables(
    plan: &Topology,
    guids: Option<&Addresses>,
    found: &Topology,
    floor: Option<&Floor>,
) -> Result<CableCheck, Refusal> {
    check_cables_by(plan, guids, found, floor, How::default())
}

/// Compares `found` with `plan`.
///
/// Devices are matched by GUID (from `guids`, else what `plan` itself carries), the rest by name,
/// and what is left by its cables: unknown hardware most of whose cables sit where those of a
/// missing device should has replaced it. Where GUIDs and names tell of fewer than half of the
/// switches who they are, the plan's graph with its port numbers is laid over the found one.
///
/// A switch most of whose cables are another's stands in its place: that is one finding, and cables
/// are compared place by place. All of `plan` is planned, failed or not; cables and switches that
/// are down in `found` are not there. Faults that another one explains are not listed: a dead
/// switch takes its cables and the endpoints behind it along. With `floor`, labels carry rack and
/// unit. O(cables * log cables); by structure see there.
///
/// # Errors
/// When `guids` belong to another network, or fewer than half of the switches are recognised.
pub fn check_cables_by(
    plan: &Topology,
    guids: Option<&Addresses>,
    found: &Topology,
    floor: Option<&Floor>,
    how: How,
) -> Result<CableCheck, Refusal> {
    let sizes = (plan.switches().len(), plan.endpoints().len());
    if guids.is_some_and(|g| (g.switch_guid.len(), g.node_guid.len()) != sizes) {
        let why = "the addresses belong to another network";
        let help = format!("addresses of {} switches and {} endpoints", sizes.0, sizes.1);
        return Err(Refusal::new("addresses", why, help));
    }
    if how.ignore_ports && how.identify == Identify::Structure {
        let why = "cables alone tell devices by their ports, which are to be ignored";
        return Err(Refusal::new("ignore_ports", why, "identify by guid or name"));
    }
    let ignored = how.ignore_ports;
    let mut check = Check::new(plan, guids, found, floor, how.clone())?.run();
    if !ignored && check.misplaced > 0 && check.identified.by != Identify::Structure {
        let how = How { ignore_ports: true, ..how };
        let other = Check::new(plan, guids, found, floor, how)?.run();
        check.on_other_ports = other.on_other_ports;
    }
    Ok(check)
}

/// Cables by either of their ends.
pub(super) type Cables = BTreeMap<Socket, (Socket, Cable)>;

pub(super) struct Check<'a> {
    pub(super) plan: &'a Topology,
    pub(super) found: &'a Topology,
    pub(super) floor: Option<&'a Floor>,
    pub(super) how: How,
    /// The real ports behind the planned ones, where ports do not matter.
    pub(super) ports: Option<Renumbered>,
    /// Who the switches are.
    pub(super) boxes: Match,
    /// In whose place they stand: where their cables to switches are compared.
    pub(super) places: Pairing,
    /// Where their cables to endpoints are compared.
    pub(super) hosts: Pairing,
    pub(super) endpoints: Match,
    pub(super) rounds: Vec<Round>,
    pub(super) identified: Identified,
}

fn both_ways(ends: impl Iterator<Item = (Socket, Socket, Cable)>) -> Cables {
    ends.flat_map(|(a, b, cable)| [(a, (b, cable)), (b, (a, cable))]).collect()
}

impl Check<'_> {
    pub(super) fn planned_cables(
        &self,
    ) -> impl Iterator<Item = (CableId, Socket, Socket, Cable)> + '_ {
        let t = self.plan;
        let at = |p: fabric::network::Plug| Socket { node: Node::Switch(p.switch), port: p.port };
        let links = t.links().iter().enumerate();
        let links =
            links.map(move |(i, l)| (CableId::Link(LinkId::from(i)), at(l.a), at(l.b), l.cable));
        links.chain(t.terminals().iter().enumerate().map(move |(i, r)| {
            let own = Socket { node: Node::Endpoint(r.endpoint), port: r.rail.saturating_add(1) };
            (CableId::Terminal(TerminalId::from(i)), own, at(r.plug), r.cable)
        }))
    }

    pub(super) fn planned_map(&self) -> Cables {
        both_ways(self.planned_cables().map(|(_, a, b, cable)| (a, b, cable)))
    }

    /// Whether a cable must be laid by now.
    pub(super) fn is_due(&self, id: CableId) -> bool {
        self.how.due.as_ref().is_none_or(|due| due.contains(&id))
    }

    /// Gives ports the numbers under which they do not matter.
    pub(super) fn renumber(&mut self) {
        if self.how.ignore_ports {
            self.ports = Some(renumbered(&self.planned_map(), &self.found_cables()));
        }
    }

    /// The working cables that were found, in terms of the plan.
    pub(super) fn found_cables(&self) -> Cables {
        let t = self.found;
        let endpoint = |e: EndpointId| match self.endpoints.pairs.planned[e.ix()] {
            Some(planned) => Node::Endpoint(EndpointId(planned)),
            None => Node::UnknownEndpoint(e),
        };
        let links = t.links().iter().enumerate();
        let links = links.filter(|(i, _)| t.link_is_up(LinkId::from(*i)));
        let at = |plug| in_plan(&self.places, plug);
        let links = links.map(|(_, l)| (at(l.a), at(l.b), l.cable));
        // a cable with both ends in one switch is one that no plan has
        let loops = t.aside().loops.iter().filter(|[x, _]| t.switches()[x.switch.ix()].up);
        let links = links.chain(loops.map(|[x, y]| (at(*x), at(*y), Cable::default())));
        let rails = t.terminals().iter().enumerate();
        let rails = rails.filter(|(i, _)| t.terminal_is_up(TerminalId::from(*i)));
        both_ways(links.chain(rails.map(|(_, r)| {
            let port = r.rail.saturating_add(1);
            (Socket { node: endpoint(r.endpoint), port }, in_plan(&self.hosts, r.plug), r.cable)
        })))
    }

    /// Whether a device answers; a switch, whether one stands in its place.
    pub(super) fn is_there(&self, node: Node) -> bool {
        match node {
            Node::Switch(s) => self.places.found[s.ix()].is_some(),
            Node::Endpoint(e) => self.endpoints.pairs.found[e.ix()].is_some(),
            Node::UnknownSwitch(_) | Node::UnknownEndpoint(_) => true,
        }
    }

    /// Whether a switch is there to which the endpoints of switch `s` can be plugged.
    pub(super) fn serves(&self, node: Node) -> bool {
        match node {
            Node::Switch(s) => self.hosts.found[s.ix()].is_some(),
            other => self.is_there(other),
        }
    }

    /// Whether the devices at both ends of a planned cable answer.
    fn can_be(&self, id: CableId, a: Node, b: Node) -> bool {
        match id {
            CableId::Link(_) => self.is_there(a) && self.is_there(b),
            CableId::Terminal(_) => self.serves(a) && self.serves(b),
        }
    }

    fn run(&self) -> CableCheck {
        let (planned, found) = (self.planned_map(), self.found_cables());
        let found = self.ports.as_ref().map_or_else(|| found.clone(), |p| p.apply(&found));
        let mut findings = Vec::new();
        let reached = self.reached();
        self.report_devices(&reached, &mut findings);
        self.report_moved(&mut findings);
        let mut cables = BTreeMap::new();
        let (mut absent, mut slow) = (BTreeMap::new(), Vec::new());
        let mut later = BTreeMap::new();
        for (id, a, b, cable) in self.planned_cables() {
            let state = match found.get(&a) {
                Some(&(at, is)) if at == b => {
                    if is.speed >= cable.speed && is.width >= cable.width {
                        CableState::Correct
                    } else {
                        slow.push((a.min(b), a.max(b), cable, is));
                        CableState::Degraded
                    }
                }
                _ if !self.can_be(id, a.node, b.node) => {
                    if self.is_due(id) {
                        CableState::Lost
                    } else {
                        CableState::Unlaid
                    }
                }
                other => {
                    absent.extend([(a, b), (b, a)]);
                    let taken = other.is_some() || found.contains_key(&b);
                    if !self.is_due(id) {
                        later.extend([(a, id), (b, id)]);
                        CableState::Unlaid
                    } else if taken {
                        CableState::Wrong
                    } else {
                        CableState::Missing
                    }
                }
            };
            cables.insert(id, state);
        }
        slow.sort_by_key(|(a, b, ..)| (*a, *b));
        let strange: BTreeMap<Socket, Socket> = found
            .iter()
            .filter(|(a, (b, _))| planned.get(a).is_none_or(|(p, _)| p != b))
            .map(|(&a, &(b, _))| (a, b))
            .collect();
        let list = differences(absent, strange.clone(), &later, |a, b| self.apart(a, b));
        let list = without_unlaid(list, &later, &mut cables);
        let switches = self.switch_states(&cables, &strange, &reached);
        let mut faults: Vec<Finding> = list.into_iter().map(|d| self.difference(d)).collect();
        faults.sort_by_key(|f| f.fault);
        findings.append(&mut faults);
        findings.extend(slow.into_iter().map(|cable| self.slow(cable)));
        self.counted(cables, switches, findings)
    }

    fn counted(
        &self,
        cables: BTreeMap<CableId, CableState>,
        switches: Vec<SwitchState>,
        findings: Vec<Finding>,
    ) -> CableCheck {
        let count = |which: &[CableState]| {
            cables.values().filter(|state| which.contains(state)).count() as u64
        };
        CableCheck {
            planned: cables.len() as u64,
            correct: count(&[CableState::Correct]),
            degraded: count(&[CableState::Degraded]),
            misplaced: count(&[CableState::Wrong]),
            lost: count(&[CableState::Missing, CableState::Lost]),
            missing: count(&[CableState::Missing]),
            unlaid: count(&[CableState::Unlaid]),
            on_other_ports: self.ports.as_ref().map_or(0, |ports| ports.elsewhere),
            findings,
            identified: self.identified,
            switches,
            guids: self.guids(),
            cables,
        }
    }

    fn switch_states(
        &self,
        cables: &BTreeMap<CableId, CableState>,
        strange: &BTreeMap<Socket, Socket>,
        reached: &BTreeMap<Node, Wanted>,
    ) -> Vec<SwitchState> {
        let mut states = vec![SwitchState::Correct; self.plan.switches().len()];
        let mut worst = |node: Node, state: SwitchState| {
            if let Node::Switch(s) = node {
                states[s.ix()] = states[s.ix()].max(state);
            }
        };
        for (id, a, b, _) in self.planned_cables() {
            let state = match cables[&id] {
                CableState::Degraded => SwitchState::Degraded,
                CableState::Wrong | CableState::Missing => SwitchState::Wrong,
                CableState::Unlaid => SwitchState::Unlaid,
                CableState::Correct | CableState::Lost => continue,
            };
            worst(a.node, state);
            worst(b.node, state);
        }
        for socket in strange.keys() {
            worst(socket.node, SwitchState::Wrong);
        }
        for s in (0..self.plan.switches().len()).map(SwitchId::from) {
            let (place, own) = (self.places.found[s.ix()], self.boxes.pairs.found[s.ix()]);
            match (place, own) {
                (None, _) | (_, None) => {
                    let no = self.wanted(reached, Node::Switch(s)) == Wanted::No;
                    let state = if no { SwitchState::Unlaid } else { SwitchState::Missing };
                    worst(Node::Switch(s), state);
                }
                (Some(place), Some(own)) if place != own => {
                    worst(Node::Switch(s), SwitchState::Moved);
                }
                _ if self.boxes.replaced.contains(&s.0) => {
                    worst(Node::Switch(s), SwitchState::Replaced);
                }
                _ => {}
            }
        }
        states
    }

    fn guids(&self) -> Vec<(String, u64)> {
        let switches = self.plan.switches().iter().zip(&self.boxes.pairs.found);
        let switches = switches.filter_map(|(s, f)| {
            Some((s.name.clone(), self.found.switches()[(*f)? as usize].guid?))
        });
        let endpoints = self.plan.endpoints().iter().zip(&self.endpoints.pairs.found);
        let endpoints = endpoints.filter_map(|(e, f)| {
            Some((e.name.clone(), self.found.endpoints()[(*f)? as usize].guid?))
        });
        switches.chain(endpoints).collect()
    }
}

/// What is left of `list` where cables that are not due are not missed. Those of them whose plugs
/// are in wrong ports are wrong all the same.
fn without_unlaid(
    list: Vec<Difference>,
    later: &BTreeMap<Socket, CableId>,
    cables: &mut BTreeMap<CableId, CableState>,
) -> Vec<Difference> {
    let mut wrong = |ends: &[Socket; 2]| {
        if let Some(id) = later.get(&ends[0]) {
            cables.insert(*id, CableState::Wrong);
        }
    };
    let mut left = Vec::with_capacity(list.len());
    for difference in list {
        match &difference {
            Difference::Missing(ends) if later.contains_key(&ends[0]) => continue,
            Difference::Wrong { planned, .. } => wrong(planned),
            Difference::Swapped { planned, .. } => planned.iter().for_each(&mut wrong),
            Difference::Missing(_) | Difference::Extra(_) => {}
        }
        left.push(difference);
    }
    left
}
