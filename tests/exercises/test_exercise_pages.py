"""A page judges an exercise as the checker does, and shows no answer by the way."""

from __future__ import annotations

import ast
import difflib
import html
import json
import re
import sys

import pytest
from adversaries import PREDICTIONS, kernel_of
from built_book import ROOT
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge.effort import FIND
from gpukernels.exercises.judge.exercise import PredictionExercise
from gpukernels.exercises.judge.predicting import compare
from gpukernels.views.engine import function_of
from gpukernels.views.script import alone

sys.path.insert(0, str(ROOT / "book"))
from exercise_pages import read, with_sheets
from exercise_pages.sheets import as_json, label_of, rungs, sheet_of

BUGS = [name for name, ex in CATALOG.items() if ex.kind == FIND]
TAG = re.compile("<[^>]+>")


def asked(function: str):
    """Return a function over the page's `answers.js` as one of Python."""
    call = f"(given) => ({function})(...JSON.parse(given))"
    ask = function_of(alone(["answers"], "ask", call, read), "ask")
    assert ask is not None, "quickjs-ng is missing: install what the extra `book` names"
    return lambda *given: ask(json.dumps(given))


UNSEALED = asked("(sealed, key) => unsealed(sealed, key)")
VERDICT = asked("(text, answer) => verdictOn(text, answer, [])")
VERDICTS = asked(
    "(texts, answer) => texts.map((hinted => (text) => verdictOn(text, answer, hinted))([]))"
)
# JSON has no NaN.
NUMBER = asked("(text) => [numberIn(text)].map((n) => (Number.isNaN(n) ? 'none' : String(n)))[0]")


def text_of(piece: str) -> str:
    """Return what a reader sees of HTML."""
    return html.unescape(TAG.sub("", piece))


PREDICTION = asked("(keys, texts) => predictionText(keys, texts)")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("12", "1,000", "−3", ""), {"a": 12, "b": 1000, "c": -3}),
        (("1.5", " many ", 'a "b"', "it's"), {"a": 1.5, "b": "many", "c": 'a "b"', "d": "it's"}),
        (("",) * 4, {}),
    ],
)
def test_what_is_typed_is_recorded_as_a_dict_of_python(texts, expected):
    assert ast.literal_eval(PREDICTION(list("abcd"), texts)) == expected


def lazy_guesses(ex: PredictionExercise, right: int) -> set[int]:
    """Return what readers write without thinking, and what is nearly right."""
    printed = {int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", ex.statement)}
    near = {right - 1, right + 1, 2 * right, right // 2, -right}
    return {0, 1, 32, *printed, *near, *ex.solution.answer.values()}


@pytest.mark.parametrize("name", PREDICTIONS)
def test_each_number_asked_for_has_a_field_that_takes_what_the_checker_takes(name):
    ex = gk.exercise(name)
    sheet = sheet_of(ex)
    answers = UNSEALED(sheet["sealed"], name)
    assert len(sheet["questions"]) == len(ex.questions) == len(answers)
    counted = ex.solution.answer  # what `measure` returns: test_exercises.py compares them
    for key, answer in zip(ex.questions, answers, strict=True):
        for guess in lazy_guesses(ex, counted[key]):
            expected = compare(key, guess, counted[key], [])
            verdict = VERDICT(f"{guess}", answer)
            assert verdict["right"] == expected.passed
            assert f"{key}: {verdict['says']}" == expected.text
        assert VERDICT(f" {counted[key]:,} ", answer)["right"]


@pytest.mark.parametrize("name", PREDICTIONS)
def test_a_field_gives_as_many_hints_as_the_checker(name):
    ex = gk.exercise(name)
    for key, counted in ex.solution.answer.items():
        guesses = [counted + 8, counted - 5, counted + 8, counted + 2, counted - 5, counted - 1]
        hinted = []
        expected = [compare(key, guess, counted, hinted).text for guess in guesses]
        verdicts = VERDICTS([f"{guess}" for guess in guesses], counted)
        assert [f"{key}: {verdict['says']}" for verdict in verdicts] == expected
        hints = [verdict["says"].endswith("than the machine counts") for verdict in verdicts]
        assert hints == [True, True, True, False, True, False]


@pytest.mark.parametrize("name", PREDICTIONS)
def test_a_field_s_label_begins_with_the_question_in_the_exercise_s_own_words(name):
    ex = gk.exercise(name)
    for question in ex.questions:
        label = text_of(label_of(ex, question))
        assert label.startswith(question)
        assert len(label) > 1, "a letter alone says nothing"


@pytest.mark.parametrize("name", PREDICTIONS + BUGS)
def test_a_sheet_does_not_show_its_answers(name):
    sheet = sheet_of(gk.exercise(name))
    answers = UNSEALED(sheet["sealed"], name)
    assert json.dumps(answers) not in as_json(sheet)
    assert set(sheet) == {
        "id", "kind", "hints", "sealed",
        *(("keys", "questions", "signed") if name in PREDICTIONS else ("lines",)),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1234", 1234), ("1,234", 1234), (" 1 234 ", 1234), ("1_234", 1234), ("1'234", 1234),
        ("1\u202f234\u202f567", 1234567), ("2_621_440", 2621440), ("-6", -6), ("−6", -6),
        ("- 6", -6), ("−\u202f6", -6), (" - 1,234 ", -1234), ("+ 12", 12),
        ("+12", 12), ("12.0", 12), ("12.", 12), ("1.2e1", 12), ("1E3", 1000), ("12.5", 12.5),
        (".5", 0.5), ("007", 7), ("0", 0),
    ],
)  # fmt: skip
def test_a_number_is_read_however_it_is_written(text, value):
    assert float(NUMBER(text)) == value


NO_NUMBERS = "|| |a|12a|1,23|1,2345|,123|1 2|1,234 567|--1|- -1|+-1|-|1e|e3|0x10|.".split("|")[1:]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number_is_refused(text):
    assert NUMBER(text) == "none"
    says = VERDICT(text, 12)["says"]
    assert says == (f"“{text}” is not a number" if text.strip() else "no prediction yet")


@examples(60, 2000)
@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12))
def test_any_two_numbers_compare_as_the_checker_has_it(guess, counted):
    expected = compare("x", guess, counted, [])
    verdict = VERDICT(str(guess), counted)
    assert (verdict["right"], f"x: {verdict['says']}") == (expected.passed, expected.text)


@pytest.mark.parametrize("name", CATALOG)
def test_a_hint_is_a_ladder_of_three_sentences_or_four_and_none_is_lost(name):
    """What to look at, which rule applies, almost the answer; never the solution's own line."""
    ex = gk.exercise(name)
    steps = [text_of(rung) for rung in rungs(ex.hint)]
    assert 3 <= len(steps) <= 4
    assert re.sub(r"[\s`*]", "", "".join(steps)) == re.sub(r"[\s`*]", "", ex.hint)
    assert all(step[-1] in ".?!" and "`" not in step for step in steps)
    solution = {line.strip() for line in ex.solution.text.splitlines()}
    added = solution - {line.strip() for line in ex.skeleton.splitlines()}
    assert [code for code in re.findall(r"`([^`]+)`", ex.hint) if code in added] == []


@pytest.mark.parametrize("name", BUGS)
def test_the_lines_to_click_are_the_skeleton_s_and_the_right_ones_are_taken(name, tmp_path):
    """The solution adds a line beside them, and they hold all that the checker names."""
    ex = gk.exercise(name)
    sheet, source = sheet_of(ex), ex.skeleton.splitlines()
    assert [text_of(line) for line in sheet["lines"]] == ex.skeleton.rstrip("\n").split("\n")
    wrong = [k + 1 for k in UNSEALED(sheet["sealed"], name)]
    assert list(ex.wrong_lines) == [(k, source[k - 1].strip()) for k in wrong] != []
    beside, at = set(), 0
    for mark in (line[:2] for line in difflib.ndiff(source, ex.solution.text.splitlines())):
        at += mark == "  "
        if mark == "+ ":
            beside |= {at, at + 1}
    assert set(wrong) & beside
    code = sum(bool(line.strip()) for line in source)
    assert 2 * len(wrong) < code, "whoever clicks at random should mostly miss"
    (fault,) = ex.check(kernel_of(ex, ex.skeleton, tmp_path), raises=False).findings
    named = re.findall(r"\bline (\d+)", " ".join([fault.text, *fault.details]))
    assert named
    assert set(map(int, named)) <= set(wrong)


CELL = (
    '<div class="cell tag_exercise docutils container">\n<div class="cell_input">'
    '<pre><span></span><span class="n">ex</span> <span class="o">=</span> <span class="n">gk</span>'
    '<span class="o">.</span><span class="n">exercise</span><span class="p">(</span>'
    '<span class="s2">"{}"</span><span class="p">)</span>\n</pre></div></div>'
)


def test_a_page_gets_a_sheet_before_each_cell_that_shows_an_exercise_and_is_the_same_else():
    other = '<div class="cell tag_exercise docutils container"><p>prediction = {}</p></div>'
    body = (
        f"<p>a</p>{CELL.format('simt-1')}{other}{CELL.format('sssp-open')}{CELL.format('simt-2')}"
    )
    page, ids = with_sheets(body)
    assert ids == ["simt-1", "simt-2"]
    assert re.sub(r'<div class="gk-try".*?</script></div>\n', "", page) == body
    for id in ids:
        after = page.partition(f'id="try-{id}">')[2]
        assert after.split("</div>\n", 1)[1].startswith(CELL.format(id))


def test_no_text_ends_the_script_element_that_holds_it():
    assert "</" not in as_json({"a": "</script><!--"})
    assert json.loads(as_json({"a": "</script>"})) == {"a": "</script>"}
