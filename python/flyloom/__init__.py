"""flyloom: from an interconnect's idea to a running, verified fabric.

    >>> import flyloom as fl
    >>> network = fl.slim_fly(q=5, p=4)
    >>> routing = fl.route(network, "dfsssp", lmc=1)
    >>> fl.verify(routing).holds
    True

Names are loaded when first used, so that ``import flyloom`` is quick.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # a name of ours: loading `typing` for it takes long
if TYPE_CHECKING:  # the same names as in `_HOMES`
    from flyloom._core import RefusalError as RefusalError
    from flyloom._core import Routing as Routing
    from flyloom._core import Topology as Topology
    from flyloom._core import Workload as Workload
    from flyloom._core import __version__ as __version__
    from flyloom._generated import *  # noqa: F403
    from flyloom._mappings import *  # noqa: F403
    from flyloom._measures import *  # noqa: F403
    from flyloom._simulators import *  # noqa: F403
    from flyloom.deploy import CallableDeployModule
    from flyloom.deploy import DeployError as DeployError
    from flyloom.deploy.fabric import route_with_opensm as route_with_opensm
    from flyloom.inputs.catalogs import shop as shop
    from flyloom.inputs.communication import communication as communication
    from flyloom.inputs.graphs import from_networkx as from_networkx
    from flyloom.inputs.graphs import from_pairs as from_pairs
    from flyloom.inputs.graphs import from_scipy as from_scipy
    from flyloom.inputs.networks import network as network
    from flyloom.inputs.networks import to_networkx as to_networkx
    from flyloom.inputs.networks import to_scipy as to_scipy
    from flyloom.inputs.selections import Selection as Selection
    from flyloom.inputs.tables import read_tables as read_tables
    from flyloom.inputs.workloads import workload as workload
    from flyloom.lab.experiment import run as run
    from flyloom.plugins.engines import engine as engine
    from flyloom.plugins.functions import application as application
    from flyloom.plugins.functions import export_format as export_format
    from flyloom.plugins.functions import mapping_method as mapping_method
    from flyloom.plugins.functions import pattern as pattern
    from flyloom.plugins.functions import placement as placement
    from flyloom.plugins.topologies import topology as topology
    from flyloom.published.addresses import address_table as address_table
    from flyloom.published.figures import figure as figure
    from flyloom.support.results import Result as Result
    from flyloom.support.verb_results import Bill as Bill
    from flyloom.support.verb_results import BookSimRun as BookSimRun
    from flyloom.support.verb_results import Budget as Budget
    from flyloom.support.verb_results import CableCheck as CableCheck
    from flyloom.support.verb_results import CableFolder as CableFolder
    from flyloom.support.verb_results import Catalog as Catalog
    from flyloom.support.verb_results import Choice as Choice
    from flyloom.support.verb_results import Citation as Citation
    from flyloom.support.verb_results import Comparison as Comparison
    from flyloom.support.verb_results import Deployment as Deployment
    from flyloom.support.verb_results import Diagnosis as Diagnosis
    from flyloom.support.verb_results import Export as Export
    from flyloom.support.verb_results import ExportFormat as ExportFormat
    from flyloom.support.verb_results import FabricObservation as FabricObservation
    from flyloom.support.verb_results import Figure as Figure
    from flyloom.support.verb_results import FloorPlan as FloorPlan
    from flyloom.support.verb_results import FoundGraph as FoundGraph
    from flyloom.support.verb_results import GraphBounds as GraphBounds
    from flyloom.support.verb_results import GraphExistence as GraphExistence
    from flyloom.support.verb_results import Identification as Identification
    from flyloom.support.verb_results import MeasuredBandwidth as MeasuredBandwidth
    from flyloom.support.verb_results import MeasuredCosts as MeasuredCosts
    from flyloom.support.verb_results import PredictedBandwidth as PredictedBandwidth
    from flyloom.support.verb_results import ProcessMapping as ProcessMapping
    from flyloom.support.verb_results import Promise as Promise
    from flyloom.support.verb_results import PublishedTable as PublishedTable
    from flyloom.support.verb_results import RankedWorkload as RankedWorkload
    from flyloom.support.verb_results import RoutingComparison as RoutingComparison
    from flyloom.support.verb_results import Scales as Scales
    from flyloom.support.verb_results import Sizing as Sizing
    from flyloom.support.verb_results import TableChanges as TableChanges
    from flyloom.support.verb_results import Throughput as Throughput
    from flyloom.support.verb_results import WorkloadCheck as WorkloadCheck
    from flyloom.support.verb_results import WorkloadFilesSummary as WorkloadFilesSummary
    from flyloom.support.verb_results import WorkloadKind as WorkloadKind
    from flyloom.verbs.booksim import booksim as booksim
    from flyloom.verbs.choosing import choose as choose
    from flyloom.verbs.citing import cite as cite
    from flyloom.verbs.comparison import compare as compare
    from flyloom.verbs.congestion import congestion as congestion
    from flyloom.verbs.doctor import doctor as doctor
    from flyloom.verbs.exporting import export as export
    from flyloom.verbs.exporting import export_formats as export_formats
    from flyloom.verbs.identifying import identify as identify
    from flyloom.verbs.layout import cables as cables
    from flyloom.verbs.layout import check_cables as check_cables
    from flyloom.verbs.layout import lost_in as lost_in
    from flyloom.verbs.layout import plan as plan
    from flyloom.verbs.layout import verify_cables as verify_cables
    from flyloom.verbs.measures import measure as measure
    from flyloom.verbs.measures import promise as promise
    from flyloom.verbs.observing import observe as observe
    from flyloom.verbs.prices import catalog as catalog
    from flyloom.verbs.prices import cost as cost
    from flyloom.verbs.routes import repair as repair
    from flyloom.verbs.routes import route as route
    from flyloom.verbs.routes import spread as spread
    from flyloom.verbs.routing_comparison import compare_routing as compare_routing
    from flyloom.verbs.simulation import simulate as simulate
    from flyloom.verbs.sizing import budget as budget
    from flyloom.verbs.sizing import scale as scale
    from flyloom.verbs.sizing import size as size
    from flyloom.verbs.throughput import throughput as throughput
    from flyloom.verbs.tidy import FlitSimulation as FlitSimulation
    from flyloom.verbs.tidy import MessageSimulation as MessageSimulation
    from flyloom.verbs.tidy import PacketSimulation as PacketSimulation
    from flyloom.verbs.tidy import Simulation as Simulation
    from flyloom.verbs.workloads import best_workload as best_workload
    from flyloom.verbs.workloads import check_workload as check_workload
    from flyloom.verbs.workloads import convert_workload as convert_workload
    from flyloom.verbs.workloads import make_trace as make_trace
    from flyloom.verbs.workloads import make_workload as make_workload
    from flyloom.verbs.workloads import merge_workloads as merge_workloads
    from flyloom.verbs.workloads import noisy_workload as noisy_workload
    from flyloom.verbs.workloads import traced_workload as traced_workload
    from flyloom.verbs.workloads import workloads as workloads

    deploy: CallableDeployModule

_HOMES = {
    "flyloom._core": ["RefusalError", "Routing", "Topology", "Workload", "__version__"],
    "flyloom.deploy": ["DeployError"],
    "flyloom.deploy.fabric": ["route_with_opensm"],
    "flyloom.inputs.catalogs": ["shop"],
    "flyloom.inputs.communication": ["communication"],
    "flyloom.inputs.graphs": ["from_networkx", "from_pairs", "from_scipy"],
    "flyloom.inputs.networks": ["network", "to_networkx", "to_scipy"],
    "flyloom.inputs.selections": ["Selection"],
    "flyloom.inputs.tables": ["read_tables"],
    "flyloom.inputs.workloads": ["workload"],
    "flyloom.lab.experiment": ["run"],
    "flyloom.plugins.engines": ["engine"],
    "flyloom.plugins.functions": [
        "application", "export_format", "mapping_method", "pattern", "placement",
    ],
    "flyloom.plugins.topologies": ["topology"],
    "flyloom.published.addresses": ["address_table"],
    "flyloom.published.figures": ["figure"],
    "flyloom.support.verb_results": [
        "Bill", "BookSimRun", "Budget", "CableCheck", "CableFolder", "Catalog", "Choice",
        "Citation", "Comparison",
        "Deployment", "Diagnosis", "Export", "ExportFormat", "FabricObservation", "Figure",
        "FloorPlan", "FoundGraph", "GraphBounds", "GraphExistence", "Identification",
        "MeasuredBandwidth",
        "MeasuredCosts",
        "PredictedBandwidth", "ProcessMapping", "Promise", "PublishedTable", "RankedWorkload",
        "RoutingComparison", "Scales", "Sizing", "TableChanges", "Throughput", "WorkloadCheck",
        "WorkloadKind", "WorkloadFilesSummary",
    ],
    "flyloom.support.results": ["Result"],
    "flyloom.verbs.booksim": ["booksim"],
    "flyloom.verbs.choosing": ["choose"],
    "flyloom.verbs.citing": ["cite"],
    "flyloom.verbs.comparison": ["compare"],
    "flyloom.verbs.congestion": ["congestion"],
    "flyloom.verbs.doctor": ["doctor"],
    "flyloom.verbs.exporting": ["export", "export_formats"],
    "flyloom.verbs.identifying": ["identify"],
    "flyloom.verbs.layout": ["cables", "check_cables", "lost_in", "plan", "verify_cables"],
    "flyloom.verbs.measures": ["measure", "promise"],
    "flyloom.verbs.prices": ["catalog", "cost"],
    "flyloom.verbs.observing": ["observe"],
    "flyloom.verbs.routes": ["repair", "route", "spread"],
    "flyloom.verbs.routing_comparison": ["compare_routing"],
    "flyloom.verbs.simulation": ["simulate"],
    "flyloom.verbs.tidy": [
        "FlitSimulation", "MessageSimulation", "PacketSimulation", "Simulation",
    ],
    "flyloom.verbs.sizing": ["budget", "scale", "size"],
    "flyloom.verbs.throughput": ["throughput"],
    "flyloom.verbs.workloads": [
        "best_workload", "check_workload", "convert_workload", "make_trace", "make_workload",
        "merge_workloads", "noisy_workload", "traced_workload", "workloads",
    ],
}
_GENERATED = ("flyloom._generated", "flyloom._mappings", "flyloom._measures",
              "flyloom._simulators")
"""The modules of the public names that are in none of these lists."""
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # without this every name would seem to exist

    def __getattr__(name: str) -> object:
        if name == "deploy":  # the package itself can be called
            value = importlib.import_module("flyloom.deploy")
        elif home := _HOME_OF.get(name):
            value = getattr(importlib.import_module(home), name)
        else:
            homes = () if name.startswith("_") else _GENERATED
            home = next((home for home in homes if name in _all(home)), "")
            if not home:
                raise AttributeError(f"module 'flyloom' has no attribute '{name}'")
            value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value


def _all(home: str) -> list[str]:
    """The public names of a module."""
    names: list[str] = importlib.import_module(home).__all__
    return names


def __dir__() -> list[str]:
    offered = [name for home in _GENERATED for name in _all(home)]
    return sorted({"deploy", "__doc__", *_HOME_OF, *offered})
