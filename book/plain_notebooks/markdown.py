"""MyST Markdown to Markdown that every notebook program shows.

MyST's own parser says where roles, directives and labels are, so that code, formulas and escapes
are left alone; what is replaced is cut out of the text itself, and the rest stays as written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Protocol

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

#: What MyST reads in the chapters: `myst_enable_extensions` of _config.yml.
EXTENSIONS = frozenset(
    "amsmath attrs_block attrs_inline colon_fence deflist dollarmath html_image "
    "substitution".split()
)
#: Blocks that all notebook programs know, and parts of lines.
PLAIN = frozenset(
    "amsmath blockquote bullet_list code_block fence heading hr html_block inline list_item "
    "math_block ordered_list paragraph table tbody td th thead tr".split()
)
PLAIN_INLINE = frozenset(
    "code_inline em hardbreak html_inline image link math_inline math_inline_double softbreak "
    "strong text".split()
)
#: Directives that become a quotation under a bold title; `admonition` has one of its own.
TITLES = {
    name: name.capitalize()
    for name in "attention caution danger error hint important note tip warning".split()
} | {"seealso": "See also"}
#: Lines of MyST that leave nothing behind: labels, comments, cell breaks.
REMOVED = frozenset(["myst_target", "myst_line_comment", "myst_block_break"])

DIRECTIVE = re.compile(r"\{([\w:-]+)\} *(.*)")
OPTION = re.compile(r":([\w-]+):(?: +(.*))?")
ROLE = re.compile(r"\{([\w:+-]+)\}(`+)(.*?)\2", re.DOTALL)
#: An address of its own, as opposed to a label or a file of the book.
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
#: A figure of the same chapter, and what of it a link sets in the book.
FIGURE = re.compile(r"<?(#fig-[a-z0-9-]+)")


class NotPlain(ValueError):
    """Something that has no plain form here."""


class Resolver(Protocol):
    """What answers for the book: each method returns Markdown."""

    def role(self, name: str, content: str) -> str:
        """Return what stands for the role `name` with this content."""

    def link(self, text: str, target: str) -> str:
        """Return what stands for a link to a label or file of the book."""

    def number(self, label: str) -> str:
        """Return what the algorithm with this label is called, as "Algorithm 4.1"."""


def parser() -> MarkdownIt:
    """Return MyST's parser as the book sets it, which also notes where roles and links stand."""
    md = create_md_parser(MdParserConfig(enable_extensions=EXTENSIONS), RendererHTML)
    rules = {rule.name: rule.fn for rule in md.inline.ruler.__rules__}
    for name in ("myst_role", "link"):
        md.inline.ruler.at(name, noting_place(rules[name]))
    return md


def noting_place(
    rule: Callable[[StateInline, bool], bool],
) -> Callable[[StateInline, bool], bool]:
    """Return the inline rule `rule`, whose last token also says from where to where it read."""

    def noting(state: StateInline, silent: bool) -> bool:
        begin = state.pos
        found = rule(state, silent)
        if found and not silent:
            state.tokens[-1].meta["place"] = (begin, state.pos)
        return found

    return noting


MYST = parser()


def kind(token: Token) -> str:
    """Return what the token is part of."""
    return token.type.removesuffix("_open").removesuffix("_close")


def plain(text: str, book: Resolver) -> str:
    """Return the text of a Markdown cell without MyST's roles, directives and labels.

    Raises
    ------
    NotPlain
        If it holds something of MyST for which this module knows no plain form.
    """
    if not text.strip():
        return text
    lines = text.splitlines(keepends=True)
    pieces, done = [], 0
    for begin, end, new in sorted(blocks(lines, book)):
        pieces += [*lines[done:begin], new]
        done = end
    whole = "".join([*pieces, *lines[done:]])
    return re.sub(r"\A\n+", "", whole) if pieces else whole


def blocks(lines: list[str], book: Resolver) -> Iterator[tuple[int, int, str]]:
    """Yield the first line, the line after the last, and the new text, of what is rewritten."""
    in_table = False
    for token in MYST.parse("".join(lines)):
        what = kind(token)
        begin, end = token.map or (0, 0)
        raw = "".join(lines[begin:end])
        if what == "table":
            in_table = token.nesting == 1
            if in_table:
                rows = [spans(row, book) for row in lines[begin:end]]
                yield begin, end, "".join(rows)
        elif what == "inline":
            if not in_table:
                yield begin, end, spans(raw, book)
        elif what in REMOVED:
            # What it keeps apart stays apart: code by its indent, say, and a paragraph before it.
            sides = lines[max(begin - 1, 0) : begin], lines[end:]
            yield begin, end, "\n" if all("".join(side).strip() for side in sides) else ""
        elif what in ("fence", "colon_fence") and DIRECTIVE.match(token.info.strip()):
            # A quotation mark or a list's blanks stand before each line of what they hold.
            first = raw[: raw.index(token.markup)]
            others = re.sub(r"[^>\s]", " ", first)
            new = directive(token, book).splitlines()
            framed = [(others if n else first) + line for n, line in enumerate(new)]
            # A line right behind a quotation would be read as its last one.
            behind = "\n" if not first and "".join(lines[end : end + 1]).strip() else ""
            yield begin, end, "".join(line.rstrip() + "\n" for line in framed) + behind
        elif what not in PLAIN or token.attrs.get("class"):
            raise NotPlain(f"{what} has no plain form: {raw.strip()[:80]!r}")


def directive(token: Token, book: Resolver) -> str:
    """Return a directive as Markdown: a quotation under a bold title, or details to open."""
    name, argument = DIRECTIVE.fullmatch(token.info.strip()).groups()
    body = token.content.splitlines(keepends=True)
    options = {}
    while body and (found := OPTION.fullmatch(body[0].strip())):
        options[found[1]] = found[2] or ""
        body = body[1:]
    inner = plain("".join(body).strip("\n"), book).strip("\n")
    title = spans(argument, book)
    if name == "prf:algorithm":
        number = book.number(options["label"]) if "label" in options else "Algorithm"
        title = f"{number} ({title})" if title else number
    elif name in TITLES:
        title = title or TITLES[name]
    elif name != "admonition":
        raise NotPlain(f"directive {{{name}}} has no plain form")
    if "dropdown" in options.get("class", "").split():
        return f"<details>\n<summary><b>{title}</b></summary>\n\n{inner}\n\n</details>"
    # Behind a quotation mark a tab is two columns wide, and no indent of code any more.
    lines = [f"**{title}**", "", *inner.expandtabs(4).splitlines()]
    return "\n".join(f"> {line}".rstrip() for line in lines)


def spans(raw: str, book: Resolver) -> str:
    """Return the text of a paragraph, heading or table row without roles and links to labels."""
    pieces, done = [], 0
    for begin, end, new in inline(raw, book):
        if begin < done:
            raise NotPlain(f"a role within a link has no plain form: {raw[begin:end]!r}")
        pieces += [raw[done:begin], new]
        done = end
    return "".join([*pieces, raw[done:]])


def inline(raw: str, book: Resolver) -> list[tuple[int, int, str]]:
    """Return where `raw` changes, in order: first and last place, and the new text."""
    found = []
    for token in MYST.parseInline(raw)[0].children:
        place = token.meta.get("place")
        if token.type == "myst_role":
            # A line that the role runs on to begins with the list's blanks or the quotation's mark.
            text = re.sub(r"\n[ >]*", " ", raw[slice(*place)])
            name, _, content = ROLE.fullmatch(text).groups()
            found.append((*place, book.role(name, content)))
        elif token.type == "link_close":
            if place is not None:
                found.append((*place, link(raw[slice(*place)], book)))
        elif kind(token) not in PLAIN_INLINE or token.attrs.get("class"):
            raise NotPlain(f"{kind(token)} has no plain form: {raw.strip()[:80]!r}")
        elif any(child.type not in ("text", "softbreak") for child in token.children or []):
            raise NotPlain(f"an image's text has to be plain: {raw.strip()[:80]!r}")
    return sorted(found)


def link(raw: str, book: Resolver) -> str:
    """Return a link to a label or a file of the book as the book has it, others as they are."""
    text, bracket, target = raw.rpartition("](")
    if not bracket or OUTSIDE.match(target):
        return raw
    if figure := FIGURE.match(target):
        # No notebook program can set a figure, but those that show it can come to it.
        return f"{text}]({figure[1]})"
    return book.link(text[1:], target.removesuffix(")").removeprefix("#"))
