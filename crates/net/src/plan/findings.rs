//! The words of a cable check: what is wrong and what to do, with the labels of a human being.

use super::Device;
use super::check::{Cables, Check, Fault, Finding};
use super::devices::{Match, Node, Socket};
use super::mend::{Difference, Move};
use crate::network::Cable;
use base::{EndpointId, SwitchId};
use std::collections::BTreeMap;

impl Check<'_> {
    /// 0 for ports of one device, 1 for those of one rack, 2 for others.
    pub(super) fn apart(&self, a: Socket, b: Socket) -> u32 {
        let seat = |s: Socket| Some(self.floor?.seat(planned_device(s.node)?)?.rack);
        match (seat(a), seat(b)) {
            _ if a.node == b.node => 0,
            (Some(x), Some(y)) if x == y => 1,
            _ => 2,
        }
    }

    pub(super) fn report_devices(&self, planned: &Cables, findings: &mut Vec<Finding>) {
        let mut peers: BTreeMap<Node, Vec<Socket>> = BTreeMap::new();
        for (own, (other, _)) in planned {
            peers.entry(own.node).or_default().push(*other);
        }
        let peers = |node: Node| peers.get(&node).map_or(&[][..], Vec::as_slice);
        // an endpoint all of whose switches are dead cannot answer
        let cut_off = |node: Node| {
            !peers(node).is_empty() && peers(node).iter().all(|peer| !self.is_there(peer.node))
        };
        for node in (0..self.plan.switches().len()).map(|s| Node::Switch(SwitchId::from(s))) {
            if self.is_there(node) {
                continue;
            }
            let behind = |e: Node| matches!(e, Node::Endpoint(_)) && !self.is_there(e);
            let behind = |s: &&Socket| behind(s.node) && cut_off(s.node);
            let (cables, endpoints) =
                (peers(node).len(), peers(node).iter().filter(behind).count());
            let along = format!("{cables} cables and {endpoints} endpoints go with it");
            let what = format!("switch {} does not answer: {along}", self.place(node));
            findings.push(device(Fault::MissingSwitch, what, "check its power and its cables"));
        }
        for node in (0..self.plan.endpoints().len()).map(|e| Node::Endpoint(EndpointId::from(e))) {
            if self.is_there(node) || cut_off(node) {
                continue;
            }
            let plugs: Vec<String> = peers(node).iter().map(|&s| self.label(s)).collect();
            let what = format!("endpoint {} does not answer", self.place(node));
            let mend = match plugs.as_slice() {
                [] => "check its power".to_owned(),
                _ => format!("check its power and its cable to {}", plugs.join(", ")),
            };
            findings.push(device(Fault::MissingEndpoint, what, &mend));
        }
        for (what, node, other) in self.replaced() {
            let what = format!("{what} {} was replaced: {other} is in its place", self.place(node));
            findings.push(device(Fault::Replaced, what, "put it back, or plan with the new GUID"));
        }
        self.report_unknown(findings);
    }

    fn replaced(&self) -> impl Iterator<Item = (&'static str, Node, String)> + '_ {
        let card = |name: &str, guid: Option<u64>| match guid {
            Some(guid) => format!("{name} with GUID 0x{guid:016x}"),
            None => name.to_owned(),
        };
        let switches = self.switches.replaced.iter().filter_map(move |&p| {
            let f = &self.found.switches()[self.switches.found[p as usize]? as usize];
            Some(("switch", Node::Switch(SwitchId(p)), card(&f.name, f.guid)))
        });
        let endpoints = self.endpoints.replaced.iter().filter_map(move |&p| {
            let f = &self.found.endpoints()[self.endpoints.found[p as usize]? as usize];
            Some(("endpoint", Node::Endpoint(EndpointId(p)), card(&f.name, f.guid)))
        });
        switches.chain(endpoints)
    }

    fn report_unknown(&self, findings: &mut Vec<Finding>) {
        let unknown = |m: &Match, f: usize| m.planned[f].is_none() && !m.down[f];
        for (f, s) in self.found.switches().iter().enumerate() {
            if unknown(&self.switches, f) {
                let guid = s.guid.map_or(String::new(), |g| format!(" (GUID 0x{g:016x})"));
                let what = format!("switch {}{guid} is not in the plan", s.name);
                findings.push(device(Fault::Unknown, what, "remove it, or plan for it"));
            }
        }
        for (f, e) in self.found.endpoints().iter().enumerate() {
            if unknown(&self.endpoints, f) {
                let guid = e.guid.map_or(String::new(), |g| format!(" (GUID 0x{g:016x})"));
                let what = format!("endpoint {}{guid} is not in the plan", e.name);
                findings.push(device(Fault::Unknown, what, "remove it, or plan for it"));
            }
        }
    }

    fn name(&self, node: Node) -> String {
        let name = match node {
            Node::Switch(s) => &self.plan.switches()[s.ix()].name,
            Node::Endpoint(e) => &self.plan.endpoints()[e.ix()].name,
            Node::UnknownSwitch(s) => &self.found.switches()[s.ix()].name,
            Node::UnknownEndpoint(e) => &self.found.endpoints()[e.ix()].name,
        };
        name.clone()
    }

    /// The name, and where the floor is known the rack and unit.
    fn place(&self, node: Node) -> String {
        let name = self.name(node);
        let seat = planned_device(node).and_then(|d| self.floor?.seat(d));
        match (self.floor, seat) {
            (Some(floor), Some(seat)) => match (&floor.racks[seat.rack as usize].name, seat.unit) {
                (rack, Some(unit)) => format!("{name} ({rack}-U{unit:02})"),
                (rack, None) => format!("{name} (beside {rack})"),
            },
            _ => name,
        }
    }

    /// The name and port, and where the floor is known the label.
    fn label(&self, socket: Socket) -> String {
        let name = self.name(socket.node);
        let text = format!("{name} port {}", socket.port);
        let seat = planned_device(socket.node).and_then(|d| self.floor?.seat(d));
        match (self.floor, seat) {
            (Some(floor), Some(seat)) => {
                format!("{text} ({})", floor.label(seat, &name, socket.port))
            }
            _ => text,
        }
    }

    fn labels(&self, cables: &[[Socket; 2]]) -> Vec<[String; 2]> {
        cables.iter().map(|c| c.map(|s| self.label(s))).collect()
    }

    pub(super) fn slow(&self, (a, b, planned, found): (Socket, Socket, Cable, Cable)) -> Finding {
        let rate = |c: Cable| format!("{}x {}", c.width, c.speed);
        let ends = self.labels(&[[a, b]]);
        let [x, y] = &ends[0];
        let (is, should) = (rate(found), rate(planned));
        Finding {
            fault: Fault::Degraded,
            what: format!("cable {x} - {y} runs at {is} instead of {should}"),
            mend: "reseat or replace the cable".to_owned(),
            planned: ends.clone(),
            found: ends,
            moves: Vec::new(),
        }
    }

    pub(super) fn difference(&self, difference: Difference) -> Finding {
        let l = |s: Socket| self.label(s);
        match difference {
            Difference::Missing([a, b]) => Finding {
                fault: Fault::Missing,
                what: format!("cable {} - {} is missing", l(a), l(b)),
                mend: "plug it in or replace it".to_owned(),
                planned: self.labels(&[[a, b]]),
                found: Vec::new(),
                moves: vec![Move::Add(a, b)],
            },
            Difference::Extra([a, b]) => Finding {
                fault: Fault::Extra,
                what: format!("cable {} - {} is not in the plan", l(a), l(b)),
                mend: "remove it".to_owned(),
                planned: Vec::new(),
                found: self.labels(&[[a, b]]),
                moves: vec![Move::Remove(a, b)],
            },
            Difference::Wrong { planned: [to, stays], found: [_, from] } => Finding {
                fault: Fault::Wrong,
                what: format!("{} leads to {} instead of {}", l(stays), l(from), l(to)),
                mend: format!("move the plug in {} to {}", l(from), l(to)),
                planned: self.labels(&[[to, stays]]),
                found: self.labels(&[[stays, from]]),
                moves: vec![Move::Plug(from, to)],
            },
            Difference::Swapped { planned, found, swaps } => {
                let cable = |[a, b]: &[String; 2]| format!("{a} - {b}");
                let join = |cables: &[[String; 2]]| {
                    cables.iter().map(cable).collect::<Vec<_>>().join(" and ")
                };
                let (planned, found) = (self.labels(&planned), self.labels(&found));
                let swap = |(a, b): &(Socket, Socket)| format!("{} and {}", l(*a), l(*b));
                let mend: Vec<String> = swaps.iter().map(swap).collect();
                Finding {
                    fault: Fault::Swapped,
                    what: format!(
                        "cables {} are swapped: {} were found",
                        join(&planned),
                        join(&found)
                    ),
                    mend: format!("swap the plugs in {}", mend.join(", then in ")),
                    planned,
                    found,
                    moves: swaps.into_iter().map(|(a, b)| Move::Swap(a, b)).collect(),
                }
            }
        }
    }
}

fn planned_device(node: Node) -> Option<Device> {
    match node {
        Node::Switch(s) => Some(Device::Switch(s)),
        Node::Endpoint(e) => Some(Device::Endpoint(e)),
        Node::UnknownSwitch(_) | Node::UnknownEndpoint(_) => None,
    }
}

fn device(fault: Fault, what: String, mend: &str) -> Finding {
    let (planned, found, moves) = (Vec::new(), Vec::new(), Vec::new());
    Finding { fault, what, mend: mend.to_owned(), planned, found, moves }
}
