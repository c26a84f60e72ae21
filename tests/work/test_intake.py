"""What every importer and the spool rely on: versions of a source, limits of one event, and names without secrets."""

import pytest

from pogstore import codec
from pogstore.draft import Draft, DraftChange, DraftText, FileVersion, TaskDrafts
from pogstore.history.tasks import find_definition, read_state
from pogstore.model import Actor, Definition, Link, Source, Stepped
from pogstore.store.store import Store
from pogstore.work.intake import PART_BYTES, Taken, take
from tests.builders_store import ADA, OTHER, TASK, opened
from tests.conftest import STARTED, Repo

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def defined(title: str, *links: Link) -> Draft:
    """What a file says of a task, which may be edited later."""
    source = Source(format="file", key="task")
    definition = Definition(title=title)
    return Draft(
        kind="defined", time=STARTED, actor=ADA, definition=definition, links=links, source=source, versioned=True
    )


def stepped(*changes: DraftChange, **fields: object) -> Draft:
    own = {"tool": "Edit", "class": "edit"} | fields
    return Draft(kind="stepped", time=STARTED, actor=ADA, fields=own, changes=changes)


def took(store: Store, *drafts: Draft) -> Taken:
    return take(store, [TaskDrafts(task=TASK, drafts=drafts)])


def title(store: Store) -> str | None:
    definition = find_definition(store, read_state(store, TASK))
    return definition.title if definition else None


def test_a_version_is_taken_once_and_the_last_one_counts(repo: Repo) -> None:
    store = opened(repo)
    assert [took(store, defined(text)).events for text in ("one", "one", "two", "two", "one", "one")] == [
        1, 0, 1, 0, 1, 0,
    ]  # fmt: skip
    assert title(store) == "one"


def test_versions_may_come_in_one_intake(repo: Repo) -> None:
    store = opened(repo)
    assert took(store, defined("one"), defined("two"), defined("two"), defined("one")).events == 3
    assert took(store, defined("one")).events == 0
    assert title(store) == "one"


def test_other_links_are_another_version(repo: Repo) -> None:
    store = opened(repo)
    link = Link(rel="parent", task=OTHER)
    assert [took(store, defined("one", *links)).events for links in ((), (link,), (link,), ())] == [1, 1, 0, 1]


def test_a_version_is_compared_with_the_event_that_counts(repo: Repo) -> None:
    """Two clones may have taken different versions under one key."""
    store = opened(repo)
    took(store, defined("one"))
    for text in ("two", "two, corrected"):
        source = Source(format="file", key="task~2")
        draft = Draft(kind="defined", time=STARTED, actor=ADA, definition=Definition(title=text), source=source)
        store.index.discard()
        hidden = "UPDATE sources SET key = 'hidden' WHERE key = 'task~2'"
        store.refresh()
        store.index.connection.execute(hidden)
        took(store, draft)
    store.index.discard()
    standing = title(store)
    other = {"two": "two, corrected", "two, corrected": "two"}[standing or ""]
    assert took(store, defined(standing or "")).events == 0
    assert took(store, defined(other)).events == 1
    assert title(store) == other


def test_changes_that_are_over_the_limit_of_one_event_are_split(repo: Repo) -> None:
    version = FileVersion(mode="100644", data=b"x\n")
    long = [DraftChange(path=f"{'p' * 4000}{n}", after=version) for n in range(2000)]
    store = opened(repo)
    took(store, stepped(*long))
    events = [sealed for sealed in store.events(TASK) if isinstance(sealed.event, Stepped)]
    assert sum(len(sealed.canonical) for sealed in events) > PART_BYTES
    assert [codec.fields_of(sealed)["part"] for sealed in events] == [{"n": 1, "of": 2}, {"n": 2, "of": 2}]
    assert sum(len(getattr(sealed.event, "changes", ())) for sealed in events) == len(long)


@pytest.mark.parametrize(
    "draft",
    [
        stepped(tool="a\ud800"),
        stepped(call_id="a\ud800"),
        stepped(base={"branch": "a\udcff"}),
        stepped(DraftChange(path="a\ud800", after=FileVersion(mode="100644", data=b""))),
        stepped(DraftChange(path="b", from_="a\ud800", after=FileVersion(mode="100644", data=b""))),
    ],
    ids=["tool", "call", "branch", "path", "from"],
)
def test_lone_surrogates_are_replaced_everywhere(repo: Repo, draft: Draft) -> None:
    store = opened(repo)
    took(store, draft)
    assert "a\ufffd".encode() in store.events(TASK)[0].canonical


def test_no_name_holds_a_secret(repo: Repo) -> None:
    store = opened(repo)
    noted = Draft(
        kind="noted", time=STARTED, actor=Actor(type="agent", name=TOKEN), fields={"topic": TOKEN},
        texts={"text": DraftText(text=TOKEN, class_="content")},
    )  # fmt: skip
    assert took(store, stepped(tool=TOKEN), noted).redacted == {"github-token": 2}
    assert all(TOKEN.encode() not in sealed.canonical for sealed in store.events(TASK))
    assert [codec.fields_of(sealed)["kind"] for sealed in store.events(TASK)] == ["stepped", "noted"]
