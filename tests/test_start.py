"""What a command loads before it does its work: start-up is felt at every command."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Pog

SLOW = ("pygit2._libgit2", "importlib.metadata", "yaml")
"""Each takes longer to load than most commands take to answer."""
SCRIPT = """
import sys
from pogstore.cli.main import main
try:
    main()
finally:
    print(*(name for name in sys.modules if name in {slow}), file=sys.stderr)
"""


def loaded(place: Path, *arguments: str) -> set[str]:
    """Runs a command in a process of its own; returns which of the slow modules it has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(slow=SLOW), *arguments],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize("command", ["list", "show", "log"])
def test_a_command_that_only_reads_what_is_known_loads_no_libgit2(pog: Pog, command: str) -> None:
    pog("init")
    pog("new", "A title", "--intent", "to be read")
    task = pog("list", "--json").json[0]["task"]
    pog("start", task)
    assert loaded(pog.cwd, command) == set()


def test_help_loads_nothing_slow(pog: Pog) -> None:
    assert loaded(pog.cwd, "-h") == set()


def test_the_face_loads_nothing(tmp_path: Path) -> None:
    code = "import sys; before = set(sys.modules); import pogstore; print(len(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
