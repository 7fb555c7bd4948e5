"""Where there is no sandbox, grading stops and says what to do."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from traitlets.config import Config
from typer.testing import CliRunner

from autograder import demo
from autograder.cli import app
from autograder.sandbox import command, ready
from autograder.sandbox.settings import UNSAFE

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is found out in other tests, and what this machine is told, are no part of these, nor theirs."""
    monkeypatch.delenv(UNSAFE, raising=False)
    _forget()
    yield
    _forget()


def _forget() -> None:
    ready._why_not.cache_clear()
    command._namespaces.cache_clear()


@pytest.fixture
def no_bwrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "bubblewrap", lambda: None)


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    for module in (ready, command):
        monkeypatch.setattr(module, "bubblewrap", lambda: str(program))


def hook(**traits: object) -> Callable[..., None]:
    return ready.before_grading(Config({"Sandbox": traits}))


@pytest.mark.parametrize(
    ("fixture", "why"),
    [("no_bwrap", "`bwrap`) is not installed"), ("refused", "was refused: bwrap: No permissions")],
)
def test_grading_stops_before_the_first_submission(
    fixture: str, why: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(fixture)
    with pytest.raises(SystemExit) as stopped:
        hook()(assignment="lab18", student="*", notebooks=[])
    said = str(stopped.value)
    assert why in said
    for system in ("Linux", "container, hub", "macOS", "Windows"):
        assert f"  {system} " in said
    assert UNSAFE in said
    assert max(map(len, said.splitlines())) <= 120


def test_another_system_is_told_that_it_needs_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready.platform, "system", lambda: "Darwin")
    with pytest.raises(ready.SandboxError, match="needs Linux, and this is Darwin"):
        ready.require_sandbox()


@pytest.mark.usefixtures("no_bwrap")
def test_who_asks_for_no_sandbox_is_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    hook(unsafe=True)()
    monkeypatch.setenv(UNSAFE, "1")
    hook()()


@pytest.mark.needs_bwrap
def test_with_a_sandbox_grading_goes_on() -> None:
    hook()()


@pytest.mark.usefixtures("no_bwrap")
@pytest.mark.parametrize("arguments", [["doctor"], ["demo"]])
def test_our_commands_say_it_too(arguments: list[str], tmp_path: Path) -> None:
    where = ["--folder", str(tmp_path / "demo")] if arguments == ["demo"] else []
    done = CliRunner().invoke(app, [*arguments, "--root", str(ROOT), *where])
    assert done.exit_code == 1
    assert "apt install bubblewrap" in done.output
    assert not (tmp_path / "demo").exists()


@pytest.mark.slow  # it makes the sample class
@pytest.mark.usefixtures("no_bwrap")
def test_a_demo_without_the_sandbox_has_to_be_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []
    monkeypatch.setattr(demo, "run", lambda *_, unsafe, **__: asked.append(unsafe) or [])
    for option in ([], ["--unsafe"]):
        CliRunner().invoke(app, ["demo", "--root", str(ROOT), "--folder", str(tmp_path / "demo"), *option])
    assert asked == [False, True]
    course = demo.prepare(ROOT, tmp_path / "demo", [], unsafe=True)
    assert course.config.Sandbox.unsafe is True
