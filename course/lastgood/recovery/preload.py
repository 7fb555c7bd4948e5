"""Imported by the warm server before it forks: what every worker would otherwise do first, slowly.

The first optimizer of a process imports torch's compiler (2 s), and the first run of a configuration draws
the corpus.
"""

from lastgood.recovery import audit_worker, durability_worker, supervise_worker  # noqa: F401 - for their imports
from lastgood.recovery.audit import AUDIT_CONFIG
from lastgood.training.run import Run, RunConfig

for _config in (AUDIT_CONFIG, RunConfig()):
    Run(_config)
