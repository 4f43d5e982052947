//! The text of a cable check: what is wrong and what to do, with the labels that people read.

use super::comparison::PlanAndFoundFabric;
use super::devices::{DeviceMatching, DevicePort, MatchedDevice};
use super::due::DeviceAnswerExpectation;
use super::lines::counted;
use super::outcome::{CablingFaultKind, CablingFinding};
use super::places::SwappedSwitchCycle;
use super::repairs::{CableDifference, CableRepairInstruction, CableRepairStep, NamedPort};
use base::{EndpointId, SwitchId};
use fabric::network::Cable;
use std::collections::BTreeMap;

impl PlanAndFoundFabric<'_> {
    pub(super) fn report_devices(
        &self,
        reached: &BTreeMap<MatchedDevice, DeviceAnswerExpectation>,
        findings: &mut Vec<CablingFinding>,
    ) {
        let mut peers: BTreeMap<MatchedDevice, Vec<DevicePort>> = BTreeMap::new();
        for (id, a, b, _) in self.planned_cables() {
            if self.is_due(id) {
                peers.entry(a.node).or_default().push(b);
                peers.entry(b.node).or_default().push(a);
            }
        }
        for row in peers.values_mut() {
            row.sort_unstable();
        }
        let peers = |node: MatchedDevice| peers.get(&node).map_or(&[][..], Vec::as_slice);
        // an endpoint all of whose switches are dead cannot answer
        let cut_off = |node: MatchedDevice| {
            !peers(node).is_empty() && peers(node).iter().all(|peer| !self.serves(peer.node))
        };
        let silent = self.silent(reached);
        for &(node, _) in
            silent.iter().filter(|(_, wanted)| *wanted == DeviceAnswerExpectation::Yes)
        {
            match node {
                MatchedDevice::Switch(s) => findings.push(self.dead_switch(s, &peers, &cut_off)),
                node if cut_off(node) => {}
                node => findings.push(self.dead_endpoint(node, peers(node))),
            }
        }
        self.report_out_of_reach(&silent, findings);
        for (what, node, other) in self.replaced() {
            let place = self.planned_place(node);
            let line = format!("{what} {place} is now {other}: put it back, or plan with this one");
            let what = format!("{what} {place} was replaced: {other} is in its place");
            let repair = "put it back, or plan with the new GUID";
            findings.push(device(
                CablingFaultKind::Replaced,
                place,
                [what, repair.to_owned(), line],
            ));
        }
        self.report_unknown(findings);
    }

    fn dead_switch<'s>(
        &self,
        s: SwitchId,
        peers: &impl Fn(MatchedDevice) -> &'s [DevicePort],
        cut_off: &impl Fn(MatchedDevice) -> bool,
    ) -> CablingFinding {
        let node = MatchedDevice::Switch(s);
        let links = peers(MatchedDevice::Switch(self.empty_place(s)));
        let links =
            links.iter().filter(|peer| matches!(peer.node, MatchedDevice::Switch(_))).count();
        let hosts =
            if self.serves(node) { MatchedDevice::Switch(self.empty_place(s)) } else { node };
        let hosts =
            peers(hosts).iter().filter(|peer| matches!(peer.node, MatchedDevice::Endpoint(_)));
        let behind = |s: &&DevicePort| !self.is_there(s.node) && cut_off(s.node);
        let (cables, endpoints) = (links + hosts.clone().count(), hosts.filter(behind).count());
        let along = format!("{cables} cables and {endpoints} endpoints go with it");
        let what = format!("switch {} does not answer: {along}", self.place(node));
        let repair = "check its power and its cables".to_owned();
        let line = self.switch_line(node, cables, endpoints);
        device(CablingFaultKind::MissingSwitch, self.place(node), [what, repair, line])
    }

    fn dead_endpoint(&self, node: MatchedDevice, plugs: &[DevicePort]) -> CablingFinding {
        let to: Vec<String> = plugs.iter().map(|&s| self.label(s)).collect();
        let what = format!("endpoint {} does not answer", self.place(node));
        let repair = match to.as_slice() {
            [] => "check its power".to_owned(),
            _ => format!("check its power and its cable to {}", to.join(", ")),
        };
        let line = self.endpoint_line(node, plugs);
        device(CablingFaultKind::MissingEndpoint, self.place(node), [what, repair, line])
    }

    /// Reports, as one finding, the devices that should answer but that no due cable joins to a
    /// device that answers.
    fn report_out_of_reach(
        &self,
        silent: &[(MatchedDevice, DeviceAnswerExpectation)],
        findings: &mut Vec<CablingFinding>,
    ) {
        let away =
            silent.iter().filter(|(_, wanted)| *wanted == DeviceAnswerExpectation::OutOfReach);
        let away: Vec<MatchedDevice> = away.map(|(node, _)| *node).collect();
        let Some(first) = away.first() else { return };
        let switches = away.iter().filter(|n| matches!(n, MatchedDevice::Switch(_))).count();
        let switches = counted(switches, "switch", "switches");
        let endpoints = away.iter().filter(|n| matches!(n, MatchedDevice::Endpoint(_))).count();
        let who = format!("{switches} and {}", counted(endpoints, "endpoint", "endpoints"));
        let what = format!("{who} are out of reach: no cable that is due leads there from here");
        let repair = "look from there as well, and give all discoveries in one file".to_owned();
        let line = format!("{who} are out of reach: {repair}");
        findings.push(device(
            CablingFaultKind::OutOfReach,
            self.place(*first),
            [what, repair, line],
        ));
    }

    /// The empty place for a missing switch: its own, or, where another switch stands there, the
    /// place that is empty at the start of that chain of moved switches.
    fn empty_place(&self, missing: SwitchId) -> SwitchId {
        let of =
            |round: &&SwappedSwitchCycle| round.open && round.switches.last() == Some(&missing.0);
        self.rounds.iter().find(of).map_or(missing, |round| SwitchId(round.switches[0]))
    }

    pub(super) fn report_moved(&self, findings: &mut Vec<CablingFinding>) {
        for round in &self.rounds {
            let name = |s: &u32| self.fabric_name(MatchedDevice::Switch(SwitchId(*s)));
            let places: Vec<String> = round
                .switches
                .iter()
                .map(|s| self.place(MatchedDevice::Switch(SwitchId(*s))))
                .collect();
            let along = if round.with_endpoints { " together with their endpoints" } else { "" };
            let last = round.switches.len() - 1;
            let (here, pivot) = (&round.switches[..last], round.switches[last]);
            let next = |i: usize| &round.switches[(i + 1) % round.switches.len()];
            let mut who: Vec<String> = (0..round.switches.len() - usize::from(round.open))
                .map(|i| format!("{} in that of {}", name(&round.switches[i]), name(next(i))))
                .collect();
            let what = match (round.open, last) {
                (true, 1) => {
                    let (own, other) = (&places[0], &places[1]);
                    format!("switch {own} stands in the place of {other}, which does not answer")
                }
                (false, 1) => {
                    format!("switches {} stand in each other's places", places.join(" and "))
                }
                _ => {
                    let end = who.pop().unwrap_or_default();
                    let who = format!("{} and {end}", who.join(", "));
                    let named = places[..round.switches.len() - usize::from(round.open)].join(", ");
                    format!("switches {named} stand in others' places: {who}")
                }
            };
            let repair = match (round.open, last) {
                (true, _) => {
                    let own: Vec<String> = here.iter().map(name).collect();
                    let along = along.replace("their", "its");
                    format!("move to its own place{along} {}", own.join(", then "))
                }
                (false, 1) => {
                    format!("exchange them{along}, or swap their names in the plan")
                }
                _ => {
                    let pair = |s: &u32| format!("{} and {}", name(s), name(&pivot));
                    let pairs: Vec<String> = here.iter().map(pair).collect();
                    let pairs = pairs.join(", then ");
                    format!("exchange {pairs}{along}, or give them these names in the plan")
                }
            };
            let exchange = |a: &u32| CableRepairStep::Exchange {
                a: SwitchId(*a),
                b: SwitchId(pivot),
                with_endpoints: round.with_endpoints,
            };
            let moves: Vec<CableRepairStep> = here.iter().map(exchange).collect();
            let words = [what, repair, self.moved_line(round)];
            let mut finding = device(CablingFaultKind::MovedSwitch, places.join(", "), words);
            finding.instructions = moves.iter().map(|m| self.instruction(*m)).collect();
            finding.table = self.table(&moves);
            finding.moves = moves;
            findings.push(finding);
        }
    }

    fn instruction(&self, step: CableRepairStep) -> CableRepairInstruction {
        let port = |s: DevicePort| NamedPort { device: self.name(s.node), port: self.real(s).port };
        match step {
            CableRepairStep::Add(a, b) => CableRepairInstruction::Add { ports: [port(a), port(b)] },
            CableRepairStep::Remove(a, b) => {
                CableRepairInstruction::Remove { ports: [port(a), port(b)] }
            }
            CableRepairStep::Plug(a, b) => {
                CableRepairInstruction::Plug { ports: [port(a), port(b)] }
            }
            CableRepairStep::Swap(a, b) => {
                CableRepairInstruction::Swap { ports: [port(a), port(b)] }
            }
            CableRepairStep::Exchange { a, b, with_endpoints } => {
                let devices = [a, b].map(|s| self.name(MatchedDevice::Switch(s)));
                CableRepairInstruction::Exchange { devices, with_endpoints }
            }
        }
    }

    /// The same move with the real ports in place of those that stand for them.
    fn real_move(&self, step: CableRepairStep) -> CableRepairStep {
        let r = |s: DevicePort| self.real(s);
        match step {
            CableRepairStep::Add(a, b) => CableRepairStep::Add(r(a), r(b)),
            CableRepairStep::Remove(a, b) => CableRepairStep::Remove(r(a), r(b)),
            CableRepairStep::Plug(a, b) => CableRepairStep::Plug(r(a), r(b)),
            CableRepairStep::Swap(a, b) => CableRepairStep::Swap(r(a), r(b)),
            CableRepairStep::Exchange { .. } => step,
        }
    }

    fn replaced(&self) -> impl Iterator<Item = (&'static str, MatchedDevice, String)> + '_ {
        let card = |name: &str, guid: Option<u64>| match guid {
            Some(guid) => format!("{name} with GUID 0x{guid:016x}"),
            None => name.to_owned(),
        };
        let switches = self.boxes.replaced.iter().filter_map(move |&p| {
            let f = &self.found.switches()[self.boxes.pairs.found[p as usize]? as usize];
            Some(("switch", MatchedDevice::Switch(SwitchId(p)), card(&f.name, f.guid)))
        });
        let endpoints = self.endpoints.replaced.iter().filter_map(move |&p| {
            let f = &self.found.endpoints()[self.endpoints.pairs.found[p as usize]? as usize];
            Some(("endpoint", MatchedDevice::Endpoint(EndpointId(p)), card(&f.name, f.guid)))
        });
        switches.chain(endpoints)
    }

    fn report_unknown(&self, findings: &mut Vec<CablingFinding>) {
        let unknown = |m: &DeviceMatching, f: usize| m.pairs.planned[f].is_none() && !m.down[f];
        let mut report = |what: &str, name: &str, guid: Option<u64>| {
            let guid = guid.map_or(String::new(), |g| format!(" (GUID 0x{g:016x})"));
            let what = format!("{what} {name}{guid} is not in the plan");
            let repair = "remove it, or plan for it".to_owned();
            let line = format!("{what}: {repair}");
            findings.push(device(CablingFaultKind::Unknown, name.to_owned(), [what, repair, line]));
        };
        for (f, s) in self.found.switches().iter().enumerate() {
            if unknown(&self.boxes, f) {
                report("switch", &s.name, s.guid);
            }
        }
        for (f, e) in self.found.endpoints().iter().enumerate() {
            if unknown(&self.endpoints, f) {
                report("endpoint", &e.name, e.guid);
            }
        }
    }

    fn labels(&self, cables: &[[DevicePort; 2]]) -> Vec<[String; 2]> {
        cables.iter().map(|c| c.map(|s| self.label(s))).collect()
    }

    pub(super) fn slow(
        &self,
        (a, b, planned, found): (DevicePort, DevicePort, Cable, Cable),
    ) -> CablingFinding {
        let rate = |c: Cable| format!("{}x {}", c.width, c.speed);
        let (x, y) = (self.label(a), self.label(b));
        let (is, should) = (rate(found), rate(planned));
        let what = format!("cable {x} - {y} runs at {is} instead of {should}");
        let repair = "reseat or replace the cable".to_owned();
        let line = self.slow_line([a, b], planned, found);
        self.cables(
            CablingFaultKind::Degraded,
            [what, repair, line],
            [&[[a, b]], &[[a, b]]],
            Vec::new(),
        )
    }

    pub(super) fn difference(&self, difference: CableDifference) -> CablingFinding {
        let l = |s: DevicePort| self.label(s);
        let line = self.difference_line(&difference);
        match difference {
            CableDifference::Missing([a, b]) => {
                let what = format!("cable {} - {} is missing", l(a), l(b));
                let repair = "plug it in or replace it".to_owned();
                self.cables(
                    CablingFaultKind::Missing,
                    [what, repair, line],
                    [&[[a, b]], &[]],
                    vec![CableRepairStep::Add(a, b)],
                )
            }
            CableDifference::Extra([a, b]) => {
                let what = format!("cable {} - {} is not in the plan", l(a), l(b));
                let repair = "remove it".to_owned();
                self.cables(
                    CablingFaultKind::Extra,
                    [what, repair, line],
                    [&[], &[[a, b]]],
                    vec![CableRepairStep::Remove(a, b)],
                )
            }
            CableDifference::Wrong { planned: [to, stays], found: [_, from] } => {
                let what = format!("{} leads to {} instead of {}", l(stays), l(from), l(to));
                let repair = format!("move the plug in {} to {}", l(from), l(to));
                let cables: [&[[DevicePort; 2]]; 2] = [&[[to, stays]], &[[stays, from]]];
                self.cables(
                    CablingFaultKind::Wrong,
                    [what, repair, line],
                    cables,
                    vec![CableRepairStep::Plug(from, to)],
                )
            }
            CableDifference::Swapped { planned, found, swaps } => {
                let cable = |[a, b]: &[DevicePort; 2]| format!("{} - {}", l(*a), l(*b));
                let join = |cables: &[[DevicePort; 2]]| {
                    cables.iter().map(cable).collect::<Vec<_>>().join(" and ")
                };
                let swap = |(a, b): &(DevicePort, DevicePort)| format!("{} and {}", l(*a), l(*b));
                let repair: Vec<String> = swaps.iter().map(swap).collect();
                let (should, is) = (join(&planned), join(&found));
                let what = format!("cables {should} are swapped: {is} were found");
                let repair = format!("swap the plugs in {}", repair.join(", then in "));
                let moves = swaps.into_iter().map(|(a, b)| CableRepairStep::Swap(a, b)).collect();
                self.cables(
                    CablingFaultKind::Swapped,
                    [what, repair, line],
                    [&planned, &found],
                    moves,
                )
            }
        }
    }

    /// A finding about cables: those planned and those found instead.
    fn cables(
        &self,
        fault: CablingFaultKind,
        [what, repair, line]: [String; 3],
        [planned, found]: [&[[DevicePort; 2]]; 2],
        moves: Vec<CableRepairStep>,
    ) -> CablingFinding {
        let mut ports: Vec<String> = Vec::new();
        for label in planned.iter().chain(found).flatten().map(|s| self.label(*s)) {
            if !ports.contains(&label) {
                ports.push(label);
            }
        }
        CablingFinding {
            fault,
            place: ports.join(", "),
            what,
            repair,
            line,
            table: self.table(&moves),
            planned: self.labels(planned),
            found: self.labels(found),
            instructions: moves.iter().map(|m| self.instruction(*m)).collect(),
            moves: moves.into_iter().map(|m| self.real_move(m)).collect(),
        }
    }
}

fn device(
    fault: CablingFaultKind,
    place: String,
    [what, repair, line]: [String; 3],
) -> CablingFinding {
    CablingFinding {
        fault,
        place,
        what,
        repair,
        line,
        table: Vec::new(),
        planned: Vec::new(),
        found: Vec::new(),
        moves: Vec::new(),
        instructions: Vec::new(),
    }
}
