"""Why a notebook was stopped, and what limit a cell met: in words for the notebook's author."""

from collections.abc import Iterable
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.sandbox.output import OF_A_NOTEBOOK
from autograder.sandbox.settings import Sandbox, duration, size

STOPPED = "Stopped"  # what the error of a cell is called that the sandbox stopped, or did not start


@dataclass(frozen=True)
class Ending:
    """`cell` is said of the cell in which the notebook ended, `after` of those that follow."""

    cell: str
    after: str


def out_of_memory(sandbox: Sandbox) -> Ending:
    """The kernel itself was killed for memory."""
    limit = size(sandbox.memory_bytes)
    return Ending(
        f"The notebook was stopped in this cell: its processes and files needed more than the {limit} "
        "of memory that it may have. Look for what grows with each step, or for copies that are kept.",
        f"the notebook had needed more than {limit} of memory",
    )


def out_of_processes(sandbox: Sandbox) -> Ending:
    """A fork was refused."""
    return Ending(
        f"The notebook was stopped in this cell: it started more than the {sandbox.processes} processes and "
        "threads that it may have at once. Look for a loop that starts them, or for ones that never end.",
        f"the notebook had started more than {sandbox.processes} processes and threads",
    )


def out_of_time(sandbox: Sandbox) -> Ending:
    """The time of the whole notebook is over."""
    limit = duration(sandbox.notebook_seconds)
    return Ending(
        f"The notebook was stopped in this cell: a whole notebook may take {limit}, and they were over. "
        "Look for cells that train longer than the exercise asks for.",
        f"the notebook's {limit} were over",
    )


def never_interrupted(seconds: float) -> Ending:
    """The cell's time was over, and the kernel did not let itself be interrupted."""
    limit = duration(seconds)
    return Ending(
        f"The notebook was stopped in this cell: it still ran after {limit}, and its code ignored or caught "
        "the interrupt. Look for a loop without end around `except:` or `except KeyboardInterrupt:`.",
        f"an earlier cell still ran after {limit} and could not be interrupted",
    )


def died(status: int | None) -> Ending:
    """The kernel ended by itself."""
    how = "" if status is None else f" with exit status {status}"
    return Ending(
        f"Python ended in this cell{how}, and with it the notebook. Look for `exit`, `os._exit`, a signal, "
        "or a crash of a library.",
        "Python had ended in an earlier cell",
    )


def too_much_output(sandbox: Sandbox) -> Ending:
    """A cell went on putting out after it was interrupted."""
    return Ending(
        _much(sandbox) + " It went on after it was interrupted, so the notebook was stopped.",
        "an earlier cell did not cease to put out",
    )


def not_understood() -> Ending:
    """The kernel sent what no kernel sends, or did not send what each does."""
    return Ending(
        "The notebook was stopped in this cell: Python ran on, but its answers to the notebook were missing "
        "or not what they should be. Look for code that closes files or threads it did not open.",
        "Python no longer answered after an earlier cell",
    )


def too_many_files(sandbox: Sandbox) -> Ending:
    """What was handed in does not fit on the notebook's disk: nothing is run."""
    reason = f"the files that were handed in are larger than the {size(sandbox.scratch_bytes)} that fit"
    return Ending(f"Nothing was run: {reason}. Hand in the notebook without its data.", reason)


def stop(cell: NotebookNode, ending: Ending) -> None:
    """Say in a cell that the notebook ended there."""
    _fail(cell, ending.cell)


def skip(cell: NotebookNode, ending: Ending) -> None:
    """Say in a cell that it was not run, whatever stood there."""
    cell.outputs, cell.execution_count = [], None
    _fail(cell, f"This cell was not run: {ending.after}.")


def stop_output(cell: NotebookNode, sandbox: Sandbox, left: int) -> None:
    """Say in a cell that it was stopped for its output. The notebook goes on.

    `left` is how many bytes the cell had, of what the whole notebook may put out.
    """
    total = OF_A_NOTEBOOK * sandbox.output_bytes
    whose = (
        f"This cell was stopped: the notebook had put out {size(total)} before it, and may put out no more."
    )
    _fail(cell, (_much(sandbox) if left >= sandbox.output_bytes else whose) + " The rest was dropped.")


def lose_output(cell: NotebookNode) -> None:
    """Say in a cell that its last messages never came. The notebook goes on."""
    _fail(
        cell,
        "This cell ran to its end, and its output could not be read: a single output was too large, or code "
        "closed what it is sent through.",
    )


def drop_output(cell: NotebookNode) -> None:
    """Say in a cell that an output was no output of a notebook's. The notebook goes on."""
    _fail(cell, "An output of this cell was left out: it is not what a notebook can hold.")


def note_killed_process(cell: NotebookNode, sandbox: Sandbox) -> None:
    """Say in a cell that one of its processes was killed. It is for the cell's own check to judge that."""
    limit = size(sandbox.memory_bytes)
    text = f"A process of this cell was killed: all of the notebook's together needed more than {limit}.\n"
    cell.outputs.append(new_output("stream", name="stdout", text=text))


def explain(cell: NotebookNode, sandbox: Sandbox) -> None:
    """Add to errors that a limit causes what the limit is."""
    limits = (
        (("No space left on device",), f"A notebook may have {size(sandbox.disk_bytes)} on disk"),
        (
            ("MemoryError", "can't allocate memory"),
            f"A notebook may use {size(sandbox.memory_bytes)} of memory",
        ),
        (("Network is unreachable", "Temporary failure in name resolution"), "There is no network"),
    )
    for error in _errors(cell):
        said = f"{error.ename}: {error.evalue}"
        for signs, limit in limits:
            if any(sign in said for sign in signs):
                error.traceback.append(f"{limit} while it is graded.")


def _much(sandbox: Sandbox) -> str:
    return f"This cell was stopped: it put out more than {size(sandbox.output_bytes)}."


def _errors(cell: NotebookNode) -> Iterable[NotebookNode]:
    return [output for output in cell.outputs if output.output_type == "error"]


def _fail(cell: NotebookNode, text: str) -> None:
    cell.outputs.append(new_output("error", ename=STOPPED, evalue=text, traceback=[text]))
