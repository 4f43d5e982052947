//! What a cable check finds: faults with their repairs, and how every cable and switch is.

use super::cable::CableId;
use super::devices::DeviceIdentificationProperty;
use super::repairs::{CableRepairInstruction, CableRepairStep};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What kind of fault a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CablingFaultKind {
    /// A planned switch does not answer; its cables are not listed apart.
    MissingSwitch,
    /// A planned endpoint does not answer.
    MissingEndpoint,
    /// Devices that no cable laid so far joins to those that answer.
    OutOfReach,
    /// Other hardware stands where a planned device should be.
    Replaced,
    /// A device that the plan does not know.
    Unknown,
    /// Switches that stand in one another's places; their cables are compared where they stand.
    MovedSwitch,
    /// Two cables (or a ring of more) whose ends are exchanged.
    Swapped,
    /// A cable that is not planned.
    Extra,
    /// A cable with one end in a wrong port.
    Wrong,
    /// A planned cable is not there.
    Missing,
    /// A cable in its place that is slower or narrower than planned.
    Degraded,
}

/// One fault, and how to repair it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CablingFinding {
    /// Its kind.
    pub fault: CablingFaultKind,
    /// The devices or ports concerned, by their labels.
    #[serde(rename = "where")]
    pub place: String,
    /// What is wrong, in a sentence that names devices and ports.
    pub what: String,
    /// What to do, in a sentence.
    #[serde(rename = "mend")]
    pub repair: String,
    /// Where and what to do in one short line.
    pub line: String,
    /// Where there is more than one move: the ports or devices of each, in order.
    pub table: Vec<[String; 2]>,
    /// The planned cables concerned, the labels of both ends.
    pub planned: Vec<[String; 2]>,
    /// What was found instead, the labels of both ends.
    pub found: Vec<[String; 2]>,
    /// What to do with which plugs, in order; empty where no cable is to be moved.
    #[serde(skip)]
    pub moves: Vec<CableRepairStep>,
    /// The moves for a program, by names.
    #[serde(rename = "moves")]
    pub instructions: Vec<CableRepairInstruction>,
}

/// How a planned cable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PlannedCableState {
    /// In its place at its speed and width.
    Correct,
    /// In its place, but slower or narrower than planned.
    Degraded,
    /// Not there, and another cable is in one of its ports.
    Wrong,
    /// Not there, its ports are empty.
    Missing,
    /// Not there, and a device at one of its ends does not answer.
    Lost,
    /// Not there, and not due: it need not be laid yet.
    Unlaid,
}

/// How a planned switch is, by the worst that is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PlannedSwitchState {
    /// All its cables are as planned.
    Correct,
    /// Some of its cables, or all, are not laid yet; the others are as planned.
    Unlaid,
    /// One of its cables is slower or narrower than planned.
    Degraded,
    /// One of its cables is missing or wrong, or one is not planned.
    Wrong,
    /// Hardware that the plan does not know stands in its place.
    Replaced,
    /// Another switch of the plan stands in its place.
    Moved,
    /// It does not answer.
    Missing,
}

/// By what the devices were identified, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DeviceIdentificationCounts {
    /// GUIDs (with names for the rest), names, or the structure.
    pub by: DeviceIdentificationProperty,
    /// Planned switches that were found.
    pub switches: u64,
    /// Planned endpoints that were found.
    pub endpoints: u64,
    /// By structure: how many placements of the plan on the fabric are equally good, as far as was
    /// looked; else 1.
    pub equally_good: u64,
}

/// How a fabric is compared with its plan.
#[derive(Debug, Clone, Default)]
pub struct CableCheckOptions {
    /// What tells which device is which.
    pub identify: DeviceIdentificationProperty,
    /// Whether a cable between the right two devices is right whatever ports it is in.
    pub ignore_ports: bool,
    /// The cables that must be laid by now; `None`: all. One that is not among them and not there
    /// is [`PlannedCableState::Unlaid`], and a device is missed only where such a cable leads to
    /// it.
    pub due: Option<BTreeSet<CableId>>,
}

/// The comparison of a fabric with its plan.
///
/// Every planned cable counts once: `planned = correct + degraded + misplaced + lost + unlaid`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CableCheckResult {
    /// Cables of the plan, those of endpoints included.
    pub planned: u64,
    /// Cables in their place at their speed and width.
    pub correct: u64,
    /// Cables in their place that are slower or narrower than planned.
    pub degraded: u64,
    /// Planned cables that are not there while another cable is in one of their ports.
    pub misplaced: u64,
    /// Planned cables that are due and not there: the missing ones, and those of devices that do
    /// not answer.
    pub lost: u64,
    /// Lost cables whose devices answer: they are unplugged or broken.
    pub missing: u64,
    /// Planned cables that are not there and not due.
    pub unlaid: u64,
    /// Cables between the right two devices that are in other ports than planned: among the
    /// correct and degraded ones where ports are ignored, else among the misplaced.
    pub on_other_ports: u64,
    /// The faults, devices first, then cables by kind, in an order in which they can be repaired.
    pub findings: Vec<CablingFinding>,
    /// By what the devices were identified.
    pub identified: DeviceIdentificationCounts,
    /// How every planned cable is.
    #[serde(skip)]
    pub cables: BTreeMap<CableId, PlannedCableState>,
    /// How every planned switch is, by switch id.
    #[serde(rename = "switch_states")]
    pub switches: Vec<PlannedSwitchState>,
    /// Planned name and found GUID of every device that was identified and has one, switches first.
    #[serde(skip)]
    pub guids: Vec<(String, u64)>,
}

impl CableCheckResult {
    /// Whether the fabric is as planned.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Number of findings of each kind there is.
    pub fn counts(&self) -> BTreeMap<CablingFaultKind, u64> {
        self.findings.iter().fold(BTreeMap::new(), |mut counts, f| {
            *counts.entry(f.fault).or_insert(0) += 1;
            counts
        })
    }
}

impl fmt::Display for CableCheckResult {
    /// One line of summary, and one line a finding.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (planned, correct) = (self.planned, self.correct);
        write!(f, "{correct} of {planned} cables as planned, {} findings", self.findings.len())?;
        for finding in &self.findings {
            write!(f, "\n{}; {}", finding.what, finding.repair)?;
        }
        Ok(())
    }
}
