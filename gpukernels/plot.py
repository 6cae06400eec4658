"""A Matplotlib figure as SVG in the page's own ink, so that it reads in light and in dark."""

from __future__ import annotations

import html
import io
import re


class Plot:
    """A figure that shows itself as inline SVG with a text alternative.

    Black becomes the page's text color and the background stays clear. The same figure gives the
    same bytes every time.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure; it is drawn once, here.
    alt : str
        What the figure shows, for readers who do not see it; also what prints in a terminal.

    Raises
    ------
    ValueError
        If `alt` is empty.
    """

    def __init__(self, figure, alt: str):
        import matplotlib

        if not alt.strip():
            raise ValueError("alt='': say what the figure shows")
        self.alt = alt
        text = io.StringIO()
        # The salt makes the ids of the clip paths, which must differ between figures of a page.
        # Each text of a figure names all fonts of the list: two of them will do.
        style = {
            "svg.hashsalt": alt,
            "svg.fonttype": "none",
            "font.sans-serif": ["DejaVu Sans", "Verdana"],
        }
        with matplotlib.rc_context(style):
            figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        svg = "<svg" + text.getvalue().partition("<svg")[2]
        svg = svg.replace("#000000", "currentColor").replace(
            "<svg ", '<svg fill="currentColor" ', 1
        )
        svg = re.sub(r'<g id="[^"]*"', "<g", svg)
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
