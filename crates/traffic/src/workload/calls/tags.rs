//! Tags of the schedule, in which no message of one communicator can be taken for one of another.
//!
//! A schedule has tags and no communicators: each pair of both gets a number. A receive of any tag
//! takes messages of any communicator there, so that it can rarely stay what it is. What becomes of
//! the messages for one rank in one communicator depends on its receives:
//!
//! - where all receives take any tag, all messages have one number, and so have the receives;
//! - where all receives name their source, it is sure which message each takes: messages of one
//!   sender come in order, and so are receives asked. Each receive names its message's tag;
//! - else a receive stays one of any tag where the rank receives nothing else;
//! - else the trace is refused.

use super::CallTrace;
use super::agree::{ActKind, ActLists, ProcessAct, place};
use super::requests::WireMessage;
use crate::workload::ANY;
use base::Refusal;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The kinds of receives that a rank has in a communicator.
#[derive(Debug, Default, Clone, Copy)]
struct ReceiveKinds {
    any_tag: bool,
    tags: bool,
    any_source: bool,
}

/// The rule by which the tags of messages for a rank in a communicator become numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagNumbering {
    /// One for all.
    One,
    /// Receives of any tag take that of their message.
    Resolved,
    /// They stay so.
    Wild,
}

fn wires(acts: &[ProcessAct]) -> impl Iterator<Item = (&ProcessAct, &WireMessage)> {
    acts.iter().filter_map(|act| match &act.does {
        ActKind::Message(wire) => Some((act, wire)),
        _ => None,
    })
}

/// Puts numbers in the place of tags, none where a receive stays one of any tag; how many numbers
/// there are. O(acts).
///
/// # Errors
/// With the file and the line, where a receive of any tag cannot be said in a schedule.
pub(super) fn number(trace: &CallTrace, agreed: &mut ActLists) -> Result<u32, Refusal> {
    let mut numberings: HashMap<(u32, u32), TagNumbering> = HashMap::new();
    for (rank, acts) in (0..).zip(&agreed.acts) {
        let mut has: BTreeMap<u32, ReceiveKinds> = BTreeMap::new();
        for (_, wire) in wires(acts).filter(|(_, wire)| !wire.is_send) {
            let has = has.entry(wire.comm).or_default();
            has.any_tag |= wire.tag.is_none();
            has.tags |= wire.tag.is_some();
            has.any_source |= wire.peer == ANY;
        }
        for (&comm, one) in has.iter().filter(|(_, one)| one.any_tag) {
            let numbering = match (one.tags, one.any_source) {
                (false, _) => TagNumbering::One,
                (true, false) => TagNumbering::Resolved,
                (true, true) => TagNumbering::Wild,
            };
            if numbering == TagNumbering::Wild && (has.len() > 1 || meets(agreed, acts)) {
                let of = |(_, w): &(&ProcessAct, &WireMessage)| {
                    !w.is_send && w.comm == comm && w.tag.is_none()
                };
                let call = wires(acts).find(of).map_or(0, |(act, _)| act.call as usize);
                let why = "a receive of any tag, beside receives of a tag and of any source and \
                           other communication";
                let help = "the tag named: a schedule has no communicators to keep them apart";
                return Err(Refusal::new(place(trace, rank, call), why, help));
            }
            numberings.insert((rank, comm), numbering);
        }
    }
    resolve(&mut agreed.acts, &numberings);
    let mut numbers: HashMap<(u32, Option<u32>), u32> = HashMap::new();
    for (rank, acts) in (0..).zip(&mut agreed.acts) {
        for act in acts {
            let ActKind::Message(wire) = &mut act.does else { continue };
            let numbering =
                numberings.get(&(if wire.is_send { wire.peer } else { rank }, wire.comm));
            let said = if numbering == Some(&TagNumbering::One) { None } else { wire.tag };
            if said.is_none() && numbering == Some(&TagNumbering::Wild) {
                continue;
            }
            let next = numbers.len() as u32;
            wire.tag = Some(*numbers.entry((wire.comm, said)).or_insert(next));
        }
    }
    Ok(numbers.len() as u32)
}

/// Whether a process meets others.
fn meets(agreed: &ActLists, acts: &[ProcessAct]) -> bool {
    acts.iter().any(|act| match act.does {
        ActKind::Meets(meeting, _) => {
            let comm = agreed.meetings[meeting as usize].comm;
            agreed.communicators.size(comm) > 1
        }
        _ => false,
    })
}

/// A pair of ranks: from a sender to a receiver in a communicator.
type CommunicatorPair = (u32, u32, u32);

/// Receives of any tag take the tag of the message that they get.
///
/// The messages from one sender to one receiver have an order, and so have the receives. The
/// earliest that fits is taken on both sides: whether all receives are there first changes nothing.
fn resolve(acts: &mut [Vec<ProcessAct>], numberings: &HashMap<(u32, u32), TagNumbering>) {
    let mut sent: BTreeMap<CommunicatorPair, Vec<u32>> = BTreeMap::new();
    let mut waiting: BTreeMap<CommunicatorPair, Vec<(u32, Option<u32>)>> = BTreeMap::new();
    for (rank, of) in (0..).zip(acts.iter()) {
        for (at, act) in (0..).zip(of) {
            let ActKind::Message(wire) = &act.does else { continue };
            let to = if wire.is_send { wire.peer } else { rank };
            if numberings.get(&(to, wire.comm)) != Some(&TagNumbering::Resolved) {
                continue;
            }
            match (wire.is_send, wire.tag) {
                (true, Some(tag)) => sent.entry((rank, to, wire.comm)).or_default().push(tag),
                _ => waiting.entry((wire.peer, to, wire.comm)).or_default().push((at, wire.tag)),
            }
        }
    }
    for (pair, receives) in waiting {
        let mut any: VecDeque<u32> = VecDeque::new();
        let mut named: HashMap<u32, VecDeque<u32>> = HashMap::new();
        for (at, tag) in receives {
            match tag {
                None => any.push_back(at),
                Some(tag) => named.entry(tag).or_default().push_back(at),
            }
        }
        for tag in sent.remove(&pair).unwrap_or_default() {
            let by_tag = named.get_mut(&tag).filter(|list| !list.is_empty());
            match (any.front(), by_tag) {
                (Some(&at), by_tag) if by_tag.as_ref().is_none_or(|list| at < list[0]) => {
                    any.pop_front();
                    if let ActKind::Message(wire) = &mut acts[pair.1 as usize][at as usize].does {
                        wire.tag = Some(tag);
                    }
                }
                (_, Some(list)) => drop(list.pop_front()),
                _ => {}
            }
        }
    }
}
