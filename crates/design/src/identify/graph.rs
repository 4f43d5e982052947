//! A network as a graph of devices without names and ports: what can be recognised of it.

use base::{LinkId, TerminalId};
use fabric::network::Topology;
use std::collections::BTreeMap;

/// The working devices of a network and the cables between them. Endpoints with one rail are a
/// number at their switch; endpoints with several rails are devices of their own.
#[derive(Debug, Clone)]
pub(super) struct DeviceGraph {
    /// The switch of each vertex; vertices after these are endpoints with several rails.
    pub(super) switches: Vec<u32>,
    /// The endpoint of each vertex after the switches.
    pub(super) endpoints: Vec<u32>,
    /// For each vertex, its neighbours in ascending order, with the number of cables to each.
    pub(super) rows: Vec<Vec<(u32, u32)>>,
    /// For each vertex, its endpoints with one rail.
    pub(super) hosts: Vec<u32>,
    /// Cables between switches.
    pub(super) links: u64,
}

impl DeviceGraph {
    /// The graph of what works in a network. O(network log network).
    pub(super) fn of(t: &Topology) -> Self {
        let up = |s: &u32| t.switches()[*s as usize].up;
        let switches: Vec<u32> = (0..t.switches().len() as u32).filter(up).collect();
        let mut vertex = vec![u32::MAX; t.switches().len()];
        for (v, s) in (0..).zip(&switches) {
            vertex[*s as usize] = v;
        }
        let mut rails: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (i, terminal) in t.terminals().iter().enumerate() {
            if t.terminal_is_up(TerminalId::from(i)) {
                rails
                    .entry(terminal.endpoint.0)
                    .or_default()
                    .push(vertex[terminal.plug.switch.ix()]);
            }
        }
        let several: Vec<u32> =
            rails.iter().filter(|(_, at)| at.len() > 1).map(|(e, _)| *e).collect();
        let count = switches.len() + several.len();
        let mut cables: Vec<BTreeMap<u32, u32>> = vec![BTreeMap::new(); count];
        let mut join = |a: u32, b: u32| {
            *cables[a as usize].entry(b).or_insert(0) += 1;
            *cables[b as usize].entry(a).or_insert(0) += 1;
        };
        let mut links = 0;
        for (i, l) in t.links().iter().enumerate() {
            if t.link_is_up(LinkId::from(i)) {
                join(vertex[l.a.switch.ix()], vertex[l.b.switch.ix()]);
                links += 1;
            }
        }
        for (v, e) in (switches.len() as u32..).zip(&several) {
            rails[e].iter().for_each(|s| join(v, *s));
        }
        let mut hosts = vec![0; count];
        for at in rails.values().filter(|at| at.len() == 1) {
            hosts[at[0] as usize] += 1;
        }
        let rows = cables.into_iter().map(|row| row.into_iter().collect()).collect();
        Self { switches, endpoints: several, rows, hosts, links }
    }

    /// The number of vertices.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether a vertex is a switch.
    pub(super) fn is_switch(&self, v: u32) -> bool {
        (v as usize) < self.switches.len()
    }

    /// The number of cables at a vertex, without those of its endpoints with one rail.
    pub(super) fn degree(&self, v: u32) -> u32 {
        self.rows[v as usize].iter().map(|(_, cables)| cables).sum()
    }

    /// The number of cables between two vertices.
    pub(super) fn cables(&self, a: u32, b: u32) -> u32 {
        let row = &self.rows[a as usize];
        row.binary_search_by_key(&b, |(to, _)| *to).map_or(0, |at| row[at].1)
    }

    /// All endpoints.
    pub(super) fn all_endpoints(&self) -> u64 {
        self.hosts.iter().map(|n| u64::from(*n)).sum::<u64>() + self.endpoints.len() as u64
    }

    /// Cables and endpoints: what a laying over another graph can agree in.
    pub(super) fn size(&self) -> u64 {
        let degrees: u64 = (0..self.len() as u32).map(|v| u64::from(self.degree(v))).sum();
        degrees / 2 + self.hosts.iter().map(|n| u64::from(*n)).sum::<u64>()
    }

    /// The cables and endpoints that another graph lacks of this one with the vertices that it has
    /// fewer, less a few for each of these.
    pub(super) fn gone(&self, other: &Self) -> u64 {
        let fewer = self.len().saturating_sub(other.len()) as u64;
        let of = |v: u32| u64::from(self.degree(v) + self.hosts[v as usize]);
        fewer * (0..self.len() as u32).map(of).max().unwrap_or(0).saturating_sub(3)
    }

    /// The connected parts of the switches, endpoints with several rails left out.
    pub(super) fn planes(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.switches.len()];
        let mut parts = Vec::new();
        for start in 0..self.switches.len() as u32 {
            if std::mem::replace(&mut seen[start as usize], true) {
                continue;
            }
            let (mut part, mut next) = (vec![start], 0);
            while let Some(v) = part.get(next).copied() {
                next += 1;
                for (to, _) in self.rows[v as usize].iter().filter(|(to, _)| self.is_switch(*to)) {
                    if !std::mem::replace(&mut seen[*to as usize], true) {
                        part.push(*to);
                    }
                }
            }
            parts.push(part);
        }
        parts
    }

    /// One of the [`Self::planes`] by itself: rails of endpoints with several count as endpoints.
    pub(super) fn plane(&self, part: &[u32]) -> Self {
        let mut number = vec![u32::MAX; self.len()];
        for (new, v) in (0..).zip(part) {
            number[*v as usize] = new;
        }
        let (mut rows, mut hosts, mut ends) = (Vec::new(), Vec::new(), 0);
        for v in part {
            let (switches, rails): (Vec<_>, Vec<_>) =
                self.rows[*v as usize].iter().copied().partition(|(to, _)| self.is_switch(*to));
            let mut row: Vec<(u32, u32)> =
                switches.into_iter().map(|(to, n)| (number[to as usize], n)).collect();
            row.sort_unstable();
            ends += row.iter().map(|(_, n)| u64::from(*n)).sum::<u64>();
            rows.push(row);
            let rails: u32 = rails.into_iter().map(|(_, n)| n).sum();
            hosts.push(self.hosts[*v as usize] + rails);
        }
        let switches = part.iter().map(|v| self.switches[*v as usize]).collect();
        Self { switches, endpoints: Vec::new(), rows, hosts, links: ends / 2 }
    }

    /// Half the sum of the differences of the sorted numbers of cables, and the differences of the
    /// sorted numbers of endpoints: no laying of one graph over the other has fewer differences.
    pub(super) fn least_differences(&self, other: &Self) -> u64 {
        let sorted = |graph: &Self, of: &dyn Fn(u32) -> u32| -> Vec<u32> {
            let mut all: Vec<u32> = (0..graph.len() as u32).map(of).collect();
            all.sort_unstable_by_key(|n| std::cmp::Reverse(*n));
            all
        };
        let apart = |one: &[u32], two: &[u32]| -> u64 {
            let at = |row: &[u32], i: usize| row.get(i).copied().unwrap_or(0);
            (0..one.len().max(two.len())).map(|i| u64::from(at(one, i).abs_diff(at(two, i)))).sum()
        };
        let degrees = |g: &Self| sorted(g, &|v| g.degree(v));
        let hosts = |g: &Self| sorted(g, &|v| g.hosts[v as usize]);
        apart(&degrees(self), &degrees(other)).div_ceil(2) + apart(&hosts(self), &hosts(other))
    }
}
