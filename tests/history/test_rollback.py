"""Rollback and undo as a whole: which events, in which order, and what people are told.

PC-61, PC-93, PC-99, PC-102, PC-105, RC-8, RC-11, RC-26, RC-29.
"""

import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore import codec
from pogstore.draft import Draft, DraftChange, FileVersion, TaskDrafts
from pogstore.errors import Incomplete, NotFound, NoWorkTree
from pogstore.history import operations
from pogstore.history.blame import blame
from pogstore.history.names import Named
from pogstore.history.rollback import plan_rollback, plan_undo
from pogstore.history.trace import trace
from pogstore.model import EventId, Restored, RolledBack, Sealed, Source
from pogstore.store import decoded
from pogstore.store import store as store_module
from pogstore.store.store import open_store
from pogstore.work.intake import take
from tests.builders_exchange import append_by_hand, handmade, head_of
from tests.builders_rollback import (
    ADA,
    AGENT,
    WORKTREE,
    Bench,
    Benches,
    Files,
    changes_of,
    file,
    link,
    program,
    untouched,
)
from tests.conftest import SECOND, STARTED, Pog, Repo

BASE = ["import os\n", "\n", "def one():\n", "    return 1\n", "\n", "def two():\n", "    return 2\n", "\n"]


def text(*lines: str) -> bytes:
    return "".join(lines).encode()


PERSON = {
    "at the end": (lambda lines: [*lines, "# mine\n"]),
    "at the start": (lambda lines: ["# mine\n", *lines]),
    "right above": (lambda lines: _beside(lines, "    return 20\n", above=True)),
    "right below": (lambda lines: _beside(lines, "    return 20\n", above=False)),
    "everywhere": (lambda lines: ["# mine\n", *_beside(lines, "    return 20\n", above=False), "# mine too\n"]),
}


def _beside(lines: Sequence[str], line: str, *, above: bool) -> list[str]:
    at = list(lines).index(line) + (not above)
    return [*lines[:at], "    # mine\n", *lines[at:]]


@pytest.mark.parametrize("moved", [False, True], ids=["", "in a renamed file"])
@pytest.mark.parametrize("person", PERSON.values(), ids=PERSON)
def test_the_middle_of_three_edits_goes_and_a_persons_lines_stay(
    bench: Bench, person: Callable[[list[str]], list[str]], moved: bool
) -> None:
    first = ["import os, sys\n", *BASE[1:]]
    second = [*first[:6], "    return 20\n", *first[7:]]
    third = [*second[:3], "    return 10\n", *second[4:]]
    bench.write("old.py", text(*BASE))
    bench.step({"old.py": text(*first)})
    middle = bench.step({"old.py": text(*second)})
    bench.step({"old.py": text(*third)})
    name = "new.py" if moved else "old.py"
    if moved:
        bench.move("old.py", name)
    bench.write(name, text(*person(third)))
    with_it = bench.files()
    bench.rollback(middle)
    expected = ["    return 2\n" if line == "    return 20\n" else line for line in person(third)]
    assert bench.files() == {name: file(text(*expected))}
    bench.undo()
    assert bench.files() == with_it


def test_a_conflict_names_the_later_events_in_the_way(bench: Bench) -> None:
    bench.write("f", b"1\n2\n3\n")
    first = bench.step({"f": b"a\n2\n3\n"})
    over = bench.step({"f": b"b\n2\n3\n"})
    elsewhere = bench.step({"f": b"b\n2\n3c\n"})
    (obstacle,) = bench.plan(first).obstacles
    assert (obstacle.path, obstacle.reason, obstacle.event) == ("f", "overlap", first)
    assert obstacle.later == (over, elsewhere)
    bench.rollback(elsewhere)
    bench.undo()
    bench.undo()
    bench.undo()
    (obstacle,) = bench.plan(first).obstacles
    assert obstacle.later == (over, elsewhere), "what was undone does not stand in the way"
    assert not bench.plan(first, over).obstacles


@pytest.mark.parametrize("ask", ["rollback", "undo", "trace", "blame"])
def test_each_event_is_decoded_once_however_many_files_it_changed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, ask: str
) -> None:
    names = [f"gen/f{number}" for number in range(40)]
    made = bench.step({name: f"file {name}\n".encode() for name in names})
    gone = bench.step(dict.fromkeys(names))
    bench.rollback(gone)
    bench.reopen()
    sizes: list[int] = []

    def decode(body: bytes) -> Sealed:
        sizes.append(len(body))
        return codec.decode(body)

    for module in (store_module, decoded, operations):
        monkeypatch.setattr(module, "codec", SimpleNamespace(decode=decode))
    if ask == "rollback":
        bench.plan(made)
    elif ask == "undo":
        plan_undo(bench.store, WORKTREE)
    elif ask == "trace":
        trace(bench.store, [bench.store.event(made)])
    else:
        for name in names:
            blame(bench.store, name.encode())
    # three events with all of the files; whoever names one, or looks for an operation, may read it once more
    assert sum(size > 1_000 for size in sizes) <= 12, len(sizes)


def test_what_is_brought_back_belongs_to_who_wrote_it(bench: Bench) -> None:
    bench.repo.commit({"f": "a line of the base\n"})
    edit = bench.step({"f": b"a line of the base\na line of the agent\n"})

    def owners() -> list[object]:
        return [line.event or line.owner for line in blame(bench.store, b"f").lines]

    gone = bench.step({"f": None})
    bench.rollback(gone)
    assert owners() == ["commit", edit]
    bench.rollback(edit)
    assert owners() == ["commit"]
    bench.undo()
    assert owners() == ["commit", edit]
    bench.write("f", b"a line of a person\na line of the base\na line of the agent\n")
    bench.rollback(edit)
    assert owners() == ["unknown", "commit"], "a merge adds nothing of its own"


def test_progress_is_told_of_each_change(bench: Bench) -> None:
    made = bench.step({"a": b"1\n", "b": b"2\n", "c": b"3\n"})
    told: list[tuple[int, int]] = []
    plan_rollback(bench.store, [bench.named(made)], lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_who_took_it_out_when_and_where_is_told(bench: Bench) -> None:
    event = bench.step({"f": b"1\n"})
    for act in (partial(bench.rollback, event), bench.undo):
        (told,) = act().events
        assert isinstance(told.event, RolledBack | Restored)
        assert (told.event.actor, told.event.time, told.event.worktree) == (ADA, bench.now, WORKTREE)


def test_a_task_means_its_tool_calls(bench: Bench) -> None:
    bench.write("f", b"1\n")
    bench.step({"f": b"2\n"})
    bench.rollback(bench.task)
    assert bench.text("f") == "1\n"
    # the rollback itself is not a tool call: naming the task again finds nothing to do
    assert bench.rollback(bench.task).events == ()
    bench.undo()
    assert bench.text("f") == "2\n"


BREW = ["import os\n", "\n", "\n", "def one():\n", "    return 1\n", "\n", "\n", "def two():\n", "    return 2\n"]
BLOCK = ["def agent():\n", "    return 0\n", "\n", "\n"]


@pytest.mark.parametrize("by_hand", [False, True], ids=["by us", "by hand"])
def test_what_was_taken_out_is_not_taken_out_twice_in_a_file_that_went_on(bench: Bench, by_hand: bool) -> None:
    """Blank lines let git's diff see other lines go than those that went; the rest of the file tells."""
    bench.write("f", text(*BREW))
    event = bench.step({"f": text(*BREW[:7], *BLOCK, *BREW[7:])})
    bench.step({"f": text(*BREW[:7], *BLOCK, BREW[7], "    two = 2\n", "    return two\n")})
    later = [BREW[7], "    two = 2\n", "    return two\n", "\n", "\n", "MINE = 1\n"]
    bench.write("f", text("import sys\n", *BREW[1:7], *BLOCK, *later))
    if by_hand:
        bench.write("f", text("import sys\n", *BREW[1:7], *later))
    else:
        bench.rollback(event)
    assert bench.files() == {"f": file(text("import sys\n", *BREW[1:7], *later))}
    assert bench.rollback(event).events == ()
    bench.write("f", text("import sys\n", *BREW[1:7], *later, "# more\n"))
    assert bench.rollback(event).events == ()
    assert bench.files() == {"f": file(text("import sys\n", *BREW[1:7], *later, "# more\n"))}


def test_what_came_in_again_by_git_is_taken_out_again(bench: Bench) -> None:
    """What the files hold decides, not what was done once."""
    bench.write("f", b"1\n2\n3\n")
    event = bench.step({"f": b"1\nagent\n2\n3\n"})
    bench.repo.commit({}, "all")
    bench.rollback(event)
    bench.repo.git("checkout", "--quiet", "f")
    bench.write("f", b"1\nagent\n2\n3\nperson\n")
    bench.rollback(event)
    assert bench.text("f") == "1\n2\n3\nperson\n"
    bench.undo()
    bench.rollback(event)
    assert bench.text("f") == "1\n2\n3\nperson\n"


@pytest.mark.parametrize("how", ["undo", "checkout"])
def test_an_edit_of_a_line_that_was_put_back_is_in_the_way(bench: Bench, how: str) -> None:
    """That it was out for a while does not make the line a person's, however near the rest of the file is to that."""
    bench.write("f", b"1\n2\n3\n4\n5\n")
    bench.repo.commit({}, "first")
    one = bench.step({"f": b"1\ntwo\n3\n4\n5\n"})
    two = bench.step({"f": b"1\ntwo\n3\nfour\n5\n"})
    bench.repo.commit({}, "all")
    bench.rollback(one, two)
    _ = bench.undo() if how == "undo" else bench.repo.git("checkout", "--quiet", "f")
    bench.write("f", b"1\nTWO\n3\nfour\n5\n")
    assert bench.conflicts(one, two) == {"f": "overlap"}
    assert bench.conflicts(one) == {"f": "overlap"}


def test_an_edit_of_a_line_that_was_put_back_is_in_the_way_when_the_rest_is_out(bench: Bench) -> None:
    bench.write("f", b"1\n2\n3\n4\n5\n6\n")
    one = bench.step({"f": b"1\ntwo\n3\n4\n5\n6\n"})
    two = bench.step({"f": b"1\ntwo\n3\nfour\n5\n6\n"})
    bench.rollback(one, two)
    bench.undo()
    bench.rollback(two)
    bench.write("f", b"1\nTWO\n3\n4\n5\n6\n")
    assert bench.conflicts(one) == {"f": "overlap"}
    bench.write("f", b"1\n2\n3\n4\n5\nmine\n")
    assert bench.rollback(one).events == (), "somebody took it out by hand"


def test_a_part_of_what_was_taken_out_that_is_there_again_is_taken_out_again(bench: Bench) -> None:
    """As by `git checkout --patch`: most of the file is as it is without them, and this line is not."""
    lines = [b"%d\n" % number for number in range(12)]
    bench.write("f", b"".join(lines))
    one = bench.step({"f": b"".join([b"a\n", b"b\n", b"c\n", *lines[3:]])})
    two = bench.step({"f": b"".join([b"a\n", b"b\n", b"c\n", *lines[3:8], b"agent\n", *lines[9:]])})
    bench.rollback(one, two)
    bench.write("f", b"".join([*lines[:8], b"agent\n", *lines[9:]]))
    assert bench.rollback(one).events == ()
    bench.rollback(two)
    assert bench.files() == {"f": file(b"".join(lines))}


def test_a_file_that_moved_and_went_comes_home(bench: Bench) -> None:
    """What comes back has no place from which it moves."""
    bench.write("a", b"1\n")
    moved = bench.move("a", "b")
    gone = bench.step({"b": None})
    for names in ((moved, gone), (bench.task,)):
        (done,) = bench.rollback(*names).events
        assert [(change.path, change.from_) for change in changes_of(done)] == [("a", None)]
        assert bench.files() == {"a": file(b"1\n")}
        bench.undo()
        assert bench.files() == {}


def test_a_rollback_can_be_rolled_back_by_name(bench: Bench) -> None:
    """Unlike undo it keeps what was typed since."""
    bench.write("f", b"1\n2\n3\n")
    event = bench.step({"f": b"1\nagent\n2\n3\n"})
    (rolled,) = bench.rollback(event).events
    bench.write("f", b"1\n2\n3\nperson\n")
    bench.rollback(rolled.event_id)
    assert bench.text("f") == "1\nagent\n2\n3\nperson\n"


def test_what_changed_nothing_cannot_be_rolled_back(bench: Bench) -> None:
    definition = bench.store.events(bench.task)[0].event_id
    for name in (definition, bench.task):
        with pytest.raises(NotFound, match="recorded change"):
            bench.plan(name)
    event = bench.step({"f": b"1\n"})
    with pytest.raises(NotFound, match=definition):
        bench.plan(event, definition)


def test_pc97_rc7_what_nobody_compared_is_said(bench: Bench) -> None:
    event = bench.step({"f": b"1\n"})
    for tool, fields in (("Bash", {"coverage": "none"}), ("Deploy", {"effects": "outside"}), ("Read", {})):
        above = [head_of(bench.store, bench.task)]
        append_by_hand(
            bench.store, handmade(bench.task, above, kind="stepped", tool=tool, **{"class": "shell"}, **fields)
        )
    tools = {sealed.event_id: getattr(sealed.event, "tool", "") for sealed in bench.store.events(bench.task)}
    assert [tools[uncovered] for uncovered in bench.plan(bench.task).uncovered] == ["Bash", "Deploy"]
    assert bench.plan(event).uncovered == ()


def test_what_needs_a_newer_reader_is_incomplete(bench: Bench) -> None:
    event = bench.step({"f": b"1\n"})
    newer = handmade(bench.task, [head_of(bench.store, bench.task)], v=2)
    append_by_hand(bench.store, newer)
    for name in (bench.task, newer.event_id):
        with pytest.raises(Incomplete, match="newer"):
            bench.plan(name)
    bench.rollback(event)
    assert bench.files() == {}


def test_a_part_without_the_others_is_incomplete(bench: Bench) -> None:
    bench.step({"f": b"1\n"})
    lone = handmade(
        bench.task, [head_of(bench.store, bench.task)], kind="stepped", **{"tool": "Bash", "class": "shell"},
        part={"n": 1, "of": 2}, changes=[{"path": "g", "before": {"mode": "100644", "blob": "0" * 64, "size": 1}}],
    )  # fmt: skip
    append_by_hand(bench.store, lone)
    for name in (bench.task, lone.event_id):
        with pytest.raises(Incomplete, match="parts of"):
            bench.plan(name)


def test_imported_sessions_that_took_turns_go_in_the_order_of_time(bench: Bench) -> None:
    """The clocks of an import say nothing about other tasks (decision 5)."""
    texts = [b"turn %d\n" % number for number in range(5)]
    tasks = [bench.new_task(), bench.new_task()]
    turns = {tasks[0]: [1, 3], tasks[1]: [2, 4]}
    # its notes let the clock of the first session run ahead of the second one's
    for task, numbers in turns.items():
        drafts = tuple(
            Draft(
                kind="stepped", time=STARTED + number * SECOND, actor=AGENT, fields={"tool": "Edit", "class": "edit"},
                changes=(DraftChange(path="f", before=file(texts[number - 1]), after=file(texts[number])),),
                source=Source(format="claude-code", key=f"{task}/{number}"),
            )
            for number in numbers
        )  # fmt: skip
        notes = tuple(
            Draft(kind="noted", time=STARTED, actor=AGENT, source=Source(format="claude-code", key=f"{task}/n{n}"))
            for n in range(6 if task == tasks[0] else 0)
        )
        take(bench.store, [TaskDrafts(task=task, drafts=notes + drafts)])
    bench.write("f", texts[4] + b"person\n")
    bench.rollback(tasks[0], tasks[1])
    assert bench.text("f") == "turn 0\nperson\n"


def test_an_echo_is_taken_out_once(bench: Bench) -> None:
    drafts = tuple(
        Draft(
            kind="stepped", time=STARTED, actor=AGENT,
            fields={"tool": "Edit", "class": "edit", "call_id": "call-1"},
            changes=(DraftChange(path="f", before=file(b"1\n"), after=file(b"1\nx\n")),),
            source=Source(format=format_, key="k"),
        )
        for format_ in ("spool", "claude-code")
    )  # fmt: skip
    take(bench.store, [TaskDrafts(task=bench.task, drafts=drafts)])
    bench.write("f", b"1\nx\nx\n")
    plan = bench.plan(bench.task)
    assert len(plan.tasks[0].targets) == 1


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"b\n", b"\n", b"\xff\n", b"c"]), max_size=5).map(b"".join)
VERSIONS = st.one_of(
    st.none(),
    LINES.map(file),
    LINES.map(program),
    st.sampled_from([link(b"a"), link(b"/x"), file(b""), file(b"\0"), file(b"a\0b")]),
)
PATHS = ("a", "b", "d", "d/a", "d/e/\u00e9")
Wanted = dict[str, FileVersion | None]
EDITS = st.lists(
    st.one_of(
        st.dictionaries(st.sampled_from(PATHS), VERSIONS, min_size=1, max_size=3),
        st.tuples(st.sampled_from(PATHS), st.sampled_from(PATHS)),
    ),
    min_size=1,
    max_size=6,
)


def carried_out(
    bench: Bench, edits: Sequence[object], start: Wanted, states: list[Files] | None = None
) -> tuple[Files, list[EventId]]:
    """Lets an agent work; returns the files before, and the events; adds to `states` the files before each of them."""
    for path, version in possible(bench, start).items():
        bench.write(path, version)
    before, events = bench.files(), []
    tasks = [bench.task, bench.new_task()]
    for number, edit in enumerate(edits):
        state = bench.files() if states is not None else {}
        if isinstance(edit, dict):
            files = possible(bench, edit)
            events += [bench.step(files, task=tasks[number % 2])] if files else []
        elif isinstance(edit, tuple) and movable(bench, *edit):
            events.append(bench.move(*edit))
        if states is not None and len(events) > len(states):
            states.append(state)
    return before, events


def movable(bench: Bench, older: str, path: str) -> bool:
    """Whether a file may move: it is there, and nothing has to make room for it."""
    is_free = not os.path.lexists(bench.path / path) and list(possible(bench, {path: file(b"")})) == [path]
    return is_free and older in bench.files() and not path.startswith(f"{older}/")


def possible(bench: Bench, wanted: Wanted) -> Wanted:
    """Returns the files that shall be given contents, after those that have to go: a file and a directory exclude."""
    there = bench.files()
    new = {path: version for path, version in wanted.items() if version}
    if "d" in new:
        new = {path: version for path, version in new.items() if not path.startswith("d/")}
    gone = {path for path in there if path in wanted and path not in new}
    gone |= {path for path in there if "d" in new and path.startswith("d/")}
    gone |= {"d"} & there.keys() if any(path.startswith("d/") for path in new) else set()
    return dict.fromkeys(sorted(gone)) | new


STARTS = st.dictionaries(st.sampled_from(PATHS), VERSIONS, max_size=3)


def some(events: Sequence[EventId], data: st.DataObject) -> list[EventId]:
    """Chooses some events, at least one if there is any, in any order."""
    if not events:
        return []
    return data.draw(st.lists(st.sampled_from(events), min_size=1, unique=True))


@settings(max_examples=20)
@given(EDITS, STARTS, st.randoms(use_true_random=False))
def test_all_rolled_back_is_as_if_nothing_had_been_and_undo_is_its_inverse(
    benches: Benches[Bench], edits: list[object], start: Wanted, chance: Random
) -> None:
    with benches.new() as bench:
        before, events = carried_out(bench, edits, start)
        if not events:
            return
        after = bench.files()
        done = bench.rollback(*chance.sample(events, len(events)))
        assert bench.files() == before
        assert bool(done.events) == (before != after)
        for expected in (after, before) if done.events else ():
            bench.undo()
            assert bench.files() == expected


@settings(max_examples=20)
@given(EDITS, STARTS, st.data())
def test_the_order_of_naming_means_nothing(
    benches: Benches[Bench], edits: list[object], start: Wanted, data: st.DataObject
) -> None:
    with benches.new() as bench:
        _, events = carried_out(bench, edits, start)
        if not (chosen := some(events, data)):
            return
        for path, found in bench.files().items():
            if found.mode != "120000" and data.draw(st.booleans()):
                bench.write(path, FileVersion(mode=found.mode, data=found.data + b"person\n"))
        state = untouched(bench.path, [".git"])
        plans = [bench.plan(*data.draw(st.permutations(chosen))) for _ in range(2)]
        assert plans[0] == plans[1]
        assert not (plans[0].obstacles and plans[0].writes)
        assert untouched(bench.path, [".git"]) == state


CODE = st.lists(
    st.sampled_from(["def f():", "    return 1", "", "", "}", "    x = 2", "# note", "else:"]), min_size=1, max_size=4
)


@settings(max_examples=20)
@given(st.lists(CODE, min_size=4, max_size=8), st.data())
def test_a_second_rollback_finds_nothing_to_do_whatever_is_typed_elsewhere(
    benches: Benches[Bench], blocks: list[list[str]], data: st.DataObject
) -> None:
    def joined(parts: Sequence[Sequence[str]]) -> bytes:
        return "".join(f"{line}\n" for part in parts for line in part).encode()

    with benches.new() as bench:
        middle = len(blocks) // 2
        bench.write("f", joined([*blocks[:middle], *blocks[middle + 1 :]]))
        event = bench.step({"f": joined(blocks)})
        typed = [["# a person's first line"], *blocks, ["# a person's last line"]]
        bench.write("f", joined(typed))
        if not bench.rollback(event).events:
            return
        out = bench.files()
        text = bench.text("f").splitlines(keepends=True)
        line = data.draw(st.sampled_from(["# more\n", "\n", "}\n"]))
        bench.write("f", "".join([*text, line] if data.draw(st.booleans()) else [line, *text]).encode())
        again = bench.files()
        assert bench.rollback(event).events == ()
        assert bench.files() == again
        bench.write("f", out["f"])
        bench.undo()
        assert bench.files() == {"f": file(joined(typed))}


@settings(max_examples=20)
@given(EDITS, STARTS, st.data())
def test_undo_after_any_rollback_is_as_if_nothing_had_been(
    benches: Benches[Bench], edits: list[object], start: Wanted, data: st.DataObject
) -> None:
    with benches.new() as bench:
        _, events = carried_out(bench, edits, start)
        chosen = some(events, data)
        if not chosen or bench.plan(*chosen).obstacles:
            return
        files, state = bench.files(), untouched(bench.path, [".git"])
        done = bench.rollback(*chosen)
        assert {change.path for sealed in done.events for change in changes_of(sealed)} <= set(PATHS)
        if not done.events:
            assert untouched(bench.path, [".git"]) == state
            return
        bench.undo()
        assert bench.files() == files


# ---- the commands


@pytest.fixture
def told(repo: Repo, pog: Pog) -> tuple[Bench, EventId]:
    """The repository of `pog`, enabled, with one recorded edit; a person typed below it."""
    pog("init")
    bench = Bench.__new__(Bench)
    bench.path, bench.repo, bench.now = repo.path, repo, STARTED
    bench.store = open_store(repo.path)
    bench.task = bench.new_task()
    bench.write("f", b"1\n2\n3\n")
    event = bench.step({"f": b"1\nagent\n2\n3\n", "made": b"made\n"})
    bench.write("f", b"1\nagent\n2\n3\nperson\n")
    return bench, event


def outside_of_ours(repo: Repo) -> dict[str, tuple[object, ...]]:
    """Everything in a repository but our own derived files."""
    return untouched(repo.path, [".git/pog"])


def test_pc99_a_dry_run_writes_nothing_at_all(told: tuple[Bench, EventId], pog: Pog, repo: Repo) -> None:
    bench, event = told
    pog("status")
    state, refs = outside_of_ours(repo), repo.git("for-each-ref")
    answer = pog("rollback", "--dry-run", event[:12])
    assert answer.stdout.startswith("would update f\nwould delete made\nplan ")
    assert pog("rollback", "-n", "--json", event[:12]).json["events"] == []
    assert (outside_of_ours(repo), repo.git("for-each-ref")) == (state, refs)
    pog("rollback", event[:12])
    state, refs = outside_of_ours(repo), repo.git("for-each-ref")
    assert pog("undo", "--dry-run").stdout.startswith("would update f\nwould create made\nplan ")
    assert (outside_of_ours(repo), repo.git("for-each-ref")) == (state, refs)
    assert bench.text("f") == "1\n2\n3\nperson\n"


def test_a_plan_that_moved_is_refused_and_one_that_did_not_is_carried_out(
    told: tuple[Bench, EventId], pog: Pog, repo: Repo
) -> None:
    bench, event = told

    def planned(*command: str) -> str:
        return pog(*command, "-n").stdout.splitlines()[-1].removeprefix("plan ")

    digest = planned("rollback", event)
    assert pog("rollback", "-n", "--json", event).json["plan"] == digest
    bench.write("f", b"1\nagent\n2\n3\nanother person\n")
    state = outside_of_ours(repo)
    answer = pog("rollback", "--json", "--plan", digest, event, status=1)
    assert json.loads(answer.stderr)["error"]["code"] == "plan-moved"
    assert planned("rollback", event) in answer.stderr
    assert pog("rollback", "-n", "--plan", digest, event, status=1).stdout == ""
    bench.write("f", b"1\nagent\n2\n2\n3\nperson\n")
    bench.write("made", None)
    assert "is not" in pog("rollback", "--plan", digest, event, status=1).stderr
    bench.write("f", b"1\nagent\n2\n3\nperson\n")
    bench.write("made", b"made\n")
    assert {name: found[0::3] for name, found in outside_of_ours(repo).items() if name not in ("f", "made")} == {
        name: found[0::3] for name, found in state.items() if name not in ("f", "made")
    }
    assert pog("rollback", "--plan", digest, event).stdout.startswith("updated f\ndeleted made\n")
    back = planned("undo")
    assert pog("undo", "--plan", digest, status=1).stdout == ""
    assert pog("undo", "--plan", back[:12]).stdout.startswith("updated f\ncreated made\n")
    assert planned("rollback", event) == digest, "an equal plan in an equal world"
    for bad in ("", "abc", "g" * 64, "a" * 65):
        pog("rollback", "--plan", bad, event, status=129)


def test_rollback_and_undo_say_what_they_did(told: tuple[Bench, EventId], pog: Pog, repo: Repo) -> None:
    bench, event = told
    (repo.path / "sub").mkdir()
    answer = pog("rollback", bench.task[:13], cwd=repo.path / "sub")
    assert answer.stdout.splitlines()[:2] == ["updated f", "deleted made"]
    assert "'git pog undo' takes this back" in answer.stdout + answer.stderr
    assert pog("rollback", event).stdout == ""
    assert "nothing to do" in pog("rollback", event).stderr
    value = pog("undo", "--json").json
    assert value["ok"]
    assert value["writes"] == [{"path": "f", "action": "update"}, {"path": "made", "action": "create"}]
    assert value["tasks"] == [bench.task]
    assert len(value["events"]) == 1
    assert [outcome["outcome"] for outcome in value["outcomes"]] == ["applied"]
    assert [line["kind"] for line in pog("log", "--json", bench.task).json[:2]] == ["restored", "rolled_back"]


def test_a_conflict_is_an_answer(told: tuple[Bench, EventId], pog: Pog) -> None:
    bench, event = told
    bench.write("f", b"1\nedited\n2\n3\n")
    answer = pog("rollback", event, status=1)
    assert answer.stdout.startswith(f"conflict overlap: f: its lines were edited since (event {event[:10]}")
    value = pog("rollback", "--json", event, status=1).json
    assert (value["ok"], value["writes"], value["events"]) == (False, [], [])
    assert value["conflicts"] == [{"path": "f", "reason": "overlap", "event": event, "later": []}]
    assert bench.text("made") == "made\n"


def test_pc61_a_name_that_is_not_utf8_is_shown_and_given_in_base64(told: tuple[Bench, EventId], pog: Pog) -> None:
    bench, _ = told
    event = bench.step({"\udcff": b"1\n"})
    assert pog("rollback", "-n", event).stdout.startswith("would delete \\xff\nplan ")
    assert pog("rollback", "-n", "--json", event).json["writes"][0]["path"] == {"b64": "/w=="}


def test_it_needs_a_work_tree(bench: Bench, tmp_path: Path) -> None:
    event = bench.step({"f": b"1\n"})
    bench.repo.git("clone", "--quiet", "--mirror", ".", str(tmp_path / "bare.git"))
    bare = open_store(tmp_path / "bare.git")
    with pytest.raises(NoWorkTree):
        plan_rollback(bare, [Named(bench.task, event)])
    bare.close()


def test_pc102_a_repository_without_commits_works(bench: Bench) -> None:
    event = bench.step({"f": b"1\n"})
    assert bench.repo.git("for-each-ref", "refs/heads") == ""
    bench.rollback(event)
    assert bench.files() == {}
