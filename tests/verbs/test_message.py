"""The message level: GOAL in both forms, LogGOPSim's times, the causal rules, bad schedules."""

from __future__ import annotations

import csv
import random
from fractions import Fraction

import checkout
import flyloom as fl
import goal_helpers as plain
import pytest
from cli_helpers import document, flyloom
from flyloom._core import RefusalError, Workload
from message_runs import message

DATA = checkout.DATA / "message"
SETS = {
    "default": {"L": 2500, "o": 1500, "g": 1000, "G": 6, "O": 0, "S": 65535},
    "gap_bound": {"L": 2500, "o": 400, "g": 3000, "G": 6, "O": 0, "S": 65535},
    "fast": {"L": 90, "o": 40, "g": 7, "G": 0.04, "O": 0.01, "S": 8192},
    "heavy": {"L": 1000, "o": 200, "g": 100, "G": 1, "O": 3, "S": 1},
}


def of(text: str) -> Workload:
    return Workload.read(text.encode())


def finishes(text: str, dialect: str = "causal", **parameters: float) -> list[float]:
    return list(message(of(text), dialect=dialect, costs=parameters).rank_finish_ns)


@pytest.mark.parametrize("file", sorted(DATA.glob("*/*.goal"))[::7], ids=lambda f: f.stem)
def test_binary_is_what_an_independent_writer_makes(file):
    schedule = fl.workload(file)
    made = plain.binary(plain.read(file.read_text()))
    assert schedule.binary() == made
    assert Workload.read(made) == schedule == of(schedule.text())


def test_the_command_gives_loggopsims_times(tmp_path):
    with (DATA / "loggops_micro.csv").open() as rows:
        wanted = [
            row for row in csv.DictReader(rows)
            if row["goal"] == "e08_irequires_overlap.goal" and row["paramset"] == "O_on"
        ]
    letters = [word for name in "LogGOS" for word in (f"--{name}", wanted[0][name])]
    found = document(
        "sim", "message", "--workload", DATA / "micro/e08_irequires_overlap.goal", "--dialect",
        "loggops-v1", *letters, "--ranks", tmp_path / "ranks.csv",
    )
    times = [int(row["finish_stable_sort"]) for row in wanted]
    assert found["finish_ns"] == max(times) and found["events"] == int(wanted[0]["events"])
    with (tmp_path / "ranks.csv").open() as rows:
        assert [int(row["finish_ns"]) for row in csv.DictReader(rows)] == times


def test_converting_there_and_back(tmp_path):
    source = DATA / "schedgen/allreduce_ring_8_4096.goal"
    there, back = tmp_path / "a.bin", tmp_path / "a.goal"
    assert document("workload", "convert", source, there)["ranks"] == 8
    assert flyloom("workload", "convert", there, back).returncode == 0
    assert fl.workload(back) == fl.workload(source)
    fl.convert_workload(back, tmp_path / "b.bin")
    assert (tmp_path / "b.bin").read_bytes() == there.read_bytes()
    assert there.read_bytes() == plain.binary(plain.read(source.read_text()))
    refused = flyloom("workload", "convert", source, tmp_path / "a.txt")
    assert refused.returncode == 2 and "end it in .goal, .bin or .dumpi" in refused.stderr


ONE_SEND = "num_ranks 2\nrank 0 {{\nsend {0}b to 1\n}}\nrank 1 {{\nrecv {0}b from 0\n}}\n"


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("size", [1, 8, 1000, 100_000])
def test_one_message_takes_what_the_formula_says(name, size):
    c = SETS[name]
    byte = (size - 1) * max(c["G"], c["O"])
    if size <= c["S"]:  # the model's own: L + 2 o + (s - 1) max(G, O)
        sent = c["o"] + (size - 1) * c["O"]
        wanted = 2 * c["o"] + c["L"] + byte
    else:  # question and answer before it, o + L each; the sender is done with the last byte
        sent = 3 * c["o"] + 2 * c["L"] + byte
        wanted = 4 * c["o"] + 3 * c["L"] + byte
    assert finishes(ONE_SEND.format(size), **c) == pytest.approx([sent, wanted], abs=2e-3)


def ping_pong(size: int, rounds: int, burst: int = 1, delay_ns: int = 0) -> str:
    """``rounds`` times: ``burst`` messages there, ``delay_ns`` between two, then one back."""
    lines: tuple[list[str], list[str]] = ([], [])
    before = ["", ""]

    def add(rank: int, what: str) -> None:
        name = f"l{len(lines[rank])}"
        lines[rank].append(f"{name}: {what}")
        if before[rank]:
            lines[rank].append(f"{name} requires {before[rank]}")
        before[rank] = name

    for _ in range(rounds):
        for i in range(burst):
            if delay_ns and i:
                add(0, f"calc {delay_ns}")
            add(0, f"send {size}b to 1")
            add(1, f"recv {size}b from 0")
        add(1, f"send {size}b to 0")
        add(0, f"recv {size}b from 1")
    ranks = "\n".join(
        f"rank {r} {{\n" + "\n".join(lines[r]) + "\n}" for r in (0, 1)
    )
    return f"num_ranks 2\n{ranks}\n"


@pytest.mark.parametrize("dialect", ["causal", "loggops-v1"])
@pytest.mark.parametrize("name", ["default", "gap_bound"])
def test_netgauges_measurement_recovers_the_parameters(dialect, name):
    """PRTT(n, d, s) of Hoefler, Lichei, Rehm: Low-overhead LogGP parameter assessment, 2007."""
    c, n = SETS[name], 16

    def prtt(count: int, delay: int, size: int) -> float:
        return finishes(ping_pong(size, 1, count, delay), dialect, **c)[0]

    assert prtt(1, 0, 1) / 2 == c["L"] + 2 * c["o"]
    slopes = {s: (prtt(n, 0, s) - prtt(1, 0, s)) / (n - 1) for s in (2001, 3001)}
    assert (slopes[3001] - slopes[2001]) / 1000 == pytest.approx(c["G"])
    gap = max(c["g"], c["o"]) if dialect == "loggops-v1" else c["g"]
    at_one = slopes[2001] - 2000 * c["G"]
    assert at_one == pytest.approx(gap, abs=c["o"])
    wait = int(prtt(1, 0, 1))
    spent = (prtt(n, wait, 1) - prtt(1, 0, 1)) / (n - 1)
    assert spent - wait == pytest.approx(c["o"])


def test_work_on_two_processors_is_causal():
    text = (DATA / "micro/e09_cross_cpu_dep.goal").read_text()
    assert finishes(text) == [1700]  # 1000, 500 and 200 one after another
    assert finishes(text, "loggops-v1") == [1200]


def drawn(seed: int) -> str:
    """A schedule that comes to its end: messages in one order of time, waits go back in it."""
    draw = random.Random(seed)
    ranks = draw.randint(2, 4)
    lines: list[list[str]] = [[] for _ in range(ranks)]
    labels: list[list[str]] = [[] for _ in range(ranks)]

    def add(rank: int, what: str) -> None:
        label = f"x{len(labels[rank])}"
        lines[rank].append(f"{label}: {what} cpu {draw.choice([0, 0, 0, 1])}")
        for before in draw.sample(labels[rank], min(len(labels[rank]), draw.randint(0, 2))):
            lines[rank].append(f"{label} {draw.choice(['requires', 'irequires'])} {before}")
        labels[rank].append(label)

    for _ in range(draw.randint(3, 14)):
        one, other = draw.sample(range(ranks), 2)
        size, tag = draw.choice([0, 1, 9, 700, 5000, 80_000]), draw.randint(0, 1)
        add(one, f"send {size}b to {other} tag {tag}")
        add(other, f"recv {size}b from {one} tag {tag}")
        add(draw.randrange(ranks), f"calc {draw.choice([0, 10, 3000, 40_000])}")
    bodies = "\n".join(f"rank {r} {{\n" + "\n".join(ls) + "\n}" for r, ls in enumerate(lines))
    return f"num_ranks {ranks}\n{bodies}\n"


@pytest.mark.parametrize("name", SETS)
def test_the_causal_rules_by_a_slow_simulator(name):
    """If a schedule ends, every rank ends at the time of the slow simulator, to a picosecond."""
    costs = {key: Fraction(str(value)) for key, value in SETS[name].items()}
    compared = 0
    for seed in range(60):
        text = drawn(seed)
        slow = plain.Causal(plain.read(text), **costs)
        wanted = [float(end) for end in slow.run()]
        if any(slow.left.values()) or slow.posted or slow.unexpected:
            with pytest.raises(RefusalError, match="cannot come to its end"):
                finishes(text, **SETS[name])
            continue
        compared += 1
        assert finishes(text, **SETS[name]) == pytest.approx(wanted, abs=0.05), seed
    assert compared > 30


@pytest.mark.parametrize(("text", "reported"), [
    ("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\nrecv 8b from 0 tag 2\n}\n",
     ["1 receives without a message (rank 1, operation 1: recv 8b from 0 tag 2)",
      "1 messages without a receive (rank 0, operation 1: send 8b to 1 tag 1)"]),
    ("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\nb requires a\n}\n",
     ["2 operations that never began (rank 0, operation 1: calc 1; rank 0, operation 2: calc 2)"]),
])
@pytest.mark.parametrize("dialect", ["causal", "loggops-v1"])
def test_a_schedule_without_an_end_is_refused(tmp_path, text, reported, dialect):
    (tmp_path / "s.goal").write_text(text)
    done = flyloom("sim", "message", "--workload", tmp_path / "s.goal", "--dialect", dialect)
    assert done.returncode == 2
    for words in reported:
        assert words in done.stderr
    checked = flyloom("workload", "check", tmp_path / "s.goal")
    assert checked.returncode == 1 and all(words in checked.stdout for words in reported)
    found = fl.check_workload(tmp_path / "s.goal")
    assert not found.complete and len(found.circle) == (2 if "calc" in text else 0)


COLLECTIVES = [row for row in fl.workloads() if row.kind == "collective"]


@pytest.mark.parametrize("row", COLLECTIVES, ids=lambda row: row.name)
def test_collectives_come_to_their_end(row):
    """They end also if every send waits for its receive: nobody sends before it receives in a
    cycle."""
    for ranks in (1, 2, 5, 8, 16):
        try:
            made = fl.make_workload(row.name, ranks=ranks, bytes=1000)
        except RefusalError as error:
            assert ranks == 5 and "a power of two" in str(error)
            continue
        for dialect in ("causal", "loggops-v1"):
            for eager in (0, 65535):
                found = message(made, dialect=dialect, costs={"S": eager})
                assert (found.finish_ns > 0) == (ranks > 1)
        assert fl.check_workload(made).complete


def test_collectives_take_what_their_formulas_say():
    """With g = o = O = 0 they take rounds of L + (s - 1) G (Thakur, Rabenseifner, Gropp, IJHPCA
    2005)."""
    latency, byte, p, n = 1000.0, 2.0, 16, 16_000
    free = {"L": latency, "G": byte, "o": 0, "g": 0, "O": 0, "S": 10**9}

    def rounds(*sizes: float) -> float:
        return sum(latency + (size - 1) * byte for size in sizes)

    halves = [n / 2, n / 4, n / 8, n / 16]
    for name, wanted in [
        ("allreduce_recursive_doubling", rounds(*[n] * 4)),
        ("allreduce_rabenseifner", rounds(*halves, *reversed(halves))),
        ("allreduce_ring", rounds(*[n / p] * 30)),
        ("allgather_ring", rounds(*[n] * 15)),
        ("allgather_bruck", rounds(n, 2 * n, 4 * n, 8 * n)),
        ("reduce_scatter_halving", rounds(8 * n, 4 * n, 2 * n, n)),
        ("alltoall_pairwise", rounds(*[n] * 15)),
        ("alltoall_bruck", rounds(*[8 * n] * 4)),
    ]:
        found = message(fl.make_workload(name, ranks=p, bytes=n), costs=free)
        assert found.finish_ns == pytest.approx(wanted), name


@pytest.mark.parametrize(("options", "reported"), [
    (["--L", "-1"], "L: -1 is out of range"),
    (["--dialect", "v1"], "dialect: there is no 'v1', only causal or loggops-v1"),
    (["--dialect", "loggops-v1", "--G", "0.5"], "G: 0.5 is no whole number"),
    (["--S", "5000000000"], "S: 5000000000 is too large"),
])
def test_parameters_that_cannot_be_are_refused(options, reported):
    done = flyloom("sim", "message", "--workload", DATA / "micro/e01_eager_posted.goal", *options)
    assert done.returncode == 2 and reported in done.stderr


def test_files_that_are_no_schedules_are_refused(tmp_path):
    bad = tmp_path / "bad.goal"
    for content, reason in [
        (b"", "line 1: num_ranks is not there"),
        (b"num_ranks 1\nrank 0 {\ncalk 3\n}", "line 3: 'calk' is no operation"),
        (b"\xff\xfe", "byte 0 is not UTF-8"),
        ((4223).to_bytes(8, "little") + b"\1\0\0\0", "16 bytes a rank at least"),
    ]:
        bad.write_bytes(content)
        done = flyloom("workload", "check", bad)
        assert done.returncode == 2 and str(bad) in done.stderr and reason in done.stderr
    calc = "num_ranks 1\nrank 0 {\n" + f"calc {2**63}\n" * 2 + "}\n"
    with pytest.raises(RefusalError, match="times add up to"):
        finishes(calc)
