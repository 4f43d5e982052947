//! Tests of every algorithm: its data flow, and its messages in closed form.

use super::follow::follow;
use super::*;
use crate::workload::{OperationKind, Schedule, WorkloadRequest, make};
use base::{ComputationError, QuietWatch};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn asked(ranks: u32, own: &Value) -> Map<String, Value> {
    let mut all = own.as_object().expect("a table").clone();
    all.insert("ranks".to_owned(), json!(ranks));
    all.entry("bytes").or_insert(json!(6000));
    all
}

/// An asymmetric matrix with some zeros.
fn matrix(ranks: u32) -> Value {
    let entry = |i: u32, j: u32| if (i + 2 * j).is_multiple_of(3) { 0 } else { 10 * i + j + 1 };
    json!((0..ranks).map(|i| (0..ranks).map(|j| entry(i, j)).collect()).collect::<Vec<Vec<u32>>>())
}

/// The parameters that all algorithms have.
const SHARED: [&str; 6] =
    ["ranks", "bytes", "add_ns_per_kib", "overlap_ns", "chunks", "overlap_cpu"];

/// Parameters to test: the defaults, and some others.
fn tried(entry: &CollectiveAlgorithmEntry, ranks: u32) -> Vec<Value> {
    let mut all = vec![json!({})];
    let schema = entry.part.schema();
    for (name, field) in schema["properties"].as_object().expect("a table") {
        match name.as_str() {
            shared if SHARED.contains(&shared) => {}
            "root" => all.extend([ranks - 1, ranks / 2].map(|rank| json!({ "root": rank }))),
            "graph" => all.extend([json!({ "graph": "torus" }), json!({ "graph": "random" })]),
            "grid" => all.push(json!({ "grid": format!("{ranks}x1"), "dimensions": 2 })),
            "matrix" if entry.part.has("graph") => {
                all.push(json!({ "matrix": matrix(ranks), "graph": "matrix" }));
            }
            "matrix" => all.push(json!({ "matrix": matrix(ranks) })),
            number => {
                assert_eq!(field["type"], "integer", "{number} is tried with other values");
                let most = field["maximum"].as_u64().unwrap_or(u64::MAX).min(5);
                all.extend([most, u64::midpoint(1, most)].map(|n| json!({ number: n })));
            }
        }
    }
    if entry.part.has("degree") {
        let more = (1..=5).map(|d| json!({ "graph": "random", "degree": d, "seed": d }));
        all.extend(more.filter(|own| own["degree"].as_u64() < Some(ranks.into())));
        all.retain(|own| own["graph"] != "random" || ranks > 4 || own["degree"].is_u64());
    }
    all
}

fn called(
    entry: &CollectiveAlgorithmEntry,
    ranks: u32,
    own: &Value,
) -> Result<CollectiveCall, ComputationError> {
    let given = asked(ranks, own);
    CollectiveCall::asked(entry, &WorkloadRequest::new(entry.part, &given, &QuietWatch)?)
}

#[test]
fn every_rank_ends_with_what_mpi_defines() {
    let mut followed = 0;
    // includes the algorithm of docs/adding-a-collective.md
    for entry in ALGORITHMS.iter().chain([&page_allgather_spread::ENTRY]) {
        for ranks in (1..=17).chain([24, 31, 32, 33]) {
            for own in tried(entry, ranks) {
                let call = match called(entry, ranks, &own) {
                    Ok(call) => call,
                    Err(refused) => {
                        let powers = refused.to_string().contains("a power of two");
                        assert!(
                            powers && !ranks.is_power_of_two(),
                            "{} {own} {refused}",
                            entry.part.name
                        );
                        continue;
                    }
                };
                let root = own["root"].as_u64().unwrap_or(0) as u32;
                follow(entry.part.name, &call, entry.operation, root);
                followed += 1;
            }
        }
    }
    assert!(followed > 1000, "{followed}");
}

fn made(name: &str, ranks: u32, own: &Value) -> Schedule {
    make(name, &asked(ranks, own), &QuietWatch).expect(name)
}

/// The most messages that a rank sends, the most bytes, and the bytes of all ranks.
fn sent(of: &Schedule) -> (u64, u64, u64) {
    let mut most = (0, 0);
    let mut all = 0;
    for rank in 0..of.ranks() {
        let ops = of.of_rank(rank);
        let sends = of.ops()[ops.start as usize..ops.end as usize].iter();
        let sizes: Vec<u64> =
            sends.filter(|o| o.kind == OperationKind::Send).map(|o| o.size).collect();
        most = (most.0.max(sizes.len() as u64), most.1.max(sizes.iter().sum()));
        all += sizes.iter().sum::<u64>();
    }
    (most.0, most.1, all)
}

#[test]
fn messages_and_bytes_are_those_of_the_papers() {
    let none = json!({});
    for p in [2_u32, 4, 8, 16] {
        let (n, log) = (u64::from(p), u64::from(p.ilog2()));
        let s = 6000;
        // a size that is divisible by all numbers of ranks: 6000 = 16 * 375
        for (name, messages, bytes) in [
            ("allreduce_ring", 2 * (n - 1), 2 * s * (n - 1) / n),
            ("allreduce_rabenseifner", 2 * log, 2 * s * (n - 1) / n),
            ("allreduce_recursive_doubling", log, log * s),
            ("allgather_ring", n - 1, (n - 1) * s),
            ("allgather_bruck", log, (n - 1) * s),
            ("allgather_recursive_doubling", log, (n - 1) * s),
            ("reduce_scatter_ring", n - 1, (n - 1) * s),
            ("reduce_scatter_halving", log, (n - 1) * s),
            ("alltoall_linear", n - 1, (n - 1) * s),
            ("alltoall_pairwise", n - 1, (n - 1) * s),
            ("alltoall_bruck", log, log * n / 2 * s),
            ("broadcast_binomial", log, log * s),
            ("broadcast_linear", n - 1, (n - 1) * s),
            ("broadcast_multicast", n, n * s),
            ("reduce_linear", 1, s),
            ("gather_linear", 1, s),
            ("scatter_linear", n - 1, (n - 1) * s),
            ("gather_binomial", 1, n / 2 * s),
            ("scatter_binomial", log, (n - 1) * s),
            ("barrier_dissemination", log, log * s),
            ("barrier_linear", n - 1, (n - 1) * s),
            // rank 0 sends its block and is done; of the others, the first one sends in all rounds
            ("exscan_doubling", 1 + u64::from((p - 1).next_power_of_two().ilog2()), {
                (1 + u64::from((p - 1).next_power_of_two().ilog2())) * s
            }),
        ] {
            let (most, largest, _) = sent(&made(name, p, &none));
            assert_eq!((most, largest), (messages, bytes), "{name} {p}");
        }
        let (_, _, all) = sent(&made("broadcast_binary", p, &none));
        assert_eq!(all, (n - 1) * s);
        let (_, _, all) = sent(&made("broadcast_multicast", p, &none));
        assert_eq!(all, 2 * (n - 1) * s);
        for name in ["broadcast_pipelined", "reduce_pipelined"] {
            let (most, largest, all) = sent(&made(name, p, &json!({ "segments": 6 })));
            assert_eq!((most, largest, all), (6, s, (n - 1) * s));
        }
        // every rank but two is an inner node of one tree: it sends one half up and, to each of two
        // children, one half down
        let (_, largest, all) = sent(&made("allreduce_double_tree", p, &json!({ "segments": 1 })));
        assert_eq!(all, 2 * (n - 1) * s);
        assert!(largest <= 2 * s, "{p} {largest}");
    }
    for (count, ranks, rounds) in [(1, 9, 4), (2, 9, 2), (2, 10, 3), (3, 16, 2), (7, 64, 2)] {
        let (most, ..) = sent(&made("barrier_dissemination", ranks, &json!({ "ways": count })));
        assert!(most <= count * rounds && most > count * (rounds - 1), "{count} {ranks} {most}");
    }
}

#[test]
fn neighbours_are_those_of_the_graph() {
    for name in ["neighbour_linear", "neighbour_coloured"] {
        // 4 x 3 x 2: two neighbours along the sides of 4 and of 3, one along the side of 2
        let torus = made(name, 24, &json!({ "grid": "4x3x2" }));
        assert_eq!(sent(&torus), (5, 5 * 6000, 24 * 5 * 6000));
        for (rank, steps) in [(0, [6, 18, 2, 4, 1]), (23, [5, 17, 19, 21, 22])] {
            let ops = torus.of_rank(rank);
            let ops = &torus.ops()[ops.start as usize..ops.end as usize];
            let mut to: Vec<u32> =
                ops.iter().filter(|op| op.kind == OperationKind::Send).map(|op| op.peer).collect();
            to.sort_unstable();
            let mut wanted = steps;
            wanted.sort_unstable();
            assert_eq!(to, wanted);
        }
        let given = made(name, 7, &json!({ "graph": "matrix", "matrix": matrix(7) }));
        let wanted: u64 = (0..7_u64)
            .flat_map(|i| (0..7).map(move |j| (i, j)))
            .filter(|(i, j)| i != j && (i + 2 * j) % 3 != 0)
            .map(|(i, j)| 10 * i + j + 1)
            .sum();
        assert_eq!(sent(&given).2, wanted);
    }
}

proptest! {
    /// In each round a rank sends at most one message and receives at most one. The number of
    /// rounds is the largest number of messages that a rank sends, or receives, which is the
    /// minimum.
    #[test]
    fn colours_are_as_few_as_can_be(
        ranks in 2_u32..14,
        pairs in proptest::collection::btree_set((0_u32..14, 0_u32..14), 0..90),
    ) {
        let all: Vec<exchange::ExchangeMessage> = pairs
            .into_iter()
            .filter(|(a, b)| a != b && a.max(b) < &ranks)
            .map(|(a, b)| (a, b, 1))
            .collect();
        let found = exchange::coloured(ranks, &all, &QuietWatch).expect("nobody stops it");
        let degree = |end: fn(&exchange::ExchangeMessage) -> u32| {
            (0..ranks).map(|r| all.iter().filter(|e| end(e) == r).count()).max().unwrap_or(0)
        };
        let most = degree(|e| e.0).max(degree(|e| e.1));
        prop_assert!(found.iter().all(|&colour| (colour as usize) < most));
        for (i, (one, a)) in all.iter().zip(&found).enumerate() {
            for (other, b) in all.iter().zip(&found).skip(i + 1) {
                prop_assert!(a != b || (one.0 != other.0 && one.1 != other.1));
            }
        }
    }

    /// With random neighbours, each rank sends to as many different ranks as it receives from.
    #[test]
    fn random_neighbours_are_regular(ranks in 2_u32..40, degree in 1_u32..20, seed in 0_u64..99) {
        prop_assume!(degree < ranks);
        let own = json!({ "graph": "random", "degree": degree, "seed": seed });
        let found = made("neighbour_linear", ranks, &own);
        for rank in 0..ranks {
            let ops = found.of_rank(rank);
            let ops = &found.ops()[ops.start as usize..ops.end as usize];
            for kind in [OperationKind::Send, OperationKind::Recv] {
                let peers = ops.iter().filter(|op| op.kind == kind).map(|op| op.peer);
                let mut peers: Vec<u32> = peers.collect();
                peers.sort_unstable();
                peers.dedup();
                prop_assert!(peers.len() == degree as usize && !peers.contains(&rank));
            }
        }
    }
}

/// The number of calculations, and their total time in ns.
fn calculated(of: &Schedule) -> (usize, u64) {
    let all: Vec<u64> =
        of.ops().iter().filter(|op| op.kind == OperationKind::Calc).map(|op| op.size).collect();
    (all.len(), all.iter().sum())
}

#[test]
fn adding_and_computation_meanwhile_take_their_time() {
    // each rank of the ring adds n - 1 blocks of 6000 / 8 = 750 bytes, at 1024 ns for each KiB
    let own = json!({ "add_ns_per_kib": 1024 });
    assert_eq!(calculated(&made("allreduce_ring", 8, &own)), (8 * 7, 8 * 7 * 750));
    assert_eq!(calculated(&made("reduce_linear", 8, &own)), (7, 7 * 6000));
    assert_eq!(calculated(&made("allreduce_ring", 8, &json!({}))), (0, 0));
    for (chunks, cpu) in [(1, 0), (7, 0), (7, 1)] {
        let own = json!({ "overlap_ns": 1000, "chunks": chunks, "overlap_cpu": cpu });
        let found = made("allgather_ring", 4, &own);
        assert_eq!(calculated(&found), (4 * chunks, 4000));
        assert_eq!(found.cpus(), cpu + 1);
        let alone = made("allgather_ring", 4, &json!({}));
        assert_eq!(found.dependencies() - alone.dependencies(), 4 * (chunks - 1));
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let over = json!([[0, 1], [2_u64.pow(41), 0]]);
    for (name, given, expected) in [
        ("allreduce_rings", json!({}), "did you mean allreduce_ring?"),
        (
            "allreduce_ring",
            json!({ "ranks": 4 }),
            "bytes: it is not given; a whole number from 0 to 1099511627776 (allreduce_ring takes",
        ),
        (
            "allreduce_ring",
            json!({ "ranks": 0, "bytes": 1 }),
            "ranks: 0 is out of range; a whole number from 1 to 16777216",
        ),
        ("allreduce_ring", json!({ "ranks": 1_000_000_000, "bytes": 1 }), "from 1 to 16777216"),
        (
            "allreduce_ring",
            json!({ "ranks": 4, "bytes": 1, "root": 1 }),
            "root: there is no such parameter",
        ),
        ("broadcast_binary", json!({ "ranks": 4, "bytes": 1, "root": 4 }), "4 is no rank; 0 to 3"),
        (
            "reduce_scatter_halving",
            json!({ "ranks": 6, "bytes": 1 }),
            "is not for 6; a power of two",
        ),
        (
            "alltoall_linear",
            json!({ "ranks": 1 << 20, "bytes": 1 }),
            "operations: there would be more than 268435456",
        ),
        ("neighbour_linear", json!({ "ranks": 4, "graph": "torsu" }), "did you mean torus?"),
        ("neighbour_linear", json!({ "ranks": 4, "graph": "matrix" }), "matrix: it is not given"),
        (
            "neighbour_linear",
            json!({ "ranks": 4, "grid": "3x1x1" }),
            "whose product is 4, as 2x2x1",
        ),
        (
            "neighbour_linear",
            json!({ "ranks": 4, "graph": "random", "degree": 4 }),
            "degree: 4 of 4 ranks; 1 to 3",
        ),
        (
            "neighbour_linear",
            json!({ "ranks": 2, "matrix": [[0, 1], [1, 0]] }),
            "it is given, but graph is torus; graph=matrix",
        ),
        ("alltoallv_linear", json!({ "ranks": 5000, "bytes": 1 }), "ranks: 5000 ranks"),
        (
            "alltoallv_linear",
            json!({ "ranks": 2, "bytes": 1, "matrix": over }),
            "row 1, column 0: 2199023255552; 2 rows of 2",
        ),
        (
            "alltoallv_linear",
            json!({ "ranks": 2, "bytes": 1, "matrix": [[1], [2]] }),
            "row 0 is not as long",
        ),
    ] {
        let given = given.as_object().expect("a table");
        let refused = make(name, given, &QuietWatch).expect_err(name).to_string();
        assert!(refused.contains(expected), "{name}: {refused}");
    }
}
