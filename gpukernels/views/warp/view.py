"""WarpView: the lanes of a warp, or of every warp of a block, step by step beside the source."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukernels.checks import is_whole
from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.views.encoding import pack
from gpukernels.views.warp.record import Row, WarpRecord, read_warps
from gpukernels.views.widget import View, as_traces, check_step
from gpukernels.views.words import count, percent, under

#: Elements that lanes touch are part of a record up to this many: more would outweigh the rest.
MOST_TOUCHED = 16_384


def _lanes(mask: int) -> int:
    return int(mask).bit_count()


class WarpView(View):
    """Lanes by steps: which lanes of a warp are active at each step, and on which source line.

    Parameters
    ----------
    traces : Trace or dict of str to Trace
        One recording, or several to switch between.
    launch : int
        Index of the launch within each trace.
    block : int
        Linear index of the block.
    warp : int, optional
        The warp within the block; by default every warp of it.
    start, limit : int
        First step shown, from 0, and most steps shown.
    choice : str
        Name of the list of traces ("Method").
    title, caption, name : str
        Words above and below, by default the kernel's name above; addresses call it ``#fig-name``,
        by default by its title.
    step : int
        Step shown first, from 0 at `start`. Figures count steps from 1: this is their first.

    Attributes
    ----------
    step : int
        The step shown, from 0 at `start`; may be set and observed.
    trace : str
        The recording shown, by its label; may be set and observed.

    Raises
    ------
    InvalidArgument
        If there is no such launch, block, warp or step.

    Examples
    --------
    >>> import gpukernels as gk
    >>> with gk.trace() as t:
    ...     r = gk.bfs(gk.example(), method="frontier")
    >>> gk.WarpView(t.trace)
    WarpView(expand_frontier; 4 warps, 67 steps)
    """

    _kind = "warp"

    def __init__(
        self,
        traces: Trace | dict[str, Trace],
        launch: int = 0,
        block: int = 0,
        warp: int | None = None,
        *,
        start: int = 0,
        limit: int = 512,
        choice: str = "Trace",
        title: str | None = None,
        caption: str = "",
        name: str = "",
        step: int = 0,
    ) -> None:
        if not is_whole(limit) or limit < 1:
            raise InvalidArgument("limit", limit, "at least 1")
        if not is_whole(start) or start < 0:
            raise InvalidArgument("start", start, "at least 0")
        start, limit = int(start), int(limit)  # sums of NumPy's integers may wrap
        self._start, self._block = start, block
        self._read: dict[str, tuple[list[Row], list[WarpRecord]]] = {}
        kernels = []
        for label, trace in as_traces(traces).items():
            rows, records = read_warps(trace, launch, block, warp, start, limit)
            if not max(len(record) for record in records):
                raise InvalidArgument("start", start, "less than the number of recorded steps")
            self._read[label] = rows, records
            kernels.append(trace.launches[launch].kernel)
        self._kernel = kernels[0]
        labels = list(self._read)
        check_step(step, self._count(labels[0]))
        payload = {
            "choice": choice,
            "start": start,
            "block": block,
            "mostSectors": max(1, *(int(self._sectors(k)[0].max()) for k in labels)),
            "traces": [self._trace_payload(label) for label in labels],
        }
        if title is None:
            title = f"{self._kernel}, block {block}" + ("" if warp is None else f", warp {warp}")
        self._finish(payload, title=title, caption=caption, name=name, step=step, labels=labels)

    def _count(self, label: str) -> int:
        return max(len(record) for record in self._read[label][1])

    def _sectors(self, label: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the global sectors of each step over all warps, and the least that would do."""
        moved, least = np.zeros((2, self._count(label)), dtype=np.int64)
        for record in self._read[label][1]:
            for access in record.accesses:
                if not access.shared:
                    moved[access.step] += access.cost
                    least[access.step] += access.least
        return moved, least

    def _trace_payload(self, label: str) -> dict[str, Any]:
        rows, records = self._read[label]
        sizes = {a.array: a.itemsize for record in records for a in record.accesses}
        names = sorted(sizes)
        touched = sum(a.lanes for record in records for a in record.accesses) <= MOST_TOUCHED
        return {
            "label": label,
            "steps": self._count(label),
            "total": max(record.total for record in records),
            "numbers": pack([row.number for row in rows]),
            "indents": pack([row.indent for row in rows]),
            "texts": [row.text for row in rows],
            "arrays": names,
            "sizes": [sizes[name] for name in names],
            "warps": [
                {
                    "warp": record.warp,
                    "row": pack(record.row),
                    "kind": pack(record.kind),
                    "mask": pack(record.mask),
                    "taken": pack(record.taken),
                    "at": pack([a.step for a in record.accesses]),
                    "array": pack([names.index(a.array) for a in record.accesses]),
                    "access": pack([a.kind + 4 * a.shared for a in record.accesses]),
                    "lanes": pack([a.lanes for a in record.accesses]),
                    "cost": pack([a.cost for a in record.accesses]),
                    "least": pack([a.least for a in record.accesses]),
                    **(_touched(record) if touched else {}),
                }
                for record in records
            ],
        }

    def _describe(self) -> str:
        sentences = []
        for label in self._read:
            rows, records = self._read[label]
            steps = sum(len(record) for record in records)
            lanes = sum(_lanes(m) for record in records for m in record.mask.tolist())
            splits = sum(int(record.splits.sum()) for record in records)
            sentences.append(
                f"{under(label)}{count(len(records), 'warp')} of block "
                f"{self._block} ran {count(steps, 'step')}, with on average "
                f"{percent(lanes, 32 * steps)} of the lanes active and "
                f"{count(splits, 'divergent branch', 'divergent branches')}."
            )
            for line in sorted({int(r) for record in records for r in record.row}):
                at = [(record, np.flatnonzero(record.row == line)) for record in records]
                times = sum(len(where) for _, where in at)
                mean = sum(_lanes(m) for record, where in at for m in record.mask[where].tolist())
                sentences.append(
                    f"Line {rows[line].number} ({rows[line].text}): {count(times, 'time')}, "
                    f"{mean / times:.1f} lanes."
                )
        return " ".join(sentences)

    def _summary(self) -> str:
        runs = ", ".join(
            f"{under(label)}{count(len(self._read[label][1]), 'warp')}, "
            f"{count(self._count(label), 'step')}"
            for label in self._read
        )
        return f"{self._kernel}; {runs}"


def _touched(record: WarpRecord) -> dict[str, str]:
    """Return the lanes of each access, and the element that each of them touches."""
    indexes = [a.index for a in record.accesses]
    return {
        "who": pack([a.mask for a in record.accesses]),
        "index": pack(np.concatenate(indexes) if indexes else []),
    }
