//! Networks with their tables as ORCS reads them: a DOT digraph whose edges list destinations.
//!
//! Source: Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing congestion simulator",
//! Indiana University, Technical Report 675, 2009, and the files of its program.
//!
//! ```text
//! digraph {
//!     S1 [label="leaf-1"]                       // may be left out
//!     H1 -> S1 [hostname="node-1", comment="*"]
//!     S1 -> H1 [comment="H1"]
//!     S1 -> S2 [comment="H2, H3"]
//! }
//! ```
//!
//! Nodes whose names start with H are hosts, the others switches. An edge is one direction of a
//! cable, its comment the hosts that are reached over it, `*` all. A switch forwards over the first
//! of its edges that lists the destination. The edges of a switch are its ports, from 1, in the
//! order of the file. Edges back and forth between two switches make cables in their order; one
//! without a partner is a cable of its own.

use super::given::with_endpoints;
use super::kind::{GraphFileFormat, MAX_ENDPOINTS, recipe};
use crate::companion::kind::{CompanionFileFormat, one_file, one_text};
use crate::names::unique_names;
use base::part::PartDescription;
use base::{Refusal, SwitchId, TerminalId};
use fabric::network::{
    Cable, CablePlug, NAMES, PortPeer, Switch, Topology, TopologyBuilder, name_fault,
};
use fabric::tables::{NO_ROUTE, Routing};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write;
use std::sync::Arc;

pub(super) const ENTRY: GraphFileFormat = GraphFileFormat {
    part: PartDescription::new("orcs", "digraphs of ORCS"),
    rank: 40,
    looks: |seen| is_orcs(seen.body),
    read: |text, name, p| with_endpoints(read(text, name)?, name, p, false),
    example: || EXAMPLE.to_owned(),
};

pub(crate) const TABLES: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new("orcs-tables", "routing tables in a digraph of ORCS"),
    read: |files| one_text(files, read_tables),
    example: || one_file("network.dot", EXAMPLE),
};

const EXAMPLE: &str = "digraph {\n\
    S10 [label=\"leaf-1234\"]\nS11 [label=\"leaf-5678\"]\n\
    H1 -> S10 [hostname=\"node-12345\", comment=\"*\"]\nS10 -> H1 [comment=\"H1\"]\n\
    H2 -> S11 [hostname=\"node-67890\", comment=\"*\"]\nS11 -> H2 [comment=\"H2\"]\n\
    S10 -> S11 [comment=\"H2\"]\nS11 -> S10 [comment=\"H1\"]\n}\n";

/// Most table entries that a file may ask for.
const MAX_ENTRIES: usize = 1 << 30;

/// Whether `text` is a DOT digraph.
pub fn is_orcs(text: &str) -> bool {
    let mut words = DotTokenizer::new(text);
    let mut next = || words.next().ok().flatten();
    let mut first = next();
    if first == Some(DotToken::Plain("strict")) {
        first = next();
    }
    let brace = Some(DotToken::Mark('{'));
    first == Some(DotToken::Plain("digraph")) && (next() == brace || next() == brace)
}

/// Reads the network of a file; `name` stands for it in the recipe and in refusals. O(file).
///
/// # Errors
/// When the text is not understood, a host has no cable or several, or an edge joins two hosts or
/// a switch to itself.
pub fn read(text: &str, name: &str) -> Result<Topology, Refusal> {
    Ok(DotFileContents::read(text, name)?.cabling(name)?.0)
}

/// Reads a network and its tables; a file has no entries towards switches.
/// O(file + hosts * switches).
///
/// # Errors
/// As [`read`], and when a comment is missing, lists something that is no host, or keeps a host
/// from sending to some other.
pub fn read_tables(text: &str, name: &str) -> Result<Routing, Refusal> {
    let file = DotFileContents::read(text, name)?;
    let (topology, ports) = file.cabling(name)?;
    let (hosts, switches) = (topology.terminals().len(), topology.switches().len());
    if hosts.max(switches).saturating_mul(switches) > MAX_ENTRIES {
        let why = format!("{hosts} hosts on {switches} switches");
        return Err(Refusal::new(name, why, format!("at most {MAX_ENTRIES} table entries")));
    }
    let mut next = vec![NO_ROUTE; hosts * switches];
    for (edge, port) in file.edges.iter().zip(ports) {
        let here = |why: String| {
            Refusal::new(
                format!("{name}: line {}: comment", edge.line),
                why,
                "the hosts reached, or *",
            )
        };
        let Some(comment) = &edge.comment else {
            return Err(here("there is none".into()));
        };
        let mut to = Vec::new();
        for word in comment.split([',', ' ', '\t', '\r', '\n']).filter(|w| !w.is_empty()) {
            match file.host(word) {
                _ if word == "*" => {
                    // `*` already names all hosts
                    to = (0..hosts).collect();
                    break;
                }
                Some(host) => to.push(host),
                None => return Err(here(format!("'{word}' is no host of the file"))),
            }
        }
        match &file.nodes[edge.from] {
            DotNode { host: Some(host), .. } => {
                to.sort_unstable();
                to.dedup();
                if to.len() - usize::from(to.binary_search(host).is_ok()) + 1 < hosts {
                    return Err(here("a host's only cable does not lead to all others".into()));
                }
            }
            node => {
                for host in to {
                    let entry = &mut next[host * switches + node.place];
                    if *entry == NO_ROUTE {
                        *entry = port;
                    }
                }
            }
        }
    }
    let mut to_switch = vec![NO_ROUTE; switches * switches];
    to_switch.iter_mut().step_by(switches + 1).for_each(|entry| *entry = 0);
    Ok(Routing::new(Arc::new(topology), 1, next, to_switch))
}

/// The tables of `routing` as ORCS reads them: hosts `H1`, `H2`, ... by terminal, switches `S1`,
/// `S2`, ... by id, the edges of a switch in order of its ports; what has failed is left out.
///
/// Lanes, speeds and entries towards switches are not written. O(hosts * switches).
///
/// # Errors
/// When there are several layers, or endpoints with several rails.
pub fn write(routing: &Routing) -> Result<String, Refusal> {
    let on = routing.topology();
    if routing.layers() > 1 {
        let why = format!("{} routes a pair", routing.layers());
        return Err(Refusal::new("layers", why, "ORCS knows one; layers 1"));
    }
    if on.terminals().iter().any(|t| t.rail > 0) {
        let help = "ORCS knows hosts with one cable";
        return Err(Refusal::new("network", "an endpoint has several rails", help));
    }
    let mut out = String::from("digraph {\n");
    for (i, s) in on.switches().iter().enumerate().filter(|(_, s)| s.up) {
        let _ = writeln!(out, "    S{} [label={}]", i + 1, quote(&s.name));
    }
    let up = |t: TerminalId| on.terminal_is_up(t);
    let terminals: Vec<TerminalId> =
        (0..on.terminals().len()).map(TerminalId::from).filter(|t| up(*t)).collect();
    for &t in &terminals {
        let terminal = &on.terminals()[t.ix()];
        let (host, switch) = (t.ix() + 1, terminal.plug.switch.ix() + 1);
        let name = quote(&on.endpoints()[terminal.endpoint.ix()].name);
        let _ = writeln!(out, "    H{host} -> S{switch} [hostname={name}, comment=\"*\"]");
    }
    for (i, s) in on.switches().iter().enumerate().filter(|(_, s)| s.up) {
        let id = SwitchId::from(i);
        let mut over = vec![Vec::new(); usize::from(s.ports) + 1];
        for &t in &terminals {
            if let Some(list) = over.get_mut(usize::from(routing.tree(0, t)[i])) {
                list.push(format!("H{}", t.ix() + 1));
            }
        }
        for (port, list) in (0..=s.ports).zip(&over) {
            let head = match on.peer(id, port) {
                PortPeer::Terminal(t) if up(t) => format!("H{}", t.ix() + 1),
                PortPeer::Switch(c) if on.link_is_up(c.link()) => {
                    format!("S{}", on.head(c).switch.ix() + 1)
                }
                _ => continue,
            };
            let _ = writeln!(out, "    S{} -> {head} [comment=\"{}\"]", i + 1, list.join(", "));
        }
    }
    out.push_str("}\n");
    Ok(out)
}

/// A double-quoted DOT string of one line.
fn quote(text: &str) -> String {
    let plain = text.replace(|c: char| c.is_control(), " ");
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

struct DotNode {
    /// Number among the hosts, `None` for a switch.
    host: Option<usize>,
    /// Number among the hosts or the switches.
    place: usize,
    id: String,
    label: Option<String>,
}

struct DotEdge {
    from: usize,
    to: usize,
    comment: Option<String>,
    line: usize,
}

/// Nodes and edges as the file has them.
#[derive(Default)]
struct DotFileContents {
    nodes: Vec<DotNode>,
    by_id: HashMap<String, usize>,
    hosts: usize,
    switches: usize,
    edges: Vec<DotEdge>,
}

impl DotFileContents {
    fn read(text: &str, name: &str) -> Result<Self, Refusal> {
        let mut parser =
            DotParser { words: DotTokenizer::new(text), ahead: None, file: Self::default() };
        parser.graph().map_err(|fault| {
            let line = parser.words.line;
            Refusal::new(format!("{name}: line {line}"), fault, "a digraph in DOT, as for ORCS")
        })?;
        let file = parser.file;
        if file.switches == 0 {
            return Err(Refusal::new(name, "there is no switch in it", "nodes without H in front"));
        }
        let mut names = file.nodes.iter().map(|n| n.label.as_ref().unwrap_or(&n.id));
        if let Some(why) = names.find_map(|n| name_fault(n)) {
            return Err(Refusal::new(name, why, NAMES));
        }
        if file.hosts as u64 > MAX_ENDPOINTS {
            let why = format!("{} hosts", file.hosts);
            return Err(Refusal::new(name, why, format!("at most {MAX_ENDPOINTS} from a file")));
        }
        Ok(file)
    }

    /// The number of the host `id`.
    fn host(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).and_then(|&n| self.nodes[n].host)
    }

    fn node(&mut self, id: &str) -> usize {
        if let Some(&known) = self.by_id.get(id) {
            return known;
        }
        let is_host = id.starts_with('H');
        let count = if is_host { &mut self.hosts } else { &mut self.switches };
        let place = *count;
        *count += 1;
        let host = is_host.then_some(place);
        self.nodes.push(DotNode { host, place, id: id.to_owned(), label: None });
        self.by_id.insert(id.to_owned(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The network, and the port by which each edge leaves its switch (0 for a host's).
    fn cabling(&self, name: &str) -> Result<(Topology, Vec<u16>), Refusal> {
        let refuse = |line: usize, why: String, help: &str| {
            Err(Refusal::new(format!("{name}: line {line}"), why, help))
        };
        let mut ports = vec![0_u16; self.edges.len()];
        let mut used = vec![0_u16; self.nodes.len()];
        let mut home: Vec<Option<(usize, u16)>> = vec![None; self.hosts];
        // edges between two switches that have no partner yet, by their ends
        let mut single: HashMap<(usize, usize), VecDeque<usize>> = HashMap::new();
        let mut cables: Vec<(usize, Option<usize>)> = Vec::new();
        let mut seen = HashSet::new();
        for (i, edge) in self.edges.iter().enumerate() {
            let (from, to) = (&self.nodes[edge.from], &self.nodes[edge.to]);
            if from.host.is_none() {
                if used[edge.from] == u16::MAX - 1 {
                    let help = "a switch has at most 65,534 ports";
                    return refuse(edge.line, format!("one edge more out of {}", from.id), help);
                }
                used[edge.from] += 1;
                ports[i] = used[edge.from];
            }
            let (host, switch) = match (from.host, to.host) {
                (Some(_), Some(_)) => {
                    let why = format!("{} -> {} joins two hosts", from.id, to.id);
                    return refuse(edge.line, why, "a host's cable leads to a switch");
                }
                (None, None) if edge.from == edge.to => {
                    let why = format!("{} is joined to itself", from.id);
                    return refuse(edge.line, why, "the ends must be two switches");
                }
                (None, None) => {
                    let waiting = single.get_mut(&(edge.to, edge.from));
                    if let Some(cable) = waiting.and_then(VecDeque::pop_front) {
                        cables[cable].1 = Some(i);
                    } else {
                        single.entry((edge.from, edge.to)).or_default().push_back(cables.len());
                        cables.push((i, None));
                    }
                    continue;
                }
                (Some(host), None) => (host, to.place),
                (None, Some(host)) => (host, from.place),
            };
            let known = home[host].get_or_insert((switch, 0));
            if known.0 != switch || !seen.insert((edge.from, edge.to)) {
                let why = format!("a second cable of {}", self.by_host(host));
                return refuse(edge.line, why, "ORCS knows hosts with one cable");
            }
            known.1 = known.1.max(ports[i]);
        }
        if let Some(lonely) = home.iter().position(Option::is_none) {
            let why = format!("{} has no cable", self.by_host(lonely));
            return Err(Refusal::new(name, why, "every host needs an edge to its switch"));
        }
        let topology = self.build(name, &home, &cables, &ports)?;
        Ok((topology, ports))
    }

    fn by_host(&self, host: usize) -> &str {
        self.nodes.iter().find(|n| n.host == Some(host)).map_or("", |n| &n.id)
    }

    fn build(
        &self,
        name: &str,
        home: &[Option<(usize, u16)>],
        cables: &[(usize, Option<usize>)],
        ports: &[u16],
    ) -> Result<Topology, Refusal> {
        let names = |hosts: bool| {
            let some = self.nodes.iter().filter(move |n| n.host.is_some() == hosts);
            some.map(|n| (n.label.clone().unwrap_or_default(), n.id.clone()))
        };
        let mut b = TopologyBuilder::new();
        for switch in unique_names(names(false)) {
            b.switch(Switch::new(switch));
        }
        for (host, home) in unique_names(names(true)).into_iter().zip(home) {
            let (switch, port) = home.unwrap_or_default();
            let endpoint = b.endpoint(host, None);
            b.attach(endpoint, SwitchId::from(switch), port, Cable::default());
        }
        let switch = |node: usize| SwitchId::from(self.nodes[node].place);
        for &(forth, back) in cables {
            let edge = &self.edges[forth];
            let a = CablePlug { switch: switch(edge.from), port: ports[forth] };
            let b_end = CablePlug { switch: switch(edge.to), port: back.map_or(0, |i| ports[i]) };
            b.link_at(a, b_end, Cable::default());
        }
        b.finish(recipe(name, "orcs")).map_err(|r| r.within(name))
    }
}

/// A word of a DOT text.
#[derive(Debug, Clone, PartialEq)]
enum DotToken<'a> {
    Plain(&'a str),
    Quoted(String),
    /// One of `{}[]=,;` and the arrow, `>`.
    Mark(char),
}

/// The words of a DOT text.
struct DotTokenizer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> DotTokenizer<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text.trim_start_matches('\u{feff}'), line: 1 }
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let (gone, rest) = self.rest.split_at(bytes);
        self.line += gone.matches('\n').count();
        self.rest = rest;
        gone
    }

    fn line_left(&self) -> usize {
        self.rest.find('\n').unwrap_or(self.rest.len())
    }

    fn next(&mut self) -> Result<Option<DotToken<'a>>, String> {
        let mut fresh = self.line == 1;
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            fresh |= self.skip(blank).contains('\n');
            if self.rest.starts_with("//") || (fresh && self.rest.starts_with('#')) {
                self.skip(self.line_left());
            } else if self.rest.starts_with("/*") {
                let end = self.rest.find("*/").ok_or("a remark has no end")?;
                self.skip(end + 2);
            } else {
                break;
            }
        }
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        let text = match first {
            '{' | '}' | '[' | ']' | '=' | ',' | ';' => {
                self.skip(1);
                DotToken::Mark(first)
            }
            '-' if self.rest.starts_with("->") => {
                self.skip(2);
                DotToken::Mark('>')
            }
            '"' => DotToken::Quoted(self.quoted()?),
            _ => {
                let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
                let sign = usize::from(first == '-');
                let size = self.rest[sign..].find(|c| !plain(c)).unwrap_or(self.rest.len() - sign);
                if size == 0 {
                    return Err(format!("'{first}' is not understood"));
                }
                DotToken::Plain(self.skip(sign + size))
            }
        };
        Ok(Some(text))
    }

    fn quoted(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((at, c)) = letters.next() {
            match c {
                '"' => {
                    self.skip(at + 1);
                    return Ok(text);
                }
                '\\' => match letters.next() {
                    Some((_, c @ ('"' | '\\'))) => text.push(c),
                    Some((_, '\n')) => {}
                    Some((_, c)) => text.extend(['\\', c]),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err("a quoted text has no end".into())
    }
}

/// A parser of statements; the line at fault is that of its words.
struct DotParser<'a> {
    words: DotTokenizer<'a>,
    ahead: Option<DotToken<'a>>,
    file: DotFileContents,
}

impl DotParser<'_> {
    fn next(&mut self) -> Result<DotToken<'_>, String> {
        let word = match self.ahead.take() {
            Some(word) => Some(word),
            None => self.words.next()?,
        };
        word.ok_or_else(|| "the file ends too early".into())
    }

    /// Takes the mark when it is next.
    fn takes(&mut self, mark: char) -> Result<bool, String> {
        if self.ahead.is_none() {
            self.ahead = self.words.next()?;
        }
        let found = self.ahead == Some(DotToken::Mark(mark));
        if found {
            self.ahead = None;
        }
        Ok(found)
    }

    /// The next word as a name.
    fn name(&mut self) -> Result<String, String> {
        match self.next()? {
            DotToken::Plain(word) => Ok(word.to_owned()),
            DotToken::Quoted(text) => Ok(text),
            DotToken::Mark('>') => Err("'->' where a name must stand".into()),
            DotToken::Mark(mark) => Err(format!("'{mark}' where a name must stand")),
        }
    }

    fn graph(&mut self) -> Result<(), String> {
        let mut word = self.name()?;
        if word == "strict" {
            word = self.name()?;
        }
        if word != "digraph" {
            return Err(format!("'{word}' where 'digraph' must stand"));
        }
        if !self.takes('{')? {
            self.name()?;
            if !self.takes('{')? {
                return Err("no '{' after the name of the graph".into());
            }
        }
        while !self.takes('}')? {
            if !self.takes(';')? {
                self.statement()?;
            }
        }
        match self.words.next()? {
            None => Ok(()),
            Some(_) => Err("there is more after the last '}'".into()),
        }
    }

    fn statement(&mut self) -> Result<(), String> {
        let id = self.name()?;
        if id == "subgraph" {
            return Err("subgraphs are not understood".into());
        }
        if matches!(id.as_str(), "graph" | "node" | "edge") {
            return self.attributes().map(|_| ());
        }
        if self.takes('=')? {
            return self.name().map(|_| ());
        }
        let mut nodes = vec![self.file.node(&id)];
        let line = self.words.line;
        while self.takes('>')? {
            let id = self.name()?;
            nodes.push(self.file.node(&id));
        }
        let of = |all: &[(String, String)], key: &str| {
            all.iter().rev().find(|(k, _)| k == key).map(|(_, value)| value.clone())
        };
        let all = self.attributes()?;
        if let [node] = nodes[..] {
            let label = of(&all, "hostname").or(of(&all, "label"));
            self.file.nodes[node].label = label.or(self.file.nodes[node].label.take());
        }
        for pair in nodes.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            if let (Some(_), Some(host)) = (self.file.nodes[from].host, of(&all, "hostname")) {
                self.file.nodes[from].label = Some(host);
            }
            self.file.edges.push(DotEdge { from, to, comment: of(&all, "comment"), line });
        }
        Ok(())
    }

    /// The attributes in brackets, if any.
    fn attributes(&mut self) -> Result<Vec<(String, String)>, String> {
        let mut all = Vec::new();
        while self.takes('[')? {
            while !self.takes(']')? {
                let key = self.name()?;
                let value = if self.takes('=')? { self.name()? } else { "true".into() };
                all.push((key, value));
                let _ = self.takes(',')? || self.takes(';')?;
            }
        }
        Ok(all)
    }
}
