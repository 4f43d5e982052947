//! Builds a network from the nodes of a file: which are endpoints, which are left out, what is
//! joined.

use super::device::{DeviceKind, EndpointDeviceFilter, names_no_host};
use super::line::{LinkRate, NodeLine, PortLine};
use super::said::{DeviceLineKind, LineFault};
use crate::hosts::{host, natural};
use base::{EndpointId, Refusal, SwitchId};
use fabric::network::{
    Cable, CablePlug, NetworkRecipe, OmittedFileContents, Switch, Topology, TopologyBuilder,
};
use serde_json::Map;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The help of a refusal where nodes are missing.
const WHOLE: &str = "expected the node at the other end as well: write the discovery anew, whole";
/// Lines, cables and nodes that a remark names before it only counts.
const NAMED: usize = 3;

pub(super) struct FabricNode<'a> {
    pub(super) form: DeviceLineKind,
    pub(super) line: usize,
    pub(super) head: NodeLine<'a>,
    pub(super) guid: Option<u64>,
    /// Device id.
    pub(super) device: Option<u64>,
    /// Its port lines with their line numbers, by port number.
    pub(super) ports: Vec<(usize, PortLine<'a>)>,
}

impl FabricNode<'_> {
    fn name(&self) -> &str {
        self.head.name.filter(|name| !name.is_empty()).unwrap_or(&self.head.id)
    }

    /// What the node, which is no switch, is for.
    fn kind(&self) -> DeviceKind {
        match self.form {
            DeviceLineKind::Router => DeviceKind::Router,
            _ => DeviceKind::of_adapter(self.device, self.head.name.unwrap_or_default()),
        }
    }
}

/// All nodes of a file.
pub(super) struct FabricNodes<'a> {
    file: &'a str,
    pub(super) all: Vec<FabricNode<'a>>,
    by_id: HashMap<String, usize>,
    /// How many nodes came again; then the number of lines of programs, and the first of these.
    again: usize,
    talk: usize,
    first_talk: Option<(usize, &'a str)>,
    /// The number of the last line that was read.
    pub(super) ends: usize,
    /// Notes of the reader on the file.
    pub(super) notes: Vec<String>,
}

/// The device that the port at the end of a cable leads to.
enum FarCableEnd<'n, 'a> {
    /// A port of another node.
    Port(usize, &'n PortLine<'a>),
    /// A device of this kind that the file has no node of, and that is no endpoint.
    Absent(DeviceKind),
}

/// The facts that are gathered for remarks as a network is built.
#[derive(Default)]
struct FabricFileRemarks {
    left_out: BTreeMap<DeviceKind, usize>,
    loops: Vec<[CablePlug; 2]>,
    /// Cables without a switch, in words; then cables whose ends differ.
    back_to_back: Vec<String>,
    unequal: Vec<String>,
    /// Cables whose width or speed is not known at either end.
    open: Vec<String>,
    /// The switch of every rail.
    attached: Vec<SwitchId>,
    /// Hosts with several adapters among the endpoints, by name.
    several: Vec<String>,
    /// Number of adapters left out because others of their host are chosen; then that of ports of
    /// endpoints that are not used.
    other_adapters: usize,
    other_ports: usize,
}

impl<'a> FabricNodes<'a> {
    pub(super) fn new(file: &'a str) -> Self {
        let (all, by_id) = (Vec::new(), HashMap::new());
        let notes = Vec::new();
        Self { file, all, by_id, again: 0, talk: 0, first_talk: None, ends: 0, notes }
    }

    /// Counts a line that a program printed.
    pub(super) fn talk(&mut self, number: usize, line: &'a str) {
        self.talk += 1;
        self.first_talk.get_or_insert((number, line));
    }

    /// Adds a node, or finds the same one that was added before: its number.
    ///
    /// # Errors
    /// When the one before is another.
    pub(super) fn add(&mut self, node: FabricNode<'a>) -> Result<usize, LineFault> {
        let id = node.head.id.as_ref();
        let Some(&at) = self.by_id.get(id) else {
            self.by_id.insert(id.to_owned(), self.all.len());
            self.all.push(node);
            return Ok(self.all.len() - 1);
        };
        let old = &mut self.all[at];
        let apart = |a: Option<u64>, b: Option<u64>| a.is_some() && b.is_some() && a != b;
        let lid = |n: &FabricNode| n.head.lid.map(u64::from);
        let shown = |guid: u64| format!("0x{guid:016x}");
        let difference = if old.form != node.form {
            Some("as a node of another type".to_owned())
        } else if old.head.ports != node.head.ports {
            Some(format!("with {} ports, not {}", old.head.ports, node.head.ports))
        } else if old.head.name.is_some() && old.head.name != node.head.name {
            Some(format!("as \"{}\"", old.name()))
        } else if apart(old.guid, node.guid) {
            Some(format!("with GUID {}", old.guid.map(shown).unwrap_or_default()))
        } else if apart(lid(old), lid(&node)) {
            Some(format!("with LID {}", lid(old).unwrap_or_default()))
        } else {
            None
        };
        if let Some(how) = difference {
            let why = format!("node \"{id}\" is already in line {}, {how}", old.line);
            return Err(LineFault::new(why, "what is given twice must be alike"));
        }
        old.guid = old.guid.or(node.guid);
        old.head.lid = old.head.lid.or(node.head.lid);
        self.again += 1;
        Ok(at)
    }

    /// Sorts the ports of each node; one that comes twice must be the same.
    fn sort_ports(&mut self) -> Result<(), Refusal> {
        for node in &mut self.all {
            node.ports.sort_by_key(|(line, p)| (p.port, *line));
            let mut kept: Vec<(usize, PortLine<'a>)> = Vec::with_capacity(node.ports.len());
            for (line, p) in node.ports.drain(..) {
                let Some((first, old)) = kept.last_mut().filter(|(_, old)| old.port == p.port)
                else {
                    kept.push((line, p));
                    continue;
                };
                let same = |a: Option<u64>, b: Option<u64>| a.is_none() || b.is_none() || a == b;
                let leads = (&old.peer, old.peer_port) == (&p.peer, p.peer_port);
                if !leads || !same(old.guid, p.guid) || !same(old.peer_guid, p.peer_guid) {
                    let why = format!(
                        "port {} of \"{}\" is already in line {first}",
                        p.port, node.head.id
                    );
                    return Err(LineFault::new(why, "a port takes one cable").at(self.file, line));
                }
                old.rate.merge(&p.rate);
                old.guid = old.guid.or(p.guid);
                old.peer_guid = old.peer_guid.or(p.peer_guid);
                old.lid = old.lid.or(p.lid);
            }
            node.ports = kept;
        }
        Ok(())
    }

    /// Node GUIDs must differ, and port GUIDs must differ.
    fn check_guids(&self) -> Result<(), Refusal> {
        let mut nodes = HashMap::new();
        let mut ports = HashMap::new();
        for node in &self.all {
            if let Some(guid) = node.guid {
                self.first_use(&mut nodes, guid, node.line)?;
            }
            let lines = node.ports.iter().filter(|_| node.form != DeviceLineKind::Switch);
            for (guid, line) in lines.filter_map(|(line, p)| p.guid.map(|g| (g, *line))) {
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
                Err(LineFault::new(why, "GUIDs must differ").at(self.file, line))
            }
        }
    }

    /// The node and the port at the other end of a port's cable; both ends must describe it alike.
    fn other_end(&self, from: &FabricNode, p: &PortLine) -> Result<FarCableEnd<'_, 'a>, LineFault> {
        let Some(&to) = self.by_id.get(p.peer.as_ref()) else {
            let kind = match p.peer_name {
                _ if p.peer.starts_with("R-") => DeviceKind::Router,
                Some(name) if !p.peer.starts_with("S-") => DeviceKind::of_adapter(None, name),
                _ => DeviceKind::Host,
            };
            if kind != DeviceKind::Host && from.form == DeviceLineKind::Switch {
                return Ok(FarCableEnd::Absent(kind));
            }
            let why = format!("the cable leads to \"{}\", which is not in the file", p.peer);
            return Err(LineFault::new(format!("{why}: {}", self.missing()), WHOLE));
        };
        let node = &self.all[to];
        if !(1..=node.head.ports).contains(&p.peer_port) {
            let why = format!("port {} of \"{}\" does not exist", p.peer_port, p.peer);
            let help = format!("it has ports 1 to {} (line {})", node.head.ports, node.line);
            return Err(LineFault::new(why, help));
        }
        let expected = format!("[{}] \"{}\"[{}]", p.peer_port, from.head.id, p.port);
        let Ok(at) = node.ports.binary_search_by_key(&p.peer_port, |(_, q)| q.port) else {
            let why = format!("the other end does not tell of this cable: no {expected}");
            let mut help = format!("expected it after line {}, in \"{}\"", node.line, p.peer);
            if to + 1 == self.all.len() {
                let ends = format!("with which the file ends in line {}", self.ends);
                help = format!("{help}, {ends}: it looks cut off");
            }
            return Err(LineFault::new(why, help));
        };
        let (other, q) = &node.ports[at];
        let help = format!("expected {expected} in line {other}");
        if q.peer != from.head.id || q.peer_port != p.port {
            let why = format!("the other end leads to \"{}\"[{}] instead", q.peer, q.peer_port);
            return Err(LineFault::new(why, help));
        }
        let same = |a: Option<u64>, b: Option<u64>| a.is_none() || b.is_none() || a == b;
        if !same(p.guid, q.peer_guid) || !same(p.peer_guid, q.guid) {
            let why = format!("the port GUID is not the one in line {other}");
            return Err(LineFault::new(why, "both ends must tell the same"));
        }
        Ok(FarCableEnd::Port(to, q))
    }

    /// The words for a refusal: which nodes are not in the file though cables lead to them, and
    /// where the file ends.
    fn missing(&self) -> String {
        let peers = self.all.iter().flat_map(|n| &n.ports).map(|(_, p)| p.peer.as_ref());
        let missing: BTreeSet<&str> = peers.filter(|id| !self.by_id.contains_key(*id)).collect();
        let last = self.all.last().map_or("", |node| node.name());
        let nodes = if missing.len() == 1 {
            "this node is".to_owned()
        } else {
            let named: Vec<&str> = missing.iter().take(NAMED).copied().collect();
            let more = if missing.len() > NAMED { ", ..." } else { "" };
            format!("{} nodes ({}{more}) are", missing.len(), named.join(", "))
        };
        format!(
            "{nodes} missing, and the file, which ends in line {} with '{last}', looks cut off",
            self.ends
        )
    }

    /// The network of all switches, and of the devices that `choice` takes.
    ///
    /// # Errors
    /// When the nodes contradict each other, or `choice` names what is not there.
    pub(super) fn build(mut self, choice: &EndpointDeviceFilter) -> Result<Topology, Refusal> {
        self.sort_ports()?;
        self.check_guids()?;
        let mut gathered = FabricFileRemarks::default();
        let groups = self.endpoints(choice, &mut gathered)?;
        let names = self.unique_names(&groups, choice.joins());
        let mut b = TopologyBuilder::new();
        let mut switch_at = vec![None; self.all.len()];
        for (i, node) in
            self.all.iter().enumerate().filter(|(_, n)| n.form == DeviceLineKind::Switch)
        {
            let lid = node.head.lid.filter(|l| *l != 0);
            let (guid, ports) = (node.guid, node.head.ports);
            switch_at[i] = Some(b.switch(Switch { guid, lid, ports, ..Switch::new(names[i]) }));
        }
        self.check_all(&switch_at, &mut gathered)?;
        if let Some(cable) = gathered.back_to_back.first().filter(|_| b.is_empty()) {
            let why = format!("there is no switch in it; {cable}");
            return Err(Refusal::new(self.file, why, "networks of switches are read only"));
        }
        let mut lmc: Option<(u8, usize)> = None;
        for group in &groups {
            let guid = self.all[group[0]].guid;
            let endpoint = b.endpoint(names[group[0]], guid);
            let rails = EndpointRailBuilder { endpoint, switch_at: &switch_at, choice };
            self.attach(&mut b, group, &rails, &mut lmc, &mut gathered)?;
        }
        self.link(&mut b, &switch_at, &mut gathered)?;
        let left_out = self.left_out(&switch_at, &groups, &gathered.attached);
        let mut params = Map::new();
        params.insert("path".into(), self.file.into());
        params.insert("format".into(), "ibnetdiscover".into());
        params.extend(choice.params().map(|(key, value)| (key.to_owned(), value.into())));
        if let Some((lmc, _)) = lmc.filter(|(l, _)| *l != 0) {
            params.insert("lmc".into(), lmc.into());
        }
        let mut remarks = self.remarks(&gathered, choice.joins());
        let planes = b.number_planes();
        if planes > 1 {
            remarks
                .push(format!("{planes} parts with hosts in common and no cable: {planes} planes"));
        }
        b.set_aside(OmittedFileContents { remarks, loops: gathered.loops, left_out });
        b.finish(NetworkRecipe { family: "file".into(), params }).map_err(|r| r.within(self.file))
    }

    /// The nodes of every endpoint, in the order of the file.
    fn endpoints(
        &self,
        choice: &EndpointDeviceFilter,
        gathered: &mut FabricFileRemarks,
    ) -> Result<Vec<Vec<usize>>, Refusal> {
        let is_device = |i: &usize| self.all[*i].form != DeviceLineKind::Switch;
        let devices: Vec<usize> = (0..self.all.len()).filter(is_device).collect();
        let kinds: Vec<(DeviceKind, &str)> = devices
            .iter()
            .map(|&i| (self.all[i].kind(), self.all[i].head.name.unwrap_or_default()))
            .collect();
        let cabled: Vec<bool> = devices.iter().map(|&i| self.is_cabled(&self.all[i])).collect();
        let chosen = choice.endpoints(&kinds, &cabled).map_err(|r| r.within(self.file))?;
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut of_host: HashMap<&str, usize> = HashMap::new();
        let mut adapters: BTreeMap<&str, usize> = BTreeMap::new();
        for ((&i, &(kind, name)), chosen) in devices.iter().zip(&kinds).zip(chosen) {
            if chosen && kind == DeviceKind::Host && !names_no_host(name) {
                *adapters.entry(host(name)).or_default() += 1;
            }
            if !chosen && kind == DeviceKind::Host && choice.chooses_adapters() {
                gathered.other_adapters += 1;
            } else if !chosen {
                *gathered.left_out.entry(kind).or_default() += 1;
            } else if choice.joins() && kind == DeviceKind::Host && !names_no_host(name) {
                let at = *of_host.entry(host(name)).or_insert(groups.len());
                if at == groups.len() {
                    groups.push(Vec::new());
                }
                groups[at].push(i);
            } else {
                groups.push(vec![i]);
            }
        }
        let several = adapters.iter().filter(|(_, count)| **count > 1);
        gathered.several = several.map(|(name, _)| (*name).to_owned()).collect();
        groups.retain(|group| group.iter().any(|i| self.may_reach(&self.all[*i])));
        for group in &mut groups {
            group.sort_by_key(|&i| (natural(self.all[i].head.name.unwrap_or_default()), i));
        }
        Ok(groups)
    }

    /// Whether an adapter has a cable to a switch.
    fn is_cabled(&self, adapter: &FabricNode) -> bool {
        let is_device = |at: &usize| self.all[*at].form != DeviceLineKind::Switch;
        let to_device = |p: &PortLine| self.by_id.get(p.peer.as_ref()).is_some_and(&is_device);
        adapter.ports.iter().any(|(_, p)| !to_device(p))
    }

    /// Whether an adapter has a cable to a switch, or no cable at all.
    fn may_reach(&self, adapter: &FabricNode) -> bool {
        adapter.ports.is_empty() || self.is_cabled(adapter)
    }

    /// Checks every cable, also those of devices that are left out. Cables of devices that are not
    /// in the file, and cables without a switch, are gathered for remarks.
    fn check_all(
        &self,
        switch_at: &[Option<SwitchId>],
        gathered: &mut FabricFileRemarks,
    ) -> Result<(), Refusal> {
        for (from, node) in self.all.iter().enumerate() {
            for (line, p) in &node.ports {
                match self.other_end(node, p).map_err(|w| w.at(self.file, *line))? {
                    FarCableEnd::Absent(kind) => *gathered.left_out.entry(kind).or_default() += 1,
                    FarCableEnd::Port(to, q)
                        if switch_at[from].is_none() && switch_at[to].is_none() =>
                    {
                        if (from, p.port) <= (to, q.port) {
                            gathered.back_to_back.push(self.cable_words(node, p, to));
                        }
                    }
                    FarCableEnd::Port(..) => {}
                }
            }
        }
        Ok(())
    }

    /// For each switch, the number of cables to devices that are not `attached`, except aggregation
    /// nodes, which are within switches of any level.
    fn left_out(
        &self,
        switch_at: &[Option<SwitchId>],
        groups: &[Vec<usize>],
        attached: &[SwitchId],
    ) -> Vec<u32> {
        let mut taken = vec![false; self.all.len()];
        groups.iter().flatten().for_each(|&i| taken[i] = true);
        let mut counts = vec![0_u32; switch_at.iter().flatten().count()];
        for (from, node) in self.all.iter().enumerate() {
            let Some(here) = switch_at[from] else { continue };
            for (_, p) in &node.ports {
                let kind = match self.by_id.get(p.peer.as_ref()) {
                    Some(&to) if switch_at[to].is_some() => continue,
                    Some(&to) if taken[to] => DeviceKind::Host,
                    Some(&to) => self.all[to].kind(),
                    None => DeviceKind::of_adapter(None, p.peer_name.unwrap_or_default()),
                };
                counts[here.ix()] += u32::from(kind != DeviceKind::Aggregation);
            }
        }
        for switch in attached {
            counts[switch.ix()] = counts[switch.ix()].saturating_sub(1);
        }
        if counts.iter().all(|n| *n == 0) { Vec::new() } else { counts }
    }

    fn cable_words(&self, from: &FabricNode, p: &PortLine, to: usize) -> String {
        let (a, b) = (from.name(), self.all[to].name());
        format!("{a} port {} - {b} port {}", p.port, p.peer_port)
    }

    /// The cable of port `p`, noted where its ends differ.
    fn cable(
        &self,
        from: &FabricNode,
        p: &PortLine,
        (to, q): (usize, &PortLine),
        gathered: &mut FabricFileRemarks,
    ) -> Cable {
        let (cable, differ) = p.rate.agree(&q.rate);
        if differ {
            let ends = |a: &LinkRate, b: &LinkRate| format!("{a} and {b}");
            let words = self.cable_words(from, p, to);
            gathered.unequal.push(format!("{words} ({})", ends(&p.rate, &q.rate)));
        }
        if p.rate.leaves_open(&q.rate) {
            let words = self.cable_words(from, p, to);
            gathered.open.push(format!("{words} ({}x{})", cable.width, cable.speed));
        }
        cable
    }

    /// Adds the rails of an endpoint.
    fn attach(
        &self,
        b: &mut TopologyBuilder,
        group: &[usize],
        rails: &EndpointRailBuilder<'_>,
        lmc: &mut Option<(u8, usize)>,
        gathered: &mut FabricFileRemarks,
    ) -> Result<(), Refusal> {
        let mut next = 0;
        for node in group.iter().map(|i| &self.all[*i]) {
            for (line, p) in &node.ports {
                let at = |w: LineFault| w.at(self.file, *line);
                let FarCableEnd::Port(to, q) = self.other_end(node, p).map_err(at)? else {
                    continue;
                };
                let Some(switch) = rails.switch_at[to] else { continue };
                if rails.choice.takes_one_port() && next > 0 {
                    gathered.other_ports += 1;
                    continue;
                }
                let cable = self.cable(node, p, (to, q), gathered);
                let id = b.attach(rails.endpoint, switch, p.peer_port, cable);
                gathered.attached.push(switch);
                let terminal = b.terminal_mut(id);
                let counted = rails.choice.joins() || rails.choice.takes_one_port();
                terminal.rail = if counted { next } else { p.port - 1 };
                terminal.port_guid = p.guid.or(q.peer_guid);
                terminal.lid = p.lid.filter(|l| *l != 0);
                if let Some(l) = p.lmc.filter(|_| terminal.lid.is_some()) {
                    same_lmc(lmc, l, *line).map_err(at)?;
                }
                next += 1;
            }
        }
        Ok(())
    }

    /// Adds the cables between switches.
    fn link(
        &self,
        b: &mut TopologyBuilder,
        switch_at: &[Option<SwitchId>],
        gathered: &mut FabricFileRemarks,
    ) -> Result<(), Refusal> {
        for (from, node) in self.all.iter().enumerate() {
            let Some(here) = switch_at[from] else { continue };
            for (line, p) in &node.ports {
                let far = self.other_end(node, p).map_err(|w| w.at(self.file, *line))?;
                let FarCableEnd::Port(to, q) = far else { continue };
                let Some(there) = switch_at[to] else { continue };
                let ends = [(here, p.port), (there, p.peer_port)];
                let [x, y] = ends.map(|(switch, port)| CablePlug { switch, port });
                if from == to && p.port <= p.peer_port {
                    gathered.loops.push([x, y]);
                } else if from < to {
                    let cable = self.cable(node, p, (to, q), gathered);
                    b.link_at(x, y, cable);
                }
            }
        }
        Ok(())
    }

    /// The names of all nodes. Endpoints of several adapters have the name of the host; ids stand
    /// in place of empty names and of those that several switches and endpoints have.
    fn unique_names(&self, groups: &[Vec<usize>], joined: bool) -> Vec<&str> {
        let mut named: Vec<&str> =
            self.all.iter().map(|n| n.head.name.unwrap_or_default()).collect();
        for group in groups.iter().filter(|_| joined) {
            if !names_no_host(named[group[0]]) {
                named[group[0]] = host(named[group[0]]);
            }
        }
        let is_switch = |i: &usize| self.all[*i].form == DeviceLineKind::Switch;
        let switches = (0..self.all.len()).filter(is_switch);
        let mut seen = HashSet::new();
        let mut twice = HashSet::new();
        for i in switches.chain(groups.iter().map(|group| group[0])) {
            if !seen.insert(named[i]) {
                twice.insert(named[i]);
            }
        }
        for (i, node) in self.all.iter().enumerate() {
            if named[i].is_empty() || twice.contains(named[i]) {
                named[i] = &node.head.id;
            }
        }
        named
    }

    /// A line for each sort of thing that was left out, or read otherwise than it is written.
    fn remarks(&self, gathered: &FabricFileRemarks, joined: bool) -> Vec<String> {
        let mut found = self.notes.clone();
        if !gathered.left_out.is_empty() {
            let counted: Vec<String> =
                gathered.left_out.iter().map(|(kind, n)| kind.counted(*n)).collect();
            let kinds: Vec<&str> = gathered.left_out.keys().map(|kind| kind.word()).collect();
            let (counted, kinds) = (counted.join(", "), kinds.join(","));
            found.push(format!("{counted} left out (--keep {kinds} has them as endpoints)"));
        }
        if !gathered.several.is_empty() {
            found.push(several_adapters(&gathered.several, joined));
        }
        for (count, one, many) in [
            (gathered.other_adapters, "adapter", "adapters"),
            (gathered.other_ports, "port", "ports"),
        ] {
            if count > 0 {
                let what = if count == 1 { one } else { many };
                found.push(format!("{count} more {what} of hosts left out"));
            }
        }
        let loops: Vec<String> = gathered
            .loops
            .iter()
            .map(|[x, y]| {
                let of = self.all.iter().filter(|n| n.form == DeviceLineKind::Switch);
                let name = of.map(FabricNode::name).nth(x.switch.ix()).unwrap_or_default();
                format!("{name} port {} - {name} port {}", x.port, y.port)
            })
            .collect();
        for (list, one, many) in [
            (
                &loops,
                "cable of a switch to itself left out",
                "cables of a switch to itself left out",
            ),
            (
                &gathered.back_to_back,
                "cable between adapters, without a switch, left out",
                "cables between adapters, without a switch, left out",
            ),
            (
                &gathered.unequal,
                "cable has ends of different width or speed, and runs at the lesser",
                "cables have ends of different width or speed, and run at the lesser",
            ),
            (
                &gathered.open,
                "cable has an unknown width or speed, and is taken for what is in brackets",
                "cables have an unknown width or speed, and are taken for what is in brackets",
            ),
        ] {
            if !list.is_empty() {
                let shown = list[..list.len().min(NAMED)].join(", ");
                let more = if list.len() > NAMED { ", ..." } else { "" };
                let what = if list.len() == 1 { one } else { many };
                found.push(format!("{} {what}: {shown}{more}", list.len()));
            }
        }
        if self.again > 0 {
            found.push(format!("{} nodes were given again, and are one each", self.again));
        }
        if let Some((line, text)) = self.first_talk {
            let text: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
            let lines = if self.talk == 1 { "line" } else { "lines" };
            found.push(format!(
                "{} {lines} of programs left out, the first: line {line}, '{text}'",
                self.talk
            ));
        }
        found
    }
}

/// The endpoint that rails are added to, with what decides which ones are.
struct EndpointRailBuilder<'b> {
    endpoint: EndpointId,
    switch_at: &'b [Option<SwitchId>],
    choice: &'b EndpointDeviceFilter,
}

/// The remark on how hosts with several adapters are counted.
fn several_adapters(hosts: &[String], joined: bool) -> String {
    let hosts = match hosts {
        [one] => format!("host {one} has several adapters"),
        [one, two] => format!("hosts {one} and {two} have several adapters"),
        _ => format!("{} hosts have several adapters ({}, ...)", hosts.len(), hosts[0]),
    };
    if joined {
        return format!("{hosts}, which are one endpoint with a rail for each cable");
    }
    format!(
        "{hosts}, and each adapter is an endpoint, with processes of its own where endpoints get \
         them; --adapters joined, first or a name as mlx5_0 has one endpoint a host; for Slurm a \
         host is one node, on the switch of its first adapter"
    )
}

fn same_lmc(lmc: &mut Option<(u8, usize)>, new: u8, line: usize) -> Result<(), LineFault> {
    match *lmc {
        Some((old, first)) if old != new => {
            let why = format!("LMC {new}, but LMC {old} in line {first}");
            Err(LineFault::new(why, "all adapter ports must have one LMC"))
        }
        Some(_) => Ok(()),
        None => {
            *lmc = Some((new, line));
            Ok(())
        }
    }
}
