"""WorkersView's record: runs in order, the needs of each task, and the losses of a death."""

from __future__ import annotations

import pytest
from worked_tasks import worked

from gpukernels.views import WorkersView
from gpukernels.views.encoding import unpack

KINDS = {"close": "close a part", "join": "join all"}


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


@pytest.mark.parametrize("dies", [None, 0, 3])
def test_sentences_say_what_is_done_again(dies):
    runs = worked(dies=dies)
    if dies is not None:
        runs.append(worked()[2]._replace(begin=2.0, end=2.5))
    (trace,) = WorkersView({"runs": runs}, KINDS).payload["traces"]
    for step, run in enumerate(runs, 1):
        sentence = trace["sentences"][step]
        tried = [other.lost for other in runs[: step - 1] if other.key == run.key]
        assert sentence.endswith(", done again.") == (False in tried and not run.lost)
        begun = bool(tried) and all(tried) and not run.lost
        assert sentence.endswith(", which a worker that died had begun.") == begun
    assert any("had begun" in sentence for sentence in trace["sentences"]) == (dies is not None)
