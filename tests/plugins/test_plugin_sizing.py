"""Users' topologies in sizing and comparison: the same members as those of a built-in family."""

from __future__ import annotations

import flyloom as fl
import pytest
from cli_helpers import document
from flyloom import RefusalError
from flyloom.plugins.found import load_file
from plugin_helpers import forgotten

__all__ = ["forgotten"]

NETS = '''\
import flyloom as fl
import networkx as nx


@fl.topology(members=[{"q": q} for q in (4, 5, 7, 8, 9, 11)])
def my_fly(q: int):
    """Slim Flies, again."""
    return [tuple(edge) for edge in fl.slim_fly(q=q, p=1).edges.tolist()]


@fl.topology(members=({"n": n} for n in range(3, 9)))
def my_star(n: int = 5):
    """Stars of switches: the hub carries nothing."""
    graph = nx.star_graph(n)
    nx.set_node_attributes(graph, {0: 0}, "endpoints")
    return graph


@fl.topology
def no_members(n: int = 5) -> list[tuple[int, int]]:
    """Sizing gets none."""
    return [(i, i + 1) for i in range(n - 1)]
'''


@pytest.fixture
def nets(tmp_path):
    path = tmp_path / "nets.py"
    path.write_text(NETS)
    return path


@pytest.mark.parametrize("rule", [
    {"concentration": "ceil"}, {"concentration": "floor"}, {"concentration": "exact"},
    {"concentration": "exact", "oversubscription": 2.0},
])
@pytest.mark.parametrize("endpoints", [200, 400, 1000])
def test_the_members_are_those_of_the_built_in_family(nets, rule, endpoints):
    load_file(nets)
    (mine,) = fl.size(endpoints, families=["my_fly"], **rule).rows
    (theirs,) = fl.size(endpoints, families=["slim_fly"], **rule).rows
    assert mine["family"] == "my_fly"
    for side in ("below", "above"):
        one, other = mine[side].to_dict(), theirs[side].to_dict()
        q, p = other["params"]["q"], one["concentration"]
        assert one.pop("network") == f"my_fly:q={q},p={p:.0f}"
        assert (one.pop("family"), one.pop("params")) == ("my_fly", {"q": q, "p": p})
        for key in ("family", "params", "network", "measured"):
            other.pop(key)
        one.pop("measured")
        assert one == other
        assert fl.network(mine[side]["network"]).endpoints == mine[side]["endpoints"]


def test_members_whose_switches_carry_what_they_carry(nets):
    load_file(nets)
    (row,) = fl.size(6, families=["my_star"]).rows
    assert row["below"] == row["above"] and row["below"]["network"] == "my_star:n=6"
    assert row["below"]["diameter"] == [2, 2] and row["below"]["moore_fraction"] is None
    found = fl.scale([6], families=["my_star", "no_such"][:1]).rows
    assert [row["largest"]["network"] for row in found] == ["my_star:n=6"]


def test_all_families_are_those_of_users_too_but_without_members(nets):
    load_file(nets)
    families = {row["family"] for row in fl.size(300, radix=24).rows}
    assert {"my_fly", "slim_fly"} <= families and "no_members" not in families
    with pytest.raises(RefusalError, match="families: no_members says of no members; @flyloom"):
        fl.size(300, families=["no_members"])
    with pytest.raises(RefusalError, match="there is no family 'none_such'"):
        fl.size(300, families=["my_fly", "none_such"])


def test_comparisons_have_its_member_and_its_curves(nets):
    said = document("compare", "my_fly", "--endpoints", 200, "--samples", 0, "--plugin", nets)
    (row,) = said["rows"]
    assert row["network"] == "my_fly:q=5,p=4" and row["diameter"] == 2
    assert {curve["family"] for curve in said["curves"]} == {"my_fly"}
    said = document("size", "--endpoints", 200, "--families", "my_fly", "--plugin", nets)
    assert said["rows"][0]["below"]["network"] == "my_fly:q=5,p=4"


def test_what_a_budget_buys(nets):
    load_file(nets)
    (mine,) = fl.budget(5_000_000, families=["my_fly"]).rows
    (theirs,) = fl.budget(5_000_000, families=["slim_fly"]).rows
    assert mine["largest"]["params"]["q"] == theirs["largest"]["params"]["q"]
