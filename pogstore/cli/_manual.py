"""The reference and the manual page of the command line, made from the commands themselves.

`python -m pogstore.cli._manual DOCS` writes `reference/cli.md` and `man/git-pog.1` below DOCS. The tests compare both
with what this would write.
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import click

from pogstore.cli import _guide
from pogstore.cli._guide import Terms
from pogstore.cli._options import COMMON_EXITS
from pogstore.cli._render import echo
from pogstore.cli._shapes import SHAPES
from pogstore.cli._table import PLUMBING, PORCELAIN
from pogstore.cli.main import cli

REFERENCE, MAN_PAGE = "reference/cli.md", "man/git-pog.1"
MADE_BY = "made by `python -m pogstore.cli._manual docs`"


class Page(NamedTuple):
    """One command as the pages show it."""

    path: str
    usage: str
    paragraphs: tuple[str, ...]
    options: Terms
    exits: Mapping[int, str]


def pages(names: Iterable[str]) -> Iterator[Page]:
    """Yields the commands of some names; a group is followed by its own commands."""
    root = click.Context(cli, info_name="git pog")
    for name in names:
        found = cli.get_command(root, name)
        if found is None:
            raise LookupError(name)
        yield _page(name, found)
        if isinstance(found, click.Group):
            yield from (_page(f"{name} {sub}", found.commands[sub]) for sub in sorted(found.commands))


def _page(path: str, command: click.Command) -> Page:
    group = isinstance(command, click.Group)
    arguments = [_metavar(param) for param in command.params if isinstance(param, click.Argument)]
    usage = ["git pog", path, "[OPTIONS]", *arguments, *(["COMMAND [ARGS]..."] if group else [])]
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    options = {_spelled(param): param.help or "" for param in command.params if isinstance(param, click.Option)}
    return Page(
        path,
        " ".join(usage),
        tuple(" ".join(paragraph.split()) for paragraph in paragraphs),
        options,
        getattr(command, "exits", COMMON_EXITS),
    )


def _metavar(param: click.Parameter) -> str:
    return param.metavar or (param.name or "").upper()


def _spelled(option: click.Option) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    return names if option.is_flag or option.count else f"{names} {_metavar(option)}"


def _sections() -> Iterator[tuple[str, list[Page]]]:
    for title, section in {**PORCELAIN, **PLUMBING}.items():
        yield title, list(pages(section))


def reference() -> str:
    """Returns the page `docs/reference/cli.md`."""
    parts = [
        "# The command line\n",
        f"<!-- {MADE_BY}; the tests compare it: change the commands instead -->\n",
        f"`git pog`: {_guide.SUMMARY}.\n",
        f"{_guide.DESCRIPTION}\n",
        "## Names\n",
        _table("name", "what it means", _guide.NAMES),
        f"{_guide.TEXTS}\n",
        "## JSON\n",
        f"{_guide.JSON} {_guide.SHAPES_OF_JSON}\n",
        "## Exit statuses\n",
        _table("status", "what it means", _guide.EXITS),
        "Never 2, which agents take for “block”.\n",
        "## Environment\n",
        _table("variable", "what it is", _guide.ENVIRONMENT),
        "## Configuration\n",
        _table("setting of git", "what it is", _guide.SETTINGS),
    ]
    for title, found in _sections():
        parts += [f"## {title}\n", *map(_markdown, found)]
    return "\n".join(parts)


def _table(left: str, right: str, terms: Terms) -> str:
    rows = [f"| {_code(term)} | {_cell(text)} |" for term, text in terms.items()]
    return "\n".join([f"| {left} | {right} |", "|---|---|", *rows, ""])


def _code(term: str) -> str:
    return f"`{term.replace('|', chr(92) + '|')}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def _markdown(page: Page) -> str:
    first, *rest = page.paragraphs
    parts = [f"### git pog {page.path}\n", f"{first}.\n", f"```text\n{page.usage}\n```\n"]
    parts += [f"{_prose(paragraph)}\n" for paragraph in rest]
    if page.options:
        parts.append(_table("option", "", page.options))
    exits = ", ".join(f"{number} {meaning}" for number, meaning in sorted(page.exits.items()))
    parts.append(f"Exit status: {exits}.\n")
    if page.path in SHAPES:
        parts.append(f"`--json`:\n\n```text\n{SHAPES[page.path]}\n```\n")
    return "\n".join(parts)


def _prose(text: str) -> str:
    return re.sub(r"(?<!\S)([*~?])(?!\S)", r"`\1`", text)


def man_page() -> str:
    """Returns the manual page `git-pog.1`, in roff."""
    parts = [
        f'.\\" {MADE_BY}',
        ".TH GIT-POG 1",
        f".SH NAME\ngit-pog \\- {_guide.SUMMARY}",
        ".SH SYNOPSIS\n\\fBgit pog\\fR [\\-C DIR] [\\-\\-version] COMMAND [ARGS]...",
        f".SH DESCRIPTION\n{_roff(_guide.DESCRIPTION)}",
        ".PP\n\\fBgit pog\\fR alone lists the commands, \\fBgit pog help\\fR COMMAND explains one.",
    ]
    for title, found in _sections():
        parts += [f".SH {_roff(title).upper()}", *map(_man, found)]
    parts += [f".SH NAMES\n{_terms(_guide.NAMES)}\n.PP\n{_roff(_guide.TEXTS)}", f".SH JSON\n{_roff(_guide.JSON)}"]
    parts += [
        f".SH EXIT STATUS\n{_terms(_guide.EXITS)}",
        f".SH ENVIRONMENT\n{_terms(_guide.ENVIRONMENT)}",
        f".SH CONFIGURATION\n{_terms(_guide.SETTINGS)}",
        ".SH FILES\n" + _terms({"$GIT_DIR/pog/": "what can be made anew (index, locks), and which task is active"}),
        ".SH SEE ALSO\n\\fBgit\\fR(1), \\fBgit\\-blame\\fR(1), \\fBgit\\-log\\fR(1)",
    ]
    return "\n".join(parts) + "\n"


def _man(page: Page) -> str:
    first, *rest = page.paragraphs
    parts = [f".SS {_roff(page.usage)}", f"{_roff(first)}."]
    parts += [f".PP\n{_roff(paragraph)}" for paragraph in rest]
    parts += [_terms(page.options)] if page.options else []
    special = {number: meaning for number, meaning in page.exits.items() if number not in COMMON_EXITS}
    if special:
        exits = ", ".join(f"{number} {meaning}" for number, meaning in sorted(special.items()))
        parts.append(f".PP\nExit status, beside the common ones: {_roff(exits)}.")
    return "\n".join(parts)


def _terms(terms: Terms) -> str:
    return "\n".join(f".TP\n\\fB{_roff(term)}\\fR\n{_roff(text)}" for term, text in terms.items())


def _roff(text: str) -> str:
    """Returns a text as roff shows it: nothing in it is a request, and hyphens stay hyphens."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*", lambda match: f"\\fB{match[1] or match[2]}\\fR", text)
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def write(docs: Path) -> None:
    """Writes both pages below a directory of documents."""
    for name, text in ((REFERENCE, reference()), (MAN_PAGE, man_page())):
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        echo(str(path))


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
