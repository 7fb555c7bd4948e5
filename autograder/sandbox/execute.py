"""The preprocessor that runs a submission's cells, in place of nbgrader's `Execute`.

A notebook that ends early, for whatever reason, is a graded one. Cells keep what they earned, the cell in
which it ended says why, and cells after it say that they were not run. What they show is an error, which is
no points, so none passes by accident.
"""

import asyncio
import contextlib
import math
import os
import secrets
import time
from pathlib import Path
from queue import Empty
from typing import Any

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbclient.util import run_sync
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import Execute
from traitlets import Unicode

from autograder.sandbox import endings, warm
from autograder.sandbox.kernel import KernelError
from autograder.sandbox.manager import SandboxKernelManager
from autograder.sandbox.output import OF_A_NOTEBOOK, Meter, presentable
from autograder.sandbox.ready import SandboxError, require_sandbox
from autograder.sandbox.settings import Sandbox

WITHOUT = (
    "**Graded without the sandbox.** This notebook ran with all that the grader's own account may do. Its "
    "points are worth no more than the trust in its author."
)
_TRIES, _TRY_S = 20, 0.25
_LOOK_S = 0.1  # whether the kernel still runs, and has met no limit
_COUNTS = 10**6  # as high as a cell's number may be


class SandboxedExecute(Execute):  # type: ignore[misc]  # nbgrader has no types
    """Runs each cell in a kernel behind walls, or without where that is asked for: see `Sandbox`."""

    root = Unicode(".", help="The course's folder: nothing in it can be read, but what a kernel needs.").tag(
        config=True
    )

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sandbox = Sandbox(parent=self)
        self._ended: endings.Ending | None = None
        # A graded cell that is not run shows no error, which is full marks: no tag may keep it from running.
        self.skip_cells_with_tag = secrets.token_hex(16)
        if not self.sandbox.unsafe:
            self.shutdown_kernel = "immediate"  # what a kernel does at its exit is of no use inside

    def preprocess(
        self, nb: NotebookNode, resources: Any, km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run the notebook. Raises SandboxError where there is no sandbox, or no kernel started in it."""
        self._ended = None
        if self.sandbox.unsafe:
            nb, resources = super().preprocess(nb, resources, km)
            _mark(nb)
            return nb, resources
        require_sandbox()
        self._killed_processes = self._passed = 0
        self._deadline = math.inf  # until the first cell
        if _weight(Path(resources["metadata"]["path"])) > self.sandbox.scratch_bytes:
            return self._refuse(nb), resources
        try:
            nb, resources = super().preprocess(nb, resources, km)
        except (KernelError, RuntimeError) as error:
            if self.km is not None:
                run_sync(self.km.cleanup_resources)()
            raise SandboxError(f"The kernel did not start in the sandbox: {error}") from error
        if self._provisioner.abandoned:
            raise SandboxError("The process that makes kernels has ended, and the notebook's kernel with it.")
        for cell in nb.cells:
            if cell.cell_type == "code":
                _present(cell)  # again: a later cell may have replaced what an earlier one displayed
        return nb, resources

    def create_kernel_manager(self) -> Any:
        """The manager of the kernel to be. The notebook has no say in which that is."""
        if self.sandbox.unsafe:
            return super().create_kernel_manager()
        self.km = SandboxKernelManager(root=Path(self.root), parent=self)
        self.km.provisioner.kernels, self.km.provisioner.notebook = warm.shared(), self.nb
        self._provisioner = self.km.provisioner
        return self.km

    def preprocess_cell(self, cell: NotebookNode, resources: Any, index: int) -> tuple[NotebookNode, Any]:
        """Run a cell; whatever it does, the cell says what became of it."""
        if self.sandbox.unsafe:
            return super().preprocess_cell(cell, resources, index)  # type: ignore[no-any-return]
        if cell.cell_type != "code":
            return cell, resources
        if self._ended is not None:
            endings.skip(cell, self._ended)
            return cell, resources
        if self._deadline == math.inf:
            self._deadline = time.monotonic() + self.sandbox.notebook_seconds
            self._provisioner.deadline = self._deadline
        self._meter = Meter(self._output_bytes(cell))
        self._timed_out = False
        self._pending: asyncio.Future[None] | None = None
        self._polling: asyncio.Task[None] | None = None
        error = None
        try:
            super().preprocess_cell(cell, resources, index)
        except Exception as caught:  # what the learner's kernel sends decides of what kind
            error = caught
        run_sync(self._look_after)(cell, error)
        self._count_output(cell)
        _present(cell)
        return cell, resources

    def _output_bytes(self, cell: NotebookNode) -> int:
        """What a cell may put out: its own share, or what is left of the notebook's."""
        left = OF_A_NOTEBOOK * self.sandbox.output_bytes - self._passed
        return max(0, min(self.sandbox.output_bytes, left))

    def _count_output(self, cell: NotebookNode) -> None:
        """Add what a cell has put out to the notebook's."""
        self._passed += self._meter.passed

    def process_message(
        self, msg: dict[str, Any], cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """Take a message of the kernel's, unless the cell has put out too much already."""
        if self.sandbox.unsafe or msg["msg_type"] in ("status", "execute_input"):
            return super().process_message(msg, cell, cell_index)  # type: ignore[no-any-return]
        first = not self._meter.over
        self._meter.take(msg)
        if not self._meter.over:
            return super().process_message(msg, cell, cell_index)  # type: ignore[no-any-return]
        assert self.km is not None
        if self._meter.flooded:
            self.km.provisioner.ending = endings.too_much_output(self.sandbox)
            self._pending = asyncio.ensure_future(self.km.provisioner.kill())
        elif first:
            self._pending = asyncio.ensure_future(self.km.interrupt_kernel())
        return None

    def _get_timeout(self, cell: NotebookNode | None) -> float | None:
        """The cell's time, or what is left of the notebook's."""
        limit = super()._get_timeout(cell)
        if self.sandbox.unsafe or self._deadline == math.inf:
            return limit  # type: ignore[no-any-return]
        left = max(0.5, self._deadline - time.monotonic())
        return left if limit is None else min(limit, left)

    async def _async_handle_timeout(self, timeout: float, cell: NotebookNode | None = None) -> Any:
        self._timed_out = True
        return await super()._async_handle_timeout(timeout, cell)

    async def _async_poll_kernel_alive(self) -> None:
        """As nbclient's, which looks once a second."""
        if self.sandbox.unsafe:
            await super()._async_poll_kernel_alive()
            return
        self._polling = asyncio.current_task()
        with contextlib.suppress(DeadKernelError):
            while True:
                await asyncio.sleep(_LOOK_S)
                await self._async_check_alive()
        assert self.task_poll_for_reply is not None
        self.task_poll_for_reply.cancel()

    async def _look_after(self, cell: NotebookNode, error: Exception | None) -> None:
        """After a cell: is there still a kernel, and what limits did the cell meet?

        `error` is what nbclient made of a kernel that did not do as a kernel does.
        """
        assert self.km is not None
        provisioner = self.km.provisioner
        if self._polling is not None:
            self._polling.cancel()  # nbclient leaves it running where a cell did not end well
        if self._pending is not None:
            await self._pending
        alive = await self.km.is_alive()
        if self._meter.over and alive and error is None:
            endings.stop_output(cell, self.sandbox, self._meter.limit)
        elif isinstance(error, CellTimeoutError) and alive and not self._timed_out:
            endings.lose_output(cell)  # it has finished, and its last messages did not come
            await self._listen_again()
        elif error is not None or not alive:
            await self._end(cell, provisioner.ending)
            return
        if provisioner.killed_processes > self._killed_processes:
            endings.note_killed_process(cell, self.sandbox)
        self._killed_processes = provisioner.killed_processes
        endings.explain(cell, self.sandbox)

    async def _listen_again(self) -> None:
        """Connect anew to what the kernel puts out: a connection on which too much came stays closed."""
        assert self.kc is not None
        self.kc.iopub_channel.stop()
        self.kc._iopub_channel = None
        for _ in range(_TRIES):
            self.kc.kernel_info()  # it is put out too that the kernel works on that
            with contextlib.suppress(Empty):
                await self.kc.iopub_channel.get_msg(timeout=_TRY_S)
                return

    async def _end(self, cell: NotebookNode, ending: endings.Ending | None) -> None:
        """The notebook is over. Kill its kernel, and say in the cell why."""
        assert self.km is not None
        if ending is None and time.monotonic() > self._deadline:
            ending = endings.out_of_time(self.sandbox)
        elif ending is None and self._meter.over:
            ending = endings.too_much_output(self.sandbox)
        elif ending is None and self._timed_out:
            ending = endings.never_interrupted(self.timeout)
        elif ending is None:
            ending = endings.not_understood()
        self.log.warning("The notebook was stopped: %s", ending.after)
        self._ended = ending
        await self.km.provisioner.kill()
        endings.stop(cell, ending)

    def _refuse(self, nb: NotebookNode) -> NotebookNode:
        """Run nothing of a notebook whose files are too large."""
        ending = endings.too_many_files(self.sandbox)
        for cell in nb.cells:
            if cell.cell_type == "code":
                endings.skip(cell, ending)
        return nb


def _present(cell: NotebookNode) -> None:
    """Leave in a cell that was run what a notebook can hold: the kernel chose all of it."""
    count = cell.get("execution_count")
    cell.execution_count = count if type(count) is int and 0 <= count < _COUNTS else None
    shown = [presentable(output) for output in cell.outputs]
    cell.outputs = [output for output in shown if output is not None]
    if None in shown:
        endings.drop_output(cell)


def _mark(nb: NotebookNode) -> None:
    """Say at the top of a notebook that it ran without the sandbox."""
    cell = new_markdown_cell(WITHOUT)
    if (nb.nbformat, nb.nbformat_minor) < (4, 5):
        del cell["id"]
    nb.cells.insert(0, cell)


def _weight(folder: Path) -> int:
    """Bytes of the regular files in a folder."""
    files = (Path(at, name) for at, _, names in os.walk(folder or ".") for name in names)
    return sum(file.lstat().st_size for file in files if file.is_file() and not file.is_symlink())
