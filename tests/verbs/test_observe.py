"""Counters of invented fabrics: rates, faults by cable, wraps and resets, predicted and estimated
traffic."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import flyloom as fl
import numpy as np
import pytest
from cli_helpers import flyloom
from counter_files import START_S, Counters, Port
from flyloom.verbs.observing import traffic_rows

SAID = {  # formats that say that a link is down, that a port is gone, and at which rate it runs
    "down": {"ibqueryerrors", "net_dump", "node"},
    "gone": {"pm", "db_csv", "ufm", "exporter"},
    "rate": {"net_dump", "ibqueryerrors", "node"},
}


def two(write: Callable[[Counters], str], name: str) -> Callable[..., dict[str, str]]:
    """Two files of one format, one after the other."""
    def files(now: Counters, harm: Callable[[], None]) -> dict[str, str]:
        before = write(now)
        now.pass_time()
        harm()
        return {f"1{name}": before, f"2{name}": write(now)}
    return files


def one_table(now: Counters, harm: Callable[[], None]) -> dict[str, str]:
    """One table with two times."""
    before = now.ufm()
    now.pass_time()
    harm()
    return {"both.csv": before + now.ufm(header=False)}


def pm_and_links(now: Counters, harm: Callable[[], None]) -> dict[str, str]:
    """Counters at two times, and how links are at the end."""
    before = now.pm()
    now.pass_time()
    harm()
    return {"1.pm": before, "2.pm": now.pm(), "links.net_dump": now.net_dump()}


def hosts_and_switches(now: Counters, harm: Callable[[], None]) -> dict[str, str]:
    """A file a host and time, and one of all switches a time."""
    found = {f"1-{host}.prom": text for host, text in now.node_exporters().items()}
    found["1-switches.prom"] = now.exporter()
    now.pass_time()
    harm()
    found |= {f"2-{host}.prom": text for host, text in now.node_exporters().items()}
    return {**found, "2-switches.prom": now.exporter()}


def counts_alone(now: Counters, harm: Callable[[], None]) -> dict[str, str]:
    """Errors since the counters were cleared."""
    harm()
    return {"errors.txt": now.ibqueryerrors(data=False)}


SETS = {
    "perfquery": ("fat_tree:leaves=6,spines=3,parallel=2,p=6",
                  two(lambda now: now.perfquery(True), ".txt"), {"perfquery"}, None),
    "perfquery without -x": ("slim_fly:q=5,p=4",
                             two(lambda now: now.perfquery(False, False), ".txt"), {"perfquery"},
                             60.0),
    "ibqueryerrors --data": ("dragonfly:p=2,a=4,h=2",
                             two(lambda now: now.ibqueryerrors(True), ".txt"), {"ibqueryerrors"},
                             60.0),
    "ibqueryerrors once": ("hyperx:shape=4x4,p=3", counts_alone, {"ibqueryerrors"}, None),
    "pm": ("fat_tree:leaves=8,spines=4,p=4", two(lambda now: now.pm(), ".pm"), {"pm"}, None),
    "pm and net_dump": ("torus:shape=4x4,p=2", pm_and_links, {"net_dump"}, None),
    "db_csv": ("slim_fly:q=5,p=4", two(lambda now: now.db_csv(), ".db_csv"), {"db_csv"}, None),
    "one table of UFM": ("fat_tree:leaves=6,spines=3,p=5", one_table, {"ufm"}, None),
    "two tables of UFM": ("hyperx:shape=3x5,p=2", two(lambda now: now.ufm(ber=True), ".csv"),
                          {"ufm", "ber"}, None),
    "exporter": ("dragonfly:p=2,a=4,h=2", two(lambda now: now.exporter(), ".prom"), {"exporter"},
                 None),
    "older exporter": ("fat_tree:leaves=5,spines=2,parallel=3,p=5",
                       two(lambda now: now.exporter(words=True, timed=False), ".prom"),
                       {"exporter"}, 60.0),
    "hosts and switches": ("torus:shape=3x3,p=2", hosts_and_switches, {"node", "exporter"}, None),
}
"""Twelve sets of files: the network, what writes them, what they can say, seconds if not said."""


def ends_of(pair: tuple[Port, Port]) -> frozenset[tuple[str, int]]:
    return frozenset((port.device, port.port) for port in pair)


def faults(name: str, now: Counters) -> tuple[Callable[[], None], dict[frozenset, str]]:
    """Three faults of different cables that these files can show, and the grade of each."""
    can, once = SETS[name][2], name == "ibqueryerrors once"
    draw = random.Random(name)
    links = now.peers[: now.topology.links]
    hosts = now.peers[now.topology.links:]
    if can == {"node", "exporter"}:
        pairs = [*draw.sample(links, 2), draw.choice(hosts)]
    else:
        pairs = draw.sample(links, 3)
    # a BER of 3e-12 or more; of counts without a time more than 10
    bits = pairs[1][0].rate_gbps * 1e9 * now.seconds
    errors = 2000 if once else int(3e-12 * bits) + 1
    grades = ["flapping", "marginal", "marginal"]
    if can & SAID["gone"] or can & SAID["down"]:
        grades[2] = "dead"
    if name == "pm and net_dump":
        grades[1] = "degraded"

    def harm() -> None:
        a, _ = pairs[0]
        a.values["downed"] += 40 if once else 2
        one = pairs[1][draw.randrange(2) if pairs[1][0].is_switch else 1]
        if "ber" in can:
            one.symbol_ber = 2.5e-9
        elif grades[1] == "degraded":
            for port in pairs[1]:
                port.lanes = 1
        else:
            one.values[draw.choice(["symbol", "rcv"])] += errors
        last = pairs[2]
        if grades[2] == "marginal":
            last[0].values["recovery"] += 30 if once else 1
        elif can & {"net_dump", "ibqueryerrors"}:
            last[0].up = last[1].up = False
            last[0].values["discards"] += 50
        elif "node" in can:
            last[0].up = False
        else:
            last[0].there = last[1].there = False

    return harm, dict(zip(map(ends_of, pairs), grades, strict=True))


def written(folder: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in files]


def graded(found: fl.Result) -> dict[frozenset, str]:
    return {frozenset({(c.a, c.a_port), (c.b, c.b_port)}): c.grade for c in found.bad_cables}


@pytest.mark.parametrize("name", SETS)
def test_three_faults_are_found_and_none_is_invented(name, tmp_path):
    inline, write, _, seconds = SETS[name]
    now = Counters(fl.network(inline), seed=len(name))
    harm, planted = faults(name, now)
    assert len(planted) == 3
    files = written(tmp_path, write(now, harm))
    found = fl.observe(inline, files, seconds=seconds)
    assert graded(found) == planted
    assert not found.unmatched and not found.lost_switches
    assert sum(file.left_out for file in found.files) == 0
    for cable in found.bad_cables:
        assert cable.reasons and all(cable.a in why or cable.b in why for why in cable.reasons)


@pytest.mark.parametrize("name", [
    name for name in SETS if name not in ("ibqueryerrors once", "perfquery without -x")
])
def test_rates_are_those_that_were_planted(name, tmp_path):
    """Gbit/s by channel: words of 4 bytes whatever the format calls them."""
    inline, write, _, seconds = SETS[name]
    now = Counters(fl.network(inline), seed=7)
    found = fl.observe(inline, written(tmp_path, write(now, lambda: None)), seconds=seconds)
    assert not found.bad_cables
    assert found.seconds == pytest.approx(60, abs=1e-3)
    assert len(found.channels) >= 2 * now.topology.links
    for row in found.channels:
        assert row.gbps == pytest.approx(now.gbps[row["from"], row.from_port], rel=1e-3)
        assert row.use_fraction == pytest.approx(row.gbps / row.rate_gbps)
    uses = [row.use_fraction for row in found.channels]
    assert uses == sorted(uses, reverse=True)


def test_counters_of_32_bits_at_their_maximum_have_no_rate(tmp_path):
    """60 s at some Gbit/s pass 2^32 words: the classic counters stay there, and say nothing."""
    inline, write, _, seconds = SETS["perfquery without -x"]
    now = Counters(fl.network(inline), seed=1)
    done = flyloom(*["observe", inline, *written(tmp_path, write(now, lambda: None)),
                    "--seconds", "60"])
    assert done.returncode == 0, done.stderr
    assert "saturated counters of data, so no rate" in done.stdout
    found = fl.observe(inline, [str(p) for p in sorted(tmp_path.iterdir())], seconds=seconds)
    stuck = [row for row in found.channels if row.is_saturated]
    assert stuck and all(row.gbps is None for row in stuck)


def block(words: int, downed: int = 0, at: float | None = None) -> str:
    """What perfquery prints of port 1 of the first switch of `complete:n=2,p=1`."""
    lid = fl.network("complete:n=2,p=1").addresses()["switch_lid"][0]
    port = fl.network("complete:n=2,p=1").link_table["a_port"][0]
    text = (f"# Port counters: Lid {lid} port {port} (CapMask: 0x1300)\n"
            f"LinkDownedCounter:...............{downed}\n"
            f"PortXmitData:....................{words}\n")
    return text if at is None else text + f"timestamp {at}\n"


def of_link(tmp_path: Path, *blocks: str, **options: object) -> fl.Result:
    files = written(tmp_path, {f"{i}.txt": text for i, text in enumerate(blocks)})
    found = fl.observe("complete:n=2,p=1", files, **options)
    return next(row for row in found.channels if not row.is_endpoint_cable)


def test_counters_that_wrap_go_on_where_that_is_said(tmp_path):
    most = 2**32 - 1
    # 2^31 words from the maximum on, in 10 s: 6.87 Gbit/s
    pair = block(most - 2**30, at=START_S), block(2**30 - 1, at=START_S + 10)
    row = of_link(tmp_path, *pair, wraps=True)
    assert row.gbps == pytest.approx(2**31 * 32 / 10 / 1e9)
    assert not row.is_reset and not row.is_saturated
    row = of_link(tmp_path, *pair)
    assert row.gbps is None and row.is_reset


def test_an_interval_in_which_counters_were_cleared_has_no_rate_and_the_others_have(tmp_path):
    blocks = [block(words, at=START_S + 10 * i)
              for i, words in enumerate((5_000_000, 6_000_000, 1_000_000, 2_000_000))]
    row = of_link(tmp_path, *blocks)
    assert row.is_reset and row.gbps == pytest.approx(1_000_000 * 32 / 10 / 1e9)
    # files in any order of names: times order them
    assert of_link(tmp_path, *blocks[::-1]).gbps == row.gbps


def test_errors_after_counters_were_cleared_count(tmp_path):
    files = written(tmp_path, {"1.txt": block(5, downed=9), "2.txt": block(6, downed=1)})
    found = fl.observe("complete:n=2,p=1", files, seconds=10)
    assert [cable.grade for cable in found.bad_cables] == ["flapping"]
    assert "at least 1 time" in found.bad_cables[0].reasons[0]


def test_a_counter_of_faults_at_its_maximum_is_named_and_not_graded(tmp_path):
    files = written(tmp_path, {"1.txt": block(5, downed=255), "2.txt": block(6, downed=255)})
    found = fl.observe("complete:n=2,p=1", files, seconds=10)
    assert not found.bad_cables
    assert [(one.counter, one.is_saturated) for one in found.saturated] == [("link_downed", True)]


def test_what_is_of_no_device_is_listed_and_what_is_not_understood_is_counted(tmp_path):
    text = block(5) + "# Port counters: Lid 4000 port 3 (CapMask: 0x1300)\nPortXmitData:....9\n" \
                      "ibwarn: [12] something went wrong\n"
    done = flyloom(*["observe", "complete:n=2,p=1", *written(tmp_path, {"a.txt": text})])
    assert done.returncode == 0, done.stderr
    assert "LID 4000 port 3: no such device in the network" in done.stdout
    assert "1 line is left out, not understood: line 6: ibwarn" in done.stdout
    assert "one sample" in done.stdout


def test_counters_of_another_fabric_are_refused(tmp_path):
    files = written(tmp_path, {"a.txt": "# Port counters: Lid 4000 port 3\nPortXmitData:....9\n"})
    with pytest.raises(fl.RefusalError, match="none of their devices"):
        fl.observe("complete:n=2,p=1", files)


def test_counters_of_mostly_another_fabric_are_said(tmp_path):
    inline = "fat_tree:leaves=6,spines=3,p=2"
    files = written(tmp_path, {"1.pm": Counters(fl.network(inline), seed=1).pm()})
    assert not fl.observe(inline, files).remarks
    found = fl.observe("ring:n=3,p=1", files)
    assert any("may be of another fabric" in remark for remark in found.remarks)


def test_a_switch_that_is_reported_no_more_is_named_once(tmp_path):
    inline = "fat_tree:leaves=4,spines=2,p=3"
    now = Counters(fl.network(inline), seed=3)

    def harm() -> None:
        for port in now.ports:
            port.there = port.device != "ft-1-1"

    files = written(tmp_path, two(lambda c: c.pm(), ".pm")(now, harm))
    found = fl.observe(inline, files)
    assert found.lost_switches == ["ft-1-1"] and not found.bad_cables
    bad = tmp_path / "bad.txt"
    done = flyloom(*["observe", inline, *files, "--failed-links", str(bad)])
    assert done.returncode == 1
    assert bad.read_text() == "--switch ft-1-1\n"


def test_a_file_for_each_switch_is_no_sample_of_the_fabric(tmp_path):
    """What the file of one switch lacks of the others is there."""
    inline = "fat_tree:leaves=4,spines=2,p=3"
    now = Counters(fl.network(inline), seed=3)
    header, *rows = now.ufm().splitlines(keepends=True)
    by_device: dict[str, str] = {}
    for row in rows:
        name = row.split('"')[1]
        by_device[name] = by_device.get(name, header) + row
    found = fl.observe(inline, written(tmp_path, {f"{k}.csv": v for k, v in by_device.items()}))
    assert len(by_device) == 18 and found.observed_cables == found.cables
    assert not found.bad_cables and not found.lost_switches


# --- places, files, the command ------------------------------------------------------------------


def test_bad_cables_come_in_the_order_of_racks_and_go_into_repair(tmp_path):
    inline = "slim_fly:q=5,p=4"
    now = Counters(fl.network(inline), seed=5)
    draw = random.Random(5)
    bad = draw.sample(now.peers[: now.topology.links], 6)

    def harm() -> None:
        for one, _ in bad:
            one.values["downed"] += 1

    files = written(tmp_path, two(lambda c: c.pm(), ".pm")(now, harm))
    failed, walk, floor = (tmp_path / name for name in ("bad.txt", "walk.csv", "floor.svg"))
    done = flyloom(*["observe", inline, *files, "--failed-links", str(failed), "--walk", str(walk),
                    "-o", str(floor)])
    assert done.returncode == 1, done.stderr
    rows = [line.split(",") for line in walk.read_text().splitlines()[1:]]
    assert [row[0] for row in rows] == [str(i) for i in range(1, 7)]
    seats = [(row[1], int(row[3])) for row in rows]
    assert seats == sorted(seats)
    # racks and units as the plan's own list of cables has them
    plan = fl.plan(inline)
    said = {}
    for line in plan.cables_csv.splitlines()[1:]:
        cells = line.split(",")
        for i in (7, 12):
            rack, unit, device = cells[i], cells[i + 1], cells[i + 2]
            said[device] = f"{rack}-U{int(unit):02d}"
    for row in rows:
        assert row[1] == said[row[2]]
    words = failed.read_text().split()
    assert len(words) == 12
    repaired = flyloom(*["repair", inline, *words, "--json"])
    assert repaired.returncode == 0, repaired.stderr
    assert json.loads(repaired.stdout)["failed_links"] == 6
    text = floor.read_text()
    assert text.count("flapping") >= 6 and "Bad cables on the floor" in text


def test_a_fabric_from_a_file_has_places_by_rules_alone(tmp_path):
    fabric = tmp_path / "fabric.net"
    fabric.write_text(fl.network("fat_tree:leaves=4,spines=2,p=3").to_text("netlist"))
    now = Counters(fl.network(str(fabric)), seed=3)
    files = written(tmp_path, two(lambda c: c.db_csv(), ".db_csv")(
        now, lambda: now.ports[0].values.__setitem__("downed", 9)))
    found = fl.observe(str(fabric), files)
    assert found.bad_cables[0].a_place is None and found.channels[0].from_place is None
    placed = fl.observe(str(fabric), files, floor={"rack_units": 42})
    assert placed.bad_cables[0].a_place.startswith("R")
    done = flyloom(*["observe", str(fabric), *files, "-o", str(tmp_path / "floor.svg")])
    assert done.returncode == 2 and "has no floor" in done.stderr


def test_a_fabric_with_names_of_its_own_has_the_places_of_its_plan(tmp_path):
    """Devices are found in the plan by GUID; rack and unit are those of the plan's devices."""
    plan = fl.network("dragonfly:p=2,a=4,h=2")
    fabric = tmp_path / "fabric.net"
    own = random.Random(3).sample(range(1000), plan.switches)
    text = plan.to_text("netlist")
    for i, name in sorted(enumerate(plan.switch_names), key=lambda one: -len(one[1])):
        text = text.replace(f'"{name}"', f'"edge{own[i]:03d}"')
    fabric.write_text(text)
    now = Counters(fl.network(str(fabric)), seed=3)
    files = written(tmp_path, two(lambda c: c.pm(), ".pm")(
        now, lambda: now.peers[5][0].values.__setitem__("downed", 9)))
    found = fl.observe(str(fabric), files, floor=plan)
    seats = {}
    for line in fl.plan(plan).cables_csv.splitlines()[1:]:
        cells = line.split(",")
        for i in (7, 12):
            seats[cells[i + 2]] = f"{cells[i]}-U{int(cells[i + 1]):02d}"
    for row in found.channels:
        for end in ("from", "to"):
            name = row[end]
            planned = (plan.switch_names[own.index(int(name[4:]))] if name.startswith("edge")
                       else name)
            assert row[f"{end}_place"] == seats[planned]
    drawn = tmp_path / "floor.svg"
    done = flyloom("observe", str(fabric), *files, "--plan", "dragonfly:p=2,a=4,h=2",
                   "-o", str(drawn))
    assert done.returncode == 1, done.stderr
    assert "1. flapping: edge" in done.stdout and "flapping" in drawn.read_text()


def test_the_table_and_the_document_are_of_the_same_channels(tmp_path):
    inline, write, _, _ = SETS["pm"]
    now = Counters(fl.network(inline), seed=2)
    files = written(tmp_path, write(now, lambda: None))
    found = json.loads(flyloom(*["observe", inline, *files, "--json"]).stdout)
    lines = flyloom(*["observe", inline, *files, "--csv", "-"]).stdout.splitlines()
    assert len(lines) == len(found["channels"]) + 1
    first = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    assert float(first["gbps"]) == found["channels"][0]["gbps"]
    assert found["channels"] == fl.observe(inline, files).to_dict()["channels"]


# --- predicted and estimated traffic -------------------------------------------------------------


def run_traffic(now: Counters, routing: fl.Routing, matrix: np.ndarray) -> None:
    """Sets what leaves every port to the load of a matrix of endpoints, in Gbit/s, over tables:
    each message walked along the path that the tables give."""
    on = routing.topology
    home, ports = on.terminal_table["switch"], on.terminal_table["port"]
    names, table = on.switch_names, on.link_table
    ends = {}
    for i in range(on.links):
        a = (names[table["a_switch"][i]], int(table["a_port"][i]))
        b = (names[table["b_switch"][i]], int(table["b_port"][i]))
        ends[a], ends[b] = int(table["b_switch"][i]), int(table["a_switch"][i])
    now.gbps = dict.fromkeys(now.gbps, 0.0)
    for source, row in enumerate(matrix):
        for target, gbps in enumerate(row):
            if gbps == 0:
                continue
            now.gbps[on.endpoint_names[source], 1] += gbps
            at = int(home[source])
            while at != home[target]:
                out = (names[at], int(routing.next[0, target, at]))
                now.gbps[out] += gbps
                at = ends[out]
            now.gbps[names[at], int(ports[target])] += gbps


def drawn_matrix(endpoints: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    matrix = draw.gamma(0.5, 1.0, (endpoints, endpoints)) * 100 / endpoints
    np.fill_diagonal(matrix, 0)
    matrix[matrix < 0.01] = 0  # no traffic is less than a millionth of a rate
    return matrix


def test_measured_loads_are_those_predicted_for_the_traffic_that_ran(tmp_path):
    inline = "fat_tree:leaves=6,spines=3,p=4"
    routing = fl.route(inline, "min_hop")
    matrix = drawn_matrix(24, 1)
    now = Counters(routing.topology, seed=4)
    run_traffic(now, routing, matrix)
    files = written(tmp_path, two(lambda c: c.pm(), ".pm")(now, lambda: None))
    found = fl.observe(routing, files, traffic=matrix / matrix.sum(1).max())
    assert found.prediction.correlation > 1 - 1e-9
    assert found.prediction.misplaced_share < 1e-6
    assert found.prediction.compared_channels == 2 * routing.topology.links
    # other traffic: shares differ as those of two walks by hand do
    other = fl.observe(routing, files, traffic="uniform").prediction
    assert other.correlation < 0.99
    sums = np.array([row.measured_share for row in other.channels]).sum()
    assert sums == pytest.approx(1) and other.channels[0].deviation != 0
    uniform = np.ones((24, 24)) - np.eye(24)
    by_hand = Counters(routing.topology, seed=4)
    run_traffic(by_hand, routing, uniform)
    of_links = {(row["from"], row.from_port) for row in other.channels}
    total = sum(by_hand.gbps[end] for end in of_links)
    for row in other.channels:
        share = by_hand.gbps[row["from"], row.from_port] / total
        assert row.predicted_share == pytest.approx(share)


def test_known_traffic_is_estimated(tmp_path):
    """On a complete graph every pair of switches has a channel of its own: all is determined."""
    routing = fl.route("complete:n=6,p=3", "min_hop")
    matrix = drawn_matrix(18, 2)
    now = Counters(routing.topology, seed=4)
    run_traffic(now, routing, matrix)
    files = written(tmp_path, two(lambda c: c.db_csv(), ".db_csv")(now, lambda: None))
    found = fl.observe(routing, files, estimate=True).estimate
    home = routing.topology.terminal_table["switch"]
    truth = np.zeros((6, 6))
    np.add.at(truth, (home[:, None].repeat(18, 1), home[None, :].repeat(18, 0)), matrix)
    assert found.residual < 1e-4
    names = routing.topology.switch_names
    for row in found.pairs:
        a, b = names.index(row["from"]), names.index(row.to)
        if a != b:
            assert row.gbps == pytest.approx(truth[a, b], rel=0.02, abs=0.05)


def test_an_estimate_explains_the_loads_as_well_as_scipy_can(tmp_path):
    """Least squares with bounds have one least residual, whatever finds it."""
    optimize = pytest.importorskip("scipy.optimize")
    routing = fl.route("torus:shape=3x3,p=2", "min_hop")
    on = routing.topology
    matrix = drawn_matrix(18, 3)
    now = Counters(on, seed=4)
    run_traffic(now, routing, matrix)
    draw = random.Random(1)
    for end in now.gbps:  # what no traffic explains
        now.gbps[end] *= draw.uniform(0.8, 1.2)
    files = written(tmp_path, two(lambda c: c.pm(), ".pm")(now, lambda: None))
    found = fl.observe(routing, files, estimate=True).estimate
    # the same equations, put up by paths from switch to terminal
    table, names = on.link_table, on.switch_names
    rows = [(names[table[f"{s}_switch"][i]], int(table[f"{s}_port"][i]))
            for i in range(on.links) for s in ("a", "b")]
    of_row = {end: i for i, end in enumerate(rows)}
    ends = {}
    for i in range(on.links):
        ends[rows[2 * i]] = int(table["b_switch"][i])
        ends[rows[2 * i + 1]] = int(table["a_switch"][i])
    home, ports = on.terminal_table["switch"], on.terminal_table["port"]
    loads = [now.gbps[end] for end in rows]
    loads += [now.gbps[names[home[t]], int(ports[t])] for t in range(on.terminals)]
    sent = np.zeros(on.switches)
    np.add.at(sent, home, [now.gbps[name, 1] for name in on.endpoint_names])
    loads = np.array([*loads, *sent])
    columns = []
    for source in range(on.switches):
        for target in range(on.terminals):
            column, at = np.zeros(len(loads)), source
            while at != home[target]:
                out = (names[at], int(routing.next[0, target, at]))
                column[of_row[out]] += 1
                at = ends[out]
            column[len(rows) + target] = column[len(rows) + on.terminals + source] = 1
            columns.append(column)
    least = optimize.nnls(np.array(columns).T, loads)[1] / np.linalg.norm(loads)
    assert least > 0.01
    assert found.residual == pytest.approx(least, rel=1e-3)


def test_an_estimate_is_a_traffic_file_of_other_commands(tmp_path):
    routing = fl.route("complete:n=6,p=3", "min_hop")
    now = Counters(routing.topology, seed=4)
    run_traffic(now, routing, drawn_matrix(18, 2))
    files = written(tmp_path, two(lambda c: c.pm(), ".pm")(now, lambda: None))
    likely = tmp_path / "likely.csv"
    done = flyloom(*["observe", "complete:n=6,p=3", *files, "--routes", "min_hop",
                    "--estimate-file", str(likely)])
    assert done.returncode == 0, done.stderr
    assert "likely traffic, an estimate" in done.stdout and "unexplained" in done.stdout
    again = flyloom(*["observe", "complete:n=6,p=3", *files, "--routes", "min_hop",
                     "--traffic", str(likely), "--json"])
    assert json.loads(again.stdout)["prediction"]["correlation"] > 0.999


def test_tables_of_the_fabric_are_read_from_what_dump_fts_prints(tmp_path):
    fabric, dump = tmp_path / "fabric.net", tmp_path / "lfts.txt"
    fabric.write_text(fl.network("fat_tree:leaves=4,spines=2,p=3").to_text("netlist"))
    routing = fl.route(str(fabric), "ftree")
    dump.write_text(routing.lft_text())
    matrix = drawn_matrix(12, 5)
    now = Counters(routing.topology, seed=4)
    run_traffic(now, routing, matrix)
    files = written(tmp_path, two(lambda c: c.ufm(), ".csv")(now, lambda: None))
    found = fl.observe(str(fabric), files, routes=str(dump), traffic=matrix / matrix.sum(1).max())
    assert found.prediction.correlation > 1 - 1e-9
    assert found.prediction.compared_channels == 2 * routing.topology.links


def test_switches_alone_give_an_estimate(tmp_path):
    """Without counters of endpoints' cables: what stays at its switch is not guessed."""
    routing = fl.route("complete:n=6,p=3", "min_hop")
    now = Counters(routing.topology, seed=4)
    matrix = drawn_matrix(18, 2)
    run_traffic(now, routing, matrix)
    now.ports = [port for pair in now.peers[: routing.topology.links] for port in pair]
    found = fl.observe(routing, written(tmp_path, two(lambda c: c.pm(), ".pm")(now, lambda: None)),
                       estimate=True)
    assert all(pair["from"] != pair.to for pair in found.estimate.pairs)
    home = routing.topology.terminal_table["switch"]
    assert found.estimate.gbps == pytest.approx(
        matrix[home[:, None] != home[None, :]].sum(), rel=1e-3)
    assert traffic_rows(found)


def test_routes_are_of_the_network_and_needed(tmp_path):
    files = written(tmp_path, {"1.txt": block(5), "2.txt": block(6)})
    for options, why in [
        ({"traffic": "uniform"}, "routes: loads are predicted"),
        ({"routes": fl.route("complete:n=3,p=1")}, "routes: of another network"),
        ({"seconds": 0}, "seconds: 0 is not above 0"),
    ]:
        with pytest.raises(fl.RefusalError, match=why):
            fl.observe("complete:n=2,p=1", files, **options)
