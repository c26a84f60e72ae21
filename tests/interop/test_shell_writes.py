"""What shell commands certainly write, each beside what a real shell makes of it, and what is left as not known."""

import subprocess
from pathlib import Path

import pytest

from pogstore.interop.shell_writes import Copied, Moved, Wrote, effects

HERE = "cat > a.txt << 'EOF'\nfirst $x `y` \\n\n\n  last\nEOF\n"


@pytest.mark.parametrize(
    ("command", "made"),
    [
        (HERE, [Wrote("a.txt", "first $x `y` \\n\n\n  last\n", append=False)]),
        ("cat <<EOF >>'my notes.txt'\nplain\nEOF", [Wrote("my notes.txt", "plain\n", append=True)]),
        ('cat > a <<"END" && cat >> b <<-X\none\nEND\n\ttwo\n\tX\necho ok', [
            Wrote("a", "one\n", append=False), Wrote("b", "two\n", append=True)]),
        ("tee -a a <<'E' > /dev/null\nx\nE", [Wrote("a", "x\n", append=True)]),
        ("tee a <<'E'\nx\nE", [Wrote("a", "x\n", append=False)]),
        ("echo one 'two  three' > a; echo \"it's\" >> a", [
            Wrote("a", "one two  three\n", append=False), Wrote("a", "it's\n", append=True)]),
        ("mkdir -p d && cd d && echo x > a && cat < /dev/null", [Wrote("d/a", "x\n", append=False)]),
        ("mv a b # why\ngit mv -f c d/", [Moved("a", "b"), Moved("c", "d/")]),
        ("mv a b dir", [Moved("a", "dir/"), Moved("b", "dir/")]),
        ("cp -p a b 2>/dev/null", [Copied(("a",), "b", append=False)]),
        ("cat a b > c && head -20 c > d\nhead -n 3 c >> d", [
            Copied(("a", "b"), "c", append=False), Copied(("c",), "d", append=False, lines=20),
            Copied(("c",), "d", append=True, lines=3)]),
        ("echo x > a && ls | wc -l && echo y > b", [Wrote("a", "x\n", append=False)]),
        ("cat > a <<'E'\nx\nE\nfor f in *; do echo $f > b; done", [Wrote("a", "x\n", append=False)]),
    ],
)  # fmt: skip
def test_what_is_certain(command: str, made: list[object]) -> None:
    assert list(effects(command)) == made


@pytest.mark.parametrize(
    "command",
    [
        "cat > $HOME/a <<'E'\nx\nE",
        "cat > a <<E\n$x\nE",
        "cat > a <<'E'\nnever ended\n",
        "cat > a <<'E' | tee b\nx\nE",
        "cat > a <<'E' && make | head\nx\nE",
        "git commit -m \"$(cat <<'EOF'\nmessage\nEOF\n)\"",
        "if true; then echo x > a; fi",
        "(echo x > a)",
        "echo 'a\\n' > a",
        "echo -e x > a",
        "sed -n p > a",
        "printf x > a",
        "mv -n a b",
        "mv -t dir a",
        "mv 'a",
        "cp a dir/",
        "cat -n a > b",
        "cd - && echo x > a",
        "test -f a || echo x > a",
        "python3 - <<'E' > a\nprint(1)\nE",
        "head -c 5 a > b",
        "echo x >",
        "exit 0; echo x > a",
        "",
    ],
)
def test_what_is_not_certain_is_nothing(command: str) -> None:
    assert list(effects(command)) == []


@pytest.mark.parametrize(
    "command",
    [
        HERE,
        "cat <<EOF >>'my notes.txt'\nplain\nEOF",
        "cat > a <<-'X'\n\t\tone\n\ttwo\n\tX\n",
        'echo "a \\"b\\"" c\'d\'"e" > f#1; echo x >> f#1',
        "echo   spaced    words >a&&echo more>>a",
        "echo 1 > 'a b'; echo 2 > \"c d\"; echo '#no' \\\n  yes > e # comment",
        "mkdir x\ncd x\necho one > a; cd ./y 2>/dev/null; echo two > b",
        "cat > one <<'A' ; cat > two <<'B'\n1\nA\n2\nB\necho three > three",
    ],
)
def test_a_shell_does_the_same(command: str, tmp_path: Path) -> None:
    """The files that a real shell leaves, from the texts alone."""
    (tmp_path / "x" / "y").mkdir(parents=True)
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    told: dict[str, str] = {}
    for effect in effects(command):
        assert isinstance(effect, Wrote)
        path = (tmp_path / effect.path).resolve().relative_to(tmp_path).as_posix()
        told[path] = (told.get(path, "") if effect.append else "") + effect.text
    made = {file.relative_to(tmp_path).as_posix(): file.read_text() for file in tmp_path.rglob("*") if file.is_file()}
    assert told == made
