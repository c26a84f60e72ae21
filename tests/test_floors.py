"""Guards the house: imports go down, each foreign library has one door, and nothing grows too large.

The rules read sources as `{path: text}`, so that each is shown below to bite on a few lines made up for it.
"""

import ast
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "pogstore"
FLOORS = {
    0: ("errors", "digest", "globs", "shell"),
    1: ("model", "commands"),
    2: ("codec", "graph", "state", "policy", "redact", "draft"),
    3: ("store", "interop"),
    4: ("work",),
    5: ("history", "sync"),
    6: ("agents", "web"),
    7: ("cli",),
}
FLOOR_OF = {name: floor for floor, names in FLOORS.items() for name in names}
FACE = ("pogstore", "pogstore.__main__")
"""What stands above all floors: nothing in the house may import it."""
PURE = 2
"""The highest floor without effects."""
EFFECTS = (
    *("asyncio", "fcntl", "glob", "mmap", "multiprocessing", "os", "random", "secrets", "shutil", "signal", "socket"),
    *("sqlite3", "sys", "tempfile", "threading", "time"),
)
CHANCE = {
    "datetime": ("now", "utcnow", "today"),
    "date": ("today",),
    "uuid": ("getnode", "uuid1", "uuid4", "uuid6", "uuid7"),
}
"""Clock and chance in modules that are pure otherwise."""
DOORS = {
    "pygit2": ("store/libgit2.py",),
    "blake3": ("digest.py",),
    "click": ("cli/",),
    "yaml": ("interop/pog_yaml.py",),
    # the command that a person records, beside git and ourselves: `work/process.py` starts no other
    "subprocess": ("store/gitcli.py", "work/process.py", "agents/behind.py", "cli/demo.py", "cli/_delivery.py"),
}
SPAWN = "store/spawn.py"
"""The second door to processes: a hook that looks at a whole work tree cannot afford `subprocess`."""
PROCESSES = ("system", "popen", "exec", "spawn", "posix_spawn", "fork")
ENVIRONMENT = ("environ", "environb", "getenv", "getenvb", "putenv", "unsetenv")
LAZY = {"cli/main.py": None, "__init__.py": "__getattr__", "agents/hook.py": "_judged"}
"""Where an import may stand inside a function; `None` is any function of that file."""
LONGEST_FUNCTION = 60
LONGEST_FILE = 500

Sources = Mapping[str, str]


class Import(NamedTuple):
    """One import: where it stands, what it names, and the function it stands in."""

    path: str
    line: int
    module: str
    function: str | None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: imports {self.module}"


def module_name(path: str) -> str:
    """Returns the module that a path below the package is."""
    parts = ["pogstore", *path.removesuffix(".py").split("/")]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def named(node: ast.AST, path: str, modules: frozenset[str]) -> Iterator[str]:
    """Yields the modules that a statement or a call imports; of `from a import b` it is `a.b` if that is a module."""
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            package = module_name(path).split(".")
            above = package[: len(package) - level + path.endswith("__init__.py")] if level else []
            base = ".".join([*above, *([module] if module else [])])
            yield from {f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in names}
        case ast.Call(func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module")):
            known = isinstance(node.args[0], ast.Constant) if node.args else False
            yield (
                str(node.args[0].value) if known and isinstance(node.args[0], ast.Constant) else "something at run time"
            )


@cache
def walked(text: str) -> tuple[tuple[ast.AST, str | None], ...]:
    """Returns every node of a source, parsed once for all rules, with the name of the innermost function around it."""
    return tuple(walk(ast.parse(text)))


def walk(node: ast.AST, function: str | None = None) -> Iterator[tuple[ast.AST, str | None]]:
    """Yields every node below one, with the name of the innermost function around it."""
    for child in ast.iter_child_nodes(node):
        yield child, function
        inside = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
        yield from walk(child, "lambda" if isinstance(child, ast.Lambda) else inside)


def nodes(sources: Sources) -> Iterator[tuple[str, ast.AST, str | None]]:
    """Yields every node of every source, with its path and the function around it."""
    for path, text in sources.items():
        yield from ((path, node, function) for node, function in walked(text))


def imports(sources: Sources) -> Iterator[Import]:
    """Yields every import of every source, those for type checkers included."""
    modules = frozenset(map(module_name, sources))
    for path, node, function in nodes(sources):
        for module in named(node, path, modules):
            yield Import(path, getattr(node, "lineno", 0), module, function)


def top(module: str) -> str | None:
    """Returns the part of the house a module belongs to, or `None` for a module that is not ours."""
    parts = module.split(".")
    if parts[0] != "pogstore":
        return None
    return "pogstore" if module in FACE else parts[1]


def floor(module: str) -> int | None:
    """Returns the floor of a module of ours; the face stands above the highest."""
    name = top(module)
    return len(FLOORS) if name == "pogstore" else FLOOR_OF.get(name or "")


def upward(sources: Sources) -> Iterator[str]:
    """Imports that go up, and modules that stand on no floor."""
    yield from (f"{path}: stands on no floor" for path in sources if floor(module_name(path)) is None)
    for found in imports(sources):
        here, there = floor(module_name(found.path)), floor(found.module)
        if here is not None and there is not None and there > here:
            yield f"{found}, which is above it"


def sideways(sources: Sources) -> Iterator[str]:
    """Imports between neighbours on one floor."""
    for found in imports(sources):
        here = module_name(found.path)
        if floor(here) == floor(found.module) and top(here) != top(found.module):
            yield f"{found}, its neighbour"


def loops(sources: Sources) -> Iterator[str]:
    """Modules that import themselves by way of others."""
    edges: dict[str, set[str]] = {module_name(path): set() for path in sources}
    for found in imports(sources):
        if found.module in edges and found.module != module_name(found.path):
            edges[module_name(found.path)].add(found.module)
    while leaves := {module for module, targets in edges.items() if not targets & edges.keys()}:
        edges = {module: targets for module, targets in edges.items() if module not in leaves}
    while tops := edges.keys() - {target for targets in edges.values() for target in targets}:
        edges = {module: targets for module, targets in edges.items() if module not in tops}
    if edges:
        yield f"import loop among {', '.join(sorted(edges))}"


def wrong_doors(sources: Sources) -> Iterator[str]:
    """Foreign libraries used outside the one place that knows them, and processes started by another way."""
    for found in imports(sources):
        doors = DOORS.get(found.module.split(".")[0])
        if doors and not found.path.startswith(doors):
            yield f"{found} outside {' and '.join(doors)}"
    for path, name, line in attributes_of_os(sources):
        if name.startswith(PROCESSES) and path not in (*DOORS["subprocess"], SPAWN):
            yield f"{path}:{line}: os.{name} outside {' and '.join(DOORS['subprocess'])}"


def attributes_of_os(sources: Sources) -> Iterator[tuple[str, str, int]]:
    """Yields every use of the `os` module as path, name and line."""
    for path, node, _ in nodes(sources):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr=name):
                yield path, name, node.lineno
            case ast.ImportFrom(module="os", names=names):
                yield from ((path, alias.name, node.lineno) for alias in names)


def hidden_imports(sources: Sources) -> Iterator[str]:
    """Imports inside functions."""
    for found in imports(sources):
        allowed = found.path in LAZY and LAZY[found.path] in (None, found.function)
        if not allowed and (found.function or found.module == "something at run time"):
            yield f"{found} inside a function"


def impure(sources: Sources) -> Iterator[str]:
    """Clock, disk, processes and chance on the floors that are pure."""
    for path, node, _ in nodes(sources):
        here = floor(module_name(path))
        if here is not None and here <= PURE:
            yield from (f"{path}:{getattr(node, 'lineno', 0)}: {effect} on a pure floor" for effect in effects(node))


def effects(node: ast.AST) -> Iterator[str]:
    """Yields what a node uses of the world outside its arguments."""
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names if alias.name.split(".")[0] in (*EFFECTS, "pathlib"))
        case ast.ImportFrom(module="pathlib", names=names):
            yield from (f"pathlib.{alias.name}" for alias in names if not alias.name.startswith("Pure"))
        case ast.ImportFrom(module=str(module), level=0) if module.split(".")[0] in EFFECTS:
            yield module
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr in CHANCE.get(name, ()):
            yield f"{name}.{attr}"
        case ast.Call(func=ast.Name(id="open" | "input" as name)):
            yield name


def environment_reads(sources: Sources) -> Iterator[str]:
    """The environment read below the command line; what starts git needs it to clean what git inherits."""
    for path, name, line in attributes_of_os(sources):
        if name in ENVIRONMENT and not path.startswith(("cli/", "store/gitenv.py", "store/gitcli.py", SPAWN)):
            yield f"{path}:{line}: os.{name} below the command line"


def prints(sources: Sources) -> Iterator[str]:
    """Printing below the command line."""
    for path, node, _ in nodes(sources):
        match node:
            case ast.Call(func=ast.Name(id="print")) if not path.startswith("cli/"):
                yield f"{path}:{node.lineno}: print below the command line"


def asserts(sources: Sources) -> Iterator[str]:
    """Checks that vanish under `python -O`."""
    for path, node, _ in nodes(sources):
        if isinstance(node, ast.Assert):
            yield f"{path}:{node.lineno}: assert"


def oversized(sources: Sources) -> Iterator[str]:
    """Functions and files that are too long to be one thing."""
    for path, text in sources.items():
        if (lines := text.count("\n")) > LONGEST_FILE:
            yield f"{path}: {lines} lines"
    for path, node, _ in nodes(sources):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST_FUNCTION:
                yield f"{path}:{node.lineno}: {node.name} has {lines} lines"


Rule = Callable[[Sources], Iterable[str]]
RULES: tuple[Rule, ...] = (
    upward,
    sideways,
    loops,
    wrong_doors,
    hidden_imports,
    impure,
    environment_reads,
    prints,
    asserts,
    oversized,
)


@pytest.fixture(scope="module")
def package() -> Iterator[Sources]:
    """The sources of the package as they are; their trees are forgotten in the end, a million objects.

    None of them is garbage, so nobody looks for any while they are made.
    """
    gc.disable()
    yield {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    walked.cache_clear()
    gc.enable()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_stands(rule: Rule, package: Sources) -> None:
    assert package, "no sources found"
    assert list(rule(package)) == []


STARTERS = " and ".join(DOORS["subprocess"])
EMPTY = {"errors.py": "", "digest.py": "", "model.py": "", "store/__init__.py": "", "store/refs.py": ""}
BITES: list[tuple[Rule, Sources, str]] = [
    (upward, {"model.py": "import pogstore.store"}, "model.py:1: imports pogstore.store, which is above it"),
    (upward, {"model.py": "from pogstore import store"}, "model.py:1: imports pogstore.store, which is above it"),
    (upward, {"model.py": "from .store import refs"}, "model.py:1: imports pogstore.store.refs, which is above it"),
    (upward, {"store/refs.py": "from ..cli import main"}, "store/refs.py:1: imports pogstore.cli, which is above it"),
    (upward, {"cli/main.py": "import pogstore"}, "cli/main.py:1: imports pogstore, which is above it"),
    (upward, {"helpers.py": ""}, "helpers.py: stands on no floor"),
    (
        upward,
        {"digest.py": "if TYPE_CHECKING:\n from pogstore.model import Oid"},
        "digest.py:2: imports pogstore.model, which is above it",
    ),
    (
        sideways,
        {"codec.py": "", "state.py": "from pogstore import codec"},
        "state.py:1: imports pogstore.codec, its neighbour",
    ),
    (
        sideways,
        {"interop/pog_yaml.py": "from pogstore.store.refs import Ref"},
        "interop/pog_yaml.py:1: imports pogstore.store.refs, its neighbour",
    ),
    (
        loops,
        {
            "store/a.py": "from . import b",
            "store/b.py": "from pogstore.store import c",
            "store/c.py": "from .a import x",
        },
        "import loop among pogstore.store.a, pogstore.store.b, pogstore.store.c",
    ),
    (
        loops,
        {
            "store/__init__.py": "from .refs import x",
            "store/refs.py": "from pogstore.store import y",
            "cli/x.py": "import pogstore.store",
        },
        "import loop among pogstore.store, pogstore.store.refs",
    ),
    (wrong_doors, {"store/refs.py": "import pygit2"}, "store/refs.py:1: imports pygit2 outside store/libgit2.py"),
    (wrong_doors, {"codec.py": "from blake3 import blake3"}, "codec.py:1: imports blake3 outside digest.py"),
    (wrong_doors, {"history/show.py": "import click.core"}, "history/show.py:1: imports click.core outside cli/"),
    (wrong_doors, {"interop/json.py": "import yaml"}, "interop/json.py:1: imports yaml outside interop/pog_yaml.py"),
    (
        wrong_doors,
        {"cli/main.py": "from subprocess import run"},
        f"cli/main.py:1: imports subprocess outside {STARTERS}",
    ),
    (
        wrong_doors,
        {"work/a.py": "import os\nos.execvp('git', [])"},
        f"work/a.py:2: os.execvp outside {STARTERS}",
    ),
    (
        wrong_doors,
        {"store/spawn.py": "import subprocess"},
        f"store/spawn.py:1: imports subprocess outside {STARTERS}",
    ),
    (hidden_imports, {"work/a.py": "def f():\n import json"}, "work/a.py:2: imports json inside a function"),
    (hidden_imports, {"work/a.py": "f = lambda: __import__('json')"}, "work/a.py:1: imports json inside a function"),
    (
        hidden_imports,
        {"work/a.py": "import_module(name)"},
        "work/a.py:1: imports something at run time inside a function",
    ),
    (hidden_imports, {"__init__.py": "def other():\n import json"}, "__init__.py:2: imports json inside a function"),
    (impure, {"codec.py": "import os.path"}, "codec.py:1: os.path on a pure floor"),
    (impure, {"state.py": "from time import time"}, "state.py:1: time on a pure floor"),
    (impure, {"policy.py": "from pathlib import Path, PurePath"}, "policy.py:1: pathlib.Path on a pure floor"),
    (impure, {"graph.py": "seen = datetime.now()"}, "graph.py:1: datetime.now on a pure floor"),
    (impure, {"redact.py": "rules = open('rules')"}, "redact.py:1: open on a pure floor"),
    (environment_reads, {"work/a.py": "import os\nos.environ['X']"}, "work/a.py:2: os.environ below the command line"),
    (environment_reads, {"sync.py": "from os import getenv"}, "sync.py:1: os.getenv below the command line"),
    (prints, {"sync.py": "print('x')"}, "sync.py:1: print below the command line"),
    (asserts, {"cli/a.py": "assert True"}, "cli/a.py:1: assert"),
    (oversized, {"cli/a.py": "async def f():\n" + " x = 1\n" * 60}, "cli/a.py:1: f has 61 lines"),
    (oversized, {"cli/a.py": "x = 1\n" * 501}, "cli/a.py: 501 lines"),
]


@pytest.mark.parametrize(("rule", "sources", "fault"), BITES, ids=lambda value: getattr(value, "__name__", None))
def test_each_rule_bites(rule: Rule, sources: Sources, fault: str) -> None:
    assert list(rule({**EMPTY, **sources})) == [fault]


def test_every_rule_is_shown_to_bite() -> None:
    assert {rule for rule, _, _ in BITES} == set(RULES)


def test_what_is_allowed_passes() -> None:
    sources = {
        **EMPTY,
        "__init__.py": "from .errors import PogError\ndef __getattr__(name):\n from pogstore import store",
        "__main__.py": "from pogstore.cli.main import main",
        "cli/__init__.py": "",
        "cli/main.py": "import click, os\ndef main():\n import_module(f'{name}')\n print(os.environ)",
        "cli/demo.py": "import subprocess",
        "cli/_delivery.py": "import subprocess",
        "digest.py": "import blake3\nfrom pathlib import PurePosixPath\nuuid.uuid5(space, name)",
        "interop/pog_yaml.py": "import yaml\nfrom pogstore import draft, errors",
        "draft.py": "from pogstore.model import Path",
        "store/libgit2.py": "import pygit2\nfrom pogstore.store import refs",
        "store/gitcli.py": "import os, subprocess\nos.environ\nos.execvp",
        "store/spawn.py": "import os\nos.environb\nos.posix_spawn",
        "history/blame.py": "from pogstore.store import refs\ndef f():\n" + " x = 1\n" * 59,
        "history/show.py": "from pogstore.history import blame" + "\n" * 500,
    }
    assert [fault for rule in RULES for fault in rule(sources)] == []
