"""`python -m benchmarks [NAME ...]`: measure, and write the table."""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks import machine, table
from benchmarks.benchmark import ROOT, Setting
from benchmarks.registry import BENCHMARKS


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--repeats", type=int, help="turns of each comparison, instead of its own number")
    parser.add_argument(
        "--junit", type=Path, help="what pytest --junitxml wrote: make-test then runs no tests"
    )
    parser.add_argument("--table", action="store_true", help="measure nothing, write the table again")
    found = parser.parse_args(words)
    for name in found.names:
        if name not in BENCHMARKS:
            parser.error(f"there is no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    found.names = found.names or [name for name, it in BENCHMARKS.items() if it.by_default]
    return found


def main() -> None:
    asked = arguments()
    if asked.table:
        table.keep(table.read(), BENCHMARKS)
        return
    torch.set_num_threads(1)
    scratch = ROOT / "build"  # on the disk that the course is on: a temporary folder may be memory
    scratch.mkdir(exist_ok=True)
    for name in asked.names:
        load = machine.load()
        with tempfile.TemporaryDirectory(prefix="bench-", dir=scratch) as folder:
            place = Path(folder) / "files"
            place.mkdir()
            print(f"{name} …", file=sys.stderr, flush=True)
            on = machine.file_system(place)
            rows = BENCHMARKS[name].run(Setting(place, asked.repeats, asked.junit))
        today = datetime.date.today().isoformat()
        record = table.Record(tuple(rows), today, load, on, machine.machine())
        table.keep({**table.read(), name: record}, BENCHMARKS)
        print(table.render({name: record}, {name: BENCHMARKS[name]}))


if __name__ == "__main__":
    main()
