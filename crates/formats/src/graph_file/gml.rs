//! GML, as networkx, igraph and others write it.
//!
//! Source: Himsolt, "GML: A portable Graph File Format", Universitaet Passau, 1997: keys, each with
//! a number, a text in quotes, or a list in brackets. `graph [ node [ id 0 label "a" ] edge [
//! source 0 target 1 ] ]`; lines that begin with `#` are remarks. What nodes and edges mean:
//! [`super::attributed`]; lists inside of them, such as `graphics`, are ignored.

use super::attributed::{AttributedEdge, AttributedGraph, AttributedNode, Attributes, line_of};
use super::kind::GraphFileFormat;
use crate::backed::NetworkFileOptions;
use base::Refusal;
use base::part::PartDescription;
use fabric::network::Topology;
use std::borrow::Cow;

pub(super) const ENTRY: GraphFileFormat = GraphFileFormat {
    part: PartDescription::new("gml", "GML"),
    rank: 50,
    looks: |seen| looks(seen.body),
    read: |text, name, p| read(text, name, p),
    example: || EXAMPLE.to_owned(),
};

const EXAMPLE: &str = "Creator \"a 2026-01-01\"\ngraph [\n  directed 0\n  date 20260101\n  \
    node [ id 0 label \"a1234\" x 12.5 y 31.25 ]\n  \
    node [ id 1 label \"b5678\" x 17.125 y 8.5 ] node [ id 2 label \"c9012\" x 1.5 y 2.25 ]\n  \
    edge [ source 0 target 1 weight 12.125 ]\n  edge [ source 1 target 2 weight 3.25 ]\n]\n";

/// A token of the text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum GmlToken<'a> {
    /// A key, or a number.
    Word(&'a str),
    /// What stands in quotes.
    Text(&'a str),
    Open,
    Close,
}

/// A scanner of the text of a GML file.
struct GmlScanner<'a> {
    name: &'a str,
    text: &'a str,
    at: usize,
}

impl<'a> GmlScanner<'a> {
    fn refuse(&self, at: usize, why: impl Into<String>, help: &str) -> Refusal {
        Refusal::new(format!("{}: line {}", self.name, line_of(self.text, at)), why, help)
    }

    /// The next token and where it begins; none at the end.
    fn token(&mut self) -> Result<Option<(usize, GmlToken<'a>)>, Refusal> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if byte.is_ascii_whitespace() {
                self.at += 1;
            } else if *byte == b'#' {
                let rest = &self.text[self.at..];
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                break;
            }
        }
        let at = self.at;
        let rest = &self.text[at..];
        let (length, token) = match rest.bytes().next() {
            None => return Ok(None),
            Some(b'[') => (1, GmlToken::Open),
            Some(b']') => (1, GmlToken::Close),
            Some(b'"') => {
                let Some(end) = rest[1..].find('"') else {
                    return Err(self.refuse(at, "a text does not end", "a quote at its end"));
                };
                (end + 2, GmlToken::Text(&rest[1..=end]))
            }
            Some(_) => {
                let ends = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"');
                let end = rest.find(ends).unwrap_or(rest.len());
                (end.max(1), GmlToken::Word(&rest[..end]))
            }
        };
        self.at += length;
        Ok(Some((at, token)))
    }

    /// The key that is next; none at the end of the list, which at the end of the text is missing.
    fn key(&mut self, within: &str) -> Result<Option<(usize, &'a str)>, Refusal> {
        match self.token()? {
            Some((at, GmlToken::Word(key))) => Ok(Some((at, key))),
            Some((_, GmlToken::Close)) => Ok(None),
            Some((at, _)) => Err(self.refuse(at, "a value without a key", "KEY VALUE")),
            None => {
                let why = format!("the text ends within {within}");
                Err(self.refuse(self.at, why, "] at the end of a list"))
            }
        }
    }

    /// The value of a key; none for a list, which is passed over.
    fn value(&mut self, key: &str) -> Result<Option<Cow<'a, str>>, Refusal> {
        match self.token()? {
            Some((_, GmlToken::Word(number))) => Ok(Some(Cow::Borrowed(number))),
            Some((_, GmlToken::Text(text))) => Ok(Some(plain(text))),
            Some((_, GmlToken::Open)) => {
                let mut depth = 1_u64;
                while depth > 0 {
                    match self.token()? {
                        Some((_, GmlToken::Open)) => depth += 1,
                        Some((_, GmlToken::Close)) => depth -= 1,
                        Some(_) => {}
                        None => {
                            let why = format!("the text ends within {key}");
                            return Err(self.refuse(self.at, why, "] at the end of a list"));
                        }
                    }
                }
                Ok(None)
            }
            _ => Err(self.refuse(self.at, format!("{key} has no value"), "KEY VALUE")),
        }
    }

    /// Reads the bracket that opens the list which a key must have.
    fn open(&mut self, key: &str) -> Result<(), Refusal> {
        match self.token()? {
            Some((_, GmlToken::Open)) => Ok(()),
            _ => Err(self.refuse(self.at, format!("{key} has no list"), "KEY [ ... ]")),
        }
    }

    /// The attributes of a node or an edge: where a key comes twice, the first.
    fn attributes(&mut self, of: &str) -> Result<Attributes<'a>, Refusal> {
        self.open(of)?;
        let mut data = Attributes::new();
        while let Some((_, key)) = self.key(of)? {
            if let Some(value) = self.value(key)? {
                data.entry(Cow::Borrowed(key)).or_insert(value);
            }
        }
        Ok(data)
    }
}

/// A text with the characters that its entities stand for: the five names that writers use, and
/// numbers.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = rest.find(';').filter(|end| *end < 12).and_then(|end| {
            let c = match &rest[1..end] {
                "quot" => Some('"'),
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "apos" => Some('\''),
                other => other
                    .strip_prefix('#')
                    .and_then(|number| number.parse().ok())
                    .and_then(char::from_u32),
            };
            c.map(|c| (c, end))
        });
        let (c, length) = known.map_or(('&', 1), |(c, end)| (c, end + 1));
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether a text begins as GML does: keys with numbers or texts, then `graph [`.
pub(super) fn looks(text: &str) -> bool {
    let mut scan = GmlScanner { name: "", text, at: 0 };
    for _ in 0..64 {
        let Ok(Some((_, GmlToken::Word(key)))) = scan.token() else { return false };
        match scan.token() {
            Ok(Some((_, GmlToken::Open))) => return key == "graph",
            Ok(Some((_, GmlToken::Text(_)))) => {}
            Ok(Some((_, GmlToken::Word(value)))) if value.parse::<f64>().is_ok() => {}
            _ => return false,
        }
    }
    false
}

/// Reads GML; `name` stands for the file in the recipe and in refusals, `p` puts that many
/// endpoints on every switch when no node tells its `endpoints`. O(file).
///
/// # Errors
/// With the line, where the text is no GML; also the errors of all graphs with attributes.
pub fn read(text: &str, name: &str, p: impl Into<NetworkFileOptions>) -> Result<Topology, Refusal> {
    let p = p.into();
    let text = text.trim_start_matches('\u{feff}');
    let mut scan = GmlScanner { name, text, at: 0 };
    let (mut vertices, mut edges) = (Vec::new(), Vec::new());
    let mut directed = false;
    loop {
        match scan.token()? {
            Some((_, GmlToken::Word("graph"))) => break,
            Some((_, GmlToken::Word(key))) => drop(scan.value(key)?),
            Some((at, _)) => return Err(scan.refuse(at, "a value without a key", "KEY VALUE")),
            None => return Err(scan.refuse(scan.at, "there is no graph", "graph [ ... ]")),
        }
    }
    scan.open("graph")?;
    while let Some((at, key)) = scan.key("graph")? {
        match key {
            "node" => {
                let data = scan.attributes(key)?;
                let Some(id) = data.get("id").cloned() else {
                    return Err(scan.refuse(at, "a node without id", "give each an id"));
                };
                vertices.push(AttributedNode { at, id, data });
            }
            "edge" => {
                let data = scan.attributes(key)?;
                let end = |which: &str| data.get(which).cloned().unwrap_or_default();
                let (source, target) = (end("source"), end("target"));
                edges.push(AttributedEdge { at, source, target, directed: false, data });
            }
            "directed" => directed = scan.value(key)?.is_some_and(|value| value == "1"),
            _ => drop(scan.value(key)?),
        }
    }
    while let Some((at, token)) = scan.token()? {
        let GmlToken::Word(key) = token else {
            return Err(scan.refuse(at, "a value without a key", "KEY VALUE"));
        };
        if key == "graph" {
            return Err(scan.refuse(at, "a second graph", "a file has one"));
        }
        scan.value(key)?;
    }
    if vertices.is_empty() {
        return Err(scan.refuse(scan.at, "the graph has no nodes", "node [ id 0 label \"a\" ]"));
    }
    for edge in &mut edges {
        edge.directed = directed;
    }
    AttributedGraph { name, format: "gml", text, lists: None, vertices, edges }.build(p)
}
