//! Families of networks: what each promises, how each is built, and the table of all of them.
//!
//! A new family is one new file beside this one: a struct of parameters that implements [`Family`].
//! `cargo xtask gen` adds its row to [`FAMILIES`]; the conformance tests below then run on it.

use crate::network::{Builder, Recipe, Topology};
use base::Refusal;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

// gen:begin
pub mod dragonfly;
pub mod fat_tree;
pub mod hyperx;
pub mod slim_fly;
pub mod torus;

/// Every `Family` of this folder, by file and name; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static FAMILIES: &[Entry] = &[
    Entry::of::<dragonfly::Dragonfly>(),
    Entry::of::<fat_tree::FatTree>(),
    Entry::of::<hyperx::HyperX>(),
    Entry::of::<slim_fly::SlimFly>(),
    Entry::of::<torus::Mesh>(),
    Entry::of::<torus::Torus>(),
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
}

/// A family of networks; its value holds the parameters of one member.
///
/// The struct's doc comment and its fields' become the reference page, the Python function and the
/// schema. Unknown parameters are refused (`#[serde(deny_unknown_fields)]`).
pub trait Family: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The name users type.
    const NAME: &'static str;

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
}

/// One row of the table of families.
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    schema: fn() -> Value,
    examples: fn() -> Vec<Recipe>,
    promise: fn(Value) -> Result<Promise, Refusal>,
    build: fn(Value) -> Result<Topology, Refusal>,
}

impl Entry {
    /// The row of family `F`.
    pub const fn of<F: Family>() -> Self {
        Self {
            name: F::NAME,
            schema: || schemars::schema_for!(F).to_value(),
            examples: || F::examples().iter().map(recipe).collect(),
            promise: |params| parse::<F>(&params)?.promise(),
            build: |params| {
                let family = parse::<F>(&params)?;
                let promise = family.promise()?;
                within_limits(&promise)?;
                family.build()?.finish(recipe(&family))
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

/// `given` as a `T`; else the field at fault (empty where it is none of them) and what is wrong.
pub(crate) fn typed<T: DeserializeOwned>(given: &Value) -> Result<T, (String, String)> {
    T::deserialize(given).map_err(|e: serde_json::Error| {
        let (why, all) = (e.to_string(), given.as_object());
        // a field whose value is at fault is at fault without the others, in the same words
        let fault = all.into_iter().flatten().find(|(key, value)| {
            let alone = Map::from_iter([((*key).clone(), (*value).clone())]);
            serde_json::from_value::<T>(Value::Object(alone)).is_err_and(|e| e.to_string() == why)
        });
        let named = fault.filter(|_| why.starts_with("invalid ")).map(|(key, _)| key.clone());
        let why = why.replace("expected u32", "expected a whole number below 4294967296");
        (named.unwrap_or_default(), why.replace("expected u8", "expected a whole number below 256"))
    })
}

fn parse<F: Family>(params: &Value) -> Result<F, Refusal> {
    typed(params).map_err(|(field, why)| {
        let fields: Vec<String> = schemars::schema_for!(F)
            .get("properties")
            .and_then(Value::as_object)
            .map(|p| p.keys().cloned().collect())
            .unwrap_or_default();
        Refusal::new(field, why, format!("{} takes {}", F::NAME, fields.join(", ")))
    })
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
            format!("families: {}", names.join(", ")),
        )
    })
}

/// Parses the inline form `family:key=value,key=value`.
///
/// A value is an integer, a shape (`8x8x4`), or a word.
///
/// # Errors
/// When a part has no `=` or a key comes twice; nothing is said of the family's own rules.
pub fn parse_inline(text: &str) -> Result<Recipe, Refusal> {
    let (family, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut params = Map::new();
    for part in rest.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (key, value) = part.split_once('=').ok_or_else(|| {
            Refusal::new(
                family,
                format!("'{part}' is no parameter"),
                "write key=value, as in slim_fly:q=5,p=4",
            )
        })?;
        let (key, value) = (key.trim(), value.trim());
        let old = params.insert(key.to_owned(), parse_value(value));
        if old.is_some() {
            return Err(Refusal::new(
                family,
                format!("{key} is given twice"),
                "give each parameter once",
            ));
        }
    }
    Ok(Recipe { family: family.trim().to_owned(), params })
}

fn parse_value(text: &str) -> Value {
    if let Ok(n) = text.parse::<i64>() {
        return n.into();
    }
    if let Some(items) = text.split('x').map(|i| i.parse::<u32>().ok()).collect::<Option<Vec<_>>>()
    {
        return items.into();
    }
    match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => text.parse::<f64>().map_or_else(|_| text.into(), Value::from),
    }
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

/// Compares a promise with the network that was built; one sentence for each that was not kept.
///
/// O(all-pairs distances).
pub fn broken_promises(promise: &Promise, built: &Topology) -> Vec<String> {
    let distances =
        base::distance::distances_among(built.graph(), &built.edge_switches(), &base::Quiet)
            .expect("a quiet watch never interrupts");
    let (sum, pairs) = distances.sum_and_pairs();
    let mut broken = Vec::new();
    let mut compare = |what: &str, promised: u64, found: u64| {
        if promised != found {
            broken.push(format!("{what}: promised {promised}, built {found}"));
        }
    };
    compare("switches", promise.switches, built.switches().len() as u64);
    compare("endpoints", promise.endpoints, built.endpoints().len() as u64);
    compare("links", promise.links, built.links().len() as u64);
    compare("network_radix", promise.network_radix.into(), built.network_radix().into());
    compare("unreachable pairs", 0, distances.unreachable);
    let diameter = distances.diameter();
    let kept = match promise.diameter {
        Claim::Exact(d) => d == diameter,
        Claim::Between(low, high) => (low..=high).contains(&diameter),
    };
    if !kept {
        broken.push(format!("diameter: promised {:?}, built {diameter}", promise.diameter));
    }
    let order = |r: Ratio| {
        (u128::from(sum) * u128::from(r.den)).cmp(&(u128::from(r.num) * u128::from(pairs)))
    };
    let kept = pairs == 0
        || match promise.mean_distance {
            Claim::Exact(r) => order(r).is_eq(),
            Claim::Between(low, high) => order(low).is_ge() && order(high).is_le(),
        };
    if !kept {
        broken.push(format!(
            "mean_distance: promised {:?}, built {sum}/{pairs}",
            promise.mean_distance
        ));
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_keeps_its_promise_on_every_example() {
        for entry in FAMILIES {
            let examples = entry.examples();
            assert!(!examples.is_empty(), "{} has no examples", entry.name);
            for recipe in examples {
                let promise = entry.promise(&recipe.params).expect("an example is a member");
                let built = entry.build(&recipe.params).expect("an example can be built");
                assert_eq!(broken_promises(&promise, &built), Vec::<String>::new(), "{recipe}");
                let again =
                    entry.build(&built.recipe().params).expect("its recipe builds it again");
                assert_eq!(again.links(), built.links(), "{recipe}");
            }
        }
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
