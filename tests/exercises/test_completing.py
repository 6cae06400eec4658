"""Lines left out of a printed kernel: few minutes, and the lines that are given stay."""

from __future__ import annotations

import ast
import re

import pytest
from adversaries import COMPLETIONS, kernel_of

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge.bench import attempt
from gpukernels.exercises.judge.completing import SLACK
from gpukernels.exercises.judge.counters import busiest_warp, by_one_thread
from gpukernels.exercises.judge.effort import WRITE
from gpukernels.exercises.judge.skeleton import HERE


def added(ex) -> list[str]:
    """Return the lines that a solution adds."""
    after = ex.solution.text.splitlines()
    begin = next(k for k, line in enumerate(after) if line.strip() == HERE) + 1
    return after[begin : begin + len(after) - len(ex.skeleton.splitlines())]


@pytest.mark.parametrize("name", COMPLETIONS)
def test_one_line_comes_before_some_and_these_before_a_whole_kernel(name):
    ex = CATALOG[name]
    chapter, _, which = name.rpartition("-")
    assert ex.level == "easy"
    assert ex.minutes <= 10
    assert len(added(ex)) in {"line": (1,), "lines": (4, 5, 6, 7)}[which]
    order = [id for id in CATALOG if id.rpartition("-")[0] == chapter]
    assert order[:2] == [f"{chapter}-line", f"{chapter}-lines"]
    assert any(CATALOG[id].kind == WRITE for id in order[2:])


#: A line that gives names a value.
ASSIGNMENT = re.compile(r"^ +\w[\w, ]* = .*$", re.MULTILINE)


@pytest.mark.parametrize(
    "name", [name for name in COMPLETIONS if ASSIGNMENT.search(CATALOG[name].skeleton)]
)
def test_an_answer_without_a_line_that_was_given_is_refused_and_names_it(name, tmp_path):
    ex = gk.exercise(name)
    match = ASSIGNMENT.search(ex.skeleton)
    given, function = match[0], re.findall(r"^def (\w+)", ex.skeleton[: match.start()], re.M)[-1]
    one = given.replace(" = ", " = 0 + ", 1)
    kernel = kernel_of(ex, ex.solution.text.replace(given, one), tmp_path)
    report = ex.check(kernel, raises=False)
    written = ast.unparse(ast.parse(given.strip()))
    assert f"`{written}` of `{function}` is missing: add lines" in repr(report)


def test_comments_blank_lines_and_another_docstring_are_no_change(tmp_path):
    ex = gk.exercise("bfs-line")
    text = re.sub(r'"""Enqueue.*?"""', '"""Mine."""\n    # a note', ex.solution.text, flags=re.S)
    text = text.replace("u = frontier[i]", "u = (frontier[i])  # the vertex\n")
    assert ex.check(kernel_of(ex, text, tmp_path)).passed


def test_an_answer_whose_source_is_nowhere_is_told_to_be_a_cell():
    ex = gk.exercise("bfs-line")
    names: dict = {}
    exec(compile(ex.solution.text, "nowhere", "exec"), names)
    report = ex.check(names[ex.answer_name], raises=False)
    assert "the source of `expand_frontier` cannot be read" in repr(report)


#: Whole tasks by one thread of a block, right under every schedule.
BY_ONE_THREAD = {
    "simt-lines": """
    if u == 0:
        for v in range(sums.size):
            total = 0
            for k in range(offsets[v], offsets[v + 1]):
                total += values[targets[k]]
            sums[v] = total
""",
    "shared-lines": """
    if i == 0:
        for k in range(1, 128):
            apart += values[cuda.blockIdx.x * 128 + k]
        tile[0] += apart - 1
""",
    "representations-lines": """
        if lane == 0:
            for v in range(sums.size):
                weight = matrix[u * pitch + v]
                if weight != absent:
                    total += weight
""",
    "mapping-static-lines": """
    if cuda.grid(1) == 0:
        for i in range(offsets.size - 1):
            for unit in range(offsets[i], offsets[i + 1]):
                item[unit] = i
""",
    "bfs-lines": """
        if i == 0:
            for entry in range(frontier_size[0]):
                u = frontier[entry]
                for k in range(offsets[u], offsets[u + 1]):
                    v = targets[k]
                    if distance[v] == UNVISITED:
                        distance[v] = level + 1
                        parent[v] = u
                        queue_append(next_frontier, next_size, v)
""",
    "floyd-lines": """
    if i == 0 and j == 0 and distance[k, k] >= 0:
        for i in range(distance.shape[0]):
            for j in range(distance.shape[1]):
                length = distance[i, k] + distance[k, j]
                if length < distance[i, j]:
                    distance[i, j] = length
                    if via.size > 1:
                        via[i, j] = k
""",
    "mapping-dynamic-lines": """
        for owner in range(WARP_SIZE):
            its_item = cuda.shfl_sync(FULL_MASK, item, owner)
            its_begin = cuda.shfl_sync(FULL_MASK, begin, owner)
            its_end = cuda.shfl_sync(FULL_MASK, end, owner)
            if cuda.laneid == 0 and first == 0:
                for unit in range(its_begin, its_end):
                    visit(work, its_item, unit)
""",
}
#: Whole tasks that a student may well write, and that are wrong.
WRONG = {
    # A lane of the warp reads a run of neighboring columns.
    "representations-lines": """
        part = -(-sums.size // WARP_SIZE)
        for v in range(lane * part, min(lane * part + part, sums.size)):
            weight = matrix[u * pitch + v]
            if weight != absent:
                total += weight
        total = warp_sum(total)
""",
    # There are more items than groups.
    "mapping-static-lines": """
    group, lane = cuda.grid(1) // size, cuda.grid(1) % size
    if group < offsets.size - 1:
        for unit in range(offsets[group] + lane, offsets[group + 1], size):
            item[unit] = group
""",
    # Neighbors that have a distance are enqueued again.
    "bfs-lines": """
        for k in range(offsets[u], offsets[u + 1]):
            v = targets[k]
            if distance[v] == UNVISITED:
                distance[v] = level + 1
                parent[v] = u
            queue_append(next_frontier, next_size, v)
""",
    # The matrix is taken for one of whole blocks.
    "floyd-lines": """
    if distance[k, k] >= 0:
        length = distance[i, k] + distance[k, j]
        if length < distance[i, j]:
            distance[i, j] = length
            if via.size > 1:
                via[i, j] = k
""",
    # Only lanes that have a unit take part in the shuffles.
    "mapping-dynamic-lines": """
        if position < total:
            owner = warp_owner(before, position)
            its_item = cuda.shfl_sync(FULL_MASK, item, owner)
            its_ahead = cuda.shfl_sync(FULL_MASK, ahead, owner)
            visit(work, its_item, its_ahead + position)
""",
    # Where the tile stands is right for the first block alone.
    "otherwise-lines": """
    if flags[0] == 0:
        if multiply(
            a, b, old, new, via, infinite, uint32(row), uint32(column), uint32(begin), uint32(end)
        ):
            flags[1] = 1
""",
    # The columns of another part are made, too.
    "beyond-lines": """
    row = uint32(cuda.blockIdx.y) * uint32(tile)
    own = made[part * uint32(high) :]
    on = ways[table[part, SHIFT] :]
    begin, end = uint32(table[part, BEGIN]), uint32(table[part, END])
    multiply(to_all, on, own, own, via, infinite, row, column, begin, end)
""",
    # A step reads what another lane has already changed: scans need the value of before.
    "scans-lines": """
    while step < WARP_SIZE:
        value += cuda.shfl_up_sync(FULL_MASK, value, step)
        step *= 2
""",
    # The shorter of two arcs to one vertex may be lost.
    "sssp-lines": """
            for k in range(offsets[u], offsets[u + 1]):
                length = near + weights[k]
                if length < distance[targets[k]]:
                    distance[targets[k]] = length
""",
}


@pytest.mark.parametrize("name", BY_ONE_THREAD)
def test_one_thread_that_does_all_is_over_the_budget(name, tmp_path):
    ex = gk.exercise(name)
    text = re.sub(rf"\n *{re.escape(HERE)}\n", BY_ONE_THREAD[name], ex.skeleton)
    report = ex.check(kernel_of(ex, text, tmp_path), raises=False)
    over = [finding for finding in report.findings if not finding.passed]
    assert report.findings[0].passed
    assert over[0].text.startswith("memory requests of the busiest warp, on ")


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_that_is_likely_is_refused(name, tmp_path):
    ex = gk.exercise(name)
    text = re.sub(rf"\n *{re.escape(HERE)}\n", WRONG[name], ex.skeleton)
    report = ex.check(kernel_of(ex, text, tmp_path), raises=False)
    assert not report.passed
    assert "is not defined" not in repr(report)


@pytest.mark.parametrize("name", COMPLETIONS)
def test_the_budget_is_of_an_input_that_the_printed_kernel_shares(name):
    ex = CATALOG[name]
    budget, *_ = ex.budgets()
    trace = attempt(ex.solution.answer, budget.case, trace=True).device.trace
    assert budget.at_most == SLACK * busiest_warp(trace)
    if not name.startswith("energy"):  # whose kernel is one thread's
        assert by_one_thread(trace) > 10 * budget.at_most
