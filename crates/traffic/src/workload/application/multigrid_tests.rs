//! Multigrid cycles against counts in closed form, and those of the reference runs.

use crate::workload::{OperationKind, Schedule, make};
use base::QuietWatch;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

fn made(name: &str, p: u64, levels: u64, cycles: u64, base_bytes: u64) -> Schedule {
    let given = json!({ "p": p, "levels": levels, "cycles": cycles, "base_bytes": base_bytes });
    make(name, given.as_object().expect("a table"), &QuietWatch).expect(name)
}

/// The number of messages of each size, without those of the allreduces. Recursive doubling has
/// messages of every rank in each round, and some more if the ranks are not a power of two.
fn halos(of: &Schedule, cycles: u64) -> BTreeMap<u64, u64> {
    let ranks = u64::from(of.ranks());
    let full = 1_u64 << ranks.ilog2();
    let sums = full * u64::from(full.ilog2()) + 2 * (ranks - full);
    let mut found = BTreeMap::new();
    for op in of.ops().iter().filter(|op| op.kind == OperationKind::Send) {
        *found.entry(op.size).or_insert(0) += 1;
    }
    let small = found.entry(8).or_insert(0);
    *small -= sums * cycles;
    found.retain(|_, times| *times > 0);
    found
}

/// The expected number of messages of each size. On a level with n ranks a side there are C(3, k)
/// 2^k (n - 1)^k n^(3 - k) pairs of neighbours that differ in k coordinates.
fn due(name: &str, p: u64, levels: u64, cycles: u64, base: u64) -> BTreeMap<u64, u64> {
    let mut all = BTreeMap::new();
    let kinds: &[(u32, u64, u64)] = match name {
        "amg_like" => &[(1, 6, base), (2, 12, base / 16), (3, 8, (base / 128).max(8))],
        _ => &[(1, 6, base)],
    };
    for level in 0..levels {
        let n = p.div_ceil(1 << level);
        let visits = if level == levels - 1 { 1 } else { 2 };
        for &(k, directions, bytes) in kinds {
            let times = visits * cycles * directions * (n - 1).pow(k) * n.pow(3 - k);
            if times > 0 {
                *all.entry((bytes >> (2 * level)).max(8)).or_insert(0) += times;
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn messages_are_those_of_the_closed_form(
        amg in any::<bool>(),
        p in 1_u64..9,
        levels in 1_u64..5,
        cycles in 1_u64..4,
        base in 0_u64..40_000,
    ) {
        let name = if amg { "amg_like" } else { "mg_like" };
        let found = halos(&made(name, p, levels, cycles, base), cycles);
        prop_assert_eq!(found, due(name, p, levels, cycles, base));
    }
}

/// The totals equal those of the traces to which the packet level is compared: 83,600 messages with
/// 359.9 MB, and 24,216 messages with 727.9 MB.
#[test]
fn the_reference_runs_have_their_totals() {
    let totals = |found: BTreeMap<u64, u64>| {
        let bytes: u64 = found.iter().map(|(size, times)| size * times).sum();
        (found.values().sum::<u64>(), (bytes as f64 / 1e5).round() / 10.0)
    };
    assert_eq!(totals(halos(&made("amg_like", 12, 4, 1, 16384), 1)), (83_600, 359.9));
    assert_eq!(totals(halos(&made("mg_like", 10, 3, 2, 32768), 2)), (24_216, 727.9));
}

/// Without its allreduces a schedule has exactly the messages of the closed form.
#[test]
fn sums_can_be_left_out() {
    let given =
        json!({ "p": 5, "levels": 3, "cycles": 2, "base_bytes": 9000, "allreduce": "none" });
    let of =
        make("amg_like", given.as_object().expect("a table"), &QuietWatch).expect("it is made");
    let due: u64 = due("amg_like", 5, 3, 2, 9000).values().sum();
    let ops = of.ops().iter();
    assert_eq!(ops.clone().filter(|op| op.kind == OperationKind::Send).count() as u64, due);
    assert_eq!(ops.filter(|op| op.kind == OperationKind::Recv).count() as u64, due);
}

/// On a coarse level two neighbours are further apart, and the ranks between them take no part.
#[test]
fn coarse_levels_leave_ranks_out() {
    let of = made("mg_like", 4, 2, 1, 1 << 20);
    // rank (0, 0, 0) sends to three neighbours 1 away, twice, and to three neighbours 2 away, once
    let range = of.of_rank(0);
    let ops = &of.ops()[range.start as usize..range.end as usize];
    let mut to: Vec<(u32, u64)> = ops
        .iter()
        .filter(|op| op.kind == OperationKind::Send && op.size > 8)
        .map(|op| (op.peer, op.size))
        .collect();
    to.sort_unstable();
    let (fine, coarse) = (1 << 20, 1 << 18);
    let due = [(1, fine), (1, fine), (2, coarse), (4, fine), (4, fine), (8, coarse), (16, fine)];
    assert_eq!(to, [&due[..], &[(16, fine), (32, coarse)]].concat());
}
