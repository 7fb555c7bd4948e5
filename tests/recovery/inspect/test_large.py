"""Large checkpoints: 20 GB of tensors, or very many of them, in little memory. Each in a process of its own.

The files of 20 GB are sparse, so that they take no place.
"""

import io
import pickle
import re
import struct
import zipfile
from pathlib import Path

import pytest
import torch
from torch.distributed.checkpoint import metadata as dcp
from torch.distributed.checkpoint.filesystem import _StorageInfo

from benchmarks import large
from benchmarks.fresh import fresh
from lastgood.recovery.inspect import InspectError, inspect
from lastgood.recovery.inspect.recognise import children
from lastgood.recovery.inspect.values import Table
from lastgood.recovery.inspect.walker import Walker, read_bytes

TENSORS, SIZE = 200, 100_000_000
MOST_MEMORY = 300_000_000
WRITERS = {
    "torch.save, zip": large.save_sparse,
    "safetensors": large.save_sparse_safetensors,
    "torch.distributed.checkpoint": large.save_sparse_dcp,
}


def described(path: Path) -> tuple[dict, int]:
    """The report on `path` as data, and the bytes of memory that it took at most."""
    work = """
        try:
            said = inspect(arguments[0]).as_data()
        except InspectError as error:
            said = {"error": str(error)}
    """
    done = fresh("from lastgood.recovery.inspect import InspectError, inspect", work, path)
    return done.said, done.peak


def finding(said: dict, component: str) -> dict:
    return next(one for one in said["findings"] if one["component"] == component)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_sparse_checkpoint_of_20_gb_is_described_in_little_memory(tmp_path, kind):
    path = tmp_path / "large"
    WRITERS[kind](path, TENSORS, SIZE)
    files = [path] if path.is_file() else list(path.iterdir())
    assert sum(file.stat().st_blocks * 512 for file in files) < 2_000_000, "it is not sparse"
    said, peak = described(path)
    parameters = finding(said, "parameters")
    assert (parameters["tensors"], parameters["bytes"]) == (TENSORS, TENSORS * SIZE)
    assert parameters["dtypes"] == {"float32": TENSORS}
    assert (said["faults"], said["files"][0]["format"]) == ([], kind)
    assert said["bytes"] == sum(file.stat().st_size for file in files) > 20_000_000_000
    assert peak < MOST_MEMORY


def test_torch_reads_the_sparse_file_too(tmp_path):
    large.save_sparse(tmp_path / "large.pt", TENSORS, SIZE)
    state = torch.load(tmp_path / "large.pt", mmap=True, weights_only=True)
    assert list(state) == large.names(TENSORS)
    assert {tensor.nbytes for tensor in state.values()} == {SIZE}


def adam(parameters: int) -> dict:
    """The state of so many parameters of AdamW, each of one number: four tensors a parameter."""
    one, step = torch.zeros(1), torch.tensor(3.0)
    return {
        "model": {name: one.clone() for name in large.names(parameters)},
        "optimizer": {
            "state": {
                number: {"step": step.clone(), "exp_avg": one.clone(), "exp_avg_sq": one.clone()}
                for number in range(parameters)
            },
            "param_groups": [{"betas": (0.9, 0.999), "params": list(range(parameters))}],
        },
    }


@pytest.mark.slow
def test_an_optimizer_of_8_000_parameters_is_described_in_little_memory(tmp_path):
    torch.save(adam(8_000), tmp_path / "adam.pt")
    said, peak = described(tmp_path / "adam.pt")
    assert finding(said, "parameters")["tensors"] == 8_000
    assert finding(said, "moments")["tensors"] == 24_000
    assert finding(said, "moments")["detail"].endswith("of 8,000 of 8,000 parameters.")
    assert (said["faults"], said["notes"]) == ([], [])
    assert peak < MOST_MEMORY


@pytest.mark.slow
def test_a_safetensors_file_of_100_000_tensors_is_described_in_little_memory(tmp_path):
    large.save_sparse_safetensors(tmp_path / "many.safetensors", 100_000, 1_000)
    said, peak = described(tmp_path / "many.safetensors")
    parameters = finding(said, "parameters")
    assert (parameters["tensors"], parameters["bytes"]) == (100_000, 100_000_000)
    assert (said["faults"], said["notes"]) == ([], [])
    assert peak < MOST_MEMORY


def test_a_longer_header_of_safetensors_is_refused_by_name(tmp_path):
    length = (13 << 20) + 1
    with (tmp_path / "many.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", length) + b"{")
        file.truncate(8 + length)
    with pytest.raises(InspectError, match="its header has 13,631,489 bytes"):
        inspect(tmp_path / "many.safetensors")


FULL = 1_190_000  # opcodes, a little below what is read
BOMBS = {
    "lists": lambda: b"\x80\x04(" + b"]" * FULL + b"l.",
    "tuples": lambda: b"\x80\x04(" + b")\x85" * (FULL // 2) + b"l.",
    "texts": lambda: b"\x80\x04(" + b"".join(b"X\x05\0\0\0%05x\x94" % n for n in range(FULL // 2)) + b"l.",
    "wide texts": lambda: (
        b"\x80\x04(" + (b"X\0\0\x10\0\xf0\x9f\x98\x80" + b"a" * ((1 << 20) - 4)) * 31 + b"l."
    ),
    "bytes": lambda: b"\x80\x04(" + (b"B\x40\0\0\0" + b"a" * 64) * 450_000 + b"l.",
    "keys": lambda: b"\x80\x04}(" + b"".join(b"X\x05\0\0\0%05xK\x01" % n for n in range(FULL // 2)) + b"u.",
    "names": lambda: b"\x80\x04(" + b"".join(b"ca%x\nb\n" % n for n in range(FULL // 4)) + b"l.",
    "JSON objects": lambda: b'{"a":[' + b"{}," * 5_000_000 + b"{}]}",
    "JSON lists": lambda: b'{"a":[' + b"[]," * 5_000_000 + b"[]]}",
    "JSON texts": lambda: b'{"a":[' + b'"ab",' * 3_000_000 + b"1]}",
    "JSON keys": lambda: b"{" + b",".join(b'"%x":1' % n for n in range(590_000)) + b"}",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BOMBS)
def test_what_is_small_and_would_grow_stays_small(tmp_path, kind):
    (tmp_path / "bomb.pt").write_bytes(BOMBS[kind]())
    _, peak = described(tmp_path / "bomb.pt")
    assert peak < MOST_MEMORY


@pytest.mark.parametrize(
    ("sign", "piece", "most"), [("{", b"{},", 250_000), ("[", b"[],", 500_000), (",", b"1,", 2_000_000)]
)
def test_json_of_very_many_pieces_is_refused_before_it_is_parsed(tmp_path, sign, piece, most):
    text = b'{"a":[' + piece * (most + 1) + b"1]}"
    (tmp_path / "a.json").write_bytes(text)
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    for name in ("a.json", "a.safetensors"):
        with pytest.raises(InspectError, match=re.escape(f"more than {most:,} times '{sign}'")):
            inspect(tmp_path / name)


@pytest.mark.parametrize(
    ("limit", "data", "cause"),
    [
        ("walker.OTHERS", b"(" + b"F1.5\n" * 9 + b"l.", "more than 5 numbers and texts"),
        ("walker.GLOBALS", b"".join(b"ca%d\nb\n" % n for n in range(9)) + b".", "more than 5 classes"),
        ("machine.OBJECTS", b"(" + b"]" * 9 + b"l.", "more than 5 objects"),
        ("machine.OBJECTS", b"}(" + b"K\1K\1" * 9 + b"u.", "more than 5 objects"),
        ("machine.OBJECTS", b"ca\nb\nq\0(" + b"h\0)R" * 9 + b"l.", "more than 5 objects"),
        ("machine.MEMO", b"N" + b"\x94" * 9 + b".", "more than 5 objects"),
    ],
    ids=["texts", "names", "lists", "keys", "calls", "memo"],
)
def test_what_takes_memory_is_counted(tmp_path, monkeypatch, limit, data, cause):
    monkeypatch.setattr(f"lastgood.recovery.inspect.{limit}", 5)
    (tmp_path / "a.pt").write_bytes(b"\x80\x04" + data)
    with pytest.raises(InspectError, match=cause):
        inspect(tmp_path / "a.pt")


def test_opcodes_are_counted_over_the_pickles_of_a_file(monkeypatch):
    monkeypatch.setattr("lastgood.recovery.inspect.walker.OPCODES", 5)
    walker = Walker()
    assert read_bytes(b"N.", walker, Path("a")) is None
    with pytest.raises(InspectError, match="more than 5 opcodes"):
        read_bytes(b"NNN.", walker, Path("a"))


@pytest.mark.parametrize("value", [((),) * 9, [()] * 9, Table([("a", 1)] * 9)])
def test_of_a_row_of_very_many_only_the_first_are_looked_at(monkeypatch, value):
    monkeypatch.setattr("lastgood.recovery.inspect.recognise._CHILDREN", 3)
    assert len(children(value)) == 3


def dcp_of_entries(folder: Path, data: bytes, count: int) -> Path:
    """A folder of torch.distributed.checkpoint with entries that are no tensors, all of them `data`."""
    folder.mkdir()
    names = large.names(count)
    metadata = dcp.Metadata(
        dict.fromkeys(names, dcp.BytesStorageMetadata()),
        dict.fromkeys(names),
        {dcp.MetadataIndex(name): _StorageInfo("__0_0.distcp", 0, len(data)) for name in names},
    )
    (folder / ".metadata").write_bytes(pickle.dumps(metadata))
    (folder / "__0_0.distcp").write_bytes(data)
    return folder


def archive(data: bytes, packed: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packed) as file:
        file.writestr("archive/data.pkl", data)
    return stream.getvalue()


def test_the_entries_of_a_folder_are_together_no_longer_than_one_pickle(tmp_path, monkeypatch):
    monkeypatch.setattr("lastgood.recovery.inspect.walker.OPCODES", 2_000)
    entry = archive(b"\x80\x02(" + b"K\x01" * 600 + b"l.", zipfile.ZIP_STORED)
    report = inspect(dcp_of_entries(tmp_path / "entries", entry, 8))
    assert len(report.faults) == 5
    assert all("more than 2,000 opcodes" in fault for fault in report.faults)
    assert "the entry layers.3.weight" in report.faults[0]


def test_an_entry_that_unpacks_to_more_than_itself_is_not_unpacked(tmp_path):
    bomb = archive(b"\x80\x02(" + b"K\x01" * 100_000 + b"l.", zipfile.ZIP_DEFLATED)
    report = inspect(dcp_of_entries(tmp_path / "bombs", bomb, 2))
    assert len(report.faults) == 2
    assert all(fault.endswith("its data.pkl claims 200,005 bytes") for fault in report.faults)


@pytest.mark.slow
def test_metadata_of_an_optimizer_of_2_000_parameters_is_sorted_as_it_was_nested(tmp_path):
    large.save_sparse_dcp(tmp_path / "flat", 8_000, 100)
    metadata = pickle.loads((tmp_path / "flat/.metadata").read_bytes())
    kinds = ("step", "exp_avg", "exp_avg_sq")
    for number, name in enumerate(metadata.planner_data):
        owner, kind = divmod(number, 4)
        nested = ("optimizer", "state", str(owner), kinds[kind]) if kind < 3 else ("model", name)
        metadata.planner_data[name] = nested
    (tmp_path / "flat/.metadata").write_bytes(pickle.dumps(metadata))
    said, peak = described(tmp_path / "flat")
    assert finding(said, "parameters")["tensors"] == 2_000
    assert peak < MOST_MEMORY
