"""What a rollback leaves, whatever was done: each state that there was, what others typed, and all other files."""

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.history.rollback import apply_rollback
from tests.builders_rollback import Bench, Benches, Files, file, untouched
from tests.history.test_rollback import EDITS, STARTS, Wanted, carried_out, some

OURS = (".git/pog", ".git/objects", ".git/refs/pog")
LINES = 12


@settings(max_examples=20)
@given(EDITS, STARTS)
def test_one_after_the_other_the_newest_first_gives_each_state_that_there_was(
    benches: Benches[Bench], edits: list[object], start: Wanted
) -> None:
    """So the last one rolled back gives what was before it, and all of them what was before the first."""
    with benches.new() as bench:
        states: list[Files] = []
        before, events = carried_out(bench, edits, start, states)
        assert states[:1] in ([], [before])
        for event, expected in reversed(list(zip(events, states, strict=True))):
            bench.rollback(event)
            assert bench.files() == expected


@settings(max_examples=20)
@given(EDITS, STARTS, st.data())
def test_rc1_rc14_what_the_plan_does_not_write_keeps_bytes_mode_time_and_inode(
    benches: Benches[Bench], edits: list[object], start: Wanted, data: st.DataObject
) -> None:
    """Untracked and ignored files, index, HEAD and branches, too; undo gives the others back and touches no more."""
    with benches.new() as bench:
        bench.write(".gitignore", b"*.log\n")
        bench.repo.git("add", ".gitignore")
        for name in ("untracked", "build.log", "d.log/x"):
            bench.write(name, b"a person's\n")
        _, events = carried_out(bench, edits, start)
        chosen = some(events, data)
        if not chosen or (plan := bench.plan(*chosen)).obstacles:
            return
        files = bench.files()
        written = {write.path for write in plan.writes}

        def others() -> dict[str, tuple[object, ...]]:
            found = untouched(bench.path, OURS)
            return {name: state for name, state in found.items() if name not in written and len(state) > 1}

        state = others()
        done = apply_rollback(bench.store, plan, bench.by())
        assert others() == state
        if done.events:
            bench.undo()
            assert others() == state
            assert bench.files() == files


class Hunk(NamedTuple):
    """What somebody makes of one line: other lines in its place, with or without it."""

    line: int
    lines: tuple[str, ...]
    stays: bool


def edited(base: Sequence[str], hunks: Sequence[Hunk]) -> list[str]:
    made = {hunk.line: [*([base[hunk.line]] if hunk.stays else []), *hunk.lines] for hunk in hunks}
    return [line for at, own in enumerate(base) for line in made.get(at, [own])]


def hunks_of(who: str, lines: Sequence[int]) -> st.SearchStrategy[list[Hunk]]:
    new = st.lists(st.sampled_from([f"{who}'s", f"also {who}'s", ""]), max_size=3).map(tuple)
    return st.tuples(*(st.builds(Hunk, st.just(line), new, st.booleans()) for line in lines)).map(list)


@settings(max_examples=40)
@given(st.data())
def test_what_others_typed_in_other_hunks_survives(benches: Benches[Bench], data: st.DataObject) -> None:
    """Before, between and after the edits that go; the lines that stay tell the hunks apart."""
    base = [f"line {number}" for number in range(LINES)]
    places = data.draw(st.lists(st.integers(0, LINES // 2 - 1), min_size=1, unique=True).map(sorted))
    owners = data.draw(st.lists(st.booleans(), min_size=len(places), max_size=len(places)))
    agents = data.draw(hunks_of("agent", [2 * place for place, own in zip(places, owners, strict=True) if own]))
    persons = data.draw(hunks_of("person", [2 * place for place, own in zip(places, owners, strict=True) if not own]))
    with benches.new() as bench:
        bench.write("f", _text(base))
        event = bench.step({"f": _text(edited(base, agents))})
        bench.write("f", _text(edited(base, [*agents, *persons])))
        bench.rollback(event)
        assert bench.files() == {"f": file(_text(edited(base, persons)))}
        bench.undo() if agents and edited(base, agents) != base else None
        assert bench.text("f").encode() == _text(edited(base, [*agents, *persons]))


def _text(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
