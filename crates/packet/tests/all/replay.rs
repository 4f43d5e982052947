//! Tests of workloads at the packet level: results of CODES, closed forms, and engines that agree.

use crate::common::built;
use base::QuietWatch;
use fabric::Topology;
use packet::replay::{JobResultRow, UserSuppliedJobs};
use packet::spec::PacketSimulationParameters;
use packet::stage::{PacketSimulationInputs, PacketSimulationRecord};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use traffic::workload::{ANY, Schedule, ScheduleBuilder, ScheduleOperation};

/// The result of a run of schedules, or its refusal.
fn tried(
    on: &Arc<Topology>,
    given: &Value,
    own: Option<(&[&Schedule], &[u32])>,
    threads: usize,
) -> Result<PacketSimulationRecord, String> {
    let mut given = given.clone();
    if let Some((schedules, _)) = own {
        given["workload"] = json!(vec!["own"; schedules.len()]);
    }
    let spec: PacketSimulationParameters = serde_json::from_value(given).expect("parameters");
    let jobs = UserSuppliedJobs { schedules: own.map(|o| o.0), places: own.map(|o| o.1) };
    let driven = PacketSimulationInputs { topology: on, routing: None, traffic: None, jobs };
    spec.simulate(driven, threads, None, &QuietWatch).map_err(|stop| stop.to_string())
}

fn run(
    on: &Arc<Topology>,
    given: &Value,
    own: (&[&Schedule], &[u32]),
    threads: usize,
) -> PacketSimulationRecord {
    tried(on, given, Some(own), threads).expect("it runs")
}

/// A schedule in which each rank does its operations one after the other.
fn in_turn(ranks: &[Vec<ScheduleOperation>]) -> Schedule {
    let mut all = ScheduleBuilder::new(ranks.len() as u32);
    for ops in ranks {
        let mut rank = all.rank();
        for (at, op) in (0..).zip(ops) {
            rank.add(*op).expect("room");
            if at > 0 {
                rank.require(at, at - 1).expect("room");
            }
        }
    }
    all.finish().expect("all ranks")
}

const SLIM_FLY: &str = "slim_fly:q=13,p=9";
const FIT_FLY: &str = "fit_fly:q=13,p=9";
const DRAGONFLY: &str = "dragonfly:p=9,a=18,h=9,g=19,arrangement=codes";
const MEGAFLY: &str = "megafly:leaves=18,spines=18,p=18,h=18,g=10,arrangement=codes";

/// Runs of CODES: messages and chunks agree exactly, routers visited within 0.3 %, communication
/// times within 1.5 %. The latter differ by up to 2 % between seeds, so the median of several runs
/// is compared.
#[test]
fn codes_found_the_same() {
    const SEEDS: u32 = 4;
    for line in include_str!("../data/packet_replay.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [name, network, routing, ranks] = cells[..4] else { panic!("{line}") };
        let (inline, dialect) = match network {
            "slim_fly" => (SLIM_FLY, "codes-slimfly-v1"),
            "fit_fly" => (FIT_FLY, "codes-slimfly-v1"),
            "dragonfly" => (DRAGONFLY, "codes-dally-v1"),
            _ => (MEGAFLY, "codes-dfplus-v1"),
        };
        let trace = match name {
            "amg_like_12" => "amg_like:p=12,levels=4,cycles=1,base_bytes=16384",
            _ => "mg_like:p=10,levels=3,cycles=2,base_bytes=32768",
        };
        let on = built(inline);
        let mut sums = [0.0; 3];
        for seed in 0..SEEDS {
            let given = json!({
                "dialect": dialect, "workload": trace, "collectives": "codes", "seed": seed,
                "selection": if routing == "prog-adaptive" { "par" } else { routing },
            });
            let found = tried(&on, &given, None, 1).expect("it runs");
            let job = &found.jobs[0];
            assert_eq!(job.ranks.to_string(), ranks);
            assert_eq!(job.packets.to_string(), cells[9]);
            assert_eq!(job.messages.to_string(), cells[10]);
            for (sum, of) in sums.iter_mut().zip([
                job.max_comm_ns.map(|ns| ns / 1e3),
                job.mean_comm_ns.map(|ns| ns / 1e3),
                job.mean_switches,
            ]) {
                *sum += of.expect("they communicate") / f64::from(SEEDS);
            }
        }
        for ((found, due), part) in sums.iter().zip(&cells[4..]).zip([0.015, 0.015, 0.003]) {
            let due = due.parse::<f64>().expect("a number");
            assert!((found - due).abs() <= part * due, "{line}: {found} for {due}");
        }
    }
}

/// The sends of a burst reach the interface in the order of the schedule; in the dialects of CODES
/// they reach it in any order.
#[test]
fn a_burst_comes_in_any_order() {
    let on = built("slim_fly:q=5,p=4");
    let mut all = ScheduleBuilder::new(3);
    for ops in [
        [ScheduleOperation::send(4096, 1, 0), ScheduleOperation::send(4096, 2, 0)].as_slice(),
        &[ScheduleOperation::recv(4096, 0, 0)],
        &[ScheduleOperation::recv(4096, 0, 0)],
    ] {
        let mut rank = all.rank();
        for op in ops {
            rank.add(*op).expect("room");
        }
    }
    let burst = all.finish().expect("all ranks");
    // the receivers are on one router, so messages arrive in the order in which they were sent
    let first_first = |dialect: &str| {
        let is_first = |seed: &u32| {
            let given = json!({"dialect": dialect, "ranks": true, "seed": seed});
            let found = run(&on, &given, (&[&burst], &[0, 4, 5]), 1);
            let ends = &found.points[0].ranks.as_ref().expect("asked for").end_ns;
            // a packet takes 305 ns
            assert!((ends[1] - ends[2]).abs() > 200.0, "{ends:?}");
            ends[1] < ends[2]
        };
        (0..40).filter(is_first).count()
    };
    assert_eq!(first_first("physical"), 40);
    let codes = first_first("codes-slimfly-v1");
    assert!((8..=32).contains(&codes), "{codes} of 40");
}

/// In CODES, a message waits for the interface's gap even if no message preceded it. It takes 0.5
/// to 1.01 ns to reach the interface, and the same time again inside it.
#[test]
fn a_message_of_codes_waits_its_gap() {
    let on = built("slim_fly:q=5,p=4");
    let schedule = in_turn(&[
        vec![ScheduleOperation::send(2048, 1, 0)],
        vec![ScheduleOperation::recv(2048, 0, 0)],
    ]);
    for seed in 0..20 {
        let given = json!({"dialect": "codes-slimfly-v1", "ranks": true, "seed": seed});
        let row = &run(&on, &given, (&[&schedule], &[0, 4]), 1).points[0];
        let end_ns = row.ranks.as_ref().expect("asked for").end_ns[1];
        let sent_ns = end_ns - row.latencies.mean_latency_ns.expect("it arrived");
        let waits_ns = sent_ns - (3510.0 + 0.55 * 2048.0);
        assert!((11.0..12.04).contains(&waits_ns), "{waits_ns}");
    }
}

/// The time of a message in an idle network of two routers, ps: cut-through, links of 25 ns,
/// routers of 90 ns, packets of 4,096 bytes one after the other.
fn message_ps(bytes: u64) -> u64 {
    let time = |bytes: u64| (bytes as f64 * 1e12 / (12.5 * f64::from(1 << 30))).round() as u64;
    let (whole, rest) = ((bytes.max(1) - 1) / 4096, (bytes.max(1) - 1) % 4096 + 1);
    // the last packet leaves after all others
    whole * time(4096) + time(rest) + 3 * 25_000 + 2 * 90_000
}

/// The time from when the interface takes a message until the message's last packet has left, ps.
fn left_ps(bytes: u64) -> u64 {
    message_ps(bytes) - 3 * 25_000 - 2 * 90_000
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A message to a receiver that is early or late: eager messages cost their software time once,
    /// long ones first exchange a request and an answer. The costs are those of CODES, or the
    /// default, twice the `o` of Breaking Band and LogGOPSim's limit of eager messages.
    #[test]
    fn a_message_takes_its_closed_form(
        bytes in prop_oneof![0_u64..40_000, 60_000_u64..80_000],
        is_of_codes: bool,
        send_late_ns in 0_u64..20_000,
        receive_late_ns in 0_u64..20_000,
    ) {
        let schedule = in_turn(&[
            vec![ScheduleOperation::calc(send_late_ns), ScheduleOperation::send(bytes, 1, 7)],
            vec![ScheduleOperation::calc(receive_late_ns), ScheduleOperation::recv(bytes, 0, ANY)],
        ]);
        let mut given = json!({"compute": "on", "ranks": true});
        if is_of_codes {
            given["costs"] = json!("codes");
        }
        let both_o_ps = 26_560 + 175_420 + 61_630 + 224_660;
        let (send_ps, byte_ps, eager_bytes) =
            if is_of_codes { (3_510_000, 550.0, 8192) } else { (both_o_ps, 0.0, 65536) };
        let found = run(&built("complete:n=2,p=1"), &given, (&[&schedule], &[0, 1]), 1);
        let ends = &found.points[0].ranks.as_ref().expect("asked for").end_ns;
        let (begin, posted) = (send_late_ns * 1000, receive_late_ns * 1000);
        let (sent, received) = if bytes < eager_bytes {
            let enters = begin + send_ps + (byte_ps * bytes as f64).round() as u64;
            (enters + left_ps(bytes), posted.max(enters + message_ps(bytes)))
        } else {
            let asked = begin + send_ps + message_ps(64);
            let answered = asked.max(posted) + send_ps + message_ps(64);
            let enters = answered + send_ps;
            (enters + left_ps(bytes), enters + message_ps(bytes))
        };
        for (found, due) in ends.iter().zip([sent, received]) {
            prop_assert!((found * 1e3 - due as f64).abs() < 1.0, "{ends:?}: {due}");
        }
        let job = &found.jobs[0];
        let comm = [sent - begin, received - posted].map(|ps| ps as f64 / 1e3);
        let longest = comm[0].max(comm[1]);
        prop_assert!((job.max_comm_ns.expect("one") - longest).abs() < 1e-3);
        let middle = f64::midpoint(comm[0], comm[1]);
        prop_assert!((job.mean_comm_ns.expect("one") - middle).abs() < 1e-3);
        let asks = u64::from(bytes >= eager_bytes);
        prop_assert_eq!(job.messages, 1 + 2 * asks);
        prop_assert_eq!(job.bytes, bytes.max(1) + 128 * asks);
        let (own, question) = (message_ps(bytes) as f64, message_ps(64) as f64);
        let mean = if asks == 0 { own } else { (own + 2.0 * question) / 3.0 };
        let of = job.latencies;
        for (found, due) in [(of.mean_message_latency_ns, mean), (of.max_message_latency_ns, own)] {
            prop_assert!((found.expect("some") * 1e3 - due).abs() < 1.0, "{of:?}");
        }
        let ranks = found.points[0].ranks.as_ref().expect("asked for");
        prop_assert_eq!(&ranks.messages, &[1, 0]);
        prop_assert_eq!(&ranks.bytes, &[bytes, 0]);
    }

    /// All engines find the same results for random schedules beside background jobs, and all
    /// messages arrive.
    #[test]
    fn engines_agree(
        net in prop_oneof![
            Just("slim_fly:q=5,p=3"), Just("fit_fly:q=5,p=3"), Just("fat_tree:levels=3,k=4"),
            Just("torus:shape=3x3,p=3"),
        ],
        ranks in 2_u32..10,
        rounds in proptest::collection::vec((1_u32..9, 0_u64..20_000, any::<bool>()), 1..6),
        per_endpoint in 1_u32..3,
        background in proptest::option::of(prop_oneof![
            Just("exponential"), Just("synchronised"), Just("jittered")
        ]),
        placement in prop_oneof![Just("linear"), Just("random"), Just("stripe")],
        seed: u64,
    ) {
        let on = built(net);
        // in each round every rank sends to the rank at this distance; the sends are concurrent or
        // sequential
        let mut all = ScheduleBuilder::new(ranks);
        for me in 0..ranks {
            let mut rank = all.rank();
            let mut last: Vec<u32> = Vec::new();
            for (tag, &(far, bytes, wild)) in (0..).zip(&rounds) {
                let from = if wild { ANY } else { (me + ranks - far % ranks) % ranks };
                let begin = rank.add(ScheduleOperation::calc(u64::from(me) * 100)).expect("room");
                for &before in &last {
                    rank.require(begin, before).expect("room");
                }
                let recv = rank.add(ScheduleOperation::recv(bytes, from, tag)).expect("room");
                let send = ScheduleOperation::send(bytes, (me + far) % ranks, tag);
                let send = rank.add(send).expect("room");
                rank.require(recv, begin).expect("room");
                rank.require_start(send, recv).expect("room");
                last = vec![recv, send];
            }
        }
        let schedule = all.finish().expect("all ranks");
        let places: Vec<u32> = (0..ranks).map(|rank| rank / per_endpoint).collect();
        let mut given = json!({
            "compute": "on", "seed": seed, "placement": placement, "ranks": true,
            "switch": {"virtual_channels": 8}, "selection": "adaptive", "costs": "codes",
        });
        if let Some(injection) = background {
            given["background"] = json!([
                {"ranks": 5, "bytes": 9000, "interval_ns": 1500, "injection": injection}
            ]);
        }
        let first = run(&on, &given, (&[&schedule], &places), 1);
        let row = &first.points[0];
        let sends = u64::from(ranks) * rounds.len() as u64;
        let own = &first.jobs[0];
        prop_assert!(own.messages <= 3 * sends);
        prop_assert_eq!(first.jobs.len(), 1 + usize::from(background.is_some()));
        prop_assert_eq!(first.jobs.iter().map(|job| job.packets).sum::<u64>(), row.packets);
        prop_assert_eq!(first.jobs.iter().map(|job| job.messages).sum::<u64>(), row.messages);
        if per_endpoint == 1 {
            let asks = rounds.iter().filter(|round| round.1 >= 8192).count() as u64;
            let to_others = rounds.iter().filter(|round| round.0 % ranks != 0).count() as u64;
            let asking = rounds.iter().filter(|r| r.1 >= 8192 && r.0 % ranks != 0).count() as u64;
            prop_assert!(asking <= asks);
            prop_assert_eq!(own.messages, u64::from(ranks) * (to_others + 2 * asking));
        }
        for (sync, threads, undo) in [
            ("threads", 2, "needed"), ("threads", 3, "needed"), ("optimistic", 2, "needed"),
            ("optimistic", 3, "forced"), ("optimistic", 2, "hostile"),
        ] {
            let mut other = given.clone();
            (other["sync"], other["undo"]) = (json!(sync), json!(undo));
            let found = run(&on, &other, (&[&schedule], &places), threads);
            prop_assert_eq!(&found.jobs, &first.jobs, "{}", sync);
            prop_assert_eq!(&found.points[0].digest, &row.digest);
            prop_assert_eq!(&found.points[0].ranks, &row.ranks);
            prop_assert_eq!(found.points[0].events, row.events);
        }
    }
}

/// A background job lasts as long as the traced job, and sends at the rate that its parameters set.
#[test]
fn the_background_has_its_intensity() {
    let on = built("slim_fly:q=5,p=4");
    let wait = in_turn(&[
        vec![ScheduleOperation::calc(1_000_000)],
        vec![ScheduleOperation::calc(1_000_000)],
    ]);
    let mut given = json!({
        "compute": "on", "background": [{"ranks": 100, "intensity": 0.2, "interval_ns": 10000}],
    });
    let found = run(&on, &given, (&[&wait], &[3, 9]), 1);
    let job = &found.jobs[1];
    assert_eq!((job.name.as_str(), job.ranks, job.max_comm_ns), ("background", 100, None));
    // one millisecond, plus the two delays until its end is known; 100 processes with a fifth of
    // 12.5 GiB/s each
    let due = 1.002e-3 * 100.0 * 0.2 * 12.5 * f64::from(1 << 30);
    assert!((job.bytes as f64 - due).abs() < 0.03 * due, "{} for {due}", job.bytes);
    given["background"][0]["injection"] = json!("synchronised");
    let found = run(&on, &given, (&[&wait], &[3, 9]), 1);
    // each sends at 0, 10, ... 1000 us; a rank that draws itself sends to the next rank
    assert_eq!(found.jobs[1].messages, 100 * 101);
    let each = (0.2_f64 * 12.5 * f64::from(1 << 30) * 10e-6).round() as u64;
    assert_eq!(found.jobs[1].bytes, 100 * 101 * each);
}

#[test]
fn what_cannot_be_is_refused() {
    let on = built("slim_fly:q=5,p=4");
    let trace = json!({"workload": "amg_like:p=2,levels=1,base_bytes=64"});
    let with = |more: Value| {
        let mut all = trace.clone();
        for (key, value) in more.as_object().expect("a table") {
            all[key] = value.clone();
        }
        all
    };
    for (given, why) in [
        (json!({"workload": "amg_like:p=6,levels=1,base_bytes=64"}), "216"),
        (json!({"workload": "amg_like:p=6"}), "levels"),
        (json!({"workload": "nothing:p=6"}), "there is no 'nothing'"),
        (json!({"background": [{"ranks": 10, "bytes": 8}]}), "there is no workload"),
        (json!({"ranks": true}), "there is no workload"),
        (json!({"placement": "random"}), "placement: there is no workload"),
        (json!({"compute": "on"}), "compute: there is no workload"),
        (json!({"collectives": "codes"}), "collectives: there is no workload"),
        (with(json!({"end_ns": 5000.0})), "end_ns"),
        (with(json!({"placement": "somewhere"})), "somewhere"),
        (with(json!({"background": [{"ranks": 10}]})), "intensity"),
        (with(json!({"background": [{"ranks": 1, "bytes": 8}]})), "2 or more"),
        (with(json!({"background": [{"ranks": 10, "intensity": 65.0}]})), "intensity"),
        (with(json!({"background": [{"ranks": 500, "bytes": 8}]})), "508"),
        (with(json!({"mpi": {"send_ns": -1.0}})), "mpi.send_ns"),
    ] {
        let refusal = tried(&on, &given, None, 1).expect_err("it is refused");
        assert!(refusal.contains(why), "{given}: {refusal}");
    }
    let alone =
        in_turn(&[vec![ScheduleOperation::send(8, 1, 1)], vec![ScheduleOperation::recv(8, 0, 2)]]);
    for background in [json!([]), json!([{"ranks": 5, "bytes": 8}])] {
        let given = json!({"background": background});
        let refusal =
            tried(&on, &given, Some((&[&alone], &[0, 1])), 1).expect_err("nobody receives");
        assert!(refusal.contains("rank 1, operation 1: recv 8b from 0 tag 2"), "{refusal}");
        assert!(refusal.contains("messages without a receive"), "{refusal}");
    }
    let refusal = tried(&on, &json!({}), Some((&[&alone], &[0])), 1).expect_err("one endpoint");
    assert!(refusal.contains("1 endpoints for 2 ranks"), "{refusal}");
    let refusal = tried(&on, &json!({}), Some((&[&alone], &[0, 200])), 1).expect_err("no endpoint");
    assert!(refusal.contains("there is no endpoint 200"), "{refusal}");
}

/// The bytes of all channels add up to the bytes times hops of all packets, and all time spans to
/// all arrivals.
#[test]
fn tables_add_up() {
    let on = built("dragonfly:h=2");
    let given = json!({
        "workload": [
            "amg_like:p=3,levels=2,base_bytes=30000", "mg_like:p=2,levels=1,base_bytes=5000",
        ],
        "links": true, "ranks": true, "series_ns": 2000.0, "placement": "random",
        "collectives": "codes",
    });
    let found = tried(&on, &given, None, 1).expect("it runs");
    let row = &found.points[0];
    let (links, series) = (row.links.as_ref().expect("asked"), row.series.as_ref().expect("asked"));
    assert_eq!(links.bytes.len(), 2 * on.links().len());
    assert_eq!(series.packets.iter().sum::<u64>(), row.packets);
    let bytes: u64 = found.jobs.iter().map(|job| job.bytes).sum();
    let span = 2e-6 * on.endpoints().len() as f64 * 1e9 / 8.0;
    let arrived: f64 = series.accepted_gbps.iter().map(|rate| rate * span).sum();
    assert!((arrived - bytes as f64).abs() < 1.0);
    let busiest = links.used.iter().copied().fold(0.0, f64::max);
    assert!((busiest - row.busiest_link_use).abs() < 1e-12);
    let ranks = row.ranks.as_ref().expect("asked");
    assert_eq!(ranks.rank, (0..27).chain(0..8).collect::<Vec<_>>());
    assert_eq!(ranks.job, [[0; 27].as_slice(), &[1; 8]].concat());
    // twice the number of neighbour pairs in a box of 3 x 3 x 3, and the corner pairs at distance 2
    assert_eq!(ranks.messages[..27].iter().sum::<u64>(), 2 * (7 * 7 * 7 - 27) + 8 * 7);
    // each box of 2 x 2 x 2 has three faces
    assert_eq!(ranks.messages[27..], [3; 8]);
    assert_eq!(ranks.bytes[27..], [3 * 5000; 8]);
    let counted = |of: fn(&JobResultRow) -> u64| found.jobs.iter().map(of).sum::<u64>();
    assert_eq!(counted(|job| job.nonminimal_packets), row.nonminimal_packets);
    assert_eq!(counted(|job| job.messages), row.messages);
    let last = found.jobs.iter().map(|job| job.end_ns).fold(0.0, f64::max);
    assert!((last - row.end_ns).abs() < 1e-9);
    for job in &found.jobs {
        let rate = job.bytes as f64 / f64::from(job.ranks) / (job.end_ns / 1e9);
        assert!((job.accepted_gbps * 1e9 / 8.0 / rate - 1.0).abs() < 1e-9);
    }
    let longest = ranks.comm_ns[..27].iter().copied().fold(0.0, f64::max);
    assert_eq!(Some(longest), found.jobs[0].max_comm_ns);
    // without adaptive routing each packet crosses one channel fewer than it visits routers
    let hops = row.mean_switches.expect("some") * row.packets as f64;
    assert!(links.bytes.iter().sum::<u64>() as f64 <= hops * 4096.0);
}
