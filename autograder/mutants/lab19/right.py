"""Right solutions of lab 19, in other styles than the master's."""

from autograder.mutants import Variant
from autograder.mutants.lab19.parts import (
    ETTR_BODY,
    FOUND_BODY,
    HAPPENED_BODY,
    LOOP_BODY,
    LOST_BODY,
    PROGRESS_BODY,
)

RIGHT = (
    Variant(
        "match-statements",
        "a case for each case, comprehensions for the rest",
        (
            (
                HAPPENED_BODY,
                """    match status:
        case None if silence > (START_PATIENCE, PATIENCE)[beats > 0]:
            return "hung"
        case None:
            return "running"
        case 0:
            return "finished"
        case -15:
            return "left"
        case number if number < 0:
            return "killed by " + signal.Signals(-number).name
        case _:
            return "failed"
""",
            ),
            (
                PROGRESS_BODY,
                """    new = [step > max(reached[:k], default=0) for k, step in enumerate(reached)]
    return new[::-1].index(True) if True in new else len(new)
""",
            ),
            (
                LOST_BODY,
                """    failed = [event["step"] for event in events if event["kind"] == "failed"]
    resumed = [event["step"] for event in events if event["kind"] == "restarted"]
    return [a - b for a, b in zip(failed, resumed)]
""",
            ),
        ),
    ),
    Variant(
        "generators",
        "checkpoints and deaths are streams, and the first good one is taken",
        (
            ("import hashlib\n", "import hashlib\nimport itertools\n"),
            (
                FOUND_BODY,
                """    def newest_first():
        names = (path.name for path in folder.glob("step-*") if path.name[5:].isdigit())
        for name in sorted(names, key=lambda name: -int(name[5:])):
            yield folder / name, fault(folder / name, run, int(name[5:]))

    skipped = {}
    for path, wrong in newest_first():
        if not wrong:
            return str(path), skipped
        skipped[path] = wrong
    return None, skipped
""",
            ),
            (
                PROGRESS_BODY,
                """    best = [0, *itertools.accumulate(reached, max)]
    futile = [step <= before for step, before in zip(reached, best)]
    return sum(1 for _ in itertools.takewhile(bool, reversed(futile)))
""",
            ),
            (
                ETTR_BODY,
                '    return max(e["step"] for e in events[-1:]) * hours_per_step / events[-1]["hours"]\n',
            ),
        ),
        slow=True,
    ),
    Variant(
        "a-class",
        "a supervisor is an object that remembers how far its processes got",
        (
            (
                "def supervise(job: Job,",
                """class Supervisor:
    def __init__(self, job, judge, find, count):
        self.job, self.judge, self.find, self.count = job, judge, find, count
        self.deaths = []

    def resume(self):
        path = self.find(self.job.folder, self.job.run)[0]
        at = 0 if path is None else int(path.name.split("-")[1])
        self.job.record = self.job.record[:at]
        return self.job.start(path)

    def watch(self, process):
        while True:
            became = self.judge(process.poll(), process.silence, process.beats)
            if became != "running":
                return became

    def run(self):
        while self.count(self.deaths) < LIMIT:
            process = self.resume()
            if self.watch(process) == "finished":
                return "finished"
            process.kill()  # does nothing where it is gone already
            self.deaths.append(process.step)
        return "gave up: somebody should look"


def supervise(job: Job,""",
            ),
            (LOOP_BODY, "    return Supervisor(job, what_happened, last_good, no_progress).run()\n"),
        ),
        slow=True,
    ),
    Variant(
        "recursion",
        "bring one process to its end, and then the rest of the job",
        (
            (
                LOOP_BODY,
                """    def go_on(reached):
        if no_progress(reached) == LIMIT:
            return "gave up"
        path, _ = last_good(job.folder, job.run)
        job.record[int(path.name[5:]) if path else 0 :] = []
        process = job.start(path and path.name)
        while (state := what_happened(process.poll(), process.silence, process.beats)) == "running":
            pass
        if state == "hung":
            process.kill()
        return state if state == "finished" else go_on([*reached, process.step])

    return go_on([])
""",
            ),
        ),
        slow=True,
    ),
    Variant(
        "counts-on-its-own",
        "with numbers in the loop instead of the list, and the exit status asked first",
        (
            (
                LOOP_BODY,
                """    furthest = futile = 0
    while futile < LIMIT:
        path = last_good(job.folder, job.run)[0]
        del job.record[0 if path is None else int(path.name[5:]) :]
        process = job.start(path)
        while (status := process.poll()) is None:
            if process.silence > (PATIENCE if process.beats else START_PATIENCE):
                process.kill()
        if status == 0:
            return "finished"
        furthest, futile = max(furthest, process.step), 0 if process.step > furthest else futile + 1
    return "gave up"
""",
            ),
        ),
        slow=True,
    ),
)
