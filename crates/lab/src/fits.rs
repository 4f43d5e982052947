//! Whether a simulator can run on a network, found before anything is run.

use base::stage::parameters;
use base::{ComputationError, ProgressWatch, Refusal};
use fabric::Topology;
use packet::case::UserSuppliedTraffic;
use paths::PathSource;
use paths::loads::SimulationLoads;
use serde_json::{Map, Value};
use std::sync::Arc;
use traffic::destinations::PacketDestinations;

/// Checks the lanes of a simulator on a network, the proof of its paths, and its loads; the message
/// level has none of these.
///
/// # Errors
/// The refusal that a run with these parameters would end with, or `watch` says stop.
pub fn simulation(
    level: &str,
    given: &Map<String, Value>,
    on: &Arc<Topology>,
    watch: &dyn ProgressWatch,
) -> Result<(), ComputationError> {
    let source = PathSource::Network(on.clone());
    match level {
        "flit" => {
            let spec = parameters::<flit::spec::FlitSimulationParameters>(given)?;
            let case = flit::case::PreparedFlitSimulation::new(source, &spec, None, watch)?;
            match &spec.load {
                SimulationLoads::At(loads) => {
                    Ok(loads.iter().try_for_each(|&load| case.check(load))?)
                }
                SimulationLoads::Auto => Ok(()),
            }
        }
        "packet" => {
            let spec = parameters::<packet::spec::PacketSimulationParameters>(given)?;
            packet::case::PreparedPacketSimulation::new(
                source,
                &spec,
                UserSuppliedTraffic::default(),
                watch,
            )
            .map(drop)
        }
        _ => Ok(()),
    }
}

/// Checks that a network has the traffic of this name, as `seed` draws it.
///
/// # Errors
/// When the network has no such traffic, or `watch` says stop.
pub fn traffic(
    name: &str,
    on: &Topology,
    seed: u64,
    watch: &dyn ProgressWatch,
) -> Result<(), ComputationError> {
    let within = |stop: ComputationError| match stop {
        ComputationError::Refused(r) if r.param.is_empty() => {
            ComputationError::Refused(Refusal { param: "traffic".to_owned(), ..r })
        }
        other => other,
    };
    PacketDestinations::named(on, name, seed, watch).map(drop).map_err(within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::network::parse_inline;
    use serde_json::json;

    fn refused(level: &str, given: &Value) -> Option<String> {
        let recipe = parse_inline("fat_tree:levels=3,k=4").expect("a form");
        let family = families::family(&recipe.family).expect("a family");
        let on = Arc::new(family.build(&recipe.params).expect("a network"));
        let given = given.as_object().expect("a table");
        match simulation(level, given, &on, &base::QuietWatch) {
            Ok(()) => None,
            Err(ComputationError::Refused(refused)) => Some(refused.to_string()),
            Err(ComputationError::Interrupted(_)) => panic!("nobody stops it"),
        }
    }

    #[test]
    fn detours_need_the_lanes_of_twice_the_longest_path() {
        // edge to edge over the core is 4 links, with a detour 8: a class of lanes for each
        for level in ["flit", "packet"] {
            let few = json!({ "selection": "ugal_l", "switch": { "virtual_channels": 4 } });
            let said = refused(level, &few).expect("four are not enough");
            assert!(said.contains("at least 8"), "{said}");
            let many = json!({ "selection": "ugal_l", "switch": { "virtual_channels": 8 } });
            assert_eq!(refused(level, &many), None);
        }
        let fast = json!({ "load": 1.5, "switch": { "virtual_channels": 4 } });
        assert!(refused("flit", &fast).expect("one rail").contains("1.5"));
    }
}
