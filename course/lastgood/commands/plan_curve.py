"""The curve of `lastgood plan`: how much longer a run takes, by the interval between saves."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lastgood.recovery.interval import ettr, flat_range, optimum

HEIGHT = 10
SPREAD = 12.0  # the curve goes from a twelfth of the optimum to twelve times it
EIGHTHS = " ▁▂▃▄▅▆▇█"


def grid(save_cost: float, mtbf: float, points: int, own: float | None = None) -> np.ndarray:
    """Intervals, evenly on a logarithmic scale, around the optimum and as far as the reader's own."""
    best = float(optimum(save_cost, mtbf))
    low, high = min(best / SPREAD, own or best), max(best * SPREAD, own or best)
    return np.geomspace(low, high, points)


def lost_share(hours: np.ndarray, save_cost: float, mtbf: float, restart_cost: float) -> np.ndarray:
    """1 - ETTR, the share of the time that does not bring the run further, of each interval."""
    return 1.0 - np.asarray(ettr(hours, save_cost, mtbf, restart_cost))


def curve(save_cost: float, mtbf: float, restart_cost: float, own: float | None, width: int) -> str:
    """The curve in characters: a bar an interval, the flat part underlined, two intervals marked."""
    columns = max(20, width - 8)
    hours = grid(save_cost, mtbf, columns, own)
    share = lost_share(hours, save_cost, mtbf, restart_cost)
    levels = np.rint(share / share.max() * HEIGHT * 8).astype(int)
    lines = []
    for row in reversed(range(HEIGHT)):
        filled = np.clip(levels - 8 * row, 0, 8)
        label = (
            f"{100 * share.max() * (row + 1) / HEIGHT:5.1f} % " if row in (0, HEIGHT // 2, HEIGHT - 1) else ""
        )
        lines.append(f"{label:>8}" + "".join(EIGHTHS[level] for level in filled))
    low, high = flat_range(save_cost, mtbf)
    marks = ["─" if low <= hour <= high else " " for hour in hours]
    marks[int(np.abs(np.log(hours / float(optimum(save_cost, mtbf)))).argmin())] = "▲"
    if own is not None:
        marks[int(np.abs(np.log(hours / own)).argmin())] = "Y"
    lines.append(" " * 8 + "".join(marks))
    ends = f"{hours[0]:.3g} h", f"{hours[-1]:.3g} h"
    lines.append(" " * 8 + ends[0] + ends[1].rjust(columns - len(ends[0])))
    yours = ", Y yours" if own is not None else ""
    lines.append(f"{'':8}Height: 1 - ETTR, by the work between two saves. ▲ optimum, ─ within 1 %{yours}")
    return "\n".join(line.rstrip() for line in lines)


def draw(path: Path, save_cost: float, mtbf: float, restart_cost: float, own: float | None) -> None:
    """The same curve as a picture, PNG or SVG by the name of the file."""
    from matplotlib.figure import Figure

    hours = grid(save_cost, mtbf, 400, own)
    best = float(optimum(save_cost, mtbf))
    picture = Figure(figsize=(7, 4), layout="constrained")
    axes = picture.subplots()
    axes.plot(hours, 100 * lost_share(hours, save_cost, mtbf, restart_cost), color="#0072B2", linewidth=2)
    axes.axvspan(*flat_range(save_cost, mtbf), color="#0072B2", alpha=0.15)
    for name, hour, color in (("optimum", best, "#0072B2"), ("yours", own, "#D55E00")):
        if hour is None:
            continue
        share = 100 * float(lost_share(np.array(hour), save_cost, mtbf, restart_cost))
        axes.plot([hour], [share], "o", color=color)
        # Inside the valley, or the curve runs through the words.
        side, offset = ("right", (-8, 8)) if hour > best else ("left", (8, 8))
        if hour == best:
            side, offset = "center", (0, -18)
        words = f"{name}: {hour:.3g} h, {share:.3g} %"
        axes.annotate(words, (hour, share), offset, textcoords="offset points", ha=side)
    axes.set(xscale="log", xlabel="work between saves, hours", ylim=(0, None))
    axes.set_ylabel("1 - ETTR: time that brings the run no further, %")
    axes.set_title("Shaded: within 1 % of the least time", fontsize="medium", loc="left")
    picture.savefig(path, dpi=150)
