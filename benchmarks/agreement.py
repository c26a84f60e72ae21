"""Whether git's own lines and columns stay git's: `git pog blame --porcelain` beside `git blame --porcelain`.

    python benchmarks/agreement.py REPOSITORY... [--files N]

Every file at HEAD of each repository is compared three times, byte for byte, with the header lines taken out that we
add: with no event in the repository, with events on other paths, and with events on the file itself, made of the last
changes that commits brought it. A file is blamed as it lies in the work tree, or at HEAD if it cannot be checked out
(a mirror may lack large blobs). Works on a clone in a temporary directory; REPOSITORY itself is only read.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from benchmarks.material import agent, change, git, step, task_of
from benchmarks.measure import machine, seal
from pogstore.cli.main import run
from pogstore.draft import Draft, TaskDrafts
from pogstore.store.store import open_store
from pogstore.work.intake import take
from pogstore.work.setup import enable

OURS = (b"pog-event ", b"pog-task ", b"pog-actor ")
AT_ONCE = 200
"""Changes that are taken in by one write."""
LARGEST = 4 << 20
"""Bytes of a version over which no event is made of it."""


class Edited(NamedTuple):
    """What a commit did to a path: blobs before and after, and the commit's time in seconds."""

    path: bytes
    before: str
    after: str
    time: int


class Count(NamedTuple):
    """What came of one state of a repository: files that agree, files with lines of events, files that differ."""

    state: str
    same: int
    with_events: int
    different: list[bytes]


def main() -> int:
    """Prints a line for each repository and state; returns 1 if anything differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--files", type=int, metavar="N", help="compare every so-manieth file, so that it is about N")
    given = parser.parse_args()
    print(machine())
    failed = False
    for repository in given.repositories:
        with tempfile.TemporaryDirectory(prefix="pog-agree-") as scratch:
            seal(Path(scratch))
            for count in compared(repository.resolve(), Path(scratch) / "clone", given.files):
                failed |= bool(count.different)
                print(said(repository.resolve(), count), flush=True)
                for path in count.different[:10]:
                    print(f"  differs: {path!r}", flush=True)
    return int(failed)


def said(repository: Path, count: Count) -> str:
    """Returns the line about one state."""
    total = count.same + len(count.different)
    return (
        f"{repository.name}: {count.state}: {count.same} of {total} files equal, {count.with_events} with event lines"
    )


def compared(repository: Path, place: Path, most: int | None) -> Iterator[Count]:
    """Yields what comes of each state of a repository, one after the other."""
    git(repository.parent, "clone", "--quiet", "--shared", "--no-checkout", str(repository), str(place))
    paths = check_out(place)
    chosen = paths[:: max(1, len(paths) // most)] if most else paths
    commits = git(place, "rev-list", "--count", "HEAD").decode().strip()
    print(
        f"{repository.name}: {commits} commits, {len(paths)} files with a content, {len(chosen)} compared", flush=True
    )
    answers = {path: git_blame(place, path) for path in chosen}
    theirs = {path: answer for path, answer in answers.items() if answer is not None}
    if len(theirs) < len(chosen):
        print(f"{repository.name}: git itself cannot blame {len(chosen) - len(theirs)}, for want of old contents")
    yield compare("no events", place, theirs)
    enable(open_store(place))
    record(place, elsewhere(place, chosen), only=b"pog/elsewhere")
    yield compare("events on other paths", place, theirs)
    record(place, edits(place, set(chosen)))
    yield compare("events on the files", place, theirs)


def check_out(place: Path) -> list[bytes]:
    """Checks out what is here; returns the files of HEAD whose contents are."""
    files = [line.split(b"\t", 1) for line in git(place, "ls-tree", "-r", "-z", "HEAD").split(b"\0") if line]
    oids = [head.split()[2] for head, _ in files]
    here = git(place, "cat-file", "--batch-check=%(objecttype)", stdin=b"\n".join(oids) + b"\n").split(b"\n")
    modes = [head.split()[0] for head, _ in files]
    found = [
        path
        for (_, path), mode, kind in zip(files, modes, here, strict=False)
        if kind == b"blob" and mode in (b"100644", b"100755")
    ]
    git(place, "read-tree", "HEAD")
    git(place, "checkout-index", "--quiet", "-z", "--stdin", stdin=b"".join(path + b"\0" for path in found))
    return found


def revision_of(place: Path, path: bytes) -> list[str]:
    """Returns which revision a file is blamed in: none if it lies in the work tree."""
    return [] if (place / os.fsdecode(path)).is_file() else ["HEAD"]


def git_blame(place: Path, path: bytes) -> bytes | None:
    """Returns what git itself prints; nothing where it fails, as in a mirror that lacks an old version."""
    command = ["git", "blame", "--porcelain", *revision_of(place, path), "--", os.fsdecode(path)]
    done = subprocess.run(command, cwd=place, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def compare(state: str, place: Path, theirs: dict[bytes, bytes]) -> Count:
    """Returns how many files of a state are the same."""
    different, with_events = [], 0
    for path, expected in theirs.items():
        found = our_blame(place, path)
        with_events += b"\npog-event " in found
        if without_ours(found) != expected:
            different.append(path)
    return Count(state, len(theirs) - len(different), with_events, different)


def our_blame(place: Path, path: bytes) -> bytes:
    """Returns what `git pog blame --porcelain` prints, in this process: its start is not in question."""
    sys.stdout.flush()
    saved = os.dup(1)
    with tempfile.TemporaryFile() as output:
        os.dup2(output.fileno(), 1)
        try:
            arguments = ["blame", "--porcelain", *revision_of(place, path), "--", os.fsdecode(path)]
            status = run(["-C", str(place), *arguments])
            sys.stdout.flush()
        finally:
            os.dup2(saved, 1)
            os.close(saved)
        output.seek(0)
        return output.read() if status == 0 else b"status %d" % status


def without_ours(output: bytes) -> bytes:
    """Returns porcelain output without the header lines that we add; a line of text begins with a tab."""
    return b"\n".join(line for line in output.split(b"\n") if not line.startswith(OURS))


def elsewhere(place: Path, chosen: Sequence[bytes]) -> list[Edited]:
    """Returns some changes, to be recorded of another path."""
    return edits(place, set(chosen[:50]))[:50]


def edits(place: Path, paths: set[bytes]) -> list[Edited]:
    """Returns the last two changes of each of some paths, the oldest first."""
    log = git(
        place, "log", "--raw", "-z", "--no-renames", "--no-abbrev", "--root", "--diff-filter=AM", "--format=%x00@%ct"
    )
    found: dict[bytes, list[Edited]] = defaultdict(list)
    moment = 0
    fields = iter(log.split(b"\0"))
    for field in fields:
        if field.startswith(b"@"):
            moment = int(field[1:].strip() or 0)
        elif field.lstrip(b"\n").startswith(b":"):
            before, after = field.split()[2:4]
            path = next(fields)
            if path in paths and len(found[path]) < 2:
                found[path].append(Edited(path, before.decode(), after.decode(), moment))
    return sorted((edit for of_path in found.values() for edit in of_path), key=lambda edit: edit.time)


def record(place: Path, found: Sequence[Edited], only: bytes | None = None) -> None:
    """Records changes as those of an agent, made a minute before the commit; with `only`, as of that path."""
    store = open_store(place)
    for begin in range(0, len(found), AT_ONCE):
        several = enumerate(found[begin : begin + AT_ONCE], begin)
        drafts = [draft for at, edit in several if (draft := drafted(place, at, edit, only)) is not None]
        take(store, [TaskDrafts(task=task_of(2 if only else 1), drafts=tuple(drafts))])
    store.close()


def drafted(place: Path, at: int, edit: Edited, only: bytes | None) -> Draft | None:
    """Returns a change as a step of an agent; nothing where a version is not here, or the path not text."""
    before, after = blob(place, edit.before), blob(place, edit.after)
    try:
        path = (only or edit.path).decode("utf-8")
    except UnicodeDecodeError:
        return None
    if after is None or (before is None and int(edit.before, 16)):
        return None
    made = step(1, at, agent(1), [change(path, before, after)])
    return structs.replace(made, time=(edit.time - 60) * 1_000_000, source=None)


def blob(place: Path, oid: str) -> bytes | None:
    """Returns a version; nothing if there is none, or it is too large."""
    if not int(oid, 16):
        return None
    kind, _, size = git(place, "cat-file", "--batch-check=%(objecttype) %(objectsize)", stdin=oid.encode()).partition(
        b" "
    )
    return git(place, "cat-file", "blob", oid) if kind == b"blob" and int(size) <= LARGEST else None


if __name__ == "__main__":
    sys.exit(main())
