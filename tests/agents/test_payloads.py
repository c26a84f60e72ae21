"""What each agent sends, by its versions: what a hook understands of it at once, and what a drain hears of it later.

The payloads are made from the members that the agents document. A line has the version, the event, the payload, what of
`Heard` it must give, and what of `Step`.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.agents import drafts
from pogstore.agents.dialect import DIALECTS, understand
from pogstore.agents.drain import READERS
from pogstore.agents.heard import Heard, Step
from pogstore.interop.claude_code import LONGEST_TEXT
from pogstore.work.spooled_record import Record
from tests.conftest import STARTED

PLACE = Path(__file__).parent / "payloads"
ROOT = "/r"
LINES = [
    pytest.param(path.stem, json.loads(line.replace("{root}", ROOT)), id=f"{path.stem}-{number}")
    for path in sorted(PLACE.glob("*.jsonl"))
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
]
AGENTS = sorted(set(DIALECTS) - {"generic", "claude-code"})


def record(agent: str, event: str, payload: bytes) -> Record:
    return Record("0" * 32, agent, event, STARTED, 0, b"/g", b"/g", ROOT.encode(), payload, True, "", (), {})


def heard(agent: str, event: str, payload: Any) -> Heard:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return READERS[agent](record(agent, event, data))


@pytest.mark.parametrize(("agent", "line"), LINES)
def test_each_payload_is_understood_and_heard(agent: str, line: dict[str, Any]) -> None:
    data = json.dumps(line["payload"]).encode()
    step = understand(agent, data, line["event"])
    assert step.event == line["event"]
    assert {name: getattr(step, name) for name in line["step"]} == line["step"]
    found = heard(agent, line["event"], data)
    members = {name: value for name, value in found._asdict().items() if name != "record"}
    plain = json.loads(json.dumps(members, default=lambda raw: raw.decode() if isinstance(raw, bytes) else str(raw)))
    assert {name: plain[name] for name in line["heard"]} == line["heard"]


@pytest.mark.parametrize("agent", AGENTS)
def test_each_agent_has_payloads(agent: str) -> None:
    assert (PLACE / f"{agent}.jsonl").exists()


def shrunk(value: Any) -> Any:
    """Every way to take one member away, or to give it another type."""
    for name in value:
        yield {each: value[each] for each in value if each != name}
        for other in (None, 7, True, "", "x" * 999, ["a", 1, None], {"a": {"b": [None]}}, "\ud800"):
            yield value | {name: other}


@pytest.mark.parametrize(("agent", "line"), LINES)
def test_a_member_that_is_missing_or_odd_is_no_error(agent: str, line: dict[str, Any]) -> None:
    """Cases PC-132 and PC-135: odd ids, and control characters that are not escaped."""
    for payload in (*shrunk(line["payload"]), line["payload"] | {"tool_use_id": "a\nb", "prompt": "a\tb\x01"}):
        for data in (
            json.dumps(payload).encode(),
            json.dumps(payload).replace("\\n", "\n").replace("\\t", "\t").encode(),
        ):
            understand(agent, data, line["event"])
            told(heard(agent, line["event"], data))
    for cut in range(0, len(data), 7):
        understand(agent, data[:cut], line["event"])
        told(heard(agent, line["event"], data[:cut]))


def told(found: Heard) -> None:
    """What it becomes is an event that can be written."""
    assert found.session
    actor = drafts.agent(found, None, None)
    said = [drafts.noted(found, actor), drafts.defined(found, actor)]
    if found.begins:
        said.append(drafts.stepped(Step(found, None), actor))
    if found.ends:
        said.append(drafts.stepped(Step(None, found), actor))
    for draft in said:
        assert draft.source is not None
        assert draft.source.key
        assert all(len(text.text) < 2 * LONGEST_TEXT for text in draft.texts.values())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["command", "path", "error"]), inner),
)


@given(st.sampled_from(AGENTS), st.data())
def test_whatever_an_agent_sends_is_heard(agent: str, data: st.DataObject) -> None:
    names = DIALECTS[agent]
    members = st.sampled_from(
        (names.given, names.tool, names.session, names.cwd, "tool_response", "prompt", "timestamp")
    )
    payload = data.draw(
        st.binary(max_size=40) | st.dictionaries(members, VALUES).map(lambda said: json.dumps(said).encode())
    )
    event = data.draw(st.sampled_from((*names.steps, *names.ends, "x")))
    understand(agent, payload, event)
    told(heard(agent, event, payload))


def test_a_call_id_with_a_newline_is_one_id() -> None:
    """Case PC-132."""
    for agent in AGENTS:
        found = heard(agent, DIALECTS[agent].steps[0], {DIALECTS[agent].tool: "x", "tool_use_id": "call_1\nctc_1"})
        assert found.call_id in ("call_1\nctc_1", None)


@pytest.mark.parametrize("depth", [90, 480, 900, 970, 100_000])
@pytest.mark.parametrize("agent", READERS)
def test_what_is_nested_too_deeply_is_left_out(agent: str, depth: int) -> None:
    """Case UC-70: one payload must not keep all others from being stored."""
    names = DIALECTS[agent]
    deep = "[" * depth + "]" * depth
    payload = (
        f'{{"{names.tool}": "x", "{names.given}": {{"a": {deep}}}, "tool_response": {{"b": {deep}}}, "c": {deep}}}'
    )
    found = heard(agent, names.steps[1], payload.encode())
    told(found)
    assert found.call
