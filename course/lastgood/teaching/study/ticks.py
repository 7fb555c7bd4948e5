"""Boxes to tick at the end of a lesson: one for each rep, and one for having read it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, Final

import ipywidgets as widgets

from lastgood.teaching.study import record, store
from lastgood.teaching.study.outline import OutlineError, Rep, Stage, outline
from lastgood.teaching.study.overview import ticked
from lastgood.teaching.study.record import Progress
from lastgood.teaching.study.store import StoreError
from lastgood.teaching.views.controls import paragraph
from lastgood.workspace import find_root

READ: Final = "I have read this lesson"
_RESTARTED: Final = "If the line above does not change when you tick, run this cell again."
# Jupyter's own style cuts a long label off.
_WRAP: Final = (
    "<style>.lastgood-ticks .widget-checkbox {height:auto; overflow:visible}"
    ".lastgood-ticks .widget-checkbox label {display:flex; align-items:baseline; height:auto;"
    " white-space:normal; line-height:1.45}</style>"
)


def lesson_named(lesson: str | int, root: Path | None = None) -> Stage:
    """The lesson of that number. Raises OutlineError, WorkspaceError."""
    lessons = [stage for stage in outline(root or find_root()) if stage.kind == "lesson"]
    number = str(lesson).strip().rjust(2, "0")
    for stage in lessons:
        if stage.number == number:
            return stage
    known = ", ".join(stage.number for stage in lessons) or "none"
    raise OutlineError(f"There is no lesson {lesson!r}. The lessons: {known}.")


class Ticks:
    """What `reps` returns. A tick is kept at once; where it cannot be, the line below the boxes says so.

    Attributes:
        stage: the lesson.
        boxes: a checkbox for each rep, in their order.
        read: the checkbox for the lesson itself.
        words: the line below them.
        widget: all of them together.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        progress = record.so_far()
        kept = progress.ticked.get(stage.number, frozenset())
        self.boxes = [self._box(rep.label, rep.key in kept, partial(self._on_rep, rep)) for rep in stage.reps]
        self.read = self._box(READ, stage.number in progress.read, self._on_read)
        self.words = widgets.HTML()
        self._say(progress)
        quiet = widgets.HTML(_WRAP + paragraph(_RESTARTED, quiet=True))
        self.widget = widgets.VBox([*self.boxes, self.read, self.words, quiet])
        self.widget.add_class("lastgood-ticks")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = self.widget._repr_mimebundle_(**options)
        return {**bundle, "text/plain": repr(self)}

    def __repr__(self) -> str:
        progress = record.so_far()
        kept = progress.ticked.get(self.stage.number, frozenset())
        reps = [(rep.key in kept, rep.label) for rep in self.stage.reps]
        every = [*reps, (self.stage.number in progress.read, READ)]
        return "\n".join(f"[{'x' if done else ' '}] {label}" for done, label in every)

    def _box(self, label: str, done: bool, keep: Callable[[bool], Progress]) -> Any:
        box = widgets.Checkbox(
            value=done,
            description=label,
            indent=False,
            style={"description_width": "initial"},
            layout=widgets.Layout(width="auto", max_width="700px"),
        )
        box.observe(lambda change: self._keep(keep, change["new"]), names="value")
        return box

    def _on_rep(self, rep: Rep, done: bool) -> Progress:
        return record.mark_rep(self.stage.number, rep, done)

    def _on_read(self, done: bool) -> Progress:
        return record.mark_read(self.stage.number, done)

    def _keep(self, keep: Callable[[bool], Progress], done: bool) -> None:
        try:
            self._say(keep(done))
        except StoreError as error:
            self._tell(str(error))
        except Exception as error:  # whatever it is: a kernel would hide it
            self._tell(f"This tick could not be kept. {type(error).__name__}: {error}")

    def _say(self, progress: Progress) -> None:
        """What is kept, and where."""
        now, before = ticked(self.stage, progress)
        read = "Lesson read" if self.stage.number in progress.read else "Lesson not read yet"
        words = [f"{read}, {now} of {len(self.stage.reps)} reps done. Kept in {store.path()}."]
        if before and now < len(self.stage.reps):
            words.append(
                "A rep that you had ticked has been reworded since, so its box is empty. "
                "Tick it again if what you did still counts."
            )
        self._tell(*words, *progress.notes)

    def _tell(self, *sentences: str) -> None:
        lines = "<br>".join(escape(sentence) for sentence in sentences)
        self.words.value = f"<div role='status'>{paragraph(lines)}</div>"
