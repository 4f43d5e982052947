//! `Routing`: forwarding tables with their proof, their measures and their files.

use crate::enter::{enter, interrupted, refuse, to_python};
use crate::topology::Topology;
use base::{Interrupted, Refusal, SwitchId, TerminalId};
use net::graph_file::orcs;
use net::ib::names::Addresses;
use net::ib::{compare, lft, sl_files, table};
use net::lanes;
use net::load::congestion::{self, Congestion, CongestionError, Levels, Order, Setup};
use net::load::metric::Metric;
use net::load::{diversity, ebb, edge_load};
use net::repair::{self, Safety};
use net::routing::{self, RouteError, ServiceLevels};
use net::verify::{self, Verdict, certificate, faults, lane_use};
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// Immutable forwarding tables of a network: routes per destination and layer, and their lanes.
#[pyclass(frozen, module = "flyloom")]
pub struct Routing {
    pub inner: routing::Routing,
    /// Addresses the tables were read with; `None` for tables of ours, whose addresses are made.
    pub addresses: Option<Addresses>,
}

impl Routing {
    pub fn from_result(routed: Result<routing::Routing, RouteError>) -> PyResult<Self> {
        routed.map(|inner| Self { inner, addresses: None }).map_err(raise)
    }

    fn addresses(&self) -> Result<Addresses, Refusal> {
        match &self.addresses {
            Some(kept) => Ok(kept.clone()),
            None => Addresses::assign(self.inner.topology(), self.inner.lmc()),
        }
    }
}

fn raise(error: RouteError) -> PyErr {
    match error {
        RouteError::Refused(refusal) => refuse(refusal),
        RouteError::Interrupted(_) => interrupted(),
    }
}

fn raise_congestion(error: CongestionError) -> PyErr {
    match error {
        CongestionError::Refused(refusal) => refuse(refusal),
        CongestionError::Interrupted(_) => interrupted(),
    }
}

fn congestion_found(found: &Congestion, metric: Metric) -> Value {
    let of = |metric: Metric| found.summary(metric);
    let (share, chosen) = (of(Metric::Bandwidth), of(metric));
    let (n, mean) = (share.values.len() as f64, share.mean);
    let half = share.variance.map(|variance| 1.959_963_984_540_054 * (variance / n).sqrt());
    let job = |i: usize| {
        found.first_job.map(|_| found.runs.iter().map(|r| r.job_shares[i]).sum::<f64>() / n)
    };
    let range = Some(found.share_range).filter(|range| range[0] <= range[1]);
    json!({
        "metric": metric.name(), "series": chosen.values, "mean": chosen.mean, "min": chosen.min,
        "max": chosen.max, "variance": chosen.variance, "histogram": chosen.histogram,
        "endpoints": found.endpoints, "levels": found.levels, "runs": found.runs.len(),
        "mean_share": mean, "confidence_interval_95": half.map(|half| [mean - half, mean + half]),
        "min_share": range.map(|r| r[0]), "max_share": range.map(|r| r[1]),
        "share_histogram": found.shares, "max_congestion": of(Metric::Congestion).max,
        "congestion_histogram": found.congestions.iter().collect::<Vec<_>>(),
        "mean_time": of(Metric::Time).mean, "mean_delay": of(Metric::Delay).mean,
        "first_job": found.first_job, "first_job_share": job(0), "second_job_share": job(1),
    })
}

fn difference(d: &compare::Difference) -> Value {
    json!({ "entries": d.entries, "differing": d.differing, "first": d.first })
}

#[pymethods]
impl Routing {
    /// Name of the engine, or `file`.
    #[getter]
    fn engine(&self) -> &str {
        self.inner.engine()
    }

    /// Routes to every terminal.
    #[getter]
    fn layers(&self) -> u32 {
        self.inner.layers()
    }

    /// LID mask control that carries the layers.
    #[getter]
    fn lmc(&self) -> u8 {
        self.inner.lmc()
    }

    /// Data lanes in use.
    #[getter]
    fn lanes(&self) -> u8 {
        self.inner.lanes().count()
    }

    /// Forwarding ports, (layers, terminals, switches) uint16; 65535 where there is no route.
    #[getter]
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<u16>>> {
        let on = self.inner.topology();
        let shape = [self.inner.layers() as usize, on.terminals().len(), on.switches().len()];
        PyArray1::from_slice(py, self.inner.next()).reshape(shape)
    }

    /// Service levels, (layers, terminals, switches) uint8 by source switch, or None when all paths
    /// have the same or levels differ between terminals of one switch.
    #[getter]
    fn service_levels<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray3<u8>>>> {
        let on = self.inner.topology();
        let shape = [self.inner.layers() as usize, on.terminals().len(), on.switches().len()];
        match self.inner.lanes().levels() {
            ServiceLevels::BySwitch(v) => PyArray1::from_slice(py, v).reshape(shape).map(Some),
            _ => Ok(None),
        }
    }

    /// The switches that a packet from terminal `source` to `destination` visits in `layer`.
    #[pyo3(signature = (source, destination, layer=0))]
    fn path(&self, source: u32, destination: u32, layer: u32) -> PyResult<Vec<u32>> {
        let on = self.inner.topology();
        let known = on.terminals().len() as u32;
        if source >= known || destination >= known || layer >= self.inner.layers() {
            let why = format!("terminals {source}, {destination}, layer {layer}");
            let help = format!("terminals below {known}, layers below {}", self.inner.layers());
            return Err(refuse(Refusal::new("path", why, help)));
        }
        let tree = self.inner.tree(layer, TerminalId(destination));
        let mut at = on.terminals()[source as usize].plug.switch;
        let mut path = vec![at.0];
        while let Some((_, next)) =
            self.inner.step(tree, at).filter(|_| path.len() <= on.switches().len())
        {
            at = next;
            path.push(at.0);
        }
        Ok(path)
    }

    /// Proof of the tables: a dict of verdicts, each with its witness or counterexample.
    #[pyo3(signature = (hop_limit=64, progress=None, max_lanes=15))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        hop_limit: u32,
        progress: Option<Py<PyAny>>,
        max_lanes: u8,
    ) -> PyResult<Bound<'py, PyAny>> {
        let work = |watch: &dyn base::Watch| proof(&self.inner, hop_limit, max_lanes, watch);
        let found = enter(py, progress, work)?.map_err(|_| interrupted())?;
        to_python(py, &found)
    }

    /// The certificate of the tables: a number for every port and lane that rises along every
    /// route; None where the proof fails.
    #[pyo3(signature = (progress=None))]
    fn certificate_text(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<String>> {
        let addresses = self.addresses().map_err(refuse)?;
        let work = |watch: &dyn base::Watch| verify::verify(&self.inner, u32::MAX, watch);
        let v = enter(py, progress, work)?.map_err(|_| interrupted())?;
        Ok(match v.deadlock {
            Some(Verdict::Holds(n)) => Some(certificate::text(&self.inner, &addresses, &n)),
            _ => None,
        })
    }

    /// What each method of giving lanes needs: a list of dicts.
    #[pyo3(signature = (seed=0, progress=None))]
    fn lanes_needed<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let work = |watch: &dyn base::Watch| lanes::needed(&self.inner, seed, watch);
        let all = enter(py, progress, work)?.map_err(raise)?;
        let row = |need: &lanes::Need| match &need.lanes {
            Ok((lanes, levels)) => {
                json!({ "method": need.method.name(), "lanes": lanes, "service_levels": levels })
            }
            Err(refusal) => json!({
                "method": need.method.name(), "lanes": null, "service_levels": null,
                "why": refusal.to_string(),
            }),
        };
        to_python(py, &Value::Array(all.iter().map(row).collect()))
    }

    /// The same routes on lanes given by `method`.
    #[pyo3(signature = (method, max_lanes=8, balance=false, seed=0, progress=None))]
    fn spread(
        &self,
        py: Python<'_>,
        method: &str,
        max_lanes: u8,
        balance: bool,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let method =
            lanes::Method::ALL.into_iter().find(|m| m.name() == method).ok_or_else(|| {
                let names = lanes::Method::ALL.map(lanes::Method::name).join(", ");
                refuse(Refusal::new("method", format!("there is no '{method}'"), names))
            })?;
        let how = lanes::Spread { method, max_lanes, balance, seed };
        let work = |watch: &dyn base::Watch| lanes::spread(self.inner.clone(), &how, watch);
        let inner = enter(py, progress, work)?.map_err(raise)?;
        Ok(Self { inner, addresses: self.addresses.clone() })
    }

    /// The tables repaired for `on`, the same network with more failures, and what it took: a
    /// dict.
    #[pyo3(signature = (on, progress=None))]
    fn repair<'py>(
        &self,
        py: Python<'py>,
        on: &Topology,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Self, Bound<'py, PyAny>)> {
        let work = |watch: &dyn base::Watch| repair::repair(&self.inner, &on.inner, watch);
        let done = enter(py, progress, work)?.map_err(raise)?;
        let found = to_python(py, &repaired(&self.inner, &done))?;
        Ok((Self { inner: done.routing, addresses: self.addresses.clone() }, found))
    }

    /// Routes over each channel: a dict with the edge forwarding index and the histogram.
    fn load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let load = enter(py, None, |_| edge_load::edge_load(&self.inner))?;
        let histogram: Vec<_> = load.histogram.iter().map(|(n, c)| json!([n, c])).collect();
        let all = json!({
            "edge_forwarding_index": load.index(), "lower_bound": load.mean_bound(),
            "hops": load.hops, "histogram": histogram,
        });
        to_python(py, &all)
    }

    /// Distinct and link-disjoint paths of each pair of switches over all layers: a dict.
    #[pyo3(signature = (progress=None))]
    fn path_diversity<'py>(
        &self,
        py: Python<'py>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let work = |watch: &dyn base::Watch| diversity::path_diversity(&self.inner, watch);
        let found = enter(py, progress, work)?.map_err(|_| interrupted())?;
        let all = json!({
            "pairs": found.pairs(), "mean_disjoint_paths": found.mean_disjoint(),
            "fraction_pairs_3_disjoint_paths": found.fraction_with(3),
            "mean_distinct_paths": found.mean_distinct(),
            "disjoint_histogram": found.disjoint, "distinct_histogram": found.distinct,
            "hop_histograms": found.lengths, "longest_histogram": found.longest,
            "mean_hops": found.mean_lengths(),
        });
        to_python(py, &all)
    }

    /// Routes over each channel, (2 * links,) uint64: channel 2 l leaves end a of link l.
    fn channel_loads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let load = enter(py, None, |_| edge_load::edge_load(&self.inner))?;
        Ok(PyArray1::from_vec(py, load.routes))
    }

    /// Effective bisection bandwidth: a dict; `pattern_means` has one value a pattern.
    #[pyo3(signature = (patterns=1000, seed=0, progress=None))]
    fn ebb<'py>(
        &self,
        py: Python<'py>,
        patterns: u32,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let work = |watch: &dyn base::Watch| ebb::ebb(&self.inner, patterns, seed, watch);
        let found = enter(py, progress, work)?.map_err(raise_congestion)?;
        let (mean, half) = (found.mean(), found.confidence_95());
        let interval = half.is_finite().then_some([mean - half, mean + half]);
        let all = json!({
            "effective_bisection_bandwidth": mean, "confidence_interval_95": interval,
            "patterns": patterns, "seed": seed, "max_congestion": found.max_congestion,
            "pattern_means": found.patterns, "flow_histogram": found.flows,
        });
        to_python(py, &all)
    }

    /// Congestion of a pattern: a dict. `order` is None (random), [] (as the network has them) or
    /// names; `level` alone, or all `together`, or one after the other.
    #[pyo3(signature = (pattern, runs, seed, endpoints, first_job, order, level, together,
                        endpoint_cables, metric, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn congestion<'py>(
        &self,
        py: Python<'py>,
        pattern: String,
        runs: u32,
        seed: u64,
        endpoints: Option<u32>,
        first_job: Option<u32>,
        order: Option<Vec<String>>,
        level: Option<u32>,
        together: bool,
        endpoint_cables: bool,
        metric: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let metric = Metric::parse(metric).map_err(refuse)?;
        let order = match order {
            None => Order::Random,
            Some(names) if names.is_empty() => Order::Linear,
            Some(names) => Order::Given(names),
        };
        let levels = match level {
            Some(level) => Levels::One(level),
            None if together => Levels::Together,
            None => Levels::Each,
        };
        let setup =
            Setup { pattern, runs, seed, endpoints, first_job, order, levels, endpoint_cables };
        let work = |watch: &dyn base::Watch| congestion::congestion(&self.inner, &setup, watch);
        let found = enter(py, progress, work)?.map_err(raise_congestion)?;
        to_python(py, &congestion_found(&found, metric))
    }

    /// The network it routes.
    #[getter]
    fn topology(&self) -> Topology {
        Topology { inner: self.inner.topology().clone() }
    }

    /// The tables of a digraph of ORCS.
    #[staticmethod]
    fn from_orcs(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let inner = enter(py, None, |_| orcs::read_tables(text, name))?.map_err(refuse)?;
        Ok(Self { inner, addresses: None })
    }

    /// The tables as a digraph of ORCS.
    fn orcs_text(&self, py: Python<'_>) -> PyResult<String> {
        enter(py, None, |_| orcs::write(&self.inner))?.map_err(refuse)
    }

    /// The forwarding tables as `dump_fts` prints them.
    fn lft_text(&self, py: Python<'_>) -> PyResult<String> {
        let work = |_: &dyn base::Watch| -> Result<String, Refusal> {
            let addresses = self.addresses()?;
            let tables = lft::tables(&self.inner, &addresses)?;
            let mut text = String::new();
            lft::write(&tables, self.inner.topology(), &addresses, &mut text)
                .map_err(|e| Refusal::new("tables", e.to_string(), ""))?;
            Ok(text)
        };
        enter(py, None, work)?.map_err(refuse)
    }

    /// The file that the OpenSM plug-in reads: tables, service levels, SL2VL.
    fn table_text(&self, py: Python<'_>) -> PyResult<String> {
        let work = |_: &dyn base::Watch| -> Result<String, Refusal> {
            let addresses = self.addresses()?;
            table::text(&self.inner, &addresses, &lft::tables(&self.inner, &addresses)?)
        };
        enter(py, None, work)?.map_err(refuse)
    }

    /// Compares what a fabric reports with these tables, entry for entry: `dump_fts` text, path
    /// records (`slid dlid sl` a line) and SL2VL tables (OpenSM's dump layout); None: not compared.
    #[pyo3(signature = (lfts=None, levels=None, sl2vl=None))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        lfts: Option<&str>,
        levels: Option<&str>,
        sl2vl: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let work = |_: &dyn base::Watch| -> Result<Value, Refusal> {
            let addresses = self.addresses()?;
            let mut all = serde_json::Map::new();
            if let Some(text) = lfts {
                let found = lft::read(text, "tables read back")?;
                let d = compare::lfts(&lft::tables(&self.inner, &addresses)?, &found);
                all.insert("lft".into(), difference(&d));
            }
            if let Some(text) = levels {
                let found = sl_files::read_path_records(text, "path records read back")?;
                let d = compare::levels(&self.inner, &addresses, &found);
                all.insert("sl".into(), difference(&d));
            }
            if let Some(text) = sl2vl {
                let found = sl_files::read_sl2vl(text, "SL2VL read back")?;
                let d = compare::sl2vl(&self.inner, &addresses, &found);
                all.insert("sl2vl".into(), difference(&d));
            }
            Ok(Value::Object(all))
        };
        let value = enter(py, None, work)?.map_err(refuse)?;
        to_python(py, &value)
    }

    fn __repr__(&self) -> String {
        let (engine, layers) = (self.inner.engine(), self.inner.layers());
        format!(
            "<Routing {engine} of {}: {layers} layers, {} lanes>",
            self.inner.topology().recipe(),
            self.lanes()
        )
    }
}

fn repaired(old: &routing::Routing, done: &repair::Repaired) -> Value {
    let on = old.topology();
    let changes: Vec<Value> = done
        .changes
        .iter()
        .map(|c| {
            let endpoint = on.terminals()[c.to.1.ix()].endpoint;
            json!({
                "switch": on.switches()[c.switch.ix()].name,
                "endpoint": on.endpoints()[endpoint.ix()].name, "terminal": c.to.1.0,
                "layer": c.to.0, "was": c.port.0, "port": c.port.1,
            })
        })
        .collect();
    let (safe, why) = match &done.safety {
        Safety::AnyOrder => ("in any order", None),
        Safety::InOrder => ("in the order given", None),
        Safety::Draining(why) => ("after draining", Some(why)),
        Safety::Unknown => ("unknown", None),
    };
    let switches: std::collections::BTreeSet<u32> =
        done.changes.iter().map(|c| c.switch.0).collect();
    json!({
        "changed_entries": done.changes.len(), "least_changed_entries": done.least,
        "changed_switches": switches.len(),
        "changed_entries_to_switches": done.management.0,
        "least_changed_entries_to_switches": done.management.1,
        "changed_service_levels": done.relevelled, "safe": safe, "why": why, "changes": changes,
    })
}

/// The proof as users see it. `verdicts` has every question by name: whether it holds (null where
/// it was not judged), its witness or its counterexample.
fn proof(
    routing: &routing::Routing,
    hop_limit: u32,
    max_lanes: u8,
    watch: &dyn base::Watch,
) -> Result<Value, Interrupted> {
    let v = verify::verify(routing, hop_limit, watch)?;
    let mut all = verdicts(routing, &v);
    let mut named = Map::new();
    let counted = match &v.complete {
        Verdict::Holds(_) => None,
        Verdict::Fails(_) => Some(faults::count(routing, hop_limit, watch)?),
    };
    for (kind, name) in faults::KINDS.iter().enumerate() {
        let found = counted.as_ref().map(|c| (c.routes, &c.of[kind]));
        let verdict = match (found, &v.complete) {
            (Some((_, (n, Some(first)))), _) => json!({
                "holds": false, "routes": n, "counterexample": first.to_string(),
            }),
            (Some((routes, _)), _) => json!({ "holds": true, "witness": { "routes": routes } }),
            (None, Verdict::Holds(reach)) => json!({
                "holds": true,
                "witness": { "routes": reach.routes, "hop_histogram": reach.histogram },
            }),
            (None, Verdict::Fails(_)) => Value::Null,
        };
        named.insert(format!("no_{name}"), verdict);
    }
    named.insert("management".into(), all["management"].clone());
    let unjudged = || json!({ "holds": null, "why": "routes do not all arrive" });
    let deadlock = match &v.deadlock {
        None => unjudged(),
        Some(Verdict::Holds(n)) => json!({
            "holds": matches!(v.rechecked, Some(Ok(()))),
            "witness": {
                "dependencies": n.dependencies, "lanes": n.lanes, "numbers": n.number.len(),
            },
        }),
        Some(Verdict::Fails(_)) => json!({
            "holds": false, "cycle": all["deadlock"]["cycle"],
            "counterexample": all["deadlock"]["counterexample"],
        }),
    };
    named.insert("no_deadlock".into(), deadlock);
    let mut lanes_hold = true;
    let lanes = if v.complete.holds() {
        match lane_use::within(routing, max_lanes, watch)? {
            Verdict::Holds(used) => json!({ "holds": true, "witness": { "lanes": used } }),
            Verdict::Fails(excess) => {
                lanes_hold = false;
                json!({ "holds": false, "counterexample": excess.to_string() })
            }
        }
    } else {
        unjudged()
    };
    named.insert("within_lanes".into(), lanes);
    all["holds"] = json!(v.holds() && lanes_hold);
    all["verdicts"] = Value::Object(named);
    Ok(all)
}

fn verdicts(routing: &routing::Routing, v: &verify::Verification) -> Value {
    let name = |s: SwitchId| routing.topology().switches()[s.ix()].name.clone();
    let complete = match &v.complete {
        Verdict::Holds(reach) => json!({
            "holds": true, "routes": reach.routes, "max_hops": reach.max_hops(),
            "mean_hops": reach.mean_hops(), "hop_histogram": reach.histogram,
        }),
        Verdict::Fails(broken) => json!({ "holds": false, "counterexample": broken.to_string() }),
    };
    let deadlock = match &v.deadlock {
        None => Value::Null,
        Some(Verdict::Holds(n)) => json!({
            "holds": true, "dependencies": n.dependencies, "lanes": n.lanes,
            "rechecked": matches!(v.rechecked, Some(Ok(()))),
            "recheck_error": v.rechecked.as_ref().and_then(|r| r.as_ref().err()),
        }),
        Some(Verdict::Fails(cycle)) => {
            let waits: Vec<Value> = cycle
                .waits
                .iter()
                .map(|w| {
                    let (from, to) =
                        (routing.topology().tail(w.held.0), routing.topology().head(w.held.0));
                    json!({
                        "from": name(from.switch), "port": from.port, "to": name(to.switch),
                        "lane": w.held.1, "channel": w.channel, "route": w.route,
                    })
                })
                .collect();
            let lines: Vec<String> = cycle.to_string().lines().map(str::to_owned).collect();
            json!({ "holds": false, "cycle": waits, "counterexample": lines })
        }
    };
    let management = match &v.management {
        Verdict::Holds(routes) => json!({ "holds": true, "routes": routes }),
        Verdict::Fails(broken) => json!({ "holds": false, "counterexample": broken.to_string() }),
    };
    json!({
        "holds": v.holds(), "complete": complete, "management": management, "deadlock": deadlock,
        "lanes": routing.lanes().count(),
    })
}
