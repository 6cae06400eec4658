"""Work on tiles as tasks of Dask; errors name the tile."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpukernels.checks import needed
from gpukernels.errors import InvalidArgument, NegativeCycleError, NegativeWeightError, TileError

#: Errors of a search about its input; their messages are the same wherever the search runs.
OF_INPUT = (
    InvalidArgument, NegativeCycleError, NegativeWeightError, OverflowError, FloatingPointError,
)  # fmt: skip
SMALLER = "ask for smaller tiles: less memory=, a smaller batch= or block=, or more parts="
#: A worker's device does one thing at a time, however many threads the worker has.
_ONE_AT_A_TIME = threading.Lock()


def run_tile(call: str, name: str, work: Callable[..., Any], *args: Any) -> Any:
    """Return the result of the work on a tile; errors name the tile.

    TileError if it fails by no fault of the input.
    """
    with _ONE_AT_A_TIME:
        try:
            return work(*args)
        except OF_INPUT as error:
            error.add_note(f"found by gk.{call}, {name}")
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}{advice(error)}"
            raise TileError(call, name, reason) from error


def task(client: Any, call: str, name: str, work: Callable[..., Any], *args: Any) -> Any:
    """Return the result of `work`, done here; or a future of it, if there is a client."""
    if client is None:
        return work(*args)
    return client.submit(run_tile, call, name, work, *args, key=_key(work, name), pure=False)


def mapped(
    client: Any, call: str, names: Sequence[str], work: Callable[..., Any], takes: Sequence[tuple]
) -> list[Any]:
    """Return the results of `work` for each of `takes`, its arguments: done here, or futures."""
    if client is None:
        return [work(*args) for args in takes]
    return submitted(client, call, names, work, takes, [_key(work, name) for name in names])


def submitted(
    client: Any,
    call: str,
    names: Sequence[str],
    work: Callable[..., Any],
    takes: Sequence[tuple],
    keys: Sequence[str],
) -> list[Any]:
    """Return a future for each of `takes`, of the key given.

    All go by one message: to submit a task takes a client as long as a GPU takes for some searches.
    """
    if not takes:
        return []
    calls = [(call, name, work, *args) for name, args in zip(names, takes, strict=True)]
    return client.map(run_tile, *map(list, zip(*calls, strict=True)), key=list(keys), pure=False)


def _key(work: Callable[..., Any], name: str) -> str:
    """Return a new key: Dask shows it, up to the first dash."""
    return f"{work.__name__}-{name}-{uuid.uuid4().hex[:8]}"


def advice(error: Exception) -> str:
    """Return a remedy to add to an error's message if memory was short; else an empty text."""
    short = isinstance(error, MemoryError) or "out_of_memory" in str(error).lower()
    return f"; {SMALLER}" if short else ""


def result_of(call: str, future: Any, names: Mapping[str, str]) -> Any:
    """Return the result of a future; an error names a task that has killed its workers."""
    return named(call, future.result, names)


def named(call: str, ask: Callable[[], Any], names: Mapping[str, str]) -> Any:
    """Return ``ask()``, a request to workers; an error names a task that has killed them."""
    killed = needed("distributed.scheduler", "dask").KilledWorker
    try:
        return ask()
    except killed as error:
        name = names.get(str(error.task), str(error.task))
        reason = f"its worker died again and again; if memory was short, {SMALLER}"
        raise TileError(call, name, reason) from error


def cancel(futures: Sequence[Any]) -> None:
    """Let workers forget futures."""
    for future in futures:
        future.cancel()
