//! Whether the cables that were found are the planned ones; if not, what to do, fault by fault.

use super::cable::CableId;
use super::comparison::FabricComparison;
use super::devices::{DevicePort, IdentifyBy, MatchedDevice};
use super::due::AnswerExpectation;
use super::floor::Floor;
use super::outcome::{CableCheck, CableState, CablingFinding, ComparisonOptions, SwitchState};
use super::repairs::{CableDifference, differences};
use base::{Refusal, SwitchId};
use fabric::addresses::Addresses;
use fabric::network::Topology;
use std::collections::BTreeMap;

/// Compares `found` with `plan` as [`check_cables_by`] does where every planned cable is due and
/// must be in its planned ports.
///
/// # Errors
/// As [`check_cables_by`].
pub fn check_cables(
    plan: &Topology,
    guids: Option<&Addresses>,
    found: &Topology,
    floor: Option<&Floor>,
) -> Result<CableCheck, Refusal> {
    check_cables_by(plan, guids, found, floor, ComparisonOptions::default())
}

/// Compares `found` with `plan`.
///
/// Devices are matched by GUID (from `guids`, else those that `plan` itself carries), the rest by
/// name, and what is left by its cables: an unknown device most of whose cables sit where those of
/// a missing device should has replaced it. Where GUIDs and names identify fewer than half of the
/// switches, the planned graph with its port numbers is matched with the found one instead.
///
/// A switch most of whose cables are those of another planned switch stands in the place of that
/// one. This is one finding, and cables are compared as the switches stand. Every cable of `plan`
/// is expected, failed or not; cables and switches that are down in `found` count as absent. A
/// fault that another one explains is not listed: the cables of a dead switch, and the endpoints
/// that it alone serves. With `floor`, labels carry rack and unit. O(cables * log cables), and the
/// cost of `by_structure` where graphs are matched.
///
/// # Errors
/// When `guids` belong to another network, or fewer than half of the switches are recognised.
pub fn check_cables_by(
    plan: &Topology,
    guids: Option<&Addresses>,
    found: &Topology,
    floor: Option<&Floor>,
    how: ComparisonOptions,
) -> Result<CableCheck, Refusal> {
    let sizes = (plan.switches().len(), plan.endpoints().len());
    if guids.is_some_and(|g| (g.switch_guid.len(), g.node_guid.len()) != sizes) {
        let why = "the addresses belong to another network";
        let help = format!("addresses of {} switches and {} endpoints", sizes.0, sizes.1);
        return Err(Refusal::new("addresses", why, help));
    }
    if how.ignore_ports && how.identify == IdentifyBy::Structure {
        let why = "cables alone tell devices by their ports, which are to be ignored";
        return Err(Refusal::new("ignore_ports", why, "identify by guid or name"));
    }
    let ignored = how.ignore_ports;
    let mut check = FabricComparison::new(plan, guids, found, floor, how.clone())?.run();
    if !ignored && check.misplaced > 0 && check.identified.by != IdentifyBy::Structure {
        let how = ComparisonOptions { ignore_ports: true, ..how };
        let other = FabricComparison::new(plan, guids, found, floor, how)?.run();
        check.on_other_ports = other.on_other_ports;
    }
    Ok(check)
}

impl FabricComparison<'_> {
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
        let strange: BTreeMap<DevicePort, DevicePort> = found
            .iter()
            .filter(|(a, (b, _))| planned.get(a).is_none_or(|(p, _)| p != b))
            .map(|(&a, &(b, _))| (a, b))
            .collect();
        let list = differences(absent, strange.clone(), &later, |a, b| self.apart(a, b));
        let list = without_unlaid(list, &later, &mut cables);
        let switches = self.switch_states(&cables, &strange, &reached);
        let mut faults: Vec<CablingFinding> =
            list.into_iter().map(|d| self.difference(d)).collect();
        faults.sort_by_key(|f| f.fault);
        findings.append(&mut faults);
        findings.extend(slow.into_iter().map(|cable| self.slow(cable)));
        self.counted(cables, switches, findings)
    }

    fn counted(
        &self,
        cables: BTreeMap<CableId, CableState>,
        switches: Vec<SwitchState>,
        findings: Vec<CablingFinding>,
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
        strange: &BTreeMap<DevicePort, DevicePort>,
        reached: &BTreeMap<MatchedDevice, AnswerExpectation>,
    ) -> Vec<SwitchState> {
        let mut states = vec![SwitchState::Correct; self.plan.switches().len()];
        let mut worst = |node: MatchedDevice, state: SwitchState| {
            if let MatchedDevice::Switch(s) = node {
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
                    let no =
                        self.wanted(reached, MatchedDevice::Switch(s)) == AnswerExpectation::No;
                    let state = if no { SwitchState::Unlaid } else { SwitchState::Missing };
                    worst(MatchedDevice::Switch(s), state);
                }
                (Some(place), Some(own)) if place != own => {
                    worst(MatchedDevice::Switch(s), SwitchState::Moved);
                }
                _ if self.boxes.replaced.contains(&s.0) => {
                    worst(MatchedDevice::Switch(s), SwitchState::Replaced);
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

/// The differences of `list` without the missing cables that are not due. A cable that is not due
/// but has a plug in a wrong port stays in the list.
fn without_unlaid(
    list: Vec<CableDifference>,
    later: &BTreeMap<DevicePort, CableId>,
    cables: &mut BTreeMap<CableId, CableState>,
) -> Vec<CableDifference> {
    let mut wrong = |ends: &[DevicePort; 2]| {
        if let Some(id) = later.get(&ends[0]) {
            cables.insert(*id, CableState::Wrong);
        }
    };
    let mut left = Vec::with_capacity(list.len());
    for difference in list {
        match &difference {
            CableDifference::Missing(ends) if later.contains_key(&ends[0]) => continue,
            CableDifference::Wrong { planned, .. } => wrong(planned),
            CableDifference::Swapped { planned, .. } => planned.iter().for_each(&mut wrong),
            CableDifference::Missing(_) | CableDifference::Extra(_) => {}
        }
        left.push(difference);
    }
    left
}
