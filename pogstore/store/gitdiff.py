"""What git says that one commit adds to another: the files, and in each the lines that are new; nothing of events.

One process says it all; its output is read as it comes, so that a great difference takes no memory.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, NamedTuple

from pogstore.errors import GitFailed
from pogstore.model import Oid
from pogstore.store.gitargs import PLAIN_LOG, RENAME
from pogstore.store.gitcli import Git

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_WHAT = {b"120000": "link", b"160000": "submodule"}
_END = b"\0\0"
"""Ends the list of files, in which no name is empty."""
_PLAIN = (
    "-r", "-z", "--raw", "--patch", "--unified=0", "--inter-hunk-context=0", "--no-abbrev", "--no-color",
    "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=none", "--find-renames",
    "-l1000",
)  # fmt: skip


class FileDiff(NamedTuple):
    """A file that differs: `text`, `binary`, `link`, `submodule` or `deleted`, and the former name of a renamed one.

    `added` are line numbers of the new side, from 1; `removed` counts lines of the old side. Only text has them, and
    what was deleted has removed ones. `before` and `after` name what both sides hold, nothing where there is no file.
    """

    path: bytes
    former: bytes | None
    what: str
    added: tuple[range, ...]
    removed: int
    before: Oid | None = None
    after: Oid | None = None


class _Entry(NamedTuple):
    """A file in git's raw format."""

    modes: tuple[bytes, bytes]
    oids: tuple[Oid | None, Oid | None]
    status: bytes
    path: bytes
    former: bytes | None


class _Section(NamedTuple):
    """The patch of one file."""

    binary: bool
    added: list[range]
    removed: int


def find_merge_base(git: Git, one: Oid, other: Oid) -> Oid | None:
    """Returns the best common ancestor of two commits; nothing if there is none."""
    done = git.run("merge-base", one, other, check=False)
    if done.returncode > 1:
        raise GitFailed("merge-base", done.returncode, done.stderr.decode("utf-8", "replace"))
    return Oid(done.stdout.decode().strip()) or None


def differences(git: Git, base: Oid | None, tip: Oid, pathspecs: Sequence[str] = ()) -> list[FileDiff]:
    """Returns the files that a commit has otherwise than its base, sorted as git sorts them; all of them without one.

    `pathspecs` choose among them and hide no rename: a file that came from elsewhere is still one that was renamed.
    """
    old = base or git.text("hash-object", "-t", "tree", "--stdin")
    with git.stream("diff-tree", *_PLAIN, old, tip, "--") as output:
        found = list(_parse(output))
    if not pathspecs:
        return found
    named = git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, tip, "--", *pathspecs).stdout
    wanted = set(named.split(b"\0"))
    return [file for file in found if file.path in wanted]


def staged(git: Git, base: Oid | None) -> list[FileDiff]:
    """Returns the files that the index has otherwise than a commit; all of them without one."""
    old = base or git.text("hash-object", "-t", "tree", "--stdin")
    with git.stream("diff-index", "--cached", *_PLAIN, old, "--") as output:
        return list(_parse(output))


def _parse(output: IO[bytes]) -> Iterator[FileDiff]:
    """Yields what `git diff-tree -z --raw --patch` prints: all files first, then a patch for each."""
    head = bytearray()
    while line := output.readline():
        head += line
        if _END in head[-len(line) - 1 :]:
            break
    names, _, first = bytes(head).partition(_END)
    sections = _sections(_chain_first(first, output))
    for entry in _files(names):
        section = next(sections, _Section(False, [], 0))
        if entry.status == b"T":  # one file goes and another comes, each with a patch
            section = next(sections, section)._replace(removed=section.removed)
        yield _file_diff(entry, section)


def _chain_first(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _files(raw: bytes) -> Iterator[_Entry]:
    """Yields each file in git's raw format."""
    fields = iter(raw.split(b"\0"))
    for field in fields:
        if not field.startswith(b":"):
            continue
        old_mode, new_mode, old, new, status = field[1:].split(b" ")
        path = next(fields)
        former = path if status[:1] in b"RC" else None
        path = path if former is None else next(fields)
        yield _Entry((old_mode, new_mode), (_oid(old), _oid(new)), status[:1], path, former)


def _oid(spelled: bytes) -> Oid | None:
    return Oid(spelled.decode("ascii")) if spelled.strip(b"0") else None


def _sections(lines: Iterable[bytes]) -> Iterator[_Section]:
    """Yields the patch of each file; what stands in a hunk is counted and never taken for a heading."""
    found: _Section | None = None
    left = 0
    for line in lines:
        if left:
            left -= not line.startswith(b"\\")
        elif line.startswith(b"diff --git "):
            if found is not None:
                yield found
            found = _Section(False, [], 0)
        elif found is not None and (match := _HUNK.match(line)):
            removed, added = (1 if count is None else int(count) for count in match.group(1, 3))
            left = removed + added
            found.added.append(range(int(match[2]), int(match[2]) + added))
            found = found._replace(removed=found.removed + removed)
        elif found is not None and line.startswith(b"Binary files "):
            found = found._replace(binary=True)
    if found is not None:
        yield found


def _file_diff(entry: _Entry, section: _Section) -> FileDiff:
    modes, deleted = entry.modes, entry.status == b"D"
    what = _WHAT.get(modes[0] if deleted else modes[1], "binary" if section.binary else "text")
    added = tuple(lines for lines in section.added if lines) if what == "text" and not deleted else ()
    removed = section.removed if modes[0] not in _WHAT else 0
    return FileDiff(entry.path, entry.former, "deleted" if deleted else what, added, removed, *entry.oids)


def files_at(git: Git, commit: Oid) -> set[bytes]:
    """Returns the paths of all files of a commit; neither links nor submodules."""
    records = git.run("ls-tree", "-r", "-z", "--full-tree", commit).stdout.split(b"\0")
    return {record.partition(b"\t")[2] for record in records if record.startswith(b"100")}


def renames(git: Git, tip: Oid, since: int) -> list[tuple[bytes, bytes]]:
    """Returns which files were renamed behind a tip, old and new name, by commits no older than a time in seconds."""
    done = git.run(
        "log", *PLAIN_LOG, RENAME, "--diff-filter=R", "--name-status", "-z", "--format=", f"--since={since}", tip, "--"
    )
    fields = iter(done.stdout.split(b"\0"))
    return [(next(fields), next(fields)) for field in fields if re.fullmatch(rb"\n*R\d{3}", field)]
