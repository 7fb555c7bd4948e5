"""A user's audit module: Accelerate, resumed by load_state and nothing else."""

from accelerate_run import build

from lastgood.recovery.resuming.adapters import accelerate

make, advance, save, resume, observe = accelerate(build, skip=False)
