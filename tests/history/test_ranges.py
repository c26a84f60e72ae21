"""The lines that a range adds: whose they are, and that every sum is the sum of its parts."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.errors import NotFound
from pogstore.history.blame import blame
from pogstore.history.ranges import Range, RangeBlame, blame_range, find_range, first_place, share, totals, writer_of
from tests.conftest import Repo
from tests.history.agents import OTHER, TASK, Agent
from tests.history.test_blame import later

BASE = "alpha line of the base\nbeta line of the base\n"


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("main..topic", Range("main", "topic")),
        ("main...topic", Range("main", "topic")),
        ("main..", Range("main", "HEAD")),
        ("...topic", Range("HEAD", "topic")),
        ("v1.0..v1.1", Range("v1.0", "v1.1")),
        ("HEAD~3..HEAD^2", Range("HEAD~3", "HEAD^2")),
        *((path, None) for path in ("main", "a.py", "..", "...", "../a.py", "a/../b", ".", "", "/a..b", "a....b")),
    ],
)
def test_what_is_a_range(written: str, found: Range | None) -> None:
    assert find_range(written) == found


def two_agents(repo: Repo) -> tuple[Agent, Agent]:
    """A branch on which two agents and a person add lines, and a main line that went on meanwhile."""
    repo.commit({"a.py": BASE, "moved.py": BASE * 20, "gone.py": "x\n"}, "base")
    repo.git("branch", "topic")
    repo.commit({"main.py": "only on main\n"}, "main went on")
    repo.git("switch", "-q", "topic")
    one = Agent(repo)
    one.write("a.py", BASE + "one line by the first agent\nanother by the first agent\n")
    other = Agent(repo, OTHER, name="other", started=one.now)
    other.write("sub/b.py", "a line by the second agent\n")
    (repo.path / "a.py").write_text((repo.path / "a.py").read_text() + "a line by a person\n")
    repo.git("mv", "moved.py", "elsewhere.py")
    repo.git("rm", "-q", "gone.py")
    (repo.path / "pic").write_bytes(b"\0")
    repo.git("add", "-A")
    later(repo, "commit", "-qm", "topic")
    return one, other


def counted(found: RangeBlame) -> dict[str, int]:
    return {writer.name: lines for writer, lines in totals(found).writers}


@pytest.mark.parametrize("written", ["main..topic", "main...topic", "main..", "main~1..HEAD"])
def test_what_a_branch_adds(repo: Repo, written: str) -> None:
    one, _ = two_agents(repo)
    asked = find_range(written)
    assert asked is not None
    found = blame_range(one.store, asked)
    assert [(file.diff.path, file.diff.what, len(file.lines)) for file in found.files] == [
        (b"a.py", "text", 3), (b"elsewhere.py", "text", 0), (b"gone.py", "deleted", 0), (b"pic", "binary", 0),
        (b"sub/b.py", "text", 1),
    ]  # fmt: skip
    assert counted(found) == {"agent": 2, "other": 1, "Ada Example": 1}
    assert totals(found).tasks == ((TASK, 2), (OTHER, 1))
    assert [line.text for line in found.files[0].lines] == [
        b"one line by the first agent", b"another by the first agent", b"a line by a person"
    ]  # fmt: skip
    assert first_place(found, TASK) == (b"a.py", 3)
    assert first_place(found, OTHER) == (b"sub/b.py", 1)
    assert found.is_head


def test_only_some_files(repo: Repo) -> None:
    one, _ = two_agents(repo)
    asked = Range("main", "topic")
    assert counted(blame_range(one.store, asked, ["sub"])) == {"other": 1}
    assert counted(blame_range(one.store, asked, ["*.py", ":(exclude)sub"])) == {"agent": 2, "Ada Example": 1}
    assert [file.diff.former for file in blame_range(one.store, asked, ["elsewhere.py"]).files] == [b"moved.py"]
    assert blame_range(one.store, asked, ["nothing"]).files == ()


def test_a_rebased_and_squashed_branch_has_the_same_totals(repo: Repo) -> None:
    one, _ = two_agents(repo)
    before = counted(blame_range(one.store, Range("main", "topic")))
    later(repo, "rebase", "-q", "main")
    assert counted(blame_range(one.store, Range("main", "topic"))) == before
    repo.git("switch", "-q", "-c", "squashed", "main")
    repo.git("merge", "-q", "--squash", "topic")
    later(repo, "commit", "-qm", "squashed")
    assert counted(blame_range(one.store, Range("main", "squashed"))) == before
    assert not blame_range(one.store, Range("main", "topic")).is_head


def test_unrelated_histories_and_unknown_revisions(repo: Repo) -> None:
    one, _ = two_agents(repo)
    repo.git("switch", "-q", "--orphan", "alone")
    repo.commit({"a.py": "one line by the first agent\n"}, "alone")
    found = blame_range(one.store, Range("main", "alone"))
    assert found.base is None
    assert totals(found).added == 1
    assert blame_range(one.store, Range("main", "main")).files == ()
    with pytest.raises(NotFound):
        blame_range(one.store, Range("main", "nowhere"))
    with pytest.raises(NotFound):
        blame_range(one.store, Range("--output=x", "main"))


def test_a_merge_of_the_main_line_adds_nothing_of_it(repo: Repo) -> None:
    one, _ = two_agents(repo)
    before = counted(blame_range(one.store, Range("main", "topic")))
    later(repo, "merge", "-q", "--no-edit", "main")
    assert counted(blame_range(one.store, Range("main", "topic"))) == before


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["one", "other", "person", "commit"]),
        st.sampled_from(["a.py", "b.py", "c/d.py"]),
        st.integers(0, 6),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=15)
@given(EDITS)
def test_totals_are_the_sums_of_their_parts(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str, int, int]]
) -> None:
    """Whoever writes what: writers share all added lines, tasks at most those, and each line is blamed as ever."""
    repo = Repo(tmp_path_factory.mktemp("range"))
    repo.git("init", "-q")
    base = repo.commit({"a.py": BASE}, "base")
    agents = {"one": Agent(repo), "other": Agent(repo, OTHER, name="other")}
    for number, (by, name, at, removed) in enumerate(edits):
        if by == "commit":
            repo.commit(message=f"commit {number}")
            continue
        file = repo.path / name
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        lines[at : at + removed] = [f"line number {number} by {by}\n", "same line\n"]
        if by == "person":
            file.parent.mkdir(exist_ok=True)
            file.write_text("".join(lines))
        else:
            agents[by].write(name, "".join(lines))
    repo.commit(message="last")
    store = agents["one"].store
    found = blame_range(store, Range(base, "HEAD"))
    sums = totals(found)
    numstat = [line.split("\t") for line in repo.git("diff", "--numstat", base, "HEAD").splitlines()]
    assert sums.added == sum(int(added) for added, *_ in numstat)
    assert sum(lines for _, lines in sums.writers) == sums.added
    assert sum(lines for _, lines in sums.tasks) <= sums.added
    parts = [totals([file]) for file in found.files]
    for name_of in ("writers", "tasks"):
        whole: Counter[object] = Counter()
        for part in parts:
            whole.update(dict(getattr(part, name_of)))
        assert whole == Counter(dict(getattr(sums, name_of)))
    for added in found.files:
        every = {line.number: line for line in blame(store, added.diff.path, "HEAD").lines}
        for line in added.lines:
            assert (line.owner, line.event, line.text) == (*every[line.number][2:4], every[line.number].text)
    assert all(0 <= share(lines, sums.added) <= 100 for _, lines in (*sums.writers, *sums.tasks))


@given(st.integers(-3, 10**6), st.integers(-3, 10**6))
def test_a_share_is_between_0_and_100(part: int, whole: int) -> None:
    """Case PC-26."""
    assert 0 <= share(part, whole) <= 100


def test_a_line_of_nobody_is_unknown(repo: Repo) -> None:
    agent = Agent(repo)
    repo.commit({"a.py": BASE}, "base")
    (repo.path / "a.py").write_text(BASE + "not committed\n")
    found = blame(agent.store, b"a.py")
    assert [writer_of(found, line).kind for line in found.lines] == ["person", "person", "unknown"]
