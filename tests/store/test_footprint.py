"""The lists of what is ours: nothing that a crash does to them stops anybody."""

from pathlib import Path

import pytest

from pogstore.model import Oid
from pogstore.store.footprint import LOOSE, PACKS, Footprint

ONE, TWO = Oid("1" * 40), Oid("2" * 40)
PACK = "pack-" + "a" * 40


def test_what_is_noted_is_listed_once_and_in_order(tmp_path: Path) -> None:
    footprint = Footprint(tmp_path)
    assert (footprint.loose(), footprint.packs(), footprint.counts()) == ([], [], (0, 0))
    footprint.note_loose([TWO, ONE])
    footprint.note_loose([])
    footprint.note_loose([TWO])
    footprint.note_pack(PACK)
    assert footprint.loose() == [TWO, ONE]
    assert footprint.packs() == [PACK]
    assert footprint.counts() == (3, 1)
    footprint.keep_loose([ONE])
    footprint.keep_packs([])
    assert (footprint.loose(), footprint.packs(), footprint.counts()) == ([ONE], [], (1, 0))
    assert {path.name for path in tmp_path.iterdir()} == {LOOSE, PACKS}


def test_torn_lines_and_foreign_ones_are_passed_over(tmp_path: Path) -> None:
    footprint = Footprint(tmp_path)
    (tmp_path / LOOSE).write_bytes(b"1" * 30 + ONE.encode() + b"\n" + b"\0" * 41 + b"\n" + TWO.encode() + b"\n../x\n")
    (tmp_path / PACKS).write_bytes(b"../../../pack-" + b"a" * 40 + b"\n" + PACK.encode() + b"\npack-x\n")
    assert footprint.loose() == [TWO]
    assert footprint.packs() == [PACK]


@pytest.mark.parametrize("name", [LOOSE, PACKS])
def test_a_list_that_cannot_be_written_stops_nobody(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / name).symlink_to(victim)
    footprint = Footprint(tmp_path)
    footprint.note_loose([ONE])
    footprint.note_pack(PACK)
    assert victim.read_text() == "precious"
    Footprint(tmp_path / "missing").note_loose([ONE])
