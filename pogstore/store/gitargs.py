"""What git is asked about the history of a file, word by word, for all who ask it: now, or before they need the answer.

Stands on the path of commands that load next to nothing.
"""

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Sequence

RENAME = "-M60%"
"""How alike two files must be to count as one that was renamed."""
LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}
"""A path given to git means itself, whatever characters it has."""
PLAIN_LOG = ("--root", "--no-show-signature", "-l1000")
"""Overrule settings of a person's that would change what `git log` says of a history."""
PLACES = (
    "rev-parse", "--git-dir", "--git-common-dir", "--is-bare-repository", "--is-inside-git-dir", "--show-object-format",
    "--show-toplevel",  # an error where there is no work tree, after all the other answers
)  # fmt: skip
SETTINGS = ("config", "--null", "--list")


def commit(revision: str) -> "tuple[str, ...]":
    """Asks which commit a revision names."""
    return ("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")


def blob(tip: str, path: str) -> "tuple[str, ...]":
    """Asks what a commit has at a path; to be run with LITERAL."""
    return ("ls-tree", "-z", "--full-tree", tip, "--", path)


def blame(path: str, options: "Sequence[str]" = ()) -> "tuple[str, ...]":
    """Asks which commit each line is of, in the porcelain format."""
    return ("blame", "--porcelain", *options, "--", path)


def former_names(tip: str, path: str, alike: str = RENAME) -> "tuple[str, ...]":
    """Asks which names a file had before, and until when; to be run with LITERAL."""
    return (
        "log", *PLAIN_LOG, "--follow", alike, "--diff-filter=RC", "--name-status", "-z", "--format=%x00commit%x01%ct",
        tip, "--", path,
    )  # fmt: skip


def changes(tip: str, paths: "Sequence[str]") -> "tuple[str, ...]":
    """Asks which commits changed some paths, against each of their parents; to be run with LITERAL."""
    return (
        "log", *PLAIN_LOG, "--no-follow", "--topo-order", "--reverse", "--full-history", "--diff-merges=separate",
        "--raw", "-z", "--no-renames", "--no-abbrev", "--format=%x00commit%x01%H%x01%ct%x01%at%x01%P%x00",
        tip, "--", *paths,
    )  # fmt: skip
