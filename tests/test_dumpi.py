"""Traces of DUMPI: counted, against a real run and against files written by hand."""

from __future__ import annotations

import os
from pathlib import Path

import dumpi_files
import flyloom as fl
import pytest
from cli_helpers import document, flyloom
from flyloom._core import RefusalError

ROOT = Path(__file__).parents[1]
EXTERNAL = Path(os.environ.get("FLYLOOM_EXTERNAL", ROOT.parent / "shared" / "data" / "external"))
AMG = EXTERNAL / "amg_n27_dumpi"


def test_messages_and_bytes_are_counted(tmp_path):
    found = fl.check_workload(dumpi_files.pair(tmp_path / "run"))
    assert found.ranks == 2
    assert found.version == "1.1.0"
    assert found.calls == {"Send": 3, "Type_vector": 1}
    assert found.messages == 2
    assert found.bytes == 3 * 8 + 5 * 2 * 4 * 4
    assert (found.records, found.left_out) == (4, 70)


@pytest.mark.skipif(not AMG.is_dir(), reason="the trace of AMG is not here")
def test_a_real_run_is_read_to_its_last_record():
    found = document("workload", "check", str(AMG))
    assert found["ranks"] == 27
    assert found["calls"] == {"Isend": 15_524, "Irecv": 15_524, "Waitall": 1_508,
                              "Comm_rank": 2_430, "Comm_size": 2_376, "Init": 27}
    assert found["messages"] == 15_524
    # 8 corners, 12 edges, 6 faces and the middle of 3 x 3 x 3, by their means in kB
    assert found["bytes"] == pytest.approx(
        1000 * (8 * 377 + 12 * 502 + 6 * 631 + 760), rel=0.005)


def test_the_file_of_a_rank_is_missing(tmp_path):
    folder = dumpi_files.pair(tmp_path / "run")
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


def test_it_is_said_that_no_schedule_is_made_of_it(tmp_path):
    folder = dumpi_files.pair(tmp_path / "run")
    done = flyloom("workload", "convert", str(folder), str(tmp_path / "run.goal"))
    assert done.returncode == 2
    assert "DUMPI" in done.stderr
