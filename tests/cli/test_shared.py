"""What a person saves while an agent's shell call runs cannot be told from the call's own: each answer says so."""

import pytest

from tests.agents.session import Session
from tests.conftest import Pog, Repo


@pytest.fixture
def agent(repo: Repo, pog: Pog) -> Session:
    repo.commit({"p.txt": "a\nb\nc\n", "e.txt": "one\n"})
    pog.init()
    repo.git("config", "pog.autoDrain", "false")
    agent = Session(repo.path)
    agent.prompt("run the tests")
    return agent


def test_what_others_may_have_saved_is_never_certain_and_rollback_warns_of_it(
    agent: Session, pog: Pog, repo: Repo
) -> None:
    agent.edit("e.txt", "one", "an edit names its file")
    call = agent.bash("sed -i s/b/PERSON/ p.txt")  # whoever did it
    [step] = [event["id"] for event in pog("log", "--json").json if event.get("call_id") == call]
    shown = pog("blame", "--explain", "p.txt").stdout.splitlines()
    assert shown[1].split()[1] == "hash?"
    assert shown[4].split()[:2] == ["hash?", "likely:"]
    assert shown[5].startswith("perhaps shared: ")
    [line] = [
        each for each in pog("blame", "--explain", "--json", "p.txt").json[0]["lines"] if each["owner"] == "event"
    ]
    assert (line["rule"], line["sure"], line["shared"]) == ("hash", "likely", True)
    assert "pog-rule hash likely" in pog("blame", "--explain", "--porcelain", "p.txt").stdout
    [line] = pog("blame", "--explain", "--json", "e.txt").json[0]["lines"]
    assert (line["sure"], line.get("shared")) == ("certain", None)
    warned = f"warning: 1 file perhaps with somebody else's changes, saved while the call ran: p.txt of {step[:10]}"
    assert warned in pog("rollback", "--dry-run", step).stderr
    found = pog("rollback", "--json", step)
    assert warned in found.stderr
    assert found.json["shared"] == [{"path": "p.txt", "event": step}]
    again = pog("rollback", "--json", step)
    assert (again.stderr, again.json["shared"]) == ("", [])


def test_what_a_person_changed_is_not_under_the_title_of_an_agents_task(agent: Session, pog: Pog, repo: Repo) -> None:
    call = agent.write("e.txt", "by the agent\n")
    (repo.path / "e.txt").write_text("by the agent, and a person\n")
    agent.bash("true")
    line = pog("blame", "e.txt").stdout
    assert line.startswith("~")
    assert line.partition("(")[2].split()[:2] == ["unknown", "2026-01-05"]
    [step] = [event["id"] for event in pog("log", "--json").json if event.get("call_id") == call]
    found = pog("rollback", "--dry-run", "--cascade", step)
    assert "    nobody's recorded step: " in found.stderr
