"""Prints how far our figures are from those of other programs, for docs/trust.md.

    .venv/bin/python docs/pictures/agreement.py [flit] [packet] [traces] [schedules] [mapping]

Each subject reads the figures of the other program from the data of the tests, computes ours
for every row, and prints how many rows there are and between what the differences lie. `flit` takes
some two minutes of CPU time, the others together one.
"""

from __future__ import annotations

import csv
import itertools
import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import flyloom as fl

ROOT = Path(__file__).resolve().parents[2]
FLIT = ROOT / "crates" / "lab" / "tests" / "data" / "flit"
PACKET = ROOT / "crates" / "packet" / "tests" / "data"
MESSAGE = ROOT / "tests" / "data" / "message"
MAPPING = ROOT / "tests" / "data" / "mapping"
NETWORKS = {
    "slim_fly": ("slim_fly:q=13,p=9", "codes-slimfly-v1"),
    "fit_fly": ("fit_fly:q=13,p=9", "codes-slimfly-v1"),
    "dragonfly": ("dragonfly:p=9,a=18,h=9,g=19,arrangement=codes", "codes-dally-v1"),
    "megafly": ("megafly:leaves=18,spines=18,p=18,h=18,g=10,arrangement=codes", "codes-dfplus-v1"),
}
SELECTIONS = {"nonminimal": "valiant", "prog-adaptive": "par"}
TRACES = {
    "amg_like_12": "amg_like:p=12,levels=4,cycles=1,base_bytes=16384",
    "mg_like_10": "mg_like:p=10,levels=3,cycles=2,base_bytes=32768",
}
UP_TO = 0.8
"""Latency is compared up to this part of the largest accepted load of its curve."""
ACCEPTED, LATENCY = 0.015, 0.01
"""A point of BookSim's that differs by more is named."""

Row = dict[str, str]


def rows(path: Path) -> list[Row]:
    """The lines of a table, by their headings."""
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def between(differences: list[float]) -> str:
    """Least and largest of relative differences, and their median without sign, in percent."""
    middle = statistics.median(abs(part) for part in differences)
    return (f"{100 * min(differences):+.2f} to {100 * max(differences):+.2f} %, "
            f"median {100 * middle:.2f} %")


def booksim_point(curve: str, row: Row, seed: int) -> dict[str, float]:
    """Our point of a row: the mean latency, what is accepted, and whether packets stand still."""
    two = ".c" in row["curve"]
    words = [f"seed={seed}", *row["overrides"].split()]
    if not two:
        words += [f"traffic={row['traffic']}", f"injection_rate={float(row['offered'])!r}"]
    if curve.startswith("hv_"):
        words.append("vc_policy=hops")
    run = fl.booksim(str(FLIT / f"{curve}.cfg"), *words, unverified=True)
    [point] = run.points
    of = run.classes[int(row["curve"].rsplit(".c")[1])] if two else point
    return {"accepted": of["accepted_load"], "latency": of["mean_packet_latency_cycles"] or 0.0,
            "deadlocked": float(point["deadlocked"])}


def compared(row: Row, curve: Path, seeds: range) -> tuple[float, float, bool]:
    """Relative differences of accepted load and latency, and whether ours deadlocked, too."""
    found = [booksim_point(curve.stem, row, seed) for seed in seeds]
    if float(row["deadlocked"]) > 0:
        return 0.0, 0.0, any(point["deadlocked"] for point in found)
    accepted = statistics.fmean(point["accepted"] for point in found)
    latency = statistics.fmean(point["latency"] for point in found)
    return (accepted / float(row["acc_mean"]) - 1, latency / float(row["plat_mean"]) - 1, False)


def latency_counts(table: list[Row]) -> list[bool]:
    """For each row, whether its load is below the part of saturation at which latency counts."""
    most: dict[tuple[str, str], float] = {}
    for row in table:
        key = (row["curve"], row["traffic"])
        if float(row["deadlocked"]) == 0:
            most[key] = max(most.get(key, 0.0), float(row["acc_mean"]))
    return [float(row["offered"]) <= UP_TO * most.get((row["curve"], row["traffic"]), 0.0)
            for row in table]


def flit(seeds: int = 3, more: int = 30) -> Iterator[str]:
    """Curves of BookSim 2 with the same configurations: the mean of as many seeds as BookSim's.

    A point that is further off than `ACCEPTED` or `LATENCY` is named, with ten times the seeds too.
    """
    accepted, latency, deadlocks, missed, far = [], [], 0, 0, []
    for path in sorted(FLIT.glob("*.csv")):
        table = rows(path)
        for row, counts in zip(table, latency_counts(table), strict=True):
            at, longer, stuck = compared(row, path, range(1, 1 + seeds))
            if float(row["deadlocked"]) > 0:
                deadlocks, missed = deadlocks + 1, missed + (not stuck)
                continue
            accepted.append(at)
            if counts:
                latency.append(longer)
            if abs(at) > ACCEPTED or (counts and abs(longer) > LATENCY):
                far.append((row, path, at, longer if counts else None))
    for what, parts, most in (("accepted", accepted, ACCEPTED), ("latency", latency, LATENCY)):
        near = sum(abs(part) <= most for part in parts)
        yield (f"flit {what}: {len(parts)} points, {near} within {100 * most:.1f} %; "
               f"{between(parts)}")
    yield f"flit deadlocks: {deadlocks} of BookSim, {deadlocks - missed} found here"
    for row, path, at, longer in far:
        again = compared(row, path, range(1, 1 + more))
        said = [f"accepted {100 * at:+.2f} %, with {more} seeds {100 * again[0]:+.2f} %"
                f" (standard deviation of BookSim's seeds"
                f" {100 * float(row['acc_sd']) / float(row['acc_mean']):.2f} %)"]
        if longer is not None:
            said.append(f"latency {100 * longer:+.2f} %, {100 * again[1]:+.2f} %"
                        f" ({100 * float(row['plat_sd']) / float(row['plat_mean']):.2f} %)")
        yield f"flit {row['curve']} {row['traffic']} {row['offered']}: {'; '.join(said)}"


def packet(seeds: int = 3) -> Iterator[str]:
    """Points of CODES on the networks of the Fit Fly study, by routing."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for row in rows(PACKET / "packet_curves.csv"):
        net, dialect = NETWORKS[row["network"]]
        [point] = fl.simulate(
            net, "packet", dialect=dialect, load=float(row["load"]), traffic=row["traffic"],
            selection=SELECTIONS.get(row["routing"], row["routing"]), seeds=seeds).points
        detours = float(row["nonmin_packets"])
        found.setdefault(row["routing"], []).append((
            point["mean_switches"] / float(row["avg_hops"]) - 1,
            point["mean_latency_ns"] / 1e3 / float(row["avg_latency_us"]) - 1,
            point["nonminimal_packets"] / detours - 1 if detours else 0.0))
    everything = [one for some in found.values() for one in some]
    for name, some in [*sorted(found.items()), ("all", everything)]:
        for place, what in enumerate(("routers", "latency", "detours")):
            yield f"packet {name} {what}: {len(some)} points, {between([r[place] for r in some])}"


def traces(seeds: int = 10) -> Iterator[str]:
    """Replays of CODES: the mean of several seeds beside one run."""
    differences: dict[str, list[float]] = {"longest": [], "mean": [], "routers": []}
    same = 0
    for row in rows(PACKET / "packet_replay.csv"):
        net, dialect = NETWORKS[row["network"]]
        jobs = [fl.simulate(net, "packet", dialect=dialect, workload=TRACES[row["workload"]],
                            selection=SELECTIONS.get(row["routing"], row["routing"]),
                            collectives="codes", seed=seed).jobs[0] for seed in range(seeds)]
        same += all((str(job["packets"]), str(job["messages"]))
                    == (row["chunks"], row["net_messages"]) for job in jobs)
        for what, ours, theirs in (("longest", "max_comm_ns", "max_comm_us"),
                                   ("mean", "mean_comm_ns", "avg_comm_us"),
                                   ("routers", "mean_switches", "avg_hops")):
            mean = statistics.fmean(job[ours] for job in jobs)
            unit = 1e3 if what != "routers" else 1
            differences[what].append(mean / unit / float(row[theirs]) - 1)
    yield f"traces with as many packets and messages: {same} of {len(differences['mean'])}"
    for what, parts in differences.items():
        yield f"traces {what}: {len(parts)} traces, {between(parts)}"


def schedules() -> Iterator[str]:
    """When each rank of a schedule ends, beside the program of LogGOPSim's semantics."""
    for name, folder in (("loggops_micro", "micro"), ("loggops_schedgen", "schedgen")):
        runs = ranks = exact = 0
        table = rows(MESSAGE / f"{name}.csv")
        for (goal, _), some in itertools.groupby(table, lambda row: (row["goal"], row["paramset"])):
            due = list(some)
            costs = {key: int(due[0][key]) for key in ("L", "o", "g", "G", "O", "S")}
            run = fl.simulate(str(MESSAGE / folder / goal), "message", dialect="loggops-v1",
                              costs=costs)
            runs += 1
            ranks += len(due)
            exact += sum(int(row["finish_stable_sort"]) == finish
                         for row, finish in zip(due, run.rank_finish_ns, strict=True))
        yield f"schedules {folder}: {runs} runs, {exact} of {ranks} times of ranks exact"


def mapping() -> Iterator[str]:
    """Hop-bytes and congestion of what `auto` finds, over the least that another mapper has."""
    cases = json.loads((MAPPING / "cases.json").read_text(encoding="utf-8"))
    table = [row for row in rows(MAPPING / "peers.csv") if not row["method"].startswith("proto")]
    linear, hops, congestion = [], [], []
    for case, (net, given) in cases.items():
        graph = str(MAPPING / given) if given.endswith(".mtx") else given
        peers = [row for row in table if row["case"] == case]
        for key, objective, to in (("hop_bytes", "hops", hops),
                                   ("max_congestion", "congestion", congestion)):
            found = fl.map_processes(net, graph, objective=objective)
            name = {"hop_bytes": "hop_bytes", "max_congestion": "maximum_congestion"}[key]
            least = min(float(row[key]) for row in peers if row[key])
            to.append(found[name] / least - 1)
            [theirs] = [float(row[key]) for row in peers if row["method"] == "linear"]
            linear.append(found.linear[name] / theirs - 1)
    yield f"mapping of ranks in order: {len(linear)} figures, {between(linear)}"
    yield f"mapping hop-bytes over the best other: {len(hops)} cases, {between(hops)}"
    yield f"mapping congestion over the best other: {len(congestion)} cases, {between(congestion)}"


SUBJECTS = {"flit": flit, "packet": packet, "traces": traces, "schedules": schedules,
            "mapping": mapping}

if __name__ == "__main__":
    for subject in sys.argv[1:] or SUBJECTS:
        for line in SUBJECTS[subject]():
            print(line, flush=True)
