"""One function per topology; written by `cargo xtask gen`, never edited."""

from __future__ import annotations

from collections.abc import Sequence

from flyloom import _core

__all__ = [
    "bcube",
    "bdf",
    "benes",
    "bundlefly",
    "clos",
    "complete",
    "de_bruijn",
    "kautz",
    "delorme",
    "dln",
    "dragonfly",
    "fat_tree",
    "fit_fly",
    "flattened_butterfly",
    "galaxyfly",
    "folded_hypercube",
    "hypercube",
    "hyperx",
    "jellyfish",
    "k_ary_n_fly",
    "k_ary_n_tree",
    "long_hop",
    "megafly",
    "multi_plane",
    "polar_fly",
    "polarstar",
    "ring",
    "slim_fly",
    "star",
    "mesh",
    "torus",
    "tree",
    "xgft",
    "xpander",
]


def bcube(
    *,
    n: int,
    k: int,
    gbps: float | None = None,
) -> _core.Topology:
    """`BCube`: n^(k+1) servers with k + 1 ports, and k + 1 levels of n^k switches with n ports.

    Servers relay: each is a switch with one endpoint.

    Parameters
    ----------
    n : int
        Ports of a switch.
    k : int
        The highest level; levels count from 0.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "bcube",
        _given(
            n=n,
            k=k,
            gbps=gbps,
        ),
    )


def bdf(
    *,
    u: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """BDF: diameter 3 with (u^2 + u + 1) (u + 1) switches of network radix k = 3 (u + 1) / 2.

    That is 8/27 k^3 - 4/9 k^2 + 2/3 k switches.

    Parameters
    ----------
    u : int
        Order of the polarity graph: an odd prime power from 3 to 128.
    p : int, optional
        Endpoints per switch; the default is a third of the network radix, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "bdf",
        _given(
            u=u,
            p=p,
            gbps=gbps,
        ),
    )


def benes(
    *,
    n: int,
    gbps: float | None = None,
) -> _core.Topology:
    """Benes network of N = 2^n inputs: 2 n - 1 stages of N / 2 switches, two links or endpoints
    on
    either side of each.

    Parameters
    ----------
    n : int
        Logarithm of the number of inputs: N = 2^n.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "benes",
        _given(
            n=n,
            gbps=gbps,
        ),
    )


def bundlefly(
    *,
    q: int,
    paley: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """`BundleFly`: diameter 3 with 2 q^2 paley switches, for q = 4 w + d.

    The network radix is (3 q - d) / 2 + (paley - 1) / 2.

    Parameters
    ----------
    q : int
        Order of the Slim Fly: a prime power with q mod 4 = 0, 1 or 3, at most 128.
    paley : int
        Order of the Paley graph: a prime power 4w+1 from 5 to 256.
    p : int, optional
        Endpoints per switch; the default is a third of the network radix, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "bundlefly",
        _given(
            q=q,
            paley=paley,
            p=p,
            gbps=gbps,
        ),
    )


def clos(
    *,
    n: int,
    m: int,
    r: int,
    folded: bool | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Clos network C(n, m, r): every outer switch is linked to every middle switch.

    Strictly non-blocking for m >= 2 n - 1, rearrangeably for m >= n.

    Parameters
    ----------
    n : int
        Endpoints per outer switch.
    m : int
        Middle switches.
    r : int
        Outer switches; unfolded, as many on each side.
    folded : bool, optional
        Whether ingress and egress are the same switches; default true.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "clos",
        _given(
            n=n,
            m=m,
            r=r,
            folded=folded,
            gbps=gbps,
        ),
    )


def complete(
    *,
    n: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Complete graph: n switches, a link between every two.

    Parameters
    ----------
    n : int
        Number of switches, 1 to 8192.
    p : int, optional
        Endpoints per switch; the default is the network radix, n - 1 (1 for a single switch).
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "complete",
        _given(
            n=n,
            p=p,
            gbps=gbps,
        ),
    )


def de_bruijn(
    *,
    d: int,
    n: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """De Bruijn network, undirected: d^n switches of network radix 2 d or less, diameter n.

    Parameters
    ----------
    d : int
        Number of letters, 2 or more.
    n : int
        Length of the words, 1 to 25; at most 2^26 words times letters in all.
    p : int, optional
        Endpoints per switch; the default is network radix over diameter, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "de_bruijn",
        _given(
            d=d,
            n=n,
            p=p,
            gbps=gbps,
        ),
    )


def kautz(
    *,
    d: int,
    n: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Kautz network, undirected: d^n + d^(n-1) switches of network radix 2 d or less, diameter
    n.

    Words are of d + 1 letters, neighbouring letters are different.

    Parameters
    ----------
    d : int
        Number of letters less one, 2 or more.
    n : int
        Length of the words, 1 to 25; at most 2^26 words times d in all.
    p : int, optional
        Endpoints per switch; the default is network radix over diameter, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "kautz",
        _given(
            d=d,
            n=n,
            p=p,
            gbps=gbps,
        ),
    )


def delorme(
    *,
    q: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Delorme graph: diameter 3 with (q + 1) (q^2 + 1) switches of network radix q + 1.

    Parameters
    ----------
    q : int
        Order of the field: 2, 8 or 32 (an odd power of 2).
    p : int, optional
        Endpoints per switch; the default is a third of the network radix, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "delorme",
        _given(
            q=q,
            p=p,
            gbps=gbps,
        ),
    )


def dln(
    *,
    n: int,
    y: int,
    x: int | None = None,
    seed: int | None = None,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Distributed loop network with random shortcuts, DLN-x-y: a ring, x - 2 regular shortcuts
    and y
    random links a switch.

    Parameters
    ----------
    n : int
        Switches; even when there are random links.
    y : int
        Random links of a switch.
    x : int, optional
        2 for the ring alone, one more for each regular shortcut; default 2.
    seed : int, optional
        Number of the random network; default 0.
    p : int, optional
        Endpoints per switch; default the network radix over the least diameter that n such
        switches can have, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "dln",
        _given(
            n=n,
            y=y,
            x=x,
            seed=seed,
            p=p,
            gbps=gbps,
        ),
    )


def dragonfly(
    *,
    h: int,
    p: int | None = None,
    a: int | None = None,
    g: int | None = None,
    arrangement: str | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Dragonfly: g groups of a switches, complete inside, h global links on every switch.

    Parameters
    ----------
    h : int
        Global ports per switch.
    p : int, optional
        Endpoints per switch; default h.
    a : int, optional
        Switches per group; default 2 h.
    g : int, optional
        Groups, at most a h + 1, which is the default. Where g - 1 does not divide a h, some
        global ports of every group have no link.
    arrangement : str, optional
        Which group each global port leads to: `absolute` (the default), `relative`, `palmtree`,
        `circulant` or, of the networks of CODES alone, `codes`.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "dragonfly",
        _given(
            h=h,
            p=p,
            a=a,
            g=g,
            arrangement=arrangement,
            gbps=gbps,
        ),
    )


def fat_tree(
    *,
    levels: int | None = None,
    leaves: int | None = None,
    spines: int | None = None,
    parallel: int | None = None,
    p: int | None = None,
    k: int | None = None,
    pods: int | None = None,
    oversubscription: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Fat tree: endpoints on the lowest level, every pair of them joined over a highest switch.

    Either the counts are given (leaves, spines), or k, the ports of a switch, and they
    follow.

    Parameters
    ----------
    levels : int, optional
        Levels of switches: 2 (the default) or 3.
    leaves : int, optional
        Leaf switches; default: with two levels as many as a spine of k ports serves; with three
        those of all pods. With fewer of three levels there are fewer pods, all but the last
        full.
    spines : int, optional
        Spine switches, with two levels; default: as many as a leaf of k ports has up-links for.
    parallel : int, optional
        Links between a leaf and a spine (three levels: an edge and an aggregation switch) of
        one pod; default 1.
    p : int, optional
        Endpoints per leaf (edge switch); default: oversubscription times its up-links.
    k : int, optional
        Ports of every switch; required with three levels.
    pods : int, optional
        Pods, with three levels; default k, the most.
    oversubscription : int, optional
        Endpoint ports per up-link of a leaf (edge switch), r in r:1; default 1.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "fat_tree",
        _given(
            levels=levels,
            leaves=leaves,
            spines=spines,
            parallel=parallel,
            p=p,
            k=k,
            pods=pods,
            oversubscription=oversubscription,
            gbps=gbps,
        ),
    )


def fit_fly(
    *,
    q: int,
    p: int | None = None,
    planes: int | None = None,
    map: str | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Fit Fly: `planes` Slim Flies that share the endpoints, which have a rail in each.

    Parameters
    ----------
    q : int
        Order of the field: a prime power with q mod 4 = 0, 1 or 3.
    p : int, optional
        Endpoints per switch; the published default is half the network radix, rounded down.
    planes : int, optional
        Planes, and rails of an endpoint; default 2.
    map : str, optional
        Where endpoints are in each plane; default mirrored.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "fit_fly",
        _given(
            q=q,
            p=p,
            planes=planes,
            map=map,
            gbps=gbps,
        ),
    )


def flattened_butterfly(
    *,
    k: int,
    n: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Flattened butterfly, k-ary n-flat: k^(n-1) switches, complete graphs along n - 1
    dimensions.

    `HyperX` has dimensions of several sizes and parallel links, too.

    Parameters
    ----------
    k : int
        Switches along each dimension.
    n : int
        Stages of the butterfly that is flattened: the dimensions and one.
    p : int, optional
        Endpoints per switch; default k, which makes k^n.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "flattened_butterfly",
        _given(
            k=k,
            n=n,
            p=p,
            gbps=gbps,
        ),
    )


def galaxyfly(
    *,
    n: int,
    q: int,
    a: int | None = None,
    h: int | None = None,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Galaxyfly: n clusters of q groups of a switches, which have h outward ports each.

    Parameters
    ----------
    n : int
        Number of clusters, 1 to 8192.
    q : int
        Groups per cluster: 1, or a prime power 4w+d, d = -1, 0 or 1, at most 256.
    a : int, optional
        Switches per group, 1 to 1024; default 1.
    h : int, optional
        Outward ports per switch; a h is at least the n - 1 + (q - d) / 2 links of a group (n -
        1 where q = 1). The default is the least that do.
    p : int, optional
        Endpoints per switch; the default is network radix over diameter (that of most members:
        2 for a = 1, 3 for q = 1, else 5), rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "galaxyfly",
        _given(
            n=n,
            q=q,
            a=a,
            h=h,
            p=p,
            gbps=gbps,
        ),
    )


def folded_hypercube(
    *,
    n: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Folded hypercube: 2^n switches, linked also to their complement, of diameter n/2, rounded
    up.

    Parameters
    ----------
    n : int
        Number of dimensions, 2 to 22.
    p : int, optional
        Endpoints per switch; the default is network radix n + 1 over diameter, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "folded_hypercube",
        _given(
            n=n,
            p=p,
            gbps=gbps,
        ),
    )


def hypercube(
    *,
    n: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Hypercube: 2^n switches of network radix n and diameter n.

    Parameters
    ----------
    n : int
        Number of dimensions, 1 to 22.
    p : int, optional
        Endpoints per switch; default 1, the network radix over the diameter.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "hypercube",
        _given(
            n=n,
            p=p,
            gbps=gbps,
        ),
    )


def hyperx(
    *,
    shape: Sequence[int],
    k: Sequence[int] | None = None,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """HyperX: switches on a grid, linked when they differ in exactly one coordinate.

    Parameters
    ----------
    shape : Sequence[int]
        Switches along each dimension: `4x6`.
    k : Sequence[int], optional
        Parallel links a pair, along each dimension (`1x2`) or one number for all; default 1.
    p : int, optional
        Endpoints per switch. The default, the least of size times k over the dimensions, is the
        most that uniform traffic can use in full (the flattened butterfly's rule).
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "hyperx",
        _given(
            shape=shape,
            k=k,
            p=p,
            gbps=gbps,
        ),
    )


def jellyfish(
    *,
    n: int,
    k: int,
    seed: int | None = None,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Jellyfish: n switches with k random links each, connected and without parallel links.

    Parameters
    ----------
    n : int
        Switches.
    k : int
        Links of a switch; n k must be even.
    seed : int, optional
        Number of the random graph; default 0.
    p : int, optional
        Endpoints per switch; default k over the least diameter that n such switches can have,
        rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "jellyfish",
        _given(
            n=n,
            k=k,
            seed=seed,
            p=p,
            gbps=gbps,
        ),
    )


def k_ary_n_fly(
    *,
    k: int,
    n: int,
    gbps: float | None = None,
) -> _core.Topology:
    """k-ary n-fly: n stages of k^(n-1) switches, k endpoints on each of the first and of the
    last.

    Parameters
    ----------
    k : int
        Inputs, and outputs, of a switch.
    n : int
        Stages.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "k_ary_n_fly",
        _given(
            k=k,
            n=n,
            gbps=gbps,
        ),
    )


def k_ary_n_tree(
    *,
    k: int,
    n: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """k-ary n-tree: a fat tree of n levels in which every switch but the roots has k parents.

    Parameters
    ----------
    k : int
        Children, and parents, of a switch.
    n : int
        Levels of switches.
    p : int, optional
        Endpoints per switch of the lowest level; default k.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "k_ary_n_tree",
        _given(
            k=k,
            n=n,
            p=p,
            gbps=gbps,
        ),
    )


def long_hop(
    *,
    n: int,
    code: str | None = None,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Long Hop: 2^n switches, linked when their difference is a column of an n x m generator
    matrix.

    The network radix is the length m of the code, the bisection d 2^(n-1) links for least
    distance
    d.

    Parameters
    ----------
    n : int
        Dimension of the code, 3 to 16: there are 2^n switches.
    code : str, optional
        The code: its length, dimension and least distance, as in 24-12-8; the default is the
        first that there is for n, of about 2 n ports.
    p : int, optional
        Endpoints per switch; the default is network radix over diameter, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "long_hop",
        _given(
            n=n,
            code=code,
            p=p,
            gbps=gbps,
        ),
    )


def megafly(
    *,
    leaves: int,
    spines: int | None = None,
    p: int | None = None,
    h: int | None = None,
    g: int | None = None,
    arrangement: str | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Megafly (Dragonfly+): a dragonfly whose groups are fat trees of two levels.

    Parameters
    ----------
    leaves : int
        Leaf switches per group: those with endpoints.
    spines : int, optional
        Spine switches per group: those with global links; default leaves.
    p : int, optional
        Endpoints per leaf; default spines.
    h : int, optional
        Global ports per spine; default leaves.
    g : int, optional
        Groups, at most spines h + 1, which is the default. Where g - 1 does not divide spines
        h, some global ports of every group have no link.
    arrangement : str, optional
        Which group each global port leads to: `absolute` (the default), `relative`, `palmtree`,
        `circulant` or, of the networks of CODES alone, `codes`.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "megafly",
        _given(
            leaves=leaves,
            spines=spines,
            p=p,
            h=h,
            g=g,
            arrangement=arrangement,
            gbps=gbps,
        ),
    )


def multi_plane(
    *,
    planes: int,
    of: str,
    map: str | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Multi-plane network: copies of a network that share nothing but the endpoints.

    Parameters
    ----------
    planes : int
        Planes, and rails of an endpoint.
    of : str
        The network of a plane, in its inline form; in an inline form the last parameter.
    map : str, optional
        Where endpoints are in each plane; default equal.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "multi_plane",
        _given(
            planes=planes,
            of=of,
            map=map,
            gbps=gbps,
        ),
    )


def polar_fly(
    *,
    q: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """PolarFly: diameter 2 with q^2 + q + 1 switches of network radix q + 1.

    Switches are the points of the projective plane over GF(q); two are linked when their dot
    product is 0. The q + 1 points orthogonal to themselves (quadrics) have one link less.

    Parameters
    ----------
    q : int
        Order of the field: a prime power from 2 to 256.
    p : int, optional
        Endpoints per switch; the default is half the network radix, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "polar_fly",
        _given(
            q=q,
            p=p,
            gbps=gbps,
        ),
    )


def polarstar(
    *,
    q: int,
    paley: int | None = None,
    iq: int | None = None,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """`PolarStar`: diameter 3, q^2 + q + 1 supernodes, each a Paley or an inductive-quad graph.

    The network radix is q + 1 and the degree of the supernode: (paley - 1) / 2 for paley
    switches,
    or iq for 2 iq + 2. With Paley graphs some switches of quadrics have one link less.

    Parameters
    ----------
    q : int
        Order of the polarity graph: a prime power from 2 to 128.
    paley : int, optional
        Order of the Paley graph: a prime power 4w+1 from 5 to 256. Give this or iq.
    iq : int, optional
        Degree of the inductive-quad graph: 4w-1 or 4w from 3 to 128. Give this or paley.
    p : int, optional
        Endpoints per switch; the default is a third of the network radix, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "polarstar",
        _given(
            q=q,
            paley=paley,
            iq=iq,
            p=p,
            gbps=gbps,
        ),
    )


def ring(
    *,
    n: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Ring: n switches in a cycle.

    Parameters
    ----------
    n : int
        Number of switches, 1 to 2^26.
    p : int, optional
        Endpoints per switch; default 1.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "ring",
        _given(
            n=n,
            p=p,
            gbps=gbps,
        ),
    )


def slim_fly(
    *,
    q: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Slim Fly: diameter 2 with 2 q^2 switches of network radix (3 q - d) / 2, for q = 4 w + d.

    Parameters
    ----------
    q : int
        Order of the field: a prime power with q mod 4 = 0, 1 or 3.
    p : int, optional
        Endpoints per switch; the published default is half the network radix, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "slim_fly",
        _given(
            q=q,
            p=p,
            gbps=gbps,
        ),
    )


def star(
    *,
    n: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Star: a hub without endpoints, and n leaves with one link each.

    Parameters
    ----------
    n : int
        Number of leaves, 1 to 65534.
    p : int, optional
        Endpoints per leaf; default 1.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "star",
        _given(
            n=n,
            p=p,
            gbps=gbps,
        ),
    )


def mesh(
    *,
    shape: Sequence[int],
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Mesh: a grid of any dimension whose rows are open.

    Parameters
    ----------
    shape : Sequence[int]
        Switches along each dimension: `8x8x4`.
    p : int, optional
        Endpoints per switch; default 1.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "mesh",
        _given(
            shape=shape,
            p=p,
            gbps=gbps,
        ),
    )


def torus(
    *,
    shape: Sequence[int],
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Torus: a grid of any dimension whose rows are closed to rings.

    Parameters
    ----------
    shape : Sequence[int]
        Switches along each dimension: `8x8x4`. A size of 2 is one link, not two.
    p : int, optional
        Endpoints per switch; default 1.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "torus",
        _given(
            shape=shape,
            p=p,
            gbps=gbps,
        ),
    )


def tree(
    *,
    arity: int,
    levels: int,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Tree: a complete tree of switches with endpoints on the leaves.

    Parameters
    ----------
    arity : int
        Children of a switch, 2 to 65533.
    levels : int
        Levels of switches, 1 (the root alone) to 26; at most 2^26 switches in all.
    p : int, optional
        Endpoints per leaf; the default is the arity, at most 4096.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "tree",
        _given(
            arity=arity,
            levels=levels,
            p=p,
            gbps=gbps,
        ),
    )


def xgft(
    *,
    m: Sequence[int],
    w: Sequence[int],
    parallel: Sequence[int] | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Extended generalized fat tree: h levels of switches, every branching of its own size.

    Endpoints are level 0. An element of level i - 1 has w(i) parents, one of level i has
    m(i)
    children.

    Parameters
    ----------
    m : Sequence[int]
        Children m(1) ... m(h) of the switches of each level, lowest first: `4x4x8`. The first
        is the number of endpoints per leaf switch.
    w : Sequence[int]
        Parents w(1) ... w(h) of the elements of each level, endpoints first: `1x4x4`. The first
        is the number of rails of an endpoint, each in a plane of its own.
    parallel : Sequence[int], optional
        Parallel links between a child and a parent, by level as w, the first 1; default 1.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "xgft",
        _given(
            m=m,
            w=w,
            parallel=parallel,
            gbps=gbps,
        ),
    )


def xpander(
    *,
    d: int,
    lift: int,
    seed: int | None = None,
    derandomized: bool | None = None,
    p: int | None = None,
    gbps: float | None = None,
) -> _core.Topology:
    """Xpander: d + 1 groups of `lift` switches, each switch with one random link to every other
    group.

    Parameters
    ----------
    d : int
        Links of a switch.
    lift : int
        Switches of a meta-node.
    seed : int, optional
        Number of the random lift; default 0.
    derandomized : bool, optional
        Whether the lift is made of 2-lifts chosen by their eigenvalues; `lift` is then a power
        of two. Default false.
    p : int, optional
        Endpoints per switch; default d over the least diameter that this number of switches can
        have, rounded up.
    gbps : float, optional
        Rate of the cables, Gbit/s; where it is left out the network says none.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "xpander",
        _given(
            d=d,
            lift=lift,
            seed=seed,
            derandomized=derandomized,
            p=p,
            gbps=gbps,
        ),
    )


def _given(**params: object) -> dict[str, object]:
    """Return the parameters that were given: those that are not None."""
    return {name: value for name, value in params.items() if value is not None}
