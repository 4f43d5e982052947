"""The benchmarks of routing: engines against OpenSM's, the largest fabric, growth with size."""

from __future__ import annotations

import json
import math

from measure import HERE, Broken, median, probe
from rows import Options, Row, interval_95

#: Engine of ours with its options, OpenSM's with its configuration, least ratio wanted.
PAIRS = (
    ("dfsssp", "dfsssp", 20), ("lash", "lash", 20),
    ("nue:max_lanes=1", "nue:nue_max_num_vls=1", 20),
    ("nue:max_lanes=8", "nue:nue_max_num_vls=8", 20),
    ("min_hop", "minhop", 5), ("up_down:root=0", "updn", 5), ("sssp", "sssp", 5),
)
ON_TREES = (("ftree", "ftree", 5), ("up_down", "updn", 5), ("min_hop", "minhop", 5))
SLIM_FLIES = ("slim_fly:q=5,p=4", "slim_fly:q=7,p=5", "slim_fly:q=9,p=7", "slim_fly:q=11,p=8")
TREES = ("fat_tree:leaves=12,spines=6,parallel=3,p=18", "fat_tree:levels=3,k=16")
LARGEST = "slim_fly:q=19,p=15"
MILLION, HUNDRED_THOUSAND = "slim_fly:q=89,p=63", "slim_fly:q=43,p=32"
#: At the largest: what, engine or measure, layers, most CPU seconds.
ON_THE_LARGEST = (
    ("dfsssp", 1, 7), ("layered", 4, 60), ("lash", 1, 30), ("nue", 1, 20),
    ("nue:max_lanes=1", 1, 20),
)
#: Over the tables of dfsssp at the largest: probe, what, most CPU seconds.
MEASURES = (
    ("verify_tables", "verify", 5), ("ebb_patterns", "5000 patterns", 3),
    ("repair_tables", "repair after one link", 0.5),
)
GROWING = (5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25)
ENGINES = ("min_hop", "sssp", "up_down", "dfsssp", "lash", "nue")


def routing(options: Options) -> list[Row]:
    """Engines against OpenSM's of the same name; CPU time of routing 10,830 endpoints."""
    rows = []
    nets = SLIM_FLIES[:2] if options.quick else SLIM_FLIES
    trees = TREES[:1] if options.quick else TREES
    for net, pairs in [(n, PAIRS) for n in nets] + [(n, ON_TREES) for n in trees]:
        for ours, theirs, least in pairs:
            options.say(f"routing: {net}: {ours} and OpenSM's {theirs}")
            rows.append(_against_opensm(net, ours, theirs, least, options))
    return rows + _largest(options)


def _against_opensm(net: str, ours: str, theirs: str, least: float, options: Options) -> Row:
    found, again = [], []
    for _ in options.times(2):
        found.append(probe("route_engine", net, ours, 1, 0.2)[0])
        again += probe("opensm_reroute", net, theirs, 1.0, 300)[0]["cpu_s"]
    figure = median(one["cpu_s"] for one in found)
    low, high = (bound / figure for bound in interval_95(again))
    note = f"{len(again)} reroutes; 95 % interval of the ratio {low:.0f} to {high:.0f}"
    return Row("routing", f"{ours}, {net}", figure, "s CPU", median(again),
               f"OpenSM's {theirs}, rerouting", least_ratio=least, ratio_95=(low, high), note=note)


def _largest(options: Options) -> list[Row]:
    rows, memory = [], []
    for engine, layers, most in ON_THE_LARGEST:
        options.say(f"routing: {LARGEST}: {engine}, {layers} layers")
        found = [probe("route_engine", LARGEST, engine, layers, 0, timeout_s=600)
                 for _ in (options.times(3) if layers == 1 else range(1))]
        memory += [used.rss_mib for _, used in found]
        suffix = f", {layers} layers" if layers > 1 else ""
        rows.append(Row("routing", f"{engine}{suffix}, {LARGEST}",
                        median(one["cpu_s"] for one, _ in found), "s CPU", most=most,
                        note=f"lanes {found[0][0]['lanes']}, "
                             f"{max(used.rss_mib for _, used in found):.0f} MiB"))
    for name, what, most in MEASURES:
        options.say(f"routing: {LARGEST}: {what}")
        found = [probe(name, LARGEST)[0] for _ in options.times(3)]
        memory += [used.rss_mib for _, used in [probe(name, LARGEST)]]
        rows.append(Row("routing", f"{what} of dfsssp, {LARGEST}",
                        median(one["cpu_s"] for one in found), "s CPU", most=most,
                        note=f"wall {median(one['wall_s'] for one in found):.2f} s"))
    return [*rows, Row("routing", "the same: peak memory", max(memory), "MiB", most=4096)]


def growth(options: Options) -> list[Row]:
    """Routing and proving Slim Flies of growing size, with fitted exponents."""
    rows, points = [], []
    sizes = GROWING[:6] if options.quick else GROWING
    for engine in ENGINES:
        mine = []
        for q in sizes:
            options.say(f"growth: {engine}, q={q}")
            found = probe("route_engine", f"slim_fly:q={q}", engine, 1, 0.1, timeout_s=600)[0]
            mine.append({"engine": engine, "q": q, "endpoints": found["endpoints"],
                         "cpu_s": found["cpu_s"]})
        points += mine
        exponent = slope([(p["endpoints"], p["cpu_s"]) for p in mine if p["q"] >= 9])
        rows.append(Row("growth", f"{engine}, Slim Fly q={sizes[-1]}, "
                                  f"{mine[-1]['endpoints']:,} endpoints", mine[-1]["cpu_s"],
                        "s CPU", note=f"grows as endpoints^{exponent:.2f} from q=9 on"))
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    (out / "growth.json").write_text(json.dumps(points, indent=0) + "\n", encoding="utf-8")
    return rows


def million(options: Options) -> list[Row]:
    """A Slim Fly of 998,046 endpoints: routes, lanes, proof, loads, 100 patterns. Takes minutes."""
    net = HUNDRED_THOUSAND if options.quick else MILLION
    options.say(f"million: {net}")
    found, used = probe("all_of_min_hop", net, timeout_s=3600)
    rows = [Row("million", f"{part}, {net}", cpu_s, "s CPU")
            for part, cpu_s in found["cpu_s"].items()]
    note = f"{found['endpoints']:,} endpoints, {found['lanes']} lanes, proved: {found['proved']}"
    total = sum(found["cpu_s"].values())
    most = (60, 1024) if options.quick else (300, 4096)
    return [*rows, Row("million", f"all of it, {net}", total, "s CPU", most=most[0], note=note),
            Row("million", "the same: peak memory", used.rss_mib, "MiB", most=most[1])]


def slope(points: list[tuple[float, float]]) -> float:
    """Exponent of the power law through points, by least squares of the logarithms."""
    if len(points) < 2:
        raise Broken("two sizes at least are needed for an exponent")
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(v) / len(logs) for v in zip(*logs, strict=True))
    return (sum((x - mean_x) * (y - mean_y) for x, y in logs)
            / sum((x - mean_x) ** 2 for x, _ in logs))
