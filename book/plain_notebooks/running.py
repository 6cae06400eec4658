"""The row below a chapter's title: how to run it in the browser, in Colab, or on a computer."""

from __future__ import annotations

from html import escape


def row(
    name: str,
    notebook: str,
    unsolved: str,
    colab: str | None,
    repository: str,
    lite: str | None = None,
) -> str:
    """Return the row of the chapter `name`.

    Parameters
    ----------
    name : str
        The chapter's file without its ending.
    notebook : str
        Address of the plain notebook, relative to the page.
    unsolved : str
        Address of the plain notebook without solutions.
    colab : str or None
        Address at which Colab opens it, if the book has an address on GitHub.
    repository : str
        The book's address, or an empty text.
    lite : str or None
        Address at which JupyterLite opens it, relative to the page, if it is built.
    """
    download = (
        f'<a href="{escape(notebook)}" download>download the notebook</a>'
        f' (<a href="{escape(unsolved)}" download>without solutions</a>)'
    )
    lab = f"<code>make lab CHAPTER={escape(name)}</code>"
    if not repository:
        ways = [f"in the folder of this book, {lab}", download]
    else:
        ways = [download, f"<code>git clone {escape(repository)}</code>, then {lab}"]
        if colab is None:
            ways.append("Colab opens repositories of GitHub alone: upload the notebook there")
        else:
            ways.insert(0, f'<a href="{escape(colab)}">open it in Colab</a>')
    if lite is not None:
        ways.insert(0, f'<a class="served" href="{escape(lite)}">open it in the browser</a>')
    items = "".join(f"<li>{way}</li>" for way in ways)
    return f'<div class="run-row"><b>Run it:</b><ul>{items}</ul></div>'


def below_title(body: str, row: str) -> str:
    """Return a page's body with a row below its first heading."""
    return body.replace("</h1>", f"</h1>\n{row}", 1)
