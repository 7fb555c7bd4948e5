"""How long `make test` takes, by part. Takes minutes, so it runs only where it is asked for."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.benchmark import ROOT, Benchmark, Setting
from benchmarks.harness import Row

PARTS = {
    "lint": ("ruff", "check"),
    "types": ("mypy",),
    "notebooks in step": ("autograder", "build", "--check"),
}


def read_junit(junit: Path) -> tuple[float, dict[str, float]]:
    """Seconds of the whole session, and of the tests of each folder under tests/ or file right there.

    `junit` is what `pytest --junitxml` wrote; a test's time is that of its setup, call and teardown. Tests
    that ran in several processes add up to more than the whole. Raises ValueError where it is no such file.
    """
    try:
        root = ElementTree.parse(junit)
        whole = sum(float(suite.attrib["time"]) for suite in root.iter("testsuite"))
    except (OSError, ElementTree.ParseError, KeyError) as error:
        raise ValueError(f"{junit} is not what pytest --junitxml writes ({error!r})") from error
    seconds: defaultdict[str, float] = defaultdict(float)
    for case in root.iter("testcase"):
        # tests.recovery.test_audit, or tests.test_cli.TestHelp
        _, first, *deeper = [*case.get("classname", "").split("."), ""]
        name = f"{first}.py" if first.startswith("test_") or not deeper else f"{first}/"
        seconds[f"tests/{name}"] += float(case.get("time", 0))
    return whole, dict(sorted(seconds.items(), key=lambda item: -item[1]))


def quick_tests(makefile: str) -> list[str]:
    """The words after `pytest` in the rule of `make test`. Raises ValueError where there are none."""
    found = re.search(r"^test:.*\n\t.*-m pytest (.*)$", makefile, re.MULTILINE)
    if found is None:
        raise ValueError("the Makefile's rule `test` does not run pytest in its first line")
    return shlex.split(found[1])


def seconds_of(*command: str) -> float:
    """How long a module's command takes. Raises CalledProcessError where it fails."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def run(setting: Setting) -> list[Row]:
    rows = [Row(what, seconds_of(*command), 1) for what, command in PARTS.items()]
    junit = setting.junit
    if junit is None:
        junit = setting.folder / "junit.xml"
        asked = quick_tests((ROOT / "Makefile").read_text(encoding="utf-8"))
        seconds_of("pytest", *asked, "--quiet", f"--junitxml={junit}")
    tests, folders = read_junit(junit)
    rows.append(Row("quick tests", tests, 1))
    whole = Row("**`make test`**", sum(row.ours for row in rows), 1, most_seconds=600.0)
    return [whole, *rows, *(Row(f"→ {name}", seconds, 1) for name, seconds in folders.items())]


BENCHMARK = Benchmark(
    "make-test",
    "`make test` by part",
    "One run of each part. The time of a folder is that of its tests, as pytest reports them; several run at "
    "a time, so the folders add up to more than the quick tests. Only where it is asked for: "
    "`make bench ONLY=make-test`.",
    run,
    by_default=False,
)
