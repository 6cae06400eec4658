"""Record the work of workers: each task's begin and end, as Dask reports them.

A plugin in each worker reports the begin and the end of each task to the scheduler. A plugin in
the scheduler reports the inputs of each task, and workers that are gone. If a worker dies, its
running tasks end at the moment at which the scheduler missed it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from gpukernels.checks import needed

TOPIC = "gpukernels: tasks"
#: Seconds that a report may be on its way.
PATIENCE = 10.0


class TaskRun(NamedTuple):
    """One run of a task on a worker; a task whose worker dies has another.

    Dask's name of the task, `key`, is up to the first dash the kind of work, and then its object.
    `begin` and `end` are seconds since the watch began. A run is `lost` if its worker died before
    the end. `needs` are the keys of the tasks whose results it takes.
    """

    key: str
    worker: str
    begin: float
    end: float
    lost: bool
    needs: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The kind of work, in one word."""
        return self.key.partition("-")[0]


class Watch:
    """The tasks that were seen: `runs`, by their begin, filled when the watch ends."""

    def __init__(self):
        self.runs: list[TaskRun] = []
        self._events: list[dict[str, Any]] = []

    def hear(self, event: tuple[float, dict[str, Any]]) -> None:
        """Keep an event; Dask itself keeps only the last thousand."""
        self._events.append(event[1])

    def running(self, kind: str) -> set[str]:
        """Return the addresses of workers that have begun such a task and not ended it."""
        begun = {}
        for event in list(self._events):
            if event["what"] == "begins" and event["key"].startswith(f"{kind}-"):
                begun[event["key"], event["worker"]] = event["worker"]
            elif event["what"] == "ends":
                begun.pop((event["key"], event["worker"]), None)
        return set(begun.values())


def runs_of(events: list[dict[str, Any]], begin: float) -> tuple[list[TaskRun], bool]:
    """Return the runs in the events, and whether all of them have ended."""
    needs = {e["key"]: tuple(e["needs"]) for e in events if e["what"] == "waits"}
    gone = {e["worker"]: e["at"] for e in events if e["what"] == "gone"}
    ends: dict[tuple[str, str], list[float]] = {}
    for event in events:
        if event["what"] == "ends":
            ends.setdefault((event["key"], event["worker"]), []).append(event["at"])
    runs, all_ended = [], True
    for event in events:
        if event["what"] != "begins":
            continue
        key, worker, at = event["key"], event["worker"], event["at"]
        after = [end for end in ends.get((key, worker), []) if end >= at]
        end = min(after) if after else gone.get(worker)
        if end is None:
            all_ended = False
            continue
        runs.append(TaskRun(key, worker, at - begin, end - begin, not after, needs.get(key, ())))
    return sorted(runs, key=lambda run: (run.begin, run.key)), all_ended


@contextmanager
def watched(client: Any) -> Iterator[Watch]:
    """Watch the workers of `client`, which may come and go; yield the watch."""
    worker_plugin, scheduler_plugin = _plugins()
    begin, watch = time.time(), Watch()
    client.subscribe_topic(TOPIC, watch.hear)
    client.register_plugin(worker_plugin)
    client.register_plugin(scheduler_plugin)
    try:
        yield watch
        late = time.monotonic() + PATIENCE
        while True:
            events = [e for e in list(watch._events) if e["at"] >= begin]
            watch.runs, all_ended = runs_of(events, begin)
            if all_ended or time.monotonic() > late:
                break
            time.sleep(0.05)
    finally:
        client.unsubscribe_topic(TOPIC)
        client.unregister_worker_plugin(worker_plugin.name)
        client.unregister_scheduler_plugin(scheduler_plugin.name)


def _plugins() -> tuple[Any, Any]:
    """Return the plugins that report tasks of a worker, and tasks and workers of the scheduler."""
    distributed = needed("distributed", "dask")

    class TellsOfTasks(distributed.WorkerPlugin):
        name = "gpukernels: tells of tasks"

        def setup(self, worker):
            self.worker = worker

        def transition(self, key, start, finish, **_):
            what = "begins" if finish == "executing" else "ends" if start == "executing" else ""
            if what:
                event = {"what": what, "key": str(key), "at": time.time()}
                self.worker.log_event(TOPIC, event | {"worker": self.worker.address})

    class TellsOfWorkers(distributed.SchedulerPlugin):
        name = "gpukernels: tells of workers"

        def start(self, scheduler):
            self.scheduler = scheduler

        def transition(self, key, start, finish, *args, **_):
            if finish in ("waiting", "processing", "queued", "no-worker") and start == "released":
                needs = [str(task.key) for task in self.scheduler.tasks[key].dependencies]
                event = {"what": "waits", "key": str(key), "needs": sorted(needs)}
                self.scheduler.log_event(TOPIC, event | {"at": time.time()})

        def remove_worker(self, scheduler, worker, **_):
            event = {"what": "gone", "worker": worker, "at": time.time()}
            scheduler.log_event(TOPIC, event)

    return TellsOfTasks(), TellsOfWorkers()
