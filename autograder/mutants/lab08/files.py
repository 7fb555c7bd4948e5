"""Lab 08, part D: files that hold too much, too little, or are measured in another unit."""

from autograder.mutants import Variant
from autograder.mutants.lab08.parts import (
    FILE,
    FILE_BODY,
)

FILE_SUM = "4 * (count_parameters(model) + remembered(model, optimizer))"

FILES_MUTANTS = (
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
        slow=True,
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
        slow=True,
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
        "file-in-mixed-precision",
        "large runs are trained in mixed precision",
        (
            (
                FILE_BODY,
                '    moments = {"sgd": 0, "momentum": 1, "adamw": 2}[optimizer]\n'
                "    return in_checkpoint(count_parameters(model), moments, True)\n",
            ),
        ),
        {FILE: 3},
        ("the weights once, in 32 bits",),
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
    Variant(
        "file-of-the-state",
        "the optimizer has everything",
        ((FILE_SUM, "4 * remembered(model, optimizer)"),),
        {FILE: 3},
        (
            "the file has the weights too",
            "one number for each parameter. The file has two",
            "two numbers for each parameter. The file has three",
        ),
        slow=True,
    ),
    Variant(
        "file-of-adamw-always",
        "12 bytes a parameter",
        ((FILE_SUM, "12 * count_parameters(model)"),),
        {FILE: 2},
        (
            "Two moments, whatever the optimizer is",
            "three numbers for each parameter",
        ),
        slow=True,
    ),
)
