//! Tests of traces that are written byte by byte, read and converted, and of bytes that are no
//! trace.

use super::node::{ChakraCollective, ChakraMessage, ChakraNode, ChakraNodeKind, ChakraTrace};
use super::parse::parse;
use super::{ENTRY, convert};
use crate::trace::kind::GivenParameters;
use base::{ComputationError, QuietWatch};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, json};
use std::collections::BTreeMap;
use traffic::workload::{OperationKind as Does, Schedule, WorkloadRequest};

fn varint(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

fn number(field: u32, value: u64, to: &mut Vec<u8>) {
    varint(u64::from(field) << 3, to);
    varint(value, to);
}

fn bytes(field: u32, value: &[u8], to: &mut Vec<u8>) {
    varint(u64::from(field) << 3 | 2, to);
    varint(value.len() as u64, to);
    to.extend_from_slice(value);
}

/// An attribute whose number is written as the given field of the schema.
fn written_as(name: &str, field: u32, value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(1, name.as_bytes(), &mut out);
    match field {
        15 | 17 => number(field, ((value << 1) ^ (value >> 63)) as u64, &mut out),
        19 | 23 => {
            varint(u64::from(field) << 3 | 5, &mut out);
            out.extend_from_slice(&(value as u32).to_le_bytes());
        }
        21 | 25 => {
            varint(u64::from(field) << 3 | 1, &mut out);
            out.extend_from_slice(&value.to_le_bytes());
        }
        29 => bytes(29, value.to_string().as_bytes(), &mut out),
        _ => number(field, value as u64, &mut out),
    }
    out
}

/// Every type of the schema that has whole numbers, and text.
const FIELDS: [u32; 11] = [7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 29];

fn said(node: &ChakraNode, draw: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut out = Vec::new();
    number(1, node.id, &mut out);
    bytes(2, node.name.as_bytes(), &mut out);
    let mut attributes: Vec<(&str, u64)> = Vec::new();
    let mut texts: Vec<(&str, &str)> = Vec::new();
    let node_type = match &node.kind {
        ChakraNodeKind::Local(operations) => {
            attributes.push(("num_ops", *operations));
            4
        }
        ChakraNodeKind::Send(peer) | ChakraNodeKind::Receive(peer) => {
            let is_send = matches!(node.kind, ChakraNodeKind::Send(_));
            let other = if is_send { "comm_dst" } else { "comm_src" };
            attributes.push((other, peer.rank.into()));
            attributes.extend([("comm_size", peer.bytes), ("comm_tag", peer.tag.into())]);
            if is_send { 5 } else { 6 }
        }
        ChakraNodeKind::Together(together) => {
            attributes.push(("comm_type", together.operation));
            attributes.push(("comm_size", together.bytes));
            attributes.extend(together.root.map(|root| ("root_rank", root.into())));
            texts.push(("comm_group", &together.group));
            7
        }
    };
    number(3, node_type, &mut out);
    // half of the dependencies as a packed field, the others as fields one by one
    let half = node.after.len() / 2;
    let mut packed = Vec::new();
    for id in &node.after[..half] {
        varint(*id, &mut packed);
    }
    if half > 0 {
        bytes(4, &packed, &mut out);
    }
    for id in &node.after[half..] {
        number(5, *id, &mut out);
    }
    number(7, node.duration_ns / 1000, &mut out);
    bytes(8, b"\x0a\x01x", &mut out);
    for (name, value) in attributes {
        let field = FIELDS[draw(FIELDS.len())];
        bytes(10, &written_as(name, field, value as i64), &mut out);
    }
    for (name, value) in texts.into_iter().filter(|text| !text.1.is_empty()) {
        let mut attribute = Vec::new();
        bytes(1, name.as_bytes(), &mut attribute);
        bytes(29, value.as_bytes(), &mut attribute);
        bytes(10, &attribute, &mut out);
    }
    out
}

fn file(trace: &ChakraTrace, mut draw: impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut out = Vec::new();
    if !trace.version.is_empty() {
        let mut about = Vec::new();
        bytes(1, trace.version.as_bytes(), &mut about);
        bytes(2, &written_as("a", 9, -3), &mut about);
        varint(about.len() as u64, &mut out);
        out.extend(about);
    }
    for node in &trace.nodes {
        let node = said(node, &mut draw);
        varint(node.len() as u64, &mut out);
        out.extend(node);
    }
    out
}

fn node(id: u64, after: &[u64], kind: ChakraNodeKind) -> ChakraNode {
    ChakraNode { id, name: format!("n{id}"), after: after.to_vec(), duration_ns: 0, kind }
}

fn local(id: u64, after: &[u64], micros: u64) -> ChakraNode {
    ChakraNode { duration_ns: micros * 1000, ..node(id, after, ChakraNodeKind::Local(0)) }
}

fn together(operation: u64, bytes: u64, group: &str, root: Option<u32>) -> ChakraNodeKind {
    ChakraNodeKind::Together(ChakraCollective { operation, bytes, group: group.to_owned(), root })
}

fn traces(all: Vec<Vec<ChakraNode>>) -> Vec<(String, ChakraTrace)> {
    let one =
        |(rank, nodes)| (format!("it.{rank}.et"), ChakraTrace { version: "0.0.4".into(), nodes });
    (0..).zip(all).map(one).collect()
}

fn schedule(
    traces: &[(String, ChakraTrace)],
    given: &GivenParameters,
) -> Result<Schedule, ComputationError> {
    let request = WorkloadRequest::new(ENTRY.part, given, &QuietWatch)?;
    convert::schedule(traces, &request.read()?, &QuietWatch)
}

fn made(all: Vec<Vec<ChakraNode>>, given: &serde_json::Value) -> Schedule {
    let given = given.as_object().expect("a table").clone();
    schedule(&traces(all), &given).expect("a schedule")
}

fn refused(all: Vec<Vec<ChakraNode>>) -> String {
    schedule(&traces(all), &Map::new()).expect_err("refused").to_string()
}

/// Messages and bytes from rank to rank.
fn sent(of: &Schedule) -> BTreeMap<(u32, u32), (u64, u64)> {
    let mut all = BTreeMap::new();
    for (number, op) in (0..).zip(of.ops()) {
        if op.kind == Does::Send {
            let pair = all.entry((of.rank_of(number), op.peer)).or_insert((0, 0));
            *pair = (pair.0 + 1, pair.1 + op.size);
        }
    }
    all
}

fn any_node(id: u64) -> impl Strategy<Value = ChakraNode> {
    let kind = prop_oneof![
        (0_u64..1 << 31).prop_map(ChakraNodeKind::Local),
        (0_u32..50, 0_u64..1 << 31, 0_u32..9000).prop_map(|(rank, bytes, tag)| {
            ChakraNodeKind::Send(ChakraMessage { rank, bytes, tag })
        }),
        (0_u32..50, 0_u64..1 << 31, 0_u32..9000).prop_map(|(rank, bytes, tag)| {
            ChakraNodeKind::Receive(ChakraMessage { rank, bytes, tag })
        }),
        (0_u64..10, 0_u64..1 << 31, "[a-z]{0,3}", proptest::option::of(0_u32..50))
            .prop_map(|(operation, bytes, group, root)| together(operation, bytes, &group, root)),
    ];
    let after = proptest::collection::vec(0..=id, 0..4);
    (kind, after, 0_u64..1 << 40).prop_map(move |(kind, after, micros)| ChakraNode {
        id,
        name: format!("node {id}"),
        after,
        duration_ns: micros * 1000,
        kind,
    })
}

prop_compose! {
    fn any_trace()(count in 1_u64..8)(
        nodes in (0..count).map(any_node).collect::<Vec<_>>(),
        version in prop_oneof![Just(""), Just("0.0.4")],
    ) -> ChakraTrace {
        ChakraTrace { version: version.to_owned(), nodes }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(trace in any_trace(), picks in any::<[u8; 16]>()) {
        let mut next = 0;
        let content = file(&trace, |n| {
            next += 1;
            usize::from(picks[next % 16]) % n
        });
        prop_assert_eq!(parse(&content, &QuietWatch).expect("a trace"), trace);
    }

    #[test]
    fn bytes_that_are_none_are_refused_or_read(
        trace in any_trace(),
        cut in any::<usize>(),
        changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..4),
    ) {
        let mut content = file(&trace, |_| 0);
        content.truncate(cut % (content.len() + 1));
        for (place, byte) in changes {
            if let Some(at) = place.checked_rem(content.len()) {
                content[at] = byte;
            }
        }
        // what can be read can be converted or is refused
        if let Ok(trace) = parse(&content, &QuietWatch) {
            let few = |node: &ChakraNode| match &node.kind {
                ChakraNodeKind::Together(t) => t.bytes < 1 << 20,
                _ => true,
            };
            if trace.nodes.iter().all(few) {
                let _ = schedule(&[("it".to_owned(), trace)], &Map::new());
            }
        }
    }

    #[test]
    fn nodes_wait_for_what_the_trace_says(
        after in proptest::collection::vec(proptest::collection::vec(any::<u64>(), 0..4), 1..12),
    ) {
        // computation alone, in a graph of any shape: each ends after the longest chain before it
        let nodes: Vec<ChakraNode> = (0..).zip(&after).map(|(id, before)| {
            let before: Vec<u64> = before.iter().filter_map(|b| b.checked_rem(id)).collect();
            local(id, &before, id % 4)
        }).collect();
        let mut ends: Vec<u64> = Vec::new();
        for node in &nodes {
            let begin = node.after.iter().map(|id| ends[*id as usize]).max().unwrap_or(0);
            ends.push(begin + node.duration_ns);
        }
        // the file has them in reverse order
        let found = made(vec![nodes.into_iter().rev().collect()], &json!({}));
        let (mut longest, mut begins) = (0, vec![0; found.ops().len()]);
        let mut counts = found.counts();
        let mut free: Vec<u32> = (0..).zip(&counts).filter(|c| *c.1 == 0).map(|c| c.0).collect();
        while let Some(op) = free.pop() {
            let end = begins[op as usize] + found.ops()[op as usize].size;
            longest = longest.max(end);
            for &next in found.require(op) {
                begins[next as usize] = end.max(begins[next as usize]);
                counts[next as usize] -= 1;
                if counts[next as usize] == 0 {
                    free.push(next);
                }
            }
        }
        prop_assert_eq!(longest, ends.into_iter().max().unwrap_or(0));
    }
}

#[test]
fn bytes_of_the_documentation_are_read() {
    // protobuf.dev, Encoding: 150 is 96 01; here a node of that number, of type 4, for 5 us
    let trace = parse(&[7, 0x08, 0x96, 0x01, 0x18, 4, 0x38, 5], &QuietWatch).expect("a trace");
    assert_eq!(trace.version, "");
    assert_eq!(trace.nodes[0].id, 150);
    assert_eq!(
        (trace.nodes[0].duration_ns, &trace.nodes[0].kind),
        (5000, &ChakraNodeKind::Local(0))
    );
}

#[test]
fn every_operation_moves_what_its_schema_says() {
    // three ranks; bytes that all ranks send in sum, by the usual counts of each algorithm
    let (n, size) = (3, 6000_u64);
    for (operation, wanted) in [
        (0, 2 * (n - 1) * size), // a ring: 2 (n-1)/n of the vector from each
        (1, (n - 1) * size),     // a tree of n - 1 edges
        (2, n * (n - 1) * size), // each block to all others
        (3, 2 * size),           // two blocks to the root of three
        (4, 2 * size / n),       // a part to each of two
        (5, (n - 1) * size),
        (6, (n - 1) * size), // (n-1)/n of what each puts in
        (7, (n - 1) * size), // the same
        (8, (n - 1) * size),
    ] {
        let ranks = (0..n).map(|_| vec![node(7, &[], together(operation, size, "", None))]);
        let found = made(ranks.collect(), &json!({}));
        let bytes: u64 = sent(&found).values().map(|pair| pair.1).sum();
        assert_eq!(bytes, wanted, "operation {operation}");
    }
}

#[test]
fn groups_and_roots_are_those_of_the_trace() {
    let of = |group: &str, root| vec![node(1, &[], together(5, 100, group, root))];
    let ranks =
        vec![of("a", Some(2)), of("b", None), of("a", Some(2)), of("b", None), of("a", Some(2))];
    let found = sent(&made(ranks, &json!({ "broadcast": "linear" })));
    let wanted = BTreeMap::from([((2, 4), (1, 100)), ((2, 0), (1, 100)), ((1, 3), (1, 100))]);
    assert_eq!(found, wanted);
}

#[test]
fn messages_find_each_other() {
    let peer = |rank, tag| ChakraMessage { rank, bytes: 10 + u64::from(tag), tag };
    let zero = vec![
        local(0, &[], 3),
        node(1, &[0], ChakraNodeKind::Send(peer(1, 5))),
        node(2, &[1], together(9, 0, "", None)),
        node(3, &[2], ChakraNodeKind::Receive(peer(1, 900))),
    ];
    let one = vec![
        node(9, &[], ChakraNodeKind::Receive(peer(0, 5))),
        node(8, &[9], together(9, 0, "", None)),
        node(3, &[8], ChakraNodeKind::Send(peer(0, 900))),
    ];
    let found = made(vec![zero, one], &json!({}));
    assert!(found.cycle().is_none());
    let mut tags: BTreeMap<(u32, u32, u32), i32> = BTreeMap::new();
    for (number, op) in (0..).zip(found.ops()) {
        let me = found.rank_of(number);
        match op.kind {
            Does::Send => *tags.entry((me, op.peer, op.tag)).or_default() += 1,
            Does::Recv => *tags.entry((op.peer, me, op.tag)).or_default() -= 1,
            Does::Calc => {}
        }
    }
    assert!(tags.len() == 4 && tags.values().all(|n| *n == 0), "{tags:?}");
    // communication has a processor of its own, or not
    assert_eq!(found.cpus(), 2);
    let nodes = vec![local(0, &[], 3), node(1, &[0], together(9, 0, "", None))];
    assert_eq!(made(vec![nodes.clone(), nodes], &json!({ "overlap": 0 })).cpus(), 1);
}

#[test]
fn time_is_that_of_the_trace_or_of_its_operations() {
    let timed = local(0, &[], 7);
    let counted = node(1, &[0], ChakraNodeKind::Local(6000));
    for (given, ns) in [
        (json!({}), 7000),
        (json!({ "gflops": 3 }), 9000),
        (json!({ "gflops": 3, "compute_percent": 50 }), 4500),
    ] {
        let found = made(vec![vec![timed.clone(), counted.clone()]], &given);
        assert!((found.calculated_ns() - f64::from(ns)).abs() < 1e-9);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let barrier = |id| node(id, &[], together(9, 0, "", None));
    let sum = |bytes| node(4, &[], together(0, bytes, "g", None));
    for (all, expected) in [
        (vec![vec![local(0, &[3], 1)]], "it.0.et: node 0 (n0): it waits for node 3, which is not"),
        (vec![vec![local(0, &[1], 1), local(1, &[0], 1)]], "node 0 (n0): it waits for itself"),
        (
            vec![vec![node(
                0,
                &[],
                ChakraNodeKind::Send(ChakraMessage { rank: 4, bytes: 1, tag: 0 }),
            )]],
            "there is no rank 4; 0 to 0",
        ),
        (vec![vec![barrier(0)], vec![local(0, &[], 1)]], "it.1.et: it has none of the collective"),
        (
            vec![vec![barrier(0), barrier(1)], vec![barrier(0)]],
            "it.1.et: it lacks operation 2 of its group, a barrier",
        ),
        (
            vec![vec![barrier(0)], vec![barrier(0), barrier(1)]],
            "it.1.et: node 1 (n1): it.0.et does not take part",
        ),
        (vec![vec![sum(8)], vec![sum(9)]], "allreduce of 9 bytes, where node 4 of it.0.et is"),
        (
            vec![vec![node(0, &[], together(5, 1, "g", Some(1)))], vec![local(0, &[], 1)]],
            "its root 1 is not of its group",
        ),
        (vec![], "traces: there is none"),
    ] {
        let refused = refused(all);
        assert!(refused.contains(expected), "{refused}");
    }
    for (content, expected) in [
        (&[][..], "byte 0: it is empty"),
        (&[5, 8, 1], "byte 1: the trace is cut off"),
        (&[0x80], "byte 0: the trace is cut off"),
        (&[2, 8, 0], "node 0 has type 0; 1 to 10"),
        (&[4, 8, 0, 0x18, 5], "comm_dst: node 0 has none"),
        (&[4, 8, 0, 0x18, 4, 4, 8, 0, 0x18, 4], "byte 5: node 0 comes twice"),
        (&[2, 0x0b, 0], "a field of the unknown kind 3"),
        (&[4, 0x0a, 2, 0x30, 0x2e], "there is no node"),
    ] {
        let refused = parse(content, &QuietWatch).expect_err("refused").to_string();
        assert!(refused.contains(expected), "{refused}");
    }
}
