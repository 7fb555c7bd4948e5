"""Lab 17, part C: schedules that lose their place or their curve."""

from autograder.mutants import Variant
from autograder.mutants.lab17.parts import (
    INIT,
    LOAD_BODY,
    LR_BODY,
    PROPERTY,
    SCHEDULER,
    STATE_BODY,
    STEP_BODY,
)

_CACHED = PROPERTY.replace("return learning_rate(self.position, **self.curve)", "return self.rate")
_RATE = "        self.rate = learning_rate(self.position, **self.curve)\n"

COUNTING_MUTANTS = (
    Variant(
        "position-alone",
        "the curve is configuration",
        (
            (STATE_BODY, '        return {"position": self.position}\n'),
            (LOAD_BODY, '        self.position = state["position"]\n'),
        ),
        {SCHEDULER: 2},
        ("without a word", "The same holds for warmup, horizon, floor", "ok resumes"),
    ),
    Variant(
        "horizon-not-compared",
        "a run may be made longer",
        (
            (
                LOAD_BODY,
                '        saved = {**state["curve"], "horizon": self.curve["horizon"]}\n'
                "        if saved != self.curve:\n"
                '            raise ValueError("another curve")\n'
                '        self.position = state["position"]\n',
            ),
        ),
        {SCHEDULER: 2},
        ("A state saved with horizon", "without a word"),
    ),
    Variant(
        "the-saved-curve-wins",
        "what was saved is right",
        (
            (
                LOAD_BODY,
                '        self.curve = dict(state["curve"])\n'
                '        self.position = state["position"]\n',
            ),
        ),
        {SCHEDULER: 2},
        ("has replaced the one that this job was given",),
    ),
    Variant(
        "horizon-recomputed-on-resume",
        "what is left is what is to be done",
        (
            (
                LOAD_BODY,
                LOAD_BODY + '        self.curve["horizon"] -= self.position\n',
            ),
        ),
        {SCHEDULER: 2},
        ("rate number 1 after loading", "ok refuses"),
    ),
    Variant(
        "moved-before-it-refuses",
        "the order does not matter",
        (
            (
                LOAD_BODY,
                '        self.position = state["position"]\n'
                '        if state["curve"] != self.curve:\n'
                '            raise ValueError("another curve")\n',
            ),
        ),
        {SCHEDULER: 2},
        ("has moved before", "check first"),
    ),
    Variant(
        "another-exception",
        "a wrong curve is a wrong key",
        ((LOAD_BODY, LOAD_BODY.replace("ValueError(", "KeyError(")),),
        {SCHEDULER: 2},
        ("it raises KeyError", "A ValueError was asked for"),
        slow=True,
    ),
    Variant(
        "refuses-all",
        "a tuple is a tuple",
        (
            (STATE_BODY, '        return {"position": self.position, "curve": tuple(self.curve.values())}\n'),
            (LOAD_BODY, LOAD_BODY.replace("!= self.curve:", "!= tuple(self.curve.values()):")),
        ),
        {SCHEDULER: 5},
        ("raised ValueError", "refuses each state"),
    ),
    Variant(
        "position-not-saved",
        "the optimizer knows its steps",
        (
            (STATE_BODY, '        return {"curve": dict(self.curve)}\n'),
            ('        self.position = state["position"]\n', ""),
        ),
        {SCHEDULER: 2},
        ("It begins anew",),
    ),
    Variant(
        "position-restored-twice",
        "a state is added to what there is",
        (('        self.position = state["position"]\n', '        self.position += state["position"]\n'),),
        {SCHEDULER: 2},
        ("the saved position is added",),
    ),
    Variant(
        "one-step-behind",
        "the last step made is the position",
        (
            ('{"position": self.position,', '{"position": self.position - 1,'),
        ),
        {SCHEDULER: 2},
        ("makes the last of them again",),
    ),
    Variant(
        "one-step-ahead",
        "the next step is the position",
        (('{"position": self.position,', '{"position": self.position + 1,'),),
        {SCHEDULER: 2},
        ("it leaves one out",),
        slow=True,
    ),
    Variant(
        "rate-not-refreshed",
        "the rate is computed where it changes: in step()",
        (
            (PROPERTY, _CACHED),
            (INIT, INIT + _RATE),
            (STEP_BODY, STEP_BODY + _RATE),
        ),
        {SCHEDULER: 2},
        ("computed earlier and kept", "ok counts"),
    ),
    Variant(
        "state-is-the-object",
        "__dict__ is the state",
        (
            (STATE_BODY, "        return self.__dict__\n"),
        ),
        {SCHEDULER: 1},
        ("the object's own dict", "Return a copy", "ok resumes"),
    ),
    Variant(
        "loaded-dict-kept",
        "a state is a state",
        (
            (LR_BODY, '        return learning_rate(self.state["position"], **self.curve)\n'),
            (INIT, '        self.state = {"position": 0, "curve": dict(self.curve)}\n'),
            (STEP_BODY, '        self.state["position"] += 1\n'),
            (STATE_BODY, '        return {"position": self.state["position"], "curve": dict(self.curve)}\n'),
            ('        self.position = state["position"]\n', "        self.state = state\n"),
        ),
        {SCHEDULER: 1},
        ("the object has kept it",),
    ),
    Variant(
        "not-plain",
        "a tensor is a number",
        (
            ('{"position": self.position,', '{"position": torch.tensor(self.position),'),
        ),
        {SCHEDULER: 5},
        ("does not go into JSON", "Not tested yet"),
    ),
    Variant(
        "never-moves",
        "the optimizer counts",
        ((STEP_BODY, "        pass\n"),),
        {SCHEDULER: 1},
        ("never changes",),
    ),
    Variant(
        "rate-of-the-step-after",
        "lr is the rate after this step",
        ((LR_BODY, "        return learning_rate(self.position + 1, **self.curve)\n"),),
        {SCHEDULER: 1},
        ("One step ahead", "ok resumes"),
    ),
    Variant(
        "rate-of-the-step-before",
        "lr is the rate of the last step",
        ((LR_BODY, "        return learning_rate(max(0, self.position - 1), **self.curve)\n"),),
        {SCHEDULER: 1},
        ("One step behind",),
        slow=True,
    ),
)  # fmt: skip
