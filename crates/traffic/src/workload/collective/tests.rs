//! Every algorithm by its data flow, and by what it sends in closed form.

use super::follow::follow;
use super::*;
use crate::workload::Kind;
use base::Quiet;
use serde_json::json;

fn asked(name: &str, ranks: u32, own: &Value) -> Map<String, Value> {
    let mut all = own.as_object().expect("a table").clone();
    all.insert("ranks".to_owned(), json!(ranks));
    all.insert("bytes".to_owned(), json!(if name.starts_with("barrier") { 1 } else { 6000 }));
    all
}

/// Parameters to try: the defaults, and others.
fn tried(entry: &Entry, ranks: u32) -> Vec<Value> {
    let mut all = vec![json!({})];
    for key in entry.keys {
        let (_, most) = key.range;
        let last = if key.name == "root" { u64::from(ranks) - 1 } else { 5.min(most) };
        all.push(json!({ key.name: last }));
        all.push(json!({ key.name: last / 2 + u64::from(key.name != "root") }));
    }
    all
}

#[test]
fn every_rank_ends_with_what_mpi_defines() {
    let mut followed = 0;
    for entry in &ALGORITHMS {
        for ranks in (1..=17).chain([24, 31, 32, 33]) {
            for own in tried(entry, ranks) {
                let given = asked(entry.name, ranks, &own);
                let asked = Asked::new(&given, entry).expect("parameters");
                let algorithm = (entry.make)(&asked).expect("an algorithm");
                if algorithm.check(ranks).is_err() {
                    continue;
                }
                let root = own["root"].as_u64().unwrap_or(0) as u32;
                follow(&*algorithm, entry.operation, root, ranks);
                followed += 1;
            }
        }
    }
    assert!(followed > 500, "{followed}");
}

fn made(name: &str, ranks: u32, own: &Value) -> Schedule {
    make(name, &asked(name, ranks, own), &Quiet).expect(name)
}

/// Messages and bytes that each rank sends, at most and in all.
fn sent(of: &Schedule) -> (u64, u64, u64) {
    let mut most = (0, 0);
    let mut all = 0;
    for rank in 0..of.ranks() {
        let ops = of.of_rank(rank);
        let sends = of.ops()[ops.start as usize..ops.end as usize].iter();
        let sizes: Vec<u64> = sends.filter(|o| o.kind == Kind::Send).map(|o| o.size).collect();
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
        // bytes that divide: 6000 = 16 * 375
        for (name, messages, bytes) in [
            ("allreduce_ring", 2 * (n - 1), 2 * s * (n - 1) / n),
            ("allreduce_rabenseifner", 2 * log, 2 * s * (n - 1) / n),
            ("allreduce_recursive_doubling", log, log * s),
            ("allgather_ring", n - 1, (n - 1) * s),
            ("allgather_bruck", log, (n - 1) * s),
            ("reduce_scatter_ring", n - 1, (n - 1) * s),
            ("reduce_scatter_halving", log, (n - 1) * s),
            ("alltoall_linear", n - 1, (n - 1) * s),
            ("alltoall_pairwise", n - 1, (n - 1) * s),
            ("alltoall_bruck", log, log * n / 2 * s),
            ("broadcast_binomial", log, log * s),
            ("gather_binomial", 1, n / 2 * s),
            ("scatter_binomial", log, (n - 1) * s),
            ("barrier_dissemination", log, log),
        ] {
            let (most, largest, _) = sent(&made(name, p, &none));
            assert_eq!((most, largest), (messages, bytes), "{name} {p}");
        }
        let (_, _, all) = sent(&made("broadcast_binary", p, &none));
        assert_eq!(all, (n - 1) * s);
        let (most, largest, _) = sent(&made("broadcast_pipelined", p, &json!({ "segments": 6 })));
        assert_eq!((most, largest), (6, s));
        // every rank but two is inside one tree: it sends half up, and both its children half down
        let (_, largest, all) = sent(&made("allreduce_double_tree", p, &json!({ "segments": 1 })));
        assert_eq!(all, 2 * (n - 1) * s);
        assert!(largest <= 2 * s, "{p} {largest}");
    }
    for (ways, ranks, rounds) in [(1, 9, 4), (2, 9, 2), (2, 10, 3), (3, 16, 2), (7, 64, 2)] {
        let (most, ..) = sent(&made("barrier_dissemination", ranks, &json!({ "ways": ways })));
        assert!(most <= ways * rounds && most > ways * (rounds - 1), "{ways} {ranks} {most}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (name, given, told) in [
        ("allreduce_rings", json!({}), "did you mean allreduce_ring?"),
        ("allreduce_ring", json!({ "ranks": 4 }), "bytes: it is not given"),
        ("allreduce_ring", json!({ "ranks": 0, "bytes": 1 }), "ranks: 0; a whole number, 1 to"),
        ("allreduce_ring", json!({ "ranks": 4, "bytes": 1, "root": 1 }), "no such parameter"),
        ("broadcast_binary", json!({ "ranks": 4, "bytes": 1, "root": 4 }), "4 is no rank; 0 to 3"),
        (
            "reduce_scatter_halving",
            json!({ "ranks": 6, "bytes": 1 }),
            "is not for 6; a power of two",
        ),
    ] {
        let given = given.as_object().expect("a table");
        let refused = make(name, given, &Quiet).expect_err(name).to_string();
        assert!(refused.contains(told), "{refused}");
    }
}
