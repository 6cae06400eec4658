"""Lean pages: icons are drawings in the page, and need no fonts and no scripts.

The theme shows a dozen icons out of thousands. It draws them by a script of 1.5 MB that every page
loads, and by fonts, which a page opened as a file may not load. Here the pages contain these icons,
so they are visible without scripts. Files that only the other icons need are left out of the build.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from content_policy import with_policy
from live.pyodide import hosts
from sphinx.application import Sphinx
from sphinx.jinja2glue import BuiltinTemplateLoader

ICONS = Path(__file__).with_name("icons.svg")
SYMBOL = re.compile(r'<symbol id="([\w-]+)" (viewBox="[^"]*")>(.*?)</symbol>')
#: The element that the theme writes for one icon.
SIGN = re.compile(r'<(?:i|span) class="([^"]*\bfa-[^"]*)"([^>]*)>\s*</(?:i|span)>')
#: The icon's name in it. The other names of this form say how it is drawn.
NAME = re.compile(r"\bfa-(?!solid|lg)([\w-]+)")
#: The script for icons, and Sphinx's script for a search by an index without texts.
SCRIPT = re.compile(
    r"<script\b[^>]*\b(?:fontawesome|searchtools|language_data|searchindex|sphinx_highlight)\.js"
    r"[^>]*></script>\n?"
)

#: At a first visit, the theme's first script names no theme. Until its last script has run, the
#: page has no colors and no fonts, and then jumps. This script asks the browser immediately.
NO_THEME = 'document.documentElement.dataset.theme = localStorage.getItem("theme") || "";'
THEME = """
    const { dataset } = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    dataset.theme = ["light", "dark"].find((theme) => theme === dataset.mode)
      || (dark ? "dark" : "light");
""".strip()

#: The part of the theme's style sheet that names every icon of the fonts.
FONTS = re.compile(r"/\*!\s+\* Font Awesome.*\}\.fa-[\w-]+:before\{[^}]*\}", re.DOTALL)
SHEET = "_static/styles/pydata-sphinx-theme.css"
UNUSED = (
    "_static/vendor/fontawesome",
    "_static/scripts/fontawesome.js*",
    "_static/searchtools.js",
    "_static/language_data.js",
    "_static/sphinx_highlight.js",
    "_static/**/*.map",
)


def symbols() -> dict[str, tuple[str, str]]:
    """Return the view box and the drawing of every icon, by its name."""
    matches = SYMBOL.findall(ICONS.read_text(encoding="utf-8"))
    return {name: (box, drawing) for name, box, drawing in matches}


def with_theme(html: str) -> str:
    """Return a page that has its colors and fonts from the start."""
    return html.replace(NO_THEME, THEME)


def with_icons(html: str) -> str:
    """Return a page whose icons are drawings, without the script that would draw them.

    Raises
    ------
    LookupError
        If `icons.svg` has no such icon.
    """
    drawn = symbols()

    def icon(sign: re.Match[str]) -> str:
        classes, rest = " ".join(sign[1].split()), re.sub(r'\s+title="[^"]*"', "", sign[2])
        name = NAME.search(classes)
        if name is None or name[1] not in drawn:
            raise LookupError(f"book/_ext/icons.svg has no sign for {sign[0]}: add it there")
        box, drawing = drawn[name[1]]
        opening = f'<svg class="sign {classes}"{rest} {box} aria-hidden="true" focusable="false">'
        return f"{opening}{drawing}</svg>"

    return SCRIPT.sub("", SIGN.sub(icon, html))


class LeanPages(BuiltinTemplateLoader):
    """The theme's templates, without the parts that the pages do not need."""

    def render(self, template: str, context: dict[str, Any]) -> str:
        """Return the page that a template makes from `context`."""
        html = with_icons(with_theme(super().render(template, context)))
        if context.get("file_suffix") == ".xhtml":
            return html
        has_programs = context.get("pagename", "").startswith("chapters/")
        return with_policy(html, hosts() if has_programs else [])


def leave_out(app: Sphinx, error: Exception | None) -> None:
    """Remove the files that no page loads any more."""
    if error or app.builder.name != "html":
        return
    out = Path(app.outdir)
    sheet = out / SHEET
    text, cut = FONTS.subn("", sheet.read_text(encoding="utf-8"))
    if cut:
        sheet.write_text(text, encoding="utf-8")
    for pattern in UNUSED:
        for path in [*out.glob(pattern)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the end of the build; `template_bridge` of _config.yml names the class above."""
    app.connect("build-finished", leave_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
