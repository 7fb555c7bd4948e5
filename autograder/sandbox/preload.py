"""Imported by the warm server of kernels that compute: what the course's labs import, slowly.

Nothing that looks for a running kernel when it is imported: none runs yet.
"""

import importlib
import pkgutil

import matplotlib.backends.backend_agg
import matplotlib.pyplot  # noqa: F401
import numpy.random  # noqa: F401

import lastgood.recovery.warm.preload  # noqa: F401 - torch's compiler, the corpus
from lastgood.teaching import checks
from lastgood.teaching.checks import far  # noqa: F401

for _lab in pkgutil.iter_modules(checks.__path__, f"{checks.__name__}."):
    if _lab.name.rpartition(".")[2].startswith("lab"):
        importlib.import_module(_lab.name)
