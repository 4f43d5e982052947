//! Endpoints: what they have to send, have received, and what takes every change back.

use super::event::Packet;
use super::nic::Nic;
use super::node::Node;
use super::received::{Partly, Seen};
use super::replay::Plays;
use super::runs::{Change, Runs};
use base::seed::Fast;

/// An endpoint: a port a rail, each of a lane a class, whose queue is
/// [`super::port::Lane::queued`].
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(super) node: Node,
    /// A class each.
    pub(super) nics: Vec<Nic>,
    /// What it has received.
    pub seen: Seen,
    /// When the youngest packet of each sender that came began, ps, by sender and class; where
    /// packets that were overtaken are counted.
    heard: Vec<(u32, u64)>,
    /// Messages of which a part has come: by sender and class, and number.
    parts: Vec<Partly>,
    /// What its processes do, where there are some.
    pub(super) plays: Option<Box<Plays>>,
}

impl Endpoint {
    /// One with so many rails, for so many classes.
    pub(super) fn new(rails: u32, classes: u32, dice: Fast) -> Self {
        let node = Node::new(rails as usize, classes as usize, dice);
        let nics = vec![Nic::new(); classes as usize];
        Self {
            node,
            nics,
            seen: Seen::default(),
            heard: Vec::new(),
            parts: Vec::new(),
            plays: None,
        }
    }

    /// A packet of which nothing is known yet.
    pub(super) fn plain(&self) -> Packet {
        self.nics[0].plain()
    }

    /// Takes a change back.
    pub(super) fn undo(&mut self, change: Change) {
        match change {
            Change::Nic(class, was) => self.nics[usize::from(class)] = was,
            Change::Seen(was) => self.seen = was,
            Change::Heard(at, Some(was)) => self.heard[at as usize].1 = was,
            Change::Heard(at, None) => _ = self.heard.remove(at as usize),
            Change::PartCame(at, None) => _ = self.parts.remove(at as usize),
            Change::PartCame(at, Some(was)) => self.parts[at as usize] = was,
            Change::AllCame(at, was) => self.parts.insert(at as usize, was),
            Change::Played(was) => {
                if let Some(plays) = &mut self.plays {
                    plays.undo(was);
                }
            }
            _ => self.node.undo(change),
        }
    }
}

impl Endpoint {
    /// Whether a packet that began then comes behind one that the same sender sent after it.
    /// O(log(senders)), of a new sender O(senders).
    pub(super) fn is_late(&mut self, from: u32, began_ps: u64, to: &mut impl Runs) -> bool {
        match self.heard.binary_search_by_key(&from, |heard| heard.0) {
            Ok(at) => {
                let youngest_ps = self.heard[at].1;
                if began_ps > youngest_ps {
                    to.note(|| Change::Heard(at as u32, Some(youngest_ps)));
                    self.heard[at].1 = began_ps;
                }
                began_ps < youngest_ps
            }
            Err(at) => {
                to.note(|| Change::Heard(at as u32, None));
                self.heard.insert(at, (from, began_ps));
                false
            }
        }
    }

    /// Whether a chunk is the last that was missing of its message of so many bytes: chunks come
    /// in any order. O(log(parts)), of a message's first and last chunk O(parts).
    pub(super) fn is_whole(
        &mut self,
        of: (u32, u32),
        bytes: u32,
        whole_bytes: u32,
        to: &mut impl Runs,
    ) -> bool {
        if bytes >= whole_bytes {
            return true;
        }
        match self.parts.binary_search_by_key(&of, |partly| partly.of) {
            Ok(at) => {
                let was = self.parts[at];
                if was.left > bytes {
                    to.note(|| Change::PartCame(at as u32, Some(was)));
                    self.parts[at].left -= bytes;
                    return false;
                }
                to.note(|| Change::AllCame(at as u32, was));
                self.parts.remove(at);
                true
            }
            Err(at) => {
                to.note(|| Change::PartCame(at as u32, None));
                self.parts.insert(at, Partly { of, left: whole_bytes - bytes });
                false
            }
        }
    }
}
