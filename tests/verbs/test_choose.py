"""Choosing a network: every number against the verb that gives it, scores by hand, both pages."""

import io
import json
import math
import random

import browser
import flyloom as fl
import pypdf
import pytest
from cli_helpers import flyloom
from flyloom.report import choice_page
from flyloom.report.choice import pages
from flyloom.verbs import choosing
from flyloom.verbs.candidate_lanes import TREES, lanes_of
from flyloom.verbs.scoring import CRITERIA


def needs():
    draw = random.Random(7)
    for _ in range(20):
        budget = draw.choice([None, 2e6, 6e6])
        yield draw.randint(30, 700), draw.choice([16, 24, 36, 64]), budget, draw.choice([None, 2])


@pytest.mark.parametrize(("endpoints", "radix", "budget", "planes"), [*needs()])
def test_every_number_is_that_of_its_verb(endpoints, radix, budget, planes):
    asked = {"radix": radix, "planes": planes, "budget": budget}
    try:
        found = fl.choose(endpoints, **asked, candidates=3)
    except fl.RefusalError as refusal:
        assert "carries" in str(refusal) or "fits" in str(refusal)
        assert not fl.size(endpoints, **asked, oversubscription=[1, 2]).members
        return
    sized = fl.size(endpoints, **asked, oversubscription=[1, 2]).members
    members = {m["network"]: m for m in sorted(sized, key=lambda m: -m["oversubscription"])}
    for row in found.candidates:
        name = row["network"]
        assert row["cost_usd"] == members[name]["cost_usd"]
        assert row["oversubscription"] == members[name]["oversubscription"]
        assert row["endpoints"] >= endpoints and row["radix"] + row["free_ports"] == radix
        bill = fl.cost(name)
        for key in ("cost_usd", "cost_usd_low", "cost_usd_high", "power_w", "racks",
                    "cables_electric", "cables_optical", "basis"):
            assert row[key] == bill[key], key
        whole = fl.structure(name, bisection=True, load=True)
        assert row["bisection_high"] == whole.bisection["high"]
        assert row["relative_bisection"] == pytest.approx(
            whole.bisection["high"] / (whole.endpoints / 2))
        limits = fl.traffic_limits(name, gbps=bill.link_gbps)
        for key in ("uniform_minimal", "worst_case_minimal", "worst_case_adaptive",
                    "allreduce_adaptive_ns", "alltoall_ns", "zero_load_ns"):
            assert row[key] == limits[key], key
        net = fl.network(name)
        lost = net.with_failures(random=max(1, round(0.05 * len(net.edges))), seed=0)
        left = fl.structure(lost, load=True)
        kept = 0.0 if left.unreachable else min(
            1.0, left.channel_load["uniform_saturation"] / limits.uniform_minimal)
        assert row["kept_5_percent"] == pytest.approx(kept)
        check_lanes(net, row)


def check_lanes(net, row):
    """The lanes of a row are those of the tables that its engine makes, which are proved."""
    options = {} if row["lane_method"] is None else {"lanes": row["lane_method"]}
    routing = fl.route(net, row["engine"], **options)
    proof = fl.verify(routing)
    assert proof.holds and routing.lanes == proof.lanes == row["lanes_minimal"], row


ROUTED = (
    "slim_fly:q=5,p=4", "hyperx:shape=8x4x2,k=1x2x4,p=16", "hyperx:shape=1,p=20",
    "complete:n=9,p=8",
    "dragonfly:h=3", "megafly:leaves=8,spines=4,p=12,h=8,g=16", "jellyfish:n=60,k=8,p=4",
    "xpander:d=8,lift=9,p=8", "dln:n=120,y=6,p=4", "torus:shape=4x4,p=2",
    "torus:shape=3x3x3x2x2x2,p=2", "polarstar:q=5,iq=3,p=2", "bundlefly:q=5,paley=5,p=2",
    "kautz:d=8,n=2,p=4", "de_bruijn:d=8,n=2,p=4", "long_hop:n=5,code=16-5-8,p=4",
    "flattened_butterfly:k=5,n=3,p=4", "galaxyfly:n=1,q=25,a=1,p=4",
    "multi_plane:planes=2,of=dln:n=42,y=10,p=12",
    "fat_tree:leaves=12,spines=6,parallel=3,p=18", "clos:n=20,m=10,r=15",
    "xgft:m=10x7x3,w=1x5x2,parallel=1x1x4", "k_ary_n_tree:k=4,n=3", "torus:shape=20,p=2",
)


@pytest.mark.parametrize("name", ROUTED)
def test_lanes_are_those_of_the_engine(name):
    net = fl.network(name)
    diameter = fl.structure(net).diameter
    family = net.family if net.family != "multi_plane" else "dln"
    routed, by_rule = (lanes_of(net, family, diameter, routed=routed) for routed in (True, False))
    assert routed["lanes_by"] == "routes"
    check_lanes(net, routed)
    if by_rule["lanes_by"] == "routes":
        assert diameter > 8
        return
    assert by_rule["lanes_minimal"] == (1 if family in TREES else max(1, diameter))
    if diameter <= 3 or family in TREES:
        # a lane for each hop is enough, and where one is enough the engine takes one
        method = {} if family in TREES else {"lanes": "hops"}
        tables = fl.route(net, by_rule["engine"], **method)
        assert fl.verify(tables).holds
        assert routed["lanes_minimal"] <= tables.lanes <= by_rule["lanes_minimal"]


@pytest.mark.parametrize("name", ["slim_fly:q=3,p=2", "dragonfly:h=2", "hyperx:shape=3x3x2,p=2"])
def test_adaptive_routes_take_two_lanes_a_hop(name):
    lanes = lanes_of(fl.network(name), name.partition(":")[0], fl.structure(name).diameter,
                     routed=False)["lanes_adaptive"]

    def run(channels):
        return fl.simulate(name, "packet", traffic="uniform", selection="ugal_l", load=0.1,
                           lane_use="hops", switch={"virtual_channels": channels})

    assert run(lanes).points[0]["accepted_load"] > 0
    with pytest.raises(fl.RefusalError):
        run(lanes - 1)


def test_what_is_simulated_is_routed(monkeypatch):
    monkeypatch.setattr(choosing, "MOST_ROUTED", 0)
    asked = {"radix": 16, "candidates": 5, "families": ["dln", "jellyfish", "xpander"]}
    by_rule = fl.choose(200, **asked).candidates
    assert {row["lanes_by"] for row in by_rule} == {"rule"}
    found = fl.choose(200, **asked, simulate=True).candidates
    assert [row["lanes_by"] for row in found] == ["routes"] * 3 + ["rule"] * 2
    # some of these networks of diameter 3 need two lanes alone
    assert any(a["lanes_minimal"] < b["lanes_minimal"]
               for a, b in zip(found, by_rule, strict=True))
    for row in found:
        check_lanes(fl.network(row["network"]), row)


@pytest.fixture(scope="module")
def found():
    return fl.choose(400, budget=4e6, radix=32, candidates=5)


def score(row, rows, weights):
    """The score of a row by its definition, in logarithms."""
    total = 0.0
    for name, criterion in CRITERIA.items():
        figures = [row_[criterion.key] for row_ in rows]
        mine = row[criterion.key]
        if figures.count(None) == len(figures):
            continue  # no catalogue says it
        if criterion.key in ("uniform_minimal", "worst_case_adaptive"):
            figures, mine = [min(f, 1.0) for f in figures], min(mine, 1.0)
        quotient = mine / max(figures) if criterion.more else min(figures) / mine
        total += weights[name] * math.log(max(quotient, 1e-3)) if quotient else 0
    return math.exp(total)


def test_scores_are_products_of_quotients(found):
    assert [row["rank"] for row in found.candidates][:3] == [1, 2, 3]
    scores = [row["score"] for row in found.candidates]
    assert scores == sorted(scores, reverse=True)
    for row in found.candidates:
        assert row["score"] == pytest.approx(math.prod(row["shares"].values()))
    assert sum(found.weights.values()) == pytest.approx(1)
    # quotients of two rows do not depend on the rows that were measured and not kept
    first, second = found.candidates[:2]
    both = [first, second]
    assert first["score"] / second["score"] == pytest.approx(
        score(first, both, found.weights) / score(second, both, found.weights))


def changed(rows, weights, what, to):
    """Rows and weights where a price or a weight has another value."""
    rows = [dict(row) for row in rows]
    if what == "price":
        rows[1]["cost_usd"] *= to
    elif what in ("switch_price", "optical_price"):
        key = {"switch_price": "switches_usd", "optical_price": "optical_usd"}[what]
        for row in rows:
            row["cost_usd"] += (to - 1) * row[key]
    else:
        left = 1 - weights[what]
        weights = {name: to if name == what else value * (1 - to) / left
                   for name, value in weights.items()}
    return rows, weights


def winner(rows, weights):
    """The network of the highest score, by its definition."""
    return max(rows, key=lambda row: score(row, rows, weights))["network"]


@pytest.mark.parametrize("asked", [
    (400, {"budget": 4e6, "radix": 32}), (3000, {"budget": 9e6, "radix": 40, "gbps": 200}),
])
def test_at_a_turning_point_another_network_becomes_the_first(asked):
    """With scores computed anew from the rows: before the point the first stays the first, at all
    of fifty values on the path; behind it the network that is named is the first."""
    endpoints, more = asked
    found = fl.choose(endpoints, candidates=40, **more).to_dict()
    rows, weights = found["candidates"], found["weights"]
    first = rows[0]["network"]
    assert winner(rows, weights) == first
    seen = 0
    for point in found["turning_points"]:
        what, now, at = point["what"], point["now"], point["at"]
        paths = [at] if at is not None else [1e-6, 50.0] if "price" in what else [0.0, 1.0]
        for end in paths:
            for step in range(50):
                on = now + (end - now) * step / 50
                assert winner(*changed(rows, weights, what, on)) == first, (what, on)
        if at is not None:
            behind = at + 1e-6 * (at - now)
            assert winner(*changed(rows, weights, what, behind)) == point["network"], what
            seen += 1
    assert seen >= 1


def test_weights_decide():
    def best(**weights):
        nothing = dict.fromkeys(CRITERIA, 0.0)
        return fl.choose(300, radix=32, weights={**nothing, **weights}, candidates=20)

    cheap, wide = best(cost=1.0), best(worst_case=1.0)
    rows = cheap.candidates
    assert rows[0]["cost_usd"] == min(row["cost_usd"] for row in rows)
    capped = [min(row["worst_case_adaptive"], 1.0) for row in wide.candidates]
    assert capped[0] == max(capped)


def test_the_order_does_not_depend_on_threads(monkeypatch):
    one = fl.choose(200, radix=24, candidates=4)
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
    again = fl.choose(200, radix=24, candidates=4)
    assert one.to_dict() == again.to_dict()


@pytest.mark.parametrize(("endpoints", "asked"), [
    (400, {"budget": 4e6, "radix": 32}), (60, {"radix": 16}), (3000, {"candidates": 12}),
    (2, {}), (40, {"families": ["complete", "slim_fly"]}), (5, {"radix": 4}),
])
def test_two_pages_hold_all_that_is_written(endpoints, asked):
    found = fl.choose(endpoints, **asked)
    assert len(pages(found)) == 2
    for end in choice_page.ends_of(found):
        assert end <= choice_page.BOTTOM_PT
    read = pypdf.PdfReader(io.BytesIO(choice_page.pdf_bytes(found)))
    assert len(read.pages) == 2
    text = read.pages[0].extract_text()
    assert found.candidates[0]["network"] in text and f"{endpoints:,} endpoints" in text
    html = choice_page.html(found)
    for row in found.candidates:
        assert row["network"] in html


@browser.NEEDS
@pytest.mark.parametrize("paper", ["A4", "letter"])
def test_the_page_prints_on_two_sheets(tmp_path, found, paper):
    text = choice_page.html(found).replace("@page{", f"@page{{size:{paper};")
    (tmp_path / "choice.html").write_text(text)
    browser.printed(tmp_path / "choice.html", tmp_path / "choice.pdf")
    read = pypdf.PdfReader(tmp_path / "choice.pdf")
    assert len(read.pages) == 2
    assert "The answer" in read.pages[0].extract_text()
    assert "Risks" in read.pages[1].extract_text()


def test_at_other_rates_bills_are_those_of_the_rate(found):
    for each in found.other_rates:
        assert each["gbps"] in (200, 800)
        assert each["cost_usd"] == fl.cost(each["network"], gbps=each["gbps"]).cost_usd


def test_a_need_is_a_file(tmp_path):
    need = tmp_path / "need.toml"
    need.write_text('[choose]\nendpoints = 300\nbudget = "2M"\nradix = 32\n'
                    "weights = { worst_case = 0.5 }\n")
    done = flyloom("choose", need, "-o", tmp_path / "out", "--json")
    given = json.loads(done.stdout)
    assert (given["endpoints"], given["budget_usd"], given["radix"]) == (300, 2e6, 32)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "SHA256SUMS", "choice.csv", "choice.html", "choice.json", "choice.pdf"]
    asked = fl.choose(300, budget="2M", radix=32, weights={"worst_case": 0.5}).to_dict()
    assert given == json.loads(json.dumps(asked))
    text = flyloom("choose", need, "--radix", "24").stdout
    assert "switches of at most 24 ports" in text and "Money and performance" in text


@pytest.mark.parametrize(("text", "words", "said"), [
    ("[chose]\n", (), "there is no table [choose]"),
    ("[choose]\nradix = 32\n", (), "line 1, column 2: choose: missing field `endpoints`"),
    ("[choose]\nendpoints = 9\nbudgets = 3\n", (),
     "line 3, column 1: choose: unknown field `budgets`, did you mean budget?"),
    ("[choose\n", (), "need.toml"),
    ("[choose]\nendpoints = 'x'\n", (), "endpoints"),
    ("[choose]\nendpoints = 9\nweights = { speed = 1 }\n", (), "there is no 'speed'"),
    ("[choose]\nendpoints = 9\nweights = { cost = -1 }\n", (), "cost=-1 is no weight"),
    (None, ("--weight", "cost"), "'cost' is no weight"),
    (None, ("--endpoints", "500", "--budget", "100"), "no network carries 500 endpoints"),
    (None, (), "give --endpoints, or a file"),
])
def test_bad_needs_are_refused(tmp_path, text, words, said):
    given = []
    if text is not None:
        (tmp_path / "need.toml").write_text(text)
        given = [tmp_path / "need.toml"]
    done = flyloom("choose", *given, *words)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_simulations_carry_what_is_offered_below_the_bound():
    found = fl.choose(60, radix=16, candidates=3, simulate=True)
    assert len(found.simulated) == 2 * min(3, len(found.candidates))
    rows = {row["network"]: row for row in found.candidates}
    for run in found.simulated:
        key = "uniform_minimal" if run["traffic"] == "uniform" else "worst_case_adaptive"
        assert run["bound"] == min(rows[run["network"]][key], 1.0)
        assert run["why"] is None, run
        again = fl.packet(
            run["network"], traffic=run["traffic"], selection=run["selection"],
            load=run["offered_load"], gbps=400, seed=0,
            **({} if run["selection"] == "anca" else {
                "lane_use": "hops",
                "switch": {"virtual_channels": rows[run["network"]]["lanes_adaptive"]}}),
        ).points[0]
        assert (run["accepted_load"], run["p99_latency_ns"]) == (
            again["accepted_load"], again["p99_latency_ns"])
        assert run["accepted_load"] >= 0.8 * run["offered_load"], run
    assert len(choice_page.ends_of(found)) == 2
    assert all(end <= choice_page.BOTTOM_PT for end in choice_page.ends_of(found))
