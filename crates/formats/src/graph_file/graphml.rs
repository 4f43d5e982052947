//! `GraphML`, as networkx and others write it.
//!
//! Source: Brandes, Eiglsperger, Herman, Himsolt, Marshall, "`GraphML` Progress Report", GD 2001,
//! and its schema 1.1.
//!
//! What nodes and edges mean: [`super::attributed`]. yEd's drawing and the like are ignored. In a
//! directed graph every edge must have its opposite, and the two are one link. A document type is
//! passed over; entities are never expanded, a file that declares some is refused.

use super::attributed::{AttributedEdge, AttributedGraph, AttributedNode, Attributes, line_of};
use super::kind::{GraphFileFormat, example_network, terminals_up};
use crate::backed::NetworkFileOptions;
use crate::names::unique_names;
use base::part::PartDescription;
use base::{LinkId, Refusal, SwitchId};
use fabric::network::Topology;
use roxmltree::{Document, Node, ParsingOptions};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

pub(super) const ENTRY: GraphFileFormat = GraphFileFormat {
    part: PartDescription::new("graphml", "GraphML"),
    rank: 30,
    looks: |seen| seen.body.starts_with('<') && !seen.body.starts_with("< "),
    read: |text, name, p| read(text, name, p),
    example: || write(&example_network()),
};

/// The namespace of `xml:space`, which says whether blanks around a text are part of it.
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// A reader of a GraphML document, with its keys and defaults.
struct GraphMlReader<'a, 'input> {
    name: &'a str,
    document: &'a Document<'input>,
    /// Key id to attribute name.
    keys: HashMap<&'a str, &'a str>,
    node_defaults: Attributes<'a>,
    edge_defaults: Attributes<'a>,
}

/// The most attributes of an element: each is compared with all before it.
const MOST_ATTRIBUTES: usize = 1000;

/// The byte at which an element with more attributes than that begins.
fn crowded(text: &str) -> Option<usize> {
    let (mut begin, mut count, mut quote) = (None, 0, None);
    for (at, byte) in text.bytes().enumerate() {
        match (begin, quote, byte) {
            (_, Some(end), _) if byte == end => quote = None,
            // no value has `<` in it: what was taken for a quote was none
            (_, _, b'<') => (begin, count, quote) = (Some(at), 0, None),
            (Some(_), None, b'"' | b'\'') => quote = Some(byte),
            (Some(_), None, b'>') => begin = None,
            (Some(begin), None, b'=') if count == MOST_ATTRIBUTES => return Some(begin),
            (Some(_), None, b'=') => count += 1,
            _ => {}
        }
    }
    None
}

/// Reads a `GraphML` file; `name` stands for the file in the recipe and in refusals.
///
/// `p` puts that many endpoints on every switch when no node tells its `endpoints`; without either
/// the network has none. Ports are given out in order of the edges. O(file).
///
/// # Errors
/// When it is not well-formed XML or `GraphML`, an id or a name comes twice, an edge leads to an
/// unknown node or to its own, an attribute has no such value, a directed edge has no opposite, the
/// graph is nested or has hyperedges, or `p` is given for a file with endpoints.
pub fn read(text: &str, name: &str, p: impl Into<NetworkFileOptions>) -> Result<Topology, Refusal> {
    let p = p.into();
    if let Some(at) = text.find("<!ENTITY") {
        let line = line_of(text, at);
        let why = "it declares entities, which would have to be expanded";
        let help = "GraphML without entities of its own";
        return Err(Refusal::new(format!("{name}: line {line}"), why, help));
    }
    if let Some(at) = crowded(text) {
        let place = format!("{name}: line {}", line_of(text, at));
        let why = format!("an element of more than {MOST_ATTRIBUTES} attributes");
        return Err(Refusal::new(place, why, "data in elements of their own"));
    }
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|e| {
        let place = format!("{name}: line {}", e.pos().row);
        Refusal::new(place, format!("not well-formed XML: {e}"), "expected GraphML")
    })?;
    let root = document.root_element();
    let mut reader = GraphMlReader {
        name,
        document: &document,
        keys: HashMap::new(),
        node_defaults: HashMap::new(),
        edge_defaults: HashMap::new(),
    };
    if root.tag_name().name() != "graphml" {
        let why = format!("the root is <{}>", root.tag_name().name());
        return Err(reader.refuse(root, why, "expected <graphml>"));
    }
    let mut graphs = root.children().filter(|n| n.has_tag_name_of("graph"));
    let Some(graph) = graphs.next() else {
        return Err(reader.refuse(root, "there is no <graph>", "expected one"));
    };
    if let Some(second) = graphs.next() {
        return Err(reader.refuse(second, "a second <graph>", "expected one"));
    }
    reader.read_keys(root);
    let vertices = reader.vertices(graph)?;
    if vertices.is_empty() {
        return Err(reader.refuse(graph, "the graph has no nodes", "expected <node> elements"));
    }
    let edges = reader.edges(graph)?;
    AttributedGraph { name, format: "graphml", text, lists: None, vertices, edges }.build(p)
}

/// The name of an element without its namespace, which many writers leave out.
trait LocalElementName {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl LocalElementName for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

impl<'a, 'input: 'a> GraphMlReader<'a, 'input> {
    fn refuse(&self, at: Node, why: impl Into<String>, help: impl Into<String>) -> Refusal {
        let row = self.document.text_pos_at(at.range().start).row;
        Refusal::new(format!("{}: line {row}", self.name), why, help)
    }

    /// `<key id= for= attr.name=>` and its `<default>`.
    fn read_keys(&mut self, root: Node<'a, 'input>) {
        for key in root.children().filter(|n| n.has_tag_name_of("key")) {
            let (Some(id), Some(name)) = (key.attribute("id"), key.attribute("attr.name")) else {
                continue;
            };
            self.keys.insert(id, name);
            let default = key.children().find(|n| n.has_tag_name_of("default"));
            let Some(value) = default.and_then(|d| d.text()) else { continue };
            let domain = key.attribute("for").unwrap_or("all");
            if matches!(domain, "node" | "all") {
                self.node_defaults.insert(name.into(), value.trim().into());
            }
            if matches!(domain, "edge" | "all") {
                self.edge_defaults.insert(name.into(), value.trim().into());
            }
        }
    }

    fn data(&self, of: Node<'a, 'input>, defaults: &Attributes<'a>) -> Attributes<'a> {
        let mut data = defaults.clone();
        for entry in of.children().filter(|n| n.has_tag_name_of("data")) {
            let name = entry.attribute("key").and_then(|k| self.keys.get(k)).copied();
            if let (Some(name), Some(text)) = (name, entry.text()) {
                let whole = entry.attribute((XML, "space")) == Some("preserve");
                data.insert(name.into(), if whole { text } else { text.trim() }.into());
            }
        }
        data
    }

    fn vertices(&self, graph: Node<'a, 'input>) -> Result<Vec<AttributedNode<'a>>, Refusal> {
        let mut found = Vec::new();
        for node in graph.children().filter(|n| n.has_tag_name_of("node")) {
            let id = node
                .attribute("id")
                .ok_or_else(|| self.refuse(node, "a <node> without id", "give each an id"))?;
            if node.children().any(|n| n.has_tag_name_of("graph")) {
                return Err(self.refuse(node, "a graph inside a node", "networks are flat"));
            }
            let data = self.data(node, &self.node_defaults);
            found.push(AttributedNode { at: node.range().start, id: Cow::Borrowed(id), data });
        }
        Ok(found)
    }

    fn edges(&self, graph: Node<'a, 'input>) -> Result<Vec<AttributedEdge<'a>>, Refusal> {
        let directed_by_default = graph.attribute("edgedefault") == Some("directed");
        let mut found = Vec::new();
        for edge in graph.children().filter(Node::is_element) {
            match edge.tag_name().name() {
                "edge" => {}
                "hyperedge" => return Err(self.refuse(edge, "a hyperedge", "links have two ends")),
                _ => continue,
            }
            let end = |which: &str| Cow::Borrowed(edge.attribute(which).unwrap_or_default());
            let directed = match edge.attribute("directed") {
                Some(word) => word == "true",
                None => directed_by_default,
            };
            found.push(AttributedEdge {
                at: edge.range().start,
                source: end("source"),
                target: end("target"),
                directed,
                data: self.data(edge, &self.edge_defaults),
            });
        }
        Ok(found)
    }
}

const KEYS: [(&str, &str, &str); 9] = [
    ("node", "name", "string"),
    ("node", "endpoints", "long"),
    ("node", "group", "long"),
    ("node", "level", "long"),
    ("node", "plane", "long"),
    ("edge", "speed", "string"),
    ("edge", "width", "long"),
    ("edge", "length_m", "double"),
    ("edge", "up", "boolean"),
];

/// The extras of a file: elements of the head, and of each node; edges then have their rates as
/// well.
pub(crate) struct GraphMlExtraElements<'a> {
    /// Namespaces of the root element, each after a blank.
    pub(crate) namespaces: &'a str,
    /// Keys, one a line.
    pub(crate) keys: String,
    /// Data of the node of a switch.
    pub(crate) of_switch: &'a dyn Fn(usize) -> String,
}

/// The working switches of `t` and their links, failed ones included, as undirected `GraphML`.
///
/// Node ids are switch ids. Every rail counts as an endpoint of its switch. Ports and addresses are
/// not written; [`super::json`] has everything. A name that is empty or that an earlier switch has
/// is replaced by `switch-` and its number. O(network).
pub fn write(t: &Topology) -> String {
    text(t, None)
}

/// As [`write`], with what `more` adds.
pub(crate) fn text(t: &Topology, more: Option<&GraphMlExtraElements>) -> String {
    let names = t.switches().iter().enumerate();
    let names = unique_names(names.map(|(i, s)| (s.name.clone(), format!("switch-{i}"))));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\"{}>\n",
        more.map_or("", |more| more.namespaces)
    );
    for (domain, name, kind) in KEYS {
        out.push_str(&key(domain, name, kind));
    }
    out.push_str(more.map_or("", |more| &more.keys));
    out.push_str("  <graph edgedefault=\"undirected\">\n");
    for (i, s) in t.switches().iter().enumerate().filter(|(_, s)| s.up) {
        let _ = write!(out, "    <node id=\"{i}\">{}", data("name", &names[i]));
        if !t.terminals().is_empty() {
            let count = terminals_up(t, SwitchId::from(i));
            let _ = write!(out, "{}", data("endpoints", &count.to_string()));
        }
        for (key, value) in
            [("group", s.group), ("level", s.level.into()), ("plane", s.plane.into())]
        {
            let _ = write!(out, "{}", data(key, &value.to_string()));
        }
        if let Some(more) = more {
            out.push_str(&(more.of_switch)(i));
        }
        out.push_str("</node>\n");
    }
    for (i, l) in t.links().iter().enumerate() {
        let ends_up = [l.a, l.b].iter().all(|p| t.switches()[p.switch.ix()].up);
        if !ends_up {
            continue;
        }
        let _ = write!(
            out,
            "    <edge id=\"{}\" source=\"{}\" target=\"{}\">{}{}",
            LinkId::from(i),
            l.a.switch,
            l.b.switch,
            data("speed", &l.cable.speed.to_string()),
            data("width", &l.cable.width.to_string()),
        );
        if let Some(length) = l.cable.length_m {
            let _ = write!(out, "{}", data("length_m", &length.to_string()));
        }
        if more.is_some() {
            out.push_str(&data("rate_gbps", &l.cable.rate_gbps().to_string()));
        }
        if !l.cable.up {
            out.push_str(&data("up", "false"));
        }
        out.push_str("</edge>\n");
    }
    out.push_str("  </graph>\n</graphml>\n");
    out
}

/// The element that declares an attribute.
pub(crate) fn key(domain: &str, name: &str, kind: &str) -> String {
    format!("  <key id=\"{name}\" for=\"{domain}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>\n")
}

/// The element of one attribute.
pub(crate) fn data(key: &str, value: &str) -> String {
    let space = if value.trim() == value { "" } else { " xml:space=\"preserve\"" };
    format!("<data key=\"{key}\"{space}>{}</data>", escape(value))
}

/// `text` with the characters escaped that may not stand in an element.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // XML 1.0 cannot have these
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('_'),
            c => out.push(c),
        }
    }
    out
}
