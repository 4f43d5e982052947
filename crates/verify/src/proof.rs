//! The measure `verify`: proofs about routing tables, every verdict by name and with its evidence.

use crate::deadlock::DependencyCycle;
use crate::{RouteLimits, Verdict, VerificationVerdicts, faults};
use base::stage::{BetterDirection, ColumnType};
use base::{
    ComputationError, ExperimentStage, Interrupted, ProgressWatch, RecordColumn, Refusal,
    ResourceNeed, SwitchId,
};
use fabric::size::{NetworkSize, RouteWorkKind};
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Proof that routing tables are correct, with evidence.
///
/// Everything holds when every route between endpoints arrives within `hop_limit` links, packets
/// can never wait for each other in a cycle, and every route stays on the lanes that exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProofParams {
    /// Most links between switches that a route may take.
    pub hop_limit: u32,
    /// Number of data lanes that exist, 1 to 15.
    pub max_lanes: u8,
}

impl Default for ProofParams {
    fn default() -> Self {
        Self { hop_limit: 64, max_lanes: 15 }
    }
}

/// All verdicts on the tables.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProofRecord {
    /// Whether everything holds.
    pub holds: bool,
    /// Whether every route between endpoints arrives.
    pub complete: CompletenessVerdict,
    /// Whether every route from switches without endpoints and to switches arrives. It does not
    /// count for `holds`.
    pub management: ManagementVerdict,
    /// Whether packets can never wait in a cycle; none where routes are not complete.
    pub deadlock: Option<DeadlockVerdict>,
    /// Data lanes in use.
    pub lanes: u8,
    /// Every question by name.
    pub verdicts: VerdictsByQuestion,
}

/// Whether every route between endpoints arrives.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Complete")]
pub struct CompletenessVerdict {
    /// Whether all do.
    pub holds: bool,
    /// Routes checked: from every switch with endpoints to every terminal of its plane and layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<u64>,
    /// Hops of the longest route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_hops: Option<u32>,
    /// Mean hops over ordered pairs of a switch with endpoints and a terminal on another switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_hops: Option<f64>,
    /// Entry h: such pairs, of all layers, whose route has h hops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_histogram: Option<Vec<u64>>,
    /// A route that does not arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<String>,
}

/// Whether every route from and to switches arrives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Management")]
pub struct ManagementVerdict {
    /// Whether all do.
    pub holds: bool,
    /// Routes checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<u64>,
    /// A route that does not arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<String>,
}

/// Whether packets can never wait for each other in a cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Deadlock")]
pub struct DeadlockVerdict {
    /// Whether there is no cycle.
    pub holds: bool,
    /// Dependencies of the channel dependency graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<u64>,
    /// Data lanes that were checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes: Option<u8>,
    /// Whether the separate checker accepts the numbering of channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rechecked: Option<bool>,
    /// What the separate checker objects to; null where it accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("nullable" = true))]
    pub recheck_error: Option<Option<String>>,
    /// Channels, each held by a route that waits for the next; the last for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<WaitingChannel>>,
    /// The same in words, a line a channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Vec<String>>,
}

/// A channel of a cycle, held by a route that waits for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Waiting")]
pub struct WaitingChannel {
    /// Name of the switch that the channel leaves.
    pub from: String,
    /// Port by which it leaves.
    pub port: u16,
    /// Name of the switch that it enters.
    pub to: String,
    /// Data lane.
    pub lane: u8,
    /// The channel in words.
    pub channel: String,
    /// A route that holds the channel while it waits for the next one.
    pub route: String,
}

/// Every question by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Verdicts")]
pub struct VerdictsByQuestion {
    /// No route ends at a switch without an entry for it.
    pub no_missing_entry: FaultAbsenceVerdict,
    /// No route ends at a port without a working cable.
    pub no_dead_port: FaultAbsenceVerdict,
    /// No route is delivered to somebody else.
    pub no_wrong_delivery: FaultAbsenceVerdict,
    /// No route comes back to a switch that it has left.
    pub no_loop: FaultAbsenceVerdict,
    /// No route takes more than `hop_limit` hops.
    pub no_over_the_hop_limit: FaultAbsenceVerdict,
    /// Routes from and to switches arrive.
    pub management: ManagementVerdict,
    /// Packets can never wait in a cycle.
    pub no_deadlock: DeadlockCheckResult,
    /// No route is on a lane from `max_lanes` on.
    pub within_lanes: WithinLanesVerdict,
}

/// Whether no route ends with one kind of fault.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Arrival")]
pub struct FaultAbsenceVerdict {
    /// Whether there is no such route.
    pub holds: bool,
    /// Number of such routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<u64>,
    /// The first such route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<String>,
    /// The routes that were checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<RouteCheckCounts>,
}

/// The routes that were checked, by number and hops.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Routes")]
pub struct RouteCheckCounts {
    /// Their number.
    pub routes: u64,
    /// Entry h: routes of h hops; where every route arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_histogram: Option<Vec<u64>>,
}

/// Whether packets can never wait in a cycle, with the evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NoDeadlock")]
pub struct DeadlockCheckResult {
    /// Whether there is no cycle; none where it was not judged.
    pub holds: Option<bool>,
    /// Why it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
    /// Numbers of channels that rise along every route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<ChannelNumberingSize>,
    /// Channels, each held by a route that waits for the next; the last for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<WaitingChannel>>,
    /// The same in words, a line a channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Vec<String>>,
}

/// The size of the numbering of channels that rises along every route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Numbers")]
pub struct ChannelNumberingSize {
    /// Dependencies of the channel dependency graph.
    pub dependencies: u64,
    /// Data lanes.
    pub lanes: u8,
    /// Numbers: one for every channel and lane.
    pub numbers: u64,
}

/// Whether every route stays on the lanes that exist.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "WithinLanes")]
pub struct WithinLanesVerdict {
    /// Whether every route does; none where it was not judged.
    pub holds: Option<bool>,
    /// Why it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
    /// The lanes that routes use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<LanesInUse>,
    /// A hop on a lane that does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<String>,
}

/// Lanes in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Lanes")]
pub struct LanesInUse {
    /// Data lanes.
    pub lanes: u8,
}

impl ExperimentStage for ProofParams {
    const NAME: &'static str = "verify";
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "holds",
            "/holds",
            ColumnType::Truth,
            "",
            "whether everything holds",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "complete",
            "/complete/holds",
            ColumnType::Truth,
            "",
            "whether every route arrives",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "deadlock_free",
            "/deadlock/holds",
            ColumnType::Truth,
            "",
            "whether packets never wait in a cycle",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "lanes",
            "/lanes",
            ColumnType::Whole,
            "",
            "data lanes in use",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "max_hops",
            "/complete/max_hops",
            ColumnType::Whole,
            "hops",
            "hops of the longest route",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "mean_hops",
            "/complete/mean_hops",
            ColumnType::Real,
            "hops",
            "mean hops of a route",
            BetterDirection::Lower,
        ),
    ];

    type Input<'a> = &'a Routing;
    type Record = ProofRecord;

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { hop_limit: 1, max_lanes: 1 }]
    }

    fn need(&self, on: &Routing, threads: usize) -> ResourceNeed {
        NetworkSize::of(on.topology(), threads).along(on, RouteWorkKind::Proof)
    }

    fn run(
        &self,
        on: &Routing,
        watch: &dyn ProgressWatch,
    ) -> Result<ProofRecord, ComputationError> {
        if !(1..=15).contains(&self.max_lanes) {
            let why = format!("{} lanes", self.max_lanes);
            return Err(Refusal::new("max_lanes", why, "1 to 15").into());
        }
        let limits = RouteLimits { hops: self.hop_limit, lanes: self.max_lanes };
        Ok(ProofRecord::of(on, limits, watch)?)
    }
}

/// The reason why a question about all routes has no answer.
const UNJUDGED: &str = "routes do not all arrive";

impl ProofRecord {
    fn of(
        routing: &Routing,
        limits: RouteLimits,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, Interrupted> {
        let v = crate::verify(routing, limits, watch)?;
        let [missing, dead, wrong, looping, long] = arrivals(routing, &v, limits, watch)?;
        let deadlock = DeadlockVerdict::of(routing, &v);
        let management = ManagementVerdict::of(&v);
        Ok(Self {
            holds: v.holds(),
            complete: CompletenessVerdict::of(&v),
            lanes: routing.lanes().count(),
            verdicts: VerdictsByQuestion {
                no_missing_entry: missing,
                no_dead_port: dead,
                no_wrong_delivery: wrong,
                no_loop: looping,
                no_over_the_hop_limit: long,
                management: management.clone(),
                no_deadlock: DeadlockCheckResult::of(&v, deadlock.as_ref()),
                within_lanes: WithinLanesVerdict::of(&v),
            },
            management,
            deadlock,
        })
    }
}

/// The verdicts on how routes end, in the order of [`faults::KINDS`].
fn arrivals(
    routing: &Routing,
    v: &VerificationVerdicts,
    limits: RouteLimits,
    watch: &dyn ProgressWatch,
) -> Result<[FaultAbsenceVerdict; 5], Interrupted> {
    let holds = |routes, hop_histogram| FaultAbsenceVerdict {
        holds: true,
        witness: Some(RouteCheckCounts { routes, hop_histogram }),
        ..FaultAbsenceVerdict::default()
    };
    if let Verdict::Holds(reach) = &v.complete {
        return Ok([(); 5].map(|()| holds(reach.routes, Some(reach.histogram.clone()))));
    }
    let counted = faults::count(routing, limits.hops, watch)?;
    let judged = counted.routes;
    Ok(counted.of.map(|(routes, first)| match first {
        None => holds(judged, None),
        Some(first) => FaultAbsenceVerdict {
            routes: Some(routes),
            counterexample: Some(first.to_string()),
            ..FaultAbsenceVerdict::default()
        },
    }))
}

impl CompletenessVerdict {
    fn of(v: &VerificationVerdicts) -> Self {
        match &v.complete {
            Verdict::Holds(reach) => Self {
                holds: true,
                routes: Some(reach.routes),
                max_hops: Some(reach.max_hops()),
                mean_hops: Some(reach.mean_hops()),
                hop_histogram: Some(reach.histogram.clone()),
                counterexample: None,
            },
            Verdict::Fails(broken) => {
                Self { counterexample: Some(broken.to_string()), ..Self::default() }
            }
        }
    }
}

impl ManagementVerdict {
    fn of(v: &VerificationVerdicts) -> Self {
        match &v.management {
            Verdict::Holds(routes) => {
                Self { holds: true, routes: Some(*routes), counterexample: None }
            }
            Verdict::Fails(broken) => {
                Self { counterexample: Some(broken.to_string()), ..Self::default() }
            }
        }
    }
}

impl DeadlockVerdict {
    fn of(routing: &Routing, v: &VerificationVerdicts) -> Option<Self> {
        Some(match v.deadlock.as_ref()? {
            Verdict::Holds(n) => Self {
                holds: true,
                dependencies: Some(n.dependencies),
                lanes: Some(n.lanes),
                rechecked: Some(matches!(v.rechecked, Some(Ok(())))),
                recheck_error: Some(v.rechecked.clone().and_then(Result::err)),
                ..Self::default()
            },
            Verdict::Fails(cycle) => Self {
                cycle: Some(waits(routing, cycle)),
                counterexample: Some(cycle.to_string().lines().map(str::to_owned).collect()),
                ..Self::default()
            },
        })
    }
}

fn waits(routing: &Routing, cycle: &DependencyCycle) -> Vec<WaitingChannel> {
    let on = routing.topology();
    let name = |s: SwitchId| on.switches()[s.ix()].name.clone();
    let each = cycle.waits.iter().map(|w| {
        let (from, to) = (on.tail(w.held.0), on.head(w.held.0));
        WaitingChannel {
            from: name(from.switch),
            port: from.port,
            to: name(to.switch),
            lane: w.held.1,
            channel: w.channel.clone(),
            route: w.route.clone(),
        }
    });
    each.collect()
}

impl DeadlockCheckResult {
    fn of(v: &VerificationVerdicts, deadlock: Option<&DeadlockVerdict>) -> Self {
        match &v.deadlock {
            None => Self { why: Some(UNJUDGED), ..Self::default() },
            Some(Verdict::Holds(n)) => Self {
                holds: Some(matches!(v.rechecked, Some(Ok(())))),
                witness: Some(ChannelNumberingSize {
                    dependencies: n.dependencies,
                    lanes: n.lanes,
                    numbers: n.number.len() as u64,
                }),
                ..Self::default()
            },
            Some(Verdict::Fails(_)) => Self {
                holds: Some(false),
                cycle: deadlock.and_then(|d| d.cycle.clone()),
                counterexample: deadlock.and_then(|d| d.counterexample.clone()),
                ..Self::default()
            },
        }
    }
}

impl WithinLanesVerdict {
    fn of(v: &VerificationVerdicts) -> Self {
        match &v.lanes {
            None => Self { why: Some(UNJUDGED), ..Self::default() },
            Some(Verdict::Holds(used)) => Self {
                holds: Some(true),
                witness: Some(LanesInUse { lanes: *used }),
                ..Self::default()
            },
            Some(Verdict::Fails(excess)) => Self {
                holds: Some(false),
                counterexample: Some(excess.to_string()),
                ..Self::default()
            },
        }
    }
}
