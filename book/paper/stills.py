"""A page in its form for paper: first frames, no controls, no drawers, solutions at the end.

Elements to click are left out or opened. A figure keeps the frame that the page has for readers
without scripts, and its description in words.
"""

from __future__ import annotations

import copy
import re

from bs4 import BeautifulSoup, Tag

#: Elements that are useful only on a screen.
ON_SCREEN = (
    "script, button, select, input, metadata, a[download], .run-row, .headerlink, .copybtn, "
    ".gk-timeline input"
)
#: Labels of drawers that are opened on paper begin with these words. Drawers whose label is a
#: question are opened, too. Solutions are moved, and other drawers are left out.
OPENED = ("Description in words", "Hint", "What has no counterpart", "Slips in the papers")
SOLUTION = "Show the solution"
#: Names that HTML accepts in lower case, and XML only in SVG's spelling.
SVG_NAMES = """viewBox preserveAspectRatio clipPath clipPathUnits gradientUnits linearGradient
    markerWidth markerHeight markerUnits patternUnits refX refY textLength lengthAdjust pathLength
    gradientTransform patternTransform foreignObject radialGradient stdDeviation""".split()
SVG_NAME = re.compile(rf"(?<=[\s</])({'|'.join(SVG_NAMES)})(?=[\s=/>])", re.I)
SVG_SPELLED = {name.lower(): name for name in SVG_NAMES}
SVG = re.compile(r"<svg\b.*?</svg>", re.S)


def still(article: Tag) -> Tag:
    """Change an article into its form for paper, and return it."""
    soup = BeautifulSoup("", "html.parser")
    for element in article.select(ON_SCREEN):
        element.decompose()
    solutions = [_without_answers(soup, question) for question in article.select("div.question")]
    for drawer in article.select("details.recall"):
        drawer.name = drawer.summary.name = "div"
    for details in article.find_all("details"):
        if details.parent is None or details.find_parent("details"):
            continue
        label = details.summary.get_text(" ", strip=True) if details.summary else ""
        details.summary and details.summary.extract()
        if label.startswith(SOLUTION):
            solutions.append((_heading_above(details), copy.copy(details)))
            details.decompose()
        elif label.startswith(OPENED) or label.endswith("?"):
            details.name = "div"
            details.attrs = {"class": ["paper-words"]}
            heading = soup.new_tag("b")
            heading.string = f"{label} " if label.endswith("?") else f"{label}. "
            (details.p or details).insert(0, heading)
            caption = details.find_previous_sibling("figcaption")
            if caption is not None:  # the caption comes last in a figure
                caption.append(details.extract())
        else:
            details.decompose()
    if solutions:
        article.append(_solutions(soup, solutions))
    return article


def xhtml(html: str) -> str:
    """Return HTML as valid XML: SVG's spelling of names, and a value for every attribute."""
    soup = BeautifulSoup(html, "html.parser")
    for element in soup.find_all("svg"):
        element["xmlns"] = "http://www.w3.org/2000/svg"
        element["xmlns:xlink"] = "http://www.w3.org/1999/xlink"
    for element in soup.find_all(True):
        for name in list(element.attrs):
            if not re.fullmatch(r"[A-Za-z_][\w.:-]*", name):
                del element.attrs[name]
            elif element.attrs[name] in (None, ""):
                element.attrs[name] = name if name in ("open", "hidden") else ""
    text = soup.decode(formatter="minimal")
    return SVG.sub(
        lambda svg: SVG_NAME.sub(lambda name: SVG_SPELLED[name[1].lower()], svg[0]), text
    )


def _without_answers(soup: BeautifulSoup, question: Tag) -> tuple[str, Tag]:
    """Reduce a question to a list of its answers; return its heading and the right answer."""
    listed = soup.new_tag("ul")
    for details in question.find_all("details", recursive=False):
        answer = soup.new_tag("li")
        answer.extend(copy.copy(details.summary).contents)
        listed.append(answer)
        if details.extract().get("class") == ["right"]:
            right = details
    right.summary.name = "p"
    question.append(listed)
    return _heading_above(question), right


def _heading_above(element: Tag) -> str:
    heading = element.find_previous(["h2", "h3"])
    return heading.get_text(" ", strip=True).rstrip("#") if heading else ""


def _solutions(soup: BeautifulSoup, solutions: list[tuple[str, Tag]]) -> Tag:
    section = soup.new_tag("section", attrs={"class": "paper-solutions"})
    title = soup.new_tag("h2")
    title.string = "Solutions"
    section.append(title)
    for heading, details in solutions:
        of = soup.new_tag("h3")
        of.string = heading
        details.name = "div"
        details.attrs = {}
        section.extend([of, details])
    return section
