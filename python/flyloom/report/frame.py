"""The frame of a page that a command writes: one HTML file that refers to nothing."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path


def framed(title: str, parts: Iterable[str], *, heading: str = "") -> str:
    """The page with this title and, where it is another, heading, both text; ``parts`` are HTML."""
    css = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    name = escape(title)
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        f'<link rel="icon" href="data:,"><title>{name}</title><style>{css}</style></head><body>',
        f"<header><h1>{escape(heading) or name}</h1></header>", *parts, "</body></html>", "",
    ])
