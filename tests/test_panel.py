"""A panel's figure follows its controls, and is complete without them."""

from __future__ import annotations

import pytest

import gpukernels as gk
from gpukernels.panel import Panel
from gpukernels.table import Table


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


def test_the_notebook_gets_widgets_too(panel):
    data = panel._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data


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
