//! From a network to a machine room: racks, cables, and whether the cabling is the planned one.
//!
//! [`floor()`] seats switches and endpoints in racks on a grid, [`cables()`] lists every cable with
//! its labels, length and kind, [`bill`] adds up what all costs by a [`Catalog`], [`check_cables`]
//! compares a fabric that was found with its plan.

pub mod basis;
pub mod bill_line;
pub mod cable;
pub mod catalog;
pub mod catalog_file;
pub mod check;
pub mod codes;
mod comparison;
pub mod cost;
mod devices;
mod due;
mod findings;
mod fitting;
pub mod floor;
mod gaps;
mod hints;
mod hop_sums;
mod identify;
mod labels;
mod lines;
mod moving;
pub mod outcome;
mod packing;
mod places;
mod placing;
mod ports;
pub mod priced;
pub mod progress;
mod protocol;
pub mod quotation;
mod repairs;
pub mod rules;
pub mod sc14;
mod seating;
mod shape;
mod shop;
mod spares;
pub mod terms;
mod warnings;

pub use basis::{BillItem, IncludedBillItems};
pub use cable::{
    CableId, CableLengthClass, PlannedCable, by_length, cables, cables_unsorted, step_of, sum_m,
    write_csv,
};
pub use catalog::{CableKind, Catalog, millionths};
pub use check::{check_cables, check_cables_by};
pub use codes::qr_code;
pub use cost::{Bill, bill};
pub use devices::{DeviceIdentificationProperty, DevicePort, MatchedDevice};
pub use floor::{DeviceRackPosition, FloorRack, RackFloor, floor};
pub use gaps::check_quotation;
pub use hints::hints;
pub use outcome::{
    CableCheckOptions, CableCheckResult, CablingFaultKind, CablingFinding,
    DeviceIdentificationCounts, PlannedCableState, PlannedSwitchState,
};
pub use progress::{CableLayingProgress, progress};
pub use protocol::NetworkProtocol;
pub use repairs::{CableRepairInstruction, CableRepairStep, NamedPort};
pub use rules::{FloorRules, ServerPlacement};
pub use shop::{PriceSource, RoughPrices};
pub use terms::PurchaseTerms;
pub use warnings::warnings;

use base::{EndpointId, SwitchId};

/// Something that cables are plugged into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Device {
    /// A switch; its ports count from 1.
    Switch(SwitchId),
    /// An endpoint; rail r is its port r + 1.
    Endpoint(EndpointId),
}

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod cost_tests;
#[cfg(test)]
mod fitting_tests;
#[cfg(test)]
mod floor_tests;
#[cfg(test)]
mod laid_tests;
#[cfg(test)]
mod moved_tests;
#[cfg(test)]
mod seating_tests;
#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;
