"""Lessons: their shape, their questions, their links, their numbers, their length, and that they run."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import nbclient
import pytest
from nbformat import NotebookNode

from autograder.notebooks import lesson_notebook
from lastgood.recovery import interval
from lastgood.teaching.study.ticks import lesson_named
from lastgood.training.run import Run

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "course/lessons"
WELCOME = FOLDER / "00_welcome.md"
ALL = sorted(FOLDER.glob("[0-9][0-9]_*.md"))
LESSONS = [path for path in ALL if path != WELCOME]
LEDGER = ROOT / "tests/lesson_numbers.toml"

PARTS = ["Warm-up", "Know this", "Practice", "Real-world reps", "Going further"]
CARDS = r"from lastgood\.teaching\.study import review"
FENCE = re.compile(r"^```.*?^```\n?", re.DOTALL | re.MULTILINE)
QUESTION = re.compile(
    r"^▢ (?P<question>[^\n]+)\n\n<details><summary>Check</summary>\n\n(?P<answer>.+?)\n\n</details>$",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:,\d{3})*(?:\.\d+)?")
NAMES = re.compile(r"(?i)\b(?:lesson|lab|section) \d[\d.]*|Llama 3(?: 405B)?|<[^>]*>|`[^`]*`")

each = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
each_and_welcome = pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)


def prose(path: Path) -> str:
    """What a person reads: no header, no code, no addresses."""
    text = path.read_text(encoding="utf-8").removeprefix("---\n")
    text = text[text.find("\n---\n") + 1 :] if text.startswith("jupyter:") else text
    return LINK.sub(lambda link: link[0].partition("](")[0] + "]", FENCE.sub("", text))


def sections(text: str, level: int) -> dict[str, str]:
    """Heading → what stands under it, for headings of exactly this level."""
    pieces = re.split(rf"^{'#' * level} (.+)$", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def test_there_are_lessons_to_look_at() -> None:
    assert WELCOME.is_file()
    assert LESSONS


@each
def test_a_lesson_has_its_parts_in_their_order(path: Path) -> None:
    text = prose(path)
    assert list(sections(text, 2)) == PARTS
    head = text.partition("\n## ")[0]
    labels = re.findall(r"^\*\*([^*]+)\.\*\*", head, flags=re.MULTILINE)
    assert labels == ["Mission", "Primary source", "Prerequisites", "Time"]
    assert "https://" in path.read_text().split("**Primary source.**")[1].split("\n")[0]


@each
def test_a_lesson_has_two_questions_to_warm_up_three_sections_and_three_to_practise(path: Path) -> None:
    parts = sections(prose(path), 2)
    assert parts["Warm-up"].count("▢") == 2
    assert parts["Practice"].count("▢") == 3
    assert len(sections(parts["Know this"], 3)) == 3
    assert len(re.findall(r"^- \[ \] ", parts["Real-world reps"], flags=re.MULTILINE)) == 3
    assert "open an issue" in parts["Going further"]


@each
def test_a_lessons_reps_end_with_the_boxes_to_tick(path: Path) -> None:
    number, text = path.name[:2], path.read_text(encoding="utf-8")
    cell = f'```python\nfrom lastgood.teaching.study import reps\n\nreps("{number}")\n```'
    assert text.partition("\n## Going further")[0].rstrip().endswith(cell)
    stage = lesson_named(number, ROOT)
    listed = re.findall(r"^- \[ \] (.+)$", LINK.sub(lambda link: link[0][1:].partition("](")[0], text), re.M)
    assert [rep.text for rep in stage.reps] == listed
    assert len({rep.key for rep in stage.reps}) == 3
    assert all(len(rep.label) <= 100 for rep in stage.reps), "begin a rep with a short sentence"


@each
def test_a_lessons_practice_ends_with_its_cards(path: Path) -> None:
    practice = sections(path.read_text(encoding="utf-8"), 2)["Practice"]
    before, cell = practice.rstrip().rsplit("\n\n\n", 1)
    assert before.endswith("</details>"), "two blank lines: the cards are no part of the last question's cell"
    assert re.fullmatch(rf'[^\n]+:\n\n```python\n{CARDS}\n\nreview\("{path.name[:2]}"\)\n```', cell)


@each
def test_each_question_has_its_check_in_the_same_cell(path: Path) -> None:
    """So that it can be read without a kernel, and wherever the notebook is shown."""
    for cell in lesson_notebook(path.read_text(encoding="utf-8")).cells:
        if "▢" in cell.source:
            found = list(QUESTION.finditer(cell.source))
            assert len(found) == cell.source.count("▢") == cell.source.count("<details>")
            assert len(found) == 1, "two blank lines before a question: closed Checks leave no space below"
            assert all(match["question"].rstrip().endswith("?") for match in found)
            assert all(len(match["answer"].split()) >= 15 for match in found), "an answer says why"


@each_and_welcome
def test_every_link_into_the_course_leads_somewhere(path: Path) -> None:
    """Notebooks are derived from text twins, so a twin will do."""
    missing = []
    for link in LINK.finditer(FENCE.sub("", path.read_text(encoding="utf-8"))):
        target = link["target"].partition("#")[0]
        if "://" in target or not target:
            continue
        file = (path.parent / target).resolve()
        master = ROOT / "solutions" / file.parent.name / f"{file.stem}.py"
        if not (file.is_file() or file.with_suffix(".md").is_file() or master.is_file()):
            missing.append(target)
    assert missing == []


def test_the_welcome_leads_to_every_lesson_and_lab() -> None:
    text = WELCOME.read_text(encoding="utf-8")
    assert [path.name for path in LESSONS if f"({path.stem}.ipynb)" not in text] == []
    labs = [path.parent.name for path in (ROOT / "solutions").glob("lab*/lab*.py")]
    assert [lab for lab in labs if f"(../../labs/{lab}/{lab}.ipynb)" not in text] == []


@each
def test_a_lesson_takes_the_time_that_it_says(path: Path) -> None:
    """At 170 words a minute, one for a question's thinking, two for a cell; cards and reps are for later."""
    text = prose(path).partition("\n## Going further")[0]  # the last part is for another day
    to_study = path.read_text(encoding="utf-8").partition("\n## Real-world reps")[0]
    cells = len(re.findall(rf"^```python\n(?!{CARDS}$)", to_study, flags=re.MULTILINE))
    minutes = len(text.split()) / 170 + text.count("▢") + 2 * cells
    said = re.search(r"\*\*Time\.\*\* About (\d+) minutes", text)
    assert said is not None
    assert 15 <= int(said[1]) <= 25
    assert abs(minutes - int(said[1])) <= 3, (
        f"{len(text.split())} words, {cells} cells: {minutes:.0f} minutes"
    )
    assert len(prose(path).split()) <= 2_500


@pytest.mark.parametrize("path", [*ALL, ROOT / "glossary.md"], ids=lambda path: path.stem)
def test_every_number_has_an_origin_and_every_sum_comes_out(path: Path) -> None:
    ledger = tomllib.loads(LEDGER.read_text(encoding="utf-8"))[path.name]
    printed = set(NUMBER.findall(NAMES.sub("", prose(path))))
    assert sorted(printed - ledger.keys()) == [], f"give their origin in {LEDGER.name}"
    assert sorted(ledger.keys() - printed) == [], f"no longer printed: take them out of {LEDGER.name}"
    known = _known()
    for number, origin in ledger.items():
        for text in origin if isinstance(origin, list) else [origin]:
            if text.startswith("="):
                assert _as_printed(text, known, like=number) == number, text


@cache
def _known() -> dict[str, Any]:
    run = Run()
    return {"config": run.config, "run": run, "epoch": len(run.loader), "interval": interval}


def _as_printed(total: str, known: dict[str, Any], like: str) -> str:
    digits = len(like.partition(".")[2])
    return f"{eval(total.removeprefix('=').strip(), dict(known)):{',' if ',' in like else ''}.{digits}f}"


@pytest.mark.slow
@each_and_welcome
def test_a_lesson_runs_in_a_real_kernel(path: Path, tmp_path: Path) -> None:
    notebook = lesson_notebook(path.read_text(encoding="utf-8"))
    client = nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code" and "import" not in cell.source.splitlines()[-1]:
            assert cell.outputs, f"cell {cell.id} shows nothing"
    shown = _shown(notebook)
    assert "stderr" not in shown, shown["stderr"]
    for sentence in EXPECTED.get(path.name, ()):
        assert sentence in shown["text"]


EXPECTED = {
    "00_welcome.md": ["Python 3."],
    "17_warm_up_decay_and_clipping.md": [
        "4096 inputs: one update moves the output by 4.096",
        "at the kill: 0.00165",
        "resumed:     0.00300 at step 300",
        "after loading:      (0.9, 0.95)",
    ],
    "08_what_the_optimizer_remembers.md": [
        "momentum  fifth update +2.91, with its memory lost -0.20",
        "adam      fifth update +0.78, with its memory lost -1.00",
        "OPT    10 bytes a parameter: 1.75 TB = 1.59 TiB",
        "992 × 1.7 GB = 1.69 TB, 9.6 bytes a parameter",  # noqa: RUF001 - as the lesson prints it
        "13.1 bytes a parameter if TB, 14.4 if TiB",
        "largest: 6.57, at update 12",
    ],
    "18_what_a_checkpoint_has_to_hold.md": [
        "60 days / 35 = one every 1.7 days",
        "105 / 60 days = 1.75 a day",
        "60 × 24 h / 105 = one every 13.7 h",  # noqa: RUF001 - as the lesson prints it
        "992 × 1.7 GB = 1.69 TB",  # noqa: RUF001
        "optimizer state",
    ],
    "19_when_a_node_fails_mid_run.md": [
        "all:    newest 200",
        "is told to leave  exit status -15",
        "is killed         exit status  -9",
    ],
    "20_how_often_to_save.md": [
        "per 1,000 host-days: one in    13.71 h",
        "Young: 66 steps",
        "250 steps: saves 0.15% + lost work 2.17% = 2.32%",
        "100 steps: saves 0.38% + lost work 0.87% = 1.25%",
        "66 steps: saves 0.58% + lost work 0.57% = 1.15%",
    ],
}


def _shown(notebook: NotebookNode) -> dict[str, str]:
    """What the cells printed or displayed, as text; a key "stderr" only where there was any."""
    shown = {"text": ""}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                key = "text" if output.name == "stdout" else "stderr"
                shown[key] = shown.get(key, "") + output.text
            else:
                shown["text"] += str(output.data.get("text/plain", ""))
    return shown
