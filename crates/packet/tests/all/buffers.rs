//! Tests of buffers and of the use of links at the packet level, against closed forms.

use crate::common::built;
use base::QuietWatch;
use packet::replay::UserSuppliedJobs;
use packet::row::LoadPointResultRow;
use packet::spec::PacketSimulationParameters;
use packet::stage::{PacketSimulationInputs, PacketSimulationRecord};
use proptest::prelude::*;
use serde_json::{Value, json};
use traffic::workload::{Schedule, ScheduleBuilder, ScheduleOperation};

fn run(
    inline: &str,
    given: &Value,
    own: Option<(&[&Schedule], &[u32])>,
    threads: usize,
) -> PacketSimulationRecord {
    let mut given = given.clone();
    if let Some((schedules, _)) = own {
        given["workload"] = json!(vec!["own"; schedules.len()]);
    }
    let spec: PacketSimulationParameters = serde_json::from_value(given).expect("parameters");
    let jobs = UserSuppliedJobs { schedules: own.map(|o| o.0), places: own.map(|o| o.1) };
    let driven =
        PacketSimulationInputs { topology: &built(inline), routing: None, traffic: None, jobs };
    spec.simulate(driven, threads, None, &QuietWatch).expect("it runs")
}

/// Transmission time of `bytes` on a link of 12.5 GiB/s, ns.
fn time_ns(bytes: u32) -> f64 {
    f64::from(bytes) * 1e9 / (12.5 * f64::from(1 << 30))
}

/// Traffic over one path between two routers with one virtual channel, whose buffer has `room`
/// bytes.
fn between_two(bytes: u32, room: u32, latency_ns: f64) -> Value {
    json!({
        "load": 8.0, "messages": 2000, "message_bytes": bytes, "traffic": "shift:1",
        "injection": "synchronised",
        "link": {"latency_ns": latency_ns, "local_buffer_bytes": room},
        "switch": {"virtual_channels": 1},
    })
}

/// Time from when a packet leaves a router until its credit returns there, ns.
fn back_ns(bytes: u32, latency_ns: f64) -> f64 {
    2.0 * latency_ns + 90.0 + time_ns(bytes) + time_ns(8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A buffer holds the packets that fit by their own lengths, and that number of packets passes
    /// per round trip of a packet and its credit.
    #[test]
    fn packets_take_their_own_bytes(
        bytes in 32_u32..4096, room in 4096_u32..20_000, latency_ns in 100_u32..2000
    ) {
        let latency_ns = f64::from(latency_ns);
        let row = run("complete:n=2,p=1", &between_two(bytes, room, latency_ns), None, 1)
            .points.remove(0);
        let in_flight = f64::from(room / bytes);
        let each_ns = (back_ns(bytes, latency_ns) / in_flight).max(time_ns(bytes));
        // the first packet waits for no other, and the last one still has to travel
        let due_ns = 2000.0 * each_ns;
        let found_ns = row.end_ns;
        let ends_ns = 4.0 * back_ns(bytes, latency_ns);
        prop_assert!((found_ns - due_ns).abs() < ends_ns, "{found_ns} for {due_ns}");
    }
}

/// Packets of 4,096 and of 100 bytes alternate, with room for one long packet and two short ones: a
/// pair passes per round trip of the long packet and its credit.
#[test]
fn packets_of_mixed_sizes_share_a_buffer() {
    let row = run("complete:n=2,p=1", &between_two(4196, 4296, 1000.0), None, 1).points.remove(0);
    let due_ns = 2000.0 * back_ns(4096, 1000.0);
    let found_ns = row.end_ns;
    assert!((found_ns - due_ns).abs() < 0.003 * due_ns, "{found_ns} for {due_ns}");
}

/// If all packets have the same length, the maximum length has no effect.
#[test]
fn short_packets_are_as_packets_of_that_length() {
    let of = |packet_bytes: u32, more: &Value| {
        let mut given = json!({
            "load": 0.9, "messages": 200, "message_bytes": 64, "packet_bytes": packet_bytes,
            "link": {"latency_ns": 300.0}, "switch": {"virtual_channels": 8},
        });
        for (key, value) in more.as_object().expect("a table") {
            given[key] = value.clone();
        }
        run("slim_fly:q=5,p=3", &given, None, 1).points.remove(0)
    };
    for more in [json!({}), json!({"selection": "valiant"}), json!({"selection": "par"})] {
        assert_eq!(of(64, &more), of(4096, &more), "{more}");
    }
}

/// A message from one router to the other, beside a background job that sends without end.
fn beside(background: &Value, more: &Value, threads: usize) -> (LoadPointResultRow, f64) {
    let mut all = ScheduleBuilder::new(2);
    all.rank().add(ScheduleOperation::send(400 * 4096, 1, 0)).expect("room");
    all.rank().add(ScheduleOperation::recv(400 * 4096, 0, 0)).expect("room");
    let message = all.finish().expect("both ranks");
    let mut given = json!({
        "background": background, "links": true, "link": {"latency_ns": 25.0},
        "mpi": {"eager_bytes": 1 << 24, "send_ns_per_byte": 0.0},
    });
    for (key, value) in more.as_object().expect("a table") {
        given[key] = value.clone();
    }
    // both senders are on the first router
    let mut found = run("complete:n=2,p=2", &given, Some((&[&message], &[0, 2, 1, 3])), threads);
    (found.points.remove(0), found.jobs[0].max_comm_ns.expect("it communicates"))
}

/// The reported use of a link counts only until the jobs are done, however long background jobs
/// continue.
#[test]
fn links_beside_a_background_are_used_until_jobs_are_done() {
    for interval_ns in [1e5, 1e6, 1e8] {
        let (row, done_ns) =
            beside(&json!({"ranks": 2, "bytes": 64, "interval_ns": interval_ns}), &json!({}), 1);
        // each background packet takes 5 ns, and a few of them come in between
        let due = 400.0 * time_ns(4096) / done_ns;
        let found = row.busiest_link_use;
        assert!((found - due).abs() < 0.001, "{found} for {due}, every {interval_ns} ns");
        let links = row.links.expect("they are asked for");
        let most = links.used.iter().copied().fold(0.0, f64::max);
        assert!((most - found).abs() < 1e-12);
    }
}

/// A background job that offers more than its link carries keeps sending for long after the jobs
/// are done. The link still counts as busy only from its first packet until the jobs are done.
#[test]
fn what_is_sent_after_the_jobs_does_not_count() {
    let background =
        json!({"ranks": 2, "bytes": 2_000_000, "interval_ns": 20000, "injection": "synchronised"});
    let (row, done_ns) = beside(&background, &json!({}), 1);
    assert!(row.end_ns > 2.0 * done_ns, "it goes on: {} {done_ns}", row.end_ns);
    let links = row.links.clone().expect("they are asked for");
    let there = (0..2).find(|&at| links.from[at] < links.to[at]).expect("a channel");
    // the background's first packet leaves its endpoint at once and the router 25 + 90 ns later;
    // the message's last packet then takes its transmission time and another 25 + 90 + 25 ns
    let due = (done_ns - 115.0 - 140.0 - time_ns(4096)) / done_ns;
    let found = links.used[there];
    assert!(found <= 1.0 && found >= due - 1e-9, "{found} for {due} or more");
    assert!(links.blocked.iter().all(|&part| (0.0..=1.0).contains(&part)));
    for (sync, threads, undo) in [
        ("threads", 2, "needed"),
        ("optimistic", 2, "needed"),
        ("optimistic", 2, "forced"),
        ("optimistic", 1, "hostile"),
    ] {
        let (other, _) = beside(&background, &json!({"sync": sync, "undo": undo}), threads);
        let other = LoadPointResultRow { windows: 0, rollbacks: 0, efficiency: 1.0, ..other };
        assert_eq!(
            other,
            LoadPointResultRow { windows: 0, rollbacks: 0, ..row.clone() },
            "{sync} {undo}"
        );
    }
}

/// The optimistic engine undoes at most a few times the events that it keeps, however far it may
/// run ahead, and finds the same results.
#[test]
fn far_ahead_is_not_for_long() {
    let given = |sync: &str| {
        json!({"load": 0.6, "messages": 10, "sync": sync, "ahead_ns": 5000.0,
               "switch": {"virtual_channels": 4}})
    };
    let due = run("slim_fly:q=5,p=3", &given("sequential"), None, 1).points.remove(0);
    let found = run("slim_fly:q=5,p=3", &given("optimistic"), None, 2).points.remove(0);
    assert_eq!((found.digest, found.events), (due.digest, due.events));
    assert!(found.rollbacks < 2 * found.events, "{} of {}", found.rollbacks, found.events);
}
