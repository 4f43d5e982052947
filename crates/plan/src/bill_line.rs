//! A line of a bill.

use super::catalog::{BillSection, CableKind, FigureConfidence};
use schemars::JsonSchema;
use serde::Serialize;

/// Things of one name in one part of the bill.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Line")]
pub struct BillLine {
    /// The part of the bill.
    pub part: BillSection,
    /// Electric or optical; none of what is no cable.
    pub kind: Option<CableKind>,
    /// What is bought.
    pub id: String,
    /// How many.
    pub count: u64,
    /// Their typical price together, US dollars.
    pub usd: f64,
    /// Their lowest price together, US dollars.
    pub usd_low: f64,
    /// Their highest price together, US dollars.
    pub usd_high: f64,
    /// Their power together, watts; none where the catalogue does not say.
    pub watts: Option<f64>,
    /// How well the price is known.
    pub confidence: FigureConfidence,
    /// Whether the totals count it.
    pub counted: bool,
}
