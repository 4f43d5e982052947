//! A configuration of BookSim run: its sampling periods, and when there are enough.

use crate::booksim::{Case, case};
use base::{Refusal, Stop, Watch};
use formats::booksim::{Class, Config, Simulation};
use sim::booksim::freedom;
use sim::booksim::routing::Explored;
use sim::flit::engine::{Engine, Setup, engine};
use sim::flit::row::Row;
use sim::flit::run::{Drain, Phases, Point, run};
use sim::flit::seen::Names;
use verify::Verdict;

/// A configuration that is ready to run.
pub struct BookSim {
    case: Case,
    config: Config,
    /// Why it is not proved free of deadlock, where it is not.
    pub circle: Option<String>,
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
        if !config.run.include_queuing {
            let help = "1: latencies count from birth; the network's own are given beside them";
            return Err(Refusal::new("include_queuing", "0 is not supported", help).into());
        }
        let case = case(&config, network)?;
        let circle = match freedom::prove(&*case.guide, &case.wiring, watch)? {
            Verdict::Holds(_) => None,
            Verdict::Fails(circle) => Some(circle.to_string()),
        };
        Ok(Self { case, config, circle })
    }

    /// Runs it through its sampling periods, on so many threads.
    ///
    /// # Errors
    /// When `watch` says stop.
    pub fn run(&self, threads: usize, watch: &dyn Watch) -> Result<Point, Stop> {
        let periods = self.periods(threads, watch)?;
        let period = self.config.run.sample_period;
        let unstable = periods.unstable || self.config.run.simulation == Simulation::Throughput;
        let phases = Phases {
            warmup_cycles: periods.warmup * period,
            measure_cycles: periods.measured * period,
            drain_cycles: 1 << 28,
            drain: if unstable { Drain::Empty } else { Drain::Measured },
        };
        run(self.setup(threads), phases, watch)
    }

    /// A point of it as users read it: all classes together, and each where there are several.
    pub fn rows(&self, point: &Point) -> (Row, Vec<Row>) {
        let names = Names::numbered(&self.case.wiring);
        (Row::of(point, &self.case.wiring, &names, false), Row::of_classes(point, &names))
    }

    fn setup(&self, threads: usize) -> Setup<'_> {
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
            deal: None,
            cycles: 1 << 30,
        }
    }

    /// How many periods there are: known where no threshold is asked, else found by a run.
    fn periods(&self, threads: usize, watch: &dyn Watch) -> Result<Periods, Stop> {
        let run = &self.config.run;
        let asked = |c: &Class| {
            let limit = c.latency_limit.filter(|_| run.simulation == Simulation::Latency);
            [c.stopping_latency, c.stopping_accepted, limit].iter().any(Option::is_some)
        };
        if run.warmup_periods > 0 && !self.config.classes.iter().any(asked) {
            let rest = run.max_samples.saturating_sub(run.warmup_periods);
            let (warmup, measured) = (run.warmup_periods, CONVERGED.min(rest).max(1));
            return Ok(Periods { warmup, measured, unstable: false });
        }
        Sampling { of: self, engine: engine(self.setup(threads))?, last: Vec::new() }.run(watch)
    }
}

/// Periods in a row that must be near the ones before.
const CONVERGED: u32 = 3;

/// How many periods a run has.
#[derive(Debug, Clone, Copy)]
struct Periods {
    warmup: u32,
    measured: u32,
    /// Whether latencies went above their limit.
    unstable: bool,
}

/// Periods as they come, until latency and accepted load change no more.
struct Sampling<'a> {
    of: &'a BookSim,
    engine: Box<dyn Engine + 'a>,
    /// Latency and accepted load of each class at the end of the last period.
    last: Vec<(f64, f64)>,
}

/// What a class did since statistics began.
struct Seen {
    latency: f64,
    /// How much both changed, of themselves, since the last period.
    changes: (f64, f64),
}

impl Sampling<'_> {
    fn run(mut self, watch: &dyn Watch) -> Result<Periods, Stop> {
        let run = &self.of.config.run;
        let latency = run.simulation == Simulation::Latency;
        let (mut warmup, mut since, mut near) = (None, 0, 0);
        self.last = vec![(0.0, 0.0); self.of.case.classes.len()];
        let mut period = 0;
        while period < run.max_samples && near < CONVERGED {
            watch.tick("periods", period.into(), run.max_samples.into())?;
            // while it warms up, statistics begin anew with every second period
            if warmup == Some(period) || warmup.is_none() && period % 2 == 0 {
                since = period;
                self.engine.count_in(period * run.sample_period..u32::MAX, false);
                self.engine.clear();
            }
            self.engine.advance(run.sample_period);
            let seen = self.look((period + 1 - since) * run.sample_period);
            period += 1;
            let classes = || self.of.config.classes.iter().zip(&seen).filter(|(c, _)| c.measured);
            let above = |change: f64, limit: Option<f64>| limit.is_some_and(|most| change > most);
            if latency && classes().any(|(c, s)| above(s.latency, c.latency_limit)) {
                let measured = warmup.map_or(1, |w| period - w).max(1);
                return Ok(Periods { warmup: period - measured, measured, unstable: true });
            }
            let moves = |limits: fn(&Class) -> [Option<f64>; 2]| {
                classes().any(|(c, s)| {
                    let [of_latency, of_accepted] = limits(c);
                    latency && above(s.changes.0, of_latency) || above(s.changes.1, of_accepted)
                })
            };
            if warmup.is_some() {
                let still = moves(|c| [c.stopping_latency, c.stopping_accepted]);
                near = if still { 0 } else { near + 1 };
                continue;
            }
            let is_warm = match run.warmup_periods {
                0 => !moves(|c| [c.warmup_latency, c.warmup_accepted]),
                periods => period >= periods,
            };
            if is_warm {
                warmup = Some(period);
            }
        }
        let warmup = warmup.filter(|w| *w < period).unwrap_or(period.saturating_sub(1));
        Ok(Periods { warmup, measured: period - warmup, unstable: false })
    }

    fn look(&mut self, cycles: u32) -> Vec<Seen> {
        let tally = self.engine.tally();
        let nodes = self.of.case.wiring.endpoints().len() as f64;
        let mut seen = Vec::new();
        for (of, last) in tally.classes.iter().zip(&mut self.last) {
            let latency = of.latency as f64 / of.arrived as f64;
            let accepted = of.accepted as f64 / nodes / f64::from(cycles);
            let change = |now: f64, before: f64| ((now - before) / now).abs();
            let changes = (change(latency, last.0), change(accepted, last.1));
            *last = (latency, accepted);
            seen.push(Seen { latency, changes });
        }
        seen
    }
}
