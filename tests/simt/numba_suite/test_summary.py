"""The book's table of numba's own tests says what the suite does."""

from pathlib import Path

from summary import sentence, table

PAGE = Path(__file__).parents[3] / "book" / "simt.md"


def test_the_page_holds_the_table():
    assert table() in PAGE.read_text(), "print it anew: python tests/simt/numba_suite/summary.py"
    assert sentence() in PAGE.read_text()
