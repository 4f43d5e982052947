//! Builds routers, delays and paths from the parameters and a network, with the defaults of the
//! dialect.

use super::models::{
    DETOUR_WEIGHT, ModelPathInputs, PacketPathMethod, RATE, RoutingGuidePaths, SimulatorDialect,
};
use super::nic::MessageInjectionProcess;
use super::plant::{LinkClass, LinkClassProperties, SimulatedNetwork};
use super::rates::{self, LinkRates};
use super::spec::{PacketSimulationParameters, PortArbitrationRule, SwitchingMode};
use super::timing::{
    CreditRule, DialectTimingRules, ForwardingRule, RandomDelay, VirtualChannelSendOrder,
    transmission_ps,
};
use super::used::{AppliedParameterValues, LOOKAHEAD_NS};
use base::{ComputationError, ProgressWatch, Refusal};
use fabric::Topology;
use fabric::network::Cable;
use paths::lengths::RouterDistances;
use paths::proved::{self, PathChoiceRules};
use paths::select::{LEAST_QUEUE, LaneUseRule, PathSelectionParameters, RailSelection};
use paths::wiring::{RouterWiring, rails};
use paths::{PathSource, SWITCH_DELAY_NS};
use std::sync::Arc;

/// The network under a dialect's model: its ports and links, delays and paths.
pub(super) struct DialectNetwork {
    pub(super) plant: SimulatedNetwork,
    pub(super) timing: DialectTimingRules,
    pub(super) route: PacketPathMethod,
    pub(super) injection: MessageInjectionProcess,
    /// The values of parameters that have a default for each dialect and network.
    pub(super) used: AppliedParameterValues,
    /// Number of endpoints of each router.
    pub(super) concentration: u32,
    /// Whether packets are proved free of deadlock.
    pub(super) verified: bool,
    pub(super) rates: LinkRates,
}

/// Length of a credit, in bytes.
const CREDIT_BYTES: f64 = 8.0;
/// Default size of the buffer of a virtual channel, in bytes.
const BUFFER_BYTES: u32 = 65_536;

fn ps(ns: f64) -> u64 {
    (ns * 1000.0).round() as u64
}

/// Builds the network under the dialect's model.
///
/// # Errors
/// When the dialect does not know such a network, or packets may deadlock and `unverified` is not
/// set.
pub(super) fn build(
    spec: &PacketSimulationParameters,
    on: PathSource,
    watch: &dyn ProgressWatch,
) -> Result<DialectNetwork, ComputationError> {
    let t = on.topology().clone();
    let of_rails = rails(&t)?;
    if spec.dialect != SimulatorDialect::Physical && matches!(on, PathSource::Tables(_)) {
        let why = format!("{} with tables: it has paths of its own", spec.dialect.name());
        return Err(Refusal::new("dialect", why, "a network, or the dialect physical").into());
    }
    let latency_ps = |cable: &Cable| {
        let ps = match (spec.link.latency_ns, spec.dialect) {
            (Some(ns), _) => ps(ns),
            (None, SimulatorDialect::Physical) => cable.latency().0,
            (None, _) => 0,
        };
        // the wiring of the flit level has no latency of 0, so all latencies are one longer there
        (ps.min(u64::from(u32::MAX) - 1) + 1) as u32
    };
    let wiring = Arc::new(RouterWiring::of(&t, latency_ps)?);
    let lanes = spec.router.virtual_channels.unwrap_or(spec.dialect.entry().virtual_channels);
    let of_cables = rates::hold(spec, &t);
    let plant = plant(spec, &t, &wiring, (of_rails, lanes))?;
    let plant = if of_cables { rates::with_cable_rates(plant, spec, &t) } else { plant };
    check_times(&plant)?;
    let concentration = plant.endpoints.checked_div(of_each_plane(&t, &plant)).unwrap_or(0).max(1);
    let request = ModelPathInputs {
        on: &t,
        plant: &plant,
        selection: spec.selection.kind(),
        threshold_bytes: (spec.router.adaptive_threshold_bytes)
            .or(spec.dialect.entry().threshold_bytes)
            .unwrap_or(0),
        detour_weight: spec.router.detour_weight.unwrap_or(DETOUR_WEIGHT),
    };
    let of_model = PacketPathMethod::of_model(spec.dialect, &request)?;
    let (route, verified, chosen) = if let Some(route) = of_model {
        (route, true, None)
    } else {
        let rules = rules(spec, &plant, (&wiring, lanes));
        let compared = rules.choosing;
        let (route, verified, lane_use) = physical(spec, on, rules, (&plant, &wiring), watch)?;
        (route, verified, Some((compared, lane_use)))
    };
    let timing = timing(spec, &t, of_rails);
    Ok(DialectNetwork {
        used: AppliedParameterValues::of(spec, (&plant, &timing), of_cables, lanes, chosen),
        timing,
        injection: spec.injection.unwrap_or(spec.dialect.entry().injection),
        rates: LinkRates::of(&plant, spec, &t),
        plant,
        route,
        concentration,
        verified,
    })
}

/// The number of routers with endpoints in each plane.
fn of_each_plane(on: &Topology, plant: &SimulatedNetwork) -> u32 {
    let has = |router: &u32| plant.all(*router).any(|b| b.class == LinkClass::Endpoint);
    let planes = u32::from(on.planes()).max(1);
    (0..plant.routers).filter(has).count() as u32 / planes
}

/// Default rates of local links, global links and endpoints, in GiB/s.
fn usual_rates(spec: &PacketSimulationParameters, on: &Topology) -> [f64; 3] {
    let usual = rates::of_network(on).map_or(spec.dialect.entry().rates_gib_per_s, |all| [all; 3]);
    if rates::hold(spec, on) {
        // loads are fractions of the endpoints' rate, which is that of their cables here
        let [local, global, endpoint] = usual;
        return [local, global, rates::of_endpoints(on).unwrap_or(endpoint)];
    }
    usual
}

/// The rate of a rail of an endpoint, in GiB/s.
pub(super) fn endpoint_rate(spec: &PacketSimulationParameters, on: &Topology) -> f64 {
    spec.link
        .gib_per_s(LinkClass::Endpoint)
        .unwrap_or_else(|| usual_rates(spec, on)[LinkClass::Endpoint as usize])
}

fn plant(
    spec: &PacketSimulationParameters,
    on: &Topology,
    wiring: &RouterWiring,
    (rails, lanes): (u32, u8),
) -> Result<SimulatedNetwork, Refusal> {
    let (link, chunk) = (&spec.link, spec.packet_bytes);
    let [local, global, endpoint] = usual_rates(spec, on);
    let room = |bytes: Option<u32>| bytes.unwrap_or(BUFFER_BYTES.max(chunk));
    let of = |rate: Option<f64>, usual: f64, bytes| {
        SimulatedNetwork::link(rate.unwrap_or(usual), room(bytes), chunk)
    };
    let mut links: [LinkClassProperties; 3] = [
        of(link.gib_per_s(LinkClass::Local), local, link.local_buffer_bytes),
        of(link.gib_per_s(LinkClass::Global), global, link.global_buffer_bytes),
        of(link.gib_per_s(LinkClass::Endpoint), endpoint, link.endpoint_buffer_bytes),
    ];
    if spec.dialect.entry().shares_chunk_time {
        let of_endpoints = &mut links[LinkClass::Endpoint as usize];
        of_endpoints.chunk_ps = (of_endpoints.chunk_ps as f64 / f64::from(rails)).round() as u64;
    }
    let group = (spec.dialect.entry().groups)(on)?;
    let class = |a: u32, b: u32| {
        if group[a as usize] == group[b as usize] { LinkClass::Local } else { LinkClass::Global }
    };
    let classes = spec.traffic_class.len().max(1) as u32;
    Ok(SimulatedNetwork::new(wiring, rails, (lanes.into(), classes), chunk, links, class))
}

/// Refuses packets whose time on a link does not fit the field that holds it.
fn check_times(plant: &SimulatedNetwork) -> Result<(), Refusal> {
    let slowest_ps = plant.links().iter().map(|link| link.chunk_ps).max().unwrap_or(0);
    if u32::try_from(slowest_ps).is_ok() {
        return Ok(());
    }
    let chunk = plant.chunk_bytes;
    let why = format!("{chunk} bytes take {} ms on a link", slowest_ps / 1_000_000_000);
    Err(Refusal::new("packet_bytes", why, "4 ms at most, by rate and length"))
}

fn timing(spec: &PacketSimulationParameters, on: &Topology, rails: u32) -> DialectTimingRules {
    let (router, link) = (&spec.router, &spec.link);
    let local = link.gib_per_s(LinkClass::Local).or(rates::of_network(on)).unwrap_or(RATE);
    let usual_credit_ns = CREDIT_BYTES * 1e9 / (local * f64::from(1 << 30));
    let router_ps = ps(router.delay_ns.unwrap_or(SWITCH_DELAY_NS));
    let credit_ps = ps(router.credit_ns.unwrap_or(usual_credit_ns));
    if spec.dialect == SimulatorDialect::Physical {
        let passing = match router.switching {
            None | Some(SwitchingMode::CutThrough) => ForwardingRule::Head,
            Some(SwitchingMode::StoreAndForward) => ForwardingRule::Whole,
        };
        return DialectTimingRules {
            router_ps,
            credit_ps,
            jitter: RandomDelay::ZERO,
            nic: RandomDelay::ZERO,
            is_gap_first: false,
            at_once: rails,
            waking: None,
            passing,
            room: CreditRule::Gone,
            begins_late: false,
            is_sent_early: false,
            order: match router.arbitration.unwrap_or_default() {
                PortArbitrationRule::RoundRobin => VirtualChannelSendOrder::RoundRobin,
                PortArbitrationRule::Oldest => VirtualChannelSendOrder::Oldest,
            },
        };
    }
    let lookahead_ps = ps(router.lookahead_ns.unwrap_or(LOOKAHEAD_NS));
    let half_ns = RandomDelay { least_ps: 500 + lookahead_ps, more_ps: 500 };
    (spec.dialect.entry().timing)(DialectTimingRules {
        router_ps,
        credit_ps,
        jitter: RandomDelay { least_ps: lookahead_ps, more_ps: 1000 },
        nic: half_ns,
        is_gap_first: true,
        // the interface already divides the time of a packet by the rails
        at_once: 1,
        waking: Some(half_ns),
        passing: ForwardingRule::Whole,
        room: CreditRule::Behind,
        begins_late: false,
        is_sent_early: true,
        order: VirtualChannelSendOrder::RoundRobin,
    })
}

/// The parameters of adaptive selections for the cables of this network.
fn choosing(
    spec: &PacketSimulationParameters,
    plant: &SimulatedNetwork,
    wiring: &RouterWiring,
) -> PathSelectionParameters {
    let given = spec.selection.choosing(spec.choosing);
    // if a workload determines message sizes, packets are assumed to be full
    let of_classes = spec.traffic_class.iter().filter_map(|class| class.message_bytes);
    let shortest = of_classes.chain(spec.message_bytes).min();
    let bytes = shortest.unwrap_or(u32::MAX).min(spec.packet_bytes);
    let link = plant.of(LinkClass::Local);
    let packet_ps = transmission_ps(bytes.into(), link.gib_per_s).max(1) as f64;
    let delay_ps = ps(spec.router.delay_ns.unwrap_or(SWITCH_DELAY_NS)) as f64;
    // unlike at the flit level, a packet that waits here for its port counts too; its credit
    // returns when it has left the next router
    let back_ps = 2.0 * (wiring.mean_latency() - 1.0 + packet_ps) + delay_ps;
    given.on_cables((back_ps / packet_ps) as u32, LEAST_QUEUE + 1, link.bytes / bytes)
}

/// The rules by which packets choose their paths in flyloom's own dialect.
fn rules<'a>(
    spec: &'a PacketSimulationParameters,
    plant: &SimulatedNetwork,
    (wiring, lanes): (&RouterWiring, u8),
) -> PathChoiceRules<'a> {
    PathChoiceRules {
        selection: &spec.selection,
        choosing: choosing(spec, plant, wiring),
        lane_use: spec.lane_use,
        virtual_channels: lanes,
        unverified: spec.unverified,
    }
}

/// Paths over proved candidates, as at the flit level; whether they are proved free of deadlock;
/// and the rule for virtual channels.
fn physical(
    spec: &PacketSimulationParameters,
    on: PathSource,
    rules: PathChoiceRules<'_>,
    (plant, wiring): (&SimulatedNetwork, &Arc<RouterWiring>),
    watch: &dyn ProgressWatch,
) -> Result<(PacketPathMethod, bool, LaneUseRule), ComputationError> {
    // paths of the user's tables need not be shortest ones
    let may_be_longer = !spec.selection.is_minimal() || matches!(on, PathSource::Tables(_));
    let proved = proved::guide(on, rules, wiring, watch)?;
    let lengths = may_be_longer || spec.rail == RailSelection::Shortest;
    let lengths = lengths.then(|| {
        let neighbours =
            |at| plant.all(at).filter(|b| b.class != LinkClass::Endpoint).map(|b| b.lp);
        RouterDistances::new(plant.routers, neighbours)
    });
    let route = PacketPathMethod::Guided(RoutingGuidePaths::new(proved.guide, plant, lengths)?);
    Ok((route, proved.verified, proved.lane_use))
}
