"""Imported by the warm server before it forks: what every worker would otherwise do first, slowly.

The first optimizer of a process imports torch's compiler (2 s), and the first run of a configuration draws
the corpus.
"""

from lastgood.recovery.audit import AUDIT_CONFIG
from lastgood.recovery.job import worker  # noqa: F401 - for its imports
from lastgood.training.run import Run, RunConfig

for _config in (AUDIT_CONFIG, RunConfig()):
    Run(_config)
