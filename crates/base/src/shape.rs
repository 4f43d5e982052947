//! Sizes of the dimensions of a grid, as users write them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The shape of a grid, the sizes of its dimensions: an integer, a list, or `8x8x4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct GridShape(pub Vec<u32>);

impl<'de> serde::Deserialize<'de> for GridShape {
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
        sizes.map(GridShape).ok_or_else(|| bad(&value))
    }
}
