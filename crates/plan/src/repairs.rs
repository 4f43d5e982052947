//! What has to be done so that the cables are the planned ones again.
//!
//! Every port carries at most one planned cable and one found cable. Of those that differ, planned
//! and found cables therefore make paths and rings in which they take turns: a lone planned cable
//! is missing, a lone found one is extra, a planned one with a found one at one end has its other
//! end in a wrong port, and a ring of two and two is a swapped pair.

use super::devices::DevicePort;
use base::SwitchId;
use serde::Serialize;
use std::collections::BTreeMap;

/// Something that a person does to repair cables. In a list, each is done after those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CableRepairStep {
    /// Plug a cable in between two free ports.
    Add(DevicePort, DevicePort),
    /// Take away the cable between two ports.
    Remove(DevicePort, DevicePort),
    /// Move the plug in the first port to the second, which is free.
    Plug(DevicePort, DevicePort),
    /// Exchange the plugs in two ports.
    Swap(DevicePort, DevicePort),
    /// Exchange two switches of the plan, wherever they stand. Cables stay where they are, but
    /// those to endpoints go along where `with_endpoints` says so. One of them may be missing: the
    /// other one then moves to the empty place.
    Exchange {
        /// One of the switches; it comes to its own place.
        a: SwitchId,
        /// The other one.
        b: SwitchId,
        /// Whether the endpoints of both go along.
        with_endpoints: bool,
    },
}

/// A port for a program: the device's name and the port's number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedPort {
    /// The planned name; the found one for hardware that the plan does not know.
    pub device: String,
    /// The port, from 1.
    pub port: u16,
}

/// A [`CableRepairStep`] for a program, which needs nothing but names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum CableRepairInstruction {
    /// Plug a cable in between two free ports.
    Add {
        /// The two ports.
        ports: [NamedPort; 2],
    },
    /// Take away the cable between two ports.
    Remove {
        /// The two ports.
        ports: [NamedPort; 2],
    },
    /// Move the plug in the first port to the second, which is free.
    Plug {
        /// From where to where.
        ports: [NamedPort; 2],
    },
    /// Exchange the plugs in two ports.
    Swap {
        /// The two ports.
        ports: [NamedPort; 2],
    },
    /// Exchange two switches; see [`CableRepairStep::Exchange`].
    Exchange {
        /// Their names.
        devices: [String; 2],
        /// Whether their endpoints go along.
        with_endpoints: bool,
    },
}

/// Cables that differ from the plan for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CableDifference {
    /// A planned cable that is not there; its ports are free once the differences before it in the
    /// list are repaired.
    Missing([DevicePort; 2]),
    /// A found cable that is not planned.
    Extra([DevicePort; 2]),
    /// A cable whose end should be in `planned[0]` but is in `found[1]`; the other end is right.
    Wrong { planned: [DevicePort; 2], found: [DevicePort; 2] },
    /// Cables whose ends are exchanged, round a ring; and the plugs to exchange, in order.
    Swapped {
        planned: Vec<[DevicePort; 2]>,
        found: Vec<[DevicePort; 2]>,
        swaps: Vec<(DevicePort, DevicePort)>,
    },
}

/// The other end of each cable, by either of its ends.
type OtherEnds = BTreeMap<DevicePort, DevicePort>;

/// The differences between the planned cables that are absent and the found ones that are not
/// planned, both given from either end. `near` says how far apart two ports are (0: same device);
/// swaps are chosen between near ports. Where one of several cables may be called missing, it is
/// one with an end in `later`, if there is any.
pub(super) fn differences<L>(
    mut absent: OtherEnds,
    mut strange: OtherEnds,
    later: &BTreeMap<DevicePort, L>,
    near: impl Fn(DevicePort, DevicePort) -> u32,
) -> Vec<CableDifference> {
    let mut list = Vec::new();
    // ends of planned cables first: a path that is left for a found one then ends with another
    let ends: Vec<DevicePort> = absent
        .keys()
        .filter(|s| !strange.contains_key(s))
        .chain(strange.keys().filter(|s| !absent.contains_key(s)))
        .copied()
        .collect();
    for end in ends {
        let planned_first = absent.contains_key(&end);
        let mut path = vec![end];
        take_path(&mut absent, &mut strange, &mut path, planned_first);
        // the last one of a path of planned ends is the missing one
        let is_later = |at: Option<&DevicePort>| at.is_some_and(|s| later.contains_key(s));
        if planned_first && path.len() % 2 == 0 && is_later(path.first()) && !is_later(path.last())
        {
            path.reverse();
        }
        if path.len() > 1 {
            split_path(&path, planned_first, &mut list);
        }
    }
    while let Some((&start, _)) = absent.first_key_value() {
        let mut ring = vec![start];
        take_path(&mut absent, &mut strange, &mut ring, true);
        ring.pop();
        list.push(swapped(&ring, &near));
    }
    list
}

/// Follows planned and found cables in turn from the last of `path`, taking them away.
fn take_path(
    absent: &mut OtherEnds,
    strange: &mut OtherEnds,
    path: &mut Vec<DevicePort>,
    planned: bool,
) {
    let mut planned = planned;
    while let Some(&at) = path.last() {
        let cables = if planned { &mut *absent } else { &mut *strange };
        let Some(to) = cables.remove(&at) else { break };
        cables.remove(&to);
        path.push(to);
        planned = !planned;
    }
}

fn split_path(path: &[DevicePort], planned_first: bool, list: &mut Vec<CableDifference>) {
    let mut at = 0;
    if !planned_first {
        list.push(CableDifference::Extra([path[0], path[1]]));
        at = 1;
    }
    while let [to, stays, from] = path[at..path.len().min(at + 3)] {
        list.push(CableDifference::Wrong { planned: [to, stays], found: [stays, from] });
        at += 2;
    }
    if let [a, b] = path[at..] {
        list.push(CableDifference::Missing([a, b]));
    }
}

/// `ring` starts with a planned cable: planned 0-1, found 1-2, planned 2-3, ..., found back to 0.
fn swapped(ring: &[DevicePort], near: &impl Fn(DevicePort, DevicePort) -> u32) -> CableDifference {
    let pairs = |from: usize| -> Vec<[DevicePort; 2]> {
        (from..ring.len())
            .step_by(2)
            .map(|i| {
                let (a, b) = (ring[i], ring[(i + 1) % ring.len()]);
                [a.min(b), a.max(b)]
            })
            .collect()
    };
    // the plug in every even port belongs in the even port before it: exchange along the list
    let even: Vec<DevicePort> = ring.iter().copied().step_by(2).collect();
    // the plug in every odd port belongs in the odd port after it
    let odd: Vec<DevicePort> = ring.iter().copied().skip(1).step_by(2).rev().collect();
    let spread = |ports: &[DevicePort]| ports.windows(2).map(|w| near(w[0], w[1])).sum::<u32>();
    let ports = if spread(&odd) < spread(&even) { odd } else { even };
    CableDifference::Swapped {
        planned: pairs(0),
        found: pairs(1),
        swaps: ports.windows(2).map(|w| (w[0], w[1])).collect(),
    }
}
