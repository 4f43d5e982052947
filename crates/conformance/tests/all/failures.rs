//! Failures given by name, by number and as a fabric shows them are the same.

use base::{LinkId, SwitchId};
use fabric::network::{FailedComponent, FailureParameters, Topology, lost_in, parse_inline};
use proptest::prelude::*;
use std::collections::BTreeSet;

const NETWORKS: [&str; 4] = [
    "slim_fly:q=5,p=1",
    "torus:shape=4x5",
    "fat_tree:leaves=4,spines=3,parallel=2,p=2",
    "hyperx:shape=3x3,p=1",
];

fn network(inline: &str) -> Topology {
    let recipe = parse_inline(inline).expect("an inline form");
    let family = families::family(&recipe.family).expect("a family");
    family.build(&recipe.params).expect("a member")
}

fn words(text: String) -> FailedComponent {
    FailedComponent::Words(text)
}

proptest! {
    #[test]
    fn words_and_numbers_name_the_same(
        net in prop::sample::select(NETWORKS.to_vec()),
        links in prop::collection::vec(0_usize..1000, 0..6),
        switches in prop::collection::vec(0_usize..1000, 0..3), far in any::<bool>(),
    ) {
        let on = network(net);
        let links: BTreeSet<usize> = links.into_iter().map(|l| l % on.links().len()).collect();
        let switches: BTreeSet<usize> =
            switches.into_iter().map(|s| s % on.switches().len()).collect();
        let by_number = FailureParameters {
            links: links.iter().map(|l| FailedComponent::Number(*l as u32)).collect(),
            switches: switches.iter().map(|s| FailedComponent::Number(*s as u32)).collect(),
            ..FailureParameters::default()
        };
        let by_port = |l: &usize| {
            let end = if far { on.links()[*l].b } else { on.links()[*l].a };
            words(format!("{}:{}", on.switches()[end.switch.ix()].name, end.port))
        };
        let in_words = FailureParameters {
            links: links.iter().map(by_port).collect(),
            switches: switches.iter().map(|s| words(on.switches()[*s].name.clone())).collect(),
            ..FailureParameters::default()
        };
        let ids: (Vec<LinkId>, Vec<SwitchId>) = (
            links.iter().copied().map(LinkId::from).collect(),
            switches.iter().copied().map(SwitchId::from).collect(),
        );
        prop_assert_eq!(by_number.of(&on).expect("there"), ids.clone());
        prop_assert_eq!(in_words.of(&on).expect("there"), ids.clone());
        // the failed parts are the missing ones: also the links of failed switches, which are
        // listed by name
        let damaged = on.with_failures(&ids.0, &ids.1).expect("known ids");
        let dead: Vec<LinkId> = (0..on.links().len())
            .filter(|l| {
                let link = &on.links()[*l];
                let cut = |s: SwitchId| switches.contains(&s.ix());
                links.contains(l) || cut(link.a.switch) || cut(link.b.switch)
            })
            .map(LinkId::from)
            .collect();
        prop_assert_eq!(lost_in(&on, &damaged), (dead, Vec::new()));
        prop_assert_eq!(lost_in(&on, &on), (Vec::new(), Vec::new()));
    }

    #[test]
    fn all_cables_between_two_switches_fail_together(
        net in prop::sample::select(NETWORKS.to_vec()), link in 0_usize..1000,
        turned in any::<bool>(),
    ) {
        let on = network(net);
        let ends = |l: usize| {
            let link = &on.links()[l];
            let mut ends = [link.a.switch, link.b.switch];
            ends.sort();
            ends
        };
        let one = ends(link % on.links().len());
        let names = one.map(|s| on.switches()[s.ix()].name.as_str());
        let text = if turned { names.join(":") } else { [names[1], names[0]].join(":") };
        let failures =
            FailureParameters { links: vec![words(text)], ..FailureParameters::default() };
        let all = (0..on.links().len()).filter(|l| ends(*l) == one).map(LinkId::from).collect();
        prop_assert_eq!(failures.of(&on).expect("there"), (all, Vec::new()));
    }

    #[test]
    fn random_links_come_besides_and_by_their_seed(random in 0_u32..40, seed in any::<u64>()) {
        let on = network("slim_fly:q=5,p=1");
        let links = vec![FailedComponent::Number(7)];
        let named = FailureParameters { links, random, seed, ..FailureParameters::default() };
        let (links, _) = named.of(&on).expect("there are enough");
        prop_assert!(links.contains(&LinkId(7)) && links.is_sorted());
        let unnamed = FailureParameters { links: Vec::new(), ..named.clone() };
        let drawn = unnamed.of(&on).expect("enough").0;
        prop_assert_eq!(drawn.len(), random as usize);
        let both: BTreeSet<LinkId> = drawn.into_iter().chain([LinkId(7)]).collect();
        prop_assert_eq!(both.into_iter().collect::<Vec<_>>(), links);
    }
}

#[test]
fn a_switch_that_is_gone_takes_its_links_along() {
    let whole = network("hyperx:shape=3x3,p=1");
    let part = network("hyperx:shape=3x2,p=1");
    let names = |t: &Topology| t.switches().iter().map(|s| s.name.clone()).collect::<BTreeSet<_>>();
    let (_, switches) = lost_in(&whole, &part);
    let gone: BTreeSet<String> =
        switches.iter().map(|s| whole.switches()[s.ix()].name.clone()).collect();
    assert_eq!(gone, &names(&whole) - &names(&part));
    let (links, _) = lost_in(&whole, &part);
    let left = names(&part);
    for link in links.iter().map(|l| &whole.links()[l.ix()]) {
        let ends = [link.a.switch, link.b.switch].map(|s| &whole.switches()[s.ix()].name);
        assert!(ends.iter().all(|name| left.contains(*name)), "{ends:?}");
    }
}

#[test]
fn parts_that_are_not_there_are_refused_by_name() {
    let on = network("torus:shape=4x4");
    let name = on.switches()[5].name.clone();
    let of = |failures: FailureParameters| failures.of(&on).expect_err("refused").to_string();
    let link = |text: &str| {
        of(FailureParameters {
            links: vec![words(text.to_owned())],
            ..FailureParameters::default()
        })
    };
    assert!(link("nobody:3").contains("there is no switch nobody"));
    assert!(link(&name).contains("SWITCH:SWITCH or SWITCH:PORT"));
    assert!(link(&format!("{name}:{name}")).contains("no working cable"));
    assert!(link(&format!("{name}:99")).contains("no working cable"));
    let switch =
        FailureParameters { switches: vec![words("x".to_owned())], ..FailureParameters::default() };
    assert!(of(switch).contains("there is no switch x; a name such as"));
    assert!(
        of(FailureParameters { random: 33, ..FailureParameters::default() })
            .contains("33 random links of 32")
    );
    assert!(FailureParameters { random: 32, ..FailureParameters::default() }.of(&on).is_ok());
}
