"""Of outputs, text and pixels stay; of files, regular ones are copied."""

import base64
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from autograder.inert.files import copy_regular_files_only, regular_only
from autograder.inert.outputs import inert
from autograder.inert.preprocessor import REPORTS, Inert

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\x00" * 8).decode()
REPORT = "<div class='lastgood-report'>2 of 2</div>"


@pytest.mark.parametrize(
    "data",
    [
        {"text/html": "<script>alert(1)</script>"},
        {"image/svg+xml": "<svg onload='alert(1)'/>"},
        {"application/javascript": "alert(1)"},
        {"text/markdown": "<script>alert(1)</script>"},
        {"text/latex": r"\href{javascript:alert(1)}{x}"},
        {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}},
        {"image/png": base64.b64encode(b"<script>alert(1)</script>").decode()},
        {"image/png": f'{PNG}" onerror="alert(1)'},
        {"image/jpeg": PNG},
    ],
)
def test_what_could_act_is_left_out_and_its_text_stays(data: dict[str, Any]) -> None:
    output = new_output("display_data", data={"text/plain": "<Figure>", **data}, metadata={"isolated": True})
    assert inert(output) == new_output("display_data", data={"text/plain": "<Figure>"})


def test_text_and_pixels_stay() -> None:
    picture = new_output("display_data", data={"text/plain": "a figure", "image/png": f"{PNG}\n"})
    assert inert(picture).data == {"text/plain": "a figure", "image/png": PNG}
    for output in (
        new_output("stream", name="stdout", text="<b>step 7</b>\n"),
        new_output("error", ename="ValueError", evalue="<i>", traceback=["\x1b[31mValueError\x1b[0m: <i>"]),
        new_output("execute_result", data={"text/plain": "3.5"}, execution_count=4),
    ):
        assert inert(output) == output


def test_only_the_judges_own_report_is_html() -> None:
    shown = {"text/plain": "2", "text/html": REPORT}
    result = new_output("execute_result", data=shown, execution_count=1)
    assert inert(result, REPORT).data == shown
    assert inert(result).data == {"text/plain": "2"}
    forged = new_output("execute_result", data={**shown, "text/html": f"{REPORT}<script>"}, execution_count=1)
    assert inert(forged, REPORT).data == {"text/plain": "2"}


def test_a_whole_notebook_is_made_inert_but_for_the_instructors_prose(tmp_path: Path) -> None:
    prose = "<details><summary>Hint</summary>\n\nLook at **both**.\n\n</details>"
    (tmp_path / "lab18").mkdir()
    nbformat.write(new_notebook(cells=[new_markdown_cell(prose)]), tmp_path / "lab18" / "lab18.ipynb")
    graded = {"grade_id": "check-mask", "grade": True, "points": 2}
    report = new_output("execute_result", data={"text/plain": "2", "text/html": REPORT}, execution_count=1)
    nb = new_notebook(
        cells=[
            new_markdown_cell(prose),
            new_markdown_cell(prose + "<script>", attachments={"x.svg": {"image/svg+xml": "<svg>"}}),
            new_raw_cell("<script>alert(1)</script>", metadata={"raw_mimetype": "text/html"}),
            new_code_cell(
                "check.mask(mask)", metadata={"nbgrader": graded, "tags": ["<script>"]}, outputs=[report]
            ),
            new_code_cell("1", outputs=[report], metadata={"mine": "<script>"}),
        ],
        metadata={
            "title": "<script>",
            "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}}},
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "language_info": {"name": "<script>"},
        },
    )
    about = {"assignment": "lab18", "notebook": "lab18"}
    nb, _ = Inert(release=str(tmp_path)).preprocess(nb, {"nbgrader": about, REPORTS: {"check-mask": REPORT}})
    nbformat.validate(nb)
    assert nb.cells[0].source == prose
    assert "attachments" not in nb.cells[1]
    assert [cell.cell_type for cell in nb.cells] == ["markdown"] * 3 + ["code"] * 2
    assert nb.cells[3].outputs[0].data["text/html"] == REPORT
    assert "text/html" not in nb.cells[4].outputs[0].data
    assert nb.cells[3].metadata == {"nbgrader": graded}
    assert set(nb.metadata) == {"kernelspec", "language_info"}
    assert "<script" not in nbformat.writes(nb)


def test_links_pipes_and_folders_are_not_files_to_copy(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "secret").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    everything = [str(path) for path in tmp_path.iterdir()]
    assert regular_only(lambda: everything)() == [str(tmp_path / "notes.txt")]


def test_nbgrader_copies_regular_files_only(tmp_path: Path) -> None:
    copy_regular_files_only()
    copy_regular_files_only()
    from nbgrader.converters import base

    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "gradebook.db").symlink_to("/etc/hostname")
    assert base.find_all_files(str(tmp_path), []) == [str(tmp_path / "notes.txt")]
