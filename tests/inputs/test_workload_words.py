"""A workload that is made has one form for every command that takes one."""

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from flyloom._core import Workload

NET = "slim_fly:q=3,p=1"
FORMS = ("scatter_linear ranks=5 bytes=1KiB", "scatter_linear:ranks=5,bytes=1024")


@pytest.mark.parametrize("word", FORMS)
def test_every_command_takes_it_in_one_word(word, tmp_path):
    # the first rank sends a block to each of the four others
    made = document("workload", "make", word, "-o", tmp_path / "a.goal")
    sent = Workload.read((tmp_path / "a.goal").read_bytes()).counts()
    assert (made["ranks"], sent["sends"], sent["sent_bytes"]) == (5, 4, 4 * 1024)
    assert document("sim", "message", "--workload", word)["sent_bytes"] == 4 * 1024
    packets = document("sim", "packet", NET, "--workload", word)
    assert packets["jobs"][0]["bytes"] == 4 * 1024
    mapped = document("map", NET, "--graph", word)
    hops = [fl.network(NET).distances(mapped["mapping"][0])[end] for end in mapped["mapping"][1:]]
    assert mapped["processes"] == 5 and mapped["hop_bytes"] == 1024 * sum(map(int, hops))


def test_what_is_beside_the_word_is_added_and_nothing_is_given_twice(tmp_path):
    place = tmp_path / "a.goal"
    made = document("workload", "make", "scatter_linear ranks=5", "bytes=8", "-o", place)
    assert made["ranks"] == 5
    twice = flyloom("workload", "make", "scatter_linear ranks=5 bytes=8", "bytes=9", "-o", place)
    assert twice.returncode == 2 and "bytes is given twice" in twice.stderr


def test_a_graph_without_ranks_has_one_for_every_place():
    assert document("map", NET, "--graph", "scatter_linear bytes=8")["processes"] == 18
    found = document("map", NET, "--graph", "scatter_linear bytes=8", "--per-endpoint", 2)
    assert found["processes"] == 36
    refused = flyloom("map", NET, "--graph", "scatter_linaer bytes=8")
    assert refused.returncode == 2 and "did you mean scatter_linear?" in refused.stderr


def test_graphs_that_are_made_take_both_forms():
    forms = ("stencil:shape=3x3,bytes=8", "stencil shape=3x3 bytes=8")
    one, other = (document("map", NET, "--graph", word)["hop_bytes"] for word in forms)
    assert one == other
