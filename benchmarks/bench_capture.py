"""How long the capture of one named file takes, beside what git needs to record it by its path.

Git's side is the least that a recorder built on git must do, two processes of git: refresh a private index for the path
and write a tree. Ours keeps the bytes of the file and is on disk; git is told to sync as well. Ours is measured twice:
as a whole process, of which the greater part is Python's own start, and in a process that runs already.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bench_hook import check, edited, hook
from benchmarks.material import git, new_store
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, process, python
from pogstore.agents.hook import main as main_of_hook

FEW = 1_000
PER_FOLDER = 100
SIZE = 1_000


def rows(options: Options) -> Iterator[Row]:
    """Yields figures for few files and many, and whether ours depends on how many there are."""
    numbers = (min(FEW, options.events), options.events)
    places = [work_tree(options.place / str(at), number) for at, number in enumerate(numbers)]
    for number, place in zip(numbers, places, strict=True):
        whole, inside, bare, git_s = in_turn(
            options.runs,
            changing(place, hook(place, SIZE)),
            changing(place, in_process(place)),
            process(python("pass"), place),
            changing(place, by_git(place)),
        )
        peer = Peer("update-index, write-tree", git_s)
        yield compare(f"one file of {number:,}, whole process", whole, peer, at_most=1 / 4)
        yield compare(f"one file of {number:,}, in process", inside, peer, at_most=1 / 4)
        yield compare("python -c pass, which no hook can beat", bare, peer)
    few, many = in_turn(options.runs, *(changing(place, hook(place, SIZE)) for place in places))
    yield compare(f"one file of {numbers[1]:,}, whole process", many, Peer(f"of {numbers[0]:,}", few), at_most=1.1)
    for place in places:
        check(place)


def work_tree(place: Path, number: int) -> Path:
    """Makes a repository in which recording is allowed, with so many committed files."""
    new_store(place).close()
    for at in range(number):
        folder = place / f"folder_{at // PER_FOLDER}"
        if at % PER_FOLDER == 0:
            folder.mkdir()
        (folder / f"file_{at}.txt").write_text(f"file {at}\n")
    changed(place, 0)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "files")
    return place


def changed(place: Path, at: int) -> None:
    """Writes the file that is captured, with contents that it never had."""
    (place / f"file_{SIZE}.py").write_text(f"{at:>19}\n" * (SIZE // 20))


def changing(place: Path, capture: Callable[[], object]) -> Callable[[], object]:
    """Returns a function that changes the file and captures it."""
    number = iter(range(10**9))

    def run() -> None:
        changed(place, next(number))
        capture()

    return run


def in_process(place: Path) -> Callable[[], object]:
    """Returns a function that does what the hook's process does once it has started."""
    payload = json.dumps(edited(place, SIZE)).encode()

    def run() -> None:
        reads, writes = os.pipe()
        os.write(writes, payload)
        os.close(writes)
        main_of_hook(("claude-code",), reads, {})
        os.close(reads)

    return run


def by_git(place: Path) -> Callable[[], object]:
    """Returns a function that records the file by its path as git can, in an index that is nobody's."""
    index = place / ".git" / "private-index"
    shutil.copy(place / ".git" / "index", index)
    env = os.environ | {"GIT_INDEX_FILE": str(index)}
    sync = ("git", "-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync")

    def run() -> None:
        for words in (("update-index", "--add", f"file_{SIZE}.py"), ("write-tree",)):
            subprocess.run([*sync, *words], cwd=place, env=env, capture_output=True, check=True)

    return run


if __name__ == "__main__":
    main(rows, events=50_000, quick=200, runs=40)
