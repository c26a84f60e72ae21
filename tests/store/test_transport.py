"""Remotes by name, URL and path; refs listed, fetched and pushed by the real git."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pogstore.errors import BadInput, NotFound, PogError, RemoteFailed
from pogstore.model import Oid
from pogstore.store import transport
from pogstore.store.gitcli import Done, Git
from pogstore.store.refs import tracking_prefix
from pogstore.store.store import open_store
from pogstore.store.transport import Remote
from tests.conftest import Repo

TASK = "refs/pog/tasks/01946f5a-0000-7000-8000-000000000001"
OTHER = "refs/pog/tasks/01946f5a-0000-7000-8000-000000000002"


def git_of(repo: Repo) -> Git:
    return Git(repo.path / ".git", repo.path)


@pytest.fixture
def origin(repo: Repo, make_repo: Callable[..., Repo]) -> Repo:
    """A bare repository that is the remote `origin` of `repo`."""
    made = make_repo("origin.git", "--bare", commit=False)
    repo.git("remote", "add", "origin", str(made.path))
    return made


def remote_of(repo: Repo, name: str = "origin") -> Remote:
    return transport.find_remote(git_of(repo).settings(), name)


def head(repo: Repo) -> Oid:
    return Oid(repo.git("rev-parse", "HEAD"))


# Which remote is meant

SETTINGS = {
    "remote.origin.url": ["https://ada:secret@git.example.org/x.git"],
    "remote.up.stream.url": ["git@example.org:x.git"],
    "remote.two.url": ["/srv/x.git"],
    "remote.two.pushurl": ["/srv/a.git", "/srv/b.git"],
    "remote.fork.url": ["/srv/x.git"],
    "remote.fork.pushurl": ["https://ada:secret@git.example.org/fork.git"],
}


def test_a_configured_remote_goes_by_its_name() -> None:
    assert transport.remote_names(SETTINGS) == ["fork", "origin", "two", "up.stream"]
    assert transport.find_remote(SETTINGS, "up.stream") == Remote("up.stream", "up.stream", True)


@pytest.mark.parametrize(
    ("given_", "name"),
    [
        ("https://git.example.org/y.git", "https://git.example.org/y.git"),
        ("https://ada:secret@git.example.org/y.git", "https://git.example.org/y.git"),
        ("ssh://git@example.org:22/y.git", "ssh://example.org:22/y.git"),
        ("git@example.org:y.git", "git@example.org:y.git"),
    ],
)
def test_a_url_goes_by_itself_without_its_user(given_: str, name: str) -> None:
    assert transport.find_remote(SETTINGS, given_) == Remote(name, given_, False)


def test_a_url_that_is_configured_goes_by_that_name() -> None:
    assert transport.find_remote(SETTINGS, "git@example.org:x.git").name == "up.stream"


def test_a_path_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "server.git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a")
    for written in ("./server.git", "server.git", "../a/server.git"):
        assert Path(transport.find_remote(SETTINGS, written).at).resolve() == (tmp_path / "a" / "server.git").resolve()
    (tmp_path / "a" / "docs").mkdir()
    with pytest.raises(NotFound):
        transport.find_remote(SETTINGS, "docs")


@pytest.mark.parametrize(
    "given_", ["-x", "--upload-pack=touch x", "--", "", "a\nb", "a\0b", "https://x\n/y", "-oProxyCommand=x:y"]
)
def test_what_must_not_reach_a_command_line_is_refused(given_: str) -> None:
    """Case T11."""
    with pytest.raises(BadInput):
        transport.find_remote(SETTINGS, given_)


@pytest.mark.parametrize("given_", ["ext::sh -c x", "nowhere", "fd::17", "../missing"])
def test_what_is_no_remote_is_not_found(given_: str) -> None:
    with pytest.raises(NotFound, match="remote"):
        transport.find_remote(SETTINGS, given_)


class Recording(Git):
    """Git that runs nothing and keeps its arguments."""

    def run(self, *arguments: str, stdin: bytes = b"", **_: object) -> Done:
        self.arguments = list(arguments)
        return Done(0, b"", b"")


@given(text=st.text(max_size=30) | st.from_regex(r"-{1,2}[a-z-]{1,20}(=\S{0,9})?", fullmatch=True), file=st.booleans())
@example(text="--upload-pack=x://y", file=True)
def test_no_remote_changes_the_options_of_git(text: str, file: bool) -> None:
    """Case T11: what stands before `--` is the same for every remote that is accepted, and it stands behind."""
    git = Recording(Path("/nowhere"))
    try:
        remote = transport.find_remote({**SETTINGS, f"remote.{text}.url": ["x"]} if file else SETTINGS, text)
    except PogError:
        return
    assert not remote.at.startswith("-")
    oid = Oid("1" * 40)
    calls: tuple[tuple[Callable[[], object], list[str]], ...] = (
        (lambda: transport.list_refs(git, remote, [TASK]), ["ls-remote", "--refs"]),
        (lambda: transport.fetch_refs(git, remote, [TASK]), []),
        (lambda: transport.push_refs(git, remote, {TASK: oid}), []),
    )
    for call, options in calls:
        call()
        cut = git.arguments.index("--")
        assert git.arguments[cut + 1] == remote.at
        before = [word for word in git.arguments[:cut] if not word.endswith(".mirror=false")]
        assert not options or before == options
        assert all(remote.at != word for word in before)


def test_names_become_refs_that_git_accepts(repo: Repo) -> None:
    """Case PC-43: any remote's name gives a ref that is valid and not too long."""
    names = [
        "origin",
        "a.lock",
        "..",
        "~x^:?*[",
        "ü/ö",
        "-x",
        "@{u}",
        "https://git.example.org/" + "long/" * 60,
        "é" * 90,
    ]
    for name in names:
        prefix = tracking_prefix(Remote(name, name, False).tracked_as)
        repo.git("update-ref", f"{prefix}tasks/{TASK.rpartition('/')[2]}", "HEAD")
        assert len(prefix) < 240
    assert len(set(repo.git("for-each-ref", "--format=%(refname)", "refs/pog-remotes").split())) == len(names)


def test_long_addresses_stay_apart() -> None:
    urls = [f"https://git.example.org/{'x' * 200}/{end}" for end in "ab"]
    assert len({Remote(url, url, False).tracked_as for url in urls}) == 2


@pytest.mark.parametrize(
    ("settings", "branch", "name"),
    [
        ({"remote.a.url": ["x"], "remote.origin.url": ["y"], "branch.main.remote": ["a"]}, "main", "a"),
        ({"remote.a.url": ["x"], "remote.origin.url": ["y"], "branch.other.remote": ["a"]}, "main", "origin"),
        ({"remote.a.url": ["x"], "branch.main.remote": ["."]}, "main", "a"),
        ({"remote.a.url": ["x"], "remote.b.url": ["y"]}, "main", None),
        ({}, "main", None),
    ],
)
def test_the_default_remote(repo: Repo, settings: Mapping[str, list[str]], branch: str, name: str | None) -> None:
    """Case UC-13: where several come into question none is guessed."""
    repo.git("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    if name is None:
        with pytest.raises(NotFound):
            transport.default_remote(git_of(repo), settings)
    else:
        assert transport.default_remote(git_of(repo), settings) == name


def test_a_push_goes_to_the_push_url() -> None:
    found = transport.find_remote(SETTINGS, "fork", push=True)
    assert found == Remote("https://git.example.org/fork.git", "https://ada:secret@git.example.org/fork.git", False)
    assert transport.find_remote(SETTINGS, "fork").at == "fork"
    with pytest.raises(BadInput, match="several"):
        transport.find_remote(SETTINGS, "two", push=True)


def test_the_first_name_may_be_a_remote(repo: Repo, origin: Repo) -> None:
    git = git_of(repo)
    assert transport.choose_remote(git, ["origin", "01946f5a"]) == (remote_of(repo), ["01946f5a"])
    assert transport.choose_remote(git, ["01946f5a"]) == (remote_of(repo), ["01946f5a"])
    assert transport.choose_remote(git, []) == (remote_of(repo), [])
    with pytest.raises(BadInput):
        transport.choose_remote(git, ["-x"])


def test_where_a_push_goes_is_what_git_rewrites_it_to(repo: Repo) -> None:
    repo.git("remote", "add", "origin", "https://ada:secret@a.example/x.git")
    repo.git("config", "url.https://b.example/.insteadOf", "https://ada:secret@a.example/")
    assert transport.addresses(git_of(repo), remote_of(repo)) == ["https://b.example/x.git"]
    other = Remote("x", "https://ada:secret@c.example/x.git", False)
    assert transport.addresses(git_of(repo), other) == ["https://c.example/x.git"]


# Refs


def test_refs_travel_by_name_and_nothing_else_does(repo: Repo, origin: Repo) -> None:
    git, remote, oid = git_of(repo), remote_of(repo), head(repo)
    repo.git("tag", "v1")
    sent = transport.push_refs(git, remote, {TASK: oid, OTHER: oid})
    assert {ref: answer.done for ref, answer in sent.items()} == {TASK: True, OTHER: True}
    assert transport.list_refs(git, remote, ["refs/pog/tasks/*"]) == {TASK: oid, OTHER: oid}
    assert transport.list_refs(git, remote, [TASK]) == {TASK: oid}
    assert transport.list_refs(git, remote, ["refs/heads/*"]) == {}
    assert transport.fetch_refs(git, remote, [TASK]) == {}
    assert repo.git("for-each-ref", "--format=%(refname)", "refs/pog-remotes") == TASK.replace(
        "pog", "pog-remotes/origin"
    )


def test_refs_that_only_end_alike_are_not_listed(repo: Repo, origin: Repo) -> None:
    """`git ls-remote` matches the tail of a name."""
    origin.git("fetch", "--quiet", str(repo.path), f"HEAD:refs/heads/{TASK}")
    assert transport.list_refs(git_of(repo), remote_of(repo), ["refs/pog/tasks/*", TASK]) == {}


def test_nothing_is_ever_forced(repo: Repo, origin: Repo) -> None:
    git, remote, old = git_of(repo), remote_of(repo), head(repo)
    transport.push_refs(git, remote, {TASK: old})
    repo.git("config", "remote.origin.mirror", "true")
    repo.git("config", "remote.origin.push", "+refs/*:refs/*")
    repo.git("commit", "--quiet", "--amend", "--allow-empty", "-m", "another")
    answer = transport.push_refs(git, remote, {TASK: head(repo)})[TASK]
    assert not answer.done
    assert answer.lost_race
    assert transport.list_refs(git, remote, [TASK]) == {TASK: old}


def test_many_refs_go_in_several_calls(repo: Repo, origin: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "REFS_AT_ONCE", 2)
    wanted = {f"refs/pog/tasks/01946f5a-0000-7000-8000-{number:012}": head(repo) for number in range(5)}
    sent = transport.push_refs(git_of(repo), remote_of(repo), wanted)
    assert all(answer.done for answer in sent.values())
    assert transport.fetch_refs(git_of(repo), remote_of(repo), wanted) == {}
    assert len(repo.git("for-each-ref", "refs/pog-remotes").splitlines()) == 5


def test_a_ref_that_is_gone_spoils_no_other(repo: Repo, origin: Repo) -> None:
    git, remote = git_of(repo), remote_of(repo)
    transport.push_refs(git, remote, {TASK: head(repo)})
    failed = transport.fetch_refs(git, remote, [TASK, OTHER])
    assert list(failed) == [OTHER]
    assert OTHER in failed[OTHER]
    assert "origin/tasks" in repo.git("for-each-ref", "refs/pog-remotes")


def test_a_missing_remote_is_one_error(repo: Repo) -> None:
    repo.git("remote", "add", "origin", "/nowhere/at/all.git")
    for call in (
        lambda: transport.list_refs(git_of(repo), remote_of(repo), [TASK]),
        lambda: transport.fetch_refs(git_of(repo), remote_of(repo), [TASK, OTHER]),
    ):
        with pytest.raises(RemoteFailed, match=r"'/nowhere/at/all\.git' does not appear to be a git repository"):
            call()
    answer = transport.push_refs(git_of(repo), remote_of(repo), {TASK: head(repo)})[TASK]
    assert (answer.done, answer.lost_race) == (False, False)
    assert "does not appear" in answer.reason


@pytest.mark.parametrize("how", ["helper", "variable"])
def test_only_known_protocols_are_spoken(
    repo: Repo, origin: Repo, how: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Case T11: a helper that runs commands stays off whatever the configuration says; the user's own list is kept."""
    if how == "helper":
        repo.git("config", "protocol.ext.allow", "always")
        repo.git("remote", "set-url", "origin", f"ext::sh -c touch% {tmp_path}/touched")
    else:
        monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "https")
    with pytest.raises(RemoteFailed, match="not allowed"):
        transport.list_refs(git_of(repo), remote_of(repo), [TASK])
    assert not (tmp_path / "touched").exists()


def test_older_gits_get_options_that_they_know() -> None:
    new, old = (transport.fetch_options(version, progress=False) for version in ((2, 39), (2, 20)))
    assert {"--no-write-fetch-head", "--no-auto-maintenance", "--stdin"} <= set(new)
    assert "--no-auto-gc" in old
    assert not {"--no-write-fetch-head", "--no-auto-maintenance", "--stdin", "--no-write-commit-graph"} & set(old)
    assert "--progress" in transport.fetch_options((2, 39), progress=True)


def test_an_older_git_gets_its_refs_as_arguments(repo: Repo, origin: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    transport.push_refs(git_of(repo), remote_of(repo), {TASK: head(repo)})
    monkeypatch.setattr("pogstore.store.gitcli.version", lambda: (2, 20))
    assert transport.fetch_refs(git_of(repo), remote_of(repo), [TASK]) == {}
    assert "origin/tasks" in repo.git("for-each-ref", "refs/pog-remotes")


def test_what_is_remembered_moves_by_comparison(repo: Repo) -> None:
    git, old = git_of(repo), head(repo)
    new = Oid(repo.commit(message="more"))
    ref = "refs/pog-remotes/origin/tasks/x"
    transport.remember(git, {ref: (None, old)})
    transport.remember(git, {ref: (None, new)})
    assert repo.git("rev-parse", ref) == old
    transport.remember(git, {ref: (old, new)})
    assert repo.git("rev-parse", ref) == new
    transport.remember(git, {})


def test_where_a_task_was_seen(repo: Repo) -> None:
    for name in ("origin", "https://git.example.org/x.git"):
        repo.git("update-ref", f"{tracking_prefix(name)}{TASK.removeprefix('refs/pog/')}", "HEAD")
    store = open_store(repo.path)
    assert transport.seen_at(store.refs, TASK) == ["https://git.example.org/x.git", "origin"]
    assert transport.seen_at(store.refs, OTHER) == []
    store.close()
