"""Random programs: results and every warp's steps agree with an independent lockstep model."""

from __future__ import annotations

import os
from collections import defaultdict

import numpy as np
import pytest
from effort import EFFORT, SOAK
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from launching import kernel_from
from lockstep_model import Model
from program_grammar import programs

from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import UnsetVariable
from gpukernels.trace import STEP_KINDS

SHAPES = [(1, 1), (2, 31), (1, 32), (1, 33), (2, 70), (1, 96)]


def fresh(threads):
    rng = np.random.default_rng(threads)
    data = rng.integers(-20, 20, threads)
    data[rng.random(threads) < 0.1] = np.iinfo(np.int64).min
    narrow = rng.integers(-100, 100, threads).astype(np.int8)
    room = rng.integers(-9, 9, 2 * threads)
    return data, np.arange(threads), narrow, np.zeros(4, np.int64), room, data[::-1].copy()


def steps_of(trace):
    steps = defaultdict(list)
    table = trace.steps
    kinds = [STEP_KINDS[k] for k in table.kind]
    columns = (table.block, table.warp, table.line, table.mask, table.taken)
    rows = zip(*(c.tolist() for c in columns), kinds, strict=True)
    for block, warp, line, mask, taken, kind in rows:
        steps[block, warp].append([line, kind, mask, taken])
    return steps


#: The number of programs; `make soak` sets another number and draws new programs each time.
PROGRAMS = os.environ.get("GPUKERNELS_PROGRAMS")
#: Each program runs in lockstep and under one other schedule, because its translation is slow.
SECOND = ("warp", "random")


def some_programs(part=1):
    """Return hypothesis' settings for the programs of this run, or for a `part` of them."""
    count = int(PROGRAMS or (200 if EFFORT == SOAK else 100))
    return settings(
        max_examples=max(1, count // part),
        deadline=None,
        derandomize=PROGRAMS is None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


@some_programs()
@given(programs(), st.sampled_from(SHAPES), st.sampled_from(SECOND))
def test_random_programs(tmp_path_factory, text, shape, second):
    note(text)
    blocks, threads = shape
    kernel = kernel_from(text, tmp_path_factory.getbasetemp())
    expected = fresh(blocks * threads)
    expected_steps = Model(text).launch(blocks, threads, expected)
    for schedule in ("lockstep", second):
        arrays = fresh(blocks * threads)
        recorder = Recorder()
        launch(kernel, blocks, threads, arrays, schedule=schedule, recorder=recorder)
        for array, wanted in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(array, wanted, err_msg=schedule)
        assert steps_of(recorder.trace) == expected_steps, schedule


@some_programs(part=10)
@given(programs(), st.integers(-25, 25), st.sampled_from(SHAPES))
def test_an_unset_variable_is_an_error_just_where_python_has_no_value(
    tmp_path_factory, text, bound, shape
):
    # `c` is set by some threads, by all or by none, before the drawn statements set and read it.
    some = f"    if a > {bound}:\n        c = int64(cuda.laneid)\n"
    for old, new in (
        ("    c = int64(cuda.laneid)\n", some),
        ("q[0], q[1] = c, a", "q[0], q[1] = b, a"),
        (" ^ (c * 7) ^ ", " ^ "),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    note(text)
    blocks, threads = shape
    kernel = kernel_from(text, tmp_path_factory.getbasetemp())
    expected, arrays = fresh(blocks * threads), fresh(blocks * threads)
    try:
        Model(text).launch(blocks, threads, expected)
    except UnboundLocalError:
        with pytest.raises(UnsetVariable, match="`c` is read"):
            launch(kernel, blocks, threads, arrays)
        return
    launch(kernel, blocks, threads, arrays)
    for array, wanted in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(array, wanted)
