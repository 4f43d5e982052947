"""What runs inside the fresh processes of the benchmarks: ``probes.py NAME ARGUMENTS``.

Each probe prepares its input, measures one thing, and prints one line of JSON. CPU seconds are
those of all threads of this process (``time.process_time``) unless it says otherwise.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

import flyloom
from flyloom.deploy import tools


def slim_fly(q: str, p: str):
    """The Slim Fly of the given parameters."""
    return flyloom.network(f"slim_fly:q={q},p={p}")


def per_call_s(call: Callable[[], object], at_least_s: float) -> tuple[float, int]:
    """CPU seconds a call, from as many calls as take ``at_least_s`` together; and their number."""
    calls, began = 0, process_time()
    while True:
        call()
        calls += 1
        spent = process_time() - began
        if spent >= at_least_s:
            return spent / calls, calls


def route(q: str, p: str, at_least_s: str) -> dict:
    """Our dfsssp, routes and lanes, the network given."""
    net = slim_fly(q, p)
    lanes = net.route("dfsssp", {}, 1, None).lanes if float(at_least_s) else None
    cpu_s, calls = per_call_s(lambda: net.route("dfsssp", {}, 1, None), float(at_least_s))
    return {"cpu_s": cpu_s, "calls": calls, "lanes": lanes, "endpoints": net.endpoints}


def opensm(q: str, p: str, resweeps: str, timeout_s: str) -> dict:
    """CPU seconds of OpenSM's sweeps with dor and with dfsssp, each over a fabric of its own.

    Sweeps alternate between the two, so that a machine that others load does so to both. With
    ``resweeps`` above 0 the first sweep, which also starts OpenSM and writes all tables, is left
    out; else it is the one that counts. OpenSM's options are its defaults: no QoS, all lanes.
    """
    for name in ("opensm", "ibsim", "umad2sim library"):
        if tools.check_one(name)[0][1] is None:
            package = tools.check_one(name)[0][2]
            return {"absent": f"{name} is not installed: apt-get install {package}"}
    netlist, limit_s = slim_fly(q, p).to_text("netlist", 0), float(timeout_s)
    # errors and information: with more, OpenSM also writes its tables to files
    quiet = {"log_flags": "0x03"}
    found: dict = {engine: {"sweep_cpu_s": []} for engine in ("dor", "dfsssp")}
    with contextlib.ExitStack() as running:
        managers = {}
        for engine, row in found.items():
            fabric = running.enter_context(flyloom.deploy.Ibsim(netlist))
            manager = flyloom.deploy.OpenSM(fabric, engine, extra_conf=quiet, timeout_s=limit_s)
            managers[engine] = running.enter_context(manager)
            first = _cpu_s_after_a_while(manager)
            if resweeps == "0":
                row["sweep_cpu_s"].append(first)
        for _ in range(int(resweeps)):
            for engine, manager in managers.items():
                before = _cpu_s_after_a_while(manager)
                manager.resweep(limit_s)
                found[engine]["sweep_cpu_s"].append(_cpu_s_after_a_while(manager) - before)
        for engine, manager in managers.items():
            status = Path(f"/proc/{manager.pid}/status").read_text()
            lanes = re.findall(r"Virtual Lanes needed: (\d+)", manager.log_path.read_text())
            found[engine]["rss_mib"] = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024
            found[engine]["lanes"] = int(lanes[-1]) if lanes else None
    return found


def parsed(spec: str) -> tuple[str, dict[str, str]]:
    """Name and options of ``NAME[:KEY=VALUE...]``."""
    name, *words = spec.split(":")
    return name, dict(word.split("=", 1) for word in words)


def route_engine(net: str, engine: str, layers: str, at_least_s: str) -> dict:
    """One of our engines, the network given."""
    (name, options), built = parsed(engine), flyloom.network(net)
    values = {key: int(value) for key, value in options.items()}
    lanes = []

    def call() -> None:
        lanes.append(built.route(name, values, int(layers), None).lanes)

    cpu_s, calls = per_call_s(call, float(at_least_s))
    return {"cpu_s": cpu_s, "calls": calls, "lanes": lanes[0], "endpoints": built.endpoints}


def all_of_min_hop(net: str) -> dict:
    """CPU seconds of a network, its routes by min_hop, lanes by hops, proof, loads and patterns."""
    spent, began = {}, process_time()

    def lap(part: str) -> None:
        nonlocal began
        now = process_time()
        spent[part], began = now - began, now

    built = flyloom.network(net)
    lap("the network")
    routed = flyloom.route(built, "min_hop")
    lap("min_hop")
    routed = flyloom.spread(routed, "hops")
    lap("lanes by hops")
    proved = flyloom.verify(routed).holds
    lap("proof")
    flyloom.edge_load(routed)
    lap("loads")
    flyloom.ebb(routed, samples=100)
    lap("100 patterns")
    return {"cpu_s": spent, "endpoints": built.endpoints, "lanes": routed.lanes, "proved": proved}


def opensm_reroute(net: str, engine: str, at_least_s: str, timeout_s: str) -> dict:
    """CPU seconds of OpenSM's routing alone: its console's ``reroute``, which runs the engine anew
    and finds no table to write. At least three times, and so often as take ``at_least_s``."""
    for tool in ("opensm", "ibsim", "umad2sim library"):
        if tools.check_one(tool)[0][1] is None:
            return {"absent": f"{tool} is not installed: apt-get install "
                              f"{tools.check_one(tool)[0][2]}"}
    (name, conf), built = parsed(engine), flyloom.network(net)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    conf |= {"log_flags": "0x03", "console": "loopback", "console_port": str(port)}
    roots = None
    if name == "updn" and not built.levels.any():
        roots = [built.addresses(0)["switch_guid"][0]]
    limit_s, spent = float(timeout_s), []
    with (
        flyloom.deploy.Ibsim(built.to_text("netlist", 0)) as fabric,
        flyloom.deploy.OpenSM(fabric, name, root_guids=roots, extra_conf=conf, timeout_s=limit_s)
        as manager, socket.create_connection(("127.0.0.1", port), 10) as console,
    ):
        manager.wait_quiet()
        while len(spent) < 3 or (sum(spent) < float(at_least_s) and len(spent) < 40):
            mark, before = manager.mark(), _cpu_s_after_a_while(manager)
            console.sendall(b"reroute\n")
            limit = time.monotonic() + limit_s
            while not manager.logged("tables configured on all switches", mark):
                if time.monotonic() > limit:
                    raise TimeoutError(f"{engine} did not reroute in {timeout_s} s")
                time.sleep(0.005)
            spent.append(_cpu_s_after_a_while(manager) - before)
    return {"cpu_s": spent}


def verify_tables(net: str) -> dict:
    """Proof of the tables of dfsssp."""
    routing = flyloom.route(net, "dfsssp")
    cpu, wall = process_time(), perf_counter()
    if not routing.measure("verify")["holds"]:
        raise ValueError(f"tables for {net} do not hold")
    return {"cpu_s": process_time() - cpu, "wall_s": perf_counter() - wall}


def ebb_patterns(net: str) -> dict:
    """Effective bisection bandwidth of 5000 patterns over the tables of dfsssp."""
    routing = flyloom.route(net, "dfsssp")
    cpu, wall = process_time(), perf_counter()
    routing.measure("ebb", {"samples": 5000})
    return {"cpu_s": process_time() - cpu, "wall_s": perf_counter() - wall}


def repair_tables(net: str) -> dict:
    """Repair of the tables of dfsssp after one link, mean of five links."""
    built = flyloom.network(net)
    routing = flyloom.route(built, "dfsssp")
    links = [built.links * i // 5 for i in range(5)]
    cpu, wall = process_time(), perf_counter()
    for link in links:
        flyloom.repair(routing, built, links=[link])
    count = len(links)
    return {"cpu_s": (process_time() - cpu) / count, "wall_s": (perf_counter() - wall) / count}


def _cpu_s_after_a_while(manager) -> float:
    """CPU seconds of a running OpenSM, all threads, to the nanosecond."""
    time.sleep(0.05)  # the end of a sweep is written to the log before its last step
    return time.clock_gettime((~manager.pid << 3) | 2)  # the clock of clock_getcpuclockid(3)


def structure(q: str) -> dict:
    """All-pairs structure of a Slim Fly with the published number of endpoints."""
    net = flyloom.network(f"slim_fly:q={q}")
    cpu, wall = process_time(), time.perf_counter()
    found = net.measure("structure")
    cpu_s, wall_s = process_time() - cpu, time.perf_counter() - wall
    return {"cpu_s": cpu_s, "wall_s": wall_s, "switches": found["switches"]}


def peers_network(net: str):
    """The network of a peers' benchmark, and its links as two columns."""
    built = flyloom.network(net)
    return built, built.edges


def distances(net: str) -> dict:
    """All-pairs distances, histogram and mean by us, on one thread."""
    os.environ["RAYON_NUM_THREADS"] = "1"  # read when the first parallel loop begins
    built, _ = peers_network(net)
    cpu = process_time()
    found = built.measure("structure")
    return {"cpu_s": process_time() - cpu, "histogram": found["histogram"],
            "mean": found["mean_distance"]}


def distances_igraph(net: str, _sources: str) -> dict:
    """The histogram of all pairs by igraph, which needs no matrix for it."""
    import igraph

    built, edges = peers_network(net)
    graph = igraph.Graph(n=built.switches, edges=edges.tolist())
    cpu = process_time()
    found = graph.path_length_hist(directed=False)
    mean = found.mean
    cpu_s = process_time() - cpu
    return {"cpu_s": cpu_s, "histogram": [0, *(2 * int(b) for _, _, b in found.bins())],
            "mean": mean}


def distances_networkit(net: str, _sources: str) -> dict:
    """The matrix of all pairs and its histogram by networkit on one thread."""
    import networkit
    import numpy

    networkit.setNumberOfThreads(1)
    built, edges = peers_network(net)
    graph = networkit.Graph(built.switches)
    for a, b in edges.tolist():
        graph.addEdge(a, b)
    cpu = process_time()
    matrix = networkit.distance.APSP(graph).run().getDistances(asarray=True)
    counted = numpy.bincount(numpy.asarray(matrix).ravel().astype(numpy.int64)).tolist()
    mean = _mean(dict(enumerate(counted)))
    return {"cpu_s": process_time() - cpu, "histogram": [0, *counted[1:]], "mean": mean}


def distances_networkx(net: str, sources: str) -> dict:
    """Distances and their histogram by networkx, from a sample of sources."""
    import networkx

    built, edges = peers_network(net)
    graph = networkx.Graph(edges.tolist())
    step = max(1, built.switches // int(sources))
    sample = range(0, built.switches, step)
    counted: dict[int, int] = {}
    cpu = process_time()
    for source in sample:
        for distance in networkx.single_source_shortest_path_length(graph, source).values():
            counted[distance] = counted.get(distance, 0) + 1
    cpu_s = (process_time() - cpu) * built.switches / len(sample)
    return {"cpu_s": cpu_s, "mean": _mean(counted)}


def _mean(counted: dict[int, int]) -> float:
    pairs = sum(count for distance, count in counted.items() if distance)
    return sum(distance * count for distance, count in counted.items()) / pairs


def resilience(net: str, samples: str, until: str) -> dict:
    """Links removed at random until an end, from many orders."""
    built, _ = peers_network(net)
    cpu = process_time()
    found = built.measure("resilience", {"until": [until], "samples": int(samples), "seed": 1})
    return {"cpu_s": process_time() - cpu, "mean": found["ends"][until]["mean"]}


def throughput(net: str, traffic: str) -> dict:
    """Bounds of throughput over any paths within 0.05, network and traffic given."""
    from flyloom.inputs.traffic import demands

    wanted = demands(flyloom.network(net), traffic)
    cpu, wall = process_time(), perf_counter()
    found = wanted.bounds(0.05)
    return {"cpu_s": process_time() - cpu, "wall_s": perf_counter() - wall,
            **{k: found[k] for k in ("lower", "upper", "rounds")}}


def structure_scipy(q: str, sources: str) -> dict:
    """Distances from a sample of sources by scipy, by the quicker of its two methods."""
    import numpy
    import scipy.sparse.csgraph as graphs
    from flyloom.inputs.networks import to_scipy

    matrix = to_scipy(flyloom.network(f"slim_fly:q={q}")).astype(numpy.float64)
    switches = matrix.shape[0]
    sample = numpy.linspace(0, switches - 1, int(sources)).astype(int)

    def dijkstra() -> None:
        graphs.shortest_path(matrix, method="D", unweighted=True, indices=sample)

    def breadth_first() -> None:
        for source in sample:
            order, before = graphs.breadth_first_order(matrix, source)
            distance = numpy.zeros(switches, dtype=numpy.int32)
            for node in order[1:]:
                distance[node] = distance[before[node]] + 1

    both = (dijkstra, breadth_first)
    cpu_s = {one.__name__: per_call_s(one, 0.0)[0] / len(sample) for one in both}
    best = min(cpu_s, key=cpu_s.__getitem__)
    return {"cpu_s_per_source": cpu_s[best], "method": best, "methods": cpu_s, "switches": switches}


def ebb(q: str, p: str, patterns: str) -> dict:
    """Effective bisection bandwidth over routes that are given."""
    routing = slim_fly(q, p).route("dfsssp", {}, 1, None)
    cpu, wall = process_time(), time.perf_counter()
    found = routing.measure("ebb", {"samples": int(patterns)})
    cpu_s, wall_s = process_time() - cpu, time.perf_counter() - wall
    mean = found["effective_bisection_bandwidth"]
    return {"cpu_s": cpu_s, "wall_s": wall_s, "mean": mean}


def ebb_numpy(q: str, p: str, patterns: str) -> dict:
    """The same measure in plain numpy, all flows of a pattern stepped together."""
    import numpy

    net = slim_fly(q, p)
    ports, link = net.route("dfsssp", {}, 1, None).next[0], net.link_table
    width = 1 + int(max(link["a_port"].max(), link["b_port"].max(), net.attachments[:, 1].max()))
    leads_to = numpy.zeros(net.switches * width, dtype=numpy.int64)
    leads_to[link["a_switch"].astype(int) * width + link["a_port"]] = link["b_switch"]
    leads_to[link["b_switch"].astype(int) * width + link["b_port"]] = link["a_switch"]
    switch_of = net.attachments[:, 0].astype(numpy.int64)
    random = numpy.random.default_rng(0)

    def pattern() -> float:
        order = random.permutation(net.endpoints)
        half = len(order) // 2
        to = order[half : 2 * half]
        at, home = switch_of[order[:half]], switch_of[to]
        flow, taken = numpy.arange(half), []
        while len(flow := flow[at[flow] != home[flow]]):
            channel = at[flow] * width + ports[to[flow], at[flow]]
            taken.append((flow, channel))
            at[flow] = leads_to[channel]
        load = numpy.bincount(numpy.concatenate([c for _, c in taken]), minlength=len(leads_to))
        worst = numpy.ones(half)
        for flow, channel in taken:
            worst[flow] = numpy.maximum(worst[flow], load[channel])
        return float((1.0 / worst).mean())

    cpu = process_time()
    means = [pattern() for _ in range(int(patterns))]
    cpu_s = process_time() - cpu
    return {"cpu_s_per_pattern": cpu_s / len(means), "mean": sum(means) / len(means)}


def points(count: str, patterns: str, workers: str) -> dict:
    """An experiment of ``count`` short points, with ``patterns`` patterns of traffic each, without
    drawing its report: seconds of wall, and of CPU here and in the workers. The core has one thread
    a worker, however many there are."""
    from flyloom import report

    os.environ["RAYON_NUM_THREADS"] = "1"
    report.render = lambda _data, **_how: ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "short.toml")
        path.write_text(f"""schema = 1
name = "short"
topology = {{ family = "slim_fly", q = 5, p = 4 }}
routing = {{ engine = "dfsssp" }}
ebb = {{ samples = {patterns} }}
[sweep.grid]
"verify.hop_limit" = {{ from = 10, to = {9 + int(count)}, step = 1 }}
""")
        began, cpu = perf_counter(), process_time()
        flyloom.run(path, out=folder, workers=int(workers))
        wall_s, here_cpu_s = perf_counter() - began, process_time() - cpu
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        saved = Path(folder, "short")
        stages = json.loads((saved / "manifest.json").read_text())["stages"]
        rows = hashlib.sha256((saved / "rows.parquet").read_bytes()).hexdigest()
    return {"wall_s": wall_s, "in_stages_s": sum(stage["seconds"] for stage in stages),
            "here_cpu_s": here_cpu_s, "workers_cpu_s": spent.ru_utime + spent.ru_stime,
            "rows": rows}


def build(q: str) -> dict:
    """Building a Slim Fly with the published number of endpoints."""
    cpu_s, _ = per_call_s(lambda: flyloom.network(f"slim_fly:q={q}"), 0.0)
    return {"cpu_s": cpu_s}


def read_netlist(q: str, p: str) -> dict:
    """Writing a netlist and reading it back."""
    net = slim_fly(q, p)
    cpu = process_time()
    text = net.to_text("netlist", 0)
    write_s = process_time() - cpu
    cpu = process_time()
    flyloom._core.Topology.from_text(text, "q19.net", None)
    read_s = process_time() - cpu
    return {"write_cpu_s": write_s, "read_cpu_s": read_s, "mb": len(text) / 1e6}


def netlist_floor(q: str, p: str) -> dict:
    """Splitting the lines of the same netlist in Python, nothing more: a floor for readers."""
    text = slim_fly(q, p).to_text("netlist", 0)
    cpu_s, _ = per_call_s(lambda: [line.split() for line in text.splitlines()], 0.2)
    return {"cpu_s": cpu_s}


def flits(net: str, selection: str, cycles: str, threads: str) -> dict:
    """The simulator between a third of these cycles and all of them; growth of the process."""
    on = flyloom.network(net)
    # the modules that the first simulation loads are not a point's
    _flits(flyloom.network("slim_fly:q=3,p=1"), selection, 10, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    short = _flits(on, selection, int(cycles) // 3, int(threads))
    long = _flits(on, selection, int(cycles), int(threads))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {name: long[name] - short[name] for name in long} | {"rss_mib": after - before}


def flits_once(net: str, selection: str, cycles: str) -> dict:
    """One run of ``cycles`` cycles."""
    return _flits(flyloom.network(net), selection, int(cycles), 1)


def _flits(net: flyloom.Topology, selection: str, cycles: int, threads: int) -> dict:
    # the routers are BookSim's bs2_sf_q5_min by default; there, minimal takes any lane
    settings = {"run.warmup_cycles": 0, "run.measure_cycles": cycles, "run.drain_cycles": 0}
    settings["lane_use"] = "any" if selection == "minimal" else "hops"
    wall, cpu = perf_counter(), process_time()
    found = flyloom.simulate(
        net, "flit", load=0.5, selection=selection, settings=settings, unverified=True,
        threads=threads,
    )
    hops = found.points[0]["switched_flits"]
    return {"switched_flits": hops, "cpu_s": process_time() - cpu, "wall_s": perf_counter() - wall}


PROBES = {
    f.__name__: f
    for f in (
        route, opensm, structure, structure_scipy, ebb, ebb_numpy, build, read_netlist,
        netlist_floor, distances, distances_igraph, distances_networkit, distances_networkx,
        resilience, throughput, route_engine, opensm_reroute, verify_tables, ebb_patterns,
        repair_tables, points, all_of_min_hop, flits, flits_once,
    )
}

if __name__ == "__main__":
    print(json.dumps(PROBES[sys.argv[1]](*sys.argv[2:])))
