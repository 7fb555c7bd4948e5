"""The run that nothing happens to, asked for its steps in whatever order."""

import json

import pytest

from lastgood.recovery.supervise.reference import UNDISTURBED


@pytest.fixture
def digests_at(server, config_of_go):
    """Ask a fresh undisturbed run for these steps; return its digests at each."""

    def digests_at(*steps):
        job = json.dumps({"config": config_of_go.to_dict(), "seed": 5})
        found = {}
        with server.spawn(UNDISTURBED, job) as worker:
            for step in steps:
                worker.channel.send(str(step).encode())
                found[step] = json.loads(worker.channel.recv(60.0))["digests"]
        return found

    return digests_at


def test_a_step_that_it_has_passed_is_the_same_again_and_disturbs_nothing(digests_at):
    in_order = digests_at(3, 8, 13, 16, 24)
    assert digests_at(8, 16, 13, 3, 24) == in_order
