//! Builds a simulation from a BookSim configuration: network, routing, routers and traffic.

use base::Refusal;
use flit::booksim::BookSimNetwork;
use flit::booksim::routing::{EnumerableRouting, guide};
use flit::router::{self, RouterDesign};
use formats::booksim::{
    AllocatorKind, AnynetVirtualChannelRule, BookSimConfig, BookSimNetwork as Named,
    PacketPriorityRule, anynet,
};
use paths::wiring::RouterWiring;
use traffic::process::InjectedTrafficClass;

/// Everything that a run of a configuration needs, but for its length.
pub struct BookSimRunInputs {
    /// The parameters of the network.
    pub network: BookSimNetwork,
    /// The network as routers see it.
    pub wiring: RouterWiring,
    /// The routing function; [`flit::booksim::freedom`] tests whether it is free of deadlock.
    pub guide: Box<dyn EnumerableRouting + Send>,
    /// The parameters of the routers.
    pub router: RouterDesign,
    /// The classes of traffic.
    pub classes: Vec<InjectedTrafficClass>,
    /// The urgency of each class.
    pub urgencies: Vec<u32>,
}

/// Builds the simulation that a configuration describes.
///
/// `file` has the name and the text of the network file, where the configuration names one
/// ([`Named::Anynet`]). Random choices that a pattern makes once depend on the configuration's
/// seed.
///
/// # Errors
/// When the file cannot be read or is missing, the routing function needs more than the network
/// has, a pattern does not fit the endpoints, or such a router cannot be built.
pub fn case(
    config: &BookSimConfig,
    file: Option<(&str, &str)>,
) -> Result<BookSimRunInputs, Refusal> {
    let network = network(config, file)?;
    let wiring = network.wiring()?;
    let router = router(config)?;
    router.check(&wiring)?;
    let hops = config.vc_policy == AnynetVirtualChannelRule::Hops;
    let guide = guide(&network, &wiring, config.function, router.virtual_channels, hops)?;
    let (endpoints, seed) = (wiring.endpoints().len() as u32, u64::from(config.run.seed as u32));
    let drawn = config.classes.iter().map(|class| class.drawn(endpoints, seed));
    let classes: Result<Vec<InjectedTrafficClass>, Refusal> = drawn.collect();
    let least = config.classes.iter().map(|class| class.priority).min().unwrap_or(0);
    let urgencies = config.classes.iter().map(|class| class.priority.abs_diff(least)).collect();
    Ok(BookSimRunInputs { network, wiring, guide, router, classes: classes?, urgencies })
}

fn network(config: &BookSimConfig, file: Option<(&str, &str)>) -> Result<BookSimNetwork, Refusal> {
    Ok(match &config.network {
        Named::Mesh { k, n, .. } => BookSimNetwork::Mesh { k: *k, n: *n },
        Named::Torus { k, n, wires } => BookSimNetwork::Torus { k: *k, n: *n, wires: *wires },
        Named::FlatFly { k, n, x, xr, wires } => {
            BookSimNetwork::FlatFly { k: *k, n: *n, x: *x, xr: *xr, wires: *wires }
        }
        Named::FatTree { k, n } => BookSimNetwork::FatTree { k: *k, n: *n },
        Named::Dragonfly { p } => BookSimNetwork::Dragonfly { p: *p },
        Named::Anynet { file: named, p } => {
            let Some((name, text)) = file else {
                let why = format!("{named} is not given");
                return Err(Refusal::new("network_file", why, "the text of the file"));
            };
            let read = anynet::read(text, name)?;
            if let Some(p) = p {
                read.check_polarfly(*p).map_err(|r| r.within(name))?;
            }
            let row = |row: &Vec<anynet::PortNeighbour>| {
                row.iter().map(|to| (to.router, to.latency)).collect()
            };
            BookSimNetwork::Anynet {
                neighbours: read.neighbours().iter().map(row).collect(),
                endpoints: read.endpoints().to_vec(),
            }
        }
    })
}

fn router(config: &BookSimConfig) -> Result<RouterDesign, Refusal> {
    let r = &config.router;
    let small = |name: &str, value: u32| {
        let wrong = |_| Refusal::new(name, format!("{value} is out of range"), "at most 255");
        u8::try_from(value).map_err(wrong)
    };
    let rounds = |name: &str, allocator: AllocatorKind| match allocator {
        AllocatorKind::Islip { iterations } => {
            Ok::<_, Refusal>((router::AllocatorKind::Islip, small(name, iterations)?))
        }
        AllocatorKind::SeparableInputFirst => Ok((router::AllocatorKind::SeparableInputFirst, 1)),
    };
    let (vc_allocator, vc_alloc_rounds) = rounds("vc_allocator", r.vc_allocator)?;
    let (switch_allocator, switch_alloc_rounds) = rounds("sw_allocator", r.sw_allocator)?;
    Ok(RouterDesign {
        virtual_channels: small("num_vcs", r.num_vcs)?,
        buffer_flits: r.vc_buf_size,
        vc_allocator,
        vc_alloc_rounds,
        switch_allocator,
        switch_alloc_rounds,
        internal_speedup: r.internal_speedup,
        input_speedup: small("input_speedup", r.input_speedup)?,
        output_speedup: small("output_speedup", r.output_speedup)?,
        routing_delay: r.routing_delay,
        vc_alloc_delay: 1,
        switch_alloc_delay: 1,
        // BookSim's crossbar takes both delays together
        crossbar_delay: r.st_prepare_delay.saturating_add(r.st_final_delay),
        credit_delay: r.credit_delay,
        // BookSim never speculates if it checks credits without checking for a free channel
        speculative: r.speculative && (r.spec_check_elig || !r.spec_check_cred),
        speculation_yields: true,
        speculation_asks_free: r.spec_check_elig,
        speculation_asks_credit: r.spec_check_cred,
        hold_switch_for_packet: r.hold_switch_for_packet,
        wait_for_tail_credit: r.wait_for_tail_credit,
        vc_busy_when_full: r.vc_busy_when_full,
        vc_prioritize_empty: r.vc_prioritize_empty,
        vc_shuffle_requests: r.vc_shuffle_requests,
        output_buffer_flits: r.output_buffer_size,
        priority: match r.priority {
            PacketPriorityRule::None => router::PacketPriorityRule::RoundRobin,
            PacketPriorityRule::Class => router::PacketPriorityRule::Class,
            PacketPriorityRule::Age => router::PacketPriorityRule::Age,
            PacketPriorityRule::NetworkAge => router::PacketPriorityRule::NetworkAge,
        },
        as_booksim: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::QuietWatch;
    use flit::engine::FlitEngineInputs;
    use flit::run::{FlitRunPhases, RunEndCondition, run};
    use formats::booksim::{SettingsSource, read};

    fn config(text: &'static str) -> BookSimConfig {
        read(&[SettingsSource::File { name: "a.cfg", text }]).unwrap()
    }

    const MESH: &str = "topology = mesh; k = 8; n = 2; routing_function = dor; num_vcs = 4;
        vc_buf_size = 16; credit_delay = 2; internal_speedup = 2.0; use_noc_latency = 0;
        injection_rate = 0.002; seed = 1;";

    /// Cycles from injection to arrival in an idle network, and the routers visited.
    fn idle(config: &BookSimConfig) -> (f64, f64) {
        let case = case(config, None).unwrap();
        let phases = FlitRunPhases {
            warmup_cycles: 0,
            measure_cycles: 20_000,
            drain_cycles: 10_000,
            drain: RunEndCondition::Empty,
        };
        let setup = FlitEngineInputs {
            wiring: &case.wiring,
            router: &case.router,
            guide: case.guide.as_ref(),
            classes: &case.classes,
            urgencies: &case.urgencies,
            seed: 1,
            threads: 1,
            always_full: false,
            assignment: None,
            age_from_staging: false,
            cycles: 30_000,
        };
        let found = run(setup, phases, &QuietWatch).unwrap().all;
        (found.latency.unwrap(), found.hops.unwrap())
    }

    #[test]
    fn an_idle_mesh_has_the_latency_of_its_stages() {
        // 3 h + 2 cycles with h routers; BookSim has 20.68 with 6.224
        let (latency, hops) = idle(&config(MESH));
        assert!((hops - (1.0 + 2.0 * 63.0 / 24.0)).abs() < 0.2, "{hops}");
        assert!((latency / (3.0 * hops + 2.0) - 1.0).abs() < 0.002, "{latency} {hops}");
    }

    #[test]
    fn files_and_limits_are_refused_by_name() {
        let refused = |text: &'static str, file: Option<(&str, &str)>| {
            case(&config(text), file).err().map(|r| r.to_string()).unwrap_or_default()
        };
        let any = "topology = anynet; routing_function = min; network_file = net;";
        assert_eq!(refused(any, None), "network_file: net is not given; the text of the file");
        assert!(refused(any, Some(("net", "router 0 router 0"))).starts_with("net: line 1"));
        let ring = "router 0 node 0 router 1\nrouter 1 node 1 router 2\nrouter 2 node 2 router 0\n";
        assert!(refused(any, Some(("net", ring))).is_empty());
        let fork = "topology = anynet; routing_function = val; network_file = net; k = 2;";
        assert!(refused(fork, Some(("net", ring))).starts_with("net: k: 2 endpoints on a router"));
        let bits = "topology = mesh; k = 3; routing_function = dor; traffic = bitcomp;";
        assert!(refused(bits, None).starts_with("a.cfg: line 1: traffic: bitcomp among 9"));
    }
}
