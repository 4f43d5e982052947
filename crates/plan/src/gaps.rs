//! Gaps of a quotation: what a network needs that it has no price of.

use super::basis::BillItem;
use super::cable::cables_needed;
use super::catalog::CableUse;
use super::cost::switches_by_ports;
use super::floor::RackFloor;
use super::rules::FloorRules;
use super::shop::PriceSource;
use base::Refusal;
use fabric::network::Topology;
use std::collections::BTreeMap;

/// Checks that the quotation of `shop`, where its prices are of one, has a price for all that `t`
/// needs on `floor`. O(cables).
///
/// # Errors
/// When it lacks some; one refusal names all of it, with numbers, and what the catalogue would buy.
pub fn check_quotation(
    t: &Topology,
    floor: &RackFloor,
    rules: &FloorRules,
    shop: PriceSource<'_>,
) -> Result<(), Refusal> {
    let Some(quoted) = &shop.catalog.quoted else { return Ok(()) };
    let base = quoted.base.clone().fitting(t, shop.gbps);
    let suggested = |found: Result<String, Refusal>| {
        found.map_or_else(|_| String::new(), |id| format!(" (as {id})"))
    };
    let mut gaps = Vec::new();
    let list = cables_needed(t, floor, rules, shop);
    let rate = list.iter().map(|c| c.rate_gbps).fold(0.0, f64::max);
    let rate = if list.is_empty() { shop.catalog.link_gbps } else { rate };
    for (ports, count) in switches_by_ports(t) {
        if shop.include.has(BillItem::Network) && shop.catalog.switch(ports, rate).is_err() {
            let id = suggested(base.switch(ports, rate).map(|offer| offer.id));
            gaps.push(format!("{count} switches of {ports} ports at {rate} Gbit/s{id}"));
        }
    }
    // cables that the catalogue would buy alike are one gap: their number, the longest, the rate
    let mut cables: BTreeMap<(bool, String), (u64, f64, f64)> = BTreeMap::new();
    let mut alike: BTreeMap<(bool, u64, u64), u64> = BTreeMap::new();
    for cable in &list {
        *alike.entry(cable.kind_bought()).or_default() += 1;
    }
    for ((for_switch, length, rate), count) in alike {
        let (length_m, gbps) = (f64::from_bits(length), f64::from_bits(rate));
        let of = if for_switch { CableUse::Switch } else { CableUse::Endpoint };
        if shop.catalog.cable(of, length_m, gbps).is_err() {
            let id = suggested(base.cable(of, length_m, gbps).map(|(_, offer)| offer.id));
            let gap = cables.entry((for_switch, id)).or_insert((0, 0.0, gbps));
            *gap = (gap.0 + count, gap.1.max(length_m), gbps.max(gap.2));
        }
    }
    for ((for_switch, id), (count, longest, gbps)) in cables {
        let of = if for_switch { "cables between switches" } else { "cables of endpoints" };
        gaps.push(format!("{count} {of} of up to {longest} m at {gbps} Gbit/s{id}"));
    }
    if shop.include.has(BillItem::Adapters) && shop.catalog.nic(rate).is_err() {
        let id = suggested(base.nic(rate).map(|offer| offer.id));
        gaps.push(format!("{} adapters at {rate} Gbit/s{id}", t.terminals().len()));
    }
    if gaps.is_empty() {
        return Ok(());
    }
    let why = format!("no price of {}", gaps.join("; of "));
    let help = match quoted.left_out.as_slice() {
        [] => "a line for each".to_owned(),
        lines => format!("a line for each; without effect: {}", lines.join("; ")),
    };
    Err(Refusal::new(format!("quotation {}", shop.catalog.name), why, help))
}
