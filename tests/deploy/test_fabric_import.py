"""Tables and path records of a fabric, read in: by switch where its terminals agree, else by
terminal; no fabric needed."""

import flyloom as fl
import numpy
import pytest


@pytest.fixture(scope="module")
def network():
    return fl.network("dragonfly:h=2")


@pytest.fixture(scope="module")
def routing(network):
    return fl.route(network, "dfsssp", lmc=1)


def records(network, routing, sources):
    """{(slid, dlid): level} from the routing's own array, for these source terminals."""
    lids, home = network.addresses(1)["lid"], network.attachments[:, 0]
    return {
        (lids[s], lids[t] + layer): int(routing.service_levels[layer, t, home[s]])
        for s in sources
        for t in range(network.terminals)
        for layer in range(2)
        if s != t
    }


def read_in(network, routing, levels, odd=None):
    """The tables read in; from ``odd``, (switch GUID, in-port, out-port), all goes to lane 7."""
    text = "".join(f"{a} {b} {sl}\n" for (a, b), sl in levels.items())
    sl2vl = "".join(
        f"Switch 0x{guid:016x}, base LID 0\n"
        + "".join(
            f"{i} {o} : "
            + " ".join(str(7 if (guid, i, o) == odd else sl % routing.lanes) for sl in range(16))
            + "\n"
            for i in range(network.radix + 1)
            for o in range(1, network.radix + 1)
        )
        for guid in network.addresses(1)["switch_guid"]
    )
    return network.import_tables(
        routing.lft_text(), "lfts", text, sl2vl, keep_lids=False, lmc=1
    )


def elsewhere(network):
    """(terminals, switches): True where the switch is not the terminal's own."""
    return network.attachments[:, :1] != numpy.arange(network.switches)[None, :]


def test_levels_of_all_or_of_one_a_switch_are_the_same(network, routing):
    home = network.attachments[:, 0].tolist()
    speakers = [home.index(s) for s in range(network.switches)]
    for sources in (range(network.terminals), speakers):
        found = read_in(network, routing, records(network, routing, sources))
        there = numpy.broadcast_to(elsewhere(network), routing.service_levels.shape)
        assert (found.service_levels[there] == routing.service_levels[there]).all()
        assert (found.next == routing.next).all()
        assert found.lanes == routing.lanes == int(routing.service_levels.max()) + 1
        assert fl.verify(found).holds
        assert found.table_text().count("\nlft ") == network.switches


def test_levels_that_differ_within_a_switch_stay_apart(network, routing):
    levels = records(network, routing, range(network.terminals))
    lids, home = network.addresses(1)["lid"], network.attachments[:, 0].tolist()
    second = next(t for t in range(network.terminals) if home[t] == home[0] and t > 0)
    far = lids[network.terminals - 1]
    levels[lids[second], far] = (levels[lids[second], far] + 1) % routing.lanes
    found = read_in(network, routing, levels)
    assert found.service_levels is None
    text = "".join(f"{a} {b} {sl}\n" for (a, b), sl in levels.items())
    parts = found.compare(levels=text)["sl"]  # read in and written out, all agree
    assert (parts["entries"], parts["differing"]) == (len(levels), 0)
    against = routing.compare(levels=text)["sl"]
    assert against["differing"] == 1
    # carried by the table file, one `sl from` a terminal
    written = found.table_text()
    assert written.count("\nsl from ") == network.terminals
    back = network.read_tables(written, "written", 1)
    again = back.compare(levels=text)["sl"]
    assert (again["entries"], again["differing"]) == (len(levels), 0)
    assert back.measure("verify")["holds"] == found.measure("verify")["holds"]


def test_one_odd_lane_table_counts(network, routing):
    """SL2VL tables may differ by port; where all agree nothing else may change."""
    levels = records(network, routing, range(network.terminals))
    plain = read_in(network, routing, levels)
    table = network.link_table
    guid = network.addresses(1)["switch_guid"][table["a_switch"][0]]
    port = int(table["a_port"][0])
    odd = read_in(network, routing, levels, odd=(guid, 1, port))  # from an endpoint to a switch
    assert (plain.lanes, odd.lanes) == (routing.lanes, 8)
    one, other = fl.verify(plain).deadlock, fl.verify(odd).deadlock
    assert one.holds and other.holds
    assert one.dependencies == fl.verify(routing).deadlock.dependencies
    assert other.dependencies > one.dependencies  # the same hops on one lane more


def test_a_missing_record_is_reported(network, routing):
    lids, home = network.addresses(1)["lid"], network.attachments[:, 0].tolist()
    far = lids[network.terminals - 1]
    for changed in (False, True):  # by switch, and by terminal
        levels = records(network, routing, range(network.terminals))
        for t in range(network.terminals):
            if home[t] == home[0]:
                del levels[lids[t], far]
        if changed:
            levels[lids[0], lids[30]] = (levels[lids[0], lids[30]] + 1) % routing.lanes
        words = f"no record of the path from LID {lids[0]} to LID {far}"
        with pytest.raises(fl.RefusalError, match=words):
            read_in(network, routing, levels)


def test_dead_terminals_need_no_record(network):
    damaged = network.with_failures([], [5])
    routing = fl.route(damaged, "dfsssp", lmc=1)
    home = damaged.attachments[:, 0].tolist()
    alive = [t for t in range(damaged.terminals) if home[t] != 5]
    lids = damaged.addresses(1)["lid"]
    gone = {lids[t] + k for t in range(damaged.terminals) if home[t] == 5 for k in range(2)}
    levels = {
        key: sl for key, sl in records(damaged, routing, alive).items() if not gone & set(key)
    }
    found = read_in(damaged, routing, levels)
    proof = fl.verify(found)
    switches = damaged.switches - 1
    assert proof.holds and proof.complete.routes == switches * len(alive) * 2
