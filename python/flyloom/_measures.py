"""One function per measure, and its record; written by `cargo xtask gen`, never edited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from flyloom.inputs.measured import measured
from flyloom.inputs.networks import Source
from flyloom.inputs.tables import Tables
from flyloom.support import renamed
from flyloom.support.progress import Progress
from flyloom.support.records import Record

if TYPE_CHECKING:
    from flyloom.inputs.traffic import Wanted

__all__ = [
    "LanesNeeded",
    "Repair",
    "PathDiversity",
    "Ebb",
    "EdgeLoad",
    "Congestion",
    "Resilience",
    "Structure",
    "TrafficLimits",
    "Cost",
    "Verification",
    "lanes_needed",
    "path_diversity",
    "ebb",
    "edge_load",
    "resilience",
    "structure",
    "traffic_limits",
    "verify",
]


class LanesNeededMethod(Record):
    """The lanes and service levels that one method needs.

    Attributes
    ----------
    method : str
        ``online``, ``lightest``, ``heaviest``, ``random`` or ``hops``.
    lanes : int | None
        Data lanes; none where 15 lanes or 16 service levels are not enough.
    service_levels : int | None
        Service levels; none where 15 lanes or 16 levels are not enough.
    why : str, not always there
        Why 15 lanes or 16 service levels are not enough; only then.
    """

    __slots__ = ()
    method: str
    lanes: int | None
    service_levels: int | None
    why: str


class LanesNeeded(Record):
    """The number of lanes that each method needs.

    Attributes
    ----------
    methods : list[LanesNeededMethod]
        One row for each method.
    """

    __slots__ = ()
    _parts = {
        "methods": LanesNeededMethod,
    }
    methods: list[LanesNeededMethod]


class RepairNewHops(Record):
    """Routes whose length changes.

    Attributes
    ----------
    was : int
        Their hops before the repair.
    hops : int
        Their hops after the repair.
    routes : int
        The number of such routes.
    """

    __slots__ = ()
    was: int
    hops: int
    routes: int


class RepairEntry(Record):
    """An entry of a switch's forwarding table.

    Attributes
    ----------
    switch : str
        Name of the switch whose table it is in.
    endpoint : str
        Name of the endpoint that it leads to.
    terminal : int
        Number of the endpoint's terminal.
    layer : int
        Which of the routes to the terminal, from 0.
    """

    __slots__ = ()
    switch: str
    endpoint: str
    terminal: int
    layer: int


class RepairNewLevel(Record):
    """A path that changes its service level.

    Attributes
    ----------
    switch : str
        Name of the switch whose table it is in.
    endpoint : str
        Name of the endpoint that it leads to.
    terminal : int
        Number of the endpoint's terminal.
    layer : int
        Which of the routes to the terminal, from 0.
    was : int
        The level before the repair.
    level : int
        The level after the repair.
    """

    __slots__ = ()
    switch: str
    endpoint: str
    terminal: int
    layer: int
    was: int
    level: int


class RepairNewPort(Record):
    """An entry that changes.

    Attributes
    ----------
    switch : str
        Name of the switch whose table it is in.
    endpoint : str
        Name of the endpoint that it leads to.
    terminal : int
        Number of the endpoint's terminal.
    layer : int
        Which of the routes to the terminal, from 0.
    was : int
        The port before the repair.
    port : int
        The port after the repair.
    """

    __slots__ = ()
    switch: str
    endpoint: str
    terminal: int
    layer: int
    was: int
    port: int


class Repair(Record):
    """The changes that a repair makes, and the lengths of routes before and after.

    Attributes
    ----------
    changed_entries : int
        Table entries towards endpoints that change.
    least_changed_entries : int
        The least number of entries towards endpoints that any repair must change.
    changed_switches : int
        Switches with entries that change or are cleared.
    changed_entries_to_switches : int
        Table entries towards switches that change.
    least_changed_entries_to_switches : int
        The least number of entries towards switches that any repair must change.
    cleared_entries : int
        Table entries that are cleared, because they lead to endpoints and switches that have
        failed and had not before.
    changed_service_levels : int
        Paths whose service level changes.
    mean_hops_before : float | None
        Mean hops before the repair, over the routes whose ends still work: those of ordered
        pairs of a switch with endpoints and a terminal on another switch; none where there are
        no such routes.
    mean_hops_after : float | None
        Mean hops of these routes after the repair.
    max_hops_before : int | None
        Most hops of one of these routes before the repair.
    max_hops_after : int | None
        Most hops of one of these routes after the repair.
    longer_routes : int
        The number of these routes that became longer.
    shorter_routes : int
        The number of these routes that became shorter.
    hops_changes : list[RepairNewHops]
        How many of these routes changed from one number of hops to another.
    stopped_entries : int
        Entries that drop packets for a time.
    safe : str
        Whether the entries can change under traffic without deadlock: "in any order", "in the
        order given", "in steps", "after draining", or "unknown" where the old tables could
        deadlock.
    why : str | None
        Why traffic must be drained; none where it need not.
    steps : list[str]
        The steps of the change in order, with what each must wait for; the last says when the
        next repair may begin. Empty where nothing changes or no order is known to be safe.
    stops : list[RepairEntry]
        For a repair in steps: the entries that drop packets until they change.
    level_changes : list[RepairNewLevel]
        The paths that change their service level, in a safe order.
    changes : list[RepairNewPort]
        The entries that change, in a safe order.
    """

    __slots__ = ()
    _parts = {
        "hops_changes": RepairNewHops,
        "stops": RepairEntry,
        "level_changes": RepairNewLevel,
        "changes": RepairNewPort,
    }
    changed_entries: int
    least_changed_entries: int
    changed_switches: int
    changed_entries_to_switches: int
    least_changed_entries_to_switches: int
    cleared_entries: int
    changed_service_levels: int
    mean_hops_before: float | None
    mean_hops_after: float | None
    max_hops_before: int | None
    max_hops_after: int | None
    longer_routes: int
    shorter_routes: int
    hops_changes: list[RepairNewHops]
    stopped_entries: int
    safe: str
    why: str | None
    steps: list[str]
    stops: list[RepairEntry]
    level_changes: list[RepairNewLevel]
    changes: list[RepairNewPort]


class PathDiversity(Record):
    """Paths of the ordered pairs of switches with endpoints, of one plane.

    Attributes
    ----------
    pairs : int
        Ordered pairs of switches.
    mean_disjoint_paths : float | None
        Mean number of link-disjoint paths of a pair; none without pairs.
    fraction_pairs_3_disjoint_paths : float | None
        Fraction of the pairs that have at least three link-disjoint paths; none without pairs.
    mean_distinct_paths : float | None
        Mean number of distinct paths of a pair; none without pairs.
    disjoint_histogram : list[int]
        Entry n: pairs with at most n link-disjoint paths.
    distinct_histogram : list[int]
        Entry n: pairs with n distinct paths.
    hop_histograms : list[list[int]]
        One list per layer; entry h: its routes of h hops, one for every pair and terminal.
    longest_histogram : list[int]
        Entry h: pairs whose longest route over all layers and terminals has h hops.
    mean_hops : list[list[float]]
        By the mean hops of a pair's routes: [mean hops, pairs].
    """

    __slots__ = ()
    pairs: int
    mean_disjoint_paths: float | None
    fraction_pairs_3_disjoint_paths: float | None
    mean_distinct_paths: float | None
    disjoint_histogram: list[int]
    distinct_histogram: list[int]
    hop_histograms: list[list[int]]
    longest_histogram: list[int]
    mean_hops: list[list[float]]


class EbbBusyChannel(Record):
    """A channel, by the devices at its ends and the ports that its cable is in, with its load.

    Attributes
    ----------
    from : str, by its key alone
        The device that sends: a switch, or an endpoint.
    port : int
        The port of the device that sends; rail r of an endpoint is its port r + 1.
    to : str
        The device that receives.
    to_port : int
        The port of the device that receives.
    load : float
        Its load.
    """

    __slots__ = ()
    port: int
    to: str
    to_port: int
    load: float


class Ebb(Record):
    """The shares of flows in random bisections, as fractions of an endpoint's injection rate.

    Attributes
    ----------
    effective_bisection_bandwidth : float
        Mean share over the patterns.
    confidence_interval_95 : list[float] | None
        Low and high end of its 95 % confidence interval; none for one pattern.
    samples : int
        Number of random bisections; 1 for given traffic.
    traffic : str | None
        The name of the given traffic (``given`` where it has none); none for bisections.
    seed : int
        Seed of the random draws.
    max_congestion : float
        Largest congestion of a channel in any pattern, in flows' worth of traffic.
    pattern_means : list[float]
        Mean share of a flow, one value per pattern.
    flow_histogram : list[int]
        Flows by share, 20 bins of 0.05.
    busiest_channels : list[EbbBusyChannel]
        The channels between switches with the largest loads, the busiest first; ``load`` is
        what a channel carries, in the mean over patterns, over what its cable can carry, in
        flows' worth of traffic.
    """

    __slots__ = ()
    _parts = {
        "busiest_channels": EbbBusyChannel,
    }
    effective_bisection_bandwidth: float
    confidence_interval_95: list[float] | None
    samples: int
    traffic: str | None
    seed: int
    max_congestion: float
    pattern_means: list[float]
    flow_histogram: list[int]
    busiest_channels: list[EbbBusyChannel]


class EdgeLoadBusyChannel(Record):
    """A channel, by the devices at its ends and the ports that its cable is in, with its load.

    Attributes
    ----------
    from : str, by its key alone
        The device that sends: a switch, or an endpoint.
    port : int
        The port of the device that sends; rail r of an endpoint is its port r + 1.
    to : str
        The device that receives.
    to_port : int
        The port of the device that receives.
    load : float
        Its load.
    """

    __slots__ = ()
    port: int
    to: str
    to_port: int
    load: float


class EdgeLoad(Record):
    """The number of routes over the channels.

    Attributes
    ----------
    edge_forwarding_index : int
        Most routes on a channel.
    lower_bound : int
        Total hops over channels, rounded up: no routing with these path lengths has a lower
        index.
    hops : int
        Hops of all routes together.
    histogram : list[list[int]]
        Working channels by the routes they carry: [routes, channels].
    busiest_channels : list[EdgeLoadBusyChannel]
        The channels between switches with the most routes, the busiest first; ``load`` is the
        number of routes.
    """

    __slots__ = ()
    _parts = {
        "busiest_channels": EdgeLoadBusyChannel,
    }
    edge_forwarding_index: int
    lower_bound: int
    hops: int
    histogram: list[list[int]]
    busiest_channels: list[EdgeLoadBusyChannel]


class CongestionBusyChannel(Record):
    """A channel, by the devices at its ends and the ports that its cable is in, with its load.

    Attributes
    ----------
    from : str, by its key alone
        The device that sends: a switch, or an endpoint.
    port : int
        The port of the device that sends; rail r of an endpoint is its port r + 1.
    to : str
        The device that receives.
    to_port : int
        The port of the device that receives.
    load : float
        Its load.
    """

    __slots__ = ()
    port: int
    to: str
    to_port: int
    load: float


class Congestion(Record):
    """The congestion that a pattern's messages meet.

    Shares are fractions of an endpoint's injection rate; congestion is in messages' worth of
    traffic.

    Attributes
    ----------
    metric : str
        The metric of ``series`` and the five fields after it.
    series : list[float]
        Values of the metric, one a run, or one a channel.
    mean : float
        Mean of the values.
    min : float
        Smallest value.
    max : float
        Largest value.
    variance : float | None
        Variance of the values (with divisor n - 1); none for a single value.
    histogram : list[list[float]]
        [low, high, n]: n values are above low and at most high; messages where the metric is
        ``congestion``.
    endpoints : int
        Endpoints that took part.
    levels : int
        Levels of a run.
    samples : int
        Number of runs.
    mean_share : float
        Mean over runs of the mean share of their messages, each counted by its amount.
    confidence_interval_95 : list[float] | None
        Low and high end of the 95 % confidence interval of ``mean_share``; none for one run.
    min_share : float | None
        Least share of a message; none without messages.
    max_share : float | None
        Largest share of a message; none without messages.
    share_histogram : list[int]
        Messages by share, 20 bins of 0.05.
    max_congestion : float
        Largest congestion of a message.
    congestion_histogram : list[list[int]]
        Messages by congestion, rounded up: [congestion, messages].
    busiest_channels : list[CongestionBusyChannel]
        The channels with the largest loads, the busiest first, those of endpoints among them
        where their cables count; ``load`` is what a channel carries in a run, in the mean over
        runs, over what its cable can carry, in messages' worth of traffic.
    mean_time : float
        Mean over runs of the time of all levels in step: the sum of their largest congestions.
    mean_delay : float
        Mean over runs of the latest arrival along the messages that wait for one another.
    first_job : int | None
        Endpoints of the first job; none with one job.
    first_job_share : float | None
        Mean share of the first job's messages; none with one job.
    second_job_share : float | None
        Mean share of the second job's messages; none with one job.
    pattern : str
        The pattern, or the name of the traffic (``given`` where it has none).
    seed : int
        Seed of the random draws.
    """

    __slots__ = ()
    _parts = {
        "busiest_channels": CongestionBusyChannel,
    }
    metric: str
    series: list[float]
    mean: float
    min: float
    max: float
    variance: float | None
    histogram: list[list[float]]
    endpoints: int
    levels: int
    samples: int
    mean_share: float
    confidence_interval_95: list[float] | None
    min_share: float | None
    max_share: float | None
    share_histogram: list[int]
    max_congestion: float
    congestion_histogram: list[list[int]]
    busiest_channels: list[CongestionBusyChannel]
    mean_time: float
    mean_delay: float
    first_job: int | None
    first_job_share: float | None
    second_job_share: float | None
    pattern: str
    seed: int


class ResilienceSurvival(Record):
    """How many failures led the samples to one end.

    Fractions are of all links (or switches).

    Attributes
    ----------
    removed : list[int]
        For each sample: how many were removed when the end was reached, that is, the fewest at
        which it holds; all of them where it never does.
    mean : float
        Mean fraction.
    confidence_interval_95 : list[float] | None
        Its 95 % confidence interval, mean -+ 1.96 standard errors (normal approximation); none
        for one sample.
    median : float
        Median fraction.
    quantiles : list[float]
        Fractions by which 5, 25, 75 and 95 % of the samples have ended (linear interpolation).
    survival : list[float]
        ``survival[i]`` is the share of samples that have not reached the end with ``i / 20`` of
        all removed, rounded down.
    all_hold : float
        The largest ``i / 20`` at which no sample has reached the end.
    half_hold : float
        The largest ``i / 20`` at which at least half of the samples have not reached the end.
    """

    __slots__ = ()
    removed: list[int]
    mean: float
    confidence_interval_95: list[float] | None
    median: float
    quantiles: list[float]
    survival: list[float]
    all_hold: float
    half_hold: float


class ResilienceEnds(Record):
    """How many failures led to each end.

    Attributes
    ----------
    disconnected : ResilienceSurvival, not always there
        Two switches of a plane that carry endpoints are not connected.
    diameter : ResilienceSurvival, not always there
        Or the diameter exceeds that of the intact network by more than 2 hops.
    mean : ResilienceSurvival, not always there
        Or the mean distance exceeds that of the intact network by more than 1 hop.
    """

    __slots__ = ()
    _parts = {
        "disconnected": ResilienceSurvival,
        "diameter": ResilienceSurvival,
        "mean": ResilienceSurvival,
    }
    disconnected: ResilienceSurvival
    diameter: ResilienceSurvival
    mean: ResilienceSurvival


class Resilience(Record):
    """How many random failures lead to each end.

    Attributes
    ----------
    network : str
        The network, in the inline form.
    remove : str
        What was removed.
    items : int, by its key alone
        Number of links or switches before anything is removed.
    samples : int
        Random orders.
    seed : int
        Seed of the random orders.
    ends : ResilienceEnds
        How many failures led to each of the requested ends.
    """

    __slots__ = ()
    _parts = {
        "ends": ResilienceEnds,
    }
    network: str
    remove: str
    samples: int
    seed: int
    ends: ResilienceEnds


class StructurePathCounts(Record):
    """Numbers of paths over ordered pairs of distinct switches with endpoints.

    Parallel links make separate paths. A count above 2^64 - 1 is given as 2^64 - 1.

    Attributes
    ----------
    pairs : int
        Ordered pairs counted.
    sum : float
        Sum of the counts.
    min : int
        Fewest paths of any pair; 0 without pairs.
    max : int
        Most paths of any pair; 0 without pairs.
    histogram : Mapping[str, int]
        Pairs by their number of paths.
    mean : float | None
        Mean number of paths; none without pairs.
    """

    __slots__ = ()
    pairs: int
    sum: float
    min: int
    max: int
    histogram: Mapping[str, int]
    mean: float | None


class StructureSpectrum(Record):
    """Eigenvalues of the graph of working switches and links; parallel links add up in its
    matrices.

    A network of several planes has the spectrum of its plane of least algebraic
    connectivity.

    Attributes
    ----------
    adjacency_largest : float
        Largest eigenvalue of the adjacency matrix: the degree, where all switches have the
        same.
    adjacency_second : float | None
        Second largest eigenvalue, equal to the largest where the graph is not connected; none
        for a graph of one switch.
    adjacency_least : float
        Least eigenvalue of the adjacency matrix.
    spectral_gap : float | None
        Largest eigenvalue minus the second largest.
    algebraic_connectivity : float | None
        Second least eigenvalue of the Laplacian (degrees minus adjacency); 0 where the graph is
        not connected.
    error : float
        Each of these is no farther than this from an eigenvalue (the largest residual).
    """

    __slots__ = ()
    adjacency_largest: float
    adjacency_second: float | None
    adjacency_least: float
    spectral_gap: float | None
    algebraic_connectivity: float | None
    error: float


class StructureBisection(Record):
    """The interval in which the bisection lies.

    The switches are put on two sides such that the numbers of terminals on them differ as
    little as possible; switches without terminals may be on either side. The bisection is
    the fewest working links between the sides. Planes are divided separately, and their
    links added up.

    Attributes
    ----------
    low : int
        A lower bound: every such partition has at least this number of links between its sides.
    high : int
        The number of links of the best partition found.
    low_by_spectrum : int
        The lower bound by the spectrum alone.
    low_by_flow : int
        The lower bound by flow alone.
    difference : int
        The difference of the numbers of terminals on the two sides, summed over all planes.
    """

    __slots__ = ()
    low: int
    high: int
    low_by_spectrum: int
    low_by_flow: int
    difference: int


class StructureBoundedPaths(Record):
    """Numbers of link-disjoint paths of at most ``hops`` hops.

    Attributes
    ----------
    hops : int
        Most hops of a path.
    sampled : bool
        Whether the pairs are a random sample (drawn with replacement), not all.
    exact : bool
        Whether all counts are proved to be the largest possible; else some are lower bounds.
    exact_pairs : int
        Pairs whose count is proved to be the largest possible.
    counts : StructurePathCounts
        The numbers of paths found, over pairs.
    at_most : StructurePathCounts
        The proved upper bounds of these numbers, over pairs; equal to ``counts`` where
        ``exact``.
    """

    __slots__ = ()
    _parts = {
        "counts": StructurePathCounts,
        "at_most": StructurePathCounts,
    }
    hops: int
    sampled: bool
    exact: bool
    exact_pairs: int
    counts: StructurePathCounts
    at_most: StructurePathCounts


class StructureDisjointPaths(Record):
    """Numbers of pairwise link-disjoint paths, over ordered pairs of distinct switches with
    endpoints of one plane.

    Pairs with no path at all count with 0.

    Attributes
    ----------
    any_length : StructurePathCounts
        Paths of any length, for all pairs: the fewest links whose loss separates the two
        switches (Menger).
    bounded : list[StructureBoundedPaths]
        Paths of bounded length, one entry per bound.
    """

    __slots__ = ()
    _parts = {
        "any_length": StructurePathCounts,
        "bounded": StructureBoundedPaths,
    }
    any_length: StructurePathCounts
    bounded: list[StructureBoundedPaths]


class StructureLoadStatistics(Record):
    """Statistics of the load over working channels, in units of traffic.

    Attributes
    ----------
    max : float
        Load of the busiest channel.
    mean : float
        Mean load.
    min : float
        Load of the least busy channel.
    histogram : list[int]
        Entry i: channels with a load above ``i / 20`` and at most ``(i + 1) / 20`` of ``max``;
        the first also has those without load.
    """

    __slots__ = ()
    max: float
    mean: float
    min: float
    histogram: list[int]


class StructureMinimalLoad(Record):
    """How traffic between all switches with endpoints loads the channels.

    A pair's traffic is divided equally among its minimal *paths* (not equally among the next
    hops of every switch, which gives other loads where paths branch unevenly). Parallel
    links make separate paths. All cables count as equally fast.

    Attributes
    ----------
    unit : StructureLoadStatistics
        The loads when every switch with endpoints sends one unit to every other of its plane.
    terminals : StructureLoadStatistics
        The loads when every terminal sends one unit to every other of its plane.
    forwarding_index_low : float
        A lower bound of the largest channel load of any routing under unit traffic: the larger
        of the mean load and of the load that the links of one switch must carry.
    forwarding_index_high : float
        An upper bound of it, which a split routing reaches: ``unit.max``.
    uniform_saturation : float | None
        The traffic of a terminal, spread evenly over all others, at which the busiest channel
        of ``terminals`` is full: a fraction of a link's rate, above 1 where the channels could
        carry more than the terminals' own cables. None without load.
    """

    __slots__ = ()
    _parts = {
        "unit": StructureLoadStatistics,
        "terminals": StructureLoadStatistics,
    }
    unit: StructureLoadStatistics
    terminals: StructureLoadStatistics
    forwarding_index_low: float
    forwarding_index_high: float
    uniform_saturation: float | None


class Structure(Record):
    """The structure of a network.

    A section that was not requested is left out.

    Attributes
    ----------
    switches : int
        Working switches, of all planes.
    endpoints : int
        Endpoints with at least one working terminal.
    terminals : int
        Working terminals (rails of endpoints).
    links : int
        Working switch-to-switch links, parallel ones counted apart.
    network_radix : int
        Most switch-to-switch ports of any switch, failed cables included.
    concentration : int
        Most terminals on any switch, failed ones included.
    radix : int
        Most ports in use of any switch, failed cables included.
    planes : int
        Number of planes.
    diameter : int
        Longest distance between connected switches that carry endpoints, hops.
    mean_distance : float | None
        Mean distance over connected ordered pairs of switches with endpoints, hops; none
        without pairs.
    mean_distance_endpoints : float | None
        Mean distance over connected ordered pairs of distinct terminals of one plane, hops;
        terminals on one switch are 0 hops apart.
    histogram : list[int]
        Entry d: ordered pairs of distinct switches with endpoints that are d hops apart.
    unreachable : int
        Ordered pairs of switches with endpoints that are not connected.
    diameter_all_switches : int
        Longest distance between any two connected switches, hops.
    mean_distance_all_switches : float | None
        As ``mean_distance``, over all switches.
    unreachable_all_switches : int
        Ordered pairs of switches of one plane that are not connected.
    girth : int | None
        Length of the shortest cycle, links; 2 with parallel links; none without a cycle.
    moore_bound : float | None
        Most switches any network of this network radix and ``diameter_all_switches`` can have
        (saturating); none where a plane is not connected.
    moore_fraction : float | None
        Switches of the largest plane over ``moore_bound``; none without it.
    recipe : str
        The network, in the inline form.
    minimal_paths : StructurePathCounts, not always there
        Shortest paths of each ordered pair of switches with endpoints; with ``paths``.
    almost_minimal_paths : StructurePathCounts, not always there
        Paths at most one hop longer than the shortest, these included; with ``paths``.
    disjoint_paths : StructureDisjointPaths, not always there
        Link-disjoint paths of each pair of switches; with ``disjoint``.
    channel_load : StructureMinimalLoad, not always there
        Load of the channels under uniform traffic over all minimal paths; with ``load``.
    spectrum : StructureSpectrum | None, not always there
        Eigenvalues; with ``spectrum``, null where no switch works.
    bisection : StructureBisection, not always there
        Fewest links between two halves; with ``bisection``.
    """

    __slots__ = ()
    _parts = {
        "minimal_paths": StructurePathCounts,
        "almost_minimal_paths": StructurePathCounts,
        "disjoint_paths": StructureDisjointPaths,
        "channel_load": StructureMinimalLoad,
        "spectrum": StructureSpectrum,
        "bisection": StructureBisection,
    }
    switches: int
    endpoints: int
    terminals: int
    links: int
    network_radix: int
    concentration: int
    radix: int
    planes: int
    diameter: int
    mean_distance: float | None
    mean_distance_endpoints: float | None
    histogram: list[int]
    unreachable: int
    diameter_all_switches: int
    mean_distance_all_switches: float | None
    unreachable_all_switches: int
    girth: int | None
    moore_bound: float | None
    moore_fraction: float | None
    recipe: str
    minimal_paths: StructurePathCounts
    almost_minimal_paths: StructurePathCounts
    disjoint_paths: StructureDisjointPaths
    channel_load: StructureMinimalLoad
    spectrum: StructureSpectrum | None
    bisection: StructureBisection


class TrafficLimitsExchangeStepLoad(Record):
    """The busiest link in a step of recursive doubling, at full rate.

    Attributes
    ----------
    minimal : float
        Its load over minimal paths, in units of the rate of an endpoint.
    adaptive : float
        Its load where packets choose adaptively: at most twice the load of uniform traffic.
    """

    __slots__ = ()
    minimal: float
    adaptive: float


class TrafficLimits(Record):
    """What a network can carry.

    Attributes
    ----------
    network : str
        The network, in the inline form.
    gbps : float
        Rate of an endpoint's cable, Gbit/s.
    uniform_minimal : float | None
        The load of uniform traffic over minimal paths at which the busiest link is full, a
        fraction of the rate of an endpoint; above 1 where links could carry more. None without
        links.
    worst_case_minimal : float | None
        The same for the worst permutation found: the published worst case of the family, or the
        one that loads a channel most, for some of the channels that uniform traffic loads most;
        or a step of the exchange. An upper bound of the true worst case.
    worst_case_adaptive : float | None
        Its load where packets choose adaptively: at least half of what uniform traffic has,
        over random intermediate switches, or what minimal paths carry where that is more.
    exchanges : list[TrafficLimitsExchangeStepLoad]
        The steps of an exchange by recursive doubling, in which endpoint i and i xor 2^step
        exchange; in a last step endpoints beyond the largest power of two.
    ring_load : float
        Load of the busiest link when every endpoint sends to the next at full rate, in units of
        that rate.
    allreduce_bytes : int
        Bytes that the allreduce adds up.
    allreduce_algorithm : str
        The fastest algorithm of the allreduce over minimal paths: ``recursive_doubling``,
        ``rabenseifner`` or ``ring``.
    allreduce_ns : float
        Its time, nanoseconds.
    allreduce_adaptive_algorithm : str
        The fastest algorithm where packets choose adaptively.
    allreduce_adaptive_ns : float
        Its time, nanoseconds.
    alltoall_bytes : int
        Bytes of a pair in the all-to-all.
    alltoall_ns : float
        Time of the all-to-all: all its bytes as uniform traffic, nanoseconds.
    zero_load_ns : float | None
        Mean time of a first bit between endpoints of different switches in an empty network,
        over minimal paths and without the software: one more switch and two more cables than
        there are hops, nanoseconds. None where no two switches carry endpoints.
    """

    __slots__ = ()
    _parts = {
        "exchanges": TrafficLimitsExchangeStepLoad,
    }
    network: str
    gbps: float
    uniform_minimal: float | None
    worst_case_minimal: float | None
    worst_case_adaptive: float | None
    exchanges: list[TrafficLimitsExchangeStepLoad]
    ring_load: float
    allreduce_bytes: int
    allreduce_algorithm: str
    allreduce_ns: float
    allreduce_adaptive_algorithm: str
    allreduce_adaptive_ns: float
    alltoall_bytes: int
    alltoall_ns: float
    zero_load_ns: float | None


class CostLine(Record):
    """Things of one name in one part of the bill.

    Attributes
    ----------
    part : str
        The part of the bill.
    kind : str | None
        Electric or optical; none of what is no cable.
    id : str
        What is bought.
    count : int
        How many.
    usd : float
        Their typical price together, US dollars.
    usd_low : float
        Their lowest price together, US dollars.
    usd_high : float
        Their highest price together, US dollars.
    watts : float | None
        Their power together, watts; none where the catalogue does not say.
    confidence : str
        How well the price is known.
    counted : bool
        Whether the totals count it.
    """

    __slots__ = ()
    part: str
    kind: str | None
    id: str
    count: int
    usd: float
    usd_low: float
    usd_high: float
    watts: float | None
    confidence: str
    counted: bool


class Cost(Record):
    """The bill, and the floor that its cables are for.

    Attributes
    ----------
    catalog : str
        The catalogue.
    currency : str
        Currency of the catalogue's prices; those of the bill are in US dollars.
    year : int
        Year of the prices.
    link_gbps : float
        Rate of the links, Gbit/s; the highest where several differ.
    rate_source : str | None
        Where this rate comes from: the parameter ``gbps`` of the bill, the network, the cables
        of its file, or the catalogue (``default``).
    protocol : str | None
        What switches, cables and adapters speak; none where the catalogue does not say.
    endpoints : int
        Endpoints of the network.
    switches : int
        Switches of the network.
    radix : int
        Most ports that a switch has.
    cables_electric : int
        Electric cables between switches.
    cables_optical : int
        Optical cables between switches.
    endpoint_cables_electric : int
        Electric cables of endpoints.
    endpoint_cables_optical : int
        Optical cables of endpoints.
    include : list[str]
        The items that the totals add up.
    counts : list[str]
        The parts of these items that there are lines of.
    basis : str
        Catalogue, rates and items in words: bills compare where these are the same.
    lines : list[CostLine]
        What is bought, part by part; what is not counted is here too where it has a price.
    network_usd : float | None
        Switches and the cables between them, counted or not, US dollars; none where the
        catalogue has no price.
    endpoint_cables_usd : float | None
        Cables of endpoints, counted or not, US dollars.
    adapters_usd : float | None
        Adapters, counted or not, US dollars; none where the catalogue has no price.
    cost_usd : float
        Sum of what is counted, at typical prices, US dollars; a year of energy where it is
        counted.
    cost_usd_low : float
        The same at the lowest prices, US dollars.
    cost_usd_high : float
        The same at the highest prices, US dollars.
    cost_usd_per_endpoint : float | None
        ``cost_usd`` over the endpoints, US dollars; none without endpoints.
    cost_usd_per_endpoint_low : float | None
        ``cost_usd_low`` over the endpoints, US dollars; none without endpoints.
    cost_usd_per_endpoint_high : float | None
        ``cost_usd_high`` over the endpoints, US dollars; none without endpoints.
    switches_usd : float
        Counted switches, US dollars.
    electric_usd : float
        Counted electric cables, US dollars.
    optical_usd : float
        Counted optical cables, US dollars.
    nics_usd : float
        Counted adapters, US dollars.
    power_w : float | None
        Power of what is counted, as far as it is known, watts; without cooling. None where the
        catalogue does not say the power of the switches.
    power_w_per_endpoint : float | None
        ``power_w`` over the endpoints, watts; none without endpoints, too.
    power_unknown : list[str]
        What is counted but whose power the catalogue does not say, passive fibres and cables
        apart.
    energy_kwh_per_year : float | None
        Energy of a year of the whole room (``power_w`` x 8760 h x PUE), kilowatt-hours; none
        where the catalogue has no price of energy, or no power of the switches.
    energy_usd_per_year : float | None
        Price of that energy, counted or not, US dollars; none as above.
    energy_years : float | None
        Years whose energy the bill has; none as above.
    energy_usd : float | None
        Price of the energy of these years, counted or not, US dollars.
    spares_usd : float
        Spare parts, US dollars; 0 where none were asked for.
    notes : list[str]
        What a quotation has fewer of than are needed, and its lines without effect, a sentence
        each.
    confidence : str | None
        The least grade of what is counted, A to D; none where nothing is.
    racks : int
        Racks of the floor.
    network : str
        The network, in the inline form.
    """

    __slots__ = ()
    _parts = {
        "lines": CostLine,
    }
    catalog: str
    currency: str
    year: int
    link_gbps: float
    rate_source: str | None
    protocol: str | None
    endpoints: int
    switches: int
    radix: int
    cables_electric: int
    cables_optical: int
    endpoint_cables_electric: int
    endpoint_cables_optical: int
    include: list[str]
    counts: list[str]
    basis: str
    lines: list[CostLine]
    network_usd: float | None
    endpoint_cables_usd: float | None
    adapters_usd: float | None
    cost_usd: float
    cost_usd_low: float
    cost_usd_high: float
    cost_usd_per_endpoint: float | None
    cost_usd_per_endpoint_low: float | None
    cost_usd_per_endpoint_high: float | None
    switches_usd: float
    electric_usd: float
    optical_usd: float
    nics_usd: float
    power_w: float | None
    power_w_per_endpoint: float | None
    power_unknown: list[str]
    energy_kwh_per_year: float | None
    energy_usd_per_year: float | None
    energy_years: float | None
    energy_usd: float | None
    spares_usd: float
    notes: list[str]
    confidence: str | None
    racks: int
    network: str


class VerificationComplete(Record):
    """Whether every route between endpoints arrives.

    Attributes
    ----------
    holds : bool
        Whether all do.
    routes : int, not always there
        Routes checked: from every switch with endpoints to every terminal of its plane and
        layer.
    max_hops : int, not always there
        Hops of the longest route.
    mean_hops : float, not always there
        Mean hops over ordered pairs of a switch with endpoints and a terminal on another
        switch.
    hop_histogram : list[int], not always there
        Entry h: such pairs, of all layers, whose route has h hops.
    counterexample : str, not always there
        A route that does not arrive.
    """

    __slots__ = ()
    holds: bool
    routes: int
    max_hops: int
    mean_hops: float
    hop_histogram: list[int]
    counterexample: str


class VerificationManagement(Record):
    """Whether every route from and to switches arrives.

    Attributes
    ----------
    holds : bool
        Whether all do.
    routes : int, not always there
        Routes checked.
    counterexample : str, not always there
        A route that does not arrive.
    """

    __slots__ = ()
    holds: bool
    routes: int
    counterexample: str


class VerificationWaiting(Record):
    """A channel of a cycle, held by a route that waits for the next one.

    Attributes
    ----------
    from : str, by its key alone
        Name of the switch that the channel leaves.
    port : int
        Port by which it leaves.
    to : str
        Name of the switch that it enters.
    lane : int
        Data lane.
    channel : str
        The channel in words.
    route : str
        A route that holds the channel while it waits for the next one.
    """

    __slots__ = ()
    port: int
    to: str
    lane: int
    channel: str
    route: str


class VerificationDeadlock(Record):
    """Whether packets can never wait for each other in a cycle.

    Attributes
    ----------
    holds : bool
        Whether there is no cycle.
    dependencies : int, not always there
        Dependencies of the channel dependency graph.
    lanes : int, not always there
        Data lanes that were checked.
    rechecked : bool, not always there
        Whether the separate checker accepts the numbering of channels.
    recheck_error : str | None, not always there
        What the separate checker objects to; null where it accepts.
    cycle : list[VerificationWaiting], not always there
        Channels, each held by a route that waits for the next; the last for the first.
    counterexample : list[str], not always there
        The same in words, a line a channel.
    """

    __slots__ = ()
    _parts = {
        "cycle": VerificationWaiting,
    }
    holds: bool
    dependencies: int
    lanes: int
    rechecked: bool
    recheck_error: str | None
    cycle: list[VerificationWaiting]
    counterexample: list[str]


class VerificationRoutes(Record):
    """The routes that were checked, by number and hops.

    Attributes
    ----------
    routes : int
        Their number.
    hop_histogram : list[int], not always there
        Entry h: routes of h hops; where every route arrives.
    """

    __slots__ = ()
    routes: int
    hop_histogram: list[int]


class VerificationArrival(Record):
    """Whether no route ends with one kind of fault.

    Attributes
    ----------
    holds : bool
        Whether there is no such route.
    routes : int, not always there
        Number of such routes.
    counterexample : str, not always there
        The first such route.
    witness : VerificationRoutes, not always there
        The routes that were checked.
    """

    __slots__ = ()
    _parts = {
        "witness": VerificationRoutes,
    }
    holds: bool
    routes: int
    counterexample: str
    witness: VerificationRoutes


class VerificationNumbers(Record):
    """The size of the numbering of channels that rises along every route.

    Attributes
    ----------
    dependencies : int
        Dependencies of the channel dependency graph.
    lanes : int
        Data lanes.
    numbers : int
        Numbers: one for every channel and lane.
    """

    __slots__ = ()
    dependencies: int
    lanes: int
    numbers: int


class VerificationNoDeadlock(Record):
    """Whether packets can never wait in a cycle, with the evidence.

    Attributes
    ----------
    holds : bool | None
        Whether there is no cycle; none where it was not judged.
    why : str, not always there
        Why it was not judged.
    witness : VerificationNumbers, not always there
        Numbers of channels that rise along every route.
    cycle : list[VerificationWaiting], not always there
        Channels, each held by a route that waits for the next; the last for the first.
    counterexample : list[str], not always there
        The same in words, a line a channel.
    """

    __slots__ = ()
    _parts = {
        "witness": VerificationNumbers,
        "cycle": VerificationWaiting,
    }
    holds: bool | None
    why: str
    witness: VerificationNumbers
    cycle: list[VerificationWaiting]
    counterexample: list[str]


class VerificationLanes(Record):
    """Lanes in use.

    Attributes
    ----------
    lanes : int
        Data lanes.
    """

    __slots__ = ()
    lanes: int


class VerificationWithinLanes(Record):
    """Whether every route stays on the lanes that exist.

    Attributes
    ----------
    holds : bool | None
        Whether every route does; none where it was not judged.
    why : str, not always there
        Why it was not judged.
    witness : VerificationLanes, not always there
        The lanes that routes use.
    counterexample : str, not always there
        A hop on a lane that does not exist.
    """

    __slots__ = ()
    _parts = {
        "witness": VerificationLanes,
    }
    holds: bool | None
    why: str
    witness: VerificationLanes
    counterexample: str


class VerificationVerdicts(Record):
    """Every question by name.

    Attributes
    ----------
    no_missing_entry : VerificationArrival
        No route ends at a switch without an entry for it.
    no_dead_port : VerificationArrival
        No route ends at a port without a working cable.
    no_wrong_delivery : VerificationArrival
        No route is delivered to somebody else.
    no_loop : VerificationArrival
        No route comes back to a switch that it has left.
    no_over_the_hop_limit : VerificationArrival
        No route takes more than ``hop_limit`` hops.
    management : VerificationManagement
        Routes from and to switches arrive.
    no_deadlock : VerificationNoDeadlock
        Packets can never wait in a cycle.
    within_lanes : VerificationWithinLanes
        No route is on a lane from ``max_lanes`` on.
    """

    __slots__ = ()
    _parts = {
        "no_missing_entry": VerificationArrival,
        "no_dead_port": VerificationArrival,
        "no_wrong_delivery": VerificationArrival,
        "no_loop": VerificationArrival,
        "no_over_the_hop_limit": VerificationArrival,
        "management": VerificationManagement,
        "no_deadlock": VerificationNoDeadlock,
        "within_lanes": VerificationWithinLanes,
    }
    no_missing_entry: VerificationArrival
    no_dead_port: VerificationArrival
    no_wrong_delivery: VerificationArrival
    no_loop: VerificationArrival
    no_over_the_hop_limit: VerificationArrival
    management: VerificationManagement
    no_deadlock: VerificationNoDeadlock
    within_lanes: VerificationWithinLanes


class Verification(Record):
    """All verdicts on the tables.

    Attributes
    ----------
    holds : bool
        Whether everything holds.
    complete : VerificationComplete
        Whether every route between endpoints arrives.
    management : VerificationManagement
        Whether every route from switches without endpoints and to switches arrives. It does not
        count for ``holds``.
    deadlock : VerificationDeadlock | None
        Whether packets can never wait in a cycle; none where routes are not complete.
    lanes : int
        Data lanes in use.
    verdicts : VerificationVerdicts
        Every question by name.
    """

    __slots__ = ()
    _parts = {
        "complete": VerificationComplete,
        "management": VerificationManagement,
        "deadlock": VerificationDeadlock,
        "verdicts": VerificationVerdicts,
    }
    holds: bool
    complete: VerificationComplete
    management: VerificationManagement
    deadlock: VerificationDeadlock | None
    lanes: int
    verdicts: VerificationVerdicts


def lanes_needed(
    on: Tables,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> LanesNeeded:
    """How many virtual lanes each method needs to make given routes free of deadlock.

    The methods are described in docs/routing.md.

    Parameters
    ----------
    on : Tables
        Tables of any origin, or a network, which is routed as on the command line.
    seed : int, optional
        Seed of the method ``random``.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    LanesNeeded

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    given = {
        "seed": seed,
    }
    return LanesNeeded(measured(on, "lanes_needed", given, progress))


def repair(
    on: Tables,
    *,
    links: Iterable[int | str] = (),
    switches: Iterable[int | str] = (),
    random: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Repair:
    """Tables repaired after links or switches failed, with as few changed entries as possible.

    ``steps`` gives the order of the changes, and which packets must have left the network
    before each: packets whose service level was set before, also those that still wait at
    their senders.

    Parameters
    ----------
    on : Tables
        Tables of any origin, or a network, which is routed as on the command line.
    links : Iterable[int | str], optional
        Links that fail, by number, ``SWITCH:SWITCH`` (all cables between) or ``SWITCH:PORT``.
    switches : Iterable[int | str], optional
        Switches that fail, by number or name.
    random : int, optional
        The number of working links that fail besides, drawn at random.
    seed : int, optional
        Seed of the random links.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    Repair

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    given = {
        "links": links,
        "switches": switches,
        "random": random,
        "seed": seed,
    }
    return Repair(measured(on, "repair", given, progress))


def path_diversity(
    on: Tables,
    *,
    progress: Progress | None = None,
) -> PathDiversity:
    """Distinct and link-disjoint paths that the layers give each ordered pair of edge switches.

    The paths of a pair are the distinct routes of all layers to one terminal on its second
    switch; where the terminals there differ, the pair counts with the fewest. Paths are
    disjoint when they share no link in either direction; the largest number of disjoint ones
    is found exactly.

    Parameters
    ----------
    on : Tables
        Tables of any origin, or a network, which is routed as on the command line.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    PathDiversity

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    return PathDiversity(measured(on, "path_diversity", {}, progress))


@renamed.keywords("ebb", patterns="samples")
def ebb(
    on: Tables,
    *,
    samples: int = 1000,
    traffic: Wanted | None = None,
    seed: int = 0,
    top: int = 10,
    progress: Progress | None = None,
) -> Ebb:
    """Effective bisection bandwidth over given tables, as a fraction of the injection rate.

    Random halves, random perfect matchings; a flow's share is one over the largest
    congestion on its route (the mean over its routes when there are several). With
    ``traffic``, the same for the given pairs: the mean share of what they want to send, sent
    once.

    Parameters
    ----------
    on : Tables
        Tables of any origin, or a network, which is routed as on the command line.
    samples : int, optional
        Number of random bisections.
    traffic : Wanted | None, optional
        Traffic in place of random bisections: a name, a file, or rows of source, destination
        and amount; see docs/measures.md.
    seed : int, optional
        Seed of the random draws.
    top : int, optional
        Only this number of the busiest channels, by name.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    Ebb

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    given = {
        "samples": samples,
        "traffic": traffic,
        "seed": seed,
        "top": top,
    }
    return Ebb(measured(on, "ebb", given, progress))


def edge_load(
    on: Tables,
    *,
    top: int = 10,
    progress: Progress | None = None,
) -> EdgeLoad:
    """Routes over each channel when every terminal sends to every other, all layers together.

    Parameters
    ----------
    on : Tables
        Tables of any origin, or a network, which is routed as on the command line.
    top : int, optional
        Only this number of the busiest channels, by name.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    EdgeLoad

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    given = {
        "top": top,
    }
    return EdgeLoad(measured(on, "edge_load", given, progress))


@renamed.keywords("congestion", runs="samples", order="placement")
def congestion(
    on: Tables,
    *,
    pattern: str = "bisect",
    traffic: Wanted | None = None,
    samples: int = 1000,
    seed: int = 0,
    endpoints: int | None = None,
    first_job: int | None = None,
    placement: str | Iterable[int | str] = "random",
    levels: int | str = "each",
    endpoint_cables: bool = True,
    metric: str = "bandwidth",
    top: int = 10,
    progress: Progress | None = None,
) -> Congestion:
    """Congestion of a communication pattern over given tables when all its messages are sent at
    once.

    Parameters
    ----------
    on : Tables
        Tables of any origin, or a network, which is routed as on the command line.
    pattern : str, optional
        A pattern of docs/traffic.md, with its argument behind a colon: ``stencil:4x4``.
        ``ring::bisect`` is two jobs.
    traffic : Wanted | None, optional
        Traffic between endpoints by name or number, sent once, in place of a pattern: a name, a
        file, or rows of source, destination and amount; see docs/measures.md.
    samples : int, optional
        Number of runs, each with ranks assigned to endpoints again.
    seed : int, optional
        Seed of the random draws; run i depends on it and on i alone.
    endpoints : int | None, optional
        How many endpoints take part; by default all, or as many as the placement names.
    first_job : int | None, optional
        Number of endpoints of the first of two jobs; by default half of them.
    placement : str | Iterable[int | str], optional
        Which endpoint each rank is on: ``random``, ``linear`` (in the order of the network), or
        names or numbers of endpoints by rank; endpoints that are not named come after them in
        random order.
    levels : int | str, optional
        ``each`` (one after the other), ``all`` (at once), or the number of one, from 0.
    endpoint_cables : bool, optional
        Whether the cables of endpoints count; without them, ``bisect`` is what ``ebb``
        measures.
    metric : str, optional
        ``bandwidth``, ``congestion``, ``time``, ``delay`` or ``channels``; see
        docs/measures.md.
    top : int, optional
        Only this number of the busiest channels, by name.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    Congestion

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    given = {
        "pattern": pattern,
        "traffic": traffic,
        "samples": samples,
        "seed": seed,
        "endpoints": endpoints,
        "first_job": first_job,
        "placement": placement,
        "levels": levels,
        "endpoint_cables": endpoint_cables,
        "metric": metric,
        "top": top,
    }
    return Congestion(measured(on, "congestion", given, progress))


def resilience(
    on: Source,
    *,
    remove: str = "links",
    until: Iterable[str] = ("disconnected",),
    samples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Resilience:
    """How much of a network can fail at random before it is disconnected or its paths become
    long.

    Links (or switches, with their endpoints) are removed one by one in random order, until
    all requested ends are reached.

    Parameters
    ----------
    on : Source
        A network, as for ``network``, or tables for it.
    remove : str, optional
        What is removed: ``links`` or ``switches``.
    until : Iterable[str], optional
        The ends to look for: ``disconnected``, ``diameter`` (grown by over 2 hops), ``mean``
        (distance grown by over 1 hop).
    samples : int, optional
        Number of random orders, 1 to 1048576.
    seed : int, optional
        Seed of the random orders.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    Resilience

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    given = {
        "remove": remove,
        "until": until,
        "samples": samples,
        "seed": seed,
    }
    return Resilience(measured(on, "resilience", given, progress))


def structure(
    on: Source,
    *,
    paths: bool = False,
    disjoint: bool = False,
    load: bool = False,
    spectrum: bool = False,
    bisection: bool = False,
    hops: Iterable[int] | None = None,
    pairs: int = 100000,
    starts: int = 16,
    seed: int = 0,
    progress: Progress | None = None,
) -> Structure:
    """Counts, distances, girth and the Moore bound of a network, with the requested sections.

    The figures are explained in docs/structure.md.

    Parameters
    ----------
    on : Source
        A network, as for ``network``, or tables for it.
    paths : bool, optional
        Numbers of minimal and almost minimal paths.
    disjoint : bool, optional
        Numbers of link-disjoint paths.
    load : bool, optional
        Load of channels under uniform traffic over all minimal paths.
    spectrum : bool, optional
        Eigenvalues.
    bisection : bool, optional
        Fewest links between two halves.
    hops : Iterable[int] | None, optional
        Bounds of the hops of disjoint paths; by default the diameter and one more.
    pairs : int, optional
        Number of pairs for disjoint paths, drawn at random where there are more.
    starts : int, optional
        Number of runs of the search for a bisection.
    seed : int, optional
        Seed of the random draws.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    Structure

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    given = {
        "paths": paths,
        "disjoint": disjoint,
        "load": load,
        "spectrum": spectrum,
        "bisection": bisection,
        "hops": hops,
        "pairs": pairs,
        "starts": starts,
        "seed": seed,
    }
    return Structure(measured(on, "structure", given, progress))


def traffic_limits(
    on: Source,
    *,
    allreduce_bytes: int = 100000000,
    alltoall_bytes: int = 1000,
    step_ns: float = 2000.0,
    switch_delay_ns: float = 130.0,
    cable_ns: float = 50.0,
    gbps: float | None = None,
    progress: Progress | None = None,
) -> TrafficLimits:
    """What a network carries of uniform, worst-case and collective traffic, by the load of its
    links.

    Without routing tables: traffic of a pair is split evenly over its minimal paths, or,
    where packets choose, goes over random intermediate switches if that loads the busiest
    link less. A collective operation takes the time of its steps one after the other, rank i
    on endpoint i: the bytes of a step at the rate that its busiest link leaves, and
    ``step_ns``.

    Parameters
    ----------
    on : Source
        A network, as for ``network``, or tables for it.
    allreduce_bytes : int, optional
        Bytes that an allreduce adds up, on every endpoint.
    alltoall_bytes : int, optional
        Bytes that every endpoint sends every other in an all-to-all.
    step_ns : float, optional
        Time of a step beside its bytes: two overheads and the latency, nanoseconds.
    switch_delay_ns : float, optional
        Time from a port of a switch to another, nanoseconds (130 of a Quantum switch, as its
        maker says).
    cable_ns : float, optional
        Time that a cable takes, nanoseconds: 5 a metre.
    gbps : float | None, optional
        Rate of every link, Gbit/s; that of the network's cables by default.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    TrafficLimits

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    given = {
        "allreduce_bytes": allreduce_bytes,
        "alltoall_bytes": alltoall_bytes,
        "step_ns": step_ns,
        "switch_delay_ns": switch_delay_ns,
        "cable_ns": cable_ns,
        "gbps": gbps,
    }
    return TrafficLimits(measured(on, "traffic_limits", given, progress))


def cost(
    on: Source,
    *,
    catalog: str | Mapping[str, Any] | None = None,
    gbps: float | None = None,
    include: Iterable[str] = ("network", "endpoint_cables"),
    rules: Mapping[str, Any] | None = None,
    server: str | None = None,
    protocol: str | None = None,
    electric_limit_m: float | None = None,
    energy_years: float | None = None,
    usd_per_kwh: float | None = None,
    pue: float | None = None,
    spare: float | None = None,
    quotation: str | Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Cost:
    """What a network costs and draws by a catalogue of prices.

    Switches, cables (cut to the floor of docs/plan.md), adapters and energy; the totals add
    up what ``include`` says, the same for every catalogue. It takes what the command
    ``cost`` takes.

    Parameters
    ----------
    on : Source
        A network, as for ``network``, or tables for it.
    catalog : str | Mapping[str, Any] | None, optional
        The catalogue: the name of one that comes with flyloom (``flyloom catalog list``), or a
        file; the newest where none is given. A network that has a rate, by ``gbps`` or from a
        file, is priced by the newest that sells at it.
    gbps : float | None, optional
        Rate of every link, Gbit/s, which must be that of the network where that says ``gbps``;
        where it is not given that of the network, else the catalogue's.
    include : Iterable[str], optional
        What totals add up: ``network``, ``endpoint_cables``, ``adapters``, ``energy`` (of a
        year).
    rules : Mapping[str, Any] | None, optional
        Rules of the floor, those of docs/plan.md that differ from its defaults.
    server : str | None, optional
        The catalogue's server that endpoints are in, for room and power; that of ``rules``
        where it is not given.
    protocol : str | None, optional
        What switches, cables and adapters speak; where it is not given what the cheapest switch
        does.
    electric_limit_m : float | None, optional
        The longest electric cable, metres; where it is not given the reach of the catalogue's.
    energy_years : float | None, optional
        Years whose energy the total has.
    usd_per_kwh : float | None, optional
        Price of energy, US dollars a kilowatt-hour; the catalogue's where it is not given.
    pue : float | None, optional
        Power of the whole room over that of its machines (power usage effectiveness); the
        catalogue's where it is not given.
    spare : float | None, optional
        Parts to buy beyond those needed, as a fraction of these; none where it is not given.
    quotation : str | Mapping[str, Any] | None, optional
        The file of a vendor's quotation (CSV, docs/cost.md), whose prices replace those of the
        catalogue.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    Cost

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    given = {
        "catalog": catalog,
        "gbps": gbps,
        "include": include,
        "rules": rules,
        "server": server,
        "protocol": protocol,
        "electric_limit_m": electric_limit_m,
        "energy_years": energy_years,
        "usd_per_kwh": usd_per_kwh,
        "pue": pue,
        "spare": spare,
        "quotation": quotation,
    }
    return Cost(measured(on, "cost", given, progress))


def verify(
    on: Tables,
    *,
    hop_limit: int = 64,
    max_lanes: int = 15,
    progress: Progress | None = None,
) -> Verification:
    """Proof that routing tables are correct, with evidence.

    Everything holds when every route between endpoints arrives within ``hop_limit`` links,
    packets can never wait for each other in a cycle, and every route stays on the lanes that
    exist.

    Parameters
    ----------
    on : Tables
        Tables of any origin, or a network, which is routed as on the command line.
    hop_limit : int, optional
        Most links between switches that a route may take.
    max_lanes : int, optional
        Number of data lanes that exist, 1 to 15.
    progress : callable, optional
        Called with ``(what, done, total)`` ten times a second.

    Returns
    -------
    Verification

    Raises
    ------
    RefusalError
        When a parameter is not one that the measure has a use for.
    """
    given = {
        "hop_limit": hop_limit,
        "max_lanes": max_lanes,
    }
    return Verification(measured(on, "verify", given, progress))


RECORDS: dict[str, type[Record]] = {
    "lanes_needed": LanesNeeded,
    "repair": Repair,
    "path_diversity": PathDiversity,
    "ebb": Ebb,
    "edge_load": EdgeLoad,
    "congestion": Congestion,
    "resilience": Resilience,
    "structure": Structure,
    "traffic_limits": TrafficLimits,
    "cost": Cost,
    "verify": Verification,
}
"""The class of each measure's record."""
