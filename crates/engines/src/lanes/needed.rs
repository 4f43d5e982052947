//! How many lanes each method needs, as a measure.

use super::{Need as Of, needed};
use base::stage::{Better, Kind};
use base::{Frame, Metric, Need, Stage, Stop, Watch};
use fabric::size::{Size, Walk};
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many virtual lanes each method needs to make given routes free of deadlock.
///
/// The record: `methods`, a list with `method` (`online`, `lightest`, `heaviest`, `random`, `hops`;
/// see docs/routing.md), `lanes` and `service_levels`, both null where 15 lanes or 16 levels are
/// not enough, and `why` then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Seed of the method `random`.
    pub seed: u64,
}

impl Stage for Params {
    const NAME: &'static str = "lanes_needed";
    const COLUMNS: &'static [Metric] = &[
        Metric::new(
            "online",
            "/methods/0/lanes",
            Kind::Whole,
            "lanes",
            "path by path",
            Better::Lower,
        ),
        Metric::new(
            "lightest",
            "/methods/1/lanes",
            Kind::Whole,
            "lanes",
            "cycle by cycle, the lightest edge",
            Better::Lower,
        ),
        Metric::new(
            "heaviest",
            "/methods/2/lanes",
            Kind::Whole,
            "lanes",
            "cycle by cycle, the heaviest edge",
            Better::Lower,
        ),
        Metric::new(
            "random",
            "/methods/3/lanes",
            Kind::Whole,
            "lanes",
            "cycle by cycle, a random edge",
            Better::Lower,
        ),
        Metric::new(
            "hops",
            "/methods/4/lanes",
            Kind::Whole,
            "lanes",
            "a lane a hop",
            Better::Lower,
        ),
    ];

    type On<'a> = &'a Routing;

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { seed: 3 }]
    }

    fn need(&self, on: &Routing, threads: usize) -> Need {
        Size::of(on.topology(), threads).walk(on, Walk::Lanes)
    }

    fn run(&self, on: &Routing, watch: &dyn Watch) -> Result<Frame, Stop> {
        let row = |need: &Of| match &need.lanes {
            Ok((lanes, levels)) => {
                json!({ "method": need.method.name(), "lanes": lanes, "service_levels": levels })
            }
            Err(refusal) => json!({
                "method": need.method.name(), "lanes": null, "service_levels": null,
                "why": refusal.to_string(),
            }),
        };
        let methods: Vec<Value> = needed(on, self.seed, watch)?.iter().map(row).collect();
        Ok(Frame::of(json!({ "methods": methods })))
    }
}
