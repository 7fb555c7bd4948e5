"""What `inspect` costs on large files, against torch's and safetensors' own ways to list what is there."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import save_file

from benchmarks.benchmark import Benchmark, Setting
from benchmarks.fresh import Fresh, fresh
from benchmarks.harness import Row, Side, alternate, compare
from benchmarks.large import names, save_sparse, save_sparse_safetensors
from benchmarks.states import MEGABYTE

TURNS, TENSORS = 9, 1_000
FULL, SPARSE = 1, 20  # MB a tensor: 1 GB and 20 GB
Save = Callable[[Path], None]


@dataclass
class Lister:
    """A way to list a file's tensors, and what new interpreters found and took."""

    imports: str
    work: str
    turns: list[Fresh] = field(default_factory=list)

    def list(self, path: Path) -> None:
        done = fresh(self.imports, self.work, path)
        if done.said != TENSORS:
            raise RuntimeError(f"{path.name} has {TENSORS} tensors, found were {done.said}")
        self.turns.append(done)


def ours() -> Lister:
    work = 'said = inspect(arguments[0])["parameters"].tensors'
    return Lister("from lastgood.recovery.inspect import inspect", work)


def torchs() -> Lister:
    return Lister("import torch", """
        state = torch.load(arguments[0], mmap=True, map_location="cpu", weights_only=True)
        said = len([(name, tuple(tensor.shape), tensor.dtype) for name, tensor in state.items()])
    """)  # fmt: skip


def safetensors_own() -> Lister:
    return Lister("import numpy\nfrom safetensors import safe_open", """
        with safe_open(arguments[0], "numpy") as file:
            slices = [(name, file.get_slice(name)) for name in file.keys()]
            said = len([(name, part.get_shape(), part.get_dtype()) for name, part in slices])
    """)  # fmt: skip


def _full(save: Callable[[dict[str, torch.Tensor], Path], None]) -> Save:
    return lambda path: save({name: torch.rand(FULL * MEGABYTE // 4) for name in names(TENSORS)}, path)


def _sparse(save: Callable[[Path, int, int], None]) -> Save:
    return lambda path: save(path, TENSORS, SPARSE * MEGABYTE)


FILES: tuple[tuple[str, Save, str, Callable[[], Lister]], ...] = (
    ("torch.save, 1 GB", _full(torch.save), "torch.load", torchs),
    ("torch.save, 20 GB, sparse", _sparse(save_sparse), "torch.load", torchs),
    ("safetensors, 1 GB", _full(save_file), "safe_open", safetensors_own),
    ("safetensors, 20 GB, sparse", _sparse(save_sparse_safetensors), "safe_open", safetensors_own),
)


def run(setting: Setting) -> list[Row]:
    rows = []
    for name, save, other, lister in FILES:
        path = setting.folder / "large"
        save(path)
        rows += compared(name, path, ours(), other, lister(), setting.turns(TURNS))
        path.unlink()
    return rows


def compared(what: str, path: Path, mine: Lister, other: str, theirs: Lister, turns: int) -> list[Row]:
    """A row for the whole process, and one for what comes after its imports."""
    sides = {"ours": Side(lambda: mine.list(path)), "other": Side(lambda: theirs.list(path))}
    alternate(sides, turns, warm_up=1)
    one, two = mine.turns[1:], theirs.turns[1:]
    whole = f"**{what}**, against `{other}`: {_megabytes(one)} MB of memory against {_megabytes(two)} MB"
    return [
        compare(whole, [turn.whole for turn in one], [turn.whole for turn in two]),
        compare("→ after the imports", [turn.work for turn in one], [turn.work for turn in two]),
    ]


def _megabytes(turns: list[Fresh]) -> str:
    return f"{statistics.median(turn.peak for turn in turns) / MEGABYTE:.0f}"


BENCHMARK = Benchmark(
    "inspect",
    "Describing large files",
    "`lastgood.recovery.inspect.inspect`, which also says what is missing, against listing names, shapes "
    "and dtypes: of `torch.load(mmap=True, weights_only=True)`, and of `safetensors.safe_open`. A "
    "thousand tensors of float32. Each turn is a new interpreter, from its start to its end; most of that"
    " is imports, so what comes after them has a row of its own. Memory is the process's peak, the median"
    " of the turns. The files of 20 GB are sparse: their tensors are holes. All files are in the page "
    "cache.",
    run,
)
