"""Files of places in experiments: found beside the file, checked before any point runs, kept by
what is in them."""

from __future__ import annotations

import flyloom as fl
import pyarrow.parquet
import pytest
from cli_helpers import flyloom
from flyloom import RefusalError

HEAD = """\
schema = 1
name = "some"
topology = { family = "ring", n = 6, p = 1 }
"""
WORK = 'workload = "alltoall_pairwise ranks=3 bytes=64"'
GOOD = '[[point]]\nsim.message = { workload = "alltoall_pairwise ranks=3 bytes=64" }\n'


def point(name, level="message", more=""):
    return f'[[point]]\nsim.{level} = {{ {WORK}, placement = "{name}"{more} }}\n'


def rows(folder):
    return pyarrow.parquet.read_table(folder / "out/some/rows.parquet").to_pylist()


@pytest.fixture
def folder(tmp_path):
    """An experiment's folder, which is not the one that it is run from."""
    (place := tmp_path / "files").mkdir()
    return place


def test_processes_are_where_the_file_says(folder):
    """On a ring of six, of processes at 0, 1 and 2 two pairs have one link between them and one has
    two; at 0, 2 and 4 all pairs have two, and then packets take more hops."""
    (folder / "x.toml").write_text(HEAD + point("places") + point("places", "packet"))
    hops = []
    for text, places in (("0\n1\n2\n", [0, 1, 2]), ("2\n4\n0\n", [2, 4, 0])):
        (folder / "places").write_text(text)
        done = flyloom("run", "files/x.toml", "--workers", 2, cwd=folder.parent)
        assert done.returncode == 0, done.stderr
        messages, packets = rows(folder.parent)
        work = "alltoall_pairwise ranks=3 bytes=64"
        by_hand = fl.message("ring:n=6,p=1", workload=work, placement=places)
        assert messages["sim_message_mean_finish_ns"] == by_hand.mean_finish_ns
        by_hand = fl.packet("ring:n=6,p=1", workload=work, placement=places).points[0]
        assert packets["sim_packet_end_ns"] == by_hand.end_ns
        hops.append(packets["sim_packet_mean_hops"])
        again = flyloom("run", "files/x.toml", cwd=folder.parent)
        assert again.stdout.count("kept ") == 2, "what is in the file is part of the point's key"
    assert hops[1] - hops[0] == pytest.approx(2 - 4 / 3)


@pytest.mark.parametrize(("text", "level", "said"), [
    ("0\n1\n2\n\n3\n", "message", "places: line 5: 4 endpoints for 3 ranks"),
    ("0\n1\n# here\n1\n", "message", "places: line 4: rank 2 is the second on "),
    ("0\n1\n2\n3\n", "packet", "places: line 4: 4 endpoints for 3 ranks"),
    ("0\n9\n1\n", "packet", 'places: line 2: there is no endpoint "9"'),
    (None, "message", "'places.txt' is neither a policy nor a file"),
])
@pytest.mark.parametrize("routed", [False, True])
def test_a_file_that_cannot_be_is_refused_before_anything_runs(folder, text, level, said, routed):
    name = "places" if text else "places.txt"
    if text:
        (folder / name).write_text(text)
    more = 'routing = { engine = "min_hop" }\n' if routed else ""
    (folder / "x.toml").write_text(HEAD + GOOD + point(name, level) + more)
    done = flyloom("run", "files/x.toml", "--workers", 1, cwd=folder.parent)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert "point 2 of 2 refused" in done.stderr
    first, *lines = done.stdout.splitlines()
    assert first.startswith("refused  point 2") and said in first, "before anything runs"
    assert any(line.startswith("measure ") for line in lines)
    assert [row["refused"] is None for row in rows(folder.parent)] == [True, False]


def test_as_many_as_may_be_on_an_endpoint_run(folder):
    (folder / "places").write_text("1\n1\n0\n")
    (folder / "x.toml").write_text(HEAD + point("places", more=", per_endpoint = 2"))
    fl.run(folder / "x.toml", out=folder.parent / "out", workers=1)
    (folder / "places").write_text("1\n1\n1\n")
    with pytest.raises(RefusalError, match="places: line 3: rank 2 is the third on"):
        fl.run(folder / "x.toml", out=folder.parent / "out", workers=1)
