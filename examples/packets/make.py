"""Writes the experiments of this folder: what became of the Fit Fly study.

Four networks of about 3,000 endpoints (McGlohon et al., SIGSIM-PADS 2019), in the dialects of CODES
and in the model of our own: `validation`, accepted rate under load; `amg` and `mg`, time of
communication of a solver's processes beside a job that sends at random; `amg_rates` and `mg_rates`,
the same at equal bandwidth in all. `brief_` ones have three seeds, three intensities and a shorter
AMG; `small_` ones have networks of about 150 endpoints.

    python examples/packets/make.py
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
GBPS_OF_GIB = 8.589934592
"""Gbit/s of a GiB/s, the unit that CODES has rates in."""

FULL = {
    "Slim Fly": '{ family = "slim_fly", q = 13, p = 9 }',
    "Fit Fly": '{ family = "fit_fly", q = 13, p = 9 }',
    "dragonfly":
        '{ family = "dragonfly", p = 9, a = 18, h = 9, g = 19, arrangement = "codes" }',
    "megafly": '{ family = "megafly", leaves = 18, spines = 18, p = 18, h = 18, g = 10,'
               ' arrangement = "codes" }',
}
SMALL = {
    "Slim Fly": '{ family = "slim_fly", q = 5, p = 3 }',
    "Fit Fly": '{ family = "fit_fly", q = 5, p = 3 }',
    "dragonfly": '{ family = "dragonfly", p = 4, a = 4, h = 2, g = 9 }',
    "megafly": '{ family = "megafly", leaves = 6, spines = 6, p = 5, h = 4, g = 5 }',
}
DIALECT = {
    "Slim Fly": ("codes-slimfly-v1", "adaptive"), "Fit Fly": ("codes-slimfly-v1", "adaptive"),
    "dragonfly": ("codes-dally-v1", "par"), "megafly": ("codes-dfplus-v1", "par"),
}


@dataclass(frozen=True)
class Size:
    """How large an experiment is."""

    prefix: str
    networks: dict[str, str]
    intensities: tuple[float, ...]  # the parts of a rail's rate that the background takes
    seeds: int
    traces: dict[str, str]
    background: tuple[int, float]  # its ranks, and the mean interval of their messages, us


SOLVERS = {"amg": "sums and halos of AMG", "mg": "halos of a multigrid solver"}
SIZES = (
    Size("", FULL, (0.0, 0.02, 0.04, 0.075, 0.15, 0.3625, 0.725), 10, {
        "amg": "amg_trace_like:p=12",  # fitted to a real trace of 27 ranks
        "mg": "mg_like:p=10,levels=3,cycles=2,base_bytes=32768",
    }, (1000, 100.0)),
    Size("brief_", FULL, (0.0, 0.15, 0.725), 3, {
        "amg": "amg_like:p=12,levels=4,cycles=1,base_bytes=16384",
        "mg": "mg_like:p=10,levels=3,cycles=2,base_bytes=32768",
    }, (1000, 100.0)),
    Size("small_", SMALL, (0.0, 0.15, 0.3625, 0.725), 4, {
        "amg": "amg_like:p=4,levels=2,cycles=2,base_bytes=16384",
        "mg": "mg_like:p=4,levels=2,cycles=2,base_bytes=32768",
    }, (60, 20.0)),
)


def head(name: str, title: str) -> list[str]:
    """The lines that every experiment begins with."""
    return [
        f"# {title}. Written by make.py.", "schema = 1", f'name = "packets_{name}"',
        f'title = "{title}"', "seed = 1", "",
    ]


def texts(values: list[object]) -> str:
    """A list as TOML has it."""
    return "[" + ", ".join(
        str(v).lower() if isinstance(v, bool) else f'"{v}"' if isinstance(v, str)
        and not v.startswith("{") else str(v) for v in values
    ) + "]"


def zipped(rows: list[dict[str, object]]) -> list[str]:
    """A sweep over rows of values."""
    lines = ["[[sweep.zip]]"]
    for key in rows[0]:
        name = f'"{key}"' if "." in key else key
        lines.append(f"{name} = [" if key == "topology" else
                     f"{name} = {texts([row[key] for row in rows])}")
        if key == "topology":
            lines += [f"  {row[key]}," for row in rows] + ["]"]
    return lines


def models(networks: dict[str, str], names: tuple[str, ...]) -> list[dict[str, object]]:
    """A row for each network in each of the two models."""
    rows = []
    for name in names:
        dialect, selection = DIALECT[name]
        for model in ("physical", dialect):
            said = "CODES" if model == dialect else "own model"
            rows.append({
                "label": f"{name}, {said}", "topology": networks[name],
                "sim.packet.dialect": model, "sim.packet.selection": selection,
            })
    return rows


def validation(size: Size) -> list[str]:
    """Slim Fly and Fit Fly under rising load."""
    lines = head(f"{size.prefix}validation", "Slim Fly and Fit Fly: uniform packets, rising load")
    lines += ["[sim.packet]", "messages = 120", "links = true", ""]
    lines += zipped(models(size.networks, ("Slim Fly", "Fit Fly")))
    loads = texts([i / 10 for i in range(1, 11)])
    return [*lines, "", "[sweep.grid]", f'"sim.packet.load" = {loads}']


def interference(size: Size, solver: str) -> list[str]:
    """A solver beside a job that sends at random, on all four networks."""
    lines = head(f"{size.prefix}{solver}", f"Beside other traffic: {SOLVERS[solver]}")
    lines += common(size, solver)
    rows = models(size.networks, tuple(size.networks))
    for row in rows:
        row["sim.packet.link.rate_gbps"] = round(12.5 * GBPS_OF_GIB, 9)
    lines += zipped(rows)
    return [*lines, "", "[sweep.grid]",
            f'"sim.packet.background.intensity" = {texts(list(size.intensities))}', seeds(size)]


def rates(size: Size, solver: str) -> list[str]:
    """Slim Fly and Fit Fly at equal bandwidth in all: 12.5 against 2 x 7, 25 against 2 x 12.5."""
    lines = head(f"{size.prefix}{solver}_rates", f"At equal bandwidth: {SOLVERS[solver]}")
    lines += common(size, solver)
    rows = []
    for slim, fit in ((12.5, 7.0), (25.0, 12.5)):
        for row in models(size.networks, ("Slim Fly", "Fit Fly")):
            planes = 2 if str(row["label"]).startswith("Fit") else 1
            rate = fit if planes == 2 else slim
            rows += [{
                **row, "label": f"{row['label']}, {planes} x {rate} GiB/s",
                "sim.packet.link.rate_gbps": round(rate * GBPS_OF_GIB, 9),
                # the rate of all rails together
                "sim.packet.background.intensity": round(part * planes, 4),
            } for part in size.intensities]
    return [*lines, *zipped(rows), "", "[sweep.grid]", seeds(size)]


def common(size: Size, solver: str) -> list[str]:
    """The simulator's parameters: processes and background at random, sums left out, and in both
    models what messages cost in CODES."""
    ranks, interval = size.background
    return [
        "[sim.packet]", f'workload = "{size.traces[solver]}"', 'collectives = "codes"',
        'costs = "codes"', 'placement = "random"',
        f"background = {{ ranks = {ranks}, intensity = 0.0, interval_ns = {interval * 1000} }}", "",
    ]


def seeds(size: Size) -> str:
    """The sweep over placements and arrivals."""
    return f'"sim.packet.seed" = {texts(list(range(1, size.seeds + 1)))}'


def files() -> dict[str, str]:
    """The text of every file, by its name."""
    made = {}
    for size in SIZES:
        if size.prefix != "brief_":
            made[f"{size.prefix}validation"] = validation(size)
        for solver in SOLVERS:
            made[f"{size.prefix}{solver}"] = interference(size, solver)
            made[f"{size.prefix}{solver}_rates"] = rates(size, solver)
    return {f"{name}.toml": "\n".join(lines) + "\n" for name, lines in made.items()}


if __name__ == "__main__":
    for file, text in files().items():
        (HERE / file).write_text(text)
