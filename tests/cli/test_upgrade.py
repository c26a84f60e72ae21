"""The line in an agent's settings after the package was installed anew, as a stranger does it: by pip, into a venv."""

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from pogstore.agents.claude_settings import AGENT
from pogstore.agents.command_line import place_in
from pogstore.work import spooled
from tests.cli.test_hook import said, spool_of
from tests.conftest import Repo, run

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None or importlib.util.find_spec("pip") is None,
    reason="hatchling or pip is not installed: pip install hatchling pip",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(place.glob("*.whl"))


def install(wheel: Path, venv: Path) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python"), "install", "--quiet"]
    options = ["--no-deps", "--no-index", "--no-compile", "--force-reinstall", "--disable-pip-version-check"]
    done = run([*command, *options, str(wheel)], venv)
    assert done.returncode == 0, done.stderr


def tell(repo: Repo, command: str, env: dict[str, str]) -> None:
    done = run(["sh", "-c", command], repo.path, said(repo), env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["venv", "my venv", "it's $HOME"])
def test_the_line_survives_an_upgrade(repo: Repo, wheel: Path, tmp_path: Path, name: str) -> None:
    """UC-71. In a place with a space in its name the system cannot start a script, and the line does without it."""
    venv = tmp_path / name
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    packages = next((venv / "lib").glob("python*/site-packages"))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install(wheel, venv)
    env = {"PATH": f"{venv / 'bin'}{os.pathsep}/usr/local/bin{os.pathsep}/usr/bin{os.pathsep}/bin"}

    def pog(*words: str) -> subprocess.CompletedProcess[str]:
        return run([str(venv / "bin" / "python"), "-P", "-m", "pogstore", *words], repo.path, env=env)

    repo.git("config", "pog.autoDrain", "false")
    assert pog("init").returncode == 0
    assert pog("agent", "add", "claude-code").returncode == 0
    settings = repo.path / ".claude" / "settings.local.json"
    before = settings.read_bytes()
    command = json.loads(before)["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert (place_in(command, AGENT) == venv / "bin") == (" " not in name)
    tell(repo, command, {"PATH": "/usr/bin:/bin"})
    install(wheel, venv)
    tell(repo, command, env)
    assert spooled.pending(spool_of(repo)) == 2
    assert pog("agent", "add", "claude-code", "--json").stdout.count('"changed": false') == 1
    assert settings.read_bytes() == before
    assert json.loads(pog("agent", "list", "--json").stdout)[1]["exact"] is True
    tested = pog("agent", "test", "claude-code")
    assert tested.returncode == 0, tested.stdout + tested.stderr
    doctor = pog("doctor")
    assert doctor.returncode == 0, doctor.stdout
    assert ("does not start" in doctor.stdout) == (" " in name)
    shared = pog("agent", "add", "claude-code", "--project")
    assert shared.returncode == 0
    assert str(venv) not in (repo.path / ".claude" / "settings.json").read_text(), "others share it"
    pog("agent", "remove", "claude-code")
    assert not settings.exists()
