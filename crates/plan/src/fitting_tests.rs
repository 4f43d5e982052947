//! Bills whose parts fit each other: protocol and connector of everything that is bought.

use super::catalog::Catalog;
use super::{
    Bill, BillItem, FloorRules, IncludedBillItems, NetworkProtocol, PriceSource, PurchaseTerms,
    bill, cables_unsorted, catalog_file, floor,
};
use base::{QuietWatch, Refusal};
use fabric::network::{Topology, parse_inline};
use families::family;

fn built(net: &str) -> Topology {
    let recipe = parse_inline(net).expect("well formed");
    family(&recipe.family).expect("a family").build(&recipe.params).expect("a member")
}

fn billed(t: &Topology, catalog: Catalog, gbps: Option<f64>) -> Result<Bill, Refusal> {
    let catalog = catalog.fitting(t, gbps);
    let include = IncludedBillItems::of(&BillItem::ALL).expect("items");
    let shop = PriceSource { gbps, include, ..PriceSource::of(&catalog) };
    let rules = FloorRules::default().resolved(t, shop)?;
    let floor = floor(t, &rules, &QuietWatch).expect("a floor");
    bill(t, &cables_unsorted(t, &floor, &rules, shop)?, shop)
}

fn products() -> Catalog {
    Catalog::named("products-2026").expect("it comes along")
}

/// What the file says of the part of this name: its protocol and its connector, by hand from its
/// lines.
fn said(id: &str) -> [Option<&'static str>; 2] {
    let text = Catalog::text_of("products-2026").expect("it comes along");
    let (_, after) = text.split_once(&format!("id = \"{id}\"\n")).expect(id);
    let entry = after.split("[[").next().unwrap_or_default();
    ["protocol", "connector"].map(|key| {
        let (_, value) = entry
            .split_once(&format!("\n{key} = \""))
            .or_else(|| entry.strip_prefix(&format!("{key} = \"")).map(|value| ("", value)))?;
        value.split('"').next()
    })
}

#[test]
fn everything_of_a_bill_speaks_one_protocol_and_fits_the_ports() {
    let cases = [
        ("slim_fly:q=9,p=7", 400.0, "infiniband", "OSFP"),
        ("fat_tree:leaves=12,spines=6,parallel=3,p=18", 400.0, "infiniband", "OSFP"),
        ("slim_fly:q=9,p=7", 800.0, "ethernet", "OSFP"),
    ];
    for (net, gbps, protocol, connector) in cases {
        let found = billed(&built(net), products(), Some(gbps)).expect("all is on sale");
        assert_eq!(found.protocol.map(|p| p.to_string().to_lowercase()), Some(protocol.to_owned()));
        for line in found.lines.iter().filter(|line| line.id != "a year") {
            for id in line.id.split(" + ").map(|id| id.strip_prefix("2 ").unwrap_or(id)) {
                let [speaks, form] = said(id);
                assert!(speaks.is_none_or(|p| p == protocol), "{id} speaks {speaks:?}");
                assert!(form.is_none_or(|c| c == connector), "{id} has {form:?}");
            }
        }
        assert_eq!(said(&found.lines[0].id), [Some(protocol), Some(connector)]);
    }
}

#[test]
fn a_protocol_that_is_asked_for_decides() {
    let asked = |protocol| {
        let terms = PurchaseTerms { protocol: Some(protocol), ..PurchaseTerms::default() };
        terms.applied(products()).and_then(|c| billed(&built("slim_fly:q=5,p=4"), c, Some(800.0)))
    };
    let ethernet = asked(NetworkProtocol::Ethernet).expect("on sale");
    assert_eq!(Ok(ethernet), billed(&built("slim_fly:q=5,p=4"), products(), Some(800.0)));
    let refusal = asked(NetworkProtocol::Infiniband).expect_err("no price of 800 Gbit/s");
    assert!(refusal.why.contains("no switch of 11 ports at 800 Gbit/s"), "{refusal}");
    let wrong = PurchaseTerms::from_value(&serde_json::json!({"protocol": "myrinet"}));
    assert_eq!(wrong.expect_err("unknown").param, "protocol");
}

/// A catalogue with an Ethernet switch whose ports fit no cable on sale is refused, with what the
/// cable was to fit; without `protocol` and `connector` its parts fit each other.
#[test]
fn parts_that_do_not_fit_are_refused_and_silent_parts_fit_all() {
    let text = Catalog::text_of("edr36-2024").expect("it comes along");
    let t = built("slim_fly:q=5,p=4");
    let read = |text: &str| catalog_file::read(text, "f").expect("valid");
    let plain = bill_of(&t, &read(text));
    let ports = "rack_units = 1\n";
    let (head, tail) = text.split_once(ports).expect("a switch first");
    let says = |switch: &str, cables: &str| {
        let tail = tail.replace("kind = ", &format!("{cables}kind = "));
        billed_usual(&t, read(&format!("{head}{ports}{switch}{tail}")))
    };
    let both = "protocol = \"infiniband\"\nconnector = \"QSFP28\"\n";
    assert_eq!(says(both, both).expect("they fit").cost_usd.to_bits(), plain.to_bits());
    assert_eq!(says(both, "").expect("silent").cost_usd.to_bits(), plain.to_bits());
    assert_eq!(says("", both).expect("silent").cost_usd.to_bits(), plain.to_bits());
    let lower = "connector = \"qsfp28\"\n";
    assert_eq!(says(both, lower).expect("one form").cost_usd.to_bits(), plain.to_bits());
    for other in ["protocol = \"ethernet\"\n", "connector = \"OSFP\"\n"] {
        let refusal = says(both, other).expect_err("they do not fit");
        assert!(
            refusal.why.contains("for InfiniBand switches with QSFP28 ports (sb7800)"),
            "{refusal}"
        );
    }
}

fn billed_usual(t: &Topology, catalog: Catalog) -> Result<Bill, Refusal> {
    let catalog = catalog.fitting(t, None);
    let shop = PriceSource::of(&catalog);
    let rules = FloorRules::default().resolved(t, shop)?;
    let floor = floor(t, &rules, &QuietWatch).expect("a floor");
    bill(t, &cables_unsorted(t, &floor, &rules, shop)?, shop)
}

fn bill_of(t: &Topology, catalog: &Catalog) -> f64 {
    billed_usual(t, catalog.clone()).expect("all is on sale").cost_usd
}
