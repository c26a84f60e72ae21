"""A session of each agent through the installed command: the expected events, and the expected owner of each line."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from pogstore.draft import session_task_id
from tests.agents.voices import ADDED, MADE, NEW, PROMPT, SESSION, VOICES, Player, Voice, play
from tests.conftest import Pog, Repo


@pytest.fixture(scope="module", params=VOICES)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Player, Repo]:
    repo = Repo(tmp_path_factory.mktemp(request.param) / "repo")
    return play(repo, VOICES[request.param]), repo


@pytest.fixture
def played(session: tuple[Player, Repo]) -> tuple[Voice, Repo]:
    return session[0].voice, session[1]


def logged(repo: Repo) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Pog(repo.path)("log", "--json").json
    return list(reversed(found))


def steps(repo: Repo) -> list[dict[str, Any]]:
    return [event for event in logged(repo) if event["kind"] == "stepped"]


def test_every_step_is_told_once_with_its_class_and_its_coverage(played: tuple[Voice, Repo]) -> None:
    voice, repo = played
    found = [(step["class"], step.get("ok"), step.get("coverage")) for step in steps(repo)]
    failed = {True: False, False: None}[voice.failed is not None]
    assert sorted(found, key=str) == sorted(
        [
            ("edit", True, "scoped"),
            ("edit", True, "scoped"),
            ("shell", True, "shared"),
            ("edit", failed, "partial" if failed is None else "scoped"),
        ],
        key=str,
    )
    assert {step["actor"]["name"] for step in steps(repo)} == {voice.agent}
    if voice.agent in ("codex", "cursor", "opencode"):
        assert all(step["actor"]["model"] for step in steps(repo)), "the others do not say it"
    assert {step["task"] for step in steps(repo)} == {session_task_id(voice.agent, SESSION)}


def test_the_session_is_a_task_with_the_prompt_for_its_intent(played: tuple[Voice, Repo]) -> None:
    voice, repo = played
    shown = Pog(repo.path)("show", "--json", session_task_id(voice.agent, SESSION)).json
    assert shown["title"] == PROMPT
    assert shown["status"] == ("in_review" if voice.end else "in_progress")
    assert [event["kind"] for event in logged(repo)].count("prompted") == 1


def test_what_a_person_wrote_in_between_is_observed(played: tuple[Voice, Repo]) -> None:
    _, repo = played
    (observed,) = [event for event in logged(repo) if event["kind"] == "observed"]
    assert observed["actor"] == {"type": "unknown"}
    assert [change["path"] for change in observed["changes"]] == ["app.py"]


def test_each_line_has_its_owner(played: tuple[Voice, Repo]) -> None:
    _, repo = played
    pog = Pog(repo.path)
    by_id = {event["id"]: event for event in logged(repo)}
    owners = {}
    for name in ("app.py", "made.txt"):
        [found] = pog("blame", "--json", name).json
        for line in found["lines"]:
            event = by_id.get(line.get("event", ""), {})
            owners[line["text"]] = event.get("class", line["owner"])
    base = {f"line {n} of the base": "commit" for n in range(1, 9) if n != 5}
    wanted = base | {NEW.splitlines()[0]: "edit", ADDED.strip(): "observed", MADE.strip(): "edit"}
    assert owners == wanted | {"line 5 rewritten by the shell": "shell"}
    assert pog("verify").status == 0


def test_a_session_that_is_resumed_goes_on_in_its_task(session: tuple[Player, Repo], tmp_path: Path) -> None:
    """In a copy: the others look at the session as it was."""
    first, repo = session
    again = Repo(tmp_path / "repo")
    shutil.copytree(repo.path, again.path, symlinks=True)
    voice, player = first.voice, Player(again.path, first.voice)
    player.now, player.calls = first.now, first.calls
    player.tell(voice.start, {"source": "resume"})
    player.tell(voice.prompt, {"prompt": "Go on"})
    made = again.path / "made.txt"
    player.call(voice.write(again.path), lambda: made.write_text(f"{MADE}again\n"), voice.after)
    player.tell(voice.stop)
    task = session_task_id(voice.agent, SESSION)
    found = logged(again)
    assert {event["task"] for event in found} == {task}
    assert [event["kind"] for event in found].count("prompted") == 2
    assert [event["kind"] for event in found].count("defined") == 1
    shown = Pog(again.path)("show", "--json", task).json
    assert (shown["title"], shown["status"]) == (PROMPT, "in_progress")
    [blamed] = Pog(again.path)("blame", "--json", "made.txt").json
    assert {line["owner"] for line in blamed["lines"]} <= {"event", "observed"}
    assert blamed["lines"][0]["owner"] == "event"
