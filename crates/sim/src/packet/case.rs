//! A case: a network as a dialect sees it, with traffic, ready to run at any load.

use super::dialect::{Made, made};
use super::ended::Ended;
use super::endpoint::{Births, Drive, Rails};
use super::model::Model;
use super::plant::{Class, Plant};
use super::route::Route;
use super::row::Row;
use super::spec::{Dialect, Spec, Sync, Undo};
use super::stuck::{Waits, circle};
use super::tally::Tally;
use super::timing::Timing;
use crate::flit::case::On;
use base::{Stop, Watch};
use des::{Ahead, Outcome, optimistic, sequential, windows};
use fabric::Topology;
use std::sync::Arc;
use traffic::destinations::Destinations;
use traffic::sending::Sending;

/// A case.
pub struct Case {
    spec: Spec,
    on: Arc<Topology>,
    plant: Arc<Plant>,
    timing: Timing,
    route: Arc<Route>,
    births: Births,
    concentration: u32,
    to: Destinations,
    /// Whether packets are proved never to wait in a circle.
    pub verified: bool,
}

impl Case {
    /// Builds and proves it; `own` is traffic of the user's, in place of the spec's.
    ///
    /// # Errors
    /// When something does not fit, packets may wait in a circle and `unverified` is not set, or
    /// `watch` says stop.
    pub fn new(
        on: On,
        spec: &Spec,
        own: Option<&Sending>,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        spec.check()?;
        let t = on.topology().clone();
        let endpoints = t.endpoints().len() as u32;
        let to = match (own, &on) {
            (Some(sending), _) => Destinations::of_sending(&t, sending)?,
            // CODES draws a step that is neither none nor one back
            (None, _) if spec.traffic == "uniform" && spec.is_dragonfly() && endpoints > 2 => {
                Destinations::steps(endpoints, &(1..endpoints - 1).collect::<Vec<_>>())
            }
            (None, On::Tables(r)) => Destinations::over(r, &spec.traffic, spec.seed, watch)?,
            (None, On::Network(t)) => Destinations::named(t, &spec.traffic, spec.seed, watch)?,
        };
        let Made { plant, timing, route, births, concentration, verified } = made(spec, on, watch)?;
        Ok(Self {
            spec: spec.clone(),
            on: t,
            plant: Arc::new(plant),
            timing,
            route: Arc::new(route),
            births,
            concentration,
            to,
            verified,
        })
    }

    /// The model at a load.
    pub(super) fn model(&self, load: f64) -> Model {
        let spec = &self.spec;
        let rate = self.plant.of(Class::Endpoint).gib_per_s * f64::from(1 << 30);
        // CODES knows no random rails: those are dedicated there
        let rails = match (spec.dialect, spec.rails) {
            (Dialect::SlimFly, Rails::Random) => Rails::Dedicated,
            (_, rails) => rails,
        };
        let drive = Drive {
            to: self.to.clone(),
            messages: spec.end_us.is_none().then_some(spec.messages),
            bytes: spec.message_bytes,
            interval_ps: f64::from(spec.message_bytes) * 1e12 / (load * rate),
            births: self.births,
        };
        let senders = (0..self.plant.endpoints).filter(|e| self.to.is_active(*e)).count() as u64;
        let each = u64::from(spec.message_bytes.div_ceil(spec.packet_bytes));
        let expected = senders * each * u64::from(drive.messages.unwrap_or(0));
        Model {
            expected,
            plant: self.plant.clone(),
            timing: self.timing.clone(),
            route: self.route.clone(),
            rails,
            drive,
            concentration: self.concentration,
            seed: spec.seed,
        }
    }

    /// One run at a load, on so many threads where its engine is parallel; the result is the same
    /// with any number.
    ///
    /// # Errors
    /// When links have no latency at all and there are several threads, or `watch` says stop.
    pub fn point(&self, load: f64, threads: usize, watch: &dyn Watch) -> Result<Row, Stop> {
        let model = self.model(load);
        let end_ps = self.spec.end_us.map_or(u64::MAX, |us| (us * 1e6).round() as u64);
        let parts = || model.parts(threads.clamp(1, 1024) as u16);
        let found = match self.spec.sync {
            Sync::Sequential => sequential(&model, end_ps, watch)?,
            Sync::Threads => windows(&model, &parts(), end_ps, watch)?,
            Sync::Optimistic => {
                let ahead = Ahead {
                    span_ps: ((self.spec.ahead_ns * 1000.0).round() as u64).max(1),
                    forced: self.spec.undo == Undo::Forced,
                    hostile: (self.spec.undo == Undo::Hostile).then_some(self.spec.seed),
                };
                optimistic(&model, &parts(), end_ps, ahead, watch)?
            }
        };
        let ended = Ended::of(&model, (0..).zip(&found.states));
        // a run that is ended by its time may end with packets on their way
        let is_stuck = self.spec.end_us.is_none() && ended.waits;
        let waits = if is_stuck { circle(&model, &found.states) } else { Vec::new() };
        Ok(self.row(load, &Ran::of(&found), &ended, &found.tally, &waits))
    }

    fn row(&self, load: f64, ran: &Ran, ended: &Ended, tally: &Tally, waits: &[Waits]) -> Row {
        let in_us = |ps: f64| ps / 1e6;
        let quantile = |share| tally.quantile_ps(share).map(|ps| in_us(ps as f64));
        let seconds = tally.last_ps as f64 / 1e12;
        let gib = tally.bytes as f64 / f64::from(1 << 30);
        let share = f64::from(self.plant.endpoints) * seconds;
        let name = |router: u32| self.on.switches()[router as usize].name.as_str();
        let leads_to = |router, port| name(self.plant.behind(router, port).lp);
        let told = waits.iter().map(|w| {
            let to = leads_to(w.router, w.port);
            let [from, last] =
                [w.packet.from, w.packet.to].map(|e| self.on.endpoints()[e as usize].name.as_str());
            format!("{} -> {to}, virtual channel {}: {from} to {last}", name(w.router), w.lane)
        });
        let busiest = ended.busiest;
        Row {
            offered_load: load,
            accepted_gib_per_s: if share > 0.0 { gib / share } else { 0.0 },
            packets: tally.chunks,
            messages: tally.messages,
            mean_hops: tally.mean_hops(),
            mean_latency_us: tally.mean_latency_ps().map(in_us),
            p50_latency_us: quantile(0.5),
            p99_latency_us: quantile(0.99),
            max_latency_us: (tally.chunks > 0).then(|| in_us(tally.max_latency_ps as f64)),
            nonminimal_packets: tally.detours,
            end_us: in_us(tally.last_ps as f64),
            events: ran.events,
            windows: ran.windows,
            rollbacks: ran.undone,
            efficiency: ran.efficiency,
            busiest_link_use: busiest.busy_ps as f64 / (ran.last_ps.max(1) as f64),
            busiest_link: if busiest.busy_ps > 0 {
                format!("{} -> {}", name(busiest.router), leads_to(busiest.router, busiest.port))
            } else {
                String::new()
            },
            digest: format!("{:016x}", ended.digest),
            deadlocked: self.spec.end_us.is_none() && ended.waits,
            circle: (!waits.is_empty()).then(|| told.collect()),
            wall_s: None,
        }
    }
}

/// How a run went.
struct Ran {
    events: u64,
    last_ps: u64,
    windows: u64,
    undone: u64,
    efficiency: f64,
}

impl Ran {
    fn of(found: &Outcome<Model>) -> Self {
        let Outcome { events, last_ps, windows, undone, .. } = *found;
        Self { events, last_ps, windows, undone, efficiency: found.efficiency() }
    }
}

impl Spec {
    /// Whether the dialect draws receivers as that of dragonflies.
    fn is_dragonfly(&self) -> bool {
        matches!(self.dialect, Dialect::Dally | Dialect::DfPlus)
    }
}
