"""TileView: Floyd-Warshall on a matrix, plain or tile by tile, on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpukernels.checks import check_text
from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.views.encoding import pack, pack_lists
from gpukernels.views.tile.run import Frame, TileRun, read_tile_run
from gpukernels.views.widget import View, as_traces, check_step
from gpukernels.views.words import count, under

#: Runs that one figure draws: more rows would not fit above the pictures.
MOST_RUNS = 6
CLOCKS = ("bytes", "launches")


class TileView(View):
    """Floyd-Warshall side by side: which tiles a launch reads, keeps in shared memory and writes.

    Two runs are drawn at a time: the matrix in global memory, and the changes by the current
    launch. For a run in tiles, a second picture shows one block: the registers of its threads, and
    the parts of the two tiles that it multiplies in shared memory. The part of a launch between two
    barriers is one frame, and so is a launch without barriers.

    Parameters
    ----------
    traces : Trace, or dict of str to Trace
        A run of ``gk.apsp`` by ``"naive"`` or ``"blocked"``, or several on one matrix by their
        names, each from its first launch to its last. Up to 64 rows are drawn. The kernels must
        name the matrix ``distance``.
    clock : str or sequence of str
        The quantity that is equal in runs that play together: ``"bytes"`` moved between global
        memory and the chip, or ``"launches"`` begun. If there are several clocks, a reader chooses
        one.
    dial : str
        Name of a parameter, if the runs differ only in its value and are in its order
        ("per_thread"). The second picture then has a slider over the runs instead of a list.
    choice : str
        Name of the list of clocks.
    title, caption, name : str
        Words above and below; addresses call it ``#fig-name``, by default by its title.
    step : int
        Number of frames done in the picture shown first.

    Attributes
    ----------
    step : int
        The frame shown; may be set and observed.
    trace : str
        The clock, by its name; may be set and observed.

    Raises
    ------
    InvalidArgument
        If a trace cannot be drawn: it has no square matrix ``distance``, too large a one, another
        one than the run before, or does not begin where the method does.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.random_weights(gk.erdos_renyi(48, 3.0, seed=3), seed=2)
    >>> runs = {}
    >>> for method, options in ("naive", {}), ("blocked", {"tile": 16, "per_thread": "4x4"}):
    ...     with gk.trace() as t:
    ...         r = gk.apsp(g, method, **options)
    ...     runs[method] = t
    >>> gk.TileView(runs)
    TileView(48 rows; naive: 48 launches, blocked: 9 launches)
    """

    _kind = "tile"

    def __init__(
        self,
        traces: Trace | dict[str, Trace],
        *,
        clock: str | Sequence[str] = CLOCKS,
        dial: str = "",
        choice: str = "Clock",
        title: str = "All pairs, tile by tile",
        caption: str = "",
        name: str = "",
        step: int = 0,
    ) -> None:
        all_traces = as_traces(traces)
        if len(all_traces) > MOST_RUNS:
            raise InvalidArgument("traces", f"{len(all_traces)} runs", f"at most {MOST_RUNS}")
        clocks = _clocks(clock)
        check_text("dial", dial)
        self._runs: dict[str, TileRun] = {}
        for label, trace in all_traces.items():
            check_text(f"label {label!r}", label)
            argument = f"traces[{label!r}]" if label else "traces"
            self._runs[label] = read_tile_run(trace, argument)
            _check_same(self._runs, label, argument)
        # With one run there is nothing to line up.
        clocks = clocks if len(all_traces) > 1 else clocks[:1]
        runs = list(self._runs.values())
        entries = [_clock_payload(label, runs) for label in clocks]
        check_step(step, entries[0]["steps"])
        lengths = _lengths(runs)
        payload = {
            "choice": choice,
            "dial": dial,
            "lengths": _packed(lengths, runs),
            "shades": _shades(runs),
            "runs": [_run_payload(name, run, lengths) for name, run in self._runs.items()],
            "traces": entries,
        }
        self._finish(payload, title=title, caption=caption, name=name, step=step, labels=clocks)

    def _describe(self) -> str:
        rows = min(run.rows for run in self._runs.values())
        sentences = [f"A matrix of {rows} rows and columns."]
        for name, run in self._runs.items():
            moved, done, shared = (
                sum(getattr(frame, column) for frame in run.frames)
                for column in ("bytes", "operations", "shared")
            )
            shape = f"tiles of {run.tile} rows, " if run.tile else ""
            sentences.append(
                f"{under(name)}{shape}{count(len(run.launches), 'launch', 'launches')}, "
                f"{count(moved, 'byte')} from and to global memory, {count(done, 'operation')}, "
                f"{count(shared, 'request')} to shared memory."
            )
        tiled = [run for run in self._runs.values() if len(_order(run)) > 1]
        if tiled:
            sentences.append("Tiles are written in this order. " + _order_in_words(tiled[0]))
        return " ".join(sentences)

    def _summary(self) -> str:
        rows = min(run.rows for run in self._runs.values())
        return f"{count(rows, 'row')}; " + ", ".join(
            f"{under(name)}{count(len(run.launches), 'launch', 'launches')}"
            for name, run in self._runs.items()
        )


def _clocks(clock: Any) -> list[str]:
    chosen = [clock] if isinstance(clock, str) else clock
    fits = isinstance(chosen, list | tuple) and chosen and all(isinstance(c, str) for c in chosen)
    if not fits or not set(chosen) <= set(CLOCKS) or len(set(chosen)) < len(chosen):
        raise InvalidArgument("clock", clock, f"one of {CLOCKS}, or several of them")
    return list(chosen)


def _check_same(runs: dict[str, TileRun], name: str, argument: str) -> None:
    """Refuse a run that does not begin with the matrix of the first; one of them may be padded."""
    first, own = next(iter(runs.values())), runs[name]
    n = min(first.rows, own.rows)
    before, after = (
        np.reshape(lengths, (run.rows, run.rows))[:n, :n]
        for run in (first, own)
        for lengths in (run.start,)
    )
    wrong = np.argwhere(before != after)
    if wrong.size:
        i, j = wrong[0].tolist()
        raise InvalidArgument(
            argument,
            f"{after[i, j]:g} at ({i}, {j}) at first",
            f"a run on the matrix of the first, which has {before[i, j]:g} there",
        )


def _order(run: TileRun) -> list[list[int]]:
    return [sorted(launch.tiles.values()) for launch in run.launches if launch.tiles]


def _order_in_words(run: TileRun) -> str:
    per_row = run.rows // run.tile
    sentences = []
    for k, tiles in enumerate(_order(run)):
        names = ", ".join(f"({t // per_row}, {t % per_row})" for t in tiles)
        sentences.append(f"Launch {k + 1}: {names}.")
    return " ".join(sentences)


def _lengths(runs: list[TileRun]) -> np.ndarray:
    """Return every finite length that occurs, ascending: records name lengths by their place."""
    arrays = [run.start for run in runs]
    arrays += [part for run in runs for frame in run.frames for part in _lengths_of(frame)]
    every = np.unique(np.concatenate(arrays))
    return every[np.isfinite(every)]


def _lengths_of(frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    return frame.length, frame.kept_length


def _packed(lengths: np.ndarray, runs: list[TileRun]) -> str:
    whole = all(run.whole for run in runs)
    return pack(lengths.astype(np.int64) if whole else lengths.astype(np.float32))


def _shades(runs: list[TileRun]) -> list[float]:
    """Return the smallest and the largest final length, without the diagonal."""
    final = [run.final[np.arange(run.rows**2) % (run.rows + 1) != 0] for run in runs]
    finite = [lengths[np.isfinite(lengths)] for lengths in final]
    every = np.concatenate(finite)
    return [float(every.min()), float(every.max())] if every.size else [0.0, 0.0]


def _clock_payload(label: str, runs: list[TileRun]) -> dict[str, Any]:
    """Return the number of finished frames of each run in each step of a clock, and its values.

    Frames in which the clock does not advance are shown one after another; the frame of another run
    at this moment is shown together with the first of them.
    """
    ends = []
    for run in runs:
        if label == "bytes":
            ends.append(np.cumsum([frame.bytes for frame in run.frames], dtype=np.int64))
        else:
            ends.append(np.array([frame.launch + 1 for frame in run.frames], dtype=np.int64))
    values, at = [0], [[0] for _ in runs]
    for moment in np.unique(np.concatenate(ends)).tolist():
        over = [int(np.searchsorted(end, moment, side="right")) for end in ends]
        longest = max(now - own[-1] for now, own in zip(over, at, strict=True))
        before = [own[-1] for own in at]
        for k in range(1, longest + 1):
            values.append(moment)
            for now, was, own in zip(over, before, at, strict=True):
                own.append(min(was + k, now))
    return {
        "label": label,
        "steps": len(values),
        "value": pack(values),
        "at": [pack(own) for own in at],
    }


def _run_payload(name: str, run: TileRun, lengths: np.ndarray) -> dict[str, Any]:
    def coded(values: np.ndarray) -> np.ndarray:
        # One beyond the last stands for infinity.
        return np.searchsorted(lengths, values)

    def columns(name: str) -> list[np.ndarray]:
        return [getattr(frame, name) for frame in run.frames]

    owners = list(dict.fromkeys(tuple(launch.owner.tolist()) for launch in run.launches))
    arrays = list(dict.fromkeys(
        box.array for frame in run.frames for own in frame.boxes.values() for box in own
    ))  # fmt: skip
    return {
        "label": name,
        "rows": run.rows,
        "tile": run.tile,
        "start": pack(coded(run.start)),
        "kind": pack([launch.kind for launch in run.launches]),
        "threads": pack([launch.threads for launch in run.launches]),
        "blocks": pack([launch.blocks for launch in run.launches]),
        "owners": [pack(owner) for owner in owners],
        "owner": pack([owners.index(tuple(launch.owner.tolist())) for launch in run.launches]),
        "block": pack_lists([list(launch.tiles) for launch in run.launches]),
        "tiles": pack_lists([list(launch.tiles.values()) for launch in run.launches]),
        "reads": pack_lists([t for launch in run.launches for t in launch.reads.values()]),
        **{
            part: pack(columns(part)) for part in ("launch", "bytes", "operations", "shared")
        },
        "pivots": pack([p for frame in run.frames for p in frame.pivots]),
        "lowered": pack_lists(columns("lowered")),
        "length": pack(coded(np.concatenate([[], *columns("length")]))),
        "kept": pack_lists(columns("kept")),
        "keptLength": pack(coded(np.concatenate([[], *columns("kept_length")]))),
        "writes": pack_lists([_written(run, frame) for frame in run.frames]),
        "arrays": arrays,
        "boxes": pack_lists([_boxes(run, frame, arrays) for frame in run.frames]),
    }  # fmt: skip


def _written(run: TileRun, frame: Frame) -> list[int]:
    tiles = run.launches[frame.launch].tiles
    return [tiles[block] for block in frame.writers if block in tiles]


def _boxes(run: TileRun, frame: Frame, arrays: list[str]) -> list[int]:
    """Return the boxes of a frame end to end: tile, array, rows, columns and state of each."""
    tiles = run.launches[frame.launch].tiles
    return [
        number
        for block, own in frame.boxes.items()
        if block in tiles
        for box in own
        for number in (tiles[block], arrays.index(box.array), *box.rows, *box.columns, box.state)
    ]
