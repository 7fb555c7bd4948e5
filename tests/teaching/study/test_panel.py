"""The panel of the welcome notebook."""

import re

import pytest

from lastgood import workspace
from lastgood.teaching.study import progress
from lastgood.teaching.study.record import Points, keep_points, mark_read


def links(panel):
    return re.findall(r'href="([^"]*)"', panel._repr_html_())


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("work/lessons", ["../lab00/lab00.ipynb", "18_keep.ipynb", "../lab18/lab18.ipynb"]),
        ("course/lessons", ["../../labs/lab00/lab00.ipynb", "18_keep.ipynb", "../../labs/lab18/lab18.ipynb"]),
    ],
)
def test_links_lead_from_a_copy_to_copies_and_from_what_is_shipped_to_what_is_shipped(
    small, monkeypatch, folder, expected
):
    workspace.start(small)
    monkeypatch.chdir(small / folder)
    panel = progress()
    assert links(panel) == [*expected, expected[0], expected[1]]  # and the sentence's two
    assert all((small / folder / link).is_file() for link in links(panel))


def test_a_lab_without_a_copy_is_opened_where_it_is_shipped(small, monkeypatch):
    workspace.start(small, ["lab00"])
    monkeypatch.chdir(small / "work/lessons")
    assert links(progress())[:3] == ["../lab00/lab00.ipynb", "18_keep.ipynb", "../../labs/lab18/lab18.ipynb"]


def test_it_shows_what_is_done_and_marks_what_comes_next_in_words(small):
    mark_read("18", True)
    keep_points("lab18", {"mask": Points(17, 24)})
    text = re.sub(r"<[^>]+>", " ", progress()._repr_html_()).replace("&nbsp;", " ")
    assert "✓ read" in text
    assert re.search(r"Lab 18\. Kill &lt;it&gt; +60 to 90 min +17 of 24 points ← next", text)
    assert text.count("← next") == 1


def test_without_html_it_is_a_table_of_plain_text(small):
    keep_points("lab18", {"mask": Points(17, 24)})
    assert "lab 18     60 to 90 min  Kill <it> (17 of 24 points)" in repr(progress())
    assert repr(progress()).endswith("Next: lab 18.")


def test_it_says_what_became_of_a_damaged_file(small, home):
    home.mkdir(parents=True)
    (home / "progress.json").write_text("{<")
    panel = progress()
    assert "progress.damaged.json was set aside" in repr(panel)
    assert "progress.damaged.json was set aside" in panel._repr_html_()
