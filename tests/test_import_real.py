"""The real task files and transcripts, through the real command: what goes in is what `show --json` gives back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import Pog, Repo
from tests.interop.claude import real

DATA = Path(__file__).parents[1] / ".." / "shared" / "data" / "pog-task"


@pytest.fixture
def folder() -> Path:
    """The folder of real task files."""
    if not DATA.is_dir():
        pytest.skip("the folder 'shared' with real task files does not lie beside the checkout")
    return DATA


def literal(node: yaml.Node | None) -> Any:
    """Returns a YAML node as lists, mappings and the literal text of its scalars; null stays null."""
    if isinstance(node, yaml.MappingNode):
        return {literal(key): literal(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [literal(item) for item in node.value]
    assert isinstance(node, yaml.ScalarNode)
    is_null = node.style is None and node.value in ("", "~", "null", "Null", "NULL")
    return None if is_null else node.value


def given_back(shown: dict[str, Any], key: str) -> Any:
    """Returns what `show --json` says of one key of a task file."""
    if key in shown.get("extra", {}):
        return shown["extra"][key]
    if key == "id":
        return next((alias for alias in shown.get("aliases", []) if alias.lower() == shown["task"]), shown["task"])
    if key == "checklist":
        return [{"text": item["text"], "completed": str(item["done"]).lower()} for item in shown["checklist"]]
    return shown[key]


def test_every_key_of_every_task_file(folder: Path, repo: Repo, pog: Pog) -> None:
    """All 26 files, key by key, numbers as their literal text (cases I-07, I-20, I-26)."""
    pog("init")
    pog("import", "pog-task", str(folder))
    files = sorted((folder / "list").rglob("*.yaml"))
    assert len(files) == 26
    tasks = {alias.lower(): line["task"] for line in pog("list", "--all", "--json").json for alias in line["aliases"]}
    compared = 0
    for path in files:
        wanted = literal(yaml.compose(path.read_text("utf-8"), Loader=yaml.SafeLoader))
        shown = pog("show", "--json", tasks.get(wanted["id"].lower(), wanted["id"].lower())).json
        for key, value in wanted.items():
            found = given_back(shown, key)
            assert (found.lower() if key == "id" else found) == (value.lower() if key == "id" else value), (
                f"{path.name}: {key}"
            )
            compared += 1
    assert compared > 26 * 15


def test_importing_again_adds_nothing(folder: Path, repo: Repo, pog: Pog) -> None:
    """26 tasks, then none, and no ref moves; the same for the transcripts; one pack each."""
    pog("init")
    transcripts = [str(path) for path in real()]
    first = pog("import", "pog-task", str(folder), "--json").json
    assert (first["tasks"], first["known"]) == (26, 0)
    assert pog("import", "claude-code", *transcripts, "--json").json["tasks"] == 4
    assert len(list((repo.path / ".git/objects/pack").glob("*.pack"))) == 2
    refs = repo.git("for-each-ref", "refs/pog")
    again = pog("import", "pog-task", str(folder), "--json").json
    assert (again["tasks"], again["events"], again["known"]) == (0, 0, first["events"])
    again = pog("import", "claude-code", *transcripts, "--json").json
    assert (again["tasks"], again["events"]) == (0, 0)
    assert repo.git("for-each-ref", "refs/pog") == refs


def test_git_is_content_with_what_was_written(folder: Path, repo: Repo, pog: Pog) -> None:
    """Cases RC-16 and SC-58: `verify` and `git fsck --strict` agree, and `git gc --prune=now` loses nothing."""
    pog("init")
    pog("import", "pog-task", str(folder))
    pog("import", "claude-code", *[str(path) for path in real()])
    before = pog("log", "--json").stdout
    checked = pog("verify", "--json").json["checked"]
    for _ in range(2):
        said = [line for line in repo.git("fsck", "--strict").splitlines() if not line.startswith("dangling ")]
        assert said == []
        assert pog("verify", "--json").json["ok"]
        repo.git("gc", "--quiet", "--prune=now")
    pog("reindex")
    assert pog("log", "--json").stdout == before
    after = pog("verify", "--json").json["checked"]
    assert {name: after[name] for name in ("events", "contents", "refs")} == {
        name: checked[name] for name in ("events", "contents", "refs")
    }


def test_edits_of_the_real_transcripts(repo: Repo, pog: Pog) -> None:
    """31 edits with exact sides, 2 outside without any, 2 gaps that are observed and inferred."""
    pog("init")
    pog("import", "claude-code", *[str(path) for path in real()])
    events = pog("log", "--json").json
    changes = [(event, change) for event in events for change in event.get("changes", [])]
    steps = [(event, change) for event, change in changes if event["kind"] == "stepped"]
    inside = [change for _, change in steps if isinstance(change["path"], str)]
    outside = [change for _, change in steps if change["path"] == {"outside": True}]
    assert (len(inside), len(outside)) == (31, 2)
    assert all("after" in change for change in inside)
    assert sum("before" not in change for change in inside) == 2, "two files were created"
    assert all(set(change) == {"path"} for change in outside)
    gaps = [event for event in events if event["kind"] == "observed"]
    assert len(gaps) == 2
    assert all(event["inferred"] and event["actor"]["type"] == "unknown" for event in gaps)
    assert len({event["task"] for event in events}) == 4


def test_secrets_in_imported_texts_are_nowhere(
    tmp_path: Path, repo: Repo, pog: Pog, make_repo: Callable[..., Repo]
) -> None:
    """Case UC-65: no object holds a secret that a task file's text held."""
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    folder = tmp_path / "tasks" / "list" / "p" / "m"
    folder.mkdir(parents=True)
    text = f'type: "task"\nid: "x-1"\ntitle: "Use {secret}"\nstatus: "pending"\nnotes: "it is {secret}"\n'
    (folder / "a.yaml").write_text(text)
    pog("init")
    assert "redacted" in pog("import", "pog-task", str(tmp_path / "tasks")).stdout
    repo.git("unpack-objects", check=False)
    everything = repo.git("cat-file", "--batch-all-objects", "--batch")
    assert secret not in everything
    assert "[redacted:" in everything
