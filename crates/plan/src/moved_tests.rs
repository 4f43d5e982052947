//! Cable checks on switches in one another's places, mixtures of faults, and fabrics that have
//! neither the plan's GUIDs nor its names.

use super::check_tests::{TestFabric, TestPort, built, jacks, obey, slim_fly};
use super::*;
use base::seed::RandomStream;
use fabric::network::{Cable, InfinibandLaneSpeed};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

impl TestFabric {
    /// Exchanges the hardware of two switches, with their endpoints or without.
    fn exchange(&mut self, a: &str, b: &str, with_endpoints: bool) {
        let switches: BTreeSet<String> = self.switch_names().into_iter().collect();
        for (ends, _) in &mut self.cables {
            if with_endpoints && !ends.iter().all(|j| switches.contains(&j.0)) {
                continue;
            }
            for jack in ends.iter_mut() {
                jack.0 = match jack.0.as_str() {
                    name if name == a => b.to_owned(),
                    name if name == b => a.to_owned(),
                    name => name.to_owned(),
                };
            }
        }
    }

    /// Gives every device a name and a GUID that the plan has never heard of.
    fn hide(&mut self, seed: u64) {
        let switches = self.plan.switches().iter().map(|s| s.name.clone());
        let names: Vec<String> =
            switches.chain(self.plan.endpoints().iter().map(|e| e.name.clone())).collect();
        let mut order: Vec<usize> = (0..names.len()).collect();
        let mut draw = RandomStream::new(seed, "masks", 0);
        for i in (1..order.len()).rev() {
            order.swap(i, draw.below(i as u64 + 1) as usize);
        }
        self.masks = names
            .into_iter()
            .zip(order)
            .map(|(name, i)| (name, (format!("box {i}"), 0x5000 + i as u64)))
            .collect();
        // the order of a discovery is that of its own walk
        for i in (1..self.cables.len()).rev() {
            self.cables.swap(i, draw.below(i as u64 + 1) as usize);
        }
    }

    fn switch_names(&self) -> Vec<String> {
        self.plan.switches().iter().map(|s| s.name.clone()).collect()
    }
}

fn counts(check: &CableCheckResult) -> Vec<(CablingFaultKind, u64)> {
    check.counts().into_iter().collect()
}

/// Applies all findings in order; then all planned cables between devices that are there are laid.
fn is_repaired(room: &TestFabric, check: &CableCheckResult) {
    let mut cables = jacks(room);
    for finding in &check.findings {
        obey(room, &mut cables, finding);
    }
    assert_eq!(cables, jacks(&TestFabric::of(room.plan.clone())), "{check}");
}

#[test]
fn two_exchanged_switches_are_one_finding_in_either_order() {
    for (a, b) in [("sf-0-1-2", "sf-1-4-0"), ("sf-0-0-0", "sf-0-0-1"), ("sf-0-2-1", "sf-1-2-1")] {
        for with_endpoints in [false, true] {
            let mut room = slim_fly();
            room.exchange(a, b, with_endpoints);
            let check = room.check();
            assert_eq!(counts(&check), [(CablingFaultKind::MovedSwitch, 1)], "{check}");
            assert_eq!((check.correct, check.planned), (375, 375));
            let f = &check.findings[0];
            let what = format!("switches {a} and {b} stand in each other's places");
            assert_eq!(f.what, what);
            assert_eq!(f.place, format!("{a}, {b}"));
            let along = if with_endpoints { " together with their endpoints" } else { "" };
            assert_eq!(f.repair, format!("exchange them{along}, or swap their names in the plan"));
            let states = check.switches.iter().filter(|s| **s == PlannedSwitchState::Moved).count();
            assert_eq!(states, 2);
            is_repaired(&room, &check);
            room.guids = false;
            assert_eq!(
                counts(&room.check()),
                [(CablingFaultKind::MovedSwitch, 1)],
                "by name alone"
            );
        }
    }
}

#[test]
fn a_rotation_is_one_finding_and_two_are_two() {
    let ring = ["sf-0-1-2", "sf-1-4-0", "sf-0-3-3", "sf-1-1-1", "sf-0-0-4"];
    for k in 3..=5 {
        let mut room = slim_fly();
        for pair in ring[..k].windows(2) {
            room.exchange(pair[0], pair[1], k == 4);
        }
        let check = room.check();
        assert_eq!(counts(&check), [(CablingFaultKind::MovedSwitch, 1)], "{check}");
        assert_eq!(check.findings[0].moves.len(), k - 1);
        is_repaired(&room, &check);
        room.exchange("sf-1-0-0", "sf-1-0-2", false);
        let check = room.check();
        assert_eq!(counts(&check), [(CablingFaultKind::MovedSwitch, 2)], "{check}");
        is_repaired(&room, &check);
    }
}

#[test]
fn a_switch_in_the_place_of_a_dead_one_is_moved_and_the_dead_one_missing() {
    for with_endpoints in [false, true] {
        let mut room = slim_fly();
        room.exchange("sf-0-1-2", "sf-1-4-0", with_endpoints);
        room.dead.insert("sf-1-4-0".into());
        let check = room.check();
        assert_eq!(
            counts(&check),
            [(CablingFaultKind::MissingSwitch, 1), (CablingFaultKind::MovedSwitch, 1)],
            "{check}"
        );
        let dead = &check.findings[0].what;
        assert_eq!(dead, "switch sf-1-4-0 does not answer: 11 cables and 4 endpoints go with it");
        let moved = &check.findings[1];
        assert!(moved.what.ends_with("sf-1-4-0, which does not answer"), "{}", moved.what);
        assert!(moved.repair.ends_with("sf-0-1-2"), "{}", moved.repair);
        assert_eq!((check.lost, check.correct), (11, 364));
        room.dead.clear();
        is_repaired(&room, &check);
    }
}

#[test]
fn further_faults_on_moved_switches_are_still_found() {
    let (a, b) = ("sf-0-1-2", "sf-1-4-0");
    for with_endpoints in [false, true] {
        let mut room = slim_fly();
        room.exchange(a, b, with_endpoints);
        let (x, y) = (room.at(a, 7), room.at(a, 8));
        assert!(room.swap(x, y));
        let (cable, _) = room.at(b, 6);
        room.cables.remove(cable);
        let (cable, _) = room.at(b, 9);
        room.cables[cable].1.speed = InfinibandLaneSpeed::EDR;
        let (x, y) = (room.at(a, 1), room.at("sf-1-1-1", 2));
        assert!(room.swap(x, y));
        let check = room.check();
        let expect = [
            (CablingFaultKind::MovedSwitch, 1),
            (CablingFaultKind::Swapped, 2),
            (CablingFaultKind::Missing, 1),
            (CablingFaultKind::Degraded, 1),
        ];
        assert_eq!(counts(&check), expect, "{check}");
        is_repaired(&room, &check);
    }
}

#[test]
fn a_spare_in_the_place_of_one_that_stands_elsewhere_replaces_the_one_that_is_gone() {
    let mut room = slim_fly();
    room.exchange("sf-0-1-2", "sf-1-4-0", false);
    for (ends, _) in &mut room.cables {
        for jack in ends.iter_mut().filter(|j| j.0 == "sf-1-4-0") {
            jack.0 = "spare".into();
        }
    }
    room.strangers.insert("spare".into(), 0xdef);
    let check = room.check();
    assert_eq!(
        counts(&check),
        [(CablingFaultKind::Replaced, 1), (CablingFaultKind::MovedSwitch, 1)],
        "{check}"
    );
    assert!(check.findings[0].what.contains("sf-1-4-0 was replaced: spare"), "{check}");
    assert_eq!(check.correct, check.planned);
}

#[test]
fn a_fabric_whose_switches_are_all_shuffled_is_only_moved() {
    let mut room = slim_fly();
    let names = room.switch_names();
    for (a, b) in (1..50).map(|i| (&names[i - 1], &names[i])) {
        room.exchange(a, b, false);
    }
    let check = room.check();
    assert_eq!(counts(&check), [(CablingFaultKind::MovedSwitch, 1)], "{check}");
    assert_eq!(check.correct, check.planned);
}

/// An injector of faults that have no cable in common, so that each is a finding of its own.
struct FaultInjector<'a> {
    room: &'a mut TestFabric,
    draw: RandomStream,
    touched: BTreeSet<[TestPort; 2]>,
    made: BTreeMap<CablingFaultKind, u64>,
}

impl<'a> FaultInjector<'a> {
    fn new(room: &'a mut TestFabric, seed: u64) -> Self {
        let draw = RandomStream::new(seed, "harm", 0);
        Self { room, draw, touched: BTreeSet::new(), made: BTreeMap::new() }
    }

    fn below(&mut self, n: usize) -> usize {
        self.draw.below(n as u64) as usize
    }

    /// A cable that no fault has changed yet.
    fn cable(&mut self, links_only: bool) -> Option<usize> {
        let c = self.below(self.room.cables.len());
        let ends = &self.room.cables[c].0;
        let link = ends.iter().all(|j| self.room.is_switch(&j.0));
        (!self.touched.contains(ends) && (link || !links_only)).then_some(c)
    }

    fn touch(&mut self, cables: &[usize], fault: CablingFaultKind) {
        self.touched.extend(cables.iter().map(|c| self.room.cables[*c].0.clone()));
        *self.made.entry(fault).or_insert(0) += 1;
    }

    fn free_jack(&mut self) -> Option<TestPort> {
        let names = self.room.switch_names();
        let s = self.below(names.len());
        let port = self.room.plan.switches()[s].ports + 1 + self.below(5) as u16;
        let jack = (names[s].clone(), port);
        (!jacks(self.room).contains_key(&jack)).then_some(jack)
    }

    /// Exchanges the plugs at `k` ends of cables: each goes to the port of the next, the last to
    /// the first.
    fn rotate(&mut self, k: usize, links_only: bool) -> Option<()> {
        let picked: Vec<usize> = (0..k).map_while(|_| self.cable(links_only)).collect();
        let different = picked.iter().collect::<BTreeSet<_>>().len() == k;
        let before = self.room.cables.clone();
        let ends: Vec<usize> = picked.iter().map(|_| self.below(2)).collect();
        let pair = |i: usize| (picked[i], ends[i]);
        if picked.len() < k || !different {
            return None;
        }
        if !(1..k).all(|i| self.room.swap(pair(i - 1), pair(i))) {
            self.room.cables = before;
            return None;
        }
        self.touch(&picked, CablingFaultKind::Swapped);
        Some(())
    }

    fn fault(&mut self, kinds: usize) -> Option<()> {
        match self.below(kinds) {
            0 => {
                let c = self.cable(true)?;
                self.room.cables[c].1.up = false;
                self.touch(&[c], CablingFaultKind::Missing);
            }
            1 => return self.rotate(2, kinds < 4),
            2 => return self.rotate(3, kinds < 4),
            3 => {
                let c = self.cable(false)?;
                let slow = Cable { speed: InfinibandLaneSpeed::QDR, ..Cable::default() };
                let narrow = Cable { width: 1, ..Cable::default() };
                self.room.cables[c].1 = if self.below(2) == 0 { slow } else { narrow };
                self.touch(&[c], CablingFaultKind::Degraded);
            }
            4 => {
                let (c, jack) = (self.cable(false)?, self.free_jack()?);
                let switches: Vec<usize> =
                    (0..2).filter(|e| self.room.is_switch(&self.room.cables[c].0[*e].0)).collect();
                let end = switches[self.below(switches.len())];
                if self.room.cables[c].0[1 - end].0 == jack.0 {
                    return None;
                }
                self.room.cables[c].0[end] = jack;
                self.touch(&[c], CablingFaultKind::Wrong);
            }
            _ => {
                let (a, b) = (self.free_jack()?, self.free_jack()?);
                if a.0 == b.0 {
                    return None;
                }
                self.room.cables.push(([a, b], Cable::default()));
                self.touch(&[self.room.cables.len() - 1], CablingFaultKind::Extra);
            }
        }
        Some(())
    }

    /// Exchanges two or three switches of which nearly all cables are unchanged so far.
    fn exchange(&mut self) -> Option<()> {
        let names = self.room.switch_names();
        let k = 2 + self.below(2);
        let picked: Vec<String> = (0..k).map(|_| names[self.below(names.len())].clone()).collect();
        let with_endpoints = self.below(2) == 1;
        let of = |name: &String| {
            let touched = self.touched.iter().filter(|ends| ends.iter().any(|j| j.0 == *name));
            touched.count()
        };
        let links = |name: &String| {
            let ends = self.room.cables.iter().map(|(ends, _)| ends);
            let mine = ends.filter(|ends| ends.iter().any(|j| j.0 == *name));
            mine.filter(|ends| ends.iter().all(|j| self.room.is_switch(&j.0))).count()
        };
        let hosts = |name: &String| {
            let s = self.room.plan.switches().iter().position(|s| s.name == *name);
            self.room.plan.terminals_on(SwitchId::from(s.expect("a switch"))).len()
        };
        let fine = |name: &String| {
            let most = if with_endpoints { 0 } else { links(name) / 4 };
            of(name) <= most && (!with_endpoints || hosts(name) == hosts(&picked[0]))
        };
        // a switch of another size cannot take the place
        let alike = |name: &String| links(name) == links(&picked[0]);
        let different = picked.iter().collect::<BTreeSet<_>>().len() == k;
        if !different || !picked.iter().all(|n| fine(n) && alike(n)) {
            return None;
        }
        let moved = with_endpoints && hosts(&picked[0]) > 0;
        for pair in picked.windows(2) {
            self.room.exchange(&pair[0], &pair[1], moved);
        }
        let mut renamed: BTreeSet<[TestPort; 2]> = BTreeSet::new();
        for (ends, _) in &self.room.cables {
            if ends.iter().any(|j| picked.contains(&j.0)) {
                renamed.insert(ends.clone());
            }
        }
        self.touched.extend(renamed);
        *self.made.entry(CablingFaultKind::MovedSwitch).or_insert(0) += 1;
        Some(())
    }
}

const NETS: [&str; 5] = [
    "slim_fly:q=5,p=4",
    "fat_tree:leaves=12,spines=6,parallel=3,p=18",
    "slim_fly:q=9,p=6",
    "dragonfly:p=4,a=8,h=4",
    "torus:shape=4x4x4,p=2",
];

fn mixture(net: &str, seed: u64, k: usize) -> Result<(), TestCaseError> {
    let mut room = TestFabric::of(built(net));
    let mut harm = FaultInjector::new(&mut room, seed);
    let mut moved = 0;
    let mut made = 0;
    for _ in 0..20 * k {
        if made == k {
            break;
        }
        made += usize::from(harm.fault(6).is_some());
    }
    for _ in 0..10 {
        if moved < k.min(2) {
            moved += usize::from(harm.exchange().is_some());
        }
    }
    let expect = harm.made;
    let check = room.check();
    prop_assert_eq!(check.counts(), expect, "{} {}: {}", net, seed, check);
    // pulled cables are marked in the room, not taken out
    room.cables.retain(|(_, cable)| cable.up);
    is_repaired(&room, &check);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn mixtures_of_faults_are_found_one_to_one(
        net in 0..NETS.len(), seed in any::<u64>(), k in 0_usize..=20,
    ) {
        mixture(NETS[net], seed, k)?;
    }

    /// Whatever is done to cables and switches, the moves repair it.
    #[test]
    fn tangles_with_exchanged_switches_are_repaired(seed in any::<u64>(), k in 1_usize..40) {
        let mut room = slim_fly();
        let mut draw = RandomStream::new(seed, "tangle", 1);
        let names = room.switch_names();
        let mut pick = |n: usize| draw.below(n as u64) as usize;
        for _ in 0..k {
            let n = room.cables.len();
            match pick(6) {
                0 | 1 => {
                    let (a, b) = (&names[pick(50)], &names[pick(50)]);
                    if a != b {
                        room.exchange(a, b, false);
                    }
                }
                2 => {
                    let c = pick(n);
                    if room.cables[c].0.iter().all(|j| room.is_switch(&j.0)) {
                        room.cables.remove(c);
                    }
                }
                _ => drop(room.swap((pick(n), pick(2)), (pick(n), pick(2)))),
            }
        }
        let seen = room.discovered();
        prop_assume!(seen.switches().len() == 50);
        is_repaired(&room, &room.check());
    }
}

/// The true name of every planned device as the check sees it.
fn truth(room: &TestFabric, check: &CableCheckResult) -> BTreeMap<String, String> {
    let own: BTreeMap<u64, &String> =
        room.masks.iter().map(|(name, (_, guid))| (*guid, name)).collect();
    check.guids.iter().map(|(planned, guid)| (planned.clone(), own[guid].clone())).collect()
}

#[test]
fn a_hidden_fabric_is_recognised_by_its_cables() {
    for net in NETS {
        let mut room = TestFabric::of(built(net));
        room.hide(7);
        let check = room.check();
        assert!(check.is_clean(), "{net}: {check}");
        assert_eq!(check.identified.by, DeviceIdentificationProperty::Structure);
        assert_eq!(check.identified.switches, room.plan.switches().len() as u64);
        assert_eq!(check.identified.endpoints, room.plan.endpoints().len() as u64);
        // every planned cable is where the check says that its devices are
        let truth = truth(&room, &check);
        let there = jacks(&room);
        for (a, b) in jacks(&TestFabric::of(room.plan.clone())) {
            let seen = &there[&(truth[&a.0].clone(), a.1)];
            assert_eq!(*seen, (truth[&b.0].clone(), b.1));
        }
    }
}

#[test]
fn equally_good_placements_are_counted() {
    // switches in a ring, port 1 to the next and port 2 to the one before: five rotations fit, and
    // no reflection
    let mut room = TestFabric::of(built("torus:shape=5,p=1"));
    room.hide(1);
    let check = room.check();
    assert!(check.is_clean(), "{check}");
    assert_eq!(check.identified.equally_good, 5);
    room.identify = DeviceIdentificationProperty::Name;
    assert_eq!(room.check_refused().param, "found");
}

impl TestFabric {
    fn check_refused(&self) -> base::Refusal {
        let addresses = Some(&self.addresses);
        let found = self.discovered();
        check_cables_by(
            &self.plan,
            addresses,
            &found,
            None,
            CableCheckOptions { identify: self.identify, ..CableCheckOptions::default() },
        )
        .expect_err("another")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Hidden and harmed: as many faults of each kind are found, and the moves repair them.
    #[test]
    fn a_hidden_fabric_with_wrong_cables_is_recognised(
        net in 0..NETS.len(), seed in any::<u64>(), k in 0_usize..=5,
    ) {
        let mut room = TestFabric::of(built(NETS[net]));
        let mut harm = FaultInjector::new(&mut room, seed);
        let mut made = 0;
        while made < k {
            made += usize::from(harm.fault(3).is_some());
        }
        let expect = harm.made;
        room.hide(seed);
        let check = room.check();
        prop_assert_eq!(check.counts(), expect, "{}", check);
        prop_assert_eq!(check.identified.by, DeviceIdentificationProperty::Structure);
    }

    /// Another fabric is refused, whatever its devices are called.
    #[test]
    fn another_fabric_is_not_recognised(seed in any::<u64>()) {
        let mut other = TestFabric::of(built("dragonfly:p=4,a=8,h=4"));
        other.hide(seed);
        let plan = built("slim_fly:q=5,p=4");
        let refusal = check_cables(&plan, None, &other.discovered(), None).expect_err("another");
        prop_assert!(refusal.why.contains("none of the plan's 50 switches"), "{}", refusal);
    }
}
