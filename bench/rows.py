"""The benchmarks: each is a function that measures and returns rows of the table."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from measure import ROOT, Broken, Usage, flyloom, median, probe, run

MAIN_JOB = ROOT / "examples" / "demo.toml"

RECORDED_Q19 = {"cpu_s": 135.0, "rss_mib": 1455.0}
"""OpenSM 3.3.23's dfsssp on the Slim Fly q=19, p=15. CPU of its routing alone: the lower of two
values, 152 less 17 s (single sweeps, noted when the target was set) and 192 s (``--full``,
2026-11-21). Peak memory: of the latter. It takes minutes, so only ``--full`` measures it anew."""


@dataclass(frozen=True)
class Options:
    """How thorough a run is to be."""

    quick: bool
    """Fewer runs and smaller sizes."""
    full: bool
    """Also what takes minutes."""
    say: Callable[[str], None]
    """Takes a line on what is being done."""

    def times(self, runs: int) -> range:
        """``runs`` fresh processes, or a third of them when quick."""
        return range(max(1, runs // 3) if self.quick else runs)


@dataclass(frozen=True)
class Row:
    """One line of the table. Times are in seconds, memory in MiB."""

    benchmark: str
    what: str
    figure: float | None
    unit: str
    baseline: float | None = None
    baseline_is: str = ""
    """What the baseline is, and whether it was sampled, extrapolated or not of this run."""
    least_ratio: float | None = None
    """Target: baseline over figure is at least this."""
    ratio_95: tuple[float, float] | None = None
    """95 % interval of the ratio, where it was estimated."""
    most: float | None = None
    """Target: the figure is below this."""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Baseline over figure: above 1 we are better."""
        return self.baseline / self.figure if self.baseline and self.figure else None

    @property
    def target(self) -> str:
        """The target in words, empty where there is none."""
        if self.least_ratio is not None:
            return f"ratio >= {self.least_ratio:g}"
        return f"< {self.most:g} {self.unit.split()[0]}" if self.most is not None else ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none, where a figure is missing, or where
        the interval of the ratio has the target inside."""
        if self.least_ratio is not None:
            if self.ratio_95 and self.ratio_95[0] < self.least_ratio <= self.ratio_95[1]:
                return None
            return None if self.ratio is None else self.ratio >= self.least_ratio
        return None if self.most is None or self.figure is None else self.figure < self.most


def dfsssp(options: Options) -> list[Row]:
    """Routes and lanes against OpenSM's dfsssp on the same fabric."""
    sizes = [(5, 4), (7, 5)] if options.quick else [(5, 4), (7, 5), (9, 7), (11, 8)]
    resweeps = {5: 40, 7: 15, 9: 5, 11: 2}
    rows = []
    for q, p in sizes:
        ours, once, theirs = [], [], []
        for i in options.times(3):
            options.say(f"dfsssp: q={q}, process {i + 1}: ours, then OpenSM's dor and dfsssp")
            ours.append(probe("route", q, p, 0.3)[0])
            once.append(probe("route", q, p, 0)[1].cpu_s)
            theirs.append(probe("opensm", q, p, resweeps[q], 120)[0])
        rows.append(_dfsssp_row(f"dfsssp, Slim Fly q={q}, p={p}", ours, once, theirs))
    return rows


def _dfsssp_row(what: str, ours: list[dict], once: list[float], theirs: list[dict]) -> Row:
    figure = median(one["cpu_s"] for one in ours)
    sweeps = {
        engine: [cpu_s for one in theirs for cpu_s in one[engine]["sweep_cpu_s"]]
        for engine in ("dor", "dfsssp")
    }
    pairs = zip(sweeps["dfsssp"], sweeps["dor"], strict=True)
    routing_s = [dfsssp_s - dor_s for dfsssp_s, dor_s in pairs]
    baseline = median(routing_s)
    low, high = (bound / figure for bound in interval_95(routing_s))
    started = median(once)
    note = (
        f"{ours[0]['endpoints']} endpoints; lanes {ours[0]['lanes']}, OpenSM "
        f"{theirs[0]['dfsssp']['lanes']}; a sweep takes {median(sweeps['dfsssp']):.3f} s with "
        f"dfsssp, {median(sweeps['dor']):.3f} s with dor ({len(sweeps['dor'])} each); 95 % "
        f"interval of the ratio {low:.0f} to {high:.0f}; with Python started for it "
        f"{started:.3f} s, ratio {baseline / started:.2g}"
    )
    return Row(
        "dfsssp", what, figure, "s CPU", baseline, "OpenSM dfsssp sweep less dor sweep",
        least_ratio=10, ratio_95=(low, high), note=note,
    )


def interval_95(values: list[float]) -> tuple[float, float]:
    """Bounds of the median, by 2000 bootstrap samples."""
    random = Random(0)
    medians = sorted(median(random.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[-51]


def q19(options: Options) -> list[Row]:
    """The largest fabric in reach: 722 switches, 10,830 endpoints."""
    used: list[Usage] = []
    alone = []
    for i in options.times(5):
        options.say(f"q19: run {i + 1}: flyloom route")
        used.append(flyloom("route", "slim_fly:q=19,p=15", "--engine", "dfsssp", "--json"))
        alone.append(probe("route", 19, 15, 0)[0]["cpu_s"])
    theirs, where, sweeps = RECORDED_Q19, "OpenSM's routing alone, recorded, not of this run", ""
    if options.full:
        options.say("q19: OpenSM's dor and dfsssp, some minutes")
        found = probe("opensm", 19, 15, 0, 1500, timeout_s=1800)[0]
        sweep_s = {engine: found[engine]["sweep_cpu_s"][0] for engine in ("dor", "dfsssp")}
        theirs = {
            "cpu_s": sweep_s["dfsssp"] - sweep_s["dor"],
            "rss_mib": found["dfsssp"]["rss_mib"],
        }
        where = "OpenSM dfsssp sweep less dor sweep, one of each"
        sweeps = f"{sweep_s['dfsssp']:.1f} s less {sweep_s['dor']:.1f} s, "
        sweeps += f"{found['dfsssp']['lanes']} lanes"
    return [
        Row("q19", "dfsssp, Slim Fly q=19, p=15: routing alone", median(alone), "s CPU",
            theirs["cpu_s"], where, least_ratio=10 if options.full else None, note=sweeps),
        Row("q19", "the same, whole command: build, route, prove, measure",
            median(one.cpu_s for one in used), "s CPU", theirs["cpu_s"], "as above", most=20),
        Row("q19", "the same, whole command: peak memory", median(one.rss_mib for one in used),
            "MiB", theirs["rss_mib"], where.replace("routing alone", "peak memory"), most=2048),
    ]


def structure(options: Options) -> list[Row]:
    """All-pairs structure of 8,192 switches."""
    found, whole = [], []
    for i in options.times(5):
        options.say(f"structure: run {i + 1}: q=64")
        found.append(probe("structure", 64)[0])
        whole.append(flyloom("design", "slim_fly:q=64", "--json"))
    sources = 16 if options.quick else 64
    options.say(f"structure: scipy from {sources} sources")
    theirs = probe("structure_scipy", 64, sources)[0]
    baseline = theirs["cpu_s_per_source"] * theirs["switches"]
    where = f"scipy ({theirs['method']}), {sources} of {theirs['switches']} sources, extrapolated"
    wall = median(one["wall_s"] for one in found)
    whole_wall, rss = median(u.wall_s for u in whole), median(u.rss_mib for u in whole)
    return [
        Row("structure", "all pairs, Slim Fly q=64 (8,192 switches)",
            median(one["cpu_s"] for one in found), "s CPU", baseline, where, most=2,
            note=f"wall {wall:.3f} s; counts, distances and girth; scipy: distances only"),
        Row("structure", "the same, whole command with 393,216 endpoints",
            median(u.cpu_s for u in whole), "s CPU", baseline, where, most=2,
            note=f"wall {whole_wall:.2f} s, {rss:.0f} MiB"),
    ]


PEERS = (
    ("Slim Fly q=64 (8,192 switches)", "slim_fly:q=64,p=0"),
    ("Jellyfish, 10,000 switches of 32 links", "jellyfish:n=10000,k=32,seed=1,p=0"),
)


def peers(options: Options) -> list[Row]:
    """All-pairs distances, histogram and mean on one core, against other graph libraries."""
    rows = []
    for what, net in PEERS:
        options.say(f"peers: {net}")
        ours = [probe("distances", net)[0] for _ in options.times(3)]
        theirs = {}
        for library, sources in (("igraph", 0), ("networkit", 0), ("networkx", 8)):
            found = probe(f"distances_{library}", net, sources)[0]
            theirs[library] = found["cpu_s"]
            if found.get("histogram", ours[0]["histogram"]) != ours[0]["histogram"]:
                raise Broken(f"{library} counts other distances on {net}")
        best = min(theirs, key=theirs.__getitem__)
        listed = ", ".join(f"{library} {cpu_s:.3g} s" for library, cpu_s in theirs.items())
        rows.append(
            Row("peers", f"all pairs on one core, {what}",
                median(one["cpu_s"] for one in ours), "s CPU", theirs[best],
                f"{best}, the quickest of {listed} (networkx: 8 sources, extrapolated)",
                least_ratio=5,
                note=f"mean distance {ours[0]['mean']:.6f}"))
    return rows


def resilience(options: Options) -> list[Row]:
    """Links removed at random until the network falls apart, or its distances grow."""
    samples = 100 if options.quick else 1000
    rows = []
    for until, words, most in (("disconnected", "disconnection", 10),
                               ("diameter", "the diameter exceeds + 2", None),
                               ("mean", "the mean distance exceeds + 1", None)):
        options.say(f"resilience: until {until}")
        found = [probe("resilience", "slim_fly:q=19", samples, until)[0]
                 for _ in (options.times(3) if most else range(1))]
        rows.append(
            Row("resilience", f"{samples} orders of removing links of q=19, until {words}",
                median(one["cpu_s"] for one in found), "s CPU", most=most,
                note=f"{100 * found[0]['mean']:.2f} % of the links"))
    return rows


def q128(options: Options) -> list[Row]:
    """Building and measuring 32,768 switches and 3.1 million links."""
    used = []
    for i in options.times(3):
        options.say(f"q128: run {i + 1}")
        used.append(flyloom("design", "slim_fly:q=128", "--json"))
    return [
        Row("q128", "flyloom design slim_fly:q=128, whole command",
            median(u.wall_s for u in used), "s wall", most=30,
            note=f"CPU {median(u.cpu_s for u in used):.1f} s"),
        Row("q128", "the same: peak memory", median(u.rss_mib for u in used), "MiB", most=2048),
    ]


def ebb(options: Options) -> list[Row]:
    """Effective bisection bandwidth of 10,830 endpoints."""
    ours, theirs = [], []
    for i in options.times(5):
        options.say(f"ebb: run {i + 1}: 1000 patterns on q=19")
        ours.append(probe("ebb", 19, 15, 1000)[0])
        theirs.append(probe("ebb_numpy", 19, 15, 20)[0])
    baseline = 1000 * median(one["cpu_s_per_pattern"] for one in theirs)
    wall = median(one["wall_s"] for one in ours)
    note = f"wall {wall:.2f} s; mean {ours[0]['mean']:.4f}, numpy {theirs[0]['mean']:.4f}"
    return [
        Row("ebb", "1000 eBB patterns, Slim Fly q=19, p=15, routes given",
            median(one["cpu_s"] for one in ours), "s CPU", baseline,
            "numpy, 20 patterns, extrapolated", most=5, note=note),
    ]


def throughput(options: Options) -> list[Row]:
    """Bounds of maximum achievable throughput, 10,830 endpoints."""
    rows = []
    for traffic in ("uniform", "longest_matching"):
        options.say(f"throughput: {traffic}")
        found = [probe("throughput", "slim_fly:q=19", traffic)[0] for _ in options.times(3)]
        one = found[0]
        rows.append(
            Row("throughput", f"throughput of q=19 within 0.05, any paths, {traffic}",
                median(x["cpu_s"] for x in found), "s CPU", most=60,
                note=f"{one['lower']:.4f} to {one['upper']:.4f} in {one['rounds']} rounds; "
                     f"wall {median(x['wall_s'] for x in found):.1f} s"))
    return rows


def start(options: Options) -> list[Row]:
    """The command line's help."""
    options.say("start: flyloom --help, and Python alone")
    helped, nothing = [], []
    for _ in options.times(15):
        helped.append(flyloom("--help"))
        nothing.append(run([sys.executable, "-c", "pass"]))
    return [
        Row("start", "flyloom --help", median(u.wall_s for u in helped), "s wall",
            median(u.wall_s for u in nothing), "python -c pass", most=0.5,
            note=f"CPU {median(u.cpu_s for u in helped):.3f} s"),
    ]


def compare(options: Options) -> list[Row]:
    """What networks of ten thousand endpoints there are, measured and priced."""
    commands = (
        (2, ("size", "--endpoints", "10000")),
        (1, ("size", "--endpoints", "10000", "--families",
             "slim_fly,fat_tree,dragonfly,hyperx")),
        (6, ("compare", "--endpoints", "10000")),
        (6, ("compare", "--endpoints", "10000", "--samples", "0", "--json")),
    )
    rows = []
    for most, words in commands:
        used: list[Usage] = []
        for i in options.times(3):
            options.say(f"compare: run {i + 1}: flyloom {' '.join(words)}")
            used.append(flyloom(*words))
        rows.append(Row(
            "compare", f"flyloom {' '.join(words)}", median(u.cpu_s for u in used), "s CPU",
            most=most, note=f"wall {median(u.wall_s for u in used):.1f} s",
        ))
    return rows


def main_job(options: Options) -> list[Row]:
    """The demo: two networks, from design to report."""
    used: list[Usage] = []
    for i in options.times(3):
        options.say(f"main_job: run {i + 1}: {MAIN_JOB.name}")
        with tempfile.TemporaryDirectory(prefix="flyloom-bench-") as out:
            used.append(flyloom("run", str(MAIN_JOB), "--fresh", "--out", out))
    skipped = next((line for line in used[0].output.splitlines() if "skipped" in line), None)
    note = f"CPU {median(u.cpu_s for u in used):.1f} s, "
    note += f"{median(u.rss_mib for u in used):.0f} MiB"
    if skipped:
        note += f"; not all of it: {skipped.strip()}"
    return [
        Row("main_job", f"flyloom run examples/{MAIN_JOB.name} --fresh",
            median(u.wall_s for u in used), "s wall", most=60, note=note),
    ]


def files(options: Options) -> list[Row]:
    """Building networks, writing and reading their files."""
    options.say("files: netlist of q=19, builds of q=64")
    netlists = [probe("read_netlist", 19, 15)[0] for _ in options.times(5)]
    floor = median(probe("netlist_floor", 19, 15)[0]["cpu_s"] for _ in options.times(3))
    size = f"{netlists[0]['mb']:.1f} MB"
    rows = [
        Row("files", "reading the netlist of q=19, p=15",
            median(one["read_cpu_s"] for one in netlists), "s CPU", floor,
            "Python splitting its lines", note=size),
        Row("files", "writing it", median(one["write_cpu_s"] for one in netlists), "s CPU"),
        *_builds(64, [probe("build", 64) for _ in options.times(5)]),
    ]
    if options.full:
        options.say("files: build and structure of q=128")
        rows += _builds(128, [probe("build", 128) for _ in options.times(3)])
        runs = [probe("structure", 128) for _ in options.times(3)]
        rows.append(
            Row("files", "all pairs, Slim Fly q=128 (32,768 switches)",
                median(one["cpu_s"] for one, _ in runs), "s CPU",
                note=f"whole process: {median(u.rss_mib for _, u in runs):.0f} MiB"))
    return rows


def cabling(options: Options) -> list[Row]:
    """Pricing, planning and verifying 722 switches, 10,469 switch cables, 10,830 endpoints."""
    net, commands = "slim_fly:q=19,p=15", {"cost": [], "cables": [], "verify-cables": []}
    for i in options.times(3):
        options.say(f"cabling: run {i + 1}: {net}")
        with tempfile.TemporaryDirectory(prefix="flyloom-bench-") as folder:
            plan, found = Path(folder, "plan"), Path(folder, "found.net")
            flyloom("design", net, "-o", str(found))
            commands["cost"].append(flyloom("cost", net, "--json"))
            commands["cables"].append(flyloom("cables", net, "-o", str(plan)))
            commands["verify-cables"].append(
                flyloom("verify-cables", str(plan), str(found), "--json"))
    rows = []
    for name, used in commands.items():
        rows.append(Row("cabling", f"flyloom {name}, {net}, whole command",
                        median(u.wall_s for u in used), "s wall", most=30,
                        note=f"CPU {median(u.cpu_s for u in used):.1f} s"))
    most = max(u.rss_mib for used in commands.values() for u in used)
    return [*rows, Row("cabling", "the same: peak memory", most, "MiB", most=2048)]


def _builds(q: int, runs: list[tuple[dict[str, Any], Usage]]) -> list[Row]:
    what = f"building Slim Fly q={q} with all endpoints"
    cpu_s = median(one["cpu_s"] for one, _ in runs)
    note = f"whole process: {median(u.rss_mib for _, u in runs):.0f} MiB"
    return [Row("files", what, cpu_s, "s CPU", note=note)]


BENCHMARKS: dict[str, Callable[[Options], list[Row]]] = {
    f.__name__: f for f in (
        start, dfsssp, q19, structure, peers, resilience, q128, ebb, throughput, files,
        cabling, main_job, compare,
    )
}
