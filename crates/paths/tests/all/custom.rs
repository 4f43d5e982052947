//! Tests of selections of the user's: whatever their score, they take only hops that the proved
//! scheme offers; and a selection written like a built-in one chooses as that does.

use crate::common::built;
use crate::select::{NETS, UnequalQueues, follow};
use base::QuietWatch;
use base::seed::FastRandomStream;
use fabric::tables::candidates::{
    LaneClasses, MinimalAdaptiveRouting, ProgressiveAdaptiveRouting, RouteLegScheme,
    ValiantDetourRouting,
};
use paths::guide::{PacketPosition, RoutingGuide};
use paths::select::{
    CompiledCustomSelection, DetourGuide, PathSelection, PathSelectionParameters,
    PathSelectionSpec, QUANTITIES,
};
use paths::wiring::RouterWiring;
use paths::word::{FlitLayout, PacketHeader};
use std::sync::Arc;
use verify::VerifiedRouting;

fn scored(text: &str) -> Arc<CompiledCustomSelection> {
    let selection = PathSelectionSpec::parse(text).unwrap_or_else(|refused| panic!("{refused}"));
    selection.custom().unwrap_or_else(|| panic!("{text}")).clone()
}

/// A random expression of at most this depth.
fn expression(random: &mut FastRandomStream, depth: u32) -> String {
    let one_of = |random: &mut FastRandomStream, words: &[&str]| {
        words[random.below(words.len() as u32) as usize].to_owned()
    };
    match random.below(if depth == 0 { 2 } else { 8 }) {
        0 => format!("{}.5", random.below(20)),
        1 => QUANTITIES[random.below(QUANTITIES.len() as u32) as usize].0.to_owned(),
        2..5 => {
            let sign = one_of(random, &["+", "-", "*", "/", "<", ">=", "==", "and", "or"]);
            let [left, right] = [0; 2].map(|_| expression(random, depth - 1));
            format!("({left} {sign} {right})")
        }
        5 => format!("-{}", expression(random, depth - 1)),
        6 => {
            let name = one_of(random, &["min", "max"]);
            let [left, right] = [0; 2].map(|_| expression(random, depth - 1));
            format!("{name}({left}, {right})")
        }
        _ => {
            let [when, left, right] = [0; 3].map(|_| expression(random, depth - 1));
            format!("if({when}, {left}, abs({right}))")
        }
    }
}

#[test]
fn any_score_keeps_to_the_hops_and_lanes_of_its_scheme() {
    let mut random = FastRandomStream::new(11, "expressions", 0);
    let expressions: Vec<String> = (0..20).map(|_| expression(&mut random, 4)).collect();
    for (number, text) in expressions.iter().enumerate() {
        let net = NETS[number % NETS.len()];
        let on = built(net);
        let wiring = Arc::new(RouterWiring::of(&on, |_| 1).expect("one rail each"));
        let classes = LaneClasses { classes: 13, width: 1 };
        let leg =
            MinimalAdaptiveRouting::new(on.clone(), classes, &QuietWatch).expect("it is small");
        let edge = on.edge_switches();
        let pairs = edge.iter().flat_map(|a| edge.iter().map(move |b| (*a, *b)));
        let far = |(a, b): (u32, u32)| leg.hops(base::SwitchId(a), base::SwitchId(b));
        let reach = pairs.filter_map(far).max().expect("some path");
        let minimal = 1 + number as u32 % 2;
        let decide = ["source", "every"][number / 2 % 2];
        let fields = format!("detours=3 minimal={minimal} decide={decide}");
        let custom = scored(&format!("custom score={text} {fields}"));
        let usual = PathSelectionParameters::usual(PathSelection::Custom);
        let via = VerifiedRouting::scheme(ValiantDetourRouting::by_hop(leg.clone()), &QuietWatch)
            .expect("no stop");
        let via = via.expect("lanes rise");
        let guide = DetourGuide::via(&via, PathSelection::Custom, usual, &wiring, &QuietWatch);
        let (most, _) = follow(&on, &*via, &guide.expect("few").scored(&custom), &UnequalQueues);
        assert!(most <= 2 * u32::from(reach), "{net}: {text}");
        for turns in [1, reach] {
            let par = ProgressiveAdaptiveRouting::new(
                ValiantDetourRouting::by_hop(leg.clone()),
                reach,
                turns,
            );
            let par =
                VerifiedRouting::scheme(par, &QuietWatch).expect("no stop").expect("lanes rise");
            let guide = DetourGuide::progressive(&par, usual, &wiring, &QuietWatch).expect("few");
            let (most, _) = follow(&on, &*par, &guide.scored(&custom), &UnequalQueues);
            assert!(most <= 2 * u32::from(reach) + 1, "{net}: {text}");
        }
        let direct = scored(&format!("custom score={text} detours=0 minimal=2 decide={decide}"));
        let minimal = VerifiedRouting::scheme(leg.clone(), &QuietWatch)
            .expect("no stop")
            .expect("lanes rise");
        let guide = DetourGuide::minimal(&minimal, &wiring, &QuietWatch).expect("few");
        let (most, _) = follow(&on, &leg, &guide.scored(&direct), &UnequalQueues);
        assert!(most <= reach.into(), "{net}: {text}");
    }
}

/// The ports and flits that two guides choose for packets at the same positions.
fn choices(guide: &impl RoutingGuide, wiring: &RouterWiring) -> Vec<(u16, u64, FastRandomStream)> {
    let ends = wiring.endpoints();
    let layout = FlitLayout::new(ends.len() as u32, 1, guide.vias(), 0, 1000).expect("small");
    let mut random = FastRandomStream::new(6, "choices", 0);
    let of = |(source, target): (usize, usize)| {
        let mut flit = layout.packet(target as u32, 0, 0);
        let (router, in_port) = (ends[source].router, ends[source].port);
        let random = &mut random;
        let mut here = PacketPosition { router, in_port, lane: 0, sight: &UnequalQueues, random };
        let port = guide.want(&mut here, &mut PacketHeader::new(&mut flit, &layout)).port;
        (port, flit, *here.random)
    };
    let pairs = (0..2000).map(|k: usize| (k * 7 % ends.len(), k % ends.len()));
    pairs.map(of).collect()
}

#[test]
fn the_score_of_ugal_l_chooses_as_ugal_l_does() {
    for net in NETS {
        let on = built(net);
        let wiring = Arc::new(RouterWiring::of(&on, |_| 1).expect("one rail each"));
        let classes = LaneClasses { classes: 12, width: 2 };
        let minimal =
            MinimalAdaptiveRouting::new(on.clone(), classes, &QuietWatch).expect("it is small");
        let via = VerifiedRouting::scheme(ValiantDetourRouting::by_hop(minimal), &QuietWatch)
            .expect("nobody stops");
        let via = via.expect("lanes rise");
        for (candidates, threshold) in [(1, 0), (4, 0), (4, 5), (64, -3)] {
            let choosing = PathSelectionParameters {
                candidates,
                threshold: Some(threshold),
                least_queue: None,
            };
            let guide =
                DetourGuide::via(&via, PathSelection::UgalL, choosing, &wiring, &QuietWatch);
            let expected = choices(&guide.expect("few"), &wiring);
            let sign = if threshold < 0 { "-" } else { "+" };
            let score = format!("hops * queue {sign} {} * (1 - is_minimal)", threshold.abs());
            let custom = scored(&format!("custom score={score} detours={candidates}"));
            let guide =
                DetourGuide::via(&via, PathSelection::Custom, choosing, &wiring, &QuietWatch);
            let found = choices(&guide.expect("few").scored(&custom), &wiring);
            assert!(found == expected, "{net}: {candidates} candidates, threshold {threshold}");
        }
    }
}
