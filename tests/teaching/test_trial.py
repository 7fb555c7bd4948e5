"""The trial in a notebook, with processes and without."""

import json

import pytest

from lastgood.recovery import state
from lastgood.recovery.supervise import SupervisorError
from lastgood.recovery.supervise.outcome import Event, Mismatch
from lastgood.teaching.views import trial as view
from lastgood.teaching.views.trial import Strip, trial, verdict

NOTEBOOK = """
import os, pickle
from pathlib import Path
def save(state, folder):
    Path(folder, "new").write_bytes(pickle.dumps(state))
    os.replace(Path(folder, "new"), Path(folder, "last"))
def load(folder):
    return pickle.loads(Path(folder, "last").read_bytes())
def restore_all_but_the_optimizer(run, state):
    moments = run.optimizer.state_dict()
    restore(run, state)
    run.optimizer.load_state_dict(moments)
"""


@pytest.fixture
def functions():
    """The four functions as a notebook would define them, and one that forgets something."""
    cells = {"__name__": "__main__", "restore": state.restore, "capture": state.capture}
    exec(NOTEBOOK, cells)
    return cells


def test_complete_functions_end_bit_identical(functions):
    result = trial(*(functions[name] for name in ("capture", "restore", "save", "load")), kills=3, seed=4)
    assert result.identical, repr(result)
    assert result.outcome.kills == 3
    assert "3 of 3 kills" in repr(result)
    assert "Bit-identical. Killed 3 times" in repr(result)
    assert result.seed == 4


def test_a_forgotten_component_is_named_in_plain_words(functions):
    result = trial(
        functions["capture"],
        functions["restore_all_but_the_optimizer"],
        functions["save"],
        functions["load"],
        kills=3,
        seed=4,
    )
    assert not result.identical
    assert "Not the same run: after kill" in repr(result)
    assert "had lost its optimizer state." in repr(result)


def test_functions_that_cannot_travel_are_a_verdict_and_no_traceback(functions):
    exec("def save(state, folder):\n    return not_yet", functions)
    result = trial(functions["capture"], functions["restore"], functions["save"], functions["load"])
    assert not result.identical
    assert "`save` uses `not_yet`, which is not defined yet" in repr(result)


def test_no_trial_is_held_while_a_notebook_is_graded(functions, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    monkeypatch.setattr(view, "supervise", lambda *_, **__: pytest.fail("a process was asked for"))
    result = trial(functions["capture"], functions["restore"], functions["save"], functions["load"])
    assert result.outcome is None
    assert "No trial while the notebook is validated" in repr(result)


def test_the_full_form_has_as_many_kills_as_opt_175b_had_restarts(functions, monkeypatch):
    given = {}

    def supervise(config, **options):
        given.update(options)
        raise SupervisorError

    monkeypatch.setattr(view, "supervise", supervise)
    with pytest.raises(SupervisorError):
        trial(functions["capture"], functions["restore"], functions["save"], functions["load"], full=True)
    assert len(given["faults"]) == 105
    # All kills come while the clock is certain to run, and half a step's hours are not lost to rounding.
    assert given["faults"][-1].time_hours < given["steps"] * given["hours_per_step"]


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({"identical": True}, "Bit-identical. Killed 2 times, 10 steps done again"),
        (
            {"first_mismatch": Mismatch(2, 60, ("loader", "rng"))},
            "Not the same run: after kill 2 the run resumed at step 60 and had lost "
            "its data-loader position, RNG state.",
        ),
        (
            {"error": "save raised OSError: full\n  line 3 of save"},
            "Stopped at step 60. save raised OSError",
        ),
    ],
)
def test_a_verdict_is_in_plain_words(ended, end, words):
    assert words in verdict(ended(**end))


def events(*steps):
    """Events (kind, step) with the count of executed steps kept."""
    executed = 0
    for kind, step in steps:
        executed += kind == "step"
        yield Event(kind, step, executed, float(executed), "")


def test_the_strip_is_a_line_that_falls_back_where_it_was_hit():
    strip = Strip(steps=10, kills=2)
    story = [
        ("step", 1),
        ("step", 2),
        ("failed", 2),
        ("restarted", 1),
        ("restarted", 1),
        ("step", 2),
        ("step", 3),
    ]
    for event in events(*story):
        strip.take(event)
    assert strip.corners == [(0, 0), (2, 2), (2, 1), (2, 1), (4, 3)]
    assert strip.hits == [(2, 2)]
    assert repr(strip) == "step 3 of 10 · 1 of 2 kills · 1 step done again"


def test_the_strip_says_in_text_what_it_shows_and_escapes_what_was_raised():
    strip = Strip(steps=10, kills=1)
    strip.conclude('save raised ValueError: <b>"no"</b>')
    html = strip._repr_html_()
    assert 'role="img"' in html
    assert "<b>" not in html
    assert html.count("&lt;b&gt;") == 2  # shown, and read out


def test_the_verdict_stands_out_from_what_explains_it():
    strip = Strip(steps=10, kills=1)
    assert "<strong>" not in strip._repr_html_()
    strip.conclude("Bit-identical. Killed once.")
    assert "<strong>Bit-identical. </strong>Killed once." in strip._repr_html_()


@pytest.mark.slow
def test_a_notebook_shows_the_strip_once_and_keeps_it(tmp_path):
    """In a kernel: what the learner sees is one output, nothing on stderr, and no second copy."""
    import nbformat
    from nbclient import NotebookClient

    source = f"{NOTEBOOK}\nfrom lastgood.recovery.state import capture, restore\n"
    cells = [
        "from lastgood.teaching.views.trial import trial",
        source,
        "result = trial(capture, restore, save, load, kills=2, seed=4)\nresult",
        "result",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    live, again = notebook.cells[2].outputs, notebook.cells[3].outputs
    assert [output.output_type for output in live] == ["display_data"], json.dumps(live)[:2000]
    assert "Bit-identical" in live[0].data["text/plain"]
    assert "<svg" in live[0].data["text/html"]
    assert [output.data["text/plain"] for output in again] == [live[0].data["text/plain"]]
