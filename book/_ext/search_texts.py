"""The texts of the book by section, for a search that shows the words around each hit.

They are a script, because a page opened as a file may not fetch anything. Only the search page
loads it. Sphinx's own index has words and pages but no texts, so it is not made.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from math_core import LatexError
from mathml import mathml
from sphinx import addnodes
from sphinx.application import Sphinx

#: Cells that a page does not show, or shows in a closed drawer.
HIDDEN = ("tag_hide-input", "tag_hide-cell", "tag_remove-cell", "tag_remove-input")
#: Nodes that have no words of the book, or only the words of a figure's record.
WORDLESS = (
    nodes.raw,
    nodes.comment,
    nodes.substitution_definition,
    nodes.title,
    nodes.math_block,
    addnodes.toctree,
)
TAG = re.compile(r"<[^>]+>")

Place = tuple[str, str, str]


def text_of(node: nodes.Node) -> str:
    """Return the words of a text, with the symbols of its formulas instead of TeX."""
    if isinstance(node, nodes.math):
        with contextlib.suppress(LatexError):
            return unescape(TAG.sub("", mathml(node.astext())))
    if isinstance(node, nodes.Text) or not node.next_node(nodes.math):
        return node.astext()
    return "".join(map(text_of, node.children))


def name_of(node: nodes.Element) -> tuple[str, str] | None:
    """Return the anchor and the title of `node`, if search results may lead to it."""
    if isinstance(node, nodes.definition_list_item):
        terms = [term for term in node.findall(nodes.term) if term["ids"]]
        return (terms[0]["ids"][0], ", ".join(map(text_of, terms))) if terms else None
    if isinstance(node, nodes.section) and isinstance(node.children[0], nodes.title):
        return node["ids"][0], text_of(node[0])
    if isinstance(node, addnodes.desc):
        signature = node.next_node(addnodes.desc_signature)
        if signature["ids"]:
            return signature["ids"][0], signature["ids"][0]
    if isinstance(node, nodes.citation):
        return node["ids"][0], node[0].astext()
    return None


def places(node: nodes.Element) -> Iterator[Place]:
    """Yield (anchor, title, text) of `node` and of every node in it that has its own name."""
    words: list[str] = []
    inner: list[Place] = []

    def take(parent: nodes.Element) -> None:
        for child in parent.children:
            if isinstance(child, WORDLESS) or (isinstance(child, nodes.term) and child["ids"]):
                continue
            if isinstance(child, nodes.Element) and name_of(child):
                inner.extend(places(child))
            elif isinstance(child, nodes.Text | nodes.TextElement | nodes.math):
                words.append(text_of(child))
            elif not any(name in child.get("classes", ()) for name in HIDDEN):
                take(child)

    take(node)
    anchor, title = name_of(node)
    yield anchor, " ".join(title.split()), " ".join(" ".join(words).split())
    yield from inner


def take_page(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Record the places of a page while it is written.

    Resolving the page again would take a second, and would repeat the text of a bibliography.
    """
    if app.builder.name == "html" and page not in app.search_places:
        top = tree.next_node(nodes.section)
        app.search_places[page] = [] if top is None else list(places(top))


def texts(app: Sphinx) -> list[tuple[str, str, list[Place]]]:
    """Return (address, title, places) of every page, in the order of their names."""
    pages = []
    for page in sorted(app.env.found_docs):
        if page not in app.search_places:  # the page was not written again
            app.env.get_and_resolve_doctree(page, app.builder)
        if app.search_places[page]:
            (_, title, text), *rest = app.search_places[page]
            pages.append((app.builder.get_target_uri(page), title, [("", title, text), *rest]))
    return pages


def leave_index(app: Sphinx) -> None:
    """Keep Sphinx from making its own index."""
    if app.builder.name == "html":
        app.builder.search = False


def add_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the search page, which Sphinx leaves out without its index."""
    if app.builder.name == "html":
        yield "search", {}, "search.html"


def add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Name the scripts of the search page."""
    if page == "search" and app.builder.name == "html":
        for script in ("search_texts.js", "search.js"):
            app.add_js_file(script, priority=950, loading_method="defer")


def write_texts(app: Sphinx, error: Exception | None) -> None:
    """Write the script with the texts."""
    if error or app.builder.name != "html":
        return
    text = json.dumps(texts(app), ensure_ascii=False, separators=(",", ":"))
    target = Path(app.outdir) / "_static" / "search_texts.js"
    target.write_text(f"globalThis.BOOK_TEXTS={text};\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the start, the pages and the end of the build."""
    app.search_places = {}
    app.connect("builder-inited", leave_index)
    app.connect("doctree-resolved", take_page, priority=900)  # after all that change the page
    app.connect("html-collect-pages", add_page)
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", write_texts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
