"""What git ignores in a work tree: the contents of such files are not kept, whoever tells of them."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from pogstore.draft import Draft, DraftChange, TaskDrafts
from pogstore.store.content import path_bytes
from pogstore.store.gitcli import Git
from pogstore.store.store import Store


def ignored(git: Git, paths: Iterable[bytes]) -> set[bytes]:
    """Returns the paths of a work tree, tracked ones apart, that git ignores.

    Those of which git will not say (they lie beyond a symbolic link, or in a submodule) count as ignored.
    """
    found: set[bytes] = set()
    rest = list(dict.fromkeys(paths))
    while rest:
        stdin = b"".join(b"./" + path + b"\0" for path in rest)  # so that no ':' begins it, which means magic
        done = git.run("check-ignore", "-z", "--stdin", "-v", "-n", stdin=stdin, check=False)
        answers = list(_answers(done.stdout.split(b"\0")))
        found.update(path for path, is_ignored in zip(rest, answers, strict=False) if is_ignored)
        found.update(rest[len(answers) :][:1])
        rest = rest[len(answers) + 1 :]
    return found


def _answers(fields: Sequence[bytes]) -> Iterator[bool]:
    """Yields for each path whether the last pattern that matches it, if any does, is one that ignores."""
    for at in range(0, len(fields) - 3, 4):
        source, _, pattern, _ = fields[at : at + 4]
        yield bool(source) and not pattern.startswith(b"!")


def without_ignored(place: Store, task: TaskDrafts) -> TaskDrafts:
    """Returns the drafts of a task without the contents of files that git ignores in the work tree of `place`.

    Such a change keeps its path; the texts of the step that made it are dropped, since they quote the file, and so is
    what nobody is known to have done. Without a work tree nothing is ignored.
    """
    paths = {raw for draft in task.drafts for change in draft.changes if (raw := path_bytes(change.path)) is not None}
    if place.layout.work_tree is None or not paths:
        return task
    found = ignored(place.git, sorted(paths))
    drafts = (_without(draft, found) for draft in task.drafts) if found else task.drafts
    return msgspec.structs.replace(task, drafts=tuple(draft for draft in drafts if draft is not None))


def _without(draft: Draft, paths: set[bytes]) -> Draft | None:
    kept = tuple(change for change in draft.changes if path_bytes(change.path) not in paths)
    if len(kept) == len(draft.changes):
        return draft
    if draft.kind != "stepped":
        return msgspec.structs.replace(draft, changes=kept) if kept else None
    bare = (DraftChange(path=each.path) if path_bytes(each.path) in paths else each for each in draft.changes)
    return msgspec.structs.replace(
        draft,
        changes=tuple(bare),
        texts={},
        inferred=None,
        fields=draft.fields | {"coverage": "partial", "coverage_reason": "ignored"},
    )
