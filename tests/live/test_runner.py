"""The results of a run on a page: values, printed text, errors with their line and their warp."""

from __future__ import annotations

import inspect
import json

import gpukernels as gk
from gpukernels.primitives import queue_append

KERNEL = """import numpy as np
from numba import cuda, int32

import gpukernels as gk


@cuda.jit
def scan(values, out):
    shared = cuda.shared.array(64, int32)
    i = cuda.threadIdx.x
    shared[i] = values[i]
    cuda.syncthreads()
    before = shared[i - 1] if i > 0 else 0
    out[i] = before


values, out = np.arange(64), np.zeros(64, np.int64)
with gk.trace() as t:
    t.device.launch(scan, 1, 64, values, out)
int(out.sum())
"""


def test_the_last_value_is_shown_and_prints_are_kept(interpreter):
    result = interpreter("run", text="print('one')\ndisplay(2)\n1 + 2\n")
    assert result == {
        "shown": ["<pre>2</pre>", "<pre>3</pre>"],
        "printed": "one\n",
        "error": None,
        "counters": {},
        "solved": False,
    }


def test_a_kernel_of_the_program_runs(interpreter):
    result = interpreter("run", text=KERNEL)
    assert result["shown"] == [f"<pre>{sum(range(63))}</pre>"]
    # Two warps: each loads 64 words of 8 bytes and stores as many, in sectors of 32 bytes.
    assert (result["counters"]["launches"], result["counters"]["sectors"]) == ("1", "32")


def test_a_missing_barrier_is_a_race_with_its_line_and_its_warp(interpreter):
    text = KERNEL.replace("    cuda.syncthreads()\n", "")
    result = interpreter("run", text=text)
    error = result["error"]
    assert error["message"].startswith("RaceError: race on `shared[0]`")
    assert text.split("\n")[error["line"] - 1].strip().startswith("before = shared[i - 1]")
    record = json.loads(error["html"].split('<script type="application/json">')[1].split("<")[0])
    assert record["view"] == "warp"
    assert record["step"] > 0


def test_an_index_out_of_bounds_names_its_line(interpreter):
    text = KERNEL.replace("out[i] = before", "out[i + 1] = before")
    error = interpreter("run", text=text)["error"]
    assert error["message"].startswith("OutOfBounds: index 64 is out of bounds for `out`")
    assert text.split("\n")[error["line"] - 1].strip() == "out[i + 1] = before"


def test_an_endless_loop_ends_after_so_many_rounds(interpreter):
    text = KERNEL.replace("    cuda.syncthreads()\n", "    while i >= 0:\n        i += 0\n")
    error = interpreter("run", text=text)["error"]
    assert error["message"].startswith("EndlessLoop: this loop has run 50,000 times")
    assert text.split("\n")[error["line"] - 1].strip() == "while i >= 0:"


def test_a_mistake_of_the_program_itself_names_its_line(interpreter):
    assert interpreter("run", text="a = 1\nb = a / 0\n")["error"] == {
        "message": "ZeroDivisionError: division by zero",
        "line": 2,
        "html": "",
    }
    assert interpreter("run", text="a = (\n")["error"]["line"] == 1


def test_a_part_replaces_a_kernel_of_the_package_until_the_program_ends(interpreter):
    call = "gk.bfs(gk.path(5), method='harish').distance.tolist()\n"
    edited = (
        "# %% gpukernels.traversal.harish\n"
        "@cuda.jit\n"
        "def harish_level(offsets, targets, distance, parent, level, changed):\n"
        "    pass\n\n"
        f"# %% program\n{call}"
    )
    assert interpreter("run", text=edited)["shown"] == ["<pre>[0, -1, -1, -1, -1]</pre>"]
    assert interpreter("run", text=call)["shown"] == ["<pre>[0, 1, 2, 3, 4]</pre>"]


def test_answers_to_an_exercise_are_judged(interpreter):
    exercise = gk.exercise("simt-line")
    wrong = interpreter("judge", name="simt-line", text=exercise.skeleton)
    right = interpreter("judge", name="simt-line", text=exercise.solution.text)
    assert (wrong["solved"], wrong["error"]) == (False, None)
    assert (right["solved"], right["error"]) == (True, None)


def test_kernels_that_have_run_call_a_function_as_it_is_edited(interpreter):
    program = "# %% program\nwith gk.trace():\n    gk.bfs(gk.rmat(5, 4, seed=1), 0, 'frontier')\n"
    function = inspect.getsource(queue_append.py_func)
    edited = function.replace("    slot =", "    slot = 1 + 1\n    slot =")
    edited = f"# %% {queue_append.py_func.__module__}\n{edited}\n{program}"
    before, other, after = (
        interpreter("run", text=text)["counters"]["warp steps"]
        for text in (program, edited, program)
    )
    assert before == after
    assert int(other) > int(before)
