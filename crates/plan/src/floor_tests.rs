//! Floors against the deployed cluster, formulae, exhaustive search and slower computations.

#![allow(clippy::float_cmp)] // lengths are sums of whole metres

use super::*;
use base::ComputationError;
use base::seed::RandomStream;
use base::{QuietWatch, Refusal};
use fabric::network::parse_inline;
use fabric::network::{Cable, NetworkRecipe, PortPeer, Switch, Topology, TopologyBuilder};
use families::{FAMILIES, family};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn built(net: &str) -> Topology {
    let recipe = parse_inline(net).expect("well formed");
    family(&recipe.family).expect("a family").build(&recipe.params).expect("a member")
}

pub(super) fn floored(t: &Topology, rules: &FloorRules) -> RackFloor {
    floor(t, rules, &QuietWatch).expect("valid rules")
}

fn refused(t: &Topology, rules: &FloorRules) -> Refusal {
    match floor(t, rules, &QuietWatch) {
        Err(ComputationError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// The studies' floor: only switches take room.
pub(super) fn studied() -> FloorRules {
    let row_pitch_m = Some(1.0);
    FloorRules { endpoints: ServerPlacement::Beside, row_pitch_m, ..FloorRules::default() }
}

/// The floor of the cluster that was built: two servers in a unit.
pub(super) fn deployed() -> FloorRules {
    FloorRules { endpoints_per_unit: Some(2), ..FloorRules::default() }
}

/// The network with these edges, as it comes from a file.
pub(super) fn network(switches: u32, edges: &[(u32, u32)], p: u32) -> Topology {
    let mut b = TopologyBuilder::new();
    let all: Vec<SwitchId> =
        (0..switches).map(|s| b.switch(Switch::new(format!("s{s}")))).collect();
    b.endpoints_on(all.iter().copied(), p);
    for &(x, y) in edges {
        b.link(all[x as usize], all[y as usize]);
    }
    let recipe = NetworkRecipe { family: "file".into(), params: serde_json::Map::new() };
    b.finish(recipe).expect("valid")
}

/// Links between switches of one group and rack, between groups of a rack, between racks.
pub(super) fn links(t: &Topology, floor: &RackFloor) -> [usize; 3] {
    let mut counts = [0; 3];
    for l in t.links() {
        let [a, b] =
            [l.a.switch, l.b.switch].map(|s| (&t.switches()[s.ix()], floor.switches[s.ix()].rack));
        let group = (a.0.plane, a.0.group) == (b.0.plane, b.0.group);
        counts[if a.1 == b.1 { usize::from(!group) } else { 2 }] += 1;
    }
    counts
}

/// Links between every two racks that have any.
pub(super) fn pairs(t: &Topology, floor: &RackFloor) -> BTreeMap<(u32, u32), u32> {
    let mut pairs = BTreeMap::new();
    for l in t.links() {
        let [a, b] = [l.a.switch, l.b.switch].map(|s| floor.switches[s.ix()].rack);
        if a != b {
            *pairs.entry((a.min(b), a.max(b))).or_default() += 1;
        }
    }
    pairs
}

/// Total length of all links, metres.
pub(super) fn metres(t: &Topology, floor: &RackFloor, rules: &FloorRules) -> f64 {
    let seat = |s: SwitchId| floor.switches[s.ix()];
    t.links().iter().map(|l| floor.length_m(seat(l.a.switch), seat(l.b.switch), rules)).sum()
}

/// The different lengths of cables from endpoints to their first switch, metres, as text.
fn drops(t: &Topology, floor: &RackFloor, rules: &FloorRules) -> BTreeSet<String> {
    let rails = t.terminals().iter().filter(|rail| rail.rail == 0);
    let length = rails.map(|rail| {
        let seat = floor.endpoints[rail.endpoint.ix()].expect("seated");
        floor.length_m(seat, floor.switches[rail.plug.switch.ix()], rules)
    });
    length.map(|metres| metres.to_string()).collect()
}

#[test]
fn the_deployed_slim_fly_comes_out() {
    let t = built("slim_fly:q=5,p=4");
    let floor = floored(&t, &deployed());
    assert_eq!(floor.racks.len(), 5);
    for (s, seat) in t.switches().iter().zip(&floor.switches) {
        assert_eq!(seat.rack, s.coordinates[1], "rack i holds column i of both halves");
        // half 1 in the order of its partners in half 0: y = i i + c
        let [half, i, y] = s.coordinates[..] else { panic!("three coordinates") };
        let place = if half == 0 { y } else { 5 + (i * i + y) % 5 };
        assert_eq!(seat.unit, Some(place as u16 + 1));
    }
    assert_eq!(links(&t, &floor), [50, 25, 100]);
    let pairs = pairs(&t, &floor);
    assert_eq!(pairs.len(), 10);
    assert!(pairs.values().all(|&n| n == 10), "exactly 10 cables a pair of racks: {pairs:?}");
}

#[test]
fn between_columns_a_port_leads_to_the_same_rack_from_every_switch() {
    let t = built("slim_fly:q=5,p=4");
    let floor = floored(&t, &deployed());
    for port in 7..=11 {
        let racks: BTreeSet<u32> = (0..50)
            .map(|s| match t.peer(SwitchId(s), port) {
                PortPeer::Switch(c) => floor.switches[t.head(c).switch.ix()].rack,
                other => panic!("port {port} of switch {s} is {other:?}"),
            })
            .collect();
        assert_eq!(racks.len(), 1, "port {port} leads to {racks:?}");
    }
}

#[test]
fn racks_of_a_slim_fly_are_wired_alike() {
    for net in [
        "slim_fly:q=4",
        "slim_fly:q=5",
        "slim_fly:q=7",
        "slim_fly:q=8",
        "slim_fly:q=9",
        "fit_fly:q=5,planes=2",
    ] {
        let t = built(net);
        let floor = floored(&t, &studied());
        let mut wiring: BTreeMap<u32, BTreeSet<_>> = BTreeMap::new();
        for link in t.links() {
            let [a, b] = [link.a, link.b].map(|plug| floor.switches[plug.switch.ix()]);
            if a.rack == b.rack {
                let ends = [a.unit, b.unit];
                wiring
                    .entry(a.rack)
                    .or_default()
                    .insert([ends.iter().min().copied(), ends.iter().max().copied()]);
            }
        }
        let first = wiring[&0].clone();
        assert!(first.len() > 3 && wiring.len() == floor.racks.len(), "{net}");
        assert!(wiring.values().all(|rack| *rack == first), "{net}: {wiring:?}");
    }
}

#[test]
fn slim_fly_racks_and_lengths_are_their_formulae() {
    let rules = FloorRules { rack_units: 64, row_pitch_m: Some(1.0), ..FloorRules::default() };
    for (q, d) in [(4, 0), (7, -1), (9, 1), (16, 0), (25, 1)] {
        let t = built(&format!("slim_fly:q={q},p=0"));
        let floor = floored(&t, &rules);
        let inside = (q - d) / 2;
        assert_eq!(floor.racks.len() as i64, q);
        let counts = links(&t, &floor);
        assert_eq!(counts.map(|n| n as i64), [q * q * inside, q * q, q * q * (q - 1)]);
        let root = (q as f64).sqrt();
        if root.fract() == 0.0 {
            // 2q cables a pair of racks; the mean distance over all ordered pairs of racks, equal
            // ones included, is 2 (R - 1) / (3 sqrt R)
            let q = q as f64;
            let mean = 2.0 * (q - 1.0) / (3.0 * root);
            let expect = 2.0 * q * (q * q * mean / 2.0 + 2.0 * q * (q - 1.0) / 2.0);
            let total = metres(&t, &floor, &rules) - (counts[0] + counts[1]) as f64;
            assert!((total - expect).abs() < 1e-6, "q={q}: {total} m for {expect} m");
        }
    }
}

#[test]
fn the_deployed_fat_tree_has_two_leaves_a_rack_with_their_endpoints() {
    let t = built("fat_tree:leaves=12,spines=6,parallel=3,p=18");
    let floor = floored(&t, &FloorRules::default());
    assert_eq!(floor.racks.len(), 7);
    for (s, seat) in t.switches().iter().zip(&floor.switches) {
        assert_eq!(seat.rack == 6, s.level == 1, "{}: spines have the last rack", s.name);
    }
    for rack in 0..6 {
        let leaves = floor.switches.iter().filter(|s| s.rack == rack).count();
        let inside: Vec<_> = floor.endpoints.iter().flatten().filter(|s| s.rack == rack).collect();
        assert_eq!((leaves, inside.len()), (2, 36));
        let units: BTreeSet<_> = inside.iter().map(|s| s.unit).collect();
        assert_eq!(units, (3..=38).map(Some).collect());
    }
    assert_eq!(links(&t, &floor), [0, 0, 216]);
    assert_eq!(drops(&t, &floor, &FloorRules::default()), ["1".to_owned()].into());
    // 20 endpoints a leaf: a second leaf would need 2 + 40 units, which just fits; 21 do not; of 60
    // there are 41 above the leaf and 19 in a rack beside it
    let racks = |p| {
        let net = format!("fat_tree:leaves=12,spines=6,parallel=1,p={p}");
        floored(&built(&net), &FloorRules::default()).racks.len()
    };
    assert_eq!((racks(20), racks(21), racks(60)), (7, 13, 25));
}

#[test]
fn groups_have_racks_and_the_top_of_a_tree_has_its_own() {
    let t = built("dragonfly:p=2,a=4,h=2");
    let floor = floored(&t, &FloorRules::default());
    // balanced: g = a h + 1 racks; C(a, 2) g cables inside, C(g, 2) between them
    assert_eq!((floor.racks.len(), links(&t, &floor)), (9, [6 * 9, 0, 36]));
    assert!(pairs(&t, &floor).values().all(|&n| n == 1), "one cable a pair of groups");
    let t = built("fat_tree:levels=3,k=4");
    let floor = floored(&t, &FloorRules::default());
    let racks = |level| -> BTreeSet<u32> {
        let seats = t.switches().iter().zip(&floor.switches);
        seats.filter(|(s, _)| s.level == level).map(|(_, seat)| seat.rack).collect()
    };
    assert_eq!(racks(0), (0..4).collect());
    assert_eq!(racks(1), racks(0), "edge and aggregation switches of a pod share a rack");
    assert_eq!(racks(2), BTreeSet::from([4]));
}

#[test]
fn what_is_too_high_is_split_evenly_and_nothing_overlaps() {
    for (net, units, switch_units, racks) in [
        ("slim_fly:q=5,p=4", 6, 1, 10),
        ("slim_fly:q=5,p=1", 42, 5, 10),
        ("slim_fly:q=7,p=2", 42, 1, 7),
        ("dragonfly:p=2,a=4,h=2", 3, 1, 18),
        ("fat_tree:levels=3,k=4", 6, 2, 10),
    ] {
        let t = built(net);
        let rules = FloorRules {
            rack_units: units,
            switch_units: Some(switch_units),
            endpoints: ServerPlacement::Beside,
            ..FloorRules::default()
        };
        let floor = floored(&t, &rules);
        assert_eq!(floor.racks.len(), racks, "{net}");
        let mut taken = BTreeSet::new();
        for seat in &floor.switches {
            let low = seat.unit.expect("switches are in racks");
            for unit in low..low + switch_units {
                assert!(unit <= units, "{net}: a switch sticks out");
                assert!(taken.insert((seat.rack, unit)), "{net}: two things in one unit");
            }
        }
        for seat in floor.endpoints.iter().flatten() {
            if let Some(unit) = seat.unit {
                assert!(unit <= units && taken.insert((seat.rack, unit)), "{net}: endpoint");
            }
        }
        let columns = floor.racks.iter().map(|r| r.column).max().expect("racks") + 1;
        let rows = floor.racks.iter().map(|r| r.row).max().expect("racks") + 1;
        assert!(columns.abs_diff(rows) <= 1, "{net}: {columns} x {rows} is not near-square");
    }
}

#[test]
fn only_the_studies_floor_has_servers_beside_the_rack() {
    let t = built("slim_fly:q=5,p=4");
    let floor = floored(&t, &studied());
    assert!(floor.endpoints.iter().flatten().all(|s| s.unit.is_none()), "no one asked for seats");
    assert_eq!(drops(&t, &floor, &studied()), ["2".to_owned()].into());
    let said = warnings(&t, &floor, &studied());
    assert!(said.len() == 1 && said[0].contains("servers of 200 endpoints are not seated"));
    let floor = floored(&t, &deployed());
    let tops = floor.endpoints.iter().flatten().filter_map(|s| s.unit).max();
    assert_eq!(tops, Some(30), "10 + 40 / 2 units");
    assert_eq!(drops(&t, &floor, &deployed()), ["1".to_owned()].into());
    assert_eq!(warnings(&t, &floor, &deployed()), Vec::<String>::new());
}

/// The servers of one switch that its rack does not hold are in racks beside it: 10,830 endpoints
/// of 15 to a switch take 361 racks of two switches and 30 servers.
#[test]
fn servers_take_the_racks_that_they_need() {
    let racks = |net: &str, rules: &FloorRules| floored(&built(net), rules).racks.len();
    let rules = FloorRules::default();
    assert_eq!(racks("slim_fly:q=19,p=15", &rules), 361);
    // a switch and 41 of its 60 servers, and the other 19: two racks each
    assert_eq!(racks("slim_fly:q=3,p=60", &rules), 2 * 18);
    // servers of 8 units with 8 endpoints: 8 are 8 U; above a switch there is room for 5 of 8
    let high = FloorRules { server_units: Some(8), endpoints_per_server: Some(8), ..rules.clone() };
    let t = built("ring:n=4,p=64");
    let floor = floored(&t, &high);
    assert_eq!(floor.racks.len(), 2 * 4);
    let units: BTreeSet<u16> = floor.racks.iter().map(|r| r.units).collect();
    assert_eq!(units, [1 + 5 * 8, 3 * 8].into());
    // in rows: the switches alone in a rack, their servers in as many racks as they fill
    let rows = FloorRules { endpoints: ServerPlacement::Rows, ..rules };
    assert_eq!(racks("slim_fly:q=5,p=4", &rows), 5 * (1 + 1));
    assert_eq!(racks("slim_fly:q=19,p=15", &rows), 19 * (1 + (38_usize * 15).div_ceil(42)));
    let old: FloorRules = FloorRules::from_value(&serde_json::json!({"endpoints": "fit"}))
        .expect("a word of older files");
    assert_eq!(old, FloorRules::default());
}

#[test]
fn rails_in_two_planes_are_cabled_from_one_seat() {
    let mut b = TopologyBuilder::new();
    for plane in 0..2 {
        b.switch(Switch { plane, ..Switch::new(format!("s{plane}")) });
    }
    let e = b.endpoint("host", None);
    b.attach(e, SwitchId(0), 0, Cable::default());
    b.attach(e, SwitchId(1), 0, Cable::default());
    b.endpoint("unplugged", None);
    let recipe = NetworkRecipe { family: "test".into(), params: serde_json::Map::new() };
    let t = b.finish(recipe).expect("valid");
    let rules = FloorRules { rack_units: 2, ..FloorRules::default() };
    let both = floored(&t, &rules);
    assert_eq!(both.racks.len(), 2, "the host and its first switch fill a rack");
    assert_eq!(
        both.endpoints,
        [Some(DeviceRackPosition { rack: 0, unit: Some(2), shared: false }), None]
    );
    let rules = FloorRules { rack_units: 3, switch_units: Some(2), ..FloorRules::default() };
    let apart = floored(&t, &rules);
    let host = apart.endpoints[0].expect("seated");
    assert_eq!(
        host,
        DeviceRackPosition { rack: apart.switches[0].rack, unit: Some(3), shared: false }
    );
    let lengths = [0, 1].map(|s: usize| apart.length_m(host, apart.switches[s], &rules));
    assert_eq!(lengths, [1.0, 3.0], "the other plane's rack is 1 m away, plus 2 m");
}

#[test]
fn rules_out_of_range_are_refused() {
    let t = built("slim_fly:q=4,p=1");
    let good = FloorRules::default;
    for (rules, param) in [
        (FloorRules { rack_units: 0, ..good() }, "rack_units"),
        (FloorRules { switch_units: Some(43), ..good() }, "switch_units"),
        (FloorRules { endpoints_per_unit: Some(0), ..good() }, "endpoints_per_unit"),
        (FloorRules { endpoints_per_server: Some(0), ..good() }, "endpoints_per_server"),
        (FloorRules { server_units: Some(43), ..good() }, "server_units"),
        (
            FloorRules { server_units: Some(2), endpoints_per_unit: Some(2), ..good() },
            "endpoints_per_unit",
        ),
        (
            FloorRules { endpoints_per_server: Some(3), endpoints_per_unit: Some(2), ..good() },
            "endpoints_per_unit",
        ),
        (FloorRules { overhead_m: -1.0, ..good() }, "overhead_m"),
        (FloorRules { pitch_m: f64::NAN, ..good() }, "pitch_m"),
        (FloorRules { pitch_m: 1e7, ..good() }, "pitch_m"),
        (FloorRules { row_pitch_m: Some(-1.0), ..good() }, "row_pitch_m"),
        (FloorRules { racks_per_row: Some(0), ..good() }, "racks_per_row"),
        (FloorRules { slack_m: f64::INFINITY, ..good() }, "slack_m"),
        (FloorRules { slack_fraction: 1e3, ..good() }, "slack_fraction"),
        (FloorRules { rack_kw: Some(0.0), ..good() }, "rack_kw"),
        (FloorRules { rack_kw: Some(f64::NAN), ..good() }, "rack_kw"),
        (FloorRules { endpoint_w: -1.0, ..good() }, "endpoint_w"),
        (FloorRules { stock_m: vec![2.0, 1.0], ..good() }, "stock_m"),
    ] {
        assert_eq!(refused(&t, &rules).param, param);
    }
}

/// Checks a floor: nothing overlaps or sticks out, every server is seated by the rule, every rack
/// reports what is in it, power suffices.
fn keeps_its_promise(t: &Topology, floor: &RackFloor, rules: &FloorRules, net: &str) {
    let mut taken: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut watts = vec![0.0; floor.racks.len()];
    let mut tops = vec![0_u32; floor.racks.len()];
    let mut with_switches = BTreeSet::new();
    for seat in &floor.switches {
        let low = u32::from(seat.unit.expect("switches are in racks"));
        for unit in low..low + u32::from(rules.switch_units.unwrap_or(1)) {
            assert!(taken.insert((seat.rack, unit), u32::MAX).is_none(), "{net}: two in one unit");
        }
        watts[seat.rack as usize] += rules.switch_w.unwrap_or(0.0);
        with_switches.insert(seat.rack);
    }
    let mut home = vec![None; t.endpoints().len()];
    for rail in t.terminals() {
        home[rail.endpoint.ix()].get_or_insert(floor.switches[rail.plug.switch.ix()].rack);
    }
    let height = u32::from(rules.server_units.unwrap_or(1));
    let each = u32::from(rules.endpoints_per_server.or(rules.endpoints_per_unit).unwrap_or(1));
    let mut servers: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut beside: BTreeMap<u32, u32> = BTreeMap::new();
    for (seat, home) in floor.endpoints.iter().zip(home) {
        assert_eq!(seat.is_some(), home.is_some(), "{net}: who has a rail has a seat");
        let (Some(seat), Some(home)) = (*seat, home) else { continue };
        assert_eq!(seat.unit.is_none(), rules.endpoints == ServerPlacement::Beside, "{net}");
        let Some(unit) = seat.unit else {
            assert_eq!(seat.rack, home, "{net}: beside the rack of its switch");
            continue;
        };
        if seat.rack != home {
            assert!(!with_switches.contains(&seat.rack), "{net}: in a rack of other switches");
            assert_eq!(*beside.entry(seat.rack).or_insert(home), home, "{net}: of two racks");
        }
        assert!(rules.endpoints == ServerPlacement::In || seat.rack != home, "{net}: not in rows");
        *servers.entry((seat.rack, unit.into())).or_default() += 1;
        watts[seat.rack as usize] += rules.endpoint_w;
    }
    for (&(rack, low), &endpoints) in &servers {
        assert!(endpoints <= each, "{net}: too many in a server");
        for unit in low..low + height {
            assert!(taken.insert((rack, unit), 1).is_none(), "{net}: a server overlaps");
        }
    }
    stand_beside(floor, rules, &beside, net);
    for &(rack, unit) in taken.keys() {
        assert!(unit >= 1 && unit <= rules.rack_units.into(), "{net}: unit {unit} of {rules:?}");
        tops[rack as usize] = tops[rack as usize].max(unit);
    }
    let spots: BTreeSet<_> = floor.racks.iter().map(|r| (r.row, r.column)).collect();
    assert_eq!(spots.len(), floor.racks.len(), "{net}: two racks on a spot");
    assert!(floor.racks.is_sorted_by_key(|r| (r.row, r.column)), "{net}: numbered row by row");
    for ((rack, watts), top) in floor.racks.iter().zip(watts).zip(tops) {
        assert!(top > 0, "{net}: an empty rack");
        assert_eq!(u32::from(rack.units), top, "{net}");
        assert!((rack.watts - watts).abs() <= 1e-9 * watts, "{net}: {} W", rack.watts);
        let most = rules.rack_kw.map_or(f64::INFINITY, |kw| kw * 1000.0);
        assert!(watts <= most * (1.0 + 1e-6), "{net}: {watts} W of {most}");
        assert!(rules.racks_per_row.is_none_or(|most| rack.column < most), "{net}: {rules:?}");
        assert_eq!(rack.x_m, f64::from(rack.column) * rules.pitch_m);
        let rows = rules.row_pitch_m.unwrap_or(rules.pitch_m);
        assert_eq!(rack.y_m, f64::from(rack.row) * rows);
    }
}

#[test]
fn racks_of_servers_are_in_the_row_of_their_switches() {
    let rows = FloorRules { endpoints: ServerPlacement::Rows, ..FloorRules::default() };
    for (net, rules) in [
        ("slim_fly:q=7,p=6", &rows),
        ("dragonfly:h=3", &rows),
        ("fat_tree:leaves=30,spines=6,parallel=1,p=60", &FloorRules::default()),
        ("jellyfish:n=50,k=6,p=60", &FloorRules::default()),
    ] {
        let t = built(net);
        let floor = floored(&t, rules);
        for rail in t.terminals() {
            let seat = floor.endpoints[rail.endpoint.ix()].expect("seated");
            let [own, switch] = [seat.rack, floor.switches[rail.plug.switch.ix()].rack]
                .map(|r| &floor.racks[r as usize]);
            assert_eq!(own.row, switch.row, "{net}: {} and {}", own.name, switch.name);
        }
    }
}

/// Racks of servers adjoin the rack of their switches, one after the other.
fn stand_beside(floor: &RackFloor, rules: &FloorRules, beside: &BTreeMap<u32, u32>, net: &str) {
    let mut of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&rack, &home) in beside {
        of.entry(home).or_default().push(rack);
    }
    for (home, mut racks) in of {
        let mut reached = vec![home];
        while rules.racks_per_row.is_none() && !racks.is_empty() {
            let spot = |r: u32| &floor.racks[r as usize];
            let near = |r: &u32| {
                reached.iter().any(|&o| {
                    spot(o).row.abs_diff(spot(*r).row) + spot(o).column.abs_diff(spot(*r).column)
                        == 1
                })
            };
            let next = racks.iter().position(near).expect("the servers' racks adjoin");
            reached.push(racks.remove(next));
        }
        assert!(!reached.is_empty(), "{net}");
    }
}

#[test]
fn every_family_keeps_all_random_rules_or_is_refused() {
    let mut draw = RandomStream::new(7, "random rules", 0);
    let mut kept = 0;
    for entry in FAMILIES {
        for recipe in entry.examples() {
            let t = entry.build(&recipe.params).expect("an example");
            for _ in 0..2 {
                let mut any = |of: &[u32]| of[draw.below(of.len() as u64) as usize];
                let rules = FloorRules {
                    rack_units: any(&[1, 3, 8, 42, 65_535]) as u16,
                    switch_units: Some(any(&[1, 1, 2, 9, 65_535]) as u16),
                    server_units: Some(any(&[1, 1, 2, 3, 8]) as u16),
                    endpoints_per_server: Some(any(&[1, 2, 4, 65_535]) as u16),
                    endpoints: [
                        ServerPlacement::In,
                        ServerPlacement::Rows,
                        ServerPlacement::Beside,
                    ][any(&[0, 1, 2]) as usize],
                    rack_kw: [None, Some(0.5), Some(3.0), Some(1e9)]
                        [any(&[0, 0, 1, 2, 3]) as usize],
                    switch_w: Some(f64::from(any(&[0, 100, 250, 700]))),
                    endpoint_w: f64::from(any(&[0, 100, 350])),
                    pitch_m: f64::from(any(&[0, 1, 3, 1_000_000])),
                    row_pitch_m: [None, Some(2.5)][any(&[0, 1]) as usize],
                    racks_per_row: [None, Some(1), Some(3), Some(u32::MAX)]
                        [any(&[0, 0, 1, 2, 3]) as usize],
                    seed: any(&[0, 5, u32::MAX]).into(),
                    ..FloorRules::default()
                };
                let net = format!("{recipe} under {rules:?}");
                match floor(&t, &rules, &QuietWatch) {
                    Ok(floor) => {
                        keeps_its_promise(&t, &floor, &rules, &net);
                        kept += 1;
                    }
                    Err(ComputationError::Refused(r)) => {
                        let known = ["switch_units", "server_units", "rack_kw"];
                        assert!(
                            known.contains(&r.param.as_str()) && !r.help.is_empty(),
                            "{net}: {r}"
                        );
                    }
                    Err(other) => panic!("{net}: {other}"),
                }
            }
        }
    }
    assert!(kept > 80, "{kept} of the floors were not refused");
}

#[test]
fn one_switch_or_one_server_that_no_rack_holds_is_refused() {
    let t = built("slim_fly:q=4,p=5");
    let inside = |units| FloorRules { rack_units: units, ..FloorRules::default() };
    // 1 + 5 units: a rack each where they fit, else a rack of servers beside it
    assert_eq!(floored(&t, &inside(6)).racks.len(), 32);
    assert_eq!(floored(&t, &inside(5)).racks.len(), 64);
    assert_eq!(
        floored(&t, &FloorRules { endpoints_per_unit: Some(2), ..inside(5) }).racks.len(),
        32
    );
    let high = |units| FloorRules { server_units: Some(units), ..inside(5) };
    assert_eq!(refused(&t, &high(6)).param, "server_units");
    assert_eq!(floored(&t, &high(5)).racks.len(), 32 * 6, "one above no switch");
    // a switch of 300 W with 5 endpoints of 100 W
    let of_300 = |kw, rules| FloorRules { rack_kw: Some(kw), switch_w: Some(300.0), ..rules };
    let power = |kw| FloorRules { endpoint_w: 100.0, ..of_300(kw, inside(42)) };
    let racks = |kw| floor(&t, &power(kw), &QuietWatch).expect("enough power").racks.len();
    assert_eq!((racks(0.8), racks(1.59), racks(1.6), racks(6.4)), (32, 32, 16, 8));
    assert_eq!(racks(0.75), 64, "the fifth server is beside");
    assert_eq!(refused(&t, &of_300(0.2, FloorRules::default())).param, "rack_kw");
    let watts = FloorRules { endpoint_w: 400.0, ..of_300(0.35, inside(42)) };
    let refusal = refused(&t, &watts);
    assert_eq!((refusal.param.as_str(), refusal.help.as_str()), ("rack_kw", "at least 0.4"));
}

/// Power splits racks as height does; each rack states the power that it draws.
#[test]
fn racks_are_split_when_power_does_not_suffice() {
    let t = built("slim_fly:q=5,p=4");
    let rules = |kw| FloorRules { rack_kw: Some(kw), switch_w: Some(400.0), ..studied() };
    for (kw, racks) in [(4.0, 5), (3.99, 10), (2.0, 10), (1.99, 15), (0.4, 50)] {
        let floor = floor(&t, &rules(kw), &QuietWatch).expect("enough power");
        assert_eq!(floor.racks.len(), racks, "{kw} kW");
        let drawn: f64 = floor.racks.iter().map(|r| r.watts).sum();
        assert_eq!(drawn, 20_000.0);
    }
    // 10 switches and 40 servers of 25 W draw 5 kW; of 26 W they draw more, in two racks each
    for (endpoint_w, racks) in [(25.0, 5), (26.0, 10)] {
        let tight =
            FloorRules { endpoint_w, rack_kw: Some(5.0), switch_w: Some(400.0), ..deployed() };
        assert_eq!(floor(&t, &tight, &QuietWatch).expect("enough power").racks.len(), racks);
    }
}

/// Warnings say what a rack may draw and what it draws; there is none about unknown power.
#[test]
fn warnings_name_what_is_unknown_and_what_is_too_hot() {
    let t = built("slim_fly:q=5,p=4");
    let said = |rules: &FloorRules| warnings(&t, &floored(&t, rules), rules);
    let known = FloorRules { switch_w: Some(750.0), endpoint_w: 700.0, ..deployed() };
    // 10 x 750 + 40 x 700 W are 35.5 kW; 900 W a server make it 43.5
    assert_eq!(said(&known), Vec::<String>::new());
    let hot = said(&FloorRules { endpoint_w: 900.0, ..known.clone() });
    assert!(hot.len() == 1 && hot[0].starts_with("5 of 5 racks draw more than 40 kW"), "{hot:?}");
    assert!(hot[0].contains("43.5 kW in R00"), "{hot:?}");
    let limited = FloorRules { rack_kw: Some(30.0), ..deployed() };
    let both = said(&limited);
    assert!(both.len() == 2 && both[0].contains("switch_w") && both[1].contains("endpoint_w"));
    assert!(said(&FloorRules { rack_kw: Some(40.0), ..known }).is_empty());
}

/// With endpoints in the racks of switches, a group takes as many racks as its switches and
/// endpoints need.
#[test]
fn endpoints_that_are_in_split_racks_and_those_beside_do_not() {
    let seats = |endpoints| FloorRules { endpoints, ..FloorRules::default() };
    let t = built("slim_fly:q=5,p=4");
    // 42 / 5 is 8: a column of 10 takes two racks, 5 switches and 20 endpoints each
    let floor = floored(&t, &seats(ServerPlacement::In));
    assert_eq!(floor.racks.len(), 10);
    assert!(floor.racks.iter().all(|r| r.units == 25));
    assert!(floor.endpoints.iter().flatten().all(|s| s.unit.is_some()));
    let beside = floored(&built("slim_fly:q=5,p=1"), &seats(ServerPlacement::Beside));
    assert!(beside.endpoints.iter().flatten().all(|s| s.unit.is_none()), "though they would fit");
    // leaves of a tree: 12 in one rack, and the endpoints beside it
    let tree = floored(
        &built("fat_tree:leaves=12,spines=6,parallel=3,p=18"),
        &seats(ServerPlacement::Beside),
    );
    assert_eq!(tree.racks.iter().map(|r| r.units).collect::<Vec<_>>(), [12, 6]);
}

#[test]
fn rows_slack_and_pitches_are_as_ruled() {
    let t = built("slim_fly:q=5,p=4");
    let rules = FloorRules {
        racks_per_row: Some(2),
        pitch_m: 0.5,
        row_pitch_m: Some(3.0),
        slack_m: 0.25,
        slack_fraction: 0.5,
        ..studied()
    };
    let floor = floored(&t, &rules);
    let at: Vec<(f64, f64)> = floor.racks.iter().map(|r| (r.x_m, r.y_m)).collect();
    assert_eq!(at, [(0.0, 0.0), (0.5, 0.0), (0.0, 3.0), (0.5, 3.0), (0.0, 6.0)]);
    let seat = |rack| DeviceRackPosition { rack, unit: Some(1), shared: false };
    assert_eq!(floor.length_m(seat(1), seat(4), &rules), (0.5 + 6.0 + 2.0) * 1.5 + 0.25);
    assert_eq!(floor.length_m(seat(1), seat(1), &rules), 1.0);
    // a grid that is wider than the rule allows goes on in the next row
    let narrow = FloorRules { racks_per_row: Some(3), ..studied() };
    let floor = floored(&built("hyperx:shape=2x4x2,p=0"), &narrow);
    let spots: Vec<(u32, u32)> = floor.racks.iter().map(|r| (r.row, r.column)).collect();
    assert_eq!(spots, [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1), (2, 2), (3, 0)]);
}

#[test]
fn an_interruption_stops_the_search() {
    /// A watch that asks to stop at once.
    struct ImmediatelyStoppingWatch;
    impl base::ProgressWatch for ImmediatelyStoppingWatch {
        fn tick(&self, _: &str, _: u64, _: u64) -> Result<(), base::Interrupted> {
            Err(base::Interrupted)
        }
    }
    let t = built("jellyfish:n=200,k=5,p=1");
    let stopped = floor(&t, &FloorRules::default(), &ImmediatelyStoppingWatch);
    assert!(matches!(stopped, Err(ComputationError::Interrupted(_))));
}

/// Rows stand a rack of 1.2 m and an aisle of 1.2 m apart where nothing else is said; the three
/// racks of the first row and the two of the second are 1 m apart.
#[test]
fn rows_leave_room_for_a_rack_and_an_aisle() {
    let t = built("slim_fly:q=5,p=4");
    let floor = floored(&t, &deployed());
    let places: Vec<(f64, f64)> = floor.racks.iter().map(|r| (r.x_m, r.y_m)).collect();
    assert_eq!(places, [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.0, 2.4), (1.0, 2.4)]);
    // ten cables a pair of racks: three pairs beside each other and one with a rack between; across
    // the aisle two pairs face each other, three are a rack aside, one two
    let along = [1.0, 1.0, 1.0, 2.0];
    let across = [0.0, 0.0, 1.0, 1.0, 1.0, 2.0].map(|x: f64| x + 2.4);
    let runs: f64 = along.iter().chain(&across).map(|d| 10.0 * (d + 2.0)).sum();
    assert!((metres(&t, &floor, &deployed()) - (75.0 + runs)).abs() < 1e-9);
    // a plan of an earlier version, whose rows had no distance of their own
    let earlier = FloorRules::from_value(&serde_json::json!({"row_pitch_m": null}));
    assert!((earlier.expect("valid").row_pitch() - 1.0).abs() < f64::EPSILON);
}
