//! Families of networks: what each promises, how each is built, and the table of all of them.
//!
//! A new family is one new file beside this one: a struct of parameters that implements [`Family`].
//! `cargo xtask gen` adds its row to [`FAMILIES`]; the conformance tests below then run on it.

use base::Refusal;
use fabric::geometry::Geometry;
use fabric::network::{Builder, Recipe, Topology};
use fabric::size::Size;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

mod algebra;
mod grid;
#[cfg(test)]
mod kept;
mod multistage;
// That of docs/adding-a-topology.md, under a name that adding it leaves free.
#[cfg(test)]
#[path = "../../../docs/parts/star_graph.rs"]
pub mod page_star_graph;
mod random;
mod wish;

pub use wish::{Concentration, Wish};

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
pub static FAMILIES: &[Entry] = &[
    Entry::of::<bcube::Bcube>(),
    Entry::of::<bdf::Bdf>(),
    Entry::of::<benes::Benes>(),
    Entry::of::<bundlefly::Bundlefly>(),
    Entry::of::<clos::Clos>(),
    Entry::of::<complete::Complete>(),
    Entry::of::<de_bruijn::DeBruijn>(),
    Entry::of::<de_bruijn::Kautz>(),
    Entry::of::<delorme::Delorme>(),
    Entry::of::<dln::Dln>(),
    Entry::of::<dragonfly::Dragonfly>(),
    Entry::of::<fat_tree::FatTree>(),
    Entry::of::<fit_fly::FitFly>(),
    Entry::of::<flattened_butterfly::FlattenedButterfly>(),
    Entry::of::<galaxyfly::Galaxyfly>(),
    Entry::of::<hypercube::FoldedHypercube>(),
    Entry::of::<hypercube::Hypercube>(),
    Entry::of::<hyperx::HyperX>(),
    Entry::of::<jellyfish::Jellyfish>(),
    Entry::of::<k_ary_n_fly::KAryNFly>(),
    Entry::of::<k_ary_n_tree::KAryNTree>(),
    Entry::of::<long_hop::LongHop>(),
    Entry::of::<megafly::Megafly>(),
    Entry::of::<multi_plane::MultiPlane>(),
    Entry::of::<polar_fly::PolarFly>(),
    Entry::of::<polarstar::Polarstar>(),
    Entry::of::<ring::Ring>(),
    Entry::of::<slim_fly::SlimFly>(),
    Entry::of::<star::Star>(),
    Entry::of::<torus::Mesh>(),
    Entry::of::<torus::Torus>(),
    Entry::of::<tree::Tree>(),
    Entry::of::<xgft::Xgft>(),
    Entry::of::<xpander::Xpander>(),
];
// gen:end

/// A number claimed by formula before anything is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim<T> {
    /// Exactly this.
    Exact(T),
    /// At least the first, at most the second.
    Between(T, T),
}

/// An exact fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    /// Numerator.
    pub num: u64,
    /// Denominator, not 0.
    pub den: u64,
}

/// What a family says of a network before it is built: from formulae, in O(1).
///
/// Distances are between the switches that carry endpoints, over ordered pairs of distinct ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// Number of switches.
    pub switches: u64,
    /// Number of endpoints.
    pub endpoints: u64,
    /// Number of switch-to-switch links, parallel ones counted apart.
    pub links: u64,
    /// Most switch-to-switch ports of any switch.
    pub network_radix: u32,
    /// Longest distance between switches with endpoints.
    pub diameter: Claim<u32>,
    /// Mean distance between switches with endpoints.
    pub mean_distance: Claim<Ratio>,
    /// Number of switches that distances are measured between: those with endpoints; all of them
    /// when there is no endpoint at all.
    pub edge_switches: u64,
    /// Most ports of either kind that any switch uses.
    pub radix: u32,
    /// Number of planes, alike and apart but for the endpoints they share.
    pub planes: u32,
    /// Whether an automorphism takes any switch to any other, so that what is measured from one
    /// switch holds for all. False where it is not known.
    pub vertex_transitive: bool,
}

impl Promise {
    /// A direct network: each of `switches` carries `p` endpoints.
    ///
    /// # Panics
    /// When the ports of a switch do not fit 32 bits.
    pub fn direct(
        switches: u64,
        p: u32,
        links: u64,
        network_radix: u32,
        diameter: Claim<u32>,
        mean_distance: Claim<Ratio>,
    ) -> Self {
        Self {
            switches,
            endpoints: switches * u64::from(p),
            links,
            network_radix,
            diameter,
            mean_distance,
            edge_switches: switches,
            radix: network_radix + p,
            planes: 1,
            vertex_transitive: false,
        }
    }

    /// The same promise of a network in which every switch looks like any other.
    #[must_use]
    pub fn vertex_transitive(self) -> Self {
        Self { vertex_transitive: true, ..self }
    }

    /// Switches over the most that any network of this network radix and diameter can have;
    /// `None` where switches carry no endpoints (the bound is of direct networks) or the diameter
    /// is not exact.
    pub fn moore_fraction(&self) -> Option<f64> {
        let Claim::Exact(diameter) = self.diameter else { return None };
        let bound = base::moore::moore_bound(self.network_radix, diameter);
        let switches = (self.switches / u64::from(self.planes)) as f64;
        (self.edge_switches == self.switches).then(|| switches / bound as f64)
    }
}

/// A family of networks; its value holds the parameters of one member.
///
/// The struct's doc comment and its fields' become the reference page, the Python function and the
/// schema. Unknown parameters are refused (`#[serde(deny_unknown_fields)]`).
pub trait Family: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The name users type.
    const NAME: &'static str;

    /// What the coordinates, groups and levels of its switches mean: unless said otherwise, that
    /// switches of one group belong together.
    fn geometry(&self) -> Geometry {
        Geometry::default()
    }

    /// Members that the conformance tests build: small, and one of every kind.
    fn examples() -> Vec<Self>;

    /// What this member will be.
    ///
    /// # Errors
    /// When no such member exists; the refusal names the parameter and what would be valid.
    fn promise(&self) -> Result<Promise, Refusal>;

    /// The network's switches, links and endpoints.
    ///
    /// # Errors
    /// As [`Family::promise`].
    fn build(&self) -> Result<Builder, Refusal>;

    /// Members that fit a wish: candidates among which sizing chooses by their promises.
    ///
    /// Among them must be, if they exist, the largest with at most as many endpoints as wished and
    /// the smallest with at least as many, of those that the wish's ports and concentration allow;
    /// with no number of endpoints wished, the largest of all. Members that do not fit are dropped,
    /// so a family may simply list its members along their natural parameter. Families that are not
    /// built for bandwidth (rings, trees) offer none, the default.
    fn near(_wish: &Wish) -> Vec<Self> {
        Vec::new()
    }

    /// The kind of member within the family, where sizing should tell kinds apart: `3 levels`,
    /// `2D`. Empty by default.
    fn kind(&self) -> String {
        String::new()
    }
}

impl Promise {
    /// The size of what is promised, on so many threads, for an estimate before it is built.
    pub fn size(&self, threads: usize) -> Size {
        let depth = match self.diameter {
            Claim::Exact(d) | Claim::Between(_, d) => f64::from(d),
        };
        Size {
            switches: self.switches as f64,
            edge: self.edge_switches as f64,
            links: self.links as f64,
            terminals: self.endpoints as f64 * f64::from(self.planes),
            radix: f64::from(self.network_radix),
            depth,
            sources: if self.vertex_transitive { 1.0 } else { self.edge_switches as f64 },
            threads: threads as f64,
        }
    }
}

/// One row of the table of families.
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    schema: fn() -> Value,
    examples: fn() -> Vec<Recipe>,
    geometry: fn(Value) -> Result<Geometry, Refusal>,
    promise: fn(Value) -> Result<Promise, Refusal>,
    build: fn(Value) -> Result<Topology, Refusal>,
    near: fn(&Wish) -> Vec<Offer>,
}

/// A member that a family offers for a wish.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Its family and parameters.
    pub recipe: Recipe,
    /// Its kind within the family; often empty.
    pub kind: String,
    /// What it will be.
    pub promise: Promise,
}

impl Entry {
    /// The row of family `F`.
    pub const fn of<F: Family>() -> Self {
        Self {
            name: F::NAME,
            schema: || schemars::schema_for!(F).to_value(),
            examples: || F::examples().iter().map(recipe).collect(),
            geometry: |params| Ok(parse::<F>(&params)?.geometry()),
            promise: |params| parse::<F>(&params)?.promise(),
            build: |params| {
                let family = parse::<F>(&params)?;
                let promise = family.promise()?;
                within_limits(&promise)?;
                let built = family.build()?.finish(recipe(&family))?;
                let built = built.with_geometry(family.geometry());
                Ok(if promise.vertex_transitive {
                    built.declared_vertex_transitive()
                } else {
                    built
                })
            },
            near: |wish| {
                let offer = |member: &F| {
                    let promise = member.promise().ok()?;
                    Some(Offer { recipe: recipe(member), kind: member.kind(), promise })
                };
                F::near(wish).iter().filter_map(offer).collect()
            },
        }
    }

    /// The JSON schema of its parameters, with their documentation.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// Members that are small and cover its kinds.
    pub fn examples(&self) -> Vec<Recipe> {
        (self.examples)()
    }

    /// What the member with these parameters declares of its switches.
    ///
    /// # Errors
    /// When a parameter is unknown, missing or of the wrong type.
    pub fn geometry(&self, params: &Map<String, Value>) -> Result<Geometry, Refusal> {
        (self.geometry)(Value::Object(params.clone())).map_err(|r| r.within(self.name))
    }

    /// What the member with these parameters will be.
    ///
    /// # Errors
    /// When a parameter is unknown, missing, of the wrong type, or names no member.
    pub fn promise(&self, params: &Map<String, Value>) -> Result<Promise, Refusal> {
        (self.promise)(Value::Object(params.clone())).map_err(|r| r.within(self.name))
    }

    /// The network with these parameters.
    ///
    /// # Errors
    /// As [`Entry::promise`].
    pub fn build(&self, params: &Map<String, Value>) -> Result<Topology, Refusal> {
        (self.build)(Value::Object(params.clone())).map_err(|r| r.within(self.name))
    }

    /// The members that the family offers for `wish`: [`Family::near`].
    pub fn near(&self, wish: &Wish) -> Vec<Offer> {
        (self.near)(wish)
    }
}

/// The largest networks that are built: beyond them memory, not time, is the limit.
const MAX_LINKS: u64 = 1 << 26;

fn within_limits(promise: &Promise) -> Result<(), Refusal> {
    let most = promise.links.max(promise.endpoints).max(promise.switches);
    if most <= MAX_LINKS {
        return Ok(());
    }
    let why = format!("{} links, {} endpoints", promise.links, promise.endpoints);
    Err(Refusal::new(
        "",
        format!("the network is too large: {why}"),
        format!("at most {MAX_LINKS} of each"),
    ))
}

fn parse<F: Family>(params: &Value) -> Result<F, Refusal> {
    base::fields::typed(params).map_err(|(field, why)| {
        let help = base::taken::taken::<F>(F::NAME, &field);
        Refusal::new(field, why, help)
    })
}

/// The network `t`, which was read from a file, with what the family of its recipe declares: of
/// its switches, and that they are all alike where the recipe builds the very same links.
/// O(building it) for families of which the latter can be.
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

fn recipe<F: Family>(family: &F) -> Recipe {
    let params = match serde_json::to_value(family) {
        Ok(Value::Object(params)) => params.into_iter().filter(|(_, v)| !v.is_null()).collect(),
        _ => Map::new(),
    };
    Recipe { family: F::NAME.to_owned(), params }
}

/// The row of the family called `name`.
///
/// # Errors
/// When there is none; the refusal lists those that exist.
pub fn family(name: &str) -> Result<&'static Entry, Refusal> {
    FAMILIES.iter().find(|e| e.name == name).ok_or_else(|| {
        let names: Vec<&str> = FAMILIES.iter().map(|e| e.name).collect();
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

/// Sizes of the dimensions of a grid: an integer, a list, or `8x8x4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Shape(pub Vec<u32>);

impl<'de> serde::Deserialize<'de> for Shape {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let bad = |v: &Value| {
            serde::de::Error::custom(format!("'{v}' is no shape; write 8x8x4 or [8, 8, 4]"))
        };
        let value = Value::deserialize(d)?;
        let number = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok());
        let sizes = match &value {
            Value::Array(items) => items.iter().map(number).collect(),
            Value::String(s) => s.split('x').map(|i| i.trim().parse().ok()).collect(),
            other => number(other).map(|n| vec![n]),
        };
        sizes.map(Shape).ok_or_else(|| bad(&value))
    }
}

/// The most ports that a switch can have, in every family.
const MAX_PORTS: u32 = 65_534;
/// The most endpoints on one switch, in every family.
pub(crate) const MAX_P: u32 = 4096;

/// `value` when it lies from `least` to `most`, else a refusal of `param`. O(1).
pub(crate) fn in_range(param: &str, value: u32, least: u32, most: u32) -> Result<u32, Refusal> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Refusal::new(param, format!("{value} is out of range"), format!("{least} to {most}")))
}

/// k^(n-1) when it is at most `most`, else a refusal of `n`, which is `least` or more; `what` says
/// what there would be too many of. O(n).
fn power(k: u32, n: u32, least: u32, most: u64, what: &str) -> Result<u64, Refusal> {
    let size = |n: u32| u64::from(k).checked_pow(n - 1).filter(|&size| size <= most);
    size(n).ok_or_else(|| {
        let fits = (least..n).rev().find(|&n| size(n).is_some()).unwrap_or(least);
        let why = format!("{k}^{} {what} are too many", n - 1);
        Refusal::new("n", why, format!("with k = {k}, {least} to {fits}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::parse_inline;
    use std::collections::BTreeSet;

    /// The family that docs/adding-a-topology.md adds.
    const PAGE: Entry = Entry::of::<page_star_graph::StarGraph>();

    #[test]
    fn every_family_keeps_its_promise_on_every_example() {
        for entry in FAMILIES.iter().chain([&PAGE]) {
            let examples = entry.examples();
            assert!(!examples.is_empty(), "{} has no examples", entry.name);
            for recipe in examples {
                let promise = entry.promise(&recipe.params).expect("an example is a member");
                let built = entry.build(&recipe.params).expect("an example can be built");
                assert_eq!(broken_promises(&promise, &built), Vec::<String>::new(), "{recipe}");
                let again =
                    entry.build(&built.recipe().params).expect("its recipe builds it again");
                assert_eq!(again.links(), built.links(), "{recipe}");
                let rules = plan::FloorRules::default();
                let floor = plan::floor(&built, &rules, &base::Quiet);
                let seats = floor.expect("a floor for every network").switches;
                let places: BTreeSet<_> = seats.iter().collect();
                assert_eq!(places.len(), built.switches().len(), "{recipe}: two in one place");
            }
        }
    }

    /// The draft that docs/adding-a-topology.md speaks of, and what it shows.
    #[test]
    fn a_promise_that_is_not_kept_is_caught() {
        let recipe = PAGE.examples().swap_remove(0);
        let mut draft = PAGE.promise(&recipe.params).expect("an example is a member");
        let n = recipe.params["n"].as_u64().expect("a number") as u32;
        draft.diameter = Claim::Exact(3 * n / 2 - 1);
        let built = PAGE.build(&recipe.params).expect("an example can be built");
        let broken = broken_promises(&draft, &built);
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/adding-a-topology.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let said = format!("```text\n{recipe}\n  left: {broken:?}\n right: []\n```");
        assert!(page.contains(&said), "the page does not show\n{said}");
    }

    #[test]
    fn every_recipe_reads_back_from_its_inline_form() {
        for recipe in FAMILIES.iter().flat_map(Entry::examples) {
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
        assert!(family("slimfly").is_err_and(|r| r.help.contains("slim_fly")));
    }
}
