//! A simulation case: network, routing that is proved or exempted, path selection, traffic, router.

use super::engine::{FlitEngineInputs, RailAssignmentInputs};
use super::router::RouterDesign;
use super::row::LoadPointResultRow;
use super::run::{FlitRunPhases, FlitRunResult, RunEndCondition, run};
use super::seen::NetworkNames;
use super::spec::{ClassTraffic, FlitSimulationParameters};
use super::warmup::{WarmupSetting, settled};
use base::{ComputationError, ProgressWatch, Refusal};
use paths::PathSource;
use paths::guide::RoutingGuide;
use paths::lengths::RouterDistances;
use paths::loads::{RANGE, out_of_range};
use paths::proved::{ProvedRoutingGuide, guide};
use paths::select::{LaneUseRule, PathSelectionParameters, RailSelection};
use paths::wiring::{RouterWiring, rails};
use std::sync::Arc;
use traffic::destinations::PacketDestinations;
use traffic::process::{InjectedTrafficClass, OfferedLoad};
use traffic::sending::OfferedTraffic;
use traffic::times::{TimeScaledPackets, TimedPacketLists};

/// Traffic that the user supplies, in place of the traffic that the parameters name.
#[derive(Debug, Clone, Copy)]
pub enum UserSuppliedTraffic<'a> {
    /// How much every endpoint sends to every other one.
    Sending(&'a OfferedTraffic),
    /// A list of packets with the times of their creation.
    Times(&'a Arc<TimedPacketLists>),
}

/// The latest cycle in which a packet may be created.
const LATEST: u64 = 1 << 29;

/// A case that is ready to run at any load.
pub struct PreparedFlitSimulation {
    wiring: Arc<RouterWiring>,
    names: NetworkNames,
    with_links: bool,
    /// Length of a cycle in nanoseconds, if the parameters state it.
    cycle_ns: Option<f64>,
    rails: u32,
    rail: RailSelection,
    /// Distances between routers, if rails are selected by distance.
    lengths: Option<RouterDistances>,
    times: Option<Arc<TimedPacketLists>>,
    /// Whether all packets with their times count, and a run lasts until they have arrived.
    is_whole: bool,
    router: RouterDesign,
    guide: Box<dyn RoutingGuide + Send>,
    /// Whether the routing was proved free of deadlock.
    pub verified: bool,
    /// How packets whose paths are chosen use virtual channels.
    pub lane_use: LaneUseRule,
    /// The numbers that packets compare by where they choose among paths.
    pub choosing: PathSelectionParameters,
    /// The traffic of each seed.
    drawn: Vec<SeededTraffic>,
    /// The share of each class in the load; all shares together are 1.
    shares: Vec<f64>,
    urgencies: Vec<u32>,
    warmup: WarmupSetting,
    phases: FlitRunPhases,
}

/// The traffic that one seed draws.
struct SeededTraffic {
    seed: u64,
    classes: Vec<InjectedTrafficClass>,
}

impl PreparedFlitSimulation {
    /// Builds the case and proves its routing; `own` replaces the traffic that the spec names.
    ///
    /// # Errors
    /// When something does not fit, the routing is not proved free of deadlock and `unverified` is
    /// not set, or `watch` says stop.
    pub fn new(
        on: PathSource,
        spec: &FlitSimulationParameters,
        own: Option<UserSuppliedTraffic<'_>>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        spec.check()?;
        let times = match own {
            Some(UserSuppliedTraffic::Times(times)) => {
                spec.check_with_times()?;
                Some(times.clone())
            }
            _ => None,
        };
        let (t, run) = (on.topology().clone(), &spec.run);
        let latency = |cable: &fabric::network::Cable| match spec.cycle_ns {
            Some(ns) => (cable.latency().ns() / ns).ceil().max(1.0) as u32,
            None => spec.link_latency_cycles,
        };
        let wiring = Arc::new(RouterWiring::of(&t, latency)?);
        spec.router.check(&wiring)?;
        let (kinds, rails) = (spec.kinds()?, rails(&t)?);
        let drawn = (0..u64::from(spec.seeds))
            .map(|run| drawn(&on, spec, own, &kinds, (spec.seed.wrapping_add(run), rails), watch))
            .collect::<Result<_, _>>()?;
        let rules = spec.path_rules(wiring.mean_latency());
        let choosing = rules.choosing;
        let ProvedRoutingGuide { guide, verified, lane_use } = guide(on, rules, &wiring, watch)?;
        let by_path = spec.rail == RailSelection::Shortest && rails > 1;
        let lengths = by_path.then(|| RouterDistances::of(&wiring));
        let drain =
            if run.drain_under_load { RunEndCondition::Measured } else { RunEndCondition::Empty };
        let phases = FlitRunPhases {
            warmup_cycles: run.warmup().most(),
            measure_cycles: run.measured(),
            drain_cycles: run.drain_cycles.min(1 << 29),
            drain,
        };
        Ok(Self {
            wiring,
            names: NetworkNames::of(&t),
            with_links: spec.links,
            cycle_ns: spec.cycle_ns,
            rails,
            rail: spec.rail,
            lengths,
            is_whole: times.is_some() && run.is_open(),
            times,
            router: spec.router.clone(),
            guide,
            verified,
            lane_use,
            choosing,
            drawn,
            shares: kinds.iter().map(|kind| kind.share).collect(),
            urgencies: kinds.iter().map(|kind| kind.urgency).collect(),
            warmup: run.warmup(),
            phases,
        })
    }

    /// Routers, ports and links of the network.
    pub fn wiring(&self) -> &RouterWiring {
        &self.wiring
    }

    /// The largest load: each rail of an endpoint sends a flit in every cycle.
    pub fn largest_load(&self) -> f64 {
        self.rails.into()
    }

    /// The largest load of a channel if every endpoint sends a flit in every cycle. Only for one
    /// class of traffic that was constructed to load one channel most, else none.
    pub fn largest_channel_load(&self) -> Option<f64> {
        match &self.drawn[0].classes[..] {
            [one] => one.destinations.largest_load(),
            _ => None,
        }
    }

    /// The number of runs of a point: one for each seed.
    pub fn runs(&self) -> usize {
        self.drawn.len()
    }

    /// Decisions so far in which a score of the user's was not a number; none of built-in
    /// selections.
    pub(super) fn undefined_decisions(&self) -> Option<u64> {
        self.guide.undefined_decisions()
    }

    /// The row of a point as users read it, from its runs; there must be at least one.
    pub fn row(&self, runs: &[FlitRunResult]) -> LoadPointResultRow {
        let row = LoadPointResultRow::of_runs(runs, &self.wiring, &self.names, self.with_links);
        match self.cycle_ns {
            Some(ns) => row.timed(ns),
            None => row,
        }
    }

    /// One run of a point, below [`Self::runs`], on `threads` threads; the result is the same with
    /// any number.
    ///
    /// # Errors
    /// When there is no such load, or `watch` says stop.
    pub fn point(
        &self,
        load: f64,
        run_number: usize,
        threads: usize,
        watch: &dyn ProgressWatch,
    ) -> Result<FlitRunResult, ComputationError> {
        self.check(load)?;
        let SeededTraffic { seed, classes } = &self.drawn[run_number];
        let of_load = |(class, share): (&InjectedTrafficClass, &f64)| InjectedTrafficClass {
            load: OfferedLoad::Flits(load * share),
            ..class.clone()
        };
        let mut classes: Vec<InjectedTrafficClass> =
            classes.iter().zip(&self.shares).map(of_load).collect();
        let (mut phases, mut times) = (self.phases, None);
        if let Some(packets) = &self.times {
            let timed = TimeScaledPackets { packets, stretch: self.stretch(load) };
            phases = self.phases_of(timed)?;
            let from = u64::from(phases.warmup_cycles);
            let flits = timed.flits_injected(from..from + u64::from(phases.measure_cycles)) as f64;
            for class in &mut classes {
                let senders =
                    (0..class.destinations.endpoints()).map(|e| class.destinations.rate(e));
                let busiest = flits / f64::from(phases.measure_cycles) / senders.sum::<f64>();
                class.load = OfferedLoad::Flits(busiest);
            }
            times = Some(timed);
        }
        let assigned = times.is_some() || (self.rails > 1 && self.rail.is_assigned());
        let (rails, rail, lengths) = (self.rails, self.rail, self.lengths.as_ref());
        let assignment = assigned.then_some(RailAssignmentInputs { rails, rail, times, lengths });
        let FlitRunPhases { warmup_cycles, measure_cycles, drain_cycles, .. } = phases;
        let setup = FlitEngineInputs {
            wiring: &self.wiring,
            router: &self.router,
            guide: &*self.guide,
            classes: &classes,
            urgencies: &self.urgencies,
            seed: *seed,
            threads,
            always_full: false,
            assignment,
            cycles: warmup_cycles + measure_cycles + drain_cycles,
            age_from_staging: false,
        };
        let warmup_cycles = match self.warmup {
            WarmupSetting::Auto if !self.is_whole => settled(setup, watch)?,
            _ => warmup_cycles,
        };
        run(setup, FlitRunPhases { warmup_cycles, ..phases }, watch)
    }

    /// The factor by which the times of listed packets are multiplied to produce this load.
    fn stretch(&self, load: f64) -> f64 {
        self.times.as_ref().map_or(1.0, |packets| packets.load() / load)
    }

    /// The phases of a run with these packets: all packets are measured if the case is whole, else
    /// the phases of the parameters apply.
    fn phases_of(&self, timed: TimeScaledPackets<'_>) -> Result<FlitRunPhases, Refusal> {
        let last = timed.last();
        if last >= LATEST {
            let why = format!("the last packet is created in cycle {last}");
            return Err(Refusal::new("traffic", why, format!("before cycle {LATEST}")));
        }
        if !self.is_whole {
            return Ok(self.phases);
        }
        let drain = RunEndCondition::Measured;
        Ok(FlitRunPhases {
            warmup_cycles: 0,
            measure_cycles: last as u32 + 1,
            drain,
            ..self.phases
        })
    }

    /// Whether all packets of a list are measured, whatever cycles the parameters name.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The load of listed packets at their own times; none if packets are drawn.
    pub fn own_load(&self) -> Option<f64> {
        self.times.as_ref().map(|packets| packets.load())
    }

    /// Whether the traffic can have this load.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check(&self, load: f64) -> Result<(), Refusal> {
        let most = if self.times.is_some() { f64::MAX } else { self.largest_load() };
        if !(load > 0.0 && load <= most) {
            let range = match self.rails {
                1 => RANGE.to_owned(),
                rails => RANGE.replace("endpoint", &format!("endpoint, here {rails}")),
            };
            return Err(out_of_range(load, &range));
        }
        Ok(())
    }
}

/// The classes of traffic as a seed draws them, with load 0; `own` replaces the pattern of the
/// spec.
fn drawn(
    on: &PathSource,
    spec: &FlitSimulationParameters,
    own: Option<UserSuppliedTraffic<'_>>,
    kinds: &[ClassTraffic<'_>],
    (seed, rails): (u64, u32),
    watch: &dyn ProgressWatch,
) -> Result<SeededTraffic, ComputationError> {
    let named = |pattern: &str| match on {
        PathSource::Tables(r) => PacketDestinations::over(r, pattern, seed, watch),
        PathSource::Network(t) => PacketDestinations::named(t, pattern, seed, watch),
    };
    let share = |endpoint, rail| spec.rail.share(endpoint, rail, rails);
    let class = |kind: &ClassTraffic<'_>| {
        let destinations = match (kind.traffic, own) {
            (Some(pattern), _) => named(pattern)?,
            (None, Some(UserSuppliedTraffic::Sending(sending))) => {
                PacketDestinations::of_sending(on.topology(), sending)?
            }
            (None, Some(UserSuppliedTraffic::Times(times))) => times.destinations()?,
            (None, None) => named(&spec.traffic)?,
        };
        let destinations =
            if rails > 1 { destinations.on_rails(rails, share) } else { destinations };
        let (process, sizes) = (kind.process, kind.sizes.clone());
        Ok(InjectedTrafficClass { destinations, process, sizes, load: OfferedLoad::Flits(0.0) })
    };
    Ok(SeededTraffic {
        seed,
        classes: kinds.iter().map(class).collect::<Result<_, ComputationError>>()?,
    })
}
