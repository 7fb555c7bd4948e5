"""The formats by name, for `autograder export`."""

from collections.abc import Sequence
from typing import Any

from traitlets import TraitError

from autograder.course import Course
from autograder.export.base import Exported, Exporter
from autograder.export.canvas import CanvasExporter
from autograder.export.errors import ExportError
from autograder.export.moodle import MoodleExporter
from autograder.export.sheet import SheetExporter

FORMATS: dict[str, type[Exporter]] = {
    "canvas": CanvasExporter,
    "moodle": MoodleExporter,
    "csv": SheetExporter,
}


def export(
    course: Course, lab: str, name: str, *, to: str = "", students: Sequence[str] = (), **options: Any
) -> Exported:
    """Write a lab's scores in the format `name`; `options` are traits of its exporter, None for the default.

    Raises ExportError where the format, an option or the grades do not allow it, CourseError where there is
    no course.
    """
    if name not in FORMATS:
        raise ExportError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
    kind = FORMATS[name]
    given = {option: value for option, value in options.items() if value is not None}
    if strange := sorted(set(given) - set(kind.class_trait_names())):
        flags = ", ".join(f"--{option.replace('_', '-')}" for option in strange)
        raise ExportError(f"{flags}: not an option of the format {name}")
    try:
        exporter = kind(config=course.config, to=to, assignment=[lab], student=list(students), **given)
    except TraitError as error:
        raise ExportError(str(error)) from error
    with course.gradebook() as gradebook:
        return exporter.write(gradebook)
