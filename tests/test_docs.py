"""Tests of the documents: generated pages are fresh and whole, links lead somewhere, the wheel has the man page."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from pogstore.cli import _manual
from pogstore.cli._table import COMMANDS
from tests.conftest import Pog, Repo

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = list(_manual.pages(COMMANDS))
ANCHOR = re.compile(r"^#+ (.+)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


def test_the_reference_is_fresh() -> None:
    """Style A33. If it fails: python -m pogstore.cli._manual docs"""
    assert (DOCS / _manual.REFERENCE).read_text("utf-8") == _manual.reference()


def test_the_man_page_is_fresh() -> None:
    """Style A33. If it fails: python -m pogstore.cli._manual docs"""
    assert (DOCS / _manual.MAN_PAGE).read_text("utf-8") == _manual.man_page()


def test_both_are_written_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _manual.write(tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        str(tmp_path / name) for name in (_manual.REFERENCE, _manual.MAN_PAGE)
    ]
    assert (tmp_path / _manual.REFERENCE).read_text("utf-8") == _manual.reference()
    assert (tmp_path / _manual.MAN_PAGE).read_text("utf-8") == _manual.man_page()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_every_command_is_in_both(page: _manual.Page) -> None:
    reference, man = _manual.reference(), _manual.man_page()
    section = reference.split(f"### git pog {page.path}\n")[1].split("\n### ")[0]
    assert page.usage in section
    assert "Exit status: 0 done" in section
    assert ("`--json`:" in section) == ("--json" in page.options)
    for spelled in page.options:
        assert f"| `{spelled.replace('|', chr(92) + '|')}` |" in section
        assert f"\\fB{spelled.replace('-', chr(92) + '-')}\\fR" in man
    assert f".SS {page.usage.replace('-', chr(92) + '-')}" in man


def test_the_man_page_is_plain_roff() -> None:
    lines = _manual.man_page().splitlines()
    requests = {line.split()[0] for line in lines if line.startswith((".", "'"))}
    assert requests == {'.\\"', ".TH", ".SH", ".SS", ".TP", ".PP"}
    assert not any(line == "" or line != line.rstrip() for line in lines)


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_man_page_can_be_set() -> None:
    text = _manual.man_page().encode()
    done = subprocess.run(["groff", "-man", "-Tutf8", "-K", "utf8", "-ww"], input=text, capture_output=True, check=True)
    assert done.stderr == b""
    shown = " ".join(re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout.decode()).split())
    assert "git-pog - record, blame, roll back and share" in shown
    assert "git pog rollback [OPTIONS] TASK|EVENT..." in shown


def test_roff_is_escaped() -> None:
    assert _manual._roff("a-b `c-d` **e**\n.f\n'g \\h") == "a\\-b \\fBc\\-d\\fR \\fBe\\fR\n\\&.f\n\\&'g \\eh"


def test_the_wheel_installs_the_man_page() -> None:
    """Case UC-47: git sends `git pog --help` to the manual."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {"docs/man/git-pog.1": "share/man/man1/git-pog.1"}


@pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed: pip install hatchling"
)
def test_what_a_wheel_holds(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        script = next(name for name in names if name.endswith("data/scripts/git-pog"))
        assert wheel.read(script).startswith(b"#!python\n"), "installers put their interpreter there"
        man = next(name for name in names if name.endswith("data/share/man/man1/git-pog.1"))
        assert wheel.read(man).decode() == _manual.man_page()
    for name in ("__init__.py", "py.typed", "cli/main.py", "cli/sample/session.jsonl", "cli/sample/brew.py.txt"):
        assert f"pogstore/{name}" in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_git_pog_help_finds_the_man_page(pog: Pog, repo: Repo, tmp_path: Path) -> None:
    """As a wheel would install it: beside the directory on the PATH. git adds the rest."""
    place = tmp_path / "share" / "man" / "man1" / "git-pog.1"
    place.parent.mkdir(parents=True)
    place.write_text(_manual.man_page(), "utf-8")
    env = {"MANPATH": str(tmp_path / "share" / "man"), "MANPAGER": "cat", "MANWIDTH": "100"}
    shown = re.sub(r".\x08", "", repo.git("pog", "--help", env=env, check=False))
    if "No manual entry" in shown or not shown:
        pytest.skip("this man shows no pages")
    assert "git-pog - record, blame, roll back and share the work of AI agents" in shown


def anchors(page: Path) -> set[str]:
    """Returns the anchors that the headings of a page make."""
    headings = ANCHOR.findall(page.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ["index.md", _manual.REFERENCE, "reference/python.md"])
def test_links_lead_somewhere(page: str) -> None:
    here = DOCS / page
    for target in LINK.findall(here.read_text("utf-8")):
        if target.startswith("http"):
            continue
        name, _, anchor = target.partition("#")
        path = Path(os.path.normpath(here.parent / name)) if name else here
        assert path.exists(), f"{page}: {target}"
        assert not anchor or anchor in anchors(path), f"{page}: {target}"
