"""Links between notebooks and the glossary lead somewhere: in the repository, and in a learner's `work/`."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest

from lastgood import workspace

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(notebook: Path) -> list[str]:
    cells = nbformat.read(notebook, as_version=4).cells
    found = [link for cell in cells if cell.cell_type == "markdown" for link in LINK.findall(cell.source)]
    return [link for link in found if not link.startswith(("http:", "https:", "#", "attachment:"))]


def dead(notebooks: list[Path], inside: Path) -> list[str]:
    result = []
    for notebook in notebooks:
        for link in links(notebook):
            path, _, anchor = link.partition("#")
            target = (notebook.parent / path).resolve()
            if not target.is_relative_to(inside) or not target.exists():
                result.append(f"{notebook.name}: {link}")
            elif anchor and f'<a id="{anchor}"></a>' not in target.read_text(encoding="utf-8"):
                result.append(f"{notebook.name}: {link} has no such anchor")
    return result


def test_links_of_the_committed_notebooks_lead_to_files_and_anchors() -> None:
    notebooks = [*ROOT.glob("course/lessons/*.ipynb"), *ROOT.glob("labs/*/*.ipynb")]
    assert len([link for notebook in notebooks for link in links(notebook)]) > 20
    assert dead(notebooks, ROOT) == []


def test_links_of_a_learners_copies_lead_to_copies(tmp_path: Path) -> None:
    for name in ("course/lessons", "labs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "glossary.md", tmp_path)
    workspace.start(tmp_path)
    notebooks = sorted((tmp_path / "work").rglob("*.ipynb"))
    assert {notebook.name for notebook in notebooks} >= {"00_welcome.ipynb", "lab18.ipynb"}
    assert dead(notebooks, (tmp_path / "work").resolve()) == []


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("labs/*")))
def test_copying_a_lab_leaves_the_cells_that_nbgrader_checksums_alone(name: str, tmp_path: Path) -> None:
    for folder in ("course/lessons", "labs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    workspace.start(tmp_path, [name])

    def locked(notebook: Path) -> list[str]:
        cells = nbformat.read(notebook, as_version=4).cells
        return [cell.source for cell in cells if cell.metadata.get("nbgrader", {}).get("locked")]

    assert locked(tmp_path / "work" / name / f"{name}.ipynb") == locked(
        ROOT / "labs" / name / f"{name}.ipynb"
    )
