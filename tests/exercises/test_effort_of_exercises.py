"""Every exercise has a name of its own, a level, minutes that follow, and what it teaches."""

from __future__ import annotations

import pytest

from gpukernels.exercises import CATALOG, OPEN
from gpukernels.exercises.judge.effort import FIND, LEVELS, PREDICT, WRITE, minutes_of
from gpukernels.exercises.judge.effort import OPEN as OPEN_KIND

WORDS = " ".join(["word"] * 200)
#: What has the same name in every chapter tells nothing.
TELL_NOTHING = ("find the bug", "predict the counter", "write a kernel", "beat this counter")


def test_no_two_exercises_have_one_name_and_every_name_tells_something():
    titles = [task.title for task in (*CATALOG.values(), *OPEN.values())]
    assert len(set(titles)) == len(titles)
    assert [t for t in titles if t.startswith(TELL_NOTHING)] == []
    assert all(8 <= len(t) <= 50 and "." not in t for t in titles)
    lessons = [ex.teaches for ex in CATALOG.values()]
    assert len(set(lessons)) == len(lessons)


@pytest.mark.parametrize("name", CATALOG)
def test_an_exercise_has_a_kind_a_level_minutes_and_a_lesson(name):
    ex = CATALOG[name]
    assert ex.kind in (PREDICT, FIND, WRITE)
    assert (ex.kind == PREDICT) == (ex.wants == "a prediction")
    assert (ex.kind == FIND) == bool(getattr(ex, "wrong_lines", ()))
    assert ex.level in LEVELS
    assert 5 <= ex.minutes <= 120
    assert ex.minutes % 5 == 0
    assert ex.about == (
        f"{ex.kind.capitalize()}, {ex.level}, about {ex.minutes} minutes. You learn {ex.teaches}."
    )
    assert ex.teaches.split()[0] in {"how", "to", "what", "when", "which", "why", "the"}


@pytest.mark.parametrize("name", OPEN)
def test_an_open_task_has_a_kind_and_a_level_and_says_that_it_has_no_end(name):
    assert (OPEN[name].kind, OPEN[name].level) == (OPEN_KIND, "hard")
    assert "without an end" in repr(OPEN[name])


def test_every_level_and_every_kind_is_taken():
    assert {ex.level for ex in CATALOG.values()} == set(LEVELS)
    assert {(ex.level, ex.kind) for ex in CATALOG.values()} >= {
        (level, kind) for level in ("easy", "medium") for kind in (PREDICT, FIND, WRITE)
    }


@pytest.mark.parametrize(
    ("kind", "level", "lines", "asked", "minutes"),
    [
        # 2 minutes for 200 words; 3 minutes a number.
        (PREDICT, "easy", 0, 4, 15),  # 2 + 12
        (PREDICT, "medium", 0, 4, 20),  # 2 + 18
        (PREDICT, "hard", 0, 4, 30),  # 2 + 24
        # 8 lines to read are 2 minutes; 10 and 2 a line to write.
        (FIND, "easy", 8, 1, 20),  # 4 + 12
        (WRITE, "medium", 8, 5, 35),  # 4 + 30
        (WRITE, "hard", 8, 5, 45),  # 4 + 40
    ],
)
def test_the_estimate_is_what_the_page_says_it_is(kind, level, lines, asked, minutes):
    assert minutes_of(kind, level, WORDS, "x\n" * lines, asked) == minutes
