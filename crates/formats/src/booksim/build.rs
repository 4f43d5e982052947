//! Makes a configuration from the values of keys, and refuses values that do not fit together.

use super::classes::classes;
use super::config::AnynetVirtualChannelRule::{Any, Hops};
use super::config::{
    AllocatorKind, AnynetVirtualChannelRule, BookSimConfig, BookSimNetwork, PacketPriorityRule,
    RouterSettings, SimulationKind, SimulationRunSettings,
};
use super::keys::KEYS;
use super::note::UnusedKeyNote;
use super::settings::BookSimConfigValues;
use super::text::call;
use base::Refusal;
use base::words::did_you_mean;

/// Most routers, endpoints and virtual channels that a configuration may ask for.
const MOST_ROUTERS: u64 = 1 << 22;
const MOST_VCS: u32 = 32;

/// The routing functions of each topology that are supported.
pub const FUNCTIONS: &[(&str, &[&str])] = &[
    (
        "mesh",
        &["dor", "dim_order", "dim_order_ni", "xy_yx", "adaptive_xy_yx", "valiant", "min_adapt"],
    ),
    ("torus", &["dim_order"]),
    ("flatfly", &["ran_min", "xyyx", "adaptive_xyyx", "valiant", "ugal"]),
    ("fattree", &["nca", "anca"]),
    ("dragonflynew", &["min", "ugal"]),
    ("anynet", &["min", "val", "ugallnew", "ugalgnew"]),
];

/// The routing functions of anynet that only the `PolarFly` variant has.
const POLARFLY: [&str; 3] = ["val", "ugallnew", "ugalgnew"];

/// The functions that divide the channels into a lower and an upper half.
const HALVES: [&str; 8] = [
    "xy_yx",
    "adaptive_xy_yx",
    "valiant",
    "min_adapt",
    "xyyx",
    "adaptive_xyyx",
    "ugal",
    "dim_order",
];

pub(super) fn config(s: &BookSimConfigValues<'_>) -> Result<BookSimConfig, Refusal> {
    let polarfly = KEYS.iter().any(|k| k.polarfly && s.is_set(k.name))
        || POLARFLY.contains(&s.shown("routing_function"));
    let network = network(s, polarfly)?;
    let router = router(s)?;
    let function = function(s, &network, router.num_vcs)?;
    let vc_policy = vc_policy(s, &network, router.num_vcs)?;
    let (classes, of_classes) = classes(s)?;
    let mut notes = s.notes();
    notes.extend(of_classes);
    if router.priority == PacketPriorityRule::Class
        && let Some(class) = classes.iter().find(|class| class.priority < 0)
    {
        let why = format!("{} with priority class", class.priority);
        return Err(s.refusal("class_priority", why, "at least 0: BookSim stops at less"));
    }
    if router.speculative && !router.spec_check_elig && router.spec_check_cred {
        let text = "1 has no effect: without spec_check_elig BookSim finds no credit that \
                    spec_check_cred asks for, and asks for the crossbar as if speculative were 0";
        let (place, key) = (s.place("speculative"), "speculative".to_owned());
        notes.push(UnusedKeyNote { place, key, text: text.to_owned() });
    }
    Ok(BookSimConfig {
        polarfly,
        network,
        function,
        vc_policy,
        router,
        classes,
        run: run(s, polarfly)?,
        notes,
    })
}

fn network(s: &BookSimConfigValues<'_>, polarfly: bool) -> Result<BookSimNetwork, Refusal> {
    let name = s.shown("topology");
    let wires = s.flag("use_noc_latency")?;
    if polarfly && name != "anynet" {
        let why = format!("{name} with keys or a routing function of the PolarFly variant");
        return Err(s.refusal("topology", why, "only anynet is supported in that variant"));
    }
    Ok(match name {
        "mesh" | "torus" => {
            let (k, n) = (s.at_least("k", 2)?, s.at_least("n", 1)?);
            power(s, k, n, 1)?;
            match name {
                "mesh" => BookSimNetwork::Mesh { k, n, wires },
                _ => BookSimNetwork::Torus { k, n, wires },
            }
        }
        "flatfly" => flatfly(s, wires)?,
        "fattree" => {
            let (k, n) = (s.at_least("k", 2)?, s.at_least("n", 1)?);
            power(s, k, n, 1)?;
            power(s, k, n - 1, u64::from(n))?;
            BookSimNetwork::FatTree { k, n }
        }
        "dragonflynew" => {
            let p = s.at_least("k", 1)?;
            if s.int("n") != 1 {
                let why = format!("{} dimensions of a group", s.int("n"));
                return Err(s.refusal("n", why, "dragonflynew has 1"));
            }
            let p_ = u128::from(p);
            let endpoints = 2 * p_ * p_ * (2 * p_ * p_ + 1);
            if endpoints > u128::from(MOST_ROUTERS) {
                let why = format!("{p} makes {endpoints} endpoints");
                return Err(s.refusal("k", why, format!("at most {MOST_ROUTERS}")));
            }
            BookSimNetwork::Dragonfly { p }
        }
        "anynet" => {
            let file = s.shown("network_file").to_owned();
            if file.is_empty() {
                let why = "anynet without a file";
                return Err(s.refusal("network_file", why, "network_file = NAME;"));
            }
            let p = if polarfly { Some(s.at_least("k", 1)?) } else { None };
            BookSimNetwork::Anynet { file, p }
        }
        _ => {
            let names = FUNCTIONS.iter().map(|(name, _)| *name);
            let help = did_you_mean(name, names.clone())
                + &format!("supported are {}", names.collect::<Vec<_>>().join(", "));
            return Err(s.refusal("topology", format!("{name} is not supported"), help));
        }
    })
}

/// `k^n * each`; refused where that is too large.
fn power(s: &BookSimConfigValues<'_>, k: u32, n: u32, each: u64) -> Result<u64, Refusal> {
    let size = u64::from(k).checked_pow(n).and_then(|p| p.checked_mul(each));
    size.filter(|size| *size <= MOST_ROUTERS).ok_or_else(|| {
        let why = format!("k {k} and n {n} make too large a network");
        s.refusal("k", why, format!("at most {MOST_ROUTERS} routers or endpoints"))
    })
}

fn flatfly(s: &BookSimConfigValues<'_>, wires: bool) -> Result<BookSimNetwork, Refusal> {
    let (k, n) = (s.at_least("k", 2)?, s.at_least("n", 1)?);
    let (x, xr) = (s.at_least("x", 1)?, s.at_least("xr", 1)?);
    if n > 4 {
        return Err(s.refusal("n", format!("{n} dimensions"), "flatfly has at most 4"));
    }
    for (name, first, value) in [("y", "x", x), ("yr", "xr", xr)] {
        if s.at_least(name, 1)? != value {
            let why = format!("{} differs from {first}, {value}", s.int(name));
            return Err(s.refusal(name, why, format!("flatfly needs {name} = {first}")));
        }
    }
    let endpoints = u64::from(xr) * u64::from(xr);
    if i64::from(s.int("c")) != endpoints as i64 {
        let why = format!("{} is not xr * yr, {endpoints}", s.int("c"));
        return Err(s.refusal("c", why, "flatfly needs c = xr * yr"));
    }
    let routers = power(s, k, n, 1)?;
    power(s, k, n, endpoints)?;
    if routers % u64::from(x) != 0 {
        let why = format!("{routers} routers do not fill rows of {x}");
        return Err(s.refusal("x", why, "x divides k^n, and is k as a rule"));
    }
    Ok(BookSimNetwork::FlatFly { k, n, x, xr, wires })
}

/// The name of the routing function, where the network has it and the channels are enough.
fn function(
    s: &BookSimConfigValues<'_>,
    network: &BookSimNetwork,
    vcs: u32,
) -> Result<&'static str, Refusal> {
    let key = "routing_function";
    let (topology, name) = (s.shown("topology"), s.shown(key));
    let known = FUNCTIONS.iter().find(|(t, _)| *t == topology).map_or(&[][..], |(_, names)| names);
    let Some(&found) = known.iter().find(|n| **n == name) else {
        let names = known.iter().copied();
        let help = did_you_mean(name, names)
            + &format!("supported on {topology} are {}", known.join(", "));
        return Err(s.refusal(key, format!("{name} is not supported on {topology}"), help));
    };
    let few = |least: u32, what: &str| {
        let why = format!("{vcs} are too few for {found} on {topology}");
        Err(s.refusal("num_vcs", why, format!("at least {least}: {what}")))
    };
    match (network, found) {
        (BookSimNetwork::Dragonfly { .. }, "ugal") if vcs != 3 => {
            let why = format!("{vcs} with ugal on dragonflynew");
            Err(s.refusal("num_vcs", why, "exactly 3: one for each phase"))
        }
        (BookSimNetwork::Dragonfly { .. }, "min") if vcs < 2 => {
            few(2, "before and after the global link")
        }
        (BookSimNetwork::Mesh { k, n, .. }, "dim_order_ni") => {
            let endpoints = power(s, *k, *n, 1)?;
            match u32::try_from(endpoints) {
                Ok(least) if vcs < least => few(least, "one for each endpoint"),
                _ => Ok(found),
            }
        }
        (BookSimNetwork::Mesh { .. }, "dim_order") => Ok(found),
        (
            BookSimNetwork::Mesh { .. }
            | BookSimNetwork::Torus { .. }
            | BookSimNetwork::FlatFly { .. },
            half,
        ) if HALVES.contains(&half) && vcs < 2 => few(2, "it divides them"),
        _ => Ok(found),
    }
}

fn vc_policy(
    s: &BookSimConfigValues<'_>,
    network: &BookSimNetwork,
    vcs: u32,
) -> Result<AnynetVirtualChannelRule, Refusal> {
    let key = "vc_policy";
    match s.shown(key) {
        "any" => Ok(Any),
        "hops" if !matches!(network, BookSimNetwork::Anynet { .. }) => {
            let why = format!("hops on {}", s.shown("topology"));
            Err(s.refusal(key, why, "only routing functions of anynet can have it"))
        }
        "hops" if vcs < 4 => {
            let why = format!("{vcs} are too few for vc_policy hops");
            Err(s.refusal("num_vcs", why, "at least 4: channel min(links crossed, 3)"))
        }
        "hops" => Ok(Hops),
        other => Err(s.refusal(key, format!("there is no policy {other}"), "any or hops")),
    }
}

fn router(s: &BookSimConfigValues<'_>) -> Result<RouterSettings, Refusal> {
    only(s, "router", "iq")?;
    only(s, "buffer_policy", "private")?;
    let num_vcs = s.at_least("num_vcs", 1)?;
    if num_vcs > MOST_VCS {
        return Err(s.refusal("num_vcs", format!("{num_vcs}"), format!("at most {MOST_VCS}")));
    }
    let internal_speedup = s.decimal("internal_speedup");
    if !(1.0..=1024.0).contains(&internal_speedup) {
        let why = format!("{internal_speedup} steps in a cycle");
        return Err(s.refusal("internal_speedup", why, "from 1.0 to 1024.0"));
    }
    let (prepare, last) = (s.at_least("st_prepare_delay", 0)?, s.at_least("st_final_delay", 0)?);
    if prepare == 0 && last == 0 {
        let help = "st_prepare_delay and st_final_delay together at least 1";
        return Err(s.refusal("st_final_delay", "BookSim stops where the crossbar takes 0", help));
    }
    let (hold, outputs) = (s.flag("hold_switch_for_packet")?, s.at_least("output_speedup", 1)?);
    if hold && outputs > 1 && s.int("output_buffer_size") != -1 {
        let why = format!(
            "{} with output_speedup {outputs} and hold_switch_for_packet: BookSim looks at the \
             buffers of other outputs",
            s.int("output_buffer_size")
        );
        return Err(s.refusal("output_buffer_size", why, "-1, or one of the others left out"));
    }
    Ok(RouterSettings {
        num_vcs,
        vc_buf_size: buffer(s, num_vcs)?,
        wait_for_tail_credit: s.flag("wait_for_tail_credit")?,
        vc_busy_when_full: s.flag("vc_busy_when_full")?,
        vc_prioritize_empty: s.flag("vc_prioritize_empty")?,
        vc_shuffle_requests: s.flag("vc_shuffle_requests")?,
        hold_switch_for_packet: hold,
        speculative: s.flag("speculative")?,
        spec_check_elig: s.flag("spec_check_elig")?,
        spec_check_cred: s.flag("spec_check_cred")?,
        input_speedup: s.at_least("input_speedup", 1)?,
        output_speedup: outputs,
        internal_speedup,
        output_buffer_size: match s.at_least("output_buffer_size", -1)? {
            _ if s.int("output_buffer_size") == -1 => None,
            0 => {
                let help = "at least 1, or -1 without bound";
                return Err(s.refusal("output_buffer_size", "0 lets nothing pass", help));
            }
            flits => Some(flits),
        },
        routing_delay: s.at_least("routing_delay", 0)?,
        st_prepare_delay: prepare,
        st_final_delay: last,
        credit_delay: s.at_least("credit_delay", 0)?,
        vc_allocator: allocator(s, "vc_allocator")?,
        sw_allocator: allocator(s, "sw_allocator")?,
        priority: priority(s)?,
    })
}

/// Flits in the buffer of a virtual channel: `vc_buf_size`, or, where `buf_size` is set, its share
/// of that.
fn buffer(s: &BookSimConfigValues<'_>, num_vcs: u32) -> Result<u32, Refusal> {
    let shared = s.int("buf_size");
    if shared == 0 {
        let help = format!("at least {num_vcs}, or -1 for vc_buf_size");
        return Err(s.refusal("buf_size", "BookSim's buffers take nothing then", help));
    }
    if shared < 0 {
        return s.at_least("vc_buf_size", 1);
    }
    match shared.unsigned_abs() / num_vcs {
        0 => {
            let why = format!("{shared} flits for {num_vcs} channels");
            Err(s.refusal("buf_size", why, format!("at least {num_vcs}, or -1 for vc_buf_size")))
        }
        each => Ok(each),
    }
}

fn only(s: &BookSimConfigValues<'_>, name: &str, supported: &str) -> Result<(), Refusal> {
    let value = s.shown(name);
    if value == supported {
        return Ok(());
    }
    let help = format!("only {supported} is");
    Err(s.refusal(name, format!("{value} is not supported"), help))
}

fn allocator(s: &BookSimConfigValues<'_>, name: &str) -> Result<AllocatorKind, Refusal> {
    let text = s.shown(name);
    match call(text).as_ref().map(|(name, arguments)| (*name, arguments.as_slice())) {
        Some(("islip", [])) => return Ok(AllocatorKind::Islip { iterations: 1 }),
        Some(("islip", [n])) => {
            if let Some(n) = n.parse::<i32>().ok().filter(|n| (1..=1024).contains(n)) {
                return Ok(AllocatorKind::Islip { iterations: n.unsigned_abs() });
            }
        }
        Some(("separable_input_first", [] | ["round_robin"])) => {
            return Ok(AllocatorKind::SeparableInputFirst);
        }
        _ => {}
    }
    let known = ["islip", "separable_input_first"];
    let help = did_you_mean(text, known)
        + "supported are islip, islip(2) with its iterations, and separable_input_first";
    Err(s.refusal(name, format!("{text} is not supported"), help))
}

fn priority(s: &BookSimConfigValues<'_>) -> Result<PacketPriorityRule, Refusal> {
    const NAMES: [(&str, PacketPriorityRule); 4] = [
        ("none", PacketPriorityRule::None),
        ("class", PacketPriorityRule::Class),
        ("age", PacketPriorityRule::Age),
        ("network_age", PacketPriorityRule::NetworkAge),
    ];
    let text = s.shown("priority");
    if let Some((_, found)) = NAMES.iter().find(|(name, _)| *name == text) {
        return Ok(*found);
    }
    let names = NAMES.iter().map(|(name, _)| *name);
    let help = did_you_mean(text, names.clone())
        + &format!("supported are {}", names.collect::<Vec<_>>().join(", "));
    Err(s.refusal("priority", format!("{text} is not supported"), help))
}

fn run(s: &BookSimConfigValues<'_>, polarfly: bool) -> Result<SimulationRunSettings, Refusal> {
    let simulation = match s.shown("sim_type") {
        "latency" => SimulationKind::Latency,
        "throughput" => SimulationKind::Throughput,
        other => {
            let why = format!("{other} is not supported");
            return Err(s.refusal("sim_type", why, "latency or throughput"));
        }
    };
    let own_default = polarfly && !s.is_set("warmup_periods");
    let warmup_periods = if own_default { 0 } else { s.at_least("warmup_periods", 0)? };
    Ok(SimulationRunSettings {
        simulation,
        warmup_periods,
        sample_period: s.at_least("sample_period", 1)?,
        max_samples: s.at_least("max_samples", 1)?,
        include_queuing: s.flag("include_queuing")?,
        seed: s.seed("seed")?,
    })
}
