"""Every command's JSON has the fields that docs/json-reference.md names, and no others.

A field that is new is named by the test: give it a line in data/json-fields.toml, or a comment in
its record where a measure has it, and run `make gen`.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import dumpi_files
import flyloom as fl
import pytest
from checkout import ROOT
from cli_helpers import flyloom
from counter_files import Counters
from deploy_helpers import needs_fabric
from flyloom._core import registry
from times_kept import TIMES

KNOWN = tomllib.loads((ROOT / "data" / "json-fields.toml").read_text())
NET = "slim_fly:q=3,p=2"
TINY = """
schema = 1
name = "tiny"
[topology]
family = "ring"
n = 4
p = 1
[routing]
engine = "dfsssp"
"""

SHORT = "--set run.warmup_cycles=50 --set run.measure_cycles=200"
STUCK = ("torus:shape=8,p=4 --load 1 --unverified --set lane_use=any"
         " --set switch.virtual_channels=1 --set switch.buffer_flits=1")
MESH = """
topology = mesh; k = 4; n = 2; routing_function = dor; injection_rate = 0.2;
sample_period = 100; warmup_periods = 1; max_samples = 3;
"""

PAIR = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n"

EBB = {"flyloom_measurement": 1, "what": "ebb", "hosts": ["0", "9"], "size_bytes": 1000,
       "rounds": [{"pairs": [[0, 1]], "rank_gbps": [5, 6]}]}

RUNS: dict[str, list[str]] = {
    "design": [f"design {NET}"],
    "structure": [f"structure {NET} --paths --disjoint --load --spectrum --bisection"],
    "resilience": [f"resilience {NET} --samples 3 --until disconnected,diameter,mean"],
    "traffic-limits": [f"traffic-limits {NET}"],
    "plan": [f"plan {NET}"],
    "cables": [f"cables {NET} -o folder"],
    "cost": [f"cost {NET}"],
    "catalog list": ["catalog list"],
    "catalog check": ["catalog check mine.toml"],
    "compare": [f"compare {NET} ring:n=8,p=2 --samples 5"],
    "size -n": ["size -n 200 --families slim_fly,hypercube"],
    "choose": ["choose -n 60 --radix 16 --budget 1M --families slim_fly,fat_tree,hyperx"],
    "size --budget": ["size --budget 100000 --families slim_fly,hypercube"],
    "scale": ["scale --families slim_fly --radix 16"],
    "search": ["search --order 10 --degree 3 --steps 100"],
    "published cost": ["published cost"],
    "published scale": ["published scale"],
    "published addresses": ["published addresses"],
    "published resilience": ["published resilience --samples 2"],
    "published fit-fly": ["published fit-fly"],
    "route": [f"route {NET} -o tables --layers 2", "route cut.net"],
    "verify": ["verify tables", "verify ring:n=5,p=1 -e min_hop"],
    "lanes": ["lanes tables"],
    "identify": [f"identify {NET}"],
    "repair": ["repair tables --random 1"],
    "compare-routing": [f"compare-routing {NET} --engines dfsssp,dor --samples 2"],
    "ebb": ["ebb tables --samples 3"],
    "congestion": ["congestion tables --samples 3"],
    "throughput": ["throughput tables --epsilon 0.1"],
    "sim flit": [f"sim flit {NET} --load 0.2 --selection 'custom score=hops'"
                 " --set switch.virtual_channels=8 run.measure_cycles=200",
                 f"sim flit {NET} --load auto {SHORT}",
                 f"sim flit {STUCK} {SHORT} --set links=true",
                 f"sim flit ring:n=5,p=1 --traffic worst_case --load 0.1 {SHORT}",
                 f"sim flit {NET} --load 0.1 --seeds 2 --traffic-class share=1"
                 f" --traffic-class share=2 {SHORT}",
                 f"sim flit {NET} --load 0.1 --selection minimal,valiant {SHORT}"
                 " --set switch.virtual_channels=4"],
    "sim packet": [f"sim packet {NET} --load 0.2",
                   f"sim packet {NET} --load 0.2 --messages 3 --seeds 2",
                   f"sim packet {NET} --workload short.goal",
                   f"sim packet {NET} --load 0.2 --messages 3 --selection 'custom score=hops'"
                   " --set switch.virtual_channels=8",
                   f"sim packet {NET} --messages 3 --traffic uniform,worst_case",
                   "sim packet torus:shape=4x4,p=4 --load 1 --selection valiant --messages 400"
                   " --set lane_use=any switch.virtual_channels=1 link.local_buffer_bytes=4096"
                   " --unverified"],
    "map": [f"map {NET} --graph stencil:shape=6x6,bytes=8 --effort fast"],
    "map-eval": [f"map-eval {NET} --graph stencil:shape=6x6,bytes=8 --mapping places"],
    "measure": ["measure --times times.json"],
    "measure --compare": [f"measure --compare ebb.json --net {NET}"],
    "sim message": ["sim message --workload pair.goal --costs costs.json",
                    "sim message --workload short.goal",
                    f"sim message --workload 'scan_doubling bytes=8' {NET} --critical-path",
                    f"sim message --workload 'scan_doubling bytes=8' {NET} --seeds 2"
                    " --placement random --selection one,spread",
                    f"sim message --workload 'scan_doubling bytes=8' {NET} --seeds 2"
                    " --placement random"],
    "workload list": ["workload list"],
    "workload make": ["workload make scan_doubling ranks=4 bytes=8 -o scan.goal"],
    "workload check": ["workload check pair.goal", "workload check short.goal",
                       "workload check dumpi"],
    "workload convert": ["workload convert pair.goal pair.bin"],
    "workload merge": ["workload merge pair.goal pair.goal -o both.goal"],
    "workload best": ["workload best barrier ranks=3 --costs costs.json",
                      f"workload best barrier --net {NET}"],
    "sim booksim": ["sim booksim mesh.cfg classes=2 injection_rate={0.1,0.05} print_activity=1"],
    "edge-load": ["edge-load tables"],
    "path-diversity": ["path-diversity tables"],
    "figure": [f"figure path_lengths --net {NET} --engines dfsssp --layers 1 -o f.svg"],
    "verify-cables": [
        f"verify-cables {NET} cut.net", f"verify-cables {NET} whole.net --watch --every 0.1",
    ],
    "observe": [f"observe {NET} 1.pm 2.pm odd.txt --routes dfsssp --traffic uniform --estimate"],
    "deploy --dry-run": ["deploy tables --dry-run"],
    "run": ["run tiny.toml -o out"],
    "report": ["report out/tiny"],
    "list": ["list"],
    "doctor": ["doctor"],
    "cite": ["cite slim_fly fat_tree:leaves=4,spines=2,p=2 min_hop libflyloom"],
    "export": [f"export {NET} --to graphml"],
    "export --list": ["export --list"],
}
ON_FABRIC = {
    "deploy": ["deploy ring:n=4,p=1 -e dfsssp", "deploy tables --current tables"],
    "opensm-plugin": ["opensm-plugin -o plugin"],
}
"""Commands that need OpenSM."""


@functools.cache
def records() -> dict[str, dict[str, dict]]:
    """The fields of every class of a record, by name."""
    return {
        record["name"]: {field["name"]: field for field in record["fields"]}
        for part in registry() if part["kind"] == "measure" for record in part["records"]
    }


def of_record(name: str, at: str) -> Iterator[tuple[str, bool]]:
    """The paths of a record, or of a part, and whether they are always there."""
    dot = f"{at}." if at else ""
    if name in KNOWN["part"]:
        yield from ((dot + path, True) for path in KNOWN["part"][name]["fields"])
        return
    for field in records()[name].values():
        place, kind = dot + field["name"], field["type"]
        yield place, field["always"]
        inner = next((word for word in re.split(r"\W+", kind) if word in records()), None)
        if inner:
            inside = place + ("[]" if kind.startswith("list[") else "")
            yield from ((path, False) for path, _ in of_record(inner, inside))
        elif "Mapping[" in kind:
            yield f"{place}.*", False


def paths(value: object, at: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            place = f"{at}.{key}" if at else str(key)
            yield place
            yield from paths(inner, place)
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, f"{at}[]")


def pattern(path: str) -> str:
    """A documented path as a regular expression; what is behind a star is free."""
    return re.escape(path).replace(r"\*", r".*")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("json")
    (place / "tiny.toml").write_text(TINY)
    (place / "mesh.cfg").write_text(MESH)
    (place / "pair.goal").write_text(PAIR)
    (place / "short.goal").write_text(re.sub(r"recv \d+b", "recv 1b", PAIR))
    (place / "places").write_text("".join(f"{35 - e}\n" for e in range(36)))
    dumpi_files.pair(place / "dumpi")
    (place / "times.json").write_text(json.dumps(TIMES))
    (place / "costs.json").write_text('{"L_ns": 5, "o_ns": 1, "g_ns": 1, "G_ns_per_byte": 1}')
    (place / "ebb.json").write_text(json.dumps(EBB))
    whole = fl.network(NET)
    (place / "whole.net").write_text(whole.to_text("netlist"))
    (place / "mine.toml").write_text(flyloom("catalog", "show", "products-2026").stdout)
    (place / "cut.net").write_text(whole.with_failures([3], []).to_text("netlist"))
    counters = Counters(whole, seed=1)
    (place / "1.pm").write_text(counters.pm())
    counters.pass_time()
    counters.ports[0].values["downed"] = 300  # more than its 8 bits hold
    (place / "2.pm").write_text(counters.pm())
    (place / "odd.txt").write_text("# Port counters: Lid 4000 port 1\nPortXmitData:..1\nodd\n")
    done = flyloom("route", NET, "-o", "tables", cwd=place)
    assert done.returncode == 0
    return place


@pytest.mark.parametrize("name", [
    *RUNS, *(pytest.param(name, marks=(needs_fabric, pytest.mark.ib)) for name in ON_FABRIC),
])
def test_the_fields_are_those_documented(folder, name):
    table = KNOWN[name]
    said = dict.fromkeys(table["fields"], True)
    for at, record in table.get("records", {}).items():
        # what is inside a field that may be null need not be there
        said |= {path: must and at == "" for path, must in of_record(record, at)}
    known = re.compile("|".join(f"(?:{pattern(path)})" for path in said))
    seen: set[str] = set()
    for words in (RUNS | ON_FABRIC)[name]:
        done = flyloom(*shlex.split(words), "--json", cwd=folder)
        assert done.returncode in (0, 1), done.stderr
        seen |= set(paths(json.loads(done.stdout)))
    new = sorted(path for path in seen if not known.fullmatch(path))
    assert not new, f"{name}: data/json-fields.toml does not have {', '.join(new)}"
    gone = [path for path, must in said.items() if must and not any(
        re.fullmatch(pattern(path), one) for one in seen) and not _inside_nothing(path, seen)]
    assert not gone, f"{name}: its JSON has no {', '.join(gone)}, which data/json-fields.toml has"


def _inside_nothing(path: str, seen: set[str]) -> bool:
    """Whether a path is inside a list or table that is empty or null in all runs."""
    parts = re.findall(r"[^.\[\]]+|\[\]", path)
    for end in range(len(parts) - 1, 0, -1):
        above = ".".join(parts[:end]).replace(".[]", "[]")
        if above.endswith("[]"):
            above = above.removesuffix("[]")
        if above in seen:
            return not any(one.startswith((f"{above}.", f"{above}[")) for one in seen)
    return False


def test_every_command_with_json_is_there():
    done = flyloom("--help")
    commands = re.findall(r"^  ([a-z][a-z-]+)  ", done.stdout, re.MULTILINE)
    assert len(commands) > 20
    documented = {name.split()[0] for name in KNOWN if name != "part"}
    within = {"sim": ["flit", "booksim", "packet"]}
    for command in commands:
        for inner in within.get(command, ()):
            name = f"{command} {inner}"
            assert name in KNOWN, f"data/json-fields.toml has no [{name}]"
        words = [command, "list", "--help"] if command == "catalog" else [command, "--help"]
        if "--json" in flyloom(*words).stdout:
            assert command in documented, f"data/json-fields.toml has no [{command}]"
    assert set(RUNS | ON_FABRIC) == set(KNOWN) - {"part"}


@pytest.mark.parametrize("script", ["json-reference", "parts-reference"])
def test_the_pages_are_fresh(script):
    done = subprocess.run([sys.executable, ROOT / "scripts" / script, "--check"],
                          cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
