//! The enums of all models, generated from the list that `gen` writes: the names that select them,
//! and their paths or those of a proved guide.

use super::SimulatorDialect;
use base::part::PartDescription;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Defines [`SimulatorDialect`] and [`PacketPathMethod`](super::PacketPathMethod) from a list of
/// models, each with its name in code, its file, and the type of its paths. Methods select the
/// model by a `match` rather than by a function pointer, because paths are the innermost loop.
macro_rules! models {
    ($($name:ident: $file:ident::$paths:ident;)*) => {
        /// The program whose model of switches and endpoints is simulated.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub enum SimulatorDialect {
            /// Our own.
            #[default]
            Physical,
            $(#[doc = concat!("That of the file `", stringify!($file), ".rs`.")] $name,)*
        }

        impl SimulatorDialect {
            /// All of them, our own first.
            pub const ALL: &[Self] = &[Self::Physical, $(Self::$name,)*];
            /// The words that ask for them.
            const NAMES: &[&str] = &[guided::PHYSICAL.part.name, $($file::ENTRY.part.name,)*];

            /// The defaults of the dialect.
            pub(crate) fn entry(self) -> &'static kind::ModelDefaults {
                match self {
                    Self::Physical => &guided::PHYSICAL,
                    $(Self::$name => &$file::ENTRY,)*
                }
            }
        }

        /// The method by which packets find their paths.
        pub enum PacketPathMethod {
            /// Paths over proved candidates, as at the flit level.
            Guided(RoutingGuidePaths),
            $(#[doc = concat!("As the file `", stringify!($file), ".rs` has it.")]
            $name($file::$paths),)*
        }

        impl PacketPathMethod {
            /// The paths of a dialect that has its own model, proved free of deadlock; none for
            /// flyloom's own dialect, which uses a guide.
            ///
            /// # Errors
            /// When the model does not support the network, or needs more virtual channels.
            pub(crate) fn of_model(
                dialect: SimulatorDialect,
                request: &kind::ModelPathInputs<'_>,
            ) -> Result<Option<Self>, base::Refusal> {
                let route = match dialect {
                    SimulatorDialect::Physical => return Ok(None),
                    $(SimulatorDialect::$name => {
                        Self::$name(<$file::$paths as kind::PacketPaths>::new(request)?)
                    })*
                };
                if let Some((first, steps)) = dialect.entry().order {
                    order::check_order(first, steps, request.plant)?;
                }
                Ok(Some(route))
            }

            /// Makes a packet ready for its path, at its endpoint, and returns its first virtual
            /// channel.
            #[inline]
            pub(crate) fn enters(
                &self,
                plant: &$crate::plant::SimulatedNetwork,
                packet: &mut $crate::event::PacketChunk,
                node: &mut $crate::node::NodePorts,
                to: &mut impl $crate::runs::EventHandlerContext,
            ) -> u8 {
                match self {
                    Self::Guided(route) => route.enters(plant, packet, node, to),
                    _ => 0,
                }
            }

            /// The port and virtual channel of a packet at a router; decisions about its path are
            /// stored in the packet.
            #[inline]
            pub(crate) fn next_hop(
                &self,
                plant: &$crate::plant::SimulatedNetwork,
                packet: &mut $crate::event::PacketChunk,
                sender: $crate::event::ChunkSender,
                node: &mut $crate::node::NodePorts,
                to: &mut impl $crate::runs::EventHandlerContext,
            ) -> (u16, u8) {
                let at = to.me();
                match self {
                    Self::Guided(route) => route.next_hop(plant, packet, sender, node, to),
                    $(Self::$name(route) => {
                        kind::PacketPaths::next_hop(route, plant, at, packet, node, to)
                    })*
                }
            }

            /// Links of the shortest path between two routers of a plane; 0 if it is not known.
            pub(crate) fn length(
                &self,
                plant: &$crate::plant::SimulatedNetwork,
                from: u32,
                to: u32,
            ) -> u32 {
                match self {
                    Self::Guided(route) => route.length(from, to),
                    $(Self::$name(route) => kind::PacketPaths::length(route, plant, from, to),)*
                }
            }

            /// The dialect that these paths belong to.
            #[cfg(test)]
            pub(crate) fn dialect(&self) -> SimulatorDialect {
                match self {
                    Self::Guided(_) => SimulatorDialect::Physical,
                    $(Self::$name(_) => SimulatorDialect::$name,)*
                }
            }

            /// The direction of a channel to another router.
            #[cfg(test)]
            pub(crate) fn leads(
                &self,
                router: u32,
                class: $crate::plant::LinkClass,
            ) -> order::ChannelDirection {
                match self {
                    Self::Guided(_) => order::ChannelDirection::On,
                    $(Self::$name(route) => kind::PacketPaths::leads(route, router, class),)*
                }
            }
        }
    };
}

impl SimulatorDialect {
    /// The name that selects the dialect, and its description.
    pub fn part(self) -> &'static PartDescription {
        &self.entry().part
    }

    /// The name that selects the dialect.
    pub fn name(self) -> &'static str {
        self.part().name
    }

    /// Small networks that it supports, in the inline form; empty if it supports every network.
    pub fn networks(self) -> &'static [&'static str] {
        self.entry().networks
    }
}

impl Serialize for SimulatorDialect {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for SimulatorDialect {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = String::deserialize(from)?;
        let found = Self::ALL.iter().copied().find(|one| one.name() == word);
        found.ok_or_else(|| D::Error::unknown_variant(&word, Self::NAMES))
    }
}

impl JsonSchema for SimulatorDialect {
    fn schema_name() -> Cow<'static, str> {
        "Dialect".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let word = |one: &Self| {
            let part = one.part();
            json!({ "description": format!("{}.", part.doc), "type": "string", "const": part.name })
        };
        let words: Vec<Value> = Self::ALL.iter().map(word).collect();
        json_schema!({ "description": "Whose model of switches and endpoints.", "oneOf": words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_asked_for_by_its_word_and_others_are_refused_with_all() {
        assert!(SimulatorDialect::ALL.len() > 3);
        for dialect in SimulatorDialect::ALL {
            let read: SimulatorDialect =
                serde_json::from_value(dialect.name().into()).expect("a dialect");
            assert_eq!(read, *dialect);
            assert_eq!(json!(dialect), dialect.name());
        }
        let why =
            serde_json::from_value::<SimulatorDialect>("codes".into()).expect_err("no dialect");
        assert!(
            SimulatorDialect::ALL.iter().all(|one| why.to_string().contains(one.name())),
            "{why}"
        );
    }
}
