//! A repair as a measure: what fails, and what it takes to mend the tables.

use super::{LevelChange, Repaired, Safety, repair};
use base::stage::{Better, Kind};
use base::{Frame, LinkId, Metric, Need, Stage, Stop, SwitchId, TerminalId, Watch};
use fabric::size::{Size, Walk};
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Tables repaired after links or switches failed, with as few entries changed as can be.
///
/// The record: `changed_entries` towards endpoints and `least_changed_entries` (no repair can
/// change fewer), `changed_switches`, the same towards switches (`..._to_switches`),
/// `changed_service_levels` (paths), `stopped_entries`, `safe` ("in any order", "in the order
/// given", "in steps", "after draining", "unknown": whether the entries can change under traffic
/// without deadlock), `why`, and `changes`, `stops` and `level_changes`, in a safe order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Numbers of links that fail.
    pub links: Vec<u32>,
    /// Numbers of switches that fail.
    pub switches: Vec<u32>,
    /// So many working links fail besides, drawn at random.
    pub random: u32,
    /// Seed of the random links.
    pub seed: u64,
}

impl Stage for Params {
    const NAME: &'static str = "repair";
    const COLUMNS: &'static [Metric] = &[
        Metric::new(
            "changed_entries",
            "/changed_entries",
            Kind::Whole,
            "entries",
            "table entries towards endpoints that change",
            Better::Lower,
        ),
        Metric::new(
            "least_changed_entries",
            "/least_changed_entries",
            Kind::Whole,
            "entries",
            "entries that every repair changes",
            Better::Neither,
        ),
        Metric::new(
            "changed_service_levels",
            "/changed_service_levels",
            Kind::Whole,
            "paths",
            "paths whose service level changes",
            Better::Lower,
        ),
        Metric::new(
            "safe",
            "/safe",
            Kind::Text,
            "",
            "how entries can change under traffic",
            Better::Neither,
        ),
    ];

    type On<'a> = &'a Routing;

    fn examples() -> Vec<Self> {
        vec![Self { links: vec![0], ..Self::default() }, Self { random: 1, ..Self::default() }]
    }

    fn need(&self, on: &Routing, threads: usize) -> Need {
        Size::of(on.topology(), threads).walk(on, Walk::Repair)
    }

    fn run(&self, on: &Routing, watch: &dyn Watch) -> Result<Frame, Stop> {
        let topology = on.topology();
        let mut links: Vec<LinkId> = self.links.iter().copied().map(LinkId).collect();
        links.extend(topology.random_links(self.random, self.seed)?);
        links.sort_unstable();
        links.dedup();
        let switches: Vec<SwitchId> = self.switches.iter().copied().map(SwitchId).collect();
        let damaged = Arc::new(topology.with_failures(&links, &switches)?);
        Ok(Frame::of(told(on, &repair(on, &damaged, watch)?)))
    }
}

/// What a repair of `old` took, as the record says.
pub fn told(old: &Routing, done: &Repaired) -> Value {
    let on = old.topology();
    let entry = |switch: SwitchId, (layer, terminal): (u32, TerminalId)| {
        let endpoint = on.terminals()[terminal.ix()].endpoint;
        json!({
            "switch": on.switches()[switch.ix()].name,
            "endpoint": on.endpoints()[endpoint.ix()].name, "terminal": terminal.0, "layer": layer,
        })
    };
    let with = |mut entry: Value, was: u16, key: &str, now: u16| {
        entry["was"] = was.into();
        entry[key] = now.into();
        entry
    };
    let changes: Vec<Value> = done
        .changes
        .iter()
        .map(|c| with(entry(c.switch, c.to), c.port.0, "port", c.port.1))
        .collect();
    let level =
        |c: &LevelChange| with(entry(c.source, c.to), c.level.0.into(), "level", c.level.1.into());
    let levels: Vec<Value> = done.levels.iter().map(level).collect();
    let stops: Vec<Value> = done.stops.iter().map(|&(to, s)| entry(s, to)).collect();
    let (safe, why) = match &done.safety {
        Safety::AnyOrder => ("in any order", None),
        Safety::InOrder => ("in the order given", None),
        Safety::InSteps => ("in steps", None),
        Safety::Draining(why) => ("after draining", Some(why)),
        Safety::Unknown => ("unknown", None),
    };
    let switches: std::collections::BTreeSet<u32> =
        done.changes.iter().map(|c| c.switch.0).collect();
    json!({
        "changed_entries": done.changes.len(), "least_changed_entries": done.least,
        "changed_switches": switches.len(),
        "changed_entries_to_switches": done.management.0,
        "least_changed_entries_to_switches": done.management.1,
        "changed_service_levels": done.levels.len(), "stopped_entries": done.stops.len(),
        "safe": safe, "why": why, "stops": stops, "level_changes": levels, "changes": changes,
    })
}
