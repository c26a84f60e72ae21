from pogstore.interop.pog_fields import source_fields
from tests.interop.pog import ID, OTHER, PLACE, as_file, clean, codes, drafts, entry, key, read, record, without

SECOND = "list/web/login/b.yaml"


def test_keys_begin_with_the_raw_id_in_lower_case() -> None:
    assert {key(each).split("/")[0] for each in drafts(as_file(clean(id="PARENT-1")))} == {"parent-1"}


def test_keys_never_hold_free_text() -> None:
    for odd in ("x" * 200, "a\nb", "\x1b[31m"):
        reading = read(as_file(clean(id=odd)))
        assert {key(each).split("/")[0] for each in reading.tasks[0].drafts} == {reading.tasks[0].task}
        assert reading.names == {odd: reading.tasks[0].task}


def test_other_names_of_a_task() -> None:
    """I-30: the path is one where the title is not in it."""
    made = drafts(as_file(clean(id="PARENT-1", issue="P-7"), SECOND))
    assert made[0].definition is not None
    assert made[0].definition.aliases == ("PARENT-1", "P-7", SECOND)
    made = drafts(as_file(clean()))
    assert made[0].definition is not None
    assert made[0].definition.aliases == ()


def test_a_task_without_a_title_is_called_after_its_file() -> None:
    for fields in (without("title"), clean(title=None), clean(title=""), clean(title=["a"])):
        definition = drafts(as_file(fields))[0].definition
        assert definition is not None
        assert definition.title == "Tidy"
        assert source_fields(definition) == fields


def test_nil_ids_of_two_repositories_are_two_tasks() -> None:
    """I-05."""
    nil = as_file(clean(id="00000000-0000-0000-0000-000000000000"))
    (one,), (other,) = read(nil).tasks, read(nil, repository="cd" * 20).tasks
    assert one.task != other.task
    assert [key(each) for each in one.drafts] == [key(each) for each in other.drafts]


def test_one_id_in_two_files_is_one_task_told_twice() -> None:
    """I-06: both are kept, the second goes on from the first, and nothing is told twice."""
    later = clean(
        title="Later", history=[entry("created", 0), entry("claimed", 5), entry("blocked", 50)], status="blocked"
    )
    reading = read(as_file(clean(), "list/web/login/a.yaml"), as_file({**later, "id": ID.upper()}, SECOND))
    (task,) = reading.tasks
    assert [key(each) for each in task.drafts] == [
        f"{ID}/defined",
        f"{ID}/history/0",
        f"{ID}/history/1",
        f"{ID}/history/1/status",
        f"{ID}/history/2",
        f"{ID}#2/defined",
        f"{ID}#2/history/2",
    ]
    assert [each.where for each in reading.oddities if each.code == "I-06"] == [SECOND]
    assert reading.names == {ID: ID, ID.upper(): ID}


def test_a_second_telling_that_adds_nothing_still_sets_its_status() -> None:
    reading = read(as_file(clean(), "list/web/login/a.yaml"), as_file(clean(status="cancelled"), SECOND))
    assert reading.tasks[0].drafts[-1].fields == {"status": "cancelled"}
    assert key(reading.tasks[0].drafts[-1]) == f"{ID}#2/inferred/cancelled"


def test_names_of_all_tasks() -> None:
    reading = read(as_file(clean(id="One")), as_file(clean(id=OTHER), SECOND), record("orphan"))
    assert reading.names.keys() == {"One", OTHER, "orphan"}
    assert {task.task for task in reading.tasks} == set(reading.names.values())


def test_oddities_say_where() -> None:
    reading = read(as_file(clean(priority="critical")), record())
    assert [(each.code, each.where) for each in reading.oddities] == [("I-21", PLACE)]
    assert codes(read(as_file(clean()), record())) == set()
