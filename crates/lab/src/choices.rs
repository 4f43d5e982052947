//! What can be chosen by name besides families, engines and measures: patterns of traffic,
//! selections of paths, steps of mappings, placements, communication graphs, formats that are read,
//! catalogues. `flyloom list` reads it.

use base::part::Part;
use formats::trace::{self, Format};
use formats::{communication, graph_file};
use mapping::method::METHODS;
use paths::select::Selection;
use plan::catalog::Catalog;
use schemars::JsonSchema;
use serde_json::{Value, json};
use traffic::communication::KINDS;
use traffic::pattern::Pattern;
use traffic::placement::PLACEMENTS;

/// Every choice: a list of `{kind, name, takes, doc}`. `kind` is `traffic`, `selection`, `method`
/// (of mappings, joined by `+`), `graph`, `placement`, `network-file`, `workload-file` (with
/// `params`), `graph-file` or `catalog`; `takes` says what may follow the name, empty where nothing
/// may.
pub fn choices() -> Value {
    let traffic = Pattern::all().map(|(name, takes, doc)| {
        let needed = !Pattern::goes_by_places(name) && Pattern::parse(name, 16).is_err();
        let takes = match takes {
            "" => String::new(),
            takes if needed => format!(":{takes}"),
            takes => format!("[:{takes}]"),
        };
        row("traffic", name, &takes, doc)
    });
    let methods = METHODS.iter().map(|m| of("method", &m.part));
    let graphs = KINDS.iter().map(|(name, doc, keys)| row("graph", name, keys, doc));
    let placements = PLACEMENTS.iter().map(|p| of("placement", &p.part));
    let network_files = graph_file::FORMATS.iter().map(|f| of("network-file", &f.part));
    let workload_files = trace::FORMATS.iter().map(workload_file);
    let graph_files = communication::FORMATS.iter().map(|f| of("graph-file", &f.part));
    let catalogs = Catalog::built_in().map(|name| row("catalog", name, "", "prices and powers"));
    traffic
        .chain(documented::<Selection>("selection"))
        .chain(methods)
        .chain(graphs)
        .chain(placements)
        .chain(network_files)
        .chain(workload_files)
        .chain(graph_files)
        .chain(catalogs)
        .collect()
}

/// A format of workloads: how its files are named, and its parameters besides.
fn workload_file(format: &Format) -> Value {
    let written = format.writer.map_or(String::new(), |w| format!("; written as NAME{}", w.end));
    let doc = format!("{}; {}{written}", format.part.doc, format.named());
    let params = format.keys().into_iter().map(|key| {
        let (name, default) = (key.name, key.default());
        json!({ "name": name, "required": default.is_null(), "default": default, "doc": key.doc })
    });
    let mut row = row("workload-file", format.part.name, "", &doc);
    row["params"] = params.collect();
    row
}

fn of(kind: &str, part: &Part) -> Value {
    row(kind, part.name, "", part.doc)
}

fn row(kind: &str, name: &str, takes: &str, doc: &str) -> Value {
    json!({ "kind": kind, "name": name, "takes": takes, "doc": doc })
}

/// The variants of an enumeration by the names that users type, with their documentation.
fn documented<T: JsonSchema>(kind: &str) -> impl Iterator<Item = Value> {
    let schema = schemars::schema_for!(T).to_value();
    let variants = schema["oneOf"].as_array().cloned().unwrap_or_default();
    variants.into_iter().filter_map(move |variant| {
        let doc = variant["description"].as_str()?.replace('\n', " ");
        Some(row(kind, variant["const"].as_str()?, "", &doc))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_choice_has_a_name_of_its_own_and_a_sentence() {
        let all = choices();
        let mut seen = HashSet::new();
        for row in all.as_array().expect("a list") {
            let [kind, name, doc] = ["kind", "name", "doc"].map(|key| row[key].as_str());
            assert!(seen.insert((kind, name)), "{row}: the name comes twice");
            assert!(doc.is_some_and(|doc| !doc.is_empty()), "{row}");
        }
    }
}
