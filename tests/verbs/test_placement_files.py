"""Placements that name endpoints one by one: no more than ranks, none beyond what may be on one."""

import flyloom as fl
import pytest
from cli_helpers import flyloom

WORK = "alltoall_pairwise ranks=3 bytes=64"
NET = "ring:n=4,p=1"
WORDS = ("sim", "message", NET, "--workload", WORK, "--placement", "places")


@pytest.mark.parametrize(("text", "said"), [
    ("# head\n0\n1\n\n2\n3\n", "--placement: places: line 6: 4 endpoints for 3 ranks"),
    ("0\n1\n# here\n1\n", "--placement: places: line 4: rank 2 is the second on "),
    ("rank 1=2 slot=0\nrank 0=1 slot=0\nrank 2=1 slot=0\n",
     "--placement: places: line 3: rank 2 is the second on "),
])
def test_a_file_is_refused_with_its_line(tmp_path, text, said):
    (tmp_path / "places").write_text(text)
    done = flyloom(*WORDS, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_as_many_as_may_be_on_an_endpoint_run(tmp_path):
    (tmp_path / "places").write_text("0\n1\n1\n")
    assert flyloom(*WORDS, "--per-endpoint", 2, cwd=tmp_path).returncode == 0
    (tmp_path / "places").write_text("1\n1\n1\n")
    done = flyloom(*WORDS, "--per-endpoint", 2, cwd=tmp_path)
    assert done.returncode == 2 and "line 3: rank 2 is the third on" in done.stderr
    with pytest.raises(fl.RefusalError, match="placement: 4 endpoints for 3 ranks"):
        fl.message(NET, workload=WORK, placement=[0, 1, 2, 3])


def test_packets_refuse_more_endpoints_than_ranks(tmp_path):
    (tmp_path / "places").write_text("0\n1\n2\n3\n")
    done = flyloom("sim", "packet", *WORDS[2:], cwd=tmp_path)
    assert done.returncode == 2 and "line 4: 4 endpoints for 3 ranks" in done.stderr, done.stderr


def test_a_workload_of_packets_without_ranks_has_one_for_every_endpoint():
    found = fl.packet(NET, workload="alltoall_pairwise bytes=64")
    whole = fl.packet(NET, workload="alltoall_pairwise ranks=4 bytes=64")
    assert found.jobs[0]["ranks"] == 4
    assert found.jobs[0]["messages"] == whole.jobs[0]["messages"] == 4 * 3
    with pytest.raises(fl.RefusalError, match="ranks: it is not given"):
        fl.packet(NET, workload=["alltoall_pairwise bytes=64", "alltoall_pairwise ranks=2 bytes=8"])
