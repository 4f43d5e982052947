//! The table of models, and the paths of packets: by one of them, or by a proved guide.

use super::guided::{self, Guided};
use super::kind::{Entry, PathRequest, Paths};
use super::order::check_order;
use super::{dally, dfplus, slim_fly};
use crate::event::{Packet, Sender};
use crate::node::Node;
use crate::plant::Plant;
use crate::runs::Runs;
use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// From a row a model of CODES: its file, and its name.
macro_rules! models {
    ($($(#[$doc:meta])* $name:ident: $file:ident, $word:literal;)*) => {
        /// Whose model of routers and endpoints.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Dialect {
            /// Our own: links with latency, buffers at inputs, cut-through.
            #[default]
            #[serde(rename = "physical")]
            Physical,
            $($(#[$doc])* #[serde(rename = $word)] $name,)*
        }

        impl Dialect {
            /// What it takes for granted.
            pub(crate) fn entry(self) -> &'static Entry {
                match self {
                    Self::Physical => &guided::ENTRY,
                    $(Self::$name => &$file::ENTRY,)*
                }
            }
        }

        /// How packets find their paths.
        pub enum Route {
            /// By proved candidates, as the flit level.
            Guided(Guided),
            $($(#[$doc])* $name($file::Route),)*
        }

        impl Route {
            /// The paths of a model of CODES, proved free of deadlock; none of our own.
            ///
            /// # Errors
            /// When the model does not know such a network, or needs more virtual channels.
            pub(crate) fn of_codes(
                dialect: Dialect,
                request: &PathRequest<'_>,
            ) -> Result<Option<Self>, Refusal> {
                let route = match dialect {
                    Dialect::Physical => return Ok(None),
                    $(Dialect::$name => Self::$name($file::Route::new(request)?),)*
                };
                if let Some((first, steps)) = dialect.entry().order {
                    check_order(first, steps, request.plant)?;
                }
                Ok(Some(route))
            }

            /// The port and virtual channel of a packet at a router; what it has decided is kept in
            /// it.
            #[inline]
            pub(crate) fn way(
                &self,
                plant: &Plant,
                packet: &mut Packet,
                sender: Sender,
                node: &mut Node,
                to: &mut impl Runs,
            ) -> (u16, u8) {
                let at = to.me();
                match self {
                    Self::Guided(route) => route.way(plant, packet, sender, node, to),
                    $(Self::$name(route) => route.way(plant, at, packet, node, to),)*
                }
            }

            /// Links of the shortest path between two routers of a plane, where it is known.
            pub(crate) fn length(&self, plant: &Plant, from: u32, to: u32) -> u32 {
                match self {
                    Self::Guided(route) => route.length(from, to),
                    $(Self::$name(route) => route.length(plant, from, to),)*
                }
            }

            /// Whose model they are of.
            #[cfg(test)]
            pub(crate) fn dialect(&self) -> Dialect {
                match self {
                    Self::Guided(_) => Dialect::Physical,
                    $(Self::$name(_) => Dialect::$name,)*
                }
            }
        }
    };
}

models! {
    /// Slim Fly and Fit Fly as CODES has them.
    SlimFly: slim_fly, "codes-slimfly-v1";
    /// Dragonfly as CODES has it.
    Dally: dally, "codes-dally-v1";
    /// Megafly, or dragonfly+, as CODES has it.
    DfPlus: dfplus, "codes-dfplus-v1";
}

impl Dialect {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.entry().name
    }
}

impl Route {
    /// Makes a packet ready for its path, at its endpoint, and returns its first virtual channel.
    #[inline]
    pub(crate) fn enters(
        &self,
        plant: &Plant,
        packet: &mut Packet,
        node: &mut Node,
        to: &mut impl Runs,
    ) -> u8 {
        match self {
            Self::Guided(route) => route.enters(plant, packet, node, to),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_the_name_by_which_it_is_read() {
        for name in ["physical", "codes-slimfly-v1", "codes-dally-v1", "codes-dfplus-v1"] {
            let dialect: Dialect = serde_json::from_value(name.into()).expect("a dialect");
            assert_eq!(dialect.name(), name);
        }
    }
}
