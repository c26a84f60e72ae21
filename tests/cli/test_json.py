"""Contract tests of `--json` (case UC-26): one value on standard output, nothing else, as the reference shows it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pogstore.cli._manual import pages
from pogstore.cli._shapes import ERROR, SHAPES
from pogstore.cli._table import COMMANDS
from tests.cli.conftest import Here
from tests.cli.shapes import fits
from tests.conftest import Repo
from tests.interop.test_codex import Rollout
from tests.interop.test_gemini import transcript

SAMPLE = Path(__file__).parents[2] / "pogstore" / "cli" / "sample" / "session.jsonl"
ROOT = "/home/ada/tea"
BEFORE = SAMPLE.with_name("brew.py.txt")


def imported(here: Here) -> str:
    """Puts the sample session into a repository, with its files in the work tree; returns the task."""
    here("import", "claude-code", str(SAMPLE), "--root", ROOT)
    task = str(here("list", "--json").json[0]["task"])
    Repo(here.cwd).commit({"brew.py": BEFORE.read_bytes()}, "tea")
    Repo(here.cwd).git("apply", input=here("diff", task).stdout)
    return task


def event_on(here: Here, task: str, path: str) -> str:
    """Returns the last event of a task that changed a file."""
    events = here("log", task, "--json").json
    return next(str(event["id"]) for event in events if any(each["path"] == path for each in event.get("changes", ())))


@pytest.fixture
def answers(here: Here, tmp_path: Path) -> Mapping[str, list[Any]]:
    """What every verb answers to `--json`, some in more than one way."""
    found: dict[str, list[Any]] = {}

    def ask(command: str, *more: str, status: int = 0) -> Any:
        words = [*command.split(), *more]
        verb = words[: 2 if words[0] in ("import", "agent", "env") else 1]
        name = " ".join(verb)
        said = here(*verb, "--json", *words[len(verb) :], status=status)
        assert said.stderr == "", command
        value = json.loads(said.stdout)  # one value: json refuses a second
        assert said.stdout.endswith("\n")
        found.setdefault(name, []).append(value)
        return value

    remote = Repo(tmp_path / "remote.git")
    remote.path.mkdir()
    remote.git("init", "--quiet", "--bare")
    for command in ("init --dry-run", "init", "pause", "pause --resume", "agent list", "agent add claude-code",
                    "agent add --print claude-code", "agent test claude-code", "agent remove claude-code"):  # fmt: skip
        ask(command)
    for command in ("list", "log", "blame", "ready"):
        ask(command, status=1 if command in ("blame", "ready") else 0)
        assert found[command][-1] == []
    ask("import claude-code", str(SAMPLE), "--root", ROOT)
    for agent, said in (("codex", Rollout().prompt("x").transcript().lines), ("gemini", transcript().lines)):
        (tmp_path / f"{agent}.jsonl").write_bytes(b"".join(said))
        ask(f"import {agent}", str(tmp_path / f"{agent}.jsonl"))
    (tmp_path / "list").mkdir()
    ask("import pog-task", str(tmp_path))
    session = imported(here)
    event = event_on(here, session, "brew.py")
    base = ask("new", "base")["task"]
    ask("new", "a task", "--depends", base, "--item", "x", "--tag", "t", "--allow", "a", "--budget-tokens", "1",
        "--alias", "A-1", "--check", "c", "--estimate", "1", "--priority", "low", "--description", "d")  # fmt: skip
    lines = tmp_path / "lines"
    lines.write_text('{"event": "note", "text": "x"}\n')
    ask("record", "--task", base, str(lines))
    ask("record")
    story = (
        "start A-1", "run true", "note x", "decide x", "check 1", "review --approve", "block -m x", "move in_progress",
        "status",
        "show", "show --events", f"show {event}", "edit --tag y", "done -m x", "list --all", "list --status completed",
        "ready", "context A-1", "next", f"claim {base}", f"release {base}", "next --claim",
        f"share {base}", "local A-1", "local --list", "local --remove A-1",
        f"cancel {base}", "log", f"diff {event}", f"diff {base}", "blame HEAD~1..",
        "blame HEAD~1...HEAD --summary", "blame", "blame brew.py README",
        "blame HEAD -- brew.py", "why brew.py:4", "why brew.py:1-19", "trace A-1", f"trace {event}",
        f"points {session}", f"point v1 {event}", "points --all", "restore --dry-run v1", "restore v1", "restore v1^",
        "undo",
        "env show A-1", "env show now", "env diff A-1",
        f"trace {session}", "trace claude-code", "why brew.py:1",
        f"lineage {session}", f"lineage --up --depth 1 {event}", "lineage HEAD", "lineage --down brew.py:4",
        f"rollback --dry-run {event}", f"rollback {event}",
        "undo --dry-run", "undo", f"replay {event}", f"replay {event} --branch again",
        f"replay {event} --into {tmp_path}/out", "replay --exec --check {ran}", "replay --exec --yes {ran}",
        "verify", "gate", "gate HEAD..HEAD", "reindex", "version", "drain", "doctor", "help", "help new", "help import",
    )  # fmt: skip
    for command in story:
        ask(command.replace("{ran}", found["run"][0]["id"] if "run" in found else ""))
    for command in ("push --dry-run", "push", "push", "fetch", "pull"):
        ask(command, str(remote.path))
    return found


def test_every_answer_has_its_documented_shape(answers: Mapping[str, list[Any]]) -> None:
    wrong = {name: value for name, values in answers.items() for value in values if not fits(value, SHAPES[name])}
    assert wrong == {}
    assert SHAPES.keys() - answers.keys() == {"demo"}, "a verb was not asked"
    printing = {page.path for page in pages(COMMANDS) if "--json" in page.options}
    assert printing == set(SHAPES)


def test_what_the_design_promises(answers: Mapping[str, list[Any]]) -> None:
    """DESIGN section 11, word for word."""
    assert {"task", "title", "status"} <= answers["new"][0].keys()
    plain, with_events = answers["show"][:2]
    assert "events" not in plain
    assert [event["kind"] for event in with_events["events"]][:2] == ["defined", "claimed"]
    assert all({"task", "title", "status"} <= line.keys() for line in answers["list"][-1])
    assert all({"id", "kind", "clock", "time", "actor"} <= event.keys() for event in answers["log"][-1])
    blamed = answers["blame"][-1][0]
    assert blamed["path"] == "brew.py"
    assert {line["owner"] for line in blamed["lines"]} <= {"event", "observed", "commit", "unknown"}
    assert [line["line"] for line in blamed["lines"]] == list(range(1, len(blamed["lines"]) + 1))
    of_an_event = next(line for line in answers["blame"][-2][0]["lines"] if line["owner"] == "event")
    assert {"text", "event", "task", "actor"} <= of_an_event.keys()
    assert answers["verify"][-1]["ok"] is True
    assert answers["verify"][-1]["faults"] == []


@pytest.mark.parametrize(
    ("command", "status", "code", "retryable"),
    [
        ("show nothing", 128, "not-found", False),
        ("show --nothing", 129, "usage", False),
        ("nothing", 129, "usage", False),
        ("new", 129, "usage", False),
        ("done A", 1, "illegal-transition", False),
        ("blame nothing", 128, "not-found", False),
        ("rollback A", 128, "not-found", False),
        ("import claude-code nothing", 128, "bad-input", False),
        ("import pog-task nothing", 128, "bad-input", False),
        ("demo .", 128, "bad-input", False),
        ("-C nowhere list", 128, "bad-input", False),
        ("push nowhere", 128, "not-found", False),
    ],
)
def test_an_error_is_one_value_on_standard_error(
    here: Here, command: str, status: int, code: str, retryable: bool
) -> None:
    """Case UC-28: a missing id is an error object, never an empty answer."""
    here.task("a task", "--alias", "A")
    said = here(*command.split(), "--json", status=status)
    assert said.stdout == ""
    value = json.loads(said.stderr)
    assert fits(value, ERROR)
    assert (value["error"]["code"], value["error"]["retryable"]) == (code, retryable)
    assert "\n" not in said.stderr.rstrip("\n")


def test_json_is_not_asked_for_behind_the_dashes(here: Here) -> None:
    assert here("show", "--", "--json", status=128).stderr.startswith("error: no task or event matches '--json'")


def test_a_path_in_json_is_the_path_itself(here: Here) -> None:
    """Escaped as JSON escapes, and what is not UTF-8 as the format spells it."""
    repo = Repo(here.cwd)
    names = ["a b", "tab\t", "line\n", "esc\x1b", "ü", "\u202e"]
    repo.commit(dict.fromkeys(names, "x\n"))
    (repo.path / "byte\udcff").write_bytes(b"x\n")
    said = here("blame", "--json", "--", *names)
    assert [each["path"] for each in said.json] == names
    assert "\x1b" not in said.stdout
    assert "\u202e" not in said.stdout
    assert here("blame", "byte\udcff", "--json").json[0]["path"] == {"b64": "Ynl0Zf8="}
    assert here("why", "byte\udcff:1", "--json").json["path"] == {"b64": "Ynl0Zf8="}
