"""Addresses that slides and courses name: each of the kept list still leads somewhere."""

from __future__ import annotations

import functools
import json
import sys

import pytest
import yaml
from built_book import ROOT
from views.javascript import asked

import gpukernels as gk
from gpukernels.views.address import address_problem

sys.path.insert(0, str(ROOT / "book"))
import find_addresses
import kept_addresses
from find_addresses import Page

SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
REDIRECTS: dict[str, str] = SETTINGS["sphinx"]["config"]["redirects"]
NEVER = "If no edition had it, delete its line in book/addresses.txt."
Moves = list[tuple[str, str]]
moved_to = asked(["address"], "movedTo")


@functools.cache
def book() -> dict[str, Page]:
    """Return the pages of this book; cached, since several tests look at them."""
    return find_addresses.pages()


def problem(
    address: str, pages: dict[str, Page], moves: Moves, redirects: dict[str, str] | None = None
) -> str:
    """Return why an address leads nowhere and what keeps it, or an empty text."""
    name, _, anchor = address.partition("#")
    old = name.removesuffix(".html")
    name = (redirects or {}).get(old, f"/{name}").removeprefix("/")
    if name not in pages:
        keep = f"Under `redirects:` in _config.yml, add `{old}: /chapters/new_name.html`."
        return f"{address}: there is no such page. {keep} {NEVER}"
    page, moved = pages[name], moved_to(f"#{anchor}", moves)
    target = moved[1:].partition("?")[0]
    if target in page.figures:
        wrong = address_problem(page.figures[target], moved)
        keep = f"Say in book/addresses.txt where it has gone: `{address} -> {name}#{target}?...`."
    elif not target or target in page.anchors:
        return ""
    elif target.startswith("fig-"):
        wrong = f"{name} has no such figure"
        keep = f'Give a figure name="{target.removeprefix("fig-")}"; if it is gone, put '
        keep += f'<a id="{target}"></a> before what stands in its place.'
    else:
        wrong = f"{name} has no such heading or label"
        keep = f"Put `({target})=` above the heading, or "
        keep += f'<a id="{target}"></a> if another page has that label.'
    return f"{address}: {wrong}. {keep} {NEVER}" if wrong else ""


def test_every_kept_address_leads_somewhere():
    kept = kept_addresses.kept()
    moves = {name: kept_addresses.moves_of(name) for name in book()}
    problems = [problem(a, book(), moves.get(a.partition("#")[0], []), REDIRECTS) for a in kept]
    assert "\n".join(filter(None, problems)) == ""
    assert len(kept) == len({*kept})


def test_every_figure_is_in_the_list():
    figures = {f"{name}#{figure}" for name, page in book().items() for figure in page.figures}
    new = sorted(figures - {*kept_addresses.kept()})
    assert new == [], "`make addresses` adds them to book/addresses.txt"


def page_with_a_figure() -> dict[str, Page]:
    view = gk.CompareView([("a", "g", {"x": 1})], title="Times")
    figure = json.loads(json.dumps(view.payload)) | {"name": "one"}
    return {"a.html": Page({"heading", "fig-gone"}, {"fig-one": figure}, set())}


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("a.html", ""),
        ("a.html#heading", ""),
        ("a.html#fig-one", ""),
        ("b.html", "there is no such page. Under `redirects:` in _config.yml, add `b: /"),
        ("old/c.html", ""),
        ("a.html#Heading", "Put `(Heading)=` above the heading, or <a id="),
        ("a.html#fig-two?step=1", 'Give a figure name="two"; if it is gone, put <a id="fig-two">'),
        ("a.html#fig-one?step=7", 'it has no step "7"'),
        ("a.html#fig-one?run=b", "where it has gone: `a.html#fig-one?run=b -> a.html#fig-one?...`"),
    ],
)
def test_an_address_that_vanishes_is_told_with_what_keeps_it(address, message):
    text = problem(address, page_with_a_figure(), [], {"old/c": "/a.html"})
    assert message in text
    assert (text == "") == (message == "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#fig-a?run=x&left=p&step=3", "#fig-a?left=p&step=3&run=z"),
        ("#fig-a?run=y&step=3", "#fig-a?run=y&step=3"),
        ("#fig-b?step=8", "#fig-c?step=9"),
        ("#fig-b?run=x", "#fig-c?run=x"),
        ("#fig-b", "#fig-c"),
        ("", ""),
    ],
)
def test_what_an_old_address_says_gives_way_and_the_rest_of_the_state_stays(old, new):
    moves = [
        ("#fig-a?run=x", "#fig-a?run=z"),
        ("#fig-b?step=8", "#fig-b?step=9"),
        ("#fig-b", "#fig-c"),
    ]
    assert moved_to(old, moves) == new


@pytest.fixture
def small_book(tmp_path, monkeypatch):
    """A book of one page and a list of two addresses, of which one is gone."""
    (tmp_path / "_toc.yml").write_text("root: a\nparts: []\n")
    (tmp_path / "a.md").write_text(
        "# The `code` of {term}`warps <warp>` by $n^2$\n\n(a-label)=\n## Twice\n\n## Twice\n\n"
        '<a id="old"></a>\n\n```python\n# no heading\n```\n\n'
        ":::{admonition} Note\n[Go](#fig-one?step=2)\n:::\n"
    )
    kept = tmp_path / "book" / "addresses.txt"
    kept.parent.mkdir()
    kept.write_text("# Kept.\na.html#gone\na.html#fig-one?run=x -> a.html#fig-one?run=y\n")
    monkeypatch.setattr(find_addresses, "ROOT", tmp_path)
    monkeypatch.setattr(kept_addresses, "FILE", kept)
    return kept


def test_one_command_adds_what_is_new_and_keeps_the_rest(small_book):
    find_addresses.main()
    assert small_book.read_text().splitlines() == [
        "# Kept.",
        "a.html",
        "a.html#a-label",
        "a.html#fig-one?run=x -> a.html#fig-one?run=y",
        "a.html#fig-one?step=2",
        "a.html#gone",
        "a.html#old",
        "a.html#the-code-of-warps-by-n-2",
        "a.html#twice",
    ]
    once = small_book.read_text()
    find_addresses.main()
    assert small_book.read_text() == once
    assert kept_addresses.moves_of("a.html") == [("#fig-one?run=x", "#fig-one?run=y")]
    assert kept_addresses.moves_of("b.html") == []
