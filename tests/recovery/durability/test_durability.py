"""Saves that a kill tears are found at the moment where they tear."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery import audit, checkpoint, durability, state
from lastgood.training.run import Run


def here(function: Callable[..., Any]) -> Callable[..., Any]:
    """As a notebook's function: pickled by value."""
    function.__module__ = "__main__"
    return function


@here
def capture(run: Run) -> Any:
    return state.capture(run)


@here
def restore(run: Run, captured: Any) -> None:
    state.restore(run, captured)


@here
def save(captured: Any, folder: str) -> None:
    half = Path(folder) / "half"
    torch.save(captured, half)
    os.replace(half, Path(folder) / "whole")


@here
def load(folder: str) -> Any:
    return torch.load(Path(folder) / "whole", weights_only=True)


def examined(save: Any, load: Any, capture: Any = capture, restore: Any = restore) -> durability.Durability:
    functions = {"save": save, "load": load, "capture": capture, "restore": restore}
    return durability.judge(durability.measure(functions, audit.draw_plan(seed=5)))


def test_a_rename_into_place_survives_every_moment() -> None:
    found = examined(save, load)
    assert found.passed, found
    assert found.points >= 5
    assert not found.reference


@pytest.mark.slow
def test_the_librarys_own_checkpoints_survive_every_moment() -> None:
    @here
    def save(captured: Any, folder: str) -> None:
        checkpoint.write(folder, captured, step=captured["step"])

    @here
    def load(folder: str) -> Any:
        found = checkpoint.latest_good(folder).checkpoint
        assert found is not None
        return found.state

    found = examined(save, load)
    assert found.passed, found
    assert found.points >= 6


def test_removing_the_old_one_before_the_rename_is_caught_every_time() -> None:
    @here
    def save(captured: Any, folder: str) -> None:
        whole, half = Path(folder) / "whole", Path(folder) / "half"
        torch.save(captured, half)
        whole.unlink(missing_ok=True)
        half.rename(whole)

    found = examined(save, load)
    assert any("rename" in line and "no file of the name whole" in line for line in found.torn), found


def test_two_files_each_atomic_but_not_together_are_caught() -> None:
    @here
    def save(captured: Any, folder: str) -> None:
        for name in ("model", "optimizer", "step", "schedule", "loader", "rng"):
            torch.save(captured[name], Path(folder) / "half")
            os.replace(Path(folder) / "half", Path(folder) / name)

    @here
    def load(folder: str) -> Any:
        names = ("model", "optimizer", "step", "schedule", "loader", "rng")
        return {name: torch.load(Path(folder) / name, weights_only=True) for name in names}

    found = examined(save, load)
    assert not found.round_trip
    assert any(
        "a mix: parameters from the newer save, the rest from the older" in line for line in found.torn
    )


def test_a_load_that_finds_the_first_save_again_is_told_so() -> None:
    @here
    def save(captured: Any, folder: str) -> None:
        if not (Path(folder) / "whole").exists():
            torch.save(captured, Path(folder) / "whole")

    found = examined(save, load)
    words = r"load found the state of step 1, .* newest .* is of step 1[345]\. In the folder lies whole"
    assert re.fullmatch(words, found.round_trip)


def test_a_path_remembered_from_the_saving_process_is_found() -> None:
    @here
    def save(captured: Any, folder: str) -> None:
        torch.save(captured, Path(folder) / "data")
        (Path(folder) / "where").write_text(str(Path(folder) / "data"))

    @here
    def load(folder: str) -> Any:
        return torch.load((Path(folder) / "where").read_text(), weights_only=True)

    found = examined(save, load)
    assert found.stopped is not None
    assert (found.stopped["stage"], found.stopped["kind"]) == ("load", "FileNotFoundError")


def test_a_load_that_gives_back_something_else_names_the_component() -> None:
    @here
    def load(folder: str) -> Any:
        return {**torch.load(Path(folder) / "whole", weights_only=True), "step": 0}

    assert "step and schedule position" in examined(save, load).round_trip


@pytest.mark.parametrize(
    "capture",
    [
        here(lambda run: (_ for _ in ()).throw(NotImplementedError)),
        pytest.param(here(lambda run: {}), marks=pytest.mark.slow),
        pytest.param(here(state.capture), marks=pytest.mark.slow),
    ],
    ids=["blank", "captures nothing", "imported"],
)
def test_an_unusable_capture_is_stood_in_for_so_that_save_and_load_are_judged_alone(capture: Any) -> None:
    plan = audit.draw_plan(("lastgood.recovery.state",), seed=5)
    blank = here(lambda run, captured: None)
    for good in (save, here(lambda captured, folder: torch.save(captured, Path(folder) / "whole"))):
        functions = {"save": good, "load": load, "capture": capture, "restore": blank}
        found = durability.judge(durability.measure(functions, plan))
        assert found.reference
        assert found.passed is (good is save), found


def test_saving_nothing_passes_nothing() -> None:
    found = examined(here(lambda captured, folder: None), here(lambda folder: {}))
    assert not found.passed
    assert found.round_trip or found.stopped


def test_leftovers_of_a_killed_save_do_not_break_the_next_one() -> None:
    # mkdir of a folder that a killed save left behind fails for ever after
    @here
    def save(captured: Any, folder: str) -> None:
        half = Path(folder) / "half"
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir()
        torch.save(captured, half / "state")
        os.replace(half / "state", Path(folder) / "whole")

    assert examined(save, load).passed


def test_names_that_are_sorted_as_text_are_found_out_in_every_draw() -> None:
    @here
    def save(captured: Any, folder: str) -> None:
        torch.save(captured, Path(folder) / "half")
        os.replace(Path(folder) / "half", Path(folder) / f"step-{captured['step']}.pt")

    @here
    def load(folder: str) -> Any:
        return torch.load(max(Path(folder).glob("*.pt")), weights_only=True)

    assert "load found the state of step 9" in examined(save, load).round_trip


@pytest.mark.parametrize("mode", ["xb", "wb"])
def test_what_a_killed_save_leaves_must_not_be_in_the_way_of_the_next_one(mode: str) -> None:
    @here
    def save(captured: Any, folder: str, mode: str = mode) -> None:
        with open(Path(folder) / "half", mode) as file:
            torch.save(captured, file)
        os.replace(Path(folder) / "half", Path(folder) / "whole")

    found = examined(save, load)
    assert found.passed is (mode == "wb")
    if mode == "xb":
        assert any(
            "the next save was not killed: it raised FileExistsError" in line for line in found.torn
        ), found


def test_a_link_in_the_folder_stays_a_link_and_what_it_points_to_is_never_copied(tmp_path: Path) -> None:
    secret = tmp_path / "gradebook"
    secret.write_text("somebody's grade")
    os.utime(secret, (0, 0))  # nothing that this save could have kept there
    to = str(secret)

    @here
    def save_with_a_link(captured: Any, folder: str) -> None:
        link = Path(folder) / "leak"
        if not link.is_symlink():
            link.symlink_to(to)
        save(captured, folder)

    @here
    def load_only_beside_a_link(folder: str) -> Any:
        assert (Path(folder) / "leak").is_symlink()
        return load(folder)

    found = examined(save_with_a_link, load_only_beside_a_link)
    assert found.passed, found
    assert found.points >= 5


@pytest.mark.parametrize("target", ["", "../secret", "/etc/hostname", "link", "folder", "none"])
def test_only_a_file_of_the_folder_has_a_size(tmp_path: Path, target: str) -> None:
    root = tmp_path / "run"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "secret").write_text("x")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "file").write_text("xyz")
    assert durability._size(root, "file") == 3
    assert durability._size(root, target) is None
