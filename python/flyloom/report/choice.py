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
NEXT_PAGE = "Page 2"
"""What the first page calls the second."""
MOST_LEFT_OUT = 10
MOST_WEIGHT = 0.9
"""A weight above which nobody judges by anything else."""
MOST_CHANGE = 0.75
"""A change of prices above which nobody expects it: three quarters less, or four times as much."""
EQUAL = 0.02
"""Scores that differ by less than this part are as good as equal."""


@dataclass
class Block:
    """A part of a page: a heading, paragraphs, or a table whose first column is text."""

    heading: str = ""
    paragraphs: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    points: list[tuple[str, float, float]] = field(default_factory=list)
    """The marks of a picture: a label, the price in US dollars, and a part of the rate."""
    limit_usd: float | None = None
    """A line in the picture: the budget."""
    words: bool = False
    """Whether the other columns are text, too."""


def pages(found: Mapping[str, Any]) -> list[list[Block]]:
    """The blocks of the first and of the second page."""
    best = found["candidates"][0]
    tree = next((c for c in found["candidates"] if c["network"] == found["tree"]), None)
    first = [_answer(found, best, tree), _table(found), _picture(found), _beside(best, tree)]
    second = [_risks(found, best), _simulated(found), _turning(found), _like(found),
              _left_out(found), _reading(), _made(found)]
    return [[block for block in page if block.paragraphs or block.rows or block.points]
            for page in (first, second)]


def title(found: Mapping[str, Any]) -> str:
    """The title of both pages."""
    return f"Which network for {found['endpoints']:,} endpoints"


def called(row: Mapping[str, Any]) -> str:
    """What a network is, in words."""
    if not row["links"]:
        n = row["switches"]
        return "a single switch" if n == 1 else f"{n} switches side by side, without links"
    words, _ = FAMILIES.get(row["family"], (f"a {row['family'].replace('_', ' ')} network", ""))
    return words


def thinned(row: Mapping[str, Any]) -> str:
    """What is said behind a network that has less than what its kind calls full bandwidth."""
    ratio = row["oversubscription"]
    return "" if ratio == 1 else f", built for 1/{ratio:g} of the full bandwidth of its kind"


def _answer(
    found: Mapping[str, Any], best: Mapping[str, Any], tree: Mapping[str, Any] | None
) -> Block:
    """The answer, in a few sentences."""
    budget = found["budget_usd"]
    within = "" if budget is None else f", {dollars(budget - best['cost_usd'])} below the budget"
    most = "" if budget is None else f", at most {dollars(budget)}"
    paragraphs = [
        f"Needed: {found['endpoints']:,} endpoints (network ports of computers) at"
        f" {found['gbps']:g} Gbit/s, switches of at most {found['radix']} ports{most}.",
        f"Take number 1, {called(best)}{_of_switches(best)} for {best['endpoints']:,} endpoints"
        f" ({best['network']}){thinned(best)}. It costs"
        f" {dollars(best['cost_usd'])}{within}; {dollars(best['cost_usd_low'])} to"
        f" {dollars(best['cost_usd_high'])} by the lowest and the highest prices found."
        + (f" It draws {_kw(best)} kW." if _kw(best) else " The catalogue does not say"
                                                       " how much power it draws."),
        _carried(best),
    ]
    second = next((row for row in found["candidates"] if row["rank"] == 2), None)
    if second is not None:
        near = 1 - second["score"] / best["score"] < EQUAL
        verdict = "Its score is as good as equal: decide by what matters to you." if near else \
            f"{NEXT_PAGE} says what would make it the first."
        paragraphs.append(f"Number 2 is {called(second)}{thinned(second)}:"
                          f" {_beside_best(second, best)}. {verdict}")
    built = next((row for row in found["candidates"] if row["family"] in FAMILIES), None)
    if best["family"] not in FAMILIES and best["links"]:
        words = "No machine is known to have a network like number 1"
        if built is None:
            paragraphs.append(f"{words}, nor one like the others here.")
        elif built is second:
            paragraphs.append(f"{words}; number 2 is of a kind that has been built.")
        else:
            paragraphs.append(
                f"{words}. The first of a kind that has been built is number {built['rank']},"
                f" {called(built)}{thinned(built)}: {_beside_best(built, best)}.")
            second = second if built is not tree else tree
    if tree is not None and tree is not best and tree is not second:
        paragraphs.append(f"The network that most machines have is number {tree['rank']},"
                          f" {called(tree)}{thinned(tree)}: {_beside_best(tree, best)}.")
    return Block("The answer", paragraphs)


def _kw(row: Mapping[str, Any]) -> str:
    """The power of a network in kW; empty where the catalogue does not have that of its
    switches."""
    if row["power_w_per_endpoint"] is None:
        return ""
    return f"{row['power_w'] / 1000:,.0f}"


def _of_switches(row: Mapping[str, Any]) -> str:
    return f" of {row['switches']:,} switches" if row["links"] else ""


def _carried(best: Mapping[str, Any]) -> str:
    """What the best network carries when all send to all, and in the worst case: with adaptive
    routing, and without it where it differs."""
    if not best["links"]:
        return "No link of it could be full: it has none between switches."
    whole = (f"When all send to all, every endpoint gets {_percent(best['uniform_minimal'])} of its"
             " rate.")
    least, most = best["worst_case_minimal"] or 0.0, best["worst_case_adaptive"] or 0.0
    if least > 0.99 * most:
        return f"{whole} In the worst case found it gets {_percent(most)}."
    return (f"{whole} Where each sends to one other and receives from one, the worst choice of"
            f" partners leaves it {_percent(most)} if switches send packets around full links"
            f" (adaptive routing), and {_percent(least)} if they do not.")


def _beside_best(row: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """How another network compares with the best in price, traffic and allreduce."""
    apart = row["cost_usd"] - best["cost_usd"]
    price = "as dear" if abs(apart) < 0.005 * best["cost_usd"] else \
        f"{dollars(abs(apart))} {'dearer' if apart > 0 else 'cheaper'}"
    quick = row["allreduce_adaptive_ns"] / best["allreduce_adaptive_ns"] - 1
    speed = "as fast" if abs(quick) < 0.005 else \
        f"{_percent(abs(quick))} {'slower' if quick > 0 else 'faster'}"
    return (f"it is {price}, carries {_percent(row['uniform_minimal'])} when all send to all and"
            f" {_percent(row['worst_case_adaptive'])} in the worst case, and is {speed} in a large"
            " allreduce")


def _percent(part: float | None) -> str:
    return "–" if part is None else f"{100 * min(part, 1.0):.3g} %"


def _ns(time: float | None) -> str:
    return "–" if time is None else f"{time:,.0f} ns"


def _table(found: Mapping[str, Any]) -> Block:
    """Money and performance of all candidates."""
    head = ["network", "band-\nwidth", "cost", "$/end-\npoint", "kW", "racks", "switch\ncables",
            "all to\nall", "worst\ncase", "all-\nreduce", "first\nbit", "5 %\nfailed", "score"]
    rows = [
        [
            f"{row['rank']}  {row['network']}",
            "full" if row["oversubscription"] == 1 else f"1/{row['oversubscription']:g}",
            dollars(row["cost_usd"]), f"{row['cost_usd_per_endpoint']:,.0f}",
            _kw(row) or "-", f"{row['racks']:,}",
            f"{row['cables_electric'] + row['cables_optical']:,}",
            _percent(row["uniform_minimal"]), _percent(row["worst_case_adaptive"]),
            f"{figure(round(row['allreduce_adaptive_ns'] / 1e6, 1))} ms",
            _ns(row["zero_load_ns"]), _percent(row["kept_5_percent"]),
            f"{row['score']:.3f}",
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
    return Block("Price and the worst case", points=points, limit_usd=found["budget_usd"])


def _reading() -> Block:
    """What the columns mean, for who does not know them."""
    return Block("What the words mean", head=["", ""], words=True, rows=[
        ["bandwidth", "full: what the rule of the network's kind gives it for uniform traffic, 1/2:"
                      " half of that; kinds differ, and \"all to all\" says what is carried"],
        ["racks", "with the computers, by the rules of the floor; switch cables: those between"
                  " switches"],
        ["all to all", "the part of its rate that every endpoint gets when all send to all"],
        ["worst case", "the same for the worst choice of partners, each with one other, with"
                       " routing that avoids full links by detours, which take up to half"],
        ["allreduce", "time to add up 100 MB over all endpoints, as training of large models does"
                      " in every step; its steps go to a few partners each, so that it depends on"
                      " more than the all-to-all traffic"],
        ["first bit", "time of a message's first bit across the empty network"],
        ["5 % failed", "all-to-all traffic that is left when one link in twenty fails, as a part of"
                       " what the network carried before; 100 %: its fullest link gets no fuller"],
        ["score", "1 would be the best network in every respect"],
        ["virtual lane", "a queue of its own in each switch; too few, and packets that go around"
                         " full links can block each other"],
    ])


def _beside(best: Mapping[str, Any], tree: Mapping[str, Any] | None) -> Block:
    """The best beside the tree, figure by figure."""
    if tree is None or tree is best:
        return Block()
    figures: list[tuple[str, str, Callable[[Any], str]]] = [
        ("price", "cost_usd", dollars),
        ("power for each endpoint", "power_w_per_endpoint", lambda w: f"{w:,.0f} W"),
        ("energy of a year, not in the price", "energy_usd_per_year", dollars),
        ("switches", "switches", figure), ("optical cables between them", "cables_optical", figure),
        ("racks, with the computers", "racks", figure),
        ("all-to-all traffic", "uniform_minimal", _percent),
        ("worst case, adaptive routing", "worst_case_adaptive", _percent),
        ("worst case, shortest routes", "worst_case_minimal", _percent),
        ("allreduce of 100 MB", "allreduce_adaptive_ns", lambda ns: f"{ns / 1e6:,.1f} ms"),
        ("left with 1 % of links failed", "kept_1_percent", _percent),
        ("left with 5 % of links failed", "kept_5_percent", _percent),
    ]
    rows = [[words, say(best[key]), say(tree[key])] for words, key, say in figures
            if best[key] is not None and tree[key] is not None]
    head = ["", "number 1", f"number {tree['rank']}, a tree"]
    return Block("Beside the network that most machines have", head=head, rows=rows)


def _simulated(found: Mapping[str, Any]) -> Block:
    """What simulations found of the bounds, where there are any."""
    if not found["simulated"]:
        return Block()
    number = {row["network"]: row["rank"] for row in found["candidates"]}
    paragraphs = []
    for run in found["simulated"]:
        what = "all-to-all traffic" if run["traffic"] == "uniform" else "the worst case"
        asked = f"Number {number[run['network']]}, {what}, bound {_percent(run['bound'])}:"
        if run["why"]:
            paragraphs.append(f"{asked} not simulated: {run['why']}.")
        else:
            paragraphs.append(
                f"{asked} of {_percent(run['offered_load'])} offered,"
                f" {_percent(run['accepted_load'])} arrive, within"
                f" {run['mean_latency_ns']:,.0f} ns on average.")
    return Block("Simulated, packet by packet", paragraphs)


def _turning(found: Mapping[str, Any]) -> Block:
    """What would make another the first: the second's price, prices of parts, and the nearest
    weights."""
    if len(found["candidates"]) < 2:
        return Block()
    second = found["candidates"][1]
    points = {point["what"]: point for point in found["turning_points"]}
    number = {row["network"]: f"number {row['rank']}" for row in found["candidates"]}
    paragraphs = []
    if (at := points["price"]["at"]) is not None:
        paragraphs.append(f"A discount of {dollars((1 - at) * second['cost_usd'])}"
                          f" ({_percent(1 - at)}) on number 2 alone would put it first.")
    for what, part in (("switch_price", "switches"), ("optical_price", "optical cables")):
        at, network = points[what]["at"], points[what]["network"]
        if at is not None and 1 - MOST_CHANGE <= at <= 1 / (1 - MOST_CHANGE):
            change = f"{_percent(1 - at)} cheaper" if at < 1 else f"{at:.2f} times as dear"
            paragraphs.append(f"If all {part} were {change}, {number.get(network, network)} would"
                              " be first.")
    weights = [point for point in found["turning_points"] if point["what"] in CRITERIA
               and point["at"] is not None and point["at"] <= MOST_WEIGHT]
    weights.sort(key=lambda point: abs(point["at"] - point["now"]))
    paragraphs += [
        f"If the weight of the {CRITERIA[point['what']].words} were {_percent(point['at'])} in"
        f" place of {_percent(point['now'])}, {number.get(point['network'], point['network'])}"
        " would be first." for point in weights[:3]
    ]
    paragraphs += [
        f"At {each['gbps']:g} Gbit/s, at that rate's prices, {number[each['network']]} is first,"
        f" for {dollars(each['cost_usd'])}." for each in found["other_rates"]
    ]
    if not paragraphs:
        paragraphs.append("No change of one price or of one weight alone would put another first.")
    return Block("What would change the answer", paragraphs)


def _like(found: Mapping[str, Any]) -> Block:
    """Rivals at equal price and at equal bandwidth."""
    words = {
        "equal_price": "For at most 2 % more money",
        "equal_bisection": "With at most 3 % less bandwidth between two halves of the machine",
        "equal_saturation": "With at most 3 % less all-to-all traffic",
    }
    paragraphs = []
    for key, say in words.items():
        rivals = list(found["like_for_like"][key])[:4]
        listed = "; ".join(f"{rival['network']} for {dollars(rival['cost_usd'])}"
                           for rival in rivals)
        paragraphs.append(f"{say}: {listed or 'none of the others measured'}.")
    return Block("Like for like with number 1, the nearest of each other kind", paragraphs)


def _risks(found: Mapping[str, Any], best: Mapping[str, Any]) -> Block:
    """What speaks against the best."""
    _, use = FAMILIES.get(best["family"], ("", UNKNOWN))
    high = best["cost_usd_high"]
    risks = [use or UNKNOWN]
    if not best["links"]:
        risks = ["When this switch fails, nothing is left of the network."
                 if best["switches"] == 1 else
                 "When one of these switches fails, every computer loses one of its ports."]
    if (budget := found["budget_usd"]) is not None and high > budget:
        risks.append(f"At the highest prices found it costs {dollars(high)}, which is"
                     f" {dollars(high - budget)} above the budget: ask for quotations first.")
    plain, quick = ((best[key] or 0.0) / 1e6 for key in ("allreduce_ns", "allreduce_adaptive_ns"))
    if (best["worst_case_minimal"] or 1) < 0.5 * (best["worst_case_adaptive"] or 0):
        slower = f", and a large allreduce takes {plain:,.1f} ms in place of {quick:,.1f}" \
            if plain > 1.01 * quick else ""
        risks.append(
            f"It depends on adaptive routing: without it the worst case carries"
            f" {_percent(best['worst_case_minimal'])}{slower}. It needs {best['lanes_adaptive']}"
            f" virtual lanes ({best['lanes_minimal']} without). Have the vendor show it on such"
            " switches, as a condition of the contract.")
    grows = best["grows_to"]
    free = {0: "no port of a switch stays", 1: "one port of a switch stays"}.get(
        best["free_ports"], f"{best['free_ports']} ports of a switch stay")
    room = f"with such switches its kind has members of up to {grows or 0:,} endpoints"
    if not grows:
        room = "up to which size its kind can be built with such switches was not looked for"
    elif grows <= best["endpoints"]:
        room = "its kind has no larger member with such switches"
    risks.append(f"Room to grow: {room}; {free} free. {_lanes(best)}")
    return Block("Risks", risks)


def _lanes(best: Mapping[str, Any]) -> str:
    """The virtual lanes of shortest routes."""
    lanes, by_rule = best["lanes_minimal"], best["lanes_by"] != "routes"
    return (f"Shortest routes (engine {best['engine']}) take {lanes} virtual"
            f" lane{'s' if lanes > 1 else ''}{', by rule' if by_rule else ''}.")


def _left_out(found: Mapping[str, Any]) -> Block:
    """Why the others are out, a line each."""
    out = [each for each in found["left_out"] if "times" not in each]
    most = MOST_LEFT_OUT - 1 - len(found["simulated"] or ())  # these take room on the page
    rows = [[each["network"], f"{each['why']}"] for each in out[:most]]
    paragraphs = []
    if len(out) > most:
        paragraphs.append(f"The first {most} of {len(out)}; choice.json has all.")
    far = sorted({each["family"].replace("_", " ") for each in found["left_out"]
                  if "times" in each})
    if far:
        paragraphs.append("More than three times as dear as the cheapest, by an estimate: other"
                          f" variants of {', '.join(far)}.")
    return Block("Why the others are out", paragraphs, head=["", ""], rows=rows, words=True)


def _made(found: Mapping[str, Any]) -> Block:
    """How the score is made, and what prices are."""
    weights = ", ".join(f"{CRITERIA[name].words} {_percent(weight)}"
                        for name, weight in found["weights"].items() if weight)
    powers = [row["power_w_per_endpoint"] for row in found["candidates"]]
    unknown = " Power counts for nothing here: the catalogue does not say it." \
        if powers.count(None) == len(powers) else ""
    return Block("How this was found", [
        "All members of all families that carry the need were sized; the cheapest were laid out,"
        " priced and measured. Each is compared with the best in each respect, and the results are"
        " multiplied, weighted as follows (the weights of flyloom, the program that made these"
        f" pages, unless others were given): {weights}.{unknown} Prices: {found['basis']}."
        " Bandwidths and times of the tables are bounds by"
        " the load of links, not simulations; nothing here is a vendor's promise, and installation"
        " is not in the price.",
    ])


def head_lines(head: Sequence[str]) -> list[list[str]]:
    """Headings of columns as lines."""
    return [words.split("\n") for words in head]


def one_line(lines: Sequence[str]) -> str:
    """The lines of a heading as one: a hyphen at the end of a line joins it to the next."""
    return " ".join(lines).replace("- ", "")
