//! The enum of all selections, generated from the list that `gen` writes, and the names that select
//! them.

use super::PathSelection;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Defines [`PathSelection`] from a list of selections, each with its name in code and its file.
macro_rules! selections {
    ($($name:ident: $file:ident;)*) => {
        /// The rule by which a packet chooses its path.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum PathSelection {
            $(#[doc = concat!("That of the file `", stringify!($file), ".rs`.")] $name,)*
        }

        impl PathSelection {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
            /// The names that select them.
            const NAMES: &[&str] = &[$($file::ENTRY.part.name,)*];

            /// What the file of the selection says.
            pub fn entry(self) -> &'static PathSelectionEntry {
                match self {
                    $(Self::$name => &$file::ENTRY,)*
                }
            }

            /// Chooses the path of a packet, see [`kind::ChooseFn`]; a `match` on constants, which
            /// the compiler may inline.
            #[inline]
            fn choose(
                self,
                guide: &DetourGuide,
                here: &mut crate::guide::PacketPosition<'_>,
                home: u32,
                packet: &mut crate::word::PacketHeader<'_>,
            ) -> u16 {
                match self {
                    $(Self::$name => ($file::ENTRY.choose)(guide, here, home, packet),)*
                }
            }
        }
    };
}

impl PathSelection {
    /// The name of the selection in files and flags.
    pub fn name(self) -> &'static str {
        self.entry().part.name
    }
}

impl Serialize for PathSelection {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for PathSelection {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = String::deserialize(from)?;
        let is_meant = |one: &Self| one.name() == word || one.entry().alias == Some(&word);
        let found = Self::ALL.iter().copied().find(is_meant);
        found.ok_or_else(|| D::Error::unknown_variant(&word, Self::NAMES))
    }
}

impl JsonSchema for PathSelection {
    fn schema_name() -> Cow<'static, str> {
        "Selection".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let word = |one: &Self| {
            let part = &one.entry().part;
            json!({ "description": format!("{}.", part.doc), "type": "string", "const": part.name })
        };
        let words: Vec<Value> = Self::ALL.iter().map(word).collect();
        json_schema!({
            "description": "The rule by which a packet chooses its path.", "oneOf": words
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_selection_is_read_by_its_name_and_others_are_refused_with_all() {
        assert!(PathSelection::ALL.len() > 6);
        for selection in PathSelection::ALL {
            let read: PathSelection =
                serde_json::from_value(json!(selection)).expect("a selection");
            assert_eq!(read, *selection);
        }
        let adaptive: PathSelection = serde_json::from_value("adaptive".into()).expect("an alias");
        assert_eq!(adaptive.name(), "ugal_l");
        let why = serde_json::from_value::<PathSelection>("shortest".into()).expect_err("no name");
        assert!(PathSelection::ALL.iter().all(|one| why.to_string().contains(one.name())), "{why}");
    }
}
