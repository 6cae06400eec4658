"""Compare a prediction with what the machine counts, and show in which launches it counts."""

from __future__ import annotations

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


def findings(answer, questions: Sequence[str], measure: Callable[[], dict]) -> list[Finding]:
    """Return a finding a question, or the one reason why `answer` is no prediction."""
    if not isinstance(answer, dict):
        return [Finding(False, f"a dict is wanted here, and this is a {type(answer).__name__}")]
    unknown = [key for key in answer if key not in questions]
    if unknown:
        asked = ", ".join(repr(key) for key in questions)
        return [Finding(False, f"nobody asked for {shown(unknown[0])}; the questions are {asked}")]
    guesses = [answer.get(key) for key in questions]
    # Nothing is counted for a skeleton.
    counted = measure() if any(map(_is_number, guesses)) else {}
    found = [
        compare(key, guess, counted.get(key)) for key, guess in zip(questions, guesses, strict=True)
    ]

    def look():
        return what_was_counted(measure, found)

    return [replace(finding, look=look) for finding in found]


def compare(key: str, guess: object, counted: int | None) -> Finding:
    """Return whether `guess` is what was counted; never say what that is."""
    if guess is None:
        return Finding(False, f"{key}: no prediction yet")
    if not _is_number(guess):
        return Finding(False, f"{key}: {shown(guess)} is not a number")
    if guess == counted:
        return Finding(True, f"{key}: {counted:,}")
    way = "more" if guess > counted else "fewer"
    return Finding(False, f"{key}: {_printed(guess)} is {way} than the machine counts")


def _is_number(guess) -> bool:
    if isinstance(guess, (bool, np.bool_, complex, np.complexfloating)):
        return False
    if not isinstance(guess, (numbers.Number, np.number)):
        return False
    try:
        return not math.isnan(guess)
    except OverflowError:  # an integer that no float holds
        return True
    except Exception:  # a decimal may refuse even that
        return False


def _printed(guess) -> str:
    try:
        text = f"{guess:,}"
    except (TypeError, ValueError):
        text = shown(guess)
    return text if len(text) <= 40 else f"{text[:20]}...{text[-8:]}"


def what_was_counted(measure: Callable[[], dict], found: Sequence[Finding]) -> WarpView | Note:
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
        f"{'right' if finding.passed else 'not yet'}: {finding.text}" for finding in found
    )
    what = (inspect.getdoc(measure) or "What the machine counts.").splitlines()[0]
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
