"""MappingView: the units of a workload under every mapping technique, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpukernels.checks import as_array
from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.views.encoding import pack, pack_rows, pack_texts
from gpukernels.views.mapping.expansion import Expansion, read_expansion
from gpukernels.views.mapping.sizes import Sizes
from gpukernels.views.widget import View, as_traces, check_step
from gpukernels.views.words import count, under

#: The most units that are drawn of a workload, and in all its strips together.
MOST_UNITS, MOST_CELLS = 240, 1080
#: Allowed values of `color`.
LEVELS = ("thread", "warp", "block")


def item_names(sizes: np.ndarray) -> list[str]:
    """Return the names of the items: letters if 26 are enough for the items with units."""
    if len(sizes) <= 26:
        return [chr(65 + i) for i in range(len(sizes))]
    if np.count_nonzero(sizes) <= 26:
        rank = np.cumsum(sizes > 0)
        return [chr(64 + int(k)) if s else "" for k, s in zip(rank, sizes, strict=True)]
    return [str(i) for i in range(len(sizes))]


def _check_offsets(offsets: ArrayLike, argument: str) -> np.ndarray:
    array = as_array(argument, offsets)
    good = array.ndim == 1 and array.size > 0 and array.dtype.kind in "iu" and array[0] == 0
    if not good or (np.diff(array.astype(np.int64)) < 0).any():
        raise InvalidArgument(argument, offsets, "whole numbers from 0 up, nowhere decreasing")
    if not 0 < array[-1] <= MOST_UNITS:
        raise InvalidArgument(f"{argument}[-1]", int(array[-1]), f"from 1 to {MOST_UNITS} units")
    return array.astype(np.int64)


class Workload:
    """A workload and every technique that ran on it.

    Attributes
    ----------
    offsets : numpy.ndarray
        int64, of shape (items + 1,).
    names : list of str
        Name of each item.
    methods : dict of str to Expansion
        By the technique's label.
    """

    def __init__(self, offsets: np.ndarray, methods: dict[str, Expansion]) -> None:
        sizes = np.diff(offsets)
        self.offsets, self.methods = offsets, methods
        self.names = item_names(sizes)

    @property
    def units(self) -> int:
        """Number of units."""
        return int(self.offsets[-1])

    @property
    def rounds(self) -> int:
        """Rounds of the technique that needs the most."""
        return max(method.rounds for method in self.methods.values())

    def most(self) -> list[int]:
        """Return the most units that any technique gives a thread, a warp, a block."""
        return [
            max(int(np.bincount(getattr(m, level)).max()) for m in self.methods.values())
            for level in LEVELS
        ]

    def empty(self) -> list[str]:
        """Return the names of the items without units, if they have names."""
        sizes = np.diff(self.offsets)
        return [n for n, size in zip(self.names, sizes, strict=True) if n and not size]

    def sentence(self, step: int) -> str:
        """Describe the visits of one round; rounds are counted from 1 in words."""
        parts, done = [], 0
        for label, method in self.methods.items():
            units = int(np.count_nonzero(method.round == step))
            done += method.rounds <= step
            if units:
                last = " (its last round)" if method.rounds == step + 1 else ""
                parts.append(f"{count(units, 'unit')} by “{label}”{last}")
        rest = f"; {count(len(parts) - 3, 'more technique')} at work" if len(parts) > 3 else ""
        over = f". {count(done, 'technique is', 'techniques are')} done" if done else ""
        return f"Round {step + 1}: " + ", ".join(parts[:3]) + rest + over + "."

    def describe(self) -> str:
        """Describe the strips and the bars after the last round."""
        sizes = np.diff(self.offsets)
        sizes_in_words = [
            f"{n or i} {size}"
            for i, (n, size) in enumerate(zip(self.names, sizes, strict=True))
            if size
        ]
        words = (
            f"{count(len(sizes), 'item')} with {count(self.units, 'unit')} in all; "
            f"units per item: {', '.join(sizes_in_words)}."
        )
        if self.empty():
            words += f" Without units: {', '.join(self.empty())}."
        for label, m in self.methods.items():
            thread, warp, block = (
                np.bincount(getattr(m, level), minlength=getattr(m, level + "s"))
                for level in LEVELS
            )
            words += (
                f" {label}: {_facts(m)}; at most {count(int(thread.max()), 'unit')} per thread, "
                f"{warp.max()} per warp, {block.max()} per block, of {count(m.threads, 'thread')}, "
                f"{count(m.warps, 'warp')}, {count(m.blocks, 'block')}."
            )
        return words


def _facts(m: Expansion) -> str:
    moved = m.moved(m.rounds)
    return (
        f"{count(m.rounds, 'round')}, {count(m.requests, 'request')}, "
        f"{count(int(moved.sum()), 'sector')} moved ({len(moved)} hold all)"
    )


class MappingView(View):
    """The strip of work-units under every technique: the visit of each unit, its time and cost.

    Each technique has a strip of units, in the order in which they lie in memory, with the letters
    of their items above. A unit shows the number of the thread (warp, block) that visits it. Below
    lie the sectors of 32 bytes and how often each is moved, then the units that each thread, warp
    and block gets. A step is a round: every warp makes one request. All data come from the traces;
    nothing is simulated here.

    Parameters
    ----------
    traces : dict of str to Trace, or dict of str to dict of str to Trace
        One recording of :func:`gpukernels.expand` per technique; or such a dict for each of several
        workloads to switch between, by name. The ``t`` of ``with gk.trace() as t`` is accepted as
        well. If the workloads differ in the sizes of some items, the keys may be the sizes of all
        items, as ``(3, 1, 8)``: a reader then drags these items. Every combination must be
        recorded.
    offsets : array_like of int, or dict of str to array_like
        The workload, of shape (items + 1,), as given to ``gk.expand``; or one for each name. 24
        units fill a row; up to 240 are drawn, and up to 1080 in all strips of a workload together.
        Not given if the keys of `traces` are sizes.
    sizes : sequence of int, optional
        The sizes shown first, if the keys of `traces` are sizes; by default the first key.
    color : {"thread", "warp", "block"}
        Level whose number decides the color of a unit at first.
    choice : str
        Name of the list of workloads.
    title, caption, name : str
        Words above and below; addresses call it ``#fig-name``, by default by its title.
    step : int, optional
        Round shown first, from 0; by default the last, when all units are visited. The figure
        counts rounds from 1.

    Attributes
    ----------
    step : int
        The round shown, from 0; may be set and observed.
    trace : str
        The workload shown, by its name; may be set and observed.

    Raises
    ------
    InvalidArgument
        If a trace does not visit every unit of its workload exactly once, if workloads and offsets
        do not have the same names, or if there are too many units.

    Examples
    --------
    >>> import gpukernels as gk
    >>> offsets, traces = [0, 3, 4, 8, 10, 12, 20, 21, 24], {}
    >>> for method in ("work_item_to_thread", "two_phase"):
    ...     with gk.trace() as t:
    ...         result = gk.expand(offsets, method, threads=32)
    ...     traces[method] = t
    >>> gk.MappingView(traces, offsets)
    MappingView(8 items, 24 units: work_item_to_thread 8 rounds, two_phase 11 rounds)

    The second of three items can have any size up to 8:

    >>> dragged = {}
    >>> for size in range(9):
    ...     call = gk.expand, [0, 3, 3 + size, 5 + size], "work_item_to_thread"
    ...     dragged[3, size, 2] = {"one thread an item": gk.traced(*call)}
    >>> gk.MappingView(dragged, sizes=(3, 8, 2))
    MappingView(3 items, 13 units: one thread an item 8 rounds; 9 sizes of B)
    """

    _kind = "mapping"

    def __init__(
        self,
        traces: Mapping[str, Trace] | Mapping[Any, Mapping[str, Trace]],
        offsets: ArrayLike | Mapping[str, ArrayLike] | None = None,
        *,
        sizes: Sequence[int] | None = None,
        color: str = "thread",
        choice: str = "Workload",
        title: str = "Who visits which unit",
        caption: str = "",
        name: str = "",
        step: int | None = None,
    ) -> None:
        if not isinstance(color, str) or color not in LEVELS:
            raise InvalidArgument("color", color, f"one of {LEVELS}")
        if not isinstance(traces, Mapping) or not traces:
            raise InvalidArgument("traces", traces, "a non-empty dict of technique to trace")
        self._sizes = _sizes(traces, offsets, sizes)
        if self._sizes:
            traces = {tuple(map(int, key)): of for key, of in traces.items()}
            self._dragged = _read_dragged(self._sizes, traces)
            first = self._dragged[self._sizes.first]
            traces, offsets = {"": traces[self._sizes.first]}, {"": first.offsets}
        elif not isinstance(offsets, Mapping):
            traces, offsets = {"": traces}, {"": offsets}
        elif list(traces) != list(offsets):
            raise InvalidArgument("offsets", list(offsets), f"the names of traces, {list(traces)}")
        self._color = color
        self._workloads = {
            name: _read_workload(name, traces[name], offsets[name]) for name in traces
        }
        labels = list(self._workloads)
        first = self._workloads[labels[0]]
        step = first.rounds - 1 if step is None else step
        check_step(step, first.rounds)
        payload = {
            "choice": choice,
            "color": color,
            "traces": [_payload(name, load) for name, load in self._workloads.items()],
        }
        if self._sizes:
            names = [first.names[i] for i in self._sizes.items]
            fields = [
                {"label": f"Item {name}", "entries": list(map(str, of))}
                for name, of in zip(names, self._sizes.choices, strict=True)
            ]
            payload["variants"] = {
                "fields": fields,
                "first": self._sizes.places(),
                "items": self._sizes.items,
                "offer": self._sizes.offer(names),
            }
            payload["traces"] = [_dragged_payload(self._sizes, self._dragged)]
        self._finish(payload, title=title, caption=caption, name=name, step=step, labels=labels)

    def _describe(self) -> str:
        text = " ".join(under(name) + load.describe() for name, load in self._workloads.items())
        return text + self._describe_sizes()

    def _describe_sizes(self) -> str:
        """Say what a reader can change, and how many rounds each technique then takes at most."""
        if not self._sizes:
            return ""
        names = self._workloads[""].names
        sentences = [" " + self._sizes.offer([names[i] for i in self._sizes.items])]
        for label in self._workloads[""].methods:
            rounds = [load.methods[label].rounds for load in self._dragged.values()]
            least = f"{min(rounds)} to " if min(rounds) < max(rounds) else ""
            sentences.append(f"{label}: {least}{count(max(rounds), 'round')}.")
        return " ".join(sentences)

    def _summary(self) -> str:
        loads = "; ".join(
            f"{under(name)}{count(len(load.names), 'item')}, {count(load.units, 'unit')}: "
            + ", ".join(f"{label} {count(m.rounds, 'round')}" for label, m in load.methods.items())
            for name, load in self._workloads.items()
        )
        if not self._sizes:
            return loads
        names = self._workloads[""].names
        items = " and ".join(names[i] for i in self._sizes.items)
        return f"{loads}; {count(self._sizes.many, 'size')} of {items}"


def _sizes(traces: Any, offsets: object, first: Sequence[int] | None) -> Sizes | None:
    """Return which items can have which sizes, where recordings stand under sizes."""
    by_sizes = isinstance(traces, Mapping) and any(isinstance(key, tuple) for key in traces)
    if by_sizes and offsets is None:
        return Sizes(traces, first)
    if by_sizes:
        raise InvalidArgument("offsets", offsets, "None, as the keys of traces are sizes")
    if first is not None:
        raise InvalidArgument("sizes", first, "None, unless the keys of traces are sizes")
    if offsets is None:
        raise InvalidArgument("offsets", None, "whole numbers from 0 up, nowhere decreasing")
    return None


def _read_dragged(sizes: Sizes, traces: Mapping[tuple, Any]) -> dict[tuple, Workload]:
    loads = {key: _read_workload(key, traces[key], np.cumsum([0, *key])) for key in sizes.every}
    labels = list(loads[sizes.first].methods)
    for key, load in loads.items():
        if list(load.methods) != labels:
            raise InvalidArgument(f"traces[{key!r}]", list(load.methods), f"techniques {labels}")
    return loads


def _read_workload(name: object, traces: object, offsets: ArrayLike) -> Workload:
    place = f"[{name!r}]" if name else ""
    checked = _check_offsets(offsets, f"offsets{place}")
    if not isinstance(traces, Mapping):
        raise InvalidArgument(f"traces{place}", traces, "a dict of technique to trace")
    if checked[-1] * len(traces) > MOST_CELLS:
        size = f"{count(len(traces), 'technique')} on {checked[-1]} units"
        raise InvalidArgument(f"traces{place}", size, f"at most {MOST_CELLS} units in all strips")
    return Workload(
        checked,
        {
            label: read_expansion(trace, int(checked[-1]), f"traces{place}[{label!r}]")
            for label, trace in as_traces(dict(traces), f"traces{place}").items()
        },
    )


def _payload(name: str, load: Workload) -> dict[str, Any]:
    return {
        "label": name,
        "steps": load.rounds,
        "offsets": pack(load.offsets),
        "names": load.names,
        "most": load.most(),
        "sentences": [load.sentence(k) for k in range(load.rounds)],
        "methods": [
            {
                "label": label,
                "facts": _facts(m),
                "rounds": m.rounds,
                "sector": m.sector_units,
                "launched": [m.threads, m.warps, m.blocks],
                "shares": [_share(load, m, level) for level in LEVELS],
                "thread": pack(m.thread),
                "warp": pack(m.warp),
                "block": pack(m.block),
                "round": pack(m.round),
                "request": pack(m.request),
            }
            for label, m in load.methods.items()
        ],
    }


def _dragged_payload(sizes: Sizes, loads: dict[tuple, Workload]) -> dict[str, Any]:
    """Return the columns of workloads that differ by sizes, one workload after the other."""
    every = list(loads.values())
    labels = list(every[0].methods)
    runs = {label: [load.methods[label] for load in every] for label in labels}
    return {
        "label": "",
        "steps": max(load.rounds for load in every),
        "variantSteps": [load.rounds for load in every],
        "names": every[0].names,
        "base": list(sizes.first),
        "most": np.max([load.most() for load in every], axis=0).tolist(),
        "mostUnits": max(load.units for load in every),
        "mostNumber": int(max(m.thread.max() for of in runs.values() for m in of)),
        "sentences": pack_texts([load.sentence(k) for load in every for k in range(load.rounds)]),
        "methods": [
            {
                "label": label,
                "sector": of[0].sector_units,
                "facts": pack_texts([_facts(m) for m in of]),
                "rounds": pack([m.rounds for m in of]),
                "launched": pack([x for m in of for x in (m.threads, m.warps, m.blocks)]),
                "shares": pack_texts(
                    [
                        _share(load, m, level)
                        for load, m in zip(every, of, strict=True)
                        for level in LEVELS
                    ]
                ),
                **{
                    name: pack_rows([getattr(m, name) for m in of])
                    for name in (*LEVELS, "round", "request")
                },
            }
            for label, of in runs.items()
        ],
    }


def _share(load: Workload, m: Expansion, level: str) -> str:
    """Describe the number of units that a thread, warp or block gets."""
    launched = getattr(m, level + "s")
    if launched == 1:
        return count(load.units, "unit")
    most = int(np.bincount(getattr(m, level)).max())
    return f"most {most}, mean {load.units / launched:.1f}"
