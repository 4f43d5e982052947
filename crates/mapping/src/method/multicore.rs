//! Partition by endpoint: processes are split into parts as large as an endpoint with few bytes
//! between parts, then the parts are mapped.
//!
//! Source: Hoefler & Snir, ICS 2011, section 4.4 (multicore nodes: partition first).

use super::greedy::{fill, greedy};
use super::kind::{MappingMethod, MappingMethodEntry};
use super::partition::partition;
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::near::NearSiteLists;
use crate::problem::MappingProblem;
use crate::run::{MappingMethodInput, PreparedMappingProblem};
use crate::slots::ProcessSlots;
use base::part::PartDescription;
use base::{ComputationError, ProgressWatch, Refusal};
use traffic::communication::{CommunicationGraph, ProcessPairTraffic};

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<MulticoreMethod>();

/// The mapping method that cuts processes into parts as large as an endpoint, then maps these.
struct MulticoreMethod;

impl MappingMethod for MulticoreMethod {
    const PART: PartDescription =
        PartDescription::new("multicore", "parts as large as an endpoint, then these greedily");

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        _: u64,
    ) -> Result<(), ComputationError> {
        *at = multicore(&run.input(), run.metric, run.watch)?;
        Ok(())
    }
}

/// Partitions the processes, then maps the parts greedily. Endpoints are filled one after the
/// other; the last one gets what is left.
///
/// # Errors
/// When processes are pinned, endpoints have different numbers of slots, or `watch` says stop.
fn multicore<M: SiteMetric>(
    input: &MappingMethodInput<'_>,
    metric: &M,
    watch: &dyn ProgressWatch,
) -> Result<ProcessArrangement, ComputationError> {
    let problem = input.problem;
    let slots = problem.slots;
    problem.without_pins("multicore")?;
    let mut endpoints: Vec<u32> = (0..slots.count() as u32).map(|s| slots.endpoint(s)).collect();
    let per = endpoints.chunk_by(|a, b| a == b).next().map_or(1, <[u32]>::len);
    if endpoints.chunk_by(|a, b| a == b).any(|own| own.len() != per) {
        let why = "multicore takes as many slots on every endpoint";
        return Err(Refusal::new("method", why, "slots per endpoint, or another method").into());
    }
    endpoints.dedup();
    let parts = problem.processes.div_ceil(per);
    let size = |i: usize| (problem.processes - i * per).min(per) as u32;
    let sizes: Vec<u32> = (0..parts).map(size).collect();
    let row = |v: u32| problem.row(v).iter().map(|&(x, w)| (x, w as u64));
    let part = partition(problem.processes as u32, &sizes, row, input.seed, watch)?;
    let mut sent = Vec::new();
    for p in 0..problem.processes as u32 {
        for &(x, w) in problem.row(p) {
            let [from, to] = [p, x].map(|v| part[v as usize]);
            sent.push(ProcessPairTraffic { from, to, bytes: f64::from(w), messages: 1.0 });
        }
    }
    let quotient = CommunicationGraph::new(parts as u32, sent)?;
    let nodes = ProcessSlots::new(input.on, Some(&endpoints), Some(1))?;
    // there is one slot for each endpoint in the same order, so sites and distances are the same
    let inner = MappingProblem::new(&quotient, &nodes, &[], 1 << 8)?;
    let near = NearSiteLists::new(input.on, &nodes);
    let part_input = MappingMethodInput { problem: &inner, near: &near, ..*input };
    let placed = greedy(&part_input, metric);
    let mut taken = vec![0_u32; parts];
    let slot = |p: u32| {
        let own = part[p as usize];
        let k = taken[own as usize];
        taken[own as usize] += 1;
        placed.slot(own) * per as u32 + k
    };
    let order: Vec<u32> = (0..problem.processes as u32).map(slot).collect();
    let mut filled = vec![u32::MAX; slots.count()];
    filled[..order.len()].copy_from_slice(&order);
    Ok(fill(problem, filled))
}
