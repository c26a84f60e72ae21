"""An agent cannot widen its own contract: each way that was thought of, tried. What a person can, and when."""

import shutil
from collections.abc import Iterator

import pytest

from pogstore.agents import drafts
from pogstore.draft import Draft, TaskDrafts
from pogstore.errors import RefusedByPolicy
from pogstore.model import Actor, Definition, Globs, Link, Noted, Source, TaskId
from pogstore.work import active, bounds, claims, compiled, contracts, intake, setup, tasks
from pogstore.work.actors import SHELLS, actor_by
from pogstore.work.acts import read_state
from tests.builders_contracts import AGENT, PERSON, TASK, Asking, asking, scope
from tests.cli.conftest import Here
from tests.conftest import Repo

SHELL = {"CLAUDECODE": "1"}
"""How the shell of an agent is marked."""
WIDE = Globs(allow=("**",))


@pytest.fixture
def agent(repo: Repo, capfd: pytest.CaptureFixture[str]) -> Iterator[Asking]:
    """An agent that holds a task which allows `src` alone."""
    found = asking(repo, capfd)
    found.bind(scope=scope("src/**"), actor=AGENT)
    yield found
    found.store.close()


@pytest.fixture
def typing(agent: Asking, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Types commands in the work tree of the agent."""
    found = Here(agent.root, agent.capfd, monkeypatch)
    found.now = agent.now + 3_600_000_000
    return found


def is_bound(agent: Asking) -> bool:
    """Says whether its limits are what they were, for its hook and for everybody who reads the record."""
    agent.store.refresh()
    limits = bounds.bounds_of(agent.store, TASK).limits
    asked = agent.edit("README"), agent.edit("src/a.py")
    return any(each.allow == ("src/**",) for each in limits) and asked[0] is not None and asked[1] is None


def notes(agent: Asking) -> list[str | None]:
    return [event.topic for event in agent.drained() if isinstance(event, Noted)]


def test_1_it_amends_its_definition(agent: Asking, typing: Here) -> None:
    typing("edit", TASK, "--allow", "**", env=SHELL)
    typing("start", TASK, env={**SHELL, "POG_ACTOR": "claude-code", "POG_SESSION": "s1"}, status=None)
    claims.claim(agent.store, TASK, agent.by(AGENT), renew=True)
    assert is_bound(agent)
    assert agent.shell("git pog edit @ --allow '**'") is not None


def test_2_it_passes_for_a_person(agent: Asking, typing: Here) -> None:
    assert typing("edit", TASK, "--allow", "**", "--as", "human:Ada", status=4, env=SHELL).stdout == ""
    assert typing("edit", TASK, "--allow", "**", status=4, env={**SHELL, "POG_ACTOR": "human:Ada"}).stdout == ""
    for command in ("env -u CLAUDECODE git pog edit @ --allow x", "POG_ACTOR=human:Ada git pog edit @ --allow x"):
        assert agent.shell(command) is not None
    assert is_bound(agent)


def test_3_it_amends_after_a_person_did_and_claims_that(agent: Asking) -> None:
    agent.amend(scope=scope("src/**", "docs/**"))
    agent.amend(AGENT, scope=WIDE)
    agent.start(actor=AGENT)
    claims.claim(agent.store, TASK, agent.by(AGENT), renew=True)
    assert agent.edit("docs/x") is not None, "what it claims is not what the person wrote"
    assert is_bound(agent)


def test_4_it_begins_another_task(agent: Asking, typing: Here) -> None:
    other = typing.task("without limits")
    typing("start", other, status=4, env=SHELL)
    typing("new", "another", "--start", status=4, env=SHELL)
    assert active.active_task(agent.store.layout) == TASK
    assert agent.shell(f"git pog start {other}") is not None
    assert agent.shell("git pog new another --start") is not None
    assert is_bound(agent)


def test_5_it_makes_a_part_of_its_task_that_has_no_limits(agent: Asking, typing: Here) -> None:
    part = TaskId(str(typing("new", "a part", "--json", env=SHELL).json["task"]))
    other = typing.task("without limits")
    elsewhere = TaskId(str(typing("new", "a part", "--parent", other, "--json", env=SHELL).json["task"]))
    agent.store.refresh()
    for each in (part, elsewhere):
        assert [limits.allow for limits in bounds.bounds_of(agent.store, each).limits] == [("src/**",)]
    claims.start(agent.store, part, agent.by(AGENT))
    agent.environ = {"POG_TASK": part}
    assert is_bound(agent)


def test_6_it_edits_the_compiled_file(agent: Asking) -> None:
    path = contracts.path_of(agent.store, TASK)
    contract, claim = compiled.read(bytes(path))
    assert agent.edit(str(path)) is not None
    assert agent.shell(f"echo x > {path}") is not None
    contract.limits = ()
    path.write_bytes(compiled.encode(contract, claim))
    assert agent.write("README", "written = outside(1)\n") is None, "until it is found out"
    assert {drafts.TAMPERED, drafts.OUTSIDE} <= set(notes(agent))
    assert is_bound(agent)


def test_7_it_deletes_the_compiled_file_or_all_of_them(agent: Asking) -> None:
    shutil.rmtree(contracts.path_of(agent.store, TASK).parent)
    assert agent.write("README", "written = outside(1)\n") is None
    assert {drafts.TAMPERED, drafts.OUTSIDE} <= set(notes(agent))
    contracts.refresh(agent.store, TASK)
    assert is_bound(agent)
    with pytest.raises(RefusedByPolicy, match="went beyond its limits"):
        tasks.move(agent.store, TASK, "completed", agent.by(AGENT))
    tasks.move(agent.store, TASK, "completed", agent.by(PERSON))


def test_8_it_writes_a_file_of_limits(agent: Asking, repo: Repo) -> None:
    assert agent.edit(".pog.toml", "Write") is not None
    repo.commit({".pog.toml": 'allow = ["**"]\n'}, "wider")
    agent.start(actor=AGENT)
    contracts.refresh(agent.store, TASK)
    assert is_bound(agent)


def test_9_it_sets_git_s_configuration(agent: Asking, repo: Repo) -> None:
    assert agent.shell("git config pog.allow '**'") is not None
    assert agent.shell("echo '[pog] allow = **' >> .git/config") is not None
    repo.git("config", "pog.allow", "**")
    setup.leave_settings(agent.store)
    contracts.refresh_all(agent.store)
    assert is_bound(agent)


def test_10_it_gives_its_claim_back(agent: Asking, typing: Here) -> None:
    assert agent.shell("git pog release @") is not None
    claims.release(agent.store, TASK, agent.by(AGENT))
    found = agent.edit("README")
    assert found is not None
    assert found.rule == "claim-lost"
    agent.start(actor=AGENT)
    assert is_bound(agent)


def test_11_it_imports_a_record_of_a_person_who_widened_it(agent: Asking) -> None:
    assert agent.shell("git pog import pog-task wide.jsonl") is not None
    draft = Draft(
        kind="defined", time=agent.now, actor=PERSON, definition=Definition(title="a task", scope=WIDE),
        source=Source(format="pog-task", key="wide"),
    )  # fmt: skip
    intake.take(agent.store, [TaskDrafts(task=TASK, drafts=(draft,))])
    claims.claim(agent.store, TASK, agent.by(AGENT), renew=True)
    assert is_bound(agent)


def test_12_it_names_another_task_or_turns_the_recording_off(agent: Asking) -> None:
    for command in ("POG_TASK=x python a.py", "export POG_DISABLE=1; ls", "env POG_DISABLE=1 ls", "git pog pause",
                    "git pog init --remove", "git pog agent remove claude-code"):  # fmt: skip
        assert agent.shell(command) is not None, command
    assert is_bound(agent)


def test_13_it_takes_its_hooks_or_its_records_away(agent: Asking) -> None:
    """Case T21."""
    for path in (".claude/settings.json", ".claude/settings.local.json", ".git/refs/pog/tasks/x", ".git/pog/task"):
        assert agent.edit(path) is not None, path
    for command in (f"git update-ref -d refs/pog/tasks/{TASK}", f"git push . :refs/pog/tasks/{TASK}",
                    "rm -rf .git/pog", "mv .git/pog src/pog", "find .git -name contracts -delete"):  # fmt: skip
        assert agent.shell(command) is not None, command
    assert is_bound(agent)


def test_14_its_links_lead_elsewhere_once_they_were_judged(agent: Asking) -> None:
    """What a link leads to is judged when it is made, and again when it is written through (case T7)."""
    assert agent.shell("ln -s ../README src/link && echo x > src/link") is not None
    (agent.root / "src").mkdir(exist_ok=True)
    (agent.root / "src" / "link").symlink_to("../README")
    assert agent.edit("src/link") is not None
    assert is_bound(agent)


def test_a_person_widens_it_and_it_holds_after_a_new_start(agent: Asking) -> None:
    agent.amend(scope=scope("src/**", "docs/**"))
    assert agent.edit("docs/x") is not None, "not before it is claimed again"
    claims.start(agent.store, TASK, agent.by(AGENT))
    assert agent.edit("docs/x") is None
    assert is_bound(agent) is False, "the limits are others now"
    assert agent.edit("README") is not None


def test_a_person_who_holds_it_widens_nothing_in_passing(repo: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    found = asking(repo, capfd)
    found.bind(scope=scope("src/**"))
    found.amend(scope=WIDE)
    assert found.edit("README") is not None
    found.start()
    assert found.edit("README") is None
    found.store.close()


@pytest.mark.parametrize("actor", [AGENT, PERSON])
def test_what_narrows_holds_at_once_whoever_says_it(agent: Asking, actor: Actor) -> None:
    agent.amend(actor, scope=scope("src/**", deny=("src/secret/**",)))
    assert agent.edit("src/secret/x") is not None
    assert agent.edit("src/a.py") is None


def test_a_definition_that_is_not_here_allows_nothing(agent: Asking) -> None:
    stored = read_state(agent.store, TASK).definition
    assert stored is not None
    folding = bounds.Folding(agent.store)
    event = agent.store.events(TASK)[0]
    missing = event.event.__class__  # the same event, of which the text is not here
    fields = {name: getattr(event.event, name) for name in missing.__struct_fields__}
    text = stored.__class__(blob="0" * 64, size=1, class_="content")  # type: ignore[arg-type]
    folding.add(event.__class__(event.event_id, event.canonical, missing(**fields | {"definition": text})))
    assert [limits.allow for limits in folding.bounds.limits] == [()]


def test_parts_of_parts_are_bound_and_no_cycle_hangs(agent: Asking) -> None:
    one, other = TaskId("0198a1b2-c3d4-7e5f-8a9b-000000000001"), TaskId("0198a1b2-c3d4-7e5f-8a9b-000000000002")
    above = (Link(rel="parent", task=TASK),)
    tasks.define(agent.store, one, Definition(title="one"), agent.by(AGENT), links=above)
    tasks.define(agent.store, other, Definition(title="two"), agent.by(AGENT), links=(Link(rel="parent", task=one),))
    assert [limits.allow for limits in bounds.bounds_of(agent.store, other).limits] == [("src/**",)]


@pytest.mark.parametrize("name", SHELLS)
def test_the_shell_of_an_agent_is_no_person_s(name: str) -> None:
    settings = {"user.name": ["Ada"], "user.email": ["ada@example.com"]}
    found = actor_by(None, {name: "1"}, settings)
    assert (found.type, found.name) == ("agent", SHELLS[name])
    assert found.on_behalf_of is not None
    with pytest.raises(RefusedByPolicy):
        actor_by("human:Ada", {name: "1"}, settings)
    assert actor_by("other", {name: "1"}, settings).name == "other"
    assert actor_by(None, {name: ""}, settings).type == "human"
