"""Searches that begin at each of several vertices, recorded for a reader who chooses among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpukernels.checks import check_vertex, is_whole
from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.views.widget import as_traces

#: More roots than this are refused: a page would grow without telling more.
MOST_ROOTS = 64


def by_roots(traces: Any, root: int | None, n: int) -> tuple[dict[str, dict[Any, Trace]], bool]:
    """Return recordings by label and root, and whether there are several roots to choose from.

    The root that is shown first comes first. Without such a choice all stand under `root`.
    """
    root = None if root is None else check_vertex("root", root, n)
    if not isinstance(traces, Mapping) or not traces:
        return {label: {root: t} for label, t in as_traces(traces).items()}, False
    if all(map(is_whole, traces)):
        traces = {"": traces}
    if not any(isinstance(of, Mapping) for of in traces.values()):
        return {label: {root: t} for label, t in as_traces(traces).items()}, False
    traces_by_root = {label: _of_roots(label, of, n) for label, of in traces.items()}
    roots = sorted(next(iter(traces_by_root.values())))
    for label, of in traces_by_root.items():
        if sorted(of) != roots:
            raise InvalidArgument(
                f"traces[{label!r}]", sorted(of), f"recordings from the same roots, {roots}"
            )
    if root is not None and root not in roots:
        raise InvalidArgument("root", root, f"one that was recorded, of {roots}")
    return {label: {r: of[r] for r in roots} for label, of in traces_by_root.items()}, True


def _of_roots(label: str, of: object, n: int) -> dict[int, Trace]:
    place = f"traces[{label!r}]" if label else "traces"
    if not isinstance(label, str):
        raise InvalidArgument("traces", label, "labels as keys, or roots alone")
    if not isinstance(of, Mapping) or not of or not all(map(is_whole, of)):
        raise InvalidArgument(place, of, "a dict of root to trace, as the others")
    if len(of) > MOST_ROOTS:
        raise InvalidArgument(place, f"{len(of)} roots", f"at most {MOST_ROOTS} to start from")
    return {
        check_vertex(f"root of {place}", int(r), n): as_traces(t, f"{place}[{r}]")[""]
        for r, t in of.items()
    }
