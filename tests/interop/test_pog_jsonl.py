import json

from pogstore.interop.pog_fields import Value, source_fields
from pogstore.interop.pog_jsonl import read_lines
from pogstore.interop.pog_yaml import TaskFile
from pogstore.model import Extra
from tests.interop.pog import ID, OTHER, clean, codes, read, real, without

PATH = "list/common-improve-task.jsonl"
METADATA = {"type": "metadata", "version": "1.0.0", "project": "common", "module": "improve", "file_type": "regular"}


def lines(*values: object) -> TaskFile:
    texts = (each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in values)
    return TaskFile(PATH, ("\n".join(texts) + "\n").encode())


def test_the_real_lines_come_back_key_by_key() -> None:
    files = real("pog-task-jsonl")
    reading = read(*files)
    assert len(reading.tasks) == 25
    compared = stubs = 0
    for task in reading.tasks:
        definition, raw = task.drafts[0].definition, task.drafts[0].raw
        assert definition is not None
        if raw is None:
            stubs += 1
            continue
        original = json.loads(raw.text, parse_int=str, parse_float=str)
        found = source_fields(definition)
        for item in original.get("checklist", []):
            item["completed"] = str(item["completed"]).lower()
        assert found == original
        compared += len(original)
    assert (compared > 300, stubs) == (True, 3)


def test_faults_name_their_line_and_stop_nothing() -> None:
    """I-37."""
    bad = '{"type": "task", "id": '
    made = lines(
        METADATA, "", clean(), bad, METADATA, [1], {"type": "category", "id": "doc"}, {"type": "odd"}, clean(id="x")
    )
    reading = read(made)
    found = {each.where.rsplit(":", 1)[-1]: each.code for each in reading.oddities if each.code == "I-37"}
    assert found == {"4": "I-37", "5": "I-37", "6": "I-37", "8": "I-37"}
    assert set(reading.names) == {ID, "x"}


def test_without_metadata_and_without_a_final_newline() -> None:
    """I-37, I-33."""
    reading = read(TaskFile(PATH, json.dumps(clean()).encode()))
    assert {"I-37", "I-33"} <= codes(reading)
    assert len(reading.tasks) == 1


def test_metadata_is_kept_with_each_task() -> None:
    (task,) = read(lines(METADATA, clean())).tasks
    assert task.drafts[0].definition is not None
    ours = {each.name: each for each in task.drafts[0].definition.extra[-1].fields or ()}
    assert (ours["project"].value, ours["module"].value) == ("common", "improve")
    assert Extra(name="file_type", value="regular") in (ours["metadata"].fields or ())


def test_every_scalar_is_its_literal_text() -> None:
    large = "12345678901234567890123"
    scalars = '"c": true, "d": null, "e": [false, [1e5]], "f": {"g": NaN}, "h": "\\ud83d"'
    (line,) = read_lines(f'{{"a": 1.50, "b": {large}, {scalars}}}').tasks
    assert line.fields == {
        "a": "1.50",
        "b": large,
        "c": "true",
        "d": None,
        "e": ["false", ["1e5"]],
        "f": {"g": "NaN"},
        "h": "\ufffd",
    }


def test_keys_twice_and_deep_nesting() -> None:
    """I-35."""
    found = read_lines(
        '{"type": "metadata"}\n{"id": 1, "id": 2}\n{"id": ' + "[" * 300 + "]" * 300 + "}\n" + "[" * 100_000
    )
    assert [line.fields for line in found.tasks] == [{"id": "2"}]
    assert [(number, code) for number, code, _ in found.faults] == [(2, "I-35"), (3, "I-35"), (4, "I-37")]


def test_agent_configuration_is_data() -> None:
    """I-24: a command in a task is never run, and never an instruction."""
    extra: dict[str, Value] = {
        "auto_execute": {"enabled": "true", "command": "touch ran"},
        "schedule": {"type": "cron"},
    }
    reading = read(lines(METADATA, {**clean(), **extra}))
    assert any("auto_execute, schedule" in each.detail for each in reading.oddities if each.code == "I-24")
    definition = reading.tasks[0].drafts[0].definition
    assert definition is not None
    assert source_fields(definition)["auto_execute"] == extra["auto_execute"]


def test_one_id_on_two_lines() -> None:
    """I-06."""
    reading = read(lines(METADATA, clean(), clean(title="Later"), clean(id=OTHER)))
    assert len(reading.tasks) == 2
    assert [each.where for each in reading.oddities if each.code == "I-06"] == [f"{PATH}:3"]


def test_a_line_without_an_id_is_named_by_its_place() -> None:
    reading = read(lines(METADATA, without("id")))
    assert list(reading.names) == [f"{PATH}:2"]
    assert "I-36" in codes(reading)
