"""What a forked process of these tests runs: the same as a fresh one of an audit's."""

import json

from lastgood.recovery.resuming.process import _answer, _Answering
from lastgood.recovery.warm import Channel


def answering(channel: Channel, module: str) -> None:
    """Answer the audit's orders until it hangs up."""
    answers = _Answering()
    _answer(channel, answers.load, [module])
    while True:
        try:
            order, *arguments = json.loads(channel.recv())
        except EOFError:
            return
        _answer(channel, getattr(answers, order), arguments)
