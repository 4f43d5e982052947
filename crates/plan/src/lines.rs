//! Findings in one short line each: what is wrong, where, and what to do.

use super::comparison::PlanAndFoundFabric;
use super::devices::{DevicePort, MatchedDevice};
use super::places::SwappedSwitchCycle;
use super::repairs::{CableDifference, CableRepairStep};
use base::SwitchId;
use fabric::network::Cable;

/// Width that a line should fit: ports have all their names and their label where that fits, else
/// the fabric's name of the device and the label.
const COLUMNS: usize = 100;

/// `n` with its noun: `one` for 1, else `many`.
pub(super) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

impl PlanAndFoundFabric<'_> {
    /// The text that `make` gives for these ports: with all names and labels, or with fewer where
    /// that is too long; each port has its device's name.
    fn of_ports(&self, ports: &[DevicePort], make: impl Fn(&[String]) -> String) -> String {
        let line = make(&ports.iter().map(|s| self.label(*s)).collect::<Vec<_>>());
        if line.chars().count() <= COLUMNS {
            return line;
        }
        make(&ports.iter().map(|s| self.short(*s)).collect::<Vec<_>>())
    }

    pub(super) fn switch_line(
        &self,
        node: MatchedDevice,
        cables: usize,
        endpoints: usize,
    ) -> String {
        let cables = counted(cables, "cable", "cables");
        let endpoints = counted(endpoints, "endpoint", "endpoints");
        let place = self.place(node);
        format!("switch {place} does not answer ({cables}, {endpoints}): check power and cables")
    }

    pub(super) fn endpoint_line(&self, node: MatchedDevice, plugs: &[DevicePort]) -> String {
        let place = self.place(node);
        if plugs.is_empty() {
            return format!("endpoint {place} does not answer: check its power");
        }
        self.of_ports(plugs, |to| {
            let to = to.join(", ");
            format!("endpoint {place} does not answer: check power and the cable to {to}")
        })
    }

    pub(super) fn slow_line(&self, ends: [DevicePort; 2], planned: Cable, found: Cable) -> String {
        let rate = |c: Cable| format!("{}x {}", c.width, c.speed);
        let (is, should) = (rate(found), rate(planned));
        self.of_ports(&ends, |p| {
            format!("slow cable {} - {}: {is}, not {should}; reseat it", p[0], p[1])
        })
    }

    pub(super) fn difference_line(&self, difference: &CableDifference) -> String {
        match difference {
            CableDifference::Missing(ends) => {
                self.of_ports(ends, |p| format!("missing cable {} - {}: plug it in", p[0], p[1]))
            }
            CableDifference::Extra(ends) => {
                self.of_ports(ends, |p| format!("extra cable {} - {}: remove it", p[0], p[1]))
            }
            CableDifference::Wrong { planned: [to, _], found: [_, from] } => self
                .of_ports(&[*from, *to], |p| {
                    format!("wrong port {}: move the plug to {}", p[0], p[1])
                }),
            CableDifference::Swapped { planned, swaps, .. } => match swaps.as_slice() {
                [(a, b)] => self.of_ports(&[*a, *b], |p| {
                    format!("swapped plugs: exchange those in {} and {}", p[0], p[1])
                }),
                swaps => {
                    let n = planned.len();
                    let k = counted(swaps.len(), "exchange", "exchanges");
                    format!("{n} cables swapped in a ring: exchange plugs, {k} in this order")
                }
            },
        }
    }

    pub(super) fn moved_line(&self, round: &SwappedSwitchCycle) -> String {
        let place = |s: &u32| self.place(MatchedDevice::Switch(SwitchId(*s)));
        let along = if round.with_endpoints { " with their endpoints" } else { "" };
        match (round.open, round.switches.as_slice()) {
            (true, [own, other]) => {
                let along = along.replace("their", "its");
                let (own, other) = (place(own), place(other));
                format!("switch {own} is in the place of {other}: move it{along} to its own")
            }
            (false, [a, b]) => {
                let (a, b) = (place(a), place(b));
                format!("switches {a} and {b} are exchanged: exchange them back{along}")
            }
            (_, switches) => {
                let n = switches.len() - usize::from(round.open);
                format!("{n} switches are in others' places: exchange them{along} in this order")
            }
        }
    }

    /// The ports or devices of each move, where there are several.
    pub(super) fn table(&self, moves: &[CableRepairStep]) -> Vec<[String; 2]> {
        if moves.len() < 2 {
            return Vec::new();
        }
        let row = |step: &CableRepairStep| match *step {
            CableRepairStep::Add(a, b)
            | CableRepairStep::Remove(a, b)
            | CableRepairStep::Plug(a, b)
            | CableRepairStep::Swap(a, b) => [self.label(a), self.label(b)],
            CableRepairStep::Exchange { a, b, .. } => {
                [a, b].map(|s| self.place(MatchedDevice::Switch(s)))
            }
        };
        moves.iter().map(row).collect()
    }
}
