"""Derive every committed notebook from its text twin, and say where the two have drifted apart.

    course/lessons/NAME.md        →  course/lessons/NAME.ipynb         (jupytext)
    solutions/LAB/LAB.py          →  solutions/LAB/LAB.ipynb           (jupytext)
    solutions/LAB/*               →  labs/LAB/*                        (nbgrader generate_assignment)
    autograder/mutants/LAB/*.py   →  autograder/mutants/LAB/README.md  (what the lab rejects and accepts)
    all questions                 →  course/cards.json                 (which is which, over edits)

`derived` computes what should stand there, as bytes; `build` writes it, `check` compares. nbgrader works on a
copy of the masters in a temporary course folder, with the course's own `nbgrader_config.py`, and without a
gradebook: what it makes is what a plain `nbgrader generate_assignment` at the root makes, byte for byte.
"""

import io
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder import lint, notebooks
from autograder.mutants.table import table
from lastgood.teaching.study import identity
from lastgood.teaching.study.cards import ledger
from lastgood.teaching.study.identity import IdentityError
from lastgood.teaching.study.outline import OutlineError
from lastgood.teaching.study.questions import QuestionError
from lastgood.teaching.study.terms import TermError

LESSONS = Path("course/lessons")
MASTERS = Path("solutions")
LABS = Path("labs")
VARIANTS = Path("autograder/mutants")
CONFIG = "nbgrader_config.py"
HINT = "run `autograder build`"


class BuildError(Exception):
    """A notebook cannot be built: `faults` says what is wrong in the file `path`, relative to the root."""

    def __init__(self, path: Path, faults: Iterable[str]) -> None:
        self.path = path
        self.faults = list(faults)
        super().__init__("\n".join(f"{path.as_posix()}: {fault}" for fault in self.faults))


def build(root: Path) -> list[Path]:
    """Write every derived file whose bytes differ; return those written, relative to `root`.

    Deletes nothing: `check` lists what has lost its twin. Raises `BuildError`.
    """
    changed = []
    for path, content in derived(root).items():
        target = root / path
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            changed.append(path)
    # Last: the questions are read from the notebooks.
    if _cards_drifted(root):
        (root / identity.LEDGER).write_text(_cards(root), encoding="utf-8")
        changed.append(identity.LEDGER)
    return changed


def check(root: Path) -> list[str]:
    """One line for each file that is not what its text twin makes; an empty list when all is in step.

    Raises `BuildError` where a twin cannot be built at all.
    """
    expected = derived(root)
    found = []
    for path, content in expected.items():
        target = root / path
        if not target.is_file():
            found.append(f"{path.as_posix()}: missing; {HINT}")
        elif target.read_bytes() != content:
            found.append(f"{path.as_posix()}: not what its text twin makes; edit the twin, then {HINT}")
    stray = sorted(_committed(root) - expected.keys())
    found += [f"{path.as_posix()}: has no text twin; delete it" for path in stray]
    # The questions are read from the notebooks: not while those are out of step.
    if not found and _cards_drifted(root):
        found.append(f"{identity.LEDGER.as_posix()}: not what the questions make; {HINT}")
    return found


def derived(root: Path) -> dict[Path, bytes]:
    """What should stand in the three folders: path relative to `root` → bytes. Raises `BuildError`."""
    files = {}
    for text in sorted((root / LESSONS).glob("*.md")):
        if text.name != "README.md":
            twin = text.relative_to(root)
            files[twin.with_suffix(".ipynb")] = _twin(root, twin, notebooks.lesson_notebook, lint.lint_lesson)
    masters = {}
    for text in sorted((root / MASTERS).glob("*/*.py")):
        if text.stem == text.parent.name:
            twin = text.relative_to(root)
            masters[twin] = _twin(root, twin, notebooks.master_notebook, lint.lint_master)
    files |= {twin.with_suffix(".ipynb"): content for twin, content in masters.items()}
    files |= _tables(root, masters)
    return files | (_released(root, masters) if masters else {})


def _cards(root: Path) -> str:
    """The ids of the questions as they stand, each the one it had before if it was edited a little."""
    try:
        return identity.as_text(ledger(root))
    except (IdentityError, OutlineError, QuestionError, TermError) as error:
        raise BuildError(identity.LEDGER, [str(error)]) from error


def _cards_drifted(root: Path) -> bool:
    path = root / identity.LEDGER
    before = path.read_text(encoding="utf-8") if path.is_file() else identity.as_text({})
    return before != _cards(root)


def _tables(root: Path, masters: Iterable[Path]) -> dict[Path, bytes]:
    """What each lab rejects and accepts, beside the variants that prove it."""
    labs = {twin.stem: root / twin for twin in masters}
    return {
        VARIANTS / lab / "README.md": table(lab, master.read_text(encoding="utf-8")).encode()
        for lab, master in labs.items()
        if (root / VARIANTS / lab).is_dir()
    }


def _twin(
    root: Path,
    twin: Path,
    read: Callable[[str], NotebookNode],
    judge: Callable[[NotebookNode], list[str]],
) -> bytes:
    """The bytes of the notebook that the text file `twin` makes."""
    notebook = read((root / twin).read_text(encoding="utf-8"))
    if faults := judge(notebook):
        raise BuildError(twin, faults)
    return _bytes(notebook, twin)


def _bytes(notebook: NotebookNode, twin: Path) -> bytes:
    try:
        return notebooks.to_bytes(notebook)
    except nbformat.ValidationError as error:
        raise BuildError(twin, [f"not a valid notebook: {error}"]) from error


def _released(root: Path, masters: dict[Path, bytes]) -> dict[Path, bytes]:
    """The files of `labs/`, made by nbgrader from the masters' notebooks."""
    if not (root / CONFIG).is_file():
        raise BuildError(Path(CONFIG), [f"missing in {root}; labs are made with the course's settings"])
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder).resolve()
        shutil.copy(root / CONFIG, course)
        for twin, content in masters.items():
            built = shutil.ignore_patterns("*.ipynb")
            shutil.copytree(root / twin.parent, course / twin.parent, ignore=built)
            (course / twin).with_suffix(".ipynb").write_bytes(content)
        for twin in masters:
            _generate_assignment(course, twin)
        made = sorted(path for path in (course / LABS).rglob("*") if path.is_file())
        files = {path.relative_to(course): path.read_bytes() for path in made}
    for path, content in files.items():
        _judge_release(path, content)
    return files


def _generate_assignment(course: Path, twin: Path) -> None:
    """Run nbgrader's generate_assignment on one lab of a temporary course, quietly unless it fails."""
    from nbgrader.converters import GenerateAssignment  # takes a second to import
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config.loader import PyFileConfigLoader

    config = PyFileConfigLoader(CONFIG, path=str(course)).load_config()
    config.CourseDirectory.root = str(course)
    config.GenerateAssignment.no_database = True  # as `nbgrader generate_assignment --no-db`
    config.SaveCells.enabled = False
    said = io.StringIO()
    log = logging.Logger("autograder.build", logging.INFO)  # its own, so that nothing reaches the terminal
    log.addHandler(logging.StreamHandler(said))
    folder = CourseDirectory(config=config, log=log, assignment_id=twin.parent.name)
    try:
        GenerateAssignment(coursedir=folder, config=config, log=log).start()
    except Exception as error:  # nbgrader raises what its preprocessors raise, of any type
        raise BuildError(twin, [f"generate_assignment failed: {error}\n{said.getvalue()}"]) from error


def _judge_release(path: Path, content: bytes) -> None:
    """The last gate before a learner sees a file: no master, no answer, no check of an undefined name."""
    lab = path.relative_to(LABS).parts[0]
    master = MASTERS / lab / f"{lab}.py"
    if path.name == master.name:
        raise BuildError(master, [f"released as {path.as_posix()} with its answers; see ignore in {CONFIG}"])
    if path.suffix == ".ipynb":
        released = nbformat.reads(content.decode(), as_version=4)
        if faults := lint.lint_release(released):
            raise BuildError(master, [f"once released, {fault}" for fault in faults])
    elif any(f"BEGIN {marker}".encode() in content for marker in lint.MARKERS):
        raise BuildError(MASTERS / path.relative_to(LABS), ["holds a solution region and would be released"])


def _committed(root: Path) -> set[Path]:
    """Files that only `build` should have put there: notebooks in all three folders, and all of `labs/`."""
    found = set[Path]()
    for folder, pattern in ((LESSONS, "*.ipynb"), (MASTERS, "*.ipynb"), (LABS, "*")):
        found |= {path.relative_to(root) for path in (root / folder).rglob(pattern) if path.is_file()}
    return {path for path in found if not any(part.startswith((".", "__")) for part in path.parts)}
