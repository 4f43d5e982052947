//! The network files of `BookSim`'s topology anynet.
//!
//! ```text
//! router 0 node 0 node 1 router 1 3 router 2
//! router 1 node 2 router 0 3
//! router 2 node 3
//! ```
//!
//! Each line is one router: its endpoints, and its links with the latency of the channel that leads
//! away. A link has channels in both directions even if only one of its routers names it. A latency
//! that is not given is 1; so is that of the channel back when the other router does not name the
//! link.

use crate::companion::kind::{CompanionFileFormat, one_file, one_text};
use base::Refusal;
use base::part::PartDescription;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const ANYNET: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new("booksim-anynet", "a network of BookSim's topology anynet"),
    read: |files| one_text(files, read),
    example: || one_file("anynet", EXAMPLE),
};

const EXAMPLE: &str = "router 0 node 0 node 1 router 1 123 router 2 45\n\
    router 1 node 2 router 2 678\nrouter 2 node 3 router 0 90\n";

/// Most routers and endpoints of a file, and the longest latency.
const MOST: u32 = 1 << 22;
const LONGEST: u32 = 1_000_000;

/// A network of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnynetNetwork {
    neighbours: Vec<Vec<PortNeighbour>>,
    endpoints: Vec<Vec<u32>>,
    router_of: Vec<u32>,
}

/// The neighbour that a port leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortNeighbour {
    /// The router.
    pub router: u32,
    /// Cycles of the channel to it, at least 1.
    pub latency: u32,
}

impl AnynetNetwork {
    /// The neighbours of each router, by ascending number: the order of its ports.
    pub fn neighbours(&self) -> &[Vec<PortNeighbour>] {
        &self.neighbours
    }

    /// The endpoints of each router, ascending: its ports before those to neighbours.
    pub fn endpoints(&self) -> &[Vec<u32>] {
        &self.endpoints
    }

    /// The router of each endpoint.
    pub fn router_of(&self) -> &[u32] {
        &self.router_of
    }

    /// Links whose channels differ in latency: both ends, the lower one first.
    pub fn uneven(&self) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for (a, row) in self.neighbours.iter().enumerate() {
            for to in row.iter().filter(|to| to.router as usize > a) {
                let back =
                    self.neighbours[to.router as usize].iter().find(|b| b.router == a as u32);
                if back.is_some_and(|back| back.latency != to.latency) {
                    found.push((a as u32, to.router));
                }
            }
        }
        found
    }

    /// Whether endpoint e is on router e / p, as the `PolarFly` variant takes for granted.
    ///
    /// # Errors
    /// Where it is not: the refusal names the first such endpoint.
    pub fn check_polarfly(&self, p: u32) -> Result<(), Refusal> {
        let off = (0u32..).zip(&self.router_of).find(|(e, r)| e / p.max(1) != **r);
        if let Some((e, r)) = off {
            let why = format!("{p} endpoints on a router, but endpoint {e} is on router {r}");
            let help = format!("in the PolarFly variant it would be on {}", e / p.max(1));
            return Err(Refusal::new("k", why, help));
        }
        Ok(())
    }
}

/// Reads a file; `name` stands for it in refusals. O(file log file).
///
/// # Errors
/// Where a line is not understood, a number would be taken by `BookSim` for something else than
/// it says, a pair of routers has two links, an endpoint is on two routers, numbers have gaps, or
/// a router is not reached.
pub fn read(text: &str, name: &str) -> Result<AnynetNetwork, Refusal> {
    let mut lines = AnynetFileContents::default();
    for (i, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split(' ').filter(|w| !w.is_empty()).collect();
        if !words.is_empty() {
            lines.line(&words, i + 1).map_err(|r| r.within(&format!("{name}: line {}", i + 1)))?;
        }
    }
    lines.finish().map_err(|r| r.within(name))
}

/// The contents of the lines of a file.
#[derive(Default)]
struct AnynetFileContents {
    routers: BTreeSet<u32>,
    /// Latency and line of each channel that a line names.
    channels: BTreeMap<(u32, u32), (u32, usize)>,
    /// Router and line of each endpoint.
    endpoints: BTreeMap<u32, (u32, usize)>,
}

const FORM: &str = "router 0 node 0 node 1 router 1 3, with blanks alone between";

impl AnynetFileContents {
    fn line(&mut self, words: &[&str], line: usize) -> Result<(), Refusal> {
        match words[0] {
            "router" => {}
            "node" => {
                let why = "a line that begins with a node is taken for a router's by BookSim";
                return Err(Refusal::new("node", why, FORM));
            }
            other => return Err(Refusal::new(shown(other), "a line begins with router", FORM)),
        }
        let head = id("router", words.get(1))?;
        self.routers.insert(head);
        let mut at = 2;
        while let Some(&what) = words.get(at) {
            match what {
                "router" => {
                    let to = id(what, words.get(at + 1))?;
                    let latency = match words.get(at + 2) {
                        None | Some(&("router" | "node")) => None,
                        Some(text) => Some(latency(text)?),
                    };
                    at += 2 + usize::from(latency.is_some());
                    self.link(head, to, latency.unwrap_or(1), line)?;
                }
                "node" => {
                    let endpoint = id(what, words.get(at + 1))?;
                    at += 2;
                    if let Some(next) = words.get(at).filter(|w| !["router", "node"].contains(w)) {
                        let why = format!(
                            "{} after node {endpoint}: BookSim takes no latency there, it makes a \
                             link in one direction to a router of the endpoint's number",
                            shown(next)
                        );
                        return Err(Refusal::new("node", why, "endpoints have a latency of 1"));
                    }
                    self.endpoint(head, endpoint, line)?;
                }
                other => return Err(Refusal::new(shown(other), "neither router nor node", FORM)),
            }
        }
        Ok(())
    }

    fn link(&mut self, from: u32, to: u32, latency: u32, line: usize) -> Result<(), Refusal> {
        if from == to {
            let why = format!("router {from} is linked to itself");
            return Err(Refusal::new("router", why, "a link joins two routers"));
        }
        self.routers.insert(to);
        if let Some((_, first)) = self.channels.insert((from, to), (latency, line)) {
            let why = format!("the link from {from} to {to} is given before, on line {first}");
            return Err(Refusal::new("router", why, "anynet has one link between two routers"));
        }
        Ok(())
    }

    fn endpoint(&mut self, router: u32, endpoint: u32, line: usize) -> Result<(), Refusal> {
        if let Some((other, first)) = self.endpoints.insert(endpoint, (router, line)) {
            let why = format!("node {endpoint} is on router {other} before, on line {first}");
            return Err(Refusal::new("node", why, "a node is on one router, and in one line"));
        }
        Ok(())
    }

    fn finish(self) -> Result<AnynetNetwork, Refusal> {
        gap("router", self.routers.iter().copied())?;
        gap("node", self.endpoints.keys().copied())?;
        let size = self.routers.len();
        let channels = self.channels.iter().map(|(pair, (latency, _))| (*pair, *latency));
        let mut links: BTreeMap<(u32, u32), u32> = channels.collect();
        for &(a, b) in self.channels.keys() {
            links.entry((b, a)).or_insert(1);
        }
        let mut neighbours = vec![Vec::new(); size];
        for ((a, router), latency) in links {
            neighbours[a as usize].push(PortNeighbour { router, latency });
        }
        let mut endpoints = vec![Vec::new(); size];
        let mut router_of = Vec::with_capacity(self.endpoints.len());
        for (endpoint, (router, _)) in self.endpoints {
            endpoints[router as usize].push(endpoint);
            router_of.push(router);
        }
        let mut reached = vec![false; size];
        let mut open = vec![0];
        reached[0] = true;
        while let Some(at) = open.pop() {
            for to in &neighbours[at] {
                let to = to.router as usize;
                if !std::mem::replace(&mut reached[to], true) {
                    open.push(to);
                }
            }
        }
        if let Some(cut) = reached.iter().position(|reached| !reached) {
            let why = format!("no path leads from router 0 to router {cut}");
            return Err(Refusal::new("router", why, "BookSim ends where a router is not reached"));
        }
        Ok(AnynetNetwork { neighbours, endpoints, router_of })
    }
}

/// Refuses numbers that do not count from 0 without gaps.
fn gap(what: &str, mut numbers: impl Iterator<Item = u32>) -> Result<(), Refusal> {
    let mut next = 0;
    match numbers.find(|n| std::mem::replace(&mut next, *n + 1) != *n) {
        None if next == 0 => Err(Refusal::new(what, "there is none in the file", FORM)),
        None => Ok(()),
        Some(found) => {
            let why = format!("{found} comes without all numbers before it");
            Err(Refusal::new(what, why, format!("a {what} each for 0, 1, 2 and so on")))
        }
    }
}

fn id(what: &str, word: Option<&&str>) -> Result<u32, Refusal> {
    let parsed = word.and_then(|w| w.parse::<u32>().ok()).filter(|n| *n < MOST);
    parsed.ok_or_else(|| {
        let word = word.map_or("the end of the line".to_owned(), |w| shown(w));
        let why = format!("{word} is no number of a {what}");
        Refusal::new(what, why, format!("a number from 0, below {MOST}"))
    })
}

fn latency(text: &str) -> Result<u32, Refusal> {
    let parsed = text.parse::<u32>().ok().filter(|n| (1..=LONGEST).contains(n));
    parsed.ok_or_else(|| {
        let why = format!("{} is no latency", shown(text));
        Refusal::new("router", why, format!("cycles from 1 to {LONGEST}"))
    })
}

fn shown(word: &str) -> String {
    let short: String = word.chars().take(40).collect();
    format!("'{}'", short.escape_debug())
}
