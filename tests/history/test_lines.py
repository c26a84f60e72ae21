"""Lines as attribution sees them."""

from hypothesis import given
from hypothesis import strategies as st

from pogstore.history.lines import bare, is_trivial, normal, normals, score, split


@given(st.binary(max_size=60))
def test_split_keeps_every_byte(content: bytes) -> None:
    assert b"".join(split(content)) == content


def test_split_ends_lines_as_git_does() -> None:
    assert split(b"") == []
    assert split(b"a") == [b"a"]
    assert split(b"a\n") == [b"a\n"]
    assert split(b"a\r\nb\x0cc\n\n") == [b"a\r\n", b"b\x0cc\n", b"\n"], "only a newline ends a line"


@given(st.lists(st.sampled_from([b"a", b" ", b"\t", b"\r", b"\v\f", b"\n", b"\x85"]), max_size=30).map(b"".join))
def test_all_lines_without_white_space_are_those_of_each(content: bytes) -> None:
    assert normals(content) == [normal(line) for line in split(content)]
    assert bare(content) == b"".join(line + b"\n" for line in normals(content))


def test_normal_and_score() -> None:
    assert normal(b"\t if  x :\r\n") == b"ifx:"
    assert score(b"x = 1;") == 2
    assert score("名".encode()) == 3, "each byte of a letter that is not ASCII counts"


def test_trivial_lines() -> None:
    for line in (b"", b"\n", b"  }\n", b"});\n", b"} else {\n", b"return nil\n", b"  return None\n"):
        assert is_trivial(line), line
    for line in (b"return compute(x)\n", b"abc\n", b"import os\n"):
        assert not is_trivial(line), line
