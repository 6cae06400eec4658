"""The numbers of a prediction that differ by seed, and their places in its words."""

from __future__ import annotations

import functools
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
    """The numbers of a prediction that differ by seed.

    Attributes
    ----------
    usual : object
        The numbers in the book.
    draw : callable
        Takes a generator of random numbers and returns such numbers. The explanation of the
        solution must hold for all of them.
    named : callable
        Takes such numbers and returns the values in the words of the task, by name. The value of
        ``"name"`` stands for ``$name``.
    questions : tuple of str
        The questions of all variants, in the order of the usual ones, if those name numbers that
        differ. A sheet has one skeleton for all students.
    """

    usual: Any
    draw: Callable[[Draw], Any]
    named: Callable[[Any], Mapping[str, object]]
    questions: tuple[str, ...] = ()

    def usual_task(self, about: Words, measure: Measure) -> tuple[Words, Measure]:
        """Return the words of the task in the book, and the function that counts its answer."""
        return self._filled(about, measure, self.usual, ())

    def drawn_task(self, about: Words, measure: Measure, rng: Draw) -> tuple[Words, Measure]:
        """Return the words with drawn numbers, and the function that counts the answer."""
        return self._filled(about, measure, self.draw(rng), self.questions)

    def _filled(
        self, about: Words, measure: Measure, given: Any, asked: tuple[str, ...]
    ) -> tuple[Words, Measure]:
        values = {name: _printed(value) for name, value in self.named(given).items()}
        texts = {"statement": about.statement, "hint": about.hint, "why": about.why}
        filled = {name: Template(text).substitute(values) for name, text in texts.items()}

        @functools.wraps(measure)  # a report shows its docstring
        def counting() -> dict[str, int]:
            counted = measure(given)
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
