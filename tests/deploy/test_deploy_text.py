"""The text of a table file on a fabric: what was proved is what is loaded, every kind of record."""

from __future__ import annotations

import random

import flyloom as fl
import pytest
from cli_helpers import flyloom
from deploy_helpers import needs_fabric
from flyloom import certificate_check
from flyloom.deploy.live import Live
from flyloom.inputs.tables import read_folder

pytestmark = [pytest.mark.ib, needs_fabric]


def differing(found):
    return [found[f"differing_{part}"] for part in ("entries", "sl_entries", "sl2vl_entries")]


class Spoilt:
    """A routing whose table file says something else: all service levels on lane 0."""

    def __init__(self, routing):
        self.routing, self.asked = routing, 0

    def __getattr__(self, name):
        return getattr(self.routing, name)

    def table_text(self):
        self.asked += 1
        lines = self.routing.table_text().split("\n")
        return "\n".join(
            "sl2vl * * * " + " ".join("0" * 16) if line.startswith("sl2vl") else line
            for line in lines
        )


def test_the_very_text_that_is_loaded_is_proved():
    topology = fl.torus(shape=[4], p=2)
    routing = fl.route(topology, "dfsssp", lmc=1)
    found = fl.deploy(routing, topology=topology)
    assert found.verified and found.verified_as_sent and differing(found) == [0, 0, 0]
    # the routing itself is free of deadlock, what its text says is not
    spoilt = Spoilt(routing)
    assert fl.verify(routing).holds
    found = fl.deploy(spoilt, topology=topology)
    assert spoilt.asked == 1  # made once: no second text can differ from the proved one
    assert not found.verified_as_sent and not found.verified and not found.deadlock_free
    assert found.differing_sl2vl_entries > 0 and found.counterexample


def test_records_with_stars_and_of_sources_arrive():
    """Read back from switches and subnet administration, against the Rust reader of that text."""
    topology = fl.torus(shape=[4], p=2)
    names, rng = topology.addresses(1), random.Random(3)
    guids = [f"0x{guid:016x}" for guid in names["switch_guid"]]
    more = [f"sl from {lid} 2 .{lid % 8}3.5" for lid in names["lid"][:5]]
    keys = ["* * 3", "* 1 *", "* 3 *", "* 3 4", f"{guids[0]} * *", f"{guids[1]} * 4",
            f"{guids[1]} 2 *", f"{guids[2]} 3 4"]
    more += [f"sl2vl {key} " + " ".join(str(rng.randrange(8)) for _ in range(16)) for key in keys]
    text = fl.route(topology, "dfsssp", lmc=1).table_text()
    plain = topology.read_tables(text, "t", 1)
    changed = text.replace("\nend", "\n" + "\n".join([*more, "end"]))
    with Live(topology, 1) as live:
        live.load_text(changed)
        found = live.check(topology.read_tables(changed, "t", 1), topology)
        assert differing(found) == [0, 0, 0], found.differences
        other = live.check(plain, topology)
    assert other.differing_entries == 0
    assert other.differing_sl_entries > 0 and other.differing_sl2vl_entries > 0


def test_opensm_s_dfsssp_is_written_verified_and_loaded_again(tmp_path):
    """Its levels differ between the terminals of a switch: the file carries them by source."""
    net, folder = "slim_fly:q=4,p=2", tmp_path / "theirs"
    done = flyloom("route", net, "-e", "opensm:dfsssp", "-o", str(folder))
    assert done.returncode == 0, done.stderr
    topology, routing = read_folder(folder)
    text = (folder / "tables.txt").read_text()
    assert text.count("\nsl from ") == topology.terminals and routing.service_levels is None
    assert flyloom("verify", str(folder), "--certificate").returncode == 0
    # 32 switches, 64 terminals; several levels of one switch are several routes
    assert certificate_check.check(folder) > 32 * 64
    found = fl.deploy(routing, topology=topology)
    assert found.verified and differing(found) == [0, 0, 0]
    assert found.sl_entries == 64 * 63
