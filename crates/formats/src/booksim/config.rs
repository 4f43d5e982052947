//! A configuration as values: every key that is read, with its type.

use super::classes::BookSimTrafficClass;
use super::note::UnusedKeyNote;
use ::traffic::pattern::booksim::BookSimPattern as Pattern;

/// A configuration, whole and checked as far as it can be without the network.
#[derive(Debug, Clone, PartialEq)]
pub struct BookSimConfig {
    /// Whether it is one of the `PolarFly` variant.
    pub polarfly: bool,
    /// The network.
    pub network: BookSimNetwork,
    /// `routing_function`: one of [`super::FUNCTIONS`] for the network.
    pub function: &'static str,
    /// `vc_policy`, our own key: which channels routing functions of anynet may use.
    pub vc_policy: AnynetVirtualChannelRule,
    /// The routers.
    pub router: RouterSettings,
    /// What is sent: one entry for each of `classes`.
    pub classes: Vec<BookSimTrafficClass>,
    /// How long the simulation runs, and what ends it.
    pub run: SimulationRunSettings,
    /// Notes for the user on settings that have no effect, each with the reason.
    pub notes: Vec<UnusedKeyNote>,
}

impl BookSimConfig {
    /// The patterns of the classes, in order.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.classes.iter().map(|class| &class.pattern)
    }
}

/// The network, with the parameters that it uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookSimNetwork {
    /// k^n routers in a mesh, one endpoint each.
    Mesh {
        /// Routers in a dimension.
        k: u32,
        /// Dimensions.
        n: u32,
        /// `use_noc_latency`: wires as long as the placement makes them.
        wires: bool,
    },
    /// k^n routers in a torus, one endpoint each.
    Torus {
        /// Routers in a dimension.
        k: u32,
        /// Dimensions.
        n: u32,
        /// `use_noc_latency`: wires as long as the placement makes them.
        wires: bool,
    },
    /// A flattened butterfly of k^n routers with xr * xr endpoints each.
    FlatFly {
        /// Routers in a dimension.
        k: u32,
        /// Dimensions, at most 4.
        n: u32,
        /// Routers in a row of the placement.
        x: u32,
        /// Endpoints of a router in a row of the placement.
        xr: u32,
        /// `use_noc_latency`: wires as long as the placement makes them.
        wires: bool,
    },
    /// A k-ary n-tree.
    FatTree {
        /// Links up, and links down, of a router.
        k: u32,
        /// Levels.
        n: u32,
    },
    /// A balanced dragonfly, `dragonflynew`.
    Dragonfly {
        /// Endpoints of a router.
        p: u32,
    },
    /// The network of a file, which [`super::anynet::read`] reads.
    Anynet {
        /// `network_file`, as it is written.
        file: String,
        /// Endpoints of each router, where it is the `PolarFly` variant: endpoint e is on router
        /// e / p.
        p: Option<u32>,
    },
}

/// The virtual channels of a link that a routing function of anynet may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnynetVirtualChannelRule {
    /// Any, as `BookSim` has it.
    Any,
    /// The channel whose number is that of the links crossed before, at most 3.
    Hops,
}

/// An allocator of channels or of the switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocatorKind {
    /// `islip(n)`.
    Islip {
        /// Iterations.
        iterations: u32,
    },
    /// `separable_input_first(round_robin)`.
    SeparableInputFirst,
}

/// The rule by which packets get priority: those of the highest go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketPriorityRule {
    /// All are equal.
    None,
    /// By `class_priority`.
    Class,
    /// Packets that were created earlier go first.
    Age,
    /// Packets that were injected into the network earlier go first.
    NetworkAge,
}

/// The routers: every key by its name.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the file, by its name")]
pub struct RouterSettings {
    /// `num_vcs`.
    pub num_vcs: u32,
    /// Flits that a virtual channel's buffer holds: `vc_buf_size`, or its share of `buf_size`.
    pub vc_buf_size: u32,
    /// `wait_for_tail_credit`.
    pub wait_for_tail_credit: bool,
    /// `vc_busy_when_full`.
    pub vc_busy_when_full: bool,
    /// `vc_prioritize_empty`.
    pub vc_prioritize_empty: bool,
    /// `vc_shuffle_requests`.
    pub vc_shuffle_requests: bool,
    /// `hold_switch_for_packet`.
    pub hold_switch_for_packet: bool,
    /// `speculative`.
    pub speculative: bool,
    /// `spec_check_elig`.
    pub spec_check_elig: bool,
    /// `spec_check_cred`.
    pub spec_check_cred: bool,
    /// `input_speedup`.
    pub input_speedup: u32,
    /// `output_speedup`.
    pub output_speedup: u32,
    /// `internal_speedup`.
    pub internal_speedup: f64,
    /// `output_buffer_size` in flits; none for -1, without bound.
    pub output_buffer_size: Option<u32>,
    /// `routing_delay`.
    pub routing_delay: u32,
    /// `st_prepare_delay`.
    pub st_prepare_delay: u32,
    /// `st_final_delay`.
    pub st_final_delay: u32,
    /// `credit_delay`.
    pub credit_delay: u32,
    /// `vc_allocator`.
    pub vc_allocator: AllocatorKind,
    /// `sw_allocator`.
    pub sw_allocator: AllocatorKind,
    /// `priority`.
    pub priority: PacketPriorityRule,
}

/// The kind of a simulation: what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulationKind {
    /// `latency`: packets go on being sent until all that were measured have arrived.
    Latency,
    /// `throughput`: the network is emptied at the end.
    Throughput,
}

/// The settings of a run: how long the simulation runs, and what ends it.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationRunSettings {
    /// `sim_type`.
    pub simulation: SimulationKind,
    /// `warmup_periods`; 0: the thresholds decide when the network is warmed up.
    pub warmup_periods: u32,
    /// `sample_period`, in cycles.
    pub sample_period: u32,
    /// `max_samples`: the most periods, those of the warm-up included.
    pub max_samples: u32,
    /// `include_queuing`: latencies count from when a packet is created, not from its injection.
    pub include_queuing: bool,
    /// `seed`.
    pub seed: i32,
}
