"""Sizing: nearest members, largest members, the address table, against formulae and brute force."""

import csv
import io
import json
from fractions import Fraction

import flyloom as fl
import pytest
from cli_helpers import flyloom
from flyloom.published.addresses import ADDRESS_TABLE
from flyloom.support.checks import count
from flyloom.verbs.ranking import front


def prime_power(n):
    """Whether n is a power of one prime, by trial division."""
    factors, p = set(), 2
    while n > 1:
        while n % p == 0:
            factors.add(p)
            n //= p
        p += 1
    return len(factors) == 1


def slim_flies(radix, rule):
    """Endpoints by q of all Slim Flies that fit, from the published formulae alone."""
    found = {}
    for q in range(3, 200):
        if q % 4 == 2 or not prime_power(q):
            continue
        k = (3 * q - {0: 0, 1: 1, 3: -1}[q % 4]) // 2
        n = 2 * q * q
        p = {
            "ceil": -(-k // 2), "floor": k // 2,
            "exact": int(Fraction(k * n, 2 * n - k - 2)),
        }[rule]
        if k + p <= radix:
            found[q] = n * p
    return found


@pytest.mark.parametrize("rule", ["ceil", "floor", "exact"])
@pytest.mark.parametrize("radix", [11, 36, 44, 64, 200])
def test_slim_fly_nearest_is_the_nearest_of_all(rule, radix):
    all_sizes = slim_flies(radix, rule).values()
    for wanted in (1, 100, 199, 200, 201, 3000, 10_000, 40_000, 900_000):
        found = fl.size(wanted, radix=radix, concentration=rule, families=["slim_fly"],
                        prices=False).rows
        row = found[0] if found else {"below": None, "above": None}
        below = max((n for n in all_sizes if n <= wanted), default=None)
        above = min((n for n in all_sizes if n >= wanted), default=None)
        assert (row["below"] and row["below"]["endpoints"]) == below, (wanted, row)
        assert (row["above"] and row["above"]["endpoints"]) == above, (wanted, row)


def test_concentration_rules():
    def p(q, rule):
        n = 2 * q * q
        rows = fl.size(n * 3 * q // 4, radix=200, concentration=rule, families="slim_fly",
                       prices=False).rows
        both = [c for c in (rows[0]["below"], rows[0]["above"]) if c["params"]["q"] == q]
        return both[0]["params"]["p"]

    # k' = 12, 12 * 128 / 242 = 6.35; k' = 19, 19 * 338 / 655 = 9.80; k' = 29, 29 * 722 / 1413
    assert [p(8, r) for r in ("ceil", "floor", "exact")] == [6, 6, 6]
    assert [p(13, r) for r in ("ceil", "floor", "exact")] == [10, 9, 9]
    assert [p(19, r) for r in ("ceil", "floor", "exact")] == [15, 14, 14]


def test_fat_trees_and_hyperx_by_brute_force():
    for radix in (8, 20, 36, 40, 64):
        rows = {row["kind"]: row["largest"] for row in
                fl.scale([radix], families=["fat_tree"]).rows}
        assert rows["3 levels"]["endpoints"] == radix ** 3 // 4
        assert rows["2 levels"]["endpoints"] == radix ** 2 // 2
        flat = {row["kind"]: row["largest"] for row in fl.scale([radix], families="hyperx").rows}
        best = max(
            s * t * min(s, radix - (s + t - 2))
            for s in range(2, radix) for t in (s, s + 1) if 10 * (radix - (s + t - 2)) >= 9 * s
        )
        assert flat["2D"]["endpoints"] == best
    # the deployed cluster's paper, Table 4: HX2 of 36, 40 and 64 ports
    for radix, s, p in ((36, 13, 12), (40, 14, 14), (64, 22, 22)):
        flat = {row["kind"]: row["largest"] for row in fl.scale([radix], families="hyperx").rows}
        assert flat["2D"]["params"] == {"shape": [s, s], "p": p}


def test_the_largest_slim_fly_of_108_ports():
    row = fl.scale([108], families=["slim_fly"]).rows[0]["largest"]
    assert (row["params"]["q"], row["endpoints"]) == (47, 159_048)


@pytest.mark.parametrize(("wanted", "radix", "ratio"), [
    (50, 16, 1), (200, 36, 1), (1000, 24, 1), (1000, 64, 2), (3000, 48, 1.5),
])
def test_every_candidate_is_what_it_says(wanted, radix, ratio):
    found = fl.size(wanted, radix=radix, oversubscription=ratio, prices=False)
    assert len({row["family"] for row in found.rows}) >= 5
    for row in found.rows:
        if row["below"]:
            assert row["below"]["endpoints"] <= wanted
        if row["above"]:
            assert row["above"]["endpoints"] >= wanted
        for c in (row["below"], row["above"]):
            if c is None or c["links"] > 60_000:
                continue
            built = fl.structure(c["network"])
            said = [c[key] for key in ("endpoints", "switches", "links", "network_radix", "radix")]
            assert said == [built.endpoints, built.switches, built.links, built.network_radix,
                            built.radix], c["network"]
            assert c["radix"] <= radix
            low, high = c["diameter"]
            assert low <= built.diameter <= high, c["network"]
            low, high = c["mean_distance"]
            assert low - 1e-9 <= built.mean_distance <= high + 1e-9, c["network"]
            if c["moore_fraction"] is not None:
                assert c["moore_fraction"] == pytest.approx(built.moore_fraction), c["network"]


BUILDABLE = {  # q by ports of a switch and addresses: the largest prime powers that the rule allows
    36: {1: 16, 2: 16, 4: 16, 8: 13, 16: 11, 32: 9, 64: 7, 128: 5},
    48: {1: 19, 2: 19, 4: 19, 8: 13, 16: 11, 32: 9, 64: 7, 128: 5},
    64: {1: 27, 2: 25, 4: 19, 8: 13, 16: 11, 32: 9, 64: 7, 128: 5},
}


def test_the_address_table():
    rows = fl.address_table([36, 48, 64]).rows
    assert len(rows) == 24
    for row in rows:
        radix, addresses = row["switch_ports"], row["addresses"]
        paper = row["paper"]
        computed = tuple(
            paper[key] for key in ("switches", "endpoints", "network_radix", "concentration")
        )
        assert computed == ADDRESS_TABLE[radix][addresses], row
        assert paper["exists"] == prime_power(paper["q"])
        assert row["buildable"]["params"]["q"] == BUILDABLE[radix][addresses], row
        sizes = slim_flies(radix, "ceil")
        fitting = [q for q, n in sizes.items() if n * addresses + 2 * q * q <= 0xBFFF]
        assert row["buildable"]["params"]["q"] == max(fitting)


def test_the_address_limit_is_that_of_the_addresses_themselves():
    """The largest network of an LMC gets its LIDs; the next larger one does not."""
    row = next(r for r in fl.address_table([64]).rows if r["lmc"] == 5)
    network = fl.network(row["buildable"]["network"])
    assert network.addresses(5)["lmc"] == 5
    with pytest.raises(fl.RefusalError, match="49151"):
        fl.network("slim_fly:q=11").addresses(5)


def test_other_families_have_address_tables():
    for row in fl.address_table([36], family="fat_tree").rows:
        c = row["buildable"]
        assert c["endpoints"] * row["addresses"] + c["switches"] <= 0xBFFF
        assert row["paper"] is None and row["published"] is None
        built = fl.structure(c["network"])
        assert (built.endpoints, built.switches) == (c["endpoints"], c["switches"])


@pytest.mark.parametrize(("words", "said"), [
    (["size", "--endpoints", "0"], "endpoints: 0 is out of range"),
    (["size", "--endpoints", "10x"], "--endpoints: '10x' is no number; write 10000, 10k"),
    (["size", "--endpoints", "-5"], "--endpoints: '-5' is no number"),
    (["size", "--endpoints", "1e400"], "--endpoints: 1e400 is out of range"),
    (["size", "--endpoints", "1.5"], "--endpoints: 1.5 is no whole number"),
    (["size", "--budget", "nan"], "--budget: 'nan' is no number"),
    (["size", "--budget", "0.1"], "--budget: 0.1 is out of range"),
    (["size", "-n", "9", "--sort", "colour"], "sort: there is no column 'colour'; rank, switch"),
    (["size", "-n", "9", "--top", "0"], "top: 0 is out of range; 1 to"),
    (["size", "-n", "9", "--planes", "65"], "planes: 65 is out of range; 1 to 64"),
    (["size", "-n", "9", "--no-prices", "--gbps", "100"], "--no-prices: not with --gbps"),
    (["size", "--endpoints", "9", "--radix", "1"], "radix: 1 is out of range; 2 to 4096"),
    (["size", "--endpoints", "9", "--oversubscription", "0.5"], "oversubscription: 0.5"),
    (["size", "--endpoints", "9", "--oversubscription", "nan"], "oversubscription"),
    (["size", "--endpoints", "9", "--concentration", "round"], "ceil, floor or exact"),
    (["size", "--endpoints", "9", "--families", "slimfly"], "there is no family 'slimfly'"),
    (["scale", "--radix", "36,x"], "write 36,48,64"), (["scale", "--radix", ""], "radix"),
    (["scale", "--addresses", "--families", "torus,mesh"], "of one family"),
])
def test_bad_wishes_are_refused(words, said):
    done = flyloom(*words)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("text", "means"), [
    ("10000", 10_000), ("10_000", 10_000), ("10k", 10_000), ("20M", 20_000_000), ("2e6", 2_000_000),
    ("1.5M", 1_500_000), ("0.5k", 500), ("1G", 10**9), ("1.25e3", 1250),
])
def test_numbers_are_read_as_people_write_them(text, means):
    assert count("n", text, 1, 1 << 40) == means


def dominated(row, rows, keys):
    """Whether another row is no worse in any figure and better in one; intervals by their end."""
    def value(of, key):
        return of[key][1] if isinstance(of[key], list) else of[key]
    return any(
        all(value(o, k) <= value(row, k) for k in keys)
        and any(value(o, k) < value(row, k) for k in keys) for o in rows
    )


def test_members_are_ranked_by_cost_with_the_front():
    found = fl.size(500, radix=[24, 36], prices=True).to_dict()
    members = found["members"]
    keys = ("cost_usd_per_endpoint", "power_w_per_endpoint", "diameter", "mean_distance")
    with_price = [m for m in members if m["unpriced"] is None]
    assert len(with_price) > 20 and {m["switch_ports"] for m in members} == {24, 36}
    assert [m["rank"] for m in members] == list(range(1, len(members) + 1))
    cost = [m["cost_usd"] for m in with_price]
    assert cost == sorted(cost) and members[:len(with_price)] == with_price
    least = min(m["cost_usd_per_endpoint"] for m in with_price)
    for m in with_price:
        assert m["pareto"] is not dominated(m, with_price, keys), m["network"]
        assert ("cost_usd_per_endpoint" in m["best_in"]) == (m["cost_usd_per_endpoint"] == least)
        assert m["cost_usd_per_endpoint"] == pytest.approx(m["cost_usd"] / m["endpoints"])
        assert m["endpoints"] >= 500 and m["radix"] <= m["switch_ports"]
    one = with_price[-1]
    alone = fl.cost(one["network"])
    assert (one["cost_usd"], found["basis"]) == (alone.cost_usd, alone.basis)


def test_every_column_sorts_and_top_cuts():
    whole = fl.size(300, radix=36, prices=False).to_dict()["members"]
    by = fl.size(300, radix=36, sort="links", top=5, prices=False).to_dict()
    least = sorted(whole, key=lambda m: m["links"])[:5]
    assert [m["links"] for m in by["members"]] == [m["links"] for m in least]
    assert by["sorted_by"] == ["links"]
    # without prices: the shortest diameter, then most endpoints
    order = [(m["diameter"][1], m["diameter"][0], -m["endpoints"]) for m in whole]
    assert order == sorted(order)
    by = fl.size(300, radix=36, sort="Moore", prices=False).to_dict()["members"]
    moore = [m["moore_fraction"] for m in by if m["moore_fraction"] is not None]
    assert moore == sorted(moore, reverse=True)
    assert all(m["moore_fraction"] is None for m in by[len(moore):])


@pytest.mark.parametrize("planes", [2, 5])
def test_planes_count_endpoints_once_and_switches_each_time(planes):
    names = ["slim_fly", "fat_tree", "torus", "kautz"]
    one = fl.size(400, radix=24, families=names, prices=False).rows
    all_ = fl.size(400, radix=24, families=names, planes=planes, prices=False).rows
    assert [(r["family"], r["kind"]) for r in one] == [(r["family"], r["kind"]) for r in all_]
    for a, b in zip(one, all_, strict=True):
        for side in ("below", "above"):
            if not a[side]:
                continue
            for key in ("switches", "links"):
                assert b[side][key] == planes * a[side][key]
            for key in ("endpoints", "radix", "diameter", "mean_distance", "moore_fraction",
                        "full_bandwidth_concentration", "concentration", "family"):
                assert b[side][key] == a[side][key], key
    slim = next(r for r in all_ if r["family"] == "slim_fly")["below"]
    built = fl.structure(slim["network"])
    assert (built.planes, built.switches, built.endpoints, built.links) == \
        (planes, slim["switches"], slim["endpoints"], slim["links"])
    assert built.terminals == planes * slim["endpoints"]
    # a family that has planes by itself is given this number, not a multiple
    fit = fl.size(400, radix=24, families="fit_fly", planes=planes, prices=False).rows[0]["below"]
    assert fl.structure(fit["network"]).planes == planes == fit["planes"]
    assert fl.structure(fit["network"]).switches == fit["switches"]


def test_twenty_million_endpoints_are_formulae():
    found = fl.size(20_000_000, radix=256, families=["slim_fly", "fat_tree", "dragonfly"],
                    prices=True)
    tree = next(r for r in found.rows if r["kind"] == "3 levels")["below"]
    assert tree["endpoints"] == 256 ** 3 // 4
    assert any("more than 1,048,576 endpoints" in m["unpriced"] for m in found.members)


def test_csv_is_what_json_says(tmp_path):
    words = ("size", "-n", "300", "--radix", "24", "--families", "slim_fly,torus,fat_tree")
    members = json.loads(flyloom(*words, "--json").stdout)["members"]
    done = flyloom(*words, "--csv", tmp_path / "a.csv")
    assert "slim_fly" in done.stdout
    text = (tmp_path / "a.csv").read_text()
    assert flyloom(*words, "--csv", "-").stdout == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(members)
    for row, member in zip(rows, members, strict=True):
        for key, value in member.items():
            if key in ("diameter", "mean_distance"):
                assert [float(row[f"{key}_low"]), float(row[f"{key}_high"])] == value
            elif key == "params":
                assert json.loads(row[key]) == value
            elif key in ("best_in", "also"):
                assert row[key].split() == value
            else:
                assert row[key] == ("" if value is None else str(value)), key


def test_commands_print_and_give_json():
    done = flyloom("size", "--endpoints", "10k", "--radix", "64", "--no-prices", "--json")
    rows = json.loads(done.stdout)["rows"]
    slim = next(row for row in rows if row["family"] == "slim_fly")
    assert slim["above"]["network"] == "slim_fly:q=19,p=15"
    shown = flyloom("size", "--endpoints", "10000", "--radix", "64", "--no-prices").stdout
    # 722 switches of 14 endpoints carry 10,108, as many as are needed
    assert "slim_fly:q=19,p=14" in shown and "far dearer than the cheapest" in shown
    table = flyloom("scale", "--addresses").stdout
    assert table.count("as printed") == 10 and table.count("exists") == 14


def test_an_interval_counts_as_its_far_end():
    """A value between 1 and 5 counts as 5 and one between 2 and 4 as 4: the second is ahead."""
    rows = [{"x": [1, 5]}, {"x": [2, 4]}]
    assert front(rows, [("x", False)]) == [False, True]
    assert front(rows, [("x", True)]) == [True, False]
