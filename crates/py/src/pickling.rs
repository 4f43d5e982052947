//! Networks and tables for pickle: the recipe that makes them where that suffices, else their
//! content.

use crate::classes::{Routing, Topology, affordable};
use crate::enter::{enter_alone, refuse};
use base::{LinkId, Refusal, SwitchId};
use fabric::network::{NetworkRecipe, Topology as Network};
use fabric::size::NetworkSize;
use formats::graph_file::json;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::Arc;

/// The reduction that pickle keeps: a function of the module, and what to call it with.
pub type PickleReduction<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// The links and switches that fail in `t` and not in the network of its recipe, if that with these
/// failures is the very same network.
fn failures(t: &Network) -> Option<(Vec<LinkId>, Vec<SwitchId>)> {
    let recipe = t.recipe();
    let new = families::family(&recipe.family).ok()?.build(&recipe.params).ok()?;
    if new.links().len() != t.links().len() || new.switches().len() != t.switches().len() {
        return None;
    }
    let links: Vec<LinkId> = (0..t.links().len())
        .filter(|&l| new.links()[l].cable.up && !t.links()[l].cable.up)
        .map(LinkId::from)
        .collect();
    let switches: Vec<SwitchId> = (0..t.switches().len())
        .filter(|&s| new.switches()[s].up && !t.switches()[s].up)
        .map(SwitchId::from)
        .collect();
    let new = failed(new, &links, &switches).ok()?;
    let same = new.recipe() == recipe
        && new.is_vertex_transitive() == t.is_vertex_transitive()
        && new == *t;
    same.then_some((links, switches))
}

fn failed(t: Network, links: &[LinkId], switches: &[SwitchId]) -> Result<Network, Refusal> {
    if links.is_empty() && switches.is_empty() { Ok(t) } else { t.with_failures(links, switches) }
}

/// A network for pickle: its recipe and failures where they give the very same network, else its
/// JSON, compressed.
pub fn reduce_topology<'py>(py: Python<'py>, t: &Arc<Network>) -> PyResult<PickleReduction<'py>> {
    affordable(py, t, "pickling", NetworkSize::text)?;
    let on = t.clone();
    let (failures, text) = enter_alone(py, move || {
        let failures = failures(&on);
        let text = failures.is_none().then(|| json::write(&on));
        (failures, text)
    })?;
    let recipe = serde_json::to_string(t.recipe()).expect("a recipe is JSON");
    let (links, switches) = failures.unwrap_or_default();
    let numbers: Vec<u32> = links.iter().map(|l| l.0).collect();
    let switches: Vec<u32> = switches.iter().map(|s| s.0).collect();
    let data = text.map(|text| py.import("zlib")?.call_method1("compress", (text.as_bytes(), 1)));
    let all = (recipe, numbers, switches, t.digest(), data.transpose()?);
    Ok((function(py, "kept_topology")?, all.into_pyobject(py)?))
}

/// Tables for pickle: their network, their bytes, and the addresses they were read with.
pub fn reduce_routing<'py>(py: Python<'py>, routing: &Routing) -> PyResult<PickleReduction<'py>> {
    let tables = routing.inner.clone();
    let bytes = enter_alone(py, move || tables.to_bytes())?;
    let addresses = routing.addresses.as_ref().map(serde_json::to_string);
    let addresses = addresses.transpose().expect("addresses are JSON");
    let on = Topology { inner: routing.inner.topology().clone() };
    let all = (on, PyBytes::new(py, &bytes), addresses);
    Ok((function(py, "kept_routing")?, all.into_pyobject(py)?))
}

fn function<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("flyloom._core")?.getattr(name)
}

/// The network that was pickled: that of `data` where there is some, else that of `recipe` with
/// these failures. Raises `RefusalError` where it comes out as another one.
#[pyfunction]
pub fn kept_topology(
    py: Python<'_>,
    recipe: &str,
    links: Vec<u32>,
    switches: Vec<u32>,
    digest: u64,
    data: Option<&Bound<'_, PyBytes>>,
) -> PyResult<Topology> {
    let other = |why: &dyn std::fmt::Display| {
        let help = "unpickle with the version of flyloom that pickled it";
        refuse(Refusal::new("pickle", format!("not the network that was pickled: {why}"), help))
    };
    let inner = if let Some(data) = data {
        let text = py.import("zlib")?.call_method1("decompress", (data,))?;
        let text = String::from_utf8(text.extract()?).map_err(|e| other(&e))?;
        let read = move || json::read(&text, "pickle").map(families::recognised);
        Arc::new(enter_alone(py, read)?.map_err(refuse)?)
    } else {
        let recipe: NetworkRecipe = serde_json::from_str(recipe).map_err(|e| other(&e))?;
        let whole = Topology::built(py, &recipe)?.inner;
        let links: Vec<LinkId> = links.into_iter().map(LinkId).collect();
        let switches: Vec<SwitchId> = switches.into_iter().map(SwitchId).collect();
        if links.is_empty() && switches.is_empty() {
            whole
        } else {
            Arc::new(whole.with_failures(&links, &switches).map_err(refuse)?)
        }
    };
    if inner.digest() != digest {
        return Err(other(&inner.recipe()));
    }
    Ok(Topology { inner })
}

/// The tables that were pickled, for their network.
#[pyfunction]
pub fn kept_routing(
    py: Python<'_>,
    on: &Topology,
    tables: &Bound<'_, PyBytes>,
    addresses: Option<&str>,
) -> PyResult<Routing> {
    let (on, bytes) = (on.inner.clone(), tables.as_bytes().to_vec());
    let read = move || fabric::tables::Routing::from_bytes(on, &bytes);
    let inner = enter_alone(py, read)?.map_err(refuse)?;
    let addresses = addresses.map(serde_json::from_str).transpose();
    let addresses =
        addresses.map_err(|e| refuse(Refusal::new("pickle", format!("addresses: {e}"), "")))?;
    Ok(Routing { inner, addresses })
}
