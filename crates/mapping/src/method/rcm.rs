//! Reverse Cuthill-McKee: processes and switches are both sorted in this order, and the k-th
//! process goes to the k-th slot.
//!
//! Source: Cuthill, `McKee`, "Reducing the bandwidth of sparse symmetric matrices", ACM 1969;
//! Hoefler & Snir, ICS 2011, section 4.3 (graph similarity).

use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::run::{MappingMethodInput, PreparedMappingProblem};
use crate::slots::switch_of;
use base::ComputationError;
use base::part::PartDescription;
use std::collections::HashMap;

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<CuthillMckeeMethod>();

/// The mapping method that orders processes and sites by reverse Cuthill-`McKee`.
struct CuthillMckeeMethod;

impl MappingMethod for CuthillMckeeMethod {
    const PART: PartDescription =
        PartDescription::new("rcm", "similar orders of both graphs, by reverse Cuthill-McKee");

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        _: u64,
    ) -> Result<(), ComputationError> {
        *at = rcm(&run.input());
        Ok(())
    }
}

/// Puts the k-th process of one order into the k-th slot of the other. O(edges log degree).
fn rcm(input: &MappingMethodInput<'_>) -> ProcessArrangement {
    let problem = input.problem;
    let of_process = |p: u32| problem.row(p).iter().map(|&(x, _)| x).collect();
    let processes = order(problem.processes as u32, of_process);
    let graph = input.on.graph();
    let switches = order(graph.switches() as u32, |s| graph.neighbours(s as usize).to_vec());
    let rank: HashMap<u32, u32> = switches.iter().copied().zip(0..).collect();
    let slots = problem.slots;
    let mut all: Vec<u32> = (0..slots.count() as u32).collect();
    let key = |slot: u32| rank[&switch_of(input.on, slots.rails(slots.site(slot))[0])];
    all.sort_by_key(|&slot| (key(slot), slot));
    ProcessArrangement::in_order(problem, &processes, &all)
}

/// The reverse Cuthill-McKee order of a graph: breadth first from a vertex of least degree,
/// neighbours by degree, reversed; component after component.
fn order(count: u32, neighbours: impl Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let degree: Vec<usize> = (0..count).map(|v| neighbours(v).len()).collect();
    let key = |v: &u32| (degree[*v as usize], *v);
    let mut starts: Vec<u32> = (0..count).collect();
    starts.sort_by_key(key);
    let mut seen = vec![false; count as usize];
    let mut found: Vec<u32> = Vec::with_capacity(count as usize);
    for start in starts {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut head = found.len();
        found.push(start);
        while let Some(&v) = found.get(head) {
            head += 1;
            let mut row = neighbours(v);
            row.sort_by_key(key);
            for w in row {
                if !std::mem::replace(&mut seen[w as usize], true) {
                    found.push(w);
                }
            }
        }
    }
    found.reverse();
    found
}
