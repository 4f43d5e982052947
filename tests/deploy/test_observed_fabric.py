"""Counters as perfquery and ibqueryerrors print them of a simulated fabric, beside its network."""

from __future__ import annotations

import flyloom as fl
import pytest
from deploy_helpers import needs_fabric
from flyloom.deploy.live import Live

pytestmark = [needs_fabric, pytest.mark.ib]

FAULTS = {"SymbolErrorCounter": 4321, "LinkDownedCounter": 17}


@pytest.fixture(scope="module")
def fabric(tmp_path_factory):
    """What the tools print of a fabric, before and after counters of one port were set."""
    place = tmp_path_factory.mktemp("observed")
    network = fl.network("fat_tree:leaves=4,spines=2,p=3")
    plug = network.link_table["a_switch"][2], network.link_table["a_port"][2]
    switch, port = int(plug[0]), int(plug[1])
    with Live(network, engine="minhop") as live:
        lid = live.addresses["switch_lid"][switch]

        def ask(name: str, *words: str, more: tuple[int, ...] = (0,)) -> None:
            (place / name).write_text(live.ibsim.run(words, ok_codes=more))

        (place / "fabric.txt").write_text(live.discover())
        ask("before.txt", "perfquery", str(lid), str(port))
        for counter, value in FAULTS.items():
            live.ibsim.console(
                f'PerformanceSet "{live.switch_id(switch)}"[{port}] PortCounters.{counter}={value}')
        ask("after.txt", "perfquery", str(lid), str(port))
        ask("wide.txt", "perfquery", "-x", str(lid), str(port))
        ask("all.txt", "ibqueryerrors", "--counters")
        ask("errors.txt", "ibqueryerrors", "-r", "--data", more=(0, 1))
    return place, network.switch_names[switch], port


def test_faults_are_found_in_what_perfquery_prints(fabric):
    place, switch, port = fabric
    found = fl.observe(str(place / "fabric.txt"), [place / "before.txt", place / "after.txt"],
                       seconds=1e-3)
    (cable,) = found.bad_cables
    assert cable.grade == "flapping" and (switch, port) in {
        (cable.a, cable.a_port), (cable.b, cable.b_port)}
    counted = {(one.counter, one.growth) for one in cable.counters}
    assert {("symbol_errors", 4321), ("link_downed", 17)} <= counted
    assert sum(file.left_out for file in found.files) == 0


def test_faults_are_found_in_what_ibqueryerrors_prints(fabric):
    place, switch, port = fabric
    found = fl.observe(str(place / "fabric.txt"), place / "errors.txt")
    (cable,) = found.bad_cables
    assert (cable.grade, len(cable.reasons)) == ("flapping", 2)
    assert f"{switch} port {port} has gone down 17 times" in cable.reasons[0]
    assert sum(file.left_out for file in found.files) == 0


def test_all_ports_of_the_fabric_are_read(fabric):
    """Every cable has counters at both ends, and none is of another fabric."""
    place, _, _ = fabric
    found = fl.observe(str(place / "fabric.txt"), place / "all.txt")
    assert found.observed_cables == found.cables == 8 + 12
    assert not found.unmatched and not found.bad_cables
    assert len(found.channels) == 2 * found.cables
    wide = fl.observe(str(place / "fabric.txt"), place / "wide.txt")
    assert [row.bytes % 4 for row in wide.channels] == [0, 0]
