"""What `git pog lineage` prints, and that nothing a title holds gets out of its quotes."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pogstore.cli import _lineage
from pogstore.cli.lineage import DEPTH
from pogstore.history.lineage import Lineage, Node, Walk
from pogstore.history.lineage_links import Edge
from pogstore.history.tasks import Summary
from pogstore.model import TaskId
from tests.builders_store import opened
from tests.cli.conftest import Here
from tests.cli.test_blame import Tea, tea
from tests.cli.test_json import event_on
from tests.conftest import Repo
from tests.history.works import Works, needs, task_id

__all__ = ["tea"]

HOSTILE = (
    'a"] --> n1["b', "x]; y", "<script>alert(1)</script>", "-->", "%%{init: {}}%%", "end", "`md` **b** _i_", "1. one",
    "\\", '\\"', "\n]\n", "a\x1b[31mb\u202ec", "#quot;", "&quot;&#34;", "{}()|;:::", "''' \"\"\"", "--", "subgraph",
    "click n0 href", "é ü 漢字", "",
)  # fmt: skip
DOT = re.compile(
    r'(?:\s+|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<mark>->|[{}\[\];=,]))', re.DOTALL
)
_INSIDE = r'"(?P<text>(?:[^\W_]|(?<=[^\W_])-(?=[^\W_])|[ .,:/]|#\d+;)*)"'
_NAME = r"(?:more_(?:up|down)_)?n\d+"
MERMAID_NODE = re.compile(rf"  {_NAME}\[{_INSIDE}\]")
MERMAID_EDGE = re.compile(rf"  {_NAME} (?:(?:-->|-\.-)\|{_INSIDE}\||-\.->) {_NAME}")


def dot_statements(text: str) -> list[list[str]]:
    """The statements of a graph in Graphviz's language, as tokens; anything that is no token is an error."""
    tokens, at = [], 0
    while at < len(text):
        match = DOT.match(text, at)
        assert match is not None, text[at : at + 60]
        at = match.end()
        if match.lastgroup:
            tokens.append(match.group())
    assert tokens[:3] == ["digraph", "lineage", "{"]
    assert tokens[-1] == "}"
    found: list[list[str]] = [[]]
    for token in tokens[3:-1]:
        if token == ";":
            found.append([])
        else:
            found[-1].append(token)
    assert found[-1] == []
    return found[:-1]


def check_dot(text: str) -> None:
    """Holds a graph against the part of the grammar that we print: `name [a=b, …]` and `name -> name [a=b, …]`."""
    for statement in dot_statements(text):
        head = statement[: statement.index("[")]
        assert len(head) == 1 or (len(head) == 3 and head[1] == "->"), statement
        body = statement[len(head) + 1 : -1]
        assert statement[-1] == "]"
        pairs = [body[at : at + 4] for at in range(0, len(body), 4)]
        assert all(len(pair) >= 3 and pair[1] == "=" and pair[3:] in ([], [","]) for pair in pairs), statement


def check_mermaid(text: str) -> None:
    """Holds a chart against the lines that we print."""
    first, *lines = text.splitlines()
    assert first == "flowchart TD"
    for line in lines:
        assert MERMAID_NODE.fullmatch(line) or MERMAID_EDGE.fullmatch(line), line


def unquoted(text: str) -> str:
    """What a reader of Mermaid sees of a text."""
    return re.sub(r"#(\d+);", lambda match: chr(int(match[1])), text)


def made_of(title: str) -> Lineage:
    """A small answer about tasks with a title."""
    nodes = [Node("task", task_id(number)) for number in (1, 2)]
    edge = Edge(nodes[0], nodes[1], title, (title.encode("utf-8", "replace"),))
    walk = Walk({nodes[0]: 0, nodes[1]: 1}, (edge,), {nodes[1]: 3})
    lines = {TaskId(node.id): Summary(task=TaskId(node.id), title=title, status="pending", titled=True, actors=(title,))
             for node in nodes}  # fmt: skip
    return Lineage(nodes[0], walk, walk, (edge._replace(rel="concurrent"),), lines, {}, {})


@settings(max_examples=50)
@example('a"] --> n1["b')
@example("\\")
@example("%%{init: {}}%%")
@given(st.one_of(st.sampled_from(HOSTILE), st.text()))
def test_no_title_gets_out_of_its_quotes(title: str) -> None:
    """Titles come from anybody who can push: brackets, quotes, arrows, directives, controls, markup."""
    found = made_of(title)
    labels = _lineage.Labels(found, [task_id(1), task_id(2)])
    dot, chart = "\n".join(_lineage.dot(found, labels)), "\n".join(_lineage.mermaid(found, labels))
    check_dot(dot)
    check_mermaid(chart)
    assert len(dot_statements(dot)) == 1 + 2 + 2 + 4
    node = MERMAID_NODE.match(chart.splitlines()[1])
    assert node is not None
    assert unquoted(node["text"]) == labels.of(found.asked)
    assert len(chart.splitlines()) == 1 + 2 + 2 + 4
    assert not any(re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e]", line) for line in _lineage.lines(found, labels))


def test_what_checks_them_bites() -> None:
    with pytest.raises(AssertionError):
        check_dot('digraph lineage {\n  n0 [label="a"b"];\n}')
    with pytest.raises(AssertionError):
        check_mermaid('flowchart TD\n  n0["a"] --> n1["b"]')


def test_the_text_form_of_a_task(here: Here) -> None:
    epic = here.task("The epic")
    base = here.task("The base", "--parent", epic)
    task = here.task("In the middle", "--depends", base, "--parent", epic)
    sub = here.task("A part", "--parent", task)
    date = r"\d{4}-\d\d-\d\d"
    lines = here("lineage", task).stdout.splitlines()
    assert re.fullmatch(rf"{short(task)}[0-9a-f-]* In the middle \[pending\] \(Ada Example, {date}\)", lines[0])
    plain = [re.sub(rf" \(Ada Example, {date}\)", "", line) for line in lines[1:]]
    assert [re.sub(r"[0-9a-f-]{8,36} ", "ID ", line) for line in plain] == [
        "",
        "comes from",
        "├─ part of: ID The epic [pending]",
        "└─ depends on: ID The base [pending]",
        "   └─ part of: ID The epic [pending] (above)",
        "",
        "what rests on it",
        "└─ has part: ID A part [pending]",
    ]  # fmt: skip
    none = "no recorded step used exactly what it left; 'git pog rollback -n' finds later changes of the same lines"
    assert here("lineage", "--down", sub).stdout.splitlines()[1:] == ["", none]
    assert here("lineage", "--up", epic).stdout.splitlines()[1:] == ["", "comes from nothing that is recorded"]


def short(task: str) -> str:
    return re.escape(task[:8])


def test_what_a_depth_cuts_off_is_said(here: Here) -> None:
    tasks = [here.task("task 0")]
    for number in range(1, DEPTH + 3):
        tasks.append(here.task(f"task {number}", "--depends", tasks[-1]))
    text = here("lineage", "--up", tasks[-1]).stdout
    assert text.endswith("└─ … 1 more\n")
    assert text.count("depends on") == DEPTH
    assert here("lineage", "--up", "--depth", "99", tasks[-1]).stdout.count("depends on") == DEPTH + 2
    assert here("lineage", "--depth", "0", tasks[1]).stdout.splitlines()[1:] == [
        "", "comes from", "└─ … 1 more", "", "what rests on it", "└─ … 1 more",
    ]  # fmt: skip
    value = here("lineage", "--depth", "1", "--json", tasks[2]).json
    by_id = {node["id"]: node for node in value["nodes"]}
    assert by_id[tasks[1]] | {"time": 0} == {
        "id": tasks[1], "type": "task", "title": "task 1", "status": "pending", "time": 0, "up": 1, "more_up": 1,
    }  # fmt: skip
    assert value["edges"] == sorted(value["edges"], key=lambda edge: (edge["from"], edge["to"]))
    assert {(edge["from"], edge["rel"], edge["to"]) for edge in value["edges"]} == {
        (tasks[2], "depends_on", tasks[1]), (tasks[3], "depends_on", tasks[2]),
    }  # fmt: skip


def test_an_event_a_line_and_a_commit(tea: Tea) -> None:
    event = event_on(tea.here, tea.task, "brew.py")
    lines = tea.here("lineage", event).stdout.splitlines()
    assert lines[0] == f"*{event[:10]} stepped Edit brew.py (claude-code, 2026-03-02)"
    assert lines[2] == "comes from"
    assert re.fullmatch(r"├─ used brew\.py: \*[0-9a-f]{10} stepped Edit brew\.py \(claude-code, 2026-03-02\)", lines[3])
    assert re.fullmatch(r"├─ of: [0-9a-f]{8} Steeping takes time \[pending\] \(.*\)", lines[5])
    assert re.fullmatch(r"├─ after: \*[0-9a-f]{10} stepped Write test_brew\.py \(.*\)", lines[6])
    assert re.fullmatch(r"└─ … \d or more events before that in its task", lines[7])
    found = tea.here("lineage", "test_brew.py:1").stdout.splitlines()
    assert found[0] == "test_brew.py:1"
    assert re.fullmatch(
        r"└─ written by: \*[0-9a-f]{10} stepped Write test_brew\.py \(.*\) of \w+ Steeping .*", found[3]
    )
    assert len(found) == 4
    assert "what rests on what wrote it\n└─ written by: " in tea.here("lineage", "--down", "brew.py:4").stdout
    for name in ("HEAD", Repo(tea.here.cwd).git("rev-parse", "HEAD")[:12]):
        found = tea.here("lineage", name).stdout.splitlines()
        assert found[0].startswith("commit ")
        assert re.fullmatch(r"├─ carries: [0-9a-f]{8} Steeping takes time .*", found[3])
    check_dot(tea.here("lineage", "HEAD", "--dot").stdout)
    check_mermaid(tea.here("lineage", "HEAD", "--mermaid").stdout)


def test_what_a_name_means(tea: Tea) -> None:
    here = tea.here
    (here.cwd / "HEAD").write_text("x\n")
    assert here("lineage", "HEAD").stdout.startswith("commit ")
    assert here("lineage", "--", "HEAD").stdout.startswith("HEAD\n")
    (here.cwd / "odd:4").write_text("x\n")
    assert here("lineage", "odd:4").stdout.startswith("odd:4\n")
    assert here("lineage", "odd:4:1").stdout.startswith("odd:4:1\n")
    said = here("lineage", "nothing", status=128).stderr
    assert said.startswith("error: no task, event, commit or file matches 'nothing'\n")
    assert here("lineage", "brew.py:999", status=128).stderr.startswith("error: line 999: the file has ")
    assert here("lineage", status=128).stderr.startswith("error: no active task")
    assert "cannot be combined" in here("lineage", "--up", "--down", "HEAD", status=129).stderr
    assert "cannot be combined" in here("lineage", "--json", "--dot", "HEAD", status=129).stderr
    assert here("lineage", "--depth", "-1", "HEAD", status=129)


@pytest.mark.parametrize(
    ("name", "node", "path"),
    [
        ("plain", "plain", "plain"),
        ("a\\xff", "a\\\\xff", "a\\xff"),
        ("a\udcff", "a\\xff", {"b64": "Yf8="}),
        ("a:1", "a:1", "a:1"),
    ],
)
def test_pc61_a_name_of_any_bytes_is_one_string_of_json_and_its_own(
    tea: Tea, name: str, node: str, path: object
) -> None:
    (tea.here.cwd / name).write_text("x\n")
    for suffix, kind, about in (("", "file", {}), (":1", "line", {"line": 1})):
        answer = tea.here("lineage", "--json", f"{name}{suffix}")
        answer.stdout.encode()
        found = answer.json["nodes"][0]
        assert answer.json["asked"] == found["id"] == f"{kind}:{node}{suffix}"
        assert {key: found[key] for key in ("path", *about)} == {"path": path} | about


def test_a_name_of_both_an_event_and_a_commit_is_ambiguous(here: Here) -> None:
    repo = Repo(here.cwd)
    event = Works(opened(repo)).edit(task_id(1), "a", None, "x").event_id
    here("lineage", event[:12])
    repo.git("branch", event[:12])
    said = here("lineage", event[:12], status=128).stderr
    assert said.startswith(f"error: '{event[:12]}' is ambiguous")
    assert event[:16] in said
    assert f"commit {repo.git('rev-parse', 'HEAD')[:10]}" in said


def test_a_damaged_task_is_shown_and_said(here: Here) -> None:
    works = Works(opened(Repo(here.cwd)))
    one = works.define(1)
    two = works.define(2, "whole", needs(one))
    repo = Repo(here.cwd)
    blob = repo.git("hash-object", "-w", "--stdin", input="x")
    (repo.path / ".git" / "refs" / "pog" / "tasks" / one).write_text(f"{blob}\n")
    works.store.close()
    said = here("lineage", two, status=3)
    assert "depends on: " in said.stdout
    assert "(damaged)" in said.stdout


def test_what_is_not_here_is_said(here: Here) -> None:
    works = Works(opened(Repo(here.cwd)))
    two = works.define(2, "whole", needs(task_id(77)))
    assert "(not here)" in here("lineage", two).stdout
    nodes = here("lineage", "--json", two).json["nodes"]
    assert [node.get("missing") for node in nodes] == [None, True]
