"""Study aids: what a learner has done, and what comes next.

`store` keeps it in one file, `record` says what is kept, `outline` reads the course off its notebooks,
`overview` puts the two together. Notebooks call `reps("18")` at the end of a lesson and `progress()` in the
welcome. Widgets are imported only then: the command line and the server use the rest without them.

`review()` asks cards. `questions` reads them off lessons and `course/questions`, `terms` off the glossary,
`cards` puts them together, and `identity` knows each again after an edit. `history` keeps the ratings,
`schedule` says when a card comes again, `deck` which are due; `flashcards` shows them, `anki` exports them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lastgood.teaching.study.flashcards import Flashcards
    from lastgood.teaching.study.panel import Panel
    from lastgood.teaching.study.ticks import Ticks


def reps(lesson: str | int) -> Ticks:
    """A lesson's reps, each with a box to tick, and a box for the lesson itself.

    Args:
        lesson: its number, such as "18".

    Raises:
        WorkspaceError: the course is not where this notebook can find it.
        OutlineError: the course has no such lesson, or its notebook cannot be read.
    """
    from lastgood.teaching.study.ticks import Ticks, lesson_named

    return Ticks(lesson_named(lesson))


def progress() -> Panel:
    """The map of the course: what each lesson and lab takes, what is done, and what comes next.

    Raises:
        WorkspaceError: the course is not where this notebook can find it.
        OutlineError: a notebook of the course cannot be read.
    """
    from lastgood.teaching.study.panel import Panel, look_here

    return Panel(*look_here())


def review(lesson: str | int | None = None) -> Flashcards:
    """Cards to review: those that are due, or all questions of one lesson.

    Args:
        lesson: its number, such as "18".

    Raises:
        WorkspaceError: the course is not where this notebook can find it.
        DeckError: there are no cards for that lesson, or a question of the course cannot be read.
    """
    from lastgood.teaching.study.deck import Deck
    from lastgood.teaching.study.flashcards import Flashcards
    from lastgood.workspace import find_root

    return Flashcards(Deck(find_root(), lesson))
