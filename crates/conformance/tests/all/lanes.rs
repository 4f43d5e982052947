//! Every engine with every lane method: the proof holds, and the routes stay the same.

use base::{ComputationError, QuietWatch};
use engines::lanes::{DefaultLaneMethod, LaneAssignmentMethod};
use engines::{ENGINES, EngineEntry, engine};
use fabric::network::{Topology, parse_inline};
use fabric::tables::Routing;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use verify::{RouteLimits, verify};

const NETWORKS: [&str; 7] = [
    "slim_fly:q=3,p=2",
    "torus:shape=4x5",
    "torus:shape=7",
    "hyperx:shape=3x3,p=2",
    "fat_tree:leaves=4,spines=3,parallel=2,p=2",
    "jellyfish:n=14,k=3,p=1,seed=5",
    "dragonfly:h=1",
];

fn network(inline: &str) -> Arc<Topology> {
    let recipe = parse_inline(inline).expect("an inline form");
    let family = families::family(&recipe.family).expect("a family");
    Arc::new(family.build(&recipe.params).expect("a member"))
}

fn routed(
    entry: &EngineEntry,
    options: &Value,
    on: &Arc<Topology>,
    layers: u32,
) -> Result<Routing, String> {
    let mut all = entry.examples().swap_remove(0);
    all.remove("max_lanes");
    all.extend(options.as_object().cloned().unwrap_or_default());
    entry.route(&all, on, layers, &QuietWatch).map_err(|stop| match stop {
        ComputationError::Refused(refusal) => refusal.to_string(),
        stopped @ ComputationError::Interrupted(_) => panic!("{stopped}"),
    })
}

/// Whether a refusal is one of too few lanes.
fn too_few(why: &str) -> bool {
    ["lanes do not make", "need a lane each hop", "16 service levels"]
        .iter()
        .any(|k| why.contains(k))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_engine_meets_any_method(
        net in prop::sample::select(NETWORKS.to_vec()), number in 0..ENGINES.len(),
        method in prop::sample::select(LaneAssignmentMethod::ALL.to_vec()), max_lanes in 1_u8..16,
        balance in any::<bool>(), seed in any::<u64>(), layers in 1_u32..4,
    ) {
        let (on, entry) = (network(net), &ENGINES[number]);
        let lanes = json!({
            "method": method.name(), "max_lanes": max_lanes, "balance": balance, "seed": seed,
        });
        // nue computes other routes for fewer lanes
        let most = if entry.lanes == DefaultLaneMethod::Own { max_lanes } else { 15 };
        let plain = routed(entry, &json!({ "max_lanes": most }), &on, layers);
        match (routed(entry, &json!({ "lanes": lanes }), &on, layers), plain) {
            (Ok(done), Ok(plain)) => {
                prop_assert_eq!(done.next(), plain.next());
                prop_assert_eq!(done.to_switch(), plain.to_switch());
                prop_assert!(done.lanes().count() <= max_lanes);
                prop_assert!(verify(&done, RouteLimits::NONE, &QuietWatch).expect("quiet").holds());
            }
            (Err(why), Ok(_)) => prop_assert!(too_few(&why), "{}", why),
            (Err(why), Err(other)) => prop_assert!(why == other || too_few(&why), "{}", why),
            (Ok(_), Err(why)) => prop_assert!(too_few(&why), "{}", why),
        }
    }

    #[test]
    fn a_limit_alone_changes_no_engine_that_keeps_it(
        net in prop::sample::select(NETWORKS.to_vec()), number in 0..ENGINES.len(),
        layers in 1_u32..4,
    ) {
        let (on, entry) = (network(net), &ENGINES[number]);
        let of = |options| routed(entry, &options, &on, layers);
        let (Ok(usual), Ok(table)) = (of(json!({})), of(json!({ "lanes": { "max_lanes": 8 } })))
        else { return Ok(()) };
        prop_assert_eq!(usual.lanes(), table.lanes());
        prop_assert_eq!(usual.next(), table.next());
        let one_lane = entry.lanes == DefaultLaneMethod::One;
        prop_assert!(!one_lane || usual.lanes().count() == 1);
        let verdicts = verify(&usual, RouteLimits::NONE, &QuietWatch).expect("quiet");
        prop_assert!(one_lane || verdicts.holds());
    }
}

#[test]
fn lanes_are_spelled_alike_everywhere() {
    let on = network("torus:shape=4x5");
    let of = |name: &str, options: &Value| routed(engine(name).expect("ours"), options, &on, 1);
    let table = json!({ "method": "random", "seed": 3, "max_lanes": 6, "balance": true });
    for name in ["min_hop", "dfsssp", "ecmp", "up_down"] {
        let spelled = of(name, &json!({ "lanes": table })).expect("routed");
        assert_eq!(spelled.lanes().count(), 6, "{name}");
        for same in [
            json!({ "lanes": "random:seed=3,max_lanes=6,balance=true" }),
            json!({ "lanes": { "method": "random", "seed": 3 }, "max_lanes": 6, "balance": true }),
        ] {
            assert_eq!(of(name, &same).expect("routed").lanes(), spelled.lanes(), "{name} {same}");
        }
    }
    for (options, why) in [
        (json!({ "lanes": "fish" }), "lanes: there is no 'fish', only online, lightest"),
        (json!({ "lanes": 3 }), "lanes: 3 is no method"),
        (json!({ "lanes": "hops:max_lanes=3", "max_lanes": 4 }), "max_lanes: given twice"),
        (json!({ "lanes": { "most": 3 } }), "unknown field `most`"),
        (json!({ "max_lanes": 16 }), "max_lanes: 16 lanes; 1 to 15"),
        (json!({ "max_lanes": 0 }), "max_lanes: 0 lanes; 1 to 15"),
        (json!({ "lanes": "hops:method=online" }), "method is given twice"),
    ] {
        let refused = of("min_hop", &options).expect_err("refused");
        assert!(refused.starts_with("min_hop: ") && refused.contains(why), "{refused}");
    }
}

#[test]
fn a_seed_beside_is_that_of_random_edges_too() {
    // this network has enough cycles that two seeds break them at different edges
    let on = network("jellyfish:n=30,k=3,p=2,seed=8");
    let of = |name: &str, options: &Value| {
        routed(engine(name).expect("ours"), options, &on, 1).expect("routed")
    };
    for name in ["sssp", "ecmp"] {
        let with = |seed: u64, of_lanes: u64| {
            let lanes = json!({ "method": "random", "max_lanes": 15, "seed": of_lanes });
            let given = if name == "ecmp" {
                json!({ "seed": seed, "lanes": lanes })
            } else {
                json!({ "lanes": lanes })
            };
            of(name, &given)
        };
        let beside = of(name, &json!({ "lanes": "random", "max_lanes": 15, "seed": 4 }));
        assert_eq!(beside.lanes(), with(4, 4).lanes(), "{name}");
        assert_ne!(beside.lanes(), with(4, 5).lanes(), "{name}");
    }
}
