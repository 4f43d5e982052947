//! One point: warm-up, measurement, drain, and what is found.

use super::engine::{
    BlockedPacket, FlitEngineInputs, FlitSimulationEngine, LatencyHistogram, TrafficClassCounts,
    engine,
};
use super::seen::ChannelCounts;
use base::{ComputationError, ProgressWatch, Refusal};
use paths::saturation;
use paths::wiring::RouterWiring;
use std::ops::Range;
use traffic::process::InjectedTrafficClass;

/// The condition that ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEndCondition {
    /// All sources stop, and the run ends when the network is empty.
    Empty,
    /// All sources go on, and the run ends when every packet created in the measured cycles has
    /// arrived.
    Measured,
}

/// The phases of a run.
///
/// Packets that are staged in the measured cycles give the latencies, whenever they arrive; flits
/// that arrive in the measured cycles give the accepted load, whenever they were created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlitRunPhases {
    /// Number of cycles of the warm-up, in which nothing is counted.
    pub warmup_cycles: u32,
    /// Number of measured cycles, at least 1.
    pub measure_cycles: u32,
    /// Most cycles after these until all that counts has arrived.
    pub drain_cycles: u32,
    /// What ends the drain phase before that.
    pub drain: RunEndCondition,
}

/// The figures of one class of traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficClassFigures {
    /// Flits that an active endpoint wants to send in a cycle.
    pub offered_load: f64,
    /// Flits that arrived, per active endpoint and cycle.
    pub accepted_load: f64,
    /// Packets staged in the measured cycles, and how many of these arrived.
    pub packets: (u64, u64),
    /// Expected number of packets in the measured cycles at this load; infinite if packets come
    /// from a list, as then nothing is random.
    pub expected: f64,
    /// Mean cycles from creation to the arrival of the tail.
    pub latency: Option<f64>,
    /// Mean cycles from the head's entering the network to the arrival of the tail.
    pub network_latency: Option<f64>,
    /// Mean routers visited.
    pub hops: Option<f64>,
    /// Latencies of packets.
    pub latencies: LatencyHistogram,
    /// Number of packets by the number of routers visited.
    pub by_hops: Vec<u64>,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct FlitRunResult {
    /// The figures of each class.
    pub classes: Vec<TrafficClassFigures>,
    /// The figures of all classes together.
    pub all: TrafficClassFigures,
    /// Number of cycles of the warm-up.
    pub warmup_cycles: u32,
    /// Number of simulated cycles.
    pub cycles: u64,
    /// Flits that passed a router, summed over all routers and cycles.
    pub flit_hops: u64,
    /// Counts of channels and buffers in the measured cycles.
    pub traces: ChannelCounts,
    /// Packets that wait for one another in a cycle; none if there is no deadlock.
    pub deadlock: Option<Vec<BlockedPacket>>,
}

impl TrafficClassFigures {
    /// Whether a packet was staged in the measured cycles, or a flit arrived in them.
    pub fn is_sent(&self) -> bool {
        self.packets.0 > 0 || self.accepted_load > 0.0
    }

    /// Whether less arrives than is offered; none if the expected packets are too few to exclude
    /// chance.
    pub fn is_saturated(&self) -> Option<bool> {
        saturation::is_saturated(self.offered_load, self.accepted_load, self.expected)
    }
}

impl TrafficClassFigures {
    /// The means of several runs, with the packets of all of them.
    fn merged(runs: &[&Self]) -> Self {
        let n = runs.len() as f64;
        let mean = |of: fn(&Self) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / n;
        let known = |of: fn(&Self) -> Option<f64>| {
            runs.iter().map(|run| of(run)).sum::<Option<f64>>().map(|sum| sum / n)
        };
        let mut latencies = LatencyHistogram::default();
        let mut by_hops = vec![0; runs.iter().map(|run| run.by_hops.len()).max().unwrap_or(0)];
        for run in runs {
            latencies.merge(&run.latencies);
            run.by_hops.iter().zip(&mut by_hops).for_each(|(one, sum)| *sum += one);
        }
        Self {
            offered_load: mean(|run| run.offered_load),
            accepted_load: mean(|run| run.accepted_load),
            expected: runs.iter().map(|run| run.expected).sum(),
            packets: (
                runs.iter().map(|run| run.packets.0).sum(),
                runs.iter().map(|run| run.packets.1).sum(),
            ),
            latency: known(|run| run.latency),
            network_latency: known(|run| run.network_latency),
            hops: known(|run| run.hops),
            latencies,
            by_hops,
        }
    }
}

impl FlitRunResult {
    /// The means of several runs of a point, with the counts of all of them; there must be at least
    /// one.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn merged(runs: &[Self]) -> Self {
        let [first, others @ ..] = runs else { panic!("no run") };
        let mut all = first.clone();
        if others.is_empty() {
            return all;
        }
        let each = |of: &dyn Fn(&Self) -> &TrafficClassFigures| -> TrafficClassFigures {
            TrafficClassFigures::merged(&runs.iter().map(of).collect::<Vec<_>>())
        };
        all.classes = (0..first.classes.len()).map(|c| each(&|run| &run.classes[c])).collect();
        all.all = each(&|run| &run.all);
        for run in others {
            all.warmup_cycles = all.warmup_cycles.max(run.warmup_cycles);
            all.cycles += run.cycles;
            all.flit_hops += run.flit_hops;
            all.traces.add(&run.traces);
            all.deadlock = all.deadlock.or_else(|| run.deadlock.clone());
        }
        all
    }

    /// Whether less arrives than is offered, as [`TrafficClassFigures::is_saturated`].
    pub fn is_saturated(&self) -> Option<bool> {
        self.all.is_saturated()
    }
}

/// Most samples of buffer occupancy while measuring.
const LOOKS: u32 = 100;

/// Cycles between two checks for deadlock.
const LOOK: u32 = 1000;

/// Flits that may move between two checks for an interrupt by the user: about a tenth of a second.
const STRIDE_FLITS: u32 = 400_000;

/// Most cycles between two checks for an empty network.
const DRAIN_STRIDE: u32 = 50;

/// Simulates `setup` through `phases`.
///
/// # Errors
/// When the setup is refused, or `watch` says stop.
///
/// # Panics
/// When a flit or credit was lost: a fault of the engine.
pub fn run(
    setup: FlitEngineInputs<'_>,
    phases: FlitRunPhases,
    watch: &dyn ProgressWatch,
) -> Result<FlitRunResult, ComputationError> {
    let mut run = SteppedFlitSimulation::new(setup)?;
    let (start, end) = (phases.warmup_cycles, phases.warmup_cycles + phases.measure_cycles);
    run.engine.count_in(start..end, phases.drain == RunEndCondition::Measured);
    let total = u64::from(end);
    run.until(start, total, watch)?;
    let traces = run.measure(start..end, total, watch)?;
    run.drain(phases.drain, end + phases.drain_cycles, watch)?;
    Ok(run.point(start..end, traces))
}

/// Cycles between two checks for an interrupt by the user.
pub(super) fn stride(wiring: &RouterWiring) -> u32 {
    let ports: usize = (0..wiring.routers()).map(|r| wiring.ports(r).len()).sum();
    (STRIDE_FLITS / (ports as u32).max(1)).clamp(1, LOOK)
}

/// Flits that all endpoints together want to send in a cycle.
pub(super) fn flits_a_cycle(class: &InjectedTrafficClass) -> f64 {
    let senders = (0..class.destinations.endpoints()).map(|e| class.destinations.rate(e));
    class.load.packets(&class.sizes) * class.sizes.mean() * senders.sum::<f64>()
}

/// A run in steps, with the same effect as [`run`], for callers that determine its length while it
/// runs.
pub struct SteppedFlitSimulation<'a> {
    /// The engine with all routers.
    pub engine: Box<dyn FlitSimulationEngine + 'a>,
    classes: &'a [InjectedTrafficClass],
    /// Number of virtual channels of a port.
    lanes: u8,
    /// Packets that wait for one another in a cycle, if there is a deadlock; the run ends then.
    pub deadlock: Option<Vec<BlockedPacket>>,
    /// Cycles between two checks for an interrupt by the user.
    stride: u32,
    /// The cycle of the last check for deadlock.
    looked: u32,
    /// The number of flits moved so far, and the cycle of the check that first saw this number
    /// while some packet waited.
    moved: (u64, u32),
    /// The most cycles that a packet needs within an otherwise empty router.
    longest: u32,
    /// Whether packets come from a list with their times, and are not drawn.
    is_given: bool,
}

impl<'a> SteppedFlitSimulation<'a> {
    /// A run at cycle 0.
    ///
    /// # Errors
    /// When the setup is refused.
    pub fn new(setup: FlitEngineInputs<'a>) -> Result<Self, Refusal> {
        let stride = stride(setup.wiring);
        let (classes, lanes) = (setup.classes, setup.router.virtual_channels);
        // a packet routed in batches may wait for the batch before its own
        let delays = setup.router.routing_delay.saturating_add(setup.router.vc_alloc_delay);
        let is_given = setup.assignment.is_some_and(|a| a.times.is_some());
        let (engine, longest) = (engine(setup)?, delays.saturating_mul(2));
        let (looked, moved) = (0, (0, 0));
        Ok(Self {
            engine,
            classes,
            lanes,
            deadlock: None,
            stride,
            looked,
            moved,
            longest,
            is_given,
        })
    }

    /// Advances to this cycle, or until a deadlock; `total` is the expected number of cycles, for
    /// progress.
    ///
    /// # Errors
    /// When `watch` says stop.
    pub fn until(
        &mut self,
        cycle: u32,
        total: u64,
        watch: &dyn ProgressWatch,
    ) -> Result<(), ComputationError> {
        while self.engine.now() < cycle && self.deadlock.is_none() {
            watch.tick("cycles", self.engine.now().into(), total)?;
            self.engine.advance(self.stride.min(cycle - self.engine.now()));
            self.look();
        }
        Ok(())
    }

    /// Measures this number of cycles from the current one on, with samples of the buffers at equal
    /// intervals.
    ///
    /// # Errors
    /// When `watch` says stop.
    pub fn measure(
        &mut self,
        cycles: Range<u32>,
        total: u64,
        watch: &dyn ProgressWatch,
    ) -> Result<ChannelCounts, ComputationError> {
        let before = self.engine.departed();
        let mut buffered = vec![0; before.len() * usize::from(self.lanes)];
        let step = (cycles.len() as u32).div_ceil(LOOKS);
        let (mut at, mut looks) = (cycles.start, 0);
        while at < cycles.end && self.deadlock.is_none() {
            at = cycles.end.min(at + step);
            self.until(at, total, watch)?;
            self.engine.count_buffered(&mut buffered);
            looks += 1;
        }
        let after = self.engine.departed();
        let sent = after.iter().zip(&before).map(|(a, b)| u64::from(a - b)).collect();
        let buffered = buffered.into_iter().map(u64::from).collect();
        Ok(ChannelCounts { cycles: cycles.len() as u64, lanes: self.lanes, sent, looks, buffered })
    }

    /// Checks for deadlock if some packet has not moved since the last check.
    ///
    /// # Panics
    /// When nothing moves and no packet waits for another: a fault of the engine.
    fn look(&mut self) {
        if self.engine.now() - self.looked < LOOK {
            return;
        }
        self.looked = self.engine.now();
        let is_slow = self.engine.is_slow();
        if is_slow {
            self.deadlock = self.engine.deadlock();
        }
        let moved = self.engine.sent().iter().map(|&n| u64::from(n)).sum();
        // after a long time without packets, a new packet has not waited since then
        if moved != self.moved.0 || !is_slow {
            self.moved = (moved, self.looked);
        }
        let rests = self.looked - self.moved.1 > self.longest.saturating_add(LOOK);
        assert!(
            self.deadlock.is_some() || !rests || !self.engine.is_still(),
            "no flit moves since cycle {}, and no packets wait for one another",
            self.moved.1
        );
    }

    /// Advances until all packets that are to drain have arrived, or to cycle `last`; returns
    /// whether they have.
    ///
    /// # Errors
    /// When `watch` says stop.
    ///
    /// # Panics
    /// When a flit or credit was lost: a fault of the engine.
    pub fn drain(
        &mut self,
        how: RunEndCondition,
        last: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<bool, ComputationError> {
        let is_done = |engine: &dyn FlitSimulationEngine| match how {
            RunEndCondition::Empty => engine.flits_inside() == 0,
            RunEndCondition::Measured => engine.all_counted_arrived(),
        };
        if how == RunEndCondition::Empty {
            self.engine.stop_sources();
        }
        while self.deadlock.is_none() && self.engine.now() < last && !is_done(&*self.engine) {
            watch.tick("cycles", 1, 1)?;
            let cycles = self.stride.min(DRAIN_STRIDE).min(last - self.engine.now());
            self.engine.advance(cycles);
            self.look();
        }
        let audit = self.engine.audit();
        assert_eq!(audit, Ok(()), "a flit or credit was lost");
        Ok(is_done(&*self.engine))
    }

    /// The result of the run, if `measured` are the measured cycles.
    pub fn point(self, measured: Range<u32>, traces: ChannelCounts) -> FlitRunResult {
        let tally = self.engine.tally();
        let cycles = measured.len() as f64;
        let found = |class: &InjectedTrafficClass, of: &TrafficClassCounts| {
            let active = f64::from(class.destinations.active().max(1));
            let flits = flits_a_cycle(class);
            let expected =
                if self.is_given { f64::INFINITY } else { flits * cycles / class.sizes.mean() };
            found_of(flits / active, of.accepted as f64 / active / cycles, expected, of)
        };
        let classes: Vec<TrafficClassFigures> =
            self.classes.iter().zip(&tally.classes).map(|(c, t)| found(c, t)).collect();
        let all = match &classes[..] {
            [one] => one.clone(),
            several => {
                let mut sum =
                    TrafficClassCounts { by_hops: vec![0; 256], ..TrafficClassCounts::default() };
                tally.classes.iter().for_each(|class| sum.merge(class));
                let total = |of: fn(&TrafficClassFigures) -> f64| several.iter().map(of).sum();
                let [offered, accepted, expected] =
                    [total(|f| f.offered_load), total(|f| f.accepted_load), total(|f| f.expected)];
                found_of(offered, accepted, expected, &sum)
            }
        };
        FlitRunResult {
            classes,
            all,
            warmup_cycles: measured.start,
            cycles: self.engine.now().into(),
            flit_hops: self.engine.sent().iter().map(|&n| u64::from(n)).sum(),
            traces,
            deadlock: self.deadlock,
        }
    }
}

/// The figures of a class, or of all, from its counts.
fn found_of(
    offered_load: f64,
    accepted_load: f64,
    expected: f64,
    of: &TrafficClassCounts,
) -> TrafficClassFigures {
    let mean = |sum: u64, count: u64| (count > 0).then(|| sum as f64 / count as f64);
    let latency = mean(of.latency, of.arrived);
    let inside = mean(of.wait, of.entered);
    TrafficClassFigures {
        offered_load,
        accepted_load,
        packets: (of.staged, of.arrived),
        expected,
        latency,
        network_latency: latency.zip(inside).map(|(all, wait)| all - wait),
        hops: mean(of.hops, of.arrived),
        latencies: of.latencies.clone(),
        by_hops: of.by_hops.clone(),
    }
}
