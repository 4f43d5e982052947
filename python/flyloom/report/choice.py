"""The two pages on which a choice of a network is justified, as blocks of words and tables.

They are for somebody who does not know the words of the field: the answer first, then money and
performance, then what would change the answer, the risks, and what was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flyloom.support.amounts import dollars, figure
from flyloom.verbs.scoring import CRITERIA

FAMILIES = {
    "fat_tree": ("a fat tree", "Most machines have one; every vendor sells and supports it."),
    "xgft": ("a generalized fat tree", "Most machines have a fat tree; vendors support it."),
    "k_ary_n_tree": ("a fat tree", "Most machines have a fat tree; vendors support it."),
    "clos": ("a folded Clos network, which is a fat tree", "Most machines have a fat tree; vendors"
                                                           " support it."),
    "dragonfly": ("a dragonfly", "Large machines have one (Cray XC, HPE Slingshot); adaptive"
                                 " routing is part of these products."),
    "megafly": ("a megafly (dragonfly+)", "Some large machines have one, over InfiniBand with"
                                          " adaptive routing."),
    "torus": ("a torus", "Long-lived machines have one (Blue Gene, K, Fugaku); it needs its own"
                         " routing."),
    "hypercube": ("a hypercube", "Machines of the 1980s, and SGI's later ones, had one."),
    "slim_fly": ("a Slim Fly", "One research cluster is known to have one, over InfiniBand with"
                               " layered routing."),
    "hyperx": ("a HyperX", "One test cluster is known to have had one; adaptive routing must be"
                           " shown on the switches that are bought."),
    "flattened_butterfly": ("a flattened butterfly, a grid of fully linked rows and columns",
                            "No machine of this size is known; a HyperX, its relative, was tried in"
                            " a test cluster. Adaptive routing must be shown on the switches that"
                            " are bought."),
}
"""What a network of a family is in words, and where it is in use."""
UNKNOWN = "No machine with one is known; everything about it has to be tried first."
MOST_LEFT_OUT = 12
MOST_WEIGHT = 0.9
"""A weight above which nobody judges by anything else."""


@dataclass
class Block:
    """A part of a page: a heading, paragraphs, or a table whose first column is text."""

    heading: str = ""
    paragraphs: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    points: list[tuple[str, float, float]] = field(default_factory=list)
    """The marks of a picture: a label, the price in US dollars, and a part of the rate."""


def pages(found: Mapping[str, Any]) -> list[list[Block]]:
    """The blocks of the first and of the second page."""
    best = found["candidates"][0]
    tree = next((c for c in found["candidates"] if c["network"] == found["tree"]), None)
    first = [_answer(found, best, tree), _table(found), _picture(found), _beside(best, tree)]
    second = [_reading(), _risks(found, best), _turning(found), _like(found), _left_out(found),
              _made(found)]
    return [[block for block in page if block.paragraphs or block.rows or block.points]
            for page in (first, second)]


def title(found: Mapping[str, Any]) -> str:
    """The title of both pages."""
    return f"Which network for {found['endpoints']:,} endpoints"


def called(row: Mapping[str, Any]) -> str:
    """What a network is, in words."""
    words, _ = FAMILIES.get(row["family"], (f"a {row['family'].replace('_', ' ')} network", ""))
    ratio = row["oversubscription"]
    return words if ratio == 1 else f"{words}, oversubscribed {ratio:g}:1"


def _answer(
    found: Mapping[str, Any], best: Mapping[str, Any], tree: Mapping[str, Any] | None
) -> Block:
    """The answer, in a few sentences."""
    budget = found["budget_usd"]
    within = "" if budget is None else f", {dollars(budget - best['cost_usd'])} below the budget"
    need = (f"Needed: {found['endpoints']:,} endpoints at {found['gbps']:g} Gbit/s, switches of at"
            f" most {found['radix']} ports" + ("" if budget is None else
                                               f", at most {dollars(budget)}") + ".")
    take = (f"Take {best['network']}: {called(best)} of {best['switches']:,} switches for"
            f" {best['endpoints']:,} endpoints. It costs {dollars(best['cost_usd'])}{within}"
            f" ({dollars(best['cost_usd_low'])} to {dollars(best['cost_usd_high'])} by the lowest"
            f" and the highest prices found), draws {best['power_w'] / 1000:,.0f} kW and fills"
            f" {best['racks']:,} racks.")
    carries = (f"It carries {_percent(best['uniform_minimal'])} of the endpoints' rate when all"
               f" send to all, at least {_percent(best['worst_case_adaptive'])} in the worst case"
               f" with adaptive routing, and {_percent(best['worst_case_minimal'])} without it.")
    paragraphs = [need, take, carries]
    if tree is not None and tree is not best:
        paragraphs.append(
            f"Beside it stands {tree['network']}, {called(tree)}: {_times(tree, best)}.")
    second = [row for row in found["candidates"] if row["rank"] == 2]
    if second:
        paragraphs.append(
            f"The second is {second[0]['network']}, {called(second[0])}; page 2 says what would"
            " make it the first.")
    return Block("The answer", paragraphs)


def _times(row: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """How another network compares with the best in price, worst case and allreduce."""
    price = row["cost_usd"] / best["cost_usd"] - 1
    worst = (row["worst_case_adaptive"] or 0, best["worst_case_adaptive"] or 0)
    quick = row["allreduce_adaptive_ns"] / best["allreduce_adaptive_ns"]
    return (f"its price is {_percent(abs(price))} {'higher' if price >= 0 else 'lower'}, it carries"
            f" {_percent(worst[0])} in the worst case (against {_percent(worst[1])}), and a large"
            f" allreduce takes {quick:.2f} times as long")


def _percent(part: float | None) -> str:
    return "–" if part is None else f"{100 * min(part, 1.0):.3g} %"


def _table(found: Mapping[str, Any]) -> Block:
    """Money and performance of all candidates."""
    head = ["network", "over", "cost", "$/end-\npoint", "kW", "racks", "copper /\noptical",
            "all to\nall", "worst\ncase", "all-\nreduce", "first\nbit", "5 %\nfailed", "score"]
    rows = [
        [
            f"{row['rank']}  {row['network']}", f"{row['oversubscription']:g}:1",
            dollars(row["cost_usd"]), f"{row['cost_usd_per_endpoint']:,.0f}",
            f"{row['power_w'] / 1000:,.0f}", f"{row['racks']:,}",
            f"{row['cables_electric']:,} / {row['cables_optical']:,}",
            _percent(row["uniform_minimal"]), _percent(row["worst_case_adaptive"]),
            f"{figure(round(row['allreduce_adaptive_ns'] / 1e6, 1))} ms",
            f"{row['zero_load_ns']:,.0f} ns", _percent(row["kept_5_percent"]),
            f"{row['score']:.2f}",
        ]
        for row in found["candidates"]
    ]
    return Block("Money and performance", head=head, rows=rows)


def _picture(found: Mapping[str, Any]) -> Block:
    """The price of each candidate against what it carries in the worst case."""
    points = [
        (str(row["rank"]), row["cost_usd"], min(row["worst_case_adaptive"], 1.0))
        for row in found["candidates"] if row["worst_case_adaptive"] is not None
    ]
    return Block("Price and the worst case", points=points)


def _reading() -> Block:
    """What the columns mean, for who does not know them."""
    return Block("How to read the table", [
        "An endpoint is a computer's or an accelerator's network port. A switch joins its ports;"
        " racks hold switches and servers. Copper cables reach a rack or two, optical ones across"
        " the room, at more than ten times the price.",
        "over: endpoints for each one that the network has full bandwidth for. all to all: the part"
        " of its rate that every endpoint gets when all send to all. worst case: the same for the"
        " worst choice of partners found, with routing that avoids full links. allreduce: time to"
        " add up 100 MB over all endpoints, as training of large models does in every step. first"
        " bit: time across the empty network. 5 % failed: what is left of all-to-all traffic when"
        " one link in twenty fails. score: 1 would be the best network in every respect.",
    ])


def _beside(best: Mapping[str, Any], tree: Mapping[str, Any] | None) -> Block:
    """The best beside the tree, figure by figure."""
    if tree is None or tree is best:
        return Block()
    figures: list[tuple[str, str, Callable[[Any], str]]] = [
        ("price", "cost_usd", dollars), ("power", "power_w", lambda w: f"{w / 1000:,.0f} kW"),
        ("switches", "switches", figure), ("optical cables", "cables_optical", figure),
        ("racks", "racks", figure), ("all-to-all traffic", "uniform_minimal", _percent),
        ("worst case, adaptive routes", "worst_case_adaptive", _percent),
        ("worst case, shortest routes", "worst_case_minimal", _percent),
        ("allreduce of 100 MB", "allreduce_adaptive_ns", lambda ns: f"{ns / 1e6:,.1f} ms"),
        ("first bit", "zero_load_ns", lambda ns: f"{ns:,.0f} ns"),
        ("left with 1 % of links failed", "kept_1_percent", _percent),
        ("left with 5 % of links failed", "kept_5_percent", _percent),
    ]
    rows = [[words, say(best[key]), say(tree[key])] for words, key, say in figures
            if best[key] is not None and tree[key] is not None]
    about = f"The first is {best['network']}; the tree is {tree['network']}, {called(tree)}."
    return Block("Beside the tree", [about], head=["", "the first", "the tree"], rows=rows)


def _turning(found: Mapping[str, Any]) -> Block:
    """What would make the second the first."""
    if len(found["candidates"]) < 2:
        return Block()
    second = found["candidates"][1]["network"]
    paragraphs = []
    never = []
    for point in found["turning_points"]:
        what, at, now = point["what"], point["at"], point["now"]
        if what == "price" and at is not None:
            paragraphs.append(f"{second} would be the first if it alone were"
                              f" {_percent(1 - at)} cheaper.")
        elif what in ("switch_price", "optical_price"):
            part = "switches" if what == "switch_price" else "optical cables"
            if at is None:
                never.append(f"the price of {part}")
            else:
                paragraphs.append(f"It would be if {part} cost {at:.2f} times what they do.")
        elif at is None or at > MOST_WEIGHT:
            never.append(f"the weight of {CRITERIA[what].words}")
        else:
            paragraphs.append(f"It would be if {CRITERIA[what].words} counted {_percent(at)} in"
                              f" place of {_percent(now)}.")
    if never:
        paragraphs.append(f"No change of these alone would do it: {'; '.join(never)}.")
    return Block("What would change the answer", paragraphs)


def _like(found: Mapping[str, Any]) -> Block:
    """Rivals at equal price and at equal bandwidth."""
    best = found["candidates"][0]
    words = {
        "equal_price": "For the same money at most",
        "equal_bisection": "With as much bandwidth between halves at least",
        "equal_saturation": "With as much all-to-all traffic at least",
    }
    paragraphs = []
    for key, say in words.items():
        rivals = list(found["like_for_like"][key])[:4]
        listed = "; ".join(f"{rival['network']} for {dollars(rival['cost_usd'])}"
                           for rival in rivals)
        paragraphs.append(f"{say}: {listed or 'none of the others measured'}.")
    return Block(f"Like for like with {best['network']}", paragraphs)


def _risks(found: Mapping[str, Any], best: Mapping[str, Any]) -> Block:
    """What speaks against the best."""
    _, use = FAMILIES.get(best["family"], ("", UNKNOWN))
    high = best["cost_usd_high"]
    risks = [use or UNKNOWN]
    if (budget := found["budget_usd"]) is not None and high > budget:
        risks.append(f"At the highest prices found it costs {dollars(high)}, which is"
                     f" {dollars(high - budget)} above the budget: ask for quotations first.")
    if (best["worst_case_minimal"] or 1) < 0.5 * (best["worst_case_adaptive"] or 0):
        risks.append(
            f"It depends on adaptive routing: with shortest routes alone the worst case carries"
            f" {_percent(best['worst_case_minimal'])}, and a large allreduce takes"
            f" {best['allreduce_ns'] / best['allreduce_adaptive_ns']:.1f} times as long. Such"
            f" routes need {best['lanes_adaptive']} virtual lanes, shortest ones"
            f" {best['lanes_minimal']}.")
    grows = best["grows_to"]
    free = {0: "no port stays", 1: "one port stays"}.get(
        best["free_ports"], f"{best['free_ports']} ports stay")
    room = f"with such switches its kind has members of up to {grows or 0:,} endpoints"
    if not grows or grows <= best["endpoints"]:
        room = "no larger member of its kind with such switches is known"
    risks.append(f"Room to grow: {room}; {free} free on a switch.")
    return Block("Risks", risks)


def _left_out(found: Mapping[str, Any]) -> Block:
    """Why the others are out, a line each."""
    lines = [f"{each['network']} ({each['oversubscription']:g}:1): {each['why']}."
             for each in found["left_out"] if "times" not in each]
    far = sorted({each["family"].replace("_", " ") for each in found["left_out"]
                  if "times" in each})
    more = len(lines) - MOST_LEFT_OUT
    lines = lines[:MOST_LEFT_OUT]
    if more > 0:
        lines.append(f"And {more} more; the table of the command has all.")
    if far:
        lines.append(f"Far dearer by an estimate: members of {', '.join(far)}.")
    return Block("Why the others are out", lines)


def _made(found: Mapping[str, Any]) -> Block:
    """How the score is made, and what prices are."""
    weights = ", ".join(f"{CRITERIA[name].words} {_percent(weight)}"
                        for name, weight in found["weights"].items() if weight)
    return Block("How this was found", [
        f"All members of all families that carry the need were sized; the cheapest were laid out,"
        f" priced and measured. Each was compared with the best in each respect; the score is the"
        f" product of these quotients, by weight: {weights}. Prices: {found['basis']}. Bandwidths"
        " and times are bounds by the load of links, not simulations; nothing here is a vendor's"
        " promise.",
    ])


def head_lines(head: Sequence[str]) -> list[list[str]]:
    """Headings of columns as lines."""
    return [words.split("\n") for words in head]


def one_line(lines: Sequence[str]) -> str:
    """The lines of a heading as one: a hyphen at the end of a line joins it to the next."""
    return " ".join(lines).replace("- ", "")
