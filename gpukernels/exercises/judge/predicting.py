"""Compare a prediction with the machine's counts, and show the launches in which it counts."""

from __future__ import annotations

import decimal
import fractions
import inspect
import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gpukernels.device import devices_made
from gpukernels.views import WarpView

from .bench import shown
from .looking import SHOWN, Note
from .report import Finding

#: Launches that one view holds, at most.
LAUNCHES = 16
#: Wrong guesses of one number that are called more or less. With a third, a search by halves would
#: begin to take the place of the prediction.
HINTS = 2

Number = int | float | fractions.Fraction
#: By question, the wrong guesses that have been called more or less.
Hinted = dict[str, list[Number]]


def findings(
    answer, questions: Sequence[str], measure: Callable[[], dict], hinted: Hinted
) -> list[Finding]:
    """Return one finding per question, or the one reason why `answer` is no prediction.

    Methods that a subclass of dict overrides, such as ``__eq__`` or ``__getitem__``, are not called
    for the comparison. `hinted` are the hints so far, to which this adds.
    """
    if not isinstance(answer, dict):
        return [Finding(False, f"a dict is wanted here, and this is a {type(answer).__name__}")]
    guesses = dict(dict.items(answer))
    unknown = [key for key in guesses if key not in questions]
    if unknown:
        allowed = ", ".join(repr(key) for key in questions)
        return [Finding(False, f"there is no question {shown(unknown[0])}, only {allowed}")]
    plain = {key: plain_number(guesses.get(key)) for key in questions}
    # Nothing is counted for a skeleton.
    counted = measure() if any(number is not None for number in plain.values()) else {}
    results = []
    for key, number in plain.items():
        if number is None:
            results.append(_no_number(key, guesses.get(key)))
        else:
            results.append(compare(key, number, counted[key], hinted.setdefault(key, [])))

    def look():
        return what_was_counted(measure, results)

    return [replace(finding, look=look) for finding in results]


def compare(key: str, guess: Number, counted: int, hinted: list[Number]) -> Finding:
    """Return whether `guess` is the number that was counted; never say which number that is.

    A wrong guess is called more or less while `hinted` has fewer than `HINTS` other guesses. The
    same guess gets the same words again, because a notebook cell is often run twice.
    """
    if guess == counted:
        return Finding(True, f"{key}: {counted:,}")
    wrong = f"{key}: {_printed(guess)} is"
    if guess not in hinted and len(hinted) == HINTS:
        text = f"{wrong} not the number that the machine counts; both hints for it have been given"
        return Finding(False, text)
    if guess not in hinted:
        hinted.append(guess)
    way = "more" if guess > counted else "less"
    return Finding(False, f"{wrong} {way} than the machine counts")


def _no_number(key: str, guess: object) -> Finding:
    if guess is None:
        return Finding(False, f"{key}: no prediction yet")
    return Finding(False, f"{key}: {shown(guess)} is not a number")


def plain_number(guess: object) -> Number | None:
    """Return `guess` as a number of Python's own types, so that its comparisons are Python's.

    A truth value is no number, nor is nan, a complex number, a text or an array.
    """
    if isinstance(guess, (bool, np.bool_)):
        return None
    try:
        if isinstance(guess, numbers.Integral):
            return int(guess)
        if isinstance(guess, numbers.Rational):
            return fractions.Fraction(int(guess.numerator), int(guess.denominator))
        if isinstance(guess, (numbers.Real, decimal.Decimal)):
            number = float(guess)
            return None if math.isnan(number) else number
    except Exception:  # an object that only looks like a number, or a decimal that is none
        return None
    return None


def _printed(guess: Number) -> str:
    try:
        text = f"{guess:,}"
    except (TypeError, ValueError):
        text = shown(guess)
    return text if len(text) <= 40 else f"{text[:20]}...{text[-8:]}"


def what_was_counted(measure: Callable[[], dict], results: Sequence[Finding]) -> WarpView | Note:
    """Return a view of the launches in which `measure` counts, to switch between."""
    with devices_made() as devices:
        measure()
    traces = [device.trace for device in devices if device.trace is not None]
    shown_at = {}
    for trace in traces:
        for launch in trace.launches:
            if len(shown_at) < LAUNCHES:
                number = len(shown_at) + 1
                label = f"{number}: {launch.kernel}, {launch.blocks} x {launch.threads_per_block}"
                shown_at[label] = _alone(trace, launch.index)
    verdicts = "; ".join(
        f"{'right' if finding.passed else 'not yet'}: {finding.text}" for finding in results
    )
    what = (inspect.getdoc(measure) or "Counts of the machine.").splitlines()[0]
    caption = f"{what} {verdicts}."
    if not shown_at:
        return Note(f"{caption} It is counted on the host, so there is no launch to look at.")
    return WarpView(
        shown_at,
        warp=0,
        limit=SHOWN,
        choice="Launch",
        title="The launches in which the machine counts, block 0, warp 0",
        caption=caption,
    )


def _alone(trace, index: int):
    """Return one launch of a trace as a trace of its own."""
    part = trace.select(launch=index)

    def renumbered(table):
        return replace(table, launch=np.zeros_like(table.launch))

    return replace(
        part,
        launches=(replace(trace.launches[index], index=0),),
        steps=renumbered(part.steps),
        requests=renumbered(part.requests),
        shuffles=renumbered(part.shuffles),
    )
