"""A plot is the same bytes every time, follows the page's ink and says what it shows."""

import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from gpukernels.notebook.plot import Plot


def drawn():
    figure = Figure(figsize=(4, 2))
    axes = figure.subplots()
    axes.plot([1, 2, 3], color="#0072b2", label="steps")
    axes.set(xlabel="level & width")
    axes.legend()
    return figure


def test_the_same_figure_gives_the_same_bytes():
    first, second = (Plot(drawn(), "a line")._repr_html_() for _ in range(2))
    assert first == second


def test_black_is_the_pages_ink_and_colors_stay():
    shown = Plot(drawn(), "a line")._repr_html_()
    assert "#000000" not in shown
    assert "currentColor" in shown
    assert "#0072b2" in shown


def test_text_stays_text_and_the_markup_is_well_formed():
    shown = Plot(drawn(), 'rises from "1" to 3')._repr_html_()
    root = ElementTree.fromstring(shown)
    assert root.attrib["aria-label"] == 'rises from "1" to 3'
    assert "level & width" in "".join(root.itertext())


def test_texts_name_few_fonts():
    assert "DejaVu Sans" in (shown := Plot(drawn(), "a line")._repr_html_())
    assert "Helvetica" not in shown


def test_powers_of_ten_are_written_out():
    figure = Figure(figsize=(4, 2), layout="constrained")
    figure.subplots().loglog([1, 1e5], [1e-4, 1])
    root = ElementTree.fromstring(Plot(figure, "a line")._repr_html_())
    words = {"".join("".join(e.itertext()).split()) for e in root.iter() if e.tag.endswith("text")}
    assert words >= {"1", "100", "10000", "0.0001", "0.01"}


def test_two_figures_of_a_page_share_no_id():
    def ids(shown):
        return {e.attrib["id"] for e in ElementTree.fromstring(shown).iter() if "id" in e.attrib}

    one, two = (ids(Plot(drawn(), alt)._repr_html_()) for alt in ("one", "two"))
    assert one
    assert not one & two


def test_a_plot_without_words_is_refused():
    with pytest.raises(ValueError, match="alt"):
        Plot(drawn(), " ")


def test_ids_do_not_follow_from_digits_that_no_figure_shows():
    def placed(left: float) -> str:
        figure = Figure(figsize=(2, 2))
        figure.add_axes((left, 0.1, 0.8, 0.8)).plot([0, 1], [0, 1])
        return Plot(figure, "a line")._repr_html_()

    html = placed(0.1)
    assert html == placed(0.1 + 1e-12)
    assert set(re.findall(r"url\(#([^)]+)\)", html)) <= set(re.findall(r'id="([^"]+)"', html))
