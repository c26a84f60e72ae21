"""The inverse of blame: which lines still stand, and what share of what was added."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.draft import DraftChange
from pogstore.errors import NotFound
from pogstore.history.blame import blame
from pogstore.history.names import Named
from pogstore.history.trace import Place, Standing, Trace, events_by, events_of, trace
from pogstore.model import EventId, TaskId
from tests.conftest import SECOND, Repo
from tests.history.agents import OTHER, TASK, Agent, version
from tests.history.test_blame import BASE, later


def traced(agent: Agent, task: TaskId = TASK) -> Trace:
    return trace(agent.store, events_of(agent.store, Named(task)))


def test_lines_that_stand_and_lines_that_are_gone(repo: Repo) -> None:
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo)
    first = agent.write("a.py", BASE + "one by the agent\ntwo by the agent\n")
    second = agent.write("b.py", "three by the agent\n")
    found = traced(agent)
    assert found.added == {first: 2, second: 1}
    assert found.files == (
        Standing(b"a.py", (), (Place(4, 5, first),)),
        Standing(b"b.py", (), (Place(1, 1, second),)),
    )
    assert (found.survived(), found.survived(in_work_tree=True)) == (0, 3)
    repo.git("add", "-A")
    later(repo, "commit", "-qm", "all")
    assert (traced(agent).survived(), traced(agent).survived(in_work_tree=True)) == (3, 3)
    (repo.path / "a.py").write_text("zero by a person\n" + BASE + "two by the agent\n")
    (repo.path / "b.py").unlink()
    found = traced(agent)
    assert found.files == (
        Standing(b"a.py", (Place(4, 5, first),), (Place(5, 5, first),)),
        Standing(b"b.py", (Place(1, 1, second),), ()),
    )
    assert (found.survived(), found.survived(in_work_tree=True)) == (3, 1)
    assert trace(agent.store, events_of(agent.store, Named(TASK, second))).survived() == 1


def test_a_file_that_was_renamed_since(repo: Repo) -> None:
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo)
    agent.write("a.py", BASE + "one by the agent\ntwo by the agent\n")
    later(repo, "commit", "-qam", "all")
    for name in ("b.py", "c.py"):
        repo.git("mv", "a.py" if name == "b.py" else "b.py", name)
        later(repo, "commit", "-qm", f"to {name}")
    agent.now += 3_600 * SECOND  # after those commits
    agent.write("d.py", BASE + "one by the agent\ntwo by the agent\n", moved_from="c.py")
    later(repo, "add", "-A")
    later(repo, "commit", "-qm", "to d.py")
    found = traced(agent)
    assert [file.path for file in found.files] == [b"d.py"]
    assert (found.survived(), found.survived(in_work_tree=True)) == (2, 2)


def test_a_line_that_was_copied_is_not_more_than_was_written(repo: Repo) -> None:
    """Case PC-26, and its inverse: written twice, one survives."""
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo)
    agent.write("a.py", BASE + "twice by the agent\ntwice by the agent\n")
    later(repo, "commit", "-qam", "all")
    assert traced(agent).survived() == 2
    (repo.path / "a.py").write_text(BASE + "twice by the agent\n")
    assert traced(agent).survived(in_work_tree=True) == 1
    (repo.path / "a.py").write_text(BASE + "twice by the agent\n" * 9)
    assert traced(agent).survived(in_work_tree=True) <= 2


def test_what_was_not_seen_is_not_counted(repo: Repo) -> None:
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo)
    event = agent.write("a.py", BASE + "one by the agent\n")
    later(repo, "commit", "-qam", "all")
    repo.git("update-ref", "-d", f"refs/pog/content/{TASK}")
    found = traced(agent)
    assert found.uncounted == (event,)
    assert found.added == {}
    assert found.absent == (event,)
    assert found.survived() == 0


def test_binary_files_links_and_no_commit_at_all(repo: Repo) -> None:
    repo.git("update-ref", "-d", "HEAD")
    agent = Agent(repo)
    event = agent.write("pic", b"\0\n\n")
    written = agent.write("a.py", "one by the agent\n")
    (repo.path / "a.py").rename(repo.path / "elsewhere")
    (repo.path / "a.py").symlink_to("elsewhere")
    found = traced(agent)
    assert found.added == {event: 0, written: 1}
    assert {file.path for file in found.files} <= {b"pic"}


def test_who_is_meant(repo: Repo) -> None:
    one, other = Agent(repo), Agent(repo, OTHER, name="other")
    one.write("a.py", "one by the agent\n")
    event = other.write("b.py", "two by the other\n")
    assert {sealed.event.task for sealed in events_by(one.store, "other")} == {OTHER}
    for name in ("agent:other", "session of other"):
        assert set(trace(one.store, events_by(one.store, name)).events) == {event}
    for name in ("human:other", "nobody", "", "agent:", "tool:other"):
        with pytest.raises(NotFound):
            events_by(one.store, name)


def test_a_step_that_changed_two_files(repo: Repo) -> None:
    agent = Agent(repo)
    (repo.path / "a").write_text("one\n")
    (repo.path / "b").write_text("two\nthree\n")
    event = agent.record(*(DraftChange(path=name, before=None, after=version(repo.path / name)) for name in ("a", "b")))
    assert traced(agent).added == {event: 3}


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["agent", "other", "person", "commit", "move"]),
        st.sampled_from(["a.py", "b.py"]),
        st.integers(0, 5),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=15)
@given(EDITS)
def test_it_is_the_inverse_of_blame(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str, int, int]]
) -> None:
    """Over all tasks, every line that blame gives to an event stands in one trace, and in no other."""
    repo = Repo(tmp_path_factory.mktemp("trace"))
    repo.git("init", "-q")
    repo.commit({"a.py": BASE}, "base")
    agents = {"agent": Agent(repo), "other": Agent(repo, OTHER, name="other")}
    for number, (by, name, at, removed) in enumerate(edits):
        file = repo.path / name
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        lines[at : at + removed] = [f"line number {number} by {by}\n", "same line\n"]
        if by == "commit":
            repo.commit(message=f"commit {number}")
        elif by == "move":
            if file.exists() and not (repo.path / f"{number}.py").exists():
                repo.commit(message=f"before {number}")
                repo.git("mv", name, f"{number}.py")
        elif by == "person":
            file.write_text("".join(lines))
        else:
            agents[by].write(name, "".join(lines))
    repo.commit(message="last")
    store = agents["agent"].store
    traces = [traced(agents["agent"]), traced(agents["other"], OTHER)]
    said: dict[tuple[bytes, int], EventId] = {}
    for found in traces:
        assert 0 <= found.survived() <= sum(found.added.values())
        for standing in found.files:
            assert standing.work_tree == standing.head
            for place in standing.head:
                for number in range(place.first, place.last + 1):
                    assert (standing.path, number) not in said
                    said[standing.path, number] = place.event
    blamed = {
        (path, line.number): line.event
        for path in (name.encode() for name in repo.git("ls-files").splitlines())
        for line in blame(store, path, "HEAD").lines
        if line.event
    }
    assert said == blamed
