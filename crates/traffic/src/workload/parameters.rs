//! Parameters that several workloads take, each a type with its range and its default.

use base::Refusal;
use base::shape::GridShape;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// Most ranks of a generated schedule.
pub const MOST_RANKS: u64 = 1 << 24;
/// Most bytes of a message.
pub const MOST_BYTES: u64 = 1 << 40;
/// Most nanoseconds of a calculation: about 18 minutes.
pub const MOST_NS: u64 = 1 << 40;

/// Processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct RankCountParameter(#[schemars(range(min = 1, max = MOST_RANKS))] pub u32);

/// How often everything is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct IterationCountParameter(#[schemars(range(min = 1, max = 1 << 20))] pub u64);

impl Default for IterationCountParameter {
    fn default() -> Self {
        Self(1)
    }
}

/// Rate of a rank, Gflop/s; 0: computing takes no time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct ComputeRateParameter(#[schemars(range(max = 1_u64 << 40))] pub u64);

impl ComputeRateParameter {
    /// The time in ns that this number of floating-point operations takes, rounded up; 0 at a rate
    /// of 0.
    pub fn ns(self, flops: u128) -> u64 {
        if self.0 == 0 {
            return 0;
        }
        u64::try_from(flops.div_ceil(self.0.into())).unwrap_or(u64::MAX)
    }
}

/// Sides of a grid of ranks, such as `4x4x2`; none if they are chosen, as equal as possible.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RankGridParameter(Option<GridShape>);

/// The word for sides that are chosen.
const AUTO: &str = "auto";

impl Serialize for RankGridParameter {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None => AUTO.serialize(to),
            Some(sides) => sides.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for RankGridParameter {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(from)?;
        if given == AUTO {
            return Ok(Self(None));
        }
        let sides = GridShape::deserialize(&given).map_err(|_| {
            D::Error::custom(format!("{given} is no grid; write 4x4x2, [4, 4, 2] or {AUTO}"))
        });
        sides.map(|sides| Self(Some(sides)))
    }
}

impl JsonSchema for RankGridParameter {
    fn schema_name() -> Cow<'static, str> {
        "Grid".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": AUTO }, generator.subschema_for::<GridShape>()] })
    }
}

impl RankGridParameter {
    /// The `count` sides, whose product is `ranks`. If they are not given, they are as equal as the
    /// factors of the number of ranks allow, the largest first.
    ///
    /// # Errors
    /// When the given sides are of another number, or their product is not `ranks`.
    pub fn sides(&self, count: usize, ranks: u32) -> Result<Vec<u32>, Refusal> {
        let Some(GridShape(sides)) = &self.0 else { return Ok(balanced(count, ranks)) };
        let product = sides.iter().try_fold(1_u32, |product, &side| product.checked_mul(side));
        if sides.len() == count && product == Some(ranks) {
            return Ok(sides.clone());
        }
        let written =
            |all: &[u32]| all.iter().map(u32::to_string).collect::<Vec<String>>().join("x");
        let good = written(&balanced(count, ranks));
        let help = format!("{count} sides whose product is {ranks}, as {good}");
        Err(Refusal::new("grid", written(sides), help))
    }
}

/// `ranks` as a product of `sides` factors, the largest first. Every prime factor, from the largest
/// on, is multiplied to the smallest side so far. O(sqrt(ranks)).
fn balanced(sides: usize, ranks: u32) -> Vec<u32> {
    let mut primes = Vec::new();
    let (mut left, mut p) = (ranks, 2);
    while left > 1 {
        if u64::from(p) * u64::from(p) > u64::from(left) {
            p = left;
        }
        if left.is_multiple_of(p) {
            primes.push(p);
            left /= p;
        } else {
            p += 1;
        }
    }
    let mut all = vec![1; sides];
    for prime in primes.into_iter().rev() {
        if let Some(least) = all.iter_mut().min() {
            *least *= prime;
        }
    }
    all.sort_unstable_by(|a, b| b.cmp(a));
    all
}

/// Rows of whole numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct IntegerMatrixParameter(pub Vec<Vec<u64>>);

impl<'de> Deserialize<'de> for IntegerMatrixParameter {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = Vec::<Vec<Value>>::deserialize(from)?;
        let mut rows = Vec::with_capacity(given.len());
        for (i, row) in given.iter().enumerate() {
            let mut numbers = Vec::with_capacity(row.len());
            for (j, value) in row.iter().enumerate() {
                let why = || format!("row {i}, column {j}: {value} is no whole number from 0");
                numbers.push(value.as_u64().ok_or_else(|| D::Error::custom(why()))?);
            }
            rows.push(numbers);
        }
        Ok(Self(rows))
    }
}

impl IntegerMatrixParameter {
    /// The numbers row by row; there are `ranks` rows and columns.
    ///
    /// # Errors
    /// When there are other rows or columns, or a number is above `most`; the refusal names the
    /// parameter `name`.
    pub fn square(&self, name: &str, ranks: u32, most: u64) -> Result<Vec<u64>, Refusal> {
        let refuse = |why: String| {
            Refusal::new(name, why, format!("{ranks} rows of {ranks} whole numbers, 0 to {most}"))
        };
        if self.0.len() != ranks as usize {
            return Err(refuse(format!("there are {} rows", self.0.len())));
        }
        for (i, row) in self.0.iter().enumerate() {
            if row.len() != self.0.len() {
                return Err(refuse(format!("row {i} is not as long")));
            }
            if let Some(j) = row.iter().position(|&n| n > most) {
                return Err(refuse(format!("row {i}, column {j}: {}", row[j])));
            }
        }
        Ok(self.0.concat())
    }
}

/// Ranks, as `3,5`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct RankListParameter(pub Vec<u64>);

impl<'de> Deserialize<'de> for RankListParameter {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(from)?;
        let ranks: Option<Vec<u64>> = match &given {
            Value::String(text) => text.split(',').map(|n| n.trim().parse().ok()).collect(),
            Value::Array(all) => all.iter().map(Value::as_u64).collect(),
            one => one.as_u64().map(|n| vec![n]),
        };
        let why = || format!("{given} is no list of ranks; write 3,5 or [3, 5]");
        ranks.map(Self).ok_or_else(|| D::Error::custom(why()))
    }
}

impl RankListParameter {
    /// The ranks of the list, for a schedule of `ranks` ranks.
    ///
    /// # Errors
    /// When one does not exist; the refusal names the parameter `name`.
    pub fn of(&self, name: &str, ranks: u32) -> Result<Vec<u32>, Refusal> {
        let known = |&n: &u64| u32::try_from(n).ok().filter(|&rank| rank < ranks);
        self.0.iter().map(|n| known(n).ok_or_else(|| no_rank(name, *n, ranks))).collect()
    }
}

/// The refusal of a rank that does not exist.
pub(super) fn no_rank(name: &str, rank: u64, ranks: u32) -> Refusal {
    Refusal::new(name, format!("{rank} is no rank"), format!("0 to {}", ranks.saturating_sub(1)))
}
