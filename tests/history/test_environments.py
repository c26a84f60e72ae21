"""Tests of which environment an event has, and of what two of them differ in."""

from collections.abc import Iterator
from typing import Any

import pytest

from pogstore.draft import Draft, DraftText, TaskDrafts
from pogstore.errors import BadInput, NotFound
from pogstore.history import environments
from pogstore.history.environments import Difference, Told, differences, told
from pogstore.history.names import Named
from pogstore.model import Actor, EventId
from pogstore.store.refs import content_ref
from pogstore.store.store import Store
from pogstore.work import intake
from tests.builders_store import ADA, OTHER, TASK, opened
from tests.conftest import STARTED, Repo


@pytest.fixture
def store(repo: Repo) -> Iterator[Store]:
    found = opened(repo)
    yield found
    found.close()


def step(store: Store, env: str | None = None, session: str | None = None, task: Any = TASK) -> EventId:
    actor = Actor(type="agent", name="robot", session=session) if session else ADA
    texts = {} if env is None else {"env": DraftText(text=env, class_="private", once=True)}
    draft = Draft(kind="stepped", time=STARTED, actor=actor, fields={"tool": "t", "class": "shell"}, texts=texts)
    intake.take(store, [TaskDrafts(task=task, drafts=(draft,))], imported=False)
    return store.events(task)[-1].event_id


def test_the_environment_of_an_event_is_its_own_or_the_last_before_it(store: Store) -> None:
    none = step(store)
    first = step(store, '{"a":"1"}')
    between = step(store)
    last = step(store, '{"a":"2"}')
    step(store, '{"a":"3"}', task=OTHER)
    for event_id, found in ((first, "1"), (between, "1"), (last, "2")):
        assert told(store, Named(TASK, event_id)).members == {"a": found}
    assert told(store, Named(TASK, between)).event_id == first
    assert told(store, Named(TASK)).members == {"a": "2"}
    with pytest.raises(NotFound, match="no environment"):
        told(store, Named(TASK, none))


def test_a_session_has_its_own(store: Store) -> None:
    step(store, '{"a":"1"}', "s1")
    step(store, '{"a":"2"}', "s2")
    later = step(store, None, "s1")
    assert told(store, Named(TASK, later)).members == {"a": "1"}
    with pytest.raises(NotFound):
        told(store, Named(TASK, step(store)))


def test_what_was_not_fetched_is_said(store: Store, repo: Repo) -> None:
    event_id = step(store, '{"a":"1"}')
    repo.git("update-ref", "-d", content_ref(TASK, "private"))
    with pytest.raises(NotFound, match=event_id) as caught:
        told(store, Named(TASK, event_id))
    assert caught.value.hint == "it is private: it was not fetched, or it was erased"


@pytest.mark.parametrize("text", ["", "[]", "not JSON"])
def test_what_is_no_environment_is_said(store: Store, text: str) -> None:
    event_id = step(store, text)
    with pytest.raises(BadInput, match="as any version"):
        told(store, Named(TASK, event_id))


def test_differences_are_of_members_that_either_tells() -> None:
    before = Told({"a": "1", "b": "1", "tools.git": "2"})
    after = Told({"a": "1", "b": "2", "c": "1"})
    assert differences(before, after) == [
        Difference("b", "1", "2"), Difference("c", None, "1"), Difference("tools.git", "2", None)
    ]  # fmt: skip
    assert differences(before, before) == []
    assert [each._replace(before=each.after, after=each.before) for each in differences(after, before)] == differences(
        before, after
    )


def test_what_one_side_cannot_tell_is_no_difference() -> None:
    later = Told({"later": "true", "a": "1"})
    assert differences(later, Told({"a": "1", "variables.TZ": "UTC"})) == []
    assert differences(Told({"interpreter": "cpython 3.11.1"}), Told({})) == []
    assert len(differences(Told({"interpreter": "cpython 3.11.1"}), Told({"interpreter": "cpython 3.12.1"}))) == 1


def test_the_present_one_tells_what_another_one_does(store: Store, repo: Repo) -> None:
    """A lock file of another folder and a variable that no list names, so that neither is taken for a difference."""
    repo.commit({"sub/uv.lock": "x", "go.sum": "y"})
    environ = {b"LEVEL": b"3", b"OTHER": b"4"}
    plain = environments.present(store, repo.path, environ)
    assert "locks.go.sum" in plain.members
    assert not {"locks.sub/uv.lock", "variables.LEVEL"} & plain.members.keys()
    like = Told(
        {"locks.sub/uv.lock": "", "locks.../x": "", "locks.README": "", "variables.LEVEL": "2", "variables.A_KEY": "x"}
    )
    found = environments.present(store, repo.path, environ | {b"A_KEY": b"x"}, like).members
    assert found["variables.LEVEL"] == "3"
    assert found.keys() - plain.members.keys() == {"locks.sub/uv.lock", "variables.LEVEL"}
