"""A step of a figure beside drawing as many marks one by one, both in one page and one run."""

from __future__ import annotations

import pytest
from test_hash_view import large_table
from test_views import folder, large_view, open_figures  # noqa: F401

#: Median milliseconds of a step, and of making two thousand circles; layout included in both.
TIMES = """() => {
    const range = document.querySelector("input[type=range]");
    const figure = document.querySelector("figure");
    const median = (draw, laidOut) => Array.from({ length: 40 }, (_, k) => {
        const before = performance.now();
        draw(k);
        laidOut.getBoundingClientRect();
        return performance.now() - before;
    }).sort((a, b) => a - b)[20];
    const step = median((k) => {
        range.value = (k * 7) % (Number(range.max) + 1);
        range.dispatchEvent(new Event("input"));
    }, figure);
    const other = document.body.appendChild(document.createElement("div"));
    const circle = (i) => `<circle cx="${i % 50}" cy="${i / 50}" r="0.4" class="gk-dot"/>`;
    const single = median(() => {
        const all = Array.from({ length: 2000 }, (_, i) => circle(i)).join("");
        other.innerHTML = `<svg viewBox="0 0 50 40" width="500">${all}</svg>`;
    }, other);
    return [step, single];
}"""


@pytest.mark.parametrize("kind", ["frontier", "warp", "memory", "graph", "mapping", "hash"])
def test_a_step_is_drawn_about_as_soon_as_two_thousand_circles(open_figures, kind):  # noqa: F811
    view = large_table() if kind == "hash" else large_view(kind)
    step, single = open_figures([kind], views={kind: view}).evaluate(TIMES)
    print(f"\n{kind}: a step {step:.1f} ms, circles {single:.1f} ms, ratio {step / single:.2f}")
    assert step < 3 * single
