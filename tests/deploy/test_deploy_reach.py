"""Networks too long for OpenSM are refused before anything starts; all others can be deployed."""

import random
import threading
import types

import flyloom as fl
import networkx
import pytest
from deploy_helpers import needs_fabric
from flyloom.deploy import Ibsim, OpenSM, reach, readback
from flyloom.deploy.fabric import deploy
from flyloom.deploy.live import Live, check_deployable
from patience import QUIET_S


def same(found):
    return found["verified"] and not any(
        found[f"differing_{part}"] for part in ("entries", "sl_entries", "sl2vl_entries"))


@pytest.mark.ib
@needs_fabric
@pytest.mark.parametrize(("net", "engine"), [
    ("ring:n=32,p=1", "dfsssp"), ("mesh:shape=20,p=1", "dfsssp"),
    ("mesh:shape=64,p=1", "min_hop"),  # 63 hops between switches; OpenSM in the middle
    ("ring:n=123,p=1", "dfsssp"),  # 61 hops to the farthest switch
    ("ring:n=16,p=3", "dfsssp"),  # 64 LIDs: dump_fts leaves out the last
])
def test_long_networks_are_deployed(net, engine):
    network = fl.network(net)
    assert same(deploy(fl.route(network, engine), topology=network))


@pytest.mark.ib
@needs_fabric
def test_entries_of_all_blocks_of_a_table_are_read():
    """128 LIDs of each endpoint, 64 in a block: some of every endpoint at every switch."""
    network, draw = fl.network("ring:n=4,p=5"), random.Random(2)
    routing = fl.route(network, "dfsssp", lmc=7)
    at = network.addresses(7)
    asked = [(switch, endpoint, draw.randrange(128))
             for switch in range(4) for endpoint in range(20)]
    queries = [f"ft {at['switch_lid'][switch]} {at['lid'][endpoint] + layer}\n"
               for switch, endpoint, layer in asked]
    with Live(network, 7) as live:
        live.load(routing)
        found = [int(port, 16) for port in readback._ask(live.ibsim, queries, None)]
    assert found == [routing.next[layer, endpoint, switch] for switch, endpoint, layer in asked]


@pytest.mark.parametrize(("net", "words"), [
    ("mesh:shape=65,p=1", "from host-0000 to host-0064 has 64 hops"),
    ("mesh:shape=70,p=1", "from host-0000 to host-0069 has 69 hops"),
    ("ring:n=128,p=1", "from host-0000 to host-0064 has 64 hops"),
    ("ring:n=124,p=1", "to switch ring-62 has 64 hops"),
])
def test_networks_that_are_too_long_are_refused_on_occasion(net, words):
    with pytest.raises(fl.RefusalError, match=words):
        check_deployable(fl.network(net))


def test_a_route_that_is_too_long_is_refused_before_the_start(monkeypatch):
    """On a ring of 80 the tree's routes go the long direction around."""
    network = fl.network("ring:n=80,p=1")
    routing = fl.route(network, "up_down")
    monkeypatch.setattr(Ibsim, "start", lambda self: pytest.fail("it was started"))
    with pytest.raises(fl.RefusalError, match=r"the route from host-\d+ to host-\d+ has \d+ hops"):
        deploy(routing, topology=network)


@pytest.mark.parametrize("spec", [
    "slim_fly:q=5,p=4", "ring:n=40,p=2", "mesh:shape=40,p=1", "mesh:shape=62x2,p=1", "star:n=4,p=3",
])
def test_the_place_to_stand_reaches_all(spec):
    """Against networkx's distances."""
    network = fl.network(spec)
    endpoint, far = reach.stand(network)
    switch = int(network.attachments[endpoint, 0])  # one cable an endpoint
    distance = networkx.single_source_shortest_path_length(fl.to_networkx(network), switch)
    assert far == max(distance.values()) <= 61
    centre = networkx.radius(fl.to_networkx(network))
    first = networkx.eccentricity(fl.to_networkx(network), int(network.attachments[0, 0]))
    assert far == first if first + 2 <= 63 else far == centre


def test_a_dead_first_endpoint_is_not_stood_on():
    network = fl.network("ring:n=5,p=1")
    assert reach.stand(network)[0] == 0
    assert reach.stand(network.with_failures([], [0]))[0] == 1


@pytest.mark.ib
@needs_fabric
def test_a_fault_beyond_what_ibsim_carries_is_seen():
    """24 switches from OpenSM: what the switch reports of it is lost."""
    network = fl.network("mesh:shape=30,p=1")
    with Live(network) as live:
        live.load(fl.route(network, "min_hop"))
        mark = live.opensm.mark()
        live.ibsim.unlink(live.endpoint_id(29), 1)
        live.settle(QUIET_S)
        assert live.opensm.logged("HEAVY SWEEP|SUBNET UP|Entering.*SWEEP", mark)
        nodes = readback.parse_discover(live.discover())
        assert live.addresses["node_guid"][29] not in nodes


@pytest.mark.parametrize("end", ["SUBNET UP", "Errors during initialization"])
def test_silence_before_a_sweep_is_not_its_end(tmp_path, end):
    """An OpenSM that gets no processor is silent, too."""
    opensm = OpenSM.__new__(OpenSM)
    opensm.dir, opensm.ibsim = tmp_path, types.SimpleNamespace(check=lambda: None)
    opensm.log_path.write_text("SUBNET UP\n")
    (tmp_path / "opensm.out").touch()
    after, silence = opensm.mark(), 0.05
    opensm.wait_quiet(silence)
    assert opensm.mark() == after

    def sweep(words=("Entering heavy sweep\n", end)):
        for place, word in enumerate(words):
            threading.Event().wait((6 - place) * silence)
            with opensm.log_path.open("a") as log:
                log.write(word)

    manager = threading.Thread(target=sweep)
    manager.start()
    opensm.wait_quiet(silence, after=after)
    assert opensm.logged(end, after)
    manager.join()
    with pytest.raises(fl.DeployError, match="was not done in 0.2 s"):
        opensm.wait_quiet(silence, 0.2, after=opensm.mark())
