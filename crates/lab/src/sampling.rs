//! Runs a BookSim configuration: its sampling periods, and the rule that ends them.
//!
//! Source: `BookSim` 2, src/trafficmanager.cpp, from which the rules were read. During warm-up,
//! statistics restart with every second period and count all packets that arrive; afterwards they
//! count the packets injected since then. The mean that is compared with `latency_thres` is taken
//! over these packets and over all flits in flight, each with its current age.

use crate::booksim::{BookSimRunInputs, case};
use base::{ComputationError, ProgressWatch, Refusal, ResourceNeed};
use flit::booksim::freedom;
use flit::booksim::routing::EnumerableRouting;
use flit::engine::{FlitEngineInputs, TrafficClassCounts};
use flit::row::LoadPointResultRow;
use flit::run::{FlitRunResult, RunEndCondition, SteppedFlitSimulation};
use flit::seen::{ChannelCounts, NetworkNames};
use flit::stage::{HOPS_A_SECOND, HOPS_IDLE};
use formats::booksim::{BookSimConfig, BookSimTrafficClass, SimulationKind};
use serde::Serialize;
use traffic::process::{InjectedTrafficClass as Sent, OfferedLoad};
use verify::Verdict;

/// A simulation of a BookSim configuration, ready to run.
pub struct BookSimSimulation {
    case: BookSimRunInputs,
    config: BookSimConfig,
    /// Why the routing is not proved free of deadlock, where it is not.
    pub dependency_cycle: Option<String>,
}

/// The result of a run through its sampling periods.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingPeriodsResult {
    /// The point of the run.
    pub point: FlitRunResult,
    /// What ended the sampling periods.
    pub ended: SamplingEndReason,
}

/// What ended the sampling periods of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SamplingEndReason {
    /// The figures of three periods in a row were near those before.
    Converged,
    /// The `max_samples` periods are over, and the last of them was measured.
    MaxSamples,
    /// The `max_samples` periods are over, and the network was not warmed up.
    NotWarm,
    /// The mean latency was above `latency_thres`.
    LatencyThres,
    /// Packets wait for one another in a cycle.
    Deadlock,
    /// Packets of the measured periods starved: none of them moved for long, because others go
    /// first; BookSim would go on.
    NotDrained,
}

impl BookSimSimulation {
    /// The simulation of a configuration; `network` has the name and the text of the network file.
    ///
    /// # Errors
    /// When something does not fit, or `watch` says stop.
    pub fn new(
        config: BookSimConfig,
        network: Option<(&str, &str)>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let cycles = u64::from(config.run.sample_period) * u64::from(config.run.max_samples);
        if cycles > MOST_CYCLES {
            let why = format!("{cycles} cycles in all periods");
            return Err(Refusal::new("sample_period", why, format!("{MOST_CYCLES} at most")).into());
        }
        let case = case(&config, network)?;
        let dependency_cycle = match freedom::prove(&*case.guide, &case.wiring, watch)? {
            Verdict::Holds(_) => None,
            Verdict::Fails(cycle) => Some(cycle.to_string()),
        };
        Ok(Self { case, config, dependency_cycle })
    }

    /// The time that a run needs if it takes all of its periods, in seconds, within an order of
    /// magnitude.
    pub fn need(&self) -> ResourceNeed {
        let run = &self.config.run;
        let cycles = f64::from(run.sample_period) * f64::from(run.max_samples);
        let flits = |class: &Sent| match class.load {
            OfferedLoad::Packets(rate) => rate * class.sizes.mean(),
            OfferedLoad::Flits(rate) => rate,
        };
        let load = self.case.classes.iter().map(flits).sum::<f64>().min(1.0);
        let wiring = &self.case.wiring;
        let moved = load * wiring.endpoints().len() as f64 * HOPS;
        let hops = cycles * (moved + HOPS_IDLE * f64::from(wiring.routers()));
        ResourceNeed::new(0.0, hops / HOPS_A_SECOND)
    }

    /// Runs the configuration through its sampling periods, on at most `threads` threads.
    ///
    /// # Errors
    /// When `watch` says stop.
    pub fn run(
        &self,
        threads: usize,
        watch: &dyn ProgressWatch,
    ) -> Result<SamplingPeriodsResult, ComputationError> {
        let run = SteppedFlitSimulation::new(self.setup(self.case.wiring.paying(threads)))?;
        let last = vec![(0.0, 0.0); self.case.classes.len()];
        let traces = ChannelCounts::none(self.case.router.virtual_channels);
        SamplingPeriodLoop { of: self, run, last, traces, warm_since: None, since: 0 }
            .through(watch)
    }

    /// The figures of a point as users read them: of all classes together, and of each where there
    /// are several.
    pub fn rows(&self, point: &FlitRunResult) -> (LoadPointResultRow, Vec<LoadPointResultRow>) {
        let names = NetworkNames::numbered(&self.case.wiring);
        (
            LoadPointResultRow::of(point, &self.case.wiring, &names, false),
            LoadPointResultRow::of_classes(point, &names),
        )
    }

    /// The setup with which the flit engine runs this simulation.
    pub fn setup(&self, threads: usize) -> FlitEngineInputs<'_> {
        let guide: &dyn EnumerableRouting = &*self.case.guide;
        FlitEngineInputs {
            wiring: &self.case.wiring,
            router: &self.case.router,
            guide,
            classes: &self.case.classes,
            urgencies: &self.case.urgencies,
            seed: u64::from(self.config.run.seed as u32),
            threads,
            always_full: false,
            assignment: None,
            cycles: 1 << 30,
            age_from_staging: !self.config.run.include_queuing,
        }
    }
}

/// The approximate number of routers that a packet visits.
const HOPS: f64 = 4.0;
/// The largest number of cycles of all periods.
const MOST_CYCLES: u64 = 1 << 29;
/// The number of periods in a row that must be near those before.
const CONVERGED: u32 = 3;
/// Cycles between two checks of the latency limit, while the network drains.
const LOOK: u32 = 1000;
/// The largest number of cycles to wait for the last packets.
const DRAIN_CYCLES: u32 = 1 << 28;
/// The largest number of cycles in which no counted packet is injected or arrives, besides the
/// length of the longest path.
const PATIENCE: u32 = 100_000;

/// A run of sampling periods, until latency and accepted load no longer change.
struct SamplingPeriodLoop<'a> {
    of: &'a BookSimSimulation,
    run: SteppedFlitSimulation<'a>,
    /// The latency and accepted load of each class at the end of the last period.
    last: Vec<(f64, f64)>,
    /// What was observed since statistics began.
    traces: ChannelCounts,
    /// The first measured period.
    warm_since: Option<u32>,
    /// The period with which statistics began.
    since: u32,
}

/// The relative change of the figures of a class in a period.
struct PeriodFigureChange {
    latency: f64,
    accepted: f64,
}

impl SamplingPeriodLoop<'_> {
    fn through(
        mut self,
        watch: &dyn ProgressWatch,
    ) -> Result<SamplingPeriodsResult, ComputationError> {
        let (periods, ended) = self.periods(watch)?;
        let each = self.of.config.run.sample_period;
        let measured = self.since * each..periods * each;
        let ended = match ended {
            SamplingEndReason::Converged | SamplingEndReason::MaxSamples => {
                self.drain(measured.end, ended, watch)?
            }
            other => other,
        };
        Ok(SamplingPeriodsResult { point: self.run.point(measured, self.traces), ended })
    }

    /// Runs all periods; returns their number, and what ended them.
    fn periods(
        &mut self,
        watch: &dyn ProgressWatch,
    ) -> Result<(u32, SamplingEndReason), ComputationError> {
        let (config, mut near) = (&self.of.config, 0);
        let (run, mut period) = (&config.run, 0);
        while period < run.max_samples && near < CONVERGED {
            watch.tick("periods", period.into(), run.max_samples.into())?;
            self.period(period, watch)?;
            period += 1;
            if self.run.deadlock.is_some() {
                return Ok((period, SamplingEndReason::Deadlock));
            }
            let changes = self.changes(period);
            if self.is_above_limit(&config.classes, |c| c.measured) {
                return Ok((period, SamplingEndReason::LatencyThres));
            }
            let is_warm = self.warm_since.is_some();
            let moves = config.classes.iter().zip(&changes).filter(|(c, _)| c.measured).any(
                |(c, change)| {
                    let (of_latency, of_accepted) = if is_warm {
                        (c.stopping_latency, c.stopping_accepted)
                    } else {
                        (c.warmup_latency, c.warmup_accepted)
                    };
                    let above = |x: f64, limit: Option<f64>| limit.is_some_and(|most| x > most);
                    run.simulation == SimulationKind::Latency && above(change.latency, of_latency)
                        || above(change.accepted, of_accepted)
                },
            );
            if is_warm {
                near = if moves { 0 } else { near + 1 };
            } else if (run.warmup_periods > 0 && period >= run.warmup_periods)
                || (run.warmup_periods == 0 && !moves)
            {
                self.warm_since = Some(period);
            }
        }
        let ended = match self.warm_since {
            Some(_) if near == CONVERGED => SamplingEndReason::Converged,
            Some(warm) if warm < period => SamplingEndReason::MaxSamples,
            _ => SamplingEndReason::NotWarm,
        };
        Ok((period, ended))
    }

    /// Runs one period; statistics restart before it where the rules say so.
    fn period(&mut self, period: u32, watch: &dyn ProgressWatch) -> Result<(), ComputationError> {
        let each = self.of.config.run.sample_period;
        let cycles = period * each..(period + 1) * each;
        let is_first = self.warm_since == Some(period);
        if is_first || self.warm_since.is_none() && period.is_multiple_of(2) {
            self.since = period;
            self.run.engine.count_in(cycles.start..u32::MAX, false);
            self.run.engine.count_all(self.warm_since.is_none());
            self.run.engine.clear();
            self.traces = ChannelCounts::none(self.of.case.router.virtual_channels);
        }
        self.run.engine.count_until(cycles.end);
        let total = u64::from(self.of.config.run.max_samples) * u64::from(each);
        let seen = self.run.measure(cycles, total, watch)?;
        self.traces.add(&seen);
        Ok(())
    }

    /// The changes of the figures of each class since the last period.
    fn changes(&mut self, periods: u32) -> Vec<PeriodFigureChange> {
        let tally = self.run.engine.tally();
        let cycles = f64::from((periods - self.since) * self.of.config.run.sample_period);
        let change = |now: f64, before: f64| ((now - before) / now).abs();
        let of = |(of, last): (&TrafficClassCounts, &mut (f64, f64))| {
            let (latency, accepted) =
                (of.latency as f64 / of.arrived as f64, of.accepted as f64 / cycles);
            let found = PeriodFigureChange {
                latency: change(latency, last.0),
                accepted: change(accepted, last.1),
            };
            *last = (latency, accepted);
            found
        };
        tally.classes.iter().zip(&mut self.last).map(of).collect()
    }

    /// Whether the mean latency of one of these classes, including flits in flight, is above its
    /// limit.
    fn is_above_limit(
        &self,
        classes: &[BookSimTrafficClass],
        counts: impl Fn(&BookSimTrafficClass) -> bool,
    ) -> bool {
        if self.of.config.run.simulation != SimulationKind::Latency
            || classes.iter().all(|c| c.latency_limit.is_none())
        {
            return false;
        }
        let (tally, in_flight) = (self.run.engine.tally(), self.run.engine.not_arrived());
        classes.iter().zip(tally.classes.iter().zip(in_flight)).any(|(c, (of, (flits, age)))| {
            let mean = (of.latency + age) as f64 / (of.arrived + flits) as f64;
            counts(c) && c.latency_limit.is_some_and(|limit| mean > limit)
        })
    }

    /// Continues until all measured packets have arrived.
    fn drain(
        &mut self,
        end: u32,
        ended: SamplingEndReason,
        watch: &dyn ProgressWatch,
    ) -> Result<SamplingEndReason, ComputationError> {
        let config = &self.of.config;
        let start = self.since * config.run.sample_period;
        let engine = &mut self.run.engine;
        if config.run.simulation == SimulationKind::Throughput {
            engine.count_in(start..end, false);
            engine.count_until(u32::MAX);
            let is_empty = self.run.drain(RunEndCondition::Empty, end + DRAIN_CYCLES, watch)?;
            return Ok(match self.run.deadlock {
                Some(_) => SamplingEndReason::Deadlock,
                None if is_empty => ended,
                None => SamplingEndReason::NotDrained,
            });
        }
        engine.count_in(start..end, true);
        let is_limited = config.classes.iter().any(|c| c.latency_limit.is_some());
        let (patience, mut look) = (self.patience(), end);
        let mut last = (self.waited_for(), end);
        let mut ended = ended;
        loop {
            look += LOOK;
            self.run.engine.count_until(if is_limited { look } else { u32::MAX });
            if self.run.drain(RunEndCondition::Measured, look, watch)? {
                break;
            }
            if self.run.deadlock.is_some() {
                return Ok(SamplingEndReason::Deadlock);
            }
            if self.is_above_limit(&config.classes, |_| true) {
                return Ok(SamplingEndReason::LatencyThres);
            }
            let now = self.waited_for();
            if now != last.0 {
                last = (now, look);
            }
            if look - last.1 > patience || look - end >= DRAIN_CYCLES {
                ended = SamplingEndReason::NotDrained;
                break;
            }
        }
        self.run.engine.count_until(u32::MAX);
        Ok(ended)
    }

    /// The numbers of counted packets that were injected and that arrived.
    fn waited_for(&self) -> (u64, u64) {
        let classes = self.run.engine.tally().classes;
        let sum = |of: fn(&TrafficClassCounts) -> u64| classes.iter().map(of).sum();
        (sum(|c| c.staged), sum(|c| c.arrived))
    }

    /// The largest number of cycles in which none of the counted packets is injected or arrives.
    fn patience(&self) -> u32 {
        let case = &self.of.case;
        let routers = case.wiring.routers();
        let ports = (0..routers).flat_map(|r| case.wiring.ports(r));
        let longest = ports.map(|port| u64::from(port.out_latency)).max().unwrap_or(1);
        let delays = u64::from(case.router.routing_delay) + u64::from(case.router.crossbar_delay);
        let path = (u64::from(routers) + 1) * (longest + delays);
        PATIENCE + path.min(u64::from(DRAIN_CYCLES)) as u32
    }
}
