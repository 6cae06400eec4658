"""The row below a chapter's title that says how to run it: in Colab, downloaded, or cloned."""

from __future__ import annotations

from html import escape


def row(name: str, notebook: str, unsolved: str, colab: str | None, repository: str) -> str:
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
    items = "".join(f"<li>{way}</li>" for way in ways)
    return f'<div class="run-row"><b>Run it:</b><ul>{items}</ul></div>'


def below_title(body: str, row: str) -> str:
    """Return a page's body with a row below its first heading."""
    return body.replace("</h1>", f"</h1>\n{row}", 1)
