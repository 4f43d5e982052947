"""Words that a command does not take: refused in one line, which says what was meant; and numbers
with units."""

import json

import pytest
from cli_helpers import document, flyloom

NET = "slim_fly:q=5,p=4"


@pytest.mark.parametrize(("words", "starts", "says"), [
    (["simulate", NET], "simulate: there is no such command",
     "did you mean sim flit, sim message, sim packet or sim booksim?"),
    (["desing", NET], "desing: there is no such command", "did you mean design?"),
    (["sim", NET], f"{NET}: sim has no such command", f"flyloom sim flit {NET}?"),
    (["sim", "flti", NET], "flti: sim has no such command", "did you mean flit?"),
    (["design", "slim_fly", "q=5", "p=4"], "q=5: one word too many", "slim_fly:q=5,p=4"),
    (["design", NET, "more"], "more: one word too many for design", "--help"),
    (["sim", "flit", NET, "--vcs", "4"], "--vcs: sim flit has no such option",
     "--set switch.virtual_channels="),
    (["sim", "packet", NET, "--delay-ns", "4"], "--delay-ns: sim packet has no such option",
     "--set switch.delay_ns="),
    (["sim", "flit", NET, "--selektion", "par"], "--selektion: ", "did you mean --selection?"),
    (["sim", "flit", NET, "--set", "virtual_channels=8"], "unknown field `virtual_channels`",
     "did you mean switch.virtual_channels?"),
    (["sim", "flit", NET, "--seed"], "--seed: its value is missing", "--help"),
    (["sim", "flit", NET, "--seed", "x"], "--seed: 'x' is no whole number", "random"),
    (["sim", "flit", NET, "--unverified=1"], "--unverified: it takes no value", "--help"),
    (["cost", NET, "--gbps", "fast"], "--gbps: 'fast' is no number", "Gbit/s"),
    (["sim", "flit"], "TABLES|NET: sim flit needs it", "network"),
    (["--vresion"], "--vresion: flyloom has no such option", "did you mean --version?"),
    (["compare", "fat_tree"], "fat_tree: without parameters", "--endpoints"),
    (["verify", "."], "network.json: it is not there, so that . is no folder of tables",
     "flyloom route"),
    (["workload", "best", "allreduce", "ranks=8", "byte=4"], "byte=4: ", "bytes=N"),
    (["workload", "best", "allreduce", "--ranks", "64", "bytes=4"],
     "--ranks: workload best has no such option", "write ranks=..., a word of its own"),
    (["workload", "best", "allreduce", "ranks=8", NET], f"{NET}: ", "a network by --net"),
    (["workload", "best", "allreduce", "bytes=4"], "ranks: it is not given", "ranks=16"),
    (["workload", "make", "allreduce_ring", "--bytes", "4", "-o", "a.goal"],
     "--bytes: workload make has no such option", "write bytes=..., a word of its own"),
    (["sim", "message", NET, "--bytes", "4"], "--bytes: sim message has no such option",
     "--workload 'NAME bytes=...'"),
    (["map", NET, "--chunks", "4"], "--chunks: map has no such option",
     "--graph 'NAME chunks=...'"),
    (["route", "--net", NET], "--net: route has no such option", "flyloom route NET"),
    (["cost", "--network", NET], "--network: cost has no such option", "flyloom cost NET"),
    (["sim", "flit", "--net", NET], "--net: sim flit has no such option",
     "flyloom sim flit TABLES|NET"),
    (["sim", "flit", NET, "--samples", "3"], "--samples: sim flit has no such option",
     "did you mean --seeds?"),
    (["sim", "packet", NET, "--runs", "3"], "--runs: sim packet has no", "did you mean --seeds?"),
    (["resilience", NET, "--runs", "3"], "--runs: resilience has no", "did you mean --samples?"),
    (["compare-routing", NET, "-e", "dfsssp"], "-e: compare-routing", "did you mean --engines?"),
    (["sim", "flit", NET, "--engines", "dfsssp"], "--engines: ", "did you mean --engine?"),
    (["sim", "flit", NET, "--pattern", "ring"], "--pattern: ", "did you mean --traffic?"),
    (["map", NET, "--workload", "x"], "--workload: map has no", "did you mean --graph?"),
    (["sim", "message", NET, "--graph", "x"], "--graph: sim message", "did you mean --workload?"),
    (["ebb", NET, "--runs", "3"], "--runs: ", "did you mean --samples?"),
    (["cables", NET, "--draw", "a"], "--draw: cables has no", "did you mean --out?"),
    (["sim", "message", NET, "--workload", "barrier_tree", "--ranks", "linear"],
     "--ranks linear: a file that is written", "--placement linear"),
    (["sim", "packet", NET, "--rate-gbps", "400"], "--rate-gbps: ",
     "did you mean --set link.rate_gbps=...?"),
    (["sim", "flit", NET, "--gbps", "400"], "--gbps: sim flit has no such option", ""),
    (["sim", "message", NET, "--workload", "allreduce_ring", "bytes=4", "chunks=2"],
     "bytes=4: one word too many", "--workload 'allreduce_ring bytes=4 chunks=2'"),
    (["map", NET, "--graph", "stencil", "shape=3x3"], "shape=3x3: one word too many",
     "--graph 'stencil shape=3x3'"),
    (["sim", "flit", NET, "--set", "rails=fixed"], "unknown field `rails`; did you mean rail?", ""),
    (["workload", "make", "alltoall", "ranks=4", "bytes=4", "-o", "a.goal"],
     "workload: there is no 'alltoall'; did you mean alltoall_bruck, alltoall_linear or"
     " alltoall_pairwise?", ""),
    (["export", NET, "--to", "slurm"], "to: there is no format 'slurm'",
     "did you mean slurm-block or slurm-tree?"),
    (["map", NET, "--graph", "stencil:shape=3x3,bytes=8", "-o", "a.svg"], "-o a.svg: ", ".html"),
    (["map", NET, "--graph", "stencil:shape=3x3,bytes=8", "-o", "a", "-o", "b"], "-o b: -o a is",
     "one of both"),
    (["workload", "best", "allreduce", "ranks=8", "ranks=4", "bytes=4"], "ranks: given twice", ""),
    (["workload", "best", "allreduce", "ranks=8", "bytes=4kb"], "bytes: '4kb' is no number", "KiB"),
])
def test_one_line_says_what_is_wrong_and_what_was_meant(words, starts, says, tmp_path):
    done = flyloom(*words, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"flyloom: {starts}"), line
    assert says in line
    as_json = flyloom(*words, "--json", cwd=tmp_path)
    if as_json.returncode == 2:
        error = json.loads(as_json.stdout)
        assert error["exit_code"] == 2 and error["error"]["kind"] == "refused"


@pytest.mark.parametrize(("text", "number"), [
    ("64k", 64_000), ("64KiB", 65_536), ("2MB", 2_000_000), ("1Mi", 1_048_576), ("4096", 4096),
])
def test_numbers_have_units_in_every_place(text, number):
    """In an option, in KEY=VALUE, in a workload's text and in a list of cases."""
    packet = ("sim", "packet", NET, "--load", "0.1", "--messages", "1")
    for words in (("--message-bytes", text), ("--set", f"message_bytes={text}")):
        found = document(*packet, *words)
        assert found["parameters"]["message_bytes"] == number
    plain = document("sim", "message", "--workload", f"allreduce_ring ranks=4 bytes={number}")
    found = document("sim", "message", "--workload", f"allreduce_ring ranks=4 bytes={text}")
    assert found["finish_ns"] == plain["finish_ns"]
    best = document("workload", "best", "allreduce", "ranks=4", f"bytes=8,{text}")
    assert [row["bytes"] for row in best["rows"]] == [8, number]


def test_examples_of_help_stand_in_lines_of_their_own():
    """As they are typed: a line can be copied whole."""
    lines = flyloom("sim", "packet", "--help").stdout.partition("Examples:\n")[2].splitlines()
    assert len(lines) >= 6
    assert all(line.strip().startswith(("flyloom sim packet ", "mpiexec ")) for line in lines)
