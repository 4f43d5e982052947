//! Bills against sums by hand, catalogues with faults, and the figures of the 2014 study.

#![allow(clippy::float_cmp)] // rates and prints are given, not computed

use super::catalog::{BillSection, CableUse, FigureConfidence};
use super::floor_tests::studied;
use super::sc14::CostStudyColumn;
use super::{
    Bill, BillItem, CableKind, Catalog, IncludedBillItems, PriceSource, bill, cables,
    cables_unsorted, catalog_file, floor,
};
use base::QuietWatch;
use fabric::network::{
    Cable, CablePlug, InfinibandLaneSpeed, NetworkRecipe, RateSource, Switch, Topology,
    TopologyBuilder, parse_inline,
};
use families::family;
use proptest::prelude::*;

fn built(net: &str) -> Topology {
    let recipe = parse_inline(net).expect("well formed");
    family(&recipe.family).expect("a family").build(&recipe.params).expect("a member")
}

fn billed(net: &str, catalog: &Catalog, include: &[BillItem]) -> Bill {
    let (t, rules) = (built(net), studied());
    let include = IncludedBillItems::of(include).expect("items");
    let shop = PriceSource { include, ..PriceSource::of(catalog) };
    let floor = floor(&t, &rules, &QuietWatch).expect("valid rules");
    let list = cables(&t, &floor, &rules, shop).expect("all is on sale");
    bill(&t, &list, shop).expect("all is on sale")
}

fn named(name: &str) -> Catalog {
    Catalog::named(name).expect("it comes along")
}

fn close(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected}");
}

/// At true radix (k = 44): 722 routers at 350.4 k - 892.3 dollars, 3971 electric cables of 1 m and
/// 6498 optical ones. The study takes the mean distance on a full square of racks, with which it is
/// 1167.9 dollars an endpoint; 19 racks in 5 columns stand a little farther apart.
#[test]
fn the_slim_fly_of_the_study_costs_what_its_models_say() {
    let found = billed("slim_fly:q=19,p=15", &named("fdr10-2014"), &[BillItem::Network]);
    assert_eq!((found.cables_electric, found.cables_optical, found.radix), (3971, 6498, 44));
    close(found.cost_usd_per_endpoint.expect("endpoints"), 1167.9, 0.7);
    close(found.power_w_per_endpoint.expect("endpoints"), 722.0 * 44.0 * 2.8 / 10_830.0, 1e-9);
    close(found.switches_usd, 722.0 * (350.4 * 44.0 - 892.3), 1e-3);
    close(found.electric_usd, 3971.0 * 40.0 * (0.4079 + 0.5771), 1e-3);
    close(found.cost_usd, found.switches_usd + found.electric_usd + found.optical_usd, 1e-3);
    assert_eq!(found.link_gbps, 40.0);
    assert!(found.lines.iter().any(|l| !l.counted), "endpoint cables are listed, not counted");
    let kwh = found.power_w.expect("known") * 8.76;
    close(found.energy_kwh_per_year.expect("energy"), kwh, 1e-6);
}

/// Dragonfly, h = 7: 99 racks in 10 columns, one optical cable for each pair; the mean distance is
/// again that of a full square.
#[test]
fn the_dragonfly_of_the_study_costs_what_its_models_say() {
    let found = billed("dragonfly:h=7", &named("fdr10-2014"), &[BillItem::Network]);
    assert_eq!((found.cables_electric, found.cables_optical), (9009, 99 * 98 / 2));
    let optical = 40.0 * (0.0919 * (2.0 + 2.0 * 98.0 / (3.0 * 99_f64.sqrt())) + 7.2745);
    let all = 1386.0 * (350.4 * 27.0 - 892.3) + 9009.0 * 39.4 + 4851.0 * optical;
    close(found.cost_usd_per_endpoint.expect("endpoints"), all / 9702.0, 0.7);
    close(found.power_w_per_endpoint.expect("endpoints"), 10.8, 1e-9);
}

#[test]
fn flat_prices_are_the_sum_over_parts() {
    // 54 switches, 648 links, 648 endpoints at 16,500, 675 and 190 dollars
    let found = billed("fat_tree:levels=2,k=36", &named("edr36-2024"), &BillItem::USUAL);
    close(found.cost_usd, 54.0 * 16_500.0 + 648.0 * 675.0 + 648.0 * 190.0, 1e-6);
    close(found.cost_usd_low, 54.0 * 15_708.0 + 648.0 * 618.0 + 648.0 * 143.0, 1e-6);
    close(found.cost_usd_high, 54.0 * 17_415.0 + 648.0 * 736.0 + 648.0 * 217.0, 1e-6);
    assert_eq!(found.confidence, Some(FigureConfidence::B));
    assert!(found.power_unknown.contains(&"sb7800".to_owned()));
}

#[test]
fn products_are_the_cheapest_that_fit() {
    let all = named("products-2026");
    // 800 Gbit/s: the cheaper of the two of 64 ports; those of more ports have no price
    assert_eq!(all.switch(33, 800.0).expect("one fits").id, "sn5600");
    let shop = all.fitting(&built("slim_fly:q=5,p=4"), None);
    let short = shop.cable(CableUse::Switch, 2.0, 400.0).expect("a cable");
    assert_eq!((short.0, short.1.usd[0]), (CableKind::Electric, 225.0 / 2.0));
    // beyond 2 m: two halves of the cheapest twin-port transceiver, 1064 (879 to 1249), and a fibre
    let (kind, long) = shop.cable(CableUse::Switch, 2.1, 400.0).expect("a cable");
    assert_eq!((kind, long.usd), (CableKind::Optical, [1064.0 + 100.0, 929.0, 1399.0]));
    assert_eq!(long.watts, Some(16.0));
    assert_eq!(long.confidence, FigureConfidence::C, "that of the fibre");
    // at an adapter the transceiver has one port: 769
    let (_, long) = shop.cable(CableUse::Endpoint, 2.1, 400.0).expect("a cable");
    assert_eq!(long.usd, [769.0 + 532.0 + 100.0, 769.0 + 489.5, 769.0 + 774.5]);
    for refused in [
        shop.switch(65, 800.0).expect_err("none is priced"),
        shop.cable(CableUse::Switch, 501.0, 400.0).map(|o| o.1).expect_err("beyond every fibre"),
        shop.nic(200.0).expect_err("none of that rate"),
    ] {
        assert!(refused.param == "catalog products-2026" && refused.help.starts_with("it has: "));
    }
    let rails = billed("fit_fly:q=5,p=4,planes=2", &shop, &BillItem::USUAL);
    let nics = rails.lines.iter().find(|l| l.id == "cx7_ndr400").expect("adapters");
    assert_eq!(nics.count, 400, "one a rail");
}

#[test]
fn every_catalogue_that_comes_along_is_read_and_bills_a_network() {
    assert!(Catalog::built_in().count() >= 6);
    for name in Catalog::built_in() {
        let catalog = named(name);
        assert_eq!(catalog.name, name, "a file is called as its catalogue");
        assert!(billed("slim_fly:q=5,p=4", &catalog, &BillItem::USUAL).cost_usd > 0.0);
    }
    assert!(Catalog::named("nowhere").expect_err("none").help.contains("fdr10-2014"));
}

#[test]
fn another_currency_is_turned_into_dollars() {
    let text = Catalog::text_of("edr36-2024").expect("it comes along");
    let euros = text.replace("currency = \"USD\"", "currency = \"EUR\"\nusd_per_unit = 1.25");
    let found = billed(
        "slim_fly:q=5,p=4",
        &catalog_file::read(&euros, "f").expect("valid"),
        &BillItem::USUAL,
    );
    close(
        found.cost_usd,
        1.25 * billed("slim_fly:q=5,p=4", &named("edr36-2024"), &BillItem::USUAL).cost_usd,
        1e-6,
    );
}

#[test]
fn a_shorter_limit_makes_cables_optical() {
    let shop = named("fdr10-2014").with_electric_limit(0.5);
    let found = billed("slim_fly:q=5,p=4", &shop, &BillItem::USUAL);
    assert_eq!((found.cables_electric, found.cables_optical), (0, 175));
}

#[test]
fn faults_of_a_catalogue_name_file_line_and_field() {
    let good = Catalog::text_of("products-2026").expect("it comes along");
    let line_of =
        |text: &str, part: &str| text[..text.find(part).expect(part)].matches('\n').count() + 1;
    let swaps = [
        ("ports = 40", "ports = 0", "ports", "[[switch]]"),
        ("gbps = 200.0", "gbps = -2.0", "gbps", "[[switch]]"),
        ("low = 15000.0", "low = 18000.0", "price", "[[switch]]"),
        ("\"qm9700\"", "\"qm8700\"", "id", "[[switch]]\nid = \"qm8700\"\ntitle = \"NVIDIA QM9"),
        ("reach_m = 500.0", "reach_m = nan", "reach_m", "[[transceiver]]"),
        ("currency = \"USD\"", "currency = \"EUR\"", "usd_per_unit", "currency"),
        ("currency = \"USD\"", "currency = \"Dollar\"", "currency", "currency"),
        ("link_gbps = 400.0", "link_gbps = 0.0", "link_gbps", "link_gbps"),
        ("pue = 1.3", "pue = 0.3", "pue", "[energy]"),
        ("year = 2026", "year = 2026\ncounts = [\"fans\"]", "there is no part 'fans'", "counts"),
        ("year = 2026", "yaer = 2026", "unknown field", "yaer"),
        ("confidence = \"B\"", "confidence = \"E\"", "unknown variant", "confidence = \"E\""),
        ("kind = \"electric\"", "kind = \"copper\"", "copper", "kind = \"copper\""),
    ];
    for (old, new, field, place) in swaps {
        let text = good.replacen(old, new, 1);
        assert_ne!(text, good, "{old}");
        let said = catalog_file::read(&text, "mine.toml").expect_err(new).to_string();
        assert!(said.contains(field), "{new}: {said}");
        let line = format!("mine.toml: line {}", line_of(&text, place));
        assert!(said.starts_with(&line), "{new}: {said}, not {line}");
    }
}

/// The user chooses what a total adds up, not the catalogue; every sum is one over the lines.
#[test]
fn items_are_chosen_and_the_same_for_every_catalogue() {
    let of = |item: BillItem, bill: &Bill| -> f64 {
        bill.lines.iter().filter(|l| BillItem::of(l.part) == Some(item)).map(|l| l.usd).sum()
    };
    for name in Catalog::built_in() {
        let catalog = named(name);
        let usual = billed("slim_fly:q=5,p=4", &catalog, &BillItem::USUAL);
        assert_eq!(usual.include, [BillItem::Network, BillItem::EndpointCables], "{name}");
        let sold = catalog.items();
        for mask in 1_u32..16 {
            let items: Vec<BillItem> = BillItem::ALL
                .into_iter()
                .zip(0..)
                .filter(|(_, i)| mask >> i & 1 == 1)
                .map(|(item, _)| item)
                .collect();
            let Ok(include) = IncludedBillItems::of(&items) else {
                assert_eq!(items, [BillItem::Energy]);
                continue;
            };
            if let Some(lacking) = items.iter().find(|item| !sold.contains(item)) {
                let refusal = include.check(&catalog).expect_err("it has no price");
                assert!(refusal.why.contains(name) && refusal.why.contains(&lacking.to_string()));
                continue;
            }
            let found = billed("slim_fly:q=5,p=4", &catalog, &items);
            let sum: f64 = items.iter().map(|&item| of(item, &found)).sum();
            close(found.cost_usd, sum, 1e-3);
            close(found.network_usd.expect("priced"), of(BillItem::Network, &usual), 1e-3);
            let cables = of(BillItem::EndpointCables, &usual);
            close(found.endpoint_cables_usd.expect("priced"), cables, 1e-3);
            assert_eq!(found.adapters_usd.is_some(), sold.contains(&BillItem::Adapters), "{name}");
            assert_eq!(found.energy_usd_per_year.is_some(), sold.contains(&BillItem::Energy));
        }
    }
    // 200 adapters of 1,920 dollars, and energy of 50 switches of 750 W and their optics
    let all = billed("slim_fly:q=5,p=4", &named("products-2026"), &BillItem::ALL);
    assert_eq!(all.adapters_usd, Some(200.0 * 1_920.0));
    let energy = all.power_w.expect("known") / 1000.0 * 8760.0 * 1.3 * 0.10;
    close(all.energy_usd_per_year.expect("priced"), energy, 1e-6);
    assert!(all.basis.starts_with("products-2026 at 400 Gbit/s: network, endpoint_cables, a"));
    assert!(IncludedBillItems::of(&[]).is_err());
    assert!(BillItem::named("endpoint-cables").is_ok());
    assert!(BillItem::named("fans").expect_err("no item").help.contains("adapters, energy"));
}

/// The default is the newest of the catalogues that come with flyloom, whatever its name.
#[test]
fn the_newest_catalogue_is_the_default() {
    let year = |name: &str| named(name).year;
    let newest = Catalog::built_in().map(year).max().expect("some come along");
    assert_eq!(year(Catalog::newest()), newest);
    assert_eq!(Catalog::built_in().filter(|n| year(n) == newest).count(), 1, "no tie");
    let t = built("slim_fly:q=5,p=4");
    assert_eq!(Catalog::usual(&t, None).expect("it comes along").name, Catalog::newest());
}

/// A network is bought at its own rate: all its cables and adapters, from the newest catalogue that
/// sells at that rate, whatever number of ports.
#[test]
fn a_network_is_bought_at_its_rate() {
    for (gbps, expect) in [(400, "products-2026"), (200, "hdr40-2024"), (100, "edr36-2024")] {
        let net = format!("slim_fly:q=5,p=4,gbps={gbps}");
        let t = built(&net);
        let catalog = Catalog::usual(&t, None).expect("one sells it");
        assert_eq!(catalog.name, expect);
        let plain = built("slim_fly:q=5,p=4");
        assert_eq!(Catalog::usual(&plain, Some(gbps.into())).expect("one").name, expect);
        let found = billed(&net, &catalog, &BillItem::USUAL);
        assert_eq!(found.link_gbps, f64::from(gbps));
        assert_eq!(found.rate_source, Some(RateSource::Network));
        // the same as the network without a rate at this rate
        let shop = PriceSource { gbps: Some(gbps.into()), ..PriceSource::of(&catalog) };
        let floor = floor(&plain, &studied(), &QuietWatch).expect("valid rules");
        let list = cables(&plain, &floor, &studied(), shop).expect("all is on sale");
        let asked = bill(&plain, &list, shop).expect("all is on sale");
        assert_eq!(asked.rate_source, Some(RateSource::Parameters));
        assert_eq!(Bill { rate_source: found.rate_source, ..asked }, found);
    }
}

/// A catalogue that does not say what its switches draw gives no power, rather than 0.
#[test]
fn unknown_power_of_switches_is_no_power_of_0() {
    for (gbps, known) in [(400, true), (200, false)] {
        let net = format!("slim_fly:q=5,p=4,gbps={gbps}");
        let catalog = Catalog::usual(&built(&net), None).expect("one sells it");
        let found = billed(&net, &catalog, &BillItem::USUAL);
        let switches = |line: &&super::bill_line::BillLine| line.part == BillSection::Switches;
        let said = found.lines.iter().find(switches).expect("there are switches").watts.is_some();
        assert_eq!(said, known, "{}", catalog.name);
        assert_eq!(found.power_w_per_endpoint.is_some(), known);
        assert_eq!(found.power_w.is_some(), known);
    }
}

/// One network has one rate: a bill at another is refused, with both.
#[test]
fn a_bill_at_another_rate_is_refused() {
    let t = built("slim_fly:q=5,p=4,gbps=400");
    let catalog = named(Catalog::newest());
    let floor = floor(&t, &studied(), &QuietWatch).expect("valid rules");
    for (gbps, agrees) in [(400.0, true), (200.0, false), (400.1, false)] {
        let shop = PriceSource { gbps: Some(gbps), ..PriceSource::of(&catalog) };
        let list = cables(&t, &floor, &studied(), shop);
        assert_eq!(list.is_ok(), agrees, "{gbps}");
        assert_eq!(Catalog::usual(&t, Some(gbps)).is_ok(), agrees, "{gbps}");
        if let Err(refusal) = list {
            assert!(refusal.to_string().contains("the network says gbps=400"), "{refusal}");
        }
    }
}

/// A cable that runs slower than its network is bought at the rate of the network.
#[test]
fn a_degraded_cable_is_bought_at_the_rate_of_the_network() {
    let mut b = TopologyBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.switch(Switch { ports: 4, ..Switch::new(name) }));
    for (port, width) in [(1, 4), (2, 1)] {
        let [from, to] = [x, y].map(|switch| CablePlug { switch, port });
        b.link_at(from, to, Cable { width, ..Cable::default() });
    }
    b.endpoints_on([x, y].into_iter(), 1);
    let recipe = NetworkRecipe { family: "file".into(), params: serde_json::Map::new() };
    let t = b.finish(recipe).expect("valid").with_gbps(400.0).expect("a rate");
    let catalog = named(Catalog::newest());
    let shop = PriceSource::of(&catalog);
    let floor = floor(&t, &studied(), &QuietWatch).expect("valid rules");
    let list = cables(&t, &floor, &studied(), shop).expect("all is on sale");
    assert_eq!(t.links()[1].cable.rate_gbps(), 100.0);
    assert!(list.iter().all(|cable| cable.rate_gbps == 400.0));
}

/// Networks of files have their own rates: the newest catalogue that sells at all of them.
#[test]
fn a_file_is_priced_by_the_newest_catalogue_of_its_rate() {
    let of_rate = |speed, ports: u16| {
        let mut b = TopologyBuilder::new();
        let cable = Cable { speed, ..Cable::default() };
        let [x, y] = ["x", "y"].map(|name| b.switch(Switch { ports, ..Switch::new(name) }));
        b.link_at(CablePlug { switch: x, port: 1 }, CablePlug { switch: y, port: 1 }, cable);
        let host = b.endpoint("h", None);
        b.attach(host, x, 0, cable);
        let recipe = NetworkRecipe { family: "file".into(), params: serde_json::Map::new() };
        b.finish(recipe).expect("valid")
    };
    for (speed, ports, expect) in [
        (InfinibandLaneSpeed::NDR, 64, "products-2026"),
        (InfinibandLaneSpeed::NDR, 65, "galaxyfly-2016"), // models have any number of ports
        (InfinibandLaneSpeed::HDR, 40, "hdr40-2024"),
        (InfinibandLaneSpeed::HDR, 41, "galaxyfly-2016"),
        (InfinibandLaneSpeed::EDR, 36, "edr36-2024"),
        (InfinibandLaneSpeed::FDR, 36, "galaxyfly-2016"),
    ] {
        let t = of_rate(speed, ports);
        assert_eq!(Catalog::usual(&t, None).expect("one").name, expect, "{speed} x {ports}");
        assert_eq!(Catalog::usual(&t, Some(400.0)).expect("one").name, Catalog::newest());
    }
}

proptest! {
    #[test]
    fn no_mutation_of_a_catalogue_panics(at in 0.0..1.0_f64, cut in 0_usize..40, put in ".{0,8}") {
        for name in ["fdr10-2014", "products-2026"] {
            let text: Vec<char> = Catalog::text_of(name).expect("it comes along").chars().collect();
            let at = (at * text.len() as f64) as usize;
            let tail = &text[(at + cut).min(text.len())..];
            let mutated: String =
                text[..at].iter().copied().chain(put.chars()).chain(tail.iter().copied()).collect();
            if let Err(refusal) = catalog_file::read(&mutated, "f.toml") {
                prop_assert!(refusal.to_string().starts_with("f.toml"));
            }
        }
    }
}

/// A printed column: endpoints, routers, electric and fibre cables, dollars and watts for each
/// endpoint; what the rule is known to miss is `None`.
type PrintedColumn =
    (CostStudyColumn, u64, u64, Option<u64>, Option<u64>, Option<f64>, Option<f64>);

const COLUMNS: [PrintedColumn; 10] = [
    (
        CostStudyColumn::SlimFly { q: 19, p: 15 },
        10_830,
        722,
        Some(6_669),
        None,
        Some(1_033.0),
        Some(8.02),
    ),
    (
        CostStudyColumn::Dragonfly { a: 22, p: 11, h: 11, g: 243 },
        58_806,
        5_346,
        Some(56_133),
        Some(29_524),
        Some(1_438.0),
        Some(10.9),
    ),
    (
        CostStudyColumn::Dragonfly { a: 14, p: 7, h: 7, g: 99 },
        9_702,
        1_386,
        Some(9_009),
        Some(4_900),
        Some(1_342.0),
        Some(10.8),
    ),
    (
        CostStudyColumn::Dragonfly { a: 22, p: 11, h: 11, g: 45 },
        10_890,
        990,
        None,
        Some(1_012),
        None,
        Some(10.9),
    ),
    (
        CostStudyColumn::FlattenedButterfly { c: 12 },
        20_736,
        1_728,
        Some(9_504),
        Some(20_736),
        Some(1_570.0),
        None,
    ),
    (
        CostStudyColumn::FlattenedButterfly { c: 10 },
        10_000,
        1_000,
        Some(4_500),
        Some(10_000),
        Some(1_535.0),
        None,
    ),
    (
        CostStudyColumn::FatTree { radix: 43 },
        19_876,
        2_311,
        Some(19_414),
        Some(40_215),
        None,
        Some(14.0),
    ),
    (CostStudyColumn::FatTree { radix: 35 }, 10_718, 1_531, None, None, None, Some(14.0)),
    (
        CostStudyColumn::Random { switches: 4020, p: 10, radix: 43 },
        40_200,
        4_020,
        None,
        None,
        None,
        Some(12.04),
    ),
    (
        CostStudyColumn::Random { switches: 1386, p: 7, radix: 28 },
        9_702,
        1_386,
        None,
        None,
        None,
        Some(11.2),
    ),
];

#[test]
fn the_study_reckons_what_it_printed() {
    for (study, endpoints, switches, electric, fibre, usd, watts) in COLUMNS {
        let found = study.reckon();
        assert_eq!((found.endpoints, found.switches), (endpoints, switches), "{study:?}");
        for (rule, printed) in [(found.cables_electric, electric), (found.cables_optical, fibre)] {
            if printed.is_some() {
                assert_eq!(rule, printed, "{study:?}");
            }
        }
        if let (Some(printed), Some(ours)) = (usd, found.cost_usd_per_endpoint) {
            // rounded or cut off, as the study does
            assert!([ours.floor(), ours.round()].contains(&printed), "{study:?}: {ours}");
        }
        if let Some(printed) = watts {
            assert!((found.power_w_per_endpoint - printed).abs() < 0.05, "{study:?}");
        }
    }
    let totals = [
        CostStudyColumn::FatTree { radix: 35 },
        CostStudyColumn::Random { switches: 4020, p: 10, radix: 43 },
    ];
    assert_eq!(totals.map(|s| s.reckon().cables), [7_350 + 24_806, 32_488 + 33_842]);
}

#[test]
fn networks_are_the_columns_they_are() {
    for (net, study) in [
        ("slim_fly:q=5,p=4", CostStudyColumn::SlimFly { q: 5, p: 4 }),
        ("dragonfly:h=2", CostStudyColumn::Dragonfly { a: 4, p: 2, h: 2, g: 9 }),
        ("flattened_butterfly:k=3,n=4", CostStudyColumn::FlattenedButterfly { c: 3 }),
        ("fat_tree:levels=3,k=4", CostStudyColumn::FatTree { radix: 4 }),
        ("jellyfish:n=10,k=3,p=2", CostStudyColumn::Random { switches: 10, p: 2, radix: 5 }),
    ] {
        assert_eq!(CostStudyColumn::of(&built(net)).expect(net), study);
    }
    for net in ["torus:shape=4x4", "fat_tree:levels=2,k=4", "flattened_butterfly:k=3,n=3"] {
        assert!(
            CostStudyColumn::of(&built(net)).expect_err(net).why.starts_with("the study"),
            "{net}"
        );
    }
}

/// The order of laying has the same cables, and the bill does not depend on it.
#[test]
fn a_bill_is_the_same_for_any_order_of_cables() {
    for net in ["slim_fly:q=7,p=6", "jellyfish:n=60,k=9,p=5"] {
        let (t, rules, catalog) = (built(net), studied(), named("products-2026"));
        let shop = PriceSource::of(&catalog);
        let floor = floor(&t, &rules, &QuietWatch).expect("valid rules");
        let listed = cables(&t, &floor, &rules, shop).expect("all is on sale");
        let mut unsorted = cables_unsorted(&t, &floor, &rules, shop).expect("all is on sale");
        let of = |list: &[_]| bill(&t, list, shop).expect("all is on sale");
        assert_eq!(of(&listed), of(&unsorted), "{net}");
        assert_ne!(listed, unsorted, "{net}");
        unsorted.sort_by_key(|c| (c.step, c.a.seat.rack, c.b.seat.rack, c.a, c.b));
        assert_eq!(listed, unsorted, "{net}");
    }
}
