"""`[sim.flit]` in experiments: rows, curves, resuming, networks without tables, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import flyloom as fl
import pyarrow.parquet
import pytest
from cli_helpers import document, flyloom
from flyloom._core import expand

FILE = """\
schema = 1
name = "f"
seed = 5
[topology]
family = "slim_fly"
q = 3
p = 2
[sim.flit]
selection = "minimal"
run = { warmup_cycles = 100, measure_cycles = 400 }
[sweep.grid]
"sim.flit.load" = [0.1, 0.3]
"sim.flit.selection" = ["minimal", "ugal_l"]
"""

SHORT = {"run.warmup_cycles": 100, "run.measure_cycles": 400}


def run(folder: Path, text: str, **how: object) -> fl.Result:
    (folder / "f.toml").write_text(text)
    return fl.run(folder / "f.toml", out=folder, **{"workers": 1, **how})


def table(done: fl.Result, name: str) -> list[dict]:
    return pyarrow.parquet.read_table(Path(done.directory, name)).to_pylist()


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> fl.Result:
    return run(tmp_path_factory.mktemp("flit"), FILE)


def test_a_sweep_over_loads_has_a_row_for_each(done):
    rows = table(done, "rows.parquet")
    assert len(rows) == 4 and done.holds
    asked = [(load, selection) for load in (0.1, 0.3) for selection in ("minimal", "ugal_l")]
    for row, (load, selection) in zip(rows, asked, strict=True):
        found = fl.simulate("slim_fly:q=3,p=2", load=load, selection=selection, seed=5,
                            settings=SHORT)
        [point] = found.points
        assert row["sim_flit_verified"] is True
        for name in ("offered_load", "accepted_load", "mean_packet_latency_cycles", "mean_switches",
                     "p99_packet_latency_cycles", "saturated", "deadlocked"):
            assert row[f"sim_flit_{name}"] == point[name], name
        assert "sim_flit_saturation_throughput" not in row
        # nothing is routed: there is nothing to say of tables
        for name in ("engine", "lmc", "layers", "lanes", "verified", "complete", "deadlock_free",
                     "edge_forwarding_index", "effective_bisection_bandwidth"):
            assert row[name] is None, name
        assert row["switches"] == 18 and row["options"] == "{}"


def test_the_report_has_a_row_for_each_load_and_a_point(done):
    page = Path(done.report).read_text()
    for words in ("ugal_l, sim.flit.load 0.3", "accepted load"):
        assert words in page, words
    saved = json.loads(Path(done.directory, "results.json").read_text())
    [shown] = saved["measures"]
    assert shown["name"] == "sim.flit" and len(shown["rows"]) == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_a_list_of_loads_is_one_point_with_a_curve(tmp_path, workers):
    text = FILE.partition("[sweep.grid]")[0] + "load = [0.1, 0.2, 0.4]\n"
    done = run(tmp_path, text, workers=workers)
    rows = table(done, "rows.parquet")
    found = fl.simulate("slim_fly:q=3,p=2", load=[0.1, 0.2, 0.4], seed=5, settings=SHORT)
    assert len(rows) == 3 and len({row["point"] for row in rows}) == 1
    for row, point in zip(rows, found.points, strict=True):
        assert row["sim_flit_verified"] is True and row["load"] == point["offered_load"]
        assert row["sim_flit_accepted_load"] == point["accepted_load"]
        assert row["sim_flit_p99_packet_latency_cycles"] == point["p99_packet_latency_cycles"]
    series = table(done, "series.parquet")
    for figure in ("accepted_load", "mean_packet_latency_cycles"):
        curve = [(r["x"], r["y"]) for r in series if r["series"] == f"sim_flit_{figure}"]
        assert curve == [(point["offered_load"], point[figure]) for point in found.points]
    saved = json.loads(Path(done.directory, "results.json").read_text())
    assert saved["records"][0]["measures"]["sim.flit"]["points"] == found.points
    assert [r["cells"][1] for r in saved["measures"][0]["rows"]] == [0.1, 0.2, 0.4]


def test_auto_finds_the_saturation(tmp_path):
    # two switches of four endpoints that all send across one link: a quarter each
    (tmp_path / "across.csv").write_text("".join(f"{i},{(i + 4) % 8},1\n" for i in range(8)))
    text = """
        schema = 1
        name = "f"
        topology = { family = "ring", n = 2, p = 4 }
        [sim.flit]
        traffic = "across.csv"
        run = { warmup_cycles = 200, measure_cycles = 3000 }
    """
    done = run(tmp_path, text)
    rows = table(done, "rows.parquet")
    for row in rows:
        assert row["sim_flit_saturation_throughput"] == pytest.approx(0.25, rel=0.05)
        assert row["load"] == row["sim_flit_offered_load"]
    assert [row["load"] for row in rows] == sorted(row["load"] for row in rows)
    # other rows are another point
    (tmp_path / "across.csv").write_text("0,4,1\n")
    done = run(tmp_path, text)
    assert done.reused == 0
    rows = table(done, "rows.parquet")
    assert {row["sim_flit_saturation_throughput"] for row in rows} == {1}


def test_points_are_kept_one_by_one(tmp_path, done):
    first = run(tmp_path, FILE.replace("[0.1, 0.3]", "[0.1]"))
    assert (first.points, first.reused) == (2, 0)
    again = run(tmp_path, FILE, workers=2)
    assert (again.points, again.reused) == (4, 2)
    for name in ("rows.parquet", "series.parquet"):
        assert Path(again.directory, name).read_bytes() == Path(done.directory, name).read_bytes()
    last = run(tmp_path, FILE)
    assert last.reused == 4
    effective = Path(last.directory, "effective.toml").read_text()
    assert run(tmp_path, effective).reused == 4


def test_tables_are_simulated_where_there_is_routing(tmp_path):
    done = run(tmp_path, FILE.replace("[sim.flit]", "[routing]\nengine = \"dfsssp\"\n[sim.flit]"))
    rows = table(done, "rows.parquet")
    for row, load in zip(rows[::2], (0.1, 0.3), strict=True):
        [point] = fl.simulate("slim_fly:q=3,p=2", engine="dfsssp", load=load, seed=5,
                              settings=SHORT).points
        assert row["engine"] == "dfsssp" and row["verified"]
        latency = point["mean_packet_latency_cycles"]
        assert row["sim_flit_mean_packet_latency_cycles"] == latency


def test_what_is_not_proved_is_refused_or_said(tmp_path):
    stuck = FILE.replace("selection = \"minimal\"", "lane_use = \"any\"")
    stuck = stuck.replace("slim_fly\"\nq = 3\np = 2", "torus\"\nshape = [8]\np = 4")
    stuck = stuck.replace("[\"minimal\", \"ugal_l\"]", "[\"minimal\"]").replace("[0.1, 0.3]", "[1]")
    with pytest.raises(fl.RefusalError, match="not proved free of deadlock"):
        run(tmp_path, stuck)
    done = run(tmp_path, stuck.replace("lane_use", "unverified = true\nlane_use"))
    [row] = table(done, "rows.parquet")
    assert row["sim_flit_verified"] is False and not done.holds


def test_a_network_alone_may_be_measured(tmp_path):
    text = """
        schema = 1
        name = "f"
        topology = { family = "slim_fly", q = 3, p = 2 }
        [resilience]
        samples = 4
    """
    done = run(tmp_path, text)
    [row] = table(done, "rows.parquet")
    assert row["engine"] is None and row["resilience_removed_until_disconnected"] is not None
    assert "no routing" in Path(done.report).read_text()


def test_bad_input_is_refused_before_anything_runs(tmp_path):
    for line, message in [
        ("load = -1", "f.toml: line 9, column 1: sim.flit: load: -1 is out of range"),
        ("router = { buffer_flits = 0 }", "sim.flit: switch.buffer_flits: 0 is out of range"),
        ("loads = 0.1", "sim.flit takes load, selection"),
        ("traffic = \"nowhere.csv\"", "sim.flit.traffic: 'nowhere.csv' is neither a name nor"),
        ("[ebb]", "ebb: it needs tables, and the point has no [routing]"),
    ]:
        head = FILE.partition("[sim.flit]\n")[0]
        text = f"{head}[sim.flit]\n{line}\n"
        (tmp_path / "f.toml").write_text(text)
        for words in (["--dry-run"] if "nowhere" not in line else [], []):
            answer = flyloom("run", tmp_path / "f.toml", "--out", tmp_path / "out", *words)
            assert answer.returncode == 2 and message in answer.stderr, answer.stderr
            assert answer.stderr.count("\n") == 1
        assert not list((tmp_path / "out").glob("f/points/*"))


def test_the_command_runs_it(tmp_path):
    (tmp_path / "f.toml").write_text(FILE)
    dry = flyloom("run", tmp_path / "f.toml", "--dry-run")
    assert dry.returncode == 0 and dry.stdout.count("sim.flit.load 0.3") == 2
    found = document("run", tmp_path / "f.toml", "--out", tmp_path)
    assert found["points"] == 4 and found["holds"]
    made = flyloom("report", found["directory"])
    assert made.returncode == 0, made.stderr


def test_sweeps_vary_in_the_order_of_the_file():
    """The last key of a grid varies fastest, whatever the alphabet says."""
    text = (
        'schema = 1\nname = "order"\ntopology = { family = "slim_fly", q = 5, p = 4 }\n'
        '[sim.flit]\n[sweep.grid]\n"sim.flit.seed" = [1, 2]\n"sim.flit.load" = [0.1, 0.2]\n'
    )
    found = [(p["sim"]["flit"]["seed"], p["sim"]["flit"]["load"])
             for p in expand(text, "order.toml")["points"]]
    assert found == [(1, 0.1), (1, 0.2), (2, 0.1), (2, 0.2)]


TIMES = """\
schema = 1
name = "t"
[topology]
family = "ring"
n = 6
p = 1
[sim.flit]
traffic = "packets.txt"
[sweep.grid]
"sim.flit.link_latency_cycles" = [1, 3]
"sim.flit.traffic" = ["packets.txt", "others.txt"]
"""
PACKETS = [(0, 0, 1, 1), (60, 0, 3, 4), (120, 5, 1, 2), (180, 2, 2, 1)]
OTHERS = [(10, 4, 4, 1), (10, 4, 4, 3), (40, 4, 5, 2)]


def by_hand(packets: list[tuple[int, int, int, int]], cable: int) -> dict[int, int]:
    """Packets by latency, where they meet at their source alone: h switches of two cycles, h + 1
    cables, one cycle, and one for each flit that leaves before the last one."""
    found: dict[int, int] = {}
    last = -1
    for time, a, b, flits in packets:
        switches = 1 + min((a - b) % 6, (b - a) % 6)
        last = max(last + 1, time) + flits - 1
        cycles = last - time + 2 * switches + cable * (switches + 1) + 1
        found[cycles] = found.get(cycles, 0) + 1
    return dict(sorted(found.items()))


@pytest.mark.parametrize("workers", [1, 2])
def test_packets_at_given_times(tmp_path, workers):
    """A file that the experiment names, beside it: workers have another folder."""
    # one with its first line and commas, one without
    rows = [("time_cycles", "source", "destination", "size_flits"), *PACKETS]
    (tmp_path / "packets.txt").write_text("".join(f"{','.join(map(str, r))}\n" for r in rows))
    (tmp_path / "others.txt").write_text("".join(f"{' '.join(map(str, r))}\n" for r in OTHERS))
    done = run(tmp_path, TIMES, workers=workers)
    saved = json.loads(Path(done.directory, "results.json").read_text())
    found = [record["measures"]["sim.flit"] for record in saved["records"]]
    asked = [(cable, file) for cable in (1, 3) for file in (PACKETS, OTHERS)]
    for of, (cable, packets) in zip(found, asked, strict=True):
        [point] = of["points"]
        assert dict(map(tuple, point["latency_histogram"])) == by_hand(packets, cable)
        assert of["verified"] and point["warmup_cycles"] == 0
        senders, last = len({p[1] for p in packets}), max(p[0] for p in packets)
        load = sum(p[3] for p in packets) / senders / (last + 1)
        assert point["offered_load"] == pytest.approx(load)
    # what counts is said: the packet of cycle 60 alone, and the file is no other point's
    some = TIMES.replace("[sweep", "run = { warmup_cycles = 50, measure_cycles = 50 }\n[sweep")
    [first, *_] = table(run(tmp_path, some), "rows.parquet")
    assert first["sim_flit_mean_packet_latency_cycles"] == 3 * 4 + 2 + 3
    again = run(tmp_path, TIMES)
    assert (again.points, again.reused) == (4, 4)
    effective = Path(again.directory, "effective.toml").read_text()
    assert run(tmp_path, effective).reused == 4
    (tmp_path / "others.txt").write_text("10 4 5 1\n")
    assert run(tmp_path, TIMES).reused == 2


def test_four_endpoints_have_matrices_of_four_values(tmp_path):
    """Rows of four numbers are packets but on four endpoints, where they are a matrix."""
    for n, latencies in ((4, False), (6, True)):
        text = TIMES.partition("[sweep")[0].replace("n = 6", f"n = {n}")
        (tmp_path / "packets.txt").write_text(
            "0 1 0 0\n0 0 1 0\n0 0 0 1\n1 0 0 0\n" if n == 4 else "0 1 0 2\n")
        done = run(tmp_path, text + "load = 0.1\n")
        [row] = table(done, "rows.parquet")
        saved = json.loads(Path(done.directory, "results.json").read_text())
        [point] = saved["records"][0]["measures"]["sim.flit"]["points"]
        packets = sum(count for _, count in point["latency_histogram"])
        assert (packets == 1) == latencies, point
        assert row["sim_flit_mean_hops"] == 1 and row["sim_flit_mean_switches"] == 2


def test_packets_of_a_bad_file_are_refused_with_their_line(tmp_path):
    text = TIMES.partition("[sweep")[0]
    for lines, message in [
        ("time_cycles source destination size_flits\n0 1 2 3\n0 1 7 3\n",
         "line 3: destination: there is no endpoint '7'"),
        ("0 1 2 3\n0 1 2\n", "line 2: 3 values"),
        ("time_cycles source destination size_flits\n", "times: there is no packet"),
    ]:
        (tmp_path / "packets.txt").write_text(lines)
        (tmp_path / "f.toml").write_text(text)
        answer = flyloom("run", tmp_path / "f.toml", "--out", tmp_path / "out")
        assert answer.returncode == 2 and message in answer.stderr, answer.stderr
        assert "packets.txt" in answer.stderr and answer.stderr.count("\n") == 1
    (tmp_path / "packets.txt").write_text("0 1 2 3\n")
    (tmp_path / "f.toml").write_text(text + "process = \"on_off:0.1,0.1\"\n")
    answer = flyloom("run", tmp_path / "f.toml", "--out", tmp_path / "out")
    assert answer.returncode == 2 and "with packets of given times" in answer.stderr
