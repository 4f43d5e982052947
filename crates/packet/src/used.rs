//! The values that a run uses of parameters that were not given: what its record says.

use super::models::{DETOUR_WEIGHT, SimulatorDialect};
use super::nic::MessageInjectionProcess;
use super::plant::{LinkClass, SimulatedNetwork};
use super::spec::{
    BITS_IN_GIB, LinkParameters, PacketSimulationParameters, PortArbitrationRule, SwitchParameters,
    SwitchingMode,
};
use super::timing::DialectTimingRules;
use paths::select::{LaneUseRule, PathSelectionParameters};

/// The values of parameters that have a default for each dialect and network.
pub(super) struct AppliedParameterValues {
    injection: MessageInjectionProcess,
    choosing: Option<PathSelectionParameters>,
    lane_use: LaneUseRule,
    link: LinkParameters,
    switch: SwitchParameters,
}

impl AppliedParameterValues {
    /// The values in a network with these delays. Rates and latencies that each cable gives for
    /// itself are no single value, so that they stay as the parameters have them. `proved` has the
    /// numbers that the selection compares by, and the rule for virtual channels, where
    /// candidates of paths are proved.
    pub(super) fn of(
        spec: &PacketSimulationParameters,
        (plant, timing): (&SimulatedNetwork, &DialectTimingRules),
        of_cables: bool,
        virtual_channels: u8,
        proved: Option<(PathSelectionParameters, LaneUseRule)>,
    ) -> Self {
        let entry = spec.dialect.entry();
        Self {
            injection: spec.injection.unwrap_or(entry.injection),
            choosing: proved
                .and_then(|(used, _)| spec.selection.used_choosing(spec.choosing, used)),
            lane_use: proved.map_or(spec.lane_use, |(_, lane_use)| lane_use),
            link: used_link(spec, plant, of_cables),
            switch: used_switch(spec, timing, virtual_channels),
        }
    }

    /// The parameters with these values.
    pub(super) fn filled_in(&self, spec: PacketSimulationParameters) -> PacketSimulationParameters {
        PacketSimulationParameters {
            injection: Some(self.injection),
            choosing: self.choosing,
            lane_use: self.lane_use,
            link: self.link.clone(),
            router: self.switch.clone(),
            ..spec
        }
    }
}

fn used_link(
    spec: &PacketSimulationParameters,
    plant: &SimulatedNetwork,
    of_cables: bool,
) -> LinkParameters {
    let given = &spec.link;
    let rate = |class: LinkClass, own: Option<f64>| {
        let of_run = own.or(given.rate_gbps);
        let usual = plant.of(class).gib_per_s * BITS_IN_GIB / 1e9;
        of_run.or((!of_cables).then_some(usual))
    };
    let room = |class: LinkClass| Some(plant.of(class).bytes);
    let no_latency_ns = (spec.dialect != SimulatorDialect::Physical).then_some(0.0);
    LinkParameters {
        latency_ns: given.latency_ns.or(no_latency_ns),
        rate_gbps: given.rate_gbps,
        local_rate_gbps: rate(LinkClass::Local, given.local_rate_gbps),
        global_rate_gbps: rate(LinkClass::Global, given.global_rate_gbps),
        endpoint_rate_gbps: rate(LinkClass::Endpoint, given.endpoint_rate_gbps),
        local_buffer_bytes: room(LinkClass::Local),
        global_buffer_bytes: room(LinkClass::Global),
        endpoint_buffer_bytes: room(LinkClass::Endpoint),
    }
}

fn used_switch(
    spec: &PacketSimulationParameters,
    timing: &DialectTimingRules,
    virtual_channels: u8,
) -> SwitchParameters {
    let (given, entry) = (&spec.router, spec.dialect.entry());
    let is_own = spec.dialect == SimulatorDialect::Physical;
    let ns = |ps: u64| Some(ps as f64 / 1000.0);
    SwitchParameters {
        delay_ns: given.delay_ns.or(ns(timing.router_ps)),
        credit_ns: given.credit_ns.or(ns(timing.credit_ps)),
        virtual_channels: Some(virtual_channels),
        switching: given.switching.or(is_own.then_some(SwitchingMode::CutThrough)),
        arbitration: given.arbitration.or(is_own.then_some(PortArbitrationRule::RoundRobin)),
        adaptive_threshold_bytes: given.adaptive_threshold_bytes.or(entry.threshold_bytes),
        detour_weight: given.detour_weight.or(entry.threshold_bytes.map(|_| DETOUR_WEIGHT)),
        lookahead_ns: given.lookahead_ns.or((!is_own).then_some(LOOKAHEAD_NS)),
    }
}

/// What CODES adds to delays so that its parallel engine can look ahead, in ns.
pub(super) const LOOKAHEAD_NS: f64 = 0.01;
