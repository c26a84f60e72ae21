"""Limits across clones: who claims a task elsewhere takes it away from the agent that works on it here."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Answer, Pog, Repo


def asks(pog: Pog, place: Path) -> Answer:
    """Lets an agent ask its hook for an edit inside of the scope."""
    told = {
        "agent": "chef",
        "session": "1",
        "event": "tool_start",
        "call_id": "c",
        "class": "edit",
        "paths": ["src/a.py"],
    }
    return pog("hook", "generic", cwd=place, stdin=json.dumps(told))


def test_a_claim_that_was_made_elsewhere_is_known_after_a_pull(make_repo: Callable[..., Repo], tmp_path: Path) -> None:
    bare, here = make_repo("bare.git", "--bare", commit=False), make_repo("here")
    here.git("remote", "add", "origin", str(bare.path))
    pog = Pog(here.path)
    pog("init")
    task = str(pog("new", "a task", "--allow", "src/**", "--start", "--json").json["task"])
    assert asks(pog, here.path).stdout == ""
    pog("push")
    here.git("clone", "--quiet", str(bare.path), str(tmp_path / "there"))
    there = tmp_path / "there"
    pog("init", cwd=there)
    pog("fetch", cwd=there)
    pog("pull", cwd=there)
    held = pog("show", task, "--json", "--events", cwd=there).json["events"]
    claim = next(each["id"] for each in held if each["kind"] == "claimed")
    pog("release", task, "--claim", claim, "--as", "human:Eve", cwd=there)
    pog("claim", task, "--as", "another-agent", cwd=there)
    pog("push", cwd=there)
    assert asks(pog, here.path).stdout == "", "nobody has told us yet"
    pog("pull")
    found = json.loads(asks(pog, here.path).stdout)
    assert found["decision"] == "deny"
    assert found["reason"].startswith("pogstore (claim-lost): ")
