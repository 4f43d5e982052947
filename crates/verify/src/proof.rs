//! The proof of tables as a measure: every question by name, with its evidence.

use crate::{Limits, Verdict, Verification, faults};
use base::stage::{Better, Kind};
use base::{Frame, Interrupted, Metric, Need, Refusal, Stage, Stop, SwitchId, Watch};
use fabric::size::{Size, Walk};
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Proof that tables are right, with evidence.
///
/// The record: `holds` (everything does), `lanes`, `complete` (`holds`; `routes`, `max_hops`,
/// `mean_hops` and `hop_histogram` over all layers and ordered pairs of a switch with endpoints and
/// a terminal on another switch; or `counterexample`), `management` (the same for routes from
/// switches without endpoints and to switches, which do not count for `holds`), `deadlock`
/// (`holds`; `dependencies` of the channel dependency graph and `rechecked`, whether the separate
/// checker accepts the numbering of channels; or the `cycle` and its `counterexample`; null when
/// routes are not complete).
///
/// `verdicts` has every question by name, `no_missing_entry`, `no_dead_port`, `no_wrong_delivery`,
/// `no_loop`, `no_over_the_hop_limit` (more than `hop_limit` hops), `management`, `no_deadlock` and
/// `within_lanes` (no route on a lane from `max_lanes` on), each with `holds` (null: not judged)
/// and its `witness`, or the `counterexample` and the number of `routes` that end so.
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

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { hop_limit: 1, max_lanes: 1 }]
    }

    fn need(&self, on: &Routing, threads: usize) -> Need {
        Size::of(on.topology(), threads).walk(on, Walk::Proof)
    }

    fn run(&self, on: &Routing, watch: &dyn Watch) -> Result<Frame, Stop> {
        if !(1..=15).contains(&self.max_lanes) {
            let why = format!("{} lanes", self.max_lanes);
            return Err(Refusal::new("max_lanes", why, "1 to 15").into());
        }
        let limits = Limits { hops: self.hop_limit, lanes: self.max_lanes };
        Ok(Frame::of(proof(on, limits, watch)?))
    }
}

/// The proof as users see it. `verdicts` has every question by name: whether it holds (null where
/// it was not judged), its witness or its counterexample.
fn proof(routing: &Routing, limits: Limits, watch: &dyn Watch) -> Result<Value, Interrupted> {
    let v = crate::verify(routing, limits, watch)?;
    let mut all = verdicts(routing, &v);
    let mut named = Map::new();
    let counted = match &v.complete {
        Verdict::Holds(_) => None,
        Verdict::Fails(_) => Some(faults::count(routing, limits.hops, watch)?),
    };
    for (kind, name) in faults::KINDS.iter().enumerate() {
        let found = counted.as_ref().map(|c| (c.routes, &c.of[kind]));
        let verdict = match (found, &v.complete) {
            (Some((_, (n, Some(first)))), _) => json!({
                "holds": false, "routes": n, "counterexample": first.to_string(),
            }),
            (Some((routes, _)), _) => json!({ "holds": true, "witness": { "routes": routes } }),
            (None, Verdict::Holds(reach)) => json!({
                "holds": true,
                "witness": { "routes": reach.routes, "hop_histogram": reach.histogram },
            }),
            (None, Verdict::Fails(_)) => Value::Null,
        };
        named.insert(format!("no_{name}"), verdict);
    }
    named.insert("management".into(), all["management"].clone());
    let unjudged = || json!({ "holds": null, "why": "routes do not all arrive" });
    let deadlock = match &v.deadlock {
        None => unjudged(),
        Some(Verdict::Holds(n)) => json!({
            "holds": matches!(v.rechecked, Some(Ok(()))),
            "witness": {
                "dependencies": n.dependencies, "lanes": n.lanes, "numbers": n.number.len(),
            },
        }),
        Some(Verdict::Fails(_)) => json!({
            "holds": false, "cycle": all["deadlock"]["cycle"],
            "counterexample": all["deadlock"]["counterexample"],
        }),
    };
    named.insert("no_deadlock".into(), deadlock);
    let lanes = match &v.lanes {
        None => unjudged(),
        Some(Verdict::Holds(used)) => json!({ "holds": true, "witness": { "lanes": used } }),
        Some(Verdict::Fails(excess)) => {
            json!({ "holds": false, "counterexample": excess.to_string() })
        }
    };
    named.insert("within_lanes".into(), lanes);
    all["verdicts"] = Value::Object(named);
    Ok(all)
}

fn verdicts(routing: &Routing, v: &Verification) -> Value {
    let name = |s: SwitchId| routing.topology().switches()[s.ix()].name.clone();
    let complete = match &v.complete {
        Verdict::Holds(reach) => json!({
            "holds": true, "routes": reach.routes, "max_hops": reach.max_hops(),
            "mean_hops": reach.mean_hops(), "hop_histogram": reach.histogram,
        }),
        Verdict::Fails(broken) => json!({ "holds": false, "counterexample": broken.to_string() }),
    };
    let deadlock = match &v.deadlock {
        None => Value::Null,
        Some(Verdict::Holds(n)) => json!({
            "holds": true, "dependencies": n.dependencies, "lanes": n.lanes,
            "rechecked": matches!(v.rechecked, Some(Ok(()))),
            "recheck_error": v.rechecked.as_ref().and_then(|r| r.as_ref().err()),
        }),
        Some(Verdict::Fails(cycle)) => {
            let waits: Vec<Value> = cycle
                .waits
                .iter()
                .map(|w| {
                    let (from, to) =
                        (routing.topology().tail(w.held.0), routing.topology().head(w.held.0));
                    json!({
                        "from": name(from.switch), "port": from.port, "to": name(to.switch),
                        "lane": w.held.1, "channel": w.channel, "route": w.route,
                    })
                })
                .collect();
            let lines: Vec<String> = cycle.to_string().lines().map(str::to_owned).collect();
            json!({ "holds": false, "cycle": waits, "counterexample": lines })
        }
    };
    let management = match &v.management {
        Verdict::Holds(routes) => json!({ "holds": true, "routes": routes }),
        Verdict::Fails(broken) => json!({ "holds": false, "counterexample": broken.to_string() }),
    };
    json!({
        "holds": v.holds(), "complete": complete, "management": management, "deadlock": deadlock,
        "lanes": routing.lanes().count(),
    })
}
