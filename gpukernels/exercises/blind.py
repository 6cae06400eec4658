"""A SIMT machine whose kernels search another graph than the host sees.

A driver that solves a task on the host and launches a kernel to copy the answer would beat every
search. Here it would solve the wrong task: the graph that it is given has the right numbers in the
wrong places. Only the arrays that a launch hands over to a kernel are right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukernels.device import SimtDevice
from gpukernels.graph import Graph


@dataclass(frozen=True)
class Cover:
    """A graph for the host's eyes, and what kernels get in place of its arrays.

    Attributes
    ----------
    shown : Graph
        The graph that the host sees.
    pairs : tuple of (ndarray, ndarray)
        Arrays of `shown`, and the arrays of the graph that is searched.
    """

    shown: Graph
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
    """The SIMT machine, which replaces arrays of a cover when it launches a kernel.

    An array is recognized by its contents, whether the host has copied it to the device or not.
    Each kernel gets one copy of the right array, so nothing that the host can read has changed.

    Parameters
    ----------
    cover : Cover
        The arrays to replace.
    **options
        As for :class:`SimtDevice`.
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
