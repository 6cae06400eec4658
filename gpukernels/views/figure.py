"""The figure as HTML: its first frame, drawn by the same JavaScript that brings a page to life."""

from __future__ import annotations

from html import escape
from typing import Any

from gpukernels.views.encoding import to_json
from gpukernels.views.engine import function_of
from gpukernels.views.script import still_script


def _in_words(payload: dict[str, Any], data: str) -> str:
    """Write a figure without a picture: the page's script draws it, or its words stand for it."""
    title, caption, kind = escape(payload["title"]), payload["caption"], payload["view"]
    return (
        f'<figure class="gk-view gk-view-{kind}" data-view="{kind}" aria-label="{title}">'
        f'<p class="gk-title">{title}</p><p>{escape(payload["description"])}</p>'
        + (f"<figcaption>{escape(caption)}</figcaption>" if caption else "")
        + f'<script type="application/json">{data}</script></figure>'
    )


def figure_html(payload: dict[str, Any]) -> str:
    """Write the whole figure; in words where there is no engine to draw it.

    Parameters
    ----------
    payload : dict
        ``view``, ``title``, ``caption``, ``description``, ``step`` and what the view's script
        reads.
    """
    data = to_json(payload)
    draw = function_of(still_script(), "draw")
    return _in_words(payload, data) if draw is None else draw(data)
