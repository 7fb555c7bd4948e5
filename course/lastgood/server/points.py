"""Points of a validation, kept in the learner's progress: those of their copies of the labs only."""

from __future__ import annotations

from pathlib import Path

from lastgood import workspace
from lastgood.server.validation import Result
from lastgood.teaching.study.record import Points, keep_points
from lastgood.teaching.study.store import StoreError


def record(result: Result, notebook: Path, root: Path) -> tuple[str, ...]:
    """Keep the points of a lab that was validated.

    A master, a file elsewhere, and a result that judged nothing leave the record as it is.

    Returns:
        Sentences for the learner: that nothing could be kept, and why, or that a damaged file was set aside.
        Never raises: whoever validates has more important things to hear.
    """
    lab = _lab(notebook, root)
    if lab is None or not result.scored:
        return ()
    try:
        return keep_points(
            lab, {cell.name: Points(cell.earned, cell.possible) for cell in result.scored}
        ).notes
    except StoreError as error:
        return (str(error),)


def _lab(notebook: Path, root: Path) -> str | None:
    """The lab whose copy in `work/` this is."""
    here = notebook.resolve()
    return next(
        (lab for lab in workspace.labs(root) if (root / workspace.lab_notebook(lab)).resolve() == here), None
    )
