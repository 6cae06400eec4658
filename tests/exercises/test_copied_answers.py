"""Kernels of the chapter and the solutions of other exercises are no answers.

Answers of a chapter that were fitted to an exercise's parameters stand among the adversaries.
"""

from __future__ import annotations

import importlib
import json
import re
from functools import reduce
from pathlib import Path

import pytest
from adversaries import KERNELS, NOTEBOOK

import gpukernels as gk

CHAPTERS = Path(__file__).parents[2] / "chapters"
#: Exercises whose solutions are right answers of an easier one, which comes before them.
HARDER = {"duplicates-2": {"duplicates-3", "duplicates-4"}, "bfs4k-2": {"bfs4k-4"}}


def printed(chapter: str) -> dict[str, object]:
    """Return what the cells of a chapter print by `gk.show`, by its name."""
    notebook = json.loads((CHAPTERS / f"{NOTEBOOK[chapter]}.ipynb").read_text("utf-8"))
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    code = "\n".join(cells)
    modules = {}
    for module, names in re.findall(r"^from (gpukernels\S*) import ([\w, ]+)$", code, re.M):
        for name in names.split(","):
            own, _, alias = name.strip().partition(" as ")
            modules[alias or own] = module, own
    texts = {}
    for path in re.findall(r"^gk\.show\(([\w.]+)\)", code, re.M):
        names = path.split(".")
        module, own = modules.get(names[0], ("gpukernels", names[0]))
        below = names[1:] if names[0] == "gk" else [own, *names[1:]]
        texts[names[-1]] = reduce(getattr, below, importlib.import_module(module))
    return texts


def test_the_chapters_print_kernels():
    assert {"csr_neighbor_sum"} <= set(printed("simt"))
    assert {"relax_all", "split_far"} <= set(printed("sssp"))
    assert {"relax", "packed", "enqueue_through_shared"} <= set(printed("hbf"))


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_that_the_chapter_prints_is_no_answer(name):
    for kernel in printed(name.rpartition("-")[0]).values():
        assert not gk.exercise(name).check(kernel, raises=False, seed=1)


@pytest.mark.parametrize("name", KERNELS)
def test_the_solution_of_another_exercise_is_no_answer(name):
    accepted = {
        other
        for other in set(KERNELS) - {name}
        if gk.exercise(name).check(gk.exercise(other).solution.answer, raises=False, seed=1)
    }
    assert accepted == HARDER.get(name, set())
