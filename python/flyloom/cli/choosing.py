"""The command that answers which network to buy: choose."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli.common import (
    Budget,
    Json,
    app,
    dollars_of,
    endpoints_of,
    epilog,
    print_table,
    separated,
)
from flyloom.cli.groups import PriceOptions, grouped
from flyloom.cli.sizing import Families

if TYPE_CHECKING:
    from flyloom.support.results import Result


@dataclass(frozen=True)
class NeedOptions:
    """What the network is needed for, in place of what the file says."""

    endpoints: Annotated[
        str | None,
        typer.Option("--endpoints", "-n", metavar="N",
                     help="endpoints to carry: 10000, 10k, 1.5M, 2e6"),
    ] = None
    budget: Budget = None
    radix: Annotated[
        int | None, typer.Option("--radix", "-k",
                                 help="ports of a switch, at most; 64 by default")
    ] = None
    oversubscription: Annotated[
        str | None,
        typer.Option(metavar="R,R", help="endpoints for each one that full bandwidth has room for;"
                                         " of several, networks for each; 1,2 by default"),
    ] = None
    families: Families = ""

    def asked(self) -> dict[str, Any]:
        """The options that are given, as keyword arguments of the verb."""
        return {
            "endpoints": endpoints_of(self.endpoints), "budget": dollars_of(self.budget),
            "radix": self.radix,
            "oversubscription": separated(self.oversubscription) if self.oversubscription else None,
            "families": separated(self.families) or None,
        }


@dataclass(frozen=True)
class JudgementOptions:
    """How candidates are judged, and how many are shown."""

    weight: Annotated[
        list[str] | None,
        typer.Option(metavar="CRITERION=W", help="the weight of a criterion: cost, power, uniform,"
                                                 " worst_case, allreduce, latency, failures"),
    ] = None
    candidates: Annotated[
        int | None, typer.Option(help="networks that are shown; 8 by default")
    ] = None
    seed: Annotated[
        int | None, typer.Option(help="seed of the links that fail; 0 by default")
    ] = None
    simulate: Annotated[
        bool, typer.Option("--simulate", help="run the first three at the packet level, too; takes"
                                              " minutes where there are thousands of endpoints")
    ] = False


@app.command(epilog=epilog(
    "flyloom choose --endpoints 10k --budget 30M --radix 64 --gbps 400 -o choice/",
    "flyloom choose need.toml --weight worst_case=0.3",
))
@grouped
def choose(
    need: Annotated[
        Path | None,
        typer.Argument(metavar="[NEED.toml]", help="a file with a table [choose] of what is needed;"
                                                   " options given beside it count more"),
    ] = None,
    *,
    needed: NeedOptions,
    prices: PriceOptions,
    judged: JudgementOptions,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="folder for choice.html and choice.pdf, two pages that"
                                         " justify the choice, choice.json and choice.csv"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Which network to buy for a need: ranked candidates with the reasons, on two pages."""
    from flyloom._core import RefusalError
    from flyloom.inputs.needs import arguments
    from flyloom.inputs.needs import need as read_need
    from flyloom.support.progress import bars
    from flyloom.verbs.choosing import choose as chosen

    asked: dict[str, Any] = read_need(need) if need else {}
    given = {
        **needed.asked(), **prices.written(), "candidates": judged.candidates, "seed": judged.seed,
        "simulate": judged.simulate or None,
    }
    asked |= {key: value for key, value in given.items() if value is not None}
    if judged.weight:
        asked["weights"] = {**asked.get("weights", {}), **weights(judged.weight)}
    if "endpoints" not in asked:
        raise RefusalError("choose: give --endpoints, or a file with the table [choose]")
    with bars() as bar:
        found = chosen(**arguments(asked), progress=bar)
    if output:
        write(found, output)
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    show(found)
    if output:
        print(f"written to {output}/")


def weights(given: list[str]) -> dict[str, float]:
    """Weights from words ``criterion=number``; RefusalError where one is none."""
    from flyloom._core import RefusalError

    found = {}
    for word in given:
        name, equals, value = word.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise RefusalError(f"--weight: '{word}' is no weight; write worst_case=0.3")
    return found


def show(found: Result) -> None:
    """The answer, the table of candidates, and what would change the answer."""
    from flyloom.report import choice

    first, second = choice.pages(found)
    for block in (first[0], first[1], *second[:3]):
        print(f"\n{block.heading}" if block is not first[0] else block.heading)
        for words in block.paragraphs:
            print(f"  {words}")
        if block.rows:
            heads = [choice.one_line(lines) for lines in choice.head_lines(block.head)]
            print_table(heads, block.rows)
    out = [each for each in found.left_out if "times" not in each]
    print(f"\n{len(out)} networks were left out, and kinds that are far dearer; --json has why, and"
          f" the pages of -o.\nprices: {found.basis}")


def write(found: Result, folder: Path) -> None:
    """The pages, and the candidates as JSON and CSV, into `folder`."""
    from flyloom.report import choice_page
    from flyloom.support.files import write_folder

    write_folder(folder, choice_page.files(found.to_dict()))
