//! Parameters that several families take, and their ranges.

use base::Refusal;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Sizes of the dimensions of a grid: an integer, a list, or `8x8x4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Shape(pub Vec<u32>);

impl<'de> serde::Deserialize<'de> for Shape {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let bad = |v: &Value| {
            serde::de::Error::custom(format!("'{v}' is no shape; write 8x8x4 or [8, 8, 4]"))
        };
        let value = Value::deserialize(d)?;
        let number = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok());
        let sizes = match &value {
            Value::Array(items) => items.iter().map(number).collect(),
            Value::String(s) => s.split('x').map(|i| i.trim().parse().ok()).collect(),
            other => number(other).map(|n| vec![n]),
        };
        sizes.map(Shape).ok_or_else(|| bad(&value))
    }
}

/// The most ports that a switch can have, in every family.
pub(crate) const MAX_PORTS: u32 = 65_534;
/// The most endpoints on one switch, in every family.
pub(crate) const MAX_P: u32 = 4096;

/// Returns `value` when it is between `least` and `most`, else a refusal of `param`. O(1).
pub(crate) fn in_range(param: &str, value: u32, least: u32, most: u32) -> Result<u32, Refusal> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Refusal::new(param, format!("{value} is out of range"), format!("{least} to {most}")))
}

/// Returns k^(n-1) when it is at most `most`, else a refusal of `n`, which must be at least
/// `least`; `what` names the things of which there would be too many. O(n).
pub(crate) fn power(k: u32, n: u32, least: u32, most: u64, what: &str) -> Result<u64, Refusal> {
    let size = |n: u32| u64::from(k).checked_pow(n - 1).filter(|&size| size <= most);
    size(n).ok_or_else(|| {
        let fits = (least..n).rev().find(|&n| size(n).is_some()).unwrap_or(least);
        let why = format!("{k}^{} {what} are too many", n - 1);
        Refusal::new("n", why, format!("with k = {k}, {least} to {fits}"))
    })
}
