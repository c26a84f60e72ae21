"""Rules of one's own: what they find, which are refused, and that none of those taken can take long."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.redact import excerpt, findings, findings_in_bytes, in_force, own_rules, redact
from pogstore.redact.bounded import MOST_STEPS, Refusal, bound
from pogstore.redact.kinds import KINDS
from pogstore.redact.own import KIND
from tests.test_redact import FRAGMENTS, run

MARK = "[redacted:own-rule]"


def taken_out(text: str, *values: str) -> str:
    rules = own_rules(values)
    assert rules.faults == ()
    with in_force(lambda: rules):
        return redact(text)[0]


@pytest.mark.parametrize(
    ("rule", "text", "left"),
    [
        ("Project Falcon", "we call it Project Falcon, alas", f"we call it {MARK}, alas"),
        ("literal:regex:abc", "see regex:abc here", f"see {MARK} here"),
        ("a+b.c", "a+b.c and aab_c", f"{MARK} and aab_c"),
        ("Zürich 7", "in Zürich 7.", f"in {MARK}."),
        ('say "x"\n', '{"t": "say \\"x\\"\\n"}', f'{{"t": "{MARK}"}}'),
        ("Zürich 7", json.dumps("in Zürich 7"), f'"in {MARK}"'),
        ("key 🔑 x", json.dumps("the key 🔑 x"), f'"the {MARK}"'),
        ('Zürich "7"', json.dumps('in Zürich "7"', ensure_ascii=False), f'"in {MARK}"'),
        (r"regex:CUST-\d{6}", "CUST-123456 CUST-1", f"{MARK} CUST-1"),
        (r"regex:(?i)acme-[a-z]{4,}", "an ACME-Corporate x", f"an {MARK} x"),
        (r"regex:\b(?:tom|ada)\.[a-z]{2,20}@corp\.example\b", "to ada.lace@corp.example!", f"to {MARK}!"),
    ],
)
def test_what_a_rule_names_goes(rule: str, text: str, left: str) -> None:
    assert redact(text)[0] is text, "without the rule it stays"
    assert taken_out(text, rule) == left


def test_a_rule_holds_in_its_block_alone() -> None:
    outer, inner = own_rules(["Falcon"]), own_rules(["Osprey"])
    with in_force(lambda: outer):
        with in_force(lambda: inner):
            assert redact("Falcon Osprey")[0] == f"Falcon {MARK}"
        assert redact("Falcon Osprey")[0] == f"{MARK} Osprey"
    assert redact("Falcon Osprey")[1] == ()


def test_no_part_is_left_where_a_text_is_cut() -> None:
    rules = own_rules([r"regex:corp-[a-z]{20}", "Project Falcon"])
    with in_force(lambda: rules):
        for secret in ("corp-" + "abcdefghij" * 2, "Project Falcon"):
            text = "a " + secret + " z"
            for end in range(3, len(text)):
                assert secret[:4] not in excerpt(text, 0, end)[2:], end


def test_a_kind_of_ours_names_what_both_find() -> None:
    key = "ghp_" + run(36)
    assert taken_out(key, "ghp_") == "[redacted:github-token]"


def test_a_mask_is_left_alone_and_what_only_looks_like_one_is_not() -> None:
    text = f"[redacted:token] {MARK}"
    assert taken_out(text, "redacted", r"regex:[a-z]{4,}") == text
    assert taken_out("[redacted:falcon]", "falcon") == f"[redacted:{MARK}]"


def test_places_in_bytes_count_bytes() -> None:
    rules = own_rules(["Zürich 7", r"regex:né[0-9]{4}"])
    with in_force(lambda: rules):
        for noise in (b"\xff\xfe", "é€".encode(), b""):
            data = noise + " Zürich 7, né1234".encode() + noise
            assert [data[start:end].decode() for _, start, end in findings_in_bytes(data)] == ["Zürich 7", "né1234"]


OWN = st.lists(
    st.sampled_from(["token", "redacted", "own-rule", "]xxx", r"regex:[a-z]{4,}", r"regex:.{4,}", r"regex:\]\[?.{3}"])
    | st.text(min_size=4, max_size=6)
)


@settings(deadline=None)
@given(OWN, st.lists(FRAGMENTS, max_size=8).map("".join))
def test_redacting_twice_is_redacting_once_whatever_the_rules(values: list[str], text: str) -> None:
    rules = own_rules(values)
    with in_force(lambda: rules):
        once, found = redact(text)
        assert redact(once) == (once, ())
        assert list(found) == findings(text)


def test_the_page_on_secrets_names_every_kind() -> None:
    page = (Path(__file__).parents[1] / "docs" / "how-to" / "keep-secrets-out.md").read_text("utf-8")
    assert [kind for kind in (*KINDS, KIND) if f"`{kind}`" not in page] == []


# What is refused: by its number, never by what it says.

REFUSED = [
    ("", "is shorter"),
    ("abc", "is shorter"),
    ("literal:   x  ", "is shorter"),
    ("bad \udcff value", "is not UTF-8"),
    ("regex:", "matches fewer"),
    ("regex:x*", "matches fewer"),
    ("regex:(?:abcd|abc)", "matches fewer"),
    ("regex:a{1000}{1000}", "is repeated"),
    ("regex:(a+)+bcde", "before its end"),
    ("regex:(a|a)*bcde", "before its end"),
    ("regex:[a-z]+0123", "before its end"),
    ("regex:abcd(?:x+)?", "before its end"),
    (r"regex:[a-z]{8,}\b", "before its end"),
    ("regex:.*.*.*secret", "before its end"),
    ("regex:a{1,500}a{1,500}a{1,500}b", "too long"),
    ("regex:((a{0,9}){0,9}){0,9}bcde", "too long"),
    ("regex:" + "(?:" * 3 + "{1000}".join(")))") + "{1000}abcd", "too long"),
    (r"regex:(abcd)\1", "an escape"),
    (r"regex:\p{L}abcd", "an escape"),
    ("regex:abcd\\", "an escape"),
    ("regex:(?=abcd)efgh", "a group that"),
    ("regex:(?<=abcd)efgh", "a group that"),
    ("regex:(?P<x>abcd)", "a group that"),
    ("regex:abcd(?i)", "a group that"),
    ("regex:^abcd", "not escaped"),
    ("regex:abcd$", "not escaped"),
    ("regex:ab??cdef", "lazy"),
    ("regex:ab*+cdef", "lazy"),
    ("regex:[]abc]{4}", "']' in a class"),
    ("regex:[[:alpha:]]{4}", "'[' in a class"),
    ("regex:[a--b]{4}", "twice"),
    ("regex:[z-a]{4}", "a class that is none"),
    ("regex:[abcd", "without its"),
    ("regex:(abcd", "without its"),
    ("regex:abcd)", "without its"),
    ("regex:{4}abcd", "repeats nothing"),
    ("regex:abcd{4", "repeats nothing"),
    ("regex:a{5,4}bcd", "wrong order"),
    ("regex:a{1,1001}bcd", "over 1000"),
    ("regex:" + "(" * 20 + "abcd" + ")" * 20, "too many groups"),
    ("regex:" + "a" * 1001, "longer than"),
]


@pytest.mark.parametrize(("value", "reason"), REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_a_rule_that_cannot_be_used_is_named_by_its_number_and_stops_no_other(value: str, reason: str) -> None:
    rules = own_rules(["Falcon", value, "Osprey"])
    (fault,) = rules.faults
    assert fault.rule == 2
    assert reason in fault.reason
    said = value.removeprefix("regex:")
    assert not said or said not in fault.reason, "the rule itself may be what nobody should see"
    with in_force(lambda: rules):
        assert redact("Falcon Osprey")[0] == f"{MARK} {MARK}"


# Time: a bound that is one. What Python's own engine does is counted by a plain one, which tries the same ways.

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\w", r"\b", "(?:a|b)", "(?:ab|a)", "(?:a|)"])
COUNTS = st.sampled_from(["", "", "?", "{2}", "{0,3}", "{1,4}", "{2,3}"])
FLAT = st.lists(st.tuples(ATOMS, COUNTS).map("".join), min_size=1, max_size=4).map("".join)
GROUPED = st.tuples(FLAT, FLAT, COUNTS, FLAT).map(lambda each: f"(?:{each[0]}|{each[1]}){each[2]}{each[3]}")
TRAILED = st.tuples(FLAT | GROUPED, st.sampled_from(["", "a+", "[ab]{2,}", ".*"])).map("".join)


@settings(deadline=None, max_examples=300)
@given(TRAILED, st.text("ab \n", max_size=12))
def test_no_expression_takes_more_steps_than_its_bound(pattern: str, text: str) -> None:
    try:
        shortest, steps = bound(pattern)
    except Refusal:
        return
    assert steps <= MOST_STEPS
    compiled = re.compile(pattern)
    for start in range(len(text) + 1):
        counted, length = _walk(pattern, text, start)
        match = compiled.match(text, start)
        assert (match.end() - start if match else None) == length, "the plain engine agrees with Python's"
        assert counted <= steps + (length or 0)
        assert length is None or length >= shortest


@pytest.mark.parametrize("pattern", ["a{0,5}a{0,5}a{0,5}b", r"(?:a|\w){1,3}\w{0,9}b", "(?:ab|a){0,4}b{0,3}c"])
def test_a_bound_counts_what_overlaps(pattern: str) -> None:
    _, steps = bound(pattern)
    for text in ("a" * 40, "ab" * 20, "a" * 14 + "c"):
        assert _walk(pattern, text, 0)[0] <= steps


def _walk(pattern: str, text: str, start: int) -> tuple[int, int | None]:
    """Returns how many characters and edges a backtracking engine looks at in one place, and the length it matches."""
    looks = 0

    def one(node: tuple[str, object, int, int], at: int) -> Iterator[int]:
        nonlocal looks
        shape, what, least, most = node
        if shape == "group":
            alternatives = what
            assert isinstance(alternatives, list)

            def once(at: int) -> Iterator[int]:
                for each in alternatives:
                    yield from sequence(each, at)
        else:

            def once(at: int) -> Iterator[int]:
                nonlocal looks
                looks += 1
                found = re.compile(str(what)).match(text, at)
                if found:
                    yield found.end()

        def times(done: int, at: int) -> Iterator[int]:
            if done < most:
                for end in once(at):
                    if end == at and done >= least:
                        continue
                    yield from times(done + 1, end)
            if done >= least:
                yield at

        yield from times(0, at)

    def sequence(nodes: list[tuple[str, object, int, int]], at: int) -> Iterator[int]:
        if not nodes:
            yield at
            return
        for end in one(nodes[0], at):
            yield from sequence(nodes[1:], end)

    (nodes,) = _parsed(pattern, len(text))
    end = next(sequence(nodes, start), None)
    return looks, None if end is None else end - start


def _parsed(pattern: str, longest: int) -> list[list[tuple[str, object, int, int]]]:
    """Returns the alternatives of an expression of the kind that is made above."""
    alternatives: list[list[tuple[str, object, int, int]]] = [[]]
    at = 0
    while at < len(pattern):
        if pattern[at] == "|":
            alternatives.append([])
            at += 1
            continue
        what: object
        if pattern.startswith("(?:", at):
            depth, end = 1, at + 3
            while depth:
                depth += {"(": 1, ")": -1}.get(pattern[end], 0)
                end += 1
            shape, what = "group", _parsed(pattern[at + 3 : end - 1], longest)
        else:
            end = at + (2 if pattern[at] == "\\" else 1 if pattern[at] != "[" else pattern.index("]", at) - at + 1)
            shape, what = "one", pattern[at:end]
        least, most = 1, 1
        if count := re.compile(r"\?|\*|\+|\{(\d+)(,?)(\d*)\}").match(pattern, end):
            fixed = {"?": (0, 1), "*": (0, longest + 1), "+": (1, longest + 1)}
            least, most = fixed.get(count[0]) or (
                int(count[1]),
                int(count[3] or (longest + 1 if count[2] else count[1])),
            )
            end = count.end()
        alternatives[-1].append((shape, what, least, most))
        at = end
    return alternatives


@pytest.mark.parametrize(
    "rule", [r"[\w.+-]{1,64}@[\w.-]{1,64}\.corp", r"a{1,64}b{1,64}c{4}", r"x{4}[a-z]{8,}", ".{4,}"]
)
def test_pc122_what_nearly_matches_ends(rule: str) -> None:
    rules = own_rules([f"regex:{rule}"])
    assert rules.number == 1
    with in_force(lambda: rules):
        for part in ("a", "a@a.", "ab", "xxxxa0", "x"):
            redact(part * (100_000 // len(part)))
