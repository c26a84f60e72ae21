"""Tests of `pog.redact` from end to end: every way in and the way out follow it, and a rule that is wrong is said."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import pogstore
from pogstore.interop.claude_code import LONGEST_TEXT
from tests.agents.live import Live
from tests.cli.conftest import Here
from tests.cli.test_record import line
from tests.cli.test_redaction import everything
from tests.conftest import Repo

NAME, NUMBER = "Kittiwake Plan", "KW-" + "73519" + "28"
SAMPLE = Path(__file__).parents[2] / "pogstore" / "cli" / "sample" / "session.jsonl"
TYPED = (
    ["note", f"about {NAME}"],
    ["decide", f"{NUMBER} it is"],
    ["new", f"see {NUMBER}", "--intent", NAME, "--description", NUMBER, "--item", NUMBER, "--tag", NUMBER],
    ["edit", "--title", NAME],
    ["block", "-m", NUMBER],
    ["move", "in_progress", "--reason", NUMBER],
    ["done", "-m", NAME],
)


@pytest.fixture
def ruled(here: Here, repo: Repo) -> Here:
    repo.git("config", "--add", "pog.redact", NAME)
    repo.git("config", "--add", "pog.redact", "regex:KW-[0-9]{7}")
    here.task("a task", "--start")
    return here


def assert_nowhere(repo: Repo) -> None:
    (repo.path / ".git" / "config").write_text("")  # where the rule itself stands
    found = everything(repo)
    assert b"[redacted:own-rule]" in found
    for secret in (NAME, NUMBER):
        assert secret.encode() not in found
        assert secret[:6].encode() not in found, "nor cut short"


def test_what_a_rule_names_comes_in_by_no_door(ruled: Here, repo: Repo, tmp_path: Path) -> None:
    """PC-124: a repository has rules of its own, and everything that records follows them."""
    secrets = f"{NAME} and {NUMBER}"
    for words in TYPED[:2]:
        ruled(*words)
    for words in (["note", "x", "--topic", NUMBER], ["note", "x", "--as", NUMBER]):
        assert "looks like a secret" in ruled(*words, status=128).stderr
    assert "looks like a secret" in ruled("run", "--env", "WHERE", "--", "true", status=128, WHERE=NUMBER).stderr
    program = f"print({secrets!r} + 'x' * 700000 + {NUMBER!r} * 40000)"
    ruled("run", "--", sys.executable, "-c", program)
    ruled(
        "record",
        stdin=line("prompt", text=secrets) + line("tool_end", tool=NUMBER, input={"a": secrets}, output=secrets),
    )
    live = Live(repo.path)
    live.prompt(f"{secrets} {'.' * (LONGEST_TEXT - 40)} {NAME}")
    live.shell(f"echo '{secrets}'", secrets)
    live.say("Notification", message=secrets)
    ruled("drain")
    leaky = tmp_path / "leaky.jsonl"
    leaky.write_text(SAMPLE.read_text().replace("Tell me how strong a tea is", f"{'a' * 72} {secrets}"))
    assert "own-rule" in ruled("import", "claude-code", str(leaky), "--root", "/home/ada/tea").stdout
    for words in TYPED[2:]:
        ruled(*words)
    with pogstore.open(repo.path) as store, store.task(f"for {NAME}") as task:
        task.prompt(secrets)
        with task.step("ask", input={"q": NUMBER}) as step:
            step.output = "." * (LONGEST_TEXT - 20) + NAME * 3
    repo.git("config", "--unset-all", "pog.redact")
    some = ruled("list", "--all", "--json").json[0]["task"]
    option = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "pog.redact", "GIT_CONFIG_VALUE_0": NAME}
    said = ruled("note", f"{NAME}, once", "--task", some, env=option)
    assert said.stderr == "redacted: 1 own-rule\n", "as git itself sees its configuration"
    assert_nowhere(repo)


def test_a_file_that_a_rule_names_is_held_back(ruled: Here, repo: Repo, make_repo: Callable[..., Repo]) -> None:
    remote = make_repo("remote.git", "--bare", commit=False)
    repo.git("remote", "add", "origin", str(remote.path))
    ruled("run", "--", sys.executable, "-c", f"open('é.txt', 'w').write('é\\n{NUMBER}\\n')")
    said = ruled("push", status=4)
    assert "é.txt, line 2: own-rule" in said.stderr
    assert NUMBER not in said.stdout + said.stderr
    assert remote.git("for-each-ref") == ""


def test_a_rule_that_cannot_be_used_is_said_and_stops_no_capture(
    here: Here, repo: Repo, make_repo: Callable[..., Repo]
) -> None:
    remote = make_repo("remote.git", "--bare", commit=False)
    repo.git("remote", "add", "origin", str(remote.path))
    config = repo.path / ".git" / "config"
    wrong = b'\tredact = "regex:(hush+)+"\n\tredact\n\tredact = "\xff\xfe\xff\xfe"\n'
    config.write_bytes(config.read_bytes() + b"[pog]\n" + wrong + b'\tredact = "Kittiwake Plan"\n')
    here.task("a task", "--start")
    live = Live(repo.path)
    live.prompt(f"of {NAME}")
    here("note", f"of {NAME}")
    said = here("status").stdout
    assert "\nrule 1 of pog.redact has '*', '+' or '{n,}' before its end; say " in said
    assert "\nrule 2 of pog.redact is shorter than 4 characters; it is not used\n" in said
    assert "\nrule 3 of pog.redact is not UTF-8; it is not used\n" in said
    assert "rule 4" not in said
    known = here("status", "--json").json["redact"]
    assert known["rules"] == 1
    assert [fault["rule"] for fault in known["faults"]] == [1, 2, 3]
    doctor = here("doctor", status=1)
    pushed = here("push", status=4)
    assert "rule 1 of pog.redact" in pushed.stderr
    assert remote.git("for-each-ref") == "", "nobody can say that nothing leaves which should not"
    for answer in (said, doctor.stdout + doctor.stderr, pushed.stdout + pushed.stderr, str(known)):
        assert "hush" not in answer, "the rule itself may be what nobody should see"
    config.write_bytes(config.read_bytes().replace(wrong, b""))
    here("push")
    (check,) = (each for each in here("doctor", "--json", status=None).json["checks"] if each["check"] == "redact")
    assert (check["result"], check["text"]) == ("ok", "1 rule of your own")
    assert "pog.redact" not in here("status").stdout
    assert_nowhere(repo)
