//! Repairs of repaired tables under traffic, one after the other on one fabric.

use crate::repair_traffic::{BufferedFabric, OmittedRepairStep, carry_out};
use base::seed::RandomStream;
use base::{LinkId, QuietWatch, SwitchId};
use engines::ENGINES;
use engines::repair::{RepairedTables, TableChangeSafety, repair};
use fabric::network::parse_inline;
use fabric::tables::Routing;
use families::family;
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;

const NETWORKS: [&str; 12] = [
    "slim_fly:q=4,p=1",
    "torus:shape=4x4,p=1",
    "torus:shape=3x3x2,p=1",
    "torus:shape=6,p=1",
    "mesh:shape=4x4,p=1",
    "dragonfly:h=2",
    "fat_tree:levels=3,k=4",
    "fat_tree:leaves=5,spines=3,parallel=2,p=2",
    "jellyfish:n=14,k=4,p=1,seed=2",
    "hyperx:shape=3x3,p=2",
    "torus:shape=5x3,p=1",
    "hypercube:n=4,p=1",
];

/// The `index`-th of all cases: tables, and successive repairs of them.
fn case(index: u64) -> Option<(String, Routing, Vec<RepairedTables>)> {
    let mut draw = RandomStream::new(17, "repairs in sequence", index);
    let mut any = |n: usize| draw.below(n as u64) as usize;
    let inline = NETWORKS[any(NETWORKS.len())];
    let recipe = parse_inline(inline).expect("an inline form");
    let on = family(&recipe.family).expect("a family").build(&recipe.params).expect("a member");
    let mut on = Arc::new(on);
    let entry = &ENGINES[any(ENGINES.len())];
    let examples = entry.examples();
    let mut options = examples[any(examples.len())].clone();
    if any(2) == 0 {
        options.insert("max_lanes".to_owned(), json!(1 + any(15)));
    }
    let first = entry.route(&options, &on, 1 + any(3) as u32, &QuietWatch).ok()?;
    let mut name = format!("{inline} {} {options:?}", entry.part.name);
    let (mut old, mut all) = (first.clone(), Vec::new());
    for _ in 0..2 + any(3) {
        let links: Vec<_> = (0..=any(6) / 5).map(|_| LinkId::from(any(on.links().len()))).collect();
        let switch = any(on.switches().len() * 12);
        let switches: Vec<_> =
            (switch < on.switches().len()).then(|| SwitchId::from(switch)).into_iter().collect();
        on = Arc::new(on.with_failures(&links, &switches).expect("known ids"));
        let Ok(done) = repair(&old, &on, &QuietWatch) else { break };
        if done.safety == TableChangeSafety::Unknown {
            return None;
        }
        write!(name, "; {links:?} {switches:?} {:?}", done.safety).expect("a string takes all");
        old = done.routing.clone();
        all.push(done);
    }
    (all.len() > 1).then_some((name, first, all))
}

/// Carries out repairs one after the other on buffers of `depth` packets, except for the omitted
/// step. Returns the repair in which packets get stuck, if they do. If `waits` is set, packets
/// prepared before the last change of one repair leave before the next repair begins.
fn stuck_in(
    (seed, depth): (u64, usize),
    first: &Routing,
    repairs: &[RepairedTables],
    (waits, left_out): (bool, OmittedRepairStep),
) -> Option<usize> {
    let traffic = RandomStream::new(18, "traffic", seed * 8 + depth as u64);
    let mut fabric = BufferedFabric::new(first, depth, traffic);
    let pace = 1 + seed % 30;
    repairs
        .iter()
        .position(|one| !carry_out(&mut fabric, one, pace, left_out) || waits && !fabric.wait())
}

/// The repair as documented, with nothing omitted.
const WHOLE: (bool, OmittedRepairStep) = (true, OmittedRepairStep::Nothing);

#[test]
fn campaign_repairs_of_repaired_tables_are_as_safe_as_reported() {
    // all, or with FLYLOOM_CAMPAIGN=2/16 every sixteenth from the second
    let asked = std::env::var("FLYLOOM_CAMPAIGN").ok();
    let part = asked.as_deref().and_then(|part| part.split_once('/'));
    let (from, of) = part.map_or((1, 1), |(from, of)| {
        (from.parse().expect("which part"), of.parse::<u64>().expect("of how many"))
    });
    let count = if asked.is_some() { 10_000 / of } else { 60 };
    let (mut done, mut steps, mut careless) = (0, 0, 0);
    for index in (from..).step_by(of as usize) {
        if done >= count {
            break;
        }
        let Some((name, first, repairs)) = case(index) else { continue };
        steps += repairs.iter().filter(|one| one.safety == TableChangeSafety::InSteps).count();
        for depth in 1..=4 {
            let stuck = stuck_in((index, depth), &first, &repairs, WHOLE);
            assert_eq!(stuck, None, "case {index}, buffers of {depth}: {name}");
            done += 1;
        }
        let nobody_waits = (false, OmittedRepairStep::All);
        careless += usize::from(stuck_in((index, 1), &first, &repairs, nobody_waits).is_some());
    }
    println!("{done} sequences; {steps} of their repairs go in steps; where nobody waits,");
    println!("{careless} of {} get stuck", done / 4);
    assert!(steps > 0 && careless > 0);
}

#[test]
fn packets_of_the_repair_before_can_get_stuck_in_the_next() {
    // the packets that must have left before the next repair begins, according to docs/routing.md
    let (_, first, repairs) = case(150).expect("a case");
    assert!(stuck_in((0, 2), &first, &repairs, (false, OmittedRepairStep::Nothing)).is_some());
    assert_eq!(stuck_in((0, 2), &first, &repairs, WHOLE), None);
}

/// Three links of a torus that fail one after the other, each repaired before the next.
fn three_cuts(max_lanes: u8, (layers, seed): (u32, u64)) -> Option<(Routing, Vec<RepairedTables>)> {
    let recipe = parse_inline("torus:shape=4x4,p=1").expect("an inline form");
    let on = family(&recipe.family).expect("a family").build(&recipe.params).expect("a member");
    let mut on = Arc::new(on);
    let entry = ENGINES.iter().find(|entry| entry.part.name == "fatpaths").expect("an engine");
    let mut options = entry.examples()[0].clone();
    options.insert("max_lanes".to_owned(), json!(max_lanes));
    options.insert("seed".to_owned(), json!(seed));
    let first = entry.route(&options, &on, layers, &QuietWatch).ok()?;
    let (mut old, mut all) = (first.clone(), Vec::new());
    for link in [29_usize, 12, 10] {
        on = Arc::new(on.with_failures(&[LinkId::from(link)], &[]).expect("known ids"));
        let done = repair(&old, &on, &QuietWatch).ok()?;
        old = done.routing.clone();
        all.push(done);
    }
    all.iter().all(|done| done.safety != TableChangeSafety::Unknown).then_some((first, all))
}

#[test]
fn each_part_of_the_steps_is_needed_and_all_together_are_enough() {
    let leave_out = [
        OmittedRepairStep::All,
        OmittedRepairStep::Stops,
        OmittedRepairStep::WaitForLevels,
        OmittedRepairStep::Order,
    ];
    let mut third = leave_out.map(|left_out| (left_out, 0));
    let tables = [(1, 0), (1, 1), (2, 0), (2, 1)];
    for (lanes, of) in [2, 4, 15].into_iter().flat_map(|lanes| tables.map(|of| (lanes, of))) {
        let Some((first, repairs)) = three_cuts(lanes, of) else { continue };
        for traffic in (1..=4).map(|depth| (100 * of.1, depth)) {
            let stuck = stuck_in(traffic, &first, &repairs, WHOLE);
            assert_eq!(stuck, None, "{lanes} lanes, layers and seed {of:?}, traffic {traffic:?}");
            for (left_out, count) in &mut third {
                let stuck = stuck_in(traffic, &first, &repairs, (true, *left_out));
                *count += u32::from(stuck == Some(2));
            }
        }
    }
    println!("stuck in the third repair, by what is left out: {third:?}");
    assert!(third.iter().all(|(_, count)| *count > 0), "{third:?}");
}
