"""Words that tire a reader whose first language is another, and what the book says instead."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: A word to look up, and a plain one.
INSTEAD = {
    "afresh": "again",
    "albeit": "although",
    "amidst": "among",
    "anew": "again",
    "aught": "anything",
    "beget": "make",
    "begets": "makes",
    "commence": "begin",
    "dear": "costly",
    "dearer": "costs more",
    "deem": "take for",
    "deemed": "taken for",
    "hence": "so",
    "henceforth": "from here on",
    "hitherto": "so far",
    "ilk": "kind",
    "insofar": "as far as",
    "lest": "so that ... not",
    "mend": "fix",
    "mended": "fixed",
    "mending": "fixing",
    "mends": "fixes",
    "naught": "nothing",
    "notwithstanding": "in spite of",
    "nought": "nothing",
    "oft": "often",
    "seldom": "rarely",
    "thence": "from there",
    "thereby": "by that",
    "therein": "in it",
    "thereof": "of it",
    "thither": "there",
    "twofold": "two times",
    "upon": "on",
    "utilize": "use",
    "whence": "from where",
    "wherein": "in which",
    "whilst": "while",
    "withal": "besides",
}
#: Turns of phrase, as patterns.
PHRASES = {
    r"(?<!\w)an? (technique|kernel|level) an? (level|vertex)": "one ... per ...",
    # In a heading, which no sentence around it explains, of any two things.
    r"(?m)^#+ .*?(?<!\w)an? [\w-]+ (of [\w-]+ )?an? [\w-]+": "one ... for each ...",
}
#: What is no prose: code, formulas, roles and their targets, links' addresses.
NO_PROSE = re.compile(r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)", re.S)


def prose() -> Iterator[tuple[str, str]]:
    """Yield (where, text) of all that a reader of the book reads."""
    for path in [*sorted((ROOT / "chapters").glob("*.ipynb")), ROOT / "book" / "index.ipynb"]:
        for i, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            if cell["cell_type"] == "markdown":
                yield f"{path.relative_to(ROOT)}, cell {i}", "".join(cell["source"])
    folders = (ROOT, ROOT / "book", ROOT / "book" / "reference", ROOT / "gpukernels" / "exercises")
    for path in (path for folder in folders for path in sorted(folder.glob("*.md"))):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def hard_words(text: str) -> list[str]:
    """Return the words and phrases of `text` that have a plainer one, each with it."""
    text = NO_PROSE.sub(" ", text)
    words = re.findall(r"[a-z']+", text.lower())
    found = [f"{word}: {INSTEAD[word]}" for word in words if word in INSTEAD]
    for phrase, instead in PHRASES.items():
        found += [f"{m[0]}: {instead}" for m in re.finditer(phrase, text, re.I)]
    return found


def test_the_prose_has_plain_words():
    found = {where: words for where, text in prose() if (words := hard_words(text))}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We mend it, afresh.", ["mend: fix", "afresh: again"]),
        ("BFS-4K: a technique a level", ["a technique a level: one ... per ..."]),
        ("## A launch a level", ["## A launch a level: one ... for each ..."]),
        (
            "### A group of lanes an arc: fast",
            ["### A group of lanes an arc: one ... for each ..."],
        ),
        ("## A scan of a warp\nA lane has an arc a step.", []),
        ("The `mend` of $hence$ [this](#anew) is amended. Deary me.", []),
    ],
)
def test_hard_words_are_found_in_prose_alone(text, found):
    assert hard_words(text) == found
