//! The rate of networks: every family takes `gbps`, and its files keep it.

use fabric::network::{Cable, NetworkRecipe, RateSource, Topology, parse_inline};
use families::{FAMILIES, FamilyEntry, family};
use formats::graph_file::{graphml, json, read_any};

fn built(recipe: &NetworkRecipe) -> Topology {
    let entry = family(&recipe.family).expect("a family");
    entry.build(&recipe.params).expect("a member")
}

/// The recipe with a rate, as a user writes it: behind the parameters, before `of`.
fn with_rate(recipe: &NetworkRecipe, gbps: u32) -> NetworkRecipe {
    let mut params = recipe.params.clone();
    params.insert("gbps".to_owned(), gbps.into());
    let text = NetworkRecipe { family: recipe.family.clone(), params }.to_string();
    parse_inline(&text).expect("an inline form")
}

#[test]
fn every_family_takes_a_rate_and_is_else_the_same_network() {
    for recipe in FAMILIES.iter().flat_map(FamilyEntry::examples) {
        let plain = built(&recipe);
        assert_eq!(plain.recipe().gbps(), None, "{recipe}");
        assert_eq!(plain.rate_source(), RateSource::Default, "{recipe}");
        for gbps in [100, 400] {
            let asked = with_rate(&recipe, gbps);
            let rated = built(&asked);
            let at = |cable: Cable| cable.at_gbps(gbps.into()).expect("four lanes have it");
            let links: Vec<_> = plain.links().iter().map(|l| (l.a, l.b, at(l.cable))).collect();
            let found: Vec<_> = rated.links().iter().map(|l| (l.a, l.b, l.cable)).collect();
            assert_eq!(found, links, "{asked}");
            let rates = || rated.cables().map(Cable::rate_gbps);
            assert!(rates().all(|rate| (rate - f64::from(gbps)).abs() < 1e-9), "{asked}");
            assert_eq!(rated.switches(), plain.switches(), "{asked}");
            assert_eq!(rated.recipe().to_string(), asked.to_string());
            assert_eq!(rated.recipe().gbps(), Some(gbps.into()), "{asked}");
            assert_eq!(rated.is_vertex_transitive(), plain.is_vertex_transitive(), "{asked}");
            assert_eq!(rated.geometry(), plain.geometry(), "{asked}");
        }
    }
}

#[test]
fn the_promise_has_nothing_to_do_with_the_rate() {
    for entry in FAMILIES {
        for recipe in entry.examples() {
            let [plain, rated] = [&recipe, &with_rate(&recipe, 800)].map(|of| {
                let promise = entry.promise(&of.params).expect("a member");
                (promise.switches, promise.links, promise.endpoints, promise.network_radix)
            });
            assert_eq!(plain, rated, "{recipe}");
            let notes = |of: &NetworkRecipe| entry.notes(&of.params).expect("a member");
            assert_eq!(notes(&recipe), notes(&with_rate(&recipe, 800)), "{recipe}");
        }
    }
}

/// JSON keeps the recipe and the cables, `GraphML` the cables.
#[test]
fn files_keep_the_rate() {
    for recipe in FAMILIES.iter().map(|entry| entry.examples().swap_remove(0)) {
        let rated = built(&with_rate(&recipe, 400));
        let read = families::recognised(json::read(&json::write(&rated), "a").expect("its JSON"));
        assert!(read == rated && read.digest() == rated.digest(), "{recipe}");
        assert_eq!(read.recipe(), rated.recipe(), "{recipe}");
        assert_eq!(read.is_vertex_transitive(), rated.is_vertex_transitive(), "{recipe}");
        if rated.planes() == 1 {
            let text = graphml::write(&rated);
            let read = read_any(&text, "a.graphml", None).expect("its GraphML");
            let rates: Vec<f64> = read.cables().map(Cable::rate_gbps).collect();
            let links = &rates[..read.links().len()];
            assert!(links.iter().all(|rate| (rate - 400.0).abs() < 1e-9), "{recipe}");
        }
    }
}

/// A family names the parameter that is at fault, whatever its value is.
#[test]
fn what_is_no_rate_is_refused_by_every_family() {
    for recipe in FAMILIES.iter().map(|entry| entry.examples().swap_remove(0)) {
        let name = &recipe.family;
        let entry = family(name).expect("a family");
        for wrong in [
            serde_json::json!("fast"),
            serde_json::json!(0),
            serde_json::json!(-400),
            serde_json::json!(401),
            serde_json::json!(1e300),
            serde_json::json!([400]),
            serde_json::json!(true),
        ] {
            let mut params = recipe.params.clone();
            params.insert("gbps".to_owned(), wrong.clone());
            let promised = entry.promise(&params).expect_err("no rate");
            let built = entry.build(&params).expect_err("no rate");
            assert_eq!(promised, built, "{name}: {wrong}");
            assert_eq!(built.param, format!("{name}: gbps"), "{wrong}");
        }
    }
}
