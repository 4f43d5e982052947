"""Calls that lack something, or have one thing too many, are answered with what to write."""

import subprocess
import sys

import flyloom as fl
import pytest
from cli_helpers import flyloom

NET = "slim_fly:q=3,p=1"


def test_a_run_of_messages_needs_a_workload():
    for call in (lambda: fl.message(NET), lambda: fl.simulate(NET, "message"),
                 lambda: fl.message(None), lambda: fl.message(fl.network(NET))):
        with pytest.raises(fl.RefusalError, match="^workload: what processes do; a name"):
            call()
    usual = fl.message(NET, workload_options={"bytes": 64})
    assert usual.finish_ns == fl.message(NET, workload="alltoall_pairwise bytes=64").finish_ns


def test_several_networks_are_those_of_an_experiment():
    done = flyloom("sim", "flit", NET, "dragonfly:h=2", "--load", "0.1")
    assert done.returncode == 2
    for part in ("one network", "flyloom run FILE.toml", "[[point]]"):
        assert part in done.stderr
    with pytest.raises(fl.RefusalError, match=r"flyloom run FILE.toml with a \[\[point\]\]"):
        fl.flit([NET, "dragonfly:h=2"], load=0.1)


@pytest.mark.parametrize(("words", "said"), [
    (("--selection", "foo"), "valiant"), (("--load", "abc"), "0.1:1.0:0.1 or auto"),
    (("--seed", "-1"), "from 0 to 18446744073709551615"), (("--seeds", "-1"), "from 1 to 1000"),
    (("--set", "switch.virtual_channels=9999"), "from 1 to 32"),
])
def test_a_refusal_of_flits_ends_after_what_the_option_takes(words, said):
    done = flyloom("sim", "flit", NET, *words)
    assert done.returncode == 2 and done.stderr.rstrip().endswith(said), done.stderr


def test_a_pattern_of_a_simulator_is_named_as_its_option():
    done = flyloom("sim", "flit", NET, "--traffic", "shift:0")
    assert done.stderr.startswith("flyloom: --traffic: '0' for shift; by: 1 to ")
    done = flyloom("sim", "flit", NET, "--injection", "on_off:0,0")
    assert "r1" not in done.stderr and done.returncode == 2


def test_numbers_of_the_best_workload_come_once():
    done = flyloom("workload", "best", "allreduce", "ranks=64,64", "bytes=8")
    assert done.returncode == 2 and "ranks: 64 is there twice; each once" in done.stderr


def test_old_words_of_congestion_are_read_with_a_note(tmp_path):
    words = ("congestion", "ring:n=5,p=1", "--pattern", "ring", "--samples", "1", "--json")
    new = flyloom(*words, "--placement", "linear")
    for old in ("--ranks", "--order"):
        done = flyloom(*words, old, "linear")
        assert done.stdout == new.stdout and f"{old} is now --placement" in done.stderr
    with pytest.warns(FutureWarning, match="order is now placement"):
        fl.congestion(fl.route("ring:n=5,p=1", "min_hop"), "ring", samples=1, order="linear")


def test_traffic_by_name_is_listed():
    listed = flyloom("list", "traffic").stdout
    assert "longest_matching" in listed and "elephant" in listed


def test_a_name_of_trace_events_is_answered_with_the_whole_name(tmp_path):
    done = flyloom("sim", "message", "--workload", "barrier_tree ranks=2", "-o", "x.perfetto",
                   cwd=tmp_path)
    assert done.returncode == 2 and "write -o x.perfetto.json" in done.stderr


def test_several_runs_say_how_long_they_take_together():
    """Two runs of which none takes ten seconds; standard error is no terminal."""
    one = "import sys, flyloom.verbs.simulation as s; from flyloom.support import machine; " \
          "machine.tell = True; s._core.point_need = lambda *of: (0.0, {each}); " \
          "import flyloom as fl; fl.flit('ring:n=3,p=1', load=0.01, threads=1, " \
          "selection='minimal,ugal_l', run={{'measure_cycles': 10, 'warmup_cycles': 10}})"
    for each, said in ((4.9, ""), (5.1, "2 runs: about 10 seconds; Ctrl-C stops\n")):
        done = subprocess.run([sys.executable, "-c", one.format(each=each)], text=True,
                              capture_output=True, timeout=60, check=False)
        assert done.stderr == said


def test_routes_have_a_picture_of_their_loads():
    """A ring of five by minimal hops: each of 10 channels carries 1 + 2 routes of each pair of
    distances."""
    routed = fl.route("ring:n=5,p=1", "min_hop")
    spec = routed.plot().spec
    bars = spec["data"]["values"] if "data" in spec else spec["hconcat"][0]["data"]["values"]
    assert sum(bar["n"] for bar in bars) == 10
    assert [bar["low"] for bar in bars if bar["n"]] == [3]
    with pytest.raises(fl.RefusalError, match="there is no 'hops' of this Routing; load"):
        routed.plot("hops")
