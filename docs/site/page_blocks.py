"""Fenced blocks of Markdown pages, and the commands of those that a console shows."""

from __future__ import annotations

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, first line's number, and the line above its fence."""

    language: str
    text: str
    line: int
    above: str


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page of Markdown, in order."""
    found: list[Block] = []
    above, fence, start, language = "", "", 0, ""
    body: list[str] = []
    for number, line in enumerate(page.splitlines(), start=1):
        opening = re.match(r"(```+)\s*(\S*)\s*$", line)
        if not fence and opening:
            fence, language, start, body = opening[1], opening[2], number + 1, []
        elif fence and line.rstrip() == fence:
            found.append(Block(language, "\n".join(body) + "\n", start, above))
            fence, above = "", ""
        elif fence:
            body.append(line)
        elif line.strip():
            above = line.strip()
    assert not fence, f"the block that starts at line {start} has no end"
    return found


@dataclasses.dataclass(frozen=True)
class ConsoleCommand:
    """A command of a console block: as it is run and as it is typed, the exit status that is right,
    and the output that the page shows."""

    run: str
    typed: str
    status: int
    shown: str


def console_commands(text: str) -> list[ConsoleCommand]:
    """Split a console block into its commands. A line that ends with a backslash goes on in the
    next one, and so does a line before one that begins with `> `."""
    assert text.startswith("$ "), "a console block starts with `$ `"
    found = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        last = 0
        while lines[last].endswith("\\") or any(
                after.startswith("> ") for after in lines[last + 1:last + 2]):
            last += 1
        typed = "\n".join(lines[:last + 1])
        run = typed.replace("\\\n", "").replace("\n> ", "\n")
        ends = re.search(r"\s+# exit (\d+)$", run)
        found.append(ConsoleCommand(
            run[: ends.start()] if ends else run, typed, int(ends[1]) if ends else 0,
            "\n".join(lines[last + 1:]).replace("\\\n", "")))
    return found


def commands(text: str) -> list[tuple[str, int, str]]:
    """Split a console block into (command, exit status, output shown)."""
    return [(one.run, one.status, one.shown) for one in console_commands(text)]
