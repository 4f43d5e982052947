"""Networks with other names, numbers and ports are recognised, whole and with faults."""

from __future__ import annotations

import json
import random
from collections import Counter

import flyloom as fl
import pytest
from cli_helpers import flyloom

MEMBERS = [
    "bcube:n=3,k=2", "bdf:u=3,p=2", "benes:n=4", "bundlefly:q=3,paley=5,p=1", "clos:n=2,m=3,r=4",
    "complete:n=9,p=2", "de_bruijn:d=2,n=4,p=1", "kautz:d=2,n=4,p=1", "delorme:q=2,p=1",
    "dln:n=24,x=3,y=2,seed=5,p=1", "dragonfly:h=2", "dragonfly:p=1,a=4,h=3,g=6",
    "dragonfly:p=1,a=4,h=3,g=6,arrangement=circulant",
    "fat_tree:leaves=12,spines=6,parallel=3,p=17",
    "fat_tree:levels=3,k=6", "fat_tree:levels=3,k=6,oversubscription=2",
    "fat_tree:levels=3,k=8,pods=5", "fit_fly:q=3,p=2", "flattened_butterfly:k=4,n=4,p=3",
    "galaxyfly:n=4,q=3,p=2", "folded_hypercube:n=5,p=1", "hypercube:n=6,p=2",
    "hyperx:shape=4x6,p=3", "hyperx:shape=4x3,k=1x2,p=2", "jellyfish:n=20,k=4,seed=7,p=1",
    "k_ary_n_fly:k=3,n=3", "k_ary_n_tree:k=3,n=3", "long_hop:n=4,p=1",
    "megafly:leaves=3,spines=2,p=2,h=3,g=4",
    "multi_plane:planes=2,of=fat_tree:leaves=4,spines=2,p=3", "polar_fly:q=5,p=3",
    "polarstar:q=2,paley=5,p=1", "polarstar:q=2,iq=3,p=1", "ring:n=9,p=2", "slim_fly:q=5,p=4",
    "slim_fly:q=4,p=2", "star:n=7,p=2", "mesh:shape=5x4,p=1", "torus:shape=5x4x3,p=1",
    "tree:arity=3,levels=3,p=1", "xgft:m=2x3x2,w=1x2x2", "xpander:d=4,lift=5,seed=3,p=1",
]


def relabelled(document: dict, seed: int) -> dict:
    """The same network under other names and numbers, with the cables in other ports."""
    draw = random.Random(seed)
    count = len(document["switches"])
    new = draw.sample(range(count), count)
    used: Counter = Counter()
    for link in document["links"]:
        used.update([link[0], link[2]])
    for endpoint in document["endpoints"]:
        used.update(rail[0] for rail in endpoint["rails"])
    free = {s: draw.sample(range(1, n + 1), n) for s, n in used.items()}
    links = [[new[a], free[a].pop(), new[b], free[b].pop(), None]
             for a, _, b, _, *_ in draw.sample(document["links"], len(document["links"]))]
    endpoints = []
    for endpoint in draw.sample(document["endpoints"], len(document["endpoints"])):
        rails = [[new[rail[0]], free[rail[0]].pop(), *rail[2:]] for rail in endpoint["rails"]]
        endpoints.append({"name": f"n{draw.getrandbits(40):010x}", "guid": None, "rails": rails})
    plane = {new[s]: row["plane"] for s, row in enumerate(document["switches"])}
    switches = [{"name": f"sw{i}", "guid": None, "lid": None, "ports": 0, "plane": plane[i],
                 "group": 0, "level": 0, "coordinates": [], "up": True} for i in range(count)]
    for s, n in used.items():
        switches[new[s]]["ports"] = n
    recipe = {"family": "file", "params": {"path": "x", "format": "json"}}
    return {"flyloom": 1, "recipe": recipe, "switches": switches, "links": links,
            "endpoints": endpoints}


def read(document: dict) -> fl.Topology:
    return fl.Topology.from_text(json.dumps(document), "x")


def document_of(network: str) -> dict:
    return json.loads(fl.network(network).to_text("json"))


def cables(topology: fl.Topology, names: dict[str, str] | None = None) -> Counter:
    """The cables between switches, and the endpoints of switches, under these names."""
    own = topology.switch_names
    called = [names[name] if names else name for name in own]
    table, ends = topology.link_table, topology.terminal_table
    found = Counter(
        tuple(sorted((called[a], called[b])))
        for a, b in zip(table["a_switch"].tolist(), table["b_switch"].tolist(), strict=True)
    )
    found.update(("endpoint", called[s]) for s in ends["switch"].tolist())
    return found


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("network", MEMBERS)
def test_a_member_of_every_family_is_recognised(network, seed):
    given = read(relabelled(document_of(network), seed))
    found = fl.identify(given).members
    assert [member["differences"] for member in found] == [0], [m["words"] for m in found]
    # the names that it gives the switches make its cables those of the member that it names
    names = dict(found[0]["switches"])
    assert sorted(names.values()) == sorted(fl.network(found[0]["network"]).switch_names)
    assert cables(given, names) == cables(fl.network(found[0]["network"]))
    for other in found[0]["also"]:
        same = fl.network(other)
        assert (same.switches, same.links, same.endpoints) == (
            given.switches, given.links, given.endpoints)


def test_every_family_is_tried():
    from flyloom._core import registry

    families = {part["name"] for part in registry() if part["kind"] == "topology"}
    assert families == {network.partition(":")[0] for network in MEMBERS}


def swap(document: dict, one: int, other: int) -> None:
    """Exchanges the second plugs of two links."""
    a, b = document["links"][one], document["links"][other]
    a[2:4], b[2:4] = b[2:4], a[2:4]


FAULTY = ["fat_tree:leaves=12,spines=6,parallel=3,p=17", "fat_tree:levels=3,k=8",
          "slim_fly:q=5,p=4", "slim_fly:q=7,p=3", "torus:shape=6x5x4,p=1", "dragonfly:h=2",
          "hyperx:shape=6x7,p=4"]


@pytest.mark.parametrize("network", FAULTY)
def test_a_missing_cable_and_swapped_ones_are_found(network):
    document = document_of(network)
    draw = random.Random(5)
    links = document["links"]
    while True:
        lost, one, other = draw.sample(range(len(links)), 3)
        if len({*links[one][:4:2], *links[other][:4:2]}) == 4:  # they share no switch
            break
    swap(document, one, other)
    del document["links"][lost]
    found = fl.identify(read(relabelled(document, 3))).members[0]
    assert found["family"] == network.partition(":")[0]
    assert fl.network(found["network"]).links == fl.network(network).links
    assert found["differences"] <= 2, found["words"]
    assert len(found["missing_cables"]) == len(found["swapped_cables"]) == 1


@pytest.mark.parametrize("network", [n for n in FAULTY if not n.startswith("fat_tree")])
def test_a_dead_switch_is_one_difference(network):
    whole = fl.network(network)
    fabric = fl.Topology.from_text(
        whole.with_failures(switches=[1]).to_text("netlist"), "ibnetdiscover")
    found = fl.identify(read(relabelled(json.loads(fabric.to_text("json")), 4))).members[0]
    assert found["family"] == network.partition(":")[0]
    assert fl.network(found["network"]).links == whole.links
    assert found["differences"] == len(found["missing_switches"]) == 1, found["words"]


def test_what_is_missing_and_extra_is_said(tmp_path):
    document = document_of("fat_tree:leaves=12,spines=6,parallel=3,p=17")
    swap(document, 0, 60)
    del document["links"][100]
    del document["endpoints"][7]
    renamed = [f"leaf{i:02}" if i < 12 else f"spine{i - 12}" for i in range(18)]
    for switch, name in zip(document["switches"], renamed, strict=True):
        switch["name"] = name
    document["recipe"] = {"family": "file", "params": {"path": "x", "format": "json"}}
    file = tmp_path / "fabric.json"
    file.write_text(json.dumps(document))
    done = flyloom("identify", file)
    assert done.returncode == 0
    assert ("this is fat_tree:leaves=12,spines=6,parallel=3,p=17 less one cable and one endpoint"
            " and with two cables swapped") in done.stdout
    a, _, b, _ = document["links"][0][:4]
    c, _, d, _ = document["links"][59 if len(document["links"]) < 60 else 60][:4]
    swapped = {frozenset((renamed[a], renamed[b])), frozenset((renamed[c], renamed[d]))}
    line = next(x for x in done.stdout.splitlines() if x.startswith("swapped cables "))
    one, other = line.removeprefix("swapped cables ").split(" and ")
    assert {frozenset(one.split(" - ")), frozenset(other.split(" - "))} == swapped
    assert "missing endpoints at leaf00: 1" in done.stdout
    assert document_missing(done.stdout) == 1
    listed = json.loads(flyloom("identify", file, "--json", "--top", "2").stdout)["members"]
    assert len(listed) <= 2 and listed[0]["differences"] == 3


def document_missing(text: str) -> int:
    """How many missing cables are listed."""
    return sum(line.startswith("missing cable ") for line in text.splitlines())


def test_what_is_near_to_no_family_is_none(tmp_path):
    draw = random.Random(3)
    pairs = {(a, draw.randrange(a)) for a in range(1, 40)}
    pairs |= {tuple(draw.sample(range(40), 2)) for _ in range(60)}
    odd = fl.from_pairs(sorted((max(p), min(p)) for p in pairs), p=1)
    assert fl.identify(odd).members == []
    (tmp_path / "odd.json").write_text(odd.to_text("json"))
    done = flyloom("identify", tmp_path / "odd.json")
    assert done.returncode == 1 and "no family has a member that is near" in done.stdout


def test_the_planned_network_in_other_ports_is_said_to_be_that(tmp_path):
    """Where the plan's ports are not the fabric's, the cables are nowhere as planned: the refusal
    says why, and for another plan it does not."""
    network = "fat_tree:leaves=6,spines=4,parallel=2,p=5"
    other = read(relabelled(document_of(network), 1))
    text = other.to_text("netlist").replace("2f10", "af10").replace("2f20", "af20")  # own GUIDs
    (tmp_path / "found.txt").write_text(text)
    done = flyloom("verify-cables", f"{network},gbps=200", tmp_path / "found.txt")
    assert done.returncode == 2, done.stdout
    assert f"this is {network}: the planned network, with its cables in other ports" in done.stderr
    done = flyloom("verify-cables", "fat_tree:leaves=8,spines=4,p=5", tmp_path / "found.txt")
    assert done.returncode == 2, done.stdout
    assert f"this is {network}" in done.stderr and "other ports" not in done.stderr
