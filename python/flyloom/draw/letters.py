"""How wide words are in Helvetica, and how to break or shorten them.

Source of the widths: Adobe Font Metrics of Helvetica and Helvetica-Bold, one of the fonts that
every reader of PDF has.
"""

from __future__ import annotations

import functools
import unicodedata
from itertools import groupby

PLAIN = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556
556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500
667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333
556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500
722 500 500 500 334 260 334 584
"""
BOLD = """
278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556
556 556 556 556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722
611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556
611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778
556 556 500 389 280 389 584
"""
WIDTHS = tuple(
    {chr(32 + i): int(width) / 1000 for i, width in enumerate(table.split())}
    for table in (PLAIN, BOLD)
)
"""Widths of the letters of ASCII in a font of size 1: plain and bold."""


def is_plain(letter: str) -> bool:
    """Whether Helvetica has the letter: those of Windows-1252."""
    try:
        letter.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


@functools.lru_cache(1 << 16)
def runs(words: str) -> tuple[tuple[bool, str], ...]:
    """``words`` in runs of letters that Helvetica has (True) and that it has not."""
    if words.isascii():
        return ((True, words),)
    return tuple((plain, "".join(part)) for plain, part in groupby(words, is_plain))


@functools.lru_cache(1 << 12)
def _width(letter: str, bold: bool) -> float:
    """The width of a letter in a font of size 1. Letters that are neither ASCII nor ASCII with an
    accent count as a full square, which they do not exceed."""
    base = unicodedata.normalize("NFKD", letter)[0] if is_plain(letter) else letter
    known = letter.isascii() or (base.isascii() and base.isalpha() and base != "i")
    return WIDTHS[bold].get(base, 1.0) if known else 1.0


@functools.lru_cache(1 << 16)
def width_of(words: str, size: float, bold: bool = False) -> float:
    """The width of ``words`` in points. O(letters)."""
    return size * sum(_width(letter, bold) for letter in words)


@functools.lru_cache(1 << 16)
def wrapped(words: str, room: float, size: float, bold: bool = False) -> tuple[str, ...]:
    """``words`` in lines of at most ``room`` points; nothing is lost.

    Lines end after a blank or a hyphen where there is one, else anywhere.
    """
    lines: list[str] = []
    while len(words) > 1 and width_of(words, size, bold) > room:
        fits = 1
        while fits < len(words) and width_of(words[:fits + 1], size, bold) <= room:
            fits += 1
        good = max(words.rfind(mark, 0, fits) for mark in " -") + 1
        cut = good if good > fits // 2 else fits
        lines.append(words[:cut].rstrip(" "))
        words = words[cut:]
    return (*lines, words)


def shortened(words: str, room: float, size: float) -> str:
    """The end of ``words`` that fits ``room`` points, after an ellipsis when it is cut."""
    if width_of(words, size) <= room:
        return words
    while words and width_of("…" + words, size) > room:
        words = words[1:]
    return "…" + words
