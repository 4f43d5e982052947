"""Report data for tests, made by plain arithmetic and networkx, without flyloom.

The Slim Fly is Robertson's pentagons and pentagrams (the Hoffman-Singleton graph), the fat tree a
complete bipartite graph with three links a pair; routes are breadth-first trees.
"""

from __future__ import annotations

import random
from collections import Counter

import networkx as nx


def slim_fly_edges() -> list[tuple[int, int]]:
    """Robertson: pentagon h vertex j is 5h + j, pentagram i vertex j is 25 + 5i + j."""
    edges = []
    for h in range(5):
        for j in range(5):
            edges.append((5 * h + j, 5 * h + (j + 1) % 5))
            edges.append((25 + 5 * h + j, 25 + 5 * h + (j + 2) % 5))
            edges += [(5 * h + j, 25 + 5 * i + (h * i + j) % 5) for i in range(5)]
    return edges


def fat_tree_edges() -> list[tuple[int, int]]:
    """Leaves 0 to 11, cores 12 to 17, three links a pair."""
    return [(leaf, 12 + core) for leaf in range(12) for core in range(6) for _ in range(3)]


def slim_fly() -> dict:
    """The deployed Slim Fly: 50 switches in 5 racks of 10, 200 endpoints."""
    racks = []
    for i in range(5):
        ids = [5 * i + j for j in range(5)] + [25 + 5 * i + j for j in range(5)]
        switches = [{"id": s, "name": f"sf-{i}-{k}", "unit": 20 + k} for k, s in enumerate(ids)]
        racks.append({"name": f"rack {i}", "row": i // 3, "column": i % 3, "switches": switches,
                      "endpoints": 40})
    pairs = [{"a": f"rack {a}", "b": f"rack {b}", "cables": 10}
             for a in range(5) for b in range(a + 1, 5)]
    groups = [[0, s // 5] if s < 25 else [1, (s - 25) // 5] for s in range(50)]
    return {
        "label": "Slim Fly", "recipe": "slim_fly:q=5,p=4",
        "structure": {"switches": 50, "endpoints": 200, "links": 175, "network_radix": 7,
                      "concentration": 4, "radix": 11, "diameter": 2,
                      "mean_distance": (7 + 42 * 2) / 49, "girth": 5, "moore_fraction": 1.0},
        "edges": slim_fly_edges(), "switch_names": [f"S{s}" for s in range(50)],
        "switch_groups": groups,
        "floor": {"racks": racks, "rack_pairs": pairs},
        "cables": {
            "total": 175,
            "by_step": [{"step": 1, "count": 50}, {"step": 2, "count": 25},
                        {"step": 3, "count": 100}],
            "classes": [
                {"kind": "copper", "length_m": "0-1", "count": 75, "cost_usd": 75 * 41.0},
                {"kind": "optical", "length_m": "3-5", "count": 60, "cost_usd": 60 * 210.5},
                {"kind": "optical", "length_m": "5-10", "count": 40, "cost_usd": 40 * 231.0}],
            "cost_usd": 75 * 41.0 + 60 * 210.5 + 40 * 231.0,
            "cost_note": "A price model for 40 Gb/s cables of 2014, for comparison only."},
    }


def fat_tree() -> dict:
    """The rival: 12 leaves, 6 cores, 216 endpoints, in 4 racks."""
    racks = []
    for i in range(4):
        ids = [3 * i, 3 * i + 1, 3 * i + 2] + ([12, 13, 14] if i == 1 else [])
        ids += [15, 16, 17] if i == 2 else []
        switches = [{"id": s, "name": ("leaf " if s < 12 else "core ") + str(s % 12), "unit": None}
                    for s in ids]
        racks.append({"name": f"rack {i}", "row": 0, "column": i, "switches": switches,
                      "endpoints": 54})
    home = {s["id"]: rack["name"] for rack in racks for s in rack["switches"]}
    crossing = Counter(tuple(sorted((home[a], home[b]))) for a, b in fat_tree_edges())
    pairs = [{"a": a, "b": b, "cables": n} for (a, b), n in sorted(crossing.items()) if a != b]
    return {
        "label": "Fat tree", "recipe": "fat_tree:levels=2,leaves=12,spines=6,parallel=3,p=18",
        "structure": {"switches": 18, "endpoints": 216, "links": 216, "network_radix": 36,
                      "concentration": 18, "radix": 36, "diameter": 2,
                      "mean_distance": (2 * 72 + 2 * 2 * (66 + 15)) / (18 * 17), "girth": 2,
                      "moore_fraction": None},
        "edges": fat_tree_edges(), "switch_names": None,
        "switch_groups": ["leaf"] * 12 + ["core"] * 6,
        "floor": {"racks": racks, "rack_pairs": pairs},
        "cables": {
            "total": 216,
            "classes": [
                {"kind": "copper", "length_m": "0-1", "count": 54, "cost_usd": 54 * 41.0},
                {"kind": "optical", "length_m": "3-5", "count": 162, "cost_usd": 162 * 210.5}],
            "cost_usd": 54 * 41.0 + 162 * 210.5},
    }


def _paths(edges: list[tuple[int, int]], seed: int) -> dict[tuple[int, int], list[tuple]]:
    """One shortest path, as channels, for each ordered pair of switches; ties drawn by seed."""
    draw = random.Random(seed)
    graph = nx.Graph(edges)
    paths = {}
    for target in graph:
        distance = nx.single_source_shortest_path_length(graph, target)
        step = {}
        for node in sorted(graph):
            nearer = [n for n in sorted(graph[node]) if distance[n] < distance[node]]
            if nearer:
                step[node] = draw.choice(nearer)
        for source in graph:
            path, at = [], source
            while at != target:
                path.append((at, step[at]))
                at = step[at]
            paths[source, target] = path
    return paths


def measured(
    edges: list[tuple[int, int]], homes: list[int], seed: int, patterns: int = 100
) -> dict:
    """Loads and effective bisection bandwidth of random shortest paths; homes[e] is e's switch."""
    draw = random.Random(seed)
    paths = _paths(edges, seed)
    on = Counter(homes)
    load: Counter = Counter()
    for (a, b), path in paths.items():
        for channel in path:
            load[channel] += on[a] * on[b]
    values = []
    for _ in range(patterns):
        order = draw.sample(range(len(homes)), len(homes))
        half = len(order) // 2
        pairs = list(zip(order[:half], order[half:], strict=True))
        flows = [paths[homes[a], homes[b]] for a, b in pairs]
        flows += [paths[homes[b], homes[a]] for a, b in pairs]
        use = Counter(channel for path in flows for channel in path)
        values.append(sum(1 / max([use[c] for c in path], default=1) for path in flows)
                      / len(flows))
    mean = sum(values) / patterns
    error = (sum((v - mean) ** 2 for v in values) / (patterns - 1) / patterns) ** 0.5
    bins = Counter(int(value * 100) for value in values)
    loads = Counter(load.values())
    return {
        "load_histogram": [{"load": k, "channels": n} for k, n in sorted(loads.items())],
        "edge_forwarding_index": max(load.values()),
        "mean_hops": sum(on[a] * on[b] * len(p) for (a, b), p in paths.items() if a != b)
        / sum(on[a] * on[b] for a, b in paths if a != b),
        "ebb": {"mean": mean, "ci_low": mean - 1.96 * error, "ci_high": mean + 1.96 * error,
                "samples": patterns,
                "histogram": [{"bin_low": k / 100, "bin_high": (k + 1) / 100, "count": n}
                              for k, n in sorted(bins.items())]},
    }


ENGINES = (
    ("dfsssp, LMC 2", "dfsssp", "flyloom", 2, True), ("dfsssp", "dfsssp", "flyloom", 0, True),
    ("min_hop", "min_hop", "flyloom", 0, False), ("OpenSM minhop", "minhop", "opensm", 0, False),
    ("OpenSM dfsssp", "dfsssp", "opensm", 0, True), ("OpenSM lash", "lash", "opensm", 0, True),
    ("OpenSM nue", "nue", "opensm", 0, True), ("OpenSM updn", "updn", "opensm", 0, False),
)


def routing(network: dict, engine: tuple, seed: int) -> dict:
    """One routing of a network, with or without a deadlock."""
    label, name, source, lmc, sound = engine
    size = network["structure"]
    ends = size["switches"] if network["label"] == "Slim Fly" else 12
    homes = [s for s in range(ends) for _ in range(size["concentration"])]
    verdicts = [
        {"name": "complete", "holds": True, "witness": f"{len(homes) * (len(homes) - 1)} pairs"},
        {"name": "loop_free", "holds": True, "witness": "hops fall along every route"},
        {"name": "deadlock_free", "holds": sound,
         "witness": "channels of each lane numbered so that every route climbs" if sound
         else "lane 0: a cycle of 5 channels"},
    ]
    cycle = [f"S{i} port {i + 1} -> S{(i + 1) % 5} port 7, lane 0 (route S{i} -> S{(i + 2) % 5})"
             for i in range(5)]
    deploy = None
    if source == "flyloom":
        deploy = {"entries": size["switches"] * (size["switches"] + len(homes) * 2**lmc),
                  "differing_entries": 0, "sl_entries": len(homes) ** 2 * 2**lmc,
                  "differing_sl_entries": 0, "sl2vl_entries": None, "differing_sl2vl_entries": None,
                  "deadlock_free": sound,
                  "oracle": "no credit loops found" if sound else "credit loop found",
                  "opensm_version": "3.3.23", "seconds": 2.4}
    return {
        "label": label, "network": network["label"], "engine": name, "source": source, "lmc": lmc,
        "verified": sound, "lanes": 3 if sound else 1, "max_hops": 2, "verdicts": verdicts,
        "counterexample": None if sound else cycle, "deploy": deploy,
        **measured(network["edges"], homes, seed),
    }


def full() -> dict:
    """Two networks with eight routings each, and every part of the page."""
    networks = [slim_fly(), fat_tree()]
    return {
        "title": "The deployed Slim Fly and its rival",
        "summary": "Both networks of the cluster, routed by eight engines, proven and measured.",
        "flyloom_version": "0.1.0", "seed": 42,
        "experiment_toml": 'title = "a <b> & \\"c\\""\nseed = 42\n[[network]]\nq = 5\n',
        "networks": networks,
        "routings": [routing(network, engine, seed) for network in networks
                     for seed, engine in enumerate(ENGINES)],
        "stages": [{"name": "design", "seconds": 0.012, "line": "50 switches, 175 links"},
                   {"name": "route", "seconds": 1.5, "line": "16 routings"}],
        "skipped": [{"what": "unrolled LMC 2 oracle", "why": "ibdmchk is not installed"}],
    }


def single() -> dict:
    """One network with one routing whose fabric stage was skipped."""
    network = slim_fly()
    only = routing(network, ENGINES[0], 1)
    only["deploy"] = {"skipped": "opensm is not installed: apt install opensm ibsim-utils"}
    return {
        "title": "The deployed Slim Fly", "summary": None, "flyloom_version": "0.1.0", "seed": 7,
        "experiment_toml": "seed = 7\n", "networks": [network], "routings": [only],
    }
