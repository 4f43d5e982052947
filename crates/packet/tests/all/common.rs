//! What tests of simulators have in common.

use fabric::Topology;
use fabric::network::parse_inline;
use std::sync::Arc;

/// The network of an inline form.
pub(crate) fn built(inline: &str) -> Arc<Topology> {
    let recipe = parse_inline(inline).expect("it is written so");
    let family = families::family(&recipe.family).expect("there is one");
    Arc::new(family.build(&recipe.params).expect("it can be built"))
}
