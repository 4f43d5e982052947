"""Runs the examples of README.md and the pages of docs, and follows their links.

Every `console` block is run, each `$ command` by bash with flyloom on the path, or, where it is one
command of flyloom with nothing for bash to do, in a fork that has it loaded; where output is shown,
the command must print it (`...` stands for anything, runs of blanks count as one). Lines that start
with `> ` go on with the command. A command that must fail says so at its end:
`$ flyloom design slim_fly:q=6  # exit 2`. Every `python` block is executed. The blocks of a page
run in order in one empty folder that holds a copy of examples/, and share their Python names. A
block is skipped when the line above it says

    <!-- not run: why -->         always
    <!-- needs: opensm ibsim -->  when one of these programs is not installed
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT
from cli_helpers import environment, flyloom
from mpi_helpers import ROOT_MAY
from page_blocks import Block, blocks, commands
from plugin_helpers import forgotten  # noqa: F401  a page's parts are no other test's
from printed import block_digest, keep

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKED = [*PAGES, *sorted(ROOT.glob("*.md")), ROOT / "changes" / "README.md"]
LIMIT_S = 300
KNOWN = {"", "console", "python", "toml", "text", "rust", "json", "make", "c", "html"}


def skipped(block: Block) -> bool:
    """Whether the line above a block says not to run it here."""
    if re.fullmatch(r"<!-- not run: \S.* -->", block.above):
        return True
    needs = re.fullmatch(r"<!-- needs: (.*) -->", block.above)
    return bool(needs) and not all(shutil.which(name) for name in needs[1].split())


def plain(command: str) -> list[str]:
    """The words of one command of flyloom; none where there is something for bash to do."""
    bare = re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", command)
    if not command.startswith("flyloom ") or re.search(r"[^\w\s./:=,+@%-]", bare):
        return []
    return [] if "\n" in command.strip() else shlex.split(command)[1:]


def run_console(block: Block, where: str, folder: Path) -> list[str]:
    """Run the commands of a console block, compare status and output; return what each printed."""
    texts = []
    venv = Path(sys.executable).parent
    paths = os.pathsep.join([str(venv), os.environ.get("PATH", "")])
    env = environment(**ROOT_MAY, PATH=paths)
    for command, status, shown in commands(block.text):
        if words := plain(command):
            done = flyloom(*words, cwd=folder, env=env, limit_s=LIMIT_S)
        else:
            done = subprocess.run(["bash", "-c", command], cwd=folder, text=True, timeout=LIMIT_S,
                                  capture_output=True, env=env)
        reported = f"{where}: `{command}` ended with {done.returncode}, not {status}"
        assert done.returncode == status, f"{reported}\n{done.stdout}{done.stderr}"
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        printed = done.stdout if status == 0 else done.stdout + done.stderr
        alike = not shown.strip() or doctest.OutputChecker().check_output(shown, printed, flags)
        assert alike, f"{where}: `{command}` prints\n{printed}\nthe page shows\n{shown}"
        texts.append(printed)
    return texts


def run_python(block: Block, name: str, names: dict[str, object]) -> list[str]:
    """Execute a block of Python; return what it printed."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            # Empty lines before the code give its errors the page's line numbers.
            exec(compile("\n" * (block.line - 1) + block.text, name, "exec"), names)
    finally:
        print(said.getvalue(), end="")  # pytest shows it where the block fails
    return [said.getvalue()]


def run_page(page: str, name: str, folder: Path,
             printed: dict[str, list[str]] | None = None) -> int:
    """Run every block of a page in `folder`; return how many ran. Where it is given, `printed` gets
    what each printed, by its digest."""
    names: dict[str, object] = {"__name__": "__docs__"}
    count = 0
    for block in blocks(page):
        where = f"{name}:{block.line}"
        assert block.language in KNOWN, f"{where}: unknown language `{block.language}`"
        if block.language not in ("console", "python") or skipped(block):
            continue
        if block.language == "console":
            texts = run_console(block, where, folder)
        else:
            texts = run_python(block, name, names)
        if printed is not None:
            printed[block_digest(block)] = texts
        count += 1
    return count


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_page(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of every page do what the page says; what they print is kept for the site."""
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    page, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
    printed: dict[str, list[str]] = {}
    run_page(page, name, tmp_path, printed)
    keep(name, page, printed, tmp_path)


@pytest.mark.parametrize("path", sorted(set(LINKED)), ids=lambda p: str(p.relative_to(ROOT)))
def test_links(path: Path) -> None:
    """Links to files of the repository lead somewhere."""
    text = path.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
        if "://" not in target and not target.startswith("mailto:"):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_pictures_are_what_their_script_draws() -> None:
    """The committed pictures are those of docs/pictures/make.py."""
    folder = ROOT / "docs" / "pictures"
    drawn = runpy.run_path(str(folder / "make.py"))["pictures"]()
    assert {path.name for path in folder.glob("*.svg")} == set(drawn)
    for name, svg in drawn.items():
        assert (folder / name).read_text(encoding="utf-8") == svg + "\n", f"draw {name} anew"


FENCE = "```"


@pytest.mark.parametrize(("block", "part"), [
    ("console\n$ false\n", "ended with 1, not 0"),
    ("console\n$ true  # exit 2\n", "ended with 0, not 2"),
    ("console\n$ echo one\ntwo\n", "the page shows"),
    ("console\necho one\n", "starts with"),
    ("python\nassert 1 == 2, 'no'\n", "no"),
    ("pyhton\nx = 1\n", "unknown language"),
])
def test_a_page_that_lies_fails(block: str, part: str, tmp_path: Path) -> None:
    """The runner finds wrong statuses, wrong output, failing Python and misspelt fences."""
    with pytest.raises(AssertionError, match=part):
        run_page(f"# A page\n\n{FENCE}{block}{FENCE}\n", "page.md", tmp_path)


@pytest.mark.parametrize(("command", "words"), [
    ("flyloom design slim_fly:q=5,p=4 --json", ["design", "slim_fly:q=5,p=4", "--json"]),
    ("flyloom verify 'a b*' \"c;d\"", ["verify", "a b*", "c;d"]),
    ("flyloom design x > y", []), ("flyloom a | head", []), ("flyloom a *.json", []),
    ("flyloom a \"$b\"", []), ("flyloom a # b", []), ("flyloom a\nb", []), ("ls flyloom", []),
    ("flyloom a ~/b", []), ("flyloom a; ls", []), ("flyloom a 'b", []),
])
def test_bash_runs_what_is_for_bash(command: str, words: list[str]) -> None:
    """Redirections, patterns, variables and the like are not for us to read."""
    assert plain(command) == words


def test_a_true_page_runs(tmp_path: Path) -> None:
    """Order, shared names, wildcards, continued lines and skips work."""
    page = "\n".join([
        f"{FENCE}console", "$ echo hello > a.txt", "$ cat \\", "a.txt", "hel...",
        "$ cat <<END", "> one", "> END", "one", FENCE,
        f"{FENCE}python", "x = 3", FENCE, "text", f"{FENCE}python", "assert x == 3", FENCE,
        "<!-- not run: it would fail -->", f"{FENCE}console", "$ false", FENCE,
        "<!-- needs: no-such-program-at-all -->", f"{FENCE}console", "$ false", FENCE,
        f"{FENCE}toml", "x = 1", FENCE,
    ])
    assert run_page(page, "page.md", tmp_path) == 3
