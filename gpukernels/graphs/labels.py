"""Labels: the names of vertices outside of this package, and their positions in arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpukernels.checks import as_array, as_python, is_whole
from gpukernels.errors import InvalidArgument

#: Labels that a message quotes.
QUOTED = 3


class Labels:
    """The labels of the vertices at the positions 0, 1, ..., all different.

    Parameters
    ----------
    labels : array, shape (n,)
        Whole numbers, texts or other hashable objects.

    Raises
    ------
    InvalidArgument
        If two vertices have one label, or a label cannot be hashed.
    """

    def __init__(self, labels: NDArray) -> None:
        self.array = labels
        self._are_whole = labels.dtype.kind in "iu" and labels.dtype != np.uint64
        if self._are_whole:
            again = self._ordered[1:][self._ordered[1:] == self._ordered[:-1]].tolist()
        else:
            alike = len(self._positions) < labels.size
            again = [x for x, k in Counter(labels.tolist()).items() if k > 1] if alike else []
        if again:
            allowed = f"all different, but {again[0]!r} is there twice"
            raise InvalidArgument("labels", labels, allowed)

    @cached_property
    def _order(self) -> NDArray[np.intp] | None:
        """The positions in the order of whole labels; None if they are in this order."""
        rise = bool(np.all(self.array[1:] > self.array[:-1]))
        return None if rise else np.argsort(self.array, kind="stable")

    @cached_property
    def _ordered(self) -> NDArray:
        return self.array if self._order is None else self.array[self._order]

    @cached_property
    def _positions(self) -> dict[Any, int]:
        try:
            return {label: position for position, label in enumerate(self.array.tolist())}
        except TypeError as wrong:
            raise InvalidArgument("labels", self.array, f"hashable ({wrong})") from None

    def __len__(self) -> int:
        return self.array.size

    def __getitem__(self, position: int) -> Any:
        """Return the label at a position; numbers as Python's."""
        return as_python(self.array[position])

    def at(self, positions: Iterable[int]) -> list[Any]:
        """Return the labels at some positions."""
        return [self[position] for position in positions]

    def position(self, name: str, label: Any) -> int:
        """Return the position of a label.

        Raises
        ------
        InvalidArgument
            If no vertex has it; names the argument, `name`, and the label at this position.
        """
        position = None
        if not self._are_whole:
            try:
                position = self._positions.get(label)
            except TypeError:  # it cannot be hashed, so no vertex has it
                position = None
        elif is_whole(label) and len(self) and self._ordered[0] <= label <= self._ordered[-1]:
            at = int(np.searchsorted(self._ordered, label))
            if self._ordered[at] == label:
                position = at if self._order is None else int(self._order[at])
        if position is None:
            raise InvalidArgument(name, label, self._allowed(label))
        return position

    def positions(self, name: str, labels: Any) -> NDArray[np.int32]:
        """Return the position of each of some labels: int32, shape (k,); errors as `position`."""
        if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
            raise InvalidArgument(name, labels, "labels in a row")
        positions = [self.position(f"{name}[{i}]", as_python(v)) for i, v in enumerate(labels)]
        return np.array(positions, np.int32)

    def _allowed(self, label: Any) -> str:
        """Return examples of labels, and the label at a position that was taken for one."""
        first = ", ".join(repr(self[v]) for v in range(min(QUOTED, len(self))))
        allowed = f"a label of the graph, such as {first}" if first else "absent: no vertex"
        if is_whole(label) and 0 <= label < len(self):
            allowed += f"; the vertex at position {label} has the label {self[label]!r}, and "
            allowed += "g.unlabeled takes positions"
        return allowed


def numbered(source: ArrayLike, target: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
    """Return the labels that two columns name, in order, and the columns by position.

    Raises
    ------
    InvalidArgument
        Unless both columns hold whole numbers, or both hold texts.
    """
    columns = _column("source", source), _column("target", target)
    kinds = [column.dtype.kind for column in columns if column.size]
    if len(set(kinds)) > 1:
        allowed = "texts, as source has" if kinds[0] == "O" else "whole numbers, as source has"
        raise InvalidArgument("target", target, allowed)
    if kinds[:1] == ["O"]:
        texts = sorted({*columns[0].tolist(), *columns[1].tolist()})
        labels = np.array(texts, object)
        position = {text: v for v, text in enumerate(texts)}
        ends = [np.array([position[text] for text in c.tolist()], np.int32) for c in columns]
        return labels, ends[0], ends[1]
    labels, places = np.unique(np.concatenate(columns).astype(np.int64), return_inverse=True)
    return labels, places[: columns[0].size], places[columns[0].size :]


def _column(name: str, values: ArrayLike) -> NDArray:
    """Return a column of int64, or of texts as objects."""
    column = as_array(name, values)
    if column.dtype.kind == "U" and column.ndim == 1 and not isinstance(values, np.ndarray):
        column = np.array(list(values), object)  # arrays of texts cut NUL off their ends
    if column.ndim != 1:
        raise InvalidArgument(f"{name}.shape", column.shape, "one-dimensional")
    if column.dtype.kind in "iu":
        if column.size and int(column.max()) > np.iinfo(np.int64).max:
            raise InvalidArgument(f"max({name})", column.max().item(), "at most 2^63 - 1 (int64)")
        return column.astype(np.int64)
    texts = column.astype(object)
    for i, text in enumerate(texts.tolist()):
        if not isinstance(text, str):
            allowed = "a whole number or a text, and all of one kind, as n is None"
            raise InvalidArgument(f"{name}[{i}]", text, allowed)
    return texts
