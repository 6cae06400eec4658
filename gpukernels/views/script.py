"""The scripts that browsers load, made out of the ES modules in ``js/`` and in the views' folders.

A notebook gets one ES module a view; a page gets one classic script with every view, because a page
opened from ``file://`` may not load modules. A third script draws first frames without a browser.

The modules are joined, not bundled: each is written once, after those it imports, without its
``import`` lines and ``export`` words. That asks two things of them, which are checked here: an
import names its things in braces, without ``as``, and no two modules declare the same top-level
name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from gpukernels.views.looks import printed_looks

#: The files of the folder and of those in it, by their names, which no two share.
_FILES = {
    file.name: file
    for folder in (files("gpukernels.views"), *files("gpukernels.views").iterdir())
    if folder.is_dir()
    for file in folder.iterdir()
    if file.name.endswith((".js", ".css", "-LICENSE.txt"))
}
#: The views: each has a folder with a module of its name, which exports the drawing as
#: ``<name>View``.
VIEWS = tuple(
    sorted(
        folder.name
        for folder in files("gpukernels.views").iterdir()
        if folder.is_dir() and (folder / f"{folder.name}.js").is_file()
    )
)

_IMPORT = re.compile(
    r'^import \{\s+(\w+(?:,\s+\w+)*),?\s+\} from "\.[\w./]*/(\w+)\.js";\n', re.MULTILINE
)
_DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)


@cache
def read_module(name: str) -> str:
    """Return the text of a module in ``js/`` or in the folder of a view."""
    return _FILES[f"{name}.js"].read_text(encoding="utf-8")


@cache
def stylesheet() -> str:
    """Return the style sheet of the figures: the common one, with those of the views in it."""
    own = "\n".join(_FILES[f"{kind}.css"].read_text(encoding="utf-8") for kind in VIEWS)
    return _FILES["views.css"].read_text(encoding="utf-8").replace("/* @views */\n", own)


def _ordered(roots: list[str], read: Callable[[str], str]) -> list[str]:
    order: list[str] = []

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"modules import each other: {' -> '.join((*path, name))}")
        if name not in order:
            for _, needed in _IMPORT.findall(read(name)):
                visit(needed, (*path, name))
            order.append(name)

    for root in roots:
        visit(root, ())
    return order


def join(roots: list[str], read: Callable[[str], str] | None = None) -> str:
    """Write the modules `roots` and all that they import as one body of code.

    Parameters
    ----------
    roots : list of str
        Names of modules.
    read : callable, optional
        Returns the text of a module by its name, wherever it lies; by default one of this folder.

    Raises
    ------
    ValueError
        If an import has a form that cannot be joined, or two modules declare one name.
    """
    read = read or read_module
    owner: dict[str, str] = {}
    parts = []
    for name in _ordered(roots, read):
        text = read(name)
        for declared in _DECLARED.findall(text):
            if owner.setdefault(declared, name) != name:
                raise ValueError(f"{declared} is declared in {owner[declared]}.js and in {name}.js")
        body = _IMPORT.sub("", text)
        if re.search(r"^import\b|^export (default|\{|\*)", body, re.MULTILINE):
            raise ValueError(f"{name}.js: an import or export of a form that cannot be joined")
        parts.append(re.sub(r"^export ", "", body, flags=re.MULTILINE))
    return "\n".join(parts)


@cache
def encoder_script() -> str:
    """Return the script of the library ``gifenc``, with its license."""
    return f"/*\n{_FILES['gifenc-LICENSE.txt'].read_text()}*/\n{_FILES['gifenc.js'].read_text()}"


@cache
def module_for(kind: str) -> str:
    """Return the self-contained ES module of one view, for anywidget."""
    if not kind:
        return "export default {};"
    entry = f"export default {{ render: liveRender({kind}View, () => gifenc) }};\n"
    return "\n".join([join(["figure", kind]), encoder_script(), entry])


def _registry(kinds: tuple[str, ...]) -> str:
    return "{ " + ", ".join(f"{kind}: {kind}View" for kind in kinds) + " }"


def classic_script(*kinds: str) -> str:
    """Return one script that brings the figures of a page to life: all, or those of some kinds.

    A script of all is a page's own, whose figures have addresses, and loads `encoder_script` as
    the file ``gifenc.js`` of its folder where a reader wants a GIF. One of some kinds comes along
    with an output, and has it within.
    """
    chosen = kinds or VIEWS
    if kinds:
        body = f"{join(['figure', *chosen])}\n{encoder_script()}"
        arguments = f"{_registry(chosen)}, () => gifenc"
    else:
        body = join(["figure", "moments", "beside", *chosen])
        arguments = f"{_registry(chosen)}, gifencBeside, momentsOf"
    return f'(() => {{ "use strict";\n{body}\nhydratePage({arguments}); }})();\n'


def alone(
    roots: list[str], name: str, function: str, read: Callable[[str], str] | None = None
) -> str:
    """Return a script that declares `name`, a `function` over modules, for an engine of no browser.

    Within it the modules find a document of text, also where there is another.
    """
    body = join([*roots, "dom"], read)
    own = "const document = stringDocument, atob = binaryText;"
    return f'const {name} = (() => {{ "use strict";\n{body}\n{own}\nreturn {function};\n}})();\n'


@cache
def still_script() -> str:
    """Return the script whose ``draw(data)`` writes a figure's HTML from a record's JSON."""
    arguments = f"{_registry(VIEWS)}, {json.dumps(printed_looks(stylesheet()))}"
    return alone(["still", *VIEWS], "draw", f"(data) => firstFrame({arguments}, data)")


@cache
def address_script() -> str:
    """Return the script whose ``problem(data, address)`` says why a record has no such state."""
    roots = ["address_check", *VIEWS]
    function = f"(data, address) => problemOfText({_registry(VIEWS)}, data, address)"
    return alone(roots, "problem", function)
