"""A course of one lesson and two labs, small enough to look through."""

from pathlib import Path

import pytest

LESSON = "# Lesson 18. What to keep\n\n**Time.** About 20 minutes, if you like."
REPS = """\
## Real-world reps

- [ ] Look at [a page](https://example.com). Then think.
- [ ] Tomorrow: write `it`. Once.
- [ ] Measure $M$: how long?
"""


@pytest.fixture
def write_lesson(notebooks):
    """Writes lesson 18, with these reps."""

    def write_lesson(root: Path, reps: str = REPS) -> None:
        cells = [notebooks.text(LESSON), notebooks.text(reps), notebooks.code("reps('18')")]
        notebooks.write(
            root / "course/lessons/18_keep.ipynb", *cells, notebooks.text("## Going further\n\n- [ ] no")
        )

    return write_lesson


@pytest.fixture
def small(tmp_path, notebooks, write_lesson, monkeypatch) -> Path:
    """Its root, which is the current folder."""
    root = tmp_path / "small"
    notebooks.write(root / "course/lessons/00_welcome.ipynb", notebooks.text("# Lesson 00. Welcome"))
    write_lesson(root)
    for number, title in (("00", "A small GPT"), ("18", "Kill <it>")):
        head = notebooks.text(f"# Lab {number}. {title}\n\n- **Time**: 60 to 90 minutes. Or longer.")
        notebooks.write(root / f"labs/lab{number}/lab{number}.ipynb", head)
    monkeypatch.chdir(root)
    return root
