"""The choice of a network in an experiment: made before its points, kept as they are, and the
networks that it ranks as those of points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyloom._core import RefusalError, parse_inline
from flyloom.inputs.needs import FILES, arguments, beside, placed
from flyloom.lab import sources
from flyloom.lab.kept import key
from flyloom.plugins.parts import KNOWN
from flyloom.support.amounts import dollars
from flyloom.support.files import sha256
from flyloom.support.reading import read_text
from flyloom.verbs.choosing import checked, choose

if TYPE_CHECKING:
    from flyloom.support.progress import Progress

CHOSEN = "chosen"
"""The key of a point's topology that names a network by its rank."""
KEPT_KEYS = frozenset({"choice", "digest"})
"""What a kept choice has."""


@dataclass(frozen=True)
class ChoiceTask:
    """A choice that an experiment asks for, checked."""

    table: Mapping[str, Any]
    """The table ``[choose]``."""
    arguments: dict[str, Any] = field(repr=False)
    """The same as keyword arguments of :func:`flyloom.choose`."""
    digest: str
    """The key that it is kept under."""

    def record(self, progress: Progress | None) -> dict[str, Any]:
        """The record of the choice, computed."""
        found = choose(**self.arguments, progress=progress).to_dict()
        return {"choice": found, "digest": self.digest}


def asked(experiment: Mapping[str, Any], text: str, path: Path) -> ChoiceTask | None:
    """The choice that an experiment asks for, None where it has none. RefusalError with file, line
    and key where it cannot be made; nothing is computed."""
    table = experiment.get("choose")
    if table is None:
        return None
    try:
        for name in FILES:
            _there(name, table, path)
        given = beside({"seed": experiment["seed"], **table}, path.parent)
        known = arguments(given)
        checked(**known)
    except RefusalError as refusal:
        raise placed(refusal, text, path) from None
    contents = {name: sha256(read_text(Path(given[name])).encode()) for name in FILES
                if Path(str(given.get(name, ""))).is_file()}
    own = {part.name: part.digest for part in KNOWN.values() if part.kind == "topology"}
    digest = key({
        "choose": dict(table), "seed": given["seed"], "files": contents, "plugins": own,
        "code": sources.digest_of("flyloom.verbs.choosing"),
    })
    return ChoiceTask(table, known, digest)


def _there(name: str, table: Mapping[str, Any], path: Path) -> None:
    """RefusalError where a quotation is no file beside the experiment."""
    value = table.get(name)
    if name == "quotation" and value is not None and not (path.parent / value).is_file():
        raise RefusalError(f"{name}: there is no file {path.parent / value}")


def topology_of(spec: Mapping[str, Any], found: Mapping[str, Any] | None) -> dict[str, Any]:
    """The topology of a point with the network that it chooses in place of its rank, at the rate
    of the choice; a topology that chooses none as it is. RefusalError where there is no network of
    that rank."""
    if CHOSEN not in spec:
        return dict(spec)
    candidates = found["candidates"] if found else []
    rank = spec[CHOSEN]
    best = next((one for one in candidates if one["rank"] == rank), None)
    if best is None or found is None:
        raise RefusalError(f"topology: chosen: there is no network {rank}, only"
                           f" {len(candidates)} that carry the need; 1 to {len(candidates)}")
    family, params = parse_inline(best["network"])
    rest = {name: value for name, value in spec.items() if name != CHOSEN}
    gbps = found["gbps"]
    return {"family": family, **params, "gbps": int(gbps) if gbps == int(gbps) else gbps, **rest}


def choice_line(found: Mapping[str, Any]) -> str:
    """A choice in one line: the first networks with their prices."""
    named = [f"{row['rank']}: {row['network']} for {dollars(row['cost_usd'])}"
             for row in found["candidates"][:3]]
    more = len(found["candidates"]) - len(named)
    return "; ".join(named) + (f"; {more} more" if more else "")


def asked_line(table: Mapping[str, Any]) -> str:
    """What a choice asks for in one line."""
    words = ", ".join(f"{name} {value}" for name, value in table.items() if name != "endpoints")
    return f"networks for {table['endpoints']} endpoints{f' ({words})' if words else ''}"
