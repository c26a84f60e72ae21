"""Runs every benchmark, each in a process of its own: `python -m benchmarks [--quick]`; options go to all of them."""

import subprocess
import sys
from pathlib import Path


def names() -> list[str]:
    """Returns the modules of all benchmarks."""
    return sorted(f"benchmarks.{path.stem}" for path in Path(__file__).parent.glob("bench_*.py"))


def main() -> int:
    """Returns 0 if all of them ran to their end, whatever they found."""
    failed = []
    for name in names():
        print(f"\n{name}", flush=True)
        if subprocess.run(
            [sys.executable, "-m", name, *sys.argv[1:]], cwd=Path(__file__).parents[1], check=False
        ).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
