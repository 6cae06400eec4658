"""A figure with controls: live in a running notebook, and with stored pictures on a page.

A notebook front end gets ipywidgets; each change of a control redraws the figure. The built page
has no Python behind it, so it shows the first picture. Some controls become a list to select from,
whose pictures are all stored in the page. Without scripts the page shows the first picture.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpukernels.checks import needed

#: Largest number of controls that stand one below the other.
FEW = 4

#: Shows the selected picture; the page runs it once for each panel. The call of `show` at the end
#: is for browsers that keep selections when a page is reloaded.
_SCRIPT = """(() => {
  const panel = document.currentScript?.parentElement;
  if (!panel) return;
  const lists = [...panel.querySelectorAll("select")];
  const pictures = [...panel.querySelectorAll("[data-picture]")];
  const order = panel.dataset.order.split(" ").map(Number);
  const show = () => {
    const chosen = lists.reduce((k, list) => k * list.options.length + list.selectedIndex, 0);
    pictures.forEach((picture, i) => { picture.hidden = i !== order[chosen]; });
  };
  lists.forEach(list => list.addEventListener("change", show));
  lists[0].closest("p").hidden = false;
  show();
})();"""
_LIST = (
    "font:inherit;color:inherit;background:transparent;border:1px solid currentColor;"
    "border-radius:4px;min-height:2rem;padding:0 0.4rem"
)


class Panel:
    """Controls above a figure that is drawn from their values.

    Parameters
    ----------
    draw : callable
        Takes the controls' values by name and returns a view of this book, or something that shows
        itself as HTML, such as a :class:`~gpukernels.notebook.plot.Plot` or a
        :class:`~gpukernels.notebook.table.Table`. A view is closed when the next one takes its
        place.
    start : dict of str to object
        The value of each control at first; one of its choices.
    kept : dict of str to sequence, optional
        Controls that a page has too, each with the choices whose pictures are stored there, the
        start among them. A picture is drawn for every combination, with the other controls at
        their start; equal pictures are stored once.
    **choices : sequence
        The values of a control, in order: numbers make a slider, texts a list to select from.

    Attributes
    ----------
    controls : dict of str to ipywidgets.Widget
        The controls by name; setting a ``value`` draws the figure again.
    figure : ipywidgets.Widget
        The figure shown: the view itself, or an ``ipywidgets.HTML``.

    Raises
    ------
    ValueError
        If `start` and `choices` do not name the same controls, or a start is not a choice; or if
        `kept` has another control or choice, or lacks a start.
    """

    def __init__(
        self,
        draw: Callable[..., Any],
        start: dict[str, Any],
        kept: Mapping[str, Sequence] | None = None,
        **choices: Sequence,
    ):
        if set(start) != set(choices):
            raise ValueError(f"start names {sorted(start)}, the choices are of {sorted(choices)}")
        for name, value in start.items():
            if value not in choices[name]:
                raise ValueError(f"start[{name!r}]={value!r}; allowed are {list(choices[name])}")
        kept = {name: list(values) for name, values in (kept or {}).items()}
        for name, values in kept.items():
            if name not in choices or not set(values) <= set(choices[name]):
                raise ValueError(
                    f"kept[{name!r}]={values}; allowed are {list(choices.get(name, []))}"
                )
            if start[name] not in values:
                raise ValueError(f"kept[{name!r}]={values} lacks the start, {start[name]!r}")
        ipywidgets = needed("ipywidgets", "notebook")
        self._draw = draw
        self._start = dict(start)
        self._first = draw(**start)
        self._kept = kept
        self.controls = {}
        for name, values in choices.items():
            kind = ipywidgets.Dropdown if isinstance(values[0], str) else ipywidgets.SelectionSlider
            # A slider draws where it is let go: a figure takes longer than a step of the pointer.
            slow = {} if kind is ipywidgets.Dropdown else {"continuous_update": False}
            control = kind(options=list(values), value=start[name], description=name, **slow)
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
        self.figure = None
        self._show(self._first)

    def _redraw(self, _change) -> None:
        self._show(self._draw(**{name: control.value for name, control in self.controls.items()}))

    def _show(self, drawn) -> None:
        ipywidgets = needed("ipywidgets", "notebook")
        replaced = self.figure
        if isinstance(drawn, ipywidgets.DOMWidget):
            self.figure = drawn
            _open(drawn)  # `draw` may have kept a figure that was closed here before
        elif isinstance(replaced, ipywidgets.HTML):
            replaced.value = drawn._repr_html_()
        else:
            self.figure = ipywidgets.HTML(drawn._repr_html_())
        self._box.children = [self._row, self.figure]
        if replaced is not None and replaced is not self.figure:
            _close(replaced)

    def __repr__(self) -> str:
        return f"Panel({', '.join(self.controls)}: {self._first!r})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        rest = [name for name in self.controls if name not in self._kept]
        names = html.escape(", ".join(rest))
        more = "more controls" if self._kept else "controls"
        note = (
            f"<p><em>In a live notebook this figure has {more}: {names}.</em></p>" if rest else ""
        )
        view = {"version_major": 2, "version_minor": 0, "model_id": self._box.model_id}
        return {
            "text/plain": repr(self),
            "text/html": (self._pictures() if self._kept else _still(self._first)) + note,
            # ipywidgets 7 and 8 build this part in different places, and both understand it.
            "application/vnd.jupyter.widget-view+json": view,
        }

    def _pictures(self) -> str:
        """Return lists to select from, the kept pictures, and the script that shows one of them."""
        shown, drawn = _still(self._first), []
        for values in itertools.product(*self._kept.values()):
            at = self._start | dict(zip(self._kept, values, strict=True))
            drawn.append(shown if at == self._start else self._picture(at))
        pictures = list(dict.fromkeys(drawn))
        order = " ".join(str(pictures.index(picture)) for picture in drawn)
        lists = " ".join(self._list(name, values) for name, values in self._kept.items())
        stills = "".join(
            f"<div data-picture{' hidden' * (picture != shown)}>{picture}</div>"
            for picture in pictures
        )
        return (
            f'<div class="gk-panel" data-order="{order}"><p hidden>{lists}</p>{stills}'
            f"<script>{_SCRIPT}</script></div>"
        )

    def _picture(self, values: dict[str, Any]) -> str:
        """Return the picture of `values` for a page, and close the widget that drew it."""
        ipywidgets = needed("ipywidgets", "notebook")
        drawn = self._draw(**values)
        if isinstance(drawn, ipywidgets.DOMWidget) and drawn is not self.figure:
            _close(drawn)
        return _still(drawn)

    def _list(self, name: str, values: list) -> str:
        first = self._start[name]
        options = "".join(
            f"<option{' selected' * (value == first)}>{html.escape(str(value))}</option>"
            for value in values
        )
        return (
            f'<label style="margin-right:1rem">{html.escape(name)} '
            f'<select style="{_LIST}">{options}</select></label>'
        )


def _still(drawn) -> str:
    return drawn.html if hasattr(drawn, "html") else drawn._repr_html_()


def _open(figure) -> None:
    """Give a closed widget and its parts a model in the front end again."""
    for widget in (*_parts(figure), figure):
        if widget.comm is None:
            widget.open()


def _close(figure) -> None:
    """End a widget and the parts that were made with it; each would stay in the kernel for good."""
    for widget in (figure, *_parts(figure)):
        widget.close()


def _parts(figure) -> list:
    parts = (getattr(figure, name, None) for name in ("layout", "style"))
    return [part for part in parts if hasattr(part, "comm")]
