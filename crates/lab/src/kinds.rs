//! Every kind of part: the word that lists it, what it is, and its rows. `flyloom list`, the
//! completion of names and the reference page of parts read this table; a new kind is a line in it.

use crate::registry::{describe, engines, families, params, simulators, stages};
use base::part::PartDescription;
use engines::ask::OPENSM;
use engines::lanes::LaneAssignmentMethod;
use formats::trace::{self, TraceFormat};
use formats::{communication, companion, counters, export, graph_file, mapping as mapping_file};
use mapping::method::METHODS;
use message::PRESETS;
use packet::SimulatorDialect;
use packet::replay::{CODES_COSTS, MpiCosts};
use paths::select::{PathSelection, RailSelection};
use plan::catalog::Catalog;
use schemars::JsonSchema;
use serde_json::{Value, json};
use traffic::communication::KINDS as GRAPHS;
use traffic::pattern::CommunicationPattern;
use traffic::placement::PLACEMENTS;
use traffic::workload::generators;

/// A kind of parts.
#[derive(Debug)]
pub struct PartKind {
    /// The word that lists its parts: `flyloom list WORD`.
    pub word: &'static str,
    /// What its parts are called one by one: `kind` of a row, unless the row says it more exactly.
    pub one: &'static str,
    /// What its parts are, a clause.
    pub about: &'static str,
    rows: fn() -> Vec<Value>,
}

impl PartKind {
    const fn new(
        word: &'static str,
        one: &'static str,
        about: &'static str,
        rows: fn() -> Vec<Value>,
    ) -> Self {
        Self { word, one, about, rows }
    }

    /// Its parts: objects with `kind`, `name`, `doc` and either `params`, as
    /// [`registry`](crate::registry::registry) has them, or `takes`, what may follow the name.
    pub fn rows(&self) -> Vec<Value> {
        (self.rows)()
    }
}

/// All kinds of parts that the core has.
pub static KINDS: &[PartKind] = &[
    PartKind::new("topologies", "topology", "families of networks", families),
    PartKind::new("engines", "engine", "routing engines", engines),
    PartKind::new("opensm-engines", "opensm-engine", "routing engines of OpenSM", opensm),
    PartKind::new("lane-methods", "lane-method", "how routes get their lanes", || {
        words_of::<LaneAssignmentMethod>("lane-method")
    }),
    PartKind::new("measures", "measure", "what is found out of a network or its routes", stages),
    PartKind::new("simulators", "simulator", "simulators, by level", simulators),
    PartKind::new("models", "model", "whose model of switches packets go through", || {
        parts("model", SimulatorDialect::ALL.iter().map(|one| one.part()))
    }),
    PartKind::new(
        "selections",
        "selection",
        "how packets of a simulation choose their paths",
        || parts("selection", PathSelection::ALL.iter().map(|one| &one.entry().part)),
    ),
    PartKind::new("rails", "rail", "how packets get the rails of their endpoint", || {
        words_of::<RailSelection>("rail")
    }),
    PartKind::new("traffic", "traffic", "patterns of traffic", || {
        CommunicationPattern::all()
            .map(|part| with_keys("traffic", part))
            .chain(offered())
            .collect()
    }),
    PartKind::new(
        "workloads",
        "workload",
        "collectives and applications, message by message",
        made,
    ),
    PartKind::new("costs", "costs", "presets of what messages cost, for sim message", costs),
    PartKind::new("network-files", "network-file", "formats that networks are read from", || {
        parts("network-file", graph_file::parts())
    }),
    PartKind::new(
        "workload-files",
        "workload-file",
        "formats that workloads are read from and written in",
        || trace::FORMATS.iter().map(workload_file).collect(),
    ),
    PartKind::new(
        "graph-files",
        "graph-file",
        "formats that communication graphs are read from",
        || parts("graph-file", communication::FORMATS.iter().map(|f| &f.part)),
    ),
    PartKind::new(
        "counter-files",
        "counter-file",
        "formats that port counters of running fabrics are read from",
        || parts("counter-file", counters::FORMATS.iter().map(|f| &f.part)),
    ),
    PartKind::new(
        "companion-files",
        "companion-file",
        "formats of files that are read beside a network, beside another file or in pairs",
        || parts("companion-file", companion::FORMATS.iter().map(|f| &f.part)),
    ),
    PartKind::new("mapping-files", "mapping-file", "formats that mappings are written in", || {
        mapping_file::FORMATS.iter().map(|(n, _, doc)| row("mapping-file", n, "", doc)).collect()
    }),
    PartKind::new("catalogs", "catalog", "catalogues of prices", || {
        Catalog::built_in().map(|name| row("catalog", name, "", "prices and powers")).collect()
    }),
    PartKind::new("graphs", "graph", "communication graphs to map", || {
        GRAPHS.iter().map(|(name, doc, keys)| row("graph", name, keys, doc)).collect()
    }),
    PartKind::new("methods", "method", "steps of mappings, joined by +", || {
        parts("method", METHODS.iter().map(|m| &m.part))
    }),
    PartKind::new("placements", "placement", "which endpoints get the processes of a job", || {
        parts("placement", PLACEMENTS.iter().map(|p| &p.part))
    }),
    PartKind::new(
        "exports",
        "export",
        "formats of other programs that a network is written in",
        || export::FORMATS.iter().map(|f| exported(&f.part, f.networks)).collect(),
    ),
];

/// A part that is asked for by its name alone, or with what `takes` says.
fn row(kind: &str, name: &str, takes: &str, doc: &str) -> Value {
    json!({ "kind": kind, "name": name, "takes": takes, "doc": doc })
}

/// Parts that take no parameters.
fn parts<'a>(kind: &str, all: impl IntoIterator<Item = &'a PartDescription>) -> Vec<Value> {
    all.into_iter().map(|part| row(kind, part.name, "", &part.about())).collect()
}

/// The variants of an enumeration by the names that users type, with their documentation.
fn words_of<T: JsonSchema>(kind: &str) -> Vec<Value> {
    let schema = schemars::schema_for!(T).to_value();
    let variants = schema["oneOf"].as_array().cloned().unwrap_or_default();
    let named = variants.into_iter().filter_map(|variant| {
        let doc = variant["description"].as_str()?.replace('\n', " ");
        Some(row(kind, variant["const"].as_str()?, "", &doc))
    });
    named.collect()
}

/// Traffic by name that is no pattern; `uniform` and `all_to_all` are patterns as well.
fn offered() -> impl Iterator<Item = Value> {
    let all = [
        (
            "longest_matching",
            "",
            "every endpoint sends to one other and receives from one, as far away in all as can be",
        ),
        (
            "elephant",
            "FRACTION",
            "uniform, with this fraction of the flows of the longest matching",
        ),
    ];
    all.into_iter().map(|(name, takes, doc)| {
        let mut row = row("traffic", name, takes, doc);
        row["params"] = json!([]);
        row
    })
}

fn opensm() -> Vec<Value> {
    let of = |name: &&str| {
        let name = format!("opensm:{name}");
        json!({ "kind": "engine", "name": name, "doc": "OpenSM's own" })
    };
    OPENSM.iter().map(of).collect()
}

/// The costs of CODES, a preset of the packet level alone, by its parameters `mpi`.
fn codes_costs() -> Value {
    let costs = MpiCosts::default();
    let of = |name: &str, unit: &str, value: Value| {
        json!({ "name": name, "doc": format!("{value} {unit}; default of model-net-mpi-replay"),
                "required": false, "default": value })
    };
    let source = "model-net-mpi-replay of CODES";
    let about = "the defaults of CODES, at the packet level alone";
    json!({ "kind": "costs", "name": CODES_COSTS, "doc": format!("{about}; source: {source}"),
            "source": source, "params": [
        of("mpi.send_ns", "ns", json!(costs.send_ns)),
        of("mpi.send_ns_per_byte", "ns/B", json!(costs.send_ns_per_byte)),
        of("mpi.gap_ns", "ns", json!(costs.gap_ns)),
        of("mpi.eager_bytes", "B", json!(costs.eager_bytes)),
    ] })
}

/// Presets of LogGOPS: each parameter with its value and where that is from; then that of CODES.
fn costs() -> Vec<Value> {
    let of = |preset: &message::LogGopsPreset| {
        let values = json!(preset.parameters);
        let param = |(letter, from): &(&str, &str)| {
            let unit = match *letter {
                "G" | "O" => "ns/B",
                "S" => "B",
                _ => "ns",
            };
            let value = values[letter].as_f64().unwrap_or_default();
            let doc = format!("{value} {unit}; {from}");
            json!({ "name": letter, "doc": doc, "required": false, "default": values[letter] })
        };
        let params: Vec<Value> = preset.from.iter().map(param).collect();
        let doc = format!("{}; source: {}", preset.about, preset.source);
        json!({ "kind": "costs", "name": preset.name, "doc": doc, "source": preset.source,
                "params": params })
    };
    PRESETS.iter().map(of).chain([codes_costs()]).collect()
}

/// Collectives and applications, each by its own kind.
fn made() -> Vec<Value> {
    generators().into_iter().map(|one| with_keys(one.kind(), &one.part())).collect()
}

/// A part that is asked for by its name with `KEY=VALUE` behind it.
fn with_keys(kind: &str, part: &PartDescription) -> Value {
    json!({ "kind": kind, "name": part.name, "doc": part.about(), "params": keys(part) })
}

/// A format of workloads: how its files are named, and its parameters besides.
fn workload_file(format: &TraceFormat) -> Value {
    let written = format.writer.map_or(String::new(), |w| format!("; written as NAME{}", w.end));
    let doc = format!("{}; {}{written}", format.part.doc, format.named());
    let mut row = row("workload-file", format.part.name, "", &doc);
    row["params"] = keys(&format.part).into();
    row
}

/// The parameters of a workload, or of a format of workloads. The default is the word `none` for
/// those that have no effect unless they are given.
pub fn keys(part: &PartDescription) -> Vec<Value> {
    let mut all = params(&part.schema());
    for one in &mut all {
        if one["required"] == false && one["default"].is_null() {
            one["default"] = "none".into();
        }
        one["doc"] = one["doc"].as_str().unwrap_or_default().replace('\n', " ").into();
    }
    all
}

/// A format of export, with the networks that it can hold.
fn exported(part: &PartDescription, networks: &str) -> Value {
    let mut row = describe("export", part);
    row["doc"] = format!("{}; {networks}", part.doc).into();
    for param in row["params"].as_array_mut().into_iter().flatten() {
        let doc = param["doc"].as_str().unwrap_or_default().replace('\n', " ");
        *param = json!({ "name": param["name"], "doc": doc, "required": false });
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_part_has_a_name_of_its_own_a_sentence_and_parameters_that_say_what_they_are() {
        let mut words = HashSet::new();
        for kind in KINDS {
            assert!(words.insert(kind.word) && !kind.about.is_empty(), "{}", kind.word);
            let rows = kind.rows();
            assert!(!rows.is_empty(), "{}: no part", kind.word);
            let mut seen = HashSet::new();
            for row in &rows {
                let [own, name, doc] = ["kind", "name", "doc"].map(|key| row[key].as_str());
                let is_own = own == Some(kind.one);
                assert!(is_own || ["workloads", "opensm-engines"].contains(&kind.word), "{row}");
                assert!(name.is_some_and(|name| !name.is_empty()) && seen.insert(name), "{row}");
                assert!(doc.is_some_and(|doc| !doc.is_empty()), "{row} says nothing");
                for param in row["params"].as_array().into_iter().flatten() {
                    let says = ["name", "doc"].map(|key| param[key].as_str().unwrap_or_default());
                    assert!(says.iter().all(|text| !text.is_empty()), "{name:?}: {param}");
                }
            }
        }
    }
}
