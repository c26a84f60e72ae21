"""Takes every version of every transcript out of a branch of checkpoints, as `attribution.py` wants them.

    python -m benchmarks.transcripts REPOSITORY FOLDER [--branch BRANCH]

A checkpoint that was made again has another transcript: the branch's history holds the former ones, which may tell of
other sessions. The newest is named by its path, `_` in the place of `/`; of others, the name also has a part of the
blob's. Blobs that are missing, as in a partial clone, are left out.
"""

import argparse
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

SUFFIX = "full.jsonl"
"""How the paths of transcripts end."""


def main() -> None:
    """Writes the files and says how many there are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--branch", default="entire/checkpoints/v1", help="the branch that holds the checkpoints")
    given = parser.parse_args()
    print(f"{take(given.repository, given.folder, given.branch)} transcripts")


def take(repository: Path, folder: Path, branch: str) -> int:
    """Writes the transcripts of a branch and of what led to it; returns how many."""
    listed = _git(repository, "ls-tree", "-r", "-z", branch).decode().split("\0")
    newest = {path: head.split()[2] for head, _, path in (row.partition("\t") for row in listed) if _is_one(path)}
    log = _git(repository, "log", "--all", "-m", "--format=", "--raw", "--no-abbrev").decode("utf-8", "replace")
    rows = (line.split("\t") for line in log.splitlines() if line.startswith(":"))
    found = {*newest.items(), *((row[-1], row[0].split()[3]) for row in rows if _is_one(row[-1]))}
    here = _here(repository, {blob for _, blob in found})
    folder.mkdir(parents=True, exist_ok=True)
    taken = sorted((path, blob) for path, blob in found if blob in here)
    for path, blob in taken:
        name = path.replace("/", "_")
        name = name if newest.get(path) == blob else f"{name.removesuffix('.jsonl')}@{blob[:12]}.jsonl"
        (folder / name).write_bytes(_git(repository, "cat-file", "blob", blob))
    return len(taken)


def _is_one(path: str) -> bool:
    return path.endswith(SUFFIX)


def _here(repository: Path, blobs: Iterable[str]) -> set[str]:
    told = _git(repository, "cat-file", "--batch-check", stdin="\n".join(sorted(blobs))).decode().splitlines()
    return {line.split()[0] for line in told if line.split()[1:2] == ["blob"]}


def _git(repository: Path, *arguments: str, stdin: str = "") -> bytes:
    command: Sequence[str] = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, input=stdin.encode(), capture_output=True, check=True).stdout


if __name__ == "__main__":
    main()
