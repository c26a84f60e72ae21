import pytest

from pogstore.interop.pog_fields import Fields, Value
from pogstore.interop.pog_oddities import issue_of, record_oddities, spellings
from tests.interop.pog import ID, OTHER, PLACE, as_file, clean, codes, entry, read, record, without

STEPS: list[Value] = [entry("created", 0), entry("claimed", 5)]
DONE = entry("completed", 45)

ODD: list[tuple[str, Fields]] = [
    ("I-01", clean(id="a1b2c3d4-e5f6-g7h8-i9j0-k1l2m3n4o5p6")),
    ("I-02", clean(id="0194e8c1-7f32-7234-8c43-8f0a2e5d9b1c")),
    ("I-03", clean(id=ID.upper())),
    ("I-04", clean(id="h7a8b9c0-d1e2...")),
    ("I-05", clean(id="00000000-0000-0000-0000-000000000000")),
    ("I-07", clean(created_at="2026-02-08T02:00:00")),
    ("I-07", clean(claimed_at="2026-02-08T10:00:00+19:00")),
    ("I-08", clean(claimed_at="2099-01-01T00:00:00Z")),
    ("I-09", clean(history=[*STEPS, entry("progress", 5), DONE])),
    ("I-11", clean(created_at="whenever")),
    ("I-11", clean(history=[*STEPS, {**DONE, "timestamp": ""}])),
    ("I-12", clean(created_at="2026-02-08T09:59:00+08:00")),
    ("I-13", without("completed_at")),
    ("I-13", without("started_at")),
    ("I-13", without("claimed_by")),
    ("I-13", clean(history=STEPS)),
    ("I-14", clean(checklist=[{"text": "one", "completed": "false"}])),
    ("I-14", clean(checklist=[])),
    ("I-14", without("checklist")),
    ("I-15", clean(status="in_review")),
    ("I-15", clean(history=[*STEPS, DONE, entry("progress", 50)])),
    ("I-16", clean(history=[*STEPS, entry("in_review", 10), entry("progress", 20), DONE])),
    ("I-17", clean(history=[*STEPS, entry("in_review", 10), DONE])),
    ("I-18", clean(history=[entry("created", 0), DONE])),
    ("I-18", without("claimed_by")),
    ("I-19", clean(claimed_by="Ada")),
    ("I-20", clean(actual_hours="0")),
    ("I-20", clean(actual_hours="0.75")),
    ("I-21", clean(priority="critical")),
    ("I-22", clean(category="plumbing")),
    ("I-23", clean(status="done")),
    ("I-23", without("status")),
    ("I-24", clean(assigned_to="ada")),
    ("I-25", clean(checklist=[{"task": "one", "done": "true"}])),
    ("I-25", clean(checklist=[{"text": "one", "completed": "true", "by": "ada"}])),
    ("I-27", clean(notes=None)),
    ("I-27", clean(tags=None)),
    ("I-27", clean(tags="one")),
    ("I-27", clean(description=["a"])),
    ("I-27", clean(actual_hours="some")),
    ("I-36", clean(type="epic")),
    ("I-36", without("id")),
    ("I-38", clean(record_path="../../../outside/record.md")),
    ("I-38", clean(record_path="record/elsewhere/record.md")),
    ("I-40", clean(description="see file:///Users/ada/notes.md")),
    ("I-40", clean(notes="see /home/ada/notes.md")),
    ("I-41", clean(related_files=["/etc/passwd"])),
    ("I-41", clean(related_files=["src/*.py"])),
    ("I-41", clean(context_files=["src/"])),
    ("I-42", clean(notes="done in commit 8ae9beb")),
    ("I-47", clean(original_prompt="parent task id: {task.parent_task}")),
    ("I-49", clean(title="Tidy \x1b[31m")),
    ("I-49", clean(title="<img src=x>")),
]


@pytest.mark.parametrize(("code", "fields"), ODD)
def test_each_oddity_is_reported_and_the_task_is_taken(code: str, fields: Fields) -> None:
    reading = read(as_file(fields), record())
    assert code in codes(reading)
    assert any(task.drafts[0].raw for task in reading.tasks)


@pytest.mark.parametrize(
    "fields",
    [
        clean(priority="urgent"),
        clean(parent_task=None, issue="PROJ-1"),
        clean(notes="a <b> c, 5 > 4"),
        clean(related_files=["src/測試 & (x) #1.py"]),
        clean(history=[*STEPS, entry("progress", 10), DONE]),
        clean(actual_hours="0.6666"),
    ],
)
def test_what_is_in_order_is_not_reported(fields: Fields) -> None:
    assert not read(as_file(fields), record()).oddities


def test_a_name_that_is_not_the_title() -> None:
    """I-30, I-31: compared in composed characters, kept as they are."""
    assert "I-30" in codes(read(as_file(clean(), "list/web/login/Tidy_up.yaml"), record()))
    composed, decomposed = "Caf\u00e9", "Cafe\u0301"
    found = codes(read(as_file(clean(title=composed), f"list/web/login/{decomposed}.yaml"), record()))
    assert found == {"I-31"}


def test_markup_in_a_path() -> None:
    """I-49."""
    assert "I-49" in codes(read(as_file(clean(), "list/web/login/<script>.yaml")))


def test_a_task_made_from_an_issue() -> None:
    """I-50."""
    fields = clean(title="PROJ-12 - Tidy", tags=["jira"])
    path = "list/web/login/PROJ-12 - Tidy.yaml"
    reading = read(as_file(fields, path), record())
    assert codes(reading) == {"I-50"}
    definition = reading.tasks[0].drafts[0].definition
    assert definition is not None
    assert definition.aliases == ("PROJ-12",)
    assert issue_of(path, clean()) is None


def test_one_issue_of_two_tasks() -> None:
    """I-50."""
    reading = read(as_file(clean(issue="P-1")), as_file(clean(id=OTHER, issue="P-1"), "list/web/login/b.yaml"))
    assert [each.detail for each in reading.oddities if each.code == "I-50"] == ["P-1 names 2 tasks"]


def test_spellings_of_one_agent() -> None:
    """I-19."""
    assert list(spellings(["Ada", "ada", "bo", "ADA"])) == [
        ("I-19", "one agent under several spellings: ADA, Ada, ada")
    ]


@pytest.mark.parametrize(
    "line", ["- **Status**: `pending`", "Status: In Progress", "* 狀態：in_review", "status:::: todo"]
)
def test_a_record_that_is_stale(line: str) -> None:
    """I-40."""
    assert [code for code, _ in record_oddities(f"# Done\n\nAll.\n{line}\n", "completed")] == ["I-40"]
    assert not list(record_oddities("# Done\n\nAll.\nStatus: completed today\n", "completed"))
    assert not list(record_oddities("# Done\n\nAll.\nStatus: see below\n", "completed"))


def test_a_record_that_is_a_template() -> None:
    """I-39."""
    assert [code for code, _ in record_oddities("# Task\n\n```\n\n```\n\n## Plan\n", None)] == ["I-39"]


def test_no_text_is_slow() -> None:
    """The patterns are linear: each of these would take minutes otherwise."""
    size = 300_000
    for text in (
        "status" + ":" * size,
        "/home/" * (size // 6),
        "commit" + " " * size,
        "x" * size,
        "#" * size,
        " " * size,
    ):
        list(record_oddities(text, "completed"))


def test_details_are_short_and_said_once() -> None:
    reading = read(as_file(clean(priority="x" * 5_000, history=[entry("odd", n) for n in range(20)])))
    assert max(len(each.detail) for each in reading.oddities) <= 300
    assert len([each for each in reading.oddities if each.code == "I-17"]) == 1
    assert {each.where for each in reading.oddities} == {PLACE}
