"""What a command or a person brings back or in stays with those who wrote it; real git, as it is captured live."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from pogstore.draft import Draft, DraftChange
from pogstore.history.blame import blame
from pogstore.model import EventId, Observed, Source, Stepped
from tests.conftest import Repo
from tests.history.agents import Agent, version

BASE = "".join(f"line number {n} of the base\n" for n in range(12))
ADDED = "delta line by the agent\nepsilon line by the agent\n"
SHORT = "size = 2\n"
HEAD = "a head line from upstream\n"
TYPED = "typed by a person, long enough to be believed\n"
DAY = 86_400_000_000


class Watched(Agent):
    """An agent whose commands are recorded with all that they leave behind, and beside whom somebody works unseen."""

    def came(self, kind: str, action: Callable[[], object], path: str = "a.py") -> EventId:
        """Does something to a file and records it as a `shell` step or as `observed`; returns the event."""
        before = version(self.repo.path / path)
        action()
        change = DraftChange(path=path, before=before, after=version(self.repo.path / path))
        self.steps += 1
        source = Source(format="spool", key=f"{self.name} {self.steps}")
        fields: dict[str, object] = {"tool": "Bash", "class": "shell", "call_id": f"call {self.steps}", "ok": True}
        self.take(
            Draft(
                kind="stepped" if kind == "shell" else "observed",
                time=self.tick(),
                actor=self.actor,
                fields=fields | {"duration_ms": 900} if kind == "shell" else {},
                changes=(change,),
                source=source,
            )
        )
        seen = (Stepped, Observed)
        return [one.event_id for one in self.store.events(self.task) if isinstance(one.event, seen)][-1]

    def git(self, *arguments: str, authored: int = 0) -> str:
        """Runs git at the agent's time; `authored` is how much earlier the work was done."""
        now = (datetime.fromtimestamp(at // 1_000_000, UTC).isoformat() for at in (self.now, self.now - authored))
        dates = dict(zip(("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE"), now, strict=True))
        return self.repo.git(*arguments, env=dates)

    def put(self, text: str) -> Callable[[], object]:
        """Returns what writes the file without anybody being told."""
        return lambda: (self.repo.path / "a.py").write_text(text)

    def owners(self) -> dict[str, str]:
        """Returns for each text of a line the event that owns it, or the word for any other owner."""
        found = blame(self.store, b"a.py").lines
        return {line.text.decode() + "\n": str(line.event if line.owner == "event" else line.owner) for line in found}

    def of(self, text: str) -> set[str]:
        """Returns who owns some lines."""
        found = self.owners()
        return {found[line] for line in text.splitlines(keepends=True)}

    def upstream(self) -> None:
        """Somebody commits a line at the head on a side branch, a day ago by his clock."""
        self.git("branch", "-q", "-f", "side", "HEAD")
        self.git("worktree", "add", "-q", str(self.repo.path.parent / "side"), "side")
        (self.repo.path.parent / "side" / "a.py").write_text(HEAD + BASE)
        self.git("-C", str(self.repo.path.parent / "side"), "commit", "-qam", "upstream", authored=DAY)


@pytest.fixture
def agent(repo: Repo) -> Watched:
    repo.commit({"a.py": BASE}, "base")
    return Watched(repo, started=1_767_607_200_000_000 + 7_200_000_000)


KINDS = pytest.mark.parametrize("kind", ["shell", "observed"])


@KINDS
def test_a_stash_that_is_popped_leaves_lines_with_their_first_event(agent: Watched, kind: str) -> None:
    """Case PC-08: the same content comes back; it is never done anew."""
    event = agent.write("a.py", BASE + ADDED)
    agent.came(kind, lambda: agent.git("stash", "-q"))
    assert set(agent.owners().values()) == {"commit"}
    agent.came(kind, lambda: agent.git("stash", "pop", "-q"))
    assert agent.of(ADDED) == {event}
    agent.git("commit", "-qam", "popped")
    assert agent.of(ADDED) == {event}
    assert agent.of(BASE) == {"commit"}


@KINDS
@pytest.mark.parametrize("added", [ADDED, SHORT], ids=["many letters", "few"])
def test_a_stash_popped_after_upstream_s_changes(agent: Watched, kind: str, added: str) -> None:
    event = agent.write("a.py", BASE + added)
    agent.came(kind, lambda: agent.git("stash", "-q"))
    agent.upstream()
    agent.came(kind, lambda: agent.git("merge", "-q", "--ff-only", "side"))
    assert agent.of(HEAD) == {"commit"}
    agent.came(kind, lambda: agent.git("stash", "pop", "-q"))
    assert agent.of(added) == {event}
    assert agent.of(HEAD + BASE) == {"commit"}
    agent.git("commit", "-qam", "popped")
    assert agent.of(added) == {event}
    assert agent.of(HEAD + BASE) == {"commit"}


@KINDS
@pytest.mark.parametrize(
    "bring", [("merge", "-q", "--squash"), ("cherry-pick", "-n"), ("merge", "-q", "--no-ff", "--no-commit")],
    ids=["squash", "cherry-pick", "merge"],
)  # fmt: skip
def test_an_agent_s_branch_is_brought_in(agent: Watched, kind: str, bring: tuple[str, ...]) -> None:
    """Cases PC-05, PC-07: the lines come in over others, before anything is committed."""
    agent.git("switch", "-q", "-c", "work")
    event = agent.write("a.py", BASE + ADDED)
    agent.git("commit", "-qam", "agent's work")
    agent.came(kind, lambda: agent.git("switch", "-q", "main"))
    agent.came("observed", agent.put(HEAD + BASE))
    agent.git("commit", "-qam", "a person's head line")
    agent.came(kind, lambda: agent.git(*bring, "work"))
    assert agent.of(ADDED) == {event}
    assert agent.of(HEAD + BASE) == {"commit"}
    agent.git("commit", "-qm", "brought in")
    assert agent.of(ADDED) == {event}
    assert agent.of(HEAD + BASE) == {"commit"}


@KINDS
def test_a_file_of_another_commit_is_checked_out(agent: Watched, kind: str) -> None:
    event = agent.write("a.py", BASE + ADDED)
    agent.git("commit", "-qam", "agent's work")
    agent.write("a.py", BASE)
    agent.git("commit", "-qam", "taken back")
    agent.came(kind, lambda: agent.git("checkout", "HEAD~1", "--", "a.py"))
    assert agent.of(ADDED) == {event}
    assert agent.of(BASE) == {"commit"}


@KINDS
def test_a_backup_is_copied_back_over_what_a_person_typed(agent: Watched, kind: str) -> None:
    event = agent.write("a.py", BASE + ADDED)
    agent.came(kind, agent.put(BASE))
    agent.came("observed", agent.put(TYPED + BASE))
    agent.came(kind, agent.put(TYPED + BASE + ADDED))
    assert agent.of(ADDED) == {event}
    assert agent.of(TYPED) == {"observed"}


@KINDS
def test_a_formatter_leaves_lines_with_their_events(agent: Watched, kind: str) -> None:
    """Case PC-16: white space alone."""
    code = "if ready(agent_state):\nrun(agent_state, 1)\n"
    event = agent.write("a.py", BASE + code)
    agent.came(kind, agent.put(BASE + "if ready( agent_state ):\n    run(agent_state, 1)\n"))
    assert agent.of("if ready( agent_state ):\n    run(agent_state, 1)\n") == {event}


def test_a_command_that_writes_fresh_text_owns_it(agent: Watched) -> None:
    """`sed -i` is an edit like any other, also where it copies a line that an event wrote once."""
    first = agent.write("a.py", BASE + ADDED)
    fresh = "fresh line by sed\ny = 3\n"
    second = agent.came("shell", agent.put(BASE + ADDED + fresh + ADDED))
    found = [line.event for line in blame(agent.store, b"a.py").lines]
    assert found == [None] * 12 + [first] * 2 + [second] * 4
    agent.git("commit", "-qam", "both")
    assert [line.event for line in blame(agent.store, b"a.py").lines] == found


def test_a_command_that_commits_what_it_writes_owns_it(agent: Watched) -> None:
    """`sed -i … && git commit`: the commit may be older than the step by the clock, for its time has no fractions."""

    def act() -> None:
        agent.put(BASE + ADDED)()
        agent.git("commit", "-qam", "written and committed")

    agent.now += 900_000
    event = agent.came("shell", act)
    assert agent.of(ADDED) == {event}
    assert agent.of(BASE) == {"commit"}


def test_a_command_that_only_commits_what_others_did_owns_nothing(agent: Watched) -> None:
    """`git cherry-pick` within a command, whatever the clock's fractions say of the order."""
    for late in (0, 999_000):
        agent.git("switch", "-q", "-C", "work", "main")
        typed = TYPED.replace("typed", f"typed{late}")
        agent.put(BASE + typed)()
        agent.git("commit", "-qam", "a person's work", authored=DAY)
        agent.git("switch", "-q", "-C", "other", "main")
        agent.put(HEAD + BASE)()
        agent.git("commit", "-qam", "head", authored=DAY)
        agent.now += DAY // 2 + late
        agent.came("shell", lambda: agent.git("cherry-pick", "work", authored=DAY))
        assert agent.of(HEAD + BASE + typed) == {"commit"}


def test_what_a_person_types_is_never_an_edit_of_the_agent(agent: Watched) -> None:
    """Case PC-19: also words that an agent had written and taken back, where few letters agree."""
    agent.write("a.py", BASE + SHORT)
    agent.write("a.py", BASE)
    agent.came("observed", agent.put(TYPED + SHORT + BASE))
    assert agent.of(TYPED + SHORT) == {"observed"}
    agent.git("commit", "-qam", "a person's")
    assert agent.of(TYPED + SHORT) == {"commit"}


def test_what_a_person_types_gives_way_to_the_commit(agent: Watched) -> None:
    """The commit is shown, and which event saw it is told as well."""
    event = agent.came("observed", agent.put(BASE + TYPED))
    assert agent.of(TYPED) == {"observed"}
    agent.git("commit", "-qam", "a person's")
    line = blame(agent.store, b"a.py").lines[-1]
    assert (line.owner, line.observed, line.event) == ("commit", event, None)


def test_an_edit_that_does_again_what_was_discarded_owns_it(agent: Watched) -> None:
    """Invariant I13: unlike a command, an edit writes what it holds."""
    agent.write("a.py", BASE + ADDED)
    agent.came("shell", lambda: agent.git("checkout", "--", "a.py"))
    again = agent.write("a.py", BASE + ADDED)
    assert agent.of(ADDED) == {again}


def test_answers_are_the_same_without_the_index(agent: Watched) -> None:
    agent.write("a.py", BASE + ADDED)
    agent.came("shell", lambda: agent.git("stash", "-q"))
    agent.came("observed", agent.put(HEAD + BASE))
    agent.git("commit", "-qam", "head")
    agent.came("shell", lambda: agent.git("stash", "pop", "-q"))
    kept = [agent.owners(), agent.owners()]
    agent.store.index.discard()
    assert [agent.owners()] * 2 == kept
