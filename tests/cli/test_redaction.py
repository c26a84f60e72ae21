"""Tests that a secret which somebody types is nowhere in the repository, not in an object and not in the index."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Here
from tests.conftest import Repo

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
TYPED = (
    ["note", f"the token is {SECRET}"],
    ["note", "-"],
    ["decide", f"use {SECRET}, the other one expired"],
    ["new", f"rotate {SECRET}", "--intent", f"because {SECRET} leaked", "--description", SECRET, "--item", SECRET,
     "--input", SECRET, "--check", f"curl -H 'Authorization: {SECRET}'", "--alias", SECRET, "--tag", SECRET],
    ["edit", "--title", SECRET],
    ["edit", "--intent", "-"],
    ["block", "-m", SECRET],
    ["move", "in_progress", "--reason", SECRET],
    ["review", "--approve", "-m", SECRET],
    ["done", "-m", SECRET],
)  # fmt: skip
REFUSED = (["note", "x", "--topic", SECRET], ["note", "x", "--as", SECRET], ["note", "x", "--as", f"tool:{SECRET}"])


def everything(repo: Repo) -> bytes:
    """Returns all objects of a repository, unpacked, and the files of ours beside them."""
    listed = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    objects = subprocess.run(
        ["git", "cat-file", "--batch"], cwd=repo.path, input=listed.encode(), capture_output=True, check=True
    ).stdout
    files = [path for path in (repo.path / ".git").rglob("*") if path.is_file() and "objects" not in path.parts]
    return objects + b"".join(path.read_bytes() for path in files)


def test_a_typed_secret_is_nowhere(here: Here, repo: Repo) -> None:
    here.task("a task", "--start")
    for words in TYPED:
        said = here(*words, stdin=f"from a pipe: {SECRET}\n")
        assert SECRET not in said.stdout + said.stderr, words
    found = everything(repo)
    assert SECRET.encode() not in found
    assert SECRET[4:].encode() not in found, "the rest of a token is a secret too (case UC-65)"
    assert b"because " in found, "what was typed beside it is kept"
    for command in ("log", "log --json", "show @{-1} --json --events", "list --all --json"):
        assert SECRET not in here(*command.split()).stdout


def test_a_definition_is_still_one_when_a_secret_was_taken_out(here: Here) -> None:
    """Case UC-64: texts are looked at before they are JSON, so that a secret beside a quote takes no quote along."""
    title = f'say "{SECRET}"'
    here.task(title, "--start", "--item", f'password="{SECRET}", and go on', "--tag", "kept")
    shown = here("show", "@", "--json").json
    assert shown["title"] == 'say "[redacted:github-token]"'
    assert shown["tags"] == ["kept"]
    item = shown["checklist"][0]["text"]
    assert SECRET not in item
    assert item.endswith('", and go on')


def test_what_was_taken_out_is_told_by_kind_and_place(here: Here) -> None:
    password = "hunter" + "22x"
    task = here.task(f"rotate {SECRET}", "--start", "--intent", "plain\nwords")
    assert here("note", "nothing of the kind").stderr == ""
    assert here("status", "--json").json["redact"]["active"] == {"github-token": 1}
    written = here("note", f"one\ntoken {SECRET}\n\npassword: {password}\n[redacted:nothing]")
    assert written.stderr == "redacted: 1 github-token, 1 password\n"
    assert here("edit", "--title", f"rotate {SECRET} now").stderr.endswith("redacted: 1 github-token\n")
    said = here("status").stdout
    assert "\nredacted lately in this task: 3 github-token, 1 password; 'git pog show --redacted' says where\n" in said
    found = here("show", "--redacted", "--json").json
    assert found["counts"] == {"github-token": 3, "password": 1}
    noted = next(each["id"] for each in here("log", "--json").json if written.stdout.startswith(each["id"][:10]))
    places = [(each["field"], each["line"], each["kind"]) for each in found["places"] if each["event"] == noted]
    assert places == [("text", 2, "github-token"), ("text", 4, "password")]
    lines = here("show", task, "--redacted").stdout.splitlines()
    assert f"{noted[:10]} text, line 4: password" in lines
    assert len(lines) == 4
    assert here("show", noted, "--redacted").stdout.splitlines() == [line for line in lines if noted[:10] in line]
    here("note", "quiet")
    quiet = here("show", "@{1}", "--redacted")
    assert (quiet.stdout, quiet.stderr) == ("", "nothing was redacted in the texts that are here\n")
    for answer in (written, quiet, here("show", "--redacted"), here("status"), here("status", "--json")):
        assert SECRET not in answer.stdout + answer.stderr
        assert password not in answer.stdout + answer.stderr


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_events_keep_for_good_is_refused(here: Here, repo: Repo, words: list[str]) -> None:
    here.task("a task", "--start")
    refs = repo.git("for-each-ref")
    said = here(*words, status=128)
    assert said.stderr.endswith("looks like a secret\nhint: events keep it for good; put texts into notes\n")
    assert SECRET not in said.stderr
    assert repo.git("for-each-ref") == refs
    assert SECRET.encode() not in everything(repo)


def test_an_imported_secret_is_counted(here: Here, repo: Repo, tmp_path: Path) -> None:
    sample = Path(__file__).parents[2] / "pogstore" / "cli" / "sample" / "session.jsonl"
    leaky = tmp_path / "leaky.jsonl"
    leaky.write_text(sample.read_text().replace("Tell me how strong a tea is", f"My token is {SECRET}"))
    said = here("import", "claude-code", str(leaky), "--root", "/home/ada/tea")
    assert "\nredacted: " in said.stdout
    assert SECRET.encode() not in everything(repo)
