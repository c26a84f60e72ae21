"""Our hook goes into the settings of Claude Code and out again: nothing else changes, and no agent is ever held up."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.agents import command_line, settings_file, wiring
from pogstore.agents.claude_settings import AGENT, EVENTS, LATER_EVENTS, WIRING
from pogstore.agents.settings import append
from pogstore.agents.settings_file import Place, Plan, Scope, Verb, apply
from pogstore.agents.wiring import Installed
from pogstore.errors import BadInput, Conflict, NotAFile, RefusedByPolicy, WorkTreeFailed
from tests.agents.test_settings import parsed, settings_texts, settings_values, texts_of

LINE = command_line.line(AGENT)
plan = partial(wiring.plan, WIRING)
installed = partial(wiring.installed, WIRING)
settings_path = partial(wiring.settings_path, WIRING)
snippet = partial(wiring.snippet, WIRING)
NAME = "settings.json"
SCOPES: tuple[Scope, ...] = ("project", "local", "user")
TOOL_EVENTS = ["PreToolUse", "PostToolUse", "PostToolUseFailure"]
THEIRS = '{"hooks": [{"type": "command", "command": "notify-send done"}]}'
SETTINGS = """\
{
\t"$schema": "https://json.schemastore.org/claude-code-settings.json",
\t"model": "opus",
\t"env": { "CI": "1", "PÄTH": "\\u00e4" },
\t"permissions": {
\t\t"allow": ["Bash(npm run test:*)", "Read(~/.zshrc)"],
\t\t"deny":  ["Read(./.env)"]
\t},
\t"hooks": {
\t\t"PreToolUse": [
\t\t\t{
\t\t\t\t"matcher": "Bash",
\t\t\t\t"hooks": [{"type": "command", "command": "\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/guard.sh", "timeout": 5}]
\t\t\t}
\t\t],
\t\t"Stop": [],
\t\t"Notification": [{"hooks": [{"type": "command", "command": "notify-send 'Claude waits'"}]}]
\t},
\t"statusLine": {"type": "command", "command": "~/.claude/statusline.sh"}
}
"""
STYLES = {
    "tabs": SETTINGS,
    "two spaces": SETTINGS.replace("\t", "  "),
    "CRLF": SETTINGS.replace("\n", "\r\n"),
    "no final newline": SETTINGS.rstrip("\n"),
    "byte order mark": "\ufeff" + SETTINGS,
    "one line": json.dumps(json.loads(SETTINGS)),
    "minified": json.dumps(json.loads(SETTINGS), separators=(",", ":")),
    "empty": "",
    "blank": "\r\n\r\n",
    "empty object": "{}\n",
    "empty hooks": '{\n    "hooks": {\n    }\n}',
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "tree").mkdir()
    (tmp_path / "home").mkdir()
    return Place(tmp_path / "tree", tmp_path / "home")


def with_hooks(text: str | None, name: str, events: Sequence[str] = EVENTS) -> Any:
    return WIRING.shape.added(text, name, WIRING.calls(events), command_line.line)


def without_hooks(text: str | None, name: str) -> Any:
    return WIRING.shape.removed(text, name, WIRING.calls())


def written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def group(event: str) -> dict[str, Any]:
    hook = {"type": "command", "command": LINE, "timeout": 10}
    return {"matcher": "*", "hooks": [hook]} if event in TOOL_EVENTS else {"hooks": [hook]}


def with_ours(value: dict[str, Any]) -> dict[str, Any]:
    before = value.get("hooks", {})
    return {**value, "hooks": before | {event: [*before.get(event, []), group(event)] for event in EVENTS}}


def without_empty(value: dict[str, Any]) -> dict[str, Any]:
    """Returns settings without events that have no hook, and without hooks if there are none: they mean the same."""
    left = {event: groups for event, groups in value.get("hooks", {}).items() if groups}
    return {key: left if key == "hooks" else value[key] for key in value if key != "hooks" or left}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("scope", SCOPES)
def test_after_adding_and_removing_the_file_has_the_bytes_it_had(place: Place, scope: Scope, style: str) -> None:
    """UC-4, UC-23."""
    before = STYLES[style].encode()
    path = written(settings_path(scope, place), before)
    apply(plan(scope, place, "add"))
    assert parsed(path.read_bytes().decode()) == with_ours(parsed(STYLES[style]))
    apply(plan(scope, place, "remove"))
    assert path.read_bytes() == before
    assert [child.name for child in path.parent.iterdir()] == [path.name], "no backup, nothing temporary (UC-4)"


@pytest.mark.parametrize("scope", SCOPES)
def test_a_file_that_was_not_there_is_made_and_goes_again(place: Place, scope: Scope) -> None:
    path = settings_path(scope, place)
    apply(plan(scope, place, "remove"))
    assert not path.parent.exists()
    apply(plan(scope, place, "add"))
    assert path.read_text() == snippet()
    assert json.loads(snippet()) == with_ours({})
    apply(plan(scope, place, "remove"))
    assert not path.exists()


def test_a_plan_writes_nothing(place: Place) -> None:
    """UC-25: what would be written can be shown before anybody agrees to it."""
    wanted = plan("user", place, "add")
    assert wanted == Plan(
        place.home / ".claude/settings.json", place.home / ".claude/settings.json", None, wanted.after
    )
    assert wanted.after == snippet().encode()
    assert not list(place.home.iterdir())


def test_each_scope_has_its_file(tmp_path: Path) -> None:
    place = Place(tmp_path / "tree", tmp_path / "home")
    assert settings_path("project", place) == tmp_path / "tree/.claude/settings.json"
    assert settings_path("local", place) == tmp_path / "tree/.claude/settings.local.json"
    assert settings_path("user", place) == tmp_path / "home/.claude/settings.json"
    assert settings_path("user", place._replace(config_dir=tmp_path / "conf")) == tmp_path / "conf/settings.json"


@given(settings_texts())
def test_any_settings_take_the_hook_and_give_it_back_byte_for_byte(text: str | None) -> None:
    added = with_hooks(text, NAME)
    assert parsed(added) == with_ours(parsed(text))
    assert with_hooks(added, NAME) == added, "to add twice is to add once (UC-4)"
    assert without_hooks(added, NAME) == text
    assert without_hooks(text, NAME) == text, "nothing is removed that was not added"


@given(settings_texts(), st.sampled_from(EVENTS), st.data())
def test_what_others_add_in_between_survives(text: str | None, event: str, data: st.DataObject) -> None:
    added = append(with_hooks(text, NAME), ("hooks", event), THEIRS, NAME)
    added = append(added, ("permissions", "allow"), '"Read"', NAME) if "permissions" not in parsed(added) else added
    expected = json.loads(added.removeprefix("\ufeff"))
    for name in EVENTS:
        expected["hooks"][name].remove(group(name))
    assert without_empty(parsed(without_hooks(added, NAME))) == without_empty(expected)
    assert json.loads(THEIRS) in parsed(without_hooks(added, NAME))["hooks"][event]


@given(settings_texts(), st.sampled_from([None, 1, 2, "\t"]))
def test_settings_that_a_program_wrote_anew_lose_our_hook_and_nothing_else(text: str | None, indent: Any) -> None:
    anew = json.dumps(parsed(with_hooks(text, NAME)), indent=indent, ensure_ascii=False)
    assert with_hooks(anew, NAME) == anew
    left = without_hooks(anew, NAME)
    assert left is not None
    assert without_empty(parsed(left)) == without_empty(parsed(text))


@given(settings_values().flatmap(texts_of), st.permutations(EVENTS))
def test_hooks_that_were_added_in_another_order_come_out_as_well(text: str, order: list[str]) -> None:
    assert without_hooks(with_hooks(text, NAME, order), NAME) == text


def test_an_older_set_of_events_is_made_complete_and_any_set_is_removed(place: Place) -> None:
    path = written(settings_path("project", place), SETTINGS.encode())
    apply(plan("project", place, "add", events=("Stop", "PreToolUse")))
    apply(plan("project", place, "add", events=(*EVENTS, *LATER_EVENTS)))
    assert sorted(hook.event for hook in installed("project", place)) == sorted((*EVENTS, *LATER_EVENTS))
    apply(plan("project", place, "remove"))
    assert path.read_text() == SETTINGS


def test_each_hook_is_told_with_its_matcher_and_its_line(place: Place) -> None:
    assert installed("local", place) == []
    apply(plan("local", place, "add"))
    assert installed("local", place) == [
        Installed(event, "*" if event in TOOL_EVENTS else None, LINE, exact=True) for event in EVENTS
    ]
    assert installed("project", place) == []


def test_a_line_that_somebody_changed_is_told_and_neither_doubled_nor_removed(place: Place) -> None:
    """T21: who compares what is installed with what should be sees the change."""
    text = snippet().replace(json.dumps(LINE)[1:-1], f"nice {json.dumps(LINE)[1:-1]}", 1)
    path = written(settings_path("project", place), text.encode())
    apply(plan("project", place, "add"))
    assert path.read_text() == text
    assert [hook.event for hook in installed("project", place) if not hook.exact] == ["SessionStart"]
    apply(plan("project", place, "remove"))
    assert installed("project", place) == [Installed("SessionStart", None, f"nice {LINE}", exact=False)]


def test_a_hook_of_ours_in_a_group_of_others_goes_without_them() -> None:
    ours = {"type": "command", "command": LINE, "timeout": 3}
    theirs = {"type": "command", "command": "guard"}
    settings = {"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [theirs, ours, ours]}, {"hooks": [ours, ours]}]}}
    left = without_hooks(json.dumps(settings, indent=4), NAME)
    assert parsed(left) == {"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [theirs]}]}}


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks": {"Stop": null}}',
        '{"hooks": {"Stop": [1, {"hooks": 2}, {"hooks": [3, {"type": "command"}]}]}}',
        '{"hooks": []}',
        "[]",
        json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "prompt", "command": LINE}]}]}}),
        json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "git pog hook codex"}]}]}}),
    ],
)
def test_what_is_no_hook_of_ours_is_passed_over(text: str) -> None:
    assert without_hooks(text, NAME) == text


@pytest.mark.parametrize("text", ['{"hooks": {"Stop": {}}}', '{"hooks": null}', '{"a": 1,}', "// mine\n{}", "[]"])
def test_settings_that_cannot_be_edited_are_left_as_they_are(place: Place, text: str) -> None:
    path = written(settings_path("project", place), text.encode())
    with pytest.raises(BadInput) as caught:
        plan("project", place, "add")
    assert caught.value.where.startswith(f"{path}, line 1, column ")
    assert path.read_text() == text


def test_settings_in_another_encoding_are_refused(place: Place) -> None:
    written(settings_path("project", place), SETTINGS.encode("utf-16"))
    with pytest.raises(BadInput, match="not UTF-8"):
        plan("project", place, "add")
    with pytest.raises(BadInput, match="not UTF-8"):
        installed("project", place)


@pytest.mark.parametrize("before", [SETTINGS.encode(), None], ids=["there", "missing"])
def test_a_link_stays_and_its_target_is_written(place: Place, tmp_path: Path, before: bytes | None) -> None:
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    if before is not None:
        target.write_bytes(before)
    path = settings_path("user", place)
    path.parent.mkdir()
    path.symlink_to(os.path.relpath(target, path.parent))
    wanted = plan("user", place, "add")
    assert (wanted.path, wanted.target) == (path, target.resolve())
    apply(wanted)
    assert path.is_symlink()
    assert len(installed("user", place)) == len(EVENTS)
    apply(plan("user", place, "remove"))
    assert path.is_symlink()
    assert (target.read_bytes() if target.exists() else None) == before
    assert [child.name for child in path.parent.iterdir()] == [path.name]


def test_a_link_into_nowhere_or_in_a_circle_is_refused(place: Place) -> None:
    path = settings_path("project", place)
    path.parent.mkdir()
    path.symlink_to("gone/settings.json")
    with pytest.raises(WorkTreeFailed):
        apply(plan("project", place, "add"))
    assert not (path.parent / "gone").exists()
    path.unlink()
    path.symlink_to(path.name)
    with pytest.raises(WorkTreeFailed):
        plan("project", place, "add")


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_permissions_are_kept(place: Place, mode: int) -> None:
    path = written(settings_path("user", place), SETTINGS.encode())
    path.chmod(mode)
    apply(plan("user", place, "add"), fsync=False)
    assert path.stat().st_mode & 0o7777 == mode


def test_new_settings_have_the_permissions_that_the_umask_leaves(place: Place) -> None:
    before = os.umask(0o027)
    try:
        apply(plan("user", place, "add"))
    finally:
        os.umask(before)
    assert settings_path("user", place).stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is write-protected for root")
def test_a_write_protected_file_is_not_replaced(place: Place) -> None:
    path = written(settings_path("project", place), SETTINGS.encode())
    path.chmod(0o444)
    with pytest.raises(WorkTreeFailed, match="Permission denied"):
        apply(plan("project", place, "add"))
    assert path.read_text() == SETTINGS
    assert [child.name for child in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("verb", ["add", "remove"])
def test_a_file_that_changed_meanwhile_is_not_written(place: Place, verb: Verb) -> None:
    path = written(settings_path("project", place), (with_hooks(SETTINGS, NAME, ["Stop"]) or "").encode())
    wanted = plan("project", place, verb)
    path.write_text("{}")
    with pytest.raises(Conflict, match="changed since it was read"):
        apply(wanted)
    path.unlink()
    with pytest.raises(Conflict):
        apply(wanted)
    (path.parent / "other.json").write_bytes(wanted.before or b"")
    path.symlink_to("other.json")
    with pytest.raises(Conflict):
        apply(wanted)
    assert (path.parent / "other.json").read_bytes() == wanted.before
    assert len(list(path.parent.iterdir())) == 2


def test_a_file_that_appeared_meanwhile_is_not_overwritten(place: Place) -> None:
    wanted = plan("project", place, "add")
    path = written(settings_path("project", place), b"{}")
    with pytest.raises(Conflict):
        apply(wanted)
    assert path.read_bytes() == b"{}"


def test_a_change_at_the_last_moment_is_seen_and_leaves_nothing_behind(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(settings_path("project", place), SETTINGS.encode())
    write = settings_file._write

    def slow(*args: Any) -> None:
        write(*args)
        path.write_text("{}")

    monkeypatch.setattr(settings_file, "_write", slow)
    with pytest.raises(Conflict):
        apply(plan("project", place, "add"))
    assert path.read_text() == "{}"
    assert [child.name for child in path.parent.iterdir()] == [path.name]


def test_what_is_no_file_is_refused_at_once(place: Place) -> None:
    path = settings_path("project", place)
    path.mkdir(parents=True)
    with pytest.raises(NotAFile, match="is a directory"):
        plan("project", place, "add")
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(NotAFile, match="is a special file"):
        plan("project", place, "add")
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("")
    with pytest.raises(WorkTreeFailed):
        plan("project", place, "add")


def test_the_line_is_the_same_in_all_versions() -> None:
    """UC-44: an agent that trusts a hook by its text would skip a changed one. Not to be changed after a release."""
    assert LINE == ("PATH=$PATH:$HOME/.local/bin git -c help.autocorrect=0 pog hook claude-code 2>/dev/null || true")
    assert snippet().splitlines()[2] == (
        '    "SessionStart": [{"hooks": [{"type": "command", "command": '
        '"PATH=$PATH:$HOME/.local/bin git -c help.autocorrect=0 pog hook claude-code 2>/dev/null || true", '
        '"timeout": 10}]}],'
    )


def test_no_event_is_asked_for_whose_hook_must_answer() -> None:
    assert not {"WorktreeCreate", "WorktreeRemove"} & {*EVENTS, *LATER_EVENTS}
    assert not set(EVENTS) & set(LATER_EVENTS)


SHELLS = [shell for name in ("sh", "dash", "bash", "zsh", "busybox") if (shell := shutil.which(name))]


@pytest.fixture
def git_alone(tmp_path: Path) -> Path:
    """A folder for the `PATH` that holds git, and not git-pog."""
    git = shutil.which("git")
    assert git
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(git)
    return tmp_path / "bin"


def fake_pog(folder: Path, status: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "git-pog").write_text(f'#!/bin/sh\nread -r line\necho "$line" "$@"\necho noise >&2\nexit {status}\n')
    (folder / "git-pog").chmod(0o755)


def run_line(shell: str, path: Path, home: Path, cwd: Path, line: str = LINE) -> tuple[int, str, str]:
    command = [shell, *(["sh"] if shell.endswith("busybox") else []), "-c", line]
    environment = {"PATH": str(path), "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, input="payload\n", capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("autocorrect", ["", "1", "immediate"])
def test_without_git_pog_the_line_prints_nothing_and_succeeds(
    git_alone: Path, tmp_path: Path, shell: str, autocorrect: str
) -> None:
    """UC-43: git told to correct would run `git log`, and its output would become part of the prompt."""
    if autocorrect:
        (tmp_path / ".gitconfig").write_text(f"[help]\n\tautocorrect = {autocorrect}\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name in ("hook", "claude-code"):
        written(tmp_path / name, b"")
    subprocess.run(["git", "add", "hook", "claude-code"], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-qm", "what git log would print"], cwd=tmp_path, check=True)
    assert run_line(shell, git_alone, tmp_path, tmp_path) == (0, "", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_without_git_the_line_prints_nothing_and_succeeds(tmp_path: Path, shell: str) -> None:
    assert run_line(shell, tmp_path / "nowhere", tmp_path, tmp_path) == (0, "", "")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("status", [0, 1, 2, 128])
def test_the_line_hands_the_payload_over_and_the_answer_back_and_never_blocks(
    git_alone: Path, tmp_path: Path, shell: str, status: int
) -> None:
    fake_pog(git_alone, status)
    assert run_line(shell, git_alone, tmp_path, tmp_path) == (0, "payload hook claude-code\n", "")


def test_git_pog_is_found_by_path_first_and_then_among_the_programs_of_the_person(
    git_alone: Path, tmp_path: Path
) -> None:
    """UC-7, UC-71: no interpreter and no place is written into the settings."""
    home = tmp_path / "a home"
    fake_pog(home / ".local" / "bin", 0)
    shell = SHELLS[0]
    assert run_line(shell, git_alone, home, tmp_path) == (0, "payload hook claude-code\n", "")
    (git_alone / "git-pog").write_text("#!/bin/sh\necho first\n")
    (git_alone / "git-pog").chmod(0o755)
    assert run_line(shell, git_alone, home, tmp_path) == (0, "first\n", "")


@pytest.mark.parametrize("scope", ["project", "local"])
@pytest.mark.parametrize("link", ["settings", "folder"])
@pytest.mark.parametrize("exists", [True, False])
def test_a_repository_does_not_lead_us_out_of_it(
    place: Place, tmp_path: Path, scope: Scope, link: str, exists: bool
) -> None:
    """A clone may hold links; what they lead to, in the home of a person say, is not the repository's to change."""
    path = settings_path(scope, place)
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / path.name
    if exists:
        target.write_text(SETTINGS)
    if link == "folder":
        path.parent.symlink_to(outside)
    else:
        path.parent.mkdir()
        path.symlink_to(target)
    for verb in ("add", "remove"):
        with pytest.raises(RefusedByPolicy, match="leads out of the work tree"):
            plan(scope, place, verb)
    assert (target.read_text() if target.exists() else None) == (SETTINGS if exists else None)
    assert installed(scope, place) == []


@pytest.mark.parametrize("scope", ["project", "local"])
def test_a_link_inside_the_repository_is_followed(place: Place, scope: Scope) -> None:
    path = settings_path(scope, place)
    path.parent.mkdir()
    written(place.work_tree / "config" / "claude.json", SETTINGS.encode())
    path.symlink_to("../config/claude.json")
    apply(plan(scope, place, "add"))
    assert len(installed(scope, place)) == len(EVENTS)
    apply(plan(scope, place, "remove"))
    assert path.is_symlink()
    assert path.read_text() == SETTINGS


@pytest.mark.parametrize("scope", SCOPES)
def test_settings_of_any_size_are_no_settings(place: Place, scope: Scope) -> None:
    path = settings_path(scope, place)
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a terabyte, of which the disk holds nothing
    with pytest.raises(BadInput, match="larger than 4 MiB"):
        plan(scope, place, "add")
    with pytest.raises(BadInput, match="larger than 4 MiB"):
        installed(scope, place)
    assert path.stat().st_size == 1 << 40


def test_settings_just_below_that_are(place: Place) -> None:
    before = json.dumps({"permissions": {"allow": ["Bash(npm run x:*)"] * 40_000}}).encode()
    path = written(settings_path("user", place), before)
    apply(plan("user", place, "add"))
    apply(plan("user", place, "remove"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("scope", SCOPES)
def test_unreadable_settings_are_refused(place: Place, scope: Scope) -> None:
    """As whoever runs the test, if that is not root; root becomes nobody for a moment."""
    path = written(settings_path(scope, place), SETTINGS.encode())
    path.chmod(0)
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(WorkTreeFailed, match="Permission denied"):
            plan(scope, place, "add")
    finally:
        os.seteuid(before)
    path.chmod(0o600)
    assert path.read_text() == SETTINGS


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks": {"Stop": []}, "model": "x", "hooks": {"Stop": [%s]}}',
        '{"hooks": {"Stop": [%s], "Stop": []}}',
        '{"hooks": null, "hooks": {}}',
        '\ufeff{"hooks": {}, "hooks": {"Stop": [%s], "Stop": [%s]}}\r\n',
    ],
)
def test_keys_that_stand_twice(place: Place, text: str) -> None:
    """The last one counts for the agent, so ours goes there; the others keep their bytes."""
    before = text.replace("%s", THEIRS).encode()
    path = written(settings_path("project", place), before)
    apply(plan("project", place, "add"))
    assert {hook["hooks"][0]["command"] for hook in parsed(path.read_text("utf-8"))["hooks"]["Stop"]} >= {LINE}
    assert {each.event for each in installed("project", place)} == set(EVENTS)
    apply(plan("project", place, "remove"))
    assert path.read_bytes() == before


DIRECT = command_line.direct_line(AGENT, Path("/o'p $HOME/python3"), Path("/o'p $HOME/bin"))


@pytest.mark.parametrize("style", STYLES)
def test_a_line_that_names_an_interpreter_goes_in_and_out_alike(place: Place, style: str) -> None:
    before = STYLES[style].encode()
    path = written(settings_path("user", place), before)
    apply(plan("user", place, "add", spell=lambda _: DIRECT))
    assert {(each.command, each.exact) for each in installed("user", place)} == {(DIRECT, True)}
    assert plan("user", place, "add").after == plan("user", place, "add").before, "one line is enough"
    apply(plan("user", place, "remove"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_line_that_names_an_interpreter_is_one_for_every_shell(tmp_path: Path, shell: str) -> None:
    folder = tmp_path / "it's $HOME; here"
    folder.mkdir()
    python = folder / "python3"
    python.write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 2\n')
    python.chmod(0o755)
    line = command_line.direct_line(AGENT, python, folder)
    done = subprocess.run([shell, "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"-P|{folder}/git-pog|hook|claude-code|")
    assert command_line.programs(line, AGENT) == [python, folder / "git-pog"]
    python.unlink()
    done = subprocess.run([shell, "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_programs_a_line_names() -> None:
    assert command_line.programs(LINE, AGENT) == []
    assert command_line.programs("/v/bin/python -m x; '/a b/git-pog' hook # /c/git-pog", AGENT) == [
        Path("/v/bin/python"), Path("/a b/git-pog"),
    ]  # fmt: skip
    assert command_line.programs("'", AGENT) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_line_with_a_place_looks_there_last(git_alone: Path, tmp_path: Path, shell: str) -> None:
    """UC-71: it names no interpreter, and any other git-pog stands in for one that is gone."""
    folder = tmp_path / "it's $HOME; here"
    line = command_line.placed_line(AGENT, folder)
    assert command_line.place_in(line, AGENT) == folder
    assert command_line.place_in(LINE, AGENT) is None
    assert run_line(shell, git_alone, tmp_path, tmp_path, line) == (0, "", "")
    fake_pog(folder, 0)
    assert run_line(shell, git_alone, tmp_path, tmp_path, line) == (0, "payload hook claude-code\n", "")
    shutil.rmtree(folder)
    fake_pog(tmp_path / ".local" / "bin", 0)
    assert run_line(shell, git_alone, tmp_path, tmp_path, line) == (0, "payload hook claude-code\n", "")


def test_a_line_with_a_place_is_ours(tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path)
    line = command_line.placed_line(AGENT, Path("/my venv/bin"))
    apply(plan("user", place, "add", spell=lambda _: line))
    assert {(each.command, each.exact) for each in installed("user", place)} == {(line, True)}
    assert plan("user", place, "add").after == plan("user", place, "add").before, "one line is enough"
    apply(plan("user", place, "remove"))
    assert not settings_path("user", place).exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_where_the_interpreter_is_gone_any_other_git_pog_does_it(git_alone: Path, tmp_path: Path, shell: str) -> None:
    """UC-71."""
    line = command_line.direct_line(AGENT, tmp_path / "gone" / "python", tmp_path / "gone")
    fake_pog(tmp_path / ".local" / "bin", 0)
    assert run_line(shell, git_alone, tmp_path, tmp_path, line) == (0, "payload hook claude-code\n", "")
