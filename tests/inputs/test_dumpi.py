"""Traces of DUMPI: counted, against a real run and against files written by hand."""

from __future__ import annotations

from pathlib import Path

import dumpi_files
import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from dumpi_files import DOUBLE, NO_STATUS, i16, i32, listed, rank_file
from external import AMG, needs_amg
from flyloom._core import RefusalError
from flyloom.inputs.jobs import job
from test_traces import ALGORITHMS, Drawn, sent, written


def test_messages_and_bytes_are_counted(tmp_path):
    found = fl.check_workload(dumpi_files.pair(tmp_path / "run"))
    assert found.ranks == 2
    assert found.version == "1.1.0"
    assert found.calls == {"Send": 3, "Type_vector": 1}
    assert found.messages == 2
    assert found.bytes == 3 * 8 + 5 * 2 * 4 * 4
    assert (found.records, found.left_out) == (4, 70)


@needs_amg
def test_a_real_run_is_read_to_its_last_record():
    found = document("workload", "check", str(AMG))
    assert found["ranks"] == 27
    assert found["calls"] == {"Isend": 15_524, "Irecv": 15_524, "Waitall": 1_508,
                              "Comm_rank": 2_430, "Comm_size": 2_376, "Init": 27}
    assert found["messages"] == 15_524
    # 8 corners, 12 edges, 6 faces and the middle of 3 x 3 x 3, by their means in kB
    assert found["bytes"] == pytest.approx(
        1000 * (8 * 377 + 12 * 502 + 6 * 631 + 760), rel=0.005)


def test_the_file_of_a_rank_is_missing_or_there_twice(tmp_path):
    folder = dumpi_files.pair(tmp_path / "run")
    (folder / "app-00001.bin").write_bytes((folder / "app-0001.bin").read_bytes())
    with pytest.raises(RefusalError, match=r"app-0001\.bin: rank 1 has two files; one a rank"):
        fl.check_workload(folder)
    (folder / "app-00001.bin").unlink()
    (folder / "app-0001.bin").unlink()
    with pytest.raises(RefusalError, match="the file of rank 1 is missing; app-0001.bin"):
        fl.check_workload(folder)


def test_a_cut_file_is_named(tmp_path):
    folder = dumpi_files.pair(tmp_path / "run")
    file = folder / "app-0001.bin"
    file.write_bytes(file.read_bytes()[:-60])
    done = flyloom("workload", "check", str(folder))
    assert done.returncode == 2
    assert str(file) in done.stderr
    assert "Traceback" not in done.stderr


def test_a_footer_that_counts_otherwise_is_refused(tmp_path):
    content = dumpi_files.rank_file([(dumpi_files.SEND, dumpi_files.send(3, 14, 1))])
    at = content.index((0xF007FEE7).to_bytes(8, "big")) + 8
    wrong = content[:at] + (2).to_bytes(4, "big") + content[at + 4:]
    folder = dumpi_files.run(tmp_path / "run", [wrong])
    with pytest.raises(RefusalError, match="1 calls of MPI_Send, and by the footer 2 - 0"):
        fl.check_workload(folder)


def test_two_runs_and_no_number_of_processes(tmp_path):
    folder = dumpi_files.pair(tmp_path / "run")
    (folder / "app.meta").write_text("hostname=here\n")
    with pytest.raises(RefusalError, match="numprocs"):
        fl.check_workload(folder)
    dumpi_files.run(folder, [dumpi_files.rank_file([])], "other")
    with pytest.raises(RefusalError, match="2 runs"):
        fl.check_workload(folder)
    assert fl.check_workload(folder / "other.meta").messages == 0


class Blocking(Drawn):
    """A program without nonblocking collective operations, which DUMPI does not have."""

    later = 0.0


@pytest.mark.parametrize("seed", range(40))
def test_programs_are_the_same_as_liballprof_and_dumpi_have_them(seed, tmp_path):
    drawn = Blocking(seed)
    files = []
    for rank in drawn.ranks:
        process = dumpi_files.FromLiballprof(rank.rank)
        for line in rank.text().splitlines():
            process.line(line)
        files.append(process.file())
    made = fl.traced_workload(dumpi_files.run(tmp_path / "dumpi", files), **ALGORITHMS)
    assert sent(made.text()) == drawn.sent
    assert made == fl.traced_workload(written(drawn.ranks, tmp_path / "text"), **ALGORITHMS)
    # written anew it is the same trace
    fl.convert_workload(tmp_path / "dumpi", tmp_path / "new.dumpi")
    assert made == fl.traced_workload(tmp_path / "new.dumpi", **ALGORITHMS)


def run_of(folder: Path, ranks: int, calls) -> fl.Workload:
    """The schedule of processes that make the calls that ``calls(rank)`` gives."""
    return fl.traced_workload(
        dumpi_files.run(folder, [rank_file(calls(rank)) for rank in range(ranks)]))


def test_grids_and_their_slices(tmp_path):
    # 2 x 3 of 7 ranks: rows are broadcast to from their second rank, then columns from their first
    def calls(rank):
        grid = i16(2) + i32(2) + listed([2, 3]) + listed([0, 0]) + i32(0)
        if rank == 6:
            return [(99, grid + i16(1))]
        return [
            (99, grid + i16(4)),
            (111, i32(2) + i16(4) + listed([0, 1]) + i16(5)),
            (111, i32(2) + i16(4) + listed([1, 0]) + i16(6)),
            (53, i32(4) + DOUBLE + i32(1) + i16(5)),
            (53, i32(5) + DOUBLE + i32(0) + i16(6)),
        ]
    found = sent(run_of(tmp_path / "run", 7, calls).text())
    rows = {(row * 3 + 1, row * 3 + to, 32): 1 for row in range(2) for to in (0, 2)}
    assert found == rows | {(column, 3 + column, 40): 1 for column in range(3)}


def test_communicators_of_groups(tmp_path):
    # ranks 4 and 2 of five, in this order; then all but 0 and 4; then their union's
    def calls(rank):
        own = {
            4: i16(4), 2: i16(4),
        }.get(rank, i16(1))
        others = i16(5) if rank in (1, 2, 3) else i16(1)
        made = [
            (81, i16(2) + i32(5)), (72, i16(2, 10)),
            (76, i16(10) + i32(2) + listed([4, 2]) + i16(11)),
            (85, i16(2, 11) + own),
            # ranks 0 and 4: first, last, stride
            (79, i16(10) + i32(1) + i32(1) + listed([0, 4, 4]) + i16(12)),
            (85, i16(2, 12) + others),
        ]
        if rank in (4, 2):
            made.append((53, i32(1) + DOUBLE + i32(0) + i16(4)))
        if rank in (1, 2, 3):
            counts = listed([1, 2, 3]) + listed([0, 1, 3]) if rank == 2 else b""
            made.append((55, i32(rank - 1, 3, rank) + DOUBLE + i32(1) + i16(5) + counts + DOUBLE))
            made.append((87, i16(5)))
        return made
    found = sent(run_of(tmp_path / "run", 5, calls).text())
    assert found == {(4, 2, 8): 1, (1, 2, 8): 1, (3, 2, 24): 1}


def test_what_the_trace_found_complete_holds(tmp_path):
    # the second of three receives comes first, a test finds nothing, and the others come at last
    def calls(rank):
        if rank == 1:
            return [(0, dumpi_files.send(1, 14, 0)) for _ in range(3)]
        posted = [
            (12, i32(1) + DOUBLE + i32(1, 9) + i16(2) + i32(request)) for request in (2, 3, 4)
        ]
        every = i32(3) + listed([2, 3, 4])
        return [
            *posted,
            (16, every + i32(1) + NO_STATUS),
            (14, i32(2) + i32(0) + NO_STATUS),
            (20, every + i32(2) + listed([0, 2]) + NO_STATUS),
            (18, i32(3) + listed([1, 1, 1]) + NO_STATUS),
        ]
    made = run_of(tmp_path / "run", 2, calls)
    assert fl.check_workload(made).complete
    assert sent(made.text()) == {(1, 0, 8): 3}


def test_calls_as_codes_replays_them(tmp_path):
    # ranks 2 and 3 are 0 and 1 of a communicator of their own; the first to be found complete is
    # waited for by the rules of MPI alone, and so is the sum
    def calls(rank):
        split = (86, i16(2) + i32(rank // 2, rank) + i16(4))
        total = (65, i32(1) + DOUBLE + dumpi_files.SUM + i16(2))
        peer = 1 - rank % 2
        posted = [
            (12, i32(5) + DOUBLE + i32(peer, 9) + i16(4) + i32(2)),
            (8, i32(5) + DOUBLE + i32(peer, 9) + i16(4) + i32(3)),
            (16, i32(2) + listed([2, 3]) + i32(0) + NO_STATUS),
            total,
            (13, i32(3) + NO_STATUS),
        ]
        return [split, *(posted if rank > 1 else [total])]
    folder = tmp_path / "run"
    real = run_of(folder, 4, calls)
    assert {pair: times for pair, times in sent(real.text()).items() if pair[2] == 40} == {
        (2, 3, 40): 1, (3, 2, 40): 1}
    assert len(sent(real.text())) > 2
    made = fl.traced_workload(folder, rules="codes")
    assert sent(made.text()) == {(2, 1, 40): 1, (3, 0, 40): 1}
    assert made.counts()["receives"] == 2
    for codes, asked in ((True, made), (False, real)):  # as packets are asked for
        assert job(folder, codes=codes).text() == asked.text()
    # nothing waits for a receive
    receives = [line.split(":")[0] for line in made.text().splitlines() if " recv " in f" {line}"]
    assert receives
    assert not any(f"requires {label}" in line.replace("irequires", "")
                   for line in made.text().splitlines() for label in receives)
    with pytest.raises(RefusalError, match="rules.*mpi or codes"):
        fl.traced_workload(folder, rules="smpi")


def test_an_unknown_communicator_is_named(tmp_path):
    folder = dumpi_files.run(tmp_path / "run", [rank_file([(52, i16(7))])])
    done = flyloom("workload", "convert", str(folder), str(tmp_path / "run.goal"))
    assert done.returncode == 2
    assert "app-0000.bin: byte 16: communicator 7 is unknown" in done.stderr


@pytest.mark.parametrize(("call", "arguments", "why"), [
    (143, i32(1) + DOUBLE + i32(0, 0, 1) + DOUBLE + i16(1), "MPI_Put at byte 16"),
    (24, i32(2), "MPI_Cancel at byte 16"),
    (8, dumpi_files.send(1, 40, 0) + i32(2), "whose size is unknown"),
    (0, i32(1) + DOUBLE + i32(5, 1) + i16(2), "there is no rank 5"),
    (13, i32(9) + NO_STATUS, "request 9 was never begun"),
])
def test_what_cannot_be_turned_into_messages_is_refused(call, arguments, why, tmp_path):
    folder = dumpi_files.run(tmp_path / "run", [rank_file([(call, arguments)])])
    with pytest.raises(RefusalError, match=why):
        fl.traced_workload(folder)


@needs_amg
def test_a_real_run_comes_to_its_end():
    found = fl.check_workload(fl.traced_workload(AMG))
    assert found.complete, found.left
    assert (found.sends, found.receives, found.sent_bytes) == (15_524, 15_524, 13_584_368)
