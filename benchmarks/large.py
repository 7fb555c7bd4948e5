"""Checkpoints of 20 GB that take no place on the disk: sparse files, whose tensors are holes."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import torch
from torch.distributed.checkpoint import metadata as dcp
from torch.distributed.checkpoint.filesystem import _StorageInfo

ITEM = 4  # bytes of a float32


def save_sparse(path: Path, tensors: int, size: int) -> None:
    """What torch.save writes of so many float32 tensors of `size` bytes each, without the tensors."""
    hole = path.with_name("hole")
    with hole.open("wb") as file:
        file.truncate(size)
    state = {
        name: torch.from_file(str(hole), shared=False, size=size // ITEM, dtype=torch.float32)
        for name in names(tensors)
    }
    with torch.serialization.skip_data():
        torch.save(state, path)
    hole.unlink()


def save_sparse_safetensors(path: Path, tensors: int, size: int) -> None:
    """The same as safetensors, by hand after the documented layout."""
    header = {
        name: {"dtype": "F32", "shape": [size // ITEM], "data_offsets": [number * size, (number + 1) * size]}
        for number, name in enumerate(names(tensors))
    }
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + tensors * size)


def save_sparse_dcp(path: Path, tensors: int, size: int) -> None:
    """The same as torch.distributed.checkpoint writes it, with its own metadata and no tensor."""
    path.mkdir()
    shape, start = torch.Size([size // ITEM]), torch.Size([0])
    properties = dcp.TensorProperties(dtype=torch.float32)
    entry = dcp.TensorStorageMetadata(properties, shape, [dcp.ChunkStorageMetadata(start, shape)])
    data = "__0_0.distcp"
    metadata = dcp.Metadata(
        dict.fromkeys(names(tensors), entry),
        dict.fromkeys(names(tensors)),
        {
            dcp.MetadataIndex(name, start, 0): _StorageInfo(data, number * size, size)
            for number, name in enumerate(names(tensors))
        },
    )
    (path / ".metadata").write_bytes(pickle.dumps(metadata))
    with (path / data).open("wb") as file:
        file.truncate(tensors * size)


def names(tensors: int) -> list[str]:
    """Names as a model of many layers has them."""
    return [f"layers.{number}.weight" for number in range(tensors)]
