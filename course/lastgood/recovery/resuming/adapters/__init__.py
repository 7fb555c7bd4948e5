"""The five functions that an audit asks for, ready for three frameworks.

    from lastgood.recovery.resuming.adapters import trainer       # Hugging Face's Trainer
    from lastgood.recovery.resuming.adapters import accelerate    # a loop on Hugging Face's Accelerate
    from lastgood.recovery.resuming.adapters import lightning     # Lightning's Trainer

    make, advance, save, resume, observe = trainer(build)

None of them imports its framework before `build`, which is yours, has.
"""

from lastgood.recovery.resuming.adapters.accelerate import Loop, accelerate
from lastgood.recovery.resuming.adapters.lightning import lightning
from lastgood.recovery.resuming.adapters.trainer import trainer

__all__ = ["Loop", "accelerate", "lightning", "trainer"]
