//! Families of networks: what each promises, how each is built, and the table of all of them.
//!
//! A new family is one new file beside this one: a struct of parameters that implements [`Family`].
//! `cargo xtask gen` adds its row to [`FAMILIES`]; the conformance tests below then run on it.

use base::Refusal;
use fabric::network::Topology;

mod algebra;
mod cheapest;
mod entry;
mod family;
mod grid;
#[cfg(test)]
mod kept;
mod multistage;
mod need;
mod parameters;
mod promise;
// The family of docs/adding-a-topology.md, under a name that stays free for the page itself.
#[cfg(test)]
#[path = "../../../docs/parts/star_graph.rs"]
pub mod page_star_graph;
mod random;
mod wish;

pub(crate) use entry::recipe;
pub use entry::{FamilyEntry, FamilyMemberProposal};
pub use family::Family;
pub use need::NetworkNeed;
pub use parameters::GridShape;
pub(crate) use parameters::{MAX_P, MAX_PORTS, in_range, power};
pub use promise::{ExactFraction, FamilyPromise, PromisedValue};
pub use wish::{ConcentrationRounding, NetworkWish};

// gen:begin
pub mod bcube;
pub mod bdf;
pub mod benes;
pub mod bundlefly;
pub mod clos;
pub mod complete;
pub mod de_bruijn;
pub mod delorme;
pub mod dln;
pub mod dragonfly;
pub mod fat_tree;
pub mod fit_fly;
pub mod flattened_butterfly;
pub mod galaxyfly;
pub mod hypercube;
pub mod hyperx;
pub mod jellyfish;
pub mod k_ary_n_fly;
pub mod k_ary_n_tree;
pub mod long_hop;
pub mod megafly;
pub mod multi_plane;
pub mod polar_fly;
pub mod polarstar;
pub mod ring;
pub mod slim_fly;
pub mod star;
pub mod torus;
pub mod tree;
pub mod xgft;
pub mod xpander;

/// Every `Family` of this folder, by file and name; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static FAMILIES: &[FamilyEntry] = &[
    FamilyEntry::of::<bcube::Bcube>(),
    FamilyEntry::of::<bdf::BermondDelormeFarhi>(),
    FamilyEntry::of::<benes::Benes>(),
    FamilyEntry::of::<bundlefly::Bundlefly>(),
    FamilyEntry::of::<clos::Clos>(),
    FamilyEntry::of::<complete::CompleteGraph>(),
    FamilyEntry::of::<de_bruijn::DeBruijn>(),
    FamilyEntry::of::<de_bruijn::Kautz>(),
    FamilyEntry::of::<delorme::Delorme>(),
    FamilyEntry::of::<dln::Dln>(),
    FamilyEntry::of::<dragonfly::Dragonfly>(),
    FamilyEntry::of::<fat_tree::FatTree>(),
    FamilyEntry::of::<fit_fly::FitFly>(),
    FamilyEntry::of::<flattened_butterfly::FlattenedButterfly>(),
    FamilyEntry::of::<galaxyfly::Galaxyfly>(),
    FamilyEntry::of::<hypercube::FoldedHypercube>(),
    FamilyEntry::of::<hypercube::Hypercube>(),
    FamilyEntry::of::<hyperx::HyperX>(),
    FamilyEntry::of::<jellyfish::Jellyfish>(),
    FamilyEntry::of::<k_ary_n_fly::KAryNFly>(),
    FamilyEntry::of::<k_ary_n_tree::KAryNTree>(),
    FamilyEntry::of::<long_hop::LongHop>(),
    FamilyEntry::of::<megafly::Megafly>(),
    FamilyEntry::of::<multi_plane::MultiPlane>(),
    FamilyEntry::of::<polar_fly::PolarFly>(),
    FamilyEntry::of::<polarstar::Polarstar>(),
    FamilyEntry::of::<ring::RingNetwork>(),
    FamilyEntry::of::<slim_fly::SlimFly>(),
    FamilyEntry::of::<star::StarNetwork>(),
    FamilyEntry::of::<torus::MeshNetwork>(),
    FamilyEntry::of::<torus::Torus>(),
    FamilyEntry::of::<tree::TreeNetwork>(),
    FamilyEntry::of::<xgft::Xgft>(),
    FamilyEntry::of::<xpander::Xpander>(),
];
// gen:end

/// Adds declarations to the network `t`, which was read from a file and has a recipe: the geometry
/// of its family, and that all its switches are equivalent, if they are and the recipe builds
/// exactly the same links. O(building it) for families whose switches can all be equivalent.
pub fn recognised(t: Topology) -> Topology {
    let recipe = t.recipe();
    let Ok(entry) = family(&recipe.family) else { return t };
    let geometry = entry.geometry(&recipe.params).unwrap_or_default();
    let declares = entry.promise(&recipe.params).is_ok_and(|p| p.vertex_transitive);
    if declares && entry.build(&recipe.params).is_ok_and(|new| new.links() == t.links()) {
        t.with_geometry(geometry).declared_vertex_transitive()
    } else {
        t.with_geometry(geometry)
    }
}

/// The row of the table of families for the family called `name`.
///
/// # Errors
/// When there is no such family; the refusal lists those that exist.
pub fn family(name: &str) -> Result<&'static FamilyEntry, Refusal> {
    FAMILIES.iter().find(|e| e.part.name == name).ok_or_else(|| {
        let names: Vec<&str> = FAMILIES.iter().map(|e| e.part.name).collect();
        Refusal::new(
            "topology",
            format!("there is no family '{name}'"),
            format!(
                "{}families: {}",
                base::words::did_you_mean(name, names.iter().copied()),
                names.join(", ")
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::parse_inline;
    use std::collections::BTreeSet;

    /// The family that docs/adding-a-topology.md adds.
    const PAGE: FamilyEntry = FamilyEntry::of::<page_star_graph::StarGraph>();

    #[test]
    fn every_family_keeps_its_promise_on_every_example() {
        for entry in FAMILIES.iter().chain([&PAGE]) {
            let examples = entry.examples();
            assert!(!examples.is_empty(), "{} has no examples", entry.part.name);
            for recipe in examples {
                let promise = entry.promise(&recipe.params).expect("an example is a member");
                let built = entry.build(&recipe.params).expect("an example can be built");
                assert_eq!(broken_promises(&promise, &built), Vec::<String>::new(), "{recipe}");
                let again =
                    entry.build(&built.recipe().params).expect("its recipe builds it again");
                assert_eq!(again.links(), built.links(), "{recipe}");
                let rules = plan::FloorRules::default();
                let floor = plan::floor(&built, &rules, &base::QuietWatch);
                let seats = floor.expect("a floor for every network").switches;
                let places: BTreeSet<_> = seats.iter().collect();
                assert_eq!(places.len(), built.switches().len(), "{recipe}: two in one place");
            }
        }
    }

    /// The draft in docs/adding-a-topology.md, and the fault that its test shows.
    #[test]
    fn a_promise_that_is_not_kept_is_caught() {
        let recipe = PAGE.examples().swap_remove(0);
        let mut draft = PAGE.promise(&recipe.params).expect("an example is a member");
        let n = recipe.params["n"].as_u64().expect("a number") as u32;
        draft.diameter = PromisedValue::Exact(3 * n / 2 - 1);
        let built = PAGE.build(&recipe.params).expect("an example can be built");
        let broken = broken_promises(&draft, &built);
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/adding-a-topology.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let said = format!("```text\n{recipe}\n  left: {broken:?}\n right: []\n```");
        assert!(page.contains(&said), "the page does not show\n{said}");
    }

    #[test]
    fn every_recipe_reads_back_from_its_inline_form() {
        for recipe in FAMILIES.iter().flat_map(FamilyEntry::examples) {
            let parsed = parse_inline(&recipe.to_string()).expect("an inline form");
            let entry = family(&parsed.family).expect("a family");
            let there = entry.build(&parsed.params).expect("the same network");
            assert_eq!(there.recipe().to_string(), recipe.to_string());
        }
    }

    #[test]
    fn the_value_of_of_is_the_rest() {
        let recipe = parse_inline("x:planes=2, of=slim_fly:q=5,p=4").expect("an inline form");
        let given: Vec<String> = recipe.params.iter().map(|(k, v)| format!("{k} {v}")).collect();
        assert_eq!(given, ["planes 2", "of \"slim_fly:q=5,p=4\""]);
        assert_eq!(recipe.to_string(), "x:planes=2,of=slim_fly:q=5,p=4");
        let first = parse_inline("x:of=a:b=1,planes=2").expect("an inline form");
        assert_eq!(first.params["of"], "a:b=1,planes=2");
        assert_eq!(parse_inline("x: a=1,,b=2 ,").expect("loose").to_string(), "x:a=1,b=2");
    }

    #[test]
    fn bad_inline_forms_say_what_is_wrong() {
        let refusal = parse_inline("slim_fly:q").expect_err("no value");
        assert!(refusal.to_string().contains("'q' is no parameter"));
        assert!(parse_inline("slim_fly:q=5,q=7").is_err());
        let entry = family("slim_fly").expect("there is Slim Fly");
        let unknown = parse_inline("slim_fly:q=5,r=1").expect("well formed");
        let refusal = entry.build(&unknown.params).expect_err("no parameter r");
        assert!(refusal.to_string().contains("unknown field `r`"), "{refusal}");
        let misspelt = parse_inline("slim_fly:q=5,gbsp=400").expect("well formed");
        let refusal = entry.build(&misspelt.params).expect_err("no parameter gbsp").to_string();
        assert!(refusal.contains("did you mean gbps?"), "{refusal}");
        let misspelt = parse_inline("fat_tree:leafs=4,gbps=400").expect("well formed");
        let refusal = family("fat_tree").map(|tree| tree.build(&misspelt.params));
        let refusal = refusal.expect("there is a fat tree").expect_err("no parameter leafs");
        assert!(refusal.to_string().contains("did you mean leaves?"), "{refusal}");
        assert!(family("slimfly").is_err_and(|r| r.help.contains("slim_fly")));
    }
}
