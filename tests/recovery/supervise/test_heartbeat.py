"""When a process counts as hung. The clock is ours; the processes are real."""

import os
import signal
import sys

import pytest

from lastgood.recovery.supervise.heartbeat import Heartbeat, signs_of_life

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def watched(children):
    """A child that does `action`, with a heartbeat of 1 s, at most 60 s, on a clock that stands still."""

    def watched(action):
        def child(writing):
            os.write(writing, b"!")
            action()

        pid, reading = children.fork(child)
        os.read(reading, 1)
        os.close(reading)
        clock = Clock()
        return pid, clock, Heartbeat(pid, 1.0, 60.0, clock)

    return watched


def spin():
    while True:
        pass


def settled(pid, state):
    while signs_of_life(pid)[0] != state:
        os.sched_yield()


def test_a_process_that_sleeps_in_silence_has_hung(watched):
    pid, clock, heartbeat = watched(signal.pause)
    settled(pid, "S")
    heartbeat.hung()
    clock.now += 0.9
    assert not heartbeat.hung()
    clock.now += 0.2
    assert heartbeat.hung()


def test_a_message_is_a_sign_of_life(watched):
    pid, clock, heartbeat = watched(signal.pause)
    settled(pid, "S")
    heartbeat.hung()
    clock.now += 0.9
    heartbeat.heard()
    clock.now += 0.9
    assert not heartbeat.hung()


def test_a_stopped_process_has_hung_though_it_could_compute(watched):
    pid, clock, heartbeat = watched(spin)
    os.kill(pid, signal.SIGSTOP)
    settled(pid, "T")
    heartbeat.hung()
    clock.now += 1.1
    assert heartbeat.hung()


def test_a_process_that_computes_has_not_hung_until_the_longer_limit(watched):
    _, clock, heartbeat = watched(spin)
    clock.now += 50.0
    assert not heartbeat.hung()
    clock.now += 10.0
    assert heartbeat.hung()


def test_where_proc_does_not_tell_silence_must_last_longer(watched, monkeypatch):
    _, clock, heartbeat = watched(spin)
    monkeypatch.setattr("lastgood.recovery.supervise.heartbeat.signs_of_life", lambda pid: None)
    clock.now += 9.0
    assert not heartbeat.hung()
    clock.now += 1.0
    assert heartbeat.hung()
