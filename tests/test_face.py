"""Tests of the public face: complete, sorted, typed, and free until it is used."""

import ast
import inspect
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NewType

import msgspec
import pytest

import pogstore
from pogstore import errors, model
from tests.conftest import STARTED, Repo

SOURCE = Path(pogstore.__file__).read_text("utf-8")
BY = pogstore.By(actor=pogstore.Actor(type="human", name="Ada"), time=STARTED)


def test_the_list_is_sorted_and_true() -> None:
    assert pogstore.__all__ == sorted(pogstore.__all__)
    assert len(set(pogstore.__all__)) == len(pogstore.__all__)
    assert [name for name in pogstore.__all__ if not hasattr(pogstore, name)] == []
    assert dir(pogstore) == pogstore.__all__


def test_every_error_and_every_struct_is_in_it() -> None:
    faults = {name for name, found in vars(errors).items() if isinstance(found, type) and issubclass(found, Exception)}
    structs = {
        name
        for name, found in vars(model).items()
        if not name.startswith("_")
        and (isinstance(found, NewType) or (isinstance(found, type) and issubclass(found, msgspec.Struct)))
    } - {"Struct"}
    assert faults | structs <= set(pogstore.__all__)
    for name in faults:
        assert getattr(pogstore, name) is getattr(errors, name)
    for name in structs:
        assert getattr(pogstore, name) is getattr(model, name)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(SOURCE)
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {
        (alias.asname or alias.name): (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("pogstore")
        for alias in node.names
    }
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) if not node.name.startswith("_")}
    assert imported.keys() | defined == set(pogstore.__all__)
    for name, (module, original) in imported.items():
        assert getattr(sys.modules[str(module)], original) is getattr(pogstore, name), name


def test_what_is_no_part_of_it_is_an_error() -> None:
    with pytest.raises(AttributeError, match="module 'pogstore' has no attribute 'nonsense'"):
        pogstore.nonsense  # noqa: B018
    assert not {"take", "Any", "Iterable", "import_module"} & set(pogstore.__all__)


def test_importing_it_loads_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import pogstore; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pogstore"]
    code += "; pogstore.NotFound; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    ours = [name for name in done.stdout.splitlines()[1].split() if name.startswith("pogstore")]
    assert ours == ["pogstore", "pogstore.errors"]


def test_every_verb_says_what_it_promises() -> None:
    verbs = [getattr(pogstore, name) for name in pogstore.__all__ if inspect.isfunction(getattr(pogstore, name))]
    assert {"open", "record", "blame", "lineage", "rollback", "verify", "undo", "why"} <= {
        verb.__name__ for verb in verbs
    }
    assert [verb.__name__ for verb in verbs if not verb.__doc__] == []


def test_the_page_names_it_all() -> None:
    page = (Path(__file__).parents[1] / "docs" / "reference" / "python.md").read_text("utf-8")
    named = set(re.findall(r"`(\w+)[`(\[]", page)) | set(re.findall(r"pogstore\.(\w+)", page))
    verbs = {name for name in pogstore.__all__ if inspect.isfunction(getattr(pogstore, name))}
    assert verbs - named == set(), "a verb that the page does not name"
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert blocks
    for block in blocks:
        assert set(re.findall(r"pogstore\.(\w+)", block)) <= set(pogstore.__all__)


def test_the_examples_of_the_page_run(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, one after the other, in a repository where pogstore is enabled."""
    repo.git("config", "pog.enabled", "true")
    repo.commit({"src/parser.py": "a = 1\n"})
    monkeypatch.chdir(repo.path)
    page = (Path(__file__).parents[1] / "docs" / "reference" / "python.md").read_text("utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "python.md", "exec"), names)


def test_a_program_needs_no_command_line(repo: Repo) -> None:
    """The main job through the face alone: a task, a step, blame, rollback, undo, verify."""
    repo.git("config", "pog.enabled", "true")
    path = repo.path / "a.txt"
    repo.commit({"a.txt": "one\ntwo\nthree\n"})
    store = pogstore.open(repo.path)
    task = pogstore.new_task_id(STARTED, 7)
    pogstore.define(store, task, pogstore.Definition(title="a task"), BY)
    pogstore.start(store, task, BY)
    before = pogstore.FileVersion(mode="100644", data=path.read_bytes())
    path.write_text("one\nTWO\nthree\n")
    after = pogstore.FileVersion(mode="100644", data=path.read_bytes())
    step = pogstore.Draft(
        kind="stepped", time=time.time_ns() // 1000, actor=pogstore.Actor(type="agent", name="robot"),
        fields={"tool": "Edit", "class": "edit", "coverage": "scoped"},
        changes=(pogstore.DraftChange(path="a.txt", before=before, after=after),),
    )  # fmt: skip
    taken = pogstore.record(store, [pogstore.TaskDrafts(task=task, drafts=(step,))])
    assert (taken.tasks, taken.events) == (0, 1)
    assert [line.owner for line in pogstore.blame(store, b"a.txt").lines] == ["commit", "event", "commit"]
    by = BY._replace(worktree="w")
    done = pogstore.rollback(store, [pogstore.Named(task)], by)
    assert path.read_text() == "one\ntwo\nthree\n"
    assert done.plan.writes
    pogstore.undo(store, by)
    assert path.read_text() == "one\nTWO\nthree\n"
    path.write_text("one\nzwei\nthree\n")
    with pytest.raises(pogstore.Conflict):
        pogstore.rollback(store, [pogstore.Named(task)], by)
    assert pogstore.verify(store).ok
    assert pogstore.read_state(store, task).status == "in_progress"
    store.close()
