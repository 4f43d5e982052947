//! Edge lists: the plainest text of a network.
//!
//! ```text
//! # remark, from # to the end of the line
//! a b                # a link between the switches a and b; once more for a parallel link
//! a                  # a switch, with or without links; some line must be of the other two kinds
//! endpoints a 4      # 4 endpoints on switch a
//! ```
//!
//! Names are words without blanks or `#`. Lines that begin with `%` or `//` are remarks, too, but
//! below a head `# edge list`, where names may begin so.
//! A `{}` after a link, as networkx writes it, is ignored.
//! When all names are whole numbers the switches are in order of these, else as they appear.
//!
//! Settings, source code and certificates have lines of two words too. So a text must show that it
//! is an edge list: by endpoints, by `{}`, by `# edge list` at its head, or by its file's name. A
//! text without any of these must be connected and have a cycle: of 50000 text files of a machine
//! only edge lists did.

use super::kind::{
    GraphFileFormat, MAX_ON_SWITCH, add_endpoints, example_network, recipe, terminals_up,
};
use crate::backed::NetworkFileOptions;
use crate::names::unique_names;
use base::part::PartDescription;
use base::{Refusal, SwitchId};
use fabric::network::{NAMES, Switch, Topology, TopologyBuilder, name_fault};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

pub(super) const ENTRY: GraphFileFormat = GraphFileFormat {
    part: PartDescription::new("edge-list", "edge lists"),
    rank: 0,
    looks: |seen| has_remark(seen.body),
    read: |text, name, p| read(text, name, p),
    example: || write(&example_network()),
};

/// A reader of edge lists, with the network that it has read so far.
#[derive(Default)]
struct EdgeListReader<'a> {
    by_name: HashMap<&'a str, u32>,
    names: Vec<&'a str>,
    /// Ends and line of each link.
    links: Vec<(u32, u32, usize)>,
    /// Endpoints of a switch.
    counts: HashMap<u32, u32>,
    /// Whether some line ends as networkx ends it.
    networkx: bool,
}

/// The remark that makes an edge list of a text, and the ends of names that make one of a file.
const REMARK: &str = "# edge list";
const ENDS: [&str; 3] = [".edges", ".edgelist", ".el"];

/// Reads an edge list; `name` stands for the file in the recipe and in refusals.
///
/// `p` puts that many endpoints on every switch when no line says `endpoints`; without either the
/// network has none. Ports are given out in order of the lines. O(file).
///
/// # Errors
/// When a line is not understood, a link joins a switch to itself, endpoints come twice for a
/// switch, every link comes in both directions, `p` is given for a list with endpoints, or the text
/// neither says that it is an edge list nor looks like one.
pub fn read(text: &str, name: &str, p: impl Into<NetworkFileOptions>) -> Result<Topology, Refusal> {
    read_last(text, name, p, "")
}

/// As [`read`]; `known` lists the formats of networks, for the refusal of a text of no known
/// format.
///
/// # Errors
/// As [`read`].
pub(super) fn read_last(
    text: &str,
    name: &str,
    p: impl Into<NetworkFileOptions>,
    known: &str,
) -> Result<Topology, Refusal> {
    let p = p.into();
    let mut list = EdgeListReader::default();
    // a file with our head may have names that begin with `%` or `//`
    let ours = has_remark(text);
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let begins = |mark: &str| line.trim_start().starts_with(mark);
        if !ours && (begins("%") || begins("//")) {
            continue; // a remark in files of Matrix Market, KONECT and others
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        list.line(&words, i + 1).map_err(|(why, help)| {
            // a text of no known format comes here, too
            let said = said_of(name, text, p, &list);
            let help = if said || known.is_empty() { help } else { format!("{help}; {known}") };
            Refusal::new(format!("{name}: line {}", i + 1), why, help)
        })?;
    }
    // words alone are no network: any text file of one word a line would be one
    if list.links.is_empty() && list.counts.is_empty() {
        let help = "an edge list has a line 'a b' for each link, or 'endpoints a 4'";
        return Err(Refusal::new(name, "there is no link in it", help));
    }
    list.check_single(name)?;
    let order = list.order();
    let mut place = vec![SwitchId(0); order.len()];
    let mut b = TopologyBuilder::new();
    for &s in &order {
        place[s as usize] = b.switch(Switch::new(list.names[s as usize]));
    }
    let count = |s: &u32| list.counts.get(s).copied().unwrap_or(0);
    let counts = order.iter().map(count).collect();
    add_endpoints(&mut b, counts, !list.counts.is_empty(), p, name)?;
    for (x, y, _) in &list.links {
        b.link(place[*x as usize], place[*y as usize]);
    }
    let t = b.finish(recipe(name, "edge_list")).map_err(|r| r.within(name))?;
    if !said_of(name, text, p, &list) {
        check_looks(&t, name)?;
    }
    Ok(t)
}

/// Whether a text, its file's name or the user says that it is an edge list.
fn said_of(name: &str, text: &str, p: NetworkFileOptions, list: &EdgeListReader) -> bool {
    let file = name.strip_suffix(".gz").unwrap_or(name);
    p.p.is_some()
        || list.networkx
        || !list.counts.is_empty()
        || has_remark(text)
        || ENDS.iter().any(|end| file.ends_with(end))
}

/// Whether the first line that is not empty says that an edge list follows.
pub(super) fn has_remark(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.find(|line| !line.is_empty()).is_some_and(|line| line.starts_with(REMARK))
}

/// Refuses links that are not of one piece or that have no cycle.
fn check_looks(t: &Topology, name: &str) -> Result<(), Refusal> {
    let (_, pieces) = t.graph().components();
    let why = match pieces {
        1 if t.links().len() >= t.switches().len() => return Ok(()),
        1 => "its links have no cycle".to_owned(),
        _ => format!("its links are in {pieces} pieces"),
    };
    let help = "if it is an edge list, say so: with '# edge list' as its first line, with \
                endpoints (a line 'endpoints a 4', or p), or name it .edges";
    Err(Refusal::new(name, format!("it may be no network: {why}"), help))
}

impl<'a> EdgeListReader<'a> {
    fn line(&mut self, words: &[&'a str], number: usize) -> Result<(), (String, String)> {
        match *words {
            [] => {}
            ref words if words.iter().any(|w| name_fault(w).is_some()) => {
                let why = words.iter().find_map(|w| name_fault(w)).unwrap_or_default();
                return Err((why, NAMES.into()));
            }
            [a] => {
                self.switch(a);
            }
            ["endpoints", a, count] => {
                let s = self.switch(a);
                let count = count.parse().map_err(|_| {
                    let shown: String = count.chars().take(40).collect();
                    let help = format!("expected 0 to {MAX_ON_SWITCH}");
                    (format!("'{shown}' is no number of endpoints"), help)
                })?;
                if self.counts.insert(s, count).is_some() {
                    let why = format!("the endpoints of {a} come twice");
                    return Err((why, "give one line a switch".into()));
                }
            }
            [a, b] | [a, b, "{}"] => {
                if a == b {
                    let why = format!("a link joins {a} to itself");
                    return Err((why, "the ends must be two switches".into()));
                }
                self.networkx |= words.len() == 3;
                let ends = (self.switch(a), self.switch(b));
                self.links.push((ends.0, ends.1, number));
            }
            _ => {
                let shown: String = words.join(" ").chars().take(40).collect();
                let help = "expected 'a b', 'a' or 'endpoints a 4' (from networkx: data=False)";
                return Err((format!("'{shown}' is not understood"), help.into()));
            }
        }
        Ok(())
    }

    fn switch(&mut self, name: &'a str) -> u32 {
        let next = self.names.len() as u32;
        *self.by_name.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        })
    }

    /// Refuses a list in which every link comes once in each direction: it means half as many.
    fn check_single(&self, name: &str) -> Result<(), Refusal> {
        let mut balance: HashMap<(u32, u32), i64> = HashMap::new();
        let mut unbalanced = 0_u64;
        for (x, y, _) in &self.links {
            let (pair, step) = if x < y { ((*x, *y), 1) } else { ((*y, *x), -1) };
            let sum = balance.entry(pair).or_default();
            unbalanced = unbalanced + u64::from(*sum == 0) - u64::from(*sum + step == 0);
            *sum += step;
        }
        match self.links.last() {
            Some((_, _, line)) if unbalanced == 0 => Err(Refusal::new(
                format!("{name}: line {line}"),
                "every link of the list comes in both directions",
                "give each link once",
            )),
            _ => Ok(()),
        }
    }

    /// Switches by number when all names are numbers, else as they appear.
    fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.names.len() as u32).collect();
        let numbers: Option<Vec<u64>> = self.names.iter().map(|n| n.parse().ok()).collect();
        if let Some(numbers) = numbers.filter(|n| n.iter().collect::<HashSet<_>>().len() == n.len())
        {
            order.sort_by_key(|s| numbers[*s as usize]);
        }
        order
    }
}

/// The network as an edge list that [`read`] takes: the working switches and links.
///
/// Every rail counts as an endpoint of its switch. Blanks and `#` in names become `_`, and a name
/// that is empty or no longer unique is replaced by `switch-` and its number. Ports, cables, planes
/// and addresses are not written; [`super::json`] has everything. O(network).
pub fn write(t: &Topology) -> String {
    let names = t.switches().iter().enumerate();
    let names = unique_names(names.map(|(i, s)| {
        let bad = |c: char| c.is_whitespace() || c == '#' || c == '\u{feff}';
        let name = s.name.replace(bad, "_");
        // no line may look like one of a fabric
        let name = if super::discovered::is_fabric(&name) { format!("_{name}") } else { name };
        (name, format!("switch-{i}"))
    }));
    let mut out = format!("{REMARK}: {}\n", t.recipe().to_string().replace(['\n', '\r'], " "));
    let links = (0..t.links().len()).any(|l| t.link_is_up(base::LinkId::from(l)));
    for (i, name) in names.iter().enumerate().filter(|(i, _)| t.switches()[*i].up) {
        let _ = if t.terminals().is_empty() && links {
            writeln!(out, "{name}")
        } else {
            writeln!(out, "endpoints {name} {}", terminals_up(t, SwitchId::from(i)))
        };
    }
    for (i, link) in t.links().iter().enumerate() {
        if t.link_is_up(base::LinkId::from(i)) {
            let (a, b) = (link.a.switch.min(link.b.switch), link.a.switch.max(link.b.switch));
            let _ = writeln!(out, "{} {}", names[a.ix()], names[b.ix()]);
        }
    }
    out
}
