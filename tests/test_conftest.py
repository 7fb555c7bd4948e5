"""What happens to a test that needs a tool, where the tool is and where it is not."""

from pathlib import Path

import pytest

NEEDS_BWRAP = """
    import pytest

    @pytest.mark.needs_bwrap
    def test_sandbox():
        {body}
"""


@pytest.fixture
def outcomes(pytester, monkeypatch):
    """Runs a test that is marked as needing bubblewrap and returns how it ended."""

    def run(body="pass", *, installed, required=""):
        monkeypatch.setenv("LASTGOOD_REQUIRE", required)
        monkeypatch.setenv("PATH", str(pytester.path))
        if installed:
            tool = pytester.path / "bwrap"
            tool.touch()
            tool.chmod(0o755)
        pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text())
        pytester.makeini("[pytest]\nmarkers =\n    needs_bwrap\n    browser")
        pytester.makepyfile(NEEDS_BWRAP.format(body=body))
        return pytester.runpytest_inprocess("-p", "no:cacheprovider").parseoutcomes()

    return run


def test_it_runs_where_the_tool_is(outcomes):
    assert outcomes(installed=True) == {"passed": 1}


def test_it_is_skipped_where_the_tool_is_not(outcomes):
    assert outcomes(installed=False) == {"skipped": 1}


def test_it_fails_where_the_tool_is_not_but_is_required(outcomes):
    assert outcomes(installed=False, required="chromium,bwrap") == {"errors": 1}


def test_it_is_skipped_where_only_another_tool_is_required(outcomes):
    assert outcomes(installed=False, required="chromium") == {"skipped": 1}


def test_it_fails_when_it_skips_itself_though_its_tool_is_required(outcomes):
    skips = "pytest.skip('no user namespaces here')"
    assert outcomes(skips, installed=True, required="bwrap") == {"failed": 1}
