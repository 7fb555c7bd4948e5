"""Where the course lies on disk, and the copies that a learner works on.

What the course ships (`course/lessons`, `labs`, `glossary.md`) stays as it is. JupyterLab rewrites every
notebook that it opens, so learners open copies under `work/`, which git ignores and nothing here overwrites.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

LESSONS = Path("course/lessons")
LABS = Path("labs")
GLOSSARY = Path("glossary.md")
WORK = Path("work")
WELCOME = WORK / "lessons/00_welcome.ipynb"

# Links that the course's own files have to one another, and what they are from a folder of `work/`.
_LINKS = {
    b"](../../course/lessons/": b"](../lessons/",
    b"](../../glossary.md": b"](../glossary.md",
    b"](../../labs/": b"](../",
}
_LAB_NAME = re.compile(r"(?:lab)?[ _-]?(\d{1,2})", re.IGNORECASE)


class WorkspaceError(Exception):
    """The course, or a lab of it, is not where it should be; the message says what to do."""


@dataclass
class Started:
    """What `start` did, as paths relative to the course's root."""

    copied: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)


def find_root(start: Path | None = None) -> Path:
    """Return the folder that holds the course.

    It is the nearest one from `start` (the current folder) upward, so that with two clones the one you stand
    in counts; else the clone that this package was installed from.

    Raises:
        WorkspaceError: neither holds the course, as when only the wheel was installed.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, *Path(__file__).resolve().parents):
        if (folder / LESSONS).is_dir() and (folder / LABS).is_dir():
            return folder
    raise WorkspaceError(
        f"There is no course at {here} or above it: no folder there holds both {LESSONS} and {LABS}. "
        "Change to the folder that you cloned, then try again."
    )


def labs(root: Path) -> list[str]:
    """Return the names of the labs that the course ships, in order: `["lab18"]`."""
    folders = (root / LABS).glob("lab*")
    return sorted(folder.name for folder in folders if (folder / f"{folder.name}.ipynb").is_file())


def lab_name(root: Path, text: str) -> str:
    """Return the lab that `text` means: `18`, `lab18` and `Lab 18` all are `lab18`.

    Raises:
        WorkspaceError: the course has no such lab.
    """
    match = _LAB_NAME.fullmatch(text.strip())
    name = f"lab{int(match[1]):02d}" if match else text
    shipped = labs(root)
    if name not in shipped:
        known = ", ".join(lab.removeprefix("lab") for lab in shipped) or "none yet"
        raise WorkspaceError(f"There is no lab {text!r} in {root / LABS}. The labs there: {known}.")
    return name


def lab_notebook(name: str) -> Path:
    """Return where the learner's copy of a lab's notebook lies, relative to the course's root."""
    return WORK / name / f"{name}.ipynb"


def start(root: Path, only: Iterable[str] | None = None) -> Started:
    """Copy what a learner opens into `work/`: the lessons, the glossary, and the labs named (default: all).

    A file that is already there is kept, whatever it holds: it is the learner's.

    Raises:
        WorkspaceError: a copy could not be written.
    """
    started = Started()
    for source, target in _plan(root, labs(root) if only is None else list(only)):
        try:
            copied = _copy_new(root / source, root / target)
        except OSError as error:
            raise WorkspaceError(
                f"Could not copy {source} to {target} in {root}: {error.strerror or error}. "
                "See that the folder is yours to write to, and that the disk is not full."
            ) from error
        (started.copied if copied else started.kept).append(target)
    return started


def _plan(root: Path, names: list[str]) -> Iterator[tuple[Path, Path]]:
    """Yield (source, target) pairs relative to the root."""
    if (root / GLOSSARY).is_file():
        yield GLOSSARY, WORK / GLOSSARY.name
    folders = [(LESSONS, WORK / "lessons"), *((LABS / name, WORK / name) for name in names)]
    for source, target in folders:
        for file in sorted((root / source).rglob("*")):
            inside = file.relative_to(root / source)
            if file.is_file() and _travels(inside):
                yield source / inside, target / inside


def _travels(file: Path) -> bool:
    """Tell a lesson's notebook and pictures from its text twin and from caches."""
    hidden = any(part.startswith((".", "__")) for part in file.parts)
    return not hidden and file.suffix not in {".md", ".pyc"}


def _copy_new(source: Path, target: Path) -> bool:
    """Copy a file unless the target exists; False says it did."""
    # A link that leads nowhere, as to a disk that is not mounted, does not exist and is the learner's too.
    if target.exists() or target.is_symlink():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    partial.write_bytes(as_copied(source))
    # A rename, so that a copy that was interrupted is never taken for the learner's file.
    partial.rename(target)
    return True


def as_copied(source: Path) -> bytes:
    """Return a file's content as its copy has it: a notebook's links lead to copies of the course's files."""
    content = source.read_bytes()
    if source.suffix == ".ipynb":
        for shipped, copied in _LINKS.items():
            content = content.replace(shipped, copied)
    return content
