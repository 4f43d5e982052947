//! The router: buffers, allocators, delays and options, and what of them fits together.

use base::Refusal;
use paths::wiring::RouterWiring;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The allocator that matches inputs and outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Allocator")]
pub enum AllocatorKind {
    /// Each input chooses one of its requests, each output one of the inputs that chose it; turns
    /// move on where both agree.
    SeparableInputFirst,
    /// Each output offers itself to an input, each input accepts an offer, in rounds; turns move on
    /// in the first ("The `iSLIP` scheduling algorithm for input-queued switches", 1999).
    Islip,
}

/// The rule by which packets get priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PriorityRule")]
pub enum PacketPriorityRule {
    /// All alike: turns alone decide.
    RoundRobin,
    /// The one that was created first.
    Age,
    /// The one that entered the network first.
    NetworkAge,
    /// The one of the higher class.
    Class,
}

/// An input-queued router with virtual channels, credits and a crossbar.
///
/// Source: Dally & Towles, "Principles and practices of interconnection networks", 2004, chapters
/// 16 to 20; the stages, their order and their defaults are those of BookSim 2 (Jiang et al., "A
/// detailed and flexible cycle-accurate network-on-chip simulator", ISPASS 2013).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "options that users set one by one")]
pub struct RouterDesign {
    /// Virtual channels of every port.
    #[schemars(range(min = 1, max = 32))]
    pub virtual_channels: u8,
    /// Buffer of each virtual channel, flits.
    #[schemars(range(min = 1, max = 8192))]
    pub buffer_flits: u32,
    /// Allocator of virtual channels.
    pub vc_allocator: AllocatorKind,
    /// Rounds of it, where it is `iSLIP`.
    pub vc_alloc_rounds: u8,
    /// Allocator of the crossbar.
    pub switch_allocator: AllocatorKind,
    /// Rounds of it, where it is `iSLIP`.
    pub switch_alloc_rounds: u8,
    /// Steps of the router in a cycle of its channels; fractions alternate.
    pub internal_speedup: f64,
    /// Crossbar inputs of each port; its virtual channels share them in turn.
    pub input_speedup: u8,
    /// Crossbar outputs of each port.
    #[schemars(range(min = 1, max = 16))]
    pub output_speedup: u8,
    /// Cycles to route; 0 is lookahead: the router before does it.
    #[schemars(range(min = 0, max = 1000))]
    pub routing_delay: u32,
    /// Cycles to allocate a virtual channel.
    #[schemars(range(min = 1, max = 1000))]
    pub vc_alloc_delay: u32,
    /// Cycles to allocate the crossbar.
    #[schemars(range(min = 1, max = 1000))]
    pub switch_alloc_delay: u32,
    /// Cycles through the crossbar.
    #[schemars(range(min = 1, max = 1000))]
    pub crossbar_delay: u32,
    /// Cycles from a credit's arrival until it counts.
    #[schemars(range(min = 0, max = 1000))]
    pub credit_delay: u32,
    /// Whether packets ask for the crossbar while they ask for a virtual channel, which takes a
    /// cycle then.
    pub speculative: bool,
    /// Whether requests of packets without a virtual channel yield to the others.
    pub speculation_yields: bool,
    /// Whether such a packet asks only where a virtual channel that it may take is free.
    pub speculation_asks_free: bool,
    /// Whether such a packet asks only where such a virtual channel has a credit.
    pub speculation_asks_credit: bool,
    /// Whether a packet keeps its connection through the crossbar until its tail.
    pub hold_switch_for_packet: bool,
    /// Whether a virtual channel is free again only when all its credits are back.
    pub wait_for_tail_credit: bool,
    /// Whether a virtual channel without credit is not given away.
    pub vc_busy_when_full: bool,
    /// Whether empty virtual channels are asked for first.
    pub vc_prioritize_empty: bool,
    /// Whether requests for virtual channels are ordered by virtual channel, then port.
    pub vc_shuffle_requests: bool,
    /// Flits behind the crossbar of each port; as many as come where it is not given.
    pub output_buffer_flits: Option<u32>,
    /// Which packet goes first, where allocators ask.
    pub priority: PacketPriorityRule,
    /// Whether it does what BookSim's router does also where that is nobody's wish: stages of
    /// several cycles are no pipelines, each flit of a packet has a network age of its own, and
    /// turns among the virtual channels of a crossbar input go round those of the whole port.
    #[serde(skip)]
    pub as_booksim: bool,
}

impl Default for RouterDesign {
    /// The router of the Slim Fly paper's simulations: 4 virtual channels of 16 flits, speedup 2.
    fn default() -> Self {
        Self {
            virtual_channels: 4,
            buffer_flits: 16,
            vc_allocator: AllocatorKind::SeparableInputFirst,
            vc_alloc_rounds: 1,
            switch_allocator: AllocatorKind::SeparableInputFirst,
            switch_alloc_rounds: 1,
            internal_speedup: 2.0,
            input_speedup: 1,
            output_speedup: 1,
            routing_delay: 1,
            vc_alloc_delay: 1,
            switch_alloc_delay: 1,
            crossbar_delay: 1,
            credit_delay: 2,
            speculative: false,
            speculation_yields: true,
            speculation_asks_free: true,
            speculation_asks_credit: true,
            hold_switch_for_packet: false,
            wait_for_tail_credit: false,
            vc_busy_when_full: false,
            vc_prioritize_empty: false,
            vc_shuffle_requests: false,
            output_buffer_flits: None,
            priority: PacketPriorityRule::RoundRobin,
            as_booksim: false,
        }
    }
}

/// Most cycles that any delay may have.
const MOST_DELAY: u32 = 1000;

impl RouterDesign {
    /// Whether the numbers of the router are in their ranges.
    ///
    /// # Errors
    /// When one is not; the refusal names it.
    pub fn check_numbers(&self) -> Result<(), Refusal> {
        let within = |name: &str, value: u32, least: u32, most: u32| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            let help = format!("{least} to {most}");
            Err(Refusal::new(format!("switch.{name}"), format!("{value} is out of range"), help))
        };
        within("virtual_channels", self.virtual_channels.into(), 1, 32)?;
        within("buffer_flits", self.buffer_flits, 1, 8192)?;
        within("input_speedup", self.input_speedup.into(), 1, self.virtual_channels.into())?;
        within("output_speedup", self.output_speedup.into(), 1, 16)?;
        within("routing_delay", self.routing_delay, 0, MOST_DELAY)?;
        within("vc_alloc_delay", self.vc_alloc_delay, 1, MOST_DELAY)?;
        within("switch_alloc_delay", self.switch_alloc_delay, 1, MOST_DELAY)?;
        within("crossbar_delay", self.crossbar_delay, 1, MOST_DELAY)?;
        within("credit_delay", self.credit_delay, 0, MOST_DELAY)?;
        if let Some(flits) = self.output_buffer_flits {
            within("output_buffer_flits", flits, 1, 1 << 20)?;
        }
        if self.speculative && self.vc_alloc_delay > 1 {
            let why = format!("{} where packets speculate", self.vc_alloc_delay);
            return Err(Refusal::new("switch.vc_alloc_delay", why, "1, or speculative = false"));
        }
        if !(1.0..=16.0).contains(&self.internal_speedup) {
            let why = format!("{} is out of range", self.internal_speedup);
            return Err(Refusal::new("switch.internal_speedup", why, "1 to 16"));
        }
        within("vc_alloc_rounds", self.vc_alloc_rounds.into(), 1, 16)?;
        within("switch_alloc_rounds", self.switch_alloc_rounds.into(), 1, 16)
    }

    /// Whether this router can be built for `wiring`.
    ///
    /// # Errors
    /// When a number is out of its range; the refusal names it.
    pub fn check(&self, wiring: &RouterWiring) -> Result<(), Refusal> {
        self.check_numbers()?;
        let lanes = wiring.most_ports() << self.stride_bits();
        if lanes > 4096 || wiring.most_ports() > 1024 {
            let ports = wiring.most_ports();
            let why = format!("{ports} ports with {} virtual channels", self.virtual_channels);
            return Err(Refusal::new(
                "switch.virtual_channels",
                why,
                "ports x channels up to 4096",
            ));
        }
        Ok(())
    }

    /// The virtual channels of a port take `1 << stride_bits` array elements.
    pub(super) fn stride_bits(&self) -> u32 {
        u32::from(self.virtual_channels).next_power_of_two().trailing_zeros()
    }

    /// The flits of a buffer take `1 << ring_bits` words of memory.
    pub(super) fn ring_bits(&self) -> u32 {
        self.buffer_flits.next_power_of_two().trailing_zeros()
    }

    /// Whether the plain step does all that this router needs.
    pub(super) fn is_plain(&self) -> bool {
        let usual = Self {
            virtual_channels: self.virtual_channels,
            buffer_flits: self.buffer_flits,
            internal_speedup: self.internal_speedup,
            credit_delay: self.credit_delay,
            speculation_yields: self.speculation_yields,
            speculation_asks_free: self.speculation_asks_free,
            speculation_asks_credit: self.speculation_asks_credit,
            as_booksim: self.as_booksim,
            ..Self::default()
        };
        *self == usual
    }
}
