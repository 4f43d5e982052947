//! Sizing: the members of each family nearest to a wish, the largest, and those that LIDs allow.

use crate::enter::{enter, from_python, interrupted, refuse, to_python};
use base::{Interrupted, Refusal};
use design::sizing::{self, SizingRequest};
use families::multi_plane::MAX_PLANES;
use families::{ConcentrationRounding, FamilyEntry, NetworkNeed, NetworkWish};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;

fn rule(name: &str) -> Result<ConcentrationRounding, Refusal> {
    match name {
        "ceil" => Ok(ConcentrationRounding::Ceil),
        "floor" => Ok(ConcentrationRounding::Floor),
        "exact" => Ok(ConcentrationRounding::Exact),
        other => {
            let why = format!("there is no rule '{other}'");
            Err(Refusal::new("concentration", why, "ceil, floor or exact"))
        }
    }
}

fn wish(
    endpoints: Option<u64>,
    radix: u32,
    concentration: &str,
    oversubscription: f64,
) -> Result<NetworkWish, Refusal> {
    let refuse = |param: &str, why: String, help: &str| Err(Refusal::new(param, why, help));
    if endpoints == Some(0) || endpoints.is_some_and(|n| n > 1 << 40) {
        return refuse("endpoints", "out of range".into(), "1 to 2^40");
    }
    if !(2..=4096).contains(&radix) {
        return refuse("radix", format!("{radix} is out of range"), "2 to 4096");
    }
    if !(1.0..=64.0).contains(&oversubscription) {
        return refuse(
            "oversubscription",
            format!("{oversubscription} is out of range"),
            "1 to 64",
        );
    }
    Ok(NetworkWish { endpoints, radix, concentration: rule(concentration)?, oversubscription })
}

fn document<'py, T: Serialize>(py: Python<'py>, value: &T) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(value).map_err(|e| PyValueError::new_err(e.to_string()))?;
    to_python(py, &value)
}

/// A request for [`nearest`] members.
#[derive(Deserialize)]
struct NearestMembersRequest {
    /// Endpoints (none: the largest) and most ports of a switch, a pair each.
    wishes: Vec<(Option<u64>, u32)>,
    concentration: String,
    oversubscription: f64,
    /// The families whose members are wanted; all when empty.
    families: Vec<String>,
    planes: Option<u32>,
    below_only: bool,
    skipped: BTreeSet<(String, String)>,
}

/// For each of the wishes of `question`, a dict (see `NearestMembersRequest`), the nearest members:
/// a list of dicts, see `design::sizing::NearestFamilyMembers`.
#[pyfunction]
#[pyo3(signature = (question, progress=None))]
pub fn nearest<'py>(
    py: Python<'py>,
    question: &Bound<'py, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let q: NearestMembersRequest = serde_json::from_value(from_python(question)?)
        .map_err(|e| PyValueError::new_err(e.to_string()))?;
    if q.planes.is_some_and(|planes| !(1..=MAX_PLANES).contains(&planes)) {
        let help = format!("1 to {MAX_PLANES}");
        return Err(refuse(Refusal::new("planes", "out of range", help)));
    }
    let wish = |&(n, radix): &_| wish(n, radix, &q.concentration, q.oversubscription);
    let wishes: Vec<NetworkWish> =
        q.wishes.iter().map(wish).collect::<Result<_, _>>().map_err(refuse)?;
    let chosen: Vec<&FamilyEntry> = sizing::chosen(&q.families).map_err(refuse)?;
    let asked = SizingRequest { planes: q.planes, below_only: q.below_only, skipped: q.skipped };
    let found = enter(py, progress, |watch| sizing::nearest(&chosen, &wishes, &asked, watch))?;
    document(py, &found.map_err(|_| interrupted())?)
}

/// A request for members that carry a number of endpoints.
#[derive(Deserialize)]
struct CarryingMembersRequest {
    endpoints: u64,
    radix: u32,
    concentration: String,
    oversubscription: f64,
    /// The families whose members are wanted; all when empty.
    families: Vec<String>,
    planes: Option<u32>,
    /// The price of a switch with 0, 1, ... ports; none where none is sold.
    switch_price: Vec<Option<f64>>,
    link_price: f64,
    endpoint_price: f64,
}

/// The members that carry the need of `question`, a dict (see `CarryingMembersRequest`): a list of
/// dicts, see `design::sizing::CarryingKind`.
#[pyfunction]
#[pyo3(signature = (question, progress=None))]
pub fn carrying<'py>(
    py: Python<'py>,
    question: &Bound<'py, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let q: CarryingMembersRequest = serde_json::from_value(from_python(question)?)
        .map_err(|e| PyValueError::new_err(e.to_string()))?;
    let wish = wish(Some(q.endpoints), q.radix, &q.concentration, q.oversubscription);
    let need = NetworkNeed {
        wish: wish.map_err(refuse)?,
        endpoints: q.endpoints,
        switch_price: q.switch_price.iter().map(|usd| usd.unwrap_or(f64::INFINITY)).collect(),
        link_price: q.link_price,
        endpoint_price: q.endpoint_price,
    };
    let chosen: Vec<&FamilyEntry> = sizing::chosen(&q.families).map_err(refuse)?;
    let found = enter(py, progress, |watch| sizing::carrying(&chosen, &need, q.planes, watch))?;
    document(py, &found.map_err(|_| interrupted())?)
}

/// A member by its family, kind and parameters of one plane: a dict, see
/// `design::sizing::DescribedMember`.
#[pyfunction]
pub fn described_member<'py>(
    py: Python<'py>,
    family: &str,
    kind: &str,
    params: &Bound<'py, PyAny>,
    planes: Option<u32>,
) -> PyResult<Bound<'py, PyAny>> {
    let entry = families::family(family).map_err(refuse)?;
    let params: serde_json::Map<String, serde_json::Value> =
        serde_json::from_value(from_python(params)?)
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
    let work =
        |watch: &dyn base::ProgressWatch| sizing::described(entry, kind, &params, planes, watch);
    let found = enter(py, None, work)?.map_err(refuse)?;
    document(py, &found.map_err(|_| interrupted())?)
}

/// As `nearest`, among `members` of a user's family, dicts as `design::sizing::UserFamilyMember`
/// says.
#[pyfunction]
pub fn nearest_members<'py>(
    py: Python<'py>,
    family: &str,
    members: &Bound<'py, PyAny>,
    endpoints: Option<u64>,
    radix: u32,
    concentration: &str,
    oversubscription: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let wish = wish(endpoints, radix, concentration, oversubscription).map_err(refuse)?;
    let members: Vec<sizing::UserFamilyMember> = serde_json::from_value(from_python(members)?)
        .map_err(|e| PyValueError::new_err(e.to_string()))?;
    let work =
        |watch: &dyn base::ProgressWatch| sizing::nearest_members(family, &members, &wish, watch);
    document(py, &enter(py, None, work)?.map_err(|_| interrupted())?)
}

/// For every number of ports in `radixes` and every LMC from 0 to 7, the largest member of `family`
/// whose LIDs suffice, beside the published rule's Slim Fly: a list of dicts with `radix`, `lmc`,
/// `addresses`, `network` (a member or None) and `published_rule`.
#[pyfunction]
#[pyo3(signature = (family, radixes, concentration, progress=None))]
pub fn address_table<'py>(
    py: Python<'py>,
    family: &str,
    radixes: Vec<u32>,
    concentration: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let entry = families::family(family).map_err(refuse)?;
    let concentration = rule(concentration).map_err(refuse)?;
    for &radix in &radixes {
        wish(None, radix, "ceil", 1.0).map_err(refuse)?;
    }
    let work = |watch: &dyn base::ProgressWatch| -> Result<Vec<serde_json::Value>, Interrupted> {
        let mut rows = Vec::new();
        for &radix in &radixes {
            for lmc in 0..8 {
                let network =
                    sizing::largest_addressed(entry, radix, 1 << lmc, concentration, watch)?;
                let paper = sizing::paper_cell(radix, 1 << lmc);
                rows.push(json!({
                    "radix": radix, "lmc": lmc, "addresses": 1 << lmc, "network": network,
                    "published_rule": paper.filter(|_| family == "slim_fly"),
                }));
            }
        }
        Ok(rows)
    };
    document(py, &enter(py, progress, work)?.map_err(|_| interrupted())?)
}
