"""Workloads that differ by the sizes of some items, recorded for a reader who drags them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpukernels.checks import as_python, is_whole
from gpukernels.errors import InvalidArgument

#: Items have letters, which stay the same whatever their sizes are.
MOST_ITEMS = 26
#: More workloads than this are refused: a page would be heavy with them.
MOST_WORKLOADS = 300


class Sizes:
    """Which items of a workload can have which sizes.

    Attributes
    ----------
    every : list of tuple of int
        The sizes of all items, in each workload: every combination, the last item fastest.
    items : list of int
        The items that have more than one size.
    choices : list of list of int
        The sizes of each of these.
    first : tuple of int
        The sizes shown first.
    """

    def __init__(self, recorded: Mapping[Any, Any], first: Sequence[int] | None) -> None:
        keys = [_sizes_of(key) for key in recorded]
        many = len(keys[0])
        if any(len(key) != many for key in keys) or not 0 < many <= MOST_ITEMS:
            lengths = sorted({len(key) for key in keys})
            allowed = f"the sizes of as many items, 1 to {MOST_ITEMS}, as each key"
            raise InvalidArgument("traces", f"keys of {lengths} sizes", allowed)
        if len(keys) > MOST_WORKLOADS:
            raise InvalidArgument("traces", f"{len(keys)} sizes", f"at most {MOST_WORKLOADS}")
        columns = [sorted(set(column)) for column in zip(*keys, strict=True)]
        known, every = set(keys), itertools.product(*columns)
        missing = next((sizes for sizes in every if sizes not in known), None)
        if missing is not None:
            allowed = "a recording of every combination of the sizes of its items"
            raise InvalidArgument("traces", f"none of {missing}", allowed)
        self.every = list(itertools.product(*columns))
        self.items = [i for i, column in enumerate(columns) if len(column) > 1]
        self.choices = [columns[i] for i in self.items]
        self.first = keys[0] if first is None else _sizes_of(first, "sizes")
        if self.first not in keys:
            raise InvalidArgument("sizes", first, f"one of the keys of traces, as {keys[0]}")

    def places(self) -> list[int]:
        """Return the place of each item's first size among its choices."""
        return [of.index(self.first[i]) for i, of in zip(self.items, self.choices, strict=True)]

    def offer(self, names: list[str]) -> str:
        """Name the items that can be dragged, and their ranges."""
        whole = [
            f"{name} ({_range(of)} units)" for name, of in zip(names, self.choices, strict=True)
        ]
        if len({tuple(of) for of in self.choices}) == 1:
            each = " each" if len(names) > 1 else ""
            return f"Drag {_joined(names)}: {_range(self.choices[0])} units{each}."
        return f"Drag {_joined(whole)}."

    @property
    def many(self) -> int:
        """Number of workloads."""
        return len(self.every)


def _sizes_of(key: object, argument: str = "traces") -> tuple[int, ...]:
    key = as_python(key.tolist() if isinstance(key, np.ndarray) else key)
    good = isinstance(key, Sequence) and not isinstance(key, str)
    if not good or not all(is_whole(size) and size >= 0 for size in key):
        allowed = "sizes, as (3, 1, 8): whole numbers from 0 up"
        raise InvalidArgument(argument, key, allowed)
    return tuple(map(int, key))


def _range(sizes: list[int]) -> str:
    if sizes == list(range(sizes[0], sizes[-1] + 1)) and len(sizes) > 2:
        return f"{sizes[0]} to {sizes[-1]}"
    return f"{', '.join(map(str, sizes[:-1]))} or {sizes[-1]}"


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
