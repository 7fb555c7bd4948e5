"""A class, from first to last: who is to be graded, jobs for the workers, their outcomes for the writer."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

from autograder.course import LOGS, Course, CourseError
from autograder.runner.blank import blank
from autograder.runner.call import work
from autograder.runner.job import Job, Outcome
from autograder.runner.ledger import Ledger
from autograder.runner.parcel import Entry, digest, packed
from autograder.runner.places import Place
from autograder.runner.record import Recorder, RecordError
from autograder.runner.release import release_name
from autograder.sandbox.ready import require_sandbox
from autograder.sandbox.settings import Sandbox

SPARE_S: Final = 300.0  # beyond what a notebook may take, for all the rest of a submission
_DIED = "the worker's process was killed, perhaps by the system for want of memory"
_STUCK = "the worker did not come to an end, and was stopped"


class RunError(Exception):
    """The class cannot be graded; the message says why, and what to do."""


@dataclass(frozen=True)
class Begun:
    """Who is to be graded. `before` were, from the same files; of these, `moved` have another penalty now."""

    students: tuple[str, ...]
    before: tuple[str, ...]
    moved: tuple[str, ...]


@dataclass(frozen=True)
class Done:
    """A submission that was graded and recorded, or with a `fault` was neither."""

    student: str
    seconds: float
    fault: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wish:
    """What is asked for.

    `students` are names, in the order in which they are begun; none means everybody who has submitted.
    `again` includes those who were graded before from the same files. `feedback` has feedback written too.
    """

    students: tuple[str, ...] = ()
    again: bool = False
    feedback: bool = False


def grade(course: Course, lab: str, place: Place, wish: Wish = Wish()) -> Generator[Begun | Done, None, None]:
    """Grade who has submitted the lab; yields Begun, then Done for each.

    Closing the iterator stops what runs; what was recorded stays, and the next call goes on from there.
    Raises RunError, BlankError, LedgerError, SandboxError and CourseError before anything is graded.
    """
    if not Sandbox(config=course.config).unsafe:
        require_sandbox()
    wanted = _wanted(course, lab, wish.students)
    ledger = Ledger(course.autograded, lab)
    with ExitStack() as stack:
        gradebook = stack.enter_context(course.gradebook())
        recorder = Recorder(course, lab, gradebook, ledger)
        stack.enter_context(ledger.open(recorder.place))
        class_ = _Class(course, lab, blank(gradebook, lab))
        before = [name for name in wanted if not wish.again and class_.same(name, ledger, recorder)]
        passed = set(before)
        todo = [name for name in wanted if name not in passed]
        moved = [name for name in before if recorder.penalize(name)]
        yield Begun(tuple(todo), tuple(before), tuple(moved))
        for outcome, files in _Crowd(class_, place, todo).outcomes():
            done = _recorded(course, recorder, ledger, outcome, files)
            yield _with_feedback(course, lab, done) if wish.feedback else done


def _wanted(course: Course, lab: str, students: Sequence[str]) -> list[str]:
    submitted = course.students(lab)
    if not submitted:
        raise RunError(f"nobody has submitted {lab}: there is no {course.folder('submitted', lab, '*')}")
    if missing := sorted(set(students) - set(submitted)):
        raise RunError(f"no submission of {lab} by {', '.join(missing)}")
    return list(dict.fromkeys(students)) or submitted


def _recorded(course: Course, recorder: Recorder, ledger: Ledger, outcome: Outcome, files: str) -> Done:
    if outcome.log:
        log = course.root / LOGS / f"{outcome.student}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "a", encoding="utf-8") as file:
            file.write(outcome.log)
    if not outcome.fault:
        try:
            recorder.record(outcome, files)
        except (RecordError, OSError) as error:
            outcome = replace(outcome, fault=str(error))
    if outcome.fault:
        ledger.failed(outcome.student, outcome.fault)
    return Done(outcome.student, outcome.seconds, outcome.fault, outcome.notes)


def _with_feedback(course: Course, lab: str, done: Done) -> Done:
    """Write the student's feedback. What is wrong with it is no fault of the grade."""
    if done.fault:
        return done
    try:
        course.generate_feedback(lab, done.student, course.root / LOGS / f"{done.student}.log")
    except CourseError as error:
        return replace(done, notes=(*done.notes, f"There is no feedback. {error}"))
    return done


class _Class:
    """What is the same for every submission of a lab."""

    def __init__(self, course: Course, lab: str, gradebook: bytes) -> None:
        self._course, self._lab, self._blank = course, lab, gradebook
        self._release = release_name(course, lab)
        sandbox = Sandbox(config=course.config)
        self._limit = sandbox.disk_bytes
        self.seconds = sandbox.notebook_seconds + SPARE_S

    def same(self, student: str, ledger: Ledger, recorder: Recorder) -> bool:
        """Whether the student was graded from the files that are there now."""
        graded = ledger.graded(student)
        return bool(graded) and recorder.has(student) and graded == digest(self._packed(student))

    def job(self, student: str) -> Job:
        parcel = self._packed(student)
        return Job(str(self._course.root), self._lab, student, parcel, self._blank, self._release)

    def _packed(self, student: str) -> tuple[Entry, ...]:
        return packed(self._course.folder("submitted", self._lab, student), self._limit)


@dataclass(frozen=True)
class _Running:
    student: str
    files: str
    until: float  # in time.monotonic's seconds
    alone: bool  # to see whether it is to blame for what befell it and others


class _Crowd:
    """Keeps the workers busy, with few submissions in memory at a time.

    A worker that is killed takes along whatever the others were doing. Those it may have been the fault of
    are then graded one by one: the one that is alone when it happens again is to blame.
    """

    def __init__(self, class_: _Class, place: Place, students: Sequence[str]) -> None:
        self._class, self._place = class_, place
        self._waiting = deque(students)
        self._suspects: deque[str] = deque()
        self._running: dict[Future[Outcome], _Running] = {}

    def outcomes(self) -> Iterator[tuple[Outcome, str]]:
        """Each submission's outcome as it comes, with the digest of the files that were graded."""
        while self._waiting or self._suspects or self._running:
            try:
                self._submit()
            except BrokenProcessPool:  # since it was last heard of
                yield from self._suspect()
                continue
            soonest = min(running.until for running in self._running.values())
            done, _ = wait(self._running, max(0.0, soonest - time.monotonic()), FIRST_COMPLETED)
            if not done:
                yield from self._stop_late()
            broken = False
            for future, running in [item for item in self._running.items() if item[0] in done]:
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    broken = True
                    continue
                except Exception as error:  # a cluster's: its worker died, or cannot run our code
                    outcome = Outcome(running.student, fault=f"{type(error).__name__}: {error}")
                del self._running[future]
                yield outcome, running.files
            if broken:
                yield from self._suspect()

    def _submit(self) -> None:
        if self._suspects:
            if not self._running:
                self._begin(self._suspects, alone=True)
        elif not any(running.alone for running in self._running.values()):
            while self._waiting and len(self._running) <= self._place.many:
                self._begin(self._waiting)

    def _begin(self, queue: deque[str], *, alone: bool = False) -> None:
        job = self._class.job(queue[0])
        future = self._place.executor.submit(work, job)
        queue.popleft()
        # One may wait for a worker as long as another takes.
        until = time.monotonic() + 2 * self._class.seconds
        self._running[future] = _Running(job.student, digest(job.parcel), until, alone)

    def _suspect(self) -> Iterator[tuple[Outcome, str]]:
        """The pool is broken. Begin anew, with those that ran one at a time."""
        ran = list(self._running.values())
        self._running.clear()
        self._place.renew()
        for running in ran:
            if running.alone:
                yield Outcome(running.student, fault=_DIED), running.files
            else:
                self._suspects.append(running.student)

    def _stop_late(self) -> Iterator[tuple[Outcome, str]]:
        """Stop the workers, one of which does not come to an end; what the others did is done again."""
        now = time.monotonic()
        ran = list(self._running.values())
        self._running.clear()
        self._place.renew()
        for running in ran:
            if running.until <= now:
                yield Outcome(running.student, fault=_STUCK), running.files
            else:
                self._waiting.appendleft(running.student)
