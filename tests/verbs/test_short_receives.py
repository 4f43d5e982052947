"""Receives that are smaller than the messages that they take: counted as by hand, in one line."""

import random
from collections import defaultdict

import flyloom as fl
import pytest
from cli_helpers import document, flyloom


def schedule(seed):
    """Ranks that first send everything and then receive, in turn: the text, and what is too
    small, by sender, receiver and tag in the order of the program."""
    draw = random.Random(seed)
    sends, receives = defaultdict(list), defaultdict(list)
    for source in range(4):
        for number in range(12):
            to, tag, size = draw.randrange(4), draw.randrange(2), draw.randrange(1, 9)
            if to != source:
                sends[source].append((to, tag, size, number))
    for source, sent in sends.items():
        for to, tag, size, _ in sent:
            receives[to].append((source, tag, max(1, size + draw.choice((-1, 0, 0, 1)))))
    lines, short = ["num_ranks 4"], []
    for rank in range(4):
        lines.append(f"rank {rank} {{")
        names = []
        for to, tag, size, _ in sends[rank]:
            names.append((f"send {size}b to {to} tag {tag}", None))
        for source, tag, size in receives[rank]:
            names.append((f"recv {size}b from {source} tag {tag}", (source, tag, size)))
        for at, (words, _) in enumerate(names):
            lines.append(f"l{at}: {words}")
        lines += [f"l{at} requires l{at - 1}" for at in range(1, len(names))]
        lines.append("}")
        queues = defaultdict(list)
        for source, sent in sends.items():
            for to, tag, size, _ in sent:
                if to == rank:
                    queues[source, tag].append(size)
        for at, (_, what) in enumerate(names, 1):
            if what and what[2] < queues[what[:2]].pop(0):
                short.append((rank, at))
    return "\n".join(lines), short


@pytest.mark.parametrize("seed", range(6))
def test_they_are_those_of_messages_in_their_order(tmp_path, seed):
    text, short = schedule(seed)
    file = tmp_path / "a.goal"
    file.write_text(text)
    found = fl.check_workload(file).short_receives if short else None
    assert short and found.count == len(short)
    assert found.first.startswith("rank {}, operation {}: recv".format(*min(short)))
    for more in ([], ["complete:n=4,p=1"], ["--dialect", "loggops-v1"]):
        run = document("sim", "message", *more, "--workload", file)
        assert run["short_receives"]["count"] == len(short)
    run = document("sim", "packet", "complete:n=4,p=1", "--workload", file)
    assert run["short_receives"] == found.to_dict()


def test_a_line_names_the_first(tmp_path):
    file = tmp_path / "a.goal"
    text = ("num_ranks 2\nrank 0 {\na: send 16b to 1 tag 1\n}\n"
            "rank 1 {\nb: recv SIZEb from 0 tag 1\n}\n")
    line = ("1 receive is smaller than its message, which MPI would truncate: rank 1, operation 1:"
            " recv 8b from 0 tag 1 takes rank 0, operation 1: send 16b to 1 tag 1")
    for size, is_said in ((8, True), (16, False), (17, False)):
        file.write_text(text.replace("SIZE", str(size)))
        for words in (["workload", "check", file], ["sim", "message", "--workload", file],
                      ["sim", "packet", "ring:n=3,p=1", "--workload", file]):
            done = flyloom(*words)
            assert done.returncode == 0 and (line in done.stdout.splitlines()) is is_said


def test_no_workload_that_is_made_has_any():
    tried = 0
    for kind in fl.workloads():
        row = kind.to_dict()
        needed = {key["name"] for key in row["keys"] if key["default"] is None}
        given = {"ranks": 8, "bytes": 64, "p": 2}
        try:
            made = fl.make_workload(
                kind.name, **{name: given[name] for name in needed if name in given})
        except fl.RefusalError:  # other parameters are needed
            continue
        assert "short_receives" not in fl.check_workload(made).to_dict(), kind.name
        tried += 1
    assert tried > 20
