//! Whether the cables that were found are the planned ones; if not, what to do, fault by fault.

use super::cable::CableId;
use super::comparison::PlanAndFoundFabric;
use super::devices::{DeviceIdentificationProperty, DevicePort, MatchedDevice};
use super::due::DeviceAnswerExpectation;
use super::floor::RackFloor;
use super::outcome::{
    CableCheckOptions, CableCheckResult, CablingFinding, PlannedCableState, PlannedSwitchState,
};
use super::repairs::{CableDifference, differences};
use base::{Refusal, SwitchId};
use fabric::addresses::PortAddresses;
use fabric::network::Topology;
use std::collections::BTreeMap;

/// Compares `found` with `plan` as [`check_cables_by`] does where every planned cable is due and
/// must be in its planned ports.
///
/// # Errors
/// As [`check_cables_by`].
pub fn check_cables(
    plan: &Topology,
    guids: Option<&PortAddresses>,
    found: &Topology,
    floor: Option<&RackFloor>,
) -> Result<CableCheckResult, Refusal> {
    check_cables_by(plan, guids, found, floor, CableCheckOptions::default())
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
    guids: Option<&PortAddresses>,
    found: &Topology,
    floor: Option<&RackFloor>,
    how: CableCheckOptions,
) -> Result<CableCheckResult, Refusal> {
    let sizes = (plan.switches().len(), plan.endpoints().len());
    if guids.is_some_and(|g| (g.switch_guid.len(), g.node_guid.len()) != sizes) {
        let why = "the addresses belong to another network";
        let help = format!("addresses of {} switches and {} endpoints", sizes.0, sizes.1);
        return Err(Refusal::new("addresses", why, help));
    }
    if how.ignore_ports && how.identify == DeviceIdentificationProperty::Structure {
        let why = "cables alone tell devices by their ports, which are to be ignored";
        return Err(Refusal::new("ignore_ports", why, "identify by guid or name"));
    }
    let ignored = how.ignore_ports;
    let mut check = PlanAndFoundFabric::new(plan, guids, found, floor, how.clone())?.run();
    if !ignored
        && check.misplaced > 0
        && check.identified.by != DeviceIdentificationProperty::Structure
    {
        let how = CableCheckOptions { ignore_ports: true, ..how };
        let other = PlanAndFoundFabric::new(plan, guids, found, floor, how)?.run();
        check.on_other_ports = other.on_other_ports;
    }
    Ok(check)
}

impl PlanAndFoundFabric<'_> {
    fn run(&self) -> CableCheckResult {
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
                        PlannedCableState::Correct
                    } else {
                        slow.push((a.min(b), a.max(b), cable, is));
                        PlannedCableState::Degraded
                    }
                }
                _ if !self.can_be(id, a.node, b.node) => {
                    if self.is_due(id) {
                        PlannedCableState::Lost
                    } else {
                        PlannedCableState::Unlaid
                    }
                }
                other => {
                    absent.extend([(a, b), (b, a)]);
                    let taken = other.is_some() || found.contains_key(&b);
                    if !self.is_due(id) {
                        later.extend([(a, id), (b, id)]);
                        PlannedCableState::Unlaid
                    } else if taken {
                        PlannedCableState::Wrong
                    } else {
                        PlannedCableState::Missing
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
        cables: BTreeMap<CableId, PlannedCableState>,
        switches: Vec<PlannedSwitchState>,
        findings: Vec<CablingFinding>,
    ) -> CableCheckResult {
        let count = |which: &[PlannedCableState]| {
            cables.values().filter(|state| which.contains(state)).count() as u64
        };
        CableCheckResult {
            planned: cables.len() as u64,
            correct: count(&[PlannedCableState::Correct]),
            degraded: count(&[PlannedCableState::Degraded]),
            misplaced: count(&[PlannedCableState::Wrong]),
            lost: count(&[PlannedCableState::Missing, PlannedCableState::Lost]),
            missing: count(&[PlannedCableState::Missing]),
            unlaid: count(&[PlannedCableState::Unlaid]),
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
        cables: &BTreeMap<CableId, PlannedCableState>,
        strange: &BTreeMap<DevicePort, DevicePort>,
        reached: &BTreeMap<MatchedDevice, DeviceAnswerExpectation>,
    ) -> Vec<PlannedSwitchState> {
        let mut states = vec![PlannedSwitchState::Correct; self.plan.switches().len()];
        let mut worst = |node: MatchedDevice, state: PlannedSwitchState| {
            if let MatchedDevice::Switch(s) = node {
                states[s.ix()] = states[s.ix()].max(state);
            }
        };
        for (id, a, b, _) in self.planned_cables() {
            let state = match cables[&id] {
                PlannedCableState::Degraded => PlannedSwitchState::Degraded,
                PlannedCableState::Wrong | PlannedCableState::Missing => PlannedSwitchState::Wrong,
                PlannedCableState::Unlaid => PlannedSwitchState::Unlaid,
                PlannedCableState::Correct | PlannedCableState::Lost => continue,
            };
            worst(a.node, state);
            worst(b.node, state);
        }
        for socket in strange.keys() {
            worst(socket.node, PlannedSwitchState::Wrong);
        }
        for s in (0..self.plan.switches().len()).map(SwitchId::from) {
            let (place, own) = (self.places.found[s.ix()], self.boxes.pairs.found[s.ix()]);
            match (place, own) {
                (None, _) | (_, None) => {
                    let no = self.wanted(reached, MatchedDevice::Switch(s))
                        == DeviceAnswerExpectation::No;
                    let state =
                        if no { PlannedSwitchState::Unlaid } else { PlannedSwitchState::Missing };
                    worst(MatchedDevice::Switch(s), state);
                }
                (Some(place), Some(own)) if place != own => {
                    worst(MatchedDevice::Switch(s), PlannedSwitchState::Moved);
                }
                _ if self.boxes.replaced.contains(&s.0) => {
                    worst(MatchedDevice::Switch(s), PlannedSwitchState::Replaced);
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
    cables: &mut BTreeMap<CableId, PlannedCableState>,
) -> Vec<CableDifference> {
    let mut wrong = |ends: &[DevicePort; 2]| {
        if let Some(id) = later.get(&ends[0]) {
            cables.insert(*id, PlannedCableState::Wrong);
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
