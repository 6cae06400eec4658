"""The process that prints the summary hears of every test, and of all that went wrong around it."""

from __future__ import annotations

from types import SimpleNamespace

import outcomes
from outcomes import run_quietly


def report(when, outcome):
    return SimpleNamespace(when=when, outcome=outcome, passed=outcome == "passed")


TOLD = [report("call", "passed"), report("call", "failed"), report("call", "skipped")]
TOLD += [report(when, o) for when in ("setup", "teardown") for o in ("failed", "skipped")]


def test_what_counts_is_told_in_order(monkeypatch):
    heard = []
    hook = SimpleNamespace(pytest_runtest_logreport=lambda report: heard.append(report))
    silent = report("setup", "passed")
    monkeypatch.setattr(
        outcomes, "runtestprotocol", lambda item, log, nextitem: [silent, *TOLD] if not log else []
    )
    run_quietly(SimpleNamespace(ihook=hook), None)
    assert heard == TOLD
