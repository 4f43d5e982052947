//! The cable check on fabrics that infiniband-diags discovered in ibsim, before and after harm.

use fabric::network::Topology;
use formats::ib::fabric_file::read;
use plan::{CableCheckResult, CablingFaultKind, FloorRules, check_cables, floor};
use std::collections::BTreeSet;

const PLAN: &str = include_str!("data/sf_q5.net");
const BASE: &str = include_str!("data/ibnetdiscover_base.txt");
const UNLINK: &str = include_str!("data/ibnetdiscover_unlink.txt");
const SWAP: &str = include_str!("data/ibnetdiscover_swap.txt");
const DEGRADED: &str = include_str!("data/ibnetdiscover_degraded.txt");
const SWITCH_DOWN: &str = include_str!("data/ibnetdiscover_diff_switchdown.txt");

fn network(text: &str, name: &str) -> Topology {
    read(text, name).expect("a fabric file")
}

fn check(found: &str) -> CableCheckResult {
    let check = check_cables(&network(PLAN, "plan"), None, &network(found, "found"), None);
    check.expect("the same fabric")
}

fn only_finding(found: &str, fault: CablingFaultKind) -> (CableCheckResult, [Vec<[String; 2]>; 2]) {
    let check = check(found);
    assert_eq!(check.findings.len(), 1, "{check}");
    let finding = &check.findings[0];
    assert_eq!(finding.fault, fault);
    let cables = [finding.planned.clone(), finding.found.clone()];
    (check, cables)
}

#[test]
fn the_healthy_fabric_is_the_netlist() {
    let check = check(BASE);
    assert!(check.is_clean(), "{check}");
    assert_eq!((check.planned, check.correct), (375, 375));
    assert_eq!(check.to_string(), "375 of 375 cables as planned, 0 findings");
}

#[test]
fn the_pulled_cable_is_named() {
    let (check, [planned, found]) = only_finding(UNLINK, CablingFaultKind::Missing);
    assert_eq!(planned, [["sf-0-0-0 port 5".to_owned(), "sf-0-0-1 port 5".to_owned()]]);
    assert_eq!((found.len(), check.correct), (0, 374));
}

#[test]
fn the_swapped_pair_is_one_finding_and_names_both_cables() {
    let (check, [planned, found]) = only_finding(SWAP, CablingFaultKind::Swapped);
    let cables = |[x, y]: [[&str; 2]; 2]| BTreeSet::from([x, y].map(|c| c.map(str::to_owned)));
    let (a, b, c, d) = ("sf-0-0-0 port 7", "sf-0-0-0 port 8", "sf-1-0-0 port 5", "sf-1-1-0 port 5");
    assert_eq!(planned.into_iter().collect::<BTreeSet<_>>(), cables([[a, c], [b, d]]));
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), cables([[a, d], [b, c]]));
    assert_eq!(check.findings[0].repair, format!("swap the plugs in {a} and {b}"));
    assert_eq!(check.correct, 373);
}

#[test]
fn the_degraded_cable_is_named() {
    let (check, [planned, _]) = only_finding(DEGRADED, CablingFaultKind::Degraded);
    assert_eq!(planned, [["sf-0-0-0 port 5".to_owned(), "sf-0-0-1 port 5".to_owned()]]);
    assert!(check.findings[0].what.ends_with("runs at 1x HDR instead of 4x HDR"));
    assert_eq!((check.correct, check.degraded), (374, 1));
}

/// The healthy fabric without the lines that `--diff` says have gone.
fn with_switch_down() -> String {
    let node = |line: &str| line.starts_with("Switch") || line.starts_with("Ca");
    let mut gone = BTreeSet::new();
    let mut at = "";
    for line in SWITCH_DOWN.lines() {
        let text = line.strip_prefix("< ").unwrap_or(line);
        at = if node(text) { text } else { at };
        if line.starts_with("< ") && (node(text) || text.starts_with('[')) {
            gone.insert((at, text));
        }
    }
    assert_eq!(gone.len(), 1 + 11 + 7 + 4 * 2, "a switch, its ports, its peers' ports, its hosts");
    let mut at = "";
    let mut dropped = false;
    let mut left = String::new();
    for line in BASE.lines() {
        at = if node(line) { line } else { at };
        // the port lines of a node go with it; its ids before it stay, and mean nothing alone
        dropped = if node(line) { gone.contains(&(at, line)) } else { dropped };
        let stays = !(gone.contains(&(at, line)) || dropped && line.starts_with('['));
        if stays {
            left.push_str(line);
            left.push('\n');
        }
    }
    left
}

#[test]
fn the_dead_switch_is_one_finding() {
    let (check, _) = only_finding(&with_switch_down(), CablingFaultKind::MissingSwitch);
    let what = &check.findings[0].what;
    assert_eq!(what, "switch sf-0-0-1 does not answer: 11 cables and 4 endpoints go with it");
    assert_eq!((check.lost, check.correct), (11, 364));
}

#[test]
fn labels_carry_rack_and_unit() {
    let plan = network(PLAN, "plan");
    let seats = floor(&plan, &FloorRules::default(), &base::QuietWatch).expect("valid rules");
    let found = network(UNLINK, "found");
    let check = check_cables(&plan, None, &found, Some(&seats)).expect("the same fabric");
    let [a, _] = &check.findings[0].planned[0];
    let s = plan.switches().iter().position(|s| s.name == "sf-0-0-0").expect("a switch");
    let unit = seats.switches[s].unit.expect("in a rack");
    assert!(a.starts_with("sf-0-0-0 port 5 (R0") && a.contains(&format!("U{unit:02}")), "{a}");
}
