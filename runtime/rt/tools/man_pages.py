"""Writes a manual page for each call of the headers from its comment, with a program that uses it.

Called as ``man_pages.py HEADER ... EXAMPLES FOLDER``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def calls(header: str) -> list[tuple[str, str, str]]:
    """Name, prototype and comment of each function, in the order of the header."""
    found = []
    for comment, prototype in re.findall(r"/\* ((?:(?!\*/).)*)\*/\n(?:FLY_API|FLY_MPI|FLY_PMIX) "
                                         r"([^;{]*)[;{]", header, flags=re.DOTALL):
        words = " ".join(prototype.split()) + ";"
        name = re.search(r"(fly_\w+)\(", words)[1]
        found.append((name, words, " ".join(comment.split())))
    return found


def escaped(text: str) -> str:
    """Text as roff takes it."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)


def page(name: str, prototype: str, comment: str, example: str, others: list[str],
         header: str) -> str:
    """The page of one call."""
    first, _, rest = comment.partition(". ")
    errors = re.search(r"\bErrors(?: also)?(?:, on all or none)?: .*", rest)
    described = rest[: errors.start()] if errors else rest
    parts = [f'.TH {name} 3 "" flyloom "flyloom runtime"', ".SH NAME",
             f"{name} \\- {escaped(first.rstrip('.')).lower()}", ".SH SYNOPSIS", ".nf",
             f".B #include <{header}>", "", escaped(prototype), ".fi", ".SH DESCRIPTION",
             escaped(f"{first.rstrip('.')}. {described}".strip())]
    if errors:
        parts += [".SH ERRORS", escaped(errors[0])]
    parts += [".SH EXAMPLE", ".nf", escaped(example.rstrip()), ".fi", ".SH SEE ALSO",
              ", ".join(f"{other}(3)" for other in others), ""]
    return "\n".join(parts)


def example_of(name: str, programs: dict[str, str]) -> str:
    """The shortest program that makes a call."""
    using = [text for text in programs.values() if re.search(rf"\b{name}\(", text)]
    if not using:
        raise SystemExit(f"man_pages: no example calls {name}")
    return min(using, key=len)


def main() -> None:
    """Write the pages; one line says how many."""
    *headers, examples, folder = (Path(word) for word in sys.argv[1:])
    programs = {path.name: path.read_text() for path in sorted(examples.glob("*.c"))}
    folder.mkdir(parents=True, exist_ok=True)
    pages = 0
    for header in headers:
        found = calls(header.read_text())
        pages += len(found)
        for at, (name, prototype, comment) in enumerate(found):
            near = [other for other, _, _ in found[max(0, at - 2): at + 3] if other != name]
            first = "flyloom_mpi.h" if header.name.startswith("flyloom_mpi") else header.name
            text = page(name, prototype, comment, example_of(name, programs), near, first)
            (folder / f"{name}.3").write_text(text)
    print(f"man_pages: {pages} pages in {folder}")


main()
