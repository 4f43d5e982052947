//! Matching of recorded receives and messages: those with the same sender, receiver, communicator
//! and tag match in order.

use super::action::{RecordedAction, RecordedActionKind, ResolvedMessage};
use super::walker::RecordedActionLists;
use std::collections::{BTreeMap, HashMap};

/// The number of sends and receives that are left out because their other end does not exist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UnmatchedMessageCount {
    pub(super) sends: u64,
    pub(super) receives: u64,
}

/// The rank of a message, its act, and its index among the messages of that.
type MessagePlace = (u32, u32, usize);

/// The key of a queue of messages: sender, receiver, group and tag.
type ChannelKey = (u32, u32, u32, u32);

fn key(rank: u32, wire: &ResolvedMessage) -> Option<ChannelKey> {
    let (peer, tag) = (wire.peer?, wire.tag?);
    let (from, to) = if wire.is_send { (rank, peer) } else { (peer, rank) };
    Some((from, to, wire.group, tag))
}

/// Gives every receive the bytes of its message, and removes sends and receives without another
/// end. A probe becomes the receive of the message that it found. O(acts log).
pub(super) fn matched(all: &mut RecordedActionLists) -> UnmatchedMessageCount {
    let mut sides: BTreeMap<ChannelKey, [Vec<MessagePlace>; 2]> = BTreeMap::new();
    let mut lost = UnmatchedMessageCount::default();
    for (rank, acts) in (0..).zip(&mut all.acts) {
        for (at, act) in (0..).zip(acts) {
            let mut is_whole = true;
            for (index, wire) in act.does.messages().iter().enumerate() {
                if let Some(key) = key(rank, wire) {
                    let place = (rank, at, index);
                    sides.entry(key).or_default()[usize::from(wire.is_send)].push(place);
                } else {
                    is_whole = false;
                }
            }
            if !is_whole {
                lost.receives += 1;
                act.does = RecordedActionKind::Nothing;
            }
        }
    }
    for [receives, sends] in sides.into_values() {
        let both = receives.len().min(sends.len());
        for (receive, send) in receives.iter().zip(&sends) {
            let bytes = act(all, *send).messages()[send.2].bytes;
            act(all, *receive).messages()[receive.2].bytes = bytes;
        }
        for &at in receives[both..].iter().chain(&sends[both..]) {
            match act(all, at) {
                RecordedActionKind::Library(step) => step.messages[at.2].tag = None,
                does => *does = RecordedActionKind::Nothing,
            }
        }
        lost.receives += (receives.len() - both) as u64;
        lost.sends += (sends.len() - both) as u64;
    }
    for (rank, acts) in (0..).zip(&mut all.acts) {
        probed(rank, acts);
    }
    lost
}

fn act(all: &mut RecordedActionLists, (rank, at, _): MessagePlace) -> &mut RecordedActionKind {
    &mut all.acts[rank as usize][at as usize].does
}

/// Turns every probe of a process into the receive of its message, for which the process waits.
fn probed(rank: u32, acts: &mut [RecordedAction]) {
    if !acts.iter().any(|act| matches!(act.does, RecordedActionKind::Probes(..))) {
        return;
    }
    // for each key, the receives from the last to the first; a probe takes them from the end
    let mut receives: HashMap<ChannelKey, Vec<usize>> = HashMap::new();
    for (at, act) in acts.iter().enumerate().rev() {
        if let RecordedActionKind::Message(wire) = &act.does
            && !wire.is_send
            && let Some(key) = key(rank, wire)
        {
            receives.entry(key).or_default().push(at);
        }
    }
    let mut taken: HashMap<ChannelKey, usize> = HashMap::new();
    for at in 0..acts.len() {
        let RecordedActionKind::Probes(group, source, tag) = acts[at].does else { continue };
        acts[at].does = RecordedActionKind::Nothing;
        let key = (source, rank, group, tag);
        if taken.get(&key).is_some_and(|&until| at < until) {
            continue;
        }
        let Some(left) = receives.get_mut(&key) else { continue };
        while left.last().is_some_and(|&receive| receive < at) {
            left.pop();
        }
        if let Some(receive) = left.pop() {
            acts[at].does = std::mem::replace(&mut acts[receive].does, RecordedActionKind::Nothing);
            taken.insert(key, receive);
        }
    }
}
