"""The adjacency matrix of a network as a drawing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from flyloom.draw.svg import (
    FAR,
    GREY,
    INK,
    MIDDLE,
    NEAR,
    PALE,
    PAPER,
    SvgDrawing,
    clipped,
    group_words,
    note_svg,
    number,
    plural,
)

MATRIX_PX = 420
MATRIX_SWITCHES = 2000
MATRIX_BLOCKS = 160


def matrix_order(
    switch_count: int,
    groups: Sequence[object] | None = None,
    racks: Sequence[object] | None = None,
) -> list[int]:
    """Switch ids in the order of the matrix: by rack, then by group, then by id.

    Racks and groups come in the order in which ids first show them, so that any kind of name
    sorts. ``None`` means that there are none. Time O(n log n).
    """

    def ranks(values: Sequence[object] | None) -> list[int]:
        if values is None:
            return [0] * switch_count
        seen: dict[str, int] = {}
        return [seen.setdefault(group_words(value), len(seen)) for value in values]

    of_rack, of_group = ranks(racks), ranks(groups)
    return sorted(range(switch_count), key=lambda i: (of_rack[i], of_group[i], i))


def link_classes(
    edges: Iterable[Sequence[int]],
    groups: Sequence[object] | None = None,
    racks: Sequence[object] | None = None,
) -> list[int]:
    """The class of each edge, in order: 0 within a group, 1 between groups of a rack, 2 far.

    Far is between racks; without racks it is between groups. Without either all edges are far.
    A link between racks is far even when its group spans both.
    """
    out = []
    for a, b in edges:
        same_group = groups is not None and groups[a] == groups[b]
        same_rack = racks is not None and racks[a] is not None and racks[a] == racks[b]
        near = same_group and (racks is None or same_rack)
        out.append(0 if near else 1 if same_rack else 2)
    return out


def adjacency_svg(
    edges: Sequence[Sequence[int]],
    switch_count: int,
    *,
    switch_groups: Sequence[object] | None = None,
    switch_racks: Sequence[object] | None = None,
    switch_names: Sequence[str] | None = None,
    max_links: int = 60_000,
) -> str:
    """The adjacency matrix: a mark at row ``a``, column ``b`` for a link between ``a`` and ``b``.

    ``edges`` are pairs of switch ids below ``switch_count``; parallel links fall on one mark.
    ``switch_groups`` and ``switch_racks`` hold one value per switch and order the rows
    (:func:`matrix_order`), draw the dividing lines and colour the marks (:func:`link_classes`);
    the legend counts the links of each class. Rows are labelled with ``switch_names`` where these
    are given, else with racks or groups. Above 2,000 switches or ``max_links`` links the
    picture is a grid of at most 160 by 160 blocks shaded by how full they are, and says so.
    Time O(n log n + links); size O(links) or O(blocks^2). Raises ``ValueError`` for an id that is
    out of range or for groups or racks of another length.
    """
    _check_matrix(edges, switch_count, switch_groups, switch_racks)
    if switch_count == 0:
        return note_svg("Adjacency matrix", "The network has no switches.")
    order = matrix_order(switch_count, switch_groups, switch_racks)
    place = [0] * switch_count
    for row, switch in enumerate(order):
        place[switch] = row
    classes = link_classes(edges, switch_groups, switch_racks)
    blocks = switch_count > MATRIX_SWITCHES or len(edges) > max_links
    legend = _legend(edges, classes, switch_groups, switch_racks)
    left, top = 62, 20
    if switch_names:
        left = names_room_px(switch_names)
    foot = top + MATRIX_PX
    note = _parallel_note(edges)
    if blocks:
        note = "Too large for single marks: each block is shaded by how full it is."
    drawing = SvgDrawing(left + MATRIX_PX + 8, foot + 18 + 18 * (len(legend) + bool(note)),
                  "Adjacency matrix")
    drawing.add("rect", x=left, y=top, width=MATRIX_PX, height=MATRIX_PX, fill=PAPER, stroke=GREY)
    scale = MATRIX_PX / switch_count
    drawing.open(transform=f"translate({left} {top})")
    marks = [(place[a], place[b]) for a, b in edges]
    if blocks:
        _block_marks(drawing, marks, switch_count)
    else:
        _cell_marks(drawing, marks, classes, scale)
        if scale > 4:
            lattice(drawing, switch_count, scale)
    dividers(drawing, order, scale, switch_groups, switch_racks, beside=not switch_names)
    if switch_names:
        row_names(drawing, order, scale, switch_names, left - 6)
    drawing.close()
    for i, (colour, text) in enumerate(legend):
        y = foot + 22 + 18 * i
        if not blocks:
            drawing.add("rect", x=left, y=y - 9, width=10, height=10, fill=colour)
        drawing.text(left + (0 if blocks else 16), y, text, 11.5)
    if note:
        drawing.text(left, foot + 22 + 18 * len(legend), note, 11.5, fill=GREY)
    return drawing.render()


def _check_matrix(
    edges: Sequence[Sequence[int]], switch_count: int,
    switch_groups: Sequence[object] | None, switch_racks: Sequence[object] | None,
) -> None:
    for values, what in ((switch_groups, "switch_groups"), (switch_racks, "switch_racks")):
        if values is not None and len(values) != switch_count:
            raise ValueError(f"{what} has {len(values)} values for {switch_count} switches")
    for a, b in edges:
        if not (0 <= a < switch_count and 0 <= b < switch_count):
            raise ValueError(f"edge {a}-{b}: switch ids go from 0 to {switch_count - 1}")


def _legend(
    edges: Sequence[Sequence[int]], classes: Sequence[int],
    groups: Sequence[object] | None, racks: Sequence[object] | None
) -> list[tuple[str, str]]:
    far = "between racks" if racks is not None else "between groups" if groups else "links"
    near = "within a group" + (", in one rack" if racks is not None else "")
    names = (near, "between groups of one rack" if groups else "within a rack", far)
    counts = [classes.count(kind) for kind in range(3)]
    return [
        (colour, f"{name}: {plural(count, 'link')}")
        for colour, name, count in zip((NEAR, MIDDLE, FAR), names, counts, strict=True)
        if count
    ] or [(GREY, "no links")]


def _parallel_note(edges: Sequence[Sequence[int]]) -> str:
    """The note on parallel links; empty when there are none."""
    counts = Counter((min(a, b), max(a, b)) for a, b in edges)
    most = max(counts.values(), default=1)
    return "" if most == 1 else f"A mark stands for up to {most:,} parallel links."


def _runs(order: Sequence[int], values: Sequence[object]) -> list[tuple[int, int, object]]:
    """Stretches of equal value along ``order``: (first row, one past the last, value)."""
    out: list[tuple[int, int, object]] = []
    for row, switch in enumerate(order):
        if out and out[-1][2] == values[switch]:
            out[-1] = (out[-1][0], row + 1, out[-1][2])
        else:
            out.append((row, row + 1, values[switch]))
    return out


def dividers(
    drawing: SvgDrawing, order: Sequence[int], scale: float,
    groups: Sequence[object] | None, racks: Sequence[object] | None, *, beside: bool = True,
) -> None:
    """The diagonal, lines between groups and racks, and the names of those where they fit, above
    the matrix and ``beside`` it."""
    drawing.add("path", d=f"M0 0L{MATRIX_PX} {MATRIX_PX}", stroke=PALE)
    for values, colour, width in ((groups, "#d5dbe2", 0.7), (racks, "#8d98a5", 1.0)):
        runs = _runs(order, values) if values is not None else []
        if len(runs) > 80:
            continue
        lines = "".join(
            f"M0 {number(start * scale)}h{MATRIX_PX}M{number(start * scale)} 0v{MATRIX_PX}"
            for start, _, _ in runs[1:]
        )
        if lines:
            drawing.add("path", d=lines, stroke=colour, stroke_width=width)
    named = racks if racks is not None else groups
    runs = _runs(order, named) if named is not None else []
    if len(runs) < 2:
        return
    names = ["" if value is None else group_words(value) for _, _, value in runs]
    spans = [(end - start) * scale for start, end, _ in runs]
    across = all(clipped(n, s, 10) == n for n, s in zip(names, spans, strict=True))
    for (start, end, _), name, span in zip(runs, names, spans, strict=True):
        middle = (start + end) / 2 * scale
        if span >= 12 and beside:
            shown = clipped(name, 56, 10)
            drawing.text(-6, middle + 3.5, shown, 10, text_anchor="end", fill=GREY)
        if across:
            drawing.text(middle, -6, name, 10, text_anchor="middle", fill=GREY)


ROW_NAME_PX = 11
"""The least distance of two names of rows."""


NAMES_PX = 150
"""The room for names of rows, at most."""


def names_room_px(names: Sequence[str]) -> int:
    """The room that the names of rows take beside a matrix."""
    return 8 + min(NAMES_PX, max(54, math.ceil(5.8 * max(map(len, names)))))


def row_names(
    drawing: SvgDrawing, order: Sequence[int], scale: float, names: Sequence[str], room_px: float
) -> None:
    """The names of the switches beside their rows: of all, or of every n-th where rows are lower
    than a line of text."""
    every = -(-ROW_NAME_PX // scale) if scale < ROW_NAME_PX else 1
    for row in range(0, len(order), int(every)):
        name = clipped(names[order[row]], room_px, 10)
        drawing.text(-6, (row + 0.5) * scale + 3.5, name, 10, text_anchor="end", fill=GREY)


def _cell_marks(
    drawing: SvgDrawing, marks: Sequence[tuple[int, int]], classes: Sequence[int], scale: float
) -> None:
    """One path per class: short horizontal strokes, written with relative moves to stay small."""
    thick = max(1.0, 0.95 / scale)
    for kind, colour in enumerate((NEAR, MIDDLE, FAR)):
        cells = {
            cell
            for (a, b), of in zip(marks, classes, strict=True) if of == kind
            for cell in ((a, b), (b, a))
        }
        if not cells:
            continue
        path, x, y = [], 0, 0
        for row, column in sorted(cells):
            path.append(f"m{column - x} {row - y}h1")
            x, y = column + 1, row
        drawing.add(
            "path", d="".join(path), fill="none", stroke=colour, stroke_width=thick,
            transform=f"scale({scale:.5f}) translate(0 .5)",
        )


def lattice(drawing: SvgDrawing, switch_count: int, scale: float) -> None:
    """Thin paper-coloured lines that keep neighbouring marks apart."""
    lines = "".join(
        f"M0 {number(i * scale)}h{MATRIX_PX}M{number(i * scale)} 0v{MATRIX_PX}"
        for i in range(1, switch_count)
    )
    drawing.add("path", d=lines, stroke=PAPER, stroke_width=0.8)


def _block_marks(drawing: SvgDrawing, marks: Sequence[tuple[int, int]], switch_count: int) -> None:
    side = min(MATRIX_BLOCKS, switch_count)
    counts: dict[tuple[int, int], int] = {}
    for pair in marks:
        for a, b in (pair, pair[::-1]):
            block = (a * side // switch_count, b * side // switch_count)
            counts[block] = counts.get(block, 0) + 1
    most = max(counts.values(), default=1)
    levels: dict[int, list[str]] = {}
    for (row, column), count in sorted(counts.items()):
        level = -(-5 * count // most)
        levels.setdefault(level, []).append(f"M{column} {row}h1")
    for level, strokes in sorted(levels.items()):
        drawing.add(
            "path", d="".join(strokes), fill="none", stroke=INK, stroke_opacity=level / 5,
            transform=f"scale({MATRIX_PX / side:.5f}) translate(0 .5)",
        )
