"""docs/coming-from: what the pages name is there, and the program of the one on foMPI-NA runs."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flyloom as fl
import pytest
import typer
from checkout import ROOT
from flyloom import _core
from flyloom.cli import GROUPS
from flyloom.cli.common import app
from test_docs import blocks, run_console
from test_runtime import build, call

FOLDER = ROOT / "docs" / "coming-from"
PAGES = sorted(FOLDER.glob("*.md"))
HEADERS = ROOT / "runtime" / "rt" / "include"


def prose(page: Path) -> str:
    """A page without its blocks."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def ours(page: Path) -> list[str]:
    """The code that stands in the second column of the tables: what is flyloom's."""
    found: list[str] = []
    for line in prose(page).splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("|") and len(cells) > 3:
            found += re.findall(r"`([^`]+)`", cells[2])
    return found


def options(command: Any) -> Iterator[str]:
    """The options of a command and of those within it."""
    for param in command.params:
        yield from (*param.opts, *param.secondary_opts)
    for inner in getattr(command, "commands", {}).values():
        yield from options(inner)


def keys(schema: dict[str, Any], tables: dict[str, Any], before: str = "") -> Iterator[str]:
    """The parameters of a level with dots, as `--set` takes them."""
    for name, about in schema.get("properties", {}).items():
        yield before + name
        for part in (about, *about.get("anyOf", ()), *about.get("allOf", ())):
            inner = tables.get(str(part.get("$ref", "")).rsplit("/", 1)[-1], part)
            if inner is not schema:
                yield from keys(inner, tables, f"{before}{name}.")


@pytest.fixture(scope="module")
def settings() -> set[str]:
    """The parameters of all levels of simulation."""
    found: set[str] = set()
    for schema in (_core.flit_schema(), _core.packet_schema(), _core.message_schema()):
        level = json.loads(schema) if isinstance(schema, str) else schema
        found.update(keys(level, level.get("$defs", {})))
    return found


def test_every_page_is_complete():
    """Each says what agrees and what is missing, is a few screens long, and is in the index."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert len(PAGES) == 9
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert 60 <= len(text.splitlines()) <= 150, page.name
        assert "\n## Where results agree" in text, page.name
        assert re.search(r"\n## What .* flyloom has not\n", text) or "libflyloom has not" in text
        assert f"(coming-from/{page.name})" in index


def test_the_options_are_there():
    """Those of discovered fabrics, too, which a command has once it reads its words."""
    for group in [*GROUPS, "measures"]:
        importlib.import_module(f"flyloom.cli.{group}")
    there = {*options(typer.main.get_command(app)), "--names", "--keep", "--only", "--adapters"}
    asked = {(page.name, option) for page in PAGES for code in ours(page)
             for option in re.findall(r"(?<![\w-])--[a-z][\w-]*|--[LogGOS]\b", code)}
    assert len(asked) > 60
    assert not {each for each in asked if each[1] not in there}


def test_the_parameters_are_there(settings):
    pattern = r"`((?:choosing|link|mpi|network|run|switch)\.[a-z_]+)"
    asked = {(page.name, key) for page in PAGES for key in re.findall(pattern, prose(page))}
    assert len(asked) > 30
    assert not {each for each in asked if each[1] not in settings}


def test_the_networks_can_be_built():
    """Those in the tables that are complete; of the others the family is there."""
    built = 0
    for page in PAGES:
        for code in ours(page):
            if re.fullmatch(r"[a-z_]+:(?:\w+=[\w.-]+)(?:,\w+=[\w.-]+)*", code):
                assert fl.network(code) is not None, (page.name, code)
                built += 1
            elif match := re.fullmatch(r"([a-z_]+):.*", code):
                assert hasattr(fl, match[1]), (page.name, code)
    assert built >= 20


def test_the_workloads_are_there():
    there = {kind.name for kind in fl.workloads()}
    operations = {name.partition("_")[0] for name in there if "_" in name}
    asked = {(page.name, name) for page in PAGES for code in ours(page)
             for name in re.findall(r"(?<![\w=-])([a-z]+_\w*[a-z\d])\b(?!=)", code)
             if name.partition("_")[0] in operations and "." not in code and "fly" not in code}
    assert len(asked) >= 15
    assert not {each for each in asked if each[1] not in there}


def test_the_calls_are_there():
    """Every call of the runtime that the page on foMPI-NA names is in a header."""
    text = "".join(header.read_text(encoding="utf-8") for header in HEADERS.glob("*.h"))
    asked = set(re.findall(r"\bfly_[a-z_]+[a-z]\b", (FOLDER / "fompi.md").read_text("utf-8")))
    assert len(asked) > 40
    assert not {name for name in asked if not re.search(rf"\b{name}\b", text)}


def test_the_program_of_the_page_on_fompi(tmp_path, monkeypatch):
    """It prints the sum of 10, 20 and 30, and its record has a notification of each to rank 0."""
    call("cmake", "--install", build("release"), "--prefix", tmp_path / "installed")
    pkg = next((tmp_path / "installed").rglob("flyloom.pc")).parent
    monkeypatch.setenv("PKG_CONFIG_PATH", str(pkg))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(pkg.parent))
    found = blocks((FOLDER / "fompi.md").read_text(encoding="utf-8"))
    [program] = [block for block in found if "needs the installed library" in block.above]
    run_console(program, "coming-from/fompi.md", tmp_path)
    schedule = (tmp_path / "tell.goal").read_text(encoding="utf-8")
    assert [schedule.count(f"recv 8b from {rank} ") for rank in range(4)] == [0, 1, 1, 1]
