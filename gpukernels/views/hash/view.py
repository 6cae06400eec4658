"""HashView: the table of the hash64 filter, store by store and read by read."""

from __future__ import annotations

from typing import Any

from gpukernels.checks import check_whole_or_none, is_whole
from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.views.encoding import pack, pack_lists
from gpukernels.views.hash.record import (
    DUPLICATE,
    READS,
    HashRecord,
    read_hash,
)
from gpukernels.views.hash.words import headline, outcome, sentence, story
from gpukernels.views.widget import View, as_traces, check_step
from gpukernels.views.words import count, under

#: Most slots that can be drawn.
MOST_SLOTS = 2048
#: Vertices that can be followed.
FOLLOWED = 16


def choices(record: HashRecord) -> list[int]:
    """Return the vertices that can be followed, ascending.

    Vertices stored more than once come first, most stores first, then vertices that share a slot.
    """
    several = record.several()
    shared = sorted(record.sharing() - several.keys())
    often = sorted(several, key=lambda v: (-len(several[v]), v))
    return sorted([*often, *shared][:FOLLOWED])


def _instructive(records: list[HashRecord]) -> int:
    """Return a vertex whose verdicts differ between the traces; otherwise one that is missed."""
    every = sorted({v for r in records for v in set(choices(r)) & r.several().keys()})
    if not every:
        return records[0].words[0].vertex
    fates = {v: [record.outcome(v)[:3] for record in records] for v in every}
    return min(
        every,
        key=lambda v: (
            len(set(fates[v])) == 1,
            not any(missed for _, _, missed in fates[v]),
            *(fates[v][0][i] for i in (2, 0)),
            v,
        ),
    )


class HashView(View):
    """The table of a hash64 filter: words that lanes store, slots where they meet, words read back.

    A step is one request of a warp to the table. In the first, each lane stores a word: the vertex
    that it has found, and its thread. In the second, it reads the same slot back. A lane that reads
    its own word keeps its vertex (valid). A lane that reads its vertex with another thread drops it
    (duplicate). A lane that reads another vertex cannot decide and keeps its own (conflict). A
    duplicate is missed if a vertex is kept that had been kept before.

    Other warps may store between the two steps, depending on the schedule, so a figure may show
    several schedules. Each block has its own table; blocks are shown one after another. A vertex
    that is stored more than once, or shares its slot with another, can be followed through all
    steps.

    Parameters
    ----------
    traces : Trace or dict of str to Trace
        One recording, or several to switch between. The table is an array of 64-bit integers in
        shared memory that holds ``vertex << 32 | thread``.
    launch : int, optional
        Index of the launch; by default, in each trace, the launch that stores most words.
    block : int, optional
        Only this block.
    array : str
        Name of the table in the kernel.
    vertex : int, optional
        The vertex that is followed at first; by default one whose verdicts differ between the
        traces, or one that is missed.
    limit : int
        Most steps shown of a trace.
    choice : str
        Name of the list of traces ("Schedule").
    title, caption, name : str
        Words above and below, by default the kernel's name above; addresses call it ``#fig-name``,
        by default by its title.
    step : int, optional
        Step shown first, from 0; by default the first read of the followed vertex that decides
        whether it is a duplicate. The figure counts steps from 1.

    Attributes
    ----------
    step : int
        The step shown, from 0; may be set and observed.
    trace : str
        The recording shown, by its label; may be set and observed.

    Raises
    ------
    InvalidArgument
        If nothing was stored to such a table in such a launch or block, if it has more than 2,048
        slots, or if `vertex` was never stored.

    Examples
    --------
    >>> import gpukernels as gk
    >>> graph = gk.road_grid(6, 7, seed=1)
    >>> with gk.trace() as t:
    ...     result = gk.bfs(graph, method="expand_contract", duplicates="hash64")
    >>> gk.HashView(t)  # doctest: +ELLIPSIS
    HashView(expand_and_contract; 9 words stored, 4 duplicates detected, ...)
    """

    _kind = "hash"

    def __init__(
        self,
        traces: Trace | dict[str, Trace],
        launch: int | None = None,
        block: int | None = None,
        *,
        array: str = "hash_table",
        vertex: int | None = None,
        limit: int = 96,
        choice: str = "Trace",
        title: str | None = None,
        caption: str = "",
        name: str = "",
        step: int | None = None,
    ) -> None:
        check_whole_or_none("vertex", vertex)
        if not is_whole(limit) or limit < 1:
            raise InvalidArgument("limit", limit, "at least 1")
        self._records: dict[str, HashRecord] = {}
        for label, trace in as_traces(traces).items():
            argument = f"traces[{label!r}]" if label else "traces"
            record = read_hash(trace, launch, block, array, limit, argument)
            if record.slots > MOST_SLOTS:
                raise InvalidArgument(argument, f"{record.slots} slots", f"at most {MOST_SLOTS}")
            self._records[label] = record
        records = list(self._records.values())
        if vertex is None:
            vertex = _instructive(records)
        elif not any(record.outcome(vertex)[0] for record in records):
            raise InvalidArgument("vertex", vertex, f"a vertex that is stored to {array}")
        self._vertex, self._kernel = vertex, records[0].kernel
        step = _telling(records[0], vertex) if step is None else step
        check_step(step, len(records[0].steps))
        payload = {
            "choice": choice,
            "vertex": vertex,
            "traces": [
                _payload(label, record, sorted({*choices(record), vertex}))
                for label, record in self._records.items()
            ],
        }
        self._finish(
            payload,
            title=f"{self._kernel}: {array}, step by step" if title is None else title,
            caption=caption,
            name=name,
            step=step,
            labels=list(self._records),
        )

    def _describe(self) -> str:
        sentences = []
        for label, record in self._records.items():
            shown = min(len(record.steps), 16)
            parts = [
                f"{under(label)}{count(record.slots, 'slot')}.",
                *(sentence(record, k) for k in range(shown)),
            ]
            if len(record.steps) > shown:
                parts.append(f"And {count(len(record.steps) - shown, 'more step')}.")
            if record.left_out:
                parts.append(f"{count(record.left_out, 'later step')} left out.")
            parts.append(f"In the end: {outcome(record)}.")
            parts.append(headline(record, self._vertex))
            parts.append("; ".join(line for _, line in story(record, self._vertex)) + ".")
            sentences.append(" ".join(parts))
        return " ".join(sentences)

    def _summary(self) -> str:
        runs = "; ".join(
            f"{under(label)}{outcome(record)}" for label, record in self._records.items()
        )
        return f"{self._kernel}; {runs}"


def _telling(record: HashRecord, vertex: int) -> int:
    for k, step in enumerate(record.steps):
        words = [record.words[i] for i in step.words]
        mine = [w for w in words if w.vertex == vertex]
        if step.kind == READS and any(w.verdict == DUPLICATE or w.kept for w in mine):
            return k
    return len(record.steps) - 1


def _payload(label: str, record: HashRecord, followed: list[int]) -> dict[str, Any]:
    texts = sorted({(step.line, step.text) for step in record.steps})
    words = record.words
    return {
        "label": label,
        "steps": len(record.steps),
        "slots": record.slots,
        "array": record.array,
        "warps": record.warps,
        "kind": pack([step.kind for step in record.steps]),
        "block": pack([step.block for step in record.steps]),
        "warp": pack([step.warp for step in record.steps]),
        "words": pack_lists([step.words for step in record.steps]),
        "cleared": pack_lists([step.cleared for step in record.steps]),
        "lane": pack([word.lane for word in words]),
        "slot": pack([word.slot for word in words]),
        "vertex": pack([word.vertex for word in words]),
        "thread": pack([min(word.thread, 2**31 - 1) for word in words]),
        "verdict": pack([word.verdict for word in words]),
        "seen": pack([word.seen for word in words]),
        "kept": pack([word.kept for word in words]),
        "texts": [list(t) for t in texts],
        "text": pack([texts.index((step.line, step.text)) for step in record.steps]),
        "sentences": [sentence(record, k) for k in range(len(record.steps))],
        "followed": followed,
        "heads": [headline(record, v) for v in followed],
        "stories": [[list(line) for line in story(record, v)] for v in followed],
    }
