"""Roles, directives and labels become plain Markdown; code, formulas and escapes stay."""

from __future__ import annotations

import sys

import pytest
from built_book import ROOT

sys.path.insert(0, str(ROOT / "book"))
from plain_notebooks.markdown import NotPlain, plain


class Marked:
    """A book that answers with what it was asked, in marks that Markdown leaves alone."""

    def role(self, name: str, content: str) -> str:
        return f"«{name}|{content}»"

    def link(self, text: str, target: str) -> str:
        return f"«link|{text}|{target}»"

    def number(self, label: str) -> str:
        return f"«number|{label}»"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a {term}`warp` here", "a «term|warp» here"),
        ("{cite}`a1,b2`, {cite:t}`c`; {doc}`simt`.", "«cite|a1,b2», «cite:t|c»; «doc|simt»."),
        ("{prf:ref}`alg`{ref}`sec`", "«prf:ref|alg»«ref|sec»"),
        ("# A {term}`warp`\n\ntext", "# A «term|warp»\n\ntext"),
        ("{term}``two ` ticks``", "«term|two ` ticks»"),
        ("> {term}`virtual\n> warp` here", "> «term|virtual warp» here"),
        ("|{ref}`a`|{cite}`b`|\n|-|-|\n|x|y|", "|«ref|a»|«cite|b»|\n|-|-|\n|x|y|"),
        ("(one)=\n(two)=\n\n## Title", "## Title"),
        ("above\n\n(label)=\n## Title", "above\n\n## Title"),
        ("see [exercise 3](scans-exercises).", "see «link|exercise 3|scans-exercises»."),
        ("[a](#label) [b](https://b.org)", "«link|a|label» [b](https://b.org)"),
        ("[stop at\n8](#fig-one?run=a&step=8)", "[stop at\n8](#fig-one)"),
    ],
)
def test_what_is_of_myst_is_replaced(text, expected):
    assert plain(text, Marked()) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the role ` {term}`` is code `",
        "`` {term}`x` `` is code",
        r"\{term}`x` is escaped",
        "```python\n{term}`x`\n(label)=\n```",
        "~~~\n{term}`x`\n~~~",
        r"$\mathit{VW}$ and $a_{b}$",
        "[site](https://example.org/a_b) and <https://example.org>",
        "[mail](mailto:a@example.org)",
        "a dict {1: 2}, a set {a}",
        "",
    ],
)
def test_what_is_no_myst_stays_to_the_letter(text):
    assert plain(text, Marked()) == text


def test_an_algorithm_is_a_quotation_with_its_number_and_title():
    text = (
        "before\n\n:::{prf:algorithm} Two *turns* of {term}`scan`\n:label: alg\n\n"
        "**Input** a {term}`warp`\n\n1. one\n   1. nested $x$\n2. two\n:::\n\nafter\n"
    )
    assert plain(text, Marked()) == (
        "before\n\n> **«number|alg» (Two *turns* of «term|scan»)**\n>\n"
        "> **Input** a «term|warp»\n>\n> 1. one\n>    1. nested $x$\n> 2. two\n\nafter\n"
    )


def test_what_the_page_drops_down_is_details_and_another_admonition_a_quotation():
    text = "```{admonition} Would it?\n:class: dropdown seealso\nNo: {term}`race`.\n\n- a\n```"
    assert plain(text, Marked()) == (
        "<details>\n<summary><b>Would it?</b></summary>\n\nNo: «term|race».\n\n- a\n\n</details>\n"
    )
    text = ":::{admonition} A slip in {cite}`a`\n:class: note\nIt says {term}`b`.\n:::\n"
    assert plain(text, Marked()) == "> **A slip in «cite|a»**\n>\n> It says «term|b».\n"


@pytest.mark.parametrize(
    "text",
    [
        "```{figure} a.png\ncaption\n```",
        "- a\n\n  ```{admonition} b\n  x\n  ```",
        "{.lead}\nA paragraph.",
        "% a comment",
        "+++",
    ],
)
def test_what_has_no_plain_form_is_refused(text):
    with pytest.raises(NotPlain, match="plain form"):
        plain(text, Marked())
