//! Tests of fat trees.

use super::*;
use crate::kept::broken_promises;
use fabric::network::{PortPeer, Topology};
use proptest::prelude::*;

fn parse(text: &str) -> FatTree {
    let recipe = fabric::network::parse_inline(text).expect("an inline form");
    serde_json::from_value(recipe.params.into()).expect("parameters of a fat tree")
}

fn built(member: &FatTree) -> Topology {
    let built = member.build().expect("a member").finish(recipe(member));
    built.expect("a valid network")
}

fn checked(text: &str) -> (FamilyPromise, Topology) {
    let (promise, t) = (parse(text).promise().expect("a member"), built(&parse(text)));
    assert_eq!(broken_promises(&promise, &t), Vec::<String>::new(), "{text}");
    (promise, t)
}

/// Al-Fares et al.: k^3/4 endpoints, 5 k^2/4 switches; k^3/2 links between switches.
#[test]
fn three_levels_are_those_of_the_paper() {
    for k in (2..=64_u64).step_by(2) {
        let promise = parse(&format!("fat_tree:levels=3,k={k}")).promise().expect("a member");
        assert_eq!(promise.endpoints, k * k * k / 4);
        assert_eq!(promise.switches, 5 * k * k / 4);
        assert_eq!(promise.links, k * k * k / 2);
        assert_eq!(promise.network_radix, k as u32);
    }
    let (promise, t) = checked("fat_tree:levels=3,k=8");
    assert_eq!((t.switches().len(), t.links().len()), (80, 256));
    let PromisedValue::Exact(mean) = promise.mean_distance else { panic!("not exact") };
    assert_eq!(mean.num * 31, mean.den * 118);
    assert!(t.switches().iter().all(|s| s.ports == 8));
    assert_eq!(t.radix(), 8);
}

/// The number of shortest paths between edge switches, counted level by level: k/2 in a pod,
/// (k/2)^2 between pods.
#[test]
fn every_core_is_on_a_shortest_path_between_pods() {
    let (_, t) = checked("fat_tree:levels=3,k=6");
    let g = t.graph();
    let dist = g.distances_from(0);
    let mut order: Vec<usize> = (0..g.switches()).collect();
    order.sort_by_key(|&v| dist[v]);
    let mut paths = vec![0; g.switches()];
    paths[0] = 1;
    for v in order {
        for &w in g.neighbours(v) {
            if dist[w as usize] == dist[v] + 1 {
                paths[w as usize] += paths[v];
            }
        }
    }
    for (v, s) in t.switches().iter().enumerate().skip(1).filter(|(_, s)| s.level == 0) {
        assert_eq!(paths[v], if s.group == 0 { 3 } else { 9 }, "{}", s.name);
    }
}

/// Port P + 1 of core (j, c) leads to switch j of pod P, to its up-link number c.
#[test]
fn cores_are_cabled_by_pod_and_serve_one_switch_of_each() {
    let (_, t) = checked("fat_tree:levels=3,k=6,oversubscription=2");
    let cores = t.switches().iter().enumerate().filter(|(_, s)| s.level == 2);
    for (id, core) in cores.clone() {
        for pod in 0..6_u16 {
            let PortPeer::Switch(c) = t.peer(SwitchId::from(id), pod + 1) else {
                panic!("port {} of {} is empty", pod + 1, core.name);
            };
            let below = &t.switches()[t.head(c).switch.ix()];
            assert_eq!(below.coordinates, [1, u32::from(pod), core.coordinates[1]]);
            assert_eq!(u32::from(t.head(c).port), 3 + core.coordinates[2] + 1);
        }
    }
    assert_eq!(cores.count(), 2 * 3);
}

/// The 2048-node tree of the deployed Slim Fly's cost table: 36-port switches, 303 of them (114
/// leaves, 7 pods of 18, 63 cores), 4,320 links.
#[test]
fn fewer_pods_are_those_of_the_published_cost_table() {
    let (promise, t) = checked("fat_tree:levels=3,k=36,leaves=114");
    assert_eq!((promise.switches, promise.endpoints, promise.links), (303, 2052, 4320));
    let on = |level| t.switches().iter().filter(|s| s.level == level).count();
    assert_eq!([on(0), on(1), on(2)], [114, 7 * 18, 63]);
    for core in 303 - 63..303 {
        let mut pods = [0; 7];
        for &spine in t.graph().neighbours(core) {
            pods[t.switches()[spine as usize].group as usize] += 1;
        }
        // the 324 up-links of a pod are spread over 63 cores
        assert!(pods.iter().all(|&links| links == 5 || links == 6), "{pods:?}");
        assert_eq!(pods.iter().sum::<u32>(), 36);
    }
    let full = |text: &str| parse(text).build().expect("a member").finish(recipe(&parse(text)));
    let [all, named] = ["fat_tree:levels=3,k=8", "fat_tree:levels=3,k=8,pods=8"].map(full);
    assert_eq!(all.expect("valid").links(), named.expect("valid").links());
}

/// The rival of the deployed Slim Fly cluster: 36-port switches, 216 endpoints.
#[test]
fn the_deployed_tree_has_parallel_links_side_by_side() {
    for text in ["fat_tree:leaves=12,spines=6,parallel=3,p=18", "fat_tree:k=36,parallel=3"] {
        let (promise, t) = checked(text);
        assert_eq!((promise.switches, promise.endpoints, promise.links), (18, 216, 216));
        for leaf in 0..12 {
            for port in 19..=36_u16 {
                let PortPeer::Switch(c) = t.peer(SwitchId(leaf), port) else {
                    panic!("port {port} of leaf {leaf} is empty");
                };
                let head = t.head(c);
                assert_eq!(head.switch.0, 12 + u32::from(port - 19) / 3);
                assert_eq!(u32::from(head.port - 1) / 3, leaf);
            }
        }
    }
}

/// A ratio of r:1 with k ports: r k/(r+1) ports down, k/(r+1) ports up, k/(r+1) spines, k
/// leaves.
#[test]
fn oversubscription_keeps_the_ports_and_moves_the_split() {
    for (k, r) in [(36, 1), (36, 2), (36, 3), (40, 4), (12, 11)] {
        let text = format!("fat_tree:k={k},oversubscription={r}");
        let (promise, t) = checked(&text);
        assert_eq!(promise.endpoints, k * (r * k / (r + 1)));
        assert_eq!(promise.switches, k + k / (r + 1));
        assert_eq!(u64::from(t.radix()), k, "{text}");
    }
    let (_, t) = checked("fat_tree:levels=3,k=6,oversubscription=2");
    for s in 0..t.switches().len() {
        let (level, up) = (t.switches()[s].level, t.graph().degree(s));
        assert_eq!(up, [2, 6, 6][level as usize]);
    }
    assert_eq!((t.concentration(), t.radix()), (4, 6));
    checked("fat_tree:levels=3,k=6,p=1");
    checked("fat_tree:k=36,oversubscription=2,p=20");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn trees_of_two_levels_keep_their_promise(
        leaves in 1_u32..12, spines in 1_u32..8, parallel in 1_u32..4, p in 1_u32..6,
    ) {
        let text =
            format!("fat_tree:leaves={leaves},spines={spines},parallel={parallel},p={p}");
        let (_, t) = checked(&text);
        for leaf in 0..leaves as usize {
            for spine in leaves..leaves + spines {
                let links = t.graph().neighbours(leaf).iter().filter(|&&w| w == spine);
                prop_assert_eq!(links.count(), parallel as usize);
            }
        }
    }

    #[test]
    fn trees_of_three_levels_keep_their_promise(
        half in 1_u32..6, r in 1_u32..6, parallel in 1_u32..4,
    ) {
        let k = 2 * half;
        let text =
            format!("fat_tree:levels=3,k={k},oversubscription={r},parallel={parallel}");
        let exists = k % (r + 1) == 0
            && (k / (r + 1)).is_multiple_of(parallel)
            && half.is_multiple_of(parallel);
        if exists {
            let (_, t) = checked(&text);
            prop_assert!(t.radix() <= k);
        } else {
            prop_assert!(parse(&text).promise().is_err());
            prop_assert!(parse(&text).build().is_err());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn trees_of_fewer_leaves_keep_their_promise_and_spread_over_the_cores(
        half in 1_u32..6, part in 0_u32..1000, r in 1_u32..4,
    ) {
        let k = 2 * half;
        prop_assume!(k % (r + 1) == 0);
        let leaves = half + 1 + part % (k * half - half);
        let text = format!("fat_tree:levels=3,k={k},leaves={leaves},oversubscription={r}");
        let (promise, t) = checked(&text);
        prop_assert_eq!(promise.edge_switches, u64::from(leaves));
        prop_assert!(t.radix() <= k);
        let pods = leaves.div_ceil(half);
        let up = pods * (k / (r + 1)) * half;
        let cores: Vec<usize> =
            (0..t.switches().len()).filter(|&s| t.switches()[s].level == 2).collect();
        prop_assert_eq!(cores.len() as u32, up.div_ceil(k), "no core more than needed");
        for core in cores {
            let links = t.graph().degree(core) as u32;
            prop_assert!(links <= k && links >= k / 2);
            let below = |&spine: &u32| t.switches()[spine as usize].group;
            let reached: std::collections::BTreeSet<u32> =
                t.graph().neighbours(core).iter().map(below).collect();
            prop_assert_eq!(reached.len() as u32, pods);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_numbers_give_a_promise_or_a_refusal(
        levels in prop_oneof![Just(2), Just(3)],
        numbers in prop::collection::vec(
            prop::option::of(prop_oneof![any::<u32>(), 0_u32..40, Just(36)]), 7,
        ),
    ) {
        let [leaves, spines, parallel, p, k, pods, oversubscription] = numbers[..] else {
            panic!("seven numbers");
        };
        let levels = Some(levels);
        let tree = FatTree { levels, leaves, spines, parallel, p, k, pods, oversubscription };
        if let Ok(promise) = tree.promise() {
            prop_assert!(promise.switches > 0 && promise.endpoints > 0 && promise.links > 0);
            let t = tree.tree().expect("promised");
            let leaf = t.p + t.spines * t.parallel;
            prop_assert!(k.is_none_or(|k| leaf <= k && promise.network_radix <= k));
            prop_assert!(p.is_none_or(|p| p == t.p));
        }
    }
}

#[test]
fn impossible_trees_are_refused_by_promise_and_build_alike() {
    let cases = [
        ("fat_tree:levels=4,k=8", "levels", "2 or 3"),
        ("fat_tree:levels=3", "k", "three levels need k"),
        ("fat_tree:levels=3,k=7", "k", "nearest: 6, 8"),
        ("fat_tree:levels=3,k=8,spines=3", "spines", "k gives their number"),
        ("fat_tree:levels=3,k=8,leaves=4", "leaves", "5 to 32"),
        ("fat_tree:levels=3,k=8,leaves=33", "leaves", "5 to 32"),
        ("fat_tree:levels=3,k=8,pods=1", "pods", "2 to 8"),
        ("fat_tree:levels=3,k=8,pods=9", "pods", "2 to 8"),
        ("fat_tree:levels=3,k=8,pods=3,leaves=9", "pods", "give pods or leaves"),
        ("fat_tree:k=8,pods=3", "pods", "one pod"),
        ("fat_tree:levels=3,k=8,p=5", "p", "1 to 4"),
        ("fat_tree:levels=3,k=8,parallel=3", "parallel", "a divisor of 4"),
        ("fat_tree:k=36,oversubscription=4", "oversubscription", "1:1, 2:1, 3:1, 5:1"),
        ("fat_tree:k=7", "k", "6:1"),
        ("fat_tree:k=1", "k", "2 to 4096"),
        ("fat_tree:k=36,parallel=4", "parallel", "a divisor of 18"),
        ("fat_tree:k=8,spines=8", "spines", "one for an endpoint"),
        ("fat_tree:k=8,leaves=9", "leaves", "8"),
        ("fat_tree:k=8,spines=4,oversubscription=3", "p", "a leaf has 8 ports"),
        ("fat_tree:leaves=4", "spines", "or k"),
        ("fat_tree:spines=4", "leaves", "or k"),
        ("fat_tree:leaves=0,spines=4", "leaves", "1 to"),
        ("fat_tree:leaves=4,spines=0", "spines", "1 to"),
        ("fat_tree:leaves=4,spines=4,parallel=0", "parallel", "1 to"),
        ("fat_tree:leaves=4,spines=4,p=0", "p", "1 to"),
        ("fat_tree:leaves=4,spines=4,p=4,oversubscription=2", "oversubscription", "give p or"),
        ("fat_tree:leaves=4,spines=4,oversubscription=0", "oversubscription", "1 to"),
        ("fat_tree:leaves=65534,spines=65534,parallel=4096", "leaves", "65534"),
        ("fat_tree:leaves=4,spines=60000", "p", "give p"),
    ];
    for (text, param, help) in cases {
        let refusal = parse(text).promise().expect_err(text);
        assert_eq!(refusal.param, param, "{text}: {refusal}");
        assert!(refusal.help.contains(help), "{text}: {refusal}");
        assert_eq!(parse(text).build().expect_err(text), refusal);
    }
}
