"""The money of a report: what each network costs and draws, by each catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flyloom.report.base import Found, PageData, PageSection
from flyloom.report.words import count
from flyloom.support.amounts import dollars, number


def view(page: PageData) -> dict[str, Any] | None:
    """A row for each bill; bills of a network that are the same are one row."""
    bills = [bill for measure in page.data["measures"] if measure["name"] == "cost"
             for bill in _bills(measure)]
    if not bills:
        return None
    made = [_row(bill, page.colours) for bill in bills]
    once = {tuple(value for name, value in row.items() if name != "label"): row
            for row in reversed(made)}
    rows = [row for row in made if any(row is one for one in once.values())]
    for row in rows:
        rivals = {other["each_usd"] for other in rows if other["catalog"] == row["catalog"]}
        row["best"] = page.several and row["each_usd"] == min(rivals) < max(rivals)
    keys = [(row["network"], row["catalog"]) for row in rows]
    counted = {row["counted"] for row in rows}
    return {"rows": rows, "counted": counted.pop() if len(counted) == 1 else "",
            "more": len(set(keys)) < len(keys),
            "no_power": any(row["kw"] == "–" for row in rows)}


def _bills(measure: Found) -> list[dict[str, Any]]:
    """The rows of the measure with their cells by name."""
    names = [column["name"] for column in measure["columns"]]
    return [{"network": row["network"], "label": row["label"],
             **dict(zip(names, row["cells"], strict=True))} for row in measure["rows"]]


def _row(bill: Mapping[str, Any], colours: Mapping[str, str]) -> dict[str, Any]:
    """A bill as it is written."""
    low, high, power = bill.get("usd_low"), bill.get("usd_high"), bill.get("power_w")
    usd, each = bill.get("usd"), bill.get("usd_per_endpoint")
    watts = bill.get("power_w_per_endpoint")
    return {
        "network": bill["network"], "colour": colours.get(bill["network"], "#fff"),
        "label": bill["label"], "catalog": bill.get("catalog") or "–",
        "usd": "–" if usd is None else dollars(usd),
        "ends": "–" if low is None or high is None else "one price" if low == high else
        f"{dollars(low)} to {dollars(high)}",
        "each": "–" if each is None else dollars(round(each)), "each_usd": each or 0.0,
        "kw": number(float(f"{power / 1e3:.3g}")) if power else "–",
        "watts": number(float(f"{watts:.3g}")) if watts else "–",
        "racks": count(bill.get("racks")), "rate": number(bill.get("rate_gbps") or 0) or "–",
        "counted": _counted(bill.get("basis") or ""),
    }


def _counted(basis: str) -> str:
    """What a bill counts, from its basis: catalogue, rate, and after a colon the parts."""
    return basis.rpartition(": ")[2].replace("_", " ").replace(", ", " and ")


SECTION = PageSection(
    name="money", title="Cost", place=5,
    doc="What each network costs and draws, by each catalogue.",
    when="`cost` was asked for", view=view,
)
