"""WorkersView's record: runs in order, what each task needs, and what a death takes along."""

from __future__ import annotations

import re

import pytest
from javascript import asked
from worked_tasks import worked

from gpukernels.views import WorkersView
from gpukernels.views.encoding import unpack

KINDS = {"close": "close a part", "join": "join all"}
#: The paths of boxes that are filled.
FILLED = asked(
    ["workers"],
    """(trace, step) => {
      const picture = boxesPicture(readWorkers(trace, ["a", "b"]));
      picture.show(step);
      const filled = ["gk-f-wait", "gk-f-new"];
      const look = (node) => node.getAttribute("class");
      const paths = picture.svg.children.filter((node) => filled.includes(look(node)));
      return paths.map((path) => path.getAttribute("d"));
    }""",
)

#: The names and the texts of the counters.
COUNTED = asked(
    ["workers"],
    """(trace, step) => workersCounters(readWorkers(trace, ["a", "b"]), step)
      .map(([, name, text]) => [name, text])""",
)


def test_the_record_holds_each_run_in_the_order_of_ends():
    runs = worked(dies=3)
    (trace,) = WorkersView({"one dies": runs[::-1]}, KINDS).payload["traces"]
    assert trace["steps"] == len(runs) + 1 == 9
    assert unpack(trace["end"]).tolist() == [round(1e3 * run.end) for run in runs]
    assert unpack(trace["lost"]).tolist() == [run.lost for run in runs]
    assert unpack(trace["task"]).tolist() == [0, 1, 2, 3, 3, 4, 5, 6]
    assert unpack(trace["worker"]).tolist() == [0, 1, 0, 1, 0, 0, 0, 0]
    assert unpack(trace["depth"]).tolist() == [0] * 6 + [1]
    at, of = unpack(trace["needs"]["at"]), unpack(trace["needs"]["of"])
    assert of[at[6] : at[7]].tolist() == [0, 1, 2, 3, 4, 5]
    assert trace["names"] == [*(f"part {k}" for k in range(6)), ""]
    assert trace["sentences"][0] == "7 tasks for 2 workers."
    assert "worker 1 dies in the middle of a task (close a part)" in trace["sentences"][4]
    assert trace["sentences"][5].startswith("400 ms: worker 0 has done a task (close a part)")


def test_a_task_that_is_done_twice_is_told_so():
    runs = [*worked(tasks=2), worked(tasks=2)[0]._replace(begin=0.6, end=0.8)]
    (trace,) = WorkersView({"again": runs}, KINDS).payload["traces"]
    assert trace["sentences"][-1] == (
        "800 ms: worker 0 has done a task (close a part) in 200 ms, done again."
    )


@pytest.mark.parametrize("dies", [None, 0, 3])
def test_sentences_and_counters_agree_on_what_is_done_again(dies):
    runs = worked(dies=dies)
    if dies is not None:
        runs.append(worked()[2]._replace(begin=2.0, end=2.5))
    (trace,) = WorkersView({"runs": runs}, KINDS).payload["traces"]
    done = []
    for step, run in enumerate(runs, 1):
        said = trace["sentences"][step]
        tried = [other.lost for other in runs[: step - 1] if other.key == run.key]
        done += [run.key] * (not run.lost)
        assert said.endswith(", done again.") == (False in tried and not run.lost)
        begun = bool(tried) and all(tried) and not run.lost
        assert said.endswith(", which a worker that died had begun.") == begun
        told = dict(COUNTED(trace, step))
        assert told["done again"] == str(len(done) - len(set(done)))
        assert told["lost with a worker"] == str(sum(other.lost for other in runs[:step]))
    assert any("had begun" in said for said in trace["sentences"]) == (dies is not None)


@pytest.mark.parametrize("dies", [None, 3])
def test_a_box_is_filled_while_a_living_worker_holds_its_result(dies):
    runs = worked(dies=dies)
    view = WorkersView({"runs": runs}, KINDS)
    for step in range(len(runs) + 1):
        held = {}
        for run in runs[:step]:
            if run.lost:
                held = {key: who for key, who in held.items() if who != run.worker}
            else:
                held[run.key] = run.worker
        drawn = FILLED(view.payload["traces"][0], step)
        assert sum(len(re.findall("M", d)) for d in drawn) == len(held)
