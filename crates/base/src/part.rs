//! The record of a part of flyloom (a topology, an engine, a pattern and so on), whatever its kind:
//! every row of a table of parts carries it.
//!
//! What a part does is defined by the trait of its kind. Lists, help, completion, documentation and
//! tests need no more than this record.

use schemars::JsonSchema;
use serde_json::{Value, json};

/// A part: the name that selects it, what it is, and the parameters that it takes.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// The name users type; unique among the parts of its kind.
    pub name: &'static str,
    /// What it is, one plain sentence without its full stop; empty where the comment of its
    /// parameters says it, see [`Part::about`].
    pub doc: &'static str,
    /// The publication that it is from; empty where there is none.
    pub source: &'static str,
    /// The parameters that name files. These files travel with a point of an experiment.
    pub files: &'static [&'static str],
    schema: fn() -> Value,
}

impl Part {
    /// A part without parameters.
    pub const fn new(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, source: "", files: &[], schema: || json!({}) }
    }

    /// A part that is described by the comment of its parameters, the struct `T`.
    pub const fn of<T: JsonSchema>(name: &'static str) -> Self {
        Self::new(name, "").takes::<T>()
    }

    /// Adds the parameters: the fields of `T` with their documentation and defaults.
    #[must_use]
    pub const fn takes<T: JsonSchema>(mut self) -> Self {
        self.schema = || schemars::schema_for!(T).to_value();
        self
    }

    /// Adds the publication that the part is from.
    #[must_use]
    pub const fn published(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    /// Declares which parameters name files.
    #[must_use]
    pub const fn reads(mut self, files: &'static [&'static str]) -> Self {
        self.files = files;
        self
    }

    /// What it is: its sentence, or the comment of its parameters with all its paragraphs.
    pub fn about(&self) -> String {
        if self.doc.is_empty() {
            self.schema()["description"].as_str().unwrap_or_default().to_owned()
        } else {
            self.doc.to_owned()
        }
    }

    /// The JSON schema of its parameters, with their documentation; an empty object where it takes
    /// none.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a thing happens.
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Params {
        /// How often.
        #[serde(default)]
        times: u32,
    }

    #[test]
    fn a_part_tells_its_parameters() {
        const PLAIN: Part = Part::new("plain", "nothing to say");
        const FULL: Part =
            Part::new("full", "all there is").takes::<Params>().published("A paper").reads(&["f"]);
        assert_eq!(PLAIN.schema(), json!({}));
        assert_eq!(FULL.schema()["properties"]["times"]["description"], "How often.");
        assert_eq!((PLAIN.about(), FULL.about()), ("nothing to say".into(), "all there is".into()));
        assert_eq!(Part::of::<Params>("often").about(), "How often a thing happens.");
        assert_eq!((FULL.name, FULL.source, FULL.files), ("full", "A paper", &["f"][..]));
    }
}
