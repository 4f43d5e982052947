//! Cable lists against the deployed cluster, formulae and the published cost model.

#![allow(clippy::float_cmp)] // lengths are sums of whole metres

use super::cable::{CSV_HEADER, CableId};
use super::*;
use base::{LinkId, QuietWatch};
use fabric::network::parse_inline;
use fabric::network::{NetworkRecipe, Switch, Topology, TopologyBuilder};
use families::family;
use std::collections::{BTreeMap, BTreeSet};

fn built(net: &str) -> Topology {
    let recipe = parse_inline(net).expect("well formed");
    family(&recipe.family).expect("a family").build(&recipe.params).expect("a member")
}

fn planned(t: &Topology, rules: &FloorRules) -> (RackFloor, Vec<PlannedCable>) {
    let floor = floor(t, rules, &QuietWatch).expect("valid rules");
    let catalog = Catalog::named("fdr10-2014").expect("it comes along");
    let shop = PriceSource { gbps: Some(200.0), ..PriceSource::of(&catalog) };
    let list = cables(t, &floor, rules, shop).expect("all is on sale");
    (floor, list)
}

#[test]
fn classes_add_up_and_prices_are_the_linear_model() {
    let t = built("slim_fly:q=5,p=4");
    let rules = super::floor_tests::studied();
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
    // rows without a distance of their own are as far apart as racks
    let far = FloorRules { pitch_m: 100.0, row_pitch_m: None, ..rules };
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
fn endpoints_that_share_a_unit_have_labels_of_their_own() {
    let t = built("slim_fly:q=5,p=4");
    let rules = FloorRules { endpoints_per_unit: Some(4), ..FloorRules::default() };
    let (floor, list) = planned(&t, &rules);
    let mut labels = BTreeSet::new();
    for end in list.iter().flat_map(|c| [c.a, c.b]) {
        let label = floor.label(end.seat, cable::device_name(&t, end.device), end.port);
        assert!(labels.insert(label.clone()), "{label} is on two cable ends");
    }
    assert!(labels.contains("R00-U11-host-0000-P01"));
}

#[test]
fn names_with_commas_and_quotes_stay_one_field() {
    let mut b = TopologyBuilder::new();
    let x = b.switch(Switch::new("a,b"));
    let y = b.switch(Switch::new("say \"c\""));
    b.link(x, y);
    let recipe = NetworkRecipe { family: "test".into(), params: serde_json::Map::new() };
    let t = b.finish(recipe).expect("valid");
    let (floor, list) = planned(&t, &FloorRules::default());
    let mut csv = String::new();
    write_csv(&t, &floor, &list, &mut csv).expect("strings do not fail");
    assert!(
        csv.ends_with(",R00,1,\"a,b\",1,R00-U01-P01,R00,2,\"say \"\"c\"\"\",1,R00-U02-P01\n"),
        "{csv}"
    );
}
