"""Choose a mapping technique for a workload: the fastest, or the papers' that suits its sizes.

`max_scan` is the fastest on all six workloads that were timed, whatever their sizes. The choice
among the papers' techniques uses the mean, deviation and maximum of the sizes. Its rule starts from
the findings of [busato2017chapter] and [busato2017loadbalancing] on their workloads. For short
items of similar size, no technique is faster than one thread per item. The best virtual warp is
about as wide as the mean. If sizes vary wildly, the techniques that split an item win. The times of
an H200 in the repository's ``data/benchmarks/mapping.json`` set the thresholds, and added the local
warp search and merge path. `regret` compares the cost of a choice with the least cost, by such
times or by the counters of `cost`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpukernels.checks import check_choice
from gpukernels.errors import InvalidArgument
from gpukernels.primitives.offsets import check_offsets

from .counters import Measure
from .virtual_warp import WARP_SIZES

#: The sets of techniques to choose from.
AMONG = ("all", "papers")

#: One thread per item, if the mean is at most this and the deviation at most half the mean.
SHORT = 4.0

#: Any 32 items in a row have about equally many units, if the deviation is at most this many times
#: the mean.
MILD = 2.0

#: Items vary wildly, if their deviation is more than this times their mean.
WILD = 5.0

#: An item is a giant if it has more than this share of all units: one of more than 100
#: multiprocessors of a GPU then needs longer for it than the others for the rest.
GIANT = 0.01

#: Warps that make progress at once on the GPU that `cost` assumes. A real GPU has some hundred, and
#: millions of items; with a few thousand items in a trace, 8 warps keep the proportion.
WARPS_AT_ONCE = 8


@dataclass(frozen=True)
class Choice:
    """A technique, and the reason to choose it.

    Attributes
    ----------
    method : str
        One of ``METHODS``.
    knobs : dict
        Options to pass: ``gk.expand(offsets, choice.method, **choice.knobs)``.
    reason : str
        The reason, in one sentence.

    Examples
    --------
    >>> import gpukernels as gk
    >>> offsets = gk.workload("as-Skitter", items=500)
    >>> choice = gk.choose_mapping(offsets, "papers")
    >>> choice.label
    'merge_path'
    >>> gk.expand(offsets, choice.method, **choice.knobs).item[:4]
    array([0, 0, 0, 0], dtype=int32)
    """

    method: str
    knobs: dict[str, Any] = field(default_factory=dict)
    reason: str = ""

    @property
    def label(self) -> str:
        """The technique with its knobs, as tables name it: ``virtual_warp 8``."""
        return label(self.method, self.knobs)


def label(method: str, knobs: Mapping[str, Any]) -> str:
    """Return a technique's name followed by the values of its knobs."""
    return " ".join([method, *map(str, knobs.values())])


def choose_mapping(offsets: ArrayLike, among: str = "all") -> Choice:
    """Choose the technique for a workload.

    Parameters
    ----------
    offsets : array_like of int, shape (items + 1,)
        Exclusive prefix sum of the items' sizes with the number of units at its end.
    among : {"all", "papers"}
        ``"all"`` chooses `max_scan` if there is any unit; ``"papers"`` chooses from the techniques
        that the papers compare, by the mean, deviation and maximum of the sizes.

    Returns
    -------
    Choice
        Method, knobs and the reason.

    Raises
    ------
    InvalidArgument
        If `offsets` is not such a sum, or `among` is neither of the two.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.choose_mapping([0, 2, 2, 5]).label
    'max_scan'
    >>> gk.choose_mapping(gk.workload("great-britain_osm", items=1000), "papers").label
    'work_item_to_thread'
    >>> choice = gk.choose_mapping(gk.workload("cit-Patents", items=1000), "papers")
    >>> choice.method, choice.knobs
    ('local_warp_search', {'form': 'register'})
    """
    check_choice("among", among, AMONG)
    sizes = np.diff(check_offsets(offsets))
    if sizes.size == 0 or sizes.max() == 0:
        return Choice("work_item_to_thread", {}, "There is no unit, so nothing needs to be shared.")
    if among == "all":
        reason = (
            "For all sizes, blocks have equal shares; offsets are read and units written about "
            "once, side by side."
        )
        return Choice("max_scan", {}, reason)
    mean, std, largest = float(sizes.mean()), float(sizes.std()), int(sizes.max())
    figures = f"mean {_short(mean)}, deviation {_short(std)}, maximum {largest:,}"
    if mean <= SHORT and std <= mean / 2:
        reason = (
            f"Items are short and alike ({figures}): any search or group costs more than it saves."
        )
        return Choice("work_item_to_thread", {}, reason)
    widest = max(WARP_SIZES)
    if std <= MILD * mean and mean < widest:
        reason = (
            f"Items vary moderately ({figures}): any 32 in a row make about equal work for a warp."
        )
        return Choice("local_warp_search", {"form": "register"}, reason)
    if std <= WILD * mean and mean >= widest:
        reason = f"Items are long and do not vary wildly ({figures}): each is work for a warp."
        return Choice("virtual_warp", {"warp_size": widest}, reason)
    giant = largest > GIANT * sizes.sum()
    if std > WILD * mean and largest > widest and not giant:
        reason = f"Items vary wildly, none is a giant ({figures}): blocks and warps take long ones."
        return Choice("cta_warp_scan", {}, reason)
    how = "with a giant" if giant else "or many are empty"
    reason = f"Items vary much, {how} ({figures}): items and units are cut into equal shares."
    return Choice("merge_path", {}, reason)


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def warp_size_for(mean: float) -> int:
    """Return the virtual warp's size that is nearest to `mean`, as a ratio.

    Raises
    ------
    InvalidArgument
        If `mean` is not above 0.
    """
    if not mean > 0:
        raise InvalidArgument("mean", mean, "above 0")
    return min(WARP_SIZES, key=lambda size: max(size / mean, mean / size))


def cost(measure: Measure) -> float:
    """Return a technique's cost from its counters: the sum of the bounds on its launches.

    A launch lasts until all its work is done, and until its longest warp is done. Work is the sum
    of warp steps and sectors of global memory: a step stands for several instructions, and a sector
    takes about as long. All warps together are `WARPS_AT_ONCE` times as fast as one. The overhead
    of a launch, caches, latency and the price of single instructions are left out. For each
    workload, techniques were ordered by this cost on 2,000 items, and by an H200's times at full
    size. The two orders correlate by 0.3 (cit-Patents), 0.5 to 0.8, and 0.95 (kron).
    """
    return sum(
        max(total / WARPS_AT_ONCE, longest)
        for total, longest in zip(measure.totals, measure.longest, strict=True)
    )


@dataclass(frozen=True)
class Regret:
    """The cost of a choice compared with the best one.

    Attributes
    ----------
    chosen, best : str
        Labels of the technique chosen and of the cheapest one.
    cost, least : float
        The costs of these two.
    """

    chosen: str
    best: str
    cost: float
    least: float

    @property
    def ratio(self) -> float:
        """The cost of the choice / the least cost; 1 is no regret."""
        return self.cost / self.least


def regret(
    costs: Mapping[str, Mapping[str, float]], chosen: Mapping[str, str]
) -> dict[str, Regret]:
    """Compare a choice with the best technique on each workload.

    Parameters
    ----------
    costs : mapping of str to mapping of str to float
        By workload and by label of a technique: any cost, such as `cost` or milliseconds.
    chosen : mapping of str to str
        By workload, the label of the technique that was chosen.

    Returns
    -------
    dict of str to Regret
        By workload.

    Raises
    ------
    InvalidArgument
        If a workload has no choice, or its choice has no cost.
    """
    for name, of_workload in costs.items():
        if chosen.get(name) not in of_workload:
            allowed = f"one of {', '.join(of_workload)}"
            raise InvalidArgument(f"chosen[{name!r}]", chosen.get(name), allowed)
    return {
        name: Regret(
            chosen[name],
            min(of_workload, key=of_workload.__getitem__),
            of_workload[chosen[name]],
            min(of_workload.values()),
        )
        for name, of_workload in costs.items()
    }


def costs_of_benchmark(
    measured: Mapping[str, Any], threads: int, time: str = "ms"
) -> dict[str, dict[str, float]]:
    """Return the milliseconds by workload and technique from a benchmark's file.

    Parameters
    ----------
    measured : mapping
        Measurements of mappings, as `notebook.record.kept` returns them.
    threads : int
        One of the measured block sizes.
    time : str
        The kind of time: ``"ms"``; for the directions, ``"write_ms"`` or ``"read_ms"``.

    Raises
    ------
    InvalidArgument
        If this block size was not measured.
    """
    sizes = sorted({row["threads"] for row in measured["times"]})
    if threads not in sizes:
        raise InvalidArgument("threads", threads, f"one of {sizes}")
    costs: dict[str, dict[str, float]] = {}
    for row in measured["times"]:
        if row["threads"] == threads:
            costs.setdefault(row["workload"], {})[row["technique"]] = row[time]
    return costs
