//! A planned graph laid over a found one: what differs, and how the laying gets better.

use super::graph::DeviceGraph;
use base::seed::RandomStream;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// The most rounds in which vertices change their places.
const ROUNDS: u32 = 20;

/// A planned graph laid over a found one.
#[derive(Debug, Clone)]
pub(super) struct GraphLaying {
    /// The planned vertex of each found one.
    pub(super) planned: Vec<Option<u32>>,
    /// The found vertex of each planned one.
    pub(super) found: Vec<Option<u32>>,
    /// Cables, and endpoints with one rail, that are as planned.
    pub(super) agreeing: u64,
}

/// The votes of the neighbours of a vertex for its place.
struct PlaceVotes {
    /// By planned vertex.
    of: Vec<u32>,
    /// The planned vertices that have any.
    given: Vec<u32>,
}

impl PlaceVotes {
    fn give(&mut self, place: u32, votes: u32) {
        if self.of[place as usize] == 0 {
            self.given.push(place);
        }
        self.of[place as usize] += votes;
    }
}

/// Two graphs of which one is laid over the other.
pub(super) struct GraphPair<'a> {
    pub(super) plan: &'a DeviceGraph,
    pub(super) found: &'a DeviceGraph,
}

impl GraphPair<'_> {
    /// The laying in which each found vertex has this planned one, if any.
    pub(super) fn laying(&self, planned: Vec<Option<u32>>) -> GraphLaying {
        let mut found = vec![None; self.plan.len()];
        for (f, p) in (0..).zip(&planned) {
            if let Some(p) = p {
                found[*p as usize] = Some(f);
            }
        }
        let mut laying = GraphLaying { planned, found, agreeing: 0 };
        let vertices = 0..self.found.len() as u32;
        let ends: u64 = vertices.clone().map(|f| self.cables_of(&laying, f)).sum();
        let hosts: u64 = vertices.map(|f| self.hosts_of(&laying, f)).sum();
        laying.agreeing = ends / 2 + hosts;
        laying
    }

    /// The cables of a found vertex that are as planned.
    fn cables_of(&self, laying: &GraphLaying, f: u32) -> u64 {
        let Some(p) = laying.planned[f as usize] else { return 0 };
        let row = &self.found.rows[f as usize];
        let as_planned = |(to, cables): &(u32, u32)| {
            let there = laying.planned[*to as usize].map_or(0, |to| self.plan.cables(p, to));
            u64::from(there.min(*cables))
        };
        row.iter().map(as_planned).sum()
    }

    fn hosts_of(&self, laying: &GraphLaying, f: u32) -> u64 {
        let Some(p) = laying.planned[f as usize] else { return 0 };
        u64::from(self.plan.hosts[p as usize].min(self.found.hosts[f as usize]))
    }

    /// What agrees at these two vertices, cables between them once.
    fn at_both(&self, laying: &GraphLaying, f: u32, g: Option<u32>) -> u64 {
        let one = |v: u32| self.cables_of(laying, v) + self.hosts_of(laying, v);
        let Some(g) = g else { return one(f) };
        let (p, q) = (laying.planned[f as usize], laying.planned[g as usize]);
        let between = match (p, q) {
            (Some(p), Some(q)) => self.plan.cables(p, q).min(self.found.cables(f, g)),
            _ => 0,
        };
        one(f) + one(g) - u64::from(between)
    }

    /// The laying that grows from the largest part of this one in which all cables are as planned:
    /// the vertex that most of its neighbours have a place for comes first. So faults that
    /// displaced much of a laying displace little. `None` where no part is as planned.
    /// O(vertices * cables of a vertex^2 * log).
    pub(super) fn grown(&self, laying: &GraphLaying) -> Option<GraphLaying> {
        let part = self.largest_part(laying)?;
        let mut planned: Vec<Option<u32>> = vec![None; self.found.len()];
        let mut taken = vec![false; self.plan.len()];
        let mut votes: HashMap<(u32, u32), u32> = HashMap::new();
        let mut next: BinaryHeap<(u32, Reverse<u32>, Reverse<u32>)> = BinaryHeap::new();
        let mut fresh: Vec<(u32, u32)> =
            part.into_iter().filter_map(|f| Some((f, laying.planned[f as usize]?))).collect();
        for (f, p) in &fresh {
            planned[*f as usize] = Some(*p);
            taken[*p as usize] = true;
        }
        loop {
            for (f, p) in fresh.drain(..) {
                for (g, cables) in &self.found.rows[f as usize] {
                    if planned[*g as usize].is_some() {
                        continue;
                    }
                    for (q, should) in &self.plan.rows[p as usize] {
                        let kinds = self.plan.is_switch(*q) == self.found.is_switch(*g);
                        if !taken[*q as usize] && kinds {
                            let n = votes.entry((*g, *q)).or_insert(0);
                            *n += *cables.min(should);
                            next.push((*n, Reverse(*g), Reverse(*q)));
                        }
                    }
                }
            }
            let Some((_, Reverse(g), Reverse(q))) = next.pop() else { break };
            if planned[g as usize].is_none() && !taken[q as usize] {
                planned[g as usize] = Some(q);
                taken[q as usize] = true;
                fresh.push((g, q));
            }
        }
        Some(self.laying(planned))
    }

    /// The largest connected part of the found vertices all of whose cables are as planned.
    fn largest_part(&self, laying: &GraphLaying) -> Option<Vec<u32>> {
        let right = |f: u32| {
            laying.planned[f as usize].is_some()
                && self.cables_of(laying, f) == u64::from(self.found.degree(f))
        };
        let mut open: Vec<bool> = (0..self.found.len() as u32).map(right).collect();
        let mut largest: Vec<u32> = Vec::new();
        for start in 0..self.found.len() as u32 {
            if !std::mem::replace(&mut open[start as usize], false) {
                continue;
            }
            let (mut part, mut at) = (vec![start], 0);
            while let Some(f) = part.get(at).copied() {
                at += 1;
                for (g, _) in &self.found.rows[f as usize] {
                    if std::mem::replace(&mut open[*g as usize], false) {
                        part.push(*g);
                    }
                }
            }
            if part.len() > largest.len() {
                largest = part;
            }
        }
        (!largest.is_empty()).then_some(largest)
    }

    /// Moves vertices to the places that their neighbours vote for, as long as more cables agree
    /// then. O(vertices * cables of a vertex^2) a round.
    pub(super) fn improve(&self, laying: &mut GraphLaying, draw: &mut RandomStream) {
        let mut order: Vec<u32> = (0..self.found.len() as u32).collect();
        let mut votes = PlaceVotes { of: vec![0; self.plan.len()], given: Vec::new() };
        for _ in 0..ROUNDS {
            draw.shuffle(&mut order);
            let mut moved = false;
            for &f in &order {
                moved |= self.improve_one(laying, f, &mut votes);
            }
            if !moved {
                break;
            }
        }
    }

    fn improve_one(&self, laying: &mut GraphLaying, f: u32, votes: &mut PlaceVotes) -> bool {
        let own = laying.planned[f as usize];
        // all its cables are as planned
        if own.is_some() && self.cables_of(laying, f) == u64::from(self.found.degree(f)) {
            return false;
        }
        for (to, cables) in &self.found.rows[f as usize] {
            let Some(there) = laying.planned[*to as usize] else { continue };
            for (p, planned) in &self.plan.rows[there as usize] {
                votes.give(*p, *planned.min(cables));
            }
        }
        let now = own.map_or(0, |own| votes.of[own as usize]);
        let mut best: Vec<(u32, u32)> = Vec::new();
        for p in votes.given.drain(..) {
            let n = std::mem::take(&mut votes.of[p as usize]);
            let kinds = self.plan.is_switch(p) == self.found.is_switch(f);
            if Some(p) != own && n >= now && kinds {
                best.push((n, p));
            }
        }
        best.sort_unstable_by(|a, b| b.cmp(a));
        best.into_iter().take(3).any(|(_, p)| self.exchange(laying, f, p))
    }

    /// Moves a found vertex to a place, and the vertex there to the place that is left, if that is
    /// better.
    fn exchange(&self, laying: &mut GraphLaying, f: u32, place: u32) -> bool {
        let (own, other) = (laying.planned[f as usize], laying.found[place as usize]);
        let before = self.at_both(laying, f, other);
        let set = |laying: &mut GraphLaying, of_f: Option<u32>, of_other: Option<u32>| {
            for p in [of_f, of_other].into_iter().flatten() {
                laying.found[p as usize] = None;
            }
            laying.planned[f as usize] = of_f;
            if let Some(p) = of_f {
                laying.found[p as usize] = Some(f);
            }
            if let Some(other) = other {
                laying.planned[other as usize] = of_other;
                if let Some(p) = of_other {
                    laying.found[p as usize] = Some(other);
                }
            } else if let Some(p) = of_other {
                laying.found[p as usize] = None;
            }
        };
        set(laying, Some(place), own);
        let after = self.at_both(laying, f, other);
        if after > before {
            laying.agreeing += after - before;
            return true;
        }
        set(laying, own, Some(place));
        false
    }

    /// Whether nothing differs.
    pub(super) fn is_exact(&self, laying: &GraphLaying) -> bool {
        self.plan.len() == self.found.len()
            && self.plan.size() == laying.agreeing
            && self.found.size() == laying.agreeing
    }
}
