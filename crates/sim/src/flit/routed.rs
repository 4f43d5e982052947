//! From a spec to a guide: the ways, their proof, and what chooses among them.

use super::case::On;
use super::guide::Guide;
use super::spec::{LaneUse, Spec};
use super::wiring::Wiring;
use crate::select::{Choosing, Detours, Layers, NearestAncestor, Selection};
use base::{Refusal, Stop, SwitchId, Watch};
use fabric::Topology;
use fabric::geometry::Form;
use fabric::tables::Routing;
use fabric::tables::candidates::{Candidates, LaneClasses, Minimal, UpDown, Via};
use std::sync::Arc;
use verify::{Limits, Verdict, Verification, Verified};

/// A guide, and whether it is proved.
type Made = (Box<dyn Guide + Send>, bool);

/// The guide of a case, and whether it is proved.
pub(super) fn guide(
    on: On,
    spec: &Spec,
    choosing: Choosing,
    wiring: &Arc<Wiring>,
    watch: &dyn Watch,
) -> Result<Made, Stop> {
    let lanes = spec.router.virtual_channels;
    let t = match on {
        On::Tables(routing) => return of_tables(*routing, spec, choosing, wiring, watch),
        On::Network(t) => t,
    };
    if spec.selection == Selection::Anca {
        return nearest_ancestor(t, choosing, lanes, wiring, watch);
    }
    let shortest = Minimal::new(t, LaneClasses::any(lanes), watch)?;
    let legs = if spec.selection == Selection::Minimal { 1 } else { 2 };
    let hops = legs * longest(&shortest);
    let classes = match spec.lane_use {
        LaneUse::Hops => LaneClasses {
            classes: (hops.max(1)).min(lanes.into()) as u8,
            width: (u32::from(lanes) / hops.max(1)).max(1) as u8,
        },
        LaneUse::Any => LaneClasses::any(lanes),
    };
    let minimal = shortest.with_lanes(classes);
    let help =
        format!("router.virtual_channels of at least {hops} with lane_use hops, or --unverified");
    if spec.selection == Selection::Minimal {
        return Ok(match Verified::scheme(minimal.clone(), watch)? {
            Ok(proved) => (Box::new(Detours::minimal(&proved, wiring, watch)?), true),
            Err(_) if spec.unverified => {
                let made =
                    Detours::unproved(&minimal, &minimal, spec.selection, choosing, wiring, watch)?;
                (Box::new(made), false)
            }
            Err(flaw) => return Err(unproved(flaw, help)),
        });
    }
    let via = Via::by_hop(minimal.clone());
    Ok(match Verified::scheme(via.clone(), watch)? {
        Ok(proved) => {
            (Box::new(Detours::via(&proved, spec.selection, choosing, wiring, watch)?), true)
        }
        Err(_) if spec.unverified => {
            let made = Detours::unproved(&via, &minimal, spec.selection, choosing, wiring, watch)?;
            (Box::new(made), false)
        }
        Err(flaw) => return Err(unproved(flaw, help)),
    })
}

/// Why a scheme is refused: packets can wait in a circle. Of a circle the first step is told.
fn unproved(why: impl std::fmt::Display, help: String) -> Stop {
    let why = why.to_string();
    let told = match why.split_once('\n') {
        Some((first, rest)) => format!("{first}; {} more in a circle", rest.lines().count()),
        None => why,
    };
    Refusal::new("routing", format!("not proved free of deadlock: {told}"), help).into()
}

/// Hops of the longest shortest way between switches with endpoints.
fn longest(ways: &Minimal) -> u32 {
    let edge: Vec<SwitchId> = ways.topology().edge_switches().into_iter().map(SwitchId).collect();
    let pairs = edge.iter().flat_map(|a| edge.iter().map(move |b| (*a, *b)));
    pairs.filter_map(|(a, b)| ways.hops(a, b)).max().unwrap_or(0).into()
}

fn of_tables(
    routing: Routing,
    spec: &Spec,
    choosing: Choosing,
    wiring: &Arc<Wiring>,
    watch: &dyn Watch,
) -> Result<Made, Stop> {
    let lanes = spec.router.virtual_channels;
    let guide = Layers::new(routing.clone(), spec.selection, choosing, lanes, wiring)?;
    let verified = match Verified::routing(routing, Limits { lanes, ..Limits::NONE }, watch)? {
        Ok(_) => true,
        Err(_) if spec.unverified => false,
        Err(found) => {
            let help = "tables that `flyloom verify` holds good, or --unverified";
            return Err(unproved(fault(&found), help.to_owned()));
        }
    };
    Ok((Box::new(guide), verified))
}

/// What is wrong with tables, in words.
fn fault(found: &Verification) -> String {
    if let Verdict::Fails(why) = &found.complete {
        return why.to_string();
    }
    if let Some(Verdict::Fails(cycle)) = &found.deadlock {
        return cycle.to_string();
    }
    match (&found.rechecked, &found.lanes) {
        (Some(Err(why)), _) => why.clone(),
        (_, Some(Verdict::Fails(excess))) => excess.to_string(),
        _ => "nothing was found".to_owned(),
    }
}

fn nearest_ancestor(
    t: Arc<Topology>,
    choosing: Choosing,
    lanes: u8,
    wiring: &Arc<Wiring>,
    watch: &dyn Watch,
) -> Result<Made, Stop> {
    if t.geometry().form != Form::Levels {
        let help = "a tree: its switches have levels";
        return Err(Refusal::new("selection", "anca on a network without levels", help).into());
    }
    let top = t.switches().iter().map(|s| s.level).max().unwrap_or(0);
    let rank: Vec<u32> = t.switches().iter().map(|s| u32::from(top - s.level)).collect();
    let scheme = UpDown::new(t, rank.clone(), lanes, watch)?;
    match Verified::scheme(scheme, watch)? {
        Ok(proved) => {
            Ok((Box::new(NearestAncestor::new(&proved, rank, choosing, wiring, watch)?), true))
        }
        Err(flaw) => Err(unproved(flaw, "a tree that works".to_owned())),
    }
}
