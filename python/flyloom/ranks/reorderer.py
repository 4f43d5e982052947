"""Runs an MPI program whose topologies get their ranks by the network."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from flyloom._core import RefusalError
from flyloom.support.checks import whole
from flyloom.support.files import scratch, sha256, write_whole
from flyloom.support.refused import none_such

from . import library, preload

NETWORK = "FLYLOOM_NETWORK"
HOST_ENDPOINTS = "FLYLOOM_HOST_ENDPOINTS"
OBJECTIVE = "FLYLOOM_OBJECTIVE"
EFFORT = "FLYLOOM_EFFORT"
SEED = "FLYLOOM_SEED"
VERBOSE = "FLYLOOM_VERBOSE"
ENDED = "FLYLOOM_REORDER_ENDED"
"""Environment variables of the library: files with the network and the endpoints of hosts, options
of the mapping, whether a line about each communicator is printed, and a file that is made where
the program came to its end."""

UNSEEN = (
    "no rank was moved: the program did not come to MPI_Finalize, or is not of the MPI whose mpicc"
    " built the library (FLYLOOM_MPICC names another), or is linked statically"
)
OBJECTIVES = ("congestion", "hops")
EFFORTS = ("fast", "normal", "best")


def built(words: Sequence[str] = ()) -> Path:
    """The library for the MPI whose launcher `words` begin with, built where it is not kept."""
    return _built(words, preload.family(words))


def _built(words: Sequence[str], name: str | None) -> Path:
    return preload.built("reorder", library.REORDERER, words, name)


def run(
    words: Sequence[str], network: str, *, host_endpoints: Path | None = None,
    objective: str = "congestion", effort: str = "normal", seed: int = 0, verbose: bool = False,
) -> int:
    """Runs a program on a network, given as JSON. Returns the code that it exits with, or 128 and
    the number of the signal that killed it. RefusalError before anything runs. Where the library
    did not see the end of the program, and so cannot say why no rank was moved, a line says that,
    and the code is :data:`flyloom.ranks.preload.NOTHING_SEEN` where the program's is 0."""
    preload.check_program(words, "flyloom reorder --net NET -- mpirun -n 8 ./program")
    for option, word, known in (("objective", objective, OBJECTIVES), ("effort", effort, EFFORTS)):
        if word not in known:
            raise none_such(f"--{option}", word, known)
    number = whole("seed", seed, 0, 2**64 - 1)
    if host_endpoints is not None and not os.access(host_endpoints, os.R_OK):
        raise RefusalError(f"--host-endpoints {host_endpoints}: is not there, or not to be read")
    name = preload.family(words)
    found = _built(words, name)
    variables = {
        NETWORK: str(kept(network)), OBJECTIVE: objective, EFFORT: effort, SEED: str(number),
        VERBOSE: str(int(verbose)),
    }
    if host_endpoints is not None:
        variables[HOST_ENDPOINTS] = str(host_endpoints.absolute())
    # where the processes of other hosts find it as they find the library
    with scratch(library.cache()) as folder:
        variables[ENDED] = str(folder / "ended")
        code = preload.run(words, name, found, variables)
        if not (folder / "ended").exists():
            print(f"flyloom: reorder: {UNSEEN}", file=sys.stderr, flush=True)
            code = code or preload.NOTHING_SEEN
    return code


def kept(network: str) -> Path:
    """A file with the network in the user's cache, where the processes of other hosts find it as
    they find the library."""
    place = library.cache() / "networks" / f"{sha256(network.encode())[:16]}.json"
    if not place.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, network)
    return place
