"""Questions in the chapters' texts: one answer is right, and each says why when it is opened."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag

from gpukernels.exercises.tasks import CHAPTERS

FOLDER = Path(__file__).parents[2] / "chapters"
VERDICT = re.compile(r"(Right|No)\. (\S+\s+){4}")
#: How many chapters before its own one a question may ask about.
BACK = {1, 3, 6}


def text_of(chapter: str) -> BeautifulSoup:
    """Return the Markdown of a chapter, whose drawers are elements."""
    cells = nbformat.read(FOLDER / f"{chapter}.ipynb", as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return BeautifulSoup(text, "html.parser")


def questions_of(chapter: str) -> list[Tag]:
    """Return the questions that a chapter asks, those of earlier chapters among them."""
    return text_of(chapter).select("div.question")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_one_answer_is_right_and_every_answer_gives_its_reason(chapter):
    questions = questions_of(chapter)
    assert any("**Now you.**" in question.get_text() for question in questions)
    for question in questions:
        answers = question.find_all("details", recursive=False)
        asked = question.get_text().split("\n\n")[0]
        assert len(answers) >= 2, asked
        assert [answer.get("class") for answer in answers].count(["right"]) == 1, asked
        for answer in answers:
            given = answer.summary.extract().get_text(strip=True)
            assert given
            verdict = VERDICT.match(answer.get_text().strip())
            assert verdict is not None, f"{asked}: {given}"
            assert (verdict[1] == "Right") == (answer.get("class") == ["right"]), given


def test_the_right_answer_may_stand_at_any_place():
    places = Counter(
        [answer.get("class") for answer in question.find_all("details", recursive=False)].index(
            ["right"]
        )
        for chapter in CHAPTERS
        for question in questions_of(chapter)
    )
    assert places.most_common(1)[0][1] <= 0.55 * places.total()


@pytest.mark.parametrize("chapter", CHAPTERS[2:])
def test_a_chapter_begins_with_questions_from_one_three_and_six_chapters_before(chapter):
    (drawer,) = text_of(chapter).select("details.recall")
    asked = [question.get_text().strip() for question in drawer.select("div.question")]
    place = CHAPTERS.index(chapter)
    back = []
    for question in asked:
        of = re.match(r"From \{doc\}`([a-z0-9_]+)`\. ", question)
        assert of is not None, question
        back.append(place - CHAPTERS.index(of[1]))
    assert set(back) <= BACK
    assert back == [b for b in sorted(BACK) if place - b >= 0][: len(back)]
    assert back
    numbers = "A question from an", "Two questions from", "Three questions from"
    label = f"{numbers[len(back) - 1]} earlier chapter" + "s" * (len(back) > 1)
    assert drawer.summary.get_text() == label


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_summary_asks_and_the_answers_are_folded(chapter):
    summary = str(text_of(chapter)).split("## Summary")[1].split("**Read on.**")[0]
    folded = BeautifulSoup(summary, "html.parser").find_all("details")
    assert len(folded) >= 4
    for drawer in folded:
        asked = drawer.summary.extract().get_text()
        assert asked.endswith("?")
        assert len(drawer.get_text().split()) >= 5, asked
    assert "\n- " not in summary
