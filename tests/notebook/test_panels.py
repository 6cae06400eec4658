"""Figures of chapters have open panels, and list their numbers for readers who do not see them."""

from gpukernels.notebook.plot import listed, panels


def test_one_panel_is_no_array_and_has_no_line_above_it():
    figure, axes = panels(5, 2)
    assert figure.axes == [axes]
    assert tuple(figure.get_size_inches()) == (5, 2)
    visible = [side for side, spine in axes.spines.items() if spine.get_visible()]
    assert sorted(visible) == ["bottom", "left"]


def test_several_panels_share_what_is_asked_for():
    _, grid = panels(5, 4, 2, 3, sharey=True)
    assert grid.shape == (2, 3)
    assert not any(axes.spines["right"].get_visible() for axes in grid.flat)
    grid[0, 0].set_ylim(0, 7)
    assert grid[1, 2].get_ylim() == (0, 7)


def test_numbers_are_listed_row_by_row():
    assert listed({"roads": [1000, 2], "rmat": []}) == "roads: 1,000, 2; rmat: "
    assert listed({"share": [0.125]}, ".0%") == "share: 12%"
