//! Floors and cable lists against the deployed cluster, formulae and the published cost model.

#![allow(clippy::float_cmp)] // lengths are sums of whole metres

use super::cable::{CSV_HEADER, CableId};
use super::*;
use crate::network::{Builder, Cable, Peer, Recipe, Switch, Topology};
use crate::topology::{family, parse_inline};
use base::LinkId;
use std::collections::{BTreeMap, BTreeSet};

fn built(net: &str) -> Topology {
    let recipe = parse_inline(net).expect("well formed");
    family(&recipe.family).expect("a family").build(&recipe.params).expect("a member")
}

fn planned(t: &Topology, rules: &FloorRules) -> (Floor, Vec<PlannedCable>) {
    let floor = floor(t, rules).expect("valid rules");
    let catalog = Catalog::named("fdr10-2014").expect("it comes along");
    let shop = Shop { catalog: &catalog, gbps: Some(200.0) };
    let list = cables(t, &floor, rules, shop).expect("all is on sale");
    (floor, list)
}

fn count(list: &[PlannedCable], step: u8) -> usize {
    list.iter().filter(|c| c.step == step).count()
}

#[test]
fn the_deployed_slim_fly_comes_out() {
    let t = built("slim_fly:q=5,p=4");
    let (floor, list) = planned(&t, &FloorRules::default());
    assert_eq!(floor.racks.len(), 5);
    for (s, seat) in t.switches().iter().zip(&floor.switches) {
        assert_eq!(seat.rack, s.coordinates[1], "rack i holds column i of both halves");
        assert_eq!(seat.unit, Some((s.coordinates[0] * 5 + s.coordinates[2] + 1) as u16));
    }
    assert_eq!([1, 2, 3, 0].map(|s| count(&list, s)), [50, 25, 100, 200]);
    let mut pairs: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for c in list.iter().filter(|c| c.step == 3) {
        *pairs.entry((c.a.seat.rack, c.b.seat.rack)).or_default() += 1;
    }
    assert_eq!(pairs.len(), 10);
    assert!(pairs.values().all(|&n| n == 10), "exactly 10 cables a pair of racks: {pairs:?}");
}

#[test]
fn between_columns_a_port_leads_to_the_same_rack_from_every_switch() {
    let t = built("slim_fly:q=5,p=4");
    let (floor, _) = planned(&t, &FloorRules::default());
    for port in 7..=11 {
        let racks: BTreeSet<u32> = (0..50)
            .map(|s| match t.peer(SwitchId(s), port) {
                Peer::Switch(c) => floor.switches[t.head(c).switch.ix()].rack,
                other => panic!("port {port} of switch {s} is {other:?}"),
            })
            .collect();
        assert_eq!(racks.len(), 1, "port {port} leads to {racks:?}");
    }
}

#[test]
fn slim_fly_racks_and_lengths_are_their_formulae() {
    let rules = FloorRules { rack_units: 64, ..FloorRules::default() };
    for (q, d) in [(4, 0), (7, -1), (9, 1), (16, 0), (25, 1)] {
        let t = built(&format!("slim_fly:q={q},p=0"));
        let (floor, list) = planned(&t, &rules);
        let inside = (q - d) / 2;
        assert_eq!(floor.racks.len() as i64, q);
        assert_eq!(count(&list, 1) as i64, q * q * inside);
        assert_eq!(count(&list, 2) as i64, q * q);
        assert_eq!(count(&list, 3) as i64, q * q * (q - 1));
        let root = (q as f64).sqrt();
        if root.fract() == 0.0 {
            // 2q cables a pair of racks; the mean distance over all ordered pairs of racks, equal
            // ones included, is 2 (R - 1) / (3 sqrt R)
            let q = q as f64;
            let mean = 2.0 * (q - 1.0) / (3.0 * root);
            let expect = 2.0 * q * (q * q * mean / 2.0 + 2.0 * q * (q - 1.0) / 2.0);
            let total: f64 = list.iter().filter(|c| c.step == 3).map(|c| c.length_m).sum();
            assert!((total - expect).abs() < 1e-6, "q={q}: {total} m for {expect} m");
        }
    }
}

#[test]
fn the_deployed_fat_tree_has_two_leaves_a_rack_with_their_endpoints() {
    let t = built("fat_tree:leaves=12,spines=6,parallel=3,p=18");
    let (floor, list) = planned(&t, &FloorRules::default());
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
    assert_eq!([1, 2, 3, 0].map(|s| count(&list, s)), [0, 0, 216, 216]);
    assert!(list.iter().filter(|c| c.step == 0).all(|c| c.length_m == 1.0));
    // 20 endpoints a leaf: a second leaf would need 2 + 40 units, which just fits; 21 do not
    let racks = |p| {
        let net = format!("fat_tree:leaves=12,spines=6,parallel=1,p={p}");
        planned(&built(&net), &FloorRules::default()).0.racks.len()
    };
    assert_eq!((racks(20), racks(21), racks(60)), (7, 13, 13));
}

#[test]
fn groups_have_racks_and_the_top_of_a_tree_has_its_own() {
    let t = built("dragonfly:p=2,a=4,h=2");
    let (floor, list) = planned(&t, &FloorRules::default());
    // balanced: g = a h + 1 racks; C(a, 2) g cables inside, C(g, 2) between them
    assert_eq!((floor.racks.len(), count(&list, 1), count(&list, 3)), (9, 6 * 9, 36));
    let t = built("fat_tree:levels=3,k=4");
    let (floor, _) = planned(&t, &FloorRules::default());
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
        let rules = FloorRules { rack_units: units, switch_units, ..FloorRules::default() };
        let (floor, _) = planned(&t, &rules);
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
fn endpoints_that_do_not_fit_stand_beside_the_rack() {
    let t = built("slim_fly:q=5,p=4");
    let (floor, list) = planned(&t, &FloorRules::default());
    assert!(floor.endpoints.iter().flatten().all(|s| s.unit.is_none()), "10 + 40 > 42 units");
    assert!(list.iter().filter(|c| c.step == 0).all(|c| c.length_m == 2.0));
    let rules = FloorRules { endpoints_per_unit: 2, ..FloorRules::default() };
    let (floor, list) = planned(&t, &rules);
    let tops = floor.endpoints.iter().flatten().filter_map(|s| s.unit).max();
    assert_eq!(tops, Some(30), "10 + 40 / 2 units");
    assert!(list.iter().filter(|c| c.step == 0).all(|c| c.length_m == 1.0));
}

#[test]
fn rails_in_two_planes_are_cabled_from_one_seat() {
    let mut b = Builder::new();
    for plane in 0..2 {
        b.switch(Switch { plane, ..Switch::new(format!("s{plane}")) });
    }
    let e = b.endpoint("host", None);
    b.attach(e, SwitchId(0), 0, Cable::default());
    b.attach(e, SwitchId(1), 0, Cable::default());
    b.endpoint("unplugged", None);
    let recipe = Recipe { family: "test".into(), params: serde_json::Map::new() };
    let (floor, list) = planned(&b.finish(recipe).expect("valid"), &FloorRules::default());
    assert_eq!(floor.endpoints, [Some(Seat { rack: 0, unit: Some(2) }), None]);
    let lengths: Vec<(f64, u16)> = list.iter().map(|c| (c.length_m, c.a.port)).collect();
    assert_eq!(lengths, [(1.0, 1), (3.0, 2)], "the other plane's rack is 1 m away, plus 2 m");
}

#[test]
fn classes_add_up_and_prices_are_the_linear_model() {
    let t = built("slim_fly:q=5,p=4");
    let rules = FloorRules::default();
    let (floor, list) = planned(&t, &rules);
    let classes = by_length(&list);
    assert_eq!(classes.iter().map(|c| c.cables).sum::<u64>(), 375);
    let electric = &classes[0];
    assert_eq!((electric.kind, electric.stock_m, electric.cables), (CableKind::Electric, 1.0, 75));
    // 200 Gbit/s over 1 m: 200 (0.4079 + 0.5771)
    assert!((electric.cost_usd - 75.0 * 197.0).abs() < 1e-6);
    // racks stand 3 + 2: distances 1, 1, 1, 1, 1, 2, 2, 2, 2, 3 m, and 2 m overhead
    let between: BTreeMap<u64, u64> =
        classes[1..].iter().filter(|c| !c.endpoint_cables).fold(BTreeMap::new(), |mut m, c| {
            *m.entry(c.stock_m as u64).or_default() += c.cables;
            m
        });
    assert_eq!(between, BTreeMap::from([(3, 50), (5, 50)]));
    let three = classes.iter().find(|c| c.stock_m == 3.0).expect("cables of 3 m");
    assert_eq!(three.kind, CableKind::Optical);
    assert!((three.cost_usd - 50.0 * 200.0 * (0.0919 * 3.0 + 7.2745)).abs() < 1e-6);
    let far = FloorRules { pitch_m: 100.0, ..rules };
    let (_, far_cables) = planned(&t, &far);
    let longest = by_length(&far_cables).iter().map(|c| c.stock_m).fold(0.0, f64::max);
    assert_eq!(longest, 350.0, "302 m is bought as a multiple of the longest stock length");
    assert_eq!(floor.distance_m(0, 4), 2.0, "rack 4 is in row 1, column 1");
}

#[test]
fn the_cable_list_has_one_row_a_cable_and_no_label_twice() {
    let t = built("slim_fly:q=5,p=4");
    let (floor, list) = planned(&t, &FloorRules::default());
    let mut csv = String::new();
    write_csv(&t, &floor, &list, &mut csv).expect("strings do not fail");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some(CSV_HEADER));
    let mut labels = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), 17, "{line}");
        assert!(ids.insert(fields[0].to_owned()));
        for label in [fields[11], fields[16]] {
            assert!(labels.insert(label.to_owned()), "{label} is on two cable ends");
        }
    }
    assert_eq!((ids.len(), labels.len()), (375, 750));
    let link = t.links()[74 + 26];
    let c = list.iter().find(|c| c.id == CableId::Link(LinkId(100))).expect("every link");
    let ends: BTreeSet<_> = [c.a, c.b].map(|e| (e.device, e.port)).into();
    let expect = [link.a, link.b].map(|p| (Device::Switch(p.switch), p.port));
    assert_eq!(ends, expect.into());
    assert!(csv.contains(",R00,1,sf-0-0-0,5,R00-U01-P05,R00,2,sf-0-0-1,6,R00-U02-P06\n"));
}

#[test]
fn names_with_commas_and_quotes_stay_one_field() {
    let mut b = Builder::new();
    let x = b.switch(Switch::new("a,b"));
    let y = b.switch(Switch::new("say \"c\""));
    b.link(x, y);
    let recipe = Recipe { family: "test".into(), params: serde_json::Map::new() };
    let t = b.finish(recipe).expect("valid");
    let (floor, list) = planned(&t, &FloorRules::default());
    let mut csv = String::new();
    write_csv(&t, &floor, &list, &mut csv).expect("strings do not fail");
    assert!(
        csv.ends_with(",R00,1,\"a,b\",1,R00-U01-P01,R00,2,\"say \"\"c\"\"\",1,R00-U02-P01\n"),
        "{csv}"
    );
}

#[test]
fn rules_out_of_range_are_refused() {
    let t = built("slim_fly:q=4,p=1");
    let good = FloorRules::default;
    for (rules, param) in [
        (FloorRules { rack_units: 0, ..good() }, "rack_units"),
        (FloorRules { switch_units: 43, ..good() }, "switch_units"),
        (FloorRules { endpoints_per_unit: 0, ..good() }, "endpoints_per_unit"),
        (FloorRules { overhead_m: -1.0, ..good() }, "overhead_m"),
        (FloorRules { pitch_m: f64::NAN, ..good() }, "pitch_m"),
        (FloorRules { stock_m: vec![2.0, 1.0], ..good() }, "stock_m"),
    ] {
        assert_eq!(floor(&t, &rules).expect_err("out of range").param, param);
    }
}
