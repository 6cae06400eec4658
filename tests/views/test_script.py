import re
from pathlib import Path

import pytest

from gpukernels import views
from gpukernels.views import script

VIEWS = Path(script.__file__).parent


def test_every_module_is_part_of_the_page_or_of_what_runs_without_one():
    page, still, check = script.classic_script(), script.still_script(), script.address_script()
    for module in VIEWS.rglob("*.js"):
        # Pages do not load the parts that only stills need.
        text = still if module.stem in ("dom", "paint", "still") else page
        text = check if module.stem == "address_check" else text
        body = [line for line in module.read_text().splitlines() if line.startswith("function ")]
        for line in body:
            assert line in text, f"{module.name}: {line}"


def test_every_view_is_registered_under_its_kind():
    assert {getattr(views, name)._kind for name in views.__all__} == set(script.VIEWS)


def test_the_page_script_is_classic_and_self_contained():
    text = script.classic_script()
    assert not re.search(r"^\s*(import|export)\b", text, re.MULTILINE)
    assert set(re.findall(r"https?://[^\"']+", text)) == {"http://www.w3.org/2000/svg"}
    assert "eval(" not in text
    assert "url(" not in script.stylesheet()
    assert "@import" not in script.stylesheet()


@pytest.mark.parametrize("kind", script.VIEWS)
def test_a_live_module_has_one_export_and_no_import(kind):
    text = script.module_for(kind)
    assert re.findall(r"^(?:import|export)\b.*", text, re.MULTILINE) == [
        f"export default {{ render: liveRender({kind}View, () => gifenc) }};"
    ]


def test_a_library_never_comes_without_its_license():
    for text in (script.encoder_script(), script.module_for("scan"), script.classic_script("scan")):
        assert "gifenc=" in text
        assert "Permission is hereby granted, free of charge" in text
    assert "gifenc=" not in script.classic_script()


@pytest.fixture
def modules(monkeypatch):
    texts = {}
    monkeypatch.setattr(script, "read_module", texts.__getitem__)
    return texts


def test_a_name_declared_twice_is_refused(modules):
    modules["a"] = "function same() {}\n"
    modules["b"] = "export const same = 1;\n"
    with pytest.raises(ValueError, match=r"same is declared in a\.js and in b\.js"):
        script.join(["a", "b"])


@pytest.mark.parametrize(
    "line",
    [
        'import * as b from "./b.js";',
        'import { two as b } from "./b.js";',
        "export default 1;",
        "export { one };",
    ],
)
def test_imports_and_exports_that_cannot_be_joined_are_refused(modules, line):
    modules["a"] = f"{line}\n"
    with pytest.raises(ValueError, match=r"a\.js: an import or export"):
        script.join(["a"])


def test_modules_that_import_each_other_are_refused(modules):
    modules["a"] = 'import { b } from "./b.js";\n'
    modules["b"] = 'import { a } from "./a.js";\n'
    with pytest.raises(ValueError, match="a -> b -> a"):
        script.join(["a"])
