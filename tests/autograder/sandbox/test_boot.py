"""The first lines inside: the submission is copied, and a program takes over."""

import json
import os
import subprocess
import sys
from pathlib import Path

from autograder.sandbox import boot


def boot_up(tmp_path: Path, **plan: object) -> subprocess.CompletedProcess[str]:
    about = {
        "submission": str(tmp_path / "in"),
        "work": str(tmp_path / "work"),
        "limits": [],
        "caches": str(tmp_path / "home/caches"),
        "cached": [],
    }
    source = Path(boot.__file__).read_text()
    (tmp_path / "in/show.py").write_text(
        "import os, resource, sys\n"
        "print(os.getcwd(), sys.argv[1:], __name__, resource.getrlimit(resource.RLIMIT_NOFILE))\n"
    )
    command = [sys.executable, "-c", source, "show", json.dumps(about | plan), "an argument"]
    path = {"PYTHONPATH": str(tmp_path / "in")}
    return subprocess.run(command, env=os.environ | path, capture_output=True, text=True)


def test_the_program_runs_in_the_copy_with_its_limits_and_arguments(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "fonts.json").write_text("{}")
    done = boot_up(tmp_path, limits=[["RLIMIT_NOFILE", 99]], cached=[str(tmp_path / "fonts.json")])
    assert done.stderr == ""
    assert done.stdout == f"{tmp_path / 'work'} ['an argument'] __main__ (99, 99)\n"
    assert (tmp_path / "home/caches/fonts.json").is_file()


def test_folders_and_links_are_copied_and_what_would_block_is_not(tmp_path: Path) -> None:
    (tmp_path / "in/data").mkdir(parents=True)
    (tmp_path / "in/data/rows.csv").write_text("1,2\n")
    (tmp_path / "in/link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "in/pipe")
    boot_up(tmp_path)
    work = tmp_path / "work"
    assert (work / "data/rows.csv").read_text() == "1,2\n"
    assert (work / "link").readlink() == Path("/etc/passwd")
    assert not (work / "pipe").exists()


def test_a_file_of_the_learners_is_not_imported_in_a_modules_place(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        done = boot_up(tmp_path)
    finally:
        os.chdir(before)
    assert done.returncode == 0, done.stderr
