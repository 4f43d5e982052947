"""compare-routing: against the verbs called one by one, and our engines against OpenSM's."""

from __future__ import annotations

import json
from collections import deque

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from deploy_helpers import needs_fabric
from flyloom import RefusalError
from flyloom.deploy import tools
from flyloom.report import routing_comparison as drawn

NET = "slim_fly:q=5,p=4"
FIELDS = {
    "engine", "verified", "deadlock_free", "lanes", "lanes_needed", "service_levels", "mean_hops",
    "max_hops", "edge_forwarding_index", "lower_bound", "effective_bisection_bandwidth",
    "confidence_interval_95", "mean_disjoint_paths", "fraction_pairs_3_disjoint_paths", "why",
}
OURS = {"dfsssp": {"seed": 3}, "layered": {"seed": 3}, "min_hop": {},
        "nue:max_lanes=1": {"max_lanes": 1, "seed": 3}, "up_down:root=7": {"root": 7}}


def by_engine(found) -> dict:
    return {row["engine"]: row for row in found.rows}


def same_as_the_verbs(row, routing, patterns: int, seed: int) -> None:
    proof, load = fl.verify(routing), fl.edge_load(routing)
    share = fl.ebb(routing, samples=patterns, seed=seed)
    paths = fl.path_diversity(routing)
    assert (row.verified, row.deadlock_free) == (proof.holds, proof.deadlock.holds)
    assert (row.mean_hops, row.max_hops) == (proof.complete.mean_hops, proof.complete.max_hops)
    assert row.edge_forwarding_index == load.edge_forwarding_index
    assert row.lower_bound == load.lower_bound
    assert row.effective_bisection_bandwidth == share.effective_bisection_bandwidth
    assert row.confidence_interval_95 == share.confidence_interval_95
    assert row.mean_disjoint_paths == paths.mean_disjoint_paths
    assert row.fraction_pairs_3_disjoint_paths == paths.fraction_pairs_3_disjoint_paths
    assert bool(row.why) != row.verified


@pytest.mark.parametrize("more", [{}, {"layers": 3}, {"lmc": 1}])
def test_rows_of_ours_are_what_the_verbs_say_one_by_one(more):
    found = fl.compare_routing(NET, engines=OURS, samples=60, seed=3, **more)
    assert [row.engine for row in found.rows] == list(OURS)
    assert (found.network, found.samples, found.seed) == (NET, 60, 3)
    assert found.layers == more.get("layers", 2 ** more.get("lmc", 0))
    for row in found.rows:
        assert set(row) == FIELDS
        routing = fl.route(NET, row.engine.split(":")[0], **more, **OURS[row.engine])
        same_as_the_verbs(row, routing, 60, 3)
        assert row.lanes == row.lanes_needed == routing.lanes
        levels = routing.service_levels
        pairs = [] if levels is None else [
            levels[layer, t, s]
            for layer in range(found.layers) for t in range(200) for s in range(50)
        ]
        assert row.service_levels == max(1, len(set(pairs)))
        assert found.cpu_s[row.engine] > 0


def test_what_refuses_is_listed_with_its_reason():
    found = fl.compare_routing(NET, engines=["ftree", "dfsssp", "dfsssp:max_lanes=1"], samples=9)
    assert list(by_engine(found)) == ["dfsssp"]
    refused = {one.engine: one.why for one in found.refused}
    assert list(refused) == ["ftree", "dfsssp:max_lanes=1"]
    for name, options in (("ftree", {}), ("dfsssp", {"max_lanes": 1})):
        with pytest.raises(RefusalError) as reported:
            fl.route(NET, name, **options)
        label = name + "".join(f":{k}={v}" for k, v in options.items())
        assert refused[label] in str(reported.value)
    with pytest.raises(RefusalError, match="none makes tables.*not a tree"):
        fl.compare_routing(NET, engines=["ftree"])


@pytest.mark.parametrize(("engines", "more", "words"), [
    (["best"], {}, "no engine 'best'"), (["opensm:best"], {}, "OpenSM has no"),
    (["opensm"], {}, "no engine 'opensm'"), (["nue:lanes=2"], {}, "lanes: 2 is no method"),
    (["nue:max_lanes"], {}, "'max_lanes' is no KEY=VALUE"), (["sssp:x=1"], {}, "keys: balance"),
    (["opensm:lash:balance=1"], {}, "'balance=1'.*max_lanes"), ([], {}, "none is named"),
    (["dfsssp"], {"samples": 0}, "samples"), (["dfsssp"], {"samples": 2**32}, "samples"),
    (["dfsssp"], {"seed": -1}, "seed"), (["dfsssp"], {"seed": 2**64}, "seed"),
    (["dfsssp"], {"lmc": 8}, "lmc"), (["dfsssp"], {"layers": 0}, "layers"),
    (["dfsssp"], {"layers": 2**32 - 1}, "layers"), (["nue:max_lanes=4294967295"], {}, "max_lanes"),
])
def test_bad_words_are_refused_by_name(engines, more, words):
    with pytest.raises(RefusalError, match=words):
        fl.compare_routing("slim_fly:q=3", engines=engines, **more)


def test_all_of_ours_are_there_without_opensm(monkeypatch):
    monkeypatch.setattr(tools, "_find_program", lambda _name: None)
    found = fl.compare_routing("slim_fly:q=3,p=1", samples=5)
    names = {part["name"] for part in fl._core.registry() if part["kind"] == "engine"}
    said = [row.engine for row in [*found.rows, *found.refused]]
    assert set(said) == names | {"nue:max_lanes=1", "opensm"} and len(set(said)) == len(said)
    why = {one.engine: one.why for one in found.refused}
    assert "not installed: ibsim (ibsim-utils)" in why["opensm"]
    named = fl.compare_routing("slim_fly:q=3,p=1", engines=["sssp", "opensm:lash"], samples=5)
    assert "apt-get install" in named.refused[0].why


def test_same_bytes_but_for_times():
    one, other = (
        fl.compare_routing("dragonfly:h=1", engines=["rues", "valiant_static"], seed=5, samples=50)
        .to_dict() for _ in range(2)
    )
    assert set(one.pop("cpu_s")) == set(other.pop("cpu_s"))
    assert one == other


@pytest.mark.parametrize(("more", "layers"), [({}, 1), ({"lmc": 3}, 8), ({"layers": 3}, 3)])
def test_routes_to_a_terminal_are_counted(more, layers):
    """An LMC gives every port 2 to its power LIDs."""
    found = fl.compare_routing("ring:n=4,p=1", engines=["min_hop"], samples=2, **more)
    assert found.layers == layers


def test_command_line(tmp_path):
    words = ("compare-routing", NET, "--engines", "dfsssp,nue:max_lanes=1,ftree", "--samples", 20)
    found = document(*words, "--seed", 4)
    direct = fl.compare_routing(NET, engines=["dfsssp", "nue:max_lanes=1", "ftree"], samples=20,
                                seed=4).to_dict()
    for one in (found, direct):
        one.pop("cpu_s")
    assert found == json.loads(json.dumps(direct))
    for suffix, begins in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!DOCTYPE")):
        path = tmp_path / f"engines{suffix}"
        done = flyloom(*words, "-o", path)
        assert done.returncode == 0, done.stderr
        assert path.read_bytes().startswith(begins)
        assert "without ftree: not a tree" in done.stdout
    assert flyloom(*words, "-o", tmp_path / "engines.txt").returncode == 2
    assert flyloom("compare-routing", NET, "--engines", "nothing").returncode == 2


def test_the_chart_draws_the_rows():
    found = fl.compare_routing(NET, engines=["min_hop", "nue:max_lanes=1"], samples=20)
    values = drawn.spec(found)["data"]["values"]
    assert [v["engine"] for v in values] == ["min_hop", "nue:max_lanes=1"]
    assert [v["kind"] for v in values] == ["ours, may deadlock", "ours, no deadlock"]
    for value, row in zip(values, found.rows, strict=True):
        assert value["load"] == row.edge_forwarding_index / row.lower_bound
        assert [value["low"], value["high"]] == row.confidence_interval_95
    heads, rows = drawn.cells(found)
    assert len(heads) == len(rows[0]) and [row[0] for row in rows] == list(found.cpu_s)


def middle(topology) -> int:
    """The middle switch, by breadth-first search from every switch."""
    near: dict[int, list[int]] = {v: [] for v in range(topology.switches)}
    for a, b in topology.edges.tolist():
        near[a].append(b)
        near[b].append(a)

    def key(start: int) -> tuple:
        away, line = {start: 0}, deque([start])
        while line:
            at = line.popleft()
            for w in near[at]:
                if w not in away:
                    away[w] = away[at] + 1
                    line.append(w)
        return max(away.values()), sum(away.values()), start

    return min(map(key, near))[2]


@pytest.mark.parametrize("net", ["dragonfly:h=2", "torus:shape=4x3", "jellyfish:n=30,k=3,seed=2",
                                 "xpander:d=3,lift=5"])
def test_the_root_given_to_opensm_is_the_middle_switch(net):
    assert fl.network(net).middle_switch() == middle(fl.network(net))


# ---- OpenSM's engines beside ours ----


@needs_fabric
def test_rows_of_opensm_are_its_tables_as_read_back():
    """Two of them, with an option and without; each is a start of OpenSM."""
    names = ["opensm:minhop", "opensm:updn", "opensm:nue", "opensm:nue:max_lanes=4", "opensm:lash"]
    found = fl.compare_routing(NET, engines=names, samples=60, seed=1)
    rows = by_engine(found)
    assert list(rows) == names
    for name in names[1:4:2]:
        options = {"max_lanes": 4} if "max_lanes" in name else {}
        routing = fl.route(NET, ":".join(name.split(":")[:2]), **options)
        same_as_the_verbs(rows[name], routing, 60, 1)
    assert [rows[name].lanes for name in names] == [1, 1, 1, 4, 2]
    assert rows["opensm:lash"].lanes_needed == rows["opensm:lash"].service_levels == 2
    assert not rows["opensm:updn"].verified and rows["opensm:updn"].why


@needs_fabric
def test_opensm_engines_that_fail_give_opensm_s_reason():
    found = fl.compare_routing(NET, engines=["dfsssp", "opensm:ftree", "opensm:torus-2QoS"],
                               samples=9)
    why = {one.engine: one.why for one in found.refused}
    assert "AB2B" in why["opensm:ftree"] and "4E11" in why["opensm:torus-2QoS"]
    more = fl.compare_routing(NET, engines=["dfsssp", "opensm:lash"], layers=3, samples=9)
    assert "LMC" in more.refused[0].why
    with pytest.raises(RefusalError, match="max_lanes.*nue"):
        fl.route(NET, "opensm:lash", max_lanes=2)
    with pytest.raises(RefusalError, match="max_lanes: 9"):
        fl.route(NET, "opensm:nue", max_lanes=9)
