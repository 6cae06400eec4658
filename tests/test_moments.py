"""Every chapter has sentences that move its figures, and a moment to predict in its text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
#: A link to a state of a figure; the build checks that the figure has it.
MOVES = re.compile(r"\]\(#fig-[a-z0-9-]+\?[^)\s]*\)")


def text_of(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_three_sentences_or_more_set_a_figure_to_their_moment(path):
    assert len(set(MOVES.findall(text_of(path)))) >= 3


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_asks_its_reader_to_predict_before_the_exercises(path):
    text = text_of(path)
    assert 0 < text.find("**Now you") < text.find("## Exercises")
