"""The pages of the C interface, from the headers: each declaration with the comment above it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "runtime" / "rt" / "include"
HEADERS = ("flyloom.h", "flyloom_coll.h", "flyloom_mpi.h", "flyloom_mpi_coll.h",
           "flyloom_mpi_alltoallw.h", "flyloom_mpi_map.h", "flyloom_pmix.h")
"""What a program includes; the others are parts of these."""


TOKEN = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"])*\"|'(?:\\.|[^'])*'|[{};\n]", re.DOTALL)
"""What may end a declaration, and what such characters mean nothing in."""


@dataclasses.dataclass(frozen=True)
class Item:
    """A comment of a header, and the declarations below it; none: it is of all that follows."""

    comment: str
    declarations: list[str]


def items(text: str) -> list[Item]:
    """The comments of a header, in order, with the declarations that follow each without a line
    between; declarations that have no comment are left out."""
    found: list[Item] = []
    rest = text
    while rest:
        if rest.startswith("/*"):
            comment, _, rest = rest[2:].partition("*/")
            found.append(Item(paragraphs(comment), []))
            trailing, _, rest = rest.partition("\n")
            if trailing.strip():  # it is a word inside a line
                found.pop()
            elif rest.startswith("\n"):
                found.append(Item("", []))  # what follows has no comment
        elif rest.startswith("\n"):
            rest = rest[1:]
            found.append(Item("", []))
        else:
            declaration, rest = first_declaration(rest)
            if found and found[-1].comment and declaration:
                found[-1].declarations.append(declaration)
    return [item for item in found if item.comment]


def first_declaration(text: str) -> tuple[str, str]:
    """The declaration at the start of a text, empty where it is none for users, and the rest."""
    if text.startswith("#"):
        line = re.match(r"#(?:.*\\\n)*.*\n?", text)[0]
        return (line.strip() if line.startswith("#define") else ""), text[len(line):]
    depth, body = 0, 0
    for found in TOKEN.finditer(text):
        if found[0] == "{":
            depth += 1
            body = body or found.start()
        elif found[0] == "}":
            depth -= 1
        if depth == 0 and (found[0] == ";" or (found[0] == "}" and is_function(text[:body]))):
            end = text.find("\n", found.end())
            end = len(text) if end < 0 else end + 1
            whole = text[:body] if is_function(text[:body]) else text[:end]
            return whole.strip(), text[end:]
        if depth == 0 and found[0] == "\n" and text.startswith(('extern "C"', "}")):
            break
    end = text.find("\n") + 1 or len(text)
    return "", text[end:]


def is_function(head: str) -> bool:
    """Whether this is what stands before the body of a function."""
    return head.rstrip().endswith(")")


def paragraphs(comment: str) -> str:
    """The text of a comment, without stars at the edge."""
    lines = [re.sub(r"^\s*\* ?|^ {0,3}", "", line) for line in comment.strip().splitlines()]
    return "\n".join(lines).strip()


def marked(comment: str) -> str:
    """A comment as Markdown: what the field's words mean to Markdown is taken as it is."""
    parts = re.split(r"(`[^`]*`)", comment)
    return "".join(part if i % 2 else re.sub(r"([\\*_<>\[\]#|~])", r"\\\1", part)
                   for i, part in enumerate(parts))


def described(item: Item, known: set[str]) -> str:
    """An item as Markdown of Sphinx."""
    if not item.declarations:
        return marked(item.comment)
    functions = [signature(text) for text in item.declarations if is_prototype(text)]
    if len(functions) == len(item.declarations):
        names = [re.search(r"(\w+)\(", text)[1] for text in functions]
        repeated = "" if not known.intersection(names) else ":no-index:\n"
        known.update(names)
        lines = "\n".join(f"{' ' * 15 * (i > 0)}{text}" for i, text in enumerate(functions))
        return f"````{{c:function}} {lines}\n{repeated}\n{marked(item.comment)}\n````"
    code = "\n".join(item.declarations)
    return f"{marked(item.comment)}\n\n```c\n{code}\n```"


def is_prototype(declaration: str) -> bool:
    """Whether a declaration is of a function."""
    start = re.match(r"(?:FLY_API|static inline)\s", declaration)
    return bool(start) and "(" in declaration


def signature(declaration: str) -> str:
    """A function's declaration on one line, without what only the compiler reads."""
    text = re.sub(r"/\*.*?\*/", "", declaration, flags=re.DOTALL)
    text = re.sub(r"^(?:FLY_API|static inline)\s+|\s*;\s*$", "", " ".join(text.split()))
    return text.strip()


def page_name(header: str) -> str:
    """The name of a header's page."""
    return f"c-{header.removesuffix('.h').replace('_', '-')}"


def pages() -> dict[str, str]:
    """Name and Markdown of every page: one that lists the headers, and one a header."""
    known: set[str] = set()
    found, rows = {}, []
    for header in HEADERS:
        first, *more = items((INCLUDE / header).read_text(encoding="utf-8"))
        about, _, rest = first.comment.removeprefix(f"{header}: ").partition("\n\n")
        about = " ".join(about.split())
        about = about[:1].upper() + about[1:]
        summary, _, detail = about.partition(". ")
        name = page_name(header)
        rows.append((header, name, f"{summary.rstrip('.')}."))
        body = [marked(text) for text in (f"{summary.rstrip('.')}.", detail, rest) if text]
        body += [described(item, known) for item in more]
        found[name] = f"# {header}\n\n" + "\n\n".join(body) + "\n"
    links = "\n".join(f"| [{header}]({name}.md) | {marked(about)} |"
                      for header, name, about in rows)
    toctree = "\n".join(name for _, name, _ in rows)
    found["c-interface"] = (
        "# The C interface\n\nThe headers of libflyloom, from [notified access](runtime.md) to "
        "collective operations; what each function does, its errors and its cost are the comments "
        f"of the headers.\n\n| header | has |\n|---|---|\n{links}\n\n"
        f"```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"
    )
    return found
