"""Cost and power: bills by hand, the published tables cell by cell, budgets and fronts."""

from __future__ import annotations

import json

import flyloom as fl
import pytest
from cli_helpers import flyloom
from flyloom.published.cost import STUDY_FLOOR, cost_table, prints_as, scale_table
from flyloom.verbs.comparison import FRONT
from flyloom.verbs.prices import one_basis
from flyloom.verbs.ranking import front
from hypothesis import given, settings
from hypothesis import strategies as st

# --- the command -----------------------------------------------------------------------------


def reckon(*words: str) -> dict:
    done = flyloom("cost", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_names_that_scripts_rely_on(tmp_path):
    (tmp_path / "study.toml").write_text('endpoints = "beside"\nrow_pitch_m = 1.0\n')
    found = reckon("slim_fly:q=5,p=4", "--catalog", "fdr10-2014", "--include", "network",
                   "--rules", str(tmp_path / "study.toml"))
    # 50 switches of 11 ports, 75 cables inside racks, 100 between them on a floor of 3 + 2 racks
    switches = 50 * (350.4 * 11 - 892.3)
    electric = 75 * 40 * (0.4079 + 0.5771)
    distances = [1] * 5 + [2] * 4 + [3]  # Manhattan, of the ten pairs; ten cables each
    optical = sum(10 * 40 * (0.0919 * (2 + d) + 7.2745) for d in distances)
    assert found["cost_usd"] == pytest.approx(switches + electric + optical)
    assert found["cost_usd_per_endpoint"] == pytest.approx(found["cost_usd"] / 200)
    assert found["power_w_per_endpoint"] == pytest.approx(50 * 11 * 2.8 / 200)
    assert (found["cables_electric"], found["cables_optical"]) == (75, 100)
    assert found["switches_usd"] == pytest.approx(switches)
    assert sum(line["usd"] for line in found["lines"] if line["counted"]) == pytest.approx(
        found["cost_usd"])
    assert found["network_usd"] == pytest.approx(found["cost_usd"])
    assert found["adapters_usd"] is None  # the study has no price
    assert found["energy_usd_per_year"] == pytest.approx(50 * 11 * 2.8 / 1000 * 8760 * 0.1)


@pytest.mark.parametrize(("net", "usd", "watts", "electric", "optical"), [
    ("slim_fly:q=19,p=15", 1033, 8.02, 6669, 19**3),
    ("dragonfly:h=7", 1342, 10.8, 9009, 4900),
    ("dragonfly:h=11", 1438, 10.9, 56133, 29524),
    ("flattened_butterfly:k=10,n=4", 1535, None, 4500, 10000),
    ("flattened_butterfly:k=12,n=4", 1570, None, 9504, 20736),
])
def test_paper_mode_prints_what_the_study_printed(net, usd, watts, electric, optical):
    found = reckon(net, "--mode", "paper", "--catalog", "fdr10-2014")
    assert usd in (int(found["cost_usd_per_endpoint"]), round(found["cost_usd_per_endpoint"]))
    assert watts is None or found["power_w_per_endpoint"] == pytest.approx(watts, abs=0.05)
    assert (found["cables_electric"], found["cables_optical"]) == (electric, optical)


def test_like_for_like_slim_fly_is_a_fifth_cheaper_than_dragonfly():
    slim_fly, small, large = (
        fl.cost(
            net, "fdr10-2014", include="network", rules=STUDY_FLOOR
        ).cost_usd_per_endpoint
        for net in ("slim_fly:q=19,p=15", "dragonfly:h=7", "dragonfly:h=11")
    )
    assert 0.17 < 1 - slim_fly / small < 0.23
    assert 0.17 < 1 - slim_fly / large < 0.23


@pytest.mark.parametrize(("words", "said"), [
    (("slim_fly:q=5", "--catalog", "nowhere"), "fdr10-2014"),
    (("slim_fly:q=5", "--catalog", "nowhere.toml"), "nowhere.toml"),
    (("slim_fly:q=5", "--mode", "half"), "true, paper"),
    (("torus:shape=4x4", "--mode", "paper"), "no rule for torus"),
    (("slim_fly:q=5", "--mode", "paper", "--catalog", "ndr64-2024"), "fdr10-2014"),
    (("slim_fly:q=5", "--gbps", "-1"), "gbps"),
    (("slim_fly:q=5", "--include", "fans"), "network, endpoint_cables, adapters, energy"),
    (("slim_fly:q=5", "--include", ","), "nothing is counted"),
    (("slim_fly:q=5", "--include", "energy"), "network, energy"),
    (("slim_fly:q=5", "--catalog", "edr36-2024", "--include", "adapters"), "edr36-2024 has no"),
    (("slim_fly:q=5", "--catalog", "edr36-2024", "--catalog", "x.toml"), "edr36-2024 and x.toml"),
    (("slim_fly:q=5", "--mode", "paper", "--include", "network"), "fdr10-2014 alone"),
    (("slim_fly:q=5", "--catalog", "products-2026", "--gbps", "200"), "200 Gbit/s"),
    (("slim_fly:q=64,p=48", "--catalog", "edr36-2024"), "no switch of 144 ports"),
])
def test_what_cannot_be_priced_is_refused_in_one_line(words, said):
    done = flyloom("cost", *words)
    assert done.returncode == 2
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_catalogue_of_ones_own(tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(flyloom("catalog", "show", "edr36-2024").stdout)
    assert flyloom("catalog", "check", str(mine)).returncode == 0
    assert reckon("slim_fly:q=5,p=4", "--catalog", str(mine))["cost_usd"] == pytest.approx(
        50 * 16500 + 175 * 675 + 200 * 190)
    broken = tmp_path / "broken.toml"
    broken.write_text(mine.read_text().replace("ports = 36", 'ports = "many"'))
    line = next(n for n, text in enumerate(broken.read_text().splitlines(), 1) if "many" in text)
    done = flyloom("catalog", "check", str(broken))
    assert done.returncode == 2
    assert f"{broken}: line {line}: " in done.stderr
    broken.write_text("x = " + "[" * 100_000)
    done = flyloom("catalog", "check", str(broken))
    assert done.returncode == 2 and "broken.toml: line 1" in done.stderr
    listed = json.loads(flyloom("catalog", "list", "--json").stdout)
    assert {"fdr10-2014", "galaxyfly-2016", "products-2026"} <= {c["name"] for c in listed}


def test_every_catalogue_counts_the_same_and_says_what_it_does_not(tmp_path):
    names = [c["name"] for c in json.loads(flyloom("catalog", "list", "--json").stdout)]
    old = tmp_path / "old.toml"  # an old file, which says what it counts
    text = flyloom("catalog", "show", "products-2026").stdout
    old.write_text(text.replace("year = 2026", 'year = 2026\ncounts = ["switches", "nics"]'))
    for name in (*names, str(old)):
        found = reckon("slim_fly:q=5,p=4", "--catalog", name)
        assert found["include"] == ["network", "endpoint_cables"], name
        assert found["cost_usd"] == pytest.approx(
            found["network_usd"] + found["endpoint_cables_usd"])
    said = flyloom("cost", "slim_fly:q=5,p=4").stdout
    assert "products-2026" in said and said.count("(not counted)") == 4  # two lines, two sums
    every = "network,endpoint_cables,adapters,energy"
    found = reckon("slim_fly:q=5,p=4", "--include", every)
    assert found["include"] == every.split(",")
    assert found["adapters_usd"] == 200 * 1920
    assert found["cost_usd"] == pytest.approx(sum(
        found[key] for key in
        ("network_usd", "endpoint_cables_usd", "adapters_usd", "energy_usd_per_year")))
    same = fl.cost("slim_fly:q=5,p=4", include=every.split(","))
    assert same.cost_usd == found["cost_usd"] == fl.measure(
        "slim_fly:q=5,p=4", "cost", include=every.split(","))["cost_usd"]


def test_prices_of_two_bases_do_not_stand_side_by_side(tmp_path):
    built = fl.slim_fly(q=5, p=4)
    (tmp_path / "mine.edges").write_text("0 1\n1 2\n2 0\n")  # 4x HDR where nothing is said
    mine, family = str(tmp_path / "mine.edges"), "slim_fly:q=3,p=2"
    assert reckon(mine, "-p", "2")["basis"].startswith("hdr40-2024 at 200 Gbit/s")
    done = flyloom("compare", family, mine, "--samples", "0")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    for said in ("products-2026 at 400", "hdr40-2024 at 200", family, "mine.edges"):
        assert said in done.stderr
    done = flyloom("compare", family, mine, "--samples", "0", "--gbps", "400", "--json")
    assert json.loads(done.stdout)["basis"] == "products-2026 at 400 Gbit/s: network, " \
        "endpoint_cables"
    two = flyloom("compare", family, "--catalog", "fdr10-2014", "--catalog", "edr36-2024")
    assert two.returncode == 2 and "fdr10-2014 and edr36-2024" in two.stderr
    rows = [{**fl.cost(built, c).to_dict(), "network": n} for n, c in
            (("a", "fdr10-2014"), ("b", "galaxyfly-2016"))]
    assert one_basis(rows[:1] * 2) == rows[0]["basis"]
    assert one_basis([{"network": "c", "basis": None}]) is None
    with pytest.raises(fl.RefusalError, match="size: a .*fdr10-2014 at 40.*b .*galaxyfly-2016"):
        one_basis(rows, "size")


def test_rules_of_the_floor_come_from_a_file(tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text('overhead_m = 4.0\nendpoints = "beside"\nrow_pitch_m = 1.0\n')
    near, far = (
        fl.cost("slim_fly:q=5,p=4", "fdr10-2014", rules=r, include="network")
        for r in (STUDY_FLOOR, rules)
    )
    assert far.cost_usd - near.cost_usd == pytest.approx(100 * 40 * 0.0919 * 2)
    for text, said in (("overhead_m = [", "rules.toml"), ("overhead_m = -1", "toml: overhead_m"),
                       ("racks_units = 3", "toml: rules: unknown field"),
                       ('pitch_m = "wide"', "toml: pitch_m"), ("x = " + "[" * 5000, "rules.toml")):
        rules.write_text(text)
        with pytest.raises(fl.RefusalError, match=said):
            fl.cost("slim_fly:q=5,p=4", rules=rules)


# --- the published tables ----------------------------------------------------------------------


def cells(found) -> dict[tuple[str, str, str], dict]:
    return {(r["table"], r["column"], r["what"]): r for r in found.rows}


def test_the_study_comes_out_but_for_known_slips_and_unknown_rules():
    found = cells(cost_table())
    assert len(found) == 11 * 7
    both = ("radix 43", "10,000 endpoints")
    slips = {(table, "flattened butterfly", "radix") for table in both}
    slips |= {(table, "Slim Fly", "cables_optical") for table in both}
    unknown = {(table, column, "cost_usd_per_endpoint") for table in both
               for column in ("fat tree", "random")}
    unknown |= {(table, "random", f"cables_{kind}") for table in both
                for kind in ("electric", "optical")}
    unknown |= {(table, "flattened butterfly", "power_w_per_endpoint") for table in both}
    unknown |= {("10,000 endpoints", "fat tree", f"cables_{k}") for k in ("electric", "optical")}
    unknown |= {("10,000 endpoints", "dragonfly of radix 43", what)
                for what in ("cables_electric", "cost_usd_per_endpoint")}
    for key, row in found.items():
        verdict = "printed slip" if key in slips else (
            "rule unknown" if key in unknown else "equal")
        assert row["verdict"] == verdict, key
        assert verdict == "equal" or row["why"], key
        if verdict == "equal":
            assert prints_as(row["printed"], row["paper"]), key
    # the true figures, by their formulae
    slim_fly = {what: found["radix 43", "Slim Fly", what]["true"] for what in (
        "radix", "cables_electric", "cables_optical")}
    assert list(slim_fly.values()) == [44, 3610 + 361, 6498]
    assert found["radix 43", "dragonfly", "cables_optical"]["true"] == 243 * 242 // 2


def test_the_deployment_table_comes_out_but_for_what_no_price_fits():
    found = cells(scale_table())
    assert len(found) == 20 * 5
    odd = {("2048 nodes", "FT2-B", "links"): "printed slip",
           ("40 ports", "FT3", "cost_musd"): "rule unknown"}
    for key, row in found.items():
        assert row["verdict"] == odd.get(key, "equal"), key
    assert found["2048 nodes", "FT2-B", "links"]["paper"] == 43 * 16
    # q = 28 is no field; the largest Slim Fly of 64 ports is that of 27
    assert found["64 ports", "SF", "endpoints"]["true"] == 2 * 27**2 * 21
    for key, row in found.items():  # what is built is what the formula says
        if row["network"] and key[:2] != ("64 ports", "SF") and "cost" not in key[2]:
            assert row["true"] == row["paper"], key


@pytest.mark.parametrize(("printed", "value", "same"), [
    ("8.02", 8.027, True), ("8.03", 8.027, True), ("8.02", 8.031, False), ("1438", 1438.99, True),
    ("45", 44.69, True), ("2.2", 2.25, True), ("2.2", 2.31, False), ("14.0", 14.0, True),
])
def test_a_print_is_rounded_or_cut_off(printed, value, same):
    assert prints_as(printed, value) is same


def test_published_tables_are_commands():
    for table, count in (("cost", 77), ("scale", 100)):
        assert len(json.loads(flyloom("published", table, "--json").stdout)["rows"]) == count
    assert "59 equal" in flyloom("published", "cost").stdout


# --- budgets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("usd", [600_000, 1_000_000, 5_000_000, 30_000_000])
def test_a_budget_buys_the_largest_slim_fly(usd):
    prime_powers = [3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27]
    affordable = []
    for q in prime_powers:
        k = (3 * q + {0: 0, 1: -1, 3: 1}[q % 4]) // 2
        net = f"slim_fly:q={q},p={-(-k // 2)}"
        if k + -(-k // 2) <= 64 and fl.cost(net).cost_usd <= usd:
            affordable.append((2 * q * q * -(-k // 2), net))
    (row,) = fl.budget(usd, radix=64, families=["slim_fly"]).rows
    assert row.largest.network == max(affordable)[1]
    assert row.largest.cost_usd <= usd


def test_every_family_stays_within_a_budget():
    usd = 400_000
    found = fl.budget(usd, radix=32, families=["dragonfly", "hyperx", "fat_tree", "jellyfish"])
    assert {row.family for row in found.rows if row.largest} == {
        "dragonfly", "hyperx", "fat_tree", "jellyfish"}
    for row in found.rows:
        if row.largest:
            assert row.largest.cost_usd == pytest.approx(fl.cost(row.largest.network).cost_usd)
            assert row.largest.cost_usd <= usd
            larger = fl.size(row.largest.endpoints + 1, radix=32, families=[row.family]).members
            assert all(m.cost_usd > usd for m in larger if m.kind == row.kind)
    poor = fl.budget(10, radix=32, families=["slim_fly"]).rows
    assert poor[0].largest is None


@pytest.mark.parametrize("words", [
    (), ("--budget", "-3"), ("--budget", "nan"),
    ("--endpoints", "100", "--no-prices", "--catalog", "fdr10-2014"),
])
def test_a_size_is_asked_for_by_numbers(words):
    done = flyloom("size", *words)
    assert done.returncode == 2 and done.stderr


# --- fronts ----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * len(FRONT)), max_size=12))
def test_the_front_is_what_nothing_dominates(points):
    rows = [dict(zip([key for key, _ in FRONT], point, strict=True)) for point in points]
    found = front(rows, FRONT)
    for mine, on_front in zip(points, found, strict=True):
        beaten = any(
            all(x >= y if more else x <= y
                for x, y, (_, more) in zip(other, mine, FRONT, strict=True)) and other != mine
            for other in points
        )
        assert on_front is (not beaten)


def test_networks_near_a_size_are_compared_with_their_prices(tmp_path):
    done = flyloom("compare", "slim_fly", "hyperx", "fat_tree", "--endpoints", "200", "--radix",
                   "16", "--samples", "0", "-o", str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "compare.json").read_text())
    assert len(found["rows"]) >= 3
    for row in found["rows"]:
        assert row["endpoints"] >= 200
        assert row["cost_usd_per_endpoint"] == pytest.approx(
            fl.cost(row["network"]).cost_usd_per_endpoint)
    assert any(row["pareto"] for row in found["rows"])
    assert (tmp_path / "pareto.svg").exists() and (tmp_path / "pareto.png").exists()
    with pytest.raises(fl.RefusalError, match="carries 100,000 endpoints"):
        fl.compare(["complete"], endpoints=100_000, radix=64)


@pytest.mark.parametrize("table", ["cost", "fit-fly"])
def test_published_networks_come_without_notes_on_what_they_could_be(table):
    """The dragonfly of 45 groups leaves global ports free, which is said of a user's own."""
    done = flyloom("published", table)
    assert done.returncode == 0 and done.stderr == ""
    assert "have no link" in flyloom("design", "dragonfly:p=11,a=22,h=11,g=45").stderr


# --- where a network is bought -------------------------------------------------------------------

RAILS = "multi_plane:planes=8,of=fat_tree:leaves=4,spines=2,parallel=16,p=32"


def test_a_server_is_an_option_of_every_command_that_lays_out(tmp_path):
    """32 nodes stand with their 8 leaves: 4 boxes of 8 U above these, 5 in each other rack."""
    racks = 4 * (1 + -(-28 // 5)) + 1
    assert reckon(RAILS, "--server", "dgx_h100")["racks"] == racks
    shop = fl.shop(server="dgx_h100")
    assert len(fl.plan(RAILS, catalog=shop).racks) == racks
    folder = fl.cables("multi_plane:planes=2,of=complete:n=3,p=2", tmp_path / "w", catalog=shop)
    assert folder.racks == fl.cost("multi_plane:planes=2,of=complete:n=3,p=2", shop).racks
    high = fl.shop(server="2u")  # twice the units: more racks, longer cables
    for found in (fl.size(200, radix=32, families=["slim_fly"], catalog=high).members,
                  fl.budget(3e6, radix=32, families=["slim_fly"], catalog=high).members,
                  fl.compare(["slim_fly:q=5,p=4"], samples=0, catalog=high).rows):
        for row in found:
            assert row["cost_usd"] == fl.cost(row["network"], rules={"server": "2u"}).cost_usd
            assert row["cost_usd"] != fl.cost(row["network"]).cost_usd
    for words, said in (
        (("size", "-n", "99", "--server", "dgx_h100", "--no-prices"), "--server"),
        (("cost", RAILS, "--server", "dgx"), "no server 'dgx'; 1u, 2u"),
    ):
        done = flyloom(*words)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_a_shop_is_changed_by_what_is_given_beside_it():
    shop = fl.shop("edr36-2024")
    net = "slim_fly:q=5,p=4"
    assert fl.cost(net, shop) == fl.cost(net, "edr36-2024")
    assert fl.cost(net, shop, include="network").include == ["network"]
    assert fl.cost(net, fl.shop("products-2026"), gbps=400).link_gbps == 400
    with pytest.raises(fl.RefusalError, match="server: beside a shop"):
        fl.shop(shop, server="2u")
    with pytest.raises(fl.RefusalError, match="no price of adapters"):
        fl.cost(net, shop, include="adapters")
    with pytest.raises(fl.RefusalError, match="gbps: 0e0 is out of range"):
        fl.cost(net, shop, gbps=0.0)


# --- energy, spares, ranges ----------------------------------------------------------------------


def test_years_of_energy_are_watts_times_hours_times_price():
    net = "slim_fly:q=5,p=4"
    words = ("--energy-years", "4.5", "--usd-per-kwh", "0.2", "--pue", "1.5")
    plain, found = reckon(net), reckon(net, *words)
    kwh = plain["power_w"] / 1000 * 8760 * 1.5
    assert found["energy_kwh_per_year"] == pytest.approx(kwh)
    assert found["energy_usd_per_year"] == pytest.approx(kwh * 0.2)
    assert found["energy_usd"] == pytest.approx(kwh * 0.2 * 4.5)
    assert found["cost_usd"] == pytest.approx(plain["cost_usd"] + kwh * 0.2 * 4.5)
    assert found["include"] == [*plain["include"], "energy"]
    assert found["basis"] == plain["basis"] + ", energy of 4.5 years at 0.2 $/kWh and PUE 1.5"
    # a price alone counts nothing
    priced = reckon(net, "--usd-per-kwh", "0.2", "--pue", "1.5")
    assert (priced["cost_usd"], priced["basis"]) == (plain["cost_usd"], plain["basis"])
    assert priced["energy_usd"] == pytest.approx(kwh * 0.2)
    year = reckon(net, "--energy-years", "1")
    counted = reckon(net, "--include", "network,endpoint_cables,energy")
    assert year["cost_usd"] == counted["cost_usd"]
    with pytest.raises(fl.RefusalError, match="edr36-2024 has no price of energy"):
        fl.shop("edr36-2024", pue=1.2)
    with pytest.raises(fl.RefusalError, match="edr36-2024 does not say the power of these switch"):
        fl.cost(net, fl.shop("edr36-2024", usd_per_kwh=0.1, energy_years=2))
    mine = fl.shop("ndr64-2024", usd_per_kwh=0.1, energy_years=2)
    assert fl.cost(net, mine).energy_usd == pytest.approx(
        2 * 0.1 * 8.760 * fl.cost(net, mine).power_w)
    for name, value in (("energy_years", -1), ("usd_per_kwh", float("nan")), ("pue", 0.9),
                        ("spare", 1.5), ("pue", "much")):
        with pytest.raises(fl.RefusalError, match=name):
            fl.shop(**{name: value})


@pytest.mark.parametrize("net", ["slim_fly:q=5,p=4", "fat_tree:leaves=12,spines=6,parallel=3,p=18"])
def test_spares_are_those_of_the_order_of_cables(net, tmp_path):
    plain = fl.cost(net)
    found = fl.cost(net, fl.shop(spare=0.03))
    order = fl.cables(net, tmp_path / "w", spare=0.03)
    lines = {line.id: line for line in found.lines if line.part == "spares"}
    cables = [lines.pop(f"{kind} cables") for kind in ("electric", "optical")]
    assert sum(line.count for line in cables) == order.buy - order.cables
    per_row = sum(row.cost_usd * row.spares / row.buy for row in order.order)
    assert sum(line.usd for line in cables) == pytest.approx(per_row, abs=0.05)
    (switch,) = lines.values()
    assert switch.count == -(-3 * plain.switches // 100)
    each = plain.switches_usd / plain.switches
    assert found.spares_usd == pytest.approx(per_row + each * switch.count, abs=0.05)
    assert found.cost_usd == pytest.approx(plain.cost_usd + found.spares_usd)
    assert found.power_w == plain.power_w and found.network_usd == plain.network_usd
    assert found.basis == f"{plain.basis}, 3 % of spares"
    alone = fl.cost(net, fl.shop(spare=0.03), include="adapters")
    assert [line.id for line in alone.lines if line.part == "spares"] == ["cx7_ndr400"]
    assert fl.cost(net, fl.shop(spare=0.0)).to_dict() == plain.to_dict()


def test_lowest_and_highest_prices_stand_beside_each_price():
    """Both ends of every price are summed here from the lines of the bill."""
    for row in (*fl.size(200, radix=32, families=["slim_fly", "fat_tree"]).members,
                *fl.budget(1e6, radix=32, families=["slim_fly"]).members,
                *fl.compare(["slim_fly:q=5,p=4"], samples=0).rows):
        lines = [line for line in fl.cost(row["network"]).lines if line.counted]
        for end in ("", "_low", "_high"):
            total = sum(line[f"usd{end}"] for line in lines)
            assert row[f"cost_usd{end}"] == pytest.approx(total)
            each = total / row["endpoints"]
            assert row[f"cost_usd_per_endpoint{end}"] == pytest.approx(each)
        assert row["cost_usd_low"] < row["cost_usd"] < row["cost_usd_high"]
    said = flyloom("size", "-n", "200", "--families", "slim_fly", "--sort", "$ high").stdout
    assert "$ low" in said and "$ high" in said


# --- quotations ----------------------------------------------------------------------------------

QUOTED = """\
part;Unit Price;Qty;kind;gbps;length (m);links;length_m;currency
QM9700;$24,500.00;45;;;;;;USD
MMA4Z00;900;125;transceiver;400;;2;50;USD
MFP7E10;80;;fibre;;;;50;USD
MCP4Y10-N001;200;50;electric;400;;2;1;USD
SUPPORT-3Y;9000;1;;;;;;USD
"""


def test_a_quotation_prices_what_it_names_and_nothing_else(tmp_path):
    """50 switches, 50 links of 1 m and 125 longer ones, 200 endpoints 1 m away: by hand."""
    file = tmp_path / "q.csv"
    file.write_text("\ufeff" + QUOTED)
    found = reckon("slim_fly:q=5,p=4", "--quotation", str(file))
    links = 50 * 200 / 2 + 125 * (2 * 900 / 2 + 80)
    assert found["network_usd"] == pytest.approx(50 * 24_500 + links)
    assert found["endpoint_cables_usd"] == pytest.approx(200 * 200 / 2)
    assert found["cost_usd_low"] == found["cost_usd"] == found["cost_usd_high"]
    assert found["adapters_usd"] is None and found["catalog"] == "q.csv"
    assert found["basis"].startswith("q.csv at 400 Gbit/s")
    assert found["notes"] == [
        "q.csv: 250 of MCP4Y10-N001 are needed, 100 are quoted",
        "q.csv: 50 of qm9700 are needed, 45 are quoted",
        "q.csv: line 6: 'SUPPORT-3Y' is no part of a network",
    ]
    shop = fl.shop(quotation=file)
    for row in fl.size(200, radix=32, families=["slim_fly"], catalog=shop).members:
        assert row["cost_usd"] == fl.cost(row["network"], shop).cost_usd


@pytest.mark.parametrize(("taken_away", "gap"), [
    (("QM9700",), "no price of 50 switches of 11 ports at 400 Gbit/s (as qm9700)"),
    (("MFP7E10",), "of 125 cables between switches of up to "),
    (("MCP4Y10", "MMA4Z00"),
     "of 200 cables of endpoints of up to 1 m at 400 Gbit/s (as 2x400g_osfp_dac_half)"),
])
def test_what_a_quotation_lacks_is_refused_by_name_and_number(taken_away, gap, tmp_path):
    file = tmp_path / "q.csv"
    lines = QUOTED.splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not line.startswith(taken_away)))
    done = flyloom("cost", "slim_fly:q=5,p=4", "--quotation", str(file))
    assert done.returncode == 2 and gap in done.stderr and done.stderr.count("\n") == 1
    file.write_text("part,unit_price\nmpo_trunk,5\n")
    done = flyloom("cost", "slim_fly:q=5,p=4", "--quotation", str(file),
                   "--include", "network,endpoint_cables,adapters")
    for what in ("50 switches", "125 cables between switches", "200 cables of endpoints",
                 "200 adapters at 400 Gbit/s (as cx7_ndr400)"):
        assert what in done.stderr


@pytest.mark.parametrize(("text", "said"), [
    ("", "no line below its headings"), ("part,unit_price\n", "no line below its headings"),
    ("name,cost\nqm9700,3\n", "there is no column 'part'"),
    ("part,price\nqm9700,many\n", "line 2: unit_price: 'many' is no amount"),
    ("part,price\nqm9700,-3\n", "'-3' is no amount"),
    ("part,price,currency\nqm9700,3,EUR\n", "line 2: currency: 'EUR', but the catalogue is in USD"),
    ("part,price\nqm9700,3\n\nqm9700,4\n", "line 4: unit_price: 'qm9700' has two prices"),
    ("part,price,kind\nx,3,router\n", "there is no kind 'router'; switch, electric"),
    ("part,price,kind,gbps\nx,3,switch,400\n", "line 2: ports: missing of switch x"),
])
def test_a_quotation_that_cannot_be_read_is_refused_by_line(text, said, tmp_path):
    (tmp_path / "q.csv").write_text(text)
    with pytest.raises(fl.RefusalError, match="q.csv: .*" + said):
        fl.shop(quotation=tmp_path / "q.csv")
