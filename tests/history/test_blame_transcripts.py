"""Blame of real transcripts, line by line, against an expectation that git alone makes: a commit for each edit."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.builders_claude import Script
from tests.conftest import Pog, Repo
from tests.interop.claude import real

NAMES = ("edits-and-shell", "edits-three-files", "edits-two-files", "subagent-and-plan")


class Edit(NamedTuple):
    """One successful edit of a file below the session's directory, as the transcript tells it."""

    call: str
    path: str
    before: str | None
    after: str


def edits(transcript: Path) -> list[Edit]:
    """Reads the edits with plain JSON: before and after from `originalFile` and the strings."""
    return list(_edits([json.loads(line) for line in transcript.read_text("utf-8").splitlines()]))


def _edits(entries: list[dict[str, object]]) -> Iterator[Edit]:
    root = next(str(entry["cwd"]) for entry in entries if entry.get("cwd")) + "/"
    for entry in entries:
        outcome, message = entry.get("toolUseResult"), entry.get("message")
        if not isinstance(outcome, dict) or not isinstance(message, dict):
            continue
        name = str(outcome.get("filePath", ""))
        if not name.startswith(root):
            continue
        call = message["content"][0]["tool_use_id"]
        before = outcome.get("originalFile")
        if "newString" in outcome:
            assert isinstance(before, str)
            count = -1 if outcome.get("replaceAll") else 1
            after = before.replace(outcome["oldString"], outcome["newString"], count)
            yield Edit(call, name.removeprefix(root), before, after)
        elif "content" in outcome:
            yield Edit(call, name.removeprefix(root), before, outcome["content"])


def expected(make_repo: Callable[..., Repo], told: list[Edit]) -> dict[str, list[str]]:
    """Plays the edits as commits and returns what `git blame` says of each line: a call, `gap` or `base`."""
    repo = make_repo("expected", commit=False)
    now: dict[str, str] = {}
    for edit in told:
        if edit.path not in now and edit.before is not None:
            repo.commit({edit.path: edit.before}, "base")
        elif edit.before is not None and now[edit.path] != edit.before:
            repo.commit({edit.path: edit.before}, "gap")
        repo.commit({edit.path: edit.after}, edit.call)
        now[edit.path] = edit.after
    subjects = dict(line.split(" ", 1) for line in repo.git("log", "--format=%H %s").splitlines())
    found = {}
    for path in now:
        heads = [line.split(" ") for line in repo.git("blame", "--porcelain", "--", path).split("\n")]
        found[path] = [subjects[words[0]] for words in heads if len(words[0]) == 40 and len(words) in (3, 4)]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_line_has_the_owner_that_git_finds(
    name: str, make_repo: Callable[..., Repo], pog: Pog, repo: Repo
) -> None:
    """Each line of each touched file: the same call, gap or base as git's blame of the same edits made as commits."""
    transcript = next((path for path in real() if path.stem == name), None)
    assert transcript is not None
    told = edits(transcript)
    first: dict[str, str | None] = {}
    last: dict[str, str] = {}
    for edit in told:
        first.setdefault(edit.path, edit.before)
        last[edit.path] = edit.after
    repo.commit({path: text for path, text in first.items() if text is not None}, "base")
    pog.init()
    pog("import", "claude-code", str(transcript))
    for path, text in last.items():
        (repo.path / path).parent.mkdir(parents=True, exist_ok=True)
        (repo.path / path).write_text(text, "utf-8", newline="")
    wanted = expected(make_repo, told)
    calls = {event["id"]: event.get("call_id", "gap") for event in pog("log", "--json").json}
    for path in last:
        (file,) = pog("blame", "--json", path).json
        found = [calls[line["event"]] if "event" in line else "base" for line in file["lines"]]
        assert found == wanted[path], f"{name}: {path}"


def test_the_real_transcripts_hold_what_the_test_thinks() -> None:
    """31 edits below the sessions' directories in four files, so that the comparison above compares something."""
    assert sum(len(edits(path)) for path in real()) == 31


def test_a_sub_agent_repeated_lines_and_three_owners(
    tmp_path: Path, make_repo: Callable[..., Repo], pog: Pog, repo: Repo
) -> None:
    """A fixture of our own: an agent, its sub-agent and a person in one file of blank and repeated lines."""
    base = "start\n\n\nx = 1\n\n\nend\n"
    one = base.replace("x = 1\n", "x = 1\n\n\nx = 1\n\n\n")
    typed = one.replace("start\n", "start\n\na person's line\n\n")
    two = typed.replace("end\n", "x = 1\n\nend\n\n\n")
    three = two.replace("a person's line\n", "a person's line\n\nfrom the sub-agent\n")
    main, helper = Script(), Script(agent_id="a1b2c3d", minute=2)
    main.prompt("Repeat yourself")
    calls = [main.edit("lines.txt", base, "x = 1\n", "x = 1\n\n\nx = 1\n\n\n")]
    calls.append(main.edit("lines.txt", typed, "end\n", "x = 1\n\nend\n\n\n"))
    calls.append(helper.edit("lines.txt", two, "a person's line\n", "a person's line\n\nfrom the sub-agent\n"))
    for name, script in (("main", main), ("agent-a1b2c3d", helper)):
        (tmp_path / f"{name}.jsonl").write_text(script.text(), "utf-8")
    repo.commit({"lines.txt": base}, "base")
    pog.init()
    pog("import", "claude-code", str(tmp_path / "main.jsonl"), str(tmp_path / "agent-a1b2c3d.jsonl"))
    (repo.path / "lines.txt").write_text(three, "utf-8")
    steps = [(base, one), (typed, two), (two, three)]
    told = [Edit(call, "lines.txt", before, after) for call, (before, after) in zip(calls, steps, strict=True)]
    wanted = expected(make_repo, told)["lines.txt"]
    assert set(wanted) == {"base", "gap", *calls}, "all owners are there"
    owners = {event["id"]: event.get("call_id", "gap") for event in pog("log", "--json").json}
    (file,) = pog("blame", "--json", "lines.txt").json
    assert [owners[line["event"]] if "event" in line else "base" for line in file["lines"]] == wanted
    agents = {
        event["call_id"]: event["actor"].get("agent_id") for event in pog("log", "--json", "--kind", "stepped").json
    }
    assert agents == {calls[0]: None, calls[1]: None, calls[2]: "a1b2c3d"}
