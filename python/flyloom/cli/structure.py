"""Commands that measure a network: structure, resilience."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from flyloom.cli.common import Json, Net, P, app, emit, epilog, load_network, shown
from flyloom.cli.groups import grouped
from flyloom.cli.networks import structure_lines
from flyloom.cli.parameters import defaults, option

STRUCTURE, RESILIENCE = defaults("structure"), defaults("resilience")


def section(name: str) -> Any:
    """The option that asks for a section."""
    return option("structure", name, f"--{name}")


@dataclass(frozen=True)
class StructureSectionOptions:
    """The additional sections that are measured."""

    paths: Annotated[bool, section("paths")] = False
    disjoint: Annotated[bool, section("disjoint")] = False
    load: Annotated[bool, option("structure", "load", "--channel-load")] = False
    spectrum: Annotated[bool, section("spectrum")] = False
    bisection: Annotated[bool, section("bisection")] = False
    everything: Annotated[bool, typer.Option("--all", help="All of these.")] = False

    def asked(self) -> dict[str, bool]:
        """The sections as arguments of the measure."""
        return {name: getattr(self, name) or self.everything
                for name in ("paths", "disjoint", "load", "spectrum", "bisection")}


@dataclass(frozen=True)
class StructureLimitOptions:
    """The limits of the measurement, and its random draws."""

    hops: Annotated[list[int] | None, option("structure", "hops")] = None
    pairs: Annotated[int, option("structure", "pairs")] = STRUCTURE["pairs"]
    starts: Annotated[int, option("structure", "starts")] = STRUCTURE["starts"]
    seed: Annotated[int, option("structure", "seed")] = STRUCTURE["seed"]


@app.command(epilog=epilog(
    "flyloom structure torus:shape=8x8x8 --paths", "flyloom structure slim_fly:q=5,p=4 --all",
))
@grouped
def structure(
    net: Net,
    p: P = None,
    *,
    sections: StructureSectionOptions,
    depth: StructureLimitOptions,
    as_json: Json = False,
) -> None:
    """Measure a network: distances, girth, Moore bound, paths, load, spectrum, bisection."""
    from flyloom import _measures as measures
    from flyloom.support.progress import bars

    topology = load_network(net, p)
    with bars() as bar:
        found = measures.structure(
            topology, **sections.asked(), hops=depth.hops, pairs=depth.pairs,
            starts=depth.starts, seed=depth.seed, progress=bar,
        ).to_dict()
    lines = structure_lines(found)
    between = sum(found["histogram"])
    lines += [
        (f"pairs at distance {d}", f"{n:,} ({100 * n / between:.2f} %)")
        for d, n in enumerate(found["histogram"]) if n
    ]
    emit(found, as_json, lines + section_lines(found))


def section_lines(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """What the sections that were asked for say."""
    lines: list[tuple[str, Any]] = []
    for name in ("minimal_paths", "almost_minimal_paths"):
        if counts := found.get(name):
            lines += [(f"{name.replace('_', ' ')}, {key}", counts[key])
                      for key in ("min", "mean", "max")]
    if disjoint := found.get("disjoint_paths"):
        lines.append(("disjoint paths", spread(disjoint["any_length"])))
        lines += [
            (f"  of at most {part['hops']} hops", spread(part["counts"]) + remarks(part))
            for part in disjoint["bounded"]
        ]
    if load := found.get("channel_load"):
        unit, low = load["unit"], load["forwarding_index_low"]
        lines += [
            ("channel load, max", f"{shown(unit['max'])} (any routing: at least {shown(low)})"),
            ("channel load, mean", unit["mean"]), ("channel load, min", unit["min"]),
            ("uniform saturation", load["uniform_saturation"]),
        ]
    if values := found.get("spectrum"):
        names = {
            "adjacency_largest": "largest eigenvalue", "adjacency_second": "second eigenvalue",
            "adjacency_least": "least eigenvalue", "spectral_gap": "spectral gap",
            "algebraic_connectivity": "algebraic connectivity",
        }
        lines += [(name, settled(values[key])) for key, name in names.items()]
    if cut := found.get("bisection"):
        exact = cut["low"] == cut["high"]
        lines.append(("bisection", cut["high"] if exact else f"{cut['low']:,} to {cut['high']:,}"))
        if cut["difference"]:
            lines.append(("  terminals more on one side", cut["difference"]))
    return lines


def settled(value: float | None) -> float | None:
    """An eigenvalue without the noise of its last digits."""
    return None if value is None else round(value, 6) + 0.0


def spread(counts: dict[str, Any]) -> str:
    """The numbers of paths of a section, in short."""
    return f"{counts['min']} to {counts['max']}, mean {shown(counts['mean'])}"


def remarks(part: dict[str, Any]) -> str:
    """What is to be said of bounded disjoint paths: a sample, a lower bound."""
    pairs = part["counts"]["pairs"]
    said = [f"sample of {pairs:,} pairs"] if part["sampled"] else []
    if not part["exact"]:
        share = math.floor(1000 * part["exact_pairs"] / pairs) / 10
        said.append(f"exact for {share:.1f} %; mean at most {shown(part['at_most']['mean'])}")
    return f" ({'; '.join(said)})" if said else ""


@app.command(epilog=epilog(
    "flyloom resilience slim_fly:q=19", "flyloom resilience torus:shape=8x8x8 --until diameter",
))
def resilience(
    net: Net,
    p: P = None,
    remove: Annotated[str, option("resilience", "remove")] = RESILIENCE["remove"],
    until: Annotated[str, option("resilience", "until")] = ",".join(RESILIENCE["until"]),
    samples: Annotated[int, option("resilience", "samples")] = RESILIENCE["samples"],
    seed: Annotated[int, option("resilience", "seed")] = RESILIENCE["seed"],
    as_json: Json = False,
) -> None:
    """Remove links or switches at random until a network breaks or grows long."""
    from flyloom import _measures as measures
    from flyloom.support.progress import bars

    topology = load_network(net, p)
    with bars() as bar:
        found = measures.resilience(
            topology, remove=remove, until=[word.strip() for word in until.split(",")],
            samples=samples, seed=seed, progress=bar,
        ).to_dict()
    lines = [("network", found["network"]), (remove, found["items"]), ("samples", samples)]
    for end, outcome in found["ends"].items():
        lines.append((f"{end}: mean removed [%]", percent(outcome["mean"])))
        if interval := outcome["confidence_interval_95"]:
            between = " to ".join(percent(bound) for bound in interval)
            lines.append(("  95 % confidence", between))
        lines += [
            ("  median", percent(outcome["median"])),
            ("  half of the samples hold at", percent(outcome["half_hold"])),
            ("  all samples hold at", percent(outcome["all_hold"])),
        ]
    emit(found, as_json, lines)


def percent(fraction: float) -> str:
    """A fraction in percent."""
    return f"{100 * fraction:.4g}"
