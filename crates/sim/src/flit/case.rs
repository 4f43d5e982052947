//! A case: a network, proved routing or a proved scheme, a selection, traffic and a router.

use super::engine::Setup;
use super::guide::Guide;
use super::routed::{Made, guide};
use super::router::Router;
use super::row::Row;
use super::run::{Drain, Phases, Point, run};
use super::seen::Names;
use super::spec::{LaneUse, Spec};
use super::wiring::{Wiring, rails};
use crate::select::Choosing;
use base::{Refusal, Stop, Watch};
use fabric::Topology;
use fabric::tables::Routing;
use std::sync::Arc;
use traffic::destinations::Destinations;
use traffic::process::{Class, Load, Process, Sizes};
use traffic::sending::Sending;

/// What packets are routed by.
#[derive(Debug, Clone)]
pub enum On {
    /// Ways that a selection chooses on a network.
    Network(Arc<Topology>),
    /// Forwarding tables.
    Tables(Box<Routing>),
}

impl On {
    fn topology(&self) -> &Arc<Topology> {
        match self {
            Self::Network(t) => t,
            Self::Tables(r) => r.topology(),
        }
    }
}

/// A case that is ready to run at any load.
pub struct Case {
    wiring: Arc<Wiring>,
    names: Names,
    with_links: bool,
    rails: u32,
    router: Router,
    guide: Box<dyn Guide + Send>,
    /// Whether its routing was proved free of deadlock.
    pub verified: bool,
    /// What tells the lanes of packets that choose.
    pub lane_use: LaneUse,
    class: Class,
    phases: Phases,
    seed: u64,
}

impl Case {
    /// Builds and proves it; `own` is traffic of the user's, in place of the spec's.
    ///
    /// # Errors
    /// When something does not fit, the routing is not proved free of deadlock and `unverified` is
    /// not set, or `watch` says stop.
    pub fn new(
        on: On,
        spec: &Spec,
        own: Option<&Sending>,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        let t = on.topology().clone();
        let latency = |cable: &fabric::network::Cable| match spec.cycle_ns {
            Some(ns) => (cable.latency().ns() / ns).ceil().max(1.0) as u32,
            None => spec.link_latency_cycles,
        };
        if spec.link_latency_cycles == 0 || spec.link_latency_cycles > 10_000 {
            let why = format!("{} is out of range", spec.link_latency_cycles);
            return Err(Refusal::new("link_latency_cycles", why, "1 to 10000").into());
        }
        if spec.cycle_ns.is_some_and(|ns| !(1e-3..=1e6).contains(&ns)) {
            return Err(Refusal::new("cycle_ns", "it is out of range", "0.001 to 1000000").into());
        }
        let wiring = Arc::new(Wiring::of(&t, latency)?);
        spec.router.check(&wiring)?;
        let run = &spec.run;
        if run.measure_cycles == 0
            || u64::from(run.measure_cycles) + u64::from(run.warmup_cycles) > 1 << 30
        {
            let why = format!("{} + {} cycles", run.warmup_cycles, run.measure_cycles);
            return Err(
                Refusal::new("run.measure_cycles", why, "1 to 2^30 with the warm-up").into()
            );
        }
        let choosing = spec.choosing.unwrap_or(Choosing::usual(spec.selection));
        choosing.check()?;
        let destinations = match (own, &on) {
            (Some(sending), _) => Destinations::of_sending(&t, sending)?,
            (None, On::Tables(r)) => Destinations::over(r, &spec.traffic, spec.seed)?,
            (None, On::Network(t)) => Destinations::named(t, &spec.traffic, spec.seed)?,
        };
        let rails = rails(&t)?;
        let share = |endpoint, rail| spec.rail.share(endpoint, rail, rails);
        let class = Class {
            destinations: if rails > 1 {
                destinations.on_rails(rails, share)
            } else {
                destinations
            },
            process: Process::parse(&spec.process)?,
            sizes: Sizes::parse(&spec.packet_flits)
                .map_err(|r| Refusal { param: "packet_flits".to_owned(), ..r })?,
            load: Load::Flits(0.0),
        };
        let Made { guide, verified, lane_use } = guide(on, spec, choosing, &wiring, watch)?;
        let drain = if run.drain_under_load { Drain::Measured } else { Drain::Empty };
        let phases = Phases {
            warmup_cycles: run.warmup_cycles,
            measure_cycles: run.measure_cycles,
            drain_cycles: run.drain_cycles.min(1 << 29),
            drain,
        };
        let (router, seed, with_links) = (spec.router.clone(), spec.seed, run.links);
        let names = Names::of(&t);
        Ok(Self {
            wiring,
            names,
            with_links,
            rails,
            router,
            guide,
            verified,
            lane_use,
            class,
            phases,
            seed,
        })
    }

    /// The network as the simulator sees it.
    pub fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// The largest load: a flit a cycle by each rail of an endpoint.
    pub fn largest_load(&self) -> f64 {
        self.rails.into()
    }

    /// Of traffic that was made to load one channel most, the load of that channel when every
    /// endpoint sends a flit a cycle.
    pub fn largest_channel_load(&self) -> Option<f64> {
        self.class.destinations.largest_load()
    }

    /// A point of it as users read it.
    pub fn row(&self, point: &Point) -> Row {
        Row::of(point, &self.wiring, &self.names, self.with_links)
    }

    /// One point, on so many threads; the result is the same with any number.
    ///
    /// # Errors
    /// When there is no such load, or `watch` says stop.
    pub fn point(&self, load: f64, threads: usize, watch: &dyn Watch) -> Result<Point, Stop> {
        self.check(load)?;
        let classes = [Class { load: Load::Flits(load), ..self.class.clone() }];
        let Phases { warmup_cycles, measure_cycles, drain_cycles, .. } = self.phases;
        let setup = Setup {
            wiring: &self.wiring,
            router: &self.router,
            guide: &*self.guide,
            classes: &classes,
            urgencies: &[0],
            seed: self.seed,
            threads,
            always_full: false,
            cycles: warmup_cycles + measure_cycles + drain_cycles,
        };
        run(setup, self.phases, watch)
    }

    /// Whether there is such a load.
    ///
    /// # Errors
    /// When there is not.
    pub fn check(&self, load: f64) -> Result<(), Refusal> {
        if !(load > 0.0 && load <= self.largest_load()) {
            let why = format!("{load} is out of range");
            let help = match self.rails {
                1 => "above 0, at most 1".to_owned(),
                rails => format!("above 0, at most {rails}: a flit a cycle by each rail"),
            };
            return Err(Refusal::new("load", why, help));
        }
        Ok(())
    }
}
