//! `Topology`: a network with its structure, plan and files.

use crate::cables;
pub use crate::classes::Topology;
use crate::classes::{Routing, Traffic, Workload};
use crate::cost::{self, Shop};
use crate::enter::{
    afford, enter, enter_alone, from_python, html, interrupted, object, refuse, room_bytes,
    to_python,
};
use crate::pickling::{PickleReduction, reduce_topology};
use crate::stage::{MeasureInputFiles, measured};
use crate::views::array;
use base::{LinkId, Refusal, SwitchId, TerminalId, fields};
use fabric::addresses::PortAddresses;
use fabric::network::{FailureParameters, NetworkRecipe, Topology as Network, lost_in};
use fabric::size::NetworkSize;
use formats::backed::NetworkFileOptions;
use formats::graph_file;
use formats::ib::fabric_file::{EndpointDeviceFilter, rehearsal, slower_here, write_netlist};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

fn column<T>(items: &[T], value: impl Fn(&T) -> u32) -> Vec<u32> {
    items.iter().map(value).collect()
}

/// The failures that a dict describes.
fn failures(given: &Bound<'_, PyAny>) -> PyResult<FailureParameters> {
    let wrong = |(field, why)| Refusal::new(field, why, "links, switches, random, seed");
    fields::typed(&from_python(given)?).map_err(|e| refuse(wrong(e)))
}

fn numbers((links, switches): (Vec<LinkId>, Vec<SwitchId>)) -> (Vec<u32>, Vec<u32>) {
    (column(&links, |l| l.0), column(&switches, |s| s.0))
}

#[pymethods]
impl Topology {
    /// The member of `family` with these parameters (a dict). Raises `RefusalError`.
    #[staticmethod]
    fn from_spec(py: Python<'_>, family: &str, params: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::built(
            py,
            &NetworkRecipe { family: family.to_owned(), params: object(from_python(params)?) },
        )
    }

    /// The network of the inline form `family:key=value,...`. Raises `RefusalError`.
    #[staticmethod]
    fn from_inline(py: Python<'_>, text: &str) -> PyResult<Self> {
        Self::built(py, &fabric::network::parse_inline(text).map_err(refuse)?)
    }

    /// The network written in `text` (ibnetdiscover, ibsim netlist, GraphML, JSON, edge list),
    /// called `name` in errors; `p` endpoints a switch where the format has none; `devices` (a
    /// dict of `keep`, `only` and `adapters`) says which devices of a fabric are endpoints.
    #[staticmethod]
    #[pyo3(signature = (text, name, p=None, devices=None))]
    fn from_text(
        py: Python<'_>,
        text: &str,
        name: &str,
        p: Option<u32>,
        devices: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let choice = match devices {
            Some(devices) => EndpointDeviceFilter::new(&from_python(devices)?).map_err(refuse)?,
            None => EndpointDeviceFilter::default(),
        };
        afford(py, &format!("reading {name}"), |_| {
            NetworkSize::read(text.len(), text.lines().count())
        })?;
        let (text, name) = (text.to_owned(), name.to_owned());
        let p = NetworkFileOptions { p, room_bytes: room_bytes(py)? };
        let work =
            move || graph_file::read_any_chosen(&text, &name, p, &choice).map(families::recognised);
        let inner = enter_alone(py, work)?.map_err(refuse)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The same network, known as the member of `family` with these parameters (a dict).
    fn with_recipe(&self, family: &str, params: &Bound<'_, PyAny>) -> PyResult<Self> {
        let recipe =
            NetworkRecipe { family: family.to_owned(), params: object(from_python(params)?) };
        let inner = Network::clone(&self.inner).with_recipe(recipe);
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The same network with cables of this rate, Gbit/s: the fastest have it, slower ones keep
    /// their part of it. Raises `RefusalError` where no cable has it, and where the network says
    /// another rate.
    fn with_gbps(&self, gbps: f64) -> PyResult<Self> {
        let inner = Network::clone(&self.inner).with_gbps(gbps).map_err(refuse)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The rate of its fastest cables that its recipe says, Gbit/s; None where it says none.
    #[getter]
    fn gbps(&self) -> Option<f64> {
        self.inner.recipe().gbps()
    }

    /// How it came to be, in the inline form.
    #[getter]
    fn recipe(&self) -> String {
        self.inner.recipe().to_string()
    }

    /// The family's name, or `file`.
    #[getter]
    fn family(&self) -> &str {
        &self.inner.recipe().family
    }

    /// Number of switches, failed ones included.
    #[getter]
    fn switches(&self) -> usize {
        self.inner.switches().len()
    }

    /// Number of endpoints.
    #[getter]
    fn endpoints(&self) -> usize {
        self.inner.endpoints().len()
    }

    /// Number of terminals (rails of endpoints).
    #[getter]
    fn terminals(&self) -> usize {
        self.inner.terminals().len()
    }

    /// Number of switch-to-switch links, failed ones included.
    #[getter]
    fn links(&self) -> usize {
        self.inner.links().len()
    }

    /// Most switch-to-switch ports of any switch.
    #[getter]
    fn network_radix(&self) -> u32 {
        self.inner.network_radix()
    }

    /// Most endpoints on any switch.
    #[getter]
    fn concentration(&self) -> u32 {
        self.inner.concentration()
    }

    /// Most ports in use on any switch.
    #[getter]
    fn radix(&self) -> u32 {
        self.inner.radix()
    }

    /// Names of the switches.
    #[getter]
    fn switch_names(&self) -> Vec<&str> {
        self.inner.switches().iter().map(|s| s.name.as_str()).collect()
    }

    /// Names of the endpoints.
    #[getter]
    fn endpoint_names(&self) -> Vec<&str> {
        self.inner.endpoints().iter().map(|e| e.name.as_str()).collect()
    }

    /// Group of each switch, (switches,) uint32.
    #[getter]
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        array(py, column(self.inner.switches(), |s| s.group))
    }

    /// Level of each switch in a tree, (switches,) uint32.
    #[getter]
    fn levels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        array(py, column(self.inner.switches(), |s| s.level.into()))
    }

    /// The family's coordinates of each switch.
    #[getter]
    fn coordinates(&self) -> Vec<Vec<u32>> {
        self.inner.switches().iter().map(|s| s.coordinates.clone()).collect()
    }

    /// Both switches of every working link, (links, 2) uint32.
    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let up =
            (0..self.inner.links().len()).map(LinkId::from).filter(|&l| self.inner.link_is_up(l));
        let link = |l: LinkId| &self.inner.links()[l.ix()];
        let ends: Vec<u32> = up.flat_map(|l| [link(l).a.switch.0, link(l).b.switch.0]).collect();
        let rows = ends.len() / 2;
        array(py, ends)?.reshape([rows, 2])
    }

    /// Switch and port of every terminal, (terminals, 2) uint32.
    #[getter]
    fn attachments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let all = self.inner.terminals().iter();
        let plugs: Vec<u32> = all.flat_map(|t| [t.plug.switch.0, t.plug.port.into()]).collect();
        let rows = plugs.len() / 2;
        array(py, plugs)?.reshape([rows, 2])
    }

    /// Every link as columns: switch and port at both ends, rate, length (NaN: unknown), state.
    #[getter]
    fn link_table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let links = self.inner.links();
        let table = PyDict::new(py);
        table.set_item("a_switch", array(py, column(links, |l| l.a.switch.0))?)?;
        table.set_item("a_port", array(py, column(links, |l| l.a.port.into()))?)?;
        table.set_item("b_switch", array(py, column(links, |l| l.b.switch.0))?)?;
        table.set_item("b_port", array(py, column(links, |l| l.b.port.into()))?)?;
        let rates: Vec<f64> = links.iter().map(|l| l.cable.rate_gbps()).collect();
        table.set_item("rate_gbps", array(py, rates)?)?;
        let lengths: Vec<f32> =
            links.iter().map(|l| l.cable.length_m.unwrap_or(f32::NAN)).collect();
        table.set_item("length_m", array(py, lengths)?)?;
        let up: Vec<bool> =
            (0..links.len()).map(|l| self.inner.link_is_up(LinkId::from(l))).collect();
        table.set_item("up", array(py, up)?)?;
        Ok(table)
    }

    /// Time of flight along every link, ns: 5 a metre, 25 where the length is not known.
    #[getter]
    fn link_latency_ns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let all = self.inner.links().iter().map(|l| l.cable.latency().ns());
        array(py, all.collect::<Vec<f64>>())
    }

    /// Every terminal as columns: its endpoint, rail, switch and port, and whether it, its cable
    /// and its switch work.
    #[getter]
    fn terminal_table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let terminals = self.inner.terminals();
        let table = PyDict::new(py);
        table.set_item("endpoint", array(py, column(terminals, |t| t.endpoint.0))?)?;
        table.set_item("rail", array(py, column(terminals, |t| t.rail.into()))?)?;
        table.set_item("switch", array(py, column(terminals, |t| t.plug.switch.0))?)?;
        table.set_item("port", array(py, column(terminals, |t| t.plug.port.into()))?)?;
        let works = |t: usize| self.inner.terminal_is_up(TerminalId::from(t));
        let up: Vec<bool> = (0..terminals.len()).map(works).collect();
        table.set_item("up", array(py, up)?)?;
        Ok(table)
    }

    /// The network of two files, each by name and content, of a format that has two
    /// (`network_pair`), in its order; `p` endpoints on every switch.
    #[staticmethod]
    #[pyo3(signature = (first, second, p=None))]
    fn from_pair(
        py: Python<'_>,
        first: (String, Vec<u8>),
        second: (String, Vec<u8>),
        p: Option<u32>,
    ) -> PyResult<Self> {
        let p = NetworkFileOptions { p, room_bytes: room_bytes(py)? };
        let name = std::path::Path::new(&first.0).file_name().unwrap_or_default();
        let half = graph_file::half(&name.to_string_lossy(), &first.1);
        let Some(found) = half else {
            let why = "of no format in which a network is two files";
            return Err(refuse(base::Refusal::new(first.0, why, "flyloom list network-files")));
        };
        let work = move |_: &dyn base::ProgressWatch| {
            let files = [(&*first.0, &*first.1), (&*second.0, &*second.1)];
            found.format.read(files, p).map(families::recognised)
        };
        let inner = enter(py, None, work)?.map_err(refuse)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The network of a topology file of ibutils, `text`, called `name` in errors, with
    /// `definitions` of its systems: name and content of files `.ibnl`.
    #[staticmethod]
    fn from_ibutils(
        py: Python<'_>,
        text: String,
        name: String,
        definitions: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let work = move |_: &dyn base::ProgressWatch| {
            graph_file::ibutils::read_with(&text, &name, &definitions).map(families::recognised)
        };
        let inner = enter(py, None, work)?.map_err(refuse)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What its file had that was left out or understood otherwise than written, a line each.
    #[getter]
    fn remarks(&self) -> Vec<&str> {
        self.inner.aside().remarks.iter().map(String::as_str).collect()
    }

    /// Number of planes.
    #[getter]
    fn planes(&self) -> u16 {
        self.inner.planes()
    }

    /// Hops over working links from a switch to every switch, (switches,) uint32: 2^32 - 1 where
    /// there is no path.
    fn distances<'py>(
        &self,
        py: Python<'py>,
        switch: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let known = self.inner.switches().len();
        if switch >= known {
            let why = format!("there is no switch {switch}");
            return Err(refuse(Refusal::new("switch", why, format!("switches below {known}"))));
        }
        array(py, self.inner.graph().distances_from(switch))
    }

    /// The switch in the middle, the root of `up_down`: the nearest to the farthest that it
    /// reaches, then to all, then the first. None where there is no switch.
    fn middle_switch(&self, py: Python<'_>) -> PyResult<Option<u32>> {
        let found = enter(py, None, |watch| engines::up_down::middle(&self.inner, watch))?;
        Ok(found.map_err(|_| interrupted())?.map(|s| s.0))
    }

    /// The level of every switch of a tree, 0 for leaves, also of one that was read from a file;
    /// None where the network is no tree.
    fn tree_levels(&self) -> Option<Vec<u32>> {
        fabric::tree::tree_levels(&self.inner)
    }

    /// The roots of `up_down`: of a tree all switches of the top level, else the one in the middle.
    fn root_switches(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let found = enter(py, None, |watch| engines::up_down::root_switches(&self.inner, watch))?;
        Ok(found.map_err(|_| interrupted())?.into_iter().map(|s| s.0).collect())
    }

    /// What a user should know of this member of its family beside its figures, a sentence each.
    fn notes(&self) -> PyResult<Vec<String>> {
        let recipe = self.inner.recipe();
        let Ok(entry) = families::family(&recipe.family) else { return Ok(Vec::new()) };
        entry.notes(&recipe.params).map_err(refuse)
    }

    /// What the family promises by formula: a dict, or None for files.
    fn promise<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let recipe = self.inner.recipe();
        let Ok(entry) = families::family(&recipe.family) else { return Ok(None) };
        let p = entry.promise(&recipe.params).map_err(refuse)?;
        let diameter = match p.diameter {
            families::PromisedValue::Exact(d) => [d, d],
            families::PromisedValue::Between(low, high) => [low, high],
        };
        let ratio = |r: families::ExactFraction| r.num as f64 / r.den as f64;
        let mean = match p.mean_distance {
            families::PromisedValue::Exact(r) => [ratio(r), ratio(r)],
            families::PromisedValue::Between(low, high) => [ratio(low), ratio(high)],
        };
        let promise = json!({
            "switches": p.switches, "endpoints": p.endpoints, "links": p.links,
            "network_radix": p.network_radix, "diameter": diameter, "mean_distance": mean,
        });
        to_python(py, &promise).map(Some)
    }

    /// The measure `name` of this network, with its parameters (a dict; defaults where left out):
    /// a dict, see docs/measure-reference.md. `traffic` is what a parameter of that name stands
    /// for.
    #[pyo3(signature = (
        name, parameters=None, progress=None, traffic=None, workloads=None, times=None, places=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn measure<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        parameters: Option<&Bound<'py, PyAny>>,
        progress: Option<Py<PyAny>>,
        traffic: Option<&Traffic>,
        workloads: Option<Vec<Py<Workload>>>,
        times: Option<(String, String)>,
        places: Option<Vec<u32>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = MeasureInputFiles {
            routing: None,
            traffic: traffic.map(Traffic::sending),
            workloads: workloads.as_deref(),
            times,
            places: places.as_deref(),
        };
        measured(py, name, parameters, &self.inner, given, progress)
    }

    /// Numbers of the links and switches that a dict names: `links`, `switches`, `random`, `seed`,
    /// as of `with_failures`.
    fn failures(&self, given: &Bound<'_, PyAny>) -> PyResult<(Vec<u32>, Vec<u32>)> {
        let found = failures(given)?.of(&self.inner).map_err(refuse)?;
        Ok(numbers(found))
    }

    /// The same network with these links (by number, `SWITCH:SWITCH` or `SWITCH:PORT`) and switches
    /// (by number or name) failed, and `random` links besides that `seed` draws.
    #[pyo3(signature = (links=None, switches=None, *, random=None, seed=None))]
    fn with_failures(
        &self,
        py: Python<'_>,
        links: Option<&Bound<'_, PyAny>>,
        switches: Option<&Bound<'_, PyAny>>,
        random: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        self.afford(py, "building", NetworkSize::build)?;
        let given = PyDict::new(py);
        let named = [("links", links), ("switches", switches), ("random", random), ("seed", seed)];
        for (name, value) in named.into_iter().filter_map(|(n, v)| v.map(|v| (n, v))) {
            given.set_item(name, value)?;
        }
        let (links, switches) = failures(given.as_any())?.of(&self.inner).map_err(refuse)?;
        let inner = self.inner.with_failures(&links, &switches).map_err(refuse)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Numbers of the links and switches of this network that `found` does not have: switches by
    /// name, links by name and port at both ends, those of lost switches not among them.
    fn lost_in(&self, found: &Self) -> (Vec<u32>, Vec<u32>) {
        numbers(lost_in(&self.inner, &found.inner))
    }

    /// The network as text: `json`, `graphml`, `edges`, `dot` or `netlist` (ibsim).
    #[pyo3(signature = (format, lmc=0))]
    fn to_text(&self, py: Python<'_>, format: &str, lmc: u8) -> PyResult<String> {
        let (t, format) = (self.inner.clone(), format.to_owned());
        let write = move || match format.as_str() {
            "json" => Ok(graph_file::json::write(&t)),
            "graphml" => Ok(graph_file::graphml::write(&t)),
            "edges" => Ok(graph_file::edge_list::write(&t)),
            "dot" => Ok(graph_file::dot::write(&t)),
            "netlist" => PortAddresses::assign(&t, lmc).and_then(|a| write_netlist(&t, &a, None)),
            other => Err(Refusal::new(
                "format",
                format!("'{other}' is no format"),
                "json, graphml, edges, dot, netlist",
            )),
        };
        self.afford(py, "writing", NetworkSize::text)?;
        enter_alone(py, write)?.map_err(refuse)
    }

    /// Racks, cables and their cost under `rules` (a dict; defaults where left out), bought from
    /// `shop`: a dict with `racks`, `switches` and `endpoints` (seats), `cables_csv`, `by_step`,
    /// `rack_pairs`, `classes`.
    #[pyo3(signature = (rules=None, shop=None, progress=None))]
    fn plan<'py>(
        &self,
        py: Python<'py>,
        rules: Option<&Bound<'py, PyAny>>,
        shop: Option<PyRef<'py, Shop>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.afford(py, "laying out", |size| size.plan(true))?;
        cost::laid(py, &self.inner, rules, shop.as_deref(), progress, cost::document, true)
    }

    /// The bill of the network under `rules`, bought from `shop`: a dict, see `plan::Bill`.
    #[pyo3(signature = (rules=None, shop=None, progress=None))]
    fn cost<'py>(
        &self,
        py: Python<'py>,
        rules: Option<&Bound<'py, PyAny>>,
        shop: Option<PyRef<'py, Shop>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.afford(py, "laying out", |size| size.plan(false))?;
        cost::laid(py, &self.inner, rules, shop.as_deref(), progress, cost::bill, false)
    }

    /// What the 2014 study reckons for the network: a dict, see `plan::sc14::Reckoned`.
    fn cost_of_2014<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        cost::of_2014(py, &self.inner)
    }

    /// Compares a fabric that was found with this plan: a dict with counts, `findings`,
    /// `progress`, `cables` (state of those not correct), `switch_states`, `identified`, `guids`.
    /// `identify` is `auto`, `guid`, `name` or `structure`; `guids` gives GUIDs by device name.
    /// `ignore_ports`: any port of the right device will do. Cables after `step` need not be laid,
    /// nor, where `due` is given, any but these; `complete` says that all up to `step` are.
    #[pyo3(signature = (
        found, identify="auto", guids=None, rules=None, *, ignore_ports=false, step=None, due=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn check_cables<'py>(
        &self,
        py: Python<'py>,
        found: &Self,
        identify: &str,
        guids: Option<BTreeMap<String, u64>>,
        rules: Option<&Bound<'py, PyAny>>,
        ignore_ports: bool,
        step: Option<u8>,
        due: Option<HashSet<String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.afford(py, "checking the cables of", |size| size.plan(true))?;
        let (guids, due) = (guids.as_ref(), due.as_ref());
        let asked = cables::CableCheckRequest { identify, guids, ignore_ports, step, due };
        cables::check(py, &self.inner, &found.inner, &asked, rules)
    }

    /// Tables by `engine` (ours) with `options` (a dict) and `layers` routes a terminal.
    #[pyo3(signature = (engine, options=None, layers=1, progress=None))]
    fn route(
        &self,
        py: Python<'_>,
        engine: &str,
        options: Option<&Bound<'_, PyAny>>,
        layers: u32,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Routing> {
        let options = options.map(from_python).transpose()?.map(object).unwrap_or_default();
        let on = &self.inner;
        let entry = engines::engine(engine).map_err(refuse)?;
        let lanes = entry.choice(&options).map_err(refuse)?;
        self.afford(py, "routing", |size| {
            let routes = engines::work::need(size, Some(on), engine, layers);
            let chosen = lanes.chosen().then(|| size.along_any(layers, lanes.spread().work()));
            chosen.map_or(routes, |lanes| routes.then(lanes))
        })?;
        let routed = enter(py, progress, |watch| entry.route(&options, on, layers, watch))?;
        Routing::from_result(routed)
    }

    /// Tables read from a fabric: `lfts` is what `dump_fts` printed; `levels` path records
    /// (`slid dlid sl` a line) and `sl2vl` OpenSM's dump, or None for one lane.
    #[pyo3(signature = (lfts, name, levels=None, sl2vl=None, keep_lids=true, lmc=0))]
    #[allow(clippy::too_many_arguments)]
    fn import_tables(
        &self,
        py: Python<'_>,
        lfts: &str,
        name: &str,
        levels: Option<&str>,
        sl2vl: Option<&str>,
        keep_lids: bool,
        lmc: u8,
    ) -> PyResult<Routing> {
        let on = &self.inner;
        self.afford(py, "reading tables for", |size| size.tables(1 << lmc.min(7)))?;
        let (on, name) = (on.clone(), name.to_owned());
        let [lfts, levels, sl2vl] = [Some(lfts), levels, sl2vl].map(|text| text.map(str::to_owned));
        let work = move || -> Result<_, Refusal> {
            let (on, name) = (&on, &name);
            let addresses = if keep_lids {
                PortAddresses::from_fabric(on)?
            } else {
                PortAddresses::assign(on, lmc)?
            };
            let tables = formats::ib::lft::read(&lfts.unwrap_or_default(), name)?;
            let mut routing = formats::ib::lft::to_routing(&tables, on, &addresses)?;
            if let Some(levels) = levels {
                let levels = formats::ib::sl_files::read_path_records(&levels, name)?;
                let tables =
                    sl2vl.map(|t| formats::ib::sl_files::read_sl2vl(&t, name)).transpose()?;
                let tables = tables.unwrap_or_default();
                let lanes =
                    formats::ib::sl_files::lanes_of(&routing, &addresses, &levels, &tables)?;
                routing = routing.with_lanes(lanes);
            }
            Ok((routing, addresses))
        };
        let (inner, addresses) = enter_alone(py, work)?.map_err(refuse)?;
        Ok(Routing { inner, addresses: Some(addresses) })
    }

    /// Tables from the text of a table file of ours, the work of `engine`; their addresses are
    /// those of `addresses(lmc)`.
    #[pyo3(signature = (text, name, lmc, engine="file"))]
    fn read_tables(
        &self,
        py: Python<'_>,
        text: &str,
        name: &str,
        lmc: u8,
        engine: &str,
    ) -> PyResult<Routing> {
        let on = &self.inner;
        self.afford(py, "reading tables for", |size| size.tables(1 << lmc.min(7)))?;
        let (on, text, name) = (on.clone(), text.to_owned(), name.to_owned());
        let work = move || {
            let addresses = PortAddresses::assign(&on, lmc)?;
            formats::ib::table::read(&text, &name, &on, &addresses)
        };
        let inner = enter_alone(py, work)?.map_err(refuse)?.named(engine, Map::new());
        Ok(Routing { inner, addresses: None })
    }

    /// This network with LIDs that fit `lmc`, as many of those that it carries as can be; the same
    /// network where it carries none, or all fit.
    fn with_new_lids(&self, lmc: u8) -> PyResult<Self> {
        Ok(Self { inner: Arc::new(self.inner.with_new_lids(lmc).map_err(refuse)?) })
    }

    /// This network with the names of a node name map of OpenSM, called `name` in errors, and what
    /// is to be said of it, a line each.
    fn with_node_names(&self, text: &str, name: &str) -> PyResult<(Self, Vec<String>)> {
        let names = formats::ib::node_names::NodeNames::read(text, name).map_err(refuse)?;
        let (inner, remarks) = names.apply(&self.inner);
        Ok((Self { inner: Arc::new(inner) }, remarks))
    }

    /// This network as the simulator ibsim takes it: numbers, names, cables, LIDs under `lmc` and
    /// the GUIDs of switches stay, adapters have the ports and GUIDs that ibsim gives them.
    fn rehearsal(&self, lmc: u8) -> PyResult<Self> {
        Ok(Self { inner: Arc::new(rehearsal(&self.inner, lmc).map_err(refuse)?) })
    }

    /// What is to be said of cables that stand in a netlist of ibsim with a lower speed than
    /// theirs; None where there are none.
    #[getter]
    fn netlist_remark(&self) -> Option<String> {
        slower_here(&self.inner, 0)
    }

    /// The LIDs that the network carries, 0 where it has none: a dict of columns, `terminal` and
    /// `switch`.
    #[getter]
    fn lids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = PyDict::new(py);
        let (terminals, switches) = (self.inner.terminals(), self.inner.switches());
        table.set_item("terminal", array(py, column(terminals, |t| t.lid.unwrap_or(0).into()))?)?;
        table.set_item("switch", array(py, column(switches, |s| s.lid.unwrap_or(0).into()))?)?;
        Ok(table)
    }

    /// GUIDs and LIDs under `lmc`: a dict of columns by switch, endpoint and terminal. LIDs that
    /// the network carries are kept; refused where they do not fit.
    #[pyo3(signature = (lmc=0))]
    fn addresses<'py>(&self, py: Python<'py>, lmc: u8) -> PyResult<Bound<'py, PyAny>> {
        let a = PortAddresses::assign(&self.inner, lmc).map_err(refuse)?;
        let all = json!({
            "lmc": a.lmc, "switch_guid": a.switch_guid, "switch_lid": a.switch_lid,
            "node_guid": a.node_guid, "port_guid": a.port_guid, "lid": a.lid,
            "guid2lid": a.guid2lid(),
        });
        to_python(py, &all)
    }

    fn __eq__(&self, other: PyRef<'_, Self>) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner) || self.inner == other.inner
    }

    fn __hash__(&self) -> u64 {
        self.inner.digest()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<PickleReduction<'py>> {
        reduce_topology(py, &self.inner)
    }

    /// A picture of the network, which a notebook shows and `save("a.pdf")` writes: `adjacency`,
    /// which switches are linked, or the `floor`.
    #[pyo3(signature = (what = None))]
    fn plot<'py>(slf: &Bound<'py, Self>, what: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("flyloom.support.pictures")?.call_method1("picture_of", (slf, what))
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (py, this) = (slf.py(), slf.borrow());
        let t = &this.inner;
        let failed = t.links().len() - t.graph().arcs() / 2;
        let fields = [
            ("switches", t.switches().len()),
            ("endpoints", t.endpoints().len()),
            ("links", t.links().len()),
            ("links that do not work", failed),
            ("ports in use on a switch", t.radix() as usize),
            ("planes", t.planes().into()),
        ];
        let title = format!("Topology {}", t.recipe());
        let table = html(py, &title, &fields.map(|(k, v)| (k, v.to_string())))?;
        let pictures = py.import("flyloom.support.pictures")?;
        let picture: String = pictures.call_method1("thumbnail_of", (slf,))?.extract()?;
        Ok(table + &picture)
    }

    fn __repr__(&self) -> String {
        let t = &self.inner;
        let (s, e, l) = (t.switches().len(), t.endpoints().len(), t.links().len());
        format!("<Topology {}: {s} switches, {e} endpoints, {l} links>", t.recipe())
    }
}
