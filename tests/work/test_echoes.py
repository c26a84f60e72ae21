"""A session that was recorded live and is imported later: only what the hooks missed is added."""

from datetime import UTC, datetime, timedelta

import pytest

from pogstore.draft import TaskDrafts
from pogstore.history.blame import blame
from pogstore.interop.claude_code import LONGEST_TEXT, read_session
from pogstore.interop.json_lines import Transcript
from pogstore.model import Event, Noted, Observed, Prompted, Stepped
from pogstore.store.store import Store
from pogstore.work import intake
from pogstore.work.echoes import NEAR, as_told_live
from tests.agents.live import Live, drained, events, recording, steps
from tests.builders_claude import Script
from tests.conftest import SECOND, STARTED, Repo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Both:
    """One session as hooks and as its transcript tell it: two clocks that agree but for a moment."""

    def __init__(self, repo: Repo) -> None:
        self.repo, self.store = repo, recording(repo)
        self.live = Live(repo.path)
        self.script = Script("s1", cwd=str(repo.path))

    def _same_time(self) -> None:
        self.script.moment = EPOCH + timedelta(microseconds=self.live.clock[0] + SECOND // 10)

    def prompt(self, text: str, *, heard: bool = True) -> None:
        self.live.clock[0] += 60 * SECOND
        if heard:
            self.live.prompt(text)
        self._same_time()
        self.script.prompt(text)

    def edit(self, name: str, old: str, new: str, *, heard: bool = True) -> None:
        path = self.repo.path / name
        original = path.read_text()
        call = self.script.edit(name, original, old, new)
        path.write_text(original.replace(old, new))
        if not heard:
            return
        told = {"tool_name": "Edit", "tool_use_id": call, "tool_input": {"file_path": str(path), "old_string": old,
                                                                         "new_string": new}}  # fmt: skip
        path.write_text(original)
        self.live.say("PreToolUse", **told)
        path.write_text(original.replace(old, new))
        self.live.say("PostToolUse", **told, tool_response={"originalFile": original})

    def read(self) -> TaskDrafts:
        (task,) = read_session("s1", [Transcript("s1.jsonl", self.script.lines())]).tasks
        return task

    def imported(self) -> intake.Taken:
        drained(self.store, self.live)
        return intake.take(self.store, [as_told_live(self.store, self.read())])


@pytest.fixture
def both(repo: Repo) -> Both:
    return Both(repo)


def kinds(store: Store, live: Live) -> list[str]:
    return [type(event).__name__ for event in events(store, live.task)]


def prompts(both: Both) -> list[str]:
    found = sorted((event.time, event) for event in events(both.store, both.live.task) if isinstance(event, Prompted))
    return [both.store.read_text(event.text) for _, event in found]


def test_an_import_adds_only_what_the_hooks_missed(both: Both) -> None:
    both.prompt("go")
    both.edit("README", "a project", "one")
    both.prompt("on")
    both.edit("README", "one", "two")
    both.script.reply("Done.")
    drained(both.store, both.live)
    before = len(both.store.events(both.live.task))
    taken = both.imported()
    assert (taken.tasks, taken.events, taken.known) == (0, 1, 5)
    (reply,) = [event for event in events(both.store, both.live.task) if isinstance(event, Noted)]
    assert reply.topic == "claude-code:reply"
    assert len(both.store.events(both.live.task)) == before + 1
    assert both.imported().events == 0
    both.prompt("missed", heard=False)
    both.edit("README", "two", "three", heard=False)
    assert both.imported().events == 2
    assert prompts(both) == ["go", "on", "missed"]
    assert both.imported().events == 0


def test_blame_is_the_same_before_and_after(both: Both) -> None:
    both.prompt("go")
    both.edit("README", "a project", "one")
    (both.repo.path / "README").write_text("one\nby hand\n")
    both.edit("README", "one", "two")
    drained(both.store, both.live)
    both.repo.commit(message="both")
    before = blame(both.store, b"README")
    assert both.imported().events == 0
    assert blame(both.store, b"README") == before
    assert kinds(both.store, both.live).count("Observed") == 1


def test_equal_prompts_are_matched_by_their_times(both: Both) -> None:
    heard = [True, False, True, False, True]
    for each in heard:
        both.prompt("go on", heard=each)
    assert both.imported().events == 2
    assert prompts(both) == ["go on"] * 5
    times = sorted(event.time for event in events(both.store, both.live.task) if isinstance(event, Prompted))
    assert [round((each - STARTED) / SECOND / 60) for each in times] == [1, 2, 3, 4, 5]


def test_the_same_words_much_later_are_another_prompt(both: Both) -> None:
    both.live.prompt("go on")
    both.live.clock[0] += NEAR + 2 * SECOND
    both.prompt("go on", heard=False)
    assert both.imported().events == 1


@pytest.mark.parametrize("text", ["  go\n", "x y\n" * LONGEST_TEXT, "use ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"])
def test_prompts_are_compared_as_they_are_stored(both: Both, text: str) -> None:
    both.prompt(text)
    assert both.imported().events == 0


def test_commands_are_prompts_as_they_were_typed(both: Both) -> None:
    both.live.prompt("/review the shop")
    both._same_time()
    both.script.prompt("<command-message>review</command-message><command-name>/review</command-name>"
                       "<command-args>the shop</command-args>")  # fmt: skip
    assert both.imported().events == 0


def test_another_sessions_prompt_is_another(both: Both) -> None:
    other = Live(both.repo.path, "other", both.live.clock, task=both.live.task)
    both.prompt("first")
    drained(both.store, both.live)
    other.prompt("go")
    both.prompt("go", heard=False)
    assert both.imported().events == 1


def test_what_a_live_call_found_is_not_observed_again(both: Both) -> None:
    """A shell step that was compared made the change which a transcript cannot explain."""
    both.prompt("go")
    both.edit("README", "a project", "one")
    (both.repo.path / "README").write_text("sorted\n")
    both.script.bash("sort README")
    both.edit("README", "sorted", "two")
    drafts = both.read().drafts
    assert [draft.kind for draft in drafts].count("observed") == 1
    both.imported()
    found: list[Event] = events(both.store, both.live.task)
    assert not [event for event in found if isinstance(event, Observed) and event.inferred]


def test_a_call_whose_end_nobody_saw_is_told_by_the_import_too(both: Both) -> None:
    both.prompt("go")
    call = both.script.bash("make", "done")
    both.live.say("PreToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_use_id=call)
    both.live.say("SessionEnd", reason="other")
    drained(both.store, both.live)
    (step,) = steps(both.store, both.live.task)
    assert step.ok is None
    assert both.imported().events == 1
    assert len(steps(both.store, both.live.task)) == 1


def test_a_task_that_is_not_here_is_left_as_it_is(both: Both, repo: Repo) -> None:
    both.script.prompt("go")
    task = both.read()
    assert as_told_live(both.store, task) is task
    assert intake.take(both.store, [task]).events == 2
    assert as_told_live(both.store, task) == task
    assert isinstance(events(both.store, both.live.task)[-1], Prompted | Stepped)
