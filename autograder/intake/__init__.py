"""Reads what was handed in, whatever it is, and makes of it a notebook that can be graded.

Each submission is graded, or explained to its author: never a traceback. `take_in` is the whole of it.

    folder      what lies in a submission's folder, and what of it is never read
    lean        a large file without the outputs of its cells
    reading     from a file to cells, or to a sentence on why not
    cells       the cells of any notebook format, whatever stands in their fields
    released    the notebook as it was released, and what the gradebook says of its cells
    matching    which cell of a submission is which of the release
    rebuilding  the released notebook with the learner's answers and additions
    choosing    which file is meant, and what is said of it
    notes       the cell at the top of the graded notebook in which that stands
    dates       when it was handed in, as far as that can be told

There is no gradebook in here: whoever calls gives what was released.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.intake.choosing import Chooser, Elsewhere, Taken
from autograder.intake.dates import note_on_date
from autograder.intake.folder import looked_at
from autograder.intake.notes import notes_of
from autograder.intake.released import Released
from autograder.intake.words import listed

__all__ = ["Taken", "notes_of", "take_in"]


def take_in(
    root: Path, wanted: Mapping[str, Released], elsewhere: Elsewhere, only: Collection[str] | None = None
) -> dict[str, Taken]:
    """What is graded of the submission in the folder `root`, for each released notebook, by name.

    `wanted` are all the notebooks of the lab, of which `only` those named there are taken; `elsewhere` names
    the lab that has given grade_ids. Never raises for what was handed in.
    """
    folder = looked_at(root)
    chooser = Chooser(folder, wanted, elsewhere)
    date = note_on_date(root, datetime.now(UTC).replace(tzinfo=None))
    refused = listed([name for name, _ in folder.refused])
    made = {}
    for name, released in wanted.items():
        if only is None or name in only:
            taken = chooser.take(released)
            notes = [*taken.notes, *([date] if date else ())]
            if refused and taken.handed_in:
                notes.append(f"Only ordinary files are read; left out: {refused}.")
            made[name] = Taken(taken.notebook, tuple(notes), taken.handed_in)
    if rest := chooser.rest():
        name, first = next((name, taken) for name, taken in made.items() if taken.handed_in)
        made[name] = replace(first, notes=(*first.notes, rest))
    return made
