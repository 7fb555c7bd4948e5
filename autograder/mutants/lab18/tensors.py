"""Lab 18, part B: parameters and optimizer state that do not come back as they were."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import CONTENTS

TENSORS_MUTANTS = (
    Variant(
        "no-optimizer-state",
        "the weights are what matters",
        (
            ('        "optimizer": copy.deepcopy(run.optimizer.state_dict()),\n', ""),
            ('    run.optimizer.load_state_dict(state["optimizer"])\n', ""),
        ),
        {CONTENTS: 2},
        ("LOST optimizer state", "First step whose loss differs"),
    ),
    Variant(
        "moments-without-their-count",
        "AdamW's step is only a counter",
        (
            (
                '    run.optimizer.load_state_dict(state["optimizer"])\n',
                """    for moments in state["optimizer"]["state"].values():
        moments["step"] = torch.zeros_like(moments["step"])
    run.optimizer.load_state_dict(state["optimizer"])
""",
            ),
        ),
        {CONTENTS: 2},
        ("LOST optimizer state", "count of steps is 0", "First step whose loss differs"),
    ),
    Variant(
        "moments-into-an-empty-optimizer",
        # KempnerForge PR 115: the optimizer makes its entries at the first step
        "the optimizer has entries that I can fill in",
        (
            (
                '    run.optimizer.load_state_dict(state["optimizer"])\n',
                """    for number, moments in enumerate(run.optimizer.state.values()):
        moments.update(state["optimizer"]["state"][number])
""",
            ),
        ),
        {CONTENTS: 2},
        (
            "LOST optimizer state",
            "AdamW starts cold",
            "what was there to write into",
            "First step whose loss differs",
        ),
    ),
    Variant(
        "moments-in-half-precision",
        "moments are only averages",
        (
            (
                '"optimizer": copy.deepcopy(run.optimizer.state_dict())',
                '"optimizer": shortened(copy.deepcopy(run.optimizer.state_dict()))',
            ),
            (
                "def capture(run: Run) -> Any:\n",
                """def shortened(optimizer: dict[str, Any]) -> dict[str, Any]:
    for moments in optimizer["state"].values():
        moments["exp_avg"] = moments["exp_avg"].bfloat16()
    return optimizer


def capture(run: Run) -> Any:
""",
            ),
        ),
        {CONTENTS: 2},
        ("LOST optimizer state", "rounded to torch.bfloat16", "First step whose loss differs"),
    ),
    Variant(
        "non-strict-load",
        "strict=False makes the error go away",  # Megatron-Bridge PR 6032
        (
            (
                '"model": copy.deepcopy(run.model.state_dict())',
                '"model": {f"module.{k}": v.clone() for k, v in run.model.state_dict().items()}',
            ),
            (
                '    run.model.load_state_dict(state["model"])\n',
                '    run.model.load_state_dict(state["model"], strict=False)\n',
            ),
        ),
        {CONTENTS: 2},
        ("LOST parameters", "did any name match?", "First step whose loss differs"),
    ),
    Variant(
        "only-what-fits",
        "non-strict loading takes what there is",
        (
            (
                '"model": copy.deepcopy(run.model.state_dict())',
                '"model": {k: v.clone() for k, v in run.model.state_dict().items() if "bias" not in k}',
            ),
            (
                'run.model.load_state_dict(state["model"])',
                'run.model.load_state_dict(state["model"], strict=False)',
            ),
        ),
        {CONTENTS: 2},
        (
            "LOST parameters",
            "7 of 16 tensors are still as the new run had them, such as",
            "First step whose loss differs",
        ),
    ),
    Variant(
        "parameters-in-half-precision",
        "half of the bytes are enough",
        (
            (
                '"model": copy.deepcopy(run.model.state_dict())',
                '"model": {k: v.half() for k, v in run.model.state_dict().items()}',
            ),
        ),
        {CONTENTS: 2},
        ("LOST parameters", "rounded to torch.float16", "First step whose loss differs"),
    ),
    Variant(
        "tied-weights-split",
        "head and embedding are two entries of the state, so they are two tensors",
        (
            (
                '    run.model.load_state_dict(state["model"])\n',
                """    run.model.load_state_dict(state["model"])
    run.model.head.weight = torch.nn.Parameter(state["model"]["head.weight"].clone())
""",
            ),
        ),
        {CONTENTS: 2},
        ("LOST parameters", "head.weight and tokens.weight were one tensor"),
    ),
    Variant(
        "optimizer-of-the-old-model",
        "a new model needs nothing but its weights",
        (
            (
                '    run.model.load_state_dict(state["model"])\n'
                '    run.optimizer.load_state_dict(state["optimizer"])\n',
                """    run.optimizer.load_state_dict(state["optimizer"])
    run.model = type(run.model)(run.config.model)
    run.model.load_state_dict(state["model"])
""",
            ),
        ),
        {CONTENTS: 4},
        (
            "LOST parameters",
            "LOST optimizer state",
            "the optimizer holds parameters that are not the model's",
            "Did restore replace the model",
            "That follows from the line above",
        ),
    ),
)
