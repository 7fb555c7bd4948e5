"""What the course adds to JupyterLab's server, asked over HTTP: Validate, its doors, read-only originals."""

import asyncio
import concurrent.futures
import dataclasses
import json
import os
import select
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, build_opener

import nbgrader
import pytest

from lastgood.server.doors import INSTRUCTOR, LEARNER
from lastgood.server.validation import validate
from lastgood.workspace import start

REPORT = """\
from IPython.display import HTML, display
from lastgood.teaching.checks.report import Report, deliver, part

right, wrong = part("the loss", 1, ""), part("the mask", 1, "row 3 sees row 4")
def crash():
    display(HTML("<b>a table</b>"))
    return {}["no such key"]
"""


def validated(jupyter, name):
    return json.loads(jupyter.ask(f"assignments/validate?path=work/{name}", post=True))


def test_each_cell_that_fails_is_told_with_what_it_showed(jupyter, notebooks):
    cells = [
        notebooks.graded("assert True"),
        notebooks.graded("raise ValueError('fewer than 3 < 4')"),
        notebooks.graded("Report('1', (right, wrong))", points=2),
        notebooks.graded("deliver(Report('2', (wrong,)))"),
        notebooks.graded("crash()"),
        notebooks.graded("import sys; print('a warning', file=sys.stderr)"),
    ]
    notebooks.write(jupyter.root / "work/kinds.ipynb", notebooks.code(REPORT), *cells)

    answer = validated(jupyter, "kinds.ipynb")

    assert answer["success"]
    failed = answer["value"]["failed"]
    assert [cell["source"] for cell in failed] == [cell.source for cell in cells[1:]]
    error, partial, report, crash, noise = (cell["error"] for cell in failed)
    assert "ValueError" in error
    assert "fewer than 3 &lt; 4" in error
    assert "1: 1 of 2 points</strong>" in partial
    assert "Partial" not in partial
    assert "2: 0 of 1 points</strong>" in report
    assert "LOST" not in report  # so says the plain text
    assert "LOST the mask" in failed[2]["raw_error"]
    assert "<b>a table</b>" in crash
    assert "no such key" in crash
    assert "a warning" in noise
    assert "stderr" in noise


def test_validate_keeps_the_points_of_a_learners_copy_of_a_lab(jupyter):
    start(jupyter.root)
    assert validated(jupyter, "lab18/lab18.ipynb")["value"]["failed"]
    kept = json.loads((jupyter.home / "progress.json").read_text())["labs"]
    assert kept.keys() == {"lab18"}
    assert kept["lab18"]["exercises"] == {"assert-answer-42": {"earned": 0, "possible": 1}}


def test_the_server_answers_others_while_it_validates(jupyter, notebooks):
    work = jupyter.root / "work"
    work.mkdir(exist_ok=True)
    begun, go = pipe(work / "begun"), pipe(work / "go")
    waits = notebooks.graded("open('begun', 'w').write('!')\nopen('go').read(1)")
    notebooks.write(work / "long.ipynb", waits)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        try:
            validating = pool.submit(validated, jupyter, "long.ipynb")
            assert select.select([begun], [], [], 60)[0], "the notebook was never run"
            assert json.loads(jupyter.ask("api/status", timeout=20))["connections"] == 0
            assert not validating.done()
        finally:
            os.write(go, b"!")
        assert validating.result() == {"success": True, "value": {}}
    os.close(begun)
    os.close(go)


@pytest.mark.parametrize(
    ("path", "status"), [("../outside.ipynb", 403), ("work/../../outside.ipynb", 403), ("glossary.md", 400)]
)
def test_only_notebooks_of_the_course_are_validated(jupyter, path, status):
    with pytest.raises(HTTPError) as raised:
        jupyter.ask(f"assignments/validate?path={path}", post=True)
    raised.value.close()
    assert raised.value.code == status


def test_a_missing_notebook_is_told_in_plain_words(jupyter):
    answer = validated(jupyter, "nowhere.ipynb")
    assert not answer["success"]
    assert "There is no notebook at" in answer["value"]


@pytest.mark.parametrize(("version", "success"), [(nbgrader.__version__, True), ("0.1", False)])
def test_the_button_learns_whether_it_is_of_the_installed_nbgrader(jupyter, version, success):
    answer = json.loads(jupyter.ask(f"nbgrader_version?version={version}"))
    assert answer["success"] is success
    assert success or nbgrader.__version__ in answer["message"]


@pytest.mark.parametrize(
    ("door", "page"),
    [
        (LEARNER, "lab/workspaces/lastgood/tree/work/lessons/00_welcome.ipynb?reset&file-browser-path=/work"),
        (INSTRUCTOR, "lab?reset&formgrader=true"),
    ],
)
def test_the_address_that_is_printed_leads_to_the_page_where_one_begins(jupyter, door, page):
    start(jupyter.root)
    # As Jupyter prints it, opened in a browser that was never here.
    browser = build_opener(HTTPCookieProcessor())
    with browser.open(f"{jupyter.url}{door}?token={jupyter.token}") as answer:
        assert answer.url == f"{jupyter.url}{page}"
        assert b"jupyter-config-data" in answer.read()


def test_strangers_are_refused(jupyter):
    with pytest.raises(HTTPError) as raised:
        dataclasses.replace(jupyter, token="wrong").ask("nbgrader_version?version=1")
    raised.value.close()
    assert raised.value.code == 403


@pytest.mark.parametrize(("path", "writable"), [("labs/lab18/lab18.ipynb", False), ("work/mine.ipynb", True)])
def test_what_the_course_ships_is_read_only_and_copies_are_not(jupyter, notebooks, path, writable):
    notebooks.write(jupyter.root / "work/mine.ipynb")
    assert json.loads(jupyter.ask(f"api/contents/{path}?content=0"))["writable"] is writable


def test_a_run_that_is_given_up_takes_its_kernel_along(course, notebooks):
    begun = pipe(course / "begun")
    source = "import os\nopen('begun', 'w').write(str(os.getpid()))\nwhile True: pass"
    endless = notebooks.write(course / "endless.ipynb", notebooks.graded(source))

    async def give_up() -> int:
        run = asyncio.create_task(validate(endless, course))
        started = asyncio.Event()
        asyncio.get_running_loop().add_reader(begun, started.set)
        await asyncio.wait_for(started.wait(), 60)
        kernel = int(os.read(begun, 20))
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return kernel

    kernel = asyncio.run(give_up())
    os.close(begun)
    with pytest.raises(ProcessLookupError):
        os.kill(kernel, 0)


def pipe(path: Path) -> int:
    """Make a named pipe and open it at both ends, so that neither side waits for the other to open it."""
    os.mkfifo(path)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK)
