//! The part of a network that works, in one plane, numbered anew without gaps.

use base::{EndpointId, LinkId, Refusal, SwitchId, TerminalId};
use fabric::addresses::remark;
use fabric::network::Topology;
use std::collections::HashSet;
use std::fmt::Write;

/// The number of rails of an endpoint that a format can express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RailSupport {
    /// One.
    One,
    /// Any.
    Any,
}

/// An endpoint that works, with the first of its working rails.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkingHost {
    pub(super) endpoint: EndpointId,
    pub(super) terminal: TerminalId,
    /// Number of its switch, in [`WorkingPlane::switches`].
    pub(super) at: usize,
    /// Whether its other rails lead to other switches.
    pub(super) is_spread: bool,
}

/// The working devices and cables of one plane.
#[derive(Debug)]
pub(super) struct WorkingPlane<'a> {
    pub(super) t: &'a Topology,
    pub(super) plane: u16,
    /// The switches, by number.
    pub(super) switches: Vec<SwitchId>,
    /// The links between them.
    pub(super) links: Vec<LinkId>,
    /// The endpoints, in their order.
    pub(super) hosts: Vec<WorkingHost>,
    number: Vec<Option<usize>>,
}

impl<'a> WorkingPlane<'a> {
    /// The working part of `plane` of `t`. O(network).
    ///
    /// # Errors
    /// When `t` has several planes and none is chosen, there is no such plane, a cable runs between
    /// planes, or an endpoint has more rails than `rails` allows.
    pub(super) fn of(
        t: &'a Topology,
        plane: Option<u16>,
        rails: RailSupport,
    ) -> Result<Self, Refusal> {
        let plane = chosen(t, plane)?;
        let mut number = vec![None; t.switches().len()];
        let mut switches = Vec::new();
        for (i, s) in t.switches().iter().enumerate() {
            if s.up && s.plane == plane {
                number[i] = Some(switches.len());
                switches.push(SwitchId::from(i));
            }
        }
        let mut found = Self { t, plane, switches, links: Vec::new(), hosts: Vec::new(), number };
        for l in (0..t.links().len()).map(LinkId::from).filter(|&l| t.link_is_up(l)) {
            match found.ends(l) {
                (Some(_), Some(_)) => found.links.push(l),
                (None, None) => {}
                _ => {
                    let link = &t.links()[l.ix()];
                    let [a, b] = [link.a, link.b].map(|p| &t.switches()[p.switch.ix()].name);
                    let why = format!("a cable runs from {a} to {b} in another plane");
                    return Err(Refusal::new("plane", why, "planes must not be joined"));
                }
            }
        }
        found.find_hosts(rails)?;
        Ok(found)
    }

    fn find_hosts(&mut self, rails: RailSupport) -> Result<(), Refusal> {
        let mut host_of: Vec<Option<WorkingHost>> = vec![None; self.t.endpoints().len()];
        for (i, x) in self.t.terminals().iter().enumerate() {
            let terminal = TerminalId::from(i);
            let Some(at) = self.number[x.plug.switch.ix()] else { continue };
            if !self.t.terminal_is_up(terminal) {
                continue;
            }
            let Some(first) = &mut host_of[x.endpoint.ix()] else {
                let host = WorkingHost { endpoint: x.endpoint, terminal, at, is_spread: false };
                host_of[x.endpoint.ix()] = Some(host);
                continue;
            };
            first.is_spread |= first.at != at;
            if rails == RailSupport::One {
                let name = &self.t.endpoints()[x.endpoint.ix()].name;
                let why = format!("endpoint {name} has several");
                let mut help = "an endpoint has one in this format".to_owned();
                let recipe = self.t.recipe();
                if recipe.is_of_fabric() && recipe.asked("adapters") != Some("first") {
                    help += "; --adapters first reads a fabric with one port a host";
                }
                return Err(Refusal::new("rails", why, help));
            }
        }
        self.hosts = host_of.into_iter().flatten().collect();
        Ok(())
    }

    /// The numbers of the switches at the ends of a link.
    fn ends(&self, l: LinkId) -> (Option<usize>, Option<usize>) {
        let link = &self.t.links()[l.ix()];
        (self.number[link.a.switch.ix()], self.number[link.b.switch.ix()])
    }

    /// The numbers of the switches that a link of [`WorkingPlane::links`] joins.
    pub(super) fn pair(&self, l: LinkId) -> (usize, usize) {
        let (a, b) = self.ends(l);
        (a.expect("it is a link between these"), b.expect("it is a link between these"))
    }

    /// Name of the switch of this number.
    pub(super) fn switch_name(&self, number: usize) -> &'a str {
        &self.t.switches()[self.switches[number].ix()].name
    }

    /// Name of an endpoint.
    pub(super) fn host_name(&self, host: &WorkingHost) -> &'a str {
        &self.t.endpoints()[host.endpoint.ix()].name
    }

    /// How many rails of endpoints each switch has: of an endpoint on several switches each counts.
    pub(super) fn rails(&self) -> Vec<u32> {
        let mut rails = vec![0; self.switches.len()];
        for (i, x) in self.t.terminals().iter().enumerate() {
            if let Some(at) = self.number[x.plug.switch.ix()]
                && self.t.terminal_is_up(TerminalId::from(i))
            {
                rails[at] += 1;
            }
        }
        rails
    }

    /// Neighbours of every switch with the links to them, by neighbour and link. O(links log).
    pub(super) fn neighbours(&self) -> Vec<Vec<(usize, LinkId)>> {
        let mut rows = vec![Vec::new(); self.switches.len()];
        for &l in &self.links {
            let (a, b) = self.pair(l);
            rows[a].push((b, l));
            rows[b].push((a, l));
        }
        for row in &mut rows {
            row.sort_unstable();
        }
        rows
    }

    /// Refuses a network that has no endpoints: there is nothing to run on it.
    pub(super) fn check_hosts(&self) -> Result<(), Refusal> {
        if self.hosts.is_empty() {
            let help = if self.t.endpoints().is_empty() {
                "give the network some: `p` of a family, -p of a file"
            } else {
                "a network, or a plane, with endpoints that work"
            };
            return Err(Refusal::new("endpoints", "there is none that works", help));
        }
        Ok(())
    }

    /// Refuses two links between the same switches.
    pub(super) fn check_no_parallel(&self, help: &str) -> Result<(), Refusal> {
        let mut seen = HashSet::new();
        for &l in &self.links {
            let (a, b) = self.pair(l);
            if !seen.insert((a.min(b), a.max(b))) {
                let (a, b) = (self.switch_name(a), self.switch_name(b));
                let why = format!("there are parallel ones between {a} and {b}");
                return Err(Refusal::new("links", why, help));
            }
        }
        Ok(())
    }

    /// The number of the connected piece that each switch is in; pieces are numbered from 0 by
    /// their first switches.
    pub(super) fn pieces(&self) -> Vec<usize> {
        let rows = self.neighbours();
        let mut piece = vec![usize::MAX; rows.len()];
        let mut count = 0;
        for first in 0..rows.len() {
            if piece[first] != usize::MAX {
                continue;
            }
            piece[first] = count;
            let mut next = vec![first];
            while let Some(s) = next.pop() {
                for &(to, _) in &rows[s] {
                    if piece[to] == usize::MAX {
                        piece[to] = count;
                        next.push(to);
                    }
                }
            }
            count += 1;
        }
        piece
    }

    /// Which switches can be reached from the first endpoint's.
    pub(super) fn reached(&self) -> Vec<bool> {
        let rows = self.neighbours();
        let mut seen = vec![false; rows.len()];
        let mut next: Vec<usize> = self.hosts.first().map(|host| host.at).into_iter().collect();
        while let Some(s) = next.pop() {
            if !std::mem::replace(&mut seen[s], true) {
                next.extend(rows[s].iter().map(|(to, _)| *to));
            }
        }
        seen
    }

    /// Remarks, in lines that start with `mark`: which network the file is of, and what was left
    /// out.
    pub(super) fn remarks(&self, mark: &str) -> String {
        let mut text = format!("{mark}{}\n", remark(&self.t.recipe().to_string()));
        if self.t.planes() > 1 {
            let _ = writeln!(text, "{mark}plane {} of {}", self.plane, self.t.planes());
        }
        let t = self.t;
        let mine = |s: SwitchId| t.switches()[s.ix()].plane == self.plane;
        let switches = t.switches().iter().filter(|s| s.plane == self.plane && !s.up).count();
        let links = (0..t.links().len()).map(LinkId::from);
        let links = links.filter(|&l| mine(t.links()[l.ix()].a.switch) && !t.link_is_up(l)).count();
        let mut of_plane = vec![false; t.endpoints().len()];
        for x in t.terminals().iter().filter(|x| mine(x.plug.switch)) {
            of_plane[x.endpoint.ix()] = true;
        }
        let endpoints = of_plane.iter().filter(|mine| **mine).count() - self.hosts.len();
        if switches + links + endpoints > 0 {
            let _ = writeln!(
                text,
                "{mark}left out, as they do not work: switches {switches}, links {links}, \
                 endpoints {endpoints}"
            );
        }
        text
    }
}

/// The plane to write.
pub(super) fn chosen(t: &Topology, plane: Option<u16>) -> Result<u16, Refusal> {
    let planes = t.planes();
    match plane {
        None if planes <= 1 => Ok(0),
        Some(p) if p < planes => Ok(p),
        None => {
            let why = format!("the network has {planes}, and the file is of one");
            Err(Refusal::new("plane", why, format!("choose one: 0 to {}", planes - 1)))
        }
        Some(p) => {
            let help = format!("0 to {}", planes.saturating_sub(1));
            Err(Refusal::new("plane", format!("there is no plane {p}"), help))
        }
    }
}
