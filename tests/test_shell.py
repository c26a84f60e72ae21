"""What a command line runs and writes, beside what the system's own shell does with it.

Each line runs in an empty folder, with programs that only log how they were called. Whatever the shell started or wrote
must have been found; a line that is said not to be understood may do anything.
"""

import itertools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pogstore.shell.programs import understand

PROGRAMS = ("one", "two", "three")
LOGGING = """#!/bin/sh
between=$(printf '\\037'); said=${0##*/}
for word; do said=$said$between$word; done
printf '%s\\036' "$said" >> "$LOG" # at once: others log meanwhile
"""
LINES = [
    "for x in a b; do one > f; cd sub; done", "one a \\", "time -p one a", "time -p -- one",
    "! time one", "time -p touch f",
    "one a b", "one 'a b' c", 'one "a b" c', "one a\\ b", 'one a\'b\'"c"d', "'one' x", "o'n'e x", "\\one x", "one ''",
    "one a#b # two", "one; two", "one & two", "one && two", "one || two", "one | two", "one |& two", "one\ntwo",
    "one;two;three", "one&&two||three", "! one", "(one)", "( one; two )", "{ one; two; }", "(one) && (two)",
    "if one; then two; else three; fi", "while one; do two; break; done", "until one; do break; done",
    "for x in a b; do one; done", "for x in $(one); do two; done", "one `two`", "one $(two)", 'one "$(two)"',
    'one "$(two "$(three)")"', "one '$(two)'", "one \\$(two)", "one \\`two\\`", 'one "\\$(two)"', "one ${X:-$(two)}",
    "one ${X:-`two`}", "one <<E\n$(two)\nE", "one <<'E'\n$(two)\nE", "one <<E\n\\$(two)\nE\ntwo",
    "one <<-E\n\t$(two)\n\tE\ntwo", "one <<A <<B\n$(two)\nA\n$(three)\nB", "one > f", "one >> f", "one >f 2>g",
    "one 2>&1", "one > f 2>&1", "> f", "one >| f", "one <> f", "one 1> f", "{ one; } > f", "(one) >> f",
    "if one; then two; fi > f", "for x in a; do one > f; done", "one > 'a f'", 'one > "f"', "one >f; two >g",
    "one x>f", "one x2>f", "cd sub && one > f", "cd sub; one > f", "(cd sub && one > f); two > g",
    "cd sub && cd .. && one > f", "cd sub | one > f", "{ cd sub; one > f; } | two", "cd none || one > f",
    "cd none; one > f", "cd sub && cd none; one > f", "! cd sub; one > f", "if cd sub; then one > f; fi; two > g",
    "cd sub & one > f", 'cd "sub" && one > f', "cd -- sub && one > f", "cd ./sub/../sub && one > f", "eval 'one > f'",
    "eval one '>' f", "sh -c 'one > f'", 'sh -c "one; two"', "sh -ec 'one' x", "env A=b one", "env -u A one x",
    "command one", "nohup one", "nice -n 1 one", "exec one", "timeout 5 one", "A=b one", "A=$(two) one", "A=b; one",
    "A=b B=c one > f", "export A=b; one", "trap 'one' EXIT", "xargs one < /dev/null",
    "find . -maxdepth 0 -exec one x ;", "find . -maxdepth 0 -exec one {} \\;", "tee f < /dev/null", "touch f g",
    "mkdir d && touch d/f", "rm -f f", "cp src f", "mv src f", "mv src sub", "cp src sub", "ln src f",
    "sed -i s/a/b/ src", "dd if=src of=f", "one \\\n two", "on\\\ne x", "one $'a b'", "one {a,b}", "one ~", "one *",
    "one $((1 + 2))", "case a in a) one;; esac", "f() { one; }; f", "[ -d sub ] && one", "test -d sub && one",
    "true; false; one", "one;", "one &", ";", "", "echo a; one", "printf x > f", ": > f", "one 'a\nb'", 'one "a\nb"',
    "one <f two", "one >", "one 'a", "one )", "one (", "while read x; do one; done < src > f",
]  # fmt: skip


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of programs that log their name and their arguments."""
    place = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        (place / name).write_text(LOGGING)
        (place / name).chmod(0o755)
    return place


def ran(line: str, shell: str, place: Path, programs: Path) -> tuple[set[tuple[str, ...]], set[str]]:
    """Returns how programs were called, and which files were made, changed or taken away."""
    root, log = place / "root", place / "log"
    shutil.rmtree(root, ignore_errors=True)
    (root / "sub").mkdir(parents=True)
    (root / "src").write_text("a\n")
    log.write_bytes(b"")
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", "LOG": str(log), "HOME": str(root)}
    subprocess.run(
        [shell, "-c", line],
        cwd=root,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    calls = {tuple(each.split("\037")) for each in log.read_text().split("\036") if each}
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return calls, {name for name in files.keys() | {"src"} if files.get(name) != {"src": b"a\n"}.get(name)}


@pytest.mark.parametrize("shell", [each for each in ("sh", "bash") if shutil.which(each)])
def test_all_that_a_shell_starts_and_writes_is_found(shell: str, tmp_path: Path, programs: Path) -> None:
    understood = 0
    for line in LINES:
        doings = understand(line)
        calls, files = ran(line, shell, tmp_path, programs)
        if doings.fault:
            continue
        understood += 1
        found = [[word.text if word.known and not word.glob else None for word in run.words] for run in doings.runs]
        for call in calls:
            assert any(_is(call, words) for words in found), f"{line!r} called {call}, found {found}"
        if any(not write.word.known or write.word.glob or not write.wheres for write in doings.writes):
            continue
        named = {
            os.path.normpath("/".join([*(step.text for step in where), write.word.text]))
            for write in doings.writes for where in write.wheres
        }  # fmt: skip
        assert files <= named, f"{line!r} wrote {files}, found {named}"
    assert understood > 100


def _is(call: tuple[str, ...], words: list[str | None]) -> bool:
    """Says whether a call is one that was found; a word that is not known may be any number of words."""
    if None in words:
        at = words.index(None)
        return list(call[:at]) == words[:at]
    return list(call) == words


def test_pieces_of_lines_in_any_order_are_found_too(tmp_path: Path, programs: Path) -> None:
    """Lists and groups of commands that change the folder, in all orders of three."""
    pieces = ("cd sub", "(cd sub)", "{ cd sub; }", "one > f", "cd none", "cd ..", "cd sub | two")
    for picked in itertools.product(pieces, repeat=2):
        for one, other in itertools.product((" && ", "; ", " || ", " | "), repeat=2):
            line = f"{picked[0]}{one}{picked[1]}{other}two > g"
            doings = understand(line)
            named = {
                os.path.normpath("/".join([*(step.text for step in where), write.word.text]))
                for write in doings.writes for where in write.wheres
            }  # fmt: skip
            assert not doings.fault
            if (len(line) + line.count("s")) % 3 == 0:
                _, files = ran(line, "sh", tmp_path, programs)
                assert files <= named | {"../f", "../g"}, f"{line!r} wrote {files}, found {named}"
