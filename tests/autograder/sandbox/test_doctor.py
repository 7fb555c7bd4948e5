"""`autograder doctor` in a sandbox that is whole, and in ones that lack a wall."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.sandbox import kernel, manager
from autograder.sandbox.visible import View

ROOT = Path(__file__).resolve().parents[3]
WALLS = (
    *("in use", "gradebook", "other submissions", "masters", "grader's code", "home", "files", "network"),
    *("other processes", "capabilities", "environment", "disk", "output", "memory", "processes", "time"),
)
pytestmark = [pytest.mark.slow, pytest.mark.needs_bwrap]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The course's settings, with less memory to fill."""
    settings = (ROOT / "nbgrader_config.py").read_text() + "\nc.Sandbox.memory_bytes = 512 * 2**20\n"
    (tmp_path / "nbgrader_config.py").write_text(settings)
    return tmp_path


def examined(course: Path) -> tuple[int, dict[str, bool]]:
    """The command's exit status, and which walls held."""
    done = CliRunner().invoke(app, ["doctor", "--root", str(course)])
    lines = [line for line in done.output.splitlines() if " held " in f"{line} "]
    found = {wall: line.startswith("✓") for wall in WALLS for line in lines if f" {wall} " in line}
    assert set(found) == set(WALLS), done.output
    return done.exit_code, found


def test_every_wall_holds(course: Path) -> None:
    status, found = examined(course)
    assert [wall for wall, held in found.items() if not held] == []
    assert status == 0


def test_a_wall_that_is_missing_is_named(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = kernel.command

    def open_to_the_network(*arguments: object) -> list[str]:
        line = whole(*arguments)  # type: ignore[arg-type]
        at = line.index("--unshare-all") + 1
        return [*line[:at], "--share-net", *line[at:]]

    monkeypatch.setattr(kernel, "command", open_to_the_network)
    everything = View((Path(ROOT), *(Path("/") / name for name in ("usr", "lib", "lib64", "bin", "root"))))
    shown = View(tuple(path for path in everything.shown if path.exists()))
    monkeypatch.setattr(manager, "view", lambda _: shown)
    status, found = examined(course)
    broken = {wall for wall, held in found.items() if not held}
    assert {"network", "masters", "grader's code"} <= broken
    assert not broken & {"files", "capabilities", "environment", "memory", "time"}
    assert status == 1


def test_a_sandbox_that_is_not_used_is_no_wall(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASTGOOD_UNSAFE", "1")
    status, found = examined(course)
    assert [wall for wall, held in found.items() if not held] == ["in use"]
    assert status == 1
