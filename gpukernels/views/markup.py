"""A tree of HTML and SVG elements, and its one text form.

The first frame of a view is such a tree. Classes carry the style sheet's colors; where a class has
a printed look (:data:`gpukernels.views.palette.PAINT`) the text form also carries it as attributes,
so that a figure keeps its meaning where no style sheet reaches it.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from gpukernels.views.palette import PAINT

_SVG = {"svg", "g", "path", "rect", "circle", "line", "text", "tspan"}


@dataclass(frozen=True)
class Element:
    """One element: its tag, its attributes in order, its children (elements or text)."""

    tag: str
    attributes: dict[str, object]
    children: tuple[Element | str, ...]


def h(tag: str, attributes: dict[str, object] | None = None, *children: object) -> Element:
    """Make an element; ``None`` among attributes or children is left out, lists are flattened."""
    kept = {k: v for k, v in (attributes or {}).items() if v is not None and v is not False}
    flat: list[Element | str] = []
    for child in children:
        if isinstance(child, (list, tuple)):
            flat.extend(c for c in child if c is not None)
        elif child is not None:
            flat.append(child if isinstance(child, Element) else str(child))
    return Element(tag, kept, tuple(flat))


def number(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def to_html(node: Element | str) -> str:
    """Write the tree as HTML text."""
    if not isinstance(node, Element):
        return escape(node, quote=False)
    attributes = dict(node.attributes)
    if node.tag in _SVG:
        for name in str(attributes.get("class", "")).split():
            for key, value in PAINT.get(name, {}).items():
                attributes.setdefault(key, value)
    written = "".join(
        f' {key}="{escape(number(v) if isinstance(v, float) else str(v))}"'
        if v is not True
        else f" {key}"
        for key, v in attributes.items()
    )
    inner = "".join(to_html(child) for child in node.children)
    if not inner and node.tag in _SVG:
        return f"<{node.tag}{written}/>"
    return f"<{node.tag}{written}>{inner}</{node.tag}>"
