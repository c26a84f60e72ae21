"""Runs every benchmark with so little that only its working shows; says nothing of speed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import transcripts
from benchmarks.__main__ import names
from benchmarks.measure import Peer, compare
from tests.conftest import Repo

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", names())
def test_it_runs_by_itself(name: str) -> None:
    script = ROOT / f"{name.replace('.', '/')}.py"
    done = subprocess.run([sys.executable, script, "--quick"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    machine, headings, *rows = done.stdout.splitlines()
    assert machine.startswith("pogstore ")
    assert headings.startswith("question")
    assert rows


@pytest.mark.parametrize("name", names())
def test_the_page_tells_of_it(name: str) -> None:
    assert f"`{name.removeprefix('benchmarks.')}.py`" in (ROOT / "benchmarks" / "README.md").read_text()


def test_a_ratio_is_ours_to_the_peers_and_an_aim_is_judged_as_it_is_printed() -> None:
    row = compare("q", [3.0, 1.004, 0.5], Peer("git", [1.0, 1.0, 1.0]), at_most=1.0, count=5_000, at_least=4_900)
    assert (f"{row.ratio:.2f}", row.aim, row.reached) == ("1.00", "≤ 1.00 ×, ≥ 4,900/s", True)
    assert compare("q", [1.01], Peer("git", [1.0]), at_most=1.0).reached is False
    assert compare("q", [1.0], Peer("git", [9.0]), at_most=1.0, count=10, at_least=11).reached is False
    assert compare("q", [1.0], Peer("git", [1.0])).reached is None


def test_every_version_of_a_transcript_is_taken(make_repo: Callable[..., Repo], tmp_path: Path) -> None:
    """The newest by its name alone, former ones by that of their blob too; nothing but transcripts."""
    repo = make_repo("checkpoints")
    path = "0a/1234567890/0/full.jsonl"
    repo.commit({path: "old\n", "0a/1234567890/0/prompt.txt": "p\n"}, "one")
    repo.commit({path: "new\n", "0b/1234567890/0/full.jsonl": "other\n"}, "two")
    folder = tmp_path / "found"
    assert transcripts.take(repo.path, folder, "HEAD") == 3
    old = repo.git("rev-parse", f"HEAD~1:{path}").strip()[:12]
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "0a_1234567890_0_full.jsonl": "new\n",
        f"0a_1234567890_0_full@{old}.jsonl": "old\n",
        "0b_1234567890_0_full.jsonl": "other\n",
    }
