//! What must be laid already: while people wire, a cable that is not due is not missing.

use super::comparison::Check;
use super::devices::Node;
use base::{EndpointId, SwitchId};
use std::collections::BTreeMap;

/// Whether a device that does not answer should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// It has a cable that is due, and devices that are reached over such cables answer.
    Yes,
    /// It has cables that are due, but nothing answers that they lead to.
    OutOfReach,
    /// None of its cables is due.
    No,
}

impl Check<'_> {
    /// Which devices should answer, of those with a cable that is due. Without any limit all that
    /// is planned is due and all should. O(cables).
    pub(super) fn reached(&self) -> BTreeMap<Node, Wanted> {
        if self.how.due.is_none() {
            return BTreeMap::new();
        }
        let mut peers: BTreeMap<Node, Vec<Node>> = BTreeMap::new();
        for (id, a, b, _) in self.planned_cables() {
            if self.is_due(id) {
                peers.entry(a.node).or_default().push(b.node);
                peers.entry(b.node).or_default().push(a.node);
            }
        }
        let mut wanted: BTreeMap<Node, Wanted> =
            peers.keys().map(|node| (*node, Wanted::OutOfReach)).collect();
        let mut open: Vec<Node> = peers.keys().copied().filter(|n| self.answers(*n)).collect();
        for node in &open {
            wanted.insert(*node, Wanted::Yes);
        }
        while let Some(node) = open.pop() {
            for peer in &peers[&node] {
                if wanted.insert(*peer, Wanted::Yes) == Some(Wanted::OutOfReach) {
                    open.push(*peer);
                }
            }
        }
        wanted
    }

    /// Whether a device should answer.
    pub(super) fn wanted(&self, reached: &BTreeMap<Node, Wanted>, node: Node) -> Wanted {
        match &self.how.due {
            None => Wanted::Yes,
            Some(_) => reached.get(&node).copied().unwrap_or(Wanted::No),
        }
    }

    /// Whether a planned device was found, wherever it stands.
    pub(super) fn answers(&self, node: Node) -> bool {
        match node {
            Node::Switch(s) => self.boxes.pairs.found[s.ix()].is_some(),
            other => self.is_there(other),
        }
    }

    /// Planned switches and endpoints that do not answer, with whether they should.
    pub(super) fn silent(&self, reached: &BTreeMap<Node, Wanted>) -> Vec<(Node, Wanted)> {
        let switches = (0..self.plan.switches().len()).map(|s| Node::Switch(SwitchId::from(s)));
        let endpoints =
            (0..self.plan.endpoints().len()).map(|e| Node::Endpoint(EndpointId::from(e)));
        let silent = switches.chain(endpoints).filter(|n| !self.answers(*n));
        silent.map(|n| (n, self.wanted(reached, n))).collect()
    }
}
