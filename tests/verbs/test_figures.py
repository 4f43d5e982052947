"""Figures of layered routings: rows against routes followed here, charts against rows."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from fractions import Fraction
from xml.etree import ElementTree

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from flyloom import RefusalError
from flyloom.report import figures
from oracle_routes import Routes, Wires

ENGINES = ["layered", "fatpaths", "rues", "dfsssp"]
NETS = [
    "slim_fly:q=3,p=2", "polar_fly:q=3,p=1", "xpander:d=4,lift=3,p=1", "dragonfly:h=1,p=1",
    "hyperx:shape=3x4,p=1",
]
KINDS = ["path_lengths", "path_distribution", "disjoint_paths"]


def cases(found) -> dict:
    """The rows of a figure by network, engine and layers, without these."""
    parts = defaultdict(list)
    for row in found.to_dict()["rows"]:
        parts[row.pop("network"), row.pop("engine"), row.pop("layers")].append(row)
    return parts


def followed(net: str, engine: str, layers: int) -> Routes:
    options = {} if engine == "dfsssp" else {"seed": 4}
    topology = fl.network(net)
    routing = fl.route(topology, engine, layers=layers, max_lanes=15, **options)
    return Routes(routing, Wires(topology))


def by_pair(routes: Routes) -> dict:
    """The channels of the routes of each ordered pair of switches, by terminal."""
    pairs: dict = defaultdict(lambda: defaultdict(list))
    for (_, s, t), channels in routes.all.items():
        if s != routes.wires.home[t][0]:
            pairs[s, routes.wires.home[t][0]][t].append(channels)
    return pairs


def most_disjoint(paths: set[tuple[int, ...]]) -> int:
    """The most of the paths of which no two share a link, over all subsets."""
    links = [frozenset(c // 2 for c in path) for path in paths]
    return max(
        size for size in range(len(links) + 1) for chosen in itertools.combinations(links, size)
        if len(frozenset().union(*chosen)) == sum(map(len, chosen))
    )


def shares(values) -> dict:
    count = Counter(values)
    return {value: (n, n / count.total()) for value, n in count.items()}


@pytest.fixture(scope="module")
def found():
    return {kind: fl.figure(kind, NETS, engines=ENGINES, layers=[4, 1], seed=4) for kind in KINDS}


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("layers", [1, 4])
def test_rows_are_those_of_routes_followed_here(found, net, engine, layers):
    routes = followed(net, engine, layers)
    pairs = by_pair(routes)
    drawn = {kind: cases(found[kind])[fl.network(net).recipe, engine, layers] for kind in KINDS}

    hops = [[len(c) for paths in pair.values() for c in paths] for pair in pairs.values()]
    for statistic, values in (
        ("mean", [Fraction(sum(h), len(h)) for h in hops]), ("longest", [max(h) for h in hops]),
    ):
        rows = [row for row in drawn["path_lengths"] if row["statistic"] == statistic]
        wanted = sorted(shares(map(float, values)).items())
        assert [(r["hops"], (r["pairs"], r["share"])) for r in rows] == wanted

    rows = drawn["path_distribution"]
    assert {r["routes"]: (r["channels"], r["share"]) for r in rows} == shares(
        routes.loads().tolist())

    disjoint = [
        min(most_disjoint(set(map(tuple, paths))) for paths in pair.values())
        for pair in pairs.values()
    ]
    rows = drawn["disjoint_paths"]
    assert {r["paths"]: (r["pairs"], r["share"]) for r in rows} == shares(disjoint)


@pytest.mark.parametrize("kind", KINDS)
def test_the_summary_is_that_of_the_rows(found, kind):
    said = found[kind].summary
    assert len(said) == len(NETS) * len(ENGINES) * 2 and not found[kind].skipped
    for case, rows in zip(said, cases(found[kind]).values(), strict=True):
        if kind == "path_lengths":
            means = [r for r in rows if r["statistic"] == "mean"]
            assert case["mean_hops"] == pytest.approx(sum(r["hops"] * r["share"] for r in means))
            assert case["longest_hops"] == max(r["hops"] for r in rows)
        elif kind == "path_distribution":
            mean = sum(r["routes"] * r["share"] for r in rows)
            assert case["mean_routes"] == pytest.approx(mean)
            assert case["most_routes"] == max(r["routes"] for r in rows)
            assert case["least_routes"] == min(r["routes"] for r in rows)
        else:
            mean = sum(r["paths"] * r["share"] for r in rows)
            assert case["mean_disjoint_paths"] == pytest.approx(mean)
            rich = sum(r["share"] for r in rows if r["paths"] >= 3)
            assert case["fraction_pairs_3_disjoint_paths"] == pytest.approx(rich)


def test_shortest_paths_on_the_deployed_slim_fly():
    """Hoffman-Singleton: 7 neighbours, 42 at two hops, one shortest path, p^2 (3 q - 2) routes."""
    only = {"engines": ["dfsssp"], "layers": [4]}
    lengths = fl.figure("path_lengths", **only).to_dict()["rows"]
    assert [(r["statistic"], r["hops"], r["pairs"]) for r in lengths] == [
        ("mean", 1, 350), ("mean", 2, 2100), ("longest", 1, 350), ("longest", 2, 2100)]
    load, = fl.figure("path_distribution", **only).rows
    assert (load.routes, load.channels, load.share) == (4 * 16 * 13, 350, 1)
    paths, = fl.figure("disjoint_paths", **only).rows
    assert (paths.paths, paths.pairs, paths.share) == (1, 2450, 1)


def test_what_an_engine_refuses_is_left_out_and_said():
    found = fl.figure("disjoint_paths", ["torus:shape=4x4", "slim_fly:q=3,p=1"],
                      engines=["dor", "dfsssp"], layers=[1])
    assert {(r.network, r.engine) for r in found.rows} == {
        ("torus:shape=4x4", "dor"), ("torus:shape=4x4", "dfsssp"), ("slim_fly:q=3,p=1", "dfsssp")}
    skipped, = found.skipped
    assert (skipped.network, skipped.engine, skipped.layers) == ("slim_fly:q=3,p=1", "dor", 1)
    assert "has no dimensions" in skipped.why
    with pytest.raises(RefusalError, match="has no dimensions"):
        fl.figure("disjoint_paths", engines=["dor"])


@pytest.mark.parametrize(("given", "message"), [
    ({"kind": "paths"}, "there is no figure 'paths'; figures: path_lengths"),
    ({"engines": ["opensm:lash"]}, "there is no engine 'opensm:lash'; engines: application"),
    ({"engines": []}, "nothing to draw"), ({"networks": []}, "nothing to draw"),
    ({"layers": []}, "nothing to draw"), ({"layers": [0]}, "layers: 0 is out of range; 1 to 128"),
    ({"layers": [2**32]}, "layers"), ({"layers": ["4"]}, "no whole number"),
    ({"seed": -1}, "seed: -1"), ({"networks": ["nothing:n=3"]}, "nothing"),
])
def test_what_cannot_be_drawn_is_refused(given, message):
    with pytest.raises(RefusalError, match=message):
        fl.figure(**{"kind": "disjoint_paths", "networks": ["slim_fly:q=3,p=1"], **given})


@pytest.mark.parametrize("kind", KINDS)
def test_bars_share_out_every_panel(found, kind):
    """Bars of one series do not overlap, and have the share of the rows in their range."""
    rows = cases(found[kind])
    chart = figures.spec(found[kind])
    drawn = defaultdict(list)
    for panels in chart["vconcat"]:
        for bar in panels["data"]["values"]:
            name = panels["title"]["text"]
            drawn[name, bar["engine"], bar["layers"], bar["series"]].append(bar)
    for (name, engine, layers, _series), panel in drawn.items():
        assert sum(bar["share"] for bar in panel) == pytest.approx(1)
        panel.sort(key=lambda bar: bar["low"])
        assert all(a["high"] <= b["low"] + 1e-9 for a, b in itertools.pairwise(panel))
        if kind == "path_distribution":
            own = rows[name, engine, layers]
            for bar in panel:
                inside = [r for r in own if bar["low"] <= r["routes"] / layers < bar["high"]]
                assert bar["share"] == pytest.approx(sum(r["share"] for r in inside))
    assert len(drawn) == len(rows) * (2 if kind == "path_lengths" else 1)


def test_the_command_draws_prints_and_repeats(tmp_path):
    words = ["disjoint_paths", "-n", "slim_fly:q=3,p=1", "--layers", "2,4", "--seed", 1]
    said = document("figure", *words, "-o", "a.svg", cwd=tmp_path)
    same = fl.figure("disjoint_paths", ["slim_fly:q=3,p=1"], layers=[2, 4], seed=1)
    assert said == json.loads(json.dumps(same.to_dict()))
    for name in ("b.svg", "c.png", "d.html"):
        done = flyloom("figure", *words, "-o", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"written to {name}" in done.stdout and "fatpaths" in done.stdout
    read = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert read["a.svg"] == read["b.svg"]
    texts = "".join(ElementTree.fromstring(read["a.svg"]).itertext())
    for word in (*ENGINES, "2 layers", "4 layers", "disjoint paths", "slim_fly:q=3,p=1"):
        assert word in texts, word
    assert read["c.png"].startswith(b"\x89PNG")
    page = read["d.html"].decode()
    assert "<svg" in page and "Link-disjoint paths" in page and "http" not in page.replace(
        "http://www.w3.org/", "")
    other = document("figure", *words[:-1], 2)
    assert other["rows"] != said["rows"]


@pytest.mark.parametrize(("words", "message"), [
    (["disjoint_paths", "-o", "a.gif"], ".svg, .png, .pdf, .html"),
    (["disjoint_paths", "--layers", "many"], "'many' is no number of layers"),
    (["disjoint_paths", "--layers", "99999999999"], "no number of layers"),
    (["disjoint_paths", "--layers", "129"], "1 to 128"),
    (["disjoint_paths", "--engines", ","], "nothing to draw"),
    (["everything"], "there is no figure 'everything'"),
])
def test_the_command_refuses(words, message, tmp_path):
    done = flyloom("figure", *words, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr
    assert not list(tmp_path.iterdir())


def test_throughput_is_that_of_the_verb():
    net = "slim_fly:q=3,p=1"
    found = fl.figure("throughput", [net], engines=["layered", "dfsssp"], layers=[1, 2], seed=2)
    assert len(found.rows) == 4
    for row in found.rows:
        options = {"seed": 2} if row.engine == "layered" else {}
        alone = fl.throughput(net, "elephant", engine=row.engine, layers=row.layers, max_lanes=15,
                              seed=2, engine_options=options)
        assert row.throughput == pytest.approx(alone.maximum_achievable_throughput)
    lines = figures.spec(found)
    assert [v["throughput"] for v in lines["data"]["values"]] == [r.throughput for r in found.rows]
