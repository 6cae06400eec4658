"""The numbers of a prediction that differ by seed, and their places in its words."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

from .inputs import Draw
from .words import Words

Measure = Callable[..., dict[str, int]]

SPELLED = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
)  # fmt: skip
ORDINALS = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
    "tenth",
)  # fmt: skip


@dataclass(frozen=True)
class Variants:
    """The numbers of a prediction that differ by seed: the arguments of the function that counts.

    The defaults of its parameters are the numbers in the book.
    """

    #: Takes a generator of random numbers and returns arguments by name. The explanation of the
    #: solution must hold for all of them.
    draw: Callable[[Draw], dict[str, Any]]
    #: Takes the arguments and returns further values in the words of the task. The value of
    #: ``"name"``, or the argument of that name, stands for ``$name``.
    named: Callable[..., Mapping[str, object]]
    #: The questions of all variants, in the order of the usual ones, if those name numbers that
    #: differ. A sheet has one skeleton for all students.
    questions: tuple[str, ...] = ()

    def usual_task(self, about: Words, measure: Measure) -> tuple[Words, Measure]:
        """Return the words of the task in the book, and the function that counts its answer."""
        parameters = inspect.signature(measure).parameters.values()
        return self._filled(about, measure, {p.name: p.default for p in parameters}, ())

    def drawn_task(self, about: Words, measure: Measure, rng: Draw) -> tuple[Words, Measure]:
        """Return the words with drawn numbers, and the function that counts the answer."""
        return self._filled(about, measure, self.draw(rng), self.questions)

    def _filled(
        self, about: Words, measure: Measure, given: dict[str, Any], asked: tuple[str, ...]
    ) -> tuple[Words, Measure]:
        values = {name: _printed(value) for name, value in (given | self.named(**given)).items()}
        texts = {"statement": about.statement, "hint": about.hint, "why": about.why}
        filled = {name: Template(text).substitute(values) for name, text in texts.items()}

        @functools.wraps(measure)  # a report shows its docstring
        def counting() -> dict[str, int]:
            counted = measure(**given)
            return dict(zip(asked or counted, counted.values(), strict=True))

        return about._replace(**filled), counting


def _printed(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def spelled(number: int) -> str:
    """Return a number up to sixteen as a word, and a larger one in digits."""
    return SPELLED[number] if number < len(SPELLED) else f"{number:,}"


def listed(values: Iterable[int]) -> str:
    """Return at least two numbers as a list in a sentence: "3, 4 and 7"."""
    *others, last = (f"{value:,}" for value in values)
    return f"{', '.join(others)} and {last}"
