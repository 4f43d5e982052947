//! The values that a run uses of parameters that were not given: what its record says.

use super::models::{DETOUR_WEIGHT, Dialect};
use super::nic::MessageInjectionProcess;
use super::plant::{LinkClass, SimulatedNetwork};
use super::spec::{
    Arbitration, BITS_IN_GIB, LinkParams, PacketParameters, SwitchParams, SwitchingMode,
};
use super::timing::Timing;
use paths::select::{LaneUseRule, SelectionParams};

/// The values of parameters that have a default for each dialect and network.
pub(super) struct UsedParameters {
    injection: MessageInjectionProcess,
    choosing: Option<SelectionParams>,
    lane_use: LaneUseRule,
    link: LinkParams,
    switch: SwitchParams,
}

impl UsedParameters {
    /// The values in a network with these delays. Rates and latencies that each cable gives for
    /// itself are no single value, so that they stay as the parameters have them. `proved` has the
    /// numbers that the selection compares by, and the rule for virtual channels, where
    /// candidates of paths are proved.
    pub(super) fn of(
        spec: &PacketParameters,
        (plant, timing): (&SimulatedNetwork, &Timing),
        of_cables: bool,
        virtual_channels: u8,
        proved: Option<(SelectionParams, LaneUseRule)>,
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
    pub(super) fn filled_in(&self, spec: PacketParameters) -> PacketParameters {
        PacketParameters {
            injection: Some(self.injection),
            choosing: self.choosing,
            lane_use: self.lane_use,
            link: self.link.clone(),
            router: self.switch.clone(),
            ..spec
        }
    }
}

fn used_link(spec: &PacketParameters, plant: &SimulatedNetwork, of_cables: bool) -> LinkParams {
    let given = &spec.link;
    let rate = |class: LinkClass, own: Option<f64>| {
        let of_run = own.or(given.rate_gbps);
        let usual = plant.of(class).gib_per_s * BITS_IN_GIB / 1e9;
        of_run.or((!of_cables).then_some(usual))
    };
    let room = |class: LinkClass| Some(plant.of(class).bytes);
    let no_latency_ns = (spec.dialect != Dialect::Physical).then_some(0.0);
    LinkParams {
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

fn used_switch(spec: &PacketParameters, timing: &Timing, virtual_channels: u8) -> SwitchParams {
    let (given, entry) = (&spec.router, spec.dialect.entry());
    let is_own = spec.dialect == Dialect::Physical;
    let ns = |ps: u64| Some(ps as f64 / 1000.0);
    SwitchParams {
        delay_ns: given.delay_ns.or(ns(timing.router_ps)),
        credit_ns: given.credit_ns.or(ns(timing.credit_ps)),
        virtual_channels: Some(virtual_channels),
        switching: given.switching.or(is_own.then_some(SwitchingMode::CutThrough)),
        arbitration: given.arbitration.or(is_own.then_some(Arbitration::RoundRobin)),
        adaptive_threshold_bytes: given.adaptive_threshold_bytes.or(entry.threshold_bytes),
        detour_weight: given.detour_weight.or(entry.threshold_bytes.map(|_| DETOUR_WEIGHT)),
        lookahead_ns: given.lookahead_ns.or((!is_own).then_some(LOOKAHEAD_NS)),
    }
}

/// What CODES adds to delays so that its parallel engine can look ahead, in ns.
pub(super) const LOOKAHEAD_NS: f64 = 0.01;
