//! The cable check for Python: the plan, what was found, and how devices are identified.

use crate::cost::{Shop, rules_of};
use crate::enter::{refuse, run};
use base::{ComputationError, LinkId, Refusal, TerminalId};
use fabric::addresses::PortAddresses;
use fabric::network::Topology as Network;
use plan::cable::CableId;
use plan::{
    CableCheckOptions, Catalog, DeviceIdentificationProperty, PlannedCableState, RackFloor,
};
use pyo3::prelude::*;
use serde_json::{Map, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The QR code of `words` as rows of `0` and `1` (dark), without its blank border; None where they
/// are too many for one.
#[pyfunction]
pub fn qr_code(words: &str) -> Option<Vec<String>> {
    plan::qr_code(words)
}

/// How a user wants a fabric to be compared with its plan.
#[derive(Debug)]
pub struct CableCheckRequest<'a> {
    /// What devices are identified by: a name of `DeviceIdentificationProperty`.
    pub identify: &'a str,
    /// GUIDs by device name.
    pub guids: Option<&'a BTreeMap<String, u64>>,
    /// Whether any port of the right device will do.
    pub ignore_ports: bool,
    /// The last step that is asked for; its cables and those before it are due.
    pub step: Option<u8>,
    /// The cables that are due, by name, where these are not all that are asked for.
    pub due: Option<&'a HashSet<String>>,
}

/// Compares `found` with the plan `t`: a dict as `Topology.check_cables` says.
///
/// # Errors
/// `RefusalError` where there is no such `identify`, for GUIDs of devices that are not planned
/// or of two devices, rules out of range, a step where no floor is known, and another fabric.
pub fn check<'py>(
    py: Python<'py>,
    t: &Network,
    found: &Network,
    asked: &CableCheckRequest<'_>,
    rules: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let identify = asked.identify;
    let identify = DeviceIdentificationProperty::from_name(identify).ok_or_else(|| {
        let why = format!("'{identify}' is nothing to identify devices by");
        refuse(Refusal::new("identify", why, "auto, guid, name, structure"))
    })?;
    let given = rules.is_some();
    let shop = Shop::open(None, t).map_err(refuse)?;
    let rules = rules_of(rules)?.resolved(t, shop.shop()).map_err(refuse)?;
    // steps need cables of every rate and length but no prices: the models of this catalogue have
    // them
    let models = Catalog::named("fdr10-2014").map_err(refuse)?;
    run(py, None, |watch| {
        let shop = plan::PriceSource::of(&models);
        let addresses = addresses(t, asked.guids)?;
        let floor = match plan::floor(t, &rules, watch) {
            Ok(floor) => Some(floor),
            // a network that does not fit into racks has no labels, unless the user gave rules
            Err(ComputationError::Refused(_)) if !given => None,
            Err(why) => return Err(why),
        };
        let (due, scope) = due(t, floor.as_ref(), asked)?;
        let how = CableCheckOptions { identify, ignore_ports: asked.ignore_ports, due };
        // without rules the floor is one that was made up: nobody knows its racks
        let labels = floor.as_ref().filter(|_| given);
        let check = plan::check_cables_by(t, Some(&addresses), found, labels, how)?;
        let mut value = serde_json::to_value(&check).unwrap_or_default();
        value["clean"] = check.is_clean().into();
        let laid = scope.iter().all(|id| check.cables.get(id) != Some(&PlannedCableState::Unlaid));
        value["complete"] = (check.is_clean() && laid).into();
        for finding in value["findings"].as_array_mut().into_iter().flatten() {
            finding["kind"] = finding["fault"].clone();
        }
        let odd = check.cables.iter().filter(|(_, state)| **state != PlannedCableState::Correct);
        value["cables"] =
            odd.map(|(id, s)| (id.to_string(), json!(s))).collect::<Map<_, _>>().into();
        let guid = |(name, guid): &(String, u64)| json!([name, format!("0x{guid:016x}")]);
        value["guids"] = check.guids.iter().map(guid).collect();
        let steps = |floor: RackFloor| {
            let cables = plan::cables(t, &floor, &rules, shop).ok()?;
            let mut progress = plan::progress(&floor, &cables, &check);
            if !given {
                progress.racks.clear();
            }
            Some(json!(progress))
        };
        value["progress"] = floor.and_then(steps).unwrap_or_default();
        Ok(value)
    })
}

/// The cables that must be laid by now, `None` where all must; and the cables that the user asks
/// about, laid or not.
fn due(
    t: &Network,
    floor: Option<&RackFloor>,
    asked: &CableCheckRequest<'_>,
) -> Result<(Option<BTreeSet<CableId>>, BTreeSet<CableId>), Refusal> {
    let links = (0..t.links().len()).map(|l| CableId::Link(LinkId::from(l)));
    let rails = (0..t.terminals().len()).map(|r| CableId::Terminal(TerminalId::from(r)));
    let mut scope: BTreeSet<CableId> = links.chain(rails).collect();
    match (asked.step, floor) {
        (None, _) => {}
        (Some(step), _) if step > 3 => {
            let why = format!("{step} is no step of the laying");
            return Err(Refusal::new("step", why, "0 to 3"));
        }
        (Some(step), Some(floor)) => scope.retain(|id| plan::step_of(t, floor, *id) <= step),
        (Some(_), None) => {
            let why = "this network has no steps, for no floor holds it";
            let help = "leave the step out, or give rules of a larger floor";
            return Err(Refusal::new("step", why, help));
        }
    }
    let due = match asked.due {
        Some(names) => {
            Some(scope.iter().copied().filter(|id| names.contains(&id.to_string())).collect())
        }
        None => asked.step.map(|_| scope.clone()),
    };
    Ok((due, scope))
}

/// The addresses of the plan, with the GUIDs in `guids` in place of its own.
fn addresses(t: &Network, guids: Option<&BTreeMap<String, u64>>) -> Result<PortAddresses, Refusal> {
    // new LIDs: a LID that two devices have does not prevent the comparison
    let mut addresses = PortAddresses::assign(&t.with_new_lids(0)?, 0)?;
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
