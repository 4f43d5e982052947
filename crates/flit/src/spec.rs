//! The parameters of a case, as users write them.

use super::router::RouterDesign;
use super::warmup::WarmupSetting;
use base::Refusal;
use paths::loads::{self, SimulationLoads};
use paths::over_seeds::check_seeds;
use paths::proved::PathChoiceRules;
use paths::select::{
    LEAST_QUEUE, LaneUseRule, PathSelection, PathSelectionParameters, PathSelectionSpec,
    RailSelection,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::process::{InjectionProcess, PacketSizeDistribution};

/// How long a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "RunLength")]
pub struct RunLengthParameters {
    /// Cycles before anything counts, or `auto`: until latency and accepted load change no more.
    /// 1000 unless it is given.
    pub warmup_cycles: Option<WarmupSetting>,
    /// Cycles that count; 3000 unless it is given. Packets with their times are played whole where
    /// neither is.
    pub measure_cycles: Option<u32>,
    /// Most cycles after these in which what counts may still arrive.
    pub drain_cycles: u32,
    /// Whether endpoints go on sending until all that counts has arrived; else they stop.
    pub drain_under_load: bool,
}

impl Default for RunLengthParameters {
    fn default() -> Self {
        Self {
            warmup_cycles: None,
            measure_cycles: None,
            drain_cycles: 100_000,
            drain_under_load: false,
        }
    }
}

impl RunLengthParameters {
    /// The length of the warm-up, by default 1000 cycles.
    pub(super) fn warmup(&self) -> WarmupSetting {
        self.warmup_cycles.unwrap_or(WarmupSetting::Cycles(1000))
    }

    /// The number of measured cycles, with its default.
    pub(super) fn measured(&self) -> u32 {
        self.measure_cycles.unwrap_or(3000)
    }

    /// Whether neither the warm-up nor the measured cycles are set.
    pub(super) fn is_open(&self) -> bool {
        self.warmup_cycles.is_none() && self.measure_cycles.is_none()
    }

    /// These lengths, with defaults for those that are not set.
    pub(super) fn said(&self) -> Self {
        let (warmup, measured) = (self.warmup(), self.measured());
        Self { warmup_cycles: Some(warmup), measure_cycles: Some(measured), ..self.clone() }
    }

    fn check(&self) -> Result<(), Refusal> {
        let (warmup, measured) = (self.warmup().most(), self.measured());
        if measured > 0 && u64::from(measured) + u64::from(warmup) <= 1 << 30 {
            return Ok(());
        }
        let why = format!("{warmup} + {measured} cycles");
        Err(Refusal::new("run.measure_cycles", why, "1 to 2^30 with the warm-up"))
    }
}

/// Latency and accepted load, cycle by cycle: switches with channels and credits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Spec")]
pub struct FlitSimulationParameters {
    /// Loads in flits an endpoint and cycle: a number, several, a range `0.1:0.9:0.1` or `auto`, up
    /// to where it saturates.
    pub load: SimulationLoads,
    /// How packets choose among the paths that there are: by name, where `adaptive` means `ugal_l`,
    /// or by a score of one's own.
    pub selection: PathSelectionSpec,
    /// What selections look at; their usual numbers where it is not given.
    pub choosing: Option<PathSelectionParameters>,
    /// The lanes of packets that choose.
    pub lane_use: LaneUseRule,
    /// The rail of its endpoint that a packet takes, where there are several.
    pub rail: RailSelection,
    /// Who sends to whom: a pattern with its argument.
    pub traffic: String,
    /// When packets enter the network: `bernoulli` or `on_off:ALPHA,BETA`.
    pub injection: String,
    /// Flits of a packet, or several with weights: `1=3,5=1`.
    #[serde(deserialize_with = "flits_said")]
    #[schemars(with = "RawPacketSizes")]
    pub packet_flits: String,
    /// Several classes of traffic at once, each a table; none: one class, by the keys above.
    pub traffic_class: Vec<TrafficClassParameters>,
    /// The switches: virtual channels, buffers, pipeline, allocators.
    #[serde(rename = "switch")]
    pub router: RouterDesign,
    /// Latency of all cables, cycles.
    pub link_latency_cycles: u32,
    /// How long a cycle is, where latencies follow from lengths of cables; they are
    /// `link_latency_cycles` where it is not given.
    pub cycle_ns: Option<f64>,
    /// Warm-up, measurement, drain.
    pub run: RunLengthParameters,
    /// Whether points have `links`: what every channel between switches carried.
    pub links: bool,
    /// Run also what is not proved free of deadlock.
    pub unverified: bool,
    /// The seed of all that is random.
    pub seed: u64,
    /// Runs of each load, with `seed` and the numbers that follow: means of them, and how far these
    /// can be trusted.
    #[schemars(range(min = 1, max = 1000))]
    pub seeds: u32,
}

/// One of several classes of traffic; what it does not say is as of the keys of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Class")]
#[serde(default, deny_unknown_fields)]
pub struct TrafficClassParameters {
    /// Its part of the load, in proportion to those of the others.
    pub share: f64,
    /// Who sends to whom: a pattern with its argument.
    pub traffic: Option<String>,
    /// When packets enter the network.
    pub injection: Option<String>,
    /// Flits of a packet, or several with weights.
    #[serde(deserialize_with = "some_flits_said")]
    #[schemars(with = "Option<RawPacketSizes>")]
    pub packet_flits: Option<String>,
    /// Where `switch.priority` is `class`, packets of larger numbers go first.
    pub priority: u32,
}

impl Default for TrafficClassParameters {
    fn default() -> Self {
        Self { share: 1.0, traffic: None, injection: None, packet_flits: None, priority: 0 }
    }
}

impl Default for FlitSimulationParameters {
    fn default() -> Self {
        Self {
            load: SimulationLoads::Auto,
            selection: PathSelection::Minimal.into(),
            choosing: None,
            lane_use: LaneUseRule::Auto,
            rail: RailSelection::Random,
            traffic: "uniform".to_owned(),
            injection: "bernoulli".to_owned(),
            packet_flits: "1".to_owned(),
            traffic_class: Vec::new(),
            router: RouterDesign::default(),
            link_latency_cycles: 1,
            cycle_ns: None,
            run: RunLengthParameters::default(),
            links: false,
            unverified: false,
            seed: 0,
            seeds: 1,
        }
    }
}

impl FlitSimulationParameters {
    /// Checks all that can be checked without a network.
    ///
    /// # Errors
    /// When a number is out of its range, or a word is unknown.
    pub fn check(&self) -> Result<(), Refusal> {
        self.load.check(loads::fits_some, loads::RANGE)?;
        self.selection.check(self.choosing)?;
        self.kinds()?;
        if self.traffic_class.len() > MOST_CLASSES {
            let why = format!("{} classes", self.traffic_class.len());
            return Err(Refusal::new("traffic_class", why, format!("{MOST_CLASSES} at most")));
        }
        check_seeds(self.seeds)?;
        self.router.check_numbers()?;
        if !(1..=10_000).contains(&self.link_latency_cycles) {
            let why = format!("{} is out of range", self.link_latency_cycles);
            return Err(Refusal::new("link_latency_cycles", why, "1 to 10000"));
        }
        if let Some(ns) = self.cycle_ns.filter(|ns| !(1e-3..=1e6).contains(ns)) {
            let why = format!("{ns} is out of range");
            return Err(Refusal::new("cycle_ns", why, "0.001 to 1000000"));
        }
        self.run.check()
    }

    /// Checks that the parameters fit packets with given times and sizes.
    ///
    /// # Errors
    /// When a parameter sets the times or sizes of packets.
    pub(super) fn check_with_times(&self) -> Result<(), Refusal> {
        let usual = Self::default();
        let excluded = [
            ("traffic_class", !self.traffic_class.is_empty()),
            ("injection", self.injection != usual.injection),
            ("packet_flits", self.packet_flits != usual.packet_flits),
        ];
        match excluded.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                let help = "leave it out: the file has times, receivers and sizes of all packets";
                Err(Refusal::new(name, "with packets of given times", help))
            }
            None => Ok(()),
        }
    }

    /// The rules by which packets choose their paths.
    ///
    /// `latency` is the mean latency of the cables, in cycles.
    pub(super) fn path_rules(&self, latency: f64) -> PathChoiceRules<'_> {
        let classes = self.kinds().unwrap_or_default();
        let lengths = classes.into_iter().map(|class| class.sizes.mean());
        let least = lengths.fold(f64::from(LEAST_QUEUE), f64::max).ceil() as u32;
        // a flit takes a cycle more than the cable's latency, its credit the same, and the router
        // adds some
        let in_flight = (2.0 * (latency + 1.0)).round() as u32 + ROUTER_CYCLES;
        let choosing = self.selection.choosing(self.choosing);
        PathChoiceRules {
            selection: &self.selection,
            choosing: choosing.on_cables(in_flight, least, self.router.buffer_flits),
            lane_use: self.lane_use,
            virtual_channels: self.router.virtual_channels,
            unverified: self.unverified,
        }
    }

    /// The traffic of each class; one class if none is listed.
    pub(super) fn kinds(&self) -> Result<Vec<ClassTraffic<'_>>, Refusal> {
        let alone = [TrafficClassParameters::default()];
        let written =
            if self.traffic_class.is_empty() { &alone[..] } else { &self.traffic_class[..] };
        let sum: f64 = written.iter().map(|class| class.share).sum();
        let mut kinds = Vec::new();
        for (i, class) in written.iter().enumerate() {
            let of = |r: Refusal| match self.traffic_class.len() {
                0 => r,
                _ => Refusal { param: format!("traffic_class {}: {}", i + 1, r.param), ..r },
            };
            if !(class.share > 0.0 && class.share <= 1e6) {
                let why = format!("{} is out of range", class.share);
                return Err(of(Refusal::new("share", why, "above 0, at most 1000000")));
            }
            let sizes = class.packet_flits.as_deref().unwrap_or(&self.packet_flits);
            let named = |r| of(Refusal { param: "packet_flits".to_owned(), ..r });
            kinds.push(ClassTraffic {
                traffic: self.traffic_class.get(i).and_then(|class| class.traffic.as_deref()),
                process: InjectionProcess::parse(
                    class.injection.as_deref().unwrap_or(&self.injection),
                )
                .map_err(of)?,
                sizes: PacketSizeDistribution::parse(sizes).map_err(named)?,
                share: class.share / sum,
                urgency: class.priority,
            });
        }
        Ok(kinds)
    }
}

/// The traffic of one class: its destinations, process, sizes and share.
pub(super) struct ClassTraffic<'a> {
    /// Its own pattern; none if it uses the pattern of all classes.
    pub(super) traffic: Option<&'a str>,
    pub(super) process: InjectionProcess,
    pub(super) sizes: PacketSizeDistribution,
    /// Its share of the load; all shares together are 1.
    pub(super) share: f64,
    /// Its urgency: routers that prioritise by class serve the highest first.
    pub(super) urgency: u32,
}

/// Estimate of the cycles that a credit spends in routers: a flit's to leave the next router, and
/// the credit's own.
const ROUTER_CYCLES: u32 = 4;
/// Most classes of traffic.
const MOST_CLASSES: usize = 16;

/// The forms in which a file may give `packet_flits`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WrittenFlits")]
#[serde(untagged)]
enum RawPacketSizes {
    /// A number of flits.
    One(u64),
    /// A number, or several with weights.
    Several(String),
}

fn flits_said<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match RawPacketSizes::deserialize(from)? {
        RawPacketSizes::One(flits) => flits.to_string(),
        RawPacketSizes::Several(text) => text,
    })
}

fn some_flits_said<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    flits_said(from).map(Some)
}
