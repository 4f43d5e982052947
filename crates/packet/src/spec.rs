//! The parameters of a run at the packet level.

use super::classes::TrafficClassParameters;
use super::models::{CODES_MESSAGES, SimulatorDialect};
use super::nic::MessageInjectionProcess;
use super::plant::LinkClass;
use super::replay::{
    BackgroundJobList, BackgroundJobParameters, CODES_COSTS, CollectiveTrafficMode,
    ComputeTimeMode, MpiCostSpec, MpiCosts, WorkloadNames, needs_trace,
};
use super::window::RunLengthParameters;
use base::Refusal;
use paths::loads::{MOST_LOAD, SimulationLoads};
use paths::over_seeds::check_seeds;
use paths::select::{
    LaneUseRule, PathSelection, PathSelectionParameters, PathSelectionSpec, RailSelection,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a switch forwards a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Switching")]
pub enum SwitchingMode {
    /// When its head has arrived, if there is room for all of it.
    CutThrough,
    /// When all of it has arrived.
    StoreAndForward,
}

/// Which of the packets that wait for a port goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Arbitration")]
pub enum PortArbitrationRule {
    /// Virtual channels take turns; in each, the packet that came first.
    #[default]
    RoundRobin,
    /// The oldest packet: the one that its interface scheduled first.
    Oldest,
}

/// The engine that runs the events; the result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Sync")]
#[serde(rename_all = "snake_case")]
pub enum EventEngineKind {
    /// One event after the other; points of several loads run side by side.
    #[default]
    Sequential,
    /// Threads that run in windows of time in which they cannot affect each other.
    Threads,
    /// The ranks of an MPI program, in the same windows.
    Mpi,
    /// Threads that run ahead speculatively and undo events that were handled too early.
    Optimistic,
}

/// What the optimistic engine undoes, for tests; the result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Undo")]
#[serde(rename_all = "snake_case")]
pub enum EventUndoMode {
    /// Events that were handled too early.
    #[default]
    Needed,
    /// Every event is undone once.
    Forced,
    /// Events of a round in a random order, nearly all of them too early.
    Hostile,
}

/// Rates, buffers and latencies of links; those of the dialect where they are not given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "LinkParams")]
pub struct LinkParameters {
    /// Latency of every link, ns; default: in `physical` by the lengths of the cables, 5 ns a
    /// metre, 25 ns where they are not known; in the other dialects 0.
    pub latency_ns: Option<f64>,
    /// Rate of every link in each direction, Gbit/s.
    pub rate_gbps: Option<f64>,
    /// Rate between switches of a group, Gbit/s, where it differs.
    pub local_rate_gbps: Option<f64>,
    /// Rate between groups, Gbit/s, where it differs.
    pub global_rate_gbps: Option<f64>,
    /// Rate between endpoints and their switches, Gbit/s, where it differs.
    pub endpoint_rate_gbps: Option<f64>,
    /// Buffer of a virtual channel between switches of a group.
    pub local_buffer_bytes: Option<u32>,
    /// Buffer of a virtual channel between groups.
    pub global_buffer_bytes: Option<u32>,
    /// Buffer of a virtual channel between endpoints and their switches.
    pub endpoint_buffer_bytes: Option<u32>,
}

impl LinkParameters {
    /// The rate that the parameters set for links of a class, in GiB/s; none if they set none.
    pub(super) fn gib_per_s(&self, class: LinkClass) -> Option<f64> {
        let of_class = match class {
            LinkClass::Local => self.local_rate_gbps,
            LinkClass::Global => self.global_rate_gbps,
            LinkClass::Endpoint => self.endpoint_rate_gbps,
        };
        of_class.or(self.rate_gbps).map(|gbps| gbps * 1e9 / BITS_IN_GIB)
    }
}

/// Bits of a GiB; CODES gives rates in GiB/s.
pub(super) const BITS_IN_GIB: f64 = 8_589_934_592.0;

/// Delays and arbitration of switches; those of the dialect where they are not given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "SwitchParams")]
pub struct SwitchParameters {
    /// Time through a switch, during which no port is occupied, ns.
    pub delay_ns: Option<f64>,
    /// Time of a credit, besides the latency of the link, ns.
    pub credit_ns: Option<f64>,
    /// Virtual channels of a port.
    pub virtual_channels: Option<u8>,
    /// When switches forward packets; `physical` only.
    pub switching: Option<SwitchingMode>,
    /// Which of the packets that wait for a port goes first; `physical` only.
    pub arbitration: Option<PortArbitrationRule>,
    /// A minimal path is taken where at most this many bytes wait for it; `codes-dally-v1` and
    /// `codes-dfplus-v1` only.
    pub adaptive_threshold_bytes: Option<u32>,
    /// Factor by which the bytes that wait for a detour count, beside those for a minimal path;
    /// `codes-dally-v1` and `codes-dfplus-v1` only.
    pub detour_weight: Option<u32>,
    /// Delay that CODES adds so that its engine can look ahead, ns; not in `physical`.
    pub lookahead_ns: Option<f64>,
}

/// Latency and accepted rate, packet by packet: switches with buffers and credits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "options that users set one by one")]
#[schemars(rename = "Spec")]
pub struct PacketSimulationParameters {
    /// The model of routers and endpoints.
    pub dialect: SimulatorDialect,
    /// Loads as part of the rate of one rail of an endpoint: a number, several, or a range
    /// `0.1:0.9:0.1`; 0.5 where it is not given. Not beside a workload, nor are `traffic`,
    /// `messages` and `message_bytes`.
    pub load: Option<SimulationLoads>,
    /// How packets choose among the paths that exist: by name, where `adaptive` means `ugal_l`, or
    /// by a score of one's own, in `physical` only.
    pub selection: PathSelectionSpec,
    /// The numbers that the selection is tuned by; its defaults where they are not given;
    /// `physical` only.
    pub choosing: Option<PathSelectionParameters>,
    /// The virtual channels of packets that choose their paths; `physical` only.
    pub lane_use: LaneUseRule,
    /// The rail of its endpoint that a packet takes, where there are several.
    pub rail: RailSelection,
    /// Who sends to whom: a pattern with its argument; `uniform` where it is not given.
    pub traffic: Option<String>,
    /// Several classes of traffic at once, each a table; none: one class with the parameters of the
    /// run. `physical` only.
    pub traffic_class: Vec<TrafficClassParameters>,
    /// When endpoints create messages; as in the dialect where it is not given.
    pub injection: Option<MessageInjectionProcess>,
    /// Messages that each endpoint sends: the run is measured from its beginning until the last has
    /// arrived, not in a steady state. 30 in the dialects of CODES where no `run` is given.
    pub messages: Option<u32>,
    /// Length of a message; 4096 where it is not given.
    pub message_bytes: Option<u32>,
    /// Endpoints create messages until this time, whatever `messages` says, and what has not
    /// arrived by then does not count, ns.
    pub end_ns: Option<f64>,
    /// Warm-up, measured time and drain of a run in a steady state.
    pub run: RunLengthParameters,
    /// What processes do, in place of `traffic`: a name of `flyloom workload list` with its
    /// parameters, such as `amg_like p=12 levels=4 cycles=1 base_bytes=16384`, or a file or a
    /// folder of a trace; several of them are jobs at the same time.
    pub workload: WorkloadNames,
    /// The class of traffic of each workload, where there are several classes: the first is 1,
    /// which is that of workloads for which there is no number.
    pub workload_class: Vec<u32>,
    /// Whether calculations of a workload take time.
    pub compute: ComputeTimeMode,
    /// What collective operations of a workload send.
    pub collectives: CollectiveTrafficMode,
    /// Which endpoint each process is on: a name of `flyloom list placements`, or a file; of all
    /// jobs together, those of the background last.
    pub placement: String,
    /// Background jobs: they send to random endpoints as long as the workloads run.
    pub background: BackgroundJobList,
    /// What messages cost: a name of `flyloom list costs`, where `mpi` does not say it; default
    /// `hdr`, as at the message level, in the dialects of CODES `codes`; the rate and the latency
    /// are the network's.
    pub costs: Option<String>,
    /// The costs of MPI in place of those of `costs`.
    pub mpi: MpiCostSpec,
    /// Reports bytes, use and the longest queue of every link.
    pub links: bool,
    /// Only this number of the busiest links between switches, by name.
    #[schemars(range(max = 100_000))]
    pub top: u32,
    /// Counts packets that arrive behind one that the same endpoint sent after them.
    pub overtaken: bool,
    /// Reports the times of every process of a workload.
    pub ranks: bool,
    /// Reports what arrived in every span of this length, ns.
    pub series_ns: Option<f64>,
    /// Longest packet; longer messages are cut into several.
    pub packet_bytes: u32,
    /// Rates, buffers and latencies of links.
    pub link: LinkParameters,
    /// Delays and arbitration of switches.
    #[serde(rename = "switch")]
    pub router: SwitchParameters,
    /// The engine that runs the events.
    pub sync: EventEngineKind,
    /// How far the optimistic engine goes ahead, ns.
    pub ahead_ns: f64,
    /// What the optimistic engine undoes.
    pub undo: EventUndoMode,
    /// Run also what is not proved free of deadlock.
    pub unverified: bool,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Runs of each load or workload, with `seed` and the numbers that follow: means of them, and
    /// how far these can be trusted.
    #[schemars(range(min = 1, max = 1000))]
    pub seeds: u32,
}

impl Default for PacketSimulationParameters {
    fn default() -> Self {
        Self {
            dialect: SimulatorDialect::Physical,
            load: None,
            selection: PathSelection::Minimal.into(),
            choosing: None,
            lane_use: LaneUseRule::Auto,
            rail: RailSelection::LeastUsed,
            traffic: None,
            traffic_class: Vec::new(),
            injection: None,
            messages: None,
            message_bytes: None,
            end_ns: None,
            run: RunLengthParameters::default(),
            workload: WorkloadNames::default(),
            workload_class: Vec::new(),
            compute: ComputeTimeMode::Off,
            collectives: CollectiveTrafficMode::Real,
            placement: "linear".to_owned(),
            background: BackgroundJobList::default(),
            costs: None,
            mpi: MpiCostSpec::default(),
            links: false,
            top: 10,
            overtaken: false,
            ranks: false,
            series_ns: None,
            packet_bytes: 4096,
            link: LinkParameters::default(),
            router: SwitchParameters::default(),
            sync: EventEngineKind::Sequential,
            ahead_ns: 100.0,
            undo: EventUndoMode::Needed,
            unverified: false,
            seed: 0,
            seeds: 1,
        }
    }
}

/// Checks that a number is in its range.
fn within<T: PartialOrd + Copy + std::fmt::Display>(
    name: &str,
    given: Option<T>,
    (low, high): (T, T),
) -> Result<(), Refusal> {
    match given {
        Some(x) if !(x >= low && x <= high) => {
            let why = format!("{x} is out of range");
            Err(Refusal::new(name, why, format!("{low} to {high}")))
        }
        _ => Ok(()),
    }
}

impl PacketSimulationParameters {
    /// Checks the parameters as far as that is possible without a network.
    ///
    /// # Errors
    /// When a number is out of its range, or the dialect does not support a parameter.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.load == Some(SimulationLoads::Auto) {
            return Err(Refusal::new("load", "auto is of the flit level", "0.5, or 0.1:0.9:0.1"));
        }
        // the interval between messages must be a time
        let fits = |load| (LEAST_LOAD..=MOST_LOAD).contains(&load);
        self.loads().check(fits, &format!("{LEAST_LOAD} to {MOST_LOAD}"))?;
        within("messages", self.messages, (1, 1 << 30))?;
        within("message_bytes", self.message_bytes, (1, 1 << 30))?;
        within("packet_bytes", Some(self.packet_bytes), (8, 1 << 24))?;
        within("end_ns", self.end_ns, (1.0, 1e12))?;
        within("ahead_ns", Some(self.ahead_ns), (1e-3, 1e9))?;
        let (link, router) = (&self.link, &self.router);
        within("link.latency_ns", link.latency_ns, (0.0, 1e6))?;
        for (name, rate) in [
            ("link.rate_gbps", link.rate_gbps),
            ("link.local_rate_gbps", link.local_rate_gbps),
            ("link.global_rate_gbps", link.global_rate_gbps),
            ("link.endpoint_rate_gbps", link.endpoint_rate_gbps),
        ] {
            within(name, rate, (1e-3, 1e6))?;
        }
        for (name, bytes) in [
            ("link.local_buffer_bytes", link.local_buffer_bytes),
            ("link.global_buffer_bytes", link.global_buffer_bytes),
            ("link.endpoint_buffer_bytes", link.endpoint_buffer_bytes),
        ] {
            within(name, bytes, (self.packet_bytes, 1 << 30))?;
        }
        within("switch.delay_ns", router.delay_ns, (0.0, 1e6))?;
        within("switch.credit_ns", router.credit_ns, (0.0, 1e6))?;
        within("switch.lookahead_ns", router.lookahead_ns, (0.0, 1e6))?;
        within("switch.virtual_channels", router.virtual_channels, (1, 32))?;
        within("switch.detour_weight", router.detour_weight, (1, 1000))?;
        self.selection.check(self.choosing)?;
        within("series_ns", self.series_ns, (1.0, 1e12))?;
        check_seeds(self.seeds)?;
        self.check_run()?;
        self.check_replay()?;
        self.check_dialect()
    }

    /// The loads of the run's points.
    pub(super) fn loads(&self) -> SimulationLoads {
        self.load.clone().unwrap_or_else(|| SimulationLoads::At(vec![0.5]))
    }

    /// The traffic pattern.
    pub(super) fn pattern(&self) -> &str {
        self.traffic.as_deref().unwrap_or("uniform")
    }

    /// The number of messages of an endpoint, for runs whose length is a number of messages.
    pub(super) fn messages(&self) -> u32 {
        self.messages.unwrap_or(CODES_MESSAGES)
    }

    /// Whether generated traffic is measured in a window, rather than over the whole run.
    pub(super) fn is_steady(&self) -> bool {
        let of_class = self.traffic_class.iter().any(|class| class.messages.is_some());
        let is_counted = self.messages.is_some() || of_class || self.end_ns.is_some();
        let is_usual = self.run.is_given() || self.dialect.entry().messages.is_none();
        self.workload.0.is_empty() && !is_counted && is_usual
    }

    /// Refuses times of a window if another parameter sets the length of the run.
    fn check_run(&self) -> Result<(), Refusal> {
        self.run.check()?;
        let of_class = self.traffic_class.iter().any(|class| class.messages.is_some());
        for (name, is_given) in [
            ("workload", !self.workload.0.is_empty()),
            ("messages", self.messages.is_some() || of_class),
            ("end_ns", self.end_ns.is_some()),
        ] {
            if is_given {
                self.run.refuse_beside(name)?;
            }
        }
        Ok(())
    }

    /// Length of a message, in bytes.
    pub(super) fn message_bytes(&self) -> u32 {
        self.message_bytes.unwrap_or(4096)
    }

    /// The same parameters with the defaults of traffic filled in, unless there is a workload;
    /// `run` holds the times of the window, if one is measured.
    pub(super) fn with_defaults(&self, run: Option<&RunLengthParameters>) -> Self {
        let mpi = self.mpi_costs().map_or(self.mpi, MpiCostSpec::from);
        let costs = Some(self.costs().to_owned());
        if !self.workload.0.is_empty() {
            return Self { costs, mpi, ..self.clone() };
        }
        Self {
            costs,
            mpi,
            load: Some(self.loads()),
            traffic: Some(self.pattern().to_owned()),
            messages: run.is_none().then(|| self.messages()),
            message_bytes: Some(self.message_bytes()),
            run: run.unwrap_or(&self.run).clone(),
            ..self.clone()
        }
    }

    /// The preset of what messages of a workload cost.
    fn costs(&self) -> &str {
        let usual = match self.dialect {
            SimulatorDialect::Physical => message::USUAL_COSTS,
            _ => CODES_COSTS,
        };
        self.costs.as_deref().unwrap_or(usual)
    }

    /// What messages of a workload cost.
    ///
    /// # Errors
    /// When there is no preset of the given name.
    pub fn mpi_costs(&self) -> Result<MpiCosts, Refusal> {
        self.mpi.resolved(self.costs(), self.collectives)
    }

    /// Refuses parameters that conflict with a workload, and those that need one.
    fn check_replay(&self) -> Result<(), Refusal> {
        self.mpi_costs()?.check()?;
        self.background.0.iter().try_for_each(BackgroundJobParameters::check)?;
        let lanes = self.router.virtual_channels.unwrap_or(4);
        TrafficClassParameters::check(&self.traffic_class, lanes, !self.workload.0.is_empty())?;
        self.check_class_numbers()?;
        if self.workload.0.is_empty() {
            let usual = Self::default();
            let of_workloads = [
                ("background", !self.background.0.is_empty()),
                ("ranks", self.ranks),
                ("placement", self.placement != usual.placement),
                ("compute", self.compute != usual.compute),
                ("collectives", self.collectives != usual.collectives),
            ];
            let given = of_workloads.into_iter().find(|(_, is_given)| *is_given);
            return given.map_or(Ok(()), |(name, _)| Err(needs_trace(name)));
        }
        for (name, is_given) in [
            ("load", self.load.is_some()),
            ("traffic", self.traffic.is_some()),
            ("messages", self.messages.is_some()),
            ("message_bytes", self.message_bytes.is_some()),
        ] {
            if is_given {
                let help = format!("leave out {name}, or the workload");
                return Err(Refusal::new(name, "a workload says what is sent", help));
            }
        }
        if self.end_ns.is_some() {
            let why = "processes run to their end";
            return Err(Refusal::new("end_ns", why, "leave it out, or the workload"));
        }
        Ok(())
    }

    /// Refuses numbers of classes of traffic that do not exist.
    fn check_class_numbers(&self) -> Result<(), Refusal> {
        let last = self.traffic_class.len().max(1) as u32;
        let of = |name: &str, class: u32| within(name, Some(class), (1, last));
        self.workload_class.iter().try_for_each(|&class| of("workload_class", class))?;
        if self.workload_class.len() > self.workload.0.len() {
            let why = format!(
                "{} classes of {} workloads",
                self.workload_class.len(),
                self.workload.0.len()
            );
            return Err(Refusal::new("workload_class", why, "one for each workload, or fewer"));
        }
        self.background
            .0
            .iter()
            .try_for_each(|one| of("background.traffic_class", one.traffic_class))
    }

    /// Refuses parameters that the dialect does not support.
    fn check_dialect(&self) -> Result<(), Refusal> {
        let dialect = self.dialect;
        let lacks = |param: &str, what: &str, has: &str| {
            Err(Refusal::new(param, format!("{} has no {what}", dialect.name()), has))
        };
        if let Some(chosen) = dialect.entry().selections {
            if !chosen.contains(&self.selection.kind()) {
                let names: Vec<&str> = chosen.iter().map(|s| s.name()).collect();
                return lacks("selection", self.selection.kind().name(), &names.join(", "));
            }
            for (param, is_given) in [
                ("choosing", self.choosing.is_some()),
                ("traffic_class", !self.traffic_class.is_empty()),
                ("lane_use", self.lane_use != LaneUseRule::Auto),
                ("switch.switching", self.router.switching.is_some()),
                ("switch.arbitration", self.router.arbitration.is_some()),
                ("rail", self.rail == RailSelection::RoundRobin),
            ] {
                if is_given {
                    return lacks(param, "such choice", "leave it out");
                }
            }
        } else if self.router.lookahead_ns.is_some() {
            return lacks("switch.lookahead_ns", "such parameter", "leave it out");
        }
        if dialect.entry().threshold_bytes.is_none() {
            for (param, is_given) in [
                ("switch.adaptive_threshold_bytes", self.router.adaptive_threshold_bytes.is_some()),
                ("switch.detour_weight", self.router.detour_weight.is_some()),
            ] {
                if is_given {
                    return lacks(param, "such parameter", "leave it out");
                }
            }
        }
        Ok(())
    }
}

/// The smallest load: at this load, an endpoint sends a message of the greatest length in less than
/// an hour.
const LEAST_LOAD: f64 = 1e-4;
