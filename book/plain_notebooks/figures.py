"""Stored figures that play without a kernel and without the styles and scripts of a page."""

from __future__ import annotations

import re
from typing import Any

from gpukernels.views.script import classic_script, stylesheet

FIGURE = re.compile(r'<figure class="gk-view[^>]* data-view="(\w+)"')

#: JupyterLab styles stored HTML as prose, which stretches charts. A figure has its own style.
UNDRESS = """
for (const prose of document.querySelectorAll(".jp-RenderedHTMLCommon:has(> figure.gk-view)"))
  prose.classList.remove("jp-RenderedHTMLCommon");
"""


def alive(output: dict[str, Any]) -> dict[str, Any]:
    """Return an output together with the style and script that draw its figures.

    Each output needs its own copy, because Colab shows every output in a document of its own, and
    JupyterLab draws an output only when a reader comes near it.
    """
    html = "".join(output.get("data", {}).get("text/html", ""))
    kinds = sorted(set(FIGURE.findall(html)))
    if not kinds:
        return output
    script = classic_script(*kinds) + UNDRESS
    html += f"\n<style>{stylesheet()}</style>\n<script>{script}</script>"
    return {**output, "data": {**output["data"], "text/html": html.splitlines(keepends=True)}}
