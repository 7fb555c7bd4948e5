"""Of what a cell put out: text, and pictures made of pixels. HTML, SVG, scripts and widgets are left out."""

from __future__ import annotations

from typing import Any, Final

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.inert.pictures import pixels

LEFT_OUT: Final = "(An output was left out here: it is neither text nor a picture made of pixels.)"


def inert(output: NotebookNode, report: str = "") -> NotebookNode:
    """The output, made anew. `report` is the HTML of our own report on this cell, which stays."""
    made: NotebookNode = _made_anew(output, report)
    return made


def _made_anew(output: NotebookNode, report: str) -> Any:
    if output.output_type == "stream":
        return new_output("stream", name=output.name, text=_text(output.text))
    if output.output_type == "error":
        trace = [_text(line) for line in output.traceback]
        return new_output("error", ename=_text(output.ename), evalue=_text(output.evalue), traceback=trace)
    data: dict[str, Any] = dict(pixels(output.data))
    if "text/plain" in output.data:
        data["text/plain"] = _text(output.data["text/plain"])
    if report and output.data.get("text/html") == report:
        data["text/html"] = report
    if not data:  # nbconvert warns of each output that it cannot show
        data["text/plain"] = LEFT_OUT
    if output.output_type == "execute_result":
        return new_output("execute_result", data=data, execution_count=output.execution_count)
    return new_output("display_data", data=data)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(map(str, value))
    return value if isinstance(value, str) else repr(value)
