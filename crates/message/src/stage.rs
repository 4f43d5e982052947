//! The message level as a stage: a schedule, its costs and a network in, times and loads out.

use super::net::{Network, Under, Used};
use super::{Dialect, Found, LogGops, Traced, run};
use base::stage::{Better, Kind};
use base::{Metric, Need, Refusal, Stage, Stop, Watch};
use fabric::Topology;
use fabric::tables::Routing;
use paths::PathSource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use traffic::placement::{check_places, placement};
use traffic::workload::{Schedule, generator, make};

/// All parameters of a run of a schedule: how long it takes under LogGOPS, over a network where
/// there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// What processes do: a name of `flyloom workload list`, or a file.
    pub workload: String,
    /// Parameters of a workload that is made; where `ranks` is not among them, a rank for every
    /// place on the endpoints.
    pub with: Map<String, Value>,
    /// By which rules the schedule is run.
    pub dialect: Dialect,
    /// What messages cost; a network takes the place of `L` and `G`.
    pub costs: LogGops,
    /// The network's latencies, and which ways messages take.
    pub network: Network,
    /// Which endpoint each rank is on: `linear`, `random`, `random_switches`, `random_groups`,
    /// `stripe`.
    pub placement: String,
    /// Ranks on each endpoint.
    pub per_endpoint: u32,
    /// The seed of all that is random.
    pub seed: u64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            workload: "alltoall_pairwise".to_owned(),
            with: Map::new(),
            dialect: Dialect::default(),
            costs: LogGops::default(),
            network: Network::default(),
            placement: "linear".to_owned(),
            per_endpoint: 1,
            seed: 0,
        }
    }
}

/// What a schedule is run on.
#[derive(Clone, Copy, Default)]
pub struct Played<'a> {
    /// The network, if there is one.
    pub topology: Option<&'a Arc<Topology>>,
    /// Its tables, where messages follow some; else they take the shortest ways.
    pub routing: Option<&'a Routing>,
    /// A schedule of the user's, in place of that which the parameters name.
    pub schedule: Option<&'a Schedule>,
    /// The endpoint of every rank, in place of what the parameters say.
    pub places: Option<&'a [u32]>,
}

/// What went over the channels between switches, and over those of endpoints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Loaded {
    /// Bytes over all channels between switches, each as often as it took one.
    pub switch_bytes: f64,
    /// Bytes over the one of them that had most.
    pub busiest_bytes: f64,
    /// The part of its rate that this one carried over the whole run.
    pub busiest_use: f64,
    /// The same, in the mean of all of them.
    pub mean_use: f64,
    /// The one that had most, by the names of its switches; empty where nothing went between
    /// switches.
    pub busiest: String,
    /// The largest part of its rate that a channel of an endpoint carried.
    pub endpoint_use: f64,
}

/// What the message level finds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Record {
    /// By which rules the schedule was run.
    pub dialect: Dialect,
    /// What messages cost.
    pub parameters: LogGops,
    /// How many processes there are.
    pub ranks: u32,
    /// When the last of them is done, ns.
    pub finish_ns: f64,
    /// When they are done in the mean, ns.
    pub mean_finish_ns: f64,
    /// Operations begun and messages arrived.
    pub events: u64,
    /// Messages that arrived.
    pub messages: u64,
    /// Bytes of all messages.
    pub sent_bytes: f64,
    /// What went over the network, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Loaded>,
}

/// A run with all its figures: of every rank, and of every channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// The record.
    pub record: Record,
    /// When each rank is done, ns.
    pub finish_ns: Vec<f64>,
    /// What went over the network, where there is one.
    pub used: Option<Used>,
    /// The critical path and what processors do, where these were asked for; without what was
    /// found, which is told above.
    pub traced: Option<Traced>,
    /// The schedule that was made, where it was traced.
    pub schedule: Option<Schedule>,
}

impl Spec {
    /// Runs it, with its critical path where it `is_traced`.
    ///
    /// # Errors
    /// When something does not fit, the schedule cannot come to its end, or `watch` says stop.
    pub fn simulate(
        &self,
        on: Played<'_>,
        is_traced: bool,
        watch: &dyn Watch,
    ) -> Result<Ran, Stop> {
        self.check()?;
        let schedule = match on.schedule {
            Some(schedule) => Cow::Borrowed(schedule),
            None => Cow::Owned(make(&self.workload, &self.with_ranks(on), watch)?),
        };
        let driven = match (on.routing, on.topology) {
            (Some(routing), _) => Some(PathSource::Tables(Box::new(routing.clone()))),
            (None, topology) => topology.cloned().map(PathSource::Network),
        };
        let mut places = Vec::new();
        if let Some(driven) = &driven {
            places = self.places(driven.topology(), on.places, schedule.ranks())?;
        }
        let under = driven.map(|driven| Under {
            on: driven,
            how: &self.network,
            places: &places,
            seed: self.seed,
        });
        let mut traced = None;
        let found = if is_traced {
            if self.dialect != Dialect::Causal {
                let why = "loggops-v1 has no critical path";
                return Err(Refusal::new("dialect", why, "the dialect causal").into());
            }
            let mut all = super::traced(&schedule, &self.costs, under.as_ref(), watch)?;
            let found = std::mem::take(&mut all.found);
            traced = Some(all);
            found
        } else {
            run(&schedule, self.dialect, &self.costs, under.as_ref(), watch)?
        };
        if let Some(left) = &found.left {
            return Err(left.refusal(&schedule).into());
        }
        let mut ran = self.told(&schedule, under.as_ref().map(|u| &**u.on.topology()), found);
        if is_traced {
            ran.traced = traced;
            ran.schedule = match schedule {
                Cow::Owned(schedule) => Some(schedule),
                Cow::Borrowed(_) => None,
            };
        }
        Ok(ran)
    }

    /// The parameters of a workload that is made.
    fn with_ranks(&self, on: Played<'_>) -> Map<String, Value> {
        let mut with = self.with.clone();
        // some have their ranks by other parameters
        let takes = generator(&self.workload)
            .is_ok_and(|one| one.keys().iter().any(|key| key.name == "ranks"));
        if let (true, false, Some(topology)) = (takes, with.contains_key("ranks"), on.topology) {
            let endpoints = topology.endpoints().len() as u64;
            with.insert("ranks".to_owned(), json!(endpoints * u64::from(self.per_endpoint)));
        }
        with
    }

    fn places(
        &self,
        on: &Topology,
        given: Option<&[u32]>,
        ranks: u32,
    ) -> Result<Vec<u32>, Refusal> {
        let Some(given) = given else {
            return placement(&self.placement)?.place(on, ranks, self.per_endpoint, self.seed);
        };
        check_places(on, given)?;
        if let Some(places) = given.get(..ranks as usize) {
            return Ok(places.to_vec());
        }
        let why = format!("{} places for {ranks} ranks", given.len());
        Err(Refusal::new("placement", why, "an endpoint for every rank"))
    }

    fn told(&self, schedule: &Schedule, on: Option<&Topology>, found: Found) -> Ran {
        let unit = self.dialect.unit_ns();
        let finish_ns: Vec<f64> = found.finish.iter().map(|&t| t as f64 * unit).collect();
        let last = finish_ns.iter().copied().fold(0.0, f64::max);
        let network = on.zip(found.used.as_ref()).map(|(on, used)| loaded(on, used, last));
        let record = Record {
            dialect: self.dialect,
            parameters: self.costs,
            ranks: schedule.ranks(),
            finish_ns: last,
            mean_finish_ns: finish_ns.iter().sum::<f64>() / finish_ns.len().max(1) as f64,
            events: found.events,
            messages: found.messages,
            sent_bytes: schedule.sent_bytes(),
            network,
        };
        Ran { record, finish_ns, used: found.used, traced: None, schedule: None }
    }
}

fn loaded(on: &Topology, used: &Used, finish_ns: f64) -> Loaded {
    let links = 2 * on.links().len();
    let uses = used.uses(finish_ns);
    let works = |channel: usize| on.links()[channel / 2].cable.up;
    let mut best = None;
    let (mut sum, mut count) = (0.0, 0);
    for channel in (0..links).filter(|c| works(*c)) {
        sum += uses[channel];
        count += 1;
        if used.bytes[channel] > best.map_or(0.0, |b: usize| used.bytes[b]) {
            best = Some(channel);
        }
    }
    Loaded {
        switch_bytes: used.bytes[..links].iter().sum(),
        busiest_bytes: best.map_or(0.0, |b| used.bytes[b]),
        busiest_use: best.map_or(0.0, |b| uses[b]),
        mean_use: sum / f64::from(count.max(1)),
        busiest: best.map_or_else(String::new, |b| {
            let [from, to] = channel_ends(on, b);
            format!("{from} -> {to}")
        }),
        endpoint_use: uses[links..].iter().copied().fold(0.0, f64::max),
    }
}

/// The names of the devices that a channel of [`Used`] leads from and to.
///
/// # Panics
/// When there is no such channel.
pub fn channel_ends(on: &Topology, channel: usize) -> [&str; 2] {
    let links = on.links().len();
    let name = |s: base::SwitchId| on.switches()[s.ix()].name.as_str();
    let (ends, is_back) = (channel / 2, channel % 2 == 1);
    let ends = if let Some(link) = on.links().get(ends) {
        [name(link.a.switch), name(link.b.switch)]
    } else {
        let terminal = &on.terminals()[ends - links];
        let endpoint = &on.endpoints()[terminal.endpoint.ix()];
        [endpoint.name.as_str(), name(terminal.plug.switch)]
    };
    if is_back { [ends[1], ends[0]] } else { ends }
}

impl Stage for Spec {
    const NAME: &'static str = "sim.message";
    const COLUMNS: &'static [Metric] = &[
        Metric::new(
            "finish_ns",
            "/finish_ns",
            Kind::Real,
            "ns",
            "when the last process is done",
            Better::Lower,
        ),
        Metric::new(
            "mean_finish_ns",
            "/mean_finish_ns",
            Kind::Real,
            "ns",
            "when processes are done, in the mean",
            Better::Lower,
        ),
        Metric::new("ranks", "/ranks", Kind::Whole, "", "processes", Better::Neither),
        Metric::new("messages", "/messages", Kind::Whole, "", "messages", Better::Neither),
        Metric::new(
            "sent_bytes",
            "/sent_bytes",
            Kind::Real,
            "B",
            "bytes of all messages",
            Better::Neither,
        ),
        Metric::new(
            "busiest_use",
            "/network/busiest_use",
            Kind::Real,
            "",
            "part of its rate that the busiest channel between switches carried",
            Better::Neither,
        ),
        Metric::new(
            "mean_use",
            "/network/mean_use",
            Kind::Real,
            "",
            "part of their rate that channels between switches carried, in the mean",
            Better::Neither,
        ),
    ];

    type On<'a> = Played<'a>;
    type Record = Record;

    fn examples() -> Vec<Self> {
        let with = |bytes: u64| Map::from_iter([("bytes".to_owned(), json!(bytes))]);
        let random = "random".to_owned();
        vec![
            Self { with: with(100_000), ..Self::default() },
            Self { with: with(1000), placement: random, ..Self::default() },
        ]
    }

    fn check(&self) -> Result<(), Refusal> {
        self.network.check()?;
        if !(1..=MOST_PER_ENDPOINT).contains(&self.per_endpoint) {
            let why = format!("{} is out of range", self.per_endpoint);
            return Err(Refusal::new("per_endpoint", why, format!("1 to {MOST_PER_ENDPOINT}")));
        }
        Ok(())
    }

    fn need(&self, on: Played<'_>, _: usize) -> Need {
        let switches = on.topology.map_or(0.0, |t| t.switches().len() as f64);
        let ops = on.schedule.map_or(0.0, |schedule| schedule.ops().len() as f64);
        Need::new(switches * switches + ops * BYTES_AN_OPERATION, ops / OPERATIONS_A_SECOND)
    }

    fn run(&self, on: Played<'_>, watch: &dyn Watch) -> Result<Record, Stop> {
        Ok(self.simulate(on, false, watch)?.record)
    }
}

/// Most ranks on an endpoint.
const MOST_PER_ENDPOINT: u32 = 1 << 16;
/// Memory of a run for each operation.
const BYTES_AN_OPERATION: f64 = 150.0;
/// Operations in a second of one processor over a network, roughly.
const OPERATIONS_A_SECOND: f64 = 2e5;
