"""Which curves of a chart share a panel, what each is called there, and its colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

COLOURS = ("#0b5394", "#d1660a", "#1b8a6b", "#b0307f", "#7a6a00", "#3aa0dc")
"""Colours of curves that nobody takes for one another on white; a panel has no more curves."""
MOST = 12
"""Panels of a chart, at most."""
BY = ("traffic", "workload", "selection", "routing", "network")
"""What panels are made by, in this order: each says what is asked of a curve, or of what. """
CHOICES = ("selection", "routing")
"""What has panels of its own where there are more networks, which are then compared in them."""


@dataclass
class CurvePanel:
    """Curves that share axes."""

    name: str
    """What its curves have in common and those of other panels do not; empty of the only one."""
    curves: list[Mapping[str, Any]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """What tells each curve from the others of the panel."""
    parts: list[tuple[str, str]] = field(default_factory=list)
    """The network in each name, and the rest of it."""


def panels(curves: Sequence[Mapping[str, Any]]) -> list[CurvePanel]:
    """The panels of curves, each a mapping with ``words``, by which it differs from the others, or
    a ``label``.

    A panel is made for each traffic where curves of several remain to be compared in it, and else
    for each network; by both where more than six would share one, and by selections
    where there are more networks than these. What is then still too much for
    a panel goes on in another one.
    """
    said = [_words(curve) for curve in curves]
    by: list[str] = []
    for key in BY:
        rest = [name for name in _varied(said) if name not in (*by, key)]
        if key not in _varied(said) or not rest:
            continue
        many = _most(said, by) > len(COLOURS)
        if key in CHOICES and not (many and _count(said, "network") > _count(said, key)):
            continue
        if not by or many:
            by.append(key)
    found: dict[tuple[str, ...], CurvePanel] = {}
    for curve, words in zip(curves, said, strict=True):
        common = tuple(words.get(key, "") for key in by)
        panel = found.setdefault(common, CurvePanel(", ".join(filter(None, common))))
        panel.curves.append(curve)
        left = {key: value for key, value in words.items() if key not in by and value}
        panel.names.append(", ".join(left.values()))
        panel.parts.append((left.pop("network", ""), ", ".join(left.values())))
    return [part for panel in found.values() for part in _parts(panel)]


def _count(said: Sequence[Mapping[str, str]], key: str) -> int:
    return len({words.get(key) for words in said})


def _words(curve: Mapping[str, Any]) -> dict[str, str]:
    words = curve.get("words")
    return {"": curve.get("label", "")} if words is None else dict(words)


def _varied(said: Sequence[Mapping[str, str]]) -> list[str]:
    keys = dict.fromkeys(key for words in said for key in words)
    return [key for key in keys if len({words.get(key) for words in said}) > 1]


def _most(said: Sequence[Mapping[str, str]], by: Sequence[str]) -> int:
    """The most curves that one panel has."""
    common = [tuple(words.get(key, "") for key in by) for words in said]
    return max(map(common.count, common), default=0)


def _parts(panel: CurvePanel) -> list[CurvePanel]:
    """A panel as several where it has more curves than there are colours, of about equal size."""
    count = -(-len(panel.curves) // len(COLOURS))
    if count < 2:
        return [panel]
    size = -(-len(panel.curves) // count)
    return [
        CurvePanel(f"{panel.name} ({place + 1} of {count})".strip(),
                   panel.curves[place * size:(place + 1) * size],
                   panel.names[place * size:(place + 1) * size],
                   panel.parts[place * size:(place + 1) * size])
        for place in range(count)
    ]


def colours(made: Sequence[CurvePanel]) -> list[list[str]]:
    """The colour of each curve of each panel: a name has one in all panels that it is in, and no
    two curves of a panel have the same."""
    beside: dict[str, set[str]] = {}
    for panel in made:
        for name in panel.names:
            beside.setdefault(name, set()).update(other for other in panel.names if other != name)
    known: dict[str, str] = {}
    for name, others in beside.items():
        taken = {known[other] for other in others if other in known}
        free = [colour for colour in COLOURS if colour not in taken]
        if free:
            known[name] = free[0]
    return [_of_panel(panel.names, known) for panel in made]


def _of_panel(names: Sequence[str], known: Mapping[str, str]) -> list[str]:
    """The colours of a panel; a name that has none of its own, or is there twice, takes one that
    is free."""
    out: list[str] = []
    for place, name in enumerate(names):
        kept = {known.get(other) for other in names[place + 1:]}
        own = known.get(name)
        free = [colour for colour in COLOURS if colour not in out and colour not in kept]
        rest = [colour for colour in COLOURS if colour not in out]
        out.append(own if own and own not in out else (free or rest)[0])
    return out


# --- marks and dashes ----------------------------------------------------------------------------

SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "triangle-right")
DASHES = ((1, 0), (5, 2), (1.5, 1.5), (7, 2, 1.5, 2), (3, 3), (9, 3))
"""Marks and dashes of curves, so that they differ without colours, too."""


@dataclass(frozen=True)
class CurveStyle:
    """What a curve looks like beside its colour."""

    shape: str
    dash: Sequence[float]


def styles(made: Sequence[CurvePanel]) -> list[list[CurveStyle]]:
    """The style of each curve of each panel: dashes say the network, marks the rest of the name,
    both the network where names say nothing else."""
    networks = list(dict.fromkeys(network for panel in made for network, _ in panel.parts))
    rests = list(dict.fromkeys(rest for panel in made for _, rest in panel.parts))

    def style(network: str, rest: str) -> CurveStyle:
        place = networks.index(network)
        shape = rests.index(rest) if len(rests) > 1 else place
        return CurveStyle(SHAPES[shape % len(SHAPES)], DASHES[place % len(DASHES)])

    return [[style(network, rest) for network, rest in panel.parts] for panel in made]


def tints_of(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """The colour of each curve as the chart of these curves has it; those that are not drawn have
    the colours in turn."""
    drawn = [curve for curve in curves if curve["points"]]
    made = panels(drawn)
    known = {
        id(curve): tint for panel, tints in zip(made, colours(made), strict=True)
        for curve, tint in zip(panel.curves, tints, strict=True)
    }
    return [known.get(id(curve), COLOURS[place % len(COLOURS)])
            for place, curve in enumerate(curves)]
