"""Lab 08, parts A, B and D: numbers counted twice or not at all, and bytes in the wrong place or unit."""

from autograder.mutants import Variant
from autograder.mutants.lab08.parts import (
    CHECKPOINT,
    CHECKPOINT_BODY,
    COUNT,
    COUNT_BODY,
    FILE,
    FILE_BODY,
    MEMORY,
    MEMORY_BODY,
    OPT,
    OPT_BODY,
    REMEMBERED,
    REMEMBERED_BODY,
    TRAINED,
)

WEIGHTS = "parameters * (weights + master + gradients + moments * moment)"
FILE_SUM = "4 * (count_parameters(model) + remembered(model, optimizer))"

COUNTS_MUTANTS = (
    Variant(
        "from-the-state-dict",
        "a checkpoint's tensors are the parameters",
        ((COUNT_BODY, "    return sum(tensor.numel() for tensor in model.state_dict().values())\n"),),
        {COUNT: 2},
        ("counted twice", "The buffers are counted"),
        slow=True,
    ),
    Variant(
        "tied-head-counted-twice",
        "each module has its own parameters",
        (
            (
                COUNT_BODY,
                "    return sum(p.numel() for m in model.modules() for p in m.parameters(recurse=False))\n",
            ),
        ),
        {COUNT: 1},
        ("counted twice", "under a second name"),
    ),
    Variant(
        "buffers-are-parameters",
        "whatever the model carries is a parameter",
        (
            (
                COUNT_BODY,
                "    return sum(t.numel() for t in (*model.parameters(), *model.buffers()))\n",
            ),
        ),
        {COUNT: 2},
        ("The buffers are counted", "no parameters"),
    ),
    Variant(
        "trained-only",
        "a parameter is what is trained",
        (
            (
                COUNT_BODY,
                "    return sum(p.numel() for p in model.parameters() if p.requires_grad)\n",
            ),
        ),
        {COUNT: 1},
        ("frozen are left out",),
        slow=True,
    ),
    Variant(
        "tensors-not-numbers",
        "a parameter is a tensor",
        ((COUNT_BODY, "    return len(list(model.parameters()))\n"),),
        {COUNT: 2},
        ("how many tensors", "Count the numbers"),
        slow=True,
    ),
    Variant(
        "state-of-frozen-parameters",
        "the optimizer was given them, so it keeps something for them",
        ((TRAINED, "trained = list(model.parameters())"),),
        {REMEMBERED: 2},
        ("frozen parameters too", "no gradient"),
    ),
    Variant(
        "steps-not-counted",
        "a count of steps is nothing",
        (("return 2 * numbers + len(trained)", "return 2 * numbers"),),
        {REMEMBERED: 1},
        ("count of steps is missing",),
    ),
    Variant(
        "one-step-for-all",
        "all parameters have taken the same number of steps",
        (("return 2 * numbers + len(trained)", "return 2 * numbers + 1"),),
        {REMEMBERED: 1},
        ("for each tensor, not one for all",),
        slow=True,
    ),
    Variant(
        "one-moment-remembered",
        "Adam keeps an average",
        (("return 2 * numbers + len(trained)", "return numbers + len(trained)"),),
        {REMEMBERED: 1},
        ("One moment only", "of its square"),
    ),
    Variant(
        "gradients-are-remembered",
        "plain SGD keeps the gradient",
        (("        return 0\n", "        return numbers\n"),),
        {REMEMBERED: 1},
        ("Plain SGD keeps nothing",),
        slow=True,
    ),
    Variant(
        "state-of-the-tied-head",
        "both tables have moments",
        (
            (
                TRAINED,
                "every = [p for m in model.modules() for p in m.parameters(recurse=False)]\n"
                "    trained = [p for p in every if p.requires_grad]",
            ),
            ("return 2 * numbers + len(trained)", "return 2 * numbers + len(set(trained))"),
        ),
        {REMEMBERED: 2},
        ("counted twice", "It has one state"),
    ),
    Variant(
        "asks-a-real-optimizer",
        "count what torch makes",
        (
            (
                REMEMBERED_BODY,
                '    real = torch.optim.AdamW(model.parameters()) if optimizer == "adamw" else None\n'
                "    for p in model.parameters():\n"
                "        p.grad = torch.ones_like(p) if p.requires_grad else None\n"
                "    real.step()\n"
                "    return sum(v.numel() for kept in real.state.values() for v in kept.values())\n",
            ),
        ),
        {REMEMBERED: 3},
        ("uses torch.optim, and that is the answer",),
    ),
    Variant(
        "gradients-forgotten",
        "a run is its model and its optimizer",
        ((WEIGHTS, "parameters * (weights + master + moments * moment)"),),
        {MEMORY: 2},
        ("The gradients are forgotten",),
    ),
    Variant(
        "master-weights-forgotten",
        "mixed precision halves the weights",
        ((WEIGHTS, "parameters * (weights + gradients + moments * moment)"),),
        {MEMORY: 1},
        ("The master weights are forgotten",),
    ),
    Variant(
        "one-moment-in-memory",
        "the second moment is made from the first",
        ((WEIGHTS, "parameters * (weights + master + gradients + min(moments, 1) * moment)"),),
        {MEMORY: 2},
        ("One moment only",),
    ),
    Variant(
        "moments-in-16-bits",
        "mixed precision is 16 bits",
        (("moment = 2, 4, 2, 4", "moment = 2, 4, 2, 2"),),
        {MEMORY: 1},
        ("moments are counted in 16 bits",),
        slow=True,
    ),
    Variant(
        "mixed-is-a-half",
        "16 bits are half of 32",
        (
            (
                MEMORY_BODY,
                "    return parameters * (2 if mixed else 4) * (2 + moments)\n",
            ),
        ),
        {MEMORY: 1},
        ("Everything is counted in 16 bits",),
        slow=True,
    ),
    Variant(
        "memory-in-gigabytes",
        "memory is measured in gigabytes",
        ((WEIGHTS, WEIGHTS + " / 1e9"),),
        {MEMORY: 2},
        ("That is in gigabytes",),
        slow=True,
    ),
    Variant(
        "gradients-saved",
        "what is in memory belongs in the file",
        ((CHECKPOINT_BODY, "    return in_memory(parameters, moments, mixed)\n"),),
        {CHECKPOINT: 2},
        ("The gradients are saved", "computes its own"),
    ),
    Variant(
        "master-weights-not-saved",
        "the weights are the weights",
        (("bytes_each = 2 + 4 if mixed else 4", "bytes_each = 2 if mixed else 4"),),
        {CHECKPOINT: 1},
        ("The master weights are forgotten",),
        slow=True,
    ),
    Variant(
        "weights-alone",
        "a checkpoint is a model",
        (("return parameters * (bytes_each + 4 * moments)", "return parameters * bytes_each"),),
        {CHECKPOINT: 2},
        ("These are the weights alone",),
        slow=True,
    ),
    Variant(
        "one-moment-saved",
        "only the momentum matters",
        (("(bytes_each + 4 * moments)", "(bytes_each + 4 * min(1, moments))"),),
        {CHECKPOINT: 2},
        ("Both decide the next step",),
        slow=True,
    ),
    Variant(
        "tb-and-tib-swapped",
        "a TiB is the smaller one",
        ((OPT_BODY, "    size = 175e9 * (2 + 4 + 4)\n    return size / 2**40, size / 10**12\n"),),
        {OPT: 2},
        ("As TiB it would be right", "As TB it would be right"),
    ),
    Variant(
        "tib-is-tb",
        "a thousand or 1,024, who cares",
        (("size / 10**12, size / 2**40", "size / 10**12, size / 10**12"),),
        {OPT: 1},
        ("As TB it would be right", "2⁴⁰"),
    ),
    Variant(
        "opt-with-gradients",
        "the gradients are saved too",
        (("175e9 * (2 + 4 + 4)", "175e9 * (2 + 2 + 4 + 4)"),),
        {OPT: 2},
        ("12 bytes a parameter",),
        slow=True,
    ),
    Variant(
        "opt-with-master-weights",
        "everybody keeps master weights",
        (("175e9 * (2 + 4 + 4)", "175e9 * (2 + 4 + 4 + 4)"),),
        {OPT: 2},
        ("14 bytes a parameter", "no room"),
        slow=True,
    ),
    Variant(
        "opt-with-one-moment",
        "Adam has a moment",
        (("175e9 * (2 + 4 + 4)", "175e9 * (2 + 4)"),),
        {OPT: 2},
        ("one moment. Adam has two",),
        slow=True,
    ),
    Variant(
        "file-with-gradients",
        "the gradients are tensors of the model",
        ((FILE_SUM, "4 * (2 * count_parameters(model) + remembered(model, optimizer))"),),
        {FILE: 3},
        ("The gradients are in your file",),
    ),
    Variant(
        "file-of-weights",
        "the model is what is saved",
        ((FILE_SUM, "4 * count_parameters(model)"),),
        {FILE: 2},
        ("these are the weights alone",),
    ),
    Variant(
        "file-with-the-head-twice",
        "the state_dict lists it twice",
        (
            (
                FILE_BODY,
                "    listed = sum(t.numel() for t in model.state_dict().values())\n"
                "    return 4 * (listed + remembered(model, optimizer))\n",
            ),
        ),
        {FILE: 3},
        ("The tied head is counted twice", "writes a tensor once"),
    ),
    Variant(
        "file-with-masks",
        "buffers are saved",
        (
            (
                FILE_BODY,
                "    masks = sum(b.numel() for b in model.buffers())\n"
                "    return 4 * (count_parameters(model) + masks + remembered(model, optimizer))\n",
            ),
        ),
        {FILE: 3},
        ("the masks, are in your file",),
    ),
    Variant(
        "file-in-numbers",
        "count, then save",
        ((FILE_SUM, "count_parameters(model) + remembered(model, optimizer)"),),
        {FILE: 3},
        ("how many numbers there are",),
        slow=True,
    ),
    Variant(
        "file-in-mebibytes",
        "files are measured in MiB",
        ((FILE_SUM, FILE_SUM + " / 2**20"),),
        {FILE: 3},
        ("in mebibytes. Bytes are wanted",),
        slow=True,
    ),
)
