"""Cards with the definition of a term or the reference of a citation, on every page that uses them.

The texts come from the glossary and the bibliography. A link has the plain text as its title, which
browsers show without scripts. ``book/js/cards.js`` shows the full text. It stands once at the end
of the page, in a template, because a page opened as a file may not fetch another page. A build that
rewrites some pages only leaves the old texts on the others.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SOURCES = ("book/glossary", "book/bibliography")
LINK = re.compile(r'<a class="reference internal" href="[^"#]*#([^"]+)"([^>]*)>')
#: Parts that a card leaves out: links, which are relative to another page, and ids, which the page
#: may have already.
HEADERLINK = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)
STRIPPED = re.compile(r'</?a\b[^>]*>|(?<=<span) id="[^"]*"')
TAG = re.compile(r"<[^>]+>")
#: A formula is replaced by its TeX, because its symbols in a row are not readable.
EQUATION = re.compile(r"<math\b.*?</math>", re.DOTALL)


def texts_of(doctree: nodes.document) -> dict[str, list[nodes.Element]]:
    """Return the text below each term and citation of a page, by the name that links use."""
    texts = {}
    for item in doctree.findall(nodes.definition_list_item):
        body = item.next_node(nodes.definition)
        for term in item.findall(nodes.term):
            texts.update(dict.fromkeys(term["ids"], body.children))
    for work in doctree.findall(nodes.citation):
        texts.update({name: [work.next_node(nodes.paragraph)] for name in work["ids"]})
    return texts


def cards_of(app: Sphinx) -> dict[str, str]:
    """Return the card of every term and citation of the book, as HTML."""
    if not hasattr(app, "book_cards"):
        app.book_cards = {
            name: "".join(
                app.builder.render_partial(part.deepcopy())["fragment"].strip() for part in body
            )
            for source in SOURCES
            for name, body in texts_of(app.env.get_and_resolve_doctree(source, app.builder)).items()
        }
    return app.book_cards


def plain(card: str) -> str:
    """Return the text of a card."""
    return " ".join(unescape(TAG.sub("", card)).split())


def add_cards(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Add the cards of a page's links to the page, and a title to each link."""
    if app.builder.name != "html" or "body" not in context or tree is None:
        return
    cards, used = cards_of(app), {}

    def titled(link: re.Match[str]) -> str:
        name = unescape(link[1])
        if name not in cards:
            return link[0]
        used[name] = STRIPPED.sub("", HEADERLINK.sub("", cards[name]))
        title = "" if " title=" in link[2] else f' title="{escape(plain(used[name]))}"'
        return f"{link[0][:-1]}{title}>"

    body = LINK.sub(titled, context["body"])
    if used:
        texts = [f'<div data-card="{escape(name)}">{card}</div>' for name, card in used.items()]
        body += '\n<template id="cards">\n' + "\n".join(texts) + "\n</template>\n"
    context["body"] = body


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of every page, before its figures get their names."""
    app.connect("html-page-context", add_cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
