"""How fast secrets are found: whether time grows as the text does, and how long detect-secrets takes for the same.

The text is that of this project, with a made-up secret in every 50,000 characters. All of it is computing in this
process, so processor time counts. `--plot FILE` draws what was measured.
"""

import math
import random
import string
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time

from benchmarks.measure import ROOT, Options, Peer, Row, compare, in_turn, main, spelled
from pogstore.redact import findings

SIZES = (1, 3, 10, 30, 100)
"""Megabytes (10^6 characters)."""
MEGABYTE = 1_000_000
APART = 50_000
PEER_SIZE = 1
SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 350" role="img" aria-label="{title}">
<title>{title}</title>
<style>
text {{ font: 12px sans-serif; text-anchor: middle; fill: #444 }}
.grid {{ stroke: #ccc; fill: none }}
.line {{ stroke: #888; stroke-dasharray: 5 4; fill: none }}
circle {{ fill: #2563eb }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #ccc }} .grid {{ stroke: #555 }} circle {{ fill: #7aa2f7 }} }}
</style>
{parts}
</svg>
"""
LEFT, RIGHT, TOP, BOTTOM = 70, 460, 30, 310
POWERS = (-2, -1, 0, 1, 2)
"""Of ten, in seconds: what the plot spans."""
measured: list[tuple[int, float]] = []
"""Megabytes, and the seconds of a processor that they took."""


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure for each size beside as many times the smallest, one for a single line, and one beside a peer."""
    measured.clear()
    unit = MEGABYTE // 10 if options.quick else MEGABYTE
    sizes = [size for size in SIZES if size <= options.events]
    smallest = text_of(sizes[0] * unit)
    for size in sizes:
        text = text_of(size * unit)
        ours, least = in_turn(options.runs, finding(text), finding(smallest), by=process_time)
        measured.append((size, median(ours)))
        peer = Peer(f"{size} × {sizes[0]} MB", [seconds * size / sizes[0] for seconds in least])
        yield compare(
            f"secrets in {size} MB", ours, peer, at_most=1.25, count=len(text), at_least=10 * MEGABYTE, of=min
        )
    lines = text_of(min(10, options.events) * unit)
    ours, broken = in_turn(options.runs, finding(lines.replace("\n", " ")), finding(lines), by=process_time)
    yield compare("the same on one line", ours, Peer("in lines", broken), at_most=1.25)
    small = text_of(PEER_SIZE * unit)
    if (other := detect_secrets(options.place / "text.txt", small)) is None:
        print("detect-secrets: not installed, not measured", file=sys.stderr)
        return
    ours, theirs = in_turn(options.runs, finding(small), other, by=process_time)
    yield compare(
        f"secrets in {PEER_SIZE} MB", ours, Peer("detect-secrets", theirs), at_most=1, count=len(small), of=min
    )


def text_of(size: int) -> str:
    """Returns so many characters of this project's sources and pages, with secrets in between."""
    drawn = random.Random(size)
    files = sorted(path for folder in ("pogstore", "docs") for path in (ROOT / folder).rglob("*"))
    whole = "".join(path.read_text("utf-8") for path in files if path.suffix in (".py", ".md", ".json"))
    pieces = []
    for at in range(0, size, APART):
        start = at % (len(whole) - APART)
        token = "".join(drawn.choices(string.ascii_letters + string.digits, k=36))
        pieces.append(f"{whole[start : start + APART - 50]}\nuse ghp_{token}\n")
    return "".join(pieces)[:size]


def finding(text: str) -> Callable[[], object]:
    """Returns a function that finds the secrets of a text, and fails if it finds too few."""

    def find() -> None:
        if len(findings(text)) < len(text) // APART:
            raise SystemExit("a secret was not found")

    return find


def detect_secrets(path: Path, text: str) -> Callable[[], object] | None:
    """Returns a function that lets detect-secrets find the same, with its own settings; nothing if it is not there."""
    if find_spec("detect_secrets") is None:
        return None
    collection = import_module("detect_secrets").SecretsCollection
    settings = import_module("detect_secrets.settings").default_settings
    path.write_text(text, "utf-8")

    def find() -> None:
        found = collection()
        with settings():
            found.scan_file(str(path))
        if not found:  # it counts all tokens of GitHub as one
            raise SystemExit("detect-secrets: no secret was found")

    return find


def plot(path: Path) -> None:
    """Draws the seconds of each size, both scales logarithmic, beside the line of time that grows as the text does."""
    parts = [f'<path d="M{_x(size):.1f} {TOP}V{BOTTOM}" class="grid"/>' for size in SIZES]
    parts += [_text(_x(size), BOTTOM + 18, f"{size} MB") for size in SIZES]
    for power in POWERS:
        parts.append(f'<path d="M{LEFT} {_y(10.0**power):.1f}H{RIGHT}" class="grid"/>')
        parts.append(_text(LEFT - 28, _y(10.0**power) + 4, f"{10.0**power:g} s"))
    smallest, seconds = measured[0]
    ends = [f"{_x(size):.1f} {_y(seconds * size / smallest):.1f}" for size in (SIZES[0], SIZES[-1])]
    parts.append(f'<path d="M{ends[0]}L{ends[1]}" class="line"/>')
    for size, taken in measured:
        parts.append(f'<circle cx="{_x(size):.1f}" cy="{_y(taken):.1f}" r="4"/>')
        parts.append(_text(_x(size), _y(taken) + 22, spelled(taken)))
    path.write_text(
        SVG.format(parts="\n".join(parts), title="Time to find the secrets in a text, by its size"), "utf-8"
    )


def _text(x: float, y: float, said: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}">{said}</text>'


def _x(size: float) -> float:
    return LEFT + (RIGHT - LEFT) * math.log(size / SIZES[0]) / math.log(SIZES[-1] / SIZES[0])


def _y(seconds: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * (math.log10(seconds) - POWERS[0]) / (POWERS[-1] - POWERS[0])


if __name__ == "__main__":
    main(rows, events=SIZES[-1], quick=3, runs=3, plot=plot)
