//! `Routing`: forwarding tables with their proof, their measures and their files.

pub use crate::classes::Routing;
use crate::classes::{Topology, Traffic, Workload, affordable};
use crate::enter::{
    afford, enter, enter_alone, from_python, html, interrupted, object, refuse, stopped, to_python,
};
use crate::pickling::{PickleReduction, reduce_routing};
use crate::stage::{MeasureInputFiles, measured};
use crate::views::{array, view};
use base::{Refusal, TerminalId};
use engines::{lanes, repair};
use fabric::addresses::PortAddresses;
use fabric::size::{NetworkSize, RouteWorkKind};
use fabric::tables::ServiceLevels;
use formats::graph_file::orcs;
use formats::ib::{changes, compare, lft, sl_files, table};
use measure::load::edge_load;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use serde_json::{Value, json};
use verify::{RouteLimits, VerifiedRouting, certificate};

impl Routing {
    /// Refuses work along all routes that the machine cannot do.
    fn afford(&self, py: Python<'_>, what: &str, work: RouteWorkKind) -> PyResult<()> {
        affordable(py, self.inner.topology(), what, |size| size.along(&self.inner, work))
    }

    /// The service levels where they are by switch; none where they are not.
    fn levels_by_switch(&self) -> &[u8] {
        match self.inner.lanes().levels() {
            ServiceLevels::BySwitch(levels) => levels,
            _ => &[],
        }
    }

    fn addresses(&self) -> Result<PortAddresses, Refusal> {
        match &self.addresses {
            Some(kept) => Ok(kept.clone()),
            None => PortAddresses::assign(self.inner.topology(), self.inner.lmc()),
        }
    }
}

fn difference(d: &compare::TableEntryDifferences) -> Value {
    json!({ "entries": d.entries, "differing": d.differing, "first": d.first })
}

fn counted(n: changes::TableChangeCounts) -> Value {
    json!({ "all": n.all, "changed": n.changed, "new": n.new })
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
        self.afford(py, "whole tables of", RouteWorkKind::Whole)?;
        let routing = self.inner.clone();
        let whole = enter_alone(py, move || routing.next())?;
        array(py, whole)?.reshape(shape)
    }

    /// Forwarding ports to switches, (switches, switches) uint16, 0 at the destination, which is
    /// the row: a read-only view of the tables.
    #[getter]
    fn to_switch<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u16>>> {
        let switches = slf.get().inner.topology().switches().len();
        view(slf, |routing| routing.inner.to_switch(), [switches, switches])
    }

    /// Service levels, (layers, terminals, switches) uint8 by source switch, or None when all paths
    /// have the same or levels differ between terminals of one switch: a read-only view.
    #[getter]
    fn service_levels<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyArray3<u8>>>> {
        let routing = &slf.get().inner;
        if !matches!(routing.lanes().levels(), ServiceLevels::BySwitch(_)) {
            return Ok(None);
        }
        let on = routing.topology();
        let shape = [routing.layers() as usize, on.terminals().len(), on.switches().len()];
        view(slf, Self::levels_by_switch, shape).map(Some)
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
        let from = on.terminals()[source as usize].plug.switch;
        let walk = self.inner.walk(layer, TerminalId(destination), from);
        let hops = walk.take(on.switches().len()).map(|hop| hop.to.0);
        Ok(std::iter::once(from.0).chain(hops).collect())
    }

    /// The certificate of the tables: a number for every port and lane that rises along every
    /// route; None where the proof fails.
    #[pyo3(signature = (progress=None))]
    fn certificate_text(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<String>> {
        self.afford(py, "proving routes on", RouteWorkKind::Certificate)?;
        let addresses = self.addresses().map_err(refuse)?;
        let work = |watch: &dyn base::ProgressWatch| {
            VerifiedRouting::routing(self.inner.clone(), RouteLimits::NONE, watch)
        };
        let Ok(proved) = enter(py, progress, work)?.map_err(|_| interrupted())? else {
            return Ok(None);
        };
        enter_alone(py, move || certificate::text(&proved, &addresses)).map(Some)
    }

    /// The same routes on lanes given as `options` say: `lanes`, `max_lanes`, `balance`, `seed`.
    #[pyo3(signature = (options, progress=None))]
    fn spread(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let mut options = object(from_python(options)?);
        let how = lanes::LaneMethodParameters::take(&mut options, false).map_err(refuse)?.spread();
        self.afford(py, "giving lanes on", how.work())?;
        let work = |watch: &dyn base::ProgressWatch| lanes::spread(self.inner.clone(), &how, watch);
        let inner = enter(py, progress, work)?.map_err(stopped)?;
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
        self.afford(py, "repairing routes on", RouteWorkKind::Repair)?;
        let work = |watch: &dyn base::ProgressWatch| repair::repair(&self.inner, &on.inner, watch);
        let done = enter(py, progress, work)?.map_err(stopped)?;
        let found = to_python(py, &json!(repair::record::RepairRecord::of(&self.inner, &done)))?;
        Ok((Self { inner: done.routing, addresses: self.addresses.clone() }, found))
    }

    /// Routes over each channel, (2 * links,) uint64: channel 2 l leaves end a of link l.
    fn channel_loads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let load = enter(py, None, |watch| edge_load::edge_load(&self.inner, watch))?;
        let load = load.map_err(|_| interrupted())?;
        array(py, load.routes)
    }

    /// The measure `name` of these tables or of their network, with its parameters (a dict;
    /// defaults where left out): a dict, see docs/measure-reference.md. `traffic` is what a
    /// parameter of that name stands for.
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
            routing: Some(&self.inner),
            traffic: traffic.map(Traffic::sending),
            workloads: workloads.as_deref(),
            times,
            places: places.as_deref(),
        };
        measured(py, name, parameters, self.inner.topology(), given, progress)
    }

    /// The network it routes.
    #[getter]
    fn topology(&self) -> Topology {
        Topology { inner: self.inner.topology().clone() }
    }

    /// The tables of a digraph of ORCS.
    #[staticmethod]
    fn from_orcs(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        afford(py, &format!("reading {name}"), |_| {
            NetworkSize::read(text.len(), text.lines().count())
        })?;
        let (text, name) = (text.to_owned(), name.to_owned());
        let inner = enter_alone(py, move || orcs::read_tables(&text, &name))?.map_err(refuse)?;
        Ok(Self { inner, addresses: None })
    }

    /// The tables as a digraph of ORCS.
    fn orcs_text(&self, py: Python<'_>) -> PyResult<String> {
        self.afford(py, "writing routes on", RouteWorkKind::Digraph)?;
        let routing = self.inner.clone();
        enter_alone(py, move || orcs::write(&routing))?.map_err(refuse)
    }

    /// The forwarding tables as `dump_fts` prints them.
    fn lft_text(&self, py: Python<'_>) -> PyResult<String> {
        self.afford(py, "writing routes on", RouteWorkKind::Listing)?;
        let (routing, addresses) = (self.inner.clone(), self.addresses().map_err(refuse)?);
        let work = move || -> Result<String, Refusal> {
            let tables = lft::tables(&routing, &addresses)?;
            let mut text = String::new();
            lft::write(&tables, routing.topology(), &addresses, &mut text)
                .map_err(|e| Refusal::new("tables", e.to_string(), ""))?;
            Ok(text)
        };
        enter_alone(py, work)?.map_err(refuse)
    }

    /// The file that the OpenSM plug-in reads: tables, service levels, SL2VL.
    fn table_text(&self, py: Python<'_>) -> PyResult<String> {
        self.afford(py, "writing routes on", RouteWorkKind::Table)?;
        let (routing, addresses) = (self.inner.clone(), self.addresses().map_err(refuse)?);
        let work = move || {
            lft::tables(&routing, &addresses)
                .map(|tables| table::text(&routing, &addresses, &tables))
        };
        enter_alone(py, work)?.map_err(refuse)
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
        let (routing, addresses) = (self.inner.clone(), self.addresses().map_err(refuse)?);
        let [lfts, levels, sl2vl] = [lfts, levels, sl2vl].map(|text| text.map(str::to_owned));
        let work = move || -> Result<Value, Refusal> {
            let mut all = serde_json::Map::new();
            if let Some(text) = &lfts {
                let found = lft::read(text, "tables read back")?;
                let d = compare::lfts(&lft::tables(&routing, &addresses)?, &found);
                all.insert("lft".into(), difference(&d));
            }
            if let Some(text) = &levels {
                let found = sl_files::read_path_records(text, "path records read back")?;
                let d = compare::levels(&routing, &addresses, &found);
                all.insert("sl".into(), difference(&d));
            }
            if let Some(text) = &sl2vl {
                let found = sl_files::read_sl2vl(text, "SL2VL read back")?;
                let d = compare::sl2vl(&routing, &addresses, &found);
                all.insert("sl2vl".into(), difference(&d));
            }
            Ok(Value::Object(all))
        };
        let value = enter_alone(py, work)?.map_err(refuse)?;
        to_python(py, &value)
    }

    /// What changes in a fabric when these tables take the place of `before`: a dict with
    /// `switches` (GUID, LFT entries, blocks of 64 LIDs and SL2VL tables that change, by GUID),
    /// `path_levels` and `sl2vl` (all, changed, new). None: the fabric has no tables. `lfts`, what
    /// `dump_fts` printed, stands for the forwarding tables of `before`.
    #[pyo3(signature = (before=None, lfts=None))]
    fn changes<'py>(
        &self,
        py: Python<'py>,
        before: Option<PyRef<'py, Self>>,
        lfts: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.afford(py, "comparing routes on", RouteWorkKind::Table)?;
        let (routing, addresses) = (self.inner.clone(), self.addresses().map_err(refuse)?);
        let old = before.map(|b| b.addresses().map(|a| (b.inner.clone(), a)));
        let old = old.transpose().map_err(refuse)?;
        let lfts = lfts.map(str::to_owned);
        let work = move || -> Result<Value, Refusal> {
            let was = match (&lfts, &old) {
                (Some(text), _) => lft::read(text, "tables of the fabric")?,
                (None, Some((routing, addresses))) => lft::tables(routing, addresses)?,
                (None, None) => lft::FabricForwardingTables::default(),
            };
            let old = old.as_ref().map(|(routing, addresses)| (routing, addresses));
            let new = (&routing, &addresses);
            let tables = changes::lfts(&was, &lft::tables(&routing, &addresses)?);
            let sl2vl = changes::sl2vl(old, new);
            let row =
                |(s, (_, n)): (&changes::SwitchTableChange, &(u64, changes::TableChangeCounts))| {
                    json!({ "guid": s.guid, "entries": s.entries, "blocks": s.blocks,
                    "sl2vl": n.changed + n.new })
                };
            let rows: Vec<Value> = tables.iter().zip(&sl2vl).map(row).collect();
            let sl2vl =
                sl2vl.iter().fold(changes::TableChangeCounts::default(), |sum, (_, n)| sum + *n);
            Ok(json!({
                "switches": rows, "path_levels": counted(changes::levels(old, new)),
                "sl2vl": counted(sl2vl),
            }))
        };
        let value = enter_alone(py, work)?.map_err(refuse)?;
        to_python(py, &value)
    }

    fn __eq__(&self, py: Python<'_>, other: PyRef<'_, Self>) -> PyResult<bool> {
        let (ours, theirs) = (&self.inner, &other.inner);
        let same = enter(py, None, |watch| ours.is_same(theirs, watch))?;
        Ok(self.addresses == other.addresses && same.map_err(|_| interrupted())?)
    }

    fn __hash__(&self) -> u64 {
        self.inner.digest()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<PickleReduction<'py>> {
        reduce_routing(py, self)
    }

    /// A picture of the routes, which a notebook shows and `save("a.pdf")` writes: `load`, how many
    /// channels carry how many routes.
    #[pyo3(signature = (what = None))]
    fn plot<'py>(slf: &Bound<'py, Self>, what: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("flyloom.support.pictures")?.call_method1("picture_of", (slf, what))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let routing = &self.inner;
        let fields = [
            ("network", routing.topology().recipe().to_string()),
            ("options", Value::Object(routing.options().clone()).to_string()),
            ("routes to a terminal", routing.layers().to_string()),
            ("lanes", self.lanes().to_string()),
            ("table entries", routing.entries().to_string()),
        ];
        html(py, &format!("Routing {}", routing.engine()), &fields)
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
