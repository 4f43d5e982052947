//! Reads the tables of a point one by one, so that a refusal names the table with the fault.

use crate::plugins::PluginDescription;
use crate::spec::{
    DeployOptions, EbbOptions, Experiment, ExperimentPoint, KEYS, ParameterSweep,
    RoutingEngineParameters, VerificationOptions,
};
use crate::stages::{SIMULATORS, STAGES};
use base::taken::{refused, taken};
use base::words::did_you_mean;
use base::{Refusal, fields};
use engines::lanes::LaneMethodParameters;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

type CheckFn = fn(&str, &Value) -> Result<(), Refusal>;

/// Reads a point from its tree of values.
///
/// # Errors
/// The invalid table and key, what is wrong, and what the key takes.
pub(crate) fn point(
    tree: &Value,
    plugins: &[PluginDescription],
) -> Result<ExperimentPoint, Refusal> {
    let tables: [(&str, CheckFn); 5] = [
        ("routing", one::<RoutingEngineParameters>),
        ("lanes", one::<LaneMethodParameters>),
        ("verify", one::<VerificationOptions>),
        ("ebb", one::<EbbOptions>),
        ("deploy", one::<DeployOptions>),
    ];
    for (name, check) in tables {
        if let Some(given) = tree.get(name) {
            check(name, given)?;
        }
    }
    for (name, help) in [
        ("topology", "[topology] with family and its parameters, or file".to_owned()),
        ("sim", format!("tables of simulators: {}", simulators())),
    ] {
        if tree.get(name).is_some_and(|given| !given.is_object()) {
            return Err(Refusal::new(name, "not a table", help));
        }
    }
    fields::typed(tree).map_err(|(field, why)| {
        let help = if field.is_empty() {
            keys(plugins)
        } else {
            taken::<ExperimentPoint>("a point", &field)
        };
        Refusal::new(field, why, help)
    })
}

/// Checks that `given` is a table that can be read as a `T`.
fn one<T: DeserializeOwned + JsonSchema>(name: &str, given: &Value) -> Result<(), Refusal> {
    let of = format!("[{name}]");
    if !given.is_object() {
        return Err(Refusal::new(name, "not a table", taken::<T>(&of, "")));
    }
    fields::typed::<T>(given)
        .map(drop)
        .map_err(|(field, why)| refused::<T>(&of, field, why, "").within(name))
}

/// The names of the tables of all simulators.
fn simulators() -> String {
    let all: Vec<String> = SIMULATORS.iter().map(|e| format!("[{}]", e.part.name)).collect();
    all.join(", ")
}

/// The refusal of a key that neither a point nor an experiment has, with the keys that exist.
pub(crate) fn unknown(name: &str, plugins: &[PluginDescription]) -> Refusal {
    let own = plugins.iter().map(|plugin| plugin.name.as_str());
    let known =
        EXPERIMENT.into_iter().chain(KEYS).chain(STAGES.iter().map(|e| e.part.name)).chain(own);
    let near = did_you_mean(name, known);
    let help = format!("{near}{}; an experiment, {}", keys(plugins), EXPERIMENT.join(", "));
    Refusal::new(name, "not a key of a point", help)
}

/// The keys of an experiment that are not keys of a point.
const EXPERIMENT: [&str; 10] =
    ["schema", "name", "title", "summary", "seed", "floor", "choose", "plugins", "sweep", "point"];

/// The keys of a point, in words.
fn keys(plugins: &[PluginDescription]) -> String {
    let measures = STAGES.iter().map(|e| e.part.name).filter(|name| !KEYS.contains(name));
    let all: Vec<&str> = KEYS.into_iter().chain(measures).collect();
    let built_in = Refusal::new("", "", format!("a point has {}", all.join(", ")));
    crate::plugins::listed(built_in, plugins, crate::plugins::PluginPartKind::Measure).help
}

/// What a key of an experiment takes, apart from those of points.
pub(crate) fn of_experiment(key: &str) -> String {
    match key {
        "sweep" => taken::<ParameterSweep>("[sweep]", ""),
        _ => taken::<Experiment>("an experiment", key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    const HEAD: &str = "schema = 1\nname = \"one\"\n";
    const NETWORK: &str = "[topology]\nfamily = \"ring\"\nn = 4\np = 1\n";
    const ROUTED: &str = "[routing]\nengine = \"dfsssp\"\n";

    fn fault(text: &str) -> String {
        crate::expand(text, "f.toml", &[]).map(drop).expect_err(text).to_string()
    }

    /// An experiment file with one line in one table.
    fn with(table: &str, line: &str) -> String {
        let needed = match table {
            "routing" if !line.starts_with("engine") => ROUTED,
            "deploy" if !line.starts_with("fabric") => "[deploy]\nfabric = \"ibsim\"\n",
            _ => &format!("[{table}]\n"),
        };
        let routed = if table == "routing" { "" } else { ROUTED };
        format!("{HEAD}{NETWORK}{routed}{needed}{line}\n")
    }

    fn resolved<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
        if let Some(at) = schema["$ref"].as_str().and_then(|at| at.strip_prefix('#')) {
            return resolved(root, root.pointer(at).expect("a schema refers to what it has"));
        }
        match schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
            Some(either) => either.iter().flat_map(|one| resolved(root, one)).collect(),
            None => vec![schema],
        }
    }

    /// The tables that a file can have, with their keys, by the schema that editors read.
    fn tables(root: &Value) -> Vec<(String, Map<String, Value>)> {
        let all = root["properties"].as_object().expect("a schema has properties");
        let keys = |schema| {
            resolved(root, schema)
                .into_iter()
                .find_map(|one| one["properties"].as_object().cloned())
        };
        all.iter().filter_map(|(name, one)| Some((name.clone(), keys(one)?))).collect()
    }

    /// A value, as TOML, that a key cannot have, and the words by which the help must name valid
    /// ones.
    fn wrong(root: &Value, key: &Value) -> (&'static str, Vec<String>) {
        let kinds = resolved(root, key);
        let of = |kind: &str| {
            kinds.iter().any(|one| {
                one["type"] == kind
                    || one["type"].as_array().is_some_and(|all| all.contains(&json!(kind)))
            })
        };
        let mut expected = Vec::new();
        for (kind, words) in [
            ("integer", "a whole number"),
            ("number", "a number"),
            ("boolean", "true or false"),
            ("array", "a list"),
            ("object", "a table"),
        ] {
            if of(kind) {
                expected.push(words.to_owned());
            }
        }
        let words = kinds.iter().filter_map(|one| one["const"].as_str()).map(str::to_owned);
        let words: Vec<String> = words.collect();
        if of("string") && words.is_empty() && kinds.iter().all(|one| one["enum"].is_null()) {
            expected.push("text".to_owned());
        }
        expected.extend(words);
        (if of("boolean") { "\"maybe\"" } else { "true" }, expected)
    }

    #[test]
    fn a_key_that_there_is_not_names_those_of_its_table() {
        let schema = crate::spec::schema();
        let all = tables(&schema);
        assert!(all.len() > 8, "{}", all.len());
        for (table, keys) in all {
            let said = fault(&with(&table, "zzz = 1"));
            assert!(said.starts_with("f.toml: line ") && said.contains("zzz"), "{said}");
            let own: Vec<&str> = match table.as_str() {
                "routing" => vec!["max_lanes", "balance", "lanes", "lmc", "layers"],
                _ => keys.keys().map(String::as_str).collect(),
            };
            for key in own {
                assert!(said.contains(key), "[{table}] has {key}: {said}");
            }
            assert!(!said.contains("a point has"), "{said}");
        }
    }

    #[test]
    fn a_value_of_the_wrong_kind_says_what_its_key_takes() {
        let schema = crate::spec::schema();
        let mut seen = 0;
        for (table, keys) in tables(&schema).into_iter().filter(|(table, _)| table != "sweep") {
            for (key, one) in keys {
                let (value, expected) = wrong(&schema, &one);
                let said = fault(&with(&table, &format!("{key} = {value}")));
                assert!(said.contains(&format!("{table}: {key}: ")), "{said}");
                assert!(!said.contains("a point has") && !said.contains("untagged"), "{said}");
                for words in expected {
                    assert!(said.contains(&words), "[{table}] {key} takes {words}: {said}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 40, "{seen}");
    }

    #[test]
    fn what_stands_in_no_table_is_placed_too() {
        let schema = crate::spec::schema();
        let mut seen = 0;
        for (key, one) in schema["properties"].as_object().expect("properties") {
            let (_, expected) = wrong(&schema, one);
            let rest = format!("{HEAD}{NETWORK}{ROUTED}");
            let given = if expected.contains(&"a whole number".to_owned()) { "\"x\"" } else { "3" };
            let line = format!("{key} = {given}\n");
            let without: Vec<&str> =
                rest.lines().filter(|old| !old.starts_with(&format!("{key} ="))).collect();
            let open = format!("[{key}]");
            let kept: Vec<&str> = match without.iter().position(|old| *old == open) {
                Some(at) => {
                    let after = without[at + 1..].iter().position(|old| old.starts_with('['));
                    let next = after.map_or(without.len(), |next| at + 1 + next);
                    [&without[..at], &without[next..]].concat()
                }
                None => without,
            };
            let said = fault(&format!("{line}{}\n", kept.join("\n")));
            assert!(said.starts_with("f.toml: line 1, column "), "{key}: {said}");
            assert!(said.contains(&format!(": {key}: ")), "{said}");
            seen += 1;
        }
        assert!(seen > 15);
        let said = fault(&format!("sede = 3\n{HEAD}{NETWORK}{ROUTED}"));
        assert!(said.contains("did you mean seed?"), "{said}");
    }

    #[test]
    fn parameters_of_families_and_engines_are_listed_too() {
        for family in families::FAMILIES {
            for (key, _) in family.part.schema()["properties"].as_object().into_iter().flatten() {
                let network =
                    format!("[topology]\nfamily = \"{}\"\n{key} = {{}}", family.part.name);
                let said = fault(&format!("{HEAD}{network}\n{ROUTED}"));
                assert!(said.contains(&format!("topology: {}: ", family.part.name)), "{said}");
            }
        }
        for engine in engines::ENGINES {
            let routed = format!("[routing]\nengine = \"{}\"\nzzz = 1\n", engine.part.name);
            let said = fault(&format!("{HEAD}{NETWORK}{routed}"));
            for (key, _) in engine.part.schema()["properties"].as_object().into_iter().flatten() {
                assert!(said.contains(key.as_str()), "{}: {said}", engine.part.name);
            }
        }
    }
}
