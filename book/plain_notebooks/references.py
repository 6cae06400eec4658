"""The targets of roles, from Sphinx's own tables: titles, anchors, numbers, the bibliography."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.nodes import split_explicit_title

from . import citations
from .markdown import NotPlain

#: Roles that refer to a place in the book: the domain that knows it, and its name there.
PLACES = {
    "doc": ("std", "doc"),
    "eq": ("math", "eq"),
    "numref": ("std", "numref"),
    "prf:ref": ("prf", "ref"),
    "ref": ("std", "ref"),
    "term": ("std", "term"),
}
#: The roles among these that Sphinx looks up in lower case.
LOWERED = frozenset(["ref", "numref"])
SPECIAL = re.compile(r"([\\`*_\[\]<>|$])")


def escaped(text: str) -> str:
    """Return `text` escaped, so that Markdown shows it unchanged."""
    return SPECIAL.sub(r"\\\1", text)


class References:
    """The book, with addresses relative to one chapter, after Sphinx has read all of it.

    Parameters
    ----------
    app
        The build.
    document
        Sphinx's name of the chapter.
    address
        The address of the published book, or None. Without it, a reference to another chapter
        becomes a link to the notebook in the same folder, and other references become plain words.
    """

    def __init__(self, app: Sphinx, document: str, address: str | None) -> None:
        self.env, self.builder = app.env, app.builder
        self.document, self.address = document, address

    def role(self, name: str, content: str) -> str:
        """Return the Markdown for a role.

        Raises
        ------
        NotPlain
            If a chapter may not use this role, or if its target is not in the book.
        """
        if name in ("cite", "cite:p", "cite:t"):
            return self.citation(content, in_text=name == "cite:t")
        if name not in PLACES:
            raise NotPlain(f"role {{{name}}} has no plain form")
        explicit, title, target = split_explicit_title(content)
        return self.reference(name, title if explicit else None, target)

    def link(self, text: str, target: str) -> str:
        """Return a link to a label or file of the book, with its own text in Markdown."""
        name = "doc" if target.endswith((".md", ".ipynb")) else "ref"
        uri = self.find(name, target.rsplit(".", 1)[0] if name == "doc" else target, text)[1]
        return self.linked(text, uri)

    def number(self, label: str) -> str:
        """Return the name of the algorithm with this label, such as "Algorithm 4.1"."""
        return escaped(self.find("prf:ref", label, None)[0])

    def reference(self, name: str, title: str | None, target: str) -> str:
        """Return a link to `target`, with the target's title unless another one is given."""
        text, uri = self.find(name, target, title)
        return self.linked(escaped(title or text), uri)

    def find(self, name: str, target: str, title: str | None) -> tuple[str, str]:
        """Return Sphinx's text and address of a role, the address relative to the chapter."""
        domain, role = PLACES[name]
        looked_up = target.lower() if name in LOWERED else target
        xref = pending_xref(
            "", refdomain=domain, reftype=role, refexplicit=title is not None, refdoc=self.document
        )
        xref["reftarget"] = looked_up
        words = nodes.inline("", title or target)
        node = self.env.get_domain(domain).resolve_xref(
            self.env, self.document, self.builder, role, looked_up, xref, words
        )
        reference = next(iter(node.findall(nodes.reference)), None) if node is not None else None
        if reference is None:
            raise NotPlain(f"{{{name}}}: {target!r} is nothing in the book")
        own = f"#{reference['refid']}" if "refid" in reference else ""
        return reference.astext(), reference.get("refuri", own)

    def citation(self, keys: str, in_text: bool) -> str:
        """Return short labels, as "(Moore 1959)", or "Moore (1959)" within a sentence."""
        works = [citations.find(self.env, key.strip()) for key in keys.split(",")]
        links = []
        for citation in works:
            uri = self.builder.get_relative_uri(self.document, citation.document)
            words = citation.in_text if in_text else citation.in_brackets
            links.append(self.linked(escaped(words), f"{uri}#{citation.anchor}"))
        return ", ".join(links) if in_text else f"({'; '.join(links)})"

    def linked(self, text: str, uri: str) -> str:
        """Return `text` as a link into the published book, if it is published."""
        page = self.builder.get_target_uri(self.document)
        if self.address is not None:
            return f"[{text}]({urljoin(f'{self.address}/{page}', uri)})"
        # All chapters lie in one folder, both the pages and the plain notebooks.
        path = uri.split("#")[0]
        if path and "/" not in path:
            return f"[{text}]({path.removesuffix('.html')}.ipynb)"
        return text
