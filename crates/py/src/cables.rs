//! The cable check for Python: the plan, what was found, and how devices are told.

use crate::cost::rules_of;
use crate::enter::{refuse, run};
use base::Refusal;
use base::Stop;
use fabric::addresses::Addresses;
use fabric::network::Topology as Network;
use plan::{CableState, Catalog, Identify};
use pyo3::prelude::*;
use serde_json::{Map, json};
use std::collections::{BTreeMap, HashMap};

/// Compares `found` with the plan `t`: a dict as `Topology.check_cables` says.
///
/// # Errors
/// `RefusalError` for a way of identifying that there is not, GUIDs of devices that are not planned
/// or of two devices, rules out of range, and another fabric.
pub fn check<'py>(
    py: Python<'py>,
    t: &Network,
    found: &Network,
    identify: &str,
    guids: Option<&BTreeMap<String, u64>>,
    rules: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let by = Identify::from_name(identify).ok_or_else(|| {
        let why = format!("'{identify}' is no way to tell devices");
        refuse(Refusal::new("identify", why, "auto, guid, name, structure"))
    })?;
    let given = rules.is_some();
    let rules = rules_of(rules)?;
    // steps need cables of any rate and length, not their prices: models have them
    let models = Catalog::named("fdr10-2014").map_err(refuse)?;
    run(py, None, |watch| {
        let shop = plan::Shop::of(&models);
        let addresses = addresses(t, guids)?;
        let floor = match plan::floor(t, &rules, watch) {
            Ok(floor) => Some(floor),
            // without rules of their own, networks that fit no rack have no labels
            Err(Stop::Refused(_)) if !given => None,
            Err(why) => return Err(why),
        };
        let check = plan::check_cables_by(t, Some(&addresses), found, floor.as_ref(), by)?;
        let mut value = serde_json::to_value(&check).unwrap_or_default();
        value["clean"] = check.is_clean().into();
        for finding in value["findings"].as_array_mut().into_iter().flatten() {
            finding["kind"] = finding["fault"].clone();
        }
        let odd = check.cables.iter().filter(|(_, state)| **state != CableState::Correct);
        value["cables"] =
            odd.map(|(id, s)| (id.to_string(), json!(s))).collect::<Map<_, _>>().into();
        let guid = |(name, guid): &(String, u64)| json!([name, format!("0x{guid:016x}")]);
        value["guids"] = check.guids.iter().map(guid).collect();
        let steps = |floor: plan::Floor| {
            let cables = plan::cables(t, &floor, &rules, shop).ok()?;
            Some(json!(plan::progress(&floor, &cables, &check)))
        };
        value["progress"] = floor.and_then(steps).unwrap_or_default();
        Ok(value)
    })
}

/// The plan's GUIDs, those in `guids` in place of its own.
fn addresses(t: &Network, guids: Option<&BTreeMap<String, u64>>) -> Result<Addresses, Refusal> {
    let mut addresses = Addresses::assign(t, 0)?;
    let Some(guids) = guids else { return Ok(addresses) };
    let switches = t.switches().iter().enumerate().map(|(i, s)| (s.name.as_str(), (true, i)));
    let endpoints = t.endpoints().iter().enumerate().map(|(i, e)| (e.name.as_str(), (false, i)));
    let devices: HashMap<&str, (bool, usize)> = endpoints.chain(switches).collect();
    let mut owner: HashMap<u64, &str> = HashMap::new();
    for (name, &guid) in guids {
        let Some(&(switch, i)) = devices.get(name.as_str()) else {
            let why = format!("the plan has no device '{name}'");
            return Err(Refusal::new("guids", why, "names of the plan's switches and endpoints"));
        };
        if let Some(other) = owner.insert(guid, name) {
            let why = format!("0x{guid:016x} is given to {other} and to {name}");
            return Err(Refusal::new("guids", why, "GUIDs must differ"));
        }
        let column = if switch { &mut addresses.switch_guid } else { &mut addresses.node_guid };
        column[i] = guid;
    }
    Ok(addresses)
}
