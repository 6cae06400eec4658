"""MemoryView: the addresses that the lanes of a request touch, and the sectors that it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukernels.checks import check_name_or_none, check_whole_or_none, is_whole
from gpukernels.errors import InvalidArgument
from gpukernels.trace import ATOMIC, REQUEST_KINDS, ArrayInfo, Trace
from gpukernels.trace.costs import SECTOR_BYTES, Cost, Costs
from gpukernels.views.encoding import pack, pack_lists
from gpukernels.views.widget import View, as_traces, check_step
from gpukernels.views.words import count, percent, under


@dataclass(frozen=True)
class Request:
    """One request: its warp, the elements that its lanes touch, and its cost."""

    array: ArrayInfo
    kind: int
    block: int
    warp: int
    line: int
    text: str
    lanes: np.ndarray
    index: np.ndarray
    value: np.ndarray
    crowded: np.ndarray  #: of each lane, whether its bank has to serve several words
    cost: Cost

    @property
    def shared(self) -> bool:
        """Whether it goes to shared memory."""
        return self.array.space == "shared"

    @property
    def turns(self) -> int:
        """Sectors moved (global) or passes over the banks (shared)."""
        return self.cost.passes if self.shared else self.cost.sectors


def read_requests(
    trace: Trace,
    *,
    launch: int | None,
    array: str | None,
    line: int | None,
    block: int | None,
    warp: int | None,
    limit: int,
) -> list[Request]:
    """Read the first `limit` requests to global or shared memory that fit every filter given."""
    r = trace.requests
    wanted = [
        i
        for i, a in enumerate(trace.arrays)
        if a.space in ("global", "shared") and array in (None, a.name)
    ]
    chosen = np.isin(r.array, wanted)
    for column, value in ((r.launch, launch), (r.line, line), (r.block, block), (r.warp, warp)):
        if value is not None:
            chosen &= column == value
    chosen &= np.cumsum(chosen) <= limit
    costs = Costs(trace, chosen)
    crowded = np.split(costs.crowded, np.cumsum(costs.lanes)[:-1])
    requests = []
    for k, row in enumerate(np.flatnonzero(chosen).tolist()):
        info = trace.arrays[r.array[row]]
        part = slice(int(r.start[row]), int(r.start[row + 1]))
        requests.append(
            Request(
                array=info,
                kind=int(r.kind[row]),
                block=int(r.block[row]),
                warp=int(r.warp[row]),
                line=int(r.line[row]),
                text=trace.text(int(r.source[row]), int(r.line[row])).strip(),
                lanes=r.lanes(row),
                index=r.index[part],
                value=r.value[part],
                crowded=crowded[k] & (info.space == "shared" and bool(costs.conflicts[k])),
                cost=costs.one(k),
            )
        )
    return requests


def sentence(number: int, request: Request) -> str:
    """Name the warp of a request, counted from 1, and the request's cost."""
    who = f"Request {number}, block {request.block}, warp {request.warp}: "
    c, lanes = request.cost, len(request.lanes)
    verb = {"load": "load", "store": "store to", "atomic": "update"}[REQUEST_KINDS[request.kind]]
    if lanes == 1:
        verb = {"load": "loads", "store to": "stores to", "update": "updates"}[verb]
    elements = c.useful // request.array.itemsize
    text = (
        who + f"{count(lanes, 'lane')} {verb} {count(elements, 'element')} of {request.array.name}"
    )
    if request.shared:
        if c.passes == 1:
            text += ": no bank has to serve two words, one pass."
        else:
            text += (
                f": a bank has to serve {c.passes} words, so {c.passes} passes follow each other."
            )
    else:
        moved = SECTOR_BYTES * c.sectors
        sectors, lines = count(c.sectors, "sector"), count(c.lines, "line")
        if request.kind == ATOMIC and c.same > 1:
            text += f" in {lines}, in {c.same} passes, which move {sectors} in all: "
        else:
            text += f" in {sectors} of {lines}: "
        if c.sectors == c.ideal:
            text += f"{moved:,} bytes move, as few as can be."
        else:
            share = percent(c.useful, moved)
            text += f"{moved:,} bytes move for {c.useful:,} that are wanted ({share})."
    if request.kind == ATOMIC and c.same > 1:
        text += f" {c.same} lanes update one element, one after another."
    return text


class MemoryView(View):
    """One request: 32 lanes, the elements they reach, the sectors or banks that answer.

    Parameters
    ----------
    traces : Trace or dict of str to Trace
        One recording, or several to switch between.
    launch : int, optional
        Only requests of this launch.
    array : str, optional
        Only requests to arrays of this name.
    line : int, optional
        Only requests of this source line.
    block, warp : int, optional
        Only requests of this block, this warp of a block; by default of the first of each.
    limit : int
        Most requests shown.
    choice : str
        Name of the list of traces ("Method").
    title, caption, name : str
        Words above and below; addresses call it ``#fig-name``, by default by its title.
    step : int
        Request shown first, from 0. The figure counts requests from 1.

    Attributes
    ----------
    step : int
        The request shown, from 0; may be set and observed.
    trace : str
        The recording shown, by its label; may be set and observed.

    Raises
    ------
    InvalidArgument
        If no request fits.

    Examples
    --------
    >>> import gpukernels as gk
    >>> with gk.trace() as t:
    ...     r = gk.bfs(gk.example(), method="frontier")
    >>> gk.MemoryView(t.trace)
    MemoryView(64 requests, 71 sectors)
    """

    _kind = "memory"

    def __init__(
        self,
        traces: Trace | dict[str, Trace],
        launch: int | None = None,
        array: str | None = None,
        line: int | None = None,
        *,
        block: int | None = 0,
        warp: int | None = 0,
        limit: int = 64,
        choice: str = "Trace",
        title: str = "One memory request of a warp",
        caption: str = "",
        name: str = "",
        step: int = 0,
    ) -> None:
        check_name_or_none("array", array)
        whole = {"launch": launch, "line": line, "block": block, "warp": warp}
        for option, value in whole.items():
            check_whole_or_none(option, value)
        if not is_whole(limit) or limit < 1:
            raise InvalidArgument("limit", limit, "at least 1")
        self._requests: dict[str, list[Request]] = {}
        for label, trace in as_traces(traces).items():
            requests = read_requests(
                trace, launch=launch, array=array, line=line, block=block, warp=warp, limit=limit
            )
            if not requests:
                place = f"launch={launch}, array={array!r}, line={line}, block={block}, warp={warp}"
                names = sorted({a.name for a in trace.arrays if a.space != "local"})
                raise InvalidArgument(
                    f"traces[{label!r}]" if label else "traces",
                    f"no request with {place}",
                    f"a trace with such requests; its arrays are {', '.join(names) or 'none'}",
                )
            self._requests[label] = requests
        labels = list(self._requests)
        check_step(step, len(self._requests[labels[0]]))
        every = [request for requests in self._requests.values() for request in requests]
        payload = {
            "choice": choice,
            "most": max(request.turns for request in every),
            "traces": [_trace_payload(label, self._requests[label]) for label in labels],
        }
        self._finish(payload, title=title, caption=caption, name=name, step=step, labels=labels)

    def _describe(self) -> str:
        return " ".join(
            f"{under(label)}"
            + " ".join(sentence(k, r) for k, r in enumerate(requests[:12], 1))
            + (f" And {count(len(requests) - 12, 'more request')}." if len(requests) > 12 else "")
            for label, requests in self._requests.items()
        )

    def _summary(self) -> str:
        return "; ".join(
            f"{under(label)}{count(len(requests), 'request')}, "
            f"{sum(r.turns for r in requests):,} {_unit(requests)}"
            for label, requests in self._requests.items()
        )


def _unit(requests: list[Request]) -> str:
    shared = {request.shared for request in requests}
    return "turns" if len(shared) > 1 else "passes" if True in shared else "sectors"


def _trace_payload(label: str, requests: list[Request]) -> dict[str, Any]:
    arrays = sorted({(r.array.name, r.array.itemsize, r.shared) for r in requests})
    texts = sorted({(r.line, r.text) for r in requests})
    return {
        "label": label,
        "steps": len(requests),
        "unit": _unit(requests),
        "arrays": [list(a) for a in arrays],
        "texts": [list(t) for t in texts],
        "array": pack([arrays.index((r.array.name, r.array.itemsize, r.shared)) for r in requests]),
        "text": pack([texts.index((r.line, r.text)) for r in requests]),
        "kind": pack([r.kind for r in requests]),
        "block": pack([r.block for r in requests]),
        "warp": pack([r.warp for r in requests]),
        "lanes": pack_lists([r.lanes for r in requests]),
        "index": pack_lists([r.index for r in requests]),
        "value": pack(np.concatenate([r.value for r in requests])),
        "crowded": pack(np.concatenate([r.crowded for r in requests])),
        "costs": pack(
            [
                [c.sectors, c.lines, c.ideal, c.useful, c.passes, c.same]
                for c in (r.cost for r in requests)
            ]
        ),
        "sentences": [sentence(k, r) for k, r in enumerate(requests, 1)],
    }
