"""MyST Markdown to Markdown that every notebook program shows.

Chapters use only a few parts of MyST: roles, labels, links to figures, algorithms and admonitions.
These are replaced in the text. Everything else, above all code, stays as it is.
"""

from __future__ import annotations

import re
from typing import Protocol

#: At each place of a text, the first of these patterns that fits is taken.
PARTS = re.compile(
    r"""
    ^(?P<fence>`{3,}|:{3,})\{(?P<directive>[\w:-]+)\}\ *(?P<title>[^\n]*)\n
        (?P<body>.*?)^(?P=fence)\ *(?:\n|\Z)
    | ^(?P<block>`{3,}|~{3,}).*?^(?P=block)\ *$
    | \{(?P<role>[\w:+-]+)\}(?P<ticks>`+)(?P<content>.+?)(?P=ticks)
    | (?P<code>`+)(?!`).+?(?<!`)(?P=code)(?!`)
    | \\.
    | ^\([\w-]+\)=\n+(?P<label>)
    | (?<!!)\[(?P<text>[^\]]+)\]
        \(<?(?P<target>(?![a-zA-Z][\w+.-]*:)(?:[^)\s<>]+|(?<=<)[^<>\n]+))>?\)
    | (?P<myst>^[ >]*(?:`{3,}|:{3,})\{|^(?:%|\+\+\+|\{[.#\w][^\n]*\}\ *$))
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
OPTION = re.compile(r"\A:([\w-]+): *(.*)\n")


class NotPlain(ValueError):
    """A part of MyST for which this module has no plain form."""


class Resolver(Protocol):
    """An object that knows the book; each of its methods returns Markdown."""

    def role(self, name: str, content: str) -> str:
        """Return the Markdown for the role `name` with this content."""

    def link(self, text: str, target: str) -> str:
        """Return the Markdown for a link to a label or file of the book."""

    def number(self, label: str) -> str:
        """Return the name of the algorithm with this label, such as "Algorithm 4.1"."""


def plain(text: str, book: Resolver) -> str:
    """Return the text of a Markdown cell without MyST's roles, directives and labels.

    Raises
    ------
    NotPlain
        If it has a part of MyST for which this module has no plain form.
    """

    def part(match: re.Match[str]) -> str:
        if match["directive"]:
            return directive(match["directive"], match["title"], match["body"], book)
        if match["role"]:
            return book.role(match["role"], re.sub(r"\n[ >]*", " ", match["content"]))
        if match["label"] is not None:
            return ""
        if match["target"]:
            words, target = plain(match["text"], book), match["target"]
            if target.startswith("#fig-"):
                # No notebook program can set a figure, but a link can lead to it.
                return f"[{words}]({target.partition('?')[0]})"
            return book.link(words, target.removeprefix("#"))
        if match["myst"] is not None:
            raise NotPlain(f"no plain form: {text[match.start() :][:80]!r}")
        return match[0]

    return PARTS.sub(part, text)


def directive(name: str, title: str, body: str, book: Resolver) -> str:
    """Return a directive as Markdown: a quotation under a bold title, or details to open."""
    options = {}
    while option := OPTION.match(body):
        options[option[1]] = option[2]
        body = body[option.end() :]
    inner, title = plain(body, book).strip("\n"), plain(title, book)
    if name == "prf:algorithm":
        number = book.number(options["label"]) if "label" in options else "Algorithm"
        title = f"{number} ({title})" if title else number
    elif name != "admonition":
        raise NotPlain(f"directive {{{name}}} has no plain form")
    if "dropdown" in options.get("class", "").split():
        return f"<details>\n<summary><b>{title}</b></summary>\n\n{inner}\n\n</details>\n"
    # After a quotation mark, a tab is two columns wide and no longer an indent of code.
    lines = [f"**{title}**", "", *inner.expandtabs(4).splitlines()]
    return "".join(f"> {line}".rstrip() + "\n" for line in lines)
