//! Message matching by sender and tag, the oldest first.

use crate::workload::ANY;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The receiver of a message, its sender and its tag; the last two may be wildcards.
type MatchKey = (u32, u32, u32);

/// The messages and receives that wait for one another.
#[derive(Debug, Default)]
pub(super) struct MessageMatcher {
    receives: HashMap<MatchKey, VecDeque<(u64, u32)>>,
    sends: HashMap<MatchKey, VecDeque<(u64, u32)>>,
    /// For receivers with wildcards, their waiting messages in order.
    ordered: HashMap<u32, BTreeMap<u64, MatchKey>>,
    /// The number of receives and messages so far.
    next: u64,
    /// The number of waiting messages.
    waiting: u64,
}

impl MessageMatcher {
    /// Records that a rank has receives with wildcards.
    pub(super) fn takes_any(&mut self, receiver: u32) {
        self.ordered.entry(receiver).or_default();
    }

    /// Begins a message; returns the receive that takes it, if one waits.
    pub(super) fn send(&mut self, op: u32, receiver: u32, sender: u32, tag: u32) -> Option<u32> {
        let number = self.next;
        self.next += 1;
        let mut oldest: Option<(u64, MatchKey)> = None;
        let wild = self.ordered.contains_key(&receiver);
        let kinds = [(sender, tag), (sender, ANY), (ANY, tag), (ANY, ANY)];
        for (from, tag) in kinds.into_iter().take(if wild { 4 } else { 1 }) {
            let key = (receiver, from, tag);
            let front = self.receives.get(&key).and_then(|queue| queue.front());
            if let Some(&(number, _)) = front
                && oldest.is_none_or(|(least, _)| number < least)
            {
                oldest = Some((number, key));
            }
        }
        if let Some((_, key)) = oldest {
            return self.receives.get_mut(&key)?.pop_front().map(|(_, op)| op);
        }
        let key = (receiver, sender, tag);
        self.sends.entry(key).or_default().push_back((number, op));
        if let Some(ordered) = self.ordered.get_mut(&receiver) {
            ordered.insert(number, key);
        }
        self.waiting += 1;
        None
    }

    /// Begins a receive; returns the message that it takes, if one waits.
    pub(super) fn receive(&mut self, op: u32, receiver: u32, from: u32, tag: u32) -> Option<u32> {
        let number = self.next;
        self.next += 1;
        let key = if from == ANY || tag == ANY {
            let fits =
                |key: &MatchKey| (from == ANY || from == key.1) && (tag == ANY || tag == key.2);
            let ordered = self.ordered.get(&receiver);
            ordered.and_then(|all| all.values().find(|key| fits(key)).copied())
        } else {
            Some((receiver, from, tag))
        };
        let queue = key.and_then(|key| self.sends.get_mut(&key));
        let Some((sent, message)) = queue.and_then(VecDeque::pop_front) else {
            self.receives.entry((receiver, from, tag)).or_default().push_back((number, op));
            return None;
        };
        if let Some(ordered) = self.ordered.get_mut(&receiver) {
            ordered.remove(&sent);
        }
        self.waiting -= 1;
        Some(message)
    }

    /// The number of messages that no receive has taken.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }
}
