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


def test_a_cable_between_two_leaves_leaves_the_roots_at_the_top():
    """The plug of an uplink is in another leaf: the routes are as even as without this cable, which
    would join two switches of one level."""
    known = fl.network("fat_tree:leaves=12,spines=6,parallel=2,p=10")
    text = known.to_text("netlist")
    table = known.link_table
    guid = [f"S-{guid:016x}" for guid in known.addresses()["switch_guid"]]
    link = 0  # of leaf 0; its plug goes from the spine to a free port of leaf 5
    leaf, port = int(table["a_switch"][link]), int(table["a_port"][link])
    spine, there = int(table["b_switch"][link]), int(table["b_port"][link])
    free = 23
    other = leaf + 5
    blocks = text.split("\n\n")
    for i, block in enumerate(blocks):
        if 'Switch' in block and f'"{guid[leaf]}"\t\t#' in block.split("\n[")[0]:
            blocks[i] = block.replace(f'[{port}]\t"{guid[spine]}"[{there}]',
                                      f'[{port}]\t"{guid[other]}"[{free}]')
        elif 'Switch' in block and f'"{guid[spine]}"\t\t#' in block.split("\n[")[0]:
            lines = block.split("\n")
            blocks[i] = "\n".join(line for line in lines if not line.startswith(f"[{there}]\t"))
        elif 'Switch' in block and f'"{guid[other]}"\t\t#' in block.split("\n[")[0]:
            blocks[i] = (block.replace("Switch\t22", "Switch\t23")
                         + f'\n[{free}]\t"{guid[leaf]}"[{port}]\t\t# "{known.switch_names[leaf]}"'
                           " lid 1 4xHDR")
    found = fl.Topology.from_text("\n\n".join(blocks), "ibnetdiscover")
    assert found.links == known.links
    top = [s for s, level in enumerate(known.levels.tolist()) if level == known.levels.max()]
    names = {known.switch_names[s] for s in top}
    assert {found.switch_names[s] for s in found.root_switches()} == names
    without = fl.edge_load(fl.route(known.with_failures(links=[link]), "up_down"))
    load = fl.edge_load(fl.route(found, "up_down"))
    assert load.edge_forwarding_index <= without.edge_forwarding_index
    assert fl.verify(fl.route(found, "up_down"))["holds"]
