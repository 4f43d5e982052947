//! Node-link JSON, as networkx and D3 write it.
//!
//! ```json
//! {"directed": false, "multigraph": false, "graph": {},
//!  "nodes": [{"id": "a", "endpoints": 2}, {"id": "b"}],
//!  "links": [{"source": "a", "target": "b"}]}
//! ```
//!
//! Source: networkx, `node_link_data`; the list of edges is `links` or, in newer versions, `edges`.
//! The ends of an edge are ids of nodes, or positions in their list where nodes have no ids, as in
//! D3 and networkx before 2.0. What nodes and edges mean: [`super::attributed`].

use super::attributed::{AttributedEdge, AttributedGraph, AttributedNode, Attributes};
use super::kind::GraphFileFormat;
use crate::backed::NetworkFileOptions;
use base::Refusal;
use base::part::PartDescription;
use fabric::network::Topology;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

pub(super) const ENTRY: GraphFileFormat = GraphFileFormat {
    part: PartDescription::new("node-link", "node-link JSON"),
    rank: 10,
    looks: |seen| seen.body.starts_with('{') && looks(seen.body),
    read: |text, name, p| read(text, name, p),
    example: || EXAMPLE.to_owned(),
};

const EXAMPLE: &str = "{\"directed\": false, \"graph\": {\"at\": 20260101}, \"nodes\": [{\"id\": \
    \"a1\", \"x\": 12.5, \"w\": 31.25}, {\"id\": \"b2\", \"x\": 71.5, \"w\": 1234}], \"links\": \
    [{\"source\": \"a1\", \"target\": \"b2\", \"weight\": 1234.5, \"key\": 17}]}";

#[derive(Deserialize)]
struct NodeLinkDocument {
    #[serde(default)]
    directed: bool,
    nodes: Vec<Map<String, Value>>,
    #[serde(default)]
    links: Option<Vec<Map<String, Value>>>,
    #[serde(default)]
    edges: Option<Vec<Map<String, Value>>>,
}

/// Whether a document of JSON is of this kind: it has nodes, edges, and no version of flyloom's.
pub(super) fn looks(text: &str) -> bool {
    #[derive(Deserialize)]
    struct NodeLinkKeys {
        flyloom: Option<serde::de::IgnoredAny>,
        nodes: Option<serde::de::IgnoredAny>,
        links: Option<serde::de::IgnoredAny>,
        edges: Option<serde::de::IgnoredAny>,
    }
    let keys: Result<NodeLinkKeys, _> = serde_json::from_str(text.trim_start_matches('\u{feff}'));
    keys.is_ok_and(|k| k.flyloom.is_none() && k.nodes.is_some() && (k.links.or(k.edges)).is_some())
}

/// The text of a value that can be an attribute: a text, a number, true or false; `None` for lists
/// and objects.
fn said(value: &Value) -> Option<Cow<'static, str>> {
    match value {
        Value::String(text) => Some(Cow::Owned(text.clone())),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Bool(yes) => Some(Cow::Owned(yes.to_string())),
        _ => None,
    }
}

/// An id or an end of an edge; tuples of Python are lists here.
fn id_of(value: &Value) -> Option<Cow<'static, str>> {
    match value {
        Value::Array(_) => Some(Cow::Owned(value.to_string())),
        other => said(other),
    }
}

fn data_of(entry: &Map<String, Value>) -> Attributes<'static> {
    let one = |(key, value): (&String, &Value)| Some((Cow::Owned(key.clone()), said(value)?));
    entry.iter().filter_map(one).collect()
}

/// Reads node-link JSON; `name` stands for the file in the recipe and in refusals, `p` puts that
/// many endpoints on every switch when no node tells its `endpoints`. O(file).
///
/// # Errors
/// With the entry, when the text is no node-link JSON; also the errors of all graphs with
/// attributes.
pub fn read(text: &str, name: &str, p: impl Into<NetworkFileOptions>) -> Result<Topology, Refusal> {
    let p = p.into();
    let text = text.trim_start_matches('\u{feff}');
    let document: NodeLinkDocument =
        serde_json::from_str(text).map_err(|e| super::json::syntax(name, &e))?;
    let key = if document.links.is_some() { "links" } else { "edges" };
    let list = document.links.or(document.edges).unwrap_or_default();
    let refuse = |list: &str, at: usize, why: &str, help: &str| {
        Refusal::new(format!("{name}: {list}[{at}]"), why, help)
    };
    if document.nodes.is_empty() {
        return Err(Refusal::new(format!("{name}: nodes"), "there are none", "a node each switch"));
    }
    let have_ids = document.nodes.iter().any(|node| node.contains_key("id"));
    let mut vertices = Vec::with_capacity(document.nodes.len());
    for (at, node) in document.nodes.iter().enumerate() {
        let id =
            if have_ids { node.get("id").and_then(id_of) } else { Some(at.to_string().into()) };
        let id = id.ok_or_else(|| refuse("nodes", at, "it has no id", "a text or a number"))?;
        vertices.push(AttributedNode { at, id, data: data_of(node) });
    }
    let mut edges = Vec::with_capacity(list.len());
    for (at, edge) in list.iter().enumerate() {
        let end = |which: &str| {
            edge.get(which)
                .and_then(id_of)
                .ok_or_else(|| refuse(key, at, &format!("it has no {which}"), "the id of a node"))
        };
        let (source, target) = (end("source")?, end("target")?);
        edges.push(AttributedEdge {
            at,
            source,
            target,
            directed: document.directed,
            data: data_of(edge),
        });
    }
    let lists = Some(["nodes", key]);
    AttributedGraph { name, format: "node_link", text, lists, vertices, edges }.build(p)
}
