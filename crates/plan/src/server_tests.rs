//! Servers of a catalogue: how many endpoints are in one, by the rails of the network.

use super::catalog::Catalog;
use super::{FloorRules, PriceSource, ServerPlacement, floor, hints, warnings};
use base::QuietWatch;
use fabric::network::{Cable, NetworkRecipe, Switch, Topology, TopologyBuilder, parse_inline};
use families::family;
use std::collections::BTreeMap;

/// `nodes` endpoints, each with a rail in each of `rails` planes of one switch.
fn planes(rails: u16, nodes: usize) -> Topology {
    let mut b = TopologyBuilder::new();
    let switches: Vec<_> = (0..rails)
        .map(|plane| b.switch(Switch { plane, ..Switch::new(format!("s{plane}")) }))
        .collect();
    for node in 0..nodes {
        let e = b.endpoint(format!("node{node}"), None);
        for &s in &switches {
            b.attach(e, s, 0, Cable::default());
        }
    }
    b.finish(NetworkRecipe { family: "test".into(), params: serde_json::Map::new() })
        .expect("valid")
}

fn resolved(t: &Topology, rules: &FloorRules) -> Result<FloorRules, base::Refusal> {
    let catalog = Catalog::named("products-2026").expect("it comes along");
    rules.resolved(t, PriceSource::of(&catalog))
}

fn in_servers(id: &str) -> FloorRules {
    FloorRules { server: Some(id.into()), ..FloorRules::default() }
}

/// A box with eight adapters is one node of eight rails, four endpoints of two, eight of one; the
/// four nodes of a chassis are four endpoints whatever rails they have.
#[test]
fn the_adapters_of_a_server_are_the_rails_of_its_endpoints() {
    for (id, rails, each) in [
        ("dgx_h100", 8, 1),
        ("dgx_h100", 4, 2),
        ("dgx_h100", 3, 2),
        ("dgx_h100", 1, 8),
        ("dgx_h100", 16, 1),
        ("2u4n", 1, 4),
        ("2u4n", 2, 4),
        ("2u", 2, 1),
    ] {
        let rules = resolved(&planes(rails, 8), &in_servers(id)).expect("a server");
        assert_eq!(rules.endpoints_per_server, Some(each), "{id} at {rails} rails");
        let watts = f64::from(each) * rules.endpoint_w;
        let whole = BTreeMap::from([("dgx_h100", 10_200.0), ("2u4n", 2_600.0), ("2u", 900.0)])[id];
        assert!((watts - whole).abs() < 1e-9, "the box draws {whole} W, not {watts}");
    }
}

#[test]
fn a_number_of_endpoints_beside_a_server_is_taken_where_it_agrees() {
    let given = |each| FloorRules { endpoints_per_server: Some(each), ..in_servers("dgx_h100") };
    let eight = planes(8, 8);
    assert_eq!(resolved(&eight, &given(1)), resolved(&eight, &in_servers("dgx_h100")));
    let refusal = resolved(&eight, &given(8)).expect_err("one of eight rails");
    assert_eq!(refusal.param, "endpoints_per_server");
    assert!(refusal.why.contains("dgx_h100 has 1 endpoints of 8 rails"), "{refusal}");
    assert!(resolved(&planes(1, 8), &given(8)).is_ok());
    assert!(resolved(&planes(1, 8), &given(1)).is_err());
    let named = FloorRules::default().with_server(Some("2u")).expect("no other is named");
    assert_eq!(named, in_servers("2u"));
    assert_eq!(named.clone().with_server(None), Ok(named.clone()));
    assert!(named.with_server(Some("1u")).is_err());
}

/// 128 boxes of 8 U in racks of 42 U: five a rack, 26 racks; at 10.2 kW each four stay within
/// 45 kW, 32 racks. Their eight switches are in a rack of their own.
#[test]
fn boxes_of_eight_rails_fill_racks_by_height_and_by_power() {
    let t = planes(8, 128);
    // the catalogue has no switch of 128 ports, whose power would be its own
    let given = FloorRules { switch_w: Some(750.0), ..in_servers("dgx_h100") };
    let rows = FloorRules { endpoints: ServerPlacement::Rows, ..given };
    for (rack_kw, each, racks) in [(None, 5, 26), (Some(45.0), 4, 32), (Some(10.2), 1, 128)] {
        let rules = resolved(&t, &FloorRules { rack_kw, ..rows.clone() }).expect("a server");
        let floor = floor(&t, &rules, &QuietWatch).expect("they fit");
        let servers = &floor.racks[1..];
        assert_eq!((floor.racks[0].units, servers.len()), (8, racks));
        assert!(servers.iter().all(|r| r.units <= 8 * each), "{each} boxes a rack");
        assert_eq!(servers.iter().map(|r| u32::from(r.units)).sum::<u32>(), 128 * 8);
        let kw: f64 = servers.iter().map(|r| r.watts / 1000.0).sum();
        assert!((kw - 128.0 * 10.2).abs() < 1e-6);
        // without a limit five boxes are more than air cools, which a limit answers
        assert_eq!(warnings(&t, &floor, &rules).len(), usize::from(rack_kw.is_none()));
    }
}

/// The rail-only cluster of eight planes of four leaves: beside the eight leaves (750 W each) of 32
/// nodes there is room for 4 boxes by height, 3 by 45 kW; the others are 5 or 4 a rack.
#[test]
fn a_cluster_of_eight_planes_has_its_servers_beside_its_leaves() {
    let recipe =
        parse_inline("multi_plane:planes=8,of=fat_tree:leaves=4,spines=2,parallel=16,p=32")
            .expect("well formed");
    let t = family(&recipe.family).expect("a family").build(&recipe.params).expect("a member");
    for (rack_kw, racks) in [
        (None, 4 * (1 + (32_usize - 4).div_ceil(5)) + 1),
        (Some(45.0), 4 * (1 + (32_usize - 3).div_ceil(4)) + 1),
    ] {
        let rules = FloorRules { rack_kw, ..in_servers("dgx_h100") };
        let rules = resolved(&t, &rules).expect("a server");
        let floor = floor(&t, &rules, &QuietWatch).expect("they fit");
        assert_eq!(floor.racks.len(), racks);
        let boxes: std::collections::BTreeSet<_> =
            floor.endpoints.iter().flatten().map(|seat| (seat.rack, seat.unit)).collect();
        assert_eq!(boxes.len(), 128, "one box a node");
    }
}

/// A switch and 21 servers take 22 of 42 units, so that two of them need 44; with 20 servers they
/// take 42. At 19 a switch two fit already and share racks; 25 would have to lose five of 25.
#[test]
fn racks_that_are_half_empty_are_hinted_at() {
    let said = |p: u32, rules: &FloorRules| {
        let recipe = parse_inline(&format!("hyperx:shape=22x22,p={p}")).expect("well formed");
        let t = family("hyperx").expect("a family").build(&recipe.params).expect("a member");
        let floor = floor(&t, rules, &QuietWatch).expect("they fit");
        (floor.racks.len(), hints(&t, &floor, rules))
    };
    let (racks, found) = said(21, &FloorRules::default());
    assert_eq!(racks, 484);
    assert_eq!(
        found,
        ["each rack has 22 of 42 units taken, and what two hold does not fit in one; with 20 \
          endpoints a switch instead of 21 (9680 instead of 10164) it would, in 242 racks instead \
          of 484"]
    );
    assert_eq!(said(20, &FloorRules::default()), (242, Vec::new()), "what the hint says is true");
    assert_eq!(said(19, &FloorRules::default()).1, Vec::<String>::new());
    assert_eq!(said(25, &FloorRules::default()).1, Vec::<String>::new());
    let rows = FloorRules { endpoints: ServerPlacement::Rows, ..FloorRules::default() };
    assert_eq!(said(21, &rows).1, Vec::<String>::new());
}
