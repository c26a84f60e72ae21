"""Tests of `git pog record`: all lines or none, each once, and each change its owner's."""

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pogstore.agents.generic import MOST_PATHS
from pogstore.agents.lines import Where, read_lines
from pogstore.draft import session_task_id
from pogstore.errors import BadInput
from pogstore.history.blame import blame
from pogstore.model import Event, Observed, OddPath, Stepped, TaskId
from pogstore.state import distinct
from pogstore.store.store import Store, open_store
from pogstore.work import spool
from tests.agents.live import sides, told
from tests.agents.test_generic import FITTING
from tests.cli.conftest import Here
from tests.conftest import STARTED, Repo

SESSION = session_task_id("fixer", "s")


def line(event: str, **members: Any) -> str:
    return json.dumps({"version": 1, "agent": "fixer", "session": "s", "event": event, **members}) + "\n"


def edit(path: str, **members: Any) -> str:
    return line("tool_end", **{"tool": "sed", "class": "edit", "paths": [path], **members})


def opened(here: Here) -> Store:
    return open_store(here.cwd)


def events(here: Here, task: TaskId = SESSION) -> list[Event]:
    return [each.event for each in distinct(opened(here).events(task)).used if isinstance(each.event, Event)]


def steps(here: Here, task: TaskId = SESSION) -> list[Stepped]:
    return [event for event in events(here, task) if isinstance(event, Stepped)]


def test_a_session_is_told_in_lines(here: Here) -> None:
    (here.cwd / "README").write_text("hello\n")
    said = here(
        "record",
        stdin=line("session_start", source="startup")
        + line("prompt", text="Greet the world")
        + "\n"
        + edit("README", call_id="c1", output="1 line", duration_ms=4, usage={"tokens_in": 3}, model="m-1")
        + line("note", text="shorter", topic="style")
        + line("decision", text="hello, not hi")
        + line("session_end"),
    )
    assert said == ("9 new events from 6 lines\n", "", 0)
    assert told(opened(here), SESSION) == [
        "noted fixer:session_start", "defined", "moved in_progress", "prompted", "stepped sed", "noted style",
        "decided", "noted fixer:session_end", "moved in_review",
    ]  # fmt: skip
    (step,) = steps(here)
    assert (step.class_, step.call_id, step.ok, step.duration_ms) == ("edit", "c1", True, 4)
    assert (step.actor.name, step.actor.model, step.actor.session, step.actor.type) == ("fixer", "m-1", "s", "agent")
    assert sides(opened(here), step) == [("README", b"a project\n", b"hello\n")]
    assert (step.coverage, step.coverage_reason, step.inferred) == ("shared", "no-before", True)
    assert here("list", "--json").json == []
    assert here("list", "--all", "--json").json[0]["title"] == "Greet the world"


def test_what_is_recorded_is_blamed(here: Here, repo: Repo) -> None:
    (here.cwd / "README").write_text("a project\nhello\n")
    here("record", stdin=edit("README", changes=[{"path": "README", "before": "a project\n",
                                                  "after": "a project\nhello\n"}]))  # fmt: skip
    repo.commit(message="agent's")
    assert [each.owner for each in blame(opened(here), b"README").lines] == ["commit", "event"]


def test_lines_are_sighted_when_they_are_read(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    class Typing(io.BytesIO):
        """An input whose writer edits between its lines."""

        def __iter__(self) -> Iterator[bytes]:
            yield line("tool_start", tool="sed", paths=["README"], call_id="c", **{"class": "edit"}).encode()
            (here.cwd / "README").write_text("hello\n")
            yield edit("README", call_id="c").encode()

    (here.cwd / "README").write_text("by hand\n")
    monkeypatch.setattr("pogstore.cli.record.sys", type("Sys", (), {"stdin": type("In", (), {"buffer": Typing()})}))
    here("record")
    store = opened(here)
    gap, step = [event for event in events(here) if getattr(event, "changes", ())]
    assert isinstance(gap, Observed)
    assert sides(store, gap) == [("README", b"a project\n", b"by hand\n")]
    assert sides(store, step) == [("README", b"by hand\n", b"hello\n")]
    assert (getattr(step, "coverage", None), step.inferred) == ("scoped", None)


def test_changes_tell_both_sides(here: Here) -> None:
    data = base64.b64encode(b"\0\xff").decode()
    changes = [
        {"path": "README", "before": "a project\n", "after": None},
        {"path": "new", "after_b64": data, "mode": "100755"},
        {"path": "sub/both", "before_b64": data, "after": "text\n"},
    ]
    here("record", stdin=edit("elsewhere", changes=changes))
    (step,) = steps(here)
    assert sides(opened(here), step) == [
        ("README", b"a project\n", None),
        ("new", None, b"\0\xff"),
        ("sub/both", b"\0\xff", b"text\n"),
    ]
    assert [change.after.mode for change in step.changes if change.after] == ["100755", "100644"]
    assert (step.coverage, step.coverage_reason) == ("scoped", None)
    (gap,) = [event for event in events(here) if isinstance(event, Observed)]
    assert sides(opened(here), gap) == [("sub/both", None, b"\0\xff")]


def test_what_is_sent_again_adds_nothing(here: Here) -> None:
    (here.cwd / "README").write_text("hello\n")
    lines = line("prompt", text="go", key="p1") + edit("README", call_id="c1") + line("note", text="x", key="n1")
    assert here("record", "--json", stdin=lines).json == {
        "lines": 3, "events": 5, "task": SESSION, "tasks": [SESSION]
    }  # fmt: skip
    (here.cwd / "README").write_text("hello again\n")
    assert here("record", "--json", stdin=lines).json["events"] == 0
    assert here("record", "--json", stdin=lines + lines).json["events"] == 0
    assert here("record", "--json", stdin=edit("README", call_id="c2") * 2).json["events"] == 1
    assert len(opened(here).events(SESSION)) == 6
    assert here("record", "--json", stdin=line("note", text="x") * 2).json["events"] == 2


def test_a_call_that_is_sent_again_with_its_beginning_adds_nothing(here: Here) -> None:
    both = line("tool_start", tool="sh", call_id="c", key="k1") + line("tool_end", tool="sh", call_id="c", key="k2")
    assert here("record", "--json", stdin=both).json["events"] == 3
    assert here("record", "--json", stdin=both).json["events"] == 0
    anonymous = both.replace('"session": "s", ', "")
    task = here.task("a task")
    assert here("record", "--task", task, "--json", stdin=anonymous).json["events"] == 1
    assert here("record", "--task", task, "--json", stdin=anonymous).json["events"] == 0


def test_a_call_without_an_end_is_a_step_of_which_no_end_is_known(here: Here) -> None:
    begin = line("tool_start", tool="sed", paths=["README"], call_id="c", **{"class": "edit"})
    answers = here("record", "--jsonl", stdin=begin + line("note", text="x")).stdout.splitlines()
    assert [json.loads(each) for each in answers] == [
        {"line": 1, "task": SESSION, "events": 3}, {"line": 2, "task": SESSION, "events": 1}
    ]  # fmt: skip
    (step,) = steps(here)
    assert (step.ok, step.coverage, step.coverage_reason) == (None, "partial", "no-result")
    assert here("record", "--json", stdin=begin).json["events"] == 0


@pytest.mark.parametrize("json_option", ["--json", "--jsonl"])
def test_an_empty_input_is_said(here: Here, json_option: str) -> None:
    assert here("record", stdin="\n \n") == ("", "nothing to record: the input is empty\n", 0)
    assert here("record", json_option).stderr == ""
    assert here("record", "--json").json == {"lines": 0, "events": 0, "task": None, "tasks": []}
    assert opened(here).tasks() == []
    assert "cannot be combined" in here("record", "--json", "--jsonl", status=129).stderr


WRONG = [
    ("{", "not JSON"),
    ("[]", "not a JSON object: it is of type list"),
    ("5", "not a JSON object"),
    ('"\xff"', "not UTF-8"),
    ("[" * 100_000, "nested too deeply"),
    ('{"version": 1}', "no 'event'"),
    ('{"event": ""}', "'event': is no name"),
    ('{"event": "note"}', "no 'text': a note has to say something"),
    ('{"event": "prompt", "text": " "}', "no 'text'"),
    ('{"event": "note", "text": "x", "version": 2}', "'version': this pogstore knows version 1"),
    ('{"event": "tool_end", "class": "psychic"}', "'class': it is one of edit, shell"),
    ('{"event": "tool_end", "tool": 5}', "'tool': is no name"),
    ('{"event": "tool_end", "paths": "a"}', "'paths': is no list of paths"),
    ('{"event": "tool_end", "paths": [""]}', "'paths': is no list of paths"),
    (json.dumps({"event": "tool_end", "paths": ["a"] * (MOST_PATHS + 1)}), "at most 1000 fit one step"),
    ('{"event": "tool_end", "error": 5}', "'error': is no text"),
    ('{"event": "tool_end", "duration_ms": -1}', "'duration_ms': is no whole number"),
    ('{"event": "tool_end", "time": 1e9}', "'time': is no whole number"),
    ('{"event": "tool_end", "usage": []}', "'usage': is no object"),
    ('{"event": "tool_end", "usage": {"tokens_in": true}}', "'usage.tokens_in': is no whole number"),
    ('{"event": "tool_end", "changes": {}}', "'changes': is no list"),
    ('{"event": "tool_end", "changes": [{}]}', "no object with a 'path'"),
    ('{"event": "tool_end", "changes": [{"path": "a"}, {"path": "./a"}]}', "'changes': name a path twice"),
    ('{"event": "tool_end", "changes": [{"path": "a", "mode": "160000"}]}', "'mode': it is one of 100644"),
    ('{"event": "tool_end", "changes": [{"path": "a", "after": 5}]}', "'after': is neither a text nor null"),
    ('{"event": "tool_end", "changes": [{"path": "a", "after_b64": "*"}]}', "'after_b64': is no base64"),
    ('{"event": "tool_end", "changes": [{"path": "a", "after": "", "after_b64": ""}]}', "is told twice"),
]


@pytest.mark.parametrize(("wrong", "reason"), WRONG, ids=[reason for _, reason in WRONG])
def test_a_wrong_line_is_named_and_nothing_is_recorded(here: Here, wrong: str, reason: str) -> None:
    data = (
        line("note", text="good").encode() + b"\n" + wrong.encode("latin-1") + b"\n" + line("note", text="x").encode()
    )
    said = here("record", stdin=data, status=128)
    assert said.stderr.startswith(f"error: line 3: {reason}") or reason in said.stderr.split("\n")[0]
    assert said.stderr.startswith("error: line 3: ")
    assert said.stdout == ""
    assert opened(here).tasks() == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.binary(max_size=60) | FITTING.map(lambda said: json.dumps(said).encode()))
def test_any_line_is_read_or_refused(tmp_path: Path, data: bytes) -> None:
    try:
        list(read_lines([data], Where(tmp_path / ".git", tmp_path, tmp_path, 100, STARTED, 0)))
    except BadInput as fault:
        assert fault.message.startswith("line 1: ")  # noqa: PT017


def test_lines_belong_to_the_task_that_is_named_or_active(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    named, active = here.task("named"), here.task("active")
    assert here("record", "--json", "--task", named, stdin=line("note", text="x")).json["task"] == named
    here("start", active)
    assert here("record", "--json", stdin=line("note", text="x") + line("session_end")).json == {
        "lines": 2, "events": 2, "task": active, "tasks": [active]
    }  # fmt: skip
    assert here("record", "--json", stdin=line("note", text="x"), POG_TASK=named).json["task"] == named
    assert "no task matches" in here("record", "--task", "nothing", stdin="", status=128).stderr
    assert opened(here).tasks() == sorted([named, active])


def test_lines_of_several_sessions_go_to_their_own_tasks(here: Here) -> None:
    lines = [line("prompt", text=f"go {session}", session=session) for session in "abab"]
    told = here("record", "--json", stdin="".join(lines)).json
    tasks = [session_task_id("fixer", session) for session in "ab"]
    assert (told["events"], told["task"], told["tasks"]) == (8, None, tasks)


def test_a_line_without_a_session_needs_a_task(here: Here) -> None:
    bare = '{"event": "note", "text": "x"}'
    said = here("record", stdin=line("note", text="x") + bare, status=128).stderr
    assert said.startswith("error: line 2: it names no session, and no task is active\nhint: ")
    assert opened(here).tasks() == []
    here("start", here.task("a task"))
    assert here("record", stdin=bare).stdout == "1 new event from 1 line\n"


def test_who_acts(here: Here) -> None:
    task = here.task("a task")

    def actor(text: str, *options: str, **members: Any) -> tuple[str, str | None, str | None, str | None]:
        here("record", "--task", task, *options, stdin=json.dumps({"event": "note", "text": text, **members}))
        said = events(here, TaskId(task))[-1].actor
        return said.type, said.name, said.session, said.on_behalf_of.name if said.on_behalf_of else None

    person = here("log", "--json").json[0]["actor"]["name"]
    assert actor("1") == ("agent", "generic", None, person)
    assert actor("2", "--as", "tool:make") == ("tool", "make", None, person)
    assert actor("3", "--as", "tool:make", agent="fixer", session="s") == ("agent", "fixer", "s", person)
    here("record", "--task", task, "--as", "tool:make", stdin=json.dumps({"event": "prompt", "text": "go"}))
    last = events(here, TaskId(task))[-1].actor
    assert (last.type, last.name) == ("human", person)


def test_paths_are_relative_to_the_directory_of_the_line_or_ours(here: Here, tmp_path: Path) -> None:
    (here.cwd / "web").mkdir()
    for name in ("web/a", "web/b", "c"):
        (here.cwd / name).write_text(f"{name}\n")
    (tmp_path / "outside").write_text("x\n")
    lines = (
        edit("a") + edit("b", cwd=str(here.cwd / "web")) + edit(str(here.cwd / "c")) + edit(str(tmp_path / "outside"))
    )
    here("record", cwd=here.cwd / "web", stdin=lines + edit("../.git/config"))
    found = [(sides(opened(here), step), step.coverage_reason) for step in steps(here)]
    outside = [(OddPath(outside=True), None, None)]
    assert found == [
        ([("web/a", None, b"web/a\n")], "no-before"), ([("web/b", None, b"web/b\n")], "no-before"),
        ([("c", None, b"c\n")], "no-before"), (outside, "outside"), (outside, "outside"),
    ]  # fmt: skip


def test_ignored_and_large_files_are_named_and_not_kept(here: Here, repo: Repo) -> None:
    repo.commit({".gitignore": "*.log\n"})
    (here.cwd / "x.log").write_text("vermilion\n")
    (here.cwd / "big").write_text("x" * 2000)
    repo.git("config", "pog.maxBlob", "1000")
    here("record", stdin=edit("x.log", input={"content": "vermilion"}) + edit("big") + edit("README"))
    ignored, large, same = steps(here)
    assert (ignored.coverage_reason, ignored.input) == ("ignored", None)
    assert "vermilion" not in repo.git("cat-file", "--batch", "--batch-all-objects")
    assert large.coverage_reason == "too-large"
    assert [(each.after.size, each.after.omitted) for each in large.changes if each.after] == [(2000, "too-large")]
    assert (same.changes, same.coverage) == ((), "scoped")


def test_what_shells_do_is_not_compared(here: Here) -> None:
    here("record", stdin=line("tool_end", tool="sh", input="make", **{"class": "shell"})
         + line("tool_end", tool="cat", output="x", **{"class": "read"}))  # fmt: skip
    shell, read = steps(here)
    assert (shell.coverage, shell.coverage_reason) == ("none", "not-compared")
    assert (read.coverage, read.output) == (None, None)


def test_secrets_are_redacted(here: Here) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    lines = line("prompt", text=secret) + line("decision", text=secret) + line("note", text="x", mood=secret)
    here("record", stdin=lines + edit("README", input={"a": secret}, output=secret, error=secret))
    assert secret not in Repo(here.cwd).git("cat-file", "--batch", "--batch-all-objects")


def test_a_file_can_be_named(here: Here, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text(line("note", text="x", time=STARTED - 5))
    assert here("record", str(tmp_path / "lines")).stdout == "1 new event from 1 line\n"
    assert events(here)[0].time == STARTED - 5
    assert "cannot read" in here("record", str(tmp_path / "nothing"), status=128).stderr


def test_a_fork_is_linked_to_its_parent(here: Here) -> None:
    here("record", stdin=line("prompt", text="go", parent_session="old"))
    assert here("show", SESSION, "--json").json["links"] == [
        {"rel": "derived_from", "task": session_task_id("fixer", "old")}
    ]


def test_what_waits_in_the_spool_comes_first(here: Here, repo: Repo) -> None:
    from_hook = spool.encode_record(
        record_id="0" * 32, agent="generic", event="note", time=STARTED, offset=0, git_dir=bytes(here.cwd / ".git"),
        common_dir=bytes(here.cwd / ".git"), root=bytes(here.cwd), payload=line("note", text="first").encode(),
        whole=True,
    )  # fmt: skip
    spool.append(bytes(here.cwd / ".git" / "pog" / "spool"), from_hook)
    here("record", stdin=line("note", text="second"))
    store = opened(here)
    assert [store.read_text(event.text) for event in events(here)] == ["first", "second"]  # type: ignore[attr-defined]


def test_nothing_is_recorded_where_recording_is_off(here: Here, repo: Repo) -> None:
    assert "disabled" in here("record", stdin=line("note", text="x"), status=4, POG_DISABLE="1").stderr
    here("init", "--remove")
    assert "not enabled" in here("record", stdin=line("note", text="x"), status=128).stderr


def test_a_repository_without_a_work_tree_takes_what_is_said(here: Here, repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    here("init", cwd=tmp_path / "bare.git")
    changes = [{"path": "a", "after": "x"}]
    lines = line("note", text="x") + edit("a") + edit("a", changes=changes)
    assert here("record", "--json", cwd=tmp_path / "bare.git", stdin=lines).json["events"] == 5
    store = open_store(tmp_path / "bare.git")
    assert sides(store, store.events(SESSION)[-1].event) == [(OddPath(outside=True), None, None)]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "/\ud800/x", "x" * 5000])
def test_a_path_that_the_system_cannot_take_is_outside_or_not_seen(here: Here, name: str) -> None:
    here("record", stdin=edit(name) + edit("README", cwd=f"/{name}") + edit("x", changes=[{"path": name}]))
    for step in steps(here):
        assert step.coverage == "partial" or not step.changes


def test_gits_own_files_are_not_told_of(here: Here) -> None:
    here("record", stdin=edit("x", changes=[{"path": ".git/config", "after": "x"}, {"path": "sub/.GIT/x"}]))
    (step,) = steps(here)
    assert (step.coverage_reason, [each.path for each in step.changes]) == ("outside", [OddPath(outside=True)])


def test_a_file_that_grew_too_large_is_known_by_its_hash(here: Here, repo: Repo) -> None:
    repo.git("config", "pog.maxBlob", "1000")
    changes = [{"path": "README", "before": "a project\n", "after": "x" * 2000}, {"path": "new", "after": "x"}]
    begin = line("tool_start", paths=["README"], call_id="c")
    (here.cwd / "README").write_text("y" * 2000)
    here("record", stdin=begin * 2 + edit("README", call_id="c") + edit("x", changes=changes))
    same, grown = steps(here)
    assert (same.changes, same.coverage) == ((), "scoped")
    assert [each.path for each in grown.changes] == ["README", "new"]


def test_text_of_halves_of_characters_is_taken(here: Here) -> None:
    here("record", stdin=edit("x", changes=[{"path": "new", "after": "a\ud800b"}], output="\ud800"))
    (step,) = steps(here)
    assert [each.path for each in step.changes] == ["new"]
