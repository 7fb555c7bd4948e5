"""How much a cell has put out, and whether what it put out can stand in a notebook."""

import json
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import NotebookNode

OF_A_NOTEBOOK = 20  # times what a cell may put out, all of a notebook's cells together may
_PASSING = 20  # so much more than the limit may pass by, as pictures that are drawn anew do
_FLOOD = 32 * 10**6  # bytes after the limit at which the kernel is no longer waited for


@dataclass
class Meter:
    """Counts a cell's messages against a limit in bytes. `over` stays True once the limit was met."""

    limit: int
    over: bool = False
    kept: int = 0
    passed: int = 0

    def take(self, message: dict[str, Any]) -> None:
        """Count a message of the kernel's."""
        count, kind = weight(message["content"]), message["msg_type"]
        count += sum(memoryview(part).nbytes for part in message.get("buffers") or ())
        self.passed += count
        if kind == "clear_output":
            self.kept = 0
        elif kind != "update_display_data":  # it takes another's place
            self.kept += count
        self.over = self.over or self.kept > self.limit or self.passed > _PASSING * self.limit

    @property
    def flooded(self) -> bool:
        """Whether the kernel goes on as if it had not been interrupted."""
        return self.passed > _PASSING * self.limit + _FLOOD


def weight(value: Any) -> int:
    """About how many bytes plain data takes."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(weight(key) + weight(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return sum(map(weight, value))
    return 8


def presentable(output: NotebookNode) -> NotebookNode | None:
    """The output as it can be written to a file; None where no notebook may hold it."""
    try:
        text = json.dumps(output, ensure_ascii=False).encode("utf-8", errors="replace").decode()
        mended: NotebookNode = nbformat.from_dict(json.loads(text))
        nbformat.validate(mended, ref="output", version=4)
    except (ValueError, RecursionError, nbformat.ValidationError):
        return None
    if mended.output_type == "stream" and isinstance(mended.text, list):  # as files have it, and kernels not
        mended.text = "".join(mended.text)
    return mended
