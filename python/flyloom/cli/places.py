"""Options of commands that put the processes of a schedule on a network, and say what messages
cost."""

from __future__ import annotations

from typing import Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.common import NET_HELP

OnNet = Annotated[
    str | None,
    typer.Option("--net", metavar="NET|TABLES", show_default=False,
                 autocompletion=completion.tables,
                 help=f"the network: {NET_HELP}; or a folder of `route -o`"),
]
OverEngine = Annotated[
    str | None,
    typer.Option("--engine", "-e", autocompletion=completion.engine,
                 help="over this engine's tables; without one, over all shortest paths"),
]
Placement = Annotated[
    str,
    typer.Option(autocompletion=completion.placement,
                 help="which endpoints ranks are on: a name of `flyloom list placements`, or a file"
                      " with endpoints in the order of ranks"),
]
PerEndpoint = Annotated[int, typer.Option(help="ranks on each endpoint")]
Costs = Annotated[
    str | None,
    typer.Option("--costs", metavar="PRESET|FILE.json", show_default=False,
                 autocompletion=completion.costs,
                 help="what messages cost: a name of `flyloom list costs` (hdr where none is"
                      " given; loggopsim in the dialect loggops-v1), or a file of `flyloom measure`"
                      " with L_ns, o_ns, g_ns, G_ns_per_byte, O_ns_per_byte, S_bytes"),
]


def costs_of(word: str) -> dict[str, str]:
    """The costs that ``--costs`` names, as a table: of a preset, or of a file."""
    from flyloom.inputs.costs import file_of

    return {"file": word} if file_of(word) else {"preset": word}
