"""No file of a checkpoint is believed before it is verified, and none is ever executed."""

from __future__ import annotations

import hashlib
import os
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery.checkpoint import CheckpointError, latest_good, read, verify, write
from lastgood.recovery.checkpoint.manifest import FileRecord, Manifest, encode

Damage = Callable[[Path], object]
STATE = {"w": torch.arange(6.0).reshape(2, 3), "step": 1, "names": ["a", None, True]}


def flip(path: Path, position: int, mask: int = 0xFF) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= mask
    path.write_bytes(data)


def forge(folder: Path, state: bytes, step: int = 1) -> Path:
    """Make a checkpoint of any bytes, with a manifest that is right."""
    path = folder / f"step-{step:08d}"
    path.mkdir()
    (path / "state.pt").write_bytes(state)
    record = FileRecord(len(state), hashlib.sha256(state).hexdigest())
    (path / "manifest.json").write_bytes(encode(Manifest(1, step, {"state.pt": record}, {})))
    return path


def flipped(data: bytes, rng: random.Random) -> bytes:
    position = rng.randrange(len(data))
    return data[:position] + bytes([data[position] ^ rng.randint(1, 255)]) + data[position + 1 :]


def cut(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    end = rng.choice([start + 1, rng.randint(start + 1, len(data)), len(data)])
    return data[:start] + data[end:]


def inserted(data: bytes, rng: random.Random) -> bytes:
    position = rng.randint(0, len(data))
    more = rng.choice([rng.randbytes(rng.randint(1, 9)), b" ", b"\0", data[position : position + 1] or b"\n"])
    return data[:position] + more + data[position:]


@pytest.mark.parametrize("times", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_byte_flipped_cut_or_inserted_anywhere_is_never_read_silently(tmp_path: Path, times: int) -> None:
    older, newer = (write(tmp_path, STATE, step=step) for step in (1, 2))
    rng = random.Random(18)
    for number in range(times):
        damaged = newer / ("state.pt", "manifest.json")[number % 2]
        good = damaged.read_bytes()
        bad = rng.choice([flipped, cut, inserted])(good, rng)
        assert bad != good
        damaged.write_bytes(bad)
        for action in (read, verify):
            with pytest.raises(CheckpointError) as caught:
                action(newer)
            assert caught.value.path in (damaged, newer)
        found = latest_good(tmp_path)
        assert found.checkpoint is not None
        assert found.checkpoint.path == older
        assert [skip.path for skip in found.skipped] == [newer]
        damaged.write_bytes(good)
    read(newer)


@pytest.mark.parametrize(
    ("old", "new"), [(b" ", b"\t"), (b"a", b"A"), (b"\n}", b" }")], ids=["blank", "case", "line end"]
)
def test_a_change_in_the_manifest_that_json_would_not_mind_is_found(
    tmp_path: Path, old: bytes, new: bytes
) -> None:
    path = write(tmp_path, STATE, step=1)
    manifest = path / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(old, new, 1))
    with pytest.raises(CheckpointError, match=r"manifest\.json: (changed|keys are missing)"):
        read(path)


def truncate(name: str) -> Damage:
    def damage(path: Path) -> None:
        os.truncate(path / name, (path / name).stat().st_size // 2)

    return damage


def folder_instead(name: str) -> Damage:
    def damage(path: Path) -> None:
        (path / name).unlink()
        (path / name).mkdir()

    return damage


def pipe_instead(path: Path) -> None:
    (path / "state.pt").unlink()
    os.mkfifo(path / "state.pt")


def file_instead(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("not a folder")


def emptied(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


def loop_instead(path: Path) -> None:
    (path / "state.pt").unlink()
    (path / "state.pt").symlink_to("state.pt")


def other_step(path: Path) -> None:
    shutil.rmtree(path)
    write(path.parent / "elsewhere", STATE, step=7).rename(path)


DAMAGES: dict[str, tuple[Damage, str, str]] = {
    "missing": (shutil.rmtree, "", "does not exist"),
    "a file": (file_instead, "", "not a folder"),
    "empty": (emptied, "", "empty folder"),
    "no manifest": (lambda path: (path / "manifest.json").unlink(), "manifest.json", "half-written"),
    "no state": (lambda path: (path / "state.pt").unlink(), "state.pt", "half-written"),
    "state a folder": (folder_instead("state.pt"), "state.pt", "not a file"),
    "state a pipe": (pipe_instead, "state.pt", "not a file"),
    "state a link to itself": (loop_instead, "state.pt", "cannot be read"),
    "manifest a folder": (folder_instead("manifest.json"), "manifest.json", "not a file"),
    "state cut short": (truncate("state.pt"), "state.pt", "cut short"),
    "manifest cut short": (truncate("manifest.json"), "manifest.json", "not JSON"),
    "state flipped": (lambda path: flip(path / "state.pt", 300), "state.pt", "SHA-256"),
    "of another step": (other_step, "", "of step 7"),
}


@pytest.mark.parametrize(("damage", "file", "cause"), DAMAGES.values(), ids=DAMAGES.keys())
def test_each_damage_is_told_by_file_cause_and_remedy(
    tmp_path: Path, damage: Damage, file: str, cause: str
) -> None:
    path = write(tmp_path, STATE, step=1)
    damage(path)
    for action in (read, verify):
        with pytest.raises(CheckpointError) as caught:
            action(path)
        error = caught.value
        assert error.path == path / file
        assert cause in error.cause
        assert error.remedy.endswith(".")
        assert str(error) == f"{error.path}: {error.cause}. {error.remedy}"


def test_an_error_survives_the_way_between_processes() -> None:
    error = CheckpointError(Path("a"), "b", "c")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.path, copy.cause, copy.remedy) == (Path("a"), "b", "c")


class Trap:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("unsafe_by_default", [False, True])
def test_reading_never_executes_what_a_file_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zipped: bool, unsafe_by_default: bool
) -> None:
    if unsafe_by_default:
        monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    marker = tmp_path / "executed"
    torch.save({"x": Trap(marker)}, tmp_path / "evil.pt", _use_new_zipfile_serialization=zipped)
    path = forge(tmp_path, (tmp_path / "evil.pt").read_bytes())
    verify(path)
    with pytest.raises(CheckpointError, match=r"state\.pt: .*it asks for \w+\.mkdir"):
        read(path)
    assert not marker.exists()
    assert latest_good(tmp_path).checkpoint is None


@pytest.mark.parametrize("data", [b"", b"not a torch file", pickle.dumps([1])])
def test_a_file_that_torch_did_not_write_is_refused(tmp_path: Path, data: bytes) -> None:
    path = forge(tmp_path, data)
    with pytest.raises(CheckpointError, match=r"state\.pt"):
        read(path)


def test_a_file_that_holds_no_dict_is_refused(tmp_path: Path) -> None:
    torch.save([1, 2], tmp_path / "list.pt")
    path = forge(tmp_path, (tmp_path / "list.pt").read_bytes())
    with pytest.raises(CheckpointError, match="holds a list"):
        read(path)
