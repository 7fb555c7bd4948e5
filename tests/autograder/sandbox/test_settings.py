"""The sandbox's limits: their defaults, and how they are said."""

from pathlib import Path

import pytest
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.sandbox.settings import GIB, MB, UNSAFE, Sandbox, duration, size

ROOT = Path(__file__).resolve().parents[3]


def test_the_course_says_the_defaults() -> None:
    config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    told, default = Sandbox(config=config), Sandbox()
    for name in ("memory_bytes", "processes", "disk_bytes", "output_bytes", "notebook_seconds"):
        assert name in config.Sandbox
        assert getattr(told, name) == getattr(default, name)
    assert (default.memory_bytes, default.processes, default.disk_bytes) == (2 * GIB, 128, 200 * MB)
    assert config.Execute.timeout == 60


@pytest.mark.parametrize(
    ("environment", "trait", "unsafe"),
    [(None, None, False), ("0", None, False), ("1", None, True), (None, True, True), ("1", False, False)],
)
def test_unsafe_has_to_be_asked_for(
    environment: str | None, trait: bool | None, unsafe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(UNSAFE, raising=False)
    if environment is not None:
        monkeypatch.setenv(UNSAFE, environment)
    config = Config() if trait is None else Config({"Sandbox": {"unsafe": trait}})
    assert Sandbox(config=config).unsafe is unsafe


@pytest.mark.parametrize(
    ("count", "text"),
    [(2 * GIB, "2 GiB"), (400 * 2**20, "400 MiB"), (200 * MB, "200 MB"), (500, "500 bytes")],
)
def test_sizes_are_said_as_a_person_says_them(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(600, "10 minutes"), (90, "90 s"), (60, "60 s"), (2.5, "2.5 s")]
)
def test_times_are_said_as_a_person_says_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
