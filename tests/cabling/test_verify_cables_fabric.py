"""Fabrics on ibsim that are harmed through its console, checked, and repaired move by move."""

import itertools
import json
import random

import flyloom as fl
import pytest
from deploy_helpers import needs_fabric
from flyloom.deploy import Ibsim, readback

pytestmark = [pytest.mark.ib, needs_fabric]

FAT_TREE = "fat_tree:leaves=12,spines=6,parallel=3,p=18"
SPARE_PORTS = 4


class Room:
    """A fabric on ibsim as its cables: what hands do, done through the console.

    Ports are (planned name, number). The book of cables is our own, so that a move that does not
    fit what is plugged in fails here.
    """

    def __init__(self, plan, slow=()):
        document = json.loads(plan.to_text("json"))
        self.names = [s["name"] for s in document["switches"]]
        self.free = {}
        for switch, record in zip(self.names, document["switches"], strict=True):
            used = record["ports"]
            record["ports"] += SPARE_PORTS
            self.free[switch] = list(range(used + 1, used + 1 + SPARE_PORTS))
        addresses = plan.addresses()
        hosts = [e["name"] for e in document["endpoints"]]
        switches = zip(self.names, addresses["switch_guid"], strict=True)
        self.id = {name: f"S-{guid:016x}" for name, guid in switches}
        endpoints = zip(hosts, addresses["node_guid"], strict=True)
        self.id |= {name: f"H-{guid:016x}" for name, guid in endpoints}
        self.links = [
            ((self.names[a], p), (self.names[b], q)) for a, p, b, q, *_ in document["links"]
        ]
        self.cables = {}
        for a, b in self.links:
            self.cables |= {a: b, b: a}
        for host, endpoint in zip(hosts, document["endpoints"], strict=True):
            for r, rail in enumerate(endpoint["rails"]):
                a, b = (host, r + 1), (self.names[rail[0]], rail[1])
                self.cables |= {a: b, b: a}
        self.plan = dict(self.cables)
        for index in slow:
            whole = {"speed": "HDR", "length_m": None, "up": True}
            document["links"][index][4] = {**whole, "width": 1}
        text = fl.Topology.from_text(json.dumps(document), "room").to_text("netlist")
        self.ibsim = Ibsim(text)

    # ---- hands ----

    def unplug(self, a):
        b = self.cables.pop(a)
        del self.cables[b]
        self.ibsim.unlink(self.id[a[0]], a[1])
        return b

    def plug(self, a, b):
        assert a not in self.cables and b not in self.cables
        self.cables |= {a: b, b: a}
        self.ibsim.link(self.id[a[0]], a[1], self.id[b[0]], b[1])

    def swap(self, a, b):
        far_a, far_b = self.unplug(a), self.unplug(b)
        self.plug(a, far_b)
        self.plug(b, far_a)

    def exchange(self, a, b, with_endpoints):
        """The boxes change their places; cables stay where they are, or hosts come along."""
        other = {a: b, b: a}
        moved = {}
        for end, far in list(self.cables.items()):
            if end not in self.cables or not {end[0], far[0]} & other.keys():
                continue
            if with_endpoints and not {end[0], far[0]} <= set(self.names):
                continue
            self.unplug(end)
            moved[other.get(end[0], end[0]), end[1]] = (other.get(far[0], far[0]), far[1])
        for x, y in moved.items():
            self.plug(x, y)

    def obey(self, move):
        ports = [(port["device"], port["port"]) for port in move.get("ports", [])]
        match move["do"]:
            case "add":
                self.plug(*ports)
            case "remove":
                assert self.unplug(ports[0]) == ports[1]
            case "plug":
                self.plug(ports[1], self.unplug(ports[0]))
            case "swap":
                self.swap(*ports)
            case "exchange":
                self.exchange(*move["devices"], move["with_endpoints"])

    # ---- eyes ----

    def check(self, plan, **how):
        found = fl.Topology.from_text(readback.discover(self.ibsim), "ibnetdiscover", None)
        return fl.check_cables(plan, found, **how).to_dict()


def is_switch(room, end):
    return end[0] in set(room.names)


def harm(room, rng, count, slow, links_only=False):
    """Faults without a cable in common; the kinds and numbers of findings they must give."""
    made = {"degraded": len(slow)} if slow else {}
    touched = {end for i in slow for end in room.links[i]}
    touched |= {end for end, far in room.cables.items() if room.names[0] in (end[0], far[0])}

    def pick(links=True):
        ends = sorted(e for e in room.cables if e not in touched and is_switch(room, e)
                      and (not links or is_switch(room, room.cables[e])))
        end = rng.choice(ends)
        touched.update([end, room.cables[end]])
        return end

    def spare():
        switch = rng.choice([n for n in room.names if room.free[n]])
        return switch, room.free[switch].pop()

    for _ in range(count):
        kind = rng.choice(["missing", "swapped", "ring"] if links_only else
                          ["missing", "swapped", "ring", "wrong", "extra", "swapped hosts"])
        if kind == "missing":
            room.unplug(pick())
        elif kind in ("swapped", "ring", "swapped hosts"):
            ends = [pick(kind != "swapped hosts") for _ in range(3 if kind == "ring" else 2)]
            before = [room.cables[e] for e in ends]
            after = before[1:] + before[:1]
            if any(a[0] == b[0] for a, b in zip(ends, after, strict=True)):
                continue  # a cable from a switch to itself
            for a, b in itertools.pairwise(ends):
                room.swap(a, b)
            kind = "swapped"
        elif kind == "wrong":
            end, port = pick(), spare()
            if port[0] == room.cables[end][0]:
                continue
            room.plug(port, room.unplug(end))
            touched.add(port)
        else:
            a, b = spare(), spare()
            if a[0] == b[0]:
                continue
            room.plug(a, b)
            touched.update([a, b])
        made[kind] = made.get(kind, 0) + 1
    return made, touched


def exchange_some(room, rng, touched, with_endpoints):
    """Two alike switches that nothing was done to change places; whether there were two."""
    hurt = {end[0] for end in touched}
    degree = {n: sum(e[0] == n for e in room.plan) for n in room.names}
    kin = {n: sum(e[0] == n and is_switch(room, f) for e, f in room.plan.items())
           for n in room.names}
    calm = [n for n in room.names if n not in hurt and n != room.names[0]]
    rng.shuffle(calm)
    pairs = ((a, b) for i, a in enumerate(calm) for b in calm[:i]
             if (degree[a], kin[a]) == (degree[b], kin[b]))
    pair = next(pairs, None)
    if pair is None:
        return 0
    room.exchange(*pair, with_endpoints)
    touched |= {e for e, f in room.cables.items() if {e[0], f[0]} & set(pair)}
    return 1


def counts(found):
    kinds = [finding["kind"] for finding in found["findings"]]
    return {kind: kinds.count(kind) for kind in set(kinds)}


@pytest.mark.parametrize(
    ("net", "seed", "count"),
    [("slim_fly:q=5,p=4", seed, count) for seed, count in ((1, 4), (2, 12), (3, 16), (4, 16))]
    + [(FAT_TREE, seed, count) for seed, count in ((5, 8), (6, 16), (7, 16))]
    + [("slim_fly:q=9,p=6", seed, 16) for seed in (8, 9)],
)
def test_all_is_found_nothing_invented_and_the_moves_repair_it(net, seed, count):
    rng = random.Random(seed)
    plan = fl.network(net)
    slow = rng.sample(range(30, plan.links), 2)
    room = Room(plan, slow)
    with room.ibsim:
        made, touched = harm(room, rng, count, slow)
        for with_endpoints in (False, True):
            moved = exchange_some(room, rng, touched, with_endpoints)
            made["moved_switch"] = made.get("moved_switch", 0) + moved
        made = {kind: n for kind, n in made.items() if n}
        found = room.check(plan)
        assert counts(found) == made
        assert found["planned"] == sum(
            found[key] for key in ("correct", "degraded", "misplaced", "lost", "unlaid"))
        for finding in found["findings"]:
            assert finding["where"] and finding["mend"] and finding["what"]
            for move in finding["moves"]:
                room.obey(move)
        assert room.cables == room.plan
        left = room.check(plan)
        # hands do not make a narrow cable wide
        assert counts(left) == {"degraded": 2}


def test_cables_alone_tell_a_fabric_whose_guids_nobody_knows():
    """Devices are identified by structure, and each kind of planted fault is found as often as
    made."""
    plan = fl.network("slim_fly:q=5,p=4")
    for seed in range(3):
        rng = random.Random(seed)
        room = Room(plan)
        with room.ibsim:
            made, _ = harm(room, rng, 4, (), links_only=True)
            found = room.check(plan, identify="structure")
            assert counts(found) == made
            assert found["identified"]["by"] == "structure"
            assert found["identified"]["switches"] == 50
