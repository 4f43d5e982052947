//! A configuration of BookSim run: its sampling periods, and when there are enough.
//!
//! Source: `BookSim` 2, src/trafficmanager.cpp, from whose text the rules were read: while it warms
//! up statistics begin anew with every second period and are of all packets that arrive; then they
//! are of packets made since. The mean that is held against `latency_thres` is of these and of all
//! flits under way, each as old as it is.

use crate::booksim::{Case, case};
use base::{Need, Refusal, Stop, Watch};
use flit::booksim::freedom;
use flit::booksim::routing::Explored;
use flit::engine::{OfClass, Setup};
use flit::row::Row;
use flit::run::{Drain, Point, Run};
use flit::seen::{Names, Traces};
use flit::stage::{HOPS_A_SECOND, HOPS_IDLE};
use formats::booksim::{Class, Config, Simulation};
use serde::Serialize;
use traffic::process::{Class as Sent, Load};
use verify::Verdict;

/// A configuration that is ready to run.
pub struct BookSim {
    case: Case,
    config: Config,
    /// Why it is not proved free of deadlock, where it is not.
    pub circle: Option<String>,
}

/// What a configuration finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// Its point.
    pub point: Point,
    /// What ended its periods.
    pub ended: Ended,
}

/// What ended the sampling periods of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Three in a row were near the ones before.
    Converged,
    /// There were `max_samples`, the last of them measured.
    MaxSamples,
    /// There were `max_samples`, and it was not warm.
    NotWarm,
    /// The mean latency was above `latency_thres`.
    LatencyThres,
    /// Packets wait for one another in a circle.
    Deadlock,
    /// Packets of the measured periods never came to their turn: for long none of them moved, as
    /// others go first, where BookSim goes on.
    NotDrained,
}

impl BookSim {
    /// The simulation of a configuration; `network` is the file that it names, and its text.
    ///
    /// # Errors
    /// When something does not fit, or `watch` says stop.
    pub fn new(
        config: Config,
        network: Option<(&str, &str)>,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        let cycles = u64::from(config.run.sample_period) * u64::from(config.run.max_samples);
        if cycles > MOST_CYCLES {
            let why = format!("{cycles} cycles in all periods");
            return Err(Refusal::new("sample_period", why, format!("{MOST_CYCLES} at most")).into());
        }
        let case = case(&config, network)?;
        let circle = match freedom::prove(&*case.guide, &case.wiring, watch)? {
            Verdict::Holds(_) => None,
            Verdict::Fails(circle) => Some(circle.to_string()),
        };
        Ok(Self { case, config, circle })
    }

    /// What a run will take where it needs all of its periods, seconds no more than an order of
    /// magnitude.
    pub fn need(&self) -> Need {
        let run = &self.config.run;
        let cycles = f64::from(run.sample_period) * f64::from(run.max_samples);
        let flits = |class: &Sent| match class.load {
            Load::Packets(rate) => rate * class.sizes.mean(),
            Load::Flits(rate) => rate,
        };
        let load = self.case.classes.iter().map(flits).sum::<f64>().min(1.0);
        let wiring = &self.case.wiring;
        let moved = load * wiring.endpoints().len() as f64 * HOPS;
        let hops = cycles * (moved + HOPS_IDLE * f64::from(wiring.routers()));
        Need::new(0.0, hops / HOPS_A_SECOND)
    }

    /// Runs it through its sampling periods, on so many threads, or those of them that pay.
    ///
    /// # Errors
    /// When `watch` says stop.
    pub fn run(&self, threads: usize, watch: &dyn Watch) -> Result<Sampled, Stop> {
        let run = Run::new(self.setup(self.case.wiring.paying(threads)))?;
        let last = vec![(0.0, 0.0); self.case.classes.len()];
        let traces = Traces::none(self.case.router.virtual_channels);
        Sampling { of: self, run, last, traces, warm_since: None, since: 0 }.through(watch)
    }

    /// A point of it as users read it: all classes together, and each where there are several.
    pub fn rows(&self, point: &Point) -> (Row, Vec<Row>) {
        let names = Names::numbered(&self.case.wiring);
        (Row::of(point, &self.case.wiring, &names, false), Row::of_classes(point, &names))
    }

    /// What its engine is made of.
    pub fn setup(&self, threads: usize) -> Setup<'_> {
        let guide: &dyn Explored = &*self.case.guide;
        Setup {
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

/// About how many routers a packet visits.
const HOPS: f64 = 4.0;
/// The most cycles of all periods.
const MOST_CYCLES: u64 = 1 << 29;
/// Periods in a row that must be near the ones before.
const CONVERGED: u32 = 3;
/// Cycles between two looks at whether latencies are above their limit, in the end.
const LOOK: u32 = 1000;
/// The most cycles that are waited for the last packets.
const DRAIN_CYCLES: u32 = 1 << 28;
/// The most cycles in which none of them is made or arrives, besides the longest path.
const PATIENCE: u32 = 100_000;

/// Periods as they come, until latency and accepted load change no more.
struct Sampling<'a> {
    of: &'a BookSim,
    run: Run<'a>,
    /// Latency and accepted load of each class at the end of the last period.
    last: Vec<(f64, f64)>,
    /// What was seen since statistics began.
    traces: Traces,
    /// The period that measuring began with.
    warm_since: Option<u32>,
    /// The period that statistics began with.
    since: u32,
}

/// How much the figures of a class changed in a period, of themselves.
struct Change {
    latency: f64,
    accepted: f64,
}

impl Sampling<'_> {
    fn through(mut self, watch: &dyn Watch) -> Result<Sampled, Stop> {
        let (periods, ended) = self.periods(watch)?;
        let each = self.of.config.run.sample_period;
        let measured = self.since * each..periods * each;
        let ended = match ended {
            Ended::Converged | Ended::MaxSamples => self.drain(measured.end, ended, watch)?,
            other => other,
        };
        Ok(Sampled { point: self.run.point(measured, self.traces), ended })
    }

    /// All periods: how many there were, and why no more.
    fn periods(&mut self, watch: &dyn Watch) -> Result<(u32, Ended), Stop> {
        let (config, mut near) = (&self.of.config, 0);
        let (run, mut period) = (&config.run, 0);
        while period < run.max_samples && near < CONVERGED {
            watch.tick("periods", period.into(), run.max_samples.into())?;
            self.period(period, watch)?;
            period += 1;
            if self.run.deadlock.is_some() {
                return Ok((period, Ended::Deadlock));
            }
            let changes = self.changes(period);
            if self.is_above_limit(&config.classes, |c| c.measured) {
                return Ok((period, Ended::LatencyThres));
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
                    run.simulation == Simulation::Latency && above(change.latency, of_latency)
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
            Some(_) if near == CONVERGED => Ended::Converged,
            Some(warm) if warm < period => Ended::MaxSamples,
            _ => Ended::NotWarm,
        };
        Ok((period, ended))
    }

    /// One period; statistics begin anew before it where they do.
    fn period(&mut self, period: u32, watch: &dyn Watch) -> Result<(), Stop> {
        let each = self.of.config.run.sample_period;
        let cycles = period * each..(period + 1) * each;
        let is_first = self.warm_since == Some(period);
        if is_first || self.warm_since.is_none() && period.is_multiple_of(2) {
            self.since = period;
            self.run.engine.count_in(cycles.start..u32::MAX, false);
            self.run.engine.count_all(self.warm_since.is_none());
            self.run.engine.clear();
            self.traces = Traces::none(self.of.case.router.virtual_channels);
        }
        self.run.engine.count_until(cycles.end);
        let total = u64::from(self.of.config.run.max_samples) * u64::from(each);
        let seen = self.run.measure(cycles, total, watch)?;
        self.traces.add(&seen);
        Ok(())
    }

    /// How much the figures of each class have changed since the last period.
    fn changes(&mut self, periods: u32) -> Vec<Change> {
        let tally = self.run.engine.tally();
        let cycles = f64::from((periods - self.since) * self.of.config.run.sample_period);
        let change = |now: f64, before: f64| ((now - before) / now).abs();
        let of = |(of, last): (&OfClass, &mut (f64, f64))| {
            let (latency, accepted) =
                (of.latency as f64 / of.arrived as f64, of.accepted as f64 / cycles);
            let found =
                Change { latency: change(latency, last.0), accepted: change(accepted, last.1) };
            *last = (latency, accepted);
            found
        };
        tally.classes.iter().zip(&mut self.last).map(of).collect()
    }

    /// Whether the mean latency of one of these classes is above its limit, what is under way
    /// included.
    fn is_above_limit(&self, classes: &[Class], counts: impl Fn(&Class) -> bool) -> bool {
        if self.of.config.run.simulation != Simulation::Latency
            || classes.iter().all(|c| c.latency_limit.is_none())
        {
            return false;
        }
        let (tally, under_way) = (self.run.engine.tally(), self.run.engine.not_arrived());
        classes.iter().zip(tally.classes.iter().zip(under_way)).any(|(c, (of, (flits, age)))| {
            let mean = (of.latency + age) as f64 / (of.arrived + flits) as f64;
            counts(c) && c.latency_limit.is_some_and(|limit| mean > limit)
        })
    }

    /// On until what was measured has arrived.
    fn drain(&mut self, end: u32, ended: Ended, watch: &dyn Watch) -> Result<Ended, Stop> {
        let config = &self.of.config;
        let start = self.since * config.run.sample_period;
        let engine = &mut self.run.engine;
        if config.run.simulation == Simulation::Throughput {
            engine.count_in(start..end, false);
            engine.count_until(u32::MAX);
            let is_empty = self.run.drain(Drain::Empty, end + DRAIN_CYCLES, watch)?;
            return Ok(match self.run.deadlock {
                Some(_) => Ended::Deadlock,
                None if is_empty => ended,
                None => Ended::NotDrained,
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
            if self.run.drain(Drain::Measured, look, watch)? {
                break;
            }
            if self.run.deadlock.is_some() {
                return Ok(Ended::Deadlock);
            }
            if self.is_above_limit(&config.classes, |_| true) {
                return Ok(Ended::LatencyThres);
            }
            let now = self.waited_for();
            if now != last.0 {
                last = (now, look);
            }
            if look - last.1 > patience || look - end >= DRAIN_CYCLES {
                ended = Ended::NotDrained;
                break;
            }
        }
        self.run.engine.count_until(u32::MAX);
        Ok(ended)
    }

    /// Packets that count which were made and which arrived, in all.
    fn waited_for(&self) -> (u64, u64) {
        let classes = self.run.engine.tally().classes;
        let sum = |of: fn(&OfClass) -> u64| classes.iter().map(of).sum();
        (sum(|c| c.staged), sum(|c| c.arrived))
    }

    /// The most cycles without any of them.
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
