//! The words of a cable check: what is wrong and what to do, with the labels of a human being.

use super::comparison::Check;
use super::devices::{Match, Node, Socket};
use super::due::Wanted;
use super::lines::counted;
use super::outcome::{Fault, Finding};
use super::places::Round;
use super::repairs::{Difference, Instruction, Move, Port};
use base::{EndpointId, SwitchId};
use fabric::network::Cable;
use std::collections::BTreeMap;

impl Check<'_> {
    pub(super) fn report_devices(
        &self,
        reached: &BTreeMap<Node, Wanted>,
        findings: &mut Vec<Finding>,
    ) {
        let mut peers: BTreeMap<Node, Vec<Socket>> = BTreeMap::new();
        for (id, a, b, _) in self.planned_cables() {
            if self.is_due(id) {
                peers.entry(a.node).or_default().push(b);
                peers.entry(b.node).or_default().push(a);
            }
        }
        for row in peers.values_mut() {
            row.sort_unstable();
        }
        let peers = |node: Node| peers.get(&node).map_or(&[][..], Vec::as_slice);
        // an endpoint all of whose switches are dead cannot answer
        let cut_off = |node: Node| {
            !peers(node).is_empty() && peers(node).iter().all(|peer| !self.serves(peer.node))
        };
        let silent = self.silent(reached);
        for &(node, _) in silent.iter().filter(|(_, wanted)| *wanted == Wanted::Yes) {
            match node {
                Node::Switch(s) => findings.push(self.dead_switch(s, &peers, &cut_off)),
                node if cut_off(node) => {}
                node => findings.push(self.dead_endpoint(node, peers(node))),
            }
        }
        self.report_out_of_reach(&silent, findings);
        for (what, node, other) in self.replaced() {
            let place = self.place(node);
            let line = format!("{what} {place} is now {other}: put it back, or plan with this one");
            let what = format!("{what} {place} was replaced: {other} is in its place");
            let repair = "put it back, or plan with the new GUID";
            findings.push(device(Fault::Replaced, place, [what, repair.to_owned(), line]));
        }
        self.report_unknown(findings);
    }

    fn dead_switch<'s>(
        &self,
        s: SwitchId,
        peers: &impl Fn(Node) -> &'s [Socket],
        cut_off: &impl Fn(Node) -> bool,
    ) -> Finding {
        let node = Node::Switch(s);
        let links = peers(Node::Switch(self.empty_place(s)));
        let links = links.iter().filter(|peer| matches!(peer.node, Node::Switch(_))).count();
        let hosts = if self.serves(node) { Node::Switch(self.empty_place(s)) } else { node };
        let hosts = peers(hosts).iter().filter(|peer| matches!(peer.node, Node::Endpoint(_)));
        let behind = |s: &&Socket| !self.is_there(s.node) && cut_off(s.node);
        let (cables, endpoints) = (links + hosts.clone().count(), hosts.filter(behind).count());
        let along = format!("{cables} cables and {endpoints} endpoints go with it");
        let what = format!("switch {} does not answer: {along}", self.place(node));
        let repair = "check its power and its cables".to_owned();
        let line = self.switch_line(node, cables, endpoints);
        device(Fault::MissingSwitch, self.place(node), [what, repair, line])
    }

    fn dead_endpoint(&self, node: Node, plugs: &[Socket]) -> Finding {
        let to: Vec<String> = plugs.iter().map(|&s| self.label(s)).collect();
        let what = format!("endpoint {} does not answer", self.place(node));
        let repair = match to.as_slice() {
            [] => "check its power".to_owned(),
            _ => format!("check its power and its cable to {}", to.join(", ")),
        };
        let line = self.endpoint_line(node, plugs);
        device(Fault::MissingEndpoint, self.place(node), [what, repair, line])
    }

    /// One finding for all devices that should be there, but to which nothing leads that answers.
    fn report_out_of_reach(&self, silent: &[(Node, Wanted)], findings: &mut Vec<Finding>) {
        let away = silent.iter().filter(|(_, wanted)| *wanted == Wanted::OutOfReach);
        let away: Vec<Node> = away.map(|(node, _)| *node).collect();
        let Some(first) = away.first() else { return };
        let switches = away.iter().filter(|n| matches!(n, Node::Switch(_))).count();
        let switches = counted(switches, "switch", "switches");
        let endpoints = away.iter().filter(|n| matches!(n, Node::Endpoint(_))).count();
        let who = format!("{switches} and {}", counted(endpoints, "endpoint", "endpoints"));
        let what = format!("{who} are out of reach: no cable that is due leads there from here");
        let repair = "look from there as well, and give all discoveries in one file".to_owned();
        let line = format!("{who} are out of reach: {repair}");
        findings.push(device(Fault::OutOfReach, self.place(*first), [what, repair, line]));
    }

    /// The place of a missing switch, or, where another one stands there, the one that has become
    /// empty for it.
    fn empty_place(&self, missing: SwitchId) -> SwitchId {
        let of = |round: &&Round| round.open && round.switches.last() == Some(&missing.0);
        self.rounds.iter().find(of).map_or(missing, |round| SwitchId(round.switches[0]))
    }

    pub(super) fn report_moved(&self, findings: &mut Vec<Finding>) {
        for round in &self.rounds {
            let name = |s: &u32| self.name(Node::Switch(SwitchId(*s)));
            let places: Vec<String> =
                round.switches.iter().map(|s| self.place(Node::Switch(SwitchId(*s)))).collect();
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
            let exchange = |a: &u32| Move::Exchange {
                a: SwitchId(*a),
                b: SwitchId(pivot),
                with_endpoints: round.with_endpoints,
            };
            let moves: Vec<Move> = here.iter().map(exchange).collect();
            let words = [what, repair, self.moved_line(round)];
            let mut finding = device(Fault::MovedSwitch, places.join(", "), words);
            finding.instructions = moves.iter().map(|m| self.instruction(*m)).collect();
            finding.table = self.table(&moves);
            finding.moves = moves;
            findings.push(finding);
        }
    }

    fn instruction(&self, step: Move) -> Instruction {
        let port = |s: Socket| Port { device: self.name(s.node), port: self.real(s).port };
        match step {
            Move::Add(a, b) => Instruction::Add { ports: [port(a), port(b)] },
            Move::Remove(a, b) => Instruction::Remove { ports: [port(a), port(b)] },
            Move::Plug(a, b) => Instruction::Plug { ports: [port(a), port(b)] },
            Move::Swap(a, b) => Instruction::Swap { ports: [port(a), port(b)] },
            Move::Exchange { a, b, with_endpoints } => {
                let devices = [a, b].map(|s| self.name(Node::Switch(s)));
                Instruction::Exchange { devices, with_endpoints }
            }
        }
    }

    /// A move in terms of the real ports.
    fn real_move(&self, step: Move) -> Move {
        let r = |s: Socket| self.real(s);
        match step {
            Move::Add(a, b) => Move::Add(r(a), r(b)),
            Move::Remove(a, b) => Move::Remove(r(a), r(b)),
            Move::Plug(a, b) => Move::Plug(r(a), r(b)),
            Move::Swap(a, b) => Move::Swap(r(a), r(b)),
            Move::Exchange { .. } => step,
        }
    }

    fn replaced(&self) -> impl Iterator<Item = (&'static str, Node, String)> + '_ {
        let card = |name: &str, guid: Option<u64>| match guid {
            Some(guid) => format!("{name} with GUID 0x{guid:016x}"),
            None => name.to_owned(),
        };
        let switches = self.boxes.replaced.iter().filter_map(move |&p| {
            let f = &self.found.switches()[self.boxes.pairs.found[p as usize]? as usize];
            Some(("switch", Node::Switch(SwitchId(p)), card(&f.name, f.guid)))
        });
        let endpoints = self.endpoints.replaced.iter().filter_map(move |&p| {
            let f = &self.found.endpoints()[self.endpoints.pairs.found[p as usize]? as usize];
            Some(("endpoint", Node::Endpoint(EndpointId(p)), card(&f.name, f.guid)))
        });
        switches.chain(endpoints)
    }

    fn report_unknown(&self, findings: &mut Vec<Finding>) {
        let unknown = |m: &Match, f: usize| m.pairs.planned[f].is_none() && !m.down[f];
        let mut report = |what: &str, name: &str, guid: Option<u64>| {
            let guid = guid.map_or(String::new(), |g| format!(" (GUID 0x{g:016x})"));
            let what = format!("{what} {name}{guid} is not in the plan");
            let repair = "remove it, or plan for it".to_owned();
            let line = format!("{what}: {repair}");
            findings.push(device(Fault::Unknown, name.to_owned(), [what, repair, line]));
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

    fn labels(&self, cables: &[[Socket; 2]]) -> Vec<[String; 2]> {
        cables.iter().map(|c| c.map(|s| self.label(s))).collect()
    }

    pub(super) fn slow(&self, (a, b, planned, found): (Socket, Socket, Cable, Cable)) -> Finding {
        let rate = |c: Cable| format!("{}x {}", c.width, c.speed);
        let (x, y) = (self.label(a), self.label(b));
        let (is, should) = (rate(found), rate(planned));
        let what = format!("cable {x} - {y} runs at {is} instead of {should}");
        let repair = "reseat or replace the cable".to_owned();
        let line = self.slow_line([a, b], planned, found);
        self.cables(Fault::Degraded, [what, repair, line], [&[[a, b]], &[[a, b]]], Vec::new())
    }

    pub(super) fn difference(&self, difference: Difference) -> Finding {
        let l = |s: Socket| self.label(s);
        let line = self.difference_line(&difference);
        match difference {
            Difference::Missing([a, b]) => {
                let what = format!("cable {} - {} is missing", l(a), l(b));
                let repair = "plug it in or replace it".to_owned();
                self.cables(
                    Fault::Missing,
                    [what, repair, line],
                    [&[[a, b]], &[]],
                    vec![Move::Add(a, b)],
                )
            }
            Difference::Extra([a, b]) => {
                let what = format!("cable {} - {} is not in the plan", l(a), l(b));
                let repair = "remove it".to_owned();
                self.cables(
                    Fault::Extra,
                    [what, repair, line],
                    [&[], &[[a, b]]],
                    vec![Move::Remove(a, b)],
                )
            }
            Difference::Wrong { planned: [to, stays], found: [_, from] } => {
                let what = format!("{} leads to {} instead of {}", l(stays), l(from), l(to));
                let repair = format!("move the plug in {} to {}", l(from), l(to));
                let cables: [&[[Socket; 2]]; 2] = [&[[to, stays]], &[[stays, from]]];
                self.cables(Fault::Wrong, [what, repair, line], cables, vec![Move::Plug(from, to)])
            }
            Difference::Swapped { planned, found, swaps } => {
                let cable = |[a, b]: &[Socket; 2]| format!("{} - {}", l(*a), l(*b));
                let join = |cables: &[[Socket; 2]]| {
                    cables.iter().map(cable).collect::<Vec<_>>().join(" and ")
                };
                let swap = |(a, b): &(Socket, Socket)| format!("{} and {}", l(*a), l(*b));
                let repair: Vec<String> = swaps.iter().map(swap).collect();
                let (should, is) = (join(&planned), join(&found));
                let what = format!("cables {should} are swapped: {is} were found");
                let repair = format!("swap the plugs in {}", repair.join(", then in "));
                let moves = swaps.into_iter().map(|(a, b)| Move::Swap(a, b)).collect();
                self.cables(Fault::Swapped, [what, repair, line], [&planned, &found], moves)
            }
        }
    }

    /// A finding about cables: those planned and those found instead.
    fn cables(
        &self,
        fault: Fault,
        [what, repair, line]: [String; 3],
        [planned, found]: [&[[Socket; 2]]; 2],
        moves: Vec<Move>,
    ) -> Finding {
        let mut ports: Vec<String> = Vec::new();
        for label in planned.iter().chain(found).flatten().map(|s| self.label(*s)) {
            if !ports.contains(&label) {
                ports.push(label);
            }
        }
        Finding {
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

fn device(fault: Fault, place: String, [what, repair, line]: [String; 3]) -> Finding {
    Finding {
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
