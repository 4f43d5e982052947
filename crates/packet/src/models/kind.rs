//! The trait of router models: their defaults, and how their packets find paths.

#[cfg(test)]
use super::order::ChannelDirection;
use super::order::{ChannelKind, KindSuccessors};
use crate::event::PacketChunk;
use crate::nic::MessageInjectionProcess;
use crate::node::NodePorts;
#[cfg(test)]
use crate::plant::LinkClass;
use crate::plant::SimulatedNetwork;
use crate::runs::EventHandlerContext;
use crate::timing::DialectTimingRules;
use base::Refusal;
use base::part::PartDescription;
use fabric::Topology;
use paths::select::PathSelection;
use paths::select::RailSelection;

/// Default rate of links, GiB/s.
pub(crate) const RATE: f64 = 12.5;
/// Default number of messages of an endpoint in dialects of CODES. Their runs end after this number
/// of messages, and accepted rates and latencies are those of the whole run.
pub(crate) const CODES_MESSAGES: u32 = 30;
/// The default weight of a detour's score: CODES uses `route_scoring_metric` `delta`, in which it
/// counts twice.
pub(crate) const DETOUR_WEIGHT: u32 = 2;

/// The defaults of a model, which apply unless the parameters set another value.
pub(crate) struct ModelDefaults {
    /// The name that selects the model, and its description.
    pub(crate) part: PartDescription,
    /// Small networks that the model supports, for tests; empty if it supports every network.
    pub(crate) networks: &'static [&'static str],
    /// The selections that the model implements itself; none if it supports all selections, over
    /// proved candidates.
    pub(crate) selections: Option<&'static [PathSelection]>,
    /// The kinds of channels that packets may take first, and the kinds that may follow each kind;
    /// none if paths are proved free of deadlock by other means.
    pub(crate) order: Option<(&'static [ChannelKind], KindSuccessors)>,
    /// The injection process of messages.
    pub(crate) injection: MessageInjectionProcess,
    /// Number of messages of an endpoint after which a run ends, which is then measured from its
    /// beginning; none if generated traffic is measured in a steady state.
    pub(crate) messages: Option<u32>,
    /// Virtual channels of a port.
    pub(crate) virtual_channels: u8,
    /// Rates of links inside groups, between groups, and of endpoints, GiB/s.
    pub(crate) rates_gib_per_s: [f64; 3],
    /// The threshold of the adaptive selection in bytes, where it has one, and a weight of detours.
    pub(crate) threshold_bytes: Option<u32>,
    /// The rule for rails that the model uses in place of random ones.
    pub(crate) random_rails: RailSelection,
    /// Whether the transmission time of a full chunk is divided by the number of an endpoint's
    /// rails.
    pub(crate) shares_chunk_time: bool,
    /// Whether uniform traffic draws the distance from the sender to the destination, such that the
    /// sender and the endpoint before it are never drawn.
    pub(crate) draws_steps: bool,
    /// The function that computes the group of every router; by default the network's own groups.
    pub(crate) groups: fn(&Topology) -> Result<Vec<u32>, Refusal>,
    /// The delays of the model, derived from those that CODES uses by default.
    pub(crate) timing: fn(DialectTimingRules) -> DialectTimingRules,
}

impl ModelDefaults {
    /// A model with the most common defaults, for use as `..ModelDefaults::usual(...)`.
    pub(crate) const fn usual(name: &'static str, doc: &'static str) -> Self {
        Self {
            part: PartDescription::new(name, doc),
            networks: &[],
            selections: None,
            order: None,
            injection: MessageInjectionProcess::Exponential,
            messages: None,
            virtual_channels: 4,
            rates_gib_per_s: [RATE; 3],
            threshold_bytes: None,
            random_rails: RailSelection::Random,
            shares_chunk_time: false,
            draws_steps: false,
            groups: |on| Ok(on.switches().iter().map(|switch| switch.group).collect()),
            timing: |usual| usual,
        }
    }
}

/// The inputs from which a model makes its paths.
pub(crate) struct ModelPathInputs<'a> {
    /// The network as cabled.
    pub(crate) on: &'a Topology,
    /// The network as routers and endpoints see it.
    pub(crate) plant: &'a SimulatedNetwork,
    /// The selection: how packets choose among paths.
    pub(crate) selection: PathSelection,
    /// A minimal path is taken if at most this many bytes wait for it.
    pub(crate) threshold_bytes: u32,
    /// Factor of the bytes that wait for a detour, in comparisons.
    pub(crate) detour_weight: u32,
}

impl ModelPathInputs<'_> {
    /// The threshold in chunks.
    pub(crate) fn threshold_chunks(&self) -> u32 {
        self.threshold_bytes / self.plant.chunk_bytes
    }
}

/// A model's choice of paths for packets.
pub(crate) trait PacketPaths: Sized {
    /// Makes the paths of a network.
    ///
    /// # Errors
    /// When the model does not know such a network.
    fn new(request: &ModelPathInputs<'_>) -> Result<Self, Refusal>;

    /// The port and virtual channel by which a packet leaves router `at`; decisions about its path
    /// are kept in the packet.
    fn next_hop(
        &self,
        plant: &SimulatedNetwork,
        at: u32,
        packet: &mut PacketChunk,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> (u16, u8);

    /// Links of the shortest path between two routers of a plane; 0 if the model does not know it.
    fn length(&self, plant: &SimulatedNetwork, from: u32, to: u32) -> u32 {
        let _ = (plant, from, to);
        0
    }

    /// The direction of a channel from a router to another one, in terms of the model's order.
    #[cfg(test)]
    fn leads(&self, router: u32, class: LinkClass) -> ChannelDirection {
        let _ = router;
        if class == LinkClass::Global { ChannelDirection::Across } else { ChannelDirection::Near }
    }
}
