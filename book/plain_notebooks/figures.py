"""Stored figures that live without a kernel, also where no page brings their style and script."""

from __future__ import annotations

import re
from typing import Any

from gpukernels.views.script import classic_script, stylesheet

FIGURE = re.compile(r'<figure class="gk-view[^>]* data-view="(\w+)"')

#: JupyterLab dresses stored HTML as prose, which stretches charts; a figure brings its own looks.
UNDRESS = """
for (const prose of document.querySelectorAll(".jp-RenderedHTMLCommon:has(> figure.gk-view)"))
  prose.classList.remove("jp-RenderedHTMLCommon");
"""


def alive(output: dict[str, Any]) -> dict[str, Any]:
    """Return an output whose figures bring along what draws them.

    Each output brings its own: Colab gives every output a document of its own, and JupyterLab draws
    an output when a reader comes near it.
    """
    html = "".join(output.get("data", {}).get("text/html", ""))
    kinds = sorted(set(FIGURE.findall(html)))
    if not kinds:
        return output
    script = classic_script(*kinds) + UNDRESS
    html += f"\n<style>{stylesheet()}</style>\n<script>{script}</script>"
    return {**output, "data": {**output["data"], "text/html": html.splitlines(keepends=True)}}
