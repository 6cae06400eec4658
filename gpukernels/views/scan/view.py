"""ScanView: a prefix sum step by step, by the shuffles of a warp or in shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.views.encoding import pack, pack_lists
from gpukernels.views.scan.record import ADD, READ, TAKE, ScanRecord, ScanRow, read_scan
from gpukernels.views.widget import View, as_traces, check_step
from gpukernels.views.words import count, under

#: Most columns that readers can distinguish: 64 cells and their padding.
MOST_COLUMNS = 72


def words(row: ScanRow) -> list[str]:
    """Return a row's values as they are shown; ``"·"`` for a value that the trace lacks."""
    return [
        "·" if np.isnan(v) else str(int(v)) if v.is_integer() else f"{v:.4g}"
        for v in row.values.tolist()
    ]


def _where(apart: int | None, noun: str) -> str:
    if apart is None:
        return f"another {noun}"
    places = count(abs(apart), "place")
    if noun == "lane":
        return f"the lane that is {places} {'below' if apart > 0 else 'above'}"
    return f"the cell that is {places} to the {'left' if apart > 0 else 'right'}"


def sentence(record: ScanRecord, step: int) -> str:
    """Describe one step."""
    row, noun = record.rows[step], record.noun
    parts = []
    for kind, one, many in (
        (ADD, "adds the value of {}", "add the value of {}"),
        (TAKE, "takes the value of {}", "take the value of {}"),
        (READ, "reads {}", "read {}"),
    ):
        who = {to for (_, to), k in zip(row.arcs, row.kinds, strict=True) if k == kind}
        if who:
            verb = one if len(who) == 1 else many
            parts.append(f"{count(len(who), noun)} {verb.format(_where(row.apart(kind), noun))}")
    if not record.array and not row.arcs:
        known = int((~np.isnan(row.values)).sum())
        new = " new" if step else ""
        brings = f"brings a{new} value" if known == 1 else f"bring{new} values"
        parts.append(f"{count(known, 'lane')} {brings}")
    elif not row.arcs:
        verb = "is" if len(row.changed) == 1 else "are"
        values = {words(row)[cell] for cell in row.changed}
        done = f"set to {values.pop()}" if len(values) == 1 else "filled"
        parts.append(f"{count(len(row.changed), 'cell')} {verb} {done}")
    text = f"Step {step}: " + ", ".join(parts) + "."
    unseen = int(np.isnan(row.values[[to for _, to in row.arcs]]).sum()) if row.arcs else 0
    if not record.array and unseen:
        text += f" The trace does not record registers, so it does not show {unseen} of the sums."
    if record.array and row.conflicts:
        text += (
            f" Bank conflicts: {count(row.requests, 'request')}, "
            f"{row.requests + row.conflicts} passes over the banks."
        )
    elif record.array:
        text += f" {count(row.requests, 'request')}, no bank conflict."
    return text


class ScanView(View):
    """A prefix sum step by step: the value in every lane or cell, and whose value was added.

    Columns are the lanes of a warp or the cells of a shared array, rows are steps. A curve leads
    from the lane whose value is read to the lane that it goes to. All values come from the trace;
    ``·`` marks a value that the trace lacks, as of a register that is neither read by another lane
    nor stored. Pointing at a value (or the arrow keys) shows all values that it was made from.

    In shared memory a step is the part between two barriers. A curve joins each cell that a thread
    stores to with the cells that the thread loaded. A bar under a cell means that its bank had to
    serve several words of one request.

    Parameters
    ----------
    traces : Trace or dict of str to Trace
        One recording, or several to switch between; also the ``t`` of ``with gk.trace() as t``.
    launch, block : int
        Index of the launch, and of its block.
    warp : int
        Index of the block's warp, for shuffles.
    array : str, optional
        Name of a shared array; by default the warp's shuffles or, if it makes none, the shared
        array that is stored to most often.
    choice : str
        Name of the list of traces.
    title, caption, name : str
        Words above and below, by default the kernel's name above; addresses call it ``#fig-name``,
        by default by its title.
    step : int, optional
        Step shown first; by default the last, with the whole scan in sight.

    Attributes
    ----------
    step : int
        The step shown; may be set and observed.
    trace : str
        The recording shown, by its label; may be set and observed.

    Raises
    ------
    InvalidArgument
        If there is no such launch, block or warp, no shuffle and no store to such a shared array,
        or if the array has more than 72 cells in use.

    Examples
    --------
    >>> import numpy as np
    >>> import gpukernels as gk
    >>> from gpukernels.primitives.warp_scan import warp_scan
    >>> with gk.trace() as t:
    ...     result = warp_scan(np.ones(32, np.int32), threads=32)
    >>> gk.ScanView(t)
    ScanView(scan_warps_inclusive; 32 lanes, 5 steps)
    """

    _kind = "scan"

    def __init__(
        self,
        traces: Trace | dict[str, Trace],
        launch: int = 0,
        block: int = 0,
        warp: int = 0,
        *,
        array: str | None = None,
        choice: str = "Trace",
        title: str | None = None,
        caption: str = "",
        name: str = "",
        step: int | None = None,
    ) -> None:
        self._scans: dict[str, ScanRecord] = {}
        kernels = []
        for label, trace in as_traces(traces).items():
            argument = f"traces[{label!r}]" if label else "traces"
            record = read_scan(trace, launch, block, warp, array, argument)
            if record.columns > MOST_COLUMNS:
                raise InvalidArgument(
                    argument,
                    f"{record.columns} cells of {record.array}",
                    f"at most {MOST_COLUMNS} cells: trace a smaller block",
                )
            self._scans[label] = record
            kernels.append(trace.launches[launch].kernel)
        self._kernel = kernels[0]
        labels = list(self._scans)
        rows = len(self._scans[labels[0]].rows)
        step = rows - 1 if step is None else step
        check_step(step, rows)
        payload = {
            "choice": choice,
            "traces": [_payload(label, record) for label, record in self._scans.items()],
        }
        self._finish(
            payload,
            title=f"{self._kernel}, step by step" if title is None else title,
            caption=caption,
            name=name,
            step=step,
            labels=labels,
        )

    def _describe(self) -> str:
        sentences = []
        for label, record in self._scans.items():
            first, last = (", ".join(words(record.rows[k])) for k in (0, -1))
            where = f"shared array {record.array}" if record.array else "registers"
            sentences.append(
                f"{under(label)}{count(record.columns, record.noun)} in {where}. "
                f"At first: {first}. "
                + " ".join(sentence(record, k) for k in range(1, len(record.rows)))
                + f" In the end: {last}."
            )
        return " ".join(sentences)

    def _summary(self) -> str:
        runs = ", ".join(
            f"{under(label)}{count(record.columns, record.noun)}, "
            f"{count(len(record.rows) - 1, 'step')}"
            for label, record in self._scans.items()
        )
        return f"{self._kernel}; {runs}"


def _payload(label: str, record: ScanRecord) -> dict[str, Any]:
    texts = sorted({(row.line, row.text) for row in record.rows})
    return {
        "label": label,
        "steps": len(record.rows),
        "columns": record.columns,
        "noun": record.noun,
        "array": record.array,
        "words": [" ".join(words(row)) for row in record.rows],
        "of": pack_lists([[of for of, _ in row.arcs] for row in record.rows]),
        "to": pack_lists([[to for _, to in row.arcs] for row in record.rows]),
        "kinds": pack_lists([row.kinds for row in record.rows]),
        "changed": pack_lists([row.changed for row in record.rows]),
        "crowded": pack_lists([row.crowded for row in record.rows]),
        "requests": pack([row.requests for row in record.rows]),
        "conflicts": pack([row.conflicts for row in record.rows]),
        "texts": [list(t) for t in texts],
        "text": pack([texts.index((row.line, row.text)) for row in record.rows]),
        "sentences": [sentence(record, k) for k in range(len(record.rows))],
    }
