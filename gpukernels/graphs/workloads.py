"""The papers' workloads, drawn again: sizes of work-items with the given mean, spread and maximum.

Tables of [busato2017loadbalancing] describe five matrices of the SuiteSparse collection
[davis2011university] only by mean, standard deviation and maximum of the row lengths. `workload`
draws lengths with these three figures, in a shape and an order that are plausible for the kind;
they are *not* the matrices' own rows. The numbers of items are the matrices' numbers of rows. Two
means of the paper differ from the collection's counts, which give 1,497,134 / 325,729 = 4.6 for
web-NotreDame and 16,518,948 / 3,774,768 = 4.4 for cit-Patents; its 5.2 and 4.8 are kept.

Shapes: a road network's items are small, in fixed proportions. All others have a longest item and a
tail below it: the item of rank r has ``low + (largest - low) * (bend / (r + bend)) ** fall`` units.
`bend` and `fall` are solved for mean and deviation. A share of items is empty. The figures of
circuit5M leave little choice: its longest item makes at most a sixth of the variance, and no other
is longer, so it must have several rails of about that length.

Orders: the items of a web crawl and of a circuit come in runs of similar length (pages of one site,
copies of one cell). Patents without recorded citations are the oldest and come first. Roads,
routers and Kronecker vertices are shuffled.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_seed
from gpukernels.errors import InvalidArgument

#: The most of all units that the largest item of a scaled-down workload may hold.
LARGEST_SHARE = 0.1


@dataclass(frozen=True)
class Target:
    """The properties of a workload at full size.

    Attributes
    ----------
    items : int
        Number of items: rows of the matrix.
    mean, std : float
        Mean and standard deviation of the units per item.
    largest : int
        Units of the longest item.
    empty : float
        Share of items without units.
    order : {"shuffled", "runs", "empty first"}
        The order of the items.
    kind : str
        The kind of data behind it.
    """

    items: int
    mean: float
    std: float
    largest: int
    empty: float
    order: str
    kind: str


#: Table I of [busato2017loadbalancing]. For kron, one draw by the recipe of kron_g500-logn20, of
#: [busato2017chapter]: R-MAT with the probabilities of Graph 500, 48 edges per vertex, made simple
#: (the collection's own has mean 89,239,674 / 1,048,576 = 85.1). Shares of empty items come from
#: that draw, and from pages without links and patents without citations in [leskovec2016snap].
TARGETS = {
    "great-britain_osm": Target(7_733_822, 2.1, 0.5, 8, 0.0, "shuffled", "roads"),
    "web-NotreDame": Target(325_729, 5.2, 21.4, 3_445, 0.57, "runs", "links of web pages"),
    "cit-Patents": Target(3_774_768, 4.8, 7.5, 770, 0.47, "empty first", "citations of patents"),
    "circuit5M": Target(5_558_326, 10.7, 1_356.6, 1_290_501, 0.0, "runs", "a circuit"),
    "as-Skitter": Target(1_696_415, 13.1, 136.9, 35_455, 0.0, "shuffled", "links of routers"),
    "kron": Target(1_048_576, 84.6, 638.3, 129_016, 0.25, "shuffled", "a Kronecker graph"),
}

#: Share of items with 0, 1, ..., 8 units in a road network: mean 2.1, deviation 0.5.
ROADS = np.array([0, 0.0645, 0.7868, 0.1367, 0.0116, 3e-4, 8e-5, 1.6e-5, 4e-6])

#: Relative distance from its exact end at which a bisection may stop, with a margin.
ROUNDING = 1e-9

#: Mean length of a run of similar items.
RUN = 24


def workload(name: str, items: int | None = None, seed: int = 0) -> NDArray[np.int32]:
    """Draw a workload of the papers as offsets: item i owns the units from ``offsets[i]`` on.

    At full size, mean, standard deviation and maximum of the items' sizes are within 5 % of the
    table. With fewer items, the mean stays. The maximum becomes the least of three: the table's
    maximum, a tenth of all units, and the size that makes half of the table's sum of squares. The
    deviation stays if such a maximum allows it; otherwise two items of that size give it. At 2,000
    items it is 68 for circuit5M, 83 for as-Skitter, 535 for kron, and the table's for the others. A
    road network keeps its proportions, so its rare junctions of six and more roads vanish.

    Parameters
    ----------
    name : str
        One of ``TARGETS``: "great-britain_osm", "web-NotreDame", "cit-Patents", "circuit5M",
        "as-Skitter" or "kron".
    items : int, optional
        Number of items, 0 to the full size; by default the full size, 0.3 to 7.7 million.
    seed : int
        Seed of the order and of the rounding; the sizes before rounding are the same for all.

    Returns
    -------
    ndarray of int32, shape (items + 1,)
        Exclusive prefix sum of the sizes with the number of units at its end.

    Raises
    ------
    InvalidArgument
        If there is no such workload, or `items` is not such a number.

    Examples
    --------
    >>> import gpukernels as gk
    >>> offsets = gk.workload("kron", items=1000, seed=1)
    >>> int(offsets[-1]), int((offsets[1:] - offsets[:-1]).max())
    (84600, 8460)
    """
    if not isinstance(name, str) or name not in TARGETS:
        raise InvalidArgument("name", name, f"one of {', '.join(TARGETS)}")
    target = TARGETS[name]
    items = target.items if items is None else items
    whole = isinstance(items, (int, np.integer)) and not isinstance(items, bool)
    if not whole or not 0 <= items <= target.items:
        raise InvalidArgument("items", items, f"a whole number from 0 to {target.items}")
    rng = np.random.default_rng(check_seed(seed))
    if name == "great-britain_osm":
        sizes = _in_proportion(int(items))
    else:
        sizes = with_tail(target, int(items), rng)
    offsets = np.zeros(items + 1, np.int32)
    np.cumsum(ORDERS[target.order](sizes, rng), out=offsets[1:])
    return offsets


def _in_proportion(items: int) -> NDArray[np.int64]:
    """Return `items` sizes in the proportions of a road network."""
    ends = np.rint(np.cumsum(ROADS[::-1]) / ROADS.sum() * items).astype(np.int64)
    return np.repeat(np.arange(ROADS.size)[::-1], np.diff(ends, prepend=0))


def with_tail(target: Target, items: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return `items` sizes in falling order, with the mean and nearly the deviation of `target`."""
    units = round(items * target.mean)
    full = math.floor(items * (1 - target.empty))
    if full == 0:
        return np.zeros(items, np.int64)
    largest, squares = _scaled(target, items)
    # An item that is not empty has a unit; the tail distributes the other units.
    low = 1 if units > full else 0
    bend, fall = _solve(full, units / full - low, squares / full, low, largest)
    exact = low + (largest - low) * _curve(np.arange(full), bend, fall)
    sizes = np.floor(exact + rng.random(full)).astype(np.int64)
    sizes[0] = largest
    return np.concatenate([sizes, np.zeros(items - full, np.int64)])


def _scaled(target: Target, items: int) -> tuple[int, float]:
    """Return the largest size and the sum of squares of a workload of `items` items."""
    squares = items * (target.std**2 + target.mean**2)
    if items == target.items:
        return target.largest, squares
    share = max(LARGEST_SHARE * items * target.mean, 1.0)
    largest = max(math.floor(min(target.largest, math.sqrt(squares / 2), share)), 1)
    return largest, min(squares, 2.0 * largest**2 + items * target.mean**2)


def _curve(rank: Any, bend: float, fall: float) -> Any:
    return (bend / (rank + bend)) ** fall


@functools.cache
def _solve(count: int, mean: float, square: float, low: int, largest: int) -> tuple[float, float]:
    """Return `bend` and `fall` of a tail of `count` items, by nested bisection.

    `mean` is the mean of the size above `low`, `square` the mean of the squared size.
    """
    rank, weight = _thinned(count)
    height = max(largest - low, 1)
    known = {0.0: 0.0, math.inf: math.inf}  # bend -> fall

    def size(bend: float, fall: float) -> NDArray[np.float64]:
        sizes: NDArray[np.float64] = height * _curve(rank, bend, fall)
        return sizes

    def fall_for(bend: float) -> float:
        # The later a tail bends, the steeper it falls: so bends on both sides bound the answer.
        before = known[max(b for b in known if b <= bend)]
        after = known[min(b for b in known if b >= bend)]
        known[bend] = _bisect(
            lambda fall: float(mean - weight @ size(bend, fall) / count), 1e-3, 1e3, before, after
        )
        return known[bend]

    def above(bend: float) -> float:
        return float(weight @ (low + size(bend, fall_for(bend))) ** 2 / count - square)

    bend = _bisect(above, 1e-6, float(count))
    return bend, fall_for(bend)


def _thinned(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ranks that represent all of ``range(count)``, and how many each represents."""
    exact = min(count, 2_000)
    edges = np.unique(np.rint(np.geomspace(exact, count, 4_000))) if count > exact else [exact]
    edges = np.concatenate([np.arange(exact), edges])
    return (edges[:-1] + edges[1:] - 1) / 2, np.diff(edges)


def _bisect(
    rising: Callable[[float], float],
    low: float,
    high: float,
    above: float = 0.0,
    below: float = math.inf,
) -> float:
    """Return where `rising` crosses zero, by halving the logarithm; the nearer end if it does not.

    Known bounds `above` and `below` on the crossing save steps and do not change the result.
    """
    above, below = above * (1 - ROUNDING), below * (1 + ROUNDING)
    for _ in range(60):
        middle = math.sqrt(low * high)
        if middle < above or (middle < below and rising(middle) < 0):
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


def _shuffled(sizes, rng):
    return rng.permutation(sizes)


def _in_runs(sizes, rng):
    """Return the sizes in runs of similar length, the runs shuffled, the first few items apart."""
    if sizes.size == 0:
        return sizes
    near = sizes[np.argsort(np.arange(sizes.size) + rng.normal(0, 4 * RUN, sizes.size))]
    ends = rng.random(sizes.size) < 1 / RUN
    run = np.cumsum(ends) - ends
    place = rng.permutation(int(run[-1]) + 1)
    return near[np.argsort(place[run], kind="stable")]


def _empty_first(sizes, rng):
    empty = sizes == 0
    return np.concatenate([sizes[empty], rng.permutation(sizes[~empty])])


ORDERS = {"shuffled": _shuffled, "runs": _in_runs, "empty first": _empty_first}
