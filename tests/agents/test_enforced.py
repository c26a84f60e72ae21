"""Limits that hold before a tool runs: what an agent asks its hook, in a real work tree with real links."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from pogstore.agents import behind, hook, judging
from pogstore.agents.dialect import DIALECTS
from pogstore.agents.refusal import REFUSALS
from pogstore.model import Budget, Definition, Globs, OddPath, Stepped, TaskId
from pogstore.work import acts, claims, compiled, contracts, policies, setup, tasks
from tests.agents.test_hook import LIGHT, in_a_process
from tests.builders_contracts import AGENT, PERSON, TASK, Asking, asking, scope
from tests.conftest import SECOND, Repo

DECIDING = {
    *("pogstore.agents.judging", "pogstore.agents.refusal", "pogstore.policy", "pogstore.globs", "pogstore.shell"),
    *("pogstore.commands", "pogstore.shell.gitwords"),
    *("pogstore.shell.programs", "pogstore.shell.script", "pogstore.shell.words", "pogstore.shell.written"),
    "pogstore.work.compiled",
}
"""What a hook loads to decide, beyond what every hook does."""
SCOPE = scope("src/**", "docs/*.md", deny=("*.key", "src/vendor/**"))
COMMANDS = scope("pytest", "git status", "rm", "cp", "tee", "make test", deny=("git push",))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A work tree with links: to a folder outside, to a file outside of the scope, and to one in it."""
    place = tmp_path_factory.mktemp("enforced")
    repo = Repo(place / "repo")
    for path in (repo.path, place / "outside"):
        path.mkdir()
    repo.git("init", "--quiet")
    repo.commit(
        {"README.md": "x\n", "src/a.py": "a\n", "src/deep/b.py": "b\n", "src/vendor/v.py": "v\n", "docs/x.md": "d\n"}
    )
    (place / "outside" / "file").write_text("not ours\n")
    (repo.path / "src" / "away").symlink_to(place / "outside")
    (repo.path / "src" / "file").symlink_to(place / "outside" / "file")
    (repo.path / "src" / "readme").symlink_to("../README.md")
    (repo.path / "src" / "root").symlink_to("..")
    (repo.path / "src" / "loop").symlink_to("loop")
    (repo.path / "src" / "libs").symlink_to("vendor")
    (repo.path / "inside").symlink_to("src")
    (repo.path / "deep").symlink_to("src/deep")
    return repo


@pytest.fixture
def agent(made: Repo, capfd: pytest.CaptureFixture[str]) -> Iterator[Asking]:
    """An agent whose task allows `src` and single pages of `docs`; made once, and asked many times."""
    found = asking(made, capfd)
    if TASK not in found.store.tasks():
        found.bind(scope=SCOPE)
    yield found
    found.store.close()


@pytest.fixture
def free(repo: Repo, capfd: pytest.CaptureFixture[str]) -> Iterator[Asking]:
    """An agent in a repository in which nothing is limited yet."""
    found = asking(repo, capfd)
    yield found
    found.store.close()


EDITS = [
    ("path", "README.md", "path"),
    ("path", "srcs/new.py", "path"),
    ("path", "docs/deep/page.md", "path"),
    ("path", "src/vendor/v.py", "path"),
    ("path", "src/new/server.key", "path"),
    ("path", "{out}/file", "path"),
    ("path", ".git/config", "limits"),
    ("path", ".git/pog/contracts/x", "limits"),
    ("path", ".pog.toml", "limits"),
    ("path", ".claude/settings.local.json", "limits"),
    ("path", "src/.g\u200cit/config", "limits"),
    ("path", "src/git~1/config", "limits"),
    ("path", "src/.GIT. /config", "limits"),
    ("path", "src/.git::$INDEX_ALLOCATION/config", "limits"),
    ("path", "src/a.k\u200dey", "path"),
    ("symlink", "src/away/new.py", "path"),
    ("symlink", "src/away/file", "path"),
    ("symlink", "src/file", "path"),
    ("symlink", "src/readme", "path"),
    ("symlink", "src/root/README.md", "path"),
    ("symlink", "src/root/.git/config", "limits"),
    ("symlink", "src/libs/v.py", "path"),
    ("symlink", "src/root/src/away/x", "path"),
    ("..", "src/../README.md", "path"),
    ("..", "src/deep/../../README.md", "path"),
    ("..", "{root}/src/../../outside/file", "path"),
    ("..", "src/away/../README.md", "path"),
    ("..", "src/none/../../README.md", "path"),
    ("..", "docs/./../src/vendor/v.py", "path"),
    ("..", "../repo/README.md", "path"),
    ("allowed", "src/a.py", None),
    ("allowed", "{root}/src/deep/new.py", None),
    ("allowed", "docs/page.md", None),
    ("allowed", "src/é.py", None),
    ("allowed", "src/../docs/page.md", None),
    ("allowed", "inside/a.py", None),
    ("allowed", "src/root/src/a.py", None),
    ("allowed", "../repo/src/a.py", None),
]


@pytest.mark.parametrize(("what", "path", "rule"), EDITS, ids=[f"{what}: {path}" for what, path, _ in EDITS])
def test_an_edit_is_judged_by_where_it_ends_up(agent: Asking, what: str, path: str, rule: str | None) -> None:
    """Cases T7 and PC-66: links, `..` and the folder of the session are resolved by the system itself."""
    named = path.format(root=agent.root, out=agent.root.parent / "outside")
    found = agent.edit(named)
    assert (found.rule if found else None) == rule, what


@pytest.mark.parametrize("tool", ["Write", "MultiEdit", "NotebookEdit"])
def test_every_tool_that_edits_is_judged(agent: Asking, tool: str) -> None:
    name = "notebook_path" if tool == "NotebookEdit" else "file_path"
    assert agent.ask(tool, {name: "README.md"}) is not None
    assert agent.ask(tool, {name: "src/a.py"}) is None


WRITES = [
    ("redirection", "echo x > README.md", "path"),
    ("redirection", "echo x >> src/file", "path"),
    ("redirection", "echo x 2> src/away/log", "path"),
    ("redirection", "cat <src/a.py >docs/../README.md", "path"),
    ("redirection", "{ echo x; } > src/root/new", "path"),
    ("redirection", "echo x > $HOME/x", "not-understood"),
    ("redirection", "echo x > src/a.py", None),
    ("redirection", "echo x > /dev/null", None),
    ("cd", "cd src && echo x > ../README.md", "path"),
    ("cd", "cd src; echo x > new", "path"),
    ("cd", "cd src/away && echo x > a.py", "path"),
    ("cd", "cd src/root && echo x > new", "path"),
    ("cd", "cd src/away && cd .. && echo x > README.md", "path"),
    ("cd", "cd src/away && echo x > ../x", "path"),
    ("cd", "cd / && echo x > src/a.py", "path"),
    ("cd", "cd \"$D\" && echo x > src/a.py", "not-understood"),
    ("cd", "cd src && echo x > a.py", None),
    ("cd", "cd src/deep && cd .. && echo x > a.py", None),
    ("cd", "cd deep && cd .. && echo x > new.py", "path"),
    ("cd", "cd deep && echo x > ../a.py", None),
    ("programs", "rm inside", "path"),
    ("programs", "rm -r src", "path"),
    ("programs", "rm -r src/vendor", "path"),
    ("programs", "mv src/a.py docs/x.md", None),
    ("programs", "mv src/deep docs/x.md", "path"),
    ("programs", "mv src/vendor src/other", "path"),
    ("programs", "rm src/file", "path"),
    ("programs", "ln -s ../../outside src/l", "path"),
    ("programs", "cp src/a.py .", "path"),
    ("programs", "sed -i s/a/b/ src/readme", "path"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "command", "rule"), WRITES, ids=[f"{what}: {command}" for what, command, _ in WRITES])
def test_what_a_command_writes_by_name_is_judged(agent: Asking, what: str, command: str, rule: str | None) -> None:
    found = agent.shell(command)
    assert (found.rule if found else None) == rule, what


def test_a_command_is_judged_from_the_folder_of_the_session(agent: Asking) -> None:
    assert agent.shell("echo x > a.py", cwd=agent.root / "src") is None
    assert agent.shell("echo x > ../README.md", cwd=agent.root / "src") is not None
    assert agent.edit("a.py", cwd=agent.root / "src") is None


def test_commands_are_judged_as_programs(free: Asking) -> None:
    free.bind(commands=COMMANDS)
    allowed = ["pytest -q", "git status", "cd src && pytest", "'make' test", "git pog note @ x", "rm x > y"]
    denied = ["pytests", "make", "git push", "git -C . push", "g'it' \"push\"", "pytest; git push", "echo $(git push)"]
    assert [free.shell(each) for each in allowed] == [None] * len(allowed)
    assert [found.rule if found else None for found in map(free.shell, denied)] == ["command"] * len(denied)


def test_a_refusal_is_recorded_as_an_event(free: Asking) -> None:
    """What was denied is no step; the event names the rule, the tool and the paths, and none outside is spelled."""
    free.bind(scope=SCOPE, commands=COMMANDS)
    assert free.edit("README.md") is not None
    assert free.edit("/etc/passwd", "Write") is not None
    assert free.shell("git push") is not None
    assert free.edit("src/a.py") is None
    found = free.refused()
    assert [(each.rule, each.tool, each.paths) for each in found] == [
        ("path", "Edit", ("README.md",)),
        ("path", "Write", (OddPath(outside=True),)),
        ("command", "Bash", ()),
    ]
    assert {each.task for each in found} == {TASK}
    assert {each.actor.name for each in found} == {"claude-code"}
    assert [each.tool for each in free.drained() if isinstance(each, Stepped)] == ["Edit"]
    assert len(free.refused()) == 3, "told once"


def test_a_call_that_is_asked_about_twice_is_one_refusal(free: Asking) -> None:
    """Some agents run the hooks of others as well, and some deliver twice."""
    free.bind(scope=SCOPE)
    for _ in range(2):
        said = {"tool_name": "Edit", "tool_input": {"file_path": "README"}, "tool_use_id": "same"}
        assert free.say("PreToolUse", cwd=None, **said) != ""  # type: ignore[arg-type]
    assert len(free.refused()) == 1
    assert free.say("PreToolUse", cwd=None, **said) != ""  # type: ignore[arg-type]
    assert len(free.refused()) == 1


def test_the_reason_says_what_may_be_done(free: Asking) -> None:
    free.bind(scope=SCOPE)
    found = free.edit("README.md")
    assert found is not None
    assert found.reason == "'README.md' is outside the scope of the task: only 'src/**', 'docs/*.md'"


def test_nothing_is_denied_and_nothing_loaded_where_no_contract_applies(
    free: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "judge", lambda *_: pytest.fail("judged without a contract"))
    tasks.define(free.store, TASK, Definition(title="no limits"), free.by())
    free.start()
    for each in ("rm -rf /", "'", "git pog edit @ --allow x", "echo x > .git/config"):
        assert free.shell(each) is None
    assert free.edit("/etc/passwd") is None
    assert free.refused() == []


@pytest.mark.parametrize("limited", [True, False])
def test_what_decides_is_light_and_loaded_only_where_a_contract_is(free: Asking, limited: bool) -> None:
    """Case UC-22: a hook that decides loads nothing of the standard library that another hook does not."""
    if limited:
        free.bind(scope=SCOPE, commands=COMMANDS)
    told = {"tool_name": "Bash", "tool_input": {"command": "cd src && pytest > a.py"}, "hook_event_name": "PreToolUse"}
    listing = "print(*sys.modules, sep='\\n', flush=True)"
    payload = json.dumps({"session_id": "s", "cwd": str(free.root), **told}).encode()
    bare = subprocess.run([sys.executable, "-c", f"import sys; {listing}"], capture_output=True, check=True, timeout=60)
    loaded = set(in_a_process(payload, listing).stdout.decode().split()) - set(bare.stdout.decode().split())
    assert loaded - LIGHT == (DECIDING if limited else set())


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure", "Stop", "UserPromptSubmit", "SessionStart"])
def test_only_what_is_about_to_be_done_is_denied(agent: Asking, event: str) -> None:
    given: dict[str, Any] = {
        "tool_name": "Edit",
        "tool_input": {"file_path": "README.md"},
        "tool_use_id": "x",
        "prompt": "go",
    }
    assert agent.say(event, **given) == ""


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"file_path": "/etc/passwd"}),
        ("Grep", {"pattern": "x", "path": "README.md"}),
        ("TodoWrite", {"todos": []}),
        ("Task", {"prompt": "git push"}),
        ("WebFetch", {"url": "http://x"}),
    ],
)
def test_what_changes_nothing_is_not_denied(agent: Asking, tool: str, given: dict[str, Any]) -> None:
    assert agent.ask(tool, given) is None


def test_a_contract_holds_for_its_task_alone(free: Asking) -> None:
    free.bind(scope=SCOPE)
    other = TaskId("0198a1b2-c3d4-7e5f-8a9b-ffffffffffff")
    free.bind(other)
    assert free.edit("README.md") is None
    free.environ = {"POG_TASK": TASK}
    assert free.edit("README.md") is not None
    free.environ = {"POG_TASK": TASK[:-4]}
    assert free.edit("README.md") is not None, "a name that is cut short"


@pytest.mark.parametrize("end", ["completed", "cancelled", "released"])
def test_the_contract_is_over_when_the_task_is(free: Asking, end: str) -> None:
    free.bind(scope=SCOPE)
    path = contracts.path_of(free.store, TASK)
    assert path.is_file()
    assert path.stat().st_mode & 0o077 == 0
    if end == "released":
        claims.release(free.store, TASK, free.by())
    else:
        tasks.move(free.store, TASK, end, free.by())
    assert not path.exists()
    assert free.edit("README.md") is None


def test_a_claim_compiles_as_a_start_does(free: Asking) -> None:
    tasks.define(free.store, TASK, Definition(title="a task", scope=SCOPE), free.by())
    assert not contracts.path_of(free.store, TASK).exists()
    claims.claim(free.store, TASK, free.by(AGENT))
    contract, _ = compiled.read(bytes(contracts.path_of(free.store, TASK)))
    assert contract.definition == acts.read_state(free.store, TASK).definition.blob  # type: ignore[union-attr]


def test_the_lease_ends_it(free: Asking) -> None:
    tasks.define(free.store, TASK, Definition(title="a task"), free.by())
    claims.claim(free.store, TASK, free.by(), lease_until=free.now + 60 * SECOND)
    free.start()
    assert free.edit("README.md") is None
    free.now += 60 * SECOND
    assert [found.rule if found else None for found in (free.edit("x"), free.shell("ls"))] == ["lease-over"] * 2
    assert free.ask("Read", {"file_path": "x"}) is None
    assert free.shell("git pog note @ 'what is left'") is None, "it may still say what it has to"


def test_a_claim_that_somebody_else_has_now_is_lost(free: Asking) -> None:
    free.bind(scope=SCOPE)
    held = acts.read_state(free.store, TASK).claims[0].event_id
    claims.release(free.store, TASK, free.by(PERSON), of=held)
    claims.claim(free.store, TASK, acts.By(actor=AGENT, time=free.now, worktree="elsewhere"))
    found = free.edit("src/a.py")
    assert found is not None
    assert found.rule == "claim-lost"


def test_a_claim_that_a_person_takes_away_is_lost(free: Asking) -> None:
    free.bind(scope=SCOPE, actor=AGENT)
    held = acts.read_state(free.store, TASK).claims[0].event_id
    claims.release(free.store, TASK, free.by(PERSON), of=held)
    found = free.edit("src/a.py")
    assert found is not None
    assert (found.rule, found.reason) == ("claim-lost", "the claim was taken away")


def test_a_budget_of_minutes_ends_by_the_clock(free: Asking) -> None:
    free.bind(budget=Budget(minutes=5))
    assert free.edit("README.md") is None
    free.now += 300 * SECOND
    found = free.edit("README.md")
    assert found is not None
    assert (found.rule, found.reason) == ("budget", "the budget of 5 minutes is spent")
    free.start()
    assert free.edit("README.md") is not None, "to start again gives no more time"


def test_a_budget_of_lines_ends_by_what_was_recorded(free: Asking) -> None:
    free.bind(budget=Budget(changed_lines=3))
    path = free.root / "README"
    for text in ("a project\n1\n2\n", "a project\n1\n2\n3\n"):
        assert free.edit("README") is None
        path.write_text(text)
        free.say("PostToolUse", tool_name="Edit", tool_input={"file_path": "README"}, tool_use_id=f"t{free.calls - 1}")
        free.drained()
    found = free.edit("README")
    assert found is not None
    assert found.rule == "budget"


def test_without_a_task_nothing_may_be_changed_where_one_is_required(free: Asking, repo: Repo) -> None:
    repo.git("config", policies.REQUIRE_TASK, "true")
    setup.leave_settings(free.store)
    assert [found.rule if found else None for found in (free.edit("README"), free.shell("ls"))] == ["no-task"] * 2
    assert free.ask("Read", {"file_path": "README"}) is None
    assert free.shell("git pog start 0198") is None
    assert free.shell("git pog list; git pog new 'x' --start") is None
    free.bind()
    assert free.edit("README") is None
    assert [each.rule for each in free.refused()] == ["no-task"] * 2


DENIED_BY_GIT = {
    "path": (
        *("git checkout HEAD a.key", "git checkout HEAD -- a.key", "git checkout a.key", "git checkout --ours a.key"),
        *(
            "git checkout .",
            "git checkout HEAD -- .",
            "git checkout HEAD sub",
            "git restore --source HEAD .",
            "rm -rf .",
        ),
        *("git restore sub", "git rm -r .", "rm -rf ./", "rm -rf ..", "rm -rf sub/..", "rm -rf {root}", "rm -rf /"),
        *("cd sub && rm -rf ..", "chmod -R a-w .", "git-rm a.key", "/usr/lib/git-core/git-checkout a.key"),
    ),
    "command": (
        "git send-pack o main",
        "git http-push o",
        "git-push o",
        "/usr/lib/git-core/git-send-pack o",
        "git push",
    ),
    "environment": ("git -c alias.p=push p", "git --config-env=alias.p=X p", "git --config-env alias.p=X p"),
    "not-understood": (
        *("git reset --hard HEAD", "git clean -fdx", "git checkout -f HEAD", "git switch --discard-changes other"),
        *("git checkout -p", "git checkout HEAD -- '*'", "git restore ':(glob)**'", "git rm 'a*'", "patch a.key x"),
        *("git checkout HEAD --pathspec-from-file=x", "git apply x"),
    ),
    "": (
        *(
            "git checkout other",
            "git checkout -b new",
            "git checkout HEAD",
            "git checkout -b a.key",
            "git switch other",
        ),
        *("git checkout HEAD README", "git restore README", "git reset HEAD", "git clean -n", "git log -- a.key"),
        *("rm README", "git remote -v", "git fetch", "git add .", "git commit -m 'git push of a.key'"),
    ),
}
"""Commands, by the rule that denies them where `*.key` and `git push` are denied."""


def test_what_git_writes_and_folders_that_hold_what_is_denied(free: Asking) -> None:
    """A denied path is changed by no other name: by git, by a folder that it is in, or by the root of all."""
    for name in ("a.key", "sub/b.key"):
        (free.root / name).parent.mkdir(exist_ok=True)
        (free.root / name).write_text("K\n")
    free.bind(scope=scope(deny=("*.key",)), commands=Globs(deny=("git push",)))
    for rule, commands in DENIED_BY_GIT.items():
        for command in commands:
            found = free.shell(command.format(root=free.root))
            assert (found.rule if found else "") == rule, command
    free.amend(scope=scope(deny=("sub/b.key",)))
    free.start()
    told = [
        free.shell(command.format(root=free.root)) for command in ("rm -rf .", "rm -rf ..", "rm -rf {root}", "rm -rf /")
    ]
    assert [found.rule if found else None for found in told] == ["path"] * 4
    assert free.shell("rm -rf other") is None


@pytest.mark.parametrize("word", ["$F", '"$F/a"', "${F:-a}", "$(ls)"])
def test_what_the_shell_alone_knows_is_named_as_it_is_written(free: Asking, word: str) -> None:
    free.bind(scope=scope("src/**"))
    found = free.shell(f"echo x > {word}")
    assert found is not None
    assert found.reason == f"which file is written to, the shell alone knows: '{word}'"


def set_limits(agent: Asking, repo: Repo) -> None:
    for name, value in (("pog.deny", "*.key"), ("pog.denyCommand", "git push")):
        repo.git("config", name, value)
    setup.leave_settings(agent.store)


def test_limits_of_the_repository_hold_without_a_task(free: Asking, repo: Repo) -> None:
    """Also for a session that nobody gave a task, and one whose task is limited by nothing else."""
    assert free.edit("sub/a.key") is None
    set_limits(free, repo)

    def told() -> list[str | None]:
        answers = (free.edit("sub/a.key"), free.shell("git push -q"), free.edit("README"), free.shell("ls"))
        return [found.rule if found else None for found in answers]

    assert told() == ["path", "command", None, None]
    free.environ = {"POG_TASK": "0198a1b2-c3d4-7e5f-8a9b-ffffffffffff"}
    assert told() == ["path", "command", None, None], "a task that has no file of its own"
    free.environ = {}
    for command, rule in (
        ("git pog start 0198", None),
        ("git pog next --claim", None),
        ("git pog new x --start", None),
        ("git pog init --remove", "limits"),
        ("git config --unset pog.deny", "limits"),
    ):
        found = free.shell(command)
        assert (found.rule if found else None) == rule, command
    free.bind()
    assert told() == ["path", "command", None, None]
    repo.git("config", "--unset", "pog.deny")
    repo.git("config", "--unset", "pog.denyCommand")
    setup.leave_settings(free.store)
    contracts.refresh_all(free.store)
    assert told() == [None] * 4


def test_limits_of_the_repository_are_known_after_a_drain(free: Asking, repo: Repo) -> None:
    (repo.path / ".pog.toml").write_text('deny = ["*.key"]\n')
    assert free.edit("a.key") is None
    assert not contracts.is_policy_known(free.store)
    free.drained()
    assert contracts.is_policy_known(free.store)
    found = free.edit("a.key")
    assert found is not None
    assert found.reason == "'a.key' may not be changed: .pog.toml denies it"
    setup.disable(free.store, force=True)
    assert not (free.store.layout.own / "contracts" / "-").exists()


def test_a_session_that_begins_has_changed_limits_compiled(
    free: Asking, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a drain behind it; where nothing changed none is started."""
    started: list[bytes] = []
    monkeypatch.setattr(behind, "start", lambda command, spool, place, environ: started.append(place[0]))

    def begin(event: str = "SessionStart") -> int:
        reads, writes = os.pipe()
        os.write(writes, json.dumps({"session_id": "s", "cwd": str(free.root), "hook_event_name": event}).encode())
        os.close(writes)
        hook.main(("claude-code",), reads, {}, ("git-pog",))
        os.close(reads)
        return len(started)

    setup.leave_settings(free.store)
    assert begin() == 0
    repo.git("config", "pog.deny", "*.key")
    assert begin("UserPromptSubmit") == 0
    assert begin() == 1
    setup.leave_settings(free.store)
    (free.root / ".pog.toml").write_text('deny = ["*.pem"]\n')
    assert begin() == 2
    assert set(started) == {os.fsencode(free.root)}


def test_a_file_of_limits_that_cannot_be_read_is_the_reason(free: Asking, repo: Repo) -> None:
    """Neither that a claim was lost nor that a task lacks."""
    (repo.path / ".pog.toml").write_text("allow = [\n")
    for task in ("", "0198a1b2-c3d4-7e5f-8a9b-ffffffffffff"):
        setup.leave_settings(free.store)
        free.environ = {"POG_TASK": task} if task else {}
        found = free.edit("README")
        assert found is not None
        assert found.rule == "limits"
        assert found.reason.startswith("'.pog.toml': cannot be read: ")
    free.environ = {}
    (repo.path / ".pog.toml").unlink()
    free.bind()
    (repo.path / ".pog.toml").write_text("allow = [\n")
    contracts.refresh_all(free.store)
    found = free.edit("README")
    assert found is not None
    assert (found.rule, found.reason[:27]) == ("limits", "'.pog.toml': cannot be read")


@pytest.mark.parametrize("damage", [b"", b"nonsense", "cut", "bit"])
def test_a_contract_that_cannot_be_read_lets_nothing_pass(free: Asking, damage: bytes | str) -> None:
    free.bind(scope=SCOPE)
    path = contracts.path_of(free.store, TASK)
    data = path.read_bytes()
    path.write_bytes({"cut": data[:-9], "bit": data.replace(b"src/**", b"srd/**")}.get(str(damage), damage))  # type: ignore[arg-type]
    found = free.edit("src/a.py")
    assert found is not None
    assert found.rule == "limits"


def generic(agent: Asking, class_: str, *paths: str) -> str:
    given: dict[str, Any] = {"class": class_, "paths": list(paths)}
    return agent.say("tool_start", agent="generic", session="s", call_id="1", tool="a tool", **given)


def test_any_agent_is_told_in_the_words_of_the_contract(free: Asking) -> None:
    free.bind(scope=SCOPE)
    answer = json.loads(generic(free, "edit", "README"))
    assert answer.keys() == {"decision", "reason"}
    assert answer["decision"] == "deny"
    assert answer["reason"].startswith("pogstore (path): 'README' is outside the scope")
    assert generic(free, "read", "README") == ""
    assert generic(free, "other", "README") != "", "what names files writes them"


def asked(agent: Asking, name: str, tool: str, given: dict[str, Any]) -> str:
    """Asks as an agent does, in its own words; returns what it is told."""
    names = DIALECTS[name]
    told: dict[str, Any] = {
        names.event: names.steps[0], names.cwd: str(agent.root), names.session: "s", names.tool: tool,
        names.given: given, "tool_use_id": f"{agent.calls}", "callID": f"{agent.calls}",
    }  # fmt: skip
    return agent.say(names.steps[0], agent=name, also=told)


@pytest.mark.parametrize("name", [name for name in DIALECTS if name != "generic"])
def test_every_agent_is_denied_in_its_own_words(free: Asking, name: str) -> None:
    free.bind(scope=SCOPE)
    of_tool = DIALECTS[name].of_tool
    edit, shell = (next(tool for tool, class_ in of_tool.items() if class_ == wanted) for wanted in ("edit", "shell"))
    assert asked(free, name, edit, {"file_path": "src/a.py"}) == ""
    assert asked(free, name, shell, {"command": "echo x > src/a.py"}) == ""
    for tool, given in (
        (edit, {"file_path": "README"}),
        (shell, {"command": "rm README"}),
        (shell, {"cmd": "rm README"}),
    ):
        said = asked(free, name, tool, given)
        assert said == REFUSALS[name](f"pogstore (path): {json.loads(said_of(said))}")[0].decode()
    assert [each.rule for each in free.refused()] == ["path"] * 3


def test_the_folder_of_a_command_is_that_which_its_agent_knows(free: Asking) -> None:
    free.bind(scope=SCOPE)
    given = {"command": "echo x > a.py"}
    assert asked(free, "codex", "shell", given | {"workdir": "src"}) == ""
    assert asked(free, "codex", "shell", given | {"working_directory": "src"}) != ""
    assert asked(free, "cursor", "Shell", given | {"working_directory": "src"}) == ""
    assert asked(free, "copilot", "bash", given | {"workdir": "src"}) != ""


def said_of(answer: str) -> str:
    """Returns the reason in any agent's answer, as JSON, without what every reason begins with."""
    found = next(value for value in strings(json.loads(answer)) if value.startswith("pogstore (path): "))
    return json.dumps(found.removeprefix("pogstore (path): "))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize(
    ("tool", "given", "denied"),
    [
        ("mcp__files__write_file", {"path": "README", "content": "x"}, True),
        ("mcp__files__write_file", {"path": "src/a.py", "content": "x"}, False),
        ("mcp__files__move_file", {"paths": ["src/a.py", "README"]}, True),
        ("mcp__files__read_file", {"path": "README"}, False),
        ("mcp__search__query", {"query": "rm -rf /"}, False),
        ("Edit", {"file_path": "src/a.py", "path": "README"}, True),
        ("Edit", {"file_path": "src/a.py", "patch": "*** Begin Patch\n*** Delete File: README\n*** End Patch"}, True),
        ("Edit", {}, True),
        ("Bash", {}, True),
        ("Bash", {"command": "ls", "cmd": "rm README"}, True),
        ("PowerShell", {"command": "Remove-Item README"}, True),
        ("mcp__files__move_file", {"source": "src/a.py", "destination": "README"}, True),
        ("mcp__files__writeFile", {"path": "README"}, True),
        ("mcp__updater__get_output", {"path": "README"}, False),
        ("mcp__desk__run_command", {"command": "rm README"}, True),
        ("mcp__desk__run_command", {"command": "rm src/a.py"}, False),
        ("mcp__desk__view", {"command": "rm README"}, False),
        ("Bash", {"command": "rm a.py", "cwd": "src"}, True),
        (
            "Bash",
            {"command": "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: README\n*** End Patch\nEOF"},
            True,
        ),
        (
            "Bash",
            {"command": "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: src/a.py\n*** End Patch\nEOF"},
            False,
        ),
        ("Bash", {"command": "apply_patch '*** Begin Patch\n*** Delete File: src/a.py\n*** End Patch'"}, False),
        ("Bash", {"command": "apply_patch <<E\n*** Begin Patch\n*** Delete File: src/$F\n*** End Patch\nE"}, True),
        ("Bash", {"command": "cd / && apply_patch '*** Begin Patch\n*** Delete File: src/a.py\n*** End Patch'"}, True),
        ("Bash", {"command": "apply_patch < src/a.py"}, True),
    ],
)
def test_all_that_a_call_names_is_judged(free: Asking, tool: str, given: dict[str, Any], denied: bool) -> None:
    """A model may add what an agent passes on unseen; the first name is not the only one that counts."""
    free.bind(scope=SCOPE)
    assert (free.ask(tool, given) is not None) is denied


def test_the_words_of_a_command_are_words_and_no_text(free: Asking) -> None:
    """Codex gives a shell its words as an array; joined by spaces they would mean something else."""
    free.bind(scope=SCOPE)
    words = {"bash": ["bash", "-lc", "rm README"], "plain": ["rm", "src/a b"], "redirected": ["echo", ">", "README"]}
    found = {
        name: free.say("PreToolUse", agent="codex", tool_name="shell", tool_use_id=name, tool_input={"command": each})
        for name, each in words.items()
    }
    assert [name for name, said in found.items() if said] == ["bash"]


def test_a_step_of_many_files_is_denied_for_one(free: Asking) -> None:
    free.bind(scope=SCOPE)
    assert generic(free, "edit", *(f"src/{n}.py" for n in range(300))) == ""
    assert generic(free, "edit", *(f"src/{n}.py" for n in range(300)), "README") != ""
    assert generic(free, "edit", *(f"src/{n}.py" for n in range(1000)), "README") != "", "more than are looked at"
