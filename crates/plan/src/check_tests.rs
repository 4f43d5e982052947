//! Cable checks on made faults: all found, none invented, and the moves repair them.

use super::*;
use base::seed::RandomStream;
use fabric::addresses::PortAddresses;
use fabric::network::parse_inline;
use fabric::network::{
    Cable, CablePlug, InfinibandLaneSpeed, NetworkRecipe, Switch, Topology, TopologyBuilder,
};
use families::family;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn built(net: &str) -> Topology {
    let recipe = parse_inline(net).expect("well formed");
    family(&recipe.family).expect("a family").build(&recipe.params).expect("a member")
}

/// A port of a device, by name.
pub(super) type TestPort = (String, u16);

/// A fabric as a list of cables, into which tests put faults.
#[derive(Clone)]
pub(super) struct TestFabric {
    pub(super) plan: Topology,
    pub(super) addresses: PortAddresses,
    pub(super) cables: Vec<([TestPort; 2], Cable)>,
    pub(super) dead: BTreeSet<String>,
    pub(super) guids: bool,
    pub(super) strangers: BTreeMap<String, u64>,
    /// The name and GUID that a discovery reports for a device, where the plan has others.
    pub(super) masks: BTreeMap<String, (String, u64)>,
    pub(super) identify: DeviceIdentificationProperty,
    pub(super) how: CableCheckOptions,
}

impl TestFabric {
    pub(super) fn of(plan: Topology) -> Self {
        let name = |p: CablePlug| (plan.switches()[p.switch.ix()].name.clone(), p.port);
        let links = plan.links().iter().map(|l| ([name(l.a), name(l.b)], l.cable));
        let rails = plan.terminals().iter().map(|t| {
            let own = (plan.endpoints()[t.endpoint.ix()].name.clone(), t.rail + 1);
            ([own, name(t.plug)], t.cable)
        });
        let cables = links.chain(rails).collect();
        let addresses = PortAddresses::assign(&plan, 0).expect("addresses");
        let (dead, strangers) = (BTreeSet::new(), BTreeMap::new());
        let (masks, identify) = (BTreeMap::new(), DeviceIdentificationProperty::Auto);
        let how = CableCheckOptions::default();
        Self { plan, addresses, cables, dead, guids: true, strangers, masks, identify, how }
    }

    pub(super) fn at(&self, name: &str, port: u16) -> (usize, usize) {
        let jack = (name.to_owned(), port);
        let found =
            self.cables.iter().enumerate().find_map(|(i, (ends, _))| {
                ends.iter().position(|e| *e == jack).map(|end| (i, end))
            });
        found.expect("a cable in this port")
    }

    pub(super) fn is_switch(&self, name: &str) -> bool {
        self.plan.switches().iter().any(|s| s.name == name)
            || self.strangers.contains_key(name) && name.starts_with('s')
    }

    /// Exchanges two plugs, unless a cable would then join two endpoints or a switch to itself.
    pub(super) fn swap(&mut self, (c, e): (usize, usize), (d, f): (usize, usize)) -> bool {
        let mut after = self.cables.clone();
        let (x, y) = (after[c].0[e].clone(), after[d].0[f].clone());
        after[c].0[e] = y;
        after[d].0[f] = x;
        let fine = |ends: &[TestPort; 2]| {
            ends[0].0 != ends[1].0 && ends.iter().any(|j| self.is_switch(&j.0))
        };
        let fine = c != d && fine(&after[c].0) && fine(&after[d].0);
        if fine {
            self.cables = after;
        }
        fine
    }

    /// The network that a discovery finds: in another order, without dead devices and unplugged
    /// cables.
    pub(super) fn discovered(&self) -> Topology {
        let alive = |ends: &[TestPort; 2]| ends.iter().all(|j| !self.dead.contains(&j.0));
        let cables: Vec<_> = self.cables.iter().rev().filter(|(ends, _)| alive(ends)).collect();
        let mut b = TopologyBuilder::new();
        let mut switches = BTreeMap::new();
        let mut endpoints: BTreeMap<&str, Vec<(u16, CablePlug, Cable)>> = BTreeMap::new();
        let names = cables.iter().flat_map(|(ends, _)| ends.iter().map(|j| j.0.as_str()));
        for name in names.filter(|n| self.is_switch(n)) {
            switches.entry(name).or_insert_with(|| {
                b.switch(Switch { guid: self.guid(name), ..Switch::new(self.mask(name)) })
            });
        }
        for ([x, y], cable) in &cables {
            let plug = |j: &TestPort| {
                switches.get(j.0.as_str()).map(|&switch| CablePlug { switch, port: j.1 })
            };
            match (plug(x), plug(y)) {
                (Some(a), Some(z)) => drop(b.link_at(a, z, *cable)),
                (None, Some(z)) => endpoints.entry(&x.0).or_default().push((x.1, z, *cable)),
                (Some(a), None) => endpoints.entry(&y.0).or_default().push((y.1, a, *cable)),
                (None, None) => panic!("a cable without a switch"),
            }
        }
        for (name, rails) in endpoints {
            let e = b.endpoint(self.mask(name), self.guid(name));
            for (port, plug, cable) in rails {
                let t = b.attach(e, plug.switch, plug.port, cable);
                b.terminal_mut(t).rail = port - 1;
            }
        }
        let recipe = NetworkRecipe { family: "file".into(), params: serde_json::Map::new() };
        b.finish(recipe).expect("a valid network")
    }

    fn mask<'a>(&'a self, name: &'a str) -> &'a str {
        self.masks.get(name).map_or(name, |(mask, _)| mask)
    }

    fn guid(&self, name: &str) -> Option<u64> {
        if let Some((_, guid)) = self.masks.get(name) {
            return Some(*guid);
        }
        let switch = self.plan.switches().iter().position(|s| s.name == name);
        let endpoint = self.plan.endpoints().iter().position(|e| e.name == name);
        let known = switch
            .map(|i| self.addresses.switch_guid[i])
            .or(endpoint.map(|i| self.addresses.node_guid[i]));
        self.strangers.get(name).copied().or(known).filter(|_| self.guids)
    }

    pub(super) fn check(&self) -> CableCheckResult {
        let addresses = self.guids.then_some(&self.addresses);
        let found = self.discovered();
        let how = CableCheckOptions { identify: self.identify, ..self.how.clone() };
        let check = check_cables_by(&self.plan, addresses, &found, None, how);
        let check = check.expect("the same fabric");
        let sum = check.correct + check.degraded + check.misplaced + check.lost + check.unlaid;
        assert_eq!(sum, check.planned, "every planned cable counts once");
        check
    }

    pub(super) fn faults(&self) -> Vec<(CablingFaultKind, u64)> {
        self.check().counts().into_iter().collect()
    }
}

pub(super) fn slim_fly() -> TestFabric {
    TestFabric::of(built("slim_fly:q=5,p=4"))
}

#[test]
fn a_fabric_as_planned_has_no_findings_whatever_its_order() {
    for net in ["slim_fly:q=5,p=4", "fat_tree:leaves=12,spines=6,parallel=3,p=18"] {
        let mut room = TestFabric::of(built(net));
        let check = room.check();
        assert!(check.is_clean(), "{check}");
        assert_eq!(check.correct, check.planned);
        room.guids = false;
        assert!(room.check().is_clean(), "by name alone");
    }
}

#[test]
fn a_pulled_cable_is_missing_at_both_ends() {
    let mut room = slim_fly();
    let (cable, _) = room.at("sf-0-0-0", 5);
    room.cables.remove(cable);
    let check = room.check();
    assert_eq!((check.findings.len(), check.misplaced, check.lost, check.missing), (1, 0, 1, 1));
    assert_eq!(check.correct, 374);
    let f = &check.findings[0];
    assert_eq!(f.fault, CablingFaultKind::Missing);
    assert_eq!(f.planned, [["sf-0-0-0 port 5".to_owned(), "sf-0-0-1 port 6".to_owned()]]);
    let floor = floor(&room.plan, &FloorRules::default(), &base::QuietWatch).expect("valid rules");
    let found = room.discovered();
    let check = check_cables(&room.plan, Some(&room.addresses), &found, Some(&floor));
    let labels = &check.expect("the same fabric").findings[0].planned[0];
    assert_eq!(labels, &["sf-0-0-0 port 5 (R00-U01-P05)", "sf-0-0-1 port 6 (R00-U02-P06)"]);
}

#[test]
fn a_swapped_pair_is_one_finding_with_the_swap_on_one_switch() {
    let mut room = slim_fly();
    let (x, y) = (room.at("sf-0-0-0", 7), room.at("sf-0-0-0", 8));
    assert!(room.swap(x, y));
    let check = room.check();
    assert_eq!((check.findings.len(), check.misplaced), (1, 2));
    let f = &check.findings[0];
    assert_eq!((f.fault, f.planned.len(), f.found.len()), (CablingFaultKind::Swapped, 2, 2));
    let sockets: BTreeSet<DevicePort> =
        [7, 8].map(|port| DevicePort { node: MatchedDevice::Switch(SwitchId(0)), port }).into();
    let &[CableRepairStep::Swap(a, b)] = f.moves.as_slice() else { panic!("{:?}", f.moves) };
    assert_eq!(BTreeSet::from([a, b]), sockets);
    assert!(f.repair.contains("sf-0-0-0 port 7") && f.repair.contains("sf-0-0-0 port 8"));
}

#[test]
fn a_ring_of_three_is_one_finding_with_two_swaps_on_one_switch() {
    // on the first and the last switch, in either order
    for (switch, order) in [
        ("sf-0-0-0", [7, 8, 9]),
        ("sf-0-0-0", [7, 9, 8]),
        ("sf-1-4-4", [7, 8, 9]),
        ("sf-1-4-4", [9, 8, 7]),
    ] {
        let mut room = slim_fly();
        for pair in order.windows(2) {
            let (x, y) = (room.at(switch, pair[0]), room.at(switch, pair[1]));
            assert!(room.swap(x, y));
        }
        let check = room.check();
        assert_eq!((check.findings.len(), check.misplaced), (1, 3), "{check}");
        let f = &check.findings[0];
        assert_eq!((f.fault, f.planned.len(), f.moves.len()), (CablingFaultKind::Swapped, 3, 2));
        assert_eq!(f.repair.matches(switch).count(), 4, "all plugs are on {switch}: {}", f.repair);
        let mut cables = jacks(&room);
        obey(&room, &mut cables, f);
        assert_eq!(cables, jacks(&slim_fly()));
    }
}

#[test]
fn a_dead_switch_is_one_finding_with_all_that_goes_with_it() {
    let mut room = slim_fly();
    room.dead.insert("sf-1-2-3".into());
    let check = room.check();
    assert_eq!(check.findings.len(), 1, "{check}");
    assert_eq!((check.findings[0].fault, check.lost), (CablingFaultKind::MissingSwitch, 11));
    assert!(check.findings[0].what.contains("sf-1-2-3 does not answer: 11 cables and 4 endpoints"));
}

#[test]
fn a_dead_endpoint_and_a_moved_one_are_distinguished() {
    let mut room = slim_fly();
    room.dead.insert("host-0017".into());
    let (cable, end) = room.at("sf-0-1-0", 1);
    room.cables[cable].0[end] = ("sf-0-1-0".into(), 36);
    let check = room.check();
    let expect = [(CablingFaultKind::MissingEndpoint, 1), (CablingFaultKind::Wrong, 1)];
    assert_eq!(check.counts().into_iter().collect::<Vec<_>>(), expect);
    assert!(
        check.findings[0].repair.ends_with("to sf-0-0-4 port 2"),
        "host 17: the second of switch 4"
    );
    let wrong = &check.findings[1];
    assert_eq!(
        wrong.repair, "move the plug in sf-0-1-0 port 36 to sf-0-1-0 port 1",
        "{}",
        wrong.what
    );
}

#[test]
fn extra_and_degraded_cables_are_found() {
    let mut room = slim_fly();
    let extra = [("sf-0-0-0".to_owned(), 20), ("sf-1-1-1".to_owned(), 21)];
    room.cables.push((extra, Cable::default()));
    let (narrow, _) = room.at("sf-0-3-3", 7);
    room.cables[narrow].1.width = 1;
    let (slow, _) = room.at("sf-0-2-2", 7);
    room.cables[slow].1.speed = InfinibandLaneSpeed::EDR;
    let (fast, _) = room.at("sf-0-2-2", 8);
    room.cables[fast].1.speed = InfinibandLaneSpeed::NDR;
    let check = room.check();
    assert_eq!(room.faults(), [(CablingFaultKind::Extra, 1), (CablingFaultKind::Degraded, 2)]);
    assert_eq!((check.degraded, check.correct), (2, 373));
    assert!(check.findings[2].what.ends_with("runs at 1x HDR instead of 4x HDR"));
    assert!(check.findings[1].what.ends_with("runs at 4x EDR instead of 4x HDR"));
}

#[test]
fn replaced_hardware_is_named_and_its_cables_still_checked() {
    // same name, other GUID; then other name too, recognised by where its cables are
    let mut room = slim_fly();
    room.strangers.insert("sf-0-0-2".into(), 0xabc);
    assert_eq!(room.faults(), [(CablingFaultKind::Replaced, 1)]);
    for (ends, _) in &mut room.cables {
        for jack in ends.iter_mut().filter(|j| j.0 == "sf-0-0-2") {
            jack.0 = "spare".into();
        }
    }
    room.strangers.insert("spare".into(), 0xdef);
    assert_eq!(room.faults(), [(CablingFaultKind::Replaced, 1)]);
    let (cable, _) = room.at("spare", 9);
    room.cables.remove(cable);
    let check = room.check();
    assert_eq!(room.faults(), [(CablingFaultKind::Replaced, 1), (CablingFaultKind::Missing, 1)]);
    assert!(check.findings[0].what.contains("spare with GUID 0x0000000000000def"));
}

#[test]
fn unknown_hardware_is_named_and_its_cables_are_extra() {
    let mut room = slim_fly();
    room.strangers.insert("stray".into(), 0x77);
    let extra = [("stray".to_owned(), 1), ("sf-1-1-1".to_owned(), 30)];
    room.cables.push((extra, Cable::default()));
    assert_eq!(room.faults(), [(CablingFaultKind::Unknown, 1), (CablingFaultKind::Extra, 1)]);
}

#[test]
fn a_rail_that_is_out_is_a_missing_cable_not_a_missing_endpoint() {
    let mut b = TopologyBuilder::new();
    for plane in 0..2 {
        b.switch(Switch { plane, ..Switch::new(format!("s{plane}")) });
    }
    for i in 0..3 {
        let e = b.endpoint(format!("h{i}"), None);
        b.attach(e, SwitchId(0), 0, Cable::default());
        b.attach(e, SwitchId(1), 0, Cable::default());
    }
    let recipe = NetworkRecipe { family: "test".into(), params: serde_json::Map::new() };
    let mut room = TestFabric::of(b.finish(recipe).expect("valid"));
    let (cable, _) = room.at("h1", 2);
    room.cables.remove(cable);
    assert_eq!(room.faults(), [(CablingFaultKind::Missing, 1)]);
    room.dead.insert("s1".into());
    assert_eq!(room.faults(), [(CablingFaultKind::MissingSwitch, 1)]);
    room.dead.insert("h2".into());
    let check = room.check();
    let expect = [(CablingFaultKind::MissingSwitch, 1), (CablingFaultKind::MissingEndpoint, 1)];
    assert_eq!(check.counts().into_iter().collect::<Vec<_>>(), expect);
    assert!(check.findings[0].what.ends_with("3 cables and 0 endpoints go with it"), "{check}");
}

#[test]
fn guids_of_which_none_is_in_the_fabric_are_those_of_no_fabric_yet() {
    let mut room = slim_fly();
    let switches = room.plan.switches().iter().map(|s| s.name.clone());
    let names = switches.chain(room.plan.endpoints().iter().map(|e| e.name.clone()));
    room.strangers = names.enumerate().map(|(i, n)| (n, 0x9000 + i as u64)).collect();
    assert!(room.check().is_clean(), "matched by name, nothing was replaced");
}

#[test]
fn a_stranger_with_few_cables_of_a_missing_switch_has_not_replaced_it() {
    let mut room = slim_fly();
    room.dead.insert("sf-0-0-2".into());
    room.strangers.insert("stray".into(), 0x77);
    let (own, _) = room.at("sf-0-0-2", 9);
    let other = room.cables[own].0.iter().find(|j| j.0 != "sf-0-0-2").expect("an end").clone();
    room.cables.push(([("stray".to_owned(), 9), other], Cable::default()));
    let extra = [("stray".to_owned(), 1), ("sf-1-1-1".to_owned(), 30)];
    room.cables.push((extra, Cable::default()));
    let expect = [
        (CablingFaultKind::MissingSwitch, 1),
        (CablingFaultKind::Unknown, 1),
        (CablingFaultKind::Extra, 2),
    ];
    assert_eq!(room.faults(), expect);
}

#[test]
fn another_fabric_is_refused() {
    let (plan, other) = (built("slim_fly:q=5,p=4"), built("dragonfly:p=2,a=4,h=2"));
    let refusal = check_cables(&plan, None, &other, None).expect_err("nothing in common");
    assert!(refusal.why.contains("none of the plan's 50 switches"));
    let addresses = PortAddresses::assign(&other, 0).expect("addresses");
    let refusal = check_cables(&plan, Some(&addresses), &plan, None).expect_err("other sizes");
    assert_eq!(refusal.param, "addresses");
}

/// The other end of each cable of a network, by port, computed without the code under test.
pub(super) fn jacks(room: &TestFabric) -> BTreeMap<TestPort, TestPort> {
    let alive = |ends: &[TestPort; 2]| ends.iter().all(|j| !room.dead.contains(&j.0));
    let cables = room.cables.iter().filter(|(ends, _)| alive(ends));
    cables.flat_map(|([a, b], _)| [(a.clone(), b.clone()), (b.clone(), a.clone())]).collect()
}

fn pull(cables: &mut BTreeMap<TestPort, TestPort>, jack: &TestPort) -> TestPort {
    let other = cables.remove(jack).expect("a plug in this port");
    cables.remove(&other);
    other
}

fn plug(cables: &mut BTreeMap<TestPort, TestPort>, a: &TestPort, b: &TestPort) {
    assert_eq!(cables.insert(a.clone(), b.clone()), None, "{a:?} is taken");
    assert_eq!(cables.insert(b.clone(), a.clone()), None, "{b:?} is taken");
}

/// The cables after two switches were exchanged, with their endpoints or without them.
fn exchanged(
    room: &TestFabric,
    cables: &BTreeMap<TestPort, TestPort>,
    [a, b]: [&str; 2],
    with_endpoints: bool,
) -> BTreeMap<TestPort, TestPort> {
    let other = |name: &str| match name {
        name if name == a => b.to_owned(),
        name if name == b => a.to_owned(),
        name => name.to_owned(),
    };
    let after = cables.iter().map(|(x, y)| {
        let link = room.is_switch(&x.0) && room.is_switch(&y.0);
        let new = |j: &TestPort| {
            if link || !with_endpoints { (other(&j.0), j.1) } else { j.clone() }
        };
        (new(x), new(y))
    });
    after.collect()
}

/// Does what a finding says, one move after the other, as a person would.
pub(super) fn obey(
    room: &TestFabric,
    cables: &mut BTreeMap<TestPort, TestPort>,
    finding: &CablingFinding,
) {
    let jack = |s: DevicePort| match s.node {
        MatchedDevice::Switch(i) => (room.plan.switches()[i.ix()].name.clone(), s.port),
        MatchedDevice::Endpoint(e) => (room.plan.endpoints()[e.ix()].name.clone(), s.port),
        other => panic!("{other:?} is not of the plan"),
    };
    for &step in &finding.moves {
        match step {
            CableRepairStep::Add(a, b) => plug(cables, &jack(a), &jack(b)),
            CableRepairStep::Remove(a, b) => assert_eq!(pull(cables, &jack(a)), jack(b)),
            CableRepairStep::Plug(from, to) => {
                let other = pull(cables, &jack(from));
                plug(cables, &jack(to), &other);
            }
            CableRepairStep::Swap(a, b) => {
                let (x, y) = (pull(cables, &jack(a)), pull(cables, &jack(b)));
                plug(cables, &jack(a), &y);
                plug(cables, &jack(b), &x);
            }
            CableRepairStep::Exchange { a, b, with_endpoints } => {
                let name = |s: SwitchId| room.plan.switches()[s.ix()].name.as_str();
                *cables = exchanged(room, cables, [name(a), name(b)], with_endpoints);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Faults that have no cable or device in common are each reported as one finding.
    #[test]
    fn separate_faults_are_all_found_and_none_invented(seed in any::<u64>(), k in 0_usize..12) {
        let mut room = slim_fly();
        let mut draw = RandomStream::new(seed, "faults", 0);
        let mut touched: BTreeSet<String> = BTreeSet::new();
        let mut made: BTreeMap<CablingFaultKind, u64> = BTreeMap::new();
        for _ in 0..k {
            let cable = |draw: &mut RandomStream| draw.below(175) as usize;
            let (c, d) = (cable(&mut draw), cable(&mut draw));
            let names = |room: &TestFabric, c: usize| room.cables[c].0.clone().map(|j| j.0);
            let free = |names: &[String]| names.iter().all(|n| !touched.contains(n));
            let ends = [names(&room, c), names(&room, d)].concat();
            if !free(&ends) {
                continue;
            }
            let fault = match draw.below(4) {
                0 => {
                    let victim = ends[0].clone();
                    let lost = room.cables.iter().filter(|(e, _)| e.iter().any(|j| j.0 == victim));
                    let near: Vec<String> =
                        lost.flat_map(|(e, _)| e.iter().map(|j| j.0.clone())).collect();
                    if !free(&near) {
                        continue;
                    }
                    room.dead.insert(victim);
                    touched.extend(near);
                    CablingFaultKind::MissingSwitch
                }
                1 => {
                    // an unplugged cable ends in a port that no check looks at
                    room.cables[c].1.up = false;
                    touched.extend(names(&room, c));
                    CablingFaultKind::Missing
                }
                2 if room.swap((c, 1), (d, 1)) => {
                    touched.extend(ends);
                    CablingFaultKind::Swapped
                }
                3 => {
                    room.cables[c].1.width = 1;
                    touched.extend(names(&room, c));
                    CablingFaultKind::Degraded
                }
                _ => continue,
            };
            *made.entry(fault).or_insert(0) += 1;
        }
        let check = room.check();
        prop_assert_eq!(check.counts(), made, "{}", check);
    }

    /// Whatever was done to the cables, following the findings gives the planned cables again.
    #[test]
    fn any_tangle_is_repaired_by_the_moves(seed in any::<u64>(), k in 1_u64..40) {
        let mut room = slim_fly();
        let planned = jacks(&room);
        let mut draw = RandomStream::new(seed, "tangle", 0);
        for _ in 0..k {
            let n = room.cables.len() as u64;
            let at = |draw: &mut RandomStream| (draw.below(n) as usize, draw.below(2) as usize);
            let (x, y) = (at(&mut draw), at(&mut draw));
            match draw.below(4) {
                0 if x.0 < 175 => drop(room.cables.remove(x.0)),
                1 => {
                    let ((name, _), port) = (room.cables[y.0].0[y.1].clone(), 12 + draw.below(20));
                    let (stays, jack) = (&room.cables[x.0].0[1 - x.1].0, (name, port as u16));
                    let free = !jacks(&room).contains_key(&jack);
                    if free && *stays != jack.0 && room.is_switch(&jack.0) {
                        room.cables[x.0].0[x.1] = jack;
                    }
                }
                _ => drop(room.swap(x, y)),
            }
        }
        let seen = room.discovered();
        let there: BTreeSet<&str> = seen
            .switches().iter().map(|s| s.name.as_str())
            .chain(seen.endpoints().iter().map(|e| e.name.as_str()))
            .collect();
        let check = room.check();
        let mut cables = jacks(&room);
        prop_assert_eq!(check.is_clean(), cables == planned);
        for finding in &check.findings {
            obey(&room, &mut cables, finding);
        }
        let goal: BTreeMap<TestPort, TestPort> = planned
            .into_iter()
            .filter(|(a, b)| there.contains(a.0.as_str()) && there.contains(b.0.as_str()))
            .collect();
        prop_assert_eq!(cables, goal);
    }
}
