"""What a contract forbids, as a table: pure, with paths resolved by their spelling alone.

The same through a hook, with real links and real folders, is `tests/agents/test_enforced.py`.
"""

import posixpath
import string
import subprocess
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore import policy
from pogstore.globs import glob, matches
from pogstore.policy import Contract, Limits, Refusal
from pogstore.shell.programs import understand
from pogstore.shell.script import parse

SCOPE = Limits("the task", allow=["src/**", "docs/*.md"], deny=["*.key", "src/vendor/**"])
COMMANDS = Limits(
    "the task",
    command_allow=[
        "pytest",
        "git status",
        "git diff",
        "python -m pytest *",
        "make*",
        "grep",
        "./run.sh",
        "find",
        "cat",
    ],
    command_deny=["git push", "make deploy", "grep --recursive"],
)


def resolve(steps: Sequence[str]) -> list[str]:
    """Resolves a path as if there were no links."""
    path = posixpath.normpath(posixpath.join("/repo", *steps))
    return [posixpath.relpath(path, "/repo") if path.startswith("/repo/") else path]


def judged(command: str, *limits: Limits) -> Refusal | None:
    return policy.judge_command(Contract("t", "d", limits), command, resolve)


def rule_of(refusal: Refusal | None) -> str | None:
    return refusal.rule if refusal else None


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("src/app.py", None),
        ("src/deep/er/app.py", None),
        ("docs/page.md", None),
        ("src", None),
        ("docs/deep/page.md", "path"),
        ("docs/page.rst", "path"),
        ("README.md", "path"),
        ("srcs/app.py", "path"),
        ("SRC/app.py", "path"),
        ("src/deep/server.key", "path"),
        ("src/SERVER.KEY", "path"),
        ("src/vendor/lib.py", "path"),
        ("src/Vendor/lib.py", "path"),
        ("/etc/passwd", "path"),
        ("/repo2/src/app.py", "path"),
        ("src/.git/config", "limits"),
        (".GIT/hooks/pre-commit", "limits"),
        (".pog.toml", "limits"),
        (".claude/settings.local.json", "limits"),
        ("/home/me/.claude/settings.json", "limits"),
    ],
)
def test_a_path_is_inside_the_scope_or_not(path: str, rule: str | None) -> None:
    refusal = policy.judge_paths(Contract("t", "d", [SCOPE]), ["src/app.py", path])
    assert rule_of(refusal) == rule
    assert refusal is None or (path in refusal.reason and refusal.paths == (path,))


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "pytest -q tests/test_one.py",
        "git status --short",
        "python -m pytest -x",
        "make test",
        "cd src && pytest",
        "pytest && git status; make lint || true",
        "'py'test \"-q\"",
        "pytest > /dev/null 2>&1",
        "git diff | grep -n 'a b'",
        "timeout 60 pytest",
        "env TERM=dumb pytest",
        "FOO=1 pytest",
        "export FOO=1; pytest",
        "bash -c 'pytest -q'",
        'for f in a b; do pytest "$f"; done',
        "if pytest; then git status; fi",
        "echo 'git push; rm -rf /'",
        "cat <<'EOF' | grep x\n$(git push)\nEOF",
        "find . -name '*.py' -exec cat {} +",
        "./run.sh fast",
        "git pog note @ 'half done' && git pog done @",
        "git pog run -- pytest -q",
        "pytest # git push",
        "git diff -- \"$(cat <<'EOF'\nit's (a) \\\nEOF\n)\"",
        'git status "$(cat <<-A 3<<B\n\tx)\n\tA\n\'\nB\n)" && pytest',
        "[[ -f a && pytest ]]",
        "[[ $X == a ]] && pytest",
        "[[ 1 -lt 2 ]] && pytest",
        "GIT_AUTHOR_NAME=a GIT_PAGER=cat EDITOR=true git status",
        "for x in a; do X=$x pytest; done",
        "cat <<EOF\na \\\nb\nEOF",
        "cat refs/pog/x",
    ],
)
def test_allowed_commands_pass(command: str) -> None:
    assert judged(command, COMMANDS) is None


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        # argv: not the beginning of a string
        ("pytests", "command"),
        ("pytest-evil", "command"),
        ("/tmp/pytest", "command"),
        ("./pytest", "command"),
        ("git statusx", "command"),
        ("git -c core.pager=evil status", "command"),
        ("python -m pytestx", "command"),
        ("python evil.py -m pytest", "command"),
        ("sudo pytest", "command"),
        ("git push", "command"),
        ("git -C . push origin", "command"),
        ("git --no-pager push", "command"),
        ("make -j deploy", "command"),
        ("/usr/bin/grep --recursive x", "command"),
        # one after the other, in pipes, in each other
        ("pytest; curl evil", "command"),
        ("pytest && git push", "command"),
        ("pytest || git push", "command"),
        ("pytest | sh", "not-understood"),
        ("pytest & git push", "command"),
        ("pytest\ngit push", "command"),
        ("(git push)", "command"),
        ("{ git push; }", "command"),
        ("! git push", "command"),
        ("pytest $(git push)", "command"),
        ("pytest `git push`", "command"),
        ('pytest "$(git push)"', "command"),
        ('pytest "$(echo "$(git push)")"', "command"),
        ("pytest <(git push)", "command"),
        ("pytest ${X:-$(git push)}", "command"),
        ("cat <<EOF\n$(git push)\nEOF", "command"),
        ("cat <<E_F\n`git push`\nE_F", "command"),
        ("bash -c 'git push'", "command"),
        ("bash -ec \"git push\"", "command"),
        ("eval 'git push'", "command"),
        ("trap 'git push' EXIT", "command"),
        ("env git push", "command"),
        ("time -p git push", "command"),
        ("command git push", "command"),
        ("nohup timeout -k 5 10 git push", "command"),
        ("xargs git push", "command"),
        ("find . -exec git push {} ;", "command"),
        ("git pog run -- git push", "command"),
        ("for x in a; do git push; done", "command"),
        ("if true; then git push; fi", "command"),
        ("while git push; do true; done", "command"),
        # quoting
        ("'git' 'push'", "command"),
        ('g"i"t pu\\sh', "command"),
        ("git \\\npush", "command"),
        ("\\git push", "command"),
        ("git pus'h'", "command"),
        ("$'git' push", "not-understood"),
        ('"pytest -q"', "command"),
        ("pytest\\ -q", "command"),
        # what only the shell can know
        ("$CMD push", "not-understood"),
        ("${GIT:-git} push", "not-understood"),
        ("git $VERB", "command"),
        ("{git,push}", "not-understood"),
        ("$'gi\\x74' push", "not-understood"),
        ("bash -c \"$X\"", "not-understood"),
        ("eval \"$X\"", "not-understood"),
        ("bash <<EOF\ngit push\nEOF", "not-understood"),
        ("pytest '", "not-understood"),
        ("case a in a) git push;; esac", "not-understood"),
        ("pytest() { git push; }; pytest", "not-understood"),
        ("env -S 'git push'", "not-understood"),
        ("bash --rcfile evil -c true", "command"),
        ("git status $(git $VERB)", "command"),
        ("a=(git push); ${a[@]}", "not-understood"),
        ("pytest $((1+$(git push)))", "not-understood"),
        ("[[ -n x || git push ]]", "command"),
        ("[[ -n $(git push) ]]", "command"),
        ("[[ $X -eq 1 ]]", "not-understood"),
        ("[[ a[1] -eq 1 ]]", "not-understood"),
        ("pytest \"$(cat <<'EOF'\n)\nEOF\ngit push)\"", "command"),
        ("pytest $(cat <<EOF\n$(git push)\nEOF\n)", "command"),
        ("pytest $(cat <<EOF)\nEOF", "not-understood"),
        ("pytest \"$(cat <<'E'\nE\\)E\ngit push\nE\n)\"", "not-understood"),
        ("cat <<EOF\na\\\nEOF\n'\nEOF\ngit push #'", "not-understood"),
        ("cat <<EOF\nEO\\\nF\ngit push\nEOF", "not-understood"),
        ("X='a[$(git push)]'; pytest $X", "not-understood"),
        ('pytest "${X@P}"', "not-understood"),
        ("test -v 'a[$(git push)]'", "not-understood"),
        ("printf -v 'a[$(git push)]' x", "not-understood"),
        ("alias pytest='git push'; pytest", "command"),
        ("declare -n X=PATH; X=. pytest", "not-understood"),
        ("let PATH=1; pytest", "command"),
        ("trap -- 'git push' EXIT", "command"),
        ("fish -c 'pytest'", "command"),
        # variables that change what programs do
        ("PATH=. pytest", "environment"),
        ("LD_PRELOAD=./x.so pytest", "environment"),
        ("env PYTHONPATH=evil pytest", "environment"),
        ("PATH=.; pytest", "environment"),
        ("export PATH=.; pytest", "environment"),
        ("declare -x LD_PRELOAD=x; pytest", "environment"),
        ("GIT_SSH_COMMAND=evil git status", "environment"),
        ("GIT_PAGER=evil git status", "environment"),
        ("MAKEFLAGS=--eval=x make test", "environment"),
        ("for PATH in .; do pytest; done", "environment"),
        (": ${PATH:=.}; pytest", "environment"),
        ("cat <<EOF\n${PATH=.}\nEOF\npytest", "environment"),
        ("printf -v PATH .; pytest", "environment"),
        ("printf -vPATH .; pytest", "environment"),
    ],
)  # fmt: skip
def test_a_command_is_taken_apart_as_a_shell_does(command: str, rule: str) -> None:
    assert rule_of(judged(command, COMMANDS)) == rule


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        # redirections
        ("echo x > src/a", None),
        ("echo x >> src/a 2>> src/errors", None),
        ("echo x > /dev/null", None),
        ("cat < /etc/passwd > src/a", None),
        ("echo x > a", "path"),
        ("echo x >> a", "path"),
        ("echo x >| a", "path"),
        ("echo x &> a", "path"),
        ("echo x >& a", "path"),
        ("echo x 2> a", "path"),
        ("echo x <> a", "path"),
        ("> a", "path"),
        ("echo x >src/a>b", "path"),
        ("{ echo x; } > a", "path"),
        ("(echo x) > a", "path"),
        ("for x in 1; do echo; done > a", "path"),
        ("echo x > /etc/motd", "path"),
        ("echo x > src/../a", "path"),
        ("echo x > 'src/a.key'", "path"),
        ("echo x > .git/pog/contracts/t", "limits"),
        ("echo x > $X", "not-understood"),
        ('echo x > "src/$X"', "not-understood"),
        ("echo x > ~/a", "not-understood"),
        ("echo x > src/{a,../../b}", "not-understood"),
        ("echo x > src/*", "not-understood"),
        # folders
        ("cd src && echo x > a", None),
        ("cd src && cd .. && echo x > src/a", None),
        ("(cd docs && ls); echo x > src/a", None),
        ("cd src; cd ../src; echo x > /repo/src/a", None),
        ("cd docs && echo x > page.md", None),
        ("cd .. && echo x > src/a", "path"),
        ("cd src && echo x > ../a", "path"),
        ("cd src/no && cd .. || true; echo x > a", "path"),
        ("cd src; echo x > a", "path"),
        ("cd docs || cd ../src && echo x > a", "path"),
        ("cd src || true; echo x > a", "path"),
        ("cd /tmp && echo x > src/a", "path"),
        ("(cd src; true); echo x > a", "path"),
        ("cd src | true; echo x > a", "path"),
        ("cd src & echo x > a", "path"),
        ("{ cd src; true; } | cat; echo x > a", "path"),
        ("true && { cd src; } ; echo x > a", "path"),
        ("cd $X; echo x > src/a", "not-understood"),
        ("cd; echo x > src/a", "not-understood"),
        ("cd -; echo x > src/a", "not-understood"),
        ("pushd src; echo x > a", "not-understood"),
        ("for i in 1 2; do cd ..; echo x > src/a; done", "not-understood"),
        ("while true; do echo x > src/a; cd ..; done; echo x > src/a", "not-understood"),
        ("for i in 1 2; do echo x > src/a; cd ..; done", "not-understood"),
        ("while echo x > src/a; do cd ..; done", "not-understood"),
        ("source x; echo x > src/a", "not-understood"),
        ("CDPATH=/ cd src && echo x > a", "environment"),
        # programs that are known to write
        ("rm -rf src/old", None),
        ("rm -r -- src/-x", None),
        ("mv src/a src/b", None),
        ("cp README.md src/", None),
        ("touch -t 202601010000 src/a", None),
        ("sed -i.bak 's/a/b/' src/a docs/page.md", None),
        ("sed 's/a/b/' README.md", None),
        ("mkdir -m 755 -p src/new", None),
        ("find src -name x", None),
        ("rm README.md", "path"),
        ("rm -rf .", "path"),
        ("mv src/a a", "path"),
        ("mv README.md src/a", "path"),
        ("cp src/a README.md", "path"),
        ("cp -t . src/a", "path"),
        ("mv src/a.key src/vendor", "path"),
        ("cp ../x/vendor src", "path"),
        ("tee README.md < src/a", "path"),
        ("sed -i s/a/b/ README.md", "path"),
        ("sed -n -i -e s/a/b/ README.md", "path"),
        ("perl -pi -e s/a/b/ README.md", "path"),
        ("dd if=src/a of=README.md", "path"),
        ("chmod -x README.md", "path"),
        ("chmod 644 README.md", "path"),
        ("ln -s /etc/passwd src/link", "path"),
        ("ln README.md src/link", "path"),
        ("curl -sSo README.md http://x", "path"),
        ("git rm README.md", "path"),
        ("git mv src/a README.md", "path"),
        ("bash -c 'rm README.md'", "path"),
        ("cd .. && bash -c 'rm repo2/x'", "path"),
        ("find . -delete", "not-understood"),
        ("find src -exec rm {} +", "not-understood"),
        ("ls | xargs rm", "not-understood"),
        ("rm $X", "not-understood"),
        ("git -C .. rm src/a", "not-understood"),
        ("rm src/*", "not-understood"),
        ("python3 build.py", None),
        # what git and others write that only they know
        ("git checkout -- src/a", None),
        ("git checkout other", None),
        ("git restore --staged README.md", None),
        ("git stash list", None),
        ("git clean -n", None),
        ("git apply --check x", None),
        ("git diff --output=src/a", None),
        ("git -c user.name=x -c core.pager=cat log", None),
        ("tar -tf x", None),
        ("unzip -l x", None),
        ("curl -s http://x", None),
        ("wget -qO- http://x", None),
        ("gzip -c README.md", None),
        ("git checkout -- README.md", "path"),
        ("git checkout HEAD -- src/a README.md", "path"),
        ("git restore --staged --worktree README.md", "path"),
        ("git diff --output=README.md", "path"),
        ("git archive -o a HEAD", "path"),
        ("git reset --hard", "not-understood"),
        ("git clean -fd", "not-understood"),
        ("git stash", "not-understood"),
        ("git stash pop", "not-understood"),
        ("git apply x", "not-understood"),
        ("git rebase -x 'rm README.md' a", "not-understood"),
        ("git rebase --exec='echo > a' a", "not-understood"),
        ("git submodule foreach 'rm a'", "not-understood"),
        ("git bisect run rm a", "not-understood"),
        ("git -c alias.x='!rm a' x", "environment"),
        ("git -c core.editor=evil commit", "environment"),
        ("git --exec-path=evil status", "environment"),
        ("git --config-env=alias.x=Y x", "environment"),
        ("tar xf x", "not-understood"),
        ("unzip x", "not-understood"),
        ("patch -p1", "not-understood"),
        ("curl -sO http://x", "not-understood"),
        ("wget http://x", "not-understood"),
        ("gzip README.md", "path"),
    ],
)
def test_the_files_that_a_command_writes_are_judged(command: str, rule: str | None) -> None:
    assert rule_of(judged(command, SCOPE)) == rule


@pytest.mark.parametrize(
    ("pattern", "command", "allowed"),
    [
        ("*", "/anywhere/any thing", True),
        ("*test", "mytest -q", True),
        ("*test", "/tmp/mytest -q", False),
        ("/opt/*/test", "/opt/x/test", True),
        ("npm run *", "npm run build now", True),
        ("npm run *", "npm run", True),
        ("npm run *", "npm publish", False),
        ("'two words'", "'two words' x", True),
        ("a b", "a 'b c'", False),
        ("a [0-9]?", "a 7x", True),
        ("a [0-9]?", "a xx", False),
    ],
)
def test_a_pattern_of_commands_means_their_first_words(pattern: str, command: str, allowed: bool) -> None:
    assert (judged(command, Limits("the task", command_allow=[pattern])) is None) is allowed


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("git push", "git -c alias.p=x --no-pager push"),
        ("git push", "flock /tmp/x git push"),
        ("git push", "strace -f git push"),
        ("git push", "watch 'git push'"),
        ("git push", "uv run git push"),
        ("git push", "git submodule foreach 'git push'"),
        ("git push", "git rebase -x'git push' a"),
        ("git push", "git bisect run git push"),
        ("git push", "bash -c 'busybox sh -c \"git push\"'"),
        ("rm -rf", "rm -fr x"),
        ("rm -rf", "rm x -v -r -f"),
        ("rm -rf", "rm -Rf x"),
        ("rm -rf", "rm --recursive --force x"),
        ("git push -f", "git push -uf origin"),
    ],
)
def test_a_denied_command_is_found_however_it_is_written(pattern: str, command: str) -> None:
    assert rule_of(judged(command, Limits("the task", command_deny=[pattern]))) == "command"


@pytest.mark.parametrize(
    ("pattern", "command"),
    [("rm -rf", "rm -r x"), ("rm", "docker rm x"), ("git push", "git log push"), ("git push -f", "git push -u x")],
)
def test_what_resembles_a_denied_command_may_run(pattern: str, command: str) -> None:
    assert judged(command, Limits("the task", command_deny=[pattern])) is None


@pytest.mark.parametrize("limits", [[], [Limits("the task")], [SCOPE], [COMMANDS]])
@pytest.mark.parametrize(
    "command",
    [
        "git pog edit @ --allow '**'",
        "git -C . pog edit @ --allow x",
        "git pog -C . start other",
        "git-pog new other --start",
        "/usr/bin/git pog release @",
        "python3 -m pogstore pause",
        "bash -c 'git pog review --approve @'",
        "git pog run -- git pog edit @",
        "POG_TASK=other make",
        "env POG_DISABLE=1 make",
        "git config pog.requireTask false",
        "git update-ref -d refs/pog/tasks/x",
        "git push origin :refs/pog/tasks/x",
        "rm .git/pog/contracts/t",
        "true; echo x > .git/config",
        "rm -r .claude/settings.json",
        "git pog $V",
        "git config pog.allow get",
        "git config -e",
        "git config --unset pog.deny --get",
        "git -c pog.allow='**' pog note @ x",
        "git for-each-ref refs/pog | git update-ref --stdin",
        "echo refs/pog/tasks/x | xargs git update-ref -d",
        "git fetch origin '+refs/*:refs/*'",
        "git push --mirror",
        "cat x > .git/pog/contracts/t",
        "cp x .git/pog/contracts/t",
        "git pog gate --exec",
        "git pog next --claim",
    ],
)
def test_no_contract_lets_an_agent_change_what_limits_it(command: str, limits: list[Limits]) -> None:
    others = {"not-understood", "command"} if limits else set()
    assert rule_of(judged(command, *limits)) in {"limits", "environment"} | others


@pytest.mark.parametrize(
    "command",
    [
        *("git config --get user.name", "git config user.name", "git config --global user.name", "git pog start @"),
        *("git pog", "git pog gate --staged", "git pog gate a..b --json", "git pog next", "git log refs/pog/tasks/x"),
        *(
            "grep -rn refs/pog docs",
            "git fetch origin 'refs/heads/*:refs/remotes/origin/*'",
            "cat .git/pog/contracts/x",
        ),
    ],
)
def test_what_changes_no_limit_is_for_agents_too(command: str) -> None:
    assert judged(command, Limits("the task")) is None


def test_a_contract_without_limits_understands_nothing_and_denies_nothing() -> None:
    for command in ("case a in b) ;; esac", "rm $X > $Y", "'", "$A", "PATH=. x", "rm -rf /"):
        assert judged(command) is None


def test_what_one_of_several_limits_forbids_is_forbidden() -> None:
    wide, narrow = Limits("one", allow=["src/**"]), Limits("other", allow=["src/a/**"])
    for pair in ([wide, narrow], [narrow, wide]):
        contract = Contract("t", "d", pair)
        assert policy.judge_paths(contract, ["src/a/x"]) is None
        refusal = policy.judge_paths(contract, ["src/b/x"])
        assert refusal is not None
        assert "other" in refusal.reason


def test_budget_lease_and_claim_are_judged_by_time() -> None:
    contract = Contract("t")
    contract.since, contract.lease_until = 0, 600_000_000
    contract.budget = {"minutes": 5, "changed_lines": 10}
    assert policy.judge_time(contract, 299_999_999) is None
    assert rule_of(policy.judge_time(contract, 300_000_000)) == "budget"
    assert rule_of(policy.judge_time(contract, 600_000_000)) == "lease-over"
    contract.spent = {"changed_lines": 10}
    refusal = policy.judge_time(contract, 0)
    assert refusal is not None
    assert (refusal.rule, refusal.reason) == ("budget", "the budget of 10 changed lines is spent")
    contract.standing = "it was released"
    assert rule_of(policy.judge_time(contract, 0)) == "claim-lost"


@pytest.mark.parametrize(
    ("pattern", "text", "same"),
    [
        ("*", "", True),
        ("a*b*c", "a-b-b-c", True),
        ("a*b*c", "a-b-b-d", False),
        ("[a-c]?", "bz", True),
        ("[!a-c]?", "bz", False),
        ("[]x]", "]", True),
        ("[", "[", True),
        ("a", "ab", False),
    ],
)
def test_a_glob_means_what_it_says(pattern: str, text: str, same: bool) -> None:
    assert glob(pattern, text) is same


@pytest.mark.parametrize(
    ("pattern", "path", "same"),
    [
        ("src", "src/a/b", True),
        ("src/", "src/a", True),
        ("src/*", "src/a/b", True),
        ("src/*.py", "src/a/b.py", False),
        ("**/b.py", "b.py", True),
        ("**/b.py", "x/y/b.py", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z/more", True),
        ("a/**/z", "b/a/z", False),
        ("/src/**", "src/a", True),
        ("**", "any/thing", True),
        ("*.py", "x/a.py", False),
    ],
)
def test_a_pattern_means_paths_and_what_is_below_them(pattern: str, path: str, same: bool) -> None:
    assert matches(pattern, path) is same


def test_no_pattern_and_no_command_takes_long() -> None:
    """Both come from others: what they cost is at most the product of their sizes."""
    begun = time.process_time()
    assert not matches("/".join(["**", "*a*a*a*b"] * 20), "/".join(["a" * 50] * 100))
    for text in ("$(" * 100_000, '"$(' * 80_000, "`\\`" * 80_000, "((" * 90_000, "x " * 120_000, "{ " * 100_000):
        parse(text)
    assert time.process_time() - begun < 20, "a guard against what grows with the square, far above what it takes"


WORDS = st.text(
    alphabet=string.ascii_letters + string.digits + " '\"\\$`*?[]{}~#;&|<>()!=\t-/.", min_size=1, max_size=12
)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_words_are_those_that_a_shell_makes_of_quoted_ones(words: list[str]) -> None:
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    (command,) = parse(f"printf {quoted}").commands
    assert [word.text for word in command.words[1:]] == words
    assert all(word.known and not word.glob for word in command.words)


@given(st.text(alphabet="ab '\"\\$`(){};&|<>\n#=~", max_size=24))
def test_whatever_it_is_told_it_answers(text: str) -> None:
    understand(text)
    assert rule_of(judged(text, COMMANDS)) in {None, *policy.RULES}


def test_plain_words_are_split_as_the_system_s_shell_splits_them() -> None:
    samples = [
        "a b  c", "'a b' \"c d\"", "a\\ b c", "\"a\\\"b\" 'c'\\''d'", "a'b'\"c\"d", "\"a\\b\" \"a\\\\b\"", "a \\\nb",
        "x#y # z", "'' \"\"", "a=b c=d", "\"$(true)x\"",
    ]  # fmt: skip
    script = "\n".join(f"printf '[%s]' {sample}\necho" for sample in samples)
    told = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    for sample, line in zip(samples, told, strict=True):
        command = parse(f"printf {sample}").commands[-1]
        if all(word.known for word in command.words):
            assert "".join(f"[{word.text}]" for word in command.words[1:]) == line
