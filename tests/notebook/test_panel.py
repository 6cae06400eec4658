"""A panel's figure follows its controls, and is complete without them."""

from __future__ import annotations

import re

import ipywidgets
import pytest

import gpukernels as gk
from gpukernels.notebook.panel import Panel
from gpukernels.notebook.table import Table


def drawn(size, workload):
    return Table(("workload", "size"), [(workload, size)])


@pytest.fixture
def panel():
    start = {"size": 4, "workload": "roads"}
    return Panel(drawn, start, size=(1, 2, 4), workload=("roads", "a web"))


def test_the_page_gets_the_first_figure_and_the_names_of_the_controls(panel):
    data = panel._repr_mimebundle_()
    assert drawn(4, "roads")._repr_html_() in data["text/html"]
    assert "size, workload" in data["text/html"]
    assert data["text/plain"] == repr(panel)
    assert "roads" in repr(panel)


def test_a_change_of_a_control_draws_the_figure_anew(panel):
    panel.controls["size"].value = 2
    assert panel.figure.value == drawn(2, "roads")._repr_html_()
    panel.controls["workload"].value = "a web"
    assert panel.figure.value == drawn(2, "a web")._repr_html_()


def test_a_view_is_shown_as_itself():
    def path(n):
        return gk.GraphView(gk.path(n), title="A path")

    panel = Panel(path, {"n": 3}, n=(2, 3, 4))
    assert path(3).html in panel._repr_mimebundle_()["text/html"]
    assert panel.figure.html == path(3).html
    panel.controls["n"].value = 4
    assert panel.figure.html == path(4).html
    assert panel._box.children[-1] is panel.figure


def test_a_value_that_is_no_choice_is_refused(panel):
    with pytest.raises(Exception, match=r"[Ii]nvalid"):
        panel.controls["size"].value = 3


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ({"size": 4}, "start names"),
        ({"size": 3, "workload": "roads"}, r"start\['size'\]=3; allowed are \[1, 2, 4\]"),
        ({"size": 4, "workload": "roads", "x": 1}, "start names"),
    ],
)
def test_a_start_that_does_not_fit_is_refused(start, says):
    with pytest.raises(ValueError, match=says):
        Panel(drawn, start, size=(1, 2, 4), workload=("roads", "a web"))


def test_a_page_keeps_a_picture_of_every_combination_and_shows_the_first():
    start = {"size": 4, "workload": "roads", "x": 1}
    kept = {"size": (2, 4), "workload": ("roads", "a web")}

    def draw(size, workload, x):
        return drawn(size * x, workload)

    panel = Panel(draw, start, kept, size=(1, 2, 4), workload=("roads", "a web"), x=(1, 2))
    page = panel._repr_mimebundle_()["text/html"]
    assert 'data-order="0 1 2 3"' in page
    pictures = re.findall(r"<div data-picture( hidden)?>(.*?)</table></div></div>", page)
    assert [bool(hidden) for hidden, _ in pictures] == [True, True, False, True]
    for (_, picture), (size, workload) in zip(
        pictures, ((2, "roads"), (2, "a web"), (4, "roads"), (4, "a web")), strict=True
    ):
        assert drawn(size, workload)._repr_html_() == picture + "</table></div>"
    assert re.findall(r"<option( selected)?>([^<]*)<", page) == [
        ("", "2"),
        (" selected", "4"),
        (" selected", "roads"),
        ("", "a web"),
    ]
    assert "more controls: x." in page
    panel.controls["size"].value = 1
    assert panel.figure.value == drawn(1, "roads")._repr_html_()


def test_equal_pictures_are_kept_once():
    def draw(size):
        return drawn(min(size, 2), "roads")

    panel = Panel(draw, {"size": 2}, {"size": (1, 2, 4)}, size=(1, 2, 4))
    page = panel._repr_mimebundle_()["text/html"]
    assert 'data-order="0 1 1"' in page
    assert page.count("data-picture>") + page.count("data-picture hidden>") == 2
    assert "In a live notebook" not in page


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        ({"x": (1,)}, r"kept\['x'\]=\[1\]; allowed are \[\]"),
        ({"size": (4, 8)}, r"kept\['size'\]=\[4, 8\]; allowed are \[1, 2, 4\]"),
        ({"size": (1, 2)}, r"kept\['size'\]=\[1, 2\] lacks the start, 4"),
    ],
)
def test_kept_choices_that_do_not_fit_are_refused(kept, says):
    start = {"size": 4, "workload": "roads"}
    with pytest.raises(ValueError, match=says):
        Panel(drawn, start, kept, size=(1, 2, 4), workload=("roads",))


def living():
    """Return the ids of all widgets that the kernel holds a model for."""
    module = ipywidgets.widgets.widget
    return set(getattr(module, "_instances", None) or ipywidgets.Widget.widgets)


def path_or_table(n, kind):
    return gk.GraphView(gk.path(n)) if kind == "graph" else drawn(n, kind)


def test_changes_leave_no_widget_behind():
    panel = Panel(path_or_table, {"n": 2, "kind": "graph"}, n=(2, 3, 4), kind=("graph", "table"))
    before = living()
    for k in range(40):
        panel.controls["n"].value = 2 + k % 3
    assert len(living()) == len(before)
    for k in range(40):
        panel.controls["kind"].value = ("table", "graph")[k % 2]
        panel.controls["n"].value = 2 + k % 3
    assert len(living()) == len(before)
    assert panel.figure.html == gk.GraphView(gk.path(panel.controls["n"].value)).html
    assert panel.figure.model_id in living()


def test_pictures_kept_on_the_page_leave_no_widget_behind():
    start, kept = {"n": 3, "kind": "graph"}, {"n": (2, 3, 4)}
    panel = Panel(path_or_table, start, kept, n=(2, 3, 4), kind=("graph",))
    before = living()
    page = panel._repr_mimebundle_()["text/html"]
    assert living() == before
    for n in kept["n"]:
        assert gk.GraphView(gk.path(n)).html in page
    panel.controls["n"].value = 4
    assert panel._repr_mimebundle_()["text/html"] == page
    assert panel.figure.model_id in living()


def test_a_figure_that_is_drawn_once_and_kept_comes_back():
    views = {n: gk.GraphView(gk.path(n)) for n in (2, 3)}
    panel = Panel(lambda n: views[n], {"n": 2}, {"n": (2, 3)}, n=(2, 3))
    panel._repr_mimebundle_()
    for n in (3, 2, 3):
        panel.controls["n"].value = n
        assert panel.figure is views[n]
        assert {panel.figure.model_id, panel.figure.layout.model_id} <= living()
        assert panel._box.children[-1] is panel.figure
