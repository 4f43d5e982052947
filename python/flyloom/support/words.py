"""Words and figures as people read them: on a screen, in lists, in spreadsheets."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TextIO

_HIDDEN = [
    *range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F),
    *range(0x2066, 0x206A), *range(0xD800, 0xE000), 0xFEFF,
]
_ESCAPES = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _HIDDEN}
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""What a spreadsheet takes for the beginning of a formula, where it begins a cell."""


def clean(text: str) -> str:
    """``text`` for a screen: what would move the cursor, colour, hide or turn it is spelled out.

    These are the control characters but tabs and line ends, the separators of lines and paragraphs,
    and the marks that turn the direction of writing.
    """
    return text.translate(_ESCAPES)


class SanitizedOutput(io.TextIOWrapper):
    """Standard output or error that shows only :func:`clean` text, whatever is printed."""

    def __init__(self, stream: TextIO) -> None:
        """Takes the place of ``stream``; ``plain`` is that stream, for what draws by escapes."""
        super().__init__(
            stream.buffer, encoding=stream.encoding, errors="backslashreplace",
            line_buffering=bool(stream.line_buffering), write_through=True,
        )
        self.plain = stream

    def write(self, text: str) -> int:
        """Writes the text, cleaned."""
        return super().write(clean(text))


def guard_screen() -> None:
    """Puts a :class:`SanitizedOutput` in place of standard output and error."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and not isinstance(stream, SanitizedOutput):
            stream.flush()
            setattr(sys, name, SanitizedOutput(stream))


def unguarded(stream: TextIO) -> TextIO:
    """The stream below a :class:`SanitizedOutput`: for progress bars, which move the cursor."""
    return stream.plain if isinstance(stream, SanitizedOutput) else stream


def moves(stream: TextIO) -> bool:
    """Whether a cursor can be moved there: on a terminal that ``TERM`` does not call dumb."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def amount(value: float) -> str:
    """A figure with all its decimals, and commas between the thousands: 1,234.5."""
    if value and not 1e-9 <= abs(value) < 1e18:  # infinity and NaN come here, too
        return f"{value:.6g}"
    exact = Decimal(repr(value + 0))  # minus zero is zero
    if exact == exact.to_integral_value():
        return f"{exact:,.0f}"
    return f"{exact:,f}".rstrip("0")


def cell(value: object) -> object:
    """A cell of a list that people open in a spreadsheet: ``'`` in front of text that it would take
    for a formula, and in front of what would be taken for such a mark."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def uncell(text: str) -> str:
    """The text that :func:`cell` made a cell of."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as comma-separated values under a header, lines ended by a line feed; text that a
    spreadsheet would take for a formula is marked by :func:`cell`."""
    lines = [map(_quoted, header), *((_quoted(cell(value)) for value in row) for row in rows)]
    return "".join(f"{','.join(line)}\n" for line in lines)


def _quoted(value: object) -> str:
    """Quotes a value as RFC 4180 says; csv.writer would leave a lone carriage return unquoted."""
    text = "" if value is None else str(value)
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def csv_rows(text: str) -> list[dict[str, str]]:
    """The rows of such a list by the names of its columns, without the marks."""
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return [{key: uncell(value) for key, value in row.items()} for row in rows]


def selection_name(selection: Any) -> str:
    """What results call a selection: of one of the user's own its ``name`` where it has one, else
    its text; else the name of the built-in one."""
    if isinstance(selection, Mapping):
        return str(selection.get("name") or selection)
    text = str(selection)
    named = re.search(r'[\s,]name\s*=\s*"?([A-Za-z0-9_-]+)', f" {text}")
    return named[1] if named and "score" in text else text
