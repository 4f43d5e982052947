"""The site that `make site` builds: strict, searchable, readable at any width, light and dark."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path

import browser
import flyloom
import page_blocks
import printed
import pytest
import staging
from browser_session import Session
from checkout import ROOT

PLACE = ROOT / "target" / "site-tested"
"""Kept between runs of the tests: Sphinx reads again only the pages that have changed."""
NEEDED = "sphinx", "myst_parser", "pydata_sphinx_theme", "sphinx_design", "numpydoc"
LACKING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
BUILT = pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}")

OPENED = (
    "index", "tutorials", "reference", "install", "job-architect", "job-operator", "choosing",
    "cabling", "production", "adding-a-topology", "networks", "structure", "cost", "routing",
    "flit", "packet", "message", "measures", "cli", "commands-simulators-and-measurement",
    "experiment-schema", "json-reference", "coming-from-booksim", "python-networks",
    "python-results", "c-flyloom", "glossary", "flit-figures", "architecture", "search",
    "files-docs-parts-star-graph-rs",
)
WORDS = {
    "slim fly": "python-families", "deadlock": "routing", "anynet": "flit", "LMC": "routing",
    "rankfile": "mapping", "UGAL": "flit", "ibnetdiscover": "networks", "GOAL": "message",
    "eBB": "measures", "dragonfly": "topologies", "notified access": "runtime", "credits": "flit",
    "up_down": "engines", "OpenSM": "opensm", "virtual channel": "flit", "floor": "plan",
    "bill": "cost", "allreduce": "workloads", "fly_init": "c-flyloom",
    "effective_bisection_bandwidth": "python-measures", "map_processes": "python-simulators",
}
"""What people look for, and a page that says it, which is among the first that are found."""
FIRST = 12


@pytest.fixture(scope="module")
def site() -> Path:
    """The folder of a version, built as `make site` builds it, without running blocks."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "site"), "--as-kept", "--output", str(PLACE)],
        cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return PLACE / "html" / "next"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Session]:
    """One browser for all pages."""
    with Session() as session:
        yield session


def addresses(page: Path) -> Iterator[tuple[str, str]]:
    """The files and the places in them that a page of HTML refers to, but for other sites."""
    text = re.sub(r"<script.*?</script>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r'(?:href|src)="([^"]*)"', text):
        if not re.match(r"[a-z]+:", target):
            name, _, anchor = target.partition("#")
            yield name.partition("?")[0], anchor


@BUILT
def test_no_link_is_dead(site: Path) -> None:
    """Every address of every page leads to a file, and to a place that is in it."""
    places = {page: set(re.findall(r'\sid="([^"]+)"', page.read_text(encoding="utf-8")))
              for page in site.glob("*.html")}
    assert len(places) > 150
    for page in places:
        for name, anchor in addresses(page):
            target = (page.parent / name).resolve() if name else page
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{page.name} refers to {name}"
            if anchor and target in places:
                assert anchor in places[target], f"{page.name} refers to {name}#{anchor}"


@BUILT
def test_reference_is_whole(site: Path) -> None:
    """Each function that the library exports, public name of the package, and command with a manual
    page is described."""
    places: dict[str, str] = {}
    for page in site.glob("*.html"):
        for place in re.findall(r'\sid="([^"]+)"', page.read_text(encoding="utf-8")):
            places.setdefault(place, page.name)
    library = ROOT / "target" / "rt" / "release" / "libflyloom.so"
    if library.exists() and shutil.which("nm"):
        listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                                text=True, check=True)
        functions = re.findall(r" T (fly_\w+)$", listed.stdout, flags=re.MULTILINE)
        assert len(functions) > 50
        assert {f"c.{name}" for name in functions} <= {*places}
    names = [name for name in dir(flyloom) if not name.startswith("_")]
    assert len(names) > 100
    modules = {name for name in names if isinstance(getattr(flyloom, name), types.ModuleType)}
    assert {f"flyloom.{name}" for name in names if name not in modules} <= {*places}
    manual = {path.stem for path in (ROOT / "data" / "wheel").rglob("*.1")} - {"flyloom"}
    assert len(manual) > 40 and manual <= {*places}


def test_every_page_is_in_one_part() -> None:
    """The navigation has each page of docs/ once."""
    text = (ROOT / "docs" / "site" / "navigation.toml").read_text(encoding="utf-8")
    named = [name for part in tomllib.loads(text)["part"] for group in part["group"]
             for name in group["pages"]]
    assert len(named) == len(set(named))
    there = {staging.staged_name(path) for path in (ROOT / "docs").rglob("*.md")}
    assert there <= set(named), there - set(named)
    assert not {*named} & {"search", "genindex", "index"}  # these are made by Sphinx and by us


@BUILT
@browser.NEEDS
def test_pages_are_readable(site: Path, chromium: Session) -> None:
    """No page complains, is wider than its window, cuts anything off, or is too pale, in windows of
    390 and 1280 pixels, light and dark."""
    script = (Path(__file__).parent / "readable.js").read_text(encoding="utf-8")
    found = []
    for name in OPENED:
        for theme in ("light", "dark"):
            dark = theme == "dark"
            chromium.window(1280, 900, dark=dark)
            said = chromium.open((site / f"{name}.html").as_uri())
            found += [f"{name}: {text}" for text in said]
            assert chromium.value("document.documentElement.dataset.theme") == theme
            for width_px in (1280, 390):
                chromium.window(width_px, 900, dark=dark)
                found += [f"{name} at {width_px} px, {theme}: {fault}"
                          for fault in chromium.value(script)]
    assert not found, "\n".join(found)


@browser.NEEDS
@pytest.mark.parametrize(("body", "fault"), [
    ("<p>plain</p>", None),
    ("<p style='color: #999'>pale</p>", "contrast 2.8"),
    ("<div style='background: #000'><p style='color: #333'>pale</p></div>", "contrast 1.7"),
    ("<p style='width: 3000px'>wide</p>", "wider than its window"),
    ("<div style='overflow: auto'><p style='width: 3000px'>wide</p></div>", None),
    ("<p style='overflow: hidden; width: 2em; white-space: nowrap'>cut off</p>", "cuts off"),
])
def test_what_is_not_readable_is_found(
    body: str, fault: str | None, chromium: Session, tmp_path: Path,
) -> None:
    """Text that is too pale, too wide or cut off is."""
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><body style='background: #fff'>{body}", encoding="utf-8")
    chromium.window(390, 900, dark=False)
    chromium.open(page.as_uri())
    found = chromium.value((Path(__file__).parent / "readable.js").read_text(encoding="utf-8"))
    assert (found == []) if fault is None else (found and fault in found[0]), found


@BUILT
@browser.NEEDS
def test_search_finds(site: Path, chromium: Session) -> None:
    """The search page, without a server, lists pages for what people look for."""
    chromium.window(1280, 900, dark=False)
    for words, page in WORDS.items():
        said = chromium.open((site / "search.html").as_uri() + f"?q={words.replace(' ', '+')}")
        assert said == []
        listed = chromium.value("""new Promise(done => {
            const said = () => document.querySelector(".search-summary")?.textContent ?? "";
            const look = () => /found|did not/.test(said())
                ? done([...document.querySelectorAll("#search-results li a")].map(a => a.href))
                : setTimeout(look, 50);
            look();
        })""")
        names = [re.sub(r".*/([^/]+)\.html.*", r"\1", address) for address in listed]
        assert page in list(dict.fromkeys(names))[:FIRST], f"{words}: {names}"


@BUILT
@browser.NEEDS
def test_versions_are_listed(site: Path, chromium: Session, tmp_path: Path) -> None:
    """The menu has all versions, and links to those that are there; the first page leads to one."""
    (tmp_path / "0.1").mkdir()
    (tmp_path / "0.1" / "index.html").write_text("<p>an older version</p>", encoding="utf-8")
    (tmp_path / "next").symlink_to(site)
    script = runpy.run_path(str(ROOT / "scripts" / "site"))
    script["write_root"](tmp_path, "next")
    chromium.window(1280, 900, dark=False)
    assert chromium.open((tmp_path / "next" / "flit.html").as_uri()) == []
    menu = 'document.querySelectorAll("details.versions")[0]'
    listed = chromium.value(f'[...{menu}.querySelectorAll("li")].map(one => one.textContent)')
    assert [text.partition(" ")[0] for text in listed] == ["next", "0.2", "0.1"]
    assert [text.endswith("this one") for text in listed] == [True, False, False]
    links = chromium.value(f'[...{menu}.querySelectorAll("a")].map(one => one.href)')
    assert links == [(tmp_path / "0.1" / "index.html").as_uri()]
    first = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / re.search(r"url=([^\"]+)", first)[1]).samefile(site / "index.html")


PAGE = """# A page

```console
$ echo one
one
$ echo two; \\
    echo three
```

```python
print("four")
```

<!-- not run: it would fail -->
```console
$ false
```

<!-- needs: no-such-program -->
```console
$ true
```
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for what is printed."""
    monkeypatch.setattr(printed, "KEPT", tmp_path)
    return tmp_path


def keep_page(page: str) -> None:
    """Keep what the blocks of the page above print."""
    texts = [["one\n", "two\nthree\n"], ["four\n"], ["never\n"]]
    said = {printed.block_digest(block): lines
            for block, lines in zip(page_blocks.blocks(page), texts, strict=False)}
    printed.keep("docs/page.md", page, said, Path("/nowhere/work"))


def test_what_is_kept_is_of_this_page_and_program(
    kept: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page or a program that has changed has printed nothing yet."""
    keep_page(PAGE)
    assert len(printed.found("docs/page.md", PAGE)) == 3
    assert printed.found("docs/page.md", PAGE + "more\n") is None
    assert printed.found("docs/other.md", PAGE) is None
    monkeypatch.setattr(printed, "program_digest", lambda: "another")
    assert printed.found("docs/page.md", PAGE) is None


def test_places_of_this_machine_are_not_shown() -> None:
    """Folders of the checkout and of the run have a user's names."""
    text = f"{ROOT}/examples and /nowhere/work/out"
    assert printed.without_places(text, Path("/nowhere/work")) == (
        "/home/user/flyloom/examples and /home/user/work/out")


def test_blocks_are_shown_with_what_they_printed(
    kept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    """Below each command is its output: open where the page shows it, else folded; none of blocks
    that are not run. Where nothing is kept, the page is as it is written, and that is said."""
    source = tmp_path / "docs" / "page.md"
    source.parent.mkdir()
    source.write_text(PAGE, encoding="utf-8")
    for name, value in (("ROOT", tmp_path), ("DOCS", source.parent)):
        monkeypatch.setattr(staging, name, value)
    without = staging.Staging(tmp_path / "without")
    assert "$ echo one\none\n" in staging.page(without, source)
    assert without.without_output == ["docs/page.md:4", "docs/page.md:11", "docs/page.md:21"]
    keep_page(PAGE)
    shown = staging.Staging(tmp_path / "with")
    text = staging.page(shown, source)
    assert shown.without_output == ["docs/page.md:21"]
    assert "Not run for this page: it needs no-such-program." in text
    assert "$ echo one\n```\n\n```{code-block} text\n:class: printed\n\none\n```" in text
    assert re.search(r"\$ echo two; \\\n    echo three\n```\n\n<details[^`]*```.*\n\ntwo\nthree\n",
                     text, re.DOTALL)
    assert 'print("four")\n```\n```{code-block} text\n:class: printed\n\nfour\n```' in text
    assert "Not run for this page: it would fail." in text and "never" not in text


FAULTS = {
    "[nowhere](missing.md)": "missing.md",
    "[nowhere](other.md#no-section)": "no-section",
    "![no picture](pictures/none.svg)": "none.svg",
    "{py:func}`flyloom.no_such_function`": "no_such_function",
    "```{nonsense}\n```": "nonsense",
}
"""What a page may have wrong, and what is then said."""


@BUILT
@pytest.mark.parametrize("faults", [{}, FAULTS], ids=["without", "with"])
def test_faults_of_pages_fail_the_build(faults: dict[str, str], tmp_path: Path) -> None:
    """Dead links, a missing picture, an unknown directive, and a page in no part are refused."""
    text = "\n\n".join(["# First", "[there](other.md#a-section)", *faults,
                        "```{toctree}\nother\n```\n"])
    (tmp_path / "index.md").write_text(text, encoding="utf-8")
    (tmp_path / "other.md").write_text("# Other\n\n## A section\n", encoding="utf-8")
    if faults:
        (tmp_path / "lost.md").write_text("# In no part\n", encoding="utf-8")
    order = tmp_path / "order.js"
    order.write_text(staging.search_order(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *staging.STRICT, "-c", str(ROOT / "docs" / "site"),
         str(tmp_path), str(tmp_path / "html")],
        capture_output=True, text=True, timeout=300,
        env={**os.environ, "SITE_SEARCH_ORDER": str(order)})
    assert (done.returncode != 0) == bool(faults), done.stderr
    for said in faults and [*faults.values(), "lost.md"]:
        assert said in done.stderr, done.stderr
    assert done.stderr.count("WARNING") == len(faults) + bool(faults), done.stderr
