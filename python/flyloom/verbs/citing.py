"""What to cite: flyloom itself, and the publications of the parts that were used."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, __version__
from flyloom.plugins import lists
from flyloom.support.reading import read_toml
from flyloom.support.refused import hint
from flyloom.support.verb_results import Citation

SOFTWARE: dict[str, Any] = {
    "key": f"flyloom-{__version__}", "kind": "software", "authors": ["The flyloom developers"],
    "title": "flyloom: a workbench for interconnection networks", "venue": "",
    "year": 2026, "version": __version__, "of": ["flyloom"],
}
"""flyloom itself; CITATION.cff has the same."""

LIBRARY = "library libflyloom"
"""What is no part but has publications."""

KINDS_OF_KEYS = {
    "family": "topology", "topology": "topology", "network": "topology", "engine": "engine",
    "lanes": "lane-method", "method": "method", "selection": "selection", "traffic": "traffic",
    "model": "model", "workload": "collective",
}
"""The keys of an experiment whose values name parts, and the kind of these parts."""

EFFECTIVE = "effective.toml"
"""The experiment as it was run, in the folder of a run."""

VENUES = {"article": "journal", "inproceedings": "booktitle", "techreport": "institution",
          "phdthesis": "school", "book": "publisher"}
"""What the place of publication is called in BibTeX."""


def cite(*names: str | Path) -> Citation:
    """What to cite: flyloom, and what the parts were published as.

    Parameters
    ----------
    names
        Parts (``slim_fly``, ``dfsssp``, ``ugal_l``, ``ebb``, ``sim.message``), networks in their
        inline form, experiments (a TOML file or the folder of a run), or ``libflyloom``.
        None: flyloom alone.

    Fields: ``references``, flyloom first and then by year, each with its ``key``, ``kind`` (of
    BibTeX), ``authors``, ``title``, ``venue``, ``year``, ``version`` (of software, else None) and
    the parts that it is ``of``; ``without``, the named parts that have no publication of their own;
    ``text`` and ``bibtex`` of all of them.

    Raises
    ------
    RefusalError
        There is no such part or file.
    """
    parts: dict[str, None] = {}
    for name in names:
        parts.update(dict.fromkeys(_parts_of(name)))
    rows = [SOFTWARE]
    for key, entry in _published().items():
        named = [part for part in entry["of"] if part in parts]
        if named:
            rows.append({"key": key, **entry, "version": None, "of": named})
    cited = {part for row in rows for part in row["of"]}
    return Citation({
        "references": rows, "without": [part for part in parts if part not in cited],
        "text": "\n".join(_text(row) for row in rows),
        "bibtex": "\n\n".join(_bibtex(row) for row in rows),
    })


@cache
def _published() -> dict[str, dict[str, Any]]:
    """The publications by their keys, the oldest first."""
    return tomllib.loads(Path(__file__).with_name("references.toml").read_text("utf-8"))


@cache
def _known() -> tuple[str, ...]:
    """Every part as ``kind name``."""
    rows = (row for kind in lists.kinds() for row in lists.rows(kind))
    return (*(f"{row['kind']} {row['name']}" for row in rows), LIBRARY)


@cache
def _with_publication() -> frozenset[str]:
    """Every part, as ``kind name``, that has a publication."""
    return frozenset(part for entry in _published().values() for part in entry["of"])


def citable() -> list[str]:
    """The names of all parts that have publications."""
    return sorted({part.partition(" ")[2] for part in _with_publication()})


def _parts_of(name: str | Path) -> list[str]:
    """The parts that a word of the user means."""
    path = Path(name)
    if path.is_dir():
        if not (path / EFFECTIVE).is_file():
            raise RefusalError(f"{name}: no folder of a run: it has no {EFFECTIVE}")
        return _parts_of_experiment(path / EFFECTIVE)
    if path.suffix == ".toml" or len(path.parts) > 1:
        return _parts_of_experiment(path)
    word = str(name)
    word = word if word.startswith("opensm:") else word.partition(":")[0]
    found = [part for part in _known() if part.partition(" ")[2] == word]
    if not found:
        names = [part.partition(" ")[2] for part in _known()]
        near = hint(word, names) or "`flyloom list KIND` lists them; "
        raise RefusalError(f"cite: there is no part '{word}'; {near}a file of an experiment ends"
                           " in .toml")
    return [part for part in found if part in _with_publication()] or found


def _parts_of_experiment(path: Path) -> list[str]:
    """The parts that an experiment names and that have publications."""
    named = dict.fromkeys(_named_in(read_toml(path), ""))
    return [part for part in named if part in _with_publication()]


def _named_in(value: object, key: str) -> Iterator[str]:
    """Parts that the value of a key of an experiment may name, the tables that are stages among
    them."""
    if isinstance(value, dict):
        yield f"measure {key}"
        yield f"simulator sim.{key}"
        for inner, known in value.items():
            yield from _named_in(known, inner.rpartition(".")[2])
    elif isinstance(value, list):
        for known in value:
            yield from _named_in(known, key)
    elif isinstance(value, str) and key in KINDS_OF_KEYS:
        yield f"{KINDS_OF_KEYS[key]} {value}"  # names may have colons, as opensm:lash
        for step in value.split("+"):
            yield f"{KINDS_OF_KEYS[key]} {step.partition(':')[0].split(' ')[0].strip()}"


def _text(row: dict[str, Any]) -> str:
    """A reference as people read it."""
    *others, last = row["authors"]
    authors = f"{', '.join(others)} and {last}" if others else last
    where = f"version {row['version']}" if row["version"] else row["venue"]
    thesis = "PhD thesis, " if row["kind"] == "phdthesis" else ""
    of = ", ".join(part.partition(" ")[2] or part for part in row["of"])
    return f'{of}: {authors}, "{row["title"]}", {thesis}{where}, {row["year"]}.'


def _bibtex(row: dict[str, Any]) -> str:
    """A reference as BibTeX, in UTF-8; capitals of the title are kept."""
    authors = " and ".join(row["authors"])
    if row["kind"] == "software":
        authors = f"{{{authors}}}"  # a group, which has no first name
    fields = {"author": authors, "title": f"{{{row['title']}}}"}
    if row["version"]:
        fields["version"] = row["version"]
    else:
        fields[VENUES[row["kind"]]] = row["venue"].replace("&", "\\&")
    fields["year"] = str(row["year"])
    lines = [f"@{row['kind']}{{{row['key']},", *(f"  {k} = {{{v}}}," for k, v in fields.items())]
    return "\n".join([*lines, "}"])
