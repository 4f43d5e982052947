"""The benchmark of the message level: time an event, memory a process, text of GOAL."""

from __future__ import annotations

import json
import sys

from measure import median, run
from rows import Options, Row

CASES = {
    "broadcast_binomial": (1 << 20, "uncontended: a broadcast of a million processes", 200),
    "alltoall_linear": (256, "contended: everybody to everybody at once, 256 processes", 500),
}
"""Processes, what it is, and the most nanoseconds of CPU an event: 5 and 2 million a second."""
PEER_NS = 1e9 / 1.1e6
"""An event of LogGOPSim uncontended, its best of 0.7 to 1.1 million a CPU second (EPYC, Zen 3)."""

PROBE = """
import json, resource, sys, time
import flyloom as fl
def used(): return resource.getrusage(resource.RUSAGE_SELF)
before = used().ru_maxrss
first = fl.make_workload(sys.argv[1], ranks=4, bytes=8)
fl.simulate(first, "message", dialect=sys.argv[3])  # starts threads
made = fl.make_workload(sys.argv[1], ranks=int(sys.argv[2]), bytes=8)
begin = time.process_time()
found = fl.simulate(made, "message", dialect=sys.argv[3])
spent = time.process_time() - begin
print(json.dumps({"cpu_s": spent, "events": found.events,
                  "mib": (used().ru_maxrss - before) / 1024}))
"""
NET = "slim_fly:q=9,p=7"
FREE = {"o": 0, "g": 0, "S": 1 << 30}
OVER_NETWORK = (
    ("alltoall_pairwise", {}, {}, "pairwise, exact"),
    ("alltoall_linear", FREE, {}, "posted at once at no cost of processors, exact"),
    ("alltoall_linear", {}, {"network.settle_ns": 10_000}, "posted at once, settle_ns=10000"),
)
"""Everybody to everybody over a network: parameters, settings, what it is."""
OVER = """
import json, sys, time
import flyloom as fl
name, ranks, net, parameters, settings = sys.argv[1:]
made = fl.make_workload(name, ranks=int(ranks), bytes=65536)
begin = time.process_time()
found = fl.simulate(net, "message", workload=made, costs=json.loads(parameters),
                    settings=json.loads(settings))
print(json.dumps({"cpu_s": time.process_time() - begin, "finish_ms": found.finish_ns / 1e6}))
"""
READ = """
import json, sys, time
import flyloom as fl
made = fl.make_workload("alltoall_pairwise", ranks=600, bytes=1000)
text = made.text().encode()
begin = time.process_time()
same = type(made).read(text)
spent = time.process_time() - begin
assert same == made
print(json.dumps({"cpu_s": spent, "bytes": len(text)}))
"""


def messages(options: Options) -> list[Row]:
    """Schedules under LogGOPS: CPU time an event, memory a process, reading GOAL as text."""
    rows = []
    for name, (ranks, what, most_ns) in CASES.items():
        for dialect in ("loggops-v1", "causal"):
            found = [_found(options, PROBE, name, ranks, dialect) for _ in options.times(3)]
            event_ns = median(one["cpu_s"] / one["events"] * 1e9 for one in found)
            rows.append(Row(
                "messages", f"{what}, {dialect}", event_ns, "ns CPU an event", PEER_NS,
                "LogGOPSim's best on another processor", most=most_ns,
                note=f"{found[0]['events']:,} events",
            ))
            if ranks > 1 << 16 and dialect == "loggops-v1":
                mib = median(one["mib"] for one in found)
                rows.append(Row(
                    "messages", f"{what}, memory above Python's own", mib, "MiB", 658,
                    "LogGOPSim, the whole program", most=250 / 1.048576,
                    note=f"{mib * 2**20 / ranks:.0f} bytes a process, the schedule included",
                ))
    ranks = 256 if options.quick else 1024
    for name, parameters, settings, what in OVER_NETWORK:
        found = [_found(options, OVER, name, ranks, NET, json.dumps(parameters),
                        json.dumps(settings)) for _ in options.times(3)]
        rows.append(Row(
            "messages", f"all to all over {NET}, {ranks} processes, 64 KiB, {what}",
            median(one["cpu_s"] for one in found), "CPU s", most=60,
            note=f"the run ends after {found[0]['finish_ms']:.2f} ms",
        ))
    found = [_found(options, READ) for _ in options.times(3)]
    byte_ns = median(one["cpu_s"] / one["bytes"] * 1e9 for one in found)
    rows.append(Row(
        "messages", "reading GOAL as text", byte_ns, "ns CPU a byte", most=10,
        note=f"{found[0]['bytes'] / 1e6:.0f} MB; {1e3 / byte_ns:.0f} MB a second",
    ))
    return rows


def _found(options: Options, code: str, *words: object) -> dict:
    options.say(f"messages: {' '.join(map(str, words)) or 'text'}")
    return json.loads(run([sys.executable, "-c", code, *map(str, words)]).output)
