"""What a plain push would take along: which of git's lines are refused, and that nobody is asked in vain."""

import pytest

from pogstore.work.leaving import Leaving, Rules, leaving

OID, ZERO = b"1" * 40, b"0" * 40
UNSAID = Rules()
TASK = "0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"


def line(local: str, remote: str, oid: bytes = OID) -> bytes:
    return b"%b %b %b %b" % (local.encode(), oid, remote.encode(), ZERO)


def judged(*lines: bytes, rules: Rules = UNSAID) -> list[Leaving]:
    return list(leaving(lines, lambda: rules))


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        (f"refs/pog/private/{TASK}", "private"),
        ("refs/pog/shelf/private", "private"),
        ("refs/pog-remotes/origin/tasks/x", "tracking"),
        (f"refs/pog/tasks/{TASK}", None),
        (f"refs/pog/content/{TASK}", None),
        ("refs/pog/shelf/tasks", None),
        ("refs/heads/refs/pog/private/x", None),
        ("refs/tags/v1", None),
        ("refs/pogs/private/x", None),
    ],
)
def test_what_must_stay_stays(ref: str, reason: str | None) -> None:
    assert judged(line(ref, ref)) == ([Leaving(ref, reason)] if reason else [])


def test_another_name_makes_nothing_public() -> None:
    private = f"refs/pog/private/{TASK}"
    assert judged(line(private, "refs/heads/x")) == [Leaving(private, "private")]
    assert judged(line("HEAD", private)) == [Leaving(private, "private")]


def test_to_delete_is_not_to_leave() -> None:
    """PC-49: git says `(delete)` and an oid of zeros, of 40 or 64 digits."""
    for zero in (ZERO, b"0" * 64):
        assert judged(line("(delete)", f"refs/pog/private/{TASK}", zero)) == []


def test_a_choice_lets_prompts_go_and_nothing_else() -> None:
    chosen = Rules(private=True)
    assert judged(line(f"refs/pog/private/{TASK}", f"refs/pog/private/{TASK}"), rules=chosen) == []
    tracked = "refs/pog-remotes/origin/private/x"
    assert judged(line(tracked, tracked), rules=chosen) == [Leaving(tracked, "tracking")]


@pytest.mark.parametrize("kind", ["tasks", "content", "private"])
def test_a_local_task_stays_whatever_was_chosen(kind: str) -> None:
    ref = f"refs/pog/{kind}/{TASK}"
    assert judged(line(ref, ref), rules=Rules(True, {TASK})) == [Leaving(ref, "local")]
    assert judged(line(ref, ref), rules=Rules(True, {"another"})) == []


def test_nobody_is_asked_about_a_push_of_code() -> None:
    def asked() -> Rules:
        raise AssertionError("rules were asked for")

    lines = [
        line("refs/heads/main", "refs/heads/main"),
        line("refs/tags/v1", "refs/tags/v1"),
        b"",
        b"nonsense",
        b"\xff",
    ]
    assert list(leaving(lines, asked)) == []


def test_bytes_that_are_no_text_are_shown_and_refused() -> None:
    found = judged(b"refs/pog/private/\xff %b refs/pog/private/\xff %b\r\n" % (OID, ZERO))
    assert found == [Leaving("refs/pog/private/\\xff", "private")]
