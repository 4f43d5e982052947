//! Tests of applications against closed forms, and that they do not deadlock.

use super::*;
use crate::workload::{OperationKind, Schedule, ScheduleOperation, make};
use base::{ComputationError, QuietWatch};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn made(name: &str, given: &Value) -> Schedule {
    make(name, given.as_object().expect("a table"), &QuietWatch).expect(name)
}

fn ops(of: &Schedule, rank: u32) -> &[ScheduleOperation] {
    let range = of.of_rank(rank);
    &of.ops()[range.start as usize..range.end as usize]
}

/// The number of messages and bytes that a rank sends.
fn sent(of: &Schedule, rank: u32) -> (u64, u64) {
    let sizes = ops(of, rank).iter().filter(|op| op.kind == OperationKind::Send).map(|op| op.size);
    (sizes.clone().count() as u64, sizes.sum())
}

fn sent_by_all(of: &Schedule) -> (u64, u64) {
    let all = (0..of.ranks()).map(|rank| sent(of, rank));
    all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// The time in ns that a rank computes.
fn computed(of: &Schedule, rank: u32) -> u64 {
    ops(of, rank).iter().filter(|op| op.kind == OperationKind::Calc).map(|op| op.size).sum()
}

/// Runs a schedule step by step, where a send ends only when its receive has begun; returns whether
/// all operations are done. Every message must have a receive of its own size.
fn comes_to_its_end(of: &Schedule) -> bool {
    let mut counts = of.counts();
    let mut ready: Vec<u32> =
        (0..).zip(&counts).filter(|(_, n)| **n == 0).map(|(i, _)| i).collect();
    let mut waiting: BTreeMap<(u32, u32, u32, bool), Vec<u32>> = BTreeMap::new();
    let mut done = 0;
    while let Some(op) = ready.pop() {
        let it = &of.ops()[op as usize];
        let mut ended = vec![op];
        if it.kind != OperationKind::Calc {
            let (me, sends) = (of.rank_of(op), it.kind == OperationKind::Send);
            let pair = if sends { (me, it.peer, it.tag) } else { (it.peer, me, it.tag) };
            let others = waiting.entry((pair.0, pair.1, pair.2, !sends)).or_default();
            if others.is_empty() {
                waiting.entry((pair.0, pair.1, pair.2, sends)).or_default().push(op);
                continue;
            }
            let other = others.remove(0);
            assert_eq!(of.ops()[other as usize].size, it.size, "both ends have the same size");
            ended.push(other);
        }
        for op in ended {
            done += 1;
            for &next in of.require(op) {
                counts[next as usize] -= 1;
                if counts[next as usize] == 0 {
                    ready.push(next);
                }
            }
        }
    }
    done == of.ops().len()
}

#[test]
fn all_come_to_their_end() {
    for ranks in [1, 2, 3, 7, 12] {
        for (name, own) in [
            ("bfs", json!({ "scale": 8, "edge_ns": 3 })),
            ("bfs", json!({ "scale": 1, "edge_factor": 1 })),
            ("bfs_2d", json!({ "scale": 8, "edge_ns": 3 })),
            ("bfs_2d", json!({ "scale": 1, "edge_factor": 1, "allgather": "bruck" })),
            ("conjugate_gradient", json!({ "iterations": 2, "gflops": 10 })),
            (
                "conjugate_gradient",
                json!({ "preconditioner": "multigrid", "iterations": 2, "allreduce": "ring" }),
            ),
            ("cosmoflow", json!({ "gflops": 1000, "iterations": 2 })),
            ("fft_3d", json!({ "n": 12, "gflops": 1, "iterations": 2, "back": 1 })),
            ("fft_3d", json!({ "n": 10, "decomposition": "pencil", "exchange": "pairwise" })),
            ("gpt_3", json!({ "layers": 2, "hidden": 8, "gflops": 1, "iterations": 2 })),
            ("hpl", json!({ "n": 100, "nb": 16, "gflops": 1 })),
            ("random_pairs", json!({ "bytes": 5000, "iterations": 3, "seed": 2 })),
            ("resnet_152", json!({ "gflops": 1000 })),
            ("stencil_2d", json!({ "bytes": 8, "iterations": 3, "compute_ns": 10, "points": 9 })),
            (
                "stencil_3d",
                json!({ "bytes": 8, "iterations": 2, "points": "27", "periodic": 1,
                    "compute_ns": 100, "overlap_percent": 30 }),
            ),
        ] {
            let mut given = own.clone();
            given["ranks"] = json!(ranks);
            let found = made(name, &given);
            assert_eq!(found.ranks(), ranks);
            assert!(comes_to_its_end(&found), "{name} {given}");
            assert!(found.cycle().is_none());
        }
    }
    for (operator, pipeline, ranks) in [(2, 1, 8), (1, 4, 8), (2, 2, 8), (3, 4, 24), (2, 4, 16)] {
        for micro_batches in [1, 2, 5] {
            let given = json!({ "ranks": ranks, "operator": operator, "pipeline": pipeline,
                "micro_batches": micro_batches, "layers": 4, "hidden": 6, "iterations": 2 });
            assert!(comes_to_its_end(&made("gpt_3", &given)), "{given}");
        }
        let given = json!({ "ranks": ranks, "operator": operator, "bucket_bytes": 1000 });
        assert!(comes_to_its_end(&made("cosmoflow", &given)));
    }
}

/// Small values for all numeric parameters of an application.
fn least(of: &ApplicationEntry, ranks: u32) -> Value {
    let schema = of.part.schema();
    let fields = schema["properties"].as_object().expect("a table").iter();
    let numbers = fields.filter(|(_, field)| field["type"] == "integer").map(|(name, field)| {
        let least = field["minimum"].as_u64().unwrap_or(0);
        let usual = field["default"].as_u64().unwrap_or(least);
        (name.clone(), json!(usual.min(least.max(4))))
    });
    let mut given = json!(numbers.collect::<serde_json::Map<_, _>>());
    if of.part.has("ranks") {
        given["ranks"] = json!(ranks);
    }
    given
}

#[test]
fn every_application_comes_to_its_end_or_says_why_not() {
    for of in APPLICATIONS {
        let mut made_once = false;
        for ranks in [1, 2, 3, 8, 27] {
            let given = least(of, ranks);
            match make(of.part.name, given.as_object().expect("a table"), &QuietWatch) {
                Ok(found) => {
                    made_once = true;
                    assert!(comes_to_its_end(&found), "{} {given}", of.part.name);
                }
                Err(ComputationError::Refused(why)) => {
                    assert!(!why.help.is_empty(), "{} {given}", of.part.name);
                }
                Err(ComputationError::Interrupted(_)) => unreachable!("nobody stops it"),
            }
        }
        assert!(made_once, "{} is refused with small numbers", of.part.name);
    }
}

proptest! {
    /// On a grid with borders, neighbours are those in a box: with sides a and b there are 2 (a-1)
    /// b messages across faces in one direction, and so on. On a periodic grid every rank has all
    /// neighbours.
    #[test]
    fn stencils_have_the_neighbours_of_a_box(
        sides in proptest::collection::vec(1_u32..5, 3),
        periodic in 0_u32..2,
        diagonal in any::<bool>(),
    ) {
        let grid = format!("{}x{}x{}", sides[0], sides[1], sides[2]);
        let ranks: u32 = sides.iter().product();
        let points = if diagonal { 27 } else { 7 };
        let own = json!({ "ranks": ranks, "grid": grid, "bytes": 1000, "edge_bytes": 10,
            "corner_bytes": 1, "points": points, "periodic": periodic, "iterations": 2 });
        let found = made("stencil_3d", &own);
        prop_assert!(comes_to_its_end(&found));
        // a kind of neighbour is a set of directions; in each, side - 1 ranks of a line have a
        // neighbour
        let (mut messages, mut bytes) = (0, 0);
        for direction in 1..8_u32 {
            let turns = direction.count_ones();
            if turns > 1 && !diagonal {
                continue;
            }
            let side = |bit: u32| {
                let of = (0..3).filter(move |i| direction >> i & 1 == bit);
                of.map(|i| u64::from(sides[i])).collect::<Vec<u64>>()
            };
            let along = side(1);
            let across: u64 = side(0).iter().product();
            let pairs: u64 = if periodic == 0 {
                along.iter().map(|side| side - 1).product::<u64>() * across
            } else if along.iter().all(|&side| side == 1) {
                0
            } else {
                u64::from(ranks)
            };
            // each direction has two signs
            messages += 2 * (1 << turns) * pairs;
            bytes += 2 * (1 << turns) * pairs * [1000, 10, 1][turns as usize - 1];
        }
        prop_assert_eq!(sent_by_all(&found), (messages, bytes));
    }

    /// In each all-to-all of a transform, every point moves once, except those that stay on their
    /// rank.
    #[test]
    fn transforms_move_every_point(n in 1_u64..14, p in 1_u32..5, q in 1_u32..5) {
        let kept = |all: u32| -> u64 {
            // points whose parts by two coordinates are the same
            let of = |x: u64| (0..all).find(|&i| x < n * u64::from(i + 1) / u64::from(all));
            let pairs = (0..n).flat_map(|x| (0..n).map(move |y| (x, y)));
            pairs.filter(|(x, y)| of(*x) == of(*y)).count() as u64
        };
        for rounds in ["linear", "pairwise"] {
            let slab = json!({ "ranks": p, "n": n, "element_bytes": 3, "exchange": rounds });
            prop_assert_eq!(sent_by_all(&made("fft_3d", &slab)).1, 3 * n * (n * n - kept(p)));
            let pencil = json!({ "ranks": p * q, "n": n, "decomposition": "pencil",
                "grid": [p, q], "element_bytes": 3, "exchange": rounds });
            let wanted = 3 * n * (2 * n * n - kept(p) - kept(q));
            prop_assert_eq!(sent_by_all(&made("fft_3d", &pencil)).1, wanted);
        }
    }

    /// The messages and bytes of HPL are those of its phases, panel by panel, with rows counted one
    /// by one.
    #[test]
    fn linpack_sends_what_its_phases_say(
        n in 1_u64..80, nb in 1_u64..20, log_p in 0_u32..3, q in 1_u64..5,
    ) {
        let p = 1_u64 << log_p;
        let own = json!({ "ranks": p * q, "grid": [p, q], "n": n, "nb": nb });
        let found = made("hpl", &own);
        prop_assert!(comes_to_its_end(&found));
        let (mut messages, mut bytes) = (0, 0);
        for first in (0..n).step_by(nb as usize) {
            let width = nb.min(n - first);
            let left = first + width..n;
            // pivots: for every column of the matrix, each rank of a process column sends log2 P
            // messages
            messages += width * p * u64::from(log_p);
            bytes += width * p * u64::from(log_p) * 8 * (2 * nb + 4);
            for i in 0..p {
                let rows = left.clone().filter(|row| row / nb % p == i).count() as u64;
                messages += q - 1;
                bytes += (q - 1) * 8 * (rows * width + width * width + width + 1);
            }
            for j in 0..q {
                let columns = left.clone().filter(|c| c / nb % q == j).count() as u64;
                if columns == 0 || p == 1 {
                    continue;
                }
                let part = 8 * width * columns;
                // up and down a binomial tree with subtrees of 2^k ranks: P / 2 log2 P parts in
                // total
                messages += 2 * (p - 1) + p * (p - 1);
                bytes += p / 2 * u64::from(log_p) * part.div_ceil(p);
                let until = |block: u64| part * block / p;
                let trees: u64 = (1..p)
                    .map(|r| until((r + (1 << r.trailing_zeros())).min(p)) - until(r))
                    .sum();
                bytes += trees + (p - 1) * part;
            }
        }
        prop_assert_eq!(sent_by_all(&found), (messages, bytes));
    }

    /// The search reports one pair for each edge from a vertex that is reached to another rank; its
    /// number of levels is the distance of the farthest vertex plus one.
    #[test]
    fn searches_tell_every_edge_once(scale in 1_u32..9, ranks in 1_u32..12, seed in 0_u64..50) {
        let graph = rmat::RmatGraph::draw(scale, 4, seed, &QuietWatch).expect("nobody stops it");
        let vertices = graph.vertices();
        let mut far = vec![u32::MAX; vertices as usize];
        far[bfs::first(&graph, seed) as usize] = 0;
        // shortens distances until no edge shortens one any more
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for v in 0..vertices {
                for &to in graph.of(v) {
                    prop_assert!(to != v && graph.of(to).contains(&v));
                    if far[v as usize] != u32::MAX && far[v as usize] + 1 < far[to as usize] {
                        far[to as usize] = far[v as usize] + 1;
                        changed = true;
                    }
                }
            }
        }
        let reached = || (0..vertices).filter(|&v| far[v as usize] != u32::MAX);
        let part = |v: u32| bfs::owner(v, vertices, ranks);
        let pairs: usize = reached()
            .map(|v| graph.of(v).iter().filter(|&&to| part(to) != part(v)).count())
            .sum();
        let levels = reached().map(|v| far[v as usize]).max().unwrap_or(0) + 1;
        let own = json!({ "ranks": ranks, "scale": scale, "edge_factor": 4, "seed": seed,
            "pair_bytes": 100, "allreduce": "tree" });
        let found = made("bfs", &own);
        let sums = 2 * u64::from(ranks - 1) * u64::from(levels);
        prop_assert_eq!(sent_by_all(&found).1, 100 * pairs as u64 + 8 * sums);
        prop_assert!(comes_to_its_end(&found));
    }

    /// On a grid of ranks, a vertex goes to the rank of its column that gathers it, then to the
    /// other ranks of the column. What a column finds goes to the owner in its row, once in each
    /// level.
    #[test]
    fn searches_over_grids_expand_and_fold(
        scale in 1_u32..8,
        rows in 1_u32..5,
        columns in 1_u32..5,
        seed in 0_u64..50,
        bruck in any::<bool>(),
    ) {
        let graph = rmat::RmatGraph::draw(scale, 4, seed, &QuietWatch).expect("nobody stops it");
        let (vertices, ranks) = (graph.vertices(), rows * columns);
        let owner = |v: u32| bfs::owner(v, vertices, ranks);
        let column = |v: u32| owner(v) / rows;
        let turn = |v: u32| owner(v) % rows * columns + column(v);
        let mut seen = BTreeSet::from([bfs::first(&graph, seed)]);
        let (mut now, mut bytes, mut levels) = (seen.clone(), 0, 0);
        while !now.is_empty() {
            for &v in &now {
                bytes += 7 * (u64::from(turn(v) != owner(v)) + u64::from(rows - 1));
            }
            for at in 0..columns {
                let of_column = now.iter().filter(|&&v| column(v) == at);
                let found: BTreeSet<u32> =
                    of_column.flat_map(|&v| graph.of(v)).copied().collect();
                bytes += 100 * found.iter().filter(|&&v| owner(v) % columns != at).count() as u64;
            }
            levels += 1;
            let next = now.iter().flat_map(|&v| graph.of(v)).filter(|v| !seen.contains(v));
            now = next.copied().collect();
            seen.extend(&now);
        }
        let own = json!({ "ranks": ranks, "grid": format!("{rows}x{columns}"), "scale": scale,
            "edge_factor": 4, "seed": seed, "vertex_bytes": 7, "pair_bytes": 100,
            "allgather": if bruck { "bruck" } else { "ring" }, "allreduce": "none" });
        let found = made("bfs_2d", &own);
        prop_assert_eq!(sent_by_all(&found).1, bytes, "{} levels", levels);
        prop_assert!(comes_to_its_end(&found));
        for rank in 0..ranks {
            let (row, at) = (rank / columns, rank % columns);
            let turned = rank % rows * columns + rank / rows;
            for op in ops(&found, rank).iter().filter(|op| op.kind == OperationKind::Send) {
                let (to_row, to) = (op.peer / columns, op.peer % columns);
                prop_assert!(op.peer == turned || to_row == row || to == at);
            }
        }
        // allreduces: in each level two messages along a tree for each rank but one
        let mut own = own;
        own["allreduce"] = json!("tree");
        let sums = 2 * u64::from(ranks - 1) * levels;
        prop_assert_eq!(sent_by_all(&made("bfs_2d", &own)).1, bytes + 8 * sums);
    }
}

#[test]
fn drawn_edges_have_the_chances_of_graph500() {
    let mut draws = base::seed::FastRandomStream::new(5, "test", 0);
    let mut seen = [0_u32; 4];
    for _ in 0..20_000 {
        let (a, b) = rmat::pair(6, &mut draws);
        for bit in 0..6 {
            seen[(2 * (a >> bit & 1) + (b >> bit & 1)) as usize] += 1;
        }
    }
    assert!(crate::chances::fits(&seen, &[0.57, 0.19, 0.19, 0.05]), "{seen:?}");
}

#[test]
fn gradients_have_the_halos_and_sums_of_their_method() {
    // with 2 x 2 x 2 ranks, each has 3 faces, 3 edges and a corner; allreduces take 3 rounds of 8
    // bytes
    let own = |more: Value| {
        let mut all = json!({ "ranks": 8, "nx": 16, "ny": 32, "nz": 64, "iterations": 5 });
        all.as_object_mut().expect("a table").extend(more.as_object().expect("a table").clone());
        all
    };
    let halo = |level: u64| {
        let [x, y, z] = [16 >> level, 32 >> level, 64 >> level];
        8 * (x * y + y * z + x * z + x + y + z + 1)
    };
    let plain = made("conjugate_gradient", &own(json!({ "gflops": 1 })));
    let grids =
        made("conjugate_gradient", &own(json!({ "preconditioner": "multigrid", "gflops": 1 })));
    let rows = 16 * 32 * 64;
    for rank in 0..8 {
        assert_eq!(sent(&plain, rank), (5 * (7 + 2 * 3), 5 * (halo(0) + 2 * 3 * 8)));
        let cycle: u64 = (0..3).map(|level| 3 * halo(level)).sum::<u64>() + halo(3);
        let wanted = (5 * (7 * 11 + 3 * 3), 5 * (cycle + halo(0) + 3 * 3 * 8));
        assert_eq!(sent(&grids, rank), wanted);
        // at 1 Gflop/s, an operation takes a nanosecond
        let alone = rows * (2 * 27 + 2 * 2 + 3 * 2);
        assert_eq!(computed(&plain, rank), 5 * alone);
        let coarse = |level: u64| rows >> (3 * level);
        let cycle: u64 = (0..3).map(|l| 27 * 10 * coarse(l)).sum::<u64>() + 27 * 4 * coarse(3);
        assert_eq!(computed(&grids, rank), 5 * (alone + 2 * rows + cycle));
    }
}

#[test]
fn linpack_computes_two_thirds_of_a_cube() {
    let (n, nb) = (512_u64, 16_u64);
    let found = made("hpl", &json!({ "ranks": 4, "n": n, "nb": nb, "gflops": 1 }));
    let all: u64 = (0..4).map(|rank| computed(&found, rank)).sum();
    let wanted = 2 * n.pow(3) / 3;
    // the exact count also has terms of the order n^2 nb
    assert!(all > wanted && all < wanted + 2 * n * n * nb, "{all} {wanted}");
}

#[test]
fn networks_have_the_published_parameters() {
    let resnet = resnet_152::layers();
    assert_eq!(resnet.len(), 1 + 3 * (3 + 8 + 36 + 3) + 4 + 1);
    // torchvision's resnet152 has num_params 60192808 and 11.51 G multiply-adds
    assert_eq!(resnet.iter().map(|layer| layer.parameters).sum::<u64>(), 60_192_808);
    let operations: u64 = resnet.iter().map(|layer| layer.flops / 2).sum();
    assert!((11_505_000_000..11_525_000_000).contains(&operations), "{operations}");
    // 8 weights for each pair of channels, a bias for each channel, and 4^3 points of 512 channels
    // at the end
    let channels = [4_u64, 32, 64, 128, 256, 512];
    let convolutions: u64 = channels.windows(2).map(|c| 8 * c[0] * c[1] + c[1]).sum();
    let full = (64 * 512 + 1) * 128 + (128 + 1) * 64 + (64 + 1) * 4;
    let cosmoflow: u64 = cosmoflow::layers().iter().map(|layer| layer.parameters).sum();
    assert_eq!(cosmoflow, convolutions + full);
}

#[test]
fn training_sums_every_gradient_once() {
    for ranks in [2_u64, 5, 8] {
        let own = json!({ "ranks": ranks, "gflops": 1, "batch": 4, "iterations": 2 });
        let found = made("resnet_152", &own);
        let all = 60_192_808 * 4;
        for rank in 0..ranks as u32 {
            let (messages, bytes) = sent(&found, rank);
            // around a ring each rank sends 2 (p-1)/p of the vector; the parts of each bucket are
            // rounded
            let wanted = 2 * 2 * (ranks - 1) * all / ranks;
            assert!(bytes.abs_diff(wanted) < messages, "{bytes} {wanted}");
            // the size of a bucket is between 25 MiB and that plus the largest layer
            let buckets = messages / (2 * 2 * (ranks - 1));
            assert!(buckets <= all / (25 << 20) + 1 && buckets >= all / ((25 + 10) << 20));
        }
        let flops: u64 = resnet_152::layers().iter().map(|layer| layer.flops).sum();
        assert_eq!(computed(&found, 0), 2 * 3 * 4 * flops);
    }
    // with operators in 4 parts among 8 ranks, outputs and gradients of inputs go around a ring,
    // each part equally often
    let found = made("cosmoflow", &json!({ "ranks": 8, "operator": 4, "batch": 4 }));
    let layers = cosmoflow::layers();
    let outputs: u64 = layers.iter().map(|l| l.outputs * 4).sum();
    let inputs: u64 = layers.iter().skip(1).map(|l| l.inputs * 4).sum();
    let gradients: u64 = layers.iter().map(|l| l.parameters).sum();
    let bytes = 3 * (outputs + inputs) + gradients;
    assert!(sent(&found, 3).1.abs_diff(bytes) < 100, "{} {bytes}", sent(&found, 3).1);
}

#[test]
fn transformers_compute_and_send_what_megatron_says() {
    let (t, s, d, m, b) = (2_u64, 4_u64, 2_u64, 3_u64, 2_u64);
    let (l, h, q, v) = (8_u64, 64_u64, 128_u64, 1000_u64);
    let found = made(
        "gpt_3",
        &json!({ "ranks": t * s * d, "operator": t, "pipeline": s,
        "micro_batches": m, "micro_batch": b, "layers": l, "hidden": h, "sequence": q,
        "vocabulary": v, "gflops": 1 }),
    );
    // Narayanan et al.: 96 B s l h^2 (1 + s / 6 h + V / 16 l h) operations for B samples
    let samples = m * b * d;
    let wanted =
        96 * samples * q * l * h * h + 16 * samples * q * q * l * h + 6 * samples * q * h * v;
    let all: u64 = (0..found.ranks()).map(|rank| computed(&found, rank)).sum();
    assert_eq!(all, wanted);
    // rank 0 in stage 0 sends micro-batches on, has 4 allreduces for each layer over 2 parts, and
    // one over groups
    let words = b * q * h * 2;
    let stage = l / s;
    let gradients = (stage * (12 * h * h + 13 * h) + (v + q) * h) / t * 2;
    let sums = 4 * stage * m;
    assert_eq!(sent(&found, 0), (m + 2 * sums + 2, m * words + sums * words + gradients));
    // 175 billion parameters in one stage: 12 l h^2 (1 + 13 / 12 h + (V + s) / 12 l h)
    let whole = made("gpt_3", &json!({ "ranks": 2, "micro_batches": 1, "element_bytes": 1 }));
    assert_eq!(sent(&whole, 0).1, 12 * 96 * 12_288_u64.pow(2) + 13 * 96 * 12_288 + 53_248 * 12_288);
    assert!((174_000_000_000..176_000_000_000).contains(&sent(&whole, 0).1));
}

#[test]
fn what_cannot_be_is_refused() {
    for (name, given, expected) in [
        ("stencil_2d", json!({ "ranks": 6 }), "bytes: it is not given"),
        (
            "stencil_2d",
            json!({ "ranks": 6, "bytes": 1, "points": 7 }),
            "there is no '7', only 5 or 9",
        ),
        (
            "stencil_2d",
            json!({ "ranks": 6, "bytes": 1, "grid": "4x2" }),
            "grid: 4x2; 2 sides whose product is 6, as 3x2",
        ),
        ("stencil_3d", json!({ "ranks": 1_000_000_000, "bytes": 1 }), "from 1 to 16777216"),
        (
            "stencil_3d",
            json!({ "ranks": 1 << 24, "bytes": 1, "iterations": 1 << 20 }),
            "there would be more than 268435456; fewer ranks",
        ),
        (
            "conjugate_gradient",
            json!({ "ranks": 2, "nx": 12, "preconditioner": "multigrid" }),
            "nx: 12; a multiple of 8",
        ),
        ("fft_3d", json!({ "ranks": 5000, "n": 64 }), "5000 ranks exchange among themselves"),
        ("bfs", json!({ "ranks": 2, "scale": 26 }), "scale: 1073741824 edges; at most"),
        ("bfs_2d", json!({ "ranks": 6, "grid": "4x2" }), "2 sides whose product is 6, as 3x2"),
        (
            "bfs_2d",
            json!({ "ranks": 6, "allgather": "recursive_doubling" }),
            "allgather_recursive_doubling",
        ),
        (
            "hpl",
            json!({ "ranks": 2, "n": 0 }),
            "n: 0 is out of range; a whole number from 1 to 16777216",
        ),
        ("gpt_3", json!({ "ranks": 6, "pipeline": 4 }), "a multiple of pipeline times operator"),
        ("gpt_3", json!({ "ranks": 5, "pipeline": 5 }), "pipeline: 5; a divisor of 96, the layers"),
        ("cosmoflow", json!({ "ranks": 6, "operator": 4 }), "operator: 4; a divisor of 6"),
        ("resnet_152", json!({ "ranks": 6, "operator": 2 }), "there is no such parameter"),
        ("resnet", json!({}), "did you mean resnet_152?"),
    ] {
        let given = given.as_object().expect("a table");
        let refused = make(name, given, &QuietWatch).expect_err(name).to_string();
        assert!(refused.contains(expected), "{name}: {refused}");
    }
}

#[test]
fn pairs_are_drawn_evenly() {
    for ranks in [4_u32, 5] {
        let rounds = 3000;
        let found = made(
            "random_pairs",
            &json!({ "ranks": ranks, "bytes": 77, "iterations": rounds, "seed": 9 }),
        );
        let mut met = BTreeMap::new();
        for rank in 0..ranks {
            let sends = ops(&found, rank).iter().filter(|op| op.kind == OperationKind::Send);
            for (op, back) in sends.clone().zip(sends.map(|op| (op.peer, op.tag))) {
                assert_eq!((op.size, op.peer != rank), (77, true));
                *met.entry((rank, op.peer)).or_insert(0_u32) += 1;
                // the partner sends one message of the same tag, the number of the round
                let to_me = |op: &&ScheduleOperation| {
                    op.kind == OperationKind::Send && (op.peer, op.tag) == (rank, back.1)
                };
                assert_eq!(ops(&found, back.0).iter().filter(to_me).count(), 1);
            }
        }
        // each of 4 ranks has a partner in every round; of 5 ranks one has none
        let in_all: u32 = met.values().sum();
        assert_eq!(in_all, rounds * (ranks - ranks % 2));
        let even = f64::from(in_all) / f64::from(ranks * (ranks - 1));
        for (pair, times) in &met {
            assert_eq!(met[&(pair.1, pair.0)], *times);
            // five standard deviations of a binomial distribution
            assert!((f64::from(*times) - even).abs() < 5.0 * even.sqrt(), "{pair:?} {times}");
        }
    }
}
