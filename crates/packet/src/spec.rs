//! The parameters of a run of packets, as people set them.

use super::classes::ClassOf;
use super::nic::Births;
use super::rails::Rails;
use super::replay::{BackgroundOf, Backgrounds, Collectives, Compute, Mpi, Traces, needs_trace};
use base::Refusal;
use paths::loads::{Loads, MOST_LOAD};
use paths::select::{Choosing, LaneUse, Selection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose model of routers and endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Dialect {
    /// Our own: links with latency, buffers at inputs, cut-through.
    #[default]
    #[serde(rename = "physical")]
    Physical,
    /// Slim Fly and Fit Fly as CODES has them.
    #[serde(rename = "codes-slimfly-v1")]
    SlimFly,
    /// Dragonfly as CODES has it.
    #[serde(rename = "codes-dally-v1")]
    Dally,
    /// Megafly, or dragonfly+, as CODES has it.
    #[serde(rename = "codes-dfplus-v1")]
    DfPlus,
}

impl Dialect {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Physical => "physical",
            Self::SlimFly => "codes-slimfly-v1",
            Self::Dally => "codes-dally-v1",
            Self::DfPlus => "codes-dfplus-v1",
        }
    }
}

/// When a packet goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Switching {
    /// When its head has come, if there is room for all of it.
    CutThrough,
    /// When it has arrived whole.
    StoreAndForward,
}

/// Which of the packets that wait for a port goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arbitration {
    /// Of each virtual channel in turn that which came first.
    #[default]
    RoundRobin,
    /// The oldest: that which its interface scheduled first.
    Oldest,
}

/// What runs events; the result is the same with any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// One after the other; points of several loads side by side.
    #[default]
    Sequential,
    /// Threads, in windows of time in which they cannot disturb each other.
    Threads,
    /// The ranks of an MPI program, in the same windows.
    Mpi,
    /// Threads that go ahead of what is sure, and undo what came too early.
    Optimistic,
}

/// Tests of the optimistic engine; the result is the same with any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// What came too early.
    #[default]
    Needed,
    /// Every event once.
    Forced,
    /// Events of a round in an order drawn at random, nearly all of them too early.
    Hostile,
}

/// Rates, buffers and latencies of links; those of the dialect where they are not given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Links {
    /// Latency of every link, ns; of `physical` by the lengths of the cables, 5 ns a metre, 25 ns
    /// where they are not known; in the others 0.
    pub latency_ns: Option<f64>,
    /// Rate between routers of a group, GiB/s.
    pub local_gib_per_s: Option<f64>,
    /// Rate between groups, GiB/s.
    pub global_gib_per_s: Option<f64>,
    /// Rate between endpoints and their routers, GiB/s.
    pub endpoint_gib_per_s: Option<f64>,
    /// Room of a virtual channel between routers of a group.
    pub local_buffer_bytes: Option<u32>,
    /// Room of a virtual channel between groups.
    pub global_buffer_bytes: Option<u32>,
    /// Room of a virtual channel between endpoints and their routers.
    pub endpoint_buffer_bytes: Option<u32>,
}

/// Routers; as the dialect has them where nothing is given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Routers {
    /// Time through a router, which occupies no port, ns.
    pub delay_ns: Option<f64>,
    /// Time of a credit, besides the latency of the link, ns.
    pub credit_ns: Option<f64>,
    /// Virtual channels of a port.
    pub virtual_channels: Option<u8>,
    /// When packets go on; of `physical` alone.
    pub switching: Option<Switching>,
    /// Which of the packets that wait for a port goes first; of `physical` alone.
    pub arbitration: Option<Arbitration>,
    /// A shortest way is taken where no more bytes wait for it; of `codes-dally-v1` and
    /// `codes-dfplus-v1`.
    pub adaptive_threshold_bytes: Option<u32>,
    /// How often the bytes that wait for a detour count, beside those for a shortest way; of
    /// `codes-dally-v1` and `codes-dfplus-v1`.
    pub detour_weight: Option<u32>,
    /// What is added to delays, ns; not of `physical`.
    pub lookahead_ns: Option<f64>,
}

/// All parameters of a run but the network and the tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "options that users set one by one")]
pub struct Spec {
    /// Whose model of routers and endpoints.
    pub dialect: Dialect,
    /// Loads as part of the rate of one rail of an endpoint: a number, several, or a range
    /// `0.1:0.9:0.1`.
    pub load: Loads,
    /// How packets choose among the ways that there are; `adaptive` is `ugal_l`.
    pub selection: Selection,
    /// What selections look at; their usual numbers where it is not given; of `physical` alone.
    pub choosing: Option<Choosing>,
    /// The virtual channels of packets that choose; of `physical` alone.
    pub lane_use: LaneUse,
    /// The rail of its endpoint that a packet takes, where there are several.
    pub rails: Rails,
    /// Who sends to whom: a pattern with its argument.
    pub traffic: String,
    /// Several classes of traffic at once, each a table; none: one class, by the keys of all. Of
    /// `physical` alone.
    pub class: Vec<ClassOf>,
    /// When messages are born; as the dialect has it where it is not given.
    pub births: Option<Births>,
    /// Messages of an endpoint.
    pub messages: u32,
    /// Length of a message.
    pub message_bytes: u32,
    /// Messages are born until then, whatever `messages` says, and what has not arrived then does
    /// not count, us.
    pub end_us: Option<f64>,
    /// What processes do, in place of `traffic`: a name of `flyloom workload list` with its
    /// parameters, such as `amg_like:p=12,levels=4,cycles=1,base_bytes=16384`, or a file or a
    /// folder of a trace; several of them are jobs at the same time.
    pub trace: Traces,
    /// The class of traffic of each trace, where there are several classes: the first is 1, which
    /// is that of traces for which there is no number.
    pub trace_class: Vec<u32>,
    /// Whether calculations of a trace take time.
    pub compute: Compute,
    /// What becomes of collective operations of a trace.
    pub collectives: Collectives,
    /// Which endpoint each process is on: `linear`, `random`, `random_switches`, `random_groups`,
    /// `stripe`, or a file; of all jobs together, those of the background last.
    pub placement: String,
    /// Jobs that send at random as long as those of traces run.
    pub background: Backgrounds,
    /// What MPI costs.
    pub mpi: Mpi,
    /// Tells bytes, use and the longest queue of every link.
    pub links: bool,
    /// Counts packets that come behind one that the same endpoint sent them after.
    pub overtaken: bool,
    /// Tells times of every process of a trace.
    pub ranks: bool,
    /// Tells what arrived in every so many us.
    pub series_us: Option<f64>,
    /// Longest packet; longer messages are several.
    pub packet_bytes: u32,
    /// Links.
    pub link: Links,
    /// Routers.
    pub router: Routers,
    /// What runs events.
    pub sync: Sync,
    /// How far the optimistic engine goes ahead, ns.
    pub ahead_ns: f64,
    /// What the optimistic engine undoes.
    pub undo: Undo,
    /// Runs without a proof that packets never wait in a circle.
    pub unverified: bool,
    /// The seed of all that is random.
    pub seed: u64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            dialect: Dialect::Physical,
            load: Loads::At(vec![0.5]),
            selection: Selection::Minimal,
            choosing: None,
            lane_use: LaneUse::Auto,
            rails: Rails::Congestion,
            traffic: "uniform".to_owned(),
            class: Vec::new(),
            births: None,
            messages: 30,
            message_bytes: 4096,
            end_us: None,
            trace: Traces::default(),
            trace_class: Vec::new(),
            compute: Compute::Off,
            collectives: Collectives::Real,
            placement: "linear".to_owned(),
            background: Backgrounds::default(),
            mpi: Mpi::default(),
            links: false,
            overtaken: false,
            ranks: false,
            series_us: None,
            packet_bytes: 4096,
            link: Links::default(),
            router: Routers::default(),
            sync: Sync::Sequential,
            ahead_ns: 100.0,
            undo: Undo::Needed,
            unverified: false,
            seed: 0,
        }
    }
}

/// Whether a number is in its range.
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

impl Spec {
    /// Whether it can be, as far as that is known without a network.
    ///
    /// # Errors
    /// When a number is out of its range, or the dialect lacks what is asked for.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.load == Loads::Auto {
            return Err(Refusal::new("load", "auto is of the flit level", "0.5, or 0.1:0.9:0.1"));
        }
        // the interval between messages must be a time
        let fits = |load| (LEAST_LOAD..=MOST_LOAD).contains(&load);
        self.load.check(fits, &format!("{LEAST_LOAD} to {MOST_LOAD}"))?;
        within("messages", Some(self.messages), (1, 1 << 30))?;
        within("message_bytes", Some(self.message_bytes), (1, 1 << 30))?;
        within("packet_bytes", Some(self.packet_bytes), (8, 1 << 24))?;
        within("end_us", self.end_us, (1e-3, 1e9))?;
        within("ahead_ns", Some(self.ahead_ns), (1e-3, 1e9))?;
        let (link, router) = (&self.link, &self.router);
        within("link.latency_ns", link.latency_ns, (0.0, 1e6))?;
        for (name, rate) in [
            ("link.local_gib_per_s", link.local_gib_per_s),
            ("link.global_gib_per_s", link.global_gib_per_s),
            ("link.endpoint_gib_per_s", link.endpoint_gib_per_s),
        ] {
            within(name, rate, (1e-3, 1e5))?;
        }
        for (name, bytes) in [
            ("link.local_buffer_bytes", link.local_buffer_bytes),
            ("link.global_buffer_bytes", link.global_buffer_bytes),
            ("link.endpoint_buffer_bytes", link.endpoint_buffer_bytes),
        ] {
            within(name, bytes, (self.packet_bytes, 1 << 30))?;
        }
        within("router.delay_ns", router.delay_ns, (0.0, 1e6))?;
        within("router.credit_ns", router.credit_ns, (0.0, 1e6))?;
        within("router.lookahead_ns", router.lookahead_ns, (0.0, 1e6))?;
        within("router.virtual_channels", router.virtual_channels, (1, 32))?;
        within("router.detour_weight", router.detour_weight, (1, 1000))?;
        if let Some(choosing) = self.choosing {
            choosing.check()?;
        }
        within("series_us", self.series_us, (1e-3, 1e9))?;
        self.check_replay()?;
        self.check_dialect()
    }

    /// Refuses what does not go with a trace, and what needs one.
    fn check_replay(&self) -> Result<(), Refusal> {
        self.mpi.check()?;
        self.background.0.iter().try_for_each(BackgroundOf::check)?;
        let lanes = self.router.virtual_channels.unwrap_or(4);
        ClassOf::check(&self.class, lanes, !self.trace.0.is_empty())?;
        self.check_class_numbers()?;
        if self.trace.0.is_empty() {
            return match (self.background.0.is_empty(), self.ranks) {
                (false, _) => Err(needs_trace("background")),
                (_, true) => Err(needs_trace("ranks")),
                _ => Ok(()),
            };
        }
        let usual = Self::default();
        for (name, is_given) in [
            ("load", self.load != usual.load),
            ("traffic", self.traffic != usual.traffic),
            ("messages", self.messages != usual.messages),
            ("message_bytes", self.message_bytes != usual.message_bytes),
        ] {
            if is_given {
                return Err(Refusal::new(
                    name,
                    "a trace says what is sent",
                    "leave out one of both",
                ));
            }
        }
        if self.end_us.is_some() {
            let why = "processes run to their end";
            return Err(Refusal::new("end_us", why, "leave it out, or no trace"));
        }
        Ok(())
    }

    /// Refuses classes that there are none of.
    fn check_class_numbers(&self) -> Result<(), Refusal> {
        let last = self.class.len().max(1) as u32;
        let of = |name: &str, class: u32| within(name, Some(class), (1, last));
        self.trace_class.iter().try_for_each(|&class| of("trace_class", class))?;
        if self.trace_class.len() > self.trace.0.len() {
            let why =
                format!("{} classes of {} traces", self.trace_class.len(), self.trace.0.len());
            return Err(Refusal::new("trace_class", why, "one for each trace, or fewer"));
        }
        self.background.0.iter().try_for_each(|one| of("background.class", one.class))
    }

    /// Refuses what the dialect lacks.
    fn check_dialect(&self) -> Result<(), Refusal> {
        let dialect = self.dialect;
        let lacks = |param: &str, what: &str, has: &str| {
            Err(Refusal::new(param, format!("{} has no {what}", dialect.name()), has))
        };
        let chosen = match dialect {
            Dialect::Physical => &[][..],
            Dialect::SlimFly => &[Selection::Minimal, Selection::Valiant, Selection::UgalL][..],
            Dialect::Dally | Dialect::DfPlus => &[Selection::Minimal, Selection::Par][..],
        };
        if dialect == Dialect::Physical {
            if self.router.lookahead_ns.is_some() {
                return lacks("router.lookahead_ns", "such parameter", "leave it out");
            }
        } else {
            if !chosen.contains(&self.selection) {
                let names: Vec<&str> = chosen.iter().map(|s| s.name()).collect();
                return lacks("selection", self.selection.name(), &names.join(", "));
            }
            for (param, is_given) in [
                ("choosing", self.choosing.is_some()),
                ("class", !self.class.is_empty()),
                ("lane_use", self.lane_use != LaneUse::Auto),
                ("router.switching", self.router.switching.is_some()),
                ("router.arbitration", self.router.arbitration.is_some()),
                ("rails", self.rails == Rails::Striped),
            ] {
                if is_given {
                    return lacks(param, "such choice", "leave it out");
                }
            }
        }
        if !matches!(dialect, Dialect::Dally | Dialect::DfPlus) {
            for (param, is_given) in [
                ("router.adaptive_threshold_bytes", self.router.adaptive_threshold_bytes.is_some()),
                ("router.detour_weight", self.router.detour_weight.is_some()),
            ] {
                if is_given {
                    return lacks(param, "such parameter", "leave it out");
                }
            }
        }
        Ok(())
    }
}

/// The least load: a message of the greatest length in less than an hour.
const LEAST_LOAD: f64 = 1e-4;
