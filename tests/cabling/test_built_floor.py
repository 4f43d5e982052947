"""Floors that can be built: ten plans reckoned again, and every family's servers seated."""

from __future__ import annotations

import json
import tomllib

import flyloom as fl
import pytest
from cli_helpers import flyloom
from flyloom import _core
from oracle_floor import Reckoned

FILE = json.dumps({
    "flyloom": 1, "recipe": {"family": "file", "params": {}},
    "switches": [{"name": f"s{i}", "group": i // 3} for i in range(9)],
    "links": [[i, 0, (i + step) % 9, 0, None] for i in range(9) for step in (1, 2)],
    "endpoints": [{"name": f"h{i}", "rails": [[i % 9, 0], [(i + 4) % 9, 0]]} for i in range(150)],
})
ALL = ["network", "endpoint_cables", "adapters", "energy"]
EIGHT = {"server_units": 8, "endpoints_per_server": 8}

PLANS = {  # name: network, rules, catalogue given, rate given, items, catalogue and rate expected
    "default": ("slim_fly:q=5,p=4", {}, None, None, None, "products-2026", 400),
    "as it was built": ("slim_fly:q=5,p=4", {"endpoints_per_unit": 2}, "fdr10-2014", None,
                        ["network"], "fdr10-2014", 40),
    "rows": ("dragonfly:h=3", {"endpoints": "rows", "slack_m": 0.5}, "hdr40-2024", None, None,
             "hdr40-2024", 200),
    "pods": ("fat_tree:levels=3,k=8", {"rack_units": 24}, "edr36-2024", None, None, "edr36-2024",
             100),
    "power": ("torus:shape=6x5x4,p=2", {"server": "2u4n", "rack_kw": 12.0, "pitch_m": 0.6,
                                        "row_pitch_m": 2.4}, None, None, ALL, "products-2026", 400),
    "eight GPUs": ("hyperx:shape=4x4,p=16", {"server": "dgx_h100", "rack_kw": 45.0}, None, None,
                   ALL, "products-2026", 400),
    "rails of a server": (
        "multi_plane:planes=8,of=fat_tree:leaves=4,spines=2,parallel=16,p=32",
        {"server": "dgx_h100", "rack_kw": 45.0, "endpoints": "rows"}, None, None, None,
        "products-2026", 400),
    "planes": ("multi_plane:planes=2,of=slim_fly:q=3,p=7", {"slack_fraction": 0.1}, None, None,
               ["network", "adapters"], "products-2026", 400),
    "sixty a switch": ("jellyfish:n=14,k=4,p=60", {}, None, 800, None, "products-2026", 800),
    "a file": (FILE, {"server_units": 2}, None, None, None, "hdr40-2024", 200),
    "eight units in rows": ("slim_fly:q=4,p=11", {**EIGHT, "endpoints": "rows"}, "galaxyfly-2016",
                            100, None, "galaxyfly-2016", 100),
    "a study": ("ring:n=12,p=50", {"endpoints": "beside", "rack_units": 5, "racks_per_row": 2},
                "fdr10-2014", None, ["network", "energy"], "fdr10-2014", 40),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_and_its_bill_are_reckoned_again(name):
    net, rules, catalog, gbps, items, named, rate = PLANS[name]
    network = fl.Topology.from_text(net, "file") if net == FILE else fl.network(net)
    plan = fl.plan(network, rules, catalog=catalog, gbps=gbps).to_dict()
    bill = fl.cost(network, catalog, rules=rules, gbps=gbps, include=items).to_dict()
    assert plan["catalog"] == bill["catalog"] == named
    assert bill["include"] == (items or ["network", "endpoint_cables"])
    toml = tomllib.loads(flyloom("catalog", "show", named).stdout)
    mine = Reckoned(json.loads(network.to_text("json")), rules, toml, rate)
    mine.check_floor(plan)
    mine.check_bill(bill, mine.check_cables(plan), len(plan["racks"]))
    assert bool(plan["warnings"]) == (rules.get("endpoints") == "beside")
    assert fl.plan(network, rules, catalog=catalog, gbps=gbps).to_dict() == plan
    # the rules as the plan says them in full make the same plan
    assert fl.plan(network, plan["rules"], catalog=catalog, gbps=gbps).to_dict() == plan


@pytest.mark.parametrize("endpoints", ["in", "rows"])
def test_every_family_has_all_servers_seated(endpoints):
    toml = tomllib.loads(flyloom("catalog", "show", "fdr10-2014").stdout)
    parts = [part for part in _core.registry() if part["kind"] == "topology"]
    assert len(parts) > 30
    for part in parts:
        for net in part["examples"]:
            network = fl.network(net)
            rules = {"endpoints": endpoints, "server_units": 2, "endpoints_per_server": 3}
            plan = fl.plan(network, rules, catalog="fdr10-2014").to_dict()
            Reckoned(json.loads(network.to_text("json")), rules, toml, 40).check_floor(plan)


def test_a_seeded_fault_is_found():
    network = fl.network("slim_fly:q=5,p=4")
    toml = tomllib.loads(flyloom("catalog", "show", "products-2026").stdout)
    mine = Reckoned(json.loads(network.to_text("json")), {}, toml, 400)
    plan = fl.plan(network).to_dict()
    for harm in (
        lambda p: p["endpoints"][7].update(unit=p["endpoints"][8]["unit"]),
        lambda p: p["endpoints"][7].update(unit=43),
        lambda p: p["switches"][7].update(rack=0),
        lambda p: p["racks"][2].update(units=41),
    ):
        harmed = json.loads(json.dumps(plan))
        harm(harmed)
        with pytest.raises(AssertionError):
            mine.check_floor(harmed)


def test_the_figures_of_ten_thousand_servers():
    """A switch and 15 servers are 16 units, two of them a rack: 722 switches take 361."""
    plan = fl.plan("slim_fly:q=19,p=15")
    assert len(plan.racks) == 361 == 722 * 16 // 32
    assert {rack["units"] for rack in plan.racks} == {32}
    assert max(rack["row"] for rack in plan.racks) == 18


@pytest.mark.parametrize(("rules", "said"), [
    ({"server": "dgx"}, "server: catalogue products-2026 has no server 'dgx'; 1u, 2u, 2u4n"),
    ({"server": "2u4n", "server_units": 1}, "server_units: 1, but the server 2u4n has 2"),
    ({"server": "2u4n", "endpoints_per_unit": 4}, "endpoints_per_unit: 4, but a server has 2"),
    ({"server_units": 2, "endpoints_per_unit": 2}, "endpoints_per_unit: 2, but a server has 2"),
    ({"server_units": 43}, "server_units: a server of 43 units does not fit; at most rack_units"),
    ({"rack_kw": 5.0, "server": "dgx_h100"}, "rack_kw: a server of 8 endpoints draws 10200 W"),
    ({"rack_kw": 0.5}, "rack_kw: a switch draws 750 W"),
    ({"endpoints": "under"}, "there is no 'under', only in, rows, beside"),
    ({"pitch_m": 600.0}, "link-.* from R0.-U.* to R0.-U.*: .*no cable of .* optical to 500 m"),
])
def test_what_cannot_stand_is_refused_in_one_line(rules, said):
    with pytest.raises(fl.RefusalError, match=said) as refusal:
        fl.plan("slim_fly:q=5,p=4", rules)
    assert "\n" not in str(refusal.value)


def test_a_catalogue_without_servers_says_so():
    with pytest.raises(fl.RefusalError, match="edr36-2024 has no server '1u'; it has none"):
        fl.plan("slim_fly:q=5,p=4", {"server": "1u"}, catalog="edr36-2024")


def test_warnings_are_in_the_record_and_on_the_command_line(tmp_path):
    (tmp_path / "r.toml").write_text('endpoints = "beside"\nrack_kw = 30.0\n')
    for verb in ("plan", "cost"):
        words = (verb, "slim_fly:q=5,p=4", "--rules", str(tmp_path / "r.toml"))
        found = json.loads(flyloom(*words, "--json").stdout)["warnings"]
        lines = [line for line in flyloom(*words).stdout.splitlines()
                 if line.startswith("warning: ")]
        assert lines == [f"warning: {warning}" for warning in found]
        assert len(found) == 1 and "not seated" in found[0]
    (tmp_path / "r.toml").write_text('endpoints = "fit"\n')  # the default's name before
    old = fl.plan("slim_fly:q=5,p=4", tmp_path / "r.toml")
    assert old == fl.plan("slim_fly:q=5,p=4") and old.rules["endpoints"] == "in"
