import pytest

from pogstore.interop.pog_fields import Value
from pogstore.interop.pog_history import MAX_TIME, action_of, actor_of, moment, status_of, word
from tests.interop.pog import ID, NOW, as_file, clean, drafts, entry, key, without

NINE = 1_770_541_200_000_000
MINUTE = 60_000_000


@pytest.mark.parametrize(
    ("text", "time", "offset"),
    [
        ("2026-02-08T17:00:00+08:00", NINE, 480),
        ("2026-02-08T09:00:00Z", NINE, 0),
        ("2026-02-08T09:00:00.000Z", NINE, 0),
        ("2026-02-08T09:00:00.000007Z", NINE + 7, 0),
        ("2026-02-08 09:00:00.1234567", NINE + 123_456, 0),
        ("2026-02-08t09:00z", NINE, 0),
        ("2026-02-08", NINE - 9 * 60 * MINUTE, 0),
        ("2026-02-08T04:30:00-0430", NINE, -270),
        ("2026-02-09T04:00:00+19:00", NINE, 840),
        ("1969-12-31T23:59:59.999999Z", -1, 0),
    ],
)
def test_times_keep_instant_microseconds_and_offset(text: str, time: int, offset: int) -> None:
    found = moment(text)
    assert found is not None
    assert (found.time, found.offset) == (time, offset)


@pytest.mark.parametrize(
    "text",
    ["whenever", "", "2026-13-01", "2026-02-30T00:00:00Z", "2026-02-08T25:00Z", "9999-01-01", "0001-01-01", None, []],
)
def test_what_is_no_time(text: Value) -> None:
    assert moment(text) is None


def test_times_stay_within_what_an_event_holds() -> None:
    last = moment("2255-06-05T23:47:34.740991Z")
    assert last is not None
    assert last.time == MAX_TIME
    assert moment("2255-06-05T23:47:34.740992Z") is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [("user", "human"), ("User", "human"), ("pog-cli", "tool"), ("system", "tool"), ("Antigravity", "agent")],
)
def test_actors_keep_their_spelling(name: str, kind: str) -> None:
    actor = actor_of(name)
    assert (actor.type, actor.name) == (kind, name)


def test_nobody_is_unknown() -> None:
    nobody: list[Value] = [None, "", "  ", ["a"]]
    assert {actor_of(value).type for value in nobody} == {"unknown"}


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("in_review", "in_review"),
        ("In Review", "in_review"),
        ("in-review", "in_review"),
        ("todo", "pending"),
        ("done", "completed"),
        ("failed", "blocked"),
        ("executing", "in_progress"),
        ("canceled", "cancelled"),
        ("wherever", "wherever"),
        ("the password is hunter2!", None),
        (None, None),
    ],
)
def test_statuses(said: Value, status: str | None) -> None:
    assert status_of(said) == status


def test_free_text_is_no_word() -> None:
    assert word("Quick Add") == "quick_add"
    assert word("a" * 41) is None
    assert action_of({"action": "see: http://x"}) is None


def test_a_history_in_the_order_of_its_list() -> None:
    made = drafts(as_file(clean()))
    assert [(each.kind, key(each).split("/", 1)[1]) for each in made] == [
        ("defined", "defined"),
        ("noted", "history/0"),
        ("claimed", "history/1"),
        ("moved", "history/1/status"),
        ("moved", "history/2"),
    ]
    assert [each.fields for each in made] == [
        {},
        {"topic": "pog-task:created"},
        {},
        {"status": "in_progress"},
        {"status": "completed"},
    ]
    assert [each.inferred for each in made] == [None, None, None, True, None]
    assert {each.actor.name for each in made} == {"ada"}
    assert [each.versioned for each in made] == [True, False, False, False, False]


def test_messages_are_content_apart_from_the_event() -> None:
    history: list[Value] = [entry("claimed", 5, "mine"), entry("blocked", 6, "no key"), entry("completed", 7, "fine")]
    made = drafts(as_file(clean(history=history, notes="keep this")))
    texts = [{name: (text.text, text.class_) for name, text in each.texts.items()} for each in made]
    assert texts == [
        {},
        {},
        {"reason": ("mine", "content")},
        {"reason": ("no key", "content")},
        {"outcome": ("fine", "content")},
        {"text": ("keep this", "content")},
    ]
    assert (made[-1].fields, key(made[-1]), made[-1].versioned) == (
        {"topic": "pog-task:notes"},
        f"{ID}/notes",
        True,
    )


def test_time_orders_nothing() -> None:
    """I-09: invented and equal times."""
    history: list[Value] = [entry("created", 30), entry("progress", 10), entry("progress", 10), entry("completed", 5)]
    made = drafts(as_file(clean(history=history, claimed_by=None)))
    assert [key(each).rsplit("/", 1)[1] for each in made] == ["defined", "0", "1", "2", "3"]


def test_an_entry_without_a_time_has_that_of_the_one_before() -> None:
    """I-11."""
    history: list[Value] = [
        {**entry("progress", 20), "timestamp": "whenever"},
        entry("progress", 25),
        "only words",
        None,
    ]
    made = drafts(as_file(without("claimed_by", "completed_at", history=history)))
    begun = made[0].time
    assert [each.time - begun for each in made] == [0, 0, 25 * MINUTE, 25 * MINUTE, 25 * MINUTE, 25 * MINUTE]
    assert made[3].texts["text"].text == "only words"
    assert not made[4].texts


def test_a_task_without_any_time_is_of_now() -> None:
    made = drafts(as_file({"type": "task", "id": "1", "title": "Tidy", "status": "pending"}))
    assert [(each.kind, each.time) for each in made] == [("defined", NOW)]


def test_completed_without_an_event_is_inferred_and_names_nobody() -> None:
    """I-13."""
    made = drafts(as_file(without("claimed_by", history=[entry("created", 0)])))
    assert (made[-1].kind, made[-1].fields, made[-1].inferred) == ("moved", {"status": "completed"}, True)
    assert made[-1].actor.type == "unknown"
    assert made[-1].time == made[0].time + 45 * MINUTE
    assert key(made[-1]).endswith("/inferred/completed")


def test_claimed_by_without_an_event_is_an_inferred_claim_before_the_work() -> None:
    """I-18."""
    history: list[Value] = [entry("created", 0), entry("in_review", 40)]
    made = drafts(as_file(clean(status="in_review", history=history)))
    assert [(each.kind, each.inferred, each.actor.name) for each in made[2:]] == [
        ("claimed", True, "ada"),
        ("moved", True, "ada"),
        ("moved", None, "ada"),
    ]
    assert made[2].time == made[0].time + 5 * MINUTE


def test_a_claim_does_not_move_what_is_still_pending() -> None:
    made = drafts(as_file(clean(status="pending", history=[])))
    assert [each.kind for each in made] == ["defined", "claimed"]


def test_the_status_field_wins_over_the_history() -> None:
    """I-15."""
    made = drafts(as_file(clean(status="in_review")))
    assert [each.fields["status"] for each in made if each.kind == "moved"] == ["in_progress", "completed", "in_review"]


def test_a_status_in_words_of_others_is_mapped() -> None:
    """I-23."""
    assert not [each for each in drafts(as_file(clean(status="done"))) if "/inferred/" in key(each)]
    assert drafts(as_file(clean(status="wherever")))[-1].fields == {"status": "wherever"}


def test_free_text_never_reaches_an_event() -> None:
    said = "the password is: hunter2!"
    made = drafts(as_file(clean(status=said, history=[{**entry("created", 0), "action": said}])))
    assert not [each for each in made if "hunter2" in repr((each.fields, each.source, each.links))]
    noted = next(each for each in made if each.kind == "noted")
    assert (noted.fields, noted.texts["text"].text) == ({"topic": "pog-task:entry"}, f"{said}: said")


def test_no_name_is_longer_than_an_event_bears() -> None:
    made = drafts(as_file(clean(history=[{**entry("created", 0), "agent": "x" * 5000}])))
    assert max(len(each.actor.name or "") for each in made) <= 200
