//! Costs of messages as users write them: a preset, and parameters that replace the preset's.

use super::ScheduleDialect;
use super::parameters::LogGopsParameters;
use super::presets::{LogGopsPreset, PRESETS, USUAL, USUAL_V1, preset};
use base::Refusal;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// What messages cost: a preset, and parameters that are given in place of the preset's.
///
/// Source: Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010, section 2.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(non_snake_case, reason = "the model's own letters")]
#[schemars(rename = "CostSpec")]
pub struct MessageCostSpec {
    /// A name of `flyloom list costs`, whose parameters are taken where none is given; by default
    /// `hdr`, in the dialect `loggops-v1` `loggopsim`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Latency of the network, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub L: Option<f64>,
    /// Time of a processor for a message, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub o: Option<f64>,
    /// Time between two messages of an interface, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub g: Option<f64>,
    /// Time of an interface for a byte, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub G: Option<f64>,
    /// Time of a processor for a byte, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub O: Option<f64>,
    /// Largest message, bytes, that is sent before its receive is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub S: Option<u64>,
}

/// Where the costs of a run are from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CostOrigin")]
pub struct MessageCostOrigin {
    /// The preset.
    pub preset: String,
    /// Which systems it stands for.
    pub about: String,
    /// Where its figures are from.
    pub source: String,
    /// The parameters that were given in place of the preset's.
    pub given: Vec<String>,
}

impl From<LogGopsParameters> for MessageCostSpec {
    /// Costs with every parameter set.
    fn from(costs: LogGopsParameters) -> Self {
        let LogGopsParameters { L, o, g, G, O, S } = costs;
        Self {
            preset: None,
            L: Some(L),
            o: Some(o),
            g: Some(g),
            G: Some(G),
            O: Some(O),
            S: Some(S),
        }
    }
}

impl MessageCostSpec {
    /// The preset of a run in this dialect.
    ///
    /// # Errors
    /// When there is no preset of the given name.
    pub fn preset(&self, dialect: ScheduleDialect) -> Result<&'static LogGopsPreset, Refusal> {
        preset(self.preset.as_deref().unwrap_or(match dialect {
            ScheduleDialect::Causal => USUAL,
            ScheduleDialect::LogGopsV1 => USUAL_V1,
        }))
    }

    /// The parameters of a run in this dialect, and where they are from.
    ///
    /// # Errors
    /// When there is no preset of the given name.
    pub fn resolved(
        &self,
        dialect: ScheduleDialect,
    ) -> Result<(LogGopsParameters, MessageCostOrigin), Refusal> {
        let preset = self.preset(dialect)?;
        let usual = preset.parameters;
        let costs = LogGopsParameters {
            L: self.L.unwrap_or(usual.L),
            o: self.o.unwrap_or(usual.o),
            g: self.g.unwrap_or(usual.g),
            G: self.G.unwrap_or(usual.G),
            O: self.O.unwrap_or(usual.O),
            S: self.S.unwrap_or(usual.S),
        };
        let given = [
            ("L", self.L.is_some()),
            ("o", self.o.is_some()),
            ("g", self.g.is_some()),
            ("G", self.G.is_some()),
            ("O", self.O.is_some()),
            ("S", self.S.is_some()),
        ];
        let given = given.iter().filter(|(_, is_given)| *is_given);
        let origin = MessageCostOrigin {
            preset: preset.name.to_owned(),
            about: preset.about.to_owned(),
            source: preset.source.to_owned(),
            given: given.map(|(letter, _)| (*letter).to_owned()).collect(),
        };
        Ok((costs, origin))
    }
}

/// Reads costs that are the name of a preset or a table.
///
/// # Errors
/// When it is neither.
pub(super) fn preset_or_table<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<MessageCostSpec, D::Error> {
    struct MessageCostSpecVisitor;

    impl<'de> Visitor<'de> for MessageCostSpecVisitor {
        type Value = MessageCostSpec;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the name of a preset, or a table of preset, L, o, g, G, O and S")
        }

        fn visit_str<E: Error>(self, name: &str) -> Result<MessageCostSpec, E> {
            Ok(MessageCostSpec { preset: Some(name.to_owned()), ..MessageCostSpec::default() })
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MessageCostSpec, A::Error> {
            MessageCostSpec::deserialize(MapAccessDeserializer::new(map))
        }
    }

    from.deserialize_any(MessageCostSpecVisitor)
}

/// The schema of costs: the name of a preset, or a table.
pub(super) fn preset_or_table_schema(generator: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    schemars::json_schema!({
        "anyOf": [generator.subschema_for::<MessageCostSpec>(), { "type": "string", "enum": names }]
    })
}
