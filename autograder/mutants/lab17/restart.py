"""Lab 17, parts D and E: curves of a wrong restart, its damage, and settings that a load brings back."""

from autograder.mutants import Variant
from autograder.mutants.lab17.parts import (
    AFTER,
    AFTER_BODY,
    BETAS,
    BETAS_BODY,
    DAMAGE,
    DAMAGE_BODY,
    SEEN,
    SEEN_BODY,
)

_AFTER_MUTANTS = (
    Variant(
        "one-step-late",
        "step `killed` was the last one made",
        ((AFTER_BODY, AFTER_BODY.replace("range(killed, horizon)", "range(killed + 1, horizon + 1)")),),
        {AFTER: 3},
        ("One step ahead",),
    ),
    Variant(
        "all-steps",
        "a run's rates are those of all its steps",
        (("range(killed, horizon)", "range(horizon)"), ("learning_rate(step - killed", "learning_rate(step")),
        {AFTER: 3},
        ("rates; steps",),
    ),
    Variant(
        "begins-at-zero",
        "a resumed run begins",
        (
            (
                '"right": [learning_rate(step, peak',
                '"right": [learning_rate(step - killed, peak',
            ),
        ),
        {AFTER: 1},
        ("a run that begins at step 0",),
    ),
    Variant(
        "nothing-forgotten",
        "the step is the step",
        (("learning_rate(step - killed, peak", "learning_rate(step, peak"),),
        {AFTER: 1},
        ("nothing is forgotten",),
    ),
    Variant(
        "both-forgotten-for-the-step",
        "who forgets the step, forgets all",
        (
            (
                "learning_rate(step - killed, peak, warmup, horizon, floor)",
                "learning_rate(step - killed, peak, warmup, left, floor)",
            ),
        ),
        {AFTER: 1},
        ("forgotten its horizon as well",),
    ),
    Variant(
        "both-forgotten-for-the-horizon",
        "a job that has 180 steps to do begins at 0",
        (
            (
                "learning_rate(step, peak, warmup, left, floor)",
                "learning_rate(step - killed, peak, warmup, left, floor)",
            ),
        ),
        {AFTER: 1},
        ("forgotten its step as well",),
    ),
    Variant(
        "killed-for-the-horizon",
        "the horizon is where it was killed",
        (("    left = horizon - killed\n", "    left = killed\n"),),
        {AFTER: 1},
        ("This one is `killed`",),
        slow=True,
    ),
    Variant(
        "other-keys",
        "names are names",
        (('        "right": [', '        "correct": ['),),
        {AFTER: 3},
        ("a dict with the keys",),
    ),
)  # fmt: skip

_DAMAGE_MUTANTS = (
    Variant(
        "cancelled",
        "the difference of the sums",
        (
            (
                DAMAGE_BODY,
                "    net = sum(right) - sum(wrong)\n    return max(0.0, net), max(0.0, -net)\n",
            ),
        ),
        {DAMAGE: 2},
        ("cancel in your sum",),
    ),
    Variant(
        "swapped",
        "added comes first",
        (("    return missed, added\n", "    return added, missed\n"),),
        {DAMAGE: 2},
        ("swapped",),
    ),
    Variant(
        "means",
        "damage is an average",
        (
            (
                "    return missed, added\n",
                "    return missed / len(right), added / len(right)\n",
            ),
        ),
        {DAMAGE: 2},
        ("Those are means",),
    ),
    Variant(
        "both-in-both",
        "damage is damage",
        ((DAMAGE_BODY, "    off = sum(abs(a - b) for a, b in zip(right, wrong))\n    return off, off\n"),),
        {DAMAGE: 2},
        ("Both numbers hold both",),
        slow=True,
    ),
    Variant(
        "below-zero",
        "what is missed is negative",
        (("    return missed, added\n", "    return -missed, added\n"),),
        {DAMAGE: 1},
        ("minus sign", "ok added"),
    ),
    Variant(
        "always-worse",
        "a wrong run is a worse run",
        ((SEEN_BODY, '    return "a"\n'),),
        {SEEN: 1},
        ("first points after the restart",),
    ),
    Variant(
        "more-is-better",
        "more learning rate learns more",
        ((SEEN_BODY, '    return "c"\n'),),
        {SEEN: 1},
        ("end of the curves",),
        slow=True,
    ),
)

_BETAS_MUTANTS = (
    Variant(
        "set-before-the-load",
        "first the settings, then the state",
        (
            (
                BETAS_BODY,
                "    for group in optimizer.param_groups:\n"
                '        group["betas"] = betas\n'
                "    optimizer.load_state_dict(state)\n",
            ),
        ),
        {BETAS: 1},
        ("Loading the state brings them back", "ok all else"),
    ),
    Variant(
        "defaults",
        "an optimizer's defaults are its settings",
        (
            (
                BETAS_BODY,
                '    optimizer.load_state_dict(state)\n    optimizer.defaults["betas"] = betas\n',
            ),
        ),
        {BETAS: 1},
        ("not its `defaults`",),
    ),
    Variant(
        "not-loaded",
        "new settings, new optimizer",
        (("    optimizer.load_state_dict(state)\n", ""),),
        {BETAS: 1},
        ("starts cold",),
    ),
    Variant(
        "first-groups-betas",
        "one optimizer, one pair of betas",
        (
            (
                BETAS_BODY,
                "    optimizer.load_state_dict(state)\n"
                '    optimizer.param_groups[0]["betas"] = betas\n',
            ),
        ),
        {BETAS: 1},
        ("One parameter group has the new betas",),
    ),
    Variant(
        "state-rewritten",
        "the state is what is loaded, so change the state",
        (
            (
                BETAS_BODY,
                '    for group in state["param_groups"]:\n'
                '        group["betas"] = betas\n'
                "    optimizer.load_state_dict(state)\n",
            ),
        ),
        {BETAS: 1},
        ("The saved state was changed", "ok new betas"),
    ),
    Variant(
        "moments-alone",
        "the moments are the state",
        (
            (
                BETAS_BODY,
                "    groups = [dict(group) for group in optimizer.param_groups]\n"
                "    optimizer.load_state_dict(state)\n"
                "    for group, fresh in zip(optimizer.param_groups, groups):\n"
                "        group.update(fresh, betas=betas)\n",
            ),
        ),
        {BETAS: 1},
        ("Only the betas were to change",),
    ),
)  # fmt: skip

RESTART_MUTANTS = (*_AFTER_MUTANTS, *_DAMAGE_MUTANTS, *_BETAS_MUTANTS)
