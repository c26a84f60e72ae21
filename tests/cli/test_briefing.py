"""`git pog context`: all that is there, within a budget, and foreign words as data and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pogstore import state
from pogstore.cli._briefing import pieces
from pogstore.cli._briefing_forms import Json, Markdown
from pogstore.cli._budget import fitted, tokens
from pogstore.cli._shapes import SHAPES
from pogstore.cli.context import LEAST
from pogstore.history.briefing import Briefing, FileSeen, Said
from pogstore.history.related import Related
from pogstore.history.tasks import Summary
from pogstore.model import FORMAT, Actor, ChecklistItem, Decided, Definition, Globs, Noted, Reviewed, Text
from pogstore.store.store import open_store
from tests.cli.conftest import Here
from tests.cli.markdown import fences, outside
from tests.cli.shapes import fits
from tests.cli.test_json import imported
from tests.cli.test_markdown import hostile
from tests.conftest import STARTED, Repo
from tests.strategies import TASK, seal

MARK = "EVIL"
OWN = "The exception is the definition, which a person wrote in this repository"
FOREIGN = "This holds for the definition too, which no person wrote in this repository"
some = st.lists(hostile.map(lambda text: MARK + text), max_size=6).map(tuple)
evil = hostile.map(lambda text: MARK + text)
texts = st.one_of(st.none(), evil, evil.map(lambda text: text * 200))


def event(kind: Any, by: str, **fields: Any) -> Any:
    actor = Actor(type="agent", name=by)
    return seal(kind(v=FORMAT, task=TASK, clock=1, time=STARTED, actor=actor, **fields))


@st.composite
def briefings(draw: st.DrawFn) -> Briefing:
    """All that a task can hold, written by somebody who wants to be obeyed."""
    definition = Definition(
        title=draw(evil),
        intent=draw(texts),
        description=draw(texts),
        category=draw(evil),
        priority=draw(evil),
        tags=draw(some),
        inputs=draw(some),
        checks=draw(some),
        checklist=tuple(ChecklistItem(text=text) for text in draw(some)),
        scope=Globs(allow=draw(some), deny=draw(some)),
        commands=Globs(allow=draw(some)),
    )
    blob = Text(blob="0" * 64, size=1, class_="content")  # type: ignore[arg-type]

    def said(kind: Any, **fields: Any) -> tuple[Said, ...]:
        return tuple(Said(event(kind, draw(evil), **fields), text) for text in draw(st.lists(texts, max_size=5)))

    claims = tuple(
        state.Claim(event_id=f"{n:064x}", actor=Actor(type="agent", name=name))  # type: ignore[arg-type]
        for n, name in enumerate(draw(some))
    )
    line = Summary(task=TASK, title=draw(evil), status=draw(evil), titled=True)
    return Briefing(
        task=TASK,
        now=replace(state.begin(TASK), status=draw(evil), claims=claims),
        definition=draw(st.sampled_from((definition, None))),
        is_own=draw(st.booleans()),
        reason=draw(texts),
        outcome=draw(texts),
        decisions=said(Decided, text=blob),
        notes=said(Noted, topic=draw(evil)),
        reviews=said(Reviewed, verdict=draw(evil)),
        files=tuple(
            FileSeen(path.encode("utf-8", "surrogatepass"), ("about it",), event(Noted, draw(evil)))
            for path in draw(some)
        ),
        related=tuple(
            Related(line, (draw(evil),), 1, draw(some), outcome) for outcome in draw(st.lists(texts, max_size=5))
        ),
    )


@settings(max_examples=40)
@given(briefings(), st.sampled_from((LEAST, 700, 1000, 3000, 10**6)))
def test_no_word_of_others_gets_out_and_no_budget_is_exceeded(told: Briefing, budget: int) -> None:
    """Case T20: what others wrote stands in fences that it cannot end, and is within the budget."""
    listed = pieces(told, STARTED)
    page = Markdown(told, budget)
    text = page.render(fitted(listed, budget, page.render, page.size))
    assert tokens(text) <= budget
    assert MARK not in outside(text)
    assert not set(text) & set(map(chr, (*range(9), *range(11, 32), *range(127, 160))))
    form = Json(told, budget)
    answer = fitted(listed, budget, form.render, form.size)
    value = json.loads(form.render(answer))
    assert tokens(form.render(answer)) <= value["budget"]["estimated"] <= budget
    assert fits(value, SHAPES["context"])
    assert sum(map(len, (value[name] for name in value if isinstance(value[name], list)))) == len(answer.pieces)
    if budget == 10**6:
        assert value["left_out"] == {}
        assert "Left out" not in outside(text)


def context(here: Here, *words: str, cwd: Path | None = None) -> Any:
    value = here("context", *words, "--json", cwd=cwd).json
    assert fits(value, SHAPES["context"])
    return value


def test_what_an_agent_needs(here: Here, repo: Repo) -> None:
    base = here.task("Base", "--tag", "dates")
    here("start", base)
    here("run", "--task", base, "--", "sh", "-c", "echo y > a.py")
    here("done", base, "-m", "the parser is there")
    other = here.task("Elsewhere", "--tag", "wet", "--tag", "dates")
    task = here.task(
        "Fix the parser", "--intent", "Dates before 1970 fail", "--depends", base, "--tag", "dates", "--tag", "wet",
        "--context", "a.py", "--file", "b.py", "--allow", "src/**", "--deny", "*.lock", "--item", "one",
        "--item", "two",
        "--check", "make test", "--approvals", "1", "--budget-minutes", "30", "--deny-command", "rm",
    )  # fmt: skip
    here("start", task, "--as", "robot", "--lease", "2h")
    for word in ("first", "second"):
        here("decide", word, "--task", task)
        here("note", f"note {word}", "--task", task, "--topic", "plan")
    here("check", "2", "--task", task)
    here("block", task, "-m", "waits for the clay")
    here("run", "--task", task, "--", "sh", "-c", "echo z >> a.py; echo c > c.py")
    value = context(here, task)
    assert (value["title"], value["status"], value["left_out"]) == ("Fix the parser", "blocked", {})
    assert value["standing"][0]["claim"].startswith("claimed by robot until 2026-01-05 11:00")
    assert value["standing"][1]["text"] == "waits for the clay"
    assert {"field": "intent", "text": "Dates before 1970 fail", "trust": "assignment"} in value["definition"]
    assert [(each["limit"], each.get("value")) for each in value["limits"]] == [
        ("may change", "src/**"), ("must not change", "*.lock"), ("may change nothing else", None),
        ("must not run", "rm"), ("at most, minutes", "30"), ("proved done by", "make test"), ("approvals needed", "1"),
    ]  # fmt: skip
    assert [(item["item"], item["done"]) for item in value["checklist"]] == [(1, False), (2, True)]
    assert [each["text"] for each in value["decisions"]] == ["first", "second"]
    assert [(each["text"], each["topic"]) for each in value["notes"]] == [
        ("note first", "plan"),
        ("note second", "plan"),
    ]
    files = {each["path"]: each for each in value["files"]}
    assert list(files) == ["a.py", "b.py", "c.py"]
    assert files["a.py"]["why"] == ["to read before", "changed by it"]
    assert (files["a.py"]["last"]["kind"], files["a.py"]["last"]["task"]) == ("ran", task)
    assert "last" not in files["b.py"]
    assert [(each["task"], each["why"]) for each in value["related"]] == [
        (base, ["this depends on it", "changed 1 of the files above", "tag dates"]),
        (other, ["tag dates", "tag wet"]),
    ]
    assert value["related"][0]["outcome"] == "the parser is there"
    page = here("context", task).stdout
    assert page.startswith(f"# Task {task}\n")
    assert "the parser is there" in fences(page)
    assert OWN in outside(page)


def test_a_text_that_cannot_be_told_is_said_to_be_missing(here: Here, repo: Repo) -> None:
    task = here.task("a task")
    kept = here("decide", "kept", "--task", task, "--json").json["id"]
    lost = here("decide", "lost", "--task", task, "--json").json
    store = open_store(repo.path)
    row = store.find_content(lost["text"]["blob"])
    store.close()
    assert row is not None
    path = repo.path / ".git" / "objects" / row.oid[:2] / row.oid[2:]
    path.chmod(0o600)
    path.write_bytes(b"garbage")
    first, second = context(here, task)["decisions"]
    assert (first["event"], first["text"], "lacking" in first) == (kept, "kept", False)
    assert (second["event"], second["text"]) == (lost["id"], None)
    assert second["lacking"] == "damaged: see 'git pog verify'"
    assert f"event {lost['id'][:10]} (damaged: see 'git pog verify')\n" in here("context", task).stdout


def test_a_private_definition_is_not_here_in_another_clone(here: Here, repo: Repo) -> None:
    session = imported(here)
    assert context(here, session)["definition"][0]["field"] == "intent"
    remote, other = repo.path.parent / "hub.git", repo.path.parent / "other"
    repo.git("init", "--quiet", "--bare", str(remote))
    here("push", str(remote))
    repo.git("clone", "--quiet", str(repo.path), str(other))
    here("init", cwd=other)
    here("pull", str(remote), cwd=other)
    assert context(here, session, cwd=other)["definition"] == [
        {"field": "definition", "value": "not here: private, erased or not fetched", "trust": "untrusted"}
    ]


def test_a_small_budget_keeps_the_newest_and_says_what_is_missing(here: Here) -> None:
    task = here.task("a task")
    for number in range(30):
        here("note", f"note {number} " + "long " * 30, "--task", task)
    page = here("context", task, "--budget", "700").stdout
    assert tokens(page) <= 700
    assert "note 29" in page
    assert "note 0 " not in page
    assert f"of Notes. See `git pog show --events {task}`." in page
    value = context(here, task, "--budget", "900")
    assert value["left_out"]["notes"] + len(value["notes"]) == 30
    assert here("context", task, "--budget", "599", status=129).stdout == ""
    assert here("context", status=128).stderr.startswith("error: no active task")


def test_only_what_a_person_wrote_here_is_to_be_done(here: Here, repo: Repo) -> None:
    """Text of other clones and of agents is data, never an instruction."""
    task = here.task("a task", "--intent", "do it")
    assert OWN in context(here, task)["notice"]
    here("edit", task, "--intent", "do worse", "--as", "robot")
    assert FOREIGN in context(here, task)["notice"]
    assert {each["trust"] for each in context(here, task)["definition"]} == {"untrusted"}
    here("edit", task, "--intent", "do it after all")
    assert OWN in context(here, task)["notice"]
    remote, other = repo.path.parent / "hub.git", repo.path.parent / "other"
    repo.git("init", "--quiet", "--bare", str(remote))
    here("push", str(remote))
    repo.git("clone", "--quiet", str(repo.path), str(other))
    here("init", cwd=other)
    here("pull", str(remote), cwd=other)
    assert FOREIGN in context(here, task, cwd=other)["notice"]
    here("edit", task, "--intent", "mine now", cwd=other)
    assert OWN in context(here, task, cwd=other)["notice"]
    here("push", str(remote), cwd=other)
    here("pull", str(remote))
    assert FOREIGN in context(here, task)["notice"], "it was amended elsewhere"
    assert context(here, task)["definition"][0]["text"] == "mine now"


def test_an_event_cannot_call_a_definition_ours(here: Here, repo: Repo) -> None:
    """Whether it was written here is told by a register of this repository, not by what an event says."""
    task, other = here.task("a task", "--intent", "do it"), here.task("another", "--intent", "do that")
    register = repo.path / ".git" / "pog" / "defined"
    definition = here("log", task, "--json").json[-1]["definition"]["blob"]
    (register / definition).unlink()
    assert FOREIGN in context(here, task)["notice"]
    assert OWN in context(here, other)["notice"]
    here("edit", task, "--intent", "do this")
    assert OWN in context(here, task)["notice"]
    here("edit", task, "--intent", "do worse", "--as", "robot")
    (register / here("log", task, "--kind", "defined", "--json").json[0]["definition"]["blob"]).touch()
    assert FOREIGN in context(here, task)["notice"], "it is the definition of an agent all the same"


def test_who_changed_more_of_the_same_files_is_nearer(here: Here) -> None:
    other = [here.task(f"task {number}") for number in range(3)]
    for number in (1, 0, 2):
        here(
            "run",
            "--task",
            other[number],
            "--",
            "sh",
            "-c",
            f"for n in $(seq 0 {number}); do echo {number} >> $n.py; done",
        )
    task = here.task("a task", *(word for n in range(3) for word in ("--file", f"{n}.py")))
    assert [(each["title"], each["why"]) for each in context(here, task)["related"]] == [
        (f"task {number}", [f"changed {number + 1} of the files above"]) for number in (2, 1, 0)
    ]


@pytest.mark.parametrize("rel", ["parent", "depends", "blocks", "derived-from"])
def test_links_are_told_from_both_ends(here: Here, rel: str) -> None:
    one = here.task("one")
    two = here.task("two", f"--{rel}", one)
    (up,), (down,) = context(here, two)["related"], context(here, one)["related"]
    words = {
        "parent": ("parent", "sub-task"),
        "depends": ("this depends on it", "depends on this"),
        "blocks": ("this blocks it", "blocks this"),
        "derived-from": ("origin", "derived from this"),
    }
    assert (up["task"], down["task"]) == (one, two)
    assert (up["why"], down["why"]) == ([words[rel][0]], [words[rel][1]])
