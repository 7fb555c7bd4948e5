"""What each component of a run weighs."""

from __future__ import annotations

from torch import Tensor

from lastgood.recovery.components import COMPONENTS, TITLES
from lastgood.recovery.state import MODEL, capture, state_bytes
from lastgood.teaching.views.parts import entries_of
from lastgood.teaching.views.style import BLUE, View, new_axes, new_figure, theme, to_svg
from lastgood.training.run import Run

_TITLE_WIDTH = max(len(title) for title in TITLES.values())


def component_sizes(run: Run) -> dict[str, int]:
    """Bytes of each component's tensors and numbers as they are now, before any file format."""
    captured = capture(run)
    captured[MODEL] = _without_ties(captured[MODEL])
    return {name: state_bytes(entries_of(name, captured)) for name in COMPONENTS}


def _without_ties(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Each tensor once: tied weights bear two names, but a checkpoint stores them once."""
    once: dict[int, tuple[str, Tensor]] = {}
    for name, tensor in tensors.items():
        once.setdefault(tensor.data_ptr(), (name, tensor))
    return dict(once.values())


def component_bytes(run: Run) -> View:
    """A bar for each component of the run at hand, with its bytes and its share of the whole state."""
    sizes = component_sizes(run)
    total = sum(sizes.values())
    title = f"{total:,} bytes in all, at step {run.step}"
    labels = {name: f"{size:,} B, {_percent(size / total)}" for name, size in sizes.items()}
    lines = [f"{TITLES[name]:<{_TITLE_WIDTH}}  {label:>19}" for name, label in labels.items()]
    alt = "; ".join(f"{TITLES[name]} {label}" for name, label in labels.items())
    return View(
        svg=_bars(sizes, labels, title, alt=f"What the state of this run weighs: {alt}; {title}."),
        text="\n".join([*lines, title]),
    )


def _bars(sizes: dict[str, int], labels: dict[str, str], title: str, alt: str) -> str:
    rows = range(len(sizes))
    kilobytes = [size / 1000 for size in sizes.values()]
    with theme():
        figure = new_figure(height=160)
        axes = new_axes(figure, 0.28, 0.225, 0.69, 0.625)
        axes.barh(rows, kilobytes, color=BLUE, height=0.58)
        for row, end, label in zip(rows, kilobytes, labels.values(), strict=True):
            axes.annotate(label, (end, row), xytext=(5, 0), textcoords="offset points", va="center")
        axes.set_yticks(rows, labels=[TITLES[name] for name in sizes])
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.45 * max(kilobytes))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlabel("kilobytes (of 1,000 bytes)")
        axes.set_title(title, pad=8)
        return to_svg(figure, alt)


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.0005 else "< 0.1%"
