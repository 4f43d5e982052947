"""docs/adding-a-report-section.md is true: its two files are enough for a section of the report."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import sys
from pathlib import Path

import flyloom as fl
import networkx as nx
import pytest
from checkout import ROOT
from flyloom.cli import parts
from flyloom.lab import store
from flyloom.report import check, page, section
from source_copy import run
from test_report import Page

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

TEXT = (ROOT / "docs" / "adding-a-report-section.md").read_text(encoding="utf-8")
PARTS = ROOT / "docs" / "parts"
FILES = ("hops.py", "hops.html.j2")


def shown(language: str) -> str:
    """The first block of a language."""
    return re.search(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)[1]


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two files in a folder of sections."""
    folder = tmp_path / "sections"
    folder.mkdir()
    for name in FILES:
        shutil.copy(PARTS / name, folder / name)
    monkeypatch.setattr(section, "__path__", [*section.__path__, str(folder)])
    monkeypatch.delitem(sys.modules, "flyloom.report.section.hops", raising=False)
    yield
    sys.modules.pop("flyloom.report.section.hops", None)


def test_the_page_shows_the_files():
    assert [shown("python"), shown("html")] == [(PARTS / name).read_text() for name in FILES]


def test_two_files_are_enough(beside, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lengths.toml").write_text(shown("toml"))
    folder = Path(fl.run("lengths.toml").directory)
    html = (folder / "report.html").read_text(encoding="utf-8")
    parsed = Page(html)
    # the Slim Fly of q=5 is the Hoffman-Singleton graph; a route goes from a switch to each of the
    # four endpoints of another
    far = nx.floyd_warshall_numpy(nx.hoffman_singleton_graph())
    counts = [4 * int((far == hops).sum()) for hops in (1, 2)]
    assert parsed.row("hops", "min_hop, LMC 0")[2:4] == [f"{n:,}" for n in counts]
    routes = [int(n.replace(",", "")) for n in parsed.row("hops", "up_down, LMC 0")[1:]]
    assert sum(routes) == sum(counts) and routes[1] == counts[0]
    assert "<svg" in html[html.index('<section id="hops">'):html.index('<section id="provenance">')]
    titles = re.findall(r'<a href="#(\w+)">', html)
    assert titles.index("routing") + 1 == titles.index("hops")

    saved = json.loads((folder / "results.json").read_text())
    (folder / "manifest.json").unlink()  # it has the digests of the others
    saved["records"][1]["verify"]["complete"]["hop_histogram"][1] = -1
    (folder / "results.json").write_text(json.dumps(saved))
    with pytest.raises(fl.RefusalError, match=r"records\[1\].*hop_histogram\[1\]: -1 found"):
        store.rebuild(folder)
    assert {"kind": "section", "name": "hops", "doc": "How many routes of each routing cross how "
            "many links."} in parts.rows_of(parts.SECTIONS[0])
    reference = runpy.run_path(str(ROOT / "scripts" / "json-reference"))["results_page"]()
    assert "| `records[].verify.complete.hop_histogram` | routes by the links" in reference


@pytest.mark.parametrize("file", ["docs/parts/hops.html.j2",
                                  "python/flyloom/report/section/ebb.html.j2"])
def test_make_check_runs_what_a_section_reaches(file):
    asked = run(ROOT, sys.executable, "scripts/affected.py", file)
    (words,) = [line for line in asked.stdout.splitlines() if line.startswith("tests: ")]
    assert "tests/docs/test_adding_a_section.py" in words.split(), asked.stderr
    assert ("tests/report/test_report.py" in words.split()) == ("ebb" in file)


def test_without_the_files_there_is_no_such_section():
    assert "hops" not in {one.name for one in section.sections()}
    assert "flyloom.report.section.hops" not in sys.modules


def fields(shape: object, at: str):
    """All fields of a shape and of those inside it."""
    for name, field in shape.fields.items():
        kind = field.kind
        yield f"{at}.{name}", field
        while isinstance(kind, list):
            kind = kind[0]
        if hasattr(kind, "fields"):
            yield from fields(kind, f"{at}.{name}")


def test_sections_say_what_a_reader_needs():
    known = section.sections()
    assert len({one.place for one in known}) == len(known)
    for one in known:
        module = sys.modules[f"flyloom.report.section.{one.name}"]
        assert Path(module.__file__).with_name(f"{one.name}.html.j2").is_file()
        assert one.title and one.doc.endswith(".")
    assert page.check is check.check
    unsaid = [at for at, field in fields(check.page_shape(known), "data") if not field.words]
    assert not unsaid


def test_no_two_sections_have_a_field_of_one_name():
    names = []
    for one in section.sections():
        for of in (one.of_routing, one.of_network):
            names += [] if of is None else [(of is one.of_routing, name)
                                            for name in of.shape.__annotations__]
        names += [] if one.entries is None else [one.entries.key]
    assert len(names) == len(set(names))
