"""Formulas as MathML, made when the book is built, so that no script has to draw them.

Browsers lay out MathML by themselves, and screen readers read it. It is part of the page's text,
also on paper and in an EPUB. It needs a font with brackets of several heights. The book has such a
font (book/math_font) inside a style sheet, because a page opened as a file may not load a font from
an address.
"""

from __future__ import annotations

import base64
import re
from html.entities import html5
from pathlib import Path

from docutils import nodes
from math_core import LatexError, LatexToMathML
from page_parts import static
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

FONT = Path(__file__).parents[1] / "math_font" / "math.woff"
STYLE = """/* The font holds a part of STIX Two Math, under the SIL Open Font License 1.1. */
@font-face {{
  font-family: "Book Math";
  src: url(data:font/woff;base64,{font}) format("woff");
}}
math {{
  font-family: "Book Math", "STIX Two Math", "Cambria Math", math;
  font-size: 112%;
}}
div.math {{
  display: block;  /* the theme's row-reverse begins to scroll at a formula's end */
  overflow: auto hidden;
  margin: 0 0 1.15rem;
  text-align: center;
}}
span.held {{
  white-space: nowrap;
}}
div.math > math {{
  display: block math;
  width: max-content;
  margin: 0 auto;
}}
"""

#: Marks that stay on the line of the formula before them.
MARK = re.compile(r"[.,;:?!)]+")

#: Characters with a name in HTML that XML, the format of an EPUB, does not know.
NAMED = re.compile(r"&(?!(?:lt|gt|amp|quot|apos);)(\w+;)")

logger = logging.getLogger(__name__)
_converter = LatexToMathML(fancy_error=False, xml_namespace=True)


def mathml(tex: str, display: bool = False) -> str:
    """Return the ``<math>`` element of a formula in TeX.

    Raises
    ------
    LatexError
        If the text is not TeX, or has a command that the converter does not know.
    """
    formula = _converter.convert_with_local_state(tex, displaystyle=display)
    return NAMED.sub(lambda name: html5[name[1]], formula)


def _converted(self: HTML5Translator, node: nodes.Element, display: bool) -> str:
    try:
        return mathml(node.astext(), display)
    except LatexError as error:
        logger.warning("this is no formula: %r (%s)", node.astext(), error, location=node)
        return f"<code>{self.encode(node.astext())}</code>"


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    self.body.append(_converted(self, node, display=False))
    raise nodes.SkipNode


def hold_punctuation(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Keep a mark that ends a clause on the line of the formula before it."""
    if app.builder.format != "html":
        return
    for formula in [*doctree.findall(nodes.math)]:
        after = formula.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and (mark := MARK.match(after)):
            after.parent.replace(after, nodes.Text(after[mark.end() :]))
            held = nodes.inline(classes=["held"])
            formula.replace_self(held)
            held += [formula, nodes.Text(mark[0])]


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, with the number by which texts refer to it."""
    self.body.append(self.starttag(node, "div", CLASS="math", tabindex="0"))
    if node["number"]:
        number = f"({node['number']})"
        self.body.append(f'<span class="eqno">{number}')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(_converted(self, node, display=True) + "</div>")
    raise nodes.SkipNode


def add_style(app: Sphinx) -> None:
    """Write the style sheet that holds the font, and name it on every page."""
    if app.builder.format != "html":
        return
    font = base64.b64encode(FONT.read_bytes()).decode()
    (static(app) / "math.css").write_text(STYLE.format(font=font), encoding="utf-8")
    app.add_css_file("math.css", priority=900)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register these writers of formulas for HTML."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("builder-inited", add_style)
    app.connect("doctree-resolved", hold_punctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
