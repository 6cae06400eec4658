"""The frame that all views share: title, timeline, stage, numbers, sentence, caption, data.

``js/figure.js`` builds the same frame around the same parts and adds the controls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gpukernels.views.encoding import to_json
from gpukernels.views.markup import Element, h, to_html


@dataclass(frozen=True)
class Counter:
    """One number under a figure: its symbol (which makes it the legend), its name, its value."""

    symbol: Element | None
    name: str
    value: str


@dataclass(frozen=True)
class Frame:
    """The parts of a view at one step.

    Attributes
    ----------
    tracks : sequence of Element
        Rows of the timeline, made by :func:`track`; empty for a view without steps.
    stage : sequence of Element
        The picture.
    counters : sequence of Counter
        The numbers so far.
    sentence : str
        The step in words.
    side : sequence of Element
        What stands below the numbers.
    """

    tracks: Sequence[Element]
    stage: Sequence[Element]
    counters: Sequence[Counter]
    sentence: str
    side: Sequence[Element] = ()


def count(value: int, one: str, many: str | None = None) -> str:
    """Write ``"1 arc"`` or ``"1,234 arcs"``."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def percent(part: float, whole: float) -> str:
    """Write a share as a whole percentage, rounded half up."""
    return f"{int(100 * part / whole + 0.5)}%" if whole else "0%"


def track(
    label: str,
    note: str,
    steps: int,
    height: int,
    unit: int,
    step: int,
    marks: Iterable[Element],
    *,
    dim: bool = False,
) -> Element:
    """Make one row of a timeline: a label and a strip with a column a step.

    Parameters
    ----------
    label, note : str
        Name of the row, and a quieter second line.
    steps : int
        Columns.
    height : int
        Height on the page in CSS pixels.
    unit : int
        Height in the units of the marks; the strip is stretched to the page's width.
    step : int
        Column under the playhead.
    marks : iterable of Element
        What the strip shows.
    dim : bool
        Fade the columns after the playhead.
    """
    wide = max(1.0, steps / 160)
    head = {"class": "gk-f-playhead", "x": step + 0.5 - wide / 2, "y": 0, "width": wide}
    return h(
        "div",
        {"class": "gk-track"},
        h("span", {"class": "gk-track-label"}, label, h("small", None, note)),
        h(
            "svg",
            {
                "class": "gk-strip",
                "viewBox": f"0 0 {steps} {unit}",
                "preserveAspectRatio": "none",
                "height": height,
                "width": "100%",
                "aria-hidden": "true",
            },
            h("rect", head | {"height": unit}),
            *marks,
            h(
                "rect",
                {
                    "class": "gk-f-future",
                    "x": step + 1,
                    "y": 0,
                    "width": max(steps - step - 1, 0),
                    "height": unit,
                },
            )
            if dim
            else None,
        ),
    )


def code_line(number: int, text: str) -> Element:
    """Draw the line of source that a step ran, with its number."""
    return h(
        "p",
        {"class": "gk-code-line"},
        h("span", {"class": "gk-num"}, str(number)),
        h("code", None, text),
    )


def symbol(*marks: tuple[str, str, float | None]) -> Element:
    """Make a 14 by 14 key from (class, path data, stroke width) triples."""
    return h(
        "svg",
        {
            "class": "gk-symbol",
            "viewBox": "0 0 14 14",
            "width": 14,
            "height": 14,
            "aria-hidden": "true",
        },
        *(h("path", {"class": c, "d": d, "stroke-width": w}) for c, d, w in marks),
    )


def _counter(counter: Counter) -> Element:
    return h(
        "div",
        {"class": "gk-counter"},
        h("dt", None, counter.symbol, counter.name),
        h("dd", None, counter.value),
    )


def counter_list(counters: Sequence[Counter]) -> Element:
    """Make the list of numbers."""
    return h("dl", {"class": "gk-counters"}, *(_counter(c) for c in counters))


def figure_html(payload: dict[str, Any], frame: Frame) -> str:
    """Write the whole figure.

    Parameters
    ----------
    payload : dict
        ``view``, ``title``, ``caption``, ``description`` and what the view's script reads.
    frame : Frame
        The first frame.
    """
    figure = h(
        "figure",
        {
            "class": f"gk-view gk-view-{payload['view']}",
            "data-view": payload["view"],
            "aria-label": payload["title"],
        },
        h("p", {"class": "gk-title"}, payload["title"]),
        h("div", {"class": "gk-timeline"}, *frame.tracks) if frame.tracks else None,
        h(
            "div",
            {"class": "gk-body"},
            h("div", {"class": "gk-stage"}, *frame.stage),
            h("div", {"class": "gk-side"}, counter_list(frame.counters), *frame.side),
        ),
        h("p", {"class": "gk-now"}, frame.sentence),
        h("figcaption", None, payload["caption"]) if payload["caption"] else None,
        h(
            "details",
            {"class": "gk-description"},
            h("summary", None, "Description in words"),
            h("p", None, payload["description"]),
        ),
    )
    text = to_html(figure)
    data = f'<script type="application/json">{to_json(payload)}</script>'
    return text[: -len("</figure>")] + data + "</figure>"
