//! Numbering of tags for schedules, such that no message of one communicator can match a receive of
//! another.
//!
//! A schedule has tags but no communicators, so each pair of communicator and tag gets a number. In
//! a schedule a receive of any tag would match messages of all communicators, so it can rarely be
//! kept. The numbering for messages to one rank in one communicator depends on its receives:
//!
//! - if all receives take any tag, all messages get one number, and so do the receives;
//! - if all receives name their source, their messages are known, because messages of a sender
//!   match receives in order: each receive gets the tag of its message;
//! - otherwise a receive keeps its wildcard if the rank receives nothing else;
//! - otherwise the trace is refused.

use super::CallTrace;
use super::agree::{ProcessAction, ProcessActionKind, ProcessActionLists, place};
use super::requests::ProcessMessage;
use crate::workload::ANY;
use base::Refusal;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The kinds of receives that a rank posts in a communicator.
#[derive(Debug, Default, Clone, Copy)]
struct PostedReceiveKinds {
    any_tag: bool,
    tags: bool,
    any_source: bool,
}

/// The rule for numbering the tags of messages to a rank in a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagNumbering {
    /// All messages get the same number.
    One,
    /// A receive of any tag gets the tag of its message.
    Resolved,
    /// Receives of any tag keep their wildcard.
    Wild,
}

fn wires(acts: &[ProcessAction]) -> impl Iterator<Item = (&ProcessAction, &ProcessMessage)> {
    acts.iter().filter_map(|act| match &act.does {
        ProcessActionKind::Message(wire) => Some((act, wire)),
        _ => None,
    })
}

/// Replaces tags by numbers, or by none for a receive that keeps its wildcard. Returns the number
/// of numbers used. O(acts).
///
/// # Errors
/// With file and line, when a receive of any tag cannot be expressed in a schedule.
pub(super) fn number(trace: &CallTrace, agreed: &mut ProcessActionLists) -> Result<u32, Refusal> {
    let mut numberings: HashMap<(u32, u32), TagNumbering> = HashMap::new();
    for (rank, acts) in (0..).zip(&agreed.acts) {
        let mut has: BTreeMap<u32, PostedReceiveKinds> = BTreeMap::new();
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
                let of = |(_, w): &(&ProcessAction, &ProcessMessage)| {
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
            let ProcessActionKind::Message(wire) = &mut act.does else { continue };
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

/// Whether a process takes part in collective operations.
fn meets(agreed: &ProcessActionLists, acts: &[ProcessAction]) -> bool {
    acts.iter().any(|act| match act.does {
        ProcessActionKind::Meets(meeting, _) => {
            let comm = agreed.meetings[meeting as usize].comm;
            agreed.communicators.size(comm) > 1
        }
        _ => false,
    })
}

/// The sender, the receiver and the communicator of messages.
type CommunicatorPair = (u32, u32, u32);

/// Gives receives of any tag the tag of the message that they match.
///
/// The messages from one sender to one receiver are ordered, and so are the receives. The earliest
/// receive and the earliest message that fit match, whichever is posted first.
fn resolve(acts: &mut [Vec<ProcessAction>], numberings: &HashMap<(u32, u32), TagNumbering>) {
    let mut sent: BTreeMap<CommunicatorPair, Vec<u32>> = BTreeMap::new();
    let mut waiting: BTreeMap<CommunicatorPair, Vec<(u32, Option<u32>)>> = BTreeMap::new();
    for (rank, of) in (0..).zip(acts.iter()) {
        for (at, act) in (0..).zip(of) {
            let ProcessActionKind::Message(wire) = &act.does else { continue };
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
                    if let ProcessActionKind::Message(wire) =
                        &mut acts[pair.1 as usize][at as usize].does
                    {
                        wire.tag = Some(tag);
                    }
                }
                (_, Some(list)) => drop(list.pop_front()),
                _ => {}
            }
        }
    }
}
