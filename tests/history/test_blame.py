"""Blame over real git history: what survives its rewriting, and that git's own answer is never changed."""

import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pogstore import codec
from pogstore.draft import Draft, DraftChange, FileVersion, TaskDrafts
from pogstore.errors import BadInput, NotFound
from pogstore.history.blame import BlamedLine, blame, changed_files, effective_times
from pogstore.history.why import why
from pogstore.model import Actor, BlobId, Change, EventId, Sealed, Side, Source, Stepped, TaskId
from pogstore.store.batch import Batch
from pogstore.store.gitlog import NOT_COMMITTED
from pogstore.store.store import Store, open_store
from pogstore.work.intake import take
from tests.builders_rollback import Bench, Step
from tests.conftest import STARTED, Pog, Repo
from tests.history.agents import OTHER, Agent, version

BASE = "alpha line of the base\nbeta line of the base\ngamma line of the base\n"
ADDED = "delta line by the agent\nepsilon line by the agent\n"


def owners(store: Store, path: str, revision: str | None = None) -> list[str]:
    """Returns for each line the event that owns it, or the word for any other owner."""
    return [line.event or line.owner for line in blame(store, path.encode(), revision).lines]


def agent_on(repo: Repo) -> tuple[Agent, EventId]:
    """An agent has added two lines to a committed file."""
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo)
    return agent, agent.write("a.py", BASE + ADDED)


def later(repo: Repo, *arguments: str) -> str:
    """Runs git at a time after the agent's steps."""
    date = "2026-01-05T09:30:00+00:00"
    return repo.git(*arguments, env={"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date})


def test_in_the_work_tree_and_once_committed(repo: Repo) -> None:
    agent, event = agent_on(repo)
    assert owners(agent.store, "a.py") == ["commit"] * 3 + [event] * 2
    later(repo, "commit", "-qam", "agent's work")
    assert owners(agent.store, "a.py") == ["commit"] * 3 + [event] * 2
    assert owners(agent.store, "a.py", "HEAD~1") == ["commit"] * 3


def test_a_person_s_line_is_unknown_until_it_is_committed(repo: Repo) -> None:
    agent, event = agent_on(repo)
    (repo.path / "a.py").write_text(BASE + ADDED + "zeta line by a person\n")
    found = blame(agent.store, b"a.py").lines
    assert [line.event or line.owner for line in found] == ["commit"] * 3 + [event] * 2 + ["unknown"]
    assert found[-1].reason
    later(repo, "commit", "-qam", "both")
    assert owners(agent.store, "a.py") == ["commit"] * 3 + [event] * 2 + ["commit"]


def upstream_changed(repo: Repo) -> None:
    later(repo, "switch", "-q", "-c", "side", "HEAD~1")
    (repo.path / "a.py").write_text("a head line from upstream\n" + BASE)
    later(repo, "commit", "-qam", "upstream")


def rebase(repo: Repo) -> None:
    upstream_changed(repo)
    later(repo, "switch", "-q", "main")
    later(repo, "rebase", "-q", "side")


def cherry_pick(repo: Repo) -> None:
    upstream_changed(repo)
    later(repo, "cherry-pick", "main")


def squash(repo: Repo) -> None:
    upstream_changed(repo)
    later(repo, "merge", "-q", "--squash", "main")
    later(repo, "commit", "-qm", "squashed")


def squash_by_plumbing(repo: Repo) -> None:
    commit = later(repo, "commit-tree", "HEAD^{tree}", "-p", "HEAD~1", "-m", "a fresh message")
    later(repo, "reset", "-q", "--hard", commit)


def amend(repo: Repo) -> None:
    (repo.path / "other").write_text("more\n")
    later(repo, "add", ".")
    later(repo, "commit", "-q", "--amend", "-m", "amended")


def merge(repo: Repo) -> None:
    upstream_changed(repo)
    later(repo, "merge", "-q", "main", "-m", "merged")


def rename(repo: Repo) -> None:
    later(repo, "mv", "a.py", "b.py")
    later(repo, "commit", "-qm", "renamed")


def filter_branch(repo: Repo) -> None:
    quiet = {"FILTER_BRANCH_SQUELCH_WARNING": "1"}
    repo.git("filter-branch", "-f", "--env-filter", "GIT_AUTHOR_NAME=Somebody", "--", "main", env=quiet)


def mailed(repo: Repo) -> None:
    patch = later(repo, "format-patch", "-1", "--stdout")
    later(repo, "reset", "-q", "--hard", "HEAD~1")
    repo.git("am", "-q", input=patch + "\n", env={"GIT_COMMITTER_DATE": "2026-01-05T09:40:00+00:00"})


@pytest.mark.parametrize(
    "rewrite",
    [rebase, cherry_pick, squash, squash_by_plumbing, amend, merge, rename, filter_branch, mailed],
    ids=lambda function: function.__name__,
)
def test_attribution_survives_rewriting_without_hooks(repo: Repo, rewrite: Callable[[Repo], None]) -> None:
    """Cases PC-01, PC-04, PC-05, PC-07, PC-14, RC-64, UC-19."""
    agent, event = agent_on(repo)
    later(repo, "commit", "-qam", "agent's work")
    rewrite(repo)
    name = "b.py" if rewrite is rename else "a.py"
    lines = blame(agent.store, name.encode()).lines
    assert [line.event for line in lines if line.text.decode() + "\n" in ADDED.splitlines(keepends=True)] == [event] * 2
    assert all(line.owner == "commit" for line in lines if line.text.decode() + "\n" not in ADDED)


def test_stash_and_pop(repo: Repo) -> None:
    """Case PC-08."""
    agent, event = agent_on(repo)
    later(repo, "stash", "-q")
    assert owners(agent.store, "a.py") == ["commit"] * 3
    later(repo, "stash", "pop", "-q")
    later(repo, "commit", "-qam", "popped")
    assert owners(agent.store, "a.py") == ["commit"] * 3 + [event] * 2


def test_replaced_commits_do_not_crash(repo: Repo) -> None:
    """Case PC-14: `git replace` shows another history, and blame follows what git shows."""
    agent, event = agent_on(repo)
    later(repo, "commit", "-qam", "agent's work")
    commit = later(repo, "commit-tree", "HEAD^{tree}", "-m", "replaced")
    repo.git("replace", "HEAD", commit)
    assert owners(agent.store, "a.py")[3:] == [event] * 2


def test_a_shallow_clone_blames_nobody_wrongly(repo: Repo, tmp_path: Path) -> None:
    """Case PC-39: lines of a boundary commit are the boundary's, as git says."""
    agent_on(repo)
    later(repo, "commit", "-qam", "agent's work")
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.path}", str(tmp_path / "shallow"))
    store = open_store(tmp_path / "shallow")
    assert owners(store, "a.py") == ["commit"] * 5


def written_by_both(repo: Repo) -> Agent:
    """A person's commit has lines that an agent then writes elsewhere; a later commit keeps them."""
    repo.commit({"a.py": BASE}, "base")
    repo.commit({"a.py": BASE + ADDED + "tail line by a person\n"}, "a person's work")
    agent = Agent(repo)
    before, after = (FileVersion(mode="100644", data=text.encode()) for text in (BASE, BASE + ADDED))
    agent.record(DraftChange(path="a.py", before=before, after=after))
    (repo.path / "a.py").write_text("head line by a person\n" + BASE + ADDED + "tail line by a person\n")
    later(repo, "commit", "-qam", "one more")
    return agent


def test_an_answer_of_a_shallow_clone_is_not_kept_when_the_history_comes(repo: Repo, tmp_path: Path) -> None:
    written_by_both(repo)
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.path}", str(tmp_path / "shallow"))
    clone = Repo(tmp_path / "shallow")
    clone.git("fetch", "-q", "origin", "refs/pog/*:refs/pog/*")
    store = open_store(clone.path)
    shallow = owners(store, "a.py")
    clone.git("fetch", "-q", "--unshallow")
    assert owners(store, "a.py") == ["commit"] * 7 != shallow


def test_an_answer_is_not_kept_when_commits_are_replaced(repo: Repo) -> None:
    agent = written_by_both(repo)
    assert owners(agent.store, "a.py") == ["commit"] * 7
    repo.git("replace", "HEAD", later(repo, "commit-tree", "HEAD^{tree}", "-p", "HEAD~2", "-m", "replaced"))
    replaced = owners(agent.store, "a.py")
    agent.store.index.discard()
    assert owners(agent.store, "a.py") == replaced != ["commit"] * 7


@pytest.mark.parametrize(
    "damage",
    [(b" \\d+ \\+0000$", b""), (b"^author .*\n", b""), (b"(> )\\d+ \\+0000$", b"\\g<1>9999999999999999999 +9999")],
    ids=["no time", "no author", "the end of time"],
)
def test_malformed_commits_do_not_crash(repo: Repo, damage: tuple[bytes, bytes]) -> None:
    agent, _ = agent_on(repo)
    later(repo, "commit", "-qam", "agent's work")
    raw = re.sub(*damage, os.fsencode(repo.git("cat-file", "commit", "HEAD")), flags=re.MULTILINE)
    commit = repo.git("hash-object", "-w", "-t", "commit", "--stdin", "--literally", input=raw + b"\n")
    repo.git("update-ref", "HEAD", commit)
    assert owners(agent.store, "a.py")[:3] == ["commit"] * 3


@pytest.mark.parametrize(
    "names",
    [
        ["a\0b"], ["../../elsewhere"], ["/absolute"], ["x" * 200_000], [f"{'y' * 99}{n}" for n in range(2000)],
        ["d"], [".git/config"], ["a.py/below"],
    ],
    ids=["nul", "above", "absolute", "long", "many", "directory", "git", "below"],
)  # fmt: skip
def test_older_names_that_an_event_makes_up(repo: Repo, names: list[str]) -> None:
    """Anybody's event may name any path as the one from which a file was moved."""
    repo.commit({"d/other": ADDED}, "a directory")
    agent, event = agent_on(repo)

    def write(batch: Batch) -> None:
        side = batch.add_file(OTHER, "a.py", "100644", b"made up\n")
        changes = tuple(Change(path="a.py", from_=name, after=side) for name in names)
        common: dict[str, Any] = {"v": 1, "task": OTHER, "clock": 1, "time": agent.now, "actor": agent.actor}
        batch.append(Stepped(**common, tool="t", class_="edit", changes=changes))

    agent.store.transact(write)
    assert owners(agent.store, "a.py") == ["commit"] * 3 + [event] * 2


def copy(repo: Repo) -> None:
    repo.commit({"b.py": BASE}, "copied")


@pytest.mark.parametrize("move", [rename, copy], ids=lambda function: function.__name__)
def test_what_comes_later_under_a_former_name_is_another_file(repo: Repo, move: Callable[[Repo], None]) -> None:
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo)
    before = agent.write("a.py", BASE + "a line from before the move\n")
    later(repo, "commit", "-qam", "agent's work")
    (repo.path / "a.py").write_text(BASE)
    move(repo)
    agent.now += 3_600_000_000
    agent.write("a.py", ADDED if move is rename else BASE + ADDED)
    (repo.path / "b.py").write_text(BASE + "a line from before the move\n" + ADDED)
    repo.git("add", "b.py")
    date = {"GIT_COMMITTER_DATE": "2026-01-05T11:00:00+00:00"}
    repo.git("commit", "-qm", "a person writes the same", env=date)
    assert set(owners(agent.store, "b.py")) <= {"commit", before}


def test_another_branch_goes_on_under_the_former_name(repo: Repo) -> None:
    """A merge brings what was done there over to the new name."""
    repo.commit({"a.py": BASE}, "base")
    later(repo, "branch", "side")
    rename(repo)
    later(repo, "switch", "-q", "side")
    agent = Agent(repo, started=STARTED + 3_600_000_000)
    event = agent.write("a.py", BASE + ADDED)
    date = {"GIT_COMMITTER_DATE": "2026-01-05T11:00:00+00:00"}
    repo.git("commit", "-qam", "agent's work", env=date)
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", "side", "-m", "merged", env=date)
    assert owners(agent.store, "b.py") == ["commit"] * 3 + [event] * 2


@pytest.mark.parametrize("deleted", [True, False], ids=["deleted and made again", "before not seen"])
def test_who_writes_a_file_anew_owns_what_he_adds(repo: Repo, *, deleted: bool) -> None:
    """The same before it is committed and afterwards."""
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo, started=STARTED + 600_000_000)
    if deleted:
        agent.write("a.py", None)
        event = agent.write("a.py", BASE + ADDED)
    else:
        (repo.path / "a.py").write_text(BASE + ADDED)
        event = agent.record(DraftChange(path="a.py", after=version(repo.path / "a.py")))
    assert owners(agent.store, "a.py") == ["commit"] * 3 + [event] * 2
    later(repo, "commit", "-qam", "agent's work")
    assert owners(agent.store, "a.py") == ["commit"] * 3 + [event] * 2


def test_a_damaged_index_is_made_anew(repo: Repo) -> None:
    """Whichever of its tables is hit, and however late that is noticed."""
    agent, event = agent_on(repo)
    owners(agent.store, "a.py")
    agent.store.close()
    path = repo.path / ".git" / "pog" / "index.sqlite3"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        size = database.execute("PRAGMA page_size").fetchone()[0]
        pages = [row[0] for row in database.execute("SELECT rootpage FROM sqlite_master WHERE rootpage > 1")]
    whole = path.read_bytes()
    for page in pages:
        path.write_bytes(whole[: (page - 1) * size] + b"\xff" * size + whole[page * size :])
        with closing(open_store(repo.path)) as store:
            assert owners(store, "a.py") == ["commit"] * 3 + [event] * 2


def test_a_path_with_the_same_ending_has_its_own_lines(repo: Repo) -> None:
    """Case PC-23."""
    agent = Agent(repo)
    event = agent.write("a/index.ts", ADDED)
    repo.commit({"src/a/index.ts": ADDED}, "a person wrote this one")
    assert owners(agent.store, "a/index.ts") == [event] * 2
    assert owners(agent.store, "src/a/index.ts") == ["commit"] * 2


def test_a_recorded_rename_that_git_knows_nothing_of_keeps_the_commits(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "work")
    oid = bench.repo.commit({"a.txt": "one\ntwo\n"})
    bench.move("a.txt", "b.txt")
    bench.move("b.txt", "c.txt")
    bench.write("c.txt", b"one\ntyped\ntwo\n")
    for ranges, expected in (((), [oid, None, oid]), (("2,3",), [None, oid])):
        found = blame(bench.store, b"c.txt", None, ranges)
        assert [line.commit for line in found.lines] == expected
        assert [line.owner for line in found.lines] == ["commit" if each else "unknown" for each in expected]
    assert found.commits[NOT_COMMITTED].path == b"c.txt"
    bench.record(Step("c.txt", bench.holds("c.txt"), None))
    bench.record(Step("c.txt", None, bench.holds("c.txt")))
    found = blame(bench.store, b"c.txt")
    assert {line.commit for line in found.lines} == {None}, "it was made there since"


def test_a_recorded_rename_keeps_the_lines(repo: Repo) -> None:
    agent, event = agent_on(repo)
    second = agent.write("moved.py", BASE + ADDED + "zeta line by the agent\n", moved_from="a.py")
    assert owners(agent.store, "moved.py")[3:] == [event] * 2 + [second]


def test_files_that_no_commit_has(repo: Repo) -> None:
    agent = Agent(repo)
    event = agent.write("new file.py", ADDED)
    (repo.path / "new file.py").write_text(ADDED + "a person's line at the end\n")
    assert owners(agent.store, "new file.py") == [event] * 2 + ["unknown"]
    assert [line.number for line in blame(agent.store, b"new file.py", None, ["2,3"]).lines] == [2, 3]
    with pytest.raises(BadInput):
        blame(agent.store, b"new file.py", None, ["7,9"])
    with pytest.raises(NotFound):
        blame(agent.store, b"no such file")
    assert changed_files(agent.store) == [b"new file.py"]


@pytest.mark.parametrize(
    "name", ["naïve 😀.py", "tab\there", 'quo"te', "back\\slash", "one\1two", "-dash", ":colon", "*star*", "測試.txt"]
)
def test_odd_names(repo: Repo, name: str) -> None:
    """Case PC-60: names that git quotes, and names that a pathspec would read otherwise."""
    repo.commit({name: BASE}, "base")
    agent = Agent(repo)
    event = agent.write(name, BASE + ADDED)
    assert owners(agent.store, name) == ["commit"] * 3 + [event] * 2
    later(repo, "commit", "-qam", "agent's work")
    assert owners(agent.store, name) == ["commit"] * 3 + [event] * 2


@pytest.mark.parametrize(
    "content",
    [
        b"no newline at the end",
        b"one\r\ntwo\r\n",
        b"latin \xe9\xff\nsecond\n",
        b"\x00binary\x00\n\x00\n",
        b"\n\n\n",
    ],
    ids=["no newline", "crlf", "latin", "binary", "blank"],
)
def test_every_kind_of_content(repo: Repo, content: bytes) -> None:
    """Case PC-61: bytes that are no UTF-8, and files that end in any way."""
    repo.commit({"a.bin": b"head line of the base\n"}, "base")
    agent = Agent(repo)
    event = agent.write("a.bin", b"head line of the base\n" + content)
    later(repo, "commit", "-qam", "agent's work")
    lines = blame(agent.store, b"a.bin").lines
    assert [line.event for line in lines] == [None] + [event] * (len(lines) - 1)
    assert b"\n".join(line.text for line in lines) == (b"head line of the base\n" + content).removesuffix(b"\n")


def test_an_empty_file_has_no_lines(repo: Repo) -> None:
    repo.commit({"empty": b""}, "base")
    agent = Agent(repo)
    assert owners(agent.store, "empty") == []
    event = agent.write("empty", ADDED)
    assert owners(agent.store, "empty") == [event] * 2
    agent.write("empty", "")
    assert owners(agent.store, "empty") == []


def timeless(output: bytes) -> bytes:
    """Returns porcelain output without the time at which git looked at lines that are not committed."""
    return re.sub(rb"(Not Committed Yet\n(?:.+\n)?(?:author|committer)-time) \d+", rb"\1", output)


def porcelain(lines: tuple[BlamedLine, ...]) -> bytes:
    """Returns what git printed for the lines."""
    return b"".join(b"\n".join([*line.head, b"\t" + line.text]) + b"\n" for line in lines)


def test_git_s_own_lines_are_byte_for_byte_git_s(repo: Repo, pog: Pog) -> None:
    """With events, with events elsewhere, and without any; whole files and ranges."""
    agent, _ = agent_on(repo)
    repo.commit({"plain.py": BASE, "crlf.txt": b"a\r\nb\r\n", "none.txt": b"no newline"}, "more")
    (repo.path / "plain.py").write_text("dirty\n" + BASE)
    for name in ("a.py", "plain.py", "crlf.txt", "none.txt", "README"):
        wanted = os.fsencode(repo.git("blame", "--porcelain", name)) + b"\n"
        assert timeless(porcelain(blame(agent.store, name.encode()).lines)) == timeless(wanted)
        shown = pog("blame", "--porcelain", name).stdout
        kept = [line for line in shown.split("\n") if not line.startswith("pog-")]
        assert timeless(os.fsencode("\n".join(kept))) == timeless(wanted)
        part = os.fsencode(repo.git("blame", "--porcelain", "-L", "2,+1", name, check=False)) + b"\n"
        if part != b"\n":
            assert porcelain(blame(agent.store, name.encode(), None, ["2,+1"]).lines) == part, name


def test_what_was_seen_live_and_imported_later_counts_once(repo: Repo) -> None:
    """Echoes: the live event owns the lines."""
    agent, event = agent_on(repo)
    before, after = (FileVersion(mode="100644", data=text.encode()) for text in (BASE, BASE + ADDED))
    change = DraftChange(path="a.py", before=before, after=after)
    again = Draft(
        kind="stepped", time=agent.tick(), actor=agent.actor, changes=(change,),
        fields={"tool": "Edit", "class": "edit", "call_id": "call 1"}, source=Source(format="other", key="1"),
    )  # fmt: skip
    take(agent.store, [TaskDrafts(task=agent.task, drafts=(again,))])
    assert owners(agent.store, "a.py") == ["commit"] * 3 + [event] * 2


def test_two_agents_and_a_person_in_one_file(repo: Repo) -> None:
    """Cases PC-22 and RC-11: three owners, and blank and repeated lines among them."""
    agent, first = agent_on(repo)
    other = Agent(repo, OTHER, name="other", started=agent.now)
    second = other.write("a.py", "\n\nhead line by the other agent\n\n" + BASE + ADDED)
    (repo.path / "a.py").write_text("\n\nhead line by the other agent\n\n" + BASE + "a person's line\n" + ADDED)
    later(repo, "commit", "-qam", "all of it")
    assert owners(agent.store, "a.py") == [second] * 4 + ["commit"] * 4 + [first] * 2


def test_contents_that_are_not_here_are_said(repo: Repo) -> None:
    agent, _ = agent_on(repo)
    agent.store.refs.compare_and_swap(
        f"refs/pog/content/{agent.task}", agent.store.refs.read(f"refs/pog/content/{agent.task}"), None
    )
    found = blame(agent.store, b"a.py")
    assert len(found.absent) == 1
    assert {line.owner for line in found.lines[3:]} == {"unknown"}


def test_answers_are_kept_and_the_same_without_the_index(repo: Repo) -> None:
    agent, _ = agent_on(repo)
    first = owners(agent.store, "a.py")
    assert owners(agent.store, "a.py") == first
    agent.store.index.discard()
    assert owners(agent.store, "a.py") == first


def test_reading_writes_nothing_to_git(repo: Repo) -> None:
    agent, _ = agent_on(repo)

    def listing() -> dict[str, tuple[int, int]]:
        files = [path for path in repo.path.rglob("*") if path.is_file() and ".git/pog" not in str(path)]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}

    before = listing()
    blame(agent.store, b"a.py")
    why(agent.store, b"a.py", 4)
    assert listing() == before


def test_imported_sessions_are_taken_in_the_order_of_time(repo: Repo) -> None:
    """Decision 5: each import starts its clocks anew; what a later session built upon comes first all the same."""
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo)
    one, two = BASE + "first session's line\n", BASE + "first session's line\nsecond session's line\n"

    def draft(before: str, after: str, key: str, time: int) -> Draft:
        version = [FileVersion(mode="100644", data=text.encode()) for text in (before, after)]
        change = DraftChange(path="a.py", before=version[0], after=version[1])
        source = Source(format="other", key=key)
        fields: dict[str, object] = {"tool": "Edit", "class": "edit", "call_id": key}
        return Draft(kind="stepped", time=time, actor=agent.actor, fields=fields, changes=(change,), source=source)

    note = Draft(kind="noted", time=agent.now, actor=agent.actor, source=Source(format="other", key="n"))
    old = (note, *(draft(BASE, one, "old", agent.now) for _ in range(1)))
    new = draft(one, two, "new", agent.now + 60_000_000)
    take(agent.store, [TaskDrafts(task=OTHER, drafts=(new,)), TaskDrafts(task=agent.task, drafts=old)])
    (repo.path / "a.py").write_text(two)
    events = agent.store.events_on(b"a.py")
    sources = [getattr(sealed.event, "source", None) for _, sealed in effective_times(events)]
    assert [source.key for source in sources if source] == ["old", "new"]
    assert "unknown" not in owners(agent.store, "a.py")
    assert len(set(owners(agent.store, "a.py")[3:])) == 2


def step_at(clock: int, time: int, place: str, *, found: str = "", left: str = "", key: str = "spool") -> Sealed:
    """A step of a task of its own, in a work tree, that found one content and left another."""
    sides = [Side(mode="100644", blob=BlobId(name * 64)) if name else None for name in (found, left)]
    return codec.encode(
        Stepped(
            v=1, task=TaskId(f"0193a4b2-7c00-7000-8000-{clock:06}{time:06}"), clock=clock, time=time,
            actor=Actor(type="agent"), worktree=place, source=Source(format=key, key=f"{place}{time}"), tool="Edit",
            class_="edit", changes=(Change(path="a.py", before=sides[0], after=sides[1]),),
        )
    )  # fmt: skip


@pytest.mark.parametrize("minutes", range(6))
def test_the_time_of_an_event_does_not_hang_on_what_another_clone_did(minutes: int) -> None:
    """Clocks of two clones run beside each other: whose event comes first at one clock is a matter of its id."""
    morning, afternoon = step_at(3, 100 + minutes, "one"), step_at(3, 900_000, "two")
    assert [time for time, _ in effective_times([morning, afternoon])] == [100 + minutes, 900_000]


def test_the_time_of_an_event_is_no_earlier_than_what_it_goes_on_from() -> None:
    """In its work tree, whatever its clock says; and after an event of another clone if it found what that left."""
    first, second = step_at(3, 500, "one", left="a"), step_at(4, 300, "one")
    assert [time for time, _ in effective_times([second, first])] == [500, 500]
    elsewhere = step_at(5, 400, "two", found="a", left="b")
    assert [time for time, _ in effective_times([elsewhere, first])] == [500, 500]
    assert [time for time, _ in effective_times([step_at(5, 400, "two", found="c"), first])] == [400, 500]
    imported = step_at(5, 400, "two", found="a", key="claude-code")
    assert [time for time, _ in effective_times([imported, first])] == [400, 500]


def test_why_tells_the_whole_chain(repo: Repo) -> None:
    agent, event = agent_on(repo)
    later(repo, "commit", "-qam", "agent's work")
    chain = why(agent.store, b"a.py", 4)
    assert chain.event is not None
    assert chain.event.event_id == event
    assert chain.task is not None
    assert chain.task.title == "Work of agent"
    assert chain.intent == "A test wants it"
    assert chain.prompt_text == "please, agent"
    assert chain.commit is not None
    assert chain.commit.subject == "agent's work"
    plain = why(agent.store, b"a.py", 1)
    assert plain.event is None
    assert plain.commit is not None
    assert plain.commit.subject == "base"
    with pytest.raises(BadInput):
        why(agent.store, b"a.py", 99)
