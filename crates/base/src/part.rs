//! The record of a part of flyloom (a topology, an engine, a pattern and so on), whatever its kind:
//! every row of a table of parts carries it.
//!
//! What a part does is defined by the trait of its kind. Lists, help, completion, documentation and
//! tests need no more than this record.

use crate::Refusal;
use crate::parameters::{check, joined, read_some};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The most structs that can declare the parameters of one part.
const MOST_STRUCTS: usize = 6;

/// A part: the name that selects it, what it is, and the parameters that it takes.
#[derive(Debug, Clone, Copy)]
pub struct PartDescription {
    /// The name users type; unique among the parts of its kind.
    pub name: &'static str,
    /// What the part is, as one plain sentence without its full stop. It is empty where the doc
    /// comment of the parameters says it, see [`PartDescription::about`].
    pub doc: &'static str,
    /// The parameters that name files. Their files go with a point of an experiment to the machine
    /// that runs it.
    pub files: &'static [&'static str],
    schemas: [Option<fn() -> Value>; MOST_STRUCTS],
}

impl PartDescription {
    /// A part without parameters.
    pub const fn new(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, files: &[], schemas: [None; MOST_STRUCTS] }
    }

    /// A part that is described by the comment of its parameters, the struct `T`.
    pub const fn of<T: JsonSchema>(name: &'static str) -> Self {
        Self::new(name, "").takes::<T>()
    }

    /// Adds the parameters of `T` to those that the part has: the fields of `T` with their
    /// documentation and defaults.
    ///
    /// # Panics
    /// When the part would have the parameters of more than `MOST_STRUCTS` structs.
    #[must_use]
    pub const fn takes<T: JsonSchema>(mut self) -> Self {
        let mut free = 0;
        while self.schemas[free].is_some() {
            free += 1;
        }
        self.schemas[free] = Some(|| schemars::schema_for!(T).to_value());
        self
    }

    /// Declares which parameters name files.
    #[must_use]
    pub const fn reads(mut self, files: &'static [&'static str]) -> Self {
        self.files = files;
        self
    }

    /// The description of the part: its sentence, or the doc comment of its parameters with all its
    /// paragraphs.
    pub fn about(&self) -> String {
        if self.doc.is_empty() {
            self.schema()["description"].as_str().unwrap_or_default().to_owned()
        } else {
            self.doc.to_owned()
        }
    }

    /// The JSON schema of the part's parameters, with their documentation; an empty object where it
    /// has none.
    pub fn schema(&self) -> Value {
        let all = self.schemas.iter().flatten().map(|schema| schema());
        all.reduce(joined).unwrap_or_else(|| json!({}))
    }

    /// Whether the part has a parameter of this name.
    pub fn has(&self, parameter: &str) -> bool {
        self.schema()["properties"].get(parameter).is_some()
    }

    /// Checks the names and bounds of `given`, and that every parameter without a default is in it.
    ///
    /// # Errors
    /// The refusal names the parameter, and says what values it takes.
    pub fn check(&self, given: &Map<String, Value>) -> Result<(), Refusal> {
        check(self.name, &self.schema(), given)
    }

    /// Reads the fields of `T`, one of the structs that declare the part's parameters. `given` must
    /// have passed [`PartDescription::check`].
    ///
    /// # Errors
    /// When a parameter is of the wrong type.
    pub fn read<T: DeserializeOwned>(&self, given: &Map<String, Value>) -> Result<T, Refusal> {
        read_some(self.name, &|| self.schema(), given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};

    /// How often a thing happens.
    #[derive(Debug, Deserialize, JsonSchema)]
    #[schemars(rename = "SampleParameters")]
    struct TestPartParameters {
        /// How often.
        #[serde(default)]
        times: u32,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[schemars(rename = "SampleDetails")]
    struct TestDetailParameters {
        /// How many.
        #[schemars(range(min = 1, max = 1_u64 << 40))]
        count: u64,
        #[serde(default)]
        share: TestShareParameter,
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[schemars(rename = "SampleShare")]
    enum TestShareParameter {
        #[default]
        Half,
        Whole,
    }

    #[test]
    fn parameters_of_several_structs_are_those_of_one_part() {
        const BOTH: PartDescription = PartDescription::new("both", "of two structs")
            .takes::<TestPartParameters>()
            .takes::<TestDetailParameters>();
        let schema = BOTH.schema();
        let names = schema["properties"].as_object().expect("a table").keys();
        assert_eq!(names.collect::<Vec<_>>(), ["times", "count", "share"]);
        assert_eq!((&schema["required"], BOTH.has("times")), (&json!(["count"]), true));
        assert!(!BOTH.has("time") && !PartDescription::new("none", "no parameters").has("times"));
        let read = |given: &Value| {
            let given = given.as_object().expect("a table");
            BOTH.check(given)?;
            Ok::<(TestPartParameters, TestDetailParameters), Refusal>((
                BOTH.read(given)?,
                BOTH.read(given)?,
            ))
        };
        let (params, more) = read(&json!({ "share": "whole", "count": 7 })).expect("it can be");
        assert_eq!(
            (params.times, more),
            (0, TestDetailParameters { count: 7, share: TestShareParameter::Whole })
        );
        let all = "both takes times, count, share";
        let count = format!("a whole number from 1 to 1099511627776 ({all})");
        for (given, why) in [
            (json!({}), format!("count: it is not given; {count}")),
            (json!({ "count": 0 }), format!("count: 0 is out of range; {count}")),
            (
                json!({ "count": (1_u64 << 40) + 1 }),
                format!("count: 1099511627777 is out of range; {count}"),
            ),
            (json!({ "count": -1 }), format!("count: -1 is out of range; {count}")),
            (json!({ "count": "x" }), format!("count: 'x' is no whole number; {count}")),
            (json!({ "count": "2000G" }), format!("count: 2000000000000 is out of range; {count}")),
            (
                json!({ "counts": 1 }),
                format!("counts: there is no such parameter; did you mean count? {all}"),
            ),
            (
                json!({ "count": 1, "share": "hole" }),
                format!(
                    "share: there is no 'hole', did you mean whole? only half or whole; half or \
                    whole ({all})"
                ),
            ),
        ] {
            assert_eq!(read(&given).expect_err("it cannot be").to_string(), why);
        }
    }

    #[test]
    fn a_part_tells_its_parameters() {
        const PLAIN: PartDescription = PartDescription::new("plain", "nothing to say");
        const FULL: PartDescription = PartDescription::new("full", "all there is")
            .takes::<TestPartParameters>()
            .reads(&["f"]);
        assert_eq!(PLAIN.schema(), json!({}));
        assert_eq!(FULL.schema()["properties"]["times"]["description"], "How often.");
        assert_eq!((PLAIN.about(), FULL.about()), ("nothing to say".into(), "all there is".into()));
        assert_eq!(
            PartDescription::of::<TestPartParameters>("often").about(),
            "How often a thing happens."
        );
        assert_eq!((FULL.name, FULL.files), ("full", &["f"][..]));
    }
}
