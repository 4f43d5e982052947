"""Applications that are functions: their schedules go wherever workloads go."""

from __future__ import annotations

import json

import flyloom as fl
import pytest
from cli_helpers import flyloom
from plugin_helpers import said

FILE = '''
import flyloom as fl

@fl.application
def to_and_fro(ranks, bytes: int = 8, times: int = 1):
    """A message from the first rank to the last, and back."""
    there = [("send", bytes, ranks - 1), ("recv", bytes, ranks - 1, 7)] * times
    back = [("recv", bytes, 0), ("send", bytes, 0, 7)] * times
    return [there if r == 0 else back if r == ranks - 1 else [] for r in range(ranks)]

@fl.application
def halos(ranks, bytes: int = 1000, times: int = 2, compute_ns: int = 0):
    """Halos to both neighbours of a ring of ranks.

    Parameters
    ----------
    ranks
        Processes of the ring.
    """
    def step(r):
        near = [(r + 1) % ranks, (r - 1) % ranks]
        return [("send", bytes, to) for to in near] + [("recv", bytes, to) for to in near]
    return [[step(r), ("calc", compute_ns)] * times for r in range(ranks)]

@fl.application
def as_text(ranks):
    return f"num_ranks {ranks}\\n" + "".join(
        f"rank {r} {{\\nl1: calc {100 * (r + 1)}\\n}}\\n" for r in range(ranks))

@fl.application
def made(ranks, bytes: int = 5):
    return fl.make_workload("allgather_ring", ranks=ranks, bytes=bytes)

@fl.application
def strange(ranks, what: str = "word"):
    return {"word": [[("sendd", 1, 0)], []], "peer": [[], [("send", 1, 2)]], "few": [[]],
            "number": 7, "text": "rank", "steps": [7, 7]}[what]
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.py").write_text(FILE)
    return tmp_path


def test_they_are_listed_with_their_parameters(folder):
    listed = said(folder, "list", "workloads")
    assert "application halos (plug-in, " in listed
    assert "ranks (int, required): Processes of the ring." in listed
    rows = json.loads(said(folder, "workload", "list", "--json"))["workloads"]
    (row,) = [row for row in rows if row["name"] == "halos"]
    assert [key["name"] for key in row["keys"]] == ["ranks", "bytes", "times", "compute_ns"]


def test_a_message_to_and_fro_takes_what_loggp_says(folder):
    # a message takes L + 2 o + (bytes - 1) G, and there are two of them each time
    found = json.loads(said(
        folder, "sim", "message", "--workload", "to_and_fro ranks=4 bytes=101 times=5",
        "--L", "1000", "--o", "100", "--g", "0", "--G", "1", "--json",
    ))
    assert found["finish_ns"] == 10 * (1000 + 2 * 100 + 100)
    assert (found["ranks"], found["messages"]) == (4, 10)


def test_a_file_of_the_schedule_is_the_same_schedule(folder):
    said(folder, "workload", "make", "halos", "ranks=5", "bytes=300", "-o", "halos.goal")
    net = ("ring:n=5,p=1", "--engine", "min_hop", "--json")
    own = json.loads(said(folder, "sim", "message", *net, "--workload", "halos:bytes=300"))
    file = json.loads(said(folder, "sim", "message", *net, "--workload", "./halos.goal"))
    assert (own["ranks"], own["finish_ns"]) == (5, file["finish_ns"])
    # each rank sends to two neighbours, twice
    assert (own["messages"], own["sent_bytes"]) == (5 * 2 * 2, 5 * 2 * 2 * 300)
    net = ("ring:n=5,p=1", "--engine", "dfsssp", "--json")
    one = json.loads(said(folder, "sim", "packet", *net, "--workload", "halos ranks=5 bytes=300"))
    other = json.loads(said(folder, "sim", "packet", *net, "--workload", "./halos.goal"))
    assert one["points"][0]["messages"] == 20
    assert one["points"][0]["digest"] == other["points"][0]["digest"]


def test_text_and_schedules_are_taken_as_they_are(folder):
    text = said(folder, "sim", "message", "--workload", "as_text ranks=3", "--json")
    assert json.loads(text)["finish_ns"] == 300
    said(folder, "workload", "make", "made", "ranks=4", "-o", "made.goal")
    said(folder, "workload", "make", "allgather_ring", "ranks=4", "bytes=5", "-o", "ring.goal")
    assert (folder / "made.goal").read_bytes() == (folder / "ring.goal").read_bytes()


@pytest.mark.parametrize(("asked", "why"), [
    ("halos", "halos: missing field `ranks`; halos takes ranks, bytes, times, compute_ns"),
    ("halos ranks=0", "halos: ranks: 0 is out of range; a whole number from 1 to 16777216"),
    ("halos ranks=4 byte=3", "halos: unknown field `byte`; halos takes ranks, bytes"),
    ("halos ranks=4 bytes=x", 'halos: bytes: "x" is of another type; a whole number'),
    ("strange ranks=2", "rank 0, step 0: ('sendd', 1, 0) is no operation; (\"send\", bytes, to)"),
    ("strange ranks=2 what=peer", "rank 1, step 0: ('send', 1, 2) is no operation"),
    ("strange ranks=2 what=few", "returns no schedule: "),
    ("strange ranks=2 what=number", "returns no schedule; the steps of each rank"),
    ("strange ranks=2 what=text", "returns no schedule: "),
    ("strange ranks=2 what=steps", "rank 0: 7 are no steps"),
    ("as_text ranks=2 x=1", "unknown field `x`"),
    ("haloes ranks=2", "did you mean halos?"),
])
def test_what_cannot_be_is_refused_in_one_line(folder, asked, why):
    done = flyloom("sim", "message", "--workload", asked, "--plugin", "own.py", cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert why in done.stderr


def test_an_experiment_runs_them_and_its_key_has_their_file(folder):
    (folder / "own.toml").write_text('''
schema = 1
name = "own"
plugins = ["own.py"]
topology = { family = "ring", n = 6, p = 1 }
[routing]
engine = "min_hop"
[map]
graph = "halos bytes=10"
[sim.message]
workload = "halos"
workload_options = { bytes = 64 }
[sweep.grid]
"sim.message.workload_options.times" = [1, 2]
''')
    points = folder / "out" / "own" / "points"
    said(folder, "run", "own.toml", "--out", "out")
    first = set(points.iterdir())
    rows = [json.loads(point.read_text()) for point in first]
    assert "halos" in json.dumps(rows)
    (folder / "own.py").write_text(FILE + "\n# another file\n")
    said(folder, "run", "own.toml", "--out", "out")
    assert len(set(points.iterdir())) == 2 * len(first) == 4
    (folder / "bad.toml").write_text(
        (folder / "own.toml").read_text().replace("bytes = 64", "byte = 64"))
    done = flyloom("run", "bad.toml", "--out", "out", cwd=folder)
    assert done.returncode == 2
    assert "sim.message.workload: halos: unknown field `byte`" in done.stderr


def test_names_and_signatures_that_cannot_be_are_refused():
    def hpl(ranks):
        """Nothing."""

    with pytest.raises(fl.RefusalError, match="there is a built-in application"):
        fl.application(hpl)

    def without(network, size: int = 1):
        """Nothing."""

    with pytest.raises(fl.RefusalError, match="its first parameter is ranks"):
        fl.application(without)
