//! How far the laying of cables has come, step by step and rack by rack.

use super::cable::PlannedCable;
use super::floor::RackFloor;
use super::outcome::{CableCheckResult, PlannedCableState};
use serde::Serialize;

/// Cables of one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LaidCableCounts {
    /// Cables of the plan.
    pub planned: u64,
    /// Those that were laid, right or wrong: correct, degraded and wrong ones.
    pub laid: u64,
    /// In their place at their speed and width.
    pub correct: u64,
    /// In their place, but slower or narrower.
    pub degraded: u64,
    /// Planned cables in one of whose ports another cable is.
    pub wrong: u64,
    /// Those that are due and not there, though both devices answer.
    pub missing: u64,
    /// Those that are due and not there, and a device does not answer.
    pub lost: u64,
    /// Those that are not there and not due.
    pub unlaid: u64,
}

impl LaidCableCounts {
    fn add(&mut self, state: PlannedCableState) {
        self.planned += 1;
        self.laid += u64::from(state <= PlannedCableState::Wrong);
        self.correct += u64::from(state == PlannedCableState::Correct);
        self.degraded += u64::from(state == PlannedCableState::Degraded);
        self.wrong += u64::from(state == PlannedCableState::Wrong);
        self.missing += u64::from(state == PlannedCableState::Missing);
        self.lost += u64::from(state == PlannedCableState::Lost);
        self.unlaid += u64::from(state == PlannedCableState::Unlaid);
    }
}

/// The cables of one rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RackLayingProgress {
    /// Name of the rack.
    pub rack: String,
    /// By step, as [`PlannedCable::step`]; a cable between two racks counts in both.
    pub steps: [LaidCableCounts; 4],
}

/// The progress of the laying of cables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CableLayingProgress {
    /// By step, as [`PlannedCable::step`]; every cable counts once.
    pub steps: [LaidCableCounts; 4],
    /// The racks, in the floor's order.
    pub racks: Vec<RackLayingProgress>,
}

/// Counts the planned `cables` of `floor` by what `check` says of them. O(cables).
pub fn progress(
    floor: &RackFloor,
    cables: &[PlannedCable],
    check: &CableCheckResult,
) -> CableLayingProgress {
    let rack = |rack: &super::FloorRack| RackLayingProgress {
        rack: rack.name.clone(),
        steps: [LaidCableCounts::default(); 4],
    };
    let mut all = CableLayingProgress {
        steps: [LaidCableCounts::default(); 4],
        racks: floor.racks.iter().map(rack).collect(),
    };
    for cable in cables {
        let Some(&state) = check.cables.get(&cable.id) else { continue };
        let step = usize::from(cable.step);
        all.steps[step].add(state);
        let (a, b) = (cable.a.seat.rack, cable.b.seat.rack);
        all.racks[a as usize].steps[step].add(state);
        if a != b {
            all.racks[b as usize].steps[step].add(state);
        }
    }
    all
}
