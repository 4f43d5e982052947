//! The user's choice of lanes for any engine, and the one function that applies it.

use super::{LaneAssignmentMethod, LaneAssignmentRules, common_lanes, spread};
use base::{ComputationError, ProgressWatch, Refusal};
use fabric::network::parse_inline;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The virtual lanes that an engine's routes get where the user names no method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DefaultLaneMethod {
    /// One lane for all routes, whether or not these can deadlock.
    One,
    /// The lanes that the engine assigns itself, if it does and `max_lanes` allows them; otherwise
    /// those of the method `online`.
    Online,
    /// The engine's own lanes: it computes routes that fit within `max_lanes` lanes.
    Own,
}

/// How routes get their lanes: the table `[lanes]`, and the value of the option `lanes` of any
/// engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "LaneChoice")]
pub struct LaneMethodParameters {
    /// The method; that of the engine when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<LaneAssignmentMethod>,
    /// Most data lanes that may be used, 1 to 15 (common hardware has 4 or 8); 8 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 15))]
    pub max_lanes: Option<u8>,
    /// Whether paths are distributed over all `max_lanes` lanes, also where fewer would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance: Option<bool>,
    /// Seed of the edges that the method `random` draws; that of the engine when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// The options of every engine that say how its routes get their lanes.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[schemars(rename = "LaneOptions")]
struct EngineLaneOptions {
    /// How routes get their lanes: a method, also with parameters (`random:seed=1`), or a table of
    /// `method`, `max_lanes`, `balance` and `seed`.
    lanes: Option<String>,
    /// Most data lanes that may be used, 1 to 15 (common hardware has 4 or 8).
    #[schemars(default = "common_lanes")]
    max_lanes: u8,
    /// Whether routes are distributed over all `max_lanes` lanes, also where fewer would do.
    #[schemars(default)]
    balance: bool,
}

/// The schema of the options of every engine: `lanes`, `max_lanes`, `balance`.
pub fn schema() -> Value {
    schemars::schema_for!(EngineLaneOptions).to_value()
}

impl LaneMethodParameters {
    /// Removes the choice of lanes from the options of an engine and returns it: `lanes`, and
    /// `max_lanes` and `balance` beside it or in it. The `seed` beside it stays in the options
    /// where the engine `draws` itself.
    ///
    /// # Errors
    /// When a part is of the wrong type, unknown or given twice, or `max_lanes` is not 1 to 15.
    pub fn take(options: &mut Map<String, Value>, draws: bool) -> Result<Self, Refusal> {
        let spelled = options.remove("lanes").filter(|v| !v.is_null());
        let named = spelled.is_some();
        let mut table = match spelled {
            None => Map::new(),
            Some(Value::String(text)) => inline(&text)?,
            Some(Value::Object(table)) => table,
            Some(other) => {
                let why = format!("{other} is no method");
                return Err(Refusal::new("lanes", why, "a method, or a table with it"));
            }
        };
        for key in ["max_lanes", "balance"] {
            if let Some(beside) = options.remove(key)
                && table.insert(key.to_owned(), beside).is_some()
            {
                return Err(Refusal::new(key, "given twice", "in `lanes`, or beside it"));
            }
        }
        let beside = match (named, draws) {
            (true, false) => options.remove("seed"),
            _ => options.get("seed").filter(|seed| seed.is_u64()).cloned(),
        };
        if let Some(seed) = beside {
            table.entry("seed").or_insert(seed);
        }
        let choice: Self = base::fields::typed(&Value::Object(table)).map_err(|(field, why)| {
            let field = if field == "method" { "lanes".to_owned() } else { field };
            Refusal::new(field, why, "lanes take method, max_lanes, balance, seed")
        })?;
        match choice.max_lanes {
            Some(most) if !(1..=15).contains(&most) => {
                Err(Refusal::new("max_lanes", format!("{most} lanes"), "1 to 15 data lanes"))
            }
            _ => Ok(choice),
        }
    }

    /// The most data lanes.
    pub fn max_lanes(&self) -> u8 {
        self.max_lanes.unwrap_or(common_lanes())
    }

    /// Whether the user asked for a method or for balance, so that lanes are assigned anew whatever
    /// the engine assigned.
    pub fn chosen(&self) -> bool {
        self.method.is_some() || self.balance == Some(true)
    }

    /// The rules by which lanes are assigned, with defaults for what was left out.
    pub fn spread(&self) -> LaneAssignmentRules {
        LaneAssignmentRules {
            method: self.method.unwrap_or_default(),
            max_lanes: self.max_lanes(),
            balance: self.balance.unwrap_or(false),
            seed: self.seed.unwrap_or(0),
        }
    }

    /// Assigns lanes to routes as the user chose; `usual` are the default lanes of their engine.
    ///
    /// # Errors
    /// As [`spread`].
    pub fn give(
        &self,
        routing: Routing,
        usual: DefaultLaneMethod,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let given = || (2..=self.max_lanes()).contains(&routing.lanes().count());
        if !self.chosen() && (usual != DefaultLaneMethod::Online || given()) {
            return Ok(routing);
        }
        spread(routing, &self.spread(), watch)
    }
}

/// A method with its parameters, `random:seed=1`, as a table.
fn inline(text: &str) -> Result<Map<String, Value>, Refusal> {
    let recipe = parse_inline(text).map_err(|r| r.within("lanes"))?;
    let mut table = recipe.params;
    if table.insert("method".to_owned(), recipe.family.into()).is_some() {
        return Err(Refusal::new("lanes", "method is given twice", "METHOD:KEY=VALUE,..."));
    }
    Ok(table)
}
