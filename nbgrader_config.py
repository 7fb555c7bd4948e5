"""nbgrader's configuration: plain `nbgrader …` commands and the Formgrader work from this folder.

    nbgrader generate_assignment lab18 --force
    nbgrader autograde lab18
    nbgrader generate_feedback lab18
    nbgrader export

The masters stand in `solutions/`, what learners get in `labs/`; `submitted/`, `autograded/`, `feedback/`,
`gradebook.db` and `exchange/` appear here while a class is graded and are ignored by git.
"""

from contextlib import suppress
from pathlib import Path

from autograder.converter import adopt
from autograder.inert.files import copy_regular_files_only
from autograder.nbgrader_env import activate
from autograder.sandbox.ready import before_grading

# nbgrader starts `alembic` by name when it makes a gradebook: it must be found even where the environment
# is not activated, in the Formgrader too.
activate()
copy_regular_files_only()
adopt()

root = Path(__file__).resolve().parent
c = get_config()  # noqa: F821 - traitlets puts it into this file's namespace

# --- the course -------------------------------------------------------------------------------------------
c.CourseDirectory.course_id = "lastgood"
c.CourseDirectory.root = str(root)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "labs"
c.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}"
# SQLite is one file and lets one grader write at a time. Several graders, each on a machine of their own,
# share a gradebook in PostgreSQL:
#     .venv/bin/pip install --editable '.[postgres]'
# and in every grader's copy of this file, before the first release, in place of the line above:
#     c.CourseDirectory.db_url = "postgresql+psycopg://grader@db.example.org/lastgood"
# The password belongs in ~/.pgpass, which the driver reads, not in this file: that is in git.
# nbgrader copies what stands beside a notebook. `lab*.py` are the masters with their answers: they must never
# travel. Setting `ignore` replaces nbgrader's own list, so its entries are repeated.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints",
    "*.pyc",
    "__pycache__",
    "feedback",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    "lab*.py",
]

# --- the exchange: one machine, one account -----------------------------------------------------------------
# nbgrader's default stands outside the repository and is seldom writable; the Formgrader then warns. A class
# on a shared machine points this at a folder that everybody can write to (or uses ngshare).
exchange = root / "exchange"
# nbgrader opens it to everybody when the first assignment is released; until then it is the owner's.
with suppress(OSError):  # a read-only checkout: nbgrader itself says which folder it cannot write
    exchange.mkdir(exist_ok=True)
c.Exchange.root = str(exchange)
# Learners work in work/labNN, so `nbgrader fetch_assignment` and `nbgrader submit` look there.
c.Exchange.assignment_dir = str(root / "work")

# --- what learners see in place of an answer ----------------------------------------------------------------
c.ClearSolutions.code_stub = {
    "python": '# YOUR CODE HERE\nraise NotImplementedError("write this part, then delete this line")'
}
c.ClearSolutions.text_stub = "YOUR ANSWER HERE (double-click to write)"

# --- running notebooks --------------------------------------------------------------------------------------
# Seconds a cell. A check takes under 3; the rest is room for a slow or busy machine.
c.Execute.timeout = 60
# Seconds that a cell which was interrupted may take to end; then its kernel is killed.
c.Execute.iopub_timeout = 10

# --- the sandbox, see `autograder doctor` -------------------------------------------------------------------
# Validate runs a learner's notebook in the learner's own kernel. Grading runs it behind walls, judges outside
# them, and leaves text and pixels of what the learner wrote. This is nbgrader's own list but for two of them.
c.Autograde.autograde_preprocessors = [
    "autograder.judge.execute.JudgedExecute",  # in Execute's place
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "autograder.inert.preprocessor.Inert",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.pre_convert_hook = before_grading(c)
c.SandboxedExecute.root = str(root)
c.Inert.release = str(root / "labs")
c.Sandbox.memory_bytes = 2 * 2**30
c.Sandbox.processes = 128  # threads count too
c.Sandbox.disk_bytes = 200 * 10**6
c.Sandbox.output_bytes = 10**6  # of a cell
c.Sandbox.notebook_seconds = 600
# c.Sandbox.unsafe = True  # grade without the sandbox, with a line in each report that says so

# --- the Formgrader -----------------------------------------------------------------------------------------
# By default its first page prints the whole configuration, the server's token included.
c.FormgradeExtension.debug = False
