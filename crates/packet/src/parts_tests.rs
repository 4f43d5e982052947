//! Tests of partitions against cuts of known size, and against cuts by router number.

use super::parts::{divided, links, parts, weights};
use super::plant::{LinkClass, SimulatedNetwork};
use fabric::Topology;
use fabric::network::{Cable, parse_inline};
use paths::wiring::{RouterWiring, rails};

fn built(inline: &str) -> Topology {
    let recipe = parse_inline(inline).expect("it is written so");
    let family = families::family(&recipe.family).expect("there is one");
    family.build(&recipe.params).expect("it can be built")
}

/// The network of an inline form, with links of 1 ns.
fn plant(inline: &str) -> SimulatedNetwork {
    let t = built(inline);
    let wiring = RouterWiring::of(&t, |_: &Cable| 1001).expect("it can be wired");
    let link = || SimulatedNetwork::link(12.5, 65_536, 4096);
    let rails = rails(&t).expect("as many for all");
    SimulatedNetwork::new(&wiring, rails, (2, 1), 4096, [link(), link(), link()], |_, _| {
        LinkClass::Local
    })
}

fn by_number(plant: &SimulatedNetwork, count: u16) -> Vec<u16> {
    let all = u64::from(plant.routers);
    (0..all).map(|r| (r * u64::from(count) / all) as u16).collect()
}

/// The number of links between parts; an endpoint with routers in other parts counts as a link to
/// each.
fn cut(plant: &SimulatedNetwork, of: &[u16]) -> usize {
    let ends = (0..plant.routers).flat_map(|r| plant.all(r).map(move |behind| (r, behind)));
    let between = ends.filter(|(r, b)| b.class != LinkClass::Endpoint && b.lp > *r);
    let routers = between.filter(|(r, b)| of[*r as usize] != of[b.lp as usize]).count();
    let rails = (0..plant.endpoints).flat_map(|e| (1..plant.rails).map(move |rail| (e, rail)));
    let at = |e, rail: u32| of[plant.at(e, rail as u8).router as usize];
    routers + rails.filter(|(e, rail)| at(*e, 0) != at(*e, *rail)).count()
}

/// The work of the heaviest part, minus that of one router, divided by the mean work of all parts.
fn heaviest(plant: &SimulatedNetwork, of: &[u16], count: u16) -> f64 {
    let mut sizes = vec![0; count.into()];
    let mut most = 0;
    for (router, part) in (0..).zip(of) {
        let to_endpoints = plant.all(router).filter(|b| b.class == LinkClass::Endpoint).count();
        let work = plant.ports(router) + to_endpoints;
        sizes[usize::from(*part)] += work;
        most = most.max(work);
    }
    let share = sizes.iter().sum::<usize>() as f64 / f64::from(count);
    (*sizes.iter().max().expect("one") - most) as f64 / share
}

/// Cuts whose smallest size is known: two links of a ring, one row of a mesh, two rows of a torus,
/// and the links along one dimension of a hypercube.
#[test]
fn cuts_that_are_known_are_found() {
    for (inline, least) in [
        ("ring:n=64", 2),
        ("mesh:shape=16x16", 16),
        ("torus:shape=16x16", 32),
        ("hypercube:n=8", 128),
    ] {
        let plant = plant(inline);
        let found = parts(&plant, 2);
        assert_eq!(cut(&plant, &found), least, "{inline}");
        assert!(heaviest(&plant, &found, 2) < 1.02, "{inline}");
    }
}

#[test]
fn parts_are_alike_and_cut_no_more_than_numbers_do() {
    for inline in [
        "slim_fly:q=13,p=9",
        "fit_fly:q=5,p=4",
        "dragonfly:p=4,a=8,h=4",
        "megafly:leaves=8,spines=8,p=8,h=8,g=9",
        "fat_tree:k=8",
        "hyperx:shape=6x6x6,p=6",
        "torus:shape=8x8x8",
    ] {
        let plant = plant(inline);
        for count in [2, 3, 4, 7] {
            let found = parts(&plant, count);
            let (mine, numbers) = (cut(&plant, &found), cut(&plant, &by_number(&plant, count)));
            let heavy = heaviest(&plant, &found, count);
            let even = heaviest(&plant, &by_number(&plant, count), count);
            println!("{inline} {count}: {mine} links, by number {numbers}; {heavy:.3} {even:.3}");
            assert!(heavy < 1.03, "{inline} {count}: {heavy}");
            assert!(mine <= numbers || heavy < even, "{inline} {count}: {mine} of {numbers}");
        }
    }
}

/// Links between groups are longer: groups stay whole, although that cuts more links.
#[test]
fn groups_with_long_links_stay_together() {
    for (inline, count) in [("dragonfly:p=2,a=4,h=2", 2), ("dragonfly:p=4,a=8,h=4", 5)] {
        let (t, plant) = (built(inline), plant(inline));
        let group = |router: u32| t.switches()[router as usize].group;
        let mut links = links(&plant);
        for (a, b, level) in &mut links {
            *level = if group(*a) == group(*b) { 12 } else { 16 };
        }
        let found = divided(&weights(&plant), &links, count);
        for (a, x) in t.switches().iter().zip(&found) {
            for (b, y) in t.switches().iter().zip(&found) {
                assert!(a.group != b.group || x == y, "{inline}: {} {}", a.name, b.name);
            }
        }
        assert!(heaviest(&plant, &found, count) < 1.1, "{inline}");
    }
}

/// With at least as many parts as routers, no part has more than one router.
#[test]
fn there_may_be_more_parts_than_routers() {
    let plant = plant("ring:n=5");
    for count in [5, 6, 40] {
        let mut found = parts(&plant, count);
        assert!(found.iter().all(|part| *part < count));
        found.dedup();
        assert_eq!(found.len(), 5);
    }
}

#[test]
fn networks_in_pieces_are_shared_out() {
    let pieces = [(0, 3, 0), (1, 4, 0), (2, 5, 0), (6, 7, 0)];
    let found = divided(&[1; 8], &pieces, 2);
    assert!(pieces.iter().all(|(a, b, _)| found[*a as usize] == found[*b as usize]), "{found:?}");
    assert_eq!(found.iter().filter(|part| **part == 0).count(), 4);
    assert_eq!(divided(&[], &[], 3), Vec::<u16>::new());
}
