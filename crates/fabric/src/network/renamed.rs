//! The same network with other names for its switches and endpoints.

use super::Topology;
use std::sync::OnceLock;

impl Topology {
    /// This network with these names: those of the switches first, then those of the endpoints.
    ///
    /// # Panics
    /// When the number of names is not the number of switches and endpoints.
    #[must_use]
    pub fn renamed(&self, names: Vec<String>) -> Self {
        let mut renamed = self.clone();
        assert_eq!(names.len(), renamed.switches.len() + renamed.endpoints.len(), "a name each");
        let switches = renamed.switches.iter_mut().map(|s| &mut s.name);
        let endpoints = renamed.endpoints.iter_mut().map(|e| &mut e.name);
        for (name, new) in switches.chain(endpoints).zip(names) {
            *name = new;
        }
        renamed.digest = OnceLock::new();
        renamed
    }
}
