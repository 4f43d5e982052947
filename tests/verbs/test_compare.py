"""Comparison: rows against single measurements, charts against rows, and published tables."""

import csv
import io
import json
from xml.etree import ElementTree

import flyloom as fl
import networkx as nx
import pytest
from cli_helpers import flyloom
from flyloom.published import tables as published
from flyloom.report import comparison

NETS = ["slim_fly:q=5,p=4", "torus:shape=4x4x4,p=1", "fat_tree:levels=3,k=4"]


@pytest.fixture(scope="module")
def found():
    return fl.compare([*NETS, "hyperx"], radix=16, samples=20, seed=3,
                      ends=("disconnected", "diameter", "mean"))


def test_rows_are_what_each_measure_says_alone(found):
    assert [row["network"] for row in found.rows] == NETS
    for net, row in zip(NETS, found.rows, strict=True):
        alone = fl.structure(net)
        for key in ("endpoints", "switches", "links", "radix", "diameter", "mean_distance"):
            assert row[key] == alone[key], (net, key)
        lost = fl.resilience(net, until=("disconnected", "mean"), samples=20, seed=3).ends
        assert row["disconnected"] == lost.disconnected.mean
        assert row["mean_grows_interval"] == lost.mean.confidence_interval_95
    slim, torus, tree = found.rows
    # Hoffman-Singleton; (q^3 + q) / 2; spectral gap 7 - 2
    assert slim["moore_fraction"] == 1
    assert slim["bisection_high"] == 65
    assert slim["spectral_gap"] == pytest.approx(5)
    # two cuts through 16 rows; 4 neighbours' eigenvalues 6 and 4
    assert (torus["bisection_low"], torus["bisection_high"]) == (32, 32)
    assert torus["spectral_gap"] == pytest.approx(2)
    # k^3 / 8 links, half of the 16 endpoints
    assert (tree["bisection_high"], tree["relative_bisection"]) == (8, 1)
    assert tree["moore_fraction"] is None


def test_saturation_is_one_over_the_busiest_link():
    """Uniform traffic over minimal paths, by networkx's edge betweenness."""
    net = "hyperx:shape=4x3,p=2"
    graph = fl.to_networkx(fl.network(net))
    busiest = max(nx.edge_betweenness_centrality(nx.Graph(graph), normalized=False).values())
    # betweenness counts unordered pairs of switches, so one direction; 2 x 2 terminals a pair
    row = fl.compare([net], samples=0, curves=False).rows[0]
    assert row["uniform_saturation"] == pytest.approx((24 - 1) / (4 * busiest))
    assert "disconnected" not in row


def test_curves_are_members_of_the_families(found):
    names = {(c["family"], c["kind"]) for c in found.curves}
    assert {("slim_fly", ""), ("hyperx", "2D"), ("fat_tree", "3 levels")} <= names
    for c in found.curves:
        assert c["radix"] <= 16
    for ports in (8, 12, 16):
        largest = next(c for c in found.curves if c["figure"] == "scale"
                       and c["switch_ports"] == ports and c["kind"] == "3 levels")
        assert largest["endpoints"] == ports ** 3 // 4


def test_curves_of_all_families_come_only_with_the_charts(tmp_path):
    """Curves take longer than the rows that were asked for, so they are not computed alone."""
    words = ("compare", "-n", "30", "--radix", "6", "--samples", "0", "--json")
    assert json.loads(flyloom(*words).stdout)["curves"] == []
    drawn = json.loads(flyloom(*words, "-o", tmp_path / "charts").stdout)["curves"]
    assert len({curve["family"] for curve in drawn}) > 10
    named = json.loads(flyloom("compare", "torus", *words[1:]).stdout)["curves"]
    assert {curve["family"] for curve in named} == {"torus"}


def test_members_near_are_ranked_for_each_switch_and_in_planes():
    words = ("compare", "slim_fly", "fat_tree", "torus", "-n", "0.2k", "--radix", "12,16",
             "--planes", "2", "--samples", "0")
    document = json.loads(flyloom(*words, "--json").stdout)
    rows = document["rows"]
    assert {row["switch_ports"] for row in rows} == {12, 16}
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    cost = [row["cost_usd_per_endpoint"] for row in rows]
    assert cost == sorted(cost) and None not in cost
    # two planes of Hoffman-Singleton with 4 endpoints a switch: 2 x 50 switches, 2 x 65 links cut
    slim = [row for row in rows if row["network"] == "multi_plane:planes=2,of=slim_fly:q=5,p=4"]
    assert len(slim) == 2 and slim[0]["switches"] == 100 and slim[0]["endpoints"] == 200
    assert slim[0]["bisection_high"] == 130 and slim[0]["family"] == "slim_fly"
    alone = fl.compare(["slim_fly:q=5,p=4"], samples=0, curves=False).rows[0]
    for key in ("diameter", "mean_distance", "spectral_gap", "moore_fraction"):
        assert slim[0][key] == alone[key]
    for row in rows:
        figures = [(row["cost_usd_per_endpoint"], row["power_w_per_endpoint"], row["diameter"],
                    -row["relative_bisection"]) for row in [row, *rows]]
        better = any(all(a <= b for a, b in zip(o, figures[0], strict=True)) and o != figures[0]
                     for o in figures[1:])
        assert row["pareto"] is not better
    first = flyloom(*words, "--top", "2", "--sort", "mean distance", "--csv", "-").stdout
    listed = list(csv.DictReader(io.StringIO(first)))
    assert [row["network"] for row in listed] == [
        row["network"] for row in sorted(rows, key=lambda row: (
            row["mean_distance"], -row["endpoints"], row["switch_ports"]))][:2]


def test_moore_endpoints_by_brute_force():
    for ports, diameter in ((4, 2), (11, 2), (20, 3), (36, 2)):
        best = max(
            (1 + sum(k * (k - 1) ** i for i in range(diameter)))
            * min(ports - k, -(-k // diameter))
            for k in range(2, ports)
        )
        assert comparison.moore_endpoints(ports, diameter) == best
    # the Hoffman-Singleton graph meets the bound with 4 endpoints a switch
    assert comparison.moore_endpoints(11, 2) == 200


def test_charts_draw_the_rows(found):
    specs = comparison.specs(found.rows, found.curves)
    assert list(specs) == ["endpoints", "moore", "distance", "bisection", "resilience", "pareto"]
    bars = specs["bisection"]["data"]["values"]
    assert [b["high"] for b in bars] == pytest.approx([65 / 100, 32 / 32, 1])
    dots = specs["resilience"]["data"]["values"]
    assert len(dots) == 9 and dots[0]["mean"] == found.rows[0]["disconnected"]
    assert all(d["low"] <= d["mean"] <= d["high"] for d in dots)
    colours = {name: specs[name]["spec"]["encoding"]["color"]["scale"] for name in
               ("endpoints", "moore")}
    shades = [dict(zip(c["domain"], c["range"], strict=True)) for c in colours.values()]
    assert all(shades[0][name] == shades[1][name] for name in shades[1])
    assert comparison.specs([], []) == {}


def test_bounds_are_drawn_as_bars_and_do_not_stretch_the_chart(found):
    """A random graph too large to measure has a mean distance between a few and all hops."""
    low, high = 9.4, 18_538.0
    bound = {**found.curves[0], "family": "jellyfish", "kind": "", "network": "jellyfish:n=92681",
             "endpoints": 92_681, "mean_distance": [low, high]}
    spec = comparison.distance_spec(found.rows, [*found.curves, bound])
    drawn = spec["data"]["values"]
    known = {c["mean_distance"][0] for c in found.curves} | \
        {row["mean_distance"] for row in found.rows}
    assert {v["hops"] for v in drawn if "hops" in v} == known
    assert [(v["low"], v["high"]) for v in drawn if v["kind"] == "bounds"] == [(low, high)]
    bars = spec["layer"][0]
    assert bars["mark"]["type"] == "rule" and bars["mark"]["clip"]
    assert bars["encoding"]["y"]["field"] == "low" and bars["encoding"]["y2"]["field"] == "high"
    top = max(*known, low)
    assert all(top <= layer["encoding"]["y"]["scale"]["domain"][1] <= 2 * top
               for layer in spec["layer"])
    without = comparison.distance_spec(found.rows, found.curves)
    assert [layer["mark"]["type"] for layer in without["layer"]] == ["line", "point"]


def test_the_command_writes_table_page_and_charts(tmp_path):
    out = tmp_path / "out"
    done = flyloom("compare", *NETS, "--samples", "5", "--radix", "12", "-o", out)
    assert done.returncode == 0, done.stderr
    assert all(net in done.stdout for net in NETS)
    with open(out / "compare.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["network"] for row in rows] == NETS
    assert rows[1]["bisection_low"] == "32"
    assert float(rows[0]["disconnected_interval_low"]) <= float(rows[0]["disconnected"])
    document = json.loads((out / "compare.json").read_text())
    assert [row["network"] for row in document["rows"]] == NETS
    page = (out / "compare.html").read_text()
    assert page.count("<svg") == 6 and "http://" not in page.replace("http://www.w3.org", "")
    for name in ("endpoints", "moore", "distance", "bisection", "resilience", "pareto"):
        ElementTree.parse(out / f"{name}.svg")
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("words", "said"), [
    (["compare"], "no network is given"), (["compare", "slim_fly:q=6"], "nearest: 5, 7"),
    (["compare", "slim_fly:q=5", "--until", "never"], "disconnected, diameter, mean"),
    (["compare", "slim_fly:q=5", "--samples", "-1"], "samples"),
    (["compare", "slim_fly:q=5", "--radix", "1"], "radix: 1 is out of range; 4 to 4096"),
    (["compare", "slim_fly:q=5", "--planes", "2"], "planes: of the members that endpoints asks"),
    (["compare", "-n", "10x"], "--endpoints: '10x' is no number"),
    (["compare", "-n", "30M"], "endpoints: 30000000 is out of range"),
    (["compare", "slim_fly:q=5", "--sort", "size"], "sort: there is no column 'size'; rank"),
    (["published", "nothing"], "there is no table 'nothing'; cost, scale, addresses, fit-fly"),
    (["published", "resilience", "--samples", "0"], "samples"),
])
def test_bad_input_is_refused(words, said):
    done = flyloom(*words)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr


def test_the_fit_fly_configurations():
    """True values by the families' formulae; the three prints that differ are flagged."""
    rows = {(row["what"], row["network"]): row for row in published.fit_fly_table().rows}
    q, inside = 13, 6  # q = 4 w + 1: (q - 1) / 2 links inside a group, q to the other half
    for name, planes in (("Slim Fly", 1), ("Fit Fly", 2)):
        expected = {
            "router_radix": inside + q + 9, "planes": planes, "groups": 2 * q * planes,
            "nodes": 2 * q * q * 9, "routers": 2 * q * q * planes,
            "global_ports": 2 * q * q * q * planes, "nodes_per_group_and_rail": 9 * q,
            "global_ports_per_group": q * q, "nodes_per_router": 9,
        }
        for what, value in expected.items():
            assert rows[what, name]["computed"] == value, (what, name)
    differ = {key for key, row in rows.items() if not row["equal"]}
    assert differ == {("global_ports", "Slim Fly"), ("global_ports", "Fit Fly"),
                      ("router_radix", "dragonfly 1D")}
    assert rows["global_ports", "megafly"]["computed"] == 10 * 18 * 18
    assert rows["router_radix", "dragonfly 1D"]["computed"] == 17 + 9 + 9


def test_the_resilience_table_is_near_the_print():
    found = published.resilience_table(samples=40, seed=1)
    printed = [step for row in published.RESILIENCE_TABLE.values() for step in row]
    assert len(found.rows) == sum(step is not None for step in printed)
    for row in found.rows:
        low, high = row["confidence_interval_95"]
        assert low <= row["mean"] <= high
        # a step is 5 %; small fat trees come out two to three steps higher than printed
        off = round(row["half_hold_percent"]) - row["printed_percent"]
        assert -5 <= off <= 15, row
        assert 0.5 <= row["endpoints"] / row["about"] <= 1.35, row
    slim = [row for row in found.rows if row["family"] == "Slim Fly"]
    assert all(abs(row["half_hold_percent"] - row["printed_percent"]) <= 5 for row in slim)
