"""Ctrl-C in the middle of long work: every verb of the command line ends, every call returns."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from campaign import count
from cli_helpers import command, environment
from flyloom.cli import GROUPS
from patience import HANG_S, TRIES, least_s
from test_endings import start, wait_until_it_hears

AT_ONCE_S = 0.6
"""The most of processors that goes into what nobody waits for any more, after Ctrl-C; on two of
them it is 0.3 s of the clock, which others that are at work make longer."""
ENDED = os.WEXITED | os.WNOWAIT | os.WNOHANG
NETS = "torus:shape=64x64,p=1", "slim_fly:q=25"

RUN = """\
schema = 1
name = "x"
topology = {topology}
routing = {{ engine = "sssp" }}
ebb = {{ samples = 100000 }}
"""
TABLES = {NETS[0]: '{ family = "torus", shape = [64, 64], p = 1 }',
          NETS[1]: '{ family = "slim_fly", q = 25 }'}
VERBS = {
    "design": ["NET"], "plan": ["NET", "-o", "plan"], "cables": ["NET", "-o", "wiring"],
    "cost": ["NET"], "structure": ["NET", "--all"], "resilience": ["NET"],
    "size": ["--endpoints", "100000"], "scale": [], "compare": ["NET", "ring:n=8"],
    "choose": ["--endpoints", "100000"], "identify": ["NET"],
    "published": ["resilience"], "route": ["NET", "-e", "sssp", "-o", "tables"],
    "verify": ["NET", "-e", "min_hop"], "ebb": ["NET", "-e", "sssp", "--samples", "1000000"],
    "compare-routing": ["NET", "--engines", "min_hop,sssp,dfsssp"],
    "congestion": ["NET", "-e", "min_hop", "--pattern", "shift", "--samples", "1000"],
    "lanes": ["NET", "-e", "sssp"], "repair": ["NET", "-e", "min_hop", "--random", "2"],
    "throughput": ["NET", "--engine", "min_hop", "--epsilon", "0.05"],
    "figure": ["disjoint_paths", "-n", "NET", "-o", "paths.svg"],
    "sim": ["flit", "NET", "--unverified", "--load", "0.5,0.6"], "run": ["x.toml", "--fresh"],
}
"""Commands that compute for long, or as long as they can."""
ELSEWHERE = {
    "search": "Ctrl-C stops the annealing and keeps what it found: test_search.py",
    "deploy": "a running fabric: test_fabric_interrupts.py",
    "verify-cables": "a running fabric: test_fabric_interrupts.py",
    "observe": "reads files; its estimate hears Ctrl-C as other computations do",
    "report": "draws: test_endings.py", "catalog": "prints", "list": "prints", "schema": "prints",
    "doctor": "prints", "cite": "prints", "example": "prints", "help": "prints",
    "export": "writes one file", "opensm-plugin": "runs the compiler",
    "workload": "writes one file",
    "map": "Ctrl-C stops the search and keeps the best: test_mapping.py", "map-eval": "counts once",
    "record": "runs a program, which hears Ctrl-C itself",
    "reorder": "runs a program, which hears Ctrl-C itself",
    "measure": "runs a program, which hears Ctrl-C itself",
}


def test_every_verb_is_driven_here_or_named():
    assert set(VERBS | ELSEWHERE) == {name for names in GROUPS.values() for name in names}


def processor_s(pid: int) -> float:
    """What processors spent on a process, also on one that has ended and is not waited for yet."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def struck(words: list[str], place: Path, moment: float) -> float | None:
    """Seconds of processors from Ctrl-C, so long after its start, to the end of a command; None
    when it had ended before."""
    child = start(command(*words), place)
    wait_until_it_hears(child)
    time.sleep(moment)
    over = child.poll() is not None
    before = 0.0 if over else processor_s(child.pid)
    child.send_signal(signal.SIGINT)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(lambda: (child.stdout.read(), child.stderr.read()))
        limit = time.monotonic() + HANG_S
        while not over and os.waitid(os.P_PID, child.pid, ENDED) is None:
            if time.monotonic() > limit:
                child.kill()
            time.sleep(0.005)
        took = 0.0 if over else processor_s(child.pid) - before
        _, err = read.result()
        child.wait()
    if over or child.returncode in (0, 1, 2):
        return None
    assert child.returncode == 130 and err.endswith("interrupted\n"), (words, err)
    return took


@pytest.mark.parametrize("verb", VERBS)
def test_a_command_ends_at_once(verb, tmp_path):
    rng = random.Random(f"interrupts {verb}")

    def drive(net: str) -> int:
        place = tmp_path / net[:5]
        place.mkdir()
        (place / "x.toml").write_text(RUN.format(topology=TABLES[net]))
        words = [verb, *(net if word == "NET" else word for word in VERBS[verb])]
        heard = 0
        for moment in moments:
            while moment > 0.005:
                took = least_s(AT_ONCE_S, lambda at=moment: struck(words, place, at))
                if took is not None:
                    assert took <= AT_ONCE_S, (words, moment, took)
                    heard += 1
                    break
                moment /= 2  # the run had ended before the signal
        return heard

    moments = [rng.uniform(0.2, 1.2) for _ in range(count(1, 12))]
    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(drive, NETS)) > 0, "it is too short to be struck"


LIBRARY = """
import json, os, signal, sys, threading, time
import numpy, scipy.optimize, scipy.sparse
import flyloom as fl

net, moments, at_once, tries = json.loads(sys.argv[1])
on = fl.network(net)
cyclic = fl.route(on, "min_hop")
free = fl.route(on, "dor" if net.startswith("torus") else "dfsssp")
free.channel_loads()
lost = on.with_failures([5], [])
calls = {f"route {engine}": lambda engine=engine: fl.route(on, engine) for engine in (
    "min_hop", "sssp", "dfsssp", "lash", "nue", "up_down", "ecmp", "layered", "rues", "fatpaths",
    "valiant_static")}
calls |= {f"spread {how} {balance}":
          lambda how=how, balance=balance: fl.spread(free, how, max_lanes=15, balance=balance)
          for how in ("online", "lightest", "heaviest", "random", "hops")
          for balance in (False, True)}
calls |= {
    "verify": lambda: fl.verify(free), "verify cyclic": lambda: fl.verify(cyclic),
    "edge_load": lambda: fl.edge_load(free), "ebb": lambda: fl.ebb(free, samples=10**6),
    "congestion": lambda: fl.congestion(free, "shift", samples=100),
    "path_diversity": lambda: fl.path_diversity(free),
    "lanes_needed": lambda: fl.lanes_needed(free),
    "repair": lambda: fl.repair(free, lost),
    "paths": lambda: fl.structure(on, paths=True), "load": lambda: fl.structure(on, load=True),
    "spectrum": lambda: fl.structure(on, spectrum=True),
    "bisection": lambda: fl.structure(on, bisection=True),
    "disjoint": lambda: fl.structure(on, disjoint=True),
    "resilience": lambda: fl.resilience(on), "plan": lambda: fl.plan(on),
    "certificate": free.certificate_text, "tables": free.table_text, "orcs": free.orcs_text,
    "json": lambda: on.to_text("json"), "lfts": free.lft_text,
}

def strike(call, moment):
    "Seconds of processors from Ctrl-C to its exception; None where the call had returned."
    sent = []
    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(moment, send)
    timer.start()
    try:
        try:
            call()
        except fl.RefusalError:
            pass  # what is asked cannot be done on this network
        timer.cancel()
        timer.join()
        time.sleep(0.01)
        return None
    except KeyboardInterrupt:
        return time.process_time() - sent[0]

found = {}
for name, call in calls.items():
    for moment in moments[name] if name in moments else moments["any"]:
        took = []
        while len(took) < tries:
            try:
                one = strike(call, moment)
            except KeyboardInterrupt:
                one = None
            took.append(one)
            if one is None or one <= at_once:
                break
        found.setdefault(name, []).append((moment, took))
print(json.dumps(found), flush=True)
os._exit(0)  # what writes text goes on by itself
"""


@pytest.mark.parametrize("net", NETS)
def test_a_call_returns_at_once(net):
    rng = random.Random(f"interrupts of calls on {net}")
    moments = {"any": [rng.uniform(0.03, 0.4) for _ in range(count(1, 10))]}
    given = json.dumps([net, moments, AT_ONCE_S, TRIES])
    child = subprocess.run([sys.executable, "-c", LIBRARY, given], env=environment(), text=True,
                           capture_output=True, timeout=count(900, 3600))
    assert child.returncode == 0, child.stderr
    found = json.loads(child.stdout)
    deaf = {name: all_took for name, all_took in found.items()
            if any(None not in took and min(took) > AT_ONCE_S for _, took in all_took)}
    assert not deaf
    heard = [name for name, all_took in found.items() if any(t[-1] for _, t in all_took)]
    assert len(heard) > len(found) / 2, "most are long enough to be struck"
