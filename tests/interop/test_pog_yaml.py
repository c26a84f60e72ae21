import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pogstore import codec
from pogstore.interop import pog_yaml
from pogstore.interop.pog_fields import MAX_NESTING, Value, nesting, source_fields
from pogstore.interop.pog_yaml import MAX_BYTES, MAX_EXPANSION, TaskFile, load, read_tasks, wanted
from tests.interop.pog import ID, NOW, PLACE, ROOT, as_file, clean, codes, drafts, read, real, record

PLAIN = f"type: task\nid: {ID}\ntitle: Tidy\nstatus: pending\n"


class Literal(yaml.BaseLoader):
    """PyYAML's own composer and constructor, with nothing resolved but null: what our builder is compared with."""


Literal.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""])
Literal.add_constructor("tag:yaml.org,2002:null", lambda _loader, _node: None)


def only(text: str) -> Value:
    (tree,) = load(text).trees
    return tree.value


def faults(text: str) -> list[str]:
    return [detail for _, detail in load(text).faults]


def file(text: str, path: str = PLACE) -> TaskFile:
    return TaskFile(path, text.encode())


@pytest.mark.parametrize(
    ("path", "is_wanted"),
    [
        ("list/web/login/Tidy.yaml", True),
        ("list/web/login/Tidy.YML", True),
        ("list/common-improve-task.jsonl", True),
        ("list/x.yaml", True),
        (f"list/web/login/record/{ID}/record.md", True),
        (f"list/record/{ID}/shots/one.png", True),
        (f"record/{ID}/record.md", True),
        ("list/web/login/record/loose.md", False),
        ("list/web/login/notes.md", False),
        ("task.schema.json", False),
        ("declare.jsonl", False),
        ("prompts/create.yaml", False),
        ("list/../../outside.yaml", False),
        (f"/list/record/{ID}/record.md", False),
    ],
)
def test_wanted(path: str, is_wanted: bool) -> None:
    assert wanted(path) is is_wanted


def test_the_26_real_files_come_back_key_by_key() -> None:
    files = {each.path: each for each in real("pog-task")}
    reading = read_tasks(list(files.values()), repository=ROOT, now=NOW)
    assert len(reading.tasks) == len([path for path in files if path.endswith(".yaml")]) == 26
    compared = 0
    for task in reading.tasks:
        defined = task.drafts[0]
        assert defined.definition is not None
        assert defined.raw is not None
        stored = codec.decode_definition(codec.encode_definition(defined.definition))
        found, original = source_fields(stored), yaml.load(defined.raw.text, Literal)
        assert found.keys() == original.keys()
        for key, value in original.items():
            assert found[key] == value, (task.task, key)
            compared += 1
    assert compared > 400


def test_the_real_files_have_the_oddities_that_were_counted() -> None:
    reading = read(*real("pog-task"))
    count = {code: len({each.where for each in reading.oddities if each.code == code}) for code in codes(reading)}
    expected = {"I-01": 9, "I-02": 6, "I-09": 10, "I-30": 3, "I-33": 22, "I-38": 22, "I-15": 1}
    assert {code: count[code] for code in expected} == expected
    assert not {"I-10", "I-11", "I-21", "I-22", "I-23", "I-24", "I-35", "I-36", "I-51"} & count.keys()
    unmirrored = [
        each for each in reading.oddities if each.code == "I-28" and "does not say that it blocks" in each.detail
    ]
    assert len(unmirrored) == 8
    assert len([each for each in reading.oddities if each.code == "I-28"]) == 8


def test_the_real_history_is_told_whole() -> None:
    reading = read(*real("pog-task"))
    told = [each.source.key for task in reading.tasks for each in task.drafts if each.source]
    assert len([key for key in told if re.search(r"/history/\d+$", key)]) == 68
    assert len([key for key in told if key.endswith("/record/record.md")]) == 4
    assert len(set(told)) == len(told)


def test_reading_again_in_another_order_tells_the_same() -> None:
    files = real("pog-task") + real("pog-task-jsonl")
    again = [*reversed(files)]
    assert read_tasks(files, repository=ROOT, now=NOW) == read_tasks(again, repository=ROOT, now=NOW)


def test_every_scalar_is_its_literal_text() -> None:
    """I-10, I-20."""
    text = "a: 2026-02-08T10:00:00Z\nb: 1.50\nc: yes\nd: 0x1F\ne: 1_000\nf: '~'\ng: \"\"\nh: .inf\ni: 12:30:45\n"
    expected = {"b": "1.50", "c": "yes", "d": "0x1F", "e": "1_000", "f": "~", "g": "", "h": ".inf", "i": "12:30:45"}
    assert only(text) == {"a": "2026-02-08T10:00:00Z", **expected}
    assert load(text).faults == (("I-10", "an unquoted time, kept as text"),)


def test_null_empty_and_quoted_null_stay_apart() -> None:
    """I-26."""
    text = "a:\nb: ~\nc: null\nd: ''\ne: 'null'\nf: !!str null\ng: !!null x\nh: []\ni: {}\n"
    nulls = {"a": None, "b": None, "c": None, "g": None}
    assert only(text) == {**nulls, "d": "", "e": "null", "f": "null", "h": [], "i": {}}


def test_a_key_twice_is_reported_and_the_last_one_counts() -> None:
    """I-35."""
    assert only("a: 1\nb: 2\na: 3\n") == {"a": "3", "b": "2"}
    assert faults("a: 1\nb: 2\na: 3\n") == ["line 3: key 'a' twice, the last one taken"]


def test_keys_of_all_shapes() -> None:
    assert only("1: a\n~: b\n'': c\n? [x, y]\n: d\n") == {"1": "a", "~": "b", "": "c", '["x", "y"]': "d"}
    assert faults("? [x, y]\n: d\n") == ["line 1: a key that is no scalar"]


def test_nested_container_keys_do_not_grow() -> None:
    found = load("{? " * 150 + '"\\""' + "}" * 150)
    assert len(found.trees) == 1
    assert len(str(found)) < 100_000


def test_aliases_are_followed_within_bounds() -> None:
    assert only("a: &x [1, 2]\nb: *x\nc: {? &k key : v}\n") == {"a": ["1", "2"], "b": ["1", "2"], "c": {"key": "v"}}
    assert not faults("a: &x [1, 2]\nb: *x\n")
    assert only("a: &x [1]\n&k key: v\nb: {*k : *x}\n") == {"a": ["1"], "key": "v", "b": {"key": ["1"]}}


def test_an_alias_bomb_stays_small() -> None:
    """I-35."""
    lines = ["a0: &a0 [" + ", ".join(["lol"] * 9) + "]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 12)]
    made = drafts(file(PLAIN + "\n".join(lines) + "\n"))
    assert made[0].definition is not None
    assert len(codec.encode_definition(made[0].definition)) < 60 * MAX_EXPANSION
    assert any("would grow too large; kept as text" in detail for detail in faults("\n".join(lines)))


def test_an_alias_of_a_long_text_stays_small() -> None:
    text = "a: &a " + "x" * (MAX_EXPANSION // 4) + "\nb: [" + ", ".join(["*a"] * 50) + "]\n"
    value = only(text)
    assert isinstance(value, dict)
    assert len(str(value["b"])) < 2 * MAX_EXPANSION


def test_aliases_of_aliases_do_not_nest_without_end() -> None:
    lines = [f"a{n}: &a{n} " + "[" * 90 + (f"*a{n - 1}" if n else "core") + "]" * 90 for n in range(100)]
    (made,) = drafts(file(PLAIN + "\n".join(lines) + "\n"))
    assert made.definition is not None
    assert nesting(only("\n".join(lines))) <= MAX_NESTING


@pytest.mark.parametrize("text", ["a: &x [*x]", "a: *nothing", "&a a: {b: *c}"])
def test_an_alias_that_leads_nowhere_is_text(text: str) -> None:
    assert "kept as text" in faults(text)[0]
    assert "*" in str(only(text))


def test_tags_construct_nothing(tmp_path: Any) -> None:
    """I-35: neither Python's own objects nor what a task would have run (I-24)."""
    mark = tmp_path / "ran"
    touch = f"touch {mark}"
    text = (
        PLAIN
        + f"a: !!python/object/apply:os.system ['{touch}']\n"
        + f"b: !!python/object/new:subprocess.Popen\n  args: ['{touch}']\n"
        + "c: !custom text\nd: !!int '7'\ne: !!binary aGk=\n"
        + f"auto_execute:\n  enabled: true\n  command: {touch}\n"
    )
    value = only(text)
    assert isinstance(value, dict)
    assert (value["a"], value["c"], value["d"], value["e"]) == ([touch], "text", "7", "aGk=")
    assert value["auto_execute"] == {"enabled": "true", "command": touch}
    assert len([detail for detail in faults(text) if detail.endswith("ignored")]) == 4
    read(file(text))
    assert not mark.exists()


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_reported(opening: str) -> None:
    """I-35."""
    reading = read(file("a: " + opening * 5_000), as_file(clean(), "list/web/login/b.yaml"))
    assert {"I-35", "I-36"} & codes(reading)
    assert len(reading.tasks) == 1


def test_deep_but_bounded_nesting_becomes_text() -> None:
    reading = read(file(PLAIN + "deep: " + "[" * 100 + "]" * 100))
    assert "I-35" in codes(reading)
    (task,) = reading.tasks
    assert task.drafts[0].definition is not None
    codec.decode_definition(codec.encode_definition(task.drafts[0].definition))


def test_too_many_values_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pog_yaml, "MAX_NODES", 50)
    reading = read(file(PLAIN + "a: [" + "x, " * 60 + "]\n"))
    assert (reading.tasks, codes(reading)) == ((), {"I-35"})


def test_a_huge_file_is_reported() -> None:
    reading = read(TaskFile(PLACE, b"#" * (MAX_BYTES + 1)), as_file(clean(), "list/web/login/b.yaml"))
    assert [each.where for each in reading.oddities if "larger than" in each.detail] == [PLACE]
    assert len(reading.tasks) == 1


def test_several_documents_are_several_tasks() -> None:
    """I-35."""
    reading = read(file(f"{PLAIN}---\ntype: task\nid: two\ntitle: Two\nstatus: pending\n---\n"))
    assert len(reading.tasks) == 2
    assert any(each.detail == "2 documents in one file" for each in reading.oddities)


def test_bytes_of_all_kinds() -> None:
    """I-33."""
    for data in (
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.encode("utf-16"),
        PLAIN.rstrip().encode(),
    ):
        reading = read(TaskFile(PLACE, data))
        assert reading.names == {ID: ID}
        assert "I-33" in codes(reading)


def test_the_original_bytes_are_kept_where_they_are_text() -> None:
    data = b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode()
    (made,) = drafts(TaskFile(PLACE, data))
    assert made.raw is not None
    assert (made.raw.text.encode(), made.raw.class_) == (data, "private")
    (made,) = drafts(TaskFile(PLACE, PLAIN.encode() + b"description: \xb2\xe2\xca\xd4\n"))
    assert made.raw is None


def test_tabs_are_space() -> None:
    """I-33: YAML itself refuses them."""
    checklist = "checklist:\n\t- text: a\tb # c\n\t  completed: true\n\t-\ttext: 'x\ty'\n"
    text = f"title:\tTidy up\t\n{checklist}description: |\n  a\tb\n"
    items = [{"text": "a\tb", "completed": "true"}, {"text": "x\ty"}]
    assert only(text) == {"title": "Tidy up", "checklist": items, "description": "a\tb\n"}
    assert ("I-33", "tabs between its tokens") in load(text).faults


def test_control_characters_are_kept() -> None:
    """I-49: YAML itself refuses them; NUL would end the text unseen."""
    assert only('a: "\x1b[31mred\x07"\nb: \\x1b\n') == {"a": "\x1b[31mred\x07", "b": "\\x1b"}
    reading = read(TaskFile(PLACE, PLAIN.replace("Tidy", "Ti\0dy\x1b").encode()))
    assert {"I-33", "I-49"} <= codes(reading)
    assert reading.tasks[0].drafts[0].definition is not None
    assert reading.tasks[0].drafts[0].definition.title == "Ti\ufffddy\x1b"


def test_surrogates_become_characters() -> None:
    assert only('a: "\\ud83d\\ude00 \\ud83d"\n') == {"a": "\U0001f600 \ufffd"}


@pytest.mark.parametrize(
    "text",
    [
        'a: "\\Uffffffff"',
        "%YAML 1." + "9" * 5_000 + "\n---\na: b",
        "a: [",
        "a: b: c",
        "@",
        "!<%ff> a",
        "a: 'b",
        "- a\nb: c",
    ],
)
def test_what_is_no_yaml_is_reported(text: str) -> None:
    """I-36."""
    reading = read(file(text), as_file(clean(), "list/web/login/b.yaml"))
    assert [each.code for each in reading.oddities if each.where == PLACE][-1] in ("I-36", "I-33")
    assert "I-36" in codes(reading)
    assert len(reading.tasks) == 1


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "- a\n- b\n", "just text\n", "a: b\n"])
def test_what_is_no_task_is_reported(text: str) -> None:
    """I-36."""
    reading = read(file(text))
    assert not reading.tasks
    assert "I-36" in codes(reading)


def test_a_mapping_with_another_type_is_still_a_task() -> None:
    """I-36."""
    reading = read(as_file(clean(type="epic")))
    assert (len(reading.tasks), "I-36" in codes(reading)) == (1, True)


def test_yml_is_read_and_reported() -> None:
    """I-36."""
    reading = read(as_file(clean(), "list/web/login/Tidy.yml"))
    assert (len(reading.tasks), "I-36" in codes(reading)) == (1, True)


def test_project_and_module_come_from_the_path() -> None:
    """I-51."""

    def ours(path: str) -> Value:
        (made,) = drafts(as_file({"type": "task", "id": ID, "title": "T", "status": "pending"}, path))
        assert made.definition is not None
        return {each.name: each.value for each in made.definition.extra[-1].fields or ()}

    assert ours(PLACE) == {"path": PLACE, "project": "web", "module": "login"}
    assert ours("list/x.yaml") == {"path": "list/x.yaml"}
    assert "I-51" in codes(read(as_file(clean(), "list/x.yaml")))
    assert "I-51" in codes(read(as_file(clean(), "list/a/b/c/x.yaml")))


def test_a_clean_task_has_no_oddity() -> None:
    assert read(as_file(clean()), record()).oddities == ()


def comparable(text: str) -> Any:
    """Returns what PyYAML itself makes of a text, or `None` where it fails or the two differ on purpose."""
    try:
        nodes = list(_walk(yaml.compose(text, Literal)))
        return yaml.load(text, Literal) if all(isinstance(each, yaml.Node) for each in nodes) else None
    except (yaml.YAMLError, ValueError, TypeError, LookupError, RecursionError):
        return None


def _walk(node: Any) -> Iterator[Any]:
    yield node
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key if isinstance(key, yaml.ScalarNode) and not key.tag.endswith(":null") else None
            yield from _walk(value)
    elif isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from _walk(each)


FRAGMENTS = st.sampled_from(
    [
        *"[]{}:,-?&*!|>'\"%@`#~ \t\n\\",
        "a",
        "b",
        ": ",
        "- ",
        "\n  ",
        "null",
        "&a ",
        "*a",
        "<<: ",
        "---\n",
        "é",
        "\0",
        "!!int ",
    ]
)


@given(st.lists(FRAGMENTS, max_size=40).map("".join))
def test_no_text_makes_it_fail_and_it_agrees_with_the_composer(text: str) -> None:
    loaded = load(text.replace("\0", "\ufffd"))
    expected = comparable(text)
    if expected is not None and not loaded.faults and "\t" not in text:
        assert [tree.value for tree in loaded.trees] == [expected]


@given(st.binary(max_size=200), st.integers(0, 200))
def test_no_bytes_stop_the_others(noise: bytes, place: int) -> None:
    whole = as_file(clean()).data
    files = [TaskFile("list/web/login/a.yaml", whole[:place] + noise + whole[place:]), TaskFile("list/a.jsonl", noise)]
    reading = read(*files, as_file(clean(id="other"), "list/web/login/b.yaml"), record(data=noise))
    assert "other" in reading.names
    for task in reading.tasks:
        for each in task.drafts:
            if each.definition is not None:
                codec.encode_definition(each.definition)
