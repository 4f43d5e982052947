//! The report of a run, with names in place of numbers of switches, and nanoseconds.

use super::ended::{BusyRouterPort, FinalRunState};
use super::latencies::{LatencyFigures, accepted};
use super::model::PacketSimulationModel;
use super::offer::{AcceptedTraffic, ClassOfferedTraffic};
use super::plant::SimulatedNetwork;
use super::replay::{JobResultRow, ProcessResultColumns, ReplayedJobs};
use super::row::{
    ArrivalSeriesColumns, BusyLink, LinkUseColumns, LoadPointResultRow, TrafficClassResultRow,
};
use super::stuck::BlockedPacket;
use super::tally::{ArrivalStatistics, ArrivalSums};
use super::window::MeasuredWindow;
use base::SwitchId;
use des::SimulationOutcome;
use fabric::Topology;
use fabric::network::PortPeer;
use paths::wiring::RouterWiring;
use std::sync::Arc;

/// What the engine counted during a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct EngineCounts {
    /// Number of events that were handled and not undone.
    pub events: u64,
    /// The end of the measured time, ps: the time of the last event, or the end of all jobs.
    pub last_ps: u64,
    /// Number of time windows or rounds of the engine.
    pub windows: u64,
    /// Number of events that were undone.
    pub undone: u64,
    /// The part of all handled events that was not undone.
    pub efficiency: f64,
}

impl EngineCounts {
    /// The counts of an engine's outcome.
    pub(super) fn of(found: &SimulationOutcome<PacketSimulationModel>) -> Self {
        let SimulationOutcome { events, last_ps, windows, undone, .. } = *found;
        Self { events, last_ps, windows, undone, efficiency: found.efficiency() }
    }
}

/// The builder of a run's report, which knows the names of switches and endpoints.
pub(super) struct RunReportBuilder<'a> {
    pub(super) on: &'a Topology,
    pub(super) plant: &'a SimulatedNetwork,
    pub(super) replay: Option<&'a Arc<ReplayedJobs>>,
    /// Whether overtaken packets were counted.
    pub(super) overtaken: bool,
    /// How many of the busiest links are listed.
    pub(super) top: u32,
    /// The part of the run that is measured.
    pub(super) window: MeasuredWindow,
}

fn in_ns(ps: f64) -> f64 {
    ps / 1e3
}

impl RunReportBuilder<'_> {
    fn name(&self, router: u32) -> &str {
        &self.on.switches()[router as usize].name
    }

    fn leads_to(&self, router: u32, port: u16) -> &str {
        self.name(self.plant.behind(router, port).lp)
    }

    fn cycle(&self, waits: &[BlockedPacket]) -> Option<Vec<String>> {
        let steps = waits.iter().map(|w| {
            let to = self.leads_to(w.router, w.port);
            let [from, last] =
                [w.packet.from, w.packet.to].map(|e| self.on.endpoints()[e as usize].name.as_str());
            format!("{} -> {to}, virtual channel {}: {from} to {last}", self.name(w.router), w.lane)
        });
        (!waits.is_empty()).then(|| steps.collect())
    }

    /// The report without the parts that appear only on request.
    pub(super) fn row(
        &self,
        load: Option<f64>,
        ran: &EngineCounts,
        ended: &FinalRunState,
        tally: &ArrivalStatistics,
        waits: &[BlockedPacket],
    ) -> LoadPointResultRow {
        let sums = tally.all();
        let busiest = self.busiest(ended, ran.last_ps);
        LoadPointResultRow {
            offered_load: load,
            accepted_load: None,
            saturated: None,
            accepted_gbps: self.accepted(sums.bytes, self.time_ps(sums.last_ps)),
            packets: sums.chunks.count,
            messages: sums.messages.count,
            mean_hops: sums.mean_hops().map(|switches| switches - 1.0),
            mean_switches: sums.mean_hops(),
            latencies: LatencyFigures::of(&sums),
            nonminimal_packets: sums.detours,
            overtaken_packets: self.overtaken.then_some(sums.overtaken),
            end_ns: in_ns(sums.last_ps as f64),
            events: ran.events,
            windows: ran.windows,
            rollbacks: ran.undone,
            efficiency: ran.efficiency,
            busiest_link_use: busiest.first().map_or(0.0, |link| link.used),
            busiest_link: busiest
                .first()
                .map_or_else(String::new, |link| format!("{} -> {}", link.from, link.to)),
            busiest_links: busiest.into_iter().take(self.top as usize).collect(),
            digest: format!("{:016x}", ended.digest),
            deadlocked: false,
            cycle: self.cycle(waits),
            jobs: self.jobs(ended, tally),
            over_seeds: None,
            classes: None,
            links: None,
            ranks: None,
            series: None,
            wall_s: None,
        }
    }

    /// The busiest channels between routers, in a run that lasts until `last_ps`.
    fn busiest(&self, ended: &FinalRunState, last_ps: u64) -> Vec<BusyLink> {
        let time_ps = self.time_ps(last_ps).max(1) as f64;
        let busy = |link: &BusyRouterPort| {
            let seats = RouterWiring::seats(self.on, SwitchId(link.router));
            let port = seats.get(usize::from(link.port)).copied().unwrap_or(u16::MAX);
            let to_port = match self.on.peer(SwitchId(link.router), port) {
                PortPeer::Switch(channel) => self.on.head(channel).port,
                PortPeer::Terminal(_) | PortPeer::Empty => u16::MAX,
            };
            BusyLink {
                from: self.name(link.router).to_owned(),
                port,
                to: self.leads_to(link.router, link.port).to_owned(),
                to_port,
                used: link.busy_ps as f64 / time_ps,
            }
        };
        ended.busiest.iter().map(busy).collect()
    }

    fn accepted(&self, bytes: u64, last_ps: u64) -> f64 {
        accepted(bytes, f64::from(self.plant.endpoints), last_ps)
    }

    /// The length of the measured time, ps, if the last event or arrival was at `last_ps`.
    fn time_ps(&self, last_ps: u64) -> u64 {
        self.window.length_ps().unwrap_or(last_ps)
    }

    /// The accepted load of each class of traffic.
    pub(super) fn rates(
        &self,
        offers: &[ClassOfferedTraffic],
        tally: &ArrivalStatistics,
    ) -> Vec<AcceptedTraffic> {
        let last_ps = tally.jobs.iter().map(|sums| sums.last_ps).max().unwrap_or(0);
        let of = |(offer, sums): (&ClassOfferedTraffic, &ArrivalSums)| {
            offer.accepted(sums.bytes, self.time_ps(last_ps), self.window.length_ps().is_some())
        };
        offers.iter().zip(&tally.jobs).map(of).collect()
    }

    /// The results of each class of traffic.
    pub(super) fn classes(
        &self,
        offers: &[ClassOfferedTraffic],
        tally: &ArrivalStatistics,
    ) -> Vec<TrafficClassResultRow> {
        let last_ps = tally.jobs.iter().map(|sums| sums.last_ps).max().unwrap_or(0);
        let of = |(rate, sums): (AcceptedTraffic, &ArrivalSums)| TrafficClassResultRow {
            offered_load: rate.offered,
            accepted_load: rate.load,
            saturated: rate.saturated,
            accepted_gbps: self.accepted(sums.bytes, self.time_ps(last_ps)),
            packets: sums.chunks.count,
            messages: sums.messages.count,
            mean_hops: sums.mean_hops().map(|switches| switches - 1.0),
            mean_switches: sums.mean_hops(),
            latencies: LatencyFigures::of(sums),
        };
        self.rates(offers, tally).into_iter().zip(&tally.jobs).map(of).collect()
    }

    fn jobs(&self, ended: &FinalRunState, tally: &ArrivalStatistics) -> Vec<JobResultRow> {
        let rows = |it: &Arc<ReplayedJobs>| it.job_rows(&tally.jobs, &ended.times, self.overtaken);
        self.replay.map_or_else(Vec::new, rows)
    }

    /// The use of each channel between routers, in a run that lasts until `last_ps`.
    pub(super) fn links(&self, ended: &FinalRunState, last_ps: u64) -> LinkUseColumns {
        let mut rows = LinkUseColumns::default();
        let time_ps = self.time_ps(last_ps).max(1) as f64;
        let mut seats = (u32::MAX, Vec::new());
        for link in &ended.links {
            if seats.0 != link.router {
                seats = (link.router, RouterWiring::seats(self.on, SwitchId(link.router)));
            }
            rows.from.push(self.name(link.router).to_owned());
            rows.to.push(self.leads_to(link.router, link.port).to_owned());
            rows.port.push(seats.1.get(usize::from(link.port)).copied().unwrap_or(u16::MAX));
            rows.plane.push(self.on.switches()[link.router as usize].plane.into());
            rows.bytes.push(link.bytes);
            rows.used.push(link.busy_ps as f64 / time_ps);
            rows.most_waiting.push(link.most);
            // chunks that still wait at the end of the run count as waiting until the end of the
            // window
            let end_ps = if self.window == MeasuredWindow::WHOLE { last_ps } else { u64::MAX };
            let blocked_ps = link.blocked_ps + self.window.overlap_ps(link.since_ps, end_ps);
            rows.blocked.push(blocked_ps as f64 / time_ps);
        }
        rows
    }

    /// The times of each process of workloads.
    pub(super) fn ranks(&self, ended: &FinalRunState) -> ProcessResultColumns {
        self.replay
            .map_or_else(ProcessResultColumns::default, |replay| replay.rank_rows(&ended.times))
    }

    /// Arrivals in spans of this length, ns.
    pub(super) fn series(&self, tally: &ArrivalStatistics, span_ns: f64) -> ArrivalSeriesColumns {
        let mut rows = ArrivalSeriesColumns::default();
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
