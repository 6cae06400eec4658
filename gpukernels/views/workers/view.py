"""WorkersView: the tasks that each worker ran, in time, above the graph of tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpukernels.checks import check_text
from gpukernels.errors import InvalidArgument
from gpukernels.views.encoding import pack, pack_lists
from gpukernels.views.widget import View, check_step
from gpukernels.views.words import count, under

#: Kinds of tasks that have a look of their own.
MOST_KINDS = 6
MOST_TASKS = 300
COLUMNS = ("key", "worker", "begin", "end", "lost", "needs", "kind")


class WorkersView(View):
    """Runs of tasks by worker, in time, and Dask's graph of those tasks.

    Each bar is a run of a task by a worker. Each box is a task, and a line from one box to another
    means that the second task needs the result of the first. A step is the end of a run. A run that
    ends because its worker died is crossed out, and the task has another run.

    Parameters
    ----------
    runs : dict of str to sequence of TaskRun
        Runs recorded by `gpukernels.distributed.watched`, with a name for each list.
    kinds : dict of str to str
        Kinds of the tasks that are drawn, each with a name for readers. At most six.
    choice : str
        Name of the list of runs.
    title, caption, name : str
        Words above and below; addresses call it ``#fig-name``, by default by its title.
    step : int
        Number of runs that have ended in the step shown first.

    Attributes
    ----------
    step : int
        The step shown; may be set and observed.
    trace : str
        The runs shown, by their name; may be set and observed.

    Raises
    ------
    InvalidArgument
        If there is nothing to draw, more than 300 tasks, or a run ends before it begins.

    Examples
    --------
    >>> import gpukernels as gk
    >>> from gpukernels.distributed import TaskRun
    >>> runs = [
    ...     TaskRun("close-0", "a", 0.0, 0.2, False, ()),
    ...     TaskRun("close-1", "b", 0.0, 0.1, True, ()),
    ...     TaskRun("close-1", "a", 0.2, 0.4, False, ()),
    ...     TaskRun("join-0", "a", 0.4, 0.5, False, ("close-0", "close-1")),
    ... ]
    >>> gk.WorkersView({"one dies": runs}, {"close": "close a part", "join": "join"})
    WorkersView(one dies: 3 tasks, 4 runs, 2 workers)
    """

    _kind = "workers"

    def __init__(
        self,
        runs: dict[str, Sequence[Any]],
        kinds: Mapping[str, str],
        *,
        choice: str = "Run",
        title: str = "What the workers did",
        caption: str = "",
        name: str = "",
        step: int = 0,
    ) -> None:
        self._kinds = _checked_kinds(kinds)
        if not isinstance(runs, dict) or not runs:
            raise InvalidArgument("runs", runs, "a non-empty dict of names to sequences of TaskRun")
        self._runs = {label: self._chosen(label, of) for label, of in runs.items()}
        labels = list(self._runs)
        check_step(step, len(self._runs[labels[0]]) + 1)
        payload = {
            "choice": choice,
            "kinds": list(self._kinds.values()),
            "traces": [self._trace_payload(label) for label in labels],
        }
        self._finish(payload, title=title, caption=caption, name=name, step=step, labels=labels)

    def _chosen(self, label: Any, runs: Any) -> list[Any]:
        argument = f"runs[{label!r}]"
        if not isinstance(label, str) or not label or not isinstance(runs, list | tuple):
            raise InvalidArgument(argument, runs, "a sequence of TaskRun, under a name")
        if not all(hasattr(run, part) for run in runs for part in COLUMNS):
            raise InvalidArgument(argument, runs, "a sequence of TaskRun")
        chosen = sorted(
            (run for run in runs if run.kind in self._kinds), key=lambda r: (r.end, r.begin, r.key)
        )
        if not chosen or len({run.key for run in chosen}) > MOST_TASKS:
            allowed = f"runs of 1 to {MOST_TASKS} tasks of the kinds {list(self._kinds)}"
            raise InvalidArgument(argument, f"{len(chosen)} such runs", allowed)
        for run in chosen:
            if not 0 <= run.begin <= run.end:
                allowed = "runs that begin at 0 or later and end after that"
                raise InvalidArgument(argument, run, allowed)
        return chosen

    def _trace_payload(self, label: str) -> dict[str, Any]:
        runs = self._runs[label]
        workers, tasks = _workers(runs), _tasks(runs)
        needs = {run.key: [tasks[k] for k in run.needs if k in tasks] for run in runs}
        depth = _depths([needs[key] for key in tasks])
        kinds, first = list(self._kinds), min(run.begin for run in runs)
        kind_of = {run.key: kinds.index(run.kind) for run in runs}
        return {
            "label": label,
            "steps": len(runs) + 1,
            "workers": len(workers),
            "task": pack([tasks[run.key] for run in runs]),
            "worker": pack([workers[run.worker] for run in runs]),
            "begin": pack([round(1e3 * (run.begin - first)) for run in runs]),
            "end": pack([round(1e3 * (run.end - first)) for run in runs]),
            "lost": pack([run.lost for run in runs]),
            "kind": pack([kind_of[key] for key in tasks]),
            "names": [_name(key) for key in tasks],
            "needs": pack_lists([needs[key] for key in tasks]),
            "depth": pack(depth),
            "sentences": [
                self._sentence(runs, workers, step, first) for step in range(len(runs) + 1)
            ],
        }

    def _sentence(self, runs: list[Any], workers: dict[str, int], step: int, first: float) -> str:
        if not step:
            return f"{count(len(_tasks(runs)), 'task')} for {count(len(workers), 'worker')}."
        run = runs[step - 1]
        who, what = f"worker {workers[run.worker]}", self._kinds[run.kind]
        at = f"{1e3 * (run.end - first):,.0f} ms"
        if run.lost:
            return f"{at}: {who} dies in the middle of a task ({what}). Its results are gone."
        before = [other for other in runs[: step - 1] if other.key == run.key]
        took = f"{1e3 * (run.end - run.begin):,.0f} ms"
        text = f"{at}: {who} has done a task ({what}) in {took}"
        if any(not other.lost for other in before):
            text += ", done again"
        elif before:
            text += ", which a worker that died had begun"
        return text + "."

    def _describe(self) -> str:
        return " ".join(
            f"{under(label)}{self._counts(runs)}. "
            + " ".join(
                f"Worker {at}: {count(sum(r.worker == who for r in runs), 'run')}"
                f"{', then it dies' if any(r.lost and r.worker == who for r in runs) else ''}."
                for who, at in _workers(runs).items()
            )
            for label, runs in self._runs.items()
        )

    def _counts(self, runs: list[Any]) -> str:
        return (
            f"{count(len(_tasks(runs)), 'task')}, {count(len(runs), 'run')}, "
            f"{count(len(_workers(runs)), 'worker')}"
        )

    def _summary(self) -> str:
        return "; ".join(f"{under(label)}{self._counts(r)}" for label, r in self._runs.items())


def _checked_kinds(kinds: Any) -> dict[str, str]:
    if not isinstance(kinds, Mapping) or not 0 < len(kinds) <= MOST_KINDS:
        raise InvalidArgument("kinds", kinds, f"a dict of 1 to {MOST_KINDS} kinds to their names")
    for kind, words in kinds.items():
        check_text("a kind", kind)
        check_text(f"kinds[{kind!r}]", words)
    return dict(kinds)


def _workers(runs: list[Any]) -> dict[str, int]:
    """Return workers by their first run."""
    order = sorted(runs, key=lambda run: (run.begin, run.worker))
    return {worker: at for at, worker in enumerate(dict.fromkeys(run.worker for run in order))}


def _tasks(runs: list[Any]) -> dict[str, int]:
    """Return a number for each task, in the order of the tasks' first runs."""
    order = sorted(runs, key=lambda run: (run.begin, run.key))
    return {key: at for at, key in enumerate(dict.fromkeys(run.key for run in order))}


def _depths(needs: list[list[int]]) -> np.ndarray:
    """Return the number of tasks before each task, on the longest path to it."""
    depth = np.full(len(needs), -1)
    for start in range(len(needs)):
        waiting = [start]
        while waiting:
            at = waiting[-1]
            before = [k for k in needs[at] if depth[k] < 0 and k not in waiting]
            if before:
                waiting.append(before[0])
                continue
            depth[at] = 1 + max((int(depth[k]) for k in needs[at]), default=-1)
            waiting.pop()
    return depth


def _name(key: str) -> str:
    """Return the part of a task's key without its kind and its number."""
    return key.partition("-")[2].rpartition("-")[0]
