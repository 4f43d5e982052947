//! What parts of a network must have in common to be plugged into each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The protocol of a network.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum NetworkProtocol {
    /// InfiniBand.
    Infiniband,
    /// Ethernet.
    Ethernet,
}

impl fmt::Display for NetworkProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Infiniband { "InfiniBand" } else { "Ethernet" })
    }
}

/// What the other parts of a network must fit: its switches.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SwitchFit {
    /// The switch with the most ports.
    pub(super) id: String,
    pub(super) protocol: Option<NetworkProtocol>,
    pub(super) connector: Option<String>,
}

impl fmt::Display for SwitchFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = self.protocol.map_or(String::new(), |p| format!("{p} "));
        write!(f, "{protocol}switches")?;
        if let Some(connector) = &self.connector {
            write!(f, " with {connector} ports")?;
        }
        write!(f, " ({})", self.id)
    }
}

/// Whether a part that says `has` fits where `wanted` is asked for; what says nothing fits all.
pub(super) fn fits<T: PartialEq>(has: Option<&T>, wanted: Option<&T>) -> bool {
    has.is_none() || wanted.is_none() || has == wanted
}

impl SwitchFit {
    /// Whether a part of this protocol and connector fits.
    pub(super) fn takes(
        &self,
        protocol: Option<NetworkProtocol>,
        connector: Option<&String>,
    ) -> bool {
        let form = connector.map(|text| text.to_ascii_lowercase());
        let wanted = self.connector.as_ref().map(|text| text.to_ascii_lowercase());
        fits(protocol.as_ref(), self.protocol.as_ref()) && fits(form.as_ref(), wanted.as_ref())
    }
}
