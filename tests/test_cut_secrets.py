"""What is cut shows no part of a secret, wherever the cut falls: half of one passes the rules that find whole ones."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.agents.drafts import as_json
from pogstore.agents.heard import LONGEST_NAME, name
from pogstore.interop.claude_code import LONGEST_TEXT, bounded
from pogstore.interop.claude_speech import line_of
from pogstore.interop.pog_history import MAX_NAME, actor_of
from pogstore.interop.pog_tasks import MAX_DETAIL, odd
from pogstore.redact import broken_off, excerpt, redact
from pogstore.work import toolversions
from pogstore.work.process import Capture
from pogstore.work.toolversions import version_in
from tests.builders_claude import Script
from tests.interop.claude import drafts
from tests.test_redact import ASSIGNED, FRAMED, USERS, WHOLE_KEYS, assert_gone, pem, run

KEPT = 400
TOKEN = "ghp_" + run(36)


class Told(NamedTuple):
    """A secret, and what stands around it that tells it."""

    before: str
    secret: str
    after: str


SECRETS = [
    *(Told("use ", key, " for it") for _, _, key in WHOLE_KEYS),
    *(Told("", pem(name, lines), "\n") for name in ("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK") for lines in (4, 40)),
    *(Told(*one) for one in USERS),
    *(Told(*one[1:]) for one in (*FRAMED, *ASSIGNED)),
]


def _captured(text: str) -> str:
    capture = Capture(KEPT)
    for at in range(0, len(text), 100):
        capture.add(text[at : at + 100].encode())
    return capture.text


def _imported(text: str) -> str:
    script = Script()
    script.prompt(text)
    (defined,) = (draft.definition for draft in drafts(script) if draft.definition)
    return defined.title


CUTS: dict[str, tuple[int, Callable[[str], str]]] = {
    "title": (80, lambda text: line_of(text, 80)),
    "imported title": (80, _imported),
    "text": (LONGEST_TEXT, bounded),
    "input": (LONGEST_TEXT, lambda text: as_json({"a": [text]})),
    "name": (LONGEST_NAME, lambda text: name(text) or ""),
    "foreign name": (MAX_NAME, lambda text: actor_of(text).name or ""),
    "version of a tool": (toolversions.LONGEST, version_in),
    "oddity": (MAX_DETAIL, lambda text: next(odd("here", [("I-1", text)])).detail),
    "beginning of an output": (KEPT // 2, _captured),
    "end of an output": (5 * KEPT, _captured),
}


@pytest.mark.parametrize("cut", CUTS)
@given(data=st.data())
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(cut: str, data: st.DataObject) -> None:
    length, shorten = CUTS[cut]
    told = data.draw(st.sampled_from(SECRETS))
    inside = data.draw(st.integers(min_value=1, max_value=len(told.secret)))
    mark = data.draw(st.sampled_from(("~", " ")))
    between = data.draw(st.sampled_from(("\n", ";")))
    filler = (mark * length)[: length - len(told.before) - inside - 1]
    rest = mark * (
        2 * length if cut != "end of an output" else KEPT // 2 - (len(told.secret) - inside) - len(told.after)
    )
    shown = redact(shorten(f"{filler}{between}{told.before}{told.secret}{told.after}{rest}"))[0]
    assert_gone(told.secret, shown)
    assert told.secret[:8] not in shown


def test_an_excerpt_is_that_of_the_whole_without_secrets() -> None:
    text = f"a {TOKEN} b {TOKEN} c"
    assert excerpt(text, 0, len(text)) == redact(text)[0]
    assert excerpt(text, 10, 50) == "[redacted:github-token] b [redacted:github-token]"
    assert excerpt(text, 0, 2) == "a "
    assert excerpt("x" * 9, 2, 5) == "xxx"


@pytest.mark.parametrize(("_kind", "_prefix", "key"), WHOLE_KEYS, ids=[f"{kind} {at}" for kind, at, _ in WHOLE_KEYS])
def test_a_title_that_was_cut_before_it_was_redacted_is_known(_kind: str, _prefix: str, key: str) -> None:
    part = key[: len(key) - 3]
    found = broken_off(f"Use this one: {part}…")
    assert redact(f"{part} ")[1] or (found is not None and found.end == len(f"Use this one: {part}"))


@pytest.mark.parametrize(
    "title",
    [
        "Deploy to the host…",
        "Fix issue 4711 of the parser…",
        "Read sk-learn 2…",
        "See 8ed62a34f7e76ae6a5ed3a5ae41db13…",
        "x",
    ],
)
def test_a_title_that_is_only_cut_is_none(title: str) -> None:
    assert broken_off(title) is None
