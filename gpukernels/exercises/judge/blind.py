"""A SIMT machine whose kernels search another graph than the host sees.

Otherwise the cheapest search would be Dijkstra's algorithm on the host, with one launch that copies
its distances. The graph that the host gets has the right numbers in the wrong places. Only kernels
get the right arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukernels.device import SimtDevice
from gpukernels.graphs.graph import Graph


@dataclass(frozen=True)
class Cover:
    """A graph for the host, and the arrays that kernels get in place of its own."""

    #: The graph that the host sees.
    shown: Graph
    #: Arrays of `shown`, and the arrays of the graph that is searched.
    pairs: tuple[tuple[np.ndarray, np.ndarray], ...]


def with_other_weights(g: Graph, seed: int) -> Cover:
    """Return a cover of `g` in which each arc has another arc's weight."""
    assert g.weights is not None
    order = np.random.default_rng(seed).permutation(g.m)
    shown = Graph(g.offsets, g.targets, g.weights[order])
    return Cover(shown, ((shown.weights, g.weights), (shown.reverse.weights, g.reverse.weights)))


def with_other_targets(g: Graph, seed: int) -> Cover:
    """Return a cover of `g` in which each arc leads where another one leads."""
    order = np.random.default_rng(seed).permutation(g.m)
    shown = Graph(g.offsets, g.targets[order])
    turned, right = shown.reverse, g.reverse
    return Cover(
        shown,
        (
            (shown.targets, g.targets),
            (turned.offsets, right.offsets),
            (turned.targets, right.targets),
        ),
    )


class BlindDevice(SimtDevice):
    """A SIMT machine that replaces the arrays of a cover in the arguments of each launch.

    An array is recognized by its contents, whether the host has copied it to the device or not.
    Each launch gets a copy of the right array, so no array that the host can read has changed.
    """

    def __init__(self, cover: Cover, **options):
        super().__init__(**options)
        self.cover = cover

    def launch(self, kernel, blocks, threads, *args, **options):
        """Launch `kernel` as :class:`SimtDevice` does, on the graph behind the cover."""
        super().launch(kernel, blocks, threads, *map(self._uncovered, args), **options)

    def _uncovered(self, argument: Any) -> Any:
        if isinstance(argument, tuple):
            parts = map(self._uncovered, argument)
            make = getattr(argument, "_make", tuple)  # of a named tuple
            return make(parts)
        if isinstance(argument, np.ndarray):
            for shown, right in self.cover.pairs:
                if np.array_equal(argument, shown):
                    return right.astype(argument.dtype)
        return argument
