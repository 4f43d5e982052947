//! Every key of a configuration: its kind, its default, and what is done with it.

/// The kind of values that a key takes, with the default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ConfigValueKind {
    /// An integer.
    Int(i32),
    /// A decimal: an integer is refused, as `BookSim` does.
    Decimal(f64),
    /// A word.
    Word(&'static str),
    /// An integer, or a list with an item for each class.
    Ints(i32),
    /// A decimal, or a list with an item for each class.
    Decimals(f64),
    /// An integer, or the word `time`.
    Seed(i32),
}

/// The use that is made of the value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigKeyUse {
    /// It is read.
    Read,
    /// Only the default is supported, any other value is refused.
    Default,
    /// It has no effect on results, here or in `BookSim`: the reason.
    Nothing(&'static str),
}

/// A key of a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfigKey {
    /// The name.
    pub name: &'static str,
    /// What it takes.
    pub kind: ConfigValueKind,
    /// What is done with it.
    pub usage: ConfigKeyUse,
    /// Whether only the `PolarFly` variant of `BookSim` has it.
    pub polarfly: bool,
}

/// All keys, in the order of `BookSim`'s table, then those of the `PolarFly` variant and our own
/// `vc_policy`.
pub const KEYS: &[ConfigKey] = {
    use ConfigKeyUse::{Default, Read};
    use ConfigValueKind::{Decimal, Decimals, Int, Ints, Seed, Word};
    const FAIL: ConfigKeyUse = ConfigKeyUse::Nothing("no links fail");
    const ONE: ConfigKeyUse = ConfigKeyUse::Nothing("only a network of one router has it");
    const BUFFERS: ConfigKeyUse = ConfigKeyUse::Nothing("buffers are private");
    const ARBITERS: ConfigKeyUse =
        ConfigKeyUse::Nothing("it never reaches the router: write islip(2) or the like");
    const BATCH: ConfigKeyUse = ConfigKeyUse::Nothing("only batches have it");
    const TYPES: ConfigKeyUse = ConfigKeyUse::Nothing("packets have no type");
    const PRINTED: ConfigKeyUse = ConfigKeyUse::Nothing("it says what BookSim prints");
    const POWER: ConfigKeyUse = ConfigKeyUse::Nothing("no power is modelled");
    const TABLE: ConfigKeyUse = ConfigKeyUse::Nothing("no table of routes is read or written");
    &[
        key("channel_file", Word(""), Default),
        key("subnets", Int(1), Default),
        key("topology", Word("torus"), Read),
        key("k", Int(8), Read),
        key("n", Int(2), Read),
        key("c", Int(1), Read),
        key("routing_function", Word("none"), Read),
        key("use_noc_latency", Int(1), Read),
        key("x", Int(8), Read),
        key("y", Int(8), Read),
        key("xr", Int(1), Read),
        key("yr", Int(1), Read),
        key("link_failures", Int(0), Default),
        key("fail_seed", Seed(0), FAIL),
        key("in_ports", Int(5), ONE),
        key("out_ports", Int(5), ONE),
        key("router", Word("iq"), Read),
        key("output_delay", Int(0), Default),
        key("credit_delay", Int(0), Read),
        key("internal_speedup", Decimal(1.0), Read),
        key("output_buffer_size", Int(-1), Read),
        key("noq", Int(0), Default),
        key("speculative", Int(0), Read),
        key("spec_check_elig", Int(1), Read),
        key("spec_check_cred", Int(1), Read),
        key("spec_mask_by_reqs", Int(0), Default),
        key("spec_sw_allocator", Word("prio"), Default),
        key("num_vcs", Int(16), Read),
        key("vc_buf_size", Int(8), Read),
        key("buf_size", Int(-1), Read),
        key("buffer_policy", Word("private"), Read),
        key("private_bufs", Int(-1), BUFFERS),
        key("private_buf_size", Ints(1), BUFFERS),
        key("private_buf_start_vc", Ints(-1), BUFFERS),
        key("private_buf_end_vc", Ints(-1), BUFFERS),
        key("max_held_slots", Int(-1), BUFFERS),
        key("feedback_aging_scale", Int(1), BUFFERS),
        key("feedback_offset", Int(0), BUFFERS),
        key("wait_for_tail_credit", Int(0), Read),
        key("vc_busy_when_full", Int(0), Read),
        key("vc_prioritize_empty", Int(0), Read),
        key("vc_priority_donation", Int(0), Default),
        key("vc_shuffle_requests", Int(0), Read),
        key("hold_switch_for_packet", Int(0), Read),
        key("input_speedup", Int(1), Read),
        key("output_speedup", Int(1), Read),
        key("routing_delay", Int(1), Read),
        key("vc_alloc_delay", Int(1), Default),
        key("sw_alloc_delay", Int(1), Default),
        key("st_prepare_delay", Int(0), Read),
        key("st_final_delay", Int(1), Read),
        key("vct", Int(0), Default),
        key("vc_allocator", Word("islip"), Read),
        key("sw_allocator", Word("islip"), Read),
        key("arb_type", Word("round_robin"), ARBITERS),
        key("alloc_iters", Int(1), ARBITERS),
        key("classes", Int(1), Read),
        key("traffic", Word("uniform"), Read),
        key("class_priority", Ints(0), Read),
        key("perm_seed", Seed(0), Read),
        key("injection_rate", Decimals(0.1), Read),
        key("injection_rate_uses_flits", Int(0), Read),
        key("packet_size", Ints(1), Read),
        key("packet_size_rate", Ints(1), Read),
        key("injection_process", Word("bernoulli"), Read),
        key("burst_alpha", Decimal(0.5), Read),
        key("burst_beta", Decimal(0.5), Read),
        key("burst_r1", Decimal(-1.0), Read),
        key("priority", Word("none"), Read),
        key("batch_size", Int(1000), BATCH),
        key("batch_count", Int(1), BATCH),
        key("max_outstanding_requests", Int(0), BATCH),
        key("use_read_write", Ints(0), Default),
        key("write_fraction", Decimals(0.5), TYPES),
        key("read_request_begin_vc", Int(0), TYPES),
        key("read_request_end_vc", Int(5), TYPES),
        key("write_request_begin_vc", Int(2), TYPES),
        key("write_request_end_vc", Int(7), TYPES),
        key("read_reply_begin_vc", Int(8), TYPES),
        key("read_reply_end_vc", Int(13), TYPES),
        key("write_reply_begin_vc", Int(10), TYPES),
        key("write_reply_end_vc", Int(15), TYPES),
        key("read_request_subnet", Int(0), TYPES),
        key("read_reply_subnet", Int(0), TYPES),
        key("write_request_subnet", Int(0), TYPES),
        key("write_reply_subnet", Int(0), TYPES),
        key("read_request_size", Ints(1), TYPES),
        key("write_request_size", Ints(1), TYPES),
        key("read_reply_size", Ints(1), TYPES),
        key("write_reply_size", Ints(1), TYPES),
        key("sim_type", Word("latency"), Read),
        key("warmup_periods", Int(3), Read),
        key("sample_period", Int(1000), Read),
        key("max_samples", Int(10), Read),
        key("measure_stats", Ints(1), Read),
        key("pair_stats", Int(0), PRINTED),
        key("latency_thres", Decimals(500.0), Read),
        key("warmup_thres", Decimals(0.05), Read),
        key("acc_warmup_thres", Decimals(0.05), Read),
        key("stopping_thres", Decimals(0.05), Read),
        key("acc_stopping_thres", Decimals(0.05), Read),
        key("sim_count", Int(1), Default),
        key("include_queuing", Int(1), Read),
        key("seed", Seed(0), Read),
        key("print_activity", Int(0), PRINTED),
        key("print_csv_results", Int(0), PRINTED),
        key("deadlock_warn_timeout", Int(256), PRINTED),
        key("viewer_trace", Int(0), PRINTED),
        key("watch_file", Word(""), PRINTED),
        key("watch_flits", Word(""), PRINTED),
        key("watch_packets", Word(""), PRINTED),
        key("watch_transactions", Word(""), PRINTED),
        key("watch_out", Word(""), PRINTED),
        key("stats_out", Word(""), PRINTED),
        key("sent_packets_out", Word(""), PRINTED),
        key("sim_power", Int(0), Default),
        key("power_output_file", Word("pwr_tmp"), POWER),
        key("tech_file", Word(""), POWER),
        key("channel_width", Int(128), POWER),
        key("channel_sweep", Int(0), POWER),
        key("network_file", Word(""), Read),
        variant(
            "adaptive_threshold",
            Int(8),
            ConfigKeyUse::Nothing("it reaches no routing function"),
        ),
        variant("routing_table_file", Word(""), TABLE),
        variant("load_routing_file", Word("no"), Default),
        variant("rr_permute", Word("no"), Default),
        variant("use_size_power_of_two", Word("no"), Default),
        key("vc_policy", Word("any"), Read),
    ]
};

const fn key(name: &'static str, kind: ConfigValueKind, usage: ConfigKeyUse) -> ConfigKey {
    ConfigKey { name, kind, usage, polarfly: false }
}

const fn variant(name: &'static str, kind: ConfigValueKind, usage: ConfigKeyUse) -> ConfigKey {
    ConfigKey { name, kind, usage, polarfly: true }
}

impl ConfigValueKind {
    /// What may be written, in words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Int(_) => "an integer, like 8",
            Self::Decimal(_) => "a decimal with its point, like 1.0 or 0.05",
            Self::Word(_) => "a word that begins with a letter or one of _ - / .",
            Self::Ints(_) => "an integer, or a list of them like {1,4}",
            Self::Decimals(_) => "a decimal with its point like 1.0, or a list like {0.1,0.2}",
            Self::Seed(_) => "an integer",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ() {
        let mut names: Vec<_> = KEYS.iter().map(|k| k.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KEYS.len());
    }
}
