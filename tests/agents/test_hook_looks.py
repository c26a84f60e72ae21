"""When a hook looks at a whole work tree, at which ones, and what it records where it may not or cannot."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pogstore.agents import hook
from pogstore.digest import hexdigest
from pogstore.work import look, sighting, spool, spooled
from pogstore.work.look import Look
from pogstore.work.spooled_record import Record, Seen, Unseen
from tests.agents.test_hook import call, directory, edit, enabled, losses, records, said
from tests.conftest import Repo

__all__ = ["enabled"]


def shell(event: str, cwd: Path, command: str = "make", tool: str = "Bash") -> bytes:
    return said(event, cwd, tool_name=tool, tool_input={"command": command}, tool_use_id="t1")


def told(event: str, cwd: Path, **members: Any) -> bytes:
    return json.dumps(
        {"version": 1, "agent": "own", "session": "s", "event": event, "cwd": str(cwd), **members}
    ).encode()


def generic(payload: bytes, environ: dict[str, str] | None = None) -> None:
    call(payload, environ, ("generic",))


def seen(record: Record) -> dict[bytes, bytes | None]:
    return {state.path: state.data for state in record.states if isinstance(state, Seen)}


def linked(repo: Repo, name: str) -> Repo:
    repo.git("worktree", "add", "--quiet", "--detach", f"../{name}")
    return Repo(repo.path.parent / name)


def test_a_shell_step_is_recorded_with_all_that_differs_before_and_after(enabled: Repo) -> None:
    call(shell("PreToolUse", enabled.path))
    (enabled.path / "README").write_bytes(b"other\n")
    (enabled.path / "new").write_bytes(b"new\n")
    call(shell("PostToolUse", enabled.path))
    before, after = records(enabled)
    assert (before.look, before.states) == ("whole", ())
    assert after.look == "whole"
    assert seen(after) == {b"README": b"other\n", b"new": b"new\n"}
    assert before.head == after.head is not None
    assert (after.head.commit, after.head.branch) == (enabled.git("rev-parse", "HEAD"), "refs/heads/main")


def test_bytes_that_a_record_has_are_not_in_the_next_one(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not on disk in a record is recorded again."""
    (enabled.path / "new").write_bytes(b"new\n")
    with monkeypatch.context() as patched:
        patched.setattr(spool, "append", lambda *_, **__: 1 / 0)
        call(shell("PreToolUse", enabled.path))
    assert losses(enabled) == {"failed": 1}
    for _ in range(2):
        call(shell("PreToolUse", enabled.path))
    first, second = (record.states[0] for record in records(enabled))
    assert isinstance(first, Seen)
    assert isinstance(second, Seen)
    assert (first.data, first.kept) == (b"new\n", False)
    assert (second.data, second.kept, second.blake3) == (None, True, first.blake3)


@pytest.mark.parametrize(
    ("payload", "looks"),
    [
        (lambda path: shell("PostToolUseFailure", path), True),
        (lambda path: shell("PreToolUse", path, tool="PowerShell"), True),
        (lambda path: shell("PreToolUse", path, tool="mcp__files__write"), True),
        (lambda path: said("Stop", path), True),
        (lambda path: said("SessionEnd", path), False),
        (lambda path: said("UserPromptSubmit", path), False),
        (lambda path: shell("PreToolUse", path, tool="Read"), False),
        (lambda path: edit("PreToolUse", path / "README", path), False),
    ],
)
def test_only_what_names_no_files_costs_a_look(enabled: Repo, payload: Callable[[Path], bytes], looks: bool) -> None:
    call(payload(enabled.path))
    (record,) = records(enabled)
    assert record.look == ("whole" if looks else None)


def test_an_edit_tells_what_head_is(enabled: Repo) -> None:
    enabled.git("checkout", "--quiet", "--detach")
    call(edit("PreToolUse", enabled.path / "README", enabled.path))
    (record,) = records(enabled)
    assert record.head is not None
    assert (record.head.commit, record.head.branch) == (enabled.git("rev-parse", "HEAD"), "")
    assert record.look is None


def test_no_time_to_look_means_never(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    spooled.write_settings(directory(enabled), max_blob=1000, sync=False, look=0)
    monkeypatch.setattr(look, "look", lambda *_: 1 / 0)
    call(shell("PreToolUse", enabled.path))
    (record,) = records(enabled)
    assert (record.look, record.states) == (None, ())
    assert record.head is not None


def test_the_time_to_look_is_what_the_settings_say(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    spooled.write_settings(directory(enabled), max_blob=1000, sync=False, look=750)
    asked: list[tuple[int, float]] = []

    def looked(place: sighting.Place, max_blob: int, timeout: float) -> Look:
        asked.append((max_blob, timeout))
        return Look(place[1], b"", b"partial timeout", [])

    monkeypatch.setattr(look, "look", looked)
    call(shell("PreToolUse", enabled.path))
    ((max_blob, timeout),) = asked
    assert max_blob == 1000
    assert 0.3 < timeout <= 0.75
    assert [record.look for record in records(enabled)] == ["partial timeout"]


def test_a_look_that_fails_does_not_cost_the_record(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "look", lambda *_: 1 / 0)
    call(shell("PreToolUse", enabled.path))
    generic(told("tool_end", enabled.path, **{"class": "shell", "paths": ["README"]}))
    first, second = records(enabled)
    assert (first.look, first.states) == ("partial failed", ())
    assert second.look == "partial failed"
    assert seen(second) == {b"README": b"a project\n"}, "what was named is seen all the same"


def without_log(extra: Mapping[str, bytes]) -> dict[str, bytes]:
    """What a record has beside its own fields and the length of HEAD's log."""
    return {name: value for name, value in extra.items() if name != "log"}


def test_a_look_tells_how_long_the_log_of_head_is(enabled: Repo) -> None:
    call(shell("PreToolUse", enabled.path))
    enabled.git("commit", "--quiet", "--allow-empty", "-m", "more")
    call(shell("PostToolUse", enabled.path))
    lines = (enabled.path / ".git/logs/HEAD").read_bytes().splitlines(keepends=True)
    sizes = [len(b"".join(lines[:-1])), len(b"".join(lines))]
    assert [int(record.extra["log"]) for record in records(enabled)] == sizes


def test_another_work_tree_that_a_command_names_is_told_too(enabled: Repo) -> None:
    beside, other = linked(enabled, "feature-x"), linked(enabled, "unnamed")
    call(shell("PreToolUse", enabled.path, "cd ../feature-x && make"))
    (beside.path / "made").write_bytes(b"made\n")
    (other.path / "made").write_bytes(b"made\n")
    call(shell("PostToolUse", enabled.path, "cd ../feature-x && make"))
    found = records(enabled)
    assert [Path(record.root.decode()).name for record in found] == ["repo", "feature-x"] * 2
    assert [without_log(record.extra) for record in found] == [{}, {"aside": b"1"}] * 2
    assert [record.look for record in found] == ["whole"] * 4
    assert found[2].payload == found[3].payload
    assert found[3].git_dir == bytes(enabled.path / ".git" / "worktrees" / "feature-x")
    assert [seen(record) for record in found] == [{}, {}, {}, {b"made": b"made\n"}]


def test_the_main_work_tree_is_another_one_too(enabled: Repo) -> None:
    beside = linked(enabled, "feature-x")
    generic(told("tool_end", beside.path, **{"class": "shell", "input": "cd ../repo"}))
    found = records(enabled)
    assert [Path(record.root.decode()).name for record in found] == ["feature-x", "repo"]
    assert [without_log(record.extra) for record in found] == [{}, {"aside": b"1"}]


def test_only_so_many_work_trees_are_looked_for(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "BESIDE", 2)
    for name in ("tree-1", "tree-2", "tree-3"):
        linked(enabled, name)
    call(shell("PreToolUse", enabled.path, "ls ../tree-1 ../tree-2 ../tree-3"))
    assert len(records(enabled)) == 3


def test_a_work_tree_that_is_gone_is_no_trouble(enabled: Repo) -> None:
    gone = linked(enabled, "feature-x")
    (gone.path / ".git").unlink()
    (enabled.path / ".git" / "worktrees" / "odd").mkdir()
    call(shell("PreToolUse", enabled.path, "cd ../feature-x odd \0"))
    assert len(records(enabled)) == 1


def test_all_looks_of_one_step_share_its_time(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    linked(enabled, "feature-x")
    now = [100.0]
    real = look.look

    def slow(place: sighting.Place, max_blob: int, timeout: float) -> Look:
        now[0] += 5
        return real(place, max_blob, timeout)

    monkeypatch.setattr(look, "look", slow)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    call(shell("PreToolUse", enabled.path, "cd ../feature-x"))
    assert [record.look for record in records(enabled)][1:] == ["partial timeout"]


def test_any_agent_may_name_several_files(enabled: Repo, make_repo: Callable[..., Repo], tmp_path: Path) -> None:
    """Each repository is told of its own; one that is not enabled is counted by the first that is."""
    (enabled.path / "b").write_bytes(b"b\n")
    beside, other, foreign = linked(enabled, "feature-x"), make_repo("other"), make_repo("foreign")
    spooled.prepare(directory(other))
    paths = ["README", "b", "b", str(beside.path / "README"), str(other.path / "README"), str(foreign.path / "README")]
    generic(told("tool_end", enabled.path, **{"class": "edit", "paths": [*paths, str(tmp_path / "no")]}))
    main, aside = records(enabled)
    assert seen(main) == {b"README": b"a project\n", b"b": b"b\n"}
    assert (main.agent, main.event, main.look, main.extra) == ("generic", "tool_end", None, {})
    assert (seen(aside), aside.extra) == ({b"README": b"a project\n"}, {"aside": b"1"})
    (record,) = records(other)
    assert (seen(record), record.extra) == ({b"README": b"a project\n"}, {})
    assert losses(enabled) == {"elsewhere": 1}
    assert not directory(foreign).exists()


def test_what_cannot_be_counted_costs_no_record(enabled: Repo, make_repo: Callable[..., Repo]) -> None:
    lost = directory(enabled).parent / "lost"
    lost.unlink()
    lost.symlink_to("README")
    generic(told("tool_end", enabled.path, paths=[str(make_repo("foreign").path / "README"), "README"]))
    assert [seen(record) for record in records(enabled)] == [{b"README": b"a project\n"}]


def test_too_many_files_are_not_read(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    payload = told("tool_end", enabled.path, paths=["README", "x", ".git/config"])
    with monkeypatch.context() as patched:
        patched.setattr(hook, "LARGEST", 9)
        patched.setattr(hook, "read_object", lambda _: (payload, True))
        generic(payload)
        patched.setattr(hook, "SIGHTING", -1)
        generic(payload)
    first, second = records(enabled)
    assert first.states == (
        Seen(b"README", "100644", 10, hexdigest(b"a project\n"), b"a project\n"),
        Unseen(b"x", "unread"),
    )
    assert second.states == (Unseen(b"README", "unread"), Unseen(b"x", "unread"))


def test_an_agent_that_says_everything_is_understood(enabled: Repo) -> None:
    payload = told("prompt", enabled.path, text="fix it", own={"x": [1]})
    generic(payload, {"POG_TASK": "@"})
    (record,) = records(enabled)
    assert (record.agent, record.event, record.payload, record.task) == ("generic", "prompt", payload, "@")


def test_a_folder_of_work_trees_beside_a_bare_repository_is_not_looked_at(repo: Repo, tmp_path: Path) -> None:
    """Case PC-70."""
    folder = tmp_path / "p"
    folder.mkdir()
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(folder / ".bare"))
    (folder / ".git").write_text("gitdir: ./.bare\n")
    Repo(folder).git("worktree", "add", "--quiet", "wt", "main")
    # as the helpers expect it: the git dir under its usual name, by a link
    bare = Repo(tmp_path / "by_link")
    bare.path.mkdir()
    (bare.path / ".git").symlink_to(folder / ".bare")
    spooled.prepare(directory(bare))
    call(shell("PreToolUse", folder, "cd wt && make"))
    (folder / "wt" / "new").write_bytes(b"new\n")
    call(shell("PostToolUse", folder, "cd wt && make"))
    call(said("Stop", folder))
    found = records(bare)
    assert [(record.root, record.look, record.extra.get("aside")) for record in found] == [
        (str(folder).encode(), None, None),
        (str(folder / "wt").encode(), "whole", b"1"),
        (str(folder).encode(), None, None),
        (str(folder / "wt").encode(), "whole", b"1"),
        (str(folder).encode(), None, None),
    ]
    assert seen(found[3]) == {b"new": b"new\n"}
    call(edit("PreToolUse", folder, folder / "notes"))
    assert not records(bare)[-1].states
