"""Files with random damage: described or refused, never a crash, and nothing of them runs.

Each pickle among them brings a canary, which touches a file where it is unpickled.
"""

import os
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from lastgood.recovery.inspect import InspectError, inspect

FORMATS = ("zip", "legacy", "safetensors", "dcp", "trainer", "lightning")
OPCODES = b"()NKJMGTUXVcbRtsuade}]l0.\x80\x81\x85\x86\x87\x88\x8a\x8b\x8c\x8d\x91\x92\x93\x94\x95"


class Canary:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return os.system, (f"touch {self.path}",)


@pytest.fixture
def originals(made: Callable[..., Path], trained, tmp_path) -> dict[str, Path]:
    """A checkpoint of each format, a file of which is to be damaged."""
    state = {"model": trained.model.state_dict(), "optimizer": trained.optimizer.state_dict(), "step": 3,
             "canary": Canary(tmp_path / "canary")}  # fmt: skip
    torch.save(state, tmp_path / "zip.pt")
    torch.save(state, tmp_path / "legacy.pt", _use_new_zipfile_serialization=False)
    found = {name: made(name) for name in FORMATS[2:]}
    return {"zip": tmp_path / "zip.pt", "legacy": tmp_path / "legacy.pt", **found}


def damaged(data: bytes, dice: random.Random) -> bytes:
    """One of the things that happen to files, or several."""
    spoilt = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8, 40))):
        at = dice.randrange(len(spoilt)) if spoilt else 0
        match dice.randrange(6):
            case 0:
                del spoilt[at:]
            case 1:
                spoilt[at:at] = bytes(dice.choices(OPCODES, k=dice.randint(1, 9)))
            case 2:
                del spoilt[at : at + dice.randint(1, 30)]
            case 3:
                spoilt[at : at + 8] = dice.choice((b"\xff" * 8, bytes(8), b"\x7f" * 8))
            case 4:
                spoilt[at : at + 1] = bytes([dice.randrange(256)])
            case 5:
                spoilt[at : at + 1] = bytes([dice.choice(OPCODES)])
    return bytes(spoilt)


def spoil(path: Path, dice: random.Random) -> None:
    """Damage a file: its bytes, or the pickle in its archive, whose checksum is then right."""
    if dice.random() < 0.6 and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as old:
            members = {info.filename: old.read(info) for info in old.infolist()}
        with zipfile.ZipFile(path, "w") as new:
            for name, data in members.items():
                new.writestr(name, damaged(data, dice) if name.endswith("data.pkl") else data)
    else:
        path.write_bytes(damaged(path.read_bytes(), dice))


def look(original: Path, seed: int, folder: Path) -> str:
    """Damage a copy and describe it: what came of it."""
    dice = random.Random(seed)
    path = folder / "copy"
    if original.is_dir():
        shutil.copytree(original, path)
        spoil(dice.choice(sorted(entry for entry in path.iterdir() if entry.is_file())), dice)
    else:
        shutil.copy(original, path)
        spoil(path, dice)
    try:
        return f"status {inspect(path).status}"
    except InspectError as error:
        return error.cause
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("files", [30, pytest.param(300, marks=pytest.mark.slow)])
def test_damage_is_described_or_refused_and_nothing_runs(originals, tmp_path, files):
    came_of_it = set()
    for seed in range(files):
        came_of_it.add(look(originals[FORMATS[seed % len(FORMATS)]], seed, tmp_path))
    assert not (tmp_path / "canary").exists()
    assert len(came_of_it) > 10, "the damage is too much alike"


def test_the_canary_touches_its_file_where_it_is_unpickled(originals, tmp_path):
    torch.load(originals["zip"], weights_only=False)
    assert (tmp_path / "canary").exists()
