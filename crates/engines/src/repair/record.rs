//! A repair as a measure: what fails, and what it takes to repair the tables.

use super::{RepairedTables, TableChangeSafety, repair};
use base::stage::{BetterDirection, ColumnType};
use base::{
    ComputationError, ExperimentStage, ProgressWatch, RecordColumn, ResourceNeed, SwitchId,
    TerminalId,
};
use fabric::network::{FailedComponent, FailureParameters, Topology};
use fabric::size::{NetworkSize, RouteWorkKind};
use fabric::tables::{NO_ROUTE, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Tables repaired after links or switches failed, with as few changed entries as possible.
///
/// `steps` gives the order of the changes, and which packets must have left the network before
/// each: packets whose service level was set before, also those that still wait at their senders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RepairParams {
    /// Links that fail, by number, `SWITCH:SWITCH` (all cables between) or `SWITCH:PORT`.
    pub links: Vec<FailedComponent>,
    /// Switches that fail, by number or name.
    pub switches: Vec<FailedComponent>,
    /// The number of working links that fail besides, drawn at random.
    pub random: u32,
    /// Seed of the random links.
    pub seed: u64,
}

/// The changes that a repair makes, and the lengths of routes before and after.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RepairRecord {
    /// Table entries towards endpoints that change.
    pub changed_entries: u64,
    /// The least number of entries towards endpoints that any repair must change.
    pub least_changed_entries: u64,
    /// Switches with entries that change or are cleared.
    pub changed_switches: u64,
    /// Table entries towards switches that change.
    pub changed_entries_to_switches: u64,
    /// The least number of entries towards switches that any repair must change.
    pub least_changed_entries_to_switches: u64,
    /// Table entries that are cleared, because they lead to endpoints and switches that have failed
    /// and had not before.
    pub cleared_entries: u64,
    /// Paths whose service level changes.
    pub changed_service_levels: u64,
    /// Mean hops before the repair, over the routes whose ends still work: those of ordered pairs
    /// of a switch with endpoints and a terminal on another switch; none where there are no such
    /// routes.
    pub mean_hops_before: Option<f64>,
    /// Mean hops of these routes after the repair.
    pub mean_hops_after: Option<f64>,
    /// Most hops of one of these routes before the repair.
    pub max_hops_before: Option<u32>,
    /// Most hops of one of these routes after the repair.
    pub max_hops_after: Option<u32>,
    /// The number of these routes that became longer.
    pub longer_routes: u64,
    /// The number of these routes that became shorter.
    pub shorter_routes: u64,
    /// How many of these routes changed from one number of hops to another.
    pub hops_changes: Vec<RouteLengthChange>,
    /// Entries that drop packets for a time.
    pub stopped_entries: u64,
    /// Whether the entries can change under traffic without deadlock: "in any order", "in the order
    /// given", "in steps", "after draining", or "unknown" where the old tables could deadlock.
    pub safe: &'static str,
    /// Why traffic must be drained; none where it need not.
    pub why: Option<String>,
    /// The steps of the change in order, with what each must wait for; the last says when the next
    /// repair may begin. Empty where nothing changes or no order is known to be safe.
    pub steps: Vec<String>,
    /// For a repair in steps: the entries that drop packets until they change.
    pub stops: Vec<TableEntry>,
    /// The paths that change their service level, in a safe order.
    pub level_changes: Vec<PathServiceLevelChange>,
    /// The entries that change, in a safe order.
    pub changes: Vec<TableEntryPortChange>,
}

/// Routes whose length changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NewHops")]
pub struct RouteLengthChange {
    /// Their hops before the repair.
    pub was: u32,
    /// Their hops after the repair.
    pub hops: u32,
    /// The number of such routes.
    pub routes: u64,
}

/// An entry of a switch's forwarding table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub struct TableEntry {
    /// Name of the switch whose table it is in.
    pub switch: String,
    /// Name of the endpoint that it leads to.
    pub endpoint: String,
    /// Number of the endpoint's terminal.
    pub terminal: u32,
    /// Which of the routes to the terminal, from 0.
    pub layer: u32,
}

/// An entry that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NewPort")]
pub struct TableEntryPortChange {
    /// The entry.
    #[serde(flatten)]
    pub entry: TableEntry,
    /// The port before the repair.
    pub was: u16,
    /// The port after the repair.
    pub port: u16,
}

/// A path that changes its service level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NewLevel")]
pub struct PathServiceLevelChange {
    /// The path: its first switch, and where it leads.
    #[serde(flatten)]
    pub path: TableEntry,
    /// The level before the repair.
    pub was: u8,
    /// The level after the repair.
    pub level: u8,
}

impl ExperimentStage for RepairParams {
    const NAME: &'static str = "repair";
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "changed_entries",
            "/changed_entries",
            ColumnType::Whole,
            "entries",
            "table entries towards endpoints that change",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "least_changed_entries",
            "/least_changed_entries",
            ColumnType::Whole,
            "entries",
            "entries that every repair changes",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "cleared_entries",
            "/cleared_entries",
            ColumnType::Whole,
            "entries",
            "entries that are cleared: they lead to what has failed",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "changed_service_levels",
            "/changed_service_levels",
            ColumnType::Whole,
            "paths",
            "paths whose service level changes",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "longer_routes",
            "/longer_routes",
            ColumnType::Whole,
            "routes",
            "routes that become longer",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "safe",
            "/safe",
            ColumnType::Text,
            "",
            "how entries can change under traffic",
            BetterDirection::Neither,
        ),
    ];

    type Input<'a> = &'a Routing;
    type Record = RepairRecord;

    fn examples() -> Vec<Self> {
        vec![
            Self { links: vec![FailedComponent::Number(0)], ..Self::default() },
            Self { random: 1, ..Self::default() },
        ]
    }

    fn need(&self, on: &Routing, threads: usize) -> ResourceNeed {
        NetworkSize::of(on.topology(), threads).along(on, RouteWorkKind::Repair)
    }

    fn run(
        &self,
        on: &Routing,
        watch: &dyn ProgressWatch,
    ) -> Result<RepairRecord, ComputationError> {
        let topology = on.topology();
        let Self { links, switches, random, seed } = self.clone();
        let (links, switches) = FailureParameters { links, switches, random, seed }.of(topology)?;
        let damaged = Arc::new(topology.with_failures(&links, &switches)?);
        Ok(RepairRecord::of(on, &repair(on, &damaged, watch)?))
    }
}

impl RepairRecord {
    /// The record of the repair `done` of the tables `old`.
    pub fn of(old: &Routing, done: &RepairedTables) -> Self {
        let on = old.topology();
        let entry = |switch: SwitchId, (layer, terminal): (u32, TerminalId)| {
            let endpoint = on.terminals()[terminal.ix()].endpoint;
            TableEntry {
                switch: on.switches()[switch.ix()].name.clone(),
                endpoint: on.endpoints()[endpoint.ix()].name.clone(),
                terminal: terminal.0,
                layer,
            }
        };
        let (safe, why) = match &done.safety {
            TableChangeSafety::AnyOrder => ("in any order", None),
            TableChangeSafety::InOrder => ("in the order given", None),
            TableChangeSafety::InSteps => ("in steps", None),
            TableChangeSafety::Draining(why) => ("after draining", Some(why)),
            TableChangeSafety::Unknown => ("unknown", None),
        };
        let mut switches: BTreeSet<u32> = done.changes.iter().map(|c| c.switch.0).collect();
        let cleared_entries = cleared(old, done.routing.topology(), &mut switches);
        let rows = old.to_switch().iter().zip(done.routing.to_switch());
        let changed_rows = rows.enumerate().filter(|(_, (was, port))| was != port);
        switches.extend(changed_rows.map(|(i, _)| (i % on.switches().len()) as u32));
        let level_changes = done.levels.iter().map(|c| PathServiceLevelChange {
            path: entry(c.source, c.to),
            was: c.level.0,
            level: c.level.1,
        });
        let changes = done.changes.iter().map(|c| TableEntryPortChange {
            entry: entry(c.switch, c.to),
            was: c.port.0,
            port: c.port.1,
        });
        let (mean, max) = (done.lengths.mean(), done.lengths.max());
        let (longer_routes, shorter_routes) = done.lengths.changed();
        let new_hops =
            |(&(was, hops), &routes): (&(u32, u32), &u64)| RouteLengthChange { was, hops, routes };
        let hops_changes = done.lengths.routes.iter().filter(|((was, hops), _)| was != hops);
        Self {
            changed_entries: done.changes.len() as u64,
            least_changed_entries: done.least,
            changed_switches: switches.len() as u64,
            changed_entries_to_switches: done.management.0,
            least_changed_entries_to_switches: done.management.1,
            cleared_entries,
            changed_service_levels: done.levels.len() as u64,
            mean_hops_before: mean.map(|(was, _)| was),
            mean_hops_after: mean.map(|(_, is)| is),
            max_hops_before: max.map(|(was, _)| was),
            max_hops_after: max.map(|(_, is)| is),
            longer_routes,
            shorter_routes,
            hops_changes: hops_changes.map(new_hops).collect(),
            stopped_entries: done.stops.len() as u64,
            safe,
            why: why.map(ToString::to_string),
            steps: steps(done),
            stops: done.stops.iter().map(|&(to, s)| entry(s, to)).collect(),
            level_changes: level_changes.collect(),
            changes: changes.collect(),
        }
    }
}

/// The number of entries of `old` that lead to what has failed in `on` and had not before, in the
/// tables of switches that work, which are added to `switches`. O(entries).
fn cleared(old: &Routing, on: &Topology, switches: &mut BTreeSet<u32>) -> u64 {
    let before = old.topology();
    let mut count = 0;
    let mut clear = |s: usize, port: u16| {
        if port != NO_ROUTE && on.switches()[s].up {
            count += 1;
            switches.insert(s as u32);
        }
    };
    for (layer, t) in old.destinations() {
        if before.terminal_is_up(t) && !on.terminal_is_up(t) {
            old.tree(layer, t).ports().enumerate().for_each(|(s, port)| clear(s, port));
        }
    }
    for d in (0..on.switches().len()).map(SwitchId::from) {
        if before.switches()[d.ix()].up && !on.switches()[d.ix()].up {
            old.tree_to_switch(d).iter().enumerate().for_each(|(s, &port)| clear(s, port));
        }
    }
    count
}

/// The steps of a repair as sentences, with what each must wait for.
fn steps(done: &RepairedTables) -> Vec<String> {
    let (stops, levels, changes) = (done.stops.len(), done.levels.len(), done.changes.len());
    let mut all = Vec::new();
    if levels + changes == 0 || done.safety == TableChangeSafety::Unknown {
        return all;
    }
    let before = |all: &[String]| match all.len() {
        0 => "the failures".to_owned(),
        n => format!("step {n} was done"),
    };
    let new_levels =
        format!("the senders of {} take new service levels (`level_changes`)", of(levels, "path"));
    let in_order = format!("{} one after the other, in order (`changes`)", change(changes));
    match done.safety {
        TableChangeSafety::Unknown => {}
        TableChangeSafety::AnyOrder => {
            all.push(format!("{} in any order (`changes`)", change(changes)));
        }
        TableChangeSafety::InOrder => all.push(in_order),
        TableChangeSafety::InSteps => {
            if stops > 0 {
                let drop = if stops == 1 { "drops" } else { "drop" };
                all.push(format!("{} {drop} packets (`stops`)", of(stops, "entry")));
            }
            all.push(format!("wait until {}", left(&before(&all))));
            if levels > 0 {
                all.push(new_levels);
                all.push(format!("wait until {}", left(&before(&all))));
            }
            if changes > 0 {
                all.push(in_order);
            }
        }
        TableChangeSafety::Draining(_) => {
            all.push("nobody sends to the endpoints of `changes` and `level_changes`".to_owned());
            let to_them = "every packet to them has left, also those that wait at their senders";
            all.push(format!("wait until {to_them}"));
            if levels > 0 {
                all.push(new_levels);
            }
            if changes > 0 {
                all.push(format!("{} in any order (`changes`)", change(changes)));
            }
            all.push("endpoints send to them again".to_owned());
        }
    }
    all.push(format!(
        "before the next repair, wait until {}, and nobody sends to what has failed, now or \
         earlier",
        left(&before(&all))
    ));
    all
}

/// The packets that must have left, where levels and entries changed before something.
fn left(before: &str) -> String {
    format!(
        "every packet has left whose service level was set before {before}: those in the network, \
         which takes the lifetime of a packet at most, and those that wait at their senders"
    )
}

/// A count with its noun, in the plural where it is not 1.
fn of(count: usize, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "entry") => format!("{count} entries"),
        _ => format!("{count} {what}s"),
    }
}

fn change(entries: usize) -> String {
    format!("{} change{}", of(entries, "entry"), if entries == 1 { "s" } else { "" })
}
