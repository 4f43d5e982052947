"""Execution traces of Chakra: read, made into schedules, run; against counts by hand."""

from __future__ import annotations

import json

import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from flyloom._core import RefusalError

#: Rank 1 of four, as the library of Protocol Buffers (7.36) writes it: 100 us of computation; after
#: it a sum of 1,000,000 bytes, and beside it 50 us, then 5,000 bytes to the next rank and from the
#: one before, by the tag of the sender.
WRITTEN = bytes.fromhex(
    "150a05302e302e34120c0a06736368656d61ea01017819120366776418043864520e0a0969735f6370755f6f"
    "70d801003c08011202617218072201002a0100520d0a09636f6d6d5f747970654800520f0a09636f6d6d5f73"
    "697a6568c0843d520c0a01781900000000000004400e0802120362776418042a010038323608031201731805"
    "2a0102520c0a08636f6d6d5f6473743802520e0a09636f6d6d5f73697a65488827520c0a08636f6d6d5f7461"
    "67380136080412017218062a0102520c0a08636f6d6d5f7372633800520e0a09636f6d6d5f73697a65488827"
    "520c0a08636f6d6d5f7461673800"
)
FREE = {"o": 0, "g": 0, "O": 0, "S": 2**32 - 1, "L": 1000, "G": 1}


def varint(number: int) -> bytes:
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def held(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def node(kind: int, identity: int, after=(), micros=0, **attributes: int | str) -> bytes:
    """A node of the schema: its type and number, what it waits for, attributes as int64 or text."""
    out = number(1, identity) + held(2, b"n") + number(3, kind)
    out += b"".join(number(5, before) for before in after) + number(7, micros)
    for name, value in attributes.items():
        known = number(9, value) if isinstance(value, int) else held(29, value.encode())
        out += held(10, held(1, name.encode()) + known)
    return varint(len(out)) + out


def files(folder, ranks, name="llama"):
    folder.mkdir(exist_ok=True)
    about = held(1, b"0.0.4")
    for rank, nodes in enumerate(ranks):
        content = varint(len(about)) + about + b"".join(nodes)
        (folder / f"{name}.{rank}.et").write_bytes(content)
    return folder


def four(rank: int) -> list[bytes]:
    """What WRITTEN is, of any rank of four."""
    return [
        node(4, 0, micros=100), node(7, 1, [0, 0], comm_type=0, comm_size=1_000_000),
        node(4, 2, [0], micros=50),
        node(5, 3, [2], comm_dst=(rank + 1) % 4, comm_size=5000, comm_tag=rank),
        node(6, 4, [2], comm_src=(rank - 1) % 4, comm_size=5000, comm_tag=(rank - 1) % 4),
    ]


def test_what_the_library_writes_is_what_we_read(tmp_path):
    folder = files(tmp_path / "ours", [four(rank) for rank in range(4)])
    ours = fl.traced_workload(folder)
    (folder / "llama.1.et").write_bytes(WRITTEN)
    assert fl.traced_workload(folder) == ours
    counts = ours.counts()
    # a ring of four: 6 messages a rank, and one more
    assert (counts["ranks"], counts["sends"]) == (4, 4 * 7)
    assert counts["sent_bytes"] == 4 * (6 * 250_000 + 5000)
    assert counts["calculated_ns"] == 4 * 150_000


def test_a_step_takes_what_its_parts_take(tmp_path):
    """After the computation the sum goes on beside the rest of it."""
    folder = files(tmp_path / "run", [four(rank)[:3] for rank in range(4)])
    found = document("sim", "message", "--workload", folder,
                     *(word for name, value in FREE.items() for word in (f"--{name}", value)))
    ring = 6 * (1000 + 250_000 - 1)  # rounds of L + (s - 1) G
    assert found["finish_ns"] == pytest.approx(100_000 + ring, rel=1e-9)
    # 2 (P - 1) rounds become log2 P of the whole vector
    other = fl.traced_workload(folder, allreduce="recursive_doubling")
    took = fl.simulate(other, "message", costs=FREE).finish_ns
    assert took == pytest.approx(100_000 + 2 * (1000 + 1_000_000 - 1), rel=1e-9)


def test_groups_run_apart(tmp_path):
    """Two groups of two, whose ranks reduce-scatter: half of each vector goes to the other."""
    ranks = [[node(7, 5, comm_type=7, comm_size=800, comm_group=f"g{rank % 2}")]
             for rank in range(4)]
    counts = fl.traced_workload(files(tmp_path / "run", ranks)).counts()
    assert (counts["sends"], counts["sent_bytes"]) == (4, 4 * 400)


def test_the_command_converts_a_folder_or_the_file_of_rank_0(tmp_path):
    files(tmp_path / "run", [four(rank) for rank in range(4)])
    for source, name in (("run", "a.bin"), ("run/llama.0.et", "b.bin")):
        done = flyloom("workload", "convert", source, name, "allreduce=tree", "gflops=5",
                       cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()
    assert document("workload", "check", tmp_path / "a.bin")["complete"]
    over = document("sim", "message", "--workload", tmp_path / "run", "slim_fly:q=5,p=2")
    assert over["ranks"] == 4 and over["network"]["busiest_link_use"] > 0


def test_an_experiment_takes_a_folder_of_traces(tmp_path):
    folder = files(tmp_path / "run", [four(rank) for rank in range(4)])
    (tmp_path / "llama.toml").write_text("""
        schema = 1
        name = "llama"
        topology = { family = "slim_fly", q = 5, p = 2 }
        [sim.message]
        workload = "run"
        [sweep.grid]
        "sim.message.placement" = ["linear", "random"]
    """)
    done = flyloom("run", "llama.toml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / json.loads(done.stdout)["directory"]
                          / "results.json").read_text())
    took = [record["measures"]["sim.message"]["finish_ns"] for record in results["records"]]
    net = fl.slim_fly(q=5, p=2)
    assert took[0] == fl.simulate(net, "message", workload=folder).finish_ns and len(took) == 2


@pytest.mark.parametrize(("ranks", "options", "message"), [
    ([[node(4, 0, [9])]], [], "llama.0.et: node 0 (n): it waits for node 9, which is not there"),
    ([[node(5, 0, comm_dst=3, comm_size=1)]], [], "node 0 (n): there is no rank 3"),
    ([[node(5, 0, comm_size=1)]], [], "llama.0.et: byte 9: comm_dst: node 0 has none"),
    ([[node(4, 0)], [node(7, 0, comm_type=9)]], [], "it has none of the collective operations"),
    ([[node(4, 0)]], ["allreduce=bruck"], "allreduce"),
    ([[node(4, 0)]], ["copies=2"], "copies"),
])
def test_what_cannot_be_is_one_line(tmp_path, ranks, options, message):
    files(tmp_path / "run", ranks)
    done = flyloom("workload", "convert", "run", "out.goal", *options, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert message in done.stderr
    assert not (tmp_path / "out.goal").exists()


def test_files_that_are_missing_or_of_several_runs_are_said(tmp_path):
    folder = files(tmp_path / "run", [[node(4, 0)]] * 3)
    (folder / "llama.01.et").write_bytes((folder / "llama.1.et").read_bytes())
    with pytest.raises(RefusalError, match=r"llama.*1\.et: rank 1 has two files; one a rank"):
        fl.traced_workload(folder)
    (folder / "llama.01.et").unlink()
    (folder / "llama.1.et").unlink()
    with pytest.raises(RefusalError, match="the file of rank 1 is missing"):
        fl.traced_workload(folder)
    files(folder, [[node(4, 0)]], "other")
    with pytest.raises(RefusalError, match="the traces of 2 runs"):
        fl.traced_workload(folder)
    (folder / "other.0.et").write_bytes(b"\x80")
    with pytest.raises(RefusalError, match=r"other\.0\.et: byte 0: the trace is cut off"):
        fl.traced_workload(folder / "other.0.et")


def test_calls_on_the_host_take_their_time_and_send_nothing(tmp_path):
    """COMM_SEND, COMM_RECV and COMM_COLL of the host launch what is a node of its own."""
    calls = [node(kind, at, [at - 1] if at else [], 50, is_cpu_op=1)
             for at, kind in enumerate((5, 6, 7))]
    folder = files(tmp_path / "host", [calls, calls])
    lines = fl.workload(folder).text().splitlines()
    assert sum("calc 50000" in line for line in lines) == 2 * 3
    assert not any("send" in line or "recv" in line for line in lines)
    of_device = node(7, 0, is_cpu_op=0)
    with pytest.raises(RefusalError, match="comm_type"):
        fl.workload(files(tmp_path / "device", [[of_device], [of_device]]))
