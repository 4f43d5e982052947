//! Terms of a purchase: what is asked for beside a catalogue, a rate and the items of a total.

use super::catalog::Catalog;
use super::protocol::NetworkProtocol;
use base::Refusal;
use serde::Deserialize;

/// What a user asks for of a purchase.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PurchaseTerms {
    /// The catalogue's server that endpoints are in; that of the floor's rules where none is given.
    pub server: Option<String>,
    /// What the network speaks; that of the cheapest switch where nothing is said.
    pub protocol: Option<NetworkProtocol>,
}

impl PurchaseTerms {
    /// The terms that the JSON object `given` has.
    ///
    /// # Errors
    /// When a key is unknown, or its value of another type or out of range.
    pub fn from_value(given: &serde_json::Value) -> Result<Self, Refusal> {
        let terms: Self = base::fields::typed(given).map_err(|(field, why)| {
            let param = if field.is_empty() { "terms" } else { field.as_str() };
            Refusal::new(param, why, "see docs/cost.md")
        })?;
        Ok(terms)
    }

    /// The catalogue under these terms.
    ///
    /// # Errors
    /// When it has no such server, or no switch of the protocol.
    pub fn applied(&self, mut catalog: Catalog) -> Result<Catalog, Refusal> {
        if let Some(id) = &self.server {
            catalog.server(id)?;
        }
        if let Some(protocol) = self.protocol {
            catalog = catalog.speaking(protocol);
            if catalog.switches.is_empty() {
                let why = format!("catalogue {} has no {protocol} switch", catalog.name);
                return Err(Refusal::new("protocol", why, "leave it out, or another catalogue"));
            }
        }
        Ok(catalog)
    }
}
