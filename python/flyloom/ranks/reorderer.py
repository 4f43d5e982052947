"""Runs an MPI program whose topologies get their ranks by the network."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from flyloom._core import RefusalError
from flyloom.support.checks import whole
from flyloom.support.files import sha256, write_whole
from flyloom.support.refused import none_such

from . import library, preload

NETWORK = "FLYLOOM_NETWORK"
HOST_ENDPOINTS = "FLYLOOM_HOST_ENDPOINTS"
OBJECTIVE = "FLYLOOM_OBJECTIVE"
EFFORT = "FLYLOOM_EFFORT"
SEED = "FLYLOOM_SEED"
VERBOSE = "FLYLOOM_VERBOSE"
"""What the library reads: a file with the network, the endpoints of hosts, how it is mapped, and
whether it says what that brings."""

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
    """Runs a program on a network, given as JSON; the code that it exits with, 128 and a signal's
    number where it was killed by one. RefusalError before anything runs."""
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
    return preload.run(words, name, found, variables)


def kept(network: str) -> Path:
    """A file with the network in the user's cache, where the processes of other hosts find it as
    they find the library."""
    place = library.cache() / "networks" / f"{sha256(network.encode())[:16]}.json"
    if not place.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, network)
    return place
