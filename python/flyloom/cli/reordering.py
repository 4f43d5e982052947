"""The command reorder: ranks of an MPI program's topologies by the network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    NET_HELP,
    MapEffort,
    MpiProgram,
    Objective,
    P,
    app,
    epilog,
    load_network,
)


@app.command(
    "reorder", context_settings={"allow_interspersed_args": False},
    epilog=epilog(
        "flyloom reorder --net fabric.topo -- mpirun -n 64 ./app input",
        "flyloom reorder --net slim_fly:q=5,p=4 --host-endpoints nodes.txt -- mpiexec -n 64 ./app",
        "flyloom reorder --library",
    ),
)
def reorder(
    program: MpiProgram = None,
    net: Annotated[
        str | None,
        typer.Option("--net", metavar="NET", show_default=False,
                     autocompletion=completion.network, help=f"the network: {NET_HELP}"),
    ] = None,
    host_endpoints: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False,
                     help="lines 'HOST ENDPOINT', where a host is called otherwise than its"
                          " endpoint"),
    ] = None,
    objective: Objective = "congestion",
    effort: MapEffort = "normal",
    seed: Annotated[int, typer.Option(help="seed of all that is random")] = 0,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="what each topology gains, in whole sentences"),
    ] = False,
    library: Annotated[
        bool,
        typer.Option("--library",
                     help="print the path of the library, for LD_PRELOAD in a batch script, and"
                          " run nothing"),
    ] = False,
    p: P = None,
) -> None:
    """Runs an MPI program whose grids and graphs get their ranks by the network.

    Where MPI_Cart_create, MPI_Graph_create, MPI_Dist_graph_create or MPI_Dist_graph_create_adjacent
    may reorder, ranks go to those processes of the communicator between which their messages have
    short and free routes. The program's exit code is passed on; 3 where it is 0 and the program's
    end was not seen, so that no rank can have been moved.
    """
    from flyloom._core import RefusalError
    from flyloom.ranks import reorderer

    words = program or []
    if library:
        print(reorderer.built(words))
        return
    if net is None:
        raise RefusalError("--net: on which network? flyloom reorder --net NET -- PROGRAM")
    network = load_network(net, p).to_text("json")
    code = reorderer.run(
        words, network, host_endpoints=host_endpoints, objective=objective, effort=effort,
        seed=seed, verbose=verbose,
    )
    raise typer.Exit(code)
