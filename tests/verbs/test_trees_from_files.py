"""Trees that were read from files are routed up and down as those whose levels are known."""

import flyloom as fl
import pytest

TREES = ["fat_tree:leaves=12,spines=6,parallel=3,p=17", "fat_tree:leaves=8,spines=4,p=8",
         "fat_tree:levels=3,k=6", "k_ary_n_tree:k=3,n=3", "xgft:m=4x3x2,w=1x2x2"]


def figures(topology: fl.Topology) -> tuple:
    """What routes of up_down are measured by."""
    routing = fl.route(topology, "up_down")
    load = fl.edge_load(routing)
    ebb = fl.ebb(routing, samples=50).effective_bisection_bandwidth
    return load.edge_forwarding_index, load.hops, load.histogram, ebb


@pytest.mark.parametrize("lost", [[], [0], [3, 7]], ids=["whole", "one cable lost", "two lost"])
@pytest.mark.parametrize("tree", TREES)
def test_up_down_is_as_good_on_a_tree_from_a_file(tree, lost):
    known = fl.network(tree)
    known = known.with_failures(links=lost) if lost else known
    read = fl.Topology.from_text(known.to_text("netlist"), "ibnetdiscover")
    assert not read.levels.any() and known.levels.any()
    assert figures(read) == figures(known)
    top = [s for s, level in enumerate(known.levels.tolist()) if level == known.levels.max()]
    assert read.root_switches() == known.root_switches() == top


@pytest.mark.parametrize("net", ["slim_fly:q=5,p=2", "torus:shape=4x4,p=1"])
def test_what_is_no_tree_keeps_one_root(net):
    read = fl.Topology.from_text(fl.network(net).to_text("netlist"), "ibnetdiscover")
    assert read.root_switches() == [read.middle_switch()]
