//! What people read of a run: names in place of numbers, microseconds in place of picoseconds.

use super::ended::Ended;
use super::latencies::{Latencies, accepted};
use super::model::Model;
use super::plant::Plant;
use super::replay::{JobRow, RankRow, Replay};
use super::row::{ClassRow, LinkRow, Row, SeriesRow};
use super::stuck::Waits;
use super::tally::{Sums, Tally};
use base::SwitchId;
use des::Outcome;
use fabric::Topology;
use paths::wiring::Wiring;
use std::sync::Arc;

/// How a run went.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran {
    /// Events that stay.
    pub events: u64,
    /// When what is measured was over, ps: the last of them, or the end of all jobs.
    pub last_ps: u64,
    /// Windows or rounds.
    pub windows: u64,
    /// Events that were undone.
    pub undone: u64,
    /// The part of all that stays.
    pub efficiency: f64,
}

impl Ran {
    /// Of one of the engines.
    pub(super) fn of(found: &Outcome<Model>) -> Self {
        let Outcome { events, last_ps, windows, undone, .. } = *found;
        Self { events, last_ps, windows, undone, efficiency: found.efficiency() }
    }
}

/// What knows the names of everything.
pub(super) struct Teller<'a> {
    pub(super) on: &'a Topology,
    pub(super) plant: &'a Plant,
    pub(super) replay: Option<&'a Arc<Replay>>,
    /// Whether packets that were overtaken were counted.
    pub(super) overtaken: bool,
}

fn in_ns(ps: f64) -> f64 {
    ps / 1e3
}

impl Teller<'_> {
    fn name(&self, router: u32) -> &str {
        &self.on.switches()[router as usize].name
    }

    fn leads_to(&self, router: u32, port: u16) -> &str {
        self.name(self.plant.behind(router, port).lp)
    }

    fn circle(&self, waits: &[Waits]) -> Option<Vec<String>> {
        let told = waits.iter().map(|w| {
            let to = self.leads_to(w.router, w.port);
            let [from, last] =
                [w.packet.from, w.packet.to].map(|e| self.on.endpoints()[e as usize].name.as_str());
            format!("{} -> {to}, virtual channel {}: {from} to {last}", self.name(w.router), w.lane)
        });
        (!waits.is_empty()).then(|| told.collect())
    }

    /// All of it but what is asked for by name.
    pub(super) fn row(
        &self,
        load: Option<f64>,
        ran: &Ran,
        ended: &Ended,
        tally: &Tally,
        waits: &[Waits],
    ) -> Row {
        let sums = tally.all();
        let busiest = ended.busiest;
        Row {
            offered_load: load,
            accepted_gbps: self.accepted(sums.bytes, sums.last_ps),
            packets: sums.chunks.count,
            messages: sums.messages.count,
            mean_hops: sums.mean_hops().map(|switches| switches - 1.0),
            mean_switches: sums.mean_hops(),
            latencies: Latencies::of(&sums),
            nonminimal_packets: sums.detours,
            overtaken_packets: self.overtaken.then_some(sums.overtaken),
            end_ns: in_ns(sums.last_ps as f64),
            events: ran.events,
            windows: ran.windows,
            rollbacks: ran.undone,
            efficiency: ran.efficiency,
            busiest_link_use: busiest.busy_ps as f64 / (ran.last_ps.max(1) as f64),
            busiest_link: if busiest.busy_ps > 0 {
                let to = self.leads_to(busiest.router, busiest.port);
                format!("{} -> {to}", self.name(busiest.router))
            } else {
                String::new()
            },
            digest: format!("{:016x}", ended.digest),
            deadlocked: false,
            circle: self.circle(waits),
            jobs: self.jobs(ended, tally),
            classes: None,
            links: None,
            ranks: None,
            series: None,
            wall_s: None,
        }
    }

    fn accepted(&self, bytes: u64, last_ps: u64) -> f64 {
        accepted(bytes, f64::from(self.plant.endpoints), last_ps)
    }

    /// All classes of traffic, with their loads.
    pub(super) fn classes(&self, loads: &[f64], tally: &Tally) -> Vec<ClassRow> {
        let last_ps = tally.jobs.iter().map(|sums| sums.last_ps).max().unwrap_or(0);
        let of = |(&offered_load, sums): (&f64, &Sums)| ClassRow {
            offered_load,
            accepted_gbps: self.accepted(sums.bytes, last_ps),
            packets: sums.chunks.count,
            messages: sums.messages.count,
            mean_hops: sums.mean_hops().map(|switches| switches - 1.0),
            mean_switches: sums.mean_hops(),
            latencies: Latencies::of(sums),
        };
        loads.iter().zip(&tally.jobs).map(of).collect()
    }

    fn jobs(&self, ended: &Ended, tally: &Tally) -> Vec<JobRow> {
        let rows = |it: &Arc<Replay>| it.job_rows(&tally.jobs, &ended.times, self.overtaken);
        self.replay.map_or_else(Vec::new, rows)
    }

    /// All channels between routers, over a run of so many ps.
    pub(super) fn links(&self, ended: &Ended, last_ps: u64) -> LinkRow {
        let mut rows = LinkRow::default();
        let mut seats = (u32::MAX, Vec::new());
        for did in &ended.links {
            if seats.0 != did.router {
                seats = (did.router, Wiring::seats(self.on, SwitchId(did.router)));
            }
            rows.from.push(self.name(did.router).to_owned());
            rows.to.push(self.leads_to(did.router, did.port).to_owned());
            rows.port.push(seats.1.get(usize::from(did.port)).copied().unwrap_or(u16::MAX));
            rows.plane.push(self.on.switches()[did.router as usize].plane.into());
            rows.bytes.push(did.bytes);
            rows.used.push(did.busy_ps as f64 / last_ps.max(1) as f64);
            rows.most_waiting.push(did.most);
            let blocked_ps = did.blocked_ps + last_ps.saturating_sub(did.since_ps);
            rows.blocked.push(blocked_ps as f64 / last_ps.max(1) as f64);
        }
        rows
    }

    /// All processes of traces.
    pub(super) fn ranks(&self, ended: &Ended) -> RankRow {
        self.replay.map_or_else(RankRow::default, |replay| replay.rank_rows(&ended.times))
    }

    /// What arrived in spans of this length, ns.
    pub(super) fn series(&self, tally: &Tally, span_ns: f64) -> SeriesRow {
        let mut rows = SeriesRow::default();
        let all_gbit = span_ns * f64::from(self.plant.endpoints) / 8.0;
        for (at, span) in tally.series.iter().enumerate() {
            rows.end_ns.push((at + 1) as f64 * span_ns);
            rows.packets.push(span.chunks);
            rows.accepted_gbps.push(span.bytes as f64 / all_gbit);
            let mean_ps = span.latency_ps as f64 / span.chunks.max(1) as f64;
            rows.mean_latency_ns.push((span.chunks > 0).then(|| in_ns(mean_ps)));
        }
        rows
    }
}
