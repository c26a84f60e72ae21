"""What git itself says of the user's own history: blame, renames, the commits that changed a path, changed files.

Every answer is parsed into values of ours; paths are bytes as git keeps them. Knows nothing of events.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pogstore.errors import GitFailed, NotFound
from pogstore.model import Oid
from pogstore.store import gitargs
from pogstore.store.gitargs import LITERAL, RENAME
from pogstore.store.gitcli import Git

NOT_COMMITTED = Oid("0" * 40)
EXACT = "-M100%"
"""The same for files that did not change, which can be found without reading them."""

_FILES = (b"100644", b"100755", b"100664")

SUBMODULE = b"160000"
"""The mode of a submodule, whose oid is a commit of another repository."""

_HEADER = re.compile(rb"([0-9a-f]{40}) (\d+) (\d+)(?: (\d+))?\Z")


class LineCommit(NamedTuple):
    """One line of `git blame --porcelain`: the raw lines that git printed before it, and what they say."""

    commit: Oid
    original: int
    final: int
    head: tuple[bytes, ...]
    text: bytes


class FormerName(NamedTuple):
    """A name that a file had until it was moved (µs), or until then shares with the file of which it is a copy."""

    name: bytes
    until: int
    copied: bool


class CommitInfo(NamedTuple):
    """Who made a commit, when and under which subject; `boundary` if git did not look behind it."""

    author: str
    time: int
    offset: int
    subject: str
    boundary: bool
    path: bytes
    mail: str = ""


class PathCommit(NamedTuple):
    """A commit that changed a path against one parent: blobs before and after (absent: there was no file).

    `against` counts the parents against which the commit changed one of the paths asked for.
    """

    commit: Oid
    against: int
    time: int
    authored: int
    parents: tuple[Oid, ...]
    path: bytes
    before: Oid | None
    after: Oid | None


class CommitBlobs(NamedTuple):
    """A commit and the files that it added or changed against its first parent; of these the blobs, each once."""

    commit: Oid
    tree: Oid
    parents: tuple[Oid, ...]
    blobs: tuple[Oid, ...]


def commit_of(git: Git, revision: str) -> Oid:
    """Returns the commit that a revision names; raises `NotFound`."""
    done = git.run(*gitargs.commit(revision), check=False)
    if done.returncode:
        raise NotFound("revision", revision)
    return Oid(done.stdout.decode().strip())


def find_commit(git: Git, revision: str) -> Oid | None:
    """Returns the commit that a revision names; nothing if there is none."""
    try:
        return commit_of(git, revision)
    except NotFound:
        return None


def find_head(git: Git) -> Oid | None:
    """Returns the commit of HEAD; nothing in a repository without commits."""
    return find_commit(git, "HEAD")


def blob_at(git: Git, commit: Oid, path: bytes) -> Oid | None:
    """Returns the blob that a commit has at a path; nothing if there is none, or something else."""
    done = git.run(*gitargs.blob(commit, _text(path)), check=False, env=LITERAL)
    for record in done.stdout.split(b"\0"):
        head, _, name = record.partition(b"\t")
        fields = head.split()
        if name == path and len(fields) == 3 and fields[1] == b"blob":
            return Oid(fields[2].decode())
    return None


def blame(
    git: Git, path: bytes, revision: Oid | None, options: Sequence[str] = (), contents: bytes | None = None
) -> bytes:
    """Returns what `git blame --porcelain` prints for a path: in a revision, or as the work tree or `contents` have it.

    With `--line-porcelain` or `--incremental` among the options it is that form.
    """
    given = [] if contents is None else ["--contents", "-"]
    arguments = gitargs.blame(_text(path), [*options, *given, *([revision] if revision else [])])
    return git.run(*arguments, stdin=contents or b"").stdout


def parse_blame(output: bytes) -> tuple[list[LineCommit], dict[Oid, CommitInfo]]:
    """Returns the lines and the commits in what `git blame --porcelain` printed."""
    lines: list[LineCommit] = []
    commits: dict[Oid, CommitInfo] = {}
    head: list[bytes] = []
    fields: dict[Oid, dict[bytes, bytes]] = {}
    for raw in output.split(b"\n")[:-1]:
        if not raw.startswith(b"\t"):
            head.append(raw)
            continue
        match = _HEADER.match(head[0])
        if match is None:
            raise GitFailed("blame", 0, "output that is not git's porcelain format")
        commit = Oid(match[1].decode())
        known = fields.setdefault(commit, {})
        for extra in head[1:]:
            name, _, value = extra.partition(b" ")
            known[name] = value
        lines.append(LineCommit(commit, int(match[2]), int(match[3]), tuple(head), raw[1:]))
        head = []
    for commit, known in fields.items():
        commits[commit] = _commit_info(known)
    return lines, commits


def parse_incremental(output: bytes) -> Iterator[tuple[int, int, tuple[bytes, ...]]]:
    """Yields the groups in what `git blame --incremental` printed: first line, number of lines, all that was said."""
    head: list[bytes] = []
    for raw in output.split(b"\n")[:-1]:
        head.append(raw)
        if not raw.startswith(b"filename "):
            continue
        match = _HEADER.match(head[0])
        if match is None or match[4] is None:
            raise GitFailed("blame", 0, "output that is not git's incremental format")
        yield int(match[3]), int(match[4]), tuple(head)
        head = []


def _commit_info(fields: dict[bytes, bytes]) -> CommitInfo:
    zone = _number(fields.get(b"author-tz", b""))
    return CommitInfo(
        author=fields.get(b"author", b"").decode("utf-8", "replace"),
        time=_number(fields.get(b"author-time", b"")) * 1_000_000,
        offset=(abs(zone) // 100 * 60 + abs(zone) % 100) * (-1 if zone < 0 else 1),
        subject=fields.get(b"summary", b"").decode("utf-8", "replace"),
        boundary=b"boundary" in fields,
        path=fields.get(b"filename", b""),
        mail=fields.get(b"author-mail", b"").decode("utf-8", "replace"),
    )


def _number(text: bytes) -> int:
    """Returns a number that a commit holds; 0 where it is malformed: git then says `(unknown)`, or nothing."""
    try:
        return int(text)
    except ValueError:
        return 0


def older_names(git: Git, tip: Oid, path: bytes, alike: str = RENAME) -> list[FormerName]:
    """Returns the names that a file, or what it was copied from, had before; the newest first, each once."""
    done = git.run(*gitargs.former_names(tip, _text(path), alike), env=LITERAL)
    found: dict[bytes, FormerName] = {}
    until, copied = 0, False
    fields = iter(done.stdout.split(b"\0"))
    for field in fields:
        if field.startswith(b"commit\1"):
            until = _number(field.split(b"\1")[1]) * 1_000_000
        elif re.fullmatch(rb"\n?[RC]\d{3}", field):
            copied = copied or field.lstrip(b"\n").startswith(b"C")
            older = next(fields)
            next(fields)
            if older != path:
                found.setdefault(older, FormerName(older, until, copied))
    return list(found.values())


def staged_name(git: Git, tip: Oid, path: bytes) -> bytes | None:
    """Returns the name that a file of the index has in a commit, if git would call the difference a rename."""
    done = git.run("diff-index", "--cached", RENAME, "--diff-filter=R", "--name-status", "-z", tip, "--")
    fields = done.stdout.split(b"\0")
    return next((older for older, newer in zip(fields[1::3], fields[2::3], strict=False) if newer == path), None)


def files_of(git: Git, commit: Oid) -> dict[bytes, Oid]:
    """Returns the files of a commit with their blobs, but for symbolic links and submodules."""
    records = git.run("ls-tree", "-r", "-z", "--full-tree", commit).stdout.split(b"\0")[:-1]
    found = {}
    for record in records:
        head, _, name = record.partition(b"\t")
        mode, _, oid = head.split()
        if mode in _FILES:
            found[name] = Oid(oid.decode())
    return found


def path_commits(git: Git, tip: Oid, paths: Sequence[bytes], limit: int | None = None) -> list[PathCommit]:
    """Returns every commit behind a tip that changed one of some paths, against each of its parents, parents first.

    What lies below one of the paths, where that was once a directory, is left out. Without paths it is all that every
    commit changed, at most `limit` changes.
    """
    done = git.run(*gitargs.changes(tip, [_text(path) for path in paths]), env=LITERAL)
    wanted = set(paths)
    rows = (row for row in _parse_log(done.stdout) if not wanted or row.path in wanted)
    return list(islice(rows, limit))


def _parse_log(output: bytes) -> Iterator[PathCommit]:
    """Yields what `git log -z` printed: the head of a commit, then what changed, each with its path."""
    against, last = 0, b""
    head: list[bytes] = []
    fields = iter(output.split(b"\0"))
    for field in fields:
        if field.startswith(b"commit\1"):
            head = field.split(b"\1")[1:]
            against = against + 1 if head[0] == last else 1
            last = head[0]
        elif field.lstrip(b"\n").startswith(b":"):
            old, new = field.split()[2:4]
            yield _path_commit(head, against, next(fields), old, new)


def _path_commit(head: Sequence[bytes], against: int, path: bytes, old: bytes, new: bytes) -> PathCommit:
    commit, time, authored, parents = head
    return PathCommit(
        commit=Oid(commit.decode()),
        against=against,
        time=_number(time) * 1_000_000,
        authored=_number(authored) * 1_000_000,
        parents=tuple(Oid(parent.decode()) for parent in parents.split()),
        path=path,
        before=_present(old),
        after=_present(new),
    )


def _present(oid: bytes) -> Oid | None:
    return None if set(oid) == {ord("0")} else Oid(oid.decode())


def new_commits(git: Git, tips: Sequence[str], known: Sequence[str], limit: int) -> list[CommitBlobs]:
    """Returns the newest `limit` commits that can be reached from some commits and not from known ones, oldest first.

    Commits that are no longer here count as not given, among the tips as among the known. Submodules are no files. A
    commit stands before its parent only where its date does.
    """
    if not tips or limit <= 0:
        return []
    revisions = "".join(f"{tip}\n" for tip in tips) + "".join(f"^{oid}\n" for oid in known)
    listed = git.run(
        "rev-list", "--reverse", f"--max-count={limit}", "--format=%T %P", "--ignore-missing", "--stdin",
        stdin=revisions.encode(),
    )  # fmt: skip
    lines = listed.stdout.decode("ascii").splitlines()
    commits = [_commit_blobs(*pair) for pair in zip(lines[::2], lines[1::2], strict=True)]
    blobs = _changed_blobs(git, commits) if commits else {}
    return [commit._replace(blobs=blobs.get(commit.commit, ())) for commit in commits]


def _commit_blobs(head: str, line: str) -> CommitBlobs:
    """Returns what `git rev-list` says of a commit in two lines; the blobs are not known yet."""
    tree, *parents = line.split()
    return CommitBlobs(Oid(head.removeprefix("commit ")), Oid(tree), tuple(map(Oid, parents)), ())


def _changed_blobs(git: Git, commits: Sequence[CommitBlobs]) -> dict[Oid, tuple[Oid, ...]]:
    """Returns the blobs that each commit added or changed, by plumbing, which no setting of the user's changes."""
    pairs = "".join(" ".join((item.commit, *item.parents[:1])) + "\n" for item in commits)
    arguments = ("diff-tree", "--stdin", "-r", "-z", "--root", "--no-renames", "--diff-filter=d")
    fields = iter(git.run(*arguments, stdin=pairs.encode()).stdout.split(b"\0"))
    found: dict[Oid, dict[Oid, None]] = {}
    blobs: dict[Oid, None] = {}
    for field in fields:
        if field.startswith(b":"):
            next(fields)  # the path, which may look like anything
            mode, oid = field.split()[1:4:2]
            if mode != SUBMODULE:
                blobs[Oid(oid.decode())] = None
        elif field:
            blobs = found.setdefault(Oid(field.decode()), {})
    return {commit: tuple(of_commit) for commit, of_commit in found.items()}


def changed_files(git: Git) -> list[bytes]:
    """Returns the files of the work tree that differ from HEAD and still exist, untracked ones included, sorted."""
    done = git.run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
    records = [record for record in done.stdout.split(b"\0") if record]
    return sorted(record[3:] for record in records if record[1:2] != b"D" and record[:2] != b"D ")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
