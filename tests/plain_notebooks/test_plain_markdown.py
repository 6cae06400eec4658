"""Roles, directives and labels become plain Markdown; code, formulas and escapes stay."""

from __future__ import annotations

import sys

import pytest
import yaml
from built_book import ROOT
from hypothesis import example, given
from hypothesis import strategies as st

sys.path.insert(0, str(ROOT / "book"))
from plain_notebooks.markdown import EXTENSIONS, NotPlain, plain


class Marked:
    """A book that answers with what it was asked, in marks that Markdown leaves alone."""

    def role(self, name: str, content: str) -> str:
        return f"«{name}|{content}»"

    def link(self, text: str, target: str) -> str:
        return f"«link|{text}|{target}»"

    def number(self, label: str) -> str:
        return f"«number|{label}»"


def made(text: str) -> str:
    return plain(text, Marked())


def test_the_parser_reads_what_the_book_reads():
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    assert set(config["parse"]["myst_enable_extensions"]) == EXTENSIONS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a {term}`warp` here", "a «term|warp» here"),
        ("{term}`units <work-unit>`", "«term|units <work-unit>»"),
        ("{cite}`a1,b2`, {cite:t}`c`; {doc}`simt`.", "«cite|a1,b2», «cite:t|c»; «doc|simt»."),
        ("{prf:ref}`alg`{ref}`sec`", "«prf:ref|alg»«ref|sec»"),
        ("# A {term}`warp`\n\ntext", "# A «term|warp»\n\ntext"),
        ("*see {term}`warp`* and **{doc}`x`**", "*see «term|warp»* and **«doc|x»**"),
        ("({cite}`a`)", "(«cite|a»)"),
        ("{term}``two ` ticks``", "«term|two ` ticks»"),
        ("- {term}`a`\n  - {term}`b`\n\n    {term}`c`", "- «term|a»\n  - «term|b»\n\n    «term|c»"),
        ("1. x\n\n   > {ref}`a` b", "1. x\n\n   > «ref|a» b"),
        ("{term}`virtual\nwarp` here", "«term|virtual warp» here"),
        ("> {term}`virtual\n> warp` here", "> «term|virtual warp» here"),
        ("- {term}`virtual\n  warp` here", "- «term|virtual warp» here"),
        ("| a |\n|---|\n| {term}`x` `|` |", "| a |\n|---|\n| «term|x» `|` |"),
        ("|{ref}`a`|{cite}`b`|\n|-|-|\n|x|y|", "|«ref|a»|«cite|b»|\n|-|-|\n|x|y|"),
        ("$x_{i}$ and {term}`a` and $y$", "$x_{i}$ and «term|a» and $y$"),
    ],
)  # fmt: skip
def test_a_role_is_replaced_wherever_text_is(text, expected):
    assert made(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the role ` {term}`` is code `",
        "`` {term}`x` `` is code",
        "`{term}` is code",
        r"\{term}`x` is escaped",
        "```python\n{term}`x`\n(label)=\n```",
        "~~~\n{term}`x`\n~~~",
        "    {term}`x` is an indented block",
        "$$\n{a}`x`\n$$",
        r"$\mathit{VW}$ and $a_{b}$",
        "<!-- {term}`x` -->",
        "[site](https://example.org/a_(b)) and <https://example.org>",
        "[mail](mailto:a@example.org)",
        "![a figure](figure.png)",
        "| a |\n|---|\n| `{x}` |",
        "{ term}`x` is no role",
        "a dict {1: 2}, a set {a}",
        "line one  \nline two\\\nline three",
        "* * *",
        "",
        "\n",
    ],
)
def test_what_is_no_role_stays_to_the_letter(text):
    assert made(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(label)=\n## Title\n", "## Title\n"),
        ("(one)=\n(two)=\n\n## Title", "## Title"),
        ("above\n\n(label)=\n## Title", "above\n\n## Title"),
        ("% a comment\ntext", "text"),
        ("text\n\n+++\n\nmore", "text\n\n\nmore"),
    ],
)
def test_labels_comments_and_breaks_leave_nothing(text, expected):
    assert made(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [exercise 3](scans-exercises).", "see «link|exercise 3|scans-exercises»."),
        ("[a](#label) [b](https://b.org)", "«link|a|label» [b](https://b.org)"),
        ("[`code` *and* more](other.md)", "«link|`code` *and* more|other.md»"),
        ("[x[0]](label)", "«link|x[0]|label»"),
    ],
)
def test_a_link_to_a_label_is_asked_of_the_book(text, expected):
    assert made(text) == expected


def test_an_algorithm_is_a_quotation_with_its_number_and_title():
    text = (
        "before\n\n:::{prf:algorithm} Two *turns* of {term}`scan`\n:label: alg\n\n"
        "**Input** a {term}`warp`\n\n1. one\n   1. nested $x$\n2. two\n:::\n\nafter\n"
    )
    assert made(text) == (
        "before\n\n> **«number|alg» (Two *turns* of «term|scan»)**\n>\n"
        "> **Input** a «term|warp»\n>\n> 1. one\n>    1. nested $x$\n> 2. two\n\nafter\n"
    )


@pytest.mark.parametrize("fence", ["~~~", "~~~~", ":::", "::::"])
def test_an_admonition_is_a_quotation_under_its_title(fence):
    inside = "{admonition} A slip in {cite}`a`\n:class: note\nIt says {term}`b`.\n"
    text = f"{fence}{inside}{fence}\n"
    assert made(text) == "> **A slip in «cite|a»**\n>\n> It says «term|b».\n"


def test_admonitions_without_a_title_have_their_name():
    assert made("```{note}\nx\n```") == "> **Note**\n>\n> x\n"
    assert made(":::{seealso}\nx\n:::") == "> **See also**\n>\n> x\n"


def test_what_the_page_drops_down_is_details():
    text = "```{admonition} Would it?\n:class: dropdown seealso\nNo: {term}`race`.\n\n- a\n```"
    assert made(text) == (
        "<details>\n<summary><b>Would it?</b></summary>\n\nNo: «term|race».\n\n- a\n\n</details>\n"
    )


def test_a_directive_in_a_list_or_a_quotation_stays_in_it():
    assert made("- a\n\n  ```{note}\n  x\n  ```\n- b") == ("- a\n\n  > **Note**\n  >\n  > x\n- b")
    assert made("> ```{note}\n> x\n> ```") == "> > **Note**\n> >\n> > x\n"


def test_directives_within_directives():
    text = "````{note}\n```{tip}\n{term}`x`\n```\n````"
    assert made(text) == "> **Note**\n>\n> > **Tip**\n> >\n> > «term|x»\n"


@pytest.mark.parametrize(
    "text",
    [
        "```{figure} a.png\ncaption\n```",
        "```{code-cell} python\n1\n```",
        "$$\nx\n$$ (labelled)",
        "{.lead}\nA paragraph.",
        "some [words]{.class}",
        "a {{ substitution }}",
        "a note[^1]\n\n[^1]: text",
        "term\n: definition",
        "[a {term}`role` in a link](https://example.org)",
        "[a {term}`role` in a link](label)",
        "![{term}`role` in an image](a.png)",
    ],
)
def test_what_has_no_plain_form_is_refused(text):
    with pytest.raises(NotPlain, match="plain"):
        made(text)


PIECES = st.sampled_from(
    [
        *("warp", " ", "\n", "\n\n", "{term}`a`", "{cite}`b`", "`", "``", "$", "$x$", "$$"),
        *("`{x}`", "(a)=\n", "[t](l)", "[t](http://u)", "|", "\n|--|--|\n", "    ", "\t", "é"),
        *("*", "- ", "1. ", "> ", "# ", "\\", "<b>"),
        *("```{note}\n", "\n```\n", ":::\n", ":::{tip} t\n"),
    ]
)


class Wordless(Marked):
    """A book whose roles say nothing that could be Markdown again."""

    def role(self, name: str, content: str) -> str:
        return f"«{name}»"


@example("warp(a)=\n(a)=\n    {term}`a`")
@given(st.lists(PIECES, max_size=12).map("".join))
def test_what_is_plain_stays_as_it_is(text):
    """Plain text is a fixed point; what is not plain is refused, never half done."""
    try:
        once = plain(text, Wordless())
    except NotPlain:
        return
    assert plain(once, Wordless()) == once
