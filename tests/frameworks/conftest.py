"""Audits of real frameworks, whose imports take longer than all the rest: so its processes are forked.

They are as fresh as an interpreter's: what is forked has imported, and done nothing else.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from lastgood.recovery.resuming import Report, audit, auditing
from lastgood.recovery.resuming.children import Child
from lastgood.recovery.warm import WarmServer

RUNS = Path(__file__).resolve().parents[2] / "docs/frameworks/runs"
SERVE = "lastgood.recovery.resuming.process:serve"
IMPORTED = ("lightning", "accelerate", "transformers.trainer")

Audited = Callable[..., Report]
Forked = Callable[[str, float], AbstractContextManager[Child]]


def lost(report: Report) -> list[str]:
    assert report.stopped == ""
    return [finding.component for finding in report.lost]


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], str]:
    """Write a module beside those of `runs`; return the name that `audited` and `saved` know it by."""

    def written(text: str) -> str:
        path = tmp_path / "changed.py"
        path.write_text(text)
        return str(path.with_suffix(""))

    return written


@pytest.fixture(scope="session")
def frameworks() -> Iterator[WarmServer]:
    """A process that has imported them."""
    path = os.pathsep.join([str(RUNS), os.environ.get("PYTHONPATH", "")])
    with WarmServer(preload=IMPORTED, env={**os.environ, "PYTHONPATH": path}) as server:
        server.wait_ready(300)
        yield server


@pytest.fixture
def forked(frameworks: WarmServer, tmp_path: Path) -> Forked:
    """A process of an audit's, whose working directory is `tmp_path`."""

    @contextmanager
    def forked(module: str, patience: float) -> Iterator[Child]:
        with tempfile.TemporaryFile() as log:
            spawned = frameworks.spawn(SERVE, module, cwd=str(tmp_path), output=log.fileno())
            with spawned as worker:
                yield Child(worker, worker.channel, log, patience)  # type: ignore[arg-type]

    return forked


@pytest.fixture
def audited(forked: Forked, monkeypatch: pytest.MonkeyPatch) -> Audited:
    """Audit a module of `runs`."""
    monkeypatch.setattr(auditing, "child", forked)
    return lambda name, **settings: audit(str(RUNS / f"{name}.py"), **settings)


@pytest.fixture
def saved(forked: Forked, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Path]:
    """What a module of `runs` has saved after so many steps, when it was killed."""

    def saved(name: str, steps: int) -> Path:
        folder = tmp_path_factory.mktemp("saved")
        with forked(str(RUNS / f"{name}.py"), 60) as process:
            process.ask("make")
            process.ask("advance", steps)
            process.ask("save", str(folder))
            process.kill()
        return folder

    return saved
