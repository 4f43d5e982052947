"""`[choose]` in an experiment: the choice of the verb, kept, reported; its networks as points."""

from __future__ import annotations

import inspect
import io
import json

import flyloom as fl
import pyarrow.parquet
import pypdf
import pytest
from cli_helpers import document, flyloom
from flyloom import _core
from flyloom.inputs.needs import TERMS
from test_cost import QUOTED

HEAD = 'schema = 1\nname = "c"\nseed = 3\n'
NEED = '[choose]\nendpoints = 60\nradix = 16\ncandidates = 3\nbudget = "1M"\n'
ASKED = {"radix": 16, "candidates": 3, "budget": 1e6, "seed": 3}


def run(folder, text, **options):
    file = folder / "c.toml"
    file.write_text(text)
    said = []
    found = fl.run(file, out=folder, workers=1, say=lambda *line: said.append(line), **options)
    return found, said


def rows(folder):
    return pyarrow.parquet.read_table(folder / "c" / "rows.parquet").to_pylist()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The folder of an experiment that chooses a network and does nothing else."""
    folder = tmp_path_factory.mktemp("alone")
    found, said = run(folder, HEAD + NEED)
    assert [stage for stage, *_ in said] == ["choose", "report"]
    assert (found.points, found.holds) == (0, True)
    return folder


def test_a_choice_alone_is_that_of_the_verb(alone):
    chosen = fl.choose(60, **ASKED).to_dict()
    saved = json.loads((alone / "c" / "results.json").read_text())
    assert saved["choice"] == json.loads(json.dumps(chosen))
    assert json.loads((alone / "c" / "choice.json").read_text()) == saved["choice"]
    assert rows(alone) == []


def test_the_report_begins_with_the_answer(alone):
    best = fl.choose(60, **ASKED).candidates[0]
    page = (alone / "c" / "report.html").read_text()
    places = [page.index(words) for words in
              ("The answer", "Money and performance", 'id="provenance"')]
    assert places == sorted(places)
    assert "Take number 1, a complete network" in page and best["network"] in page
    assert "choice.pdf" in page and "Page 2 says" not in page
    assert 'id="networks"' not in page
    pdf = pypdf.PdfReader(io.BytesIO((alone / "c" / "choice.pdf").read_bytes()))
    assert len(pdf.pages) == 2 and best["network"] in pdf.pages[0].extract_text()
    assert (alone / "c" / "choice.html").is_file() and (alone / "c" / "choice.csv").is_file()
    again = document("report", str(alone / "c"))
    assert (alone / "c" / "report.html").read_text() == page and again["report"]


def test_a_choice_is_kept_and_computed_anew(tmp_path, monkeypatch):
    made = []
    from flyloom.lab import choice

    verb = choice.choose
    monkeypatch.setattr(choice, "choose", lambda **asked: made.append(asked) or verb(**asked))
    run(tmp_path, HEAD + NEED)
    assert len(made) == 1
    content = (tmp_path / "c" / "choice.json").read_bytes()
    _, said = run(tmp_path, HEAD + NEED)
    assert len(made) == 1 and said[0][0] == "kept"
    assert (tmp_path / "c" / "choice.json").read_bytes() == content
    run(tmp_path, HEAD + NEED, fresh=True)
    assert len(made) == 2
    kept = next((tmp_path / "c" / "points").iterdir())
    kept.write_text(kept.read_text().replace('"rank": 1', '"rank": 7', 1))
    _, said = run(tmp_path, HEAD + NEED)
    assert len(made) == 3 and said[0][0] == "anew" and "altered" in said[0][1]
    run(tmp_path, HEAD + NEED.replace("60", "61"))
    run(tmp_path, HEAD.replace("seed = 3", "seed = 4") + NEED)
    assert len(made) == 5 and made[-1]["seed"] == 4
    # the files of a choice go where an experiment has none
    run(tmp_path, HEAD + '[topology]\nfamily = "ring"\nn = 4\np = 1\n')
    assert not [*(tmp_path / "c").glob("choice.*")]


POINTS = """\
[topology]
chosen = 1
[routing]
engine = "dfsssp"
[ebb]
samples = 5
[cost]
[sim.packet]
load = [0.2]
run = { warmup_ns = 1000, measure_ns = 2000 }
[sweep.grid]
"topology.chosen" = [1, 2]
"""


def test_chosen_networks_are_designed_routed_and_simulated(tmp_path):
    found, _ = run(tmp_path, HEAD + NEED + POINTS)
    chosen = fl.choose(60, **ASKED).candidates[:2]
    assert found.points == 2
    here = rows(tmp_path)
    for row, best in zip(here, chosen, strict=True):
        assert row["recipe"] == f"{best['network']},gbps=400"
        assert row["cost_usd"] == best["cost_usd"] and row["racks"] == best["racks"]
        assert row["cost_rate_source"] == "network" and row["sim_packet_rate_gbps"] == 400
        assert row["verified"] and row["sim_packet_accepted_load"] > 0.15
    # the same as an experiment with these networks written out
    written = "".join(
        "[[point]]\ntopology = {" + ", ".join(
            f"{key} = {json.dumps(value)}"
            for key, value in {"family": best["family"], **best["params"], "gbps": 400}.items()
        ) + "}\n" for best in chosen)
    rest = POINTS.partition("[routing]")[2].partition("[sweep")[0]
    run(tmp_path, HEAD + "[routing]" + rest + written)
    assert [row["sim_packet_mean_latency_ns"] for row in rows(tmp_path)] == [
        row["sim_packet_mean_latency_ns"] for row in here]
    assert [row["point"] for row in rows(tmp_path)] == [row["point"] for row in here]


def test_what_is_effective_is_the_same_experiment(tmp_path):
    text = HEAD + NEED + POINTS
    run(tmp_path, text)
    before = rows(tmp_path)
    effective = (tmp_path / "c" / "effective.toml").read_text()
    found, said = run(tmp_path, effective)
    assert found.reused == 2 and said[0][0] == "kept" and rows(tmp_path) == before


def test_a_rank_that_there_is_not_is_refused_with_its_point(tmp_path):
    need = NEED.replace("candidates = 3", 'candidates = 3\nfamilies = ["slim_fly"]')
    text = HEAD + need + POINTS.replace("[1, 2]", "[1, 3]")
    (tmp_path / "c.toml").write_text(text)
    done = flyloom("run", "c.toml", "--workers", "1", cwd=tmp_path)
    count = len(fl.choose(60, **ASKED, families=["slim_fly"]).candidates)
    assert count < 3
    assert done.returncode == 2 and "c.toml: line 21" in done.stderr
    assert f"there is no network 3, only {count}" in done.stderr
    assert rows(tmp_path / "out")[0]["verified"]


def test_the_dry_run_says_what_would_be_chosen(tmp_path):
    (tmp_path / "c.toml").write_text(HEAD + NEED + POINTS)
    done = flyloom("run", "c.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0 and not (tmp_path / "out").exists()
    assert done.stdout.splitlines()[0] == (
        "choose   networks for 60 endpoints (radix 16, candidates 3, budget 1M)")
    assert "   1  chosen network 1\n   2  chosen network 2\n" in done.stdout
    (tmp_path / "c.toml").write_text(HEAD + NEED)
    found = document("run", "c.toml", "--dry-run", cwd=tmp_path)
    assert found == {"points": [], "choose": {
        "endpoints": 60, "radix": 16, "candidates": 3, "budget": "1M"}}


@pytest.mark.parametrize("command", ["run", "dry"])
@pytest.mark.parametrize(("line", "said"), [
    ("endpoint = 3", "line 9, column 1: choose: unknown field `endpoint`"),
    ("gbps = true", "line 9, column 1: choose: gbps: "),
    ("oversubscription = 0.5", "line 9, column 1: choose: oversubscription: 0.5 is out of range"),
    ("families = [\"fat_tre\"]", "line 9, column 1: choose: families: "),
    ("weights = { price = 1 }", "line 9, column 1: choose: weights: "),
    ("catalog = \"none.toml\"", "none.toml"),
    ("quotation = \"none.csv\"", "line 9, column 1: choose: quotation: there is no file"),
    ("spare = 2", "line 9, column 1: choose: spare: 2 is out of range; 0 to 1"),
    ("planes = 1000", "line 9, column 1: choose: planes: 1000 is out of range"),
])
def test_faults_name_file_line_and_key(command, line, said, tmp_path):
    (tmp_path / "c.toml").write_text(f"{HEAD}{NEED}{line}\n")
    words = ["--dry-run"] if command == "dry" else ["--workers", "1"]
    done = flyloom("run", "c.toml", *words, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "c.toml: " in done.stderr and said in done.stderr, done.stderr


def test_a_need_that_nothing_carries_is_refused_with_its_place(tmp_path):
    (tmp_path / "c.toml").write_text(HEAD + NEED.replace('"1M"', "5"))
    done = flyloom("run", "c.toml", "--workers", "1", cwd=tmp_path)
    assert done.returncode == 2 and "c.toml: line 4, column 2: choose: no network" in done.stderr


def test_the_table_takes_what_the_verb_takes():
    keys = set(_core.experiment_schema()["$defs"]["Choose"]["properties"]) if (
        "Choose" in _core.experiment_schema()["$defs"]) else set(
        _core.experiment_schema()["properties"]["choose"]["properties"])
    taken = inspect.signature(fl.choose).parameters
    assert keys == (set(taken) - {"progress"}) | set(TERMS)
    assert set(TERMS) == set(inspect.signature(fl.shop).parameters) - {
        "catalog", "gbps", "include", "electric_limit_m"}
    # a rank above what is kept by default is refused before the choice is made
    most = taken["candidates"].default
    text = f"{HEAD}[choose]\nendpoints = 60\n[topology]\nchosen = "
    assert _core.expand(f"{text}{most}\n", "c.toml", [])["points"]
    with pytest.raises(fl.RefusalError, match=f"1, the best, to {most}"):
        _core.expand(f"{text}{most + 1}\n", "c.toml", [])


def test_terms_of_the_purchase_count_in_both_files(tmp_path):
    (tmp_path / "q.csv").write_text(QUOTED)
    need = ('[choose]\nendpoints = 200\nradix = 16\nfamilies = ["slim_fly"]\noversubscription = 1\n'
            'quotation = "q.csv"\nspare = 0.1\ncandidates = 1\n')
    (tmp_path / "need.toml").write_text(need)
    found = document("choose", str(tmp_path / "need.toml"))
    shop = fl.shop(quotation=tmp_path / "q.csv", spare=0.1)
    best = found["candidates"][0]
    assert best["cost_usd"] == fl.cost(best["network"], shop).cost_usd
    # an option counts more than the file's, and the rest of the file stays
    fewer = document("choose", str(tmp_path / "need.toml"), "--spare", "0")["candidates"][0]
    assert fewer["cost_usd"] == fl.cost(best["network"], fl.shop(
        quotation=tmp_path / "q.csv", spare=0)).cost_usd < best["cost_usd"]
    run(tmp_path, HEAD + need)
    saved = json.loads((tmp_path / "c" / "choice.json").read_text())
    assert saved["candidates"][0]["cost_usd"] == best["cost_usd"]
    (tmp_path / "q.csv").write_text(QUOTED.replace("24,500.00", "25,500.00"))
    _, said = run(tmp_path, HEAD + need)
    assert said[0][0] == "choose"
    dearer = json.loads((tmp_path / "c" / "choice.json").read_text())["candidates"][0]
    # a tenth more of the switches, rounded up
    switches = best["switches"] + -(-best["switches"] // 10)
    assert dearer["cost_usd"] - best["cost_usd"] == pytest.approx(1000 * switches)
