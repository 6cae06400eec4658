"""Short labels for works of the bibliography: who wrote it and when."""

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
        """The label that stands in brackets."""
        return f"{self.names} {self.year}"

    @property
    def in_text(self) -> str:
        """The label as part of a sentence."""
        return f"{self.names} ({self.year})"


def last_name(person: Person) -> str:
    """Return a person's or an organization's name, particles included, its LaTeX resolved."""
    return str(Text.from_latex(" ".join([*person.prelast_names, *person.last_names])))


def names(entry: Entry) -> str:
    """Return who wrote the work, or who edited it: at most two names."""
    found = [last_name(p) for p in entry.persons.get("author") or entry.persons["editor"]]
    return " & ".join(found) if len(found) < 3 else f"{found[0]} et al."


def find(env: BuildEnvironment, key: str) -> Citation:
    """Return the work with this key of references.bib, as the bibliography page has it.

    The year carries the letter that the page's own label ends on, so that two works by the same
    authors in one year keep apart in the same way.
    """
    domain = env.get_domain("cite")
    work = next((c for c in domain.citations if c.key == key), None)
    if work is None:
        raise NotPlain(f"{{cite}}: {key!r} is not in the bibliography")
    letter = re.search(r"\d([a-z])$", work.formatted_entry.label)
    year = work.entry.fields["year"] + (letter[1] if letter else "")
    document = work.bibliography_key.docname
    return Citation(names(work.entry), year, document, work.citation_id)
