"""Our hooks go into the settings of each agent and out again: nothing else changes, and the line stays the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from pogstore.agents import command_line, wiring
from pogstore.agents.dialect import DIALECTS
from pogstore.agents.refusal import REFUSALS
from pogstore.agents.rehearsal import REHEARSALS
from pogstore.agents.settings_file import Place, Scope, apply
from pogstore.agents.wiring import JsonHooks, Wiring
from pogstore.cli._installed import WIRINGS
from pogstore.cli.hook import AGENTS
from pogstore.digest import hexdigest
from pogstore.errors import BadInput
from tests.agents.test_claude_settings import without_empty
from tests.agents.test_settings import parsed, settings_texts

WIRED = list(WIRINGS.values())
JSON = [each for each in WIRED if isinstance(each.shape, JsonHooks)]
SCOPES: tuple[Scope, ...] = ("project", "local", "user")
FOREIGN = {
    "codex": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./notify", "timeout": 5}]}]}, "x": 1.5}\n',
    "gemini": (
        '{\n  "theme": "x",\n  "hooks": {"BeforeTool": [{"matcher": "write_.*", "sequential": true, "hooks": '
        '[{"type": "command", "command": "guard", "timeout": 500}]}]}\n}'
    ),
    "cursor": '{\n  "version": 1,\n  "hooks": {"afterFileEdit": [{"command": "./format.sh"}], "stop": []}\n}\n',
    "copilot": '{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"./guard.sh","env":{"A":"b"}}]}}',
}
"""What somebody else may have there."""
named = pytest.mark.parametrize("wired", WIRED, ids=lambda each: each.agent)
in_json = pytest.mark.parametrize("wired", JSON, ids=lambda each: each.agent)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "tree").mkdir()
    return Place(tmp_path / "tree", tmp_path / "home")


def added(wired: Wiring, text: str | None) -> str | None:
    return wired.shape.added(text, "settings", wired.calls(), command_line.line)


def removed(wired: Wiring, text: str | None) -> str | None:
    return wired.shape.removed(text, "settings", wired.calls())


def test_every_agent_is_in_every_table() -> None:
    """An agent that is heard can be told to call us, tried, and refused."""
    heard = set(DIALECTS) - {"generic"}
    assert set(WIRINGS) == heard == set(REHEARSALS) == set(AGENTS) == set(REFUSALS) & heard


@named
@pytest.mark.parametrize("scope", SCOPES)
def test_a_file_that_was_not_there_is_made_and_goes_again(wired: Wiring, place: Place, scope: Scope) -> None:
    path = wiring.settings_path(wired, scope, place)
    apply(wiring.plan(wired, scope, place, "add"))
    assert path.read_text() == wiring.snippet(wired)
    assert [hook.event for hook in wiring.installed(wired, scope, place)] == list(wired.events)
    assert all(hook.exact for hook in wiring.installed(wired, scope, place))
    again = wiring.plan(wired, scope, place, "add")
    assert again.after == again.before
    apply(wiring.plan(wired, scope, place, "remove"))
    assert not path.exists()


@named
def test_the_agent_s_own_variable_says_where_a_person_s_settings_are(wired: Wiring, place: Place) -> None:
    elsewhere = place._replace(config_dir=place.home / "elsewhere")
    assert wiring.settings_path(wired, "user", elsewhere).is_relative_to(place.home / "elsewhere")
    assert wiring.settings_path(wired, "user", place).is_relative_to(place.home / wired.home)
    assert wiring.settings_path(wired, "project", elsewhere).is_relative_to(place.work_tree)


@in_json
@given(settings_texts())
def test_any_settings_take_the_hooks_and_give_them_back_byte_for_byte(wired: Wiring, text: str | None) -> None:
    """UC-4, UC-23."""
    with_ours = added(wired, text)
    assert added(wired, with_ours) == with_ours
    assert removed(wired, with_ours) == text
    assert removed(wired, text) == text
    before = parsed(text).get("hooks", {})
    now = parsed(with_ours)["hooks"]
    assert {event: now[event][: len(before.get(event, []))] for event in before} == before


@in_json
@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_what_a_program_wrote_anew_loses_our_hooks_and_nothing_else(wired: Wiring, indent: Any) -> None:
    text = FOREIGN.get(wired.agent, '{"hooks": {}}')
    anew = json.dumps(parsed(added(wired, text)), indent=indent)
    assert added(wired, anew) == anew
    left, wanted = without_empty(parsed(removed(wired, anew))), without_empty(parsed(text))
    assert left | {"version": 1} == wanted | {"version": 1}


@named
@pytest.mark.parametrize("verb", ["add", "remove"])
def test_a_foreign_file_keeps_its_bytes(wired: Wiring, verb: str) -> None:
    text = FOREIGN.get(wired.agent)
    assert removed(wired, added(wired, text) if verb == "add" else text) == text


@in_json
def test_a_line_that_somebody_changed_is_theirs(wired: Wiring) -> None:
    text = added(wired, None) or ""
    line = json.dumps(command_line.line(next(iter(wired.calls().values()))))[1:-1]
    changed = text.replace(line, f"nice {line}", 1)
    assert added(wired, changed) == changed
    left = wired.shape.found(removed(wired, changed), "settings", wired.calls())
    assert [(hook.exact, hook.command.startswith("nice ")) for hook in left] == [(False, True)]


@in_json
def test_the_hooks_of_another_agent_are_not_ours(wired: Wiring) -> None:
    """`pog hook codex` is no hook of an agent whose name begins alike, or of any other."""
    for other in (*(set(WIRINGS) - {wired.agent}), f"{wired.agent}-2"):
        line = command_line.line(other)
        assert not command_line.is_ours(line, wired.agent)


@named
@pytest.mark.parametrize("verb", ["add", "remove"])
def test_a_repository_does_not_lead_us_out_of_it(wired: Wiring, place: Place, tmp_path: Path, verb: Any) -> None:
    path = wiring.settings_path(wired, "project", place)
    outside = tmp_path / "outside"
    path.parent.mkdir(parents=True)
    path.symlink_to(outside)
    with pytest.raises(Exception, match="leads out of the work tree"):
        wiring.plan(wired, "project", place, verb)
    assert not outside.exists()


def test_the_lines_are_the_same_in_all_versions() -> None:
    """UC-44: Codex skips a hook that is not the one which a person agreed to. Not to be changed after a release."""
    for wired in WIRED:
        for call in set(wired.calls().values()):
            assert command_line.line(call) == (
                f"PATH=$PATH:$HOME/.local/bin git -c help.autocorrect=0 pog hook {call} 2>/dev/null || true"
            )
    assert json.loads(wiring.snippet(WIRINGS["codex"]))["hooks"]["PreToolUse"] == [
        {
            "matcher": "*",
            "hooks": [
                {
                    "type": "command",
                    "command": (
                        "PATH=$PATH:$HOME/.local/bin git -c help.autocorrect=0 pog hook codex 2>/dev/null || true"
                    ),
                    "timeout": 10,
                }
            ],
        }
    ]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"hooks": {}}',
        '{"version": 1}',
        '{"hooks": {}, "version": 1}',
        '{"x": [], "version": 2}',
        '{ "x": 1, "version": 1 }',
        '{\n\t"x": 1\n}\n',
        '{"hooks": {"stop": []}}',
        "\r\n",
        '{"hooks": {"stop": [{"command": "a"}]}, "version": 1}',
    ],
)
def test_cursor_s_version_comes_and_goes_with_our_hooks(text: str) -> None:
    wired = WIRINGS["cursor"]
    with_ours = added(wired, text) or ""
    assert parsed(with_ours)["version"] == (2 if '"version": 2' in text else 1)
    assert added(wired, with_ours) == with_ours
    assert removed(wired, with_ours) == text


def test_gemini_counts_in_milliseconds_and_names_its_hooks() -> None:
    """What `/hooks disable` would name; its own default is a minute."""
    (group,) = json.loads(wiring.snippet(WIRINGS["gemini"]))["hooks"]["BeforeTool"]
    (hook,) = group["hooks"]
    assert (hook["name"], hook["timeout"]) == ("pogstore", 10_000)
    assert "matcher" not in group, "it is a regular expression there"


@pytest.mark.parametrize(
    ("agent", "text", "key"),
    [
        ("gemini", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
        ("gemini", '{"hooksConfig": {"disabled": ["x", "pogstore"]}}', "hooksConfig.disabled"),
        ("gemini", '{"hooksConfig": {"enabled": true, "disabled": ["x"]}}', None),
        ("gemini", '{"hooksConfig": []}', None),
        ("gemini", '{"hooks": {"disabled": ["pogstore"], "BeforeTool": []}}', "hooks.disabled"),
        ("gemini", '{"tools": {"enableHooks": false}}', "tools.enableHooks"),
        ("claude-code", '{"disableAllHooks": true}', "disableAllHooks"),
        ("claude-code", '{"allowManagedHooksOnly": true}', None),
        ("codex", "{", None),
        ("codex", "[]", None),
    ],
)
def test_what_keeps_hooks_from_running_is_found(tmp_path: Path, agent: str, text: str, key: str | None) -> None:
    path = tmp_path / "settings.json"
    assert wiring.switched_off(WIRINGS[agent], path) is None
    path.write_text(text)
    assert wiring.switched_off(WIRINGS[agent], path) == key


PLUGIN = WIRINGS["opencode"].shape


def plugin(line: str) -> str:
    return PLUGIN.added(None, "x", {}, lambda _: line) or ""


def test_a_plugin_is_known_by_the_hash_of_its_text() -> None:
    """One that a person changed is theirs; one of another place is replaced by that which it calls."""
    ours = plugin(command_line.line("opencode"))
    other = plugin(command_line.placed_line("opencode", Path("/my venv/bin")))
    assert PLUGIN.removed(ours, "x", {}) is PLUGIN.removed(other, "x", {}) is None
    assert PLUGIN.added(other, "x", {}, command_line.line) == other, "the line that is there stays"
    changed = ours.replace("10000", "20000")
    assert PLUGIN.added(changed, "x", {}, command_line.line) == changed
    assert PLUGIN.removed(changed, "x", {}) == changed
    assert [each.exact for each in PLUGIN.found(changed, "x", {})] == [False]
    older = ours.replace("one after the other", "one by one")
    head, _, body = older.partition("\n")
    older = f"{head[:-16]}{hexdigest(body.encode())[:16]}\n{body}"
    assert PLUGIN.added(older, "x", {}, command_line.line) == ours, "one of an older version is renewed"
    assert PLUGIN.removed(older, "x", {}) is None


@pytest.mark.parametrize("text", ["export const Mine = 1\n", 'const LINE = "ls"\n', 'const LINE = "\\x"\n'])
def test_a_plugin_of_somebody_else_is_left_alone(text: str) -> None:
    assert PLUGIN.removed(text, "x", {}) == text
    with pytest.raises(BadInput, match="it is no plugin of ours"):
        PLUGIN.added(text, "x", {}, command_line.line)


def test_copilot_has_a_line_for_each_shell_and_event() -> None:
    """Its payload does not say which event it is."""
    hooks = json.loads(wiring.snippet(WIRINGS["copilot"]))
    assert hooks["version"] == 1
    for event, (hook,) in hooks["hooks"].items():
        assert f"pog hook copilot {event} 2>/dev/null || true" in hook["bash"]
        assert hook["powershell"] == f"git -c help.autocorrect=0 pog hook copilot {event} 2>$null; exit 0"
        assert hook["timeoutSec"] == 10
