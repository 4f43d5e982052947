//! Fabrics as `ibnetdiscover` prints them and `ibsim` reads them: one grammar, both ways.
//!
//! Source: the manual pages and behaviour of `infiniband-diags` 44 and `ibsim` 0.10. The grammar:
//!
//! ```text
//! file   = { comment | blank | heading | ids | switch | ca }
//! ids    = "vendid=0x" HEX | "devid=0x" HEX | "sysimgguid=0x" HEX
//!        | ( "switchguid" | "caguid" | "hcaguid" | "rtguid" ) "=0x" HEX [ "(" HEX ")" ]
//! switch = "Switch" PORTS '"' ID '"' '# "' NAME '"' ["enhanced"|"base"] "port 0 lid" N "lmc" N
//!          { "[" PORT "]" '"' ID '"[' PORT "]" [ "(" HEX ")" ] '# "' NAME '" lid' N RATE }
//! ca     = ( "Ca" | "Hca" | "Rt" ) PORTS '"' ID '"' '# "' NAME '"'
//!          { "[" PORT "](" HEX ")" '"' ID '"[' PORT ']# lid' N "lmc" N '"' NAME '" lid' N RATE }
//! RATE   = ( "1x" | "2x" | "4x" | "8x" | "12x" | "??" ) ( "SDR" ... "XDR" | "???" ) { OPTION }
//! OPTION = ( "s" | "w" | "v" | "e" ) "=" N
//! ```
//!
//! `-g` output (headings, chassis remarks, `[ext N]`) and `-f` output (options) are read as well.

mod line;
mod netlist;

pub use netlist::write_netlist;

use base::{EndpointId, Refusal, SwitchId};
use fabric::network::{Builder, Plug, Recipe, Speed, Switch, Topology};
use line::{NodeLine, PortLine, Scan};
use serde_json::Map;
use std::collections::{HashMap, HashSet};

/// Highest port number of a switch or an adapter.
const MAX_PORT: u16 = 254;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Switch,
    Adapter,
    Router,
}

struct Node<'a> {
    kind: Kind,
    line: usize,
    head: NodeLine<'a>,
    guid: Option<u64>,
    /// Its port lines with their line numbers, by port number.
    ports: Vec<(usize, PortLine<'a>)>,
}

/// Reads the output of `ibnetdiscover`, or an `ibsim` netlist; `name` stands for the file in the
/// recipe and in refusals.
///
/// Adapters and routers become endpoints, their ports rails (port - 1). Names, GUIDs, LIDs, widths
/// and speeds are kept; a name that is empty or not unique is replaced by the node's id. Without
/// any word of its width or speed a cable is 4x HDR. The common LMC of the adapters, where it is
/// not 0, is the recipe's `lmc`. The GUID of port 0 of a switch is taken to be the switch's own.
/// O(file log ports).
///
/// # Errors
/// When a line is not understood, a node or GUID comes twice, a port is above the node's number of
/// ports, or a cable is not told alike at both ends; always with the line.
pub fn read(text: &str, name: &str) -> Result<Topology, Refusal> {
    let mut file = File::new(name);
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        file.line(i + 1, line.trim_end()).map_err(|r| r.at(name, i + 1))?;
    }
    if file.nodes.is_empty() {
        let help = "expected the output of ibnetdiscover or an ibsim netlist";
        return Err(Refusal::new(name, "there is no node in it", help));
    }
    file.sort_ports()?;
    file.check_guids()?;
    file.build()
}

/// What is wrong with a line, before it is known which line of which file that is.
struct Wrong {
    why: String,
    help: String,
}

impl Wrong {
    fn new(why: impl Into<String>, help: impl Into<String>) -> Self {
        Self { why: why.into(), help: help.into() }
    }

    fn at(self, file: &str, line: usize) -> Refusal {
        Refusal::new(format!("{file}: line {line}"), self.why, self.help)
    }
}

struct File<'a> {
    name: &'a str,
    nodes: Vec<Node<'a>>,
    by_id: HashMap<&'a str, usize>,
    open: bool,
    /// GUID of the next node of each kind, and the base that `+` counts from.
    guids: [(Option<u64>, u64); 3],
    width: Option<u8>,
    speed: Option<Speed>,
}

impl<'a> File<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            nodes: Vec::new(),
            by_id: HashMap::new(),
            open: false,
            guids: [(None, 0); 3],
            width: None,
            speed: None,
        }
    }

    fn line(&mut self, number: usize, line: &'a str) -> Result<(), Wrong> {
        if line.starts_with('#') {
            return Ok(());
        }
        if line.starts_with('[') {
            return self.port(number, line);
        }
        self.open = false;
        for (words, kind) in [
            (&["Switch"][..], Kind::Switch),
            (&["Ca", "Hca"], Kind::Adapter),
            (&["Rt"], Kind::Router),
        ] {
            let rest = words.iter().find_map(|w| line.strip_prefix(w));
            if let Some(rest) = rest.filter(|r| r.starts_with([' ', '\t'])) {
                return self.node(number, kind, rest);
            }
        }
        for (words, kind) in [
            (&["switchguid"][..], Kind::Switch),
            (&["caguid", "hcaguid"], Kind::Adapter),
            (&["rtguid"], Kind::Router),
        ] {
            if let Some(rest) = words.iter().find_map(|w| line.strip_prefix(w)) {
                return self.guid(kind, rest.strip_prefix('s').unwrap_or(rest));
            }
        }
        self.setting(line)
    }

    fn node(&mut self, number: usize, kind: Kind, rest: &'a str) -> Result<(), Wrong> {
        let head = NodeLine::parse(rest)?;
        if let Some(&old) = self.by_id.get(head.id) {
            let why = format!("node \"{}\" is already in line {}", head.id, self.nodes[old].line);
            return Err(Wrong::new(why, "give each node once"));
        }
        let (next, _) = &mut self.guids[kind as usize];
        let guid = next.filter(|g| *g != 0);
        // as ibsim counts on: one GUID for a switch, one and one a port for an adapter
        let used = if kind == Kind::Switch { 1 } else { u64::from(head.ports) + 1 };
        *next = next.map(|g| g.wrapping_add(used));
        self.by_id.insert(head.id, self.nodes.len());
        self.nodes.push(Node { kind, line: number, head, guid, ports: Vec::new() });
        self.open = true;
        Ok(())
    }

    fn guid(&mut self, kind: Kind, rest: &str) -> Result<(), Wrong> {
        let mut scan = Scan(rest);
        let relative = scan.eat("+");
        if !relative && !scan.eat("=") {
            return Err(Wrong::new("a GUID is missing", "expected = and a hexadecimal number"));
        }
        let value = scan.c_number()?;
        let (next, base) = &mut self.guids[kind as usize];
        if !relative {
            *base = value;
        }
        *next = Some(if relative { base.wrapping_add(value) } else { value });
        Ok(())
    }

    /// Lines that are neither a node, nor a port, nor a GUID.
    fn setting(&mut self, line: &str) -> Result<(), Wrong> {
        let remarks = ["Non-Chassis Nodes", "Chassis ", "Hostname:", "pdebug"];
        if line.is_empty() || remarks.iter().any(|r| line.starts_with(r)) {
            return Ok(());
        }
        if let Some((key, value)) = line.split_once('=') {
            let number = || Scan(value.trim()).c_number();
            match key.trim() {
                "vendid" | "devid" | "sysimgguid" => return number().map(|_| ()),
                "width" => return number().map(|n| self.width = line::widest(n)),
                "speed" => {
                    let speed = number().map(line::fastest)?;
                    self.speed = self.speed.filter(|s| *s >= Speed::FDR).or(speed);
                    return Ok(());
                }
                "extspeed" => {
                    return number().map(|n| self.speed = line::fastest_extended(n).or(self.speed));
                }
                _ => {}
            }
        }
        Err(line::foreign(line))
    }

    fn port(&mut self, number: usize, line: &'a str) -> Result<(), Wrong> {
        let (width, speed) = (self.width, self.speed);
        let Some(node) = self.nodes.last_mut().filter(|_| self.open) else {
            let help = "expected a Switch or Ca line before the lines of its ports";
            return Err(Wrong::new("a port outside of a node", help));
        };
        let mut port = PortLine::parse(line, node.kind != Kind::Switch)?;
        if !(1..=node.head.ports).contains(&port.port) {
            let why = format!("port {} of \"{}\" does not exist", port.port, node.head.id);
            return Err(Wrong::new(why, format!("it has ports 1 to {}", node.head.ports)));
        }
        port.rate.fall_back(width, speed);
        node.ports.push((number, port));
        Ok(())
    }

    /// Sorts the ports of each node; a port that comes twice is refused.
    fn sort_ports(&mut self) -> Result<(), Refusal> {
        for node in &mut self.nodes {
            node.ports.sort_by_key(|(line, p)| (p.port, *line));
            for pair in node.ports.windows(2) {
                let ((first, p), (second, q)) = (&pair[0], &pair[1]);
                if p.port == q.port {
                    let why = format!(
                        "port {} of \"{}\" is already in line {first}",
                        p.port, node.head.id
                    );
                    return Err(Wrong::new(why, "a port takes one cable").at(self.name, *second));
                }
            }
        }
        Ok(())
    }

    /// Node GUIDs must differ, and port GUIDs must differ.
    fn check_guids(&self) -> Result<(), Refusal> {
        let mut nodes = HashMap::new();
        let mut ports = HashMap::new();
        for node in &self.nodes {
            let own = node.guid.map(|g| (&mut nodes, g, node.line));
            let lines = node.ports.iter().filter(|_| node.kind != Kind::Switch);
            let lines = lines.filter_map(|(line, p)| p.guid.map(|g| (g, *line)));
            if let Some((seen, guid, line)) = own {
                self.first_use(seen, guid, line)?;
            }
            for (guid, line) in lines {
                self.first_use(&mut ports, guid, line)?;
            }
        }
        Ok(())
    }

    fn first_use(
        &self,
        seen: &mut HashMap<u64, usize>,
        guid: u64,
        line: usize,
    ) -> Result<(), Refusal> {
        match seen.insert(guid, line) {
            None => Ok(()),
            Some(old) => {
                let why = format!("GUID 0x{guid:016x} is already in line {old}");
                Err(Wrong::new(why, "GUIDs must differ").at(self.name, line))
            }
        }
    }

    /// The node and the port at the other end of a port's cable, which must tell of it alike.
    fn other_end(&self, from: &Node, p: &PortLine) -> Result<(usize, &PortLine<'a>), Wrong> {
        let Some(&to) = self.by_id.get(p.peer) else {
            let why = format!("the cable leads to \"{}\", which is not in the file", p.peer);
            return Err(Wrong::new(why, "expected the node at the other end as well"));
        };
        let node = &self.nodes[to];
        if !(1..=node.head.ports).contains(&p.peer_port) {
            let why = format!("port {} of \"{}\" does not exist", p.peer_port, p.peer);
            let help = format!("it has ports 1 to {} (line {})", node.head.ports, node.line);
            return Err(Wrong::new(why, help));
        }
        let expected = format!("[{}] \"{}\"[{}]", p.peer_port, from.head.id, p.port);
        let Ok(at) = node.ports.binary_search_by_key(&p.peer_port, |(_, q)| q.port) else {
            let why = format!("the other end does not tell of this cable: no {expected}");
            return Err(Wrong::new(
                why,
                format!("expected it after line {}, in \"{}\"", node.line, p.peer),
            ));
        };
        let (other, q) = &node.ports[at];
        let help = format!("expected {expected} in line {other}");
        if q.peer != from.head.id || q.peer_port != p.port {
            let why = format!("the other end leads to \"{}\"[{}] instead", q.peer, q.peer_port);
            return Err(Wrong::new(why, help));
        }
        if to == self.by_id[from.head.id] {
            return Err(Wrong::new("a cable joins a node to itself", "the ends must be two nodes"));
        }
        if from.kind != Kind::Switch && node.kind != Kind::Switch {
            let why = "the cable joins two adapters, without a switch";
            return Err(Wrong::new(why, "networks of switches are read only"));
        }
        let same = |a: Option<u64>, b: Option<u64>| a.is_none() || b.is_none() || a == b;
        if !same(p.guid, q.peer_guid) || !same(p.peer_guid, q.guid) {
            let why = format!("the port GUID is not the one in line {other}");
            return Err(Wrong::new(why, "both ends must tell the same"));
        }
        Ok((to, q))
    }

    fn build(self) -> Result<Topology, Refusal> {
        let names = self.unique_names();
        let mut b = Builder::new();
        let mut place = Vec::with_capacity(self.nodes.len());
        for (node, name) in self.nodes.iter().zip(&names) {
            place.push(if node.kind == Kind::Switch {
                let lid = node.head.lid.filter(|l| *l != 0);
                let ports = node.head.ports;
                b.switch(Switch { guid: node.guid, lid, ports, ..Switch::new(*name) }).0
            } else {
                b.endpoint(*name, node.guid).0
            });
        }
        let mut lmc: Option<(u8, usize)> = None;
        let mut links = Vec::new();
        for (from, node) in self.nodes.iter().enumerate() {
            for (line, p) in &node.ports {
                let at = |w: Wrong| w.at(self.name, *line);
                let (to, q) = self.other_end(node, p).map_err(at)?;
                let cable = p.rate.agree(&q.rate).map_err(at)?;
                let plug = |node: usize, port| Plug { switch: SwitchId(place[node]), port };
                if node.kind != Kind::Switch {
                    let endpoint = EndpointId(place[from]);
                    let id = b.attach(endpoint, SwitchId(place[to]), p.peer_port, cable);
                    let terminal = b.terminal_mut(id);
                    terminal.rail = p.port - 1;
                    terminal.port_guid = p.guid;
                    terminal.lid = p.lid.filter(|l| *l != 0);
                    if let Some(l) = p.lmc.filter(|_| terminal.lid.is_some()) {
                        same_lmc(&mut lmc, l, *line).map_err(at)?;
                    }
                } else if self.nodes[to].kind == Kind::Switch && from < to {
                    links.push((plug(from, p.port), plug(to, p.peer_port), cable));
                }
            }
        }
        for (x, y, cable) in links {
            b.link_at(x, y, cable);
        }
        let mut params = Map::new();
        params.insert("path".into(), self.name.into());
        params.insert("format".into(), "ibnetdiscover".into());
        if let Some((lmc, _)) = lmc.filter(|(l, _)| *l != 0) {
            params.insert("lmc".into(), lmc.into());
        }
        b.finish(Recipe { family: "file".into(), params }).map_err(|r| r.within(self.name))
    }

    /// The nodes' names; ids in place of empty names and of those that several nodes bear.
    fn unique_names(&self) -> Vec<&'a str> {
        let mut seen = HashSet::new();
        let mut twice = HashSet::new();
        for name in self.nodes.iter().filter_map(|n| n.head.name) {
            if !seen.insert(name) {
                twice.insert(name);
            }
        }
        let usable = |n: &&str| !n.is_empty() && !twice.contains(n);
        self.nodes.iter().map(|n| n.head.name.filter(usable).unwrap_or(n.head.id)).collect()
    }
}

fn same_lmc(lmc: &mut Option<(u8, usize)>, new: u8, line: usize) -> Result<(), Wrong> {
    match *lmc {
        Some((old, first)) if old != new => {
            let why = format!("LMC {new}, but LMC {old} in line {first}");
            Err(Wrong::new(why, "all adapter ports must have one LMC"))
        }
        Some(_) => Ok(()),
        None => {
            *lmc = Some((new, line));
            Ok(())
        }
    }
}
