"""Schedules that are made: applications, noise, several jobs, which algorithm is quickest."""

from __future__ import annotations

import flyloom as fl
import numpy as np
import pytest
from cli_helpers import document, flyloom
from flyloom._core import RefusalError, noise_keys
from message_runs import message

SMALL = {
    "bfs": {"scale": 6, "edge_ns": 5},
    "bfs_2d": {"scale": 6, "edge_ns": 5},
    "conjugate_gradient": {"preconditioner": "multigrid", "gflops": 10},
    "cosmoflow": {"operator": 1, "gflops": 10_000},
    "fft_3d": {"n": 12, "decomposition": "pencil", "gflops": 1},
    "gpt_3": {"layers": 3, "hidden": 64, "micro_batches": 3, "gflops": 1000},
    "hpl": {"n": 60, "nb": 8, "gflops": 1},
    "random_pairs": {"bytes": 5000, "iterations": 4},
    "resnet_152": {"gflops": 10_000},
    "stencil_2d": {"bytes": 100, "points": 9, "iterations": 3},
    "stencil_3d": {"bytes": 100, "points": 27, "periodic": 1, "compute_ns": 500},
}


CUBES = {
    "amg_like": {"p": 3, "levels": 2, "base_bytes": 3000, "cycles": 2},
    "amg_trace_like": {"p": 3},
    "mg_like": {"p": 3, "levels": 2, "base_bytes": 3000, "cycles": 2},
}
"""Whose ranks are the cube of a parameter."""


def test_every_application_is_tried_here():
    applications = {row.name for row in fl.workloads() if row.kind == "application"}
    assert set(SMALL) | set(CUBES) == applications


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("ranks", [1, 3, 6])
def test_applications_come_to_their_end(name, ranks):
    """They end by both rules: every send waits for its receive, or none does."""
    made = fl.make_workload(name, ranks=ranks, **SMALL[name])
    assert made.ranks == ranks
    for dialect in ("causal", "loggops-v1"):
        for eager in (0, 2**32 - 1):
            found = message(made, dialect=dialect, costs={"S": eager, "G": 1})
            assert found.messages >= made.counts()["sends"]
    assert fl.check_workload(made).complete


@pytest.mark.parametrize("name", CUBES)
def test_cubes_come_to_their_end(name):
    made = fl.make_workload(name, **CUBES[name])
    assert made.ranks == 27
    for dialect in ("causal", "loggops-v1"):
        for eager in (0, 2**32 - 1):
            found = message(made, dialect=dialect, costs={"S": eager, "G": 1})
            assert found.messages >= made.counts()["sends"]
    assert fl.check_workload(made).complete


def test_a_cube_runs_on_a_network_of_more_endpoints():
    """Others have as many ranks as the network has endpoints; a cube has its own number."""
    found = document("sim", "message", "slim_fly:q=5",
                     "--workload", "mg_like p=4 levels=2 base_bytes=64")
    # 6 * 3/4 * 64 halos on the fine grid, twice, 24 on the coarse one, and 6 rounds of sums
    assert found["messages"] == 2 * 288 + 24 + 6 * 64


def test_a_pipeline_takes_what_its_formula_says():
    """If messages cost nothing, 1F1B takes m + S - 1 times a micro-batch's work in a stage
    (Narayanan et al., SC 2021, section 2.2.1)."""
    stages, batches = 4, 6
    given = {"layers": 4, "hidden": 128, "sequence": 64, "vocabulary": 1, "recompute": 0}
    made = fl.make_workload(
        "gpt_3", ranks=stages, pipeline=stages, micro_batches=batches, gflops=1, **given
    )
    free = {"L": 0, "o": 0, "g": 0, "G": 0, "S": 2**32 - 1}
    took = message(made, costs=free).finish_ns
    layer = 3 * (24 * 64 * 128**2 + 4 * 64**2 * 128)
    words = 6 * 64 * 128  # at the last stage: forward and backward
    assert (batches + stages - 1) * layer <= took <= (batches + stages - 1) * (layer + words)


def test_computation_beside_a_collective():
    """On another processor it takes as long as the longer of both; on that of the messages at least
    both, and with more parts messages progress sooner."""
    costs = {"L": 1000, "o": 100, "g": 0, "G": 1}
    ring = {"ranks": 8, "bytes": 8000}
    alone = message(fl.make_workload("allreduce_ring", **ring), costs=costs).finish_ns

    def took(ns: int, **more: int) -> float:
        made = fl.make_workload("allreduce_ring", overlap_ns=ns, **ring, **more)
        return message(made, costs=costs).finish_ns

    assert took(1000, overlap_cpu=1) == alone
    assert took(10**7, overlap_cpu=1) == 10**7
    whole, parts = took(100_000), took(100_000, chunks=100)
    # 14 rounds of L + 2 o + 999 G; in one part, the first send is before it, and the first receive
    # (its message has come meanwhile) and 13 rounds behind it
    one_round = 1000 + 2 * 100 + 999
    assert alone == 14 * one_round
    assert whole == 100 + 100_000 + 100 + 13 * one_round
    assert 100_000 <= parts < whole


def test_matrices_come_from_files_arrays_and_rows(tmp_path):
    rows = [[0, 5, 0], [7, 3, 9], [0, 0, 0]]
    (tmp_path / "m.csv").write_text("0, 5, 0\n7,3,9\n\n0 0 0\n")
    made = [
        fl.make_workload("alltoallv_linear", ranks=3, bytes=0, matrix=matrix)
        for matrix in (rows, np.array(rows), tmp_path / "m.csv")
    ]
    assert made[0] == made[1] == made[2]
    assert made[0].counts()["sends"] == 3 and made[0].counts()["sent_bytes"] == 5 + 7 + 9
    (tmp_path / "bad.csv").write_text("0,1\n1,-2\n")
    with pytest.raises(RefusalError, match=r"bad\.csv: line 2: '-2' is no whole number"):
        fl.make_workload("alltoallv_linear", ranks=2, bytes=0, matrix=tmp_path / "bad.csv")
    done = flyloom("workload", "make", "alltoallv_linear", "ranks=2", "bytes=0",
                   f"matrix={tmp_path / 'm.csv'}", "-o", tmp_path / "x.goal")
    assert done.returncode == 2 and "there are 3 rows" in done.stderr
    assert not (tmp_path / "x.goal").exists()


def test_noise_and_stragglers_on_the_command_line(tmp_path):
    out = tmp_path / "ring.goal"
    base = ["stencil_2d", "ranks=4", "bytes=8", "compute_ns=1000", "iterations=2"]
    document("workload", "make", *base, "-o", out)
    document("workload", "make", *base, "-o", tmp_path / "a.goal", "--noise", "stragglers=1,2",
             "--noise", "slowdown_percent=300")
    document("workload", "convert", out, tmp_path / "b.goal", "--noise", "stragglers=1,2",
             "--noise", "slowdown_percent=300")
    assert (tmp_path / "a.goal").read_bytes() == (tmp_path / "b.goal").read_bytes()
    # 4 ranks, 2 iterations of 1000 ns, half of the ranks three times as slow
    assert fl.workload(tmp_path / "a.goal").counts()["calculated_ns"] == 2 * (2 * 1000 + 2 * 3000)
    done = flyloom("workload", "convert", out, tmp_path / "c.goal", "--noise", "mean=3")
    assert done.returncode == 2 and "noise: mean: there is no such parameter" in done.stderr
    given = {"kind": "exponential", "mean_ns": 700, "on": "all"}
    one, other = (fl.noisy_workload(out, seed=seed, **given) for seed in (1, 2))
    assert one == fl.noisy_workload(out, seed=1, **given) != other
    names = {key["name"] for key in noise_keys()}
    assert {"kind", "percent", "stragglers"} < names


def test_jobs_side_by_side_take_as_long_as_the_longest(tmp_path):
    jobs = [fl.make_workload("allreduce_ring", ranks=5, bytes=9000),
            fl.make_workload("barrier_tree", ranks=3)]
    both = fl.merge_workloads(jobs)
    found = message(both).rank_finish_ns
    alone = [message(job).rank_finish_ns for job in jobs]
    assert list(found) == [*alone[0], *alone[1]]
    for i, job in enumerate(jobs):
        (tmp_path / f"{i}.goal").write_text(job.text())
    files = [tmp_path / "0.goal", tmp_path / "1.goal"]
    document("workload", "merge", *files, "-o", tmp_path / "both.bin")
    assert fl.workload(tmp_path / "both.bin") == both


def test_the_quickest_is_the_least_of_all_runs():
    costs = {"L": 700, "o": 90, "g": 40, "G": 0.5}
    rows = fl.best_workload("allreduce", ranks=[3, 8], bytes=[8, 50_000], costs=costs)
    assert [(row.ranks, row.bytes) for row in rows] == [(3, 8), (3, 50_000), (8, 8), (8, 50_000)]
    for row in rows:
        runs = {}
        for name in ("rabenseifner", "recursive_doubling", "ring", "tree"):
            made = fl.make_workload(f"allreduce_{name}", ranks=row.ranks, bytes=row.bytes)
            runs[f"allreduce_{name}"] = message(made, costs=costs).finish_ns
        reported = {one["algorithm"]: one["finish_ns"] for one in row.all}
        assert {name: reported[name] for name in runs} == runs
        assert row.finish_ns == min(reported.values()) == reported[row.algorithm]
    table = flyloom("workload", "best", "allreduce", "ranks=3,8", "bytes=8", "--set", "L=700",
                    "--set", "o=90", "--set", "g=40", "--set", "G=0.5")
    assert table.returncode == 0 and rows[0].algorithm in table.stdout


def test_the_quickest_over_a_network(tmp_path):
    net, settings = fl.network("slim_fly:q=5,p=2"), {"switch.delay_ns": 700}
    asked = {"net": net, "engine": "dfsssp", "placement": "random", "seed": 3,
             "settings": settings, "costs": {"preset": "loggopsim", "o": 90}}
    rows = fl.best_workload("alltoall", ranks=[12, 40], bytes=[8, 100_000], **asked)
    assert [(row.ranks, row.bytes) for row in rows] == [
        (ranks, size) for ranks in (12, 40) for size in (8, 100_000)]
    for row in rows:
        runs = {}
        for name in ("bruck", "linear", "pairwise"):
            made = fl.make_workload(f"alltoall_{name}", ranks=row.ranks, bytes=row.bytes)
            runs[f"alltoall_{name}"] = message(made, **asked).finish_ns
        assert {one["algorithm"]: one["finish_ns"] for one in row.all} == runs
        assert row.finish_ns == min(runs.values())
    # Bruck's sends few and long messages: better for short blocks alone
    assert rows[0].algorithm == "alltoall_bruck" and rows[1].algorithm != "alltoall_bruck"
    places = tmp_path / "places.txt"
    places.write_text(" ".join(map(str, range(99, 59, -1))) + "\n")
    found = document("workload", "best", "alltoall", "ranks=12,40", "bytes=8", "--net",
                     "slim_fly:q=5,p=2", "--placement", places, "--set", "switch.delay_ns=700")
    by_file = fl.best_workload("alltoall", ranks=[12, 40], bytes=8, net=net, placement=places,
                               settings=settings)
    assert found["rows"] == [row.to_dict() for row in by_file]
    for words, reported in [(["ranks=101"], "101"), (["ranks=4", "--engine", "dfssp"], "dfsssp"),
                            (["ranks=4", "--dialect", "loggops-v1"], "loggops-v1 has no network")]:
        done = flyloom("workload", "best", "alltoall", "bytes=8", "--net", "slim_fly:q=5,p=2",
                       *words)
        assert done.returncode == 2 and reported in done.stderr, done.stderr
    done = flyloom("workload", "best", "alltoall", "ranks=4", "bytes=8", "--placement", "random")
    assert done.returncode == 2 and "placement: of a network, and there is none" in done.stderr


@pytest.mark.parametrize(("words", "message"), [
    (["allreduces", "ranks=2", "bytes=8"], "did you mean allreduce?"),
    (["allreduce", "bytes=8"], "ranks: it is not given"),
    (["allreduce", "ranks=2,x", "bytes=8"], "ranks: 'x' is no number"),
    (["allreduce", "ranks=2", "bytes=8", "--set", "l=3"], "l"),
])
def test_cases_that_cannot_be_are_refused(words, message):
    done = flyloom("workload", "best", *words)
    assert done.returncode == 2 and message in done.stderr


@pytest.mark.parametrize(("name", "ranks", "fit", "not_fit"), [
    ("allreduce_ring", 12_000, {"allreduce_recursive_doubling", "allreduce_rabenseifner"},
     {"allreduce_ring"}),
    ("alltoall_linear", 20_000, {"alltoall_bruck"}, {"alltoall_linear", "alltoall_pairwise"}),
])
def test_what_is_too_large_names_algorithms_that_are_not(name, ranks, fit, not_fit):
    """A ring has about four operations a step of 2 (P - 1); Bruck's has log2 P steps."""
    with pytest.raises(RefusalError, match="or another algorithm: ") as refused:
        fl.make_workload(name, ranks=ranks, bytes=1000)
    named = set(str(refused.value).rpartition(": ")[2].split(", "))
    assert fit <= named and not not_fit & named
    made = fl.make_workload(min(fit), ranks=ranks, bytes=1000)
    assert made.ranks == ranks
