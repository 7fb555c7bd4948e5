"""Code that resumes as it should passes; whatever else it does is told, and nothing of it stays behind."""

import pytest

from lastgood.recovery.resuming import BROKEN, KEPT, LOST, UNSTABLE, AuditError, audit

OBSERVE = """
def observe(run):
    return {"step": run.step, "dice": run.dice.getstate()}
"""
FORGETS_DICE = """
def resume(folder):
    run = Run(2)
    run.step = json.loads((folder / "run.json").read_text())[0]
    return run
"""
FORGETS_STEP = """
whole = resume
def resume(folder):
    run = whole(folder)
    run.step = 0
    return run
"""
FORGETS_AFTER_A_RESUME = """
whole = resume
def resume(folder):
    run = whole(folder)
    run.resumed = True
    return run

def save(run, folder):
    dice = random.Random(3) if hasattr(run, "resumed") else run.dice
    (folder / "run.json").write_text(json.dumps([run.step, *dice.getstate()]))
"""


@pytest.mark.parametrize("observe", ["", OBSERVE], ids=["steps alone", "observed"])
def test_a_run_that_comes_back_whole_passes(module, observe):
    report = audit(module(observe))
    assert (report.status, report.first_step, report.second_step) == (0, None, None)
    assert report.found == report.expected
    assert len(report.found) == report.after
    assert {finding.component: finding.status for finding in report.findings} == (
        {"step": KEPT, "dice": KEPT} if observe else {}
    )


def test_without_observe_the_first_step_that_differs_is_told(module):
    report = audit(module(FORGETS_DICE), before=5, after=3)
    assert (report.status, report.first_step, report.findings) == (1, 5, [])
    assert len(report.expected) == len(report.found) == 3


def test_a_component_that_does_not_come_back_is_named(module):
    report = audit(module(OBSERVE + FORGETS_DICE))
    assert [finding.component for finding in report.lost] == ["dice"]
    assert report.lost[0].status == LOST
    assert report.first_step == report.before


def test_a_component_is_lost_though_no_loss_shows_it(module):
    report = audit(module(OBSERVE + FORGETS_STEP))
    [lost] = report.lost
    assert (report.first_step, report.status) == (None, 1)
    assert lost.component == "step"
    assert lost.why == "As in a new run: nothing was put back. 0, not 7."


def test_what_differs_between_undisturbed_runs_is_not_held_against_it(module):
    pid = "import os\ndef observe(run): return {'pid': os.getpid(), 'step': run.step}"
    report = audit(module(pid))
    assert report.status == 0
    assert {f.component: f.status for f in report.findings} == {"pid": UNSTABLE, "step": KEPT}
    report = audit(module(pid + FORGETS_STEP))
    assert [finding.component for finding in report.lost] == ["step"]


def test_only_of_a_new_run_is_the_effect_said_to_be_that_of_a_new_run(module):
    [anew] = audit(module(OBSERVE + FORGETS_STEP)).lost
    [stale] = audit(module(OBSERVE + FORGETS_STEP.replace("run.step = 0", "run.step = 3"))).lost
    assert anew.effect.startswith("A schedule that follows the step starts its warm-up again")
    assert (stale.effect, stale.why) == ("", "3, not 7.")


def test_what_only_a_second_resume_loses_is_told_apart(module):
    report = audit(module(OBSERVE + FORGETS_AFTER_A_RESUME))
    assert [(finding.component, finding.status) for finding in report.lost] == [("dice", BROKEN)]
    assert (report.first_step, report.second_step) == (None, report.before + report.after)


def test_a_second_resume_is_judged_by_its_steps_too(module):
    report = audit(module(FORGETS_AFTER_A_RESUME))
    assert (report.status, report.first_step) == (1, None)
    assert report.second_step == report.before + report.after


@pytest.mark.parametrize(
    ("resume", "stopped", "detail"),
    [
        ("raise OSError('no such state')", "resume: OSError: no such state", "raise OSError"),
        ("return None", "resume: AnswerError: resume returned None: return the run", ""),
        ("print('out of luck'); os._exit(3)", "resume: ProcessDied: it exited with 3", "out of luck"),
        ("os.kill(os.getpid(), 11)", "resume: ProcessDied: killed by SIGSEGV", ""),
        ("raise SystemExit('usage: train')", "resume: SystemExit: usage: train", "SystemExit"),
        ("time.sleep(60)", "resume: TimeoutError: it had not returned after 3 s.", ""),
    ],
)
def test_a_resume_that_fails_is_a_finding(module, resume, stopped, detail):
    report = audit(module(f"import os, time\ndef resume(folder): {resume}"), patience=3)
    assert report.status == 1
    assert report.stopped.startswith(stopped)
    assert detail in report.detail
    assert "resuming/process.py" not in report.detail


def test_what_was_lost_is_told_though_a_later_step_fails(module):
    more = """
whole = resume
def resume(folder):
    run = whole(folder)
    run.step = "none"
    return run
"""
    report = audit(module(OBSERVE + more))
    assert report.stopped.startswith("advance: TypeError: can only concatenate str")
    assert [finding.component for finding in report.lost] == ["step"]


def test_a_save_without_a_file_is_noted(module):
    report = audit(module("def save(run, folder): pass"))
    assert report.notes[0].startswith("save left no file in the folder that it was given.")
    assert report.stopped.startswith("resume: FileNotFoundError")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("def make(): return Run(None)", "Two undisturbed runs differ at step 0"),
        (
            "def observe(run): return {'next': run.dice.random()}",
            "observe changes the run: with it step 0 has another loss than without it",
        ),
        ("def make(): pass", "make returned None: return the run"),
        ("def advance(run, steps): return [1.0]", "was to train 7 steps and returned 1 losses"),
        ("def advance(run, steps): return 1.0", "advance returned a float: give a list"),
        ("def advance(run, steps): return ['low'] * steps", "could not convert string to float"),
        ("def make(): raise RuntimeError('no GPU')", "undisturbed run failed. make: RuntimeError: no GPU"),
        ("def observe(run): return {'dice': run.dice}", "observe returned a Random at dice"),
        ("def observe(run): return [run.step]", "observe returned a list: give a dict"),
        ("del save", "does not define save. An audit calls make()"),
        ("save = resume = 3", "save is a int, not a function"),
        ("def advance(run): pass", "advance is called with 2 arguments, and does not take them"),
        ("import lastgood_is_not_there", "ModuleNotFoundError: No module named 'lastgood_is_not_there'"),
        ("def make(: pass", "SyntaxError"),
    ],
)
def test_what_cannot_be_audited_is_told(module, more, words):
    with pytest.raises(AuditError) as error:
        audit(module(more))
    assert words in str(error.value)
    assert "Traceback" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere.py", "nowhere.py is not a file"),
        ("no.such.module", "There is no module 'no.such.module' here"),
    ],
)
def test_a_module_that_is_not_there_is_told(name, words):
    with pytest.raises(AuditError, match=words):
        audit(name)


@pytest.mark.parametrize(
    ("name", "words"), [("my-run.py", "cannot be imported: name it with"), ("json.py", "Another module")]
)
def test_a_name_that_python_cannot_use_is_told(module, name, words):
    with pytest.raises(AuditError, match=words):
        audit(module(name=name))


def test_what_lies_in_the_working_directory_hides_no_module_of_pythons(module, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here/random.py").write_text("raise SystemExit('not me')")
    monkeypatch.chdir(tmp_path / "here")
    assert audit(module()).status == 0


def test_it_imports_what_lies_beside_it(module, tmp_path):
    (tmp_path / "beside.py").write_text("SEED = 1\n")
    assert audit(module("import beside\ndef make(): return Run(beside.SEED)")).status == 0


def test_the_writer_dies_by_sigkill_right_after_its_save(module, tmp_path):
    more = f"import atexit\natexit.register(open, {str(tmp_path / 'ended')!r}, 'w')"
    assert audit(module(more)).status == 0
    assert not (tmp_path / "ended").exists()


def test_what_a_run_started_ends_with_it(module, tmp_path, runs):
    pids = tmp_path / "pids"
    more = (
        "import subprocess\ndef make():\n"
        f" with open({str(pids)!r}, 'a') as file: print(subprocess.Popen(['sleep', '600']).pid, file=file)\n"
        " return Run(1)"
    )
    assert audit(module(more)).status == 0
    assert len(pids.read_text().split()) == 2
    assert not any(runs(int(pid)) for pid in pids.read_text().split())


def test_each_process_is_told_of_as_it_begins(module):
    told: list[str] = []
    audit(module(), on_stage=told.append)
    assert len(told) == 4
