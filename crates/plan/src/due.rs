//! Which devices must answer by now: while cables are being laid, a cable that is not due is not
//! missing.

use super::comparison::PlanAndFoundFabric;
use super::devices::MatchedDevice;
use base::{EndpointId, SwitchId};
use std::collections::BTreeMap;

/// Whether a device that does not answer should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeviceAnswerExpectation {
    /// It has a cable that is due, and devices that are reached over such cables answer.
    Yes,
    /// It has cables that are due, but no device at their other ends answers.
    OutOfReach,
    /// None of its cables is due.
    No,
}

impl PlanAndFoundFabric<'_> {
    /// For each device with a cable that is due, whether it should answer. Without a list of due
    /// cables every planned cable is due, and every device should answer. O(cables).
    pub(super) fn reached(&self) -> BTreeMap<MatchedDevice, DeviceAnswerExpectation> {
        if self.how.due.is_none() {
            return BTreeMap::new();
        }
        let mut peers: BTreeMap<MatchedDevice, Vec<MatchedDevice>> = BTreeMap::new();
        for (id, a, b, _) in self.planned_cables() {
            if self.is_due(id) {
                peers.entry(a.node).or_default().push(b.node);
                peers.entry(b.node).or_default().push(a.node);
            }
        }
        let mut wanted: BTreeMap<MatchedDevice, DeviceAnswerExpectation> =
            peers.keys().map(|node| (*node, DeviceAnswerExpectation::OutOfReach)).collect();
        let mut open: Vec<MatchedDevice> =
            peers.keys().copied().filter(|n| self.answers(*n)).collect();
        for node in &open {
            wanted.insert(*node, DeviceAnswerExpectation::Yes);
        }
        while let Some(node) = open.pop() {
            for peer in &peers[&node] {
                if wanted.insert(*peer, DeviceAnswerExpectation::Yes)
                    == Some(DeviceAnswerExpectation::OutOfReach)
                {
                    open.push(*peer);
                }
            }
        }
        wanted
    }

    /// Whether a device should answer by now.
    pub(super) fn wanted(
        &self,
        reached: &BTreeMap<MatchedDevice, DeviceAnswerExpectation>,
        node: MatchedDevice,
    ) -> DeviceAnswerExpectation {
        match &self.how.due {
            None => DeviceAnswerExpectation::Yes,
            Some(_) => reached.get(&node).copied().unwrap_or(DeviceAnswerExpectation::No),
        }
    }

    /// Whether a planned device was found, wherever it stands.
    pub(super) fn answers(&self, node: MatchedDevice) -> bool {
        match node {
            MatchedDevice::Switch(s) => self.boxes.pairs.found[s.ix()].is_some(),
            other => self.is_there(other),
        }
    }

    /// Planned switches and endpoints that do not answer, with whether they should.
    pub(super) fn silent(
        &self,
        reached: &BTreeMap<MatchedDevice, DeviceAnswerExpectation>,
    ) -> Vec<(MatchedDevice, DeviceAnswerExpectation)> {
        let switches =
            (0..self.plan.switches().len()).map(|s| MatchedDevice::Switch(SwitchId::from(s)));
        let endpoints =
            (0..self.plan.endpoints().len()).map(|e| MatchedDevice::Endpoint(EndpointId::from(e)));
        let silent = switches.chain(endpoints).filter(|n| !self.answers(*n));
        silent.map(|n| (n, self.wanted(reached, n))).collect()
    }
}
