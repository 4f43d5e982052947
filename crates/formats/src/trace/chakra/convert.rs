//! Traces of all ranks as one schedule.

use super::node::{ChakraCollective, ChakraMessage, ChakraNode, ChakraNodeKind, ChakraTrace};
use base::fields::whole;
use base::{ComputationError, ProgressWatch, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use traffic::workload::collective::{CollectiveAlgorithmName, CollectiveCall, CollectiveOperation};
use traffic::workload::parameters::ComputeRateParameter;
use traffic::workload::{
    RankProgram, RankScriptWriter, Schedule, ScheduleOperation, schedule_of, tag,
};

/// How traces become a schedule.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ChakraParameters {
    #[serde(default)]
    gflops: ComputeRateParameter,
    /// Time of what is no communication, percent.
    #[serde(default = "whole::<100>")]
    #[schemars(range(max = 100_000))]
    compute_percent: u64,
    /// 1: communication has a processor of its own.
    #[serde(default = "whole::<1>")]
    #[schemars(range(max = 1))]
    overlap: u64,
    #[serde(default = "ring")]
    allreduce: CollectiveAlgorithmName<{ CollectiveOperation::Allreduce as u8 }>,
    #[serde(default)]
    reduce: CollectiveAlgorithmName<{ CollectiveOperation::Reduce as u8 }>,
    #[serde(default = "ring_allgather")]
    allgather: CollectiveAlgorithmName<{ CollectiveOperation::Allgather as u8 }>,
    #[serde(default)]
    gather: CollectiveAlgorithmName<{ CollectiveOperation::Gather as u8 }>,
    #[serde(default)]
    scatter: CollectiveAlgorithmName<{ CollectiveOperation::Scatter as u8 }>,
    #[serde(default)]
    broadcast: CollectiveAlgorithmName<{ CollectiveOperation::Broadcast as u8 }>,
    #[serde(default = "pairwise")]
    alltoall: CollectiveAlgorithmName<{ CollectiveOperation::Alltoall as u8 }>,
    #[serde(default)]
    reduce_scatter: CollectiveAlgorithmName<{ CollectiveOperation::ReduceScatter as u8 }>,
    #[serde(default)]
    barrier: CollectiveAlgorithmName<{ CollectiveOperation::Barrier as u8 }>,
}

fn ring() -> CollectiveAlgorithmName<{ CollectiveOperation::Allreduce as u8 }> {
    CollectiveAlgorithmName::new("allreduce_ring")
}

fn ring_allgather() -> CollectiveAlgorithmName<{ CollectiveOperation::Allgather as u8 }> {
    CollectiveAlgorithmName::new("allgather_ring")
}

fn pairwise() -> CollectiveAlgorithmName<{ CollectiveOperation::Alltoall as u8 }> {
    CollectiveAlgorithmName::new("alltoall_pairwise")
}

/// The operations of the schema by their numbers.
const OPERATIONS: [CollectiveOperation; 10] = [
    CollectiveOperation::Allreduce,
    CollectiveOperation::Reduce,
    CollectiveOperation::Allgather,
    CollectiveOperation::Gather,
    CollectiveOperation::Scatter,
    CollectiveOperation::Broadcast,
    CollectiveOperation::Alltoall,
    CollectiveOperation::ReduceScatter,
    CollectiveOperation::ReduceScatter,
    CollectiveOperation::Barrier,
];

impl ChakraParameters {
    /// The algorithm of an operation by its name in the table, and whether the bytes that a rank
    /// puts in are divided among all ranks.
    fn algorithm(&self, operation: CollectiveOperation) -> (&'static str, bool) {
        match operation {
            CollectiveOperation::Allreduce => (self.allreduce.name(), false),
            CollectiveOperation::Reduce => (self.reduce.name(), false),
            CollectiveOperation::Allgather => (self.allgather.name(), false),
            CollectiveOperation::Gather => (self.gather.name(), false),
            CollectiveOperation::Scatter => (self.scatter.name(), true),
            CollectiveOperation::Broadcast => (self.broadcast.name(), false),
            CollectiveOperation::Alltoall => (self.alltoall.name(), true),
            CollectiveOperation::ReduceScatter => (self.reduce_scatter.name(), true),
            _ => (self.barrier.name(), false),
        }
    }
}

/// The schedule of the traces of ranks 0, 1, ..., with their names for refusals.
///
/// A node begins when all have ended that it waits for. The n-th collective operation of a group,
/// in the order of the file, is one of all ranks whose traces name the group. O(nodes + operations
/// of the schedule).
///
/// # Errors
/// When a node waits for one that does not exist, nodes wait for one another in a cycle, a rank is
/// out of range, or ranks of a group do not do the same operations; when there would be too many
/// operations, or `watch` asks to stop.
pub(super) fn schedule(
    traces: &[(String, ChakraTrace)],
    with: &ChakraParameters,
    watch: &dyn ProgressWatch,
) -> Result<Schedule, ComputationError> {
    let ranks = u32::try_from(traces.len()).unwrap_or(u32::MAX);
    if ranks == 0 {
        return Err(Refusal::new("traces", "there is none", "a file for each rank").into());
    }
    let mut orders = Vec::with_capacity(traces.len());
    for (name, trace) in traces {
        watch.tick("traces", orders.len() as u64, ranks.into())?;
        orders.push(order(&trace.nodes).map_err(|refused| refused.within(name))?);
        for node in &trace.nodes {
            check(node, ranks).map_err(|refused| refused.within(name))?;
        }
    }
    let (groups, calls) = meetings(traces, with)?;
    let program = ChakraTraces {
        all: traces,
        orders,
        tags: tags(traces),
        groups,
        calls,
        gflops: with.gflops.0,
        percent: with.compute_percent,
        cpu: with.overlap as u8,
    };
    schedule_of(&program, watch)
}

fn refuse_node(node: &ChakraNode, why: &str, help: &str) -> Refusal {
    Refusal::new(format!("node {} ({})", node.id, node.name), why, help)
}

/// Checks that the other ranks that a node names exist.
fn check(node: &ChakraNode, ranks: u32) -> Result<(), Refusal> {
    let other = match &node.kind {
        ChakraNodeKind::Send(ChakraMessage { rank, .. })
        | ChakraNodeKind::Receive(ChakraMessage { rank, .. }) => Some(*rank),
        ChakraNodeKind::Together(together) => together.root,
        ChakraNodeKind::Local(_) => None,
    };
    match other.filter(|rank| *rank >= ranks) {
        None => Ok(()),
        Some(rank) => {
            let why = format!("there is no rank {rank}");
            Err(refuse_node(node, &why, &format!("0 to {}, a trace for each", ranks - 1)))
        }
    }
}

/// An order in which every node comes after those that it waits for, else that of the file.
fn order(nodes: &[ChakraNode]) -> Result<Vec<u32>, Refusal> {
    let places: HashMap<u64, u32> = (0..).zip(nodes).map(|(i, node)| (node.id, i)).collect();
    let mut counts = vec![0_u32; nodes.len()];
    let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for (i, node) in (0..).zip(nodes) {
        for id in &node.after {
            let Some(&before) = places.get(id) else {
                let why = format!("it waits for node {id}, which is not there");
                return Err(refuse_node(node, &why, "numbers of nodes of the same trace"));
            };
            waiting[before as usize].push(i);
            counts[i as usize] += 1;
        }
    }
    let free = (0..).zip(&counts).filter(|(_, n)| **n == 0).map(|(i, _)| Reverse(i));
    let mut free: BinaryHeap<Reverse<u32>> = free.collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(node)) = free.pop() {
        order.push(node);
        for &next in &waiting[node as usize] {
            counts[next as usize] -= 1;
            if counts[next as usize] == 0 {
                free.push(Reverse(next));
            }
        }
    }
    match counts.iter().position(|n| *n > 0) {
        None => Ok(order),
        Some(stuck) => {
            let help = "a node waits for none that waits for it";
            Err(refuse_node(&nodes[stuck], "it waits for itself, over others", help))
        }
    }
}

/// Numbers for the tags of messages between two ranks.
fn tags(traces: &[(String, ChakraTrace)]) -> BTreeMap<u32, u32> {
    let nodes = traces.iter().flat_map(|(_, trace)| &trace.nodes);
    let all: BTreeSet<u32> = nodes
        .filter_map(|node| match node.kind {
            ChakraNodeKind::Send(peer) | ChakraNodeKind::Receive(peer) => Some(peer.tag),
            _ => None,
        })
        .collect();
    all.into_iter().zip(0..).collect()
}

/// The ranks of a group in their order, and the number of its first collective operation.
struct ChakraProcessGroup {
    ranks: Vec<u32>,
    first: u64,
}

type ProcessGroups<'a> = BTreeMap<&'a str, ChakraProcessGroup>;

/// All groups, and their collective operations one after the other.
fn meetings<'a>(
    traces: &'a [(String, ChakraTrace)],
    with: &ChakraParameters,
) -> Result<(ProcessGroups<'a>, Vec<CollectiveCall>), ComputationError> {
    // of every group the operations of each of its ranks
    let mut all: BTreeMap<&str, Vec<(u32, Vec<&ChakraNode>)>> = BTreeMap::new();
    for (rank, (_, trace)) in (0..).zip(traces) {
        for node in &trace.nodes {
            let ChakraNodeKind::Together(together) = &node.kind else { continue };
            let of = all.entry(&together.group).or_default();
            if of.last().is_none_or(|(last, _)| *last != rank) {
                of.push((rank, Vec::new()));
            }
            of.last_mut().expect("it was put there").1.push(node);
        }
    }
    if let Some(of) = all.get("")
        && let Some(missing) = (0..traces.len() as u32)
            .zip(of.iter().map(|of| of.0).chain([u32::MAX]))
            .find(|(wanted, found)| wanted != found)
    {
        let name = &traces[missing.0 as usize].0;
        let why = "it has none of the collective operations of all ranks";
        return Err(Refusal::new(name, why, "as many as the others, or names of groups").into());
    }
    let (mut groups, mut calls) = (BTreeMap::new(), Vec::new());
    for (name, of) in all {
        let ranks: Vec<u32> = of.iter().map(|(rank, _)| *rank).collect();
        let first = calls.len() as u64;
        for (number, node) in of[0].1.iter().enumerate() {
            for (rank, nodes) in &of[1..] {
                agree(node, nodes.get(number).copied(), (&traces[of[0].0 as usize].0, number))
                    .map_err(|refused| refused.within(&traces[*rank as usize].0))?;
            }
            calls.push(meeting(node, &ranks, with)?);
        }
        if let Some((rank, nodes)) = of.iter().find(|(_, nodes)| nodes.len() > of[0].1.len()) {
            let node = nodes[of[0].1.len()];
            let why = format!("{} does not take part in it", traces[of[0].0 as usize].0);
            let refused = refuse_node(node, &why, "the same operations at all ranks of a group");
            return Err(refused.within(&traces[*rank as usize].0).into());
        }
        groups.insert(name, ChakraProcessGroup { ranks, first });
    }
    Ok((groups, calls))
}

/// Checks that a rank has the same operation as the first rank of its group: the one of this
/// `number`.
fn agree(
    first: &ChakraNode,
    other: Option<&ChakraNode>,
    (name, number): (&str, usize),
) -> Result<(), Refusal> {
    let said = |node: &ChakraNode| match &node.kind {
        // the two kinds of reduce-scatter differ in their calls alone
        ChakraNodeKind::Together(t) if t.operation == 8 => {
            ChakraCollective { operation: 7, ..t.clone() }
        }
        ChakraNodeKind::Together(t) => t.clone(),
        _ => unreachable!("these are collective operations"),
    };
    let wanted = said(first);
    let words = |t: &ChakraCollective| {
        let root = t.root.map(|root| format!(", root {root}")).unwrap_or_default();
        format!("{} of {} bytes{root}", OPERATIONS[t.operation as usize].name(), t.bytes)
    };
    let Some(node) = other else {
        let why = format!("it lacks operation {} of its group, a {}", number + 1, words(&wanted));
        return Err(Refusal::new("", why, format!("those of {name}")));
    };
    let found = said(node);
    if found == wanted {
        return Ok(());
    }
    let why = format!("{}, where node {} of {name} is {}", words(&found), first.id, words(&wanted));
    Err(refuse_node(node, &why, "the same operations at all ranks of a group"))
}

/// The collective operation that a node stands for, on these ranks.
fn meeting(
    node: &ChakraNode,
    ranks: &[u32],
    with: &ChakraParameters,
) -> Result<CollectiveCall, ComputationError> {
    let ChakraNodeKind::Together(together) = &node.kind else { unreachable!("it is one") };
    let operation = OPERATIONS[together.operation as usize];
    let (algorithm, is_divided) = with.algorithm(operation);
    let bytes = match operation {
        CollectiveOperation::Barrier => 1,
        _ if is_divided => together.bytes.div_ceil(ranks.len() as u64),
        _ => together.bytes,
    };
    let root = match together.root {
        None => 0,
        Some(root) => ranks.iter().position(|rank| *rank == root).ok_or_else(|| {
            refuse_node(node, &format!("its root {root} is not of its group"), "a rank of it")
        })? as u32,
    };
    CollectiveCall::rooted(algorithm, ranks.len() as u32, root, bytes)
}

/// The traces of all ranks of a run.
struct ChakraTraces<'a> {
    all: &'a [(String, ChakraTrace)],
    orders: Vec<Vec<u32>>,
    tags: BTreeMap<u32, u32>,
    groups: ProcessGroups<'a>,
    calls: Vec<CollectiveCall>,
    gflops: u64,
    percent: u64,
    cpu: u8,
}

impl ChakraTraces<'_> {
    /// How long a node without communication takes: the time in the trace, else that of its
    /// operations.
    fn local_ns(&self, node: &ChakraNode, operations: u64) -> u64 {
        let by_rate = operations.checked_div(self.gflops).unwrap_or(0);
        let ns = if node.duration_ns > 0 { node.duration_ns } else { by_rate };
        u64::try_from(u128::from(ns) * u128::from(self.percent) / 100).unwrap_or(u64::MAX)
    }

    /// Adds a collective operation of a group to the schedule.
    fn together(
        &self,
        rank: u32,
        number: u64,
        group: &ChakraProcessGroup,
        to: &mut RankScriptWriter<'_>,
        after: &[u32],
    ) -> Vec<u32> {
        let (call, members) = (&self.calls[number as usize], &group.ranks);
        let me = members.binary_search(&rank).expect("it is of the group") as u32;
        let named = |other: u32| members[other as usize];
        // tags of messages between two ranks come before all others
        let behind = (self.tags.len() as u64).div_ceil(u64::from(tag(1)));
        to.collective(call, me, &named, tag(behind + number), after)
    }
}

impl RankProgram for ChakraTraces<'_> {
    fn ranks(&self) -> u32 {
        self.all.len() as u32
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let nodes = &self.all[rank as usize].1.nodes;
        // collective operations have their numbers by the order of the file
        let mut seen: HashMap<&str, u64> = HashMap::new();
        let numbers: Vec<u64> = nodes
            .iter()
            .map(|node| {
                let ChakraNodeKind::Together(together) = &node.kind else { return 0 };
                let next = seen.entry(&together.group).or_insert(0);
                *next += 1;
                self.groups[together.group.as_str()].first + *next - 1
            })
            .collect();
        let mut ends: HashMap<u64, Vec<u32>> = HashMap::new();
        for &place in &self.orders[rank as usize] {
            if to.is_over() {
                return;
            }
            let node = &nodes[place as usize];
            let mut after: Vec<u32> = node.after.iter().flat_map(|id| &ends[id]).copied().collect();
            after.sort_unstable();
            after.dedup();
            let end = match &node.kind {
                ChakraNodeKind::Local(operations) => {
                    to.on(0);
                    let after = to.join(&after);
                    to.calc(self.local_ns(node, *operations), &after)
                }
                ChakraNodeKind::Send(peer) => {
                    to.on(self.cpu);
                    vec![to.add(
                        ScheduleOperation::send(peer.bytes, peer.rank, self.tags[&peer.tag]),
                        &after,
                    )]
                }
                ChakraNodeKind::Receive(peer) => {
                    to.on(self.cpu);
                    vec![to.add(
                        ScheduleOperation::recv(peer.bytes, peer.rank, self.tags[&peer.tag]),
                        &after,
                    )]
                }
                ChakraNodeKind::Together(together) => {
                    to.on(self.cpu);
                    let group = &self.groups[together.group.as_str()];
                    let ends = self.together(rank, numbers[place as usize], group, to, &after);
                    to.join(&ends)
                }
            };
            ends.insert(node.id, end);
        }
    }
}
