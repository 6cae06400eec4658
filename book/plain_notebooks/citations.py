"""Short labels for works of the bibliography: authors and year."""

from __future__ import annotations

import re
from typing import NamedTuple

from pybtex.database import Entry, Person
from pybtex.richtext import Text
from sphinx.environment import BuildEnvironment

from .markdown import NotPlain


class Citation(NamedTuple):
    """A work's label and its place in the bibliography."""

    names: str
    year: str
    document: str
    anchor: str

    @property
    def in_brackets(self) -> str:
        """The label in brackets."""
        return f"{self.names} {self.year}"

    @property
    def in_text(self) -> str:
        """The label as part of a sentence."""
        return f"{self.names} ({self.year})"


def last_name(person: Person) -> str:
    """Return a person's or an organization's name with its particles, without LaTeX."""
    return str(Text.from_latex(" ".join([*person.prelast_names, *person.last_names])))


def names(entry: Entry) -> str:
    """Return the names of the work's authors or editors, at most two."""
    names = [last_name(p) for p in entry.persons.get("author") or entry.persons["editor"]]
    return " & ".join(names) if len(names) < 3 else f"{names[0]} et al."


def find(env: BuildEnvironment, key: str) -> Citation:
    """Return the work with this key of references.bib, as the bibliography page has it.

    The year ends with the same letter as the page's own label, so two works by the same authors in
    one year have different labels here, too.
    """
    domain = env.get_domain("cite")
    work = next((c for c in domain.citations if c.key == key), None)
    if work is None:
        raise NotPlain(f"{{cite}}: {key!r} is not in the bibliography")
    letter = re.search(r"\d([a-z])$", work.formatted_entry.label)
    year = work.entry.fields["year"] + (letter[1] if letter else "")
    document = work.bibliography_key.docname
    return Citation(names(work.entry), year, document, work.citation_id)
