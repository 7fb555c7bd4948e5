"""The check that greets a learner: every broken computer it can meet, put in place of this one."""

import importlib.metadata
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from lastgood.teaching.environment import OLDEST_PYTHON, Report, check_environment
from lastgood.teaching.machine import Machine

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = {"torch": "2.13.0+cpu", "nbgrader": "0.9.6", "lastgood": "0.1.0"}


def _version(name: str) -> str:
    if name not in VERSIONS:
        raise importlib.metadata.PackageNotFoundError(name)
    return VERSIONS[name]


@pytest.fixture
def healthy(tmp_path: Path) -> Machine:
    """A computer with nothing to mend, laid out in a temporary folder."""
    env, root = tmp_path / "env", tmp_path / "clone"
    site = env / "lib/site-packages"
    extension = env / "share/labextensions/@jupyter/nbgrader"
    for folder in (site, extension, root / "work/lessons", root / "course/lastgood"):
        folder.mkdir(parents=True)
    (extension / "package.json").write_text("{}")
    (root / "course/lastgood/__init__.py").touch()
    return Machine(
        python=(3, 11, 7),
        executable=env / "bin/python",
        prefix=env,
        package=root / "course/lastgood",
        folder=root / "work/lessons",
        requirements=lambda: ["torch<2.14,>=2.6", "nbgrader>=0.9.5", 'mypy>=1.11; extra == "dev"'],
        version=_version,
        location=lambda _: site,
        origin=lambda name: site / name / "__init__.py",
        load=lambda _: None,
        kernel_command=lambda: "python",
        labextensions=lambda: [tmp_path / "elsewhere", extension.parent.parent],
        try_to_write=lambda _: None,
        free=lambda _: 5_000_000_000,
    )


def only_problem(report: Report) -> tuple[str, str]:
    """What is wrong and what to do, where exactly one thing is."""
    problems = [finding for finding in report.findings if not finding.ok]
    assert len(problems) == 1, report
    assert not report.ok
    return problems[0].found, problems[0].remedy


def raises(error: Exception):  # type: ignore[no-untyped-def]  # fits in place of any of a machine's functions
    def function(*_: object) -> None:
        raise error

    return function


def test_a_healthy_computer_has_nothing_to_mend(healthy: Machine) -> None:
    report = check_environment(healthy)
    assert report.ok, report
    assert "Everything is in place" in repr(report)
    assert "torch 2.13.0+cpu, nbgrader 0.9.6" in repr(report)
    assert "TO DO" not in repr(report)


def test_this_computer_can_be_checked_for_real() -> None:
    """No field of the real machine is broken: each check comes to a finding, right or wrong."""
    report = check_environment()
    assert "itself failed" not in repr(report)
    assert any(finding.ok and "torch" in finding.found for finding in report.findings), report


def test_the_oldest_python_is_the_one_the_package_declares() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=" + ".".join(map(str, OLDEST_PYTHON))


def test_an_old_python_is_named_with_the_one_needed(healthy: Machine) -> None:
    found, remedy = only_problem(check_environment(replace(healthy, python=(3, 10, 14))))
    assert "3.10.14" in found
    assert "3.11 or later" in remedy


@pytest.mark.parametrize("version", ["2.5.1", "2.14.0", "2.14.1+cu130", "3.0"])
def test_a_torch_outside_the_range_is_named_with_the_range(healthy: Machine, version: str) -> None:
    machine = replace(healthy, version=lambda name: version if name == "torch" else _version(name))
    found, remedy = only_problem(check_environment(machine))
    assert found == f"torch {version}: the course needs <2.14,>=2.6"
    assert f'"{healthy.executable}" -m pip install "torch<2.14,>=2.6"' in remedy
    assert "restart the kernel" in remedy


@pytest.mark.parametrize("version", ["2.6.0", "2.13.0+cu130", "2.13.0.dev20260101"])
def test_a_torch_inside_the_range_is_fine(healthy: Machine, version: str) -> None:
    machine = replace(healthy, version=lambda name: version if name == "torch" else _version(name))
    assert check_environment(machine).ok


def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it(healthy: Machine) -> None:
    machine = replace(healthy, requirements=lambda: ["torch<2.14,>=2.6", "safetensors>=0.4.5"])
    found, remedy = only_problem(check_environment(machine))
    assert found == "safetensors is not installed"
    assert '-m pip install "safetensors>=0.4.5"' in remedy


def test_a_package_that_does_not_load_is_told_from_one_that_is_missing(healthy: Machine) -> None:
    machine = replace(healthy, load=raises(OSError("libgomp.so.1: cannot open")))
    found, remedy = only_problem(check_environment(machine))
    assert found.startswith("torch 2.13.0+cpu is installed but does not load: OSError('libgomp.so.1")
    assert "--force-reinstall" in remedy


def test_a_package_whose_files_are_gone_is_a_problem(healthy: Machine) -> None:
    machine = replace(healthy, origin=lambda name: None if name == "nbgrader" else Path("/x/a.py"))
    found, _ = only_problem(check_environment(machine))
    assert found == "nbgrader 0.9.6 is installed but cannot be found by an import"


@pytest.mark.parametrize("own", ["torch.py", "torch/__init__.py"])
def test_a_learners_file_that_hides_a_package_is_named(healthy: Machine, own: str) -> None:
    machine = replace(
        healthy, origin=lambda name: (healthy.folder / own) if name == "torch" else Path("/x/a.py")
    )
    found, remedy = only_problem(check_environment(machine))
    assert found == f"your own {own} in this folder hides the package torch"
    assert "rename" in remedy


def test_the_library_of_another_clone_is_found_out(healthy: Machine, tmp_path: Path) -> None:
    other = tmp_path / "other/course/lastgood"
    found, remedy = only_problem(check_environment(replace(healthy, package=other)))
    assert str(other) in found
    assert str(tmp_path / "clone") in found
    assert f'-m pip install "-e" "{tmp_path / "clone"}"' in remedy


def test_a_stale_copy_inside_the_clones_own_environment_is_found_out(
    healthy: Machine, tmp_path: Path
) -> None:
    """`pip install .` without -e: the notebooks are edited or updated, the library is not."""
    stale = tmp_path / "clone/.venv/lib/site-packages/lastgood"
    found, _ = only_problem(check_environment(replace(healthy, package=stale)))
    assert str(stale) in found


def test_outside_any_clone_the_installed_library_is_the_courses_own(healthy: Machine, tmp_path: Path) -> None:
    machine = replace(healthy, folder=tmp_path, package=healthy.prefix / "lib/site-packages/lastgood")
    assert check_environment(machine).ok


def test_a_library_that_is_not_installed_is_one_problem_not_fifteen(healthy: Machine) -> None:
    missing = raises(importlib.metadata.PackageNotFoundError("lastgood"))
    machine = replace(healthy, requirements=missing, location=missing)
    found, remedy = only_problem(check_environment(machine))
    assert "not installed in the environment" in found
    assert 'pip install "-e"' in remedy


def test_a_kernel_of_another_python_is_found_out(healthy: Machine, tmp_path: Path) -> None:
    machine = replace(healthy, location=lambda _: tmp_path / "home/.local/lib/site-packages")
    found, remedy = only_problem(check_environment(machine))
    assert str(healthy.executable) in found
    assert "lastgood lab" in remedy


def test_a_kernel_name_that_starts_another_python_is_found_out(healthy: Machine) -> None:
    found, remedy = only_problem(
        check_environment(replace(healthy, kernel_command=lambda: "/usr/bin/python3"))
    )
    assert "/usr/bin/python3" in found
    assert "kernelspec remove python3" in remedy


def test_another_name_of_the_same_interpreter_is_no_other_python(healthy: Machine) -> None:
    machine = replace(healthy, kernel_command=lambda: str(healthy.executable.with_name("python3.11")))
    assert check_environment(machine).ok


def test_a_jupyterlab_without_the_validate_button_is_found_out(healthy: Machine, tmp_path: Path) -> None:
    found, remedy = only_problem(check_environment(replace(healthy, labextensions=lambda: [tmp_path])))
    assert "Validate" in found
    assert "nbgrader" in remedy
    assert "lastgood lab" in remedy


def test_a_folder_that_cannot_be_written_is_named(healthy: Machine) -> None:
    refused = PermissionError(13, "Permission denied")
    found, remedy = only_problem(check_environment(replace(healthy, try_to_write=raises(refused))))
    assert found == f"nothing can be written in {healthy.folder}: Permission denied"
    assert "work/" in remedy


def test_a_full_disk_is_named_whichever_of_the_two_it_is(healthy: Machine) -> None:
    def free(folder: Path) -> int:
        return 5_000_000_000 if folder == healthy.folder else 300_000_000

    found, remedy = only_problem(check_environment(replace(healthy, free=free)))
    assert found.startswith("0.3 GB free in ")
    assert str(healthy.folder) not in found
    assert "1 GB" in remedy


def test_a_check_that_breaks_is_a_finding_and_the_others_still_run(healthy: Machine) -> None:
    report = check_environment(replace(healthy, labextensions=raises(RuntimeError("odd"))))
    found, remedy = only_problem(report)
    assert "“validate” itself failed: RuntimeError('odd')" in found
    assert "issue" in remedy
    assert len(report.findings) == 7


def test_several_problems_are_all_told_and_stand_first(healthy: Machine) -> None:
    report = check_environment(replace(healthy, python=(3, 9, 0), free=lambda _: 0))
    lines = repr(report).splitlines()
    assert lines[0] == "To mend before you begin: 2."
    assert [line.split()[:2] for line in lines[1:5:2]] == [["TO", "DO"]] * 2
    assert all(line.lstrip().startswith("→") for line in lines[2:6:2])


def test_the_notebook_shows_every_remedy_and_escapes_what_it_quotes(healthy: Machine) -> None:
    report = check_environment(replace(healthy, load=raises(ImportError("<script>alert(1)</script>"))))
    html = report._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "✗ to do:" in html
    assert "✓ ok:" in html


def test_the_check_leaves_no_file_behind(healthy: Machine) -> None:
    machine = replace(healthy, try_to_write=Machine().try_to_write)
    assert check_environment(machine).ok
    assert os.listdir(healthy.folder) == []
