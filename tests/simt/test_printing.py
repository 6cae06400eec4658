"""``print`` in a kernel writes numba's format, one line per thread, in the order of threads."""

import numpy as np
import pytest
from numba import cuda

from gpukernels.simt import launch


@cuda.jit
def report(a):
    i = cuda.grid(1)
    if i % 2 == 1:
        print("100% of", i, a[i], a[i] > 2, (i, 0.5), (1,))


@pytest.mark.parametrize("schedule", ["lockstep", "warp"])
def test_active_threads_print_in_order(capsys, schedule):
    launch(report, 2, 33, (np.arange(66) / 4,), schedule=schedule)
    lines = capsys.readouterr().out.splitlines()
    expected = [f"100% of {i} {i / 4:f} {i / 4 > 2} ({i}, 0.500000) (1,)" for i in range(1, 66, 2)]
    assert lines == expected


def test_the_random_schedule_prints_the_same_lines(capsys):
    launch(report, 4, 128, (np.arange(512) / 4,), schedule="random")
    drawn = capsys.readouterr().out.splitlines()
    launch(report, 4, 128, (np.arange(512) / 4,))
    in_order = capsys.readouterr().out.splitlines()
    assert drawn != in_order
    assert sorted(drawn) == sorted(in_order)


@cuda.jit
def special(x, big):
    print()
    print(x[0], x[1], big[0])


def test_empty_lines_and_special_numbers(capsys):
    x, big = np.array([np.nan, -np.inf], np.float32), np.array([2**64 - 1], np.uint64)
    launch(special, 1, 2, (x, big))
    assert capsys.readouterr().out == "\n\n" + "nan -inf 18446744073709551615\n" * 2
