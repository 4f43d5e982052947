"""The benchmarks of the flit simulator: flit-hops, instructions, memory, threads."""

from __future__ import annotations

import os
import re
import shutil
import sys

from measure import HERE, Broken, median, probe, run
from rows import Options, Row

#: Slim Fly: q, endpoints a switch; cycles of the longer run, and where instructions are counted;
#: CPU ns of BookSim 2 a flit-hop.
SIZES = (
    (5, 4, 30_000, 1500, 4348.0),
    (7, 5, 12_000, None, None),
    (11, 8, 3_000, None, None),
    (19, 15, 900, 150, 12_500.0),
)
BOOKSIM = "BookSim 2 on Zen 3: 0.23 M flit-hops a CPU second at q=5, 0.08 M at q=19; recorded"
#: Selection; most instructions a flit-hop.
SELECTIONS = (("minimal", 450), ("ugal_l", 550))


def flit(options: Options) -> list[Row]:
    """Flit-hops of the simulator at a load of 0.5, routers as of bs2_sf_q5_min."""
    rows = []
    for q, p, cycles, counted, theirs in SIZES:
        if options.quick and not theirs:
            continue
        for selection, most in SELECTIONS:
            options.say(f"flit: q={q}, {selection}")
            net = f"slim_fly:q={q},p={p}"
            runs = [probe("flits", net, selection, cycles, 1)[0] for _ in options.times(3)]
            ns = median(one["cpu_s"] / one["switched_flits"] for one in runs) * 1e9
            against = {"least_ratio": 40} if theirs and selection == "minimal" else {}
            rows.append(Row(
                "flit", f"a flit-hop, {net}, {selection}", ns, "ns CPU", theirs,
                BOOKSIM if theirs else "", **against,
                note=f"{1e3 / ns:.2f} M flit-hops a CPU second"))
            if counted:
                rows.append(_instructions(net, selection, counted, most, options))
    nets = [f"slim_fly:q=19,p={p}" for p in (7, 15)]
    growth = [probe("flits", net, "minimal", 60, 1)[0]["rss_mib"] for net in nets]
    rows.append(Row(
        "flit", "memory of a point, slim_fly:q=19,p=15", growth[1], "MiB", most=60,
        note=f"growth of the process, which has network and modules; {growth[0]:.0f} MiB with p=7"))
    return [*rows, _threads(options), *(_largest(options) if options.full else [])]


def _instructions(net: str, selection: str, cycles: int, most: int, options: Options) -> Row:
    what = f"the same: instructions, {net}, {selection}"
    if shutil.which("valgrind") is None:
        return Row("flit", what, None, "instructions", note="valgrind is not installed")
    options.say(f"flit: {net}, {selection}: instructions")
    counts = []
    for part in (1, 3):
        command = ["env", "PYTHONHASHSEED=0", "valgrind", "--tool=cachegrind", "--cache-sim=no",
                   "--cachegrind-out-file=/dev/null", "--log-fd=1", sys.executable,
                   str(HERE / "probes.py"), "flits_once", net, selection, str(cycles * part // 3)]
        output = run(command, timeout_s=600).output
        refs = re.search(r"I +refs: +([\d,]+)", output)
        hops = re.search(r"switched_flits.: (\d+)", output)
        if refs is None or hops is None:
            raise Broken(f"valgrind: {output[-300:]!r}")
        counts.append((int(refs[1].replace(",", "")), int(hops[1])))
    (less, few), (more, many) = counts
    return Row("flit", what, (more - less) / (many - few), "instructions", most=most,
               note=f"valgrind, {many - few} flit-hops, the difference of two runs")


def _threads(options: Options) -> Row:
    pairs = []
    for i in options.times(5):
        options.say(f"flit: one thread and two, pair {i + 1}")
        net = "slim_fly:q=19,p=15"
        pairs.append([probe("flits", net, "minimal", 900, n)[0]["wall_s"] for n in (1, 2)])
    one, two = (median(pair[n] for pair in pairs) for n in (0, 1))
    ratios = ", ".join(f"{a / b:.2f}" for a, b in pairs)
    return Row("flit", "two threads, slim_fly:q=19,p=15, minimal", two, "s wall", one, "one thread",
               least_ratio=1.8, note=f"pairs {ratios}; {os.cpu_count()} processors")


def _largest(options: Options) -> list[Row]:
    rows = []
    for net, cycles in (("slim_fly:q=25,p=19", 300), ("slim_fly:q=41,p=30", 60)):
        options.say(f"flit: {net}")
        one, used = probe("flits", net, "minimal", cycles, 1, timeout_s=1200)
        ns = one["cpu_s"] / one["switched_flits"] * 1e9
        rows.append(Row("flit", f"a flit-hop, {net}, minimal", ns, "ns CPU",
                        note=f"whole process {used.cpu_s:.0f} s CPU, {used.rss_mib:.0f} MiB"))
    return rows
