//! The proof of tables as a measure: every question by name, with its evidence.

use crate::deadlock::Cycle;
use crate::{Limits, Verdict, Verification, faults};
use base::stage::{Better, Kind};
use base::{Interrupted, Metric, Need, Refusal, Stage, Stop, SwitchId, Watch};
use fabric::size::{RouteWork, Size};
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Proof that tables are right, with evidence.
///
/// Everything holds when every route between endpoints arrives within `hop_limit` links, no packets
/// can wait for one another in a circle, and no route leaves the lanes that there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Most links between switches that a route may take.
    pub hop_limit: u32,
    /// Data lanes that there are, 1 to 15.
    pub max_lanes: u8,
}

impl Default for Params {
    fn default() -> Self {
        Self { hop_limit: 64, max_lanes: 15 }
    }
}

/// What is proved of the tables.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Record {
    /// Whether everything holds.
    pub holds: bool,
    /// Whether every route between endpoints arrives.
    pub complete: Complete,
    /// The same for routes from switches without endpoints and to switches, which do not count for
    /// `holds`.
    pub management: Management,
    /// Whether packets can never wait in a circle; none where routes are not complete.
    pub deadlock: Option<Deadlock>,
    /// Data lanes in use.
    pub lanes: u8,
    /// Every question by name.
    pub verdicts: Verdicts,
}

/// Whether every route between endpoints arrives.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Complete {
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
pub struct Management {
    /// Whether all do.
    pub holds: bool,
    /// Routes checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<u64>,
    /// A route that does not arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<String>,
}

/// Whether packets can never wait for one another in a circle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deadlock {
    /// Whether they cannot.
    pub holds: bool,
    /// Dependencies of the channel dependency graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<u64>,
    /// Data lanes that were looked at.
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
    pub cycle: Option<Vec<Waiting>>,
    /// The same in words, a line a channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Vec<String>>,
}

/// A channel of a circle, held by a route that waits for the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Waiting {
    /// Name of the switch that the channel leaves.
    pub from: String,
    /// Port by which it leaves.
    pub port: u16,
    /// Name of the switch that it enters.
    pub to: String,
    /// Data lane.
    pub lane: u8,
    /// All of this in words.
    pub channel: String,
    /// A route that holds it while it wants the next.
    pub route: String,
}

/// Every question by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdicts {
    /// No route ends at a switch without an entry for it.
    pub no_missing_entry: Arrival,
    /// No route ends at a port without a working cable.
    pub no_dead_port: Arrival,
    /// No route is delivered to somebody else.
    pub no_wrong_delivery: Arrival,
    /// No route comes back to a switch that it has left.
    pub no_loop: Arrival,
    /// No route takes more than `hop_limit` hops.
    pub no_over_the_hop_limit: Arrival,
    /// Routes from and to switches arrive.
    pub management: Management,
    /// Packets can never wait in a circle.
    pub no_deadlock: NoDeadlock,
    /// No route is on a lane from `max_lanes` on.
    pub within_lanes: WithinLanes,
}

/// Whether no route ends in one way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Arrival {
    /// Whether none does.
    pub holds: bool,
    /// Routes that do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<u64>,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<String>,
    /// What was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Routes>,
}

/// Routes that were looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Routes {
    /// How many.
    pub routes: u64,
    /// Entry h: routes of h hops; where every route arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_histogram: Option<Vec<u64>>,
}

/// Whether packets can never wait in a circle, with the evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoDeadlock {
    /// Whether they cannot; none where it was not judged.
    pub holds: Option<bool>,
    /// Why it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
    /// Numbers of channels that rise along every route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Numbers>,
    /// Channels, each held by a route that waits for the next; the last for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<Waiting>>,
    /// The same in words, a line a channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Vec<String>>,
}

/// Numbers of channels that rise along every route, by their sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Numbers {
    /// Dependencies of the channel dependency graph.
    pub dependencies: u64,
    /// Data lanes.
    pub lanes: u8,
    /// Channels, each on each lane.
    pub numbers: u64,
}

/// Whether no route is on a lane that there is not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WithinLanes {
    /// Whether none is; none where it was not judged.
    pub holds: Option<bool>,
    /// Why it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
    /// The lanes that routes use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Lanes>,
    /// A hop on a lane beyond.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<String>,
}

/// Lanes in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lanes {
    /// Data lanes.
    pub lanes: u8,
}

impl Stage for Params {
    const NAME: &'static str = "verify";
    const COLUMNS: &'static [Metric] = &[
        Metric::new("holds", "/holds", Kind::Truth, "", "whether everything holds", Better::Higher),
        Metric::new(
            "complete",
            "/complete/holds",
            Kind::Truth,
            "",
            "whether every route arrives",
            Better::Higher,
        ),
        Metric::new(
            "deadlock_free",
            "/deadlock/holds",
            Kind::Truth,
            "",
            "whether packets never wait in a circle",
            Better::Higher,
        ),
        Metric::new("lanes", "/lanes", Kind::Whole, "", "data lanes in use", Better::Lower),
        Metric::new(
            "max_hops",
            "/complete/max_hops",
            Kind::Whole,
            "hops",
            "hops of the longest route",
            Better::Lower,
        ),
        Metric::new(
            "mean_hops",
            "/complete/mean_hops",
            Kind::Real,
            "hops",
            "mean hops of a route",
            Better::Lower,
        ),
    ];

    type On<'a> = &'a Routing;
    type Record = Record;

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { hop_limit: 1, max_lanes: 1 }]
    }

    fn need(&self, on: &Routing, threads: usize) -> Need {
        Size::of(on.topology(), threads).along(on, RouteWork::Proof)
    }

    fn run(&self, on: &Routing, watch: &dyn Watch) -> Result<Record, Stop> {
        if !(1..=15).contains(&self.max_lanes) {
            let why = format!("{} lanes", self.max_lanes);
            return Err(Refusal::new("max_lanes", why, "1 to 15").into());
        }
        let limits = Limits { hops: self.hop_limit, lanes: self.max_lanes };
        Ok(Record::of(on, limits, watch)?)
    }
}

/// Why a question about all routes has no answer.
const UNJUDGED: &str = "routes do not all arrive";

impl Record {
    fn of(routing: &Routing, limits: Limits, watch: &dyn Watch) -> Result<Self, Interrupted> {
        let v = crate::verify(routing, limits, watch)?;
        let [missing, dead, wrong, looping, long] = arrivals(routing, &v, limits, watch)?;
        let deadlock = Deadlock::of(routing, &v);
        let management = Management::of(&v);
        Ok(Self {
            holds: v.holds(),
            complete: Complete::of(&v),
            lanes: routing.lanes().count(),
            verdicts: Verdicts {
                no_missing_entry: missing,
                no_dead_port: dead,
                no_wrong_delivery: wrong,
                no_loop: looping,
                no_over_the_hop_limit: long,
                management: management.clone(),
                no_deadlock: NoDeadlock::of(&v, deadlock.as_ref()),
                within_lanes: WithinLanes::of(&v),
            },
            management,
            deadlock,
        })
    }
}

/// The answers on how routes end, in the order of [`faults::KINDS`].
fn arrivals(
    routing: &Routing,
    v: &Verification,
    limits: Limits,
    watch: &dyn Watch,
) -> Result<[Arrival; 5], Interrupted> {
    let holds = |routes, hop_histogram| Arrival {
        holds: true,
        witness: Some(Routes { routes, hop_histogram }),
        ..Arrival::default()
    };
    if let Verdict::Holds(reach) = &v.complete {
        return Ok([(); 5].map(|()| holds(reach.routes, Some(reach.histogram.clone()))));
    }
    let counted = faults::count(routing, limits.hops, watch)?;
    let judged = counted.routes;
    Ok(counted.of.map(|(routes, first)| match first {
        None => holds(judged, None),
        Some(first) => Arrival {
            routes: Some(routes),
            counterexample: Some(first.to_string()),
            ..Arrival::default()
        },
    }))
}

impl Complete {
    fn of(v: &Verification) -> Self {
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

impl Management {
    fn of(v: &Verification) -> Self {
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

impl Deadlock {
    fn of(routing: &Routing, v: &Verification) -> Option<Self> {
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

fn waits(routing: &Routing, cycle: &Cycle) -> Vec<Waiting> {
    let on = routing.topology();
    let name = |s: SwitchId| on.switches()[s.ix()].name.clone();
    let each = cycle.waits.iter().map(|w| {
        let (from, to) = (on.tail(w.held.0), on.head(w.held.0));
        Waiting {
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

impl NoDeadlock {
    fn of(v: &Verification, told: Option<&Deadlock>) -> Self {
        match &v.deadlock {
            None => Self { why: Some(UNJUDGED), ..Self::default() },
            Some(Verdict::Holds(n)) => Self {
                holds: Some(matches!(v.rechecked, Some(Ok(())))),
                witness: Some(Numbers {
                    dependencies: n.dependencies,
                    lanes: n.lanes,
                    numbers: n.number.len() as u64,
                }),
                ..Self::default()
            },
            Some(Verdict::Fails(_)) => Self {
                holds: Some(false),
                cycle: told.and_then(|d| d.cycle.clone()),
                counterexample: told.and_then(|d| d.counterexample.clone()),
                ..Self::default()
            },
        }
    }
}

impl WithinLanes {
    fn of(v: &Verification) -> Self {
        match &v.lanes {
            None => Self { why: Some(UNJUDGED), ..Self::default() },
            Some(Verdict::Holds(used)) => {
                Self { holds: Some(true), witness: Some(Lanes { lanes: *used }), ..Self::default() }
            }
            Some(Verdict::Fails(excess)) => Self {
                holds: Some(false),
                counterexample: Some(excess.to_string()),
                ..Self::default()
            },
        }
    }
}
