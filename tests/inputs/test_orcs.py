"""Digraphs of ORCS: routes followed in the text itself, and the commands that take such files."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import flyloom as fl
import pytest
from cli_helpers import flyloom
from external import EXTERNAL
from flyloom import RefusalError


def edges_of(text: str) -> dict[str, list[tuple[str, set[str]]]]:
    """Out-edges by node, each with what is reached over it."""
    edges: dict = {}
    for tail, head, rest in re.findall(r"^\s*(\w+) -> (\w+) \[(.*)\]", text, re.MULTILINE):
        comment = re.search(r'comment="([^"]*)"', rest)[1]
        edges.setdefault(tail, []).append((head, set(re.split(r"[, ]+", comment))))
    return edges


def followed(edges: dict, start: str, to: str) -> list[str]:
    path = [start]
    while path[-1] != to:
        assert len(path) < 64
        path.append(next(head for head, names in edges[path[-1]] if to in names or "*" in names))
    return path


def congestions(edges: dict, pairs: list[tuple[str, str]]) -> Counter:
    """Messages by the most messages that any of their edges carries."""
    paths = [followed(edges, a, b) for a, b in pairs]
    load = Counter(step for path in paths for step in itertools.pairwise(path))
    return Counter(max(load[step] for step in itertools.pairwise(path)) for path in paths)


def against_the_text(path: Path) -> None:
    """Load and congestion over the tables read are those of routes followed in the text."""
    text = path.read_text()
    edges = edges_of(text)
    hosts = list(dict.fromkeys(re.findall(r"\bH\w+(?= ->|\s+\[)", text)))
    routing = fl.read_tables(path)
    assert (routing.topology.endpoints, routing.engine) == (len(hosts), "file")
    load = Counter()
    for a in hosts:
        for b in hosts:
            if a != b:
                path = followed(edges, a, b)[1:-1]
                load.update(itertools.pairwise(path))
    assert fl.edge_load(routing).edge_forwarding_index == max(load.values())
    n = len(hosts)
    for pattern, pairs in [
        ("shift:7", [(hosts[i], hosts[(i + 7) % n]) for i in range(n)]),
        ("gather", [(h, hosts[0]) for h in hosts[1:]]),
        ("bisect", list(zip(hosts[:n // 2], hosts[n // 2:], strict=False))),
    ]:
        found = fl.congestion(routing, pattern, samples=1, placement="linear")
        assert found.congestion_histogram == [
            list(x) for x in sorted(congestions(edges, pairs).items())]
    assert fl.verify(routing).complete.holds


@pytest.mark.parametrize(("source", "engine"), [
    ("slim_fly:q=3,p=2", "dfsssp"), ("torus:shape=3x5,p=2", "dor"),
    ("fat_tree:leaves=4,spines=2,p=3", "ftree"),
])
def test_our_files_say_what_our_tables_do(tmp_path, source, engine):
    path = tmp_path / "net.dot"
    run = flyloom("route", source, "-e", engine, "-o", str(path))
    assert run.returncode in (0, 1) and f"written to {path}\n" in run.stdout
    against_the_text(path)
    routing = fl.route(source, engine)
    assert (fl.read_tables(path).next == routing.next).all()


def test_a_production_fabric():
    path = EXTERNAL / "moench_fabric.dot"
    if not path.exists():
        pytest.skip(f"the file of the fabric is not at {path}")
    against_the_text(path)
    routing = fl.read_tables(path)
    assert (routing.topology.switches, routing.topology.endpoints) == (41, 393)


def test_commands_take_the_tables_of_the_file_or_route_anew(tmp_path):
    path = tmp_path / "net.dot"
    flyloom("route", "slim_fly:q=3,p=2", "-e", "min_hop", "-o", str(path))
    theirs, ours = fl.read_tables(path), fl.route("slim_fly:q=3,p=2", "min_hop")
    verified = json.loads(flyloom("verify", str(path), "--json").stdout)
    assert verified["engine"] == "file"
    assert verified["deadlock"]["holds"] == fl.verify(ours).deadlock.holds
    ebb = json.loads(flyloom("ebb", str(path), "--samples", "20", "--json").stdout)
    assert ebb["pattern_means"] == fl.ebb(ours, samples=20).pattern_means
    anew = json.loads(flyloom("ebb", str(path), "-e", "sssp", "--samples", "20", "--json").stdout)
    assert anew["engine"] == "sssp"
    assert anew["pattern_means"] == fl.ebb(
        fl.route(theirs.topology, "sssp"), samples=20).pattern_means


def test_congestion_on_the_command_line(tmp_path):
    path, order = tmp_path / "net.dot", tmp_path / "order"
    flyloom("route", "slim_fly:q=3,p=2", "-e", "sssp", "-o", str(path))
    order.write_text("# by rank\nhost-0003\n\n7\nhost-0001\n")
    run = flyloom("congestion", str(path), "--pattern", "gather", "--placement", str(order),
                  "--samples", "4", "--json")
    found = json.loads(run.stdout)
    wanted = fl.congestion(fl.read_tables(path), "gather", samples=4, placement=[3, 7, 1])
    assert {key: found[key] for key in wanted} == wanted.to_dict()
    starts = {".svg": b"<svg", ".png": b"\x89PNG", ".html": b"<!DOCTYPE html>"}
    for metric, suffix in [("bandwidth", ".png"), ("congestion", ".svg"), ("channels", ".html")]:
        picture = tmp_path / f"picture{suffix}"
        run = flyloom("congestion", "slim_fly:q=3,p=2", "--pattern", "ring::bruck", "--metric",
                      metric, "--samples", "20", "-o", str(picture))
        assert run.returncode == 0, run.stderr
        assert picture.read_bytes().startswith(starts[suffix])
    for words, message in [
        (["--placement", "nowhere"], "--placement: there is no 'nowhere'"),
        (["-o", "x.gif"], ".svg, .png, .pdf, .html"),
        (["--levels", "-1"], "levels: there is no '-1'"),
        (["--pattern-argument", "3"], "pattern: '3' for bisect; bisect takes none"),
    ]:
        run = flyloom("congestion", "slim_fly:q=3,p=2", *words)
        assert run.returncode == 2 and message in run.stderr


def test_bad_files_are_refused_by_name_and_line(tmp_path):
    path = tmp_path / "bad.dot"
    path.write_text('digraph {\nH1 -> S1 [comment="*"]\nS1 -> H1 [comment="H7"]\n}\n')
    with pytest.raises(RefusalError, match=r"bad.dot: line 3: comment: 'H7' is no host"):
        fl.read_tables(path)
    assert fl.network(str(path)).endpoints == 1  # the cabling can be read all the same
    with pytest.raises(RefusalError, match="nothing.dot: cannot be read"):
        fl.read_tables(tmp_path / "nothing.dot")
    with pytest.raises(RefusalError, match="layers: .*; ORCS knows one"):
        fl.route("slim_fly:q=3,p=1", "sssp", layers=2).orcs_text()
