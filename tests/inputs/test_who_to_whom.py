"""Every command that takes who sends how much to whom reads the same kinds of files."""

from __future__ import annotations

import flyloom as fl
import numpy as np
import pytest
from cli_helpers import document, flyloom
from flyloom.inputs.traffic import demands

NET = "ring:n=4,p=1"
SENT = {(0, 1): 100.0, (1, 2): 200.0, (3, 0): 50.0}
"""Who sends how many bytes to whom, endpoint by endpoint."""


def table(names: list[str] | None, *, heading: str, first: bool = False) -> str:
    """The pairs as a table; with names, or numbers, and with pandas' column of row numbers."""
    called = names or ["0", "1", "2", "3"]
    rows = [f"{called[a]},{called[b]},{size:g}" for (a, b), size in SENT.items()]
    if first:
        rows, heading = [f"{i},{row}" for i, row in enumerate(rows)], f",{heading}"
    return "\n".join([heading, *rows]) + "\n"


def matrix() -> np.ndarray:
    full = np.zeros((4, 4))
    for (a, b), size in SENT.items():
        full[a, b] = size
    return full


MARKET = "%%MatrixMarket matrix coordinate real general\n4 4 3\n1 2 100\n2 3 200\n4 1 50\n"
GOAL = """num_ranks 4
rank 0 {
a: send 100b to 1 tag 0
b: recv 50b from 3 tag 0
}
rank 1 {
a: recv 100b from 0 tag 0
b: send 200b to 2 tag 0
}
rank 2 {
a: recv 200b from 1 tag 0
}
rank 3 {
a: send 50b to 0 tag 0
}
"""


@pytest.fixture
def files(tmp_path):
    """The same traffic in files of every kind."""
    names = list(fl.network(NET).endpoint_names)
    texts = {
        "names.csv": table(names, heading="source,destination,bytes"),
        "pandas.csv": table(names, heading="source,destination,amount", first=True),
        "numbers.csv": table(None, heading="src,dst,demand"),
        "blanks.txt": table(None, heading="src,dst,bytes").replace(",", " "),
        "rows.txt": "\n".join(" ".join(f"{x:g}" for x in row) for row in matrix()) + "\n",
        "market.mtx": MARKET, "calls.goal": GOAL,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    np.save(tmp_path / "array.npy", matrix())
    return [tmp_path / name for name in (*texts, "array.npy")]


def test_graphs_are_read_from_every_kind_of_file(files):
    """Each pair is sent over as many links as its ends are apart in the ring, counted by hand: 1
    each. So the processes in order have 350 hop-bytes."""
    for file in files:
        graph = fl.communication(str(file), names=fl.network(NET).endpoint_names)
        columns = graph.columns()
        found = dict(zip(zip(columns["from"].tolist(), columns["to"].tolist(), strict=True),
                         columns["bytes"].tolist(), strict=True))
        assert found == SENT, file
        assert graph.processes == 4, file
        said = document("map", NET, "--graph", file, "--method", "linear")
        assert (said["processes"], said["hop_bytes"]) == (4, 350), file


@pytest.mark.filterwarnings("ignore:.*taken as bytes")
def test_traffic_is_read_from_every_kind_of_file(files):
    """Bytes are in units of what the busiest endpoint sends, 200: 0.5, 1 and 0.25."""
    on = fl.network(NET)
    for file in files:
        times = 1 if file.name in UNITS else 200
        messages = demands(on, str(file)).messages()
        ends = zip(messages["source"].tolist(), messages["destination"].tolist(), strict=True)
        found = dict(zip(ends, (times * messages["amount"]).tolist(), strict=True))
        assert found == pytest.approx(SENT), file
        met = fl.congestion(NET, traffic=str(file))
        assert met.busiest_channels[0].load == (200 if file.name in UNITS else 1), file


UNITS = {"pandas.csv", "numbers.csv", "rows.txt", "market.mtx", "array.npy"}
"""Files whose amounts, below a million and without a heading that says bytes, are in units of an
endpoint's rate."""


def test_matrices_of_workloads_are_read_from_pairs(files, tmp_path):
    wanted = None
    for file in files:
        if file.name in {"names.csv", "pandas.csv", "calls.goal"}:
            continue
        made = flyloom("workload", "make", "alltoallv_linear", "ranks=4", "bytes=0",
                       f"matrix={file}", "-o", tmp_path / "made.goal")
        assert made.returncode == 0, (file, made.stderr)
        text = (tmp_path / "made.goal").read_text()
        wanted = wanted or text
        assert text == wanted, file
    assert "100b to 1" in wanted and "200b to 2" in wanted and "50b to 0" in wanted


def test_an_experiment_reads_pairs_by_names(files, tmp_path):
    (tmp_path / "e.toml").write_text(
        'schema = 1\nname = "e"\nseed = 1\ntopology = { family = "ring", n = 4, p = 1 }\n'
        'routing = { engine = "sssp" }\ncongestion = { traffic = "names.csv" }\n'
        'map = { graph = "names.csv", method = "linear" }\n')
    done = flyloom("run", tmp_path / "e.toml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "hop bytes 350" in done.stdout + done.stderr


@pytest.mark.parametrize(("text", "why"), [
    ("source,destination,bytes\n0,nobody,5\n", "line 2: there is no endpoint 'nobody'"),
    ("source,destination,bytes\n0,1,-5\n", "line 2: -5: no amount"),
    ("source,destination,bytes\n0,1\n0,1,5\n", "line 3: 3 values"),
    ("source,destination,bytes\n", "no pairs"),
    ("src_switch,dst_switch,demand\n0,1,5\n", "switches are no processes"),
])
def test_pairs_that_cannot_be_used_are_refused(tmp_path, text, why):
    (tmp_path / "bad.csv").write_text(text)
    said = flyloom("map", NET, "--graph", tmp_path / "bad.csv")
    assert said.returncode == 2 and why in said.stderr, said.stderr
