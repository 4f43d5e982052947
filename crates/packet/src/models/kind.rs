//! What a model is: what it takes for granted, and how its packets find their paths.

#[cfg(test)]
use super::order::Leads;
use super::order::{Kind, Steps};
use crate::event::Packet;
use crate::nic::Injection;
use crate::node::Node;
#[cfg(test)]
use crate::plant::Class;
use crate::plant::Plant;
use crate::runs::Runs;
use crate::timing::Timing;
use base::Refusal;
use base::part::Part;
use fabric::Topology;
use paths::select::Rail;
use paths::select::Selection;

/// Rate of links, GiB/s.
pub(crate) const RATE: f64 = 12.5;
/// `route_scoring_metric` `delta`, which CODES takes where a configuration says nothing: the score
/// of a detour counts twice.
const DETOUR_WEIGHT: u32 = 2;

/// What a model takes for granted where the parameters say nothing else.
pub(crate) struct Entry {
    /// The word that asks for it, and what it is.
    pub(crate) part: Part,
    /// Small networks that it knows; none where it knows all.
    pub(crate) networks: &'static [&'static str],
    /// The selections that it has, where they are its own; else all, over proved candidates.
    pub(crate) selections: Option<&'static [Selection]>,
    /// The kinds of the first channels of its packets, and which kinds may follow which; none where
    /// paths are proved otherwise.
    pub(crate) order: Option<(&'static [Kind], Steps)>,
    /// When messages are born.
    pub(crate) births: Injection,
    /// Virtual channels of a port.
    pub(crate) virtual_channels: u8,
    /// Rates of links of a group, between groups and of endpoints, GiB/s.
    pub(crate) rates_gib_per_s: [f64; 3],
    /// Whether its adaptive selection has a threshold and weighs detours.
    pub(crate) weighs_detours: bool,
    /// How packets get their rails where they should get random ones.
    pub(crate) random_rails: Rail,
    /// Whether the rails of an endpoint share the time of a whole chunk.
    pub(crate) shares_chunk_time: bool,
    /// Whether uniform traffic draws a step from each endpoint, neither none nor one back.
    pub(crate) draws_steps: bool,
    /// The group of every router; the usual ones are those of the network.
    pub(crate) groups: fn(&Topology) -> Result<Vec<u32>, Refusal>,
    /// Its delays, by those that are usual in CODES.
    pub(crate) timing: fn(Timing) -> Timing,
}

impl Entry {
    /// A model as most are: `..Entry::usual(...)` for what a model has in common with them.
    pub(crate) const fn usual(name: &'static str, doc: &'static str) -> Self {
        Self {
            part: Part::new(name, doc),
            networks: &[],
            selections: None,
            order: None,
            births: Injection::Exponential,
            virtual_channels: 4,
            rates_gib_per_s: [RATE; 3],
            weighs_detours: false,
            random_rails: Rail::Random,
            shares_chunk_time: false,
            draws_steps: false,
            groups: |on| Ok(on.switches().iter().map(|switch| switch.group).collect()),
            timing: |usual| usual,
        }
    }
}

/// What paths are made for.
pub(crate) struct PathRequest<'a> {
    /// The network.
    pub(crate) on: &'a Topology,
    /// The same as routers and endpoints see it.
    pub(crate) plant: &'a Plant,
    /// How packets choose.
    pub(crate) selection: Selection,
    /// A shortest path is taken where no more bytes wait for it.
    pub(crate) threshold_bytes: Option<u32>,
    /// By what the bytes that wait for a detour are multiplied.
    pub(crate) detour_weight: Option<u32>,
}

impl PathRequest<'_> {
    /// The threshold in chunks, where it is so many bytes unless another one is given.
    pub(crate) fn threshold_chunks(&self, usual_bytes: u32) -> u32 {
        self.threshold_bytes.unwrap_or(usual_bytes) / self.plant.chunk_bytes
    }

    /// By what the score of a detour is multiplied.
    pub(crate) fn weight(&self) -> u32 {
        self.detour_weight.unwrap_or(DETOUR_WEIGHT)
    }
}

/// How the packets of a model find their paths.
pub(crate) trait Paths: Sized {
    /// The paths of a network.
    ///
    /// # Errors
    /// When the model does not know such a network.
    fn new(request: &PathRequest<'_>) -> Result<Self, Refusal>;

    /// The port and virtual channel of a packet at router `at`; what it has decided is kept in it.
    fn way(
        &self,
        plant: &Plant,
        at: u32,
        packet: &mut Packet,
        node: &mut Node,
        to: &mut impl Runs,
    ) -> (u16, u8);

    /// Links of the shortest path between two routers of a plane; 0 where it is not known.
    fn length(&self, plant: &Plant, from: u32, to: u32) -> u32 {
        let _ = (plant, from, to);
        0
    }

    /// Where a channel of a router to another one leads, as the order of the model has it.
    #[cfg(test)]
    fn leads(&self, router: u32, class: Class) -> Leads {
        let _ = router;
        if class == Class::Global { Leads::Across } else { Leads::Near }
    }
}
