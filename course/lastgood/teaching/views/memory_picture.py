"""What a run keeps, as a bar for each thing of which there is one number a parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes

from lastgood.teaching.views.style import BLUE, INK, ORANGE, new_axes, new_figure, theme, to_svg
from lastgood.training.memory import (
    COMPONENTS,
    GRADIENTS,
    MASTER,
    MOMENTS,
    WEIGHTS,
    Optimizer,
    Precision,
    in_checkpoint,
    in_memory,
    parts,
)

GPU: Final = 80e9  # bytes of an A100 with 80 GB, OPT's GPU
_DECIMAL: Final = ("B", "kB", "MB", "GB", "TB", "PB")
_BINARY: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


@dataclass(frozen=True)
class Plan:
    """A model's size, the bytes of its numbers, and the optimizer that trains it."""

    parameters: int
    precision: Precision
    optimizer: Optimizer

    @property
    def parts(self) -> dict[str, int]:
        """Bytes of each component that takes any."""
        return parts(self.parameters, self.precision, self.optimizer)

    @property
    def memory(self) -> int:
        return in_memory(self.parameters, self.precision, self.optimizer)

    @property
    def checkpoint(self) -> int:
        return in_checkpoint(self.parameters, self.precision, self.optimizer)

    @property
    def moments(self) -> int:
        """Bytes of what the optimizer remembers."""
        return sum(self.parts.get(name, 0) for name in MOMENTS)

    @property
    def gpus(self) -> int:
        """GPUs of 80 GB that hold it, activations aside: at least so many."""
        return math.ceil(self.memory / GPU)

    def each(self, size: int) -> int:
        """Bytes a parameter."""
        return size // self.parameters


def decimal(size: float) -> str:
    """Bytes with three digits, in powers of 1,000."""
    return _in_units(size, 1000, _DECIMAL)


def binary(size: float) -> str:
    """Bytes with three digits, in powers of 1,024."""
    return _in_units(size, 1024, _BINARY)


def _in_units(size: float, base: int, units: tuple[str, ...]) -> str:
    power = 0
    while size >= 999.5 and power < len(units) - 1:
        size, power = size / base, power + 1
    digits = 0 if power == 0 or size >= 99.95 else 1 if size >= 9.995 else 2
    return f"{size:,.{digits}f} {units[power]}"


def bars(plan: Plan, alt: str) -> str:
    """A bar a component, as an inline SVG; those that no checkpoint holds are hollow."""
    longest = max(plan.parts.values())
    with theme():
        figure = new_figure(height=178)
        axes = new_axes(figure, 0.2, 0.03, 0.78, 0.83)
        for row, name in enumerate(COMPONENTS):
            _bar(axes, row, plan, name)
        axes.set_yticks(range(len(COMPONENTS)), labels=COMPONENTS)
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.62 * longest)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)
        axes.set_title(
            f"in memory {decimal(plan.memory)}; of it into a checkpoint {decimal(plan.checkpoint)} (filled)",
            pad=8,
        )
        return to_svg(figure, alt)


def _bar(axes: Axes, row: int, plan: Plan, name: str) -> None:
    size = plan.parts.get(name, 0)
    saved = name != GRADIENTS
    if saved:
        color = BLUE if name in (WEIGHTS, MASTER) else ORANGE
        axes.barh(row, size, color=color, height=0.58)
    else:
        axes.barh(
            row, size, height=0.58, facecolor="none", edgecolor=INK, linewidth=1.0, linestyle=(0, (3, 2))
        )
    words = f"{decimal(size)}, {plan.each(size)} B a parameter" if size else "none"
    words += "" if saved or not size else ",\nin memory only"
    axes.annotate(
        words,
        (size, row),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=8.5,
        linespacing=1.25,
    )
