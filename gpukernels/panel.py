"""A figure with controls: live where a notebook runs, a still picture everywhere else.

A notebook front end gets ipywidgets; each change of a control draws the figure anew. The built page
has no Python behind it and gets the figure as it is drawn first.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

#: Controls that stand one below the other.
FEW = 4


class Panel:
    """Controls above a figure that is drawn from their values.

    Parameters
    ----------
    draw : callable
        Takes the controls' values by name and returns a view of this book, or something that shows
        itself as HTML, such as a :class:`~gpukernels.plot.Plot` or a
        :class:`~gpukernels.table.Table`.
    start : dict of str to object
        The value of each control at first; one of its choices.
    **choices : sequence
        The values of each control, in order: numbers make a slider, texts a list to select from.

    Attributes
    ----------
    controls : dict of str to ipywidgets.Widget
        The controls by name; setting a ``value`` draws the figure anew.
    figure : ipywidgets.Widget
        The figure shown: the view itself, or an ``ipywidgets.HTML``.

    Raises
    ------
    ValueError
        If `start` and `choices` do not name the same controls, or a start is not a choice.
    """

    def __init__(self, draw: Callable[..., Any], start: dict[str, Any], **choices: Sequence):
        if set(start) != set(choices):
            raise ValueError(f"start names {sorted(start)}, the choices are of {sorted(choices)}")
        for name, value in start.items():
            if value not in choices[name]:
                raise ValueError(f"start[{name!r}]={value!r}; allowed are {list(choices[name])}")
        import ipywidgets

        self._draw = draw
        self._first = draw(**start)
        self.controls = {}
        for name, values in choices.items():
            kind = ipywidgets.Dropdown if isinstance(values[0], str) else ipywidgets.SelectionSlider
            control = kind(options=list(values), value=start[name], description=name)
            control.style.description_width = "initial"
            control.observe(self._redraw, names="value")
            self.controls[name] = control
        # Many sliders stand side by side, as many as fit.
        row = ipywidgets.Layout(display="flex", flex_flow="row wrap")
        box = ipywidgets.Box if len(choices) > FEW else ipywidgets.VBox
        self._row = box(
            list(self.controls.values()), layout=row if len(choices) > FEW else ipywidgets.Layout()
        )
        self._box = ipywidgets.VBox()
        self._show(self._first)

    def _redraw(self, _change) -> None:
        self._show(self._draw(**{name: control.value for name, control in self.controls.items()}))

    def _show(self, drawn) -> None:
        import ipywidgets

        if isinstance(drawn, ipywidgets.DOMWidget):
            self.figure = drawn
        else:
            self.figure = ipywidgets.HTML(drawn._repr_html_())
        self._box.children = [self._row, self.figure]

    def __repr__(self) -> str:
        return f"Panel({', '.join(self.controls)}: {self._first!r})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        names = html.escape(", ".join(self.controls))
        note = f"<p><em>In a live notebook this figure has controls: {names}.</em></p>"
        still = self._first.html if hasattr(self._first, "html") else self._first._repr_html_()
        view = {"version_major": 2, "version_minor": 0, "model_id": self._box.model_id}
        return {
            "text/plain": repr(self),
            "text/html": still + note,
            # ipywidgets 7 and 8 build this part in different places, and both understand it.
            "application/vnd.jupyter.widget-view+json": view,
        }
