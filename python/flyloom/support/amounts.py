"""Numbers and headings as people read them: four digits that count, money, names in words."""

from __future__ import annotations

import math
import re

UNITS = {
    "usd": "US$", "w": "W", "kw": "kW", "kwh": "kWh", "ns": "ns", "us": "µs", "ms": "ms", "s": "s",
    "gbps": "Gbit/s", "bytes": "bytes", "m": "m", "cycles": "cycles", "percent": "%",
}
"""Words at the ends of names that are units, and how these are written."""
RATES = re.compile(r"(?:^|_)([kmg]ib)_per_s(?=_|$)")
NOUNS = {"usd": "cost", "w": "power", "kw": "power", "kwh": "energy"}
"""What an amount is of whose name says its unit alone."""
NUMBERED = ("year", "seed", "port", "rank", "id")
"""What a number names rather than counts: it has no commas."""
WHOLE = ("hop_bytes",)
"""Names whose last word is no unit."""
DIGITS = 4


def figure(value: object, name: str = "", unit: str = "") -> str:
    """A value in words: whole numbers in full with commas, others with four digits that count, and
    without powers of ten where people do not write these; money where the ``name`` or the ``unit``
    says so; ``–`` for None."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name.rpartition("_")[2] in NUMBERED:
        return str(value)
    if isinstance(value, (int, float)):
        money = unit == "US$" or "usd" in name.rpartition(".")[2].split("_")
        return dollars(value) if money else number(value)
    return str(value)


def number(value: float) -> str:
    """A number: 12,345; 0.3333; 12,350 for 12345.6; 1.235e-07."""
    if isinstance(value, int) or (math.isfinite(value) and value == int(value)):
        return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.{DIGITS}g}"
    if not math.isfinite(value) or not 1e-4 <= abs(value) < 1e15:
        return f"{value:.{DIGITS}g}"
    digits = DIGITS - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    text = f"{rounded:,.{max(digits, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def dollars(value: float) -> str:
    """A sum of money: 1.57 M$ and 28.8 M$; 45,612 $ below a million, 7.93 $ below 100."""
    if not math.isfinite(value):
        return f"{value} $"
    for least, word in ((1e9, "G$"), (1e6, "M$")):
        if abs(value) >= least * 0.9995:
            part = float(f"{value / least:.3g}")
            return f"{part:,.{max(0, 2 - math.floor(math.log10(abs(part))))}f} {word}"
    if abs(round(value, 2)) >= 100 or value == int(value):
        return f"{value:,.0f} $"
    return f"{value:,.2f} $"


def heading(name: str, unit: str = "") -> str:
    """A name as the heading of a column: ``cost_usd_per_endpoint`` is "cost per endpoint (US$)"."""
    words = name.replace(".", "_")
    rate = RATES.search(words)
    if rate:
        unit = unit or f"{rate[1][0].upper()}iB/s"
        words = RATES.sub("", words)
    kept: list[str] = []
    parts = [word for word in words.split("_") if word]
    for place, word in enumerate(parts):
        ends = place + 1 == len(parts) or parts[place + 1] in ("per", "low", "high")
        kind = f"{kept[-1]}_{word}" if kept else word
        if word in UNITS and ends and (kept or word in NOUNS) and kind not in WHOLE:
            unit = unit or UNITS[word]
            kept += [] if kept else [NOUNS[word]]
        else:
            kept.append(word)
    said = " ".join(kept)
    return said if not unit or unit in kept or unit == said else f"{said} ({unit})"
