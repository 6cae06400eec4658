"""A Matplotlib figure as SVG in the page's own ink, so that it reads in light and in dark."""

from __future__ import annotations

import hashlib
import html
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any

from gpukernels.checks import needed

#: An id of an SVG, and a definition of or reference to one.
ID = r'\bid="([^"]+)"'
REFERENCE = r'((?:\bid="|url\(#|href="#))([^")]+)'
#: Arguments of `panels` that are about the grid of panels, and not about each of them.
GRID = {"sharex", "sharey", "height_ratios", "width_ratios"}


def panels(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple:
    """Return a figure for `Plot` and its panels, which have no line at the top and at the right.

    Parameters
    ----------
    width, height : float
        The size of the figure in inches.
    rows, columns : int
        Number of rows and columns of panels.
    **options
        More arguments of ``Figure.subplots``, such as ``sharey=True``; the others are properties of
        each panel, such as ``xlabel="level"`` or ``xscale="log"``.

    Returns
    -------
    figure : matplotlib.figure.Figure
        The figure, which fits its panels into the size.
    panels : matplotlib.axes.Axes or ndarray of Axes
        The panel, or an array of them.

    Examples
    --------
    >>> figure, axes = panels(5, 2)
    >>> bars = axes.barh(["one", "two"], [1, 2])
    >>> Plot(figure, f"Two bars. {listed({'one': [1], 'two': [2]})}.")
    Plot('Two bars. one: 1; two: 2.')
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(rows, columns, **{k: options.pop(k) for k in GRID & options.keys()})
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.set(**options)
    return figure, grid


def listed(rows: Mapping[str, Any], spec: str = ",") -> str:
    """Return rows of numbers in words, for the text alternative of a figure.

    Parameters
    ----------
    rows : mapping of str to iterable, mapping or number
        The numbers of each row, or its number, by its name; numbers may have names, too.
    spec : str
        Format of a number.

    Examples
    --------
    >>> listed({"roads": [1000, 2], "rmat": {"most": 3}, "all": 4})
    'roads: 1,000, 2; rmat: most 3; all: 4'
    """
    return "; ".join(f"{name}: {_numbers(row, spec)}" for name, row in rows.items())


def _numbers(row: Any, spec: str) -> str:
    if isinstance(row, Mapping):
        return ", ".join(f"{name} {n:{spec}}" for name, n in row.items())
    return ", ".join(f"{n:{spec}}" for n in (row if isinstance(row, Iterable) else [row]))


class Plot:
    """A figure that shows itself as inline SVG with a text alternative.

    Black becomes the page's text color and the background stays clear. The same figure gives the
    same bytes every time.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure; it is drawn once, here.
    alt : str
        Text alternative, for readers who do not see the figure; also printed in a terminal.

    Raises
    ------
    ValueError
        If `alt` is empty.
    """

    def __init__(self, figure, alt: str):
        matplotlib = needed("matplotlib", "notebook")
        if not alt.strip():
            raise ValueError("alt='': say what the figure shows")
        self.alt = alt
        text = io.StringIO()
        # Each text of a figure names all fonts of the list, so the list is short.
        style = {
            "svg.hashsalt": alt,  # otherwise ids would be random
            "svg.fonttype": "none",
            "font.sans-serif": ["DejaVu Sans", "Verdana"],
            # 10,000 instead of 10 to the 4th on an axis: exponents are too small on a phone.
            "axes.formatter.min_exponent": 6,
        }
        with matplotlib.rc_context(style):
            figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        svg = "<svg" + text.getvalue().partition("<svg")[2]
        svg = svg.replace("#000000", "currentColor").replace(
            "<svg ", '<svg fill="currentColor" ', 1
        )
        svg = _with_own_ids(re.sub(r'<g id="[^"]*"', "<g", svg), alt)
        width = re.search(r'width="([\d.]+)pt" height="[\d.]+pt"', svg)
        size = f'style="width:{float(width[1]) / 12:.1f}rem;min-width:21rem;max-width:100%"'
        self._svg = svg.replace(width[0], size, 1)

    def __repr__(self) -> str:
        return f"Plot({self.alt!r})"

    def _repr_html_(self) -> str:
        alt = html.escape(self.alt, quote=True)
        return (
            f'<figure class="gk-plot" role="img" aria-label="{alt}" tabindex="0" '
            f'style="margin:1rem 0;overflow-x:auto">{self._svg}</figure>'
        )


def _with_own_ids(svg: str, alt: str) -> str:
    """Replace the ids of a figure by numbers with a prefix of its own.

    The ids of the figures of a page must differ. Matplotlib makes the ids of clip paths from more
    digits of their positions than the figure shows. The layout is found by iteration, so its last
    digits, and with them the ids, may change.
    """
    prefix = "p" + hashlib.sha256(alt.encode()).hexdigest()[:8]
    numbers = {old: f"{prefix}-{k}" for k, old in enumerate(dict.fromkeys(re.findall(ID, svg)))}
    return re.sub(REFERENCE, lambda match: match[1] + numbers.get(match[2], match[2]), svg)
