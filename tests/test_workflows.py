"""The workflows: whole, with the least of rights, and each command run as a runner would."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from built_book import ROOT
from own_make import HANDED_ON

sys.path.insert(0, str(ROOT / "book"))
from addresses import BRANCH

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in FILES}
#: YAML 1.1 reads the key `on` as a truth value.
ON = True
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.search(r"^\.PHONY: FORCE (.*)$", MAKEFILE, re.MULTILINE)[1].split())
#: What `make` would install is here already, and what it would build stands there.
MAKE = f"make BIN={Path(sys.executable).parent} -o .venv/book-installed -o book -o lite"
#: What a runner sets, as far as a step asks for it.
RUNNER = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "someone/some-copy",
}


def steps(workflow: str) -> list[dict]:
    """Return the steps of all jobs of a workflow."""
    return [step for job in WORKFLOWS[workflow]["jobs"].values() for step in job.get("steps", [])]


def commands(workflow: str) -> list[str]:
    """Return what the steps of a workflow run in a shell."""
    return [step["run"] for step in steps(workflow) if "run" in step]


def test_one_tests_one_publishes_the_book_and_one_the_package():
    assert set(WORKFLOWS) == {"test", "publish", "release"}
    assert commands("test") == [".ci/run"]
    assert {"push", "pull_request", "workflow_call"} <= set(WORKFLOWS["test"][ON])
    assert WORKFLOWS["publish"][ON]["push"] == {"branches": ["main"]}
    assert set(WORKFLOWS["test"][ON]["push"]["branches-ignore"]) == {"main", BRANCH}
    assert WORKFLOWS["release"][ON] == {"push": {"tags": ["v*"]}}


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_every_step_runs_a_target_that_exists(workflow):
    for command in commands(workflow):
        word, *more = command.split()
        if word == "make":
            assert more[0] in TARGETS
        elif word == "git":
            assert command == f"git push origin {BRANCH}"
        else:
            assert os.access(ROOT / word, os.X_OK)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_actions_are_named_by_commit_with_the_release_beside_it(path):
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    for action in used:
        if not action.startswith("./"):
            assert re.fullmatch(r"(actions|pypa)/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action)
        else:
            assert (ROOT / action).exists()
    assert used
    assert "github-actions" in (ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8")


def test_only_the_job_that_pushes_may_write_and_no_other_keeps_the_right_to():
    writing = []
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            if "permissions" in job:
                writing.append((name, job["permissions"], job["needs"]))
            elif "steps" in job:
                assert job["steps"][0]["with"]["persist-credentials"] is False
    assert writing == [
        ("publish", {"contents": "write"}, "test"),
        ("release", {"id-token": "write"}, ["test", "package"]),
    ]


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_command_takes_what_others_may_write_from_the_environment(workflow):
    assert not any("${{" in command for command in commands(workflow))


@pytest.fixture
def clone(tmp_path) -> Path:
    """A fresh clone of a copy of this tree, with pages, whose origin is a bare repository."""
    source, origin, clone = tmp_path / "source", tmp_path / "origin.git", tmp_path / "clone"
    for name in ("book", "chapters"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("_config.yml", "Makefile", "README.md", "pyproject.toml", "CITATION.cff"):
        shutil.copy(ROOT / name, source)
    shutil.copy(ROOT / ".gitignore", source)
    git("init", "--quiet", "--initial-branch=main", cwd=source)
    git("add", "--all", cwd=source)
    git("commit", "--quiet", "--message", "A book", cwd=source)
    git("clone", "--quiet", "--bare", str(source), str(origin), cwd=tmp_path)
    git("clone", "--quiet", str(origin), str(clone), cwd=tmp_path)
    (clone / "_build" / "html").mkdir(parents=True)
    (clone / "_build" / "html" / "index.html").write_text("a page")
    return clone


def git(*arguments: str, cwd: Path) -> str:
    """Return what git prints."""
    who = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
    run = subprocess.run(["git", *who, *arguments], cwd=cwd, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_one_push_sets_the_address_of_the_copy_and_publishes_without_a_commit_to_main(
    clone, monkeypatch
):
    job = WORKFLOWS["publish"]["jobs"]["publish"]
    known = {"${{ github.actor }}": "someone", "${{ github.actor_id }}": "1"}
    for name, value in {**RUNNER, **job["env"]}.items():
        for expression, meant in known.items():
            value = value.replace(expression, meant)
        monkeypatch.setenv(name, value)
    for name in HANDED_ON:
        monkeypatch.delenv(name, raising=False)
    for command in commands("publish"):
        shell = ["bash", "-e", "-c", re.sub(r"^make\b", MAKE, command)]
        run = subprocess.run(shell, cwd=clone, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    config = yaml.safe_load((clone / "_config.yml").read_text(encoding="utf-8"))
    assert config["repository"]["url"] == "https://github.com/someone/some-copy"
    first = json.loads((clone / "chapters" / "simt.ipynb").read_text(encoding="utf-8"))["cells"][0]
    assert "git+https://github.com/someone/some-copy@main" in "".join(first["source"])
    origin = clone.parent / "origin.git"
    assert git("show", f"{BRANCH}:index.html", cwd=origin) == "a page"
    assert git("log", "-1", "--format=%an", BRANCH, cwd=origin) == "someone"
    assert git("log", "-1", "--format=%s", "main", cwd=origin) == "A book"
