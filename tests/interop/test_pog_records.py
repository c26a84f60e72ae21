from pogstore.interop.pog_records import MAX_BYTES, record_file
from pogstore.interop.pog_yaml import TaskFile
from tests.interop.pog import ID, NOW, OTHER, as_file, clean, codes, drafts, key, read, real, record


def test_records_are_told_after_the_history() -> None:
    made = drafts(as_file(clean()), record(), TaskFile(f"list/web/login/record/{ID}/logs/run.txt", b"ran"))
    assert [(key(each), each.texts["text"].text) for each in made[-2:]] == [
        (f"{ID}/record/logs/run.txt", "ran"),
        (f"{ID}/record/record.md", "# Done\n\nAll of it.\n"),
    ]
    for each in made[-2:]:
        assert (each.fields, each.versioned) == ({"topic": "pog-task:record"}, True)
        assert each.texts["text"].class_ == "content"
        assert each.time == made[-3].time


def test_a_folder_spelled_in_another_case() -> None:
    """I-03."""
    reading = read(as_file(clean(id=ID.upper())), record(ID))
    assert len(reading.tasks) == 1
    assert any(each.code == "I-03" and each.where.endswith("record.md") for each in reading.oddities)
    assert reading.names == {ID.upper(): ID}


def test_the_places_of_1_0_and_1_1_are_both_searched() -> None:
    """I-38."""
    old = record(place="list", data=b"# Old\n\nother\n")
    made = drafts(as_file(clean()), record(), old)
    assert [key(each) for each in made[-2:]] == [f"{ID}/record/record.md", f"{ID}/record/{record().path}"]


def test_a_record_where_the_task_says_it_is() -> None:
    """I-38: by record_path, though its folder is named after nothing."""
    fields = clean(record_path="record/tidy/record.md")
    reading = read(as_file(fields), record("tidy"))
    assert (len(reading.tasks), codes(reading)) == (1, set())
    assert key(reading.tasks[0].drafts[-1]) == f"{ID}/record/record.md"


def test_a_task_without_a_record() -> None:
    """I-38."""
    assert [each.detail for each in read(as_file(clean())).oddities] == ["no record"]


def test_a_record_without_a_task_becomes_a_stub() -> None:
    """I-38."""
    reading = read(record(OTHER, b"no heading yet\n## A  title ##\n\ntext\n"))
    (task,) = reading.tasks
    defined, told = task.drafts
    assert defined.definition is not None
    assert (task.task, defined.definition.title, defined.inferred, defined.time) == (OTHER, "A  title", True, NOW)
    assert (defined.source and defined.source.key, key(told)) == (f"{OTHER}/defined", f"{OTHER}/record/record.md")
    assert codes(reading) == {"I-38"}
    assert reading.names == {OTHER: OTHER}


def test_a_stub_with_an_id_that_is_no_uuid_and_no_heading() -> None:
    reading = read(record("h7a8b9c0-nothing", b"only text\n"))
    definition = reading.tasks[0].drafts[0].definition
    assert definition is not None
    assert (definition.title, definition.aliases) == ("h7a8b9c0-nothing", ("h7a8b9c0-nothing",))


def test_the_task_file_that_comes_later_has_the_keys_of_the_stub() -> None:
    before = read(record()).tasks[0]
    after = read(record(), as_file(clean())).tasks[0]
    assert before.task == after.task
    assert {key(each) for each in before.drafts} <= {key(each) for each in after.drafts}


def test_files_that_are_no_texts_are_reported() -> None:
    """I-39."""
    folder = f"list/web/login/record/{ID}"
    others = [TaskFile(f"{folder}/one.png", b"\x89PNG\0"), TaskFile(f"{folder}/two.txt", b"\xff\xfe\xfa")]
    reading = read(as_file(clean()), record(), *others, TaskFile(f"{folder}/big.log", b"a" * (MAX_BYTES + 1)))
    assert sorted(each.where.rsplit("/", 1)[1] for each in reading.oddities if each.code == "I-39") == [
        "big.log",
        "one.png",
        "two.txt",
    ]
    assert len([each for each in reading.tasks[0].drafts if "/record/" in key(each)]) == 1


def test_the_record_folder_of_a_path() -> None:
    found = record_file(f"list/a/b/record/{ID}/shots/one.png")
    assert found is not None
    assert (found.folder, found.name) == (ID, "shots/one.png")
    assert record_file("list/a/b/record/loose.md") is None
    assert record_file("list/a/b/x.yaml") is None


def test_a_yaml_file_in_a_record_is_no_task() -> None:
    reading = read(
        as_file(clean()), record(), TaskFile(f"list/web/login/record/{ID}/plan.yaml", b"type: task\nid: x\n")
    )
    assert reading.names == {ID: ID}


def test_the_real_records_of_1_0() -> None:
    reading = read(*real("pog-task-jsonl"))
    stubs = [task for task in reading.tasks if task.drafts[0].inferred]
    assert len(stubs) == len([each for each in reading.oddities if each.code == "I-38"]) == 3
    assert {"I-39", "I-40", "I-47"} <= codes(reading)
