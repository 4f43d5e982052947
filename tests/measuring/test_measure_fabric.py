"""Bandwidth of random pairs on networks that Linux plays, beside what the same tables give them."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import flyloom as fl
import pytest
import routed_hosts
from cli_helpers import document
from flyloom.verbs import measuring
from flyloom.verbs.routes import write_table_folder
from mpi_helpers import ROOT_MAY, needs, shared_cache

TRIES = 12
"""A machine may be busy meanwhile: one of this number of measurements must be right."""


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "engine"), [
    ("slim_fly:q=3,p=1", "dfsssp"), ("fat_tree:leaves=4,spines=2,p=4", "min_hop"),
])
def test_measured_bandwidth_is_what_the_tables_give(name, engine, tmp_path, monkeypatch,
                                                      tmp_path_factory):
    """Ranks of Open MPI over routers with links of 20 Mbit/s: in the mean within 10 %."""
    needs("openmpi")
    if not routed_hosts.may():
        pytest.skip("namespaces and token buckets need root, ip and tc")
    for key, value in {**ROOT_MAY, "XDG_CACHE_HOME": str(shared_cache(tmp_path_factory))}.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)
    net = fl.network(name)
    routing = net.route(engine, {}, 1, None)
    rate = f"link.rate_gbps={routed_hosts.RATE_MBPS / 1000}"
    (tmp_path / "at").write_text("".join(f"{e}\n" for e in range(net.endpoints)))
    (tmp_path / "tables").mkdir()
    write_table_folder(net, routing, tmp_path / "tables")
    ratios = []
    with routed_hosts.Hosts(net, routing, tmp_path) as hosts:
        for seed in range(TRIES):
            reported = measuring.measure_ebb(hosts.launcher(), samples=4, size_bytes=400_000,
                                             repetitions=3, seed=seed, path=tmp_path / "ebb.json")
            beside = document("measure", "--compare", "ebb.json", "--net", "tables", "--placement",
                              "at", "--set", rate, cwd=tmp_path)
            ratios.append(beside["ratio"])
            if abs(ratios[-1] - 1) < 0.1:
                break
    assert min(abs(ratio - 1) for ratio in ratios) < 0.1, ratios
    assert reported.hosts == hosts.names and reported.regime.startswith(f"{net.endpoints} hosts")
    # max-min fair: no less than the cable's rate over the most flows on a channel of its two routes
    rounds = json.loads((tmp_path / "ebb.json").read_text())["rounds"]
    for row, found in zip(rounds, beside["rounds"], strict=True):
        loads: Counter[tuple[int, int]] = Counter()
        routes = {}
        for a, b in row["pairs"]:
            for source, target in ((a, b), (b, a)):
                route = routing.path(source, target)
                routes[source] = list(itertools.pairwise(route))
                loads.update(routes[source])
        full = routed_hosts.RATE_MBPS / 1000
        sharing = [max((loads[hop] for rank in pair for hop in routes[rank]), default=1)
                   for pair in row["pairs"] for _ in pair]
        for worst, predicted in zip(sharing, found["rank_predicted_gbps"], strict=True):
            assert full / worst * 0.99 <= predicted <= full * 1.001
