"""Two real looks at a real work tree, and what is said of what happened between them."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pogstore.draft import DraftChange, FileVersion
from pogstore.model import FORMAT, Change, Observed
from pogstore.store.batch import Batch
from pogstore.store.gitcli import Git
from pogstore.store.store import Store
from pogstore.work import look as hook_look
from pogstore.work import sighting, spool
from pogstore.work.active import worktree_id
from pogstore.work.compared import Compared, Look, compare, look_of, observe
from pogstore.work.held import Held
from pogstore.work.recorded import Recorded
from pogstore.work.spooled_record import Seen, decode_record
from tests.builders_store import ADA, TASK, opened
from tests.conftest import SECOND, STARTED, Repo


class Watched:
    """A work tree at which somebody looks, one second after the other."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.store = opened(repo)
        self.recorded = self.fresh()
        self.now = STARTED + 100 * SECOND

    def fresh(self) -> Recorded:
        return Recorded(self.store, self.store, worktree_id(self.store.layout))

    def look(self, max_blob: int = 1 << 20) -> Look:
        self.now += SECOND
        place = sighting.find_place(os.fsencode(self.repo.path))
        assert place is not None
        seen = hook_look.look(place, max_blob, 30.0)
        found = look_of(decode_record(encoded(place, seen, self.now)))
        assert found is not None
        assert found.reason is None
        seen.remember()
        return found

    def begin(self) -> Look:
        look = self.look()
        observe(self.recorded, None, look)
        return look

    def end(self, begin: Look, **options: Any) -> Compared:
        return compare(self.recorded, begin, self.look(), **options)

    def write(self, name: str, data: str | bytes) -> Path:
        path = self.repo.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path


def encoded(place: sighting.Place, seen: hook_look.Look, at: int) -> bytes:
    root, git_dir, common_dir = place
    return spool.encode_record(
        record_id="0" * 32, agent="a", event="e", time=at, offset=0, git_dir=git_dir, common_dir=common_dir, root=root,
        payload=b"", whole=True, head=seen.head, look=seen.look, states=seen.states,
    )  # fmt: skip


@pytest.fixture
def tree(repo: Repo) -> Watched:
    return Watched(repo)


def record(store: Store, name: str, data: bytes, worktree: str, at: int = STARTED) -> None:
    """Stores an event of a work tree that saw a file version."""

    def write(batch: Batch) -> None:
        change = Change(path=name, after=batch.add_file(TASK, name, "100644", data))
        batch.append(Observed(v=FORMAT, task=TASK, clock=1, time=at, actor=ADA, worktree=worktree, changes=(change,)))

    store.transact(write)


def told(changes: Iterable[DraftChange]) -> list[tuple[object, bytes | None, bytes | None]]:
    return sorted(
        (str(each.path), each.before.data if each.before else None, each.after.data if each.after else None)
        for each in changes
    )


def test_what_a_call_creates_changes_and_deletes_is_its_own(tree: Watched) -> None:
    """Case PC-97."""
    tree.repo.commit({"gone": "gone\n", "mode": "#!\n", "same": "same\n"})
    tree.write("before", "by hand\n")
    begin = tree.begin()
    tree.write("README", "one\n")
    tree.write("sub/new", "new\n")
    (tree.repo.path / "gone").unlink()
    (tree.repo.path / "mode").chmod(0o755)
    (tree.repo.path / "link").symlink_to("README")
    found = tree.end(begin)
    assert told(found.changes) == [
        ("README", b"a project\n", b"one\n"),
        ("gone", b"gone\n", None),
        ("link", None, b"README"),
        ("mode", b"#!\n", b"#!\n"),
        ("sub/new", None, b"new\n"),
    ]
    modes = {str(each.path): each.after.mode for each in found.changes if each.after}
    assert (modes["mode"], modes["link"], modes["README"]) == ("100755", "120000", "100644")
    assert (found.coverage, found.reason) == ("shared", "shell")
    head = {"commit": f"sha1_{tree.repo.git('rev-parse', 'HEAD')}", "branch": "main"}
    assert (found.base_from, found.base) == (head, head)


def test_what_was_there_before_a_call_is_observed_and_what_was_not_touched_is_nobodys(tree: Watched) -> None:
    """Case PC-19."""
    tree.write("README", "by hand\n")
    tree.write("mine", "by hand\n")
    begin = tree.look()
    gap = observe(tree.recorded, None, begin)
    assert told(gap.changes) == [("README", b"a project\n", b"by hand\n"), ("mine", None, b"by hand\n")]
    assert (gap.coverage, gap.base_from is None, gap.base is None) == ("exact", True, False)
    found = tree.end(begin)
    assert (found.is_empty, found.coverage, found.reason) == (True, "exact", None)
    tree.write("README", "by hand, again\n")
    again = observe(tree.recorded, begin, tree.look())
    assert told(again.changes) == [("README", b"by hand\n", b"by hand, again\n")]
    assert again.base_from == again.base


def test_a_file_that_is_written_anew_with_the_same_bytes_is_no_change(tree: Watched) -> None:
    tree.write("mine", "same\n")
    begin = tree.begin()
    (tree.repo.path / "mine").unlink()
    tree.write("mine", "same\n")
    tree.write("README", "a project\n")
    assert tree.end(begin).is_empty


@pytest.mark.parametrize("moves", [False, True])
def test_what_a_checkout_brings_is_a_change_only_if_head_stays(tree: Watched, moves: bool) -> None:
    tree.repo.commit({"README": "second\n"})
    tree.write("README", "by hand\n")
    begin = tree.begin()
    tree.repo.git("checkout", "--quiet", "HEAD", "--", "README")
    if moves:
        tree.repo.git("checkout", "--quiet", "--detach", "HEAD~1")
    found = tree.end(begin)
    assert told(found.changes) == ([] if moves else [("README", b"by hand\n", b"second\n")])
    assert found.base is not None
    assert ("branch" in found.base) is not moves


def test_an_old_version_from_history_is_brought_unless_a_call_without_a_new_head_brings_it(tree: Watched) -> None:
    """Case PC-20."""
    tree.repo.commit({"README": "second\n", "new\nline": "x\n"})
    tree.repo.git("checkout", "--quiet", "HEAD~1", "--", "README")
    begin = tree.look()
    assert observe(tree.recorded, None, begin).is_empty
    tree.repo.git("checkout", "--quiet", "HEAD", "--", "README")
    then = tree.look()
    assert observe(tree.recorded, begin, then).is_empty
    tree.repo.git("checkout", "--quiet", "HEAD~1", "--", "README")
    found = tree.end(then)
    assert told(found.changes) == [("README", b"second\n", b"a project\n")]


def test_a_new_head_brings_what_history_has_and_nothing_else(tree: Watched) -> None:
    tree.repo.commit({"README": "second\n", "odd\nname": "x\n"})
    begin = tree.begin()
    tree.repo.commit({"other": "x\n", "odd\nname": "y\n"})
    tree.repo.git("checkout", "--quiet", "HEAD~2", "--", "README")
    tree.repo.git("checkout", "--quiet", "HEAD~1", "--", "odd\nname")
    tree.write("written", "by the call\n")
    assert told(tree.end(begin).changes) == [("written", None, b"by the call\n")]


def dated(tree: Watched, **options: str) -> dict[str, str]:
    """The dates of what happens now."""
    at = f"{tree.now // SECOND} +0000"
    return {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} | options


def test_what_a_call_writes_and_commits_itself_is_its_own(tree: Watched) -> None:
    tree.repo.commit({"gone": "gone\n"})
    tree.write("mine", "by hand\n")
    begin = tree.begin()
    for text in ("one\n", "two\n"):
        tree.write("README", text)
        tree.write("sub/new", text)
        (tree.repo.path / "gone").unlink(missing_ok=True)
        tree.repo.git("add", "--all")
        tree.repo.git("commit", "--quiet", "--message", "by the call", env=dated(tree))
    tree.write("after", "new\n")
    assert told(tree.end(begin).changes) == [
        ("README", b"a project\n", b"two\n"),
        ("after", None, b"new\n"),
        ("gone", b"gone\n", None),
        ("sub/new", None, b"two\n"),
    ]
    then = tree.begin()
    tree.write("README", "three\n")
    tree.repo.git("commit", "--quiet", "--all", "--message", "again", env=dated(tree))
    assert told(tree.end(then).changes) == [("README", b"two\n", b"three\n")]


def test_what_a_call_picks_merges_or_rebases_is_not_its_own(tree: Watched) -> None:
    """Case PC-20: what was written before is not the call's, whoever commits it now."""
    tree.repo.git("branch", "upstream")
    tree.repo.commit({"ours": "ours\n"})
    tree.repo.git("checkout", "--quiet", "upstream")
    tree.repo.commit({"theirs": "theirs\n"})
    tree.repo.git("checkout", "--quiet", "main")
    for command in (("cherry-pick", "upstream"), ("merge", "--no-edit", "--no-ff", "upstream"), ("rebase", "upstream")):
        begin = tree.begin()
        tree.repo.git(*command, env={"GIT_COMMITTER_DATE": dated(tree)["GIT_COMMITTER_DATE"]})
        found = tree.end(begin)
        assert (found.changes, found.coverage) == ((), "exact")
        tree.repo.git("reset", "--quiet", "--hard", begin.head.commit if begin.head else "")
        tree.recorded = tree.fresh()


def test_a_soft_reset_changes_no_file(tree: Watched) -> None:
    tree.repo.commit({"README": "second\n", "new": "new\n"})
    begin = tree.begin()
    tree.repo.git("reset", "--quiet", "--soft", "HEAD~1")
    then = tree.look()
    assert compare(tree.recorded, begin, then).is_empty
    tree.write("new", "newer\n")
    assert told(tree.end(then).changes) == [("new", b"new\n", b"newer\n")]


def test_moved_files_are_renames_where_that_is_plain(tree: Watched) -> None:
    """Case PC-25."""
    tree.repo.commit({"a/x": "same\n", "a/y": "same\n", "a/z": "same\n", "one": "1\n", "empty": ""})
    begin = tree.begin()
    tree.repo.git("mv", "a", "b")
    tree.repo.git("mv", "b/z", "b/other")
    tree.repo.git("mv", "one", "uno")
    tree.repo.git("mv", "empty", "void")
    found = tree.end(begin)
    moved = {str(each.path): each.from_ for each in found.changes if each.from_ is not None}
    assert moved == {"b/x": "a/x", "b/y": "a/y", "uno": "one"}
    assert all(each.before == each.after for each in found.changes if each.from_ is not None)
    assert told(each for each in found.changes if each.from_ is None) == [
        ("a/z", b"same\n", None), ("b/other", None, b"same\n"), ("empty", b"", None), ("void", None, b"")
    ]  # fmt: skip


def test_a_link_is_not_a_file_with_the_same_bytes(tree: Watched) -> None:
    tree.repo.commit({"target": "README"})
    begin = tree.begin()
    (tree.repo.path / "target").unlink()
    (tree.repo.path / "link").symlink_to("README")
    assert not [each for each in tree.end(begin).changes if each.from_ is not None]


def test_versions_are_in_gits_form(tree: Watched) -> None:
    tree.repo.commit({".gitattributes": "*.txt text eol=crlf\n", "a.txt": "one\n"})
    begin = tree.begin()
    tree.write("a.txt", b"one\r\n")
    then = tree.look()
    assert compare(tree.recorded, begin, then).is_empty
    tree.write("a.txt", b"two\r\n")
    found = compare(tree.recorded, then, tree.look())
    assert told(found.changes) == [("a.txt", b"one\n", b"two\n")]


def test_line_ends_that_git_converts_from_now_on_are_no_change(tree: Watched) -> None:
    begin = tree.begin()
    tree.write("c.txt", "one\r\n")
    assert told(tree.end(begin).changes) == [("c.txt", None, b"one\r\n")]
    tree.repo.git("config", "core.autocrlf", "true")
    tree.recorded = tree.fresh()
    tree.recorded.note(b"c.txt", Held(FileVersion(mode="100644", data=b"one\r\n")), tree.now)
    begin = tree.begin()
    tree.repo.git("add", "c.txt")
    tree.repo.git("commit", "--quiet", "--message", "c", env=dated(tree))
    then = tree.look()
    assert compare(tree.recorded, begin, then).is_empty
    (tree.repo.path / "c.txt").unlink()
    tree.repo.git("checkout", "--quiet", "c.txt")
    assert tree.end(then).is_empty
    tree.write("c.txt", "two\r\n")
    assert told(tree.end(then).changes) == [("c.txt", b"one\n", b"two\n")]


def test_a_repository_without_commits(make_repo: Callable[..., Repo]) -> None:
    tree = Watched(make_repo("empty", commit=False))
    tree.write("mine", "by hand\n")
    begin = tree.look()
    assert told(observe(tree.recorded, None, begin).changes) == [("mine", None, b"by hand\n")]
    tree.write("new", "new\n")
    found = tree.end(begin)
    assert told(found.changes) == [("new", None, b"new\n")]
    assert found.base == {"branch": "main"}
    then = tree.look()
    tree.write("third", "third\n")
    tree.repo.git("add", "--all")
    tree.repo.git("commit", "--quiet", "--message", "first", env=dated(tree))
    assert told(tree.end(then).changes) == [("third", None, b"third\n")]


def test_a_partial_look_says_nothing(tree: Watched) -> None:
    begin = tree.begin()
    tree.write("README", "one\n")
    cut = tree.look()._replace(states={}, reason="timeout")
    assert (compare(tree.recorded, begin, cut).coverage, compare(tree.recorded, begin, cut).reason) == (
        "partial",
        "timeout",
    )
    assert observe(tree.recorded, begin, cut).is_empty
    assert told(observe(tree.recorded, begin, tree.look()).changes) == [("README", b"a project\n", b"one\n")]


def test_paths_that_are_left_to_others_stay_as_they_are(tree: Watched) -> None:
    begin = tree.begin()
    tree.write("README", "one\n")
    tree.write("new", "new\n")
    assert told(tree.end(begin, leave={b"README"}).changes) == [("new", None, b"new\n")]
    assert told(tree.end(begin).changes) == [("README", b"a project\n", b"one\n")]


def test_what_an_edit_left_and_somebody_changed_is_apart(tree: Watched) -> None:
    begin = tree.begin()
    for name in ("README", "kept"):
        tree.write(name, "edited\n")
        version = FileVersion(mode="100644", data=b"edited\n")
        tree.recorded.note(name.encode(), Held(version), tree.now + 1, by_edit=True)
    tree.write("README", "edited\nand changed\n")
    tree.write("new", "new\n")
    found = tree.end(begin)
    assert told(found.changes) == [("new", None, b"new\n")]
    assert found.apart is not None
    assert told(found.apart.changes) == [("README", b"edited\n", b"edited\nand changed\n")]


def kept(look: Look, name: bytes) -> Seen:
    state = look.states[name]
    assert isinstance(state, Seen)
    assert state.kept
    return state


def test_bytes_that_an_earlier_record_had_are_found_wherever_they_are(tree: Watched) -> None:
    tree.write("mine", "by hand\n")
    tree.look()
    later = tree.look()
    kept(later, b"mine")
    # in the work tree
    assert told(observe(tree.fresh(), None, later).changes) == [("mine", None, b"by hand\n")]
    # in the store
    record(tree.store, "mine", b"by hand\n", worktree_id(tree.store.layout))
    tree.write("mine", "gone\n")
    assert observe(tree.fresh(), None, later).is_empty


def test_bytes_that_are_nowhere_any_more_claim_nothing(tree: Watched) -> None:
    tree.write("mine", "by hand\n")
    tree.look()
    later = tree.look()
    kept(later, b"mine")
    tree.write("mine", "gone\n")
    assert observe(tree.recorded, None, later).is_empty
    found = tree.end(later)
    assert [(each.path, each.before, each.after) for each in found.changes] == [("mine", None, None)]
    assert (found.coverage, found.reason) == ("partial", "unread")


def test_bytes_of_the_same_drain_are_found(tree: Watched) -> None:
    tree.write("mine", "by hand\n")
    first, later = tree.look(), tree.look()
    tree.write("mine", "gone\n")
    stat = kept(later, b"mine")._replace(stat=b"another")
    observe(tree.recorded, None, first)
    assert observe(tree.recorded, first, later._replace(states={b"mine": stat})).is_empty


def test_a_version_of_which_only_the_hash_is_known_keeps_it(tree: Watched) -> None:
    begin = tree.begin()
    now = tree.look()
    state = Seen(b"large", "100644", 100, "ab" * 32, None)
    found = compare(tree.recorded, begin, now._replace(states={b"large": state}))
    side = {"mode": "100644", "blob": "ab" * 32, "size": 100, "omitted": "too-large"}
    assert found.odd == ({"path": "large", "after": side},)
    assert (found.coverage, found.reason) == ("partial", "too-large")


def test_what_git_ignores_by_now_is_not_kept(tree: Watched) -> None:
    begin = tree.begin()
    tree.write("secret", "text of vermilion\n")
    now = tree.look()
    tree.write(".gitignore", "secret\n")
    found = compare(tree.recorded, begin, now)
    assert [(each.path, each.after) for each in found.changes] == [("secret", None)]
    assert (found.coverage, found.reason) == ("partial", "ignored")


def test_a_path_costs_no_process(tree: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"sub{number % 7}/file{number}" for number in range(300)]
    tree.repo.commit({name: f"{name}\n" for name in names})
    tree.write("before", "by hand\n")
    begin = tree.begin()
    for _ in range(20):
        tree.repo.commit({"README": os.urandom(4).hex()})
    for name in names:
        tree.write(name, f"changed {name}\n")
    now = tree.look()
    runs: list[str] = []
    real = Git.run

    def counted(git: Git, *arguments: str, **options: Any) -> Any:
        runs.append(arguments[0])
        return real(git, *arguments, **options)

    monkeypatch.setattr(Git, "run", counted)
    assert len(observe(tree.fresh(), None, now).changes) == 300
    assert "log" not in runs  # no history has what git does not have
    tree.repo.git("add", "--all")
    assert len(compare(tree.recorded, begin, now).changes) == 300
    assert len(runs) < 12, runs
    assert "log" in runs


def test_a_look_that_is_older_than_what_is_recorded_says_nothing_of_it(tree: Watched) -> None:
    tree.write("README", "old\n")
    tree.write("mine", "mine\n")
    begin = tree.begin()
    record(tree.store, "README", b"new\n", worktree_id(tree.store.layout), tree.now + 1)
    tree.write("README", "new\n")
    tree.recorded = tree.fresh()  # another drain, which is given the beginning once more
    assert told(observe(tree.recorded, None, begin).changes) == [("mine", None, b"mine\n")]
    then = tree.look()
    assert compare(tree.recorded, begin, then).is_empty
    tree.write("README", "newer\n")
    assert told(tree.end(then).changes) == [("README", b"new\n", b"newer\n")]


def test_what_was_seen_since_counts_for_more_than_what_was_recorded(tree: Watched) -> None:
    record(tree.store, "README", b"recorded\n", worktree_id(tree.store.layout))
    begin = tree.begin()  # by now it is as in HEAD
    tree.write("README", "one\n")
    assert told(tree.end(begin).changes) == [("README", b"a project\n", b"one\n")]


def test_a_path_that_was_left_to_others_held_what_was_seen(tree: Watched) -> None:
    tree.write("README", "edited\n")
    begin = tree.look()
    assert observe(tree.recorded, None, begin, {b"README"}).is_empty
    tree.write("README", "one\n")
    assert told(tree.end(begin).changes) == [("README", b"edited\n", b"one\n")]


def test_another_work_trees_events_are_not_this_ones(tree: Watched) -> None:
    record(tree.store, "README", b"elsewhere\n", "another")
    tree.write("README", "elsewhere\n")
    begin = tree.look()
    assert observe(tree.recorded, None, begin).is_empty  # it came from there
    tree.write("README", "here\n")
    assert told(tree.end(begin).changes) == [("README", b"elsewhere\n", b"here\n")]


NAMES = ("README", "a", "sub/b", "c")
DEEDS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from((None, "1\n", "2\n", "3\n"))), max_size=4)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(st.tuples(DEEDS, DEEDS), min_size=1, max_size=3))
def test_all_that_is_told_leads_from_head_to_what_is_there(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[list[Any], list[Any]]]
) -> None:
    """Whatever is done between calls and in them, the changes form a chain, and none is missing."""
    repo = Repo(tmp_path_factory.mktemp("chain"))
    repo.git("init", "--quiet")
    repo.commit({"README": "a project\n", "a": "1\n"})
    tree = Watched(repo)
    holds: dict[object, bytes | None] = {"README": b"a project\n", "a": b"1\n"}
    latest: Look | None = None
    for between, inside in turns:
        do(tree, between)
        begin = tree.look()
        follow(holds, observe(tree.recorded, latest, begin), is_gap=True)
        holds = present(tree)
        do(tree, inside)
        latest = tree.look()
        follow(holds, compare(tree.recorded, begin, latest))
        assert {name: data for name, data in holds.items() if data is not None} == present(tree)


def do(tree: Watched, deeds: list[tuple[str, str | None]]) -> None:
    for name, data in deeds:
        if data is not None:
            tree.write(name, data)
        else:
            (tree.repo.path / name).unlink(missing_ok=True)


def follow(holds: dict[object, bytes | None], found: Compared, *, is_gap: bool = False) -> None:
    """Applies changes to what paths hold; what was before must be what they held."""
    for change in found.changes:
        source = change.from_ or change.path
        assert is_gap or holds.get(source) == (change.before.data if change.before else None)
        if change.from_ is not None:
            holds[change.from_] = None
    for change in found.changes:
        holds[change.path] = change.after.data if change.after else None


def present(tree: Watched) -> dict[object, bytes | None]:
    paths = (path for path in tree.repo.path.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(tree.repo.path)): path.read_bytes() for path in paths}
