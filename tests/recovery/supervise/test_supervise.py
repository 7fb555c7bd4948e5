"""Real processes and real SIGKILLs, through the warm server. Learners' functions are as in a notebook."""

import linecache
import os
from contextlib import ExitStack, suppress

import pytest

from lastgood.recovery.checkpoint import CheckpointError, hold
from lastgood.recovery.faults import OPT_175B, schedule_of

EPOCH, WARMUP, HORIZON = 16, 20, 70  # of the run that `go` supervises


def test_the_librarys_functions_survive_kills_anywhere_bit_for_bit(go):
    hours = [3, 15, 30, 30, 41, 52, 63, 75, 88, 100, 112]  # twice at hour 30: the restart is killed as well
    outcome = go(*hours, steps=80)
    assert outcome.identical
    assert (outcome.kills, outcome.restarts) == (11, 11)
    assert outcome.first_mismatch is None
    assert outcome.error is None
    assert outcome.executed_steps == 80 + sum(outcome.lost_steps)
    assert outcome.ettr == 80 / outcome.executed_steps < 1
    places = go.resumed_at()
    assert places[0] == 0  # nothing was saved yet
    assert any(0 < place < WARMUP for place in places)
    assert any(WARMUP < place < HORIZON for place in places)
    assert any(place and place % EPOCH == 0 for place in places)
    assert any(place % EPOCH for place in places)


def test_a_learners_complete_functions_survive_a_drawn_schedule(go, learners):
    outcome = go(
        faults=schedule_of(OPT_175B, 8, seed=2),
        hours_per_step=8 * OPT_175B.mtbf_hours / 60,
        steps=60,
        functions=learners(),
    )
    assert outcome.identical
    assert outcome.kills == 8


def test_without_faults_nothing_is_redone(go):
    outcome = go(steps=10, save_every=3)
    assert outcome.identical
    assert (outcome.kills, outcome.restarts, outcome.lost_steps, outcome.ettr) == (0, 0, (), 1.0)


def test_restore_may_return_another_run(go, edited, learners):
    source = edited(
        ("def restore(run, state):", "def restore(old, state):\n    run = type(old)(old.config, seed=9)"),
        ('torch.set_rng_state(state["rng"][2])', 'torch.set_rng_state(state["rng"][2])\n    return run'),
    )
    outcome = go(11, functions=learners(source), steps=20)
    assert outcome.identical
    assert outcome.kills == 1


FORGOTTEN = {
    "optimizer": ('    run.optimizer.load_state_dict(state["adam"])\n', "optimizer", "optimizer state"),
    "parameters": ('    run.model.load_state_dict(state["model"])\n', "parameters", "parameters"),
    "step": ('    run.step = state["step"]\n', "step", "step and schedule position"),
    "loader": ('    run.loader.load_state_dict(state["data"])\n', "loader", "data-loader position"),
    "python's rng": ('    random.setstate(state["rng"][0])\n', "rng", "RNG state"),
    "numpy's rng": ('    numpy.random.set_state(state["rng"][1])\n', "rng", "RNG state"),
    "torch's rng": ('    torch.set_rng_state(state["rng"][2])\n', "rng", "RNG state"),
}


@pytest.mark.parametrize(("line", "component", "title"), FORGOTTEN.values(), ids=FORGOTTEN)
def test_a_forgotten_component_is_named_with_the_kill_and_the_step(
    go, line, component, title, edited, learners
):
    outcome = go(3, 18, functions=learners(edited((line, ""))))
    assert not outcome.identical
    lost = outcome.first_mismatch
    assert lost.components == (component,)
    assert lost.kill == 2  # the first came before any save, so nothing could be lost
    assert lost.step in (8, 16)
    assert not lost.at_end
    assert str(lost) == f"after kill 2 the run resumed at step {lost.step} and had lost its {title}"
    assert outcome.reached < outcome.steps  # it stops there
    assert go.events[-1].kind == "mismatch"


def test_a_restart_has_another_seed_so_a_seed_that_was_not_saved_shows(go, edited, learners):
    source = edited(
        (
            '    run.loader.load_state_dict(state["data"])\n',
            '    run.loader.load_state_dict({**state["data"], "seed": run.loader.seed})\n',
        )
    )
    assert go(11, functions=learners(source)).first_mismatch.components == ("loader",)


def test_a_run_that_goes_astray_after_a_right_restart_is_found_at_the_end(go, edited, learners):
    hook = "run.model.register_forward_hook(lambda *_: (torch.rand(1), None)[1])"
    source = edited(("    run.step = state", f"    {hook}\n    run.step = state"))
    outcome = go(11, steps=20, save_every=9, functions=learners(source))
    assert not outcome.identical
    assert outcome.first_mismatch.at_end
    assert "rng" in outcome.first_mismatch.components
    assert "every restart was right" in str(outcome.first_mismatch)


def test_what_a_function_raises_is_reported_with_its_own_lines(go, edited, learners):
    source = edited(("    torch.save(state, Path", '    helper(state["step"])\n    torch.save(state, Path'))
    source += "\ndef helper(step):\n    if step > 10:\n        raise ValueError('no room')\n"
    linecache.cache["typed.py"] = (len(source), None, source.splitlines(True), "typed.py")  # as IPython does
    outcome = go(functions=learners(source, "typed.py"))
    assert not outcome.identical
    assert outcome.reached == 16
    assert outcome.error.splitlines()[0] == "save raised ValueError: no room"
    assert 'of save: helper(state["step"])' in outcome.error
    assert "of helper: raise ValueError('no room')" in outcome.error
    assert "lastgood" not in outcome.error
    assert outcome.restarts == 0


DIE = "os.kill(os.getpid(), 9)"
TOUCH = 'Path(folder, "once").touch(); '


@pytest.fixture
def dying_at(edited, learners):
    """Functions whose save dies once, as it saves `step`, just before the line that holds `where`."""

    def dying_at(step, where, death):
        once = f'    if state["step"] == {step} and not Path(folder, "once").exists():\n        {death}\n'
        line = next(line for line in edited().splitlines() if where in line)
        return learners(edited((line, f"{once}{line}")))

    return dying_at


@pytest.mark.parametrize(
    ("step", "where", "resumes"), [(16, "torch.save", 8), (16, "os.replace", 8), (8, "torch.save", 0)]
)
def test_a_kill_in_the_middle_of_an_atomic_save_costs_steps_and_nothing_else(
    go, step, where, resumes, dying_at
):
    outcome = go(steps=24, functions=dying_at(step, where, TOUCH + DIE))
    assert outcome.identical
    assert go.resumed_at() == [resumes]
    assert outcome.lost_steps == (step - resumes,)
    assert (outcome.kills, outcome.restarts) == (0, 1)


def test_a_save_that_was_complete_before_it_could_say_so_is_resumed_from(go, edited, learners):
    rename = '    os.replace(Path(folder, "new.pt"), Path(folder, "last.pt"))\n'
    source = edited((rename, f'{rename}    if state["step"] == 16:\n        {DIE}\n'))
    outcome = go(steps=24, functions=learners(source))
    assert outcome.identical
    assert go.resumed_at() == [16]
    assert outcome.lost_steps == (0,)


def test_a_file_that_was_torn_in_place_is_reported_by_what_load_raised(go, edited, learners):
    source = edited(
        (
            '    torch.save(state, Path(folder, "new.pt"))\n',
            '    if state["step"] == 16:\n'
            f'        Path(folder, "last.pt").write_bytes(b"PK"); {DIE}\n'
            '    torch.save(state, Path(folder, "new.pt"))\n',
        )
    )
    outcome = go(functions=learners(source))
    assert not outcome.identical
    assert outcome.error.startswith("load raised ")
    assert "The kill before had come in the middle of saving step 16." in outcome.error


def test_a_restart_into_a_folder_that_another_process_writes_to_is_an_error(go):
    with ExitStack() as stack:

        def intrude(event):
            while event.kind == "failed":  # the killed process may need another moment to be gone
                with suppress(CheckpointError):
                    return stack.enter_context(hold(go.folder / "checkpoints"))

        outcome = go(11, on_event=intrude)
    assert not outcome.identical
    assert outcome.error.startswith("hold raised CheckpointError")
    assert f"process {os.getpid()} on " in outcome.error


def test_a_load_that_finds_nothing_after_a_complete_save_is_an_error(go, edited, learners):
    source = edited(('    return torch.load(Path(folder, "last.pt"), weights_only=False)', "    return None"))
    outcome = go(11, functions=learners(source))
    assert outcome.error == "load raised LookupError: it returned None, though a save was complete"


def test_a_load_of_an_older_state_costs_more_steps_and_is_said(go, edited, learners):
    source = edited(
        (
            'os.replace(Path(folder, "new.pt")',
            'if not Path(folder, "last.pt").exists(): os.replace(Path(folder, "new.pt")',
        )
    )
    outcome = go(19, steps=24, functions=learners(source))
    assert outcome.identical
    assert go.resumed_at() == [8]
    assert any("though step 16 was saved" in event.text for event in go.events)


def test_a_step_that_kills_every_process_stops_the_run_instead_of_looping(go, edited, learners):
    poison = (
        "def poison(loader):\n"
        "    healthy = loader.next_batch\n"
        "    def next_batch():\n"
        "        if loader.cursor == 4 * 12:\n"
        "            raise RuntimeError('bad record')\n"
        "        return healthy()\n"
        "    loader.next_batch = next_batch\n"
    )
    source = poison + edited(
        ("def capture(run):", "def capture(run):\n    poison(run.loader)"),
        ("    run.step = state", "    poison(run.loader)\n    run.step = state"),
    )
    outcome = go(functions=learners(source))
    assert not outcome.identical
    assert "3 processes in a row ended unasked, and none got past step 12" in outcome.error
    assert "RuntimeError: bad record" in outcome.error
    assert (outcome.kills, outcome.restarts, outcome.reached) == (0, 2, 12)


def test_a_process_that_hangs_is_killed_and_counts_as_dead(go, edited, learners):
    source = edited(("    torch.save(state,", "    import signal; signal.pause()\n    torch.save(state,"))
    outcome = go(functions=learners(source))
    assert "3 processes in a row ended unasked" in outcome.error
    assert "silent" in outcome.error
    assert [event.cause for event in go.events if event.kind == "died"] == ["hung"] * 3
    assert go.naps == [0.5, 1.0]  # the back-off; there is none before giving up


def test_capture_may_not_train(go, edited, learners):
    outcome = go(functions=learners(edited(("def capture(run):", "def capture(run):\n    run.advance()"))))
    assert outcome.error == "capture trained the run: it is at step 9"


def test_functions_that_cannot_be_unpacked_are_an_error(go):
    assert "nowhere" in go(functions=b"cnowhere\nfunction\n.").error
