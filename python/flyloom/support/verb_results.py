"""What verbs return that have no measure of their own: results with names and documented fields."""

from __future__ import annotations

from flyloom.support.results import Result

# --- which network -------------------------------------------------------------------------------


class Sizing(Result):
    """Members of families near a number of endpoints.

    Attributes
    ----------
    endpoints : int
        What was asked for.
    members : list[Result]
        The best members in order, with cost and power where there are prices.
    rows : list[Result]
        A row for each family, kind and number of ports, with the members ``below`` and ``above``.
    basis : str | None
        Catalogue, rate and what is counted, in words; none without prices.
    """

    __slots__ = ()
    endpoints: int
    members: list[Result]
    rows: list[Result]
    basis: str | None


class Budget(Result):
    """The largest members of families that a sum buys.

    Attributes
    ----------
    budget_usd : float
        The sum.
    members : list[Result]
        The best members in order.
    rows : list[Result]
        A row for each family, kind and number of ports.
    catalog : str
        The prices.
    """

    __slots__ = ()
    budget_usd: float
    members: list[Result]
    rows: list[Result]
    catalog: str


class Scales(Result):
    """The largest members of families by the ports of a switch.

    Attributes
    ----------
    rows : list[Result]
        A row for each family, kind and number of ports: ``switch_ports``, ``family``, ``kind`` and
        the ``largest`` member.
    """

    __slots__ = ()
    rows: list[Result]


class Comparison(Result):
    """Networks side by side, see :func:`flyloom.compare`.

    Attributes
    ----------
    rows : list[Result]
        A row a network.
    curves : list[Result]
        Candidates of families for the charts.
    left_out : list[Result]
        Networks that are in no row, and why.
    basis : str | None
        Catalogue, rate and what is counted, in words; none without prices.
    """

    __slots__ = ()
    rows: list[Result]
    curves: list[Result]
    left_out: list[Result]
    basis: str | None


class Choice(Result):
    """Networks to choose from for a need, see :func:`flyloom.choose`.

    Attributes
    ----------
    endpoints : int
        The number of endpoints that is needed.
    candidates : list[Result]
        The networks, the best first.
    tree : str | None
        The best tree among them, which most people know.
    left_out : list[Result]
        The others, and why they are out.
    turning_points : list[Result]
        What would have to change for the second to win.
    weights : Result
        The weight of each criterion.
    basis : str | None
        Catalogue, rate and what is counted, in words.
    """

    __slots__ = ()
    endpoints: int
    candidates: list[Result]
    tree: str | None
    left_out: list[Result]
    turning_points: list[Result]
    weights: Result
    basis: str | None


class RoutingComparison(Result):
    """Routing engines side by side on a network, see :func:`flyloom.compare_routing`.

    Attributes
    ----------
    network : str
        The network.
    rows : list[Result]
        A row an engine: proof, lanes, lengths, load, bandwidth.
    refused : list[Result]
        Engines that make no tables here, and why.
    cpu_s : Result
        CPU seconds by engine.
    """

    __slots__ = ()
    network: str
    rows: list[Result]
    refused: list[Result]
    cpu_s: Result


class Promise(Result):
    """What the formulae of a family say of a network, see :func:`flyloom.promise`."""

    __slots__ = ()


class Throughput(Result):
    """The maximum achievable throughput of a traffic, see :func:`flyloom.throughput`.

    Attributes
    ----------
    maximum_achievable_throughput : float
        The part of its rate that every flow reaches.
    upper_bound : float
        What no flow exceeds; the same where the figure is ``exact``.
    network, traffic : str
        What it is of.
    busiest_channels : list[Result]
        The channels with most load at the largest throughput.
    """

    __slots__ = ()
    maximum_achievable_throughput: float
    upper_bound: float
    exact: bool
    busiest_channels: list[Result]
    network: str
    traffic: str


# --- cost, floor, cables -------------------------------------------------------------------------


class Bill(Result):
    """What a network costs and draws, see :func:`flyloom.cost`.

    Attributes
    ----------
    cost_usd, cost_usd_low, cost_usd_high : float
        What is counted, at typical, lowest and highest prices.
    cost_usd_per_endpoint, cost_usd_per_endpoint_low, cost_usd_per_endpoint_high : float
        The same over the endpoints.
    power_w : float | None
        What is counted draws; None where the catalogue does not say what its switches draw.
    lines : list[Result]
        A line for each thing that is bought.
    """

    __slots__ = ()
    cost_usd: float
    cost_usd_low: float
    cost_usd_high: float
    cost_usd_per_endpoint: float
    cost_usd_per_endpoint_low: float
    cost_usd_per_endpoint_high: float
    power_w: float | None
    lines: list[Result]


class Catalog(Result):
    """What is on sale, see :func:`flyloom.catalog`."""

    __slots__ = ()
    name: str


class FloorPlan(Result):
    """Racks, seats and cables of a network, see :func:`flyloom.plan`.

    Attributes
    ----------
    racks : list[Result]
        Name, row, column, position, units and watts of each rack.
    cables : int
        The number of cables.
    cables_csv : str
        The list from port to port.
    cost_usd : float
        The price of all cables.
    """

    __slots__ = ()
    racks: list[Result]
    cables: int
    cables_csv: str
    cost_usd: float


class CableFolder(Result):
    """The folder that people cable from, see :func:`flyloom.cables`.

    Attributes
    ----------
    folder : str
        Where it is.
    pages : int
        Pages of cabling.pdf.
    buy : int
        Cables to buy.
    order : list[Result]
        The rows of order.csv.
    """

    __slots__ = ()
    folder: str
    pages: int
    buy: int
    order: list[Result]


class Citation(Result):
    """What to cite, see :func:`flyloom.cite`.

    Attributes
    ----------
    references : list[Result]
        flyloom and the publications of the parts that were named.
    without : list[str]
        The named parts that have no publication of their own.
    text, bibtex : str
        All references, as people read them and as BibTeX.
    """

    __slots__ = ()
    references: list[Result]
    without: list[str]
    text: str
    bibtex: str


class Identification(Result):
    """Which member of a family a network is, see :func:`flyloom.identify`.

    Attributes
    ----------
    network : str
        The inline form or the file.
    switches, endpoints, links : int
        What it has.
    members : list[Result]
        The members of families that are nearest, the nearest first.
    """

    __slots__ = ()
    network: str
    switches: int
    endpoints: int
    links: int
    members: list[Result]


class CableCheck(Result):
    """Whether the cables are the planned ones, see :func:`flyloom.check_cables`.

    Attributes
    ----------
    clean, complete : bool
        No findings; nor is anything unlaid.
    planned, correct, lost, unlaid : int
        Numbers of cables.
    findings : list[Result]
        Each fault: where, what, and what to do.
    """

    __slots__ = ()
    clean: bool
    complete: bool
    planned: int
    correct: int
    lost: int
    unlaid: int
    findings: list[Result]


class FabricObservation(Result):
    """What counters of a running fabric say, see :func:`flyloom.observe`.

    Attributes
    ----------
    network : str
        The network.
    files : list[Result]
        What was read of each file: ``format``, ``readings``, and ``left_out`` lines.
    samples : int
        Most readings of a port.
    seconds : float | None
        The longest time between the first and the last reading of a port.
    cables, observed_cables : int
        Working cables of the network, and those with a reading.
    channels : list[Result]
        Every channel with counters, the hottest first: ends with their places, ``gbps``,
        ``use_fraction``, ``waits_per_s``.
    bad_cables : list[Result]
        Cables with a ``grade`` and its ``reasons``, in the order of racks, units and ports.
    lost_switches : list[str]
        Switches that are reported no more.
    saturated : list[Result]
        Counters of faults at their maximum.
    unmatched : list[Result]
        Devices and ports that the network does not have.
    remarks : list[str]
        What a reader should know.
    prediction, estimate : Result | None
        Loads of a traffic beside the measured ones; the traffic that explains these.
    """

    __slots__ = ()
    network: str
    files: list[Result]
    samples: int
    seconds: float | None
    cables: int
    observed_cables: int
    channels: list[Result]
    bad_cables: list[Result]
    lost_switches: list[str]
    saturated: list[Result]
    unmatched: list[Result]
    remarks: list[str]
    prediction: Result | None
    estimate: Result | None


# --- traffic and processes -----------------------------------------------------------------------


class ProcessMapping(Result):
    """Which endpoint each process is on, and how good that is, see :func:`flyloom.map_processes`.

    Attributes
    ----------
    mapping : list[int]
        The endpoint of each process.
    method : str
        How it was found.
    linear : Result
        The figures of processes in order.
    """

    __slots__ = ()
    mapping: list[int]
    method: str
    linear: Result


class WorkloadKind(Result):
    """A workload by its name, see :func:`flyloom.workloads`."""

    __slots__ = ()
    name: str


class RankedWorkload(Result):
    """An algorithm and how long it takes, see :func:`flyloom.best_workload`."""

    __slots__ = ()


class WorkloadCheck(Result):
    """What a schedule or a trace holds, and whether it ends, see :func:`flyloom.check_workload`."""

    __slots__ = ()
    ranks: int


class WorkloadFilesSummary(Result):
    """A schedule or a trace that was written, see :func:`flyloom.convert_workload`."""

    __slots__ = ()
    path: str
    ranks: int
    operations: int
    bytes: int


# --- fabrics and measured systems ----------------------------------------------------------------


class Deployment(Result):
    """What a running fabric has of our tables, see :func:`flyloom.deploy`.

    Attributes
    ----------
    differing_entries : int
        Entries of forwarding tables that are other than sent, of ``entries``.
    verified, deadlock_free : bool
        The proof of the tables read back.
    """

    __slots__ = ()
    entries: int
    differing_entries: int
    verified: bool
    deadlock_free: bool


class TableChanges(Result):
    """What new tables change of those in use, see docs/fabric.md."""

    __slots__ = ()


class Diagnosis(Result):
    """What is installed here, see :func:`flyloom.doctor`."""

    __slots__ = ()
    version: str


class Export(Result):
    """A network in the format of another program, see :func:`flyloom.export`."""

    __slots__ = ()
    to: str
    network: str
    lines: int
    bytes: int


class ExportFormat(Result):
    """A format that networks are exported in, see :func:`flyloom.export_formats`."""

    __slots__ = ()
    name: str


class BookSimRun(Result):
    """What a configuration of BookSim gives, see :func:`flyloom.booksim`.

    Attributes
    ----------
    points : list[Result]
        The one point.
    notes : list[Result]
        What the configuration says without effect.
    """

    __slots__ = ()
    verified: bool
    points: list[Result]
    notes: list[Result]


class MeasuredCosts(Result):
    """LogGP parameters of a real system, see docs/measuring.md."""

    __slots__ = ()


class MeasuredBandwidth(Result):
    """The effective bisection bandwidth of a real system, see docs/measuring.md."""

    __slots__ = ()
    mean_gbps: float
    rounds: list[Result]


class PredictedBandwidth(Result):
    """A measured bisection bandwidth beside that of the tables, see docs/measuring.md."""

    __slots__ = ()
    measured_gbps: float
    predicted_gbps: float
    ratio: float
    rounds: list[Result]


# --- graphs and published figures ----------------------------------------------------------------


class GraphBounds(Result):
    """Bounds of graphs of an order and degree, see docs/search.md."""

    __slots__ = ()
    diameter: int
    mean_distance: float


class GraphExistence(Result):
    """Whether there is a graph, see docs/search.md."""

    __slots__ = ()
    exists: bool | None
    edges: list[list[int]] | None


class FoundGraph(Result):
    """A graph of small distance, see docs/search.md."""

    __slots__ = ()
    diameter: int
    mean_distance: float
    edges: list[list[int]]


class PublishedTable(Result):
    """A published table beside what flyloom computes.

    Attributes
    ----------
    source : str
        Where it was published.
    rows : list[Result]
        Its rows.
    """

    __slots__ = ()
    source: str
    rows: list[Result]


class Figure(Result):
    """What a figure of layered routing shows, see :func:`flyloom.figure`.

    Attributes
    ----------
    figure : str
        Its name.
    rows, summary, skipped : list[Result]
        What is drawn, a row a case, and cases that there are not.
    """

    __slots__ = ()
    figure: str
    rows: list[Result]
    summary: list[Result]
    skipped: list[Result]
