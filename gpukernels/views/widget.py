"""The base class of all views: an anywidget that also has its first frame as HTML.

The notebook front end gets the widget. The built book and all other readers get ``text/html``: a
figure that is complete without a script. With the same module, the page's script makes it
interactive.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from gpukernels.checks import as_python, check_text, needed, options_as_python
from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.views import still
from gpukernels.views.address import check_name, figure_id
from gpukernels.views.figure import figure_html
from gpukernels.views.places import check_place
from gpukernels.views.script import module_for, stylesheet

anywidget: Any
traitlets: Any
if sys.platform == "emscripten" and find_spec("anywidget") is None:
    anywidget = traitlets = still
else:
    anywidget, traitlets = needed("anywidget", "notebook"), needed("traitlets", "notebook")


def _as_trace(value: object) -> object:
    # The ``t`` of ``with gk.trace() as t`` has its trace in the attribute ``trace``.
    return value if isinstance(value, Trace) else getattr(value, "trace", value)


def as_traces(traces: object, argument: str = "traces") -> dict[str, Trace]:
    """Return labeled traces; a single one has the empty label.

    Raises
    ------
    InvalidArgument
        If `traces` is neither a Trace (or an object whose ``trace`` is one) nor a dict of them.
    """
    if not isinstance(traces, dict):
        traces = {"": traces}
    elif not traces or not all(isinstance(label, str) and label for label in traces):
        raise InvalidArgument(argument, list(traces), "a non-empty dict whose keys are labels")
    checked = {label: _as_trace(trace) for label, trace in traces.items()}
    for label, trace in checked.items():
        if not isinstance(trace, Trace):
            name = f"{argument}[{label!r}]" if label else argument
            raise InvalidArgument(name, trace, "a Trace, or a dict of label to Trace")
    return checked


def check_step(step: int, steps: int) -> None:
    """Refuse a step that the view does not have."""
    check_place("step", step, max(steps, 1))


def _of_python_numbers(init: Callable[..., None]) -> Callable[..., None]:
    """Let a view's constructor take NumPy's numbers, which neither JSON nor traitlets takes."""

    @functools.wraps(init)
    def taking(self: View, *args: Any, **options: Any) -> None:
        init(self, *map(as_python, args), **options_as_python(options))

    return taking


class _Whole(traitlets.Int):
    """A whole number, NumPy's as well as Python's."""

    def validate(self, obj: Any, value: Any) -> int:
        return super().validate(obj, as_python(value))


class View(anywidget.AnyWidget):
    """Base of the views.

    Attributes
    ----------
    step : int
        The step shown, by its place: 0 is the first, which a figure may call step 1. May be set and
        observed.
    trace : str
        Label of the trace shown, ``""`` where there is only one; may be set and observed.
    html : str
        The figure as HTML text, the same bytes for the same input.
    address : str
        Where links find the figure in a page of the book: ``#fig-`` and its name.
    """

    _kind = ""

    #: ipywidgets 7, which Colab has, shows a widget by a method of this name. IPython prefers it to
    #: the bundle below, and would store a figure of which a page without Python has nothing.
    _ipython_display_ = None

    payload = traitlets.Dict().tag(sync=True)
    step = _Whole(0).tag(sync=True)
    trace = traitlets.Unicode("").tag(sync=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # ipywidgets derives a class of its own for each instance, which already has both as traits.
        if "_kind" in cls.__dict__:
            cls._esm = module_for(cls._kind)
            cls._css = stylesheet()
        if "__init__" in cls.__dict__:
            cls.__init__ = _of_python_numbers(cls.__init__)
        super().__init_subclass__(**kwargs)

    def _finish(
        self,
        payload: dict[str, Any],
        *,
        title: str,
        caption: str,
        name: str,
        step: int,
        labels: list[str],
    ) -> None:
        check_name(name)
        texts = {"title": title, "caption": caption, "choice": payload.get("choice", "")}
        for what, text in [*texts.items(), *((f"label {label!r}", label) for label in labels)]:
            check_text(what, text)
        payload = {
            "view": self._kind,
            **({"name": name} if name else {}),
            "title": title,
            "caption": caption,
            "description": self._describe(),
            "step": step,
            **payload,
        }
        self.address = f"#{figure_id(payload)}"
        self.html = figure_html(payload)
        self._labels = labels
        self._steps = [entry["steps"] for entry in payload["traces"]]
        super().__init__(payload=payload, step=step, trace=labels[0])

    def _describe(self) -> str:
        raise NotImplementedError

    def _summary(self) -> str:
        raise NotImplementedError

    @traitlets.validate("step")
    def _valid_step(self, proposal: dict[str, Any]) -> int:
        check_step(proposal["value"], max(self._steps))
        return proposal["value"]

    @traitlets.validate("trace")
    def _valid_trace(self, proposal: dict[str, Any]) -> str:
        if proposal["value"] not in self._labels:
            raise InvalidArgument("trace", proposal["value"], f"one of {self._labels}")
        return proposal["value"]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()})"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": repr(self), "text/html": self.html}, metadata
