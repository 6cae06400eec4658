"""pytest on the SIMT machine: ``pytest --simt``, or tests that are marked with ``simt``.

A test whose kernels race, or read memory that nothing has written, fails with the report of all
that was found.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

SCHEDULES = ("lockstep", "warp", "random")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("simt", "numba.cuda on the SIMT machine, without a GPU")
    group.addoption("--simt", action="store_true", help="run all tests on the SIMT machine")
    group.addoption("--simt-schedule", choices=SCHEDULES, default="lockstep")
    group.addoption("--simt-no-check", action="store_true", help="look for no races")
    group.addoption(
        "--simt-wraparound", action="store_true", help="let computed negative indices wrap"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers",
        "simt(schedule='lockstep', seed=0, check=True, wraparound=False): run the test's kernels "
        "on the SIMT machine",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """With ``--simt``, put the machine in place before a conftest imports numba."""
    if early_config.known_args_namespace.simt:
        from gpukernels.simulator.redirect import redirect

        redirect()


def _options(item: pytest.Item) -> dict[str, Any] | None:
    """Return the options of a test on the machine, or None for any other test."""
    mark, config = item.get_closest_marker("simt"), item.config.option
    if mark is None and not config.simt:
        return None
    usual = {
        "schedule": config.simt_schedule,
        "check": not config.simt_no_check,
        "wraparound": config.simt_wraparound,
    }
    return usual | (mark.kwargs if mark else {})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run a test, with its fixtures, on the machine."""
    options = _options(item)
    if options is None:
        return (yield)
    from gpukernels.simulator.redirect import as_cuda

    with as_cuda(findings=[], **options):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a test that has passed if its kernels have findings; else show them beside its error."""
    if _options(item) is None and "simt_schedules" not in getattr(item, "fixturenames", ()):
        return (yield)
    from gpukernels.simulator.findings import report
    from gpukernels.simulator.session import current

    session = current()
    try:
        result = yield
    except BaseException:
        if session.findings:
            text = repr(report(item.name, session.schedule, session.findings))
            item.add_report_section("call", "SIMT machine", text)
        raise
    if session.findings:
        text = repr(report(item.name, session.schedule, session.findings))
        pytest.fail(text, pytrace=False)
    return result


@pytest.fixture(params=SCHEDULES)
def simt_schedules(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the test once under each schedule; the value is the schedule's name."""
    from gpukernels.simulator.redirect import as_cuda

    options = {**(_options(request.node) or {}), "schedule": request.param}
    with as_cuda(findings=[], **options):
        yield request.param
