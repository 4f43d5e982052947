//! The message level as a stage: from a schedule, its costs and a network to times and loads.

use super::costs::{preset_or_table, preset_or_table_schema};
use super::net::{
    AdapterTimeParameters, ChannelUse, LinkTimeParameters, MessageChoosingParameters,
    MessageRouteSelection, NetworkTimeParameters, NetworkWithRanks, RailSelection,
    SwitchTimeParameters,
};
use super::{
    LogGopsParameters, MessageCostOrigin, MessageCostSpec, ScheduleDialect, ScheduleRunResult,
    TracedRunResult, run,
};
use base::renamed::RenamedParameter;
use base::stage::{BetterDirection, ColumnType};
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordColumn, Refusal, ResourceNeed};
use fabric::Topology;
use fabric::network::{Cable, LinkRateRange, RATE_GBPS, RATE_SOURCE, RateSource, parse_inline};
use fabric::tables::Routing;
use paths::PathSource;
use paths::over_seeds::{SeedStatistics, check_seeds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use traffic::placement::{check_places, placement};
use traffic::workload::{Schedule, generator, make};

/// How long a workload of processes takes: LogGOPS, message by message, over a network where there
/// is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Spec")]
pub struct MessageSimulationParameters {
    /// What processes do: a name of `flyloom workload list` with its parameters, such as
    /// `alltoall_pairwise bytes=65536`, or a file.
    pub workload: String,
    /// Parameters of a workload that is made, besides those beside its name; where `ranks` is not
    /// among them, a rank for every place on the endpoints.
    pub workload_options: Map<String, Value>,
    /// By which rules the schedule is run.
    pub dialect: ScheduleDialect,
    /// What messages cost: the name of a preset (`flyloom list costs`), or a table with `preset`
    /// and parameters in place of the preset's; a network takes the place of `L` and `G`.
    #[serde(deserialize_with = "preset_or_table")]
    #[schemars(schema_with = "preset_or_table_schema")]
    pub costs: MessageCostSpec,
    /// Cables of the network.
    pub link: LinkTimeParameters,
    /// Switches of the network.
    pub switch: SwitchTimeParameters,
    /// Which of the routes between two endpoints a message takes.
    pub selection: MessageRouteSelection,
    /// Parameters of selections with detours.
    pub choosing: MessageChoosingParameters,
    /// Which rails of its endpoints a message takes, where these have several.
    pub rail: RailSelection,
    /// Adapters, processes of one endpoint, and how closely rates are followed.
    pub network: AdapterTimeParameters,
    /// Which endpoint each rank is on: a name of `flyloom list placements`, or a file.
    pub placement: String,
    /// Ranks on each endpoint.
    pub per_endpoint: u32,
    /// The seed of all that is random.
    pub seed: u64,
    /// Runs, with `seed` and the numbers that follow: means of them, and how far these can be
    /// trusted.
    #[schemars(range(min = 1, max = 1000))]
    pub seeds: u32,
}

impl Default for MessageSimulationParameters {
    fn default() -> Self {
        Self {
            workload: "alltoall_pairwise".to_owned(),
            workload_options: Map::new(),
            dialect: ScheduleDialect::default(),
            costs: MessageCostSpec::default(),
            link: LinkTimeParameters::default(),
            switch: SwitchTimeParameters::default(),
            selection: MessageRouteSelection::default(),
            choosing: MessageChoosingParameters::default(),
            rail: RailSelection::default(),
            network: AdapterTimeParameters::default(),
            placement: "linear".to_owned(),
            per_endpoint: 1,
            seed: 0,
            seeds: 1,
        }
    }
}

/// The inputs of a run.
#[derive(Clone, Copy, Default)]
pub struct MessageSimulationInputs<'a> {
    /// The network, if there is one.
    pub topology: Option<&'a Arc<Topology>>,
    /// The tables that messages follow; without tables they take shortest paths.
    pub routing: Option<&'a Routing>,
    /// A schedule that the caller supplies, in place of the workload that the parameters name.
    pub schedule: Option<&'a Schedule>,
    /// The endpoint of every rank, in place of the placement that the parameters name.
    pub places: Option<&'a [u32]>,
}

/// What went over the channels between switches, and over those of endpoints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Loaded")]
pub struct ChannelTrafficTotals {
    /// Bytes over all channels between switches, each as often as it took one.
    pub switch_bytes: f64,
    /// Bytes over the one of them that had most.
    pub busiest_bytes: f64,
    /// The part of its rate that this one carried over the whole run.
    pub busiest_link_use: f64,
    /// The same, in the mean of all of them.
    pub mean_link_use: f64,
    /// The one that had most, by the names of its switches; empty where nothing went between
    /// switches.
    pub busiest_link: String,
    /// The largest part of its rate that a channel of an endpoint carried.
    pub endpoint_use: f64,
}

/// Receives that are smaller than the messages that they take, which MPI would truncate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ShortReceives")]
pub struct ShortReceivesReport {
    /// The number of them.
    pub count: u64,
    /// The first of them: its rank, its number there from 1, and its bytes.
    pub first: String,
    /// The send whose message it takes.
    pub message: String,
}

/// What the message level finds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Record")]
pub struct MessageSimulationRecord {
    /// By which rules the schedule was run.
    pub dialect: ScheduleDialect,
    /// What messages cost.
    pub parameters: LogGopsParameters,
    /// Where that is from.
    pub costs: MessageCostOrigin,
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
    pub network: Option<ChannelTrafficTotals>,
    /// The rates of the network's links, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<LinkRateRange>,
    /// Receives that are smaller than the messages that they take, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_receives: Option<ShortReceivesReport>,
    /// How runs with several seeds differ, where there are several that are not all equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<SeedStatistics>,
}

/// A run with all its figures, including those of each rank and each channel.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageSimulationResult {
    /// The record.
    pub record: MessageSimulationRecord,
    /// The time at which each rank is done, ns.
    pub finish_ns: Vec<f64>,
    /// The use of the network's channels; none without a network.
    pub used: Option<ChannelUse>,
    /// The critical path and the spans of processors, without the figures in the fields above; none
    /// unless requested.
    pub traced: Option<TracedRunResult>,
    /// The schedule that was generated; none unless the run was traced.
    pub schedule: Option<Schedule>,
}

impl MessageSimulationParameters {
    /// Runs the schedule with `seed`; also finds the critical path if `is_traced`. With several
    /// seeds, each is a simulation of its own.
    ///
    /// # Errors
    /// When something does not fit, the schedule deadlocks, or `watch` says stop.
    pub fn simulate(
        &self,
        on: MessageSimulationInputs<'_>,
        is_traced: bool,
        watch: &dyn ProgressWatch,
    ) -> Result<MessageSimulationResult, ComputationError> {
        self.check()?;
        let schedule = if let Some(schedule) = on.schedule {
            Cow::Borrowed(schedule)
        } else {
            let (name, with) = self.made(on)?;
            Cow::Owned(make(&name, &with, watch)?)
        };
        let driven = match (on.routing, on.topology) {
            (Some(routing), _) => Some(PathSource::Tables(Box::new(routing.clone()))),
            (None, topology) => topology.cloned().map(PathSource::Network),
        };
        let mut places = Vec::new();
        if let Some(driven) = &driven {
            places = self.places(driven.topology(), on.places, schedule.ranks())?;
        }
        let how = self.how();
        let (costs, origin) = self.costs.resolved(self.dialect)?;
        let under = driven.map(|driven| NetworkWithRanks {
            on: driven,
            how: &how,
            places: &places,
            seed: self.seed,
        });
        let mut traced = None;
        let found = if is_traced {
            if self.dialect != ScheduleDialect::Causal {
                let why = "loggops-v1 has no critical path";
                return Err(Refusal::new("dialect", why, "the dialect causal").into());
            }
            let mut all = super::traced(&schedule, &costs, under.as_ref(), watch)?;
            let found = std::mem::take(&mut all.found);
            traced = Some(all);
            found
        } else {
            run(&schedule, self.dialect, &costs, under.as_ref(), watch)?
        };
        if let Some(left) = &found.left {
            return Err(left.refusal(&schedule).into());
        }
        let on = under.as_ref().map(|u| &**u.on.topology());
        let mut ran = self.report(&schedule, on, found, (costs, origin));
        if is_traced {
            ran.traced = traced;
            ran.schedule = match schedule {
                Cow::Owned(schedule) => Some(schedule),
                Cow::Borrowed(_) => None,
            };
        }
        Ok(ran)
    }

    /// Whether runs with the seeds that are asked for can differ: where routes are drawn, or ranks
    /// are placed at random on the network. O(seeds x endpoints).
    pub fn differs_by_seed(&self, on: MessageSimulationInputs<'_>) -> bool {
        let topology = on.topology.or(on.routing.map(Routing::topology));
        let Some(topology) = topology else { return false };
        let is_drawn = match self.selection {
            MessageRouteSelection::One => true,
            MessageRouteSelection::Valiant | MessageRouteSelection::UgalG => on.routing.is_none(),
            MessageRouteSelection::Spread | MessageRouteSelection::Adaptive => false,
        };
        if is_drawn {
            return true;
        }
        let Ok(placement) = placement(&self.placement) else { return false };
        let endpoints = topology.endpoints().len() as u32;
        let order = |i: u32| {
            placement.place(topology, endpoints, 1, self.seed.wrapping_add(u64::from(i))).ok()
        };
        on.places.is_none() && (1..self.seeds).any(|i| order(i) != order(0))
    }

    /// The lowest and the highest rate of the cables of `on` that work, and where they come from.
    pub fn rates(&self, on: &Topology) -> LinkRateRange {
        let (given, usual) = (self.link.rate_gbps, Cable::default().rate_gbps());
        let working = on.cables().filter(|cable| cable.up).map(Cable::rate_gbps);
        let ends = working.map(|gbps| (gbps, gbps));
        let own = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((usual, usual));
        let (lowest_gbps, highest_gbps) = given.map_or(own, |gbps| (gbps, gbps));
        let source = given.map_or_else(|| on.rate_source(), |_| RateSource::Parameters);
        LinkRateRange { lowest_gbps, highest_gbps, source }
    }

    /// The parameters of the network.
    fn how(&self) -> NetworkTimeParameters {
        NetworkTimeParameters {
            link: self.link.clone(),
            switch: self.switch.clone(),
            selection: self.selection,
            choosing: self.choosing,
            rail: self.rail,
            network: self.network.clone(),
        }
    }

    /// The name of the workload to generate, and its parameters.
    fn made(
        &self,
        on: MessageSimulationInputs<'_>,
    ) -> Result<(String, Map<String, Value>), Refusal> {
        let recipe = parse_inline(&self.workload).map_err(|r| r.within("workload"))?;
        let mut with = recipe.params;
        for (key, value) in &self.workload_options {
            if with.insert(key.clone(), value.clone()).is_some() {
                let why = format!("{key} is given twice");
                return Err(Refusal::new("workload", why, "give each parameter once"));
            }
        }
        // some generators derive the number of ranks from other parameters
        let takes = generator(&recipe.family).is_ok_and(|one| one.part().has("ranks"));
        if let (true, false, Some(topology)) = (takes, with.contains_key("ranks"), on.topology) {
            let endpoints = topology.endpoints().len() as u64;
            with.insert("ranks".to_owned(), json!(endpoints * u64::from(self.per_endpoint)));
        }
        Ok((recipe.family, with))
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

    fn report(
        &self,
        schedule: &Schedule,
        on: Option<&Topology>,
        found: ScheduleRunResult,
        (parameters, costs): (LogGopsParameters, MessageCostOrigin),
    ) -> MessageSimulationResult {
        let unit = self.dialect.unit_ns();
        let finish_ns: Vec<f64> = found.finish.iter().map(|&t| t as f64 * unit).collect();
        let last = finish_ns.iter().copied().fold(0.0, f64::max);
        let network = on.zip(found.used.as_ref()).map(|(on, used)| loaded(on, used, last));
        let record = MessageSimulationRecord {
            dialect: self.dialect,
            parameters,
            costs,
            ranks: schedule.ranks(),
            finish_ns: last,
            mean_finish_ns: finish_ns.iter().sum::<f64>() / finish_ns.len().max(1) as f64,
            events: found.events,
            messages: found.messages,
            sent_bytes: schedule.sent_bytes(),
            network,
            rates: on.map(|on| self.rates(on)),
            short_receives: found.short.first.map(|(receive, send)| ShortReceivesReport {
                count: found.short.count,
                first: schedule.described(receive),
                message: schedule.described(send),
            }),
            over_seeds: None,
        };
        MessageSimulationResult {
            record,
            finish_ns,
            used: found.used,
            traced: None,
            schedule: None,
        }
    }
}

fn loaded(on: &Topology, used: &ChannelUse, finish_ns: f64) -> ChannelTrafficTotals {
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
    ChannelTrafficTotals {
        switch_bytes: used.bytes[..links].iter().sum(),
        busiest_bytes: best.map_or(0.0, |b| used.bytes[b]),
        busiest_link_use: best.map_or(0.0, |b| uses[b]),
        mean_link_use: sum / f64::from(count.max(1)),
        busiest_link: best.map_or_else(String::new, |b| {
            let [from, to] = channel_ends(on, b);
            format!("{from} -> {to}")
        }),
        endpoint_use: uses[links..].iter().copied().fold(0.0, f64::max),
    }
}

/// The names of the devices that a channel of [`ChannelUse`] leads from and to.
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

impl ExperimentStage for MessageSimulationParameters {
    const NAME: &'static str = "sim.message";
    const FILES: &'static [&'static str] = &["workload", "placement"];
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "finish_ns",
            "/finish_ns",
            ColumnType::Real,
            "ns",
            "when the last process is done",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "mean_finish_ns",
            "/mean_finish_ns",
            ColumnType::Real,
            "ns",
            "when processes are done, in the mean",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "ranks",
            "/ranks",
            ColumnType::Whole,
            "",
            "processes",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "messages",
            "/messages",
            ColumnType::Whole,
            "",
            "messages",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "costs",
            "/costs/preset",
            ColumnType::Text,
            "",
            "preset of what messages cost",
            BetterDirection::Neither,
        ),
        RATE_GBPS,
        RATE_SOURCE,
        RecordColumn::new(
            "sent_bytes",
            "/sent_bytes",
            ColumnType::Real,
            "B",
            "bytes of all messages",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "busiest_link_use",
            "/network/busiest_link_use",
            ColumnType::Real,
            "",
            "part of its rate that the busiest channel between switches carried",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "mean_link_use",
            "/network/mean_link_use",
            ColumnType::Real,
            "",
            "part of their rate that channels between switches carried, in the mean",
            BetterDirection::Neither,
        ),
    ];

    const RENAMED: &'static [RenamedParameter] = &[
        RenamedParameter::name("goal", "workload"),
        RenamedParameter::name("with", "workload_options"),
        RenamedParameter::name("make", "workload_options"),
        RenamedParameter::name("parameters", "costs"),
        RenamedParameter::name("network.link_ns", "link.latency_ns"),
        RenamedParameter::name("network.link_gbps", "link.rate_gbps"),
        RenamedParameter::name("network.switch_ns", "switch.delay_ns"),
        RenamedParameter::name("network.paths", "selection"),
        RenamedParameter::words("network.rails", "rail", &[("interface", "by_interface")]),
    ];

    type Input<'a> = MessageSimulationInputs<'a>;
    type Record = MessageSimulationRecord;

    fn examples() -> Vec<Self> {
        let with = |bytes: u64| Map::from_iter([("bytes".to_owned(), json!(bytes))]);
        let random = "random".to_owned();
        vec![
            Self { workload_options: with(100_000), ..Self::default() },
            Self { workload_options: with(1000), placement: random, ..Self::default() },
        ]
    }

    fn check(&self) -> Result<(), Refusal> {
        self.how().check()?;
        self.costs.preset(self.dialect)?;
        check_seeds(self.seeds)?;
        if !(1..=MOST_PER_ENDPOINT).contains(&self.per_endpoint) {
            let why = format!("{} is out of range", self.per_endpoint);
            return Err(Refusal::new("per_endpoint", why, format!("1 to {MOST_PER_ENDPOINT}")));
        }
        Ok(())
    }

    fn need(&self, on: MessageSimulationInputs<'_>, threads: usize) -> ResourceNeed {
        let switches = on.topology.map_or(0.0, |t| t.switches().len() as f64);
        let ops = on.schedule.map_or(0.0, |schedule| schedule.ops().len() as f64);
        let runs = f64::from(self.seeds);
        let at_once = runs.min(threads as f64);
        ResourceNeed::new(
            at_once * (switches * switches + ops * BYTES_AN_OPERATION),
            runs * ops / OPERATIONS_A_SECOND,
        )
    }

    fn run(
        &self,
        on: MessageSimulationInputs<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<MessageSimulationRecord, ComputationError> {
        Ok(self.simulate(on, false, watch)?.record)
    }
}

/// Most ranks of an endpoint.
const MOST_PER_ENDPOINT: u32 = 1 << 16;
/// Memory of a run for each operation, in bytes.
const BYTES_AN_OPERATION: f64 = 150.0;
/// Rough number of operations that one processor core simulates in a second over a network.
const OPERATIONS_A_SECOND: f64 = 2e5;
