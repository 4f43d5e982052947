"""Every engine of ours in OpenSM on a simulated fabric: read back equal, and ibdmchk agrees."""

from __future__ import annotations

import flyloom as fl
import pytest
from deploy_helpers import needs_fabric
from flyloom._core import registry
from flyloom.deploy import oracle

pytestmark = needs_fabric

OPTIONS = {
    "application": [{"traffic": "longest_matching"}],
    "dfsssp": [{"lanes": "lightest"}, {"lanes": "hops"}, {"balance": True}],
    "lash": [{"balance": True}],
    "nue": [{"max_lanes": 1}, {"max_lanes": 3}],
}
NETWORKS = ["slim_fly:q=4,p=2", "torus:shape=4x3,p=1"]
TREE = "fat_tree:leaves=4,spines=2,p=2"


@pytest.mark.parametrize("engine", sorted(e["name"] for e in registry() if e["kind"] == "engine"))
def test_tables_read_back_equal_and_the_verdicts_agree(engine):
    judged = 0
    for net in [TREE] if engine == "ftree" else NETWORKS:
        for options in [{}, *OPTIONS.get(engine, [])][:None if net == NETWORKS[0] else 1]:
            topology = fl.network(net)
            try:
                routing = fl.route(topology, engine, **options)
            except fl.RefusalError as refusal:
                assert any(w in str(refusal) for w in ("dimensions", "tree", "lanes")), refusal
                continue
            found = fl.deploy(routing, topology=topology, oracle=True)
            wrong = (found.differing_entries, found.differing_sl_entries,
                     found.differing_sl2vl_entries)
            assert wrong == (0, 0, 0), (net, options, found.differences)
            assert found.oracle != oracle.UNDECIDED
            assert (found.oracle == oracle.NO_LOOP) == found.deadlock_free, (net, options)
            assert found.deadlock_free == fl.verify(routing).deadlock.holds
            judged += 1
    assert judged
