//! Cable checks while people wire, and where port numbers do not matter: against counts of pairs
//! and of cables by hand.

use super::check_tests::{TestFabric, TestPort, built, jacks, obey, slim_fly};
use super::*;
use base::seed::RandomStream;
use base::{LinkId, TerminalId};
use fabric::network::Cable;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const NETS: [&str; 4] = [
    "slim_fly:q=5,p=4",
    "fat_tree:leaves=12,spines=6,parallel=3,p=18",
    "dragonfly:p=4,a=8,h=4",
    "torus:shape=4x4x4,p=2",
];

/// How many cables join each two devices.
fn pairs(cables: &BTreeMap<TestPort, TestPort>) -> BTreeMap<[String; 2], i64> {
    let mut pairs = BTreeMap::new();
    for (a, b) in cables.iter().filter(|(a, b)| a < b) {
        let mut pair = [a.0.clone(), b.0.clone()];
        pair.sort();
        *pairs.entry(pair).or_insert(0) += 1;
    }
    pairs
}

/// The other end of each planned cable of `plan`, by port.
fn planned(plan: &fabric::network::Topology) -> BTreeMap<TestPort, TestPort> {
    jacks(&TestFabric::of(plan.clone()))
}

/// The id of every cable of an unchanged [`TestFabric`], in the order of its list.
fn ids(plan: &fabric::network::Topology) -> Vec<CableId> {
    let links = (0..plan.links().len()).map(|i| CableId::Link(LinkId::from(i)));
    let rails = (0..plan.terminals().len()).map(|i| CableId::Terminal(TerminalId::from(i)));
    links.chain(rails).collect()
}

impl TestFabric {
    /// Exchanges the plugs in the ports of a switch at random; cables join the same devices as
    /// before.
    fn reorder(&mut self, switch: &str, draw: &mut RandomStream) {
        let at: Vec<(usize, usize)> = (0..self.cables.len())
            .flat_map(|i| [(i, 0), (i, 1)])
            .filter(|&(i, e)| self.cables[i].0[e].0 == switch)
            .collect();
        for i in (1..at.len()).rev() {
            let (x, y) = (at[i], at[draw.below(i as u64 + 1) as usize]);
            let (p, q) = (self.cables[x.0].0[x.1].1, self.cables[y.0].0[y.1].1);
            self.cables[x.0].0[x.1].1 = q;
            self.cables[y.0].0[y.1].1 = p;
        }
    }

    fn switch(&self, i: u64) -> String {
        self.plan.switches()[i as usize].name.clone()
    }
}

#[test]
fn another_order_of_ports_on_one_switch_is_no_fault_where_ports_are_ignored() {
    for net in NETS {
        let mut room = TestFabric::of(built(net));
        let mut draw = RandomStream::new(3, "order", 0);
        let name = room.switch(4);
        room.reorder(&name, &mut draw);
        let there = jacks(&room);
        let elsewhere =
            planned(&room.plan).iter().filter(|(a, b)| a < b && there.get(a) != Some(b)).count();
        let strict = room.check();
        assert!(!strict.is_clean() && strict.misplaced > 0, "{net}");
        assert_eq!(strict.on_other_ports, strict.misplaced, "{net}: the order alone is off");
        room.how.ignore_ports = true;
        let check = room.check();
        assert!(check.is_clean(), "{net}: {check}");
        assert_eq!((check.correct, check.misplaced), (check.planned, 0));
        // parallel cables in each other's ports are the same cables
        assert!(check.on_other_ports <= elsewhere as u64);
        let parallel = net.contains("parallel");
        assert!(parallel || check.on_other_ports == elsewhere as u64, "{net}");
    }
}

#[test]
fn parallel_cables_are_counted_where_ports_are_ignored() {
    let mut room = TestFabric::of(built("fat_tree:leaves=12,spines=6,parallel=3,p=18"));
    room.how.ignore_ports = true;
    let leaf = room.cables[0].0[0].0.clone();
    let spine = room.cables[0].0[1].0.clone();
    let between = |ends: &[TestPort; 2]| ends.iter().all(|j| j.0 == leaf || j.0 == spine);
    let at = room.cables.iter().position(|(ends, _)| between(ends)).expect("a cable");
    let taken = room.cables.remove(at);
    let check = room.check();
    assert_eq!((check.lost, check.missing, check.findings.len()), (1, 1, 1), "{check}");
    room.cables.push(taken);
    let more = [(leaf.clone(), 60), (spine.clone(), 61)];
    room.cables.push((more, Cable::default()));
    let check = room.check();
    assert_eq!(
        check.counts(),
        BTreeMap::from([(CablingFaultKind::Extra, 1)]),
        "four where three are planned"
    );
}

#[test]
fn structure_and_ignored_ports_do_not_go_together() {
    let plan = built("slim_fly:q=5,p=4");
    let how = CableCheckOptions {
        identify: DeviceIdentificationProperty::Structure,
        ignore_ports: true,
        due: None,
    };
    let refusal = check_cables_by(&plan, None, &plan, None, how).expect_err("one or the other");
    assert_eq!(refusal.param, "ignore_ports");
}

#[test]
fn exchanged_switches_are_found_where_ports_are_ignored() {
    let mut room = slim_fly();
    room.how.ignore_ports = true;
    for (ends, _) in &mut room.cables {
        for jack in ends.iter_mut() {
            jack.0 = match jack.0.as_str() {
                "sf-0-1-2" => "sf-1-4-0".into(),
                "sf-1-4-0" => "sf-0-1-2".into(),
                _ => continue,
            };
        }
    }
    let mut draw = RandomStream::new(1, "order", 0);
    room.reorder("sf-0-1-2", &mut draw);
    let check = room.check();
    assert_eq!(check.counts(), BTreeMap::from([(CablingFaultKind::MovedSwitch, 1)]), "{check}");
    assert_eq!(check.correct, check.planned);
}

/// Devices are out of reach when all their due cables lead to devices that do not answer either.
#[test]
fn what_nothing_leads_to_yet_is_out_of_reach_and_not_dead() {
    let mut room = slim_fly();
    // the racks that were built: a column's 10 switches, and 40 servers in 20 units
    let built = FloorRules { endpoints_per_unit: Some(2), ..FloorRules::default() };
    let seats = floor(&room.plan, &built, &base::QuietWatch).expect("valid rules");
    let due: BTreeSet<CableId> =
        ids(&room.plan).into_iter().filter(|id| step_of(&room.plan, &seats, *id) < 3).collect();
    assert_eq!(due.len(), 275);
    room.how.due = Some(due);
    // only one rack is discovered: the discovery ends where no cable leads on
    let racks: BTreeMap<String, u32> = room
        .plan
        .switches()
        .iter()
        .zip(&seats.switches)
        .map(|(s, seat)| (s.name.clone(), seat.rack))
        .collect();
    let all = room.cables.clone();
    let inside = |ends: &[TestPort; 2]| {
        let of: Vec<u32> = ends.iter().filter_map(|j| racks.get(&j.0).copied()).collect();
        of.iter().all(|rack| *rack == of[0])
    };
    room.cables.retain(|(ends, _)| inside(ends));
    let check = room.check();
    assert!(check.is_clean(), "all racks are there: {check}");
    assert_eq!((check.correct, check.unlaid, check.lost), (275, 100, 0));
    let states = check.switches.iter().filter(|s| **s == PlannedSwitchState::Unlaid).count();
    assert_eq!(states, 50, "each has cables to other racks");
    room.cables.retain(|(ends, _)| ends.iter().any(|j| racks.get(&j.0) == Some(&0)));
    let check = room.check();
    assert_eq!(check.counts(), BTreeMap::from([(CablingFaultKind::OutOfReach, 1)]), "{check}");
    assert!(check.findings[0].what.starts_with("40 switches and 160 endpoints"), "{check}");
    assert_eq!((check.correct, check.lost, check.unlaid), (55, 220, 100));
    // a switch of the discovered rack is dead
    let dead = racks.iter().find(|(_, rack)| **rack == 0).expect("a switch").0.clone();
    room.dead.insert(dead);
    let check = room.check();
    let expect =
        BTreeMap::from([(CablingFaultKind::MissingSwitch, 1), (CablingFaultKind::OutOfReach, 1)]);
    assert_eq!(check.counts(), expect, "{check}");
    // 2 rings of 5 and 5 cables across in a rack, 4 endpoints: 2 + 1 + 4 cables that are due
    assert!(check.findings[0].what.contains(": 7 cables and 4 endpoints"), "{check}");
    // a cable of a later step that is laid already is right
    room.dead.clear();
    room.cables = all;
    assert!(room.check().is_clean());
}

#[test]
fn lines_are_short_and_say_where_and_what_to_do() {
    let mut room = slim_fly();
    let seats = floor(&room.plan, &FloorRules::default(), &base::QuietWatch).expect("valid rules");
    room.dead.insert("sf-1-2-3".into());
    room.dead.insert("host-0001".into());
    let (cable, _) = room.at("sf-0-0-0", 5);
    room.cables.remove(cable);
    for pair in [[7, 8], [9, 10], [8, 9]] {
        let (x, y) = (room.at("sf-0-3-0", pair[0]), room.at("sf-0-3-0", pair[1]));
        assert!(room.swap(x, y));
    }
    let (x, y) = (room.at("sf-0-1-0", 7), room.at("sf-0-1-0", 8));
    assert!(room.swap(x, y));
    let (slow, _) = room.at("sf-1-4-4", 9);
    room.cables[slow].1.width = 1;
    let found = room.discovered();
    let how = CableCheckOptions::default();
    let check = check_cables_by(&room.plan, Some(&room.addresses), &found, Some(&seats), how);
    let check = check.expect("the same fabric");
    let kinds: BTreeSet<CablingFaultKind> = check.findings.iter().map(|f| f.fault).collect();
    assert_eq!(kinds.len(), 5, "{check}");
    for finding in &check.findings {
        let line = &finding.line;
        assert!(line.chars().count() <= 100 && !line.contains('\n'), "{line}");
        assert!(line.contains(':') || line.contains(';'), "{line}");
        assert_eq!(
            finding.table.len(),
            if finding.moves.len() > 1 { finding.moves.len() } else { 0 }
        );
    }
    let ring = check.findings.iter().find(|f| f.moves.len() > 1).expect("a ring of four");
    assert_eq!(ring.line, "4 cables swapped in a ring: exchange plugs, 3 exchanges in this order");
    assert!(ring.table.iter().flatten().all(|p| p.starts_with("sf-0-3-0 port ")), "{ring:?}");
    let missing =
        check.findings.iter().find(|f| f.fault == CablingFaultKind::Missing).expect("one");
    let ends = "sf-0-0-0 port 5 (R00-U01-P05) - sf-0-0-1 port 6 (R00-U02-P06)";
    assert_eq!(missing.line, format!("missing cable {ends}: plug it in"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Cables pulled, plugged elsewhere, exchanged, and ports in any order: as many are right as
    /// pairs of devices say, and the moves give every pair its cables again.
    #[test]
    fn ignoring_ports_counts_pairs(net in 0..NETS.len(), seed in any::<u64>(), k in 0_u64..30) {
        let mut room = TestFabric::of(built(NETS[net]));
        room.how.ignore_ports = true;
        let links = room.plan.links().len();
        let goal = pairs(&jacks(&room));
        let mut draw = RandomStream::new(seed, "pairs", 0);
        let switches = room.plan.switches().len() as u64;
        for _ in 0..draw.below(4) {
            let name = room.switch(draw.below(switches));
            room.reorder(&name, &mut draw);
        }
        let mut pulled = 0;
        for _ in 0..k {
            let n = room.cables.len() as u64;
            let at = |draw: &mut RandomStream| (draw.below(n) as usize, draw.below(2) as usize);
            let (x, y) = (at(&mut draw), at(&mut draw));
            match draw.below(4) {
                0 if x.0 < links - pulled => {
                    room.cables.remove(x.0);
                    pulled += 1;
                }
                1 => {
                    let name = room.switch(draw.below(switches));
                    let jack = (name, 40 + draw.below(20) as u16);
                    let free = !jacks(&room).contains_key(&jack);
                    if free && room.cables[x.0].0[1 - x.1].0 != jack.0
                        && room.is_switch(&room.cables[x.0].0[x.1].0)
                    {
                        room.cables[x.0].0[x.1] = jack;
                    }
                }
                _ => drop(room.swap(x, y)),
            }
        }
        let seen = room.discovered();
        let all = room.plan.endpoints().len();
        prop_assume!(seen.switches().len() as u64 == switches && seen.endpoints().len() == all);
        let check = room.check();
        prop_assume!(!check.counts().contains_key(&CablingFaultKind::MovedSwitch));
        let there = pairs(&jacks(&room));
        let right: i64 = goal.iter().map(|(p, n)| *n.min(there.get(p).unwrap_or(&0))).sum();
        prop_assert_eq!(check.correct + check.degraded, right as u64, "{}", check);
        prop_assert_eq!(check.is_clean(), there == goal);
        let mut cables = jacks(&room);
        for finding in &check.findings {
            obey(&room, &mut cables, finding);
        }
        prop_assert!(pairs(&cables) == goal, "{}", check);
    }

    /// Cables that are not there, due or not, and dead switches: every state counted by hand.
    #[test]
    fn states_are_those_of_each_cable(net in 0..NETS.len(), seed in any::<u64>(), k in 0_u64..40) {
        let mut room = TestFabric::of(built(NETS[net]));
        let mut draw = RandomStream::new(seed, "due", 0);
        let ids = ids(&room.plan);
        let links = room.plan.links().len() as u64;
        let due: BTreeSet<CableId> = ids
            .iter()
            .enumerate()
            .filter(|(i, _)| *i as u64 >= links || draw.below(3) > 0)
            .map(|(_, id)| *id)
            .collect();
        let dead: BTreeSet<String> = (0..draw.below(3))
            .map(|_| room.switch(draw.below(room.plan.switches().len() as u64)))
            .collect();
        room.dead.clone_from(&dead);
        let gone: BTreeSet<usize> = (0..k).map(|_| draw.below(links) as usize).collect();
        for i in &gone {
            room.cables[*i].1.up = false;
        }
        let mut expect: BTreeMap<CableId, PlannedCableState> = BTreeMap::new();
        for (i, id) in ids.iter().enumerate() {
            let silent = room.cables[i].0.iter().any(|j| dead.contains(&j.0));
            let state = match (silent || gone.contains(&i), due.contains(id), silent) {
                (false, ..) => PlannedCableState::Correct,
                (true, false, _) => PlannedCableState::Unlaid,
                (true, true, true) => PlannedCableState::Lost,
                (true, true, false) => PlannedCableState::Missing,
            };
            expect.insert(*id, state);
        }
        room.how.due = Some(due);
        // endpoints behind a dead switch hang on it alone, and it has endpoints that are due
        let check = room.check();
        prop_assert!(check.cables == expect, "{}", check);
        let count = |state| expect.values().filter(|s| **s == state).count() as u64;
        prop_assert_eq!(check.correct, count(PlannedCableState::Correct));
        prop_assert_eq!(check.missing, count(PlannedCableState::Missing));
        prop_assert_eq!(check.unlaid, count(PlannedCableState::Unlaid));
        let lost = count(PlannedCableState::Missing) + count(PlannedCableState::Lost);
        prop_assert_eq!(check.lost, lost);
        prop_assert_eq!(check.misplaced, 0);
        let of = |fault| check.counts().get(&fault).copied().unwrap_or(0);
        prop_assert_eq!(of(CablingFaultKind::Missing), check.missing);
        let answers_no_more =
            of(CablingFaultKind::MissingSwitch) + of(CablingFaultKind::OutOfReach);
        prop_assert!(answers_no_more <= dead.len() as u64);
        prop_assert!(dead.is_empty() || answers_no_more > 0);
        prop_assert_eq!(check.findings.len() as u64, check.missing + answers_no_more);
    }

    /// Plugs in wrong ports while some cables are not due: the moves correct whatever is laid, and
    /// do not ask for a cable that is not due.
    #[test]
    fn wrong_cables_are_corrected_and_later_ones_not_missed(seed in any::<u64>(), k in 1_u64..30) {
        let mut room = slim_fly();
        let mut draw = RandomStream::new(seed, "later", 0);
        let all = ids(&room.plan);
        let due: BTreeSet<CableId> = all
            .iter()
            .enumerate()
            .filter(|(i, _)| *i >= 175 || draw.below(2) > 0)
            .map(|(_, id)| *id)
            .collect();
        let ends: BTreeMap<TestPort, (TestPort, CableId)> = room
            .cables
            .iter()
            .zip(&all)
            .flat_map(|((ends, _), id)| {
                let [a, b] = ends.clone();
                [(a.clone(), (b.clone(), *id)), (b, (a, *id))]
            })
            .collect();
        for _ in 0..k {
            let n = room.cables.len() as u64;
            let at = |draw: &mut RandomStream| (draw.below(n) as usize, draw.below(2) as usize);
            let (x, y) = (at(&mut draw), at(&mut draw));
            match draw.below(3) {
                0 if room.cables[x.0].0.iter().all(|j| room.is_switch(&j.0)) => {
                    room.cables.remove(x.0);
                }
                _ => drop(room.swap(x, y)),
            }
        }
        let seen = room.discovered();
        prop_assume!(seen.switches().len() == 50 && seen.endpoints().len() == 200);
        room.how.due = Some(due.clone());
        let check = room.check();
        prop_assume!(!check.counts().contains_key(&CablingFaultKind::MovedSwitch));
        let mut cables = jacks(&room);
        for finding in &check.findings {
            obey(&room, &mut cables, finding);
        }
        for (a, b) in &cables {
            prop_assert_eq!(&ends[a].0, b, "what is laid is as planned");
        }
        for (a, (b, id)) in &ends {
            let unlaid = check.cables[id] == PlannedCableState::Unlaid;
            prop_assert!(!unlaid || !due.contains(id));
            prop_assert!(cables.get(a) == Some(b) || unlaid && !cables.contains_key(a));
        }
    }
}
